//! The Huffman streams of a block's literals: one, or four that are decoded in parallel.
//!
//! A lane reads a word of 64 bits at a time, the highest bits first. The lowest bit of the word is
//! set before it is shifted: the zeros below it then count the consumed bits. After a filling at
//! most 8 bits are consumed (7, or the mark and its zeros at the start), so five codes of
//! [`FAST_LOG`] bits fit above the lowest bit: 8 + 5 * 11 = 63.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use core::{array, ops::Range};

use super::{
    Result,
    bits::Backward,
    fault::{Fault, truncated},
    huffman::{FAST, FAST_LOG, Huffman},
};
use crate::{
    lz::{
        cursor::{BoundedSlice, Cursor},
        fast_decode::{Kernel, run},
    },
    simd::Simd,
};

/// Number of codes between two fillings.
const LOOKUPS: usize = 5;
const _: () = assert!(8 + LOOKUPS as u32 * FAST_LOG < 64);

/// Most bytes that these codes make, with a whole store for the last one.
const WINDOW: usize = 2 * LOOKUPS;

/// Bytes of the table before four streams: the lengths of the first three.
const JUMP_NBYTES: usize = 6;

/// Fewest literals for four streams.
const MIN_OF_FOUR: usize = 6;

/// Fewest literals for which the table of two symbols pays.
const MIN_DOUBLE: usize = 4 << 10;

/// Bits per literal (in sixteenths) below which an entry of that table usually holds two literals.
const MAX_DOUBLE_BITS: usize = 16 * 5;

/// Decodes one stream, which is `src[range]`, to all of `dest`.
pub(super) fn decode_one(
    huffman: &Huffman,
    src: &[u8],
    range: Range<usize>,
    dest: &mut [u8],
) -> Result<()> {
    let mut bits = Backward::new(src, range)?;
    huffman.decode(&mut bits, dest)?;
    bits.check_end()
}

/// Decodes four streams, which are `src[range]` with the table of their lengths, to all of `dest`.
pub(super) fn decode_four(
    huffman: &Huffman,
    simd: Simd,
    src: &[u8],
    range: Range<usize>,
    dest: &mut [u8],
) -> Result<()> {
    let nbytes = dest.len();
    let quarter = nbytes.div_ceil(4);
    if nbytes < MIN_OF_FOUR {
        return Err(Fault::FewLiterals { nbytes }.into_error(range.start));
    }
    let double = huffman.double().filter(|_| takes_pairs(range.len(), nbytes));
    let ranges = split(src, range)?;
    let mut parts = dest.chunks_mut(quarter);
    let mut parts: [&mut [u8]; 4] = array::from_fn(|_| parts.next().unwrap_or_default());
    let [a, b, c, d] = &ranges;
    let mut lanes =
        [Lane::new(src, a)?, Lane::new(src, b)?, Lane::new(src, c)?, Lane::new(src, d)?];
    let mut done = [0; 4];
    let Some(src) = BoundedSlice::new(src, usize::MAX) else { return Ok(()) };
    if let Some(table) = double {
        run(simd, Pairs { table, src, lanes: &mut lanes, parts: &mut parts, done: &mut done });
    } else if let Some(table) = huffman.single() {
        run(simd, Singles { table, src, lanes: &mut lanes, parts: &mut parts, done: &mut done });
    }
    for ((lane, part), (done, range)) in lanes.iter().zip(parts).zip(done.iter().zip(&ranges)) {
        let mut bits = lane.rest(src, range.start)?;
        huffman.decode(&mut bits, part.get_mut(*done..).unwrap_or_default())?;
        bits.check_end()?;
    }
    Ok(())
}

/// Whether four streams of `cbytes` in all, which decode to `nbytes`, are decoded faster by pairs.
pub(super) const fn takes_pairs(cbytes: usize, nbytes: usize) -> bool {
    nbytes >= MIN_DOUBLE && 8 * 16 * cbytes < MAX_DOUBLE_BITS * nbytes
}

/// The ranges of the four streams.
fn split(src: &[u8], range: Range<usize>) -> Result<[Range<usize>; 4]> {
    let bytes = src.get(range.clone()).unwrap_or_default();
    let Some((jump, _)) = bytes.split_first_chunk::<JUMP_NBYTES>() else {
        return Err(truncated(range.start, JUMP_NBYTES, bytes.len()));
    };
    let mut at = range.start + JUMP_NBYTES;
    let mut ranges = [(); 4].map(|()| at..at);
    for (to, len) in ranges.iter_mut().zip(jump.as_chunks::<2>().0) {
        let end = at + usize::from(u16::from_le_bytes(*len));
        *to = at..end;
        at = end;
    }
    if at >= range.end {
        return Err(truncated(range.start, at + 1 - range.start, bytes.len()));
    }
    ranges[3] = at..range.end;
    Ok(ranges)
}

/// A stream, read up to some code.
#[derive(Clone, Copy)]
struct Lane {
    /// The next bits are the highest; a set bit follows the last.
    bits: u64,
    /// The first byte of their word.
    at: usize,
}

impl Lane {
    fn new(src: &[u8], range: &Range<usize>) -> Result<Self> {
        // Tests that the mark exists, and a word that ends with it.
        let (at, used) = Backward::new(src, range.clone())?.position();
        Ok(Self { bits: 1 << used, at })
    }

    /// The word of the next bits, and its position.
    #[inline(always)]
    fn word<'a>(&self, src: BoundedSlice<'a>) -> Option<Cursor<'a>> {
        src.cursor(self.at.wrapping_sub((self.bits.trailing_zeros() / 8) as usize))
    }

    #[inline(always)]
    fn fill(&mut self, word: Cursor<'_>) {
        self.bits = (word.word() | 1) << (self.bits.trailing_zeros() % 8);
        self.at = word.position();
    }

    /// The index of the next entry.
    #[inline(always)]
    const fn index(&self) -> usize {
        (self.bits >> (64 - FAST_LOG)) as usize
    }

    /// The remaining bits.
    fn rest<'a>(&self, src: BoundedSlice<'a>, start: usize) -> Result<Backward<'a>> {
        Backward::resume(src, self.at, self.bits.trailing_zeros(), start)
    }
}

/// Decodes five symbols of each lane at once, until the shortest part has less space than that.
struct Singles<'a, 'b> {
    table: &'a [u16; FAST],
    src: BoundedSlice<'a>,
    lanes: &'a mut [Lane; 4],
    parts: &'a mut [&'b mut [u8]; 4],
    done: &'a mut [usize; 4],
}

impl Kernel for Singles<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { table, src, lanes, parts, done } = self;
        let [mut a, mut b, mut c, mut d] = *lanes;
        let [to_a, to_b, to_c, to_d] = parts;
        let (to_a, to_b) = (fives(to_a), fives(to_b));
        let (to_c, to_d) = (fives(to_c), fives(to_d));
        let mut rounds = 0;
        for ((to_a, to_b), (to_c, to_d)) in to_a.zip(to_b).zip(to_c.zip(to_d)) {
            let Some(word_a) = a.word(src) else { break };
            let Some(word_b) = b.word(src) else { break };
            let Some(word_c) = c.word(src) else { break };
            let Some(word_d) = d.word(src) else { break };
            a.fill(word_a);
            b.fill(word_b);
            c.fill(word_c);
            d.fill(word_d);
            let next = |lane: &mut Lane| {
                let entry = table[lane.index()];
                lane.bits <<= entry & 63;
                (entry >> 8) as u8
            };
            for ((to_a, to_b), (to_c, to_d)) in
                to_a.iter_mut().zip(to_b).zip(to_c.iter_mut().zip(to_d))
            {
                *to_a = next(&mut a);
                *to_b = next(&mut b);
                *to_c = next(&mut c);
                *to_d = next(&mut d);
            }
            rounds += 1;
        }
        *lanes = [a, b, c, d];
        *done = [rounds * LOOKUPS; 4];
    }
}

/// The pieces of a part that are decoded between two fillings.
#[inline(always)]
fn fives(part: &mut [u8]) -> core::slice::IterMut<'_, [u8; LOOKUPS]> {
    part.as_chunks_mut().0.iter_mut()
}

/// Decodes one symbol or two of each lane at a time, then the rest of each lane separately.
struct Pairs<'a, 'b> {
    table: &'a [u32; FAST],
    src: BoundedSlice<'a>,
    lanes: &'a mut [Lane; 4],
    parts: &'a mut [&'b mut [u8]; 4],
    done: &'a mut [usize; 4],
}

impl Kernel for Pairs<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { table, src, lanes, parts, done } = self;
        let [mut a, mut b, mut c, mut d] = *lanes;
        let [to_a, to_b, to_c, to_d] = parts;
        let [mut done_a, mut done_b, mut done_c, mut done_d] = *done;
        while let Some(out_a) = window(to_a, done_a) {
            let Some(out_b) = window(to_b, done_b) else { break };
            let Some(out_c) = window(to_c, done_c) else { break };
            let Some(out_d) = window(to_d, done_d) else { break };
            let Some(word_a) = a.word(src) else { break };
            let Some(word_b) = b.word(src) else { break };
            let Some(word_c) = c.word(src) else { break };
            let Some(word_d) = d.word(src) else { break };
            a.fill(word_a);
            b.fill(word_b);
            c.fill(word_c);
            d.fill(word_d);
            let mut n = [0; 4];
            for _ in 0..LOOKUPS {
                n[0] += write_symbols(table, &mut a, out_a, n[0]);
                n[1] += write_symbols(table, &mut b, out_b, n[1]);
                n[2] += write_symbols(table, &mut c, out_c, n[2]);
                n[3] += write_symbols(table, &mut d, out_d, n[3]);
            }
            done_a += n[0];
            done_b += n[1];
            done_c += n[2];
            done_d += n[3];
        }
        *lanes = [a, b, c, d];
        *done = [done_a, done_b, done_c, done_d];
        for ((lane, to), done) in lanes.iter_mut().zip(parts).zip(done) {
            while let (Some(out), Some(word)) = (window(to, *done), lane.word(src)) {
                lane.fill(word);
                let mut n = 0;
                for _ in 0..LOOKUPS {
                    n += write_symbols(table, lane, out, n);
                }
                *done += n;
            }
        }
    }
}

#[inline(always)]
fn window(part: &mut [u8], at: usize) -> Option<&mut [u8; WINDOW]> {
    part.get_mut(at..)?.first_chunk_mut()
}

/// Writes the symbols of an entry to `out[at..]`; returns their number.
#[inline(always)]
fn write_symbols(table: &[u32; FAST], lane: &mut Lane, out: &mut [u8; WINDOW], at: usize) -> usize {
    let entry = table[lane.index()];
    lane.bits <<= entry >> 24 & 63;
    out[at..at + 2].copy_from_slice(&(entry as u16).to_le_bytes());
    1 + (entry >> 16 & 1) as usize
}
