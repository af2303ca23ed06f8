//! Functions of the caller that run before the first filter and after the last one.

pub use crate::decode::Postfilter;
pub use crate::encode::Prefilter;
