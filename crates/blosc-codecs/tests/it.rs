//! The tests of the interface, as one program: each further program would be linked again.

mod errors;
mod golden;
mod properties;
mod regressions;
mod sizes;
#[cfg(feature = "zstd")]
mod zstd;
