//! The filters of numcodecs that change items, as read-only codecs of bytes.
//!
//! | id | an item is |
//! |---|---|
//! | `delta` | the sum of the stored numbers up to it |
//! | `fixedscaleoffset` | the stored number / `scale` + `offset` |
//! | `quantize`, `astype` | the stored number, in another type |
//! | `packbits` | a bit of a byte; the first byte is the number of bits after the last item |

use core::any::Any;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use blosc_dtype::numbers::{Number, NumberType};
use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar};
use serde_json::{Value, json};
use zarrs::array::codec::api::{
    Codec, CodecError, CodecMetadataOptions, CodecOptions, CodecPluginV3, CodecTraits,
    CodecTraitsV3, PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs::array::{ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits};
use zarrs::metadata::{Configuration, v3::MetadataV3};
use zarrs::plugin::{PluginCreateError, ZarrVersion};

use super::unsupported;

/// The name of the codec; it never stands in files.
pub(super) const NAME: &str = "b2-full.filter";

/// The operation of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Sum,
    Scale { scale: f64, offset: f64 },
    Type,
    Bits,
}

/// A filter as a codec.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    change: Change,
    /// Types of a stored number and of an item.
    stored: Scalar,
    item: Scalar,
}

zarrs::plugin::impl_extension_aliases!(Filter, v3: "b2-full.filter");

inventory::submit! {
    CodecPluginV3::new::<Filter>()
}

/// The configuration of the filter for a codec of numcodecs: `null` for a filter without effect,
/// `None` for a codec that is not a filter.
///
/// # Errors
///
/// Types that are not numeric.
pub(super) fn of_numcodecs(
    id: &str,
    metadata: &Value,
    dtype: Option<&Dtype>,
) -> io::Result<Option<Value>> {
    let (stored, item) = match id {
        "delta" | "fixedscaleoffset" | "quantize" => ("astype", "dtype"),
        "astype" => ("encode_dtype", "decode_dtype"),
        "packbits" => return Ok(Some(json!({"change": id, "stored": "|u1", "item": "|b1"}))),
        _ => return Ok(None),
    };
    let code = |key: &str| metadata.get(key).and_then(Value::as_str).map(code_of);
    let item = code(item).or_else(|| dtype.map(Dtype::to_string));
    let item = item.ok_or_else(|| unsupported(format!("the filter {id} without a type")))?;
    let stored = code(stored).unwrap_or_else(|| item.clone());
    let is_cast = matches!(id, "quantize" | "astype");
    if is_cast && stored == item {
        return Ok(Some(Value::Null));
    }
    for code in [&stored, &item] {
        if number_type(code).is_none() || item.ends_with("f2") {
            return Err(unsupported(format!("the filter {id} of items of the type {code}")));
        }
    }
    let number =
        |key: &str, default: f64| metadata.get(key).and_then(Value::as_f64).unwrap_or(default);
    let (scale, offset) = (number("scale", 1.0), number("offset", 0.0));
    Ok(Some(
        json!({"change": id, "stored": stored, "item": item, "scale": scale, "offset": offset}),
    ))
}

/// The code of NumPy; some programs write the name of a type of version 3 instead.
fn code_of(text: &str) -> String {
    let bits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let kind = text.strip_suffix(bits).unwrap_or_default();
    match (kind, bits.parse::<u32>()) {
        ("int" | "uint" | "float", Ok(bits)) => {
            format!("<{}{}", kind.get(..1).unwrap_or_default(), bits / 8)
        }
        _ => text.to_owned(),
    }
}

fn number_type(code: &str) -> Option<(Scalar, NumberType)> {
    let scalar = Scalar::parse(code).ok()?;
    let number = NumberType::new(&scalar)?;
    Some((scalar, number))
}

fn failed(text: impl core::fmt::Display) -> CodecError {
    CodecError::Other(text.to_string())
}

impl CodecTraitsV3 for Filter {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let configuration = metadata.configuration().cloned().unwrap_or_default();
        let wrong = || PluginCreateError::Other("a filter without its types".to_owned());
        let text = |key: &str| configuration.get(key).and_then(Value::as_str).ok_or_else(wrong);
        let number = |key: &str| configuration.get(key).and_then(Value::as_f64).ok_or_else(wrong);
        let change = match text("change")? {
            "delta" => Change::Sum,
            "fixedscaleoffset" => {
                Change::Scale { scale: number("scale")?, offset: number("offset")? }
            }
            "packbits" => Change::Bits,
            _ => Change::Type,
        };
        let scalar = |key| number_type(text(key)?).map(|(scalar, _)| scalar).ok_or_else(wrong);
        let filter = Self { change, stored: scalar("stored")?, item: scalar("item")? };
        Ok(Codec::BytesToBytes(Arc::new(filter)))
    }
}

impl CodecTraits for Filter {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(
        &self,
        _version: ZarrVersion,
        _options: &CodecMetadataOptions,
    ) -> Option<Configuration> {
        None
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for Filter {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        _decoded: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        // zarrs runs several chunks in parallel.
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        let stored = self.stored.itemsize().max(1) as u64;
        let item = self.item.itemsize().max(1) as u64;
        let nbytes = |nbytes: u64| match self.change {
            Change::Bits => nbytes.div_ceil(8).saturating_add(1),
            _ => nbytes.checked_div(item).unwrap_or(0).saturating_mul(stored),
        };
        match decoded {
            BytesRepresentation::FixedSize(size) => BytesRepresentation::FixedSize(nbytes(*size)),
            BytesRepresentation::BoundedSize(size) => {
                BytesRepresentation::BoundedSize(nbytes(*size))
            }
            BytesRepresentation::UnboundedSize => BytesRepresentation::UnboundedSize,
        }
    }

    fn encode<'a>(
        &self,
        _decoded: ArrayBytesRaw<'a>,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        Err(failed("filters are only read"))
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let items = match self.change {
            Change::Bits => bits(&encoded),
            _ => self.items(&encoded),
        };
        let expected = decoded.size().filter(|size| *size != items.len() as u64);
        match expected {
            None => Ok(Cow::Owned(items)),
            Some(expected) => Err(failed(format!(
                "{} bytes of items, of which the array has {expected}",
                items.len()
            ))),
        }
    }
}

/// One byte for each bit, the highest bit first.
fn bits(stored: &[u8]) -> Vec<u8> {
    let Some((padding, packed)) = stored.split_first() else { return vec![] };
    let mut items: Vec<u8> = packed
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte.wrapping_shr(bit) & 1))
        .collect();
    items.truncate(items.len().saturating_sub(usize::from(*padding)));
    items
}

impl Filter {
    fn items(&self, stored: &[u8]) -> Vec<u8> {
        let Some(number) = NumberType::new(&self.stored) else { return vec![] };
        let stored = stored.chunks_exact(self.stored.itemsize().max(1));
        let mut items = Vec::with_capacity(stored.len().saturating_mul(self.item.itemsize()));
        let mut sum = Number::Int(0);
        for item in stored {
            let value = number.read(item);
            let value = match self.change {
                Change::Sum => {
                    sum = self.rounded(added(sum, value));
                    sum
                }
                Change::Scale { scale, offset } => Number::Float(value.to_f64() / scale + offset),
                Change::Type | Change::Bits => value,
            };
            push(value, &self.item, &mut items);
        }
        items
    }

    /// A sum, rounded to the type of the items.
    #[allow(clippy::cast_possible_truncation, reason = "to the nearest float of the type")]
    fn rounded(&self, sum: Number) -> Number {
        match (self.item.kind(), self.item.itemsize()) {
            (Kind::Float, 8) => Number::Float(sum.to_f64()),
            (Kind::Float, _) => Number::Float(f64::from(sum.to_f64() as f32)),
            _ => sum,
        }
    }
}

fn added(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Number::Int(a.wrapping_add(b)),
        (a, b) => Number::Float(a.to_f64() + b.to_f64()),
    }
}

/// Appends a number as an item of a type, cast as NumPy does.
#[allow(clippy::cast_possible_truncation, reason = "NumPy cuts integers and rounds floats")]
fn push(value: Number, scalar: &Scalar, items: &mut Vec<u8>) {
    let mut item = match (scalar.kind(), scalar.itemsize()) {
        (Kind::Float, 8) => value.to_f64().to_le_bytes().to_vec(),
        (Kind::Float, _) => (value.to_f64() as f32).to_le_bytes().to_vec(),
        (kind, nbytes) => {
            let integer = match value {
                Number::Int(integer) => integer,
                Number::Float(float) => float as i128,
                Number::NotATime => i64::MIN.into(),
            };
            let integer = if kind == Kind::Bool { i128::from(integer != 0) } else { integer };
            let mut bytes = integer.to_le_bytes().to_vec();
            bytes.truncate(nbytes);
            bytes
        }
    };
    if scalar.order() == ByteOrder::Big {
        item.reverse();
    }
    items.append(&mut item);
}
