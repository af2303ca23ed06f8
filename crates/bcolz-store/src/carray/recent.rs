//! Blocks of chunks that were decoded for a few rows, kept for the next rows.

use core::ops::Range;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use blosc_io::Stamp;

/// The blocks that were used last.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The last one in front.
    blocks: Mutex<VecDeque<Block>>,
    asked: Mutex<Asked>,
}

/// Chunks that were requested lately. A block is decoded as a whole, to be kept, when
/// its chunk is requested again: for one item alone it takes half of that, as streams are decoded
/// up to the item only.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The last one in front.
    chunks: VecDeque<u64>,
}

impl Asked {
    /// Whether a chunk is the last one that was requested.
    pub(super) fn is_last(&self, nchunk: u64) -> bool {
        self.chunks.front() == Some(&nchunk)
    }

    /// Whether a chunk is among the last `most` ones; from now on it is.
    pub(super) fn is_again(&mut self, nchunk: u64, most: usize) -> bool {
        let place = self.chunks.iter().position(|asked| *asked == nchunk);
        if let Some(place) = place {
            self.chunks.remove(place);
        }
        self.chunks.push_front(nchunk);
        self.chunks.truncate(most);
        place.is_some()
    }
}

/// A decoded block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) nchunk: u64,
    /// Where it lies in the data of its chunk.
    pub(crate) bytes: Range<usize>,
    /// The state of the file that it was read of.
    pub(crate) stamp: Stamp,
    pub(crate) data: Vec<u8>,
}

impl Recent {
    /// Copies some bytes of the data of a chunk, if they are here and the file is what it was.
    pub(crate) fn copy(
        &self,
        nchunk: u64,
        stamp: Stamp,
        bytes: &Range<usize>,
        dest: &mut [u8],
    ) -> bool {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let has_them = |block: &Block| {
            block.nchunk == nchunk
                && block.bytes.start <= bytes.start
                && bytes.end <= block.bytes.end
        };
        let Some(place) = blocks.iter().position(has_them) else { return false };
        let Some(block) = blocks.remove(place).filter(|block| block.stamp == stamp) else {
            return false;
        };
        let start = bytes.start - block.bytes.start;
        dest.copy_from_slice(&block.data[start..start + bytes.len()]);
        blocks.push_front(block);
        true
    }

    /// As [`Asked::is_again`].
    pub(crate) fn is_again(&self, nchunk: u64, most: usize) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).is_again(nchunk, most)
    }

    /// Keeps a block if it fits into `limit` bytes; the oldest ones make room for it. Gives memory
    /// that is of no use any more.
    pub(crate) fn keep(&self, block: Block, limit: u64) -> Vec<u8> {
        if block.data.len() as u64 > limit || is_fresh(block.stamp) {
            return block.data;
        }
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut spare = Vec::new();
        // Another thread may have decoded it as well.
        blocks
            .retain(|other| (other.nchunk, other.bytes.start) != (block.nchunk, block.bytes.start));
        blocks.push_front(block);
        while blocks.iter().map(|block| block.data.len() as u64).sum::<u64>() > limit {
            spare = blocks.pop_back().map_or(spare, |oldest| oldest.data);
        }
        spare
    }
}

/// Whether a file was written so lately that the next change could have the same time.
pub(super) fn is_fresh(stamp: Stamp) -> bool {
    let age = stamp.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    age.is_none_or(|age| age < TICKS)
}

/// Longer than any file system takes for the same time (FAT: two seconds).
const TICKS: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(len: u64) -> Stamp {
        Stamp::new(len, Some(SystemTime::UNIX_EPOCH))
    }

    fn block(nchunk: u64, start: usize) -> Block {
        Block {
            nchunk,
            bytes: start..start + 4,
            stamp: stamp(9),
            data: vec![u8::try_from(nchunk).unwrap(); 4],
        }
    }

    fn has(recent: &Recent, nchunk: u64, bytes: Range<usize>) -> bool {
        recent.copy(nchunk, stamp(9), &bytes, &mut vec![0; bytes.len()])
    }

    #[test]
    fn chunks_are_remembered_for_a_while() {
        let mut asked = Asked::default();
        let again: Vec<bool> =
            [1, 2, 1, 3, 4, 1, 2].map(|nchunk| asked.is_again(nchunk, 3)).to_vec();
        assert_eq!(again, [false, false, true, false, false, true, false]);
        assert!(!asked.is_again(5, 0) && !asked.is_again(5, 0));
    }

    #[test]
    fn the_oldest_blocks_make_room() {
        let recent = Recent::default();
        for nchunk in [1, 2, 3] {
            recent.keep(block(nchunk, 8), 12);
        }
        assert!(has(&recent, 1, 8..12) && has(&recent, 3, 9..10));
        assert_eq!(recent.keep(block(4, 8), 12), [2; 4]);
        assert!(!has(&recent, 2, 8..12) && has(&recent, 1, 8..12));
        assert!(!has(&recent, 1, 7..12) && !has(&recent, 1, 8..13));
        assert_eq!(recent.keep(block(5, 0), 3), [5; 4]);
        assert!(!has(&recent, 5, 0..4));
        let mut dest = [0; 2];
        assert!(recent.copy(3, stamp(9), &(10..12), &mut dest));
        assert_eq!(dest, [3; 2]);
    }

    #[test]
    fn a_changed_file_is_read_again() {
        let recent = Recent::default();
        recent.keep(block(1, 0), 8);
        assert!(!recent.copy(1, stamp(8), &(0..1), &mut [0]));
        assert!(!has(&recent, 1, 0..1));
        // It could be changed once more, and look the same.
        recent.keep(Block { stamp: Stamp::new(9, Some(SystemTime::now())), ..block(1, 0) }, 8);
        recent.keep(Block { stamp: Stamp::new(9, None), ..block(2, 0) }, 8);
        assert!(recent.blocks.lock().unwrap().is_empty());
    }
}
