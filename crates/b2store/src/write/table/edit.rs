//! Changes columns and cells of existing tables.
//!
//! A changed column is written anew from all its physical rows, so that the other columns stay as
//! they are. If this needs two files that only fit each other, a directory is refused: copy it,
//! change the copy, and replace the old one.

use core::ops::Range;

use b2frame::nd::Fill;
use b2frame::{NdArray, NdParams, NdWriter};
use blosc_dtype::json::Json;

use super::appender::{count_rows, store_columns};
use super::columns::{ColumnAppender, column_key, keys_of, mask_key};
use super::items::Items;
use super::{NewColumn, StoreForm, StoreWriter, TableParams, set_field, spec};
use crate::error::{Error, Param, Result};
use crate::table::{Column, ColumnKind, ColumnSpec, ColumnValues, Schema, Table, selection};
use crate::value::Value;

/// Rows that are processed together.
const BATCH_ROWS: u64 = 1 << 16;

const DEPENDS: &str = "a column that is computed from others depends on it";
const PENDING: &str = "its table has changes that are not committed";
const TWO_FILES: &str = "in a directory it has files that are not replaced together";

/// Selects rows of a table for a change.
type Chosen<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Selects cells of a column for a change, by row and by whether the cell is null.
type Cells<'a> = &'a mut dyn FnMut(u64, bool) -> bool;

impl StoreWriter {
    /// Adds a column to a table, with the same value in all rows: `value` has one row, which may be
    /// null.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`]; [`Param::Column`] for a name that is invalid or exists.
    pub fn add_column(&mut self, key: &str, new: &NewColumn, value: &ColumnValues) -> Result<()> {
        let root = self.table_root(key)?;
        let schema = self.schema(&root)?;
        let olds = schema.columns.iter().map(NewColumn::like);
        spec::check_names(&olds.chain([new.clone()]).collect::<Vec<_>>())?;
        let parsed = spec::schema_of(core::slice::from_ref(new), core::slice::from_ref(value))?;
        let parsed = Schema::parse(&parsed.to_string(), key)?;
        let spec = parsed.columns.first().ok_or_else(|| Error::internal(key, "no column"))?;
        if schema.computed.iter().any(|column| column.name == spec.name) {
            return Err(Error::column(&spec.name, "a computed column has this name"));
        }
        let flags_key = format!("{root}/_valid_rows");
        let flags = self.array(&flags_key)?;
        let (_, end) = count_rows(&flags, &flags_key)?;
        // Arrays are as long as the flags; other columns have the rows that were written.
        let is_array = !spec.kind.has_native_nulls() && spec.kind != ColumnKind::Utf8;
        let is_codes = matches!(spec.kind, ColumnKind::Dictionary { .. });
        let len = if is_array || is_codes { flags.nitems() } else { end };
        let how = params_like(&flags);
        let place = (self.place.dir.clone(), &how);
        let mut column = ColumnAppender::create(&root, spec, value, place)?;
        for rows in batches(len) {
            let count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
            column.append_checked(&value.repeated(count))?;
        }
        store_columns(self, vec![column])?;
        self.edit_columns(&root, |columns| columns.push(spec.json.clone()))
    }

    /// Renames a column. Returns the names of the columns whose indexes were removed: python-blosc2
    /// finds indexes by name.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`]; [`Param::Column`] for a name that is invalid or exists, and for a
    /// column that another one is computed from.
    pub fn rename_column(&mut self, key: &str, from: &str, to: &str) -> Result<Vec<String>> {
        let root = self.table_root(key)?;
        let schema = self.schema(&root)?;
        let old = found(&schema, from)?.clone();
        check_free(&schema, from)?;
        if from == to {
            return Err(Error::column(to, "it is its name already"));
        }
        let renamed = |spec: &ColumnSpec| match spec.name == from {
            true => NewColumn::like(spec).named(to),
            false => NewColumn::like(spec),
        };
        spec::check_names(&schema.columns.iter().map(renamed).collect::<Vec<_>>())?;
        let gone = self.remove_table_indexes(key)?;
        let path = crate::table::column_path(to);
        let new = ColumnSpec { name: to.to_owned(), path, ..old.clone() };
        let (olds, news) = (keys_of(&root, &old)?, keys_of(&root, &new)?);
        for (old, new) in olds.iter().zip(news) {
            if self.contains(old) {
                let (source, suffix) = (self.source(old)?, self.suffix(old)?);
                self.store_value(&new, &suffix, source);
                self.remove_value(old);
            }
        }
        self.edit_columns(&root, |columns| {
            for column in columns.iter_mut().filter(|column| is_named(column, from)) {
                set_field(column, "name", Json::String(to.to_owned()));
            }
        })?;
        Ok(gone)
    }

    /// Removes a column from a table. Returns the names of the columns whose indexes were removed.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`]; [`Param::Column`] for the only column, and for a column that another
    /// one is computed from.
    pub fn drop_column(&mut self, key: &str, name: &str) -> Result<Vec<String>> {
        let root = self.table_root(key)?;
        let schema = self.schema(&root)?;
        found(&schema, name)?;
        check_free(&schema, name)?;
        if schema.columns.len() < 2 {
            return Err(Error::column(name, "it is the only one of its table"));
        }
        let gone = self.remove_table_indexes(key)?;
        self.forget_column(key, name)?;
        Ok(gone)
    }

    /// Removes a column from the schema of a table, and its existing frames.
    pub(crate) fn forget_column(&mut self, table: &str, name: &str) -> Result<()> {
        let root = table.trim_end_matches('/').to_owned();
        let schema = self.schema(&root)?;
        let keys = found(&schema, name).and_then(|spec| keys_of(&root, spec));
        for key in keys.into_iter().flatten() {
            if self.keys.contains_key(&key) {
                self.remove_value(&key);
            }
        }
        self.edit_columns(&root, |columns| columns.retain(|column| !is_named(column, name)))
    }

    /// Sets the cells of columns in the rows for which `chosen` is true, each to the single value
    /// beside its column's name, which may be null. Returns the number of these cells in each
    /// column. Indexes are removed.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`]; [`Param::Column`], also for a column that is named twice; a value that
    /// does not fit; unreadable columns.
    pub fn set_cells(
        &mut self,
        key: &str,
        cells: &[(&str, &ColumnValues)],
        chosen: Chosen<'_>,
    ) -> Result<Vec<u64>> {
        self.edit_cells(key, cells, &mut |row, _| chosen(row))
    }

    /// Sets the null cells of columns, as [`set_cells`](Self::set_cells).
    ///
    /// # Errors
    ///
    /// As `set_cells`.
    pub fn fill_nulls(&mut self, key: &str, cells: &[(&str, &ColumnValues)]) -> Result<Vec<u64>> {
        self.edit_cells(key, cells, &mut |_, is_null| is_null)
    }

    fn edit_cells(
        &mut self,
        key: &str,
        cells: &[(&str, &ColumnValues)],
        chosen: Cells<'_>,
    ) -> Result<Vec<u64>> {
        let root = self.table_root(key)?;
        let flags_key = format!("{root}/_valid_rows");
        let flags = self.array(&flags_key)?;
        let (alive, _) = count_rows(&flags, &flags_key)?;
        let (mut changed, mut counts) = (vec![], vec![]);
        for (nth, (name, value)) in cells.iter().enumerate() {
            if cells.iter().take(nth).any(|(other, _)| other == name) {
                return Err(Error::column(name, "it is named twice"));
            }
            let table = self.committed_table(key, name)?;
            let spec = found(table.schema(), name)?.clone();
            let (new, count) =
                self.edited(&root, (&table, &spec), (&flags, &flags_key), chosen, value)?;
            changed.extend(new.filter(|_| count > 0).map(|new| (spec, new)));
            counts.push(count);
        }
        if !changed.is_empty() {
            self.begin_table_change(&root)?;
            self.replace_columns(&root, changed)?;
            self.end_table_change(&root, alive, true)?;
        }
        Ok(counts)
    }

    /// A column with changed cells, and their number.
    fn edited(
        &self,
        root: &str,
        (table, spec): (&Table, &ColumnSpec),
        (flags, flags_key): (&NdArray, &str),
        chosen: Cells<'_>,
        value: &ColumnValues,
    ) -> Result<(Option<ColumnAppender>, u64)> {
        let is_pair = matches!(spec.kind, ColumnKind::Utf8 | ColumnKind::Dictionary { .. });
        if is_pair && self.form == StoreForm::Dir && !self.is_new {
            return Err(Error::column(&spec.name, TWO_FILES));
        }
        let len = self.physical_rows(root, spec)?;
        let column = table.with_all_rows(&all_alive(len, flags_key)?)?.column(&spec.name)?;
        let (mut new, mut live, mut count) = (None, 0_u64, 0_u64);
        for rows in batches(len) {
            let mut values = as_truth(column.read(rows.clone())?, spec);
            let is_alive = alive_in(flags, flags_key, &rows)?;
            let mut places = Vec::new();
            for (place, _) in is_alive.iter().enumerate().filter(|(_, is_alive)| **is_alive) {
                if chosen(live, values.is_null(place)) {
                    places.push(place);
                }
                live = live.saturating_add(1);
            }
            if !places.is_empty() {
                count = count.saturating_add(places.len() as u64);
                values = values.replaced(&places, value).ok_or_else(|| no_fit(&spec.name))?;
            }
            self.grow(&mut new, root, &column, &values)?;
        }
        Ok((new, count))
    }

    /// Deletes the rows for which `chosen` is true. Returns their number. Their values stay in the
    /// store until [`compact_table`](Self::compact_table). Indexes are removed.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`]; unreadable flags.
    pub fn delete_chosen_rows(&mut self, key: &str, chosen: Chosen<'_>) -> Result<u64> {
        let root = self.table_root(key)?;
        let flags_key = format!("{root}/_valid_rows");
        let flags = self.array(&flags_key)?;
        let how = params_like(&flags);
        let place = (self.place.dir.clone(), &how);
        let mut new = Items::create(&flags_key, (0, &[]), "|b1", Fill::Zeros, place)?;
        let (mut live, mut left) = (0_u64, 0_u64);
        for rows in batches(flags.nitems()) {
            let mut kept = Vec::new();
            for is_alive in alive_in(&flags, &flags_key, &rows)? {
                let is_kept = is_alive && !chosen(live);
                live = live.saturating_add(is_alive.into());
                left = left.saturating_add(is_kept.into());
                kept.push(u8::from(is_kept));
            }
            new.append(&kept)?;
        }
        if left < live {
            self.begin_table_change(&root)?;
            self.store_value(&flags_key, ".b2nd", new.finish()?);
            self.end_table_change(&root, left, false)?;
        }
        Ok(live.saturating_sub(left))
    }

    /// Writes a table anew without deleted and spare rows. Returns the number of deleted rows.
    /// Indexes are removed.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`]; [`Param::Column`] in a directory that is changed; unreadable columns.
    pub fn compact_table(&mut self, key: &str) -> Result<u64> {
        let root = self.table_root(key)?;
        let table = self.committed_table(key, key)?;
        let (alive, capacity) = (table.len()?, table.capacity());
        if alive.max(1) >= capacity {
            return Ok(0);
        }
        if self.form == StoreForm::Dir && !self.is_new {
            return Err(Error::column(key, TWO_FILES));
        }
        let mut columns = Vec::new();
        for spec in &table.schema().columns {
            let (column, mut new) = (table.column(&spec.name)?, None);
            for rows in batches(alive) {
                self.grow(&mut new, &root, &column, &as_truth(column.read(rows)?, spec))?;
            }
            if new.is_none() {
                self.grow(&mut new, &root, &column, &as_truth(column.read(0..0)?, spec))?;
            }
            columns.extend(new.map(|new| (spec.clone(), new)));
        }
        self.begin_table_change(&root)?;
        self.replace_columns(&root, columns)?;
        let flags_key = format!("{root}/_valid_rows");
        let how = params_like(&self.array(&flags_key)?);
        let (place, fill) = ((self.place.dir.clone(), &how), Fill::Value(vec![1]));
        let flags = Items::create(&flags_key, (alive, &[]), "|b1", fill, place)?;
        self.store_value(&flags_key, ".b2nd", flags.finish()?);
        self.end_table_change(&root, alive, false)?;
        Ok(capacity.saturating_sub(alive))
    }

    /// Appends values to the new frames of a column, which are created with the first values, with
    /// the parameters of the old ones.
    fn grow(
        &self,
        new: &mut Option<ColumnAppender>,
        root: &str,
        column: &Column,
        values: &ColumnValues,
    ) -> Result<()> {
        if new.is_none() {
            let spec = column.spec();
            let how = match self.array(&column_key(root, spec)?) {
                Ok(array) => params_like(&array),
                Err(_) => TableParams::like(&self.frame(&column_key(root, spec)?)?),
            };
            let place = (self.place.dir.clone(), &how);
            *new = Some(ColumnAppender::create(root, spec, values, place)?);
        }
        new.as_mut().map_or(Ok(()), |new| new.append_checked(values))
    }

    /// Replaces the frames of columns. A mask without nulls is removed.
    fn replace_columns(
        &mut self,
        root: &str,
        columns: Vec<(ColumnSpec, ColumnAppender)>,
    ) -> Result<()> {
        for (spec, column) in columns {
            let mask = mask_key(&column_key(root, &spec)?);
            if !column.has_mask() && self.contains(&mask) {
                self.remove_value(&mask);
            }
            store_columns(self, vec![column])?;
        }
        Ok(())
    }

    /// A table without uncommitted changes.
    fn committed_table(&self, key: &str, name: &str) -> Result<Table> {
        let prefix = key.trim_end_matches('/');
        let is_other = |key: &str| self.new_file(key).is_some() && !self.same.contains(key);
        let is_new = self.below(prefix).any(is_other);
        match &self.base {
            Some(base) if !is_new => base.table(key),
            _ => Err(Error::column(name, PENDING)),
        }
    }

    /// Number of rows of a column, with dead and spare ones.
    fn physical_rows(&self, root: &str, spec: &ColumnSpec) -> Result<u64> {
        let is_array = !spec.kind.has_native_nulls() && spec.kind != ColumnKind::Utf8;
        if is_array || matches!(spec.kind, ColumnKind::Dictionary { .. }) {
            let array = self.array(&column_key(root, spec)?)?;
            let rows = array.shape().first().copied();
            return rows.ok_or_else(|| Error::column(&spec.name, "its array has no dimension"));
        }
        self.written_rows(root, spec)
    }

    /// The suffix of the file of a value.
    fn suffix(&self, key: &str) -> Result<String> {
        match self.keys.get(key) {
            Some(crate::write::At::File(path)) => {
                Ok(path.rsplit_once('.').map_or(String::new(), |(_, suffix)| format!(".{suffix}")))
            }
            _ => Ok(crate::write::suffix_of(&self.frame(key)?).to_owned()),
        }
    }

    /// Changes the list of columns in the schema, and its version.
    fn edit_columns(&mut self, root: &str, edit: impl FnOnce(&mut Vec<Json>)) -> Result<()> {
        let key = format!("{root}/_meta");
        let mut schema = self.parsed_schema(&key)?;
        let mut has_mask = false;
        if let Json::Object(fields) = &mut schema
            && let Some((_, Json::Array(columns))) =
                fields.iter_mut().find(|(field, _)| field == "columns")
        {
            edit(columns);
            has_mask = columns.iter().any(|column| column.get("null_storage").is_some());
        }
        if has_mask {
            set_field(&mut schema, "version", Json::Int(3));
        }
        let content = Value::Str(schema.to_string()).encode_as(&key)?;
        self.edit_value(&key, |writer| writer.set_vlmeta("schema", &content))
    }
}

impl ColumnAppender {
    /// Checks and appends values.
    fn append_checked(&mut self, values: &ColumnValues) -> Result<()> {
        self.check_kind(values)?;
        let checked = self.check(values)?;
        self.append(values, &checked)
    }
}

/// The parameters of a column with the storage of an existing array.
fn params_like(array: &NdArray) -> TableParams {
    let mut params = TableParams::like(array.schunk());
    params.chunk_rows = array.chunkshape().first().copied();
    params.block_rows = array.blockshape().first().copied();
    params
}

/// Flags that mark all of these rows as alive.
fn all_alive(len: u64, key: &str) -> Result<NdArray> {
    let wrong = |source| Error::frame(key, source);
    let dtype = "|b1".parse().map_err(|_| Error::internal(key, "no NumPy type"))?;
    let params = NdParams::new(&[len], dtype).fill(Fill::Value(vec![1]));
    let params = params.chunkshape(&[1 << 16]).blockshape(&[1 << 16]);
    NdWriter::in_memory(&params).and_then(NdWriter::finish).map_err(wrong)
}

/// The flags of these physical rows; rows beyond the flags are dead.
fn alive_in(flags: &NdArray, key: &str, rows: &Range<u64>) -> Result<Vec<bool>> {
    let there = rows.start.min(flags.nitems())..rows.end.min(flags.nitems());
    let bytes = flags.to_bytes(selection(&there)).map_err(|source| Error::frame(key, source))?;
    let mut alive: Vec<bool> = bytes.iter().map(|flag| *flag != 0).collect();
    let count = rows.end.saturating_sub(rows.start);
    alive.resize(usize::try_from(count).unwrap_or(usize::MAX), false);
    Ok(alive)
}

/// The rows in batches.
fn batches(len: u64) -> impl Iterator<Item = Range<u64>> {
    let count = len.div_ceil(BATCH_ROWS);
    (0..count).map(move |n| {
        let start = n.saturating_mul(BATCH_ROWS);
        start..start.saturating_add(BATCH_ROWS).min(len)
    })
}

/// Truth values from bytes, of which one value means null.
fn as_truth(values: ColumnValues, spec: &ColumnSpec) -> ColumnValues {
    if spec.kind == ColumnKind::Fixed("b1") { values.into_truth() } else { values }
}

fn found<'a>(schema: &'a Schema, name: &str) -> Result<&'a ColumnSpec> {
    let spec = schema.columns.iter().find(|spec| spec.name == name);
    spec.ok_or_else(|| Param::NoColumn { name: name.to_owned() }.into())
}

/// Checks that no other column is computed from this one.
fn check_free(schema: &Schema, name: &str) -> Result<()> {
    let lists = ["computed_columns", "materialized_columns"];
    let columns = lists.iter().filter_map(|list| schema.json.get(list)?.as_array()).flatten();
    let mut needed = columns.filter_map(|column| column.get("col_deps")?.as_array()).flatten();
    match needed.any(|found| found.as_str() == Some(name)) {
        true => Err(Error::column(name, DEPENDS)),
        false => Ok(()),
    }
}

fn is_named(column: &Json, name: &str) -> bool {
    column.get("name").and_then(Json::as_str) == Some(name)
}

#[cold]
fn no_fit(name: &str) -> Error {
    Error::column(name, "the new value does not fit its type or width")
}
