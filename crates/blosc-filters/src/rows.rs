//! Rows of bytes between a block, which is in a cache, and an array that is too large for one.

use crate::{Simd, arch};

/// Rows that lie evenly on two sides: in a block, and in a large array that others use before and after.
///
/// Such rows are too short for the processor to foresee where the next one is, so it is told; or they are long enough to be
/// written past the cache.
///
/// ```
/// use blosc_filters::{EvenRows, Simd};
///
/// let rows = EvenRows { count: 2, len: 3, in_block: 3, in_array: 5 };
/// let mut array = *b"..........";
/// rows.put(Simd::detect(), b"abcdef", &mut array);
/// assert_eq!(&array, b"abc..def..");
/// let mut block = [0; 6];
/// rows.take(Simd::detect(), &array, &mut block);
/// assert_eq!(&block, b"abcdef");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvenRows {
    /// How many.
    pub count: usize,
    /// Bytes of a row.
    pub len: usize,
    /// Bytes from the start of a row to that of the next in the block.
    pub in_block: usize,
    /// The same in the array.
    pub in_array: usize,
}

impl EvenRows {
    /// Copies rows from the start of `block` to the start of `array`, as far as both have them.
    pub fn put(self, simd: Simd, block: &[u8], array: &mut [u8]) {
        arch::put_rows(simd, self, block, array);
    }

    /// Copies rows from the start of `array` to the start of `block`, as far as both have them.
    pub fn take(self, simd: Simd, array: &[u8], block: &mut [u8]) {
        arch::take_rows(simd, self, array, block);
    }

    /// Where a row is, counted from the first, when there are so many bytes from one to the next.
    pub(crate) fn row(self, n: usize, stride: usize) -> core::ops::Range<usize> {
        let start = n.saturating_mul(stride);
        start..start.saturating_add(self.len)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// Every level against a loop over rows, wherever the array starts.
    #[test]
    fn rows_go_where_they_belong() {
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
                    expected[start..][rows.row(n, rows.in_array)].copy_from_slice(&block[rows.row(n, len)]);
                }
                for simd in [Simd::detect(), Simd::none()] {
                    let (mut array, mut back) = (vec![7; expected.len()], vec![0; block.len()]);
                    rows.put(simd, &block, &mut array[start..]);
                    assert_eq!(array, expected);
                    rows.take(simd, &array[start..], &mut back);
                    assert_eq!(back, block);
                }
            }
        }
    }

    #[test]
    fn rows_that_are_not_there_are_left_out() {
        let rows = EvenRows { count: 3, len: 2000, in_block: 2000, in_array: 2000 };
        for simd in [Simd::detect(), Simd::none()] {
            let mut array = vec![0; 4500];
            rows.put(simd, &[1; 6000], &mut array);
            assert_eq!((array[3999], array[4000]), (1, 0));
            let mut block = vec![0; 5000];
            rows.take(simd, &array, &mut block);
            assert_eq!(block[..4000], [1; 4000]);
            assert_eq!(block[4000..], [0; 1000]);
        }
    }
}
