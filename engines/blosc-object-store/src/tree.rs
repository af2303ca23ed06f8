//! Objects below a common path as a tree of files: directories of bcolz, sparse frames, `.b2d`.

use core::fmt;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use blosc_io::ReadAt;
use blosc_io::tree::{Entry, Listing, Tree};
use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use xxhash_rust::xxh3::xxh3_64;

use crate::cache::Cache;
use crate::object::io_error;
use crate::remote::Remote;

/// A read-only tree of objects, as it was when it was opened.
pub struct RemoteTree {
    store: Arc<dyn ObjectStore>,
    root: Path,
    cache: Arc<Cache>,
    /// Objects by their paths below the root.
    files: BTreeMap<String, Remote>,
    listing: Listing,
}

impl RemoteTree {
    /// Lists the objects below `root`, once. Web servers do not list.
    ///
    /// # Errors
    ///
    /// `NotFound` if there are none; an error of the store.
    pub fn open(store: Arc<dyn ObjectStore>, root: &Path, cache: &Arc<Cache>) -> io::Result<Self> {
        let (listed, prefix) = (Arc::clone(&store), root.clone());
        cache.count_requests(1);
        let found: io::Result<Vec<ObjectMeta>> = cache
            .driver
            .wait(async move { listed.list(Some(&prefix)).try_collect().await.map_err(io_error) });
        cache.count_end(&found, |_| 0);
        let found = found?;
        // Each answer lists at most a thousand names, and leads to the next.
        for _ in 1..found.len().div_ceil(1000) {
            cache.count_requests(1);
            cache.count_end(&Ok(()), |()| 0);
        }
        let mut files = BTreeMap::new();
        for meta in found {
            let Some(parts) = meta.location.prefix_match(root) else { continue };
            let names: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            if !names.is_empty() {
                files.insert(names.join("/"), Remote::with_meta(Arc::clone(&store), meta, cache));
            }
        }
        if files.is_empty() {
            let text = format!("{root}: no objects below it");
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let listing = files.keys().cloned().collect();
        Ok(Self { store, root: root.clone(), cache: Arc::clone(cache), files, listing })
    }

    /// The store of the objects.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The cache that its files share.
    #[must_use]
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// Distinguishes the objects from others with the same names, with the same value in every
    /// process: see [`Remote::fingerprint`].
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let files = self.files.iter();
        let all = files.map(|(path, file)| format!("{path} {:x}\n", file.fingerprint()));
        xxh3_64(all.collect::<String>().as_bytes())
    }

    /// The error with the path in the store.
    fn below_root(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}/{error}", self.root))
    }

    fn find(&self, path: &str) -> io::Result<&Remote> {
        self.files.get(path).ok_or_else(|| self.below_root(self.listing.no_file(path)))
    }
}

impl Tree for RemoteTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(self.find(path)?.clone()))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.find(path)?.len()
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.listing.entries(path).map_err(|error| self.below_root(error))
    }

    fn prefetch_limit(&self) -> u64 {
        self.cache.prefetch_limit()
    }
}

impl fmt::Debug for RemoteTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTree")
            .field("root", &self.root)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}
