//! The tests of the interface, as one program: each program more would be linked with everything again.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "expr")]
mod bounds;
mod errors;
#[cfg(feature = "expr")]
mod expressions;
mod golden;
mod properties;
mod regressions;
