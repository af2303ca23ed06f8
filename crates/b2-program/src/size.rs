//! Sizes in bytes, as people write and read them.
//!
//! Reading: bytes, or a number with a unit, as `64K`, `1.5M`, `2GiB`. A single letter and the `iB`
//! forms count in powers of 1024, the `B` forms (`64KB`) in powers of 1000. Printing: always a
//! unit; whole bytes below the first unit, one decimal for the next two, two from giga on. Ratios
//! have three digits, counts are grouped by three.

use core::{fmt, str::FromStr, time::Duration};

pub use blosc_dtype::text::count;

/// A number of bytes given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// The reason why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// It does not start with a number.
    #[error("{text:?} does not start with a number of bytes (64K, 1.5M, 2GiB)")]
    NoNumber {
        /// The text.
        text: String,
    },
    /// The letters after the number are not a unit.
    #[error("{unit:?} is not a unit of size (K, M, G, T, P, with or without B or iB)")]
    NoUnit {
        /// The letters.
        unit: String,
    },
    /// The number of bytes does not fit 64 bits.
    #[error("{text:?} is more than 64 bits can count")]
    TooLarge {
        /// The text.
        text: String,
    },
}

impl FromStr for ByteSize {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = factor(unit.trim())?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || fraction.contains('.') {
            return Err(SizeError::NoNumber { text: text.to_owned() });
        }
        scaled(whole, fraction, unit)
            .map(Self)
            .ok_or_else(|| SizeError::TooLarge { text: text.to_owned() })
    }
}

/// `whole.fraction * unit`, rounded down; `None` when it does not fit.
fn scaled(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    // Digits past the sixth after the point make no difference in a printed size.
    let fraction = &fraction[..fraction.len().min(6)];
    let digits = u32::try_from(fraction.len()).ok()?;
    let whole: u128 = whole.parse().ok()?;
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let unit = u128::from(unit);
    let bytes = whole.checked_mul(unit)?.checked_add(fraction * unit / 10u128.pow(digits))?;
    u64::try_from(bytes).ok()
}

/// The least size in a round unit of at least `nbytes` bytes, as an option takes it.
pub fn enough(nbytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = |(unit, _): &&(u64, &str)| nbytes >= 10 * unit;
    match units.iter().find(fits) {
        Some((unit, name)) => format!("{}{name}", nbytes.div_ceil(*unit)),
        None => nbytes.to_string(),
    }
}

/// Bytes per unit.
fn factor(unit: &str) -> Result<u64, SizeError> {
    let lower = unit.to_ascii_lowercase();
    let (letter, base): (&str, u64) = match lower.strip_suffix("ib") {
        Some(letter) if !letter.is_empty() => (letter, 1024),
        _ => match lower.strip_suffix('b') {
            Some("") => return Ok(1),
            Some(letter) => (letter, 1000),
            None => (lower.as_str(), 1024),
        },
    };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(SizeError::NoUnit { unit: unit.to_owned() }),
    };
    Ok(base.pow(power))
}

/// The units of printed sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1024: `KiB`, `MiB`.
    #[default]
    Binary,
    /// Powers of 1000: `kB`, `MB`.
    Si,
}

impl Units {
    /// `bytes` for people: `197 B`, `112.9 MiB`, `1.49 GiB`.
    pub fn size(self, bytes: u64) -> Printed {
        Printed { bytes, units: self }
    }

    fn base(self) -> f64 {
        match self {
            Self::Binary => 1024.0,
            Self::Si => 1000.0,
        }
    }

    fn names(self) -> [&'static str; 6] {
        match self {
            Self::Binary => ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"],
            Self::Si => ["kB", "MB", "GB", "TB", "PB", "EB"],
        }
    }
}

/// A formatted size.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    bytes: u64,
    units: Units,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&printed(self.bytes, self.units))
    }
}

fn printed(bytes: u64, units: Units) -> String {
    let base = units.base();
    #[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = bytes as f64;
    if value < base {
        return format!("{bytes} B");
    }
    let mut power = 0;
    value /= base;
    // 1023.96 KiB would print as 1024.0 KiB: the next unit starts where rounding reaches it.
    while value + 0.05 >= base && power < 5 {
        value /= base;
        power += 1;
    }
    let decimals = if power < 2 { 1 } else { 2 };
    format!("{value:.decimals$} {}", units.names()[power])
}

/// `nbytes / cbytes` with three digits: `5.71`, `38.8`, `1024`; `-` if `cbytes` is 0.
pub fn ratio(nbytes: u64, cbytes: u64) -> String {
    let Some(value) = cratio(nbytes, cbytes) else { return "-".to_owned() };
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// The compression ratio as a number; `None` when `cbytes` is 0.
pub fn cratio(nbytes: u64, cbytes: u64) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "a ratio needs no more digits than a float has")]
    (cbytes > 0).then(|| nbytes as f64 / cbytes as f64)
}

/// `  1.9 s, 339.0 MiB/s` for `nbytes` bytes; empty for a short time.
pub fn speed(units: Units, nbytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 1.0 {
        return String::new();
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    // A speed is positive and prints three digits, so truncation is harmless.
    let per_second = (nbytes as f64 / seconds) as u64;
    format!("  {seconds:.1} s, {}/s", units.size(per_second))
}

/// Lengths of dimensions: `1 460 x 241`.
pub fn shape<L: Copy + Into<u64>>(lens: &[L]) -> String {
    lens.iter().map(|len| count((*len).into())).collect::<Vec<_>>().join(" x ")
}

/// `1 chunk`, `2 chunks`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A number with four significant digits: `0.4931`, `12.00`, `3.100e-9`.
pub fn short(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        number if (1e-3..1e4).contains(&number) => {
            let before = (0..4).take_while(|n| number >= 10f64.powi(*n)).count();
            format!("{number:.*}", if before == 0 { 4 } else { 4 - before })
        }
        number => format!("{number:.3e}"),
    }
}

/// The edit distance: bytes to insert, remove or replace to turn `a` into `b`.
pub fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A number with six digits, enough for reading.
pub fn six_digits(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e9).contains(&magnitude) {
        let before = magnitude.log10().floor().max(0.0);
        let decimals = if before >= 5.0 {
            1
        } else if before >= 1.0 {
            4
        } else {
            6
        };
        let text = format!("{value:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.5e}")
    }
}

/// A name in the quoting of a shell.
pub fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._/-+,:@%".contains(c);
    match !name.starts_with('-') && !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// The number of items that are drawn as one.
pub fn each(nitems: u64, places: u64) -> String {
    match nitems / places.max(1) {
        1 => "1 or 2".to_owned(),
        each => count(each),
    }
}

/// `99.73 %`; never 100 for less than the whole.
pub fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_rounded_up() {
        assert_eq!(percent(99_999, 100_000), "99.99 %");
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(percent(0, 0), "0.00 %");
    }

    #[test]
    fn slips_of_the_pen_are_counted() {
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"", b"abc"), 3);
    }

    #[test]
    fn names_are_quoted_for_the_shell() {
        assert_eq!(quoted("dir/a.b2nd"), "dir/a.b2nd");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("-x"), "'-x'");
    }

    #[test]
    fn six_digits_are_enough() {
        for (value, expected) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-273.15, "-273.15"),
            (123_456.789, "123456.8"),
            (0.000_123, "0.000123"),
            (1e-9, "1.00000e-9"),
            (1e12, "1.00000e12"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(six_digits(value), expected);
        }
    }

    fn parse(text: &str) -> Result<u64, SizeError> {
        text.parse::<ByteSize>().map(|size| size.0)
    }

    #[test]
    fn letters_count_in_powers_of_1024_and_b_forms_in_powers_of_1000() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("64K", 65_536),
            ("64k", 65_536),
            ("64KiB", 65_536),
            ("64kb", 64_000),
            ("1.5M", 1_572_864),
            ("2GiB", 2_147_483_648),
            ("2 GiB", 2_147_483_648),
            ("1T", 1 << 40),
            ("1P", 1 << 50),
            ("0.1K", 102),
            ("1.", 1),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn malformed_sizes_are_errors() {
        assert_eq!(parse(""), Err(SizeError::NoNumber { text: String::new() }));
        assert_eq!(parse(".5M"), Err(SizeError::NoNumber { text: ".5M".into() }));
        assert_eq!(parse("1.2.3M"), Err(SizeError::NoNumber { text: "1.2.3M".into() }));
        assert_eq!(parse("12Q"), Err(SizeError::NoUnit { unit: "Q".into() }));
        assert_eq!(parse("12 iB"), Err(SizeError::NoUnit { unit: "iB".into() }));
        assert_eq!(parse("-3K"), Err(SizeError::NoUnit { unit: "-3K".into() }));
        assert_eq!(parse("16384P"), Err(SizeError::TooLarge { text: "16384P".into() }));
        assert_eq!(
            parse("99999999999999999999999"),
            Err(SizeError::TooLarge { text: "9".repeat(23) })
        );
    }

    #[test]
    fn sizes_name_their_unit() {
        let binary = |n: u64| Units::Binary.size(n).to_string();
        assert_eq!(binary(0), "0 B");
        assert_eq!(binary(1023), "1023 B");
        assert_eq!(binary(1024), "1.0 KiB");
        assert_eq!(binary(234_291), "228.8 KiB");
        assert_eq!(binary(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(binary(1_600_000_000), "1.49 GiB");
        assert_eq!(binary(u64::MAX), "16.00 EiB");
        assert_eq!(Units::Si.size(1_600_000_000).to_string(), "1.60 GB");
        assert_eq!(Units::Si.size(999).to_string(), "999 B");
        assert_eq!(format!("{:>10}", Units::Binary.size(1024)), "   1.0 KiB");
    }

    #[test]
    fn ratios_keep_three_digits() {
        assert_eq!(ratio(571, 100), "5.71");
        assert_eq!(ratio(388, 10), "38.8");
        assert_eq!(ratio(9_999, 1_000), "10.0");
        assert_eq!(ratio(1024, 1), "1024");
        assert_eq!(ratio(0, 0), "-");
    }

    #[test]
    fn speed_is_printed_from_one_second_on() {
        assert_eq!(speed(Units::Binary, 10 << 20, Duration::from_millis(999)), "");
        assert_eq!(speed(Units::Binary, 10 << 20, Duration::from_secs(2)), "  2.0 s, 5.0 MiB/s");
    }
}
