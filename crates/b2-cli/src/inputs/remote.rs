//! Inputs that lie elsewhere (`https://host/x.b2nd`, `s3://bucket/trades.bcolz`).
//!
//! An [`Opener`](crate::opener::Opener) opens them by their names. From then on the name is that of
//! a file or of a directory: looking at that path, or reading it, finds what was opened.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use blosc_io::{ReadAt, Tree};

use crate::{
    formats::{bcolz, store},
    inputs::origin::INDEX_FILE,
    opener::Opened,
};

/// The bytes of a file, or the files of a directory.
#[derive(Clone)]
pub(crate) enum Remote {
    File(Arc<dyn ReadAt>),
    Tree(Arc<dyn Tree>),
}

/// What lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteKind {
    /// A frame, or another file.
    File,
    Store,
    SparseFrame,
    Bcolz,
}

/// What was opened, by its name.
type Known = BTreeMap<PathBuf, (Remote, RemoteKind)>;

static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());

/// Takes what an opener has opened by a name, if it is a file or a directory; else gives it back.
///
/// # Errors
///
/// A directory that is nothing; reading the first bytes of a file.
pub(crate) fn register(name: &Path, opened: Opened) -> io::Result<Option<Opened>> {
    let remote = match opened {
        Opened::File(file) => Remote::File(file),
        Opened::Tree(tree) => Remote::Tree(tree),
        other => return Ok(Some(other)),
    };
    let kind = kind(name, &remote)?;
    known().insert(name.to_owned(), (remote, kind));
    Ok(None)
}

/// What was opened by a name.
pub(crate) fn find(name: &Path) -> Option<Remote> {
    known().get(name).map(|(remote, _)| remote.clone())
}

/// The kind of what was opened by a name.
pub(crate) fn kind_of(name: &Path) -> Option<RemoteKind> {
    known().get(name).map(|(_, kind)| *kind)
}

/// The directory that was opened by a name.
pub(crate) fn tree(name: &Path) -> Option<Arc<dyn Tree>> {
    match find(name)? {
        Remote::Tree(tree) => Some(tree),
        Remote::File(_) => None,
    }
}

/// Whether a name is an address, as those of object stores and web servers are.
pub(crate) fn is_address(name: &Path) -> bool {
    let scheme = name.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
}

const SCHEMES: [&str; 9] = ["http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];

/// The part of `ADDRESS::/key` that an opener opens.
pub(crate) fn without_key(word: &Path) -> &Path {
    let address = word.to_str().filter(|_| is_address(word)).and_then(|text| text.split_once("::"));
    address.map_or(word, |(address, _)| Path::new(address))
}

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kind(name: &Path, remote: &Remote) -> io::Result<RemoteKind> {
    match remote {
        Remote::File(file) => {
            // Whether it can be read at all.
            let _read = file.read_at(0, &mut [0; 4])?;
            Ok(if store::is_file(file, name) { RemoteKind::Store } else { RemoteKind::File })
        }
        Remote::Tree(tree) => {
            let has = |name: &str| tree.len_of(name).is_ok();
            Ok(if has(store::EMBED_FILE) {
                RemoteKind::Store
            } else if has(INDEX_FILE) {
                RemoteKind::SparseFrame
            } else if bcolz::METADATA_FILES.iter().any(|name| has(name)) {
                RemoteKind::Bcolz
            } else {
                let text = "there is no such object, and no data set below that name";
                return Err(io::Error::new(io::ErrorKind::NotFound, text));
            })
        }
    }
}

/// Bytes of all files of a tree.
pub(crate) fn stored(tree: &dyn Tree) -> u64 {
    let (mut waiting, mut sum) = (vec![String::new()], 0_u64);
    while let Some(directory) = waiting.pop() {
        for entry in tree.list(&directory).unwrap_or_default() {
            let path = blosc_io::tree::join(&directory, &entry.name);
            match entry.is_dir {
                true => waiting.push(path),
                false => sum = sum.saturating_add(tree.len_of(&path).unwrap_or(0)),
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_names_of_files() {
        for address in ["https://host/x.b2nd", "s3://bucket/a/b"] {
            assert!(is_address(Path::new(address)), "{address}");
        }
        for path in ["x.b2nd", "/a/b", "://x", "gopher://x", "a:b"] {
            assert!(!is_address(Path::new(path)), "{path}");
        }
        let key = without_key(Path::new("https://host/x.b2z::/a/b"));
        assert_eq!(key, Path::new("https://host/x.b2z"));
        assert_eq!(without_key(Path::new("x.b2z::/a")), Path::new("x.b2z::/a"));
    }
}
