//! zlib: a complete RFC 1950 stream per payload.
//!
//! * *Encoder:* the `zlib-rs` crate (deflate: hash chains, lazy matching, Huffman codes per block),
//!   with the window and the level of zlib. Incompressible data is recognised by an entropy probe
//!   before it, and not compressed at all; in sparse data only runs are looked for.
//! * *Decoder:* our own, made for streams whose decoded length is known (`inflate`, `inflate_fast`,
//!   `codes`, `adler`). It answers `None` to any doubt, and then `zlib-rs` decides what is wrong.
//!
//! Figures, and failed attempts: `docs/performance/zlib.md`.

#[allow(unsafe_code)]
mod adler;
mod codes;
mod inflate;
#[allow(unsafe_code)]
mod inflate_fast;
mod runs;

use alloc::boxed::Box;

use inflate::Inflater;
use runs::RunProbe;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateError, InflateFlush, Status};

use crate::{
    Codec, CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, Level, Param, StreamDecoder,
    StreamEncoder,
    codec::{refuse_dict, require_write},
    incompressible::EntropyProbe,
};

/// Binary logarithm of the window (bytes); Blosc always uses the largest.
const WINDOW_BITS: u8 = 15;

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Zlib;

impl Codec for Zlib {
    fn id(&self) -> CodecId {
        CodecId::ZLIB
    }

    fn version(&self) -> &str {
        "zlib-rs 0.6"
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        // Stored blocks or, at level 1 of zlib-rs, fixed codes of up to 9 bits.
        len + len / 8 + 64
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        require_write(CodecId::ZLIB)?;
        refuse_dict(CodecId::ZLIB, options.dict)?;
        Ok(Box::new(Encoder::new(options.clevel)))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        refuse_dict(CodecId::ZLIB, options.dict)?;
        Ok(Box::new(Decoder { inflater: Inflater::new(options.simd), library: None }))
    }
}

struct Encoder {
    deflate: Deflate,
    probe: EntropyProbe,
    runs: RunProbe,
}

impl Encoder {
    fn new(level: Level) -> Self {
        let level = i32::from(level.effective());
        let deflate = Deflate::new(level, true, WINDOW_BITS);
        Self { deflate, probe: EntropyProbe::default(), runs: RunProbe::new(level) }
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        if dest.len() <= src.len() && self.probe.is_incompressible(src) {
            return Ok(None);
        }
        let runs = self.runs.encoder(src, &mut self.deflate);
        let deflate = runs.unwrap_or(&mut self.deflate);
        deflate.reset();
        match deflate.compress(src, dest, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(usize::try_from(deflate.total_out()).ok()),
            Ok(Status::Ok | Status::BufError) => Ok(None),
            Err(e) => Err(Error::Param {
                codec: CodecId::ZLIB,
                what: Param::Library { message: e.as_str() },
            }),
        }
    }
}

struct Decoder {
    inflater: Inflater,
    /// Created when first needed.
    library: Option<Inflate>,
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        match self.inflater.decode(src, dest) {
            Some(()) => Ok(()),
            None => self.decode_by_library(src, dest),
        }
    }
}

impl Decoder {
    /// Decompresses unusual streams, and reports the defect of corrupt ones.
    #[cold]
    fn decode_by_library(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        let inflate = self.library.get_or_insert_with(|| Inflate::new(true, WINDOW_BITS));
        inflate.reset(true);
        let status = inflate.decompress(src, dest, InflateFlush::Finish);
        let (read, written) = (to_usize(inflate.total_in()), to_usize(inflate.total_out()));
        let what = match status {
            Ok(Status::StreamEnd) if written < dest.len() => {
                Corrupt::TooShort { nbytes: written, expected: dest.len() }
            }
            Ok(Status::StreamEnd) if read < src.len() => {
                Corrupt::Trailing { extra: src.len() - read }
            }
            Ok(Status::StreamEnd) => return Ok(()),
            Ok(_) if read == src.len() => Corrupt::Truncated { need: 1, have: 0 },
            Ok(_) => Corrupt::TooLong { nbytes: written as u64 + 1, room: dest.len() },
            Err(InflateError::NeedDict { .. }) => {
                Corrupt::Library { message: "needs a dictionary" }
            }
            Err(e) => Corrupt::Library { message: inflate.error_message().unwrap_or(e.as_str()) },
        };
        Err(Error::Corrupt { codec: CodecId::ZLIB, at: read, what })
    }
}

/// Decompresses by `zlib-rs` alone; for the fuzz targets.
///
/// # Errors
///
/// As the decoder.
#[cfg(fuzzing)]
pub fn decompress_safely(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    Decoder { inflater: Inflater::new(crate::Simd::none()), library: None }
        .decode_by_library(src, dest)
}

/// Counts never exceed the length of a slice.
fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
