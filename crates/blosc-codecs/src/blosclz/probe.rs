//! The compression probe: whether a stream is worth its search.
//!
//! Data that are hard to compress are given up, at low levels sooner. If the start of a stream does
//! not pay, a part of the stream decides, the same part as in C-Blosc2. From level 7 on that part
//! is the start, which predicts little for successive bit planes; so a second part in the middle is
//! tested as well.

use core::ops::Range;

use super::{
    encode::{Fast, SKIP_TRIGGER, Strategy, TAIL_NBYTES, Thorough},
    search::{Match, Search, hash},
    writer::{literals_cost, match_cost},
};
use crate::lz::cursor::BoundedSlice;

/// Bytes at the start of a stream that are compressed before the probe counts: at most these, and
/// at most a 64th of the stream.
const START_NBYTES: usize = 256;
/// Bytes of the second part.
const SECOND_PART_NBYTES: usize = 1 << 11;

/// The parts of a stream to test, and the ratio that they must reach.
pub(super) struct Probe {
    /// Number of bytes that judge the start.
    pub(super) start_nbytes: usize,
    part: Range<usize>,
    second_part: Option<Range<usize>>,
    /// Uncompressed bytes per hundred compressed bytes, at least.
    percent: usize,
}

/// The prediction of the second part for the rest of a stream.
pub(super) enum Outlook {
    /// Few or long matches: the cheapest search suffices.
    Sparse,
    /// Matches that save enough.
    Good,
}

impl Probe {
    /// `None` at high levels for streams that are too short for a probe to gain anything.
    pub(super) fn new(clevel: u8, len: usize) -> Option<Self> {
        let (start, percent, max_nbytes) = match clevel {
            1 => (len - len / 8, 200, 1 << 12),
            2 => (len - len / 4, 150, 1 << 13),
            3 => (len - len / 4, 120, 1 << 14),
            4..=6 => (len - len / 2, 120, 1 << 14),
            _ if len < 1 << 13 => return None,
            7 => (0, 115, 1 << 14),
            8 => (0, 110, 1 << 14),
            _ => (0, 100, 1 << 14),
        };
        let part = |start: usize, nbytes: usize| {
            start..(start + nbytes).min(len.saturating_sub(TAIL_NBYTES))
        };
        let second_part = (clevel > 6).then(|| part(len / 2, SECOND_PART_NBYTES));
        let start_nbytes = (len / 64).min(START_NBYTES);
        Some(Self { start_nbytes, part: part(start, max_nbytes), second_part, percent })
    }

    /// The compressed sizes up to which the part pays, and up to which it is doubtful.
    fn bounds(&self) -> Range<usize> {
        let enough = self.part.len() * 100 / self.percent;
        enough..enough * 10 / 9
    }

    /// Whether the bytes compressed so far shrank so much that the rest hardly matters.
    pub(super) fn pays_clearly(&self, nbytes: usize, cost: usize) -> bool {
        nbytes * 100 >= cost * 2 * self.percent
    }
}

impl<S: Strategy, const BITS: u32> Search<'_, S, BITS> {
    /// Whether the probe's part would shrink enough.
    pub(super) fn part_pays(&mut self, probe: &Probe) -> bool {
        // C-Blosc2 omits the last byte of each match, takes no match below 6 bytes, and tests every
        // position. This search does so only if skipping positions leaves a doubt.
        let Range { start: enough, end: doubtful } = probe.bounds();
        let cost = self.cost::<Fast>(&probe.part, 1, 1, &(enough..doubtful));
        cost <= enough
            || cost <= doubtful.min(probe.part.len())
                && self.cost::<Fast>(&probe.part, 1, 0, &(enough..enough)) <= enough
    }

    /// The strategy if the first part does not pay; `None` if the second one does not pay either.
    /// It pays if matches are long, or almost absent (some may still follow), since both take
    /// little time; and if shorter ones save enough. It does not pay if many matches save little.
    pub(super) fn second_part_outlook(&mut self, probe: &Probe) -> Option<Outlook> {
        let part = probe.second_part.as_ref()?;
        let (nbytes, cost) = (part.len(), self.cost::<Thorough>(part, 0, 1, &(0..usize::MAX)));
        match nbytes * 100 / cost.max(1) {
            ..=98 | 300.. => Some(Outlook::Sparse),
            140.. => Some(Outlook::Good),
            _ => None,
        }
    }

    /// The compressed size (bytes) of a part, without the last `omitted` bytes of each match, and
    /// with a skip counter that grows by `acceleration`. Counting stops once the size is known to
    /// be up to the first of `bounds`, or above the second.
    fn cost<P: Strategy>(
        &mut self,
        part: &Range<usize>,
        omitted: usize,
        acceleration: usize,
        bounds: &Range<usize>,
    ) -> usize {
        let start = part.start.max(1);
        let last = part.end.saturating_sub(1);
        let Some(slice) = BoundedSlice::new(self.src, last) else { return 0 };
        let (mut anchor, mut at, mut skip, mut cost) = (start, start + 1, SKIP_TRIGGER, 0);
        // A shorter match never counts.
        let ignored_bits = 64 - 8 * (P::PARAMS.min_near_len + omitted);
        while let Some(here) = slice.cursor(at) {
            let found = self.candidate(here, ignored_bits);
            let found = found.map(|(earlier, differing)| self.measure(at, earlier, differing));
            let found = found.map(|m| Match { len: m.len - omitted, ..m });
            match found.filter(|m| m.pays::<P>()) {
                Some(m) => {
                    cost += literals_cost(at - anchor) + match_cost(&m);
                    at += m.len;
                    (anchor, skip) = (at, SKIP_TRIGGER);
                    let bound = cost + literals_cost(part.end.saturating_sub(at));
                    if bound <= bounds.start || cost > bounds.end {
                        return bound;
                    }
                    // The bytes before the end of a match often continue in the same way when they
                    // recur.
                    if let Some(before) = slice.cursor(at).and_then(|_| slice.cursor(at - 2)) {
                        self.table.insert(hash(before.word()), at - 2);
                    }
                }
                None => {
                    at += skip / SKIP_TRIGGER;
                    skip += acceleration;
                }
            }
        }
        cost + literals_cost(at.max(anchor) - anchor)
    }
}

#[cfg(test)]
mod tests {
    use blosc_testdata::data::Kind;

    use super::*;
    use crate::{Simd, blosclz::encode::FAST_HASH_BITS, lz::hash_table::HashTable};

    #[test]
    fn a_bounded_count_decides_as_the_full_count() {
        let mut nbounded = 0;
        for kind in Kind::ALL {
            let src = kind.bytes(20_000);
            for (part, percent) in [(0..4096, 100), (10_000..18_192, 120), (17_500..19_988, 200)] {
                let probe = Probe { start_nbytes: 0, part, second_part: None, percent };
                let cost = |bounds: &Range<usize>| {
                    let mut table = HashTable::new();
                    let table = table.start(src.len()).unwrap();
                    let mut search =
                        Search::<Fast, FAST_HASH_BITS>::new(&src, table, Simd::detect());
                    search.cost::<Fast>(&probe.part, 1, 1, bounds)
                };
                let Range { start: enough, end: doubtful } = probe.bounds();
                let (full, bounded) = (cost(&(0..usize::MAX)), cost(&(enough..doubtful)));
                assert_eq!(full <= enough, bounded <= enough, "{kind:?}: {full}, {bounded}");
                assert_eq!(full <= doubtful, bounded <= doubtful, "{kind:?}: {full}, {bounded}");
                nbounded += usize::from(full != bounded);
            }
        }
        assert!(nbounded > 0);
    }

    #[test]
    fn low_levels_ask_for_a_higher_ratio() {
        let percent = |clevel| Probe::new(clevel, 1 << 20).unwrap().percent;
        assert!((1..9).all(|clevel| percent(clevel) >= percent(clevel + 1)));
        assert!(Probe::new(9, 1000).is_none());
        for clevel in 1..=9 {
            for len in [0, 1, 11, 12, 100, 5000, 10_000, 1 << 20] {
                let Some(probe) = Probe::new(clevel, len) else { continue };
                assert!(probe.start_nbytes <= len / 64);
                let parts = [Some(probe.part.clone()), probe.second_part.clone()];
                for part in parts.into_iter().flatten() {
                    assert!(part.end <= len, "level {clevel}, {len} bytes: {part:?}");
                }
            }
        }
    }

    #[test]
    fn twice_the_ratio_pays_clearly() {
        let probe = Probe::new(5, 1 << 16).unwrap();
        assert!(probe.pays_clearly(2400, 1000));
        assert!(!probe.pays_clearly(2399, 1000));
    }
}
