//! Values in python-blosc2's encoding: attributes, objects, cells of tables ("Encoded values" in
//! `docs/formats/store.md`).
//!
//! The encoding is MessagePack with six additions: tuples, which are arrays with a magic first
//! element, and the extensions 42 to 46. This crate resolves no reference in them: a reference is a
//! value like any other.

mod decode;
mod encode;

use blosc_dtype::json::Json;

pub(crate) use decode::Texts;
pub use decode::ValueLimits;

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `None` of Python.
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer below 2^63.
    Int(i64),
    /// An integer from 2^63 on.
    UInt(u64),
    /// A float.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    Array(Vec<Self>),
    /// A tuple.
    Tuple(Vec<Self>),
    /// A dictionary, in its order. Keys are any values.
    Map(Vec<(Self, Self)>),
    /// A complex number.
    Complex {
        /// Its real part.
        re: f64,
        /// Its imaginary part.
        im: f64,
    },
    /// A set.
    Set(Vec<Self>),
    /// A NumPy array of plain items.
    NdArray(NdValue),
    /// A NumPy array of objects, in C order.
    ObjectArray {
        /// Length of each dimension.
        shape: Vec<u64>,
        /// The items.
        values: Vec<Self>,
    },
    /// A whole contiguous frame: an array, a super-chunk, objects.
    Frame(Vec<u8>),
    /// A reference to data elsewhere, or a recipe: the map that describes it. It is shown, never
    /// followed.
    Reference(Box<Self>),
    /// Another extension of MessagePack.
    Ext(i8, Vec<u8>),
}

/// A NumPy array inside of a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NdValue {
    /// Type of the items, as NumPy's `dtype.str` or a list of fields.
    pub dtype: Box<Value>,
    /// Length of each dimension.
    pub shape: Vec<u64>,
    /// The items in C order.
    pub data: Vec<u8>,
}

/// The error in bytes that are not a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The bytes end inside of a value.
    #[error("cut at byte {at}")]
    Truncated {
        /// Position (bytes).
        at: usize,
    },
    /// A byte that starts no value.
    #[error("byte {at} starts no value")]
    Marker {
        /// Position (bytes).
        at: usize,
    },
    /// Text that is not UTF-8.
    #[error("text at byte {at} is not UTF-8")]
    Utf8 {
        /// Position (bytes).
        at: usize,
    },
    /// Bytes follow the value.
    #[error("{nbytes} bytes after the value")]
    Trailing {
        /// The number of bytes.
        nbytes: usize,
    },
    /// The nesting is deeper than the limit.
    #[error("nested deeper than {limit} levels at byte {at}")]
    Depth {
        /// Position (bytes).
        at: usize,
        /// The limit.
        limit: usize,
    },
    /// The values take more memory than the limit.
    #[error("more than {limit} bytes of memory needed at byte {at}")]
    Memory {
        /// Position (bytes).
        at: usize,
        /// The limit.
        limit: usize,
    },
    /// The content of an extension is not what its code says.
    #[error("extension {code} at byte {at} is not {expected}")]
    Extension {
        /// Its code.
        code: i8,
        /// Position (bytes).
        at: usize,
        /// The expected content.
        expected: &'static str,
    },
}

/// The first element of an array that stands for a tuple.
const TUPLE_TAG: &str = "__tuple__";

/// Codes of the extensions.
mod code {
    pub(super) const FRAME: i8 = 42;
    pub(super) const REFERENCE: i8 = 43;
    pub(super) const COMPLEX: i8 = 44;
    pub(super) const SET: i8 = 45;
    pub(super) const ARRAY: i8 = 46;
}

impl Value {
    /// A non-negative number.
    pub(crate) fn count(number: u64) -> Self {
        i64::try_from(number).map_or(Self::UInt(number), Self::Int)
    }
}

/// A value of JSON; an integer of more than 64 bits becomes text.
impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Nil,
            Json::Bool(is) => Self::Bool(*is),
            Json::Int(n) => match (i64::try_from(*n), u64::try_from(*n)) {
                (Ok(n), _) => Self::Int(n),
                (_, Ok(n)) => Self::UInt(n),
                _ => Self::Str(n.to_string()),
            },
            Json::Float(n) => Self::Float(*n),
            Json::String(text) => Self::Str(text.clone()),
            Json::Array(values) => Self::Array(values.iter().map(Self::from).collect()),
            Json::Object(entries) => {
                let entry = |(key, value): &(String, Json)| (Self::Str(key.clone()), value.into());
                Self::Map(entries.iter().map(entry).collect())
            }
        }
    }
}

impl Value {
    /// The value of a key of a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// A non-negative integer.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::UInt(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of a list or a tuple.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(values) | Self::Tuple(values) = self { Some(values) } else { None }
    }

    /// The entries of a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[(Self, Self)]> {
        if let Self::Map(entries) = self { Some(entries) } else { None }
    }

    /// The type in a word, for messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "a truth value",
            Self::Int(_) | Self::UInt(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Array(_) => "a list",
            Self::Tuple(_) => "a tuple",
            Self::Map(_) => "a map",
            Self::Complex { .. } => "a complex number",
            Self::Set(_) => "a set",
            Self::NdArray(_) | Self::ObjectArray { .. } => "an array",
            Self::Frame(_) => "a frame",
            Self::Reference(_) => "a reference",
            Self::Ext(..) => "an unknown extension",
        }
    }
}
