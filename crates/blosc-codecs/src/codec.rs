//! The contract between a chunk and a codec: one stream in, one stream out, nothing remembered in
//! between.

use alloc::{boxed::Box, vec::Vec};

use crate::{CodecId, Error, FormatId, Level, Param};

/// One codec: makes encoders and decoders, each for one thread.
pub trait Codec: Send + Sync {
    /// The id under which the codec is registered.
    fn id(&self) -> CodecId;

    /// The format of its streams.
    fn format(&self) -> FormatId {
        self.id().format()
    }

    /// The name in the API of the original libraries.
    fn name(&self) -> &str;

    /// The version of the implementation, for people to read.
    fn version(&self) -> &str;

    /// The length (bytes) that a stream of `len` plain bytes never exceeds.
    fn max_compressed_len(&self, len: usize) -> usize;

    /// An encoder for these options, to be kept and used again.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] when the options do not suit the codec, [`Error::Unsupported`] when it
    /// cannot encode.
    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error>;

    /// A decoder for these options, to be kept and used again.
    ///
    /// # Errors
    ///
    /// As [`new_encoder`](Self::new_encoder).
    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error>;

    /// Whether streams may refer to a dictionary.
    fn has_dict(&self) -> bool {
        false
    }

    /// A dictionary of at most `max` bytes made from `samples`, or `None` when none is worth
    /// having.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] when the codec has no dictionaries.
    fn train_dict(&self, samples: &[&[u8]], max: usize) -> Result<Option<Vec<u8>>, Error> {
        let _ = (samples, max);
        Err(Error::Param { codec: self.id(), what: Param::Dict })
    }

    /// Whether decoding gives back something else than what was encoded.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// Compresses streams with fixed options. Streams are independent: what is kept between them is
/// memory, not state.
pub trait StreamEncoder: Send {
    /// Compresses `src` to the start of `dest` and returns the length of the stream (bytes), or
    /// `None` when it does not fit. `dest` is exactly the room there is; give it less than
    /// `src.len()` bytes, since a stream as long as the plain bytes is of no use to a chunk.
    /// After `None`, the content of `dest` is unspecified.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] when `src` does not suit the options, such as a shape.
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error>;

    /// Whether the bytes of a stream depend on the room that there is for it. If not, the stream is
    /// the same wherever it fits, so that it can be written straight into any room.
    fn depends_on_room(&self) -> bool {
        true
    }
}

/// Decompresses streams with fixed options.
///
/// Streams of one block may be decoded by several threads of rayon's pool, some of which wait for
/// others: an implementation may have threads of its own, but must not wait for tasks of that pool.
pub trait StreamDecoder: Send {
    /// Decompresses the stream `src`. Succeeds only if all of `src` makes sense and exactly
    /// `dest.len()` bytes come out. After an error, the content of `dest` is unspecified (but
    /// was written by nobody else).
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when that is not so, [`Error::Unsupported`] for variants of the format
    /// that nobody reads.
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error>;

    /// As [`decode`](Self::decode), for a destination that is hardly in the processor's cache, as
    /// it is part of more memory than that holds: a decoder may have it fetched before it
    /// writes. The bytes are the same.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    fn decode_uncached(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        self.decode(src, dest)
    }

    /// As [`decode`](Self::decode), for a caller who needs only the first `wanted` bytes of `dest`:
    /// the others are unspecified afterwards, and what is wrong with the stream behind them may
    /// go unnoticed.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    fn decode_prefix(&mut self, src: &[u8], dest: &mut [u8], wanted: usize) -> Result<(), Error> {
        let _ = wanted;
        self.decode(src, dest)
    }
}

/// What an encoder is told. All are plain facts about the block; most codecs look only at the
/// level.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'a> {
    /// How hard to try; 0 counts as 1.
    pub level: Level,
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
}

impl Default for EncodeOptions<'_> {
    fn default() -> Self {
        Self {
            level: Level::DEFAULT,
            meta: 0,
            typesize: 1,
            split: false,
            dict: None,
            blockshape: None,
        }
    }
}

/// What a decoder is told; see [`EncodeOptions`] for the fields.
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
}

impl Default for DecodeOptions<'_> {
    fn default() -> Self {
        Self { meta: 0, typesize: 1, dict: None, blockshape: None }
    }
}

/// For codecs without dictionaries.
pub(crate) fn refuse_dict(codec: CodecId, dict: Option<&[u8]>) -> Result<(), Error> {
    match dict {
        None => Ok(()),
        Some(_) => Err(Error::Param { codec, what: Param::Dict }),
    }
}
