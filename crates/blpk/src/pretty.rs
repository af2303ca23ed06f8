//! Formats and parses sizes as Bloscpack 0.16.0 does.

use crate::python;

/// Units, the largest first.
const UNITS: [(char, u64); 5] =
    [('T', 1 << 40), ('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10), ('B', 1)];

/// `9.77K`.
pub(crate) fn size(nbytes: u64) -> String {
    let Some((unit, factor)) = UNITS.iter().find(|(_, factor)| *factor <= nbytes) else {
        return "0B".to_owned();
    };
    #[expect(clippy::cast_precision_loss, reason = "two decimals are printed")]
    let value = nbytes as f64 / *factor as f64;
    let text = format!("{value:.2}");
    let text = text.strip_suffix('0').unwrap_or(&text);
    format!("{text}{unit}")
}

/// `9.77K (10000B)`.
pub(crate) fn double(nbytes: u64) -> String {
    format!("{} ({nbytes}B)", size(nbytes))
}

/// A quotient with six decimals.
pub(crate) fn ratio(dividend: u64, divisor: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "six decimals are printed")]
    let ratio = dividend as f64 / divisor as f64;
    format!("{ratio:.6}")
}

/// The reason why a text is no size, with the text of Python.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SizeError {
    /// Not a decimal integer.
    #[error("invalid literal for int() with base 10: {0}")]
    Integer(String),
    /// Not a number before the unit.
    #[error("could not convert string to float: {0}")]
    Float(String),
}

/// Parses bytes: `64K`, `1.5M`, `65536`, `max`. Only upper-case letters are units. The result may
/// be out of range for a size.
///
/// # Errors
///
/// The text has none of these forms.
pub(crate) fn parse(text: &str) -> Result<i128, SizeError> {
    if text == "max" {
        return Ok(bloscpack::params::MAX_CHUNKSIZE.into());
    }
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(*unit)?, *factor)));
    let Some((number, factor)) = unit else {
        let digits = text.trim().replace('_', "");
        return digits.parse().map_err(|_| SizeError::Integer(python::str_repr(text)));
    };
    let value: f64 =
        number.trim().parse().map_err(|_| SizeError::Float(python::str_repr(number)))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "fractions of bytes are cut; what is too large is refused for it"
    )]
    let nbytes = (value * factor as f64) as i128;
    Ok(nbytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_print_like_python_floats() {
        for (nbytes, text) in [
            (0, "0B"),
            (1, "1.0B"),
            (1023, "1023.0B"),
            (1025, "1.0K"),
            (10_000, "9.77K"),
            (1_572_864, "1.5M"),
            (1_048_575, "1024.0K"),
            (1 << 50, "1024.0T"),
        ] {
            assert_eq!(size(nbytes), text);
        }
        assert_eq!(double(65536), "64.0K (65536B)");
        assert_eq!(ratio(10000, 2448), "4.084967");
    }

    #[test]
    fn sizes_are_read_as_bloscpack_reads_them() {
        for (text, nbytes) in [
            ("64K", 65536),
            ("65536", 65536),
            ("0.5G", 1 << 29),
            ("1e3K", 1_024_000),
            (" 1.5 M", 1_572_864),
            ("max", 2_147_483_631),
            ("2G", 1 << 31),
            ("0.0001B", 0),
            ("-1", -1),
        ] {
            assert_eq!(parse(text), Ok(nbytes), "{text}");
        }
        let error = |text| parse(text).unwrap_err().to_string();
        assert_eq!(error("8m"), "invalid literal for int() with base 10: '8m'");
        assert_eq!(error("1e3"), "invalid literal for int() with base 10: '1e3'");
        assert_eq!(error("8K "), "invalid literal for int() with base 10: '8K '");
        assert_eq!(error("8MB"), "could not convert string to float: '8M'");
        assert_eq!(error(""), "invalid literal for int() with base 10: ''");
    }
}
