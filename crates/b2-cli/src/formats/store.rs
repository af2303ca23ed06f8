//! Stores of Blosc2: many values in a directory (`.b2d`), an archive (`.b2z`) or a frame (`.b2e`).
//!
//! `STORE::/key` names a value. An array or a super-chunk in a store is a frame, as in a file. A
//! value without data (lazy expression, reference) is named and refused.

use crate::error::Error;
use blosc_data::{Format, OpenOptions, Source};
use std::{path::Path, sync::Arc};

use b2frame::SChunk;
use b2store::{
    Child, ChildKind, Content, Location, Note, Store, StoreKind, StoreWriter, Table, Value,
    ValueLimits,
};
use blosc_dtype::text::natural_order;
use serde::Serialize;

pub(crate) use blosc_data::content::rows::{TableRows, table_sizes};

use crate::{
    error::{Result, chain, message},
    inputs::{
        Inputs, Object, Origin, Part, Place, frame_bytes,
        walk::{LeftOut, Reason},
    },
    render::{Units, size},
};

/// The path of an input that is a whole store.
pub(crate) fn whole(origin: &Origin) -> Option<&Place> {
    match origin {
        Origin::File { path, part: Part::Whole } if path.is_store() => Some(path),
        _ => None,
    }
}

/// The store of an input, and the key of the input in it: `/` for the whole store. `None` if the
/// input is not in a store.
///
/// # Errors
///
/// A store that cannot be opened.
pub(crate) fn opened(
    origin: &Origin,
    params: impl Into<OpenOptions>,
) -> Result<Option<(Store, &str)>> {
    let (path, key) = match origin {
        Origin::File { path, part: Part::Member(key) } => (path, key.as_str()),
        Origin::File { path, part: Part::Whole } if path.is_store() => (path, "/"),
        _ => return Ok(None),
    };
    Ok(Some((open(path, params)?, key)))
}

/// The place and the store of an input that is a whole store or a group in one, and the key of the
/// group: `/` for the whole store.
///
/// # Errors
///
/// A store that cannot be opened.
pub(crate) fn opened_group(
    origin: &Origin,
    params: impl Into<OpenOptions>,
) -> Result<Option<(&Place, Store, &str)>> {
    let Some(path) = origin.place().filter(|path| path.is_store()) else { return Ok(None) };
    let Some((store, key)) = opened(origin, params)? else { return Ok(None) };
    let is_table = || store.tables().any(|table| table == key);
    let is_group =
        key == "/" || (store.groups().contains(key.trim_end_matches('/')) && !is_table());
    Ok(is_group.then_some((path, store, key)))
}

/// Whether a key is in this group of a store, at any depth.
pub(crate) fn is_below(key: &str, group: &str) -> bool {
    let below = key.strip_prefix(group.trim_end_matches('/'));
    below.is_some_and(|rest| rest.starts_with('/') && (rest != "/" || group == "/"))
}

/// The keys of all values in a group of a store, at any depth; with `keeps_tables` a table is one
/// of them, and its columns and the attributes of groups are none.
fn values_below(store: &Store, group: &str, keeps_tables: bool) -> Vec<String> {
    let is_kept = |key: &&str| keeps_tables && is_below(key, group);
    let tables: Vec<&str> = store.tables().filter(is_kept).collect();
    let is_value = |key: &&str| {
        let below = |table: &&str| key.strip_prefix(table.trim_end_matches('/'));
        let is_column = || tables.iter().filter_map(below).any(|rest| rest.starts_with('/'));
        let is_attributes = keeps_tables && key.ends_with("/__vlmeta__");
        is_below(key, group) && !is_attributes && !is_column()
    };
    let values = store.keys().filter(is_value).chain(tables.iter().copied());
    let mut keys: Vec<String> = values.map(str::to_owned).collect();
    keys.sort_by(|a, b| natural_order(a, b));
    keys
}

/// All values in a group of a store as inputs, with their keys.
pub(crate) fn inputs_below(
    (path, store, group): (&Place, &Store, &str),
    keeps_tables: bool,
) -> impl Iterator<Item = (String, Origin)> {
    let keys = values_below(store, group, keeps_tables).into_iter();
    keys.map(move |key| {
        let part = if key == "/" { Part::Whole } else { Part::Member(key.clone()) };
        (key, Origin::File { path: path.clone(), part })
    })
}

/// The object that a key of a store means; `/` means a table, or the only value.
///
/// # Errors
///
/// A store of several values; a group; a value without data, or that cannot be opened.
pub(crate) fn object_of(store: &Store, key: &str) -> Result<Object> {
    if let Some(rows) = rows_of(store, key)? {
        return Ok(Object::Table(Box::new(rows)));
    }
    let only = match key {
        "/" => match (only_value(store), store.lost_table()) {
            (None, Some(lost)) => return Err(lost.into()),
            (only, _) => Some(only.ok_or(message::A_STORE.error())?),
        },
        _ => None,
    };
    Ok(Object::Frame(member(store, only.as_deref().unwrap_or(key))?))
}

/// The rows of an input: of a table, or of a column of one.
///
/// # Errors
///
/// A store, a table or a column that cannot be opened.
pub(crate) fn rows(origin: &Origin, params: impl Into<OpenOptions>) -> Result<Option<TableRows>> {
    match opened(origin, params)? {
        Some((store, key)) => rows_of(&store, key),
        None => Ok(None),
    }
}

fn rows_of(store: &Store, key: &str) -> Result<Option<TableRows>> {
    if store.tables().any(|table| table == key) {
        return Ok(Some(TableRows::open(store.table(key)?)?));
    }
    if key == "/" || store.contains(key) {
        return Ok(None);
    }
    for table in store.tables() {
        let below = key.strip_prefix(table.trim_end_matches('/'));
        let Some(name) = below.and_then(|below| below.strip_prefix('/')) else { continue };
        let table = store.table(table)?;
        let names = || table.schema().columns.iter().map(|column| column.name.as_str());
        // Slashes may separate a nested column, as they do in keys.
        let nested = name.replace('/', ".");
        let found = names().find(|found| *found == name).or_else(|| names().find(|f| *f == nested));
        if let Some(found) = found.map(str::to_owned) {
            return Ok(Some(TableRows::open_column(table, &found)?));
        }
    }
    Ok(None)
}

/// The table that an input is: a store that is one, or one in a store.
///
/// # Errors
///
/// A store or a table that cannot be opened.
pub(crate) fn table(origin: &Origin, params: impl Into<OpenOptions>) -> Result<Option<Table>> {
    let Some((store, key)) = opened(origin, params)? else { return Ok(None) };
    let is_table = store.tables().any(|table| table == key);
    Ok(if is_table { Some(store.table(key)?) } else { None })
}

/// The key of the only value of a store without tables. Metadata of groups do not count as values.
pub(crate) fn only_value(store: &Store) -> Option<String> {
    if store.tables().next().is_some() {
        return None;
    }
    let mut values = store.keys().filter(|key| !key.ends_with("/__vlmeta__"));
    let first = values.next().map(str::to_owned);
    first.filter(|_| values.next().is_none())
}

/// The only value of a store that is named as a whole; other inputs unchanged.
///
/// # Errors
///
/// A store that cannot be opened.
pub(crate) fn value_of(origin: &Origin, params: impl Into<OpenOptions>) -> Result<Origin> {
    if let Origin::File { path, part: Part::Whole } = origin
        && path.is_store()
        && let Some(key) = only_value(&open(path, params)?)
    {
        return Ok(Origin::File { path: path.clone(), part: Part::Member(key) });
    }
    Ok(origin.clone())
}

/// Opens a store, to be read as `params` say.
///
/// # Errors
///
/// Errors of the library.
pub(crate) fn open(path: &Place, params: impl Into<OpenOptions>) -> Result<Store> {
    if path.is_archive() {
        return Err(message::NOT_FOR_COMMAND.about("data of another format"));
    }
    let options = params.into().store();
    Ok(match path.elsewhere() {
        Some(Source::File(object)) => Store::from_store(object, &options)?,
        Some(Source::Folder(tree)) => Store::from_tree(tree, &options)?,
        None => Store::open_with(path, &options)?,
    })
}

/// Contradictions between the headers of an archive and its directory, by which other programs may
/// read something else. Empty for other files.
pub(crate) fn contradictions(origin: &Origin) -> Vec<String> {
    let Origin::File { path, .. } = origin else { return vec![] };
    if path.is_bytes() {
        return vec![];
    }
    let is_archive =
        matches!(path.format(), Some(Format::Store | Format::Zip | Format::Npz | Format::ZarrZip));
    if path.is_elsewhere() || !is_archive || !path.is_file() {
        return vec![];
    }
    b2store::differing_headers(path).iter().map(note_text).collect()
}

/// The frame of a value; nothing else holds it.
///
/// # Errors
///
/// A key of a group or a table, a value without data, a frame that cannot be opened.
pub(crate) fn member(store: &Store, key: &str) -> Result<Arc<SChunk>> {
    if store.tables().any(|table| table == key) {
        return Err(message::A_TABLE.about(key));
    }
    if !store.contains(key) && store.groups().contains(key.trim_end_matches('/')) {
        return Err(message::A_GROUP.about(key));
    }
    let schunk = Arc::new(store.frame(key)?);
    refuse_recipe(&schunk, key)?;
    Ok(schunk)
}

/// Refuses a frame that holds a recipe instead of data.
///
/// # Errors
///
/// [`b2store::Error::Recipe`].
pub(crate) fn refuse_recipe(schunk: &Arc<SChunk>, name: &str) -> Result<()> {
    match Content::from_schunk(Arc::clone(schunk), name) {
        Ok(Content::Recipe(recipe)) => {
            let name = name.to_owned();
            Err(b2store::Error::Recipe { name, kind: recipe.kind }.into())
        }
        // Damage of objects matters to their readers, and not to a reader of bytes.
        _ => Ok(()),
    }
}

/// Refuses a frame of objects, to which items or rows cannot be added.
///
/// # Errors
///
/// The error names the content of the frame.
pub(crate) fn refuse_objects(schunk: &Arc<SChunk>, name: &str) -> Result<()> {
    refuse_recipe(schunk, name)?;
    match Content::from_schunk(Arc::clone(schunk), name) {
        Ok(content @ (Content::Objects(_) | Content::Batches(_) | Content::Lists(_))) => {
            Err(message::HOLDS_OBJECTS.about(content.kind_name()))
        }
        _ => Ok(()),
    }
}

/// The content of a frame that is neither bytes nor an array, in words.
pub(crate) fn special_content(schunk: &Arc<SChunk>) -> Option<String> {
    match Content::from_schunk(Arc::clone(schunk), "").ok()? {
        Content::Recipe(recipe) => Some(format!("{}, which is not resolved", recipe.kind)),
        content @ (Content::Objects(_) | Content::Batches(_) | Content::Lists(_)) => {
            Some(content.kind_name().to_owned())
        }
        _ => None,
    }
}

/// A member of a store.
#[derive(Debug, Serialize)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) kind: &'static str,
    /// Length of each dimension; or the number of rows or elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dtype: Option<String>,
    /// Bytes of data, and bytes compressed.
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
    pub(crate) nchunks: u64,
    #[serde(rename = "error", serialize_with = "as_text")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Error>,
}

fn as_text<S: serde::Serializer>(failure: &Option<Error>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&failure.as_ref().map(|failure| chain(failure)).unwrap_or_default())
}

impl Member {
    /// Describes a child of a store. A child that does not open is described by its error.
    pub(crate) fn new(store: &Store, child: &Child) -> Self {
        let mut member = Self::empty(&child.key);
        let described = match child.kind {
            ChildKind::Group => {
                member.kind = "group";
                Ok(())
            }
            ChildKind::Table => member.describe_table(store),
            _ => member.describe_value(store),
        };
        member.note(described)
    }

    /// The table that a store is.
    fn table_of_store(store: &Store) -> Self {
        let mut member = Self::empty("/");
        let described = member.describe_table(store);
        member.note(described)
    }

    fn empty(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            kind: "damaged",
            shape: None,
            dtype: None,
            nbytes: 0,
            cbytes: 0,
            nchunks: 0,
            failure: None,
        }
    }

    fn note(self, described: Result<()>) -> Self {
        match described {
            Ok(()) => self,
            Err(error) => Self { kind: "damaged", failure: Some(error), ..self },
        }
    }

    fn describe_value(&mut self, store: &Store) -> Result<()> {
        if let Some(Location::Remote { .. }) = store.location(&self.key) {
            self.kind = "reference";
            return Ok(());
        }
        self.add_frame(&store.frame(&self.key)?);
        let content = store.get(&self.key)?;
        self.kind = content.kind_name();
        match content {
            Content::Array(array) => {
                self.shape = Some(array.shape().to_vec());
                self.dtype = Some(array.dtype().to_string().trim_matches('\'').to_owned());
            }
            Content::Objects(objects) => self.shape = Some(vec![objects.len()]),
            Content::Batches(batches) => self.shape = Some(vec![batches.len()?]),
            Content::Lists(lists) => self.shape = Some(vec![lists.len()?]),
            Content::Recipe(recipe) => self.dtype = Some(recipe.kind.to_string()),
            _ => {}
        }
        Ok(())
    }

    fn describe_table(&mut self, store: &Store) -> Result<()> {
        self.kind = "table";
        let table = store.table(&self.key)?;
        let ncolumns = table.schema().columns.len() as u64;
        self.shape = Some(vec![table.len()?, ncolumns]);
        for key in store.keys().filter(|key| table.has_key(key)) {
            self.add_frame(&store.frame(key)?);
        }
        self.nbytes = table.nbytes()?;
        Ok(())
    }

    fn add_frame(&mut self, schunk: &SChunk) {
        self.nbytes = self.nbytes.saturating_add(schunk.items_nbytes());
        self.cbytes = self.cbytes.saturating_add(frame_bytes(schunk));
        self.nchunks = self.nchunks.saturating_add(schunk.nchunks());
    }

    /// The description for people; empty for groups.
    pub(crate) fn text(&self, units: Units) -> String {
        if let Some(failure) = &self.failure {
            return format!("damaged: {}", chain(failure));
        }
        let shape = self.shape.as_deref().unwrap_or_default();
        let len = shape.first().map_or_else(String::new, |len| size::count(*len));
        let sizes = format!("{} -> {}", units.size(self.nbytes), units.size(self.cbytes));
        match self.kind {
            "array" => {
                let dims = if shape.is_empty() { "scalar".to_owned() } else { size::shape(shape) };
                let dtype = self.dtype.as_deref().unwrap_or("?");
                format!("array, {dims} of {dtype}, {sizes}")
            }
            "table" => {
                let ncolumns = shape.get(1).map_or_else(String::new, |len| size::count(*len));
                format!("table, {len} rows x {ncolumns} columns, {sizes}")
            }
            "objects" | "batches" | "lists" => format!("{}, {len} items, {sizes}", self.kind),
            "recipe" => format!("no data: {}", self.dtype.as_deref().unwrap_or("a recipe")),
            "reference" => "no data: somewhere else".to_owned(),
            kind => format!("{kind}, {sizes}"),
        }
    }
}

/// The name of a store's format in tables.
pub(crate) fn format(path: &Place) -> &'static str {
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("b2e") => "b2e",
        _ if path.is_dir() || path.tree_elsewhere().is_some() => "b2d",
        _ => "b2z",
    }
}

/// The form of a store in words.
pub(crate) fn kind_text(store: &Store) -> &'static str {
    match store.kind() {
        StoreKind::Embed => "values in one frame",
        StoreKind::Dict => "a flat map of keys",
        StoreKind::Tree => "a tree of keys",
        StoreKind::Table => "a table",
        _ => "of another kind",
    }
}

/// Entries of a store's directory that a copy to another store leaves out: links, and files that
/// are not values unless all files are copied.
pub(crate) fn strays(
    path: &Place,
    params: impl Into<OpenOptions>,
    copies_files: bool,
) -> Vec<LeftOut> {
    let Ok(store) = open(path, params) else { return vec![] };
    let is_table = store.tables().any(|key| key == "/");
    let is_ignored = |file: &Path| {
        let file = file.strip_prefix(path).ok().and_then(Path::to_str);
        let ignored = |note: &Note| matches!(note, Note::Ignored { path } if Some(&**path) == file);
        store.notes().iter().any(ignored)
    };
    let is_lock = |file: &Path| file.as_os_str().as_encoded_bytes().ends_with(b".b2lock");
    let mut inputs = Inputs::default();
    if path.is_dir() {
        let is_lost = |file: &Place| {
            let is_lost = is_table && !copies_files && is_ignored(file) && !is_lock(file);
            is_lost.then_some(Reason::OtherFormat)
        };
        inputs.walk(path, &is_lost, true);
    }
    inputs.tell_only(|reason| reason != Reason::EmptyFolder);
    inputs.left_out
}

/// The text of a note on a store that can be read.
pub(crate) fn note_text(note: &Note) -> String {
    let damage = || note.damage().map(|damage| chain(&damage));
    blosc_data::formats::store_note(note).or_else(damage).unwrap_or_default()
}

/// The members of a store as the user sees them; a store that is a table is one member.
pub(crate) fn members(store: &Store) -> Vec<Member> {
    let mut children = store.tree();
    if store.tables().any(|key| key == "/") {
        children.retain(|child| child.kind != ChildKind::Group);
        let mut members = vec![Member::table_of_store(store)];
        members.extend(children.iter().map(|child| Member::new(store, child)));
        return members;
    }
    children.iter().map(|child| Member::new(store, child)).collect()
}

/// The first error among the members of a store, or that of a table without its manifest.
pub(crate) fn failure(store: &Store, members: Vec<Member>) -> Option<Error> {
    let lost = || store.lost_table().map(Error::from);
    members.into_iter().find_map(|member| member.failure).or_else(lost)
}

/// Sets an attribute of a group or a table.
///
/// # Errors
///
/// When an attribute cannot hold the value.
pub(crate) fn set_attribute(
    writer: &mut StoreWriter,
    key: &str,
    name: &str,
    value: &serde_json::Value,
) -> Result<()> {
    Ok(writer.set_attribute(key, name, &from_json(value)?)?)
}

/// The store value for a JSON value.
fn from_json(value: &serde_json::Value) -> Result<Value> {
    let bytes = blosc_data::json::msgpack::from_json(value);
    Value::decode(&bytes, &ValueLimits::default())
        .map_err(|error| message::NO_ATTRIBUTE.about(error))
}
