//! Requests of the page.
//!
//! Their members are taken out of an object by hand: deserializers by serde, which keep what comes
//! before the name of a variant, are 80 kB of the module.

use blosc_data::Pick;
use serde_json::{Map, Value};

use crate::fault::{Fault, Result};

/// A request: each is a JSON object whose `call` names it.
#[derive(Debug)]
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
    Rows { session: usize, member: String, columns: Vec<String>, rows: Vec<u64>, json: bool },
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

/// Work that takes long: a JSON object whose `kind` names it.
#[derive(Debug)]
pub(crate) enum TaskRequest {
    Line(Numbers),
    Map(Numbers),
    Histogram(Numbers),
    Stats,
    Verify,
    Filter { condition: String },
    Export { format: ExportFormat, part: Vec<Part> },
}

/// The numbers of a picture: a column of a table, a field of items, or items.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) column: Option<String>,
    /// The range of each dimension; the whole of one that is not named.
    pub(crate) part: Vec<Part>,
    /// Columns and rows of pixels.
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// The part to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    Csv,
    Npy,
}

/// A position, or those from one up to another: a number, or a list of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    fn parse(value: Value) -> Option<Self> {
        match value.is_array() {
            true => pair(value).map(Self::Range),
            false => value.as_u64().map(Self::At),
        }
    }
}

impl Request {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let value = serde_json::from_slice(bytes)
            .map_err(|error| Fault::Request(format!("the request: {error}")))?;
        let mut members = Members::parse(value)?;
        let name = members.text("call")?;
        let request = match &*name {
            "file" => Self::File { name: members.text("name")? },
            "folder" => {
                let (name, files) = (members.text("name")?, members.list("files", file)?);
                Self::Folder { name, files }
            }
            _ => Self::of_session(&name, &mut members)?,
        };
        members.end().map(|()| request)
    }

    fn of_session(name: &str, members: &mut Members) -> Result<Self> {
        let session = members.need("session", |it| it.as_u64().and_then(|n| n.try_into().ok()))?;
        Ok(match name {
            "close" => Self::Close { session },
            "open" => Self::Open { session },
            "next" => Self::Next { session },
            "found" => Self::Found { session },
            "picture" => {
                let [width, height] = [members.pixels("width")?, members.pixels("height")?];
                Self::Picture { session, width, height }
            }
            _ => Self::of_member(name, session, members)?,
        })
    }

    fn of_member(name: &str, session: usize, members: &mut Members) -> Result<Self> {
        let member = members.text("member")?;
        Ok(match name {
            "about" => Self::About { session, member },
            "cells" => Self::Cells {
                session,
                member,
                fixed: members.list("fixed", |it| it.as_u64())?,
                rows: members.need("rows", pair)?,
                columns: members.need("columns", pair)?,
            },
            "rows" => Self::Rows {
                session,
                member,
                columns: members.list("columns", text)?,
                rows: members.list("rows", |it| it.as_u64())?,
                json: members.may("json", |it| it.as_bool())?.unwrap_or(false),
            },
            "chunks" => {
                let [start, count] = [members.number("start")?, members.number("count")?];
                Self::Chunks { session, member, start, count }
            }
            "task" => {
                let task = TaskRequest::parse(members.need("task", Some)?)?;
                Self::Task { session, member, task }
            }
            _ => return Err(Fault::Request(format!("the request: nothing is called {name:?}"))),
        })
    }
}

impl TaskRequest {
    fn parse(value: Value) -> Result<Self> {
        let mut members = Members::parse(value)?;
        let kind = members.text("kind")?;
        let task = match &*kind {
            "line" => Self::Line(Numbers::take(&mut members)?),
            "map" => Self::Map(Numbers::take(&mut members)?),
            "histogram" => Self::Histogram(Numbers::take(&mut members)?),
            "stats" => Self::Stats,
            "verify" => Self::Verify,
            "filter" => Self::Filter { condition: members.text("condition")? },
            "export" => {
                let format = members.need("format", |it| match it.as_str()? {
                    "csv" => Some(ExportFormat::Csv),
                    "npy" => Some(ExportFormat::Npy),
                    _ => None,
                })?;
                Self::Export { format, part: members.list("part", Part::parse)? }
            }
            _ => return Err(Fault::Request(format!("the request: no task is a {kind:?}"))),
        };
        members.end().map(|()| task)
    }
}

impl Numbers {
    fn take(members: &mut Members) -> Result<Self> {
        Ok(Self {
            column: members.may("column", text)?,
            part: members.list("part", Part::parse)?,
            width: members.pixels("width")?,
            height: members.pixels("height")?,
        })
    }
}

/// The members of an object that nothing has taken yet.
struct Members(Map<String, Value>);

impl Members {
    fn parse(value: Value) -> Result<Self> {
        match value {
            Value::Object(members) => Ok(Self(members)),
            _ => Err(Fault::request("the request: no object")),
        }
    }

    /// A member that may be missing, or null.
    fn may<T>(&mut self, name: &str, read: impl Fn(Value) -> Option<T>) -> Result<Option<T>> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                Some(value) => Ok(Some(value)),
                None => Err(Fault::Request(format!("the request: {name} is of another type"))),
            },
        }
    }

    fn need<T>(&mut self, name: &str, read: impl Fn(Value) -> Option<T>) -> Result<T> {
        let missing = || Fault::Request(format!("the request: {name} is missing"));
        self.may(name, read)?.ok_or_else(missing)
    }

    fn text(&mut self, name: &str) -> Result<String> {
        self.need(name, text)
    }

    fn number(&mut self, name: &str) -> Result<u64> {
        self.need(name, |it| it.as_u64())
    }

    fn pixels(&mut self, name: &str) -> Result<u32> {
        self.need(name, |it| it.as_u64().and_then(|n| n.try_into().ok()))
    }

    fn list<T>(&mut self, name: &str, read: impl Fn(Value) -> Option<T>) -> Result<Vec<T>> {
        self.need(name, |list| match list {
            Value::Array(values) => values.into_iter().map(&read).collect(),
            _ => None,
        })
    }

    /// Refuses members that the request does not have.
    fn end(&self) -> Result<()> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Fault::Request(format!("the request: it has no {name:?}"))),
        }
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[allow(clippy::needless_pass_by_value, reason = "one form for all that reads a member")]
fn pair(value: Value) -> Option<[u64; 2]> {
    match value.as_array()?.as_slice() {
        [first, second] => Some([first.as_u64()?, second.as_u64()?]),
        _ => None,
    }
}

#[allow(clippy::needless_pass_by_value, reason = "one form for all that reads a member")]
fn file(value: Value) -> Option<(String, u64)> {
    match value.as_array()?.as_slice() {
        [path, len] => Some((path.as_str()?.to_owned(), len.as_u64()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_are_none_are_refused_by_the_name_of_their_fault() {
        let refused = [
            ("", "EOF while parsing"),
            ("[1]", "no object"),
            ("{}", "call is missing"),
            (r#"{"call": 1}"#, "call is of another type"),
            (r#"{"call": "open"}"#, "session is missing"),
            (r#"{"call": "open", "session": -1}"#, "session is of another type"),
            (r#"{"call": "open", "session": 0, "more": 1}"#, "it has no \"more\""),
            (r#"{"call": "none", "session": 0, "member": ""}"#, "nothing is called \"none\""),
            (r#"{"call": "folder", "name": "f", "files": [["a", 1.5]]}"#, "files is of another"),
            (
                r#"{"call": "task", "session": 0, "member": "", "task": {"kind": "x"}}"#,
                "no task is a \"x\"",
            ),
        ];
        for (request, expected) in refused {
            let Err(Fault::Request(text)) = Request::parse(request.as_bytes()) else {
                panic!("{request} is taken");
            };
            assert!(text.contains(expected), "{request}: {text}");
        }
    }

    #[test]
    fn a_part_is_a_position_or_two() {
        let of = |text: &str| Part::parse(serde_json::from_str(text).unwrap());
        assert_eq!(of("3"), Some(Part::At(3)));
        assert_eq!(of("[3, 5]"), Some(Part::Range([3, 5])));
        assert_eq!([of("[3]"), of("-1"), of("null"), of("[1, 2, 3]")], [None; 4]);
    }
}
