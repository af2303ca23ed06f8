//! Decodes chunks in the order of the source, several at once, in bounded memory.

use core::cell::RefCell;

use blosc_chunk::{DParams, Decoder};
use blosc_container::Budget;
use blosc_container::parallel::{Job, in_order};

use crate::batch::{Batch, SLOTS_PER_WORKER};
use crate::{Error, PackedChunk, Param, ReadOptions, Result};

/// Takes chunks from a source and returns their data: one by one with [`next`](Self::next), or all
/// with [`for_each`](Self::for_each).
#[derive(Debug)]
pub(crate) struct Decoding {
    budget: Budget,
    params: DParams,
    batch: Batch<Slot>,
    /// Slots of the batch that were returned.
    ntaken: usize,
    /// The end after the chunks of the batch.
    end: End,
}

/// A chunk, its data, and its decoder.
#[derive(Debug)]
pub(crate) struct Slot {
    decoder: Decoder,
    pub(crate) chunk: Option<PackedChunk>,
    pub(crate) data: Vec<u8>,
    error: Option<Error>,
}

#[derive(Debug)]
enum End {
    NotYet,
    Reached,
    Failed(Option<Error>),
}

/// The source of packed chunks in order; `None` after the last one.
pub(crate) type Chunks<'a> = &'a mut dyn FnMut() -> Result<Option<PackedChunk>>;

/// Takes a chunk and its data.
type Each<'a, E> = &'a mut dyn FnMut(&PackedChunk, &[u8]) -> Result<(), E>;

impl Decoding {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let (budget, params) = (options.budget.clone(), options.dparams.clone());
        let batch = Batch::new(budget.clone());
        Self { budget, params, batch, ntaken: 0, end: End::NotYet }
    }

    /// The next chunk and its data. `source` gives the packed chunks in order. Its error comes
    /// after the chunks before it, whatever the size of the batch.
    pub(crate) fn next(&mut self, source: Chunks<'_>) -> Result<Option<(&PackedChunk, &[u8])>> {
        if self.ntaken == self.batch.filled().len() {
            self.fill(source);
            self.batch.for_each(Slot::decode);
        }
        let ntaken = self.ntaken;
        let Some(slot) = self.batch.filled().get_mut(ntaken) else {
            return self.end.take().map_or(Ok(None), Err);
        };
        if let Some(error) = slot.error.take() {
            self.fail();
            return Err(error);
        }
        self.ntaken = ntaken.saturating_add(1);
        let slot = self.batch.filled().get(ntaken);
        Ok(slot.and_then(|slot| Some((slot.chunk.as_ref()?, &slot.data[..]))))
    }

    /// Passes all remaining chunks to `each`, in order, as [`next`](Self::next) does. While other
    /// threads decode, this thread takes more chunks from `source` and passes on earlier ones.
    pub(crate) fn for_each<E: From<Error>>(
        &mut self,
        source: Chunks<'_>,
        each: Each<'_, E>,
    ) -> Result<(), E> {
        // The first batch runs in the kept threads of the pool, so a short file starts no thread.
        loop {
            let Some((chunk, data)) = self.next(source)? else { return Ok(()) };
            each(chunk, data).inspect_err(|_| self.fail())?;
            let is_empty = self.ntaken == self.batch.filled().len();
            if is_empty && self.budget.nworkers() > 1 && matches!(self.end, End::NotYet) {
                break;
            }
        }
        let Self { budget, params, end, batch, .. } = self;
        let idle = batch.take_slots();
        let failed = decode_in_order(budget, params, idle, end, source, &mut |slot| match (
            slot.error.take(),
            &slot.chunk,
        ) {
            (Some(error), _) => Err(error.into()),
            (None, Some(chunk)) => each(chunk, &slot.data),
            (None, None) => Ok(()),
        });
        if let Err(error) = failed {
            self.fail();
            return Err(error);
        }
        self.end.take().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Ends the chunks.
    fn fail(&mut self) {
        self.end = End::Failed(None);
        self.batch.clear(|_, _| true);
        self.ntaken = 0;
    }

    /// Takes as many chunks as fit into a batch.
    fn fill(&mut self, source: Chunks<'_>) {
        // Drops the buffers of large chunks: together they would exceed the memory.
        self.batch.clear(|slot, share| slot.data.capacity() as u64 <= share);
        self.ntaken = 0;
        while self.batch.has_room()
            && let Some(chunk) = self.end.take_chunk(source)
        {
            let slot = || Ok::<_, Error>(Slot::new(&self.params));
            if let Ok(Some(slot)) = self.batch.add_slot(memory_nbytes(&chunk), slot) {
                slot.chunk = Some(chunk);
            }
        }
    }
}

/// Decodes all chunks of a source and passes the slots to `done` in order, with all input and
/// output in this thread. The next chunks reuse the slots.
fn decode_in_order<E>(
    budget: &Budget,
    params: &DParams,
    idle: Vec<Slot>,
    end: &mut End,
    source: Chunks<'_>,
    done: &mut dyn FnMut(&mut Slot) -> Result<(), E>,
) -> Result<(), E> {
    let idle = RefCell::new(idle);
    let share = budget.share(SLOTS_PER_WORKER as u64);
    in_order(
        budget,
        || {
            let Some(chunk) = end.take_chunk(source) else { return Ok(None) };
            let weight = memory_nbytes(&chunk);
            let mut job = idle.borrow_mut().pop().unwrap_or_else(|| Slot::new(params));
            job.chunk = Some(chunk);
            Ok(Some(Job { job, weight }))
        },
        || (),
        |(), mut slot: Slot| {
            slot.decode();
            slot
        },
        |mut slot| {
            done(&mut slot)?;
            if slot.data.capacity() as u64 <= share {
                idle.borrow_mut().push(slot);
            }
            Ok(())
        },
    )
}

/// Decodes all chunks of a source, including chunks after one that cannot be decoded.
///
/// # Errors
///
/// The error of the source, after the chunks before it.
pub(crate) fn decode_leniently(
    budget: &Budget,
    params: &DParams,
    source: Chunks<'_>,
    done: &mut dyn FnMut(u64, Result<&[u8]>),
) -> Result<()> {
    let mut end = End::NotYet;
    decode_in_order::<Error>(budget, params, vec![], &mut end, source, &mut |slot| {
        let nchunk = slot.chunk.as_ref().map_or(0, PackedChunk::nchunk);
        done(nchunk, slot.error.take().map_or(Ok(&slot.data), Err));
        Ok(())
    })?;
    end.take().map_or(Ok(()), Err)
}

impl End {
    /// The next chunk, until the end.
    fn take_chunk(&mut self, source: Chunks<'_>) -> Option<PackedChunk> {
        if !matches!(self, Self::NotYet) {
            return None;
        }
        match source() {
            Ok(Some(chunk)) => return Some(chunk),
            Ok(None) => *self = Self::Reached,
            Err(error) => *self = Self::Failed(Some(error)),
        }
        None
    }

    /// The error at this point; later calls give another one.
    fn take(&mut self) -> Option<Error> {
        match self {
            Self::Failed(error) => Some(error.take().unwrap_or(Param::AfterError.into())),
            _ => None,
        }
    }
}

impl Slot {
    fn new(params: &DParams) -> Self {
        Self { decoder: Decoder::new(params.clone()), chunk: None, data: vec![], error: None }
    }

    fn decode(&mut self) {
        let Some(chunk) = &self.chunk else { return };
        self.error = decode_into(chunk, &mut self.data, &mut self.decoder).err();
    }
}

/// Memory for a chunk and its data (bytes).
fn memory_nbytes(chunk: &PackedChunk) -> u64 {
    (chunk.header().nbytes() as u64).saturating_add(chunk.header().cbytes() as u64)
}

/// Decodes a chunk; `data` gets its size.
pub(crate) fn decode_into(
    chunk: &PackedChunk,
    data: &mut Vec<u8>,
    decoder: &mut Decoder,
) -> Result<()> {
    // Reading the header compared the size with the limits. Decoding overwrites all old content.
    let nbytes = chunk.header().nbytes();
    if data.capacity() == 0 {
        // Unlike `resize`, a fresh vector does not touch the memory.
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

    /// A packed chunk with `nbytes` bytes of data.
    fn chunk(nbytes: usize) -> PackedChunk {
        let blp = pack(&vec![7; nbytes], WriteOptions::default()).unwrap();
        Reader::new(&blp[..]).unwrap().next_chunk().unwrap().unwrap()
    }

    fn options(nthreads: usize, max_memory: u64) -> ReadOptions {
        let threads = Threads::N(NonZeroUsize::new(nthreads).unwrap());
        ReadOptions::default().budget(Budget::default().threads(threads).max_memory(max_memory))
    }

    #[test]
    fn large_chunks_do_not_leave_their_buffers_in_every_slot() {
        let mut decoding = Decoding::new(&options(4, 10_000));
        let (small, large) = (chunk(100), chunk(100_000));
        // The large chunk falls to another slot each time.
        let mut chunks =
            (0..200).map(|n: usize| if n % 7 == n / 7 % 7 { large.clone() } else { small.clone() });
        while decoding.next(&mut || Ok(chunks.next())).unwrap().is_some() {
            let slots = decoding.batch.filled().iter();
            let held: usize = slots.map(|slot| slot.data.capacity()).sum();
            assert!(held <= 110_000, "{held}");
        }
    }

    #[test]
    fn for_each_passes_on_what_next_left() {
        for (nthreads, taken, fails) in
            [(1, 0, false), (3, 0, false), (3, 5, false), (3, 5, true), (1, 5, true)]
        {
            let mut decoding = Decoding::new(&options(nthreads, 1 << 20));
            let mut left = (0..40).map(|n| chunk(n + 1));
            let mut source = || match left.next() {
                None if fails => Err(Param::AfterError.into()),
                next => Ok(next),
            };
            for n in 0..taken {
                assert_eq!(decoding.next(&mut source).unwrap().unwrap().1.len(), n + 1);
            }
            let mut lens = vec![];
            let rest = decoding.for_each::<Error>(&mut source, &mut |_, data| {
                lens.push(data.len());
                Ok(())
            });
            assert_eq!((lens, rest.is_err()), ((taken + 1..41).collect(), fails));
        }
    }

    #[test]
    fn the_caller_can_stop_with_an_error() {
        for (nthreads, last) in [(1, 11), (2, 2), (2, 11), (8, 40)] {
            let mut decoding = Decoding::new(&options(nthreads, 1 << 20));
            let mut left = (0..40).map(|n| chunk(n + 1));
            let stopped = decoding.for_each(&mut || Ok(left.next()), &mut |chunk, data| {
                assert_eq!(chunk.header().nbytes(), data.len());
                if data.len() == last { Err(Error::from(Param::AfterError)) } else { Ok(()) }
            });
            assert!(stopped.is_err() && decoding.next(&mut || Ok(None)).is_err());
        }
    }

    #[test]
    fn a_damaged_chunk_ends_the_data_unless_decoding_is_lenient() {
        let mut bytes = chunk(1000).into_bytes();
        bytes[16] = 0xff;
        let blp =
            pack(&[7; 1000], WriteOptions::default().checksum(crate::Checksum::None)).unwrap();
        let at = blp.len() - bytes.len();
        let blp = [&blp[..at], &bytes[..]].concat();
        let damaged = Reader::new(&blp[..]).unwrap().next_chunk().unwrap().unwrap();
        for nthreads in [1, 2] {
            let all = || [chunk(1), damaged.clone(), chunk(3)].into_iter();
            let (options, mut chunks, mut lens) = (options(nthreads, 1 << 20), all(), vec![]);
            let mut push = |_, data: Result<&[u8]>| lens.push(data.map(<[u8]>::len).ok());
            let source = &mut || Ok(chunks.next());
            decode_leniently(&options.budget, &options.dparams, source, &mut push).unwrap();
            assert_eq!(lens, [Some(1), None, Some(3)]);
            let (mut chunks, mut lens) = (all(), vec![]);
            let mut decoding = Decoding::new(&options);
            let ended = decoding.for_each::<Error>(&mut || Ok(chunks.next()), &mut |_, data| {
                lens.push(data.len());
                Ok(())
            });
            assert!(matches!(ended, Err(Error::Chunk { .. })));
            assert_eq!(lens, [1]);
        }
    }
}
