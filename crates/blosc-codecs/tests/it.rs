//! The tests of the interface, as one program: each program more would be linked with everything again.

mod errors;
mod golden;
mod properties;
mod regressions;
mod sizes;
#[cfg(feature = "zstd")]
mod zstd;
