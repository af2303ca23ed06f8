//! The encoder: the C library, through the `zstd` crate. Frames have their content size. Contexts
//! are kept between streams.
//!
//! All use of the library is in this file. `docs/performance/zstd.md` describes its build.

use alloc::vec::Vec;

use ::zstd::zstd_safe::{self, CCtx, CParameter, ErrorCode};

use crate::{CodecId, Error, Level, Param, StreamEncoder, incompressible::EntropyProbe};

pub(super) fn version() -> &'static str {
    zstd_safe::version_string()
}

pub(super) fn train_dict(samples: &[&[u8]], max: usize) -> Option<Vec<u8>> {
    // The trainer refuses samples that give no dictionary; a chunk has none then.
    ::zstd::dict::from_samples(samples, max).ok().filter(|dict| !dict.is_empty())
}

pub(super) struct Encoder {
    context: CCtx<'static>,
    /// For levels at which the library takes long to recognise incompressible data.
    probe: Option<EntropyProbe>,
}

impl Encoder {
    pub(super) fn new(clevel: Level, dict: Option<&[u8]>) -> Result<Self, Error> {
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

/// Levels up to this one recognise incompressible data as fast as the probe does.
const MAX_FAST_LEVEL: u8 = 5;

/// The level of the library, chosen as in C-Blosc2.
fn zstd_level(clevel: Level) -> i32 {
    match clevel.effective() {
        9 => 22,
        clevel => 2 * i32::from(clevel) - 1,
    }
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

/// The library's answer if the output does not fit (a negated error code).
const NO_ROOM: ErrorCode =
    (zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as ErrorCode).wrapping_neg();
