//! zlib: a complete RFC 1950 stream per payload. The `zlib-rs` crate compresses, our own `inflate`
//! decompresses; the crate has the last word on streams that ours does not take. State is kept and
//! reset.

pub(crate) mod codes;
pub(crate) mod inflate;

use alloc::boxed::Box;

use inflate::Inflater;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateError, InflateFlush, Status};

use crate::{
    Codec, CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, Level, Param, StreamDecoder,
    StreamEncoder, codec::refuse_dict, noise::Noise,
};

/// Bits of the window; Blosc always uses the largest.
const WINDOW_BITS: u8 = 15;

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zlib;

impl Codec for Zlib {
    fn id(&self) -> CodecId {
        CodecId::ZLIB
    }

    fn name(&self) -> &str {
        "zlib"
    }

    fn version(&self) -> &str {
        "zlib-rs 0.6"
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        // Stored or, at level 1 of this library, fixed codes of up to 9 bits.
        len + len / 8 + 64
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        refuse_dict(CodecId::ZLIB, options.dict)?;
        Ok(Box::new(Encoder::new(options.level)))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        refuse_dict(CodecId::ZLIB, options.dict)?;
        Ok(Box::new(Decoder { inflater: Inflater::new(), library: None }))
    }
}

struct Encoder {
    deflate: Deflate,
    noise: Noise,
}

impl Encoder {
    fn new(level: Level) -> Self {
        let deflate = Deflate::new(i32::from(level.effort()), true, WINDOW_BITS);
        Self { deflate, noise: Noise::default() }
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        if dest.len() <= src.len() && self.noise.is(src) {
            return Ok(None);
        }
        self.deflate.reset();
        match self.deflate.compress(src, dest, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(usize::try_from(self.deflate.total_out()).ok()),
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
    /// Made when it is first needed.
    library: Option<Inflate>,
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        match self.inflater.decode(src, dest) {
            Some(()) => Ok(()),
            None => self.ask_library(src, dest),
        }
    }
}

impl Decoder {
    /// Decompresses what is unusual, and says what is wrong with the others.
    #[cold]
    fn ask_library(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        let inflate = self.library.get_or_insert_with(|| Inflate::new(true, WINDOW_BITS));
        inflate.reset(true);
        let status = inflate.decompress(src, dest, InflateFlush::Finish);
        let (read, written) = (count(inflate.total_in()), count(inflate.total_out()));
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

/// Decompresses by the library alone; for the fuzz targets.
///
/// # Errors
///
/// As the decoder of [`Zlib`].
#[cfg(fuzzing)]
pub fn decompress_safely(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    Decoder { inflater: Inflater::new(), library: None }.ask_library(src, dest)
}

/// Counts never pass the length of a slice.
fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
