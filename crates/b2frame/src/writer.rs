//! Writes a frame from front to back.
//!
//! ```text
//!    0            header_len                          frame_len
//!    | header     | chunk | chunk | ..  | index | trailer |
//!      last, by     as they come          finish()
//!      finish()
//! ```
//!
//! The header comes last. Without the header the file is not a frame, so a reader cannot take half
//! a frame for a whole one.

use std::path::Path;

use blosc_chunk::{
    CParams, ChunkHeader, CodecId, Encoder, Level, Pipeline, Registries, Special, SpecialKind,
    SplitMode,
};
use blosc_io::{FileStore, MemStore, WriteAt};

use crate::edit::{create_locked, noted_run};
use crate::error::{Error, Param, Result};
use crate::header::{ChunkSize, FrameHeader, MAX_CHUNK};
use crate::lock::Held;
use crate::metalayers::{Metalayers, Section};
use crate::offsets::{MAX_NCHUNKS, Offset};
use crate::params::{Checksums, FrameParams};
use crate::schunk::SChunk;
use crate::seal::{BodySum, Ending, LAYER, Mark, Sealed};

/// The block size that C-Blosc2 gives to index chunks (bytes).
const INDEX_BLOCK: usize = 16 << 10;

/// Writes a contiguous frame to a store, which should be empty.
///
/// All chunks except the last have one size. The bytes become a frame only with
/// [`finish`](Self::finish).
///
/// ```
/// use b2frame::{FrameParams, FrameWriter, SChunk};
/// use blosc_io::MemStore;
///
/// let mut writer = FrameWriter::new(MemStore::default(), &FrameParams::default().chunksize(8))?;
/// writer.append(b"12345678")?;
/// writer.append(b"90")?;
/// let frame = writer.finish()?.into_bytes();
/// assert_eq!(SChunk::from_cframe(frame)?.decode_chunk(1)?, b"90");
/// # Ok::<(), b2frame::Error>(())
/// ```
#[derive(Debug)]
pub struct FrameWriter<S> {
    store: S,
    /// The future header; sizes are added up here.
    header: FrameHeader,
    meta: Metalayers,
    vlmeta: Metalayers,
    seal: Option<BodySum>,
    offsets: Vec<u64>,
    cparams: CParams,
    chunksize: usize,
    encoder: Encoder,
    /// Whether a chunk was shorter than the others and must be the last.
    is_short: bool,
    /// Keeps others from changing the file until it is complete.
    _held: Option<Held>,
}

impl FrameWriter<FileStore> {
    /// Creates a file, or empties an existing one, for a frame. The file is locked until
    /// [`finish`](Self::finish), as by [`SChunkWriter`](crate::SChunkWriter): an existing frame is
    /// not emptied while another writer changes it.
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::Locked`], or as [`new`](Self::new).
    pub fn create(path: impl AsRef<Path>, params: &FrameParams) -> Result<Self> {
        // Invalid parameters must not destroy an existing file.
        Start::new(params)?;
        let (store, held) = create_locked(path.as_ref())?;
        Ok(Self { _held: Some(held), ..Self::new(store, params)? })
    }
}

impl<S: WriteAt> FrameWriter<S> {
    /// Prepares a frame; writes no bytes yet.
    ///
    /// # Errors
    /// [`Error::Param`] or [`Error::Compress`] when these parameters cannot be written.
    pub fn new(store: S, params: &FrameParams) -> Result<Self> {
        let Start { header, meta, vlmeta, checksums } = Start::new(params)?;
        let cparams = params.cparams.clone();
        let chunksize = whole_items(params.chunksize, cparams.typesize)?;
        let encoder = Encoder::new(cparams.clone().in_schunk())
            .map_err(|source| Error::Compress { nchunk: 0, source })?;
        Ok(Self {
            store,
            header,
            meta,
            vlmeta,
            seal: BodySum::new(checksums),
            offsets: vec![],
            cparams,
            chunksize,
            encoder,
            is_short: false,
            _held: None,
        })
    }

    /// Uncompressed bytes of a chunk: the requested size, in whole items.
    #[must_use]
    pub fn chunksize(&self) -> usize {
        self.chunksize
    }

    /// How chunks are compressed.
    #[must_use]
    pub fn cparams(&self) -> &CParams {
        &self.cparams
    }

    /// Number of chunks so far.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Uncompressed bytes so far.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.header.nbytes()
    }

    /// Compressed bytes so far.
    #[must_use]
    pub fn cbytes(&self) -> u64 {
        self.header.stored_cbytes().unsigned_abs()
    }

    /// Compresses `data` and appends it as a chunk. `data` has [`chunksize`](Self::chunksize)
    /// bytes; only the last chunk may be shorter.
    ///
    /// # Errors
    /// [`Error::Param`] for a wrong number of bytes, [`Error::Compress`], or [`Error::Write`].
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.check_place(data.len())?;
        let nchunk = self.nchunks();
        let chunk =
            self.encoder.encode(data).map_err(|source| Error::Compress { nchunk, source })?;
        self.store_encoded(&chunk, data.len())
    }

    /// Appends a chunk of `nbytes` uncompressed bytes from an encoder with this writer's
    /// parameters.
    pub(crate) fn append_encoded(&mut self, chunk: &[u8], nbytes: usize) -> Result<()> {
        self.check_place(nbytes)?;
        self.store_encoded(chunk, nbytes)
    }

    /// Stores the chunk of an encoder, or notes it as a run. Reads only the chunk's header.
    fn store_encoded(&mut self, chunk: &[u8], nbytes: usize) -> Result<()> {
        let nchunk = self.nchunks();
        let header = ChunkHeader::parse(chunk);
        let header = header.map_err(|source| Error::Compress { nchunk, source })?;
        match noted_run(&header) {
            Some(kind) => self.append_run(kind, nbytes),
            None if !header.is_extended() => Err(Param::Blosc1Chunk.into()),
            None => self.store(chunk, nbytes),
        }
    }

    /// Appends a compressed chunk. A run of zeros, NaN or uninitialised data is only noted in the
    /// index.
    ///
    /// # Errors
    /// As [`append`](Self::append); [`Error::Chunk`] if `chunk` is not a chunk;
    /// [`Param::Blosc1Chunk`].
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        let nchunk = self.nchunks();
        let wrong = |source| Error::Chunk { nchunk, at: 0, source };
        let parsed = blosc_chunk::Chunk::parse(chunk).map_err(wrong)?;
        let header = parsed.header();
        match noted_run(header) {
            Some(kind) => self.append_special(kind, header.nbytes()),
            _ if header.is_vl() => Err(Param::VlBlocks.into()),
            // C-Blosc2 decodes such chunks in frames as a whole, but cannot read parts of them.
            _ if !header.is_extended() => Err(Param::Blosc1Chunk.into()),
            _ => {
                self.check_place(header.nbytes())?;
                self.store(parsed.bytes(), header.nbytes())
            }
        }
    }

    /// Appends `nbytes` bytes of a run: zeros, NaN, or uninitialised data.
    ///
    /// # Errors
    /// As [`append`](Self::append); [`Param::NanTypesize`]; [`Param::SpecialKind`].
    pub fn append_special(&mut self, kind: SpecialKind, nbytes: usize) -> Result<()> {
        self.check_place(nbytes)?;
        self.append_run(kind, nbytes)
    }

    fn append_run(&mut self, kind: SpecialKind, nbytes: usize) -> Result<()> {
        let typesize = self.cparams.typesize;
        if kind == SpecialKind::Nans && !matches!(typesize, 4 | 8) {
            return Err(Param::NanTypesize { typesize: typesize as u64 }.into());
        }
        let offset = Offset::of_special(kind).ok_or(Param::SpecialKind)?;
        if nbytes.checked_rem(typesize) == Some(0) {
            return self.note(offset, nbytes);
        }
        // C-Blosc2 before 3.1.5 refuses runs that end within an item, so this run is stored as
        // data.
        let nchunk = self.nchunks();
        let wrong = |source| Error::Compress { nchunk, source };
        let mut data = vec![0; nbytes];
        if kind == SpecialKind::Nans {
            blosc_chunk::internal::fill_special(Special::Nans, typesize, &mut data)
                .map_err(wrong)?;
        }
        let cparams = self.cparams.clone().special_values(false);
        let chunk = blosc_chunk::compress(&data, &cparams.in_schunk()).map_err(wrong)?;
        self.store(&chunk, nbytes)
    }

    /// Writes index, trailer and header, and returns the store. Sync the store to make the frame
    /// durable.
    ///
    /// # Errors
    /// [`Error::Write`]; [`Error::Compress`] for the index.
    pub fn finish(mut self) -> Result<S> {
        let mut at = u64::from(self.header.header_len()).saturating_add(self.cbytes());
        let registries = &self.cparams.registries;
        let index =
            if self.offsets.is_empty() { vec![] } else { encode_index(&self.offsets, registries)? };
        let ending = Ending {
            seal: self.seal.as_ref(),
            old_mark: &Mark::default(),
            meta: &self.meta,
            vlmeta: &self.vlmeta,
            numbers: &self.offsets,
            index_len: index.len() as u64,
            registries,
        };
        let start = at.saturating_add(index.len() as u64);
        let Sealed { trailer, .. } = ending.encode(&mut self.header, start, &index)?;
        if !index.is_empty() {
            self.write(at, &index)?;
            at = start;
        }
        self.write(at, &trailer)?;
        self.write(0, &self.header.encode_with(&self.meta)?)?;
        Ok(self.store)
    }

    /// Checks that a chunk of `nbytes` bytes is allowed next.
    fn check_place(&self, nbytes: usize) -> Result<()> {
        if nbytes == 0 {
            return Err(Param::EmptyChunk.into());
        }
        if self.is_short {
            return Err(Param::AfterLastChunk.into());
        }
        if nbytes > self.chunksize {
            let expected = self.chunksize as u64;
            return Err(Param::ChunkNbytes { nbytes: nbytes as u64, expected }.into());
        }
        if self.nchunks() >= MAX_NCHUNKS {
            return Err(Param::TooManyChunks { max: MAX_NCHUNKS }.into());
        }
        Ok(())
    }

    /// Writes a chunk after the last one.
    fn store(&mut self, chunk: &[u8], nbytes: usize) -> Result<()> {
        let offset = self.cbytes();
        self.write(u64::from(self.header.header_len()).saturating_add(offset), chunk)?;
        self.header.add_cbytes(chunk.len() as u64);
        self.seal.iter_mut().for_each(|seal| seal.add_chunk(offset, chunk));
        self.note(offset, nbytes)
    }

    fn note(&mut self, offset: u64, nbytes: usize) -> Result<()> {
        self.header.replace_nbytes(0, nbytes)?;
        self.offsets.push(offset);
        self.is_short = nbytes < self.chunksize;
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let len = bytes.len() as u64;
        self.store.write_at(at, bytes).map_err(|source| Error::Write { at, len, source })
    }
}

/// Compresses data in memory to a frame in memory, on the caller's thread.
///
/// ```
/// use b2frame::{FrameParams, SChunk, to_cframe};
///
/// let params = FrameParams::default().metalayer("kind", *b"demo")
///     .vlmetalayer("note", *b"from a test");
/// let schunk = SChunk::from_cframe(to_cframe(&[0; 1000], &params)?)?;
/// assert_eq!(schunk.meta().get("kind").map(|layer| layer.content), Some(&b"demo"[..]));
/// assert_eq!(schunk.vlmeta().get("note")?, Some(b"from a test".to_vec()));
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// As [`FrameWriter::new`] and [`FrameWriter::append`].
pub fn to_cframe(data: &[u8], params: &FrameParams) -> Result<Vec<u8>> {
    let mut writer = FrameWriter::new(MemStore::default(), params)?;
    for chunk in data.chunks(writer.chunksize()) {
        writer.append(chunk)?;
    }
    Ok(writer.finish()?.into_bytes())
}

/// The start of a new frame, without chunks.
pub(crate) struct Start {
    pub header: FrameHeader,
    pub meta: Metalayers,
    /// The vlmetalayers, with compressed contents.
    pub vlmeta: Metalayers,
    pub checksums: Checksums,
}

impl Start {
    pub(crate) fn new(params: &FrameParams) -> Result<Self> {
        let chunksize = whole_items(params.chunksize, params.cparams.typesize)?;
        let layers =
            params.metalayers.iter().map(|(name, content)| (name.as_bytes(), content.as_slice()));
        let meta = Metalayers::build(layers, Section::HEADER)?;
        let vlmeta = encode_vlmeta(&params.vlmetalayers, &params.cparams)?;
        let too_long = |_| Param::MetaTooLong { nbytes: meta.bytes().len() as u64 };
        let header_len = i32::try_from(meta.bytes().len()).map_err(too_long)?.unsigned_abs();
        let header = FrameHeader::new(header_len, chunksize, !vlmeta.is_empty(), &params.cparams)?;
        Ok(Self { header, meta, vlmeta, checksums: params.checksums })
    }

    /// The start of a frame like this, without its chunks.
    pub(crate) fn like(schunk: &SChunk, checksums: Option<Checksums>) -> Self {
        let (meta, vlmeta) = (schunk.meta().clone(), schunk.vlmeta().stored().clone());
        let checksums = checksums.or_else(|| schunk.checksums()).unwrap_or(Checksums::Body);
        Self { header: schunk.header().without_chunks(), meta, vlmeta, checksums }
    }

    /// The start of a frame with the metadata of this one and the same kind of chunks, with other
    /// compression.
    pub(crate) fn recompressed(
        schunk: &SChunk,
        cparams: &CParams,
        chunksize: ChunkSize,
    ) -> Result<Self> {
        let Self { header: old, meta, vlmeta, checksums } = Self::like(schunk, None);
        let typesize = cparams.typesize;
        let header = FrameHeader::new(old.header_len(), typesize, !vlmeta.is_empty(), cparams)?;
        Ok(Self { header: header.chunks_like(chunksize, &old), meta, vlmeta, checksums })
    }
}

/// The chunk size in whole items, at least one.
pub(crate) fn whole_items(chunksize: usize, typesize: usize) -> Result<usize> {
    let max = MAX_CHUNK as u64;
    if typesize == 0 || typesize > MAX_CHUNK {
        return Err(Param::Typesize { typesize: typesize as u64, max }.into());
    }
    let whole = chunksize.checked_div(typesize).unwrap_or(0).max(1).saturating_mul(typesize);
    if chunksize == 0 || whole > MAX_CHUNK {
        let (chunksize, typesize) = (chunksize as u64, typesize as u64);
        return Err(Param::ChunkSize { chunksize, typesize, max }.into());
    }
    Ok(whole)
}

/// Vlmetalayers with these contents, which are compressed here.
fn encode_vlmeta(vlmeta: &[(String, Vec<u8>)], cparams: &CParams) -> Result<Metalayers> {
    if vlmeta.iter().any(|(name, _)| name.as_bytes() == LAYER) {
        return Err(Param::ReservedName { name: "b2seal" }.into());
    }
    let chunks = vlmeta.iter().map(|(_, content)| compress_vlmeta(content, cparams));
    let chunks: Vec<Vec<u8>> = chunks.collect::<Result<_, _>>()?;
    let layers =
        vlmeta.iter().zip(&chunks).map(|((name, _), chunk)| (name.as_bytes(), chunk.as_slice()));
    Metalayers::build(layers, Section::TRAILER)
}

/// Compresses the content of a vlmetalayer as C-Blosc2's Python binding does, but with a codec that
/// every build has.
pub(crate) fn compress_vlmeta(content: &[u8], cparams: &CParams) -> Result<Vec<u8>> {
    let plain =
        CParams::default().typesize(1).special_values(false).registries(cparams.registries.clone());
    blosc_chunk::compress(content, &plain).map_err(|source| Error::Compress { nchunk: 0, source })
}

/// The index chunk, compressed as C-Blosc2 does. One offset for all chunks becomes a run.
pub(crate) fn encode_index(offsets: &[u64], registries: &Registries) -> Result<Vec<u8>> {
    let params = CParams::default()
        .codec(CodecId::BLOSCLZ)
        .clevel(Level::DEFAULT)
        .filters(Pipeline::SHUFFLE)
        .typesize(size_of::<u64>())
        .blocksize(Some(INDEX_BLOCK))
        .split(SplitMode::Never)
        .special_values(false)
        .registries(registries.clone());
    let nbytes = size_of_val(offsets);
    let chunk = match offsets {
        [first, rest @ ..] if rest.iter().all(|offset| offset == first) && !rest.is_empty() => {
            blosc_chunk::special_chunk(Special::Value(&first.to_le_bytes()), nbytes, &params)
        }
        _ => {
            let bytes: Vec<_> = offsets.iter().map(|offset| offset.to_le_bytes()).collect();
            blosc_chunk::compress(bytes.as_flattened(), &params)
        }
    };
    chunk.map_err(|source| Error::Compress { nchunk: offsets.len() as u64, source })
}
