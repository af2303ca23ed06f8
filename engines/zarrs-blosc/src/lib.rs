//! The codec `blosc` of Zarr arrays, versions 2 and 3, for zarrs.
//!
//! ```text
//! metadata  --Config-->  BloscCodec  -- encode, decode: whole chunks
//!                            \------ partial_decoder: header, then the blocks of a range
//! ```
//!
//! Linking the crate registers the codec if zarrs is built without its feature `blosc`;
//! [`register`] puts it before the codec of zarrs in arrays of version 3. The README describes
//! version 2.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

#[cfg(feature = "blosc2")]
mod blosc2;
mod codec;
mod config;
mod partial;

use std::sync::{Arc, Once};

use zarrs_codec::{
    Codec, CodecPluginV2, CodecPluginV3, CodecRuntimePluginV2, CodecRuntimePluginV3, CodecTraitsV2,
    CodecTraitsV3, register_codec_v2, register_codec_v3,
};
use zarrs_metadata::{v2::MetadataV2, v3::MetadataV3};
use zarrs_plugin::PluginCreateError;

#[cfg(feature = "blosc2")]
pub use blosc2::Blosc2Codec;
pub use codec::BloscCodec;
pub use config::{CodecName, Config, ConfigError, Shuffle};

// zarr-python also writes arrays of version 3 with the codec of numcodecs.
zarrs_plugin::impl_extension_aliases!(
    BloscCodec, v3: "blosc", ["numcodecs.blosc"], v2: "blosc", []
);

inventory::submit! {
    CodecPluginV3::new::<BloscCodec>()
}

inventory::submit! {
    CodecPluginV2::new::<BloscCodec>()
}

/// Puts the codec before others of its name, once for the process.
pub fn register() {
    static ONCE: Once = Once::new();
    let is_blosc = |name: &str| name == "blosc";
    let is_ours = |name: &str| matches!(name, "blosc" | NUMCODECS_NAME);
    ONCE.call_once(|| {
        drop(register_codec_v3(CodecRuntimePluginV3::new(is_ours, BloscCodec::create_v3)));
        drop(register_codec_v2(CodecRuntimePluginV2::new(is_blosc, BloscCodec::create_v2)));
    });
}

/// The name in metadata of version 3 of the codec with the parameters of version 2.
const NUMCODECS_NAME: &str = "numcodecs.blosc";

impl BloscCodec {
    fn create_v3(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let map = metadata.configuration().cloned().unwrap_or_default();
        let config = match metadata.name() {
            NUMCODECS_NAME => Config::from_v2(map.into()),
            _ => Config::from_v3(map.into()),
        };
        let config = config.map_err(|error| invalid(&error))?;
        Ok(Codec::BytesToBytes(Arc::new(Self::new(config))))
    }

    fn create_v2(metadata: &MetadataV2) -> Result<Codec, PluginCreateError> {
        let map = metadata.configuration().clone();
        let config = Config::from_v2(map.into()).map_err(|error| invalid(&error))?;
        Ok(Codec::BytesToBytes(Arc::new(Self::new(config))))
    }
}

fn invalid(error: &ConfigError) -> PluginCreateError {
    PluginCreateError::Other(error.to_string())
}

impl CodecTraitsV3 for BloscCodec {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        Self::create_v3(metadata)
    }
}

impl CodecTraitsV2 for BloscCodec {
    fn create(metadata: &MetadataV2) -> Result<Codec, PluginCreateError> {
        Self::create_v2(metadata)
    }
}
