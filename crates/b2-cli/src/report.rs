//! The content of a file as data: the documents of `--json`, from which the text of `info` and
//! `list` is made from.

mod bcolz;
mod blp;
pub(crate) mod chunk;
mod chunks;
pub(crate) mod info;
pub(crate) mod left_out;
pub(crate) mod trial;

pub(crate) use bcolz::{ArrayChunks, ArrayReport, BcolzReport, Body, TableReport};
pub(crate) use blp::{BlpChunks, BlpReport};
pub(crate) use chunk::{BlockRow, BlockTable, ChunkReport};
pub(crate) use chunks::{ChunkRow, ChunkTable, MAX_LISTED_CHUNKS};
pub(crate) use info::InfoReport;

pub(crate) use blosc_data::{compat as readers, json::dtype_text};

use blosc_chunk::Pipeline;
use serde::Serialize;

use crate::{
    error::{Error, chain},
    render::size,
};

/// The keys with which every document about one file begins, in this order.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
pub(crate) struct FileSummary<'a> {
    pub(crate) path: &'a str,
    pub(crate) format: &'static str,
    /// The number that the file holds; 0 for Bloscpack headers of the first release candidates.
    pub(crate) format_version: u8,
    pub(crate) nbytes: u64,
    /// Chunks with their headers, without their digests.
    pub(crate) cbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cratio: Option<f64>,
    pub(crate) file_bytes: u64,
}

impl<'a> FileSummary<'a> {
    /// A file whose sizes are 0 so far.
    fn new(path: &'a str, format: &'static str, format_version: u8) -> Self {
        let (nbytes, cbytes, cratio, file_bytes) = (0, 0, None, 0);
        Self { path, format, format_version, nbytes, cbytes, cratio, file_bytes }
    }

    /// The same file with these sizes.
    fn sizes(self, nbytes: u64, cbytes: u64, file_bytes: u64) -> Self {
        Self { nbytes, cbytes, file_bytes, cratio: size::cratio(nbytes, cbytes), ..self }
    }

    /// Computes the ratio after the sizes have changed.
    fn update_ratio(&mut self) {
        self.cratio = size::cratio(self.nbytes, self.cbytes);
    }
}

/// The names of filters, in their order.
fn filter_names(pipeline: &Pipeline) -> Vec<String> {
    pipeline.active().map(|slot| slot.id.to_string()).collect()
}

/// The parameters of filters, in their order.
fn filter_metas(pipeline: &Pipeline) -> Vec<u8> {
    pipeline.active().map(|slot| slot.meta).collect()
}

/// The value, or `None` and a note.
fn noted<T>(problems: &mut Vec<String>, found: Result<T, impl Into<Error>>) -> Option<T> {
    let error = match found {
        Ok(found) => return Some(found),
        Err(error) => chain(&error.into()),
    };
    // One cause may hide several things.
    if !problems.contains(&error) {
        problems.push(error);
    }
    None
}
