//! The header of a `.npy` file: NumPy's description of the items after it.
//!
//! ```text
//! offset  size  field
//! 0       6     magic: 93 "NUMPY"
//! 6       2     version: major 1, 2 or 3; minor 0
//! 8       2, 4  length of the text: u16 in version 1, u32 in versions 2 and 3
//! 10, 12        text: a Python dict, spaces, line feed; Latin-1 in versions 1 and 2, UTF-8 in 3
//! ```
//!
//! ```text
//! {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//! ```
//!
//! The reader accepts a dict with exactly these three keys and evaluates no code. The writer makes
//! the same bytes as `numpy.save` of NumPy 2. Both handle only the header, without I/O. Reading
//! from a stream takes two steps: [`header_len`] of the first [`START_NBYTES`], then
//! [`NpyHeader::parse`] of the whole header.
//!
//! ```
//! use blosc_dtype::npy::NpyHeader;
//!
//! let header = NpyHeader::new("<f8".parse()?, vec![3, 4]);
//! let bytes = header.to_bytes().ok_or("not a type for .npy files")?;
//! let parsed = NpyHeader::parse(&bytes)?;
//! assert_eq!((parsed.shape, parsed.len), (vec![3, 4], 128));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::Utf8Error;

use crate::literal::{Entry, Literal};
use crate::print::{join, str_repr, tuple};
use crate::{Dtype, Field, Kind, literal::MAX_TEXT_NBYTES};

/// The first bytes of every `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Bytes at the start of a file that tell the length of its header. No header is shorter.
pub const START_NBYTES: usize = 12;

/// The items of a `.npy` file: their type, shape and order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// Type of the items. The offsets of the fields express padding that the file lists as fields
    /// without a name.
    pub dtype: Dtype,
    /// Whether the first dimension varies fastest, and not the last.
    pub fortran_order: bool,
    /// Items per dimension.
    pub shape: Vec<u64>,
    /// Length of the header, which is the offset of the items in the file (bytes); 0 for items that
    /// do not come from a `.npy` file. The writer ignores it.
    pub len: usize,
}

/// The reason why a `.npy` header cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file does not start with [`MAGIC`].
    #[error("not the beginning of a .npy file")]
    NotNpy,
    /// The version is neither 1.0, 2.0 nor 3.0.
    #[error("a .npy file of version {major}.{minor}, known are 1.0, 2.0 and 3.0")]
    Version {
        /// Major version, byte 6.
        major: u8,
        /// Minor version, byte 7.
        minor: u8,
    },
    /// The header is cut.
    #[error("the header of the .npy file has {needed} bytes, {found} are there")]
    Truncated {
        /// Length of the header (bytes), as far as known.
        needed: usize,
        /// Length of the input (bytes).
        found: usize,
    },
    /// The text is longer than [`Dtype::MAX_TEXT_NBYTES`].
    #[error("the header of the .npy file has a text of {len} bytes, the limit is {limit}")]
    TooLong {
        /// Length of the text (bytes).
        len: u32,
        /// The longest text that is read (bytes).
        limit: usize,
    },
    /// The text of version 3 is not UTF-8.
    #[error("the header of the .npy file is not UTF-8 from byte {at} on")]
    NotUtf8 {
        /// Offset in the file (bytes).
        at: usize,
    },
    /// The dict has other keys, or one of the three keys twice.
    #[error("the header of the .npy file: expected the keys descr, fortran_order and shape")]
    Keys,
    /// A value does not have the form that its key requires.
    #[error("the header of the .npy file: {key} is not {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The form of its value.
        expected: &'static str,
    },
    /// The text is not a literal, or `descr` is not a type.
    #[error("the items of the .npy file")]
    Dtype(#[from] crate::Error),
    /// The items are Python objects: a pickle follows the header, not items.
    #[error("the items of the .npy file are Python objects")]
    Objects,
}

/// Length of the header that begins with `start` (bytes): magic, version, length and text.
///
/// # Errors
///
/// [`NpyError::NotNpy`], [`NpyError::Version`], [`NpyError::TooLong`], or [`NpyError::Truncated`]
/// if `start` has fewer than [`START_NBYTES`] bytes.
pub fn header_len(start: &[u8]) -> Result<usize, NpyError> {
    Prefix::parse(start).map(|prefix| prefix.header_len)
}

impl NpyHeader {
    /// The header for items in C order.
    #[must_use]
    pub const fn new(dtype: Dtype, shape: Vec<u64>) -> Self {
        Self { dtype, fortran_order: false, shape, len: 0 }
    }

    /// Reads the header at the start of `bytes`; the items may follow it.
    ///
    /// # Errors
    ///
    /// Any variant of [`NpyError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, NpyError> {
        let Prefix { version, text_at, header_len } = Prefix::parse(bytes)?;
        let text = bytes
            .get(text_at..header_len)
            .ok_or(NpyError::Truncated { needed: header_len, found: bytes.len() })?;
        let text = if version == 3 {
            let utf8 = core::str::from_utf8(text);
            let at = |error: Utf8Error| text_at.saturating_add(error.valid_up_to());
            utf8.map_err(|error| NpyError::NotUtf8 { at: at(error) })?.to_owned()
        } else {
            text.iter().copied().map(char::from).collect()
        };
        Self::from_dict(&text, header_len)
    }

    /// The bytes that `numpy.save` writes before the items; `None` if the type has no
    /// [`Dtype::descr`].
    ///
    /// The version is the lowest that can hold the text: 1 for Latin-1 of up to 64 KiB, 2 for
    /// longer Latin-1, 3 for other characters.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let text = self.to_dict()?;
        match text.chars().map(|c| u8::try_from(c).ok()).collect::<Option<Vec<u8>>>() {
            Some(latin1) => with_prefix(1, &latin1).or_else(|| with_prefix(2, &latin1)),
            None => with_prefix(3, text.as_bytes()),
        }
    }

    /// Size of all items (bytes); `None` if it is 2^64 or more.
    #[must_use]
    pub fn nbytes(&self) -> Option<u64> {
        let itemsize = u64::try_from(self.dtype.itemsize()).ok()?;
        self.shape.iter().try_fold(itemsize, |nbytes, len| nbytes.checked_mul(*len))
    }

    fn from_dict(text: &str, len: usize) -> Result<Self, NpyError> {
        let entries = Literal::parse_dict(text)?;
        let get = |key| entries.iter().find(|entry| entry.key.as_str() == Some(key));
        let (3, Some(descr), Some(order), Some(shape)) =
            (entries.len(), get("descr"), get("fortran_order"), get("shape"))
        else {
            return Err(NpyError::Keys);
        };
        let dtype = dtype_of(descr)?;
        let Literal::Bool(fortran_order) = order.value else {
            return Err(NpyError::Value { key: "fortran_order", expected: "True or False" });
        };
        let shape = shape_of(&shape.value)
            .ok_or(NpyError::Value { key: "shape", expected: "a tuple of lengths" })?;
        Ok(Self { dtype, fortran_order, shape, len })
    }

    /// The dict, with spaces that allow the slowest dimension to grow in place.
    fn to_dict(&self) -> Option<String> {
        let descr = self.dtype.descr()?;
        let order = if self.fortran_order { "True" } else { "False" };
        let shape = tuple(&self.shape);
        let slowest = if self.fortran_order { self.shape.last() } else { self.shape.first() };
        let room =
            slowest.map_or(0, |len| GROWTH_AXIS_MAX_DIGITS.saturating_sub(len.to_string().len()));
        let dict = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        Some([dict, " ".repeat(room)].concat())
    }
}

/// The bytes before the text.
struct Prefix {
    version: u8,
    text_at: usize,
    header_len: usize,
}

impl Prefix {
    fn parse(start: &[u8]) -> Result<Self, NpyError> {
        let found = start.len();
        let rest = start.strip_prefix(MAGIC).ok_or(NpyError::NotNpy)?;
        let [major, minor, rest @ ..] = rest else {
            return Err(NpyError::Truncated { needed: START_NBYTES, found });
        };
        let [a, b, c, d, ..] = *rest else {
            return Err(NpyError::Truncated { needed: START_NBYTES, found });
        };
        let (text_at, len) = match (major, minor) {
            (1, 0) => (10, u32::from(u16::from_le_bytes([a, b]))),
            (2 | 3, 0) => (12, u32::from_le_bytes([a, b, c, d])),
            _ => return Err(NpyError::Version { major: *major, minor: *minor }),
        };
        let too_long = NpyError::TooLong { len, limit: MAX_TEXT_NBYTES };
        let text_len =
            usize::try_from(len).ok().filter(|len| *len <= MAX_TEXT_NBYTES).ok_or(too_long)?;
        Ok(Self { version: *major, text_at, header_len: text_len.saturating_add(text_at) })
    }
}

/// Magic, version and length before `text`, spaces and a line feed after it; `None` if the length
/// does not fit its field.
///
/// Like NumPy, adds 1 to 64 spaces, not 0 to 63.
fn with_prefix(version: u8, text: &[u8]) -> Option<Vec<u8>> {
    let text_at: usize = if version == 1 { 10 } else { 12 };
    let nbytes = text_at.checked_add(text.len())?.checked_add(2)?;
    let nbytes = nbytes.checked_next_multiple_of(ALIGNMENT_NBYTES)?;
    let len = nbytes.checked_sub(text_at)?;
    let mut bytes = [MAGIC.as_slice(), &[version, 0]].concat();
    if version == 1 {
        bytes.extend(u16::try_from(len).ok()?.to_le_bytes());
    } else {
        bytes.extend(u32::try_from(len).ok()?.to_le_bytes());
    }
    bytes.extend(text);
    bytes.resize(nbytes.checked_sub(1)?, b' ');
    bytes.push(b'\n');
    Some(bytes)
}

fn dtype_of(descr: &Entry<'_>) -> Result<Dtype, NpyError> {
    let dtype = match &descr.value {
        // A plain type is kept without its quotes, as in descriptions of arrays.
        Literal::Str(code) => Dtype::parse(code)?,
        _ => without_unnamed_padding(Dtype::parse(descr.text)?)?,
    };
    if dtype.has_objects() { Err(NpyError::Objects) } else { Ok(dtype) }
}

/// The type with padding expressed by offsets, not by fields without a name. NumPy reads `descr` in
/// the same way.
///
/// # Errors
///
/// If the type cannot have that form.
pub fn without_unnamed_padding(dtype: Dtype) -> Result<Dtype, crate::Error> {
    if !dtype.fields().iter().any(is_padding) {
        return Ok(dtype);
    }
    let fields: Vec<&Field> = dtype.fields().iter().filter(|field| !is_padding(field)).collect();
    let format = |field: &&Field| match field.dtype().scalar() {
        Some(scalar) => str_repr(&scalar.to_string()),
        None => field.dtype().to_string(),
    };
    let titles = if fields.iter().any(|field| field.title().is_some()) {
        let titles = fields.iter().map(|field| field.title().map_or("None".to_string(), str_repr));
        format!(", 'titles': [{}]", join(titles))
    } else {
        String::new()
    };
    Dtype::parse(&format!(
        "{{'names': [{}], 'formats': [{}], 'offsets': [{}]{titles}, 'itemsize': {}}}",
        join(fields.iter().map(|field| str_repr(field.name()))),
        join(fields.iter().map(format)),
        join(fields.iter().map(|field| field.offset().to_string())),
        dtype.itemsize()
    ))
}

fn is_padding(field: &Field) -> bool {
    let item = field.dtype().subarray().map_or(field.dtype(), |(base, _)| base);
    field.name().is_empty() && item.kind() == Some(Kind::Void)
}

/// `(3, 4)`, `(3,)` or `()`.
fn shape_of(literal: &Literal) -> Option<Vec<u64>> {
    let Literal::Tuple(lengths) = literal else { return None };
    lengths
        .iter()
        .map(|length| match length {
            Literal::Int(length) => u64::try_from(*length).ok(),
            _ => None,
        })
        .collect()
}

/// The items begin at a multiple of this (bytes).
const ALIGNMENT_NBYTES: usize = 64;

/// Digits that NumPy reserves for the length of the slowest dimension.
const GROWTH_AXIS_MAX_DIGITS: usize = 21;
