//! To a Bloscpack file.

use std::{fs::File, io::Write, path::Path};

use b2frame::nd::NdMeta;
use blosc_chunk::{Encoder, Target as Reader, transcode::transcode_header};
use bloscpack::{
    RepackOptions, WriteOptions, Writer,
    numpy::{ArrayInfo, Order},
    repack,
};

use super::{
    Done, Work,
    frame::CHUNK_NBYTES,
    source::{Layout, Packed},
};
use crate::{
    error::{Doing, Error, Result},
    memory,
};

impl Work<'_> {
    /// Writes a Bloscpack file to `path`.
    pub(super) fn blp(&self, path: &Path) -> Result<Done> {
        self.check_no_shapes()?;
        let file = File::create_new(path).map_err(Error::io(Doing::Create))?;
        match self.source.blp() {
            Some(blp) if !self.is_anew() => {
                let options = RepackOptions::default().checksum(self.digest_kind());
                repack(&blp.file, file, &options)?;
                Ok(Done { moved: blp.file.nchunks()?, ..Done::default() })
            }
            _ => self.blp_anew(file),
        }
    }

    fn blp_anew(&self, file: File) -> Result<Done> {
        let size = self.source.chunksize()?;
        let moving = size.filter(|_| !self.args.anew.is_wanted());
        let moving = match self.source.nd_meta()? {
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
        Ok(Done { left_out, ..done })
    }

    /// Chunks with the header of Blosc 1, where that can be; the others compressed anew.
    fn push_chunks(
        &self,
        mut writer: Writer<File>,
        size: usize,
        options: &WriteOptions,
    ) -> Result<Done> {
        let wrong = |source| Error::Chunk { at: 0, source };
        let mut encoder = Encoder::new(options.cparams.clone()).map_err(wrong)?;
        let mut done = Done::default();
        let mut left = self.source.nbytes()?;
        for nchunk in 0..left.div_ceil(size as u64) {
            let nbytes = memory::as_len(left.min(size as u64));
            let moved = self.blosc1(nchunk, nbytes)?;
            done.count(moved.is_some());
            let chunk = match moved {
                Some(chunk) => chunk,
                None => {
                    let data = self.source.data(nchunk, &self.cx.read_options())?;
                    // The last chunk of an array is filled up with nothing.
                    encoder.encode(&data[..nbytes.min(data.len())]).map_err(wrong)?
                }
            };
            writer.push_chunk(&chunk)?;
            left -= nbytes as u64;
            self.progress.add(nbytes as u64);
        }
        writer.finish()?;
        Ok(done)
    }

    /// The chunk for readers of Blosc 1, if it can be one and has this much data.
    fn blosc1(&self, nchunk: u64, nbytes: usize) -> Result<Option<Vec<u8>>> {
        let Some(Packed::Bytes(bytes)) = self.source.packed(nchunk, self.cx.memory())? else {
            return Ok(None);
        };
        let chunk =
            transcode_header(&bytes, self.args.anew.target.unwrap_or(Reader::Blosc1_14)).ok();
        let fits = |chunk: &Vec<u8>| {
            blosc_chunk::ChunkHeader::parse(chunk).is_ok_and(|header| header.nbytes() == nbytes)
        };
        Ok(chunk.filter(fits))
    }

    fn push_content(&self, mut writer: Writer<File>) -> Result<Done> {
        self.source.stream(&self.cx.read_options(), &mut |bytes| {
            self.progress.add(bytes.len() as u64);
            writer.write_all(bytes).map_err(crate::error::unpacked)
        })?;
        let size = u64::from(writer.header().chunksize().unwrap_or(1).max(1));
        writer.finish()?;
        Ok(Done { recompressed: self.source.nbytes()?.div_ceil(size), ..Done::default() })
    }

    fn write_options(
        &self,
        size: Option<usize>,
        left_out: &mut Vec<String>,
    ) -> Result<WriteOptions> {
        let cparams = self.cparams()?;
        let asked = self.args.anew.chunk_size.map(|size| memory::as_len(size.0));
        let size = asked.or(size).unwrap_or(CHUNK_NBYTES);
        let memory = self.cx.compress_options(&cparams, size, 0)?;
        let (metadata, array) = (self.source.metadata()?, self.array_info(left_out));
        // What describes the array already stays as it is written: there are older spellings.
        let is_told = array.is_none() || metadata.array() == array;
        let (metadata, array) =
            if is_told { (metadata, None) } else { (metadata.without_array(), array) };
        let checksum =
            self.source.blp().map(|blp| blp.file.header().checksum()).unwrap_or_default();
        Ok(WriteOptions::default()
            .chunksize(u32::try_from(size).unwrap_or(u32::MAX))
            .checksum(self.digest_kind().unwrap_or(checksum))
            .metadata(metadata.into_json(array.as_ref())?)
            .nbytes(Some(self.source.nbytes()?))
            .cparams(cparams)
            .budget(memory.budget))
    }

    /// What Bloscpack says about an array; items that it cannot describe are left out.
    fn array_info(&self, left_out: &mut Vec<String>) -> Option<ArrayInfo> {
        // Metadata that contradict the data stay as they are.
        let Layout { dtype, shape, fortran_order } = self.source.layout().ok().flatten()?;
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

/// Do the chunks, one after the other, have the items in C order, with padding after the last item
/// only?
fn is_in_order(meta: &NdMeta) -> bool {
    let lens = |shape: &[u32]| shape.iter().map(|len| u64::from(*len)).collect::<Vec<_>>();
    let (shape, chunk, block) = (meta.shape(), lens(meta.chunkshape()), lens(meta.blockshape()));
    let Some((rows, of_block)) = chunk.first().zip(block.first()) else { return true };
    shape[1..] == chunk[1..] && chunk[1..] == block[1..] && rows.is_multiple_of((*of_block).max(1))
}
