//! The contract between a chunk and a codec: one stream in, one stream out, no state in between.

use alloc::{boxed::Box, vec::Vec};

use crate::{CodecId, Error, FormatId, Level, Param, Simd};

/// One codec: makes encoders and decoders, each for one thread.
pub trait Codec: Send + Sync {
    /// The id under which the codec is registered.
    fn id(&self) -> CodecId;

    /// The format of its streams.
    fn format(&self) -> FormatId {
        self.id().format()
    }

    /// The name in messages: by default, the name of the id in C-Blosc and C-Blosc2.
    fn name(&self) -> &str {
        self.id().name().unwrap_or("unnamed")
    }

    /// The version of the implementation, for messages.
    fn version(&self) -> &str;

    /// The greatest length of a stream for `len` uncompressed bytes (bytes).
    fn max_compressed_len(&self, len: usize) -> usize;

    /// An encoder for these options, to be kept and reused.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the codec refuses the options, [`Error::Unsupported`] if it cannot
    /// encode.
    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error>;

    /// A decoder for these options, to be kept and reused.
    ///
    /// # Errors
    ///
    /// As [`new_encoder`](Self::new_encoder).
    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error>;

    /// Whether streams may refer to a dictionary.
    fn has_dict(&self) -> bool {
        false
    }

    /// A dictionary of at most `max` bytes made from `samples`, or `None` if none would help.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the codec has no dictionaries.
    fn train_dict(&self, samples: &[&[u8]], max: usize) -> Result<Option<Vec<u8>>, Error> {
        let _ = (samples, max);
        Err(Error::Param { codec: self.id(), what: Param::Dict })
    }

    /// Whether decoded bytes may differ from the bytes that were encoded.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// Compresses streams with fixed options. Streams are independent: an encoder keeps memory between
/// streams, but no state.
pub trait StreamEncoder: Send {
    /// Compresses `src` to the start of `dest` and returns the length of the stream (bytes), or
    /// `None` if the stream does not fit. Give `dest` less than `src.len()` bytes, since a chunk
    /// never stores a stream that is as long as its data. After `None`, the content of `dest` is
    /// unspecified.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if `src` contradicts the options, for example the shape.
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error>;

    /// Whether the bytes of a stream depend on the length of `dest`. If not, any destination in
    /// which the stream fits gives the same stream, so it can be written straight to its position
    /// in a chunk.
    fn depends_on_room(&self) -> bool {
        true
    }
}

/// Decompresses streams with fixed options.
///
/// A decoder may start threads of its own. It must not wait for work that it gives to a thread pool
/// of its caller: all threads of that pool may be waiting for decoders.
pub trait StreamDecoder: Send {
    /// Decompresses the stream `src`. Succeeds only if all of `src` is valid and decodes to exactly
    /// `dest.len()` bytes. After an error, the content of `dest` is unspecified.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for other streams, [`Error::Unsupported`] for variants of the format that
    /// this build does not decode.
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error>;

    /// As [`decode`](Self::decode), for a destination that is mostly outside of the processor's
    /// cache: a decoder may prefetch it. The bytes are the same.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    #[doc(hidden)]
    fn decode_uncached(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        self.decode(src, dest)
    }

    /// As [`decode`](Self::decode), but only the first `wanted` bytes of `dest` are specified
    /// afterwards, and damage in the rest of the stream may go unnoticed.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    fn decode_prefix(&mut self, src: &[u8], dest: &mut [u8], wanted: usize) -> Result<(), Error> {
        let _ = wanted;
        self.decode(src, dest)
    }
}

/// Options of an encoder, with facts about the block. Most codecs use only the level.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'a> {
    /// The compression level; 0 counts as 1.
    pub clevel: Level,
    /// The codec's own parameter (`compcode_meta`).
    pub meta: u8,
    /// Size of an item (bytes).
    pub typesize: usize,
    /// Whether the block was cut into one stream per byte of the item.
    pub split: bool,
    /// The dictionary of the chunk.
    pub dict: Option<&'a [u8]>,
    /// Items per dimension of a block; only for codecs that work on arrays.
    pub blockshape: Option<&'a [u32]>,
    /// The vector instructions to use; the bytes do not depend on them.
    pub simd: Simd,
}

impl Default for EncodeOptions<'_> {
    fn default() -> Self {
        Self {
            clevel: Level::DEFAULT,
            meta: 0,
            typesize: 1,
            split: false,
            dict: None,
            blockshape: None,
            simd: Simd::detect(),
        }
    }
}

/// Options of a decoder; see [`EncodeOptions`] for the fields.
#[derive(Clone, Copy, Debug)]
pub struct DecodeOptions<'a> {
    /// The codec's own parameter (`compcode_meta`).
    pub meta: u8,
    /// Size of an item (bytes).
    pub typesize: usize,
    /// The dictionary of the chunk.
    pub dict: Option<&'a [u8]>,
    /// Items per dimension of a block; only for codecs that work on arrays.
    pub blockshape: Option<&'a [u32]>,
    /// The vector instructions to use; the bytes do not depend on them.
    pub simd: Simd,
}

impl Default for DecodeOptions<'_> {
    fn default() -> Self {
        Self { meta: 0, typesize: 1, dict: None, blockshape: None, simd: Simd::detect() }
    }
}

/// The check of builds without encoders: all code after it is left out there.
#[inline(always)]
pub(crate) const fn require_write(id: CodecId) -> Result<(), Error> {
    match cfg!(feature = "write") {
        true => Ok(()),
        false => Err(Error::Unsupported {
            id,
            name: "compressing",
            needs: "the feature `write` of blosc-codecs",
        }),
    }
}

/// The check of codecs without dictionaries.
pub(crate) fn refuse_dict(codec: CodecId, dict: Option<&[u8]>) -> Result<(), Error> {
    match dict {
        None => Ok(()),
        Some(_) => Err(Error::Param { codec, what: Param::Dict }),
    }
}
