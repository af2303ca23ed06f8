//! Makes and changes tables: new columns, appended rows, deleted rows ("Writing" in
//! `docs/formats/store.md`).

mod appender;
mod batches;
mod columns;
mod edit;
mod items;
mod repair;
mod spec;

use core::ops::Range;
use std::sync::Arc;

use b2frame::{NdArray, SChunk};
use blosc_dtype::json::{self, Json};

use super::{Draft, StoreForm, StoreWriter, edit_frame};
use crate::content::{Content, text_layer, vlmetalayer};
use crate::error::{Corrupt, Error, Param, Result};
use crate::table::{ColumnValues, Live, Schema, Table, selection};
use crate::value::Value;
pub use appender::RowAppender;
#[cfg(feature = "arrow")]
pub(crate) use spec::fixed_name;
pub use spec::{NewColumn, TableParams};

/// Number of flags of rows that are written at a time.
const MAX_FLAGS_WRITTEN: usize = 1 << 20;

impl StoreWriter {
    /// Adds a table of these columns with these rows; `/` makes the store itself the table.
    ///
    /// ```
    /// use b2store::{ColumnKind, ColumnValues, NewColumn, StoreWriter, Values};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let mut writer = StoreWriter::create(dir.path().join("t.b2z"))?;
    /// let ids = ColumnValues::fixed("<i8".parse()?, [1_i64, 2].map(i64::to_le_bytes).concat());
    /// let names = ColumnValues::text(["one", "two"]);
    /// let id = NewColumn::new("id", ColumnKind::Fixed("i8"));
    /// let columns = [id, NewColumn::new("name", ColumnKind::Utf8)];
    /// writer.insert_table("/", &columns, &[ids, names])?;
    /// writer.delete_rows("/", 0..1)?;
    /// let table = writer.commit()?.table("/")?;
    /// assert_eq!(table.len()?, 1);
    /// assert!(matches!(&table.column("name")?.read(0..1)?.values,
    ///     Values::Text { text, .. } if text == "two"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Param::Key`], [`Param::Occupied`], [`Param::Column`], [`Param::Rows`].
    pub fn insert_table(
        &mut self,
        key: &str,
        columns: &[NewColumn],
        values: &[ColumnValues],
    ) -> Result<()> {
        let mut rows = self.create_table(key, columns)?;
        rows.append(values)?;
        rows.finish()
    }

    /// Adds a table of another store: the same columns, rows, nulls and attributes, in the same
    /// frames. Deleted rows are copied, indexes are not.
    ///
    /// # Errors
    ///
    /// [`Param::Key`], [`Param::Occupied`]; parts of the table that cannot be opened.
    pub fn insert_table_from(&mut self, key: &str, table: &Table) -> Result<()> {
        let root = self.check_table_key(key)?;
        let (from, below) = (table.store(), table.key().trim_end_matches('/'));
        for part in from.keys().filter(|part| table.has_key(part)) {
            let path = part.strip_prefix(below).ok_or_else(|| Error::no_key(part))?;
            if path.starts_with("/_indexes/") || part.contains(crate::key::INDEX_MARK) {
                continue;
            }
            from.compare_value(part)?;
            let (source, _) = from.source(part)?;
            let (source, suffix) = self.checked_frame(part, source)?;
            let is_sound = !from.options().frame.mismatch.is_noted();
            let live = if is_sound { self.live_bytes(part, Arc::clone(&source))? } else { None };
            let source = live.unwrap_or(source);
            let suffix = match from.location(part) {
                // Lists outside of batches have the suffix of batches all the same.
                Some(crate::store::Location::File { path }) if path.ends_with(".b2b") => ".b2b",
                _ => suffix,
            };
            self.store_value(&format!("{root}{path}"), suffix, source);
        }
        let meta_key = format!("{root}/_meta");
        if vlmetalayer(&self.frame(&meta_key)?, &meta_key, "index_catalog")?.is_some() {
            self.edit_value(&meta_key, |writer| writer.delete_vlmeta("index_catalog").map(drop))?;
        }
        self.register_table(key, &root);
        Ok(())
    }

    /// Removes the indexes of a table, which python-blosc2 would continue to trust; returns the
    /// names of their columns. Changes of rows or values do this by themselves.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`]; an unreadable manifest.
    pub fn remove_table_indexes(&mut self, key: &str) -> Result<Vec<String>> {
        let root = self.table_root(key)?;
        let names = indexed_columns(&self.frame(&format!("{root}/_meta"))?, key)?;
        if !names.is_empty() {
            self.begin_table_change(&root)?;
            let key = format!("{root}/_meta");
            self.edit_value(&key, |writer| writer.delete_vlmeta("index_catalog").map(drop))?;
        }
        Ok(names)
    }

    /// The key of a new table without a `/` at the end; checks that the key is allowed.
    fn check_table_key(&self, key: &str) -> Result<String> {
        let root = key.trim_end_matches('/').to_owned();
        if root.is_empty() {
            if let Some(other) = self.keys().next() {
                return Err(Error::occupied(key, other, "in the store"));
            }
        } else {
            self.check_key(key)?;
            if self.contains(key) {
                return Err(Error::occupied(key, key, "a value"));
            }
        }
        Ok(root)
    }

    /// Notes that the table exists.
    fn register_table(&mut self, key: &str, root: &str) {
        self.tables.insert(if root.is_empty() { "/" } else { key }.to_owned());
        if !root.is_empty() {
            let text = |text: &str| Value::Str(text.to_owned());
            let entry = vec![
                (text("kind"), text("ctable")),
                (text("version"), Value::Int(1)),
                (text("layout"), text("inline-tree-subtree")),
            ];
            self.registry.insert(key.to_owned(), Value::Map(entry));
        }
    }

    /// Appends rows to a table: values for each of its columns, in the order of the schema. Indexes
    /// are removed, since they would be stale.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`], [`Param::Column`], [`Param::Rows`]; unreadable columns.
    pub fn append_rows(&mut self, key: &str, values: &[ColumnValues]) -> Result<()> {
        let mut rows = self.append_to_table(key)?;
        rows.append(values)?;
        rows.finish()
    }

    /// Deletes rows of a table, by their numbers among the alive ones. Their values stay in the
    /// store; to hide them from others, make a copy. Indexes are removed.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`], [`Param::Range`]; unreadable flags.
    pub fn delete_rows(&mut self, key: &str, rows: Range<u64>) -> Result<()> {
        let root = self.table_root(key)?;
        let key = format!("{root}/_valid_rows");
        let live = Live::new(self.array(&key)?, key.clone(), &self.options.open.budget.threads);
        let alive = live.len()?;
        if rows.start > rows.end || rows.end > alive {
            let (start, end) = (rows.start, rows.end);
            return Err(Param::Range { start, end, len: alive, unit: "rows" }.into());
        }
        let count = rows.end.saturating_sub(rows.start);
        let spans = live.spans(&rows)?;
        self.begin_table_change(&root)?;
        // All rows of a span are deleted now, or were dead before.
        let dead = vec![0; MAX_FLAGS_WRITTEN];
        self.edit_items(&key, |writer| {
            for Range { mut start, end } in spans.into_iter().map(|span| span.rows) {
                while start < end {
                    let next = end.min(start.saturating_add(MAX_FLAGS_WRITTEN as u64));
                    let len = usize::try_from(next.saturating_sub(start)).unwrap_or(usize::MAX);
                    writer
                        .write_bytes(selection(&(start..next)), dead.get(..len).unwrap_or(&dead))?;
                    start = next;
                }
            }
            Ok(())
        })?;
        self.end_table_change(&root, alive.saturating_sub(count), false)
    }

    /// The key of a table without a `/` at the end.
    fn table_root(&self, key: &str) -> Result<String> {
        if !self.tables.contains(key) {
            return Err(Param::NoTable { key: key.to_owned() }.into());
        }
        Ok(key.trim_end_matches('/').to_owned())
    }

    fn schema(&self, root: &str) -> Result<Schema> {
        let key = format!("{root}/_meta");
        Schema::parse(&text_layer(&self.frame(&key)?, &key, "schema")?, &key)
    }

    fn array(&self, key: &str) -> Result<NdArray> {
        match self.get(key)? {
            Content::Array(array) => Ok(array),
            Content::Recipe(recipe) => {
                Err(Error::Recipe { name: key.to_owned(), kind: recipe.kind })
            }
            other => Err(Error::wrong_type(key, "the frame", "an array", other.kind_name())),
        }
    }

    /// Removes facts about rows that change: in a directory before all other steps.
    fn begin_table_change(&mut self, root: &str) -> Result<()> {
        let prefix = format!("{root}/_indexes");
        let stale: Vec<String> = self.below(&prefix).map(str::to_owned).collect();
        stale.iter().for_each(|key| self.remove_value(key));
        let key = format!("{root}/_meta");
        let is_stored = matches!(self.keys.get(&key), Some(super::At::File(path))
            if self.files.get(path).is_some_and(Option::is_none));
        if self.form != StoreForm::Dir || self.is_new || !is_stored {
            return Ok(());
        }
        let mut schema = self.parsed_schema(&key)?;
        remove_field(&mut schema, "n_rows");
        let content = Value::Str(schema.to_string()).encode_as(&key)?;
        let frame = edit_frame(self.source(&key)?, &key, |writer| {
            writer.delete_vlmeta("index_catalog")?;
            writer.set_vlmeta("schema", &content)
        })?;
        if let Some(super::At::File(path)) = self.keys.get(&key) {
            self.first.insert(path.clone(), super::NewFile(frame));
        }
        Ok(())
    }

    /// Writes the number of rows, and notes that values changed.
    fn end_table_change(&mut self, root: &str, nrows: u64, has_new: bool) -> Result<()> {
        let key = format!("{root}/_meta");
        let mut schema = self.parsed_schema(&key)?;
        set_field(&mut schema, "n_rows", Json::Int(nrows.into()));
        if has_new && let Json::Object(fields) = &mut schema {
            let derived = fields.iter_mut().filter(|(name, _)| name == "materialized_columns");
            for column in derived.flat_map(|(_, columns)| match columns {
                Json::Array(columns) => columns.as_mut_slice(),
                _ => &mut [],
            }) {
                set_field(column, "stale", Json::Bool(true));
            }
        }
        let frame = self.frame(&key)?;
        let mut layers = vec![("schema", Value::Str(schema.to_string()).encode_as(&key)?)];
        for epoch in ["value_epoch", "visibility_epoch"] {
            let old = vlmetalayer(&frame, &key, epoch)?.and_then(|epoch| epoch.as_u64());
            if let Some(old) = old {
                layers.push((epoch, Value::UInt(old.saturating_add(1)).encode_as(&key)?));
            }
        }
        self.edit_value(&key, |writer| {
            writer.delete_vlmeta("index_catalog")?;
            layers.iter().try_for_each(|(name, content)| writer.set_vlmeta(name, content))
        })
    }

    fn parsed_schema(&self, key: &str) -> Result<Json> {
        let text = text_layer(&self.frame(key)?, key, "schema")?;
        json::parse(text.as_bytes()).map_err(|error| Error::corrupt(key, Corrupt::Json(error)))
    }
}

/// The columns in the catalog of indexes of a manifest.
pub(crate) fn indexed_columns(manifest: &SChunk, key: &str) -> Result<Vec<String>> {
    let catalog = vlmetalayer(manifest, key, "index_catalog")?;
    let entries = catalog.as_ref().and_then(Value::as_map).into_iter().flatten();
    let names = entries.filter_map(|(name, _)| name.as_str().map(str::to_owned));
    Ok(names.collect())
}

fn set_field(json: &mut Json, name: &str, value: Json) {
    if let Json::Object(fields) = json {
        match fields.iter_mut().find(|(field, _)| field == name) {
            Some((_, old)) => *old = value,
            None => fields.push((name.to_owned(), value)),
        }
    }
}

fn remove_field(json: &mut Json, name: &str) {
    if let Json::Object(fields) = json {
        fields.retain(|(field, _)| field != name);
    }
}
