//! A directory of the file system.
//!
//! Names come from strangers' metadata, and a directory from a stranger may hold anything: whatever
//! is opened must be an ordinary file whose real place is below the root. Links inside the root are
//! followed, those that leave it are not.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use blosc_io::{FileStore, ReadAt};

use super::{Entry, Store};

/// A directory.
#[derive(Clone, Debug)]
pub struct DirStore {
    root: PathBuf,
    durability: Durability,
}

/// What a change is to survive once it was flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: files are written through to the medium.
    #[default]
    PowerLoss,
    /// The death of the program: the operating system writes files when it likes.
    ProcessDeath,
}

impl DirStore {
    /// The tree below `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::default() }
    }

    /// With another promise about flushed changes.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Where `path` lies.
    fn place(&self, path: &str) -> PathBuf {
        path.split('/')
            .filter(|name| !name.is_empty())
            .fold(self.root.clone(), |place, name| place.join(name))
    }

    /// Where `path` lies and what is there, if it and all directories before it are below the root.
    fn checked(&self, path: &str) -> io::Result<(PathBuf, Metadata)> {
        let mut place = self.root.clone();
        let (mut has_links, mut last) = (false, None);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if matches!(name, "." | "..") || name.contains(['\\', '\0']) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            place.push(name);
            let metadata = fs::symlink_metadata(&place)?;
            has_links |= metadata.is_symlink();
            last = Some(metadata);
        }
        if has_links && !fs::canonicalize(&place)?.starts_with(fs::canonicalize(&self.root)?) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match last.filter(|_| !has_links) {
            Some(metadata) => Ok((place, metadata)),
            None => fs::metadata(&place).map(|metadata| (place, metadata)),
        }
    }

    /// The same of an ordinary file.
    fn ordinary(&self, path: &str) -> io::Result<(PathBuf, Metadata)> {
        let (place, metadata) = self.checked(path)?;
        if metadata.is_file() {
            Ok((place, metadata))
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    fn sync_dir(&self, place: &Path) -> io::Result<()> {
        if self.durability == Durability::PowerLoss && cfg!(unix) {
            return File::open(place.parent().unwrap_or(place))?.sync_all();
        }
        Ok(())
    }
}

impl Store for DirStore {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        // Asked before opening: opening a pipe would wait for a writer.
        let (place, _) = self.ordinary(path)?;
        Ok(Box::new(FileStore::from_file(File::open(place)?)))
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.ordinary(path).map(|(_, metadata)| metadata.len())
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            // A name that is not Unicode belongs to nothing that bcolz wrote.
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok(Entry { name, is_dir: entry.file_type()?.is_dir() })
        };
        fs::read_dir(self.checked(path)?.0)?.map(entry).collect()
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let place = self.place(path);
        let mut temporary = place.clone().into_os_string();
        temporary.push(TEMPORARY);
        let temporary = PathBuf::from(temporary);
        let replaced = write_new(
            &temporary,
            bytes,
            place.exists() && self.durability == Durability::PowerLoss,
        )
        .and_then(|()| fs::rename(&temporary, &place));
        if replaced.is_err() {
            // The first error tells more than one of cleaning up.
            let _ = fs::remove_file(&temporary);
        }
        replaced
    }

    fn sync(&self, paths: &[String]) -> io::Result<()> {
        if self.durability == Durability::ProcessDeath {
            return Ok(());
        }
        let mut parents = std::collections::BTreeSet::new();
        for path in paths {
            let place = self.place(path);
            match File::open(&place) {
                Ok(file) => file.sync_all()?,
                // Removed since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            parents.extend(place.parent().map(Path::to_path_buf));
        }
        parents
            .iter()
            .filter(|parent| parent.is_dir())
            .try_for_each(|parent| self.sync_dir(&parent.join("x")))
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        let place = self.place(path);
        fs::create_dir(&place)?;
        self.sync_dir(&place)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let place = self.place(path);
        let removed = match fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&place),
            Ok(_) => fs::remove_file(&place),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let place = self.place(to);
        fs::rename(self.place(from), &place)?;
        self.sync_dir(&place)
    }
}

/// Ends the name of a file that is being written.
pub(crate) const TEMPORARY: &str = ".__temp__";

fn write_new(place: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file = File::create(place)?;
    file.write_all(bytes)?;
    if sync { file.sync_all() } else { Ok(()) }
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
        let store = DirStore::new(&root);
        assert_eq!(store.open("alias/file").unwrap().len().unwrap(), 1);
        assert_eq!(store.len_of("alias/file").unwrap(), 1);
        for path in ["out/secret", "inner", "../secret", "inner/../inner/file"] {
            assert_eq!(
                store.open(path).err().unwrap().kind(),
                io::ErrorKind::InvalidInput,
                "{path}"
            );
            assert_eq!(
                store.len_of(path).unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{path}"
            );
        }
        assert_eq!(store.open("none/file").err().unwrap().kind(), io::ErrorKind::NotFound);
    }
}
