//! Objects below a common path as a tree of files: directories of bcolz, sparse frames, `.b2d`.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use blosc_io::ReadAt;
use blosc_io::tree::{Entry, Tree};
use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use crate::cache::Cache;
use crate::remote::Remote;

/// A tree of objects, for reading, as it was when it was opened.
pub struct RemoteTree {
    store: Arc<dyn ObjectStore>,
    root: Path,
    cache: Arc<Cache>,
    /// Objects by their paths below the root.
    files: BTreeMap<String, Remote>,
    /// The directories: what lies between the root and objects.
    dirs: BTreeSet<String>,
}

impl RemoteTree {
    /// Lists the objects below `root`, once. Web servers do not list.
    ///
    /// # Errors
    ///
    /// `NotFound` if there are none; what the store says.
    pub fn open(store: Arc<dyn ObjectStore>, root: &Path, cache: &Arc<Cache>) -> io::Result<Self> {
        let (listed, prefix) = (Arc::clone(&store), root.clone());
        let found: Vec<ObjectMeta> = cache.driver.wait(async move {
            listed.list(Some(&prefix)).try_collect().await.map_err(io::Error::other)
        })?;
        // A thousand names in each answer, at most.
        cache.count_round((found.len() as u64).div_ceil(1000).max(1), 0);
        let (mut files, mut dirs) = (BTreeMap::new(), BTreeSet::from([String::new()]));
        for meta in found {
            let Some(parts) = meta.location.prefix_match(root) else { continue };
            let names: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            for depth in 1..names.len() {
                dirs.insert(names[..depth].join("/"));
            }
            if !names.is_empty() {
                files.insert(names.join("/"), Remote::with_meta(Arc::clone(&store), meta, cache));
            }
        }
        if files.is_empty() {
            let text = format!("{root}: no objects below it");
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        Ok(Self { store, root: root.clone(), cache: Arc::clone(cache), files, dirs })
    }

    /// The store that it is in.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The cache that its files share.
    #[must_use]
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    fn find(&self, path: &str) -> io::Result<&Remote> {
        let lacks = || {
            let kind = match self.dirs.contains(path) {
                true => io::ErrorKind::InvalidInput,
                false => io::ErrorKind::NotFound,
            };
            io::Error::new(kind, format!("{}/{path}", self.root))
        };
        self.files.get(path).ok_or_else(lacks)
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
        if !self.dirs.contains(path) {
            let kind = match self.files.contains_key(path) {
                true => io::ErrorKind::NotADirectory,
                false => io::ErrorKind::NotFound,
            };
            return Err(io::Error::new(kind, format!("{}/{path}", self.root)));
        }
        let name = |below: &str| {
            let rest = match path {
                "" => Some(below),
                path => below.strip_prefix(path)?.strip_prefix('/'),
            };
            rest.filter(|rest| !rest.is_empty() && !rest.contains('/')).map(str::to_owned)
        };
        let dirs = self.dirs.iter().filter_map(|dir| name(dir));
        let dirs = dirs.map(|name| Entry { name, is_dir: true });
        let files = self.files.keys().filter_map(|file| name(file));
        Ok(dirs.chain(files.map(|name| Entry { name, is_dir: false })).collect())
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
