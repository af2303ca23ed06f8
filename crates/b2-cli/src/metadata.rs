//! All metadata of a file as one JSON document, and the differences between two documents.

use blosc_data::{OpenOptions, Opened};
use blosc_dtype::json::wide_integer;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    console::Console,
    error::{Error, MetadataError, Result, WideInteger, message},
    formats::{msgpack_json, store},
    inputs::{Object, ObjectReader, OpenedInput, Origin, Part},
    render::{Align, escape::json_safe, harmless, json_text, text_table::pad},
};

/// Names of the metalayer that describes an array: now, and in the betas.
const RESERVED: [&str; 2] = ["b2nd", "caterva"];

/// The two kinds of metalayers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of fixed size, in the header.
    Fixed,
    /// Of variable size, in the trailer.
    Variable,
}

/// A change of metadata.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// Sets the value of a name.
    Set { kind: Option<Kind>, name: String, value: Value },
    /// Removes a name.
    Delete { kind: Option<Kind>, name: String },
    /// Replaces the metadata of a Bloscpack file, or removes them (`null`).
    Replace(Value),
}

impl Change {
    /// The changed name; `None` if the change is of everything.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Set { name, .. } | Self::Delete { name, .. } => Some(name),
            Self::Replace(_) => None,
        }
    }
}

/// All metadata. A kind that the file cannot have is missing; a missing kind is not changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    metalayers: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vlmetalayers: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
    /// The description of the array, shown by name only.
    #[serde(skip)]
    reserved: Map<String, Value>,
}

/// The JSON document.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.meta/1")]
pub(crate) struct MetaReport<'a> {
    path: &'a str,
    #[serde(flatten)]
    document: &'a Document,
}

/// The owner of the metadata of an input.
pub(crate) enum Owner {
    Object(Object),
    /// A group or a table of a store.
    Group,
}

/// The metadata of an input, and their owner.
///
/// # Errors
///
/// When the input cannot be opened, or cannot hold metadata.
pub(crate) fn of_input(origin: &Origin, params: OpenOptions) -> Result<(Owner, Document)> {
    if let Some(document) = of_group(origin, params.clone())? {
        return Ok((Owner::Group, document));
    }
    let object = ObjectReader::open(origin, params)?.next()?;
    let object = object.ok_or(Error::NotBlosc { start: vec![] })?;
    let document = Document::from_object(&object)?;
    Ok((Owner::Object(object), document))
}

/// The attributes of a group or a table; a whole store means its root. `None` for arrays (their
/// metadata are in the frame) and outside of stores.
fn of_group(origin: &Origin, params: OpenOptions) -> Result<Option<Document>> {
    let (path, key) = match origin {
        Origin::File { path, part: Part::Whole } if path.is_store() => (path, "/"),
        Origin::File { path, part: Part::Member(key) } => (path, key.as_str()),
        Origin::Opened(OpenedInput { opened: Opened::Group(group), .. }) => {
            return Ok(Some(Document::of_attributes(group.attributes.clone())));
        }
        _ => return Ok(None),
    };
    let store = store::open(path, params)?;
    let found = if store.tables().any(|table| table == key) {
        store.table(key)?.attributes()?
    } else if key == "/" || store.groups().contains(key) {
        store.attributes(key)?
    } else {
        return Ok(None);
    };
    Ok(Some(Document::of_attributes(blosc_data::json::map(&found))))
}

/// The value of a JSON text that the user has written.
///
/// # Errors
///
/// A text that is not JSON; an integer that would be rounded.
pub(crate) fn from_json(text: &[u8]) -> Result<Value, MetadataError> {
    let value = serde_json::from_slice(text)?;
    let wide = core::str::from_utf8(text).ok().and_then(wide_integer);
    wide.map_or(Ok(value), |number| Err(WideInteger(number.to_owned()).into()))
}

/// The value on a command line: JSON, or else text.
///
/// # Errors
///
/// An integer that would be rounded.
pub(crate) fn json_or_text(text: &str) -> Result<Value, WideInteger> {
    match from_json(text.as_bytes()) {
        Err(MetadataError::WideInteger(error)) => Err(error),
        value => Ok(value.unwrap_or_else(|_| text.into())),
    }
}

/// Warns of a value that looks like a number JSON does not have, and is kept as text.
pub(crate) fn tell_of_text(console: &Console, file: &str, name: &str, value: &Value) {
    if let Some(text @ ("NaN" | "Infinity" | "-Infinity")) = value.as_str() {
        let text = format!("{name}: {text} becomes text, since JSON has no such number");
        console.warning(file, &text);
    }
}

impl Document {
    /// The names of all metadata.
    pub(crate) fn names(&self) -> Vec<String> {
        let other = self.metadata.as_ref().and_then(Value::as_object);
        let maps = [self.metalayers.as_ref(), self.vlmetalayers.as_ref(), other];
        maps.into_iter().flatten().flat_map(|map| map.keys().cloned()).collect()
    }

    /// The metadata of an object.
    ///
    /// # Errors
    ///
    /// When the object cannot hold metadata, or they do not decode.
    pub(crate) fn from_object(object: &Object) -> Result<Self> {
        match object {
            Object::Frame(schunk) => {
                let (mut fixed, mut variable, mut reserved) = (Map::new(), Map::new(), Map::new());
                for layer in schunk.meta().iter() {
                    let name = layer.name_text().into_owned();
                    let is_reserved = RESERVED.contains(&name.as_str());
                    let map = if is_reserved { &mut reserved } else { &mut fixed };
                    map.entry(name).or_insert_with(|| msgpack_json::to_same_value(layer.content));
                }
                for layer in schunk.vlmeta().stored().iter() {
                    let content = schunk.vlmeta().decode(layer)?;
                    variable
                        .entry(layer.name_text())
                        .or_insert_with(|| msgpack_json::to_same_value(&content));
                }
                Ok(Self {
                    metalayers: Some(fixed),
                    vlmetalayers: Some(variable),
                    metadata: None,
                    reserved,
                })
            }
            Object::Blp(blp) => {
                let value = blp.file.metadata().and_then(|metadata| metadata.json()).cloned();
                Ok(Self { metadata: Some(value.unwrap_or(Value::Null)), ..Self::default() })
            }
            Object::Bcolz(set) => Ok(Self::of_attributes(set.attrs_json()?)),
            Object::Table(rows) => Ok(Self::of_attributes(rows.attributes()?)),
            Object::Opened(array) => Ok(Self::of_attributes(array.attributes()?)),
            Object::Chunk(_) => Err(message::CHUNK_HAS_NO_METADATA.error()),
        }
    }

    /// Attributes: names without kinds.
    pub(crate) fn of_attributes(map: Map<String, Value>) -> Self {
        Self { metadata: Some(Value::Object(map)), ..Self::default() }
    }

    /// Parses a document.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a document.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        Self::parts(bytes).map_err(|what| Error::Metadata { path: "standard input".into(), what })
    }

    fn parts(bytes: &[u8]) -> Result<Self, MetadataError> {
        let Value::Object(parts) = from_json(bytes)? else {
            return Err(MetadataError::Shape);
        };
        let mut document = Self::default();
        for (key, value) in parts {
            match (key.as_str(), value) {
                ("metalayers", Value::Object(map)) => document.metalayers = Some(map),
                ("vlmetalayers", Value::Object(map)) => document.vlmetalayers = Some(map),
                ("metadata", value) => document.metadata = Some(value),
                // `get --json` and `info --json` add these keys.
                ("schema" | "path", _) => {}
                ("metalayers" | "vlmetalayers", _) => return Err(MetadataError::Shape),
                _ => return Err(MetadataError::Key { key }),
            }
        }
        Ok(document)
    }

    /// The document with this kind of metalayers only.
    pub(crate) fn only(&self, kind: Option<Kind>) -> Self {
        let document = self.clone();
        match kind {
            Some(Kind::Fixed) => Self { vlmetalayers: None, ..document },
            Some(Kind::Variable) => Self { metalayers: None, reserved: Map::new(), ..document },
            None => document,
        }
    }

    /// The value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let in_object = || self.metadata.as_ref()?.get(name);
        let layer = |map: &'_ Option<Map<String, Value>>| {
            map.as_ref().is_some_and(|map| map.contains_key(name))
        };
        match (layer(&self.metalayers), layer(&self.vlmetalayers)) {
            (true, _) => self.metalayers.as_ref()?.get(name),
            (_, true) => self.vlmetalayers.as_ref()?.get(name),
            _ => self.reserved.get(name).or_else(in_object),
        }
    }

    /// The metadata of a Bloscpack file.
    pub(crate) fn metadata(&self) -> Option<&Value> {
        self.metadata.as_ref()
    }

    /// The JSON document.
    pub(crate) fn report<'a>(&'a self, path: &'a str) -> MetaReport<'a> {
        MetaReport { path, document: self }
    }

    /// A line for each value.
    pub(crate) fn lines(&self) -> String {
        let maps = [&self.metalayers, &self.vlmetalayers].into_iter().flatten();
        let object = self.metadata.as_ref().and_then(Value::as_object);
        // People see NaN; only JSON needs the bytes to restore it.
        let shown = |(name, value): (&String, &Value)| {
            (name.clone(), msgpack_json::to_json(&msgpack_json::from_json(value)))
        };
        let layers = maps.flatten().map(shown);
        let plain = object.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        let entries: Vec<(String, Value)> = layers.chain(plain).collect();
        let names = entries.iter().map(|(name, _)| harmless(name)).collect::<Vec<_>>();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let line = |(name, (_, value)): (&String, &(String, Value))| {
            format!("{}  {}\n", pad(name, width, Align::Left), json_text(value))
        };
        let mut text: String = names.iter().zip(&entries).map(line).collect();
        // Metadata other than objects have no names.
        let plain = self.metadata.as_ref().filter(|value| !value.is_object() && !value.is_null());
        text.extend(plain.map(|value| json_text(value) + "\n"));
        text
    }

    /// The JSON text for people.
    pub(crate) fn pretty(&self) -> String {
        // Maps with text keys always serialise.
        json_safe(&serde_json::to_string_pretty(self).unwrap_or_default()).into_owned() + "\n"
    }

    /// The document for a file with the kinds of `target`: metalayers become metadata, and metadata
    /// metalayers of variable size, by name. The description of an array stays with its file.
    pub(crate) fn for_file(self, target: &Self) -> Self {
        match (self, &target.metadata) {
            (Self { metadata: Some(value), metalayers, vlmetalayers, .. }, None) => {
                let mut map = vlmetalayers.unwrap_or_default();
                match value {
                    Value::Object(entries) => map.extend(without_array(entries)),
                    Value::Null => {}
                    value => drop(map.insert("metadata".to_owned(), value)),
                }
                Self { metalayers, vlmetalayers: Some(map), ..Self::default() }
            }
            (Self { metadata: None, metalayers, vlmetalayers, .. }, Some(old))
                if metalayers.is_some() || vlmetalayers.is_some() =>
            {
                let layers = [metalayers, vlmetalayers].into_iter().flatten();
                let mut map: Map<String, Value> = layers.flatten().collect();
                let array = old.as_object().filter(|old| is_array(old));
                let keys = array.into_iter().flatten();
                map.extend(
                    keys.filter(|(name, _)| ARRAY_KEYS.contains(&name.as_str()))
                        .map(|(name, value)| (name.clone(), value.clone())),
                );
                Self { metadata: Some(Value::Object(map)), ..Self::default() }
            }
            (document, _) => document,
        }
    }

    /// The values of these names only.
    ///
    /// # Errors
    ///
    /// When a name is missing.
    pub(crate) fn named(&self, names: &[String]) -> Result<Self> {
        if let Some(name) = names.iter().find(|name| self.get(name).is_none()) {
            return Err(message::NO_SUCH_METADATA.about(name));
        }
        let chosen = |map: &Map<String, Value>| -> Map<String, Value> {
            let wanted = map.iter().filter(|(name, _)| names.contains(name));
            wanted.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        // The description of an array is shown only if it is named.
        let mut metalayers = self.metalayers.as_ref().map(&chosen);
        metalayers.iter_mut().for_each(|map| map.extend(chosen(&self.reserved)));
        Ok(Self {
            metalayers,
            vlmetalayers: self.vlmetalayers.as_ref().map(&chosen),
            metadata: self
                .metadata
                .as_ref()
                .and_then(Value::as_object)
                .map(chosen)
                .map(Value::Object),
            reserved: Map::new(),
        })
    }

    /// The changes that turn this document of a file into the new one.
    ///
    /// # Errors
    ///
    /// When the file cannot hold a part of the new document.
    pub(crate) fn changes(&self, new: &Self) -> Result<Vec<Change>> {
        let mut changes = vec![];
        let kinds = [
            (Kind::Fixed, &self.metalayers, &new.metalayers),
            (Kind::Variable, &self.vlmetalayers, &new.vlmetalayers),
        ];
        for (kind, old, new) in kinds {
            match (old, new) {
                (Some(old), Some(new)) => differences(kind, old, new, &self.reserved, &mut changes),
                (None, Some(new)) if !new.is_empty() => {
                    return Err(message::BLP_HAS_NO_METALAYERS.error());
                }
                _ => {}
            }
        }
        match (&self.metadata, &new.metadata) {
            (Some(old), Some(new)) if old != new => changes.push(Change::Replace(new.clone())),
            (None, Some(new)) if !new.is_null() => {
                return Err(message::FRAME_HAS_METALAYERS_ONLY.error());
            }
            _ => {}
        }
        Ok(changes)
    }

    /// Checks that these changes are possible.
    ///
    /// # Errors
    ///
    /// When a name is missing, or cannot be changed.
    pub(crate) fn check(&self, changes: &[Change]) -> Result<()> {
        for change in changes {
            match change {
                Change::Set { name, .. } | Change::Delete { name, .. }
                    if self.metalayers.is_some() && RESERVED.contains(&name.as_str()) =>
                {
                    return Err(message::RESERVED_METALAYER.about(name));
                }
                Change::Delete { kind, name } if self.only(*kind).get(name).is_none() => {
                    return Err(message::NO_SUCH_METADATA.about(name));
                }
                Change::Set { kind: Some(_), .. } | Change::Delete { kind: Some(_), .. }
                    if self.metadata.is_some() =>
                {
                    return Err(message::BLP_HAS_NO_METALAYERS.error());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The keys of Bloscpack's description of an array.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];

fn is_array(entries: &Map<String, Value>) -> bool {
    ARRAY_KEYS.iter().all(|key| entries.contains_key(*key))
}

/// Metadata without the description of an array.
fn without_array(entries: Map<String, Value>) -> impl Iterator<Item = (String, Value)> {
    let is_array = is_array(&entries);
    let is_kept = move |name: &str| !(is_array && ARRAY_KEYS.contains(&name));
    entries.into_iter().filter(move |(name, _)| is_kept(name))
}

fn differences(
    kind: Kind,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    reserved: &Map<String, Value>,
    changes: &mut Vec<Change>,
) {
    let kind = Some(kind);
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    changes.extend(gone.map(|name| Change::Delete { kind, name: name.clone() }));
    let set = new.iter().filter(|(name, value)| {
        old.get(*name) != Some(*value)
            && (kind == Some(Kind::Variable) || reserved.get(*name) != Some(*value))
    });
    changes.extend(set.map(|(name, value)| Change::Set {
        kind,
        name: name.clone(),
        value: value.clone(),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(value: &Value) -> Document {
        Document::parse(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn only_differences_are_changed() {
        let old = document(&json!({"metalayers": {"a": 1, "b": 2}, "vlmetalayers": {"c": 3}}));
        let new = document(&json!({"metalayers": {"b": 2, "d": 4}, "vlmetalayers": {"c": 5}}));
        let (fixed, variable) = (Some(Kind::Fixed), Some(Kind::Variable));
        let expected = [
            Change::Delete { kind: fixed, name: "a".into() },
            Change::Set { kind: fixed, name: "d".into(), value: json!(4) },
            Change::Set { kind: variable, name: "c".into(), value: json!(5) },
        ];
        assert_eq!(old.changes(&new).unwrap(), expected);
        assert_eq!(old.changes(&old).unwrap(), []);
        // A document that lacks a kind does not change it.
        assert_eq!(old.changes(&document(&json!({}))).unwrap(), []);
    }

    #[test]
    fn documents_fit_files_of_the_other_kind() {
        let array = json!({"dtype": "'<f8'", "shape": [2], "order": "C", "container": "numpy"});
        let mut entries = array.as_object().unwrap().clone();
        entries.insert("unit".into(), "K".into());
        let blp = document(&json!({"metadata": entries}));
        let frame = document(&json!({"metalayers": {"a": 1}, "vlmetalayers": {"c": 3}}));
        let layers = document(&json!({"vlmetalayers": {"unit": "K"}}));
        assert_eq!(blp.clone().for_file(&frame), layers);
        let mut both = array.as_object().unwrap().clone();
        both.extend([("a".to_owned(), json!(1)), ("c".to_owned(), json!(3))]);
        assert_eq!(frame.clone().for_file(&blp), document(&json!({"metadata": both})));
        assert_eq!(frame.clone().for_file(&layers), frame);
        let text = document(&json!({"metadata": "text"}));
        let named = document(&json!({"vlmetalayers": {"metadata": "text"}}));
        assert_eq!(text.for_file(&frame), named);
    }

    #[test]
    fn documents_are_objects_of_objects() {
        for text in ["", "[]", "{\"metalayers\": 1}", "{\"other\": {}}"] {
            assert!(
                matches!(Document::parse(text.as_bytes()), Err(Error::Metadata { .. })),
                "{text}"
            );
        }
    }
}
