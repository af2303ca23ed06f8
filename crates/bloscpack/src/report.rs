//! What [`BlpFile::verify`](crate::BlpFile::verify) is told and what it finds.

pub use blosc_container::report::{BadChunk, Progress, VerifyOptions};

pub use crate::file::{Note, Report};
