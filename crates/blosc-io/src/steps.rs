//! Reading without I/O: the caller fetches the bytes by its own means.
//!
//! The readers of this family read from a [`ReadAt`] or a [`Tree`](crate::Tree) when they need
//! bytes. Callers that must not wait there (async code, a browser) give them a [`FetchedFile`] or a
//! [`FetchedTree`], which have only the bytes fetched so far:
//!
//! ```text
//!   file.step(work) --+--> Fetch(missing ranges): fetch, file.add, and step again
//!                     +--> Done(result of the work)
//! ```
//!
//! Work that lacks bytes ends early and is run again from its start, so that every reader is usable
//! in this way without a second implementation. Readers announce the bytes that they will need
//! ([`ReadAt::prefetch`]), so that two steps fetch all of them: one for the headers of chunks, one
//! for their blocks; and decoding begins only after the last of them.
//!
//! ```
//! use blosc_io::ReadAt;
//! use blosc_io::steps::{Fetch, FetchedFile, Step};
//!
//! let object = b"somewhere else".to_vec();
//! let file = FetchedFile::new(1 << 20);
//! let word = loop {
//!     let step = file.step(|| {
//!         let mut word = [0; 4];
//!         file.read_exact_at(10, &mut word).map(|()| word)
//!     })?;
//!     match step {
//!         Step::Done(word) => break word,
//!         Step::Fetch(fetches) => {
//!             for fetch in fetches {
//!                 let range = fetch.range(object.len() as u64);
//!                 let bytes = &object[range.start as usize..range.end as usize];
//!                 file.add(range.start, bytes, object.len() as u64)?;
//!             }
//!         }
//!     }
//! };
//! assert_eq!(&word, b"else");
//! # Ok::<(), std::io::Error>(())
//! ```

mod known;
mod tree;

use core::ops::Range;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ReadAt;
use known::Known;

pub use tree::{FetchedTree, FileFetch};

/// Bytes that the first step fetches at the start of a file. With [`LAST_NBYTES`] they hold the
/// header, trailer and index of most frames.
pub const FIRST_NBYTES: u64 = 16 << 10;
/// Bytes that the first step fetches at the end of a file: see [`FIRST_NBYTES`].
pub const LAST_NBYTES: u64 = 64 << 10;

/// Bytes of a file to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// These bytes, as far as the file has them.
    Range(Range<u64>),
    /// The last bytes, at most this number.
    Suffix(u64),
}

impl Fetch {
    /// The bytes of a file of `len` bytes.
    #[must_use]
    pub fn range(&self, len: u64) -> Range<u64> {
        match self {
            Self::Range(range) => range.start.min(len)..range.end.min(len),
            Self::Suffix(nbytes) => len.saturating_sub(*nbytes)..len,
        }
    }
}

/// The state of some work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T, F = Fetch> {
    /// It needs these bytes, which may be fetched at once, before it is run again.
    Fetch(Vec<F>),
    /// It is done.
    Done(T),
}

/// A file whose bytes the caller fetches when they are read.
#[derive(Debug)]
pub struct FetchedFile {
    state: Mutex<State>,
    limit: u64,
    kept: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Length of the file, once it is known.
    len: Option<u64>,
    known: Known,
    /// The number of the current or next work.
    work: u64,
    /// The ranges to fetch.
    missing: Vec<Range<u64>>,
    /// Whether a read failed because bytes are missing.
    is_blocked: bool,
}

impl FetchedFile {
    /// A file without known bytes. One step fetches up to `limit` bytes ahead: a part of an array
    /// that needs more takes more steps, each of which decodes the earlier ones again.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { state: Mutex::default(), limit, kept: u64::MAX }
    }

    /// Keeps at most `nbytes` of the fetched bytes from one piece of work to the next; the bytes
    /// read last stay. Without this call all of them stay.
    #[must_use]
    pub fn keeping(mut self, nbytes: u64) -> Self {
        self.kept = nbytes;
        self
    }

    /// A file of known length, from a listing for instance.
    #[must_use]
    pub fn with_len(len: u64, limit: u64) -> Self {
        let file = Self::new(limit);
        file.lock().len = Some(len);
        file
    }

    /// Runs `work`, which reads this file, on its known bytes.
    ///
    /// # Errors
    ///
    /// The error of `work`, unless it only lacks bytes.
    pub fn step<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<Step<T>, E> {
        let number = self.lock().work;
        self.begin(number);
        let done = work();
        match self.take_missing(done.is_err()) {
            Some(fetches) => Ok(Step::Fetch(fetches)),
            None => {
                self.lock().work = number.saturating_add(1);
                forget_oldest([self], self.kept);
                done.map(Step::Done)
            }
        }
    }

    /// Adds fetched bytes, from position `at` on, of a file of `len` bytes.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] if the file had another length before, and so has changed.
    pub fn add(&self, at: u64, bytes: &[u8], len: u64) -> io::Result<()> {
        let mut state = self.lock();
        let end = at.saturating_add(bytes.len() as u64);
        if end > len || state.len.is_some_and(|known| known != len) {
            let known = state.len.unwrap_or(len);
            let text = format!("bytes {at}..{end} of {len}, in a file of {known} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        state.len = Some(len);
        state.known.insert(at, bytes);
        Ok(())
    }

    /// Known bytes, which take memory.
    #[must_use]
    pub fn known_nbytes(&self) -> u64 {
        self.lock().known.nbytes()
    }

    /// Forgets all bytes; the length stays.
    pub fn forget(&self) {
        self.lock().known.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a step of the work with this number.
    fn begin(&self, work: u64) {
        let mut state = self.lock();
        state.known.begin(work);
        state.missing.clear();
        state.is_blocked = false;
    }

    /// The bytes that the work needs before it is run again. Announced bytes are fetched with them,
    /// or if the work failed: its error may have another cause.
    fn take_missing(&self, has_failed: bool) -> Option<Vec<Fetch>> {
        let mut state = self.lock();
        let lacks_bytes = state.is_blocked || has_failed && !state.missing.is_empty();
        if !lacks_bytes {
            return None;
        }
        let missing = core::mem::take(&mut state.missing);
        Some(match state.len {
            Some(_) => merged(missing).into_iter().map(Fetch::Range).collect(),
            None => vec![Fetch::Range(0..FIRST_NBYTES), Fetch::Suffix(LAST_NBYTES)],
        })
    }
}

/// Forgets pieces of files until they have `nbytes` at most, the ones read longest ago first.
fn forget_oldest<'a>(files: impl IntoIterator<Item = &'a FetchedFile> + Clone, nbytes: u64) {
    let known = files.clone().into_iter().map(FetchedFile::known_nbytes);
    let mut known = known.fold(0, u64::saturating_add);
    if known <= nbytes {
        return;
    }
    let mut uses: Vec<_> = files
        .into_iter()
        .flat_map(|file| {
            let uses: Vec<_> = file.lock().known.uses().collect();
            uses.into_iter().map(move |(work, at, len)| (work, at, len, file))
        })
        .collect();
    uses.sort_by_key(|(work, ..)| *work);
    for (_, at, len, file) in uses {
        if known <= nbytes {
            break;
        }
        file.lock().known.remove(at);
        known = known.saturating_sub(len);
    }
}

/// These ranges, ascending and apart from each other.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

impl ReadAt for FetchedFile {
    /// Fails until the first bytes are added, as reads do.
    fn len(&self) -> io::Result<u64> {
        let mut state = self.lock();
        state.is_blocked |= state.len.is_none();
        state.len.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    /// Notes unknown bytes for the next step, and reports them as an error of the kind
    /// `WouldBlock`.
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut state = self.lock();
        let Some(len) = state.len else {
            state.is_blocked = true;
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let end = at.saturating_add(buf.len() as u64).min(len);
        if at >= end {
            return Ok(0);
        }
        let nbytes = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let dest = buf.get_mut(..nbytes).unwrap_or_default();
        if state.known.copy(at, dest) {
            return Ok(nbytes);
        }
        state.is_blocked = true;
        let gaps = state.known.gaps(at..end);
        state.missing.extend(gaps);
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Notes all ranges before the first one fails.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let len = self.len()?;
        if ranges.iter().any(|range| range.start > range.end) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if ranges.iter().any(|range| range.end > len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut state = self.lock();
        let gaps: Vec<_> =
            ranges.iter().flat_map(|range| state.known.gaps(range.clone())).collect();
        if !gaps.is_empty() {
            state.is_blocked = true;
            state.missing.extend(gaps);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut read = |range: &Range<u64>| {
            let nbytes = range.end.saturating_sub(range.start);
            let mut bytes = vec![0; usize::try_from(nbytes).unwrap_or(usize::MAX)];
            state.known.copy(range.start, &mut bytes);
            bytes
        };
        Ok(ranges.iter().map(&mut read).collect())
    }

    fn prefetch_limit(&self) -> u64 {
        self.limit
    }

    fn prefetch(&self, ranges: &[Range<u64>]) {
        let mut state = self.lock();
        let Some(len) = state.len else { return };
        for range in ranges {
            let gaps = state.known.gaps(range.start..range.end.min(len));
            state.missing.extend(gaps);
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]
mod tests {
    use super::*;

    fn content() -> Vec<u8> {
        (0..100_000_u32).map(|n| (n * 7 % 251) as u8).collect()
    }

    /// Fetches until the work is done, and counts the rounds.
    fn run<T>(file: &FetchedFile, mut work: impl FnMut() -> io::Result<T>) -> (T, usize) {
        let content = content();
        for rounds in 0..10 {
            match file.step(&mut work).unwrap() {
                Step::Done(done) => return (done, rounds),
                Step::Fetch(fetches) => {
                    for fetch in fetches {
                        let range = fetch.range(content.len() as u64);
                        let bytes = &content[range.start as usize..range.end as usize];
                        file.add(range.start, bytes, content.len() as u64).unwrap();
                    }
                }
            }
        }
        panic!("too many rounds")
    }

    #[test]
    fn a_file_that_was_fetched_is_a_store() {
        let file = FetchedFile::new(1 << 20);
        file.add(0, &content()[..5000], 5000).unwrap();
        crate::testing::check_read_at(&file, &content()[..5000]).unwrap();
    }

    #[test]
    fn the_first_step_fetches_start_and_end() {
        let file = FetchedFile::new(1 << 20);
        let step = file.step(|| file.len()).unwrap();
        let first = vec![Fetch::Range(0..FIRST_NBYTES), Fetch::Suffix(LAST_NBYTES)];
        assert_eq!(step, Step::Fetch(first));
        assert_eq!(run(&file, || file.len()), (100_000, 1));
        assert_eq!(file.known_nbytes(), FIRST_NBYTES + LAST_NBYTES);
    }

    #[test]
    fn announced_and_needed_bytes_come_in_one_round() {
        let file = FetchedFile::with_len(100_000, 1 << 20);
        let work = || {
            file.prefetch(&[5000..6000, 70_000..70_010]);
            let mut bytes = [0; 10];
            file.read_exact_at(70_000, &mut bytes)?;
            let first = file.read_ranges(&[5000..5005, 5990..6000])?;
            Ok((bytes.to_vec(), first.concat()))
        };
        let expected = (
            content()[70_000..70_010].to_vec(),
            [&content()[5000..5005], &content()[5990..6000]].concat(),
        );
        assert_eq!(run(&file, work), (expected.clone(), 1));
        assert_eq!(file.known_nbytes(), 1010);
        assert_eq!(run(&file, work), (expected, 0));
        file.forget();
        assert_eq!(file.known_nbytes(), 0);
    }

    #[test]
    fn an_error_that_hides_a_missing_byte_is_no_error() {
        let file = FetchedFile::with_len(100_000, 1 << 20);
        let hidden = || Ok(file.read_at(7, &mut [0; 3]).unwrap_or(99));
        assert_eq!(run(&file, hidden), (3, 1));
        let failed = file.step(|| Err::<(), _>("broken"));
        assert_eq!(failed, Err("broken"));
    }

    #[test]
    fn what_was_read_last_is_kept_within_the_bound() {
        let file = FetchedFile::with_len(100_000, 1 << 20).keeping(2500);
        let read = |at: u64| move |file: &FetchedFile| file.read_exact_at(at, &mut [0; 1000]);
        for (at, rounds, known) in [
            (0, 1, 1000),
            (1000, 1, 2000),
            (0, 0, 2000),
            // The piece at 1000 was read before the one at 0.
            (5000, 1, 2000),
            (0, 0, 2000),
            (1000, 1, 2000),
            (5000, 1, 2000),
        ] {
            assert_eq!(run(&file, || read(at)(&file)), ((), rounds), "{at}");
            assert_eq!(file.known_nbytes(), known, "{at}");
        }
        // Work that needs more than the bound keeps all of it until it is done.
        assert_eq!(run(&file, || file.read_exact_at(20_000, &mut [0; 50_000])), ((), 1));
        assert_eq!(file.known_nbytes(), 0);
        assert_eq!(file.len().unwrap(), 100_000);
    }

    #[test]
    fn a_part_after_the_end_is_not_fetched_ahead() {
        let file = FetchedFile::with_len(100, 1 << 20);
        file.prefetch(&[200..300, 90..400]);
        let step = file.step(|| {
            file.prefetch(&[200..300, 90..400]);
            file.read_exact_at(0, &mut [0; 4])
        });
        assert_eq!(step.unwrap(), Step::Fetch(vec![Fetch::Range(0..4), Fetch::Range(90..100)]));
    }

    #[test]
    fn bytes_of_a_file_of_another_length_are_refused() {
        let file = FetchedFile::with_len(10, 0);
        assert_eq!(file.add(0, b"abc", 11).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(file.add(8, b"abc", 10).unwrap_err().kind(), io::ErrorKind::InvalidData);
        file.add(7, b"abc", 10).unwrap();
    }
}
