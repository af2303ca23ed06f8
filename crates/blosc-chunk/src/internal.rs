//! For other crates of this workspace. It may change at any time.

pub use blosc_filters::internal::{EvenRows, StoreHint};

pub use crate::jobs::{Jobs, for_each};
pub use crate::special::fill_special;
