//! What can go wrong, by who is to blame: the stream, the build, or the parameters.

use crate::{CodecId, FormatId, ZstdFault};

/// Why a stream was not decoded, or why a codec cannot work.
///
/// A stream that does not fit its destination is no error:
/// [`StreamEncoder::encode`](crate::StreamEncoder::encode) returns `None` then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stream is damaged or was not made by this codec: blame the data.
    #[error("{codec} stream, byte {at}: {what}")]
    Corrupt {
        /// The codec whose decoder refused.
        codec: CodecId,
        /// The position in the stream (bytes from its start) that the decoder had reached; 0 where
        /// a library does not tell.
        at: usize,
        /// What is wrong there.
        what: Corrupt,
    },
    /// No codec of this id is registered, and nothing is known about it.
    #[error("codec {id} is not known")]
    UnknownCodec {
        /// The id requested.
        id: CodecId,
    },
    /// No codec stands for this format.
    #[error("stream format {format} is not known")]
    UnknownFormat {
        /// The format requested.
        format: FormatId,
    },
    /// The codec (or this variant of its format) is known, but not part of this build.
    #[error("{name} is not supported here: it needs {needs}")]
    Unsupported {
        /// The codec concerned.
        id: CodecId,
        /// The name of the codec or variant.
        name: &'static str,
        /// What it takes to decode it.
        needs: &'static str,
    },
    /// The options do not suit the codec. When a decoder is made, they come from a chunk header,
    /// and then it is the chunk that is wrong.
    #[error("{codec}: {what}")]
    Param {
        /// The codec concerned.
        codec: CodecId,
        /// The unsuitable option.
        what: Param,
    },
    /// A compression level above 9.
    #[error("level {clevel} is outside 0..=9")]
    Level {
        /// The number given.
        clevel: u8,
    },
}

/// What is wrong in a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// The stream ends inside an instruction.
    #[error("{need} more bytes needed, {have} are left")]
    Truncated {
        /// Bytes that the instruction takes from here.
        need: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// The stream decodes to more bytes than expected.
    #[error("{nbytes} bytes come out, {room} are expected")]
    TooLong {
        /// Bytes that the stream decodes to, as far as it was followed.
        nbytes: u64,
        /// Bytes that the stream should decode to.
        room: usize,
    },
    /// The stream ends early.
    #[error("only {nbytes} bytes come out, {expected} are expected")]
    TooShort {
        /// Bytes that came out.
        nbytes: usize,
        /// Bytes that were expected.
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
    /// The stream ends with a match, where the format wants a literal run.
    #[error("the stream ends with a match")]
    EndsWithMatch,
    /// Bytes follow the end of the stream.
    #[error("{extra} bytes follow the end of the stream")]
    Trailing {
        /// How many.
        extra: usize,
    },
    /// An instruction that the format does not have.
    #[error("token {token:#04x} does not exist")]
    Token {
        /// The byte found.
        token: u8,
    },
    /// The stream carries a shape, and the shape does not hold the expected number of bytes.
    #[error("shape {rows} x {cols} does not hold {expected} bytes")]
    Shape {
        /// Rows, as in the stream.
        rows: i32,
        /// Columns, as in the stream.
        cols: i32,
        /// Bytes that the stream should decode to.
        expected: usize,
    },
    /// The number of dimensions in the stream does not exist in the format.
    #[error("{ndim} dimensions, the format has {expected}")]
    Dimensions {
        /// As in the stream.
        ndim: u8,
        /// The number that the format has.
        expected: u8,
    },
    /// A back reference to bytes outside the stream.
    #[error("reference to {len} bytes at {start}, the stream has {stream}")]
    Reference {
        /// The position that it points to (negative: before the first byte).
        start: i64,
        /// Bytes referred to.
        len: usize,
        /// Length of the stream.
        stream: usize,
    },
    /// A Zstandard frame breaks a rule of its format.
    #[error("{0}")]
    Zstd(ZstdFault),
    /// The library that decodes this format says so.
    #[error("{message}")]
    Library {
        /// The library's message.
        message: &'static str,
    },
}

/// What does not suit the codec.
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
    /// `meta` has a value that the codec does not know.
    #[error("meta {meta} is not one of {allowed}")]
    Meta {
        /// The value given.
        meta: u8,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The codec works on items of other sizes.
    #[error("typesize {typesize} is not one of {allowed}")]
    Typesize {
        /// Bytes per item, as given.
        typesize: usize,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The codec needs the shape of the block, and none was given.
    #[error("the shape of the block is needed")]
    NoShape,
    /// The codec does not work on arrays of this number of dimensions.
    #[error("{ndim} dimensions, {allowed} are possible")]
    Dimensions {
        /// As given.
        ndim: usize,
        /// What is allowed.
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
