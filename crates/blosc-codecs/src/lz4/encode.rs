//! The fast search of LZ4: one hash table, one candidate, skip acceleration.
//!
//! This is the algorithm of `LZ4_compress_fast` in LZ4 1.10. The blocks are byte-identical, except
//! that no match starts at the last position where LZ4 would allow one:
//!
//! * *Hash table, one candidate.* Four bytes (five in long blocks) are hashed; each slot holds the
//!   last position with that hash. No chains are followed.
//! * *Greedy parsing.* The first match is taken, and extended backwards over pending literals.
//!   Right after a match the next one is tried at once, as one often follows another without
//!   literals.
//! * *Skip acceleration.* The step between probes starts at the acceleration, `10 - clevel`, and
//!   grows by one after every [`SKIP_TRIGGER`] misses (`LZ4_skipTrigger`), so that incompressible
//!   data is soon crossed.
//! * *Software pipelining.* The hash of the next position is computed while this one waits for its
//!   candidate.
//! * *Two loops.* After [`NEAR_PROBES`] misses a search continues in a loop for noise.
//!
//! Three kinds of tables share 16 KiB each, half of a first-level cache. A block that is shorter
//! than [`LONG_NBYTES`] has positions of two bytes, and all are within reach. A longer one has half
//! as many slots, of four bytes. Blocks up to [`TINY_NBYTES`] count positions across blocks, so
//! that the table is cleared for at most one in 64 of them; the others clear it.
//!
//! `docs/performance/lz4.md` has the reasons for the numbers, and the attempts that failed.

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use alloc::boxed::Box;

use super::{
    LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MAX_INPUT, MIN_MATCH, Window, sequence::BlockWriter,
};
use crate::{
    EncodeOptions, Error, Simd, StreamEncoder,
    lz::{
        compare::common_len,
        cursor::{BoundedSlice, Cursor},
    },
};

/// Slots of the table for short blocks, twice those of the table for long ones.
const SLOTS: usize = 1 << 13;
/// The shortest long block (bytes). In shorter ones, all positions where a match may start are
/// within reach of each other, and four bytes are hashed.
const LONG_NBYTES: usize = (1 << 16) + MATCH_LIMIT - 1;
/// The longest block whose positions continue those of the block before (bytes).
const TINY_NBYTES: usize = 1 << 10;
/// Misses after which the step between probes grows by one (bytes).
const SKIP_TRIGGER: usize = 64;
/// Probes after which a search continues in a separate loop.
const NEAR_PROBES: usize = 16;
/// Every third position of a dictionary is put into the table.
const DICT_STEP: usize = 3;

/// Compresses blocks; keeps its tables and dictionary between them.
pub(super) struct Encoder {
    short: Box<[u16; SLOTS]>,
    long: Box<[u32; SLOTS / 2]>,
    /// First position of the next tiny block.
    next: usize,
    acceleration: usize,
    window: Window,
    simd: Simd,
}

impl Encoder {
    /// An encoder of acceleration `10 - clevel`. The last 64 KiB of the dictionary are used.
    pub(super) fn new(options: &EncodeOptions<'_>) -> Self {
        Self {
            short: Box::new([0; SLOTS]),
            long: Box::new([0; SLOTS / 2]),
            next: 0,
            acceleration: usize::from(10 - options.clevel.effective()),
            window: Window::new(options.dict.unwrap_or_default()),
            simd: options.simd,
        }
    }

    /// Compresses `src` to the start of `dest`; returns the length of the block, or `None` if the
    /// block does not fit.
    fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (window, anchor) = self.window.append(src);
        let (simd, writer) = (self.simd, BlockWriter::new(window, dest));
        if window.len() <= TINY_NBYTES {
            let table = &mut TinyTable::new(&mut self.short, &mut self.next, window.len());
            Search { window, table, anchor, simd }.compress(self.acceleration, writer)
        } else if window.len() < LONG_NBYTES {
            self.short.fill(0);
            self.next = usize::MAX;
            Search { window, table: &mut *self.short, anchor, simd }
                .compress(self.acceleration, writer)
        } else {
            self.long.fill(0);
            Search { window, table: &mut *self.long, anchor, simd }
                .compress(self.acceleration, writer)
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

/// The last position of each hash; initially 0, as no match uses the first position.
trait PositionTable {
    /// Whether positions may be out of reach.
    const IS_LONG: bool;
    /// Bits of a hash.
    const HASH_BITS: u32;

    /// Stores `at` in the slot of this hash; returns the position that it replaces.
    fn replace(&mut self, hash: usize, at: usize) -> usize;
}

impl PositionTable for [u16; SLOTS] {
    const IS_LONG: bool = false;
    const HASH_BITS: u32 = SLOTS.trailing_zeros();

    #[inline(always)]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        usize::from(core::mem::replace(&mut self[hash % SLOTS], at as u16))
    }
}

/// The table of tiny blocks. Positions continue from block to block, so that entries of earlier
/// blocks are below `base` and count as empty.
struct TinyTable<'a> {
    slots: &'a mut [u16; SLOTS],
    /// The entry for position 0.
    base: u16,
}

impl<'a> TinyTable<'a> {
    /// A table for a block of `len` bytes.
    fn new(slots: &'a mut [u16; SLOTS], next: &mut usize, len: usize) -> Self {
        let fits = u16::try_from(next.saturating_add(len)).is_ok();
        let base = u16::try_from(*next).ok().filter(|_| fits).unwrap_or_else(|| {
            slots.fill(0);
            0
        });
        *next = usize::from(base) + len;
        Self { slots, base }
    }
}

impl PositionTable for TinyTable<'_> {
    const IS_LONG: bool = false;
    const HASH_BITS: u32 = SLOTS.trailing_zeros();

    #[inline(always)]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        let now = self.base.wrapping_add(at as u16);
        // In 32 bits, since 16-bit arithmetic takes further instructions.
        let before = u32::from(core::mem::replace(&mut self.slots[hash % SLOTS], now));
        before.saturating_sub(u32::from(self.base)) as usize
    }
}

impl PositionTable for [u32; SLOTS / 2] {
    const IS_LONG: bool = true;
    const HASH_BITS: u32 = (SLOTS / 2).trailing_zeros();

    #[inline(always)]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        core::mem::replace(&mut self[hash % (SLOTS / 2)], at as u32) as usize
    }
}

struct Search<'a, P> {
    /// The dictionary, then the input.
    window: &'a [u8],
    table: &'a mut P,
    /// Start of the pending literals.
    anchor: usize,
    simd: Simd,
}

impl<P: PositionTable> Search<'_, P> {
    fn compress(mut self, acceleration: usize, mut writer: BlockWriter<'_>) -> Option<usize> {
        self.insert_dict(self.anchor);
        self.run(acceleration, &mut writer)?;
        writer.finish(self.anchor)
    }

    /// Puts positions of the dictionary into the table.
    fn insert_dict(&mut self, dict_len: usize) {
        let Some(slice) = BoundedSlice::new(self.window, dict_len) else { return };
        let positions = (0..dict_len.saturating_sub(8)).step_by(DICT_STEP);
        for here in positions.map_while(|at| slice.cursor(at)) {
            self.replace(here);
        }
    }

    fn run(&mut self, acceleration: usize, writer: &mut BlockWriter<'_>) -> Option<()> {
        let Some(limit) = self.window.len().checked_sub(MATCH_LIMIT) else { return Some(()) };
        let Some(slice) = BoundedSlice::new(self.window, limit) else { return Some(()) };
        let end = self.window.len() - LAST_LITERALS;
        // Nothing precedes the first position.
        let mut at = self.anchor.max(1);
        loop {
            let Some((found, earlier)) = self.find_next(at, slice, acceleration) else {
                return Some(());
            };
            at = found;
            let mut len = MIN_MATCH
                + common_len(self.simd, self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
            let (mut start, distance) = (at, at - earlier);
            while start > self.anchor
                && start > distance
                && self.window[start - 1] == self.window[start - 1 - distance]
            {
                start -= 1;
            }
            writer.push_sequence(self.anchor, start, distance, at + len - start)?;
            // Where one match ends, another often starts.
            loop {
                at += len;
                self.anchor = at;
                let (Some(before), Some(here)) = (slice.cursor(at - 2), slice.cursor(at)) else {
                    return Some(());
                };
                self.replace(before);
                let earlier = self.replace(here);
                if !Self::is_match(earlier, here) {
                    break;
                }
                len = MIN_MATCH
                    + common_len(self.simd, self.window, earlier + MIN_MATCH, at + MIN_MATCH, end);
                writer.push_match(at - earlier, len)?;
            }
            at += 1;
        }
    }

    /// The next position from `at` on that matches an earlier one, and the earlier one.
    #[inline(always)]
    fn find_next(
        &mut self,
        at: usize,
        slice: BoundedSlice<'_>,
        acceleration: usize,
    ) -> Option<(usize, usize)> {
        let near = slice.shortened(at + acceleration * NEAR_PROBES);
        let mut skip = acceleration * SKIP_TRIGGER;
        let mut step = 1;
        let mut next = near.cursor(at)?;
        let mut next_hash = Self::hash(next);
        loop {
            let (here, hash) = (next, next_hash);
            let Some(after) = near.cursor(here.position() + step) else {
                return self.find_far(here.position(), slice, step, skip);
            };
            next = after;
            step = skip / SKIP_TRIGGER;
            skip += 1;
            // Computed while this position waits for its candidate.
            next_hash = Self::hash(next);
            let earlier = self.table.replace(hash, here.position());
            if Self::is_match(earlier, here) {
                return Some((here.position(), earlier));
            }
        }
    }

    /// [`find_next`](Self::find_next) after many misses: from `at`, with the next step and the skip
    /// counter for the step after it. It is a separate function because a loop with fewer values
    /// keeps all of them in registers; noise consists of these misses.
    #[inline(never)]
    fn find_far(
        &mut self,
        at: usize,
        slice: BoundedSlice<'_>,
        mut step: usize,
        mut skip: usize,
    ) -> Option<(usize, usize)> {
        let mut nprobes = 1;
        let mut next = slice.cursor(at)?;
        let mut next_hash = Self::hash(next);
        loop {
            for _ in 0..nprobes {
                let (here, hash) = (next, next_hash);
                next = slice.cursor(here.position() + step)?;
                next_hash = Self::hash(next);
                let earlier = self.table.replace(hash, here.position());
                if Self::is_match(earlier, here) {
                    return Some((here.position(), earlier));
                }
            }
            // All probes with the same step.
            step = skip / SKIP_TRIGGER;
            nprobes = SKIP_TRIGGER - skip % SKIP_TRIGGER;
            skip += nprobes;
        }
    }

    #[inline(always)]
    fn replace(&mut self, here: Cursor<'_>) -> usize {
        self.table.replace(Self::hash(here), here.position())
    }

    /// Whether the four bytes are equal, and within reach.
    #[inline(always)]
    fn is_match(earlier: usize, here: Cursor<'_>) -> bool {
        // The predictable test comes first: in incompressible data words never agree, while the
        // reach is unpredictable.
        here.word_at(earlier) as u32 == here.word() as u32
            && (!P::IS_LONG || here.position() - earlier <= MAX_DISTANCE as usize)
    }

    /// Hash of five bytes in long blocks: it finds longer matches, and fewer that are too short to
    /// pay.
    #[inline(always)]
    fn hash(here: Cursor<'_>) -> usize {
        let hash = if P::IS_LONG {
            ((here.word() << 24).wrapping_mul(889_523_592_379) >> 32) as u32
        } else {
            (here.word() as u32).wrapping_mul(0x9E37_79B1)
        };
        (hash >> (32 - P::HASH_BITS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use blosc_testdata::data::Kind;

    #[test]
    fn a_block_does_not_depend_on_those_before() {
        let new = || Encoder::new(&EncodeOptions::default());
        let mut used = new();
        for len in
            [2048, 100, 2048, 1024, 2049, 5000, 70_000, 2048, 20_000, 300, 2048, 2048, 2000, 13]
        {
            for kind in Kind::ALL {
                let (plain, mut block, mut expected) =
                    (kind.bytes(len), vec![0; 2 * len], vec![0; 2 * len]);
                let size = used.compress(&plain, &mut block);
                assert_eq!(size, new().compress(&plain, &mut expected));
                assert!(block == expected, "{} of {len} bytes", kind.name());
            }
        }
    }
}
