//! Axes: a range, the position of a value in it, and ticks at round numbers or dates.

mod decimal;

use core::str::FromStr;

use blosc_dtype::{
    calendar::{date_of_day, day_of_date},
    date,
    numbers::widened,
};

/// A range of values that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisRange {
    /// Start of the range.
    pub low: f64,
    /// End of the range.
    pub high: f64,
    /// Whether small values come last.
    pub is_reversed: bool,
    /// The unit of NumPy (`s`, `D`), if values are points in time since 1970.
    pub time_unit: Option<String>,
    /// Whether `low`, `high` and the drawn values are logarithms to the base 10.
    pub is_log: bool,
}

/// A range as `LOW:HIGH`.
impl FromStr for AxisRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ends = text.split_once(':').and_then(|(low, high)| {
            let end = |text: &str| text.trim().parse().ok().filter(|end: &f64| end.is_finite());
            Some((end(low)?, end(high)?)).filter(|(low, high)| low < high)
        });
        let (low, high) = ends.ok_or_else(|| format!("{text:?} is no range such as -5:40"))?;
        Ok(Self::new(low, high))
    }
}

/// A mark of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its position.
    pub value: f64,
    /// Its label.
    pub text: String,
}

impl AxisRange {
    /// The range from `low` to `high`, which are finite; it is widened if they are equal.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        let (low, high) = widened(low, high);
        Self { low, high, is_reversed: false, time_unit: None, is_log: false }
    }

    /// The range with space on both sides.
    #[must_use]
    pub fn padded(self) -> Self {
        let room = (self.high / 25.0) - (self.low / 25.0);
        let low = (self.low - room).max(-f64::MAX);
        Self { low, high: (self.high + room).min(f64::MAX), ..self }
    }

    /// The position of a value: 0 at the start, 1 at the end.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.high - self.low {
            range if range.is_finite() => (value - self.low) / range,
            // Halves, so that the largest range does not overflow.
            _ => (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0),
        };
        if self.is_reversed { 1.0 - share } else { share }
    }

    /// At most `max_ticks` marks at round values, at least one where there is a round value.
    #[must_use]
    pub fn ticks(&self, max_ticks: usize) -> Vec<Tick> {
        let max_ticks = max_ticks.clamp(1, 20);
        if self.is_log {
            return self.log_ticks(max_ticks);
        }
        match self.time_unit.as_deref().and_then(seconds_of_unit) {
            Some(unit) => self.time_ticks(max_ticks, unit),
            None => self.number_ticks(max_ticks),
        }
    }

    fn number_ticks(&self, max_ticks: usize) -> Vec<Tick> {
        let rough = (self.high / 2.0 - self.low / 2.0) / max_ticks as f64 * 2.0;
        let mut exponent = rough.log10().floor();
        let (mut factor, mut step) = (1, f64::INFINITY);
        for candidate in [1_u8, 2, 5, 10] {
            // Parsing gives the nearest float; a power of a float may differ.
            let size = format!("{candidate}e{exponent}").parse().unwrap_or(0.0);
            if self.count(size) <= max_ticks as f64 {
                (factor, step) = (i128::from(candidate), size);
                break;
            }
        }
        if factor == 10 {
            (factor, exponent) = (1, exponent + 1.0);
        }
        // Ticks are multiples of the step: counting their digits avoids the rounding of floats.
        let (first, last) = ((self.low / step - 1e-6).ceil(), (self.high / step + 1e-6).floor());
        let steps = (0..max_ticks).map(|n| first + n as f64).take_while(|n| *n <= last);
        let steps: Vec<f64> = steps.collect();
        let values: Vec<f64> =
            steps.iter().map(|n| (n * step).clamp(self.low, self.high)).collect();
        // A step of a few float digits would not be at the position of its label.
        let is_fine = step < 4.0 * f64::EPSILON * self.low.abs().max(self.high.abs());
        let distinct = values.windows(2).all(|pair| pair[0] < pair[1]);
        if !step.is_normal() || is_fine || !distinct || values.is_empty() {
            return self.end_ticks(max_ticks);
        }
        #[allow(clippy::cast_possible_truncation, reason = "distinct floats are below 2^53 steps")]
        let (exponent, digits) =
            (exponent as i32, steps.iter().map(|n| *n as i128 * factor).collect::<Vec<_>>());
        let is_plain = (1e-4..1e6).contains(&self.low.abs().max(self.high.abs())) && exponent >= -6;
        let texts = decimal::told_apart(&digits, exponent, is_plain);
        values.into_iter().zip(texts).map(|(value, text)| Tick { value, text }).collect()
    }

    /// Ticks at both ends, if no round numbers lie between them.
    fn end_ticks(&self, max_ticks: usize) -> Vec<Tick> {
        let tick = |value: f64, text: String| Tick { value, text };
        let low = tick(self.low, short_number(self.low));
        if max_ticks < 2 || self.low >= self.high {
            return vec![low];
        }
        let (high, way) = (short_number(self.high), self.high - self.low);
        if low.text != high && (way.is_infinite() || way > self.low.abs() * 1e-3) {
            return vec![low, tick(self.high, high)];
        }
        // Both are close to each other, so the difference is exact.
        let digits = decimal::shortest(&self.low.to_string(), &format!("{:e}", self.low));
        vec![tick(self.low, digits), tick(self.high, format!("+{}", short_number(way)))]
    }

    /// Ticks at powers of ten, or at round numbers if there are few powers.
    fn log_ticks(&self, max_ticks: usize) -> Vec<Tick> {
        let powers = self.count(1.0);
        if powers >= 2.0 {
            let step = (powers / max_ticks as f64).ceil().max(1.0);
            let text = |power: f64| match power {
                -4.0..6.0 => short_number(10f64.powf(power)),
                _ => format!("1e{power}"),
            };
            let powers = self.multiples(step, max_ticks).into_iter();
            return powers.map(|value| Tick { value, text: text(value) }).collect();
        }
        let values = Self::new(10f64.powf(self.low), 10f64.powf(self.high));
        let ticks = values.number_ticks(max_ticks).into_iter();
        let ticks = ticks.map(|tick| Tick { value: tick.value.log10(), ..tick });
        ticks.filter(|tick| (self.low..=self.high).contains(&tick.value)).collect()
    }

    /// A value of the axis as text.
    pub(crate) fn text(&self, value: f64) -> String {
        short_number(if self.is_log { 10f64.powf(value) } else { value })
    }

    /// Approximate number of multiples of `step`.
    fn count(&self, step: f64) -> f64 {
        (self.high / step).floor() - (self.low / step).ceil() + 1.0
    }

    fn multiples(&self, step: f64, max_ticks: usize) -> Vec<f64> {
        let first = (self.low / step).ceil();
        let steps = (0..=max_ticks).map(|n| (first + n as f64) * step);
        steps.filter(|value| *value >= self.low && *value <= self.high).take(max_ticks).collect()
    }

    /// Ticks at whole seconds, minutes, hours, days, months or years.
    fn time_ticks(&self, max_ticks: usize, unit: f64) -> Vec<Tick> {
        let seconds = Self::new(self.low * unit, self.high * unit);
        let fits = |step: &&f64| seconds.count(**step) <= max_ticks as f64;
        let text = |value: f64, unit: &str, step: f64| {
            // The nearest whole number of units.
            #[allow(clippy::cast_possible_truncation, reason = "dates far away are numbers")]
            let count = (value / step).round() as i64;
            date::date(count, Some(unit))
        };
        if seconds.high - seconds.low < max_ticks as f64 {
            return self.number_ticks(max_ticks);
        }
        if let Some(step) = CLOCK_STEPS.iter().find(fits) {
            let (name, size) = match *step {
                DAY.. => ("D", DAY),
                60.0.. => ("m", 60.0),
                _ => ("s", 1.0),
            };
            let values = seconds.multiples(*step, max_ticks);
            return values
                .into_iter()
                .map(|value| Tick { value: value / unit, text: text(value, name, size) })
                .collect();
        }
        let month = |value: f64| {
            #[allow(clippy::cast_possible_truncation, reason = "dates far away have no ticks")]
            let (year, month, _) = date_of_day((value / DAY).floor() as i64 as i128);
            year * 12 + month - 1
        };
        if seconds.low.abs().max(seconds.high.abs()) > MAX_DATE_SECONDS {
            return self.number_ticks(max_ticks);
        }
        let (first, last) = (month(seconds.low), month(seconds.high));
        let months = [1, 3, 6].into_iter().chain((0..6).flat_map(|power| {
            let years = 12 * 10i128.pow(power);
            [years, 2 * years, 5 * years]
        }));
        let fits =
            |step: &i128| last.div_euclid(*step) - first.div_euclid(*step) <= max_ticks as i128;
        let step = months.into_iter().find(fits).unwrap_or(12_000_000);
        let mut ticks = vec![];
        let mut at = first.div_euclid(step) * step;
        while at <= last && ticks.len() < max_ticks {
            let (year, month) = (at.div_euclid(12), at.rem_euclid(12) + 1);
            let value = day_of_date(year, month, 1) as f64 * DAY / unit;
            if (self.low..=self.high).contains(&value) {
                let text = match step % 12 {
                    0 => format!("{year:04}"),
                    _ => format!("{year:04}-{month:02}"),
                };
                ticks.push(Tick { value, text });
            }
            at += step;
        }
        ticks
    }
}

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Steps of clocks and calendars that have a fixed length.
const CLOCK_STEPS: [f64; 17] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    900.0,
    1800.0,
    3600.0,
    3.0 * 3600.0,
    6.0 * 3600.0,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
];

/// A million years.
const MAX_DATE_SECONDS: f64 = 1e6 * 366.0 * DAY;

/// Seconds of a unit of NumPy; `None` for months and years, which vary.
fn seconds_of_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "W" => 7.0 * DAY,
        "D" => DAY,
        "h" => 3600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..=17")]
fn decimals(digits: f64) -> usize {
    digits.clamp(0.0, 17.0) as usize
}

/// A number with at most seven digits.
pub(crate) fn short_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs().log10().floor();
    let text = match (-5.0..7.0).contains(&magnitude) {
        true => format!("{value:.0$}", decimals(6.0 - magnitude)),
        false => format!("{value:.4e}"),
    };
    match text.split_once('e') {
        Some((digits, exponent)) => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        None if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_two_ends() {
        let ends = |text: &str| text.parse::<AxisRange>().map(|it| (it.low, it.high)).ok();
        assert_eq!(ends("-5:40.5"), Some((-5.0, 40.5)));
        for text in ["", "1", "2:1", "1:1", "nan:1", "1:inf", "a:b"] {
            assert_eq!(ends(text), None, "{text}");
        }
    }

    fn texts(low: f64, high: f64, max_ticks: usize) -> Vec<String> {
        let ticks = AxisRange::new(low, high).ticks(max_ticks);
        assert!(ticks.len() <= max_ticks.max(2), "{ticks:?}");
        ticks.into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(0.0, 10.0, 6), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(-0.31, 0.42, 5), ["-0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(texts(271.3, 288.9, 5), ["275", "280", "285"]);
        assert_eq!(texts(0.0, 3e9, 4), ["0", "1e9", "2e9", "3e9"]);
        assert_eq!(texts(0.0, 2.5e-9, 3), ["0", "1e-9", "2e-9"]);
        assert_eq!(texts(5.0, 5.0, 3), ["4.5", "5.0", "5.5"]);
        assert_eq!(
            texts(1_000_000.0, 1_000_004.0, 5),
            ["1000000", "1000001", "1000002", "1000003", "1000004"]
        );
    }

    #[test]
    fn ticks_that_differ_read_differently() {
        assert_eq!(texts(1.0, 1.0 + 1e-10, 3), ["1", "+5e-11", "+1e-10"]);
        assert_eq!(texts(123_456_789.0, 123_456_789.5, 3), ["123456789", "+0.2", "+0.4"]);
        assert_eq!(texts(20_240_101.0, 20_240_107.0, 3), ["20240102", "20240104", "20240106"]);
        assert_eq!(texts(100.0, 100.0 + 1e-9, 3), ["100", "+5e-10", "+1e-9"]);
        assert_eq!(texts(-1.0 - 1e-10, -1.0, 3), ["-1-1e-10", "-5e-11", "-1"]);
        assert_eq!(texts(1.0, 1.0 + f64::EPSILON, 3), ["1", "+2.2204e-16"]);
        assert_eq!(texts(2f64.powi(60), 2f64.powi(60) + 4096.0, 2).len(), 2);
        for (low, high) in [
            (1.0, 1.0 + 1e-10),
            (-1.0 - 1e-10, -1.0),
            (0.1, 0.1 + 5e-14),
            (5.0 - 1e-10, 5.0),
            (2f64.powi(60), 2f64.powi(60) + 8192.0),
            (123_456_789.0, 123_456_790.0),
            (1e15, 1e15 + 7.0),
            (9.999_999_9, 10.000_000_1),
            (1.0, 1.0 + 4.0 * f64::EPSILON),
            (5e300, 5.000_000_001e300),
        ] {
            for max_ticks in [2, 5, 9] {
                let found = texts(low, high, max_ticks);
                let mut distinct = found.clone();
                distinct.sort();
                distinct.dedup();
                assert_eq!(distinct.len(), found.len(), "{low} to {high}: {found:?}");
                // The text of a tick gives its position.
                let (mut base, size) = (0.0, (high - low).max(f64::EPSILON * low.abs()));
                for tick in AxisRange::new(low, high).ticks(max_ticks) {
                    let said = read(&tick.text, &mut base);
                    assert!((said - tick.value).abs() <= size / 10.0, "{tick:?}: {said}");
                    assert!(tick.text.len() <= 24, "{tick:?}");
                }
            }
        }
    }

    /// The number in a text, which may be relative to the last whole number, `base`.
    fn read(text: &str, base: &mut f64) -> f64 {
        if let Ok(number) = text.parse::<f64>()
            && !text.starts_with('+')
            && (!text.starts_with('-') || *base == 0.0)
        {
            *base = number;
            return number;
        }
        if text.parse::<f64>().is_ok_and(|number| number == *base) {
            return *base;
        }
        let is_sign = |at: usize| text[at..].starts_with(['+', '-']);
        let ways = (1..text.len()).filter(|at| is_sign(*at) && !text[..*at].ends_with('e'));
        let at = ways.max().unwrap_or(0);
        if at > 0 {
            *base = text[..at].parse().unwrap();
        }
        *base + text[at..].parse::<f64>().unwrap()
    }

    #[test]
    fn ticks_of_logarithms_are_powers_of_ten() {
        let texts = |low: f64, high: f64, max_ticks: usize| {
            let range = AxisRange { is_log: true, ..AxisRange::new(low.log10(), high.log10()) };
            let ticks = range.ticks(max_ticks);
            ticks.into_iter().map(|tick| tick.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(0.001, 1000.0, 7), ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(texts(1e-30, 1e30, 4), ["1e-16", "1", "1e16"]);
        assert_eq!(texts(2.0, 9.0, 4), ["2", "4", "6", "8"]);
    }

    #[test]
    fn ranges_of_any_size_have_ticks() {
        let tiny = f64::MIN_POSITIVE;
        for (low, high) in [
            (-f64::MAX, f64::MAX),
            (f64::MAX, f64::MAX),
            (0.0, f64::from_bits(1)),
            (tiny, tiny * 2.0),
            (1e300, 1e300),
            (1.0, 1.0 + f64::EPSILON),
            (9.0e15, 9.0e15 + 2.0),
        ] {
            let range = AxisRange::new(low, high);
            for max_ticks in [1, 2, 7, 1000] {
                let ticks = range.ticks(max_ticks);
                assert!(!ticks.is_empty() && ticks.len() <= 20, "{low} {high}");
            }
            let padded = range.clone().padded();
            assert!(padded.low.is_finite() && padded.high.is_finite());
            assert!((0.0..=1.0).contains(&padded.share(low)), "{low} {high}");
        }
        assert_eq!(AxisRange::new(0.0, 4.0).share(1.0), 0.25);
        let reversed = AxisRange { is_reversed: true, ..AxisRange::new(0.0, 4.0) };
        assert_eq!(reversed.share(1.0), 0.75);
    }

    #[test]
    fn ticks_of_time_are_dates() {
        let texts = |low: f64, high: f64, unit: &str| {
            let range = AxisRange { time_unit: Some(unit.into()), ..AxisRange::new(low, high) };
            range.ticks(4).into_iter().map(|tick| tick.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(0.0, 800.0, "D"), ["1970-01", "1970-07", "1971-01", "1971-07"]);
        assert_eq!(texts(10.0, 100.0, "D"), ["1970-02", "1970-03", "1970-04"]);
        assert_eq!(texts(0.0, 3.0, "D"), ["1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"]);
        assert_eq!(
            texts(0.0, 7.3e12, "ns"),
            ["1970-01-01T00:00", "1970-01-01T01:00", "1970-01-01T02:00"]
        );
        assert_eq!(texts(0.0, 40_000.0, "ms").len(), 3);
        // Dates outside of any calendar are numbers.
        assert!(!texts(0.0, 9e18, "D").is_empty());
        assert!(!texts(-9.2e18, 9.2e18, "s").is_empty());
        assert!(!texts(0.0, 5.0, "Y").is_empty());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short_number(-273.15), "-273.15");
        assert_eq!(short_number(1e-9), "1e-9");
        assert_eq!(short_number(123_456_789.0), "1.2346e8");
        assert_eq!(short_number(f64::NAN), "NaN");
    }
}
