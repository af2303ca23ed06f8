//! The tests of the interface, as one program: each program more would be linked with everything again.

mod append;
mod errors;
#[cfg(unix)]
mod forks;
mod golden;
mod partial;
mod properties;
mod regressions;
mod rescue;
