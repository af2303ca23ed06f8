//! The chunks of a file that consists of chunks alone, one after the other.
//!
//! The end in a chunk's header is right if the file ends or another chunk begins there, or if the
//! blocks fill the chunk. Otherwise the next chunk is sought. A header counts only if the chunks
//! after it reach the end of the file, since data may look like a header.

use core::ops::Range;
use std::io;

use blosc_chunk::validate::{Depth, Note};
use blosc_chunk::{Chunk, ChunkHeader, Scratch};
use blosc_io::ReadAt;

/// Bytes searched for a header at once.
const WINDOW_NBYTES: usize = 1 << 20;

/// The ranges of the chunks in a store (bytes), damaged or not. The last chunk may be shorter than
/// its header states.
///
/// ```
/// use blosc_chunk::{CParams, compress};
/// use blosc_container::rescue::chunk_members;
/// use blosc_io::MemStore;
///
/// let one = compress(&[1; 1000], &CParams::default())?;
/// let mut three = [&one[..], &one, &one].concat();
/// three[one.len()] = 0; // no version of a chunk
/// let len = one.len() as u64;
/// let found = chunk_members(&MemStore::new(three))?;
/// assert_eq!(found, [0..len, len..2 * len, 2 * len..3 * len]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Errors of the storage.
pub fn chunk_members(store: &dyn ReadAt) -> io::Result<Vec<Range<u64>>> {
    let walk = Walk { store, len: store.len()? };
    let (mut members, mut at) = (vec![], 0);
    while at < walk.len {
        let end = match walk.chunk_end(at)? {
            // The last chunk, whole or cut.
            Some(end) if end >= walk.len => walk.len,
            Some(end) if walk.chunk_end(end)?.is_some() || walk.is_filled(at..end)? => end,
            _ => walk.next_chunk(at.saturating_add(1))?.unwrap_or(walk.len),
        };
        members.push(at..end);
        at = end;
    }
    Ok(members)
}

struct Walk<'a> {
    store: &'a dyn ReadAt,
    len: u64,
}

impl Walk<'_> {
    fn read(&self, at: u64, max: usize) -> io::Result<Vec<u8>> {
        let room = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; room.min(max)];
        self.store.read_exact_at(at, &mut bytes)?;
        Ok(bytes)
    }

    /// The end of the chunk at `at` by its header.
    fn chunk_end(&self, at: u64) -> io::Result<Option<u64>> {
        Ok(stated_end(&self.read(at, ChunkHeader::MAX_LEN)?, at))
    }

    /// Whether the blocks of the chunk fill it, or all of them decode: some encoders leave gaps.
    fn is_filled(&self, range: Range<u64>) -> io::Result<bool> {
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let bytes = self.read(range.start, len)?;
        let Ok(chunk) = Chunk::parse(&bytes) else { return Ok(false) };
        let report = chunk.validate(Depth::Structure, &mut Scratch::default());
        let has_gaps = report.notes.iter().any(|note| matches!(note, Note::Gaps { .. }));
        let can_decode = || chunk.validate(Depth::Decode, &mut Scratch::default()).is_ok();
        Ok(chunk.nblocks() > 0 && report.is_ok() && (!has_gaps || can_decode()))
    }

    /// The first chunk at or after `first` from which chunks follow each other up to the end of the
    /// file.
    fn next_chunk(&self, first: u64) -> io::Result<Option<u64>> {
        let mut at = first;
        while at < self.len {
            let window = self.read(at, WINDOW_NBYTES)?;
            let is_last = at.saturating_add(window.len() as u64) >= self.len;
            let overlap = if is_last { 0 } else { ChunkHeader::MAX_LEN };
            let count = window.len().saturating_sub(overlap);
            for (n, position) in (0..count).zip(at..) {
                let head = window.get(n..).unwrap_or_default();
                let head = head.get(..ChunkHeader::MAX_LEN).unwrap_or(head);
                let end = stated_end(head, position).filter(|end| *end <= self.len);
                if let Some(end) = end
                    && self.reaches_end(end)?
                {
                    return Ok(Some(position));
                }
            }
            at = at.saturating_add(count.max(1) as u64);
        }
        Ok(None)
    }

    /// Whether the chunks from `at` on follow each other up to the end; the last one may be cut.
    fn reaches_end(&self, mut at: u64) -> io::Result<bool> {
        while at < self.len {
            match self.chunk_end(at)? {
                Some(end) => at = end,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// The end of the chunk with this header.
fn stated_end(head: &[u8], at: u64) -> Option<u64> {
    let header = ChunkHeader::parse(head).ok().filter(|header| !header.is_lazy())?;
    Some(at.saturating_add(header.cbytes() as u64))
}
