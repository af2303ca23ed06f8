//! What verifying found, and how far it has come.

pub use blosc_container::report::{Progress, VerifyOptions};

pub use crate::carray::{BadChunk, Report};
pub use crate::note::{Fault, Note};
