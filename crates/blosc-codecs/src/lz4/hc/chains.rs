//! All earlier places with the same words: chains of four-byte words, which miss nothing, and chains of six-byte
//! words, whose few places make long matches.

use alloc::boxed::Box;

use super::{
    super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MIN_MATCH},
    Match,
};
use crate::lz::{Stream, Table, common_len, load32, load64};

/// Slots of each table.
const SLOTS: usize = 1 << 15;
/// Places that a chain remembers: as far as a distance reaches.
const LINKS: usize = 1 << 16;
/// Of the inside of a long match, so many places at either end are remembered.
const EDGE: usize = 1024;

/// Kept between blocks.
pub(super) struct Chains {
    longs: Table<SLOTS>,
    shorts: Table<SLOTS>,
    long_links: Box<Links>,
    short_links: Box<Links>,
    depth: usize,
}

impl Chains {
    /// Chains of which the first `depth` places are looked at.
    pub(super) fn new(depth: usize) -> Self {
        Self {
            longs: Table::new(),
            shorts: Table::new(),
            long_links: Box::new(Links([0; LINKS])),
            short_links: Box::new(Links([0; LINKS])),
            depth,
        }
    }

    /// Takes a new window, of which the places before `start` are known at once.
    pub(super) fn start<'a>(&'a mut self, window: &'a [u8], start: usize) -> Option<Search<'a>> {
        let mut search = Search {
            window,
            longs: self.longs.start(window.len(), MAX_DISTANCE)?,
            shorts: self.shorts.start(window.len(), MAX_DISTANCE)?,
            long_links: &mut self.long_links,
            short_links: &mut self.short_links,
            depth: self.depth,
            known: 0,
        };
        search.learn_all(start.min(window.len().saturating_sub(MATCH_LIMIT)));
        Some(search)
    }
}

/// Distance from each place to the one before with the same hash; 0 when there is none in reach.
struct Links([u16; LINKS]);

impl Links {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "distances are below 65536")]
    fn set(&mut self, at: usize, before: Option<usize>) {
        self.0[at % LINKS] = before.map_or(0, |before| (at - before) as u16);
    }

    /// The place before `place`, if a distance from `at` reaches it.
    #[inline(always)]
    fn before(&self, place: usize, at: usize) -> Option<usize> {
        let back = usize::from(self.0[place % LINKS]);
        let reached = at - place + back <= MAX_DISTANCE as usize;
        (back > 0 && reached).then(|| place - back)
    }
}

/// The chains, in use by one block.
pub(super) struct Search<'a> {
    /// The dictionary, then the input.
    pub(super) window: &'a [u8],
    longs: Stream<'a, SLOTS>,
    shorts: Stream<'a, SLOTS>,
    long_links: &'a mut Links,
    short_links: &'a mut Links,
    depth: usize,
    /// All places before are in the chains, but for the inside of long matches.
    known: usize,
}

/// What a search gives.
pub(super) struct Best {
    /// The longest match that covers the place, if it is longer than the one known before.
    pub(super) across: Match,
    /// The match that goes on furthest from the place, if it goes on further than the one known before.
    pub(super) ahead: Match,
}

impl Search<'_> {
    /// Looks for matches that cover `at` and start no earlier than `known` does.
    pub(super) fn longest(&mut self, at: usize, known: &Match) -> Best {
        self.learn(at);
        let (long, short) = self.insert(at);
        let left = known.end().saturating_sub(at);
        let mut best = Best {
            across: Match { len: known.len.max(MIN_MATCH - 1), ..Match::none(known.start) },
            ahead: Match { len: left.max(MIN_MATCH - 1), ..Match::none(at) },
        };
        self.walk(self.long_links, long, at, known.start, &mut best);
        if !best.across.is_some() {
            self.walk(self.short_links, short, at, known.start, &mut best);
        }
        best
    }

    #[inline(always)]
    fn walk(&self, links: &Links, mut place: Option<usize>, at: usize, low: usize, best: &mut Best) {
        for _ in 0..self.depth {
            let Some(earlier) = place else { break };
            self.consider(at, earlier, low, best);
            place = links.before(earlier, at);
        }
    }

    /// Takes the match with what stands at `earlier`, where it is longer than the best so far.
    #[inline(always)]
    fn consider(&self, at: usize, earlier: usize, low: usize, best: &mut Best) {
        let distance = at - earlier;
        // To be longer, it must hold at the byte behind the best one, if both start as early as can be.
        if !self.agrees(low + best.across.len, distance) && !self.agrees(at + best.ahead.len, distance) {
            return;
        }
        let len = common_len(self.window, earlier, at, self.window.len() - LAST_LITERALS);
        if len < MIN_MATCH {
            return;
        }
        let ahead = Match { start: at, distance, len };
        if ahead.len > best.ahead.len {
            best.ahead = ahead;
        }
        let across = ahead.widen(self.window, low);
        if across.len > best.across.len {
            best.across = across;
        }
    }

    #[inline(always)]
    fn agrees(&self, at: usize, distance: usize) -> bool {
        at + LAST_LITERALS < self.window.len()
            && at >= distance
            && self.window[at] == self.window[at - distance]
    }

    /// Puts the places up to `end` into the chains, or of very many the first and the last.
    fn learn(&mut self, end: usize) {
        if end > self.known + 2 * EDGE {
            self.learn_all(self.known + EDGE);
            self.known = end - EDGE;
        }
        self.learn_all(end);
    }

    fn learn_all(&mut self, end: usize) {
        while self.known < end {
            self.insert(self.known);
        }
    }

    /// Puts one place into the chains and returns the last ones with the same words.
    #[inline(always)]
    fn insert(&mut self, at: usize) -> (Option<usize>, Option<usize>) {
        self.known = at + 1;
        let long = self.longs.replace(long_hash(load64(self.window, at)), at);
        let short = self.shorts.replace(load32(self.window, at).wrapping_mul(2_654_435_761), at);
        self.long_links.set(at, long);
        self.short_links.set(at, short);
        (long, short)
    }
}

/// Of the first six bytes.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half is what is wanted")]
fn long_hash(word: u64) -> u32 {
    ((word << 16).wrapping_mul(0x9E37_79B1_85EB_CA87) >> 32) as u32
}
