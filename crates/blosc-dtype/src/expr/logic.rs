//! Conditions on columns with nulls: some truth values are unknown.
//!
//! A comparison with a null is unknown. `and` is false if either side is false, and `or` is true if
//! either side is true. Otherwise an unknown side makes both unknown: Kleene's logic, as in SQL and
//! python-blosc2.

use std::prelude::v1::*;

use super::error::ExprError;
use super::eval::{eval, zip};
use super::parser::{Expr, Op};
use super::vector::Vector;

type Result<T> = core::result::Result<T, ExprError>;

/// The columns of a block of rows.
#[derive(Clone, Copy)]
struct Columns<'a> {
    values: &'a [Vector<'a>],
    valid: &'a [Option<&'a [bool]>],
    nrows: usize,
}

/// For each row: whether the condition is true, and whether it is false; neither if it is unknown.
struct Known {
    is_true: Vec<bool>,
    is_false: Vec<bool>,
}

pub(super) fn is_true(
    expr: &Expr,
    values: &[Vector<'_>],
    valid: &[Option<&[bool]>],
    nrows: usize,
) -> Result<Vec<bool>> {
    let columns = Columns { values, valid, nrows };
    match known(expr, columns)? {
        Some(known) => Ok(known.is_true),
        None => {
            let found = eval(expr, values)?.type_name();
            Err(ExprError::Result { found, expected: "truth values" })
        }
    }
}

/// The truth of an expression; `None` if it has no truth values.
fn known(expr: &Expr, columns: Columns<'_>) -> Result<Option<Known>> {
    match expr {
        Expr::Not { inner, .. } => {
            let inner = known(inner, columns)?;
            Ok(inner
                .map(|Known { is_true, is_false }| Known { is_true: is_false, is_false: is_true }))
        }
        Expr::Binary { op: op @ (Op::And | Op::Or), sides, .. } => {
            let sides = (known(&sides.0, columns)?, known(&sides.1, columns)?);
            match (op, sides) {
                (Op::And, (Some(left), Some(right))) => Ok(Some(Known {
                    is_true: zip(&left.is_true, &right.is_true, |a, b| a & b),
                    is_false: zip(&left.is_false, &right.is_false, |a, b| a | b),
                })),
                (_, (Some(left), Some(right))) => Ok(Some(Known {
                    is_true: zip(&left.is_true, &right.is_true, |a, b| a | b),
                    is_false: zip(&left.is_false, &right.is_false, |a, b| a & b),
                })),
                _ => evaluated(expr, columns),
            }
        }
        Expr::IsNull { .. } => missing(expr, columns),
        _ => evaluated(expr, columns),
    }
}

/// Whether each row's value is missing, which is never unknown.
fn missing(expr: &Expr, columns: Columns<'_>) -> Result<Option<Known>> {
    let values = eval(expr, columns.values)?;
    let Vector::Bool(mut is_true) = values.repeated(columns.nrows).into_owned() else {
        return Ok(None);
    };
    is_true.truncate(columns.nrows);
    hide_nulls(expr, columns, &mut |valid| is_true = zip(&is_true, valid, |a, b| a | !b));
    let is_false = is_true.iter().map(|value| !value).collect();
    Ok(Some(Known { is_true, is_false }))
}

/// The truth of an expression that is evaluated as a whole: unknown if one of its columns is null.
fn evaluated(expr: &Expr, columns: Columns<'_>) -> Result<Option<Known>> {
    if let Some(at) = test_of_nulls(expr) {
        let expected = "`is null` alone, or beside `and`, `or`, `not`";
        return Err(ExprError::Syntax { at, expected });
    }
    let values = eval(expr, columns.values)?;
    let values = values.repeated(columns.nrows);
    let Vector::Bool(values) = &*values else { return Ok(None) };
    // A constant gives one value, even if there are no rows.
    let values = values.get(..columns.nrows).unwrap_or(values).to_vec();
    let mut is_false: Vec<bool> = values.iter().map(|value| !value).collect();
    let mut is_true = values;
    hide_nulls(expr, columns, &mut |valid| {
        is_true = zip(&is_true, valid, |a, b| a & b);
        is_false = zip(&is_false, valid, |a, b| a & b);
    });
    Ok(Some(Known { is_true, is_false }))
}

/// Calls `hide` with the marks of rows without null, for each column of an expression that has
/// some.
fn hide_nulls(expr: &Expr, columns: Columns<'_>, hide: &mut dyn FnMut(&[bool])) {
    match expr {
        Expr::Column(place) => {
            if let Some(Some(valid)) = columns.valid.get(*place) {
                hide(valid);
            }
        }
        Expr::Not { inner, .. } | Expr::Negative { inner, .. } | Expr::IsNull { inner, .. } => {
            hide_nulls(inner, columns, hide);
        }
        Expr::Binary { sides, .. } => {
            hide_nulls(&sides.0, columns, hide);
            hide_nulls(&sides.1, columns, hide);
        }
        Expr::Call { values, .. } => {
            values.iter().for_each(|value| hide_nulls(value, columns, hide));
        }
        Expr::Bool(_) | Expr::Int(_) | Expr::Uint(_) | Expr::Float(_) | Expr::Text(_) => {}
    }
}

/// Position of a test for nulls inside of an expression that is evaluated as a whole, without
/// nulls.
fn test_of_nulls(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::IsNull { at, .. } => Some(*at),
        Expr::Not { inner, .. } | Expr::Negative { inner, .. } => test_of_nulls(inner),
        Expr::Binary { sides, .. } => test_of_nulls(&sides.0).or_else(|| test_of_nulls(&sides.1)),
        Expr::Call { values, .. } => values.iter().find_map(test_of_nulls),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parser::parse;
    use super::*;

    /// `a` is 1, null, 3; `b` is null, null, 5; `t` is true, false, null; `s` has no nulls.
    fn truth(text: &str) -> Result<Vec<bool>> {
        let names = ["a", "b", "t", "s"];
        let expr = parse(text, &mut |name| names.iter().position(|known| *known == name))?;
        let columns = [
            Vector::Int(vec![1, 0, 3].into()),
            Vector::Int(vec![0, 0, 5].into()),
            Vector::Bool(vec![true, false, true]),
            Vector::Bytes(vec![b"x", b"y", b"z"]),
        ];
        let valid: [Option<&[bool]>; 4] = [
            Some(&[true, false, true]),
            Some(&[false, false, true]),
            Some(&[true, true, false]),
            None,
        ];
        is_true(&expr, &columns, &valid, 3)
    }

    #[test]
    fn what_is_unknown_is_not_true() {
        for (text, expected) in [
            ("a >= 0", [true, false, true]),
            ("a != 7", [true, false, true]),
            ("~(a > 1)", [true, false, false]),
            ("not a > 1", [true, false, false]),
            ("(a > 0) | (b > 0)", [true, false, true]),
            ("(a > 2) | (b > 0)", [false, false, true]),
            ("(a > 0) & (b > 0)", [false, false, true]),
            ("~((a > 2) & (b > 0))", [true, false, false]),
            ("t", [true, false, false]),
            ("~t", [false, true, false]),
            ("t | (s == 'z')", [true, false, true]),
            ("a + b > 0", [false, false, true]),
            ("True", [true, true, true]),
            ("(a & 1) == 1", [true, false, true]),
            ("where(t, a, b) > 0", [false, false, false]),
            ("a is null", [false, true, false]),
            ("a is not null and b is null", [true, false, false]),
            ("not is_null(a) or t", [true, false, true]),
            ("s is null", [false, false, false]),
            ("a in (1, 3)", [true, false, true]),
            ("a not in (1, 7)", [false, false, true]),
            ("a between 2 and 3", [false, false, true]),
            ("s in ('x', 'z') and startswith(s, 'z')", [false, false, true]),
        ] {
            assert_eq!(truth(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_no_condition() {
        let found = ExprError::Result { found: "integers", expected: "truth values" };
        assert_eq!(truth("a & b"), Err(found));
        assert!(matches!(truth("s + 1"), Err(ExprError::Types { .. })));
        assert!(matches!(truth("'s' > 1"), Err(ExprError::Quoted { .. })));
        assert!(matches!(truth("(a is null) == t"), Err(ExprError::Syntax { at: 3, .. })));
    }
}
