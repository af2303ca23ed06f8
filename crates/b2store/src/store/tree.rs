//! A store as a tree: groups, their attributes, and hidden values ("Trees" in
//! `docs/formats/store.md`).

use std::collections::BTreeSet;

use blosc_dtype::text::natural_order;

use super::Store;
use crate::content::decode;
use crate::error::{Error, Result};
use crate::key::{self, ATTRIBUTES_NAME};
use crate::value::Value;

/// An entry of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child {
    /// Its key.
    pub key: String,
    /// Its kind.
    pub kind: ChildKind,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildKind {
    /// A group.
    Group,
    /// A table.
    Table,
    /// A value.
    Value,
}

impl Store {
    /// The groups without the root, sorted by bytes. A group has values or attributes; it hides a
    /// value of the same key.
    #[must_use]
    pub fn groups(&self) -> BTreeSet<&str> {
        let keys = self.keys().filter(|key| !self.is_in_table(key));
        let mut groups: BTreeSet<&str> = keys.flat_map(key::ancestors).collect();
        groups.extend(self.tables().flat_map(key::ancestors));
        groups
    }

    /// All entries for users, with numbers in names sorted by value: groups, tables, and values,
    /// without the values of tables and attributes.
    #[must_use]
    pub fn tree(&self) -> Vec<Child> {
        let groups = self.groups();
        let mut children: Vec<Child> = Vec::new();
        for key in self.keys() {
            if self.is_in_table(key) || groups.contains(key) || is_attributes(key) {
                continue;
            }
            children.push(Child { key: key.to_owned(), kind: ChildKind::Value });
        }
        let named = |kind| move |key: &str| Child { key: key.to_owned(), kind };
        children.extend(groups.into_iter().map(named(ChildKind::Group)));
        let tables = self.tables().filter(|key| *key != "/");
        children.extend(tables.map(named(ChildKind::Table)));
        children.sort_by(|a, b| natural_order(&a.key, &b.key));
        children
    }

    /// Number of values and tables: each counts once, whatever number of frames it has.
    #[must_use]
    pub fn nvalues(&self) -> u64 {
        let is_value = |child: &&Child| child.kind != ChildKind::Group;
        let is_root = self.tables().any(|key| key == "/");
        let nvalues = self.tree().iter().filter(is_value).count() as u64;
        nvalues.saturating_add(u64::from(is_root))
    }

    /// The attributes of a group (`/` is the root), or of a value: its vlmetalayers. For a table
    /// see [`Table::attributes`](crate::Table::attributes).
    ///
    /// # Errors
    ///
    /// An unreadable frame, or an attribute that does not decode to a value.
    pub fn attributes(&self, key: &str) -> Result<Vec<(String, Value)>> {
        let group = key.trim_end_matches('/');
        let of_group = format!("{group}/{ATTRIBUTES_NAME}");
        let frame_key = match self.contains(&of_group) {
            true => of_group.as_str(),
            false if self.contains(key) => key,
            false => return Ok(Vec::new()),
        };
        attributes_of(&self.frame(frame_key)?, frame_key)
    }

    /// Whether a key is a part of a table.
    pub(crate) fn is_in_table(&self, key: &str) -> bool {
        let tables = &self.inner.tables;
        tables.contains("/") || key::ancestors(key).any(|group| tables.contains(group))
    }
}

/// The vlmetalayers of a frame as values.
pub(crate) fn attributes_of(schunk: &b2frame::SChunk, name: &str) -> Result<Vec<(String, Value)>> {
    let vlmeta = schunk.vlmeta();
    let mut attributes = Vec::new();
    for layer in vlmeta.stored().iter() {
        let field = layer.name_text().into_owned();
        let content = vlmeta.decode(layer).map_err(|error| Error::frame(name, error))?;
        let value = decode(&content, name, &field)?;
        attributes.push((field, value));
    }
    Ok(attributes)
}

fn is_attributes(key: &str) -> bool {
    key.rsplit('/').next() == Some(ATTRIBUTES_NAME)
}
