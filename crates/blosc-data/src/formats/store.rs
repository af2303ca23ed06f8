//! Stores and their tables.

use core::{fmt, ops::Range};
use std::sync::Arc;

use b2store::{
    ChildKind, Column as StoredColumn, ColumnKind, ColumnValues, Nulls, Store, StoreKind,
    Table as StoredTable, table::Filter,
};
use serde_json::{Map, Value};

use crate::content::rows::table_sizes;
use crate::dataset::{Data, Dataset};
use crate::error::{Error, Param, Result};
use crate::format::Format;
use crate::formats::frame;
use crate::group::{Group, Member, MemberKind};
use crate::json;
use crate::source::Source;
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
    Ok(Data::Group(Arc::new(StoreGroup { store, name: name.to_owned(), format })))
}

/// A store, or a group in one.
struct StoreGroup {
    store: Store,
    name: String,
    format: &'static str,
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
            return frame::data(Arc::new(self.store.frame(key)?), key);
        }
        if self.store.groups().contains(key) {
            let (store, name) = (self.store.clone(), format!("{}::{key}", self.name));
            let group = Self { store, name, format: self.format };
            return Ok(Data::Group(Arc::new(Below { group, root: key.to_owned() })));
        }
        match self.column(key)? {
            Some(column) => Ok(Data::Table(Arc::new(column))),
            None => Err(Error::NoMember { name: key.to_owned() }),
        }
    }

    /// The column that `TABLE/NAME` is. A nested column may be written with slashes, as keys are.
    fn column(&self, key: &str) -> Result<Option<StoreTable>> {
        for table in self.store.tables() {
            let below = key.strip_prefix(table.trim_end_matches('/'));
            let Some(name) = below.and_then(|below| below.strip_prefix('/')) else { continue };
            let table = StoreTable::open(self.store.table(table)?)?;
            let dotted = name.replace('/', ".");
            let place = |name: &str| table.columns.iter().position(|column| column.name == name);
            if let Some(column) = place(name).or_else(|| place(&dotted)) {
                return Ok(Some(table.only(column)));
            }
        }
        Ok(None)
    }
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

    /// Damage that opening has found, and the sums that an archive has of its members.
    fn verify(&self, _: &VerifyOptions) -> Result<Report> {
        let mut report = Report::default();
        for note in self.store.notes() {
            report.other.extend(note.damage().map(Error::Store));
        }
        let embed = self.store.check_embed().err();
        let members = self.store.keys().filter_map(|key| self.store.check_crc(key).err());
        report.other.extend(embed.into_iter().chain(members).map(Error::Store));
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
}

fn attributes(found: Vec<(String, b2store::Value)>) -> Map<String, Value> {
    found.iter().map(|(name, value)| (name.clone(), json::value(value))).collect()
}

/// Rows of a column that are read at once.
const BATCH_NROWS: usize = 1 << 14;

/// A table of a store, or some of its columns.
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
            let stored = table.column(&spec.name)?;
            let mut column = Column::new(&spec.name, spec.kind.clone(), stored.dtype().cloned());
            if let ColumnKind::NdArray { item_shape } = &spec.kind {
                column.item_shape.clone_from(item_shape);
            }
            column.is_nullable = spec.nulls != Nulls::None;
            Ok(column)
        });
        let columns = columns.collect::<Result<_>>()?;
        let sizes = table_sizes(&table)?;
        Ok(Self { table, columns, nrows, sizes })
    }

    fn only(mut self, column: usize) -> Self {
        self.columns = self.columns.into_iter().skip(column).take(1).collect();
        self
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
        let read = |column: &usize| Ok(self.stored(*column)?.read(rows.clone())?);
        columns.iter().map(read).collect()
    }

    /// The frames of the table, and then its rows, if these can be read.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let mut report = Report::default();
        let store = self.table.store();
        for key in store.keys().filter(|key| self.table.has_key(key)) {
            match store.frame(key) {
                Ok(schunk) => report.merge(verify::report(
                    schunk.verify(options, &mut *progress),
                    ToString::to_string,
                )),
                Err(error) => report.other.push(error.into()),
            }
        }
        if report.is_ok() {
            let read = (0..self.columns.len()).try_for_each(|column| {
                let column = self.stored(column)?;
                for start in (0..self.nrows).step_by(BATCH_NROWS) {
                    let end = self.nrows.min(start.saturating_add(BATCH_NROWS as u64));
                    column.read(start..end)?;
                }
                Ok(())
            });
            report.other.extend(read.err());
        }
        Ok(report)
    }

    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>> {
        Ok(Box::new(Rows(self.table.filter(condition)?)))
    }

    #[cfg(feature = "arrow")]
    fn record_batch(
        &self,
        columns: &[usize],
        rows: Range<u64>,
    ) -> Result<arrow_array::RecordBatch> {
        let name = |column: &usize| self.columns.get(*column).map(|column| column.name.as_str());
        let names: Option<Vec<&str>> = columns.iter().map(name).collect();
        let names = names.ok_or(Error::Internal("a number that no column has"))?;
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
struct Rows(Filter);

impl RowFilter for Rows {
    fn matches(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        Ok(self.0.matches(rows)?)
    }
}
