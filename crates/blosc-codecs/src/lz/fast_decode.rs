//! The choice of a fast decoder: compiled for AVX2, or for any machine.
//!
//! The decoders of LZ4, BloscLZ and inflate have two halves. The fast half runs as long as some
//! bytes are left in the stream and in the destination (the margins of each decoder). It tests once
//! per instruction that the instruction ends before the margins, and stops at the first doubtful
//! one. The safe half continues there, decodes the rest, and finds the errors. So both halves
//! accept the same streams, which the tests of each codec compare.

use super::unsafe_copy::STEP;
use crate::simd::Simd;
#[cfg(target_arch = "x86_64")]
use crate::simd::SimdLevel;

/// If the destination has this many bytes more than requested, the fast half usually makes all
/// requested bytes: at least the margin of each decoder.
pub(crate) const MARGIN: usize = 2 * STEP;

/// A codec whose decoder has a fast half.
pub(crate) trait FastDecode {
    /// Decodes whole instructions from the start of `src`. Returns how far it read and wrote: up to
    /// a margin, or up to the first doubtful instruction. With `UNCACHED`, it prefetches lines of
    /// the destination.
    fn decode_fast<const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize);
}

/// [`FastDecode::decode_fast`], compiled for the widest registers that `simd` allows: with AVX2, a
/// step of a copy is one register instead of two.
#[inline]
pub(crate) fn decode_fast<C: FastDecode, const UNCACHED: bool>(
    simd: Simd,
    src: &[u8],
    dest: &mut [u8],
) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if simd.level() >= SimdLevel::Avx2 {
        // SAFETY: a `Simd` of this level exists only where AVX2 and BMI2 were detected.
        return unsafe { decode_avx2::<C, UNCACHED>(src, dest) };
    }
    let _ = simd;
    C::decode_fast::<UNCACHED>(src, dest)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn decode_avx2<C: FastDecode, const UNCACHED: bool>(src: &[u8], dest: &mut [u8]) -> (usize, usize) {
    C::decode_fast::<UNCACHED>(src, dest)
}

/// A loop that is also compiled for these instructions. Its `run` has to be inlined.
pub(crate) trait Kernel {
    type Output;

    fn run(self) -> Self::Output;
}

/// [`Kernel::run`], compiled for BMI2 if `simd` allows it: shifts by a number in any register.
#[inline]
pub(crate) fn run<K: Kernel>(simd: Simd, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if simd.level() >= SimdLevel::Avx2 {
        // SAFETY: a `Simd` of this level exists only where AVX2 and BMI2 were detected.
        return unsafe { run_avx2(kernel) };
    }
    let _ = simd;
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Called on rare paths of a loop, so that the compiler moves them away: the usual path has no jump
/// and keeps the registers.
#[cold]
pub(crate) fn cold_path() {}
