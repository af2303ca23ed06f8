//! The cheapest way through the matches found.
//!
//! A match costs three bytes whatever its distance, so of all matches at a place only the longest counts, and any part
//! of it may be used. Matches are noted for a segment at a time; a walk back from its end then gives the cheapest
//! sequence of literals and matches.
//!
//! Not every place is searched. Where a match was found, what it leaves at the places inside is known, and the search
//! goes on shortly before its end, with words that reach across: what is found there may begin anywhere inside.

use alloc::vec::Vec;

use super::{
    super::{MATCH_LIMIT, MIN_MATCH, sequence::Block},
    Match,
    chains::Search,
};

/// Places in a segment.
const SEGMENT: usize = 1 << 12;
/// A match of this length is taken at once.
const NICE: usize = 1 << 13;
/// So many places before the end of a match the search goes on, and then every second place.
const OVERLAP: usize = 5;
const STRIDE: usize = 2;
/// Misses after which the step from place to place grows by one.
const PATIENCE: usize = 1 << 10;
/// A length up to this needs no byte of its own.
const MAX_FREE_LEN: usize = 18;

/// Kept between blocks.
#[derive(Default)]
pub(super) struct Plan {
    /// The longest match at each place of a segment.
    found: Vec<Found>,
    /// What it costs to get from each place to the end of the segment (bytes).
    costs: Vec<u32>,
    /// Where the segment starts.
    start: usize,
    /// Where the pending literals start.
    anchor: usize,
}

/// A match at a known place; none if `len` is 0.
#[derive(Clone, Copy, Default)]
struct Found {
    len: u16,
    distance: u16,
}

impl Plan {
    /// Compresses what the search holds from `start` on, but for the last literals; where these begin.
    pub(super) fn run(
        &mut self,
        mut search: Search<'_>,
        start: usize,
        block: &mut Block<'_>,
    ) -> Option<usize> {
        (self.start, self.anchor) = (start, start);
        self.found.clear();
        let limit = search.window.len().saturating_sub(MATCH_LIMIT - 1);
        let (mut at, mut misses) = (start, 0);
        let mut last = Match::none(start);
        while at < limit {
            if at >= last.end() {
                self.flush_full(at, block)?;
                last = Match::none(at.saturating_sub(misses / PATIENCE).max(self.start));
            }
            let best = search.longest(at, &last);
            if best.across.len.max(best.ahead.len) >= NICE {
                let m = if best.ahead.is_some() { best.ahead } else { best.across };
                at = self.take(&m, block)?;
                last = Match::none(at);
                continue;
            }
            self.note(&best.ahead);
            self.note(&best.across);
            if best.across.is_some() {
                misses = 0;
                last = best.across;
                at = last.end().saturating_sub(OVERLAP).max(at + 1);
            } else if last.is_some() && at < last.end() {
                at = (at + STRIDE).min(last.end());
            } else {
                misses += 1;
                at += 1 + misses / PATIENCE;
            }
        }
        self.flush_last(limit, block)?;
        Some(self.anchor)
    }

    /// Notes a match, and what is left of it for the places inside, where nothing longer is known.
    #[allow(clippy::cast_possible_truncation, reason = "lengths are below `NICE`, distances below 65536")]
    fn note(&mut self, m: &Match) {
        if !m.is_some() {
            return;
        }
        let first = m.start - self.start;
        self.found.resize(self.found.len().max(first + m.len), Found::default());
        let inside = &mut self.found[first..first + m.len];
        for (found, len) in inside.iter_mut().zip((1..=m.len as u16).rev()) {
            if len > found.len {
                *found = Found { len, distance: m.distance as u16 };
            }
        }
    }

    /// Writes a match whole, after what comes before it; where it ends.
    fn take(&mut self, m: &Match, block: &mut Block<'_>) -> Option<usize> {
        self.flush(m.start, block)?;
        block.sequence(self.anchor, m.start, m.distance, m.len)?;
        (self.anchor, self.start) = (m.end(), m.end());
        Some(m.end())
    }

    /// Ends the segment at `at`, where no match is pending, if it is long enough.
    fn flush_full(&mut self, at: usize, block: &mut Block<'_>) -> Option<()> {
        if at - self.start < SEGMENT { Some(()) } else { self.flush(at, block) }
    }

    /// A match may begin before the limit and end behind it, but none may begin there.
    fn flush_last(&mut self, limit: usize, block: &mut Block<'_>) -> Option<()> {
        let end = limit.max(self.start + self.found.len());
        self.found.truncate(limit.saturating_sub(self.start));
        self.flush(end, block)
    }

    /// Writes the segment up to `end` and starts the next one there. Literals at the end stay pending.
    fn flush(&mut self, end: usize, block: &mut Block<'_>) -> Option<()> {
        self.found.resize(end - self.start, Found::default());
        self.choose();
        let mut i = 0;
        while i < self.found.len() {
            let Found { len, distance } = self.found[i];
            if len == 0 {
                i += 1;
                continue;
            }
            block.sequence(self.anchor, self.start + i, distance.into(), len.into())?;
            i += usize::from(len);
            self.anchor = self.start + i;
        }
        self.found.clear();
        self.start = end;
        Some(())
    }

    /// From the last place to the first: the cheaper of a literal and the best part of the match there. The length
    /// found becomes the length to use, or 0.
    fn choose(&mut self) {
        let n = self.found.len();
        self.costs.clear();
        self.costs.resize(n + 1, 0);
        for i in (0..n).rev() {
            let longest = usize::from(self.found[i].len).min(n - i);
            let (mut cost, mut len) = (1 + self.costs[i + 1], 0);
            for part in parts(longest) {
                let with = cost_of_match(part) + self.costs[i + part];
                if with < cost {
                    (cost, len) = (with, part);
                }
            }
            #[allow(clippy::cast_possible_truncation, reason = "at most the length found")]
            {
                self.found[i].len = len as u16;
            }
            self.costs[i] = cost;
        }
    }
}

/// The lengths worth trying. Shorter ones pay only where they leave enough of a match that follows, or save the
/// length's own byte.
#[inline(always)]
fn parts(longest: usize) -> impl Iterator<Item = usize> {
    let all = longest.saturating_sub(MIN_MATCH - 1).max(MIN_MATCH)..=longest;
    let free = (longest > MAX_FREE_LEN).then_some(MAX_FREE_LEN);
    all.rev().chain(free)
}

/// Token and offset, and what of the length does not fit the token.
#[inline(always)]
fn cost_of_match(len: usize) -> u32 {
    3 + u32::from(len > MAX_FREE_LEN)
}
