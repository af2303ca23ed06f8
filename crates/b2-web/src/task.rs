//! Work that takes long, piece by piece: one request reads a piece, and the task takes it.

mod export;
mod picture;
mod verify;

use core::ops::Range;
use std::sync::Arc;

use blosc_data::stats::{ColumnStats, Item, Observer};
use blosc_data::tiles::{Axis, Tiles, axes};
use blosc_data::{Array, ColumnValues, Data, Dataset, Table};
use blosc_dtype::item;
use serde_json::{Value, json};

use crate::fault::{Fault, Result};
use crate::request::TaskRequest;
use export::Export;
use picture::Picture;
use verify::{Found, Verify};

/// Bytes of data in a piece, at most; but at least a row or a chunk.
pub const PIECE_NBYTES: u64 = 8 << 20;
/// Rows of a table in a piece.
const PIECE_NROWS: u64 = 1 << 14;
/// Rows that a filter keeps; more are only counted.
const MAX_FOUND: usize = 100_000;

/// A task, and how far it is.
#[derive(Debug)]
pub(crate) struct Task {
    work: Work,
    done: u64,
}

#[derive(Debug)]
enum Work {
    Picture(Box<Picture>),
    Items { array: Arc<dyn Array>, boxes: Vec<Vec<Range<u64>>>, observer: Observer },
    Rows { table: Arc<dyn Table>, observer: Observer },
    Filter { table: Arc<dyn Table>, condition: String, found: Vec<u64>, count: u64 },
    Verify(Verify),
    Export(Export),
}

/// The bytes read for a task.
#[derive(Debug)]
pub(crate) enum Piece {
    Numbers(Vec<f64>),
    Items(Vec<u8>),
    Rows(Vec<ColumnValues>),
    Matches(Vec<u64>),
    Verified(Found),
    /// A part of what is exported.
    Bytes(Vec<u8>),
}

impl Task {
    pub(crate) fn new(of: &Dataset, request: &TaskRequest) -> Result<Self> {
        let work = match (request, &of.data) {
            (TaskRequest::Verify, _) => Work::Verify(Verify::new(of)),
            (TaskRequest::Stats, Data::Array(array)) => Work::Items {
                array: array.clone(),
                boxes: boxes(&**array)?,
                observer: Observer::of_items(array.dtype())?,
            },
            (TaskRequest::Stats, Data::Table(table)) => {
                let observer = Observer::of_columns(table.columns());
                Work::Rows { table: table.clone(), observer }
            }
            (TaskRequest::Filter { condition }, Data::Table(table)) => {
                // A request without sense is refused before anything is read.
                table.filter(condition)?;
                let (table, condition) = (table.clone(), condition.clone());
                Work::Filter { table, condition, found: vec![], count: 0 }
            }
            (TaskRequest::Export { format, part }, data) => {
                Work::Export(Export::new(data, *format, part)?)
            }
            (
                TaskRequest::Line(_) | TaskRequest::Map(_) | TaskRequest::Histogram(_),
                Data::Array(_) | Data::Table(_),
            ) => Work::Picture(Box::new(Picture::new(of, request)?)),
            (_, data) => {
                let text = format!("{} has no numbers and no rows", data.kind_name());
                return Err(Fault::Request(text));
            }
        };
        Ok(Self { work, done: 0 })
    }

    fn total(&self) -> u64 {
        match &self.work {
            Work::Picture(picture) => picture.npieces(),
            Work::Items { boxes, .. } => boxes.len() as u64,
            Work::Rows { table, .. } | Work::Filter { table, .. } => {
                table.nrows().div_ceil(PIECE_NROWS)
            }
            Work::Verify(verify) => verify.npieces(),
            Work::Export(export) => export.npieces(),
        }
    }

    /// How many of how many pieces are done.
    pub(crate) fn progress(&self) -> Value {
        json!({ "done": self.done, "total": self.total() })
    }

    /// Reads the next piece; `None` if all are done.
    pub(crate) fn read(&self) -> Result<Option<Piece>> {
        if self.done >= self.total() {
            return Ok(None);
        }
        let rows = |table: &dyn Table| {
            let start = self.done.saturating_mul(PIECE_NROWS);
            start..table.nrows().min(start.saturating_add(PIECE_NROWS))
        };
        let piece = match &self.work {
            Work::Picture(picture) => Piece::Numbers(picture.read(self.done)?),
            Work::Items { array, boxes, .. } => {
                let bounds = boxes.get(index(self.done)).ok_or_else(no_piece)?;
                Piece::Items(read_box(&**array, bounds)?)
            }
            Work::Rows { table, .. } => Piece::Rows(table.read(&[], rows(&**table))?),
            Work::Filter { table, condition, .. } => {
                Piece::Matches(table.filter(condition)?.matches(rows(&**table))?)
            }
            Work::Verify(verify) => Piece::Verified(verify.look(self.done)?),
            Work::Export(export) => Piece::Bytes(export.read(self.done)?),
        };
        Ok(Some(piece))
    }

    /// Takes the piece that was read.
    pub(crate) fn take(&mut self, piece: Piece) {
        match (&mut self.work, piece) {
            (Work::Picture(picture), Piece::Numbers(values)) => picture.take(self.done, &values),
            (Work::Items { observer, .. }, Piece::Items(items)) => observer.look_at_items(&items),
            (Work::Rows { observer, .. }, Piece::Rows(rows)) => observer.look_at_rows(&rows),
            (Work::Filter { found, count, .. }, Piece::Matches(rows)) => {
                *count = count.saturating_add(rows.len() as u64);
                let room = MAX_FOUND.saturating_sub(found.len());
                found.extend(rows.into_iter().take(room));
            }
            (Work::Verify(verify), Piece::Verified(found)) => verify.take(found),
            _ => {}
        }
        self.skip();
    }

    /// The piece is done.
    pub(crate) fn skip(&mut self) {
        self.done = self.done.saturating_add(1);
    }

    /// The findings so far.
    pub(crate) fn found(&self) -> Value {
        match &self.work {
            Work::Items { observer, .. } | Work::Rows { observer, .. } => {
                observer.report().iter().map(stats_json).collect()
            }
            Work::Filter { found, count, .. } => json!({ "count": count, "rows": found }),
            Work::Verify(verify) => verify.found(),
            Work::Picture(_) | Work::Export(_) => json!({}),
        }
    }

    /// The picture, as PNG.
    pub(crate) fn picture(&self, width: u32, height: u32) -> Result<Vec<u8>> {
        match &self.work {
            Work::Picture(picture) => Ok(picture.png(width, height)),
            _ => Err(Fault::request("the task draws no picture")),
        }
    }
}

fn no_piece() -> Fault {
    Fault::request("there is no such piece")
}

fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The boxes of an array, each of whole chunks as far as they fit into a piece.
fn boxes(array: &dyn Array) -> Result<Vec<Vec<Range<u64>>>> {
    tiles(array, &axes(&[], array.shape())?)
}

/// The tiles of a part of an array.
fn tiles(array: &dyn Array, axes: &[Axis]) -> Result<Vec<Vec<Range<u64>>>> {
    let itemsize = array.dtype().itemsize().max(1) as u64;
    let lens = match array.chunkshape() {
        [] => vec![1; axes.len()],
        lens => lens.iter().map(|len| (*len).max(1)).collect(),
    };
    if array.nbytes() / PIECE_NBYTES > MAX_PIECES {
        return Err(Fault::request("the array is too large to look at all of it in a browser"));
    }
    Ok(Tiles::new(axes, &lens, (PIECE_NBYTES / itemsize).max(1)).collect())
}

/// Pieces of a task: some terabytes.
const MAX_PIECES: u64 = 1 << 18;

fn read_box(array: &dyn Array, bounds: &[Range<u64>]) -> Result<Vec<u8>> {
    let nitems = bounds.iter().fold(1_u64, |n, range| n.saturating_mul(range.end - range.start));
    let nbytes = nitems.saturating_mul(array.dtype().itemsize() as u64);
    if nbytes > 8 * PIECE_NBYTES {
        let text = format!("{nbytes} bytes at once are too many for a browser");
        return Err(Fault::Request(text));
    }
    let mut bytes = vec![0; index(nbytes)];
    if !bytes.is_empty() {
        array.read_box(bounds, &mut bytes)?;
    }
    Ok(bytes)
}

fn stats_json(of: &ColumnStats) -> Value {
    let text = |item: &Option<Item>| item.as_ref().map(|it| item::cell(&it.dtype, &it.bytes));
    let mut json = json!(of);
    if let Value::Object(map) = &mut json {
        map.insert("min".to_owned(), json!(text(&of.min)));
        map.insert("max".to_owned(), json!(text(&of.max)));
    }
    json
}
