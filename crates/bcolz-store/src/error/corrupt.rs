//! What can be wrong with the files of a data set, one variant for each check.

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// A file or directory that has to be there is not.
    #[error("is missing")]
    Missing,
    /// There is something, but not an ordinary file or directory below the root: a device, a link
    /// that leads out.
    #[error("is not an ordinary file below the root")]
    NotOrdinary,
    /// A metadata file is larger than any that bcolz writes.
    #[error("{len} bytes of metadata, the limit is {limit}")]
    MetadataTooLong {
        /// Bytes of the file.
        len: u64,
        /// The most that is read.
        limit: u64,
    },
    /// A metadata file is not JSON.
    #[error("no JSON at byte {at}: expected {expected}")]
    Json {
        /// Where the parser stopped.
        at: usize,
        /// What would have been right there.
        expected: &'static str,
    },
    /// A key is not there.
    #[error("no key {key:?}")]
    Key {
        /// The key.
        key: &'static str,
    },
    /// A value has the wrong type.
    #[error("{}is {found}, not {expected}", quoted(key))]
    Type {
        /// The key; empty for the whole file.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A number is out of range.
    #[error("{field} {value} is outside {min}..={max}")]
    Range {
        /// Which number.
        field: Field,
        /// What it is.
        value: i128,
        /// The least that it may be.
        min: i128,
        /// The most that it may be.
        max: i128,
    },
    /// The dtype has more fields than are taken.
    #[error("{count} fields, the limit is {limit}")]
    Fields {
        /// Fields, those of nested types included.
        count: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// Object pointers inside of a structured type, or in rows with a shape.
    #[error("objects in rows of several items")]
    ObjectRows,
    /// A chunk file does not begin with `blpk`.
    #[error("begins with \"{}\", not \"blpk\"", found.escape_ascii())]
    Magic {
        /// Bytes 0..4.
        found: [u8; 4],
    },
    /// A chunk file has another version than 1.
    #[error("Bloscpack version {found}, not 1")]
    Version {
        /// Byte 4.
        found: u8,
    },
    /// Bytes 5..8 of a chunk file are not zero.
    #[error("reserved bytes {found:02x?} are not zero")]
    Reserved {
        /// The bytes.
        found: [u8; 3],
    },
    /// A chunk file says that it holds another number of chunks than one.
    #[error("{found} chunks in a file, not 1")]
    ChunkCount {
        /// Bytes 8..16.
        found: i64,
    },
    /// A chunk file is shorter than its headers say.
    #[error("{len} bytes long, {needed} are needed")]
    Truncated {
        /// Bytes that there are.
        len: u64,
        /// Bytes that there should be.
        needed: u64,
    },
    /// A chunk file is longer than its headers say.
    #[error("{len} bytes long, the chunk ends at {end}")]
    Trailing {
        /// Bytes that there are.
        len: u64,
        /// Where the chunk ends.
        end: u64,
    },
    /// A chunk is not one of Blosc 1.
    #[error("chunk of version {version}, not of Blosc 1")]
    ChunkVersion {
        /// The first byte of the chunk.
        version: u8,
    },
    /// A chunk has more or fewer bytes of data than its place in the array allows.
    #[error("chunk of {nbytes} bytes of data, {min} to {max} in rows of {rowsize} fit here")]
    ChunkSize {
        /// Bytes of data.
        nbytes: u64,
        /// The fewest.
        min: u64,
        /// The most.
        max: u64,
        /// Bytes of a row.
        rowsize: u64,
    },
    /// A file is not what was written, by its checksum: it is damaged, or a program that knows no
    /// checksums assigned to it and left its length as it was.
    #[error("checksum {found:016x}, {stored:016x} was written (or another program assigned to it)")]
    Checksum {
        /// That of the file.
        found: u64,
        /// That of `.b2sums`.
        stored: u64,
    },
    /// The file of checksums is not what was written.
    #[error("damaged: checksums were not compared")]
    Sums,
    /// The name of a column is no name of a directory below the table.
    #[error("column {name:?} {fault}")]
    ColumnName {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// A fill value is not one of the dtype.
    #[error("fill value {value} does not fit the dtype")]
    Dflt {
        /// Its JSON.
        value: String,
    },
}

/// A number of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Field {
    /// Entries of `shape`.
    #[error("number of dimensions")]
    Dimensions,
    /// The first entry of `shape`.
    #[error("length")]
    Length,
    /// Another entry of `shape`.
    #[error("length of a dimension")]
    RowShape,
    /// Bytes of an item.
    #[error("size of an item")]
    ItemSize,
    /// Bytes of a row.
    #[error("size of a row")]
    RowSize,
    /// Bytes of the whole array.
    #[error("size of the array")]
    Bytes,
    /// `chunklen`
    #[error("chunklen")]
    ChunkLen,
    /// Bytes of a chunk.
    #[error("size of a chunk")]
    ChunkBytes,
}

/// A key as the subject of a sentence; nothing for the whole file.
fn quoted(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("{key:?} ") }
}

/// What is wrong with the name of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// It is empty.
    #[error("has no name")]
    Empty,
    /// It is `.` or `..`.
    #[error("is not below the table")]
    Dots,
    /// It has a character that no name of a file can have everywhere: `/`, `\`, NUL, on Windows
    /// also `:` and others.
    #[error("has a character that no directory may have")]
    Character,
    /// It is the name of a device of Windows.
    #[error("is a device")]
    Device,
    /// It is the name of a file that bcolz itself keeps in that place.
    #[error("is a file of the table itself")]
    Reserved,
    /// It stands twice.
    #[error("stands twice")]
    Twice,
}
