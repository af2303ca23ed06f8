//! All tests of the interface in one program, as each further program would be linked anew.

mod append;
mod errors;
#[cfg(unix)]
mod forks;
mod golden;
mod partial;
mod properties;
mod regressions;
mod rescue;
