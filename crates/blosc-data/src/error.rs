//! Errors between a name and its data.

use std::{
    io,
    path::{Path, PathBuf},
};

use blosc_chunk::error::Blame;
use blosc_dtype::npy::NpyError;

use crate::format::Format;
pub use crate::refusal::{BcolzLack, CsvError, Refusal};

/// Why something could not be opened or read.
///
/// Errors of the formats keep their coordinates (chunk, block, byte) and their causes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refuses.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that it refused.
        doing: Doing,
        /// Its error, which names the file where one was to be opened.
        source: io::Error,
    },
    /// An opener of another format refuses. The kind [`Unsupported`](io::ErrorKind::Unsupported)
    /// stands for what it does not know, [`InvalidData`](io::ErrorKind::InvalidData) for damage.
    #[error("{0}")]
    Opener(io::Error),
    /// A frame, or an array in one.
    #[error(transparent)]
    Frame(#[from] b2frame::Error),
    /// A Bloscpack file.
    #[error(transparent)]
    Blp(#[from] bloscpack::Error),
    /// A directory of bcolz.
    #[error(transparent)]
    Bcolz(#[from] bcolz_store::Error),
    /// A store, or a table in one.
    #[error(transparent)]
    Store(#[from] b2store::Error),
    /// The header of a `.npy` file.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// A bare chunk.
    #[error("chunk at byte {at}")]
    Chunk {
        /// Where it starts in its file (bytes).
        at: u64,
        /// The fault of the chunk.
        source: blosc_chunk::Error,
    },
    /// The content is of no format of the family.
    #[error("not of the Blosc family: {0}")]
    NotOurs(Format),
    /// The content is data of a format that none of the openers reads.
    #[error("{0}, which none of the openers reads")]
    NoOpener(Format),
    /// A file has other bytes than the items of its array need.
    #[error("the array has {expected} bytes, the file has {found} for it")]
    ArrayLen {
        /// Bytes of the items.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// One chunk or block needs more memory than the budget has.
    #[error("{needed} bytes of working memory are needed, the limit is {limit}")]
    MaxMemory {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that it may have.
        limit: u64,
    },
    /// More comes out of an input than its limit allows.
    #[error("{nbytes} bytes come out, the limit is {limit}")]
    MaxOutput {
        /// Bytes of data.
        nbytes: u64,
        /// Bytes that may come out.
        limit: u64,
    },
    /// More comes out of so little than its limit allows.
    #[error("{nbytes} bytes come out of {from}, the limit is {limit} times as many")]
    MaxRatio {
        /// Bytes of data.
        nbytes: u64,
        /// Bytes that they come out of.
        from: u64,
        /// Most bytes of data for each byte.
        limit: u64,
    },
    /// The system has not as much memory as the data claim to need.
    #[error("{needed} bytes of memory are needed, which the system does not have")]
    OutOfMemory {
        /// Bytes that the data claim.
        needed: u64,
    },
    /// Groups within groups, deeper than anybody nests them: one may hold itself.
    #[error("groups within groups, deeper than {max}")]
    Depth {
        /// The deepest that is looked at.
        max: usize,
    },
    /// A name of what is no ordinary file and no folder: a pipe, a device, a socket.
    #[error("neither a file nor a folder")]
    NoFile,
    /// The data are something else than the caller wants.
    #[error("{name} is {found}, not {wanted}")]
    Kind {
        /// The name of the data.
        name: String,
        /// Their kind.
        found: &'static str,
        /// The wanted kind.
        wanted: &'static str,
    },
    /// A group or a table without this member or column.
    #[error("no member {name:?}")]
    NoMember {
        /// The name of the wanted member.
        name: String,
    },
    /// A member of a group that is damaged.
    #[error("{name}")]
    Member {
        /// Its name.
        name: String,
        /// Its fault.
        source: Box<Self>,
    },
    /// A column whose values have no type of fixed width.
    #[error("{0} has no NumPy type")]
    NoNumpyType(String),
    /// A column of a type that no column of a table has.
    #[error("column {0}: no column of a table has such a type")]
    NoColumnKind(String),
    /// A value that no cell of a table can hold.
    #[error("column `{column}`: {fault}")]
    Cell {
        /// The name of the column.
        column: String,
        /// The fault of the value.
        fault: CellFault,
    },
    /// A frame that was compressed anew, and does not come back equal.
    #[error("{name}: reading back gave other data")]
    ReadBack {
        /// Its key.
        name: String,
    },
    /// Nothing of something damaged can be read.
    #[error("no sound chunk and no header were found")]
    NothingRescued,
    /// Nothing could be saved of something damaged of which the system refused to read a part.
    #[error("{0}")]
    Unread(String),
    /// No such fill fits the items of a damaged chunk.
    #[error("the fill does not fit items of {typesize} bytes")]
    Fill {
        /// Bytes of an item.
        typesize: usize,
        /// Whether the fill is NaN, which items of this size are never.
        is_nan: bool,
    },
    /// An argument that does not fit the data.
    #[error(transparent)]
    Param(#[from] Param),
    /// Comma-separated values.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// The system refuses to write a file.
    #[error("{}: {doing}: {source}", path.display())]
    Write {
        /// The operation that it refused.
        doing: Doing,
        /// The file.
        path: PathBuf,
        /// Its error.
        source: io::Error,
    },
    /// Data that cannot be converted like this.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An invariant of this crate is broken: please report it.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// Why a cell of a table cannot hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellFault {
    /// A time that 64 bits cannot count in the unit of the column.
    #[error("a time that is too far away to be counted in seconds")]
    TimeTooFar,
    /// An integer of more than 64 bits.
    #[error("an integer of more than 64 bits")]
    IntegerTooLarge,
    /// An object of Python that is no plain data.
    #[error("an object that is no plain data")]
    NoPlainData,
}

/// An argument that does not fit the data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// A box with more or fewer dimensions than the array, or one that reaches beyond it.
    #[error("dimension {dim}: {start}..{end} is no part of {len} items")]
    Bounds {
        /// The dimension, from 0.
        dim: usize,
        /// First item.
        start: u64,
        /// The item after the last.
        end: u64,
        /// Items that there are.
        len: u64,
    },
    /// A box or a selection with another number of dimensions.
    #[error("{given} dimensions, the array has {ndim}")]
    Dimensions {
        /// Dimensions of the argument.
        given: usize,
        /// Dimensions of the array.
        ndim: usize,
    },
    /// A buffer of another length than the data that go into it.
    #[error("a buffer of {len} bytes for {expected}")]
    BufferLen {
        /// Length of the buffer (bytes).
        len: u64,
        /// Bytes of data.
        expected: u64,
    },
    /// Rows or bytes after the end.
    #[error("{start}..{end} is no part of {len}")]
    Range {
        /// First row or byte.
        start: u64,
        /// The one after the last.
        end: u64,
        /// How many there are.
        len: u64,
    },
    /// A column number that no column has.
    #[error("no column {0}")]
    Column(usize),
    /// A chunk number that no chunk has.
    #[error("no chunk {nchunk}, there are {nchunks}")]
    ChunkNumber {
        /// The number.
        nchunk: u64,
        /// How many there are.
        nchunks: u64,
    },
    /// A part of something that has no such parts.
    #[error("{0}")]
    Part(&'static str),
}

/// An operation of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doing {
    /// Opening a file, or looking at it.
    #[error("opening")]
    Open,
    /// Reading its bytes.
    #[error("reading")]
    Read,
    /// Making a file.
    #[error("creating the file")]
    Create,
    /// Writing its bytes.
    #[error("writing")]
    Write,
    /// Removing it.
    #[error("removing")]
    Remove,
    /// Keeping data in a temporary file.
    #[error("keeping the input in a temporary file in {}", std::env::temp_dir().display())]
    Spool,
}

/// Result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error and its causes in a line; a transparent error prints its cause once.
#[must_use]
pub fn chain(error: &dyn core::error::Error) -> String {
    let (mut line, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        let link = error.to_string();
        if !line.ends_with(&link) {
            line = format!("{line}: {link}");
        }
        cause = error.source();
    }
    line
}

impl Error {
    /// The error of a system call while `doing` something.
    pub(crate) fn io(doing: Doing) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    /// The error of the system where the file at `path` was to be opened.
    pub(crate) fn open(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let name = blosc_io::OfFile::naming(path);
        move |error| Self::Io { doing: Doing::Open, source: name(error) }
    }

    /// The error of a member of a group, which names it already or gets its name.
    pub(crate) fn of_member(self, name: &str) -> Self {
        let text = self.to_string();
        let rest = text.strip_prefix(name).filter(|_| !name.is_empty());
        match rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/'])) {
            true => self,
            false => Self::Member { name: name.to_owned(), source: Box::new(self) },
        }
    }

    /// The error of a system call while `doing` something with the file at `path`, an output.
    pub(crate) fn io_at(doing: Doing, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { doing, path, source }
    }

    /// A value of a column that no cell can hold.
    pub(crate) fn cell(column: &str, fault: CellFault) -> Self {
        Self::Cell { column: column.to_owned(), fault }
    }

    /// The error of an opener: only what it neither knows nor finds damaged is the system's.
    pub fn of_opener(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::Unsupported | io::ErrorKind::InvalidData => Self::Opener(source),
            _ => Self::Io { doing: Doing::Open, source },
        }
    }

    /// The party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Io { .. } | Self::Write { .. } | Self::Unread(_) => Blame::Io,
            Self::Member { source, .. } => source.blame(),
            Self::Opener(source) if source.kind() == io::ErrorKind::Unsupported => Blame::NotOurs,
            Self::Npy(NpyError::Objects) => Blame::NotOurs,
            Self::Opener(_)
            | Self::Npy(_)
            | Self::Csv(_)
            | Self::ArrayLen { .. }
            | Self::Cell { .. }
            | Self::Depth { .. }
            | Self::ReadBack { .. }
            | Self::NothingRescued => Blame::Data,
            Self::Frame(error) => error.blame(),
            Self::Blp(error) => error.blame(),
            Self::Bcolz(error) => error.blame(),
            // A store names values that are frames: anything else there is damage of the store.
            Self::Store(error @ b2store::Error::Frame { .. }) => match error.blame() {
                Blame::NotOurs => Blame::Data,
                blame => blame,
            },
            Self::Store(error) => error.blame(),
            Self::Chunk { source, .. } => source.blame(),
            Self::NotOurs(_) | Self::NoOpener(_) => Blame::NotOurs,
            Self::Refused(Refusal::PythonObjects | Refusal::NoParquet) => Blame::NotOurs,
            Self::MaxMemory { .. }
            | Self::MaxOutput { .. }
            | Self::MaxRatio { .. }
            | Self::OutOfMemory { .. } => Blame::Limit,
            Self::Refused(_)
            | Self::Kind { .. }
            | Self::NoFile
            | Self::NoMember { .. }
            | Self::NoNumpyType(_)
            | Self::NoColumnKind(_)
            | Self::Fill { .. }
            | Self::Param(_)
            | Self::Internal(_) => Blame::Usage,
        }
    }
}
