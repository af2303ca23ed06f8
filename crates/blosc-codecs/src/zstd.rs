//! Zstandard: normal frames with their content size, through the `zstd` crate (the C library).
//! Contexts are kept between streams.
//!
//! All use of the library is in this file, so that it can be replaced. How it is built, and why:
//! `docs/performance/zstd.md`.

use alloc::{boxed::Box, vec::Vec};

use ::zstd::zstd_safe::{self, CCtx, CParameter, DCtx, ErrorCode};

use crate::{
    Codec, CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, Level, Param, StreamDecoder,
    StreamEncoder, incompressible::EntropyProbe,
};

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Zstd;

impl Codec for Zstd {
    fn id(&self) -> CodecId {
        CodecId::ZSTD
    }

    fn version(&self) -> &str {
        zstd_safe::version_string()
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        zstd_safe::compress_bound(len)
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        Ok(Box::new(Encoder::new(options.clevel, options.dict)?))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        Ok(Box::new(Decoder::new(options.dict)?))
    }

    fn has_dict(&self) -> bool {
        true
    }

    fn train_dict(&self, samples: &[&[u8]], max: usize) -> Result<Option<Vec<u8>>, Error> {
        // The trainer refuses samples that no dictionary can be made of; a chunk does without one.
        Ok(::zstd::dict::from_samples(samples, max).ok().filter(|dict| !dict.is_empty()))
    }
}

struct Encoder {
    context: CCtx<'static>,
    /// For levels at which the library takes long to recognise incompressible data.
    probe: Option<EntropyProbe>,
}

impl Encoder {
    fn new(clevel: Level, dict: Option<&[u8]>) -> Result<Self, Error> {
        let mut context =
            CCtx::try_create().ok_or(param(Param::Library { message: "no memory" }))?;
        context.set_parameter(CParameter::CompressionLevel(zstd_level(clevel))).map_err(library)?;
        if let Some(dict) = dict {
            context.load_dictionary(dict).map_err(|code| bad_dict(dict, code))?;
        }
        let is_slow = clevel.effective() > MAX_FAST_LEVEL && dict.is_none();
        Ok(Self { context, probe: is_slow.then(EntropyProbe::default) })
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        if let Some(probe) = &mut self.probe
            && dest.len() <= src.len()
            && probe.is_incompressible(src)
        {
            return Ok(None);
        }
        match self.context.compress2(dest, src) {
            Ok(len) => Ok(Some(len)),
            Err(code) if code == NO_ROOM => Ok(None),
            Err(code) => Err(library(code)),
        }
    }
}

struct Decoder {
    context: DCtx<'static>,
}

impl Decoder {
    fn new(dict: Option<&[u8]>) -> Result<Self, Error> {
        let mut context =
            DCtx::try_create().ok_or(param(Param::Library { message: "no memory" }))?;
        if let Some(dict) = dict {
            context.load_dictionary(dict).map_err(|code| bad_dict(dict, code))?;
        }
        Ok(Self { context })
    }
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        refuse_legacy(src)?;
        let what = match self.context.decompress(dest, src) {
            Ok(nbytes) if nbytes == dest.len() => return Ok(()),
            Ok(nbytes) => Corrupt::TooShort { nbytes, expected: dest.len() },
            Err(code) if code == NO_ROOM => {
                let stated = zstd_safe::get_frame_content_size(src).ok().flatten();
                Corrupt::TooLong {
                    nbytes: stated.unwrap_or(dest.len() as u64 + 1),
                    room: dest.len(),
                }
            }
            Err(code) => Corrupt::Library { message: zstd_safe::get_error_name(code) },
        };
        Err(Error::Corrupt { codec: CodecId::ZSTD, at: 0, what })
    }
}

/// Levels up to this one recognise incompressible data as fast as the probe does.
const MAX_FAST_LEVEL: u8 = 5;

/// The level of the library, as C-Blosc2 chooses it.
fn zstd_level(clevel: Level) -> i32 {
    match clevel.effective() {
        9 => 22,
        clevel => 2 * i32::from(clevel) - 1,
    }
}

/// Frames from before the format was final start with another magic number.
fn refuse_legacy(src: &[u8]) -> Result<(), Error> {
    let name = match src {
        [0x27, 0xB5, 0x2F, 0xFD, ..] => "a frame of zstd 0.7",
        [0x26, 0xB5, 0x2F, 0xFD, ..] => "a frame of zstd 0.6",
        [0x25, 0xB5, 0x2F, 0xFD, ..] => "a frame of zstd 0.5",
        _ => return Ok(()),
    };
    Err(Error::Unsupported {
        id: CodecId::ZSTD,
        name,
        needs: "a decoder for zstd frames from before 1.0",
    })
}

fn bad_dict(dict: &[u8], code: ErrorCode) -> Error {
    let message = zstd_safe::get_error_name(code);
    param(Param::BadDict { nbytes: dict.len(), message })
}

fn library(code: ErrorCode) -> Error {
    param(Param::Library { message: zstd_safe::get_error_name(code) })
}

fn param(what: Param) -> Error {
    Error::Param { codec: CodecId::ZSTD, what }
}

/// The library's answer when the output does not fit (a negated error code).
const NO_ROOM: ErrorCode =
    (zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as ErrorCode).wrapping_neg();
