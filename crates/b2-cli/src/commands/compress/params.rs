//! The parameters of a new frame, from the options and the data.

use b2frame::FrameParams;
use blosc_chunk::{CParams, CodecId, Dict, SplitMode, Target as Reader};
use blosc_data::typesize::Guess;
use blosc_dtype::npy::NpyHeader;

use crate::{
    args::{
        ChecksumChoice, CompressedFormat, TuningArgs, Typesize,
        compress::{Split, level_of},
    },
    context::Context,
    inputs::{Data, Origin},
    memory,
    render::{harmless, size},
};

/// The size of the items, and its origin unless the option gave it.
pub(super) fn typesize(
    tuning: &TuningArgs,
    layout: Option<&NpyHeader>,
    origin: &Origin,
    data: &Data,
    guess: &mut Guess,
) -> (usize, Option<&'static str>) {
    match (tuning.typesize, layout, &tuning.dtype) {
        (_, Some(layout), _) => (layout.dtype.itemsize(), None),
        (Typesize::Bytes(typesize), None, _) => (typesize.into(), None),
        (Typesize::Auto, None, Some(dtype)) => (dtype.itemsize(), None),
        (Typesize::Auto, None, None) => {
            let len = data.len().or(data.whole().map(|whole| whole.len() as u64));
            let (typesize, evidence) = guess.find(origin.path(), data.sample(), len);
            (typesize.into(), Some(evidence.text()))
        }
    }
}

/// The parameters of the frame to write, from the options and the data.
pub(super) fn frame_params(tuning: &TuningArgs, typesize: usize, cx: &Context) -> FrameParams {
    let checksums = tuning.checksum.and_then(ChecksumChoice::seal).unwrap_or_default();
    let params = FrameParams::new(cparams(tuning, typesize).registries(cx.registries()))
        .checksums(checksums);
    match tuning.chunk_size {
        Some(size) => params.chunksize(memory::as_len(size.0)),
        None => params.chunksize(CHUNK_NBYTES),
    }
}

/// With `-v`: how the input is compressed, and why.
pub(super) fn report(
    params: &FrameParams,
    format: CompressedFormat,
    evidence: Option<&str>,
    origin: &Origin,
    cx: &Context,
) {
    let chunks = match format {
        CompressedFormat::B2frame | CompressedFormat::Blp => {
            format!("chunks of {}", cx.console.units().size(params.chunksize as u64))
        }
        CompressedFormat::B2nd => "an array".to_owned(),
        CompressedFormat::Chunk => "one chunk".to_owned(),
    };
    let cparams = &params.cparams;
    cx.console.detail(&format!(
        "{}: items of {}{}, {} -> {} level {}, {chunks}",
        harmless(&origin.name()),
        size::counted(cparams.typesize as u64, "byte"),
        evidence.map(|text| format!(" ({text})")).unwrap_or_default(),
        cparams.filters,
        cparams.codec,
        cparams.clevel
    ));
}

/// Bytes of data in a chunk, by default.
const CHUNK_NBYTES: usize = 1 << 20;

/// The greatest dictionary that every reader takes (bytes).
const MAX_DICT_NBYTES: usize = 32 << 10;

fn cparams(tuning: &TuningArgs, typesize: usize) -> CParams {
    let default = match tuning.target() {
        _ if tuning.level.fast => CodecId::LZ4,
        Reader::Blosc1_3 => CodecId::ZLIB,
        _ => CodecId::ZSTD,
    };
    let (codec, meta) = tuning.codec.map_or((default, 0), |choice| (choice.id, choice.meta));
    CParams::default()
        .codec(codec)
        .codec_meta(meta)
        .clevel(level_of(tuning.level))
        .typesize(typesize)
        .filters(tuning.pipeline())
        .blocksize(tuning.block_size.map(|size| memory::as_len(size.0)))
        .special_values(!tuning.no_special)
        .dict(if tuning.dict { Dict::Train { max: MAX_DICT_NBYTES } } else { Dict::None })
        .target(tuning.target())
        .split(match tuning.split {
            Split::Always => SplitMode::Always,
            Split::Never => SplitMode::Never,
            Split::Auto => SplitMode::Auto,
            Split::Forward => SplitMode::ForwardCompat,
        })
}
