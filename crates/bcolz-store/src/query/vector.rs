//! The values of a column in a block of rows, widened to a few types that all arithmetic is done in.

use blosc_dtype::{ByteOrder, Dtype, Kind};

use crate::carray::Element;

/// Values of one type; a single one stands for as many as are needed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Vector {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Uint(Vec<u64>),
    Float(Vec<f64>),
    /// Without the zero bytes at the end.
    Bytes(Vec<Vec<u8>>),
    /// Without the zero characters at the end.
    Text(Vec<String>),
}

impl Vector {
    /// The items of a block; none if they are of a type without arithmetic.
    pub(super) fn of_items(dtype: &Dtype, bytes: &[u8]) -> Option<Self> {
        let size = dtype.itemsize();
        Some(match (dtype.kind()?, size) {
            (Kind::Bool, _) => Self::Bool(widen::<bool, _>(dtype, bytes)),
            (Kind::Int, 1) => Self::Int(widen::<i8, _>(dtype, bytes)),
            (Kind::Int, 2) => Self::Int(widen::<i16, _>(dtype, bytes)),
            (Kind::Int, 4) => Self::Int(widen::<i32, _>(dtype, bytes)),
            (Kind::Int | Kind::DateTime | Kind::TimeDelta, 8) => Self::Int(widen::<i64, _>(dtype, bytes)),
            // All of these fit into signed ones.
            (Kind::Uint, 1) => Self::Int(widen::<u8, _>(dtype, bytes)),
            (Kind::Uint, 2) => Self::Int(widen::<u16, _>(dtype, bytes)),
            (Kind::Uint, 4) => Self::Int(widen::<u32, _>(dtype, bytes)),
            (Kind::Uint, 8) => Self::Uint(widen::<u64, _>(dtype, bytes)),
            (Kind::Float, 2) => Self::Float(halves(dtype, bytes)),
            (Kind::Float, 4) => Self::Float(widen::<f32, _>(dtype, bytes)),
            (Kind::Float, 8) => Self::Float(widen::<f64, _>(dtype, bytes)),
            (Kind::Bytes, _) => {
                Self::Bytes(bytes.chunks_exact(size).map(|item| trimmed(item).to_vec()).collect())
            }
            (Kind::Unicode, _) => {
                Self::Text(bytes.chunks_exact(size).map(|item| text(dtype, item)).collect())
            }
            _ => return None,
        })
    }

    /// What it is, for messages.
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "truth values",
            Self::Int(_) | Self::Uint(_) => "integers",
            Self::Float(_) => "floats",
            Self::Bytes(_) => "byte strings",
            Self::Text(_) => "text",
        }
    }

    /// As floats, if it is numbers.
    #[expect(clippy::cast_precision_loss, reason = "what NumPy does as well")]
    pub(super) fn to_floats(&self) -> Option<Vec<f64>> {
        Some(match self {
            Self::Bool(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
            Self::Int(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Uint(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Float(values) => values.clone(),
            _ => return None,
        })
    }

    /// Truth values as integers, everything else as it is.
    pub(super) fn without_truth(self) -> Self {
        match self {
            Self::Bool(values) => Self::Int(values.into_iter().map(i64::from).collect()),
            other => other,
        }
    }
}

fn widen<T: Element, U: From<T>>(dtype: &Dtype, bytes: &[u8]) -> Vec<U> {
    bytes.chunks_exact(size_of::<T>()).map(|item| T::decode(dtype, item).into()).collect()
}

fn halves(dtype: &Dtype, bytes: &[u8]) -> Vec<f64> {
    let is_big = dtype.scalar().is_some_and(|scalar| scalar.order() == ByteOrder::Big);
    let half =
        |item: [u8; 2]| if is_big { half::f16::from_be_bytes(item) } else { half::f16::from_le_bytes(item) };
    bytes.as_chunks().0.iter().map(|item| half(*item).to_f64()).collect()
}

fn trimmed(item: &[u8]) -> &[u8] {
    let len = item.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    &item[..len]
}

fn text(dtype: &Dtype, item: &[u8]) -> String {
    let is_big = dtype.scalar().is_some_and(|scalar| scalar.order() == ByteOrder::Big);
    let code = |c: &[u8; 4]| if is_big { u32::from_be_bytes(*c) } else { u32::from_le_bytes(*c) };
    let character = |c| char::from_u32(code(c)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let text: String = item.as_chunks().0.iter().map(character).collect();
    text.trim_end_matches('\0').to_owned()
}
