//! Columns of equal length that are stored in chunks: the form in which a scan sees every format.

mod array;
mod bcolz;
pub(crate) mod constants;
mod fingerprint;
mod plain;
#[cfg(feature = "remote")]
pub(crate) mod remote;
mod store;
mod text;

use core::fmt;
use core::ops::Range;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use b2frame::NdArray;
use b2store::Store;
use blosc_chunk::Threads;
use blosc_container::Budget;
use datafusion::arrow::array::{ArrayRef, UInt32Array};
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::error::Result as QueryResult;

use crate::error::{Error, Result};
use crate::options::TableOptions;
use crate::zones::Zones;

pub(crate) use fingerprint::fingerprint_now;

/// A table that was opened.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) columns: Arc<dyn Columns>,
    /// Differs for a table that replaces this one; the same in every process.
    pub(crate) fingerprint: u64,
    /// Minima and maxima of the rows read so far.
    pub(crate) zones: Arc<Zones>,
}

/// Memory of a stream between reads of columns of the same rows.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The columns that the query needs: where several are stored in one, they are decoded at once.
    needed: Vec<usize>,
    rows: Range<u64>,
    /// The items of some columns in these rows.
    fields: HashMap<usize, Vec<u8>>,
    /// Memory of earlier reads, which arrays may still hold.
    lent: VecDeque<Buffer>,
}

/// Most memory that a stream keeps for later decoding (bytes).
const MAX_LENT_NBYTES: usize = 16 << 20;

impl Scratch {
    /// For a query that needs these columns.
    pub(crate) fn new(needed: Vec<usize>) -> Self {
        Self { needed, ..Self::default() }
    }

    /// Memory for `nbytes` bytes, taken from buffers that no array holds any more, if there is one.
    /// Clearing fresh memory for each unit costs as much as decoding some columns. The buffer is at
    /// most twice as long, since the engine counts all of it for the array.
    fn take_buffer(&mut self, nbytes: usize) -> Vec<u8> {
        let fits =
            |buffer: &Buffer| (nbytes..=nbytes.saturating_mul(2)).contains(&buffer.capacity());
        for _ in 0..self.lent.len() {
            let Some(buffer) = self.lent.pop_front() else { break };
            let taken = if fits(&buffer) { buffer.into_vec::<u8>() } else { Err(buffer) };
            match taken {
                Ok(bytes) => return bytes,
                Err(held) => self.lent.push_back(held),
            }
        }
        Vec::new()
    }

    /// The first `len` bytes for an array; the memory comes back when it is dropped.
    fn lend(&mut self, bytes: Vec<u8>, len: usize) -> Buffer {
        let buffer = Buffer::from_vec(bytes);
        self.lent.push_back(buffer.clone());
        while self.lent.iter().map(Buffer::capacity).sum::<usize>() > MAX_LENT_NBYTES {
            self.lent.pop_front();
        }
        buffer.slice_with_length(0, len.min(buffer.len()))
    }
}

/// Columns of equal length.
pub(crate) trait Columns: fmt::Debug + Send + Sync {
    /// Number of rows.
    fn nrows(&self) -> u64;

    /// Names and types.
    fn schema(&self) -> &SchemaRef;

    /// Rows of the longest chunk: between multiples of it no chunk of any column is decoded twice.
    fn chunk_nrows(&self) -> u64;

    /// Decoded bytes of one row of a column; an estimate where rows differ.
    fn row_nbytes(&self, column: usize) -> u64;

    /// Some rows of a column.
    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef>;

    /// The picked rows of a column, by their numbers within `rows`.
    fn pick(
        &self,
        column: usize,
        rows: &Range<u64>,
        picked: &UInt32Array,
        scratch: &mut Scratch,
    ) -> QueryResult<ArrayRef> {
        Ok(take(&self.read(column, rows, scratch)?, picked, None)?)
    }

    /// Whether decoding a few rows of a column takes less work than decoding its whole unit.
    fn reads_parts(&self) -> bool {
        true
    }

    /// The value that all rows of a column have, if it is known without reading.
    fn constant(&self, column: usize) -> Option<ScalarValue> {
        let _ = column;
        None
    }

    /// A stamp of the chunks of a column, which changes when they are rewritten even if the
    /// fingerprint of the table stays the same; none if the chunks have no metadata to read.
    fn stamp(&self, column: usize, rows: &Range<u64>) -> Option<u64> {
        let _ = (column, rows);
        Some(0)
    }

    /// Announces rows of some columns that will be read, so that remote storage sends them at once.
    fn prefetch(&self, columns: &[usize], rows: &Range<u64>);

    /// Bytes that may be announced at once; 0 for local files, which are read when they are needed.
    fn prefetch_limit(&self) -> u64 {
        0
    }
}

/// Opens a table: a directory of bcolz, a store whose root is a table, a value in a store
/// (`FILE::/KEY`), or an array.
pub(crate) fn open(location: &str, options: &TableOptions) -> Result<Opened> {
    #[cfg(feature = "remote")]
    if is_address(location) {
        return remote::open(location, options);
    }
    // Taken before anything is read: a write in the meantime then makes it another table.
    let fingerprint = fingerprint_now(location)?;
    Ok(Opened::new(location, open_as_stored(location, options)?, fingerprint, options))
}

impl Opened {
    fn new(
        location: &str,
        columns: Arc<dyn Columns>,
        fingerprint: u64,
        options: &TableOptions,
    ) -> Self {
        let columns = match options.views {
            true => columns,
            false => Arc::new(plain::Plain::new(location, columns)),
        };
        Self { columns, fingerprint, zones: Arc::default() }
    }
}

/// The path in a location, and the key in the store there.
fn split_key(location: &str) -> (&Path, Option<&str>) {
    match location.split_once("::") {
        Some((path, key)) => (Path::new(path), Some(key)),
        None => (Path::new(location), None),
    }
}

fn open_as_stored(location: &str, options: &TableOptions) -> Result<Arc<dyn Columns>> {
    let (path, key) = split_key(location);
    let io = |cause| Error::Io { location: location.to_owned(), cause };
    let metadata = path.metadata().map_err(io)?;
    if b2store::is_store(path) {
        return open_in_store(location, path, key.unwrap_or("/"), options);
    }
    if key.is_some() {
        return Err(Error::NotATable { location: location.to_owned() });
    }
    if metadata.is_dir() && (path.join("__rootdirs__").exists() || path.join("meta").is_dir()) {
        return Ok(Arc::new(bcolz::Table::open(location, options)?));
    }
    let array = NdArray::open(path).map_err(|source| opening(location, "an array", source))?;
    Ok(Arc::new(array::Table::new(location, &stem(path), array, options)?))
}

/// The names that mark a directory as a table of bcolz, an array of bcolz, a sparse frame or a
/// store, instead of a folder of tables.
const MARKS: [&str; 4] = ["__rootdirs__", "meta", "chunks.b2frame", "embed.b2e"];

/// Whether a directory is a table itself, instead of a folder of tables.
pub(crate) fn is_table(path: &Path) -> bool {
    b2store::is_store(path) || MARKS.iter().any(|name| path.join(name).exists())
}

fn open_in_store(
    location: &str,
    path: &Path,
    key: &str,
    options: &TableOptions,
) -> Result<Arc<dyn Columns>> {
    let store = Store::open_with(path, &store_options());
    let store = store.map_err(|source| opening(location, "a store", source))?;
    open_key(location, &store, key, options)
}

/// The table or the array with a key of a store.
fn open_key(
    location: &str,
    store: &Store,
    key: &str,
    options: &TableOptions,
) -> Result<Arc<dyn Columns>> {
    match store.table(key) {
        Ok(table) => Ok(Arc::new(store::Table::new(location, &table)?)),
        Err(no_table) => {
            let frame = store.frame(key).ok().and_then(|frame| NdArray::from_schunk(frame).ok());
            let array = frame.ok_or_else(|| opening(location, "a table or an array", no_table))?;
            let name = key.rsplit('/').find(|part| !part.is_empty()).unwrap_or("value");
            Ok(Arc::new(array::Table::new(location, name, array, options)?))
        }
    }
}

/// One thread: the streams of the engine run at once already.
fn budget() -> Budget {
    Budget::default().threads(Threads::One)
}

fn store_options() -> b2store::OpenOptions {
    b2store::OpenOptions::default().budget(budget())
}

/// Whether a name is an address, not a path.
pub(crate) fn is_address(location: &str) -> bool {
    location.split_once("://").is_some_and(|(scheme, _)| scheme != "file")
}

/// The names between the slashes of a location.
pub(crate) fn names_in(location: &str) -> Result<Vec<String>> {
    #[cfg(feature = "remote")]
    if is_address(location) {
        let names = blosc_object_store::Address::names(location);
        return names.map_err(|cause| Error::Io { location: location.to_owned(), cause });
    }
    Ok(location.split('/').map(str::to_owned).collect())
}

/// The name of the file without its extension: the column of an array without fields.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "value".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn opening(
    location: &str,
    what: &str,
    cause: impl core::error::Error + Send + Sync + 'static,
) -> Error {
    let what = format!("cannot be opened as {what}");
    Error::Read { location: location.to_owned(), what, cause: Box::new(cause) }
}

fn reading(
    location: &str,
    column: &str,
    rows: &Range<u64>,
    cause: impl core::error::Error + Send + Sync + 'static,
) -> Error {
    let what = format!("column {column}, rows {} to {}", rows.start, rows.end);
    Error::Read { location: location.to_owned(), what, cause: Box::new(cause) }
}
