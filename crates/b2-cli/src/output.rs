//! Outputs: their names, their atomic appearance, and reading them back.

pub(crate) mod copy;
pub(crate) mod copy_rest;
pub(crate) mod placement;
pub(crate) mod read_back;
pub(crate) mod signals;
pub(crate) mod store_place;
pub(crate) mod targets;

pub(crate) use b2_program::{Outcome, StageOptions, signals::Unfinished};
pub(crate) use blosc_data::Digest;
pub(crate) use placement::{Counts, Dest, Placement, foreign_file};
pub(crate) use read_back::Digesting;
pub(crate) use store_place::StorePlace;
pub(crate) use targets::{Naming, Target, Targets, check_frame_name};

use crate::program::B2;

/// A destination of bytes: standard output, a device or a file.
pub(crate) type Sink = b2_program::Sink<B2>;
/// A [`Sink`] as a [`Write`](std::io::Write).
pub(crate) type SinkWriter<'a> = b2_program::SinkWriter<'a, B2>;
/// Outputs that are renamed together.
pub(crate) type Batch = b2_program::Batch<B2>;
/// Output that appears whole or not at all.
pub(crate) type Staged = b2_program::Staged<B2>;
