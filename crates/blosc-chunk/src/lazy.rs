//! The header and block starts that C-Blosc2 keeps in memory for a chunk on disk ("Lazy chunk" in
//! the format document).

use crate::error::{Corrupt, Error, Result};
use crate::header::{ChunkHeader, Kind};
use crate::index::ChunkIndex;
use crate::layout::Grid;
use crate::memory;

/// Bytes of the number of the chunk and of its offset, before the sizes of its blocks.
const POSITION_LEN: usize = 4 + 8;

/// Offset of the lazy bit in the header.
const FLAGS_AT: usize = 0x1f;
/// The bit.
const LAZY: u8 = 0x08;

/// A chunk that C-Blosc2 left in its file: the output of `blosc2_schunk_get_lazychunk`.
///
/// The chunk has the header and the block starts, but no data. Programs that get one from C-Blosc2
/// find the bytes to read by it: the [`plan`](ChunkIndex::plan) of [`index`](Self::index), counted
/// from [`offset`](Self::offset) in the frame.
#[derive(Clone, Debug)]
pub struct LazyChunk {
    index: ChunkIndex,
    nchunk: u32,
    offset: u64,
}

impl LazyChunk {
    /// Reads a whole lazy chunk.
    ///
    /// # Errors
    ///
    /// As [`ChunkIndex::parse`]; [`Error::Corrupt`] with [`Corrupt::LazyTrailer`] if the bytes
    /// after the block starts contradict them, or if the chunk is not lazy. The lazy form of a
    /// chunk omits its dictionary: use [`ChunkIndex`] on the frame instead.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = ChunkHeader::parse(bytes)?;
        let starts = header.nblocks().saturating_mul(4);
        let trailer = header.header_len().saturating_add(starts);
        let damaged = |at: usize| Error::corrupt(at, Corrupt::LazyTrailer);
        if !header.is_lazy() {
            return Err(damaged(FLAGS_AT));
        }
        if bytes.len() != trailer.saturating_add(POSITION_LEN).saturating_add(starts) {
            return Err(damaged(bytes.len()));
        }
        let is_stored = header.kind() == Kind::Memcpyed;
        let head_len = if is_stored { header.header_len() } else { trailer };
        let index = ChunkIndex::new(header, bytes.get(..head_len).unwrap_or_default())?;
        let nchunk = number::<4>(bytes, trailer).map(i32::from_le_bytes);
        let offset_at = trailer.saturating_add(4);
        let offset = number::<8>(bytes, offset_at).map(i64::from_le_bytes);
        let nchunk = nchunk.and_then(|n| u32::try_from(n).ok()).ok_or(damaged(trailer))?;
        let offset = offset.and_then(|at| u64::try_from(at).ok()).ok_or(damaged(offset_at))?;
        let sizes_at = trailer.saturating_add(POSITION_LEN);
        let sizes = bytes.get(sizes_at..).unwrap_or_default().as_chunks::<4>().0;
        for (nblock, size) in sizes.iter().enumerate() {
            if size_of_block(&index, nblock) != Some(*size) {
                return Err(damaged(sizes_at.saturating_add(nblock.saturating_mul(4))));
            }
        }
        Ok(Self { index, nchunk, offset })
    }

    /// The lazy chunk for a chunk with this index, which has the number `nchunk` in its frame and
    /// starts there at byte `offset`.
    ///
    /// `None` for chunks without this form: runs, blocks of individual sizes, dictionaries, chunks
    /// of Blosc 1, and block sizes that readers do not agree on.
    #[must_use]
    pub fn encode(index: &ChunkIndex, nchunk: u32, offset: u64) -> Option<Vec<u8>> {
        let header = index.header();
        let is_stored = header.kind() == Kind::Memcpyed;
        let is_regular = header.kind() == Kind::Regular && header.nblocks() == index.nblocks();
        if !(is_stored || is_regular) || header.has_dict() || !header.is_extended() {
            return None;
        }
        let starts = header.nblocks().checked_mul(4)?;
        let head_len = header.header_len().checked_add(if is_stored { 0 } else { starts })?;
        let mut bytes = Vec::new();
        let more = header.nblocks().checked_mul(4)?.checked_add(POSITION_LEN)?;
        memory::reserve(&mut bytes, header.header_len().checked_add(starts)?.checked_add(more)?)
            .ok()?;
        bytes.extend_from_slice(index.head().get(..head_len)?);
        *bytes.get_mut(FLAGS_AT)? |= LAZY;
        bytes.resize(header.header_len().checked_add(starts)?, 0);
        bytes.extend(i32::try_from(nchunk).ok()?.to_le_bytes());
        bytes.extend(i64::try_from(offset).ok()?.to_le_bytes());
        for nblock in 0..header.nblocks() {
            bytes.extend(size_of_block(index, nblock)?);
        }
        Some(bytes)
    }

    /// The index, which locates the bytes of any data.
    #[must_use]
    pub const fn index(&self) -> &ChunkIndex {
        &self.index
    }

    /// The number of the chunk; in a sparse frame, the number of its file.
    #[must_use]
    pub const fn nchunk(&self) -> u32 {
        self.nchunk
    }

    /// Where the chunk starts in the frame (bytes); in a sparse frame, the number of its file.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

/// The stored size of a block. A stored chunk has no block starts, which would tell it.
fn size_of_block(index: &ChunkIndex, nblock: usize) -> Option<[u8; 4]> {
    let header = index.header();
    let extent = match header.kind() {
        Kind::Memcpyed => Grid::new(header.nbytes(), header.blocksize()).range(nblock),
        _ => index.extent(nblock),
    };
    i32::try_from(extent.len()).ok().map(i32::to_le_bytes)
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::decode::Scratch;
    use crate::encode::compress;
    use crate::index::IndexStep;
    use crate::params::{CParams, Dict};
    use blosc_codecs::CodecId;

    /// From C-Blosc2 3.3.5: 8000 and 6000 bytes of `<i4`, blocks of 2048, the second chunk of a
    /// frame.
    const REGULAR: &[u8] =
        b"\x05\x01\x25\x04\x40\x1f\0\0\0\x08\0\0\xd2\x04\0\0\x01\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\x08\
        \x30\0\0\0\xa7\x03\0\0\x5b\x01\0\0\x86\x02\0\0\x01\0\0\0\x61\0\0\0\0\0\0\0\
        \x2b\x01\0\0\x2b\x01\0\0\x2b\x01\0\0\x21\x01\0\0";
    const MEMCPYED: &[u8] =
        b"\x05\x01\x27\x04\x70\x17\0\0\0\x08\0\0\x90\x17\0\0\x01\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\x08\
        distribution\x01\0\0\0\x61\0\0\0\0\0\0\0\0\x08\0\0\0\x08\0\0\x70\x07\0\0";

    #[test]
    fn lazy_chunks_of_c_blosc2_are_parsed() {
        let lazy = LazyChunk::parse(REGULAR).unwrap();
        assert_eq!((lazy.nchunk(), lazy.offset(), lazy.index().nblocks()), (1, 0x61, 4));
        assert_eq!(lazy.index().extent(1), 0x3a7..0x4d2);
        let plan = lazy.index().plan(0..1, 0).unwrap();
        assert_eq!(plan.ranges(), core::slice::from_ref(&(0x30..0x15b)));

        let lazy = LazyChunk::parse(MEMCPYED).unwrap();
        assert_eq!((lazy.nchunk(), lazy.offset()), (1, 0x61));
        let plan = lazy.index().plan(100..200, 0).unwrap();
        assert_eq!(plan.ranges(), core::slice::from_ref(&(132..232)));
    }

    #[test]
    fn data_are_decoded_from_the_stored_chunk() {
        let data: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
        let params = CParams::default().typesize(4).blocksize(Some(4096));
        let stored = compress(&data, &params).unwrap();
        let chunk = Chunk::parse(&stored).unwrap();
        let lazy = LazyChunk::encode(&index_of(&stored), 7, 1000).unwrap();
        assert!(lazy.len() < stored.len() && lazy[..31] == stored[..31]);

        let lazy = LazyChunk::parse(&lazy).unwrap();
        assert_eq!(lazy.index().nblocks(), chunk.nblocks());
        assert_eq!((lazy.nchunk(), lazy.offset()), (7, 1000));
        let plan = lazy.index().plan(5000..9000, 0).unwrap();
        let parts: Vec<&[u8]> = plan.ranges().iter().map(|range| &stored[range.clone()]).collect();
        let mut dest = vec![0; 4000];
        lazy.index().decode(&plan, &parts, &mut dest, &mut Scratch::default()).unwrap();
        assert_eq!(dest, data[5000..9000]);
    }

    fn index_of(stored: &[u8]) -> ChunkIndex {
        match ChunkIndex::parse(stored).unwrap() {
            IndexStep::Ready(index) => index,
            IndexStep::Needs(len) => panic!("{len} bytes are there"),
        }
    }

    #[test]
    fn lazy_chunks_are_written_as_c_blosc2_does() {
        let lazy = LazyChunk::parse(REGULAR).unwrap();
        assert_eq!(LazyChunk::encode(lazy.index(), 1, 0x61).unwrap(), REGULAR);
        // C-Blosc2 leaves uninitialised memory in a stored chunk, which has no block starts.
        let lazy = LazyChunk::parse(MEMCPYED).unwrap();
        let mut expected = MEMCPYED.to_vec();
        expected[32..44].fill(0);
        assert_eq!(LazyChunk::encode(lazy.index(), 1, 0x61).unwrap(), expected);
    }

    #[test]
    fn chunks_without_a_lazy_form_are_told() {
        let data: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
        let params = CParams::default().typesize(4);
        let run = compress(&[0; 800], &params).unwrap();
        let dict = params.codec(CodecId::ZSTD).dict(Dict::Train { max: 2000 });
        let with_dict = compress(&data, &dict.blocksize(Some(2048))).unwrap();
        for stored in [run, with_dict] {
            assert_eq!(LazyChunk::encode(&index_of(&stored), 0, 0), None);
        }
    }

    #[test]
    fn every_byte_of_the_trailer_is_checked() {
        let refused = |bytes: &[u8], at: usize| {
            assert_eq!(
                LazyChunk::parse(bytes).unwrap_err(),
                Error::corrupt(at, Corrupt::LazyTrailer)
            );
        };
        for (chunk, trailer) in [(REGULAR, 48), (MEMCPYED, 44)] {
            for len in 32..chunk.len() {
                refused(&chunk[..len], len);
            }
            let changed = |at: usize, to: u8| {
                let mut bytes = chunk.to_vec();
                bytes[at] = to;
                bytes
            };
            refused(&changed(0x1f, 0), 0x1f);
            refused(&changed(trailer + 3, 0x80), trailer);
            refused(&changed(trailer + 11, 0x80), trailer + 4);
            refused(&changed(trailer + 12, 0x99), trailer + 12);
            refused(&changed(chunk.len() - 1, 0xff), chunk.len() - 4);
        }
    }
}
