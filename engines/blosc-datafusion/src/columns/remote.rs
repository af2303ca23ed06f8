//! Tables in object stores and on web servers.

use core::ops::Range;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use b2frame::probe::Kind;
use b2frame::{NdArray, SChunk};
use b2store::Store;
use blosc_io::{ReadAt as _, Tree};
use blosc_object_store::{Address, Cache};
use datafusion::arrow::array::{ArrayRef, UInt32Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result as QueryResult;

use super::{Columns, MARKS, Opened, Scratch, array, bcolz, open_key, opening, store_options};
use crate::error::{Error, Result};
use crate::options::TableOptions;

/// Most bytes of fetched data that all tables of the process keep.
const KEPT_NBYTES: u64 = 256 << 20;

/// The cache of all tables.
fn cache() -> io::Result<Arc<Cache>> {
    static CACHE: OnceLock<Mutex<Option<Arc<Cache>>>> = OnceLock::new();
    let cache = CACHE.get_or_init(Mutex::default).lock();
    let mut cache = cache.unwrap_or_else(PoisonError::into_inner);
    if let Some(cache) = &*cache {
        return Ok(Arc::clone(cache));
    }
    Ok(Arc::clone(cache.insert(Cache::new(KEPT_NBYTES)?)))
}

/// The object at an address.
pub(crate) enum Found {
    Table(Opened),
    /// The names in a folder of tables.
    Folder(Vec<String>),
}

/// Opens the object at an address: a store, an array, or a path with the objects of a table of
/// bcolz or of a store. `ADDRESS::/KEY` is a value in a store.
pub(crate) fn find(location: &str, options: &TableOptions) -> Result<Found> {
    let io = |cause| Error::Io { location: location.to_owned(), cause };
    let scheme_len = location.find("://").map_or(0, |at| at.saturating_add(3));
    let (address, key) = match location.get(scheme_len..).and_then(|rest| rest.find("::")) {
        Some(at) => {
            let (address, key) = location.split_at(scheme_len.saturating_add(at));
            (address, key.trim_start_matches(':'))
        }
        None => (location, "/"),
    };
    let cache = cache().map_err(io)?;
    let address = Address::parse_in(address, &cache).map_err(io)?;
    let remote_table = |columns, limit, fingerprint| {
        let columns = Arc::new(RemoteColumns { columns, limit });
        Found::Table(Opened::new(location, columns, fingerprint, options))
    };
    let missing = match address.open(&cache) {
        Ok(object) => {
            let (limit, fingerprint) = (object.prefetch_limit(), object.fingerprint());
            let table = open_object(location, object, key, options)?;
            return Ok(remote_table(table, limit, fingerprint));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        Err(error) => return Err(io(error)),
    };
    // A web server without listing gives no other answer.
    let Ok(entries) = address.list(&cache) else { return Err(io(missing)) };
    if entries.is_empty() {
        return Err(io(missing));
    }
    if !entries.iter().any(|entry| MARKS.contains(&entry.name.as_str())) {
        return Ok(Found::Folder(entries.into_iter().map(|entry| entry.name).collect()));
    }
    let tree = address.open_tree(&cache).map_err(io)?;
    let (limit, fingerprint) = (tree.prefetch_limit(), tree.fingerprint());
    let table = open_tree(location, Arc::new(tree), key, options)?;
    Ok(remote_table(table, limit, fingerprint))
}

/// Opens a table; a folder of tables is an error.
pub(super) fn open(location: &str, options: &TableOptions) -> Result<Opened> {
    match find(location, options)? {
        Found::Table(table) => Ok(table),
        Found::Folder(_) => Err(Error::NotATable { location: location.to_owned() }),
    }
}

fn open_object(
    location: &str,
    object: blosc_object_store::Remote,
    key: &str,
    options: &TableOptions,
) -> Result<Arc<dyn Columns>> {
    let io = |cause| Error::Io { location: location.to_owned(), cause };
    let mut head = [0; b2frame::probe::PROBE_LEN];
    let len = object.read_at(0, &mut head).map_err(io)?;
    let object = Arc::new(object);
    let is_frame = matches!(Kind::recognize(head.get(..len).unwrap_or_default()), Kind::Frame);
    if is_frame && key == "/" {
        let array = SChunk::from_store(Arc::clone(&object) as _).and_then(NdArray::from_schunk);
        let stem = object.path().filename().map(|name| name.split('.').next().unwrap_or(name));
        if let Ok(array) = array {
            let name = stem.unwrap_or("value").to_owned();
            return Ok(Arc::new(array::Table::new(location, &name, array, options)?));
        }
    }
    let store = Store::from_store(object, &store_options());
    let store = store.map_err(|source| opening(location, "a store or an array", source))?;
    open_key(location, &store, key, options)
}

fn open_tree(
    location: &str,
    tree: Arc<dyn Tree>,
    key: &str,
    options: &TableOptions,
) -> Result<Arc<dyn Columns>> {
    if tree.len_of("embed.b2e").is_ok() {
        let store = Store::from_tree(tree, &store_options());
        let store = store.map_err(|source| opening(location, "a store", source))?;
        return open_key(location, &store, key, options);
    }
    if tree.len_of("chunks.b2frame").is_ok() {
        let array = SChunk::from_tree(tree, &b2frame::OpenOptions::default())
            .and_then(NdArray::from_schunk);
        let array = array.map_err(|source| opening(location, "an array", source))?;
        let name = location.trim_end_matches('/').rsplit('/').next().unwrap_or(location);
        let name = name.split('.').next().unwrap_or(name);
        return Ok(Arc::new(array::Table::new(location, name, array, options)?));
    }
    Ok(Arc::new(bcolz::Table::open_in(location, tree, options)?))
}

/// A table whose reads wait for requests.
#[derive(Debug)]
struct RemoteColumns {
    columns: Arc<dyn Columns>,
    limit: u64,
}

impl Columns for RemoteColumns {
    fn nrows(&self) -> u64 {
        self.columns.nrows()
    }

    fn schema(&self) -> &SchemaRef {
        self.columns.schema()
    }

    fn chunk_nrows(&self) -> u64 {
        self.columns.chunk_nrows()
    }

    fn row_nbytes(&self, column: usize) -> u64 {
        self.columns.row_nbytes(column)
    }

    fn read(&self, column: usize, rows: &Range<u64>, scratch: &mut Scratch) -> Result<ArrayRef> {
        self.columns.read(column, rows, scratch)
    }

    fn pick(
        &self,
        column: usize,
        rows: &Range<u64>,
        picked: &UInt32Array,
        scratch: &mut Scratch,
    ) -> QueryResult<ArrayRef> {
        self.columns.pick(column, rows, picked, scratch)
    }

    fn prefetch(&self, columns: &[usize], rows: &Range<u64>) {
        self.columns.prefetch(columns, rows);
    }

    /// An announced unit is fetched whole.
    fn reads_parts(&self) -> bool {
        false
    }

    fn prefetch_limit(&self) -> u64 {
        self.limit
    }
}
