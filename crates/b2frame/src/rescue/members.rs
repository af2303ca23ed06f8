//! The frames of a file with several frames, some of them damaged.
//!
//! A frame ends at the end that its header gives, if the file or a trailer ends there or another
//! frame begins there. Otherwise the magic of the next frame is searched. Data may contain frames
//! too: a frame found by its magic counts only if the frames after it reach the end of the file.

use core::ops::Range;
use std::sync::Arc;

use blosc_io::ReadAt;

use crate::error::Result;
use crate::header::{FIXED_LEN, FrameHeader, MAGIC};
use crate::source::Source;

/// Bytes that one search for a magic reads.
const WINDOW_NBYTES: usize = 1 << 20;

/// Bytes of a frame before its magic: the markers of an array and of a string.
const MARKERS_NBYTES: u64 = 2;

/// Bytes at the end of a trailer: its length as a 32-bit integer, and the fingerprint, an extension
/// of 16 bytes.
const TRAILER_END_NBYTES: usize = 23;

/// The ranges of the frames of a file (bytes): one for each frame, and one for bytes between two
/// frames. A damaged frame may be shorter than its header says.
///
/// ```
/// use std::sync::Arc;
///
/// use b2frame::{FrameParams, rescue::members, to_cframe};
/// use blosc_io::MemStore;
///
/// let one = to_cframe(&[1; 1000], &FrameParams::default())?;
/// let mut both = [one.clone(), one.clone()].concat();
/// both.truncate(both.len() - 1);
/// let len = one.len() as u64;
/// assert_eq!(members(Arc::new(MemStore::new(both)))?, [0..len, len..2 * len - 1]);
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// The error of the storage.
pub fn members(store: Arc<dyn ReadAt>) -> Result<Vec<Range<u64>>> {
    let source = Source::new(store, 0);
    let len = source.available()?;
    let (mut members, mut at) = (vec![], 0);
    while at < len {
        let end = match frame_end(&source, at, len)? {
            Some(end) if begins_or_ends(&source, end, len)? => end,
            Some(end) if end < len && has_trailer(&source, end)? => {
                // If the frame was cut by less than its trailer, the next one begins before this
                // end.
                let first = end.saturating_sub(TRAILER_END_NBYTES as u64);
                next_frame(&source, first, len)?.map_or(end, |next| next.min(end))
            }
            _ => next_frame(&source, at.saturating_add(1), len)?.unwrap_or(len),
        };
        members.push(at..end);
        at = end;
    }
    Ok(members)
}

/// The end of the frame that begins at `at`, as its header says.
fn frame_end(source: &Source, at: u64, len: u64) -> Result<Option<u64>> {
    let (head, head_len) = source.read_head::<FIXED_LEN>(at, len.saturating_sub(at))?;
    let header = FrameHeader::parse(head.get(..head_len).unwrap_or_default());
    Ok(header.ok().map(|header| at.saturating_add(header.frame_len())))
}

/// Whether a frame begins at `at`, or the file ends there.
fn begins_or_ends(source: &Source, at: u64, len: u64) -> Result<bool> {
    Ok(at == len || at < len && frame_end(source, at, len)?.is_some())
}

/// Whether the bytes before `end` look like the end of a trailer.
fn has_trailer(source: &Source, end: u64) -> Result<bool> {
    let Some(at) = end.checked_sub(TRAILER_END_NBYTES as u64) else { return Ok(false) };
    let (bytes, _) = source.read_head::<TRAILER_END_NBYTES>(at, TRAILER_END_NBYTES as u64)?;
    Ok(bytes.first() == Some(&0xce) && bytes.get(5) == Some(&0xd8))
}

/// The first frame at or after `first` whose successors reach the end of the file.
fn next_frame(source: &Source, first: u64, len: u64) -> Result<Option<u64>> {
    let mut at = first.saturating_add(MARKERS_NBYTES);
    let mut window = vec![0; WINDOW_NBYTES];
    while at < len {
        let room = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = room.min(WINDOW_NBYTES);
        let bytes = window.get_mut(..count).unwrap_or_default();
        source.read_into(at, bytes)?;
        for (n, found) in (0u64..).zip(bytes.windows(MAGIC.len())) {
            let start = at.saturating_add(n).checked_sub(MARKERS_NBYTES);
            if found == MAGIC
                && let Some(start) = start
                && reaches_end(source, start, len)?
            {
                return Ok(Some(start));
            }
        }
        if count == room {
            return Ok(None);
        }
        // A magic may span two windows.
        at = at.saturating_add(count.saturating_sub(MAGIC.len()) as u64);
    }
    Ok(None)
}

/// Whether the frames from `at` on follow each other up to the end; the last one may be cut.
fn reaches_end(source: &Source, mut at: u64, len: u64) -> Result<bool> {
    while at < len {
        match frame_end(source, at, len)? {
            Some(end) => at = end,
            None => return Ok(false),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::FrameParams;
    use crate::writer::to_cframe;
    use blosc_io::MemStore;

    fn frame(seed: u32) -> Vec<u8> {
        let data: Vec<u8> =
            (0..3000).flat_map(|n: u32| n.wrapping_mul(seed).to_le_bytes()).collect();
        to_cframe(&data, &FrameParams::default().chunksize(2000)).unwrap()
    }

    fn found(bytes: &[u8]) -> Vec<Range<u64>> {
        members(Arc::new(MemStore::new(bytes.to_vec()))).unwrap()
    }

    fn ranges(lens: &[usize]) -> Vec<Range<u64>> {
        let mut at = 0;
        let range = |len: &usize| {
            let start = at;
            at += *len as u64;
            start..at
        };
        lens.iter().map(range).collect()
    }

    #[test]
    fn frames_are_found_where_one_of_them_is_cut_or_lost_its_header() {
        let (a, b, c) = (frame(1), frame(77), frame(12345));
        assert_eq!(
            found(&[a.clone(), b.clone(), c.clone()].concat()),
            ranges(&[a.len(), b.len(), c.len()])
        );
        for cut in [1, 100, b.len() - 200] {
            let b = &b[..b.len() - cut];
            assert_eq!(found(&[&a, b, &c].concat()), ranges(&[a.len(), b.len(), c.len()]), "{cut}");
            assert_eq!(found(&[&a, b].concat()), ranges(&[a.len(), b.len()]), "{cut}");
        }
        let mut headless = b.clone();
        headless[..90].fill(0);
        assert_eq!(found(&[&a[..], &headless, &c].concat()), ranges(&[a.len(), b.len(), c.len()]));
        assert_eq!(found(&[&headless[..], &c].concat()), ranges(&[b.len(), c.len()]));
        assert_eq!(found(&[]), []);
        assert_eq!(found(&[7; 300]), ranges(&[300]));
    }

    #[test]
    fn a_frame_in_the_data_of_a_cut_one_is_no_member() {
        use blosc_chunk::{CParams, Level};
        // Stored uncompressed, so that the inner magics are visible.
        let cparams = CParams::default().clevel(Level::try_from(0).unwrap()).typesize(1);
        let inner = [frame(3), frame(5), vec![1; 40]].concat();
        let outer = to_cframe(&inner, &FrameParams::new(cparams)).unwrap();
        for cut in [0, 1, 60] {
            let outer = &outer[..outer.len() - cut];
            assert_eq!(found(outer), ranges(&[outer.len()]), "{cut}");
        }
    }
}
