//! NumPy's dates and time spans: a number of units, since 1970 where it is a date.

/// The number that means that there is no date.
const NOT_A_TIME: i64 = i64::MIN;

/// A date as ISO 8601 writes it, as precise as its unit (`D`, `25s`); else the plain number.
pub(super) fn date(count: i64, unit: Option<&str>) -> String {
    if count == NOT_A_TIME {
        return "NaT".to_owned();
    }
    let (step, unit) = split(unit.unwrap_or_default());
    let total = i128::from(count) * i128::from(step);
    match unit {
        "Y" => format!("{:04}", 1970 + total),
        "M" => format!("{:04}-{:02}", 1970 + total.div_euclid(12), total.rem_euclid(12) + 1),
        "W" => day(total * 7),
        "D" => day(total),
        _ => match clock(unit) {
            Some((per_second, digits)) => moment(total, per_second, digits, unit),
            None => count.to_string(),
        },
    }
}

/// A number of units.
pub(super) fn span(count: i64, unit: Option<&str>) -> String {
    match unit {
        _ if count == NOT_A_TIME => "NaT".to_owned(),
        Some(unit) => format!("{count} {unit}"),
        None => count.to_string(),
    }
}

/// `25s` is 25 times `s`.
fn split(unit: &str) -> (i64, &str) {
    let at = unit.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unit.len());
    (unit[..at].parse().unwrap_or(1), &unit[at..])
}

/// Units per second (below zero: seconds per unit), and digits behind the point.
fn clock(unit: &str) -> Option<(i128, usize)> {
    Some(match unit {
        "h" => (-3600, 0),
        "m" => (-60, 0),
        "s" => (1, 0),
        "ms" => (1000, 3),
        "us" => (1_000_000, 6),
        "ns" => (1_000_000_000, 9),
        _ => return None,
    })
}

fn moment(total: i128, per_second: i128, digits: usize, unit: &str) -> String {
    let (seconds, rest) = if per_second < 0 {
        (total * -per_second, 0)
    } else {
        (total.div_euclid(per_second), total.rem_euclid(per_second))
    };
    let of_day = seconds.rem_euclid(86_400);
    let day = day(seconds.div_euclid(86_400));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    match unit {
        "h" => format!("{day}T{hour:02}"),
        "m" => format!("{day}T{hour:02}:{minute:02}"),
        _ if digits == 0 => format!("{day}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{day}T{hour:02}:{minute:02}:{second:02}.{rest:0digits$}"),
    }
}

/// Day number `days` since 1970-01-01. Years are counted from March, so that the leap day is the last of one.
fn day(days: i128) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_as_precise_as_their_unit() {
        for (count, unit, expected) in [
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
            (1, "ns", "1970-01-01T00:00:00.000000001"),
            (25, "h", "1970-01-02T01"),
            (61, "m", "1970-01-01T01:01"),
            (2, "25s", "1970-01-01T00:00:50"),
            (7, "as", "7"),
        ] {
            assert_eq!(date(count, Some(unit)), expected, "{count} {unit}");
        }
        assert_eq!(date(i64::MIN, Some("D")), "NaT");
        assert_eq!(date(3, None), "3");
    }

    #[test]
    fn spans_have_their_unit() {
        assert_eq!(span(-3, Some("ns")), "-3 ns");
        assert_eq!(span(i64::MIN, Some("ns")), "NaT");
        assert_eq!(span(3, None), "3");
    }
}
