//! Compresses chunks in the order in which they come, several at once, in bounded memory.

use std::io;

use blosc_chunk::{CParams, Encoder, Target, max_compressed_len};
use blosc_io::AlignedBytes;

use crate::team::Team;
use crate::writer::{Tally, room_in};
use crate::{Checksum, Digest, Error, Param, Result};

/// Chunks that wait to be compressed.
#[derive(Debug)]
pub(crate) struct Encoding {
    team: Team,
    params: CParams,
    checksum: Checksum,
    waiting: Batch,
}

/// Chunks that are compressed together.
#[derive(Debug, Default)]
struct Batch {
    /// Each with buffers of its own, which are used again.
    slots: Vec<Slot>,
    /// Slots that hold data, and what they and their chunks weigh (bytes).
    filled: usize,
    bytes: u64,
}

/// A chunk that is compressed.
#[derive(Debug)]
pub(crate) struct Slot {
    encoder: Encoder,
    /// Room for data, and how many of it are the chunk's.
    data: AlignedBytes,
    len: usize,
    /// Room for the chunk.
    chunk: Vec<u8>,
    result: Result<(usize, Digest), blosc_chunk::Error>,
}

/// A chunk to be written and its digest, or why there is none.
pub(crate) type Encoded<'a> = Result<(&'a [u8], &'a Digest), blosc_chunk::Error>;

impl Encoding {
    pub(crate) fn new(params: &CParams, checksum: Checksum, team: Team) -> Result<Self> {
        check(params)?;
        Ok(Self { team, params: params.clone(), checksum, waiting: Batch::default() })
    }

    /// Takes the data of a chunk; `data` is empty afterwards. True if the chunks that wait should
    /// be compressed now.
    pub(crate) fn push(&mut self, data: &mut AlignedBytes, len: usize) -> Result<bool> {
        let Batch { slots, filled, bytes } = &mut self.waiting;
        if slots.len() == *filled {
            slots.push(Slot::new(&self.params)?);
        }
        let slot = &mut slots[*filled];
        core::mem::swap(&mut slot.data, data);
        slot.len = len;
        *filled += 1;
        *bytes += 2 * len as u64;
        Ok(!self.team.takes_more(*filled, *bytes))
    }

    /// Compresses the chunks that wait and hands them to `write` in order.
    pub(crate) fn flush(&mut self, mut write: impl FnMut(Encoded<'_>) -> Result<()>) -> Result<()> {
        let (checksum, team) = (self.checksum, self.team);
        team.each(self.waiting.filled(), |slot| slot.encode(checksum));
        let written = self.waiting.filled().iter().try_for_each(|slot| write(slot.encoded()));
        (self.waiting.filled, self.waiting.bytes) = (0, 0);
        written
    }

    /// Buffers for each of several threads, if chunks have at most so many bytes of data.
    pub(crate) fn slots(&mut self, chunk_size: u32) -> Result<Vec<Slot>> {
        let wanted = self.team.fitting(u64::from(chunk_size).saturating_mul(2), u64::MAX);
        let mut slots = core::mem::take(&mut self.waiting).slots;
        slots.truncate(wanted);
        while slots.len() < wanted {
            slots.push(Slot::new(&self.params)?);
        }
        Ok(slots)
    }
}

impl Batch {
    fn filled(&mut self) -> &mut [Slot] {
        &mut self.slots[..self.filled]
    }
}

impl Slot {
    fn new(params: &CParams) -> Result<Self> {
        let encoder = Encoder::new(params.clone()).map_err(|source| in_chunk(0, 0, source))?;
        Ok(Self {
            encoder,
            data: AlignedBytes::new(),
            len: 0,
            chunk: vec![],
            result: Ok((0, Digest::new(&[]))),
        })
    }

    /// Reads the data of the next chunk. False if the source ends before, with what it had left.
    pub(crate) fn read_chunk(
        &mut self,
        tally: &mut Tally,
        source: &mut (dyn io::Read + Send),
    ) -> Result<bool> {
        self.len = 0;
        // More than was announced is an error only if it comes.
        let size = tally.next_size(0);
        let most = size.as_ref().copied().unwrap_or(1);
        while self.len < most {
            match tally.read(source, room_in(&mut self.data, self.len, most))? {
                0 => return Ok(false),
                len => self.len += len,
            }
        }
        tally.count(u32::try_from(size?).unwrap_or(u32::MAX))?;
        Ok(true)
    }

    /// Data that are no whole chunk, and how many they are (bytes).
    pub(crate) fn take(&mut self) -> (AlignedBytes, usize) {
        (core::mem::take(&mut self.data), core::mem::take(&mut self.len))
    }

    pub(crate) fn encoded(&self) -> Encoded<'_> {
        match &self.result {
            Ok((cbytes, digest)) => Ok((&self.chunk[..*cbytes], digest)),
            Err(error) => Err(error.clone()),
        }
    }

    pub(crate) fn encode(&mut self, checksum: Checksum) {
        self.result =
            self.compress().map(|cbytes| (cbytes, checksum.digest(&self.chunk[..cbytes])));
    }

    /// Bytes of the chunk. Its room stays: new memory for each chunk would have to be cleared. At
    /// first it is fresh memory, of which only what is written to has to be had.
    fn compress(&mut self) -> Result<usize, blosc_chunk::Error> {
        let needed = max_compressed_len(self.len);
        if self.chunk.len() < needed {
            self.chunk = vec![0; needed];
        }
        self.encoder.encode_into(&self.data[..self.len], &mut self.chunk[..needed])
    }
}

/// Whether these parameters make chunks for this format.
fn check(params: &CParams) -> Result<()> {
    match params.target {
        Target::Blosc1_3 | Target::Blosc1_11 | Target::Blosc1_14 => {}
        target => return Err(Param::NotBlosc1 { target }.into()),
    }
    params.check().map_err(|source| in_chunk(0, 0, source))
}

pub(crate) fn in_chunk(nchunk: u64, at: u64, source: blosc_chunk::Error) -> Error {
    Error::Chunk { nchunk, at, source }
}
