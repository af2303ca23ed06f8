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

/// A type as documents write it: `<f8`, where bcolz writes `float64`.
#[must_use]
pub fn dtype_text(dtype: &Dtype) -> String {
    match dtype.scalar() {
        Some(scalar) if !dtype.has_objects() => scalar.to_string(),
        _ => dtype.to_string(),
    }
}

/// The metalayers and vlmetalayers of a frame, without those that describe an array. A fixed
/// metalayer hides a variable one of its name.
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
