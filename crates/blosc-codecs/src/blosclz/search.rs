//! The search for matches; `encode` describes it.

use core::marker::PhantomData;

use super::{
    MAX_NEAR,
    encode::{SHORT_HASH_BITS, SKIP_TRIGGER, Strategy},
    writer::Writer,
};
use crate::{
    Simd,
    lz::{
        compare::common_len,
        cursor::{BoundedSlice, Cursor},
        hash_table::TableView,
        load32,
    },
};

/// Slots of the hash table.
pub(super) const SLOTS: usize = 1 << 14;
/// Farthest match that any encoder has written (bytes).
pub(super) const MAX_DISTANCE: u32 = 73_724;
/// A match of this length is taken without a search for another one (bytes).
const LONG_MATCH_NBYTES: usize = 128;
/// Bytes of a small item.
const ITEM_NBYTES: usize = 4;
/// The bytes of two small items, or of one of eight bytes, without the first one.
pub(super) const ITEM_REST_NBYTES: usize = 2 * ITEM_NBYTES - 1;
/// Bits at the end of the first eight bytes of this rest that may differ: shorter rests seldom save
/// anything.
const ITEM_IGNORED_BITS: usize = 16;
/// Successive small items without a match that end the loop for items, if as many matched before.
const MAX_ITEM_MISSES: usize = 4;

/// A match: its start, its distance, its length (bytes).
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) at: usize,
    pub(super) distance: usize,
    pub(super) len: usize,
}

impl Match {
    /// Whether the match is long enough to pay for its encoded form.
    pub(super) fn pays<S: Strategy>(&self) -> bool {
        let is_far = self.distance > MAX_NEAR;
        self.len >= if is_far { S::PARAMS.min_far_len } else { S::PARAMS.min_near_len }
    }
}

pub(super) struct Search<'a, S, const BITS: u32> {
    pub(super) src: &'a [u8],
    pub(super) table: TableView<'a, SLOTS, BITS, MAX_DISTANCE>,
    simd: Simd,
    strategy: PhantomData<S>,
    /// Start of the pending literals.
    pub(super) anchor: usize,
    /// The next position to probe.
    pub(super) at: usize,
    /// The skip counter: grows with each miss and sets the step to the next position.
    skip: usize,
    /// Length of the last match.
    last: usize,
}

impl<'a, S: Strategy, const BITS: u32> Search<'a, S, BITS> {
    /// In short streams, every distance is within reach.
    const REACH: u32 = if BITS > SHORT_HASH_BITS { MAX_DISTANCE } else { u32::MAX };

    pub(super) fn new(
        src: &'a [u8],
        table: TableView<'a, SLOTS, BITS, MAX_DISTANCE>,
        simd: Simd,
    ) -> Self {
        // The stream starts with a literal.
        let strategy = PhantomData;
        Self { src, table, simd, strategy, anchor: 0, at: 1, skip: SKIP_TRIGGER, last: 0 }
    }

    /// Continues with another strategy.
    pub(super) fn with_strategy<T: Strategy>(self) -> Search<'a, T, BITS> {
        let Self { src, table, simd, anchor, at, skip, last, .. } = self;
        Search { src, table, simd, strategy: PhantomData, anchor, at, skip, last }
    }

    /// Compresses the rest of the stream; returns its length.
    pub(super) fn finish(mut self, limit: usize, mut writer: Writer<'_>) -> Option<usize> {
        self.run(limit, &mut writer)?;
        writer.push_literals(self.anchor, self.src.len())?;
        writer.finish()
    }

    /// Searches up to `limit` at least.
    ///
    /// Items have a separate loop. The other loop does not call it, because the call would take
    /// registers from that loop.
    pub(super) fn run(&mut self, limit: usize, writer: &mut Writer<'_>) -> Option<()> {
        while self.run_sequences(limit, writer)? {
            self.run_items(limit, writer)?;
        }
        Some(())
    }

    /// Searches up to `limit` at least, or to a position where items seem to begin; returns whether
    /// they do.
    fn run_sequences(&mut self, limit: usize, writer: &mut Writer<'_>) -> Option<bool> {
        while self.at < limit {
            let found = if self.at == self.anchor && self.last >= S::PARAMS.min_context_len {
                self.find_after_match(limit)
            } else {
                self.scan(limit)
            };
            let Some(found) = found else {
                self.skip_after_miss(S::PARAMS.skip_acceleration);
                continue;
            };
            let m = self.extend_back(found);
            if m.pays::<S>() {
                writer.push_sequence(self.anchor, &m, BITS > SHORT_HASH_BITS)?;
                let is_item =
                    m.at == found.at && m.at == self.anchor + 1 && m.len == ITEM_REST_NBYTES;
                let is_second = is_item && self.last == ITEM_REST_NBYTES;
                self.advance_past(&m);
                if is_second {
                    return Some(true);
                }
            } else {
                self.skip_after_miss(S::PARAMS.skip_acceleration);
            }
        }
        Some(false)
    }

    /// The next match that is long enough to pay. If there is none up to `limit`, `at` is the last
    /// position before it.
    ///
    /// Some data often agree in four bytes, but seldom in more. It is hard to predict whether four
    /// agree, and easy whether six agree.
    #[inline(always)]
    fn scan(&mut self, limit: usize) -> Option<Match> {
        let slice = BoundedSlice::new(self.src, limit - 1)?;
        let mut here = slice.cursor(self.at)?;
        let mut skip = self.skip;
        let found = loop {
            let at = here.position();
            let next = slice.cursor(at + skip / SKIP_TRIGGER);
            let found = self.candidate(here, S::PARAMS.ignored_bits);
            if found.is_some() {
                break found;
            }
            let Some(next) = next else { break None };
            here = next;
            skip = (skip + S::PARAMS.skip_acceleration).min(S::PARAMS.max_step * SKIP_TRIGGER);
        };
        let at = here.position();
        (self.at, self.skip) = (at, skip);
        let (earlier, differing) = found?;
        Some(self.measure(at, earlier, differing))
    }

    /// Moves to the end of a match.
    #[inline(always)]
    fn advance_past(&mut self, m: &Match) {
        let end = m.at + m.len;
        (self.anchor, self.at, self.skip, self.last) = (end, end, SKIP_TRIGGER, m.len);
    }

    /// The loop for items that differ from earlier ones in their first byte only: one literal and
    /// the rest of two items (or of a large one), repeatedly. It goes from item to item until
    /// several in a row match nothing, or a match has another form. The search has just taken two
    /// matches of this form.
    ///
    /// No match starts with the literal. A predicted branch gives the start of the next match, so
    /// the search there does not wait until this match is measured.
    #[inline(never)]
    fn run_items(&mut self, limit: usize, writer: &mut Writer<'_>) -> Option<()> {
        let Some(slice) = BoundedSlice::new(self.src, limit - 1) else { return Some(()) };
        let mut misses_left = 0;
        self.at += 1;
        while let Some(here) = slice.cursor(self.at) {
            let at = here.position();
            let Some((earlier, differing)) = self.candidate(here, ITEM_IGNORED_BITS) else {
                if misses_left == 0 {
                    break;
                }
                misses_left -= 1;
                self.at += ITEM_NBYTES;
                continue;
            };
            misses_left = MAX_ITEM_MISSES.min(misses_left + 1);
            let is_rest = differing != 0 && differing << 8 == 0 && at == self.anchor + 1;
            if is_rest && writer.push_item(self.src, at, earlier) {
                self.anchor = at + ITEM_REST_NBYTES;
            } else {
                let m = self.extend_back(self.measure(at, earlier, differing));
                if !m.pays::<S>() {
                    break;
                }
                writer.push_sequence(self.anchor, &m, BITS > SHORT_HASH_BITS)?;
                self.advance_past(&m);
                if ![ITEM_REST_NBYTES, ITEM_REST_NBYTES + ITEM_NBYTES].contains(&(self.anchor - at))
                {
                    break;
                }
            }
            self.at = self.anchor + 1;
        }
        Some(())
    }

    /// The last position of these four bytes (the start of the stream if there is none), and the
    /// bits in which the first eight bytes of both differ. `None` if the position is out of reach
    /// or if other than the last `ignored_bits` differ.
    ///
    /// It is as hard to predict whether the four bytes came before as whether more bytes agree. So
    /// there is one branch for both.
    #[inline(always)]
    pub(super) fn candidate(
        &mut self,
        here: Cursor<'_>,
        ignored_bits: usize,
    ) -> Option<(usize, u64)> {
        let earlier = self.table.swap(hash(here.word()), here.position());
        let (earlier, word) = here.word_before(earlier, Self::REACH);
        let differing = word ^ here.word();
        let is_near = Self::REACH == u32::MAX || here.position() - earlier <= Self::REACH as usize;
        (differing << ignored_bits == 0 && is_near).then_some((earlier, differing))
    }

    #[inline(always)]
    fn skip_after_miss(&mut self, acceleration: usize) {
        self.at += self.skip / SKIP_TRIGGER;
        self.skip += acceleration;
    }

    /// The match at `at` with `earlier`, whose first eight bytes differ in these bits.
    #[inline(always)]
    pub(super) fn measure(&self, at: usize, earlier: usize, differing: u64) -> Match {
        let len = match differing {
            0 => 8 + self.common_len(earlier + 8, at + 8),
            _ => differing.trailing_zeros() as usize / 8,
        };
        Match { at, distance: at - earlier, len }
    }

    /// The stream ends with a literal, so a match ends before the last byte.
    #[inline(always)]
    fn common_len(&self, earlier: usize, at: usize) -> usize {
        common_len(self.simd, self.src, earlier, at, self.src.len() - 1)
    }

    /// Tries the continuation of a match from its last byte. It may be longer than a match that
    /// starts here, because it knows the context, such as the end of a run.
    #[inline(always)]
    fn find_after_match(&mut self, limit: usize) -> Option<Match> {
        let at = self.at;
        if !S::PARAMS.compares_both {
            // Three bytes before the end: the bytes after them often recur with them.
            self.table.insert(hash(load32(self.src, at - 3).into()), at - 3);
            let across = BoundedSlice::new(self.src, at - 1)?.cursor(at - 1)?;
            // All eight bytes have to agree: a match that ends among them would be one more branch.
            let across = self.table.replace(hash(across.word()), at - 1).and_then(|earlier| {
                (across.word_at(earlier) == across.word()).then(|| self.measure(at - 1, earlier, 0))
            });
            let across = across.map(|m| Match { at, len: m.len - 1, ..m });
            return across.filter(Match::pays::<S>).or_else(|| self.scan(limit));
        }
        let across = self.find(at - 1).map(|m| Match { at, len: m.len - 1, ..m });
        match across {
            Some(across) if across.len >= LONG_MATCH_NBYTES => Some(across),
            Some(across) => self.find(at).filter(|here| here.len >= across.len).or(Some(across)),
            None => self.find(at),
        }
    }

    #[inline(always)]
    fn find(&mut self, at: usize) -> Option<Match> {
        let word = load32(self.src, at);
        let earlier = self.table.replace(hash(word.into()), at)?;
        if load32(self.src, earlier) != word {
            return None;
        }
        let len = 4 + self.common_len(earlier + 4, at + 4);
        Some(Match { at, distance: at - earlier, len })
    }

    /// Extends a match backwards over equal bytes.
    #[inline(always)]
    fn extend_back(&self, mut m: Match) -> Match {
        let start = (self.anchor + 1).max(2).max(m.distance + 1);
        while m.at >= start && self.src[m.at - 1] == self.src[m.at - m.distance - 1] {
            m.at -= 1;
            m.len += 1;
        }
        m
    }
}

/// Hash of the first four bytes, by Knuth's multiplicative method.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the first four bytes")]
pub(super) fn hash(word: u64) -> u32 {
    (word as u32).wrapping_mul(2_654_435_761)
}
