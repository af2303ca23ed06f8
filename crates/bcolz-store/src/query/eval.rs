//! Evaluating an expression over a block.
//!
//! Integers have 64 bits and wrap around, `/` gives floats, `//` and `%` round down as in Python, and dividing integers by
//! zero gives 0 as in NumPy. Signed and unsigned integers are compared exactly and otherwise combined as floats.

use super::expr::{Expr, ExprError, Op};
use super::vector::Vector;

type Result<T> = core::result::Result<T, ExprError>;

/// The values of an expression; `columns` has those of each column that it names.
pub(super) fn eval(expr: &Expr, columns: &[Vector]) -> Result<Vector> {
    Ok(match expr {
        Expr::Column(place) => columns[*place].clone(),
        Expr::Bool(value) => Vector::Bool(vec![*value]),
        Expr::Int(value) => Vector::Int(vec![*value]),
        Expr::Uint(value) => Vector::Uint(vec![*value]),
        Expr::Float(value) => Vector::Float(vec![*value]),
        Expr::Text(text) => Vector::Text(vec![text.clone()]),
        Expr::Not { at, inner } => match eval(inner, columns)? {
            Vector::Bool(values) => Vector::Bool(map(&values, |value| !value)),
            Vector::Int(values) => Vector::Int(map(&values, |value| !value)),
            Vector::Uint(values) => Vector::Uint(map(&values, |value| !value)),
            other => return Err(types(*at, &other, &other)),
        },
        Expr::Negative { at, inner } => match eval(inner, columns)?.without_truth() {
            Vector::Int(values) => Vector::Int(map(&values, i64::wrapping_neg)),
            Vector::Uint(values) => Vector::Uint(map(&values, u64::wrapping_neg)),
            Vector::Float(values) => Vector::Float(map(&values, |value| -value)),
            other => return Err(types(*at, &other, &other)),
        },
        Expr::Binary { at, op, sides } => {
            let (left, right) = (eval(&sides.0, columns)?, eval(&sides.1, columns)?);
            let right = adapted(&sides.1, right, &left);
            let left = adapted(&sides.0, left, &right);
            binary(*op, &left, &right).ok_or_else(|| types(*at, &left, &right))?
        }
    })
}

fn types(at: usize, left: &Vector, right: &Vector) -> ExprError {
    ExprError::Types { at, left: left.type_name(), right: right.type_name() }
}

fn binary(op: Op, left: &Vector, right: &Vector) -> Option<Vector> {
    match op {
        Op::Or | Op::And | Op::Xor => bitwise(op, left, right),
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => compare(op, left, right).map(Vector::Bool),
        _ => arithmetic(op, left, right),
    }
}

fn bitwise(op: Op, left: &Vector, right: &Vector) -> Option<Vector> {
    if let (Vector::Bool(a), Vector::Bool(b)) = (left, right) {
        return Some(Vector::Bool(match op {
            Op::Or => zip(a, b, |a, b| a | b),
            Op::And => zip(a, b, |a, b| a & b),
            _ => zip(a, b, |a, b| a ^ b),
        }));
    }
    match common(left, right) {
        (Vector::Int(a), Vector::Int(b)) => Some(Vector::Int(match op {
            Op::Or => zip(&a, &b, |a, b| a | b),
            Op::And => zip(&a, &b, |a, b| a & b),
            _ => zip(&a, &b, |a, b| a ^ b),
        })),
        (Vector::Uint(a), Vector::Uint(b)) => Some(Vector::Uint(match op {
            Op::Or => zip(&a, &b, |a, b| a | b),
            Op::And => zip(&a, &b, |a, b| a & b),
            _ => zip(&a, &b, |a, b| a ^ b),
        })),
        _ => None,
    }
}

fn compare(op: Op, left: &Vector, right: &Vector) -> Option<Vec<bool>> {
    Some(match (left, right) {
        (Vector::Int(a), Vector::Int(b)) => compare_all(op, a, b),
        (Vector::Uint(a), Vector::Uint(b)) => compare_all(op, a, b),
        (Vector::Float(a), Vector::Float(b)) => compare_all(op, a, b),
        (Vector::Bool(a), Vector::Bool(b)) => compare_all(op, a, b),
        (Vector::Bytes(a), Vector::Bytes(b)) => compare_all(op, a, b),
        (Vector::Text(a), Vector::Text(b)) => compare_all(op, a, b),
        (Vector::Bytes(a), Vector::Text(b)) => compare_all(op, a, &to_bytes(b)),
        (Vector::Text(a), Vector::Bytes(b)) => compare_all(op, &to_bytes(a), b),
        _ => match (wide(left), wide(right)) {
            (Some(a), Some(b)) => compare_all(op, &a, &b),
            _ => compare_all(op, &left.to_floats()?, &right.to_floats()?),
        },
    })
}

fn to_bytes(texts: &[String]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Integers of either sign.
fn wide(vector: &Vector) -> Option<Vec<i128>> {
    Some(match vector {
        Vector::Bool(values) => values.iter().map(|value| i128::from(*value)).collect(),
        Vector::Int(values) => values.iter().map(|value| i128::from(*value)).collect(),
        Vector::Uint(values) => values.iter().map(|value| i128::from(*value)).collect(),
        _ => return None,
    })
}

fn compare_all<T: PartialOrd + Clone>(op: Op, left: &[T], right: &[T]) -> Vec<bool> {
    match op {
        Op::Lt => zip_ref(left, right, |a, b| a < b),
        Op::Le => zip_ref(left, right, |a, b| a <= b),
        Op::Gt => zip_ref(left, right, |a, b| a > b),
        Op::Ge => zip_ref(left, right, |a, b| a >= b),
        Op::Ne => zip_ref(left, right, |a, b| a != b),
        _ => zip_ref(left, right, |a, b| a == b),
    }
}

fn arithmetic(op: Op, left: &Vector, right: &Vector) -> Option<Vector> {
    let is_negative_power = op == Op::Pow && matches!(right, Vector::Int(b) if b.iter().any(|b| *b < 0));
    if op != Op::Div && !is_negative_power {
        match common(left, right) {
            (Vector::Int(a), Vector::Int(b)) => return Some(Vector::Int(signed(op, &a, &b))),
            (Vector::Uint(a), Vector::Uint(b)) => return Some(Vector::Uint(unsigned(op, &a, &b))),
            _ => {}
        }
    }
    let (a, b) = (left.to_floats()?, right.to_floats()?);
    Some(Vector::Float(match op {
        Op::Add => zip(&a, &b, |a, b| a + b),
        Op::Sub => zip(&a, &b, |a, b| a - b),
        Op::Mul => zip(&a, &b, |a, b| a * b),
        Op::Div => zip(&a, &b, |a, b| a / b),
        Op::FloorDiv => zip(&a, &b, |a, b| (a / b).floor()),
        Op::Mod => zip(&a, &b, |a, b| a - b * (a / b).floor()),
        _ => zip(&a, &b, f64::powf),
    }))
}

fn signed(op: Op, left: &[i64], right: &[i64]) -> Vec<i64> {
    match op {
        Op::Add => zip(left, right, i64::wrapping_add),
        Op::Sub => zip(left, right, i64::wrapping_sub),
        Op::Mul => zip(left, right, i64::wrapping_mul),
        Op::FloorDiv => zip(left, right, |a, b| if b == 0 { 0 } else { floor_div(a, b) }),
        Op::Mod => {
            zip(left, right, |a, b| if b == 0 { 0 } else { a.wrapping_sub(floor_div(a, b).wrapping_mul(b)) })
        }
        _ => zip(left, right, |a, b| a.wrapping_pow(u32::try_from(b).unwrap_or(u32::MAX))),
    }
}

fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    let is_exact = quotient.wrapping_mul(b) == a;
    if !is_exact && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn unsigned(op: Op, left: &[u64], right: &[u64]) -> Vec<u64> {
    match op {
        Op::Add => zip(left, right, u64::wrapping_add),
        Op::Sub => zip(left, right, u64::wrapping_sub),
        Op::Mul => zip(left, right, u64::wrapping_mul),
        Op::FloorDiv => zip(left, right, |a, b| a.checked_div(b).unwrap_or(0)),
        Op::Mod => zip(left, right, |a, b| a.checked_rem(b).unwrap_or(0)),
        _ => zip(left, right, |a, b| a.wrapping_pow(u32::try_from(b).unwrap_or(u32::MAX))),
    }
}

/// Truth values as integers on both sides.
fn common(left: &Vector, right: &Vector) -> (Vector, Vector) {
    (left.clone().without_truth(), right.clone().without_truth())
}

/// A whole constant takes over the sign of what it is combined with.
fn adapted(expr: &Expr, value: Vector, other: &Vector) -> Vector {
    match (expr, other) {
        (Expr::Int(constant), Vector::Uint(_)) => {
            u64::try_from(*constant).map_or(value, |constant| Vector::Uint(vec![constant]))
        }
        _ => value,
    }
}

fn map<T: Copy>(values: &[T], each: impl Fn(T) -> T) -> Vec<T> {
    values.iter().map(|value| each(*value)).collect()
}

fn zip<T: Copy, U>(left: &[T], right: &[T], each: impl Fn(T, T) -> U) -> Vec<U> {
    zip_ref(left, right, |a, b| each(*a, *b))
}

/// Pairs; a single value on one side goes with every one on the other.
fn zip_ref<T, U>(left: &[T], right: &[T], each: impl Fn(&T, &T) -> U) -> Vec<U> {
    match (left, right) {
        (left, [right]) => left.iter().map(|left| each(left, right)).collect(),
        ([left], right) => right.iter().map(|right| each(left, right)).collect(),
        _ => left.iter().zip(right).map(|(left, right)| each(left, right)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::expr::parse;
    use super::*;

    fn columns() -> Vec<Vector> {
        vec![
            Vector::Int(vec![-7, 0, 7]),
            Vector::Uint(vec![1, 2, u64::MAX]),
            Vector::Float(vec![-0.5, 2.0, f64::NAN]),
            Vector::Bool(vec![true, false, true]),
            Vector::Bytes(vec![b"x".to_vec(), b"".to_vec(), b"yy".to_vec()]),
            Vector::Text(vec!["x".into(), "é".into(), "yy".into()]),
        ]
    }

    fn value(text: &str) -> Result<Vector> {
        let names = ["i", "u", "f", "t", "s", "w"];
        eval(&parse(text, &mut |name| names.iter().position(|known| *known == name))?, &columns())
    }

    #[test]
    fn numbers_are_those_of_python() {
        for (text, expected) in [
            ("i // 2", Vector::Int(vec![-4, 0, 3])),
            ("i % 4", Vector::Int(vec![1, 0, 3])),
            ("i // 0", Vector::Int(vec![0; 3])),
            ("i ** 2 + t", Vector::Int(vec![50, 0, 50])),
            ("i / 2", Vector::Float(vec![-3.5, 0.0, 3.5])),
            ("2 ** -1", Vector::Float(vec![0.5])),
            ("u + 1", Vector::Uint(vec![2, 3, 0])),
            ("-i", Vector::Int(vec![7, 0, -7])),
            ("~i & 3", Vector::Int(vec![2, 3, 0])),
            ("i + 0.5", Vector::Float(vec![-6.5, 0.5, 7.5])),
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
            ("~f", "at byte 0: floats and floats cannot be combined so"),
        ] {
            assert_eq!(value(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
