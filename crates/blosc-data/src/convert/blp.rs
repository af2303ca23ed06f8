//! Conversion to a Bloscpack file.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use b2frame::nd::NdMeta;
use blosc_chunk::{ChunkHeader, Encoder, Target as Reader, transcode::transcode_header};
use bloscpack::{
    RepackOptions, WriteOptions, Writer,
    numpy::{ArrayInfo, Order},
    repack,
};

use super::{Conversion, Report, frame::CHUNK_NBYTES};
use crate::content::{Layout, Packed};
use crate::error::{Doing, Error, Result};
use crate::size::as_len;

impl Conversion<'_> {
    /// Writes a Bloscpack file to `path`.
    pub(super) fn blp(&self, path: &Path) -> Result<Report> {
        self.check_no_shapes()?;
        let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
        match self.content.blp() {
            Some(blp) if !self.is_anew() => {
                let options = RepackOptions::default().checksum(self.settings.digest);
                repack(&blp.file, file, &options)?;
                Ok(Report { moved: blp.file.nchunks()?, ..Report::default() })
            }
            _ => self.blp_anew(file),
        }
    }

    fn blp_anew(&self, file: File) -> Result<Report> {
        let size = self.content.chunksize()?;
        let moving = size.filter(|_| !self.settings.compression.is_wanted());
        let moving = match self.content.nd_meta()? {
            Some(meta) => moving.filter(|_| is_in_order(&meta)),
            None => moving,
        };
        let mut left_out = vec![];
        let options = self.write_options(moving.or(size), &mut left_out)?;
        let writer = Writer::seekable(file, options.clone())?;
        let done = match moving {
            Some(size) => self.push_chunks(writer, size, &options)?,
            None => self.push_content(writer)?,
        };
        Ok(Report { left_out, ..done })
    }

    /// Moves chunks with a new header of Blosc 1 if possible, and compresses the others again.
    fn push_chunks(
        &self,
        mut writer: Writer<File>,
        size: usize,
        options: &WriteOptions,
    ) -> Result<Report> {
        let wrong = |source| Error::Chunk { at: 0, source };
        let mut encoder = Encoder::new(options.cparams.clone()).map_err(wrong)?;
        let mut done = Report::default();
        let mut left = self.content.nbytes()?;
        for nchunk in 0..left.div_ceil(size as u64) {
            let nbytes = as_len(left.min(size as u64));
            let moved = self.blosc1(nchunk, nbytes)?;
            done.count(moved.is_some());
            let chunk = match moved {
                Some(chunk) => chunk,
                None => {
                    let data = self.content.data(nchunk, &self.settings.resources.decoding())?;
                    // Padding in the last chunk of an array is dropped.
                    encoder.encode(&data[..nbytes.min(data.len())]).map_err(wrong)?
                }
            };
            writer.push_chunk(&chunk)?;
            left -= nbytes as u64;
            (self.progress)(nbytes as u64);
        }
        writer.finish()?;
        Ok(done)
    }

    /// The chunk for readers of Blosc 1, if they can read it and it holds `nbytes` bytes.
    fn blosc1(&self, nchunk: u64, nbytes: usize) -> Result<Option<Vec<u8>>> {
        let Some(Packed::Bytes(bytes)) =
            self.content.packed(nchunk, self.settings.resources.held())?
        else {
            return Ok(None);
        };
        let chunk =
            transcode_header(&bytes, self.settings.compression.target.unwrap_or(Reader::Blosc1_14))
                .ok();
        let fits = |chunk: &Vec<u8>| {
            ChunkHeader::parse(chunk).is_ok_and(|header| header.nbytes() == nbytes)
        };
        Ok(chunk.filter(fits))
    }

    fn push_content(&self, mut writer: Writer<File>) -> Result<Report> {
        self.content.stream(&self.settings.resources.decoding(), &mut |bytes| {
            (self.progress)(bytes.len() as u64);
            writer.write_all(bytes).map_err(unpacked)
        })?;
        let size = u64::from(writer.header().chunksize().unwrap_or(1).max(1));
        writer.finish()?;
        Ok(Report { recompressed: self.content.nbytes()?.div_ceil(size), ..Report::default() })
    }

    fn write_options(
        &self,
        size: Option<usize>,
        left_out: &mut Vec<String>,
    ) -> Result<WriteOptions> {
        let cparams = self.cparams()?;
        let asked = self.settings.compression.chunk_nbytes.map(as_len);
        let size = asked.or(size).unwrap_or(CHUNK_NBYTES);
        let budget = self.settings.resources.compressing(&cparams, size, 0)?;
        let (metadata, array) = (self.content.metadata()?, self.array_info(left_out));
        // An equal description of the array keeps its spelling, which may be an old one.
        let is_told = array.is_none() || metadata.array() == array;
        let (metadata, array) =
            if is_told { (metadata, None) } else { (metadata.without_array(), array) };
        let checksum =
            self.content.blp().map(|blp| blp.file.header().checksum()).unwrap_or_default();
        Ok(WriteOptions::default()
            .chunksize(u32::try_from(size).unwrap_or(u32::MAX))
            .checksum(self.settings.digest.unwrap_or(checksum))
            .metadata(metadata.into_json(array.as_ref())?)
            .nbytes(Some(self.content.nbytes()?))
            .cparams(cparams)
            .budget(budget))
    }

    /// The array in Bloscpack's description; `None` for items that it cannot describe.
    fn array_info(&self, left_out: &mut Vec<String>) -> Option<ArrayInfo> {
        // Metadata that contradict the data stay unchanged.
        let Layout { dtype, shape, fortran_order } = self.content.layout().ok().flatten()?;
        let text = dtype.to_string();
        let order = if fortran_order { Order::F } else { Order::C };
        let info =
            ArrayInfo::new(dtype, shape, order).ok().filter(|info| info.to_metadata().is_ok());
        if info.is_none() {
            left_out.push(format!("an array of items of the type {text}"));
        }
        info
    }
}

/// The cause of an error that a writer of Bloscpack files passes through [`Write`].
fn unpacked(error: io::Error) -> Error {
    match error.downcast::<bloscpack::Error>() {
        Ok(error) => error.into(),
        Err(error) => Error::io(Doing::Write)(error),
    }
}

/// Whether the chunks in order hold the items in C order, with padding only at the end.
fn is_in_order(meta: &NdMeta) -> bool {
    let lens = |shape: &[u32]| shape.iter().map(|len| u64::from(*len)).collect::<Vec<_>>();
    let (shape, chunk, block) = (meta.shape(), lens(meta.chunkshape()), lens(meta.blockshape()));
    let Some((rows, of_block)) = chunk.first().zip(block.first()) else { return true };
    shape[1..] == chunk[1..] && chunk[1..] == block[1..] && rows.is_multiple_of((*of_block).max(1))
}
