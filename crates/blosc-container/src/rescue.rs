//! The words of rescuing a damaged container: what takes the place of what is lost, and how much of
//! a chunk could be saved. A chunk that stands alone, or follows others in a file, is rescued here.

mod blocks;
mod chunk;
mod filling;
mod sequence;

use crate::Budget;

pub use chunk::{ChunkDamage, ChunkError, ChunkSalvage};
pub use filling::Filling;
pub use sequence::chunk_members;

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

impl Fill {
    /// The bytes of an item of `typesize` bytes, little-endian where it is a number; `None` where
    /// there is no such item: a value of another size, or not a number in a size that no float has.
    #[must_use]
    pub fn item(&self, typesize: usize) -> Option<Vec<u8>> {
        match (self, typesize) {
            (Self::NaN, 2) => Some(0x7e00_u16.to_le_bytes().to_vec()),
            (Self::NaN, 4) => Some(f32::NAN.to_le_bytes().to_vec()),
            (Self::NaN, 8) => Some(f64::NAN.to_le_bytes().to_vec()),
            (Self::NaN, _) => None,
            (Self::Value(item), _) => (item.len() == typesize).then(|| item.clone()),
            (Self::Zeros | Self::Cut, _) => Some(vec![0; typesize]),
        }
    }

    /// Bytes of a value; 0 of others.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Value(item) => item.len(),
            _ => 0,
        }
    }
}

blosc_chunk::setters! {
/// How to rescue a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RescueOptions {
    /// What takes the place of data that are lost. Default: zeros.
    pub fill: Fill,
    /// The most bytes of data that are decoded; where a frame refers to one chunk many times, that
    /// counts as often. Default: no limit.
    pub max_nbytes: Option<u64>,
    /// Threads and memory.
    pub budget: Budget,
}
}

/// What became of a chunk, or of a block of a chunk that stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkState {
    /// It was read, and nothing speaks against it.
    Good,
    /// It was read, but something around it is damaged, or a checksum does not fit.
    Doubtful,
    /// It could not be read.
    Lost,
}
