//! Where data are, and programs that can open more than this crate does.

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
    /// The file or the folder at a path. Anything else is not opened: a pipe would wait for its
    /// other end, and a device has no length.
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

/// Opens names that this crate does not know: addresses, and data of other formats.
pub trait Opener: fmt::Debug + Send + Sync {
    /// Opens `word`; `None` where it is for another opener, or a path. The door asks for each word
    /// once, paths of ordinary files too: the opener decides by the name or by the first bytes.
    ///
    /// # Errors
    ///
    /// When the name is of this opener's kind, and nothing can be opened there. The kind
    /// [`Unsupported`](io::ErrorKind::Unsupported) stands for what the opener does not know,
    /// [`InvalidData`](io::ErrorKind::InvalidData) for damage; others are failures of the system.
    fn open(&self, word: &str) -> io::Result<Option<Opened>>;

    /// Its kind of names for people, as "Zarr"; `None` for what a program keeps to itself.
    fn kind_name(&self) -> Option<&'static str> {
        None
    }

    /// The work of opening and reading so far, in a line for people; `None` without any work.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// Openers, in the order in which they are asked. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct Openers(Arc<[Box<dyn Opener>]>);

impl Openers {
    /// Openers in the order in which they are asked.
    #[must_use]
    pub fn new(openers: Vec<Box<dyn Opener>>) -> Self {
        Self(openers.into())
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Opener> {
        self.0.iter().map(|opener| &**opener)
    }

    /// Asks one after the other to open a word.
    ///
    /// # Errors
    ///
    /// The error of the first that knows the word and cannot open it.
    pub fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        for opener in self.iter() {
            if let Some(opened) = opener.open(word)? {
                return Ok(Some(opened));
            }
        }
        Ok(None)
    }
}

/// The finding of an opener.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Opened {
    /// A file or a folder, whose format the door recognises as that of any other.
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
    /// The names by which its arrays are opened, also of those that do not open.
    pub members: Vec<String>,
    /// The attributes of the group itself.
    pub attributes: Map<String, Value>,
    /// The attributes of the groups in it, by their paths from it (`/deep/er`).
    pub groups: BTreeMap<String, Map<String, Value>>,
    /// Lost attributes of all these: "the attribute `x` of the group /deep".
    pub lost: Vec<String>,
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
        self.group.lost.clone()
    }
}
