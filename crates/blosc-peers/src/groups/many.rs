//! Operations whose time depends on the number of chunks: opening, and saving from memory.

use core::ffi::CStr;
use std::path::Path;

use b2frame::{FrameParams, SChunk, SChunkWriter};
use blosc_chunk::{CParams, CodecId};

use super::{
    Bench, Subject,
    frames::{PARAMS, c_path},
};
use crate::{
    c_blosc2::CBlosc2,
    failure::{Result, fail},
};

/// Items of 8 bytes in a chunk: only the number of chunks counts.
const NITEMS: usize = 64;

fn subject(group: &'static str, what: &'static str, nchunks: u64) -> Subject {
    Subject::new(group, what, "lz4 shuffle", format!("{nchunks} chunks"))
}

pub(super) fn params() -> FrameParams {
    FrameParams::new(CParams::default().codec(CodecId::LZ4).typesize(8)).chunksize(8 * NITEMS)
}

/// One chunk for all positions, to make many chunks quickly.
pub(super) fn chunk() -> Result<(Vec<u8>, Vec<u8>)> {
    let items: Vec<u8> = (0..NITEMS as u64).flat_map(|n| (n * n * n).to_le_bytes()).collect();
    let chunk = blosc_chunk::compress(&items, &params().cparams)?;
    Ok((items, chunk))
}

/// Opens a file: reads the header of the super-chunk, and a chunk in the middle.
pub(crate) fn open(bench: &mut Bench) -> Result<()> {
    let counts: &[u64] =
        if bench.quick { &[1_000, 100_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    let path = bench.folder.join("many.b2frame");
    let (items, chunk) = chunk()?;
    for &nchunks in counts {
        let mut writer = SChunkWriter::create(&path, &params())?;
        (0..nchunks).try_for_each(|_| writer.append_chunk(&chunk))?;
        drop(writer.finish()?);
        open_one(bench, nchunks, &path, &items)?;
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

/// The work of opening a file, for both sides.
pub(super) fn opening<'a>(
    c: &'a CBlosc2,
    path: &'a Path,
    c_path: &'a CStr,
) -> (impl FnMut() -> Result<()> + 'a, impl FnMut() -> Result<()> + 'a) {
    (move || Ok(SChunk::open(path).map(drop)?), move || c.open(c_path).map(drop))
}

fn open_one(bench: &mut Bench, nchunks: u64, path: &Path, items: &[u8]) -> Result<()> {
    let (c, c_path) = (bench.c.clone(), c_path(path)?);
    let (mut ours, mut theirs) = opening(&c, path, &c_path);
    bench.measure(subject("open", "open", nchunks), &mut ours, &mut theirs)?;
    let (mut dest, mut c_dest) = (vec![0; items.len()], vec![0; items.len()]);
    bench.measure(
        subject("open", "open and read a chunk", nchunks),
        &mut || {
            let schunk = SChunk::open(path)?;
            schunk.decode_chunk_into(nchunks / 2, &mut dest, &mut schunk.scratch())?;
            Ok(())
        },
        &mut || c.open(&c_path)?.decode(nchunks / 2, &mut c_dest).map(drop),
    )?;
    if dest != items || c_dest != items { fail("open: not the same chunk") } else { Ok(()) }
}

/// Saves a super-chunk from memory, into a buffer and a file.
pub(crate) fn save(bench: &mut Bench) -> Result<()> {
    let counts: &[u64] = if bench.quick { &[1_000] } else { &[1_000, 10_000] };
    let (items, chunk) = chunk()?;
    let (path, theirs_path) =
        (bench.folder.join("ours.b2frame"), bench.folder.join("theirs.b2frame"));
    let theirs_c = c_path(&theirs_path)?;
    for &nchunks in counts {
        let mut writer = SChunkWriter::in_memory(&params())?;
        let mut theirs = bench.c.create(None, &PARAMS)?;
        for _ in 0..nchunks {
            writer.append_chunk(&chunk)?;
            theirs.append(&items)?;
        }
        let ours = writer.finish()?;
        bench.measure(
            subject("save", "to a buffer", nchunks),
            &mut || Ok(ours.to_cframe().map(drop)?),
            &mut || theirs.save_to_buffer().map(drop),
        )?;
        // C-Blosc2 does not replace an existing file.
        bench.measure(
            subject("save", "to a new file", nchunks),
            &mut || {
                remove(&path)?;
                Ok(ours.save(&path)?)
            },
            &mut || {
                remove(&theirs_path)?;
                theirs.save_to_file(&theirs_c)
            },
        )?;
        for path in [&path, &theirs_path] {
            if SChunk::open(path)?.decode_chunk(nchunks / 2)? != items {
                return fail("save: not the same chunk");
            }
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
