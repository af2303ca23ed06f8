//! Levels 1 and 2: two tables, one of seven-byte words for long matches, one of four-byte words for
//! the rest.

use super::{
    super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MIN_MATCH, sequence::Block},
    Match,
};
use crate::lz::{Stream, Table, common_len, load32, load64};

/// Slots of each table.
const SLOTS: usize = 1 << BITS;
/// All of them for short streams as well: false candidates cost more than the way to another cache.
const BITS: u32 = 14;

/// A long match of this length is taken without a look at the next place.
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
    pub(super) fn run(
        &mut self,
        window: &[u8],
        start: usize,
        block: &mut Block<'_>,
    ) -> Option<usize> {
        let mut search = Search {
            window,
            longs: self.longs.start(window.len())?,
            shorts: self.shorts.start(window.len())?,
        };
        let limit = window.len().saturating_sub(MATCH_LIMIT - 1);
        for at in 0..start.min(limit) {
            search.note_long(at);
            search.note_short(at);
        }
        let (mut anchor, mut at) = (start, start);
        while at < limit {
            let Some(m) = search.find(at, limit) else {
                at += 1 + ((at - anchor) >> 9);
                continue;
            };
            let m = m.widen(window, anchor);
            block.sequence(anchor, m.start, m.distance, m.len)?;
            anchor = m.end();
            search.note_around(at, m.end(), limit);
            at = anchor;
        }
        Some(anchor)
    }
}

struct Search<'a> {
    window: &'a [u8],
    longs: Stream<'a, SLOTS, BITS, MAX_DISTANCE>,
    shorts: Stream<'a, SLOTS, BITS, MAX_DISTANCE>,
}

impl Search<'_> {
    /// A long match if there is one, else a short one; unless one place on is a longer one.
    #[inline(always)]
    fn find(&mut self, at: usize, limit: usize) -> Option<Match> {
        let best = match self.long(at) {
            Some(long) if long.len >= LONG_ENOUGH => return Some(long),
            Some(long) => long,
            None => self.short(at)?,
        };
        if at + 1 >= limit {
            return Some(best);
        }
        self.long(at + 1).filter(|next| next.len > best.len).or(Some(best))
    }

    #[inline(always)]
    fn long(&mut self, at: usize) -> Option<Match> {
        let word = load64(self.window, at);
        let earlier = self.longs.replace(long_hash(word), at)?;
        (load32(self.window, earlier) == load32(self.window, at)).then(|| self.measure(at, earlier))
    }

    #[inline(always)]
    fn short(&mut self, at: usize) -> Option<Match> {
        let word = load32(self.window, at);
        let earlier = self.shorts.replace(short_hash(word), at)?;
        (load32(self.window, earlier) == word).then(|| self.measure(at, earlier))
    }

    /// The match at `at` with `earlier`, four bytes of which are known to agree.
    #[inline(always)]
    fn measure(&self, at: usize, earlier: usize) -> Match {
        let end = self.window.len() - LAST_LITERALS;
        let len = MIN_MATCH + common_len(self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
        Match { start: at, distance: at - earlier, len }
    }

    #[inline(always)]
    fn note_long(&mut self, at: usize) {
        self.longs.note(long_hash(load64(self.window, at)), at);
    }

    #[inline(always)]
    fn note_short(&mut self, at: usize) {
        self.shorts.note(short_hash(load32(self.window, at)), at);
    }

    /// Of a match that was found at `at` and ends at `end`, places next to both: long words further
    /// from the end than short ones.
    #[inline(always)]
    fn note_around(&mut self, at: usize, end: usize, limit: usize) {
        if end > limit {
            return;
        }
        self.note_long(at + 1);
        self.note_long(at + 2);
        self.note_short(at + 1);
        self.note_long(end.saturating_sub(5));
        self.note_long(end - 3);
        self.note_long(end - 2);
        self.note_short(end - 2);
        self.note_short(end - 1);
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
