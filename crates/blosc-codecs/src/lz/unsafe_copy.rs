//! Copies of the fast decoders, which run past their end.
//!
//! Most literal runs and matches are shorter than a register. Copying a whole register and
//! advancing by less is one load and one store; copying the exact number of bytes is a call. So
//! each copy here writes up to [`STEP`] bytes more than requested, and its caller keeps that many
//! free (the margins of each decoder). The next instruction overwrites the bytes after the end.
//!
//! A match may overlap its own output: distance 3 and length 20 repeat three bytes. At distances of
//! a step or more, each step reads the output of the steps before. For shorter distances, the
//! period is assembled in a register and stored repeatedly.
//!
//! All memory access goes through [`load`] and [`store`]. `docs/performance/lz4.md` lists the
//! attempts.

/// Bytes that stay free after a copy: its longest step.
pub(crate) const STEP: usize = 32;

/// Match length (bytes) from which a call of `memmove` or `memset` is faster, although they first
/// query the machine.
const LIBRARY_COPY_NBYTES: usize = 512;

/// The same for steps that are taken one at a time.
const LIBRARY_COPY_NBYTES_BY_ONE: usize = 128;

/// The `N` bytes from `at`.
///
/// # Safety
///
/// `at + N <= bytes.len()`.
#[inline(always)]
pub(crate) unsafe fn load<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    // SAFETY: `at + N <= bytes.len()`, as this function requires.
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
pub(crate) unsafe fn store<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    // SAFETY: `at + N <= bytes.len()`, as this function requires.
    let part = unsafe { bytes.get_unchecked_mut(at..at + N) };
    part.copy_from_slice(&value);
}

/// Copies `N` bytes within `bytes`, all loaded before any is stored.
///
/// # Safety
///
/// `from + N <= bytes.len()` and `to + N <= bytes.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_within_fixed<const N: usize>(bytes: &mut [u8], from: usize, to: usize) {
    // SAFETY: `from + N <= bytes.len()`, as this function requires.
    let value = unsafe { load::<N>(bytes, from) };
    // SAFETY: `to + N <= bytes.len()`, as this function requires.
    unsafe { store(bytes, to, value) };
}

/// Copies a literal run of `len` bytes.
///
/// # Safety
///
/// `from + len + STEP <= src.len()` and `to + len + STEP <= dest.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_literals(
    src: &[u8],
    from: usize,
    dest: &mut [u8],
    to: usize,
    len: usize,
) {
    let mut done = 0;
    // Two steps with an exit between them. The compiler would turn a loop of one step into a call
    // of `memcpy`, which takes longer to start, and for long runs uses an instruction that is slow
    // unless both sides are aligned alike.
    loop {
        // SAFETY: `done <= len`, so a step from `from + done` ends within `from + len + STEP`.
        let value = unsafe { load::<STEP>(src, from + done) };
        // SAFETY: `done <= len`, so a step from `to + done` ends within `to + len + STEP`.
        unsafe { store(dest, to + done, value) };
        if done + STEP >= len {
            return;
        }
        // SAFETY: `done + STEP < len`, so this step ends within `from + len + STEP`.
        let value = unsafe { load::<STEP>(src, from + done + STEP) };
        // SAFETY: `done + STEP < len`, so this step ends within `to + len + STEP`.
        unsafe { store(dest, to + done + STEP, value) };
        done += 2 * STEP;
        if done >= len {
            return;
        }
    }
}

/// `base` plus the length bytes from `at` on (255 means that another one follows), and the position
/// after them. If they do not end before `src_end`, the length exceeds any slice.
///
/// # Safety
///
/// `at < src.len()`.
#[inline(always)]
pub(crate) unsafe fn read_length(
    base: usize,
    src: &[u8],
    at: usize,
    src_end: usize,
) -> (usize, usize) {
    // SAFETY: `at < src.len()`, as this function requires.
    let [more] = unsafe { load(src, at) };
    if more == u8::MAX {
        read_long_length(base, src, at, src_end)
    } else {
        (base + usize::from(more), at + 1)
    }
}

/// As [`read_length`], for several bytes; kept out of the decoders' loops.
#[cold]
#[inline(never)]
fn read_long_length(mut len: usize, src: &[u8], mut at: usize, src_end: usize) -> (usize, usize) {
    while let Some(&more) = src[..src_end].get(at) {
        at += 1;
        len += usize::from(more);
        if more != u8::MAX {
            return (len, at);
        }
    }
    (isize::MAX as usize / 2, src_end)
}

/// For distances below 8: a mask with the bits of that many bytes.
const MASKS: [u64; 8] = {
    let mut masks = [0; 8];
    let mut distance = 1;
    while distance < 8 {
        masks[distance] = (1 << (8 * distance)) - 1;
        distance += 1;
    }
    masks
};

/// For distances below 8: the factor that repeats that many bytes over 8.
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

/// For distances below 8: the largest multiple of them up to 8 (bytes).
const STRIDES: [usize; 8] = [0, 8, 8, 6, 8, 5, 6, 7];

/// The 8 bytes that continue a period of `distance` bytes at `to`.
///
/// # Safety
///
/// `0 < distance < 8`, `distance <= to` and `to + 8 <= bytes.len()`.
#[inline(always)]
unsafe fn periodic_word(bytes: &[u8], to: usize, distance: usize) -> [u8; 8] {
    // SAFETY: `distance <= to` and `to + 8 <= bytes.len()`. The mask removes what comes after `to`.
    let word = u64::from_le_bytes(unsafe { load(bytes, to - distance) });
    (word & MASKS[distance & 7]).wrapping_mul(REPEATS[distance & 7]).to_le_bytes()
}

/// Copies a match of up to 8 bytes.
///
/// # Safety
///
/// `0 < distance <= to` and `to + 8 <= dest.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_tiny_match(dest: &mut [u8], to: usize, distance: usize) {
    if distance >= 8 {
        // SAFETY: `distance <= to` and `to + 8 <= dest.len()`, as this function requires.
        unsafe { copy_within_fixed::<8>(dest, to.wrapping_sub(distance), to) };
    } else {
        // SAFETY: the condition says `distance < 8`; this function requires the rest.
        let word = unsafe { periodic_word(dest, to, distance) };
        // SAFETY: `to + 8 <= dest.len()`, as this function requires.
        unsafe { store(dest, to, word) };
    }
}

/// Copies a match of up to 18 bytes.
///
/// # Safety
///
/// `8 <= distance <= to` and `to + 18 <= dest.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_short_match(dest: &mut [u8], to: usize, distance: usize) {
    let from = to.wrapping_sub(distance);
    // Two copies of 8 bytes even if the distance would allow 16 at once: the last written bytes are
    // not yet in the cache, and small pieces of them are forwarded sooner.
    // SAFETY: `from < to` and `to + 18 <= dest.len()`.
    unsafe { copy_within_fixed::<8>(dest, from, to) };
    // SAFETY: `from < to` and `to + 8 + 8 <= to + 18 <= dest.len()`.
    unsafe { copy_within_fixed::<8>(dest, from + 8, to + 8) };
    // SAFETY: `from < to` and `to + 16 + 2 <= to + 18 <= dest.len()`.
    unsafe { copy_within_fixed::<2>(dest, from + 16, to + 16) };
}

/// As [`copy_short_match`] for shorter distances.
///
/// # Safety
///
/// `0 < distance < 8`, `distance <= to` and `to + STEP <= dest.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_short_period(dest: &mut [u8], to: usize, distance: usize) {
    // SAFETY: this function requires more.
    let word = unsafe { periodic_word(dest, to, distance) };
    let stride = STRIDES[distance & 7];
    for step in 0..4 {
        // SAFETY: `step * stride + 8 <= 3 * 8 + 8 == STEP`, and `to + STEP <= dest.len()`.
        unsafe { store(dest, to + step * stride, word) };
    }
}

/// Copies a match of any length. If enough bytes are free after the match, the loops have an exit
/// after every `STEPS` steps (1 or 2).
///
/// # Safety
///
/// `0 < distance <= to` and `to + len + STEP <= dest.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_long_match<const STEPS: usize>(
    dest: &mut [u8],
    to: usize,
    distance: usize,
    len: usize,
) {
    let from = to.wrapping_sub(distance);
    let by_library =
        len >= if STEPS > 1 { LIBRARY_COPY_NBYTES } else { LIBRARY_COPY_NBYTES_BY_ONE };
    let is_roomy = STEPS > 1 && to + len + STEPS * STEP <= dest.len();
    if distance >= STEP {
        if by_library && distance >= len {
            return dest.copy_within(from..from + len, to);
        }
        if is_roomy {
            // SAFETY: `is_roomy` says that all `STEPS` steps are free after the match.
            unsafe { copy_in_steps::<STEP, STEPS>(dest, from, to, len) };
        } else {
            // SAFETY: `from < to`; one step is free after the match, as this function requires.
            unsafe { copy_in_steps::<STEP, 1>(dest, from, to, len) };
        }
    } else if distance.is_power_of_two() {
        // SAFETY: `0 < distance <= to`, and a step of more than 8 bytes is free from `to` on.
        let (low, high) = unsafe { periodic_words(dest, to, distance) };
        let [byte, ..] = low.to_le_bytes();
        if by_library && low == high && low == u64::from(byte) * (u64::MAX / 255) {
            return dest[to..to + len].fill(byte);
        }
        let mut step = [0; STEP];
        for (to, half) in step.as_chunks_mut::<8>().0.iter_mut().zip([low, high, low, high]) {
            *to = half.to_le_bytes();
        }
        if is_roomy {
            // SAFETY: `is_roomy` says that all `STEPS` steps are free after the match.
            unsafe { fill_in_steps::<STEPS>(dest, to, len, step) };
        } else {
            // SAFETY: one step is free after the match, as this function requires.
            unsafe { fill_in_steps::<1>(dest, to, len, step) };
        }
    } else if distance >= 16 {
        // SAFETY: `from < to`, and more than 16 bytes are free after the match.
        unsafe { copy_in_steps::<16, 1>(dest, from, to, len) };
    } else if distance >= 8 {
        // SAFETY: `from < to`, and more than 8 bytes are free after the match.
        unsafe { copy_in_steps::<8, 1>(dest, from, to, len) };
    } else {
        // SAFETY: `0 < distance < 8`, and more than 8 bytes are free from `to` on.
        let word = unsafe { periodic_word(dest, to, distance) };
        let mut done = 0;
        while done < len {
            // SAFETY: `done < len`, and more than 8 bytes are free after the match.
            unsafe { store(dest, to + done, word) };
            done += STRIDES[distance & 7];
        }
    }
}

/// Copies `len` bytes in steps of `N`, with an exit after every `STEPS` steps, since the end of a
/// match is unpredictable.
///
/// # Safety
///
/// `from < to` and `to + len + N * STEPS <= dest.len()`.
#[inline(always)]
unsafe fn copy_in_steps<const N: usize, const STEPS: usize>(
    dest: &mut [u8],
    from: usize,
    to: usize,
    len: usize,
) {
    let mut done = 0;
    loop {
        for _ in 0..STEPS {
            // SAFETY: at most `len` bytes were done before the first of these `STEPS` steps, and
            // `N * STEPS` are free after them; `from < to`.
            unsafe { copy_within_fixed::<N>(dest, from + done, to + done) };
            done += N;
        }
        if done >= len {
            return;
        }
    }
}

/// Stores `step` repeatedly over `len` bytes, with an exit after every `STEPS` steps.
///
/// # Safety
///
/// `to + len + STEP * STEPS <= dest.len()`.
#[inline(always)]
unsafe fn fill_in_steps<const STEPS: usize>(
    dest: &mut [u8],
    to: usize,
    len: usize,
    step: [u8; STEP],
) {
    let mut done = 0;
    loop {
        for _ in 0..STEPS {
            // SAFETY: at most `len` bytes were done before the first of these `STEPS` steps, and
            // `STEP * STEPS` are free after them.
            unsafe { store(dest, to + done, step) };
            done += STEP;
        }
        if done >= len {
            return;
        }
    }
}

/// The 16 bytes that continue a period of 1, 2, 4, 8 or 16 bytes at `to`, as two words: if they
/// were assembled in memory, a read would have to wait for them.
///
/// # Safety
///
/// `0 < distance <= to` and `to + 8 <= bytes.len()`.
#[inline(always)]
unsafe fn periodic_words(bytes: &[u8], to: usize, distance: usize) -> (u64, u64) {
    let low = if distance <= 2 {
        // A single byte is forwarded from the store that wrote it. A word from two stores, which is
        // usual if a run continues other matches, waits until both are in the cache.
        // SAFETY: `0 < distance <= to`, so one byte is there.
        let [first] = unsafe { load(bytes, to - distance) };
        // SAFETY: `0 < to`, so one byte is there.
        let [last] = unsafe { load(bytes, to - 1) };
        (u64::from(u16::from_le_bytes([first, last])) * (u64::MAX / 0xFFFF)).to_le_bytes()
    } else if distance < 8 {
        // SAFETY: `2 < distance < 8`; this function requires the rest.
        unsafe { periodic_word(bytes, to, distance) }
    } else {
        // SAFETY: `8 <= distance <= to`, so 8 bytes up to `to` are there.
        unsafe { load(bytes, to - distance) }
    };
    // SAFETY: `distance >= 16` and `distance <= to`, so 8 bytes up to `to` are there.
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
                // SAFETY: `dest` has 32 bytes after the match.
                unsafe { copy_long_match::<1>(&mut dest, 40, distance, len) };
                assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                for room in [32, 63, 64] {
                    let mut dest = start.clone();
                    dest.resize(40 + len + room, 0xEE);
                    // SAFETY: `dest` has at least 32 bytes after the match.
                    unsafe { copy_long_match::<2>(&mut dest, 40, distance, len) };
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
                if len <= 18 {
                    let mut dest = start.clone();
                    dest.resize(40 + 32, 0xEE);
                    if distance < 8 {
                        // SAFETY: `dest` has 32 bytes from `to` on.
                        unsafe { copy_short_period(&mut dest, 40, distance) };
                    } else {
                        // SAFETY: `dest` has 32 bytes from `to` on.
                        unsafe { copy_short_match(&mut dest, 40, distance) };
                    }
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
                if len <= 8 {
                    let mut dest = start.clone();
                    dest.resize(40 + 8, 0xEE);
                    // SAFETY: `dest` has 8 bytes from `to` on.
                    unsafe { copy_tiny_match(&mut dest, 40, distance) };
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
            // SAFETY: both slices have more than `len + 32` bytes.
            unsafe { copy_literals(&src, 3, &mut dest, 5, len) };
            assert_eq!(dest[5..5 + len], src[3..3 + len]);
        }
    }
}
