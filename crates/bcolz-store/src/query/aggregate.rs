//! Sums over the rows found.

use std::borrow::Cow;

use blosc_dtype::expr::Vector;

use super::block::{Block, Progress};
use super::{ExprError, Scan};
use crate::error::Result;

/// Count, sum and extent of the values of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Aggregate {
    /// The number of values.
    pub count: u64,
    /// Their sum, exact for integers; for truth values, the number of true ones.
    pub sum: Number,
    /// The smallest; `None` if there are no rows. NaN if any value is, as in NumPy.
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
    #[expect(clippy::cast_precision_loss, reason = "the caller wants a float")]
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

    /// The one of the two that `is_less` puts first; NaN comes before all numbers.
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

    /// The mean; `None` if there are no rows.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no table has 2^53 rows")]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.to_f64() / self.count as f64)
    }

    /// Count, sum and extent of truth values and whole numbers.
    fn of_ints<T: Copy + Ord + Into<i128>>(values: &[T], sum: i128) -> Self {
        let number = |value: &T| Number::Int((*value).into());
        let (min, max) = (values.iter().min().map(number), values.iter().max().map(number));
        Self { count: values.len() as u64, sum: Number::Int(sum), min, max }
    }

    fn of_floats(values: &[f64]) -> Self {
        let Some(first) = values.first() else { return Self::NONE };
        let mut lanes = [(0.0, *first, *first); LANES];
        let (whole, rest) = values.as_chunks::<LANES>();
        for eight in whole.iter().map(<[f64; LANES]>::as_slice).chain([rest]) {
            for ((sum, min, max), value) in lanes.iter_mut().zip(eight) {
                *sum += value;
                *min = if *value < *min { *value } else { *min };
                *max = if *value > *max { *value } else { *max };
            }
        }
        let sum = lanes.iter().map(|(sum, ..)| sum).sum();
        let mut all =
            Self { count: values.len() as u64, sum: Number::Float(sum), min: None, max: None };
        // Comparisons skip NaN, sums do not; but infinities can add up to NaN as well.
        let has_nan = sum.is_nan() && values.iter().any(|value| value.is_nan());
        for (_, min, max) in lanes {
            let (min, max) = if has_nan { (f64::NAN, f64::NAN) } else { (min, max) };
            let either = |known: Option<Number>, value, is_less| {
                Some(known.map_or(Number::Float(value), |known| {
                    known.first(Number::Float(value), is_less)
                }))
            };
            (all.min, all.max) = (either(all.min, min, true), either(all.max, max, false));
        }
        all
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
    /// The number of rows that meet the condition; `skip`, `limit` and columns have no effect.
    ///
    /// # Errors
    ///
    /// The errors of reading the chunks.
    pub fn count(&self) -> Result<u64> {
        if self.filter.is_none() {
            return Ok(self.rows.end - self.rows.start);
        }
        let mut count = 0;
        let work = |block: &mut Block<'_>| {
            let truth = block.truth()?.unwrap_or_default();
            Ok(truth.iter().map(|is_true| u64::from(*is_true)).sum::<u64>())
        };
        self.blocks(&mut Progress::new(self.rows.start), work, |found| {
            count += found;
            true
        })?;
        Ok(count)
    }

    /// Count, sum and extent of an expression over the rows that meet the condition; `skip`,
    /// `limit` and columns have no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Expr`](crate::Error::Expr) if the text is no expression with numbers; the errors of
    /// reading the chunks.
    pub fn aggregate(&self, expr: &str) -> Result<Aggregate> {
        let (formula, result) = self.formula(expr)?;
        if !result.is_number() {
            return Err(ExprError::Result { found: result.name(), expected: "numbers" }.into());
        }
        let mut total = Aggregate::NONE;
        let work = |block: &mut Block<'_>| {
            let truth = block.truth()?;
            let mut found = Aggregate::NONE;
            if truth.as_ref().is_none_or(|truth| truth.contains(&true)) {
                block.strips(&formula, |rows, values| {
                    found = found.and(of_some(values, truth.as_ref().map(|truth| &truth[rows])));
                    Ok(())
                })?;
            }
            Ok(found)
        };
        self.blocks(&mut Progress::new(self.rows.start), work, |found| {
            total = total.and(found);
            true
        })?;
        Ok(total)
    }
}

/// Count, sum and extent of the values where `truth` is true, or of all values.
fn of_some(values: &Vector<'_>, truth: Option<&[bool]>) -> Aggregate {
    match values {
        Vector::Bool(values) => {
            let values = picked(values, truth);
            Aggregate::of_ints(&values, values.iter().map(|value| i128::from(*value)).sum())
        }
        Vector::Int(values) => {
            let values = picked(values, truth);
            // Sums the halves apart, so that no 64-bit sum overflows and no 128-bit sum is needed.
            let (low, high) = values.iter().fold((0_i64, 0_i64), |(low, high), value| {
                (low + (value & 0xffff_ffff), high + (value >> 32))
            });
            Aggregate::of_ints(&values, (i128::from(high) << 32) + i128::from(low))
        }
        Vector::Uint(values) => {
            let values = picked(values, truth);
            Aggregate::of_ints(&values, values.iter().map(|value| i128::from(*value)).sum())
        }
        Vector::Float(values) => Aggregate::of_floats(&picked(values, truth)),
        _ => Aggregate::NONE,
    }
}

/// The values where `truth` is true.
fn picked<'a, T: Copy + Default>(values: &'a [T], truth: Option<&[bool]>) -> Cow<'a, [T]> {
    let Some(truth) = truth else { return Cow::Borrowed(values) };
    let mut picked = vec![T::default(); values.len() + 1];
    let mut count = 0;
    for (value, is_true) in values.iter().zip(truth) {
        // Written unconditionally, as a branch would be unpredictable.
        picked[count] = *value;
        count += usize::from(*is_true);
    }
    picked.truncate(count);
    Cow::Owned(picked)
}

/// Floats that are summed up side by side.
const LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn float(aggregate: Aggregate) -> [f64; 3] {
        [aggregate.sum, aggregate.min.unwrap(), aggregate.max.unwrap()].map(Number::to_f64)
    }

    #[test]
    fn floats_are_summed_in_lanes() {
        for len in 1..40_u8 {
            let values: Vec<f64> = (0..len).map(|n| f64::from(n) - 3.0).collect();
            let (sum, last) = (values.iter().sum(), f64::from(len) - 4.0);
            assert_eq!(float(Aggregate::of_floats(&values)), [sum, -3.0, last]);
        }
        let found = Aggregate::of_floats(&[1.0, f64::NAN, 2.0]);
        assert!(float(found).iter().all(|value| value.is_nan()));
        let found = Aggregate::of_floats(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]);
        assert!(found.sum.to_f64().is_nan());
        assert_eq!(float(found)[1..], [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(Aggregate::of_floats(&[]), Aggregate::NONE);
    }

    #[test]
    fn integers_are_summed_exactly() {
        let truth = [true, true, false, true];
        let found = of_some(&Vector::Int(vec![i64::MAX, i64::MAX, 5, -1].into()), Some(&truth));
        assert_eq!(found.sum, Number::Int(2 * i128::from(i64::MAX) - 1));
        assert_eq!((found.count, found.min), (3, Some(Number::Int(-1))));
        let found = of_some(&Vector::Int(vec![i64::MIN; 3].into()), None);
        assert_eq!(found.sum, Number::Int(3 * i128::from(i64::MIN)));
        let found = of_some(&Vector::Uint(vec![u64::MAX; 2].into()), None);
        assert_eq!(
            (found.sum, found.max),
            (Number::Int(2 * i128::from(u64::MAX)), Some(Number::Int(u64::MAX.into())))
        );
        let found = of_some(&Vector::Bool(vec![true, false, true]), None);
        assert_eq!((found.sum, found.min), (Number::Int(2), Some(Number::Int(0))));
    }
}
