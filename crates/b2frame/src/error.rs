//! Errors: the outer enum says who has to act; the inner ones, [`Corrupt`] and [`Param`], what
//! exactly is wrong.
//!
//! Positions are bytes from the start of the file, or of the buffer when only a part is parsed. A
//! chunk's own error is kept as `source`, with positions inside of that chunk.

use std::io;
use std::path::{Path, PathBuf};

pub use blosc_chunk::error::Blame;

use blosc_io::lock::{Holder, LockTimeout};

use crate::legacy::FrameLayout;
pub use crate::legacy::OlderCorrupt;
pub use crate::nd::{NdCorrupt, NdParam};
use crate::probe::Kind;

/// The result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error of reading or writing a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The storage of the frame could not be read.
    #[error("reading {len} bytes at {at}")]
    Io {
        /// Position (bytes).
        at: u64,
        /// Bytes wanted.
        len: u64,
        /// The error of the storage.
        source: io::Error,
    },
    /// The storage of the frame could not be written.
    #[error("writing {len} bytes at {at}")]
    Write {
        /// Position (bytes).
        at: u64,
        /// Bytes to write.
        len: u64,
        /// The error of the storage.
        source: io::Error,
    },
    /// A file could not be opened, or its length could not be read.
    #[error("opening the file: {source}")]
    Open {
        /// The error of the system.
        source: io::Error,
    },
    /// The stream of data to compress could not be read.
    #[error("reading the data after {nbytes} bytes")]
    Input {
        /// Bytes read before.
        nbytes: u64,
        /// The error of the stream.
        source: io::Error,
    },
    /// A frame could not be written to a stream.
    #[error("writing a frame to the stream")]
    Output {
        /// The error of the stream.
        source: io::Error,
    },
    /// The lock of a frame could not be taken.
    #[error("locking {}: {source}", path.display())]
    Lock {
        /// The file to lock.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process held the lock of the frame for as long as the caller was ready to wait.
    #[error("{} is locked by {holder}", path.display())]
    Locked {
        /// The file, the directory, or the file of the lock.
        path: PathBuf,
        /// The holder of the lock.
        holder: Holder,
    },
    /// A program that takes no lock has changed the frame while it was being changed here. Its
    /// changes were not overwritten.
    #[error(
        "another program has changed the frame meanwhile, without a lock; nothing was committed"
    )]
    ChangedByOther,
    /// The frame was changed since it was opened, and the file of a chunk is gone. See
    /// [`SChunk::refresh`](crate::SChunk::refresh) and
    /// [`SChunk::read_current`](crate::SChunk::read_current).
    #[error("chunk {nchunk} in file {name} is gone: the frame was changed since it was opened")]
    Outdated {
        /// Number of the chunk.
        nchunk: u64,
        /// Name of its file.
        name: String,
    },
    /// The file is not a frame.
    #[error("not a Blosc2 frame: the file starts like {found}")]
    NotAFrame {
        /// The kind of file that its bytes suggest.
        found: Kind,
    },
    /// A frame of the 2.0.0 betas.
    #[error("an older frame layout, of the 2.0.0 betas (first byte {first_byte:#04x})")]
    OlderLayout {
        /// Byte 0, which names the layout.
        first_byte: u8,
    },
    /// A frame that development sources wrote between two releases.
    #[error(
        "a frame layout that was never in a release (first byte {first_byte:#04x}, \
         flags {flags:#04x})"
    )]
    UnreleasedLayout {
        /// Byte 0.
        first_byte: u8,
        /// Byte 25, the general flags.
        flags: u8,
    },
    /// A frame of an unknown version.
    #[error("frame format version {version}, known are 2 and 3")]
    UnknownVersion {
        /// The version.
        version: u8,
    },
    /// A trailer of an unknown version.
    #[error("trailer version {version}, known is 1")]
    UnknownTrailerVersion {
        /// The version.
        version: u8,
    },
    /// A `b2nd` metalayer of an unknown version.
    #[error("b2nd metalayer version {version}, known is 0")]
    UnknownNdVersion {
        /// The version.
        version: u8,
    },
    /// The index of a sparse frame was opened alone; open its directory instead.
    #[error("a sparse frame, one file for every chunk")]
    Sparse,
    /// The file of a chunk of a sparse frame could not be opened.
    #[error("chunk {nchunk} in file {name}")]
    ChunkFile {
        /// Number of the chunk.
        nchunk: u64,
        /// Name of its file.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The frame contradicts itself or its file.
    #[error("at byte {at}: {what}")]
    Corrupt {
        /// Position of the field (bytes).
        at: u64,
        /// The contradiction.
        what: Corrupt,
    },
    /// The operation needs more memory than the caller allows.
    #[error("{what}: {nbytes} bytes needed, the limit is {limit}")]
    Limit {
        /// The use of the memory.
        what: Limited,
        /// Bytes needed.
        nbytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A chunk that cannot be decoded.
    #[error("chunk {nchunk} at byte {at}")]
    Chunk {
        /// Number of the chunk.
        nchunk: u64,
        /// Position of its start (bytes).
        at: u64,
        /// The error of the chunk; its positions count from the chunk's first byte.
        source: blosc_chunk::Error,
    },
    /// The index chunk cannot be decoded.
    #[error("index chunk at byte {at}")]
    Index {
        /// Position of its start (bytes).
        at: u64,
        /// The error of the chunk.
        source: blosc_chunk::Error,
    },
    /// The content of a vlmetalayer cannot be decoded.
    #[error("vlmetalayer {name:?} at byte {at}")]
    VlMeta {
        /// Its name.
        name: String,
        /// Position of its content (bytes).
        at: u64,
        /// The error of the chunk.
        source: blosc_chunk::Error,
    },
    /// The content of a metalayer or vlmetalayer is not a value of the requested type.
    #[cfg(feature = "serde")]
    #[error("metalayer {name:?} as a value")]
    Value {
        /// Its name.
        name: String,
        /// The error of decoding it.
        source: rmp_serde::decode::Error,
    },
    /// A value that cannot be the content of a metalayer.
    #[cfg(feature = "serde")]
    #[error("a value for metalayer {name:?}")]
    NoValue {
        /// Name of the metalayer.
        name: String,
        /// The error of encoding it.
        source: rmp_serde::encode::Error,
    },
    /// Data could not be compressed.
    #[error("compressing chunk {nchunk}")]
    Compress {
        /// Number of the chunk.
        nchunk: u64,
        /// The error of the encoder.
        source: blosc_chunk::Error,
    },
    /// Two facts that the writer keeps contradict each other: a bug of this crate. The writer
    /// stopped before it wrote wrong bytes.
    #[error("{what}: a fault of this program, which writes nothing then")]
    Internal {
        /// The contradiction.
        what: &'static str,
    },
    /// A parameter of the caller is invalid.
    #[error(transparent)]
    Param(#[from] Param),
}

impl From<NdParam> for Error {
    fn from(param: NdParam) -> Self {
        Self::Param(param.into())
    }
}

/// A contradiction in a frame. The names of fields are those of the format document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum Corrupt {
    /// The bytes are too few for a header.
    #[error("the frame ends after {len} bytes, its header has 87")]
    HeaderTruncated { len: u64 },
    /// A field that does not begin with its marker.
    #[error("{field} has the marker {found:#04x}, it is always {expected:#04x}")]
    Marker { field: &'static str, found: u8, expected: u8 },
    /// `header_len` too small or negative.
    #[error("header_len is {header_len}, at least 97")]
    HeaderLen { header_len: i32 },
    /// `frame_len` leaves no room for header and trailer, or is absurd.
    #[error("frame_len is {frame_len}, header and trailer need {min}")]
    FrameLen { frame_len: u64, min: u64 },
    /// The file ends before the frame.
    #[error("frame_len is {frame_len}, the file has {available}")]
    FrameTruncated { frame_len: u64, available: u64 },
    /// A buffer that should be one frame has more bytes.
    #[error("frame_len is {frame_len}, the buffer has {available}")]
    BytesAfterFrame { frame_len: u64, available: u64 },
    /// Neither contiguous nor sparse.
    #[error("frame type {found}, known are 0 and 1")]
    FrameType { found: u8 },
    /// `nbytes` negative.
    #[error("nbytes is {nbytes}")]
    Nbytes { nbytes: i64 },
    /// `typesize` zero or negative.
    #[error("typesize is {typesize}, at least 1")]
    Typesize { typesize: i32 },
    /// `blocksize` negative.
    #[error("blocksize is {blocksize}")]
    Blocksize { blocksize: i32 },
    /// `chunk_size` below -1, or not known although there is data.
    #[error("chunk_size is {chunksize}")]
    ChunkSize { chunksize: i32 },
    /// More filter slots than a pipeline has.
    #[error("{nfilters} filter slots, at most 6")]
    Nfilters { nfilters: u8 },
    /// Offsets of a width that no program writes.
    #[error("offset width {width}, only 1 (64 bits) is in use")]
    OffsetWidth { width: u8 },
    /// The data section does not fit into the frame.
    #[error("cbytes is {cbytes}, the frame has room for {room}")]
    Cbytes { cbytes: i64, room: u64 },
    /// A field or string that is longer than the remaining bytes.
    #[error("{len} bytes expected, {left} are left")]
    Truncated { len: u64, left: u64 },
    /// Too many metalayers.
    #[error("{count} metalayers, at most {max}")]
    MetaCount { count: u16, max: usize },
    /// A metalayer's name that is not a string of 1 to 31 bytes.
    #[error("metalayer name has the marker {found:#04x}, 0xa1..=0xbf are names")]
    NameMarker { found: u8 },
    /// A metalayer that points to a wrong position for its value.
    #[error("metalayer value at {position}, the section ends at {end}")]
    MetaPosition { position: i32, end: u64 },
    /// The vlmetalayers do not end where the trailer goes on.
    #[error("the vlmetalayers end at {end} of the trailer, it goes on at {expected}")]
    SectionEnd { end: u64, expected: u64 },
    /// `trailer_len` out of bounds.
    #[error("trailer_len is {trailer_len}, outside 35..={max}")]
    TrailerLen { trailer_len: u32, max: u64 },
    /// The index chunk reaches into the trailer.
    #[error("the index chunk has {cbytes} bytes, there is room for {room}")]
    IndexCbytes { cbytes: u64, room: u64 },
    /// The index has another number of offsets than the frame has chunks.
    #[error("the index has {nbytes} bytes, {expected} expected")]
    IndexNbytes { nbytes: u64, expected: u64 },
    /// More chunks than an index can describe.
    #[error("{nchunks} chunks, at most {max}")]
    TooManyChunks { nchunks: u64, max: u64 },
    /// An offset outside the data section.
    #[error("chunk {nchunk} has offset {offset}, the data section has {cbytes} bytes")]
    Offset { nchunk: u64, offset: u64, cbytes: u64 },
    /// A number that no chunk file can have.
    #[error("chunk {nchunk} is in file {id:#x}, outside 0..=0xffffffff")]
    ChunkId { nchunk: u64, id: u64 },
    /// A directory with a contiguous frame where the index of a sparse one should be.
    #[error("frame type 0 in a directory, sparse frames have 1")]
    NotSparse,
    /// An offset that stands for a run of unknown kind.
    #[error("chunk {nchunk} has offset {offset:#018x}, no known special value")]
    SpecialOffset { nchunk: u64, offset: u64 },
    /// A chunk that reaches out of the data section.
    #[error("chunk {nchunk} has {cbytes} bytes, outside 16..={room}")]
    ChunkCbytes { nchunk: u64, cbytes: u64, room: u64 },
    /// A chunk of the wrong size for its position.
    #[error("chunk {nchunk} holds {nbytes} bytes, its place demands {expected}")]
    ChunkNbytes { nchunk: u64, nbytes: u64, expected: u64 },
    /// A chunk of NaN in a frame whose items are no floats.
    #[error("chunk {nchunk} is all NaN, but typesize is {typesize}; 4 or 8 is needed")]
    NanTypesize { nchunk: u64, typesize: u32 },
    /// A chunk with VL-blocks in a frame of regular chunks, or the other way round.
    #[error("chunk {nchunk} has VL-blocks: {found}; the frame says {expected}")]
    VlBlocks { nchunk: u64, found: bool, expected: bool },
    /// Special chunks of a frame with variable chunk sizes, whose sizes are stored nowhere.
    #[error("chunk {nchunk} has no size: {count} special chunks share {nbytes} bytes")]
    SizeLost { nchunk: u64, count: u64, nbytes: u64 },
    /// The chunks of a frame together have another size than the header says.
    #[error("the chunks hold {found} bytes, nbytes is {expected}")]
    SumOfChunks { found: u64, expected: u64 },
    /// A vlmetalayer whose chunk has another size than its entry says.
    #[error("the vlmetalayer's chunk has {cbytes} bytes, its place {len}")]
    VlMetaCbytes { cbytes: u64, len: u64 },
    /// Some bytes of a sealed frame were changed; their position is unknown.
    #[error("the bytes are not those that were sealed")]
    BodySum,
    /// The sum of a sealed frame is wrong; all other bytes are as written.
    #[error("the seal is damaged, and nothing else: the data are those that were sealed")]
    Seal,
    /// The bytes of the frame do not match the sum in the archive around it.
    #[error("the bytes do not have the sum that is stored for them: {why}")]
    OuterSum { why: String },
    /// A chunk of a sealed frame whose bytes were changed.
    #[error("the bytes of chunk {nchunk} are not those that were sealed")]
    ChunkSum { nchunk: u64 },
    /// Errors that only frames of the 2.0.0 betas can have.
    #[error(transparent)]
    Older(#[from] OlderCorrupt),
    /// A `b2nd` metalayer that is invalid, or does not fit this frame.
    #[error(transparent)]
    Nd(#[from] NdCorrupt),
}

/// The use of memory that a limit refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limited {
    /// Header or trailer with their metalayers:
    /// [`OpenOptions::max_metadata`](crate::OpenOptions::max_metadata).
    #[error("header or trailer")]
    Metadata,
    /// The index: [`OpenOptions::max_index`](crate::OpenOptions::max_index).
    #[error("index of the chunks")]
    Index,
    /// The content of a vlmetalayer:
    /// [`OpenOptions::max_metadata`](crate::OpenOptions::max_metadata).
    #[error("vlmetalayer")]
    VlMeta,
    /// Chunks, or parts of them, under way: `max_memory` of the options.
    #[error("working memory")]
    Memory,
    /// A frame in memory.
    #[error("frame in memory")]
    Frame,
    /// The data of all chunks:
    /// [`RescueOptions::max_nbytes`](crate::rescue::RescueOptions::max_nbytes).
    #[error("data of the chunks")]
    Data,
}

/// A request that cannot be fulfilled, whatever the file contains.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum Param {
    /// A chunk number after the last.
    #[error("chunk {nchunk} of a frame that has {nchunks}")]
    ChunkNumber { nchunk: u64, nchunks: u64 },
    /// A range of bytes or items that ends after the last one, or before its start.
    #[error("range {start}..{end} of {len}")]
    Range { start: u64, end: u64, len: u64 },
    /// A buffer of the wrong length.
    #[error("a buffer of {len} bytes for {expected}")]
    BufferLen { len: u64, expected: u64 },
    /// A chunk size for writing that is zero, too large or no multiple of the typesize.
    #[error("chunk size {chunksize}: a multiple of the typesize {typesize}, at most {max}")]
    ChunkSize { chunksize: u64, typesize: u64, max: u64 },
    /// A typesize for writing that does not fit.
    #[error("typesize {typesize}, 1 to {max} can be written")]
    Typesize { typesize: u64, max: u64 },
    /// An empty chunk: a frame cannot store the number of empty chunks.
    #[error("a chunk without data")]
    EmptyChunk,
    /// A chunk whose size is not allowed at its position in a frame with fixed chunk size.
    #[error("chunk of {nbytes} bytes, {expected} expected")]
    ChunkNbytes { nbytes: u64, expected: u64 },
    /// A chunk after one that was shorter than the others.
    #[error("a chunk after the short last one")]
    AfterLastChunk,
    /// More chunks than a frame can hold.
    #[error("more than {max} chunks")]
    TooManyChunks { max: u64 },
    /// A special value that frames cannot hold for these items.
    #[error("a chunk of NaN with typesize {typesize}; 4 or 8 is needed")]
    NanTypesize { typesize: u64 },
    /// A special value that the index cannot note: a repeated value is a stored chunk.
    #[error("a repeated value is not a run in the index")]
    SpecialKind,
    /// A chunk with VL-blocks.
    #[error("a chunk with VL-blocks in a frame of regular chunks")]
    VlBlocks,
    /// A chunk of the older kind, without the longer header.
    #[error("a Blosc1 chunk; frames have Blosc2 chunks")]
    Blosc1Chunk,
    /// An order that is not a permutation of all chunks.
    #[error("{nchunk} in an order of {nchunks} chunks is too large or there twice")]
    Order { nchunk: u64, nchunks: u64 },
    /// A frame that cannot grow because other bytes follow it. The kind is `Unknown` if the bytes
    /// do not tell it.
    #[error("{} follows the frame, at byte {at}", what_follows(*kind))]
    NotLast { at: u64, kind: Kind },
    /// A frame without a path, so that its lock has none either.
    #[error("the frame was not opened by its name")]
    NoPath,
    /// All numbers of chunk files are in use.
    #[error("no number is left for a chunk file")]
    NoChunkId,
    /// More metalayers than a frame can hold.
    #[error("{count} metalayers, at most {max} can be written")]
    MetaCount { count: usize, max: usize },
    /// A metalayer name that is empty or too long.
    #[error("metalayer name of {len} bytes, 1 to 31 are possible")]
    MetaName { len: usize },
    /// The name of the seal's vlmetalayer.
    #[error("the vlmetalayer {name:?} is that of the seal")]
    ReservedName { name: &'static str },
    /// Two metalayers of one name.
    #[error("metalayer {name:?} given twice")]
    MetaTwice { name: String },
    /// Metalayers that do not fit their section.
    #[error("metalayers of {nbytes} bytes do not fit")]
    MetaTooLong { nbytes: u64 },
    /// A chunk size for an array, whose chunks have the size of their shape.
    #[error("a chunk size for an array, whose chunks have a shape")]
    ArrayChunks,
    /// A frame of an older layout, which can be read and converted, but not changed.
    #[error("a frame of the layout {layout}, which is for reading only")]
    OlderLayout { layout: FrameLayout },
    /// A part or shape that does not fit an array.
    #[error(transparent)]
    Nd(#[from] NdParam),
    /// A frame that holds no n-dimensional array.
    #[error("the frame has no b2nd metalayer")]
    NotAnArray,
}

/// The words for a file that follows a frame, as far as its first bytes tell the kind.
fn what_follows(kind: Kind) -> &'static str {
    if kind == Kind::Unknown { "data of an unknown kind" } else { kind.name() }
}

impl Error {
    /// The party that has to act; programs choose their exit code by it.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Io { .. }
            | Self::Write { .. }
            | Self::Open { .. }
            | Self::Input { .. }
            | Self::Lock { .. }
            | Self::Output { .. }
            | Self::Internal { .. }
            | Self::ChunkFile { .. } => self.blame_io(),
            Self::Locked { .. } | Self::ChangedByOther | Self::Outdated { .. } => Blame::Busy,
            Self::NotAFrame { .. }
            | Self::OlderLayout { .. }
            | Self::UnreleasedLayout { .. }
            | Self::UnknownVersion { .. }
            | Self::UnknownTrailerVersion { .. }
            | Self::UnknownNdVersion { .. }
            | Self::Sparse => Blame::NotOurs,
            Self::Corrupt { .. } => Blame::Data,
            Self::Limit { .. } => Blame::Limit,
            Self::Chunk { source, .. }
            | Self::Index { source, .. }
            | Self::VlMeta { source, .. }
            | Self::Compress { source, .. } => source.blame(),
            Self::Param(_) => Blame::Usage,
            #[cfg(feature = "serde")]
            Self::Value { .. } => Blame::Data,
            #[cfg(feature = "serde")]
            Self::NoValue { .. } => Blame::Usage,
        }
    }

    /// The position in the file (bytes), if the error has one.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Io { at, .. }
            | Self::Write { at, .. }
            | Self::Corrupt { at, .. }
            | Self::Chunk { at, .. }
            | Self::Index { at, .. }
            | Self::VlMeta { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// A lock that was not taken.
    pub(crate) fn not_locked(path: &Path, source: io::Error) -> Self {
        match LockTimeout::find(&source) {
            Some(LockTimeout { holder, .. }) => {
                Self::Locked { path: path.to_path_buf(), holder: holder.clone() }
            }
            None => Self::Lock { path: path.to_path_buf(), source },
        }
    }

    /// Facts of the writer that contradict each other, found before they are written.
    #[cold]
    pub(crate) fn internal(what: &'static str) -> Self {
        Self::Internal { what }
    }

    /// The error of the system for the file at `path`.
    pub(crate) fn open(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let name = blosc_io::OfFile::naming(path);
        move |error| Self::Open { source: name(error) }
    }

    pub(crate) fn corrupt(at: usize, what: impl Into<Corrupt>) -> Self {
        Self::Corrupt { at: at as u64, what: what.into() }
    }

    /// The same error for a buffer that begins at position `base` of the file.
    pub(crate) fn moved(mut self, base: u64) -> Self {
        if let Self::Corrupt { at, .. } = &mut self {
            *at = at.saturating_add(base);
        }
        self
    }

    /// A file that ends while it is read was cut off by another program: the data's fault, not the
    /// system's.
    fn blame_io(&self) -> Blame {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => Blame::Data,
            // The storage may be a chunk of another frame.
            Self::Io { source, .. } => {
                let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
                inner.map_or(Blame::Io, Self::blame)
            }
            // The frame says that this file exists.
            Self::ChunkFile { source, .. }
                if matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidInput
                ) =>
            {
                Blame::Data
            }
            _ => Blame::Io,
        }
    }
}
