//! Changes of whole chunks: append, insert, replace, move and remove.

use std::collections::{HashMap, HashSet};

use blosc_chunk::{
    Chunk, ChunkHeader, Encoder, Special, SpecialKind, Target, internal::fill_special,
    special_chunk,
};

use super::SChunkWriter;
use super::storage::Storage;
use crate::error::{Error, Param, Result};
use crate::header::{ChunkSize, MAX_CHUNK};
use crate::offsets::{MAX_NCHUNKS, Offset};
use crate::schunk::{ChunkBytes, FrameState, Location, SChunk};
use crate::seal::BodySum;

/// A chunk that is in storage, or that its entry in the index describes. It has no position yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// The number for the index.
    pub offset: u64,
    /// Uncompressed size (bytes).
    pub nbytes: usize,
}

/// The position of a new chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the chunk of this number, or after the last.
    Before(u64),
    /// Instead of the chunk of this number.
    InsteadOf(u64),
}

/// The run that an entry of the index can hold instead of a chunk with this header.
pub(crate) fn noted_run(header: &ChunkHeader) -> Option<SpecialKind> {
    header.special().filter(|kind| *kind != SpecialKind::Value)
}

impl SChunkWriter {
    /// Appends a compressed chunk. A run of zeros, NaN or uninitialised data is only noted in the
    /// index where that is possible.
    ///
    /// # Errors
    /// [`Error::Param`] for a size or a kind of chunk that does not fit; [`Error::Chunk`] if
    /// `chunk` is not a chunk; [`Error::Write`].
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        self.place_chunk(Place::Before(self.frame.nchunks()), chunk)
    }

    /// Inserts a compressed chunk before another one, or after the last.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk).
    pub fn insert_chunk(&mut self, nchunk: u64, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        self.place_chunk(Place::Before(nchunk), chunk)
    }

    /// Replaces a chunk by a compressed one.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk).
    pub fn update_chunk(&mut self, nchunk: u64, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        self.place_chunk(Place::InsteadOf(nchunk), chunk)
    }

    /// Appends a chunk of another super-chunk.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk).
    pub fn append_chunk_bytes(&mut self, chunk: &ChunkBytes) -> Result<()> {
        match chunk {
            ChunkBytes::Stored(bytes) => self.append_chunk(bytes),
            ChunkBytes::Special { kind, nbytes } => self.append_special(*kind, *nbytes),
        }
    }

    /// Appends all chunks of another super-chunk as they are. Their items should have the same
    /// size.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk), or the error of reading a chunk.
    pub fn append_chunks(&mut self, other: &SChunk) -> Result<()> {
        (0..other.nchunks())
            .try_for_each(|nchunk| self.append_chunk_bytes(&other.chunk(nchunk)?))?;
        self.compare_source(other)
    }

    /// Appends `nbytes` bytes of a run as one chunk: zeros, NaN, or uninitialised data.
    ///
    /// # Errors
    /// [`Param::NanTypesize`], [`Param::SpecialKind`], or a size that does not fit.
    pub fn append_special(&mut self, kind: SpecialKind, nbytes: usize) -> Result<()> {
        self.begin()?;
        self.place_special(Place::Before(self.frame.nchunks()), kind, nbytes)
    }

    /// Replaces a chunk by a run of the same size.
    ///
    /// # Errors
    /// As [`append_special`](Self::append_special), or [`Param::ChunkNumber`].
    pub fn update_special(&mut self, nchunk: u64, kind: SpecialKind) -> Result<()> {
        self.begin()?;
        let nbytes = self.frame.chunk_nbytes(nchunk)?;
        self.place_special(Place::InsteadOf(nchunk), kind, nbytes)
    }

    /// Appends blocks of individual sizes as one chunk. The frame must have only chunks of this
    /// kind; a frame without chunks becomes such a frame.
    ///
    /// # Errors
    /// [`Param::VlBlocks`], [`Error::Compress`], or [`Error::Write`].
    pub fn append_vl(&mut self, blocks: &[&[u8]]) -> Result<()> {
        let chunk = self.encode_vl(blocks)?;
        self.append_of_any_size(&chunk)
    }

    /// Appends a chunk that may have another size than the others. If the frame has one chunk size,
    /// and this chunk does not fit, chunks have [any size](Self::make_variable) from now on.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk) and [`make_variable`](Self::make_variable).
    pub fn append_of_any_size(&mut self, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        let fixed = self.frame.header().chunksize().fixed();
        if let (Some(size), Ok(header)) = (fixed, ChunkHeader::parse(chunk))
            && (self.has_short_end() || header.nbytes() > size as usize)
        {
            self.make_variable()?;
        }
        self.append_chunk(chunk)
    }

    /// Replaces a chunk by blocks of individual sizes.
    ///
    /// # Errors
    /// As [`append_vl`](Self::append_vl).
    pub fn update_vl(&mut self, nchunk: u64, blocks: &[&[u8]]) -> Result<()> {
        let chunk = self.encode_vl(blocks)?;
        self.update_chunk(nchunk, &chunk)
    }

    /// Removes a chunk.
    ///
    /// # Errors
    /// [`Param::ChunkNumber`], or the error of the chunk, where the chunk itself holds its size.
    pub fn delete(&mut self, nchunk: u64) -> Result<()> {
        self.begin()?;
        self.load_index()?;
        let nbytes = self.frame.chunk_nbytes(nchunk)?;
        self.forget(nchunk)?;
        self.change_chunks().remove_chunk(nchunk, nbytes)
    }

    /// Puts the chunks into another order: the new chunk `i` is the old `order[i]`.
    ///
    /// # Errors
    /// [`Param::Order`] unless each number is there once; [`Param::AfterLastChunk`] if a short last
    /// chunk moves.
    pub fn reorder(&mut self, order: &[u64]) -> Result<()> {
        self.begin()?;
        self.check_order(order)?;
        self.load_index()?;
        let moved = order.iter().map(|old| self.number(*old)).collect::<Result<_>>()?;
        self.change_chunks().set_table(moved);
        Ok(())
    }

    /// Makes the index anew: each entry gives the number of an old chunk, or `None` for zeros. All
    /// chunks are full and have one size.
    pub(crate) fn rearrange(&mut self, chunks: &[Option<u64>]) -> Result<()> {
        self.begin()?;
        self.load_index()?;
        let zeros = Offset::of_special(SpecialKind::Zeros).ok_or(Param::SpecialKind)?;
        let kept: HashSet<u64> = chunks.iter().flatten().copied().collect();
        if self.seal.is_kept() || self.storage.is_sparse() {
            let dropped = (0..self.frame.nchunks()).filter(|nchunk| !kept.contains(nchunk));
            dropped.collect::<Vec<_>>().into_iter().try_for_each(|nchunk| self.forget(nchunk))?;
        }
        let number = |chunk: &Option<u64>| chunk.map_or(Ok(zeros), |old| self.number(old));
        let table = chunks.iter().map(number).collect::<Result<_>>()?;
        let nchunks = chunks.len() as u64;
        let nbytes = match self.frame.header().chunksize().fixed() {
            Some(size) => nchunks.checked_mul(size.into()),
            None => (nchunks == 0).then_some(0),
        };
        let nbytes = nbytes.ok_or(Error::internal("chunks of no size in an array"))?;
        self.change_chunks().set_chunks(table, nbytes);
        Ok(())
    }

    /// Lets chunks have any size from now on, for good. C-Blosc2 from 3.0 on reads such frames.
    ///
    /// # Errors
    /// The error of an existing chunk, or [`Error::Write`].
    pub fn make_variable(&mut self) -> Result<()> {
        self.begin()?;
        if self.frame.header().chunksize() == ChunkSize::Variable {
            return Ok(());
        }
        self.load_index()?;
        let runs = self.noted_runs()?;
        self.store_runs(&runs)?;
        self.change_chunks().set_variable_chunks();
        Ok(())
    }

    /// The numbers of the index, which must be loaded.
    pub(super) fn table(&self) -> &[u64] {
        self.frame.index().as_table()
    }

    /// The number of a chunk in the index, which must be loaded.
    fn number(&self, nchunk: u64) -> Result<u64> {
        let number = usize::try_from(nchunk).ok().and_then(|at| self.table().get(at));
        number.copied().ok_or(Error::internal("the index has no such chunk"))
    }

    /// The state, for a change of the chunks.
    pub(super) fn change_chunks(&mut self) -> &mut FrameState {
        self.changed.chunks = true;
        self.frame.change()
    }

    /// Compresses data to a chunk.
    pub(super) fn encode(&mut self, data: &[u8]) -> Result<Vec<u8>> {
        if self.frame.header().flags().vl_blocks() {
            return Err(Param::VlBlocks.into());
        }
        self.compressor.encode(self.frame.nchunks(), data)
    }

    /// Compresses blocks to a chunk of the newer kind.
    fn encode_vl(&mut self, blocks: &[&[u8]]) -> Result<Vec<u8>> {
        self.begin()?;
        if self.frame.nchunks() > 0 && !self.frame.header().flags().vl_blocks() {
            return Err(Param::VlBlocks.into());
        }
        let nchunk = self.frame.nchunks();
        let failed = |source| Error::Compress { nchunk, source };
        let cparams = self.cparams().clone().target(Target::Blosc3_0);
        Encoder::new(cparams.in_schunk())
            .and_then(|mut encoder| encoder.encode_vl(blocks))
            .map_err(failed)
    }

    /// Stores a chunk and enters it into the index.
    pub(super) fn place_chunk(&mut self, place: Place, chunk: &[u8]) -> Result<()> {
        let nchunk = self.frame.nchunks();
        let wrong = |source| Error::Chunk { nchunk, at: 0, source };
        let parsed = Chunk::parse(chunk).map_err(wrong)?;
        let header = parsed.header();
        if let Some(kind) = noted_run(header) {
            return self.place_special(place, kind, header.nbytes());
        }
        if !header.is_extended() {
            return Err(Param::Blosc1Chunk.into());
        }
        self.check_kind(header.is_vl(), header.special().is_some())?;
        self.check_size(place, header.nbytes())?;
        self.store_in_place(place, parsed.bytes(), header.nbytes())
    }

    /// Compresses data, stores the chunk and enters it into the index.
    pub(super) fn place_data(&mut self, place: Place, data: &[u8]) -> Result<()> {
        self.check_size(place, data.len())?;
        let chunk = self.encode(data)?;
        let nchunk = self.frame.nchunks();
        let header = ChunkHeader::parse(&chunk);
        let header = header.map_err(|source| Error::Compress { nchunk, source })?;
        match noted_run(&header) {
            Some(kind) => self.place_run(place, kind, data.len()),
            None if !header.is_extended() => Err(Param::Blosc1Chunk.into()),
            None => self.store_in_place(place, &chunk, data.len()),
        }
    }

    fn store_in_place(&mut self, place: Place, chunk: &[u8], nbytes: usize) -> Result<()> {
        let offset = self.store(chunk)?;
        self.put_in_place(place, Ready { offset, nbytes })
    }

    /// Checks the size of a run and enters the run into the index.
    pub(super) fn place_special(
        &mut self,
        place: Place,
        kind: SpecialKind,
        nbytes: usize,
    ) -> Result<()> {
        self.check_size(place, nbytes)?;
        self.place_run(place, kind, nbytes)
    }

    /// Enters a run into the index: as a note where possible, otherwise as a stored chunk.
    fn place_run(&mut self, place: Place, kind: SpecialKind, nbytes: usize) -> Result<()> {
        let typesize = self.frame.typesize();
        if kind == SpecialKind::Nans && !matches!(typesize, 4 | 8) {
            return Err(Param::NanTypesize { typesize: typesize as u64 }.into());
        }
        let offset = Offset::of_special(kind).ok_or(Param::SpecialKind)?;
        let is_noted = self.frame.header().chunksize() != ChunkSize::Variable
            && nbytes.checked_rem(typesize) == Some(0);
        let ready =
            if is_noted { Ready { offset, nbytes } } else { self.store_special(kind, nbytes)? };
        self.put_in_place(place, ready)
    }

    /// Stores a run as a chunk: one repeated item. If the run ends within an item, C-Blosc2 before
    /// 3.1.5 refuses such a chunk, so its data are compressed. All releases refuse a chunk whose
    /// header says zeros, NaN or uninitialised.
    fn store_special(&mut self, kind: SpecialKind, nbytes: usize) -> Result<Ready> {
        let (nchunk, typesize) = (self.frame.nchunks(), self.frame.typesize());
        let failed = |source| Error::Compress { nchunk, source };
        let is_whole = nbytes.checked_rem(typesize) == Some(0);
        let mut data = vec![0; if is_whole { typesize } else { nbytes }];
        if kind == SpecialKind::Nans {
            fill_special(Special::Nans, typesize, &mut data).map_err(failed)?;
        }
        let cparams = self.cparams().clone().special_values(false);
        let chunk = if is_whole {
            special_chunk(Special::Value(&data), nbytes, &cparams)
        } else {
            blosc_chunk::compress(&data, &cparams.in_schunk())
        };
        let offset = self.store(&chunk.map_err(failed)?)?;
        Ok(Ready { offset, nbytes })
    }

    /// Writes the bytes of a chunk where readers do not look yet, and returns the number for the
    /// index.
    pub(super) fn store(&mut self, chunk: &[u8]) -> Result<u64> {
        let number = self.storage.place(chunk)?;
        self.seal.note_stored(number, chunk);
        self.count_stored(chunk.len())?;
        Ok(number)
    }

    /// Adds `cbytes` bytes of chunks that were written.
    fn count_stored(&mut self, cbytes: usize) -> Result<()> {
        self.changed.chunks = true;
        self.storage.count(self.frame.change(), cbytes)
    }

    /// Replaces chunks while the old ones are read, if need be by threads. `make` gets the
    /// super-chunk as it is, the sums of its chunks as far as the seal has them, and a function
    /// that takes a number and a compressed chunk, or `None` for zeros.
    ///
    /// All chunks that the function got are entered, even if `make` fails.
    pub(crate) fn replace_chunks(
        &mut self,
        make: impl FnOnce(
            &SChunk,
            Option<&HashMap<u64, u64>>,
            &mut dyn FnMut(u64, Option<&[u8]>) -> Result<()>,
        ) -> Result<()>,
    ) -> Result<()> {
        self.begin()?;
        let (mut stored, mut cbytes) = (vec![], 0_usize);
        let Self { storage, seal, frame, .. } = &mut *self;
        let schunk = frame.snapshot();
        let old_sums = seal.sum().and_then(BodySum::table).cloned();
        let made = make(schunk, old_sums.as_ref(), &mut |nchunk, chunk| {
            let Some(chunk) = chunk else {
                stored.push((nchunk, Err(SpecialKind::Zeros)));
                return Ok(());
            };
            let header = ChunkHeader::parse(chunk).map_err(|source| Error::Chunk {
                nchunk,
                at: 0,
                source,
            })?;
            if let Some(kind) = noted_run(&header) {
                stored.push((nchunk, Err(kind)));
                return Ok(());
            }
            let old = match schunk.offset_of(nchunk)? {
                Offset::Stored(number) => Some(number),
                Offset::Special(_) => None,
            };
            let offset = storage.place_instead(old, chunk)?;
            seal.note_instead(old, offset, chunk)?;
            stored.push((nchunk, Ok(Ready { offset, nbytes: header.nbytes() })));
            cbytes = cbytes.saturating_add(chunk.len());
            Ok(())
        });
        if cbytes > 0 {
            self.count_stored(cbytes)?;
        }
        let placed = stored.into_iter().try_for_each(|(nchunk, what)| {
            let place = Place::InsteadOf(nchunk);
            match what {
                Ok(ready) => {
                    self.check_size(place, ready.nbytes)?;
                    self.put_in_place(place, ready)
                }
                Err(kind) => self.place_special(place, kind, self.frame.chunk_nbytes(nchunk)?),
            }
        });
        if let Storage::Contiguous(file) = &mut self.storage {
            file.leave_outgrown(placed.is_ok());
        }
        placed.and(made)
    }

    /// Enters a chunk into the index, and updates the sums.
    pub(super) fn put_in_place(&mut self, place: Place, ready: Ready) -> Result<()> {
        self.load_index()?;
        match place {
            Place::Before(nchunk) => {
                self.seal.add(ready.offset)?;
                self.change_chunks().insert_chunk(nchunk, ready.offset, ready.nbytes)
            }
            Place::InsteadOf(nchunk) => {
                let old = self.frame.chunk_nbytes(nchunk)?;
                self.forget(nchunk)?;
                self.seal.add(ready.offset)?;
                self.change_chunks().replace_chunk(nchunk, ready.offset, old, ready.nbytes)
            }
        }
    }

    /// Notes that the chunk of this number is no longer needed: a sparse frame removes its file.
    fn forget(&mut self, nchunk: u64) -> Result<()> {
        let number = self.number(nchunk)?;
        self.seal.remove(&mut self.frame, nchunk, number)?;
        let freed = self.storage.forget(number);
        if freed > 0 {
            self.frame.change().subtract_file(freed);
        }
        Ok(())
    }

    /// Gives a chunk another number in the index.
    pub(super) fn set_offset(&mut self, nchunk: u64, number: u64) -> Result<()> {
        self.forget(nchunk)?;
        self.seal.add(number)?;
        self.change_chunks().set_number(nchunk, number)
    }

    /// Decodes the index to a table that can be changed.
    pub(super) fn load_index(&mut self) -> Result<()> {
        if self.frame.index().is_table() {
            return Ok(());
        }
        let table = self.frame.snapshot().offsets()?;
        // C-Blosc2 also notes runs in frames of variable chunk sizes. Their sizes are known only
        // now.
        let is_variable = self.frame.header().chunksize() == ChunkSize::Variable;
        let runs = if is_variable { self.noted_runs()? } else { vec![] };
        self.frame.change().set_table(table);
        self.store_runs(&runs)
    }

    /// All runs that only the index describes: chunk, kind, size (bytes).
    fn noted_runs(&self) -> Result<Vec<(u64, SpecialKind, usize)>> {
        let run = |nchunk| match self.frame.snapshot().locate(nchunk) {
            Ok(Location::Special { kind, nbytes }) => Some(Ok((nchunk, kind, nbytes))),
            Ok(Location::Stored { .. }) => None,
            Err(error) => Some(Err(error)),
        };
        (0..self.frame.nchunks()).filter_map(run).collect()
    }

    /// Stores runs as chunks: in a frame of variable chunk sizes the index has no field for their
    /// sizes.
    fn store_runs(&mut self, runs: &[(u64, SpecialKind, usize)]) -> Result<()> {
        for (nchunk, kind, nbytes) in runs {
            let ready = self.store_special(*kind, *nbytes)?;
            self.set_offset(*nchunk, ready.offset)?;
        }
        Ok(())
    }

    /// Checks that a chunk with or without VL-blocks fits this frame. The first chunk decides.
    fn check_kind(&mut self, is_vl: bool, is_run: bool) -> Result<()> {
        if is_vl == self.frame.header().flags().vl_blocks() || is_run {
            return Ok(());
        }
        if !is_vl || self.frame.nchunks() > 0 {
            return Err(Param::VlBlocks.into());
        }
        self.frame.change().set_vl_blocks();
        Ok(())
    }

    /// Checks that a chunk of `nbytes` bytes is allowed at a position.
    pub(super) fn check_size(&self, place: Place, nbytes: usize) -> Result<()> {
        let nchunks = self.frame.nchunks();
        let (nchunk, is_last, is_new) = match place {
            Place::Before(nchunk) => (nchunk, nchunk == nchunks, true),
            Place::InsteadOf(nchunk) => (nchunk, nchunk.saturating_add(1) == nchunks, false),
        };
        if nchunk > nchunks || !is_new && nchunk == nchunks {
            return Err(Param::ChunkNumber { nchunk, nchunks }.into());
        }
        if nbytes == 0 {
            return Err(Param::EmptyChunk.into());
        }
        if is_new && nchunks >= MAX_NCHUNKS {
            return Err(Param::TooManyChunks { max: MAX_NCHUNKS }.into());
        }
        let expected = match self.frame.header().chunksize() {
            ChunkSize::Fixed(size) => u64::from(size.get()),
            ChunkSize::Variable | ChunkSize::Unset => MAX_CHUNK as u64,
        };
        if is_new && is_last && self.has_short_end() {
            return Err(Param::AfterLastChunk.into());
        }
        let nbytes = nbytes as u64;
        let is_exact = nbytes == expected || self.frame.header().chunksize().fixed().is_none();
        if nbytes > expected || !is_last && !is_exact {
            return Err(Param::ChunkNbytes { nbytes, expected }.into());
        }
        Ok(())
    }

    /// Whether the last chunk is shorter than the others and must stay the last.
    pub(super) fn has_short_end(&self) -> bool {
        let size = self.frame.header().chunksize().fixed().unwrap_or(1);
        self.frame.header().nbytes().checked_rem(size.into()) != Some(0)
    }

    fn check_order(&self, order: &[u64]) -> Result<()> {
        let nchunks = self.frame.nchunks();
        let wrong = |nchunk| Err(Param::Order { nchunk, nchunks }.into());
        if order.len() as u64 != nchunks {
            return wrong(order.len() as u64);
        }
        let mut is_there = vec![false; order.len()];
        for nchunk in order {
            match usize::try_from(*nchunk).ok().and_then(|at| is_there.get_mut(at)) {
                Some(there) if !*there => *there = true,
                _ => return wrong(*nchunk),
            }
        }
        if self.has_short_end() && order.last().copied() != nchunks.checked_sub(1) {
            return Err(Param::AfterLastChunk.into());
        }
        Ok(())
    }
}
