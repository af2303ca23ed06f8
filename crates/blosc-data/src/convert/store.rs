//! Conversion to stores of python-blosc2: rows with fields become a table; anything else becomes a
//! value, with the input's name as its key.
//!
//! A table of bcolz is read column by column; other rows are split into columns. NumPy types that
//! tables lack become others with the same values: big-endian items become little-endian, half
//! floats become floats, days and hours become seconds.

use std::{path::Path, sync::Arc};

use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, Store, StoreForm, StoreWriter, Table, Values,
    WriteOptions,
};
use bcolz_store::{CTable, DataSet, Json};
use blosc_dtype::Dtype;

use super::{Conversion, Recompressed, Report, each_rows, recompress_store, split};
use crate::columns::{Rule, cell_of};
use crate::content::{Content, Object, TableRows, rows::nulls_of_copy};
use crate::error::{Error, Refusal, Result};
use crate::size::as_len;
use crate::spool::Station;

/// The key of a table that is a whole store.
const ROOT: &str = "/";

/// Bytes of rows that are taken at once.
const BATCH_NBYTES: u64 = 8 << 20;

/// The columns of a table, each with the rule that converts the items of the input.
type Columns = Vec<(String, Rule)>;

/// Takes the rows of a table, some at a time.
type BatchSink<'a> = &'a mut dyn FnMut(Vec<ColumnValues>) -> Result<()>;

impl Conversion<'_> {
    /// Writes a store to `path`, where nothing is yet.
    pub(super) fn store(&self, path: &Path) -> Result<Report> {
        let options = WriteOptions::default().form(self.settings.format.store_form());
        let mut writer = StoreWriter::create_with(path, &options)?;
        let (done, _station) = self.fill_store(&mut writer, None)?;
        writer.commit()?;
        Ok(done)
    }

    /// Adds the input to a store at `key`. Without a key, a table becomes the whole store and a
    /// value gets the input's name. The stations hold the value until the store is written.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); a key that the store refuses.
    pub fn fill_store(
        &self,
        writer: &mut StoreWriter,
        key: Option<&str>,
    ) -> Result<(Report, Vec<Station>)> {
        let root = key.unwrap_or(ROOT);
        if let Some(rows) = self.table_rows() {
            let done = self.copy_rows(rows, writer, root)?;
            return Ok((Report { nbytes: 0, stored_nbytes: 0, ..done.report }, done.stations));
        }
        let Some(columns) = self.columns()? else {
            let station = self.station()?;
            let is_array = self.content.layout()?.is_some() || self.settings.dtype.is_some();
            let done =
                if is_array { self.array(station.path())? } else { self.frame(station.path())? };
            self.compare_input(station.path())?;
            writer.insert_file(key.unwrap_or(&self.settings.key), station.path())?;
            return Ok((done, vec![station]));
        };
        let attributes = self.attributes()?;
        // Attributes that do not fit are an error before the work, not after it.
        StoreWriter::check_attributes(root, attributes.iter().map(|(name, _)| name))?;
        let params = self.table_params()?;
        let mut rows = writer.create_table_with(root, &new_columns(&columns), &params)?;
        self.batches(&columns, &mut |values| Ok(rows.append(&values)?))?;
        self.content.compare_seals()?;
        rows.finish()?;
        for (name, value) in attributes.iter() {
            writer.set_attribute(root, name, &value.into())?;
        }
        let retyped = columns.iter().filter(|(_, rule)| rule.loses_type());
        let retyped = retyped.map(|(name, _)| format!("the type of column `{name}`"));
        let long = attributes.iter().filter(|(_, value)| has_long_integer(value));
        let long = long.map(|(name, _)| format!("an integer of attribute `{name}`, now text,"));
        let left_out = retyped.chain(long).collect();
        Ok((Report::without(left_out), vec![]))
    }

    /// The rows of a store's table, if the input is one.
    fn table_rows(&self) -> Option<&TableRows> {
        self.content.rows().filter(|rows| !rows.is_column())
    }

    /// Whether the frames of the table are copied.
    pub(super) fn is_copy(&self, rows: &TableRows) -> bool {
        rows.is_whole()
    }

    /// Copies a table to another store: its frames, or new ones for some of its columns.
    fn copy_rows(
        &self,
        rows: &TableRows,
        writer: &mut StoreWriter,
        key: &str,
    ) -> Result<Recompressed> {
        if self.is_copy(rows) {
            writer.insert_table_from(key, rows.table())?;
            if self.is_anew() || self.settings.checksums.is_some() {
                return recompress_store(writer, Some(key), self.settings, false, self.progress);
            }
            (self.progress)(rows.sizes().0);
            return Ok(Recompressed::default());
        }
        let columns: Vec<NewColumn> = rows
            .columns()
            .iter()
            .map(|column| {
                let new = NewColumn::like(column.spec());
                match nulls_of_copy(column) {
                    Some(nulls) => new.nulls(nulls),
                    None => new,
                }
            })
            .collect();
        let mut new = writer.create_table_with(key, &columns, &self.table_params()?)?;
        rows.for_each_batch(0..rows.nrows(), &mut |values| {
            let values: Vec<ColumnValues> = values
                .into_iter()
                .zip(rows.columns())
                .map(|(values, column)| match nulls_of_copy(column) {
                    Some(_) => truth_values(values),
                    None => values,
                })
                .collect();
            Ok::<(), Error>(new.append(&values)?)
        })?;
        rows.compare_seals()?;
        new.finish()?;
        for (name, value) in rows.table().attributes()? {
            writer.set_attribute(key, &name, &value)?;
        }
        Ok(Recompressed::default())
    }

    /// The table of the chosen columns and rows, in an archive of its own.
    pub(super) fn chosen_table(&self, rows: &TableRows, path: &Path) -> Result<Table> {
        let options = WriteOptions::default().form(StoreForm::Zip);
        let mut writer = StoreWriter::create_with(path, &options)?;
        let _done = self.copy_rows(rows, &mut writer, ROOT)?;
        Ok(writer.commit()?.table(ROOT)?)
    }

    /// The columns, if the input is a table.
    fn columns(&self) -> Result<Option<Columns>> {
        if let Some(DataSet::CTable(table)) = self.data_set() {
            let rules = table.columns().iter().map(|column| {
                let (name, array) = (column.name.as_str(), &column.array);
                let inner = array.shape().get(1..).unwrap_or_default();
                let rule = match array.is_object() {
                    true => Rule::Objects,
                    false => Rule::of_items(name, array.dtype(), inner)?,
                };
                Ok((name.to_owned(), rule))
            });
            return rules.collect::<Result<_>>().map(Some);
        }
        let Some(layout) = self.content.layout()? else { return Ok(None) };
        if layout.dtype.fields().is_empty() || layout.shape.len() != 1 {
            return Ok(None);
        }
        let rules = layout.dtype.fields().iter().map(|field| {
            let (item, inner) = field.dtype().subarray().unwrap_or((field.dtype(), &[]));
            let is_nullable = self.content.nullable().iter().any(|name| name == field.name());
            let rule = match is_nullable {
                true => Rule::Truths,
                false => Rule::of_items(field.name(), item, inner)?,
            };
            Ok((field.name().to_owned(), rule))
        });
        rules.collect::<Result<_>>().map(Some)
    }

    /// Hands over the rows of the input as values of the columns, at least once, even without rows.
    fn batches(&self, columns: &Columns, sink: BatchSink<'_>) -> Result<()> {
        let batch = BATCH_NBYTES.min(self.settings.resources.held() / 8);
        if let Some(DataSet::CTable(table)) = self.data_set() {
            return self.batches_of_bcolz(table, columns, batch, sink);
        }
        let layout = self.content.layout()?.ok_or(Refusal::NoColumns)?;
        batches_of_rows(self, &layout.dtype, columns, batch, sink)
    }

    fn batches_of_bcolz(
        &self,
        table: &CTable,
        columns: &Columns,
        batch: u64,
        sink: BatchSink<'_>,
    ) -> Result<()> {
        let rowsize = table.nbytes().checked_div(table.len()).unwrap_or(0).max(1);
        let step = (batch / rowsize).max(1);
        let objects = table.columns().iter().map(|column| {
            let array = &column.array;
            Ok(if array.is_object() { Some(array.objects()?) } else { None })
        });
        let mut objects: Vec<_> = objects.collect::<Result<_>>()?;
        let mut start = 0;
        loop {
            let end = table.len().min(start + step);
            let count = as_len(end - start);
            let mut values = Vec::new();
            for ((column, (name, rule)), objects) in
                table.columns().iter().zip(columns).zip(&mut objects)
            {
                values.push(match objects {
                    Some(objects) => {
                        let cells = objects.take(count).map(|cell| cell_of(&cell?, name));
                        ColumnValues::objects(cells.collect::<Result<Vec<_>>>()?)
                    }
                    None => rule.values(name, column.array.read(start..end)?, count)?,
                });
            }
            sink(values)?;
            (self.progress)(rowsize.saturating_mul(end - start));
            start = end;
            if start >= table.len() {
                return Ok(());
            }
        }
    }

    /// Whether a store has the values of the input, at `key` or at their own place.
    ///
    /// # Errors
    ///
    /// Values that cannot be read.
    pub fn is_equal_store(&self, store: &Store, key: Option<&str>) -> Result<bool> {
        let root = key.unwrap_or(ROOT);
        if let Some(rows) = self.table_rows() {
            let (table, mut start, mut is_equal) = (store.table(root)?, 0_u64, true);
            rows.for_each_batch(0..rows.nrows(), &mut |expected| {
                let end = start + expected.first().map_or(0, ColumnValues::len) as u64;
                for (column, expected) in rows.columns().iter().zip(expected) {
                    let mut found = table.column(&column.spec().name)?.read(start..end)?;
                    let mut expected = expected;
                    if nulls_of_copy(column).is_some() {
                        (found, expected) = (truth_values(found), truth_values(expected));
                    }
                    is_equal = is_equal && have_same_cells(&found, &expected);
                }
                start = end;
                Ok::<(), Error>(())
            })?;
            return Ok(is_equal && table.len()? == start);
        }
        let Some(columns) = self.columns()? else {
            let schunk = Arc::new(store.frame(key.unwrap_or(&self.settings.key))?);
            let found = self.digest(&Content::Object(Object::Frame(schunk)))?;
            return Ok(found == self.digest(self.content)?);
        };
        let (table, mut start, mut is_equal) = (store.table(root)?, 0_u64, true);
        self.batches(&columns, &mut |expected| {
            let end = start + expected.first().map_or(0, ColumnValues::len) as u64;
            for ((name, _), expected) in columns.iter().zip(&expected) {
                let found = table.column(name)?.read(start..end)?;
                is_equal = is_equal && found.valid == expected.valid && are_same(&found, expected);
            }
            start = end;
            Ok(())
        })?;
        Ok(is_equal && table.len()? == start)
    }
}

/// Hands over the rows of items with fields.
fn batches_of_rows(
    work: &Conversion<'_>,
    dtype: &Dtype,
    columns: &Columns,
    batch: u64,
    sink: BatchSink<'_>,
) -> Result<()> {
    let rowsize = dtype.itemsize().max(1);
    let batch = as_len(batch);
    let mut parts: Vec<Vec<u8>> = vec![Vec::new(); columns.len()];
    let (mut kept, mut is_first) = (Vec::new(), true);
    let mut hand_over = |rows: &[u8]| {
        split(rows, dtype, &mut parts);
        let values = columns.iter().zip(&mut parts).map(|((name, rule), part)| {
            rule.values(name, core::mem::take(part), rows.len() / rowsize)
        });
        sink(values.collect::<Result<_>>()?)
    };
    each_rows(work.content, &work.settings.resources, rowsize, &mut |rows| {
        (work.progress)(rows.len() as u64);
        kept.extend_from_slice(rows);
        if kept.len() >= batch {
            hand_over(&kept)?;
            kept.clear();
            is_first = false;
        }
        Ok::<(), Error>(())
    })?;
    if kept.is_empty() && !is_first { Ok(()) } else { hand_over(&kept) }
}

fn new_columns(columns: &Columns) -> Vec<NewColumn> {
    let new = columns.iter().map(|(name, rule)| {
        let kind = rule.kind();
        // NaT of NumPy is the null of a timestamp.
        let nulls = match kind {
            ColumnKind::Timestamp { .. } => Nulls::Sentinel(Json::Int(i64::MIN.into())),
            _ if matches!(rule, Rule::Truths) => Nulls::Mask,
            _ => Nulls::None,
        };
        NewColumn::new(name, kind).nulls(nulls)
    });
    new.collect()
}

/// Whether two columns have equal cells; cells that are null in both are equal.
fn have_same_cells(found: &ColumnValues, expected: &ColumnValues) -> bool {
    (found.valid.is_none() && expected.valid.is_none() && found == expected)
        || (found.len() == expected.len()
            && (0..found.len()).all(|row| {
                let cell = |values: &ColumnValues| values.value(row).encode();
                found.is_null(row) == expected.is_null(row) && cell(found) == cell(expected)
            }))
}

/// Truth values from bytes of which one means null.
fn truth_values(mut values: ColumnValues) -> ColumnValues {
    if let (Values::Fixed { dtype, bytes, .. }, Ok(truth)) = (&mut values.values, "|b1".parse()) {
        *dtype = truth;
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte == 1));
    }
    values
}

/// Whether two columns have the same rows.
fn are_same(found: &ColumnValues, expected: &ColumnValues) -> bool {
    if found.len() != expected.len() {
        return false;
    }
    if let (Values::Fixed { bytes: found, .. }, Values::Fixed { bytes: expected, .. }) =
        (&found.values, &expected.values)
    {
        return found == expected;
    }
    (0..found.len()).all(|row| found.value(row) == expected.value(row))
}

/// Whether the document has an integer of more than 64 bits.
fn has_long_integer(json: &Json) -> bool {
    match json {
        Json::Int(n) => i64::try_from(*n).is_err() && u64::try_from(*n).is_err(),
        Json::Array(values) => values.iter().any(has_long_integer),
        Json::Object(entries) => entries.iter().any(|(_, value)| has_long_integer(value)),
        _ => false,
    }
}
