//! The tests of the interface, as one program: each program more would be linked with everything again.

mod copies;
#[path = "support/definition.rs"]
mod definition;
mod definitions;
mod errors;
mod golden;
mod properties;
mod regressions;
