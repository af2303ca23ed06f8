//! Levels 3 to 9: no match is written before two places further on were searched for better ones.
//!
//! Up to three matches are in hand, each longer than the one before, which it may overlap. A search
//! near the end of one finds the next.

use super::{
    super::{MATCH_LIMIT, MIN_MATCH, sequence::Block},
    Match,
    chains::Search,
};

/// A length up to this needs no byte of its own.
const MAX_FREE_LEN: usize = 18;

/// Misses after which the step between searches grows by one,
const PATIENCE: usize = 128;
/// and the longest such step less one.
const MAX_SKIP: usize = 31;

/// Compresses what the search holds from `start` on, but for the last literals; where these begin.
pub(super) fn run(search: Search<'_>, start: usize, block: &mut Block<'_>) -> Option<usize> {
    let Some(limit) = search.window.len().checked_sub(MATCH_LIMIT) else { return Some(start) };
    let mut parse = Parse { search, limit, anchor: start };
    let mut at = start;
    while at <= limit {
        let misses = at - parse.anchor;
        let low = if misses < PATIENCE { at } else { parse.anchor };
        match parse.search.longest(at, low, MIN_MATCH - 1) {
            Some(first) => {
                parse.take(first, block)?;
                at = parse.anchor;
            }
            None => at += 1 + (misses / PATIENCE).min(MAX_SKIP),
        }
    }
    Some(parse.anchor)
}

struct Parse<'a> {
    search: Search<'a>,
    /// The last place where a match may start.
    limit: usize,
    /// Where the pending literals start.
    anchor: usize,
}

impl Parse<'_> {
    /// Writes this match or better ones, up to the first after which there is nothing better.
    fn take(&mut self, mut one: Match, block: &mut Block<'_>) -> Option<()> {
        let mut former = one;
        'one: loop {
            let Some(mut two) = self.better(&one, 2) else { return self.write(&one, block) };
            // What took the place of the former did so for this one's sake, which no longer needs
            // it.
            if former.start < one.start && two.start < one.start + former.len {
                one = former;
            }
            if two.start < one.start + 3 {
                one = two;
                continue;
            }
            loop {
                share(&one, &mut two);
                let Some(three) = self.better(&two, 3) else {
                    one.end_at(two.start);
                    self.write(&one, block)?;
                    return self.write(&two, block);
                };
                if three.start >= one.end() + 3 {
                    one.end_at(two.start);
                    self.write(&one, block)?;
                    (one, two) = (two, three);
                } else if three.start >= one.end() {
                    // The second is not worth its token, unless the third gives way to a better
                    // one.
                    two.begin_at(one.end());
                    former = if two.len < MIN_MATCH { three } else { two };
                    self.write(&one, block)?;
                    one = three;
                    continue 'one;
                } else {
                    two = three;
                }
            }
        }
    }

    /// A longer match that covers a place so far before the end of `m`, and does not start before
    /// it.
    #[inline(always)]
    fn better(&mut self, m: &Match, overlap: usize) -> Option<Match> {
        if m.end() > self.limit {
            return None;
        }
        self.search.longest(m.end() - overlap, m.start, m.len)
    }

    fn write(&mut self, m: &Match, block: &mut Block<'_>) -> Option<()> {
        block.sequence(self.anchor, m.start, m.distance, m.len)?;
        self.anchor = m.end();
        Some(())
    }
}

/// Lets the first of two matches that overlap keep as much as its token holds.
fn share(one: &Match, two: &mut Match) {
    if two.start < one.start + MAX_FREE_LEN {
        let end = one.start + one.len.min(MAX_FREE_LEN);
        two.begin_at(end.min(two.end() - MIN_MATCH));
    }
}
