//! Conditions evaluated on stored items: comparisons of columns with constants, and combinations of
//! such comparisons.
//!
//! Most filters are of this kind. Their items are not widened or trimmed, so compilers can
//! vectorise the loops. All other conditions, and all that could give another result here, are left
//! to [`eval`](super::eval).
#![cfg_attr(
    not(test),
    expect(clippy::indexing_slicing, reason = "rows and bytes that were compared with the layout")
)]

use std::prelude::v1::*;

use crate::{Dtype, Kind};

use super::eval::zip;
use super::parser::{Expr, Op};
use crate::items;

/// The items of a column, as they are stored.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// Their type.
    pub dtype: &'a Dtype,
    /// The items, one after the other.
    pub bytes: &'a [u8],
}

/// A constant, with its sign.
#[derive(Clone, Copy)]
enum Constant<'a> {
    Int(i64),
    Float(f64),
    Text(&'a str),
}

/// For each row whether it meets the condition; `None` for a condition of another kind.
pub(super) fn truth(expr: &Expr, columns: &[Stored<'_>]) -> Option<Vec<bool>> {
    match expr {
        Expr::Not { inner, .. } => {
            let mut truth = truth(inner, columns)?;
            truth.iter_mut().for_each(|value| *value = !*value);
            Some(truth)
        }
        Expr::Binary { op: op @ (Op::And | Op::Or | Op::Xor), sides, .. } => {
            let (left, right) = (truth(&sides.0, columns)?, truth(&sides.1, columns)?);
            Some(match op {
                Op::And => zip(&left, &right, |a, b| a & b),
                Op::Or => zip(&left, &right, |a, b| a | b),
                _ => zip(&left, &right, |a, b| a ^ b),
            })
        }
        Expr::Binary { op, sides, .. } => match (&sides.0, &sides.1) {
            (Expr::Column(place), other) => compared(*op, *columns.get(*place)?, constant(other)?),
            (other, Expr::Column(place)) => {
                compared(op.turned()?, *columns.get(*place)?, constant(other)?)
            }
            _ => None,
        },
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<Constant<'_>> {
    Some(match expr {
        Expr::Int(value) => Constant::Int(*value),
        Expr::Float(value) => Constant::Float(*value),
        Expr::Text(text) => Constant::Text(text),
        Expr::Negative { inner, .. } => match constant(inner)? {
            Constant::Int(value) => Constant::Int(value.wrapping_neg()),
            Constant::Float(value) => Constant::Float(-value),
            Constant::Text(_) => return None,
        },
        _ => return None,
    })
}

fn compared(op: Op, column: Stored<'_>, constant: Constant<'_>) -> Option<Vec<bool>> {
    let kind = column.dtype.kind()?;
    match constant {
        Constant::Text(text) => {
            matches!(kind, Kind::Bytes).then(|| strings(op, column, text.as_bytes()))?
        }
        _ if items::is_big(column.dtype) => None,
        Constant::Int(value) => match kind {
            Kind::Float => floats(op, column, to_float(value)),
            _ => integers(op, column, value),
        },
        Constant::Float(value) => matches!(kind, Kind::Float).then(|| floats(op, column, value))?,
    }
}

#[expect(clippy::cast_precision_loss, reason = "what NumPy does as well")]
const fn to_float(value: i64) -> f64 {
    value as f64
}

/// Compares integers with a constant that their type can hold.
fn integers(op: Op, column: Stored<'_>, value: i64) -> Option<Vec<bool>> {
    macro_rules! with {
        ($type:ty) => {{
            let value = <$type>::try_from(value).ok()?;
            each(op, column.bytes, <$type>::from_le_bytes, value)
        }};
    }
    match (column.dtype.kind()?, column.dtype.itemsize()) {
        (Kind::Int, 1) => with!(i8),
        (Kind::Int, 2) => with!(i16),
        (Kind::Int, 4) => with!(i32),
        (Kind::Int | Kind::DateTime | Kind::TimeDelta, 8) => with!(i64),
        (Kind::Uint, 1) => with!(u8),
        (Kind::Uint, 2) => with!(u16),
        (Kind::Uint, 4) => with!(u32),
        (Kind::Uint, 8) => with!(u64),
        _ => None,
    }
}

fn floats(op: Op, column: Stored<'_>, value: f64) -> Option<Vec<bool>> {
    match column.dtype.itemsize() {
        4 => each(op, column.bytes, |item| f64::from(f32::from_le_bytes(item)), value),
        8 => each(op, column.bytes, f64::from_le_bytes, value),
        _ => None,
    }
}

/// Compares byte strings with a text for equality. Trailing zeros do not count in either, so all
/// bytes of the padded items are compared.
fn strings(op: Op, column: Stored<'_>, text: &[u8]) -> Option<Vec<bool>> {
    let size = column.dtype.itemsize();
    if !matches!(op, Op::Eq | Op::Ne) || text.len() > size || text.ends_with(b"\0") || size == 0 {
        return None;
    }
    let mut item = vec![0; size];
    item[..text.len()].copy_from_slice(text);
    /// Compares items of a size that the compiler knows.
    fn of_size<const N: usize>(op: Op, items: &[u8], item: &[u8]) -> Option<Vec<bool>> {
        each(op, items, |item: [u8; N]| item, item.try_into().ok()?)
    }
    match size {
        1 => of_size::<1>(op, column.bytes, &item),
        2 => of_size::<2>(op, column.bytes, &item),
        4 => of_size::<4>(op, column.bytes, &item),
        8 => of_size::<8>(op, column.bytes, &item),
        16 => of_size::<16>(op, column.bytes, &item),
        _ => Some(
            column
                .bytes
                .chunks_exact(size)
                .map(|found| (found == item) == (op == Op::Eq))
                .collect(),
        ),
    }
}

fn each<T: PartialOrd + Copy, const N: usize>(
    op: Op,
    items: &[u8],
    value: impl Fn([u8; N]) -> T,
    other: T,
) -> Option<Vec<bool>> {
    let items = items.as_chunks::<N>().0.iter().map(|item| value(*item));
    Some(match op {
        Op::Lt => items.map(|item| item < other).collect(),
        Op::Le => items.map(|item| item <= other).collect(),
        Op::Gt => items.map(|item| item > other).collect(),
        Op::Ge => items.map(|item| item >= other).collect(),
        Op::Eq => items.map(|item| item == other).collect(),
        Op::Ne => items.map(|item| item != other).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::eval::eval;
    use super::super::parser::parse;
    use super::super::vector::Vector;
    use super::*;

    /// One column named `x`.
    fn both(dtype: &str, bytes: &[u8], text: &str) -> (Option<Vec<bool>>, Option<Vec<bool>>) {
        let dtype = Dtype::parse(dtype).unwrap();
        let expr = parse(text, &mut |name| (name == "x").then_some(0)).unwrap();
        let columns = [Vector::of_items(&dtype, bytes).unwrap()];
        let general = match &*eval(&expr, &columns).unwrap() {
            Vector::Bool(values) => Some(values.clone()),
            _ => None,
        };
        (truth(&expr, &[Stored { dtype: &dtype, bytes }]), general)
    }

    /// Bytes that contain all kinds of numbers and strings.
    fn bytes() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..4096_u32)
            .map(|n| (n.wrapping_mul(n).wrapping_mul(2_654_435) >> 9).to_le_bytes()[0])
            .collect();
        bytes.extend([0; 64]);
        bytes.extend(b"IBM\0\0\0\0\0".repeat(8));
        bytes.extend([0xff; 64]);
        bytes.extend([f64::NAN, f64::INFINITY, -0.0, 7.0].map(f64::to_le_bytes).as_flattened());
        bytes.extend([f32::NAN, 7.0, -7.0, 0.0].map(f32::to_le_bytes).as_flattened());
        bytes
    }

    #[test]
    fn numbers_compare_as_in_general() {
        let bytes = bytes();
        for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "m8[s]"] {
            for op in ["<", "<=", ">", ">=", "==", "!="] {
                for text in
                    [format!("x {op} 7"), format!("7 {op} x"), format!("~(x {op} 0) | (x == 7)")]
                {
                    let (direct, general) = both(dtype, &bytes, &text);
                    assert_eq!(direct, general, "{dtype}: {text}");
                    assert!(direct.is_some());
                }
                let (direct, general) = both(dtype, &bytes, &format!("(x {op} -7) ^ (1 < x)"));
                assert!(
                    direct.is_none() == dtype.starts_with('u')
                        && direct.is_none_or(|d| general == Some(d))
                );
            }
        }
        for op in ["<", ">=", "=="] {
            let (direct, general) = both("f4", &bytes, &format!("x {op} -0.1"));
            assert!(direct.is_some() && direct == general);
        }
    }

    #[test]
    fn strings_compare_as_in_general() {
        let bytes = bytes();
        for size in [1, 2, 3, 4, 8, 11, 16] {
            let bytes = &bytes[..bytes.len() / size * size];
            for text in ["x == b''", "x != ''", "x == b'I'", "'I' != x"] {
                let (direct, general) = both(&format!("S{size}"), bytes, text);
                assert!(direct.is_some() && direct == general, "{size}: {text}");
            }
        }
        assert_eq!(both("S4", b"IBM\0IBMXibm\0", "x == 'IBM'").0, Some(vec![true, false, false]));
    }

    #[test]
    fn other_conditions_are_left_to_others() {
        for (dtype, text) in [
            ("i1", "x < 128"),
            ("u8", "x > -1"),
            ("i4", "x < 0.5"),
            (">i4", "x < 5"),
            ("f2", "x < 5"),
            ("i4", "x + 1 < 5"),
            ("i4", "x < x"),
            ("i4", "(x < 5) & True"),
            ("S4", "x < 'IBM'"),
            ("S2", "x == 'IBM'"),
            ("U2", "x == 'IBM'"),
        ] {
            assert_eq!(both(dtype, &bytes()[..96], text).0, None, "{dtype}: {text}");
        }
    }
}
