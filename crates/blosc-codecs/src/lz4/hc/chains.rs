//! Hash chains: all earlier positions with the same four bytes, each linked to the one before.
//!
//! The links do not depend on the results of the search, so they are made for some positions ahead
//! at a time, in a loop without unpredictable branches. The search then finds the head of each
//! chain in the link of the position itself.
//!
//! Inside a run of one byte, every position has the same four bytes. A chain of them all would
//! exhaust the search with matches that end where the shorter run ends. So each position is linked
//! only to positions with as much of their run ahead: there, the bytes after the run may match as
//! well. Any longer run has such a position, too; and matches within the run are found at distance
//! 1.
//! longer run has such a position, too; and matches within the run are found at distance 1.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use alloc::boxed::Box;

use super::{
    super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MIN_MATCH},
    Match, PARAMS,
};
use crate::{
    Simd,
    lz::{
        compare::common_len,
        cursor::{BoundedSlice, Cursor},
        hash_table::{HashTable, TableView},
        load32,
    },
};

/// Slots of the table.
const SLOTS: usize = 1 << HASH_BITS;
/// Bits of a hash.
const HASH_BITS: u32 = 15;
/// Positions whose links are kept: all that a distance reaches.
const LINKS: usize = 1 << 16;
/// From this distance on, the link of a position may have been replaced by one ahead.
const MAX_LINKED_DISTANCE: usize = LINKS - PARAMS.link_ahead;

/// The chains, kept between blocks.
pub(super) struct Chains {
    heads: HashTable<SLOTS>,
    links: Box<[u16; LINKS]>,
    depth: usize,
    simd: Simd,
}

impl Chains {
    /// Chains with a search depth of `depth` positions.
    pub(super) fn new(depth: usize, simd: Simd) -> Self {
        Self { heads: HashTable::new(), links: Box::new([0; LINKS]), depth, simd }
    }

    /// Starts a search in a new window.
    pub(super) fn start<'a>(&'a mut self, window: &'a [u8]) -> Option<Search<'a>> {
        Some(Search {
            window,
            heads: self.heads.start(window.len())?,
            links: &mut self.links,
            depth: self.depth,
            nlinked: 0,
            simd: self.simd,
        })
    }
}

/// The chains, in use by one block.
pub(super) struct Search<'a> {
    /// The dictionary, then the input.
    pub(super) window: &'a [u8],
    heads: TableView<'a, SLOTS, HASH_BITS, MAX_DISTANCE>,
    /// Distance from each position to the one before with the same hash; 0 when none is within
    /// reach.
    links: &'a mut [u16; LINKS],
    depth: usize,
    /// Positions that are linked.
    nlinked: usize,
    simd: Simd,
}

impl Search<'_> {
    /// The longest match that covers `at`, starts no earlier than `low`, and is longer than
    /// `longest`.
    #[inline(always)]
    pub(super) fn find_longest(&mut self, at: usize, low: usize, longest: usize) -> Option<Match> {
        if at >= self.nlinked {
            self.link(at);
        }
        let mut best = Best { found: Match { len: longest, ..Match::none(at) }, at, low };
        if at > 0 && is_run(load32(self.window, at)) && self.window[at - 1] == self.window[at] {
            // The chain leads to other runs only.
            best.take_if_longer(self.simd, self.window, 1);
        }
        let slice = BoundedSlice::new(self.window, usize::MAX)?;
        let mut probe = best.probe(slice)?;
        let mut word = probe.word() as u32;
        let mut distance: usize = 0;
        for _ in 0..self.depth {
            let back = self.links[usize::from((at as u16).wrapping_sub(distance as u16))];
            distance += usize::from(back);
            if back == 0 || distance > MAX_DISTANCE as usize {
                break;
            }
            if probe.word_at(probe.position().wrapping_sub(distance)) as u32 == word {
                best.take_if_longer(self.simd, self.window, distance);
                probe = best.probe(slice)?;
                word = probe.word() as u32;
            }
            if distance > MAX_LINKED_DISTANCE {
                break;
            }
        }
        best.found.is_some().then_some(best.found)
    }

    /// Links the positions up to `at` and some ahead.
    fn link(&mut self, at: usize) {
        let end = (at + PARAMS.link_ahead).min(self.window.len() - MATCH_LIMIT + 1);
        let mut at = self.nlinked;
        let Some(slice) = BoundedSlice::new(self.window, end - 1) else { return };
        while let Some(here) = slice.cursor(at) {
            let word = here.word() as u32;
            if is_run(word) {
                at = self.link_run(at, word, end);
            } else {
                self.link_position(at, word.wrapping_mul(2_654_435_761));
                at += 1;
            }
        }
        self.nlinked = at;
    }

    /// Links the positions of a run, each to one with as much of its run ahead; returns the first
    /// remaining position.
    #[cold]
    fn link_run(&mut self, at: usize, word: u32, end: usize) -> usize {
        let far = (end + PARAMS.max_run).min(self.window.len());
        let stop = at + 1 + common_len(self.simd, self.window, at, at + 1, far);
        let end = (stop + 1 - MIN_MATCH).min(end);
        let near = stop.saturating_sub(PARAMS.max_run).clamp(at, end);
        for at in at..near {
            self.links[at % LINKS] = 0;
        }
        for at in near..end {
            let ahead = (stop - at) as u32;
            self.link_position(at, word.wrapping_mul(2_654_435_761).wrapping_add(ahead << 17));
        }
        end
    }

    #[inline(always)]
    fn link_position(&mut self, at: usize, hash: u32) {
        self.links[at % LINKS] = self.heads.link(hash, at);
    }
}

/// The longest match so far.
struct Best {
    found: Match,
    at: usize,
    low: usize,
}

impl Best {
    /// A longer match includes the four bytes from here. The cursor always exists, as matches end
    /// before the last literals.
    #[inline(always)]
    fn probe<'a>(&self, slice: BoundedSlice<'a>) -> Option<Cursor<'a>> {
        slice.cursor((self.low + self.found.len + 1 - MIN_MATCH).max(self.at))
    }

    /// Takes the match at this distance if it is longer.
    #[inline(always)]
    fn take_if_longer(&mut self, simd: Simd, window: &[u8], distance: usize) {
        let len =
            common_len(simd, window, self.at - distance, self.at, window.len() - LAST_LITERALS);
        if len < MIN_MATCH {
            return;
        }
        // Bytes that it must begin before `at` to be longer; most matches do not, and differ at the
        // far end.
        let needed = (self.found.len + 1).saturating_sub(len);
        if needed > 0 {
            let first = self.at.wrapping_sub(needed);
            if needed > self.at - self.low
                || first < distance
                || load32(window, first) != load32(window, first - distance)
            {
                return;
            }
        }
        let found = Match { start: self.at, distance, len }.extend_back(window, self.low);
        if found.len > self.found.len {
            self.found = found;
        }
    }
}

/// Whether all four bytes are the same.
#[inline(always)]
fn is_run(word: u32) -> bool {
    word == word.rotate_left(8)
}
