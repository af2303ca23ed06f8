//! What was found in a file, as data: the documents of `--json`, and what the text of `info` and
//! `list` is made from.

mod bcolz;
mod blp;
mod chunk;
mod chunks;
mod info;
mod readers;

pub(crate) use bcolz::{ArrayChunks, ArrayReport, BcolzReport, Body, TableReport};
pub(crate) use blp::{BlpChunks, BlpReport};
pub(crate) use chunk::{BlockRow, BlockTable, ChunkReport, note_text};
pub(crate) use chunks::{ChunkRow, ChunkTable};
pub(crate) use info::InfoReport;
