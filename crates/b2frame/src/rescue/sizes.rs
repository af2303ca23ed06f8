//! Corrects sizes in a header that contradict chunks and index: one wrong bit in `nbytes` or in the
//! chunk size makes the index unusable, though all chunks exist.

use core::num::NonZeroU32;

use blosc_chunk::ChunkHeader;

use super::{Damage, Wreck, file_header};
use crate::error::{Corrupt, Error, Result};
use crate::header::{ChunkSize, FrameHeader};
use crate::metalayers::{Metalayers, Section};
use crate::offsets::Offset;
use crate::params::Checksums;
use crate::schunk::{SChunk, read_meta};
use crate::writer::Start;

/// Chunks whose sizes are compared with the header; two that agree outvote it.
const NLOOKED: usize = 3;

impl Wreck<'_> {
    /// All numbers of the index. If the index counts other chunks than the header, or if chunks
    /// have another size than the header says, the header is corrected.
    pub(super) fn offsets_that_fit(
        &mut self,
        header: &mut FrameHeader,
        end: u64,
    ) -> Result<Vec<u64>> {
        let chunksize = header.chunksize().fixed();
        let (offsets, is_right) = match (self.offsets(header, end), chunksize) {
            (
                Err(Error::Corrupt { what: Corrupt::IndexNbytes { nbytes, expected }, at }),
                Some(chunksize),
            ) => {
                let mut counted = header.clone();
                counted.set_nbytes((nbytes / 8).saturating_mul(chunksize.into()));
                let offsets = self.offsets(&counted, end)?;
                // Only one field stores the length of a run, and that field may be the damaged one.
                if offsets.len() > 1 && offsets.windows(2).all(|pair| pair.first() == pair.last()) {
                    let what = Corrupt::IndexNbytes { nbytes, expected };
                    return Err(Error::Corrupt { at, what });
                }
                (offsets, false)
            }
            (offsets, _) => (offsets?, true),
        };
        let found = self.chunksize_found(header, &offsets).filter(|size| Some(*size) != chunksize);
        if let Some(size) = found.and_then(NonZeroU32::new).filter(|_| chunksize.is_some()) {
            *header = header.clone().chunks_like(ChunkSize::Fixed(size), header);
        }
        let is_other = found.is_some() && chunksize.is_some();
        if !is_right || is_other || self.is_last_other(header, &offsets) {
            self.set_sizes(header, &offsets);
        }
        Ok(offsets)
    }

    /// Sets the sizes in the header to the sums of these chunks.
    pub(super) fn set_sizes(&mut self, header: &mut FrameHeader, offsets: &[u64]) {
        let chunksize = header.chunksize().fixed().unwrap_or(0);
        let last = offsets.last().and_then(|number| self.nbytes_of(header, *number));
        let last = last.filter(|last| *last <= chunksize).unwrap_or(chunksize);
        let others = (offsets.len() as u64).saturating_sub(1);
        let nbytes = others.saturating_mul(chunksize.into()).saturating_add(last.into());
        header.set_nbytes(if offsets.is_empty() { 0 } else { nbytes });
        self.damage.push(Damage::Header);
    }

    /// The common size of the first stored chunks, without the last chunk, if they have one.
    fn chunksize_found(&self, header: &FrameHeader, offsets: &[u64]) -> Option<u32> {
        let (_, whole) = offsets.split_last()?;
        let mut sizes = whole.iter().take(NLOOKED).filter_map(|at| self.nbytes_of(header, *at));
        let (first, second) = (sizes.next()?, sizes.next()?);
        (first == second && sizes.all(|size| size == first)).then_some(first)
    }

    /// Whether the last chunk decodes, but to another size than the header leaves for it.
    fn is_last_other(&self, header: &FrameHeader, offsets: &[u64]) -> bool {
        let (Some(size), Some((last, others))) = (header.chunksize().fixed(), offsets.split_last())
        else {
            return false;
        };
        let whole = (others.len() as u64).saturating_mul(size.into());
        let found = self.nbytes_of(header, *last).filter(|found| *found <= size);
        let Some(found) =
            found.filter(|found| whole.saturating_add((*found).into()) != header.nbytes())
        else {
            return false;
        };
        let mut counted = header.clone();
        counted.set_nbytes(whole.saturating_add(found.into()));
        let nchunk = others.len() as u64;
        let (Ok(meta), Ok(vlmeta)) =
            (read_meta(&self.source, header), Metalayers::build([], Section::TRAILER))
        else {
            return false;
        };
        let start = Start { header: counted, meta, vlmeta, checksums: Checksums::default() };
        let Ok(mut frame) = self.without_chunks(start) else { return false };
        frame.change().set_table(offsets.to_vec());
        frame.snapshot().decode_chunk(nchunk).is_ok()
    }

    /// Uncompressed size of the stored chunk of a number, as its own header says (bytes).
    fn nbytes_of(&self, header: &FrameHeader, number: u64) -> Option<u32> {
        let Ok(Offset::Stored(at)) = Offset::parse(0, number) else { return None };
        let found = match &self.folder {
            Some(folder) => file_header(folder, at)?,
            None => {
                let at = u64::from(header.header_len()).checked_add(at)?;
                let room = self.source.available().ok()?.checked_sub(at)?;
                let (head, len) =
                    self.source.read_head::<{ ChunkHeader::MAX_LEN }>(at, room).ok()?;
                ChunkHeader::parse(head.get(..len)?).ok()?
            }
        };
        u32::try_from(found.nbytes()).ok()
    }
}

/// Whether the first chunks and the last one have the sizes of the header.
pub(super) fn has_sizes_of_chunks(schunk: &SChunk) -> bool {
    let last = schunk.nchunks().saturating_sub(1);
    let nwhole = last.min(NLOOKED as u64);
    let is_first = nwhole < 2 || (0..nwhole).any(|nchunk| schunk.locate(nchunk).is_ok());
    is_first && (schunk.nchunks() == 0 || schunk.locate(last).is_ok())
}
