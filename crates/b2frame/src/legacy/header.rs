//! The headers of the older layouts, checked and converted to today's.

use core::num::NonZeroU32;

use zerocopy::FromBytes as _;

use super::raw::{RawBase, RawPipeline};
use super::{FrameLayout, OlderCorrupt, swap};
use crate::error::{Corrupt, Error, Result};
use crate::header::{
    ChunkSize, FrameHeader, GeneralFlags, OlderFields, expect_markers, parse_nbytes, parse_typesize,
};
use crate::metalayers::{MAX_METALAYERS, Metalayers, Section};
use crate::msgpack::{FALSE, FIXEXT16, FIXSTR, INT16, INT32, INT64, TRUE, UINT64};

/// Length of a header of beta.1 without metalayers (bytes).
const LEN_BETA1: usize = size_of::<RawBase>();
/// Position of the metalayers in later layouts (bytes).
const LEN_BETA2: usize = LEN_BETA1.saturating_add(size_of::<RawPipeline>());
/// Bytes of a section without metalayers.
const NO_META: usize = 10;
/// Shortest header with a section of metalayers (bytes).
pub(super) const MIN_BETA2: u64 = LEN_BETA2.saturating_add(NO_META) as u64;
/// First byte of a frame of beta.1 that has metalayers.
const BETA1_WITH_META: u8 = 0x9c;
/// Slots in a pipeline.
const SLOTS: usize = 6;
/// The filters, before the first chunk tells them: shuffle, the default.
const SHUFFLE: [u8; SLOTS] = [0, 0, 0, 0, 0, 1];
/// Codec id 6, which today means "look elsewhere".
const LIZARD: u8 = 6;

/// Parses the fixed part of a header.
pub(super) fn parse(layout: FrameLayout, head: &[u8], available: u64) -> Result<FrameHeader> {
    let len = if layout == FrameLayout::Beta1 { LEN_BETA1 } else { LEN_BETA2 };
    let truncated =
        || Error::corrupt(0, Corrupt::Truncated { len: len as u64, left: head.len() as u64 });
    let mut bytes = head.get(..len).ok_or_else(truncated)?.to_vec();
    if layout == FrameLayout::SwappedBeta2 {
        swap::header(&mut bytes);
    }
    let (raw, rest) = RawBase::read_from_prefix(&bytes).map_err(|_| truncated())?;
    check_markers(&raw)?;
    let (filters, filters_meta) = if layout == FrameLayout::Beta1 {
        (SHUFFLE, [0; SLOTS])
    } else {
        parse_pipeline(&RawPipeline::read_from_bytes(rest).map_err(|_| truncated())?)?
    };
    let frame_len = raw.frame_len.get();
    if frame_len > available {
        return Err(Error::corrupt(0x10, Corrupt::FrameTruncated { frame_len, available }));
    }
    // Byte 26 became the frame type late; sparse frames of that time were never in a release.
    if layout != FrameLayout::Beta1 && raw.frame_type != 0 {
        return Err(Error::UnreleasedLayout { first_byte: raw.array, flags: raw.general_flags });
    }
    Ok(FrameHeader::from_older(OlderFields {
        header_len: parse_header_len(layout, &raw)?,
        frame_len,
        flags: GeneralFlags(raw.general_flags),
        codec_and_level: raw.codec,
        udcodec: if raw.codec & 0x0f == LIZARD { LIZARD } else { 0 },
        nbytes: parse_nbytes(raw.nbytes.get())?,
        cbytes: raw.cbytes.get(),
        typesize: parse_typesize(raw.typesize.get())?,
        chunksize: parse_chunksize(&raw)?,
        threads: [raw.cthreads.get(), raw.dthreads.get()],
        has_vlmeta: layout != FrameLayout::Beta1 && raw.has_meta == TRUE,
        filters,
        filters_meta,
    }))
}

/// Parses the metalayers of a whole header.
pub(super) fn parse_meta(layout: FrameLayout, mut bytes: Vec<u8>) -> Result<Metalayers> {
    let start = if layout == FrameLayout::Beta1 { LEN_BETA1 } else { LEN_BETA2 };
    if bytes.len() == LEN_BETA1 {
        return Ok(Metalayers::default());
    }
    if layout == FrameLayout::SwappedBeta2 {
        swap::section(&mut bytes, start);
    }
    let section = Section { start, max: MAX_METALAYERS, ..Section::HEADER };
    Metalayers::parse(bytes, section)
}

/// Checks that the parts fit into the frame, one after the other.
pub(super) fn check_sections(header: &FrameHeader, trailer_len: u32) -> Result<()> {
    if header.nbytes() == 0 {
        return Ok(());
    }
    let others = u64::from(header.header_len()).saturating_add(trailer_len.into());
    let room = header.frame_len().saturating_sub(others).saturating_sub(MIN_INDEX);
    match u64::try_from(header.stored_cbytes()) {
        Ok(cbytes) if cbytes <= room => Ok(()),
        _ => Err(Error::corrupt(0x27, Corrupt::Cbytes { cbytes: header.stored_cbytes(), room })),
    }
}

/// The least length of an index chunk (bytes).
const MIN_INDEX: u64 = 32;

fn check_markers(raw: &RawBase) -> Result<()> {
    expect_markers(&[
        (0x0a, "header_len", raw.header_len_marker, INT32),
        (0x0f, "frame_len", raw.frame_len_marker, UINT64),
        (0x18, "flags", raw.flags_marker, FIXSTR | 4),
        (0x1d, "nbytes", raw.nbytes_marker, INT64),
        (0x26, "cbytes", raw.cbytes_marker, INT64),
        (0x2f, "typesize", raw.typesize_marker, INT32),
        (0x34, "chunk_size", raw.chunksize_marker, INT32),
        (0x39, "compression threads", raw.cthreads_marker, INT16),
        (0x3c, "decompression threads", raw.dthreads_marker, INT16),
        (0x3f, "has_usermeta", if raw.has_meta == FALSE { TRUE } else { raw.has_meta }, TRUE),
    ])
}

/// Older headers store filters without gaps; today they lie in the last slots.
fn parse_pipeline(raw: &RawPipeline) -> Result<([u8; SLOTS], [u8; SLOTS])> {
    expect_markers(&[(0x40, "filter pipeline", raw.marker, FIXEXT16)])?;
    let count = usize::from(raw.nfilters);
    let (Some(filters), Some(metas), Some(empty)) =
        (raw.filters.get(..count), raw.filters_meta.get(..count), SLOTS.checked_sub(count))
    else {
        return Err(Error::corrupt(0x41, Corrupt::Nfilters { nfilters: raw.nfilters }));
    };
    let last = |stored: &[u8]| {
        let mut slots = [0; SLOTS];
        slots.iter_mut().skip(empty).zip(stored).for_each(|(slot, stored)| *slot = *stored);
        slots
    };
    Ok((last(filters), last(metas)))
}

fn parse_header_len(layout: FrameLayout, raw: &RawBase) -> Result<u32> {
    let header_len = raw.header_len.get();
    let (min, max) = match (layout, raw.array) {
        (FrameLayout::Beta1, BETA1_WITH_META) => {
            (LEN_BETA1.saturating_add(NO_META) as u64, raw.frame_len.get())
        }
        (FrameLayout::Beta1, _) => (LEN_BETA1 as u64, LEN_BETA1 as u64),
        _ => (MIN_BETA2, raw.frame_len.get()),
    };
    if layout == FrameLayout::Beta1 {
        let expected = if raw.array == BETA1_WITH_META { TRUE } else { FALSE };
        if raw.has_meta != expected {
            let what = OlderCorrupt::HasMetalayers { found: raw.has_meta, expected };
            return Err(Error::corrupt(0x3f, what));
        }
    }
    match u32::try_from(header_len) {
        Ok(len) if (min..=max).contains(&len.into()) && u64::from(len) <= raw.frame_len.get() => {
            Ok(len)
        }
        _ => Err(Error::corrupt(0x0b, OlderCorrupt::HeaderLen { header_len, min, max })),
    }
}

fn parse_chunksize(raw: &RawBase) -> Result<ChunkSize> {
    let chunksize = raw.chunksize.get();
    match u32::try_from(chunksize).map(NonZeroU32::new) {
        Ok(Some(size)) => Ok(ChunkSize::Fixed(size)),
        Ok(None) if raw.nbytes.get() == 0 => Ok(ChunkSize::Unset),
        _ => Err(Error::corrupt(0x35, Corrupt::ChunkSize { chunksize })),
    }
}
