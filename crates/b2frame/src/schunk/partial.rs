//! Fetching of a stored chunk no more than some blocks need.
//!
//! ```text
//! header | block starts | [dictionary] | block 2 | block 0 | block 1 |       blocks are in any order
//!    read      read          if any    |  skip   |  read   |  skip   |       here block 0 is wanted
//! ```
//!
//! What is skipped stays zero in memory, and the decoder never looks at it.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use core::ops::Range;

use blosc_chunk::{ChunkHeader, FilterId, Kind};

use crate::error::Result;
use crate::source::Source;

/// A chunk this short (bytes) is read as a whole.
pub(super) const SHORT: usize = 16 << 10;
/// Bytes between two wanted blocks that are read with them: cheaper than a further request.
const GAP: usize = 4 << 10;

/// Reads to `bytes` what decoding the bytes `range` of a chunk's data needs of the chunk at
/// position `at`.
pub(crate) fn fetch(
    source: &Source,
    at: u64,
    header: &ChunkHeader,
    range: &Range<usize>,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let cbytes = header.cbytes();
    if let Some(blocks) = Blocks::wanted(header, range) {
        let head = source.read_vec(at, blocks.head_len)?;
        let wanted = blocks.extents(&head, cbytes);
        if wanted.iter().map(ExactSizeIterator::len).sum::<usize>() <= cbytes / 2 {
            // A fresh buffer of zeros: the system gives pages only where something is written.
            *bytes = vec![0; cbytes];
            bytes.iter_mut().zip(head).for_each(|(byte, read)| *byte = read);
            for extent in wanted {
                let position = at.saturating_add(extent.start as u64);
                source.read_into(position, bytes.get_mut(extent).unwrap_or_default())?;
            }
            return Ok(());
        }
    }
    source.read_reusing(at, cbytes, bytes)
}

/// Which blocks of a chunk are wanted.
struct Blocks {
    /// Header and block starts (bytes).
    head_len: usize,
    header_len: usize,
    range: Range<usize>,
    needs_first: bool,
    has_dict: bool,
}

impl Blocks {
    /// `None` if the chunk should be read as a whole: it is short, most of it is wanted, or its
    /// blocks are not where the header alone says.
    fn wanted(header: &ChunkHeader, range: &Range<usize>) -> Option<Self> {
        let (nbytes, blocksize, typesize) =
            (header.nbytes(), header.blocksize(), header.typesize());
        let is_plain = header.kind() == Kind::Regular && header.version() >= 3;
        // C-Blosc2 3.x may store a block size that it did not use; it is then no multiple of the
        // typesize.
        let is_true = blocksize <= typesize || blocksize.checked_rem(typesize) == Some(0);
        let is_little = header.cbytes() > SHORT && range.len() <= nbytes / 2;
        if !(is_plain && is_true && is_little) || range.is_empty() {
            return None;
        }
        let first = range.start.checked_div(blocksize)?;
        let head_len =
            nbytes.div_ceil(blocksize).checked_mul(4)?.checked_add(header.header_len())?;
        (head_len <= header.cbytes()).then(|| Self {
            head_len,
            header_len: header.header_len(),
            range: first..range.end.div_ceil(blocksize),
            needs_first: header.pipeline().contains(FilterId::DELTA),
            has_dict: header.has_dict(),
        })
    }

    /// The parts of the chunk that hold the wanted blocks, and the dictionary if there is one.
    /// Those that lie close together are one part.
    fn extents(&self, head: &[u8], cbytes: usize) -> Vec<Range<usize>> {
        let starts = block_starts(head, self.header_len);
        let mut sorted = starts.clone();
        sorted.sort_unstable();
        let extent = |start: usize| {
            let next = sorted.partition_point(|other| *other <= start);
            start..sorted.get(next).copied().unwrap_or(cbytes).min(cbytes)
        };
        let first = self.needs_first.then_some(0);
        let mut extents: Vec<_> = first
            .into_iter()
            .chain(self.range.clone())
            .filter_map(|n| starts.get(n))
            .map(|s| extent(*s))
            .collect();
        if self.has_dict {
            extents.push(self.head_len..sorted.first().copied().unwrap_or(cbytes).min(cbytes));
        }
        // A start that lies outside of the chunk is for the decoder to complain about.
        extents.retain(|extent| !extent.is_empty());
        extents.sort_unstable_by_key(|extent| extent.start);
        merge(extents)
    }
}

/// The block starts in the head of a chunk; negative ones become the end of all things.
fn block_starts(head: &[u8], header_len: usize) -> Vec<usize> {
    let (starts, _) = head.get(header_len..).unwrap_or_default().as_chunks();
    starts.iter().map(|s| usize::try_from(i32::from_le_bytes(*s)).unwrap_or(usize::MAX)).collect()
}

/// Joins ranges, sorted by their starts, that overlap or have little between them.
fn merge(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = vec![];
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP) => {
                last.end = last.end.max(range.end)
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(range: Range<usize>) -> Vec<Range<usize>> {
        core::iter::once(range).collect()
    }

    #[test]
    fn what_lies_close_is_read_at_once() {
        let near = GAP + 10;
        assert_eq!(
            merge(vec![0..10, near..near + 5, 3 * near..3 * near + 1]),
            [0..near + 5, 3 * near..3 * near + 1]
        );
        assert_eq!(merge(vec![0..100, 20..30, 90..95]), one(0..100));
    }

    #[test]
    fn blocks_reach_to_the_next_start_in_the_chunk() {
        let blocks = Blocks {
            head_len: 44,
            header_len: 32,
            range: 0..1,
            needs_first: false,
            has_dict: false,
        };
        let mut head = vec![0; 32];
        for start in [60_000_i32, 50, 70_000] {
            head.extend(start.to_le_bytes());
        }
        assert_eq!(blocks.extents(&head, 90_000), one(60_000..70_000));
        let last = Blocks { range: 2..3, needs_first: true, has_dict: true, ..blocks };
        assert_eq!(last.extents(&head, 90_000), [44..50, 60_000..90_000]);
    }
}
