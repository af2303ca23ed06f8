//! Chunks and frames of Blosc2 as a codec.
//!
//! Zarr has no agreed name for it: the name is our own, and other readers do not know it.

use core::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use b2frame::nd::{NdMeta, Selection};
use b2frame::probe::{Kind, probe};
use b2frame::{NdArray, OpenOptions, SChunk};
use blosc_chunk::{DParams, Encoder, Limits, Target, Threads};
use blosc_io::MemStore;
use zarrs_codec::{
    ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits, Codec, CodecError,
    CodecMetadataOptions, CodecOptions, CodecPluginV3, CodecTraits, CodecTraitsV3,
    PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs_metadata::{Configuration, v3::MetadataV3};
use zarrs_plugin::{PluginCreateError, ZarrVersion};

use crate::codec::{BloscCodec, failed};
use crate::config::Config;

/// The codec `blosc-rs.blosc2` of arrays of version 3, with the parameters of `blosc`: it writes
/// chunks of Blosc2, and reads chunks of both generations, frames and arrays in frames.
#[derive(Debug)]
pub struct Blosc2Codec(BloscCodec);

zarrs_plugin::impl_extension_aliases!(Blosc2Codec, v3: "blosc-rs.blosc2");

inventory::submit! {
    CodecPluginV3::new::<Blosc2Codec>()
}

impl Blosc2Codec {
    /// A codec with these parameters.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self(BloscCodec::new(config))
    }
}

impl CodecTraitsV3 for Blosc2Codec {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let map = metadata.configuration().cloned().unwrap_or_default();
        let config = Config::from_v3(map.into()).map_err(|error| crate::invalid(&error))?;
        Ok(Codec::BytesToBytes(Arc::new(Self::new(config))))
    }
}

impl CodecTraits for Blosc2Codec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(
        &self,
        version: ZarrVersion,
        options: &CodecMetadataOptions,
    ) -> Option<Configuration> {
        self.0.configuration(version, options)
    }

    /// Chunks are read as a whole, because a frame has its index at its end.
    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        self.0.partial_encoder_capability()
    }
}

impl BytesToBytesCodecTraits for Blosc2Codec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        decoded: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        self.0.recommended_concurrency(decoded)
    }

    fn encoded_representation(&self, _decoded: &BytesRepresentation) -> BytesRepresentation {
        // A frame is longer than a chunk.
        BytesRepresentation::UnboundedSize
    }

    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let params = self.0.cparams().target(Target::default());
        let chunk = Encoder::new(params).and_then(|mut encoder| encoder.encode(&decoded));
        chunk.map(Cow::Owned).map_err(failed)
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        if !matches!(probe(&encoded), Kind::Frame | Kind::OlderFrame) {
            return self.0.decode(encoded, decoded, options);
        }
        let max_nbytes = decoded.size().unwrap_or(u64::MAX);
        // The padding of an array is decoded as well, one block at a time.
        let limits = Limits::none().max_nbytes(max_nbytes.saturating_mul(4).max(1 << 20));
        let dparams = DParams::default().threads(Threads::One).limits(limits);
        let open = OpenOptions::default().dparams(dparams);
        let frame = MemStore::new(encoded.into_owned());
        let schunk = SChunk::from_store_with(Arc::new(frame), &open).map_err(failed)?;
        if schunk.meta().get(NdMeta::NAME).is_some() {
            let array = NdArray::from_schunk(schunk).map_err(failed)?;
            let itemsize = array.dtype().itemsize() as u64;
            check_frame(array.nitems().saturating_mul(itemsize), decoded)?;
            return array.to_bytes(Selection::ALL).map(Cow::Owned).map_err(failed);
        }
        check_frame(schunk.nbytes(), decoded)?;
        let mut data = vec![0; usize::try_from(schunk.nbytes()).map_err(failed)?];
        schunk.read_bytes(0, &mut data).map_err(failed)?;
        Ok(Cow::Owned(data))
    }
}

/// Refuses a frame whose length differs from that of the array, before memory is allocated for it.
fn check_frame(nbytes: u64, decoded: &BytesRepresentation) -> Result<(), CodecError> {
    let max_nbytes = decoded.size().unwrap_or(u64::MAX);
    let fits = match decoded {
        BytesRepresentation::FixedSize(size) => nbytes == *size,
        _ => nbytes <= max_nbytes,
    };
    if fits {
        return Ok(());
    }
    let text = format!("a frame of {nbytes} bytes of data where the array has {max_nbytes}");
    Err(failed(text))
}
