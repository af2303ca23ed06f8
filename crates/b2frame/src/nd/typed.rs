//! Reading parts of an array as values.

use super::array::NdArray;
use super::axis::{Axis, Steps};
use super::blocks::Memory;
use super::read::lists;
use super::{Element, NdParam, Selection};
use crate::error::Result;

impl NdArray {
    /// Reads all items in C order.
    ///
    /// # Errors
    /// As [`read_slice`](Self::read_slice).
    pub fn read<T: Element>(&self) -> Result<Vec<T>> {
        self.read_slice(Selection::ALL)
    }

    /// Reads a part in C order. [`Selection::shape`] returns its shape.
    ///
    /// # Errors
    /// [`NdParam::Dtype`] if the items are of another type, or as [`to_bytes`](Self::to_bytes).
    pub fn read_slice<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        let steps = selection.into().resolve(self.shape())?;
        self.read_typed(&steps.into_iter().map(Axis::Steps).collect::<Vec<_>>())
    }

    /// Reads a part in C order to `dest`, which has the same number of items.
    ///
    /// # Errors
    /// [`NdParam::Dtype`], or as [`read_bytes`](Self::read_bytes).
    pub fn read_slice_into<T: Element>(
        &self,
        selection: impl Into<Selection>,
        dest: &mut [T],
    ) -> Result<()> {
        self.check_dtype::<T>()?;
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        T::read_into(self.dtype(), dest, &mut |bytes| self.read_axes(&axes, bytes))
    }

    /// Reads one item. [`gather`](Self::gather) is faster for many.
    ///
    /// # Errors
    /// [`NdParam::Dims`], [`NdParam::Index`], or as [`read_slice`](Self::read_slice).
    pub fn get<T: Element>(&self, index: &[u64]) -> Result<T> {
        self.check_dtype::<T>()?;
        let (given, ndim) = (index.len(), self.ndim());
        if given != ndim {
            return Err(NdParam::Dims { given, ndim }.into());
        }
        let axis = |(dim, (&at, &len)): (usize, (&u64, &u64))| {
            let outside =
                || NdParam::Index { dim, index: i64::try_from(at).unwrap_or(i64::MAX), len };
            if at < len { Ok(Axis::Steps(Steps::run(at, 1))) } else { Err(outside()) }
        };
        let axes: Vec<_> =
            index.iter().zip(self.shape()).enumerate().map(axis).collect::<Result<_, _>>()?;
        let mut item = vec![0; self.typesize()];
        self.read_axes(&axes, &mut item)?;
        Ok(T::decode(self.dtype(), &item))
    }

    /// Reads the items at all combinations of these positions: see
    /// [`read_oindex_bytes`](Self::read_oindex_bytes).
    ///
    /// # Errors
    /// As [`read_slice`](Self::read_slice).
    pub fn read_oindex<T: Element>(&self, positions: &[&[u64]]) -> Result<Vec<T>> {
        let lists = lists(self.shape(), positions)?;
        self.read_typed(&lists.iter().map(|list| Axis::List(list)).collect::<Vec<_>>())
    }

    /// Reads single items, given by their numbers in C order. The numbers may be unsorted and
    /// repeated. A block that holds several of the items is decoded once.
    ///
    /// # Errors
    /// [`NdParam::Item`], or as [`read_slice`](Self::read_slice).
    pub fn gather<T: Element>(&self, items: &[u64]) -> Result<Vec<T>> {
        self.check_dtype::<T>()?;
        T::read_vec(self.dtype(), items.len(), &mut |bytes| self.gather_bytes(items, bytes))
    }

    fn read_typed<T: Element>(&self, axes: &[Axis<'_>]) -> Result<Vec<T>> {
        self.check_dtype::<T>()?;
        let nitems = self.checked_len(axes)?.checked_div(self.typesize()).unwrap_or(0);
        T::read_vec(self.dtype(), nitems, &mut |bytes| self.read_axes_to(Memory::New, axes, bytes))
    }

    fn check_dtype<T: Element>(&self) -> Result<(), NdParam> {
        if T::accepts(self.dtype()) {
            return Ok(());
        }
        Err(NdParam::Dtype { dtype: self.dtype().to_string(), wanted: T::dtype().to_string() })
    }
}
