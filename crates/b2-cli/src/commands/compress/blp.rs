//! One Bloscpack file of one input: to a pipe without the number of chunks and without offsets, as
//! the format allows.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use blosc_chunk::Target as Reader;
use bloscpack::{
    WriteOptions, Writer,
    error::Param,
    numpy::{ArrayInfo, Order, array_options},
};

use super::{Work, array};
use crate::{
    args::ChecksumChoice,
    error::{Doing, Error, Result, message},
    inputs::Data,
    output::{Counts, Digest, Digesting, Sink, SinkWriter},
};

impl Work<'_> {
    pub(super) fn blp_to_file(
        &self,
        data: Data,
        file: File,
        target: &Path,
    ) -> Result<(Counts, Digest)> {
        let writer = Writer::seekable(file, self.blp_options(&data)?)?;
        let mut reader = Digesting::new(self.skip_header(data)?, self.args.tuning.verify);
        let (nbytes, file) = self.pack(&mut reader, writer).map_err(|error| match error {
            Error::Blp(bloscpack::Error::Io { source, .. }) => {
                Error::io_at(Doing::Write, target)(source)
            }
            other => other,
        })?;
        let stored = file.metadata().map_err(Error::io_at(Doing::Write, target))?.len();
        Ok((Counts { frames: 0, nbytes, stored }, reader.take_digest()))
    }

    pub(super) fn blp_to_stream(&self, data: Data, out: &mut Sink) -> Result<Counts> {
        if self.args.tuning.verify {
            return Err(message::VERIFY_PIPE.error());
        }
        let mut stored = 0;
        let mut count = |nbytes| stored += nbytes;
        let mut to = SinkWriter::new(out, &mut count);
        let writer = Writer::new(&mut to, self.blp_options(&data)?.offsets(false))?;
        let packed = self.pack(&mut self.skip_header(data)?, writer).map(|(nbytes, _)| nbytes);
        // Our own error says more than the writer's error that wraps it.
        to.check()?;
        Ok(Counts { frames: 0, nbytes: packed?, stored })
    }

    fn pack<W: Write>(&self, reader: &mut dyn Read, mut writer: Writer<W>) -> Result<(u64, W)> {
        let mut nbytes = 0;
        loop {
            let len = match reader.read(writer.room()) {
                Ok(0) => break,
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io(Doing::Read)(error)),
            };
            writer
                .fill(len)
                .map_err(|error| self.in_words_of_arrays(crate::error::unpacked(error.into())))?;
            nbytes += len as u64;
            self.progress.add(len as u64);
        }
        Ok((nbytes, writer.finish().map_err(|error| self.in_words_of_arrays(error.into()))?))
    }

    /// Rewords the error of a pipe that does not hold the items that its header promises.
    fn in_words_of_arrays(&self, error: Error) -> Error {
        match error {
            Error::Blp(bloscpack::Error::Param(Param::DataSize { announced: expected, found }))
                if self.layout.is_some() =>
            {
                if found < expected {
                    Error::ArrayCut { expected }
                } else {
                    Error::ArrayLen { expected, found }
                }
            }
            other => other,
        }
    }

    /// The data after the header of an array.
    fn skip_header(&self, data: Data) -> Result<impl Read + use<>> {
        let mut reader = data.into_reader();
        let header = self.layout.as_ref().map_or(0, |layout| layout.len as u64);
        io::copy(&mut (&mut reader).take(header), &mut io::sink())
            .map_err(Error::io(Doing::Read))?;
        Ok(reader)
    }

    fn blp_options(&self, data: &Data) -> Result<WriteOptions> {
        let options = self.byte_options(data.len())?;
        let Some(layout) = &self.layout else { return Ok(options) };
        let order = if layout.fortran_order { Order::F } else { Order::C };
        let info = ArrayInfo::new(layout.dtype.clone(), layout.shape.clone(), order)?;
        array::check_len(data, layout, info.nbytes())?;
        // The header tells the number of items, also in a pipe.
        Ok(array_options(&info, options.offsets(true))?)
    }

    /// The options for bytes, which do not depend on the data.
    fn byte_options(&self, nbytes: Option<u64>) -> Result<WriteOptions> {
        let tuning = &self.args.tuning;
        // Targets of Blosc2 are for frames; here they mean the newest that the format holds.
        let cparams = self.params.cparams.clone();
        let target = cparams.target.min(Reader::Blosc1_14);
        let chunk_size = u32::try_from(self.params.chunksize).unwrap_or(u32::MAX);
        let memory = self.cx.compress_options(&cparams, self.params.chunksize, 0)?;
        Ok(WriteOptions::default()
            .chunksize(chunk_size)
            .checksum(tuning.checksum.and_then(ChecksumChoice::digest).unwrap_or_default())
            .offsets(nbytes.is_some())
            .cparams(cparams.target(target))
            .nbytes(nbytes)
            .budget(memory.budget))
    }
}
