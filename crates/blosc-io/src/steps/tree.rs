//! Many files of which the caller fetches what is read.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::{Fetch, FetchedFile, Step};
use crate::ReadAt;
use crate::tree::{Entry, Listing, Tree};

/// A part of a file of a tree.
pub type FileFetch = (String, Fetch);

/// A tree of files whose names and lengths are known, and of which the caller fetches what is read.
#[derive(Debug)]
pub struct FetchedTree {
    files: BTreeMap<String, Arc<FetchedFile>>,
    listing: Listing,
    limit: u64,
}

impl FetchedTree {
    /// The files of a listing, with their paths and lengths. One step fetches up to `limit` bytes
    /// ahead.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, u64)>, limit: u64) -> Self {
        let file = |(path, len)| (path, Arc::new(FetchedFile::with_len(len, limit)));
        let files: BTreeMap<String, Arc<FetchedFile>> = files.into_iter().map(file).collect();
        let listing = files.keys().cloned().collect();
        Self { files, listing, limit }
    }

    /// Runs `work`, which reads this tree, over what is known of it.
    ///
    /// # Errors
    ///
    /// The error of `work`, unless it only lacks bytes.
    pub fn step<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<Step<T, FileFetch>, E> {
        self.files.values().for_each(|file| file.begin());
        let done = work();
        let is_blocked = self.files.values().any(|file| file.lock().is_blocked);
        let needed = |(path, file): (&String, &Arc<FetchedFile>)| {
            let fetches = file.take_missing(done.is_err() || is_blocked).unwrap_or_default();
            fetches.into_iter().map(|fetch| (path.clone(), fetch)).collect::<Vec<_>>()
        };
        let fetches: Vec<FileFetch> = self.files.iter().flat_map(needed).collect();
        match fetches.is_empty() {
            true => done.map(Step::Done),
            false => Ok(Step::Fetch(fetches)),
        }
    }

    /// Adds bytes of a file, from position `at` on.
    ///
    /// # Errors
    ///
    /// `NotFound` for a file that is not in the listing; as [`FetchedFile::add`].
    pub fn add(&self, path: &str, at: u64, bytes: &[u8], len: u64) -> io::Result<()> {
        self.find(path)?.add(at, bytes, len)
    }

    /// Forgets all bytes; the listing stays.
    pub fn forget(&self) {
        self.files.values().for_each(|file| file.forget());
    }

    fn find(&self, path: &str) -> io::Result<&Arc<FetchedFile>> {
        self.files.get(path).ok_or_else(|| self.listing.no_file(path))
    }
}

impl Tree for FetchedTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(Arc::clone(self.find(path)?)))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.find(path)?.len()
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.listing.entries(path)
    }

    fn prefetch_limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_fetched_together() {
        let tree = FetchedTree::new([("a/x".into(), 3), ("a/y".into(), 2), ("z".into(), 1)], 100);
        let work = || {
            tree.prefetch(&[("a/x".into(), 0..9), ("a/y".into(), 0..9), ("gone".into(), 0..1)]);
            let read = |path: &str| tree.open(path)?.read_ranges(core::slice::from_ref(&(0..2)));
            Ok::<_, io::Error>([read("a/x")?, read("a/y")?].concat().concat())
        };
        let fetches = vec![("a/x".into(), Fetch::Range(0..3)), ("a/y".into(), Fetch::Range(0..2))];
        assert_eq!(tree.step(work).unwrap(), Step::Fetch(fetches));
        tree.add("a/x", 0, b"abc", 3).unwrap();
        tree.add("a/y", 0, b"de", 2).unwrap();
        assert_eq!(tree.step(work).unwrap(), Step::Done(b"abde".to_vec()));
        assert_eq!(tree.list("a").unwrap().len(), 2);
        assert_eq!(tree.add("w", 0, b"", 0).unwrap_err().kind(), io::ErrorKind::NotFound);
        tree.forget();
        assert!(matches!(tree.step(work).unwrap(), Step::Fetch(_)));
    }
}
