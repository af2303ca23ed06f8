//! BloscLZ: a byte-oriented LZ77 format with literal runs of up to 32 bytes and a window of 72 KiB.
//!
//! ```text
//! instruction   000nnnnn                 n + 1 literal bytes follow (1..=32)
//!               LLLhhhhh [e..] l         L = 1..=6: match of L + 2 bytes, h * 256 + l + 1 back
//!                                        L = 7: length 9 + the sum of e, which ends with the first e below 255
//!               LLL11111 [e..] ff H L    the same, 8192 + H * 256 + L back (big-endian here only)
//! stream        literal run, then anything, then a literal run; no end mark and no length inside
//! ```
//!
//! The first control byte carries a marker in its upper bits, which a decoder masks off. `decode`
//! is the format's definition in code, and `decode_fast` does most of the work. `encode` has a
//! search of our own; every release of C-Blosc reads its streams.

mod decode;
#[allow(unsafe_code)]
mod decode_fast;
mod encode;
mod probe;
mod search;
mod writer;

use alloc::boxed::Box;

#[cfg(fuzzing)]
pub use decode::decompress_safely;

use crate::{
    Codec, CodecId, DecodeOptions, EncodeOptions, Error, Simd, StreamDecoder, StreamEncoder,
    codec::{refuse_dict, require_write},
};

/// Longest distance of a near match (bytes).
const MAX_NEAR: usize = 8191;
/// Distance that a far match adds to its two bytes.
const FAR_BASE: usize = 8192;
/// Longest literal run (bytes).
const MAX_RUN: usize = 32;

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BloscLz;

impl Codec for BloscLz {
    fn id(&self) -> CodecId {
        CodecId::BLOSCLZ
    }

    fn version(&self) -> &str {
        concat!("blosc-codecs ", env!("CARGO_PKG_VERSION"))
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        len + len.div_ceil(MAX_RUN)
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        require_write(CodecId::BLOSCLZ)?;
        refuse_dict(CodecId::BLOSCLZ, options.dict)?;
        Ok(Box::new(encode::Encoder::new(options.clevel, options.simd)))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        refuse_dict(CodecId::BLOSCLZ, options.dict)?;
        Ok(Box::new(Decoder { simd: options.simd }))
    }
}

struct Decoder {
    simd: Simd,
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        decode::decode::<false>(self.simd, src, dest)
    }

    fn decode_uncached(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        decode::decode::<true>(self.simd, src, dest)
    }

    fn decode_prefix(&mut self, src: &[u8], dest: &mut [u8], wanted: usize) -> Result<(), Error> {
        decode::decode_prefix(self.simd, src, dest, wanted)
    }
}
