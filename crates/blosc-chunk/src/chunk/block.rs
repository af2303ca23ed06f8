//! A block of a chunk and its streams, for inspection without decoding.

use core::ops::Range;

use super::Chunk;
use crate::decode::{Map, nstreams};
use crate::error::Result;
use crate::layout::Layout;
use crate::source::{Blocks, InMemory, StoredBlock};
use crate::stream::Payload;
use crate::vl;

pub use super::vl::VlChunk;

/// The position of a stored block, and its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRef {
    nblock: usize,
    data: Range<usize>,
    offset: usize,
    streams: Vec<StreamRef>,
}

/// One stream of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamRef {
    /// Where its size field is (bytes from the start of the chunk).
    pub offset: usize,
    /// Bytes of data, before the filters are undone.
    pub nbytes: usize,
    /// The form of the data.
    pub kind: StreamKind,
    /// The position of the stored bytes (bytes from the start of the chunk), without the token of a
    /// run.
    pub payload: Range<usize>,
}

/// The form of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamKind {
    /// The bytes themselves.
    Stored,
    /// The output of the codec.
    Coded,
    /// A run of one byte.
    Run(u8),
}

impl BlockRef {
    pub(super) fn find(chunk: &Chunk<'_>, nblock: usize) -> Result<Self> {
        chunk.check_nblock(nblock)?;
        let source = InMemory::new(*chunk)?;
        Self::read(&source, &Map::new(&source)?, nblock)
    }

    pub(super) fn all<'a>(
        chunk: Chunk<'a>,
    ) -> Result<impl Iterator<Item = Result<Self>> + use<'a>> {
        let source = InMemory::new(chunk)?;
        let map = Map::new(&source)?;
        Ok((0..chunk.nblocks()).map(move |nblock| Self::read(&source, &map, nblock)))
    }

    /// Walks over the streams of a block.
    pub(crate) fn read(blocks: &impl Blocks, map: &Map, nblock: usize) -> Result<Self> {
        let block = blocks.block(nblock)?;
        let data = map.range(nblock);
        let streams = find_streams(blocks.layout(), block, data.len())
            .map_err(|error| error.in_block(nblock, block.at))?;
        Ok(Self { nblock, data, offset: block.at, streams })
    }

    /// The number of the block.
    #[must_use]
    pub const fn nblock(&self) -> usize {
        self.nblock
    }

    /// The bytes of the chunk's data that it contains.
    #[must_use]
    pub fn data(&self) -> Range<usize> {
        self.data.clone()
    }

    /// Where it is stored (bytes from the start of the chunk).
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Its bytes in the chunk, including size fields.
    #[must_use]
    pub fn cbytes(&self) -> usize {
        self.streams.iter().map(StreamRef::cbytes).sum()
    }

    /// Its streams: `typesize` of them if the block is split, one otherwise.
    #[must_use]
    pub fn streams(&self) -> &[StreamRef] {
        &self.streams
    }
}

impl StreamRef {
    /// Its bytes in the chunk: size field, payload, and the token of a run.
    #[must_use]
    pub fn cbytes(&self) -> usize {
        let token = matches!(self.kind, StreamKind::Run(1..));
        self.payload.len().saturating_add(4).saturating_add(usize::from(token))
    }

    fn new(offset: usize, nbytes: usize, payload: Payload<'_>) -> Self {
        let (kind, len) = match payload {
            Payload::Stored(bytes) => (StreamKind::Stored, bytes.len()),
            Payload::Coded(bytes) => (StreamKind::Coded, bytes.len()),
            Payload::Run(value) => (StreamKind::Run(value), 0),
        };
        let start = offset.saturating_add(4);
        Self { offset, nbytes, kind, payload: start..start.saturating_add(len) }
    }
}

fn find_streams(layout: &Layout, block: StoredBlock<'_>, nbytes: usize) -> Result<Vec<StreamRef>> {
    if layout.header.is_vl() {
        let payload = vl::payload(block.bytes, nbytes);
        return Ok(vec![StreamRef::new(block.at, nbytes, payload)]);
    }
    let mut streams = block.streams(layout);
    let nstreams = nstreams(layout, &streams, block.bytes.len(), nbytes);
    let nbytes = nbytes.checked_div(nstreams).unwrap_or(0);
    let next = |_| {
        let offset = streams.at;
        Ok(StreamRef::new(offset, nbytes, streams.next(nbytes)?))
    };
    (0..nstreams).map(next).collect()
}
