//! Inputs that are no files of our formats: addresses, and arrays of other formats.
//!
//! This crate opens files and directories. A program that is built on it can open more: it gives
//! [`run_with`](crate::run_with) its [`Opener`]s, and each name on the command line goes to them
//! before it is taken for a path. What an opener gives is one of the things that the commands
//! know already ([`Opened`]).

use core::{fmt, ops::Range};
use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use blosc_dtype::Dtype;
use blosc_io::{ReadAt, Tree};
use serde_json::{Map, Value};

/// Opens inputs by their names.
pub trait Opener: fmt::Debug + Send + Sync {
    /// What `name` leads to, a word of the command line; `None` where it is for another opener, or
    /// a path. It is called for paths as well, so that it has to decide by the name, or by the
    /// first bytes of the file.
    ///
    /// # Errors
    ///
    /// When the name is of this opener's kind, and nothing can be opened there. The kind
    /// [`Unsupported`](io::ErrorKind::Unsupported) is for what the opener does not know (exit
    /// code 4), [`InvalidData`](io::ErrorKind::InvalidData) for damage (1), others are failures of
    /// the system (3).
    fn open(&self, name: &Path) -> io::Result<Option<Opened>>;

    /// What opening and reading took so far, in a line for `-v`.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// What a name leads to.
#[derive(Clone)]
#[non_exhaustive]
pub enum Opened {
    /// The bytes of a file, whose format is recognized as that of any file.
    File(Arc<dyn ReadAt>),
    /// The files of a directory, whose format is recognized as that of any directory.
    Tree(Arc<dyn Tree>),
    /// An array of another format.
    Array(Arc<dyn OpenedArray>),
    /// Several arrays of another format, each with a name that the same opener opens.
    Group(Arc<OpenedGroup>),
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(_) => f.write_str("File"),
            Self::Tree(tree) => f.debug_tuple("Tree").field(tree).finish(),
            Self::Array(array) => f.debug_tuple("Array").field(array).finish(),
            Self::Group(group) => f.debug_tuple("Group").field(group).finish(),
        }
    }
}

/// An array of another format.
pub trait OpenedArray: fmt::Debug + Send + Sync {
    /// The name of the format, as `info` calls it.
    fn format(&self) -> &'static str;

    /// Type of the items.
    fn dtype(&self) -> &Dtype;

    /// Items per dimension.
    fn shape(&self) -> &[u64];

    /// Items per dimension of a chunk; empty for an array that is not stored in chunks.
    fn chunkshape(&self) -> &[u64];

    /// The codec and what stands before it, in the words of the format; empty where that is not
    /// known.
    fn pipeline(&self) -> String;

    /// Bytes that the array takes where it is stored, as far as that is known.
    fn stored_nbytes(&self) -> Option<u64>;

    /// The attributes. Names of the dimensions are the list `_ARRAY_DIMENSIONS`.
    fn attributes(&self) -> Map<String, Value>;

    /// Lost attributes, in words that messages list: "the attribute `x`".
    fn lost(&self) -> Vec<String> {
        vec![]
    }

    /// Fills `dest` with the items of a box in C order: one range for each dimension, all of them
    /// within the shape and none empty.
    ///
    /// # Errors
    ///
    /// When they cannot be read; the kinds are those of [`Opener::open`].
    fn read(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()>;
}

/// Several arrays with names.
#[derive(Clone, Debug, Default)]
pub struct OpenedGroup {
    /// The name of the format, as `info` calls it.
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
