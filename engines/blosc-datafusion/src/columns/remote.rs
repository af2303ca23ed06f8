//! Tables in object stores and on web servers.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use b2frame::probe::Kind;
use b2frame::{NdArray, SChunk};
use b2store::Store;
use blosc_io::ReadAt as _;
use blosc_object_store::{Address, Cache};

use super::{Columns, array, bcolz, open_key, opening, store_options};
use crate::error::{Error, Result};
use crate::options::TableOptions;

/// What all tables of the process keep of what they fetched (bytes).
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

/// Opens what an address leads to: an object that is a store or an array, or a path with the
/// objects of a table of bcolz or of a store. `ADDRESS::/KEY` is a value in a store.
pub(super) fn open(location: &str, options: &TableOptions) -> Result<Arc<dyn Columns>> {
    let io = |source| Error::Io { location: location.to_owned(), source };
    let scheme_len = location.find("://").map_or(0, |at| at.saturating_add(3));
    let (address, key) = match location.get(scheme_len..).and_then(|rest| rest.find("::")) {
        Some(at) => {
            let (address, key) = location.split_at(scheme_len.saturating_add(at));
            (address, key.trim_start_matches(':'))
        }
        None => (location, "/"),
    };
    let cache = cache().map_err(io)?;
    let address = Address::parse(address).map_err(io)?;
    let object = match address.open(&cache) {
        Ok(object) => object,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let tree = address.open_tree(&cache).map_err(|_| io(error))?;
            return open_tree(location, Arc::new(tree), key, options);
        }
        Err(error) => return Err(io(error)),
    };
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
    tree: Arc<dyn blosc_io::Tree>,
    key: &str,
    options: &TableOptions,
) -> Result<Arc<dyn Columns>> {
    if tree.len_of("embed.b2e").is_ok() {
        let store = Store::from_tree(tree, &store_options());
        let store = store.map_err(|source| opening(location, "a store", source))?;
        return open_key(location, &store, key, options);
    }
    Ok(Arc::new(bcolz::Table::open_in(location, tree, options)?))
}
