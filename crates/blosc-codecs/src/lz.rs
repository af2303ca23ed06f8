//! What the LZ77 codecs share: loading, comparing, copying matches, and writing into a limited
//! room.
//!
//! A match may overlap the bytes it makes (distance 3, length 20 repeats three bytes), so it cannot
//! be one `memmove`.

#[allow(unsafe_code)]
pub(crate) mod wild;

use alloc::boxed::Box;
use core::hint::select_unpredictable;

#[cfg(target_feature = "sse2")]
use wild::first_difference;

/// Little-endian 32-bit value at `at`.
#[inline(always)]
pub(crate) fn load32(src: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&src[at..at + 4]);
    u32::from_le_bytes(bytes)
}

/// Little-endian 64-bit value at `at`.
#[inline(always)]
pub(crate) fn load64(src: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&src[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// How many bytes from `at` up to `end` equal those from `earlier`; `earlier < at <= end <=
/// src.len()`.
#[inline(always)]
pub(crate) fn common_len(src: &[u8], earlier: usize, at: usize, end: usize) -> usize {
    let here = &src[at..end];
    let there = &src[earlier..];
    let (Some(x), Some(y)) = (here.get(..16), there.get(..16)) else {
        return common_tail(here, there, 0);
    };
    let [first, second] = [load64(x, 0) ^ load64(y, 0), load64(x, 8) ^ load64(y, 8)];
    if first | second == 0 {
        return common_long(here, there);
    }
    // Nothing foretells in which word a match ends.
    let bytes = |word: u64| word.trailing_zeros() as usize / 8;
    select_unpredictable(first == 0, 8 + bytes(second), bytes(first))
}

/// Position of the first difference in the 8 bytes from `at`, or 8; `None` when so many are not
/// there.
#[inline(always)]
fn differing(here: &[u8], there: &[u8], at: usize) -> Option<usize> {
    let (x, y) = (here.get(at..at + 8)?, there.get(at..at + 8)?);
    Some((load64(x, 0) ^ load64(y, 0)).trailing_zeros() as usize / 8)
}

/// In large steps, as most matches that are not short are long: the fewer the ways out of the loop,
/// the better they are foretold.
fn common_long(here: &[u8], there: &[u8]) -> usize {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if let Some(len) = wild::common_avx512(here, there).or_else(|| wild::common_avx2(here, there)) {
        return len;
    }
    common_steps(here, there, first_difference)
}

/// As [`common_long`], by `first`, which gives the position of the first difference of a step.
#[inline(always)]
fn common_steps<const N: usize>(
    here: &[u8],
    there: &[u8],
    first: impl Fn(&[u8; N], &[u8; N]) -> Option<usize>,
) -> usize {
    let (steps, _) = here.as_chunks::<N>();
    for (n, (x, y)) in steps.iter().zip(there.as_chunks::<N>().0).enumerate() {
        if let Some(len) = first(x, y) {
            return N * n + len;
        }
    }
    common_tail(here, there, N * steps.len().min(there.len() / N))
}

/// Position of the first difference, if there is one.
#[cfg(not(target_feature = "sse2"))]
#[inline(always)]
fn first_difference(x: &[u8; 32], y: &[u8; 32]) -> Option<usize> {
    let mut words = (0..32).step_by(8).map(|at| (at, load64(x, at) ^ load64(y, at)));
    words.find(|(_, word)| *word != 0).map(|(at, word)| at + word.trailing_zeros() as usize / 8)
}

/// As [`common_long`] from `from` on, where less than a step is left.
fn common_tail(here: &[u8], there: &[u8], mut from: usize) -> usize {
    while let Some(len) = differing(here, there, from) {
        from += len;
        if len < 8 {
            return from;
        }
    }
    from + here[from..].iter().zip(&there[from..]).take_while(|(x, y)| x == y).count()
}

/// How many bytes right before `at` equal those right before `earlier`, down to `low`; `at -
/// earlier <= low <= at`.
#[inline(always)]
pub(crate) fn common_len_before(src: &[u8], earlier: usize, at: usize, low: usize) -> usize {
    if at == low || src[at - 1] != src[earlier - 1] {
        return 0;
    }
    let here = &src[low..at];
    let there = &src[low + earlier - at..earlier];
    let (mut len, mut last) = (0, 8);
    while last == 8 && here.len() - len >= 8 {
        let (x, y) = (load64(here, here.len() - len - 8), load64(there, here.len() - len - 8));
        last = (x ^ y).leading_zeros() as usize / 8;
        len += last;
    }
    if last < 8 {
        return len;
    }
    len + here.iter().rev().zip(there.iter().rev()).skip(len).take_while(|(x, y)| x == y).count()
}

/// Positions of earlier words, by hash.
///
/// Entries are absolute: each stream starts where the one before ended, and a gap beyond the
/// longest distance, so what is left of former streams is too far away to be taken, and the table
/// is hardly ever cleared.
pub(crate) struct Table<const SIZE: usize> {
    slots: Box<[u32; SIZE]>,
    /// Absolute position of the next stream's first byte.
    next: u32,
}

impl<const SIZE: usize> Table<SIZE> {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([0; SIZE]), next: u32::MAX }
    }

    /// Takes a new stream of `nbytes`, in which no distance passes `REACH`; `None` when it is too
    /// long.
    ///
    /// Of the hashes, `BITS` are used. Both are known when the search is compiled: each place that
    /// it looks at needs them.
    pub(crate) fn start<const BITS: u32, const REACH: u32>(
        &mut self,
        nbytes: usize,
    ) -> Option<Stream<'_, SIZE, BITS, REACH>> {
        const { assert!(1 << BITS <= SIZE) };
        let nbytes = u32::try_from(nbytes).ok()?;
        // Zeros, what a new table holds, are as far away as what former streams left.
        let lowest = REACH + 1;
        if self.next.checked_add(nbytes).is_none_or(|end| end > u32::MAX - lowest) {
            *self.slots = [0; SIZE];
            self.next = lowest;
        }
        let base = self.next;
        self.next = base.checked_add(nbytes)?.checked_add(lowest)?;
        Some(Stream { slots: &mut self.slots, base })
    }
}

/// The table, in use by one stream.
pub(crate) struct Stream<'a, const SIZE: usize, const BITS: u32, const REACH: u32> {
    slots: &'a mut [u32; SIZE],
    base: u32,
}

impl<const SIZE: usize, const BITS: u32, const REACH: u32> Stream<'_, SIZE, BITS, REACH> {
    /// The last place before `at` where a word of this hash stood, if it is within reach; `at`
    /// takes its place.
    #[inline(always)]
    pub(crate) fn replace(&mut self, hash: u32, at: usize) -> Option<usize> {
        let distance = self.exchange(hash, at);
        (distance.wrapping_sub(1) < REACH).then(|| at.wrapping_sub(distance as usize))
    }

    /// As [`replace`](Self::replace), that place even if it is beyond reach; what is not before
    /// `at` if there is none.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a stream has less than 4 GiB")]
    pub(crate) fn swap(&mut self, hash: u32, at: usize) -> u32 {
        let slot = &mut self.slots[(hash >> (32 - BITS)) as usize & (SIZE - 1)];
        core::mem::replace(slot, self.base.wrapping_add(at as u32)).wrapping_sub(self.base)
    }

    /// As [`replace`](Self::replace), the distance to that place, or 0 if it is beyond 65535.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mask, and what it leaves"
    )]
    pub(crate) fn link(&mut self, hash: u32, at: usize) -> u16 {
        let distance = self.exchange(hash, at);
        // All ones if it is below 65536: nothing foretells which it is, and compilers make branches
        // of comparisons.
        let mask = (i64::from(distance) - (1 << 16)) >> 63;
        (distance & mask as u32) as u16
    }

    /// Puts `at` in the place of the last one with this hash.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a stream has less than 4 GiB")]
    pub(crate) fn note(&mut self, hash: u32, at: usize) {
        self.slots[(hash >> (32 - BITS)) as usize & (SIZE - 1)] = self.base.wrapping_add(at as u32);
    }

    /// The distance from the last place with this hash, or what is left of former streams, to `at`.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a stream has less than 4 GiB")]
    fn exchange(&mut self, hash: u32, at: usize) -> u32 {
        (at as u32).wrapping_sub(self.swap(hash, at))
    }
}

/// Repeats `len` bytes from `distance` back; `0 < distance <= at` and `at + len <= dest.len()`.
#[inline(always)]
pub(crate) fn copy_match(dest: &mut [u8], at: usize, distance: usize, len: usize) {
    let end = at + len;
    if distance >= 16 && end + 16 <= dest.len() {
        let mut to = at;
        while to < end {
            dest.copy_within(to - distance..to - distance + 16, to);
            to += 16;
        }
    } else if distance == 1 {
        let byte = dest[at - 1];
        dest[at..end].fill(byte);
    } else {
        copy_doubling(dest, at, distance, len);
    }
}

/// As [`copy_match`], by copying what is there, then twice as much, and so on.
fn copy_doubling(dest: &mut [u8], at: usize, distance: usize, len: usize) {
    let from = at - distance;
    let mut done = 0;
    while done < len {
        let n = (distance + done).min(len - done);
        dest.copy_within(from..from + n, at + done);
        done += n;
    }
}

/// Writes to the start of a slice until it is full.
pub(crate) struct Room<'a> {
    dest: &'a mut [u8],
    len: usize,
}

impl<'a> Room<'a> {
    pub(crate) fn new(dest: &'a mut [u8]) -> Self {
        Self { dest, len: 0 }
    }

    /// Bytes written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that still fit.
    pub(crate) fn left(&self) -> usize {
        self.dest.len() - self.len
    }

    #[must_use]
    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) -> Option<()> {
        *self.dest.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    #[must_use]
    #[inline(always)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.dest.get_mut(self.len..self.len + bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    /// `n` times the same byte.
    #[must_use]
    #[inline(always)]
    pub(crate) fn repeat(&mut self, byte: u8, n: usize) -> Option<()> {
        self.dest.get_mut(self.len..self.len + n)?.fill(byte);
        self.len += n;
        Some(())
    }

    /// As [`bytes`](Self::bytes) for `src[from..from + len]` of up to 32 bytes. Copies 32 where it
    /// may, since a copy of fixed length is one of few instructions.
    #[must_use]
    #[inline(always)]
    pub(crate) fn short(&mut self, src: &[u8], from: usize, len: usize) -> Option<()> {
        match (src.get(from..from + 32), self.dest.get_mut(self.len..self.len + 32)) {
            (Some(from), Some(to)) => {
                to.copy_from_slice(from);
                self.len += len;
                Some(())
            }
            _ => self.bytes(&src[from..from + len]),
        }
    }

    /// The next `N` bytes, if there are so many; nothing is written until [`skip`](Self::skip) says
    /// so.
    #[inline(always)]
    pub(crate) fn next<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.dest.get_mut(self.len..)?.first_chunk_mut()
    }

    /// Takes the next `n` bytes, which are there, for written.
    #[inline(always)]
    pub(crate) fn skip(&mut self, n: usize) {
        self.len += n;
    }

    /// The bytes written, to be mended.
    pub(crate) fn written(&mut self) -> &mut [u8] {
        &mut self.dest[..self.len]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EncodeOptions, Error, Level, StreamEncoder};
    use alloc::{vec, vec::Vec};
    use blosc_testdata::data::{Kind, XorShift32};

    /// Compares two decoders on good, damaged and cut streams: the same verdict, and the same bytes
    /// if it is good.
    pub(crate) fn twins(
        encoder: impl Fn(&EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error>,
        fast: impl Fn(&[u8], &mut [u8]) -> Result<(), Error>,
        plain: impl Fn(&[u8], &mut [u8]) -> Result<(), Error>,
    ) {
        let compare = |stream: &[u8], nbytes: usize| {
            let (mut ours, mut theirs) = (vec![0xA5; nbytes], vec![0x5A; nbytes]);
            let (verdict, expected) = (fast(stream, &mut ours), plain(stream, &mut theirs));
            assert_eq!(verdict, expected, "{stream:?} for {nbytes} bytes");
            assert!(verdict.is_err() || ours == theirs, "{stream:?} for {nbytes} bytes");
        };
        let mut rng = XorShift32::default();
        for kind in Kind::ALL {
            for nbytes in [20, 64, 65, 100, 128, 200, 500, 3000, 20_000] {
                let data = kind.bytes(nbytes);
                let options = EncodeOptions { level: Level::DEFAULT, ..EncodeOptions::default() };
                let mut stream = vec![0; nbytes * 2 + 64];
                let len = encoder(&options).unwrap().encode(&data, &mut stream).unwrap();
                let Some(len) = len else { continue };
                stream.truncate(len);
                compare(&stream, nbytes);
                for _ in 0..200 {
                    let mut damaged = stream.clone();
                    for _ in 0..=rng.below(3) {
                        let at = usize::try_from(rng.below(len as u64)).unwrap();
                        damaged[at] = rng.next_u32().to_le_bytes()[0];
                    }
                    let cut = usize::try_from(rng.below(len as u64 + 1)).unwrap();
                    compare(&damaged, nbytes);
                    compare(&damaged[..cut], nbytes);
                    compare(&stream, nbytes + 3 - cut % 6);
                }
            }
        }
    }

    /// Compares prefixes with the data, and lets damaged streams do what they can.
    pub(crate) fn prefixes(
        encoder: impl Fn(&EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error>,
        decode: impl Fn(&[u8], &mut [u8], usize) -> Result<(), Error>,
    ) {
        let mut rng = XorShift32::default();
        let mut below = |n: usize| usize::try_from(rng.below(n as u64)).unwrap();
        for kind in Kind::ALL {
            for nbytes in [20, 65, 100, 200, 3000, 20_000] {
                let data = kind.bytes(nbytes);
                let mut stream = vec![0; nbytes * 2 + 64];
                let len =
                    encoder(&EncodeOptions::default()).unwrap().encode(&data, &mut stream).unwrap();
                let Some(len) = len else { continue };
                stream.truncate(len);
                for turn in 0..300 {
                    let wanted = if turn < 100 { turn.min(nbytes) } else { below(nbytes + 1) };
                    let mut dest = vec![0xA5; nbytes];
                    decode(&stream, &mut dest, wanted).unwrap();
                    assert_eq!(dest[..wanted], data[..wanted], "{wanted} of {nbytes}");
                    let at = below(len);
                    let sound = core::mem::replace(&mut stream[at], below(256).to_le_bytes()[0]);
                    let _ = decode(&stream[..below(len + 1)], &mut dest, wanted);
                    stream[at] = sound;
                }
            }
        }
    }

    #[test]
    fn copy_match_repeats_byte_by_byte() {
        let start: Vec<u8> = (0..40).collect();
        for distance in 1..=40 {
            for len in 0..100 {
                for slack in [0, 40] {
                    let mut expected = start.clone();
                    (0..len).for_each(|_| expected.push(expected[expected.len() - distance]));
                    let mut dest = start.clone();
                    dest.resize(40 + len + slack, 0xEE);
                    copy_match(&mut dest, 40, distance, len);
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
            }
        }
    }

    #[test]
    fn tables_forget_what_is_out_of_reach_and_former_streams() {
        let mut table = Table::<256>::new();
        for _ in 0..3 {
            let mut stream = table.start::<8, 65_535>(200_000).unwrap();
            assert_eq!(stream.link(5 << 24, 0), 0);
            assert_eq!(stream.link(5 << 24, 65_535), 65_535);
            assert_eq!(stream.link(5 << 24, 131_071), 0);
            assert_eq!(stream.replace(5 << 24, 196_606), Some(131_071));
            assert_eq!(stream.replace(6 << 24, 196_606), None);
        }
    }

    #[test]
    fn common_len_before_stops_at_the_low_end_and_at_a_difference() {
        let mut src = [7u8; 64];
        for low in 3..=60 {
            assert_eq!(common_len_before(&src, 57, 60, low), 60 - low);
        }
        for at in 0..56 {
            src[at] = 8;
            assert_eq!(common_len_before(&src, 57, 60, 3), 56 - at);
            src[at] = 7;
        }
    }

    #[test]
    fn common_len_stops_at_the_end_and_at_a_difference() {
        let mut src = [7u8; 400];
        for end in [1, 9, 64, 137, 138, 265, 300, 400] {
            assert_eq!(common_len(&src, 0, 1, end), end - 1);
            for at in 1..end {
                src[at] = 8;
                assert_eq!(common_len(&src, 0, 1, end), at - 1);
                src[at] = 7;
            }
        }
    }
}
