//! The defects of a frame.

use super::Error;
use crate::{CodecId, Corrupt};

/// A rule of the Zstandard format (RFC 8878) that a frame breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A frame does not begin with this number.
    #[error("no frame begins with {found:#010x}")]
    Magic {
        /// The first four bytes, as a number.
        found: u32,
    },
    /// A bit or a value that the format reserves.
    #[error("a reserved bit or value is used")]
    Reserved,
    /// The window is larger than decoders have to allow.
    #[error("a window of 2^{log} bytes, the limit is 2^{limit}")]
    Window {
        /// Binary logarithm of its size.
        log: u8,
        /// The largest allowed.
        limit: u8,
    },
    /// The frame was made with another dictionary.
    #[error("the frame needs dictionary {needed}, the one given is {given}")]
    Dictionary {
        /// Its number in the frame.
        needed: u32,
        /// The number of the given dictionary; 0 without one.
        given: u32,
    },
    /// A block, or its literals, are larger than blocks of the frame can be.
    #[error("a block of {nbytes} bytes, the limit is {limit}")]
    BlockSize {
        /// Bytes in the block.
        nbytes: usize,
        /// The limit in this frame.
        limit: usize,
    },
    /// The weights of a Huffman code do not make a code.
    #[error("the weights of a Huffman code are not those of a code")]
    Weights,
    /// The counts of an FSE table have a wrong sum, or its accuracy is too high.
    #[error("the counts of an FSE table do not add up")]
    Counts,
    /// A symbol that the format does not have.
    #[error("symbol {symbol}, the largest is {limit}")]
    Symbol {
        /// As in the frame.
        symbol: u8,
        /// The largest that the format has.
        limit: u8,
    },
    /// A block uses the table of an earlier one, which does not exist.
    #[error("refers to a table of an earlier block, and there is none")]
    NoTable,
    /// Too few literals for four streams.
    #[error("{nbytes} literals in four streams, which begin with 6")]
    FewLiterals {
        /// Literals in the block.
        nbytes: usize,
    },
    /// Sequences take more literals than the block has.
    #[error("{need} literals needed, {have} are left")]
    Literals {
        /// Literals of the sequence.
        need: usize,
        /// Literals that are left.
        have: usize,
    },
    /// A stream of bits ends without its marking bit.
    #[error("a bit stream has no mark at its end")]
    NoEndMark,
    /// A stream has more or fewer bits than its symbols.
    #[error("a bit stream and its symbols do not end together")]
    BitStream,
    /// The content of the frame differs in length from its header.
    #[error("the frame holds {nbytes} bytes, its header says {stated}")]
    ContentSize {
        /// Decoded bytes.
        nbytes: usize,
        /// As in the header.
        stated: u64,
    },
    /// The checksum of the content is wrong.
    #[error("the checksum is {found:#010x}, the frame says {stated:#010x}")]
    Checksum {
        /// Of the decoded bytes.
        found: u32,
        /// As in the frame.
        stated: u32,
    },
}

impl Fault {
    /// The error at byte `at` of the stream.
    #[cold]
    pub(super) const fn into_error(self, at: usize) -> Error {
        corrupt(at, Corrupt::Zstd(self))
    }
}

#[cold]
pub(super) const fn corrupt(at: usize, what: Corrupt) -> Error {
    Error::Corrupt { codec: CodecId::ZSTD, at, what }
}

/// The error of a stream that has `have` bytes from `at` on, where `need` are needed.
#[cold]
pub(super) const fn truncated(at: usize, need: usize, have: usize) -> Error {
    corrupt(at, Corrupt::Truncated { need, have })
}
