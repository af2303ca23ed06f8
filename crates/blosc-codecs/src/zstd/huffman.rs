//! Huffman codes of literals: their weights and their tables (RFC 8878, 4.2.1).

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use alloc::boxed::Box;

use super::{
    Result,
    bits::Backward,
    fault::{Fault, truncated},
    fse::{Cell, Counts},
};

/// Bits that index the tables of the fast half: the longest code of the format.
pub(super) const FAST_LOG: u32 = 11;

/// Entries of these tables.
pub(super) const FAST: usize = 1 << FAST_LOG;

/// The longest code that the C library decodes, one bit more than the format has.
const MAX_LOG: u32 = 12;

/// Accuracy of the FSE table of weights.
const MAX_WEIGHT_LOG: u32 = 6;

/// The tables of a code.
#[derive(Clone)]
pub(super) struct Huffman {
    /// By the next `log` bits: a symbol in the upper byte, the length of its code in the lower.
    single: Box<[u16; 1 << MAX_LOG]>,
    /// [`FAST_LOG`], or `MAX_LOG` for a code with longer symbols.
    log: u32,
    /// By the next [`FAST_LOG`] bits: one symbol or two. See [`pair`].
    double: Box<[u32; FAST]>,
    has_double: bool,
}

/// An entry for two symbols, or for one: the symbols from bits 0 and 8 on, a flag for the second
/// one in bit 16, and the length of their codes from bit 24 on.
const fn pair(symbols: u16, second: u32, nbits: u32) -> u32 {
    symbols as u32 | second << 16 | nbits << 24
}

impl Huffman {
    pub(super) fn new() -> Self {
        Self {
            single: Box::new([0; 1 << MAX_LOG]),
            log: FAST_LOG,
            double: Box::new([0; FAST]),
            has_double: false,
        }
    }

    /// Reads the description of a code from `src[at..end]`; returns its end.
    pub(super) fn read(&mut self, src: &[u8], at: usize, end: usize) -> Result<usize> {
        let mut weights = [0; 256];
        let (nweights, next) = read_weights(src, at, end, &mut weights)?;
        self.set(&mut weights, nweights).ok_or_else(|| Fault::Weights.into_error(at))?;
        Ok(next)
    }

    /// Makes the table of a code, from the weights of all its symbols but the last.
    fn set(&mut self, weights: &mut [u8; 256], nweights: usize) -> Option<()> {
        let mut nof = [0_u32; MAX_LOG as usize + 1];
        for &weight in &weights[..nweights] {
            *nof.get_mut(usize::from(weight))? += 1;
        }
        // A weight w takes 2^(w - 1) of the table's entries; the last symbol takes the rest.
        let total: u32 = (1..).zip(&nof[1..]).map(|(weight, n)| n << (weight - 1)).sum();
        let log = total.checked_ilog2()? + 1;
        let rest = (1 << log) - total;
        if log > MAX_LOG || !rest.is_power_of_two() {
            return None;
        }
        let last = rest.ilog2() + 1;
        weights[nweights] = last as u8;
        nof[last as usize] += 1;
        // The longest codes come in pairs.
        if nof[1] < 2 || nof[1] % 2 == 1 {
            return None;
        }
        self.log = log.max(FAST_LOG);
        self.has_double = false;
        self.fill(&weights[..=nweights], &nof, log);
        Some(())
    }

    fn fill(&mut self, weights: &[u8], nof: &[u32; MAX_LOG as usize + 1], log: u32) {
        let scale = self.log - log;
        // The first entry of each weight.
        let mut starts = [0; MAX_LOG as usize + 1];
        let mut start = 0;
        for (weight, (to, n)) in (0_u32..).zip(starts.iter_mut().zip(nof)).skip(1) {
            *to = start;
            start += (*n as usize) << (weight - 1) << scale;
        }
        for (symbol, &weight) in weights.iter().enumerate() {
            let Some(nbits) = (log + 1).checked_sub(weight.into()).filter(|_| weight > 0) else {
                continue;
            };
            let n = 1_usize << (weight - 1) << scale;
            let start = &mut starts[usize::from(weight) % 13];
            let entry = (symbol as u16) << 8 | nbits as u16;
            if let Some(entries) = self.single.get_mut(*start..*start + n) {
                entries.fill(entry);
            }
            *start += n;
        }
    }

    /// The table by [`FAST_LOG`] bits; `None` if a code is longer.
    pub(super) fn single(&self) -> Option<&[u16; FAST]> {
        self.single.first_chunk().filter(|_| self.log == FAST_LOG)
    }

    /// The table of one symbol or two, if it was made.
    pub(super) fn double(&self) -> Option<&[u32; FAST]> {
        self.has_double.then_some(&*self.double)
    }

    /// Makes the table of one symbol or two.
    pub(super) fn make_double(&mut self) {
        let Self { single, log: FAST_LOG, double, has_double: false } = self else { return };
        let single: &[u16; FAST] = single.first_chunk().unwrap_or(&[0; FAST]);
        for (index, (&first, to)) in single.iter().zip(double.iter_mut()).enumerate() {
            let nbits = u32::from(first & 15);
            let second = single[(index << nbits) % FAST];
            let both = nbits + u32::from(second & 15);
            *to = if both <= FAST_LOG {
                pair(first >> 8 | second & 0xFF00, 1, both)
            } else {
                pair(first >> 8, 0, nbits)
            };
        }
        self.has_double = true;
    }

    /// Decodes symbols to all of `dest`, one after another.
    pub(super) fn decode(&self, bits: &mut Backward<'_>, dest: &mut [u8]) -> Result<()> {
        for part in dest.chunks_mut(4) {
            bits.refill()?;
            for to in part {
                let entry = self.single[bits.peek(self.log) as usize % self.single.len()];
                *to = (entry >> 8) as u8;
                bits.skip((entry & 15).into());
            }
        }
        Ok(())
    }
}

/// Reads the weights of all symbols but the last; returns their number and their end.
fn read_weights(
    src: &[u8],
    at: usize,
    end: usize,
    weights: &mut [u8; 256],
) -> Result<(usize, usize)> {
    let bytes = src.get(at..end).unwrap_or_default();
    let Some((&head, rest)) = bytes.split_first() else {
        return Err(truncated(at, 1, 0));
    };
    if head < 128 {
        let next = at + 1 + usize::from(head);
        if next > end {
            return Err(truncated(at + 1, head.into(), rest.len()));
        }
        return Ok((read_packed_weights(src, at + 1, next, weights)?, next));
    }
    // One byte holds two weights.
    let nweights = usize::from(head - 127);
    let need = nweights.div_ceil(2);
    let packed = rest.get(..need).ok_or_else(|| truncated(at + 1, need, rest.len()))?;
    for (to, byte) in weights.chunks_mut(2).zip(packed) {
        to.copy_from_slice(&[byte >> 4, byte & 15]);
    }
    Ok((nweights, at + 1 + need))
}

/// Reads weights that FSE compressed, with two alternating states; returns their number.
fn read_packed_weights(
    src: &[u8],
    at: usize,
    end: usize,
    weights: &mut [u8; 256],
) -> Result<usize> {
    let (counts, at) = Counts::read(src, at, end, u8::MAX, MAX_WEIGHT_LOG)?;
    let mut cells = [Cell::default(); 1 << MAX_WEIGHT_LOG];
    counts.build(|at, cell| {
        if let Some(to) = cells.get_mut(at) {
            *to = cell;
        }
    });
    let mut bits = Backward::new(src, at..end)?;
    let cell = |state: u64| cells[state as usize % cells.len()];
    let mut states = [bits.take(counts.log), bits.take(counts.log)];
    let room = weights.len() - 1;
    let mut n = 0;
    // The bits end within or before the next state of one; then the other has a last symbol.
    loop {
        if n + 2 > room {
            return Err(Fault::Weights.into_error(at));
        }
        let now = cell(states[n % 2]);
        weights[n] = now.symbol;
        n += 1;
        bits.refill()?;
        states[(n + 1) % 2] = u64::from(now.next) + bits.take(now.nbits.into());
        if bits.overrun() > 0 {
            weights[n] = cell(states[n % 2]).symbol;
            return Ok(n + 1);
        }
    }
}
