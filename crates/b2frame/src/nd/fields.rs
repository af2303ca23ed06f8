//! Reads some fields of the items of a one-dimensional array, without the others.
//!
//! A shuffle puts the bytes of a field into planes of their own. If shuffle is the only filter,
//! only these planes are joined; of a split block, only their streams are decoded.

use core::ops::Range;

use blosc_io::zeroed;

use super::array::NdArray;
use super::axis::{Axis, Steps};
use super::blocks::BoxBlocks;
use super::geometry::as_len;
use super::{NdParam, Selection};
use crate::error::Result;

impl NdArray {
    /// Reads, from the items `items` of a one-dimensional array, the byte ranges `fields`. Returns
    /// for each field a vector with one item after the other. [`dtype`](Self::dtype) has the ranges
    /// of the fields of structured items.
    ///
    /// # Errors
    /// [`Param::Nd`](crate::error::Param::Nd) if items or bytes are outside of the array or the
    /// item; otherwise as [`to_bytes`](Self::to_bytes).
    pub fn read_fields(&self, items: Range<u64>, fields: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
        let [len] = *self.shape() else {
            return Err(NdParam::Dims { given: 1, ndim: self.shape().len() }.into());
        };
        if items.start > items.end || items.end > len {
            let index = i64::try_from(items.end.max(items.start)).unwrap_or(i64::MAX);
            return Err(NdParam::Index { dim: 0, index, len }.into());
        }
        let itemsize = self.typesize();
        if let Some(field) = fields.iter().find(|f| f.start > f.end || f.end > itemsize) {
            let Range { start, end } = *field;
            return Err(NdParam::Field { start, end, itemsize }.into());
        }
        let count = items.end.saturating_sub(items.start);
        let axes = [Axis::Steps(Steps::run(items.start, count))];
        let nitems = self.checked_len(&axes)?.checked_div(itemsize).unwrap_or(0);
        let mut read: Vec<Vec<u8>> =
            fields.iter().map(|field| zeroed(nitems.saturating_mul(field.len()))).collect();
        if nitems == 0 || fields.is_empty() {
            return Ok(read);
        }
        if self.geometry.shape().len() != 1 {
            let bytes = self.to_bytes(Selection::from((as_index(&items),)))?;
            read.iter_mut().zip(fields).for_each(|(to, field)| take(&bytes, itemsize, field, to));
            return Ok(read);
        }
        let reader = self.reader();
        let budget = reader.budget(nitems.saturating_mul(itemsize) as u64);
        let wanted = BoxBlocks::new(&self.geometry, &axes, budget.share(4));
        reader.read_blocks(&budget, wanted, |spans, block| {
            let Some(span) = spans.first() else { return Ok(()) };
            let Axis::Steps(steps) = span.axis else { return Ok(()) };
            let start = as_len(steps.start.saturating_sub(span.origin));
            let (to, count) = (as_len(steps.to), as_len(steps.count));
            let dests = read.iter_mut().zip(fields).map(|(read, field)| {
                let part = to.saturating_mul(field.len());
                let part = part..part.saturating_add(count.saturating_mul(field.len()));
                read.get_mut(part).unwrap_or_default()
            });
            let mut dests: Vec<&mut [u8]> = dests.collect();
            if start == 0 && block.read_fields(itemsize, count, fields, &mut dests)? {
                return Ok(());
            }
            let from = start.saturating_mul(itemsize);
            let bytes = block.part(from..from.saturating_add(count.saturating_mul(itemsize)))?;
            dests.iter_mut().zip(fields).for_each(|(to, field)| take(bytes, itemsize, field, to));
            Ok(())
        })?;
        Ok(read)
    }
}

fn as_index(items: &Range<u64>) -> Range<i64> {
    let bound = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
    bound(items.start)..bound(items.end)
}

/// Copies the bytes `field` of each item. Numbers are copied without a call for each.
fn take(items: &[u8], itemsize: usize, field: &Range<usize>, dest: &mut [u8]) {
    match field.len() {
        1 => return take_numbers::<1>(items, itemsize, field.start, dest),
        2 => return take_numbers::<2>(items, itemsize, field.start, dest),
        4 => return take_numbers::<4>(items, itemsize, field.start, dest),
        8 => return take_numbers::<8>(items, itemsize, field.start, dest),
        _ => {}
    }
    let dests = dest.chunks_exact_mut(field.len().max(1));
    for (item, dest) in items.chunks_exact(itemsize.max(1)).zip(dests) {
        if let Some(bytes) = item.get(field.clone()) {
            dest.copy_from_slice(bytes);
        }
    }
}

/// As [`take`], for a field of `SIZE` bytes at `start`.
fn take_numbers<const SIZE: usize>(items: &[u8], itemsize: usize, start: usize, dest: &mut [u8]) {
    let dests = dest.as_chunks_mut::<SIZE>().0;
    for (item, dest) in items.chunks_exact(itemsize.max(1)).zip(dests) {
        if let Some(number) = item.get(start..).and_then(|rest| rest.first_chunk()) {
            *dest = *number;
        }
    }
}
