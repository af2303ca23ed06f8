//! Fill values: `dflt` of `meta/storage` as bytes, and bcolz's default for it.
#![cfg_attr(
    not(test),
    expect(clippy::arithmetic_side_effects, reason = "sizes of a dtype that was parsed")
)]

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar};

use crate::error::{Corrupt, Error, Result};
use crate::layout::Layout;
use blosc_dtype::json::Json;

/// One row of fill values. Releases before 1.1.0 wrote a list with the shape of a row; later ones
/// write a single value.
pub(crate) fn row(layout: &Layout, dflt: Option<&Json>, path: &str) -> Result<Vec<u8>> {
    let itemsize = layout.dtype.itemsize();
    let count = layout.rowsize / itemsize.max(1);
    let dflt = dflt.unwrap_or(&Json::Null);
    if let Some(item) = item(&layout.dtype, dflt) {
        return Ok(item.repeat(count));
    }
    let mut bytes = Vec::new();
    let is_whole =
        flatten(&layout.dtype, dflt, &mut bytes).is_some() && bytes.len() == layout.rowsize;
    if is_whole {
        return Ok(bytes);
    }
    Err(Error::corrupt(path, Corrupt::Dflt { value: dflt.to_string() }))
}

/// The default fill value of a type, as bcolz writes it.
pub(crate) fn zero(dtype: &Dtype) -> Json {
    if let Some((base, _)) = dtype.subarray() {
        return zero(base);
    }
    match dtype.kind() {
        Some(Kind::Float | Kind::Complex) => Json::Float(0.0),
        Some(Kind::Bool) => Json::Bool(false),
        Some(Kind::Bytes | Kind::Unicode) => Json::String(String::new()),
        Some(Kind::Void) => Json::String("\0".repeat(dtype.itemsize())),
        Some(_) => Json::Int(0),
        None => Json::Array(dtype.fields().iter().map(|field| zero(field.dtype())).collect()),
    }
}

fn flatten(dtype: &Dtype, json: &Json, bytes: &mut Vec<u8>) -> Option<()> {
    match item(dtype, json) {
        Some(item) => bytes.extend(item),
        None => json.as_array()?.iter().try_for_each(|json| flatten(dtype, json, bytes))?,
    }
    Some(())
}

/// The bytes of an item; `None` if the value is not one of its type.
fn item(dtype: &Dtype, json: &Json) -> Option<Vec<u8>> {
    if *json == Json::Null {
        return Some(vec![0; dtype.itemsize()]);
    }
    if let Some(scalar) = dtype.scalar() {
        return scalar_item(scalar, json);
    }
    if let Some((base, _)) = dtype.subarray() {
        let count = dtype.itemsize() / base.itemsize().max(1);
        return item(base, json).map(|item| item.repeat(count)).or_else(|| {
            let mut bytes = Vec::new();
            flatten(base, json, &mut bytes)
                .filter(|()| bytes.len() == dtype.itemsize())
                .map(|()| bytes)
        });
    }
    let values = json.as_array().filter(|values| values.len() == dtype.fields().len())?;
    let mut bytes = vec![0; dtype.itemsize()];
    for (field, value) in dtype.fields().iter().zip(values) {
        let end = field.offset() + field.dtype().itemsize();
        bytes.get_mut(field.offset()..end)?.copy_from_slice(&item(field.dtype(), value)?);
    }
    Some(bytes)
}

fn scalar_item(scalar: &Scalar, json: &Json) -> Option<Vec<u8>> {
    let itemsize = scalar.itemsize();
    let mut bytes = match scalar.kind() {
        Kind::Bool => vec![u8::from(truth(json)?)],
        Kind::Int | Kind::DateTime | Kind::TimeDelta => {
            integer(json, -(1 << (8 * itemsize - 1)), itemsize)?
        }
        Kind::Uint => integer(json, 0, itemsize)?,
        Kind::Float => float(json.as_f64()?, itemsize)?,
        Kind::Complex => [float(json.as_f64()?, itemsize / 2)?, vec![0; itemsize / 2]].concat(),
        Kind::Bytes | Kind::Void => latin1(json.as_str()?)?,
        Kind::Unicode => json.as_str()?.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        _ => return None,
    };
    if bytes.len() > itemsize {
        return None;
    }
    bytes.resize(itemsize, 0);
    if scalar.order() == ByteOrder::Big {
        let unit = match scalar.kind() {
            Kind::Unicode => 4,
            Kind::Complex => itemsize / 2,
            _ => itemsize,
        };
        bytes.chunks_mut(unit.max(1)).for_each(<[u8]>::reverse);
    }
    Some(bytes)
}

fn truth(json: &Json) -> Option<bool> {
    match json {
        Json::Bool(value) => Some(*value),
        _ => json.as_int().map(|value| value != 0),
    }
}

/// The low bytes of a number that fits into `itemsize` bytes, signed if `min` is negative.
fn integer(json: &Json, min: i128, itemsize: usize) -> Option<Vec<u8>> {
    let value = json.as_int().or_else(|| whole(json.as_f64()?))?;
    let width = 8 * itemsize;
    let end = if min < 0 { 1 << (width - 1) } else { 1_i128 << width };
    (min..end).contains(&value).then(|| value.to_le_bytes().into_iter().take(itemsize).collect())
}

#[expect(clippy::cast_possible_truncation, reason = "the value is whole and far inside of an i128")]
fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 1e30).then_some(value as i128)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to the type of the items is what is wanted"
)]
fn float(value: f64, itemsize: usize) -> Option<Vec<u8>> {
    match itemsize {
        2 => Some(half::f16::from_f64(value).to_le_bytes().to_vec()),
        4 => Some((value as f32).to_le_bytes().to_vec()),
        8 => Some(value.to_le_bytes().to_vec()),
        // Long doubles differ between machines, but for their zero.
        _ => (value == 0.0).then(|| vec![0; itemsize]),
    }
}

fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(dtype: &str, json: &str) -> Option<Vec<u8>> {
        item(&Dtype::parse(dtype).unwrap(), &blosc_dtype::json::parse(json.as_bytes()).unwrap())
    }

    #[test]
    fn values_of_every_kind_become_items() {
        for (dtype, json, expected) in [
            ("<i2", "-2", vec![0xfe, 0xff]),
            (">i2", "258", vec![1, 2]),
            ("<u8", "18446744073709551615", vec![0xff; 8]),
            ("|b1", "true", vec![1]),
            ("<f4", "-Infinity", f32::NEG_INFINITY.to_le_bytes().to_vec()),
            (">f8", "1", 1.0_f64.to_be_bytes().to_vec()),
            ("<f2", "1.0", vec![0, 0x3c]),
            ("<c8", "1", vec![0, 0, 0x80, 0x3f, 0, 0, 0, 0]),
            ("|S3", "\"ab\"", b"ab\0".to_vec()),
            (">U2", "\"\\u00e9\"", vec![0, 0, 0, 0xe9, 0, 0, 0, 0]),
            ("|V2", "\"\\u0001\\u00ff\"", vec![1, 0xff]),
            ("[('a', '<i2'), ('b', '|S1', (2,))]", "[1, [\"x\", \"y\"]]", b"\x01\0xy".to_vec()),
            ("[('a', '<i2'), ('b', '|S1', (2,))]", "[1, \"x\"]", b"\x01\0xx".to_vec()),
            ("<m8[s]", "0", vec![0; 8]),
            ("<i4", "null", vec![0; 4]),
        ] {
            assert_eq!(bytes(dtype, json), Some(expected), "{dtype} {json}");
        }
    }

    #[test]
    fn values_of_another_type_are_none() {
        for (dtype, json) in [
            ("|i1", "128"),
            ("|u1", "-1"),
            ("|u1", "256"),
            ("<i4", "0.5"),
            ("<i4", "\"1\""),
            ("<f8", "\"1\""),
            ("|S1", "\"ab\""),
            ("|S1", "\"\\u0100\""),
            ("[('a', '<i2')]", "[1, 2]"),
            ("|b1", "\"\""),
        ] {
            assert_eq!(bytes(dtype, json), None, "{dtype} {json}");
        }
    }

    #[test]
    fn the_zero_of_a_type_is_a_value_of_it() {
        for dtype in [
            "<i4",
            "<f8",
            "|b1",
            "|S3",
            "<U3",
            "|V2",
            "<M8[s]",
            "<c16",
            "[('a', '<i2'), ('b', '<U1', (2,))]",
        ] {
            let dtype = Dtype::parse(dtype).unwrap();
            assert_eq!(item(&dtype, &zero(&dtype)), Some(vec![0; dtype.itemsize()]));
        }
    }
}
