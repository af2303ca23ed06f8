//! The fast search: one hash table, one candidate, and a step that grows where nothing matches.

use alloc::{boxed::Box, vec, vec::Vec};

use super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MAX_INPUT, MIN_MATCH};
use crate::{
    BlockEncoder, Error, Level,
    lz::{Room, common_len, load32},
};

/// Bits of the hash.
const HASH_BITS: u32 = 13;

/// Compresses blocks; keeps its table and dictionary between them.
pub struct Encoder {
    /// Positions by hash.
    table: Box<[u32]>,
    acceleration: usize,
    /// The dictionary, then the input of the moment; empty when there is no dictionary.
    window: Vec<u8>,
    dict_len: usize,
}

impl Encoder {
    /// An encoder of acceleration `10 - level`. Of the dictionary, the last 64 KiB count.
    pub fn new(level: Level, dict: &[u8]) -> Self {
        let dict = &dict[dict.len().saturating_sub(MAX_DISTANCE)..];
        Self {
            table: vec![0; 1 << HASH_BITS].into_boxed_slice(),
            acceleration: usize::from(10 - level.effort()),
            window: dict.to_vec(),
            dict_len: dict.len(),
        }
    }

    /// Compresses `src` to the start of `dest`; the length of the block, or `None` when it does not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        if self.dict_len == 0 {
            return self.search(src, 0, dest);
        }
        let mut window = core::mem::take(&mut self.window);
        window.truncate(self.dict_len);
        window.extend_from_slice(src);
        let len = self.search(&window, self.dict_len, dest);
        self.window = window;
        len
    }

    /// Compresses `window[start..]`; matches may begin before.
    #[allow(clippy::cast_possible_truncation, reason = "the window is shorter than 2 GiB")]
    fn search(&mut self, window: &[u8], start: usize, dest: &mut [u8]) -> Option<usize> {
        let mut block = Block { out: Room::new(dest) };
        let mut anchor = start;
        self.table.fill(0);
        for at in (0..start.saturating_sub(3)).step_by(3) {
            self.table[hash(load32(window, at))] = at as u32;
        }
        let limit = window.len().saturating_sub(MATCH_LIMIT);
        let mut at = start + usize::from(start == 0);
        let mut probes = self.acceleration << 6;
        while at <= limit && limit > start {
            let word = load32(window, at);
            let slot = &mut self.table[hash(word)];
            let mut earlier = core::mem::replace(slot, at as u32) as usize;
            if earlier >= at || at - earlier > MAX_DISTANCE || load32(window, earlier) != word {
                at += probes >> 6;
                probes += 1;
                continue;
            }
            let mut len = MIN_MATCH
                + common_len(window, earlier + MIN_MATCH, at + MIN_MATCH, window.len() - LAST_LITERALS);
            while at > anchor && earlier > 0 && window[at - 1] == window[earlier - 1] {
                at -= 1;
                earlier -= 1;
                len += 1;
            }
            block.sequence(&window[anchor..at], at - earlier, len)?;
            at += len;
            anchor = at;
            probes = self.acceleration << 6;
            if at <= limit {
                self.table[hash(load32(window, at - 2))] = (at - 2) as u32;
            }
        }
        block.finish(&window[anchor..])
    }
}

impl BlockEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }
}

#[inline(always)]
fn hash(word: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - HASH_BITS)) as usize
}

/// The sequences written so far.
pub(super) struct Block<'a> {
    pub(super) out: Room<'a>,
}

impl Block<'_> {
    /// Literals, then a match.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "distances are below 65536")]
    pub(super) fn sequence(&mut self, literals: &[u8], distance: usize, len: usize) -> Option<()> {
        self.literals(literals, nibble(len - MIN_MATCH))?;
        self.out.bytes(&(distance as u16).to_le_bytes())?;
        self.rest(len - MIN_MATCH)
    }

    /// The last literals; the length of the block.
    pub(super) fn finish(mut self, literals: &[u8]) -> Option<usize> {
        self.literals(literals, 0)?;
        Some(self.out.len())
    }

    #[inline(always)]
    fn literals(&mut self, literals: &[u8], low: u8) -> Option<()> {
        self.out.byte(nibble(literals.len()) << 4 | low)?;
        self.rest(literals.len())?;
        self.out.bytes(literals)
    }

    /// What of a length does not go into the token.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the last byte is below 255")]
    fn rest(&mut self, len: usize) -> Option<()> {
        let Some(mut rest) = len.checked_sub(15) else { return Some(()) };
        while rest >= 255 {
            self.out.byte(255)?;
            rest -= 255;
        }
        self.out.byte(rest as u8)
    }
}

/// What of a length goes into the token.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "at most 15")]
fn nibble(len: usize) -> u8 {
    len.min(15) as u8
}
