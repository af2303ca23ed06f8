//! Levels 1 and 2: two tables, one of seven-byte words for long matches, one of four-byte words for the rest.

use super::{
    super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, sequence::Block},
    Match,
};
use crate::lz::{Stream, Table, common_len, load32, load64};

/// Slots of each table.
const SLOTS: usize = 1 << 14;

/// A match of this length is taken without a look at the next place.
const LONG_ENOUGH: usize = 12;

/// Kept between blocks.
pub(super) struct Quick {
    longs: Table<SLOTS>,
    shorts: Table<SLOTS>,
}

impl Quick {
    pub(super) fn new() -> Self {
        Self { longs: Table::new(), shorts: Table::new() }
    }

    /// Compresses `window[start..]` but for its last literals; where these begin.
    pub(super) fn run(&mut self, window: &[u8], start: usize, block: &mut Block<'_>) -> Option<usize> {
        let mut search = Search {
            window,
            longs: self.longs.start(window.len(), MAX_DISTANCE)?,
            shorts: self.shorts.start(window.len(), MAX_DISTANCE)?,
        };
        let limit = window.len().saturating_sub(MATCH_LIMIT - 1);
        (0..start.min(limit)).for_each(|at| search.note(at));
        let (mut anchor, mut at) = (start, start);
        while at < limit {
            let Some(m) = search.find(at, limit) else {
                at += 1 + ((at - anchor) >> 9);
                continue;
            };
            let m = m.widen(window, anchor);
            block.sequence(anchor, m.start, m.distance, m.len)?;
            anchor = m.end();
            search.note_around(&m, at, limit);
            at = anchor;
        }
        Some(anchor)
    }
}

struct Search<'a> {
    window: &'a [u8],
    longs: Stream<'a, SLOTS>,
    shorts: Stream<'a, SLOTS>,
}

impl Search<'_> {
    /// A long match if there is one, else a short one; unless one place on is a longer one.
    #[inline(always)]
    fn find(&mut self, at: usize, limit: usize) -> Option<Match> {
        let long = self.long(at);
        let short = self.short(at);
        let best = long.or(short)?;
        if best.len >= LONG_ENOUGH || at + 1 >= limit {
            return Some(best);
        }
        self.long(at + 1).filter(|next| next.len > best.len).or(Some(best))
    }

    #[inline(always)]
    fn long(&mut self, at: usize) -> Option<Match> {
        let word = load64(self.window, at);
        let earlier = self.longs.replace(long_hash(word), at)?;
        ((load64(self.window, earlier) ^ word) << 8 == 0).then(|| self.measure(at, earlier, 7))
    }

    #[inline(always)]
    fn short(&mut self, at: usize) -> Option<Match> {
        let word = load32(self.window, at);
        let earlier = self.shorts.replace(short_hash(word), at)?;
        (load32(self.window, earlier) == word).then(|| self.measure(at, earlier, 4))
    }

    /// The match at `at` with `earlier`, `same` bytes of which are known to agree.
    #[inline(always)]
    fn measure(&self, at: usize, earlier: usize, same: usize) -> Match {
        let end = self.window.len() - LAST_LITERALS;
        // A long word may reach into the last literals.
        let same = same.min(end - at);
        let len = same + common_len(self.window, earlier + same, at + same, end);
        Match { start: at, distance: at - earlier, len }
    }

    /// Puts a place into both tables.
    #[inline(always)]
    fn note(&mut self, at: usize) {
        self.longs.replace(long_hash(load64(self.window, at)), at);
        self.shorts.replace(short_hash(load32(self.window, at)), at);
    }

    /// Of a match that was found at `at`, the places next to its ends.
    #[inline(always)]
    fn note_around(&mut self, m: &Match, at: usize, limit: usize) {
        for place in [at + 1, at + 2, m.end() - 3, m.end() - 2, m.end() - 1] {
            if place > at && place < m.end() && place < limit {
                self.note(place);
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half is what is wanted")]
/// Of the first seven bytes.
fn long_hash(word: u64) -> u32 {
    ((word << 8).wrapping_mul(0x9E37_79B1_85EB_CA87) >> 32) as u32
}

#[inline(always)]
fn short_hash(word: u32) -> u32 {
    word.wrapping_mul(2_654_435_761)
}
