//! Days and dates of the Gregorian calendar, before its invention too, as NumPy counts them.

/// Days from 1970-01-01; years begin in March here, so that the odd day is the last.
pub(crate) const fn days_since_1970(year: i128, month: i128, day: i128) -> i128 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leaps + (month * 153 + 2) / 5 + day - 1;
    // Days of 1969 years and ten months from March of year 0.
    days - 719_468
}

/// The day on which so many months since January 1970 have passed, in days since 1970-01-01.
#[cfg(feature = "arrow")]
pub(crate) const fn day_of_month(months: i128) -> i128 {
    days_since_1970(1970 + months.div_euclid(12), months.rem_euclid(12) + 1, 1)
}

/// The months since January 1970 after which a month begins on that day; none if it does not.
#[cfg(feature = "arrow")]
pub(crate) fn month_of_day(days: i128) -> Option<i128> {
    // A year has 365.2425 days; that may be one month too many or too few.
    let about = (days * 12 * 400).div_euclid(146_097);
    (about - 1..=about + 1).find(|months| day_of_month(*months) == days)
}

/// Days of a month.
pub(crate) const fn days_of_month(year: i128, month: i128) -> i128 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

const fn is_leap(year: i128) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[cfg(all(test, feature = "arrow"))]
mod tests {
    use super::*;

    #[test]
    fn months_begin_on_the_days_that_they_began_on() {
        for months in (-30_000..30_000).chain([i128::from(i32::MIN), i128::from(i32::MAX)]) {
            let days = day_of_month(months);
            assert_eq!(
                (month_of_day(days), month_of_day(days + 1)),
                (Some(months), None),
                "{months}"
            );
        }
    }
}
