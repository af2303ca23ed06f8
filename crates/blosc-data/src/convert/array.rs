//! Conversion to an array in a contiguous frame.
//!
//! The chunks of a Bloscpack file are moved if they consist of whole rows in whole blocks; most
//! files of one-dimensional arrays do. Everything else goes in boxes of whole chunks: from the
//! stream of items if that gives them in order, else from a file.

use core::ops::Range;
use std::{io::Read, path::Path};

use b2frame::{FrameParams, NdParams, NdWriter, nd::Pick};
use blosc_chunk::ChunkHeader;

use super::{Conversion, Report, pull::pull};
use crate::boxes::{BoxSource, Boxes, count, selection};
use crate::content::{Layout, Packed, Sink};
use crate::error::{Doing, Error, Refusal, Result};
use crate::formats::blp::Blp;
use crate::size::{as_len, check_memory, nbytes};

/// Fills the items of a box.
type Fill<'a> = &'a mut dyn FnMut(&[Range<u64>], &mut [u8]) -> Result<()>;

/// The items of the first dimension in a chunk and in a block of a Bloscpack file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    /// Bytes of a row.
    nbytes: usize,
    chunk: u32,
    block: u32,
    /// Bytes of a block.
    blocksize: usize,
}

impl Conversion<'_> {
    /// Writes an array to `path`, where nothing is yet.
    pub(super) fn array(&self, path: &Path) -> Result<Report> {
        let layout = self.content.layout()?;
        let is_typed = layout
            .is_some_and(|layout| layout.clone().typed(self.settings.dtype.as_ref()) != layout);
        if self.content.nd_meta()?.is_some() && !is_typed {
            return self.frame(path);
        }
        if self.settings.compression.has_sizes() {
            return Err(Refusal::BytesOfArray.into());
        }
        let layout = self.layout()?;
        if let Some(blp) = self.content.blp()
            && let Some(rows) = self.rows(blp, &layout)?
        {
            return self.move_rows(blp, &layout, rows, path);
        }
        self.items_anew(&layout, path)
    }

    /// Type and shape of the items, from the input or the options.
    pub(super) fn layout(&self) -> Result<Layout> {
        if let Some(layout) = self.given_layout()? {
            return Ok(layout);
        }
        let dtype = self.settings.dtype.clone().ok_or(Refusal::UnknownItems)?;
        let (found, itemsize) = (self.content.nbytes()?, dtype.itemsize() as u64);
        let shape = match &self.settings.shape {
            Some(shape) => shape.of_items(found / itemsize.max(1)),
            None => vec![found / itemsize.max(1)],
        };
        let expected = nbytes(itemsize, &shape);
        if expected != found {
            return Err(Error::ArrayLen { expected, found });
        }
        Ok(Layout::in_c_order(dtype, shape))
    }

    fn nd_params(&self, layout: &Layout) -> Result<NdParams> {
        let typesize = layout.dtype.itemsize();
        let cparams = self.cparams()?.typesize(typesize).blocksize(None);
        let mut params = NdParams::new(&layout.shape, layout.dtype.clone())
            .cparams(cparams)
            .checksums(self.settings.checksums.unwrap_or_default());
        let frame = self.content.metadata()?.without_array().add_to(FrameParams::default());
        (params.metalayers, params.vlmetalayers) = (frame.metalayers, frame.vlmetalayers);
        Ok(params)
    }

    /// The rows in the chunks of a file, if all chunks but the last have as many, in whole blocks.
    fn rows(&self, blp: &Blp, layout: &Layout) -> Result<Option<Rows>> {
        let Some((_, others)) = layout.shape.split_first() else { return Ok(None) };
        let row = nbytes(layout.dtype.itemsize() as u64, others);
        let (Ok(nbytes), Some(size), false) = (
            usize::try_from(row),
            self.content.chunksize()?,
            self.settings.compression.is_wanted() || layout.fortran_order,
        ) else {
            return Ok(None);
        };
        let blocksize = blp.file.packed_chunk(0)?.header().blocksize();
        let whole = |a: usize, b: usize| b > 0 && a.is_multiple_of(b);
        let fits = whole(size, blocksize) && whole(blocksize, nbytes);
        let lens = (u32::try_from(size / nbytes.max(1)), u32::try_from(blocksize / nbytes.max(1)));
        Ok(match lens {
            (Ok(chunk), Ok(block)) if fits => Some(Rows { nbytes, chunk, block, blocksize }),
            _ => None,
        })
    }

    fn move_rows(&self, blp: &Blp, layout: &Layout, rows: Rows, path: &Path) -> Result<Report> {
        let shape_of = |rows: u32| -> Vec<u32> {
            let others =
                layout.shape[1..].iter().map(|len| u32::try_from(*len).unwrap_or(u32::MAX));
            [rows].into_iter().chain(others).collect()
        };
        let params = self.nd_params(layout)?;
        let params = params.chunkshape(&shape_of(rows.chunk)).blockshape(&shape_of(rows.block));
        let mut writer =
            NdWriter::create(path, &params)?.budget(self.settings.resources.decoding());
        let mut done = Report::default();
        for nchunk in 0..writer.meta().nchunks() {
            let first = nchunk * u64::from(rows.chunk);
            let range = first..(first + u64::from(rows.chunk)).min(layout.shape[0]);
            let is_full = range.end - range.start == u64::from(rows.chunk);
            let moved = if is_full { self.row_chunk(nchunk, rows, layout)? } else { None };
            done.count(moved.is_some());
            match moved {
                Some(chunk) => writer.schunk_writer().update_chunk(nchunk, &chunk)?,
                // The last chunk is padded, and a chunk may differ from the first.
                None => {
                    writer.write_bytes([Pick::from(range.clone())], &blp.file.chunk(nchunk)?)?
                }
            }
            (self.progress)((range.end - range.start) * rows.nbytes as u64);
        }
        writer.finish()?;
        Ok(done)
    }

    /// A chunk with the header of Blosc2, if its items and blocks are those of the array.
    fn row_chunk(&self, nchunk: u64, rows: Rows, layout: &Layout) -> Result<Option<Vec<u8>>> {
        let Some(Packed::Bytes(bytes)) =
            self.content.packed(nchunk, self.settings.resources.held())?
        else {
            return Ok(None);
        };
        let is_alike = ChunkHeader::parse(&bytes).is_ok_and(|header| {
            header.blocksize() == rows.blocksize
                && header.typesize() == layout.dtype.itemsize()
                && header.nbytes() == rows.nbytes.saturating_mul(rows.chunk as usize)
        });
        Ok(if is_alike { self.blosc2(&bytes) } else { None })
    }

    /// Compresses all items.
    pub(super) fn items_anew(&self, layout: &Layout, path: &Path) -> Result<Report> {
        let mut params = self.nd_params(layout)?;
        let compression = &self.settings.compression;
        params.chunkshape = compression.chunkshape.as_deref().map(lens);
        params.blockshape = compression.blockshape.as_deref().map(lens);
        let mut writer =
            NdWriter::create(path, &params)?.budget(self.settings.resources.decoding());
        let boxes = self.boxes(&writer)?;
        let options = self.settings.resources.decoding();
        if layout.fortran_order || !boxes.are_row_ranges() {
            let mut items = BoxSource::File(self.content.in_file(layout, &options)?);
            self.fill(&mut writer, boxes, &mut |bounds, dest| items.fill(bounds, dest))?;
        } else {
            let decode = |sink: Sink<'_>| self.content.stream(&options, sink);
            pull(decode, |reader: &mut dyn Read| {
                let mut fill = |_: &[Range<u64>], dest: &mut [u8]| {
                    reader.read_exact(dest).map_err(Error::io(Doing::Read))
                };
                self.fill(&mut writer, boxes, &mut fill)
            })?;
        }
        let recompressed = writer.meta().nchunks();
        writer.finish()?;
        Ok(Report { recompressed, ..Report::default() })
    }

    /// Boxes of whole chunks that fit the memory.
    pub(super) fn boxes(&self, writer: &NdWriter) -> Result<Boxes> {
        let itemsize = writer.dtype().itemsize() as u64;
        let limit = self.settings.resources.held();
        let boxes = Boxes::new(writer.shape(), writer.meta().chunkshape(), itemsize, limit / 4);
        check_memory(boxes.nbytes(itemsize), limit)?;
        Ok(boxes)
    }

    /// Writes the items box by box.
    pub(super) fn fill(&self, writer: &mut NdWriter, boxes: Boxes, fill: Fill<'_>) -> Result<()> {
        let itemsize = writer.dtype().itemsize() as u64;
        let mut items = Vec::new();
        for bounds in boxes {
            items.resize(as_len(count(&bounds) * itemsize), 0);
            fill(&bounds, &mut items)?;
            writer.write_bytes(selection(&bounds), &items)?;
            (self.progress)(items.len() as u64);
        }
        Ok(())
    }
}

/// Lengths of a chunk or block. A length over 32 bits saturates, which is too long as well.
pub(super) fn lens(shape: &[u64]) -> Vec<u32> {
    shape.iter().map(|len| u32::try_from(*len).unwrap_or(u32::MAX)).collect()
}
