//! Rows between a block and an array.

use crate::rows::EvenRows;

/// Copies from the block to the array.
pub(crate) fn put_rows(rows: EvenRows, block: &[u8], array: &mut [u8]) {
    for n in 0..rows.count {
        copy(block.get(rows.row(n, rows.in_block)), array.get_mut(rows.row(n, rows.in_array)));
    }
}

/// Copies from the array to the block.
pub(crate) fn take_rows(rows: EvenRows, array: &[u8], block: &mut [u8]) {
    for n in 0..rows.count {
        copy(array.get(rows.row(n, rows.in_array)), block.get_mut(rows.row(n, rows.in_block)));
    }
}

/// Restores items from the planes of a block into the array.
pub(crate) fn put_planes(rows: EvenRows, planes: &[&[u8]], from: usize, array: &mut [u8]) {
    for n in 0..rows.count {
        let items = rows.items(n, from, planes);
        if let Some((items, to)) = items.zip(array.get_mut(rows.row(n, rows.in_array))) {
            super::shuffle::unshuffle_from(planes, items.start, to);
        }
    }
}

fn copy(from: Option<&[u8]>, to: Option<&mut [u8]>) {
    if let Some((from, to)) = from.zip(to) {
        to.copy_from_slice(from);
    }
}
