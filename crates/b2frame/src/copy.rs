//! Copies of super-chunks: in another kind of frame, with other parameters, in chunks of another
//! size.
//!
//! ```text
//!   decode + compress            by several threads
//!   chunk 0   chunk 1   chunk 2      chunks of the copy, of the same or another size
//!   |---------|---------|-----|
//!   |------|------|------|----|      data of the super-chunk that is copied
//! ```

use blosc_chunk::{CParams, ChunkHeader, Encoder, Target, Threads, max_compressed_len};
use blosc_container::Budget;
use blosc_container::parallel::{Job, in_order};

use crate::dest::Dest;
use crate::edit::SChunkWriter;
use crate::error::{Error, Limited, Param, Result};
use crate::header::ChunkSize;
use crate::nd::{chunk_cparams, item_dtype};
use crate::params::{Checksums, CopyOptions};
use crate::schunk::{ChunkBytes, Location, SChunk, Scratch, check_limit};
use crate::writer::{Start, whole_items};

impl SChunk {
    /// Copies the super-chunk with its metalayers and vlmetalayers, without unused bytes.
    ///
    /// With neither [`cparams`](CopyOptions::cparams) nor [`chunksize`](CopyOptions::chunksize) the
    /// chunks are copied as they are; this converts between contiguous and sparse frames. Otherwise
    /// runs of a special value stay runs if their size stays. A `chunksize` gives all chunks this
    /// size; the borders between chunks of individual sizes, and between VL-blocks, are lost. A
    /// frame of the 2.0.0 betas becomes one of today's layout.
    ///
    /// The bytes of the copy depend on data and parameters, not on the number of threads.
    ///
    /// ```
    /// use b2frame::{CopyOptions, Dest, FrameParams, SChunk, to_cframe};
    /// use blosc_chunk::{CParams, CodecId};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    /// let schunk = SChunk::from_cframe(to_cframe(&data, &FrameParams::default())?)?;
    ///
    /// let options = CopyOptions::default().cparams(CParams::default().codec(CodecId::LZ4))
    ///     .chunksize(1 << 16);
    /// let copy = schunk.copy(&Dest::Contiguous(dir.path().join("lz4.b2frame")), &options)?;
    /// assert_eq!((copy.nbytes(), copy.nchunks(), copy.cparams().codec),
    ///            (400_000, 7, CodecId::LZ4));
    ///
    /// let sparse =
    ///     copy.copy(&Dest::Sparse(dir.path().join("sparse.b2frame")), &CopyOptions::default())?;
    /// assert_eq!(sparse.chunk(3)?, copy.chunk(3)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The error of a chunk, [`Error::Open`], [`Error::Write`], [`Error::Compress`];
    /// [`Error::Limit`] if one chunk needs more memory than allowed; [`Param::ArrayChunks`] for
    /// another size of the chunks of an array ([`NdArray::copy`](crate::NdArray::copy) can give
    /// them another shape).
    pub fn copy(&self, dest: &Dest, options: &CopyOptions) -> Result<Self> {
        if let Some(current) = self.as_current()? {
            return current.copy(dest, options);
        }
        let stays = options.chunksize.is_none_or(|size| self.is_chunksize(size));
        if options.cparams.is_none() && stays {
            return self.copy_chunks(dest, options.checksums);
        }
        let copy = Transcode::new(self, options, stays)?;
        dest.write(|dest| copy.write(dest))
    }

    /// Whether all chunks have this size, in whole items (bytes).
    fn is_chunksize(&self, size: usize) -> bool {
        let whole =
            whole_items(size, self.typesize()).ok().and_then(|size| u32::try_from(size).ok());
        whole.is_some() && whole == self.chunksize().fixed()
    }
}

/// A copy whose chunks are compressed anew.
struct Transcode<'a> {
    schunk: &'a SChunk,
    cparams: CParams,
    chunksize: ChunkSize,
    budget: Budget,
    checksums: Option<Checksums>,
}

/// The source of a chunk of the copy.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// A chunk as it is.
    Chunk(u64),
    /// A range of the data.
    Bytes { start: u64, len: usize },
}

impl<'a> Transcode<'a> {
    /// `stays`: the chunks keep their sizes.
    fn new(schunk: &'a SChunk, options: &CopyOptions, stays: bool) -> Result<Self> {
        let typesize = schunk.typesize();
        let mut cparams = match &options.cparams {
            Some(cparams) => cparams.clone().typesize(typesize),
            None => schunk.own_cparams(),
        };
        // An invalid description of an array is no reason to refuse the chunks.
        if let Ok(Some(meta)) = schunk.nd_meta() {
            if !stays {
                return Err(Param::ArrayChunks.into());
            }
            cparams = chunk_cparams(&cparams, &meta, &item_dtype(&meta, typesize));
        }
        if stays && schunk.header().flags().vl_blocks() {
            cparams = cparams.target(Target::Blosc3_0);
        }
        let chunksize = match options.chunksize.filter(|_| !stays) {
            Some(size) => u32::try_from(whole_items(size, typesize)?)
                .ok()
                .and_then(core::num::NonZeroU32::new)
                .map_or(ChunkSize::Unset, ChunkSize::Fixed),
            None => schunk.chunksize(),
        };
        let (budget, checksums) = (options.budget.clone(), options.checksums);
        Ok(Self { schunk, cparams, chunksize, budget, checksums })
    }

    fn write(&self, dest: &Dest) -> Result<SChunk> {
        let mut start = Start::recompressed(self.schunk, &self.cparams, self.chunksize)?;
        start.checksums = self.checksums.unwrap_or(start.checksums);
        let mut writer = SChunkWriter::start(dest, start, self.cparams.clone())?;
        self.append_to(&mut writer)?;
        writer.compare_source(self.schunk)?;
        writer.finish()
    }

    fn append_to(&self, writer: &mut SChunkWriter) -> Result<()> {
        let mut pieces = self.pieces();
        let is_single = pieces.size_hint().1 == Some(1);
        let (mut cparams, mut budget) = (self.cparams.clone(), self.budget.clone());
        if is_single {
            budget = budget.at_most(1);
        } else {
            cparams = cparams.threads(Threads::One);
        }
        in_order(
            &budget,
            || {
                let Some(piece) = pieces.next() else { return Ok(None) };
                let weight = self.weight(piece)?;
                check_limit(Limited::Memory, weight, budget.max_memory)?;
                Ok(Some(Job { job: piece, weight }))
            },
            || (self.schunk.pooled(), None),
            |(scratch, encoder), piece| self.transcode(piece, &cparams, scratch, encoder),
            |chunk: Result<ChunkBytes>| writer.append_chunk_bytes(&chunk?),
        )
    }

    /// The source of each chunk of the copy, in order.
    fn pieces(&self) -> Box<dyn Iterator<Item = Piece>> {
        let new =
            self.chunksize.fixed().filter(|size| self.schunk.chunksize().fixed() != Some(*size));
        let Some(size) = new.map(u64::from) else {
            return Box::new((0..self.schunk.nchunks()).map(Piece::Chunk));
        };
        let nbytes = self.schunk.nbytes();
        let count = nbytes.div_ceil(size.max(1));
        Box::new((0..count).map(move |n| {
            let start = n.saturating_mul(size);
            let len = usize::try_from(nbytes.saturating_sub(start).min(size)).unwrap_or(usize::MAX);
            Piece::Bytes { start, len }
        }))
    }

    /// Memory for a piece: data, new chunk, and the old chunk or as much (bytes).
    fn weight(&self, piece: Piece) -> Result<u64> {
        let (nbytes, cbytes) = match piece {
            Piece::Bytes { len, .. } => (len, len),
            Piece::Chunk(nchunk) => match self.schunk.locate(nchunk)? {
                Location::Special { .. } => return Ok(0),
                Location::Stored { header, .. } => (header.nbytes(), header.cbytes()),
            },
        };
        let parts = [nbytes, cbytes, max_compressed_len(nbytes)];
        Ok(parts.into_iter().fold(0, |sum: u64, part| sum.saturating_add(part as u64)))
    }

    /// Makes the chunk of a piece.
    fn transcode(
        &self,
        piece: Piece,
        cparams: &CParams,
        scratch: &mut Scratch,
        encoder: &mut Option<Encoder>,
    ) -> Result<ChunkBytes> {
        let (nchunk, data) = match piece {
            Piece::Chunk(nchunk) => match self.schunk.locate(nchunk)? {
                Location::Stored { header, .. } if !is_run(&header) => {
                    if header.is_vl() {
                        return self.transcode_blocks(nchunk, cparams, encoder);
                    }
                    let mut data = vec![0; header.nbytes()];
                    self.schunk.decode_chunk_into(nchunk, &mut data, scratch)?;
                    (nchunk, data)
                }
                _ => return self.schunk.chunk(nchunk),
            },
            Piece::Bytes { start, len } => {
                let mut data = vec![0; len];
                self.schunk.read_bytes_with(start, &mut data, scratch)?;
                (start.checked_div(len as u64).unwrap_or(0), data)
            }
        };
        let failed = |source| Error::Compress { nchunk, source };
        let chunk =
            made(encoder, cparams).and_then(|encoder| encoder.encode(&data)).map_err(failed)?;
        Ok(ChunkBytes::Stored(chunk))
    }

    fn transcode_blocks(
        &self,
        nchunk: u64,
        cparams: &CParams,
        encoder: &mut Option<Encoder>,
    ) -> Result<ChunkBytes> {
        let blocks = self.schunk.vl_blocks(nchunk)?;
        let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let chunk = made(encoder, cparams).and_then(|encoder| encoder.encode_vl(&blocks));
        chunk.map(ChunkBytes::Stored).map_err(|source| Error::Compress { nchunk, source })
    }
}

/// The encoder of a thread, made on first use.
fn made<'e>(
    encoder: &'e mut Option<Encoder>,
    cparams: &CParams,
) -> blosc_chunk::error::Result<&'e mut Encoder> {
    match encoder {
        Some(encoder) => Ok(encoder),
        None => Ok(encoder.insert(Encoder::new(cparams.clone().in_schunk())?)),
    }
}

/// Whether a chunk is only a special value: then there are no data to compress.
fn is_run(header: &ChunkHeader) -> bool {
    header.special().is_some() && header.is_extended()
}
