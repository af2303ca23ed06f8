//! How much memory things need, and how much a run may use.

pub(crate) use b2_program::memory::budget;
pub(crate) use blosc_data::size::{as_len, check_memory as check, nbytes};
