//! NumPy's dates and time spans as numbers of units, and their ISO 8601 texts: `2020-02-29`,
//! `2020-02-29T12:30`, `2020-02-29 12:30:15.5`.
//!
//! A unit is one or two letters, after a number if it is a multiple: `D`, `25s`. A text with `Z` or
//! a time zone is no date, since NumPy keeps neither; [`Moment::parse_zoned`] converts it to
//! Greenwich time.
//!
//! ```
//! use blosc_dtype::date::{Moment, date};
//!
//! assert_eq!(date(11_016, Some("D")), "2000-02-29");
//! let moment = Moment::parse("2000-02-29T12:30").ok_or("no date")?;
//! assert_eq!(moment.count("m"), Some(11_016 * 24 * 60 + 750));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(
    not(test),
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "128 bits are enough for any date of a 64-bit count; texts have few digits"
    )
)]

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use crate::calendar::{date_of_day, day_of_date, days_of_month};

/// The number that stands for no date (NaT).
const NOT_A_TIME: i64 = i64::MIN;
const NANOS_OF_DAY: i128 = 86_400_000_000_000;

/// The text of a date with the precision of its unit (`D`, `25s`), from the number of units
/// since 1970. Without such a date, the number itself.
#[must_use]
pub fn date(count: i64, unit: Option<&str>) -> String {
    if count == NOT_A_TIME {
        return "NaT".to_owned();
    }
    let written = unit.and_then(parse_unit).and_then(|(step, precision)| {
        let total = i128::from(count).checked_mul(step)?;
        match precision {
            Precision::Year => Some(format!("{:04}", 1970 + total)),
            Precision::Month => {
                Some(format!("{:04}-{:02}", 1970 + total.div_euclid(12), total.rem_euclid(12) + 1))
            }
            _ => Some(moment(total.checked_mul(precision.nanos()?)?, precision)),
        }
    });
    written.unwrap_or_else(|| count.to_string())
}

/// The text of a number of units.
#[must_use]
pub fn span(count: i64, unit: Option<&str>) -> String {
    match unit {
        _ if count == NOT_A_TIME => "NaT".to_owned(),
        Some(unit) => format!("{count} {unit}"),
        None => count.to_string(),
    }
}

/// The length of a number of units, for people: `532.13 days`, `90 s`; `7 M` if the unit varies in
/// length.
#[must_use]
pub fn length(count: f64, unit: &str) -> String {
    let seconds = parse_unit(unit).and_then(|(step, precision)| {
        #[allow(clippy::cast_precision_loss, reason = "a length for people")]
        Some(count * step as f64 * precision.nanos()? as f64 / 1e9)
    });
    let Some(seconds) = seconds else { return format!("{count} {unit}") };
    let (value, name) = match seconds.abs() {
        0.0 => (0.0, "s"),
        86_400.0.. => (seconds / 86_400.0, "days"),
        3600.0.. => (seconds / 3600.0, "hours"),
        1.0.. => (seconds, "s"),
        1e-3.. => (seconds * 1e3, "ms"),
        1e-6.. => (seconds * 1e6, "us"),
        _ => (seconds * 1e9, "ns"),
    };
    let text = format!("{value:.3}");
    match (text.trim_end_matches('0').trim_end_matches('.'), name) {
        ("1", "days") => "1 day".to_owned(),
        ("1", "hours") => "1 hour".to_owned(),
        (text, name) => format!("{text} {name}"),
    }
}

/// The smallest unit in the text of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// The year.
    Year,
    /// The month.
    Month,
    /// The day.
    Day,
    /// The hour.
    Hour,
    /// The minute.
    Minute,
    /// The second.
    Second,
    /// Thousandths of a second.
    Milli,
    /// Millionths of a second.
    Micro,
    /// Billionths of a second.
    Nano,
}

/// Precisions in their order, with NumPy's unit of the same precision and its length (nanoseconds);
/// years and months vary.
const UNITS: [(Precision, &str, Option<i128>); 9] = [
    (Precision::Year, "Y", None),
    (Precision::Month, "M", None),
    (Precision::Day, "D", Some(NANOS_OF_DAY)),
    (Precision::Hour, "h", Some(3_600_000_000_000)),
    (Precision::Minute, "m", Some(60_000_000_000)),
    (Precision::Second, "s", Some(1_000_000_000)),
    (Precision::Milli, "ms", Some(1_000_000)),
    (Precision::Micro, "us", Some(1000)),
    (Precision::Nano, "ns", Some(1)),
];

impl Precision {
    /// NumPy's unit of the same precision.
    #[must_use]
    pub fn unit(self) -> &'static str {
        UNITS[self as usize].1
    }

    /// The length of the unit; `None` for years and months, which vary.
    fn nanos(self) -> Option<i128> {
        UNITS[self as usize].2
    }
}

/// `25s` is 25 seconds, and a week seven days.
fn parse_unit(text: &str) -> Option<(i128, Precision)> {
    let (number, letters) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
    let step: i64 = if number.is_empty() { 1 } else { number.parse().ok()? };
    if letters == "W" {
        return Some((i128::from(step) * 7, Precision::Day));
    }
    let (precision, ..) = UNITS.iter().find(|(_, unit, _)| *unit == letters)?;
    Some((i128::from(step), *precision))
}

/// Nanoseconds since 1970 as text with the given precision.
fn moment(nanos: i128, precision: Precision) -> String {
    let day = day(nanos.div_euclid(NANOS_OF_DAY));
    let of_day = nanos.rem_euclid(NANOS_OF_DAY);
    let (seconds, rest) = (of_day / 1_000_000_000, of_day % 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match precision {
        Precision::Year | Precision::Month | Precision::Day => day,
        Precision::Hour => format!("{day}T{hour:02}"),
        Precision::Minute => format!("{day}T{hour:02}:{minute:02}"),
        Precision::Second => format!("{day}T{hour:02}:{minute:02}:{second:02}"),
        Precision::Milli => {
            format!("{day}T{hour:02}:{minute:02}:{second:02}.{:03}", rest / 1_000_000)
        }
        Precision::Micro => format!("{day}T{hour:02}:{minute:02}:{second:02}.{:06}", rest / 1000),
        Precision::Nano => format!("{day}T{hour:02}:{minute:02}:{second:02}.{rest:09}"),
    }
}

/// The text of a day (days since 1970-01-01).
fn day(days: i128) -> String {
    let (year, month, day) = date_of_day(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A day, and the time of that day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    year: i64,
    month: i64,
    /// The day of the month, from 1.
    day: i64,
    /// Nanoseconds of the day.
    nanos: i64,
    /// The smallest unit in the text.
    pub precision: Precision,
}

impl Moment {
    /// The moment in the text; years have four digits, or more from the year 10,000 on.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let (year, month, day, precision) = parse_date(date)?;
        let (nanos, precision) = match time {
            Some(time) if precision == Precision::Day => parse_time(time)?,
            Some(_) => return None,
            None => (0, precision),
        };
        Some(Self { year, month, day, nanos, precision })
    }

    /// As [`parse`](Self::parse), also for a text with `Z` or a time zone (`-05:00`, `+0530`): the
    /// moment in Greenwich time, and whether the text has a zone.
    #[must_use]
    pub fn parse_zoned(text: &str) -> Option<(Self, bool)> {
        let time = text.find(['T', ' ']).unwrap_or(text.len());
        let zone = text[time..].find(['Z', '+', '-']).map(|at| time + at);
        let Some(zone) = zone else { return Some((Self::parse(text)?, false)) };
        let (text, zone) = text.split_at(zone);
        let mut moment = Self::parse(text.trim_end())?;
        (moment.precision > Precision::Hour).then_some(())?;
        let seconds = if zone == "Z" { 0 } else { zone_seconds(zone)? };
        let nanos = i128::from(moment.nanos) - i128::from(seconds) * 1_000_000_000;
        let day = day_of_date(moment.year.into(), moment.month.into(), moment.day.into());
        let (year, month, day) = date_of_day(day + nanos.div_euclid(NANOS_OF_DAY));
        moment.year = year.try_into().ok()?;
        moment.month = month.try_into().ok()?;
        moment.day = day.try_into().ok()?;
        moment.nanos = nanos.rem_euclid(NANOS_OF_DAY).try_into().ok()?;
        Some((moment, true))
    }

    /// The number of units (`D`, `25s`) since 1970; `None` if there is a remainder or too many.
    #[must_use]
    pub fn count(&self, unit: &str) -> Option<i64> {
        let (step, precision) = parse_unit(unit)?;
        let (total, per_unit) = match (precision, self.nanos) {
            (Precision::Year, 0) if (self.month, self.day) == (1, 1) => {
                (i128::from(self.year - 1970), 1)
            }
            (Precision::Month, 0) if self.day == 1 => {
                (i128::from((self.year - 1970) * 12 + self.month - 1), 1)
            }
            _ => (self.nanos_since_1970(), precision.nanos()?),
        };
        let per_unit =
            per_unit.checked_mul(step).filter(|nanos| *nanos > 0 && total % nanos == 0)?;
        i64::try_from(total / per_unit).ok().filter(|count| *count != NOT_A_TIME)
    }

    /// Whether both are days, or both are times of a day.
    #[must_use]
    pub fn is_like(&self, other: Precision) -> bool {
        (self.precision > Precision::Day) == (other > Precision::Day)
    }

    /// Whether it comes before the other one.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        let when = |moment: &Self| (moment.year, moment.month, moment.day, moment.nanos);
        when(self) < when(other)
    }

    fn nanos_since_1970(&self) -> i128 {
        let day = day_of_date(self.year.into(), self.month.into(), self.day.into());
        day * NANOS_OF_DAY + i128::from(self.nanos)
    }
}

/// `2020`, `2020-02`, `2020-02-29`.
fn parse_date(text: &str) -> Option<(i64, i64, i64, Precision)> {
    let mut parts = text.split('-');
    let year = parts.next()?;
    let is_far = !year.starts_with('0') && (5..10).contains(&year.len());
    let year = digits(year, if is_far { year.len() } else { 4 })?;
    let Some(month) = parts.next() else { return Some((year, 1, 1, Precision::Year)) };
    let month = digits(month, 2).filter(|month| (1..=12).contains(month))?;
    let Some(day) = parts.next() else { return Some((year, month, 1, Precision::Month)) };
    let days = days_of_month(year.into(), month.into());
    let day = digits(day, 2).filter(|day| (1..=days).contains(&i128::from(*day)))?;
    parts.next().is_none().then_some((year, month, day, Precision::Day))
}

/// `12`, `12:30`, `12:30:15`, `12:30:15.123`: nanoseconds of the day.
fn parse_time(text: &str) -> Option<(i64, Precision)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let (mut seconds, mut count) = (0, 0);
    for (part, (limit, weight)) in clock.split(':').zip([(24, 3600), (60, 60), (60, 1)]) {
        seconds += digits(part, 2).filter(|n| *n < limit)? * weight;
        count += 1;
    }
    (clock.split(':').count() == count).then_some(())?;
    let nanos = seconds * 1_000_000_000;
    match (count, fraction) {
        (1, None) => Some((nanos, Precision::Hour)),
        (2, None) => Some((nanos, Precision::Minute)),
        (3, None) => Some((nanos, Precision::Second)),
        (3, Some(fraction)) => {
            let precision = match fraction.len() {
                1..=3 => Precision::Milli,
                4..=6 => Precision::Micro,
                7..=9 => Precision::Nano,
                _ => return None,
            };
            Some((nanos + digits(&format!("{fraction:0<9}"), 9)?, precision))
        }
        _ => None,
    }
}

/// `+05:30`, `+0530`, `-05`: seconds east of Greenwich.
fn zone_seconds(text: &str) -> Option<i64> {
    let (sign, rest) = text.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = rest.split_at_checked(2)?;
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    let hours = digits(hours, 2).filter(|hours| *hours < 24)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    (minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// The number of exactly `count` digits, without other characters.
fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|letter| letter.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str, unit: &str) -> Option<i64> {
        Moment::parse(text)?.count(unit)
    }

    #[test]
    fn dates_are_counted_and_written_as_numpy_does() {
        for (number, unit, text) in [
            (0, "D", "1970-01-01"),
            (-1, "D", "1969-12-31"),
            (11_016, "D", "2000-02-29"),
            (18_321, "D", "2020-02-29"),
            (-719_528, "D", "0000-01-01"),
            (50, "Y", "2020"),
            (-1, "M", "1969-12"),
            (1, "W", "1970-01-08"),
            (1_582_934_400, "s", "2020-02-29T00:00:00"),
            (-1, "ms", "1969-12-31T23:59:59.999"),
            (-1, "us", "1969-12-31T23:59:59.999999"),
            (1, "ns", "1970-01-01T00:00:00.000000001"),
            (25, "h", "1970-01-02T01"),
            (61, "m", "1970-01-01T01:01"),
            (369_122_861_664, "s", "13667-01-14T08:14:24"),
            (2, "25s", "1970-01-01T00:00:50"),
        ] {
            assert_eq!(count(text, unit), Some(number), "{text} {unit}");
            assert_eq!(date(number, Some(unit)), text, "{number} {unit}");
        }
    }

    #[test]
    fn date_may_be_finer_or_coarser_than_its_unit() {
        assert_eq!(count("2020-01-01", "Y"), Some(50));
        assert_eq!(count("2020-02-29 00:00:00", "s"), Some(1_582_934_400));
        assert_eq!(count("1970-01-01T00:00:00.5", "ms"), Some(500));
    }

    #[test]
    fn lengths_are_for_people() {
        for (count, unit, text) in [
            (45_976_289e9, "ns", "532.133 days"),
            (1.0, "D", "1 day"),
            (90.0, "s", "90 s"),
            (90.0, "m", "1.5 hours"),
            (0.0, "ns", "0 s"),
            (1500.0, "us", "1.5 ms"),
            (3.0, "M", "3 M"),
        ] {
            assert_eq!(length(count, unit), text);
        }
    }

    #[test]
    fn zones_lead_to_greenwich() {
        for (text, expected) in [
            ("2018-01-05T10:00:00Z", Some("2018-01-05T10:00:00")),
            ("2018-01-05 10:00:00 Z", Some("2018-01-05T10:00:00")),
            ("2018-01-05T22:30-05:00", Some("2018-01-06T03:30:00")),
            ("2018-01-01T00:30:00+0530", Some("2017-12-31T19:00:00")),
            ("2018-01-05T10:00:00.5+01", Some("2018-01-05T09:00:00")),
            ("2018-01-05", Some("2018-01-05T00:00:00")),
            ("2018-01-05Z", None),
            ("2018-01-05T10Z", None),
            ("2018-01-05T10:00:00+25:00", None),
            ("2018-01-05T10:00:00+1", None),
            ("2018-01-05T10:00:00Zulu", None),
        ] {
            let found = Moment::parse_zoned(text).map(|(moment, _)| {
                let nanos = moment.count("ns").unwrap();
                date(nanos.div_euclid(1_000_000_000), Some("s"))
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        assert_eq!(Moment::parse_zoned("2018-01-05T10:00Z").map(|it| it.1), Some(true));
        assert_eq!(Moment::parse_zoned("2018-01-05T10:00").map(|it| it.1), Some(false));
    }

    #[test]
    fn count_outside_the_calendar_is_written_as_number() {
        assert_eq!(date(7, Some("as")), "7");
        assert_eq!(date(3, None), "3");
        assert_eq!(date(i64::MAX, Some("9223372036854775807W")), i64::MAX.to_string());
        assert_eq!(date(NOT_A_TIME, Some("D")), "NaT");
    }

    #[test]
    fn spans_have_their_unit() {
        assert_eq!(span(-3, Some("ns")), "-3 ns");
        assert_eq!(span(NOT_A_TIME, Some("ns")), "NaT");
        assert_eq!(span(3, None), "3");
    }

    #[test]
    fn inexact_count_is_none() {
        for (unit, text) in [
            ("D", "1970-01-01T01"),
            ("M", "1970-01-02"),
            ("W", "1970-01-02"),
            ("25s", "1970-01-01T00:00:26"),
            ("ns", "1600-01-01"),
            ("as", "1970-01-01"),
            ("0s", "1970-01-01"),
            ("", "1970-01-01"),
        ] {
            assert_eq!(count(text, unit), None, "{text} {unit}");
        }
    }

    #[test]
    fn other_text_is_no_date() {
        for text in [
            "",
            "197",
            "1970-1-1",
            "01970-01-01",
            "-001-01-01",
            "1234567890-01-01",
            "1970-13-01",
            "1970-00-01",
            "2019-02-29",
            "1900-02-29",
            "1970-01-01-01",
            "1970-01T01",
            "1970-01-01T",
            "1970-01-01T24:00",
            "1970-01-01T00:60",
            "1970-01-01T00:00:60",
            "1970-01-01T00:00:00.",
            "1970-01-01T00:00.5",
            "1970-01-01T00:00:00.0123456789",
            "1970-01-01T00:00:00:00",
            "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00+01",
            "+970-01-01",
            " 1970-01-01",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
