//! Tables that are kept up: columns come, go and get other names, cells are set, rows are deleted.
//!
//! | table | changes |
//! |---|---|
//! | of a store | all |
//! | of bcolz | columns, cells; no rows are deleted, and there are no nulls |
//!
//! A store is the old or the new one whatever happens. What a directory cannot do file by file is
//! done in a copy, which takes its place.

use std::path::Path;
use std::sync::Arc;

use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, Store, StoreForm, StoreWriter, Table, Value,
    WriteOptions,
};
use bcolz_store::{CTable, CTableWriter, CreateOptions, DataSet};
use blosc_dtype::Dtype;
use blosc_io::MemStore;
use blosc_io::replace::{Carry, ReplaceOptions, Replacement, Unfinished};
use blosc_io::tree::{DirTree, Tree};

use crate::append::values_of;
use crate::columns::Rule;
use crate::content::{Content, TableRows};
use crate::error::{BcolzLack, CsvError, Doing, Error, Refusal, Result};
use crate::formats::csv;
use crate::params::OpenOptions;
use crate::resources::Resources;
use crate::size::as_len;

/// Rows that are looked at together.
const BATCH_NROWS: usize = 1 << 16;

/// One change of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A new column with the same value in all rows.
    Add {
        /// Its name.
        name: String,
        /// NumPy's type of its items; `text`, and `words` for text that is stored once.
        kind: String,
        /// The value as CSV has it; `None` for null.
        value: Option<String>,
    },
    /// Another name for a column.
    Rename {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// A column that goes.
    Drop {
        /// Its name.
        name: String,
    },
    /// Another value for cells of a column.
    Set {
        /// The name of the column.
        name: String,
        /// The value as CSV has it; `None` for null.
        value: Option<String>,
        /// A condition on the rows, all if there is none.
        condition: Option<String>,
    },
    /// A value for all cells of a column that are null.
    Fill {
        /// The name of the column.
        name: String,
        /// The value as CSV has it.
        value: String,
    },
    /// Rows that go.
    Delete {
        /// A condition on them.
        condition: String,
    },
    /// The table without the bytes of deleted rows and without room for more.
    Compact,
}

/// The actions of [`Change::parse`], and what they do.
pub const ACTIONS: [(&str, &str); 7] = [
    ("add", "Add a column with one value in all rows"),
    ("rename", "Give a column another name"),
    ("drop", "Remove columns"),
    ("set", "Set the cells of columns, in the rows of --where"),
    ("fill", "Set the cells of columns that are null"),
    ("delete", "Delete the rows of --where"),
    ("compact", "Write the table anew without deleted rows and without room for more"),
];

impl Change {
    /// The changes that an action makes of `items`: `COLUMN:TYPE=VALUE` for `add`, `COLUMN=NAME`
    /// for `rename`, `COLUMN` for `drop`, `COLUMN=VALUE` for `set` and `fill`; without a value
    /// cells become null. `None` where something is missing or too much.
    #[must_use]
    pub fn parse(action: &str, items: &[String], condition: Option<&str>) -> Option<Vec<Self>> {
        let condition = condition.map(str::to_owned);
        let is_of_columns = !matches!(action, "delete" | "compact");
        let takes_rows = matches!(action, "set" | "delete");
        if condition.is_some() && !takes_rows || items.is_empty() == is_of_columns {
            return None;
        }
        match action {
            "delete" => Some(vec![Self::Delete { condition: condition? }]),
            "compact" => Some(vec![Self::Compact]),
            _ => items.iter().map(|item| Self::of_column(action, item, &condition)).collect(),
        }
    }

    fn of_column(action: &str, item: &str, condition: &Option<String>) -> Option<Self> {
        let (name, value) = match item.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (item.to_owned(), None),
        };
        Some(match action {
            "add" => {
                let (name, kind) = name.rsplit_once(':')?;
                Self::Add { name: name.to_owned(), kind: kind.to_owned(), value }
            }
            "rename" => Self::Rename { from: name, to: value? },
            "fill" => Self::Fill { name, value: value? },
            "set" => Self::Set { name, value, condition: condition.clone() },
            "drop" if value.is_none() => Self::Drop { name },
            _ => return None,
        })
    }
}

/// The result of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// Cells that were set, or rows that are gone.
    pub count: u64,
    /// Columns whose indexes are gone, since they do not know the change.
    pub indexes: Vec<String>,
}

/// The means of a change.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// How the store is opened, locked and written.
    pub write: WriteOptions,
    /// How a table of bcolz is opened and locked.
    pub bcolz: bcolz_store::OpenOptions,
    /// How it is read.
    pub open: OpenOptions,
    /// Threads and memory.
    pub resources: Resources,
    /// Where temporary files are listed for signals.
    pub unfinished: Unfinished,
}

/// Changes a table of bcolz at `path`.
///
/// # Errors
///
/// [`Refusal::NotInBcolz`]; a value or a condition that makes no sense; a system that refuses.
pub fn change_bcolz(path: &Path, change: &Change, means: &Means) -> Result<Changed> {
    let tree: Arc<dyn Tree> = Arc::new(DirTree::new(path));
    if let DataSet::CArray(_) = bcolz_store::open_in(Arc::clone(&tree), "", &means.bcolz)? {
        return Err(Refusal::NotATable.into());
    }
    let mut writer = CTableWriter::open_in(tree, "", &means.bcolz)?;
    let mut done = Changed::default();
    match change {
        Change::Add { name, kind, value: Some(value) } => {
            let dtype = numpy(name, kind)?;
            let item = item_of(name, &dtype, value, means)?;
            let data = item.repeat(as_len(writer.len()));
            writer.add_column(name, &CreateOptions::new(dtype), &data)?;
            done.count = writer.len();
        }
        Change::Rename { from, to } => writer.rename_column(from, to)?,
        Change::Drop { name } => writer.delete_column(name)?,
        Change::Set { name, value: Some(value), condition } => {
            let table = CTable::open(path)?;
            let (dtype, nrows) = (table.column(name)?.row_dtype()?, table.len());
            let item = item_of(name, &dtype, value, means)?;
            let chosen = match condition {
                None => core::iter::once(0..nrows).collect(),
                Some(condition) => {
                    let scan = table.scan().columns(&[])?.filter(condition);
                    let scan = scan.map_err(|error| {
                        Refusal::in_condition(error.into(), condition, table.names())
                    })?;
                    let mut found = vec![];
                    for batch in scan.batches() {
                        found.extend(batch?.rows);
                    }
                    runs(found)
                }
            };
            drop(table);
            for rows in chosen {
                let count = rows.end.saturating_sub(rows.start);
                writer.write_rows(name, rows.start, &item.repeat(as_len(count)))?;
                done.count = done.count.saturating_add(count);
            }
        }
        other => return Err(not_in_bcolz(other).into()),
    }
    writer.finish()?;
    Ok(done)
}

/// The refusal of a change that only tables of stores have.
const fn not_in_bcolz(change: &Change) -> Refusal {
    Refusal::NotInBcolz(match change {
        Change::Delete { .. } => BcolzLack::Deletion,
        Change::Compact => BcolzLack::DeletedRows,
        Change::Add { .. } => BcolzLack::NullColumn,
        _ => BcolzLack::NullCell,
    })
}

/// Changes the table `key` of the store at `path`; `/` is a store that is one.
///
/// # Errors
///
/// As [`StoreWriter::open_with`]; a value or a condition that makes no sense; what the table
/// refuses.
pub fn change_table(path: &Path, key: &str, change: &Change, means: &Means) -> Result<Changed> {
    let mut writer = StoreWriter::open_with(path, &means.write)?;
    let store = Store::open_with(path, &means.open.store())?;
    let table = store.table(key)?;
    if writer.form() == StoreForm::Dir && needs_copy(&table, change)? {
        let done = in_copy(path, &store, means, &|copy| apply(copy, &table, key, change, means))?;
        drop(writer);
        return Ok(done);
    }
    let done = apply(&mut writer, &table, key, change, means)?;
    drop((table, store));
    drop(writer.commit()?);
    Ok(done)
}

/// Whether files change that only fit each other.
fn needs_copy(table: &Table, change: &Change) -> Result<bool> {
    let name = match change {
        Change::Compact => return Ok(true),
        Change::Set { name, .. } | Change::Fill { name, .. } => name,
        _ => return Ok(false),
    };
    let kind = table.column(name)?.spec().kind.clone();
    Ok(matches!(kind, ColumnKind::Utf8 | ColumnKind::Dictionary { .. }))
}

/// Changes a copy of a directory, which then takes its place.
fn in_copy(
    path: &Path,
    store: &Store,
    means: &Means,
    change: &dyn Fn(&mut StoreWriter) -> Result<Changed>,
) -> Result<Changed> {
    let options = ReplaceOptions {
        replaces_folder: |path| b2store::is_store(path),
        durability: means.write.durability,
        unfinished: means.unfinished.clone(),
        ..ReplaceOptions::default()
    };
    let place = Replacement::folder(path, options);
    let place = place.map_err(Error::io_at(Doing::Create, path))?;
    let new = WriteOptions::default().form(StoreForm::Dir).durability(means.write.durability);
    let mut copy = StoreWriter::copy(store, place.path(), &new)?;
    let done = change(&mut copy)?;
    drop(copy.commit()?);
    place.commit(Carry::Target).map_err(Error::io_at(Doing::Write, path))?;
    Ok(done)
}

fn apply(
    writer: &mut StoreWriter,
    table: &Table,
    key: &str,
    change: &Change,
    means: &Means,
) -> Result<Changed> {
    let indexes = table.indexed_columns()?;
    let count = match change {
        Change::Add { name, kind, value } => {
            let (column, value) = new_column(name, kind, value.as_deref(), means)?;
            writer.add_column(key, &column, &value)?;
            return Ok(Changed { count: table.len()?, indexes: vec![] });
        }
        Change::Rename { from, to } => {
            let indexes = writer.rename_column(key, from, to)?;
            return Ok(Changed { count: 0, indexes });
        }
        Change::Drop { name } => {
            return Ok(Changed { count: 0, indexes: writer.drop_column(key, name)? });
        }
        Change::Set { name, value, condition } => {
            let bits = chosen(table, condition.as_deref())?;
            let value = cell(table, name, value.as_deref(), means)?;
            writer.set_cells(key, name, &mut |row| is_in(&bits, row), &value)?
        }
        Change::Fill { name, value } => {
            writer.fill_nulls(key, name, &cell(table, name, Some(value), means)?)?
        }
        Change::Delete { condition } => {
            let bits = chosen(table, Some(condition))?;
            writer.delete_chosen_rows(key, &mut |row| is_in(&bits, row))?
        }
        Change::Compact => writer.compact_table(key)?,
    };
    let indexes = if count > 0 { indexes } else { vec![] };
    Ok(Changed { count, indexes })
}

/// Numbers of rows as ranges.
fn runs(rows: Vec<u64>) -> Vec<core::ops::Range<u64>> {
    let runs = rows.chunk_by(|a, b| a + 1 == *b);
    runs.filter_map(|run| Some(*run.first()?..*run.last()? + 1)).collect()
}

/// One bit for each row that meets a condition; `None` for all rows.
fn chosen(table: &Table, condition: Option<&str>) -> Result<Option<Vec<u64>>> {
    let Some(condition) = condition else { return Ok(None) };
    let rows = TableRows::open(table.clone())?;
    let (filter, nrows) = (rows.condition(condition)?, rows.nrows());
    let mut bits = vec![0_u64; as_len(nrows.div_ceil(64))];
    for start in (0..nrows).step_by(BATCH_NROWS) {
        for row in filter.matches(start..nrows.min(start + BATCH_NROWS as u64))? {
            bits[as_len(row / 64)] |= 1 << (row % 64);
        }
    }
    Ok(Some(bits))
}

fn is_in(bits: &Option<Vec<u64>>, row: u64) -> bool {
    let bit =
        |bits: &Vec<u64>| bits.get(as_len(row / 64)).is_some_and(|w| w >> (row % 64) & 1 == 1);
    bits.as_ref().is_none_or(bit)
}

/// A value for a column of a table, as its only row.
fn cell(table: &Table, name: &str, text: Option<&str>, means: &Means) -> Result<ColumnValues> {
    let rows = TableRows::open_column(table.clone(), name)?;
    let Some(text) = text else { return Ok(ColumnValues::objects([Value::Nil])) };
    let dtype = rows.dtype_of_text(&|_| text.chars().count())?;
    let content = content_of(name, &dtype, text)?;
    let values = values_of(&rows, &content, &means.resources)?;
    values.into_iter().next().ok_or(Error::Internal("a value of no column"))
}

/// A new column, and the value of its rows.
fn new_column(
    name: &str,
    kind: &str,
    text: Option<&str>,
    means: &Means,
) -> Result<(NewColumn, ColumnValues)> {
    let nulls = if text.is_none() { Nulls::Mask } else { Nulls::None };
    let null = |values: ColumnValues| match text {
        Some(_) => values,
        None => values.with_valid(vec![false]),
    };
    let of_text = || null(ColumnValues::text([text.unwrap_or_default()]));
    match kind {
        "text" => Ok((NewColumn::new(name, ColumnKind::Utf8).nulls(nulls), of_text())),
        "words" => Ok((NewColumn::new(name, ColumnKind::Dictionary { null_code: -1 }), of_text())),
        kind => {
            let dtype = numpy(name, kind)?;
            let rule = Rule::of_items(name, &dtype, &[])?;
            let item = match text {
                Some(text) => item_of(name, &dtype, text, means)?,
                None => vec![0; dtype.itemsize()],
            };
            let values = null(rule.values(name, item, 1)?);
            Ok((NewColumn::new(name, rule.kind()).nulls(nulls), values))
        }
    }
}

/// The type that NumPy writes like this, for a column.
fn numpy(name: &str, text: &str) -> Result<Dtype> {
    text.parse().map_err(|_| Error::NoColumnKind(format!("`{name}`, {text:?}")))
}

/// An item of a type, by its text.
fn item_of(name: &str, dtype: &Dtype, text: &str, means: &Means) -> Result<Vec<u8>> {
    let dtype = Dtype::packed([(name.to_owned(), dtype.clone())])
        .map_err(|error| Error::NoColumnKind(error.to_string()))?;
    let mut item = vec![];
    let budget = means.resources.decoding();
    content_of(name, &dtype, text)?.stream(&budget, &mut |bytes| {
        item.extend_from_slice(bytes);
        Ok::<(), Error>(())
    })?;
    Ok(item)
}

/// A table of one cell.
fn content_of(name: &str, dtype: &Dtype, text: &str) -> Result<Content> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let lines = format!("{}\n{}\n", quoted(name), quoted(text));
    let file = Arc::new(MemStore::new(lines.into_bytes()));
    let items = csv::read(file, csv::COMMA, Some(dtype), csv::MissingTruth::Text, &mut |_| ())
        .map_err(|error| match error {
            // There is no file whose lines could be counted.
            Error::Csv(CsvError::Value { column, text, dtype, .. }) => {
                Error::Csv(CsvError::Cell { column, text, dtype })
            }
            error => error,
        })?;
    Ok(Content::Items(items))
}
