//! The thorough searches of LZ4HC; they write the same blocks as LZ4.
//!
//! * *Levels 1 and 2* (`dual`): two hash tables, as in zstd's `dfast` and LZ4 1.10's `LZ4MID`. One
//!   is of seven-byte words, for long matches, one of four-byte words for the rest. No chains.
//! * *Levels 3 to 9* (`chains`, `lazy`): the hash chains and the lazy parser of LZ4HC. A chain
//!   links each position to the one before with the same four bytes; the search follows up to
//!   `2^(clevel - 1)` links and takes the longest match that covers the position, which may begin
//!   before it. *Lazy matching:* no match is written before the positions near its end were
//!   searched for a longer one; up to three overlapping matches are weighed against each other.
//! * *Runs.* Inside a run of one byte, each position is linked only to positions with as much of
//!   their run ahead ("pattern analysis" in LZ4HC). Otherwise a chain would be exhausted by matches
//!   that all end where the shorter run ends.
//! * *Skip acceleration* after [`SearchParams::skip_trigger`] bytes without a match.
//!
//! All tuned numbers are in [`PARAMS`]. `docs/performance/lz4hc.md` has the reasons, and the
//! attempts that failed.

mod chains;
mod dual;
mod lazy;

use chains::Chains;
use dual::DualTables;

use super::{MAX_INPUT, Window, sequence::BlockWriter};
use crate::{EncodeOptions, Error, StreamEncoder, lz::compare::common_len_before};

/// The tuned numbers of the searches.
struct SearchParams {
    /// Levels 1 and 2: a long match of this length (bytes) is taken without testing the next
    /// position.
    good_len: usize,
    /// Levels 1 and 2: binary logarithm of the literals (bytes) after which the step between probes
    /// grows by one.
    dual_skip_log2: u32,
    /// Levels 3 to 9: literals (bytes) after which the step between searches grows by one.
    skip_trigger: usize,
    /// Levels 3 to 9: the most by which that step grows (bytes).
    max_skip: usize,
    /// Levels 3 to 9: positions that are linked ahead of the search.
    link_ahead: usize,
    /// Levels 3 to 9: if more of a run than this is ahead (bytes), only the preceding byte matters.
    max_run: usize,
}

const PARAMS: SearchParams = SearchParams {
    good_len: 12,
    dual_skip_log2: 9,
    skip_trigger: 128,
    max_skip: 31,
    link_ahead: 1 << 10,
    max_run: 2048,
};

/// Compresses blocks thoroughly; keeps its tables and dictionary between them.
pub(super) struct Encoder {
    method: Method,
    window: Window,
}

enum Method {
    Dual(DualTables),
    Lazy(Chains),
}

impl Encoder {
    /// The last 64 KiB of the dictionary are used.
    pub(super) fn new(options: &EncodeOptions<'_>) -> Self {
        let method = match options.clevel.effective() {
            1 | 2 => Method::Dual(DualTables::new(options.simd)),
            // As many positions as LZ4HC tests: twice as many with each level.
            clevel => Method::Lazy(Chains::new(1 << (clevel - 1), options.simd)),
        };
        Self { method, window: Window::new(options.dict.unwrap_or_default()) }
    }

    fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (window, start) = self.window.append(src);
        let mut writer = BlockWriter::new(window, dest);
        let anchor = match &mut self.method {
            Method::Dual(tables) => tables.compress(window, start, &mut writer)?,
            Method::Lazy(chains) => lazy::compress(chains.start(window)?, start, &mut writer)?,
        };
        writer.finish(anchor)
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }

    fn depends_on_room(&self) -> bool {
        false
    }
}

/// A match: its start, its distance, its length (bytes).
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    distance: usize,
    len: usize,
}

impl Match {
    /// An empty match at a position.
    const fn none(start: usize) -> Self {
        Self { start, distance: 0, len: 0 }
    }

    fn is_some(&self) -> bool {
        self.distance > 0
    }

    fn end(&self) -> usize {
        self.start + self.len
    }

    /// Shortens the match to end at `end`, if that is earlier.
    fn end_at(&mut self, end: usize) {
        self.len = self.len.min(end - self.start);
    }

    /// Moves the start of the match to `start`, if that is later.
    fn begin_at(&mut self, start: usize) {
        let less = start.saturating_sub(self.start);
        self.start += less;
        self.len = self.len.saturating_sub(less);
    }

    /// Extends the match backwards over equal bytes, down to `low`.
    #[inline(always)]
    fn extend_back(self, window: &[u8], low: usize) -> Self {
        let more = common_len_before(
            window,
            self.start - self.distance,
            self.start,
            low.max(self.distance),
        );
        Self { start: self.start - more, len: self.len + more, ..self }
    }
}
