//! The directories of a tree that is only a list of paths, such as an object store.

use std::collections::BTreeSet;
use std::io;

use super::Entry;

/// Paths of files, and the directories in them.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    files: BTreeSet<String>,
    dirs: BTreeSet<String>,
}

impl<S: Into<String>> FromIterator<S> for Listing {
    fn from_iter<I: IntoIterator<Item = S>>(paths: I) -> Self {
        let files: BTreeSet<String> = paths.into_iter().map(Into::into).collect();
        let mut dirs = BTreeSet::from([String::new()]);
        for path in &files {
            dirs.extend(path.match_indices('/').map(|(end, _)| path[..end].to_owned()));
        }
        Self { files, dirs }
    }
}

impl Listing {
    /// The entries of a directory: see [`Tree::list`](super::Tree::list).
    ///
    /// # Errors
    ///
    /// `NotFound`, or `NotADirectory` for a file.
    pub fn entries(&self, path: &str) -> io::Result<Vec<Entry>> {
        if !self.dirs.contains(path) {
            let kind = match self.files.contains(path) {
                true => io::ErrorKind::NotADirectory,
                false => io::ErrorKind::NotFound,
            };
            return Err(io::Error::new(kind, path.to_owned()));
        }
        let prefix = match path {
            "" => String::new(),
            path => format!("{path}/"),
        };
        let entry = |below: &String, is_dir| {
            let name = below.strip_prefix(&prefix)?;
            let is_here = !name.is_empty() && !name.contains('/');
            is_here.then(|| Entry { name: name.to_owned(), is_dir })
        };
        let below = |paths: &BTreeSet<String>, is_dir| {
            let from = paths.range(prefix.clone()..);
            let inside = from.take_while(|path| path.starts_with(&prefix));
            inside.filter_map(|path| entry(path, is_dir)).collect::<Vec<_>>()
        };
        Ok([below(&self.dirs, true), below(&self.files, false)].concat())
    }

    /// The error for a path without a file to open.
    #[must_use]
    pub fn no_file(&self, path: &str) -> io::Error {
        let kind = match self.dirs.contains(path) {
            true => io::ErrorKind::InvalidInput,
            false => io::ErrorKind::NotFound,
        };
        io::Error::new(kind, path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_what_lies_before_files() {
        let listing: Listing = ["a/b/x", "a/y", "a-b", "z"].into_iter().collect();
        let names = |path: &str| {
            let entries = listing.entries(path).unwrap();
            entries.into_iter().map(|entry| (entry.name, entry.is_dir)).collect::<Vec<_>>()
        };
        let dir = |name: &str| (name.to_owned(), true);
        let file = |name: &str| (name.to_owned(), false);
        assert_eq!(names(""), [dir("a"), file("a-b"), file("z")]);
        assert_eq!(names("a"), [dir("b"), file("y")]);
        assert_eq!(names("a/b"), [file("x")]);
        let kind = |path: &str| listing.entries(path).unwrap_err().kind();
        assert_eq!(kind("a/y"), io::ErrorKind::NotADirectory);
        assert_eq!(kind("b"), io::ErrorKind::NotFound);
        assert_eq!(listing.no_file("a").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(listing.no_file("b").kind(), io::ErrorKind::NotFound);
    }
}
