//! Errors of opening and reading data.

use std::{
    io,
    path::{Path, PathBuf},
};

use blosc_chunk::error::Blame;
use blosc_dtype::npy::NpyError;

use crate::format::Format;
pub use crate::refusal::{BcolzLack, CsvError, Refusal};

/// The reason why data could not be opened or read.
///
/// Errors of the formats keep their coordinates (chunk, block, byte) and causes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the system.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: Doing,
        /// The error of the system; if opening failed, it names the file.
        source: io::Error,
    },
    /// An error of an opener. The kind [`Unsupported`](io::ErrorKind::Unsupported) stands for
    /// unknown data, [`InvalidData`](io::ErrorKind::InvalidData) for damage.
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
    /// The content has no format of the Blosc family.
    #[error("not of the Blosc family: {0}")]
    NotOurs(Format),
    /// The content has a format that none of the openers reads.
    #[error("{0}, which none of the openers reads")]
    NoOpener(Format),
    /// The file has more or fewer bytes than the items of its array.
    #[error("the array needs {expected} bytes, the file has {found} for it")]
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
    /// The data of an input exceed its limit.
    #[error("the data decompress to {nbytes} bytes, the limit is {limit}")]
    MaxOutput {
        /// Bytes of data.
        nbytes: u64,
        /// The limit (bytes).
        limit: u64,
    },
    /// The data exceed the allowed multiple of the stored bytes.
    #[error("{from} bytes decompress to {nbytes}, the limit is {limit} times as many")]
    MaxRatio {
        /// Bytes of data.
        nbytes: u64,
        /// Stored bytes.
        from: u64,
        /// Most bytes of data for each byte.
        limit: u64,
    },
    /// The system has less memory than the data claim to need.
    #[error("{needed} bytes of memory are needed, which the system does not have")]
    OutOfMemory {
        /// Bytes that the data claim.
        needed: u64,
    },
    /// Groups are nested deeper than in real data: one may hold itself.
    #[error("groups within groups, deeper than {max}")]
    Depth {
        /// The greatest depth that is read.
        max: usize,
    },
    /// The name leads to neither a file nor a folder: a pipe, a device, a socket.
    #[error("neither a file nor a folder")]
    NoFile,
    /// The data are of another kind than the caller wants.
    #[error("{name} is {found}, not {wanted}")]
    Kind {
        /// The name of the data.
        name: String,
        /// Their kind.
        found: &'static str,
        /// The wanted kind.
        wanted: &'static str,
    },
    /// A group or a table lacks the member or column.
    #[error("no member {name:?}")]
    NoMember {
        /// The name of the wanted member.
        name: String,
    },
    /// A member of a group is damaged.
    #[error("{name}")]
    Member {
        /// Its name.
        name: String,
        /// Its fault.
        source: Box<Self>,
    },
    /// The values of a column have no type of fixed width.
    #[error("{0} has no NumPy type")]
    NoNumpyType(String),
    /// No column of a table can have the type.
    #[error("column {0}: no column of a table has such a type")]
    NoColumnKind(String),
    /// No cell of a table can hold the value.
    #[error("column `{column}`: {fault}")]
    Cell {
        /// The name of the column.
        column: String,
        /// The fault of the value.
        fault: CellFault,
    },
    /// A recompressed frame reads back differently.
    #[error("{name}: reading back gave other data")]
    ReadBack {
        /// Its key.
        name: String,
    },
    /// Nothing of a damaged object can be read.
    #[error("no sound chunk and no header were found")]
    NothingRescued,
    /// Nothing was saved, and the system refused to read a part.
    #[error("{0}")]
    Unread(String),
    /// The fill does not fit the items of a damaged chunk.
    #[error("the fill does not fit items of {typesize} bytes")]
    Fill {
        /// Bytes of an item.
        typesize: usize,
        /// Whether the fill is NaN, which items of this size cannot be.
        is_nan: bool,
    },
    /// An argument does not fit the data.
    #[error(transparent)]
    Param(#[from] Param),
    /// Comma-separated values.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// The system refuses to write a file.
    #[error("{}: {doing}: {source}", path.display())]
    Write {
        /// The operation that failed.
        doing: Doing,
        /// The file.
        path: PathBuf,
        /// Its error.
        source: io::Error,
    },
    /// The data cannot be converted as requested.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An invariant of this crate is broken: please report it.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// The reason why a cell of a table cannot hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellFault {
    /// A time that 64 bits cannot count in the unit of the column.
    #[error("a time that is too far away to be counted in seconds")]
    TimeTooFar,
    /// An integer of more than 64 bits.
    #[error("an integer of more than 64 bits")]
    IntegerTooLarge,
    /// A Python object other than plain data.
    #[error("an object that is no plain data")]
    NoPlainData,
}

/// The argument that does not fit the data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// A box that reaches beyond the array.
    #[error("dimension {dim}: {start}..{end} is no part of {len} items")]
    Bounds {
        /// The dimension, from 0.
        dim: usize,
        /// First item.
        start: u64,
        /// The item after the last.
        end: u64,
        /// Items of the dimension.
        len: u64,
    },
    /// The argument has another number of dimensions.
    #[error("{given} dimensions, the array has {ndim}")]
    Dimensions {
        /// Dimensions of the argument.
        given: usize,
        /// Dimensions of the array.
        ndim: usize,
    },
    /// The length of a buffer differs from that of the data.
    #[error("a buffer of {len} bytes for {expected}")]
    BufferLen {
        /// Length of the buffer (bytes).
        len: u64,
        /// Bytes of data.
        expected: u64,
    },
    /// The range of rows or bytes ends after the data.
    #[error("{start}..{end} is no part of {len}")]
    Range {
        /// First row or byte.
        start: u64,
        /// The row or byte after the last.
        end: u64,
        /// The number of rows or bytes.
        len: u64,
    },
    /// No column has the number.
    #[error("no column {0}")]
    Column(usize),
    /// No chunk has the number.
    #[error("no chunk {nchunk}, there are {nchunks}")]
    ChunkNumber {
        /// The number.
        nchunk: u64,
        /// The number of chunks.
        nchunks: u64,
    },
    /// The data have no parts of this kind.
    #[error("{0}")]
    Part(&'static str),
}

/// An operation of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doing {
    /// Opening a file, or reading its metadata.
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
    /// Copying data to a temporary file.
    #[error("keeping the input in a temporary file in {}", std::env::temp_dir().display())]
    Spool,
}

/// Result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error and its causes in a line. A transparent error prints the words of its cause, which come
/// once.
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

    /// The error of the system for opening the file at `path`.
    pub(crate) fn open(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let name = blosc_io::OfFile::naming(path);
        move |error| Self::Io { doing: Doing::Open, source: name(error) }
    }

    /// The error of a member of a group, with the member's name unless it is there.
    pub(crate) fn of_member(self, name: &str) -> Self {
        let text = self.to_string();
        let rest = text.strip_prefix(name).filter(|_| !name.is_empty());
        match rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/'])) {
            true => self,
            false => Self::Member { name: name.to_owned(), source: Box::new(self) },
        }
    }

    /// The error of a system call while `doing` something with the output at `path`.
    pub(crate) fn io_at(doing: Doing, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { doing, path, source }
    }

    /// The error of a value that no cell can hold.
    pub(crate) fn cell(column: &str, fault: CellFault) -> Self {
        Self::Cell { column: column.to_owned(), fault }
    }

    /// The error of an opener. Unknown and damaged data are not errors of the system.
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
            // Not from a file: a caller gave this value.
            Self::Csv(CsvError::Cell { .. }) => Blame::Usage,
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
            // Names in a store must lead to frames: anything else there is damage of the store.
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
