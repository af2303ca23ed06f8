//! The words of rescuing a damaged container: what takes the place of what is lost, and how much of
//! a chunk could be saved.

use crate::Budget;

/// What takes the place of data that are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zeros. Everything else stays at its position.
    #[default]
    Zeros,
    /// Not a number, for items that are floats. Everything else stays at its position.
    NaN,
    /// The bytes of an item. Everything else stays at its position.
    Value(Vec<u8>),
    /// Nothing: what follows moves up.
    Cut,
}

blosc_chunk::setters! {
/// How to rescue a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RescueOptions {
    /// What takes the place of data that are lost. Default: zeros.
    pub fill: Fill,
    /// Threads and memory.
    pub budget: Budget,
}
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkState {
    /// It was read, and nothing speaks against it.
    Good,
    /// It was read, but something around it is damaged, or a checksum does not fit.
    Doubtful,
    /// It could not be read.
    Lost,
}
