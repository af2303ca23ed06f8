//! Faults of a file, one variant for each entry of the validation checklist in the format document.

use blosc_dtype::npy::NpyError;

use crate::Checksum;

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// The file ends within a part.
    #[error("{part} of {needed} bytes, {left} are left")]
    Truncated {
        /// The part.
        part: Part,
        /// Its length (bytes).
        needed: u64,
        /// Bytes present.
        left: u64,
    },
    /// The file has fewer chunks than its header says.
    #[error("the file ends after {found} of {nchunks} chunks")]
    MissingChunks {
        /// The number in the header.
        nchunks: u64,
        /// Chunks found.
        found: u64,
    },
    /// The file does not begin with `blpk`.
    #[error("\"{}\" instead of \"blpk\"", found.escape_ascii())]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// Option bits without a meaning.
    #[error("options {options:#04x}, known are {known:#04x}")]
    Options {
        /// The byte.
        options: u8,
        /// The bits that have a meaning in this version.
        known: u8,
    },
    /// An id of a checksum that does not exist.
    #[error("checksum id {id}, known are 0 to 8")]
    ChecksumId {
        /// The id.
        id: u8,
    },
    /// A field outside its range.
    #[error("{field} {value} is outside {min}..={max}")]
    Range {
        /// The field.
        field: Field,
        /// Its value.
        value: i64,
        /// The least allowed.
        min: i64,
        /// The greatest allowed.
        max: i64,
    },
    /// The last chunk is larger than the others (version 3).
    #[error("last_chunk {last_chunk} is larger than chunk_size {chunksize}")]
    LastLarger {
        /// The field `last_chunk`.
        last_chunk: u32,
        /// The field `chunk_size`.
        chunksize: u32,
    },
    /// More chunks than can be counted.
    #[error(
        "nchunks {nchunks} and max_app_chunks {max_app_chunks} together are more than 2^63 - 1"
    )]
    ChunkCount {
        /// The field `nchunks`.
        nchunks: u64,
        /// The field `max_app_chunks`.
        max_app_chunks: u64,
    },
    /// An unknown number of chunks, but offsets or a reserve for them.
    #[error("nchunks -1, but offsets or max_app_chunks {max_app_chunks}")]
    CountUnknown {
        /// The field `max_app_chunks`.
        max_app_chunks: u64,
    },
    /// A codec of metadata that does not exist.
    #[error("meta_codec {codec}, known are 0 and 1")]
    MetadataCodec {
        /// The field.
        codec: u8,
    },
    /// More metadata than there is room for.
    #[error("meta_comp_size {meta_comp_size} is larger than max_meta_size {max_meta_size}")]
    MetadataRoom {
        /// The field `meta_comp_size`.
        meta_comp_size: u32,
        /// The field `max_meta_size`.
        max_meta_size: u32,
    },
    /// Metadata of another length than the header gives.
    #[error("{found} bytes of metadata, meta_size says {meta_size}")]
    MetadataSize {
        /// The field `meta_size`.
        meta_size: u32,
        /// Length of the uncompressed metadata (bytes).
        found: u64,
    },
    /// Compressed metadata that go on after `meta_size` bytes.
    #[error("metadata inflate to more than the {meta_size} bytes of meta_size")]
    MetadataBomb {
        /// The field `meta_size`.
        meta_size: u32,
    },
    /// Compressed metadata that are no zlib stream.
    #[error("metadata are no zlib stream")]
    MetadataStream,
    /// The digest of the metadata does not match them.
    #[error("metadata do not have the {checksum} digest that is stored")]
    MetadataDigest {
        /// The kind of checksum.
        checksum: Checksum,
    },
    /// Metadata that are not UTF-8.
    #[error("metadata are not UTF-8 after {valid} bytes")]
    MetadataUtf8 {
        /// Bytes of valid UTF-8 at the start.
        valid: u64,
    },
    /// Metadata that are not JSON, or nested too deeply.
    #[error("metadata are not JSON at line {line}, column {column}")]
    MetadataJson {
        /// The line, from 1.
        line: u64,
        /// The column, from 1 (bytes).
        column: u64,
    },
    /// An offset where no chunk can be.
    #[error("offset {entry} is {offset}, outside {min}..={max}")]
    OffsetRange {
        /// The number of the entry.
        entry: u64,
        /// The entry.
        offset: i64,
        /// The start of the chunks.
        min: u64,
        /// The last possible position of a chunk.
        max: u64,
    },
    /// An offset that is not greater than the one before it.
    #[error("offset {entry} is {offset}, not after {previous}")]
    OffsetOrder {
        /// The number of the entry.
        entry: u64,
        /// The entry.
        offset: u64,
        /// The entry before it.
        previous: u64,
    },
    /// Some offsets are set and others are not.
    #[error("offset {entry} is not set, others are")]
    OffsetUnset {
        /// The number of the first entry that differs from the ones before it.
        entry: u64,
    },
    /// An offset that is not the chunk's position.
    #[error("offset {entry} is {offset}, the chunk is at {position}")]
    OffsetPosition {
        /// The number of the entry.
        entry: u64,
        /// The entry.
        offset: u64,
        /// The end of the chunk before it.
        position: u64,
    },
    /// A reserved offset is set: the file may have more chunks than its header counts.
    #[error("reserved offset {entry} is {offset}")]
    ReserveUsed {
        /// The number of the entry.
        entry: u64,
        /// The entry.
        offset: i64,
    },
    /// A chunk of Blosc2, which this format does not hold.
    #[error("chunk {nchunk} has format version {version}, a .blp file holds version 2")]
    ChunkVersion {
        /// The number of the chunk.
        nchunk: u64,
        /// Its first byte.
        version: u8,
    },
    /// A chunk of another size than the header gives.
    #[error("chunk {nchunk} has {nbytes} bytes of data, the header says {expected}")]
    ChunkSize {
        /// The number of the chunk.
        nchunk: u64,
        /// The size in the chunk's own header (bytes).
        nbytes: u32,
        /// The size by the file's header (bytes); the greatest, if the header does not tell
        /// exactly.
        expected: u32,
    },
    /// A chunk without data that is neither the only one nor the last one of version 1 or 2.
    #[error("chunk {nchunk} has no data")]
    EmptyChunk {
        /// The number of the chunk.
        nchunk: u64,
    },
    /// The digest of a chunk does not match it.
    #[error("chunk {nchunk} does not have the {checksum} digest that is stored")]
    Digest {
        /// The number of the chunk.
        nchunk: u64,
        /// The kind of checksum.
        checksum: Checksum,
    },
    /// Metadata of an array without a usable shape, order or dtype.
    #[error("array metadata: {key} is missing or not as it should be")]
    ArrayKey {
        /// The key.
        key: &'static str,
    },
    /// An array of objects: addresses of another program's memory.
    #[error("array of objects")]
    ArrayObjects,
    /// An array whose size cannot be counted.
    #[error("array of more than 2^64 - 1 bytes")]
    ArrayOverflow,
    /// An array of another size than its data.
    #[error("array of {needed} bytes, the data have {found}")]
    ArraySize {
        /// Items times size of an item (bytes).
        needed: u64,
        /// Bytes of data.
        found: u64,
    },
    /// The start of a `.npy` file is invalid.
    #[error(transparent)]
    Npy(NpyError),
}

impl Corrupt {
    /// The number of the faulty chunk, if a chunk is at fault.
    #[must_use]
    pub const fn nchunk(&self) -> Option<u64> {
        match self {
            Self::ChunkVersion { nchunk, .. }
            | Self::ChunkSize { nchunk, .. }
            | Self::EmptyChunk { nchunk }
            | Self::Digest { nchunk, .. } => Some(*nchunk),
            _ => None,
        }
    }
}

/// A field of the header or the metadata header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Field {
    /// `chunk_size`.
    #[error("chunk_size")]
    ChunkSize,
    /// `last_chunk`.
    #[error("last_chunk")]
    LastChunk,
    /// `nchunks`.
    #[error("nchunks")]
    Nchunks,
    /// `max_app_chunks`.
    #[error("max_app_chunks")]
    MaxAppChunks,
    /// `meta_level`.
    #[error("meta_level")]
    MetaLevel,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Part {
    /// The header.
    #[error("header")]
    Header,
    /// The header of the metadata section.
    #[error("metadata header")]
    MetadataHeader,
    /// The metadata section after its header.
    #[error("metadata")]
    Metadata,
    /// The offsets.
    #[error("offsets")]
    Offsets,
    /// The header of a chunk.
    #[error("chunk header")]
    ChunkHeader,
    /// A chunk.
    #[error("chunk")]
    Chunk,
    /// The digest of a chunk.
    #[error("digest")]
    Digest,
    /// The start of a `.npy` file.
    #[error(".npy header")]
    Npy,
}
