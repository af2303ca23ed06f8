//! All earlier places with the same four bytes: one chain per hash, from each place to the one
//! before.
//!
//! The links do not depend on what the search finds, so they are made for some places ahead at a
//! time, in a loop that waits for nothing. The search then finds the head of each chain in the link
//! of the place itself.
//!
//! Inside a run of one byte, every place has the same four bytes, and a chain of them all would use
//! up the search on places that match up to the end of the shorter run and no further. So such a
//! place is linked to those with as much of their run ahead: there, what follows may match as well.
//! Any longer run has such a place, too; and the place before stands for what is in the run itself.

use alloc::boxed::Box;

use super::{
    super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MIN_MATCH},
    Match,
};
use crate::lz::{
    Stream, Table, common_len, load32,
    wild::{Ground, Place},
};

/// Slots of the table.
const SLOTS: usize = 1 << BITS;
const BITS: u32 = 15;
/// Places whose links are kept: as far as a distance reaches.
const LINKS: usize = 1 << 16;
/// Places that are linked ahead of the search at most.
const AHEAD: usize = 1 << 10;
/// From this distance on, a place may have lost its link to one ahead.
const LINKED: usize = LINKS - AHEAD;
/// Where more of a run is ahead than so many bytes, only the byte before matters.
const LONG_RUN: usize = 2048;

/// Kept between blocks.
pub(super) struct Chains {
    heads: Table<SLOTS>,
    links: Box<[u16; LINKS]>,
    depth: usize,
}

impl Chains {
    /// Chains of which the first `depth` places are looked at.
    pub(super) fn new(depth: usize) -> Self {
        Self { heads: Table::new(), links: Box::new([0; LINKS]), depth }
    }

    /// Takes a new window.
    pub(super) fn start<'a>(&'a mut self, window: &'a [u8]) -> Option<Search<'a>> {
        Some(Search {
            window,
            heads: self.heads.start(window.len())?,
            links: &mut self.links,
            depth: self.depth,
            known: 0,
        })
    }
}

/// The chains, in use by one block.
pub(super) struct Search<'a> {
    /// The dictionary, then the input.
    pub(super) window: &'a [u8],
    heads: Stream<'a, SLOTS, BITS, MAX_DISTANCE>,
    /// Distance from each place to the one before with the same hash; 0 when there is none in
    /// reach.
    links: &'a mut [u16; LINKS],
    depth: usize,
    /// Places that are linked.
    known: usize,
}

impl Search<'_> {
    /// The longest match that covers `at`, starts no earlier than `low`, and is longer than
    /// `longest`.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "links go round, and four bytes are compared"
    )]
    pub(super) fn longest(&mut self, at: usize, low: usize, longest: usize) -> Option<Match> {
        if at >= self.known {
            self.link(at);
        }
        let mut best = Best { found: Match { len: longest, ..Match::none(at) }, at, low };
        if at > 0 && is_run(load32(self.window, at)) && self.window[at - 1] == self.window[at] {
            // The chain leads to other runs.
            best.measure(self.window, 1);
        }
        let ground = Ground::new(self.window, usize::MAX)?;
        let mut probe = best.probe(ground)?;
        let mut word = probe.word() as u32;
        let mut distance: usize = 0;
        for _ in 0..self.depth {
            let back = self.links[usize::from((at as u16).wrapping_sub(distance as u16))];
            distance += usize::from(back);
            if back == 0 || distance > MAX_DISTANCE as usize {
                break;
            }
            if probe.word_at(probe.at().wrapping_sub(distance)) as u32 == word {
                best.measure(self.window, distance);
                probe = best.probe(ground)?;
                word = probe.word() as u32;
            }
            if distance > LINKED {
                break;
            }
        }
        best.found.is_some().then_some(best.found)
    }

    /// Links the places up to `at` and some ahead.
    #[allow(clippy::cast_possible_truncation, reason = "four bytes are hashed")]
    fn link(&mut self, at: usize) {
        let end = (at + AHEAD).min(self.window.len() - MATCH_LIMIT + 1);
        let mut at = self.known;
        let Some(ground) = Ground::new(self.window, end - 1) else { return };
        while let Some(here) = ground.place(at) {
            let word = here.word() as u32;
            if is_run(word) {
                at = self.link_run(at, word, end);
            } else {
                self.link_one(at, word.wrapping_mul(2_654_435_761));
                at += 1;
            }
        }
        self.known = at;
    }

    /// Links the places of a run, each to a place with as much of its run ahead; the first that is
    /// left.
    #[cold]
    #[allow(clippy::cast_possible_truncation, reason = "at most `LONG_RUN`")]
    fn link_run(&mut self, at: usize, word: u32, end: usize) -> usize {
        let far = (end + LONG_RUN).min(self.window.len());
        let stop = at + 1 + common_len(self.window, at, at + 1, far);
        let end = (stop + 1 - MIN_MATCH).min(end);
        let near = stop.saturating_sub(LONG_RUN).clamp(at, end);
        for at in at..near {
            self.links[at % LINKS] = 0;
        }
        for at in near..end {
            let ahead = (stop - at) as u32;
            self.link_one(at, word.wrapping_mul(2_654_435_761).wrapping_add(ahead << 17));
        }
        end
    }

    #[inline(always)]
    fn link_one(&mut self, at: usize, hash: u32) {
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
    /// A longer match holds at the four bytes from here. It is always in the ground, as matches end
    /// before the last literals.
    #[inline(always)]
    fn probe<'a>(&self, ground: Ground<'a>) -> Option<Place<'a>> {
        ground.place((self.low + self.found.len + 1 - MIN_MATCH).max(self.at))
    }

    /// Takes the match from this distance if it is longer.
    #[inline(always)]
    fn measure(&mut self, window: &[u8], distance: usize) {
        let len = common_len(window, self.at - distance, self.at, window.len() - LAST_LITERALS);
        if len < MIN_MATCH {
            return;
        }
        // How far it must begin before `at` to be longer; most do not, and differ at the far end.
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
        let found = Match { start: self.at, distance, len }.widen(window, self.low);
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
