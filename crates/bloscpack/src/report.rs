//! The options, the progress and the report of [`BlpFile::verify`](crate::BlpFile::verify).

pub use blosc_container::report::{BadChunk, Progress, VerifyOptions};

pub use crate::file::{Note, Report};
