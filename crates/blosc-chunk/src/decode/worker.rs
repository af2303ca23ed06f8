//! Decoding in one thread: the streams of a block through the codec, then the filters backward.
//!
//! [`Worker::decode_block`] defines the content of a block. The other modules reach the same bytes
//! faster: [`planes`] for shuffled blocks whose streams are byte planes, [`slice`](super::slice)
//! for a part of a block, [`shared`](super::shared) for several threads.

use core::ops::Range;

use blosc_codecs::StreamDecoder;
use blosc_filters::{FilterCx, Reference, internal::StoreHint};

use super::decoders::CachedDecoder;
use super::{Job, planes};
use crate::error::{Error, Result};
use crate::hooks::HookWorker;
use crate::layout::{Layout, Split};
use crate::memory;
use crate::source::{Blocks, StoredBlock};
use crate::stream::{Payload, Streams};
use crate::vl;

/// The buffers and the decoder of one thread.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    decoder: Option<CachedDecoder>,
    /// The output of the codec for a block, before the filters.
    pub(super) filtered: Vec<u8>,
    /// A block that is requested in part.
    pub(super) block: Vec<u8>,
    pub(super) hooked: Hooked,
}

/// Blocks that pass through a postfilter.
#[derive(Debug, Default)]
pub(super) struct Hooked {
    pub(super) hook: HookWorker,
    pub(super) input: Vec<u8>,
    /// A block that is requested in part.
    pub(super) output: Vec<u8>,
}

impl Worker {
    /// Decodes a block; `dest` is as long: every stream, then the filters backward. The output does
    /// not depend on `cx.stores`.
    fn decode_block<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        block: StoredBlock<'_>,
        cx: &FilterCx<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        if job.undo.is_nothing() {
            return self.decode_streams(job, block, dest, cx.stores);
        }
        job.params.limits.check_nbytes(dest.len())?;
        let mut filtered = core::mem::take(&mut self.filtered);
        let src = resized(&mut filtered, dest.len())?;
        let result = if planes::are_streams(job, block, dest.len()) {
            self.unshuffle_streams(job, block, cx, (src, dest))
        } else {
            self.decode_streams(job, block, src, StoreHint::Cached)
                .and_then(|()| Ok(job.undo.apply(cx, src, dest)?))
        };
        self.filtered = filtered;
        result
    }

    /// Finds a block in the chunk and decodes it. Errors have the block's number and offset.
    pub(super) fn read_block<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
        stores: StoreHint,
    ) -> Result<()> {
        let block = job.blocks.block(nblock)?;
        let cx = job.filter_cx(reference, stores);
        self.decode_block(job, block, &cx, dest).map_err(|error| error.in_block(nblock, block.at))
    }

    /// Decodes the streams of a block.
    pub(super) fn decode_streams<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        block: StoredBlock<'_>,
        dest: &mut [u8],
        stores: StoreHint,
    ) -> Result<()> {
        self.decode_spans(job, block, dest, stores, |stream| 0..stream.len())
    }

    /// Decodes the `span` of each stream of a block. A stream is given as its range of the block,
    /// and its span counts from the start of the stream.
    #[inline]
    pub(super) fn decode_spans<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        block: StoredBlock<'_>,
        dest: &mut [u8],
        stores: StoreHint,
        span: impl Fn(Range<usize>) -> Range<usize>,
    ) -> Result<()> {
        let layout = job.blocks.layout();
        if layout.header.is_vl() {
            let (payload, span) = (vl::payload(block.bytes, dest.len()), span(0..dest.len()));
            return self.decode_stream(job, (payload, block.at), dest, span, stores);
        }
        let mut streams = block.streams(layout);
        let nstreams = nstreams(layout, &streams, block.bytes.len(), dest.len());
        let len = dest.len() / nstreams;
        if nstreams == 1 {
            let (at, payload) = (streams.at, streams.next(len)?);
            return self.decode_stream(job, (payload, at), dest, span(0..len), stores);
        }
        for (n, part) in dest.chunks_exact_mut(len.max(1)).enumerate() {
            let (at, payload) = (streams.at, streams.next(len)?);
            self.decode_stream(job, (payload, at), part, span(n * len..(n + 1) * len), stores)?;
        }
        Ok(())
    }

    /// Decodes `span` of a stream, whose size field is at offset `at` of the chunk.
    pub(super) fn decode_stream<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        (payload, at): (Payload<'_>, usize),
        dest: &mut [u8],
        span: Range<usize>,
        stores: StoreHint,
    ) -> Result<()> {
        let simd = job.params.registries.simd;
        match payload {
            Payload::Stored(data) => stores.copy(simd, &data[span.clone()], &mut dest[span]),
            Payload::Run(value) => stores.fill(simd, value, &mut dest[span]),
            Payload::Coded(_) if span.is_empty() => {}
            Payload::Coded(coded) => {
                let decoder = self.decoder(job)?;
                let result = match stores {
                    _ if span.end < dest.len() => decoder.decode_prefix(coded, dest, span.end),
                    StoreHint::Cached | StoreHint::OuterCache => decoder.decode(coded, dest),
                    StoreHint::NonTemporal => decoder.decode_uncached(coded, dest),
                };
                result.map_err(|source| Error::Codec { at: at as u64, source })?;
            }
        }
        Ok(())
    }

    /// The decoder of the last chunk, if this one needs the same.
    fn decoder<B: Blocks>(&mut self, job: &Job<'_, B>) -> Result<&mut dyn StreamDecoder> {
        let dict = job.blocks.dict();
        self.decoder.take_if(|cached| !cached.suits(job.key, dict));
        let cached = match &mut self.decoder {
            Some(cached) => cached,
            none => none.insert(CachedDecoder::new(job.key, dict, job.params)?),
        };
        Ok(&mut *cached.decoder)
    }
}

/// Number of streams of a block of `len` bytes.
pub(crate) fn nstreams(layout: &Layout, streams: &Streams<'_>, extent: usize, len: usize) -> usize {
    if layout.is_leftover(len) {
        return 1;
    }
    match layout.split {
        Split::No => 1,
        Split::Yes => layout.header.typesize(),
        Split::ByExtent => {
            let csize = streams.peek_csize().and_then(|csize| usize::try_from(csize).ok());
            if csize.and_then(|csize| csize.checked_add(4)) == Some(extent) {
                1
            } else {
                layout.header.typesize()
            }
        }
    }
}

/// The first `len` bytes of a buffer that only grows.
pub(super) fn resized(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        memory::resize(buffer, len)?;
    }
    Ok(&mut buffer[..len])
}
