//! The files with the frames of a store: files of a directory, or members of an archive.

use core::fmt;
use core::ops::Range;
use std::io;
use std::sync::Arc;

use blosc_io::{ReadAt, Tree, Windowed};

use crate::error::{Corrupt, Error, Result};
use crate::zip::{self, Member, ZipFault};

/// The files of a store.
#[derive(Clone)]
pub(crate) enum Files {
    /// A directory.
    Tree(Arc<dyn Tree>),
    /// An archive, its members by name, and the numbers of bytes before and after it in the file.
    Zip { store: Arc<dyn ReadAt>, members: Arc<[Member]>, outside: [u64; 2] },
    /// None: all values are embedded in one frame.
    None,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree(tree) => f.debug_tuple("Tree").field(tree).finish(),
            Self::Zip { members, .. } => write!(f, "Zip({} members)", members.len()),
            Self::None => f.write_str("None"),
        }
    }
}

/// Whether the error means that the path names no file: a folder, a link that leads out, or a
/// missing entry.
pub(crate) fn is_nothing(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), InvalidInput | IsADirectory | NotADirectory | NotFound)
}

impl Files {
    pub(crate) fn of_zip(store: Arc<dyn ReadAt>, max_members: u64) -> Result<Self> {
        let (members, outside) = zip::members_within(&store, max_members)?;
        Ok(Self::Zip { store, members: members.into(), outside })
    }

    /// Announces to far storage the starts and ends of the frames of a directory, which opening
    /// them reads. The frames of an archive were announced with its headers.
    pub(crate) fn prefetch_ends(&self, max_files: u64) {
        let Self::Tree(tree) = self else { return };
        let (limit, mut nbytes) = (tree.prefetch_limit(), 0_u64);
        if limit == 0 {
            return;
        }
        let paths = self.paths(max_files).unwrap_or_default();
        let file = |path: String| Some((ends_of(0..tree.len_of(&path).ok()?), path));
        let files = paths.into_iter().filter_map(file);
        let parts = files.flat_map(|(ends, path)| ends.map(|end| (path.clone(), end)));
        let within = parts.take_while(|(_, part)| {
            nbytes = nbytes.saturating_add(part.end.saturating_sub(part.start));
            nbytes <= limit
        });
        tree.prefetch(&within.collect::<Vec<_>>());
    }

    /// The paths of all files, sorted. Links do not count as files.
    pub(crate) fn paths(&self, max_files: u64) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        match self {
            Self::None => {}
            Self::Zip { members, .. } => {
                paths.extend(members.iter().map(|member| member.name.clone()));
            }
            Self::Tree(tree) => {
                let mut dirs = vec![(String::new(), 0_usize)];
                while let Some((dir, depth)) = dirs.pop() {
                    let entries = match tree.list(&dir) {
                        Ok(entries) => entries,
                        // A directory without permission hides only its own values.
                        Err(error) if depth > 0 && is_private(&error) => continue,
                        Err(source) => return Err(Error::io(dir, source)),
                    };
                    for entry in entries {
                        let path = match dir.as_str() {
                            "" => entry.name,
                            dir => format!("{dir}/{}", entry.name),
                        };
                        if !entry.is_dir {
                            paths.push(path);
                        } else if depth < MAX_DEPTH && !is_sparse_frame(&**tree, &path)? {
                            dirs.push((path, depth.saturating_add(1)));
                        }
                        let found = (paths.len() as u64).saturating_add(dirs.len() as u64);
                        if found > max_files {
                            let name = "the directory".to_owned();
                            let unit = "files";
                            let (needed, limit) = (found, max_files);
                            return Err(Error::Limit { name, needed, limit, unit });
                        }
                    }
                }
                paths.sort_unstable();
            }
        }
        Ok(paths)
    }

    /// Whether the file exists.
    ///
    /// # Errors
    ///
    /// The storage fails, so that the answer is unknown.
    pub(crate) fn has(&self, path: &str) -> Result<bool> {
        match self {
            Self::None => Ok(false),
            Self::Tree(tree) => has_file(&**tree, path),
            Self::Zip { members, .. } => Ok(find(members, path).is_some()),
        }
    }

    /// Opens a file. `name` is for errors.
    pub(crate) fn open(&self, path: &str, name: &str) -> Result<Arc<dyn ReadAt>> {
        match self {
            Self::None => Err(missing(path)),
            Self::Tree(tree) => {
                let file = tree.open(path).map_err(|source| Error::io(path, source))?;
                Ok(Arc::from(file))
            }
            Self::Zip { store, members, .. } => {
                let member = find(members, path).ok_or_else(|| missing(path))?;
                if let (true, Some(field)) = (member.is_lost, member.differs) {
                    let name = member.name.clone();
                    return Err(ZipFault::Local { name, field }.into());
                }
                if member.is_encrypted {
                    return Err(Error::corrupt(name, Corrupt::Encrypted));
                }
                if member.method != 0 {
                    return Err(Error::corrupt(
                        name,
                        Corrupt::Compressed { method: member.method },
                    ));
                }
                let window = Windowed::new(Arc::clone(store), member.position, member.nbytes)
                    .map_err(|source| Error::io(name, source))?;
                Ok(Arc::new(window))
            }
        }
    }

    /// The members of an archive.
    pub(crate) fn members(&self) -> &[Member] {
        if let Self::Zip { members, .. } = self { members } else { &[] }
    }

    /// Number of bytes before the archive and after it in its file.
    pub(crate) fn outside(&self) -> [u64; 2] {
        if let Self::Zip { outside, .. } = self { *outside } else { [0, 0] }
    }

    /// The member of an archive at a path.
    pub(crate) fn member(&self, path: &str) -> Option<&Member> {
        find(self.members(), path)
    }

    /// The paths of members whose local header differs from the directory, each with the name of
    /// the field.
    pub(crate) fn differences(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let differing = self.members().iter();
        differing.filter_map(|member| Some((member.name.as_str(), member.differs?)))
    }
}

/// Bytes at the start and at the end of a frame that opening it usually reads.
const END_NBYTES: u64 = 4 << 10;

/// The start and the end of a frame.
pub(crate) fn ends_of(frame: Range<u64>) -> [Range<u64>; 2] {
    let start = frame.start..frame.end.min(frame.start.saturating_add(END_NBYTES));
    let end = frame.end.saturating_sub(END_NBYTES).max(start.end)..frame.end;
    [start, end]
}

/// Announces the first ranges, as many as far storage takes at a time.
pub(crate) fn prefetch_within(store: &dyn ReadAt, ranges: impl Iterator<Item = Range<u64>>) {
    let (limit, mut nbytes) = (store.prefetch_limit(), 0_u64);
    if limit == 0 {
        return;
    }
    let within = ranges.take_while(|range| {
        nbytes = nbytes.saturating_add(range.end.saturating_sub(range.start));
        nbytes <= limit
    });
    store.prefetch(&within.collect::<Vec<_>>());
}

fn find<'a>(members: &'a [Member], path: &str) -> Option<&'a Member> {
    let at = members.binary_search_by(|member| member.name.as_str().cmp(path)).ok()?;
    members.get(at)
}

fn missing(path: &str) -> Error {
    Error::io(path, io::ErrorKind::NotFound.into())
}

fn is_private(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput)
}

/// Whether a directory is a sparse frame, whose files are its chunks.
fn is_sparse_frame(tree: &dyn Tree, path: &str) -> Result<bool> {
    match has_file(tree, &format!("{path}/chunks.b2frame")) {
        Err(Error::Io { source, .. }) if is_private(&source) => Ok(false),
        found => found,
    }
}

fn has_file(tree: &dyn Tree, path: &str) -> Result<bool> {
    match tree.len_of(path) {
        Ok(_) => Ok(true),
        Err(source) if is_nothing(&source) => Ok(false),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// The deepest level of directories that is searched.
const MAX_DEPTH: usize = 128;
