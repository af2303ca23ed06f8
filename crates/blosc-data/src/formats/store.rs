//! Stores and their tables.

use core::{fmt, ops::Range};
use std::sync::Arc;

use b2store::{
    ChildKind, Column as StoredColumn, ColumnKind, ColumnValues, Content, Location, Note, Nulls,
    Store, StoreKind, Table as StoredTable, table::Filter,
};
use serde_json::{Map, Value};

use crate::Budget;
use crate::content::rows::{self, Copied, TableRows};
use crate::dataset::{Data, Dataset};
use crate::error::{Error, Param, Refusal, Result};
use crate::format::Format;
use crate::formats::frame;
use crate::group::{Group, Member, MemberKind};
use crate::json;
use crate::limits::{Guard, OutputLimits};
use crate::one_column::OneColumn;
use crate::size::{check_range, check_room};
use crate::source::Source;
#[cfg(feature = "arrow")]
use crate::table::names_of;
use crate::table::{Column, RowFilter, Table};
use crate::verify::{self, OnProgress, Report, Verifier, VerifyOptions};

/// The data of a store: a table if the store is one, else a group.
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

/// The table, or the column of one, with these rows.
///
/// # Errors
///
/// A table that cannot be opened.
pub(crate) fn of_rows(rows: TableRows) -> Result<Data> {
    let column = rows.columns().first().filter(|_| rows.is_column());
    let column = column.map(|column| column.spec().name.clone());
    let (table, copied) = rows.into_table();
    let table = Arc::new(StoreTable { copied, ..StoreTable::open(table)? });
    let Some(name) = column else { return Ok(Data::Table(table)) };
    let column = OneColumn::open(table, &name);
    let column = column.ok_or(Error::Internal("a column that is none of its table"))?;
    Ok(Data::Table(Arc::new(column)))
}

/// The values of an open store, or those below the key of a group or a table.
#[must_use]
pub fn group(store: Store, name: &str, root: &str) -> Dataset {
    let (name, format) = (name.to_owned(), "b2z");
    let budget = Budget::default();
    let group = StoreGroup { store, name: name.clone(), format, budget };
    let group: Arc<dyn Group> = match root {
        "/" => Arc::new(group),
        root => Arc::new(Below { group, root: root.to_owned() }),
    };
    Dataset::new(name, Format::Store, Data::Group(group))
}

/// A store, or a group in one.
struct StoreGroup {
    store: Store,
    name: String,
    format: &'static str,
    /// Threads and memory for reading arrays.
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

    /// The column with the key `TABLE/NAME`.
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

/// Whether a key is that of a group or table, or below it.
pub(crate) fn is_below(group: &str, key: &str) -> bool {
    let rest = key.strip_prefix(group.trim_end_matches('/'));
    key == group || rest.is_some_and(|rest| rest.starts_with('/'))
}

/// The text of a note on a store; `None` for damage.
#[must_use]
pub fn note(note: &Note) -> Option<String> {
    Some(match note {
        Note::Ignored { path } => format!("{path} is no value of the store"),
        Note::Key { key } => format!("the key {key:?} is none that a store may have"),
        Note::NoData { key } => format!("{key} is registered, and has no data"),
        Note::Outside { before, after: 0 } => format!("{before} bytes before the zip archive"),
        Note::Outside { before: 0, after } => format!("{after} bytes after the zip archive"),
        Note::Outside { before, after } => {
            format!("{before} bytes before the zip archive, and {after} after it")
        }
        Note::Registry => "the registry of objects is no map".to_owned(),
        _ => return None,
    })
}

/// The checksum that an archive has of its members.
const CHECKSUM: &str = "crc32";

/// Decodes every value of a store, or those at and below the key `root`. Compares the checksums of
/// an archive.
fn verify(store: &Store, root: &str, verifier: &mut Verifier<'_>) -> Result<Report> {
    let mut report = Report::default();
    for found in store.notes() {
        report.other.extend(found.damage().map(Error::Store));
        report.notes.extend(note(found));
    }
    if root == "/" {
        add_sum(&mut report, store.check_embed());
    }
    let mut damaged: Vec<&str> = vec![];
    for key in store.keys().filter(|key| is_below(root, key)) {
        let nfaults = report.nfaults();
        verify_value(store, key, verifier, &mut report)?;
        if report.nfaults() > nfaults {
            damaged.push(key);
        }
    }
    for key in store.tables().filter(|key| is_below(root, key)) {
        if let Err(error) = verify_table(store, key, &damaged, &mut report) {
            report.other.push(error);
        }
    }
    if report.checksum == Some(CHECKSUM) {
        report.nsummed = report.nchunks;
    }
    Ok(report)
}

fn add_sum(report: &mut Report, sum: b2store::error::Result<Option<u32>>) {
    match sum {
        // The checksum of the archive adds to the seals of frames, and covers other members.
        Ok(sum) => report.checksum = sum.map(|_| CHECKSUM).or(report.checksum),
        Err(error) => report.other.push(error.into()),
    }
}

/// Decodes the frame of a value, compares the checksum of its member, and reads the objects in it.
/// Rows of tables are read later.
fn verify_value(
    store: &Store,
    key: &str,
    verifier: &mut Verifier<'_>,
    report: &mut Report,
) -> Result<()> {
    if let Some(Location::Remote { .. }) = store.location(key) {
        report.notes.push(format!("{key}: stored elsewhere, not verified"));
        return Ok(());
    }
    let schunk = match store.frame(key) {
        Ok(schunk) => schunk,
        Err(error) => {
            report.other.push(error.into());
            return Ok(());
        }
    };
    let is_in_table = store.tables().any(|table| is_below(table, key));
    match is_in_table {
        true => verifier.guard().admit_bytes(schunk.nbytes(), frame::stored_nbytes(&schunk))?,
        false => verifier.guard().admit_to_verify(&schunk)?,
    }
    let mut found = verifier.counted(|options, progress| {
        Ok(verify::report(schunk.verify(options, progress), ToString::to_string))
    })?;
    let is_sound = found.is_ok();
    // Without chunks, a checksum of chunks has nothing to cover.
    found.checksum = found.checksum.filter(|_| found.nchunks > 0);
    // Numbers of chunks are those of this frame, so its name is added.
    let suspected = core::mem::take(&mut found.suspected);
    found.notes.extend(suspected.iter().map(ToString::to_string));
    verify::name_faults(&mut found, key);
    report.merge(found);
    match store.check_crc(key) {
        // The damaged chunk is reported already, and says more than the member's checksum.
        Err(_) if !is_sound => return Ok(()),
        sum => add_sum(report, sum),
    }
    if is_sound && !is_in_table {
        let read = check_value(store, key, &mut report.notes);
        report.other.extend(read.err().filter(|error| !is_recipe(error)).map(Error::Store));
    }
    Ok(())
}

/// Recipes and references have no data, which is not damage.
fn is_recipe(error: &b2store::Error) -> bool {
    matches!(error, b2store::Error::Recipe { .. })
}

/// Reads the objects that a value holds, and the attributes of a group.
fn check_value(store: &Store, key: &str, notes: &mut Vec<String>) -> b2store::error::Result<()> {
    if let Some(group) = key.strip_suffix("/__vlmeta__") {
        return store.attributes(if group.is_empty() { "/" } else { group }).map(drop);
    }
    let content = store.get(key)?;
    if let Content::Recipe(recipe) = &content {
        notes.push(format!("{key}: {}, which is not resolved", recipe.kind));
    }
    content.check_values()
}

/// Reads all columns of a table; an unreadable column is damage. A table with a damaged frame is
/// not read again.
fn verify_table(store: &Store, key: &str, damaged: &[&str], report: &mut Report) -> Result<()> {
    let table = match store.table(key) {
        Ok(table) => table,
        Err(_) if damaged.iter().any(|found| found.starts_with(key)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if damaged.iter().any(|key| table.has_key(key)) {
        return Ok(());
    }
    let nrows = table.len()?;
    for column in &table.schema().columns {
        let read = || {
            let column = table.column(&column.name)?;
            (0..nrows).step_by(BATCH_NROWS).try_for_each(|start| {
                column.read(start..nrows.min(start.saturating_add(BATCH_NROWS as u64))).map(drop)
            })
        };
        let error = read().err().filter(|error| !is_recipe(error));
        report.other.extend(error.map(Error::Store));
    }
    Ok(())
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
        Ok(json::map(&self.store.attributes("/")?))
    }

    fn verify(&self, verifier: &mut Verifier<'_>) -> Result<Report> {
        verify(&self.store, "/", verifier)
    }

    fn lost(&self) -> Vec<String> {
        let damage = self.store.notes().iter().filter_map(Note::damage);
        damage.map(|damage| damage.to_string()).collect()
    }
}

/// A group in a store: the keys below its key.
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
        Ok(json::map(&self.group.store.attributes(&self.root)?))
    }

    fn verify(&self, verifier: &mut Verifier<'_>) -> Result<Report> {
        verify(&self.group.store, &self.root, verifier)
    }
}

/// Rows of a column that are read at once.
const BATCH_NROWS: usize = 1 << 14;

/// A table of a store.
struct StoreTable {
    table: StoredTable,
    columns: Vec<Column>,
    nrows: u64,
    sizes: (u64, u64),
    /// The source, if the table is a copy.
    copied: Option<Copied>,
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
            // A column that does not open reports that when it is read; the others stay readable.
            let dtype = table.column(&spec.name).ok().and_then(|stored| stored.dtype().cloned());
            let mut column = Column::new(&spec.name, spec.kind.clone(), dtype);
            if let ColumnKind::NdArray { item_shape } = &spec.kind {
                column.item_shape.clone_from(item_shape);
            }
            column.is_nullable = spec.nulls != Nulls::None;
            column
        });
        let columns = columns.collect();
        // A column that does not open counts nothing; the others stay readable.
        let stored = rows::frames(&table).flatten().map(|frame| frame::stored_nbytes(&frame)).sum();
        let names = table.schema().columns.iter().map(|spec| &spec.name);
        let data = names.flat_map(|name| table.column(name).and_then(|column| column.nbytes()));
        let sizes = (data.sum(), stored);
        Ok(Self { table, columns, nrows, sizes, copied: None })
    }

    fn stored(&self, column: usize) -> Result<StoredColumn> {
        let column = self.columns.get(column).ok_or(Param::Column(column))?;
        Ok(self.table.column(&column.name)?)
    }
}

impl Table for StoreTable {
    fn format(&self) -> &'static str {
        self.copied.as_ref().map_or("ctable", |copied| copied.format)
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn nrows(&self) -> u64 {
        self.nrows
    }

    fn sizes(&self) -> (u64, u64) {
        let stored = self.copied.as_ref().map_or(self.sizes.1, |copied| copied.stored);
        (self.sizes.0, stored)
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(json::map(&self.table.attributes()?))
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

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let mut guard = Guard::for_looking(OutputLimits::default());
        let verifier = &mut Verifier::new(options, &mut guard, progress);
        let mut report = verify(self.table.store(), self.table.key(), verifier)?;
        if self.copied.is_some() {
            // The copy was made of the whole file; its chunks and seals are not those of the file.
            (report.nchunks, report.nsummed, report.checksum) = (0, 0, None);
        }
        Ok(report)
    }

    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>> {
        filter(&self.table, condition)
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

/// A condition on the rows of a table.
///
/// # Errors
///
/// [`Refusal::NoConditionColumn`]; [`Refusal::Condition`] for a condition that does not parse.
pub fn filter(table: &b2store::Table, condition: &str) -> Result<Box<dyn RowFilter>> {
    let names = || table.schema().columns.iter().map(|column| column.name.as_str());
    let filter = table.filter(condition);
    let filter = filter.map_err(|it| Refusal::in_condition(it.into(), condition, names()))?;
    Ok(Box::new(Rows { filter, nrows: table.len()? }))
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
