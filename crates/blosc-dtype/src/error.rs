//! Faults of the text of a dtype.

use alloc::string::String;

/// The reason why a text is not a usable dtype. Positions count bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is longer than [`MAX_TEXT_NBYTES`](crate::Dtype::MAX_TEXT_NBYTES).
    #[error("dtype text of {len} bytes, the limit is {limit}")]
    TextTooLong {
        /// Length of the text (bytes).
        len: usize,
        /// The longest text that is parsed (bytes).
        limit: usize,
    },
    /// Lists, tuples and dicts are nested deeper than [`MAX_DEPTH`](crate::Dtype::MAX_DEPTH).
    #[error("dtype nested deeper than {limit} levels at byte {at}")]
    TooDeep {
        /// Position of the first bracket too many.
        at: usize,
        /// The deepest nesting that is parsed.
        limit: usize,
    },
    /// The text is not a Python literal.
    #[error("dtype text at byte {at}: expected {expected}")]
    Syntax {
        /// Position where the parser stopped.
        at: usize,
        /// The expected syntax at that position.
        expected: &'static str,
    },
    /// The text is a literal, but not of one of the four forms.
    #[error("dtype description: expected {expected}")]
    Form {
        /// The expected form.
        expected: &'static str,
    },
    /// A type code such as `<i4` is unknown.
    #[error("type code {code:?} is not known")]
    UnknownCode {
        /// The code in the text.
        code: String,
    },
    /// A type code has a size that its kind does not have.
    #[error("type code {code:?}: no item of this kind has {size} bytes")]
    Size {
        /// The code in the text.
        code: String,
        /// The requested size (bytes).
        size: u64,
    },
    /// A field does not fit into its item.
    #[error("field {name:?} ends at byte {end} of an item of {itemsize} bytes")]
    FieldOutside {
        /// Name of the field.
        name: String,
        /// End of the field in the item (bytes).
        end: u64,
        /// Size of the item (bytes).
        itemsize: u64,
    },
    /// Two fields have the same name.
    #[error("field {name:?} stands twice")]
    DuplicateField {
        /// The name.
        name: String,
    },
    /// `names`, `formats` and `offsets` have different lengths.
    #[error("{names} names, {formats} formats and {offsets} offsets")]
    FieldCounts {
        /// Number of names.
        names: usize,
        /// Number of formats.
        formats: usize,
        /// Number of offsets.
        offsets: usize,
    },
    /// The item would be larger than 2^31 - 1 bytes.
    #[error("item larger than 2147483647 bytes")]
    TooLarge,
}
