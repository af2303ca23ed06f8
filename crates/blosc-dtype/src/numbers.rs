//! Items as numbers, fast enough to read all of them, and summaries of many numbers.
//!
//! ```
//! use blosc_dtype::{Scalar, numbers::{Extent, NumberType}};
//!
//! let scalar = Scalar::parse("<i2")?;
//! let number = NumberType::new(&scalar).ok_or("no number")?;
//! let (mut values, mut extent) = (vec![], Extent::EMPTY);
//! number.extend(&[5, 0, 0xff, 0xff, 1, 0], 2, 2, 3, &mut values);
//! extent.add(&values);
//! assert_eq!(extent.ends(), Some((-1.0, 5.0)));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts of items in memory, integers of 64 bits in 128, steps that are clamped"
)]

mod summary;

use alloc::vec::Vec;

use half::f16;

use crate::{ByteOrder, Kind, Scalar};

pub use summary::{Extent, Histogram, Tally, is_finite, sum, widened};

/// A value for comparing and computing.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer, a truth value, or a time in its unit.
    Int(i128),
    /// A float.
    Float(f64),
    /// NaT in place of a date or a span.
    NotATime,
}

impl Number {
    /// The nearest float.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "statistics need no more digits")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
            Self::NotATime => f64::NAN,
        }
    }

    /// Whether it is smaller; NaN never is.
    #[must_use]
    pub fn is_below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a < b,
            _ => self.to_f64() < other.to_f64(),
        }
    }

    /// The distance of two numbers: 0 for equal ones and for two NaN; NaN if only one is NaN.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a - b).to_f64().abs(),
            _ => {
                let (a, b) = (self.to_f64(), other.to_f64());
                let is_equal = a == b || (a.is_nan() && b.is_nan());
                if is_equal { 0.0 } else { (a - b).abs() }
            }
        }
    }
}

/// The way to read the items of a type.
#[derive(Clone, Copy, Debug)]
pub struct NumberType {
    kind: Kind,
    is_big: bool,
}

impl NumberType {
    /// `None` for items other than real numbers and times.
    #[must_use]
    pub fn new(scalar: &Scalar) -> Option<Self> {
        let fits = match scalar.kind() {
            Kind::Bool => scalar.itemsize() == 1,
            Kind::Int | Kind::Uint => matches!(scalar.itemsize(), 1 | 2 | 4 | 8),
            Kind::Float => matches!(scalar.itemsize(), 2 | 4 | 8),
            Kind::DateTime | Kind::TimeDelta => scalar.itemsize() == 8,
            _ => false,
        };
        let is_big = scalar.order() == ByteOrder::Big;
        fits.then_some(Self { kind: scalar.kind(), is_big })
    }

    /// Whether values are points or spans of time.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self.kind, Kind::DateTime | Kind::TimeDelta)
    }

    /// The value of an item.
    #[must_use]
    pub fn read(self, item: &[u8]) -> Number {
        let bits = self.bits(item);
        match self.kind {
            Kind::Float => Number::Float(float(bits, item.len())),
            Kind::Int | Kind::DateTime | Kind::TimeDelta => {
                let shift = 64u32.saturating_sub(8 * u32::try_from(item.len()).unwrap_or(8));
                let value = bits.wrapping_shl(shift).cast_signed().wrapping_shr(shift);
                if self.is_time() && value == i64::MIN {
                    return Number::NotATime;
                }
                Number::Int(value.into())
            }
            Kind::Bool => Number::Int((bits != 0).into()),
            _ => Number::Int(bits.into()),
        }
    }

    /// Adds the values of `nitems` items that begin every `stride` bytes, or of those that lie
    /// within `bytes`, in loops without branches.
    pub fn extend(
        self,
        bytes: &[u8],
        stride: usize,
        itemsize: usize,
        nitems: usize,
        values: &mut Vec<f64>,
    ) {
        match (self.kind, itemsize, self.is_big) {
            (Kind::Float, 8, false) => each(bytes, stride, nitems, values, f64::from_le_bytes),
            (Kind::Float, 4, false) => {
                each(bytes, stride, nitems, values, |item| f32::from_le_bytes(item).into());
            }
            (Kind::Int, 4, false) => {
                each(bytes, stride, nitems, values, |item| i32::from_le_bytes(item).into());
            }
            (Kind::Int, 2, false) => {
                each(bytes, stride, nitems, values, |item| i16::from_le_bytes(item).into());
            }
            (Kind::Uint, 4, false) => {
                each(bytes, stride, nitems, values, |item| u32::from_le_bytes(item).into());
            }
            (Kind::Uint, 2, false) => {
                each(bytes, stride, nitems, values, |item| u16::from_le_bytes(item).into());
            }
            (Kind::Int, 1, _) => {
                each(bytes, stride, nitems, values, |item| i8::from_le_bytes(item).into());
            }
            (Kind::Uint, 1, _) => {
                each(bytes, stride, nitems, values, |item: [u8; 1]| item[0].into());
            }
            (Kind::Int, 8, false) => {
                #[allow(clippy::cast_precision_loss, reason = "statistics need no more digits")]
                each(bytes, stride, nitems, values, |item| i64::from_le_bytes(item) as f64);
            }
            (Kind::Uint, 8, false) => {
                #[allow(clippy::cast_precision_loss, reason = "statistics need no more digits")]
                each(bytes, stride, nitems, values, |item| u64::from_le_bytes(item) as f64);
            }
            _ => {
                let items = (0..nitems).map_while(|n| {
                    let start = n.checked_mul(stride)?;
                    bytes.get(start..start.checked_add(itemsize)?)
                });
                values.extend(items.map(|item| self.read(item).to_f64()));
            }
        }
    }

    fn bits(self, item: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        match self.is_big {
            false => bytes.iter_mut().zip(item).for_each(|(to, from)| *to = *from),
            true => bytes.iter_mut().zip(item.iter().rev()).for_each(|(to, from)| *to = *from),
        }
        u64::from_le_bytes(bytes)
    }
}

/// Adds the values of items that begin every `stride` bytes.
fn each<const N: usize>(
    bytes: &[u8],
    stride: usize,
    nitems: usize,
    values: &mut Vec<f64>,
    value: impl Fn([u8; N]) -> f64,
) {
    if stride == N {
        values.extend(bytes.as_chunks::<N>().0.iter().take(nitems).map(|item| value(*item)));
        return;
    }
    let items = bytes.chunks(stride.max(1)).take(nitems);
    values.extend(items.map_while(|item| item.first_chunk()).map(|item| value(*item)));
}

fn float(bits: u64, itemsize: usize) -> f64 {
    match itemsize {
        8 => f64::from_bits(bits),
        4 => f32::from_bits(u32::try_from(bits).unwrap_or_default()).into(),
        _ => f16::from_bits(u16::try_from(bits).unwrap_or_default()).to_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn read(dtype: &str, bytes: &[u8]) -> f64 {
        NumberType::new(&Scalar::parse(dtype).unwrap()).unwrap().read(bytes).to_f64()
    }

    #[test]
    fn items_of_every_kind_are_numbers() {
        assert_eq!(read("<i2", &[0xff, 0xff]), -1.0);
        assert_eq!(read(">u2", &[0xff, 0xfe]), 65534.0);
        assert_eq!(read("|i1", &[0x80]), -128.0);
        assert_eq!(read("|b1", &[7]), 1.0);
        assert_eq!(read(">f4", &1.5f32.to_be_bytes()), 1.5);
        assert_eq!(read("<f8", &(-2.25f64).to_le_bytes()), -2.25);
        assert_eq!(read("<f2", &[0x00, 0x3c]), 1.0);
        assert_eq!(read("<u8", &[0xff; 8]), 2f64.powi(64));
        assert_eq!(read("<M8[s]", &5i64.to_le_bytes()), 5.0);
        assert!(read("<M8[s]", &i64::MIN.to_le_bytes()).is_nan());
        for dtype in ["|S4", "<U2", "<c8", "|V3"] {
            assert!(NumberType::new(&Scalar::parse(dtype).unwrap()).is_none(), "{dtype}");
        }
    }

    #[test]
    fn many_items_are_what_each_of_them_is() {
        let bytes: Vec<u8> = (0..240u8).map(|n| n.wrapping_mul(97)).collect();
        for dtype in [
            "<f8", ">f8", "<f4", "<f2", "<i8", ">i8", "<i4", "<i2", "|i1", "<u8", "<u4", ">u4",
            "<u2", "|u1", "|b1",
        ] {
            let scalar = Scalar::parse(dtype).unwrap();
            let (number, itemsize) = (NumberType::new(&scalar).unwrap(), scalar.itemsize());
            for stride in [itemsize, itemsize + 3, 24] {
                let expected: Vec<f64> = bytes
                    .chunks(stride)
                    .filter_map(|row| row.get(..itemsize))
                    .map(|item| number.read(item).to_f64())
                    .collect();
                let mut values = vec![];
                number.extend(&bytes, stride, itemsize, usize::MAX, &mut values);
                let bits =
                    |values: &[f64]| values.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
                // A NaN may change its bits when it is converted.
                let same = bits(&values) == bits(&expected)
                    || values
                        .iter()
                        .zip(&expected)
                        .all(|(a, b)| a == b || a.is_nan() && b.is_nan());
                assert!(same && values.len() == expected.len(), "{dtype} {stride}");
                number.extend(&bytes, stride, itemsize, 2, &mut values);
                assert_eq!(values.len(), expected.len() + 2);
            }
        }
    }

    #[test]
    fn large_integers_are_not_rounded_before_they_are_compared() {
        let (a, b) = (Number::Int(i128::from(u64::MAX)), Number::Int(i128::from(u64::MAX) - 1));
        assert!(b.is_below(a) && !a.is_below(b));
        assert_eq!(a.distance(b), 1.0);
        assert_eq!(Number::Float(f64::NAN).distance(Number::Float(f64::NAN)), 0.0);
        assert!(Number::Float(f64::NAN).distance(Number::Int(1)).is_nan());
        assert_eq!(Number::Float(f64::INFINITY).distance(Number::Float(f64::INFINITY)), 0.0);
    }
}
