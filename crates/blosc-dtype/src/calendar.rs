//! Days and dates of the proleptic Gregorian calendar, as NumPy counts `datetime64`.
//!
//! Days are counted from 1970-01-01, months from January 1970. All years that fit 64 bits are
//! allowed; year 0 is a leap year.
//!
//! ```
//! use blosc_dtype::calendar::{date_of_day, day_of_date};
//!
//! assert_eq!(day_of_date(2000, 2, 29), 11_016);
//! assert_eq!(date_of_day(-1), (1969, 12, 31));
//! ```
#![allow(
    clippy::arithmetic_side_effects,
    reason = "128 bits are enough for any date of a 64-bit count; documented for callers"
)]

/// The number of the day (days since 1970-01-01). Months and days count from 1; `year` has at most
/// 64 bits.
#[must_use]
pub const fn day_of_date(year: i128, month: i128, day: i128) -> i128 {
    // Years begin in March here, so that the leap day is the last day of one.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - DAYS_TO_1970
}

/// Year, month (1 to 12) and day (1 to 31) of a day (days since 1970-01-01).
#[must_use]
pub const fn date_of_day(day: i128) -> (i128, i128, i128) {
    let days = day + DAYS_TO_1970;
    let (era, of_era) = (days.div_euclid(DAYS_OF_400_YEARS), days.rem_euclid(DAYS_OF_400_YEARS));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + carry, month, day)
}

/// The first day of a month (days since 1970-01-01); months count from January 1970.
#[must_use]
pub const fn day_of_month(months: i128) -> i128 {
    day_of_date(1970 + months.div_euclid(12), months.rem_euclid(12) + 1, 1)
}

/// The month (since January 1970) that begins on this day; `None` if none does.
#[must_use]
pub fn month_of_day(day: i128) -> Option<i128> {
    let (year, month, 1) = date_of_day(day) else { return None };
    Some((year - 1970) * 12 + month - 1)
}

/// Days of a month; `month` counts from 1.
#[must_use]
pub const fn days_of_month(year: i128, month: i128) -> i128 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the first of March of year 0 to 1970-01-01.
const DAYS_TO_1970: i128 = 719_468;

const DAYS_OF_400_YEARS: i128 = 146_097;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_800_years_follows_the_day_before() {
        let mut date = (1600, 1, 1);
        for day in day_of_date(1600, 1, 1)..day_of_date(2400, 1, 1) {
            assert_eq!(date_of_day(day), date);
            assert_eq!(day_of_date(date.0, date.1, date.2), day);
            date = match date {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == days_of_month(year, month) => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
        }
        assert_eq!(date, (2400, 1, 1));
    }

    #[test]
    fn known_days_have_the_dates_of_numpy() {
        for (day, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (18_321, (2020, 2, 29)),
            (-719_528, (0, 1, 1)),
            (-719_529, (-1, 12, 31)),
        ] {
            assert_eq!((date_of_day(day), day_of_date(date.0, date.1, date.2)), (date, day));
        }
    }

    #[test]
    fn months_begin_on_their_first_day() {
        for months in (-30_000..30_000).chain([i128::from(i64::MIN), i128::from(i64::MAX)]) {
            let day = day_of_month(months);
            assert_eq!((month_of_day(day), month_of_day(day + 1)), (Some(months), None));
        }
    }
}
