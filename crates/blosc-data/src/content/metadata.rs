//! Metadata in a form for conversion between formats.
//!
//! | here | in a frame | in a Bloscpack file |
//! |---|---|---|
//! | `fixed` | metalayers, but for that of arrays | `{"metalayers": {...}}` |
//! | `variable` | vlmetalayers | `{"vlmetalayers": {...}}` |
//! | `json` | the vlmetalayer `bloscpack`, as MessagePack | everything else |
//!
//! Values in a Bloscpack file are JSON in the form of `info --json`. The way there and back
//! restores the bytes.

use b2frame::{FrameParams, SChunk, metalayers::Metalayer, nd::NdMeta};
use bloscpack::numpy::ArrayInfo;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::formats::blp::Blp;
use crate::json::msgpack as msgpack_json;

/// A metalayer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The name of the metalayer.
    pub name: String,
    /// MessagePack, or the bytes that were given.
    pub content: Vec<u8>,
}

/// The vlmetalayer in which python-blosc2 describes an array.
const TENSOR: &str = "__pack_tensor__";
/// The vlmetalayer that holds the metadata of a Bloscpack file.
const BLOSCPACK: &str = "bloscpack";
/// Keys in a Bloscpack file.
const FIXED: &str = "metalayers";
const VARIABLE: &str = "vlmetalayers";
/// Keys that describe an array in a Bloscpack file.
const ARRAY: [&str; 4] = ["dtype", "shape", "order", "container"];

/// Metadata of any format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// Metalayers, without the one that describes an array.
    pub fixed: Vec<Layer>,
    /// Metalayers of variable size.
    pub variable: Vec<Layer>,
    /// Metadata without names.
    pub json: Option<Value>,
    /// Whether these are attributes of bcolz.
    pub attributes: bool,
}

impl Metadata {
    /// The metadata of a frame.
    ///
    /// # Errors
    ///
    /// When a vlmetalayer does not decode.
    pub fn of_frame(schunk: &SChunk) -> Result<Self> {
        let layer =
            |layer: Metalayer<'_>, content| Layer { name: layer.name_text().into_owned(), content };
        let is_array = |layer: &Metalayer<'_>| {
            layer.name == NdMeta::NAME.as_bytes() || layer.name == NdMeta::OLD_NAME.as_bytes()
        };
        let fixed = schunk.meta().iter().filter(|known| !is_array(known));
        let mut metadata = Self {
            fixed: fixed.map(|known| layer(known, known.content.to_vec())).collect(),
            ..Self::default()
        };
        for known in schunk.vlmeta().stored().iter() {
            let content = schunk.vlmeta().decode(known)?;
            match (known.name_text().as_ref(), exact(&content)) {
                (BLOSCPACK, Some(value)) => metadata.json = Some(value),
                _ => metadata.variable.push(layer(known, content)),
            }
        }
        Ok(metadata)
    }

    /// The metadata of a Bloscpack file.
    pub fn of_blp(blp: &Blp) -> Self {
        let value = blp.file.metadata().and_then(|metadata| metadata.json());
        value.cloned().map(Self::of_json).unwrap_or_default()
    }

    fn of_json(mut value: Value) -> Self {
        let mut metadata = Self::default();
        if let Some(map) = value.as_object_mut() {
            for (key, layers) in [(FIXED, &mut metadata.fixed), (VARIABLE, &mut metadata.variable)]
            {
                if map.get(key).is_some_and(is_layers) {
                    let named = map.shift_remove(key).and_then(|named| named.as_object().cloned());
                    let named = named.into_iter().flatten();
                    layers.extend(named.map(|(name, value)| Layer {
                        name,
                        content: msgpack_json::from_json(&value),
                    }));
                }
            }
            // Nothing but metalayers is left; an empty object still counts.
            if map.is_empty() && metadata != Self::default() {
                return metadata;
            }
        }
        metadata.json = Some(value);
        metadata
    }

    /// The attributes of a data set of bcolz, as vlmetalayers if their names are short enough.
    pub fn of_attrs(attrs: Map<String, Value>) -> Self {
        let fits = |name: &str| (1..=MAX_NAME).contains(&name.len()) && name != BLOSCPACK;
        let (short, long): (Vec<_>, Vec<_>) = attrs.into_iter().partition(|(name, _)| fits(name));
        let layer = |(name, value)| Layer { name, content: msgpack_json::from_json(&value) };
        let json = (!long.is_empty()).then(|| Value::Object(long.into_iter().collect()));
        Self {
            fixed: vec![],
            variable: short.into_iter().map(layer).collect(),
            json,
            attributes: true,
        }
    }

    /// All values with their names.
    pub fn values(self) -> Vec<(String, Value)> {
        let layers = self.fixed.into_iter().chain(self.variable);
        let named = layers.map(|layer| (layer.name, shown(&layer.content)));
        let more = match self.json {
            Some(Value::Object(map)) => map.into_iter().collect(),
            Some(value) => vec![(BLOSCPACK.to_owned(), value)],
            None => vec![],
        };
        named.chain(more).collect()
    }

    /// The array that the metadata describe, if any.
    pub fn array(&self) -> Option<ArrayInfo> {
        let of_blp = |value| ArrayInfo::from_metadata(value).ok().flatten();
        self.json.as_ref().and_then(of_blp).or_else(|| self.tensor())
    }

    /// The array that python-blosc2 describes in a frame without dimensions: a tuple of a library's
    /// name, a shape and a type.
    pub fn tensor(&self) -> Option<ArrayInfo> {
        let layer = self.variable.iter().find(|layer| layer.name == TENSOR)?;
        let Value::Array(parts) = without_tags(shown(&layer.content)) else { return None };
        let [library, shape, dtype] = &parts[..] else { return None };
        if !["numpy", "torch", "tensorflow"].contains(&library.as_str()?) {
            return None;
        }
        let described = serde_json::json!({
            "container": "numpy", "dtype": dtype, "shape": shape, "order": "C"
        });
        ArrayInfo::from_metadata(&described).ok().flatten()
    }

    /// The metadata without the description of an array.
    pub fn without_array(mut self) -> Self {
        if let Some(map) = self.json.as_mut().and_then(Value::as_object_mut) {
            ARRAY.iter().for_each(|key| drop(map.shift_remove(*key)));
            if map.is_empty() {
                self.json = None;
            }
        }
        self.variable.retain(|layer| layer.name != TENSOR);
        self
    }

    /// Names of everything, for messages.
    pub fn names(&self) -> Vec<String> {
        let layers = self.fixed.iter().chain(&self.variable);
        let word = if self.attributes { "attribute" } else { "metalayer" };
        let names = layers.map(|layer| format!("the {word} `{}`", layer.name));
        names.chain(self.json.as_ref().map(|_| "the metadata".to_owned())).collect()
    }

    /// Adds the metalayers to `params` of a frame.
    pub fn add_to(&self, params: FrameParams) -> FrameParams {
        let unnamed = self.json.as_ref().map(|value| Layer {
            name: BLOSCPACK.to_owned(),
            content: msgpack_json::from_json(value),
        });
        let fixed = self.fixed.iter().cloned();
        let params =
            fixed.fold(params, |params, layer| params.metalayer(layer.name, layer.content));
        let variable = self.variable.iter().cloned().chain(unnamed);
        variable.fold(params, |params, layer| params.vlmetalayer(layer.name, layer.content))
    }

    /// The metadata of a Bloscpack file, with or without an array; `None` if they are empty.
    ///
    /// # Errors
    ///
    /// An array that Bloscpack cannot describe.
    pub fn into_json(self, array: Option<&ArrayInfo>) -> Result<Option<Value>> {
        let mut parts = Map::new();
        if let Some(Value::Object(array)) = array.map(ArrayInfo::to_metadata).transpose()? {
            parts.extend(array);
        }
        for (key, layers) in [(FIXED, self.fixed), (VARIABLE, self.variable)] {
            if !layers.is_empty() {
                let values = layers.into_iter().map(|layer| (layer.name, shown(&layer.content)));
                parts.insert(key.to_owned(), Value::Object(values.collect()));
            }
        }
        Ok(match self.json {
            None if parts.is_empty() => None,
            Some(value) if parts.is_empty() => Some(value),
            None => Some(Value::Object(parts)),
            Some(Value::Object(mut map)) => {
                map.extend(parts);
                Some(Value::Object(map))
            }
            // A value other than an object gets the name that it has in a frame.
            Some(value) => {
                let layers = parts.entry(VARIABLE).or_insert_with(|| Value::Object(Map::new()));
                layers
                    .as_object_mut()
                    .into_iter()
                    .for_each(|map| drop(map.insert(BLOSCPACK.into(), value.clone())));
                Some(Value::Object(parts))
            }
        })
    }
}

/// Fits attributes of another format into a frame or a group: attributes beyond the limit, or with
/// long names, become one object.
pub fn within_limits(attrs: Map<String, Value>) -> Map<String, Value> {
    let fits = |name: &String| (1..=MAX_NAME).contains(&name.len()) && name != BLOSCPACK;
    if attrs.len() <= MAX_ATTRIBUTES && attrs.keys().all(fits) {
        return attrs;
    }
    let (mut kept, mut others) = (Map::new(), Map::new());
    for (name, value) in attrs {
        let has_room = kept.len() < MAX_ATTRIBUTES.saturating_sub(1) && name != OTHERS;
        let map = if has_room && fits(&name) { &mut kept } else { &mut others };
        map.insert(name, value);
    }
    kept.insert(OTHERS.to_owned(), Value::Object(others));
    kept
}

/// Attributes with names of their own: a frame holds 16, and the seal takes one.
const MAX_ATTRIBUTES: usize = 15;
/// The name of the object with the other attributes.
const OTHERS: &str = "attrs";

/// Whether a value can hold metalayers.
fn is_layers(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.keys().all(|name| (1..=MAX_NAME).contains(&name.len())))
}

/// Bytes of the name of a metalayer.
const MAX_NAME: usize = 31;

/// The content of a metalayer as JSON, from which it can be restored.
fn shown(content: &[u8]) -> Value {
    exact(content).unwrap_or_else(|| msgpack_json::base64_object(content))
}

/// The value, if its encoding is the one that we would write.
fn exact(content: &[u8]) -> Option<Value> {
    Some(msgpack_json::to_json(content)).filter(|value| msgpack_json::from_json(value) == content)
}

/// Lists without the tags that mark tuples.
fn without_tags(value: Value) -> Value {
    let Value::Array(mut values) = value else { return value };
    if values.first().and_then(Value::as_str) == Some("__tuple__") {
        values.remove(0);
    }
    Value::Array(values.into_iter().map(without_tags).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn layer(name: &str, content: &[u8]) -> Layer {
        Layer { name: name.into(), content: content.to_vec() }
    }

    fn there_and_back(metadata: &Metadata) -> Metadata {
        metadata.clone().into_json(None).unwrap().map(Metadata::of_json).unwrap_or_default()
    }

    #[test]
    fn metalayers_go_to_bloscpack_and_back() {
        for metadata in [
            Metadata::default(),
            Metadata { fixed: vec![layer("kind", b"\xa4demo")], ..Metadata::default() },
            Metadata {
                fixed: vec![
                    layer("long form", b"\xcc\x01"),
                    layer("bytes", b"\xc1\xc1"),
                    layer("none", b""),
                ],
                variable: vec![layer("note", b"\x92\x01\x02")],
                attributes: false,
                json: Some(json!({ "mine": [1, 2.5, null] })),
            },
            Metadata { json: Some(json!("text")), ..Metadata::default() },
        ] {
            assert_eq!(there_and_back(&metadata), metadata);
        }
    }

    #[test]
    fn metadata_of_bloscpack_go_to_frames_and_back() {
        for value in [
            json!({}),
            json!({"a": 1, "b": {"c": []}}),
            json!([1, 2]),
            json!("x"),
            json!({"metalayers": 7}),
        ] {
            let params = Metadata::of_json(value.clone()).add_to(FrameParams::default());
            let frame = b2frame::to_cframe(b"", &params).unwrap();
            let schunk = SChunk::from_cframe(frame).unwrap();
            let layers = schunk.vlmeta().stored().iter();
            let names: Vec<_> = layers.map(|layer| layer.name_text().into_owned()).collect();
            assert_eq!(names, [BLOSCPACK]);
            assert_eq!(Metadata::of_frame(&schunk).unwrap().json, Some(value));
        }
    }

    #[test]
    fn attributes_without_room_become_one_object() {
        let named = |names: &[String]| -> Map<String, Value> {
            names.iter().map(|name| (name.clone(), json!(name))).collect()
        };
        let names: Vec<String> = (0..20).map(|n| format!("a{n:02}")).collect();
        let long = "x".repeat(MAX_NAME + 1);
        assert_eq!(within_limits(named(&names[..15])), named(&names[..15]));
        let kept = within_limits(named(&names));
        assert_eq!((kept.len(), &kept["a13"]), (15, &json!("a13")));
        assert_eq!(kept[OTHERS], Value::Object(named(&names[14..])));
        let kept = within_limits(named(&[long.clone(), "b".to_owned(), OTHERS.to_owned()]));
        assert_eq!(kept[OTHERS], Value::Object(named(&[long, OTHERS.to_owned()])));
        assert_eq!((kept.len(), &kept["b"]), (2, &json!("b")));
    }

    #[test]
    fn metadata_of_an_array_are_its_own() {
        let info =
            ArrayInfo::new("<f8".parse().unwrap(), vec![2, 3], bloscpack::numpy::Order::C).unwrap();
        let metadata = Metadata { json: Some(json!({ "unit": "K" })), ..Metadata::default() };
        let value = metadata.clone().into_json(Some(&info)).unwrap().unwrap();
        assert_eq!(value["shape"], json!([2, 3]));
        assert_eq!(Metadata::of_json(value).without_array(), metadata);
    }
}
