//! Encoding: a greedy search over a hash table of 4-byte words.

use alloc::{boxed::Box, vec};

use super::{FAR_BASE, MAX_NEAR, MAX_RUN};
use crate::{
    BlockEncoder, Error, Level,
    lz::{Room, common_len, load32},
};

/// Farthest match that any encoder has written.
const MAX_DISTANCE: usize = 73_724;
/// Shortest matches that pay: a near one takes two bytes, a far one four, and either may end a literal run.
const MIN_NEAR: usize = 5;
const MIN_FAR: usize = 7;
/// No match starts in the last bytes of the input.
const TAIL: usize = 8;

/// Compresses streams; keeps its table between them.
pub struct Encoder {
    /// Positions by hash.
    table: Box<[u32]>,
    bits: u32,
}

impl Encoder {
    /// An encoder of this effort.
    pub fn new(level: Level) -> Self {
        let bits = match level.effort() {
            1 => 13,
            _ => 14,
        };
        Self { table: vec![0; 1 << bits].into_boxed_slice(), bits }
    }

    /// Compresses `src` to the start of `dest`; the length of the stream, or `None` when it does not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        u32::try_from(src.len()).ok()?;
        let mut stream = Stream { out: Room::new(dest), src };
        self.table.fill(0);
        let mut anchor = 0;
        let mut at = 1;
        let mut misses = 0;
        while at + TAIL < src.len() {
            let Some((start, earlier, len)) = self.find(src, anchor, at) else {
                at += 1 + (misses >> 6);
                misses += 1;
                continue;
            };
            stream.literals(anchor, start)?;
            stream.repeat(start - earlier, len)?;
            misses = 0;
            anchor = start + len;
            at = anchor;
        }
        stream.literals(anchor, src.len())?;
        stream.finish()
    }

    /// A match worth having that covers `at`: where it starts, what it repeats, how long it is.
    fn find(&mut self, src: &[u8], anchor: usize, at: usize) -> Option<(usize, usize, usize)> {
        let word = load32(src, at);
        let slot = &mut self.table[hash(word, self.bits)];
        let earlier = *slot as usize;
        #[allow(clippy::cast_possible_truncation, reason = "`compress` took only inputs below 4 GiB")]
        {
            *slot = at as u32;
        }
        if earlier >= at || at - earlier > MAX_DISTANCE || load32(src, earlier) != word {
            return None;
        }
        // The stream ends with a literal, and starts with one.
        let mut len = 4 + common_len(src, earlier + 4, at + 4, src.len() - 1);
        let mut back = 0;
        while at - back > anchor.max(1) && earlier > back && src[at - back - 1] == src[earlier - back - 1] {
            back += 1;
        }
        len += back;
        let min = if at - earlier > MAX_NEAR { MIN_FAR } else { MIN_NEAR };
        (len >= min).then_some((at - back, earlier - back, len))
    }
}

impl BlockEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }
}

#[inline(always)]
fn hash(word: u32, bits: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// The instructions written so far.
struct Stream<'a> {
    src: &'a [u8],
    out: Room<'a>,
}

impl Stream<'_> {
    fn literals(&mut self, from: usize, to: usize) -> Option<()> {
        for run in self.src[from..to].chunks(MAX_RUN) {
            #[allow(clippy::cast_possible_truncation, reason = "a run has 1 to 32 bytes")]
            self.out.byte(run.len() as u8 - 1)?;
            self.out.bytes(run)?;
        }
        Some(())
    }

    #[allow(clippy::cast_possible_truncation, reason = "each value is below its field's bound")]
    fn repeat(&mut self, distance: usize, len: usize) -> Option<()> {
        let (high, low) = match distance {
            ..=MAX_NEAR => ((distance - 1) >> 8, (distance - 1) as u8),
            _ => (31, u8::MAX),
        };
        if len < 9 {
            self.out.byte((((len - 2) << 5) | high) as u8)?;
        } else {
            self.out.byte((7 << 5 | high) as u8)?;
            let mut rest = len - 9;
            while rest >= 255 {
                self.out.byte(255)?;
                rest -= 255;
            }
            self.out.byte(rest as u8)?;
        }
        self.out.byte(low)?;
        if distance > MAX_NEAR {
            self.out.bytes(&((distance - FAR_BASE) as u16).to_be_bytes())?;
        }
        Some(())
    }

    fn finish(mut self) -> Option<usize> {
        // The mark of the first control byte.
        *self.out.written().first_mut()? |= 0x20;
        Some(self.out.len())
    }
}
