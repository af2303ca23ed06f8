//! One thread's part: the streams of a block, the codec, and the filters backward.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use blosc_codecs::{CodecId, DecodeOptions, FormatId, StreamDecoder};
use blosc_filters::{FilterCx, FilterId, FilterSlot, Reference, Stores, unshuffle_planes};

use super::Job;
use super::slice::Slice;
use crate::jobs::{self, Later, for_each};
use crate::layout::{Layout, Split};
use crate::source::Blocks;
use crate::stream::{Payload, Streams};
use crate::{ChunkHeader, DParams, Error, Result, vl};

/// The buffers and the decoder of one thread.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    decoder: Option<Cached>,
    /// A block as the codec gives it, before the filters.
    filtered: Vec<u8>,
    /// A block of which only a part is wanted.
    block: Vec<u8>,
}

impl Worker {
    /// Decodes a block of which only `part` is wanted.
    pub(super) fn read_part<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        reference: Reference<'_>,
        part: &Range<usize>,
        dest: &mut [u8],
    ) -> Result<()> {
        let nbytes = job.map.range(nblock).len();
        let cx = job.filter_cx(reference, Stores::Plain);
        if let Some(slice) = Slice::new(&job.undo, &cx, nbytes, part) {
            let mut filtered = core::mem::take(&mut self.filtered);
            let result =
                self.read_slice(job, nblock, &cx, &slice, room(&mut filtered, nbytes), dest);
            self.filtered = filtered;
            return result;
        }
        let mut block = core::mem::take(&mut self.block);
        let result =
            self.read_block(job, nblock, reference, room(&mut block, nbytes), Stores::Plain);
        if result.is_ok() {
            dest.copy_from_slice(&block[part.clone()]);
        }
        self.block = block;
        result
    }

    /// Decodes no more of a block than it takes for a part. There is room for all of it in
    /// `filtered`.
    fn read_slice<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        cx: &FilterCx<'_>,
        slice: &Slice,
        filtered: &mut [u8],
        dest: &mut [u8],
    ) -> Result<()> {
        let (bytes, at) = job.blocks.block(nblock)?;
        let result = self.read_streams(job, bytes, at, filtered, Some(slice), Stores::Plain);
        result.map_err(|error| error.in_block(nblock, at))?;
        if job.undo.is_nothing() {
            slice.gather(filtered, dest);
            return Ok(());
        }
        let (planes, plain) =
            room(&mut self.block, 2 * slice.nbytes()).split_at_mut(slice.nbytes());
        slice.gather(filtered, planes);
        let result = job.undo.apply(cx, planes, plain);
        result.map_err(|source| Error::from(source).in_block(nblock, at))?;
        dest.copy_from_slice(&plain[slice.part()]);
        Ok(())
    }

    /// Decodes a block, which `dest` is as long as.
    pub(super) fn read_block<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
        stores: Stores,
    ) -> Result<()> {
        let (bytes, at) = job.blocks.block(nblock)?;
        let cx = job.filter_cx(reference, stores);
        self.undo(job, bytes, at, &cx, dest).map_err(|error| error.in_block(nblock, at))
    }

    fn undo<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        bytes: &[u8],
        at: usize,
        cx: &FilterCx<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        if job.undo.is_nothing() {
            return self.read_streams(job, bytes, at, dest, None, cx.stores);
        }
        job.params.limits.check_nbytes(dest.len())?;
        let mut filtered = core::mem::take(&mut self.filtered);
        let src = room(&mut filtered, dest.len());
        let result = if is_in_planes(job, bytes, at, dest.len()) {
            self.unshuffle_planes(job, bytes, at, cx, (src, dest))
        } else {
            self.read_streams(job, bytes, at, src, None, Stores::Plain)
                .and_then(|()| Ok(job.undo.apply(cx, src, dest)?))
        };
        self.filtered = filtered;
        result
    }

    /// Undoes a shuffle whose planes are streams: stored ones from where they are, while others are
    /// decoded to `filtered`.
    fn unshuffle_planes<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        bytes: &[u8],
        at: usize,
        cx: &FilterCx<'_>,
        (filtered, dest): (&mut [u8], &mut [u8]),
    ) -> Result<()> {
        let mut planes: [&[u8]; MOST_PLANES] = [&[]; MOST_PLANES];
        let typesize = job.blocks.layout().header.typesize();
        if self.read_planes(job, bytes, at, filtered, &mut planes[..typesize])? {
            unshuffle_planes(cx.simd, cx.stores, &planes[..typesize], dest);
            return Ok(());
        }
        Ok(job.undo.apply(cx, filtered, dest)?)
    }

    /// The planes of a shuffle that are streams; returns whether one of them is where it is stored.
    /// The others are decoded to `filtered`.
    fn read_planes<'p, B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        bytes: &'p [u8],
        at: usize,
        filtered: &'p mut [u8],
        planes: &mut [&'p [u8]],
    ) -> Result<bool> {
        let mut streams = Streams::new(bytes, at, job.blocks.layout().header.version() > 2);
        let (width, mut is_any_stored) = (filtered.len() / planes.len(), false);
        for (plane, part) in planes.iter_mut().zip(filtered.chunks_exact_mut(width)) {
            let at = streams.at;
            let payload = streams.next(width)?;
            is_any_stored |= matches!(payload, Payload::Stored(_));
            *plane = self.read_plane(job, payload, at, part)?;
        }
        Ok(is_any_stored)
    }

    /// Decodes a block but for its shuffle, and shows the planes; false if it is not in planes.
    pub(super) fn show_planes<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        show: impl FnOnce(&[&[u8]]),
    ) -> Result<bool> {
        let (nbytes, typesize) =
            (job.map.range(nblock).len(), job.blocks.layout().header.typesize());
        let is_shuffled = job.undo.only() == Some(SHUFFLE) && (2..=MOST_PLANES).contains(&typesize);
        if !is_shuffled || nbytes == 0 || !nbytes.is_multiple_of(typesize) {
            return Ok(false);
        }
        job.params.limits.check_nbytes(nbytes)?;
        let (bytes, at) = job.blocks.block(nblock)?;
        let mut filtered = core::mem::take(&mut self.filtered);
        let src = room(&mut filtered, nbytes);
        let mut planes: [&[u8]; MOST_PLANES] = [&[]; MOST_PLANES];
        let planes = &mut planes[..typesize];
        let result = if is_in_planes(job, bytes, at, nbytes) {
            self.read_planes(job, bytes, at, src, planes).map(drop)
        } else {
            self.read_streams(job, bytes, at, src, None, Stores::Plain).map(|()| {
                planes
                    .iter_mut()
                    .zip(src.chunks_exact(nbytes / typesize))
                    .for_each(|(to, from)| *to = from);
            })
        };
        if result.is_ok() {
            show(planes);
        }
        self.filtered = filtered;
        result.map(|()| true).map_err(|error| error.in_block(nblock, at))
    }

    /// A plane: where it is if it is stored, or else decoded to `plane`.
    #[inline]
    fn read_plane<'p, B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        payload: Payload<'p>,
        at: usize,
        plane: &'p mut [u8],
    ) -> Result<&'p [u8]> {
        if let Payload::Stored(plain) = payload {
            return Ok(plain);
        }
        let all = 0..plane.len();
        self.read_payload(job, payload, at, plane, all, Stores::Plain)?;
        Ok(plane)
    }

    /// Decodes the streams of a block, or of a slice of it no more than it takes.
    fn read_streams<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        bytes: &[u8],
        at: usize,
        dest: &mut [u8],
        slice: Option<&Slice>,
        stores: Stores,
    ) -> Result<()> {
        let layout = job.blocks.layout();
        let span =
            |stream: Range<usize>| slice.map_or(0..stream.len(), |slice| slice.span(&stream));
        if layout.header.is_vl() {
            let span = span(0..dest.len());
            return self.read_payload(job, vl::payload(bytes, dest.len()), at, dest, span, stores);
        }
        let mut streams = Streams::new(bytes, at, layout.header.version() > 2);
        let nstreams = nstreams(layout, &streams, bytes.len(), dest.len());
        if nstreams == 1 {
            let span = span(0..dest.len());
            let payload = streams.next(dest.len())?;
            return self.read_payload(job, payload, at, dest, span, stores);
        }
        let len = dest.len() / nstreams;
        let (mut rest, mut start) = (dest, 0);
        for _ in 0..nstreams {
            let (part, behind) = rest.split_at_mut(len);
            rest = behind;
            let at = streams.at;
            let payload = streams.next(len)?;
            self.read_payload(job, payload, at, part, span(start..start + len), stores)?;
            start += len;
        }
        Ok(())
    }

    /// Decodes a stream, of which only `span` is wanted.
    fn read_payload<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        payload: Payload<'_>,
        at: usize,
        dest: &mut [u8],
        span: Range<usize>,
        stores: Stores,
    ) -> Result<()> {
        let simd = job.params.registries.simd;
        match payload {
            Payload::Stored(plain) => stores.copy(simd, &plain[span.clone()], &mut dest[span]),
            Payload::Run(value) => stores.fill(simd, value, &mut dest[span]),
            Payload::Coded(_) if span.is_empty() => {}
            Payload::Coded(coded) => {
                let decoder = self.decoder(job)?;
                let result = match stores {
                    _ if span.end < dest.len() => decoder.decode_prefix(coded, dest, span.end),
                    Stores::Plain | Stores::Outer => decoder.decode(coded, dest),
                    Stores::Streaming => decoder.decode_uncached(coded, dest),
                };
                result.map_err(|source| Error::Codec { at: at as u64, source })?;
            }
        }
        Ok(())
    }

    /// The decoder of the last chunk, if this one wants the same.
    fn decoder<B: Blocks>(&mut self, job: &Job<'_, B>) -> Result<&mut dyn StreamDecoder> {
        let dict = job.blocks.dict();
        self.decoder.take_if(|cached| !cached.suits(job.key, dict));
        let cached = match &mut self.decoder {
            Some(cached) => cached,
            none => none.insert(Cached::new(job.key, dict, job.params)?),
        };
        Ok(&mut *cached.decoder)
    }
}

/// Whether a block of `len` bytes is shuffled and nothing else, and each of its planes is a stream.
fn is_in_planes<B: Blocks>(job: &Job<'_, B>, bytes: &[u8], at: usize, len: usize) -> bool {
    let layout = job.blocks.layout();
    let streams = Streams::new(bytes, at, layout.header.version() > 2);
    let nplanes = layout.header.typesize();
    (2..=MOST_PLANES).contains(&nplanes)
        && len > 0
        && len.is_multiple_of(nplanes)
        && !layout.header.is_vl()
        && nstreams(layout, &streams, bytes.len(), len) == nplanes
        && job.undo.only() == Some(SHUFFLE)
}

/// Decodes the block of a chunk that has only one, which is split. The streams are shared among
/// several threads.
pub(super) fn read_split_block<B: Blocks>(
    job: &Job<'_, B>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    dest: &mut [u8],
) -> Result<()> {
    let (bytes, at) = job.blocks.block(0)?;
    let in_block = |error: Error| error.in_block(0, at);
    let streams = Streams::new(bytes, at, job.blocks.layout().header.version() > 2);
    if job.undo.is_nothing() {
        return read_streams_apart(job, jobs, workers, streams, dest, job.stores())
            .map_err(in_block);
    }
    job.params.limits.check_nbytes(dest.len()).map_err(in_block)?;
    let mut filtered = core::mem::take(&mut jobs::first(workers).filtered);
    let src = room(&mut filtered, dest.len());
    let result = if job.undo.only() == Some(SHUFFLE) {
        unshuffle_apart(job, jobs, workers, streams, (src, dest))
    } else {
        let cx = job.filter_cx(Reference::FirstBlock, job.stores());
        read_streams_apart(job, jobs, workers, streams, src, Stores::Plain)
            .and_then(|()| Ok(job.undo.apply(&cx, src, dest)?))
    };
    jobs::first(workers).filtered = filtered;
    result.map_err(in_block)
}

fn read_streams_apart<B: Blocks>(
    job: &Job<'_, B>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    mut streams: Streams<'_>,
    dest: &mut [u8],
    stores: Stores,
) -> Result<()> {
    let len = dest.len() / job.blocks.layout().header.typesize();
    let parts = dest.chunks_exact_mut(len).map(|part| (streams.at, streams.next(len), part));
    for_each(jobs, workers, parts, |worker, (at, payload, part)| {
        worker.read_payload(job, payload?, at, part, 0..len, stores)
    })
}

/// A part of the work on a block that is shuffled.
enum Step<'a> {
    /// To decode a stream.
    Decode {
        at: usize,
        payload: Result<Payload<'a>>,
        plane: &'a mut [u8],
        decoded: &'a Later<&'a [u8]>,
    },
    /// To put items together from the first bytes on of all planes.
    Unshuffle { first: usize, items: &'a mut [u8] },
}

/// The filter is shared among the threads as well: each undoes it for some items at a time.
fn unshuffle_apart<'a, B: Blocks>(
    job: &Job<'_, B>,
    jobs: usize,
    workers: &mut Vec<Worker>,
    mut streams: Streams<'a>,
    (filtered, dest): (&'a mut [u8], &'a mut [u8]),
) -> Result<()> {
    let typesize = job.blocks.layout().header.typesize();
    let part = (dest.len() / jobs / SHARES).clamp(LEAST_PART, MOST_PART);
    let (width, nitems) = (filtered.len() / typesize, part / typesize);
    let planes: Vec<_> = (0..typesize).map(|_| Later::default()).collect();
    let decode = filtered.chunks_exact_mut(width).zip(&planes).map(|(plane, decoded)| {
        let at = streams.at;
        Step::Decode { at, payload: streams.next(width), plane, decoded }
    });
    let unshuffle = dest.chunks_mut(nitems * typesize).enumerate();
    let unshuffle = unshuffle.map(|(n, items)| Step::Unshuffle { first: n * nitems, items });
    for_each(jobs, workers, decode.chain(unshuffle), |worker, step| match step {
        Step::Decode { at, payload, plane, decoded } => {
            decoded.set(|| worker.read_plane(job, payload?, at, plane))
        }
        Step::Unshuffle { first, items } => {
            let range = first..first + items.len() / typesize;
            let planes = planes.iter().map(|plane| Some(&plane.wait()?[range.clone()]));
            // The error of whoever decodes a plane counts.
            let Some(planes) = planes.collect::<Option<Vec<_>>>() else { return Ok(()) };
            unshuffle_planes(job.params.registries.simd, job.stores(), &planes, items);
            Ok(())
        }
    })
}

/// The filter whose planes are streams.
const SHUFFLE: FilterSlot = FilterSlot { id: FilterId::SHUFFLE, meta: 0 };
/// Blocks of longer items are not split.
const MOST_PLANES: usize = 16;

/// Bytes of data for which a shuffle is undone at a time.
const LEAST_PART: usize = 64 << 10;
const MOST_PART: usize = 256 << 10;
/// Parts for each thread, as long as they are not too short.
const SHARES: usize = 8;

/// What a decoder depends on, but for the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DecoderKey {
    format: FormatId,
    codec: CodecId,
    meta: u8,
    typesize: u8,
    is_blosc1: bool,
    is_extended: bool,
}

impl DecoderKey {
    pub(super) fn new(header: &ChunkHeader) -> Self {
        Self {
            format: header.format(),
            codec: header.codec_id(),
            meta: header.codec_meta(),
            typesize: header.raw().typesize,
            is_blosc1: header.version() == 2,
            is_extended: header.is_extended(),
        }
    }

    /// Bytes of data that are worth a thread of their own: those of some 50 us.
    pub(super) const fn least(self) -> usize {
        match self.format {
            FormatId::BLOSCLZ | FormatId::LZ4 => 512 << 10,
            _ => 128 << 10,
        }
    }
}

/// A decoder and what it was made for.
struct Cached {
    key: DecoderKey,
    dict: Option<Arc<[u8]>>,
    decoder: Box<dyn StreamDecoder>,
}

impl Cached {
    fn new(key: DecoderKey, dict: Option<&[u8]>, params: &DParams) -> Result<Self> {
        let DecoderKey { format, codec, meta, typesize, .. } = key;
        let unknown = |source| Error::UnknownCodec { format, id: codec, source };
        let registry = &params.registries.codecs;
        let found = match format {
            // No C-Blosc2 has Snappy: what stands there is something else.
            FormatId::SNAPPY if !key.is_blosc1 => {
                return Err(unknown(blosc_codecs::Error::UnknownFormat { format }));
            }
            FormatId::USER if key.is_extended => registry.require(codec),
            _ => registry.require_format(format),
        };
        let found = found.map_err(unknown)?;
        // Codecs without dictionaries ignore one, as C-Blosc2 does.
        let dict = dict.filter(|_| found.has_dict());
        let options = DecodeOptions {
            meta,
            typesize: typesize.into(),
            dict,
            blockshape: params.blockshape.as_deref(),
        };
        let decoder =
            found.new_decoder(&options).map_err(|source| Error::Codec { at: 0, source })?;
        Ok(Self { key, dict: dict.map(Arc::from), decoder })
    }

    fn suits(&self, key: DecoderKey, dict: Option<&[u8]>) -> bool {
        self.key == key && self.dict.as_deref() == dict
    }
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cached").field(&self.key).finish()
    }
}

/// How many streams a block of `len` bytes has.
pub(crate) fn nstreams(layout: &Layout, streams: &Streams<'_>, extent: usize, len: usize) -> usize {
    if layout.is_leftover(len) {
        return 1;
    }
    match layout.split {
        Split::No => 1,
        Split::Yes => layout.header.typesize(),
        Split::ByExtent => {
            let one = streams.peek_csize().and_then(|csize| usize::try_from(csize).ok());
            if one.and_then(|csize| csize.checked_add(4)) == Some(extent) {
                1
            } else {
                layout.header.typesize()
            }
        }
    }
}

/// The first `len` bytes of a buffer that only grows.
fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}
