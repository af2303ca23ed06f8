//! Huffman codes as tables: RFC 1951, 3.2.2.
//!
//! The next bits of the stream are an index; the entry there gives the symbol and the length of its
//! code. Codes that are longer than the index lead to a second table, whose index is the bits after
//! it. An entry:
//!
//! ```text
//! bits 0..6    bits of the code and those that extend its value; for a second table, bits of the first index
//! bits 8..12   bits of the code alone; for a second table, bits of its index
//! bits 12..16  the kind of entry
//! bits 16..32  a literal; the base of a length or distance; the start of a second table
//! ```

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use alloc::boxed::Box;
use alloc::vec;

/// A literal.
pub(super) const LITERAL: u32 = 1 << 12;
/// Neither a literal nor a length or distance: an invalid code, unless one of the following is set.
pub(super) const SPECIAL: u32 = 1 << 15;
/// The code continues in a second table.
pub(super) const SECOND: u32 = 1 << 13;
/// The end of the block.
pub(super) const END: u32 = 1 << 14;

/// Bits of the first index for literals and lengths.
pub(super) const LITLEN_BITS: u32 = 11;
/// Bits of the first index for distances.
pub(super) const DISTANCE_BITS: u32 = 8;
/// Bits of the index for the lengths of both codes.
pub(super) const PRECODE_BITS: u32 = 7;

/// Entries of a table for literals and lengths: a code takes at most 2342.
pub(super) const LITLEN: usize = 4096;
/// Entries of a table for distances: a code takes at most 402.
pub(super) const DISTANCE: usize = 512;
const PRECODE: usize = 1 << PRECODE_BITS;

/// Longest code (bits).
const MAX_BITS: usize = 15;

/// The entry of each symbol of the literal/length alphabet, without the length of its code.
const LITLEN_SYMBOLS: [u32; 288] = {
    let mut symbols = [SPECIAL; 288];
    let mut n = 0_u32;
    while n < 256 {
        symbols[n as usize] = LITERAL | n << 16;
        n += 1;
    }
    symbols[256] = SPECIAL | END;
    let (mut n, mut base) = (0_u32, 3);
    while n < 28 {
        let extra = if n < 8 { 0 } else { n / 4 - 1 };
        symbols[257 + n as usize] = base << 16 | extra;
        base += 1 << extra;
        n += 1;
    }
    symbols[285] = 258 << 16;
    symbols
};

/// The entry of each symbol of the distance alphabet.
const DISTANCE_SYMBOLS: [u32; 32] = {
    let mut symbols = [SPECIAL; 32];
    let (mut n, mut base) = (0_u32, 1);
    while n < 30 {
        let extra = if n < 4 { 0 } else { n / 2 - 1 };
        symbols[n as usize] = base << 16 | extra;
        base += 1 << extra;
        n += 1;
    }
    symbols
};

/// The entry of each symbol of the precode: the symbol itself.
const PRECODE_SYMBOLS: [u32; 19] = {
    let mut symbols = [0; 19];
    let mut n = 0_u32;
    while n < 19 {
        symbols[n as usize] = n << 16;
        n += 1;
    }
    symbols
};

/// The value of a length or distance whose code starts at the lowest of `bits`.
#[inline(always)]
pub(super) fn value(entry: u32, bits: u64) -> usize {
    let extra = (bits & !(u64::MAX << (entry & 63))) >> (entry >> 8 & 15);
    (entry >> 16) as usize + extra as usize
}

/// A code of up to `N` entries with a first index of `BITS` bits.
pub(super) struct Code<const N: usize, const BITS: u32> {
    pub(super) entries: Box<[u32; N]>,
}

pub(super) type LitLenCode = Code<LITLEN, LITLEN_BITS>;
pub(super) type DistanceCode = Code<DISTANCE, DISTANCE_BITS>;
pub(super) type Precode = Code<PRECODE, PRECODE_BITS>;

impl LitLenCode {
    pub(super) fn set_litlen(&mut self, lens: &[u8]) -> Option<()> {
        self.set(lens, &LITLEN_SYMBOLS).map(drop)
    }
}

impl DistanceCode {
    pub(super) fn set_distance(&mut self, lens: &[u8]) -> Option<()> {
        self.set(lens, &DISTANCE_SYMBOLS).map(drop)
    }
}

impl Precode {
    /// The precode must be complete.
    pub(super) fn set_precode(&mut self, lens: &[u8]) -> Option<()> {
        self.set(lens, &PRECODE_SYMBOLS)?.then_some(())
    }
}

impl<const N: usize, const BITS: u32> Code<N, BITS> {
    pub(super) fn new() -> Self {
        // A boxed array would be made on the stack first, and threads of C may have a small one.
        let Ok(entries) = vec![SPECIAL; N].try_into() else { unreachable!("{N} entries") };
        Self { entries }
    }

    /// Builds the table of the code with these lengths for `symbols` (0: no code); returns whether
    /// the code is complete. `None` if the lengths make no code. Only a code of one symbol may be
    /// incomplete.
    fn set(&mut self, lens: &[u8], symbols: &[u32]) -> Option<bool> {
        let mut counts = Counts::from_lens(lens);
        let is_complete = counts.check()?;
        if !is_complete {
            self.entries[..2].fill(SPECIAL);
        }
        let (sorted, nsorted) = counts.sort(lens);
        let mut sorted = sorted[..nsorted].iter();
        let mut second = SecondTables { next: 1 << BITS, ..SecondTables::default() };
        let mut bits = 0;
        for (len, n) in (0..).zip(counts.all) {
            for &symbol in sorted.by_ref().take(n.into()) {
                let symbol = *symbols.get(usize::from(symbol))?;
                if len <= BITS {
                    self.entries[bits as usize] = symbol + (len << 8 | len);
                } else {
                    self.insert_second(bits, len, symbol, &mut second, &counts)?;
                    counts.left[len as usize] -= 1;
                }
                bits = next_code(bits, len);
            }
            self.double(len, len + 1);
        }
        Some(is_complete)
    }

    /// Repeats the entries of the first `from` bits of the index for all values of the bits up to
    /// `to`.
    fn double(&mut self, from: u32, to: u32) {
        for bits in from..to.min(BITS) {
            self.entries.copy_within(..1 << bits, 1 << bits);
        }
    }

    /// Puts a symbol into a second table, at each index that starts with its code: `len` bits of
    /// `bits`.
    fn insert_second(
        &mut self,
        bits: u32,
        len: u32,
        symbol: u32,
        second: &mut SecondTables,
        counts: &Counts,
    ) -> Option<()> {
        let (prefix, rest, len) = (bits & ((1 << BITS) - 1), bits >> BITS, len - BITS);
        if second.prefix != Some(prefix) {
            let bits = counts.second_bits(len, BITS);
            *second = SecondTables {
                prefix: Some(prefix),
                start: second.next,
                next: second.next + (1 << bits),
            };
            self.entries[prefix as usize] =
                SPECIAL | SECOND | (second.start as u32) << 16 | bits << 8 | BITS;
        }
        let entry = symbol + (len << 8 | len);
        let table = self.entries.get_mut(second.start..second.next)?;
        table.get_mut(rest as usize..)?.iter_mut().step_by(1 << len).for_each(|e| *e = entry);
        Some(())
    }
}

/// The code after one of `len` bits, both with the first bit lowest; 0 after the last.
#[inline(always)]
fn next_code(bits: u32, len: u32) -> u32 {
    // The last zero bit is the first to change.
    match (!bits & ((1 << len) - 1)).checked_ilog2() {
        Some(last) => bits & ((1 << last) - 1) | 1 << last,
        None => 0,
    }
}

/// The second tables built so far.
#[derive(Default)]
struct SecondTables {
    /// The first index that leads to the last second table.
    prefix: Option<u32>,
    start: usize,
    next: usize,
}

/// The number of codes of each length.
struct Counts {
    all: [u16; MAX_BITS + 1],
    /// The codes that are not in a table yet.
    left: [u16; MAX_BITS + 1],
}

impl Counts {
    fn from_lens(lens: &[u8]) -> Self {
        let mut all = [0; MAX_BITS + 1];
        lens.iter().for_each(|&len| all[usize::from(len & 15)] += 1);
        all[0] = 0;
        Self { all, left: all }
    }

    /// Whether the code is complete; `None` if it is oversubscribed, or incomplete with more than
    /// one symbol.
    fn check(&self) -> Option<bool> {
        let mut left = 1_i32;
        for &n in &self.all[1..] {
            left = 2 * left - i32::from(n);
            if left < 0 {
                return None;
            }
        }
        (left == 0 || self.all[2..].iter().all(|&n| n == 0)).then_some(left == 0)
    }

    /// The symbols that have codes, by length, and their number.
    fn sort(&self, lens: &[u8]) -> ([u16; 288], usize) {
        let mut starts = [0; MAX_BITS + 2];
        for (len, &n) in self.all.iter().enumerate() {
            starts[len + 1] = starts[len] + usize::from(n);
        }
        let nsorted = starts[MAX_BITS + 1];
        let mut sorted = [0; 288];
        for (symbol, &len) in (0..).zip(lens).filter(|(_, len)| **len > 0) {
            let start = &mut starts[usize::from(len & 15)];
            sorted[*start] = symbol;
            *start += 1;
        }
        (sorted, nsorted)
    }

    /// Bits of the index of a second table whose shortest code has `len` bits after the first
    /// index: enough for all codes that share the first index.
    fn second_bits(&self, len: u32, first: u32) -> u32 {
        let mut bits = len;
        let mut used = u32::from(self.left[(first + bits) as usize]);
        while used < 1 << bits && ((first + bits) as usize) < MAX_BITS {
            bits += 1;
            used = 2 * used + u32::from(self.left[(first + bits) as usize]);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_make_no_code_are_refused() {
        let mut code = Precode::new();
        assert_eq!(code.set_precode(&[1, 1]), Some(()));
        assert_eq!(code.set_precode(&[1, 1, 1]), None);
        assert_eq!(code.set_precode(&[1, 2]), None);
        assert_eq!(code.set_precode(&[1]), None);
        let mut code = DistanceCode::new();
        assert_eq!(code.set_distance(&[]), Some(()));
        assert_eq!(code.entries[..2], [SPECIAL; 2]);
        assert_eq!(code.set_distance(&[0, 1]), Some(()));
        assert_eq!((code.entries[0] >> 16, code.entries[255]), (2, SPECIAL));
        assert_eq!(code.set_distance(&[2, 0, 0]), None);
    }

    #[test]
    fn every_code_is_found_by_its_bits() {
        // One code of each length up to 15, and two of length 15.
        let lens: [u8; 16] =
            core::array::from_fn(|n| u8::try_from(n + 1).unwrap_or_default().min(15));
        let mut code = DistanceCode::new();
        code.set_distance(&lens).unwrap();
        for (symbol, &len) in lens.iter().enumerate() {
            // A number of ones, then a zero; all ones for the last.
            let bits = if symbol == 15 { 0x7FFF } else { (1_usize << (len - 1)) - 1 };
            let mut entry = code.entries[bits & 255];
            if entry & SECOND != 0 {
                let index = bits >> 8 & ((1 << (entry >> 8 & 15)) - 1);
                entry = code.entries[(entry >> 16) as usize + index];
            }
            assert_eq!(entry >> 16, DISTANCE_SYMBOLS[symbol] >> 16, "symbol {symbol}");
        }
    }

    #[test]
    fn the_last_lengths_and_distances_are_those_of_rfc_1951() {
        assert_eq!(
            (LITLEN_SYMBOLS[257], LITLEN_SYMBOLS[284], LITLEN_SYMBOLS[285]),
            (3 << 16, 227 << 16 | 5, 258 << 16)
        );
        assert_eq!((DISTANCE_SYMBOLS[0], DISTANCE_SYMBOLS[29]), (1 << 16, 24_577 << 16 | 13));
    }
}
