//! Errors: the outer enum says who has to act, the inner ones what is wrong.
//!
//! A store is many frames; errors name the key of the value, or its file or member.

use std::io;

pub use blosc_chunk::error::Blame;
pub use blosc_dtype::expr::ExprError;

pub use crate::ipc::IpcFault;
pub use crate::key::KeyFault;
use crate::recipe::RecipeKind;
pub use crate::value::ValueError;
pub use crate::zip::ZipFault;

/// The result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error of reading or writing a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The storage failed.
    #[error("{name}: reading: {source}")]
    Io {
        /// The file.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// Writing failed.
    #[error("{name}: writing: {source}")]
    Write {
        /// The file or directory.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// The opened file or directory is not a store.
    #[error("not a store: {why}")]
    NotAStore {
        /// The missing part.
        why: &'static str,
    },
    /// The archive is damaged, or its members cannot be read in place.
    #[error("zip archive: {0}")]
    Zip(#[from] ZipFault),
    /// A frame of the store cannot be read.
    #[error("{name}: {source}")]
    Frame {
        /// The key, or the file or member.
        name: String,
        /// The cause.
        source: Box<b2frame::Error>,
    },
    /// The content of a frame is not as a store requires.
    #[error("{name}: {what}")]
    Corrupt {
        /// The key, or the file or member.
        name: String,
        /// The contradiction.
        what: Corrupt,
    },
    /// The value is a recipe for data, or a reference; this crate resolves neither.
    #[error("{name}: {kind}, which is not resolved")]
    Recipe {
        /// The key.
        name: String,
        /// Its kind.
        kind: RecipeKind,
    },
    /// The operation needs more than the caller allows.
    #[error("{name}: {needed} {unit} needed, the limit is {limit}")]
    Limit {
        /// The key, or the file or member.
        name: String,
        /// The needed amount.
        needed: u64,
        /// The allowed amount.
        limit: u64,
        /// The unit of both.
        unit: &'static str,
    },
    /// Two facts that the writer keeps contradict each other: a bug of this crate. The writer
    /// stopped before it wrote wrong bytes.
    #[error("{name}: {what}: a fault of this program, which writes nothing then")]
    Internal {
        /// The key, column or file.
        name: String,
        /// The contradiction.
        what: &'static str,
    },
    /// The values do not fit one record batch, or are too many for it.
    #[cfg(any(feature = "arrow", feature = "arrow-59"))]
    #[error("record batch: {0}")]
    Arrow(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// A condition that is not a valid expression.
    #[error("condition: {0}")]
    Expr(#[from] ExprError),
    /// The caller requested something that does not exist.
    #[error("{0}")]
    Param(#[from] Param),
}

/// A contradiction in a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// A value of the metadata has another type.
    #[error("{field} is {found}, not {expected}")]
    Type {
        /// The field.
        field: String,
        /// The type that the format requires.
        expected: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// Bytes that are not valid MessagePack.
    #[error("{field}: {source}")]
    Value {
        /// The field.
        field: String,
        /// The error in the bytes.
        source: ValueError,
    },
    /// Bytes that are not rows in Arrow's form.
    #[error("{field}: {source}")]
    Ipc {
        /// The field.
        field: String,
        /// The fault.
        source: IpcFault,
    },
    /// An unknown version.
    #[error("{field} has version {found}, known is {known}")]
    Version {
        /// The field.
        field: &'static str,
        /// The version.
        found: i128,
        /// The known versions.
        known: &'static str,
    },
    /// A frame is longer than the file, member or range that holds it.
    #[error("the frame has {found} bytes, its place {expected}")]
    FrameLen {
        /// Length of the frame (bytes).
        found: u64,
        /// Length available to it (bytes).
        expected: u64,
    },
    /// A range outside of the embedded values.
    #[error("embedded at {offset} with {len} bytes, of {nbytes}")]
    Embedded {
        /// Position of its start (bytes).
        offset: u64,
        /// Its length (bytes).
        len: u64,
        /// Bytes of all embedded values.
        nbytes: u64,
    },
    /// Two files for one key.
    #[error("also in {other:?}")]
    TwoPlaces {
        /// The other file.
        other: String,
    },
    /// A key that a store must not have.
    #[error("key {key:?}: {fault}")]
    Key {
        /// The key.
        key: String,
        /// The error in the key.
        fault: KeyFault,
    },
    /// A member that zip itself has compressed, so that it cannot be read in place.
    #[error("compressed by zip (method {method}); unzip the store and open the directory")]
    Compressed {
        /// The method of zip.
        method: u16,
    },
    /// Damaged data that zip has compressed.
    #[error("its compressed data are damaged")]
    Packed,
    /// A member that is encrypted.
    #[error("encrypted")]
    Encrypted,
    /// A member whose checksum differs from the directory of the archive.
    #[error("CRC-32 {found:08x}, {stored:08x} in the directory of the archive")]
    Crc {
        /// The checksum of the bytes.
        found: u32,
        /// The checksum in the directory.
        stored: u32,
    },
    /// Text that is not JSON.
    #[error("schema: {0}")]
    Json(blosc_dtype::json::SyntaxError),
    /// Batches whose lengths do not agree with their chunks.
    #[error("{what}: {found}, expected {expected}")]
    Count {
        /// The counted things.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The number expected.
        expected: u64,
    },
    /// An unknown serializer.
    #[error("serializer {found:?} is not available")]
    Serializer {
        /// Its name.
        found: String,
    },
    /// A missing frame of a table or store.
    #[error("{0} is missing")]
    Missing(String),
    /// An invalid column of the schema.
    #[error("column {name:?}: {why}")]
    Column {
        /// Its name.
        name: String,
        /// The error in the column.
        why: &'static str,
    },
    /// An array of a table has another type or shape than its schema says.
    #[error("an array of {found}, the schema says {expected}")]
    Array {
        /// Type and shape of the array.
        found: String,
        /// Type and shape in the schema.
        expected: String,
    },
    /// Offsets of text that decrease or lie outside of the text.
    #[error("row {row}: text from byte {start} to {end}, of {nbytes}")]
    Offsets {
        /// The physical row.
        row: u64,
        /// Its first byte.
        start: i64,
        /// The byte after its last.
        end: i64,
        /// Bytes of all text.
        nbytes: u64,
    },
    /// Text that is not UTF-8.
    #[error("row {row}: text is not UTF-8")]
    Utf8 {
        /// The physical row.
        row: u64,
    },
    /// A code of a dictionary without a word.
    #[error("row {row}: code {code}, there are {nwords} words")]
    Code {
        /// The physical row.
        row: u64,
        /// The code.
        code: i32,
        /// Number of words.
        nwords: u64,
    },
    /// A column that is too short for a row that is alive.
    #[error("row {row} is missing: the column has {len}")]
    ShortColumn {
        /// The physical row.
        row: u64,
        /// Rows of the column.
        len: u64,
    },
    /// A cell of another type than its column.
    #[error("row {row}: {found} in a column of {expected}")]
    Cell {
        /// The physical row.
        row: u64,
        /// The type of the cell.
        found: &'static str,
        /// The type of the column.
        expected: &'static str,
    },
}

/// A request of the caller that cannot be fulfilled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// A file with bytes outside of its archive.
    #[error(
        "{before} bytes before the zip archive and {after} after it, which a change would drop"
    )]
    Outside {
        /// The number of bytes before the archive.
        before: u64,
        /// The number of bytes after the archive.
        after: u64,
    },
    /// The key does not exist.
    #[error("no key {key:?}")]
    NoKey {
        /// The key.
        key: String,
    },
    /// Attributes of a group in an embed store, which has no groups.
    #[error("{key:?} cannot have attributes: an embed store has values, but no groups")]
    NoGroups {
        /// The group.
        key: String,
    },
    /// The table does not exist.
    #[error("{key:?} is no table")]
    NoTable {
        /// The key.
        key: String,
    },
    /// The column does not exist.
    #[error("no column {name:?}")]
    NoColumn {
        /// Its name.
        name: String,
    },
    /// A column that is computed from others.
    #[error(
        "column {name:?} is computed from others ({expression}); expressions are not evaluated"
    )]
    Computed {
        /// Its name.
        name: String,
        /// The expression.
        expression: String,
    },
    /// A key that cannot be written.
    #[error("key {key:?}: {fault}")]
    Key {
        /// The key.
        key: String,
        /// The error in the key.
        fault: KeyFault,
    },
    /// A value at the key of a group, or the other way round, or a key inside of a table.
    #[error("key {key:?}: {other:?} is {what}")]
    Occupied {
        /// The key.
        key: String,
        /// The key that is in the way.
        other: String,
        /// The kind of that key.
        what: &'static str,
    },
    /// Two paths that this file system treats as one.
    #[error("{path:?} and {other:?} are one file on this system")]
    SamePath {
        /// The first path.
        path: String,
        /// The second path.
        other: String,
    },
    /// A path that cannot be extracted here.
    #[error("{path:?} is no path of a file on every system")]
    Path {
        /// The path.
        path: String,
    },
    /// The name of an attribute is invalid.
    #[error("attribute {name:?}: the name has {} bytes, allowed are 1 to 31", name.len())]
    AttributeName {
        /// The name.
        name: String,
    },
    /// More attributes than a frame can have.
    #[error("{key:?} would have {count} attributes, the most is 16")]
    AttributeCount {
        /// The key of the group or value.
        key: String,
        /// The resulting number.
        count: usize,
    },
    /// A value that reading would not return as it is.
    #[error("{name}: a list whose first element is the text \"__tuple__\", or a value of 4 GiB")]
    Value {
        /// The attribute or row.
        name: String,
    },
    /// A file or directory of this name exists.
    #[error("{name:?} exists")]
    Exists {
        /// The name.
        name: String,
    },
    /// The name of a member that is too long for a zip archive.
    #[error("the name of a member has {len} bytes, the most is 65535")]
    MemberName {
        /// Its length (bytes).
        len: u64,
    },
    /// A column that cannot be written.
    #[error("column {name:?}: {why}")]
    Column {
        /// Its name.
        name: String,
        /// The error in the column.
        why: &'static str,
    },
    /// A column with another number of rows than the first one.
    #[error("column {name:?} has {found} rows, the others {expected}")]
    Rows {
        /// Its name.
        name: String,
        /// The number of its rows.
        found: u64,
        /// The number of rows of the other columns.
        expected: u64,
    },
    /// A column of a type that the destination does not have.
    #[error("column {column:?} of type {found} has no counterpart")]
    NoCounterpart {
        /// Its name.
        column: String,
        /// Its type.
        found: String,
    },
    /// Rows or items outside of the data.
    #[error("{start}..{end} of {len} {unit}")]
    Range {
        /// The first of the range.
        start: u64,
        /// The end of the range, exclusive.
        end: u64,
        /// The number of existing ones.
        len: u64,
        /// The unit of the numbers.
        unit: &'static str,
    },
}

impl Error {
    /// The party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            // The storage may be a chunk of another frame.
            Self::Io { source, .. } => {
                let inner = source.get_ref().and_then(|inner| inner.downcast_ref());
                inner.map_or(Blame::Io, b2frame::Error::blame)
            }
            Self::Write { .. } | Self::Internal { .. } => Blame::Io,
            Self::Frame { source, .. } => source.blame(),
            Self::NotAStore { .. } | Self::Zip(_) | Self::Corrupt { .. } => Blame::Data,
            Self::Limit { .. } => Blame::Limit,
            Self::Recipe { .. } | Self::Param(_) | Self::Expr(_) => Blame::Usage,
            // Arrow passes the errors of a reader of Parquet on.
            #[cfg(feature = "arrow")]
            Self::Arrow(error)
                if matches!(
                    error.downcast_ref(),
                    Some(arrow_schema::ArrowError::ParquetError(_))
                ) =>
            {
                Blame::Data
            }
            #[cfg(any(feature = "arrow", feature = "arrow-59"))]
            Self::Arrow(_) => Blame::Usage,
        }
    }

    /// The error of the storage, if this is one.
    pub(crate) fn into_storage(self) -> Option<io::Error> {
        match self {
            _ if self.blame() != Blame::Io => None,
            Self::Io { source, .. } => Some(source),
            error => Some(io::Error::other(error)),
        }
    }

    pub(crate) fn corrupt(name: impl Into<String>, what: Corrupt) -> Self {
        Self::Corrupt { name: name.into(), what }
    }

    pub(crate) fn io(name: impl Into<String>, source: io::Error) -> Self {
        Self::Io { name: name.into(), source }
    }

    #[cold]
    pub(crate) fn internal(name: impl Into<String>, what: &'static str) -> Self {
        Self::Internal { name: name.into(), what }
    }

    pub(crate) fn frame(name: impl Into<String>, source: b2frame::Error) -> Self {
        Self::Frame { name: name.into(), source: Box::new(source) }
    }

    /// A field of another type.
    pub(crate) fn wrong_type(
        name: impl Into<String>,
        field: impl Into<String>,
        expected: &'static str,
        found: &'static str,
    ) -> Self {
        Self::corrupt(name, Corrupt::wrong_type(field, expected, found))
    }

    pub(crate) fn no_key(key: &str) -> Self {
        Param::NoKey { key: key.to_owned() }.into()
    }

    /// The error for a key that cannot be written because of the key `other`, of the kind `what`.
    pub(crate) fn occupied(key: &str, other: &str, what: &'static str) -> Self {
        Param::Occupied { key: key.to_owned(), other: other.to_owned(), what }.into()
    }

    pub(crate) fn column(name: &str, why: &'static str) -> Self {
        Param::Column { name: name.to_owned(), why }.into()
    }
}

impl Corrupt {
    /// A field of another type.
    pub(crate) fn wrong_type(
        field: impl Into<String>,
        expected: &'static str,
        found: &'static str,
    ) -> Self {
        Self::Type { field: field.into(), expected, found }
    }
}

/// The error of Arrow, in any of its versions.
#[cfg(any(feature = "arrow", feature = "arrow-59"))]
macro_rules! from_arrow {
    ($feature:literal: $($error:ty),*) => {$(
        #[cfg(feature = $feature)]
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::Arrow(Box::new(error))
            }
        }
    )*};
}

#[cfg(any(feature = "arrow", feature = "arrow-59"))]
from_arrow!("arrow": arrow_schema::ArrowError, blosc_dtype::arrow::ArrayError);
#[cfg(any(feature = "arrow", feature = "arrow-59"))]
from_arrow!("arrow-59": arrow_schema_59::ArrowError, blosc_dtype::arrow_59::ArrayError);
