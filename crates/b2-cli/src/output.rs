//! Writing: where output goes, how it appears whole or not at all, and reading it back.

pub(crate) mod byte_sink;
pub(crate) mod leftover;
pub(crate) mod placement;
pub(crate) mod read_back;
pub(crate) mod staged;
pub(crate) mod store_place;
pub(crate) mod targets;
pub(crate) mod unfinished;
