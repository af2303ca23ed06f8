//! Dates as ISO 8601 writes them, to what NumPy counts: `2020-02-29`, `2020-02-29T12:30`, `2020-02-29 12:30:15.5`.
//!
//! A date that says `Z`, or how far it is from Greenwich, is none: NumPy keeps neither.

/// A day, and what has passed of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    year: i64,
    month: i64,
    /// Of the month, from 1.
    day: i64,
    /// Of the day.
    nanos: i64,
    pub(super) precision: Precision,
}

/// The last thing that a date says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
}

impl Precision {
    /// The unit of NumPy that says as much.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Year => "Y",
            Self::Month => "M",
            Self::Day => "D",
            Self::Hour => "h",
            Self::Minute => "m",
            Self::Second => "s",
            Self::Milli => "ms",
            Self::Micro => "us",
            Self::Nano => "ns",
        }
    }
}

impl Moment {
    /// What the text says; years have four digits, or more from the year 10,000 on.
    pub(super) fn parse(text: &str) -> Option<Self> {
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

    /// So many units (`D`, `25s`) since 1970; none if there is a rest, or if they are too many.
    pub(super) fn count(&self, unit: &str) -> Option<i64> {
        let at = unit.find(|letter: char| !letter.is_ascii_digit())?;
        let step: i128 = if at == 0 { 1 } else { unit[..at].parse().ok()? };
        let (total, per_unit) = match (&unit[at..], self.nanos) {
            ("Y", 0) if (self.month, self.day) == (1, 1) => (i128::from(self.year - 1970), 1),
            ("M", 0) if self.day == 1 => (i128::from((self.year - 1970) * 12 + self.month - 1), 1),
            (unit, _) => (self.nanos_since_1970(), nanos_of(unit)?),
        };
        let per_unit = per_unit.checked_mul(step).filter(|nanos| *nanos > 0 && total % nanos == 0)?;
        // The least number is that of no date.
        i64::try_from(total / per_unit).ok().filter(|count| *count != i64::MIN)
    }

    /// Is it a day as that is, or are both times of a day?
    pub(super) fn is_like(&self, other: Precision) -> bool {
        (self.precision > Precision::Day) == (other > Precision::Day)
    }

    pub(super) fn is_before(&self, other: &Self) -> bool {
        let when = |moment: &Self| (moment.year, moment.month, moment.day, moment.nanos);
        when(self) < when(other)
    }

    fn nanos_since_1970(&self) -> i128 {
        i128::from(self.days()) * NANOS_OF_DAY + i128::from(self.nanos)
    }

    /// Days since 1970-01-01. Years begin in March here, so that the leap day is the last of one.
    fn days(&self) -> i64 {
        let (year, month) =
            if self.month < 3 { (self.year - 1, self.month + 9) } else { (self.year, self.month - 3) };
        let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        year * 365 + leaps + (month * 153 + 2) / 5 + self.day - 1 - 719_468
    }
}

const NANOS_OF_DAY: i128 = 86_400_000_000_000;

fn nanos_of(unit: &str) -> Option<i128> {
    Some(match unit {
        "W" => 7 * NANOS_OF_DAY,
        "D" => NANOS_OF_DAY,
        "h" => 3_600_000_000_000,
        "m" => 60_000_000_000,
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1000,
        "ns" => 1,
        _ => return None,
    })
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
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let day = digits(day, 2).filter(|day| (1..=days).contains(day))?;
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

/// So many digits and nothing else.
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
    fn dates_are_counted_as_numpy_counts_them() {
        for (expected, unit, text) in [
            (0, "D", "1970-01-01"),
            (-1, "D", "1969-12-31"),
            (18_321, "D", "2020-02-29"),
            (-719_528, "D", "0000-01-01"),
            (50, "Y", "2020"),
            (50, "Y", "2020-01-01"),
            (-1, "M", "1969-12"),
            (1, "W", "1970-01-08"),
            (1_582_934_400, "s", "2020-02-29 00:00:00"),
            (-1, "ms", "1969-12-31T23:59:59.999"),
            (1, "ns", "1970-01-01T00:00:00.000000001"),
            (500, "ms", "1970-01-01T00:00:00.5"),
            (25, "h", "1970-01-02T01"),
            (61, "m", "1970-01-01T01:01"),
            (369_122_861_664, "s", "13667-01-14T08:14:24"),
            (2, "25s", "1970-01-01T00:00:50"),
        ] {
            assert_eq!(count(text, unit), Some(expected), "{text} {unit}");
        }
    }

    #[test]
    fn what_a_unit_cannot_say_is_none() {
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
    fn what_is_no_date_is_none() {
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
