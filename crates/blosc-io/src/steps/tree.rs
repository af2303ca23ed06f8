//! A tree of files whose bytes the caller fetches when they are read.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::{Fetch, FetchedFile, Step, forget_oldest};
use crate::ReadAt;
use crate::tree::{Entry, Listing, Tree};

/// A part of a file of a tree.
pub type FileFetch = (String, Fetch);

/// A tree of files with known names and lengths, whose bytes the caller fetches when they are read.
#[derive(Debug)]
pub struct FetchedTree {
    files: BTreeMap<String, Arc<FetchedFile>>,
    listing: Listing,
    limit: u64,
    kept: u64,
    /// The number of the current or next work.
    work: AtomicU64,
}

impl FetchedTree {
    /// The files of a listing, with their paths and lengths. One step fetches up to `limit` bytes
    /// ahead.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, u64)>, limit: u64) -> Self {
        let file = |(path, len)| (path, Arc::new(FetchedFile::with_len(len, limit)));
        let files: BTreeMap<String, Arc<FetchedFile>> = files.into_iter().map(file).collect();
        let listing = files.keys().cloned().collect();
        Self { files, listing, limit, kept: u64::MAX, work: AtomicU64::new(0) }
    }

    /// As [`FetchedFile::keeping`], for all files together.
    #[must_use]
    pub fn keeping(mut self, nbytes: u64) -> Self {
        self.kept = nbytes;
        self
    }

    /// Runs `work`, which reads this tree, on its known bytes.
    ///
    /// # Errors
    ///
    /// The error of `work`, unless it only lacks bytes.
    pub fn step<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<Step<T, FileFetch>, E> {
        let number = self.work.load(Ordering::Relaxed);
        self.files.values().for_each(|file| file.begin(number));
        let done = work();
        let is_blocked = self.files.values().any(|file| file.lock().is_blocked);
        let needed = |(path, file): (&String, &Arc<FetchedFile>)| {
            let fetches = file.take_missing(done.is_err() || is_blocked).unwrap_or_default();
            fetches.into_iter().map(|fetch| (path.clone(), fetch)).collect::<Vec<_>>()
        };
        let fetches: Vec<FileFetch> = self.files.iter().flat_map(needed).collect();
        match fetches.is_empty() {
            true => {
                self.work.store(number.saturating_add(1), Ordering::Relaxed);
                forget_oldest(self.files.values().map(|file| &**file), self.kept);
                done.map(Step::Done)
            }
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

    #[test]
    fn files_share_what_is_kept() {
        let tree = FetchedTree::new([("x".into(), 3), ("y".into(), 2)], 100).keeping(3);
        let read = |path: &str| {
            let work = || tree.open(path)?.read_at(0, &mut [0; 3]);
            while let Step::Fetch(fetches) = tree.step(work).unwrap() {
                for (path, fetch) in fetches {
                    let len = tree.len_of(&path).unwrap();
                    let range = fetch.range(len);
                    let bytes = vec![7; usize::try_from(range.end - range.start).unwrap()];
                    tree.add(&path, range.start, &bytes, len).unwrap();
                }
            }
            ["x", "y"].map(|path| tree.find(path).unwrap().known_nbytes())
        };
        assert_eq!(read("x"), [3, 0]);
        assert_eq!(read("y"), [0, 2], "the other file was read before");
        assert_eq!(read("x"), [3, 0]);
    }
}
