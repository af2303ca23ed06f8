//! Frames in files: append, open, read chunks at random.

use std::{ffi::CString, os::unix::ffi::OsStrExt as _, path::Path, time::Instant};

use b2frame::{Durability, FrameParams, SChunk, SChunkWriter};
use blosc_chunk::{CParams, CodecId};
use blosc_testdata::data::XorShift32;

use super::{Bench, Subject, many::opening};
use crate::{
    c_blosc2::Params,
    clock::Times,
    failure::{Result, fail},
};

/// Bytes of a chunk: 100 items of 8 bytes, as in a log, which the goals are about; and more.
const CHUNKS: [usize; 2] = [800, 8 << 10];
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
    for chunk in CHUNKS {
        let counts: &[u64] = match chunk {
            800 if bench.quick => &[1_000, 10_000],
            800 => &[1_000, 10_000, 50_000, 100_000],
            _ => &[1_000, 5_000],
        };
        for &nchunks in counts {
            Frames { chunk, nchunks }.all(bench)?;
        }
    }
    Ok(())
}

/// The time of commits. The reference never syncs, so the rows for goals do not either.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commits {
    /// One commit at the end.
    Last,
    /// One commit at the end that survives a loss of power, which is the default for users.
    Synced,
    /// A commit after each chunk, as in the reference.
    Each,
}

/// Frames with a number of chunks of a size.
struct Frames {
    chunk: usize,
    nchunks: u64,
}

impl Frames {
    fn all(&self, bench: &mut Bench) -> Result<()> {
        let (ours, theirs) =
            (bench.folder.join("ours.b2frame"), bench.folder.join("theirs.b2frame"));
        // The reference would take minutes, as its appends get slower with each chunk.
        if self.nchunks <= 50_000 {
            self.append(bench, &ours, &theirs)?;
            std::fs::remove_file(theirs)?;
        } else {
            self.append_ours(bench, Commits::Last, &ours)?;
        }
        self.open(bench, &ours)?;
        self.random_chunk(bench, &ours)?;
        Ok(std::fs::remove_file(ours)?)
    }

    fn subject(&self, what: &'static str, nbytes: usize) -> Subject {
        let case = format!("{} chunks of {} bytes", self.nchunks, self.chunk);
        Subject::new("frames", what, "lz4 shuffle", case).nbytes(nbytes)
    }

    fn parts<'a>(&self, bench: &'a Bench) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let chunks = bench.sets[0].bytes.chunks_exact(self.chunk).cycle();
        (0..self.nchunks).zip(chunks).map(|(_, part)| part)
    }

    /// Measures each append once, by the wall clock.
    fn append(&self, bench: &mut Bench, ours: &Path, theirs: &Path) -> Result<()> {
        // `b2frame` writes the index each time, like the reference.
        let each = (self.nchunks <= 10_000).then_some(("append, commit each", Commits::Each));
        let all = [("append all, synced", Commits::Synced), ("append all", Commits::Last)];
        let c = self.append_theirs(bench, theirs)?;
        for (what, commits) in each.into_iter().chain(all) {
            let times = Times { ours: self.append_ours(bench, commits, ours)?, theirs: c };
            let nbytes = self.parts(bench).map(<[u8]>::len).sum();
            bench.keep(self.subject(what, nbytes), times);
        }
        Ok(())
    }

    fn append_ours(&self, bench: &Bench, commits: Commits, path: &Path) -> Result<f64> {
        // Emptying a file that was just written may have to wait for the disk.
        let _ = std::fs::remove_file(path);
        let start = Instant::now();
        let params = CParams::default().codec(CodecId::LZ4).typesize(8);
        let mut writer =
            SChunkWriter::create(path, &FrameParams::new(params).chunksize(self.chunk))?;
        if commits != Commits::Synced {
            writer.set_durability(Durability::ProcessDeath);
        }
        for part in self.parts(bench) {
            writer.append(part)?;
            if commits == Commits::Each {
                writer.commit()?;
            }
        }
        drop(writer.finish()?);
        Ok(start.elapsed().as_secs_f64())
    }

    fn append_theirs(&self, bench: &Bench, path: &Path) -> Result<f64> {
        // The library does not open an existing file, but replaces it.
        let _ = std::fs::remove_file(path);
        let start = Instant::now();
        let mut schunk = bench.c.create(Some(&c_path(path)?), &PARAMS)?;
        self.parts(bench).try_for_each(|part| schunk.append(part))?;
        drop(schunk);
        Ok(start.elapsed().as_secs_f64())
    }

    fn open(&self, bench: &mut Bench, path: &Path) -> Result<()> {
        let (c, c_path) = (bench.c.clone(), c_path(path)?);
        let (mut ours, mut theirs) = opening(&c, path, &c_path);
        bench.measure(self.subject("open", 1), &mut ours, &mut theirs)
    }

    fn random_chunk(&self, bench: &mut Bench, path: &Path) -> Result<()> {
        let schunk = SChunk::open(path)?;
        let mut c_schunk = bench.c.open(&c_path(path)?)?;
        let mut scratch = schunk.scratch();
        let (mut dest, mut c_dest) = (vec![0; self.chunk], vec![0; self.chunk]);
        let (mut rng, mut c_rng) = (XorShift32::default(), XorShift32::default());
        bench.measure(
            self.subject("random chunk", self.chunk),
            &mut || {
                let nchunk = rng.below(self.nchunks);
                Ok(schunk.decode_chunk_into(nchunk, &mut dest, &mut scratch).map(drop)?)
            },
            &mut || c_schunk.decode(c_rng.below(self.nchunks), &mut c_dest).map(drop),
        )?;
        schunk.decode_chunk_into(self.nchunks / 2, &mut dest, &mut scratch)?;
        c_schunk.decode(self.nchunks / 2, &mut c_dest)?;
        if dest != c_dest { fail("frames: not the same chunk") } else { Ok(()) }
    }
}

pub(super) fn c_path(path: &Path) -> Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
