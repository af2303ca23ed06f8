//! For other crates of this workspace; programs do not need it. It may change at any time.

pub use crate::pipeline::Undo;
pub use crate::rows::EvenRows;
pub use crate::shuffle::unshuffle_planes;
pub use crate::simd::second_level_cache_nbytes;
pub use crate::store_hint::StoreHint;
