//! What can be saved of a damaged frame: a super-chunk in which every chunk is at its position.
//!
//! ```text
//!   header   -> sizes, parameters, metalayers    damaged: as the first chunk says
//!   index    -> where every chunk is             damaged: the data section is walked
//!   trailer  -> vlmetalayers                     damaged: there are none
//!   chunk    -> decoded                          damaged: a run of the fill value, or cut
//! ```
//!
//! The damaged frame is read only. What comes out is a [`SChunk`] over its bytes with a new index;
//! [`SChunk::save`] writes it as a sound frame, without compressing anything anew.

mod members;
mod walk;

use core::fmt;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use blosc_chunk::{CParams, ChunkHeader, SpecialKind};
use blosc_io::{MemStore, ReadAt, Tree};

pub use blosc_container::rescue::{ChunkState, Fill, RescueOptions};
pub use members::members;

use self::walk::{Found, Likely, walk};
use crate::edit::SChunkWriter;
use crate::error::{Error, Limited, Param, Result};
use crate::header::{FIXED_LEN, FrameHeader, FrameType, MIN_LEN};
use crate::metalayers::{Metalayers, Section};
use crate::nd::NdMeta;
use crate::offsets::{self, Index, MAX_NCHUNKS, Offset};
use crate::params::{Checksums, EditOptions, FrameParams, OpenOptions};
use crate::probe::Kind;
use crate::schunk::{FrameState, SChunk, check_limit, open_file, read_meta, read_trailer};
use crate::seal::Mark;
use crate::source::Source;
use crate::sparse::{Folder, id_of};
use crate::writer::Start;

/// What was saved of a damaged frame.
#[derive(Debug)]
pub struct Salvage {
    /// The frame, in which every chunk can be read. Lost ones are runs of zeros or NaN.
    pub schunk: SChunk,
    /// What became of each chunk of the damaged frame, as far as their number is known. Those that
    /// were cut are still here.
    pub chunks: Vec<ChunkState>,
    /// What is damaged apart from chunks.
    pub damage: Vec<Damage>,
    /// The item that fills lost chunks once the frame is saved.
    value: Option<Vec<u8>>,
}

/// A part of a frame, other than a chunk, that could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The header: sizes and parameters are those of the chunks.
    Header,
    /// The metalayers.
    Metalayers,
    /// The index: chunks are where they were found.
    Index,
    /// The trailer with the vlmetalayers.
    Trailer,
    /// Chunks of an array were cut, so that it has no shape any more.
    Shape,
    /// Bytes of the data section that are no chunk.
    Gap {
        /// Where they start in the file (bytes).
        at: u64,
        /// How many there are.
        nbytes: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("the header is damaged: sizes are those of the chunks"),
            Self::Metalayers => f.write_str("the metalayers are lost"),
            Self::Index => f.write_str("the index is lost: chunks were found one after the other"),
            Self::Trailer => f.write_str("the vlmetalayers are lost"),
            Self::Shape => f.write_str("chunks were cut, so that the array has no shape any more"),
            Self::Gap { at, nbytes } => write!(f, "at byte {at}: {nbytes} bytes are no chunk"),
        }
    }
}

impl Salvage {
    /// Reads what can be read of the frame, or sparse frame, at `path`.
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
    /// [`Error::Open`], [`Error::NotAFrame`] where no chunk and no header was found, a limit, or
    /// what the storage says.
    pub fn open(
        path: impl AsRef<Path>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        let path = path.as_ref();
        match Folder::find(path) {
            Some(folder) => Wreck::new(folder.open_index()?, Some(folder), options).salvage(rescue),
            None => Self::from_store(open_file(path)?, options, rescue),
        }
    }

    /// Reads what can be read of the frame in a store.
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

    /// Reads what can be read of the sparse frame in a tree.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_tree(
        tree: Arc<dyn Tree>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        let folder = Folder { tree };
        Wreck::new(folder.open_index()?, Some(folder), options).salvage(rescue)
    }

    /// Whether nothing was damaged.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.damage.is_empty() && self.chunks.iter().all(|state| *state == ChunkState::Good)
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
        if self.value.is_none() {
            return Ok(());
        }
        let mut writer = SChunkWriter::open(path)?;
        self.fill_lost(&mut writer)?;
        writer.commit()
    }

    /// The same as a contiguous frame in memory.
    ///
    /// # Errors
    /// As [`SChunk::to_cframe`].
    pub fn to_cframe(&self) -> Result<Vec<u8>> {
        let frame = self.schunk.to_cframe()?;
        if self.value.is_none() {
            return Ok(frame);
        }
        let store = Box::new(MemStore::new(frame));
        let mut writer = SChunkWriter::open_in(store, &EditOptions::default())?;
        self.fill_lost(&mut writer)?;
        writer.commit()?;
        writer.finish()?.to_cframe()
    }

    /// Puts the fill value where chunks are lost.
    fn fill_lost(&self, writer: &mut SChunkWriter) -> Result<()> {
        let Some(value) = &self.value else { return Ok(()) };
        for (nchunk, state) in (0u64..).zip(&self.chunks) {
            if *state == ChunkState::Lost {
                let nbytes = self.schunk.chunk_nbytes(nchunk)?;
                let items = value.iter().copied().cycle().take(nbytes);
                writer.update(nchunk, &items.collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }
}

/// A damaged frame, and what is known of it so far.
struct Wreck<'a> {
    source: Source,
    folder: Option<Folder>,
    options: &'a OpenOptions,
    damage: Vec<Damage>,
}

/// A chunk of the frame: the number that the index should have for it.
type Entry = (Option<u64>, ChunkState);

impl<'a> Wreck<'a> {
    fn new(source: Source, folder: Option<Folder>, options: &'a OpenOptions) -> Self {
        Self { source, folder, options, damage: vec![] }
    }

    fn salvage(mut self, rescue: &RescueOptions) -> Result<Salvage> {
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

    /// Metadata and chunks of a frame whose header can be used.
    fn with_header(&mut self, header: FrameHeader, available: u64) -> Result<(Start, Vec<Entry>)> {
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
        let entries = match self.offsets(&header, end) {
            Ok(offsets) => offsets.into_iter().map(|at| (Some(at), ChunkState::Good)).collect(),
            Err(error) if !is_damage(&error) => return Err(error),
            Err(_) => {
                self.damage.push(Damage::Index);
                self.without_index(&header, &meta, end)?
            }
        };
        let checksums = Checksums::default();
        Ok((Start { header, meta, vlmeta, checksums }, entries))
    }

    /// No metalayers, of which there should be some.
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

    /// The chunks that are found where they should be.
    fn without_index(
        &mut self,
        header: &FrameHeader,
        meta: &Metalayers,
        end: u64,
    ) -> Result<Vec<Entry>> {
        let nchunks = header.nchunks();
        let max = self.options.max_index;
        check_limit(Limited::Index, nchunks.unwrap_or(0).saturating_mul(8), max)?;
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

    /// Gives the chunks that were found their numbers. Where bytes between them are no chunk, the
    /// number of chunks there is known only if it is the only such place of a whole frame.
    fn placed(&mut self, found: &[Found], start: u64, nchunks: Option<u64>) -> Vec<Entry> {
        let lens: Vec<u64> = found.iter().filter_map(Found::chunk_len).collect();
        let (nfound, ngaps) = (lens.len() as u64, found.len().saturating_sub(lens.len()));
        let mean = lens.iter().fold(0u64, |sum, len| sum.saturating_add(*len)).checked_div(nfound);
        let mut missing = nchunks.unwrap_or(0).saturating_sub(nfound);
        let (mut entries, mut state): (Vec<Entry>, _) = (vec![], ChunkState::Good);
        for (n, piece) in (1usize..).zip(found) {
            match *piece {
                Found::Chunk { at, .. } => entries.push((Some(at.saturating_sub(start)), state)),
                Found::Gap { at, nbytes } => {
                    let at = self.source.position(at);
                    self.damage.push(Damage::Gap { at, nbytes });
                    if n == found.len() {
                        continue;
                    }
                    let likely = nbytes.checked_div(mean.unwrap_or(0)).unwrap_or(1).max(1);
                    let lost = if ngaps == 1 { missing } else { likely.min(missing) };
                    missing = missing.saturating_sub(lost);
                    entries.extend((0..lost).map(|_| (None, ChunkState::Lost)));
                    state = if ngaps == 1 { state } else { ChunkState::Doubtful };
                }
            }
        }
        entries.extend((0..missing).map(|_| (None, ChunkState::Lost)));
        entries
    }

    /// Metadata and chunks of a frame of which only chunks can be found.
    fn without_header(&mut self, available: u64) -> Result<(Start, Vec<Entry>)> {
        self.damage.push(Damage::Header);
        if let Some(folder) = self.folder.clone() {
            let entries = file_entries(&folder, None)?;
            let headers = || entries.iter().filter_map(|(id, _)| file_header(&folder, (*id)?));
            let first = headers().next().ok_or(NO_FRAME)?;
            let last = entries.last().and_then(|(id, _)| file_header(&folder, (*id)?));
            let chunksize = first.nbytes().max(last.map_or(0, |last| last.nbytes()));
            let others = (entries.len() as u64).saturating_sub(1);
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
        // What stands before the first chunk is the header.
        found.retain(|piece| matches!(piece, Found::Chunk { .. }) || piece.at() >= base);
        let chunks = || found.iter().filter_map(Found::chunk_header);
        let (Some(first), Some(last)) = (chunks().next(), chunks().next_back()) else {
            return Err(NO_FRAME);
        };
        let chunksize = chunks().map(|chunk| chunk.nbytes()).max().unwrap_or(0);
        let entries = match table {
            Some(table) => table.into_iter().map(|at| (Some(at), ChunkState::Good)).collect(),
            None => self.placed(&found, base, None),
        };
        let whole = (entries.len() as u64).saturating_sub(1).saturating_mul(chunksize as u64);
        let mut start = start_like(first, chunksize, whole.saturating_add(last.nbytes() as u64))?;
        start.header.set_header_len(u32::try_from(base).map_err(|_| NO_FRAME)?);
        match read_meta(&self.source, &start.header) {
            Ok(meta) => start.meta = meta,
            Err(_) => self.damage.push(Damage::Metalayers),
        }
        Ok((start, entries))
    }

    /// Decodes every chunk, and puts a run where one does not decode.
    fn decoded(self, start: Start, entries: Vec<Entry>, rescue: &RescueOptions) -> Result<Salvage> {
        let Self { source, folder, options, mut damage } = self;
        let Start { mut header, meta, vlmeta, .. } = start;
        let (run, mut value) = match &rescue.fill {
            Fill::NaN => (SpecialKind::Nans, None),
            Fill::Value(item) => (SpecialKind::Zeros, Some(item.clone())),
            _ => (SpecialKind::Zeros, None),
        };
        let typesize = u64::from(header.typesize().get());
        if let Some(item) = value.as_ref().filter(|item| item.len() as u64 != typesize) {
            return Err(Param::BufferLen { len: item.len() as u64, expected: typesize }.into());
        }
        let run = Offset::of_special(run).unwrap_or_default();
        let chunksize = header.chunksize().fixed();
        let table = entries.iter().map(|(at, _)| at.unwrap_or(run)).collect();
        let mut index = Index::empty();
        index.set_table(table);
        let section = source.available()?.saturating_sub(header.header_len().into());
        index.set_section(match folder {
            Some(_) => offsets::Section::Files,
            None => offsets::Section::Bytes(section),
        });
        header.set_cbytes(section);
        let options = options.clone().for_items_of(&header, &meta);
        let mark = Mark::default();
        let state =
            FrameState { source, folder, header, trailer_len: 0, meta, vlmeta, mark, index };
        let mut schunk = SChunk::from_state(state, options);
        let mut chunks = vec![];
        for (nchunk, (at, state)) in (0u64..).zip(&entries) {
            let state = match schunk.decode_chunk(nchunk) {
                Ok(_) => *state,
                // NaN does not fit items of every size.
                Err(_) if at.is_none() => ChunkState::Lost,
                Err(error) if !is_damage(&error) => return Err(error),
                Err(_) => ChunkState::Lost,
            };
            chunks.push(state);
        }
        let is_cut = rescue.fill == Fill::Cut || chunksize.is_none();
        if is_cut && chunks.contains(&ChunkState::Lost) {
            value = None;
            cut(&mut schunk, &chunks, &mut damage)?;
        } else {
            let lost = |n: usize| chunks.get(n) == Some(&ChunkState::Lost);
            schunk.state_mut().index.edit(|table| {
                for (_, at) in table.iter_mut().enumerate().filter(|(n, _)| lost(*n)) {
                    *at = run;
                }
            });
        }
        Ok(Salvage { schunk, chunks, damage, value })
    }
}

/// Takes the lost chunks out, and the shape of an array with them.
fn cut(schunk: &mut SChunk, chunks: &[ChunkState], damage: &mut Vec<Damage>) -> Result<()> {
    let mut nbytes = 0u64;
    for (nchunk, state) in (0u64..).zip(chunks) {
        if *state != ChunkState::Lost {
            nbytes = nbytes.saturating_add(schunk.chunk_nbytes(nchunk)? as u64);
        }
    }
    let is_shape =
        |name: &[u8]| [NdMeta::NAME, NdMeta::OLD_NAME].map(str::as_bytes).contains(&name);
    let state = schunk.state_mut();
    if state.meta.iter().any(|layer| is_shape(layer.name)) {
        damage.push(Damage::Shape);
        let others: Vec<_> = state.meta.iter().filter(|layer| !is_shape(layer.name)).collect();
        let others = others.iter().map(|layer| (layer.name, layer.content));
        state.meta = Metalayers::build(others, Section::HEADER)?;
    }
    state.header.set_nbytes(nbytes);
    let mut states = chunks.iter();
    state.index.edit(|table| table.retain(|_| states.next() != Some(&ChunkState::Lost)));
    Ok(())
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

/// The header of the chunk in the file with this number.
fn file_header(folder: &Folder, id: u64) -> Option<ChunkHeader> {
    let source = folder.open_chunk(id, u32::try_from(id).ok()?).ok()?;
    let (head, len) = source.read_head(0, source.available().ok()?).ok()?;
    let head: [u8; ChunkHeader::MAX_LEN] = head;
    ChunkHeader::parse(head.get(..len)?).ok()
}

/// The files of chunks, which have the numbers of their chunks if none was ever replaced.
fn file_entries(folder: &Folder, nchunks: Option<u64>) -> Result<Vec<Entry>> {
    let listed = folder.tree.list("").map_err(|source| Error::Open { source })?;
    let ids: BTreeSet<u64> =
        listed.iter().filter_map(|entry| id_of(&entry.name)).map(u64::from).collect();
    let nchunks = nchunks.unwrap_or_else(|| end_of_ids(&ids));
    Ok((0..nchunks.min(MAX_NCHUNKS))
        .map(|id| match ids.contains(&id) {
            true => (Some(id), ChunkState::Good),
            false => (None, ChunkState::Lost),
        })
        .collect())
}

/// Chunks that may be missing between two files; a file of a number farther away is a stray one.
const MAX_GAP_NCHUNKS: u64 = 1 << 16;

/// The number after the last file that is not a stray one.
fn end_of_ids(ids: &BTreeSet<u64>) -> u64 {
    ids.iter().fold(0, |end, &id| match id.saturating_sub(end) <= MAX_GAP_NCHUNKS {
        true => id.saturating_add(1),
        false => end,
    })
}

/// There is no header, and no chunk either.
const NO_FRAME: Error = Error::NotAFrame { found: Kind::Unknown };

/// Is the frame to blame, rather than a limit or the storage?
fn is_damage(error: &Error) -> bool {
    match error {
        Error::Limit { .. } => false,
        Error::Io { source, .. } => source.kind() == io::ErrorKind::UnexpectedEof,
        _ => true,
    }
}
