//! The definitions: simple loops that say what a kernel does, and run where there are no vector instructions.
#![forbid(unsafe_code)]

mod bitshuffle;
mod shuffle;

pub(super) use bitshuffle::{bitshuffle, bitunshuffle};
pub(super) use shuffle::{shuffle, unshuffle};
