//! Zstandard: frames with their content size.
//!
//! * *Encoder:* the C library (`library`, feature `zstd`).
//! * *Decoder:* our own, by the document of the format, RFC 8878. Everything but the words and
//!   copies of `lz` is safe code.
//!
//! | file | concept |
//! |---|---|
//! | `decoder` | frames, blocks, dictionaries |
//! | `header` | the headers of frames and blocks |
//! | `block` | compressed blocks: literals, tables, sequences |
//! | `huffman`, `streams` | the code of literals; the streams that hold them |
//! | `fse`, `sequences` | tables of states; the sequences, which are copied at once |
//! | `library` | the encoder |
//! | `bits` | bits forward and backward |
//! | `dict` | dictionaries |
//! | `fault` | what can be wrong |
//!
//! Figures, and failed attempts: `docs/performance/zstd.md`.

mod bits;
mod block;
mod decoder;
mod dict;
pub(crate) mod fault;
mod fse;
mod header;
mod huffman;
#[cfg(feature = "zstd")]
mod library;
mod sequences;
mod streams;
#[cfg(test)]
mod tests;

use alloc::{boxed::Box, vec::Vec};

use crate::{Codec, CodecId, DecodeOptions, EncodeOptions, Error, StreamDecoder, StreamEncoder};

type Result<T> = core::result::Result<T, Error>;

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Zstd;

impl Codec for Zstd {
    fn id(&self) -> CodecId {
        CodecId::ZSTD
    }

    fn version(&self) -> &str {
        #[cfg(feature = "zstd")]
        return library::version();
        #[cfg(not(feature = "zstd"))]
        "RFC 8878, decoder only"
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        // Each block of 128 KiB has a header of 3 bytes; the C library allows for more in short
        // streams.
        len + len / 256 + 512
    }

    #[cfg(feature = "zstd")]
    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>> {
        Ok(Box::new(library::Encoder::new(options.clevel, options.dict)?))
    }

    #[cfg(not(feature = "zstd"))]
    fn new_encoder(&self, _: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>> {
        Err(no_encoder())
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>> {
        Ok(Box::new(decoder::Decoder::new(options.dict, options.simd)?))
    }

    fn has_dict(&self) -> bool {
        true
    }

    #[cfg(feature = "zstd")]
    fn train_dict(&self, samples: &[&[u8]], max: usize) -> Result<Option<Vec<u8>>> {
        Ok(library::train_dict(samples, max))
    }

    #[cfg(not(feature = "zstd"))]
    fn train_dict(&self, _: &[&[u8]], _: usize) -> Result<Option<Vec<u8>>> {
        Err(no_encoder())
    }
}

#[cfg(not(feature = "zstd"))]
const fn no_encoder() -> Error {
    Error::Unsupported {
        id: CodecId::ZSTD,
        name: "compressing with zstd",
        needs: "the feature `zstd` of blosc-codecs, which builds the C library",
    }
}
