//! What can go wrong: sorted by who has to act, then by what is wrong.
//!
//! A store is many frames; errors name the key of the value, or the file or member that it came
//! from.

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

/// An error.
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
    /// What was opened is no store.
    #[error("not a store: {why}")]
    NotAStore {
        /// What is missing.
        why: &'static str,
    },
    /// The archive is damaged, or one that cannot be read in place.
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
    /// The content of a frame is not what a store has there.
    #[error("{name}: {what}")]
    Corrupt {
        /// The key, or the file or member.
        name: String,
        /// What is wrong.
        what: Corrupt,
    },
    /// The value is no data but a recipe for some, or a reference; nothing is resolved here.
    #[error("{name}: {kind}, which is not resolved")]
    Recipe {
        /// The key.
        name: String,
        /// What it is.
        kind: RecipeKind,
    },
    /// More than the caller allows.
    #[error("{name}: {needed} {unit} needed, the limit is {limit}")]
    Limit {
        /// The key, or the file or member.
        name: String,
        /// How much is needed.
        needed: u64,
        /// How much is allowed.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// Two facts that the writer keeps contradict each other, which is a fault of this crate. The
    /// bytes that would show it were not written.
    #[error("{name}: {what}: a fault of this program, which writes nothing then")]
    Internal {
        /// The key, column or file.
        name: String,
        /// The contradiction.
        what: &'static str,
    },
    /// Values do not go together in a record batch, or are too many for one.
    #[cfg(any(feature = "arrow", feature = "arrow-59"))]
    #[error("record batch: {0}")]
    Arrow(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// A condition that is none.
    #[error("condition: {0}")]
    Expr(#[from] ExprError),
    /// The caller requested something that does not exist.
    #[error("{0}")]
    Param(#[from] Param),
}

/// What is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// A value of the metadata has another type.
    #[error("{field} is {found}, not {expected}")]
    Type {
        /// The field.
        field: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Bytes that should be MessagePack.
    #[error("{field}: {source}")]
    Value {
        /// The field.
        field: String,
        /// What is wrong.
        source: ValueError,
    },
    /// Bytes that should be rows in Arrow's form.
    #[error("{field}: {source}")]
    Ipc {
        /// The field.
        field: String,
        /// The fault.
        source: IpcFault,
    },
    /// A version that is not known.
    #[error("{field} has version {found}, known is {known}")]
    Version {
        /// The field.
        field: &'static str,
        /// The version.
        found: i128,
        /// Those that are known.
        known: &'static str,
    },
    /// A frame is longer than the file, member or range that holds it.
    #[error("the frame has {found} bytes, its place {expected}")]
    FrameLen {
        /// Length of the frame (bytes).
        found: u64,
        /// Length of its place (bytes).
        expected: u64,
    },
    /// A range of the embedded values that is outside of them.
    #[error("embedded at {offset} with {len} bytes, of {nbytes}")]
    Embedded {
        /// Where it starts (bytes).
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
    /// A key that no store may have.
    #[error("key {key:?}: {fault}")]
    Key {
        /// The key.
        key: String,
        /// What is wrong with it.
        fault: KeyFault,
    },
    /// A member that is compressed by zip itself, which cannot be read in place.
    #[error("compressed by zip (method {method}); unzip the store and open the directory")]
    Compressed {
        /// The method of zip.
        method: u16,
    },
    /// Data that zip has compressed, and that are damaged.
    #[error("its compressed data are damaged")]
    Packed,
    /// A member that is encrypted.
    #[error("encrypted")]
    Encrypted,
    /// A member has another checksum than the directory of the archive says.
    #[error("CRC-32 {found:08x}, {stored:08x} in the directory of the archive")]
    Crc {
        /// That of the bytes.
        found: u32,
        /// That of the directory.
        stored: u32,
    },
    /// Text that is no JSON.
    #[error("schema: {0}")]
    Json(blosc_dtype::json::SyntaxError),
    /// Batches whose lengths do not agree with their chunks.
    #[error("{what}: {found}, expected {expected}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// A serializer that is not known.
    #[error("serializer {found:?} is not available")]
    Serializer {
        /// Its name.
        found: String,
    },
    /// A frame of a table or store that is missing.
    #[error("{0} is missing")]
    Missing(String),
    /// A column of the schema is none.
    #[error("column {name:?}: {why}")]
    Column {
        /// Its name.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// An array of a table has another type or shape than its schema says.
    #[error("an array of {found}, the schema says {expected}")]
    Array {
        /// Type and shape.
        found: String,
        /// What they should be.
        expected: String,
    },
    /// Offsets of text that decrease or lead outside.
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
    /// A row that is alive in a column that is shorter.
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
        /// What it is.
        found: &'static str,
        /// What the column holds.
        expected: &'static str,
    },
}

/// What the caller requested in vain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// A file with bytes that are no part of the archive in it.
    #[error(
        "{before} bytes before the zip archive and {after} after it, which a change would drop"
    )]
    Outside {
        /// Those before it.
        before: u64,
        /// Those after it.
        after: u64,
    },
    /// No such key.
    #[error("no key {key:?}")]
    NoKey {
        /// The key.
        key: String,
    },
    /// Attributes of a group in an embed store, which has none.
    #[error("{key:?} cannot have attributes: an embed store has values, but no groups")]
    NoGroups {
        /// The group.
        key: String,
    },
    /// No such table.
    #[error("{key:?} is no table")]
    NoTable {
        /// The key.
        key: String,
    },
    /// No such column.
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
        /// What is wrong with it.
        fault: KeyFault,
    },
    /// A value where a group would be, or the other way round, or a key of a table.
    #[error("key {key:?}: {other:?} is {what}")]
    Occupied {
        /// The key.
        key: String,
        /// The key that is in its way.
        other: String,
        /// What that is.
        what: &'static str,
    },
    /// Two paths that some file systems do not tell apart.
    #[error("{path:?} and {other:?} are one file on some systems")]
    SamePath {
        /// One of them.
        path: String,
        /// The other one.
        other: String,
    },
    /// A path that cannot be extracted here.
    #[error("{path:?} is no path of a file on every system")]
    Path {
        /// The path.
        path: String,
    },
    /// The name of an attribute.
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
        /// How many there would be.
        count: usize,
    },
    /// A value that would not come back as it is.
    #[error("{name}: a list whose first element is the text \"__tuple__\", or a value of 4 GiB")]
    Value {
        /// The attribute or row.
        name: String,
    },
    /// There is something of this name.
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
        /// What is wrong with it.
        why: &'static str,
    },
    /// Columns of other lengths than the first one.
    #[error("column {name:?} has {found} rows, the others {expected}")]
    Rows {
        /// Its name.
        name: String,
        /// Its rows.
        found: u64,
        /// Those of the others.
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
    /// Rows or items that do not exist.
    #[error("{start}..{end} of {len} {unit}")]
    Range {
        /// The first.
        start: u64,
        /// The one after the last.
        end: u64,
        /// How many there are.
        len: u64,
        /// Of what.
        unit: &'static str,
    },
}

impl Error {
    /// Who has to act.
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
            #[cfg(any(feature = "arrow", feature = "arrow-59"))]
            Self::Arrow(_) => Blame::Usage,
        }
    }

    /// The failure of the storage that it is; `None` of any other error.
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

    /// A key that cannot be written, because of `other`, which is `what`.
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

/// What Arrow says, in any of its versions.
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
