//! The tests of the interface, as one program: each further program would be linked again.

mod checklist;
mod destination;
mod errors;
mod exhaustive;
#[cfg(unix)]
mod forks;
#[cfg(all(feature = "zlib", feature = "zstd", feature = "snappy"))]
mod golden;
mod hooks;
#[cfg(all(feature = "zlib", feature = "zstd", feature = "snappy"))]
mod partial;
#[cfg(all(feature = "zlib", feature = "zstd", feature = "snappy"))]
mod properties;
mod regressions;
mod slices;
mod suspicions;
#[path = "support/text.rs"]
mod text;
#[cfg(feature = "zstd")]
mod threads;
mod transcode;
mod validate;
#[cfg(all(feature = "zlib", feature = "zstd", feature = "snappy"))]
mod writer;
