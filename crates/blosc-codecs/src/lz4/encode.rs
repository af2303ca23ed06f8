//! The fast search: one hash table, one candidate, and a step that grows where nothing matches.
//!
//! The table is 16 KiB, half of the nearest cache: places of two bytes where they suffice, else
//! half as many of four. It is cleared for each block, unless several have room in the two bytes.

use alloc::boxed::Box;

use super::{
    LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MAX_INPUT, MIN_MATCH, Window, sequence::Block,
};
use crate::{
    Error, Level, StreamEncoder,
    lz::{
        common_len,
        wild::{Ground, Place},
    },
};

/// Slots of the table for short blocks, and twice those of the one for long blocks.
const SLOTS: usize = 1 << 13;
/// Shortest block that is a long one. Below, all places where a match may start are within reach of
/// each other, and four bytes are hashed.
const LONG: usize = (1 << 16) + MATCH_LIMIT - 1;
/// Longest block whose places are counted on from those of the block before.
const TINY: usize = 1 << 13;
/// Misses after which the step between probes grows by one.
const PATIENCE: usize = 64;

/// Compresses blocks; keeps its tables and dictionary between them.
pub struct Encoder {
    short: Box<[u16; SLOTS]>,
    long: Box<[u32; SLOTS / 2]>,
    /// Where the places of the next tiny block begin.
    next: usize,
    acceleration: usize,
    window: Window,
}

impl Encoder {
    /// An encoder of acceleration `10 - level`. Of the dictionary, the last 64 KiB count.
    pub fn new(level: Level, dict: &[u8]) -> Self {
        let acceleration = usize::from(10 - level.effort());
        let (short, long) = (Box::new([0; SLOTS]), Box::new([0; SLOTS / 2]));
        Self { short, long, next: 0, acceleration, window: Window::new(dict) }
    }

    /// Compresses `src` to the start of `dest`; the length of the block, or `None` when it does not
    /// fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (window, start) = self.window.with(src);
        let block = Block::new(window, dest);
        if window.len() <= TINY {
            let places = &mut Recent::new(&mut self.short, &mut self.next, window.len());
            Search { window, places, anchor: start }.compress(self.acceleration, block)
        } else if window.len() < LONG {
            self.short.fill(0);
            self.next = usize::MAX;
            Search { window, places: &mut *self.short, anchor: start }
                .compress(self.acceleration, block)
        } else {
            self.long.fill(0);
            Search { window, places: &mut *self.long, anchor: start }
                .compress(self.acceleration, block)
        }
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }

    fn depends_on_room(&self) -> bool {
        false
    }
}

/// The last place of each hash; 0 at first, where the first place belongs anyway.
trait Places {
    /// Whether places may be out of reach.
    const IS_LONG: bool;
    /// Of how many bits hashes are.
    const BITS: u32;

    /// The last place with this hash; `at` takes its place.
    fn replace(&mut self, hash: usize, at: usize) -> usize;
}

impl Places for [u16; SLOTS] {
    const IS_LONG: bool = false;
    const BITS: u32 = SLOTS.trailing_zeros();

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a short block")]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        usize::from(core::mem::replace(&mut self[hash % SLOTS], at as u16))
    }
}

/// The same for tiny blocks. Places are counted on from block to block, so what is left of former
/// ones is told from what is new, and counts as empty.
struct Recent<'a> {
    slots: &'a mut [u16; SLOTS],
    /// What stands for place 0.
    base: u16,
}

impl<'a> Recent<'a> {
    /// For a block of `len` bytes.
    fn new(slots: &'a mut [u16; SLOTS], next: &mut usize, len: usize) -> Self {
        let room = u16::try_from(next.saturating_add(len)).is_ok();
        let base = u16::try_from(*next).ok().filter(|_| room).unwrap_or_else(|| {
            slots.fill(0);
            0
        });
        *next = usize::from(base) + len;
        Self { slots, base }
    }
}

impl Places for Recent<'_> {
    const IS_LONG: bool = false;
    const BITS: u32 = SLOTS.trailing_zeros();

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a tiny block")]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        let now = self.base.wrapping_add(at as u16);
        // In 32 bits, as those of 16 take further instructions.
        let before = u32::from(core::mem::replace(&mut self.slots[hash % SLOTS], now));
        before.saturating_sub(u32::from(self.base)) as usize
    }
}

impl Places for [u32; SLOTS / 2] {
    const IS_LONG: bool = true;
    const BITS: u32 = (SLOTS / 2).trailing_zeros();

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a block has less than 4 GiB")]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        core::mem::replace(&mut self[hash % (SLOTS / 2)], at as u32) as usize
    }
}

struct Search<'a, P> {
    /// The dictionary, then the input.
    window: &'a [u8],
    places: &'a mut P,
    /// Where the pending literals start.
    anchor: usize,
}

impl<P: Places> Search<'_, P> {
    fn compress(mut self, acceleration: usize, mut block: Block<'_>) -> Option<usize> {
        self.learn(self.anchor);
        self.run(acceleration, &mut block)?;
        block.finish(self.anchor)
    }

    /// Notes what the dictionary holds.
    fn learn(&mut self, dict_len: usize) {
        let Some(ground) = Ground::new(self.window, dict_len) else { return };
        for here in (0..dict_len.saturating_sub(8)).step_by(3).map_while(|at| ground.place(at)) {
            self.replace(here);
        }
    }

    fn run(&mut self, acceleration: usize, block: &mut Block<'_>) -> Option<()> {
        let Some(limit) = self.window.len().checked_sub(MATCH_LIMIT) else { return Some(()) };
        let Some(ground) = Ground::new(self.window, limit) else { return Some(()) };
        let end = self.window.len() - LAST_LITERALS;
        // There is nothing before the first place.
        let mut at = self.anchor.max(1);
        loop {
            let Some((found, earlier)) = self.next(at, ground, acceleration) else {
                return Some(());
            };
            at = found;
            let mut len =
                MIN_MATCH + common_len(self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
            let (mut start, distance) = (at, at - earlier);
            while start > self.anchor
                && start > distance
                && self.window[start - 1] == self.window[start - 1 - distance]
            {
                start -= 1;
            }
            block.sequence(self.anchor, start, distance, at + len - start)?;
            // Where one match ends, another often starts.
            loop {
                at += len;
                self.anchor = at;
                let (Some(before), Some(here)) = (ground.place(at - 2), ground.place(at)) else {
                    return Some(());
                };
                self.replace(before);
                let earlier = self.replace(here);
                if !Self::agrees(earlier, here) {
                    break;
                }
                len = MIN_MATCH + common_len(self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
                block.another(at - earlier, len)?;
            }
            at += 1;
        }
    }

    /// The next place from `at` on that matches an earlier one, and that one.
    #[inline(always)]
    fn next(
        &mut self,
        at: usize,
        ground: Ground<'_>,
        acceleration: usize,
    ) -> Option<(usize, usize)> {
        let mut probes = acceleration * PATIENCE;
        let mut step = 1;
        let mut next = ground.place(at)?;
        let mut next_hash = Self::hash(next);
        loop {
            let (here, hash) = (next, next_hash);
            next = ground.place(here.at() + step)?;
            step = probes / PATIENCE;
            probes += 1;
            // While this place waits for its candidate.
            next_hash = Self::hash(next);
            let earlier = self.places.replace(hash, here.at());
            if Self::agrees(earlier, here) {
                return Some((here.at(), earlier));
            }
        }
    }

    #[inline(always)]
    fn replace(&mut self, here: Place<'_>) -> usize {
        self.places.replace(Self::hash(here), here.at())
    }

    /// Whether there are the same four bytes, within reach.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "four bytes are wanted")]
    fn agrees(earlier: usize, here: Place<'_>) -> bool {
        // First what is foretold: in noise, the words never agree, and the reach is anyone's guess.
        here.word_at(earlier) as u32 == here.word() as u32
            && (!P::IS_LONG || here.at() - earlier <= MAX_DISTANCE as usize)
    }

    /// Of five bytes in long blocks: longer matches are found, and fewer that are too short to pay.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the upper half is what is wanted")]
    fn hash(here: Place<'_>) -> usize {
        let hash = if P::IS_LONG {
            ((here.word() << 24).wrapping_mul(889_523_592_379) >> 32) as u32
        } else {
            (here.word() as u32).wrapping_mul(0x9E37_79B1)
        };
        (hash >> (32 - P::BITS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use blosc_testdata::data::Kind;

    #[test]
    fn a_block_does_not_depend_on_those_before() {
        let mut used = Encoder::new(Level::DEFAULT, &[]);
        for len in
            [4096, 100, 8192, 4096, 8193, 5000, 70_000, 4096, 20_000, 300, 8192, 8192, 8000, 13]
        {
            for kind in Kind::ALL {
                let (plain, mut block, mut expected) =
                    (kind.bytes(len), vec![0; 2 * len], vec![0; 2 * len]);
                let size = used.compress(&plain, &mut block);
                assert_eq!(size, Encoder::new(Level::DEFAULT, &[]).compress(&plain, &mut expected));
                assert!(block == expected, "{} of {len} bytes", kind.name());
            }
        }
    }
}
