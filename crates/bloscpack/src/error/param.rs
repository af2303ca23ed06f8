//! Requests that cannot be met.

use crate::Checksum;

/// An invalid parameter, or one that this file does not allow.
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
    /// A fill for missing data that is no item of the array, or NaN for items other than floats.
    #[error("a fill of {found} bytes for items of {itemsize}, or no number for what are no floats")]
    Fill {
        /// Bytes of the fill; 0 for NaN.
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
        /// The number of chunks.
        nchunks: u64,
    },
    /// More or less data than was announced.
    #[error("{found} bytes of data, {announced} were announced")]
    DataSize {
        /// The announced number (bytes).
        announced: u64,
        /// The number that came (bytes); one more than announced stands for any excess.
        found: u64,
    },
    /// More data than the room of a [`Writer`](crate::Writer).
    #[error("{len} bytes of data in a room of {room}")]
    Room {
        /// The room (bytes).
        room: u64,
        /// The data claimed to be in it (bytes).
        len: u64,
    },
    /// A chunk made elsewhere that does not fit into the file.
    #[error("a chunk with {nbytes} bytes of data does not fit, {expected} would")]
    ForeignChunk {
        /// Data of the chunk (bytes).
        nbytes: u64,
        /// Data that would fit (bytes).
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
    /// Items too large for the header's field.
    #[error("typesize {typesize} is outside 1..=255")]
    Typesize {
        /// The requested size (bytes).
        typesize: usize,
    },
    /// More chunks than can be counted, or than the table has entries for.
    #[error("{nchunks} chunks and {reserve} reserved offsets are too many")]
    TooManyChunks {
        /// Chunks.
        nchunks: u64,
        /// Reserved offsets.
        reserve: u64,
    },
    /// The reserve of offsets is too small for the appended chunks.
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
        /// The reason.
        what: &'static str,
    },
    /// Bytes after the last chunk that an append would overwrite.
    #[error("{what} follows the last chunk, so the file cannot grow in place")]
    NotLast {
        /// Their kind.
        what: &'static str,
    },
    /// There is no metadata section to replace.
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
    /// In place, a checksum can be replaced only by one of the same length.
    #[error("checksum {new} instead of {old}, whose digest has another length")]
    ChecksumLength {
        /// The file's checksum.
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
        /// The reason.
        what: &'static str,
    },
    /// Positions outside the array, or in the wrong number of dimensions.
    #[error("positions that the array does not have")]
    Positions,
    /// A buffer of another length than the items.
    #[error("a buffer of {found} bytes, the items have {}", .needed.map_or("more than can be counted".to_owned(), |n| n.to_string()))]
    ItemsBuffer {
        /// Length of the items (bytes); `None` if it cannot be counted.
        needed: Option<usize>,
        /// Length of the buffer (bytes).
        found: usize,
    },
    /// The caller reads on after an error.
    #[error("reading was ended by an error before")]
    AfterError,
    /// A position before the start.
    #[error("a position before the first byte")]
    Seek,
}
