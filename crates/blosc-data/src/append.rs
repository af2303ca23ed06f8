//! Data at the end of existing frames, arrays and tables.
//!
//! Chunks are moved if the target would hold them in the same form. All other data are decoded, and
//! compressed with the settings of the target.

mod npy;

use std::path::Path;
use std::sync::Arc;

use b2frame::nd::Pick;
use b2frame::{NdWriter, SChunk, SChunkWriter};
use b2store::{Column, ColumnKind, ColumnValues, RowAppender, Value, Values};
use blosc_dtype::{Dtype, Kind};
use blosc_io::replace::Unfinished;
use blosc_io::{FileStore, ReadAt};
use bloscpack::numpy::ArrayInfo;

use crate::Resources;
use crate::boxes::{BoxSource, Boxes, count};
use crate::columns::Rule;
use crate::content::{Content, Layout, NULL_MARK, TableRows};
use crate::convert::{OnProgress, each_rows, split};
use crate::error::{Error, Refusal, Result};
use crate::formats::csv;
use crate::size::{as_len, nbytes};

/// Bytes of data in a new chunk of a frame whose chunks vary in size.
const CHUNK_NBYTES: usize = 1 << 20;

/// The resources and callbacks of an append.
#[derive(Clone, Copy)]
pub struct Appending<'a> {
    /// Threads and memory.
    pub resources: &'a Resources,
    /// Held during each write, so that a signal does not end the process within one.
    pub unfinished: &'a Unfinished,
    /// Gets the number of bytes of new data that are done.
    pub progress: OnProgress<'a>,
}

impl core::fmt::Debug for Appending<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Appending").field("resources", self.resources).finish_non_exhaustive()
    }
}

impl Appending<'_> {
    fn hold(&self, write: impl FnOnce() -> b2frame::Result<()>) -> Result<()> {
        Ok(self.unfinished.hold(write)?)
    }

    /// Appends the content to a frame without dimensions.
    ///
    /// # Errors
    ///
    /// When the content cannot be read, or the system refuses.
    pub fn to_frame(&self, writer: &mut SChunkWriter, content: &Content) -> Result<()> {
        if let Some(schunk) = content.frame()
            && schunk.nd_meta()?.is_none()
            && writer.is_alike(schunk)?
        {
            return self.move_chunks(writer, schunk);
        }
        let is_variable = writer.schunk()?.chunksize().fixed().is_none();
        let (resources, mut piece) = (self.resources, vec![]);
        content.in_c_order(&resources.decoding(), resources.held() / 4, &mut |bytes| {
            (self.progress)(bytes.len() as u64);
            if !is_variable {
                return self.hold(|| writer.append(bytes));
            }
            // With chunks of any size, each piece would become a chunk, however small.
            piece.extend_from_slice(bytes);
            let whole = piece.len() / CHUNK_NBYTES * CHUNK_NBYTES;
            self.hold(|| {
                let mut chunks = piece.chunks_exact(CHUNK_NBYTES);
                chunks.try_for_each(|chunk| writer.append(chunk))
            })?;
            piece.drain(..whole);
            Ok::<(), Error>(())
        })?;
        self.hold(|| writer.append(&piece))
    }

    fn move_chunks(&self, writer: &mut SChunkWriter, schunk: &SChunk) -> Result<()> {
        for nchunk in 0..schunk.nchunks() {
            let chunk = schunk.chunk(nchunk)?;
            let before = writer.nbytes();
            self.hold(|| writer.append_chunk_bytes(&chunk))?;
            (self.progress)(writer.nbytes().saturating_sub(before));
        }
        Ok(schunk.compare_seal()?)
    }

    /// Appends the content, an array of this `layout`, along a dimension of an array.
    ///
    /// # Errors
    ///
    /// When the content cannot be read, or the system refuses.
    pub fn to_array(
        &self,
        writer: &mut NdWriter,
        content: &Content,
        layout: &Layout,
        axis: usize,
    ) -> Result<()> {
        if let Some(schunk) = content.frame()
            && let Some(array) = schunk.nd_array()?
            && writer.is_alike(axis, &array)
        {
            self.hold(|| writer.append_array(axis, &array))?;
            (self.progress)(array.nbytes());
            return Ok(());
        }
        match axis {
            _ if layout.shape.contains(&0) => Ok(()),
            0 => self.rows(writer, content),
            axis => self.boxes(writer, content, layout, axis),
        }
    }

    /// Appends rows in bands that end at the borders of chunks.
    fn rows(&self, writer: &mut NdWriter, content: &Content) -> Result<()> {
        let itemsize = writer.dtype().itemsize() as u64;
        let row = nbytes(itemsize, writer.shape().iter().skip(1));
        let chunk = u64::from(writer.meta().chunkshape().first().copied().unwrap_or(1)).max(1);
        let budget = self.resources.held() / 4;
        // A band of whole chunks, or the rows that fit the memory.
        let rows = match budget / row.saturating_mul(chunk).max(1) {
            0 => (budget / row.max(1)).max(1),
            chunks => chunks * chunk,
        };
        let first = chunk - writer.shape().first().copied().unwrap_or(0) % chunk;
        let len = |rows: u64| as_len(rows.saturating_mul(row));
        let (mut wanted, mut band) = (len(first.min(rows)), vec![]);
        content.in_c_order(&self.resources.decoding(), budget, &mut |mut bytes| {
            (self.progress)(bytes.len() as u64);
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at((wanted - band.len()).min(bytes.len()));
                band.extend_from_slice(now);
                bytes = later;
                if band.len() == wanted {
                    self.hold(|| writer.append_bytes(0, &band))?;
                    band.clear();
                    wanted = len(rows);
                }
            }
            Ok::<(), Error>(())
        })?;
        if !band.is_empty() {
            self.hold(|| writer.append_bytes(0, &band))?;
        }
        Ok(())
    }

    /// Appends along another dimension: the array grows first, and boxes then fill the new part.
    fn boxes(
        &self,
        writer: &mut NdWriter,
        content: &Content,
        layout: &Layout,
        axis: usize,
    ) -> Result<()> {
        let mut shape = writer.shape().to_vec();
        let start = shape[axis];
        shape[axis] = start.saturating_add(layout.shape[axis]);
        let mut items = BoxSource::File(content.in_file(layout, &self.resources.decoding())?);
        writer.resize(&shape)?;
        let itemsize = layout.dtype.itemsize() as u64;
        let (mut part, budget) = (vec![], self.resources.held() / 4);
        for bounds in Boxes::new(&layout.shape, writer.meta().chunkshape(), itemsize, budget) {
            part.resize(as_len(count(&bounds) * itemsize), 0);
            items.fill(&bounds, &mut part)?;
            let selection = bounds.iter().enumerate().map(|(dim, range)| {
                let by = if dim == axis { start } else { 0 };
                Pick::from(range.start + by..range.end + by)
            });
            let selection: Vec<_> = selection.collect();
            self.hold(|| writer.write_bytes(selection, &part))?;
            (self.progress)(part.len() as u64);
        }
        Ok(())
    }

    /// Appends the rows of a table, or items with fields, to the table `rows`. Names match the
    /// columns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NoColumns`], [`Refusal::LacksColumn`], [`Refusal::ExtraColumn`],
    /// [`Refusal::NoText`], [`Refusal::TextTooLong`]; content that cannot be read.
    pub fn to_table(
        &self,
        appender: &mut RowAppender<'_>,
        rows: &TableRows,
        content: &Content,
    ) -> Result<()> {
        if let Some(new) = content.rows() {
            refuse_extra(names(new), names(rows).collect())?;
            return rows_of_store(appender, rows, new);
        }
        let layout = content.layout()?.filter(|layout| !layout.dtype.fields().is_empty());
        let layout = layout.ok_or(Refusal::NoColumns)?;
        let new = layout.dtype.fields().iter().map(blosc_dtype::Field::name);
        refuse_extra(new, names(rows).collect())?;
        let fields = fields(rows, &layout.dtype, content)?;
        each_rows(content, self.resources, layout.dtype.itemsize(), &mut |bytes| {
            (self.progress)(bytes.len() as u64);
            Ok(appender.append(&values_of_rows(&fields, &layout.dtype, bytes)?)?)
        })
    }
}

/// The names of the columns of a table.
fn names(rows: &TableRows) -> impl Iterator<Item = &str> {
    rows.columns().iter().map(|column| column.spec().name.as_str())
}

/// Refuses new rows with columns that the table lacks.
fn refuse_extra<'a>(new: impl IntoIterator<Item = &'a str>, known: Vec<&str>) -> Result<()> {
    let extra = new.into_iter().find(|name| !known.contains(name));
    extra.map_or(Ok(()), |name| Err(Refusal::ExtraColumn(name.to_owned()).into()))
}

/// The array of a Bloscpack file with `added` bytes more.
///
/// # Errors
///
/// A shape that no array has.
pub fn grown(old: &ArrayInfo, added: u64) -> Result<ArrayInfo> {
    let mut shape = old.shape().to_vec();
    if let Some((first, others)) = shape.split_first_mut() {
        let row = nbytes(old.dtype().itemsize() as u64, &*others);
        *first = first.saturating_add(added.checked_div(row).unwrap_or(0));
    }
    Ok(ArrayInfo::new(old.dtype().clone(), shape, old.order())?)
}

/// The metadata of a Bloscpack file, with the new shape of its array in them.
///
/// # Errors
///
/// An array that cannot be described.
pub fn described(old: Option<&serde_json::Value>, info: &ArrayInfo) -> Result<serde_json::Value> {
    let mut value = old.cloned().unwrap_or_default();
    match value.get_mut("shape") {
        Some(shape) => *shape = serde_json::json!(info.shape()),
        None => value = info.to_metadata()?,
    }
    Ok(value)
}

/// The table whose rows are read from text.
#[derive(Debug)]
pub enum RowType<'a> {
    /// Rows of this fixed type.
    Is(Dtype),
    /// Rows of a table whose text columns have no fixed width.
    Of(&'a TableRows),
}

impl RowType<'_> {
    /// Whether the first line of a file names all columns.
    pub fn is_named_in(&self, path: &Path) -> bool {
        let Ok(file) = FileStore::open(path).map(Arc::new) else { return false };
        let names = csv::names(file).unwrap_or_default();
        !names.is_empty() && self.names().iter().all(|own| names.iter().any(|name| name == own))
    }

    fn names(&self) -> Vec<&str> {
        match self {
            Self::Is(dtype) => dtype.fields().iter().map(blosc_dtype::Field::name).collect(),
            Self::Of(rows) => names(rows).collect(),
        }
    }

    /// The columns in which a missing value is null: only those of stores can have nulls.
    #[must_use]
    pub fn nullable(&self) -> Vec<String> {
        if let Self::Of(rows) = self { rows.nullable(true) } else { vec![] }
    }

    /// The type of the rows of a text file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read; columns of lists and the like; [`Refusal::ExtraColumn`].
    pub fn dtype(&self, path: &Path) -> Result<Dtype> {
        let file = FileStore::open(path).map_err(Error::open(path))?;
        let file: Arc<dyn ReadAt> = Arc::new(file);
        let new = csv::names(Arc::clone(&file))?;
        // A single unknown name may be several names with another delimiter; reading the file
        // reports that.
        if new.len() > 1 {
            refuse_extra(new.iter().map(String::as_str), self.names())?;
        }
        match self {
            Self::Is(dtype) => Ok(dtype.clone()),
            Self::Of(rows) => {
                let widths = csv::widths(file)?;
                Ok(rows.dtype_of_text(&|name| widths.get(name).copied().unwrap_or(0))?)
            }
        }
    }
}

/// Turns the rows of content with fields into values for the columns of a table.
pub(crate) fn values_of(
    rows: &TableRows,
    content: &Content,
    resources: &Resources,
) -> Result<Vec<ColumnValues>> {
    let layout = content.layout()?.ok_or(Refusal::NoColumns)?;
    let mut items = vec![];
    each_rows(content, resources, layout.dtype.itemsize(), &mut |bytes| {
        items.extend_from_slice(bytes);
        Ok::<(), Error>(())
    })?;
    let fields = fields(rows, &layout.dtype, content)?;
    values_of_rows(&fields, &layout.dtype, &items)
}

/// Turns rows of a type with fields into values for the columns of a table.
fn values_of_rows(fields: &[Field<'_>], dtype: &Dtype, rows: &[u8]) -> Result<Vec<ColumnValues>> {
    let mut parts = vec![vec![]; dtype.fields().len()];
    split(rows, dtype, &mut parts);
    let count = rows.len() / dtype.itemsize().max(1);
    let values = fields.iter().map(|field| {
        let part = parts.get_mut(field.position).map(core::mem::take);
        let values = field.values(part.unwrap_or_default(), count)?;
        let Some(mark) = field.mark else { return Ok(values) };
        let rows = rows.chunks_exact(dtype.itemsize().max(1));
        let valid = rows.enumerate().map(|(number, row)| {
            // Times have nulls of their own.
            row.get(mark) != Some(&NULL_MARK) && !values.is_null(number)
        });
        let valid: Vec<bool> = valid.collect();
        Ok(if valid.contains(&false) { values.with_valid(valid) } else { values })
    });
    values.collect()
}

/// A column of the new rows: its field, and the conversion of its items.
struct Field<'a> {
    column: &'a Column,
    position: usize,
    rule: Rule,
    /// The place in an item of the byte that marks nulls.
    mark: Option<usize>,
}

/// Appends the rows of a table of a store.
fn rows_of_store(appender: &mut RowAppender<'_>, rows: &TableRows, new: &TableRows) -> Result<()> {
    let positions = rows.columns().iter().map(|column| {
        let name = &column.spec().name;
        let found = new.columns().iter().position(|column| column.spec().name == *name);
        found.ok_or_else(|| Refusal::LacksColumn(name.clone()).into())
    });
    let positions = positions.collect::<Result<Vec<_>>>()?;
    new.for_each_batch(0..new.nrows(), &mut |values| {
        let mut values: Vec<Option<ColumnValues>> = values.into_iter().map(Some).collect();
        let ordered: Vec<ColumnValues> = positions
            .iter()
            .filter_map(|position| values.get_mut(*position).and_then(Option::take))
            .collect();
        Ok(appender.append(&ordered)?)
    })
}

/// The field for each column of a table.
fn fields<'a>(rows: &'a TableRows, dtype: &Dtype, content: &Content) -> Result<Vec<Field<'a>>> {
    let (nullable, nfields) = (content.nullable(), dtype.fields().len());
    let marks = dtype.itemsize().checked_sub(nfields).filter(|_| content.is_marked());
    let of_column = |column: &'a Column| {
        let name = &column.spec().name;
        let position = dtype.fields().iter().position(|field| field.name() == name);
        let position = position.ok_or_else(|| Refusal::LacksColumn(name.clone()))?;
        let found = dtype.fields()[position].dtype();
        let (item, inner) = found.subarray().unwrap_or((found, &[]));
        let rule = match nullable.contains(name) {
            true => Rule::Truths,
            false => Rule::of_items(name, item, inner)?,
        };
        let mark = marks.map(|marks| marks + position);
        Ok(Field { column, position, rule, mark })
    };
    rows.columns().iter().map(of_column).collect()
}

impl Field<'_> {
    /// The items of a field as values of the column.
    fn values(&self, items: Vec<u8>, count: usize) -> Result<ColumnValues> {
        let spec = self.column.spec();
        let values = self.rule.values(&spec.name, items, count)?;
        let cells = || (0..count).map(|row| values.value(row));
        match spec.kind {
            ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                let texts = cells().map(|cell| match cell {
                    Value::Str(text) => Some(text),
                    Value::Bytes(bytes) => String::from_utf8(bytes).ok(),
                    _ => None,
                });
                let texts: Option<Vec<String>> = texts.collect();
                let texts = texts.ok_or_else(|| Refusal::NoText(spec.name.clone()))?;
                Ok(ColumnValues::text(texts.iter().map(String::as_str)))
            }
            ColumnKind::VlBytes => Ok(ColumnValues::objects(cells())),
            ColumnKind::String | ColumnKind::Bytes => self.padded(values),
            _ => Ok(values),
        }
    }

    /// Pads text to the width of the column.
    fn padded(&self, values: ColumnValues) -> Result<ColumnValues> {
        let (Values::Fixed { dtype, bytes, .. }, Some(wanted)) =
            (&values.values, self.column.dtype())
        else {
            return Ok(values);
        };
        let is_text = matches!(dtype.kind(), Some(Kind::Unicode | Kind::Bytes));
        let (width, size) = (dtype.itemsize(), wanted.itemsize());
        if !is_text || dtype.kind() != wanted.kind() || width == size {
            return Ok(values);
        }
        let mut padded = Vec::with_capacity(bytes.len() / width.max(1) * size);
        for item in bytes.chunks_exact(width.max(1)) {
            let (kept, cut) = item.split_at(width.min(size));
            if cut.iter().any(|byte| *byte != 0) {
                return Err(Refusal::TextTooLong(self.column.spec().name.clone()).into());
            }
            padded.extend_from_slice(kept);
            padded.resize(padded.len() + size - kept.len(), 0);
        }
        Ok(ColumnValues::fixed(wanted.clone(), padded))
    }
}
