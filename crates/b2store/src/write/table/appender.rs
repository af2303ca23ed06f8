//! Appends rows to a table, batch by batch.

use b2frame::nd::{Fill, Pick, Selection};
use b2frame::{Checksums, NdArray};
use blosc_chunk::Executor;
use blosc_container::parallel::for_each;
use blosc_dtype::json::Json;

use super::columns::{Checked, ColumnAppender, check_values};
use super::items::Items;
use super::{NewColumn, StoreWriter, TableParams, set_field, spec};
use crate::error::{Error, Param, Result};
#[cfg(feature = "arrow")]
use crate::table::ColumnKind;
use crate::table::{ColumnValues, Schema};
use crate::value::Value;
use crate::write::attributes::params_without_chunks;
use crate::write::new_frame;

/// Flags of rows that are read together.
const FLAG_ROWS: u64 = 1 << 16;

/// Appends rows to a table in any number of batches; made by [`StoreWriter::create_table`] and
/// [`StoreWriter::append_to_table`].
///
/// Memory holds a chunk of each column. Compressed chunks go to an unnamed file in the directory of
/// the store, if the store will be in a directory. The store gets the rows only with
/// [`finish`](Self::finish): dropping the appender discards them.
///
/// ```
/// use b2store::{ColumnKind, ColumnValues, NewColumn, StoreWriter};
///
/// # let dir = tempfile::tempdir()?;
/// let mut writer = StoreWriter::create(dir.path().join("t.b2z"))?;
/// let mut rows = writer.create_table("/", &[NewColumn::new("n", ColumnKind::Fixed("i8"))])?;
/// for batch in 0..10_i64 {
///     let numbers = (0..1000).flat_map(|n| (1000 * batch + n).to_le_bytes());
///     rows.append(&[ColumnValues::fixed("<i8".parse()?, numbers.collect())])?;
/// }
/// rows.finish()?;
/// assert_eq!(writer.commit()?.table("/")?.len()?, 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RowAppender<'a> {
    store: &'a mut StoreWriter,
    key: String,
    /// The key without a `/` at the end.
    root: String,
    table: Growing,
    /// Number of rows appended.
    nrows: u64,
}

enum Growing {
    /// A new table: the first values give the widths of its columns.
    New(Vec<NewColumn>, TableParams),
    Open(Box<Open>),
}

/// A table with known columns.
struct Open {
    schema: Schema,
    columns: Vec<ColumnAppender>,
    flags: Items,
    /// Number of alive rows before; `None` for a new table.
    alive: Option<u64>,
}

impl core::fmt::Debug for RowAppender<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RowAppender")
            .field("key", &self.key)
            .field("nrows", &self.nrows)
            .finish_non_exhaustive()
    }
}

impl StoreWriter {
    /// Adds a table of these columns, whose rows come in batches; `/` makes the store itself the
    /// table. The table exists after [`RowAppender::finish`].
    ///
    /// # Errors
    ///
    /// [`Param::Key`], [`Param::Occupied`], [`Param::Column`] for names.
    pub fn create_table(&mut self, key: &str, columns: &[NewColumn]) -> Result<RowAppender<'_>> {
        self.create_table_with(key, columns, &TableParams::default())
    }

    /// As [`create_table`](Self::create_table), with storage parameters.
    ///
    /// # Errors
    ///
    /// As [`create_table`](Self::create_table).
    pub fn create_table_with(
        &mut self,
        key: &str,
        columns: &[NewColumn],
        params: &TableParams,
    ) -> Result<RowAppender<'_>> {
        let root = self.check_table_key(key)?;
        spec::check_names(columns)?;
        let table = Growing::New(columns.to_vec(), params.clone());
        let key = key.to_owned();
        Ok(RowAppender { store: self, key, root, table, nrows: 0 })
    }

    /// Appends rows to a table in batches: values for each of its columns, in the order of the
    /// schema. Indexes are removed, since they would be stale.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`]; unreadable columns.
    pub fn append_to_table(&mut self, key: &str) -> Result<RowAppender<'_>> {
        let root = self.table_root(key)?;
        let schema = self.schema(&root)?;
        let flags_key = format!("{root}/_valid_rows");
        let (alive, mut end) = count_rows(&self.array(&flags_key)?, &flags_key)?;
        for spec in &schema.columns {
            end = end.max(self.written_rows(&root, spec)?);
        }
        let columns =
            schema.columns.iter().map(|spec| ColumnAppender::open(self, &root, spec, end));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let dir = self.place.dir.clone();
        let flags = Items::open(&flags_key, self.source(&flags_key)?, end, dir)?;
        let open = Open { schema, columns, flags, alive: Some(alive) };
        let (key, table) = (key.to_owned(), Growing::Open(Box::new(open)));
        Ok(RowAppender { store: self, key, root, table, nrows: 0 })
    }
}

impl RowAppender<'_> {
    /// Appends rows: for each column the same number of values. The first batch of a new table sets
    /// the width of text and bytes of fixed width, and the type and shape of arrays.
    ///
    /// # Errors
    ///
    /// [`Param::Column`], [`Param::Rows`], [`Param::Value`]: the batch is then discarded as a
    /// whole. Columns that cannot be written: the table is then unusable.
    pub fn append(&mut self, values: &[ColumnValues]) -> Result<()> {
        if let Growing::New(columns, how) = &self.table {
            let json = spec::schema_of(columns, values)?;
            let schema = Schema::parse(&json.to_string(), &self.key)?;
            check_rows(&schema, values)?;
            let dir = self.store.place.dir.clone();
            let columns = schema.columns.iter().zip(values).map(|(spec, values)| {
                ColumnAppender::create(&self.root, spec, values, (dir.clone(), how))
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let flags_key = format!("{}/_valid_rows", self.root);
            let flags = Items::create(&flags_key, (0, &[]), "|b1", Fill::Zeros, (dir, how))?;
            let open = Open { schema, columns, flags, alive: None };
            // Values that do not fit leave the table new.
            open.checked(values)?;
            self.table = Growing::Open(Box::new(open));
        }
        let Growing::Open(open) = &mut self.table else { return Ok(()) };
        let nrows = open.append(values, &self.store.options.open.budget.threads)?;
        self.nrows = self.nrows.saturating_add(nrows);
        Ok(())
    }

    /// The name and kind of each column, and the width of text and bytes of fixed width, if known
    /// (bytes).
    #[cfg(feature = "arrow")]
    pub(crate) fn targets(&self) -> Vec<(String, ColumnKind, Option<usize>)> {
        match &self.table {
            Growing::New(columns, _) => columns
                .iter()
                .map(|column| (column.name().to_owned(), column.kind(), None))
                .collect(),
            Growing::Open(open) => {
                let columns = open.schema.columns.iter().zip(&open.columns);
                columns
                    .map(|(spec, column)| (spec.name.clone(), spec.kind.clone(), column.width()))
                    .collect()
            }
        }
    }

    /// Number of rows appended.
    #[must_use]
    pub const fn nrows(&self) -> u64 {
        self.nrows
    }

    /// Passes the rows to the store, whose `commit` writes them.
    ///
    /// # Errors
    ///
    /// [`Param::Rows`] for a new table without a batch (a batch may have no rows); columns that
    /// cannot be written.
    pub fn finish(self) -> Result<()> {
        let Self { store, key, root, table, nrows } = self;
        let open = match table {
            Growing::Open(open) => *open,
            Growing::New(columns, _) => {
                let name = "columns with values".to_owned();
                return Err(Param::Rows { name, found: 0, expected: columns.len() as u64 }.into());
            }
        };
        let Open { schema, columns, flags, alive } = open;
        let flags_key = format!("{root}/_valid_rows");
        let Some(alive) = alive else {
            store_columns(store, columns)?;
            store.store_value(&flags_key, ".b2nd", flags.finish()?);
            return store.add_manifest(&key, &root, schema.json, nrows);
        };
        store.begin_table_change(&root)?;
        if nrows > 0 {
            store_columns(store, columns)?;
            store.store_value(&flags_key, ".b2nd", flags.finish()?);
        }
        store.end_table_change(&root, alive.saturating_add(nrows), true)
    }
}

impl Open {
    /// The values in stored form; checks that they have one length and fit the columns.
    fn checked<'v>(&self, values: &'v [ColumnValues]) -> Result<Vec<Checked<'v>>> {
        check_rows(&self.schema, values)?;
        self.columns.iter().zip(values).map(|(column, values)| column.check(values)).collect()
    }

    /// Appends values after all columns have accepted theirs.
    fn append(&mut self, values: &[ColumnValues], threads: &Executor) -> Result<u64> {
        let checked = self.checked(values)?;
        let nrows = values.first().map_or(0, ColumnValues::len);
        let jobs = self.columns.iter_mut().zip(values).zip(&checked);
        for_each(
            (threads, threads.count_for(values.len())),
            jobs,
            || (),
            |(), ((column, values), checked)| column.append(values, checked),
        )?;
        self.flags.append(&vec![1; nrows])?;
        Ok(nrows as u64)
    }
}

pub(super) fn store_columns(store: &mut StoreWriter, columns: Vec<ColumnAppender>) -> Result<()> {
    for column in columns {
        for (key, suffix, frame) in column.finish()? {
            store.store_value(&key, suffix, frame);
        }
    }
    Ok(())
}

impl StoreWriter {
    /// Writes the manifest of a new table, and registers it.
    pub(super) fn add_manifest(
        &mut self,
        key: &str,
        root: &str,
        mut schema: Json,
        nrows: u64,
    ) -> Result<()> {
        set_field(&mut schema, "n_rows", Json::Int(nrows.into()));
        let layers = [
            ("kind", Value::Str("ctable".to_owned())),
            ("version", Value::Int(1)),
            ("schema", Value::Str(schema.to_string())),
        ];
        let params = params_without_chunks().checksums(Checksums::Body);
        let manifest = new_frame(&params, key, |writer| {
            layers.iter().try_for_each(|(name, value)| {
                let set = writer.set_vlmeta(name, &value.encode_as(key)?);
                set.map_err(|source| Error::frame(key, source))
            })
        })?;
        self.store_value(&format!("{root}/_meta"), ".b2f", manifest);
        self.register_table(key, root);
        Ok(())
    }
}

/// Number of alive rows, and the row after the last of them. Flags are read in parts.
pub(super) fn count_rows(flags: &NdArray, key: &str) -> Result<(u64, u64)> {
    let (mut alive, mut end, mut start) = (0_u64, 0_u64, 0_u64);
    while start < flags.nitems() {
        let stop = start.saturating_add(FLAG_ROWS).min(flags.nitems());
        let found = flags.to_bytes(Selection::from([Pick::from(start..stop)]));
        let found = found.map_err(|source| Error::frame(key, source))?;
        alive = alive.saturating_add(found.iter().filter(|flag| **flag != 0).count() as u64);
        if let Some(last) = found.iter().rposition(|flag| *flag != 0) {
            end = start.saturating_add(last as u64).saturating_add(1);
        }
        start = stop;
    }
    Ok((alive, end))
}

/// Checks that each column has values, and all the same number.
fn check_rows(schema: &Schema, values: &[ColumnValues]) -> Result<()> {
    let Some(first) = values.first() else {
        return Err(Error::column("", "there is no column"));
    };
    let expected = first.len() as u64;
    if schema.columns.len() != values.len() {
        let (found, expected) = (values.len() as u64, schema.columns.len() as u64);
        let what = "columns with values".to_owned();
        return Err(Param::Rows { name: what, found, expected }.into());
    }
    for (spec, values) in schema.columns.iter().zip(values) {
        let name = || spec.name.clone();
        let found = values.len() as u64;
        if found != expected {
            return Err(Param::Rows { name: name(), found, expected }.into());
        }
        if let Some(valid) = values.valid.as_ref().filter(|valid| valid.len() != values.len()) {
            let found = valid.len() as u64;
            return Err(Param::Rows { name: name(), found, expected }.into());
        }
        check_values(spec, values)?;
    }
    Ok(())
}
