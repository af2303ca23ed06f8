//! Rows that were found, summed up.

use super::vector::Vector;
use super::{ExprError, Scan};
use crate::error::Result;

/// What the values of some rows come to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Aggregate {
    /// How many there are.
    pub count: u64,
    /// Their sum, exact for integers; of truth values, how many are true.
    pub sum: Number,
    /// The smallest; none if there are no rows. NaN if any is, as in NumPy.
    pub min: Option<Number>,
    /// The largest.
    pub max: Option<Number>,
}

/// A number of either kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// As a float.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a float is asked for")]
    pub const fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.saturating_add(b)),
            _ => Self::Float(self.to_f64() + other.to_f64()),
        }
    }

    /// The one of the two that `is_less` puts first; NaN before all.
    fn first(self, other: Self, is_less: bool) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(if is_less { a.min(b) } else { a.max(b) }),
            _ if self.to_f64().is_nan() => self,
            _ if other.to_f64().is_nan() || (other.to_f64() < self.to_f64()) == is_less => other,
            _ => self,
        }
    }
}

impl Aggregate {
    const NONE: Self = Self { count: 0, sum: Number::Int(0), min: None, max: None };

    /// The mean; none if there are no rows.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no table has 2^53 rows")]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.to_f64() / self.count as f64)
    }

    fn of(numbers: impl Iterator<Item = Number>) -> Self {
        numbers.fold(Self::NONE, |all, number| {
            all.and(Self { count: 1, sum: number, min: Some(number), max: Some(number) })
        })
    }

    fn and(self, other: Self) -> Self {
        if self.count == 0 {
            return other;
        }
        let either = |a: Option<Number>, b: Option<Number>, is_less| match (a, b) {
            (Some(a), Some(b)) => Some(a.first(b, is_less)),
            (a, b) => a.or(b),
        };
        Self {
            count: self.count + other.count,
            sum: if other.count == 0 { self.sum } else { self.sum.plus(other.sum) },
            min: either(self.min, other.min, true),
            max: either(self.max, other.max, false),
        }
    }
}

impl Scan<'_> {
    /// How many rows meet the condition; `skip`, `limit` and columns do not matter.
    ///
    /// # Errors
    ///
    /// What can be wrong with the chunks.
    pub fn count(&self) -> Result<u64> {
        let (mut at, mut count) = (self.rows.start, 0);
        if self.filter.is_none() {
            return Ok(self.rows.end - self.rows.start);
        }
        self.blocks(
            &mut at,
            |block| Ok(block.matches()?.len() as u64),
            |found| {
                count += found;
                true
            },
        )?;
        Ok(count)
    }

    /// What an expression comes to over the rows that meet the condition; `skip`, `limit` and columns do not matter.
    ///
    /// # Errors
    ///
    /// [`Error::Expr`](crate::Error::Expr) where the text is no expression that gives numbers; what can be wrong with
    /// the chunks.
    pub fn aggregate(&self, expr: &str) -> Result<Aggregate> {
        let (formula, result) = self.formula(expr)?;
        if !result.is_number() {
            return Err(ExprError::Result { found: result.name(), expected: "numbers" }.into());
        }
        let (mut at, mut total) = (self.rows.start, Aggregate::NONE);
        let work = |block: &mut super::block::Block<'_>| {
            let matches = block.matches()?;
            if matches.is_empty() {
                return Ok(Aggregate::NONE);
            }
            let rows = matches.into_iter();
            block.with_values(&formula, |values| {
                Ok(match values {
                    Vector::Bool(values) => Aggregate::of(rows.map(|row| Number::Int(values[row].into()))),
                    Vector::Int(values) => Aggregate::of(rows.map(|row| Number::Int(values[row].into()))),
                    Vector::Uint(values) => Aggregate::of(rows.map(|row| Number::Int(values[row].into()))),
                    Vector::Float(values) => Aggregate::of(rows.map(|row| Number::Float(values[row]))),
                    _ => Aggregate::NONE,
                })
            })
        };
        self.blocks(&mut at, work, |found| {
            total = total.and(found);
            true
        })?;
        Ok(total)
    }
}
