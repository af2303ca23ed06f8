//! Scattered items: each block with requested items is decoded once.

use core::ops::Range;

use super::{ChunkPart, Location, SChunk};
use crate::error::{Param, Result};

/// Without a block size in the header, closer positions than this are read together (bytes).
const NEAR: usize = 16 << 10;

/// A requested item: its first byte, and its place in the result.
type Wanted = (u64, usize);

impl SChunk {
    /// Fills `dest` with the items of these numbers, in this order; numbers may be repeated.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, to_cframe};
    ///
    /// let data: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
    /// let schunk = SChunk::from_cframe(to_cframe(&data, &FrameParams::default())?)?;
    /// let mut items = [0; 3 * 8];
    /// schunk.gather(&[99_999, 7, 7], &mut items)?;
    /// assert_eq!(items[..8], 99_999_u64.to_le_bytes());
    /// assert_eq!(items[8..], [7_u64.to_le_bytes(), 7_u64.to_le_bytes()].concat());
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Param::Range`] for a number that is too large, [`Param::BufferLen`] unless `dest` has
    /// exactly room for these items, or the error of a chunk.
    pub fn gather(&self, items: &[u64], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize();
        let expected = items.len().saturating_mul(typesize);
        if dest.len() != expected {
            return Err(
                Param::BufferLen { len: dest.len() as u64, expected: expected as u64 }.into()
            );
        }
        let wanted = self.sorted(items)?;
        let limit = self.prefetch_limit();
        if limit == 0 {
            return self.gather_now(&wanted, None, dest);
        }
        for wanted in wanted.chunks(self.items_within(limit)) {
            // The announced ranges are the ranges read: the headers of chunks are unknown so far.
            let near =
                self.state.header().blocksize().map_or(NEAR as u64, |size| size.get().into());
            self.prefetch_items(wanted.iter().map(|(at, _)| *at), near)?;
            self.gather_now(wanted, Some(near), dest)?;
        }
        Ok(())
    }

    /// Decodes items, which ascend, to their places. Items that are `near` each other, or in
    /// adjacent blocks, are decoded together.
    fn gather_now(&self, wanted: &[Wanted], near: Option<u64>, dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize();
        let (mut wanted, mut scratch, mut bytes) = (wanted, self.scratch(), vec![]);
        while let Some((first, _)) = wanted.first() {
            let (nchunk, from) = self.chunk_at(*first)?;
            let location = self.locate(nchunk)?;
            let chunk = first.saturating_sub(from as u64);
            let end = chunk.saturating_add(location.nbytes() as u64);
            // An item may continue in the next chunk, if chunk sizes are not multiples of its size.
            let is_inside = |(at, _): &Wanted| at.saturating_add(typesize as u64) <= end;
            let (here, later) = wanted.split_at(wanted.partition_point(is_inside));
            if here.is_empty() {
                self.read_across(*first, wanted, dest)?;
                wanted = wanted.get(1..).unwrap_or_default();
                continue;
            }
            let near = near.unwrap_or_else(|| near_in(&location));
            for together in here.chunk_by(|(one, _), (next, _)| next.saturating_sub(*one) <= near) {
                let range = range_of(together, chunk, typesize);
                bytes.resize(range.len(), 0);
                let part = ChunkPart { nchunk, location: &location, range: range.clone() };
                self.decode_part(part, &mut bytes, &mut scratch)?;
                hand_out(
                    together,
                    chunk.saturating_add(range.start as u64),
                    &bytes,
                    typesize,
                    dest,
                );
            }
            wanted = later;
        }
        Ok(())
    }

    /// The items in the order of the data.
    fn sorted(&self, items: &[u64]) -> Result<Vec<Wanted>> {
        let typesize = u64::from(self.state.header().typesize().get());
        let len = self.nbytes().checked_div(typesize).unwrap_or(0);
        let mut wanted = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            if *item >= len {
                return Err(Param::Range { start: *item, end: item.saturating_add(1), len }.into());
            }
            wanted.push((item.saturating_mul(typesize), place));
        }
        wanted.sort_unstable();
        Ok(wanted)
    }

    /// Reads an item that spans two chunks.
    fn read_across(&self, at: u64, wanted: &[Wanted], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize();
        let mut item = vec![0; typesize];
        self.read_bytes(at, &mut item)?;
        hand_out(wanted.get(..1).unwrap_or_default(), at, &item, typesize, dest);
        Ok(())
    }
}

/// Items closer than this share a block, or lie in adjacent ones (bytes).
fn near_in(location: &Location) -> u64 {
    let blocksize = match location {
        Location::Stored { header, .. } if !header.is_vl() => header.blocksize(),
        _ => NEAR,
    };
    blocksize as u64
}

/// The bytes of the chunk that begins at `chunk`, from the first of these items to the last.
fn range_of(items: &[Wanted], chunk: u64, typesize: usize) -> Range<usize> {
    let at = |item: Option<&Wanted>| {
        let at = item.map_or(0, |(at, _)| at.saturating_sub(chunk));
        usize::try_from(at).unwrap_or(usize::MAX)
    };
    at(items.first())..at(items.last()).saturating_add(typesize)
}

/// Copies items out of `bytes`, which begin at byte `start` of the data, to their places.
fn hand_out(items: &[Wanted], start: u64, bytes: &[u8], typesize: usize, dest: &mut [u8]) {
    for (at, place) in items {
        let from = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        let to = place.saturating_mul(typesize);
        let item = bytes.get(from..from.saturating_add(typesize));
        if let (Some(item), Some(dest)) = (item, dest.get_mut(to..to.saturating_add(typesize))) {
            dest.copy_from_slice(item);
        }
    }
}
