//! Reads by several threads; each fills its part of the destination.

use core::ops::Range;

use blosc_chunk::{Destination, Executor};
use blosc_container::parallel::for_each;

use super::{Location, SChunk};
use crate::error::Result;

/// One more thread is started for each multiple of this size (bytes).
const PER_THREAD: usize = 256 << 10;

impl SChunk {
    /// Fills `dest` with the items `items`, by up to `threads` threads, the caller's included.
    /// Threads divide the chunks, or their blocks if there are few chunks.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, to_cframe};
    /// use blosc_chunk::{CParams, Executor};
    ///
    /// let data: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    /// let params = FrameParams::new(CParams::default().typesize(4)).chunksize(64_000);
    /// let schunk = SChunk::from_cframe(to_cframe(&data, &params)?)?;
    /// let mut back = vec![0; data.len()];
    /// schunk.read_par(0..1_000_000, &mut back, &Executor::auto())?;
    /// assert_eq!(back, data);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read): the error of the first bad chunk.
    pub fn read_par(&self, items: Range<u64>, dest: &mut [u8], threads: &Executor) -> Result<()> {
        let start = self.start_of(items, dest)?;
        let useful = dest.len().checked_div(PER_THREAD).unwrap_or(0).saturating_add(1);
        let nworkers = threads.count_for(useful);
        if nworkers == 1 {
            return self.read_bytes(start, dest);
        }
        let is_all = dest.len() as u64 == self.nbytes();
        let destination = Destination::for_nbytes(dest.len());
        let parts = self.parts_of(start, dest, nworkers)?;
        for_each(
            (threads, nworkers),
            parts.into_iter(),
            || self.pooled(),
            |scratch, (start, dest)| {
                scratch.parts().chunk.set_destination(destination);
                let done = self.read_bytes_with(start, dest, scratch);
                scratch.parts().chunk.set_destination(Destination::Cached);
                done
            },
        )?;
        if is_all { self.compare_seal() } else { Ok(()) }
    }

    /// Cuts a destination for the data from byte `start` on: between chunks, and in long chunks
    /// between blocks.
    fn parts_of<'d>(
        &self,
        start: u64,
        dest: &'d mut [u8],
        threads: usize,
    ) -> Result<Vec<(u64, &'d mut [u8])>> {
        let few = dest.len().checked_div(threads.saturating_mul(4)).unwrap_or(0).max(PER_THREAD);
        let (mut parts, mut at, mut rest) = (vec![], start, dest);
        while rest.len() > few {
            let (nchunk, from) = self.chunk_at(at.saturating_add(few as u64))?;
            let is_long = self.chunk_nbytes(nchunk)? > few;
            let back = if is_long {
                from.checked_rem(self.blocksize_of(nchunk)).unwrap_or(0)
            } else {
                from
            };
            let len = few.saturating_sub(back);
            let (part, later) = rest.split_at_mut(if len == 0 { few } else { len });
            rest = later;
            let next = at.saturating_add(part.len() as u64);
            parts.push((at, part));
            at = next;
        }
        parts.push((at, rest));
        Ok(parts)
    }

    /// The block size of a chunk (bytes). 0 if it is unknown: decoding the chunk will report the
    /// error.
    fn blocksize_of(&self, nchunk: u64) -> usize {
        match self.locate(nchunk) {
            Ok(Location::Stored { header, .. }) => header.blocksize(),
            _ => 0,
        }
    }
}
