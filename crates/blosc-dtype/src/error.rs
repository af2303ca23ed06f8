//! What can be wrong with the text of a dtype.

use alloc::string::String;

/// Why a text is not a dtype that we can use. Positions count bytes of the text.
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
        /// Where the first bracket too many stands.
        at: usize,
        /// The deepest nesting that is parsed.
        limit: usize,
    },
    /// The text is not a Python literal.
    #[error("dtype text at byte {at}: expected {expected}")]
    Syntax {
        /// Where the parser stopped.
        at: usize,
        /// What would have been right there.
        expected: &'static str,
    },
    /// The text is a literal, but not of one of the four forms.
    #[error("dtype description: expected {expected}")]
    Form {
        /// What would have been right.
        expected: &'static str,
    },
    /// A type code such as `<i4` is not known.
    #[error("type code {code:?} is not known")]
    UnknownCode {
        /// The code as it stands in the text.
        code: String,
    },
    /// A type code has a size that its kind does not have.
    #[error("type code {code:?}: no item of this kind has {size} bytes")]
    Size {
        /// The code as it stands in the text.
        code: String,
        /// The size it asks for (bytes).
        size: u64,
    },
    /// A field does not fit into its item.
    #[error("field {name:?} ends at byte {end} of an item of {itemsize} bytes")]
    FieldOutside {
        /// Name of the field.
        name: String,
        /// Where the field ends (bytes from the start of the item).
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
