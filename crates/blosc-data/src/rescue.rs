//! Saves the sound parts of a damaged object as a new one. The damaged object is only read.
//!
//! ```no_run
//! use std::path::{Path, PathBuf};
//!
//! use blosc_data::rescue::{self, Caller, Output};
//!
//! /// Writes one output, and limits nothing.
//! struct Into(PathBuf);
//!
//! impl Caller for Into {
//!     type Error = blosc_data::Error;
//!
//!     fn output(&mut self, _: Output) -> blosc_data::Result<PathBuf> {
//!         Ok(self.0.clone())
//!     }
//! }
//!
//! let mut target = Into("sound.b2nd".into());
//! let (damaged, options) = (Path::new("damaged.b2nd"), rescue::Options::default());
//! let found = rescue::rescue(damaged, None, &options, &mut target)?;
//! println!("{} of {} bytes are filled", found.filled, found.nbytes);
//! # Ok::<(), blosc_data::Error>(())
//! ```

mod bcolz;
mod before;
mod blp;
mod chunk;
mod frame;
mod npy;
mod store;
mod unread;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use b2frame::probe::{Kind, probe};
use blosc_chunk::{DParams, Limits};
use blosc_container::rescue::{ChunkState, Fill, RescueOptions};
use blosc_dtype::{Dtype, npy::MAGIC};
use blosc_io::tree::DirTree;
use blosc_io::{FileStore, ReadAt};
use serde::Serialize;

use crate::error::{Doing, Error, Result};
use crate::format::{Format, recognise};
use crate::formats::chunk::header_of;
use crate::source::Source;
use crate::{Budget, Tail, size::as_len};

use unread::Unread;

pub use before::{Damaged, before_damage, value_before_damage};

/// Most chunks and blocks in a report: a damaged header may claim any number.
pub const MAX_LISTED: usize = 100_000;

/// Bytes that the recognition of a format needs.
const HEAD_NBYTES: usize = 64;

blosc_chunk::setters! {
/// Options of a rescue.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The replacement of lost data. Default: zeros, or the fill value of bcolz.
    pub fill: Fill,
    /// Type of the items of an array of bcolz that has lost its `meta/storage`. Default: raw bytes.
    pub dtype: Option<Dtype>,
    /// Parameters for decoding chunks; the budget sets their limits.
    pub dparams: DParams,
    /// Threads and memory.
    pub budget: Budget,
    /// Most bytes of fill that a Bloscpack file gets. Default: 16 GiB.
    pub max_filled: Option<u64>,
}
}

impl Options {
    /// Parameters for decoding chunks in a share of the memory.
    fn dparams_in(&self, share: u64) -> DParams {
        let limits = Limits::none().max_nbytes(self.budget.max_memory / share.max(1));
        self.dparams.clone().limits(limits)
    }

    /// Options for a container, of which at most `max_nbytes` bytes of data are decoded.
    fn of_container(&self, max_nbytes: u64) -> RescueOptions {
        RescueOptions::default().fill(self.fill.clone()).max_nbytes(Some(max_nbytes))
    }

    /// The word for the state of lost chunks in the output.
    fn lost_are(&self) -> &'static str {
        if self.fill == Fill::Cut { "cut" } else { "filled" }
    }
}

/// The kind of an output, before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A file, which may exist and is written from its start.
    File,
    /// A file or a folder at a path where nothing exists.
    Any,
}

/// The caller of a rescue: it limits the work and chooses the output.
pub trait Caller {
    /// The error of the caller.
    type Error: From<Error>;

    /// The most bytes of data from `stored` bytes. Default: no limit.
    fn allowance(&self, stored: u64) -> u64 {
        let _ = stored;
        u64::MAX
    }

    /// Called before `nbytes` bytes of data from `stored` bytes are written.
    ///
    /// # Errors
    ///
    /// When they exceed a limit.
    fn admit(&mut self, nbytes: u64, stored: u64) -> Result<(), Self::Error> {
        let _ = (nbytes, stored);
        Ok(())
    }

    /// The path of the output; called once, before anything is written.
    ///
    /// # Errors
    ///
    /// When there can be no output.
    fn output(&mut self, kind: Output) -> Result<PathBuf, Self::Error>;
}

/// The result of a rescue.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether the output holds all data of the input.
    pub complete: bool,
    /// Bytes of data in the new object.
    pub nbytes: u64,
    /// Bytes among them that are fill values.
    pub filled: u64,
    /// Files that the system refused to read, with its errors. Another attempt may read them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// The steps of the rescue, in words.
    pub actions: Vec<String>,
    /// The states of the chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<Counts>,
    /// The states of the blocks of bare chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Counts>,
    /// The chunks and blocks in other states than good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bad: Vec<Bad>,
    /// The state of the seal of a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<&'static str>,
}

/// Numbers of chunks or blocks in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Sound chunks.
    pub good: u64,
    /// Chunks that were read, with damage beside them.
    pub doubtful: u64,
    /// Chunks that cannot be read.
    pub lost: u64,
}

impl Counts {
    fn of_states(states: &[ChunkState]) -> Self {
        let mut counts = Self::default();
        states.iter().for_each(|state| counts.add(*state));
        counts
    }

    fn add(&mut self, state: ChunkState) {
        match state {
            ChunkState::Good => self.good += 1,
            ChunkState::Doubtful => self.doubtful += 1,
            ChunkState::Lost => self.lost += 1,
        }
    }

    fn add_all(&mut self, other: Self) {
        self.good += other.good;
        self.doubtful += other.doubtful;
        self.lost += other.lost;
    }
}

/// A chunk, or a block of a bare chunk, that is doubtful or lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bad {
    /// The frame, in a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// The value of a store, or the column of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of the chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u64>,
    /// The number of the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// `doubtful` or `lost`.
    pub state: &'static str,
}

impl Bad {
    fn chunks(states: &[ChunkState]) -> impl Iterator<Item = Self> {
        let bad = numbered(states).take(MAX_LISTED);
        bad.map(|(chunk, state)| Self { chunk: Some(chunk), state, ..Self::default() })
    }

    /// Adds entries to a list up to its limit: small objects may claim many chunks each.
    fn list(all: &mut Vec<Self>, more: impl IntoIterator<Item = Self>) {
        let room = MAX_LISTED.saturating_sub(all.len());
        all.extend(more.into_iter().take(room));
    }

    fn blocks(chunk: Option<u64>, states: &[ChunkState]) -> impl Iterator<Item = Self> {
        numbered(states).map(move |(block, state)| Self {
            chunk,
            block: Some(block),
            state,
            ..Self::default()
        })
    }
}

/// The numbers and states of chunks that are not good.
fn numbered(states: &[ChunkState]) -> impl Iterator<Item = (u64, &'static str)> {
    (0u64..).zip(states).filter_map(|(number, state)| match state {
        ChunkState::Good => None,
        ChunkState::Doubtful => Some((number, "doubtful")),
        ChunkState::Lost => Some((number, "lost")),
    })
}

/// The format of a damaged object, as far as it can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// A store.
    Store,
    /// A directory of bcolz, perhaps with nothing but chunks left.
    Bcolz,
    /// A Bloscpack file.
    Blp,
    /// One or more bare chunks.
    Chunk,
    /// An array of NumPy in a `.npy` file.
    Npy,
    /// An archive of arrays of NumPy.
    Npz,
    /// A frame, or anything else.
    Frame,
}

/// Recognises the format of a damaged file or folder, or of the part of a file from byte `at` on.
///
/// # Errors
///
/// A file that cannot be read.
pub fn remains(path: &Path, at: Option<u64>) -> Result<Remains> {
    let (is_file, is_whole) = (path.is_file(), at.is_none());
    if is_whole
        && (format_of(path) == Some(Format::Store) || path.is_dir() && has_suffix(path, "b2d"))
    {
        return Ok(Remains::Store);
    }
    if is_whole && was_bcolz(path) {
        return Ok(Remains::Bcolz);
    }
    if !is_file {
        return Ok(Remains::Frame);
    }
    let head = head(path, at.unwrap_or(0))?;
    if is_whole && head.starts_with(MAGIC) {
        return Ok(Remains::Npy);
    }
    let is_npz = || has_suffix(path, "npz") || format_of(path) == Some(Format::Npz);
    if is_whole && head.starts_with(b"PK\x03\x04") && is_npz() {
        return Ok(Remains::Npz);
    }
    let kind = probe(&head);
    let is_unnamed = matches!(kind, Kind::Unknown | Kind::Chunk);
    if is_whole && (kind == Kind::Bloscpack || is_unnamed && has_suffix(path, "blp")) {
        return Ok(Remains::Blp);
    }
    let is_chunk = is_unnamed && (has_suffix(path, "chunk") || header_of(&head).is_some());
    Ok(if is_chunk { Remains::Chunk } else { Remains::Frame })
}

/// Whether a folder is, or was, an array or a table of bcolz; perhaps only chunks are left.
fn was_bcolz(path: &Path) -> bool {
    let has_chunks = |path: &Path| {
        fs::read_dir(path.join("data")).is_ok_and(|entries| {
            entries.flatten().any(|entry| {
                let name = entry.file_name();
                let digits = name.to_str().and_then(|name| name.strip_prefix("__"));
                let digits = digits.and_then(|name| name.strip_suffix(".blp")).unwrap_or_default();
                digits.parse::<u64>().is_ok()
            })
        })
    };
    let columns = || fs::read_dir(path).into_iter().flatten().flatten();
    format_of(path) == Some(Format::Bcolz)
        || path.is_dir() && (has_chunks(path) || columns().any(|entry| has_chunks(&entry.path())))
}

/// The format of a file or a folder; `None` if it is unknown or cannot be read.
fn format_of(path: &Path) -> Option<Format> {
    let source = Source::of_path(path).ok()?;
    recognise(&source, &path.to_string_lossy()).ok()
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.extension().is_some_and(|found| found == suffix)
}

/// The first bytes from byte `at` of a file on.
fn head(path: &Path, at: u64) -> Result<Vec<u8>> {
    let file = file(path)?;
    let left = file.len().map_err(Error::io(Doing::Read))?.saturating_sub(at);
    let mut head = vec![0; as_len(left).min(HEAD_NBYTES)];
    file.read_exact_at(at, &mut head).map_err(Error::io(Doing::Read))?;
    Ok(head)
}

fn file(path: &Path) -> Result<FileStore> {
    FileStore::open(path).map_err(Error::open(path))
}

/// Bytes of a file, or of all files of a folder; 0 for what cannot be read.
#[must_use]
pub fn stored_nbytes(path: &Path) -> u64 {
    match path.is_dir() {
        true => crate::content::stored_nbytes(&DirTree::new(path)).unwrap_or(0),
        false => fs::metadata(path).map_or(0, |found| found.len()),
    }
}

/// A damaged object, and the options of its rescue.
#[derive(Clone, Copy)]
struct Job<'a> {
    path: &'a Path,
    /// The start of a single wanted object in a file of several (bytes).
    at: Option<u64>,
    options: &'a Options,
    unread: &'a Unread,
}

/// Writes the sound parts of a file or a folder as a new object, or those of the object at byte
/// `at` of a file. The caller chooses the path, and renames the output after success.
///
/// # Errors
///
/// [`Error::NothingRescued`] and errors of the formats, when nothing can be saved; limits; the
/// error of the caller.
pub fn rescue<C: Caller>(
    path: &Path,
    at: Option<u64>,
    options: &Options,
    caller: &mut C,
) -> Result<Report, C::Error> {
    let unread = Unread::default();
    let job = Job { path, at, options, unread: &unread };
    let remains = remains(path, at)?;
    let report = match remains {
        Remains::Store => match store::run(job, caller)? {
            Some(report) => Ok(report),
            // An embed store that lists no values any more is rescued as a frame.
            None => frame::run(job, caller),
        },
        Remains::Bcolz => bcolz::run(job, caller),
        Remains::Blp => blp::run(job, caller),
        Remains::Chunk => chunk::run(job, caller),
        Remains::Npy => npy::run(job, caller),
        Remains::Npz => npy::run_archive(job, caller),
        Remains::Frame => frame::run(job, caller),
    };
    let unread = unread.all();
    let report = match report {
        // Unread bytes may have held anything, so the error names the files.
        Err(_) if !unread.is_empty() => return Err(Error::Unread(unread.join("; ")).into()),
        Err(error) => return Err(error),
        Ok(report) => Report { complete: report.complete && unread.is_empty(), unread, ..report },
    };
    let is_file = at.is_none() && path.is_file();
    match is_file && report.complete && matches!(remains, Remains::Blp | Remains::Frame) {
        true => Ok(with_tail(path, report)?),
        false => Ok(report),
    }
}

/// The report of a sound object; it is incomplete if another file follows the object.
fn with_tail(path: &Path, mut report: Report) -> Result<Report> {
    let tail = Tail::of_file(&(Arc::new(file(path)?) as Arc<dyn ReadAt>))?;
    if tail.nbytes > 0 {
        report.actions.push(format!("left out: {tail}"));
        report.complete = !tail.is_a_file();
    }
    Ok(report)
}

/// The states of the chunks of a damaged frame or bare chunk. At most `max_nbytes` bytes of data
/// are decoded, and nothing is written.
///
/// # Errors
///
/// A frame without readable parts.
pub fn readable_chunks(path: &Path, at: u64, options: &Options, max_nbytes: u64) -> Result<Counts> {
    if remains(path, Some(at))? == Remains::Chunk {
        return chunk::readable(path, at, options);
    }
    let saved = frame::salvage(path, at, options, max_nbytes, &Unread::default())?;
    Ok(Counts::of_states(&saved.chunks))
}

/// Lists the blocks or chunks that are not good: `filled: blocks 3, 7 to 9`.
fn not_good<'a>(
    unit: &'a str,
    states: &'a [ChunkState],
    lost_are: &'a str,
) -> impl Iterator<Item = String> + use<'a> {
    let kinds = [(ChunkState::Lost, lost_are), (ChunkState::Doubtful, "doubtful")];
    let found = kinds.into_iter().map(|(state, what)| (what, with_state(states, state)));
    let found = found.filter(|(_, numbers)| !numbers.is_empty());
    found.map(move |(what, numbers)| format!("{what}: {}", listed(unit, &numbers)))
}

fn with_state(chunks: &[ChunkState], state: ChunkState) -> Vec<u64> {
    (0..).zip(chunks).filter(|(_, found)| **found == state).map(|(nchunk, _)| nchunk).collect()
}

/// Most runs of chunks that are listed.
const MAX_LISTED_RUNS: usize = 20;

/// `chunks 3, 7 to 9`; only the number, if they are many. The unit is a chunk or a block.
fn listed(unit: &str, numbers: &[u64]) -> String {
    let runs: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        })
        .collect();
    match (numbers.len(), runs.len()) {
        (1, _) => format!("{unit} {}", runs.concat()),
        (_, ..=MAX_LISTED_RUNS) => format!("{unit}s {}", runs.join(", ")),
        (many, _) => format!("{} {unit}s", grouped(many)),
    }
}

/// Digits in groups of three.
fn grouped(n: usize) -> String {
    let digits = n.to_string().into_bytes();
    let groups = digits.rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_chunks_without_end_are_not_all_listed() {
        let states = vec![ChunkState::Lost; 200_000];
        assert_eq!(Bad::chunks(&states).count(), MAX_LISTED);
        assert_eq!(Bad::chunks(&states[..3]).count(), 3);
    }

    #[test]
    fn runs_of_chunks_are_put_together() {
        assert_eq!(listed("chunk", &[3]), "chunk 3");
        assert_eq!(listed("chunk", &[3, 7, 8, 9]), "chunks 3, 7 to 9");
        assert_eq!(listed("chunk", &(0..100).map(|n| 2 * n).collect::<Vec<_>>()), "100 chunks");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(grouped(123), "123");
    }
}
