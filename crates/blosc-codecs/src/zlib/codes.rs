//! Huffman codes as tables: RFC 1951, 3.2.2.
//!
//! The next bits of the stream are an index, and the entry tells what they stand for and how many
//! of them do. Codes that are longer than the index lead to a second table, of the bits that
//! follow. An entry:
//!
//! ```text
//! bits 0..6    bits of the code and those that extend its value; for a second table, bits of the first index
//! bits 8..12   bits of the code alone; for a second table, bits of its index
//! bits 12..16  what it is
//! bits 16..32  a literal; the base of a length or distance; the start of a second table
//! ```

/// A literal.
pub(crate) const LITERAL: u32 = 1 << 12;
/// Neither a literal nor a length or distance: no code at all, unless one of the following is set.
pub(crate) const SPECIAL: u32 = 1 << 15;
/// The code goes on in a second table.
pub(crate) const SECOND: u32 = 1 << 13;
/// The end of the block.
pub(crate) const END: u32 = 1 << 14;

/// Bits of the first index for literals and lengths,
pub(crate) const LITLEN_BITS: u32 = 11;
/// and for distances,
pub(crate) const DISTANCE_BITS: u32 = 8;
/// and for the lengths of the codes of both.
pub(crate) const PRECODE_BITS: u32 = 7;

/// Entries of a table for literals and lengths: at least the 2342 that a code can take,
pub(crate) const LITLEN: usize = 4096;
/// and for distances: at least 402.
pub(crate) const DISTANCE: usize = 512;
const PRECODE: usize = 1 << PRECODE_BITS;

/// Longest code (bits).
const MAX_BITS: usize = 15;

/// What each literal or length stands for.
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

/// What each distance stands for.
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

/// What the symbols of the precode stand for: themselves.
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
#[allow(clippy::cast_possible_truncation, reason = "at most 13 bits")]
pub(crate) fn value(entry: u32, bits: u64) -> usize {
    let extra = (bits & !(u64::MAX << (entry & 63))) >> (entry >> 8 & 15);
    (entry >> 16) as usize + extra as usize
}

/// A code of up to `N` entries with a first index of `BITS` bits.
pub(crate) struct Code<const N: usize, const BITS: u32> {
    pub(crate) entries: [u32; N],
}

pub(crate) type LitLenCode = Code<LITLEN, LITLEN_BITS>;
pub(crate) type DistanceCode = Code<DISTANCE, DISTANCE_BITS>;
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
    /// All bits must be part of a code here.
    pub(super) fn set_precode(&mut self, lens: &[u8]) -> Option<()> {
        self.set(lens, &PRECODE_SYMBOLS)?.then_some(())
    }
}

impl<const N: usize, const BITS: u32> Code<N, BITS> {
    pub(super) fn new() -> Self {
        Self { entries: [SPECIAL; N] }
    }

    /// The code with these lengths of the codes of `symbols`, 0 for none; whether any bits are part
    /// of one. `None` when there is no such code; the only one that may leave bits over has one
    /// symbol.
    fn set(&mut self, lens: &[u8], symbols: &[u32]) -> Option<bool> {
        let mut counts = Counts::of(lens);
        let is_complete = counts.check()?;
        if !is_complete {
            self.entries[..2].fill(SPECIAL);
        }
        let (sorted, nsorted) = counts.sort(lens);
        let mut sorted = sorted[..nsorted].iter();
        let mut places = Places { next: 1 << BITS, ..Places::default() };
        let mut bits = 0;
        for (len, n) in (0..).zip(counts.all) {
            for &symbol in sorted.by_ref().take(n.into()) {
                let symbol = *symbols.get(usize::from(symbol))?;
                if len <= BITS {
                    self.entries[bits as usize] = symbol + (len << 8 | len);
                } else {
                    self.place(bits, len, symbol, &mut places, &counts)?;
                    counts.left[len as usize] -= 1;
                }
                bits = next_code(bits, len);
            }
            self.double(len, len + 1);
        }
        Some(is_complete)
    }

    /// Repeats what is known by the first `from` bits of the index, as it does not depend on those
    /// up to `to`.
    fn double(&mut self, from: u32, to: u32) {
        for bits in from..to.min(BITS) {
            self.entries.copy_within(..1 << bits, 1 << bits);
        }
    }

    /// Puts a symbol into a second table, wherever the index starts with its code, `len` bits of
    /// `bits`.
    #[allow(clippy::cast_possible_truncation, reason = "tables are short")]
    fn place(
        &mut self,
        bits: u32,
        len: u32,
        symbol: u32,
        places: &mut Places,
        counts: &Counts,
    ) -> Option<()> {
        let (prefix, rest, len) = (bits & ((1 << BITS) - 1), bits >> BITS, len - BITS);
        if places.prefix != Some(prefix) {
            let bits = counts.second_bits(len, BITS);
            *places = Places {
                prefix: Some(prefix),
                start: places.next,
                next: places.next + (1 << bits),
            };
            self.entries[prefix as usize] =
                SPECIAL | SECOND | (places.start as u32) << 16 | bits << 8 | BITS;
        }
        let entry = symbol + (len << 8 | len);
        let second = self.entries.get_mut(places.start..places.next)?;
        second.get_mut(rest as usize..)?.iter_mut().step_by(1 << len).for_each(|e| *e = entry);
        Some(())
    }
}

/// The code after one of `len` bits, both with the first bit lowest; 0 after the last.
#[inline(always)]
fn next_code(bits: u32, len: u32) -> u32 {
    // The last bit that is not set is the first to change.
    match (!bits & ((1 << len) - 1)).checked_ilog2() {
        Some(last) => bits & ((1 << last) - 1) | 1 << last,
        None => 0,
    }
}

/// Where second tables are.
#[derive(Default)]
struct Places {
    /// The first index that leads to the last of them.
    prefix: Option<u32>,
    start: usize,
    next: usize,
}

/// How many codes there are of each length.
struct Counts {
    all: [u16; MAX_BITS + 1],
    /// Those that have no place yet.
    left: [u16; MAX_BITS + 1],
}

impl Counts {
    fn of(lens: &[u8]) -> Self {
        let mut all = [0; MAX_BITS + 1];
        lens.iter().for_each(|&len| all[usize::from(len & 15)] += 1);
        all[0] = 0;
        Self { all, left: all }
    }

    /// Whether any bits are part of a code; `None` when codes are parts of each other, or bits are
    /// left over and there is more than one code.
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

    /// The symbols that have codes, by length, and how many.
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

    /// Bits of the index of a second table whose shortest code has `len`: as many as it takes to
    /// hold all codes that start alike.
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
    fn lengths_must_make_a_code() {
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
        // One code of each length up to 15, and two of that.
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
    fn lengths_and_distances_end_where_they_should() {
        assert_eq!(
            (LITLEN_SYMBOLS[257], LITLEN_SYMBOLS[284], LITLEN_SYMBOLS[285]),
            (3 << 16, 227 << 16 | 5, 258 << 16)
        );
        assert_eq!((DISTANCE_SYMBOLS[0], DISTANCE_SYMBOLS[29]), (1 << 16, 24_577 << 16 | 13));
    }
}
