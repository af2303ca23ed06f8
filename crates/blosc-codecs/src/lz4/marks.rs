//! Single bytes of a block, without decoding what is before them.
//!
//! ```text
//! data    |---------|---------|---------|----x----|---------|      x: the byte that is wanted
//! marks   0         1         2         3 -->|                    sequences are followed from the mark before it;
//!              x' <---------- distance ------'                    a literal is the byte, a match is an earlier place,
//!         0 -->|                                                   for which the same is done
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use super::MIN_MATCH;

/// Places of a block from which its sequences can be followed, one for each 256 bytes of data; 512
/// if it is long.
///
/// ```
/// use blosc_codecs::{Level, lz4::{Encoder, Marks}};
///
/// let data = b"what a long text this is not ".repeat(100);
/// let mut block = vec![0; data.len()];
/// let len = Encoder::new(Level::DEFAULT, &[]).compress(&data, &mut block).unwrap();
/// block.truncate(len);
///
/// let marks = Marks::new(&block, data.len()).unwrap();
/// let byte = marks.byte::<()>(2000, &mut |at, dest| {
///     dest.copy_from_slice(&block[at..at + dest.len()]);
///     Ok(())
/// });
/// assert_eq!(byte, Ok(Some(data[2000])));
/// ```
#[derive(Clone, Debug)]
pub struct Marks {
    marks: Steps,
    /// Bytes of data from one mark to the next.
    step: usize,
    /// Bytes of the block, and of its data.
    len: usize,
    nbytes: usize,
}

/// Reads bytes of a block: from which one on, and to where.
pub type ReadBlock<'a, E> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<(), E>;

/// The last sequence that begins at or before a step.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Where it is in the block.
    at: u32,
    /// Where what it stands for begins in the data.
    done: u32,
}

/// Marks, in half as much memory where block and data are short.
#[derive(Clone, Debug)]
enum Steps {
    Short(Vec<[u16; 2]>),
    Long(Vec<Mark>),
}

impl Marks {
    /// Follows a block without a dictionary, of which `nbytes` bytes come. `None` if it is no such
    /// block: decoding it tells what is wrong.
    #[must_use]
    pub fn new(src: &[u8], nbytes: usize) -> Option<Self> {
        // No block makes more of a byte than 255.
        let most = src.len().saturating_mul(255);
        let is_short = src.len().max(nbytes) <= SHORT_BLOCK;
        let step = if is_short { STEP / 2 } else { STEP };
        let mut marks = Steps::with_capacity(is_short, nbytes.min(most).div_ceil(step));
        let (mut at, mut done) = (0, 0_usize);
        loop {
            let mark = Mark { at: u32::try_from(at).ok()?, done: u32::try_from(done).ok()? };
            let token = *src.get(at)?;
            let (nliterals, start) = length(token >> 4, at + 1, |at| src.get(at).copied())?;
            (at, done) = (start.checked_add(nliterals)?, done.checked_add(nliterals)?);
            let is_last = at == src.len();
            if !is_last {
                let distance = usize::from(u16::from_le_bytes([*src.get(at)?, *src.get(at + 1)?]));
                let (len, end) = length(token & 15, at + 2, |at| src.get(at).copied())?;
                if distance == 0 || distance > done {
                    return None;
                }
                (at, done) = (end, done.checked_add(len + MIN_MATCH)?);
            }
            if done > nbytes {
                return None;
            }
            while marks.len() * step < done {
                marks.push(mark)?;
            }
            if is_last {
                break;
            }
        }
        (done == nbytes).then_some(Self { marks, step, len: src.len(), nbytes })
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match &self.marks {
            Steps::Short(marks) => marks.capacity() * size_of::<[u16; 2]>(),
            Steps::Long(marks) => marks.capacity() * size_of::<Mark>(),
        }
    }

    /// A byte of the data. `read` reads the block, as it was. `None` if the way to the byte is too
    /// long, or the block is not what it was.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn byte<E>(&self, place: usize, read: ReadBlock<'_, E>) -> Result<Option<u8>, E> {
        let mut wanted = place;
        let mut window = Window { bytes: [0; WINDOW], range: 0..0 };
        for _ in 0..MOST_HOPS {
            let Some(mark) = self.marks.get(wanted / self.step).filter(|_| wanted < self.nbytes)
            else {
                break;
            };
            match self.follow(mark, wanted, &mut window, read)? {
                Some(Found::Byte(byte)) => return Ok(Some(byte)),
                Some(Found::At(earlier)) => wanted = earlier,
                None => break,
            }
        }
        Ok(None)
    }

    /// Follows the sequences from a mark to the one that gives a byte.
    fn follow<E>(
        &self,
        mark: Mark,
        wanted: usize,
        window: &mut Window,
        read: ReadBlock<'_, E>,
    ) -> Result<Option<Found>, E> {
        let (mut at, mut done) = (mark.at as usize, mark.done as usize);
        // Up to the sequence of the next mark, which may be the one.
        let next = self.marks.get(wanted / self.step + 1).map_or(self.len, |next| next.at as usize);
        window.fill(at..next.saturating_add(SHORT).min(self.len), self.len, read)?;
        loop {
            let Some(token) = window.byte(at, self.len, read)? else { return Ok(None) };
            let Some((nliterals, start)) = self.length(token >> 4, at + 1, window, read)? else {
                return Ok(None);
            };
            if wanted < done + nliterals {
                let byte = window.byte(start + (wanted - done), self.len, read)?;
                return Ok(byte.map(Found::Byte));
            }
            (at, done) = (start + nliterals, done + nliterals);
            let (low, high) =
                (window.byte(at, self.len, read)?, window.byte(at + 1, self.len, read)?);
            let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
            let distance = usize::from(u16::from_le_bytes([low, high]));
            let Some((len, end)) = self.length(token & 15, at + 2, window, read)? else {
                return Ok(None);
            };
            if distance == 0 || distance > done {
                return Ok(None);
            }
            let len = len + MIN_MATCH;
            if wanted < done + len {
                // Of a match that overlaps itself, what was there before it.
                return Ok(Some(Found::At(done - distance + (wanted - done) % distance)));
            }
            (at, done) = (end, done + len);
        }
    }

    fn length<E>(
        &self,
        nibble: u8,
        at: usize,
        window: &mut Window,
        read: ReadBlock<'_, E>,
    ) -> Result<Option<(usize, usize)>, E> {
        let mut failed = Ok(());
        let found = length(nibble, at, |at| {
            window.byte(at, self.len, read).unwrap_or_else(|error| {
                failed = Err(error);
                None
            })
        });
        failed.map(|()| found)
    }
}

impl Steps {
    fn with_capacity(is_short: bool, nmarks: usize) -> Self {
        if is_short {
            Self::Short(Vec::with_capacity(nmarks))
        } else {
            Self::Long(Vec::with_capacity(nmarks))
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Short(marks) => marks.len(),
            Self::Long(marks) => marks.len(),
        }
    }

    /// None if a place is behind what there can be.
    fn push(&mut self, mark: Mark) -> Option<()> {
        match self {
            Self::Short(marks) => {
                marks.push([mark.at.try_into().ok()?, mark.done.try_into().ok()?])
            }
            Self::Long(marks) => marks.push(mark),
        }
        Some(())
    }

    fn get(&self, nmark: usize) -> Option<Mark> {
        match self {
            Self::Short(marks) => {
                marks.get(nmark).map(|&[at, done]| Mark { at: at.into(), done: done.into() })
            }
            Self::Long(marks) => marks.get(nmark).copied(),
        }
    }
}

/// What a sequence gives.
enum Found {
    Byte(u8),
    /// The same byte as at an earlier place.
    At(usize),
}

/// A part of the block.
struct Window {
    bytes: [u8; WINDOW],
    /// Which one; it is at the start of `bytes`.
    range: Range<usize>,
}

impl Window {
    /// Reads the first bytes of a part, if they are not here, of a block of `len` bytes.
    fn fill<E>(
        &mut self,
        wanted: Range<usize>,
        len: usize,
        read: ReadBlock<'_, E>,
    ) -> Result<(), E> {
        if self.range.start <= wanted.start && wanted.end <= self.range.end {
            return Ok(());
        }
        // Who went back a little will go on so.
        let is_near = (1..BACK).contains(&self.range.start.saturating_sub(wanted.start));
        let range = if len <= WINDOW {
            0..len
        } else {
            let start = wanted.start.saturating_sub(if is_near { BACK } else { 0 });
            start..wanted.end.min(wanted.start.saturating_add(MOST))
        };
        // Nothing is here if that fails.
        self.range = 0..0;
        read(range.start, self.bytes.get_mut(..range.len()).unwrap_or_default())?;
        self.range = range;
        Ok(())
    }

    /// A byte of a block of `len` bytes; none behind it.
    fn byte<E>(&mut self, at: usize, len: usize, read: ReadBlock<'_, E>) -> Result<Option<u8>, E> {
        if at >= len {
            return Ok(None);
        }
        if !self.range.contains(&at) {
            self.fill(at..len.min(at.saturating_add(SHORT)), len, read)?;
        }
        Ok(self.bytes.get(at - self.range.start).copied())
    }
}

/// A length whose first four bits are `nibble`, and what follows its further bytes.
#[inline]
fn length(
    nibble: u8,
    mut at: usize,
    mut byte: impl FnMut(usize) -> Option<u8>,
) -> Option<(usize, usize)> {
    let mut len = usize::from(nibble);
    if nibble < 15 {
        return Some((len, at));
    }
    loop {
        let more = byte(at)?;
        (len, at) = (len + usize::from(more), at + 1);
        if more != u8::MAX {
            return Some((len, at));
        }
    }
}

/// Bytes of data from one mark to the next in long blocks.
const STEP: usize = 512;
/// Of no more than these, and no more data, half as many bytes tell a place.
const SHORT_BLOCK: usize = 1 << 16;

/// Bytes of the block that are kept; one that is no longer is read as a whole.
const WINDOW: usize = BACK + MOST;

/// Bytes that are read from a mark on: mostly those up to the next.
const MOST: usize = 768;

/// Bytes that are read before a mark where matches lead back by little.
const BACK: usize = 1280;

/// Bytes that are read where few are needed, as of the sequence at a mark.
const SHORT: usize = 128;

/// Matches that lead to matches; behind so many, decoding is as fast.
const MOST_HOPS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, lz4};
    use alloc::vec;

    fn compress(data: &[u8]) -> Vec<u8> {
        let mut block = vec![0; lz4::max_compressed_len(data.len())];
        let len = lz4::Encoder::new(Level::DEFAULT, &[]).compress(data, &mut block).unwrap();
        block.truncate(len);
        block
    }

    /// Reads a block in memory, and counts how often.
    fn byte(marks: &Marks, block: &[u8], place: usize, reads: &mut usize) -> Option<u8> {
        let read = &mut |at: usize, dest: &mut [u8]| {
            *reads += 1;
            dest.copy_from_slice(block.get(at..at + dest.len()).ok_or(())?);
            Ok(())
        };
        marks.byte::<()>(place, read).unwrap()
    }

    /// Noise with repetitions, near ones and far ones.
    fn data(nbytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut data = Vec::new();
        while data.len() < nbytes {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (kind, len) = (state >> 30, (state >> 20 & 63) as usize + 4);
            let back = (state >> 8 & 0xfff) as usize + 1;
            for n in 0..len {
                match data.len().checked_sub(back) {
                    Some(from) if kind > 0 => data.push(data[from]),
                    _ => data.push((state >> (n % 24)).to_le_bytes()[0] ^ n.to_le_bytes()[0]),
                }
            }
        }
        data.truncate(nbytes);
        data
    }

    #[test]
    fn every_byte_is_that_of_the_data() {
        for data in
            [data(10_000), vec![7; 3000], (0..=255).cycle().take(5000).collect(), data(13), vec![]]
        {
            let block = compress(&data);
            let marks = Marks::new(&block, data.len()).unwrap();
            for (place, expected) in data.iter().enumerate() {
                if let Some(found) = byte(&marks, &block, place, &mut 0) {
                    assert_eq!(found, *expected, "{place} of {}", data.len());
                } else {
                    // A long chain: rare even here.
                    assert!(data.len() == 10_000);
                }
            }
            assert_eq!(byte(&marks, &block, data.len(), &mut 0), None);
            assert!(marks.capacity() <= data.len() / 32 + 16);
        }
    }

    #[test]
    fn little_is_read_of_long_runs() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..50_000).map(|_| next()).collect();
        let block = compress(&noise);
        let marks = Marks::new(&block, noise.len()).unwrap();
        let mut reads = 0;
        assert_eq!(byte(&marks, &block, 40_000, &mut reads), Some(noise[40_000]));
        assert!(reads <= 3, "{reads}");
    }

    #[test]
    fn what_is_no_block_has_no_marks() {
        let data = data(2000);
        let block = compress(&data);
        assert!(Marks::new(&block, 1999).is_none() && Marks::new(&block, 2001).is_none());
        for len in 0..block.len() {
            assert!(Marks::new(&block[..len], 2000).is_none(), "{len}");
        }
        // An empty stream, and one that ends with a match.
        assert!(Marks::new(&[], 0).is_none() && Marks::new(&[0], 0).is_some());
        assert!(
            Marks::new(&[0x10, 1, 1, 0], 5).is_none()
                && Marks::new(&[0x10, 1, 1, 0, 0], 5).is_some()
        );
        // A distance of 0, and one before the start.
        assert!(Marks::new(&[0x10, 1, 0, 0, 0x50, 1, 2, 3, 4, 5], 10).is_none());
        assert!(Marks::new(&[0x10, 1, 2, 0, 0x50, 1, 2, 3, 4, 5], 10).is_none());
        assert!(Marks::new(&[0x10, 1, 1, 0, 0x50, 1, 2, 3, 4, 5], 10).is_some());
    }

    #[test]
    fn a_block_that_was_changed_ends_somewhere() {
        let data = data(4000);
        let block = compress(&data);
        let marks = Marks::new(&block, data.len()).unwrap();
        for change in 0..block.len() {
            for value in [0, 0xff, block[change] ^ 0x10] {
                let mut changed = block.clone();
                changed[change] = value;
                byte(&marks, &changed, data.len() - 1 - change % 500, &mut 0);
            }
        }
        let cut = &mut |_: usize, _: &mut [u8]| Err("cut");
        assert_eq!(marks.byte(7, cut), Err("cut"));
    }

    #[test]
    fn chains_that_are_too_long_are_given_up() {
        // Matches of four bytes that each repeat the four before them.
        let mut block = vec![0x40, 1, 2, 3, 4];
        (0..1000).for_each(|_| block.extend([4, 0, 0x00]));
        block.truncate(block.len() - 1);
        block.extend([0x50, 1, 2, 3, 4, 5]);
        let marks = Marks::new(&block, 4 + 4000 + 5).unwrap();
        assert_eq!(byte(&marks, &block, 41, &mut 0), Some(2));
        assert_eq!(byte(&marks, &block, 3999, &mut 0), None);
        assert_eq!(byte(&marks, &block, 4005, &mut 0), Some(2));
    }
}
