//! The errors, which blame the stream, the build, or the parameters.

use crate::{CodecId, FormatId, ZstdFault};

/// The reason why a stream was not decoded, or why a codec cannot work.
///
/// A stream that is longer than its destination is no error:
/// [`StreamEncoder::encode`](crate::StreamEncoder::encode) then returns `None`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stream is damaged, or another codec made it.
    #[error("{codec} stream, byte {at}: {what}")]
    Corrupt {
        /// The codec whose decoder refused.
        codec: CodecId,
        /// The position in the stream (bytes from its start) that the decoder had reached; 0 if a
        /// library does not report it.
        at: usize,
        /// The defect at this position.
        what: Corrupt,
    },
    /// No codec with this id is registered or known.
    #[error("codec {id} is not known")]
    UnknownCodec {
        /// The id requested.
        id: CodecId,
    },
    /// No codec decodes this format.
    #[error("stream format {format} is not known")]
    UnknownFormat {
        /// The format requested.
        format: FormatId,
    },
    /// The codec (or this variant of its format) is known, but missing from this build.
    #[error("{name} is not supported here: it needs {needs}")]
    Unsupported {
        /// The codec concerned.
        id: CodecId,
        /// The name of the codec or variant.
        name: &'static str,
        /// The requirement for decoding it.
        needs: &'static str,
    },
    /// The codec refuses the options. The options of a decoder come from a chunk header, so the
    /// chunk is damaged then.
    #[error("{codec}: {what}")]
    Param {
        /// The codec concerned.
        codec: CodecId,
        /// The refused option.
        what: Param,
    },
    /// A compression level above 9.
    #[error("level {clevel} is outside 0..=9")]
    Level {
        /// The number given.
        clevel: u8,
    },
}

/// A defect of a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// The stream ends inside an instruction.
    #[error("{need} more bytes needed, {have} are left")]
    Truncated {
        /// Bytes of the instruction, counted from here.
        need: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// The stream decodes to more bytes than expected.
    #[error("{nbytes} bytes come out, {room} are expected")]
    TooLong {
        /// Bytes that the stream decodes to, as far as it was read.
        nbytes: u64,
        /// Bytes that the stream should decode to.
        room: usize,
    },
    /// The stream ends early.
    #[error("only {nbytes} bytes come out, {expected} are expected")]
    TooShort {
        /// Decoded bytes.
        nbytes: usize,
        /// Expected bytes.
        expected: usize,
    },
    /// A match that starts before the first byte.
    #[error("distance {distance} reaches before the start, {available} bytes are there")]
    Distance {
        /// How far back the match starts (bytes).
        distance: usize,
        /// Bytes written so far, dictionary included.
        available: usize,
    },
    /// The stream ends with a match, where the format requires a literal run.
    #[error("the stream ends with a match")]
    EndsWithMatch,
    /// Bytes follow the end of the stream.
    #[error("{extra} bytes follow the end of the stream")]
    Trailing {
        /// Number of these bytes.
        extra: usize,
    },
    /// An unknown instruction.
    #[error("token {token:#04x} does not exist")]
    Token {
        /// The byte found.
        token: u8,
    },
    /// The stream contains a shape with a wrong number of bytes.
    #[error("shape {rows} x {cols} does not hold {expected} bytes")]
    Shape {
        /// Rows, as in the stream.
        rows: i32,
        /// Columns, as in the stream.
        cols: i32,
        /// Bytes that the stream should decode to.
        expected: usize,
    },
    /// The format does not allow this number of dimensions.
    #[error("{ndim} dimensions, the format has {expected}")]
    Dimensions {
        /// As in the stream.
        ndim: u8,
        /// The number that the format requires.
        expected: u8,
    },
    /// A back reference to bytes outside the stream.
    #[error("reference to {len} bytes at {start}, the stream has {stream}")]
    Reference {
        /// The position that it refers to (negative: before the first byte).
        start: i64,
        /// Bytes that it refers to.
        len: usize,
        /// Length of the stream.
        stream: usize,
    },
    /// A Zstandard frame breaks a rule of its format.
    #[error("{0}")]
    Zstd(ZstdFault),
    /// The library for this format reports damage.
    #[error("{message}")]
    Library {
        /// The library's message.
        message: &'static str,
    },
}

/// An option that a codec refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// The codec has no dictionaries.
    #[error("there are no dictionaries for this codec")]
    Dict,
    /// The library refused the dictionary.
    #[error("the dictionary of {nbytes} bytes was refused: {message}")]
    BadDict {
        /// Its size.
        nbytes: usize,
        /// The library's message.
        message: &'static str,
    },
    /// The codec does not know this value of `meta`.
    #[error("meta {meta} is not one of {allowed}")]
    Meta {
        /// The value given.
        meta: u8,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The codec supports items of other sizes only.
    #[error("typesize {typesize} is not one of {allowed}")]
    Typesize {
        /// Bytes per item, as given.
        typesize: usize,
        /// The allowed sizes.
        allowed: &'static str,
    },
    /// The codec needs the shape of the block.
    #[error("the shape of the block is needed")]
    NoShape,
    /// The codec does not support arrays of this number of dimensions.
    #[error("{ndim} dimensions, {allowed} are possible")]
    Dimensions {
        /// As given.
        ndim: usize,
        /// The allowed numbers.
        allowed: &'static str,
    },
    /// The shape of the block and the length of the stream do not agree.
    #[error("the shape of the block holds {shape} bytes, the stream {nbytes}")]
    ShapeSize {
        /// Bytes in a block of the shape given.
        shape: u64,
        /// Bytes given or requested.
        nbytes: usize,
    },
    /// The input is longer than the codec's format can describe.
    #[error("{nbytes} bytes in one stream, the limit is {limit}")]
    TooLong {
        /// Bytes given.
        nbytes: usize,
        /// Bytes that one stream can hold.
        limit: usize,
    },
    /// The library could not be set up.
    #[error("{message}")]
    Library {
        /// The library's message.
        message: &'static str,
    },
}
