//! A tree in a directory of the file system.
//!
//! Anyone may have written the metadata that names come from, and a stranger's directory may hold
//! any entries. So a path that is opened must be an ordinary file whose real path is below the
//! root. Links inside the root are followed, links that leave it are not.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::{Entry, Tree, TreeLock};
use crate::lock::LockKind;
use crate::replace::{self, sync_names, temporary_path};
use crate::{Durability, FileStore, Lock, LockWait, ReadAt};

/// Bytes that are copied at once.
const COPY_NBYTES: usize = 1 << 20;

/// The files below a directory.
#[derive(Clone, Debug)]
pub struct DirTree {
    root: PathBuf,
    durability: Durability,
    follows_links: bool,
    /// An entry of the root whose name is no part of a path: the text that stands for it in paths,
    /// and its name.
    odd_entry: Option<(String, OsString)>,
}

impl DirTree {
    /// The tree below `root`, which may be missing yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            durability: Durability::default(),
            follows_links: true,
            odd_entry: None,
        }
    }

    /// Sets the failures that synced changes survive. Without [`Durability::PowerLoss`], no call
    /// syncs.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Sets whether links to files inside the root are followed, which is the default.
    #[must_use]
    pub fn follow_links(self, follows_links: bool) -> Self {
        Self { follows_links, ..self }
    }

    /// The tree and the path of the entry of the root with this name. Paths are text, so another
    /// text stands for a name that is not Unicode, also in names that contain it.
    #[must_use]
    pub fn with_entry(self, name: &OsStr) -> (Self, String) {
        let text = name.to_string_lossy().replace('\\', "\u{fffd}");
        let odd_entry = (*name != *text).then(|| (text.clone(), name.to_owned()));
        (Self { odd_entry, ..self }, text)
    }

    /// The path in the file system.
    fn resolve(&self, path: &str) -> PathBuf {
        let names = path.split('/').filter(|name| !name.is_empty()).enumerate();
        names.fold(self.root.clone(), |resolved, (depth, name)| {
            resolved.join(&*self.name_of(name, depth))
        })
    }

    /// The name in the file system of a part of a path; parts of depth 0 are in the root.
    fn name_of<'p>(&self, part: &'p str, depth: usize) -> Cow<'p, OsStr> {
        let odd = self.odd_entry.as_ref().filter(|_| depth == 0);
        let odd = odd.and_then(|(text, name)| {
            let (start, end) = part.split_once(text.as_str())?;
            Some([OsStr::new(start), name, OsStr::new(end)].into_iter().collect::<OsString>())
        });
        odd.map_or_else(|| Cow::Borrowed(OsStr::new(part)), Cow::Owned)
    }

    /// The path in the file system and its metadata, if it and all directories before it are below
    /// the root.
    fn resolve_checked(&self, path: &str) -> io::Result<(PathBuf, Metadata)> {
        let mut resolved = self.root.clone();
        let mut has_links = false;
        let mut last = None;
        for (depth, name) in path.split('/').filter(|name| !name.is_empty()).enumerate() {
            if matches!(name, "." | "..") || name.contains(['\\', '\0']) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            resolved.push(&*self.name_of(name, depth));
            let metadata = fs::symlink_metadata(&resolved)?;
            has_links |= metadata.is_symlink();
            last = Some(metadata);
        }
        if has_links && !self.follows_links {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if has_links && !fs::canonicalize(&resolved)?.starts_with(fs::canonicalize(&self.root)?) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match last.filter(|_| !has_links) {
            Some(metadata) => Ok((resolved, metadata)),
            None => fs::metadata(&resolved).map(|metadata| (resolved, metadata)),
        }
    }

    /// The path and the metadata of an ordinary file.
    fn resolve_file(&self, path: &str) -> io::Result<(PathBuf, Metadata)> {
        let (resolved, metadata) = self.resolve_checked(path)?;
        if metadata.is_file() {
            Ok((resolved, metadata))
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }
}

impl Tree for DirTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        // The check comes before opening: opening a pipe would wait for a writer.
        let (resolved, _) = self.resolve_file(path)?;
        Ok(Box::new(FileStore::from_file(File::open(resolved)?)))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.resolve_file(path).map(|(_, metadata)| metadata.len())
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let odd = self.odd_entry.as_ref().filter(|_| path.split('/').all(str::is_empty));
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let found = entry.file_name();
            let name = match odd {
                Some((text, odd)) if found == *odd => text.clone(),
                // Containers write only Unicode names.
                _ => found.to_string_lossy().into_owned(),
            };
            // The text of an odd entry means that entry, and no other that reads the same.
            if odd.is_some_and(|(text, odd)| name == *text && found != *odd) {
                return Ok(None);
            }
            Ok(Some(Entry { name, is_dir: entry.file_type()?.is_dir() }))
        };
        let (resolved, metadata) = self.resolve_checked(path)?;
        // The systems' own errors for a file differ.
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let entries = fs::read_dir(resolved)?;
        entries.filter_map(|found| entry(found).transpose()).collect()
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let resolved = self.resolve(path);
        let temporary = self.resolve(&temporary_path(path));
        let is_synced = self.durability.needs_sync() && resolved.exists();
        let mut create = OpenOptions::new();
        let create = create.write(true).create_new(true);
        let replaced = write_file(create, &temporary, bytes, is_synced)
            .and_then(|()| fs::rename(&temporary, &resolved));
        if replaced.is_err() {
            // The first error says more than one from cleaning up.
            let _ = fs::remove_file(&temporary);
        }
        replaced
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let mut create = OpenOptions::new();
        write_file(create.write(true).create_new(true), &self.resolve(path), bytes, false)
    }

    fn copy_new(&self, path: &str, source: &dyn ReadAt) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(self.resolve(path))?;
        let len = source.len()?;
        let mut buffer = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(COPY_NBYTES)];
        let mut at = 0;
        while at < len {
            let count = usize::try_from(len - at).unwrap_or(usize::MAX).min(buffer.len());
            let part = &mut buffer[..count];
            source.read_exact_at(at, part)?;
            file.write_all(part)?;
            at += count as u64;
        }
        Ok(())
    }

    fn copy_permissions(&self, from: &str, to: &str) -> io::Result<()> {
        match fs::metadata(self.resolve(from)) {
            Ok(found) => fs::set_permissions(self.resolve(to), found.permissions()),
            Err(error) => super::skip_missing(Err(error)),
        }
    }

    /// The root has no parent in the tree, so its name is synced here.
    fn create_dir(&self, path: &str) -> io::Result<()> {
        let resolved = self.resolve(path);
        fs::create_dir(&resolved)?;
        match resolved.parent() {
            Some(parent) if path.is_empty() && self.durability.needs_sync() => sync_names(parent),
            _ => Ok(()),
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        super::skip_missing(replace::remove(&self.resolve(path)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.resolve(from), self.resolve(to))
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        if self.durability.needs_sync() {
            replace::sync_file(&self.resolve(path))?;
        }
        Ok(())
    }

    fn sync_names(&self, path: &str) -> io::Result<()> {
        if self.durability.needs_sync() { sync_names(&self.resolve(path)) } else { Ok(()) }
    }

    fn lock(&self, path: &str, kind: LockKind, wait: &LockWait) -> io::Result<Box<dyn TreeLock>> {
        Ok(Box::new(Lock::take(self.resolve_checked(path)?.0, kind, wait)?))
    }
}

fn write_file(
    options: &OpenOptions,
    path: &std::path::Path,
    bytes: &[u8],
    is_synced: bool,
) -> io::Result<()> {
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    if is_synced { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_followed_below_the_root_only() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("inner")).unwrap();
        fs::write(dir.path().join("secret"), b"s").unwrap();
        fs::write(root.join("inner/file"), b"f").unwrap();
        std::os::unix::fs::symlink("inner", root.join("alias")).unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("out")).unwrap();
        let tree = DirTree::new(&root);
        assert_eq!(tree.open("alias/file").unwrap().len().unwrap(), 1);
        assert_eq!(tree.len_of("alias/file").unwrap(), 1);
        for path in ["out/secret", "inner", "../secret", "inner/../inner/file"] {
            let opened = tree.open(path).err().unwrap();
            assert_eq!(opened.kind(), io::ErrorKind::InvalidInput, "{path}");
            let len = tree.len_of(path).unwrap_err();
            assert_eq!(len.kind(), io::ErrorKind::InvalidInput, "{path}");
        }
        assert_eq!(tree.open("none/file").err().unwrap().kind(), io::ErrorKind::NotFound);
        let strict = tree.follow_links(false);
        assert!(strict.open("inner/file").is_ok());
        let opened = strict.open("alias/file").err().unwrap();
        assert_eq!(opened.kind(), io::ErrorKind::InvalidInput);
    }

    #[cfg(unix)]
    #[test]
    fn an_entry_whose_name_is_no_text_is_reached_by_a_text() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = tempfile::tempdir().unwrap();
        for raw in [&b"\xfe.b2d"[..], b"a\\b", b"\xc3\xa4", b"plain"] {
            let name = OsStr::from_bytes(raw);
            let (tree, path) = DirTree::new(dir.path()).with_entry(name);
            tree.create_dir(&path).unwrap();
            tree.write(&format!("{path}/x"), b"1").unwrap();
            assert_eq!(fs::read(dir.path().join(name).join("x")).unwrap(), b"1");
            assert_eq!(tree.len_of(&format!("{path}/x")).unwrap(), 1);
            let is_it = |entry: &Entry| entry.name == path && entry.is_dir;
            assert_eq!(tree.list("").unwrap().iter().filter(|entry| is_it(entry)).count(), 1);
            // Temporary names contain the name itself, so that a sweep finds them.
            let temporary = temporary_path(&path);
            tree.create_new(&temporary, b"").unwrap();
            let is_named = |bytes: &[u8]| bytes.windows(raw.len()).any(|part| part == raw);
            let mut names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
            assert!(names.any(|found| found != *name && is_named(found.as_bytes())));
            tree.remove(&temporary).unwrap();
            tree.rename(&path, "moved").unwrap();
            tree.remove("moved").unwrap();
            assert!(!tree.list("").unwrap().iter().any(is_it));
        }
        // Two names that read the same are two entries.
        fs::write(dir.path().join(OsStr::from_bytes(b"\xff")), b"").unwrap();
        let (tree, path) = DirTree::new(dir.path()).with_entry(OsStr::from_bytes(b"\xfe"));
        assert_eq!(tree.list("").unwrap(), []);
        assert_eq!(tree.open(&path).err().unwrap().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_does_not_follow_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        std::os::unix::fs::symlink(&target, dir.path().join("link")).unwrap();
        let error = DirTree::new(dir.path()).create_new("link", b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(!target.exists());
    }

    #[test]
    fn a_failed_write_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let tree = DirTree::new(dir.path());
        tree.create_dir("d").unwrap();
        // A file cannot replace a directory that is not empty.
        tree.write("d/x", b"1").unwrap();
        assert!(tree.write("d", b"2").is_err());
        let names: Vec<_> = tree.list("").unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["d"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_lock_of_a_tree_is_that_of_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let tree = DirTree::new(dir.path());
        let lock = tree.lock("", LockKind::Exclusive, &LockWait::never()).unwrap();
        assert!(Lock::shared(dir.path(), &LockWait::never()).is_err());
        drop(lock);
        let error = tree.lock("none", LockKind::Shared, &LockWait::never()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        Lock::exclusive(dir.path(), &LockWait::never()).unwrap();
    }

    #[test]
    fn the_root_is_created_by_its_empty_path() {
        let dir = tempfile::tempdir().unwrap();
        for durability in [Durability::PowerLoss, Durability::ProcessDeath, Durability::None] {
            let root = dir.path().join(format!("{durability:?}"));
            let tree = DirTree::new(&root).durability(durability);
            assert_eq!(tree.list("").unwrap_err().kind(), io::ErrorKind::NotFound);
            tree.create_dir("").unwrap();
            assert_eq!(tree.list("").unwrap(), []);
            let again = tree.create_dir("").unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        }
    }
}
