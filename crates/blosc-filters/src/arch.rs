//! The kernels, and the one place that chooses among them.
//!
//! `arch/scalar` has the definition of each kernel; the other folders implement the same kernels
//! with vector instructions, in safe code of functions that require them. Only the calls of these
//! functions, here, are unsafe. They are sound for one reason: a [`Simd`] exists only for
//! instructions that were detected.

mod scalar;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod tiled;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod prefetch;
#[cfg(target_arch = "x86_64")]
mod rows;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(target_arch = "x86_64")]
mod streaming;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod vector16;

use crate::Simd;
use crate::internal::StoreHint;
use crate::rows::EvenRows;
use crate::simd::Level;

/// The facts that the processor reports about itself; zeros where it reports nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Identity {
    pub(crate) maker: [u8; 12],
    pub(crate) family: u16,
    /// KiB of a core's second-level cache.
    pub(crate) second_level_cache_kib: u16,
}

/// Reads `CPUID`: leaf 0 has the maker, leaf 1 the family, and leaf 8000_0006H the cache, in bits
/// 31 to 16 of ECX on Intel's and AMD's processors alike.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn identity() -> Identity {
    const CACHE_LEAF: u32 = 0x8000_0006;
    let leaf = |leaf: u32| {
        // SAFETY: every processor of this architecture has the instruction, which changes registers
        // alone.
        #[allow(unused_unsafe, reason = "safe to call from Rust 1.94 on")]
        unsafe {
            core::arch::x86_64::__cpuid(leaf)
        }
    };
    let (name, version) = (leaf(0), leaf(1).eax);
    let mut maker = [0; 12];
    let words = maker.as_chunks_mut::<4>().0.iter_mut();
    words.zip([name.ebx, name.edx, name.ecx]).for_each(|(to, word)| *to = word.to_le_bytes());
    let [_, family, more, top] = version.to_le_bytes();
    let (family, more) = (family & 0xf, more >> 4 | top << 4);
    let has_cache = leaf(0x8000_0000).eax >= CACHE_LEAF;
    let [_, _, low, high] = if has_cache { leaf(CACHE_LEAF).ecx } else { 0 }.to_le_bytes();
    Identity {
        maker,
        family: u16::from(family) + if family == 0xf { u16::from(more) } else { 0 },
        second_level_cache_kib: u16::from_le_bytes([low, high]),
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn identity() -> Identity {
    Identity::default()
}

/// Defines functions that call the kernel of the same name for the detected instructions.
macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident($src:ident: $from:ty $(, $typesize:ident)?))+) => {$(
        $(#[$doc])*
        pub(crate) fn $kernel(simd: Simd, $($typesize: usize,)? $src: $from, dest: &mut [u8]) {
            match simd.level() {
                #[cfg(target_arch = "x86_64")]
                Level::Sse2 => {
                    // SAFETY: a `Simd` of this level is made only after SSE2 was detected.
                    unsafe { sse2::$kernel($($typesize,)? $src, dest) }
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => {
                    // SAFETY: a `Simd` of this level is made only after AVX2 was detected.
                    unsafe { avx2::$kernel($($typesize,)? $src, dest) }
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => {
                    // SAFETY: a `Simd` of this level is made only after AVX2, AVX-512 F, BW, VL,
                    // VBMI and GFNI were.
                    unsafe { avx512::$kernel($($typesize,)? $src, dest) }
                }
                #[cfg(target_arch = "aarch64")]
                Level::Neon => {
                    // SAFETY: a `Simd` of this level is made only after NEON was detected.
                    unsafe { neon::$kernel($($typesize,)? $src, dest) }
                }
                // A machine refuses a whole module with an instruction that it lacks.
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Level::Simd128 => simd128::$kernel($($typesize,)? $src, dest),
                _ => scalar::$kernel($($typesize,)? $src, dest),
            }
        }
    )+};
}

// `src` and `dest` are equally long; their length is a multiple of `typesize` or `width`.
kernels! {
    /// Byte shuffle; `typesize` > 1.
    shuffle(src: &[u8], typesize)
    /// Undoes [`shuffle`].
    unshuffle(src: &[u8], typesize)
    /// Undoes [`shuffle`] of separate planes, at least one, each with a byte for every item of
    /// `dest`.
    unshuffle_planes(planes: &[&[u8]])
    /// Bit shuffle of a multiple of eight items.
    bitshuffle(src: &[u8], typesize)
    /// Undoes [`bitshuffle`].
    bitunshuffle(src: &[u8], typesize)
    /// Each word of 1, 2, 4 or 8 bytes becomes the XOR of all words up to it.
    running_xor(src: &[u8], width)
    /// Each byte becomes the sum of all bytes up to it (mod 256).
    running_sum(src: &[u8])
}

/// Defines functions with one implementation for AVX2, one for AVX-512, and one for the rest.
macro_rules! with_avx {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),+): $avx2:path, $avx512:path,
        $plain:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) fn $name(simd: Simd, $($arg: $type),+) {
            match simd.level() {
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => {
                    // SAFETY: a `Simd` of this level is made only after AVX2 was detected.
                    unsafe { $avx2($($arg),+) }
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => {
                    // SAFETY: a `Simd` of this level is made only after AVX2, AVX-512 F, BW, VL,
                    // VBMI and GFNI were.
                    unsafe { $avx512($($arg),+) }
                }
                _ => $plain,
            }
        }
    )+};
}

with_avx! {
    /// Copies, by registers where the machine has large ones.
    copy(src: &[u8], dest: &mut [u8]): avx2::copy, avx512::copy, dest.copy_from_slice(src);
    /// Fills with a byte, by registers where they are as long as a line.
    fill(byte: u8, dest: &mut [u8]): avx2::fill, avx512::fill, dest.fill(byte);
    /// Copies with non-temporal stores.
    copy_streaming(src: &[u8], dest: &mut [u8]): streaming::copy, avx512::copy_streaming,
        dest.copy_from_slice(src);
    /// Fills with a byte by non-temporal stores.
    fill_streaming(byte: u8, dest: &mut [u8]): streaming::fill, streaming::fill, dest.fill(byte);
    /// Copies rows of a block to an array that is not in the cache.
    put_rows(rows: EvenRows, block: &[u8], array: &mut [u8]): rows::put_rows, rows::put_rows,
        scalar::put_rows(rows, block, array);
    /// Copies rows of an array that is not in the cache to a block.
    take_rows(rows: EvenRows, array: &[u8], block: &mut [u8]): rows::take_rows,
        rows::take_rows_by_lines,
        scalar::take_rows(rows, array, block);
}

/// As [`bitunshuffle`], to memory that is mostly outside of the cache; a kernel may prefetch it.
pub(crate) fn bitunshuffle_uncached(simd: Simd, typesize: usize, src: &[u8], dest: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if simd.level() == Level::Avx512 {
        // SAFETY: a `Simd` of this level is made only after AVX2, AVX-512 F, BW, VL, VBMI and GFNI
        // were.
        return unsafe { avx512::bitshuffle::bitunshuffle_uncached(typesize, src, dest) };
    }
    bitunshuffle(simd, typesize, src, dest);
}

// Kernels with non-temporal stores, which exist for some typesizes and alignments of `dest`.
// AVX-512 uses those of AVX2.

/// As [`unshuffle`].
pub(crate) fn unshuffle_streaming(simd: Simd, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let mut planes: [&[u8]; 16] = [&[]; 16];
    let Some(planes) = planes.get_mut(..typesize) else {
        return unshuffle(simd, typesize, src, dest);
    };
    for (plane, from) in planes.iter_mut().zip(src.chunks_exact((src.len() / typesize).max(1))) {
        *plane = from;
    }
    if !try_unshuffle_streaming(simd, planes, dest) {
        unshuffle(simd, typesize, src, dest);
    }
}

/// As [`unshuffle_planes`].
pub(crate) fn unshuffle_planes_streaming(simd: Simd, planes: &[&[u8]], dest: &mut [u8]) {
    if !try_unshuffle_streaming(simd, planes, dest) {
        unshuffle_planes(simd, planes, dest);
    }
}

/// Writes nothing and returns false if there is no kernel with non-temporal stores.
#[cfg(not(target_arch = "x86_64"))]
fn try_unshuffle_streaming(_: Simd, _: &[&[u8]], _: &mut [u8]) -> bool {
    false
}

/// Writes nothing and returns false if there is no kernel with non-temporal stores.
#[cfg(target_arch = "x86_64")]
fn try_unshuffle_streaming(simd: Simd, planes: &[&[u8]], dest: &mut [u8]) -> bool {
    if let (Level::Avx2 | Level::Avx512, Some(tile)) =
        (simd.level(), avx2::streaming::tile(planes.len()))
        && let Some(parts) = streaming::Parts::new(dest, planes.len(), tile)
    {
        let [start, end] = parts.starts().map(|at| at / planes.len());
        scalar::unshuffle_from(planes, 0, parts.head);
        streaming::streaming(|stores| {
            // SAFETY: a `Simd` of these levels is made only after AVX2 was detected.
            unsafe { avx2::streaming::unshuffle(stores, planes, start, parts.tiles) }
        });
        scalar::unshuffle_from(planes, end, parts.tail);
        return true;
    }
    false
}

/// Whether [`put_planes`] has a special kernel for items of this size.
pub(crate) fn has_put_planes(simd: Simd, typesize: usize) -> bool {
    matches!((simd.level(), typesize), (Level::Avx2 | Level::Avx512, 2 | 4 | 8))
}

/// Restores items and copies rows of them to an array, starting at byte `from` of the block.
pub(crate) fn put_planes(
    simd: Simd,
    rows: EvenRows,
    stores: StoreHint,
    planes: &[&[u8]],
    from: usize,
    array: &mut [u8],
) {
    #[cfg(target_arch = "x86_64")]
    if rows.suits_planes(simd, planes.len()) {
        // SAFETY: a `Simd` of these levels is made only after AVX2 was detected.
        return unsafe { rows::put_planes(rows, stores, planes, from, array) };
    }
    let _ = (simd, stores);
    scalar::put_planes(rows, planes, from, array);
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    type Kernel = fn(Simd, usize, &[u8], &mut [u8]);

    /// Runs a kernel on every level of instructions, with buffers that are not aligned, and
    /// compares with the scalar.
    fn compare(kernel: Kernel, size: usize, nbytes: usize) {
        compare_with(kernel, kernel, 3, size, nbytes);
    }

    /// As [`compare`], with another kernel as the definition and a destination `start` bytes after
    /// a multiple of 64.
    fn compare_with(kernel: Kernel, definition: Kernel, start: usize, size: usize, nbytes: usize) {
        let src: Vec<u8> =
            (0..=nbytes as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
        let run = |kernel: Kernel, simd| {
            let mut dest = vec![0xEE; nbytes + 128];
            let start = dest.as_ptr().align_offset(64) + start;
            kernel(simd, size, &src[1..], &mut dest[start..start + nbytes]);
            (
                dest[start..start + nbytes].to_vec(),
                dest.iter().filter(|&&byte| byte == 0xEE).count(),
            )
        };
        let expected = run(definition, Simd::none());
        for simd in Simd::available() {
            assert!(
                run(kernel, simd) == expected,
                "{simd:?}, size {size}, {nbytes} bytes, from {start} on"
            );
        }
    }

    fn planes(typesize: usize, src: &[u8]) -> Vec<&[u8]> {
        let width = src.len() / typesize;
        (0..typesize).map(|j| &src[j * width..][..width]).collect()
    }

    fn from_planes(simd: Simd, typesize: usize, src: &[u8], dest: &mut [u8]) {
        unshuffle_planes(simd, &planes(typesize, &src[..dest.len()]), dest);
    }

    fn planes_streaming(simd: Simd, typesize: usize, src: &[u8], dest: &mut [u8]) {
        unshuffle_planes_streaming(simd, &planes(typesize, &src[..dest.len()]), dest);
    }

    /// Every typesize with a special kernel, and some of the large ones, which share a kernel.
    fn typesizes() -> impl Iterator<Item = usize> {
        let few = [1, 3, 4, 8, 12, 16, 17];
        (1..=17)
            .chain([20, 24, 28, 32, 33, 40, 48, 64, 255, 300])
            .filter(move |n| !cfg!(miri) || few.contains(n))
    }

    /// Numbers of items around the sizes of registers, tiles and strips.
    fn numbers_of_items() -> impl Iterator<Item = usize> {
        let few = [0, 33, 64, 65, 131, 512, 520, 1027];
        let all = (0..=70).chain(120..=135).chain([191, 500, 512, 520, 1000, 1027, 2048, 4096]);
        all.filter(move |n| !cfg!(miri) || few.contains(n))
    }

    #[test]
    fn every_level_shuffles_the_same() {
        for (typesize, nitems) in
            typesizes().skip(1).flat_map(|t| numbers_of_items().map(move |n| (t, n)))
        {
            compare(shuffle, typesize, nitems * typesize);
            compare(unshuffle, typesize, nitems * typesize);
            compare_with(from_planes, unshuffle, 3, typesize, nitems * typesize);
        }
    }

    /// With AVX-512, the processor decides which of two implementations runs.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn tiles_and_pieces_give_the_same() {
        use avx512::bitshuffle::bitunshuffle_by;
        use avx512::pieces::{Pieces, unshuffle as by_pieces};
        use avx512::shuffle::unshuffle as by_tiles;

        if !Simd::available().any(|simd| simd.level() == Level::Avx512) {
            return;
        }
        // SAFETY: the instructions were found just now.
        let undo: [Kernel; 2] = [
            |_, t, src, dest| unsafe { by_pieces(t, &src[..dest.len()], dest) },
            |_, t, src, dest| unsafe { by_tiles(t, &src[..dest.len()], dest) },
        ];
        // SAFETY: as above.
        let undo_bits: [Kernel; 2] = [
            |_, t, src, dest| unsafe {
                bitunshuffle_by::<false>(Some(Pieces::new()), t, &src[..dest.len()], dest);
            },
            |_, t, src, dest| unsafe {
                bitunshuffle_by::<false>(None, t, &src[..dest.len()], dest)
            },
        ];
        let scalar: Kernel = |_, t, src, dest| scalar::unshuffle(t, &src[..dest.len()], dest);
        let scalar_bits: Kernel =
            |_, t, src, dest| scalar::bitunshuffle(t, &src[..dest.len()], dest);
        for nitems in numbers_of_items().chain([16384]) {
            for start in [0, 8, 19] {
                for (kernel, typesize) in undo.into_iter().flat_map(|k| [(k, 2), (k, 8)]) {
                    compare_with(kernel, scalar, start, typesize, nitems * typesize);
                }
                for kernel in undo_bits {
                    compare_with(kernel, scalar_bits, start, 8, nitems / 8 * 64);
                }
            }
        }
    }

    /// Some levels use the kernels of another level for large blocks.
    #[test]
    fn every_level_shuffles_blocks_over_the_l1_cache_the_same() {
        for typesize in [2, 4, 8].into_iter().filter(|_| !cfg!(miri)) {
            for (start, nbytes) in [(0, 64 << 10), (3, (64 << 10) + 24), (0, 256 << 10)] {
                compare_with(
                    unshuffle,
                    |_, t, src, dest| scalar::unshuffle(t, src, dest),
                    start,
                    typesize,
                    nbytes,
                );
                compare_with(from_planes, unshuffle, start, typesize, nbytes);
                compare_with(shuffle, shuffle, start, typesize, nbytes);
            }
        }
    }

    /// Large blocks are written from the first cache line on; the bytes before it are written
    /// separately.
    #[test]
    fn every_level_shuffles_to_all_places_of_a_line_the_same() {
        let lengths = [
            (2, 16384),
            (4, 8192),
            (4, 8193),
            (4, 8224),
            (8, 4096),
            (16, 8192),
            (24, 2048),
            (32, 8192),
            (40, 1024),
        ];
        for (typesize, nitems) in lengths.into_iter().filter(|_| !cfg!(miri)) {
            for start in [0, 1, 8, 16, 32, 63] {
                compare_with(shuffle, shuffle, start, typesize, nitems * typesize);
            }
        }
        for (typesize, nitems) in
            [(1, 32768), (1, 65544), (2, 16384), (4, 8192), (8, 8192), (12, 8192), (16, 8192)]
                .into_iter()
                .filter(|_| !cfg!(miri))
        {
            for start in [0, 1, 16, 63] {
                compare_with(bitshuffle, bitshuffle, start, typesize, nitems * typesize);
            }
        }
    }

    #[test]
    fn every_level_bitshuffles_the_same() {
        for (typesize, nitems) in
            typesizes().flat_map(|t| numbers_of_items().map(move |n| (t, n / 8 * 8)))
        {
            compare(bitshuffle, typesize, nitems * typesize);
            compare(bitunshuffle, typesize, nitems * typesize);
            compare_with(bitunshuffle_uncached, bitunshuffle, 3, typesize, nitems * typesize);
        }
    }

    /// Destinations at the start of a cache line: whole lines are written.
    #[test]
    fn every_level_bitshuffles_aligned_destinations_the_same() {
        let sizes =
            [1, 2, 4, 8, 16].into_iter().flat_map(|t| [512, 520, 1024, 2048, 2040].map(|n| (t, n)));
        for (typesize, nitems) in sizes {
            for start in [0, 16] {
                compare_with(bitshuffle, bitshuffle, start, typesize, nitems * typesize);
                compare_with(bitunshuffle, bitunshuffle, start, typesize, nitems * typesize);
            }
        }
    }

    /// Blocks whose strips are processed several at a time.
    #[test]
    fn every_level_bitshuffles_large_blocks_the_same() {
        for typesize in [2, 3, 4, 7, 8, 16, 24].into_iter().filter(|_| !cfg!(miri)) {
            for start in [0, 3] {
                compare_with(bitshuffle, bitshuffle, start, typesize, 32768 * typesize);
                compare_with(bitunshuffle, bitunshuffle, start, typesize, 32768 * typesize);
                compare_with(
                    bitunshuffle_uncached,
                    bitunshuffle,
                    start,
                    typesize,
                    32768 * typesize,
                );
            }
        }
    }

    #[test]
    fn non_temporal_stores_write_the_same() {
        let all =
            [2, 3, 4, 8, 16].into_iter().flat_map(|t| numbers_of_items().map(move |n| (t, n)));
        for (typesize, nitems) in all {
            for start in [0, 1, 4, 10, 16] {
                let nbytes = nitems * typesize;
                let by_library: Kernel = |_, _, src, dest| dest.copy_from_slice(src);
                let copies: [Kernel; 2] = [
                    |simd, _, src, dest| copy(simd, src, dest),
                    |simd, _, src, dest| copy_streaming(simd, src, dest),
                ];
                for copy in copies {
                    compare_with(copy, by_library, start, typesize, nbytes);
                }
                let fills: [Kernel; 2] = [
                    |simd, _, src, dest| fill(simd, src.len() as u8, dest),
                    |simd, _, src, dest| fill_streaming(simd, src.len() as u8, dest),
                ];
                for fill in fills {
                    compare_with(
                        fill,
                        |_, _, src, dest| dest.fill(src.len() as u8),
                        start,
                        typesize,
                        nbytes,
                    );
                }
                compare_with(unshuffle_streaming, unshuffle, start, typesize, nbytes);
                compare_with(planes_streaming, unshuffle, start, typesize, nbytes);
            }
        }
    }

    #[test]
    fn copies_of_some_pages_are_complete() {
        let by_library: Kernel = |_, _, src, dest| dest.copy_from_slice(src);
        for start in [0, 1, 16] {
            for nbytes in [16_383, 16_384, 16_447, 16_448, 40_001] {
                compare_with(
                    |simd, _, src, dest| copy_streaming(simd, src, dest),
                    by_library,
                    start,
                    1,
                    nbytes,
                );
            }
        }
    }

    #[test]
    fn every_level_scans_the_same() {
        for (width, nwords) in
            [1, 2, 4, 8].into_iter().flat_map(|w| numbers_of_items().map(move |n| (w, n)))
        {
            compare(running_xor, width, nwords * width);
            compare(|simd, _, src, dest| running_sum(simd, src, dest), width, nwords);
        }
    }
}
