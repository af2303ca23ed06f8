//! Text to the bytes of an item.

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar};

use crate::render::date::Moment;

/// Can values of this type be read from text?
pub(super) fn is_readable(dtype: &Dtype) -> bool {
    let Some(scalar) = dtype.scalar() else { return false };
    match scalar.kind() {
        Kind::Bool | Kind::Bytes | Kind::Unicode => true,
        Kind::Int | Kind::Uint => dtype.itemsize() <= 8,
        Kind::Float => matches!(dtype.itemsize(), 4 | 8),
        Kind::DateTime | Kind::TimeDelta => dtype.itemsize() == 8,
        _ => false,
    }
}

/// Writes the value of `text` to `dest`, which has the size of an item; `None` if it is none of
/// this type. Nothing stands for NaN, for no date, and for empty text.
pub(super) fn encode(text: &[u8], dtype: &Dtype, dest: &mut [u8]) -> Option<()> {
    let scalar = dtype.scalar()?;
    dest.fill(0);
    if scalar.kind() == Kind::Bytes {
        return dest.get_mut(..text.len()).map(|dest| dest.copy_from_slice(text));
    }
    let text = core::str::from_utf8(text).ok()?;
    match (scalar.kind(), dest.len()) {
        (Kind::Unicode, _) => letters(text, dest)?,
        (Kind::Bool, _) => {
            *dest.first_mut()? = match text {
                "True" | "true" | "1" => 1,
                "False" | "false" | "0" => 0,
                _ => return None,
            }
        }
        (Kind::Int, len) => {
            let value: i64 = text.trim().parse().ok()?;
            let bytes = value.to_le_bytes();
            dest.copy_from_slice(bytes.get(..len)?);
            // Only the sign may have been cut off.
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
        (Kind::DateTime, 8) => dest.copy_from_slice(&date(text, scalar.unit())?.to_le_bytes()),
        (Kind::TimeDelta, 8) => dest.copy_from_slice(&span(text, scalar.unit())?.to_le_bytes()),
        _ => return None,
    }
    turn(scalar, dest);
    Some(())
}

/// The number that means that there is no date.
const NOT_A_TIME: i64 = i64::MIN;

/// A date, or the number of units without one.
fn date(text: &str, unit: Option<&str>) -> Option<i64> {
    if matches!(text, "" | "NaT") {
        return Some(NOT_A_TIME);
    }
    match unit {
        Some(unit) => Moment::parse(text.trim())?.count(unit),
        None => text.trim().parse().ok(),
    }
}

/// `3`, or `3 ns` where that is the unit.
fn span(text: &str, unit: Option<&str>) -> Option<i64> {
    if matches!(text, "" | "NaT") {
        return Some(NOT_A_TIME);
    }
    match text.trim().split_once(' ') {
        Some((count, given)) if Some(given) == unit => count.parse().ok(),
        Some(_) => None,
        None => text.trim().parse().ok(),
    }
}

fn number<T: core::str::FromStr>(text: &str, nothing: T) -> Option<T> {
    if text.is_empty() { Some(nothing) } else { text.trim().parse().ok() }
}

/// Letters of four bytes.
fn letters(text: &str, dest: &mut [u8]) -> Option<()> {
    let mut slots = dest.chunks_exact_mut(4);
    for letter in text.chars() {
        slots.next()?.copy_from_slice(&u32::from(letter).to_le_bytes());
    }
    Some(())
}

/// From the least significant byte first to the order of the type.
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
        assert!(!is_readable(&"c16".parse().unwrap()));
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
