//! Another header for the same streams (both forms of "Header" in the format document).
//!
//! Blosc 1 and Blosc2 differ in the header and in a few rules of the body. If a chunk follows the
//! rules of both, it only needs the header of the other one, and block starts that are moved by the
//! difference of the headers.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "the chunk and its block starts were checked"
)]

mod detach;

use blosc_filters::FilterId;

use crate::blocksize::splits_in_blosc1;
use crate::chunk::Chunk;
use crate::chunk::block::StreamKind;
use crate::error::{Corrupt, Error, Param, Result};
use crate::flags::{Blosc2Flags, Flags};
use crate::header::{ChunkHeader, Kind, MAX_BLOCKSIZE_2, field};
use crate::memory;
use crate::params::{CParams, Dict, Target};
use crate::raw::RawExtension;
use crate::special::SpecialKind;

pub use detach::detach_from_schunk;

/// Rewrites the header of a chunk for other readers. Nothing is decoded, and the streams stay the
/// same.
///
/// Nearly every chunk of Blosc 1 can become one of Blosc2. For the reverse, a chunk must not have
/// features that Blosc 1 lacks: runs, dictionaries, several filters, another rule for splitting.
/// After an [`Error::Param`], decode the chunk and compress it again.
///
/// ```
/// use blosc_chunk::transcode::transcode_header;
/// use blosc_chunk::{CParams, ChunkHeader, Target, compress, decompress};
///
/// let data: Vec<u8> = (0..20_000u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect();
/// let old = compress(&data, &CParams::default().typesize(4).target(Target::Blosc1_14))?;
/// let new = transcode_header(&old, Target::Blosc2_0)?;
/// assert_eq!(ChunkHeader::parse(&new)?.version(), 5);
/// assert_eq!(decompress(&new)?, data);
/// assert_eq!(transcode_header(&new, Target::Blosc1_14)?, old);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`] if the target has no chunks of this kind, [`Error::UnknownCodec`] and
/// [`Error::UnknownFilter`] if this crate lacks them, and [`Error::Corrupt`] if the blocks are
/// damaged.
pub fn transcode_header(bytes: &[u8], target: Target) -> Result<Vec<u8>> {
    let chunk = Chunk::parse(bytes)?;
    let header = match chunk.header().kind() {
        _ if chunk.header().nbytes() == 0 => stored(&chunk, target),
        Kind::Memcpyed | Kind::Empty => stored(&chunk, target),
        Kind::Special(kind) => special(&chunk, kind, target)?,
        Kind::Vl => vl(&chunk, target)?,
        Kind::Regular => regular(&chunk, target)?,
    };
    let bytes = assemble(&chunk, header)?;
    // The block size rounded to whole items, as in some versions of C-Blosc2, may fit as well.
    let is_regular = chunk.header().kind() == Kind::Regular;
    if is_regular && Chunk::parse(&bytes)?.layout().grid != chunk.layout().grid {
        return Err(Error::Param(Param::ForTarget { what: "a block size in doubt", target }));
    }
    Ok(bytes)
}

/// The header of stored data; readers ignore its codec and filters.
fn stored(chunk: &Chunk<'_>, target: Target) -> ChunkHeader {
    let header = chunk.header();
    let flags =
        if target.is_blosc1() { Flags::MEMCPYED } else { Flags::EXTENDED | Flags::MEMCPYED };
    let blocksize = header.blocksize().min(header.nbytes());
    common_fields(header, target).with_flags(Flags(flags)).with_blocksize(blocksize)
}

fn special(chunk: &Chunk<'_>, kind: SpecialKind, target: Target) -> Result<ChunkHeader> {
    let header = chunk.header();
    let refuse = |what| Err(Error::Param(Param::ForTarget { what, target }));
    let is_old = target < Target::Blosc3_0;
    match kind {
        _ if target.is_blosc1() => refuse("special chunks"),
        SpecialKind::Value if is_old && header.value_len() > 255 => {
            refuse("values wider than 255 bytes")
        }
        SpecialKind::Zeros if is_old && !header.nbytes().is_multiple_of(header.typesize()) => {
            refuse("zeros that are no whole items")
        }
        _ => {
            let flags = Flags(header.flags().0 & !Flags::MEMCPYED);
            Ok(header.with_version(5).with_flags(flags))
        }
    }
}

fn vl(chunk: &Chunk<'_>, target: Target) -> Result<ChunkHeader> {
    if target < Target::Blosc3_0 {
        return Err(Error::Param(Param::ForTarget { what: "VL-blocks", target }));
    }
    check_params(chunk, target)?;
    let header = chunk.header();
    let extension = header.extension().with_pipeline(header.pipeline());
    Ok(header.with_version(6).with_extension(extension))
}

fn regular(chunk: &Chunk<'_>, target: Target) -> Result<ChunkHeader> {
    check_params(chunk, target)?;
    let refuse = |what| Err(Error::Param(Param::ForTarget { what, target }));
    let header = chunk.header();
    if header.is_instrumented() && target.is_blosc1() {
        return refuse("statistics");
    }
    if chunk.layout().literal().is_some() {
        return refuse("a block size in doubt");
    }
    if !bitshuffles_alike(chunk, target) {
        return refuse("what bitshuffle makes of the last items of a block");
    }
    let split = is_split(chunk, target)?;
    let (typesize, blocksize) = (header.typesize(), chunk.layout().grid.blocksize);
    if !target.is_blosc1() && blocksize > MAX_BLOCKSIZE_2 as usize {
        return refuse("blocks of this size");
    }
    let fits = match target {
        Target::Blosc1_3 => typesize == 1 || split == splits_in_blosc1(typesize, blocksize),
        _ if target.is_blosc1() => !split || splits_in_blosc1(typesize, blocksize),
        _ => true,
    };
    if !fits {
        return refuse("this split");
    }
    let flags = flags(header, target, split);
    Ok(common_fields(header, target).with_flags(flags).with_blocksize(blocksize))
}

/// Checks that the target supports codec, filters and dictionary.
fn check_params(chunk: &Chunk<'_>, target: Target) -> Result<()> {
    let header = chunk.header();
    let dict = chunk.dict().map_or(Dict::None, |dict| Dict::Given(dict.into()));
    let params = CParams::default().codec(header.codec_id()).codec_meta(header.codec_meta());
    params.typesize(header.typesize()).filters(header.pipeline()).dict(dict).target(target).check()
}

/// Whether the rules of the chunk and of the target give the same bit-shuffled blocks. Blosc 1
/// shuffles a block with a multiple of 8 items, or copies all of it; and old readers lose a cut
/// item.
fn bitshuffles_alike(chunk: &Chunk<'_>, target: Target) -> bool {
    let (header, grid) = (chunk.header(), &chunk.layout().grid);
    if !header.pipeline().contains(FilterId::BITSHUFFLE) {
        return true;
    }
    let typesize = header.typesize();
    [0, grid.nblocks.saturating_sub(1)].into_iter().all(|nblock| {
        let len = grid.range(nblock).len();
        let nitems = len / typesize;
        let alike =
            nitems.is_multiple_of(8) || nitems < 8 || header.is_blosc1() == target.is_blosc1();
        let loses = target.is_blosc1() && nitems.is_multiple_of(8) && !len.is_multiple_of(typesize);
        alike && !loses
    })
}

/// Whether full blocks are split; all of them must agree. For Blosc 1 there must be no runs.
fn is_split(chunk: &Chunk<'_>, target: Target) -> Result<bool> {
    let mut split = None;
    for nblock in 0..chunk.nblocks() {
        let block = chunk.block(nblock)?;
        let is_run = |kind| matches!(kind, StreamKind::Run(_));
        if target.is_blosc1() && block.streams().iter().any(|stream| is_run(stream.kind)) {
            return Err(Error::Param(Param::ForTarget { what: "runs", target }));
        }
        let is_block_split = block.streams().len() > 1;
        let is_leftover = chunk.layout().is_leftover(block.data().len());
        if !is_leftover && *split.get_or_insert(is_block_split) != is_block_split {
            return Err(Error::Param(Param::ForTarget {
                what: "some blocks split and others not",
                target,
            }));
        }
    }
    Ok(split.unwrap_or(false))
}

fn flags(header: &ChunkHeader, target: Target, split: bool) -> Flags {
    let bit = |id, bit| if header.pipeline().contains(id) { bit } else { 0 };
    let filters = if target.is_blosc1() {
        bit(FilterId::SHUFFLE, Flags::SHUFFLE) | bit(FilterId::BITSHUFFLE, Flags::BITSHUFFLE)
    } else {
        Flags::EXTENDED | bit(FilterId::DELTA, Flags::DELTA)
    };
    // With items of one byte both are the same; C-Blosc and C-Blosc2 follow their rule.
    let split = split || (header.typesize() == 1 && header.is_split());
    Flags(filters | if split { 0 } else { Flags::UNSPLIT }).with_format(header.codec_id().format())
}

/// The fields of every kind, for the target.
fn common_fields(header: &ChunkHeader, target: Target) -> ChunkHeader {
    if target.is_blosc1() {
        return header.with_version(2).with_versionlz(1).with_extension(RawExtension::NONE);
    }
    let extension = if header.is_extended() {
        *header.extension()
    } else {
        RawExtension { udcodec: header.codec_id().0, ..RawExtension::NONE }
    };
    let dict = if header.has_dict() { 0 } else { Blosc2Flags::DICT };
    let flags = Blosc2Flags(extension.blosc2_flags).without(dict | Blosc2Flags::SPECIAL);
    let extension = extension.with_pipeline(header.pipeline());
    header.with_version(5).with_extension(extension).with_blosc2_flags(flags)
}

/// Writes the header, the block starts moved by the change of its length, and all other bytes.
fn assemble(chunk: &Chunk<'_>, header: ChunkHeader) -> Result<Vec<u8>> {
    let (old_len, new_len, max) =
        (chunk.header().header_len(), header.header_len(), i32::MAX as usize);
    let end = if header.nbytes() == 0 { old_len } else { chunk.header().cbytes() };
    let cbytes = end - old_len + new_len;
    if cbytes.max(header.nbytes() + new_len) > max {
        return Err(Error::Param(Param::Nbytes { nbytes: header.nbytes(), max: max - new_len }));
    }
    let mut bytes = header.with_cbytes(cbytes).to_bytes();
    memory::reserve(&mut bytes, cbytes)?;
    for nblock in 0..chunk.nblocks() {
        let start = chunk.layout().block_start(chunk.bytes(), nblock)?;
        bytes.extend_from_slice(&field(start - old_len + new_len).to_le_bytes());
    }
    let body = chunk.bytes().get(old_len + 4 * chunk.nblocks()..end);
    let truncated = || Corrupt::Truncated { cbytes: end, len: chunk.bytes().len() };
    bytes.extend_from_slice(body.ok_or_else(|| Error::corrupt(0xc, truncated()))?);
    Ok(bytes)
}
