//! Decoded blocks kept for later requests.
//!
//! ```text
//! first request of a chunk     the items are decoded alone, which takes half the time of a block
//! the second one               their block is decoded as a whole and inserted
//! later ones                   copied out of the block, while the file has the same stamp
//! ```
//!
//! The cache has no lock: a single-threaded reader owns it, shared readers put it into a `Mutex`.

use core::ops::Range;
use core::time::Duration;
use std::collections::VecDeque;
use std::time::SystemTime;

use blosc_io::Stamp;

/// Longer than the resolution of modification times of any file system (FAT: two seconds).
const MAX_TIME_RESOLUTION: Duration = Duration::from_secs(3);

/// The most recently used blocks, up to a number of bytes.
///
/// ```
/// use blosc_container::block_cache::{Block, BlockCache};
///
/// let mut cache = BlockCache::new(1 << 20);
/// assert!(!cache.is_repeated(7, 10));
/// assert!(cache.is_repeated(7, 10));
/// cache.insert(Block { number: 7, bytes: 100..104, stamp: None, data: b"abcd".to_vec() });
/// assert_eq!(cache.get(7, &(101..103), None), Some(&b"bc"[..]));
/// assert_eq!(cache.get(7, &(99..103), None), None);
/// ```
#[derive(Debug, Default)]
pub struct BlockCache {
    max_nbytes: u64,
    /// Bytes of the data of all blocks.
    nbytes: u64,
    /// The block inserted last is in front. Among used blocks, only the ones of the back half are
    /// moved there.
    blocks: VecDeque<Block>,
    /// Index of the block found or inserted last.
    found: usize,
    /// Numbers of the last requested chunks, the latest in front, without duplicates.
    requested: VecDeque<u64>,
}

/// A decoded block.
#[derive(Debug)]
pub struct Block {
    /// The number of the chunk, or of another part with its own file or position.
    pub number: u64,
    /// Its position in the data of the chunk; it is as long as `data`.
    pub bytes: Range<usize>,
    /// The state of the file it was read from; `None` if changes of the file do not matter.
    pub stamp: Option<Stamp>,
    /// The data.
    pub data: Vec<u8>,
}

impl BlockCache {
    /// A cache of at most `max_nbytes` bytes, but always of one block.
    #[must_use]
    pub fn new(max_nbytes: u64) -> Self {
        Self { max_nbytes, ..Self::default() }
    }

    /// The most bytes that the cache keeps.
    #[must_use]
    pub fn max_nbytes(&self) -> u64 {
        self.max_nbytes
    }

    /// Bytes of all kept blocks.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// The bytes `bytes` of a chunk, if a block holds them all and was read from a file in this
    /// state. A block of another state is dropped.
    pub fn get(
        &mut self,
        number: u64,
        bytes: &Range<usize>,
        stamp: Option<Stamp>,
    ) -> Option<&[u8]> {
        if self.find(number, bytes, stamp) { self.found(bytes) } else { None }
    }

    /// Whether a block holds the bytes `bytes` of a chunk, as in [`get`](Self::get); then
    /// [`found`](Self::found) returns them.
    #[inline]
    pub fn find(&mut self, number: u64, bytes: &Range<usize>, stamp: Option<Stamp>) -> bool {
        let Some(at) = self.blocks.iter().position(|block| block.holds(number, bytes)) else {
            return false;
        };
        self.found = at;
        // A block of the front half stays in its position until new blocks have filled half of the
        // memory. If requests alternate between two blocks, moving one each time takes longer than
        // copying an item.
        if at >= self.blocks.len() / 2 && self.nbytes > self.max_nbytes / 2 {
            self.bring_to_front(at);
        }
        let is_same = self.blocks.get(self.found).is_some_and(|block| block.stamp == stamp);
        if !is_same {
            self.remove(self.found);
        }
        is_same
    }

    /// Bytes of the block found or inserted last, if it holds them.
    #[inline]
    #[must_use]
    pub fn found(&self, bytes: &Range<usize>) -> Option<&[u8]> {
        let block = self.blocks.get(self.found)?;
        let start = bytes.start.checked_sub(block.bytes.start)?;
        block.data.get(start..start.checked_add(bytes.len())?)
    }

    /// Notes a request for data of a chunk; returns whether the chunk is among the last `window`
    /// requested ones.
    pub fn is_repeated(&mut self, number: u64, window: usize) -> bool {
        let found = self.requested.iter().position(|requested| *requested == number);
        if let Some(found) = found {
            self.requested.remove(found);
        }
        self.requested.push_front(number);
        self.requested.truncate(window);
        found.is_some()
    }

    /// Keeps a block and drops the oldest ones over the limit. Returns the memory of one of them,
    /// for the next block.
    pub fn insert(&mut self, block: Block) -> Vec<u8> {
        // Another thread may have decoded the block as well.
        let (number, start) = (block.number, block.bytes.start);
        let is_same = |old: &Block| old.number == number && old.bytes.start == start;
        if let Some(old) = self.blocks.iter().position(is_same) {
            self.remove(old);
        }
        let spare = self.make_room(block.data.len());
        self.nbytes = self.nbytes.saturating_add(block.data.len() as u64);
        self.blocks.push_front(block);
        self.found = 0;
        spare
    }

    /// Drops the oldest blocks until `nbytes` bytes fit. Returns the memory of one of them.
    pub fn make_room(&mut self, nbytes: usize) -> Vec<u8> {
        let mut spare = Vec::new();
        while self.nbytes.saturating_add(nbytes as u64) > self.max_nbytes {
            let Some(oldest) = self.blocks.pop_back() else { break };
            self.nbytes = self.nbytes.saturating_sub(oldest.data.len() as u64);
            spare = oldest.data;
        }
        spare
    }

    /// Drops all blocks and requests.
    pub fn clear(&mut self) {
        *self = Self::new(self.max_nbytes);
    }

    fn bring_to_front(&mut self, at: usize) {
        if let Some(block) = self.blocks.remove(at) {
            self.blocks.push_front(block);
            self.found = 0;
        }
    }

    fn remove(&mut self, at: usize) {
        if let Some(block) = self.blocks.remove(at) {
            self.nbytes = self.nbytes.saturating_sub(block.data.len() as u64);
        }
    }
}

impl Block {
    fn holds(&self, number: u64, bytes: &Range<usize>) -> bool {
        self.number == number && self.bytes.start <= bytes.start && bytes.end <= self.bytes.end
    }
}

/// The stamp of a file if every later change gives it another stamp: it needs a time that is older
/// than the resolution of times.
#[must_use]
pub fn settled_stamp(stamp: Option<Stamp>) -> Option<Stamp> {
    // In a browser `SystemTime::now` panics.
    let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
    stamp.filter(|_| has_clock).filter(|stamp| {
        let age =
            stamp.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age >= MAX_TIME_RESOLUTION)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(len: u64) -> Option<Stamp> {
        Some(Stamp::new(len, Some(SystemTime::UNIX_EPOCH)))
    }

    fn block(number: u64, start: usize) -> Block {
        let data = vec![u8::try_from(number).unwrap(); 4];
        Block { number, bytes: start..start + 4, stamp: stamp(9), data }
    }

    fn has(cache: &mut BlockCache, number: u64, bytes: Range<usize>) -> bool {
        cache.get(number, &bytes, stamp(9)).is_some()
    }

    #[test]
    fn requests_are_remembered_for_a_while() {
        let mut cache = BlockCache::default();
        let again: Vec<bool> =
            [1, 2, 1, 3, 4, 1, 2].map(|number| cache.is_repeated(number, 3)).to_vec();
        assert_eq!(again, [false, false, true, false, false, true, false]);
        assert!(!cache.is_repeated(5, 0) && !cache.is_repeated(5, 0));
    }

    #[test]
    fn the_oldest_blocks_make_room() {
        let mut cache = BlockCache::new(12);
        for number in [1, 2, 3] {
            assert_eq!(cache.insert(block(number, 8)), []);
        }
        assert!(has(&mut cache, 1, 8..12) && has(&mut cache, 3, 9..10));
        assert_eq!(cache.insert(block(4, 8)), [2; 4]);
        assert!(!has(&mut cache, 2, 8..12) && has(&mut cache, 1, 8..12));
        assert!(!has(&mut cache, 1, 7..12) && !has(&mut cache, 1, 8..13));
        assert_eq!(cache.get(3, &(10..12), stamp(9)), Some(&[3; 2][..]));
        assert_eq!(cache.nbytes(), 12);
        cache.insert(block(4, 8));
        assert_eq!(cache.nbytes(), 12);
        cache.clear();
        assert_eq!((cache.nbytes(), cache.max_nbytes()), (0, 12));
    }

    #[test]
    fn blocks_that_are_used_stay_when_others_are_forgotten() {
        let mut cache = BlockCache::new(400);
        for number in 0..250 {
            assert_eq!(cache.insert(block(number, 0)).len(), if number < 100 { 0 } else { 4 });
            // While other blocks are inserted, two blocks are used again and again.
            for used in [0, 1].into_iter().filter(|used| *used <= number) {
                assert!(has(&mut cache, used, 1..3), "{used} after {number}");
                assert_eq!(cache.found(&(1..3)), Some(&[u8::try_from(used).unwrap(); 2][..]));
            }
        }
        assert_eq!(cache.nbytes(), 400);
        assert!(!has(&mut cache, 2, 0..4) && has(&mut cache, 249, 0..4));
    }

    #[test]
    fn a_block_beyond_the_limit_is_kept_alone() {
        let mut cache = BlockCache::new(3);
        cache.insert(block(5, 0));
        assert!(has(&mut cache, 5, 0..4));
        assert_eq!(cache.insert(block(6, 0)), [5; 4]);
        assert!(!has(&mut cache, 5, 0..4) && has(&mut cache, 6, 0..4));
    }

    #[test]
    fn a_block_of_a_changed_file_is_forgotten() {
        let mut cache = BlockCache::new(8);
        cache.insert(block(1, 0));
        assert_eq!(cache.get(1, &(0..1), stamp(8)), None);
        assert!(!has(&mut cache, 1, 0..1));
        assert_eq!(cache.nbytes(), 0);
    }

    #[test]
    fn a_file_that_was_just_written_has_no_settled_stamp() {
        assert_eq!(settled_stamp(stamp(9)), stamp(9));
        assert_eq!(settled_stamp(Some(Stamp::new(9, Some(SystemTime::now())))), None);
        assert_eq!(settled_stamp(Some(Stamp::new(9, None))), None);
    }
}
