//! Adler-32, the checksum of zlib streams (RFC 1950, 8.2): in AVX-512 registers, else by `zlib-rs`.

use crate::simd::Simd;
#[cfg(target_arch = "x86_64")]
use crate::simd::SimdLevel;

/// Adler-32 of these bytes.
pub(super) fn adler32(simd: Simd, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if simd.level() >= SimdLevel::Avx512 {
        // SAFETY: a `Simd` of this level exists only where AVX-512 BW was detected.
        return unsafe { adler32_avx512(bytes) };
    }
    let _ = simd;
    zlib_rs::adler32::adler32(1, bytes)
}

/// The sum of all bytes (plus 1), and the sum of these sums after each byte, modulo a prime.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn adler32_avx512(bytes: &[u8]) -> u32 {
    use core::arch::x86_64::*;
    const BASE: u64 = 65_521;
    /// The weight of each byte of a step in the sum of sums at the end of the step.
    const WEIGHTS: [u8; 64] = {
        let mut weights = [64; 64];
        let mut at = 0;
        while at < 64 {
            weights[at as usize] -= at;
            at += 1;
        }
        weights
    };
    let register = |bytes: &[u8; 64]| {
        // SAFETY: 64 bytes are read from an array of 64; the load takes any address.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>()) }
    };
    let (weights, ones) = (register(&WEIGHTS), _mm512_set1_epi16(1));
    let (steps, rest) = bytes.as_chunks::<64>();
    let (mut sum, mut sums) = (1, 0);
    // Lanes of 32 bits hold the weighted sums of 1024 steps.
    for steps in steps.chunks(1024) {
        let zero = _mm512_setzero_si512();
        let (mut plain, mut before, mut weighted) = (zero, zero, zero);
        for step in steps {
            let step = register(step);
            before = _mm512_add_epi64(before, plain);
            plain = _mm512_add_epi64(plain, _mm512_sad_epu8(step, zero));
            let pairs = _mm512_maddubs_epi16(step, weights);
            weighted = _mm512_add_epi32(weighted, _mm512_madd_epi16(pairs, ones));
        }
        let [plain, before, weighted] = [plain, before, halves(weighted)]
            .map(|lanes| _mm512_reduce_add_epi64(lanes).cast_unsigned());
        sums = (sums + sum * 64 * steps.len() as u64 + 64 * before + weighted) % BASE;
        sum = (sum + plain) % BASE;
    }
    let so_far = u32::try_from(sums << 16 | sum).unwrap_or_default();
    zlib_rs::adler32::adler32(so_far, rest)
}

/// Sums of the two halves of each lane of 64 bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn halves(lanes: core::arch::x86_64::__m512i) -> core::arch::x86_64::__m512i {
    use core::arch::x86_64::*;
    let low = _mm512_and_si512(lanes, _mm512_set1_epi64(0xFFFF_FFFF));
    _mm512_add_epi64(low, _mm512_srli_epi64::<32>(lanes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn checksums_equal_those_of_zlib_rs() {
        let ramp = |n: u32| -> Vec<u8> {
            (0..n).map(|i| (i.wrapping_mul(i) >> 5).to_le_bytes()[0]).collect()
        };
        for bytes in [0, 1, 63, 64, 65, 1000, 65_535, 65_536, 65_600, 300_000].map(ramp) {
            let most = alloc::vec![u8::MAX; bytes.len()];
            for simd in Simd::available() {
                for bytes in [&bytes, &most] {
                    let expected = zlib_rs::adler32::adler32(1, bytes);
                    assert_eq!(adler32(simd, bytes), expected, "{simd:?}, {} bytes", bytes.len());
                }
            }
        }
    }
}
