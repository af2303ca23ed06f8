//! Evaluating an expression over a block.
//!
//! Integers have 64 bits and wrap around, `/` gives floats, `//` and `%` round down as in Python,
//! and dividing integers by zero gives 0 as in NumPy. Signed and unsigned integers are compared
//! exactly and otherwise combined as floats. The type of a value never depends on the values of
//! columns, so a row's result does not depend on the other rows of the block.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use std::prelude::v1::*;

use alloc::borrow::Cow;

use super::error::ExprError;
use super::parser::{Expr, Op};
use super::vector::Vector;

type Result<T> = core::result::Result<T, ExprError>;

/// The values of an expression; `columns` has the values of each column.
pub(super) fn eval<'a>(expr: &'a Expr, columns: &'a [Vector<'a>]) -> Result<Cow<'a, Vector<'a>>> {
    Ok(Cow::Owned(match expr {
        Expr::Column(place) => return Ok(Cow::Borrowed(&columns[*place])),
        Expr::Bool(value) => Vector::Bool(vec![*value]),
        Expr::Int(value) => Vector::Int(vec![*value].into()),
        Expr::Uint(value) => Vector::Uint(vec![*value].into()),
        Expr::Float(value) => Vector::Float(vec![*value].into()),
        Expr::Text(text) => Vector::Bytes(vec![text.as_bytes()]),
        Expr::Not { at, inner } => {
            let value = eval(inner, columns)?;
            not(&value).ok_or_else(|| types(*at, &value, &value))?
        }
        Expr::Negative { at, inner } => {
            let value = eval(inner, columns)?;
            negative(&value.without_truth()).ok_or_else(|| types(*at, &value, &value))?
        }
        Expr::Binary { at, op, sides } => {
            let (left, right) = (eval(&sides.0, columns)?, eval(&sides.1, columns)?);
            let right = adapted(&sides.1, right, &left);
            let left = adapted(&sides.0, left, &right);
            let right = if *op == Op::Pow { exponent(&sides.1, right) } else { right };
            binary(*op, &left, &right).ok_or_else(|| match &**sides {
                (Expr::Text(_), _) if right.value_type().is_number() => {
                    ExprError::Quoted { at: *at, other: right.type_name() }
                }
                (_, Expr::Text(_)) if left.value_type().is_number() => {
                    ExprError::Quoted { at: *at, other: left.type_name() }
                }
                _ => types(*at, &left, &right),
            })?
        }
        // `logic` handles columns with nulls; in others only NaN counts as missing.
        Expr::IsNull { inner, .. } => Vector::Bool(is_missing(&*eval(inner, columns)?)),
        Expr::Call { at, function, values } => {
            let values =
                values.iter().map(|value| eval(value, columns)).collect::<Result<Vec<_>>>()?;
            function.apply(*at, &values)?
        }
    }))
}

fn types(at: usize, left: &Vector<'_>, right: &Vector<'_>) -> ExprError {
    ExprError::Types { at, left: left.type_name(), right: right.type_name() }
}

/// For each value whether it is NaN.
fn is_missing(value: &Vector<'_>) -> Vec<bool> {
    let len = match value {
        Vector::Float(values) => return map(values, f64::is_nan),
        Vector::Bool(values) => values.len(),
        Vector::Int(values) => values.len(),
        Vector::Uint(values) => values.len(),
        Vector::Bytes(values) => values.len(),
        Vector::Text(values) => values.len(),
    };
    vec![false; len]
}

fn not(value: &Vector<'_>) -> Option<Vector<'static>> {
    Some(match value {
        Vector::Bool(values) => Vector::Bool(map(values, |value| !value)),
        Vector::Int(values) => Vector::Int(map(values, |value| !value).into()),
        Vector::Uint(values) => Vector::Uint(map(values, |value| !value).into()),
        _ => return None,
    })
}

fn negative(value: &Vector<'_>) -> Option<Vector<'static>> {
    Some(match value {
        Vector::Int(values) => Vector::Int(map(values, i64::wrapping_neg).into()),
        Vector::Uint(values) => Vector::Uint(map(values, u64::wrapping_neg).into()),
        Vector::Float(values) => Vector::Float(map(values, |value| -value).into()),
        _ => return None,
    })
}

fn binary(op: Op, left: &Vector<'_>, right: &Vector<'_>) -> Option<Vector<'static>> {
    match op {
        Op::Or | Op::And | Op::Xor | Op::ShiftLeft | Op::ShiftRight => bitwise(op, left, right),
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => {
            compare(op, left, right).map(Vector::Bool)
        }
        _ => arithmetic(op, left, right),
    }
}

fn bitwise(op: Op, left: &Vector<'_>, right: &Vector<'_>) -> Option<Vector<'static>> {
    if let (Vector::Bool(a), Vector::Bool(b)) = (left, right) {
        return truth(op, a, b).map(Vector::Bool);
    }
    match (&*left.without_truth(), &*right.without_truth()) {
        (Vector::Int(a), Vector::Int(b)) => Some(Vector::Int(signed(op, a, b).into())),
        (Vector::Uint(a), Vector::Uint(b)) => Some(Vector::Uint(unsigned(op, a, b).into())),
        _ => None,
    }
}

/// Operators with truth values as result; like numexpr, they include addition and multiplication.
fn truth(op: Op, left: &[bool], right: &[bool]) -> Option<Vec<bool>> {
    Some(match op {
        Op::Or | Op::Add => zip(left, right, |a, b| a | b),
        Op::And | Op::Mul => zip(left, right, |a, b| a & b),
        Op::Xor => zip(left, right, |a, b| a ^ b),
        _ => return None,
    })
}

fn compare(op: Op, left: &Vector<'_>, right: &Vector<'_>) -> Option<Vec<bool>> {
    Some(match (left, right) {
        (Vector::Int(a), Vector::Int(b)) => compare_all(op, a, b),
        (Vector::Uint(a), Vector::Uint(b)) => compare_all(op, a, b),
        (Vector::Bool(a), Vector::Bool(b)) => compare_all(op, a, b),
        (Vector::Float(_), _) | (_, Vector::Float(_)) => {
            compare_all(op, &left.to_floats()?, &right.to_floats()?)
        }
        (Vector::Bytes(_) | Vector::Text(_), _) => {
            compare_all(op, &left.to_bytes()?, &right.to_bytes()?)
        }
        _ => compare_all(op, &wide(left)?, &wide(right)?),
    })
}

/// Integers of either sign as 128-bit ones.
fn wide(vector: &Vector<'_>) -> Option<Vec<i128>> {
    Some(match vector {
        Vector::Bool(values) => values.iter().map(|value| i128::from(*value)).collect(),
        Vector::Int(values) => values.iter().map(|value| i128::from(*value)).collect(),
        Vector::Uint(values) => values.iter().map(|value| i128::from(*value)).collect(),
        _ => return None,
    })
}

fn compare_all<T: PartialOrd + Copy>(op: Op, left: &[T], right: &[T]) -> Vec<bool> {
    match op {
        Op::Lt => zip(left, right, |a, b| a < b),
        Op::Le => zip(left, right, |a, b| a <= b),
        Op::Gt => zip(left, right, |a, b| a > b),
        Op::Ge => zip(left, right, |a, b| a >= b),
        Op::Ne => zip(left, right, |a, b| a != b),
        _ => zip(left, right, |a, b| a == b),
    }
}

fn arithmetic(op: Op, left: &Vector<'_>, right: &Vector<'_>) -> Option<Vector<'static>> {
    if let (Vector::Bool(a), Vector::Bool(b)) = (left, right)
        && let Some(values) = truth(op, a, b)
    {
        return Some(Vector::Bool(values));
    }
    if op != Op::Div {
        match (&*left.without_truth(), &*right.without_truth()) {
            (Vector::Int(a), Vector::Int(b)) => return Some(Vector::Int(signed(op, a, b).into())),
            (Vector::Uint(a), Vector::Uint(b)) => {
                return Some(Vector::Uint(unsigned(op, a, b).into()));
            }
            _ => {}
        }
    }
    let (a, b) = (left.to_floats()?, right.to_floats()?);
    let values = match op {
        Op::Add => zip(&a, &b, |a, b| a + b),
        Op::Sub => zip(&a, &b, |a, b| a - b),
        Op::Mul => zip(&a, &b, |a, b| a * b),
        Op::Div => zip(&a, &b, |a, b| a / b),
        Op::FloorDiv => zip(&a, &b, |a, b| (a / b).floor()),
        Op::Mod => zip(&a, &b, |a, b| a - b * (a / b).floor()),
        _ => zip(&a, &b, f64::powf),
    };
    Some(Vector::Float(values.into()))
}

fn signed(op: Op, left: &[i64], right: &[i64]) -> Vec<i64> {
    // A shift of any width drops the bits that it moves out.
    let far = |b: i64| u32::try_from(b).unwrap_or(u32::MAX);
    match op {
        Op::Or => zip(left, right, |a, b| a | b),
        Op::And => zip(left, right, |a, b| a & b),
        Op::Xor => zip(left, right, |a, b| a ^ b),
        Op::ShiftLeft => zip(left, right, |a, b| a.checked_shl(far(b)).unwrap_or(0)),
        Op::ShiftRight => zip(left, right, |a, b| a >> far(b).min(63)),
        Op::Add => zip(left, right, i64::wrapping_add),
        Op::Sub => zip(left, right, i64::wrapping_sub),
        Op::Mul => zip(left, right, i64::wrapping_mul),
        Op::FloorDiv => zip(left, right, |a, b| if b == 0 { 0 } else { floor_div(a, b) }),
        Op::Mod => zip(left, right, |a, b| {
            if b == 0 { 0 } else { a.wrapping_sub(floor_div(a, b).wrapping_mul(b)) }
        }),
        _ => zip(left, right, power),
    }
}

/// The power of integers; for a negative exponent the quotient without its fraction.
fn power(base: i64, exponent: i64) -> i64 {
    match (base, exponent) {
        (1, _) => 1,
        (-1, _) if exponent % 2 != 0 => -1,
        (-1, _) => 1,
        (_, ..0) => 0,
        _ => base.wrapping_pow(u32::try_from(exponent).unwrap_or(u32::MAX)),
    }
}

fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    let is_exact = quotient.wrapping_mul(b) == a;
    if !is_exact && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn unsigned(op: Op, left: &[u64], right: &[u64]) -> Vec<u64> {
    let far = |b: u64| u32::try_from(b).unwrap_or(u32::MAX);
    match op {
        Op::Or => zip(left, right, |a, b| a | b),
        Op::And => zip(left, right, |a, b| a & b),
        Op::Xor => zip(left, right, |a, b| a ^ b),
        Op::ShiftLeft => zip(left, right, |a, b| a.checked_shl(far(b)).unwrap_or(0)),
        Op::ShiftRight => zip(left, right, |a, b| a.checked_shr(far(b)).unwrap_or(0)),
        Op::Add => zip(left, right, u64::wrapping_add),
        Op::Sub => zip(left, right, u64::wrapping_sub),
        Op::Mul => zip(left, right, u64::wrapping_mul),
        Op::FloorDiv => zip(left, right, |a, b| a.checked_div(b).unwrap_or(0)),
        Op::Mod => zip(left, right, |a, b| a.checked_rem(b).unwrap_or(0)),
        _ => zip(left, right, |a, b| a.wrapping_pow(u32::try_from(b).unwrap_or(u32::MAX))),
    }
}

/// A whole constant gets the signedness of the other operand.
fn adapted<'a>(expr: &Expr, value: Cow<'a, Vector<'a>>, other: &Vector<'_>) -> Cow<'a, Vector<'a>> {
    match (expr, other) {
        (Expr::Int(constant), Vector::Uint(_)) => u64::try_from(*constant)
            .map_or(value, |constant| Cow::Owned(Vector::Uint(vec![constant].into()))),
        _ => value,
    }
}

/// A negative constant makes the power a float; exponents in a column do not, as in numexpr.
fn exponent<'a>(expr: &Expr, value: Cow<'a, Vector<'a>>) -> Cow<'a, Vector<'a>> {
    match &*value {
        Vector::Int(values) if expr.is_constant() && values.iter().any(|value| *value < 0) => {
            Cow::Owned(Vector::Float(map(values, |value| value as f64).into()))
        }
        _ => value,
    }
}

pub(super) fn map<T: Copy, U>(values: &[T], each: impl Fn(T) -> U) -> Vec<U> {
    values.iter().map(|value| each(*value)).collect()
}

/// Combines pairs; a single value on one side is combined with each value on the other.
pub(super) fn zip<T: Copy, U>(left: &[T], right: &[T], each: impl Fn(T, T) -> U) -> Vec<U> {
    match (left, right) {
        (left, [right]) => left.iter().map(|left| each(*left, *right)).collect(),
        ([left], right) => right.iter().map(|right| each(*left, *right)).collect(),
        _ => left.iter().zip(right).map(|(left, right)| each(*left, *right)).collect(),
    }
}

/// The number of results for these numbers of values: a single value is combined with each other
/// one.
pub(super) fn broadcast(lens: &[usize]) -> usize {
    lens.iter().copied().find(|len| *len != 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::super::parser::parse;
    use super::*;

    fn columns() -> Vec<Vector<'static>> {
        vec![
            Vector::Int(vec![-7, 0, 7].into()),
            Vector::Uint(vec![1, 2, u64::MAX].into()),
            Vector::Float(vec![-0.5, 2.0, f64::NAN].into()),
            Vector::Bool(vec![true, false, true]),
            Vector::Bytes(vec![b"x", b"", b"yy"]),
            Vector::Text(vec!["x".into(), "é".into(), "yy".into()]),
        ]
    }

    fn value(text: &str) -> Result<Vector<'static>> {
        let names = ["i", "u", "f", "t", "s", "w"];
        let expr = parse(text, &mut |name| names.iter().position(|known| *known == name))?;
        Ok(match &*eval(&expr, &columns())? {
            Vector::Bool(values) => Vector::Bool(values.clone()),
            Vector::Int(values) => Vector::Int(values.to_vec().into()),
            Vector::Uint(values) => Vector::Uint(values.to_vec().into()),
            Vector::Float(values) => Vector::Float(values.to_vec().into()),
            _ => Vector::Text(Vec::new()),
        })
    }

    #[test]
    fn numbers_are_those_of_python() {
        for (text, expected) in [
            ("i // 2", Vector::Int(vec![-4, 0, 3].into())),
            ("i % 4", Vector::Int(vec![1, 0, 3].into())),
            ("i // 0", Vector::Int(vec![0; 3].into())),
            ("i ** 2 + t", Vector::Int(vec![50, 0, 50].into())),
            ("i / 2", Vector::Float(vec![-3.5, 0.0, 3.5].into())),
            ("2 ** -1", Vector::Float(vec![0.5].into())),
            ("(i + 9) ** (1 - 2)", Vector::Float(vec![0.5, 1.0 / 9.0, 1.0 / 16.0].into())),
            ("2 ** i", Vector::Int(vec![0, 1, 128].into())),
            ("(t * 2 - 1) ** i", Vector::Int(vec![1, 1, 1].into())),
            ("(1 - t * 2) ** i", Vector::Int(vec![-1, 1, -1].into())),
            ("0 ** i", Vector::Int(vec![0, 1, 0].into())),
            ("u + 1", Vector::Uint(vec![2, 3, 0].into())),
            ("-i", Vector::Int(vec![7, 0, -7].into())),
            ("~i & 3", Vector::Int(vec![2, 3, 0].into())),
            ("i << 1 | 1", Vector::Int(vec![-13, 1, 15].into())),
            ("i >> 70", Vector::Int(vec![-1, 0, 0].into())),
            ("1 << i", Vector::Int(vec![0, 1, 128].into())),
            ("u >> 63", Vector::Uint(vec![0, 0, 1].into())),
            ("t + t", Vector::Bool(vec![true, false, true])),
            ("t * (i > 0)", Vector::Bool(vec![false, false, true])),
            ("i + 0.5", Vector::Float(vec![-6.5, 0.5, 7.5].into())),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn functions_are_those_of_numexpr() {
        let floats = |values: [f64; 3]| Vector::Float(values.to_vec().into());
        for (text, expected) in [
            ("where(t, i, 1)", Vector::Int(vec![-7, 1, 7].into())),
            ("where(i > 0, t, ~t)", Vector::Bool(vec![false, true, true])),
            ("where(t, i, f)", floats([-7.0, 2.0, 7.0])),
            ("where(True, u, u)", Vector::Uint(vec![1, 2, u64::MAX].into())),
            ("abs(i)", Vector::Int(vec![7, 0, 7].into())),
            ("sign(i)", Vector::Int(vec![-1, 0, 1].into())),
            ("round(u)", Vector::Uint(vec![1, 2, u64::MAX].into())),
            ("round(i / 2)", floats([-4.0, 0.0, 4.0])),
            ("floor(i / 2)", floats([-4.0, 0.0, 3.0])),
            ("trunc(i / 2)", floats([-3.0, 0.0, 3.0])),
            ("ceil(i / 2)", floats([-3.0, 0.0, 4.0])),
            ("sqrt(t)", floats([1.0, 0.0, 1.0])),
            ("fmod(i, 4)", floats([-3.0, 0.0, 3.0])),
            ("maximum(i, -1)", floats([-1.0, 0.0, 7.0])),
            ("minimum(1, i)", floats([-7.0, 0.0, 1.0])),
            ("copysign(i, -1.0)", floats([-7.0, -0.0, -7.0])),
            (
                "arctan2(t, t)",
                floats([core::f64::consts::FRAC_PI_4, 0.0, core::f64::consts::FRAC_PI_4]),
            ),
            ("nextafter(0 * i, 1) > 0", Vector::Bool(vec![true; 3])),
            ("isnan(maximum(f, 1)) & isnan(minimum(1, f))", Vector::Bool(vec![false, false, true])),
            ("isnan(f)", Vector::Bool(vec![false, false, true])),
            ("isfinite(i)", Vector::Bool(vec![true; 3])),
            ("isinf(1 / i)", Vector::Bool(vec![false, true, false])),
            ("signbit(f)", Vector::Bool(vec![true, false, false])),
            ("sign(-2.5) + sign(0.0)", Vector::Float(vec![-1.0].into())),
            ("contains(s, b'y')", Vector::Bool(vec![false, false, true])),
            ("contains(w, s)", Vector::Bool(vec![true; 3])),
            ("contains('x', '')", Vector::Bool(vec![true])),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn comparisons_are_exact() {
        for (text, expected) in [
            ("u > i", [true, true, true]),
            ("u == 18446744073709551615", [false, false, true]),
            ("f < 0", [true, false, false]),
            ("f != f", [false, false, true]),
            ("t & ~(i == 0)", [true, false, true]),
            ("t == 1", [true, false, true]),
            ("s == 'x'", [true, false, false]),
            ("w >= 'y'", [false, true, true]),
            ("s == w", [true, false, true]),
            ("-1 < i < 8", [false, true, true]),
        ] {
            assert_eq!(value(text), Ok(Vector::Bool(expected.to_vec())), "{text}");
        }
    }

    #[test]
    fn operands_that_do_not_go_together_are_named() {
        for (text, expected) in [
            ("s + 1", "at byte 2: byte strings and integers cannot be combined so"),
            ("f & t", "at byte 2: floats and truth values cannot be combined so"),
            ("s > 1", "at byte 2: byte strings and integers cannot be combined so"),
            ("sqrt(s)", "at byte 0: sqrt does not take byte strings"),
            ("hypot(1, s)", "at byte 0: hypot does not take byte strings"),
            ("contains(s, 1)", "at byte 0: contains does not take integers"),
            ("where(i, 1, 2)", "at byte 0: where does not take integers"),
            ("where(t, 1, s)", "at byte 0: where does not take byte strings"),
            ("~f", "at byte 0: floats and floats cannot be combined so"),
        ] {
            assert_eq!(value(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
