//! Lazy matching, levels 3 to 9: no match is written before positions near its end were searched
//! for a longer one.
//!
//! The parser compares up to three matches, each longer than the one before, which it may overlap:
//! `first`, `second`, `third`, in the order of their starts.

use super::{
    super::{MATCH_LIMIT, MIN_MATCH, sequence::BlockWriter},
    Match, PARAMS,
    chains::Search,
};

/// The longest match whose length the token holds (bytes).
const MAX_TOKEN_LEN: usize = 18;

/// Compresses the window of `search` from `start` on, except for the last literals; returns their
/// start.
pub(super) fn compress(
    search: Search<'_>,
    start: usize,
    writer: &mut BlockWriter<'_>,
) -> Option<usize> {
    let Some(limit) = search.window.len().checked_sub(MATCH_LIMIT) else { return Some(start) };
    let mut parse = Parse { search, limit, anchor: start };
    let mut at = start;
    while at <= limit {
        let nliterals = at - parse.anchor;
        let low = if nliterals < PARAMS.skip_trigger { at } else { parse.anchor };
        match parse.search.find_longest(at, low, MIN_MATCH - 1) {
            Some(first) => {
                parse.take(first, writer)?;
                at = parse.anchor;
            }
            None => at += 1 + (nliterals / PARAMS.skip_trigger).min(PARAMS.max_skip),
        }
    }
    Some(parse.anchor)
}

struct Parse<'a> {
    search: Search<'a>,
    /// The last position where a match may start.
    limit: usize,
    /// Start of the pending literals.
    anchor: usize,
}

impl Parse<'_> {
    /// Writes this match, or better ones, up to the first match without a better one after it.
    fn take(&mut self, mut first: Match, writer: &mut BlockWriter<'_>) -> Option<()> {
        let mut former = first;
        'first: loop {
            let Some(mut second) = self.find_better(&first, 2) else {
                return self.write(&first, writer);
            };
            // `first` replaced `former` because it was longer. If `second` leaves little of
            // `first`, `former` is the better companion.
            if former.start < first.start && second.start < first.start + former.len {
                first = former;
            }
            if second.start < first.start + 3 {
                first = second;
                continue;
            }
            loop {
                trim_overlap(&first, &mut second);
                let Some(third) = self.find_better(&second, 3) else {
                    first.end_at(second.start);
                    self.write(&first, writer)?;
                    return self.write(&second, writer);
                };
                if third.start >= first.end() + 3 {
                    first.end_at(second.start);
                    self.write(&first, writer)?;
                    (first, second) = (second, third);
                } else if third.start >= first.end() {
                    // `second` is not worth its token, unless `third` is replaced by a better one.
                    second.begin_at(first.end());
                    former = if second.len < MIN_MATCH { third } else { second };
                    self.write(&first, writer)?;
                    first = third;
                    continue 'first;
                } else {
                    second = third;
                }
            }
        }
    }

    /// A longer match that covers the position `overlap` bytes before the end of `m`, and does not
    /// start before `m`.
    #[inline(always)]
    fn find_better(&mut self, m: &Match, overlap: usize) -> Option<Match> {
        if m.end() > self.limit {
            return None;
        }
        self.search.find_longest(m.end() - overlap, m.start, m.len)
    }

    fn write(&mut self, m: &Match, writer: &mut BlockWriter<'_>) -> Option<()> {
        writer.push_sequence(self.anchor, m.start, m.distance, m.len)?;
        self.anchor = m.end();
        Some(())
    }
}

/// Shortens the overlap of two matches, so that the first keeps the length that its token holds.
fn trim_overlap(first: &Match, second: &mut Match) {
    if second.start < first.start + MAX_TOKEN_LEN {
        let end = first.start + first.len.min(MAX_TOKEN_LEN);
        second.begin_at(end.min(second.end() - MIN_MATCH));
    }
}
