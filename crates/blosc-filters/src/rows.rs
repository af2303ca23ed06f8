//! Rows of bytes between a block in the cache and an array that is too large for the cache.

use crate::internal::StoreHint;
use crate::shuffle::whole_items;
use crate::{Simd, arch};

/// Rows at even distances in a block and in a large array that is not in the cache.
///
/// Short rows are prefetched, since the hardware does not predict the next one; long rows are
/// written with non-temporal stores.
///
/// ```
/// use blosc_filters::{Simd, internal::EvenRows};
///
/// let rows = EvenRows { count: 2, len: 3, in_block: 3, in_array: 5 };
/// let mut array = *b"..........";
/// rows.copy_to_array(Simd::detect(), b"abcdef", &mut array);
/// assert_eq!(&array, b"abc..def..");
/// let mut block = [0; 6];
/// rows.copy_to_block(Simd::detect(), &array, &mut block);
/// assert_eq!(&block, b"abcdef");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvenRows {
    /// Number of rows.
    pub count: usize,
    /// Bytes of a row.
    pub len: usize,
    /// Bytes from the start of a row to that of the next in the block.
    pub in_block: usize,
    /// The same in the array.
    pub in_array: usize,
}

impl EvenRows {
    /// Copies rows from the start of `block` to the start of `array`, up to the end of either.
    pub fn copy_to_array(self, simd: Simd, block: &[u8], array: &mut [u8]) {
        arch::put_rows(simd, self, block, array);
    }

    /// Copies rows from the start of `array` to the start of `block`, up to the end of either.
    pub fn copy_to_block(self, simd: Simd, array: &[u8], block: &mut [u8]) {
        arch::take_rows(simd, self, array, block);
    }

    /// Undoes the shuffle of a block and copies rows of its items to the start of `array`, up to
    /// the end of either. The result is that of [`copy_to_array`](Self::copy_to_array) for the
    /// items from the byte `from` on, without a copy of the whole items. The length of a row and
    /// both distances are whole items.
    ///
    /// ```
    /// use blosc_filters::{Simd, internal::{EvenRows, StoreHint}};
    ///
    /// let rows = EvenRows { count: 2, len: 2, in_block: 4, in_array: 3 };
    /// let mut array = *b".....";
    /// let planes: &[&[u8]] = &[b"aceg", b"bdfh"];
    /// rows.copy_planes_to_array(Simd::detect(), StoreHint::Cached, planes, 2, &mut array);
    /// assert_eq!(&array, b"cd.gh");
    /// ```
    pub fn copy_planes_to_array(
        self,
        simd: Simd,
        stores: StoreHint,
        planes: &[&[u8]],
        from: usize,
        array: &mut [u8],
    ) {
        arch::put_planes(simd, self, stores, planes, from, array);
    }

    /// Whether [`copy_planes_to_array`](Self::copy_planes_to_array) is faster for items of
    /// `typesize` bytes than undoing the shuffle first.
    #[must_use]
    pub fn suits_planes(self, simd: Simd, typesize: usize) -> bool {
        arch::has_put_planes(simd, typesize) && self.len >= MIN_ITEMS_PER_ROW * typesize
    }

    /// The number of rows that lie within `nbytes` of a block, from byte `from` on, and within an
    /// array.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn count_within(self, nbytes: usize, from: usize, array: usize) -> usize {
        let rows = |room: usize, stride: usize| {
            let more = room.checked_sub(self.len)?.checked_div(stride);
            Some(more.map_or(usize::MAX, |more| more.saturating_add(1)))
        };
        let in_block = nbytes.checked_sub(from).and_then(|room| rows(room, self.in_block));
        let in_array = rows(array, self.in_array);
        in_block.zip(in_array).map_or(0, |(a, b)| self.count.min(a).min(b))
    }

    /// The items of row `n`, counted from byte `from` of the block, if all planes have them.
    #[inline]
    pub(crate) fn items(
        self,
        n: usize,
        from: usize,
        planes: &[&[u8]],
    ) -> Option<core::ops::Range<usize>> {
        let row = self.row(n, self.in_block);
        let [start, end] =
            [row.start, row.end].map(|byte| whole_items(from.saturating_add(byte), planes.len()));
        planes.iter().all(|plane| end <= plane.len()).then_some(start..end)
    }

    /// The range of row `n`; rows start every `stride` bytes.
    pub(crate) fn row(self, n: usize, stride: usize) -> core::ops::Range<usize> {
        let start = n.saturating_mul(stride);
        start..start.saturating_add(self.len)
    }
}

/// Number of items that the kernel restores at a time; shorter rows gain nothing.
const MIN_ITEMS_PER_ROW: usize = 32;

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// Compares every level with a loop over rows, for arrays at any address.
    #[test]
    fn every_level_copies_rows_as_the_loop_does() {
        let lens = if cfg!(miri) {
            vec![0, 1, 70, 1100]
        } else {
            vec![0, 1, 31, 64, 80, 200, 1023, 1024, 1100, 4096]
        };
        for (count, len) in
            [0, 1, 3, 20].into_iter().flat_map(|count| lens.iter().map(move |len| (count, *len)))
        {
            let rows = EvenRows { count, len, in_block: len, in_array: len + 37 };
            let block: Vec<u8> = (0..=255).cycle().take(count * len).collect();
            for start in [0, 5, 16] {
                let mut expected = vec![7; start + count * rows.in_array];
                for n in 0..count {
                    expected[start..][rows.row(n, rows.in_array)]
                        .copy_from_slice(&block[rows.row(n, len)]);
                }
                for simd in [Simd::detect(), Simd::none()] {
                    let (mut array, mut back) = (vec![7; expected.len()], vec![0; block.len()]);
                    rows.copy_to_array(simd, &block, &mut array[start..]);
                    assert_eq!(array, expected);
                    rows.copy_to_block(simd, &array[start..], &mut back);
                    assert_eq!(back, block);
                }
            }
        }
    }

    /// Compares every level with rows of the restored items, for arrays at any address.
    #[test]
    fn every_level_restores_rows_as_unshuffle_does() {
        let all = [2, 4, 8, 3]
            .into_iter()
            .flat_map(|t| [31, 32, 33, 64, 95, 300, 512].map(move |n| (t, n)));
        for (typesize, nitems) in all.filter(|(_, n)| !cfg!(miri) || *n < 64) {
            let rows = EvenRows {
                count: 3,
                len: nitems * typesize,
                in_block: (nitems + 5) * typesize,
                in_array: (nitems + 2) * typesize,
            };
            let width = 2 * (nitems + 5) + nitems + 7;
            let block: Vec<u8> = (0..=250).cycle().take(width * typesize).collect();
            let mut shuffled = vec![0; block.len()];
            crate::shuffle(typesize, &block, &mut shuffled);
            let planes: Vec<&[u8]> = shuffled.chunks_exact(width).collect();
            let starts = (0..5).map(|item| item * typesize).chain([1, 16]);
            for (start, from) in
                starts.flat_map(|start| [(start, 7 * typesize), (start, 9 * typesize)])
            {
                // The second array lacks the last row.
                let mut expected = vec![7; start + 3 * rows.in_array];
                rows.copy_to_array(Simd::none(), &block[from..], &mut expected[start..]);
                for (simd, stores) in Simd::available().flat_map(|simd| {
                    [StoreHint::Cached, StoreHint::NonTemporal].map(|stores| (simd, stores))
                }) {
                    let mut array = vec![7; expected.len()];
                    rows.copy_planes_to_array(simd, stores, &planes, from, &mut array[start..]);
                    assert!(
                        array == expected,
                        "{simd:?}, {stores:?}, {typesize} x {nitems} at {start}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_outside_of_either_side_are_left_out() {
        let rows = EvenRows { count: 3, len: 2000, in_block: 2000, in_array: 2000 };
        for simd in [Simd::detect(), Simd::none()] {
            let mut array = vec![0; 4500];
            rows.copy_to_array(simd, &[1; 6000], &mut array);
            assert_eq!((array[3999], array[4000]), (1, 0));
            let mut block = vec![0; 5000];
            rows.copy_to_block(simd, &array, &mut block);
            assert_eq!(block[..4000], [1; 4000]);
            assert_eq!(block[4000..], [0; 1000]);
        }
    }
}
