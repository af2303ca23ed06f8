//! FSE: the counts of a table, and its cells (RFC 8878, 4.1).

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use super::{Result, bits::Forward, fault::Fault};

/// The least accuracy of a table whose counts are in the frame.
const MIN_LOG: u32 = 5;

/// Symbols that any table can have.
const MAX_SYMBOLS: usize = 256;

/// The frequency of each symbol in a table; -1 is "less than once".
pub(super) struct Counts {
    pub(super) counts: [i16; MAX_SYMBOLS],
    pub(super) nsymbols: usize,
    /// Binary logarithm of the number of cells.
    pub(super) log: u32,
}

/// A cell of a table: the symbol of a state, and the next state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) symbol: u8,
    /// Number of bits to read for the next state,
    pub(super) nbits: u8,
    /// and the number to which they are added.
    pub(super) next: u16,
}

impl Counts {
    /// Reads counts from `src[at..end]`, of symbols up to `max_symbol` and cells up to `2^max_log`;
    /// returns also their end.
    pub(super) fn read(
        src: &[u8],
        at: usize,
        end: usize,
        max_symbol: u8,
        max_log: u32,
    ) -> Result<(Self, usize)> {
        let bad = || Fault::Counts.into_error(at);
        let bytes = src.get(at..end).unwrap_or_default();
        let mut bits = Forward::new(bytes);
        let log = MIN_LOG + bits.take(4);
        if log > max_log {
            return Err(bad());
        }
        let (mut counts, mut nsymbols) = ([0; MAX_SYMBOLS], 0);
        // One more than the cells that are still free.
        let mut left = (1_u32 << log) + 1;
        while left > 1 {
            // The lowest values, counted by `short`, take one bit less.
            let nbits = left.ilog2() + 1;
            let short = (1 << nbits) - 1 - left;
            let low = bits.peek(nbits - 1);
            let value = if low < short {
                bits.skip(nbits - 1);
                low
            } else {
                let value = bits.take(nbits);
                if value >> (nbits - 1) == 0 { value } else { value - short }
            };
            let count = value as i16 - 1;
            *counts
                .get_mut(nsymbols)
                .filter(|_| nsymbols <= usize::from(max_symbol))
                .ok_or_else(bad)? = count;
            nsymbols += 1;
            left -= u32::from(count.unsigned_abs());
            // Number of further symbols without a cell: 3 means that another of these numbers
            // follows.
            let mut zeros = if count == 0 { 3 } else { 0 };
            while zeros == 3 && nsymbols <= MAX_SYMBOLS {
                zeros = bits.take(2);
                nsymbols += zeros as usize;
            }
        }
        if bits.nbytes() > bytes.len() {
            return Err(bad());
        }
        Ok((Self { counts, nsymbols, log }, at + bits.nbytes()))
    }

    /// Calls `set` with each cell of the table and its position.
    #[inline(always)]
    pub(super) fn build(&self, mut set: impl FnMut(usize, Cell)) {
        const MAX_CELLS: usize = 512;
        let size = 1 << self.log;
        let mask = size - 1;
        let mut symbols = [0_u8; MAX_CELLS];
        let mut next = [0_u16; MAX_SYMBOLS];
        // Symbols of "less than once" are at the end.
        let mut end = size;
        let counts = self.counts.iter().take(self.nsymbols);
        for (symbol, (&count, next)) in counts.clone().zip(&mut next).enumerate() {
            *next = count.unsigned_abs();
            if count < 0 {
                end -= 1;
                symbols[end % MAX_CELLS] = symbol as u8;
            }
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut at = 0;
        for (symbol, &count) in counts.enumerate() {
            for _ in 0..count {
                symbols[at % MAX_CELLS] = symbol as u8;
                at = (at + step) & mask;
                while at >= end {
                    at = (at + step) & mask;
                }
            }
        }
        for (at, &symbol) in symbols.iter().enumerate().take(size) {
            let state = &mut next[usize::from(symbol)];
            let nbits = self.log - u32::from(*state).ilog2();
            let next = (u32::from(*state) << nbits) as usize - size;
            *state += 1;
            set(at, Cell { symbol, nbits: nbits as u8, next: next as u16 });
        }
    }
}
