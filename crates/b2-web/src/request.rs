//! Requests of the page.

use blosc_data::Pick;
use serde::Deserialize;

/// A request: each is a JSON object whose `call` names it.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// A new session of a file.
    File { name: String },
    /// A new session of the files of a folder: their paths and lengths.
    Folder { name: String, files: Vec<(String, u64)> },
    /// Ends a session.
    Close { session: usize },
    /// Opens what a session is of, and describes it.
    Open { session: usize },
    /// Describes a member; an empty name is the whole.
    About { session: usize, member: String },
    /// Items of an array as text: a window of the last two dimensions.
    Cells { session: usize, member: String, fixed: Vec<u64>, rows: [u64; 2], columns: [u64; 2] },
    /// Rows of a table as text, or as values of JSON; of all columns without a name.
    Rows {
        session: usize,
        member: String,
        columns: Vec<String>,
        rows: Vec<u64>,
        #[serde(default)]
        json: bool,
    },
    /// The sizes of some chunks.
    Chunks { session: usize, member: String, start: u64, count: u64 },
    /// Begins a task, in place of one before.
    Task { session: usize, member: String, task: TaskRequest },
    /// The next piece of the task.
    Next { session: usize },
    /// The findings of a task so far: statistics, faults or rows.
    Found { session: usize },
    /// The picture of the task, as PNG.
    Picture { session: usize, width: u32, height: u32 },
}

/// Work that takes long.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum TaskRequest {
    Line(Numbers),
    Map(Numbers),
    Histogram(Numbers),
    Stats {},
    Verify {},
    Filter { condition: String },
    Export { format: ExportFormat, part: Vec<Part> },
}

/// The numbers of a picture: a column of a table, a field of items, or items.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Numbers {
    pub(crate) column: Option<String>,
    /// The range of each dimension; the whole of one that is not named.
    pub(crate) part: Vec<Part>,
    /// Columns and rows of pixels.
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// The part to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExportFormat {
    Csv,
    Npy,
}

/// A position, or those from one up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Part {
    At(u64),
    Range([u64; 2]),
}

impl Part {
    pub(crate) fn pick(self) -> Pick {
        let number = |position| i64::try_from(position).unwrap_or(i64::MAX);
        match self {
            Self::At(at) => Pick::Index(number(at)),
            Self::Range([start, end]) => Pick::slice(number(start), number(end), 1),
        }
    }
}
