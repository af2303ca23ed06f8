//! Arrays of both kinds: in a frame, and in a Bloscpack file whose metadata say so.

use b2frame::{NdArray, Selection};
use blosc_dtype::Dtype;
use bloscpack::numpy::ArrayInfo;

use crate::{blp::Blp, context::Context, error::Result, object::Object};

/// An array, of which parts are read.
pub(super) enum Array {
    Frame(Box<NdArray>),
    Blp { blp: Box<Blp>, info: ArrayInfo },
}

impl Array {
    /// The array that an object is, or else the object.
    ///
    /// # Errors
    ///
    /// When it says that it is one, and cannot be.
    pub(super) fn of(object: Object, cx: &Context) -> Result<Result<Self, Object>> {
        Ok(match object {
            Object::Frame(schunk) if schunk.nd_meta()?.is_some() => {
                Ok(Self::Frame(Box::new(NdArray::from_schunk(schunk)?.read_options(cx.read_options()))))
            }
            Object::Blp(blp) => match blp.file.array_info()? {
                Some(info) => Ok(Self::Blp { blp, info }),
                None => Err(Object::Blp(blp)),
            },
            object => Err(object),
        })
    }

    /// Type of the items.
    pub(super) fn dtype(&self) -> &Dtype {
        match self {
            Self::Frame(array) => array.dtype(),
            Self::Blp { info, .. } => info.dtype(),
        }
    }

    /// Bytes of an item.
    pub(super) fn itemsize(&self) -> usize {
        match self {
            Self::Frame(array) => array.typesize(),
            Self::Blp { info, .. } => info.dtype().itemsize(),
        }
    }

    /// Items per dimension.
    pub(super) fn shape(&self) -> &[u64] {
        match self {
            Self::Frame(array) => array.shape(),
            Self::Blp { info, .. } => info.shape(),
        }
    }

    /// Number of items.
    pub(super) fn nitems(&self) -> u64 {
        self.shape().iter().fold(1, |nitems, len| nitems.saturating_mul(*len))
    }

    /// Fills `dest` with a part, in C order.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is no part of the array.
    pub(super) fn read(&self, selection: &Selection, dest: &mut [u8]) -> Result<()> {
        match self {
            Self::Frame(array) => Ok(array.read_bytes(selection, dest)?),
            // Nothing has to be listed that may be long.
            Self::Blp { .. } if dest.is_empty() => Ok(()),
            Self::Blp { info, .. } => {
                let positions = selection.positions(info.shape()).map_err(b2frame::Error::from)?;
                self.read_at(&positions.into_iter().map(Iterator::collect).collect::<Vec<_>>(), dest)
            }
        }
    }

    /// Fills `dest` with the items at all combinations of positions, in C order.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(super) fn read_at(&self, positions: &[Vec<u64>], dest: &mut [u8]) -> Result<()> {
        let lists: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
        match self {
            Self::Frame(array) => Ok(array.read_oindex_bytes(&lists, dest)?),
            Self::Blp { blp, info } => Ok(blp.file.read_oindex_bytes(info, &lists, dest)?),
        }
    }
}
