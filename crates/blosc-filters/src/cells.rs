//! The cells of a block: small boxes that tile an n-dimensional block. Ndcell and ndmean process
//! one cell at a time.
//!
//! ```text
//!   3 x 5 items, side 2:    0  1 |  2  3 |  4      cells in row-major order of the grid:
//!                           5  6 |  7  8 |  9      0 1 5 6   2 3 7 8   4 9   10 11   12 13   14
//!                          ------+-------+----     those at the border are cut
//!                          10 11 | 12 13 | 14
//! ```

use core::ops::Range;

use crate::{BlockGeometry, Error, FilterCx, FilterId, Param, Result};

/// The cells of a block. Dimensions that the block lacks come first, with one item each.
pub(crate) struct Cells {
    shape: [usize; MAX_NDIM],
    side: [usize; MAX_NDIM],
}

/// One cell: where it starts and how many items it has, per dimension.
pub(crate) struct Cell<'a> {
    cells: &'a Cells,
    start: [usize; MAX_NDIM],
    len: [usize; MAX_NDIM],
}

impl Cells {
    /// Cells of `side` items in each dimension. The product of the shape is checked against the
    /// block.
    pub(crate) fn new(
        geometry: &BlockGeometry<'_>,
        typesize: usize,
        side: u8,
        nbytes: usize,
    ) -> Result<Self, Param> {
        let blockshape = geometry.blockshape();
        let ndim = blockshape.len();
        if !(1..=MAX_NDIM).contains(&ndim) {
            return Err(Param::Dimensions { ndim });
        }
        let mut shape = [1; MAX_NDIM];
        for (to, &from) in shape[MAX_NDIM - ndim..].iter_mut().zip(blockshape) {
            *to = usize::try_from(from).map_err(|_| Param::Shape { block: nbytes })?;
        }
        let product = shape.iter().try_fold(typesize, |product, &dim| product.checked_mul(dim));
        if product != Some(nbytes) || nbytes == 0 {
            return Err(Param::Shape { block: nbytes });
        }
        Ok(Self { shape, side: [usize::from(side).max(1); MAX_NDIM] })
    }

    /// As [`new`](Self::new), after the parameters of the filter `id` were checked.
    pub(crate) fn checked(
        id: FilterId,
        params: Result<(), Param>,
        geometry: &BlockGeometry<'_>,
        (typesize, side, nbytes): (usize, u8, usize),
    ) -> Result<Self> {
        params
            .and_then(|()| Self::new(geometry, typesize, side, nbytes))
            .map_err(|what| Error::Param { id, what })
    }

    /// All cells, the last dimension fastest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Cell<'_>> {
        let grid = core::array::from_fn(|dim| self.shape[dim].div_ceil(self.side[dim]));
        positions(grid).map(|position| {
            let start = core::array::from_fn(|dim| position[dim] * self.side[dim]);
            let len = core::array::from_fn(|dim| self.side[dim].min(self.shape[dim] - start[dim]));
            Cell { cells: self, start, len }
        })
    }

    /// Moves items from cell order to their positions in the block.
    pub(crate) fn spread(&self, typesize: usize, src: &[u8], dest: &mut [u8]) {
        let mut at = 0;
        for cell in self.iter() {
            for row in cell.rows() {
                let row = &mut dest[row.start * typesize..row.end * typesize];
                row.copy_from_slice(&src[at..at + row.len()]);
                at += row.len();
            }
        }
    }
}

impl Cell<'_> {
    /// Number of items in the cell.
    pub(crate) fn nitems(&self) -> usize {
        self.len.iter().product()
    }

    /// The positions of the cell's items in the block: ranges of items, one per row of the cell.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Range<usize>> {
        let mut rows = self.len;
        rows[MAX_NDIM - 1] = 1;
        positions(rows).map(|row| {
            let at = (0..MAX_NDIM)
                .fold(0, |at, dim| at * self.cells.shape[dim] + self.start[dim] + row[dim]);
            at..at + self.len[MAX_NDIM - 1]
        })
    }
}

/// The shape of the block, which the filter `id` needs.
pub(crate) fn geometry<'a>(cx: &FilterCx<'a>, id: FilterId) -> Result<&'a BlockGeometry<'a>> {
    cx.geometry.ok_or(Error::Param { id, what: Param::NoGeometry })
}

/// All positions in a box, the last dimension fastest. No side of the box is 0.
fn positions(sides: [usize; MAX_NDIM]) -> impl Iterator<Item = [usize; MAX_NDIM]> {
    core::iter::successors(Some([0; MAX_NDIM]), move |position| {
        let dim = (0..MAX_NDIM).rev().find(|&dim| position[dim] + 1 < sides[dim])?;
        let mut next = [0; MAX_NDIM];
        next[..dim].copy_from_slice(&position[..dim]);
        next[dim] = position[dim] + 1;
        Some(next)
    })
}

/// Most dimensions that the filters of C-Blosc2 support.
const MAX_NDIM: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn cells(shape: &[u32], side: u8) -> Vec<Vec<usize>> {
        let nitems: u32 = shape.iter().product();
        let cells = Cells::new(&BlockGeometry::new(shape), 1, side, nitems as usize).unwrap();
        cells.iter().map(|cell| cell.rows().flatten().collect()).collect()
    }

    #[test]
    fn cells_go_row_by_row_and_are_cut_at_the_border() {
        assert_eq!(cells(&[5], 2), [[0, 1].as_slice(), &[2, 3], &[4]]);
        let expected: [&[usize]; 6] =
            [&[0, 1, 5, 6], &[2, 3, 7, 8], &[4, 9], &[10, 11], &[12, 13], &[14]];
        assert_eq!(cells(&[3, 5], 2), expected);
    }

    #[test]
    fn every_item_is_in_one_cell() {
        for shape in [&[7, 1, 5][..], &[2, 3, 2, 3], &[1, 2, 1, 3, 2, 1, 2, 3], &[64]] {
            for side in [1, 2, 3, 4, 255] {
                let mut items = cells(shape, side).concat();
                items.sort_unstable();
                assert!(
                    items.into_iter().eq(0..shape.iter().product::<u32>() as usize),
                    "{shape:?}, side {side}"
                );
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fill_the_block_are_refused() {
        let error = |shape: &[u32], typesize, nbytes| {
            Cells::new(&BlockGeometry::new(shape), typesize, 2, nbytes).err()
        };
        assert_eq!(error(&[], 1, 1), Some(Param::Dimensions { ndim: 0 }));
        assert_eq!(error(&[1; 9], 1, 1), Some(Param::Dimensions { ndim: 9 }));
        assert_eq!(error(&[2, 4], 2, 8), Some(Param::Shape { block: 8 }));
        assert_eq!(error(&[2, 4], 0, 8), Some(Param::Shape { block: 8 }));
        assert_eq!(error(&[0, 4], 1, 0), Some(Param::Shape { block: 0 }));
        assert_eq!(error(&[u32::MAX; 8], 255, 8), Some(Param::Shape { block: 8 }));
        assert_eq!(error(&[2, 4], 1, 8), None);
    }
}
