//! The errors, according to the party that has to act; for damaged chunks, with the failed check
//! and its offset.

use std::io;

use blosc_codecs::{CodecId, FormatId};
use blosc_filters::FilterId;

use crate::hooks::HookError;

/// The result of this crate's functions.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The reason why a chunk was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a chunk, or a damaged one.
    #[error("at byte {at}: {what}")]
    Corrupt {
        /// Where (bytes from the start of the chunk).
        at: u64,
        /// The check that failed.
        what: Corrupt,
    },
    /// One block could not be read; `source` has the cause.
    #[error("block {nblock} at byte {at}")]
    Block {
        /// The number of the block.
        nblock: u64,
        /// Where its streams begin (bytes from the start of the chunk).
        at: u64,
        /// The cause.
        #[source]
        source: Box<Self>,
    },
    /// The decoder of a codec refused a stream, or its encoder the parameters.
    #[error("stream at byte {at}")]
    Codec {
        /// Where the stream begins (bytes from the start of the chunk).
        at: u64,
        /// The cause.
        source: blosc_codecs::Error,
    },
    /// A filter refused its parameters.
    #[error("filters")]
    Filter {
        /// The cause.
        #[from]
        source: blosc_filters::Error,
    },
    /// This crate does not know the version of the format (it knows 1 to 6).
    #[error("chunk format version {version}, known are 1 to 6")]
    UnknownVersion {
        /// The first byte of the chunk.
        version: u8,
    },
    /// No codec decodes the streams of the chunk; `source` has the requirement.
    #[error("no codec for format {format}, id {id}")]
    UnknownCodec {
        /// The format code in the flags.
        format: FormatId,
        /// The codec id in the header, or the one of the format.
        id: CodecId,
        /// The cause.
        source: blosc_codecs::Error,
    },
    /// No filter has this id.
    #[error("filter {id} is not available")]
    UnknownFilter {
        /// The id in the header or in the parameters.
        id: FilterId,
    },
    /// The chunk is valid, but cannot be read in this way.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// The chunk would need more memory than the caller allows.
    #[error("{nbytes} bytes needed, the limit is {limit}")]
    Limit {
        /// Required (bytes).
        nbytes: u64,
        /// The limit of [`Limits`](crate::Limits) (bytes).
        limit: u64,
    },
    /// The system has no memory for a buffer.
    #[error("no memory for {nbytes} bytes")]
    Memory {
        /// Required (bytes).
        nbytes: usize,
    },
    /// The destination is too small.
    #[error("{needed} bytes needed, the destination has {room}")]
    Dest {
        /// Needed (bytes).
        needed: usize,
        /// Available (bytes).
        room: usize,
    },
    /// The requested range is not inside the data.
    #[error("{start}..{end} is not inside 0..{len}")]
    Range {
        /// Where the range starts (bytes or items, as requested).
        start: usize,
        /// Where it ends.
        end: usize,
        /// Number of bytes or items.
        len: usize,
    },
    /// A parameter that is impossible, alone or together with another one.
    #[error("{0}")]
    Param(Param),
    /// A prefilter or postfilter of the caller failed.
    #[error("the caller's function for block {nblock}")]
    Hook {
        /// The number of the block.
        nblock: u64,
        /// The error that it returned.
        source: HookError,
    },
}

/// The party that has to act on an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// The source of the data, which are damaged or foreign.
    Data,
    /// This build of the program: it lacks a codec, a filter or a newer format.
    NotOurs,
    /// The limit that the caller set, or the memory of the system.
    Limit,
    /// The call: it has invalid arguments.
    Usage,
    /// The storage. Never from this crate, which does no I/O.
    Io,
    /// Another program that works on the same file. Never from this crate.
    Busy,
}

impl Error {
    /// The party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Corrupt { .. } => Blame::Data,
            Self::Block { source, .. } => source.blame(),
            Self::Codec { source, .. } => blame_codec(source),
            Self::Filter { source } => blame_filter(*source),
            Self::UnknownVersion { .. }
            | Self::UnknownCodec { .. }
            | Self::UnknownFilter { .. } => Blame::NotOurs,
            Self::Unsupported(Unsupported::Instrumented) => Blame::NotOurs,
            Self::Unsupported(_) => Blame::Usage,
            Self::Limit { .. } | Self::Memory { .. } => Blame::Limit,
            Self::Dest { .. } | Self::Range { .. } | Self::Param(_) | Self::Hook { .. } => {
                Blame::Usage
            }
        }
    }

    #[cold]
    pub(crate) fn corrupt(at: usize, what: Corrupt) -> Self {
        Self::Corrupt { at: at as u64, what }
    }

    /// The same error with the block's coordinates, if it concerns the data and has none yet.
    pub(crate) fn in_block(self, nblock: usize, at: usize) -> Self {
        match self {
            Self::Block { .. }
            | Self::Limit { .. }
            | Self::Memory { .. }
            | Self::Dest { .. }
            | Self::Param(_)
            | Self::Hook { .. } => self,
            source => {
                Self::Block { nblock: nblock as u64, at: at as u64, source: Box::new(source) }
            }
        }
    }
}

/// The kind follows from [`Error::blame`], and the error is inside.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.blame() {
            Blame::Data => io::ErrorKind::InvalidData,
            Blame::NotOurs => io::ErrorKind::Unsupported,
            Blame::Limit => io::ErrorKind::OutOfMemory,
            Blame::Usage | Blame::Io | Blame::Busy => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

fn blame_codec(source: &blosc_codecs::Error) -> Blame {
    use blosc_codecs::Error as E;
    match source {
        E::UnknownCodec { .. } | E::UnknownFormat { .. } | E::Unsupported { .. } => Blame::NotOurs,
        E::Level { .. } => Blame::Usage,
        _ => Blame::Data,
    }
}

fn blame_filter(source: blosc_filters::Error) -> Blame {
    use blosc_filters::{Error as E, Param as P};
    match source {
        E::UnknownFilter { .. } | E::Param { what: P::NoGeometry, .. } => Blame::NotOurs,
        E::Param { .. } => Blame::Data,
        _ => Blame::Usage,
    }
}

/// A failed check of a chunk. One variant for each check of the format document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// The bytes end within the header.
    #[error("{len} bytes, the header has {needed}")]
    TooShort {
        /// Available (bytes).
        len: usize,
        /// The length of the header (bytes).
        needed: usize,
    },
    /// A Blosc 1 chunk whose codec streams are of a version that no release wrote.
    #[error("versionlz {versionlz} in a Blosc 1 chunk, known is 1")]
    VersionLz {
        /// The second byte of the chunk.
        versionlz: u8,
    },
    /// Flag bits that no Blosc 1 chunk has: bit 3, or bits 0 and 2 together.
    #[error("flags {flags:#04x} in a Blosc 1 chunk")]
    Blosc1Flags {
        /// The flags byte.
        flags: u8,
    },
    /// Items of zero bytes.
    #[error("typesize 0")]
    Typesize,
    /// A negative data size.
    #[error("nbytes {nbytes}")]
    Nbytes {
        /// The field.
        nbytes: i32,
    },
    /// A block size (or number of VL-blocks) below 1 or beyond the limit of the format.
    #[error("blocksize {blocksize} is outside 1..={max}")]
    Blocksize {
        /// The field.
        blocksize: i32,
        /// The greatest allowed.
        max: u32,
    },
    /// A chunk size below the size of its header.
    #[error("cbytes {cbytes}, the header alone has {header_len}")]
    Cbytes {
        /// The field.
        cbytes: i32,
        /// The length of the header (bytes).
        header_len: usize,
    },
    /// The bytes end within the chunk.
    #[error("cbytes {cbytes}, but only {len} bytes are there")]
    Truncated {
        /// The field.
        cbytes: usize,
        /// Available (bytes).
        len: usize,
    },
    /// A code for a special kind that does not exist.
    #[error("special kind {code}, known are 1 to 4")]
    SpecialKind {
        /// The three bits.
        code: u8,
    },
    /// Two of memcpyed, special and VL-block at once.
    #[error(
        "flags {flags:#04x}, {flags2:#04x}, {blosc2_flags:#04x}: memcpyed, special and VL exclude each other"
    )]
    Kinds {
        /// The flags byte.
        flags: u8,
        /// `blosc2_flags2`.
        flags2: u8,
        /// `blosc2_flags`.
        blosc2_flags: u8,
    },
    /// A memcpyed chunk that is not as long as header and data together.
    #[error("memcpyed with cbytes {cbytes}, header and data have {expected}")]
    MemcpyedSize {
        /// The field.
        cbytes: usize,
        /// Header and data (bytes).
        expected: usize,
    },
    /// A chunk of NaNs whose items are neither 4 nor 8 bytes, or not whole.
    #[error("{nbytes} bytes of NaN with typesize {typesize}")]
    Nans {
        /// Bytes of an item.
        typesize: usize,
        /// Bytes of data.
        nbytes: usize,
    },
    /// A repeated value that does not fill the data evenly.
    #[error("a value of {width} bytes does not fill {nbytes} bytes")]
    ValueWidth {
        /// Bytes of the value.
        width: usize,
        /// Bytes of data.
        nbytes: usize,
    },
    /// A lazy chunk, which has no data.
    #[error("a lazy chunk, without data")]
    Lazy,
    /// The bytes after the block starts of a lazy chunk contradict them.
    #[error("not the end of a lazy chunk")]
    LazyTrailer,
    /// The block starts do not fit in the chunk.
    #[error("{nblocks} block starts end at byte {end}, the chunk at {cbytes}")]
    BlockStarts {
        /// Number of blocks.
        nblocks: u64,
        /// Where they would end (bytes).
        end: u64,
        /// The size of the chunk (bytes).
        cbytes: usize,
    },
    /// A block that starts outside the block area.
    #[error("block {nblock} starts at {bstart}, outside {min}..={max}")]
    BlockStart {
        /// The number of the block.
        nblock: usize,
        /// Its entry.
        bstart: i32,
        /// Where the block area begins.
        min: usize,
        /// The last offset at which a stream can begin.
        max: usize,
    },
    /// A split block that does not consist of `typesize` streams.
    #[error("a block of {blocksize} bytes does not split into {typesize} streams")]
    Split {
        /// Bytes of the block.
        blocksize: usize,
        /// Number of expected streams.
        typesize: usize,
    },
    /// No room for the size of a stream.
    #[error("{left} bytes left for the size of a stream")]
    StreamHeader {
        /// Bytes up to the end of the chunk.
        left: usize,
    },
    /// A stream that ends outside the chunk.
    #[error("a stream of {csize} bytes, {left} are left")]
    StreamSize {
        /// The size field.
        csize: i32,
        /// Bytes up to the end of the chunk.
        left: usize,
    },
    /// A run of a value outside 1..=255.
    #[error("csize {csize} is no run, those are -255..=0")]
    RunValue {
        /// The size field.
        csize: i32,
    },
    /// A run that ends before its token.
    #[error("no token after csize {csize}")]
    TokenMissing {
        /// The size field.
        csize: i32,
    },
    /// A run with another token.
    #[error("token {token:#04x} without bit 0")]
    Token {
        /// The byte after the size field.
        token: u8,
    },
    /// A run in a Blosc 1 chunk, which has none.
    #[error("csize {csize} in a Blosc 1 chunk")]
    RunInBlosc1 {
        /// The size field.
        csize: i32,
    },
    /// A dictionary of an impossible size.
    #[error("dictionary of {dsize} bytes, possible are 1..={max}")]
    DictSize {
        /// The size field.
        dsize: i32,
        /// The greatest allowed.
        max: usize,
    },
    /// A dictionary that ends outside the chunk.
    #[error("dictionary ends at byte {end}, the chunk at {cbytes}")]
    DictRoom {
        /// Where it would end.
        end: usize,
        /// The size of the chunk (bytes).
        cbytes: usize,
    },
    /// VL-blocks that are not in order, or too close for a size and a payload.
    #[error("VL-block {nblock} spans {start}..{end}, it needs 5 bytes or more")]
    VlSpan {
        /// The number of the block.
        nblock: usize,
        /// Where it starts.
        start: i64,
        /// Where the next one starts, or the chunk ends.
        end: i64,
    },
    /// A VL-block of an impossible size.
    #[error("VL-block of {nbytes} bytes, {left} are left of the chunk's data")]
    VlSize {
        /// The size field.
        nbytes: i32,
        /// Bytes of data that the blocks before leave.
        left: usize,
    },
    /// VL-blocks that contain less data than the header states.
    #[error("the VL-blocks hold {sum} bytes, the header says {nbytes}")]
    VlSum {
        /// All blocks together (bytes).
        sum: u64,
        /// The header's number.
        nbytes: usize,
    },
}

/// Ways of reading that a chunk does not offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The content is statistics about a compression; [`DParams::instrumented`](crate::DParams)
    /// enables reading it.
    #[error("an instrumented chunk: its content is statistics, not data")]
    Instrumented,
    /// The chunk has no blocks: it is memcpyed, special or empty.
    #[error("the chunk has no blocks")]
    NoBlocks,
    /// The chunk is not a VL-block chunk.
    #[error("the chunk has no blocks of individual sizes")]
    NotVl,
}

/// Parameters that are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// More data than a chunk can hold.
    #[error("{nbytes} bytes in one chunk, the limit is {max}")]
    Nbytes {
        /// As given.
        nbytes: usize,
        /// Most bytes of the format.
        max: usize,
    },
    /// A size of items that no chunk supports.
    #[error("typesize {typesize} is outside 1..={max}")]
    Typesize {
        /// As given (bytes).
        typesize: usize,
        /// The greatest allowed.
        max: usize,
    },
    /// A block size outside the format's limits.
    #[error("block size {blocksize} is outside 1..={max}")]
    Blocksize {
        /// As given (bytes).
        blocksize: usize,
        /// The greatest allowed.
        max: usize,
    },
    /// Delta twice: readers disagree about such a pipeline.
    #[error("more than one delta filter")]
    TwoDeltas,
    /// Delta after another filter: the threaded decoders of C-Blosc2 race on it.
    #[error("delta must be the first filter: C-Blosc2 with threads misreads other orders")]
    DeltaNotFirst,
    /// Delta with a codec that loses data: the blocks would not match their reference.
    #[error("delta needs a codec that loses no data")]
    DeltaLossyCodec,
    /// A codec that the target's readers lack.
    #[error("{target} readers have no codec {codec}")]
    CodecForTarget {
        /// The codec.
        codec: CodecId,
        /// The target.
        target: crate::params::Target,
    },
    /// A filter, or a combination of filters, that the target's header cannot hold or its readers
    /// lack.
    #[error("{target} chunks cannot have the filters {filters}")]
    FiltersForTarget {
        /// The pipeline, as text.
        filters: blosc_filters::Pipeline,
        /// The target.
        target: crate::params::Target,
    },
    /// Another property that the target's readers do not support.
    #[error("{target} readers do not know {what}")]
    ForTarget {
        /// The unsupported property.
        what: &'static str,
        /// The target.
        target: crate::params::Target,
    },
    /// A dictionary for a codec that has none, or of an impossible size.
    #[error("a dictionary of {dsize} bytes, possible are 1..={max}")]
    DictSize {
        /// As given.
        dsize: usize,
        /// The greatest allowed.
        max: usize,
    },
    /// A special value that does not fill the data: its width must be the typesize, and divide
    /// `nbytes`.
    #[error("a value of {width} bytes, typesize {typesize}, does not fill {nbytes} bytes")]
    SpecialValue {
        /// Bytes of the value.
        width: usize,
        /// Bytes of an item.
        typesize: usize,
        /// Bytes of data.
        nbytes: usize,
    },
    /// A VL-block without bytes.
    #[error("VL-block {nblock} is empty")]
    EmptyBlock {
        /// Its number.
        nblock: usize,
    },
    /// A VL-block chunk without blocks.
    #[error("no VL-blocks")]
    NoBlocks,
}
