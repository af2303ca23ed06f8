//! Our own decoder of zlib streams (RFC 1950, RFC 1951).
//!
//! The whole destination exists from the start, so the decoder needs no window and no state between
//! calls: matches are copied within the destination. The decoder answers `None` in any doubt, and
//! then `zlib-rs` finds the defect. `codes` makes the tables, `inflate_fast` is the fast half. This
//! file is the safe half, which decodes symbol by symbol near the ends of stream and destination.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use super::{
    adler::adler32,
    codes::{
        DISTANCE_BITS, DistanceCode, END, LITERAL, LITLEN_BITS, LitLenCode, PRECODE_BITS, Precode,
        SECOND, SPECIAL, value,
    },
    inflate_fast,
};
use crate::{Simd, lz::copy_match};

/// The order of the lengths of the precode (RFC 1951, 3.2.7).
const PRECODE_ORDER: [usize; 19] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The decoder; keeps its tables between streams.
pub(super) struct Inflater {
    dynamic: Tables,
    /// Tables of blocks with fixed codes; made when first needed.
    fixed: Option<Tables>,
    simd: Simd,
}

struct Tables {
    litlen: LitLenCode,
    distance: DistanceCode,
    precode: Precode,
}

impl Inflater {
    pub(super) fn new(simd: Simd) -> Self {
        Self { dynamic: Tables::new(), fixed: None, simd }
    }

    /// Decompresses all of `src` to all of `dest`; `None` if that is impossible, or left to
    /// `zlib-rs`.
    pub(super) fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Option<()> {
        let (head, body) = src.split_first_chunk::<2>()?;
        let (body, sum) = body.split_last_chunk::<4>()?;
        // Deflate, the largest window, no dictionary.
        if head[0] != 0x78 || head[1] & 0x20 != 0 || u16::from_be_bytes(*head) % 31 != 0 {
            return None;
        }
        self.decode_blocks(body, dest, true)?;
        (adler32(self.simd, dest) == u32::from_be_bytes(*sum)).then_some(())
    }

    /// Decodes all blocks; with the safe half only, unless `is_fast`.
    fn decode_blocks(&mut self, src: &[u8], dest: &mut [u8], is_fast: bool) -> Option<()> {
        let fast = is_fast.then_some(self.simd);
        let mut input = Input { src, at: 0, bits: 0, nbits: 0 };
        let mut done = 0;
        let mut is_last = false;
        while !is_last {
            input.fill();
            is_last = input.take(1)? == 1;
            done = match input.take(2)? {
                0 => input.copy_stored(dest, done)?,
                1 => {
                    let fixed = self.fixed.get_or_insert_with(Tables::fixed);
                    fixed.decode_block(&mut input, dest, done, fast)?
                }
                2 => {
                    self.dynamic.read(&mut input)?;
                    self.dynamic.decode_block(&mut input, dest, done, fast)?
                }
                _ => return None,
            };
        }
        (input.is_at_end() && done == dest.len()).then_some(())
    }
}

impl Tables {
    fn new() -> Self {
        Self { litlen: LitLenCode::new(), distance: DistanceCode::new(), precode: Precode::new() }
    }

    /// The fixed codes (RFC 1951, 3.2.6).
    fn fixed() -> Self {
        let mut lens = [8; 288];
        lens[144..256].fill(9);
        lens[256..280].fill(7);
        let mut tables = Self::new();
        // These lengths make codes; otherwise, every symbol would be doubtful.
        let _ = tables.litlen.set_litlen(&lens);
        let _ = tables.distance.set_distance(&[5; 32]);
        tables
    }

    /// Reads the dynamic codes of a block.
    fn read(&mut self, input: &mut Input<'_>) -> Option<()> {
        let (nlitlen, ndistance) = (input.take(5)? + 257, input.take(5)? + 1);
        let nprecode = input.take(4)? + 4;
        if nlitlen > 286 || ndistance > 30 {
            return None;
        }
        let mut lens = [0; 19];
        for &symbol in &PRECODE_ORDER[..nprecode] {
            input.fill();
            lens[symbol] = u8::try_from(input.take(3)?).ok()?;
        }
        self.precode.set_precode(&lens)?;
        let mut lens = [0; 286 + 30];
        let lens = &mut lens[..nlitlen + ndistance];
        self.read_code_lens(input, lens)?;
        let (litlen, distance) = lens.split_at(nlitlen);
        if litlen[256] == 0 {
            return None;
        }
        self.litlen.set_litlen(litlen)?;
        self.distance.set_distance(distance)
    }

    /// Reads the lengths of the codes for literals, lengths and distances.
    fn read_code_lens(&self, input: &mut Input<'_>, lens: &mut [u8]) -> Option<()> {
        let mut at = 0;
        while at < lens.len() {
            input.fill();
            let (_, symbol) = input.read_symbol(&*self.precode.entries, PRECODE_BITS)?;
            let (len, n) = match symbol {
                16 => (*lens.get(at.checked_sub(1)?)?, 3 + input.take(2)?),
                17 => (0, 3 + input.take(3)?),
                18 => (0, 11 + input.take(7)?),
                len => (u8::try_from(len).ok()?, 1),
            };
            lens.get_mut(at..at + n)?.fill(len);
            at += n;
        }
        Some(())
    }

    /// Decodes the symbols of a block to `dest[done..]`; returns their end.
    fn decode_block(
        &self,
        input: &mut Input<'_>,
        dest: &mut [u8],
        mut done: usize,
        fast: Option<Simd>,
    ) -> Option<usize> {
        if let Some(simd) = fast {
            let codes = (&self.litlen, &self.distance);
            let is_end;
            (done, is_end) = inflate_fast::decode_symbols(simd, input, dest, done, codes);
            if is_end {
                return Some(done);
            }
        }
        loop {
            input.fill();
            let (entry, len) = input.read_symbol(&*self.litlen.entries, LITLEN_BITS)?;
            if entry & LITERAL != 0 {
                *dest.get_mut(done)? = u8::try_from(len).ok()?;
                done += 1;
                continue;
            }
            if entry & END != 0 {
                return Some(done);
            }
            let (_, distance) = input.read_symbol(&*self.distance.entries, DISTANCE_BITS)?;
            if distance > done || len > dest.len() - done {
                return None;
            }
            copy_match(dest, done, distance, len);
            done += len;
        }
    }
}

/// The stream, read bit by bit, the lowest bit first.
pub(super) struct Input<'a> {
    pub(super) src: &'a [u8],
    /// The first byte that is not in `bits`.
    pub(super) at: usize,
    /// Bits that are read ahead.
    pub(super) bits: u64,
    /// The number of these bits.
    pub(super) nbits: u32,
}

impl Input<'_> {
    /// Reads bytes until there are at least 56 bits, or all.
    #[inline(always)]
    fn fill(&mut self) {
        while let (true, Some(&byte)) = (self.nbits < 56, self.src.get(self.at)) {
            self.bits |= u64::from(byte) << self.nbits;
            self.nbits += 8;
            self.at += 1;
        }
    }

    #[inline(always)]
    fn take(&mut self, n: u32) -> Option<usize> {
        self.nbits = self.nbits.checked_sub(n)?;
        let value = self.bits & !(u64::MAX << n);
        self.bits >>= n;
        Some(value as usize)
    }

    /// The next symbol, and its value.
    #[inline(always)]
    fn read_symbol(&mut self, entries: &[u32], index_bits: u32) -> Option<(u32, usize)> {
        let mut entry = *entries.get(self.bits as usize & !(usize::MAX << index_bits))?;
        if entry & SECOND != 0 {
            self.take(entry & 63)?;
            let index = self.bits as usize & !(usize::MAX << (entry >> 8 & 15));
            entry = *entries.get((entry >> 16) as usize + index)?;
        }
        if entry & (SPECIAL | END) == SPECIAL {
            return None;
        }
        let value = value(entry, self.bits);
        self.take(entry & 63)?;
        Some((entry, value))
    }

    /// Copies a stored block to `dest[done..]`; returns its end.
    fn copy_stored(&mut self, dest: &mut [u8], done: usize) -> Option<usize> {
        self.take(self.nbits % 8)?;
        self.at -= self.nbits as usize / 8;
        (self.bits, self.nbits) = (0, 0);
        let (head, rest) = self.src.get(self.at..)?.split_first_chunk::<4>()?;
        let [len, check] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
        if len != !check {
            return None;
        }
        let len = usize::from(len);
        dest.get_mut(done..done + len)?.copy_from_slice(rest.get(..len)?);
        self.at += 4 + len;
        Some(done + len)
    }

    /// Whether less than a byte is left.
    fn is_at_end(&self) -> bool {
        self.at == self.src.len() && self.nbits < 8
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use blosc_testdata::data::{Kind, XorShift32};

    use super::*;
    use crate::{Codec as _, EncodeOptions, Level, zlib::Zlib};

    fn stream(plain: &[u8], clevel: u8) -> Vec<u8> {
        let options =
            EncodeOptions { clevel: Level::try_from(clevel).unwrap(), ..EncodeOptions::default() };
        let mut stream = vec![0; 2 * plain.len() + 64];
        let len = Zlib.new_encoder(&options).unwrap().encode(plain, &mut stream).unwrap().unwrap();
        stream.truncate(len);
        stream
    }

    #[test]
    fn valid_streams_need_no_library() {
        let mut inflater = Inflater::new(Simd::detect());
        for kind in Kind::ALL {
            for nbytes in [0, 1, 20, 100, 500, 3000, 20_000, 100_000] {
                let plain = kind.bytes(nbytes);
                for level in [1, 5, 9] {
                    let stream = stream(&plain, level);
                    let mut dest = vec![0xA5; nbytes];
                    assert_eq!(
                        inflater.decode(&stream, &mut dest),
                        Some(()),
                        "{kind:?}, {nbytes} bytes"
                    );
                    assert!(dest == plain, "{kind:?}, {nbytes} bytes");
                }
            }
        }
    }

    #[test]
    fn the_safe_half_agrees_on_any_blocks() {
        let mut rng = XorShift32::default();
        let mut inflaters: Vec<_> = Simd::available().map(Inflater::new).collect();
        for kind in Kind::ALL {
            for (nbytes, level) in [(100, 1), (500, 5), (3000, 1), (3000, 9), (20_000, 5)] {
                let stream = stream(&kind.bytes(nbytes), level);
                let body = &stream[2..stream.len() - 4];
                for _ in 0..200 {
                    let mut damaged = body.to_vec();
                    for _ in 0..rng.below(3) {
                        let at = usize::try_from(rng.below(body.len() as u64)).unwrap();
                        damaged[at] = rng.next_u32().to_le_bytes()[0];
                    }
                    let cut =
                        usize::try_from(rng.below(2 * body.len() as u64)).unwrap().min(body.len());
                    let room = nbytes + usize::try_from(rng.below(3)).unwrap() - 1;
                    let (mut fast, mut safe) = (vec![0xA5; room], vec![0xA5; room]);
                    for inflater in &mut inflaters {
                        let verdict = inflater.decode_blocks(&damaged[..cut], &mut fast, true);
                        let expected = inflater.decode_blocks(&damaged[..cut], &mut safe, false);
                        assert_eq!(verdict, expected);
                        assert!(verdict.is_none() || fast == safe);
                    }
                }
            }
        }
    }

    #[test]
    fn a_thread_with_a_small_stack_decodes() {
        let plain = Kind::Walk.bytes(20_000);
        let stream = stream(&plain, 5);
        let mut dest = vec![0; plain.len()];
        let decode = || Inflater::new(Simd::detect()).decode(&stream, &mut dest);
        let verdict = std::thread::scope(|scope| {
            let small = std::thread::Builder::new().stack_size(32 << 10);
            small.spawn_scoped(scope, decode).unwrap().join().unwrap()
        });
        assert!(verdict.is_some() && dest == plain);
    }

    #[test]
    fn a_wrong_checksum_or_header_is_refused() {
        let mut inflater = Inflater::new(Simd::detect());
        let plain = Kind::Walk.bytes(1000);
        let stream = stream(&plain, 5);
        for at in [0, 1, stream.len() - 1] {
            let mut damaged = stream.clone();
            damaged[at] ^= 1;
            assert_eq!(inflater.decode(&damaged, &mut vec![0; 1000]), None);
        }
    }
}
