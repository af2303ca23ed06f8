//! Compresses a stream or a slice to a frame: several threads compress chunks, which are written in
//! order and in bounded memory.

use core::cell::RefCell;
use core::ops::{Deref, Range};
use std::io::{self, Read};

use blosc_chunk::{CParams, Encoder, Threads, max_compressed_len};
use blosc_container::buffer::resized;
use blosc_container::parallel::{Job, in_order};
use blosc_io::{AlignedBytes, WriteAt};

use crate::FrameWriter;
use crate::error::{Error, Limited, Result};
use crate::params::CompressOptions;
use crate::schunk::check_limit;

/// Sizes of the data that were compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Chunks.
    pub nchunks: u64,
    /// Bytes of data.
    pub nbytes: u64,
    /// Bytes of all chunks, compressed.
    pub cbytes: u64,
    /// Whether the data ended. If not, [`CompressOptions::max_nbytes`] was reached, and more data
    /// may follow.
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
    progress: impl FnMut(Totals),
) -> Result<Totals> {
    compress(Stream { stream, nbytes: 0 }, writer, options, progress)
}

/// As [`compress_stream`], for data in memory: the threads read them in place.
///
/// ```
/// use b2frame::{CompressOptions, FrameParams, FrameWriter, SChunk, compress_slice};
/// use blosc_io::MemStore;
///
/// let params = FrameParams::default().chunksize(100_000);
/// let mut writer = FrameWriter::new(MemStore::default(), &params)?;
/// compress_slice(&vec![7; 1_000_000], &mut writer, &CompressOptions::default(), |_| {})?;
/// let schunk = SChunk::from_cframe(writer.finish()?.into_bytes())?;
/// assert_eq!(schunk.nbytes(), 1_000_000);
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// As [`compress_stream`], without [`Error::Input`].
pub fn compress_slice<S: WriteAt>(
    data: &[u8],
    writer: &mut FrameWriter<S>,
    options: &CompressOptions,
    progress: impl FnMut(Totals),
) -> Result<Totals> {
    compress(data, writer, options, progress)
}

fn compress<S: WriteAt, I: Input>(
    source: I,
    writer: &mut FrameWriter<S>,
    options: &CompressOptions,
    mut progress: impl FnMut(Totals),
) -> Result<Totals> {
    let (chunksize, budget) = (writer.chunksize(), &options.budget);
    let weight = (chunksize as u64).saturating_add(max_compressed_len(chunksize) as u64);
    check_limit(Limited::Memory, weight, budget.max_memory)?;
    let cparams = writer.cparams().clone().threads(Threads::One);
    let at_a_time = at_a_time(chunksize, budget.share(2).checked_div(weight).unwrap_or(1));
    let weight = weight.saturating_mul(at_a_time as u64);
    let nbytes = chunksize.saturating_mul(at_a_time);
    let mut parts =
        Parts { source, chunksize: chunksize as u64, left: options.max_nbytes, is_end: false };
    let spare = RefCell::new(Vec::<Buffers<I::Part>>::new());
    in_order(
        budget,
        || {
            let mut buffers = spare.borrow_mut().pop().unwrap_or_else(Buffers::default);
            Ok(parts.next(&mut buffers.data, nbytes)?.then_some(Job { job: buffers, weight }))
        },
        || Encoder::new(cparams.clone().in_schunk()),
        |encoder, mut buffers| {
            let result = buffers.encode(encoder, chunksize, &cparams);
            (buffers, result)
        },
        |(buffers, result): (Buffers<I::Part>, blosc_chunk::error::Result<()>)| {
            for (chunk, nbytes) in buffers.chunks(chunksize) {
                let chunk = chunk.ok_or(Error::internal("a chunk lies outside of its buffer"))?;
                writer.append_encoded(chunk, nbytes)?;
                progress(totals(writer, false));
            }
            let nchunk = writer.nchunks();
            result.map_err(|source| Error::Compress { nchunk, source })?;
            spare.borrow_mut().push(buffers);
            Ok::<(), Error>(())
        },
    )?;
    Ok(totals(writer, parts.is_end))
}

/// Data of a job (bytes). Short chunks share a job: passing a job and its result between threads
/// takes some microseconds.
const JOB: usize = 512 << 10;

/// Chunks of a job; the memory has room for `most`.
fn at_a_time(chunksize: usize, most: u64) -> usize {
    let wanted = JOB.checked_div(chunksize).unwrap_or(1);
    wanted.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
}

/// The data of a job, and the chunks that they become.
#[derive(Default)]
struct Buffers<D> {
    data: D,
    /// The chunks, one after the other.
    bytes: Vec<u8>,
    /// The range of each chunk in `bytes`.
    ranges: Vec<Range<usize>>,
}

impl<D: Deref<Target = [u8]>> Buffers<D> {
    /// Compresses the data in chunks of `chunksize` bytes, up to the first failure. If the encoder
    /// could not be made, a second attempt gives the error.
    fn encode(
        &mut self,
        encoder: &mut blosc_chunk::error::Result<Encoder>,
        chunksize: usize,
        cparams: &CParams,
    ) -> blosc_chunk::error::Result<()> {
        let Self { data, bytes, ranges } = self;
        ranges.clear();
        let mut at = 0_usize;
        for data in data.chunks(chunksize.max(1)) {
            let end = at.saturating_add(max_compressed_len(data.len()));
            let (_, room) = resized(bytes, end).split_at_mut(at);
            let len = match encoder {
                Ok(encoder) => encoder.encode_into(data, room)?,
                Err(_) => Encoder::new(cparams.clone().in_schunk())?.encode_into(data, room)?,
            };
            ranges.push(at..at.saturating_add(len));
            at = at.saturating_add(len);
        }
        Ok(())
    }

    /// The chunks that were made, each with the length of its data (bytes).
    fn chunks(&self, chunksize: usize) -> impl Iterator<Item = (Option<&[u8]>, usize)> {
        let nbytes = self.data.chunks(chunksize.max(1)).map(<[u8]>::len);
        self.ranges.iter().map(|range| self.bytes.get(range.clone())).zip(nbytes)
    }
}

fn totals<S: WriteAt>(writer: &FrameWriter<S>, is_end: bool) -> Totals {
    Totals { nchunks: writer.nchunks(), nbytes: writer.nbytes(), cbytes: writer.cbytes(), is_end }
}

/// A source of data.
trait Input {
    /// A part of the data.
    type Part: Deref<Target = [u8]> + Default + Send;

    /// Makes `part` the next `nbytes` bytes, fewer only where the data end.
    fn read(&mut self, nbytes: usize, part: &mut Self::Part) -> Result<()>;
}

struct Stream<'a> {
    stream: &'a mut dyn Read,
    /// Bytes that were read.
    nbytes: u64,
}

/// Length of the first buffer, which then grows by `GROWTH`: a short stream needs no room for a
/// chunk.
const FIRST: usize = 64 << 10;
const GROWTH: usize = 4;

impl Input for Stream<'_> {
    type Part = AlignedBytes;

    fn read(&mut self, nbytes: usize, part: &mut AlignedBytes) -> Result<()> {
        part.resize(nbytes.min(part.len().max(FIRST)));
        let mut len = 0;
        loop {
            if len == part.len() {
                part.resize(nbytes.min(len.saturating_mul(GROWTH)));
            }
            let Some(room) = part.get_mut(len..).filter(|room| !room.is_empty()) else { break };
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
        part.resize(len);
        self.nbytes = self.nbytes.saturating_add(len as u64);
        Ok(())
    }
}

impl<'a> Input for &'a [u8] {
    type Part = &'a [u8];

    fn read(&mut self, nbytes: usize, part: &mut &'a [u8]) -> Result<()> {
        let (read, rest) = self.split_at(nbytes.min(self.len()));
        (*part, *self) = (read, rest);
        Ok(())
    }
}

/// The data, cut into whole chunks.
struct Parts<I> {
    source: I,
    chunksize: u64,
    /// Bytes still wanted, if not all.
    left: Option<u64>,
    is_end: bool,
}

impl<I: Input> Parts<I> {
    /// Makes `part` the data of chunks: at most `nbytes` bytes, fewer at the end. False if no data
    /// were left.
    fn next(&mut self, part: &mut I::Part, nbytes: usize) -> Result<bool> {
        if self.is_end || self.left == Some(0) {
            return Ok(false);
        }
        let wanted = self.left.map(|left| left.checked_next_multiple_of(self.chunksize));
        let wanted = wanted.flatten().and_then(|wanted| usize::try_from(wanted).ok());
        let nbytes = wanted.map_or(nbytes, |wanted| wanted.min(nbytes));
        self.source.read(nbytes, part)?;
        self.is_end = part.len() < nbytes;
        self.left = self.left.map(|left| left.saturating_sub(part.len() as u64));
        Ok(!part.is_empty())
    }
}
