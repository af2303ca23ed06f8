//! A file or folder that is looked at.

use core::ops::Range;
use std::sync::Arc;

use blosc_data::{Budget, Data, Dataset, OpenOptions, Source, open_source};
use blosc_io::steps::{Fetch, FetchedFile, FetchedTree, Step};
use serde_json::{Value, json};

use crate::fault::{Fault, Result};
use crate::task::Task;

/// Bytes that one step fetches ahead.
const STEP_NBYTES: u64 = 32 << 20;
/// Bytes that are kept of what was fetched.
const KEPT_NBYTES: u64 = 96 << 20;
/// Memory of work over many chunks.
const MAX_MEMORY: u64 = 128 << 20;
/// Bytes of a chunk: larger ones are refused, since a page has little memory.
const MAX_CHUNK_NBYTES: u64 = 256 << 20;
/// Files of a folder.
const MAX_FILES: usize = 100_000;

/// Where bytes come from.
#[derive(Debug)]
enum Origin {
    File(Arc<FetchedFile>),
    Folder(Arc<FetchedTree>),
}

/// A file or folder, with what was opened of it.
#[derive(Debug)]
pub(crate) struct Session {
    name: String,
    origin: Origin,
    /// Its data, once it was opened.
    whole: Option<Dataset>,
    /// The member that was looked at last.
    member: Option<(String, Dataset)>,
    pub(crate) task: Option<Task>,
}

impl Session {
    pub(crate) fn of_file(name: String) -> Self {
        let file = FetchedFile::new(STEP_NBYTES).keeping(KEPT_NBYTES);
        Self::new(name, Origin::File(Arc::new(file)))
    }

    pub(crate) fn of_folder(name: String, files: Vec<(String, u64)>) -> Result<Self> {
        if files.len() > MAX_FILES {
            let text = format!(
                "{} files are too many, the limit is {MAX_FILES}: convert the folder to one file, \
                 `b2 convert FOLDER FILE.b2z`",
                files.len()
            );
            return Err(Fault::Request(text));
        }
        let tree = FetchedTree::new(files, STEP_NBYTES).keeping(KEPT_NBYTES);
        Ok(Self::new(name, Origin::Folder(Arc::new(tree))))
    }

    fn new(name: String, origin: Origin) -> Self {
        Self { name, origin, whole: None, member: None, task: None }
    }

    /// Adds bytes of a file that were fetched.
    pub(crate) fn add(&self, path: &str, at: u64, bytes: &[u8], len: u64) -> Result<()> {
        let added = match &self.origin {
            Origin::File(file) => file.add(at, bytes, len),
            Origin::Folder(tree) => tree.add(path, at, bytes, len),
        };
        added.map_err(|error| Fault::Request(format!("the file has changed: {error}")))
    }

    /// Runs `work` over what is known: its result, or what it lacks.
    pub(crate) fn step<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<core::result::Result<T, Value>> {
        match &self.origin {
            Origin::File(file) => Ok(match file.step(|| work(self))? {
                Step::Done(done) => Ok(done),
                Step::Fetch(list) => Err(list.iter().map(|fetch| fetch_json("", fetch)).collect()),
            }),
            Origin::Folder(tree) => Ok(match tree.step(|| work(self))? {
                Step::Done(done) => Ok(done),
                Step::Fetch(list) => {
                    Err(list.iter().map(|(path, fetch)| fetch_json(path, fetch)).collect())
                }
            }),
        }
    }

    /// The data of all, which are opened at need.
    pub(crate) fn whole(&self) -> Result<Dataset> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let source = match &self.origin {
            Origin::File(file) => Source::File(Arc::clone(file) as _),
            Origin::Folder(tree) => Source::Folder(Arc::clone(tree) as _),
        };
        Ok(open_source(source, &self.name, &options())?)
    }

    /// The data of a member; an empty name is the whole.
    pub(crate) fn member(&self, name: &str) -> Result<Dataset> {
        match &self.member {
            Some((known, member)) if known == name => return Ok(member.clone()),
            _ if name.is_empty() => return self.whole(),
            _ => {}
        }
        match self.whole()?.data {
            Data::Group(group) => Ok(group.open(name)?),
            _ => Err(Fault::request("only groups have members")),
        }
    }

    /// Keeps what was opened, so that it is not read again.
    pub(crate) fn keep(&mut self, name: &str, data: Dataset) {
        match name.is_empty() {
            true => self.whole = Some(data),
            false => self.member = Some((name.to_owned(), data)),
        }
    }
}

pub(crate) fn budget() -> Budget {
    Budget { max_memory: MAX_MEMORY, ..Budget::default() }
}

fn options() -> OpenOptions {
    let limits = blosc_chunk::Limits::default().max_nbytes(MAX_CHUNK_NBYTES);
    let dparams = blosc_chunk::DParams::default().limits(limits);
    OpenOptions::default().budget(budget()).dparams(dparams)
}

/// `[path, start, end]`, or `[path, -1, length]` for the end of a file.
fn fetch_json(path: &str, fetch: &Fetch) -> Value {
    match fetch {
        Fetch::Range(Range { start, end }) => json!([path, start, end]),
        Fetch::Suffix(nbytes) => json!([path, -1, nbytes]),
    }
}
