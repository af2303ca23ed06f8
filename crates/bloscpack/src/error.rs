//! The errors of this crate, sorted by the party that has to act, then by the fault.

mod corrupt;
mod param;

use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use blosc_io::lock::{Holder, LockTimeout};

pub use blosc_chunk::error::Blame;
pub use corrupt::{Corrupt, Field, Part};
pub use param::Param;

/// The result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error. Positions count bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The storage failed.
    #[error("{} at byte {at}: {source}", doing(source))]
    Io {
        /// The position.
        at: u64,
        /// The cause.
        source: io::Error,
    },
    /// A file could not be opened.
    #[error("opening the file: {source}")]
    Open {
        /// The cause, which names the file.
        source: io::Error,
    },
    /// Another program holds the lock of the file.
    #[error("locked by {holder}")]
    Locked {
        /// The file.
        path: PathBuf,
        /// The holder of the lock, as far as the system tells.
        holder: Holder,
    },
    /// Another program, which does not lock, changed the file since it was read. The file keeps the
    /// state of that program or of the last complete change; this change has no effect.
    #[error("at byte {at}: another program changed the file meanwhile")]
    ChangedByOther {
        /// Position of the first difference.
        at: u64,
    },
    /// The file is damaged, cut, or not Bloscpack.
    #[error("at byte {at}: {what}")]
    Corrupt {
        /// Position of the faulty part.
        at: u64,
        /// The fault.
        what: Corrupt,
    },
    /// A chunk cannot be decoded, or not encoded.
    #[error("chunk {nchunk} at byte {at}")]
    Chunk {
        /// The number of the chunk.
        nchunk: u64,
        /// Position of its header.
        at: u64,
        /// The cause.
        source: blosc_chunk::Error,
    },
    /// The format version is not 1, 2 or 3.
    #[error("format version {version}, known are 1 to 3")]
    UnknownVersion {
        /// Byte 4 of the file.
        version: u8,
    },
    /// The metadata are not JSON. [`MetadataUse::Raw`](crate::metadata::MetadataUse::Raw) gives
    /// their bytes.
    #[error("metadata of format {}, known is \"JSON\"", Name(magic_format))]
    MetadataFormat {
        /// The name of the format, padded with NUL.
        magic_format: [u8; 8],
    },
    /// The type of an array's items cannot be used.
    #[error("dtype of the array")]
    Dtype {
        /// The cause.
        #[from]
        source: blosc_dtype::Error,
    },
    /// An operation needs more memory, output or chunks than the caller allows.
    #[error("{needed} {what} needed, the limit is {limit}")]
    Limit {
        /// The limited quantity.
        what: Bounded,
        /// The number needed.
        needed: u64,
        /// The number that [`FileLimits`](crate::params::FileLimits) allows.
        limit: u64,
    },
    /// The request cannot be met.
    #[error("{0}")]
    Param(#[from] Param),
}

/// The quantities that [`FileLimits`](crate::params::FileLimits) bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Bounded {
    /// Data of one chunk (bytes).
    #[error("bytes for a chunk")]
    Chunk,
    /// Data of the whole file (bytes).
    #[error("bytes of data")]
    Data,
    /// Metadata, stored or inflated (bytes).
    #[error("bytes of metadata")]
    Metadata,
    /// Chunks whose positions are kept in memory.
    #[error("positions of chunks")]
    Chunks,
}

impl Error {
    /// The party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Io { .. } | Self::Open { .. } => Blame::Io,
            Self::Locked { .. } | Self::ChangedByOther { .. } => Blame::Busy,
            Self::Corrupt { .. } => Blame::Data,
            Self::Chunk { source, .. } => source.blame(),
            Self::UnknownVersion { .. } | Self::MetadataFormat { .. } => Blame::NotOurs,
            Self::Dtype { .. } => Blame::Data,
            Self::Limit { .. } => Blame::Limit,
            Self::Param(_) => Blame::Usage,
        }
    }

    pub(crate) const fn corrupt(at: u64, what: Corrupt) -> Self {
        Self::Corrupt { at, what }
    }

    pub(crate) fn open(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let name = blosc_io::OfFile::naming(path);
        move |error| Self::Open { source: name(error) }
    }

    pub(crate) const fn io(at: u64, source: io::Error) -> Self {
        Self::Io { at, source }
    }

    /// An error of taking a lock.
    pub(crate) fn lock(source: io::Error) -> Self {
        match LockTimeout::find(&source) {
            Some(LockTimeout { path, holder, .. }) => {
                Self::Locked { path: path.clone(), holder: holder.clone() }
            }
            None => Self::io(0, source),
        }
    }
}

/// For [`io::Read`] and [`io::Write`]; the error itself stays inside.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Io { source, .. } | Error::Open { source } => source.kind(),
            Error::Corrupt { what: Corrupt::Truncated { .. }, .. } => io::ErrorKind::UnexpectedEof,
            Error::Param(_) => io::ErrorKind::InvalidInput,
            Error::Locked { .. } => io::ErrorKind::TimedOut,
            Error::ChangedByOther { .. } => io::ErrorKind::ResourceBusy,
            Error::Limit { .. } => io::ErrorKind::OutOfMemory,
            Error::UnknownVersion { .. } | Error::MetadataFormat { .. } => {
                io::ErrorKind::Unsupported
            }
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// The failed operation, as far as the error tells: only writing needs room.
fn doing(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::FileTooLarge
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::WriteZero => "writing",
        io::ErrorKind::UnexpectedEof => "reading",
        _ => "reading or writing",
    }
}

/// Bytes padded with NUL, as text.
struct Name<'a>(&'a [u8]);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.iter().rposition(|byte| *byte != 0).map_or(0, |at| at.saturating_add(1));
        write!(f, "\"{}\"", self.0.get(..end).unwrap_or_default().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_place_value_and_bound() {
        let error = Error::corrupt(
            8,
            Corrupt::Range { field: Field::ChunkSize, value: -2, min: -1, max: 7 },
        );
        assert_eq!(error.to_string(), "at byte 8: chunk_size -2 is outside -1..=7");
        let error = Error::MetadataFormat { magic_format: *b"BSON\0\0\0\0" };
        assert_eq!(error.to_string(), "metadata of format \"BSON\", known is \"JSON\"");
        let error = Error::Limit { what: Bounded::Metadata, needed: 5, limit: 4 };
        assert_eq!(error.to_string(), "5 bytes of metadata needed, the limit is 4");
    }

    #[test]
    fn io_errors_keep_the_kind_and_the_error() {
        let cut = Corrupt::Truncated { part: Part::Header, needed: 32, left: 31 };
        let io = io::Error::from(Error::corrupt(0, cut));
        assert_eq!(io.kind(), io::ErrorKind::UnexpectedEof);
        assert!(io.get_ref().unwrap().downcast_ref::<Error>().is_some());
        let denied = Error::io(3, io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.blame(), Blame::Io);
        assert_eq!(io::Error::from(denied).kind(), io::ErrorKind::PermissionDenied);
    }
}
