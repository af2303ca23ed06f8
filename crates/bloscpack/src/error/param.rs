//! What a caller can ask for that cannot be had.

use crate::Checksum;

/// A parameter that cannot be had, or not for this file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// No checksum has this name.
    #[error(
        "checksum {name:?}, known are None, adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512"
    )]
    ChecksumName {
        /// The name.
        name: String,
    },
    /// A fill for missing data that is no item of the array, or is to be not a number where items
    /// are no floats.
    #[error("a fill of {found} bytes for items of {itemsize}, or no number for what are no floats")]
    Fill {
        /// Bytes of the fill; 0 for not a number.
        found: usize,
        /// Bytes of an item.
        itemsize: usize,
    },
    /// Chunks of an impossible size.
    #[error("chunks of {chunksize} bytes, possible are 1 to {max}")]
    ChunkSize {
        /// The requested size (bytes).
        chunksize: u64,
        /// The largest possible (bytes).
        max: u32,
    },
    /// There is no such chunk.
    #[error("chunk {nchunk} of {nchunks}")]
    NoChunk {
        /// The requested value.
        nchunk: u64,
        /// How many there are.
        nchunks: u64,
    },
    /// More or less data than was announced.
    #[error("{found} bytes of data, {announced} were announced")]
    DataSize {
        /// What was announced (bytes).
        announced: u64,
        /// What came (bytes); one more than announced stands for any excess.
        found: u64,
    },
    /// More data were put into the room of a [`Writer`](crate::Writer) than there was.
    #[error("{len} bytes of data in a room of {room}")]
    Room {
        /// The room (bytes).
        room: u64,
        /// What was said to be in it (bytes).
        len: u64,
    },
    /// A chunk made elsewhere that does not fit into the file.
    #[error("a chunk with {nbytes} bytes of data does not fit, {expected} would")]
    ForeignChunk {
        /// Data of the chunk (bytes).
        nbytes: u64,
        /// What would fit (bytes).
        expected: u64,
    },
    /// A chunk made elsewhere that is not of Blosc 1.
    #[error("a chunk of format version {version}, a .blp file holds version 2")]
    ForeignVersion {
        /// The first byte of the chunk.
        version: u8,
    },
    /// Compression parameters that are not for Blosc 1.
    #[error("compression for {target}, a .blp file holds chunks of Blosc 1")]
    NotBlosc1 {
        /// The requested target.
        target: blosc_chunk::Target,
    },
    /// Items of a size that the header has no room for.
    #[error("typesize {typesize} is outside 1..=255")]
    Typesize {
        /// The requested size (bytes).
        typesize: usize,
    },
    /// More chunks than can be counted, or than the table has room for.
    #[error("{nchunks} chunks and {reserve} reserved offsets are too many")]
    TooManyChunks {
        /// Chunks.
        nchunks: u64,
        /// Reserved offsets.
        reserve: u64,
    },
    /// The reserve of offsets is too small for what is to be appended.
    #[error("{needed} chunks to append, there is room for {available}")]
    NotEnoughSpace {
        /// Chunks to append.
        needed: u64,
        /// Reserved offsets, `max_app_chunks`.
        available: u64,
    },
    /// Files of this kind cannot be changed in place.
    #[error("{what}, so the file cannot be changed in place")]
    NotAppendable {
        /// Why.
        what: &'static str,
    },
    /// Something follows the last chunk that an append would overwrite.
    #[error("{what} follows the last chunk, so the file cannot grow in place")]
    NotLast {
        /// What it is.
        what: &'static str,
    },
    /// There is no metadata section to write to.
    #[error("the file has no metadata section")]
    NoMetadata,
    /// The metadata do not fit.
    #[error("metadata of {len} bytes, there is room for {room}")]
    MetadataRoom {
        /// Stored length of the metadata (bytes).
        len: u64,
        /// `max_meta_size` (bytes).
        room: u64,
    },
    /// The metadata cannot be stored: more than 4 GiB.
    #[error("metadata of {len} bytes")]
    MetadataSize {
        /// Length of the text (bytes).
        len: u64,
    },
    /// The level of the metadata's codec.
    #[error("metadata level {clevel} is outside 0..=9")]
    MetadataLevel {
        /// The requested value.
        clevel: u8,
    },
    /// In place only a checksum of the same length can be chosen.
    #[error("checksum {new} instead of {old}, whose digest has another length")]
    ChecksumLength {
        /// What the file has.
        old: Checksum,
        /// The requested value.
        new: Checksum,
    },
    /// The file holds no NumPy array.
    #[error("the file holds no NumPy array")]
    NotAnArray,
    /// An array that cannot be stored.
    #[error("an array of {what} cannot be stored")]
    Array {
        /// What stands against it.
        what: &'static str,
    },
    /// Positions that the array does not have, or of more or fewer dimensions.
    #[error("positions that the array does not have")]
    Positions,
    /// A buffer of another length than what is to go into it.
    #[error("a buffer of {found} bytes, the items have {}", .needed.map_or("more than can be counted".to_owned(), |n| n.to_string()))]
    ItemsBuffer {
        /// What the items have (bytes); `None` if that cannot be counted.
        needed: Option<usize>,
        /// What the buffer has (bytes).
        found: usize,
    },
    /// Reading goes on after an error.
    #[error("reading was ended by an error before")]
    AfterError,
    /// A position before the start.
    #[error("a position before the first byte")]
    Seek,
}
