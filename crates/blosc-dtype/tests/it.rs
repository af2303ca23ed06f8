//! All tests of the interface in one program, as each further program would be linked anew.

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
