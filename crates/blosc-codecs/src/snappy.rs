//! Snappy, raw (no framing, no checksum), through the `snap` crate. Only Blosc 1 wrote it, mostly
//! inside HDF5 files.
//!
//! It differs from other codecs in two ways. The level has no effect. And a stream may be *longer*
//! than its data, since C-Blosc gave it a longer destination and kept the result. So a reader must
//! not reject a stream because of its size.

use alloc::{boxed::Box, vec::Vec};

use snap::raw;

use crate::{
    Codec, CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, Param, StreamDecoder,
    StreamEncoder,
    codec::{refuse_dict, require_write},
};

/// Longest input (bytes): the stream starts with a length of 32 bits.
const MAX_INPUT: usize = u32::MAX as usize;

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snappy;

impl Codec for Snappy {
    fn id(&self) -> CodecId {
        CodecId::SNAPPY
    }

    fn version(&self) -> &str {
        "snap 1.1"
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        32 + len + len / 6
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        require_write(CodecId::SNAPPY)?;
        refuse_dict(CodecId::SNAPPY, options.dict)?;
        Ok(Box::new(Encoder { snap: raw::Encoder::new(), scratch: Vec::new() }))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        refuse_dict(CodecId::SNAPPY, options.dict)?;
        Ok(Box::new(Decoder))
    }
}

struct Encoder {
    snap: raw::Encoder,
    /// For destinations shorter than the library's bound.
    scratch: Vec<u8>,
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        if src.len() > MAX_INPUT {
            let what = Param::TooLong { nbytes: src.len(), limit: MAX_INPUT };
            return Err(Error::Param { codec: CodecId::SNAPPY, what });
        }
        let bound = raw::max_compress_len(src.len());
        if bound <= dest.len() {
            return self.snap.compress(src, dest).map(Some).map_err(|_| refused());
        }
        let more = bound.saturating_sub(self.scratch.len());
        self.scratch.try_reserve(more).map_err(|_| refused())?;
        self.scratch.resize(bound, 0);
        let len = self.snap.compress(src, &mut self.scratch).map_err(|_| refused())?;
        let Some(dest) = dest.get_mut(..len) else { return Ok(None) };
        dest.copy_from_slice(&self.scratch[..len]);
        Ok(Some(len))
    }
}

struct Decoder;

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        let room = dest.len();
        let what = match raw::Decoder::new().decompress(src, dest) {
            Ok(nbytes) if nbytes == room => return Ok(()),
            Ok(nbytes) => Corrupt::TooShort { nbytes, expected: room },
            Err(e) => corrupt(&e, room),
        };
        Err(Error::Corrupt { codec: CodecId::SNAPPY, at: 0, what })
    }
}

/// The library's error as ours.
fn corrupt(error: &snap::Error, room: usize) -> Corrupt {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    match *error {
        snap::Error::TooBig { given, .. } => Corrupt::TooLong { nbytes: given, room },
        snap::Error::BufferTooSmall { min, .. } => Corrupt::TooLong { nbytes: min, room },
        snap::Error::Empty => Corrupt::Truncated { need: 1, have: 0 },
        snap::Error::Header => {
            Corrupt::Library { message: "the length at the start is not a varint" }
        }
        snap::Error::HeaderMismatch { expected_len, got_len } => {
            Corrupt::TooShort { nbytes: size(got_len), expected: size(expected_len) }
        }
        snap::Error::Literal { len, src_len, .. } if len > src_len => {
            Corrupt::Truncated { need: size(len), have: size(src_len) }
        }
        snap::Error::Literal { len, dst_len, .. } | snap::Error::CopyWrite { len, dst_len } => {
            Corrupt::TooLong {
                nbytes: (room as u64).saturating_sub(dst_len).saturating_add(len),
                room,
            }
        }
        snap::Error::CopyRead { len, src_len } => {
            Corrupt::Truncated { need: size(len), have: size(src_len) }
        }
        snap::Error::Offset { offset, dst_pos } => {
            Corrupt::Distance { distance: size(offset), available: size(dst_pos) }
        }
        _ => Corrupt::Library { message: "not a raw Snappy stream" },
    }
}

fn refused() -> Error {
    Error::Param {
        codec: CodecId::SNAPPY,
        what: Param::Library { message: "the library refused the input" },
    }
}
