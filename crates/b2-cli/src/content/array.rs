//! Arrays of all kinds: in a frame, in a Bloscpack file whose metadata say so, and in a directory
//! of bcolz, or opened by another program's opener.

use std::sync::Arc;

use b2frame::{NdArray, nd::Selection};
use bcolz_store::{CArray, DataSet};
use blosc_dtype::Dtype;
use bloscpack::numpy::ArrayInfo;

use crate::{context::Context, error::Result, formats::Blp, inputs::Object, memory};

/// An array, of which parts are read.
pub(crate) enum Array {
    Frame(Box<NdArray>),
    Blp { blp: Box<Blp>, info: ArrayInfo },
    Bcolz(Box<CArray>),
    Opened(Arc<dyn blosc_data::Array>),
}

impl Array {
    /// The array that an object is, or else the object.
    ///
    /// # Errors
    ///
    /// When it says that it is one, and cannot be.
    pub(crate) fn from_object(object: Object, cx: &Context) -> Result<Result<Self, Object>> {
        Ok(match object {
            Object::Frame(schunk) if schunk.nd_meta()?.is_some() => {
                Ok(Self::Frame(Box::new(NdArray::from_schunk(schunk)?.budget(cx.read_options()))))
            }
            Object::Blp(blp) => match blp.file.array_info()? {
                Some(info) => Ok(Self::Blp { blp, info }),
                None => Err(Object::Blp(blp)),
            },
            Object::Bcolz(set) => match set.tuned(&cx.read_options())? {
                DataSet::CArray(array) => Ok(Self::Bcolz(Box::new(array))),
                DataSet::CTable(_) => Err(Object::Bcolz(set)),
            },
            Object::Opened(array) => Ok(Self::Opened(array)),
            object => Err(object),
        })
    }

    /// Type of the items.
    pub(crate) fn dtype(&self) -> &Dtype {
        match self {
            Self::Frame(array) => array.dtype(),
            Self::Blp { info, .. } => info.dtype(),
            Self::Bcolz(array) => array.dtype(),
            Self::Opened(array) => array.dtype(),
        }
    }

    /// Compares what was read with its seal.
    pub(crate) fn compare_seal(&self) -> Result<()> {
        match self {
            Self::Frame(array) => Ok(array.schunk().compare_seal()?),
            _ => Ok(()),
        }
    }

    /// Bytes of an item.
    pub(crate) fn itemsize(&self) -> usize {
        match self {
            Self::Frame(array) => array.typesize(),
            Self::Blp { info, .. } => info.dtype().itemsize(),
            Self::Bcolz(array) => array.dtype().itemsize(),
            Self::Opened(array) => array.dtype().itemsize(),
        }
    }

    /// Items per dimension.
    pub(crate) fn shape(&self) -> &[u64] {
        match self {
            Self::Frame(array) => array.shape(),
            Self::Blp { info, .. } => info.shape(),
            Self::Bcolz(array) => array.shape(),
            Self::Opened(array) => array.shape(),
        }
    }

    /// Fills `dest` with a part, in C order.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is no part of the array.
    pub(crate) fn read(&self, selection: &Selection, dest: &mut [u8]) -> Result<()> {
        match self {
            Self::Frame(array) => Ok(array.read_bytes(selection, dest)?),
            // Nothing has to be listed that may be long.
            _ if dest.is_empty() => Ok(()),
            Self::Blp { .. } | Self::Bcolz(_) | Self::Opened(_) => {
                let positions = selection.positions(self.shape()).map_err(b2frame::Error::from)?;
                self.read_at(
                    &positions.into_iter().map(Iterator::collect).collect::<Vec<_>>(),
                    dest,
                )
            }
        }
    }

    /// Fills `dest` with the items at all combinations of positions, in C order.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(crate) fn read_at(&self, positions: &[Vec<u64>], dest: &mut [u8]) -> Result<()> {
        let lists: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
        match self {
            Self::Frame(array) => Ok(array.read_oindex_bytes(&lists, dest)?),
            Self::Blp { blp, info } => Ok(blp.file.read_oindex_bytes(info, &lists, dest)?),
            Self::Bcolz(array) => of_rows(array, &lists, dest),
            Self::Opened(array) => Ok(array.read_at(&lists, dest)?),
        }
    }
}

/// Reads the selected rows, some at a time, and takes the selected items of each.
fn of_rows(array: &CArray, lists: &[&[u64]], dest: &mut [u8]) -> Result<()> {
    let Some((rows, inner)) = lists.split_first() else { return Ok(()) };
    let rowsize = array.rowsize();
    let part = inner
        .iter()
        .fold(array.dtype().itemsize(), |nbytes, list| nbytes.saturating_mul(list.len()));
    let at_once = (READ_NBYTES / rowsize).max(1);
    let strides = strides(array.shape(), array.dtype().itemsize());
    let mut dest = dest.chunks_exact_mut(part.max(1));
    for some in rows.chunks(at_once) {
        let bytes = array.read_rows(some)?;
        for (row, to) in bytes.chunks_exact(rowsize).zip(&mut dest) {
            take(row, inner, &strides, &mut &mut *to);
        }
    }
    Ok(())
}

/// Bytes from one position to the next in each dimension but the first.
fn strides(shape: &[u64], itemsize: usize) -> Vec<usize> {
    let mut strides = vec![itemsize];
    for len in shape.iter().skip(2).rev() {
        let inner = strides.last().copied().unwrap_or(itemsize);
        strides.push(inner.saturating_mul(memory::as_len(*len)));
    }
    strides.reverse();
    strides
}

/// Copies the items at all combinations of positions to the front of `dest`, which moves on.
fn take(from: &[u8], lists: &[&[u64]], strides: &[usize], dest: &mut &mut [u8]) {
    let (Some((list, lists)), Some((stride, strides))) =
        (lists.split_first(), strides.split_first())
    else {
        let (item, rest) = core::mem::take(dest).split_at_mut(from.len());
        item.copy_from_slice(from);
        *dest = rest;
        return;
    };
    for position in *list {
        let start = memory::as_len(*position).saturating_mul(*stride);
        take(&from[start..start + stride], lists, strides, dest);
    }
}

/// Bytes of rows that are read at once.
const READ_NBYTES: usize = 4 << 20;
