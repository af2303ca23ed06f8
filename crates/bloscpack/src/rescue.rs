//! What can still be read of a damaged or cut file: chunks describe themselves ("Interrupted files"
//! in the format document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions and sizes were compared with the length of the file when they were read"
)]

mod scan;

use core::ops::Range;
use std::io::{self, Read as _, Seek, Write};

use blosc_chunk::{DParams, Decoder};
use blosc_io::ReadAt;

use crate::error::Bounded;
use crate::journal::Before;
use crate::metadata::Section;
use crate::repack::Sizes;
use crate::{
    Checksum, Corrupt, Error, Header, Metadata, PackedChunk, Reserve, Result, WriteOptions, Writer,
};

use scan::Scan;

/// What [`rescue`] found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rescue {
    /// The header, if it can be read.
    pub header: Option<Header>,
    /// The metadata, if there are any and they can be read.
    pub metadata: Option<Metadata>,
    /// The chunks that are intact, in the order of the file.
    pub chunks: Vec<Rescued>,
    /// Parts after the header that are no intact chunks (bytes from the start of the file).
    pub lost: Vec<Range<u64>>,
    /// What chunks were allowed.
    pub(crate) limits: blosc_chunk::Limits,
}

/// An intact chunk of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rescued {
    /// The number of the chunk, if it is known: from the offsets, or because no chunk before it is
    /// missing.
    pub nchunk: Option<u64>,
    /// Where it begins (bytes from the start of the file).
    pub at: u64,
    /// Its size, without digest (bytes).
    pub cbytes: u64,
    /// Its data (bytes).
    pub nbytes: u64,
}

/// What to put where data are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Nothing: what was found moves together.
    Nothing,
    /// Zeros, where number and size of the missing chunks are known.
    Zeros {
        /// The most that all of them may be (bytes). The numbers come from a damaged file.
        limit: u64,
    },
}

/// Looks for intact chunks in a damaged file: walks from where the chunks should begin, and after
/// something that is no chunk goes on where the offsets say, or searches byte by byte. Every chunk
/// that is found was decoded, and its digest is right if the header says which kind it is.
///
/// A chunk with more data than the limits of `dparams` allow (1 GiB by default) counts as lost. So
/// much memory may be needed for a moment, as anything can look like a chunk until it is decoded.
///
/// The time is bounded by a multiple of the length of the file; if that is used up, the rest counts
/// as lost.
///
/// ```
/// use blosc_chunk::DParams;
/// use blosc_io::MemStore;
/// use bloscpack::{WriteOptions, pack, rescue, rescue::Fill};
///
/// let mut blp = pack(&[1; 3000], WriteOptions::default().chunksize(1000))?;
/// blp.truncate(blp.len() - 10);
/// let store = MemStore::new(blp);
/// let found = rescue(&store, &DParams::default())?;
/// let mut data = vec![];
/// found.write_data(&store, &mut data, Fill::Nothing)?;
/// assert_eq!(data, [1; 2000]);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Io`] only.
pub fn rescue<S: ReadAt>(store: &S, dparams: &DParams) -> Result<Rescue> {
    let view = Before::new(store).map_err(|source| Error::io(0, source))?;
    let mut scan = Scan::new(&view, dparams)?;
    scan.run()?;
    Ok(scan.found)
}

impl Rescue {
    /// Whether all chunks are there that the header announces, and nothing else.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let announced = self.header.and_then(|header| header.nchunks);
        announced == Some(self.chunks.len() as u64) && self.lost.is_empty()
    }

    /// Writes the data of the chunks and returns how many bytes they are.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for more zeros than allowed; [`Error::Io`]; others only if the file has
    /// changed.
    pub fn write_data<S: ReadAt>(&self, store: &S, to: &mut dyn Write, fill: Fill) -> Result<u64> {
        let source = Source::new(store, self)?;
        let mut decoder = Decoder::new(DParams::default().limits(self.limits));
        let mut data = vec![];
        let mut out = Filled { to, fill, header: self.header, next: 0, written: 0, zeros: 0 };
        for chunk in &self.chunks {
            crate::decoding::decode_into(&source.read(chunk.at)?, &mut data, &mut decoder)?;
            out.write_missing(chunk.nchunk)?;
            out.write(&data)?;
        }
        out.write_missing(self.header.and_then(|header| header.nchunks))?;
        Ok(out.written)
    }

    /// Writes the chunks to a new file of version 3, as they are, with the metadata.
    ///
    /// # Errors
    ///
    /// As [`Writer::push_chunk`] and [`Writer::finish`].
    pub fn write_blp<S: ReadAt, W: Write + Seek>(&self, store: &S, to: W) -> Result<W> {
        let section = self.metadata.as_ref().map(Section::keeping).transpose()?;
        let checksum = self.header.map_or(Checksum::default(), |header| header.checksum);
        let sizes = Sizes::new(self.chunks.iter().map(|chunk| chunk.nbytes));
        let header = Header {
            metadata: section.is_some(),
            typesize: self.header.and_then(|header| header.typesize).or(Some(1)),
            ..sizes.header(checksum, Some(Reserve::default()))?
        };
        let source = Source::new(store, self)?;
        let mut writer =
            Writer::with_parts(to, header, section.as_ref(), &WriteOptions::default())?;
        for chunk in self.chunks.iter().filter(|chunk| chunk.nbytes > 0 || sizes.nchunks == 1) {
            writer.push_chunk(source.read(chunk.at)?.bytes())?;
        }
        writer.finish()
    }
}

/// Where the chunks are read from again.
struct Source<S> {
    view: Before<S>,
    rule: Header,
    limits: blosc_chunk::Limits,
    len: u64,
}

impl<S: ReadAt> Source<S> {
    fn new(store: S, found: &Rescue) -> Result<Self> {
        let view = Before::new(store).map_err(|source| Error::io(0, source))?;
        let len = view.len().map_err(|source| Error::io(0, source))?;
        Ok(Self { view, rule: scan::rule(found.header.as_ref()), limits: found.limits, len })
    }

    fn read(&self, at: u64) -> Result<PackedChunk> {
        let first = scan::read(&self.view, self.len, &self.rule, &self.limits, at, true)?;
        first.ok_or(Error::corrupt(at, Corrupt::MissingChunks { nchunks: 1, found: 0 }))
    }
}

/// Data with gaps.
struct Filled<'a> {
    to: &'a mut dyn Write,
    fill: Fill,
    header: Option<Header>,
    /// Number of the next chunk.
    next: u64,
    /// Bytes so far, and how many of them are fill.
    written: u64,
    zeros: u64,
}

impl Filled<'_> {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        self.to.write_all(data).map_err(|source| Error::io(self.written, source))?;
        self.written += data.len() as u64;
        self.next += 1;
        Ok(())
    }

    /// Fills up to chunk `nchunk`, if that is known.
    fn write_missing(&mut self, nchunk: Option<u64>) -> Result<()> {
        let end = nchunk.unwrap_or(self.next);
        let nbytes = self.missing(end);
        self.next = end;
        let Fill::Zeros { limit } = self.fill else { return Ok(()) };
        self.zeros = self.zeros.saturating_add(nbytes);
        if self.zeros > limit {
            return Err(Error::Limit { what: Bounded::Data, needed: self.zeros, limit });
        }
        let zeros = io::copy(&mut io::repeat(0).take(nbytes), self.to);
        self.written += zeros.map_err(|source| Error::io(self.written, source))?;
        Ok(())
    }

    /// Data of the missing chunks before chunk `end` (bytes), as far as their sizes are known.
    fn missing(&self, end: u64) -> u64 {
        let Some((header, chunksize)) = self.header.and_then(|h| Some((h, h.uniform_size()?)))
        else {
            return 0;
        };
        let missing = end.saturating_sub(self.next);
        let has_last = missing > 0 && header.nchunks == Some(end);
        let last = if has_last { header.last_chunk.unwrap_or(0) } else { 0 };
        (missing - u64::from(has_last)).saturating_mul(chunksize.into()).saturating_add(last.into())
    }
}
