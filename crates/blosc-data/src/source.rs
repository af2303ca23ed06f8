//! Sources of data, and openers for names and formats beyond this crate.

use core::fmt;
use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use blosc_io::{FileStore, ReadAt, Tree, tree::DirTree};
use serde_json::{Map, Value};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::{Group, Member, MemberKind};
use crate::open::open_with;
use crate::params::OpenOptions;
use crate::{Array, Table};

/// The bytes of a file, or the files of a folder.
#[derive(Clone)]
pub enum Source {
    /// Bytes that can be read at any position.
    File(Arc<dyn ReadAt>),
    /// Named files.
    Folder(Arc<dyn Tree>),
}

impl Source {
    /// The file or the folder at a path. Other kinds are refused: a pipe would wait for its other
    /// end, and a device has no length.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::NoFile`].
    pub fn of_path(path: &Path) -> Result<Self> {
        let found = path.metadata().map_err(Error::open(path))?;
        if found.is_dir() {
            return Ok(Self::Folder(Arc::new(DirTree::new(path))));
        }
        if !found.is_file() {
            return Err(Error::NoFile);
        }
        let file = FileStore::open(path).map_err(Error::open(path))?;
        Ok(Self::File(Arc::new(file)))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(_) => f.write_str("File"),
            Self::Folder(tree) => f.debug_tuple("Folder").field(tree).finish(),
        }
    }
}

/// Opens names that this crate does not: addresses, and data of other formats.
pub trait Opener: fmt::Debug + Send + Sync {
    /// Opens `word`; `None` if the word is not for this opener. [`open_with`](crate::open_with)
    /// calls it once for each word, also for paths of ordinary files. The opener decides by the
    /// name, or by the first bytes.
    ///
    /// # Errors
    ///
    /// When the name is for this opener, but nothing can be opened. The kind
    /// [`Unsupported`](io::ErrorKind::Unsupported) stands for unknown data,
    /// [`InvalidData`](io::ErrorKind::InvalidData) for damage; other kinds are errors of the
    /// system.
    fn open(&self, word: &str) -> io::Result<Option<Opened>>;

    /// The format or kind of names for people, as "Zarr"; `None` if messages should not name it.
    fn kind_name(&self) -> Option<&'static str> {
        None
    }

    /// The work so far, in a line for people; `None` if there was none.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// Openers in the order of their calls. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Openers(Arc<[Box<dyn Opener>]>);

impl Openers {
    /// Openers in the order of their calls.
    #[must_use]
    pub fn new(openers: Vec<Box<dyn Opener>>) -> Self {
        Self(openers.into())
    }

    /// Each opener.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Opener> {
        self.0.iter().map(|opener| &**opener)
    }

    /// Calls the openers in order to open a word.
    ///
    /// # Errors
    ///
    /// The error of the first opener that knows the word and cannot open it.
    pub fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        for opener in self.iter() {
            if let Some(opened) = opener.open(word)? {
                return Ok(Some(opened));
            }
        }
        Ok(None)
    }
}

/// The result of an opener.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Opened {
    /// A file or a folder; this crate recognises its format.
    Source(Source),
    /// An array of another format.
    Array(Arc<dyn Array>),
    /// A table of another format.
    Table(Arc<dyn Table>),
    /// A group of another format, whose members the same opener opens.
    Group(Arc<ForeignGroup>),
}

/// Several arrays of another format with names.
#[derive(Clone, Debug, Default)]
pub struct ForeignGroup {
    /// The name of the format: `zarr2`, `hdf5`.
    pub format: &'static str,
    /// The names that open its arrays, also of arrays that do not open.
    pub members: Vec<String>,
    /// The attributes of the group itself.
    pub attributes: Map<String, Value>,
    /// The attributes of inner groups, by their paths from this one (`/deep/er`).
    pub groups: BTreeMap<String, Map<String, Value>>,
    /// Attributes of all these groups that were not read: "the attribute `x` of the group /deep".
    pub lost: Vec<String>,
    /// The rest of what is in it and no member, by paths: "link to /x, which is not there".
    pub others: BTreeMap<String, String>,
}

impl ForeignGroup {
    /// The parts that a copy of its members lacks.
    #[must_use]
    pub fn lost_of_copy(&self) -> Vec<String> {
        self.lost.iter().cloned().chain(lost_others(&self.others)).collect()
    }
}

/// The names of what is in a group and no member.
pub(crate) fn lost_others(others: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    others.iter().map(|(path, text)| format!("{path}, a {text}"))
}

/// A group of another format, with the openers that open its members.
#[derive(Clone, Debug)]
pub(crate) struct OpenedGroup {
    pub(crate) group: Arc<ForeignGroup>,
    pub(crate) openers: Openers,
    pub(crate) options: OpenOptions,
}

impl Group for OpenedGroup {
    fn format(&self) -> &'static str {
        self.group.format
    }

    fn members(&self) -> Result<Vec<Member>> {
        let names = self.group.members.iter();
        Ok(names.map(|name| Member::new(name, MemberKind::Value)).collect())
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        match self.group.members.iter().any(|member| member == name) {
            true => open_with(name, &self.openers, &self.options),
            false => Err(Error::NoMember { name: name.to_owned() }),
        }
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(self.group.attributes.clone())
    }

    fn lost(&self) -> Vec<String> {
        self.group.lost_of_copy()
    }
}
