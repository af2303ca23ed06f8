//! The kernels, and the one place that chooses among them.
//!
//! `arch/scalar` has the definition of each kernel; the other folders have the same with vector instructions, in safe
//! code for functions that require them. What is unsafe is only to call these, here, and the reason why it is sound is
//! always the same: a [`Simd`] is made only for instructions that were found.

mod scalar;
mod strips;

#[cfg(target_arch = "x86_64")]
mod avx2;

use crate::Simd;
use crate::simd::Level;

/// Defines functions of a typesize, a source of whole items and a destination as long, each of which calls the kernel
/// of the same name for the instructions at hand.
macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident)+) => {$(
        $(#[$doc])*
        pub(crate) fn $kernel(simd: Simd, typesize: usize, src: &[u8], dest: &mut [u8]) {
            match simd.level() {
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 | Level::Avx512 => {
                    // SAFETY: a `Simd` of these levels is made only after AVX2 was detected.
                    unsafe { avx2::$kernel(typesize, src, dest) }
                }
                _ => scalar::$kernel(typesize, src, dest),
            }
        }
    )+};
}

kernels! {
    /// Byte shuffle.
    shuffle
    /// Undoes [`shuffle`].
    unshuffle
    /// Bit shuffle of a multiple of eight items.
    bitshuffle
    /// Undoes [`bitshuffle`].
    bitunshuffle
}
