//! Indexes of columns by python-blosc2 ("Indexes" in `docs/formats/store.md`). Each has a summary:
//! the smallest and the largest value of each segment of rows.
//!
//! A doubtful summary is ignored, which is not an error. The format gives the key of its frame: the
//! path in the catalog is compared with that key, and never followed.

use core::ops::Range;

use b2frame::NdArray;
use b2frame::nd::Selection;
use blosc_dtype::Dtype;
use blosc_dtype::expr::Bounds;

use super::filter::{compared_dtype, vector};
use super::live::Span;
use super::{Column, Nulls, Table};
use crate::content::{Content, vlmetalayer};
use crate::error::Result;
use crate::value::Value;

/// An index of a column by python-blosc2.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Index {
    /// The name of the column.
    pub column: String,
    /// The reason why conditions ignore the index; `None` if they use it.
    pub unused: Option<Unused>,
}

/// The reason why conditions ignore an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unused {
    /// Values changed after the index was made.
    #[error("stale")]
    Stale,
    /// An unknown kind or version.
    #[error("of an unknown kind")]
    Kind,
    /// A column without numbers.
    #[error("not of numbers")]
    NoNumbers,
    /// An array with another type, length or block size than the column.
    #[error("made of another array")]
    OtherArray,
    /// No frame under its key, or a catalog with another path.
    #[error("not at its place")]
    Place,
    /// An unreadable frame, or one without a summary of this length.
    #[error("damaged")]
    Damaged,
    /// Existing rows that the summary excludes.
    #[error("contradicted by the rows")]
    Contradicted,
}

impl Index {
    /// The use by conditions, in words.
    #[must_use]
    pub fn use_text(&self) -> String {
        self.unused.map_or_else(|| "used".to_owned(), |why| format!("not used: {why}"))
    }
}

/// The catalog of the indexes of a table.
pub(super) struct Catalog {
    entries: Vec<(Value, Value)>,
    /// The number of the last change of values.
    epoch: u64,
}

/// The smallest and the largest value of each segment of a column's rows.
#[derive(Debug)]
pub(super) struct Summary {
    /// The type that items are compared as.
    dtype: Dtype,
    /// Physical rows of a segment.
    segment_nrows: u64,
    is_nullable: bool,
    /// Smallest, largest, flags: one record after the other.
    records: Vec<u8>,
}

/// Rows that lie in one segment of each summary.
pub(super) struct Piece {
    /// Their numbers among the alive rows.
    pub(super) rows: Range<u64>,
    /// A physical row of the segments.
    pub(super) physical: u64,
}

/// All values except nulls are NaN.
const ALL_NAN: u8 = 1;
/// Some values are NaN.
const HAS_NAN: u8 = 2;
/// All values are null.
const ALL_NULL: u8 = 4;

/// The largest memory of a summary (bytes).
const MAX_NBYTES: u64 = 64 << 20;

/// Number of rows at the start, in the middle and at the end that are compared with a summary.
const CHECKED_NROWS: u64 = 64;

impl Table {
    /// The indexes of columns by python-blosc2, and their use by conditions; empty if the catalog
    /// is unreadable.
    #[must_use]
    pub fn indexes(&self) -> Vec<Index> {
        let Some(catalog) = Catalog::read(self) else { return Vec::new() };
        let names = catalog.entries.iter().filter_map(|(name, _)| name.as_str());
        let index = |name: &str| {
            let column = self.column(name).map_err(|_| Unused::OtherArray);
            let summary = column.and_then(|column| Summary::open(&column, &catalog));
            Index { column: name.to_owned(), unused: summary.err() }
        };
        names.map(index).collect()
    }

    /// The names of the columns with an index of python-blosc2.
    ///
    /// # Errors
    ///
    /// The manifest is unreadable.
    pub fn indexed_columns(&self) -> Result<Vec<String>> {
        let key = self.key_of("/_meta");
        crate::write::indexed_columns(&self.store().frame(&key)?, &key)
    }
}

impl Catalog {
    /// The catalog in the manifest of a table, if it exists and is readable.
    pub(super) fn read(table: &Table) -> Option<Self> {
        let key = table.key_of("/_meta");
        let manifest = table.store().frame(&key).ok()?;
        let layer = |name| vlmetalayer(&manifest, &key, name).ok();
        let Value::Map(entries) = layer("index_catalog")?? else { return None };
        // Manifests of tables whose values never changed have no number.
        let epoch = layer("value_epoch")?.map_or(Some(0), |epoch| epoch.as_u64())?;
        Some(Self { entries, epoch })
    }

    /// The entry of a column; `None` if the catalog has two.
    fn entry(&self, column: &str) -> Option<&Value> {
        let mut found = self.entries.iter().filter(|(name, _)| name.as_str() == Some(column));
        let (_, entry) = found.next()?;
        found.next().is_none().then_some(entry)
    }
}

/// The catalog's entry for a column, after a comparison with the column.
struct Described {
    /// The key of the frame.
    key: String,
    segment_nrows: u64,
    nsegments: u64,
}

impl Described {
    fn new(column: &Column, array: &NdArray, catalog: &Catalog) -> Result<Self, Unused> {
        let name = column.spec().name.as_str();
        let entry = catalog.entry(name).ok_or(Unused::Kind)?;
        let file = file_of(name, entry).ok_or(Unused::Kind)?;
        let epoch = entry.get("built_value_epoch").and_then(Value::as_u64);
        if entry.get("stale") != Some(&Value::Bool(false)) || epoch != Some(catalog.epoch) {
            return Err(Unused::Stale);
        }
        let level = entry.get("levels").and_then(|levels| levels.get("block"));
        let level = level.ok_or(Unused::Kind)?;
        let number = |field: &str| level.get(field).and_then(Value::as_u64);
        let blocks: Vec<u64> = array.blockshape().iter().map(|len| (*len).into()).collect();
        let chunks: Vec<u64> = array.chunkshape().iter().map(|len| (*len).into()).collect();
        let ([nrows], [segment_nrows @ (1..)]) = (array.shape(), blocks.as_slice()) else {
            return Err(Unused::OtherArray);
        };
        let nsegments = nrows.div_ceil(*segment_nrows);
        let dtype = entry.get("dtype").and_then(Value::as_str).map(str::parse::<Dtype>);
        let is_same = has_lens(entry, "shape", array.shape())
            && has_lens(entry, "chunks", &chunks)
            && has_lens(entry, "blocks", &blocks)
            && number("segment_len") == Some(*segment_nrows)
            && number("nsegments") == Some(nsegments)
            && dtype.and_then(Result::ok).as_ref() == Some(array.dtype());
        if !is_same {
            return Err(Unused::OtherArray);
        }
        let key = column.table().key_of(&format!("/_indexes/{name}/{file}"));
        let path = level.get("path").and_then(Value::as_str);
        if path.and_then(|path| path.strip_suffix(".b2nd")) != key.strip_prefix('/') {
            return Err(Unused::Place);
        }
        Ok(Self { key, segment_nrows: *segment_nrows, nsegments })
    }
}

/// The name of the frame with the summary of an index of a whole column, without its suffix.
fn file_of(column: &str, entry: &Value) -> Option<&'static str> {
    let target = entry.get("target")?;
    let is_known = entry.get("version").and_then(Value::as_u64) == Some(1)
        && entry.get("token").and_then(Value::as_str) == Some(column)
        && target.get("source").and_then(Value::as_str) == Some("field")
        && target.get("field") == Some(&Value::Nil)
        && matches!(entry.get("null_aware"), Some(Value::Bool(_)));
    is_known.then_some(())?;
    Some(match entry.get("kind")?.as_str()? {
        "summary" => "summary.block",
        "full" => "full.summary.block",
        "bucket" => "bucket.summary.block",
        "partial" => "partial.summary.block",
        "opsi" => "opsi.summary.block",
        _ => return None,
    })
}

fn has_lens(entry: &Value, field: &str, lens: &[u64]) -> bool {
    let found = entry.get(field).and_then(Value::as_array).unwrap_or_default();
    found.len() == lens.len() && found.iter().zip(lens).all(|(a, b)| a.as_u64() == Some(*b))
}

impl Summary {
    /// The summary of a column, if it is usable.
    pub(super) fn open(column: &Column, catalog: &Catalog) -> Result<Self, Unused> {
        let array = column.fixed().ok_or(Unused::NoNumbers)?;
        let dtype = compared_dtype(column).ok_or(Unused::NoNumbers)?;
        let zero = vec![0; dtype.itemsize()];
        if Bounds::of_items(&dtype, &zero, &zero).is_none() {
            return Err(Unused::NoNumbers);
        }
        let Described { key, segment_nrows, nsegments } = Described::new(column, array, catalog)?;
        let store = column.table().store();
        if !store.contains(&key) {
            return Err(Unused::Place);
        }
        let Ok(Content::Array(found)) = store.get(&key) else { return Err(Unused::Damaged) };
        let records = records(&found, array.dtype(), nsegments).ok_or(Unused::Damaged)?;
        let is_nullable = column.spec().nulls != Nulls::None;
        let summary = Self { dtype, segment_nrows, is_nullable, records };
        match summary.agrees(column) {
            Ok(true) => Ok(summary),
            Ok(false) => Err(Unused::Contradicted),
            // Reading the rows will report their damage.
            Err(_) => Err(Unused::Damaged),
        }
    }

    /// The bounds of the segment of a physical row.
    pub(super) fn bounds(&self, physical: u64) -> Option<Bounds> {
        let (size, row) = (self.dtype.itemsize(), physical.checked_div(self.segment_nrows)?);
        let len = size.checked_mul(2)?.checked_add(1)?;
        let record = self.records.chunks_exact(len).nth(usize::try_from(row).ok()?)?;
        let (least, rest) = record.split_at_checked(size)?;
        let (largest, flags) = rest.split_at_checked(size)?;
        let flags = *flags.first()?;
        let is_known = flags & !(ALL_NAN | HAS_NAN | ALL_NULL) == 0;
        if !is_known || (flags & ALL_NULL != 0 && !self.is_nullable) {
            return None;
        }
        let mut bounds = match flags & (ALL_NAN | ALL_NULL) {
            0 => Bounds::of_items(&self.dtype, least, largest)?,
            _ => Bounds::default(),
        };
        bounds.has_nan = flags & (ALL_NAN | HAS_NAN) != 0;
        bounds.has_null = self.is_nullable;
        Some(bounds)
    }

    /// Whether some rows agree with the summary. If another array has replaced the indexed one,
    /// they hardly do.
    fn agrees(&self, column: &Column) -> Result<bool> {
        let (table, summaries) = (column.table(), [Some(self)]);
        let len = table.len()?;
        for start in [0, len >> 1, len.saturating_sub(CHECKED_NROWS)] {
            let rows = start..len.min(start.saturating_add(CHECKED_NROWS));
            for piece in pieces(&table.spans(&rows)?, rows.start, summaries.into_iter()) {
                let Some(bounds) = self.bounds(piece.physical) else { continue };
                let values = column.read(piece.rows)?;
                let found = vector(Some(&self.dtype), &values);
                if !found.is_some_and(|found| bounds.hold(&found, values.valid.as_deref())) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The records of an array, one for each segment: `min`, `max` and `flags`. `None` for another
/// number.
fn records(array: &NdArray, item: &Dtype, nsegments: u64) -> Option<Vec<u8>> {
    let flags = Dtype::parse("|u1").ok()?;
    let fields = [("min", item), ("max", item), ("flags", &flags)];
    let fields = fields.map(|(name, dtype)| (name.to_owned(), dtype.clone()));
    let is_record = *array.dtype() == Dtype::packed(fields).ok()?;
    let nbytes = nsegments.checked_mul(array.typesize() as u64)?;
    if !is_record || array.shape() != [nsegments] || nbytes > MAX_NBYTES {
        return None;
    }
    let records = array.to_bytes(Selection::ALL).ok()?;
    array.schunk().compare_seal().ok()?;
    (records.len() as u64 == nbytes).then_some(records)
}

/// The rows of spans, cut at the ends of segments; the first row has the number `first`.
pub(super) fn pieces<'a>(
    spans: &[Span],
    first: u64,
    summaries: impl Iterator<Item = Option<&'a Summary>> + Clone,
) -> Vec<Piece> {
    let (mut found, mut next) = (Vec::new(), first);
    for span in spans {
        let mut start = span.rows.start;
        while start < span.rows.end {
            let end_of = |summary: &Summary| {
                let left = start.checked_rem(summary.segment_nrows).unwrap_or_default();
                start.saturating_add(summary.segment_nrows.saturating_sub(left))
            };
            let end = summaries.clone().flatten().map(end_of).fold(span.rows.end, u64::min);
            let rows = next..next.saturating_add(span.count(start..end));
            next = rows.end;
            if !rows.is_empty() {
                found.push(Piece { rows, physical: start });
            }
            start = end;
        }
    }
    found
}
