//! The values of a column ("Tables: schema and columns" in `docs/formats/store.md`).

mod text;

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use b2frame::{NdArray, SChunk};
use blosc_container::pool::{Pool, Reusable};
use blosc_dtype::json::{Json, base64};
use blosc_dtype::{ByteOrder, Dtype, Kind};

use super::cells::rowsize;
use super::live::{Span, read_rows, read_rows_to, selection};
use super::schema::{ColumnKind, ColumnSpec, Nulls};
use super::{ColumnValues, Table, Values};
use crate::batches::{BatchArray, ListArray};
use crate::content::Content;
use crate::error::{Corrupt, Error, Param, Result};
use crate::recipe::RecipeKind;
use crate::value::{Texts, Value};

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    spec: ColumnSpec,
    /// Key of its main frame, for errors.
    key: String,
    data: Data,
    mask: Option<NdArray>,
    table: Table,
    /// Buffers for data that are only inspected after decoding.
    scratch: Arc<Pool<Scratch>>,
}

/// A buffer whose memory the next read uses again.
#[derive(Debug, Default)]
struct Scratch(Vec<u8>);

impl Reusable for Scratch {
    const MAX_KEPT_NBYTES: usize = 16 << 20;

    fn held_nbytes(&self) -> usize {
        self.0.capacity()
    }
}

#[derive(Clone, Debug)]
enum Data {
    Fixed(NdArray),
    Utf8 { offsets: NdArray, bytes: NdArray },
    Batches(BatchArray),
    Lists(ListArray),
    Dictionary { codes: NdArray, words: Words },
}

/// The words of a dictionary, decoded on first use.
#[derive(Clone, Debug)]
struct Words {
    batches: BatchArray,
    key: String,
    decoded: Arc<OnceLock<Arc<[String]>>>,
}

/// Rows whose text is measured at a time, since each may have a flag in memory.
const TEXT_NROWS: usize = 1 << 20;

impl Column {
    pub(super) fn open(table: &Table, spec: &ColumnSpec) -> Result<Self> {
        let path = spec.path.as_deref().ok_or_else(|| {
            let (name, why) = (spec.name.clone(), "its name has empty parts or leads elsewhere");
            Error::corrupt(table.key_of("/_cols"), Corrupt::Column { name, why })
        })?;
        let key = table.key_of(&format!("/_cols/{path}"));
        let data = Data::open(table, spec, &key)?;
        let mask = match spec.nulls {
            Nulls::Mask => {
                let mask_key = format!("{key}.notnull");
                match table.store().contains(&mask_key) {
                    true => Some(table.array_1d(&mask_key, Kind::Bool, 1)?),
                    // No null was ever written.
                    false => None,
                }
            }
            _ => None,
        };
        let scratch = Arc::default();
        Ok(Self { spec: spec.clone(), key, data, mask, table: table.clone(), scratch })
    }

    /// The column's description in the schema.
    #[must_use]
    pub const fn spec(&self) -> &ColumnSpec {
        &self.spec
    }

    /// The table of the column.
    pub(super) const fn table(&self) -> &Table {
        &self.table
    }

    /// The array of a column of fixed width.
    pub(super) const fn fixed(&self) -> Option<&NdArray> {
        if let Data::Fixed(array) = &self.data { Some(array) } else { None }
    }

    /// The type of the items of a column of fixed width.
    #[must_use]
    pub fn dtype(&self) -> Option<&Dtype> {
        self.fixed().map(NdArray::dtype)
    }

    /// Bytes of a row of a column of fixed width.
    #[must_use]
    pub fn rowsize(&self) -> Option<u64> {
        let Data::Fixed(array) = &self.data else { return None };
        let lens = array.shape().get(1..).unwrap_or_default();
        let nitems = lens.iter().fold(1_u64, |product, len| product.saturating_mul(*len));
        Some(nitems.saturating_mul(array.typesize() as u64))
    }

    /// Rows of a chunk of its main array, deleted ones included; `None` for objects.
    #[must_use]
    pub fn chunk_rows(&self) -> Option<u64> {
        let array = match &self.data {
            Data::Fixed(array) | Data::Dictionary { codes: array, .. } => array,
            Data::Utf8 { offsets, .. } => offsets,
            Data::Batches(_) | Data::Lists(_) => return None,
        };
        array.chunkshape().first().map(|rows| u64::from(*rows).max(1))
    }

    /// Key of its main frame.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The shape of a row of a column of fixed width.
    #[cfg(any(feature = "arrow", feature = "arrow-59"))]
    pub(crate) fn item_shape(&self) -> &[u64] {
        match &self.data {
            Data::Fixed(array) => array.shape().get(1..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Bytes of some logical rows; 0 for objects.
    #[cfg(feature = "arrow")]
    pub(crate) fn nbytes_of(&self, rows: &Range<u64>) -> Result<u64> {
        let count = rows.end.saturating_sub(rows.start);
        match &self.data {
            Data::Fixed(_) => Ok(count.saturating_mul(self.rowsize().unwrap_or_default())),
            Data::Dictionary { .. } => Ok(count.saturating_mul(4)),
            Data::Batches(_) | Data::Lists(_) => Ok(0),
            Data::Utf8 { offsets, .. } => {
                Ok(count.saturating_mul(8).saturating_add(self.text_nbytes(offsets, rows)?))
            }
        }
    }

    /// Compares the frames of the column, and the flags of alive rows, with their seals
    /// ([`SChunk::compare_seal`]): for readers of all rows, before they trust them.
    ///
    /// # Errors
    ///
    /// As [`SChunk::compare_seal`].
    pub fn compare_seals(&self) -> Result<()> {
        let flags = self.table.inner.live.schunk();
        self.frames().chain([flags]).try_for_each(|schunk| {
            schunk.compare_seal().map_err(|error| Error::frame(&self.key, error))
        })
    }

    /// The frames of the column.
    pub fn frames(&self) -> impl Iterator<Item = &SChunk> {
        let (first, second): (&SChunk, Option<&SChunk>) = match &self.data {
            Data::Fixed(array) => (array.schunk(), None),
            Data::Utf8 { offsets, bytes } => (offsets.schunk(), Some(bytes.schunk())),
            Data::Batches(batches) => (batches.schunk(), None),
            Data::Lists(lists) => (lists.schunk(), None),
            Data::Dictionary { codes, words } => (codes.schunk(), Some(words.batches.schunk())),
        };
        let mask: Option<&SChunk> = self.mask.as_ref().map(|mask| &**mask.schunk());
        [Some(first), second, mask].into_iter().flatten()
    }

    /// Bytes of the data of its rows: the items of all rows; for text of any length, its offsets
    /// and bytes; for a dictionary, the codes and the words. Objects count in their packed size.
    /// Spare rows and the flags of nulls do not count, nor does text of deleted rows, nor text
    /// whose offsets do not decode: reading it reports the damage. Words and objects of deleted
    /// rows count.
    ///
    /// # Errors
    ///
    /// Flags that do not decode.
    pub fn nbytes(&self) -> Result<u64> {
        let items = |nbytes: u64| Ok::<u64, Error>(self.table.len()?.saturating_mul(nbytes));
        match &self.data {
            Data::Fixed(_) => items(self.rowsize().unwrap_or_default()),
            Data::Utf8 { offsets, .. } => {
                let (len, mut text) = (self.table.len()?, 0_u64);
                for start in (0..len).step_by(TEXT_NROWS) {
                    let rows = start..len.min(start.saturating_add(TEXT_NROWS as u64));
                    let nbytes = self.text_nbytes(offsets, &rows).unwrap_or_default();
                    text = text.saturating_add(nbytes);
                }
                Ok(items(8)?.saturating_add(text))
            }
            Data::Dictionary { words, .. } => {
                Ok(items(4)?.saturating_add(words.batches.schunk().nbytes()))
            }
            Data::Batches(_) | Data::Lists(_) => {
                Ok(self.frames().map(SChunk::nbytes).fold(0, u64::saturating_add))
            }
        }
    }

    /// The arrays in which a read of rows reads the same rows.
    fn row_arrays(&self) -> impl Iterator<Item = &NdArray> {
        let data = match &self.data {
            Data::Fixed(array) | Data::Dictionary { codes: array, .. } => Some(array),
            Data::Utf8 { offsets, .. } => Some(offsets),
            Data::Batches(_) | Data::Lists(_) => None,
        };
        data.into_iter().chain(&self.mask)
    }

    /// The values of some logical rows; decodes only their chunks.
    ///
    /// # Errors
    ///
    /// [`Param::Range`]; data that do not decode; values of another kind than the column's.
    pub fn read(&self, rows: Range<u64>) -> Result<ColumnValues> {
        let mut values = ColumnValues::new(Values::Objects(Vec::new()));
        self.read_into(rows, &mut values)?;
        Ok(values)
    }

    /// As [`read`](Self::read), into values of an earlier read, whose memory is used again. Best
    /// for a caller that reads a column part by part.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); the values then have no meaning.
    pub fn read_into(&self, rows: Range<u64>, values: &mut ColumnValues) -> Result<()> {
        let len = self.table.len()?;
        if rows.start > rows.end || rows.end > len {
            let (start, end) = (rows.start, rows.end);
            return Err(Param::Range { start, end, len, unit: "rows" }.into());
        }
        let spans = self.table.spans(&rows)?;
        let mut valid = values.valid.take().unwrap_or_default();
        valid.clear();
        for span in &spans {
            self.check_len(span)?;
            self.read_mask(span, &mut valid)?;
        }
        let memory = core::mem::replace(&mut values.values, Values::Objects(Vec::new()));
        let nils;
        (values.values, nils) = self.read_values(&spans, memory)?;
        let valid = match (&self.spec.nulls, &self.mask) {
            (Nulls::Mask, Some(_)) => Some(valid),
            _ => nils.or_else(|| self.valid_by_value(&values.values)),
        };
        values.valid = valid.filter(|valid| valid.contains(&false));
        Ok(())
    }

    /// The values of spans, in the memory of other values, and the flags of valid rows, if the
    /// values tell them.
    fn read_values(&self, spans: &[Span], memory: Values) -> Result<(Values, Option<Vec<bool>>)> {
        let values = match &self.data {
            Data::Fixed(array) => self.read_fixed(spans, array, memory)?,
            Data::Utf8 { offsets, bytes } => self.read_utf8(spans, offsets, bytes, memory)?,
            Data::Batches(batches) if self.spec.kind == ColumnKind::VlString => {
                let Texts { ends, text, valid } = self.read_texts(spans, batches)?;
                return Ok((Values::Text { ends, text }, Some(valid)));
            }
            Data::Batches(batches) => self.read_objects(spans, batches)?,
            Data::Lists(lists) => read_lists(spans, lists)?,
            Data::Dictionary { codes, words } => {
                let words = words.decode()?;
                let codes = self.read_codes(spans, codes, words.len() as u64, memory)?;
                Values::Dictionary { codes, words }
            }
        };
        Ok((values, None))
    }

    fn read_objects(&self, spans: &[Span], batches: &BatchArray) -> Result<Values> {
        let mut objects = Vec::new();
        for span in spans {
            let items = batches.items(span.rows.clone())?;
            for (row, item) in span.keep((span.rows.start..).zip(items)) {
                self.check_cell(row, &item)?;
                objects.push(item);
            }
        }
        Ok(Values::Objects(objects))
    }

    /// Announces to far storage the rows of columns that will be read, so that all columns share a
    /// round; texts of any length follow after their positions.
    pub fn prefetch<'c>(columns: impl IntoIterator<Item = &'c Self>, rows: &Range<u64>) {
        let columns: Vec<&Self> = columns.into_iter().collect();
        let Some(first) = columns.first() else { return };
        let is_far =
            |column: &&Self| column.row_arrays().any(|array| array.schunk().prefetch_limit() > 0);
        if !columns.iter().any(is_far) {
            return;
        }
        let Ok(spans) = first.table.spans(rows) else { return };
        let parts = || {
            let arrays = columns.iter().flat_map(|column| column.row_arrays());
            arrays.flat_map(|array| spans.iter().map(move |span| (array, &span.rows)))
        };
        parts().for_each(|(array, rows)| array.prefetch_heads(selection(rows)));
        parts().for_each(|(array, rows)| array.prefetch_blocks(selection(rows)));
    }

    /// Checks that every row of a span has a value.
    fn check_len(&self, span: &Span) -> Result<()> {
        let len = match &self.data {
            Data::Fixed(array) | Data::Dictionary { codes: array, .. } => first_len(array),
            Data::Utf8 { offsets, .. } => first_len(offsets).saturating_sub(1),
            Data::Batches(batches) => batches.len()?,
            Data::Lists(lists) => lists.len()?,
        };
        self.check_end(span, len, &self.key)?;
        match &self.mask {
            Some(mask) => self.check_end(span, first_len(mask), &format!("{}.notnull", self.key)),
            None => Ok(()),
        }
    }

    fn check_end(&self, span: &Span, len: u64, key: &str) -> Result<()> {
        if span.rows.end <= len {
            return Ok(());
        }
        let row = span.rows.start.max(len);
        Err(Error::corrupt(key, Corrupt::ShortColumn { row, len }))
    }

    fn read_fixed(&self, spans: &[Span], array: &NdArray, memory: Values) -> Result<Values> {
        let mut bytes = if let Values::Fixed { bytes, .. } = memory { bytes } else { Vec::new() };
        self.read_bytes(spans, array, &mut bytes)?;
        let item_shape = array.shape().get(1..).unwrap_or_default().to_vec();
        Ok(Values::Fixed { dtype: array.dtype().clone(), item_shape, bytes })
    }

    /// The bytes of the rows that are alive; memory of `bytes` is used again.
    fn read_bytes(&self, spans: &[Span], array: &NdArray, bytes: &mut Vec<u8>) -> Result<()> {
        let mut len = 0;
        for span in spans {
            if span.flags.is_empty() {
                self.read_array_to(array, &span.rows, bytes, len)?;
            } else {
                let read = self.read_array(array, span.rows.clone())?;
                let rowsize = read.len().checked_div(span.flags.len()).unwrap_or_default();
                bytes.truncate(len);
                let rows = read.chunks_exact(rowsize.max(1));
                span.keep(rows).for_each(|row| bytes.extend_from_slice(row));
            }
            len = bytes.len();
        }
        bytes.truncate(len);
        Ok(())
    }

    fn read_codes(
        &self,
        spans: &[Span],
        array: &NdArray,
        nwords: u64,
        memory: Values,
    ) -> Result<Vec<i32>> {
        let mut codes =
            if let Values::Dictionary { codes, .. } = memory { codes } else { Vec::new() };
        codes.clear();
        let mut scratch = self.scratch.check_out(Scratch::default);
        self.read_bytes(spans, array, &mut scratch.0)?;
        codes.extend(scratch.0.as_chunks().0.iter().map(|code| i32::from_le_bytes(*code)));
        let null = self.null_code();
        let is_word = |code: &i32| {
            u64::try_from(*code).is_ok_and(|code| code < nwords) || Some(*code) == null
        };
        if let Some(at) = codes.iter().position(|code| !is_word(code)) {
            let code = codes.get(at).copied().unwrap_or_default();
            return Err(self.corrupt(Corrupt::Code { row: physical_row(spans, at), code, nwords }));
        }
        Ok(codes)
    }

    fn read_mask(&self, span: &Span, valid: &mut Vec<bool>) -> Result<()> {
        let Some(mask) = &self.mask else { return Ok(()) };
        let mut scratch = self.scratch.check_out(Scratch::default);
        self.read_array_to(mask, &span.rows, &mut scratch.0, 0)?;
        let flags = scratch.0.iter().map(|flag| *flag != 0);
        if span.flags.is_empty() {
            valid.extend(flags);
        } else {
            valid.extend(span.keep(flags));
        }
        Ok(())
    }

    fn read_array(&self, array: &NdArray, rows: Range<u64>) -> Result<Vec<u8>> {
        read_rows(array, rows).map_err(|source| Error::frame(&self.key, source))
    }

    fn read_array_to(
        &self,
        array: &NdArray,
        rows: &Range<u64>,
        dest: &mut Vec<u8>,
        from: usize,
    ) -> Result<()> {
        read_rows_to(array, rows, dest, from).map_err(|source| Error::frame(&self.key, source))
    }

    /// The flags of rows that are not null, if the values tell them.
    fn valid_by_value(&self, values: &Values) -> Option<Vec<bool>> {
        match (values, &self.spec.nulls) {
            (Values::Objects(objects), _) => {
                Some(objects.iter().map(|value| *value != Value::Nil).collect())
            }
            (Values::Dictionary { codes, .. }, _) => {
                let null = self.null_code();
                Some(codes.iter().map(|code| Some(*code) != null).collect())
            }
            (Values::Text { ends, text }, Nulls::Sentinel(Json::String(null))) => {
                let mut start = 0;
                let mut is_valid = |end: &usize| {
                    let cell = text.get(start..*end);
                    start = *end;
                    cell != Some(null.as_str())
                };
                Some(ends.iter().map(&mut is_valid).collect())
            }
            (Values::Fixed { dtype, item_shape, bytes }, Nulls::Sentinel(null)) => {
                let (itemsize, rowsize) = (dtype.itemsize(), rowsize(dtype, item_shape));
                if rowsize == 0 {
                    return None;
                }
                let is_null = |item: &[u8]| is_sentinel(dtype, item, null);
                let rows = bytes.chunks_exact(rowsize);
                Some(rows.map(|row| !row.chunks_exact(itemsize).all(is_null)).collect())
            }
            _ => None,
        }
    }

    fn null_code(&self) -> Option<i32> {
        match self.spec.kind {
            ColumnKind::Dictionary { null_code } => Some(null_code),
            _ => None,
        }
    }

    fn check_cell(&self, row: u64, value: &Value) -> Result<()> {
        let (fits, expected) = match (&self.spec.kind, value) {
            (_, Value::Nil) => (true, ""),
            (ColumnKind::VlString, value) => (matches!(value, Value::Str(_)), "text"),
            (ColumnKind::VlBytes, value) => (matches!(value, Value::Bytes(_)), "bytes"),
            (ColumnKind::Struct, value) => (matches!(value, Value::Map(_)), "maps"),
            _ => (true, ""),
        };
        if fits {
            return Ok(());
        }
        Err(self.corrupt(Corrupt::Cell { row, found: value.type_name(), expected }))
    }

    fn corrupt(&self, what: Corrupt) -> Error {
        Error::corrupt(&self.key, what)
    }
}

impl Data {
    fn open(table: &Table, spec: &ColumnSpec, key: &str) -> Result<Self> {
        let batches = |key: &str| match table.content(key)? {
            Content::Batches(batches) => Ok(batches),
            other => Err(wrong_content(key, &other, "batches")),
        };
        Ok(match &spec.kind {
            ColumnKind::Fixed(_)
            | ColumnKind::Timestamp { .. }
            | ColumnKind::String
            | ColumnKind::Bytes
            | ColumnKind::NdArray { .. } => Self::Fixed(open_fixed(table, spec, key)?),
            ColumnKind::Utf8 => Self::Utf8 {
                offsets: table.array_1d(key, Kind::Int, 8)?,
                bytes: table.array_1d(&format!("{key}.utf8"), Kind::Uint, 1)?,
            },
            ColumnKind::VlString
            | ColumnKind::VlBytes
            | ColumnKind::Struct
            | ColumnKind::Object => Self::Batches(batches(key)?),
            ColumnKind::List => match table.content(key)? {
                Content::Lists(lists) => Self::Lists(lists),
                other => return Err(wrong_content(key, &other, "lists")),
            },
            ColumnKind::Dictionary { .. } => {
                let codes = table.array_1d(key, Kind::Int, 4)?;
                let words_key = format!("{key}_dict");
                let (batches, decoded) = (batches(&words_key)?, Arc::new(OnceLock::new()));
                Self::Dictionary { codes, words: Words { batches, key: words_key, decoded } }
            }
            ColumnKind::Remote => {
                return Err(Error::Recipe { name: key.to_owned(), kind: RecipeKind::RemoteArray });
            }
            ColumnKind::Unknown(kind) => {
                let expected = "a kind that is known";
                let what = Corrupt::wrong_type(format!("kind {kind:?}"), expected, "another");
                return Err(Error::corrupt(key, what));
            }
        })
    }
}

/// The array of a column of fixed width.
fn open_fixed(table: &Table, spec: &ColumnSpec, key: &str) -> Result<NdArray> {
    let array = table.array(key)?;
    let is_called = |name: &str| simple_name(array.dtype()).as_deref() == Some(name);
    let is_of_kind = |kind| array.dtype().kind() == Some(kind);
    let (fits, ndim, expected) = match &spec.kind {
        ColumnKind::Fixed(kind) => {
            let is_widened = *kind == "b1" && matches!(spec.nulls, Nulls::Sentinel(_));
            (is_called(kind) || is_widened && is_called("u1"), 1, *kind)
        }
        ColumnKind::Timestamp { .. } => (is_called("i8"), 1, "i8"),
        ColumnKind::String => (is_of_kind(Kind::Unicode), 1, "text"),
        ColumnKind::NdArray { item_shape } => {
            let fits = array.shape().get(1..) == Some(item_shape.as_slice());
            (fits, item_shape.len().saturating_add(1), "rows of the shape of the schema")
        }
        _ => (is_of_kind(Kind::Bytes), 1, "bytes"),
    };
    check_array(&array, fits, ndim, key, expected)?;
    Ok(array)
}

impl Words {
    fn decode(&self) -> Result<Arc<[String]>> {
        if let Some(words) = self.decoded.get() {
            return Ok(Arc::clone(words));
        }
        let len = self.batches.len()?;
        let word = |(row, value): (u64, Value)| match value {
            Value::Str(word) => Ok(word),
            other => {
                let what = Corrupt::Cell { row, found: other.type_name(), expected: "words" };
                Err(Error::corrupt(&self.key, what))
            }
        };
        let words = self.batches.items(0..len)?;
        let words: Arc<[String]> = (0..).zip(words).map(word).collect::<Result<_>>()?;
        Ok(Arc::clone(self.decoded.get_or_init(|| words)))
    }
}

impl Span {
    /// From one item for each physical row, keeps the items of alive rows.
    fn keep<T>(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        let is_alive = |at: usize| self.flags.is_empty() || self.flags.get(at) == Some(&true);
        items.enumerate().filter(move |(at, _)| is_alive(*at)).map(|(_, item)| item)
    }
}

/// The physical row of the `n`-th alive row.
fn physical_row(spans: &[Span], n: usize) -> u64 {
    spans.iter().flat_map(|span| span.keep(span.rows.clone())).nth(n).unwrap_or_default()
}

fn read_lists(spans: &[Span], lists: &ListArray) -> Result<Values> {
    let mut objects = Vec::new();
    for span in spans {
        objects.extend(span.keep(lists.rows(span.rows.clone())?.into_iter()));
    }
    Ok(Values::Objects(objects))
}

fn first_len(array: &NdArray) -> u64 {
    array.shape().first().copied().unwrap_or_default()
}

/// The name of a type without byte order, if the type is little-endian and a single number.
pub(crate) fn simple_name(dtype: &Dtype) -> Option<String> {
    let scalar = dtype.scalar()?;
    if scalar.order() == ByteOrder::Big {
        return None;
    }
    let text = dtype.to_string();
    Some(text.trim_matches(['\'', '<', '|', '=']).to_owned())
}

fn check_array(array: &NdArray, fits: bool, ndim: usize, key: &str, expected: &str) -> Result<()> {
    if fits && array.ndim() == ndim {
        return Ok(());
    }
    let found = format!("{} with {} dimensions", array.dtype(), array.ndim());
    let expected = format!("{expected} with {ndim}");
    Err(Error::corrupt(key, Corrupt::Array { found, expected }))
}

pub(super) fn wrong_content(key: &str, found: &Content, expected: &'static str) -> Error {
    Error::corrupt(key, Corrupt::wrong_type("the frame", expected, found.kind_name()))
}

/// Whether an item is the value that means null: the same number, or any NaN for NaN.
fn is_sentinel(dtype: &Dtype, item: &[u8], null: &Json) -> bool {
    let padded = |size: usize| {
        let mut bytes = [0_u8; 8];
        let sign = item.last().is_some_and(|byte| *byte >= 0x80);
        if sign && dtype.kind() == Some(Kind::Int) {
            bytes = [0xff; 8];
        }
        bytes.get_mut(..size)?.copy_from_slice(item.get(..size)?);
        Some(bytes)
    };
    match (dtype.kind(), null) {
        (Some(Kind::Int), Json::Int(null)) => {
            padded(item.len()).is_some_and(|bytes| i128::from(i64::from_le_bytes(bytes)) == *null)
        }
        (Some(Kind::Uint | Kind::Bool), Json::Int(null)) => {
            padded(item.len()).is_some_and(|bytes| i128::from(u64::from_le_bytes(bytes)) == *null)
        }
        (Some(Kind::Float), null) => {
            let value = match *item {
                [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
                _ => return false,
            };
            null.as_f64().is_some_and(|null| null == value || (null.is_nan() && value.is_nan()))
        }
        (Some(Kind::Unicode), Json::String(null)) => {
            let (chars, _) = item.as_chunks::<4>();
            let mut chars = chars.iter().map(|c| char::from_u32(u32::from_le_bytes(*c)));
            let null = null.chars().map(Some);
            let head: Vec<_> = chars.by_ref().take(null.clone().count()).collect();
            head.into_iter().eq(null) && chars.all(|c| c == Some('\0'))
        }
        (Some(Kind::Bytes), null) => {
            let encoded = null.get("base64").and_then(Json::as_str);
            let Some(null) = encoded.and_then(base64::decode) else { return false };
            let rest = item.strip_prefix(null.as_slice());
            rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
        }
        _ => false,
    }
}
