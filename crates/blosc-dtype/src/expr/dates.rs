//! Times in comparisons: a column of `datetime64` with a text such as `2012-01-31T12:00`, and a
//! column of `timedelta64` with a text such as `90s`.
//!
//! A column counts units, dates from 1970. The text becomes a number of the same unit. If it lies
//! between two numbers, the operator is adapted so that the comparison stays exact. NaT, the
//! smallest integer, is neither smaller than, larger than nor equal to any value, as in NumPy.
//!
//! A plain number compared with a time is refused: `2016-01-01` without quotation marks is 2014.
//! The zero of durations needs no unit. A column without a unit counts no time: its items are
//! numbers.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "seconds of years with four digits in 128 bits"
    )
)]

use std::prelude::v1::*;

use crate::{Dtype, Kind};

use super::error::ExprError;
use super::parser::{Expr, Op};
use crate::calendar::{day_of_date, days_of_month};

type Result<T> = core::result::Result<T, ExprError>;

/// Rewrites comparisons of dates as comparisons of numbers; `dtype` gives the type of a column.
pub(super) fn bind<'a>(expr: Expr, dtype: &dyn Fn(usize) -> Option<&'a Dtype>) -> Result<Expr> {
    // The operand of an operator or a call, which must not be a time.
    let plain = |at: usize, value: Expr| match time(&value, dtype) {
        Some(time) => Err(time.refused(at)),
        None => bind(value, dtype),
    };
    Ok(match expr {
        Expr::Not { at, inner } => Expr::Not { at, inner: plain(at, *inner)?.into() },
        Expr::Negative { at, inner } => Expr::Negative { at, inner: plain(at, *inner)?.into() },
        Expr::IsNull { at, inner } if time(&inner, dtype).is_some() => {
            let is_nat = Expr::Not { at, inner: is_date(at, &inner).into() };
            binary(at, Op::Or, Expr::IsNull { at, inner }, is_nat)
        }
        Expr::IsNull { at, inner } => Expr::IsNull { at, inner: bind(*inner, dtype)?.into() },
        Expr::Call { at, function, values } => {
            let values = values.into_iter().map(|value| plain(at, value)).collect::<Result<_>>()?;
            Expr::Call { at, function, values }
        }
        Expr::Binary { at, op, sides } => {
            let (left, right) = *sides;
            match (op.turned(), time(&left, dtype), time(&right, dtype)) {
                (Some(_), Some(a), Some(b)) => both(at, op, (left, a), (right, b))?,
                (Some(_), Some(a), None) => against(at, op, left, a, &right)?,
                (Some(op), None, Some(b)) => against(at, op, right, b, &left)?,
                _ => binary(at, op, plain(at, left)?, plain(at, right)?),
            }
        }
        leaf => leaf,
    })
}

/// A column that counts times.
#[derive(Clone, Copy)]
struct Time<'a> {
    dtype: &'a Dtype,
    unit: &'a str,
    is_date: bool,
}

/// The dtype and unit of a column of dates or durations that has a unit.
fn time<'a>(expr: &Expr, dtype: &dyn Fn(usize) -> Option<&'a Dtype>) -> Option<Time<'a>> {
    let Expr::Column(place) = expr else { return None };
    let dtype = dtype(*place)?;
    let is_date = match dtype.kind()? {
        Kind::DateTime => true,
        Kind::TimeDelta => false,
        _ => return None,
    };
    Some(Time { dtype, unit: dtype.scalar()?.unit()?, is_date })
}

impl Time<'_> {
    /// The error for any other operand.
    fn refused(self, at: usize) -> ExprError {
        let (what, example) =
            if self.is_date { ("a time", "2016-01-01") } else { ("a duration", "90s") };
        ExprError::Time { at, what, example }
    }

    /// The number of column units in a text, rounded down, and whether it is exact.
    fn place(self, at: usize, text: &str) -> Result<(i64, bool)> {
        let unit = Unit::parse(self.unit).ok_or_else(|| self.refused(at))?;
        let text_error = || {
            let text = text.to_owned();
            match self.is_date {
                true => ExprError::Date { at, text },
                false => ExprError::Duration { at, text },
            }
        };
        let place = match self.is_date {
            true => Moment::parse(text).and_then(|moment| moment.place(unit)),
            false => duration(text, unit),
        };
        place.ok_or_else(text_error)
    }
}

/// Compares times with times.
fn both(at: usize, op: Op, left: (Expr, Time<'_>), right: (Expr, Time<'_>)) -> Result<Expr> {
    let ((left, a), (right, b)) = (left, right);
    if a.is_date != b.is_date {
        let name = |time: Time<'_>| if time.is_date { "times" } else { "durations" };
        return Err(ExprError::Types { at, left: name(a), right: name(b) });
    }
    if a.unit != b.unit {
        let (left, right) = (a.dtype.to_string(), b.dtype.to_string());
        return Err(ExprError::Units { at, left, right });
    }
    let are_dates = binary(at, Op::And, is_date(at, &left), is_date(at, &right));
    let compared = binary(at, op, left, right);
    Ok(if op == Op::Ne {
        or_not(at, compared, are_dates)
    } else {
        binary(at, Op::And, compared, are_dates)
    })
}

/// Compares times with a text.
fn against(at: usize, op: Op, column: Expr, time: Time<'_>, other: &Expr) -> Result<Expr> {
    let is_ne = op == Op::Ne;
    let nowhere = |column: &Expr| {
        let op = if is_ne { Op::Or } else { Op::And };
        binary(at, op, is_date(at, column), Expr::Bool(is_ne))
    };
    let (count, is_exact) = match other {
        Expr::Text(text) if text == "NaT" => return Ok(nowhere(&column)),
        Expr::Text(text) => time.place(at, text)?,
        Expr::Int(0) if !time.is_date => (0, true),
        _ => return Err(time.refused(at)),
    };
    // The value lies between two numbers or out of range: values below it are at most the
    // rounded-down number.
    let op = match op {
        Op::Lt if !is_exact => Op::Le,
        Op::Ge if !is_exact => Op::Gt,
        Op::Eq | Op::Ne if !is_exact => return Ok(nowhere(&column)),
        op => op,
    };
    let is_date = is_date(at, &column);
    let compared = binary(at, op, column, Expr::Int(count));
    // NaT differs from every date, and its number does too.
    Ok(if is_ne { compared } else { binary(at, Op::And, compared, is_date) })
}

/// The number of units in a duration such as `90s` or `-5m`, rounded down, and whether it is exact;
/// `None` for months in a unit of seconds, or the reverse.
fn duration(text: &str, unit: Unit) -> Option<(i64, bool)> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let said = text.starts_with(|c: char| c.is_ascii_digit()).then(|| Unit::parse_any(text))??;
    if said.is_calendar != unit.is_calendar {
        return None;
    }
    let whole = said.len.checked_mul(said.count)?.checked_mul(sign)?;
    unit.count_of(whole, true)
}

/// Whether the value is not NaT.
fn is_date(at: usize, column: &Expr) -> Expr {
    binary(at, Op::Ne, column.clone(), Expr::Int(i64::MIN))
}

fn or_not(at: usize, value: Expr, condition: Expr) -> Expr {
    binary(at, Op::Or, value, Expr::Not { at, inner: condition.into() })
}

fn binary(at: usize, op: Op, left: Expr, right: Expr) -> Expr {
    Expr::Binary { at, op, sides: (left, right).into() }
}

/// The unit of a column, with its multiple.
#[derive(Clone, Copy, Debug)]
struct Unit {
    count: i128,
    /// Whether it counts months, not attoseconds.
    is_calendar: bool,
    len: i128,
}

impl Unit {
    /// Parses NumPy's name, such as `ns` or `25s`.
    fn parse(text: &str) -> Option<Self> {
        Self::parse_any(text).filter(|unit| unit.count > 0)
    }

    /// As [`parse`](Self::parse), also with a multiple of 0.
    fn parse_any(text: &str) -> Option<Self> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, name) = text.split_at(digits);
        let count = if count.is_empty() { 1 } else { count.parse().ok()? };
        let (_, is_calendar, len) = UNITS.iter().find(|(known, ..)| *known == name)?;
        Some(Self { count, is_calendar: *is_calendar, len: *len })
    }

    /// The number of units in `whole` months or attoseconds, rounded down, and whether it is exact,
    /// provided that they are. Outside of a column's range, the result is the last or first number,
    /// and not exact.
    fn count_of(self, whole: i128, is_exact: bool) -> Option<(i64, bool)> {
        let len = self.len.checked_mul(self.count)?;
        let (count, is_exact) = (whole.div_euclid(len), is_exact && whole.rem_euclid(len) == 0);
        Some(match i64::try_from(count) {
            Ok(count) => (count, is_exact),
            Err(_) if count < 0 => (i64::MIN, false),
            Err(_) => (i64::MAX, false),
        })
    }
}

const SECOND_ATTOSECONDS: i128 = 1_000_000_000_000_000_000;
const DAY_ATTOSECONDS: i128 = 86_400 * SECOND_ATTOSECONDS;

/// Names, whether they count months, and lengths in months or attoseconds.
const UNITS: [(&str, bool, i128); 13] = [
    ("Y", true, 12),
    ("M", true, 1),
    ("W", false, 7 * DAY_ATTOSECONDS),
    ("D", false, DAY_ATTOSECONDS),
    ("h", false, 3600 * SECOND_ATTOSECONDS),
    ("m", false, 60 * SECOND_ATTOSECONDS),
    ("s", false, SECOND_ATTOSECONDS),
    ("ms", false, SECOND_ATTOSECONDS / 1_000),
    ("us", false, SECOND_ATTOSECONDS / 1_000_000),
    ("ns", false, SECOND_ATTOSECONDS / 1_000_000_000),
    ("ps", false, 1_000_000),
    ("fs", false, 1_000),
    ("as", false, 1),
];

/// A date, and the time on that day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    year: i128,
    month: i128,
    day: i128,
    /// The time on that day (attoseconds).
    time: i128,
}

impl Moment {
    /// Parses `2012`, `2012-01`, `2012-01-31`, and a time after `T` or a blank: `23`, `23:59`,
    /// `23:59:59`, `23:59:59.5`.
    fn parse(text: &str) -> Option<Self> {
        let (date, time) =
            text.split_once(['T', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
        let mut parts = date.splitn(3, '-');
        let year = number(parts.next()?, 4)?;
        let month = parts.next().map_or(Some(1), |part| number(part, 2))?;
        let day = parts.next();
        if time.is_some() && day.is_none() {
            return None;
        }
        let day = day.map_or(Some(1), |part| number(part, 2))?;
        let is_day = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
        let time = time.map_or(Some(0), attoseconds)?;
        is_day.then_some(Self { year, month, day, time })
    }

    /// The number of units from 1970, rounded down, and whether it is exact.
    fn place(self, unit: Unit) -> Option<(i64, bool)> {
        let (whole, is_start) = if unit.is_calendar {
            ((self.year - 1970) * 12 + self.month - 1, self.day == 1 && self.time == 0)
        } else {
            (day_of_date(self.year, self.month, self.day) * DAY_ATTOSECONDS + self.time, true)
        };
        unit.count_of(whole, is_start)
    }
}

/// A number of exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<i128> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn attoseconds(text: &str) -> Option<i128> {
    let (clock, fraction) =
        text.split_once('.').map_or((text, None), |(clock, part)| (clock, Some(part)));
    let mut parts = clock.split(':');
    let mut part = |limit| match parts.next() {
        Some(text) => number(text, 2).filter(|value| *value < limit).map(|value| (value, true)),
        None => Some((0, false)),
    };
    let ((hours, _), (minutes, _), (seconds, has_seconds)) = (part(24)?, part(60)?, part(60)?);
    let fraction = match fraction {
        None => 0,
        Some(digits) if has_seconds && (1..=18).contains(&digits.len()) => {
            number(digits, digits.len())? * 10_i128.pow(18 - u32::try_from(digits.len()).ok()?)
        }
        Some(_) => return None,
    };
    let is_whole = parts.next().is_none();
    is_whole.then_some(((hours * 60 + minutes) * 60 + seconds) * SECOND_ATTOSECONDS + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, unit: &str) -> Option<(i64, bool)> {
        Moment::parse(text)?.place(Unit::parse(unit)?)
    }

    #[test]
    fn dates_are_counted_from_1970() {
        for (text, unit, expected) in [
            ("1970-01-01", "ns", (0, true)),
            ("2012-02-29", "D", (15_399, true)),
            ("2012-02-29T12:30", "D", (15_399, false)),
            ("2012-02-29 12:30:01.25", "ms", (1_330_518_601_250, true)),
            ("2012-02-29T12:30:01.25", "s", (1_330_518_601, false)),
            ("2012-02-29T12", "25s", (53_220_672, true)),
            ("1969-12-31T23:59:59", "s", (-1, true)),
            ("1969-12-31", "Y", (-1, false)),
            ("1969", "M", (-12, true)),
            ("2000-03", "M", (362, true)),
            ("1970-01-08", "W", (1, true)),
            ("1900-03-01", "D", (-25_508, true)),
            ("9999", "ns", (i64::MAX, false)),
            ("0001", "as", (i64::MIN, false)),
            ("1970-01-01T00:00:00.000000000000000001", "as", (1, true)),
        ] {
            assert_eq!(place(text, unit), Some(expected), "{text} {unit}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "12",
            "2012-1-1",
            "2012-13",
            "2011-02-29",
            "2012-01-00",
            "2012-01T12",
            "2012-01-01T24",
            "2012-01-01T",
            "2012-01-01T12:60",
            "2012-01-01T12:00.5",
            "2012-01-01T12:00:00.",
            "2012-01-01T12:00:00:00",
            "+012-01-01",
            "2012-01-01-01",
            "2012-01-01Z",
            "é012",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
