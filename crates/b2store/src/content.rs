//! Recognises the kind of a frame by its metalayers ("Kinds of values" in `docs/formats/store.md`).

use std::sync::Arc;

use b2frame::{Budget, NdArray, SChunk};

use crate::batches::{BatchArray, ListArray, ObjectArray};
use crate::error::{Corrupt, Error, Result};
use crate::recipe::{Recipe, recipe};
use crate::value::{Value, ValueLimits};

/// The value of a key of a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Content {
    /// An array.
    Array(NdArray),
    /// Bytes.
    Frame(Arc<SChunk>),
    /// One object in each chunk.
    Objects(ObjectArray),
    /// Batches of objects.
    Batches(BatchArray),
    /// Rows that are lists.
    Lists(ListArray),
    /// No data: a description of where or how to get them.
    Recipe(Recipe),
}

impl Content {
    /// Recognises the kind of a frame. `name` is for errors.
    ///
    /// ```no_run
    /// use b2store::Content;
    ///
    /// let frame = b2frame::SChunk::open("objects.b2f")?;
    /// if let Content::Objects(objects) = Content::from_schunk(frame, "objects.b2f")? {
    ///     println!("{} objects, the first is {:?}", objects.len(), objects.get(0)?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A metalayer with another content than its name says; unknown versions and serializers.
    pub fn from_schunk(schunk: impl Into<Arc<SChunk>>, name: &str) -> Result<Self> {
        let schunk = schunk.into();
        if let Some(recipe) = recipe(&schunk, name)? {
            return Ok(Self::Recipe(recipe));
        }
        if let Some(layer) = metalayer(&schunk, name, "listarray")? {
            return ListArray::new(schunk, name, &layer).map(Self::Lists);
        }
        if let Some(layer) = metalayer(&schunk, name, "vlarray")? {
            return ObjectArray::new(schunk, name, &layer).map(Self::Objects);
        }
        if let Some(layer) = metalayer(&schunk, name, "batcharray")? {
            return BatchArray::new(schunk, name, &layer).map(Self::Batches);
        }
        let array = schunk.nd_array().map_err(|error| Error::frame(name, error))?;
        Ok(array.map_or(Self::Frame(schunk), Self::Array))
    }

    /// The content with other threads and memory for reading. Default: [`Budget::default`].
    #[must_use]
    pub fn budget(self, budget: &Budget) -> Self {
        match self {
            Self::Array(array) => Self::Array(array.budget(budget.clone())),
            Self::Batches(batches) => Self::Batches(batches.threads(budget.threads.clone())),
            Self::Lists(lists) => Self::Lists(lists.threads(budget.threads.clone())),
            Self::Frame(_) | Self::Objects(_) | Self::Recipe(_) => self,
        }
    }

    /// Decodes all objects, items or rows one after the other. [`SChunk::verify`] checks the chunks
    /// of arrays and bytes.
    ///
    /// # Errors
    ///
    /// The error of the first value that is unreadable.
    pub fn check_values(&self) -> Result<()> {
        match self {
            Self::Objects(objects) => {
                (0..objects.len()).try_for_each(|nitem| objects.get(nitem).map(drop))
            }
            Self::Batches(batches) => batches.check(),
            Self::Lists(lists) => lists.check(),
            Self::Array(_) | Self::Frame(_) | Self::Recipe(_) => Ok(()),
        }
    }

    /// The kind in a word.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Array(_) => "array",
            Self::Frame(_) => "frame",
            Self::Objects(_) => "objects",
            Self::Batches(_) => "batches",
            Self::Lists(_) => "lists",
            Self::Recipe(_) => "recipe",
        }
    }
}

/// A metalayer that holds a map.
pub(crate) fn metalayer(schunk: &SChunk, name: &str, layer: &str) -> Result<Option<Value>> {
    let Some(found) = schunk.meta().get(layer) else { return Ok(None) };
    map(found.content, name, layer).map(Some)
}

/// A vlmetalayer.
pub(crate) fn vlmetalayer(schunk: &SChunk, name: &str, layer: &str) -> Result<Option<Value>> {
    let content = schunk.vlmeta().get(layer).map_err(|error| Error::frame(name, error))?;
    content.map(|bytes| decode(&bytes, name, layer)).transpose()
}

/// A vlmetalayer that holds a text.
pub(crate) fn text_layer(schunk: &SChunk, name: &str, layer: &str) -> Result<String> {
    match vlmetalayer(schunk, name, layer)? {
        Some(Value::Str(text)) => Ok(text),
        other => {
            let found = other.as_ref().map_or("missing", Value::type_name);
            Err(Error::wrong_type(name, layer, "text", found))
        }
    }
}

/// The value of a field.
pub(crate) fn decode(bytes: &[u8], name: &str, field: &str) -> Result<Value> {
    Value::decode(bytes, &ValueLimits::default())
        .map_err(|source| Error::corrupt(name, Corrupt::Value { field: field.to_owned(), source }))
}

fn map(bytes: &[u8], name: &str, field: &str) -> Result<Value> {
    match decode(bytes, name, field)? {
        map @ Value::Map(_) => Ok(map),
        other => Err(Error::wrong_type(name, field, "a map", other.type_name())),
    }
}

/// Refuses versions of a metalayer other than 1.
pub(crate) fn check_version(layer: &Value, name: &str, field: &'static str) -> Result<()> {
    match layer.get("version") {
        Some(Value::Int(1)) => Ok(()),
        Some(Value::Int(found)) => {
            let what = Corrupt::Version { field, found: (*found).into(), known: "1" };
            Err(Error::corrupt(name, what))
        }
        other => {
            let found = other.map_or("missing", Value::type_name);
            Err(Error::wrong_type(name, field, "a map with a version", found))
        }
    }
}
