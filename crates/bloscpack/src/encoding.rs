//! Compresses chunks in the order in which they come, several at once, in bounded memory.

use blosc_chunk::{CParams, Encoder, Target, max_compressed_len};

use crate::team::Team;
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
pub(crate) struct Batch {
    /// Each with buffers of its own, which are used again.
    slots: Vec<Slot>,
    /// Slots that hold data, and what they and their chunks weigh (bytes).
    filled: usize,
    bytes: u64,
}

#[derive(Debug)]
struct Slot {
    encoder: Encoder,
    /// Room for data, and how many of it are the chunk's.
    data: Vec<u8>,
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
        Ok(Self { team: team.half(), params: params.clone(), checksum, waiting: Batch::default() })
    }

    /// Takes the data of a chunk; `data` is empty afterwards. True if the chunks that wait should be compressed now.
    pub(crate) fn push(&mut self, data: &mut Vec<u8>, len: usize) -> Result<bool> {
        let Batch { slots, filled, bytes } = &mut self.waiting;
        if slots.len() == *filled {
            let encoder = Encoder::new(self.params.clone()).map_err(|source| in_chunk(0, 0, source))?;
            let result = Ok((0, Digest::new(&[])));
            slots.push(Slot { encoder, data: vec![], len: 0, chunk: vec![], result });
        }
        let slot = &mut slots[*filled];
        core::mem::swap(&mut slot.data, data);
        slot.len = len;
        *filled += 1;
        *bytes += 2 * len as u64;
        Ok(!self.team.takes_more(*filled, *bytes))
    }

    /// Compresses the chunks that wait and hands them to `write` in order.
    pub(crate) fn flush(&mut self, write: impl FnMut(Encoded<'_>) -> Result<()>) -> Result<()> {
        let checksum = self.checksum;
        let (team, mut batch) = (self.team, self.take());
        team.each(batch.filled(), |slot| slot.encode(checksum));
        let written = batch.write(write);
        self.reuse(batch);
        written
    }

    /// The chunks that wait.
    pub(crate) fn take(&mut self) -> Batch {
        core::mem::take(&mut self.waiting)
    }

    /// Buffers for the chunks that come next, if none wait.
    pub(crate) fn reuse(&mut self, batch: Batch) {
        if self.waiting.filled == 0 {
            self.waiting = Batch { filled: 0, bytes: 0, ..batch };
        }
    }

    pub(crate) fn team(&self) -> Team {
        self.team
    }
}

impl Batch {
    /// Compresses these chunks in other threads, and does something else in this one.
    pub(crate) fn encode_while<R>(
        &mut self,
        team: Team,
        checksum: Checksum,
        meanwhile: impl FnOnce() -> R,
    ) -> R {
        team.each_while(self.filled(), |slot| slot.encode(checksum), meanwhile)
    }

    fn filled(&mut self) -> &mut [Slot] {
        &mut self.slots[..self.filled]
    }

    /// Hands what was compressed to `write`, in order.
    pub(crate) fn write(&mut self, mut write: impl FnMut(Encoded<'_>) -> Result<()>) -> Result<()> {
        for slot in self.filled() {
            let encoded = match &slot.result {
                Ok((cbytes, digest)) => Ok((&slot.chunk[..*cbytes], digest)),
                Err(error) => Err(error.clone()),
            };
            write(encoded)?;
        }
        Ok(())
    }
}

impl Slot {
    fn encode(&mut self, checksum: Checksum) {
        self.result = self.compress().map(|cbytes| (cbytes, checksum.digest(&self.chunk[..cbytes])));
    }

    /// Bytes of the chunk. Its room stays: new memory for each chunk would have to be cleared. At first it is fresh
    /// memory, of which only what is written to has to be had.
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
