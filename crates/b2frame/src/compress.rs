//! From a stream to a frame: chunks compressed by several threads, written in order, in bounded
//! memory.

use core::cell::RefCell;
use std::io::{self, Read};

use blosc_chunk::{CParams, Encoder, Threads, max_compressed_len};
use blosc_container::buffer::resized;
use blosc_container::parallel::{Job, in_order};
use blosc_io::{AlignedBytes, WriteAt};

use crate::FrameWriter;
use crate::error::{Error, Limited, Result};
use crate::params::CompressOptions;
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
    /// Whether the stream ended. If not, [`CompressOptions::max_nbytes`] did, and there may be
    /// more data.
    pub is_end: bool,
}

/// Reads `stream` to its end, compresses it in chunks and appends them to `writer`.
///
/// `progress` is called after each chunk. The bytes written depend on the data and on the writer's
/// parameters, not on the number of threads.
///
/// ```
/// use b2frame::{CompressOptions, FrameParams, FrameWriter, SChunk, compress_stream};
/// use blosc_io::MemStore;
///
/// let data = vec![7; 1_000_000];
/// let mut writer =
///     FrameWriter::new(MemStore::default(), &FrameParams::default().chunksize(100_000))?;
/// let totals =
///     compress_stream(&mut data.as_slice(), &mut writer, &CompressOptions::default(), |_| {})?;
/// assert_eq!((totals.nchunks, totals.nbytes), (10, 1_000_000));
/// let schunk = SChunk::from_cframe(writer.finish()?.into_bytes())?;
/// assert_eq!(schunk.nbytes(), 1_000_000);
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`], [`Error::Compress`], [`Error::Write`], [`Error::Limit`] if one chunk needs
/// more memory than allowed, or [`Error::Param`] if the writer has a short chunk already.
pub fn compress_stream<S: WriteAt>(
    stream: &mut dyn Read,
    writer: &mut FrameWriter<S>,
    options: &CompressOptions,
    mut progress: impl FnMut(Totals),
) -> Result<Totals> {
    let (chunksize, budget) = (writer.chunksize(), options.budget);
    let weight = (chunksize as u64).saturating_add(max_compressed_len(chunksize) as u64);
    check_limit(Limited::Memory, weight, budget.max_memory)?;
    let cparams = writer.cparams().clone().threads(Threads::One);
    let at_a_time = at_a_time(chunksize, budget.share(2).checked_div(weight).unwrap_or(1));
    let weight = weight.saturating_mul(at_a_time as u64);
    let nbytes = chunksize.saturating_mul(at_a_time);
    let mut input = Input {
        stream,
        chunksize: chunksize as u64,
        left: options.max_nbytes,
        nbytes: 0,
        is_end: false,
    };
    let spare = RefCell::new(Vec::<Buffers>::new());
    in_order(
        budget,
        || {
            let mut buffers = spare.borrow_mut().pop().unwrap_or_default();
            Ok(input.fill(&mut buffers.data, nbytes)?.then_some(Job { job: buffers, weight }))
        },
        || Encoder::new(cparams.clone().in_schunk()),
        |encoder, mut buffers| {
            let result = buffers.encode(encoder, chunksize, &cparams);
            (buffers, result)
        },
        |(buffers, result): (Buffers, blosc_chunk::error::Result<()>)| {
            for chunk in buffers.chunks() {
                writer.append_chunk(chunk)?;
                progress(totals(writer, false));
            }
            let nchunk = writer.nchunks();
            result.map_err(|source| Error::Compress { nchunk, source })?;
            spare.borrow_mut().push(buffers);
            Ok::<(), Error>(())
        },
    )?;
    Ok(totals(writer, input.is_end))
}

/// Data of several chunks are a job for a thread if these are short: passing a job and
/// its result between threads takes some microseconds.
const JOB: usize = 512 << 10;

/// Chunks of a job, of which `most` fit the memory.
fn at_a_time(chunksize: usize, most: u64) -> usize {
    let wanted = JOB.checked_div(chunksize).unwrap_or(1);
    wanted.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
}

/// The data of chunks, and the chunks.
#[derive(Default)]
struct Buffers {
    data: AlignedBytes,
    /// One behind the other.
    bytes: Vec<u8>,
    /// The length of each.
    lens: Vec<usize>,
}

impl Buffers {
    /// Compresses the data in chunks of `chunksize` bytes, as far as that succeeds. An encoder
    /// that could not be made is tried again, to say why.
    fn encode(
        &mut self,
        encoder: &mut blosc_chunk::error::Result<Encoder>,
        chunksize: usize,
        cparams: &CParams,
    ) -> blosc_chunk::error::Result<()> {
        let Self { data, bytes, lens } = self;
        lens.clear();
        let mut at = 0_usize;
        for data in data.chunks(chunksize.max(1)) {
            let end = at.saturating_add(max_compressed_len(data.len()));
            let room = resized(bytes, end).get_mut(at..).unwrap_or_default();
            let len = match encoder {
                Ok(encoder) => encoder.encode_into(data, room)?,
                Err(_) => Encoder::new(cparams.clone().in_schunk())?.encode_into(data, room)?,
            };
            lens.push(len);
            at = at.saturating_add(len);
        }
        Ok(())
    }

    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        self.lens.iter().map(move |len| {
            let (chunk, behind) = rest.split_at_checked(*len).unwrap_or_default();
            rest = behind;
            chunk
        })
    }
}

fn totals<S: WriteAt>(writer: &FrameWriter<S>, is_end: bool) -> Totals {
    Totals { nchunks: writer.nchunks(), nbytes: writer.nbytes(), cbytes: writer.cbytes(), is_end }
}

/// The stream, cut into chunks.
struct Input<'a> {
    stream: &'a mut dyn Read,
    chunksize: u64,
    /// Bytes still wanted, if not all.
    left: Option<u64>,
    nbytes: u64,
    is_end: bool,
}

impl Input<'_> {
    /// Reads the data of chunks, at most `nbytes` bytes, fewer at the end of the stream. False if
    /// there were none.
    fn fill(&mut self, data: &mut AlignedBytes, nbytes: usize) -> Result<bool> {
        if self.is_end || self.left == Some(0) {
            return Ok(false);
        }
        let wanted = self.left.map(|left| left.checked_next_multiple_of(self.chunksize));
        let wanted = wanted.flatten().and_then(|wanted| usize::try_from(wanted).ok());
        let nbytes = wanted.map_or(nbytes, |wanted| wanted.min(nbytes));
        data.resize(nbytes);
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
        self.is_end = len < nbytes;
        data.resize(len);
        self.nbytes = self.nbytes.saturating_add(len as u64);
        self.left = self.left.map(|left| left.saturating_sub(len as u64));
        Ok(len > 0)
    }
}
