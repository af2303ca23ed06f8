//! Reads an array in C order although it is stored in chunks and blocks.
//!
//! ```text
//!   shape 5 x 3, chunks 4 x 2, blocks 2 x 2            band by band, each a run of whole rows:
//!    1  2 |  3                                          1  2  3  4  5  6  7  8  9 10 11 12
//!    4  5 |  6      a band is a region: full width,       13 14 15
//!    7  8 |  9      as many rows as memory allows,
//!   10 11 | 12      if possible whole rows of chunks
//!   ------+---
//!   13 14 | 15
//! ```
//!
//! If not even one row fits, a band is a part of a row, and the blocks of a row are decoded for
//! each band: slow, but in bounded memory.

use blosc_io::zeroed;

use super::NdArray;
use super::axis::{Axis, Steps};
use super::blocks::Memory;
use super::geometry::{Geometry, as_len, unravel};
use crate::error::{Error, Limited, Result};

impl NdArray {
    /// Passes the bytes of the array in C order to `sink`, piece by piece, in the memory of
    /// [`budget`](Self::budget).
    ///
    /// ```no_run
    /// use b2frame::{Error, NdArray};
    /// use std::io::Write as _;
    ///
    /// let array = NdArray::open("temperature.b2nd")?;
    /// let mut out = std::fs::File::create("temperature.raw")?;
    /// array.for_each_band(|bytes| {
    ///     out.write_all(bytes)?;
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The error of the first bad chunk, [`Error::Limit`] if one item or block needs more memory
    /// than allowed, or the error of `sink`.
    pub fn for_each_band<E: From<Error>>(
        &self,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.nbytes() == 0 {
            return Ok(());
        }
        // Half of the memory for the band, half for the blocks that threads decode.
        let bands = RowRanges::new(&self.geometry, self.options.max_memory / 2)?;
        let reader = self.reader();
        let mut buffer = vec![];
        for nband in 0..bands.count() {
            let band = bands.get(nband);
            let nitems = band.iter().map(Axis::count).product::<u64>();
            let nbytes = as_len(nitems.saturating_mul(self.geometry.typesize()));
            // The first band is the longest.
            if buffer.len() < nbytes {
                buffer = zeroed(nbytes);
            }
            let bytes = buffer.get_mut(..nbytes).unwrap_or_default();
            reader.read(&band, bytes, Memory::Kept)?;
            sink(bytes)?;
        }
        self.schunk().compare_seal()?;
        Ok(())
    }
}

/// An array cut into bands: regions whose bytes follow each other in C order.
struct RowRanges<'a> {
    geometry: &'a Geometry,
    /// The dimension that is cut. The dimensions before it have one position in a band, the
    /// dimensions after it are whole.
    dim: usize,
    /// Length of a band in that dimension (items).
    rows: u64,
}

impl<'a> RowRanges<'a> {
    /// Cuts the array into bands of at most `max` bytes.
    fn new(geometry: &'a Geometry, max: u64) -> Result<Self> {
        let shape = geometry.shape();
        let row = |dim: usize| {
            shape
                .iter()
                .skip(dim.saturating_add(1))
                .product::<u64>()
                .saturating_mul(geometry.typesize())
        };
        let Some(dim) = (0..shape.len()).find(|dim| row(*dim) <= max) else {
            return Err(Error::Limit {
                what: Limited::Memory,
                nbytes: geometry.typesize(),
                limit: max,
            });
        };
        let fitting = max / row(dim).max(1);
        // A chunk or block at the border of two bands is decoded for both.
        let rows = [geometry.chunkshape(), geometry.blockshape()]
            .into_iter()
            .filter_map(|lens| lens.get(dim))
            .find(|len| **len <= fitting)
            .map_or(fitting, |len| fitting - fitting % len);
        Ok(Self { geometry, dim, rows: rows.max(1) })
    }

    /// Length of the cut dimension (items).
    fn along(&self) -> u64 {
        self.geometry.shape().get(self.dim).map_or(1, |len| len.div_ceil(self.rows))
    }

    fn count(&self) -> u64 {
        self.geometry.shape().iter().take(self.dim).product::<u64>().saturating_mul(self.along())
    }

    fn get(&self, nband: u64) -> Vec<Axis<'static>> {
        let shape = self.geometry.shape();
        let outer = unravel(nband / self.along(), shape.get(..self.dim).unwrap_or_default());
        let start = nband % self.along() * self.rows;
        let steps = |(dim, len): (usize, &u64)| match outer.get(dim) {
            Some(at) => Steps::run(*at, 1),
            None if dim == self.dim => Steps::run(start, self.rows.min(*len - start)),
            None => Steps::run(0, *len),
        };
        shape.iter().enumerate().map(steps).map(Axis::Steps).collect()
    }
}

#[cfg(test)]
mod tests {
    use core::ops::Range;

    use super::super::NdMeta;
    use super::*;

    /// The ranges of each band in each dimension.
    fn bands(max: u64) -> Vec<Vec<Range<u64>>> {
        let geometry = Geometry::new(&NdMeta::new(&[5, 3], &[4, 2], &[2, 2], "<i2").unwrap(), 2);
        let bands = RowRanges::new(&geometry, max).unwrap();
        let range = |axis: Axis<'_>| match axis {
            Axis::Steps(steps) => steps.start..steps.last() + 1,
            Axis::List(_) => panic!("a list"),
        };
        (0..bands.count()).map(|n| bands.get(n).into_iter().map(range).collect()).collect()
    }

    #[test]
    fn bands_are_whole_rows_of_chunks_then_of_blocks_then_less() {
        assert_eq!(bands(1000), [vec![0..5, 0..3]]);
        assert_eq!(bands(29), [vec![0..4, 0..3], vec![4..5, 0..3]]);
        assert_eq!(bands(23), [vec![0..2, 0..3], vec![2..4, 0..3], vec![4..5, 0..3]]);
        assert_eq!(bands(6).len(), 5);
        assert_eq!(bands(5)[..3], [vec![0..1, 0..2], vec![0..1, 2..3], vec![1..2, 0..2]]);
    }

    #[test]
    fn an_item_larger_than_memory_is_a_limit() {
        let geometry = Geometry::new(&NdMeta::new(&[2], &[2], &[1], "<c16").unwrap(), 16);
        assert!(matches!(
            RowRanges::new(&geometry, 15),
            Err(Error::Limit { nbytes: 16, limit: 15, .. })
        ));
    }
}
