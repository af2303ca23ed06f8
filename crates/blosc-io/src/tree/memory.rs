//! A tree in memory, for tests and for data that never reach a disk.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Entry, Tree};
use crate::ReadAt;

/// Path to content; directories have none.
type Nodes = BTreeMap<String, Option<Arc<[u8]>>>;

/// Files in memory. A clone is an independent copy.
#[derive(Debug, Default)]
pub struct MemTree {
    nodes: RwLock<Nodes>,
}

impl MemTree {
    /// An empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn nodes(&self) -> RwLockReadGuard<'_, Nodes> {
        // No code panics while it holds the lock.
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes_mut(&self) -> RwLockWriteGuard<'_, Nodes> {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert_new(&self, path: &str, content: Option<Arc<[u8]>>) -> io::Result<()> {
        let mut nodes = self.nodes_mut();
        if path.is_empty() || nodes.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        nodes.insert(path.to_owned(), content);
        Ok(())
    }
}

impl Clone for MemTree {
    fn clone(&self) -> Self {
        Self { nodes: RwLock::new(self.nodes().clone()) }
    }
}

impl Tree for MemTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        match self.nodes().get(path) {
            Some(Some(bytes)) => Ok(Box::new(MemFile(bytes.clone()))),
            Some(None) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let nodes = self.nodes();
        if !path.is_empty() && !matches!(nodes.get(path), Some(None)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let entry = |(node, content): (&String, &Option<Arc<[u8]>>)| {
            let below =
                if path.is_empty() { node } else { node.strip_prefix(path)?.strip_prefix('/')? };
            let name = (!below.is_empty() && !below.contains('/')).then(|| below.to_owned())?;
            Some(Entry { name, is_dir: content.is_none() })
        };
        Ok(nodes.iter().filter_map(entry).collect())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.nodes_mut().insert(path.to_owned(), Some(bytes.into()));
        Ok(())
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.insert_new(path, Some(bytes.into()))
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        // The root always exists.
        if path.is_empty() { Ok(()) } else { self.insert_new(path, None) }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.nodes_mut().retain(|node, _| !is_in(node, path));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut nodes = self.nodes_mut();
        let moved: Vec<String> = nodes.keys().filter(|node| is_in(node, from)).cloned().collect();
        if moved.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        for node in moved {
            if let Some(content) = nodes.remove(&node) {
                let below = node.strip_prefix(from).unwrap_or_default();
                nodes.insert(format!("{to}{below}"), content);
            }
        }
        Ok(())
    }
}

/// The content of a file when it was opened.
#[derive(Debug)]
struct MemFile(Arc<[u8]>);

impl ReadAt for MemFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(crate::mem::copy_from(&self.0, at, buf))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(&self.0)
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
    fn a_name_that_begins_like_a_directory_is_not_in_it() {
        let tree = MemTree::new();
        tree.create_dir("a").unwrap();
        tree.create_dir("ab").unwrap();
        tree.write("a/x", b"1").unwrap();
        tree.write("ab/y", b"2").unwrap();
        tree.rename("a", "c").unwrap();
        let names = |path| -> Vec<String> {
            tree.list(path).unwrap().into_iter().map(|entry| entry.name).collect()
        };
        assert_eq!((names(""), names("c")), (vec!["ab".into(), "c".into()], vec!["x".into()]));
        tree.remove("c").unwrap();
        assert!(tree.open("c/x").is_err() && tree.open("ab/y").is_ok());
        assert!(tree.create_dir("ab").is_err());
    }

    #[test]
    fn an_open_file_keeps_its_content() {
        let tree = MemTree::new();
        tree.write("f", b"old").unwrap();
        let file = tree.open("f").unwrap();
        tree.write("f", b"newer").unwrap();
        assert_eq!(file.in_memory(), Some(&b"old"[..]));
        assert_eq!(tree.len_of("f").unwrap(), 5);
        crate::testing::check_read_at(&*file, b"old").unwrap();
    }
}
