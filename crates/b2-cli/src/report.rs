//! The content of a file as data: the documents of `--json`. `info` and `list` make their text of
//! them.

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

/// The first keys of every document about a file, in this order.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
pub(crate) struct FileSummary<'a> {
    pub(crate) path: &'a str,
    pub(crate) format: &'static str,
    /// The version number in the file; 0 for Bloscpack headers of the first release candidates.
    pub(crate) format_version: u8,
    pub(crate) nbytes: u64,
    /// Chunks with their headers, without their digests.
    pub(crate) cbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cratio: Option<f64>,
    pub(crate) file_bytes: u64,
}

impl<'a> FileSummary<'a> {
    /// The description of a file, with all sizes 0.
    fn new(path: &'a str, format: &'static str, format_version: u8) -> Self {
        let (nbytes, cbytes, cratio, file_bytes) = (0, 0, None, 0);
        Self { path, format, format_version, nbytes, cbytes, cratio, file_bytes }
    }

    /// Sets the sizes.
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

/// Parts of a file that could not be read, though the rest is described.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Problems {
    texts: Vec<String>,
    /// The exit code of the first one: of the system, or of damage.
    #[serde(skip)]
    code: Option<Code>,
}

impl Problems {
    /// Adds an error, unless it is there: one cause may affect several parts.
    pub(crate) fn add(&mut self, error: &Error) {
        let is_system = error.code() == Code::System;
        self.add_text(chain(error), if is_system { Code::System } else { Code::Data });
    }

    /// Adds a text that has no error.
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

    /// Whether there is damage that `rescue` can work on.
    pub(crate) fn is_damage(&self) -> bool {
        self.code == Some(Code::Data)
    }

    /// The result of the command, which has printed the problems.
    pub(crate) fn outcome(&self) -> Result<(), Error> {
        self.code.map_or(Ok(()), |code| Err(Error::Reported { code }))
    }
}

/// The value; `None` adds a problem.
fn noted<T>(problems: &mut Problems, found: Result<T, impl Into<Error>>) -> Option<T> {
    found.map_err(|error| problems.add(&error.into())).ok()
}
