//! Chunks of Blosc 1 and Blosc2 as a codec of JavaScript: it decodes single chunks, and knows no
//! containers.
//!
//! ```
//! use b2_web_codec::Codec;
//!
//! let chunk = blosc_chunk::compress(&[7; 1000], &blosc_chunk::CParams::default())?;
//! assert_eq!(Codec::default().decode(&chunk), Ok(&[7; 1000][..]));
//! # Ok::<(), blosc_chunk::Error>(())
//! ```
//!
//! [`Codec`] is the same natively and in a browser; `exports` are the functions of the module.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "a name that is exported is one for the linker")]
mod exports;

use core::error::Error as _;

use blosc_chunk::{Chunk, DParams, Decoder, Limits};

/// Bytes of the data of a chunk: larger ones are refused, since a page has little memory.
pub const MAX_NBYTES: u64 = 512 << 20;

/// Decodes chunks one after another, with the same buffers.
#[derive(Debug)]
pub struct Codec {
    decoder: Decoder,
    data: Vec<u8>,
}

impl Default for Codec {
    fn default() -> Self {
        let limits = Limits::default().max_nbytes(MAX_NBYTES);
        Self { decoder: Decoder::new(DParams::default().limits(limits)), data: vec![] }
    }
}

impl Codec {
    /// The data of a chunk, until the next call.
    ///
    /// # Errors
    ///
    /// The fault of the chunk, in words.
    pub fn decode(&mut self, chunk: &[u8]) -> Result<&[u8], String> {
        self.try_decode(chunk).map_err(|error| {
            let cause = error.source().map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default())
        })?;
        Ok(&self.data)
    }

    fn try_decode(&mut self, chunk: &[u8]) -> Result<(), blosc_chunk::Error> {
        let nbytes = Chunk::parse(chunk)?.header().nbytes();
        if nbytes as u64 > MAX_NBYTES {
            // The decoder says what the limit is, before anything is allocated.
            return self.decoder.decode(chunk).map(|data| self.data = data);
        }
        // Data of an earlier chunk are written over, and need not be cleared.
        self.data.resize(nbytes, 0);
        self.decoder.decode_into(chunk, &mut self.data).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use blosc_chunk::{CParams, CodecId, Target, compress};

    use super::*;

    #[test]
    fn chunks_of_both_generations_come_back_one_after_another() {
        let mut codec = Codec::default();
        for (target, len) in
            [(Target::Blosc1_14, 40_000), (Target::default(), 99), (Target::default(), 0)]
        {
            let data: Vec<u8> = (0..len).map(|n: u32| n.to_le_bytes()[1]).collect();
            let params = CParams::default().codec(CodecId::LZ4).typesize(4).target(target);
            assert_eq!(codec.decode(&compress(&data, &params).unwrap()), Ok(&data[..]));
        }
    }

    #[test]
    fn damage_is_told_in_words_and_costs_nothing() {
        let mut codec = Codec::default();
        let mut chunk = compress(&[1; 50_000], &CParams::default().typesize(4)).unwrap();
        assert!(codec.decode(&chunk[..9]).unwrap_err().contains("bytes"));
        // A length that is a lie.
        chunk[4..8].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        assert!(codec.decode(&chunk).is_err());
        assert!(codec.data.capacity() < 1 << 20);
    }
}
