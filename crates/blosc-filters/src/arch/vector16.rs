//! Transpositions with registers of 16 bytes, for all instruction sets that have them.
//!
//! Interleaving the bytes of register `i` with those of register `i + n/2` rotates the index of a
//! byte (register, position) by one bit. With one item in each of 16 registers, or all items in `W`
//! registers without gaps, four rounds put the bytes of a plane into one register. The inverse
//! takes as many rounds as the register's number has bits.
//! takes as many rounds as the register's number has bits.

/// Defines the functions that [`tiled_kernels`](super::tiled::tiled_kernels) needs, for one
/// register type. In scope must be: `interleave_low` and `interleave_high`, which take bytes from
/// two registers in turn; `and`, `xor` and `splat`; `shift_right` and `shift_left` by a constant
/// number of bits, in units of any size.
macro_rules! vector16_kernels {
    ($features:literal, $register:ty) => {
        tiled_kernels!($features, $register, 16);
        tiled_bit_kernels!($features);

        use core::array;

        use super::super::tiled::bounded;

        /// Where corresponding bytes of all planes are in the same few sets of the first-level
        /// cache, they evict each other's lines half written. That is the common case: blocks have
        /// a power of two of bytes.
        const fn in_strips(typesize: usize, nitems: usize) -> bool {
            typesize >= 4 && nitems.is_multiple_of(2048)
        }

        const UNSHUFFLE_IN_STRIPS: bool = true;
        const PLANES: usize = 32;

        /// Bytes from the start of 64 items to the end of the last 16 that are loaded or stored.
        const fn reach(g: usize, w: usize) -> usize {
            if g == w { 64 * g } else { 63 * g + 16 }
        }

        /// Unused: no order of bytes has to be loaded.
        const fn gather<const G: usize, const W: usize>() -> $register {
            ZERO
        }

        /// As [`gather`].
        const fn scatter<const G: usize, const W: usize>() -> $register {
            ZERO
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn load_items<const G: usize, const W: usize>(
            items: &[u8],
            _gather: $register,
        ) -> [$register; W] {
            if G == W {
                let mut rows = [ZERO; W];
                for (k, row) in rows.iter_mut().enumerate() {
                    *row = load(items, 16 * k);
                }
                return interleave(interleave(interleave(interleave(rows))));
            }
            let mut rows = [ZERO; 16];
            for (i, row) in rows.iter_mut().enumerate() {
                *row = load(items, i * G);
            }
            let planes = interleave(interleave(interleave(interleave(rows))));
            let mut rows = [ZERO; W];
            rows.copy_from_slice(&planes[..W]);
            rows
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn store_items<const G: usize, const W: usize>(
            rows: [$register; W],
            items: &mut [u8],
            _scatter: $register,
        ) {
            if G == W {
                let mut rows = rows;
                for _ in 0..W.ilog2() {
                    rows = interleave(rows);
                }
                for (k, row) in rows.into_iter().enumerate() {
                    store(items, 16 * k, row);
                }
                return;
            }
            let mut planes = [ZERO; 16];
            planes[..G].copy_from_slice(&rows[..G]);
            let rows = interleave(interleave(interleave(interleave(planes))));
            for (i, row) in rows.into_iter().enumerate() {
                store(items, i * G, row);
            }
        }

        /// Bytes 0..16 of 16 items of `typesize` bytes, as rows.
        #[target_feature(enable = $features)]
        #[inline]
        fn load_column(typesize: usize, items: &[u8], _gather: $register) -> [$register; 16] {
            let rows = bounded!(
                16,
                typesize,
                items.first_chunk,
                array::from_fn(|i| load(items, i * typesize))
            );
            interleave::<16>(interleave(interleave(interleave(rows))))
        }

        /// Undoes [`load_column`].
        #[target_feature(enable = $features)]
        #[inline]
        fn store_column(
            rows: [$register; 16],
            typesize: usize,
            items: &mut [u8],
            _scatter: $register,
        ) {
            let rows = interleave(interleave(interleave(interleave(rows))));
            bounded!(16, typesize, items.first_chunk_mut, {
                for (i, row) in rows.iter().enumerate() {
                    store(items, i * typesize, *row);
                }
            });
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn load(bytes: &[u8], at: usize) -> $register {
            let mut array = [0_u8; 16];
            array.copy_from_slice(&bytes[at..at + 16]);
            transmute!(array)
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn store(bytes: &mut [u8], at: usize, register: $register) {
            let array: [u8; 16] = transmute!(register);
            bytes[at..at + 16].copy_from_slice(&array);
        }

        /// One round: register `i` with register `i + N/2`.
        #[target_feature(enable = $features)]
        #[inline]
        fn interleave<const N: usize>(rows: [$register; N]) -> [$register; N] {
            let mut mixed = [ZERO; N];
            for i in 0..N / 2 {
                mixed[2 * i] = interleave_low(rows[i], rows[i + N / 2]);
                mixed[2 * i + 1] = interleave_high(rows[i], rows[i + N / 2]);
            }
            mixed
        }

        /// Register `e` gets byte `e` of each of 16 groups of eight; then bits and registers are
        /// exchanged.
        #[target_feature(enable = $features)]
        #[inline]
        fn load_bits(groups: &[u8], gather: $register) -> [$register; 8] {
            exchange_bits(load_items::<8, 8>(groups, gather))
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn store_bits(rows: [$register; 8], groups: &mut [u8], scatter: $register) {
            store_items::<8, 8>(exchange_bits(rows), groups, scatter);
        }

        /// Bit `k` of register `e` becomes bit `e` of register `k`.
        #[target_feature(enable = $features)]
        #[inline]
        fn exchange_bits(rows: [$register; 8]) -> [$register; 8] {
            let mut rows = rows;
            for i in [0, 1, 2, 3] {
                (rows[i], rows[i + 4]) = exchange::<4>(rows[i], rows[i + 4], 0x0F);
            }
            for i in [0, 1, 4, 5] {
                (rows[i], rows[i + 2]) = exchange::<2>(rows[i], rows[i + 2], 0x33);
            }
            for i in [0, 2, 4, 6] {
                (rows[i], rows[i + 1]) = exchange::<1>(rows[i], rows[i + 1], 0x55);
            }
            rows
        }

        /// Exchanges the upper bits of `a` with the lower ones of `b`, in blocks of `SHIFT` bits.
        #[target_feature(enable = $features)]
        #[inline]
        fn exchange<const SHIFT: i32>(
            a: $register,
            b: $register,
            lower: u8,
        ) -> ($register, $register) {
            let differing = and(xor(shift_right::<SHIFT>(a), b), splat(lower));
            (xor(a, shift_left::<SHIFT>(differing)), xor(b, differing))
        }
    };
}

/// Defines functions of one instruction each, with the names that the kernels use.
macro_rules! instructions {
    ($features:literal: $($name:ident $(<const $n:ident>)? ($($arg:ident: $type:ty),+)
        -> $register:ty = $instruction:expr;)+) => {
        $(#[target_feature(enable = $features)]
        #[inline]
        fn $name$(<const $n: i32>)?($($arg: $type),+) -> $register {
            $instruction
        })+
    };
}

pub(super) use {instructions, vector16_kernels};
