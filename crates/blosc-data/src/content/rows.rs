//! Rows of a table of a store, or items of one of its columns, in NumPy's types.
//!
//! The content of a table are its rows, one after the other, as in a structured array. Text of any
//! length is as wide as the longest value. Nulls become NaN, NaT, zeros or empty text, and
//! [`TableRows::lost_nulls`] lists their columns. Lists, maps and objects have no such type: a
//! table with them is handed over as cells.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use b2frame::SChunk;
use b2store::{
    Column, ColumnKind, ColumnValues, Nulls, Table, Value, Values, table::Filter as TableFilter,
};
use blosc_dtype::{Dtype, Kind};

use super::{NULL_MARK, NULL_TRUTH, Sink, SinkError, bcolz::starts};
use crate::error::{Error, Refusal, Result};
use crate::formats::frame::stored_nbytes;
use crate::size::as_len;
use crate::spool::Station;
use crate::{cut, json};

/// Most rows that are decoded at once.
const BATCH_NROWS: u64 = 1 << 16;
/// Bytes of rows that are decoded at once; a longer row comes alone.
const BATCH_NBYTES: u64 = 8 << 20;

/// Some columns of a table.
#[derive(Debug)]
pub struct TableRows {
    table: Table,
    columns: Vec<Column>,
    /// Whether this is one column, whose items are not rows.
    is_column: bool,
    nrows: u64,
    /// The NumPy type of each column; for text of any length, reading finds it.
    dtypes: OnceLock<Vec<Dtype>>,
    /// Whether each column has had nulls that its type cannot express.
    had_nulls: Vec<AtomicBool>,
    /// Whether the byte [`NULL_TRUTH`] stands for a null truth value.
    has_null_truths: bool,
    /// Whether a byte for each column follows a row, and marks nulls.
    is_marked: bool,
    /// Whether nulls of text are marked as well.
    marks_text: bool,
    /// Bytes of data, and bytes of files.
    sizes: (u64, u64),
    /// The rows that meet a condition; `None` for all.
    chosen: Option<Chosen>,
    /// The source, if this is a copy.
    copied: Option<Copied>,
}

/// The source of a table that is a copy.
#[derive(Debug)]
pub struct Copied {
    /// The name of the format.
    pub format: &'static str,
    /// Bytes of the file.
    pub stored: u64,
    /// The temporary folder of the copy.
    pub folder: Station,
}

/// Rows that meet a condition.
#[derive(Debug)]
struct Chosen {
    /// One bit for each row of the table.
    bits: Vec<u64>,
    /// The number of chosen rows before each [`BATCH_NROWS`] rows of the table.
    before: Vec<u64>,
}

/// Rows that are read together, and a mark for each wanted one; `None` if all are wanted.
type Part = (Range<u64>, Option<Vec<bool>>);

/// Bytes of the data of a table, and of its frames as they are stored.
///
/// # Errors
///
/// A column or a frame that cannot be opened.
pub fn table_sizes(table: &Table) -> Result<(u64, u64)> {
    let stored = frames(table).map(|frame| Ok(stored_nbytes(&frame?)));
    let stored = stored.sum::<Result<u64, b2store::Error>>()?;
    Ok((table.nbytes()?, stored))
}

/// The frames of a table.
pub(crate) fn frames(table: &Table) -> impl Iterator<Item = Result<SChunk, b2store::Error>> {
    let store = table.store();
    store.keys().filter(|key| table.has_key(key)).map(|key| store.frame(key))
}

/// Bytes of the data of some columns, and of their frames as they are stored.
fn column_sizes(columns: &[Column]) -> Result<(u64, u64)> {
    let nbytes = columns.iter().map(Column::nbytes).sum::<Result<u64, b2store::Error>>()?;
    Ok((nbytes, columns.iter().flat_map(Column::frames).map(stored_nbytes).sum()))
}

/// The names of the columns of a table.
fn known(table: &Table) -> impl Iterator<Item = &str> {
    table.schema().columns.iter().map(|column| column.name.as_str())
}

impl TableRows {
    /// All rows of a table.
    ///
    /// # Errors
    ///
    /// Columns that cannot be opened.
    pub fn open(table: Table) -> Result<Self> {
        let names: Vec<String> =
            table.schema().columns.iter().map(|column| column.name.clone()).collect();
        Self::of_columns(table, &names, false)
    }

    /// One column of a table.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_column(table: Table, name: &str) -> Result<Self> {
        Self::of_columns(table, &[name.to_owned()], true)
    }

    fn of_columns(table: Table, names: &[String], is_column: bool) -> Result<Self> {
        if let Some(name) = names.iter().find(|name| known(&table).all(|known| known != **name)) {
            return Err(Refusal::no_column(name, known(&table)).into());
        }
        let columns = names.iter().map(|name| table.column(name));
        let columns = columns.collect::<core::result::Result<Vec<_>, _>>()?;
        let is_all = columns.len() == table.schema().columns.len();
        let sizes = if is_all { table_sizes(&table)? } else { column_sizes(&columns)? };
        let nrows = table.len()?;
        let had_nulls = columns.iter().map(|_| AtomicBool::new(false)).collect();
        let dtypes = OnceLock::new();
        let (chosen, copied) = (None, None);
        let (has_null_truths, is_marked, marks_text) = (false, false, false);
        Ok(Self {
            table,
            columns,
            is_column,
            nrows,
            dtypes,
            had_nulls,
            has_null_truths,
            is_marked,
            marks_text,
            sizes,
            chosen,
            copied,
        })
    }

    /// Compares the frames of the columns with their seals.
    ///
    /// # Errors
    ///
    /// Bytes that differ from the sealed ones.
    pub fn compare_seals(&self) -> Result<()> {
        Ok(self.columns.iter().try_for_each(Column::compare_seals)?)
    }

    /// Marks the rows as a copy.
    pub fn copied(self, copied: Copied) -> Self {
        Self { copied: Some(copied), ..self }
    }

    /// The whole table, and its original if it is a copy.
    pub(crate) fn into_table(self) -> (Table, Option<Copied>) {
        (self.table, self.copied)
    }

    /// The rows with these columns only, in this order; all columns, without names.
    ///
    /// # Errors
    ///
    /// Columns that are missing, or cannot be opened.
    pub fn select(self, names: &[String]) -> Result<Self> {
        if names.is_empty() {
            return Ok(self);
        }
        let Self { table, copied, chosen, nrows, .. } = self;
        Ok(Self { copied, chosen, nrows, ..Self::of_columns(table, names, false)? })
    }

    /// The rows with [`NULL_TRUTH`] for null truth values, as the items of CSV have it: for
    /// comparisons.
    #[must_use]
    pub fn with_null_truths(self) -> Self {
        Self { has_null_truths: true, ..self }
    }

    /// The rows with a byte for each column in the padding at their end:
    /// [`NULL_MARK`] where the value is null. Nulls of text are marked on request, since CSV has
    /// empty text for them.
    #[must_use]
    pub fn with_marks(self, marks_text: bool) -> Self {
        Self { is_marked: !self.is_column, has_null_truths: false, marks_text, ..self }
    }

    /// Whether nulls are [marked](Self::with_marks).
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// The names of the columns that can have nulls, those of text too on request.
    pub fn nullable(&self, of_text: bool) -> Vec<String> {
        let is_nullable = |column: &&Column| {
            let spec = column.spec();
            spec.is_nullable() && (of_text || !is_text(&spec.kind))
        };
        let columns = self.columns.iter().filter(is_nullable);
        columns.map(|column| column.spec().name.clone()).collect()
    }

    /// A condition on the rows, which may name any column of the table.
    ///
    /// # Errors
    ///
    /// A condition that does not parse.
    pub fn condition(&self, text: &str) -> Result<TableFilter> {
        let filter = self.table.filter(text);
        filter.map_err(|error| Refusal::in_condition(error.into(), text, known(&self.table)))
    }

    /// The rows that meet a condition.
    ///
    /// # Errors
    ///
    /// A condition that does not parse; columns that cannot be read.
    pub fn filter(self, condition: &str) -> Result<Self> {
        let filter = self.condition(condition)?;
        let len = as_len(self.nrows.div_ceil(64));
        let (mut bits, mut before, mut count) = (vec![0_u64; len], vec![], 0_u64);
        for rows in batches(0..self.nrows, BATCH_NROWS) {
            before.push(count);
            for row in filter.matches(rows)? {
                let word = as_len(row / 64);
                bits[word] |= 1 << (row % 64);
                count += 1;
            }
        }
        Ok(Self { nrows: count, chosen: Some(Chosen { bits, before }), ..self })
    }

    /// A part of the rows, by their numbers among the chosen ones.
    #[must_use]
    pub fn numbered(self, wanted: &Range<u64>) -> Self {
        let is_chosen = |row: u64| {
            let Some(chosen) = &self.chosen else { return true };
            chosen.bits.get(as_len(row / 64)).is_some_and(|word| word >> (row % 64) & 1 == 1)
        };
        let all = self.chosen.as_ref().map_or(self.nrows, |it| it.bits.len() as u64 * 64);
        let mut bits = vec![0_u64; as_len(all.div_ceil(64))];
        let (mut before, mut count, mut number) = (vec![], 0_u64, 0_u64);
        for row in 0..all {
            if row % BATCH_NROWS == 0 {
                before.push(count);
            }
            if is_chosen(row) {
                if wanted.contains(&number) {
                    bits[as_len(row / 64)] |= 1 << (row % 64);
                    count += 1;
                }
                number += 1;
            }
        }
        Self { nrows: count, chosen: Some(Chosen { bits, before }), ..self }
    }

    /// Some of the rows for reading, in parts of at most `step` rows of the table.
    fn parts(&self, rows: Range<u64>, step: u64) -> Box<dyn Iterator<Item = Part> + '_> {
        let Some(chosen) = &self.chosen else {
            return Box::new(batches(rows, step).map(|rows| (rows, None)));
        };
        let first = chosen.before.partition_point(|before| *before <= rows.start).saturating_sub(1);
        let (blocks, end) = (chosen.before.iter().enumerate().skip(first), rows.end);
        let blocks = blocks.take_while(move |(_, before)| **before < end);
        Box::new(blocks.flat_map(move |(block, before)| {
            let found = chosen.rows_of(block as u64).into_iter().zip(*before..);
            let wanted = found.filter(|(_, number)| rows.contains(number)).map(|(row, _)| row);
            parts_of(&wanted.collect::<Vec<_>>(), step)
        }))
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether this is one column, and not a table.
    pub fn is_column(&self) -> bool {
        self.is_column
    }

    /// Whether this is the whole table, in its order.
    pub fn is_whole(&self) -> bool {
        let all = &self.table.schema().columns;
        !self.is_column
            && self.chosen.is_none()
            && all.len() == self.columns.len()
            && all.iter().zip(&self.columns).all(|(spec, column)| spec.name == column.spec().name)
    }

    /// Number of rows.
    pub fn nrows(&self) -> u64 {
        self.nrows
    }

    /// The name in lists and documents.
    pub fn format(&self) -> &'static str {
        match &self.copied {
            Some(copied) => copied.format,
            None if self.is_column => "column",
            None => "ctable",
        }
    }

    /// Bytes of data of the columns, and of their stored frames; for all columns, those of the
    /// table; for a copy, those of its source.
    pub fn sizes(&self) -> (u64, u64) {
        let stored = self.copied.as_ref().map_or(self.sizes.1, |copied| copied.stored);
        (self.sizes.0, stored)
    }

    /// The attributes of the table, as far as JSON can hold them; empty for a column.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn attributes(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        if self.is_column {
            return Ok(serde_json::Map::new());
        }
        Ok(json::map(&self.table.attributes()?))
    }

    /// Names of attributes whose type JSON cannot express.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn retyped_attributes(&self) -> Result<Vec<String>> {
        if self.is_column {
            return Ok(vec![]);
        }
        let is_retyped = |value: &Value| {
            let packed = json::msgpack::from_json(&json::value(value));
            value.encode().as_deref() != Some(&packed[..])
        };
        let found = self.table.attributes()?;
        Ok(found.into_iter().filter(|(_, value)| is_retyped(value)).map(|(name, _)| name).collect())
    }

    /// The type of a row, or of an item of a column.
    ///
    /// # Errors
    ///
    /// [`Error::NoNumpyType`] for lists and the like; text that cannot be read.
    pub fn dtype(&self) -> Result<Dtype> {
        let dtypes = self.dtypes()?;
        match (self.is_column, dtypes.first()) {
            (true, Some(dtype)) => {
                Ok(dtype.subarray().map_or_else(|| dtype.clone(), |(item, _)| item.clone()))
            }
            _ => {
                let names = self.columns.iter().map(|column| column.spec().name.clone());
                let dtype = Dtype::packed(names.zip(dtypes.iter().cloned()));
                let dtype = dtype.and_then(|dtype| match self.nmarks() {
                    0 => Ok(dtype),
                    nmarks => dtype.padded(nmarks),
                });
                dtype.map_err(|error| Error::Npy(error.into()))
            }
        }
    }

    /// The type of a row that is read from text. Values of any length get the width that `width`
    /// gives for their column (characters).
    ///
    /// # Errors
    ///
    /// [`Error::NoNumpyType`] for lists and the like.
    pub fn dtype_of_text(&self, width: &dyn Fn(&str) -> usize) -> Result<Dtype> {
        let fields = self.columns.iter().map(|column| {
            let spec = column.spec();
            let any_length = |code: &str, nbytes: usize| {
                let dtype = format!("{code}{}", (width(&spec.name) * nbytes).max(1));
                dtype.parse::<Dtype>().map_err(|_| Error::NoNumpyType(dtype))
            };
            let dtype = match &spec.kind {
                ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                    any_length("<U", 1)?
                }
                ColumnKind::VlBytes => any_length("|S", 4)?,
                _ => self.dtype_of(column)?,
            };
            Ok((spec.name.clone(), dtype))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        Dtype::packed(fields).map_err(|error| Error::NoNumpyType(error.to_string()))
    }

    /// Items in each dimension; a table has rows.
    ///
    /// # Errors
    ///
    /// As [`dtype`](Self::dtype).
    pub fn shape(&self) -> Result<Vec<u64>> {
        let mut shape = vec![self.nrows];
        if let (true, Some((_, inner))) =
            (self.is_column, self.dtypes()?.first().and_then(Dtype::subarray))
        {
            shape.extend(inner);
        }
        Ok(shape)
    }

    /// Bytes of the content.
    ///
    /// # Errors
    ///
    /// As [`dtype`](Self::dtype).
    pub fn content_nbytes(&self) -> Result<u64> {
        Ok(self.nrows.saturating_mul(self.rowsize()?))
    }

    /// Bytes of a row.
    fn rowsize(&self) -> Result<u64> {
        let sizes = self.dtypes()?.iter().map(|dtype| dtype.itemsize() as u64);
        Ok(sizes.fold(self.nmarks() as u64, u64::saturating_add))
    }

    /// Bytes after a row.
    fn nmarks(&self) -> usize {
        if self.is_marked { self.columns.len() } else { 0 }
    }

    fn dtypes(&self) -> Result<&[Dtype]> {
        if let Some(dtypes) = self.dtypes.get() {
            return Ok(dtypes);
        }
        let dtypes = self.columns.iter().map(|column| self.dtype_of(column));
        let dtypes = dtypes.collect::<Result<Vec<_>>>()?;
        Ok(self.dtypes.get_or_init(|| dtypes))
    }

    /// Whether the values of a column have no NumPy type: lists, maps, objects.
    pub(crate) fn lacks_dtype(column: &Column) -> bool {
        let has_own = matches!(
            column.spec().kind,
            ColumnKind::Utf8
                | ColumnKind::VlString
                | ColumnKind::VlBytes
                | ColumnKind::Dictionary { .. }
                | ColumnKind::Timestamp { .. }
        );
        !has_own && column.dtype().is_none()
    }

    /// The type of a row of a column.
    fn dtype_of(&self, column: &Column) -> Result<Dtype> {
        let spec = column.spec();
        let parse = |text: &str| {
            text.parse::<Dtype>().map_err(|_| Error::NoNumpyType(quoted(&spec.name, text)))
        };
        match &spec.kind {
            ColumnKind::Fixed("b1") => parse("|b1"),
            ColumnKind::Timestamp { unit, .. } => parse(&format!("<M8[{unit}]")),
            ColumnKind::NdArray { item_shape } => {
                let item = column.dtype().map(ToString::to_string).unwrap_or_default();
                let lens: Vec<String> = item_shape.iter().map(|len| format!("{len},")).collect();
                parse(&format!("('{}', ({}))", item.trim_matches('\''), lens.concat()))
            }
            ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                parse(&format!("<U{}", self.longest(column, |text| text.chars().count())?))
            }
            ColumnKind::VlBytes => parse(&format!("|S{}", self.longest(column, str::len)?)),
            kind => match column.dtype() {
                Some(dtype) => Ok(dtype.clone()),
                None => Err(Error::NoNumpyType(quoted(&spec.name, kind_name(kind)))),
            },
        }
    }

    /// The width of the longest value of a column, at least 1.
    fn longest(&self, column: &Column, width: impl Fn(&str) -> usize) -> Result<usize> {
        let mut longest = 1;
        for part in self.parts(0..self.nrows, BATCH_NROWS) {
            let values = read_part(column, &part)?;
            if let Values::Dictionary { words, .. } = &values.values {
                return Ok(words.iter().map(|word| width(word)).fold(1, usize::max));
            }
            for row in 0..values.len() {
                longest = longest.max(match text_of(&values, row) {
                    Some(Cell::Text(text)) => width(text),
                    Some(Cell::Bytes(bytes)) => bytes.len(),
                    None => 0,
                });
            }
        }
        Ok(longest)
    }

    /// Hands the values of all columns to `sink` in order, some rows at a time; at least once.
    ///
    /// # Errors
    ///
    /// Values that cannot be read; the error of `sink`.
    pub fn for_each_batch<E: From<Error>>(
        &self,
        rows: Range<u64>,
        sink: &mut dyn FnMut(Vec<ColumnValues>) -> Result<(), E>,
    ) -> Result<(), E> {
        let rowsize = self.sizes.0.checked_div(self.nrows).unwrap_or(0).max(1);
        let step = (BATCH_NBYTES / rowsize).clamp(1, BATCH_NROWS);
        let read = |part: &Part| -> Result<Vec<ColumnValues>> {
            self.columns.iter().map(|column| read_part(column, part)).collect()
        };
        if rows.is_empty() {
            return sink(read(&(0..0, None))?);
        }
        self.parts(rows, step).try_for_each(|part| sink(read(&part)?))
    }

    /// Hands the bytes `range` of the content to `sink` in order, in pieces.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; the error of `sink`.
    pub fn part<E: SinkError>(&self, range: Range<u64>, sink: Sink<'_, E>) -> Result<(), E> {
        if range.is_empty() {
            return Ok(());
        }
        let (dtypes, rowsize) = (self.dtypes()?, self.rowsize()?.max(1));
        let rows = range.start / rowsize..range.end.div_ceil(rowsize);
        let mut cut = cut(range, rows.start * rowsize, sink);
        self.for_each_batch(rows, &mut |values| cut(&self.rows_of(dtypes, values)))
    }

    /// The values of all columns, row by row.
    fn rows_of(&self, dtypes: &[Dtype], values: Vec<ColumnValues>) -> Vec<u8> {
        let nrows = values.first().map_or(0, ColumnValues::len);
        let mut parts = vec![];
        let marks = if self.is_marked { self.marks_of(&values) } else { vec![] };
        for ((values, dtype), had_nulls) in values.into_iter().zip(dtypes).zip(&self.had_nulls) {
            let is_truth = self.has_null_truths && dtype.kind() == Some(Kind::Bool);
            if values.valid.is_some() && dtype.kind() != Some(Kind::DateTime) && !is_truth {
                had_nulls.store(true, Ordering::Relaxed);
            }
            let valid = values.valid.clone().filter(|_| is_truth).unwrap_or_default();
            let mut items = items_of(dtype, values, nrows);
            for (item, _) in items.iter_mut().zip(&valid).filter(|(_, is_valid)| !**is_valid) {
                *item = NULL_TRUTH;
            }
            parts.push((items, dtype.itemsize()));
        }
        parts.extend(marks.into_iter().map(|marks| (marks, 1)));
        if let [(bytes, _)] = &mut parts[..] {
            return core::mem::take(bytes);
        }
        let rowsize: usize = parts.iter().map(|(_, size)| size).sum();
        let mut rows = vec![0; rowsize * nrows];
        let mut start = 0;
        for (part, size) in &parts {
            for (row, item) in rows.chunks_exact_mut(rowsize.max(1)).zip(part.chunks_exact(*size)) {
                row[start..start + size].copy_from_slice(item);
            }
            start += size;
        }
        rows
    }

    /// The marks of nulls in each column.
    fn marks_of(&self, values: &[ColumnValues]) -> Vec<Vec<u8>> {
        let marks = self.columns.iter().zip(values).map(|(column, values)| {
            let is_marked = self.marks_text || !is_text(&column.spec().kind);
            let is_nil = |row: usize| match &values.values {
                Values::Objects(objects) => objects.get(row) == Some(&Value::Nil),
                _ => false,
            };
            let is_null = |row| is_marked && (values.is_null(row) || is_nil(row));
            (0..values.len()).map(|row| if is_null(row) { NULL_MARK } else { 0 }).collect()
        });
        marks.collect()
    }

    /// The columns whose nulls [`part`](Self::part) has handed over as values, since their type has
    /// no null.
    pub fn lost_nulls(&self) -> Vec<String> {
        let columns = self.columns.iter().zip(&self.had_nulls);
        let lost = columns.filter(|(_, had_nulls)| had_nulls.load(Ordering::Relaxed));
        lost.map(|(column, _)| column.spec().name.clone()).collect()
    }

    /// The columns whose values lose their kind as NumPy items: words, text of any length, time
    /// zones.
    pub fn retyped(&self) -> Vec<String> {
        let is_retyped = |column: &&Column| {
            matches!(
                column.spec().kind,
                ColumnKind::Dictionary { .. }
                    | ColumnKind::VlBytes
                    | ColumnKind::Timestamp { timezone: Some(_), .. }
            )
        };
        let columns = self.columns.iter().filter(is_retyped);
        columns.map(|column| column.spec().name.clone()).collect()
    }
}

impl Chosen {
    /// The chosen rows among [`BATCH_NROWS`] rows of the table.
    fn rows_of(&self, block: u64) -> Vec<u64> {
        let start = block * (BATCH_NROWS / 64);
        let words = (start..start + BATCH_NROWS / 64).zip(self.bits.iter().skip(as_len(start)));
        words
            .flat_map(|(word, bits)| {
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
            })
            .collect()
    }
}

/// Some rows of a table, in parts of rows that lie close together.
fn parts_of(wanted: &[u64], step: u64) -> Vec<Part> {
    let parts = wanted.chunk_by(|a, b| a / step == b / step).filter_map(|rows| {
        let (first, last) = (*rows.first()?, *rows.last()?);
        let mut is_kept = vec![false; usize::try_from(last - first + 1).ok()?];
        for row in rows {
            is_kept[usize::try_from(row - first).ok()?] = true;
        }
        Some((first..last + 1, Some(is_kept)))
    });
    parts.collect()
}

fn read_part(column: &Column, (rows, is_kept): &Part) -> Result<ColumnValues> {
    let values = column.read(rows.clone())?;
    Ok(match is_kept {
        Some(is_kept) => values.keep(is_kept),
        None => values,
    })
}

/// Rows in batches.
fn batches(rows: Range<u64>, step: u64) -> impl Iterator<Item = Range<u64>> {
    let end = rows.end;
    starts(rows, step).map(move |start| start..end.min(start + step))
}

fn quoted(name: &str, kind: &str) -> String {
    format!("`{name}`, {kind}")
}

/// The values of a column, in words for messages.
fn kind_name(kind: &ColumnKind) -> &'static str {
    match kind {
        ColumnKind::List => "lists",
        ColumnKind::Struct => "maps",
        ColumnKind::Object => "objects",
        _ => "values of another kind",
    }
}

/// Text or bytes.
enum Cell<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// The text or bytes of a row in a column of any length.
fn text_of(values: &ColumnValues, row: usize) -> Option<Cell<'_>> {
    if values.is_null(row) {
        return None;
    }
    match &values.values {
        Values::Text { ends, text } => {
            let start = row.checked_sub(1).and_then(|before| ends.get(before)).unwrap_or(&0);
            ends.get(row).and_then(|end| text.get(*start..*end)).map(Cell::Text)
        }
        Values::Objects(objects) => match objects.get(row)? {
            Value::Str(text) => Some(Cell::Text(text)),
            Value::Bytes(bytes) => Some(Cell::Bytes(bytes)),
            _ => None,
        },
        Values::Dictionary { codes, words } => {
            let code = usize::try_from(*codes.get(row)?).ok()?;
            words.get(code).map(|word| Cell::Text(word))
        }
        _ => None,
    }
}

/// The values of a column as items of a type.
fn items_of(dtype: &Dtype, values: ColumnValues, nrows: usize) -> Vec<u8> {
    let size = dtype.itemsize();
    if let Values::Fixed { mut bytes, .. } = values.values {
        let item = dtype.subarray().map_or(dtype, |(item, _)| item);
        let null = null_item(item);
        for (row, is_valid) in
            bytes.chunks_exact_mut(size.max(1)).zip(values.valid.iter().flatten())
        {
            if !is_valid {
                row.chunks_exact_mut(null.len().max(1))
                    .for_each(|cell| cell.copy_from_slice(&null));
            }
        }
        return bytes;
    }
    let mut bytes = vec![0; size * nrows];
    for (row, item) in bytes.chunks_exact_mut(size.max(1)).enumerate() {
        match text_of(&values, row) {
            Some(Cell::Text(text)) => {
                for (dest, char) in item.chunks_exact_mut(4).zip(text.chars()) {
                    dest.copy_from_slice(&u32::from(char).to_le_bytes());
                }
            }
            Some(Cell::Bytes(found)) => {
                item.iter_mut().zip(found).for_each(|(dest, byte)| *dest = *byte);
            }
            None => {}
        }
    }
    bytes
}

/// Whether a column holds text or bytes, of which CSV has no nulls.
pub(crate) fn is_text(kind: &ColumnKind) -> bool {
    matches!(
        kind,
        ColumnKind::String
            | ColumnKind::Bytes
            | ColumnKind::Utf8
            | ColumnKind::VlString
            | ColumnKind::VlBytes
            | ColumnKind::Dictionary { .. }
    )
}

/// The item that replaces null: NaN, NaT, or zeros.
pub(crate) fn null_item(dtype: &Dtype) -> Vec<u8> {
    match (dtype.kind(), dtype.itemsize()) {
        (Some(Kind::Float), 4) => f32::NAN.to_le_bytes().to_vec(),
        (Some(Kind::Float), 8) => f64::NAN.to_le_bytes().to_vec(),
        (Some(Kind::Complex), 8) => f32::NAN.to_le_bytes().repeat(2),
        (Some(Kind::Complex), 16) => f64::NAN.to_le_bytes().repeat(2),
        (Some(Kind::DateTime), _) => i64::MIN.to_le_bytes().to_vec(),
        (_, size) => vec![0; size],
    }
}

/// The marks of nulls in a copy of a column. Only python-blosc2 has bytes of its own for null truth
/// values.
#[must_use]
pub fn nulls_of_copy(column: &Column) -> Option<Nulls> {
    let spec = column.spec();
    let is_widened = matches!(spec.kind, ColumnKind::Fixed("b1"));
    (is_widened && matches!(spec.nulls, Nulls::Sentinel(_))).then_some(Nulls::Mask)
}
