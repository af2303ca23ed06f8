//! Conditions on rows of which only the least and the largest value of each column are known.
//!
//! Each part of a condition gets two answers: whether it may be true in some row, and whether it
//! may be false. Without bounds both answers are yes, and if all rows are null both are no. All
//! conversions that [`eval`](super::eval) makes before a comparison keep the order of values, so
//! values between the two ends stay between them.

use std::prelude::v1::*;

use core::cmp::Ordering;

use super::eval::eval;
use super::parser::{Expr, Op};
use super::vector::Vector;
use crate::Dtype;

/// The known limits of the values of a column in some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The least and the largest value, without NaN, if there are any.
    ends: Option<(Number, Number)>,
    /// Whether some values may be NaN.
    pub has_nan: bool,
    /// Whether some values may be null.
    pub has_null: bool,
}

/// A value in its form for comparisons: floats compare as floats, all others exactly.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i128),
    Float(f64),
}

/// Whether a part of a condition may be true, and may be false.
#[derive(Clone, Copy)]
struct May {
    be_true: bool,
    be_false: bool,
}

impl Bounds {
    /// Bounds from the least and the largest item; `None` unless both are numbers, not NaN, and in
    /// order.
    #[must_use]
    pub fn of_items(dtype: &Dtype, least: &[u8], largest: &[u8]) -> Option<Self> {
        let end = |item: &[u8]| match *numbers(&Vector::of_items(dtype, item)?)? {
            [number] => Some(number),
            _ => None,
        };
        let ends = (end(least)?, end(largest)?);
        (ends.0 <= ends.1).then_some(Self { ends: Some(ends), ..Self::default() })
    }

    /// Whether the bounds hold for the values of rows; a row is null if `valid` is false for it.
    #[must_use]
    pub fn hold(&self, values: &Vector<'_>, valid: Option<&[bool]>) -> bool {
        let Some(numbers) = numbers(values) else { return false };
        let is_inside = |number: &Number| match (number.is_nan(), &self.ends) {
            (true, _) => self.has_nan,
            (false, Some((least, largest))) => least <= number && number <= largest,
            (false, None) => false,
        };
        let is_null = |row: usize| valid.is_some_and(|valid| valid.get(row) == Some(&false));
        let mut rows = numbers.iter().enumerate();
        rows.all(|(row, number)| if is_null(row) { self.has_null } else { is_inside(number) })
    }

    /// Bounds of a constant in a condition.
    fn of_constant(expr: &Expr) -> Option<Self> {
        let value = eval(expr, &[]).ok()?;
        let number = *numbers(&value)?.first()?;
        let ends = Some((number, number)).filter(|_| !number.is_nan());
        Some(Self { ends, has_nan: number.is_nan(), has_null: false })
    }
}

impl Number {
    const fn is_nan(self) -> bool {
        matches!(self, Self::Float(value) if value.is_nan())
    }

    #[expect(clippy::cast_precision_loss, reason = "what evaluating does as well")]
    const fn to_float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.partial_cmp(b),
            (a, b) => a.to_float().partial_cmp(&b.to_float()),
        }
    }
}

impl May {
    const ANYTHING: Self = Self { be_true: true, be_false: true };

    const fn turned(self) -> Self {
        Self { be_true: self.be_false, be_false: self.be_true }
    }
}

/// The values of a numeric column.
fn numbers(vector: &Vector<'_>) -> Option<Vec<Number>> {
    let int = |value: i128| Number::Int(value);
    Some(match vector {
        Vector::Bool(values) => values.iter().map(|value| int((*value).into())).collect(),
        Vector::Int(values) => values.iter().map(|value| int((*value).into())).collect(),
        Vector::Uint(values) => values.iter().map(|value| int((*value).into())).collect(),
        Vector::Float(values) => values.iter().map(|value| Number::Float(*value)).collect(),
        Vector::Bytes(_) | Vector::Text(_) => return None,
    })
}

/// Whether a condition may be true in some rows, given the bounds of the columns.
pub(super) fn may_be_true(expr: &Expr, columns: &[Option<Bounds>]) -> bool {
    may(expr, columns).be_true
}

fn may(expr: &Expr, columns: &[Option<Bounds>]) -> May {
    match expr {
        Expr::Bool(value) => May { be_true: *value, be_false: !*value },
        Expr::Column(_) => operand(expr, columns).map_or(May::ANYTHING, truth),
        Expr::Not { inner, .. } => may(inner, columns).turned(),
        Expr::IsNull { inner, .. } => match operand(inner, columns) {
            Some(of) => May { be_true: of.has_null || of.has_nan, be_false: of.ends.is_some() },
            None => May::ANYTHING,
        },
        Expr::Binary { op, sides, .. } => binary(*op, &sides.0, &sides.1, columns),
        _ => May::ANYTHING,
    }
}

fn binary(op: Op, left: &Expr, right: &Expr, columns: &[Option<Bounds>]) -> May {
    if matches!(op, Op::And | Op::Or) {
        let (left, right) = (may(left, columns), may(right, columns));
        let (all_true, all_false) =
            (left.be_true && right.be_true, left.be_false && right.be_false);
        return match op {
            Op::And => May { be_true: all_true, be_false: left.be_false || right.be_false },
            _ => May { be_true: left.be_true || right.be_true, be_false: all_false },
        };
    }
    match (operand(left, columns), operand(right, columns)) {
        (Some(left), Some(right)) => compared(op, &left, &right),
        _ => May::ANYTHING,
    }
}

/// The bounds of one side of a comparison, if it is a column or a constant.
fn operand(expr: &Expr, columns: &[Option<Bounds>]) -> Option<Bounds> {
    match expr {
        Expr::Column(place) => columns.get(*place).copied().flatten(),
        other if other.is_constant() => Bounds::of_constant(other),
        _ => None,
    }
}

/// Bounds of truth values, which are 0 and 1.
fn truth(of: Bounds) -> May {
    match of.ends {
        Some((least, largest)) => {
            May { be_true: largest > Number::Int(0), be_false: least <= Number::Int(0) }
        }
        None => May { be_true: false, be_false: false },
    }
}

fn compared(op: Op, left: &Bounds, right: &Bounds) -> May {
    let ends = left.ends.zip(right.ends);
    let less = |(a, b): ((Number, Number), (Number, Number))| May {
        be_true: a.0 < b.1,
        be_false: a.1 >= b.0,
    };
    let equal = |(a, b): ((Number, Number), (Number, Number))| May {
        be_true: a.0 <= b.1 && b.0 <= a.1,
        be_false: !(a.0 == b.1 && b.0 == a.1),
    };
    let swapped = ends.map(|(a, b)| (b, a));
    let of_ends = match op {
        Op::Lt => ends.map(less),
        Op::Ge => ends.map(less).map(May::turned),
        Op::Gt => swapped.map(less),
        Op::Le => swapped.map(less).map(May::turned),
        Op::Eq => ends.map(equal),
        Op::Ne => ends.map(equal).map(May::turned),
        _ => return May::ANYTHING,
    };
    let May { be_true, be_false } = of_ends.unwrap_or(May { be_true: false, be_false: false });
    // A NaN differs from every value, and is neither smaller nor larger. Nulls are no values.
    let has_values = |side: &Bounds| side.ends.is_some() || side.has_nan;
    let has_nan = left.has_nan && has_values(right) || right.has_nan && has_values(left);
    let is_unlike = op == Op::Ne;
    May { be_true: be_true || has_nan && is_unlike, be_false: be_false || has_nan && !is_unlike }
}
