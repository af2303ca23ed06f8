//! Decodes chunks in the order in which they come, several at once, in bounded memory.

use blosc_chunk::{DParams, Decoder};

use crate::team::Team;
use crate::{Error, PackedChunk, Param, ReadOptions, Result};

/// Chunks taken from a source and decoded, not all of them handed out yet.
#[derive(Debug)]
pub(crate) struct Decoding {
    team: Team,
    params: DParams,
    batch: Batch,
    /// Slots that were handed out.
    taken: usize,
    /// What came after the chunks in the slots.
    end: End,
    /// Whether chunks are handed out after one that could not be decoded.
    lenient: bool,
}

/// Chunks that are decoded together.
#[derive(Debug, Default)]
struct Batch {
    /// Each with buffers of its own, which are used again.
    slots: Vec<Slot>,
    /// Slots that hold a chunk.
    filled: usize,
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

/// The packed chunks in order; none after the last one.
type Chunks<'a> = &'a mut dyn FnMut() -> Result<Option<PackedChunk>>;

/// Takes a chunk and its data.
type Each<'a, E> = &'a mut dyn FnMut(&PackedChunk, &[u8]) -> Result<(), E>;

impl Decoding {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let team = Team::new(options.threads, options.max_memory);
        let params = options.dparams.clone();
        Self { team, params, batch: Batch::default(), taken: 0, end: End::NotYet, lenient: false }
    }

    /// The same, but chunks after one that cannot be decoded are handed out too.
    pub(crate) fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }

    /// The next chunk and its data. `source` gives the packed chunks in order; an error of it comes
    /// after the chunks before it, however many were taken together.
    pub(crate) fn next(&mut self, source: Chunks<'_>) -> Result<Option<(&PackedChunk, &[u8])>> {
        if self.taken == self.batch.filled {
            self.batch.fill(&self.params, self.team, &mut self.end, source);
            self.taken = 0;
            self.team.each(self.batch.filled(), Slot::decode);
        }
        let Some(slot) = self.batch.filled().get_mut(self.taken) else {
            return self.end.take().map_or(Ok(None), Err);
        };
        self.taken += 1;
        if let Some(error) = slot.error.take() {
            if !self.lenient {
                self.end = End::Failed(None);
                self.batch.filled = self.taken;
            }
            return Err(error);
        }
        let slot = &self.batch.slots[self.taken - 1];
        Ok(slot.chunk.as_ref().map(|chunk| (chunk, &slot.data[..])))
    }

    /// Hands all chunks that are left to `each`, in order, as [`next`](Self::next) does. While some
    /// are decoded, those before them are handed out and those behind them are taken from
    /// `source`, in this thread.
    pub(crate) fn rest<E: From<Error>>(
        &mut self,
        source: Chunks<'_>,
        each: Each<'_, E>,
    ) -> Result<(), E> {
        while self.taken < self.batch.filled || !self.team.is_several() {
            let Some((chunk, data)) = self.next(source)? else { return Ok(()) };
            each(chunk, data)?;
        }
        let team = self.team.half();
        let (mut decoded, mut packed) = (core::mem::take(&mut self.batch), Batch::default());
        decoded.filled = 0;
        self.taken = 0;
        loop {
            let Self { params, end, .. } = self;
            let handed = team.each_while(packed.filled(), Slot::decode, || {
                decoded.hand_out(each)?;
                decoded.fill(params, team, end, source);
                Ok::<(), E>(())
            });
            if let Err(error) = handed {
                self.end = End::Failed(None);
                return Err(error);
            }
            if decoded.filled + packed.filled == 0 {
                return self.end.take().map_or(Ok(()), |error| Err(error.into()));
            }
            core::mem::swap(&mut decoded, &mut packed);
        }
    }
}

impl End {
    /// The error that comes here; after it, there is another one.
    fn take(&mut self) -> Option<Error> {
        match self {
            Self::Failed(error) => Some(error.take().unwrap_or(Param::AfterError.into())),
            _ => None,
        }
    }
}

impl Batch {
    /// Takes as many chunks as the team decodes together.
    fn fill(&mut self, params: &DParams, team: Team, end: &mut End, source: Chunks<'_>) {
        // With buffers that large chunks have left behind in every slot, they would be too much.
        self.slots.retain(|slot| slot.data.capacity() as u64 <= team.share());
        self.filled = 0;
        let mut bytes = 0;
        while team.takes_more(self.filled, bytes) && matches!(end, End::NotYet) {
            match source() {
                Ok(Some(chunk)) => {
                    bytes += (chunk.header().nbytes() + chunk.header().cbytes()) as u64;
                    self.put(params, chunk);
                }
                Ok(None) => *end = End::Reached,
                Err(error) => *end = End::Failed(Some(error)),
            }
        }
    }

    fn put(&mut self, params: &DParams, chunk: PackedChunk) {
        if self.slots.len() == self.filled {
            self.slots.push(Slot { decoder: Decoder::new(params.clone()), ..Slot::default() });
        }
        self.slots[self.filled].chunk = Some(chunk);
        self.filled += 1;
    }

    fn filled(&mut self) -> &mut [Slot] {
        &mut self.slots[..self.filled]
    }

    /// Hands out what was decoded.
    fn hand_out<E: From<Error>>(&mut self, each: Each<'_, E>) -> Result<(), E> {
        for slot in self.filled() {
            if let Some(error) = slot.error.take() {
                return Err(error.into());
            }
            if let Some(chunk) = &slot.chunk {
                each(chunk, &slot.data)?;
            }
        }
        Ok(())
    }
}

impl Slot {
    fn decode(&mut self) {
        let Some(chunk) = &self.chunk else { return };
        self.error = decode_into(chunk, &mut self.data, &mut self.decoder).err();
    }
}

/// Decodes a chunk; `data` gets its size.
pub(crate) fn decode_into(
    chunk: &PackedChunk,
    data: &mut Vec<u8>,
    decoder: &mut Decoder,
) -> Result<()> {
    // The size was compared with the limits when the header of the chunk was read. All of what was
    // there is overwritten.
    let nbytes = chunk.header().nbytes();
    if data.capacity() == 0 {
        // Unlike `resize`, this does not touch it.
        *data = vec![0; nbytes];
    }
    data.resize(nbytes, 0);
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
        let mut decoding =
            Decoding::new(&ReadOptions::default().threads(threads).max_memory(10_000));
        let (small, large) = (chunk(100), chunk(100_000));
        // The large one comes to another slot each time.
        let mut chunks =
            (0..200).map(|n: usize| if n % 7 == n / 7 % 7 { large.clone() } else { small.clone() });
        while decoding.next(&mut || Ok(chunks.next())).unwrap().is_some() {
            let held: usize = decoding.batch.slots.iter().map(|slot| slot.data.capacity()).sum();
            assert!(held <= 110_000, "{held}");
        }
    }

    #[test]
    fn the_rest_is_what_comes_one_by_one() {
        let several = Threads::N(NonZeroUsize::new(3).unwrap());
        for (threads, taken, fails) in
            [(Threads::One, 0, false), (several, 0, false), (several, 5, false), (several, 5, true)]
        {
            let mut decoding = Decoding::new(&ReadOptions::default().threads(threads));
            let mut left = (0..40).map(|n| chunk(n + 1));
            let mut source = || match left.next() {
                None if fails => Err(Param::AfterError.into()),
                next => Ok(next),
            };
            for n in 0..taken {
                assert_eq!(decoding.next(&mut source).unwrap().unwrap().1.len(), n + 1);
            }
            let mut lens = vec![];
            let rest = decoding.rest::<Error>(&mut source, &mut |_, data| {
                lens.push(data.len());
                Ok(())
            });
            assert_eq!((lens, rest.is_err()), ((taken + 1..41).collect(), fails));
        }
    }

    #[test]
    fn whoever_takes_chunks_can_stop() {
        let mut decoding = Decoding::new(&ReadOptions::default());
        let mut left = (0..40).map(|n| chunk(n + 1));
        let stopped = decoding.rest(&mut || Ok(left.next()), &mut |chunk, data| {
            assert_eq!(chunk.header().nbytes(), data.len());
            if data.len() == 11 { Err(Error::from(Param::AfterError)) } else { Ok(()) }
        });
        assert!(stopped.is_err() && decoding.next(&mut || Ok(None)).is_err());
    }
}
