//! From a stream to a frame: chunks compressed by several threads, written in order, in bounded memory.

use core::cell::RefCell;
use std::io::{self, Read};

use blosc_chunk::{CParams, Encoder, Threads, max_compressed_len};
use blosc_io::{AlignedBytes, WriteAt};

use crate::FrameWriter;
use crate::error::{Error, Limited, Result};
use crate::ordered::{Budget, Job, in_order};
use crate::params::{CompressOptions, count};
use crate::schunk::check_limit;

/// What a stream was compressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Chunks.
    pub nchunks: u64,
    /// Bytes of data.
    pub nbytes: u64,
    /// Bytes of all chunks, compressed.
    pub cbytes: u64,
    /// Whether the stream ended. If not, [`CompressOptions::max_nbytes`] did, and there may be more data.
    pub is_end: bool,
}

/// Reads `stream` to its end, compresses it in chunks and appends them to `writer`.
///
/// `progress` is called after each chunk. The bytes written depend on the data and on the writer's parameters, not
/// on the number of threads.
///
/// ```
/// use b2frame::{CompressOptions, FrameParams, FrameWriter, SChunk, compress_stream};
/// use blosc_io::MemStore;
///
/// let data = vec![7; 1_000_000];
/// let mut writer = FrameWriter::new(MemStore::default(), &FrameParams::default().chunksize(100_000))?;
/// let totals = compress_stream(&mut data.as_slice(), &mut writer, &CompressOptions::default(), |_| {})?;
/// assert_eq!((totals.nchunks, totals.nbytes), (10, 1_000_000));
/// let schunk = SChunk::from_cframe(writer.finish()?.into_bytes())?;
/// assert_eq!(schunk.nbytes(), 1_000_000);
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`], [`Error::Compress`], [`Error::Write`], [`Error::Limit`] if one chunk needs more memory than
/// allowed, or [`Error::Param`] if the writer has a short chunk already.
pub fn compress_stream<S: WriteAt>(
    stream: &mut dyn Read,
    writer: &mut FrameWriter<S>,
    options: &CompressOptions,
    mut progress: impl FnMut(Totals),
) -> Result<Totals> {
    let chunksize = writer.chunksize();
    let weight = (chunksize as u64).saturating_add(max_compressed_len(chunksize) as u64);
    check_limit(Limited::Memory, weight, options.max_memory)?;
    let cparams = writer.cparams().clone().threads(Threads::One);
    let mut input = Input { stream, chunksize, left: options.max_nbytes, nbytes: 0, is_end: false };
    let spare = RefCell::new(Vec::<Buffers>::new());
    in_order(
        Budget { threads: count(options.threads), bytes: options.max_memory },
        || {
            let mut buffers = spare.borrow_mut().pop().unwrap_or_default();
            Ok(input.fill(&mut buffers.data)?.then_some(Job { job: buffers, weight }))
        },
        || Encoder::new(cparams.clone()),
        |encoder, buffers| encode(encoder, buffers, &cparams),
        |(buffers, result): (Buffers, blosc_chunk::Result<usize>)| {
            let nchunk = writer.nchunks();
            let cbytes = result.map_err(|source| Error::Compress { nchunk, source })?;
            writer.append_chunk(buffers.chunk.get(..cbytes).unwrap_or_default())?;
            progress(totals(writer, false));
            spare.borrow_mut().push(buffers);
            Ok::<(), Error>(())
        },
    )?;
    Ok(totals(writer, input.is_end))
}

/// A chunk's data, and room for the chunk.
#[derive(Default)]
struct Buffers {
    data: AlignedBytes,
    chunk: Vec<u8>,
}

fn totals<S: WriteAt>(writer: &FrameWriter<S>, is_end: bool) -> Totals {
    Totals { nchunks: writer.nchunks(), nbytes: writer.nbytes(), cbytes: writer.cbytes(), is_end }
}

/// Compresses a chunk's data. An encoder that could not be made is tried again, to say why.
fn encode(
    encoder: &mut blosc_chunk::Result<Encoder>,
    mut buffers: Buffers,
    cparams: &CParams,
) -> (Buffers, blosc_chunk::Result<usize>) {
    buffers.chunk.resize(max_compressed_len(buffers.data.len()), 0);
    let result = match encoder {
        Ok(encoder) => encoder.encode_into(&buffers.data, &mut buffers.chunk),
        Err(_) => blosc_chunk::compress_into(&buffers.data, &mut buffers.chunk, cparams),
    };
    (buffers, result)
}

/// The stream, cut into chunks.
struct Input<'a> {
    stream: &'a mut dyn Read,
    chunksize: usize,
    /// Bytes still wanted, if not all.
    left: Option<u64>,
    nbytes: u64,
    is_end: bool,
}

impl Input<'_> {
    /// Reads a chunk's data, fewer bytes at the end of the stream. False if there were none.
    fn fill(&mut self, data: &mut AlignedBytes) -> Result<bool> {
        if self.is_end || self.left == Some(0) {
            return Ok(false);
        }
        data.resize(self.chunksize);
        let mut len = 0;
        while let Some(room) = data.get_mut(len..).filter(|room| !room.is_empty()) {
            match self.stream.read(room) {
                Ok(0) => break,
                Ok(n) => len = len.saturating_add(n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let nbytes = self.nbytes.saturating_add(len as u64);
                    return Err(Error::Input { nbytes, source });
                }
            }
        }
        self.is_end = len < self.chunksize;
        data.resize(len);
        self.nbytes = self.nbytes.saturating_add(len as u64);
        self.left = self.left.map(|left| left.saturating_sub(len as u64));
        Ok(len > 0)
    }
}
