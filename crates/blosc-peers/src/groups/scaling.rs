//! The cost of one more chunk, from a thousand to a million of them: append, save, open, one chunk
//! at random.
//!
//! Measured by the processor time of the thread. When it appends and saves, C-Blosc2 goes through
//! the index again for each chunk; settings that would take it more than a minute are left out.

use core::fmt::Write as _;
use std::path::Path;

use b2frame::{SChunk, SChunkWriter};
use blosc_testdata::data::XorShift32;

use super::{
    Bench, Subject,
    frames::{PARAMS, c_path},
    many::{chunk, opening, params, remove},
};
use crate::{
    clock::{self, Times},
    failure::{Result, fail},
    plot::{self, Curve, Panel},
};

/// Seconds that C-Blosc2 may take for one point.
const LIMIT: f64 = 60.0;

/// An operation: its name, and on both sides the seconds of a chunk (append, save) or a call (open,
/// random chunk).
struct Operation {
    title: &'static str,
    ours: Vec<(u64, f64)>,
    theirs: Vec<(u64, f64)>,
}

impl Operation {
    fn push(&mut self, nchunks: u64, times: Times) {
        self.ours.push((nchunks, times.ours));
        self.theirs.push((nchunks, times.theirs));
    }

    const fn new(title: &'static str) -> Self {
        Self { title, ours: Vec::new(), theirs: Vec::new() }
    }

    /// Whether `nchunks` would take C-Blosc2 longer than the limit, if the cost of a chunk grows as
    /// between the last two points.
    fn is_too_long(&self, nchunks: u64) -> bool {
        let Some(&(n, last)) = self.theirs.last() else { return false };
        let slope = match self.theirs.iter().rev().nth(1) {
            Some(&(before, seconds)) => (last - seconds).max(0.0) / float(n - before),
            None => 0.0,
        };
        n < nchunks / 10 || float(nchunks) * (last + slope * float(nchunks - n)) > LIMIT
    }
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let counts: &[u64] =
        if bench.quick { &[100, 1_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    let mut append = Operation::new("append, per chunk");
    let mut save = Operation::new("save from memory to a new file, per chunk");
    let mut open = Operation::new("open a file");
    let mut random = Operation::new("open, then read a chunk at random");
    for &nchunks in counts {
        eprintln!("  {nchunks} chunks");
        let path = bench.folder.join("scaling.b2frame");
        measure_append(bench, nchunks, &path, &mut append)?;
        measure_open(bench, nchunks, &path, [&mut open, &mut random])?;
        std::fs::remove_file(&path)?;
        measure_save(bench, nchunks, &path, &mut save)?;
    }
    let all = [append, save, open, random];
    for operation in &all {
        keep(bench, operation);
    }
    std::fs::write(bench.folder.with_file_name("scaling.csv"), csv(&all))?;
    if !bench.quick {
        let images = bench.root.join("docs").join("images");
        std::fs::create_dir_all(&images)?;
        std::fs::write(
            images.join("scaling.svg"),
            plot::svg(&all.map(|operation| panel(&operation, counts))),
        )?;
    }
    Ok(())
}

/// Measures appending; leaves this workspace's frame at `path`.
fn measure_append(bench: &Bench, nchunks: u64, path: &Path, append: &mut Operation) -> Result<()> {
    let (items, _) = chunk()?;
    let theirs_path = bench.folder.join("theirs.b2frame");
    let ours = seconds(nchunks, path, &mut || {
        let mut writer = SChunkWriter::create(path, &params())?;
        (0..nchunks).try_for_each(|_| writer.append(&items))?;
        Ok(writer.finish().map(drop)?)
    })?;
    append.ours.push((nchunks, ours / float(nchunks)));
    if !append.is_too_long(nchunks) {
        let theirs = seconds(nchunks, &theirs_path, &mut || {
            let mut schunk = bench.c.create(Some(&c_path(&theirs_path)?), &PARAMS)?;
            (0..nchunks).try_for_each(|_| schunk.append(&items))
        })?;
        append.theirs.push((nchunks, theirs / float(nchunks)));
        remove(&theirs_path)?;
    }
    Ok(())
}

fn measure_save(bench: &Bench, nchunks: u64, path: &Path, save: &mut Operation) -> Result<()> {
    let (items, chunk) = chunk()?;
    let mut writer = SChunkWriter::in_memory(&params())?;
    (0..nchunks).try_for_each(|_| writer.append_chunk(&chunk))?;
    let schunk = writer.finish()?;
    let ours = seconds(nchunks, path, &mut || Ok(schunk.save(path)?))?;
    save.ours.push((nchunks, ours / float(nchunks)));
    if !save.is_too_long(nchunks) {
        let mut schunk = bench.c.create(None, &PARAMS)?;
        (0..nchunks).try_for_each(|_| schunk.append(&items))?;
        let c_path = c_path(path)?;
        let theirs = seconds(nchunks, path, &mut || schunk.save_to_file(&c_path))?;
        save.theirs.push((nchunks, theirs / float(nchunks)));
    }
    if SChunk::open(path)?.decode_chunk(nchunks / 2)? != items {
        return fail("scaling: not the same chunk");
    }
    remove(path)
}

/// Both sides open the same file.
fn measure_open(
    bench: &Bench,
    nchunks: u64,
    path: &Path,
    [open, random]: [&mut Operation; 2],
) -> Result<()> {
    let ((items, _), c, c_path) = (chunk()?, &bench.c, c_path(path)?);
    let (mut ours, mut theirs) = opening(c, path, &c_path);
    open.push(nchunks, clock::compare(bench.effort, 1, &mut ours, &mut theirs)?);
    let (mut rng, mut c_rng) = (XorShift32::default(), XorShift32::default());
    let (mut dest, mut c_dest) = (vec![0; items.len()], vec![0; items.len()]);
    let times = clock::compare(
        bench.effort,
        1,
        &mut || {
            let schunk = SChunk::open(path)?;
            schunk.decode_chunk_into(rng.below(nchunks), &mut dest, &mut schunk.scratch())?;
            Ok(())
        },
        &mut || c.open(&c_path)?.decode(c_rng.below(nchunks), &mut c_dest).map(drop),
    )?;
    random.push(nchunks, times);
    if dest != items || c_dest != items { fail("scaling: not the same chunk") } else { Ok(()) }
}

/// The least seconds of three runs if they are short, each without a file at `path` first.
fn seconds(nchunks: u64, path: &Path, work: clock::Work<'_>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for times in 0..3 {
        if times == 0 || nchunks <= 10_000 && least < 5.0 {
            remove(path)?;
            let start = clock::processor();
            work()?;
            least = least.min(clock::processor() - start);
        }
    }
    Ok(least)
}

/// Adds the rows of the table for both sides.
fn keep(bench: &mut Bench, operation: &Operation) {
    for (&(nchunks, ours), &(_, theirs)) in operation.ours.iter().zip(&operation.theirs) {
        let case = format!("{nchunks} chunks");
        let subject = Subject::new("scaling", operation.title, "lz4 shuffle", case);
        bench.keep(subject, Times { ours, theirs });
    }
}

fn csv(all: &[Operation]) -> String {
    let mut text = "what,side,chunks,seconds\n".to_owned();
    for operation in all {
        for (side, points) in [("ours", &operation.ours), ("C-Blosc2", &operation.theirs)] {
            for (nchunks, seconds) in points {
                let _ = writeln!(
                    text,
                    "{},{side},{nchunks},{seconds:.3e}",
                    operation.title.replace(',', "")
                );
            }
        }
    }
    text
}

fn panel(operation: &Operation, counts: &[u64]) -> Panel {
    let floats =
        |points: &[(u64, f64)]| points.iter().map(|&(n, seconds)| (float(n), seconds)).collect();
    let is_short = operation.theirs.len() < counts.len();
    let ours =
        Curve { name: "ours", colour: "#1f6fb4", points: floats(&operation.ours), end: None };
    let theirs = Curve {
        name: "C-Blosc2",
        colour: "#c8352b",
        points: floats(&operation.theirs),
        end: is_short.then_some("next: over a minute"),
    };
    Panel { title: operation.title, curves: vec![ours, theirs] }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of chunks are small")]
fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_foreseen() {
        let with = |theirs: &[(u64, f64)]| Operation {
            theirs: theirs.to_vec(),
            ..Operation::new("append")
        };
        // 0.1 and 1 s: 10 s come next. 0.1 and 9 s: about 900 s come next.
        assert!(!with(&[(1_000, 1e-4), (10_000, 1e-4)]).is_too_long(100_000));
        assert!(with(&[(1_000, 1e-4), (10_000, 9e-4)]).is_too_long(100_000));
        // A setting that was left out stays out.
        assert!(with(&[(1_000, 1e-9)]).is_too_long(1_000_000));
        assert!(!with(&[]).is_too_long(1_000));
    }
}
