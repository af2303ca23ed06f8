//! Telling noise before a slow encoder spends its time on it.
//!
//! Noise here is what no encoder makes 0.5 % shorter: bytes that are about as even as chance makes
//! them, in every part and as a whole, and hold no repetition. Anything doubtful is not noise: the
//! encoder then finds out.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::lz::load64;

/// Shorter streams are too short to tell.
const SHORTEST: usize = 1 << 14;
/// Bytes of a part. What is left at the end is looked at only as part of the whole.
const PART: usize = 1 << 14;
/// Pieces of the sample that rules out most data, and their length (bytes).
const PIECES: usize = 16;
const PIECE: usize = 256;
/// Even numbers have a chi-square of 255 with a deviation of 22.6: these are four deviations off.
const CHI_SQUARE: core::ops::Range<u64> = 165..345;
/// Slots of the table of words, and how many are noted at most.
const SLOTS: usize = 1 << 14;
const NOTED: usize = SLOTS / 2;

/// Kept between streams.
#[derive(Default)]
pub(crate) struct Noise {
    /// Where words were seen; made when first needed.
    places: Vec<u32>,
}

impl Noise {
    /// Whether this is noise.
    pub(crate) fn is(&mut self, src: &[u8]) -> bool {
        src.len() >= SHORTEST && is_sample_even(src) && is_even(src) && !self.has_repetitions(src)
    }

    /// Whether words repeat in so much of the stream that it is worth while. Words are noted at
    /// every `step` places and looked up in an eighth of all places, in stretches long enough
    /// to meet a noted one.
    fn has_repetitions(&mut self, src: &[u8]) -> bool {
        self.places.clear();
        self.places.resize(SLOTS, u32::MAX);
        let end = src.len() - 8;
        let step = (src.len() / NOTED).max(4);
        for (at, place) in (0..end).step_by(step).zip((0..).step_by(step)) {
            let first = &mut self.places[slot(load64(src, at))];
            // The first stays: one that repeats it at a whole number of steps would hide it.
            *first = place.min(*first);
        }
        let mut hits = 0;
        for start in (0..end).step_by(16 * step) {
            for at in start..(start + 2 * step).min(end) {
                let word = load64(src, at);
                let place = self.places[slot(word)] as usize;
                hits += usize::from(place < at && load64(src, place) == word);
            }
        }
        // Of the places looked up, each hit stands for `step`; more than one in 512 is too many.
        hits * step > src.len() / 8 / 512
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most 14 bits")]
fn slot(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - SLOTS.trailing_zeros())) as usize
}

fn is_sample_even(src: &[u8]) -> bool {
    let mut counts = [0; 256];
    for piece in src.chunks_exact(src.len() / PIECES).take(PIECES) {
        count(&piece[..PIECE], &mut counts);
    }
    is_chance(&counts, PIECES * PIECE)
}

fn is_even(src: &[u8]) -> bool {
    let mut all = [0; 256];
    let (parts, rest) = src.as_chunks::<PART>();
    for part in parts {
        let mut counts = [0; 256];
        count(part, &mut counts);
        if !is_chance(&counts, PART) {
            return false;
        }
        all.iter_mut().zip(&counts).for_each(|(sum, n)| *sum += n);
    }
    count(rest, &mut all);
    is_chance(&all, src.len())
}

/// Adds how often each byte occurs. Counts in four tables, since the same byte again would wait for
/// the one before.
fn count(bytes: &[u8], counts: &mut [u64; 256]) {
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

/// Whether `n` bytes that are even by chance have such counts: neither more uneven nor, like a
/// ramp, more even.
fn is_chance(counts: &[u64; 256], n: usize) -> bool {
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

    fn noise(nbytes: usize, seed: u32) -> Vec<u8> {
        let mut rng = XorShift32::new(seed);
        (0..nbytes).map(|_| rng.next_hi().to_le_bytes()[1]).collect()
    }

    #[test]
    fn noise_of_many_lengths_is_noise() {
        let mut probe = Noise::default();
        let sizes = [16_384, 32_768, 65_536, 100_001, 262_144, 1 << 20];
        let found = sizes.iter().flat_map(|n| (1..20).map(|seed| noise(*n, seed)));
        let found = found.filter(|src| probe.is(src)).count();
        assert!(found >= sizes.len() * 19 * 9 / 10, "{found}");
    }

    #[test]
    fn short_streams_and_other_data_are_not() {
        let mut probe = Noise::default();
        assert!(!probe.is(&[]));
        assert!(!probe.is(&noise(16_383, 1)));
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Noise) {
            for n in [16_384, 100_000, 300_000] {
                assert!(!probe.is(&kind.bytes(n)), "{} {n}", kind.name());
            }
        }
        let ramp: Vec<u8> = (0..50_000_u16).flat_map(u16::to_le_bytes).collect();
        assert!(!probe.is(&ramp));
    }

    #[test]
    fn noise_with_something_in_it_is_not() {
        let mut probe = Noise::default();
        for n in [65_536, 262_144, 1 << 20] {
            let plain = noise(n, 7);
            assert!(probe.is(&plain), "{n}");
            // A hundredth is zeros, 40 times as many as there were.
            let mut zeros = plain.clone();
            zeros[n / 2..n / 2 + n / 100].fill(0);
            assert!(!probe.is(&zeros), "{n}");
            // A hundredth stands there twice.
            let mut twice = plain.clone();
            twice.copy_within(1001..1001 + n / 100, n / 2);
            assert!(!probe.is(&twice), "{n}");
            // Every other part is of seven bits.
            let mut halves = plain.clone();
            for (part, bytes) in halves.chunks_mut(4096).enumerate() {
                bytes
                    .iter_mut()
                    .for_each(|byte| *byte = *byte / 2 + if part % 8 < 4 { 128 } else { 0 });
            }
            assert!(!probe.is(&halves), "{n}");
        }
    }
}
