//! The bit planes of a cell's coefficients, most significant first.
//!
//! Coefficients that had a set bit in an earlier plane come first and are written verbatim. The
//! rest is searched: a bit tells whether any further coefficient is set, then zeros lead up to that
//! coefficient, and so on.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use super::{
    bits::{BitReader, BitWriter},
    cell::MAX_CELL,
};

/// The part of a cell that is coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Bits of a coefficient.
    pub(super) width: u32,
    /// Planes, from the most significant one on; may exceed their number.
    pub(super) planes: u32,
    /// Bits in the stream.
    pub(super) bits: u32,
}

impl Budget {
    fn planes_down(self) -> impl Iterator<Item = u32> {
        (self.width.saturating_sub(self.planes)..self.width).rev()
    }
}

/// Writes the planes of up to 256 coefficients.
#[must_use]
pub(super) fn encode(coefficients: &[u64], budget: Budget, out: &mut BitWriter<'_>) -> Option<()> {
    let size = coefficients.len() as u32;
    let mut bits = budget.bits;
    let mut known = 0;
    for k in budget.planes_down() {
        if bits == 0 {
            break;
        }
        let plane = Plane::extract(coefficients, k);
        let direct = known.min(bits);
        bits -= direct;
        for start in (0..direct).step_by(32) {
            let n = (direct - start).min(32);
            out.write(plane.bits_from(start) & ((1 << n) - 1), n)?;
        }
        while known < size && bits > 0 {
            bits -= 1;
            let Some(next) = plane.next_set_bit(known) else {
                out.write(0, 1)?;
                break;
            };
            out.write(1, 1)?;
            // The last coefficient needs no bit: no other one is left.
            let zeros = (next - known).min(bits);
            bits -= zeros;
            out.fill_up_to(out.position() + u64::from(zeros))?;
            known += zeros;
            if known < size - 1 && bits > 0 {
                bits -= 1;
                out.write(1, 1)?;
            }
            known += 1;
        }
    }
    Some(())
}

/// Reads planes into coefficients that are zero.
pub(super) fn decode(coefficients: &mut [u64], budget: Budget, input: &mut BitReader<'_>) {
    let size = coefficients.len() as u32;
    let mut bits = budget.bits;
    let mut known = 0;
    for k in budget.planes_down() {
        if bits == 0 {
            break;
        }
        let direct = known.min(bits);
        bits -= direct;
        for group in coefficients[..direct as usize].chunks_mut(32) {
            let plane = input.read(group.len() as u32);
            group.iter_mut().enumerate().for_each(|(i, c)| *c |= (plane >> i & 1) << k);
        }
        while known < size && bits > 0 {
            bits -= 1;
            if input.read(1) == 0 {
                break;
            }
            known += read_zeros(input, size - 1 - known, &mut bits);
            coefficients[known as usize] |= 1 << k;
            known += 1;
        }
    }
}

/// Reads zeros and the one after them: at most `limit` zeros, after which the one is omitted, and
/// at most `bits` bits. Returns the number of zeros.
fn read_zeros(input: &mut BitReader<'_>, limit: u32, bits: &mut u32) -> u32 {
    let mut count = 0;
    while count < limit && *bits > 0 {
        let max = (limit - count).min(*bits).min(BitReader::PEEK);
        let run = input.peek().trailing_zeros();
        if run < max {
            input.skip(run + 1);
            *bits -= run + 1;
            return count + run;
        }
        input.skip(max);
        *bits -= max;
        count += max;
    }
    count
}

/// One bit of each coefficient.
struct Plane([u64; MAX_CELL / 64]);

impl Plane {
    /// Bit `k` of each coefficient.
    fn extract(coefficients: &[u64], k: u32) -> Self {
        let mut words = [0; MAX_CELL / 64];
        for (word, group) in words.iter_mut().zip(coefficients.chunks(64)) {
            *word = group.iter().rev().fold(0, |w, c| w << 1 | c >> k & 1);
        }
        Self(words)
    }

    /// The bits from `at` to the end of its word.
    fn bits_from(&self, at: u32) -> u64 {
        self.0[(at / 64) as usize] >> (at % 64)
    }

    /// The first set bit at or after `at`.
    fn next_set_bit(&self, at: u32) -> Option<u32> {
        let in_word = |start: u32| match self.bits_from(start) {
            0 => None,
            word => Some(start + word.trailing_zeros()),
        };
        in_word(at).or_else(|| (at / 64 + 1..4).find_map(|word| in_word(64 * word)))
    }
}
