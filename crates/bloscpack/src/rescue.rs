//! Reading the intact parts of a damaged or cut file: chunks describe themselves ("Interrupted
//! files" in the format document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions and sizes were compared with the length of the file when they were read"
)]

mod scan;

use core::ops::Range;
use std::io::{Seek, Write};

use blosc_chunk::{CParams, DParams, Decoder, Target};
use blosc_container::rescue::Filling;
pub use blosc_container::rescue::{ChunkState, Fill};
use blosc_dtype::{ByteOrder, Kind};
use blosc_io::ReadAt;

use crate::error::Bounded;
use crate::journal::Before;
use crate::metadata::Section;
use crate::numpy::info_of;
use crate::repack::Sizes;
use crate::{
    Checksum, Corrupt, Error, Header, Metadata, PackedChunk, Param, Reserve, Result, WriteOptions,
    Writer,
};

use scan::Scan;

/// The most chunks that are put at their positions, as their number comes from a damaged file.
const MAX_NCHUNKS: u64 = 1 << 22;

/// The findings of [`rescue`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rescue {
    /// The header, if it can be read.
    pub header: Option<Header>,
    /// The metadata, if they exist and can be read.
    pub metadata: Option<Metadata>,
    /// The intact chunks, in the order of the file.
    pub chunks: Vec<Rescued>,
    /// Parts after the header without intact chunks (bytes from the start of the file).
    pub lost: Vec<Range<u64>>,
    /// Whether the file does not begin with the magic, although a header follows.
    pub lost_magic: bool,
    /// The limits of chunks.
    pub(crate) limits: blosc_chunk::Limits,
}

/// An intact chunk of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rescued {
    /// The number of the chunk, if it is known: from the offsets, or because no chunk before it is
    /// missing.
    pub nchunk: Option<u64>,
    /// Its position (bytes from the start of the file).
    pub at: u64,
    /// Its size, without digest (bytes).
    pub cbytes: u64,
    /// Its data (bytes).
    pub nbytes: u64,
}

/// Looks for intact chunks in a damaged file. Walks from the expected start of the chunks. After
/// bytes that are no chunk, goes on at the next offset, or searches byte by byte. Every found chunk
/// was decoded, and its digest is right if the header names the kind.
///
/// A chunk with more data than the limits of `dparams` allow (1 GiB by default) counts as lost. The
/// scan may need that much memory for a moment, as any bytes can look like a chunk until they are
/// decoded.
///
/// A multiple of the file's length bounds the time; once it is used up, the rest counts as lost.
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
/// found.write_data(&store, &mut data, &Fill::Cut, 0)?;
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
    /// Whether the file has the metadata and all chunks that the header announces, and no lost
    /// part.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let announced = self.header.and_then(|header| header.nchunks);
        let has_chunks = announced == Some(self.chunks.len() as u64) && self.lost.is_empty();
        has_chunks && !self.lost_metadata()
    }

    /// Whether the header announces metadata that cannot be read.
    #[must_use]
    pub fn lost_metadata(&self) -> bool {
        self.metadata.is_none() && self.header.is_some_and(|header| header.metadata)
    }

    /// The state of each chunk that the header announces. If it announces none, or if numbers are
    /// unknown, the states of the found chunks, and then one lost chunk for each missing one. A
    /// chunk with an unknown number is doubtful.
    #[must_use]
    pub fn states(&self) -> Vec<ChunkState> {
        let announced = self.header.and_then(|header| header.nchunks).unwrap_or(0);
        if let Some((chunks, nchunks)) = self.places() {
            let count = usize::try_from(nchunks).unwrap_or(usize::MAX);
            let mut states = vec![ChunkState::Lost; count];
            for (number, _) in chunks {
                let state = usize::try_from(number).ok().and_then(|at| states.get_mut(at));
                state.into_iter().for_each(|state| *state = ChunkState::Good);
            }
            return states;
        }
        let found = self.chunks.iter().map(|chunk| match chunk.nchunk {
            Some(_) => ChunkState::Good,
            None => ChunkState::Doubtful,
        });
        let nlost = announced.min(MAX_NCHUNKS).saturating_sub(self.chunks.len() as u64);
        found.chain((0..nlost).map(|_| ChunkState::Lost)).collect()
    }

    /// Number of chunks in this state.
    #[must_use]
    pub fn count(&self, state: ChunkState) -> u64 {
        self.states().iter().filter(|found| **found == state).count() as u64
    }

    /// Whether all positions of found chunks and all sizes of missing ones are known, so that
    /// missing chunks can be filled.
    #[must_use]
    pub fn has_positions(&self) -> bool {
        self.places().is_some()
    }

    /// Writes the data of the chunks, with the missing ones filled, and returns their length
    /// (bytes). If positions are unknown, and with [`Fill::Cut`], the found chunks move together.
    /// together.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for more than `max_filled` bytes of fill, since their number comes from a
    /// damaged file. [`Param::Fill`] for a fill that does not suit the items; [`Error::Io`]; others
    /// only if the file has changed.
    pub fn write_data<S: ReadAt>(
        &self,
        store: &S,
        to: &mut dyn Write,
        fill: &Fill,
        max_filled: u64,
    ) -> Result<u64> {
        let source = Source::new(store, self)?;
        let mut decoder = Decoder::new(DParams::default().limits(self.limits));
        let (mut data, mut written) = (vec![], 0);
        let (plan, filling) = (self.plan(fill, max_filled)?, self.filling(fill)?);
        for place in plan.places() {
            let done = match place {
                Place::Found(chunk) => {
                    crate::decoding::decode_into(&source.read(chunk.at)?, &mut data, &mut decoder)?;
                    to.write_all(&data)
                }
                Place::Missing { start, nbytes } => filling.write(start, nbytes, to),
            };
            done.map_err(|source| Error::io(written, source))?;
            written += place.nbytes();
        }
        Ok(written)
    }

    /// Writes the unchanged chunks and the metadata to a new file of version 3, and returns the
    /// number of filled bytes in its data.
    ///
    /// Missing chunks are filled, so that the others keep their positions. If positions are
    /// unknown, and with [`Fill::Cut`], the found chunks move together. Metadata of an array are
    /// left out then if any data are missing, since its shape would be wrong.
    ///
    /// # Errors
    ///
    /// As [`write_data`](Self::write_data), [`Writer::push_chunk`] and [`Writer::finish`].
    pub fn write_blp<S: ReadAt, W: Write + Seek>(
        &self,
        store: &S,
        to: W,
        fill: &Fill,
        max_filled: u64,
    ) -> Result<(W, u64)> {
        let (plan, filling) = (self.plan(fill, max_filled)?, self.filling(fill)?);
        let filled = plan.places().map(|place| place.filled()).sum();
        let metadata = self.metadata.as_ref().filter(|_| self.keeps_metadata(fill));
        let section = metadata.map(Section::keeping).transpose()?;
        let checksum = self.header.map_or(Checksum::default(), |header| header.checksum);
        let sizes = Sizes::new(plan.places().map(|place| place.nbytes()));
        let header = Header {
            metadata: section.is_some(),
            typesize: self.header.and_then(|header| header.typesize).or(Some(1)),
            ..sizes.header(checksum, Some(Reserve::default()))?
        };
        let source = Source::new(store, self)?;
        let mut writer =
            Writer::with_parts(to, header, section.as_ref(), &WriteOptions::default())?;
        let cparams = CParams::default().typesize(1).target(Target::Blosc1_14);
        for place in plan.places().filter(|place| place.nbytes() > 0 || sizes.nchunks == 1) {
            match place {
                Place::Found(chunk) => writer.push_chunk(source.read(chunk.at)?.bytes())?,
                Place::Missing { start, nbytes } => {
                    let len = usize::try_from(nbytes).unwrap_or(usize::MAX);
                    let chunk = filling.chunk(start, len, &[], cparams.clone());
                    let nchunk = start.checked_div(nbytes).unwrap_or(0);
                    let chunk = chunk.map_err(|source| Error::Chunk { nchunk, at: 0, source })?;
                    writer.push_chunk(&chunk)?;
                }
            }
        }
        Ok((writer.finish()?, filled))
    }

    /// Whether the metadata describe the output of [`write_blp`](Self::write_blp).
    #[must_use]
    pub fn keeps_metadata(&self, fill: &Fill) -> bool {
        let is_array = !matches!(info_of(self.metadata.as_ref()), Ok(None));
        let keeps_place = *fill != Fill::Cut && self.has_positions();
        self.is_complete() || keeps_place || !is_array
    }

    /// The chunks of the new file.
    fn plan(&self, fill: &Fill, max_filled: u64) -> Result<Plan<'_>> {
        let mut plan = Plan { rescue: self, numbered: None };
        let Some((chunks, nchunks)) = self.places().filter(|_| *fill != Fill::Cut) else {
            return Ok(plan);
        };
        let needed = self.missing_nbytes(&chunks, nchunks);
        let limited = |needed, limit| Error::Limit { what: Bounded::Data, needed, limit };
        if needed > max_filled {
            return Err(limited(needed, max_filled));
        }
        plan.numbered = Some((chunks, nchunks));
        // The last chunk may be larger than the others.
        let (largest, limit) = (plan.places().map(|place| place.filled()).max(), self.limits);
        match largest.filter(|largest| *largest > limit.max_nbytes) {
            Some(largest) => Err(limited(largest, limit.max_nbytes)),
            None => Ok(plan),
        }
    }

    /// The chunks with their numbers, and the number of all chunks; `None` if the number of a chunk
    /// or the size of a missing one is unknown.
    fn places(&self) -> Option<(Vec<(u64, &Rescued)>, u64)> {
        let nchunks = self.header?.nchunks?;
        let numbers = self.numbers(nchunks);
        let chunks: Option<Vec<_>> = numbers
            .iter()
            .zip(&self.chunks)
            .map(|(number, chunk)| Some(((*number)?, chunk)))
            .collect();
        let chunks = chunks?;
        let is_rising = chunks.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_inside = chunks.last().is_none_or(|(number, _)| *number < nchunks);
        let is_complete = chunks.len() as u64 == nchunks;
        let has_sizes = is_complete || self.chunksize() > 0;
        let is_possible = is_rising && is_inside && has_sizes && nchunks <= MAX_NCHUNKS;
        is_possible.then_some((chunks, nchunks))
    }

    /// The number of each chunk. The last chunks, which end with the file, are counted backwards.
    fn numbers(&self, nchunks: u64) -> Vec<Option<u64>> {
        let mut numbers: Vec<Option<u64>> = self.chunks.iter().map(|chunk| chunk.nchunk).collect();
        let last_lost = self.lost.last().map_or(0, |range| range.end);
        let ends = self.chunks.last().is_some_and(|chunk| chunk.at >= last_lost);
        let mut next = Some(nchunks);
        for (number, chunk) in numbers.iter_mut().zip(&self.chunks).rev() {
            next = next.and_then(|next| next.checked_sub(1));
            if !ends || number.is_some() || chunk.at < last_lost {
                break;
            }
            *number = next;
        }
        numbers
    }

    fn chunksize(&self) -> u32 {
        self.header.and_then(|header| header.uniform_size()).unwrap_or(0)
    }

    /// Data of a chunk (bytes), by the header.
    fn chunk_nbytes(&self, nchunk: u64, nchunks: u64) -> u64 {
        let last = self.header.and_then(|header| header.last_chunk);
        match last {
            Some(last) if nchunk.saturating_add(1) == nchunks => last.into(),
            _ => self.chunksize().into(),
        }
    }

    /// Data of the missing chunks (bytes).
    fn missing_nbytes(&self, chunks: &[(u64, &Rescued)], nchunks: u64) -> u64 {
        let count = nchunks.saturating_sub(chunks.len() as u64);
        let has_last = chunks.last().is_some_and(|(number, _)| *number + 1 == nchunks);
        let size = u64::from(self.chunksize());
        match count.checked_sub(1) {
            Some(others) if !has_last => {
                others.saturating_mul(size).saturating_add(self.chunk_nbytes(nchunks - 1, nchunks))
            }
            _ => count.saturating_mul(size),
        }
    }

    /// The data in place of the lost ones.
    fn filling(&self, fill: &Fill) -> Result<Filling> {
        let item = match fill {
            Fill::NaN => self.nan()?,
            Fill::Value(item) => item.clone(),
            _ => return Ok(Filling::new(vec![])),
        };
        let itemsize = self.itemsize();
        if itemsize.is_some_and(|itemsize| itemsize != item.len()) || item.is_empty() {
            let (found, itemsize) = (item.len(), itemsize.unwrap_or(1));
            return Err(Param::Fill { found, itemsize }.into());
        }
        Ok(Filling::new(item))
    }

    /// Bytes of an item of the array.
    fn itemsize(&self) -> Option<usize> {
        let info = info_of(self.metadata.as_ref()).ok().flatten()?;
        Some(info.dtype().itemsize())
    }

    /// NaN in the type of the array.
    fn nan(&self) -> Result<Vec<u8>> {
        let info = info_of(self.metadata.as_ref()).ok().flatten();
        let scalar = info.as_ref().and_then(|info| info.dtype().scalar());
        let itemsize = self.itemsize().unwrap_or(1);
        let no_float = || Error::from(Param::Fill { found: 0, itemsize });
        let scalar = scalar.filter(|scalar| scalar.kind() == Kind::Float).ok_or_else(no_float)?;
        let mut nan = match scalar.itemsize() {
            2 => 0x7e00_u16.to_le_bytes().to_vec(),
            4 => f32::NAN.to_le_bytes().to_vec(),
            8 => f64::NAN.to_le_bytes().to_vec(),
            _ => return Err(no_float()),
        };
        if scalar.order() == ByteOrder::Big {
            nan.reverse();
        }
        Ok(nan)
    }
}

/// The chunks of the new file; a damaged header may claim very many.
struct Plan<'a> {
    rescue: &'a Rescue,
    /// The chunks with a number, and the number of all chunks; without numbers, all found chunks
    /// move together.
    numbered: Option<(Vec<(u64, &'a Rescued)>, u64)>,
}

impl<'a> Plan<'a> {
    fn places(&self) -> impl Iterator<Item = Place<'a>> + '_ {
        let (rescue, numbered) = (self.rescue, self.numbered.as_ref());
        let loose = if numbered.is_none() { rescue.chunks.as_slice() } else { &[] };
        let in_order = numbered.map(|(chunks, nchunks)| {
            let mut found = chunks.iter().peekable();
            (0..*nchunks).map(move |nchunk| match found.next_if(|(known, _)| *known == nchunk) {
                Some((_, chunk)) => Place::Found(chunk),
                None => Place::Missing {
                    start: nchunk.saturating_mul(rescue.chunksize().into()),
                    nbytes: rescue.chunk_nbytes(nchunk, *nchunks),
                },
            })
        });
        loose.iter().map(Place::Found).chain(in_order.into_iter().flatten())
    }
}

/// A chunk of the new file.
#[derive(Clone, Copy)]
enum Place<'a> {
    Found(&'a Rescued),
    /// A missing chunk, whose data begin at byte `start` of all data.
    Missing {
        start: u64,
        nbytes: u64,
    },
}

impl Place<'_> {
    const fn nbytes(&self) -> u64 {
        match self {
            Self::Found(chunk) => chunk.nbytes,
            Self::Missing { nbytes, .. } => *nbytes,
        }
    }

    const fn filled(&self) -> u64 {
        match self {
            Self::Found(_) => 0,
            Self::Missing { nbytes, .. } => *nbytes,
        }
    }
}

/// A source that reads the chunks again.
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
