//! Whole chunks.

use core::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use blosc_chunk::{
    CParams, ChunkHeader, CodecId, DParams, Encoder, FilterId, Level, Limits, Pipeline, Scratch,
    Target, Threads, max_compressed_len,
};
use blosc_container::pool::{Pool, Pooled, Reusable};
use zarrs_codec::{
    ArrayBytesRaw, BytesPartialDecoderTraits, BytesRepresentation, BytesToBytesCodecTraits,
    CodecError, CodecMetadataOptions, CodecOptions, CodecTraits, PartialDecoderCapability,
    PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs_metadata::Configuration;
use zarrs_plugin::ZarrVersion;

use crate::config::{CodecName, Config, Shuffle};
use crate::partial::Partial;

/// The codec, which compresses and restores the chunks of Zarr arrays.
#[derive(Debug)]
pub struct BloscCodec {
    config: Config,
    scratch: Pool<Reader>,
}

/// Memory for decoding, kept from one chunk to the next.
#[derive(Debug)]
pub(crate) struct Reader(pub(crate) Scratch);

impl Default for Reader {
    fn default() -> Self {
        let params = DParams::default().threads(Threads::One).limits(Limits::none());
        Self(Scratch::new(&params))
    }
}

impl Reusable for Reader {
    // Contexts of codecs and one or two blocks, for any chunk.
    fn held_nbytes(&self) -> usize {
        0
    }
}

/// An error of a chunk in the type of zarrs.
pub(crate) fn failed(error: impl core::fmt::Display) -> CodecError {
    CodecError::Other(format!("blosc: {error}"))
}

impl BloscCodec {
    /// A codec with these parameters.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, scratch: Pool::default() }
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn reader(&self) -> Pooled<'_, Reader> {
        self.scratch.check_out(Reader::default)
    }

    /// The parameters of chunks, in the form that C-Blosc 1.21 and every reader of Zarr accept.
    pub(crate) fn cparams(&self) -> CParams {
        let Config { cname, clevel, shuffle, typesize, blocksize, .. } = self.config;
        let codec = match cname {
            CodecName::BloscLz => CodecId::BLOSCLZ,
            CodecName::Lz4 => CodecId::LZ4,
            CodecName::Lz4hc => CodecId::LZ4HC,
            CodecName::Snappy => CodecId::SNAPPY,
            CodecName::Zlib => CodecId::ZLIB,
            CodecName::Zstd => CodecId::ZSTD,
        };
        let filter = match shuffle {
            Shuffle::NoShuffle => FilterId::NOFILTER,
            Shuffle::Shuffle => FilterId::SHUFFLE,
            Shuffle::BitShuffle => FilterId::BITSHUFFLE,
        };
        let typesize = typesize.filter(|size| (1..=255).contains(size)).unwrap_or(1);
        CParams::default()
            .target(Target::Blosc1_14)
            .codec(codec)
            .clevel(Level::try_from(clevel).unwrap_or(Level::BEST))
            .typesize(typesize)
            .filters(Pipeline::from_slots([0, 0, 0, 0, 0, filter.0], [0; 6]))
            .blocksize((blocksize > 0).then_some(blocksize))
            .threads(Threads::One)
    }
}

/// Refuses a chunk whose length differs from that of the array, before memory is allocated for it.
pub(crate) fn check_nbytes(
    header: &ChunkHeader,
    expected: &BytesRepresentation,
) -> Result<(), CodecError> {
    let found = header.nbytes() as u64;
    let fits = match expected {
        BytesRepresentation::FixedSize(size) => found == *size,
        BytesRepresentation::BoundedSize(size) => found <= *size,
        BytesRepresentation::UnboundedSize => true,
    };
    match (fits, expected.size()) {
        (true, _) => Ok(()),
        (false, size) => {
            let size = size.unwrap_or_default();
            Err(failed(format!("a chunk of {found} bytes of data where the array has {size}")))
        }
    }
}

impl CodecTraits for BloscCodec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(
        &self,
        version: ZarrVersion,
        _options: &CodecMetadataOptions,
    ) -> Option<Configuration> {
        Some(Configuration::from(match version {
            ZarrVersion::V2 => self.config.to_v2(),
            ZarrVersion::V3 => self.config.to_v3(),
        }))
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: true, partial_decode: true }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for BloscCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        _decoded: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        // zarrs runs several chunks in parallel.
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        let most =
            |size: u64| usize::try_from(size).map_or(u64::MAX, |n| max_compressed_len(n) as u64);
        decoded.size().map_or(BytesRepresentation::UnboundedSize, |size| {
            BytesRepresentation::BoundedSize(most(size))
        })
    }

    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let chunk = Encoder::new(self.cparams()).and_then(|mut encoder| encoder.encode(&decoded));
        chunk.map(Cow::Owned).map_err(failed)
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let chunk = blosc_chunk::Chunk::parse(&encoded).map_err(failed)?;
        check_nbytes(chunk.header(), decoded)?;
        let mut data = vec![0; chunk.header().nbytes()];
        let Reader(scratch) = &mut *self.reader();
        chunk.decode_into(&mut data, scratch).map_err(failed)?;
        Ok(Cow::Owned(data))
    }

    fn partial_decoder(
        self: Arc<Self>,
        input: Arc<dyn BytesPartialDecoderTraits>,
        decoded: &BytesRepresentation,
        _options: &CodecOptions,
    ) -> Result<Arc<dyn BytesPartialDecoderTraits>, CodecError> {
        Ok(Arc::new(Partial::new(self, input, *decoded)))
    }
}
