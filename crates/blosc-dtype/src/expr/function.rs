//! The functions of expressions: numexpr's functions for plain numbers, truth values and strings.
//!
//! Integers become floats, except in `abs`, `round` and `sign`. `round` takes halves to even
//! numbers; `maximum` and `minimum` give NaN if either value is NaN.
#![cfg_attr(
    not(test),
    expect(clippy::indexing_slicing, reason = "rows and bytes that were compared with the layout")
)]

use std::prelude::v1::*;

use alloc::borrow::Cow;

use super::error::ExprError;
use super::eval::{broadcast, map, zip};
use super::vector::Vector;

/// A function that expressions can call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    work: Work,
}

/// The operation of a function on its values.
#[derive(Clone, Copy, Debug)]
enum Work {
    Float(fn(f64) -> f64),
    /// Integers stay integers.
    Number(fn(f64) -> f64, fn(i64) -> i64, fn(u64) -> u64),
    Test(fn(f64) -> bool),
    Floats(fn(f64, f64) -> f64),
    Where,
    Text(fn(&[u8], &[u8]) -> bool),
}

/// Functions with equal names are equal.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The function of a name.
pub(super) fn named(name: &str) -> Option<Function> {
    FUNCTIONS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(name, work)| Function { name, work: *work })
}

impl Function {
    /// The number of values it takes.
    pub(super) const fn arity(&self) -> usize {
        match self.work {
            Work::Float(_) | Work::Number(..) | Work::Test(_) => 1,
            Work::Floats(_) | Work::Text(_) => 2,
            Work::Where => 3,
        }
    }

    /// The result for the right number of values.
    pub(super) fn apply(
        &self,
        at: usize,
        values: &[Cow<'_, Vector<'_>>],
    ) -> Result<Vector<'static>, ExprError> {
        let refused = |value: &Vector<'_>| {
            Err(ExprError::Argument { at, function: self.name, found: value.type_name() })
        };
        match (values, self.work) {
            ([value], work) => map_values(work, value).map_or_else(|| refused(value), Ok),
            ([a, b], work) => {
                two(work, a, b).map_or_else(|| refused(if is_bad(work, a) { a } else { b }), Ok)
            }
            ([condition, a, b], _) => match &**condition {
                Vector::Bool(condition) => choose(condition, a, b)
                    .map_or_else(|| refused(if is_bad(self.work, a) { a } else { b }), Ok),
                other => refused(other),
            },
            _ => Err(ExprError::Arguments {
                at,
                function: self.name,
                needed: self.arity(),
                found: values.len(),
            }),
        }
    }
}

/// Whether a function refuses values of this type.
fn is_bad(work: Work, value: &Vector<'_>) -> bool {
    let is_text = matches!(value, Vector::Bytes(_) | Vector::Text(_));
    matches!(work, Work::Text(_)) != is_text
}

fn map_values(work: Work, value: &Vector<'_>) -> Option<Vector<'static>> {
    Some(match (work, value) {
        (Work::Number(_, each, _), Vector::Int(values)) => Vector::Int(map(values, each).into()),
        (Work::Number(_, _, each), Vector::Uint(values)) => Vector::Uint(map(values, each).into()),
        (Work::Number(each, ..) | Work::Float(each), _) => {
            Vector::Float(map(&value.to_floats()?, each).into())
        }
        (Work::Test(each), _) => Vector::Bool(map(&value.to_floats()?, each)),
        _ => return None,
    })
}

fn two(work: Work, a: &Vector<'_>, b: &Vector<'_>) -> Option<Vector<'static>> {
    Some(match work {
        Work::Floats(each) => Vector::Float(zip(&a.to_floats()?, &b.to_floats()?, each).into()),
        Work::Text(each) => Vector::Bool(zip(&a.to_bytes()?, &b.to_bytes()?, each)),
        _ => return None,
    })
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// `a` if the condition is true, `b` otherwise.
fn choose(condition: &[bool], a: &Vector<'_>, b: &Vector<'_>) -> Option<Vector<'static>> {
    fn pick<T: Copy>(condition: &[bool], a: &[T], b: &[T]) -> Vec<T> {
        let len = broadcast(&[condition.len(), a.len(), b.len()]);
        let last = |len: usize| len.saturating_sub(1);
        let each = |row: usize| {
            let side = if condition[row.min(last(condition.len()))] { a } else { b };
            side[row.min(last(side.len()))]
        };
        (0..len).map(each).collect()
    }
    if let (Vector::Bool(a), Vector::Bool(b)) = (a, b) {
        return Some(Vector::Bool(pick(condition, a, b)));
    }
    Some(match (&*a.without_truth(), &*b.without_truth()) {
        (Vector::Int(a), Vector::Int(b)) => Vector::Int(pick(condition, a, b).into()),
        (Vector::Uint(a), Vector::Uint(b)) => Vector::Uint(pick(condition, a, b).into()),
        (a, b) => Vector::Float(pick(condition, &a.to_floats()?, &b.to_floats()?).into()),
    })
}

fn sign(value: f64) -> f64 {
    // NaN stays NaN.
    if value == 0.0 || value.is_nan() { value } else { 1.0_f64.copysign(value) }
}

fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

fn nextafter(from: f64, to: f64) -> f64 {
    match from.partial_cmp(&to) {
        Some(core::cmp::Ordering::Less) => from.next_up(),
        Some(core::cmp::Ordering::Greater) => from.next_down(),
        Some(core::cmp::Ordering::Equal) => to,
        None => f64::NAN,
    }
}

const FUNCTIONS: [(&str, Work); 40] = [
    ("abs", Work::Number(f64::abs, i64::wrapping_abs, |value| value)),
    ("arccos", Work::Float(f64::acos)),
    ("arccosh", Work::Float(f64::acosh)),
    ("arcsin", Work::Float(f64::asin)),
    ("arcsinh", Work::Float(f64::asinh)),
    ("arctan", Work::Float(f64::atan)),
    ("arctan2", Work::Floats(f64::atan2)),
    ("arctanh", Work::Float(f64::atanh)),
    ("ceil", Work::Float(f64::ceil)),
    ("contains", Work::Text(contains)),
    ("copysign", Work::Floats(f64::copysign)),
    ("cos", Work::Float(f64::cos)),
    ("cosh", Work::Float(f64::cosh)),
    ("endswith", Work::Text(|text, end| text.ends_with(end))),
    ("exp", Work::Float(f64::exp)),
    ("expm1", Work::Float(f64::exp_m1)),
    ("floor", Work::Float(f64::floor)),
    ("fmod", Work::Floats(|a, b| a % b)),
    ("hypot", Work::Floats(f64::hypot)),
    ("isfinite", Work::Test(f64::is_finite)),
    ("isinf", Work::Test(f64::is_infinite)),
    ("isnan", Work::Test(f64::is_nan)),
    ("log", Work::Float(f64::ln)),
    ("log10", Work::Float(f64::log10)),
    ("log1p", Work::Float(f64::ln_1p)),
    ("log2", Work::Float(f64::log2)),
    ("maximum", Work::Floats(maximum)),
    ("minimum", Work::Floats(minimum)),
    ("nextafter", Work::Floats(nextafter)),
    ("round", Work::Number(f64::round_ties_even, |value| value, |value| value)),
    ("sign", Work::Number(sign, i64::signum, |value| u64::from(value != 0))),
    ("signbit", Work::Test(f64::is_sign_negative)),
    ("sin", Work::Float(f64::sin)),
    ("sinh", Work::Float(f64::sinh)),
    ("sqrt", Work::Float(f64::sqrt)),
    ("startswith", Work::Text(|text, start| text.starts_with(start))),
    ("tan", Work::Float(f64::tan)),
    ("tanh", Work::Float(f64::tanh)),
    ("trunc", Work::Float(f64::trunc)),
    ("where", Work::Where),
];
