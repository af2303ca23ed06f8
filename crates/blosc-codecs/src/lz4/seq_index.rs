//! Random access to single bytes of a block, by an index of its sequences (seek points, as zlib's
//! `zran` keeps for deflate).
//!
//! ```text
//! data    |---------|---------|---------|----x----|---------|   x: the byte that is wanted
//! points  0         1         2         3 -->|                 follow sequences from the point before it;
//!              x' <---------- distance ------'                 a literal is the byte, a match gives an
//!         0 -->|                                                earlier position, for which the same is done
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use super::MIN_MATCH;

/// Seek points of a block: sequences from which decoding can start, one for each 256 bytes of data,
/// or each 512 in long blocks.
///
/// ```
/// use blosc_codecs::{CodecId, EncodeOptions, Registry, internal::SeqIndex};
///
/// let data = b"what a long text this is not ".repeat(100);
/// let mut block = vec![0; data.len()];
/// let registry = Registry::builtin();
/// let mut encoder = registry.require(CodecId::LZ4)?.new_encoder(&EncodeOptions::default())?;
/// let len = encoder.encode(&data, &mut block)?.unwrap();
/// block.truncate(len);
///
/// let index = SeqIndex::new(&block, data.len()).unwrap();
/// let byte = index.read_byte::<()>(2000, &mut |at, dest| {
///     dest.copy_from_slice(&block[at..at + dest.len()]);
///     Ok(())
/// });
/// assert_eq!(byte, Ok(Some(data[2000])));
/// # Ok::<(), blosc_codecs::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeqIndex {
    points: SeekPoints,
    /// Bytes of data from one point to the next.
    step: usize,
    /// Bytes of the block.
    len: usize,
    /// Bytes of its data.
    nbytes: usize,
}

/// Reads bytes of a block: the position of the first byte, and the destination.
pub type ReadBlock<'a, E> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<(), E>;

/// The last sequence that begins at or before a multiple of the step.
#[derive(Clone, Copy, Debug)]
struct SeekPoint {
    /// Its position in the block.
    at: u32,
    /// The position in the data of the first byte that it makes.
    done: u32,
}

/// Seek points, in half as much memory where block and data are short.
#[derive(Clone, Debug)]
enum SeekPoints {
    Short(Vec<[u16; 2]>),
    Long(Vec<SeekPoint>),
}

impl SeqIndex {
    /// Follows all sequences of a block without a dictionary that decodes to `nbytes` bytes. `None`
    /// if it is no such block: decoding it tells what is wrong.
    #[must_use]
    pub fn new(src: &[u8], nbytes: usize) -> Option<Self> {
        // A byte of a block makes at most 255 bytes of data.
        let max_nbytes = src.len().saturating_mul(255);
        let is_short = src.len().max(nbytes) <= SHORT_BLOCK_NBYTES;
        let step = if is_short { POINT_STEP_NBYTES / 2 } else { POINT_STEP_NBYTES };
        let mut points = SeekPoints::with_capacity(is_short, nbytes.min(max_nbytes).div_ceil(step));
        let (mut at, mut done) = (0, 0_usize);
        loop {
            let point = SeekPoint { at: u32::try_from(at).ok()?, done: u32::try_from(done).ok()? };
            let token = *src.get(at)?;
            let (nliterals, start) = read_length(token >> 4, at + 1, |at| src.get(at).copied())?;
            (at, done) = (start.checked_add(nliterals)?, done.checked_add(nliterals)?);
            let is_last = at == src.len();
            if !is_last {
                let distance = usize::from(u16::from_le_bytes([*src.get(at)?, *src.get(at + 1)?]));
                let (len, end) = read_length(token & 15, at + 2, |at| src.get(at).copied())?;
                if distance == 0 || distance > done {
                    return None;
                }
                (at, done) = (end, done.checked_add(len + MIN_MATCH)?);
            }
            if done > nbytes {
                return None;
            }
            while points.len() * step < done {
                points.push(point)?;
            }
            if is_last {
                break;
            }
        }
        (done == nbytes).then_some(Self { points, step, len: src.len(), nbytes })
    }

    /// Bytes of memory that the index takes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match &self.points {
            SeekPoints::Short(points) => points.capacity() * size_of::<[u16; 2]>(),
            SeekPoints::Long(points) => points.capacity() * size_of::<SeekPoint>(),
        }
    }

    /// A byte of the data. `read` reads the block. `None` if the chain of matches to the byte is
    /// too long, or the block has changed.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn read_byte<E>(&self, position: usize, read: ReadBlock<'_, E>) -> Result<Option<u8>, E> {
        let mut wanted = position;
        let mut window = Window { bytes: [0; WINDOW_NBYTES], range: 0..0 };
        for _ in 0..MAX_HOPS {
            let point = self.points.get(wanted / self.step).filter(|_| wanted < self.nbytes);
            let Some(point) = point else {
                break;
            };
            match self.follow(point, wanted, &mut window, read)? {
                Some(Found::Byte(byte)) => return Ok(Some(byte)),
                Some(Found::At(earlier)) => wanted = earlier,
                None => break,
            }
        }
        Ok(None)
    }

    /// Follows the sequences from a seek point to the one that makes the byte.
    fn follow<E>(
        &self,
        point: SeekPoint,
        wanted: usize,
        window: &mut Window,
        read: ReadBlock<'_, E>,
    ) -> Result<Option<Found>, E> {
        let (mut at, mut done) = (point.at as usize, point.done as usize);
        // Up to the sequence of the next point, which may be the one.
        let next =
            self.points.get(wanted / self.step + 1).map_or(self.len, |next| next.at as usize);
        window.fill(at..next.saturating_add(SHORT_READ_NBYTES).min(self.len), self.len, read)?;
        loop {
            let Some(token) = window.read_byte(at, self.len, read)? else { return Ok(None) };
            let Some((nliterals, start)) = self.read_length(token >> 4, at + 1, window, read)?
            else {
                return Ok(None);
            };
            if wanted < done + nliterals {
                let byte = window.read_byte(start + (wanted - done), self.len, read)?;
                return Ok(byte.map(Found::Byte));
            }
            (at, done) = (start + nliterals, done + nliterals);
            let (low, high) =
                (window.read_byte(at, self.len, read)?, window.read_byte(at + 1, self.len, read)?);
            let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
            let distance = usize::from(u16::from_le_bytes([low, high]));
            let Some((len, end)) = self.read_length(token & 15, at + 2, window, read)? else {
                return Ok(None);
            };
            if distance == 0 || distance > done {
                return Ok(None);
            }
            let len = len + MIN_MATCH;
            if wanted < done + len {
                // A match that overlaps itself repeats the bytes before it.
                return Ok(Some(Found::At(done - distance + (wanted - done) % distance)));
            }
            (at, done) = (end, done + len);
        }
    }

    fn read_length<E>(
        &self,
        nibble: u8,
        at: usize,
        window: &mut Window,
        read: ReadBlock<'_, E>,
    ) -> Result<Option<(usize, usize)>, E> {
        let mut failed = Ok(());
        let found = read_length(nibble, at, |at| {
            window.read_byte(at, self.len, read).unwrap_or_else(|error| {
                failed = Err(error);
                None
            })
        });
        failed.map(|()| found)
    }
}

impl SeekPoints {
    fn with_capacity(is_short: bool, npoints: usize) -> Self {
        if is_short {
            Self::Short(Vec::with_capacity(npoints))
        } else {
            Self::Long(Vec::with_capacity(npoints))
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Short(points) => points.len(),
            Self::Long(points) => points.len(),
        }
    }

    /// `None` if a position does not fit.
    fn push(&mut self, point: SeekPoint) -> Option<()> {
        match self {
            Self::Short(points) => {
                points.push([point.at.try_into().ok()?, point.done.try_into().ok()?])
            }
            Self::Long(points) => points.push(point),
        }
        Some(())
    }

    fn get(&self, npoint: usize) -> Option<SeekPoint> {
        match self {
            Self::Short(points) => {
                points.get(npoint).map(|&[at, done]| SeekPoint { at: at.into(), done: done.into() })
            }
            Self::Long(points) => points.get(npoint).copied(),
        }
    }
}

/// Where a wanted byte comes from.
enum Found {
    Byte(u8),
    /// It equals the byte at an earlier position.
    At(usize),
}

/// A part of the block.
struct Window {
    bytes: [u8; WINDOW_NBYTES],
    /// The part's positions in the block; it is at the start of `bytes`.
    range: Range<usize>,
}

impl Window {
    /// Reads the part `wanted` of a block of `len` bytes, or its first bytes, unless it is here.
    fn fill<E>(
        &mut self,
        wanted: Range<usize>,
        len: usize,
        read: ReadBlock<'_, E>,
    ) -> Result<(), E> {
        if self.range.start <= wanted.start && wanted.end <= self.range.end {
            return Ok(());
        }
        // After a match that led back by little, the next one often does so as well.
        let is_near =
            (1..BACK_READ_NBYTES).contains(&self.range.start.saturating_sub(wanted.start));
        let range = if len <= WINDOW_NBYTES {
            0..len
        } else {
            let start = wanted.start.saturating_sub(if is_near { BACK_READ_NBYTES } else { 0 });
            start..wanted.end.min(wanted.start.saturating_add(POINT_READ_NBYTES))
        };
        // The window is empty if reading fails.
        self.range = 0..0;
        read(range.start, self.bytes.get_mut(..range.len()).unwrap_or_default())?;
        self.range = range;
        Ok(())
    }

    /// A byte of a block of `len` bytes; `None` after its end.
    fn read_byte<E>(
        &mut self,
        at: usize,
        len: usize,
        read: ReadBlock<'_, E>,
    ) -> Result<Option<u8>, E> {
        if at >= len {
            return Ok(None);
        }
        if !self.range.contains(&at) {
            self.fill(at..len.min(at.saturating_add(SHORT_READ_NBYTES)), len, read)?;
        }
        Ok(self.bytes.get(at - self.range.start).copied())
    }
}

/// A length whose first four bits are `nibble`, and the position after its further bytes.
#[inline]
fn read_length(
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

/// Bytes of data from one seek point to the next in long blocks; half as many in short ones.
const POINT_STEP_NBYTES: usize = 512;
/// The longest short block, which also has no more data than this (bytes).
const SHORT_BLOCK_NBYTES: usize = 1 << 16;

/// Bytes of the block that are kept; a block up to this length is read as a whole.
const WINDOW_NBYTES: usize = BACK_READ_NBYTES + POINT_READ_NBYTES;

/// Bytes that are read from a seek point on: mostly those up to the next.
const POINT_READ_NBYTES: usize = 768;

/// Bytes that are read before a seek point where matches lead back by little.
const BACK_READ_NBYTES: usize = 1280;

/// Bytes that are read where few are needed, as of the sequence at a seek point.
const SHORT_READ_NBYTES: usize = 128;

/// Matches that lead to matches; after this number of them, decoding the block is as fast.
const MAX_HOPS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codec as _, EncodeOptions, lz4};
    use alloc::vec;

    fn compress(data: &[u8]) -> Vec<u8> {
        let mut block = vec![0; data.len() + data.len() / 255 + 16];
        let mut encoder = lz4::Lz4::FAST.new_encoder(&EncodeOptions::default()).unwrap();
        let len = encoder.encode(data, &mut block).unwrap().unwrap();
        block.truncate(len);
        block
    }

    /// Reads a block in memory, and counts how often.
    fn read_byte(index: &SeqIndex, block: &[u8], position: usize, reads: &mut usize) -> Option<u8> {
        let read = &mut |at: usize, dest: &mut [u8]| {
            *reads += 1;
            dest.copy_from_slice(block.get(at..at + dest.len()).ok_or(())?);
            Ok(())
        };
        index.read_byte::<()>(position, read).unwrap()
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
    fn every_byte_is_read_as_decoded() {
        for data in
            [data(10_000), vec![7; 3000], (0..=255).cycle().take(5000).collect(), data(13), vec![]]
        {
            let block = compress(&data);
            let index = SeqIndex::new(&block, data.len()).unwrap();
            for (position, expected) in data.iter().enumerate() {
                if let Some(found) = read_byte(&index, &block, position, &mut 0) {
                    assert_eq!(found, *expected, "{position} of {}", data.len());
                } else {
                    // A long chain: rare even here.
                    assert!(data.len() == 10_000);
                }
            }
            assert_eq!(read_byte(&index, &block, data.len(), &mut 0), None);
            assert!(index.capacity() <= data.len() / 32 + 16);
        }
    }

    #[test]
    fn a_literal_of_a_long_run_takes_few_reads() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..50_000).map(|_| next()).collect();
        let block = compress(&noise);
        let index = SeqIndex::new(&block, noise.len()).unwrap();
        let mut reads = 0;
        assert_eq!(read_byte(&index, &block, 40_000, &mut reads), Some(noise[40_000]));
        assert!(reads <= 3, "{reads}");
    }

    #[test]
    fn corrupt_blocks_have_no_index() {
        let data = data(2000);
        let block = compress(&data);
        assert!(SeqIndex::new(&block, 1999).is_none() && SeqIndex::new(&block, 2001).is_none());
        for len in 0..block.len() {
            assert!(SeqIndex::new(&block[..len], 2000).is_none(), "{len}");
        }
        // An empty stream, and one that ends with a match.
        assert!(SeqIndex::new(&[], 0).is_none() && SeqIndex::new(&[0], 0).is_some());
        assert!(
            SeqIndex::new(&[0x10, 1, 1, 0], 5).is_none()
                && SeqIndex::new(&[0x10, 1, 1, 0, 0], 5).is_some()
        );
        // A distance of 0, and one before the start.
        assert!(SeqIndex::new(&[0x10, 1, 0, 0, 0x50, 1, 2, 3, 4, 5], 10).is_none());
        assert!(SeqIndex::new(&[0x10, 1, 2, 0, 0x50, 1, 2, 3, 4, 5], 10).is_none());
        assert!(SeqIndex::new(&[0x10, 1, 1, 0, 0x50, 1, 2, 3, 4, 5], 10).is_some());
    }

    #[test]
    fn a_changed_block_does_not_panic() {
        let data = data(4000);
        let block = compress(&data);
        let index = SeqIndex::new(&block, data.len()).unwrap();
        for change in 0..block.len() {
            for value in [0, 0xff, block[change] ^ 0x10] {
                let mut changed = block.clone();
                changed[change] = value;
                read_byte(&index, &changed, data.len() - 1 - change % 500, &mut 0);
            }
        }
        let cut = &mut |_: usize, _: &mut [u8]| Err("cut");
        assert_eq!(index.read_byte(7, cut), Err("cut"));
    }

    #[test]
    fn chains_over_max_hops_are_given_up() {
        // Matches of four bytes that each repeat the four before them.
        let mut block = vec![0x40, 1, 2, 3, 4];
        (0..1000).for_each(|_| block.extend([4, 0, 0x00]));
        block.truncate(block.len() - 1);
        block.extend([0x50, 1, 2, 3, 4, 5]);
        let index = SeqIndex::new(&block, 4 + 4000 + 5).unwrap();
        assert_eq!(read_byte(&index, &block, 41, &mut 0), Some(2));
        assert_eq!(read_byte(&index, &block, 3999, &mut 0), None);
        assert_eq!(read_byte(&index, &block, 4005, &mut 0), Some(2));
    }
}
