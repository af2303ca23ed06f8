//! What a caller gives to be browsed.

use core::ops::Range;
use std::rc::Rc;

use b2_plot::Scene;
use blosc_dtype::Dtype;

use crate::opened::Opened;

/// An input: a list of members, of which one after the other is looked at.
pub trait Source {
    /// Why something cannot be read.
    type Error;

    /// The name of the input, harmless.
    fn title(&self) -> String;

    /// Its members in their order; those of groups come after these, with a larger depth.
    fn members(&self) -> &[Member];

    /// Opens the member with this number.
    ///
    /// # Errors
    ///
    /// A member that has no items, or cannot be opened.
    fn open(&self, member: usize) -> Result<Opened<Self::Error>, Self::Error>;

    /// A picture of the last two dimensions of a member, at `fixed` positions of those before.
    ///
    /// # Errors
    ///
    /// When there are no numbers to draw, or they cannot be read.
    fn scene(&self, member: usize, fixed: &[u64]) -> Result<Scene, Self::Error>;

    /// The error with its causes, on one line.
    fn explain(&self, error: &Self::Error) -> String;
}

/// One thing that can be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name in the list, as it is stored.
    pub label: String,
    /// Steps to the right in the list.
    pub depth: usize,
}

/// Items of one type in some dimensions, of which boxes are read.
pub trait Items {
    /// Why items cannot be read.
    type Error;

    /// Type of the items.
    fn dtype(&self) -> &Dtype;

    /// Items per dimension; empty for a single item.
    fn shape(&self) -> &[u64];

    /// Fills `bytes` with the items of a box in C order: a range for each dimension, all of them
    /// within the shape. Says which items are no null, if there may be any.
    ///
    /// # Errors
    ///
    /// Items that cannot be read.
    fn read(
        &self,
        bounds: &[Range<u64>],
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Vec<bool>>, Self::Error>;
}

impl<T: Items + ?Sized> Items for Rc<T> {
    type Error = T::Error;

    fn dtype(&self) -> &Dtype {
        (**self).dtype()
    }

    fn shape(&self) -> &[u64] {
        (**self).shape()
    }

    fn read(
        &self,
        bounds: &[Range<u64>],
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Vec<bool>>, Self::Error> {
        (**self).read(bounds, bytes)
    }
}

/// One field of items that have some, as items of its type.
#[derive(Debug)]
pub struct OneField<T> {
    items: T,
    dtype: Dtype,
    offset: usize,
}

impl<T: Items> OneField<T> {
    /// The field of this name; `None` without one.
    #[must_use]
    pub fn new(items: T, name: &str) -> Option<Self> {
        let field = items.dtype().fields().iter().find(|field| field.name() == name)?;
        let (dtype, offset) = (field.dtype().clone(), field.offset());
        Some(Self { items, dtype, offset })
    }
}

impl<T: Items> Items for OneField<T> {
    type Error = T::Error;

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        self.items.shape()
    }

    fn read(
        &self,
        bounds: &[Range<u64>],
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Vec<bool>>, Self::Error> {
        let mut whole = vec![];
        let valid = self.items.read(bounds, &mut whole)?;
        let end = self.offset.saturating_add(self.dtype.itemsize());
        bytes.clear();
        for item in whole.chunks_exact(self.items.dtype().itemsize().max(1)) {
            bytes.extend_from_slice(item.get(self.offset..end).unwrap_or_default());
        }
        Ok(valid)
    }
}

/// Compressed chunks, as far as a map of them tells.
pub trait Chunks {
    /// Number of chunks.
    fn nchunks(&self) -> u64;

    /// Chunks per dimension of an array.
    fn grid(&self) -> Option<Vec<u64>>;

    /// Bytes of a chunk before and after compression; `None` if it cannot be read.
    fn sizes(&self, nchunk: u64) -> Option<(u64, u64)>;
}
