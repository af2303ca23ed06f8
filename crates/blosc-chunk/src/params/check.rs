//! Checks that parameters fit together ("Recommended output" in the format document).

use blosc_codecs::{Codec, CodecId};
use blosc_filters::{FilterId, Pipeline};

use crate::error::{Error, Param, Result};
use crate::header::{MAX_BLOCKSIZE_1, MAX_BLOCKSIZE_2};
use crate::layout::MAX_DICT_NBYTES;
use crate::params::{CParams, Dict, SplitMode, Target};

pub(super) fn check(params: &CParams) -> Result<()> {
    check_sizes(params)?;
    let codec = find_codec(params)?;
    check_filters(params, codec)?;
    check_dict(params, codec)?;
    if params.target.is_blosc1() { check_blosc1(params) } else { check_blosc2(params) }
}

fn check_sizes(params: &CParams) -> Result<()> {
    let max = MAX_BLOCKSIZE_2 as usize;
    if !(1..=max).contains(&params.typesize) {
        return Err(Error::Param(Param::Typesize { typesize: params.typesize, max }));
    }
    let max = if params.target.is_blosc1() { MAX_BLOCKSIZE_1 as usize } else { max };
    match params.blocksize {
        Some(blocksize) if !(1..=max).contains(&blocksize) => {
            Err(Error::Param(Param::Blocksize { blocksize, max }))
        }
        _ => Ok(()),
    }
}

fn find_codec(params: &CParams) -> Result<&dyn Codec> {
    let id = params.codec;
    match params.registries.codecs.require(id) {
        Ok(codec) => Ok(&**codec),
        Err(source) => Err(Error::UnknownCodec { format: id.format(), id, source }),
    }
}

fn check_filters(params: &CParams, codec: &dyn Codec) -> Result<()> {
    let (pipeline, registry) = (&params.filters, &params.registries.filters);
    if let Some(slot) = pipeline.active().find(|slot| registry.get(slot.id).is_none()) {
        return Err(Error::UnknownFilter { id: slot.id });
    }
    match pipeline.active().filter(|slot| slot.id == FilterId::DELTA).count() {
        0 => Ok(()),
        1 if codec.is_lossy() => Err(Error::Param(Param::DeltaLossyCodec)),
        1 => Ok(()),
        _ => Err(Error::Param(Param::TwoDeltas)),
    }
}

fn check_dict(params: &CParams, codec: &dyn Codec) -> Result<()> {
    let dsize = match &params.dict {
        Dict::None => return Ok(()),
        Dict::Train { max } => *max,
        Dict::Given(dict) => dict.len(),
    };
    let max = if codec.has_dict() { MAX_DICT_NBYTES } else { 0 };
    if (1..=max).contains(&dsize) {
        Ok(())
    } else {
        Err(Error::Param(Param::DictSize { dsize, max }))
    }
}

fn check_blosc2(params: &CParams) -> Result<()> {
    let target = params.target;
    if params.codec.format() == CodecId::SNAPPY.format() {
        return Err(Error::Param(Param::CodecForTarget { codec: params.codec, target }));
    }
    if loses_delta(&params.filters) {
        return Err(filters_for_target(params));
    }
    if target >= Target::Blosc3_0 {
        return Ok(());
    }
    if params.filters.active().any(|slot| slot.id == FilterId::SHUFFLE && slot.meta != 0) {
        return Err(filters_for_target(params));
    }
    if params.filters.active().skip(1).any(|slot| slot.id == FilterId::DELTA) {
        return Err(Error::Param(Param::DeltaNotFirst));
    }
    if params.dict != Dict::None && params.codec != CodecId::ZSTD {
        return Err(Error::Param(Param::ForTarget { what: "dictionaries for LZ4", target }));
    }
    Ok(())
}

/// C-Blosc2 to 3.3.5 overwrites the reference of delta while it decodes, if the filter has three
/// before it and one after.
fn loses_delta(pipeline: &Pipeline) -> bool {
    let delta = pipeline.active().position(|slot| slot.id == FilterId::DELTA);
    delta.is_some_and(|before| before >= 3 && pipeline.active().skip(before).nth(1).is_some())
}

fn check_blosc1(params: &CParams) -> Result<()> {
    let target = params.target;
    let known = match params.codec {
        CodecId::BLOSCLZ | CodecId::LZ4 | CodecId::LZ4HC | CodecId::SNAPPY | CodecId::ZLIB => true,
        CodecId::ZSTD => target >= Target::Blosc1_11,
        _ => false,
    };
    if !known {
        return Err(Error::Param(Param::CodecForTarget { codec: params.codec, target }));
    }
    if !fits_blosc1(&params.filters, target) {
        return Err(filters_for_target(params));
    }
    if params.dict != Dict::None {
        return Err(Error::Param(Param::ForTarget { what: "dictionaries", target }));
    }
    match params.split {
        SplitMode::Always if target < Target::Blosc1_14 => {
            Err(Error::Param(Param::ForTarget { what: "blocks that are always split", target }))
        }
        SplitMode::Never | SplitMode::Auto if target < Target::Blosc1_11 => {
            Err(Error::Param(Param::ForTarget { what: "a choice of the split", target }))
        }
        _ => Ok(()),
    }
}

/// A short header has one bit each for shuffle and bitshuffle, but cannot have both.
fn fits_blosc1(pipeline: &Pipeline, target: Target) -> bool {
    let mut active = pipeline.active();
    let fits = active.next().is_none_or(|slot| match slot.id {
        FilterId::SHUFFLE => slot.meta == 0,
        FilterId::BITSHUFFLE => target >= Target::Blosc1_11,
        _ => false,
    });
    fits && active.next().is_none()
}

fn filters_for_target(params: &CParams) -> Error {
    Error::Param(Param::FiltersForTarget { filters: params.filters, target: params.target })
}
