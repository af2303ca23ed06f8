//! The codecs of the Blosc family.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod codec;
mod dict;
mod error;
mod id;
mod lz;
mod registry;

pub mod blosclz;
pub mod lz4;
pub mod ndlz;
#[cfg(feature = "snappy")]
pub mod snappy;
pub mod zfp;
#[cfg(feature = "zlib")]
pub mod zlib;
#[cfg(feature = "zstd")]
pub mod zstd;

pub use codec::{BlockDecoder, BlockEncoder, Codec, DecodeOptions, EncodeOptions};
pub use error::{Corrupt, Error, Param};
pub use id::{CodecId, FormatId, Level};
pub use registry::{Description, Registry};
