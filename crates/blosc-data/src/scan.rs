//! Frames and chunks inside any file.
//!
//! Frames have a magic number. Chunks have none: if a header makes sense and its bytes lie within
//! the file, the chunk is decoded, and counts on success.

use std::sync::Arc;

use b2frame::probe::{Kind, PROBE_LEN, probe};
use b2frame::{OpenOptions, SChunk};
use blosc_chunk::{ChunkHeader, DParams};
use blosc_io::ReadAt;
use serde::Serialize;

use crate::Budget;
use crate::error::{Doing, Error, Result};
use crate::formats::chunk::{BareChunk, stored_len};
use crate::formats::frame::format_name;
use b2frame::nd::item_dtype;

/// Bytes that are searched at once.
const WINDOW_NBYTES: usize = 1 << 20;

/// The byte before the magic number: MessagePack's marker of a text of 8 bytes.
const TEXT_OF_EIGHT: u8 = 0xa8;

/// The newest version of a chunk.
const MAX_CHUNK_VERSION: u8 = 6;

/// One frame or chunk.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Where it starts (bytes).
    pub offset: u64,
    /// Its length in the file (bytes).
    pub cbytes: u64,
    /// Name of the format: `b2nd`, `chunk`.
    pub format: &'static str,
    /// Bytes of data.
    pub nbytes: u64,
    /// Bytes of an item.
    pub typesize: u64,
    /// Name of the codec.
    pub codec: String,
    /// Type of the items of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// Items per dimension of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
}

blosc_chunk::setters! {
/// The objects to find, and the parameters for reading them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScanOptions {
    /// Whether only frames are found, which is faster. Default: chunks as well.
    pub frames_only: bool,
    /// How chunks are decoded.
    pub dparams: DParams,
    /// Threads and memory.
    pub budget: Budget,
}
}

/// Hands all objects of a file to `found`, in order. Objects inside of others are not found.
///
/// # Errors
///
/// A file that cannot be read; the error of `found`.
pub fn scan<E: From<Error>>(
    store: Arc<dyn ReadAt>,
    options: &ScanOptions,
    found: &mut dyn FnMut(Found) -> Result<(), E>,
) -> Result<(), E> {
    let file_nbytes = store.len().map_err(Error::io(Doing::Open))?;
    Scan { store, file_nbytes, options }.run(found)
}

/// A file during the search.
struct Scan<'a> {
    store: Arc<dyn ReadAt>,
    file_nbytes: u64,
    options: &'a ScanOptions,
}

impl Scan<'_> {
    fn run<E: From<Error>>(&self, found: &mut dyn FnMut(Found) -> Result<(), E>) -> Result<(), E> {
        let mut window = vec![0; WINDOW_NBYTES];
        let mut start = 0;
        while start < self.file_nbytes {
            let left = self.file_nbytes - start;
            let len = usize::try_from(left).map_or(WINDOW_NBYTES, |left| left.min(WINDOW_NBYTES));
            let bytes = window.get_mut(..len).unwrap_or_default();
            self.store.read_exact_at(start, bytes).map_err(Error::io(Doing::Read))?;
            // The next window holds the whole of an object near the end of this one.
            let is_last = start + len as u64 == self.file_nbytes;
            let end = if is_last { len } else { len - ChunkHeader::MAX_LEN };
            let mut next = start + end as u64;
            let mut at = 0;
            while let Some(distance) = self.first_candidate(&bytes[at..], end - at) {
                at += distance;
                match self.object(start + at as u64, &bytes[at..]) {
                    Some(object) => {
                        let after = start + at as u64 + object.cbytes.max(1);
                        found(object)?;
                        next = next.max(after);
                        match usize::try_from(after - start).ok().filter(|to| *to < end) {
                            Some(to) => at = to,
                            None => {
                                next = after;
                                break;
                            }
                        }
                    }
                    None => at += 1,
                }
            }
            start = next;
        }
        Ok(())
    }

    /// The first position before `end` where an object may begin.
    fn first_candidate(&self, bytes: &[u8], end: usize) -> Option<usize> {
        (0..end).find(|at| {
            let head = bytes.get(*at..).unwrap_or_default();
            is_frame(head) || (!self.options.frames_only && may_be_chunk(head))
        })
    }

    /// The object that begins at `offset` with `head`.
    fn object(&self, offset: u64, head: &[u8]) -> Option<Found> {
        if is_frame(head) {
            return self.frame(offset);
        }
        self.chunk(offset, head)
    }

    fn frame(&self, offset: u64) -> Option<Found> {
        let options = OpenOptions::default().offset(offset).dparams(self.options.dparams.clone());
        let schunk = SChunk::from_store_with(Arc::clone(&self.store), &options).ok()?;
        // The chunks of a sparse frame lie in other files.
        let cbytes = schunk.frame_len();
        let meta = schunk.nd_meta().ok().flatten();
        let dtype = meta.as_ref().map(|meta| item_dtype(meta, schunk.typesize()).to_string());
        Some(Found {
            offset,
            cbytes,
            format: format_name(&schunk, meta.is_some()),
            nbytes: schunk.nbytes(),
            typesize: schunk.typesize() as u64,
            codec: schunk.cparams().codec.to_string(),
            dtype,
            shape: meta.map(|meta| meta.shape().to_vec()),
        })
    }

    fn chunk(&self, offset: u64, head: &[u8]) -> Option<Found> {
        let header = ChunkHeader::parse(head.get(..ChunkHeader::MAX_LEN).unwrap_or(head)).ok()?;
        let is_there = offset.checked_add(stored_len(&header))? <= self.file_nbytes;
        // The data of a lazy chunk lie elsewhere, and a chunk without data proves nothing.
        if !is_there || header.is_lazy() || header.nbytes() == 0 {
            return None;
        }
        let chunk =
            BareChunk::open(Arc::clone(&self.store), offset, self.options.dparams.clone()).ok()?;
        let nbytes = header.nbytes() as u64;
        if header.special().is_none() {
            chunk.part(0..nbytes, &self.options.budget, &mut |_| Ok::<(), Error>(())).ok()?;
        }
        Some(Found {
            offset,
            cbytes: chunk.stored(),
            format: "chunk",
            nbytes,
            typesize: header.typesize() as u64,
            codec: header.codec_id().to_string(),
            dtype: None,
            shape: None,
        })
    }
}

/// Whether these bytes begin a frame.
fn is_frame(head: &[u8]) -> bool {
    let start = head.get(..PROBE_LEN).unwrap_or(head);
    head.get(1) == Some(&TEXT_OF_EIGHT) && matches!(probe(start), Kind::Frame | Kind::OlderFrame)
}

/// Whether these bytes may begin a chunk header. The test rejects nearly all bytes of a file.
fn may_be_chunk(head: &[u8]) -> bool {
    let [version, _, _, typesize, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3, ..] = head else {
        return false;
    };
    let nbytes = i32::from_le_bytes([*n0, *n1, *n2, *n3]);
    let blocksize = i32::from_le_bytes([*b0, *b1, *b2, *b3]);
    let cbytes = i32::from_le_bytes([*c0, *c1, *c2, *c3]);
    (1..=MAX_CHUNK_VERSION).contains(version)
        && *typesize > 0
        && nbytes > 0
        && (1..=nbytes).contains(&blocksize)
        && cbytes >= 16
        // Incompressible data are stored with the header and nothing else.
        && i64::from(cbytes) <= i64::from(nbytes) + 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_may_begin_a_chunk() {
        let header = [2, 1, 0x21, 4, 64, 0, 0, 0, 32, 0, 0, 0, 40, 0, 0, 0];
        assert!(may_be_chunk(&header));
        assert!(!may_be_chunk(&header[..15]));
        for (at, byte) in [(0, 0), (0, 99), (3, 0), (7, 0x80), (8, 65), (12, 15), (13, 9)] {
            let mut other = header;
            other[at] = byte;
            assert!(!may_be_chunk(&other), "{at} {byte}");
        }
        assert!(!may_be_chunk(&[0; 32]) && !may_be_chunk(&[0xff; 32]));
    }
}
