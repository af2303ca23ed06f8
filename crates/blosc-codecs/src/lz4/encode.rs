//! The fast search: one hash table, one candidate, and a step that grows where nothing matches.

use super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MAX_INPUT, MIN_MATCH, Window, sequence::Block};
use crate::{
    BlockEncoder, Error, Level,
    lz::{Stream, Table, common_len, load32, load64},
};

/// Slots of the table, of which longer blocks use half: more would not stay in the nearest cache beside the data.
const SLOTS: usize = 1 << 13;
/// Shortest block that is a long one. Below, all distances are within reach, and four bytes are hashed.
const LONG: usize = 65_547;
/// Misses after which the step between probes grows by one.
const PATIENCE: usize = 64;

/// Compresses blocks; keeps its table and dictionary between them.
pub struct Encoder {
    table: Table<SLOTS>,
    acceleration: usize,
    window: Window,
}

impl Encoder {
    /// An encoder of acceleration `10 - level`. Of the dictionary, the last 64 KiB count.
    pub fn new(level: Level, dict: &[u8]) -> Self {
        let acceleration = usize::from(10 - level.effort());
        Self { table: Table::new(), acceleration, window: Window::new(dict) }
    }

    /// Compresses `src` to the start of `dest`; the length of the block, or `None` when it does not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (window, start) = self.window.with(src);
        let block = Block::new(window, dest);
        if window.len() < LONG {
            let places = self.table.start(window.len(), MAX_DISTANCE)?.hashed_to(13);
            Search::<false> { window, places, anchor: start }.compress(self.acceleration, block)
        } else {
            let places = self.table.start(window.len(), MAX_DISTANCE)?.hashed_to(12);
            Search::<true> { window, places, anchor: start }.compress(self.acceleration, block)
        }
    }
}

impl BlockEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }
}

struct Search<'a, const IS_LONG: bool> {
    /// The dictionary, then the input.
    window: &'a [u8],
    places: Stream<'a, SLOTS>,
    /// Where the pending literals start.
    anchor: usize,
}

impl<const IS_LONG: bool> Search<'_, IS_LONG> {
    fn compress(mut self, acceleration: usize, mut block: Block<'_>) -> Option<usize> {
        self.learn(self.anchor);
        self.run(acceleration, &mut block)?;
        block.finish(self.anchor)
    }

    /// Notes what the dictionary holds.
    fn learn(&mut self, dict_len: usize) {
        for at in (0..dict_len.saturating_sub(8)).step_by(3) {
            self.places.replace(self.hash(at), at);
        }
    }

    fn run(&mut self, acceleration: usize, block: &mut Block<'_>) -> Option<()> {
        let Some(limit) = self.window.len().checked_sub(MATCH_LIMIT) else { return Some(()) };
        let mut at = self.anchor;
        loop {
            let mut probes = acceleration * PATIENCE;
            let mut step = 1;
            let mut earlier = loop {
                if at + step > limit {
                    return Some(());
                }
                if let Some(earlier) = self.find(at) {
                    break earlier;
                }
                at += step;
                step = probes / PATIENCE;
                probes += 1;
            };
            while at > self.anchor && earlier > 0 && self.window[at - 1] == self.window[earlier - 1] {
                at -= 1;
                earlier -= 1;
            }
            // Where one match ends, another often starts.
            loop {
                let end = self.window.len() - LAST_LITERALS;
                let len = MIN_MATCH + common_len(self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
                block.sequence(self.anchor, at, at - earlier, len)?;
                at += len;
                self.anchor = at;
                if at > limit {
                    return Some(());
                }
                self.places.replace(self.hash(at - 2), at - 2);
                match self.find(at) {
                    Some(found) => earlier = found,
                    None => break,
                }
            }
            at += 1;
        }
    }

    /// The last place with the same four bytes, if the table still knows it.
    #[inline(always)]
    fn find(&mut self, at: usize) -> Option<usize> {
        let earlier = self.places.replace(self.hash(at), at)?;
        (load32(self.window, earlier) == load32(self.window, at)).then_some(earlier)
    }

    /// Of five bytes in long blocks: longer matches are found, and fewer that are too short to pay.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the upper half is what is wanted")]
    fn hash(&self, at: usize) -> u32 {
        if IS_LONG {
            ((load64(self.window, at) << 24).wrapping_mul(889_523_592_379) >> 32) as u32
        } else {
            load32(self.window, at).wrapping_mul(0x9E37_79B1)
        }
    }
}
