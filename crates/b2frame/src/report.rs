//! What a verification reports, and how it is watched.

pub use blosc_container::report::{Progress, VerifyOptions};

pub use crate::schunk::{BadChunk, Note, VerifyReport};
