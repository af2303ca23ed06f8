//! Changes of an array's shape ("Other shapes" in `docs/formats/b2nd.md`).
//!
//! ```text
//! 5 x 3 in chunks of 4 x 2, made 5 x 5: the grid gets a column, and numbers in it change
//!   0 1        0 1 +
//!   2 3        2 3 +      chunks keep their positions in the file; the index is made anew
//! ```

use super::axis::{Axis, Steps};
use super::geometry::{ravel, unravel};
use super::patch::Items;
use super::writer::NdWriter;
use super::{Element, Geometry, NdMeta, NdParam, Pick};
use crate::error::{Param, Result};
use crate::offsets::MAX_NCHUNKS;

impl NdWriter {
    /// Gives the array another shape: dimensions shrink and grow at their ends. New items are zero,
    /// even where an earlier shrinking had hidden items.
    ///
    /// # Errors
    /// [`NdParam::Dims`]; [`NdParam::Shapes`] if the shape is too large, or has items although the
    /// array was made without a chunk shape; the error of a chunk.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.lock()?;
        let old = self.shape().to_vec();
        let (given, ndim) = (shape.len(), old.len());
        if given != ndim {
            return Err(NdParam::Dims { given, ndim }.into());
        }
        let low: Vec<u64> = old.iter().zip(shape).map(|(old, new)| *old.min(new)).collect();
        self.grow(shape)?;
        self.clear_visible(&low)
    }

    /// As [`resize`](Self::resize), for callers that write all items that become visible.
    pub(super) fn grow(&mut self, shape: &[u64]) -> Result<()> {
        self.regrid(shape, |index, _| Some(index.to_vec()))
    }

    /// Appends bytes of items in C order along a dimension: the other dimensions have the lengths
    /// of the array.
    ///
    /// # Errors
    /// [`NdParam::Axis`], [`Param::BufferLen`] for items that do not fill the other dimensions, or
    /// as [`resize`](Self::resize) and [`write_bytes`](Self::write_bytes).
    pub fn append_bytes(&mut self, axis: usize, items: &[u8]) -> Result<()> {
        self.lock()?;
        let len = self.axis_len(axis)?;
        self.insert_bytes(axis, len, items)
    }

    /// Appends values along a dimension.
    ///
    /// # Errors
    /// [`NdParam::Dtype`], or as [`append_bytes`](Self::append_bytes).
    pub fn append<T: Element>(&mut self, axis: usize, items: &[T]) -> Result<()> {
        self.check_dtype::<T>()?;
        self.append_bytes(axis, &T::to_bytes(items))
    }

    /// Inserts bytes of items in C order before a position of a dimension. The position and the
    /// number of items along the dimension are multiples of the chunk's length, except at the end.
    ///
    /// # Errors
    /// [`NdParam::Align`], or as [`append_bytes`](Self::append_bytes).
    pub fn insert_bytes(&mut self, axis: usize, at: u64, items: &[u8]) -> Result<()> {
        self.lock()?;
        let old = self.axis_len(axis)?;
        let others = self.shape().iter().enumerate().filter(|(dim, _)| *dim != axis);
        let layer =
            others.fold(self.geometry.typesize(), |nbytes, (_, len)| nbytes.saturating_mul(*len));
        let nbytes = items.len() as u64;
        if nbytes.checked_rem(layer).is_none_or(|rest| rest > 0) {
            let expected = nbytes.checked_next_multiple_of(layer).unwrap_or(0);
            return Err(Param::BufferLen { len: nbytes, expected }.into());
        }
        let len = nbytes.checked_div(layer).unwrap_or(0);
        self.check_aligned(axis, at, len)?;
        let mut shape = self.shape().to_vec();
        if let Some(long) = shape.get_mut(axis) {
            *long = old.saturating_add(len);
        }
        // The first new layer of chunks, and the number of new layers.
        let chunklen = self.chunklen(axis);
        let (from, more) =
            (at.checked_div(chunklen).unwrap_or(0), len.checked_div(chunklen).unwrap_or(0));
        self.regrid(&shape, |index, axis_at| match axis_at(index, axis) {
            _ if at == old => Some(index.to_vec()),
            layer if layer < from => Some(index.to_vec()),
            layer if layer < from + more => None,
            layer => Some(moved(index, axis, layer - more)),
        })?;
        let mut picks = vec![Pick::ALL; shape.len()];
        if let Some(pick) = picks.get_mut(axis) {
            *pick = Pick::from(at..at.saturating_add(len));
        }
        self.write_bytes(picks, items)
    }

    /// Inserts values before a position of a dimension.
    ///
    /// # Errors
    /// [`NdParam::Dtype`], or as [`insert_bytes`](Self::insert_bytes).
    pub fn insert<T: Element>(&mut self, axis: usize, at: u64, items: &[T]) -> Result<()> {
        self.check_dtype::<T>()?;
        self.insert_bytes(axis, at, &T::to_bytes(items))
    }

    /// Removes `len` items along a dimension from position `at` on. Both are multiples of the
    /// chunk's length, except at the end.
    ///
    /// # Errors
    /// [`NdParam::Axis`], [`NdParam::Align`], or [`Param::Range`].
    pub fn delete(&mut self, axis: usize, at: u64, len: u64) -> Result<()> {
        self.lock()?;
        let old = self.axis_len(axis)?;
        let end = at.checked_add(len).filter(|end| *end <= old);
        let Some(end) = end else {
            return Err(Param::Range { start: at, end: at.saturating_add(len), len: old }.into());
        };
        if end < old {
            self.check_aligned(axis, at, len)?;
        }
        let mut shape = self.shape().to_vec();
        if let Some(short) = shape.get_mut(axis) {
            *short = old - len;
        }
        let chunklen = self.chunklen(axis);
        let (from, less) =
            (at.checked_div(chunklen).unwrap_or(0), len.checked_div(chunklen).unwrap_or(0));
        self.regrid(&shape, |index, axis_at| match axis_at(index, axis) {
            layer if end == old || layer < from => Some(index.to_vec()),
            layer => Some(moved(index, axis, layer + less)),
        })
    }

    /// Makes the index for another shape. `source` returns the old chunk for a position in the new
    /// grid of chunks, if there is one.
    fn regrid(
        &mut self,
        shape: &[u64],
        source: impl Fn(&[u64], fn(&[u64], usize) -> u64) -> Option<Vec<u64>>,
    ) -> Result<()> {
        let old = self.meta.grid();
        let meta = self.meta.with_shape(shape)?;
        let (grid, nchunks) = (meta.grid(), meta.nchunks());
        if nchunks > MAX_NCHUNKS {
            return Err(Param::TooManyChunks { max: MAX_NCHUNKS }.into());
        }
        let at = |index: &[u64], axis: usize| index.get(axis).copied().unwrap_or(0);
        let chunk = |nchunk: u64| {
            let index = source(&unravel(nchunk, &grid), at)?;
            let is_there = index.iter().zip(&old).all(|(at, len)| at < len);
            is_there.then(|| ravel(&index, &old))
        };
        let chunks: Vec<Option<u64>> = (0..nchunks).map(chunk).collect();
        self.writer.rearrange(&chunks)?;
        self.writer.set_meta(NdMeta::NAME, &meta.encode())?;
        self.geometry = Geometry::new(&meta, self.dtype().itemsize());
        self.meta = meta;
        Ok(())
    }

    /// Zeros the padding of old chunks that has become visible. `old` is the part of the shape that
    /// was visible before.
    fn clear_visible(&mut self, old: &[u64]) -> Result<()> {
        let shape = self.shape().to_vec();
        let chunkshape = self.geometry.chunkshape().to_vec();
        // The end of the old chunks.
        let reach: Vec<u64> = (old.iter().zip(&shape).zip(&chunkshape))
            .map(|((old, new), chunk)| {
                old.checked_next_multiple_of(*chunk).unwrap_or(*old).min(*new)
            })
            .collect();
        for (dim, (&from, &to)) in old.iter().zip(&reach).enumerate() {
            if from == to {
                continue;
            }
            let run = |(other, len): (usize, &u64)| {
                let steps = if other == dim {
                    Steps { start: from, ..Steps::run(0, to - from) }
                } else {
                    Steps::run(0, *len)
                };
                Axis::Steps(steps)
            };
            let axes: Vec<_> = reach.iter().enumerate().map(run).collect();
            self.write_axes(&axes, Items::Zeros)?;
        }
        Ok(())
    }

    fn axis_len(&self, axis: usize) -> Result<u64> {
        let ndim = self.shape().len();
        let none = NdParam::Axis { axis, ndim, what: "there is none of this number" };
        Ok(self.shape().get(axis).copied().ok_or(none)?)
    }

    fn chunklen(&self, axis: usize) -> u64 {
        self.geometry.chunkshape().get(axis).copied().unwrap_or(1)
    }

    /// Checks that a change in the middle adds or removes whole layers of chunks.
    fn check_aligned(&self, axis: usize, at: u64, len: u64) -> Result<()> {
        let (old, chunklen) = (self.axis_len(axis)?, self.chunklen(axis));
        if at > old {
            return Err(Param::Range { start: at, end: at.saturating_add(len), len: old }.into());
        }
        let is_aligned = |number: u64| number.checked_rem(chunklen) == Some(0);
        if at == old || (is_aligned(at) && is_aligned(len)) {
            return Ok(());
        }
        Err(NdParam::Align { axis, at: if is_aligned(at) { len } else { at }, chunklen }.into())
    }
}

fn moved(index: &[u64], axis: usize, to: u64) -> Vec<u64> {
    let mut index = index.to_vec();
    index.get_mut(axis).into_iter().for_each(|at| *at = to);
    index
}
