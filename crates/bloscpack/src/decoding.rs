//! Decodes chunks in the order in which they come, several at once, in bounded memory.

use blosc_chunk::Decoder;

use crate::team::Team;
use crate::{Error, PackedChunk, Param, ReadOptions, Result};

/// Chunks taken from a source and decoded, not all of them handed out yet.
#[derive(Debug)]
pub(crate) struct Decoding {
    team: Team,
    params: blosc_chunk::DParams,
    /// Each with buffers of its own, which are used again.
    slots: Vec<Slot>,
    /// Slots that hold a chunk.
    filled: usize,
    /// Slots that were handed out.
    taken: usize,
    /// What came after the chunks in the slots.
    end: End,
    /// Whether chunks are handed out after one that could not be decoded.
    lenient: bool,
}

#[derive(Debug, Default)]
struct Slot {
    decoder: Decoder,
    chunk: Option<PackedChunk>,
    data: Vec<u8>,
    error: Option<Error>,
}

#[derive(Debug)]
enum End {
    NotYet,
    Reached,
    Failed(Option<Error>),
}

impl Decoding {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let team = Team::new(options.threads, options.max_memory);
        let params = options.dparams.clone();
        Self { team, params, slots: vec![], filled: 0, taken: 0, end: End::NotYet, lenient: false }
    }

    /// The same, but chunks after one that cannot be decoded are handed out too.
    pub(crate) fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }

    /// The next chunk and its data. `source` gives the packed chunks in order; an error of it comes after the chunks
    /// before it, however many were taken together.
    pub(crate) fn next(
        &mut self,
        source: &mut dyn FnMut() -> Result<Option<PackedChunk>>,
    ) -> Result<Option<(&PackedChunk, &[u8])>> {
        if self.taken == self.filled {
            self.fill(source);
        }
        let Some(slot) = self.slots[..self.filled].get_mut(self.taken) else {
            return match &mut self.end {
                End::Failed(error) => Err(error.take().unwrap_or(Param::AfterError.into())),
                _ => Ok(None),
            };
        };
        self.taken += 1;
        if let Some(error) = slot.error.take() {
            if !self.lenient {
                self.end = End::Failed(None);
                self.filled = self.taken;
            }
            return Err(error);
        }
        Ok(slot.chunk.as_ref().map(|chunk| (chunk, &slot.data[..])))
    }

    fn fill(&mut self, source: &mut dyn FnMut() -> Result<Option<PackedChunk>>) {
        self.drop_large();
        (self.filled, self.taken) = (0, 0);
        let mut bytes = 0;
        while self.team.takes_more(self.filled, bytes) && matches!(self.end, End::NotYet) {
            match source() {
                Ok(Some(chunk)) => {
                    bytes += (chunk.header().nbytes() + chunk.header().cbytes()) as u64;
                    self.put(chunk);
                }
                Ok(None) => self.end = End::Reached,
                Err(error) => self.end = End::Failed(Some(error)),
            }
        }
        self.team.each(&mut self.slots[..self.filled], Slot::decode);
    }

    /// Gives back buffers that one large chunk has left behind: with such in every slot, they would be too much.
    fn drop_large(&mut self) {
        let share = self.team.share();
        self.slots.retain(|slot| slot.data.capacity() as u64 <= share);
    }

    fn put(&mut self, chunk: PackedChunk) {
        if self.slots.len() == self.filled {
            self.slots.push(Slot { decoder: Decoder::new(self.params.clone()), ..Slot::default() });
        }
        self.slots[self.filled].chunk = Some(chunk);
        self.filled += 1;
    }
}

impl Slot {
    fn decode(&mut self) {
        let Some(chunk) = &self.chunk else { return };
        self.error = decode_into(chunk, &mut self.data, &mut self.decoder).err();
    }
}

/// Decodes a chunk; `data` gets its size.
pub(crate) fn decode_into(chunk: &PackedChunk, data: &mut Vec<u8>, decoder: &mut Decoder) -> Result<()> {
    // The size was compared with the limits when the header of the chunk was read. All of what was there is overwritten.
    data.resize(chunk.header().nbytes(), 0);
    match decoder.decode_into(chunk.bytes(), data) {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Chunk { nchunk: chunk.nchunk(), at: chunk.position(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reader, WriteOptions, pack};
    use blosc_chunk::Threads;
    use core::num::NonZeroUsize;

    /// A packed chunk with so many bytes of data.
    fn chunk(nbytes: usize) -> PackedChunk {
        let blp = pack(&vec![7; nbytes], WriteOptions::default()).unwrap();
        Reader::new(&blp[..]).unwrap().next_chunk().unwrap().unwrap()
    }

    #[test]
    fn large_chunks_do_not_leave_their_buffers_in_every_slot() {
        let threads = Threads::N(NonZeroUsize::new(4).unwrap());
        let mut decoding = Decoding::new(&ReadOptions::default().threads(threads).max_memory(10_000));
        let (small, large) = (chunk(100), chunk(100_000));
        // The large one comes to another slot each time.
        let mut chunks =
            (0..200).map(|n: usize| if n % 7 == n / 7 % 7 { large.clone() } else { small.clone() });
        while decoding.next(&mut || Ok(chunks.next())).unwrap().is_some() {
            let held: usize = decoding.slots.iter().map(|slot| slot.data.capacity()).sum();
            assert!(held <= 110_000, "{held}");
        }
    }
}
