//! Single items of a chunk, without decoding the bytes before them: for random reads of single
//! items from chunks that are too many to be kept decoded.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "offsets and sizes are those of streams that were followed"
)]

use core::ops::Range;

use blosc_codecs::internal::SeqIndex;

use crate::chunk::Chunk;
use crate::chunk::block::{BlockRef, StreamKind, StreamRef};
use crate::header::Kind;
use blosc_codecs::FormatId;
use blosc_filters::FilterId;

/// Where the bytes of each item are: some hundredths of the data in size, while its chunk can be
/// anywhere.
///
/// There is one for regular chunks of LZ4 or LZ4HC, shuffled or without filter. It is made by
/// following all streams once, which takes about as long as decoding them.
///
/// ```
/// use blosc_chunk::internal::ItemIndex;
/// use blosc_chunk::{CParams, Chunk, CodecId, compress};
///
/// let data: Vec<u8> = (0..50_000u32).flat_map(|n| (n * n / 100).to_le_bytes()).collect();
/// let bytes = compress(&data, &CParams::default().typesize(4).codec(CodecId::LZ4))?;
/// let index = ItemIndex::new(&Chunk::parse(&bytes)?).unwrap();
///
/// let (mut item, mut nread) = ([0; 4], 0);
/// let is_found = index.read::<()>(120_000..120_004, &mut item, &mut |at, dest| {
///     dest.copy_from_slice(&bytes[at..at + dest.len()]);
///     nread += dest.len();
///     Ok(())
/// });
/// assert_eq!((is_found, &item[..]), (Ok(true), &data[120_000..120_004]));
/// assert!(nread < 10_000);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ItemIndex {
    nbytes: usize,
    blocksize: usize,
    /// Bytes of an item whose bytes are apart; 1 if they are not.
    shuffled: usize,
    blocks: Vec<Vec<Stream>>,
}

/// Reads bytes of a chunk: from which one on, and to where.
pub type ReadChunk<'a, E> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<(), E>;

/// A stream of a block; all of them have as many bytes of data.
#[derive(Clone, Debug)]
struct Stream {
    nbytes: usize,
    /// Where its bytes are in the chunk.
    payload: Range<usize>,
    kind: Bytes,
}

/// How a byte of a stream is had.
#[derive(Clone, Debug)]
enum Bytes {
    Stored,
    Run(u8),
    Coded(SeqIndex),
    /// As well, and short enough to be kept as it is in the chunk.
    Kept(SeqIndex, Box<[u8]>),
}

impl ItemIndex {
    /// Follows all streams of a chunk. `None` if it is of another kind, or something is wrong with
    /// it; decoding it gives the error.
    #[must_use]
    pub fn new(chunk: &Chunk<'_>) -> Option<Self> {
        let header = chunk.header();
        let is_plain = header.kind() == Kind::Regular
            && header.format() == FormatId::LZ4
            && !header.has_dict();
        let pipeline = header.pipeline();
        let mut filters = pipeline.active();
        let shuffled = match (filters.next(), filters.next()) {
            (None, _) => 1,
            (Some(slot), None) if slot.id == FilterId::SHUFFLE && slot.meta == 0 => {
                header.typesize()
            }
            _ => return None,
        };
        let blocksize = chunk.blocksize().filter(|_| is_plain)?;
        let block = |block: BlockRef| {
            block.streams().iter().map(|stream| Stream::new(chunk, stream)).collect()
        };
        let blocks = chunk.blocks().ok()?.map(|found| block(found.ok()?)).collect::<Option<_>>()?;
        Some(Self { nbytes: header.nbytes(), blocksize, shuffled: shuffled.max(1), blocks })
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        let of_stream = |stream: &Stream| match &stream.kind {
            Bytes::Coded(index) => size_of::<Stream>().saturating_add(index.capacity()),
            Bytes::Kept(index, coded) => {
                size_of::<Stream>().saturating_add(index.capacity()).saturating_add(coded.len())
            }
            _ => size_of::<Stream>(),
        };
        self.blocks.iter().flatten().map(of_stream).fold(size_of::<Self>(), usize::saturating_add)
    }

    /// Reads some bytes of the data, one by one. `read` reads bytes of the chunk, which must be
    /// the same as for [`new`](Self::new). False if one of them is at the end of a long chain of
    /// matches, or outside the data: then decode the chunk.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn read<E>(
        &self,
        bytes: Range<usize>,
        dest: &mut [u8],
        read: ReadChunk<'_, E>,
    ) -> Result<bool, E> {
        if bytes.len() != dest.len() {
            return Ok(false);
        }
        for (at, dest) in bytes.zip(dest) {
            match self.byte(at, read)? {
                Some(byte) => *dest = byte,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn byte<E>(&self, at: usize, read: ReadChunk<'_, E>) -> Result<Option<u8>, E> {
        let Some((stream, at)) = self.find_stream(at) else { return Ok(None) };
        let start = stream.payload.start;
        match &stream.kind {
            Bytes::Run(value) => Ok(Some(*value)),
            Bytes::Stored => {
                let mut byte = [0];
                read(start.saturating_add(at), &mut byte)?;
                Ok(Some(byte[0]))
            }
            Bytes::Coded(index) => {
                index.read_byte(at, &mut |at, dest| read(start.saturating_add(at), dest))
            }
            Bytes::Kept(index, coded) => index.read_byte(at, &mut |at, dest| {
                // No other bytes are read.
                if let Some(bytes) = coded.get(at..at.saturating_add(dest.len())) {
                    dest.copy_from_slice(bytes);
                }
                Ok(())
            }),
        }
    }

    /// The stream that has a byte of the data, and which byte of it that is.
    fn find_stream(&self, at: usize) -> Option<(&Stream, usize)> {
        let start = at - at.checked_rem(self.blocksize)?;
        let streams = self.blocks.get(at / self.blocksize)?;
        let (nbytes, at) = (self.blocksize.min(self.nbytes.checked_sub(start)?), at - start);
        if at >= nbytes {
            return None;
        }
        // First all first bytes of the items, then all second ones; a cut item comes last and
        // is not shuffled.
        let nitems = nbytes / self.shuffled;
        let (nitem, nth) = (at / self.shuffled, at % self.shuffled);
        let at = if nitem < nitems { nth * nitems + nitem } else { at };
        let width = streams.first()?.nbytes;
        Some((streams.get(at.checked_div(width)?)?, at % width))
    }
}

impl Stream {
    fn new(chunk: &Chunk<'_>, stream: &StreamRef) -> Option<Self> {
        let kind = match stream.kind {
            StreamKind::Stored => Bytes::Stored,
            StreamKind::Run(value) => Bytes::Run(value),
            StreamKind::Coded => {
                let coded = chunk.bytes().get(stream.payload.clone())?;
                let index = SeqIndex::new(coded, stream.nbytes)?;
                let is_short = coded.len() <= MAX_KEPT_NBYTES.min(stream.nbytes / MIN_KEPT_RATIO);
                if is_short { Bytes::Kept(index, coded.into()) } else { Bytes::Coded(index) }
            }
        };
        Some(Self { nbytes: stream.nbytes, payload: stream.payload.clone(), kind })
    }
}

/// A coded stream of at most this length (bytes) is kept, which saves reading it for every item,
const MAX_KEPT_NBYTES: usize = 8192;
/// if its data are at least this many times as long: an index takes some hundredths of the data.
const MIN_KEPT_RATIO: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::compress;
    use crate::params::{CParams, SplitMode, Target};
    use blosc_codecs::CodecId;
    use blosc_filters::Pipeline;

    fn data() -> Vec<u8> {
        let walk = |n: u32| (n / 3 * 7 + n.wrapping_mul(2_654_435_761) % 5) as f64 / 100.0;
        let mut data: Vec<u8> = (0..700).flat_map(|n| walk(n).to_le_bytes()).collect();
        data.extend([0; 1500]);
        data.extend((0..1003_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 20).to_le_bytes()[0]));
        data
    }

    /// Compares all items; items in long chains of matches may be left out.
    fn check(params: &CParams) {
        let data = data();
        let bytes = compress(&data, params).unwrap();
        let index = ItemIndex::new(&Chunk::parse(&bytes).unwrap()).unwrap();
        let read = &mut |at: usize, dest: &mut [u8]| {
            dest.copy_from_slice(&bytes[at..at + dest.len()]);
            Ok::<_, ()>(())
        };
        let (mut found, mut item) = (0, [0; 4]);
        for (n, expected) in data.as_chunks::<4>().0.iter().enumerate().step_by(3) {
            if index.read(n * 4..n * 4 + 4, &mut item, read).unwrap() {
                assert_eq!(item, *expected, "{n}: {params:?}");
                found += 1;
            }
        }
        assert!(found > data.len() / 12 / 5, "{found}: {params:?}");
        assert_eq!(index.read(data.len() - 1..data.len() + 1, &mut [0; 2], read), Ok(false));
        assert_eq!(index.read(0..1, &mut [0; 2], read), Ok(false));
        assert!(index.capacity() < data.len() / 4);
    }

    #[test]
    fn items_are_those_of_the_data() {
        for codec in [CodecId::LZ4, CodecId::LZ4HC] {
            for (filters, typesize) in [("shuffle", 8), ("shuffle", 1), ("shuffle", 7), ("none", 8)]
            {
                for target in [Target::Blosc1_14, Target::Blosc2_0] {
                    for split in [SplitMode::ForwardCompat, SplitMode::Never] {
                        let pipeline = Pipeline::parse(filters).unwrap();
                        let params = CParams::default()
                            .codec(codec)
                            .filters(pipeline)
                            .target(target)
                            .split(split);
                        for block_size in [Some(4096), None] {
                            check(&params.clone().typesize(typesize).blocksize(block_size));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn other_chunks_have_none() {
        let params = CParams::default().codec(CodecId::LZ4).typesize(8);
        let none = |data: &[u8], params: &CParams| {
            let bytes = compress(data, params).unwrap();
            assert!(ItemIndex::new(&Chunk::parse(&bytes).unwrap()).is_none());
        };
        for filters in ["bitshuffle", "delta,shuffle", "trunc:20,shuffle"] {
            none(&data(), &params.clone().filters(Pipeline::parse(filters).unwrap()));
        }
        none(&data(), &params.clone().codec(CodecId::BLOSCLZ));
        none(&[0; 10_000], &params);
        none(&[], &params);
        // A stream that is cut.
        let bytes = compress(&data(), &params).unwrap();
        for at in (32..bytes.len()).step_by(29) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            // Whatever becomes of it, it ends.
            if let Some(index) =
                Chunk::parse(&changed).ok().and_then(|chunk| ItemIndex::new(&chunk))
            {
                let read = &mut |at: usize, dest: &mut [u8]| {
                    dest.copy_from_slice(changed.get(at..at + dest.len()).ok_or(())?);
                    Ok::<_, ()>(())
                };
                let _ = index.read(at..at + 8, &mut [0; 8], read);
            }
        }
    }
}
