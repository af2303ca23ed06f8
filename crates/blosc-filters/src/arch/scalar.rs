//! The definitions: simple loops that define each kernel, and run if there are no vector
//! instructions.
#![forbid(unsafe_code)]

mod bitshuffle;
mod rows;
mod scan;
mod shuffle;

pub(super) use bitshuffle::{bitshuffle, bitunshuffle};
pub(super) use rows::{put_planes, put_rows, take_rows};
pub(super) use scan::{running_sum, running_xor};
#[cfg(target_arch = "x86_64")]
pub(super) use shuffle::unshuffle_from;
pub(super) use shuffle::{shuffle, unshuffle, unshuffle_planes};
