//! Items of any format as a grid, of which boxes are read: the input of `plot` and `view`.
//!
//! A box decodes only the chunks or blocks that it needs, or reads only its runs of an uncompressed
//! file.

use core::ops::Range;

use b2frame::{Budget, nd::Pick};
use b2store::{ColumnKind, Table, Values};
use bcolz_store::{CArray, DataSet};
use blosc_dtype::Dtype;

use crate::{
    args::DataShape,
    content::{
        self,
        array::{Array, columns_first},
        source::{Items, Source},
        values::Axis,
    },
    context::Context,
    error::{Error, Result, message},
    formats::{
        Bcolz, Stored,
        stored_array::{count, read_runs},
    },
    inputs::{Origin, decoded},
    memory,
};

/// Items in some dimensions.
pub(crate) struct Grid {
    kind: GridKind,
    dtype: Dtype,
    shape: Vec<u64>,
    budget: Budget,
}

enum GridKind {
    /// An array of which parts are decoded.
    Array(Box<Array>),
    /// Content in C order, object after object, each with its start (bytes).
    Sequence(Vec<(u64, Source)>),
    /// Items in a file that is not compressed.
    Stored(Stored),
    /// A column of a table of a store.
    Column(Box<b2store::Column>),
}

impl Grid {
    /// The content of an input other than a table.
    ///
    /// # Errors
    ///
    /// When the type `given` does not fit the items, or the metadata describe an impossible array.
    pub(crate) fn new(
        cx: &Context,
        origin: &Origin,
        given: Option<&Dtype>,
        mut sources: Vec<Source>,
    ) -> Result<Self> {
        let budget = cx.read_options();
        let dtype = content::item_type(given, origin, &sources)?;
        let layout = content::layout(&sources)?;
        let itemsize = dtype.itemsize().max(1) as u64;
        if sources.len() == 1
            && let Some(source) = sources.pop()
        {
            match source {
                Source::Object(object) => match Array::from_object(object, cx)? {
                    Ok(array) => return Self::from_array(array, &dtype, budget),
                    Err(object) => sources.push(Source::Object(object)),
                },
                Source::Items(Items { stored, .. })
                    if layout.is_some() && stored.itemsize == itemsize =>
                {
                    let shape = stored.shape.clone();
                    return Ok(Self { kind: GridKind::Stored(stored), dtype, shape, budget });
                }
                source => sources.push(source),
            }
        }
        let mut parts = vec![];
        let mut nbytes = 0u64;
        for source in sources {
            let len = source.nbytes()?;
            parts.push((nbytes, source));
            nbytes = nbytes.saturating_add(len);
        }
        if !nbytes.is_multiple_of(itemsize) {
            let file = "the content".to_owned();
            return Err(Error::PartItem { file, found: nbytes, of: itemsize });
        }
        // A frame that was an array of another format keeps its shape.
        let shape = layout.filter(|layout| {
            let nitems = memory::nbytes(1, &layout.shape);
            !layout.fortran_order && nitems.saturating_mul(itemsize) == nbytes
        });
        let shape = shape.map_or_else(|| vec![nbytes / itemsize], |layout| layout.shape);
        Ok(Self { kind: GridKind::Sequence(parts), dtype, shape, budget })
    }

    /// An array; `dtype` may reinterpret its items with another type of the same size.
    pub(crate) fn from_array(array: Array, dtype: &Dtype, budget: Budget) -> Result<Self> {
        let typesize = array.itemsize();
        if dtype.itemsize() != typesize {
            return Err(Error::ItemSize {
                dtype: dtype.to_string(),
                given: dtype.itemsize() as u64,
                typesize: typesize as u64,
            });
        }
        let shape = array.shape().to_vec();
        Ok(Self { kind: GridKind::Array(Box::new(array)), dtype: dtype.clone(), shape, budget })
    }

    /// The items of the grid in other dimensions.
    ///
    /// # Errors
    ///
    /// When the number of items differs, or the items have a shape already.
    pub(crate) fn reshaped(mut self, shape: &DataShape) -> Result<Self> {
        let nbytes_of = |lens: &[u64]| memory::nbytes(self.dtype.itemsize() as u64, lens);
        let nitems = memory::nbytes(1, &self.shape);
        let lens = shape.of_items(nitems);
        let (expected, found) = (nbytes_of(&lens), nbytes_of(&self.shape));
        if expected != found {
            return Err(Error::ArrayLen { expected, found });
        }
        match &mut self.kind {
            GridKind::Sequence(_) => {}
            GridKind::Stored(stored) => stored.shape.clone_from(&lens),
            GridKind::Array(_) | GridKind::Column(_) => {
                return Err(message::HAS_A_TYPE.about(&self.dtype));
            }
        }
        Ok(Self { shape: lens, ..self })
    }

    /// A column of a table of bcolz.
    ///
    /// # Errors
    ///
    /// When the table lacks the column, or it holds Python objects.
    pub(crate) fn from_ctable(cx: &Context, set: &Bcolz, name: &str) -> Result<Self> {
        let DataSet::CTable(table) = set.tuned(&cx.read_options())? else {
            return Err(message::NOT_A_TABLE.error());
        };
        let array: CArray = table.column(name)?.clone();
        if array.is_object() {
            return Err(message::NOT_NUMBERS.about("Python objects"));
        }
        let dtype = array.dtype().clone();
        let rows = table.len().min(array.shape().first().copied().unwrap_or(0));
        let mut grid = Self::from_array(Array::of_bcolz(array), &dtype, cx.read_options())?;
        // A column may be longer than its table.
        grid.shape.first_mut().into_iter().for_each(|len| *len = rows);
        Ok(grid)
    }

    /// A column of a table of a store.
    ///
    /// # Errors
    ///
    /// When the table lacks the column, or its values have no fixed width.
    pub(crate) fn from_table(cx: &Context, table: &Table, name: &str) -> Result<Self> {
        let column = table.column(name)?;
        let kind = &column.spec().kind;
        let dtype = match (column.dtype(), kind) {
            (Some(dtype), ColumnKind::Timestamp { unit, .. }) if dtype.itemsize() == 8 => {
                content::parse(&format!("<M8[{unit}]"))?
            }
            (Some(_), ColumnKind::NdArray { .. }) => {
                return Err(message::NOT_NUMBERS.about("arrays"));
            }
            (Some(dtype), _) => dtype.clone(),
            (None, kind) => {
                let kind = format!("{kind:?}");
                let name = kind.split([' ', '(', '{']).next().unwrap_or("objects");
                return Err(message::NOT_NUMBERS.about(format!("of the kind {name}")));
            }
        };
        let shape = vec![table.len()?];
        Ok(Self {
            kind: GridKind::Column(Box::new(column)),
            dtype,
            shape,
            budget: cx.read_options(),
        })
    }

    /// Type of the items.
    pub(crate) fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Items per dimension.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Lengths of boxes that are fast to read; larger boxes should be multiples.
    pub(crate) fn box_lens(&self) -> Vec<u64> {
        match &self.kind {
            GridKind::Array(array) => array.box_lens.clone(),
            GridKind::Stored(stored) if stored.fortran_order => columns_first(&self.shape),
            _ => vec![1; self.shape.len()],
        }
    }

    /// Fills `bytes` with the items of a box in C order; returns which rows of a column are valid.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) fn read(
        &self,
        bounds: &[Range<u64>],
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Vec<bool>>> {
        let itemsize = self.dtype.itemsize() as u64;
        let nbytes = count(bounds).saturating_mul(itemsize);
        bytes.clear();
        bytes.resize(memory::as_len(nbytes), 0);
        match &self.kind {
            _ if bytes.is_empty() => {}
            GridKind::Array(array) => array.read_box(bounds, bytes)?,
            GridKind::Stored(stored) => stored.fill_box(bounds, bytes)?,
            GridKind::Sequence(parts) => {
                let fill = &mut |at: u64, dest: &mut [u8]| fill(parts, &self.budget, at, dest);
                read_runs(&self.shape, itemsize, bounds, bytes, fill)?;
            }
            GridKind::Column(column) => {
                let values = column.read(bounds.first().cloned().unwrap_or(0..0))?;
                if let Values::Fixed { bytes: items, .. } = values.values {
                    let len = bytes.len().min(items.len());
                    bytes[..len].copy_from_slice(&items[..len]);
                }
                return Ok(values.valid);
            }
        }
        Ok(None)
    }

    /// Memory that [`read_part`](Self::read_part) needs for each position of the first dimension,
    /// if these are `step` apart (bytes).
    pub(crate) fn part_nbytes(&self, step: u64, inner: &[Axis]) -> u64 {
        let itemsize = self.dtype.itemsize() as u64;
        let chosen = inner.iter().fold(1u64, |nitems, axis| nitems.saturating_mul(axis.len));
        if let GridKind::Array(_) = &self.kind {
            return chosen.saturating_mul(itemsize);
        }
        // The whole box in between is read, and the offset of each chosen item is listed.
        let row = memory::nbytes(itemsize, self.shape.iter().skip(1));
        let listed = chosen.saturating_mul(itemsize.saturating_add(2 * size_of::<u64>() as u64));
        row.saturating_mul(step.max(1)).saturating_add(listed)
    }

    /// Hands a part to `sink` in C order, in bands of rows of its first dimension, within `memory`
    /// bytes.
    ///
    /// # Errors
    ///
    /// When the memory does not hold one row, a row cannot be read, or the error of `sink`.
    pub(crate) fn for_each_band(
        &self,
        axes: &[Axis],
        memory: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = vec![];
        let Some((rows, inner)) = axes.split_first() else {
            self.read_part(axes, &mut bytes)?;
            return sink(&bytes);
        };
        let needed = self.part_nbytes(rows.step.unsigned_abs(), inner);
        let nrows = memory / needed.max(1);
        if nrows == 0 {
            return Err(Error::MaxMemory { needed, limit: memory });
        }
        let mut first = 0;
        while first < rows.len {
            let next = first.saturating_add(nrows).min(rows.len);
            let band: Vec<Axis> =
                core::iter::once(rows.part(&(first..next))).chain(inner.iter().copied()).collect();
            self.read_part(&band, &mut bytes)?;
            sink(&bytes)?;
            first = next;
        }
        if self.is_all(axes) { self.compare_seals() } else { Ok(()) }
    }

    /// Whether these positions are the whole grid.
    pub(crate) fn is_all(&self, axes: &[Axis]) -> bool {
        axes.iter().zip(&self.shape).all(|(axis, len)| axis.len == *len)
    }

    /// Compares the data read so far with their seals
    /// ([`Object::compare_seals`](crate::inputs::Object)).
    ///
    /// # Errors
    ///
    /// When the bytes differ from the sealed ones.
    pub(crate) fn compare_seals(&self) -> Result<()> {
        match &self.kind {
            GridKind::Array(array) => Ok(array.compare_seals()?),
            GridKind::Sequence(parts) => {
                Ok(parts.iter().try_for_each(|(_, part)| part.compare_seals())?)
            }
            GridKind::Column(column) => Ok(column.compare_seals()?),
            GridKind::Stored(_) => Ok(()),
        }
    }

    /// Fills `bytes` with the items at all combinations of positions in C order.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) fn read_part(&self, axes: &[Axis], bytes: &mut Vec<u8>) -> Result<()> {
        let itemsize = self.dtype.itemsize();
        let nitems = axes.iter().fold(1u64, |nitems, axis| nitems.saturating_mul(axis.len));
        let nbytes = nitems.saturating_mul(itemsize as u64);
        if let GridKind::Array(array) = &self.kind {
            bytes.clear();
            bytes.resize(memory::as_len(nbytes), 0);
            let picks: Vec<Pick> = axes.iter().map(Axis::pick).collect();
            return Ok(array.read(&picks.into(), bytes)?);
        }
        let bounds: Vec<Range<u64>> = axes
            .iter()
            .map(|axis| if axis.len == 0 { 0..0 } else { axis.cover(&(0..axis.len)) })
            .collect();
        self.read(&bounds, bytes)?;
        if axes.iter().all(|axis| axis.step == 1) {
            return Ok(());
        }
        // Offsets of the chosen items in the box, one dimension after the other.
        let mut starts = vec![0u64];
        for (axis, bound) in axes.iter().zip(&bounds) {
            let len = bound.end - bound.start;
            let along = |start: u64| {
                (0..axis.len).map(move |n| start * len + axis.position(n) - bound.start)
            };
            starts = starts.into_iter().flat_map(along).collect();
        }
        let item = |start: u64| {
            let start = memory::as_len(start).saturating_mul(itemsize);
            bytes.get(start..start.saturating_add(itemsize)).unwrap_or_default()
        };
        *bytes = starts.into_iter().flat_map(item).copied().collect();
        Ok(())
    }

    /// Fills `bytes` with the items at all combinations of a few positions, in C order.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) fn read_at(&self, positions: &[Vec<u64>], bytes: &mut Vec<u8>) -> Result<()> {
        if let GridKind::Array(array) = &self.kind {
            let lists: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
            return Ok(array.read_at(&lists, bytes)?);
        }
        bytes.clear();
        // Ranges along the last dimension are read row by row.
        let mut rows: Vec<Vec<Range<u64>>> = vec![vec![]];
        let (last, outer) =
            positions.split_last().map_or((&[][..], positions), |(last, outer)| (&last[..], outer));
        for along in outer {
            let with = |row: Vec<Range<u64>>| {
                let steps = along.iter().map(|at| *at..at + 1);
                steps.map(move |step| row.iter().cloned().chain([step]).collect())
            };
            rows = rows.into_iter().flat_map(with).collect();
        }
        let mut piece = vec![];
        for row in rows {
            for run in last.chunk_by(|a, b| a + 1 == *b) {
                let run = run[0]..run[0] + run.len() as u64;
                self.read(&[&row[..], &[run]].concat(), &mut piece)?;
                bytes.extend_from_slice(&piece);
            }
        }
        Ok(())
    }
}

/// Fills `dest` with the content from byte `at` on.
fn fill(parts: &[(u64, Source)], budget: &Budget, at: u64, dest: &mut [u8]) -> Result<()> {
    let end = at.saturating_add(dest.len() as u64);
    let mut filled = 0;
    for (n, (start, source)) in parts.iter().enumerate() {
        let next = parts.get(n + 1).map_or(u64::MAX, |(next, _)| *next);
        let range = at.max(*start)..end.min(next);
        if range.is_empty() {
            continue;
        }
        let range = range.start - start..range.end - start;
        let mut sink = |piece: &[u8]| {
            copy_next(piece, dest, &mut filled);
            Ok(())
        };
        match source {
            Source::Object(object) => decoded::part(object, range, budget, &mut sink)?,
            Source::Items(items) => {
                let len = memory::as_len(range.end - range.start);
                let rest = dest.len() - filled;
                items.stored.read(range.start, &mut dest[filled..][..len.min(rest)])?;
                filled += len.min(rest);
            }
        }
    }
    Ok(())
}

/// Copies a piece to the end of the one before it.
fn copy_next(piece: &[u8], dest: &mut [u8], at: &mut usize) {
    let rest = dest.get_mut(*at..).unwrap_or_default();
    let len = piece.len().min(rest.len());
    rest[..len].copy_from_slice(&piece[..len]);
    *at += len;
}
