//! Memory: the needs of operations, and the limit of a run.

pub(crate) use b2_program::memory::budget;
pub(crate) use blosc_data::size::{as_len, check_memory as check, nbytes};
