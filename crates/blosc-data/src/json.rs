//! Attributes and metadata as JSON.

pub mod attrs;
pub mod item;
pub mod msgpack;
mod values;

pub use values::{map, plain, value};

use b2frame::SChunk;
use b2frame::nd::NdMeta;
use blosc_dtype::Dtype;
use serde_json::{Map, Value};

use crate::error::Result;

/// Metalayers that describe the array itself.
pub(crate) const ARRAY_LAYERS: [&str; 2] = [NdMeta::NAME, NdMeta::OLD_NAME];

/// A type in the spelling of documents: `<f8`, also for `float64` of bcolz.
#[must_use]
pub fn dtype_text(dtype: &Dtype) -> String {
    match dtype.scalar() {
        Some(scalar) if !dtype.has_objects() => scalar.to_string(),
        _ => dtype.to_string(),
    }
}

/// Characters of a value in a line for people.
const MAX_SHOWN_CHARS: usize = 400;

/// A value as text for people; a long one is cut, with its length.
#[must_use]
pub fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}... ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// The metalayers and vlmetalayers of a frame, without those that describe an array. A metalayer
/// hides a vlmetalayer of the same name.
///
/// # Errors
///
/// A vlmetalayer that does not decode.
pub fn layers(schunk: &SChunk) -> Result<Map<String, Value>> {
    let mut map = Map::new();
    for layer in schunk.meta().iter() {
        let name = layer.name_text().into_owned();
        if !ARRAY_LAYERS.contains(&name.as_str()) {
            map.insert(name, msgpack::to_same_value(layer.content));
        }
    }
    for layer in schunk.vlmeta().stored().iter() {
        let content = schunk.vlmeta().decode(layer)?;
        map.entry(layer.name_text().into_owned())
            .or_insert_with(|| msgpack::to_same_value(&content));
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shortened() {
        assert_eq!(shortened(&Value::from("x".repeat(398))), format!("{:?}", "x".repeat(398)));
        let long = shortened(&Value::from("\u{e4}".repeat(60_000)));
        assert!(long.ends_with("\u{e4}... (60002 characters)") && long.len() < 900, "{long}");
    }
}
