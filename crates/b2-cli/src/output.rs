//! Writing: where output goes, how it appears whole or not at all, and reading it back.

pub(crate) mod byte_sink;
pub(crate) mod copy_rest;
pub(crate) mod placement;
pub(crate) mod read_back;
pub(crate) mod signals;
pub(crate) mod staged;
pub(crate) mod store_place;
pub(crate) mod targets;

pub(crate) use blosc_io::replace::Unfinished;
pub(crate) use byte_sink::{Sink, SinkWriter};
pub(crate) use placement::{Counts, Dest, Outcome, Placement};
pub(crate) use read_back::{Digest, Digesting};
pub(crate) use staged::{StageOptions, Staged};
pub(crate) use store_place::StorePlace;
pub(crate) use targets::{Naming, Target, Targets, check_frame_name};
