//! Ndcell, id 32: stores the items of each small n-dimensional cell together ("ndcell" in the
//! format document).

use crate::cells::{Cells, geometry};
use crate::filter::{Builtin, check_lengths};
use crate::{BlockGeometry, FilterId, Param, Result};

/// Writes the items of each cell in row-major order, cell after cell. Cells have `side` items in
/// each dimension and are cut where the block ends.
///
/// ```
/// use blosc_filters::{BlockGeometry, functions::ndcell_encode};
/// let mut dest = [0; 12];
/// ndcell_encode(&BlockGeometry::new(&[3, 4]), 1, 2, b"abcdefghijkl", &mut dest)?;
/// assert_eq!(&dest, b"abefcdghijkl");
/// # Ok::<(), blosc_filters::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`](crate::Error::Param) if the shape does not fill the block, has more than 8
/// dimensions, or a cell of `side` has more items than the block;
/// [`Error::Length`](crate::Error::Length) if `src` and `dest` differ in length.
pub fn ndcell_encode(
    geometry: &BlockGeometry<'_>,
    typesize: usize,
    side: u8,
    src: &[u8],
    dest: &mut [u8],
) -> Result {
    check_lengths(src, dest)?;
    let mut at = 0;
    for cell in cut(geometry, typesize, side, src.len())?.iter() {
        for row in cell.rows() {
            let row = &src[row.start * typesize..row.end * typesize];
            dest[at..at + row.len()].copy_from_slice(row);
            at += row.len();
        }
    }
    Ok(())
}

/// Undoes [`ndcell_encode`].
///
/// # Errors
///
/// As [`ndcell_encode`].
pub fn ndcell_decode(
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

fn cut(geometry: &BlockGeometry<'_>, typesize: usize, side: u8, nbytes: usize) -> Result<Cells> {
    Cells::checked(FilterId::NDCELL, check_side(geometry, side), geometry, (typesize, side, nbytes))
}

/// The side is not clamped to the block, but C-Blosc2 refuses cells with more items than the block.
fn check_side(geometry: &BlockGeometry<'_>, side: u8) -> Result<(), Param> {
    if side == 0 {
        return Err(Param::Meta { meta: 0, min: 1, max: 255 });
    }
    let shape = geometry.blockshape().iter();
    let nitems = shape.clone().fold(1_u128, |product, &dim| product.saturating_mul(dim.into()));
    let in_cell = shape.fold(1_u128, |product, _| product.saturating_mul(side.into()));
    if in_cell > nitems { Err(Param::Cell { side }) } else { Ok(()) }
}

/// Ndcell as a filter of the format.
pub(crate) const FILTER: Builtin = Builtin::lossless(
    FilterId::NDCELL,
    |cx, meta, src, dest| {
        ndcell_encode(geometry(cx, FilterId::NDCELL)?, cx.schunk_typesize, meta, src, dest)
    },
    |cx, meta, src, dest| {
        ndcell_decode(geometry(cx, FilterId::NDCELL)?, cx.schunk_typesize, meta, src, dest)
    },
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Filter, FilterCx};
    use alloc::vec;
    use alloc::vec::Vec;

    fn items(nitems: u16) -> Vec<u8> {
        (0..nitems).flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn decode_undoes_encode() {
        for shape in [&[60][..], &[6, 10], &[5, 4, 3], &[1, 2, 1, 3, 1, 5, 1, 2], &[1, 60]] {
            let (geometry, src) = (BlockGeometry::new(shape), items(60));
            for side in [1, 2, 3, 7] {
                let (mut filtered, mut restored) = (vec![0xEE; 120], vec![0xEE; 120]);
                let encoded = ndcell_encode(&geometry, 2, side, &src, &mut filtered);
                if usize::from(side).pow(shape.len() as u32) > 60 {
                    let what = Param::Cell { side };
                    assert_eq!(encoded, Err(Error::Param { id: FilterId::NDCELL, what }));
                    continue;
                }
                ndcell_decode(&geometry, 2, side, &filtered, &mut restored).unwrap();
                assert_eq!(restored, src, "{shape:?}, side {side}");
            }
        }
    }

    #[test]
    fn side_0_no_shape_and_other_shapes_are_refused() {
        let error = |what| Err(Error::Param { id: FilterId::NDCELL, what });
        let geometry = BlockGeometry::new(&[2, 2]);
        let (src, mut dest) = ([0; 4], [0; 4]);
        let meta = Param::Meta { meta: 0, min: 1, max: 255 };
        assert_eq!(ndcell_encode(&geometry, 1, 0, &src, &mut dest), error(meta));
        assert_eq!(
            ndcell_decode(&geometry, 2, 2, &src, &mut dest),
            error(Param::Shape { block: 4 })
        );
        let mut cx = FilterCx::new(1);
        assert_eq!(FILTER.backward(&cx, 2, &src, &mut dest), error(Param::NoGeometry));
        cx.geometry = Some(&geometry);
        assert_eq!(FILTER.backward(&cx, 2, &src, &mut dest), Ok(()));
    }
}
