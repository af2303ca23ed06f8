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

/// A chunk to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoded<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) digest: &'a Digest,
}

impl Encoding {
    pub(crate) fn new(params: &CParams, checksum: Checksum, team: Team) -> Result<Self> {
        check(params)?;
        Ok(Self { team, params: params.clone(), checksum, slots: vec![], filled: 0, bytes: 0 })
    }

    /// Takes the data of a chunk; `data` is empty afterwards. True if the chunks that wait should be compressed now.
    pub(crate) fn push(&mut self, data: &mut Vec<u8>, len: usize) -> Result<bool> {
        if self.slots.len() == self.filled {
            let encoder = Encoder::new(self.params.clone()).map_err(|source| in_chunk(0, 0, source))?;
            let result = Ok((0, Digest::new(&[])));
            self.slots.push(Slot { encoder, data: vec![], len: 0, chunk: vec![], result });
        }
        let slot = &mut self.slots[self.filled];
        core::mem::swap(&mut slot.data, data);
        slot.len = len;
        self.filled += 1;
        self.bytes += 2 * len as u64;
        Ok(!self.team.takes_more(self.filled, self.bytes))
    }

    /// Compresses the chunks that wait and hands them to `write` in order.
    pub(crate) fn flush(
        &mut self,
        mut write: impl FnMut(Result<Encoded<'_>, blosc_chunk::Error>) -> Result<()>,
    ) -> Result<()> {
        let (slots, checksum) = (&mut self.slots[..self.filled], self.checksum);
        (self.filled, self.bytes) = (0, 0);
        self.team.each(slots, |slot| {
            slot.result = slot.encode().map(|cbytes| (cbytes, checksum.digest(&slot.chunk[..cbytes])));
        });
        for slot in slots {
            let encoded = match &slot.result {
                Ok((cbytes, digest)) => Ok(Encoded { bytes: &slot.chunk[..*cbytes], digest }),
                Err(error) => Err(error.clone()),
            };
            write(encoded)?;
        }
        Ok(())
    }
}

/// Whether these parameters make chunks for this format.
impl Slot {
    /// Bytes of the chunk. Its room stays: new memory for each chunk would have to be cleared.
    fn encode(&mut self) -> Result<usize, blosc_chunk::Error> {
        let needed = max_compressed_len(self.len);
        if self.chunk.len() < needed {
            self.chunk.resize(needed, 0);
        }
        self.encoder.encode_into(&self.data[..self.len], &mut self.chunk[..needed])
    }
}

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
