//! An entropy probe: recognises incompressible data before a slow encoder searches it.
//!
//! Incompressible here means that no encoder makes the data 0.5 % shorter. Three tests run, the
//! cheapest first. The byte counts of a sample of 4 KiB, and then of every part and of the whole,
//! must be those of random bytes (a chi-square test; neither more uneven nor, like a ramp, more
//! even). And hardly any word of eight bytes may occur twice. Doubtful data count as compressible,
//! and the encoder decides. `docs/performance/zlib.md` has the savings.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::lz::load64;

/// Shorter streams (bytes) are too short for the tests.
const MIN_NBYTES: usize = 1 << 14;
/// Bytes of a part. The rest at the end is tested only as part of the whole.
const PART_NBYTES: usize = 1 << 14;
/// Pieces of the sample, which excludes most data.
const SAMPLE_PIECES: usize = 16;
/// Bytes of a piece.
const PIECE_NBYTES: usize = 256;
/// Random bytes have a chi-square of 255 with a standard deviation of 22.6: four deviations either
/// way.
const CHI_SQUARE: core::ops::Range<u64> = 165..345;
/// Slots of the table of words.
const SLOTS: usize = 1 << 14;
/// Most words in the table.
const MAX_WORDS: usize = SLOTS / 2;

/// The probe; its table is kept between streams.
#[derive(Default)]
pub(crate) struct EntropyProbe {
    /// Positions of words by hash; allocated when first needed.
    positions: Vec<u32>,
}

impl EntropyProbe {
    pub(crate) fn is_incompressible(&mut self, src: &[u8]) -> bool {
        src.len() >= MIN_NBYTES
            && is_sample_random(src)
            && are_parts_random(src)
            && !self.has_repetitions(src)
    }

    /// Whether enough words repeat for an encoder to find matches. Words are stored at every `step`
    /// positions and looked up at an eighth of all positions, in stretches long enough to meet a
    /// stored one.
    fn has_repetitions(&mut self, src: &[u8]) -> bool {
        self.positions.clear();
        self.positions.resize(SLOTS, u32::MAX);
        let end = src.len() - 8;
        let step = (src.len() / MAX_WORDS).max(4);
        for (at, position) in (0..end).step_by(step).zip((0..).step_by(step)) {
            let first = &mut self.positions[slot(load64(src, at))];
            // The first position stays: a repetition at a whole number of steps would hide it.
            *first = position.min(*first);
        }
        let mut hits = 0;
        for start in (0..end).step_by(16 * step) {
            for at in start..(start + 2 * step).min(end) {
                let word = load64(src, at);
                let earlier = self.positions[slot(word)] as usize;
                hits += usize::from(earlier < at && load64(src, earlier) == word);
            }
        }
        // Each hit stands for `step` of the tested positions; more than one in 512 is too many.
        hits * step > src.len() / 8 / 512
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most 14 bits")]
fn slot(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - SLOTS.trailing_zeros())) as usize
}

fn is_sample_random(src: &[u8]) -> bool {
    let mut counts = [0; 256];
    for piece in src.chunks_exact(src.len() / SAMPLE_PIECES).take(SAMPLE_PIECES) {
        count_bytes(&piece[..PIECE_NBYTES], &mut counts);
    }
    is_random(&counts, SAMPLE_PIECES * PIECE_NBYTES)
}

fn are_parts_random(src: &[u8]) -> bool {
    let mut all = [0; 256];
    let (parts, rest) = src.as_chunks::<PART_NBYTES>();
    for part in parts {
        let mut counts = [0; 256];
        count_bytes(part, &mut counts);
        if !is_random(&counts, PART_NBYTES) {
            return false;
        }
        all.iter_mut().zip(&counts).for_each(|(sum, n)| *sum += n);
    }
    count_bytes(rest, &mut all);
    is_random(&all, src.len())
}

/// Adds the counts of the bytes. Counts in four tables, since successive equal bytes would wait for
/// each other.
fn count_bytes(bytes: &[u8], counts: &mut [u64; 256]) {
    let mut tables = [[0_u32; 256]; 4];
    let (fours, rest) = bytes.as_chunks::<4>();
    for four in fours {
        for (table, byte) in tables.iter_mut().zip(four) {
            table[usize::from(*byte)] += 1;
        }
    }
    for byte in rest {
        tables[0][usize::from(*byte)] += 1;
    }
    for table in &tables {
        counts.iter_mut().zip(table).for_each(|(sum, n)| *sum += u64::from(*n));
    }
}

/// Whether these are likely counts of `n` random bytes.
fn is_random(counts: &[u64; 256], n: usize) -> bool {
    let n = n as u64;
    let squares: u64 = counts.iter().map(|count| count * count).sum();
    // The sum of (count - n / 256)^2 / (n / 256), times n.
    let chi_square = (256 * squares).saturating_sub(n * n) / n;
    CHI_SQUARE.contains(&chi_square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_testdata::data::{Kind, XorShift32};

    fn random_bytes(nbytes: usize, seed: u32) -> Vec<u8> {
        let mut rng = XorShift32::new(seed);
        (0..nbytes).map(|_| rng.next_hi().to_le_bytes()[1]).collect()
    }

    #[test]
    fn random_bytes_of_many_lengths_are_incompressible() {
        let mut probe = EntropyProbe::default();
        let sizes = [16_384, 32_768, 65_536, 100_001, 262_144, 1 << 20];
        let found = sizes.iter().flat_map(|n| (1..20).map(|seed| random_bytes(*n, seed)));
        let found = found.filter(|src| probe.is_incompressible(src)).count();
        assert!(found >= sizes.len() * 19 * 9 / 10, "{found}");
    }

    #[test]
    fn short_streams_and_other_data_are_compressible() {
        let mut probe = EntropyProbe::default();
        assert!(!probe.is_incompressible(&[]));
        assert!(!probe.is_incompressible(&random_bytes(16_383, 1)));
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Noise) {
            for n in [16_384, 100_000, 300_000] {
                assert!(!probe.is_incompressible(&kind.bytes(n)), "{} {n}", kind.name());
            }
        }
        let ramp: Vec<u8> = (0..50_000_u16).flat_map(u16::to_le_bytes).collect();
        assert!(!probe.is_incompressible(&ramp));
    }

    #[test]
    fn random_bytes_with_a_compressible_hundredth_are_compressible() {
        let mut probe = EntropyProbe::default();
        for n in [65_536, 262_144, 1 << 20] {
            let plain = random_bytes(n, 7);
            assert!(probe.is_incompressible(&plain), "{n}");
            // A hundredth of the bytes is zero, 40 times as many as before.
            let mut zeros = plain.clone();
            zeros[n / 2..n / 2 + n / 100].fill(0);
            assert!(!probe.is_incompressible(&zeros), "{n}");
            // A hundredth of the data occurs twice.
            let mut twice = plain.clone();
            twice.copy_within(1001..1001 + n / 100, n / 2);
            assert!(!probe.is_incompressible(&twice), "{n}");
            // Every other part consists of seven bits per byte.
            let mut halves = plain.clone();
            for (part, bytes) in halves.chunks_mut(4096).enumerate() {
                bytes
                    .iter_mut()
                    .for_each(|byte| *byte = *byte / 2 + if part % 8 < 4 { 128 } else { 0 });
            }
            assert!(!probe.is_incompressible(&halves), "{n}");
        }
    }
}
