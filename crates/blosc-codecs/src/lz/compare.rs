//! The length of a match: how many bytes two parts of a slice have in common.
//!
//! Most matches are short, so the first 16 bytes are compared as two words, inline. A match that
//! is longer is mostly much longer: it is compared in steps of the widest registers, since the
//! fewer exits a loop has, the better they are predicted (`docs/performance/lz4.md`).

use core::hint::select_unpredictable;

use super::load64;
use crate::simd::Simd;
#[cfg(target_arch = "x86_64")]
use crate::simd::SimdLevel;

/// Number of bytes from `at` up to `end` that equal the bytes from `earlier`; `earlier < at <= end
/// <= src.len()`.
#[inline(always)]
pub(crate) fn common_len(simd: Simd, src: &[u8], earlier: usize, at: usize, end: usize) -> usize {
    let here = &src[at..end];
    let there = &src[earlier..];
    let (Some(x), Some(y)) = (here.get(..16), there.get(..16)) else {
        return common_tail(here, there, 0);
    };
    let [first, second] = [load64(x, 0) ^ load64(y, 0), load64(x, 8) ^ load64(y, 8)];
    if first | second == 0 {
        return common_long(simd, here, there);
    }
    // It is unpredictable in which of the two words a match ends.
    let bytes = |word: u64| word.trailing_zeros() as usize / 8;
    select_unpredictable(first == 0, 8 + bytes(second), bytes(first))
}

/// Number of equal bytes at the start of two slices, compared in large steps.
fn common_long(simd: Simd, here: &[u8], there: &[u8]) -> usize {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` of this level exists only where AVX-512 BW, BMI1 and BMI2 were detected.
        SimdLevel::Avx512 => unsafe { common_avx512(here, there) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` of this level exists only where AVX2, BMI1 and BMI2 were detected.
        SimdLevel::Avx2 => unsafe { common_avx2(here, there) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` of this level exists only where SSE2 was detected.
        SimdLevel::Sse2 => unsafe { common_sse2(here, there) },
        _ => common_steps(here, there, first_difference),
    }
}

/// As [`common_long`]; `first` gives the position of the first difference in a step, if there is
/// one.
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

/// By words; the scalar implementation of the steps below.
#[inline(always)]
fn first_difference(x: &[u8; 32], y: &[u8; 32]) -> Option<usize> {
    let mut words = (0..32).step_by(8).map(|at| (at, load64(x, at) ^ load64(y, at)));
    words.find(|(_, word)| *word != 0).map(|(at, word)| at + word.trailing_zeros() as usize / 8)
}

/// As [`common_long`] from `from` on, for less than a step.
fn common_tail(here: &[u8], there: &[u8], mut from: usize) -> usize {
    while let Some(len) = common_in_word(here, there, from) {
        from += len;
        if len < 8 {
            return from;
        }
    }
    from + here[from..].iter().zip(&there[from..]).take_while(|(x, y)| x == y).count()
}

/// Position of the first difference in the 8 bytes from `at`, or 8; `None` if either slice has
/// fewer than 8 bytes left.
#[inline(always)]
fn common_in_word(here: &[u8], there: &[u8], at: usize) -> Option<usize> {
    let (x, y) = (here.get(at..at + 8)?, there.get(at..at + 8)?);
    Some((load64(x, 0) ^ load64(y, 0)).trailing_zeros() as usize / 8)
}

/// Number of bytes right before `at` that equal the bytes right before `earlier`, down to `low`;
/// `at - earlier <= low <= at`.
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

/// By two registers of 64 bytes, between which there is no branch.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
fn common_avx512(here: &[u8], there: &[u8]) -> usize {
    common_steps(here, there, |x: &[u8; 128], y: &[u8; 128]| {
        let ([x, x_2], [y, y_2]) = (x.as_chunks().0, y.as_chunks().0) else { return None };
        let [a, b] = [differences_avx512(x, y), differences_avx512(x_2, y_2)];
        // It is unpredictable in which half a match ends.
        let second = u32::from(a != 0).wrapping_sub(1);
        (a | b != 0).then_some((a.trailing_zeros() + (b.trailing_zeros() & second)) as usize)
    })
}

/// A bit for each byte that differs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn differences_avx512(x: &[u8; 64], y: &[u8; 64]) -> u64 {
    use core::arch::x86_64::*;
    let register = |line: &[u8; 64]| {
        // SAFETY: 64 bytes are read from an array of 64; the load takes any address.
        unsafe { _mm512_loadu_si512(line.as_ptr().cast::<__m512i>()) }
    };
    _mm512_cmpneq_epi8_mask(register(x), register(y))
}

/// By two registers of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn common_avx2(here: &[u8], there: &[u8]) -> usize {
    common_steps(here, there, |x: &[u8; 64], y: &[u8; 64]| {
        let differences = differences_avx2(x, y);
        (differences != 0).then(|| differences.trailing_zeros() as usize)
    })
}

/// A bit for each byte that differs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn differences_avx2(x: &[u8; 64], y: &[u8; 64]) -> u64 {
    use core::arch::x86_64::*;
    let (x, y) = (x.as_chunks::<32>().0, y.as_chunks::<32>().0);
    let register = |half: &[u8; 32]| {
        // SAFETY: 32 bytes are read from an array of 32; the load takes any address.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast::<__m256i>()) }
    };
    let equal = |at: usize| {
        let equal = _mm256_movemask_epi8(_mm256_cmpeq_epi8(register(&x[at]), register(&y[at])));
        u64::from(equal.cast_unsigned())
    };
    !(equal(0) | equal(1) << 32)
}

/// By two registers of 16 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
fn common_sse2(here: &[u8], there: &[u8]) -> usize {
    common_steps(here, there, |x: &[u8; 32], y: &[u8; 32]| {
        let differences = differences_sse2(x, y);
        (differences != 0).then(|| differences.trailing_zeros() as usize)
    })
}

/// A bit for each byte that differs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn differences_sse2(x: &[u8; 32], y: &[u8; 32]) -> u32 {
    use core::arch::x86_64::*;
    let (x, y) = (x.as_chunks::<16>().0, y.as_chunks::<16>().0);
    let register = |half: &[u8; 16]| {
        // SAFETY: 16 bytes are read from an array of 16; the load takes any address. (The compiler
        // may load a register that is put together from two words in two pieces.)
        unsafe { _mm_loadu_si128(half.as_ptr().cast::<__m128i>()) }
    };
    let equal = |at: usize| {
        _mm_movemask_epi8(_mm_cmpeq_epi8(register(&x[at]), register(&y[at]))).cast_unsigned()
    };
    !(equal(0) | equal(1) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for simd in Simd::available() {
            let mut src = [7u8; 400];
            for end in [1, 9, 64, 137, 138, 265, 300, 400] {
                assert_eq!(common_len(simd, &src, 0, 1, end), end - 1);
                for at in 1..end {
                    src[at] = 8;
                    assert_eq!(common_len(simd, &src, 0, 1, end), at - 1, "{simd:?}");
                    src[at] = 7;
                }
            }
        }
    }

    #[test]
    fn common_len_finds_each_difference_at_each_alignment() {
        for simd in Simd::available() {
            for (earlier, at) in [(0, 1), (1, 17), (3, 40), (5, 130)] {
                let mut src: [u8; 400] =
                    core::array::from_fn(|n| (n % (at - earlier)).to_le_bytes()[0]);
                for end in [at, at + 15, at + 16, at + 31, at + 150] {
                    for differs in at..end {
                        src[differs] ^= 0x80;
                        let expected =
                            (at..end).take_while(|n| src[*n] == src[n - (at - earlier)]).count();
                        assert_eq!(common_len(simd, &src, earlier, at, end), expected);
                        src[differs] ^= 0x80;
                    }
                }
            }
        }
    }
}
