//! Rescues a damaged frame: the result is a super-chunk in which every chunk is at its position.
//!
//! ```text
//!   header   -> sizes, parameters, metalayers    damaged: the first chunk tells them
//!   index    -> positions of chunks              damaged: the data section is walked
//!   trailer  -> vlmetalayers                     damaged: there are none
//!   seal     -> changed bytes                    damaged: reported, if only the seal is
//!   chunk    -> decoded                          damaged: a run of the fill value, or cut
//! ```
//!
//! Rescue only reads the damaged frame. The result is a [`SChunk`] over its bytes with a new index;
//! [`SChunk::save`] writes it as a sound frame, without compressing chunks anew.

mod decode;
mod members;
mod sizes;
mod walk;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use blosc_chunk::{CParams, ChunkHeader, Special, SpecialKind, special_chunk};
use blosc_container::rescue::Filling;
use blosc_io::{MemStore, ReadAt, Tree, look_at};

pub use blosc_container::rescue::{ChunkState, Fill, RescueOptions};
pub use members::members;

use self::decode::decode_chunks;
use self::walk::{Found, Likely, walk};
use crate::edit::SChunkWriter;
use crate::error::{Error, Result};
use crate::header::{FIXED_LEN, FrameHeader, FrameLayout, FrameType, MIN_LEN};
use crate::metalayers::{Metalayers, Section};
use crate::offsets::{Index, MAX_NCHUNKS, Offset};
use crate::params::{Checksums, EditOptions, FrameParams, OpenOptions};
use crate::probe::Kind;
use crate::schunk::{Draft, FrameState, Parts, SChunk, open_file, read_meta, read_trailer};
use crate::seal::SealState;
use crate::source::Source;
use crate::sparse::{Folder, id_of};
use crate::writer::Start;

/// The readable content of a damaged frame.
#[derive(Debug)]
pub struct Salvage {
    /// The frame, in which every chunk can be read. Lost ones are runs of zeros or NaN.
    pub schunk: SChunk,
    /// The state of each chunk of the damaged frame, as far as their number is known. Chunks that
    /// were cut are included.
    pub chunks: Vec<ChunkState>,
    /// Damage apart from chunks.
    pub damage: Vec<Damage>,
    /// The state of the seal, if all parts for its check exist.
    pub seal: Option<SealState>,
    /// The item that fills lost chunks in the saved frame.
    value: Option<Vec<u8>>,
    /// Chunks of the saved frame in a form that C-Blosc2 writes but cannot read.
    unreadable: Vec<u64>,
    /// Whether header, index and trailer of the damaged frame could be used as they are.
    is_opened: bool,
}

/// A part of a frame, other than a chunk, that could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The header: the chunks gave sizes and parameters.
    #[error("the header is damaged: sizes are those of the chunks")]
    Header,
    /// The metalayers.
    #[error("the metalayers are lost")]
    Metalayers,
    /// The index: a search found the chunks.
    #[error("the index is lost: chunks were found one after the other")]
    Index,
    /// The trailer with the vlmetalayers.
    #[error("the vlmetalayers are lost")]
    Trailer,
    /// Only the seal: the sealed bytes are as they were.
    #[error("only the seal is damaged: the data are those that were sealed")]
    Seal,
    /// The index or the vlmetalayers: they are readable but were changed after sealing. The chunks
    /// are as sealed.
    #[error("the index or the vlmetalayers are not those that were sealed; the chunks are")]
    Tail,
    /// All parts are readable, but unknown bytes were changed after sealing. All chunks are
    /// doubtful.
    #[error("the bytes are not those that were sealed; which are others is unknown")]
    Body,
    /// Chunks of an array were cut, so that the array lost its shape.
    #[error("chunks were cut, so that the array has no shape any more")]
    Shape,
    /// The shape of an array does not fit its chunks, and is left out.
    #[error("the shape does not fit the chunks: they are saved without one")]
    Description,
    /// Bytes of the data section outside of chunks.
    #[error("at byte {at}: {nbytes} bytes are no chunk")]
    Gap {
        /// Position of their start in the file (bytes).
        at: u64,
        /// Number of these bytes.
        nbytes: u64,
    },
}

impl Salvage {
    /// Reads all readable parts of the frame, or sparse frame, at `path`.
    ///
    /// ```
    /// use b2frame::rescue::{ChunkState, RescueOptions, Salvage};
    /// use b2frame::{FrameParams, OpenOptions, SChunk, to_cframe};
    /// # use blosc_io::MemStore;
    /// # use std::sync::Arc;
    ///
    /// let data: Vec<u8> = (0..10_000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    /// let mut frame = to_cframe(&data, &FrameParams::default().chunksize(10_000))?;
    /// frame.truncate(frame.len() / 2);
    /// assert!(SChunk::from_cframe(frame.clone()).is_err());
    /// let (store, options) = (Arc::new(MemStore::new(frame)), OpenOptions::default());
    /// let saved = Salvage::from_store(store, &options, &RescueOptions::default())?;
    /// assert_eq!((saved.chunks[0], saved.chunks[3]), (ChunkState::Good, ChunkState::Lost));
    /// assert_eq!(saved.schunk.decode_chunk(0)?, data[..10_000]);
    /// assert_eq!(saved.schunk.decode_chunk(3)?, [0; 10_000]);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::NotAFrame`] without a chunk or a header, a limit, or the error of
    /// the storage.
    pub fn open(
        path: impl AsRef<Path>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        let path = path.as_ref();
        if !look_at(path).is_ok_and(|found| found.is_some_and(|found| found.is_dir())) {
            return Self::from_store(open_file(path)?, options, rescue);
        }
        let folder = Folder::in_dir(path);
        Wreck::new(folder.open_index_if_any()?, Some(folder), options).salvage(rescue)
    }

    /// Reads all readable parts of the frame in a store.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_store(
        store: Arc<dyn ReadAt>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        Wreck::new(Source::new(store, options.offset), None, options).salvage(rescue)
    }

    /// Reads all readable parts of the sparse frame in a tree.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_tree(
        tree: Arc<dyn Tree>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        let folder = Folder { tree };
        Wreck::new(folder.open_index_if_any()?, Some(folder), options).salvage(rescue)
    }

    /// Whether the frame is free of damage.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.damage.is_empty() && self.chunks.iter().all(|state| *state == ChunkState::Good)
    }

    /// Chunks that [`save`](Self::save) compresses anew, by their numbers in the saved frame:
    /// C-Blosc2 wrote them in a form that it cannot read.
    #[must_use]
    pub fn rewritten(&self) -> &[u64] {
        &self.unreadable
    }

    /// Whether the frame can stay as it is: other programs can read all of it. [`ChunkState::Good`]
    /// for all chunks is not enough: if the header of the last chunk claims bytes of the index,
    /// rescue decodes the chunk, and readers of the frame do not.
    #[must_use]
    pub fn is_as_it_was(&self) -> bool {
        self.is_opened && self.is_complete() && self.unreadable.is_empty()
    }

    /// Applies the result of the seal: chunks that decode but differ from the sealed ones are
    /// doubtful.
    fn compared(mut self, has_table: bool) -> Self {
        let is_lost = self.chunks.contains(&ChunkState::Lost);
        let doubtful = match &self.seal {
            Some(SealState::SealDamaged) => {
                self.damage.push(Damage::Seal);
                return self;
            }
            // The table tells which chunks were changed, or some do not decode.
            Some(SealState::BodyDamaged { chunks }) if !chunks.is_empty() || is_lost => {
                chunks.clone()
            }
            Some(SealState::BodyDamaged { .. }) if has_table => {
                self.damage.push(Damage::Tail);
                return self;
            }
            Some(SealState::BodyDamaged { .. }) => {
                self.damage.push(Damage::Body);
                (0..self.chunks.len() as u64).collect()
            }
            _ => return self,
        };
        for nchunk in doubtful {
            let state = usize::try_from(nchunk).ok().and_then(|at| self.chunks.get_mut(at));
            state
                .into_iter()
                .filter(|state| **state == ChunkState::Good)
                .for_each(|state| *state = ChunkState::Doubtful);
        }
        self
    }

    /// Number of chunks in this state.
    #[must_use]
    pub fn count(&self, state: ChunkState) -> u64 {
        self.chunks.iter().filter(|found| **found == state).count() as u64
    }

    /// Writes a sound frame to `path`: a directory if the damaged frame was one.
    ///
    /// # Errors
    /// As [`SChunk::save`] and [`SChunk::save_sparse`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        match self.schunk.header().frame_type() {
            FrameType::Sparse => self.schunk.save_sparse(path)?,
            FrameType::Contiguous => self.schunk.save(path)?,
        }
        if !self.needs_changes() {
            return Ok(());
        }
        let mut writer = SChunkWriter::open(path)?;
        self.change(&mut writer)?;
        writer.commit()
    }

    /// As [`save`](Self::save), to a contiguous frame in memory.
    ///
    /// # Errors
    /// As [`SChunk::to_cframe`].
    pub fn to_cframe(&self) -> Result<Vec<u8>> {
        let frame = self.schunk.to_cframe()?;
        if !self.needs_changes() {
            return Ok(frame);
        }
        let store = Box::new(MemStore::new(frame));
        let mut writer = SChunkWriter::open_in(store, &EditOptions::default())?;
        self.change(&mut writer)?;
        writer.commit()?;
        writer.finish()?.to_cframe()
    }

    /// Whether saving has to compress chunks.
    fn needs_changes(&self) -> bool {
        self.value.is_some() || !self.unreadable.is_empty()
    }

    /// Fills lost chunks with the fill value, and compresses chunks anew that C-Blosc2 cannot read.
    fn change(&self, writer: &mut SChunkWriter) -> Result<()> {
        for nchunk in &self.unreadable {
            writer.update(*nchunk, &self.schunk.decode_chunk(*nchunk)?)?;
        }
        let Some(value) = &self.value else { return Ok(()) };
        for (nchunk, state) in (0u64..).zip(&self.chunks) {
            if *state == ChunkState::Lost {
                let nbytes = self.schunk.chunk_nbytes(nchunk)?;
                let chunk = filled(value, nbytes, writer.cparams());
                let chunk = chunk.map_err(|source| Error::Chunk { nchunk, at: 0, source })?;
                writer.update_chunk(nchunk, &chunk)?;
            }
        }
        Ok(())
    }
}

/// A chunk that repeats `value`: a run if the last item is whole, and otherwise an ordinary chunk.
fn filled(value: &[u8], nbytes: usize, cparams: &CParams) -> Result<Vec<u8>, blosc_chunk::Error> {
    special_chunk(Special::Value(value), nbytes, cparams)
        .or_else(|_| Filling::new(value.to_vec()).chunk(0, nbytes, &[], cparams.clone()))
}

/// A damaged frame, and the known parts of it.
struct Wreck<'a> {
    source: Source,
    folder: Option<Folder>,
    options: &'a OpenOptions,
    damage: Vec<Damage>,
}

/// The chunks of the frame, of which a damaged header may claim millions: the number in the index
/// for each, and its state. Lost chunks are runs of zeros at first.
#[derive(Default)]
struct Entries {
    numbers: Vec<u64>,
    states: Vec<ChunkState>,
}

impl Entries {
    /// The entries of a whole index.
    fn of_index(numbers: Vec<u64>) -> Self {
        let states = vec![ChunkState::Good; numbers.len()];
        Self { numbers, states }
    }

    fn len(&self) -> u64 {
        self.numbers.len() as u64
    }

    fn push(&mut self, number: u64, state: ChunkState) {
        self.numbers.push(number);
        self.states.push(state);
    }

    fn push_lost(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let len = self.numbers.len().saturating_add(count);
        let zeros = Offset::of_special(SpecialKind::Zeros).unwrap_or_default();
        self.numbers.resize(len, zeros);
        self.states.resize(len, ChunkState::Lost);
    }

    /// The numbers of chunks that are not lost.
    fn found(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let all = self.numbers.iter().zip(&self.states);
        all.filter(|(_, state)| **state != ChunkState::Lost).map(|(number, _)| *number)
    }
}

impl<'a> Wreck<'a> {
    fn new(source: Source, folder: Option<Folder>, options: &'a OpenOptions) -> Self {
        Self { source, folder, options, damage: vec![] }
    }

    fn salvage(mut self, rescue: &RescueOptions) -> Result<Salvage> {
        if let Some((frame, entries)) = self.opened()? {
            let seal = Some(frame.snapshot().seal_state()?);
            let has_table = frame.snapshot().checksums() == Some(Checksums::Chunks);
            let saved = match frame.layout() {
                FrameLayout::Current => {
                    let (meta, vlmeta) = (frame.meta().clone(), frame.vlmeta().clone());
                    let (header, checksums) = (frame.header().clone(), Checksums::default());
                    let start = Start { header, meta, vlmeta, checksums };
                    self.decoded(start, entries, rescue)?
                }
                // The reader of older frames finds the chunks.
                _ => decode_chunks(frame, entries, vec![], rescue)?,
            };
            let saved = Salvage { seal, is_opened: true, ..saved };
            return Ok(saved.compared(has_table));
        }
        let available = self.source.available()?;
        let (head, len) = self.source.read_head::<FIXED_LEN>(0, available)?;
        let header = FrameHeader::parse(head.get(..len).unwrap_or_default());
        let is_folder = self.folder.is_some();
        let is_right = |header: &FrameHeader| {
            (header.frame_type() == FrameType::Sparse) == is_folder
                && u64::from(header.header_len()) <= available.max(MIN_LEN)
        };
        let (start, entries) = match header.ok().filter(is_right) {
            Some(header) => self.with_header(header, available)?,
            None => self.without_header(available)?,
        };
        self.decoded(start, entries, rescue)
    }

    /// The frame, if everything except its chunks is readable, and the numbers of its index.
    fn opened(&self) -> Result<Option<(Draft, Entries)>> {
        let opened = Draft::open(self.source.clone(), self.folder.clone(), self.options.clone());
        let offsets = opened.and_then(|frame| Ok((frame.snapshot().offsets()?, frame)));
        match offsets {
            Ok((_, frame)) if !sizes::has_sizes_of_chunks(frame.snapshot()) => Ok(None),
            Ok((offsets, frame)) => Ok(Some((frame, Entries::of_index(offsets)))),
            Err(error) if is_damage(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Metadata and chunks of a frame with a usable header.
    fn with_header(&mut self, mut header: FrameHeader, available: u64) -> Result<(Start, Entries)> {
        let meta = match read_meta(&self.source, &header) {
            Ok(meta) => meta,
            Err(_) => self.without(Damage::Metalayers, Section::HEADER)?,
        };
        let is_whole = header.frame_len() <= available;
        let trailer = read_trailer(&self.source, &header, self.options.max_metadata);
        let (trailer_len, vlmeta) = match trailer {
            Ok((trailer_len, vlmeta, _)) if is_whole => (trailer_len, vlmeta),
            _ if header.has_vlmeta() => (0, self.without(Damage::Trailer, Section::TRAILER)?),
            _ => (0, Metalayers::build([], Section::TRAILER)?),
        };
        let end = header.frame_len().saturating_sub(trailer_len.into()).min(available);
        let entries = match self.offsets_that_fit(&mut header, end) {
            Ok(offsets) => Entries::of_index(offsets),
            Err(error) if !is_damage(&error) => return Err(error),
            Err(_) => {
                self.damage.push(Damage::Index);
                self.without_index(&mut header, &meta, end)?
            }
        };
        let checksums = Checksums::default();
        Ok((Start { header, meta, vlmeta, checksums }, entries))
    }

    /// Empty metalayers in place of lost ones.
    fn without(&mut self, damage: Damage, section: Section) -> Result<Metalayers> {
        self.damage.push(damage);
        Metalayers::build([], section)
    }

    /// All numbers of the index.
    fn offsets(&self, header: &FrameHeader, end: u64) -> Result<Vec<u64>> {
        if header.nbytes() == 0 {
            return Ok(vec![]);
        }
        let OpenOptions { max_index, dparams, .. } = self.options;
        let index = Index::open(&self.source, header, end, *max_index, dparams)?;
        index.table(&self.source, *max_index, dparams)
    }

    /// The chunks that lie at their expected positions. If a header claims more chunks than an
    /// index can hold, its number is ignored.
    fn without_index(
        &mut self,
        header: &mut FrameHeader,
        meta: &Metalayers,
        end: u64,
    ) -> Result<Entries> {
        let is_possible = |nchunks: &u64| nchunks.saturating_mul(8) <= self.options.max_index;
        let nchunks = header.nchunks().filter(is_possible);
        let entries = self.found_entries(header, meta, end, nchunks)?;
        if nchunks.is_none() && header.chunksize().fixed().is_some() {
            self.set_sizes(header, &entries.numbers);
        }
        Ok(entries)
    }

    fn found_entries(
        &mut self,
        header: &FrameHeader,
        meta: &Metalayers,
        end: u64,
        nchunks: Option<u64>,
    ) -> Result<Entries> {
        if let Some(folder) = &self.folder {
            return file_entries(folder, nchunks);
        }
        let start = u64::from(header.header_len());
        let end = end.min(header.index_position().max(start));
        let likely = Likely {
            typesize: Some(header.typesize().get()),
            chunksize: header.chunksize().fixed(),
        };
        let options = self.options.clone().for_items_of(header, meta);
        let found = walk(&self.source, start..end, &likely, &options.dparams)?;
        Ok(self.placed(&found, start, nchunks))
    }

    /// Numbers the chunks that were found. A gap between them may hold lost chunks; their number is
    /// certain only if this is the only gap of a whole frame.
    fn placed(&mut self, found: &[Found], start: u64, nchunks: Option<u64>) -> Entries {
        let lens: Vec<u64> = found.iter().filter_map(Found::chunk_len).collect();
        let (nfound, ngaps) = (lens.len() as u64, found.len().saturating_sub(lens.len()));
        let mean = lens.iter().fold(0u64, |sum, len| sum.saturating_add(*len)).checked_div(nfound);
        let mut missing = nchunks.unwrap_or(0).saturating_sub(nfound);
        let (mut entries, mut state) = (Entries::default(), ChunkState::Good);
        for (n, piece) in (1usize..).zip(found) {
            match *piece {
                Found::Chunk { at, .. } => entries.push(at.saturating_sub(start), state),
                Found::Gap { at, nbytes } => {
                    let at = self.source.position(at);
                    self.damage.push(Damage::Gap { at, nbytes });
                    if n == found.len() {
                        continue;
                    }
                    let likely = nbytes.checked_div(mean.unwrap_or(0)).unwrap_or(1).max(1);
                    let lost = if ngaps == 1 { missing } else { likely.min(missing) };
                    missing = missing.saturating_sub(lost);
                    entries.push_lost(lost);
                    state = if ngaps == 1 { state } else { ChunkState::Doubtful };
                }
            }
        }
        entries.push_lost(missing);
        entries
    }

    /// Metadata and chunks of a frame without a usable header: only chunks can be found.
    fn without_header(&mut self, available: u64) -> Result<(Start, Entries)> {
        self.damage.push(Damage::Header);
        if let Some(folder) = self.folder.clone() {
            let entries = file_entries(&folder, None)?;
            let headers = || entries.found().filter_map(|id| file_header(&folder, id));
            let first = headers().next().ok_or(NO_FRAME)?;
            let last = entries.found().next_back().and_then(|id| file_header(&folder, id));
            let chunksize = first.nbytes().max(last.map_or(0, |last| last.nbytes()));
            let others = entries.len().saturating_sub(1);
            let nbytes = others.saturating_mul(chunksize as u64);
            let last = last.map_or(chunksize, |last| last.nbytes());
            let mut start = start_like(&first, chunksize, nbytes.saturating_add(last as u64))?;
            start.header.set_frame_type(FrameType::Sparse);
            return Ok((start, entries));
        }
        let dparams = &self.options.dparams;
        let mut found = walk(&self.source, 0..available, &Likely::default(), dparams)?;
        let (base, table) = match walk::take_index(&self.source, &mut found, dparams) {
            Some((base, table)) => (base, Some(table)),
            None => (found.iter().find_map(Found::chunk_at).ok_or(NO_FRAME)?, None),
        };
        // Bytes before the first chunk are the header.
        found.retain(|piece| matches!(piece, Found::Chunk { .. }) || piece.at() >= base);
        let chunks = || found.iter().filter_map(Found::chunk_header);
        let (Some(first), Some(last)) = (chunks().next(), chunks().next_back()) else {
            return Err(NO_FRAME);
        };
        let chunksize = chunks().map(|chunk| chunk.nbytes()).max().unwrap_or(0);
        let entries = match table {
            Some(table) => Entries::of_index(table),
            None => self.placed(&found, base, None),
        };
        let whole = entries.len().saturating_sub(1).saturating_mul(chunksize as u64);
        let mut start = start_like(first, chunksize, whole.saturating_add(last.nbytes() as u64))?;
        start.header.set_header_len(u32::try_from(base).map_err(|_| NO_FRAME)?);
        match read_meta(&self.source, &start.header) {
            Ok(meta) => start.meta = meta,
            Err(_) => self.damage.push(Damage::Metalayers),
        }
        Ok((start, entries))
    }

    /// Decodes every chunk of the frame with this metadata.
    fn decoded(self, start: Start, entries: Entries, rescue: &RescueOptions) -> Result<Salvage> {
        let frame = self.without_chunks(start)?;
        decode_chunks(frame, entries, self.damage, rescue)
    }

    /// A frame with this metadata, whose index is empty.
    fn without_chunks(&self, mut start: Start) -> Result<Draft> {
        let section = self.source.available()?.saturating_sub(start.header.header_len().into());
        start.header.set_cbytes(section)?;
        let parts = Parts { trailer_len: 0, ..Parts::unwritten(start) };
        let state = FrameState::new(self.source.clone(), self.folder.clone(), parts);
        Ok(Draft::new(state, self.options.clone()))
    }
}

/// Metadata of a frame of chunks like this one.
fn start_like(chunk: &ChunkHeader, chunksize: usize, nbytes: u64) -> Result<Start> {
    let cparams = CParams::default()
        .codec(chunk.codec_id())
        .typesize(chunk.typesize())
        .filters(chunk.pipeline())
        .blocksize((!chunk.is_vl()).then_some(chunk.blocksize()));
    let mut start = Start::new(&FrameParams::new(cparams).chunksize(chunksize))?;
    start.header.set_nbytes(nbytes);
    Ok(start)
}

/// The header of the chunk in the file of this number.
fn file_header(folder: &Folder, id: u64) -> Option<ChunkHeader> {
    let source = folder.open_chunk(id, u32::try_from(id).ok()?).ok()?;
    let (head, len) = source.read_head(0, source.available().ok()?).ok()?;
    let head: [u8; ChunkHeader::MAX_LEN] = head;
    ChunkHeader::parse(head.get(..len)?).ok()
}

/// The files of chunks. If no chunk was ever replaced, a file has the number of its chunk.
fn file_entries(folder: &Folder, nchunks: Option<u64>) -> Result<Entries> {
    let listed = folder.tree.list("").map_err(|source| Error::Open { source })?;
    let ids: BTreeSet<u64> =
        listed.iter().filter_map(|entry| id_of(&entry.name)).map(u64::from).collect();
    let nchunks = nchunks.unwrap_or_else(|| end_of_ids(&ids));
    let mut entries = Entries::default();
    for id in 0..nchunks.min(MAX_NCHUNKS) {
        match ids.contains(&id) {
            true => entries.push(id, ChunkState::Good),
            false => entries.push_lost(1),
        }
    }
    Ok(entries)
}

/// The largest gap between the numbers of two files; a file after a larger gap is a stray one.
const MAX_GAP_NCHUNKS: u64 = 1 << 16;

/// The number after the last file that is not stray.
fn end_of_ids(ids: &BTreeSet<u64>) -> u64 {
    ids.iter().fold(0, |end, &id| match id.saturating_sub(end) <= MAX_GAP_NCHUNKS {
        true => id.saturating_add(1),
        false => end,
    })
}

/// The error for bytes without a header and without a chunk.
const NO_FRAME: Error = Error::NotAFrame { found: Kind::Unknown };

/// Whether the error comes from the frame, rather than from a limit or the storage.
fn is_damage(error: &Error) -> bool {
    match error {
        Error::Limit { .. } => false,
        Error::Io { source, .. } => source.kind() == io::ErrorKind::UnexpectedEof,
        _ => true,
    }
}
