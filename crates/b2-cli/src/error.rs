//! Errors of an input, sorted by who has to act.
//!
//! [`Error`] says what is wrong, after `b2: FILE:`. The causes come from the libraries and are
//! printed last. [`Error::code`] gives the exit code, [`Error::hint`] tells the user what to
//! do.

mod advice;
pub(crate) mod message;

use blosc_dtype::npy::NpyError;
use core::{error::Error as StdError, fmt};
use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
};

pub(crate) use b2_program::{
    Doing,
    error::{FileKind, irregular},
};
use b2frame::error::Corrupt;
use blosc_chunk::error::Blame;
use blosc_io::lock::LockTimeout;
use message::Message;

use blosc_data::error::CsvError;

use crate::{exit::Code, render::size};

/// The reason why the work on an input failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// The system refuses.
    #[error("{doing}")]
    Io { doing: Doing, path: Option<PathBuf>, source: io::Error },
    /// The error of an opener, about an input of another format.
    #[error("{0}")]
    Opener(io::Error),
    /// The library cannot read or write a frame.
    #[error(transparent)]
    Frame(#[from] b2frame::Error),
    /// The library cannot read or write a Bloscpack file.
    #[error(transparent)]
    Blp(#[from] bloscpack::Error),
    /// The library cannot read or write a data set of bcolz.
    #[error(transparent)]
    Bcolz(#[from] bcolz_store::Error),
    /// The library cannot read or write a store.
    #[error(transparent)]
    Store(#[from] b2store::Error),
    /// The library that opens all formats refuses the data.
    #[error(transparent)]
    Data(Box<blosc_data::Error>),
    /// A row of the table of messages, with the name in its text.
    #[error("{}", message.filled(name.as_deref()))]
    Message { message: Message, name: Option<String> },
    /// Comma-separated values that cannot be read.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// The library cannot read or write a bare chunk.
    #[error("{}", chunk_at(*.at))]
    Chunk { at: u64, source: blosc_chunk::Error },
    /// No such file, and the name looks like a mistyped command.
    #[error("no such file or directory")]
    Mistyped { command: String },
    /// The content has another format.
    #[error("not a Blosc file{}", blosc_data::starts_with(.start))]
    NotBlosc { start: Vec<u8> },
    /// The content has another format, in a command where an option could give the type.
    #[error("not a Blosc file{}", blosc_data::starts_with(.start))]
    NoType { start: Vec<u8> },
    /// The content has another format, but was in one of ours before it was damaged.
    #[error(transparent)]
    Damaged(Box<Self>),
    /// The content begins like a chunk, but has another length.
    #[error("not a Blosc file (it begins like a chunk of {cbytes} bytes, but has {})", or_more(*.found))]
    PerhapsChunk { cbytes: u64, found: Option<u64> },
    /// The output exists already.
    #[error("file exists")]
    Exists { path: PathBuf },
    /// The file is not regular, and -f is missing.
    #[error("is {kind}")]
    NotRegular { path: PathBuf, kind: FileKind },
    /// One output file for many inputs.
    #[error("{inputs} inputs cannot go into one file")]
    OneForMany { inputs: usize },
    /// Several inputs would write the same output.
    #[error("has been written by this run already")]
    Twice { path: PathBuf },
    /// Input and output are the same file.
    #[error("is the input itself")]
    Same { path: PathBuf },
    /// A type that does not have the size of the items.
    #[error(
        "an item of the type {dtype} has {given} bytes, the items of the array have {typesize}"
    )]
    ItemSize { dtype: String, given: u64, typesize: u64 },
    /// Too many items to print at once.
    #[error("{nitems} items are too many to show at once, the limit is {limit}")]
    ShowLess { nitems: u64, limit: u64 },
    /// The header of a NumPy file cannot be used.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// Items of a type that a codec or filter would destroy.
    #[error("{what} is for {needs}, and the items are {dtype}")]
    LossyType { what: String, needs: &'static str, dtype: String },
    /// The data have more or fewer bytes than the items of the array.
    #[error("the array needs {expected} bytes, the file has {found} for it")]
    ArrayLen { expected: u64, found: u64 },
    /// A pipe ends before the array is complete.
    #[error("the array needs {expected} bytes, the input ends earlier")]
    ArrayCut { expected: u64 },
    /// The file with metadata cannot be used.
    #[error("{what}")]
    Metadata { path: PathBuf, what: MetadataError },
    /// The folder of an output is missing.
    #[error("there is no folder {folder}")]
    NoFolder { path: PathBuf, folder: String },
    /// The text from an editor cannot be used, and is kept.
    #[error("{what}")]
    Edited { path: PathBuf, what: String },
    /// Reading the output back gives other bytes than the input.
    #[error("reading back gave other data at byte {at} (expected {expected}, found {found})")]
    ReadBack { at: u64, expected: ByteOrEnd, found: ByteOrEnd },
    /// The output exceeds `--max-output`.
    #[error("the data decompress to {nbytes} bytes, the limit is {limit}")]
    MaxOutput { nbytes: u64, limit: u64 },
    /// The output exceeds `--max-ratio` times the input.
    #[error("{from} bytes decompress to {nbytes}, the limit is {limit} times as many")]
    MaxRatio { nbytes: u64, from: u64, limit: u64 },
    /// The working memory is too small.
    #[error("{needed} bytes of working memory are needed, the limit is {limit}")]
    MaxMemory { needed: u64, limit: u64 },
    /// Another program kept the file locked.
    #[error("in use: {0}")]
    Locked(LockTimeout),
    /// The failure has been printed already; this is its code.
    #[error("damaged")]
    Reported { code: Code },
    /// The file has fewer frames.
    #[error("no frame {wanted}, the file has {frames}")]
    NoFrame { wanted: u64, frames: u64 },
    /// An error of one of several inputs.
    #[error("{file}")]
    Input {
        file: String,
        #[source]
        error: Box<Self>,
    },
    /// The data end within an item.
    #[error(
        "{file} has {found} bytes, which is no multiple of {of}: an item or a row would be cut"
    )]
    PartItem { file: String, found: u64, of: u64 },
    /// The items have another type than those of the array.
    #[error("{file} has items of the type {found}, the array has {expected}")]
    OtherType { file: String, found: String, expected: String },
    /// The shape does not fit that of the array.
    #[error(
        "{file} has the shape {found:?}, which does not fit after {array:?} along dimension {axis}"
    )]
    OtherShape { file: String, found: Vec<u64>, array: Vec<u64>, axis: usize },
    /// The array has fewer dimensions.
    #[error("no dimension {axis}, there are {ndim}")]
    Axis { axis: i64, ndim: usize },
    /// The format holds nothing that these readers understand.
    #[error("a .{format} file is not for readers of {target}")]
    FormatForTarget { format: &'static str, target: blosc_chunk::Target },
    /// Items of different sizes follow each other.
    #[error(
        "items of {first} and of {other} bytes follow each other, so that items cannot be counted"
    )]
    MixedTypesize { first: u64, other: u64 },
}

impl From<blosc_data::Error> for Error {
    fn from(error: blosc_data::Error) -> Self {
        use blosc_data::error::{CellFault, Error as Data};
        match error {
            Data::Io { doing, source } => Self::io(verb(doing))(source),
            Data::Opener(source) => Self::Opener(source),
            // The library's error names the file as well.
            Data::Frame(b2frame::Error::Open { source }) => Self::io(Doing::Open)(source),
            Data::Frame(error) => error.into(),
            Data::Blp(error) => error.into(),
            Data::Bcolz(error) => error.into(),
            Data::Store(error) => error.into(),
            Data::Npy(error) => error.into(),
            Data::Chunk { at, source } => Self::Chunk { at, source },
            Data::ArrayLen { expected, found } => Self::ArrayLen { expected, found },
            Data::MaxMemory { needed, limit } => Self::MaxMemory { needed, limit },
            Data::MaxOutput { nbytes, limit } => Self::MaxOutput { nbytes, limit },
            Data::MaxRatio { nbytes, from, limit } => Self::MaxRatio { nbytes, from, limit },
            Data::Member { name, source } => {
                Self::Input { file: name, error: Box::new((*source).into()) }
            }
            Data::NoOpener(format) => message::OTHER_FORMAT.about(format),
            Data::NotOurs(_) => Self::NotBlosc { start: vec![] },
            Data::NothingRescued => message::NOTHING_RESCUED.error(),
            Data::Fill { typesize, is_nan: true } => message::NO_NAN.about(typesize),
            Data::Fill { typesize, .. } => message::FILL_OF_ITEM.about(typesize),
            Data::NoColumnKind(column) => message::NO_COLUMN_KIND.about(column),
            Data::NoNumpyType(column) => message::NO_NUMPY_TYPE.about(column),
            Data::Cell { column, fault } => match fault {
                CellFault::TimeTooFar => message::TIME_TOO_FAR.about(column),
                CellFault::IntegerTooLarge => message::INTEGER_TOO_LARGE.about(column),
                _ => message::OBJECT_IN_CELL.about(column),
            },
            Data::Csv(error) => error.into(),
            Data::Write { doing, path, source } => Self::io_at(verb(doing), &path)(source),
            Data::Refused(refusal) => message::refused(refusal),
            other => Self::Data(Box::new(other)),
        }
    }
}

/// The program's value for an operation of the library.
const fn verb(doing: blosc_data::error::Doing) -> Doing {
    use blosc_data::error::Doing as Library;
    match doing {
        Library::Read => Doing::Read,
        Library::Create => Doing::Create,
        Library::Write => Doing::Write,
        Library::Remove => Doing::Remove,
        Library::Spool => Doing::Spool,
        _ => Doing::Open,
    }
}

impl From<b2_program::Error> for Error {
    fn from(error: b2_program::Error) -> Self {
        use b2_program::Error as Refused;
        match error {
            Refused::Io { doing, path, source } => Self::Io { doing, path, source },
            Refused::Exists { path } => Self::Exists { path },
            Refused::NotRegular { path, kind } => Self::NotRegular { path, kind },
            Refused::NoFolder { path, folder } => Self::NoFolder { path, folder },
            Refused::Terminal => message::TERMINAL.error(),
        }
    }
}

/// The cause of an error that a writer of Bloscpack files passes through [`Write`](io::Write).
pub(crate) fn unpacked(error: io::Error) -> Error {
    match error.downcast::<bloscpack::Error>() {
        Ok(error) => error.into(),
        Err(error) => Error::io(Doing::Write)(error),
    }
}

/// Faults of a file of metadata.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetadataError {
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("not a JSON object with the keys metalayers and vlmetalayers, and objects as values")]
    Shape,
    #[error("no key {key:?} is known, but metalayers and vlmetalayers")]
    Key { key: String },
    #[error(transparent)]
    WideInteger(#[from] WideInteger),
}

/// An integer that no metadata keep: readers of JSON and of MessagePack have 64 bits for it, and
/// would round it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is an integer of more than 64 bits; in quotation marks it is text")]
pub(crate) struct WideInteger(pub(crate) String);

/// A byte of two that should be equal; `None` is the end of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteOrEnd(pub(crate) Option<u8>);

impl fmt::Display for ByteOrEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(byte) => write!(f, "{byte:#04x}"),
            None => f.write_str("the end"),
        }
    }
}

/// Result of this crate.
pub(crate) type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// An error of the system while `doing` something.
    pub(crate) fn io(doing: Doing) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: None, source }
    }

    /// An error of the system while `doing` something with a file other than the input.
    pub(crate) fn io_at(doing: Doing, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = Some(path.to_owned());
        move |source| Self::Io { doing, path, source }
    }

    /// The error while `target` is written. A write that the system refuses gets the name of
    /// the output; a read is about the input.
    pub(crate) fn of_output(self, target: &Path) -> Self {
        let source = match self {
            Self::Frame(b2frame::Error::Write { source, .. })
            | Self::Store(b2store::Error::Write { source, .. }) => source,
            Self::Frame(b2frame::Error::Input { source, .. }) => {
                return Self::io(Doing::Read)(source);
            }
            // The temporary file stands for the output.
            Self::Io { doing: Doing::Write | Doing::Create, source, .. } => source,
            Self::Io { doing: Doing::Spool, .. } => return self,
            other => match b2_program::error::no_room(&other) {
                Some(source) => source,
                None => return other,
            },
        };
        Self::io_at(Doing::Write, target)(source)
    }

    /// An error of an opener while `doing` something. Unknown and damaged data are not errors of
    /// the system.
    pub(crate) fn of_opener(doing: Doing) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::Unsupported | io::ErrorKind::InvalidData => Self::Opener(source),
            _ => Self::io(doing)(source),
        }
    }

    /// The error in a program that reads such inputs, but not with this command.
    pub(crate) fn of_command(&self) -> Option<Self> {
        match self {
            Self::Message { message: message::NO_ADDRESSES, .. } => {
                Some(message::NOT_FOR_COMMAND.about("an address"))
            }
            Self::Message { message: message::OTHER_FORMAT, name: Some(name) } => {
                Some(message::NOT_FOR_COMMAND.about(name))
            }
            Self::Input { file, error } => {
                let error = Box::new(error.of_command()?);
                Some(Self::Input { file: file.clone(), error })
            }
            _ => None,
        }
    }

    /// The file that the error is about, unless it is the input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } => path.as_deref(),
            Self::Exists { path }
            | Self::NotRegular { path, .. }
            | Self::Metadata { path, .. }
            | Self::Edited { path, .. }
            | Self::NoFolder { path, .. }
            | Self::Twice { path }
            | Self::Same { path } => Some(path),
            _ => None,
        }
    }

    /// The exit code of this error.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Message { message, .. } => message.code,
            Self::Io { .. } | Self::Exists { .. } | Self::NoFolder { .. } => Code::System,
            Self::Opener(source) if source.kind() == io::ErrorKind::Unsupported => Code::Foreign,
            Self::Npy(NpyError::Objects) => Code::Foreign,
            // The value is typed on the command line.
            Self::Csv(CsvError::Cell { .. }) => Code::Usage,
            // A codec or filter refuses impossible options only when it gets the first chunk.
            Self::Frame(error @ b2frame::Error::Compress { .. })
                if error.blame() == Blame::Data =>
            {
                Code::Usage
            }
            Self::Frame(error) => blame_code(error.blame()),
            Self::Blp(error) => blame_code(error.blame()),
            Self::Bcolz(error) => blame_code(error.blame()),
            Self::Data(error) => blame_code(error.blame()),
            Self::Store(b2store::Error::NotAStore { .. }) => Code::Foreign,
            // A value of a store that is not a frame is damage of the store.
            Self::Store(error @ b2store::Error::Frame { .. }) => match blame_code(error.blame()) {
                Code::Foreign => Code::Data,
                code => code,
            },
            Self::Store(b2store::Error::Io { source, .. })
                if LockTimeout::find(source).is_some() =>
            {
                Code::Locked
            }
            Self::Store(error) => blame_code(error.blame()),
            Self::Chunk { source, .. } => blame_code(source.blame()),
            Self::Locked(_) => Code::Locked,
            Self::Reported { code } => *code,
            Self::Input { error, .. } => error.code(),
            Self::NotBlosc { .. } | Self::NoType { .. } | Self::PerhapsChunk { .. } => {
                Code::Foreign
            }
            Self::Damaged(_)
            | Self::Opener(_)
            | Self::Csv(_)
            | Self::Npy(_)
            | Self::ReadBack { .. }
            | Self::PartItem { .. }
            | Self::OtherType { .. }
            | Self::OtherShape { .. }
            | Self::ArrayLen { .. }
            | Self::ArrayCut { .. }
            | Self::MixedTypesize { .. } => Code::Data,
            Self::MaxOutput { .. }
            | Self::MaxRatio { .. }
            | Self::MaxMemory { .. }
            | Self::ShowLess { .. } => Code::Limit,
            _ => Code::Usage,
        }
    }

    /// The word for programs; the manual lists them.
    pub(crate) fn kind(&self) -> &'static str {
        match self.code() {
            Code::Success => "none",
            Code::Data => "data",
            Code::Usage => "usage",
            Code::System => "io",
            Code::Foreign => "foreign",
            Code::Limit => "limit",
            Code::Locked => "locked",
        }
    }

    /// Advice for the user.
    pub(crate) fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Input { error, .. } => return error.hint(),
            Self::NotBlosc { start } => return blosc_data::opened_by(start).map(Into::into),
            Self::Mistyped { command } => format!("did you mean the command `{command}`?").into(),
            Self::MaxOutput { nbytes, .. } => {
                format!("--max-output {} allows it", size::enough(*nbytes)).into()
            }
            Self::MaxRatio { nbytes, from, .. } => {
                let ratio = nbytes.div_ceil((*from).max(1));
                format!("if this is meant, --max-ratio {ratio} allows it").into()
            }
            _ => return self.own_hint().or_else(|| self.library_hint()).map(Cow::Borrowed),
        })
    }

    /// Whether the reader of our output has gone.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Io { doing: Doing::Stdout, source, .. } => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
            Self::Input { error, .. } => error.is_closed_pipe(),
            _ => false,
        }
    }
}

fn blame_code(blame: Blame) -> Code {
    match blame {
        Blame::Data => Code::Data,
        Blame::NotOurs => Code::Foreign,
        Blame::Limit => Code::Limit,
        Blame::Usage => Code::Usage,
        Blame::Busy => Code::Locked,
        // A kind of blame that is newer than this program.
        _ => Code::System,
    }
}

/// `error` and its causes, as one line; for a frame that is cut off, the bytes that remain.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    b2_program::error::chain_with(error, |error| frame_error(error).and_then(cut_off))
}

/// The frame error that a link of a chain holds.
fn frame_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a b2frame::Error> {
    let own = error.downcast_ref::<Error>();
    let own = own.or_else(|| error.downcast_ref::<Box<Error>>().map(Box::as_ref));
    match own {
        Some(Error::Frame(error)) => Some(error),
        // Errors of a store about its frames.
        _ => error
            .downcast_ref()
            .or_else(|| error.downcast_ref::<Box<b2frame::Error>>().map(Box::as_ref)),
    }
}

/// The text for a frame that is cut off, with the bytes that remain.
fn cut_off(error: &b2frame::Error) -> Option<String> {
    let b2frame::Error::Corrupt { what, .. } = error else { return None };
    match what {
        Corrupt::FrameTruncated { frame_len, available } => {
            let (found, all) = (size::count(*available), size::count(*frame_len));
            Some(format!("cut off: {found} of {all} bytes are there"))
        }
        Corrupt::HeaderTruncated { len } => {
            let found = size::counted(*len, "byte");
            Some(format!("cut off: {found} of a header that has 87 or more"))
        }
        _ => None,
    }
}

/// Where a chunk starts, unless that is the start of the file.
fn chunk_at(at: u64) -> String {
    if at == 0 { String::new() } else { format!("chunk at byte {at}") }
}

fn or_more(len: Option<u64>) -> String {
    len.map_or("more".to_owned(), |len| len.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(doing: Doing) -> Error {
        Error::io(doing)(io::Error::from_raw_os_error(2))
    }

    #[test]
    fn causes_follow_in_one_line() {
        assert_eq!(chain(&missing(Doing::Open)), "no such file or directory");
        assert_eq!(chain(&missing(Doing::Read)), "reading: no such file or directory");
        assert_eq!(missing(Doing::Read).code(), Code::System);
    }

    #[test]
    fn foreign_files_are_named_when_known() {
        assert_eq!(
            Error::NotBlosc { start: b"\x89PNG\r\n\x1a\n".to_vec() }.to_string(),
            "not a Blosc file (starts with 89 50 4e 47: a PNG image)"
        );
        assert_eq!(
            Error::NotBlosc { start: b"ab".to_vec() }.to_string(),
            "not a Blosc file (starts with 61 62)"
        );
        assert_eq!(Error::NotBlosc { start: vec![] }.to_string(), "not a Blosc file (it is empty)");
    }

    #[test]
    fn only_our_own_output_can_be_a_closed_pipe() {
        let broken = |doing| Error::io(doing)(io::ErrorKind::BrokenPipe.into());
        assert!(broken(Doing::Stdout).is_closed_pipe());
        assert!(!broken(Doing::Read).is_closed_pipe());
    }
}
