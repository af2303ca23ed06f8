//! Changes of tables: columns are added, removed and renamed, cells are set, rows are deleted.
//!
//! | table | changes |
//! |---|---|
//! | of a store | all |
//! | of bcolz | columns, cells; no rows are deleted, and there are no nulls |
//!
//! A crash leaves the old store or the new one. Changes that a directory cannot make file by file
//! are made in a copy, which then replaces it.

use core::ops::Range;
use std::path::Path;
use std::sync::Arc;

use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, Store, StoreForm, StoreWriter, Table, Value,
    WriteOptions,
};
use bcolz_store::{
    CTable, CTableWriter, CreateOptions, DataSet, check_new_column, place_of_column,
};
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

/// Rows for which a condition is evaluated at once.
const BATCH_NROWS: usize = 1 << 16;

/// One change of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A new column with the same value in all rows.
    Add {
        /// Its name.
        name: String,
        /// NumPy's type of the items; or `text`; or `words` for text that is stored once.
        kind: String,
        /// The value in the spelling of CSV; `None` for null.
        value: Option<String>,
    },
    /// A new name for a column.
    Rename {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// The removal of a column.
    Drop {
        /// Its name.
        name: String,
    },
    /// A new value for cells of a column.
    Set {
        /// The name of the column.
        name: String,
        /// The value in the spelling of CSV; `None` for null.
        value: Option<String>,
        /// A condition on the rows; `None` for all.
        condition: Option<String>,
    },
    /// A value for all null cells of a column.
    Fill {
        /// The name of the column.
        name: String,
        /// The value in the spelling of CSV.
        value: String,
    },
    /// The removal of rows.
    Delete {
        /// A condition on them.
        condition: String,
    },
    /// The removal of deleted rows' bytes, and of room for more rows.
    Compact,
}

/// The actions of [`Change::parse`], with descriptions.
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
    /// The changes for an action and its `items`: `COLUMN:TYPE=VALUE` for `add`, `COLUMN=NAME` for
    /// `rename`, `COLUMN` for `drop`, `COLUMN=VALUE` for `set` and `fill`. Without a value, cells
    /// become null. `None` if words are missing or superfluous.
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
    /// Cells that were set, or rows that were removed.
    pub count: u64,
    /// Columns whose indexes were removed, since the change made them stale.
    pub indexes: Vec<String>,
}

/// The options of a change.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// Options for opening, locking and writing a store.
    pub write: WriteOptions,
    /// Options for opening and locking a table of bcolz.
    pub bcolz: bcolz_store::OpenOptions,
    /// Options for reading.
    pub open: OpenOptions,
    /// Threads and memory.
    pub resources: Resources,
    /// The list of temporary files for signals.
    pub unfinished: Unfinished,
}

/// Makes changes of the bcolz table at `path`, in order. If one of them is impossible, none is
/// made. Conditions see the table before all changes.
///
/// # Errors
///
/// [`Refusal::NotInBcolz`]; a value or a condition that does not parse; a refusal of the system.
pub fn change_bcolz(path: &Path, changes: &[Change], means: &Means) -> Result<Vec<Changed>> {
    let tree: Arc<dyn Tree> = Arc::new(DirTree::new(path));
    if let DataSet::CArray(_) = bcolz_store::open_in(Arc::clone(&tree), "", &means.bcolz)? {
        return Err(Refusal::NotATable.into());
    }
    let mut writer = CTableWriter::open_in(tree, "", &means.bcolz)?;
    let table = CTable::open(path)?;
    let mut names: Vec<String> = table.names().map(str::to_owned).collect();
    let steps = changes.iter().map(|change| Step::for_change(change, &table, &mut names, means));
    let steps = steps.collect::<Result<Vec<_>>>()?;
    drop(table);
    let done = steps.into_iter().map(|step| step.apply(&mut writer)).collect::<Result<_>>()?;
    writer.finish()?;
    Ok(done)
}

/// A possible change of a bcolz table.
enum Step<'a> {
    Add { name: &'a str, dtype: Dtype, item: Vec<u8> },
    Rename { from: &'a str, to: &'a str },
    Drop { name: &'a str },
    Set { name: &'a str, item: Vec<u8>, rows: Vec<Range<u64>> },
}

impl<'a> Step<'a> {
    /// The step for a change, in a table with the columns `names`, which it updates.
    fn for_change(
        change: &'a Change,
        table: &CTable,
        names: &mut Vec<String>,
        means: &Means,
    ) -> Result<Self> {
        Ok(match change {
            Change::Add { name, kind, value: Some(value) } => {
                let dtype = numpy(name, kind)?;
                let item = item_of(name, &dtype, value, means)?;
                check_new_column(names.iter().map(String::as_str), name)?;
                names.push(name.clone());
                Self::Add { name, dtype, item }
            }
            Change::Rename { from, to } => {
                let place = place_of_column(names.iter().map(String::as_str), from)?;
                check_new_column(names.iter().map(String::as_str), to)?;
                names.splice(place..=place, [to.clone()]);
                Self::Rename { from, to }
            }
            Change::Drop { name } => {
                names.remove(place_of_column(names.iter().map(String::as_str), name)?);
                Self::Drop { name }
            }
            Change::Set { name, value: Some(value), condition } => {
                let item = item_of(name, &table.column(name)?.row_dtype()?, value, means)?;
                Self::Set { name, item, rows: rows_of(table, condition.as_deref())? }
            }
            other => return Err(not_in_bcolz(other).into()),
        })
    }

    fn apply(self, writer: &mut CTableWriter) -> Result<Changed> {
        let mut done = Changed::default();
        match self {
            Self::Add { name, dtype, item } => {
                done.count = writer.len();
                let data = item.repeat(as_len(done.count));
                writer.add_column(name, &CreateOptions::new(dtype), &data)?;
            }
            Self::Rename { from, to } => writer.rename_column(from, to)?,
            Self::Drop { name } => writer.delete_column(name)?,
            Self::Set { name, item, rows } => {
                for rows in rows {
                    let count = rows.end.saturating_sub(rows.start);
                    writer.write_rows(name, rows.start, &item.repeat(as_len(count)))?;
                    done.count = done.count.saturating_add(count);
                }
            }
        }
        Ok(done)
    }
}

/// The rows that meet a condition; all rows without one.
fn rows_of(table: &CTable, condition: Option<&str>) -> Result<Vec<Range<u64>>> {
    let Some(condition) = condition else {
        return Ok(core::iter::once(0..table.len()).collect());
    };
    let scan = table.scan().columns(&[])?.filter(condition);
    let scan =
        scan.map_err(|error| Refusal::in_condition(error.into(), condition, table.names()))?;
    let mut found = vec![];
    for batch in scan.batches() {
        found.extend(batch?.rows);
    }
    Ok(runs(found))
}

/// The refusal of a change that only stores support.
const fn not_in_bcolz(change: &Change) -> Refusal {
    Refusal::NotInBcolz(match change {
        Change::Delete { .. } => BcolzLack::Deletion,
        Change::Compact => BcolzLack::DeletedRows,
        Change::Add { .. } => BcolzLack::NullColumn,
        _ => BcolzLack::NullCell,
    })
}

/// Changes the table `key` of the store at `path`; `/` stands for a store that is a table. All
/// changes are made or none. Conditions see the table before all changes.
///
/// # Errors
///
/// As [`StoreWriter::open_with`]; a value or a condition that does not parse; changes that the
/// table refuses.
pub fn change_table(
    path: &Path,
    key: &str,
    changes: &[Change],
    means: &Means,
) -> Result<Vec<Changed>> {
    let mut writer = StoreWriter::open_with(path, &means.write)?;
    let store = Store::open_with(path, &means.open.store())?;
    let table = store.table(key)?;
    let apply_all = |writer: &mut StoreWriter| match set_cells(writer, &table, key, changes, means)
    {
        Some(done) => done,
        None => changes.iter().map(|change| apply(writer, &table, key, change, means)).collect(),
    };
    if writer.form() == StoreForm::Dir && needs_copy(&table, changes)? {
        let done = in_copy(path, &store, means, &apply_all)?;
        drop(writer);
        return Ok(done);
    }
    let done = apply_all(&mut writer)?;
    drop((table, store));
    drop(writer.commit()?);
    Ok(done)
}

/// Whether the changes touch several files that must fit each other.
fn needs_copy(table: &Table, changes: &[Change]) -> Result<bool> {
    let [change] = changes else { return Ok(true) };
    let name = match change {
        Change::Compact => return Ok(true),
        Change::Set { name, .. } | Change::Fill { name, .. } => name,
        _ => return Ok(false),
    };
    let kind = table.column(name)?.spec().kind.clone();
    Ok(matches!(kind, ColumnKind::Utf8 | ColumnKind::Dictionary { .. }))
}

/// Changes a copy of a directory, which then replaces the directory.
fn in_copy(
    path: &Path,
    store: &Store,
    means: &Means,
    change: &dyn Fn(&mut StoreWriter) -> Result<Vec<Changed>>,
) -> Result<Vec<Changed>> {
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
        Change::Set { .. } | Change::Fill { .. } => {
            let done = set_cells(writer, table, key, core::slice::from_ref(change), means);
            return Ok(done.transpose()?.into_iter().flatten().next().unwrap_or_default());
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

/// Sets cells in one step, if all changes set cells. Conditions see the table before all changes.
fn set_cells(
    writer: &mut StoreWriter,
    table: &Table,
    key: &str,
    changes: &[Change],
    means: &Means,
) -> Option<Result<Vec<Changed>>> {
    let parts = changes.iter().map(|change| match change {
        Change::Set { name, value, condition } => Some((name, value.as_deref(), Some(condition))),
        Change::Fill { name, value } => Some((name, Some(value.as_str()), None)),
        _ => None,
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let (_, _, rows) = parts.first()?;
    let mut set = || {
        let indexes = table.indexed_columns()?;
        let values = parts.iter().map(|(name, value, _)| cell(table, name, *value, means));
        let values = values.collect::<Result<Vec<_>>>()?;
        let cells: Vec<_> = parts.iter().map(|(name, ..)| name.as_str()).zip(&values).collect();
        let counts = match rows {
            Some(condition) => {
                let bits = chosen(table, condition.as_deref())?;
                writer.set_cells(key, &cells, &mut |row| is_in(&bits, row))?
            }
            None => writer.fill_nulls(key, &cells)?,
        };
        let changed = |count| Changed { count, indexes: vec![] };
        let mut done: Vec<Changed> = counts.into_iter().map(changed).collect();
        // Each index is reported once.
        if let Some(first) = done.iter_mut().find(|done| done.count > 0) {
            first.indexes = indexes;
        }
        Ok(done)
    };
    Some(set())
}

/// Numbers of rows as ranges.
fn runs(rows: Vec<u64>) -> Vec<Range<u64>> {
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

/// A value for a column, as a column of one row.
fn cell(table: &Table, name: &str, text: Option<&str>, means: &Means) -> Result<ColumnValues> {
    let rows = TableRows::open_column(table.clone(), name)?;
    let Some(text) = text else { return Ok(ColumnValues::objects([Value::Nil])) };
    // Text can be empty; no `=` at all makes it null.
    if text.is_empty() && rows.nullable(false).len() == 1 {
        return Ok(ColumnValues::objects([Value::Nil]));
    }
    let dtype = rows.dtype_of_text(&|_| text.chars().count())?;
    let content = content_of(name, &dtype, text)?;
    let values = values_of(&rows, &content, &means.resources)?;
    values.into_iter().next().ok_or(Error::Internal("a value of no column"))
}

/// The description of a new column, and its value.
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

/// The NumPy type with this name, for a column.
fn numpy(name: &str, text: &str) -> Result<Dtype> {
    text.parse().map_err(|_| Error::NoColumnKind(format!("`{name}`, {text:?}")))
}

/// An item of a type, parsed from text.
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
    let items = csv::read(file, csv::COMMA, Some(dtype), csv::Missing::Text, &mut |_| ()).map_err(
        |error| match error {
            // The value is not from a file, so the error gets no line number.
            Error::Csv(CsvError::Value { column, text, dtype, .. }) => {
                Error::Csv(CsvError::Cell { column, text, dtype })
            }
            error => error,
        },
    )?;
    Ok(Content::Items(items))
}
