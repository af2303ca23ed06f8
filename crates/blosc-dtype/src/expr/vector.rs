//! The values of a column in a block of rows, widened to the few types of all arithmetic.

use std::prelude::v1::*;

use alloc::borrow::Cow;

use crate::{Dtype, Kind};
use zerocopy::{FromBytes, Immutable};

use crate::Element;
use crate::items;

/// Values of one type, borrowed if they are stored as such; a single value stands for any number.
#[derive(Clone, Debug, PartialEq)]
pub enum Vector<'a> {
    /// Truth values.
    Bool(Vec<bool>),
    /// Signed integers, and unsigned ones of up to 32 bits.
    Int(Cow<'a, [i64]>),
    /// Unsigned integers of 64 bits.
    Uint(Cow<'a, [u64]>),
    /// Floats.
    Float(Cow<'a, [f64]>),
    /// Byte strings, without the zero bytes at the end.
    Bytes(Vec<&'a [u8]>),
    /// Text, without the zero characters at the end.
    Text(Vec<String>),
}

/// The type of an expression's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// True or false.
    Truth,
    /// Integers of 64 bits.
    Int,
    /// Floats of 64 bits.
    Float,
    /// Byte strings.
    Bytes,
    /// Text.
    Text,
}

impl ValueType {
    /// The name for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truth => "truth values",
            Self::Int => "integers",
            Self::Float => "floats",
            Self::Bytes => "byte strings",
            Self::Text => "text",
        }
    }

    /// Whether the values can be summed.
    #[must_use]
    pub const fn is_number(self) -> bool {
        !matches!(self, Self::Bytes | Self::Text)
    }
}

impl<'a> Vector<'a> {
    /// The items of a block; `None` for a type without arithmetic.
    #[must_use]
    pub fn of_items(dtype: &Dtype, bytes: &'a [u8]) -> Option<Self> {
        let size = dtype.itemsize();
        Some(match (dtype.kind()?, size) {
            (Kind::Bool, _) => Self::Bool(widen::<bool, _>(dtype, bytes)),
            (Kind::Int, 1) => Self::Int(widen::<i8, _>(dtype, bytes).into()),
            (Kind::Int, 2) => Self::Int(widen::<i16, _>(dtype, bytes).into()),
            (Kind::Int, 4) => Self::Int(widen::<i32, _>(dtype, bytes).into()),
            (Kind::Int | Kind::DateTime | Kind::TimeDelta, 8) => Self::Int(as_stored(dtype, bytes)),
            // All unsigned integers up to 32 bits fit into signed ones.
            (Kind::Uint, 1) => Self::Int(widen::<u8, _>(dtype, bytes).into()),
            (Kind::Uint, 2) => Self::Int(widen::<u16, _>(dtype, bytes).into()),
            (Kind::Uint, 4) => Self::Int(widen::<u32, _>(dtype, bytes).into()),
            (Kind::Uint, 8) => Self::Uint(as_stored(dtype, bytes)),
            (Kind::Float, 2) => Self::Float(halves(dtype, bytes).into()),
            (Kind::Float, 4) => Self::Float(widen::<f32, _>(dtype, bytes).into()),
            (Kind::Float, 8) => Self::Float(as_stored(dtype, bytes)),
            (Kind::Bytes, _) => Self::Bytes(bytes.chunks_exact(size).map(items::trimmed).collect()),
            (Kind::Unicode, _) => {
                let is_big = items::is_big(dtype);
                Self::Text(bytes.chunks_exact(size).map(|item| items::text(item, is_big)).collect())
            }
            _ => return None,
        })
    }

    /// The type of the values.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::Bool(_) => ValueType::Truth,
            Self::Int(_) | Self::Uint(_) => ValueType::Int,
            Self::Float(_) => ValueType::Float,
            Self::Bytes(_) => ValueType::Bytes,
            Self::Text(_) => ValueType::Text,
        }
    }

    /// The type's name for messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        self.value_type().name()
    }

    /// The values, with a single value repeated `len` times.
    #[must_use]
    pub fn repeated(&self, len: usize) -> Cow<'_, Self> {
        Cow::Owned(match self {
            Self::Bool(values) if values.len() < len => Self::Bool(values.repeat(len)),
            Self::Int(values) if values.len() < len => Self::Int(values.repeat(len).into()),
            Self::Uint(values) if values.len() < len => Self::Uint(values.repeat(len).into()),
            Self::Float(values) if values.len() < len => Self::Float(values.repeat(len).into()),
            _ => return Cow::Borrowed(self),
        })
    }

    /// Numbers as floats; `None` for other values.
    #[expect(clippy::cast_precision_loss, reason = "what NumPy does as well")]
    pub(super) fn to_floats(&self) -> Option<Cow<'_, [f64]>> {
        Some(Cow::Owned(match self {
            Self::Bool(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
            Self::Int(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Uint(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Float(values) => return Some(Cow::Borrowed(values)),
            _ => return None,
        }))
    }

    /// Strings as byte strings; `None` for other values.
    pub(super) fn to_bytes(&self) -> Option<Cow<'_, [&[u8]]>> {
        match self {
            Self::Bytes(values) => Some(Cow::Borrowed(values)),
            Self::Text(values) => Some(values.iter().map(String::as_bytes).collect()),
            _ => None,
        }
    }

    /// Truth values as integers, other values unchanged.
    pub(super) fn without_truth(&self) -> Cow<'_, Self> {
        match self {
            Self::Bool(values) => {
                Cow::Owned(Self::Int(values.iter().map(|value| i64::from(*value)).collect()))
            }
            other => Cow::Borrowed(other),
        }
    }
}

fn widen<T: Element, U: From<T>>(dtype: &Dtype, bytes: &[u8]) -> Vec<U> {
    bytes.chunks_exact(size_of::<T>()).map(|item| T::decode(dtype, item).into()).collect()
}

/// Items that have the right type already, borrowed if the machine can read them in place.
fn as_stored<'a, T: Element + FromBytes + Immutable>(
    dtype: &Dtype,
    bytes: &'a [u8],
) -> Cow<'a, [T]> {
    let is_native = items::is_big(dtype) == cfg!(target_endian = "big");
    match <[T]>::ref_from_bytes(bytes) {
        Ok(values) if is_native => Cow::Borrowed(values),
        _ => widen::<T, T>(dtype, bytes).into(),
    }
}

fn halves(dtype: &Dtype, bytes: &[u8]) -> Vec<f64> {
    let is_big = items::is_big(dtype);
    let half = |item: [u8; 2]| {
        if is_big { half::f16::from_be_bytes(item) } else { half::f16::from_le_bytes(item) }
    };
    bytes.as_chunks().0.iter().map(|item| half(*item).to_f64()).collect()
}
