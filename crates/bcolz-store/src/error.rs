//! The errors of this crate, sorted by the party that has to act, then by the fault.
//!
//! A data set is many files; an error names its file by the path below the root
//! (`price/meta/sizes`). A caller adds the root to get the path that the user knows.

mod corrupt;
mod param;

use std::io;

pub use blosc_chunk::error::Blame;
use blosc_io::lock::{Holder, LockTimeout};
pub use corrupt::{Corrupt, Field, NameFault};
pub use param::Param;

use crate::pickle::PickleError;
use crate::query::ExprError;

/// The result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error. Paths are below the root of the data set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The storage failed.
    #[error("{path}: reading or writing: {source}")]
    Io {
        /// The file or directory.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// Another writer held the lock of the directory until waiting ended.
    #[error("{path:?}: locked by {holder}")]
    Locked {
        /// The directory.
        path: String,
        /// The other writer.
        holder: Holder,
    },
    /// Another program changed the array since it was opened; this writer wrote nothing more.
    #[error("{path}: changed by another program")]
    ChangedByOther {
        /// The file.
        path: String,
    },
    /// A file is damaged, cut, missing, or not of bcolz.
    #[error("{path}: {what}")]
    Corrupt {
        /// The file or directory.
        path: String,
        /// The fault.
        what: Corrupt,
    },
    /// The type of the items cannot be used.
    #[error("{path}: dtype of the array")]
    Dtype {
        /// The file that holds it.
        path: String,
        /// The cause.
        source: blosc_dtype::Error,
    },
    /// A chunk cannot be decoded, or not encoded.
    #[error("{path}: chunk {nchunk}")]
    Chunk {
        /// The file.
        path: String,
        /// The number of the chunk.
        nchunk: u64,
        /// The cause; its positions count from byte 16 of the file.
        source: blosc_chunk::Error,
    },
    /// An element of an object array is not plain data.
    #[error("{path}: pickle of element {nitem}")]
    Pickle {
        /// The file.
        path: String,
        /// The number of the element.
        nitem: u64,
        /// The cause.
        source: PickleError,
    },
    /// An operation needs more memory than the caller allows.
    #[error("{needed} bytes needed for {path:?}, the limit is {limit}")]
    Limit {
        /// The file or directory.
        path: String,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// An expression of a query cannot be used.
    #[error("condition: {0}")]
    Expr(#[from] ExprError),
    /// Record batches do not fit each other.
    #[cfg(feature = "arrow")]
    #[error("record batch: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A file of Parquet cannot be read or written.
    #[cfg(feature = "parquet")]
    #[error("file of Parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// The caller requested something that does not exist.
    #[error("{0}")]
    Param(#[from] Param),
}

impl Error {
    /// The party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Io { .. } | Self::ChangedByOther { .. } => Blame::Io,
            Self::Locked { .. } => Blame::Busy,
            Self::Corrupt { .. } | Self::Dtype { .. } => Blame::Data,
            Self::Pickle { source, .. } => source.blame(),
            Self::Chunk { source, .. } => source.blame(),
            Self::Limit { .. } => Blame::Limit,
            Self::Expr(_) | Self::Param(_) => Blame::Usage,
            // Arrow passes the reader's errors on.
            #[cfg(feature = "arrow")]
            Self::Arrow(arrow_schema::ArrowError::ParquetError(_)) => Blame::Data,
            #[cfg(feature = "arrow")]
            Self::Arrow(_) => Blame::Usage,
            #[cfg(feature = "parquet")]
            Self::Parquet(::parquet::errors::ParquetError::External(_)) => Blame::Io,
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => Blame::Data,
        }
    }

    pub(crate) fn corrupt(path: impl Into<String>, what: Corrupt) -> Self {
        Self::Corrupt { path: path.into(), what }
    }

    pub(crate) fn io(path: impl Into<String>, source: io::Error) -> Self {
        if let Some(timeout) = LockTimeout::find(&source) {
            return Self::Locked { path: path.into(), holder: timeout.holder.clone() };
        }
        Self::Io { path: path.into(), source }
    }
}
