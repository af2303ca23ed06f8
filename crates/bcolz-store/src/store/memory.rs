//! A tree in memory, for tests and for data that never touch a disk.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use blosc_io::ReadAt;

use super::{Entry, Store};

/// Files in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    /// Directories have no bytes.
    nodes: RwLock<BTreeMap<String, Option<Arc<[u8]>>>>,
}

/// The bytes of a file as they were when it was opened.
#[derive(Debug)]
struct Opened(Arc<[u8]>);

impl MemoryStore {
    /// An empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn nodes(&self) -> RwLockReadGuard<'_, BTreeMap<String, Option<Arc<[u8]>>>> {
        // Nothing panics while it holds the lock.
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Option<Arc<[u8]>>>> {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for MemoryStore {
    fn clone(&self) -> Self {
        Self { nodes: RwLock::new(self.nodes().clone()) }
    }
}

impl Store for MemoryStore {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        match self.nodes().get(path) {
            Some(Some(bytes)) => Ok(Box::new(Opened(bytes.clone()))),
            Some(None) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let nodes = self.nodes();
        if !path.is_empty() && !matches!(nodes.get(path), Some(None)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let entry = |(node, bytes): (&String, &Option<Arc<[u8]>>)| {
            let below =
                if path.is_empty() { node } else { node.strip_prefix(path)?.strip_prefix('/')? };
            let name = (!below.is_empty() && !below.contains('/')).then(|| below.to_owned())?;
            Some(Entry { name, is_dir: bytes.is_none() })
        };
        Ok(nodes.iter().filter_map(entry).collect())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.change().insert(path.to_owned(), Some(bytes.into()));
        Ok(())
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        // The root is always there.
        if !path.is_empty() && self.change().insert(path.to_owned(), None).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.change().retain(|node, _| !is_in(node, path));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut nodes = self.change();
        let moved: Vec<String> = nodes.keys().filter(|node| is_in(node, from)).cloned().collect();
        for node in moved {
            if let Some(bytes) = nodes.remove(&node) {
                nodes.insert(format!("{to}{}", node.strip_prefix(from).unwrap_or_default()), bytes);
            }
        }
        Ok(())
    }
}

impl ReadAt for Opened {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.0.get(at..)).unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// Whether a node is at `path` or below it.
fn is_in(node: &str, path: &str) -> bool {
    node.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_listed_renamed_and_removed() {
        let store = MemoryStore::new();
        store.create_dir("a").unwrap();
        store.create_dir("ab").unwrap();
        store.write("a/x", b"1").unwrap();
        store.write("ab/y", b"2").unwrap();
        store.rename("a", "c").unwrap();
        let names = |path| {
            store.list(path).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>()
        };
        assert_eq!(
            (names(""), names("c")),
            (vec!["ab".to_owned(), "c".to_owned()], vec!["x".to_owned()])
        );
        store.remove("c").unwrap();
        assert!(store.open("c/x").is_err() && store.open("ab/y").is_ok());
        assert!(store.create_dir("ab").is_err());
    }
}
