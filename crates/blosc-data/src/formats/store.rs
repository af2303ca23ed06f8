//! Stores and their tables.

use core::{fmt, ops::Range};
use std::sync::Arc;

use b2store::{
    ChildKind, Column as StoredColumn, ColumnKind, ColumnValues, Nulls, Store, StoreKind,
    Table as StoredTable, table::Filter,
};
use serde_json::{Map, Value};

use crate::Budget;
use crate::content::rows;
use crate::dataset::{Data, Dataset};
use crate::error::{Error, Param, Result};
use crate::format::Format;
use crate::formats::frame;
use crate::group::{Group, Member, MemberKind};
use crate::json;
use crate::one_column::OneColumn;
use crate::size::{check_range, check_room};
use crate::source::Source;
#[cfg(feature = "arrow")]
use crate::table::names_of;
use crate::table::{Column, RowFilter, Table};
use crate::verify::{self, OnProgress, Report, VerifyOptions};

/// The data of a store: a table if it is one, else a group.
///
/// # Errors
///
/// A store or a table that cannot be opened.
pub(crate) fn data(source: Source, name: &str, options: &b2store::OpenOptions) -> Result<Data> {
    let is_folder = matches!(source, Source::Folder(_));
    let store = match source {
        Source::File(file) => Store::from_store(file, options)?,
        Source::Folder(tree) => Store::from_tree(tree, options)?,
    };
    if store.tables().any(|key| key == "/") {
        return Ok(Data::Table(Arc::new(StoreTable::open(store.table("/")?)?)));
    }
    let format = match store.kind() {
        _ if is_folder => "b2d",
        StoreKind::Embed => "b2e",
        _ => "b2z",
    };
    let (name, budget) = (name.to_owned(), options.budget.clone());
    Ok(Data::Group(Arc::new(StoreGroup { store, name, format, budget })))
}

/// A store, or a group in one.
struct StoreGroup {
    store: Store,
    name: String,
    format: &'static str,
    /// Threads and memory of reads of arrays.
    budget: Budget,
}

impl fmt::Debug for StoreGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreGroup").field("name", &self.name).finish_non_exhaustive()
    }
}

impl StoreGroup {
    fn value(&self, key: &str) -> Result<Data> {
        if self.store.tables().any(|table| table == key) {
            return Ok(Data::Table(Arc::new(StoreTable::open(self.store.table(key)?)?)));
        }
        if self.store.contains(key) {
            return frame::data(Arc::new(self.store.frame(key)?), key, &self.budget);
        }
        if self.store.groups().contains(key) {
            let (store, name) = (self.store.clone(), format!("{}::{key}", self.name));
            let (format, budget) = (self.format, self.budget.clone());
            let group = Self { store, name, format, budget };
            return Ok(Data::Group(Arc::new(Below { group, root: key.to_owned() })));
        }
        match self.column(key)? {
            Some(column) => Ok(Data::Table(Arc::new(column))),
            None => Err(Error::NoMember { name: key.to_owned() }),
        }
    }

    /// The column that `TABLE/NAME` is.
    fn column(&self, key: &str) -> Result<Option<OneColumn>> {
        for table in self.store.tables().filter(|table| is_below(table, key)) {
            let name = key.strip_prefix(table.trim_end_matches('/')).unwrap_or_default();
            let table = Arc::new(StoreTable::open(self.store.table(table)?)?);
            if let Some(column) = OneColumn::open(table, name) {
                return Ok(Some(column));
            }
        }
        Ok(None)
    }
}

/// Whether a key is that of a group or table, or of what is in it.
fn is_below(group: &str, key: &str) -> bool {
    let rest = key.strip_prefix(group.trim_end_matches('/'));
    key == group || rest.is_some_and(|rest| rest.starts_with('/'))
}

/// The damage of a store as a whole: that which opening has found, and, where all of the store is
/// looked at, that of its embedded values.
fn verify_whole(store: &Store, root: &str) -> Report {
    let mut report = Report::default();
    let damage = store.notes().iter().filter_map(b2store::Note::damage);
    let embed = (root == "/").then(|| store.check_embed().err()).flatten();
    damage.chain(embed).for_each(|error| {
        verify::add_fault(&mut report, error.into());
    });
    report
}

/// Decodes a frame of a store, and compares the sum that an archive has of it: of a damaged chunk
/// the frame says more than that sum.
fn verify_frame(
    store: &Store,
    key: &str,
    options: &VerifyOptions,
    progress: OnProgress<'_>,
) -> Report {
    let schunk = match store.frame(key) {
        Ok(schunk) => schunk,
        Err(error) => return verify::of_reading(Err(error.into()), 0),
    };
    let mut report = verify::report(schunk.verify(options, progress), ToString::to_string);
    if report.is_ok() {
        report.other.extend(store.check_crc(key).err().map(Error::Store));
    }
    report
}

/// The sums that an archive has of the values of a group, and the frames of attributes. Tables look
/// after theirs.
fn verify_keys(store: &Store, root: &str, options: &VerifyOptions) -> Report {
    let mut report = Report::default();
    let is_in_table = |key: &str| store.tables().any(|table| is_below(table, key));
    for key in store.keys().filter(|key| is_below(root, key) && !is_in_table(key)) {
        if key.ends_with("/__vlmeta__") {
            let found = verify_frame(store, key, options, &mut |_| ());
            verify::add_member(&mut report, key, found);
        } else if let Err(error) = store.check_crc(key) {
            report.other.push(error.into());
        }
    }
    report
}

impl Group for StoreGroup {
    fn format(&self) -> &'static str {
        self.format
    }

    fn members(&self) -> Result<Vec<Member>> {
        let kind = |kind| match kind {
            ChildKind::Group => MemberKind::Group,
            ChildKind::Table => MemberKind::Table,
            _ => MemberKind::Value,
        };
        let children = self.store.tree().into_iter();
        Ok(children.map(|child| Member::new(child.key, kind(child.kind))).collect())
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        let key = match name.trim_end_matches('/') {
            key if key.starts_with('/') => key.to_owned(),
            key => format!("/{key}"),
        };
        let data = self.value(&key)?;
        Ok(Dataset::new(format!("{}::{key}", self.name), Format::Store, data))
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(attributes(self.store.attributes("/")?))
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Report> {
        let mut report = verify_whole(&self.store, "/");
        report.merge(verify_keys(&self.store, "/", options));
        Ok(report)
    }

    fn lost(&self) -> Vec<String> {
        let damage = self.store.notes().iter().filter_map(b2store::Note::damage);
        damage.map(|damage| damage.to_string()).collect()
    }
}

/// A group in a store: the keys below its own.
#[derive(Debug)]
struct Below {
    group: StoreGroup,
    root: String,
}

impl Group for Below {
    fn format(&self) -> &'static str {
        self.group.format
    }

    fn members(&self) -> Result<Vec<Member>> {
        let below = |member: Member| {
            let name = member.name.strip_prefix(&self.root)?;
            name.starts_with('/').then(|| Member::new(name, member.kind))
        };
        Ok(self.group.members()?.into_iter().filter_map(below).collect())
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        self.group.open(&format!("{}/{}", self.root, name.trim_start_matches('/')))
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(attributes(self.group.store.attributes(&self.root)?))
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Report> {
        let mut report = verify_whole(&self.group.store, &self.root);
        report.merge(verify_keys(&self.group.store, &self.root, options));
        Ok(report)
    }
}

fn attributes(found: Vec<(String, b2store::Value)>) -> Map<String, Value> {
    found.iter().map(|(name, value)| (name.clone(), json::value(value))).collect()
}

/// Rows of a column that are read at once.
const BATCH_NROWS: usize = 1 << 14;

/// A table of a store.
struct StoreTable {
    table: StoredTable,
    columns: Vec<Column>,
    nrows: u64,
    sizes: (u64, u64),
}

impl fmt::Debug for StoreTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreTable").field("key", &self.table.key()).finish_non_exhaustive()
    }
}

impl StoreTable {
    fn open(table: StoredTable) -> Result<Self> {
        let nrows = table.len()?;
        let columns = table.schema().columns.iter().map(|spec| {
            // A column that cannot be opened says why when it is read; the others can be read.
            let dtype = table.column(&spec.name).ok().and_then(|stored| stored.dtype().cloned());
            let mut column = Column::new(&spec.name, spec.kind.clone(), dtype);
            if let ColumnKind::NdArray { item_shape } = &spec.kind {
                column.item_shape.clone_from(item_shape);
            }
            column.is_nullable = spec.nulls != Nulls::None;
            column
        });
        let columns = columns.collect();
        // A frame that does not open counts nothing: the other columns can be read.
        let sizes = rows::frames(&table)
            .flatten()
            .fold((0, 0), |sizes, frame| rows::add_frame(sizes, &frame));
        Ok(Self { table, columns, nrows, sizes })
    }

    /// Reads all rows of a column, some at a time.
    fn read_all(&self, column: usize) -> Result<()> {
        let column = self.stored(column)?;
        for start in (0..self.nrows).step_by(BATCH_NROWS) {
            let end = self.nrows.min(start.saturating_add(BATCH_NROWS as u64));
            column.read(start..end)?;
        }
        Ok(())
    }

    fn stored(&self, column: usize) -> Result<StoredColumn> {
        let column = self.columns.get(column).ok_or(Param::Column(column))?;
        Ok(self.table.column(&column.name)?)
    }
}

impl Table for StoreTable {
    fn format(&self) -> &'static str {
        "ctable"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn nrows(&self) -> u64 {
        self.nrows
    }

    fn sizes(&self) -> (u64, u64) {
        self.sizes
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(attributes(self.table.attributes()?))
    }

    fn read_columns(&self, columns: &[usize], rows: Range<u64>) -> Result<Vec<ColumnValues>> {
        let nrows = rows.end.saturating_sub(rows.start);
        let read = |column: &usize| {
            let column = self.stored(*column)?;
            check_room(column.rowsize().unwrap_or(1).saturating_mul(nrows))?;
            Ok(column.read(rows.clone())?)
        };
        columns.iter().map(read).collect()
    }

    /// The frames of the table, and then its attributes and rows, if these can be read; and the
    /// store that it is in.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let (mut report, store) = (Report::default(), self.table.store());
        for key in store.keys().filter(|key| self.table.has_key(key)) {
            let found = verify_frame(store, key, options, &mut *progress);
            verify::add_member(&mut report, key, found);
        }
        if report.is_ok() {
            let rows = (0..self.columns.len()).map(|column| self.read_all(column));
            let read = core::iter::once(self.attributes().map(drop)).chain(rows);
            read.filter_map(Result::err).for_each(|error| verify::add_fault(&mut report, error));
        }
        report.merge(verify_whole(store, self.table.key()));
        Ok(report)
    }

    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>> {
        Ok(Box::new(Rows { filter: self.table.filter(condition)?, nrows: self.nrows }))
    }

    #[cfg(feature = "arrow")]
    fn record_batch(
        &self,
        columns: &[usize],
        rows: Range<u64>,
    ) -> Result<arrow_array::RecordBatch> {
        check_range(&rows, self.nrows)?;
        let names = names_of(&self.columns, columns)?;
        let scan = self.table.scan().columns(&names)?.rows(rows.clone());
        let batches = scan.batch((rows.end - rows.start).max(1)).max_nbytes(u64::MAX);
        let batches = batches.record_batches()?;
        let schema = batches.schema();
        crate::arrow::concat(&schema, batches.collect::<Result<Vec<_>, _>>()?)
    }

    fn compare_seals(&self) -> Result<()> {
        (0..self.columns.len()).try_for_each(|column| Ok(self.stored(column)?.compare_seals()?))
    }
}

#[derive(Debug)]
struct Rows {
    filter: Filter,
    nrows: u64,
}

impl RowFilter for Rows {
    fn matches(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        check_range(&rows, self.nrows)?;
        Ok(self.filter.matches(rows)?)
    }
}
