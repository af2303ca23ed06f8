//! The input of a browser, which the caller provides.

use core::ops::Range;
use std::rc::Rc;

use b2_plot::Scene;
use blosc_dtype::Dtype;

use crate::opened::Opened;

/// An input: a list of members, one of which is open at a time.
pub trait Source {
    /// The error of reading.
    type Error;

    /// The name of the input, harmless.
    fn title(&self) -> String;

    /// Its members in their order; members of a group follow it, with a larger depth.
    fn members(&self) -> &[Member];

    /// Opens the member with this number.
    ///
    /// # Errors
    ///
    /// The member has no items, or cannot be opened.
    fn open(&self, member: usize) -> Result<Opened<Self::Error>, Self::Error>;

    /// A picture of the last two dimensions of a member, at `fixed` positions of the other
    /// dimensions.
    ///
    /// # Errors
    ///
    /// There are no numbers to draw, or they cannot be read.
    fn scene(&self, member: usize, fixed: &[u64]) -> Result<Scene, Self::Error>;

    /// The error with its causes, on one line.
    fn explain(&self, error: &Self::Error) -> String;
}

/// An item of the list, which can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name in the list, as it is stored.
    pub label: String,
    /// Levels of indentation in the list.
    pub depth: usize,
}

/// Items of one type in any number of dimensions, read in boxes.
pub trait Items {
    /// The error of reading items.
    type Error;

    /// Type of the items.
    fn dtype(&self) -> &Dtype;

    /// Items per dimension; empty for a single item.
    fn shape(&self) -> &[u64];

    /// Fills `bytes` with the items of a box in C order: a range for each dimension, all of them
    /// within the shape. Returns which items are valid, if some may be null.
    ///
    /// # Errors
    ///
    /// The items cannot be read.
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

/// One field of structured items, as items of its type.
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

/// Compressed chunks, with the facts that a map of them needs.
pub trait Chunks {
    /// Number of chunks.
    fn nchunks(&self) -> u64;

    /// Chunks per dimension of an array.
    fn grid(&self) -> Option<Vec<u64>>;

    /// Bytes of a chunk before and after compression; `None` if it cannot be read.
    fn sizes(&self, nchunk: u64) -> Option<(u64, u64)>;
}
