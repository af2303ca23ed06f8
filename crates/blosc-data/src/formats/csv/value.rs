//! Converts text to the bytes of an item.

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar, date::Moment};
use half::f16;

use super::guess;

/// The words for a type in messages such as "is no time such as …", for people who do not know
/// NumPy's names.
pub(super) fn type_name(dtype: &Dtype) -> String {
    let (size, letters) = (dtype.itemsize(), dtype.itemsize() / 4);
    match (dtype.kind(), dtype.scalar().and_then(Scalar::unit)) {
        (Some(Kind::Bool), _) => "truth value (true or false)".to_owned(),
        (Some(Kind::Int), _) if size < 8 => {
            let end = 1_i64 << (8 * size - 1);
            format!("integer from -{end} to {}", end - 1)
        }
        (Some(Kind::Uint), _) if size < 8 => {
            format!("integer from 0 to {}", (1_u64 << (8 * size)) - 1)
        }
        (Some(Kind::Uint), _) => "integer from 0 on".to_owned(),
        (Some(Kind::Int), _) | (Some(Kind::DateTime | Kind::TimeDelta), None) => {
            "integer".to_owned()
        }
        (Some(Kind::Float), _) => "number".to_owned(),
        (Some(Kind::Complex), _) => "complex number such as 1.5-2j".to_owned(),
        (Some(Kind::Bytes), _) => format!("text of at most {}", counted(size, "byte")),
        (Some(Kind::Unicode), _) => format!("text of at most {}", counted(letters, "letter")),
        (Some(Kind::Void), _) => format!("row of {} hexadecimal digits", 2 * size),
        (Some(Kind::DateTime), Some("Y" | "M" | "W" | "D")) => "day such as 2018-01-05".to_owned(),
        (Some(Kind::DateTime), Some(_)) => "time such as 2018-01-05T10:00:00".to_owned(),
        (Some(Kind::TimeDelta), Some(unit)) => format!("duration such as 7 {unit}"),
        _ => dtype.to_string(),
    }
}

/// `3 letters`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Whether a value is missing.
pub(super) fn is_missing(text: &[u8]) -> bool {
    core::str::from_utf8(text).is_ok_and(guess::is_missing)
}

/// Whether a value is missing in a column of a type. Text that reads `NA` is text.
pub(super) fn is_missing_as(dtype: &Dtype, text: &[u8]) -> bool {
    match dtype.kind() {
        Some(Kind::Unicode | Kind::Bytes) => text.is_empty(),
        _ => is_missing(text),
    }
}

/// Whether text can be read as values of this type.
pub(super) fn is_readable(dtype: &Dtype) -> bool {
    let Some(scalar) = dtype.scalar() else { return false };
    match scalar.kind() {
        Kind::Bool | Kind::Bytes | Kind::Unicode => true,
        Kind::Int | Kind::Uint => dtype.itemsize() <= 8,
        Kind::Float => matches!(dtype.itemsize(), 2 | 4 | 8),
        Kind::Complex => matches!(dtype.itemsize(), 8 | 16),
        Kind::Void => true,
        Kind::DateTime | Kind::TimeDelta => dtype.itemsize() == 8,
        _ => false,
    }
}

/// Writes the value of `text` to `dest`, which has the size of an item; `None` if the text does not
/// fit the type. Empty text stands for NaN, for NaT, and for empty text.
pub(super) fn encode(text: &[u8], dtype: &Dtype, dest: &mut [u8]) -> Option<()> {
    let scalar = dtype.scalar()?;
    dest.fill(0);
    if scalar.kind() == Kind::Bytes {
        return dest.get_mut(..text.len()).map(|dest| dest.copy_from_slice(text));
    }
    let text = core::str::from_utf8(text).ok()?;
    if scalar.kind() == Kind::Void {
        return digits(text, dest);
    }
    match (scalar.kind(), dest.len()) {
        (Kind::Unicode, _) => letters(text, dest)?,
        (Kind::Bool, _) => {
            *dest.first_mut()? = match text {
                "1" => 1,
                "0" => 0,
                _ => guess::truth(text)?.into(),
            }
        }
        (Kind::Int, len) => {
            let value: i64 = text.trim().parse().ok()?;
            let bytes = value.to_le_bytes();
            dest.copy_from_slice(bytes.get(..len)?);
            // Only sign bits may be cut off.
            let sign = if dest.last()? & 0x80 != 0 { 0xff } else { 0 };
            bytes.get(len..)?.iter().all(|byte| *byte == sign).then_some(())?;
            (value < 0).eq(&(sign == 0xff)).then_some(())?;
        }
        (Kind::Uint, len) => {
            let bytes = text.trim().parse::<u64>().ok()?.to_le_bytes();
            dest.copy_from_slice(bytes.get(..len)?);
            bytes.get(len..)?.iter().all(|byte| *byte == 0).then_some(())?;
        }
        (Kind::Float, 8) => dest.copy_from_slice(&number::<f64>(text, f64::NAN)?.to_le_bytes()),
        (Kind::Float, 4) => dest.copy_from_slice(&number::<f32>(text, f32::NAN)?.to_le_bytes()),
        (Kind::Float, 2) => {
            // Rounded once; a detour through 32 bits would round twice.
            let value = f16::from_f64(number(text, f64::NAN)?);
            dest.copy_from_slice(&value.to_le_bytes());
        }
        (Kind::Complex, len) => {
            let (real, imaginary) = parts(text)?;
            let (low, high) = dest.split_at_mut(len / 2);
            let half = Dtype::parse(if len == 8 { "<f4" } else { "<f8" }).ok()?;
            encode(real.as_bytes(), &half, low)?;
            encode(imaginary.as_bytes(), &half, high)?;
            if scalar.order() == ByteOrder::Big {
                dest.chunks_mut(len / 2).for_each(<[u8]>::reverse);
            }
            return Some(());
        }
        (Kind::DateTime, 8) => dest.copy_from_slice(&date(text, scalar.unit())?.to_le_bytes()),
        (Kind::TimeDelta, 8) => dest.copy_from_slice(&span(text, scalar.unit())?.to_le_bytes()),
        _ => return None,
    }
    turn(scalar, dest);
    Some(())
}

/// The number that stands for NaT.
const NOT_A_TIME: i64 = i64::MIN;

/// A date, or a number of units for types without a unit.
fn date(text: &str, unit: Option<&str>) -> Option<i64> {
    if text == "NaT" || guess::is_missing(text) {
        return Some(NOT_A_TIME);
    }
    match unit {
        Some(unit) => Moment::parse_zoned(text.trim())?.0.count(unit),
        None => text.trim().parse().ok(),
    }
}

/// A duration: `3`, or `3 ns` with the unit of the type.
fn span(text: &str, unit: Option<&str>) -> Option<i64> {
    if text == "NaT" || guess::is_missing(text) {
        return Some(NOT_A_TIME);
    }
    match text.trim().split_once(' ') {
        Some((count, given)) if Some(given) == unit => count.parse().ok(),
        Some(_) => None,
        None => text.trim().parse().ok(),
    }
}

fn number<T: core::str::FromStr>(text: &str, nothing: T) -> Option<T> {
    if guess::is_missing(text) { Some(nothing) } else { text.trim().parse().ok() }
}

/// The two parts of `1.5-2.25j`, also in brackets; empty text is NaN.
fn parts(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    if text.is_empty() {
        return Some(("", ""));
    }
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let Some(sum) = inner.strip_suffix('j') else { return Some((inner, "0")) };
    if sum.is_empty() {
        return None;
    }
    // Leading signs, of the number or of an exponent, do not separate the parts.
    let is_sign = |(at, sign): &(usize, char)| {
        let before = sum[..*at].chars().next_back();
        matches!(sign, '+' | '-') && !matches!(before, None | Some('e' | 'E'))
    };
    match sum.char_indices().rev().find(is_sign) {
        Some((at, _)) => Some(sum.split_at(at)),
        None => Some(("0", sum)),
    }
}

/// Parses opaque bytes, as two hexadecimal digits each.
fn digits(text: &str, dest: &mut [u8]) -> Option<()> {
    let pairs = text.as_bytes().chunks(2);
    (text.len() == 2 * dest.len()).then_some(())?;
    for (pair, byte) in pairs.zip(dest) {
        pair.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        let pair = core::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(())
}

/// Letters of four bytes.
fn letters(text: &str, dest: &mut [u8]) -> Option<()> {
    let mut slots = dest.chunks_exact_mut(4);
    for letter in text.chars() {
        slots.next()?.copy_from_slice(&u32::from(letter).to_le_bytes());
    }
    Some(())
}

/// Turns little-endian bytes into the byte order of the type.
fn turn(scalar: &Scalar, dest: &mut [u8]) {
    if scalar.order() == ByteOrder::Big {
        let width = if scalar.kind() == Kind::Unicode { 4 } else { dest.len().max(1) };
        dest.chunks_mut(width).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, dtype: &str) -> Option<Vec<u8>> {
        let dtype: Dtype = dtype.parse().unwrap();
        let mut dest = vec![0; dtype.itemsize()];
        encode(text.as_bytes(), &dtype, &mut dest).map(|()| dest)
    }

    #[test]
    fn numbers_fit_or_are_none() {
        assert_eq!(value("-128", "i1"), Some(vec![0x80]));
        assert_eq!(value("128", "i1"), None);
        assert_eq!(value("-129", "i1"), None);
        assert_eq!(value("255", "u1"), Some(vec![255]));
        assert_eq!(value("256", "u1"), None);
        assert_eq!(value("-1", "u8"), None);
        assert_eq!(value("-2", ">i4"), Some(vec![255, 255, 255, 254]));
        assert_eq!(value("9223372036854775808", "i8"), None);
        assert_eq!(value("1.5", "i4"), None);
        assert_eq!(value("1.5", ">f4"), Some(1.5_f32.to_be_bytes().to_vec()));
        assert_eq!(value("", "i4"), None);
    }

    #[test]
    fn text_fits_or_is_none() {
        assert_eq!(value("ä", ">U2"), Some(vec![0, 0, 0, 0xe4, 0, 0, 0, 0]));
        assert_eq!(value("äöü", "<U2"), None);
        assert_eq!(value("", "S2"), Some(vec![0, 0]));
        assert_eq!(value("abc", "S2"), None);
        assert_eq!(value("yes", "?"), None);
        assert!(!is_readable(&"O".parse().unwrap()));
    }

    #[test]
    fn complex_numbers_have_two_parts() {
        let c16 = |real: f64, imaginary: f64| {
            Some([real.to_le_bytes(), imaginary.to_le_bytes()].concat())
        };
        assert_eq!(value("1.5-2.25j", "c16"), c16(1.5, -2.25));
        assert_eq!(value("(-0.0-0.0j)", "c16"), c16(-0.0, -0.0));
        assert_eq!(value("1e-3+1e+300j", "c16"), c16(1e-3, 1e300));
        assert_eq!(value("-2j", "c16"), c16(0.0, -2.0));
        assert_eq!(value("7", "c16"), c16(7.0, 0.0));
        assert_eq!(value("inf-infj", "c16"), c16(f64::INFINITY, f64::NEG_INFINITY));
        let big = [1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat();
        assert_eq!(value("1.5-2j", ">c8"), Some(big));
        for text in ["1+2", "1.5-2.25i", "j", "1++2j"] {
            assert_eq!(value(text, "c16"), None, "{text}");
        }
    }

    #[test]
    fn halves_are_rounded_once_and_bytes_are_digits() {
        assert_eq!(value("0.0010004044", "f2"), Some(vec![0x19, 0x14]));
        assert_eq!(value("-inf", ">f2"), Some(vec![0xfc, 0]));
        assert_eq!(value("00ff7f", "V3"), Some(vec![0, 255, 127]));
        for text in ["", "00ff", "00ff7", "00ff7g", "+0ff7f"] {
            assert_eq!(value(text, "V3"), None, "{text}");
        }
    }

    #[test]
    fn times_are_counts_of_units() {
        assert_eq!(value("1970-01-02", "M8[D]"), Some(1_i64.to_le_bytes().to_vec()));
        assert_eq!(value("1970-01-01T00:00:01", ">M8[ms]"), Some(1000_i64.to_be_bytes().to_vec()));
        assert_eq!(value("NaT", "M8[D]"), Some(i64::MIN.to_le_bytes().to_vec()));
        assert_eq!(value("", "M8[D]"), Some(i64::MIN.to_le_bytes().to_vec()));
        assert_eq!(value("1970-01-01T01", "M8[D]"), None);
        assert_eq!(value("7", "M8"), Some(7_i64.to_le_bytes().to_vec()));
        assert_eq!(value("-7 s", "m8[s]"), Some((-7_i64).to_le_bytes().to_vec()));
        assert_eq!(value("7", "m8[s]"), Some(7_i64.to_le_bytes().to_vec()));
        assert_eq!(value("7 ms", "m8[s]"), None);
    }
}
