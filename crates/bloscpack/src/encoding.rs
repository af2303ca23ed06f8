//! Compresses chunks in the order of their data, several at once, in bounded memory.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are those of buffers in memory"
)]

use std::io;

use blosc_chunk::{CParams, Encoder, Target, max_compressed_len};
use blosc_container::Budget;
use blosc_io::AlignedBytes;

use crate::batch::Batch;
use crate::writer::{Tally, room_in};
use crate::{Checksum, Digest, Error, Param, Result};

/// Chunks waiting to be compressed.
#[derive(Debug)]
pub(crate) struct Encoding {
    budget: Budget,
    params: CParams,
    checksum: Checksum,
    waiting: Batch<Slot>,
}

/// A chunk that is being compressed.
#[derive(Debug)]
pub(crate) struct Slot {
    encoder: Encoder,
    /// Room for data, and the number of bytes that belong to the chunk.
    data: AlignedBytes,
    len: usize,
    /// Room for the chunk.
    chunk: Vec<u8>,
    result: Result<(usize, Digest), blosc_chunk::Error>,
}

/// A chunk to be written and its digest, or the error of compressing it.
pub(crate) type Encoded<'a> = Result<(&'a [u8], &'a Digest), blosc_chunk::Error>;

impl Encoding {
    pub(crate) fn new(params: &CParams, checksum: Checksum, budget: Budget) -> Result<Self> {
        check(params)?;
        let waiting = Batch::new(budget.clone());
        Ok(Self { budget, params: params.clone(), checksum, waiting })
    }

    /// Takes the data of a chunk; `data` is empty afterwards. Returns whether to compress the
    /// waiting chunks now.
    pub(crate) fn push(&mut self, data: &mut AlignedBytes, len: usize) -> Result<bool> {
        let nbytes = (len as u64).saturating_mul(2);
        if let Some(slot) = self.waiting.add_slot(nbytes, || Slot::new(&self.params))? {
            core::mem::swap(&mut slot.data, data);
            slot.len = len;
        }
        Ok(!self.waiting.has_room())
    }

    /// Compresses the waiting chunks and passes them to `write` in order.
    pub(crate) fn flush(&mut self, mut write: impl FnMut(Encoded<'_>) -> Result<()>) -> Result<()> {
        let checksum = self.checksum;
        self.waiting.for_each(|slot| slot.encode(checksum));
        let written = self.waiting.filled().iter().try_for_each(|slot| write(slot.encoded()));
        self.waiting.clear(|_, _| true);
        written
    }

    /// Buffers for each of several threads, if chunks have at most `chunksize` bytes of data.
    pub(crate) fn slots(&mut self, chunksize: u32) -> Result<Vec<Slot>> {
        let wanted = self.budget.nworkers_for(u64::from(chunksize).saturating_mul(2));
        let mut slots = self.waiting.take_slots();
        slots.truncate(wanted);
        while slots.len() < wanted {
            slots.push(Slot::new(&self.params)?);
        }
        Ok(slots)
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

    /// Reads the data of the next chunk. False if the source ends first; its last bytes are kept.
    pub(crate) fn read_chunk(
        &mut self,
        tally: &mut Tally,
        source: &mut (dyn io::Read + Send),
    ) -> Result<bool> {
        self.len = 0;
        // More data than announced are an error only once they come.
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

    /// Data short of a whole chunk, and their number (bytes).
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

    /// Bytes of the chunk. Its room is kept, since new memory for each chunk would have to be
    /// cleared. Untouched pages of new room cost no memory.
    fn compress(&mut self) -> Result<usize, blosc_chunk::Error> {
        let needed = max_compressed_len(self.len);
        if self.chunk.len() < needed {
            self.chunk = vec![0; needed];
        }
        self.encoder.encode_into(&self.data[..self.len], &mut self.chunk[..needed])
    }
}

/// Checks that these parameters make chunks for this format.
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
