//! The tests of the interface, as one program: each program more would be linked with everything again.

#[path = "support/arrays.rs"]
mod arrays;
#[cfg(feature = "arrow")]
mod arrow;
mod checksums;
mod copies;
mod errors;
mod golden;
#[cfg(feature = "parquet")]
mod parquet;
mod pickles;
mod properties;
mod query;
mod regressions;
mod rescue;
mod rounds;
#[path = "support/tree.rs"]
mod tree;
mod write;
