//! The array as a grid of cells: the items of each cell, and the padding of cells that the edge
//! cuts.

use super::{cell::MAX_CELL, real::Real};

/// Side of a cell (items).
const SIDE: usize = 4;

/// An array of one to four dimensions, fastest first.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    ndim: usize,
    /// Items; 1 in missing dimensions.
    shape: [usize; 4],
    /// Distance between neighbours (items).
    strides: [usize; 4],
}

/// The part of a cell that lies inside the array.
pub(super) struct Cell {
    /// First item.
    at: usize,
    /// Items in each dimension, 1 to 4.
    count: [usize; 4],
}

impl Grid {
    /// `None` unless there are one to four dimensions, none of them empty, and a countable number
    /// of items.
    pub(super) fn new(blockshape: &[u32]) -> Option<Self> {
        let mut shape = [1; 4];
        let mut strides = [0; 4];
        if blockshape.is_empty() || blockshape.len() > shape.len() || blockshape.contains(&0) {
            return None;
        }
        for (to, extent) in shape.iter_mut().zip(blockshape.iter().rev()) {
            *to = usize::try_from(*extent).ok()?;
        }
        let mut nitems = 1usize;
        for (stride, extent) in strides.iter_mut().zip(shape) {
            *stride = nitems;
            nitems = nitems.checked_mul(extent)?;
        }
        Some(Self { ndim: blockshape.len(), shape, strides })
    }

    pub(super) fn ndim(&self) -> usize {
        self.ndim
    }

    /// Number of items in the array.
    pub(super) fn nitems(&self) -> u64 {
        self.shape.iter().map(|extent| *extent as u64).product()
    }

    /// Number of values in a cell.
    pub(super) fn cell_len(&self) -> usize {
        1 << (2 * self.ndim)
    }

    /// Whether a dimension is shorter than a cell.
    pub(super) fn is_thin(&self) -> bool {
        self.shape[..self.ndim].iter().any(|extent| *extent < SIDE)
    }

    /// All cells, fastest dimension first.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> + use<'_> {
        let ncells = self.shape.map(|extent| extent.div_ceil(SIDE));
        (0..ncells.iter().product()).map(move |ncell| self.cell(ncell, &ncells))
    }

    fn cell(&self, ncell: usize, ncells: &[usize; 4]) -> Cell {
        let mut rest = ncell;
        let mut cell = Cell { at: 0, count: [1; 4] };
        for (axis, n) in ncells.iter().enumerate() {
            let origin = rest % n * SIDE;
            rest /= n;
            cell.at += origin * self.strides[axis];
            cell.count[axis] = SIDE.min(self.shape[axis] - origin);
        }
        cell
    }

    /// Copies the items of a cell to `values`; values outside of the array repeat those inside.
    pub(super) fn gather<R: Real>(&self, cell: &Cell, src: &[u8], values: &mut [R; MAX_CELL]) {
        for (at, item) in self.lines(cell) {
            let items = src[item * R::LEN..].chunks_exact(R::LEN).take(cell.count[0]);
            for (value, bytes) in values[at..].iter_mut().zip(items) {
                *value = R::load(bytes);
            }
        }
        for axis in 0..self.ndim {
            pad(axis, &cell.count, values);
        }
    }

    /// Copies the values that lie inside the array to its items.
    pub(super) fn scatter<R: Real>(&self, cell: &Cell, values: &[R; MAX_CELL], dest: &mut [u8]) {
        for (at, item) in self.lines(cell) {
            let items = dest[item * R::LEN..].chunks_exact_mut(R::LEN).take(cell.count[0]);
            for (value, bytes) in values[at..].iter().zip(items) {
                value.store(bytes);
            }
        }
    }

    /// The lines of a cell along the fastest dimension: position in the cell, first item.
    fn lines(&self, cell: &Cell) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [_, ys, zs, ws] = cell.count;
        let ([_, y_stride, z_stride, w_stride], at) = (self.strides, cell.at);
        (0..ws).flat_map(move |w| {
            (0..zs).flat_map(move |z| {
                (0..ys).map(move |y| {
                    (64 * w + 16 * z + 4 * y, at + w * w_stride + z * z_stride + y * y_stride)
                })
            })
        })
    }
}

/// Fills the lines along `axis` up to four values. Lines along faster axes are full by now; along
/// slower ones, only those inside exist.
fn pad<R: Real>(axis: usize, count: &[usize; 4], values: &mut [R; MAX_CELL]) {
    let step = 1 << (2 * axis);
    // Pairs of (value, position in the line that repeats it), by the number of values inside.
    let sources: &[(usize, usize)] = match count[axis] {
        1 => &[(0, 1), (0, 2), (0, 3)],
        2 => &[(1, 2), (0, 3)],
        3 => &[(0, 3)],
        _ => return,
    };
    let outer: usize = count[axis + 1..].iter().map(|_| SIDE).product();
    for group in values.chunks_exact_mut(SIDE * step).take(outer) {
        for (from, to) in sources {
            group.copy_within(from * step..(from + 1) * step, to * step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    fn items(nitems: u16) -> Vec<u8> {
        (0..nitems).flat_map(|n| f32::from(n).to_le_bytes()).collect()
    }

    #[test]
    fn cells_cover_every_item_once() {
        for shape in [&[1_u32][..], &[4], &[5], &[3, 9], &[4, 4], &[2, 5, 7], &[3, 4, 5, 6]] {
            let grid = Grid::new(shape).unwrap();
            let nitems = u16::try_from(grid.nitems()).unwrap();
            let src = items(nitems);
            let mut dest = vec![0xA5; src.len()];
            let mut values = [0.0_f32; MAX_CELL];
            for cell in grid.cells() {
                grid.gather(&cell, &src, &mut values);
                grid.scatter(&cell, &values, &mut dest);
            }
            assert_eq!(dest, src, "{shape:?}");
            let ncells: u32 = shape.iter().map(|extent| extent.div_ceil(4)).product();
            assert_eq!(grid.cells().count(), ncells as usize);
            assert_eq!(grid.cell_len(), 4_usize.pow(u32::try_from(shape.len()).unwrap()));
        }
    }

    #[test]
    fn cut_cells_are_padded_as_zfp_does() {
        let padded = |extent: u32| {
            let grid = Grid::new(&[extent]).unwrap();
            let mut values = [9.0_f32; MAX_CELL];
            let cell = grid.cells().last().unwrap();
            grid.gather(&cell, &items(u16::try_from(extent).unwrap()), &mut values);
            [values[0], values[1], values[2], values[3]]
        };
        assert_eq!(padded(1), [0.0, 0.0, 0.0, 0.0]);
        assert_eq!(padded(2), [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(padded(3), [0.0, 1.0, 2.0, 0.0]);
        assert_eq!(padded(4), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(padded(6), [4.0, 5.0, 5.0, 4.0]);
    }

    #[test]
    fn shapes_that_are_no_arrays_are_refused() {
        for shape in [&[][..], &[0], &[4, 0], &[1; 5], &[u32::MAX; 4]] {
            assert!(Grid::new(shape).is_none(), "{shape:?}");
        }
        assert!(Grid::new(&[3, 9]).unwrap().is_thin());
        assert!(!Grid::new(&[4, 9]).unwrap().is_thin());
    }
}
