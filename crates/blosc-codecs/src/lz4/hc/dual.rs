//! Levels 1 and 2: two tables, one of seven-byte words for long matches, one of four-byte words for
//! the rest.

use super::{
    super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MIN_MATCH, sequence::BlockWriter},
    Match, PARAMS,
};
use crate::{
    Simd,
    lz::{
        compare::common_len,
        hash_table::{HashTable, TableView},
        load32, load64,
    },
};

/// Slots of each table.
const SLOTS: usize = 1 << HASH_BITS;
/// Bits of a hash. Short streams use all slots as well: false candidates cost more than the
/// second-level cache.
const HASH_BITS: u32 = 14;

/// Both tables, kept between blocks.
pub(super) struct DualTables {
    longs: HashTable<SLOTS>,
    shorts: HashTable<SLOTS>,
    simd: Simd,
}

impl DualTables {
    pub(super) fn new(simd: Simd) -> Self {
        Self { longs: HashTable::new(), shorts: HashTable::new(), simd }
    }

    /// Compresses `window[start..]` except for its last literals; returns their start.
    pub(super) fn compress(
        &mut self,
        window: &[u8],
        start: usize,
        writer: &mut BlockWriter<'_>,
    ) -> Option<usize> {
        let mut search = Search {
            window,
            longs: self.longs.start(window.len())?,
            shorts: self.shorts.start(window.len())?,
            simd: self.simd,
        };
        let limit = window.len().saturating_sub(MATCH_LIMIT - 1);
        for at in 0..start.min(limit) {
            search.insert_long(at);
            search.insert_short(at);
        }
        let (mut anchor, mut at) = (start, start);
        while at < limit {
            let Some(m) = search.find(at, limit) else {
                at += 1 + ((at - anchor) >> PARAMS.dual_skip_log2);
                continue;
            };
            let m = m.extend_back(window, anchor);
            writer.push_sequence(anchor, m.start, m.distance, m.len)?;
            anchor = m.end();
            search.insert_around(at, m.end(), limit);
            at = anchor;
        }
        Some(anchor)
    }
}

struct Search<'a> {
    window: &'a [u8],
    longs: TableView<'a, SLOTS, HASH_BITS, MAX_DISTANCE>,
    shorts: TableView<'a, SLOTS, HASH_BITS, MAX_DISTANCE>,
    simd: Simd,
}

impl Search<'_> {
    /// A long match, or else a short one, unless the next position has a longer one.
    #[inline(always)]
    fn find(&mut self, at: usize, limit: usize) -> Option<Match> {
        let best = match self.find_long(at) {
            Some(long) if long.len >= PARAMS.good_len => return Some(long),
            Some(long) => long,
            None => self.find_short(at)?,
        };
        if at + 1 >= limit {
            return Some(best);
        }
        self.find_long(at + 1).filter(|next| next.len > best.len).or(Some(best))
    }

    #[inline(always)]
    fn find_long(&mut self, at: usize) -> Option<Match> {
        let word = load64(self.window, at);
        let earlier = self.longs.replace(long_hash(word), at)?;
        (load32(self.window, earlier) == load32(self.window, at)).then(|| self.measure(at, earlier))
    }

    #[inline(always)]
    fn find_short(&mut self, at: usize) -> Option<Match> {
        let word = load32(self.window, at);
        let earlier = self.shorts.replace(short_hash(word), at)?;
        (load32(self.window, earlier) == word).then(|| self.measure(at, earlier))
    }

    /// The match at `at` with `earlier`, four bytes of which are known to agree.
    #[inline(always)]
    fn measure(&self, at: usize, earlier: usize) -> Match {
        let end = self.window.len() - LAST_LITERALS;
        let len = MIN_MATCH
            + common_len(self.simd, self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
        Match { start: at, distance: at - earlier, len }
    }

    #[inline(always)]
    fn insert_long(&mut self, at: usize) {
        self.longs.insert(long_hash(load64(self.window, at)), at);
    }

    #[inline(always)]
    fn insert_short(&mut self, at: usize) {
        self.shorts.insert(short_hash(load32(self.window, at)), at);
    }

    /// Inserts positions next to both ends of a match that was found at `at` and ends at `end`:
    /// long words further from the end than short ones.
    #[inline(always)]
    fn insert_around(&mut self, at: usize, end: usize, limit: usize) {
        if end > limit {
            return;
        }
        self.insert_long(at + 1);
        self.insert_long(at + 2);
        self.insert_short(at + 1);
        self.insert_long(end.saturating_sub(5));
        self.insert_long(end - 3);
        self.insert_long(end - 2);
        self.insert_short(end - 2);
        self.insert_short(end - 1);
    }
}

/// Hash of the first seven bytes.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half")]
fn long_hash(word: u64) -> u32 {
    ((word << 8).wrapping_mul(0x9E37_79B1_85EB_CA87) >> 32) as u32
}

/// Hash of four bytes.
#[inline(always)]
fn short_hash(word: u32) -> u32 {
    word.wrapping_mul(2_654_435_761)
}
