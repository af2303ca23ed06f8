//! The options and results of rescuing a damaged container: the filling in place of lost data, and
//! the state of each chunk. Rescues chunks without a container, alone or one after the other in a
//! file.

mod blocks;
mod chunk;
mod filling;
mod sequence;

use crate::Budget;

pub use chunk::{ChunkDamage, ChunkError, ChunkSalvage};
pub use filling::Filling;
pub use sequence::chunk_members;

/// The filling in place of lost data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zeros. All other data keep their positions.
    #[default]
    Zeros,
    /// NaN, for items that are floats. All other data keep their positions.
    NaN,
    /// The bytes of an item. All other data keep their positions.
    Value(Vec<u8>),
    /// No filling: the data after the lost ones move up.
    Cut,
}

impl Fill {
    /// The bytes of an item of `typesize` bytes, numbers little-endian. `None` for a value of
    /// another size, or for NaN in a size that no float has.
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

    /// Bytes of a value; 0 for the other kinds.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Value(item) => item.len(),
            _ => 0,
        }
    }
}

blosc_chunk::setters! {
/// Options for rescuing a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RescueOptions {
    /// The filling in place of lost data. Default: zeros.
    pub fill: Fill,
    /// The most bytes of data to decode; a chunk that a frame refers to many times counts as often.
    /// Default: no limit.
    pub max_nbytes: Option<u64>,
    /// Threads and memory.
    pub budget: Budget,
}
}

/// The state of a rescued chunk, or of a block of a chunk without a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkState {
    /// It was read, without any sign of damage.
    Good,
    /// It was read, but a part around it is damaged, or a checksum does not match.
    Doubtful,
    /// It could not be read.
    Lost,
}
