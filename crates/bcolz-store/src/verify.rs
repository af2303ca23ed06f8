//! The options, the progress and the report of verifying.

pub use blosc_container::report::{Progress, VerifyOptions};

pub use crate::carray::{BadChunk, Report};
pub use crate::note::{Fault, Note};
