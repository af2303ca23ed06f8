//! The decoder of a thread, kept from chunk to chunk.

use core::fmt;
use std::sync::Arc;

use blosc_codecs::{CodecId, DecodeOptions, FormatId, StreamDecoder};

use crate::error::{Error, Result};
use crate::header::ChunkHeader;
use crate::params::DParams;

/// The properties of a chunk on which a decoder depends, except the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DecoderKey {
    format: FormatId,
    codec: CodecId,
    meta: u8,
    typesize: u8,
    is_blosc1: bool,
    is_extended: bool,
}

impl DecoderKey {
    pub(super) fn new(header: &ChunkHeader) -> Self {
        Self {
            format: header.format(),
            codec: header.codec_id(),
            meta: header.codec_meta(),
            typesize: header.raw().typesize,
            is_blosc1: header.is_blosc1(),
            is_extended: header.is_extended(),
        }
    }

    /// Bytes of data that justify a separate thread: they take some 50 us.
    pub(super) const fn min_job_nbytes(self) -> usize {
        match self.format {
            FormatId::BLOSCLZ | FormatId::LZ4 => 512 << 10,
            _ => 128 << 10,
        }
    }
}

/// A decoder, with its properties and its dictionary.
pub(super) struct CachedDecoder {
    key: DecoderKey,
    dict: Option<Arc<[u8]>>,
    pub(super) decoder: Box<dyn StreamDecoder>,
}

impl CachedDecoder {
    pub(super) fn new(key: DecoderKey, dict: Option<&[u8]>, params: &DParams) -> Result<Self> {
        let DecoderKey { format, codec, meta, typesize, .. } = key;
        let unknown = |source| Error::UnknownCodec { format, id: codec, source };
        let registry = &params.registries.codecs;
        let found = match format {
            // No C-Blosc2 supports Snappy, so the chunk is invalid.
            FormatId::SNAPPY if !key.is_blosc1 => {
                return Err(unknown(blosc_codecs::Error::UnknownFormat { format }));
            }
            FormatId::USER if key.is_extended => registry.require(codec),
            _ => registry.require_format(format),
        };
        let found = found.map_err(unknown)?;
        // Codecs without dictionaries ignore one, as C-Blosc2 does.
        let dict = dict.filter(|_| found.has_dict());
        let options = DecodeOptions {
            meta,
            typesize: typesize.into(),
            dict,
            blockshape: params.blockshape.as_deref(),
            simd: params.registries.codec_simd(),
        };
        let decoder =
            found.new_decoder(&options).map_err(|source| Error::Codec { at: 0, source })?;
        Ok(Self { key, dict: dict.map(Arc::from), decoder })
    }

    pub(super) fn suits(&self, key: DecoderKey, dict: Option<&[u8]>) -> bool {
        self.key == key && self.dict.as_deref() == dict
    }
}

impl fmt::Debug for CachedDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CachedDecoder").field(&self.key).finish()
    }
}
