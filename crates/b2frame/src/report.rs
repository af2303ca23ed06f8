//! The report of a verification, and a way to watch its progress.

pub use blosc_container::report::{Progress, VerifyOptions};

pub use crate::schunk::{BadChunk, Note, VerifyReport};
