//! Frames in files: append, open, read chunks at random.

use std::{ffi::CString, os::unix::ffi::OsStrExt as _, path::Path, time::Instant};

use b2frame::{Durability, EditOptions, FrameParams, SChunk, SChunkWriter};
use blosc_chunk::{CParams, CodecId};
use blosc_testdata::data::XorShift32;

use super::{Bench, Subject};
use crate::{
    c_blosc2::Params,
    clock::Times,
    failure::{Result, fail},
};

/// Items of 8 bytes; chunks as small as those of a log.
const CHUNK: usize = 8 << 10;
pub(super) const PARAMS: Params = Params {
    codec: 1,
    level: 5,
    typesize: 8,
    filters: [0, 0, 0, 0, 0, 1],
    block_size: 0,
    split: 4,
    threads: 1,
};

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let counts: &[u64] = if bench.quick { &[1_000, 5_000] } else { &[1_000, 10_000, 50_000] };
    for &nchunks in counts {
        let (ours, theirs) = (bench.folder.join("ours.b2frame"), bench.folder.join("theirs.b2frame"));
        append(bench, nchunks, Commits::Last, &ours, &theirs)?;
        // Minutes for both: each writes the whole index each time.
        if nchunks <= 10_000 {
            append(bench, nchunks, Commits::Each, &ours, &theirs)?;
        }
        open(bench, nchunks, &ours)?;
        random_chunk(bench, nchunks, &ours)?;
        for path in [ours, theirs] {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn subject(what: &'static str, nchunks: u64, nbytes: usize) -> Subject {
    let case = format!("{nchunks} chunks of {} KiB", CHUNK >> 10);
    Subject { group: "frames", what, setting: "lz4 shuffle".into(), case, threads: 1, nbytes, size: 0.0 }
}

/// When appended chunks count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commits {
    /// All at the end.
    Last,
    /// Each at once, which is what the other side always does. It never syncs, so we do not either.
    Each,
}

/// Once each, by the wall: minutes for the other side.
fn append(bench: &mut Bench, nchunks: u64, commits: Commits, ours: &Path, theirs: &Path) -> Result<()> {
    let data: Vec<&[u8]> = bench.sets[0].bytes.chunks_exact(CHUNK).collect();
    let parts = || (0..nchunks).zip(data.iter().cycle()).map(|(_, part)| *part);
    let start = Instant::now();
    let params = CParams::default().codec(CodecId::LZ4).typesize(8);
    let mut writer = SChunkWriter::create(ours, &FrameParams::new(params).chunksize(CHUNK))?;
    if commits == Commits::Each {
        drop(writer.finish()?);
        writer = SChunkWriter::open_with(ours, &EditOptions::default().durability(Durability::Process))?;
    }
    for part in parts() {
        writer.append(part)?;
        if commits == Commits::Each {
            writer.commit()?;
        }
    }
    drop(writer.finish()?);
    let ours = start.elapsed().as_secs_f64();
    // What is there already is not opened but replaced.
    let _ = std::fs::remove_file(theirs);
    let start = Instant::now();
    let mut schunk = bench.c.create(Some(&c_path(theirs)?), &PARAMS)?;
    for part in parts() {
        schunk.append(part)?;
    }
    drop(schunk);
    let theirs = start.elapsed().as_secs_f64();
    let nbytes = parts().map(<[u8]>::len).sum();
    let what = if commits == Commits::Each { "append, commit each" } else { "append all" };
    bench.keep(subject(what, nchunks, nbytes), Times { ours, theirs });
    Ok(())
}

fn open(bench: &mut Bench, nchunks: u64, path: &Path) -> Result<()> {
    let (c, c_path) = (bench.c.clone(), c_path(path)?);
    bench.measure(
        subject("open", nchunks, 1),
        &mut || {
            SChunk::open(path)?;
            Ok(())
        },
        &mut || c.open(&c_path).map(drop),
    )
}

fn random_chunk(bench: &mut Bench, nchunks: u64, path: &Path) -> Result<()> {
    let schunk = SChunk::open(path)?;
    let mut c_schunk = bench.c.open(&c_path(path)?)?;
    let mut scratch = schunk.scratch();
    let (mut dest, mut c_dest) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut rng, mut c_rng) = (XorShift32::default(), XorShift32::default());
    bench.measure(
        subject("random chunk", nchunks, CHUNK),
        &mut || {
            schunk.decode_chunk_into(rng.below(nchunks), &mut dest, &mut scratch)?;
            Ok(())
        },
        &mut || c_schunk.decode(c_rng.below(nchunks), &mut c_dest).map(drop),
    )?;
    schunk.decode_chunk_into(nchunks / 2, &mut dest, &mut scratch)?;
    c_schunk.decode(nchunks / 2, &mut c_dest)?;
    if dest != c_dest { fail("frames: not the same chunk") } else { Ok(()) }
}

pub(super) fn c_path(path: &Path) -> Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
