//! Opened data under a name.

use std::sync::Arc;

use b2store::Recipe;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::format::Format;
use crate::objects::ListOfObjects;
use crate::{Array, Bytes, Group, Table};

/// Opened data: a name for messages, a format, and the data themselves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Dataset {
    /// The name by which it was opened.
    pub name: String,
    /// The format of the file or folder that it is in.
    pub format: Format,
    /// The data.
    pub data: Data,
}

/// Data of any format.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Data {
    /// Bytes without a type or a shape.
    Bytes(Arc<dyn Bytes>),
    /// Items of one type in any number of dimensions.
    Array(Arc<dyn Array>),
    /// Columns of one length.
    Table(Arc<dyn Table>),
    /// Members with names.
    Group(Arc<dyn Group>),
    /// Objects, such as those of Python.
    Objects(Arc<dyn ListOfObjects>),
    /// A recipe instead of data; it is shown, and never followed.
    Recipe(Box<Recipe>),
}

impl Data {
    /// Its kind, with an article: "an array".
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytes",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
            Self::Group(_) => "a group",
            Self::Objects(_) => "a list of objects",
            Self::Recipe(_) => "a recipe without data",
        }
    }
}

impl Dataset {
    /// Data with a name.
    #[must_use]
    pub const fn new(name: String, format: Format, data: Data) -> Self {
        Self { name, format, data }
    }

    fn wrong(self, wanted: &'static str) -> Error {
        Error::Kind { name: self.name, found: self.data.kind_name(), wanted }
    }

    /// The array; an error for other kinds.
    ///
    /// # Errors
    ///
    /// [`Error::Kind`].
    pub fn into_array(self) -> Result<Arc<dyn Array>> {
        match self.data {
            Data::Array(array) => Ok(array),
            _ => Err(self.wrong("an array")),
        }
    }

    /// The table; an error for other kinds.
    ///
    /// # Errors
    ///
    /// [`Error::Kind`].
    pub fn into_table(self) -> Result<Arc<dyn Table>> {
        match self.data {
            Data::Table(table) => Ok(table),
            _ => Err(self.wrong("a table")),
        }
    }

    /// The group; an error for other kinds.
    ///
    /// # Errors
    ///
    /// [`Error::Kind`].
    pub fn into_group(self) -> Result<Arc<dyn Group>> {
        match self.data {
            Data::Group(group) => Ok(group),
            _ => Err(self.wrong("a group")),
        }
    }

    /// The bytes; an error for other kinds.
    ///
    /// # Errors
    ///
    /// [`Error::Kind`].
    pub fn into_bytes(self) -> Result<Arc<dyn Bytes>> {
        match self.data {
            Data::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong("bytes")),
        }
    }

    /// The only value of a group; anything else unchanged.
    ///
    /// # Errors
    ///
    /// A group that cannot be listed, a value that cannot be opened.
    pub fn only(self) -> Result<Self> {
        let Data::Group(group) = &self.data else { return Ok(self) };
        let members = group.members()?;
        let mut values = members.iter().filter(|member| member.kind != crate::MemberKind::Group);
        match (values.next(), values.next()) {
            (Some(only), None) => group.open(&only.name),
            _ => Ok(self),
        }
    }

    /// The attributes, as far as JSON can hold them; empty for lists of objects and recipes.
    ///
    /// # Errors
    ///
    /// Attributes that are damaged.
    pub fn attributes(&self) -> Result<Map<String, Value>> {
        match &self.data {
            Data::Bytes(bytes) => bytes.attributes(),
            Data::Array(array) => array.attributes(),
            Data::Table(table) => table.attributes(),
            Data::Group(group) => group.attributes(),
            Data::Objects(_) | Data::Recipe(_) => Ok(Map::new()),
        }
    }

    /// Bytes of data, decoded; `None` for groups, objects and recipes.
    #[must_use]
    pub fn nbytes(&self) -> Option<u64> {
        match &self.data {
            Data::Bytes(bytes) => Some(bytes.nbytes()),
            Data::Array(array) => Some(array.nbytes()),
            Data::Table(table) => Some(table.sizes().0),
            Data::Group(_) | Data::Objects(_) | Data::Recipe(_) => None,
        }
    }

    /// Stored bytes, if they are known.
    #[must_use]
    pub fn stored_nbytes(&self) -> Option<u64> {
        match &self.data {
            Data::Bytes(bytes) => Some(bytes.stored_nbytes()),
            Data::Array(array) => array.stored_nbytes(),
            Data::Table(table) => Some(table.sizes().1),
            Data::Group(_) | Data::Objects(_) | Data::Recipe(_) => None,
        }
    }
}
