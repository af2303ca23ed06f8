//! Copies that run past their end: the fast half of the LZ77 decoders, and the only `unsafe` of
//! this crate.
//!
//! Most copies of such a stream are shorter than a register. Copying a whole register and advancing
//! by less is one load and one store; copying the right number of bytes is a call. So these loops
//! go on as long as some bytes are left in the stream and in the destination (the margin of each
//! codec), test once for each instruction that it ends before the margin, and hand the rest, and
//! everything doubtful, to the plain decoder of the codec: it starts where they stopped, and finds
//! the errors. What they accept is what it would, which the tests of the codecs compare.
//!
//! Their access goes through [`load`] and [`store`]. The encoders have the comparison of long
//! matches from here, and words at places that were tested before.

#[cfg(feature = "zlib")]
pub(crate) mod adler;
mod blosclz;
#[cfg(feature = "zlib")]
pub(crate) mod deflate;
mod lz4;
mod place;

pub(crate) use place::{Ground, Place};

/// Bytes that stay free behind a copy: its longest step.
const STEP: usize = 32;

/// With so many bytes more than are wanted in the destination, these loops mostly make all that are
/// wanted: at least the margin of each of them.
pub(crate) const MARGIN: usize = 2 * STEP;

/// Bytes from which on the library's copies, which find out first what the machine can do, are
/// worth their call.
const LONG: usize = 512;

/// The same where steps are taken one by one.
const LONG_BY_ONE: usize = 128;

/// Whether the loops compiled for AVX2 and BMI2 can run: a step is one register there, not two.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("bmi2")
}

/// A codec with a fast half of a decoder.
pub(crate) trait FastHalf {
    /// Decodes whole instructions from the start of `src` and returns how far it read and wrote: to
    /// where the margin begins, or to the first instruction that is doubtful. With `UNCACHED`,
    /// lines of the destination are fetched ahead.
    fn decode_plain<const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize);
}

/// [`FastHalf::decode_plain`], compiled for the widest registers that the machine has.
#[inline]
pub(crate) fn decode<C: FastHalf, const UNCACHED: bool>(
    src: &[u8],
    dest: &mut [u8],
) -> (usize, usize) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if has_avx2() {
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { decode_avx2::<C, UNCACHED>(src, dest) };
    }
    C::decode_plain::<UNCACHED>(src, dest)
}

/// As [`decode`], with registers of a whole step.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2,bmi2")]
fn decode_avx2<C: FastHalf, const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
    C::decode_plain::<UNCACHED>(src, dest)
}

/// Called on ways that the compiler shall lay aside, so that the usual one runs straight on and
/// keeps the registers.
#[cold]
fn aside() {}

/// Has the lines brought to the cache that are `AHEAD` bytes behind a copy of `len` bytes to `to`.
/// A match that reads what was written just before waits until that is in the cache, and long
/// matches write faster than lines get there.
#[inline(always)]
fn fetch(dest: &[u8], to: usize, len: usize) {
    let mut line = 0;
    while line < len {
        let place = dest.as_ptr().wrapping_add(to + AHEAD + line);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: a hint, which may be of any place, and of which the program sees nothing.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = place;
        line += 64;
    }
}

/// How far ahead lines are fetched: what long matches write while one gets there.
const AHEAD: usize = 4 << 10;

/// The `N` bytes from `at`.
///
/// # Safety
///
/// `at + N <= bytes.len()`.
#[inline(always)]
unsafe fn load<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    // SAFETY: the caller's promise.
    let part = unsafe { bytes.get_unchecked(at..at + N) };
    let mut value = [0; N];
    value.copy_from_slice(part);
    value
}

/// Writes `value` at `at`.
///
/// # Safety
///
/// `at + N <= bytes.len()`.
#[inline(always)]
unsafe fn store<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    // SAFETY: the caller's promise.
    let part = unsafe { bytes.get_unchecked_mut(at..at + N) };
    part.copy_from_slice(&value);
}

/// Copies `N` bytes within `bytes`, all loaded before any is stored.
///
/// # Safety
///
/// `from + N <= bytes.len()` and `to + N <= bytes.len()`.
#[inline(always)]
unsafe fn again<const N: usize>(bytes: &mut [u8], from: usize, to: usize) {
    // SAFETY: the caller's first promise.
    let value = unsafe { load::<N>(bytes, from) };
    // SAFETY: the caller's second promise.
    unsafe { store(bytes, to, value) };
}

/// How many bytes agree, by steps of two registers of AVX-512, between which there is no branch;
/// `None` without it.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline(always)]
pub(crate) fn common_avx512(here: &[u8], there: &[u8]) -> Option<usize> {
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
    fn common(here: &[u8], there: &[u8]) -> usize {
        super::common_steps(here, there, |x: &[u8; 128], y: &[u8; 128]| {
            let ([x, x_2], [y, y_2]) = (x.as_chunks().0, y.as_chunks().0) else { return None };
            let [a, b] = [differences_avx512(x, y), differences_avx512(x_2, y_2)];
            // Nothing foretells in which half a match ends.
            let second = u32::from(a != 0).wrapping_sub(1);
            (a | b != 0).then_some((a.trailing_zeros() + (b.trailing_zeros() & second)) as usize)
        })
    }
    // SAFETY: the machine has what the function is compiled for.
    (std::is_x86_feature_detected!("avx512bw") && has_avx2())
        .then(|| unsafe { common(here, there) })
}

/// A bit for each byte that differs.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn differences_avx512(x: &[u8; 64], y: &[u8; 64]) -> u64 {
    use core::arch::x86_64::{__m512i, _mm512_cmpneq_epi8_mask, _mm512_loadu_si512};
    let register = |line: &[u8; 64]| {
        // SAFETY: 64 bytes are read, at any address.
        unsafe { _mm512_loadu_si512(line.as_ptr().cast::<__m512i>()) }
    };
    _mm512_cmpneq_epi8_mask(register(x), register(y))
}

/// How many bytes agree, by twice as long steps as without AVX2; `None` without it.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline(always)]
pub(crate) fn common_avx2(here: &[u8], there: &[u8]) -> Option<usize> {
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn common(here: &[u8], there: &[u8]) -> usize {
        super::common_steps(here, there, |x: &[u8; 64], y: &[u8; 64]| {
            let differences = differences_avx2(x, y);
            (differences != 0).then(|| differences.trailing_zeros() as usize)
        })
    }
    // SAFETY: the machine has what the function is compiled for.
    has_avx2().then(|| unsafe { common(here, there) })
}

/// A bit for each byte that differs.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
#[target_feature(enable = "avx2")]
fn differences_avx2(x: &[u8; 64], y: &[u8; 64]) -> u64 {
    use core::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    };
    let (x, y) = (x.as_chunks::<32>().0, y.as_chunks::<32>().0);
    let register = |half: &[u8; 32]| {
        // SAFETY: 32 bytes are read, at any address.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast::<__m256i>()) }
    };
    let equal = |at: usize| {
        let equal = _mm256_movemask_epi8(_mm256_cmpeq_epi8(register(&x[at]), register(&y[at])));
        u64::from(equal.cast_unsigned())
    };
    !(equal(0) | equal(1) << 32)
}

/// Position of the first difference, if there is one.
#[cfg(target_feature = "sse2")]
#[inline(always)]
pub(crate) fn first_difference(x: &[u8; 32], y: &[u8; 32]) -> Option<usize> {
    // SAFETY: the program is compiled for SSE2.
    let differences = unsafe { differences(x, y) };
    (differences != 0).then(|| differences.trailing_zeros() as usize)
}

/// A bit for each byte that differs.
#[cfg(target_feature = "sse2")]
#[inline]
#[target_feature(enable = "sse2")]
fn differences(x: &[u8; 32], y: &[u8; 32]) -> u32 {
    use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};
    let (x, y) = (x.as_chunks::<16>().0, y.as_chunks::<16>().0);
    let register = |half: &[u8; 16]| {
        // Put together from two words, it is at times loaded in two pieces as well.
        // SAFETY: 16 bytes are read, at any address.
        unsafe { _mm_loadu_si128(half.as_ptr().cast::<__m128i>()) }
    };
    let equal = |at: usize| {
        _mm_movemask_epi8(_mm_cmpeq_epi8(register(&x[at]), register(&y[at]))).cast_unsigned()
    };
    !(equal(0) | equal(1) << 16)
}

/// Copies a literal run of `len` bytes.
///
/// # Safety
///
/// `from + len + STEP <= src.len()` and `to + len + STEP <= dest.len()`.
#[inline(always)]
unsafe fn literals(src: &[u8], from: usize, dest: &mut [u8], to: usize, len: usize) {
    let mut done = 0;
    // Two steps with an exit between them: a loop of one is made a call of the library's copy,
    // which takes longer to start, and for long runs uses an instruction that is slow unless
    // both sides are aligned alike.
    loop {
        // SAFETY: `done <= len`, and there are 32 bytes more.
        let value = unsafe { load::<32>(src, from + done) };
        // SAFETY: likewise.
        unsafe { store(dest, to + done, value) };
        if done + 32 >= len {
            return;
        }
        // SAFETY: `done + 32 < len`, and there are 32 bytes more.
        let value = unsafe { load::<32>(src, from + done + 32) };
        // SAFETY: likewise.
        unsafe { store(dest, to + done + 32, value) };
        done += 64;
        if done >= len {
            return;
        }
    }
}

/// `base` and the bytes from `at` that extend it, and where they end; a length that passes every
/// end when they do not end before `src_end`.
///
/// # Safety
///
/// `at < src.len()`.
#[inline(always)]
unsafe fn length(base: usize, src: &[u8], at: usize, src_end: usize) -> (usize, usize) {
    // SAFETY: the caller's promise.
    let [more] = unsafe { load(src, at) };
    if more == u8::MAX {
        long_length(base, src, at, src_end)
    } else {
        (base + usize::from(more), at + 1)
    }
}

/// As [`length`], for long ones; out of the way of the others.
#[cold]
#[inline(never)]
fn long_length(mut len: usize, src: &[u8], mut at: usize, src_end: usize) -> (usize, usize) {
    while let Some(&more) = src[..src_end].get(at) {
        at += 1;
        len += usize::from(more);
        if more != u8::MAX {
            return (len, at);
        }
    }
    (isize::MAX as usize / 2, src_end)
}

/// For distances below 8: the bits of that many bytes.
const MASKS: [u64; 8] = {
    let mut masks = [0; 8];
    let mut distance = 1;
    while distance < 8 {
        masks[distance] = (1 << (8 * distance)) - 1;
        distance += 1;
    }
    masks
};

/// For distances below 8: what repeats that many bytes over 8 when multiplied by them.
const REPEATS: [u64; 8] = {
    let mut repeats = [0; 8];
    let mut distance = 1;
    while distance < 8 {
        let mut at = 0;
        while at < 8 {
            repeats[distance] |= 1 << (8 * at);
            at += distance;
        }
        distance += 1;
    }
    repeats
};

/// For distances below 8: the largest multiple of them up to 8.
const STRIDES: [usize; 8] = [0, 8, 8, 6, 8, 5, 6, 7];

/// The 8 bytes that go on from `to` with a period of `distance`.
///
/// # Safety
///
/// `0 < distance < 8`, `distance <= to` and `to + 8 <= bytes.len()`.
#[inline(always)]
unsafe fn period(bytes: &[u8], to: usize, distance: usize) -> [u8; 8] {
    // SAFETY: the caller's promise; what lies behind `to` is masked away.
    let word = u64::from_le_bytes(unsafe { load(bytes, to - distance) });
    (word & MASKS[distance & 7]).wrapping_mul(REPEATS[distance & 7]).to_le_bytes()
}

/// Repeats up to 8 bytes from `distance` back.
///
/// # Safety
///
/// `0 < distance <= to` and `to + 8 <= dest.len()`.
#[inline(always)]
unsafe fn tiny_match(dest: &mut [u8], to: usize, distance: usize) {
    if distance >= 8 {
        // SAFETY: the caller's promise.
        unsafe { again::<8>(dest, to.wrapping_sub(distance), to) };
    } else {
        // SAFETY: likewise.
        let word = unsafe { period(dest, to, distance) };
        // SAFETY: likewise.
        unsafe { store(dest, to, word) };
    }
}

/// Repeats up to 18 bytes from `distance` back.
///
/// # Safety
///
/// `8 <= distance <= to` and `to + 18 <= dest.len()`.
#[inline(always)]
unsafe fn short_match(dest: &mut [u8], to: usize, distance: usize) {
    let from = to.wrapping_sub(distance);
    // Not by 16 where it could be: what was written last is not yet in the cache, and is read
    // sooner in small pieces. SAFETY: `from < to`, and 18 bytes are free from `to` on; each
    // step reads what the one before has written.
    unsafe { again::<8>(dest, from, to) };
    // SAFETY: likewise.
    unsafe { again::<8>(dest, from + 8, to + 8) };
    // SAFETY: likewise.
    unsafe { again::<2>(dest, from + 16, to + 16) };
}

/// As [`short_match`] for the other distances.
///
/// # Safety
///
/// `0 < distance < 8`, `distance <= to` and `to + 32 <= dest.len()`.
#[inline(always)]
unsafe fn short_period(dest: &mut [u8], to: usize, distance: usize) {
    // SAFETY: the caller's promise.
    let word = unsafe { period(dest, to, distance) };
    let stride = STRIDES[distance & 7];
    for step in 0..4 {
        // SAFETY: 3 strides of at most 8, and 8 bytes.
        unsafe { store(dest, to + step * stride, word) };
    }
}

/// Repeats `len` bytes from `distance` back, with an exit after so many `STEPS` (1 or 2) where
/// there is room.
///
/// # Safety
///
/// `0 < distance <= to` and `to + len + 32 <= dest.len()`.
#[inline(always)]
unsafe fn long_match<const STEPS: usize>(dest: &mut [u8], to: usize, distance: usize, len: usize) {
    let from = to.wrapping_sub(distance);
    let by_library = len >= if STEPS > 1 { LONG } else { LONG_BY_ONE };
    let is_roomy = STEPS > 1 && to + len + STEPS * STEP <= dest.len();
    if distance >= 32 {
        if by_library && distance >= len {
            return dest.copy_within(from..from + len, to);
        }
        if is_roomy {
            // SAFETY: all these steps are free behind the match.
            unsafe { repeat::<32, STEPS>(dest, from, to, len) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { repeat::<32, 1>(dest, from, to, len) };
        }
    } else if distance.is_power_of_two() {
        // SAFETY: likewise.
        let (low, high) = unsafe { period16(dest, to, distance) };
        let [byte, ..] = low.to_le_bytes();
        if by_library && low == high && low == u64::from(byte) * (u64::MAX / 255) {
            return dest[to..to + len].fill(byte);
        }
        let mut step = [0; STEP];
        for (to, half) in step.as_chunks_mut::<8>().0.iter_mut().zip([low, high, low, high]) {
            *to = half.to_le_bytes();
        }
        if is_roomy {
            // SAFETY: all these steps are free behind the match.
            unsafe { fill::<STEPS>(dest, to, len, step) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { fill::<1>(dest, to, len, step) };
        }
    } else if distance >= 16 {
        // SAFETY: likewise.
        unsafe { repeat::<16, 1>(dest, from, to, len) };
    } else if distance >= 8 {
        // SAFETY: likewise.
        unsafe { repeat::<8, 1>(dest, from, to, len) };
    } else {
        // SAFETY: the caller's promise.
        let word = unsafe { period(dest, to, distance) };
        let mut done = 0;
        while done < len {
            // SAFETY: `done < len`, and 32 bytes more are free.
            unsafe { store(dest, to + done, word) };
            done += STRIDES[distance & 7];
        }
    }
}

/// Copies `len` bytes in steps of `N`, with an exit after so many `STEPS`: nothing foretells where
/// a match ends.
///
/// # Safety
///
/// `from < to` and `to + len + N * STEPS <= dest.len()`.
#[inline(always)]
unsafe fn repeat<const N: usize, const STEPS: usize>(
    dest: &mut [u8],
    from: usize,
    to: usize,
    len: usize,
) {
    let mut done = 0;
    loop {
        for _ in 0..STEPS {
            // SAFETY: at most `len` bytes are before the first of these steps, and all of them are
            // free.
            unsafe { again::<N>(dest, from + done, to + done) };
            done += N;
        }
        if done >= len {
            return;
        }
    }
}

/// Writes a step again and again over `len` bytes, with an exit after so many `STEPS`.
///
/// # Safety
///
/// `to + len + STEP * STEPS <= dest.len()`.
#[inline(always)]
unsafe fn fill<const STEPS: usize>(dest: &mut [u8], to: usize, len: usize, step: [u8; STEP]) {
    let mut done = 0;
    loop {
        for _ in 0..STEPS {
            // SAFETY: at most `len` bytes are before the first of these steps, and all of them are
            // free.
            unsafe { store(dest, to + done, step) };
            done += STEP;
        }
        if done >= len {
            return;
        }
    }
}

/// The 16 bytes that go on from `to` with a period of 1, 2, 4, 8 or 16 bytes, in two halves: put
/// together in memory, they would not be there yet when they are read.
///
/// # Safety
///
/// `0 < distance <= to` and `to + 8 <= bytes.len()`.
#[inline(always)]
unsafe fn period16(bytes: &[u8], to: usize, distance: usize) -> (u64, u64) {
    let low = if distance <= 2 {
        // A byte comes from the store that wrote it. A word that two stores wrote, as is usual
        // where a run goes on behind other matches, waits until both are in the cache.
        // SAFETY: a place before `to`.
        let [first] = unsafe { load(bytes, to - distance) };
        // SAFETY: likewise.
        let [last] = unsafe { load(bytes, to - 1) };
        (u64::from(u16::from_le_bytes([first, last])) * (u64::MAX / 0xFFFF)).to_le_bytes()
    } else if distance < 8 {
        // SAFETY: the caller's promise.
        unsafe { period(bytes, to, distance) }
    } else {
        // SAFETY: 8 bytes up to `to`.
        unsafe { load(bytes, to - distance) }
    };
    // SAFETY: 8 bytes up to `to`.
    let high = if distance < 16 { low } else { unsafe { load(bytes, to - 8) } };
    (u64::from_le_bytes(low), u64::from_le_bytes(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn matches_repeat_byte_by_byte() {
        let start: Vec<u8> = (0..40).collect();
        for distance in 1..=40 {
            for len in (0..100).chain([127, 128, 511, 512, 700]) {
                let mut expected = start.clone();
                (0..len).for_each(|_| expected.push(expected[expected.len() - distance]));
                let mut dest = start.clone();
                dest.resize(40 + len + 32, 0xEE);
                // SAFETY: 32 bytes are free behind the match.
                unsafe { long_match::<1>(&mut dest, 40, distance, len) };
                assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                for room in [32, 63, 64] {
                    let mut dest = start.clone();
                    dest.resize(40 + len + room, 0xEE);
                    // SAFETY: as many bytes, or more.
                    unsafe { long_match::<2>(&mut dest, 40, distance, len) };
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
                if len <= 18 {
                    let mut dest = start.clone();
                    dest.resize(40 + 32, 0xEE);
                    if distance < 8 {
                        // SAFETY: likewise.
                        unsafe { short_period(&mut dest, 40, distance) };
                    } else {
                        // SAFETY: likewise.
                        unsafe { short_match(&mut dest, 40, distance) };
                    }
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
                if len <= 8 {
                    let mut dest = start.clone();
                    dest.resize(40 + 8, 0xEE);
                    // SAFETY: likewise.
                    unsafe { tiny_match(&mut dest, 40, distance) };
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
            }
        }
    }

    #[test]
    fn literals_are_copied_to_their_end() {
        let src: Vec<u8> = (0..200).collect();
        for len in 0..100 {
            let mut dest = [0; 200];
            // SAFETY: both are long enough.
            unsafe { literals(&src, 3, &mut dest, 5, len) };
            assert_eq!(dest[5..5 + len], src[3..3 + len]);
        }
    }
}
