//! The thorough search: chains of all earlier places with the same four bytes, walked up to a depth that the level
//! sets.

use alloc::{boxed::Box, vec, vec::Vec};

use super::{LAST_LITERALS, MATCH_LIMIT, MAX_DISTANCE, MAX_INPUT, MIN_MATCH, encode::Block};
use crate::{
    BlockEncoder, Error, Level,
    lz::{Room, common_len, load32},
};

/// Bits of the hash.
const HASH_BITS: u32 = 15;
/// The chains remember so many places.
const CHAIN: usize = 1 << 16;

/// Compresses blocks thoroughly; keeps its tables and dictionary between them.
pub struct HcEncoder {
    /// One more than the last position, by hash.
    heads: Box<[u32]>,
    /// One more than the position before, by position modulo the table's length.
    chain: Box<[u32]>,
    depth: usize,
    /// The dictionary, then the input of the moment.
    window: Vec<u8>,
    dict_len: usize,
}

/// A match: where it starts, what it repeats, how long it is.
#[derive(Clone, Copy)]
struct Match {
    at: usize,
    earlier: usize,
    len: usize,
}

impl HcEncoder {
    /// An encoder that looks at up to `2^(level - 1)` places for each match.
    pub fn new(level: Level, dict: &[u8]) -> Self {
        let dict = &dict[dict.len().saturating_sub(MAX_DISTANCE)..];
        Self {
            heads: vec![0; 1 << HASH_BITS].into_boxed_slice(),
            chain: vec![0; CHAIN].into_boxed_slice(),
            depth: 1 << (level.effort().max(3) - 1),
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

    fn search(&mut self, window: &[u8], start: usize, dest: &mut [u8]) -> Option<usize> {
        let mut block = Block { out: Room::new(dest) };
        self.heads.fill(0);
        let limit = window.len().saturating_sub(MATCH_LIMIT);
        let (mut at, mut anchor, mut known) = (start, start, 0);
        while at <= limit && limit > start {
            let Some(mut best) = self.find(window, at, anchor, &mut known) else {
                at += 1;
                continue;
            };
            while known < limit {
                // A widened match begins before the place it was found at; the search goes on after that place.
                match self.find(window, known + 1, anchor, &mut known) {
                    Some(next) if next.len > best.len + 1 => best = next,
                    _ => break,
                }
            }
            block.sequence(&window[anchor..best.at], best.at - best.earlier, best.len)?;
            at = best.at + best.len;
            anchor = at;
        }
        block.finish(&window[anchor..])
    }

    /// The longest match at `at`, after all positions before it are in the chains.
    fn find(&mut self, window: &[u8], at: usize, anchor: usize, known: &mut usize) -> Option<Match> {
        while *known < at {
            self.insert(window, *known);
            *known += 1;
        }
        let word = load32(window, at);
        let mut next = self.heads[hash(word)];
        let mut best: Option<Match> = None;
        for _ in 0..self.depth {
            let Some(earlier) = (next as usize).checked_sub(1) else { break };
            if at - earlier > MAX_DISTANCE {
                break;
            }
            if load32(window, earlier) == word {
                let len = MIN_MATCH
                    + common_len(window, earlier + MIN_MATCH, at + MIN_MATCH, window.len() - LAST_LITERALS);
                if best.is_none_or(|b| len > b.len) {
                    best = Some(Match { at, earlier, len });
                }
            }
            let before = self.chain[earlier % CHAIN];
            if before >= next {
                break;
            }
            next = before;
        }
        best.map(|m| widen(window, m, anchor))
    }

    #[allow(clippy::cast_possible_truncation, reason = "the window is shorter than 2 GiB")]
    fn insert(&mut self, window: &[u8], at: usize) {
        let head = &mut self.heads[hash(load32(window, at))];
        self.chain[at % CHAIN] = core::mem::replace(head, at as u32 + 1);
    }
}

impl BlockEncoder for HcEncoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }
}

/// Lets a match begin earlier, down to `anchor`, where the bytes agree.
fn widen(window: &[u8], mut m: Match, anchor: usize) -> Match {
    while m.at > anchor && m.earlier > 0 && window[m.at - 1] == window[m.earlier - 1] {
        m.at -= 1;
        m.earlier -= 1;
        m.len += 1;
    }
    m
}

#[inline(always)]
fn hash(word: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - HASH_BITS)) as usize
}
