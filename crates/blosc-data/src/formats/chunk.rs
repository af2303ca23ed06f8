//! A bare chunk: a file of one chunk and nothing else, as Zarr stores them.
//!
//! Content is read in whole blocks, so that a chunk of any size passes through bounded memory. A
//! caller that examines the chunk itself gets all of its bytes, if they fit.

use core::{fmt, ops::Range};
use std::path::Path;
use std::sync::Arc;

use b2frame::{Budget, ChunkBytes, probe, probe::Kind};
use blosc_chunk::{
    Chunk, ChunkHeader, DParams, Executor, Limits, Scratch,
    error::{Blame, Corrupt},
    partial::ChunkIndex,
    validate::{BlockReport, Depth, Note},
};
use blosc_container::chunk_reader::{ChunkReader, MERGE_GAP_NBYTES, ReadError};
use blosc_dtype::Dtype;
use blosc_io::ReadAt;

use crate::Bytes;
use crate::bytes::stream_exactly;
use crate::chunks::Chunks;
use crate::content::Object;
use crate::error::{Doing, Error, Param, Result};
use crate::size::{as_len, check_memory, zeroed};
use crate::verify::{BadChunk, OnProgress, Report, VerifyOptions};

/// A chunk in a store.
pub struct BareChunk {
    store: Arc<dyn ReadAt>,
    offset: u64,
    header: ChunkHeader,
    dparams: DParams,
}

/// The header at the start of `head`, if the file of `len` bytes can be a chunk. Chunks have no
/// magic: the length in the header must be exactly that of the file.
pub fn recognise(head: &[u8], len: u64) -> Option<ChunkHeader> {
    header_of(head).filter(|header| stored_len(header) == len)
}

/// The header at the start of `head`, if there is one, for a file of any length.
pub fn header_of(head: &[u8]) -> Option<ChunkHeader> {
    let unnamed = matches!(probe(head), Kind::Chunk | Kind::Unknown);
    ChunkHeader::parse(head).ok().filter(|_| unnamed)
}

/// The item type of a chunk file of Zarr 2, from the metadata of its array, which lie in the file's
/// folder, or in one above if each dimension has a folder.
#[must_use]
pub fn dtype_beside(path: &Path, object: &Object) -> Option<Dtype> {
    let Object::Chunk(chunk) = object else { return None };
    let folders = path.ancestors().skip(1).take(MAX_DIMENSIONS);
    let metadata = folders.map(|folder| folder.join(".zarray")).find(|file| file.is_file())?;
    let is_short = metadata.metadata().is_ok_and(|found| found.len() <= MAX_METADATA_NBYTES);
    let metadata = std::fs::read(metadata).ok().filter(|_| is_short)?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).ok()?;
    // Filters change the meaning of the bytes.
    let is_plain =
        metadata.get("filters").is_none_or(|filters| filters.as_array().is_none_or(Vec::is_empty));
    let dtype: Dtype = metadata.get("dtype")?.as_str()?.parse().ok()?;
    let fits = chunk.header().nbytes().checked_rem(dtype.itemsize()) == Some(0);
    (is_plain && fits && !dtype.has_objects()).then_some(dtype)
}

/// Most folders between a chunk and the metadata of its array.
const MAX_DIMENSIONS: usize = 32;
/// Most bytes of metadata that are read.
const MAX_METADATA_NBYTES: u64 = 1 << 20;

/// Bytes of a header, and of the position of the first block after it.
pub const HEAD_LEN: usize = ChunkHeader::MAX_LEN + 4;

/// Whether a file of `len` bytes begins like a chunk and ends too early. If the header is only
/// plausible, its sizes and the position of the first block must be right as well.
pub fn is_cut(head: &[u8], len: u64) -> bool {
    let Some(header) = header_of(head).filter(|_| probe(head) == Kind::Chunk) else { return false };
    let (header_len, nbytes, cbytes) = (header.header_len(), header.nbytes(), header.cbytes());
    let blocks = header_len.saturating_add(header.nblocks().saturating_mul(4));
    let first = head.get(header_len..).and_then(|rest| rest.first_chunk());
    let first = first.map(|bytes| u32::from_le_bytes(*bytes) as usize);
    let is_right = match header.is_memcpyed() {
        true => cbytes == nbytes.saturating_add(header_len),
        false => {
            cbytes < nbytes.saturating_add(header_len)
                && first.is_some_and(|first| (blocks..cbytes).contains(&first))
        }
    };
    is_right && nbytes > 0 && stored_len(&header) > len
}

/// Bytes of the chunk. A lazy chunk has a list of block sizes instead of blocks.
pub fn stored_len(header: &ChunkHeader) -> u64 {
    if !header.is_lazy() {
        return header.cbytes() as u64;
    }
    header.header_len() as u64 + 8 * header.nblocks() as u64 + LAZY_TRAILER_LEN
}

/// The error of a chunk that has only `there` bytes.
pub fn truncated(at: u64, header: &ChunkHeader, there: u64) -> Error {
    let (cbytes, len) = (header.cbytes(), as_len(there));
    let what = Corrupt::Truncated { cbytes, len };
    Error::Chunk { at, source: blosc_chunk::Error::Corrupt { at: 0xc, what } }
}

/// Bytes of a lazy chunk's number and position in its frame.
pub const LAZY_TRAILER_LEN: u64 = 12;

impl BareChunk {
    /// The chunk that starts at `offset`.
    ///
    /// # Errors
    ///
    /// When its header does not parse, or the chunk is cut.
    pub fn open(store: Arc<dyn ReadAt>, offset: u64, dparams: DParams) -> Result<Self> {
        let there = store.len().map_err(Error::io(Doing::Open))?.saturating_sub(offset);
        let mut head = vec![0; usize::try_from(there).map_or(ChunkHeader::MAX_LEN, min_header)];
        store.read_exact_at(offset, &mut head).map_err(Error::io(Doing::Read))?;
        let header =
            ChunkHeader::parse(&head).map_err(|source| Error::Chunk { at: offset, source })?;
        if there < stored_len(&header) {
            return Err(truncated(offset, &header, there));
        }
        Ok(Self { store, offset, header, dparams })
    }

    /// The header.
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// Where it starts in the file (bytes).
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes that it takes.
    pub fn stored(&self) -> u64 {
        stored_len(&self.header)
    }

    /// Parameters for decoding its blocks.
    pub fn dparams(&self) -> &DParams {
        &self.dparams
    }

    /// All bytes of the chunk, to examine its blocks.
    ///
    /// # Errors
    ///
    /// When they, and the report of the blocks, exceed `memory`, or cannot be read.
    pub fn bytes(&self, memory: u64) -> Result<Vec<u8>> {
        // A block takes at least four bytes.
        let nblocks = (self.header.nblocks() as u64).min(self.stored() / 4);
        let needed = self.stored() + nblocks * BLOCK_REPORT_NBYTES;
        check_memory(needed, memory)?;
        let mut bytes = zeroed(self.stored())?;
        self.store.read_exact_at(self.offset, &mut bytes).map_err(Error::io(Doing::Read))?;
        Ok(bytes)
    }

    /// Hands the bytes `range` of the data to `sink` in order, in pieces.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; the error of `sink`.
    pub fn part<E: From<Error>>(
        &self,
        range: Range<u64>,
        options: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let position = |end: u64| as_len(end).min(self.header.nbytes());
        let (mut at, end) = (position(range.start), position(range.end));
        if at >= end {
            return Ok(());
        }
        let mut buffer = Vec::new();
        let store = self.store.as_ref();
        let header = self.header;
        let mut reader = ChunkReader::with_header(store, self.offset, header, &mut buffer, 0);
        let index = self.index(&mut reader, options.max_memory)?;
        let (step, threads) = self.steps(options)?;
        let mut scratch = Scratch::new(&self.dparams.clone().threads(threads));
        let mut data = vec![0; step.min(end - at)];
        while at < end {
            let next = ((at / step + 1) * step).min(end);
            let piece = &mut data[..next - at];
            let plan = index.plan(at..next, MERGE_GAP_NBYTES).map_err(self.at_chunk())?;
            let stored: usize = plan.ranges().iter().map(ExactSizeIterator::len).sum();
            let needed = (stored + piece.len()) as u64;
            check_memory(needed, options.max_memory)?;
            let decoded = reader.decode_plan(&index, &plan, piece, &mut scratch);
            decoded.map_err(self.while_reading())?;
            sink(piece)?;
            at = next;
        }
        Ok(())
    }

    /// Finds the blocks.
    fn index(&self, reader: &mut ChunkReader<'_>, memory: u64) -> Result<ChunkIndex> {
        let starts = self.header.nblocks().saturating_mul(4);
        let len = starts.saturating_add(self.header.header_len()).min(self.header.cbytes());
        // The index holds the position of each block besides its bytes.
        let needed = 8 * len as u64;
        check_memory(needed, memory)?;
        reader.index().map_err(self.while_reading())
    }

    /// Bytes of data to decode at a time, and the threads for it.
    fn steps(&self, options: &Budget) -> Result<(usize, Executor)> {
        // Finding the blocks of a VL-block chunk means walking over all of them.
        let header = &self.header;
        let block =
            if header.is_vl() { header.nbytes() } else { header.blocksize().min(header.nbytes()) };
        let block =
            if header.is_memcpyed() || header.special().is_some() { 1 } else { block.max(1) };
        // A piece, its compressed form, and the scratch of a thread: two blocks and a stream.
        let needed = 5 * block as u64;
        check_memory(needed, options.max_memory)?;
        let left = as_len(options.max_memory);
        let step = (left / 4).min(STEP_NBYTES) / block * block;
        Ok((step.max(block), options.threads.at_most(left / 2 / (3 * block))))
    }

    /// Adds the position of the chunk to an error.
    fn at_chunk(&self) -> impl Fn(blosc_chunk::Error) -> Error + use<> {
        let at = self.offset;
        move |source| Error::Chunk { at, source }
    }

    /// The error of this crate for one of the chunk reader.
    fn while_reading(&self) -> impl Fn(ReadError) -> Error + use<> {
        let at_chunk = self.at_chunk();
        move |error| match error {
            ReadError::Io { source, .. } => Error::io(Doing::Read)(source),
            ReadError::Chunk(source) => at_chunk(source),
        }
    }
}

impl fmt::Debug for BareChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("BareChunk");
        fields.field("offset", &self.offset).field("header", &self.header).finish_non_exhaustive()
    }
}

impl Bytes for BareChunk {
    fn format(&self) -> &'static str {
        "chunk"
    }

    fn nbytes(&self) -> u64 {
        self.header.nbytes() as u64
    }

    fn typesize(&self) -> u64 {
        self.header.typesize() as u64
    }

    fn stored_nbytes(&self) -> u64 {
        self.stored()
    }

    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let nbytes = self.header.nbytes() as u64;
        stream_exactly(range, nbytes, sink, |range, sink| self.part(range, budget, sink))
    }

    fn chunks(&self) -> Option<&dyn Chunks> {
        Some(self)
    }

    /// Decodes the chunk block by block: the report counts and numbers blocks.
    fn verify(&self, options: &VerifyOptions, _: OnProgress<'_>) -> Result<Report> {
        let mut report = Report::default();
        let bytes = self.bytes(options.budget.max_memory)?;
        let at = |source| Error::Chunk { at: self.offset, source };
        let chunk = match Chunk::parse(&bytes) {
            Err(source) if source.blame() == Blame::Data => {
                report.other.push(at(source));
                return Ok(report);
            }
            chunk => chunk.map_err(at)?,
        };
        // A block, its stored bytes, and two more blocks for the filters.
        let limits = Limits::none().max_nbytes(options.budget.max_memory / 4);
        let mut scratch = Scratch::new(&self.dparams.clone().limits(limits));
        let found = chunk.validate(Depth::Decode, &mut scratch);
        (report.nchunks, report.nblocks) = (1, Some(chunk.nblocks() as u64));
        report.nbytes = self.header.nbytes() as u64;
        report.notes = found.notes.iter().filter_map(note).collect();
        report.notes.extend(self.header.suspicions().map(|suspicion| suspicion.to_string()));
        report.other.extend(found.error.map(at));
        for block in found.blocks {
            let Some(source) = block.error else { continue };
            let (nchunk, offset) = (block.nblock as u64, block.offset as u64);
            let offset = Some(self.offset.saturating_add(offset));
            report.add_bad(BadChunk { nchunk, offset, error: at(source) }, options.max_reported);
        }
        Ok(report)
    }
}

/// The text of a note on a chunk; `None` for notes on blocks.
#[must_use]
pub fn note(note: &Note) -> Option<String> {
    Some(match note {
        Note::Blocksize { stored, used } => {
            format!(
                "the header says blocks of {stored} bytes, they have {used}: C-Blosc2 cannot read that"
            )
        }
        Note::DictOfCopy => {
            "a stored chunk that claims a dictionary: C-Blosc2 often cannot read it".to_owned()
        }
        Note::Mislabelled => {
            "compressed data with the flags of stored ones: C-Blosc2 cannot read that".to_owned()
        }
        Note::Gaps { nbytes } => format!("{nbytes} bytes belong to no block"),
        Note::Overlap { nblock } => format!("block {nblock} shares bytes with others"),
        Note::Uninit => "the data were never set".to_owned(),
        Note::Instrumented => "holds statistics instead of data".to_owned(),
        _ => return None,
    })
}

impl Chunks for BareChunk {
    fn nchunks(&self) -> u64 {
        1
    }

    fn chunk(&self, nchunk: u64) -> Result<ChunkBytes> {
        match nchunk {
            0 => self.bytes(u64::MAX).map(ChunkBytes::Stored),
            _ => Err(Param::ChunkNumber { nchunk, nchunks: 1 }.into()),
        }
    }
}

fn min_header(there: usize) -> usize {
    there.min(ChunkHeader::MAX_LEN)
}

/// Memory that a report about a block takes (bytes).
const BLOCK_REPORT_NBYTES: u64 = size_of::<BlockReport>() as u64 + 8;

/// Bytes of data that are decoded at a time (approximately).
const STEP_NBYTES: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_chunk::{CParams, compress};
    use blosc_io::MemStore;

    fn data() -> Vec<u8> {
        (0..300_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect()
    }

    fn chunk(params: &CParams) -> Vec<u8> {
        compress(&data(), params).unwrap()
    }

    #[test]
    fn chunk_is_recognised_by_its_exact_length() {
        let bytes = chunk(&CParams::default());
        let len = bytes.len() as u64;
        assert!(recognise(&bytes, len).is_some());
        assert!(recognise(&bytes, len + 1).is_none());
        assert!(recognise(&bytes[..15], len).is_none());
        assert!(recognise(b"a text that is no chunk, of course", 34).is_none());
    }

    #[test]
    fn parts_are_slices_of_the_whole_in_any_memory() {
        let stored = chunk(&CParams::default().typesize(4).blocksize(Some(8000)));
        let bare = BareChunk::open(Arc::new(MemStore::new(stored)), 0, DParams::default()).unwrap();
        for memory in [40_000, 200_000, 128 << 20] {
            let options = Budget::default().threads(Executor::default()).max_memory(memory);
            for range in [0..1_200_000, 0..1, 7999..8001, 5..1_199_999, 1_199_999..1_200_000, 9..9]
            {
                let mut found = Vec::new();
                let mut sink = |bytes: &[u8]| {
                    found.extend_from_slice(bytes);
                    Ok::<(), Error>(())
                };
                bare.part(range.clone(), &options, &mut sink).unwrap();
                let position = |end| usize::try_from(end).unwrap();
                assert!(
                    found == data()[position(range.start)..position(range.end)],
                    "{range:?} in {memory}"
                );
            }
        }
    }

    #[test]
    fn a_block_that_does_not_fit_is_a_limit() {
        let stored = chunk(&CParams::default().blocksize(Some(800_000)));
        let bare = BareChunk::open(Arc::new(MemStore::new(stored)), 0, DParams::default()).unwrap();
        let options = Budget::default().max_memory(1 << 20);
        let refused = bare.part(0..1, &options, &mut |_| Ok::<(), Error>(()));
        assert!(matches!(refused, Err(Error::MaxMemory { limit: 1_048_576, .. })));
    }
}
