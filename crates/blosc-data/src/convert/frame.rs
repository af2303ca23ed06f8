//! Conversion to a frame, contiguous or sparse.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use b2frame::{
    CompressOptions, CopyOptions, Dest, FrameParams, FrameWriter, NdArray, NdWriter, SChunk,
    SChunkWriter, compress_stream, header::FrameLayout,
};
use blosc_chunk::{ChunkHeader, Encoder, Pipeline, Target as Reader, transcode::transcode_header};

use super::{
    Conversion, OutputFormat, Report, array::lens, check_dimensions, know_filters, pull::pull,
};
use crate::boxes::selection;
use crate::content::{Packed, Sink};
use crate::error::{Doing, Error, Refusal, Result};
use crate::size::{as_len, check_memory};

/// Metadata that only formats of arrays hold.
pub const ARRAY: &str = "the shape and type of the array";

/// The loss of a table if the array has other dimensions than rows, or rows and columns.
pub(super) const SHAPE: &str = "the shape of the array";

/// Bytes of data in a chunk, by default.
pub(super) const CHUNK_NBYTES: usize = 1 << 20;

impl Conversion<'_> {
    /// Writes a frame to `path`, where nothing is yet.
    pub(super) fn frame(&self, path: &Path) -> Result<Report> {
        let size = self.content.chunksize()?;
        match self.content.frame() {
            Some(schunk) if !self.is_anew() => self.save(schunk, path),
            Some(schunk) if schunk.nd_meta()?.is_some() => self.array_anew(schunk, path),
            Some(schunk) if size.is_none() => self.chunks_anew(schunk, path),
            None if self.is_sparse_array()? => self.sparse_array(path),
            _ => {
                let done = match size.filter(|size| self.can_move(*size)) {
                    Some(size) => self.move_chunks(size, path)?,
                    None => self.content_anew(path)?,
                };
                // The metadata of a Bloscpack file still describe the array in a frame, but only a
                // conversion back to Bloscpack reads them.
                let is_lost = match (self.content.frame(), self.content.blp()) {
                    (None, Some(_)) => self.content.layout().is_ok_and(|it| it.is_some()),
                    (None, None) => self.content.layout()?.is_some(),
                    (Some(_), _) => false,
                };
                let left_out = is_lost.then(|| ARRAY.to_owned()).into_iter().collect();
                Ok(Report { left_out, ..done })
            }
        }
    }

    /// Writes the same frame without dead bytes, perhaps in the other form, in the current layout.
    fn save(&self, schunk: &SChunk, path: &Path) -> Result<Report> {
        // Frames of the betas are converted in memory.
        if schunk.layout() != FrameLayout::Current {
            check_memory(schunk.cbytes().saturating_mul(2), self.settings.resources.held())?;
        }
        let dest = match self.settings.format {
            OutputFormat::Sframe => Dest::Sparse(path.to_owned()),
            _ => Dest::Contiguous(path.to_owned()),
        };
        let mut options = CopyOptions::default();
        options.checksums = self.settings.checksums;
        schunk.copy(&dest, &options)?;
        Ok(Report { moved: schunk.nchunks(), ..Report::default() })
    }

    /// Whether a frame can have chunks of this size.
    fn can_move(&self, size: usize) -> bool {
        !self.settings.compression.is_wanted() && size.is_multiple_of(self.content.typesize())
    }

    /// Moves chunks, with a header of Blosc2. C-Blosc2 reads frames with other chunks only in part.
    fn move_chunks(&self, size: usize, path: &Path) -> Result<Report> {
        let params = self.frame_params(size)?;
        let mut writer = self.create(&params, path)?;
        let mut encoder: Option<Encoder> = None;
        let mut done = Report::default();
        // Old Bloscpack files may end with a chunk without data, which frames cannot have.
        for nchunk in 0..self.content.nbytes()?.div_ceil(size as u64) {
            let before = writer.nbytes();
            let moved = match self.content.packed(nchunk, self.settings.resources.held())? {
                Some(Packed::Run { kind, nbytes }) => {
                    writer.append_special(kind, nbytes).map(|()| true)?
                }
                Some(Packed::Bytes(bytes)) => match self.blosc2(&bytes) {
                    Some(chunk) => writer.append_chunk(&chunk).map(|()| true)?,
                    None => false,
                },
                None => false,
            };
            if !moved {
                // Decoding finds a damaged chunk.
                let data = self.content.data(nchunk, &self.settings.resources.decoding())?;
                let encoder = encoder_of(&mut encoder, &params)?;
                let chunk =
                    encoder.encode(&data).map_err(|source| Error::Chunk { at: 0, source })?;
                writer.append_chunk(&chunk)?;
            }
            done.count(moved);
            (self.progress)(writer.nbytes() - before);
        }
        writer.commit()?;
        Ok(done)
    }

    /// The chunk for readers of Blosc2, if they can read it and the item sizes match.
    pub(super) fn blosc2(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let target = self.settings.compression.target.unwrap_or(Reader::Blosc2_0);
        let header = ChunkHeader::parse(bytes).ok()?;
        // Frames describe items wider than 255 bytes as single bytes.
        let typesize = u8::try_from(self.content.typesize()).unwrap_or(1);
        let is_known =
            self.settings.compression.target.is_none() || know_filters(&header.pipeline(), target);
        let is_alike = is_known && header.typesize() == usize::from(typesize);
        transcode_header(bytes, target).ok().filter(|_| is_alike)
    }

    /// Compresses the content to chunks of one size.
    fn content_anew(&self, path: &Path) -> Result<Report> {
        let size = match (self.settings.compression.chunk_nbytes, self.content.chunksize()?) {
            (Some(size), _) => as_len(size),
            (None, Some(size)) => size,
            (None, None) => CHUNK_NBYTES,
        };
        self.check_no_shapes()?;
        let frame = contiguous(self.settings.format, path);
        let mut writer = FrameWriter::create(&frame, &self.frame_params(size)?)?;
        let resources = &self.settings.resources;
        let budget = resources.compressing(writer.cparams(), writer.chunksize(), 0)?;
        let options = CompressOptions::default().budget(budget);
        let mut before = 0;
        let decode = |sink: Sink<'_>| self.in_order(self.content, sink);
        pull(decode, |reader: &mut dyn std::io::Read| {
            compress_stream(reader, &mut writer, &options, |totals| {
                (self.progress)(totals.nbytes - before);
                before = totals.nbytes;
            })?;
            Ok(())
        })?;
        let recompressed = writer.nchunks();
        writer.finish()?;
        self.spread(&frame, path)?;
        Ok(Report { recompressed, ..Report::default() })
    }

    /// Compresses chunks of varying sizes again, each by itself.
    fn chunks_anew(&self, schunk: &SChunk, path: &Path) -> Result<Report> {
        self.check_no_shapes()?;
        let mut writer = self.create(&self.frame_params(CHUNK_NBYTES)?, path)?;
        writer.make_variable()?;
        writer.append_data(schunk, &self.settings.resources.decoding())?;
        writer.commit()?;
        Ok(Report { recompressed: writer.nchunks(), ..Report::default() })
    }

    /// Writes an array with other chunks, or with another compression.
    fn array_anew(&self, schunk: &Arc<SChunk>, path: &Path) -> Result<Report> {
        if self.settings.compression.has_sizes() {
            return Err(Refusal::BytesOfArray.into());
        }
        let array =
            NdArray::from_schunk(Arc::clone(schunk))?.budget(self.settings.resources.decoding());
        let mut params = array.params()?.cparams(self.cparams()?);
        let compression = &self.settings.compression;
        if compression.has_shapes() {
            params.chunkshape = compression.chunkshape.as_deref().map(lens);
            params.blockshape = compression.blockshape.as_deref().map(lens);
        }
        params.checksums = self.settings.checksums.unwrap_or(params.checksums);
        let frame = contiguous(self.settings.format, path);
        let mut writer =
            NdWriter::create(&frame, &params)?.budget(self.settings.resources.decoding());
        let boxes = self.boxes(&writer)?;
        self.fill(&mut writer, boxes, &mut |bounds, items| {
            Ok(array.read_bytes(selection(bounds), items)?)
        })?;
        let recompressed = writer.meta().nchunks();
        writer.finish()?;
        self.spread(&frame, path)?;
        Ok(Report { recompressed, ..Report::default() })
    }

    /// Whether the output is a sparse frame that becomes an array. Contiguous arrays have a format
    /// of their own (`.b2nd`), and the chunks of a Bloscpack file are moved instead.
    fn is_sparse_array(&self) -> Result<bool> {
        let has_sizes = self.settings.compression.has_sizes();
        let is_moved = self.content.blp().is_some();
        let may_be = self.settings.format == OutputFormat::Sframe && !has_sizes && !is_moved;
        Ok(may_be && self.content.layout()?.is_some())
    }

    fn sparse_array(&self, path: &Path) -> Result<Report> {
        let frame = contiguous(self.settings.format, path);
        let done = self.items_anew(&self.layout()?, &frame)?;
        self.spread(&frame, path)?;
        Ok(done)
    }

    /// Makes a sparse frame of the contiguous one, if the format asks for it.
    fn spread(&self, frame: &Path, path: &Path) -> Result<()> {
        if frame == path {
            return Ok(());
        }
        SChunk::open(frame)?.save_sparse(path)?;
        std::fs::remove_file(frame).map_err(Error::io_at(Doing::Remove, frame))
    }

    fn create(&self, params: &FrameParams, path: &Path) -> Result<SChunkWriter> {
        Ok(match self.settings.format {
            OutputFormat::Sframe => SChunkWriter::create_sparse(path, params)?,
            _ => SChunkWriter::create(path, params)?,
        })
    }

    /// A frame with the metadata of the input.
    fn frame_params(&self, chunksize: usize) -> Result<FrameParams> {
        let params = FrameParams::new(self.cparams()?)
            .chunksize(chunksize)
            .checksums(self.settings.checksums.unwrap_or_default());
        Ok(self.content.metadata()?.add_to(params))
    }

    /// Refuses shapes, and codecs that need one, for outputs other than arrays.
    pub(super) fn check_no_shapes(&self) -> Result<()> {
        let compression = &self.settings.compression;
        if compression.has_shapes() {
            return Err(Refusal::ShapesOfBytes.into());
        }
        let codec = compression.codec.map(|codec| codec.0);
        let filters = compression.filters.unwrap_or(Pipeline::SHUFFLE);
        check_dimensions(codec, &filters, None, Some(self.settings.format.name()))
    }
}

/// The path of the contiguous frame that a sparse frame is made of.
fn contiguous(format: OutputFormat, path: &Path) -> PathBuf {
    match format {
        OutputFormat::Sframe => path.with_file_name("contiguous"),
        _ => path.to_owned(),
    }
}

/// An encoder, made when it is first needed.
fn encoder_of<'a>(
    encoder: &'a mut Option<Encoder>,
    params: &FrameParams,
) -> Result<&'a mut Encoder> {
    if encoder.is_none() {
        let made = Encoder::new(params.cparams.clone())
            .map_err(|source| Error::Chunk { at: 0, source })?;
        *encoder = Some(made);
    }
    encoder.as_mut().ok_or(Error::Internal("an encoder that was made is missing"))
}
