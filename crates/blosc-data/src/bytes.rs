//! Bytes of any format: what was compressed, without a type or a shape.

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

    /// Bytes of an item, as the codec was told; 1 where that is not known.
    fn typesize(&self) -> u64;

    /// Bytes that it takes where it is stored.
    fn stored_nbytes(&self) -> u64;

    /// Named values beside the bytes, as far as JSON can say them.
    ///
    /// # Errors
    ///
    /// Values that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// Hands the bytes `range` to `sink`, piece by piece in order, within the memory of `budget`.
    ///
    /// # Errors
    ///
    /// [`Param::Range`](crate::error::Param::Range) where they reach beyond the end; damage, after
    /// all bytes before it; or the error of `sink`.
    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()>;

    /// The chunks as they are stored; `None` where there are none.
    fn chunks(&self) -> Option<&dyn Chunks> {
        None
    }

    /// Compares what was read with the seals of its file: after all of it was read, before it is
    /// believed.
    ///
    /// # Errors
    ///
    /// Bytes that are not those that were sealed.
    fn compare_seals(&self) -> Result<()> {
        Ok(())
    }

    /// The frame that holds it, if one does.
    fn frame(&self) -> Option<&Arc<SChunk>> {
        None
    }

    /// Decodes everything and compares checksums; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// Only where the system refuses to read at all; damage is in the report.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let _ = progress;
        let read = self.stream(0..self.nbytes(), &options.budget, &mut |_| Ok(()));
        Ok(verify::of_reading(read.and_then(|()| self.compare_seals()), self.nbytes()))
    }
}

/// Ranges up to this length (bytes) are read by the thread of the caller.
const MAX_LONE_NBYTES: usize = 4 << 20;

impl dyn Bytes + '_ {
    /// Fills `dest` with the bytes from `start` on.
    ///
    /// # Errors
    ///
    /// As [`Bytes::stream`]; [`Error::ArrayLen`] where the data have fewer bytes than they claim.
    pub fn read_at(&self, start: u64, dest: &mut [u8]) -> Result<()> {
        self.read_within(start, dest, &Budget::default())
    }

    /// The same with the threads and the memory of `budget`.
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

/// Hands the bytes `range` of `nbytes` to `sink` by `work`: all of them must come, as a header
/// claims more at times than the chunks have.
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
