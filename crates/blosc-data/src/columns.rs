//! Conversion of NumPy items to the values of a column.

use std::borrow::Cow;

use b2store::{ColumnKind, ColumnValues, Value, Values};
use bcolz_store::pickle::Object as Pickled;
use blosc_dtype::{ByteOrder, Dtype, Kind};

use crate::content::NULL_TRUTH;
use crate::error::{CellFault, Error, Result};
use crate::size::{reserved, zeroed};

/// The conversion of items to values.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Items of a type that columns have.
    Items {
        /// The kind of the column's values.
        kind: ColumnKind,
        /// The type of an item in the column, little-endian.
        dtype: Dtype,
        /// Bytes of a number whose order is reversed; `None` if no order changes.
        swapped: Option<usize>,
        /// Whether the column loses the type of the items.
        loses_type: bool,
    },
    /// Truth values, with one byte for missing ones.
    Truths,
    /// Text or bytes of width 0, which are all empty.
    Empty {
        /// The kind of the column's values.
        kind: ColumnKind,
        /// Its type, one character wide.
        dtype: Dtype,
    },
    /// Half floats, which become floats.
    HalfFloats {
        /// Whether the first byte is the highest.
        is_big: bool,
    },
    /// Dates and times in units that columns do not have.
    Times {
        /// Seconds of a unit.
        seconds: i64,
        /// Whether the first byte is the highest.
        is_big: bool,
    },
    /// Python's objects.
    Objects,
    /// Items of a type that no column has, as raw bytes.
    Raw {
        /// Their type.
        dtype: Dtype,
        /// Lengths of the array in a row; empty for single items.
        item_shape: Vec<u64>,
    },
}

impl Rule {
    /// The rule for items of a type; `inner` are the lengths of the array in a row.
    ///
    /// # Errors
    ///
    /// A type that no column can hold.
    pub fn of_items(name: &str, dtype: &Dtype, inner: &[u64]) -> Result<Self> {
        let refused = || Error::NoColumnKind(format!("`{name}`, {dtype}"));
        let scalar = dtype.scalar().ok_or_else(refused)?;
        let is_big = scalar.order() == ByteOrder::Big;
        let (kind, width) = (scalar.kind(), scalar.itemsize());
        let swapped = |nbytes: usize| (is_big && nbytes > 1).then_some(nbytes);
        let little = |code: String| code.parse::<Dtype>().map_err(|_| refused());
        let items = |kind, code: String, swapped| {
            Ok(Self::Items { kind, dtype: little(code)?, swapped, loses_type: false })
        };
        if !inner.is_empty() {
            let letter = letter(kind).ok_or_else(refused)?;
            let swapped = swapped(if kind == Kind::Complex { width / 2 } else { width });
            let kind = ColumnKind::NdArray { item_shape: inner.to_vec() };
            return items(kind, format!("<{letter}{width}"), swapped);
        }
        let fixed = |name: &'static str| {
            let width = if kind == Kind::Complex { width / 2 } else { width };
            items(ColumnKind::Fixed(name), format!("<{name}"), swapped(width))
        };
        match (kind, width) {
            (Kind::Bool, 1) => fixed("b1"),
            (Kind::Int, 1) => fixed("i1"),
            (Kind::Int, 2) => fixed("i2"),
            (Kind::Int, 4) => fixed("i4"),
            (Kind::Int, 8) => fixed("i8"),
            (Kind::Uint, 1) => fixed("u1"),
            (Kind::Uint, 2) => fixed("u2"),
            (Kind::Uint, 4) => fixed("u4"),
            (Kind::Uint, 8) => fixed("u8"),
            (Kind::Float, 2) => Ok(Self::HalfFloats { is_big }),
            (Kind::Float, 4) => fixed("f4"),
            (Kind::Float, 8) => fixed("f8"),
            (Kind::Complex, 8) => fixed("c8"),
            (Kind::Complex, 16) => fixed("c16"),
            (Kind::Bytes, 0) => {
                Ok(Self::Empty { kind: ColumnKind::Bytes, dtype: little("|S1".to_owned())? })
            }
            (Kind::Unicode, 0) => {
                Ok(Self::Empty { kind: ColumnKind::String, dtype: little("<U1".to_owned())? })
            }
            (Kind::Bytes, _) => items(ColumnKind::Bytes, format!("|S{width}"), None),
            (Kind::Unicode, _) => items(ColumnKind::String, format!("<U{}", width / 4), swapped(4)),
            (Kind::DateTime, _) => match scalar.unit() {
                Some(unit @ ("s" | "ms" | "us" | "ns")) => {
                    let kind = ColumnKind::Timestamp { unit: unit.to_owned(), timezone: None };
                    items(kind, "<i8".to_owned(), swapped(8))
                }
                Some("m") => Ok(Self::Times { seconds: 60, is_big }),
                Some("h") => Ok(Self::Times { seconds: 3600, is_big }),
                Some("D") => Ok(Self::Times { seconds: 86_400, is_big }),
                Some("W") => Ok(Self::Times { seconds: 604_800, is_big }),
                _ => Self::of_numbers(swapped(8), little("<i8".to_owned())?),
            },
            (Kind::TimeDelta, _) => Self::of_numbers(swapped(8), little("<i8".to_owned())?),
            _ => Err(refused()),
        }
    }

    /// The rule for numbers of a type that columns lack.
    fn of_numbers(swapped: Option<usize>, dtype: Dtype) -> Result<Self> {
        Ok(Self::Items { kind: ColumnKind::Fixed("i8"), dtype, swapped, loses_type: true })
    }

    /// The kind of the column.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        match self {
            Self::Items { kind, .. } | Self::Empty { kind, .. } => kind.clone(),
            Self::Truths => ColumnKind::Fixed("b1"),
            Self::HalfFloats { .. } => ColumnKind::Fixed("f4"),
            Self::Times { .. } => ColumnKind::Timestamp { unit: "s".to_owned(), timezone: None },
            Self::Objects => ColumnKind::Object,
            Self::Raw { dtype, .. } => ColumnKind::Unknown(dtype.to_string()),
        }
    }

    /// The item type of the column; `None` for values without a fixed width.
    #[must_use]
    pub fn dtype(&self) -> Option<Dtype> {
        match self {
            Self::Items { dtype, .. } | Self::Empty { dtype, .. } | Self::Raw { dtype, .. } => {
                Some(dtype.clone())
            }
            Self::Truths => "|b1".parse().ok(),
            Self::HalfFloats { .. } => "<f4".parse().ok(),
            Self::Times { .. } => "<i8".parse().ok(),
            Self::Objects => None,
        }
    }

    /// Whether the column loses the type of the items.
    #[must_use]
    pub fn loses_type(&self) -> bool {
        matches!(
            self,
            Self::Items { loses_type: true, .. } | Self::HalfFloats { .. } | Self::Times { .. }
        )
    }

    /// The values of `count` rows.
    ///
    /// # Errors
    ///
    /// A time that does not fit its new unit.
    pub fn values(&self, name: &str, bytes: Vec<u8>, count: usize) -> Result<ColumnValues> {
        Ok(match self {
            Self::Items { kind, dtype, swapped, .. } => {
                let mut bytes = bytes;
                if let Some(width) = swapped {
                    bytes.chunks_exact_mut(*width).for_each(<[u8]>::reverse);
                }
                let item_shape = match kind {
                    ColumnKind::NdArray { item_shape } => item_shape.clone(),
                    _ => vec![],
                };
                let is_time = matches!(kind, ColumnKind::Timestamp { .. });
                let valid = is_time.then(|| valid_times(&bytes)).flatten();
                let values = Values::Fixed { dtype: dtype.clone(), item_shape, bytes };
                with_nulls(ColumnValues::new(values), valid)
            }
            Self::Truths => truths(&bytes)?,
            Self::Empty { dtype, .. } => {
                let nbytes = (count as u64).saturating_mul(dtype.itemsize() as u64);
                ColumnValues::fixed(dtype.clone(), zeroed(nbytes)?)
            }
            Self::HalfFloats { is_big } => {
                let items = bytes.chunks_exact(2).filter_map(|item| item.try_into().ok());
                let floats = items.map(|item| {
                    let bits =
                        if *is_big { u16::from_be_bytes(item) } else { u16::from_le_bytes(item) };
                    half::f16::from_bits(bits).to_f32().to_le_bytes()
                });
                ColumnValues::fixed(dtype_of("<f4")?, floats.flatten().collect())
            }
            Self::Times { seconds, is_big } => {
                let items = bytes.chunks_exact(8).filter_map(|item| item.try_into().ok());
                let times = items.map(|item| {
                    let time =
                        if *is_big { i64::from_be_bytes(item) } else { i64::from_le_bytes(item) };
                    if time == i64::MIN {
                        return Ok(time);
                    }
                    time.checked_mul(*seconds)
                        .ok_or_else(|| Error::cell(name, CellFault::TimeTooFar))
                });
                let times = times.collect::<Result<Vec<i64>>>()?;
                let bytes: Vec<u8> = times.iter().flat_map(|time| time.to_le_bytes()).collect();
                let valid = valid_times(&bytes);
                with_nulls(ColumnValues::fixed(dtype_of("<i8")?, bytes), valid)
            }
            Self::Raw { dtype, item_shape } => {
                let (dtype, item_shape) = (dtype.clone(), item_shape.clone());
                ColumnValues::new(Values::Fixed { dtype, item_shape, bytes })
            }
            Self::Objects => {
                let mut nothing = reserved(count as u64)?;
                nothing.resize(count, Value::Nil);
                ColumnValues::objects(nothing)
            }
        })
    }
}

/// Truth values; missing ones become nulls.
fn truths(bytes: &[u8]) -> Result<ColumnValues> {
    let valid: Vec<bool> = bytes.iter().map(|byte| *byte != NULL_TRUTH).collect();
    let truths = bytes.iter().map(|byte| u8::from(*byte == 1)).collect();
    let values = ColumnValues::fixed(dtype_of("|b1")?, truths);
    Ok(with_nulls(values, valid.contains(&false).then_some(valid)))
}

fn dtype_of(code: &str) -> Result<Dtype> {
    code.parse().map_err(|_| Error::NoColumnKind(code.to_owned()))
}

/// Which times are valid (not NaT); `None` if all are.
fn valid_times(bytes: &[u8]) -> Option<Vec<bool>> {
    let valid: Vec<bool> =
        bytes.chunks_exact(8).map(|item| item != i64::MIN.to_le_bytes()).collect();
    valid.contains(&false).then_some(valid)
}

fn with_nulls(values: ColumnValues, valid: Option<Vec<bool>>) -> ColumnValues {
    match valid {
        Some(valid) => values.with_valid(valid),
        None => values,
    }
}

fn letter(kind: Kind) -> Option<char> {
    Some(match kind {
        Kind::Bool => 'b',
        Kind::Int => 'i',
        Kind::Uint => 'u',
        Kind::Float => 'f',
        Kind::Complex => 'c',
        _ => return None,
    })
}

/// A Python object as a cell.
///
/// # Errors
///
/// An object that a cell cannot hold, such as an integer of more than 64 bits.
pub fn cell_of(object: &Pickled, name: &str) -> Result<Value> {
    let all = |items: &[Pickled]| {
        items.iter().map(|item| cell_of(item, name)).collect::<Result<Vec<_>>>()
    };
    Ok(match object {
        Pickled::None => Value::Nil,
        Pickled::Bool(is) => Value::Bool(*is),
        Pickled::Int(n) => match (i64::try_from(*n), u64::try_from(*n)) {
            (Ok(n), _) => Value::Int(n),
            (_, Ok(n)) => Value::UInt(n),
            _ => return Err(Error::cell(name, CellFault::IntegerTooLarge)),
        },
        Pickled::Float(n) => Value::Float(*n),
        Pickled::Str(text) => Value::Str(text.as_ref().to_owned()),
        Pickled::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
        Pickled::List(items) => Value::Array(all(items)?),
        Pickled::Tuple(items) => Value::Tuple(all(items)?),
        Pickled::Set(items) => Value::Set(all(items)?),
        Pickled::Dict(entries) => {
            let entry = |(key, value): &(Pickled, Pickled)| {
                Ok((cell_of(key, name)?, cell_of(value, name)?))
            };
            Value::Map(entries.iter().map(entry).collect::<Result<_>>()?)
        }
        _ => return Err(Error::cell(name, CellFault::NoPlainData)),
    })
}

/// The type in which the items of a column are shown: times as dates.
#[must_use]
pub fn shown_dtype<'a>(dtype: &'a Dtype, kind: &ColumnKind) -> Cow<'a, Dtype> {
    let shown = match kind {
        ColumnKind::Timestamp { unit, .. } => format!("<M8[{unit}]").parse(),
        ColumnKind::Fixed("b1") => "|b1".parse(),
        _ => return Cow::Borrowed(dtype),
    };
    shown.map_or(Cow::Borrowed(dtype), Cow::Owned)
}
