//! What callers may ask of an array, and when they ask for what is not there.

/// A request that does not fit the array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum NdParam {
    /// A selection or shape of more dimensions than there are.
    #[error("number of dimensions: {given} given, {ndim} in the array")]
    Dims { given: usize, ndim: usize },
    /// A position outside of the array.
    #[error("index {index} in dimension {dim}, which has {len} items")]
    Index { dim: usize, index: i64, len: u64 },
    /// A flat position after the last item.
    #[error("item {item} of an array that has {nitems}")]
    Item { item: u64, nitems: u64 },
    /// A slice that goes nowhere.
    #[error("a step of 0 in dimension {dim}")]
    Step { dim: usize },
    /// A dimension that is not there, or not of length 1 where that is required, or named twice.
    #[error("dimension {axis} of {ndim}: {what}")]
    Axis { axis: usize, ndim: usize, what: &'static str },
    /// Shapes that contradict each other, or are too large.
    #[error(
        "blocks of {blocks:?} do not fit chunks of {chunks:?}, or an array of {shape:?}, or are too large"
    )]
    Shapes { shape: Vec<u64>, chunks: Vec<u32>, blocks: Vec<u32> },
    /// A place inside of an array where only borders of chunks can be.
    #[error("position {at} in dimension {axis}, not at the end and no multiple of {chunklen}")]
    Align { axis: usize, at: u64, chunklen: u64 },
    /// Arrays that cannot be put into one.
    #[error("an array of shape {shape:?} at {at:?} of one of {whole:?}")]
    Outside { shape: Vec<u64>, at: Vec<u64>, whole: Vec<u64> },
    /// Items of another shape than the part that they are for.
    #[error("items of shape {shape:?} for a part of shape {expected:?}")]
    Shape { shape: Vec<u64>, expected: Vec<u64> },
    /// Items of another type than the caller's.
    #[error("items are {dtype}, not {wanted}")]
    Dtype { dtype: String, wanted: String },
}
