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
    exit::Code,
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

/// Parts that could not be read of a file that is described all the same.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Problems {
    texts: Vec<String>,
    /// The first one's exit code: the system's, or that of damage.
    #[serde(skip)]
    code: Option<Code>,
}

impl Problems {
    /// Adds an error, once: one cause may hide several things.
    pub(crate) fn add(&mut self, error: &Error) {
        let is_system = error.code() == Code::System;
        self.add_text(chain(error), if is_system { Code::System } else { Code::Data });
    }

    /// Adds what has no error of its own.
    pub(crate) fn add_text(&mut self, text: String, code: Code) {
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
        self.code.get_or_insert(code);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether there is damage, which rescuing helps against.
    pub(crate) fn is_damage(&self) -> bool {
        self.code == Some(Code::Data)
    }

    /// The end of the command that has printed them.
    pub(crate) fn outcome(&self) -> Result<(), Error> {
        self.code.map_or(Ok(()), |code| Err(Error::Reported { code }))
    }
}

/// The value, or `None` and a note.
fn noted<T>(problems: &mut Problems, found: Result<T, impl Into<Error>>) -> Option<T> {
    found.map_err(|error| problems.add(&error.into())).ok()
}
