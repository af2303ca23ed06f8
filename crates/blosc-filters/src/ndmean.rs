//! Ndmean, id 33, lossy: every item becomes the mean of its n-dimensional cell ("ndmean" in the
//! format document).

use core::ops::Range;

use crate::cells::{Cell, Cells, geometry};
use crate::filter::{Builtin, check_lengths};
use crate::{BlockGeometry, FilterId, Param, Result};

/// Writes the mean of each cell of `f32` (typesize 4) or `f64` (typesize 8) items, once for each
/// item, cell after cell. Cells have `side` items in each dimension, or as many as the block has if
/// that is less; the end of the block cuts them.
///
/// ```
/// use blosc_filters::{BlockGeometry, functions::ndmean_encode};
/// let src: Vec<u8> = [1.0, 2.0, 3.0, 10.0_f64].iter().flat_map(|x| x.to_ne_bytes()).collect();
/// let mut dest = [0; 32];
/// ndmean_encode(&BlockGeometry::new(&[4]), 8, 3, &src, &mut dest)?;
/// assert_eq!(dest[..8], 2_f64.to_ne_bytes());
/// assert_eq!(dest[24..], 10_f64.to_ne_bytes());
/// # Ok::<(), blosc_filters::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`](crate::Error::Param) if the typesize is another one, the side not in 1..=127,
/// or the shape does not fill the block, has more than 8 dimensions, or is one that C-Blosc2
/// cannot read: the first dimension below `side` and another above it.
/// [`Error::Length`](crate::Error::Length) if `src` and `dest` differ in length.
pub fn ndmean_encode(
    geometry: &BlockGeometry<'_>,
    typesize: usize,
    side: u8,
    src: &[u8],
    dest: &mut [u8],
) -> Result {
    check_lengths(src, dest)?;
    let cells = cut(geometry, typesize, side, src.len())?;
    let mut at = 0;
    for cell in cells.iter() {
        let to = &mut dest[at..at + cell.nitems() * typesize];
        match typesize {
            4 => fill(to, mean_f32(&cell, src).to_ne_bytes()),
            _ => fill(to, mean_f64(&cell, src).to_ne_bytes()),
        }
        at += to.len();
    }
    Ok(())
}

/// Moves the means to the positions of their cells' items.
///
/// # Errors
///
/// As [`ndmean_encode`].
pub fn ndmean_decode(
    geometry: &BlockGeometry<'_>,
    typesize: usize,
    side: u8,
    src: &[u8],
    dest: &mut [u8],
) -> Result {
    check_lengths(src, dest)?;
    cut(geometry, typesize, side, src.len())?.spread(typesize, src, dest);
    Ok(())
}

fn fill<const N: usize>(dest: &mut [u8], mean: [u8; N]) {
    dest.as_chunks_mut().0.fill(mean);
}

/// The sum is taken in the items' own precision, in row-major order: only then are the bits those
/// of C-Blosc2.
#[expect(clippy::cast_precision_loss, reason = "C-Blosc2 divides by the count as a float too")]
fn mean_f32(cell: &Cell<'_>, src: &[u8]) -> f32 {
    items(cell, src).map(f32::from_ne_bytes).fold(0.0, |sum, item| sum + item)
        / cell.nitems() as f32
}

/// As [`mean_f32`].
#[expect(clippy::cast_precision_loss, reason = "C-Blosc2 divides by the count as a float too")]
fn mean_f64(cell: &Cell<'_>, src: &[u8]) -> f64 {
    items(cell, src).map(f64::from_ne_bytes).fold(0.0, |sum, item| sum + item)
        / cell.nitems() as f64
}

/// The items of a cell in row-major order.
fn items<const N: usize>(cell: &Cell<'_>, src: &[u8]) -> impl Iterator<Item = [u8; N]> {
    let src = src.as_chunks::<N>().0;
    cell.rows().flat_map(|row: Range<usize>| src[row].iter().copied())
}

fn cut(geometry: &BlockGeometry<'_>, typesize: usize, side: u8, nbytes: usize) -> Result<Cells> {
    Cells::checked(
        FilterId::NDMEAN,
        check_params(geometry, typesize, side),
        geometry,
        (typesize, side, nbytes),
    )
}

fn check_params(geometry: &BlockGeometry<'_>, typesize: usize, side: u8) -> Result<(), Param> {
    if !matches!(typesize, 4 | 8) {
        return Err(Param::Typesize { typesize });
    }
    if !(1..=127).contains(&side) {
        return Err(Param::Meta { meta: side.cast_signed().into(), min: 1, max: 127 });
    }
    // C-Blosc2 clamps the side of the first dimension to the block, and uses it for all dimensions.
    // If others are larger, it writes wrong means, which it cannot read.
    match geometry.blockshape() {
        [first, others @ ..]
            if *first < u32::from(side) && others.iter().any(|dim| *dim > u32::from(side)) =>
        {
            Err(Param::Cell { side })
        }
        _ => Ok(()),
    }
}

/// Ndmean as a filter of the format.
pub(crate) const FILTER: Builtin = Builtin {
    is_lossy: true,
    ..Builtin::lossless(
        FilterId::NDMEAN,
        |cx, meta, src, dest| {
            ndmean_encode(geometry(cx, FilterId::NDMEAN)?, cx.schunk_typesize, meta, src, dest)
        },
        |cx, meta, src, dest| {
            ndmean_decode(geometry(cx, FilterId::NDMEAN)?, cx.schunk_typesize, meta, src, dest)
        },
    )
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Filter, FilterCx};
    use alloc::vec;
    use alloc::vec::Vec;

    fn floats(items: impl IntoIterator<Item = f32>) -> Vec<u8> {
        items.into_iter().flat_map(f32::to_ne_bytes).collect()
    }

    fn error(what: Param) -> Result {
        Err(Error::Param { id: FilterId::NDMEAN, what })
    }

    #[test]
    fn cells_hold_their_mean() {
        let (src, mut dest) = (floats((1..=24_u8).map(f32::from)), vec![0; 96]);
        ndmean_encode(&BlockGeometry::new(&[4, 6]), 4, 4, &src, &mut dest).unwrap();
        assert_eq!(dest, floats([[11.5; 16].as_slice(), &[14.5; 8]].concat()));
    }

    #[test]
    fn means_return_to_their_cells_and_a_second_run_changes_nothing() {
        let geometry = BlockGeometry::new(&[4, 4]);
        let src = floats([
            0.0, 2.0, 4.0, 4.0, 2.0, 0.0, 4.0, 4.0, 8.0, 8.0, 1.0, 3.0, 8.0, 8.0, 5.0, 7.0,
        ]);
        let (mut filtered, mut means, mut again) = (vec![0; 64], vec![0; 64], vec![0; 64]);
        ndmean_encode(&geometry, 4, 2, &src, &mut filtered).unwrap();
        ndmean_decode(&geometry, 4, 2, &filtered, &mut means).unwrap();
        let halves = [[1.0, 1.0, 4.0, 4.0].repeat(2), [8.0, 8.0, 4.0, 4.0].repeat(2)];
        assert_eq!(means, floats(halves.concat()));
        ndmean_encode(&geometry, 4, 2, &means, &mut again).unwrap();
        assert_eq!(again, filtered);
    }

    #[test]
    fn the_side_is_clamped_to_the_block() {
        let (src, mut dest) = (floats([1.0, 2.0, 3.0]), vec![0; 12]);
        ndmean_encode(&BlockGeometry::new(&[1, 3]), 4, 127, &src, &mut dest).unwrap();
        assert_eq!(dest, floats([2.0; 3]));
    }

    #[test]
    fn other_typesizes_sides_and_shapes_are_refused() {
        let (shape, src, mut dest) = (BlockGeometry::new(&[2, 4]), [0; 32], [0; 32]);
        assert_eq!(
            ndmean_encode(&shape, 2, 2, &src, &mut dest),
            error(Param::Typesize { typesize: 2 })
        );
        for (side, meta) in [(0, 0), (128, -128), (255, -1)] {
            let what = Param::Meta { meta, min: 1, max: 127 };
            assert_eq!(ndmean_decode(&shape, 4, side, &src, &mut dest), error(what));
        }
        assert_eq!(ndmean_encode(&shape, 8, 2, &src, &mut dest), error(Param::Shape { block: 32 }));
        assert_eq!(ndmean_encode(&shape, 4, 3, &src, &mut dest), error(Param::Cell { side: 3 }));
        assert_eq!(ndmean_encode(&shape, 4, 4, &src, &mut dest), Ok(()));
        assert_eq!(FILTER.forward(&FilterCx::new(4), 2, &src, &mut dest), error(Param::NoGeometry));
    }
}
