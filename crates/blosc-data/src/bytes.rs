//! Bytes of any format, without a type or a shape.

use core::{fmt::Debug, ops::Range};
use std::sync::Arc;

use b2frame::SChunk;
use blosc_chunk::Threads;
use serde_json::{Map, Value};

use crate::Budget;
use crate::chunks::Chunks;
use crate::error::{Error, Result};
use crate::size::check_range;
use crate::verify::{self, OnProgress, Report, VerifyOptions};

/// Compressed bytes.
pub trait Bytes: Debug + Send + Sync {
    /// The name of the format: `frame`, `chunk`, `blp`.
    fn format(&self) -> &'static str;

    /// Number of bytes.
    fn nbytes(&self) -> u64;

    /// Bytes of an item, as the compressor was told; 1 if unknown.
    fn typesize(&self) -> u64;

    /// Stored bytes.
    fn stored_nbytes(&self) -> u64;

    /// Named values beside the bytes, as far as JSON can hold them.
    ///
    /// # Errors
    ///
    /// Values that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// Hands the bytes `range` to `sink` in order, in pieces, within the memory of `budget`.
    ///
    /// # Errors
    ///
    /// [`Param::Range`](crate::error::Param::Range) for a range beyond the end; damage, after all
    /// bytes before it; the error of `sink`.
    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()>;

    /// The stored chunks; `None` if there are none.
    fn chunks(&self) -> Option<&dyn Chunks> {
        None
    }

    /// Compares the data read with the seals of the file. Callers do this after reading, before
    /// they use the data.
    ///
    /// # Errors
    ///
    /// Bytes that differ from the sealed ones.
    fn compare_seals(&self) -> Result<()> {
        Ok(())
    }

    /// The frame that holds the bytes, if there is one.
    fn frame(&self) -> Option<&Arc<SChunk>> {
        None
    }

    /// Decodes all bytes and compares checksums; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// When the system refuses to read at all. Damage is in the report instead.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let _ = progress;
        let read = self.stream(0..self.nbytes(), &options.budget, &mut |_| Ok(()));
        Ok(verify::of_reading(read.and_then(|()| self.compare_seals()), self.nbytes()))
    }
}

/// Longest range that the caller's thread reads alone (bytes).
const MAX_LONE_NBYTES: usize = 4 << 20;

impl dyn Bytes + '_ {
    /// Fills `dest` with the bytes from `start` on.
    ///
    /// # Errors
    ///
    /// As [`Bytes::stream`]; [`Error::ArrayLen`] if there are fewer bytes than claimed.
    pub fn read_at(&self, start: u64, dest: &mut [u8]) -> Result<()> {
        self.read_within(start, dest, &Budget::default())
    }

    /// Fills `dest` with the threads and the memory of `budget`.
    ///
    /// # Errors
    ///
    /// As `read_at`.
    pub fn read_within(&self, start: u64, dest: &mut [u8], budget: &Budget) -> Result<()> {
        let len = dest.len() as u64;
        let range = start..start.saturating_add(len);
        check_range(&range, self.nbytes())?;
        let mut filled = 0_usize;
        let is_short = dest.len() <= MAX_LONE_NBYTES;
        let budget = if is_short { &budget.clone().threads(Threads::One) } else { budget };
        self.stream(range, budget, &mut |piece| {
            let end = filled.saturating_add(piece.len());
            let here = dest.get_mut(filled..end);
            here.ok_or(Error::ArrayLen { expected: len, found: end as u64 })?
                .copy_from_slice(piece);
            filled = end;
            Ok(())
        })?;
        check_found(len, filled as u64)
    }
}

fn check_found(expected: u64, found: u64) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::ArrayLen { expected, found }) }
}

/// Hands bytes to a sink.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Hands the bytes `range` of `nbytes` to `sink` by `work`. All of them must come, since a header
/// may claim more than the chunks hold.
pub(crate) fn stream_exactly(
    range: Range<u64>,
    nbytes: u64,
    sink: Sink<'_>,
    work: impl FnOnce(Range<u64>, Sink<'_>) -> Result<()>,
) -> Result<()> {
    check_range(&range, nbytes)?;
    let (expected, mut found) = (range.end - range.start, 0_u64);
    work(range, &mut |piece| {
        found = found.saturating_add(piece.len() as u64);
        sink(piece)
    })?;
    check_found(expected, found)
}
