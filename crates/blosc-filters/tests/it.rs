//! The tests of the interface, as one program: each further program would be linked again.

mod copies;
#[path = "support/definition.rs"]
mod definition;
mod definitions;
mod errors;
mod golden;
mod properties;
mod regressions;
