//! LZ4 and LZ4HC: two searches, one format, one decoder.
//!
//! ```text
//! sequence  token [l..] literals offset [m..]    token = literal count << 4 | match length - 4;
//!                                                15 in a half: bytes follow that add up, until one is not 255
//!                                                offset: 2 bytes, little-endian, 1..=65535
//! block     sequences; the last one ends after its literals
//! ```
//!
//! A payload is one raw LZ4 block, without length, frame or checksum. A dictionary precedes the
//! output directly, so that offsets may reach into it.

mod decode;
#[allow(unsafe_code)]
mod decode_fast;
mod encode;
mod hc;
mod sequence;

use alloc::{boxed::Box, vec::Vec};

#[cfg(fuzzing)]
pub use decode::decompress_safely;

use crate::{
    Codec, CodecId, DecodeOptions, EncodeOptions, Error, Simd, StreamDecoder, StreamEncoder,
    codec::require_write, dict,
};

/// Shortest match.
const MIN_MATCH: usize = 4;
/// Longest distance of a match (bytes).
const MAX_DISTANCE: u32 = 65_535;
/// Bytes at the end of a block that are literals.
const LAST_LITERALS: usize = 5;
/// No match starts in the last 12 bytes of a block.
const MATCH_LIMIT: usize = 12;
/// Longest input (bytes); LZ4 1.10 has the same limit.
const MAX_INPUT: usize = 0x7E00_0000;

/// The codec `lz4` or `lz4hc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lz4 {
    is_hc: bool,
}

impl Lz4 {
    /// `lz4`: fast, with an acceleration that the level sets.
    pub(crate) const FAST: Self = Self { is_hc: false };
    /// `lz4hc`: the same format after a thorough search.
    pub(crate) const HC: Self = Self { is_hc: true };
}

impl Codec for Lz4 {
    fn id(&self) -> CodecId {
        if self.is_hc { CodecId::LZ4HC } else { CodecId::LZ4 }
    }

    fn version(&self) -> &str {
        concat!("blosc-codecs ", env!("CARGO_PKG_VERSION"))
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        len + len / 255 + 16
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        require_write(self.id())?;
        Ok(if self.is_hc {
            Box::new(hc::Encoder::new(options))
        } else {
            Box::new(encode::Encoder::new(options))
        })
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        Ok(Box::new(Decoder { dict: options.dict.unwrap_or_default().into(), simd: options.simd }))
    }

    fn has_dict(&self) -> bool {
        true
    }

    fn train_dict(&self, samples: &[&[u8]], max: usize) -> Result<Option<Vec<u8>>, Error> {
        Ok(dict::raw_content(samples, max))
    }
}

/// The decoder; it keeps its dictionary.
struct Decoder {
    dict: Box<[u8]>,
    simd: Simd,
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        decode::decode::<false>(self.simd, src, dest, &self.dict)
    }

    fn decode_uncached(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        decode::decode::<true>(self.simd, src, dest, &self.dict)
    }

    fn decode_prefix(&mut self, src: &[u8], dest: &mut [u8], wanted: usize) -> Result<(), Error> {
        decode::decode_prefix(self.simd, src, dest, wanted, &self.dict)
    }
}

/// The dictionary, then the current input, so that matches can begin in the dictionary and end in
/// the input.
struct Window {
    bytes: Vec<u8>,
    dict_len: usize,
}

impl Window {
    /// Keeps the end of the dictionary, as far as distances reach.
    fn new(dict: &[u8]) -> Self {
        let dict = &dict[dict.len().saturating_sub(MAX_DISTANCE as usize)..];
        Self { bytes: dict.to_vec(), dict_len: dict.len() }
    }

    /// Dictionary and input, and the start of the input. Without a dictionary, nothing is copied.
    fn append<'a>(&'a mut self, src: &'a [u8]) -> (&'a [u8], usize) {
        if self.dict_len == 0 {
            return (src, 0);
        }
        self.bytes.truncate(self.dict_len);
        self.bytes.extend_from_slice(src);
        (&self.bytes, self.dict_len)
    }
}
