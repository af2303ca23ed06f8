//! Metalayers from the command line and from a file.

use std::fs;

use blosc_data::content::Metadata;
use serde_json::Value;

use crate::{
    args::{Layer, TuningArgs},
    error::{Doing, Error, MetadataError, Result, message},
    formats::msgpack_json,
    metadata,
};

/// Names of the metalayer that describes an array: now, and in the betas.
const RESERVED: [&str; 2] = ["b2nd", "caterva"];

/// Whether there are metalayers to write.
pub(super) fn is_wanted(tuning: &TuningArgs) -> bool {
    !tuning.meta.is_empty() || !tuning.vlmeta.is_empty() || tuning.meta_file.is_some()
}

/// The metalayers of every frame to write: those of the file, then those of the command line, which
/// replace layers of the same name.
///
/// # Errors
///
/// When the file cannot be read, or holds something else.
pub(super) fn from_options(tuning: &TuningArgs) -> Result<Metadata> {
    let mut metadata = Metadata::default();
    if let Some(path) = &tuning.meta_file {
        let bytes = fs::read(path).map_err(Error::io_at(Doing::Open, path))?;
        read(&bytes, &mut metadata).map_err(|what| Error::Metadata { path: path.clone(), what })?;
    }
    tuning.meta.iter().for_each(|layer| set_layer(&mut metadata.fixed, layer.clone()));
    tuning.vlmeta.iter().for_each(|layer| set_layer(&mut metadata.variable, layer.clone()));
    match metadata.fixed.iter().find(|layer| RESERVED.contains(&layer.name.as_str())) {
        Some(layer) => Err(message::RESERVED_METALAYER.about(&layer.name)),
        None => Ok(metadata),
    }
}

fn read(bytes: &[u8], metadata: &mut Metadata) -> Result<(), MetadataError> {
    let Value::Object(document) = metadata::from_json(bytes)? else {
        return Err(MetadataError::Shape);
    };
    for (key, layers) in document {
        let Value::Object(layers) = layers else { return Err(MetadataError::Shape) };
        let kind = match key.as_str() {
            "metalayers" => &mut metadata.fixed,
            "vlmetalayers" => &mut metadata.variable,
            _ => return Err(MetadataError::Key { key }),
        };
        for (name, value) in layers {
            set_layer(kind, Layer { name, content: msgpack_json::from_json(&value) });
        }
    }
    Ok(())
}

/// Adds a layer, or replaces the one of its name.
fn set_layer(layers: &mut Vec<Layer>, layer: Layer) {
    match layers.iter_mut().find(|known| known.name == layer.name) {
        Some(known) => *known = layer,
        None => layers.push(layer),
    }
}
