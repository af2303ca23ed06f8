//! The tests of the interface, as one program: each further program would link everything again.

#[cfg(feature = "arrow")]
mod arrow;
mod checklist;
mod crashes;
mod errors;
mod filter;
mod golden;
mod hostile;
mod model;
mod properties;
mod regressions;
mod rescue;
mod rounds;
#[path = "sidecar/values.rs"]
mod sidecar;
mod summaries;
mod write;
mod write_tables;
