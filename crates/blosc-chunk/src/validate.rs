//! Checking a chunk from end to end, with a report of its blocks.

use core::ops::Range;

use crate::chunk::Chunk;
use crate::chunk::block::{BlockRef, StreamKind};
use crate::decode::{Job, Map, Scratch};
use crate::error::{Error, Result};
use crate::flags::Blosc2Flags;
use crate::header::Kind;
use crate::jobs;
use crate::layout::Layout;
use crate::memory;
use crate::source::{Blocks, InMemory};
use crate::special::SpecialKind;

/// The depth of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// Only the checks of [`Chunk::parse`].
    Header,
    /// Every block start, stream size and token; nothing is decoded.
    Structure,
    /// Every block is decoded.
    Decode,
}

/// The result of [`Chunk::validate`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Validation {
    /// The blocks in order; none if the chunk has none, or for [`Depth::Header`].
    pub blocks: Vec<BlockReport>,
    /// The error of the chunk as a whole.
    pub error: Option<Error>,
    /// Oddities that do not invalidate the chunk.
    pub notes: Vec<Note>,
}

impl Validation {
    /// Whether there is no error.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.first_error().is_none()
    }

    /// The first error.
    #[must_use]
    pub fn first_error(&self) -> Option<&Error> {
        self.error.as_ref().or_else(|| self.blocks.iter().find_map(|block| block.error.as_ref()))
    }
}

/// One block of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockReport {
    /// The number of the block.
    pub nblock: usize,
    /// The position of the stored block (bytes from the start of the chunk).
    pub offset: usize,
    /// Bytes of the stored block.
    pub cbytes: usize,
    /// Bytes of data.
    pub nbytes: usize,
    /// Number of stored streams.
    pub nstored: usize,
    /// Number of streams of codec output.
    pub ncoded: usize,
    /// Number of runs of one byte.
    pub nruns: usize,
    /// The error of the block. If its streams cannot be followed, the numbers above are 0.
    pub error: Option<Error>,
}

/// An oddity of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The header has another block size than the blocks; C-Blosc2 cannot read the chunk back.
    Blocksize {
        /// In the header (bytes).
        stored: usize,
        /// Of the blocks (bytes).
        used: usize,
    },
    /// A memcpyed chunk claims a dictionary; C-Blosc2 often cannot read it back.
    DictOfCopy,
    /// The flags mark a copy, but the data are compressed; C-Blosc2 cannot read the chunk back.
    Mislabelled,
    /// Bytes of the chunk that no block uses.
    Gaps {
        /// Number of these bytes.
        nbytes: usize,
    },
    /// Blocks that share bytes.
    Overlap {
        /// The first of these blocks.
        nblock: usize,
    },
    /// Data that were never set.
    Uninit,
    /// Statistics instead of data.
    Instrumented,
}

impl Chunk<'_> {
    /// Checks the chunk to the given depth, and continues after damage as far as possible.
    ///
    /// ```
    /// use blosc_chunk::validate::Depth;
    /// use blosc_chunk::{CParams, Chunk, Scratch, compress};
    ///
    /// let data: Vec<u8> = (0..20_000u32).flat_map(u32::to_le_bytes).collect();
    /// let mut bytes = compress(&data, &CParams::default().typesize(4).blocksize(Some(16 << 10)))?;
    /// let second = Chunk::parse(&bytes)?.block(1)?.offset();
    /// bytes[second + 3] = 0x7f; // a stream of two gigabytes
    ///
    /// let report = Chunk::parse(&bytes)?.validate(Depth::Structure, &mut Scratch::default());
    /// let bad = report.blocks.iter().filter(|block| block.error.is_some());
    /// assert_eq!(bad.map(|block| block.nblock).collect::<Vec<usize>>(), [1]);
    /// # Ok::<(), blosc_chunk::Error>(())
    /// ```
    #[must_use]
    pub fn validate(&self, depth: Depth, scratch: &mut Scratch) -> Validation {
        let report = self.validate_by(None, depth, scratch);
        // Only decoding decides which of two block sizes this chunk has.
        match self.layout().literal() {
            Some(grid) if !report.is_ok() => {
                Some(self.validate_by(Some(Map::Grid(grid)), depth, scratch))
                    .filter(Validation::is_ok)
                    .unwrap_or(report)
            }
            _ => report,
        }
    }

    fn validate_by(&self, map: Option<Map>, depth: Depth, scratch: &mut Scratch) -> Validation {
        let mut report =
            Validation { blocks: Vec::new(), error: None, notes: notes(self, map.is_some()) };
        if depth > Depth::Header && self.nblocks() > 0 {
            report.error = self.validate_blocks(map, depth, scratch, &mut report).err();
        }
        report
    }

    fn validate_blocks(
        &self,
        map: Option<Map>,
        depth: Depth,
        scratch: &mut Scratch,
        report: &mut Validation,
    ) -> Result<()> {
        let source = InMemory::new(*self)?;
        let map = map.map_or_else(|| Map::new(&source), Ok)?;
        report.blocks =
            (0..self.nblocks()).map(|nblock| structure(&source, &map, nblock)).collect();
        report.notes.extend(coverage(self.layout(), &report.blocks));
        if depth == Depth::Decode {
            decode(&source, &map, scratch, &mut report.blocks)?;
        }
        Ok(())
    }
}

fn notes(chunk: &Chunk<'_>, is_literal: bool) -> Vec<Note> {
    let header = chunk.header();
    let (stored, used) = (header.blocksize(), chunk.blocksize());
    let dict_of_copy = header.is_memcpyed() && header.blosc2_flags().has(Blosc2Flags::DICT);
    let notes = [
        used.filter(|_| chunk.layout().is_salvaged() && !is_literal)
            .map(|used| Note::Blocksize { stored, used }),
        dict_of_copy.then_some(Note::DictOfCopy),
        header.is_mislabelled().then_some(Note::Mislabelled),
        (header.kind() == Kind::Special(SpecialKind::Uninit)).then_some(Note::Uninit),
        header.is_instrumented().then_some(Note::Instrumented),
    ];
    notes.into_iter().flatten().collect()
}

fn structure(source: &InMemory<'_>, map: &Map, nblock: usize) -> BlockReport {
    let nbytes = map.range(nblock).len();
    match BlockRef::read(source, map, nblock) {
        Ok(block) => summary(&block),
        Err(error) => {
            let offset = source.block(nblock).map_or(0, |block| block.at);
            let unread = BlockReport {
                nblock,
                offset,
                cbytes: 0,
                nbytes,
                nstored: 0,
                ncoded: 0,
                nruns: 0,
                error: None,
            };
            BlockReport { error: Some(error), ..unread }
        }
    }
}

fn summary(block: &BlockRef) -> BlockReport {
    let count = |is: fn(StreamKind) -> bool| block.streams().iter().filter(|s| is(s.kind)).count();
    BlockReport {
        nblock: block.nblock(),
        offset: block.offset(),
        cbytes: block.cbytes(),
        nbytes: block.data().len(),
        nstored: count(|kind| kind == StreamKind::Stored),
        ncoded: count(|kind| kind == StreamKind::Coded),
        nruns: count(|kind| matches!(kind, StreamKind::Run(_))),
        error: None,
    }
}

/// Real writers leave no gaps and let no blocks overlap.
fn coverage(layout: &Layout, blocks: &[BlockReport]) -> Vec<Note> {
    let mut extents: Vec<(Range<usize>, usize)> =
        blocks.iter().map(|b| (b.offset..b.offset.saturating_add(b.cbytes), b.nblock)).collect();
    extents.sort_unstable_by_key(|(range, nblock)| (range.start, *nblock));
    let (mut end, mut gaps, mut overlap) = (layout.data_start, 0_usize, None);
    for (range, nblock) in extents {
        gaps = gaps.saturating_add(range.start.saturating_sub(end));
        if range.start < end {
            overlap.get_or_insert(nblock);
        }
        end = end.max(range.end);
    }
    gaps = gaps.saturating_add(layout.data_end().saturating_sub(end));
    let damaged = blocks.iter().any(|block| block.error.is_some());
    let gaps = (gaps > 0 && !damaged).then_some(Note::Gaps { nbytes: gaps });
    let overlap = overlap.filter(|_| !damaged).map(|nblock| Note::Overlap { nblock });
    gaps.into_iter().chain(overlap).collect()
}

/// Decodes the blocks one by one. If the first is damaged and others refer to it, they fail as
/// well.
fn decode(
    source: &InMemory<'_>,
    map: &Map,
    scratch: &mut Scratch,
    blocks: &mut [BlockReport],
) -> Result<()> {
    let Scratch { params, workers, reference, .. } = scratch;
    let job = Job::new(source, map, params, 0)?;
    let refers = job.needs_reference(blocks.len().saturating_sub(1));
    let first = if refers { job.read_reference(workers, reference) } else { Ok(()) };
    let worker = jobs::first_worker(workers);
    let mut data = Vec::new();
    for block in blocks.iter_mut().filter(|block| block.error.is_none()) {
        params.limits.check_nbytes(block.nbytes)?;
        memory::resize(&mut data, block.nbytes)?;
        let result = match &first {
            Err(error) if job.needs_reference(block.nblock) => Err(error.clone()),
            _ => job.read_part(worker, block.nblock, &(0..block.nbytes), &mut data, reference),
        };
        block.error = result.err();
    }
    Ok(())
}
