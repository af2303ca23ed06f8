//! Faults of the files of a data set, one variant for each check.

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// A required file or directory is missing.
    #[error("is missing")]
    Missing,
    /// The path is no ordinary file or directory below the root, but a device or a link that leads
    /// out.
    #[error("is not an ordinary file below the root")]
    NotOrdinary,
    /// A metadata file is larger than any that bcolz writes.
    #[error("{len} bytes of metadata, the limit is {limit}")]
    MetadataTooLong {
        /// Bytes of the file.
        len: u64,
        /// The most bytes that are read.
        limit: u64,
    },
    /// A metadata file is not JSON.
    #[error("no JSON at byte {at}: expected {expected}")]
    Json {
        /// Where the parser stopped.
        at: usize,
        /// The expected syntax at that position.
        expected: &'static str,
    },
    /// A key is missing.
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
        /// The expected type.
        expected: &'static str,
        /// The type found.
        found: &'static str,
    },
    /// A number is out of range.
    #[error("{field} {value} is outside {min}..={max}")]
    Range {
        /// The number's name.
        field: Field,
        /// The number's value.
        value: i128,
        /// The least allowed value.
        min: i128,
        /// The greatest allowed value.
        max: i128,
    },
    /// The dtype has more fields than the limit.
    #[error("{count} fields, the limit is {limit}")]
    Fields {
        /// Fields, including the fields of nested types.
        count: usize,
        /// The most fields allowed.
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
    /// A chunk file's header gives a number of chunks other than one.
    #[error("{found} chunks in a file, not 1")]
    ChunkCount {
        /// Bytes 8..16.
        found: i64,
    },
    /// A chunk file is shorter than its headers say.
    #[error("{len} bytes long, {needed} are needed")]
    Truncated {
        /// Bytes present.
        len: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// A chunk file is longer than its headers say.
    #[error("{len} bytes long, the chunk ends at {end}")]
    Trailing {
        /// Bytes present.
        len: u64,
        /// The end of the chunk (bytes).
        end: u64,
    },
    /// A chunk is not of Blosc 1.
    #[error("chunk of version {version}, not of Blosc 1")]
    ChunkVersion {
        /// The first byte of the chunk.
        version: u8,
    },
    /// A chunk has more or fewer bytes of data than its position in the array allows.
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
    /// A file does not match its checksum. Either it is damaged, or a program that ignores
    /// checksums assigned rows and did not change the length.
    #[error("checksum {found:016x}, {stored:016x} was written (or another program assigned to it)")]
    Checksum {
        /// The sum of the file.
        found: u64,
        /// The sum in `.b2sums`.
        stored: u64,
    },
    /// The file of checksums is damaged.
    #[error("damaged: checksums were not compared")]
    Sums,
    /// The name of a column cannot name a directory below the table.
    #[error("column {name:?} {fault}")]
    ColumnName {
        /// The name.
        name: String,
        /// The name's fault.
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

/// A key as the subject of a sentence; empty for the whole file.
fn quoted(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("{key:?} ") }
}

/// A fault of a column's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// It is empty.
    #[error("has no name")]
    Empty,
    /// It is `.` or `..`.
    #[error("is not below the table")]
    Dots,
    /// It has a character that file names cannot have on every system: `/`, `\`, NUL, on Windows
    /// also `:` and others.
    #[error("has a character that no directory may have")]
    Character,
    /// It is the name of a Windows device.
    #[error("is a device")]
    Device,
    /// It is the name of a file that bcolz itself keeps there.
    #[error("is a file of the table itself")]
    Reserved,
    /// It occurs twice.
    #[error("stands twice")]
    Twice,
}
