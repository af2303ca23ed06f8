//! What callers may ask of an array, and when they ask for what is not there.

/// A request that does not fit the array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum NdParam {
    /// A selection or shape of more dimensions than there are.
    #[error("{given} dimensions given, the array has {ndim}")]
    Dims { given: usize, ndim: usize },
    /// A position outside of the array.
    #[error("index {index} in dimension {dim}, which has {len} items")]
    Index { dim: usize, index: i64, len: u64 },
    /// A flat position behind the last item.
    #[error("item {item} of an array that has {nitems}")]
    Item { item: u64, nitems: u64 },
    /// A slice that goes nowhere.
    #[error("a step of 0 in dimension {dim}")]
    Step { dim: usize },
    /// A dimension that is not there, or not of length 1 where that is asked for, or named twice.
    #[error("dimension {axis} of {ndim}: {what}")]
    Axis { axis: usize, ndim: usize, what: &'static str },
    /// Items of another type than the caller's.
    #[error("items are {dtype}, not {wanted}")]
    Dtype { dtype: String, wanted: String },
}
