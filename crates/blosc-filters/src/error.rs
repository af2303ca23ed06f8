//! The errors: an unregistered id, a parameter that a filter refuses, or a text that is no
//! pipeline. Any bytes of a block are valid.

use crate::FilterId;

/// The result of this crate's functions.
pub type Result<T = (), E = Error> = core::result::Result<T, E>;

/// The reason why a block was not filtered, or a [`Pipeline`](crate::Pipeline) or
/// [`Simd`](crate::Simd) was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The registry has no filter of this id. Skipping it would give wrong data.
    #[error("filter {id} is not available")]
    UnknownFilter {
        /// The id in the pipeline.
        id: FilterId,
    },
    /// A filter refuses a parameter.
    #[error("{id}: {what}")]
    Param {
        /// The filter that refuses.
        id: FilterId,
        /// The refused parameter.
        what: Param,
    },
    /// The buffers of one call are not equally long.
    #[error("the source has {src} bytes, the destination or scratch {dest}")]
    Length {
        /// Bytes of the source.
        src: usize,
        /// Bytes of the destination, or of the scratch buffer if the scratch buffer differs.
        dest: usize,
    },
    /// A text is not the description of a pipeline.
    #[error("filter {nfilter} of the list: {what}")]
    Spec {
        /// Index of the filter in the text.
        nfilter: usize,
        /// The defect of this filter.
        what: Spec,
    },
    /// A filter cannot be registered under this id: 0 to 36 belong to the format.
    #[error("filter id {} is reserved, user-defined ones start at 160", id.0)]
    ReservedId {
        /// The requested id.
        id: FilterId,
    },
    /// Another filter is registered under this id.
    #[error("filter id {} is taken", id.0)]
    IdTaken {
        /// The requested id.
        id: FilterId,
    },
    /// The build only reads.
    #[error("filtering is not supported here: it needs the feature `write` of blosc-filters")]
    ReadOnly,
    /// The name is none of `auto`, `none`, `sse2`, `avx2`, `avx512`, `neon`, or this machine does
    /// not have it.
    #[error("these vector instructions are unknown, or this machine does not have them")]
    Simd,
}

/// A parameter that a filter refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// The filter is not defined for items of this size.
    #[error("typesize {typesize} is not supported")]
    Typesize {
        /// Bytes of an item.
        typesize: usize,
    },
    /// The meta byte is outside the filter's range.
    #[error("meta {meta} is outside {min}..={max}, or 0")]
    Meta {
        /// The meta byte, with the sign with which the filter reads it.
        meta: i16,
        /// The least allowed.
        min: i16,
        /// The greatest allowed.
        max: i16,
    },
    /// The reference block of delta is shorter than the block.
    #[error("the reference block has {reference} bytes, the block {block}")]
    Reference {
        /// Bytes of the reference block.
        reference: usize,
        /// Bytes of the block.
        block: usize,
    },
    /// The filter needs the shape of a block; only arrays have one.
    #[error("the shape of the block is needed")]
    NoGeometry,
    /// The shape does not have 1 to 8 dimensions.
    #[error("{ndim} dimensions are outside 1..=8")]
    Dimensions {
        /// Number of dimensions of the shape.
        ndim: usize,
    },
    /// The shape and the item size do not give the length of the block, or a dimension is 0.
    #[error("the shape of the block does not fill its {block} bytes")]
    Shape {
        /// Bytes of the block.
        block: usize,
    },
    /// A cell of this side is too large for the block, or for the block in C-Blosc2.
    #[error("a cell of side {side} does not fit the block")]
    Cell {
        /// The side of a cell, in items.
        side: u8,
    },
    /// A filter outside this crate refuses.
    #[error("{0}")]
    Custom(&'static str),
}

/// The defect of one filter in the text of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Spec {
    /// Neither a filter's name nor a number 0..=255.
    #[error("no filter has this name")]
    Name,
    /// The text after the colon is no number in -128..=255.
    #[error("the parameter is not a number in -128..=255")]
    Meta,
    /// The filter requires a parameter, as in `trunc:20`.
    #[error("{id} needs a parameter, as in {id}:8")]
    MetaNeeded {
        /// The filter.
        id: FilterId,
    },
    /// More than the six filters that a chunk header has room for.
    #[error("more than 6 filters")]
    TooMany,
}
