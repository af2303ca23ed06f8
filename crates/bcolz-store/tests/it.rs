//! All tests of the interface in one program, as each further program would be linked anew.

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
