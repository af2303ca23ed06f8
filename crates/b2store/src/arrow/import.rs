//! Record batches as rows of a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float16Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use blosc_dtype::json::Json;
use blosc_dtype::{Dtype, Kind};

use super::{DTYPE_KEY, items};
use crate::error::{Error, Param, Result};
use crate::table::{ColumnKind, ColumnValues, Nulls, Values};
use crate::value::Value;
use crate::write::{NewColumn, RowAppender, StoreWriter};

/// The largest length of text in a list or a map, as python-blosc2 describes it (characters).
const MAX_TEXT_LEN: i128 = 1_000_000;
/// Seconds of a day, the unit of dates in Arrow.
const DAY_SECONDS: i64 = 86_400;

impl StoreWriter {
    /// Adds a table of record batches, which all have this schema; returns the number of rows.
    /// Memory holds a batch and a chunk of each column. [`NewColumn::from_field`] describes the
    /// conversion of types.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    /// use b2store::StoreWriter;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    /// let texts: ArrayRef = Arc::new(StringArray::from(vec!["one", "two"]));
    /// let batch = RecordBatch::try_from_iter([("n", numbers), ("text", texts)])?;
    /// let mut writer = StoreWriter::create(dir.path().join("t.b2z"))?;
    /// let (schema, batches) = (batch.schema(), [Ok::<_, b2store::Error>(batch)]);
    /// assert_eq!(writer.insert_batches("/", &schema, batches)?, 2);
    /// assert!(writer.commit()?.table("/")?.column("n")?.read(1..2)?.is_null(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the batches; [`Param::NoCounterpart`], and as
    /// [`create_table`](Self::create_table) and [`RowAppender::append_batch`].
    pub fn insert_batches<E: From<Error>>(
        &mut self,
        key: &str,
        schema: &Schema,
        batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    ) -> Result<u64, E> {
        let columns = schema.fields().iter().map(|field| NewColumn::from_field(field));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut rows = self.create_table(key, &columns)?;
        rows.append_batch(&RecordBatch::new_empty(Arc::new(schema.clone())))?;
        for batch in batches {
            rows.append_batch(&batch?)?;
        }
        let nrows = rows.nrows();
        rows.finish()?;
        Ok(nrows)
    }
}

impl NewColumn {
    /// The column for arrays of a type. A mask, or nil, marks the nulls of nullable fields.
    ///
    /// | Arrow | column |
    /// |---|---|
    /// | numbers, truth values | the same; floats of 16 bits those of 32 |
    /// | dates; timestamps | timestamps of seconds or milliseconds; of their unit and time zone |
    /// | times of a day, durations | integers of 64 bits |
    /// | text of any kind; bytes | `utf8`; `vlbytes` |
    /// | text, bytes and complex numbers of NumPy, by their [`DTYPE_KEY`] | the same |
    /// | dictionaries of text | `dictionary` |
    /// | lists of fixed size of numbers | `ndarray` |
    /// | lists, structs | `list`, `struct`, of all these types |
    ///
    /// # Errors
    ///
    /// [`Param::NoCounterpart`] for decimals, intervals, unions, maps and other types.
    pub fn from_field(field: &Field) -> Result<Self> {
        let (name, data_type) = (field.name(), field.data_type());
        let refused = || no_counterpart(name, data_type);
        let numpy = numpy_type(field);
        let simple = |kind| Some(Self::new(name, kind));
        let column = match (data_type, numpy.as_ref().and_then(Dtype::kind)) {
            (DataType::Utf8, Some(Kind::Unicode)) => simple(ColumnKind::String),
            (DataType::Binary, Some(Kind::Bytes)) => simple(ColumnKind::Bytes),
            (DataType::FixedSizeBinary(8), Some(Kind::Complex)) => simple(ColumnKind::Fixed("c8")),
            (DataType::FixedSizeBinary(16), Some(Kind::Complex)) => {
                simple(ColumnKind::Fixed("c16"))
            }
            (DataType::FixedSizeList(..), _) => match ndarray_shape(data_type) {
                Some((_, item_shape)) => simple(ColumnKind::NdArray { item_shape }),
                None => list_column(name, data_type),
            },
            (DataType::List(_) | DataType::LargeList(_), _) => list_column(name, data_type),
            (DataType::Struct(_), _) => {
                let spec = spec_of(data_type).ok_or_else(refused)?;
                let fields = spec.get("fields").cloned().unwrap_or(Json::Null);
                simple(ColumnKind::Struct).map(|column| column.option("fields", fields))
            }
            (DataType::Dictionary(_, words), _) if is_text(words) => {
                simple(ColumnKind::Dictionary { null_code: -1 })
            }
            _ => scalar_kind(data_type).and_then(simple),
        };
        let nulls = if field.is_nullable() { Nulls::Mask } else { Nulls::None };
        Ok(column.ok_or_else(refused)?.nulls(nulls))
    }
}

impl RowAppender<'_> {
    /// Appends the rows of a batch; the names of its columns decide where they go.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`]; [`Param::NoCounterpart`] for arrays of another type than the column's,
    /// and for null items in the arrays of rows; as [`append`](Self::append).
    pub fn append_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let (schema, targets) = (batch.schema(), self.targets());
        let mut values = Vec::with_capacity(targets.len());
        for (name, kind, width) in &targets {
            let Some((at, field)) = schema.column_with_name(name) else {
                return Err(Param::NoColumn { name: name.clone() }.into());
            };
            let width = width.or_else(|| numpy_type(field).map(|dtype| dtype.itemsize()));
            let array = batch.column(at);
            let found = column_values(kind, width.unwrap_or(1), array);
            values.push(found.ok_or_else(|| no_counterpart(name, array.data_type()))?);
        }
        if let Some(field) = schema
            .fields()
            .iter()
            .find(|field| !targets.iter().any(|(name, ..)| name == field.name()))
        {
            return Err(Param::NoColumn { name: field.name().clone() }.into());
        }
        self.append(&values)
    }
}

/// The NumPy type that a field came from.
fn numpy_type(field: &Field) -> Option<Dtype> {
    field.metadata().get(DTYPE_KEY).and_then(|text| text.parse().ok())
}

fn no_counterpart(name: &str, data_type: &DataType) -> Error {
    Param::NoCounterpart { column: name.to_owned(), found: data_type.to_string() }.into()
}

const fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The kind of a column of single values.
fn scalar_kind(data_type: &DataType) -> Option<ColumnKind> {
    let timestamp =
        |unit: &str, timezone| ColumnKind::Timestamp { unit: unit.to_owned(), timezone };
    Some(match data_type {
        DataType::Boolean => ColumnKind::Fixed("b1"),
        DataType::Int8 => ColumnKind::Fixed("i1"),
        DataType::Int16 => ColumnKind::Fixed("i2"),
        DataType::Int32 => ColumnKind::Fixed("i4"),
        DataType::Int64 | DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_) => {
            ColumnKind::Fixed("i8")
        }
        DataType::UInt8 => ColumnKind::Fixed("u1"),
        DataType::UInt16 => ColumnKind::Fixed("u2"),
        DataType::UInt32 => ColumnKind::Fixed("u4"),
        DataType::UInt64 => ColumnKind::Fixed("u8"),
        DataType::Float16 | DataType::Float32 => ColumnKind::Fixed("f4"),
        DataType::Float64 => ColumnKind::Fixed("f8"),
        DataType::Date32 => timestamp("s", None),
        DataType::Date64 => timestamp("ms", None),
        DataType::Timestamp(unit, zone) => {
            timestamp(unit_text(*unit), zone.as_deref().map(str::to_owned))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnKind::Utf8,
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => ColumnKind::VlBytes,
        _ => return None,
    })
}

const fn unit_text(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

fn list_column(name: &str, data_type: &DataType) -> Option<NewColumn> {
    let spec = spec_of(data_type)?;
    let item = spec.get("item").cloned()?;
    Some(NewColumn::new(name, ColumnKind::List).option("item", item))
}

/// The type of the numbers in lists of fixed size, and the lengths of the lists; `None` for lists
/// without items.
fn ndarray_shape(data_type: &DataType) -> Option<(&DataType, Vec<u64>)> {
    let (mut item, mut shape) = (data_type, Vec::new());
    while let DataType::FixedSizeList(field, len) = item {
        shape.push(u64::try_from(*len).ok().filter(|len| *len > 0)?);
        item = field.data_type();
    }
    let is_number = matches!(item, DataType::Boolean) || item.is_integer() || item.is_floating();
    is_number.then_some((item, shape))
}

/// The description of values in lists and maps.
fn spec_of(data_type: &DataType) -> Option<Json> {
    let text = |text: &str| Json::String(text.to_owned());
    let object = |fields: Vec<(&str, Json)>| {
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        Json::Object(fields.collect())
    };
    let list = |item: &Field| {
        Some(object(vec![
            ("kind", text("list")),
            ("item", spec_of(item.data_type())?),
            ("nullable", Json::Bool(true)),
        ]))
    };
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            return list(item);
        }
        DataType::Struct(fields) => {
            let field = |field: &Arc<Field>| match spec_of(field.data_type())? {
                Json::Object(mut spec) => {
                    spec.insert(0, ("name".to_owned(), text(field.name())));
                    Some(Json::Object(spec))
                }
                _ => None,
            };
            let fields = fields.iter().map(field).collect::<Option<Vec<_>>>()?;
            let nullable = Json::Bool(true);
            return Some(object(vec![
                ("kind", text("struct")),
                ("fields", Json::Array(fields)),
                ("nullable", nullable),
            ]));
        }
        DataType::Dictionary(_, words) if is_text(words) => return spec_of(words),
        _ => {}
    }
    let length = ("max_length", Json::Int(MAX_TEXT_LEN));
    Some(match scalar_kind(data_type)? {
        ColumnKind::Fixed(name) => object(vec![("kind", text(crate::write::fixed_name(name)?))]),
        ColumnKind::Timestamp { unit, timezone } => {
            let mut fields = vec![("kind", text("timestamp")), ("unit", text(&unit))];
            fields.extend(timezone.map(|zone| ("timezone", text(&zone))));
            object(fields)
        }
        ColumnKind::Utf8 => object(vec![("kind", text("string")), length]),
        ColumnKind::VlBytes => object(vec![("kind", text("bytes")), length]),
        _ => return None,
    })
}

/// The values of an array for a column of a kind; `width` is the width of text and bytes of fixed
/// width (bytes).
fn column_values(kind: &ColumnKind, width: usize, array: &ArrayRef) -> Option<ColumnValues> {
    let values = match kind {
        ColumnKind::Fixed(name) => fixed(&format!("<{name}"), vec![], numbers(name, array)?)?,
        ColumnKind::Timestamp { unit, .. } => {
            let fits = match array.data_type() {
                DataType::Date32 => unit == "s",
                DataType::Date64 => unit == "ms",
                DataType::Timestamp(found, _) => unit_text(*found) == unit,
                _ => false,
            };
            let counts = counts(array).filter(|_| fits)?;
            fixed("<i8", vec![], counts.iter().flat_map(|count| count.to_le_bytes()).collect())?
        }
        ColumnKind::String | ColumnKind::Bytes => padded(kind, width, array)?,
        ColumnKind::NdArray { item_shape } => {
            let items = items_of_lists(item_shape, array)?;
            let (item, _) = ndarray_shape(array.data_type())?;
            let ColumnKind::Fixed(name) = scalar_kind(item)? else { return None };
            fixed(&format!("<{name}"), item_shape.clone(), numbers(name, &items)?)?
        }
        ColumnKind::Utf8 | ColumnKind::VlString => text_values(array)?,
        ColumnKind::Dictionary { .. } => words(array)?,
        _ => Values::Objects(cells(array)?),
    };
    let valid = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let valid = valid.map(|nulls| nulls.iter().collect());
    Some(ColumnValues { values, valid })
}

fn fixed(dtype: &str, item_shape: Vec<u64>, bytes: Vec<u8>) -> Option<Values> {
    // A single byte has no byte order.
    let dtype = dtype.replace("<b1", "|b1").replace("<i1", "|i1").replace("<u1", "|u1");
    Some(Values::Fixed { dtype: dtype.parse().ok()?, item_shape, bytes })
}

/// The bytes of numbers of a NumPy type, little-endian.
fn numbers(name: &str, array: &ArrayRef) -> Option<Vec<u8>> {
    if let Some(items) = array.as_fixed_size_binary_opt() {
        let is_fitting = matches!((name, items.value_length()), ("c8", 8) | ("c16", 16));
        let items = (0..items.len()).flat_map(|row| items.value(row).iter().copied());
        return is_fitting.then(|| items.collect());
    }
    let kind = scalar_kind(array.data_type())?;
    if !matches!(kind, ColumnKind::Fixed(found) if found == name) {
        return None;
    }
    if let Some(truths) = array.as_boolean_opt() {
        return Some(truths.values().iter().map(u8::from).collect());
    }
    if let Some(halves) = array.as_primitive_opt::<Float16Type>() {
        let halves = halves.values().iter();
        return Some(halves.flat_map(|half| half.to_f32().to_le_bytes()).collect());
    }
    if let Some(counts) = counts(array) {
        return Some(counts.iter().flat_map(|count| count.to_le_bytes()).collect());
    }
    let mut bytes = items::to_native(array)?;
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(array.data_type().primitive_width()?).for_each(<[u8]>::reverse);
    }
    Some(bytes)
}

/// Dates, times and spans as numbers: dates in seconds or milliseconds.
fn counts(array: &dyn Array) -> Option<Vec<i64>> {
    let mut counts = items::counts(array)?;
    if array.data_type() == &DataType::Date32 {
        counts.iter_mut().for_each(|day| *day = day.saturating_mul(DAY_SECONDS));
    }
    Some(counts)
}

/// The items of nested lists of fixed size with the lengths in `item_shape`. Only items of null
/// rows may be null.
fn items_of_lists(item_shape: &[u64], array: &ArrayRef) -> Option<ArrayRef> {
    let mut items = Arc::clone(array);
    for (depth, len) in item_shape.iter().enumerate() {
        let list = items.as_fixed_size_list_opt()?;
        if u64::try_from(list.value_length()) != Ok(*len) || (depth > 0 && list.null_count() > 0) {
            return None;
        }
        let len = usize::try_from(*len).ok()?;
        let start = list.value_offset_at(0);
        let inner = list.values().slice(start, list.len().checked_mul(len)?);
        // Items of null rows may be anything.
        let is_null =
            |at: usize| inner.is_null(at) && list.is_valid(at.checked_div(len).unwrap_or_default());
        if inner.null_count() > 0 && (0..inner.len()).any(is_null) {
            return None;
        }
        items = inner;
    }
    Some(items)
}

/// The text of each row, `None` for null; `None` in all if the array holds no text.
fn texts(array: &dyn Array) -> Option<Vec<Option<&str>>> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string_opt::<i32>()?.iter().collect()),
        DataType::LargeUtf8 => Some(array.as_string_opt::<i64>()?.iter().collect()),
        DataType::Utf8View => Some(array.as_string_view_opt()?.iter().collect()),
        DataType::Dictionary(_, words) if is_text(words) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let words = texts(dictionary.values())?;
            let keys = dictionary.normalized_keys();
            let row = |(at, key): (usize, &usize)| match dictionary.keys().is_null(at) {
                true => None,
                false => words.get(*key).copied().flatten(),
            };
            // An empty dictionary has no keys.
            match words.is_empty() {
                true => Some(vec![None; array.len()]),
                false => Some(keys.iter().enumerate().map(row).collect()),
            }
        }
        _ => None,
    }
}

/// The bytes of each row.
fn blobs(array: &dyn Array) -> Option<Vec<Option<&[u8]>>> {
    match array.data_type() {
        DataType::Binary => Some(array.as_binary_opt::<i32>()?.iter().collect()),
        DataType::LargeBinary => Some(array.as_binary_opt::<i64>()?.iter().collect()),
        DataType::BinaryView => Some(array.as_binary_view_opt()?.iter().collect()),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary_opt()?.iter().collect()),
        _ => None,
    }
}

fn text_values(array: &ArrayRef) -> Option<Values> {
    if let Some(strings) = array.as_string_opt::<i32>() {
        let offsets = strings.value_offsets();
        let start = usize::try_from(*offsets.first()?).ok()?;
        let end = |offset: &i32| usize::try_from(*offset).ok()?.checked_sub(start);
        let ends = offsets.iter().skip(1).map(end).collect::<Option<Vec<_>>>()?;
        let last = start.checked_add(ends.last().copied().unwrap_or_default())?;
        let text = strings.value_data().get(start..last)?;
        return Some(Values::Text { ends, text: core::str::from_utf8(text).ok()?.to_owned() });
    }
    let rows = texts(array)?;
    Some(ColumnValues::text(rows.into_iter().map(Option::unwrap_or_default)).values)
}

/// Text as the numbers of its words.
fn words(array: &ArrayRef) -> Option<Values> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return text_values(array) };
    let words = texts(dictionary.values())?;
    if words.is_empty() {
        let codes = vec![-1; array.len()];
        return Some(Values::Dictionary { codes, words: Arc::new([]) });
    }
    let keys = dictionary.normalized_keys();
    let code = |(at, key): (usize, &usize)| {
        let is_word =
            dictionary.keys().is_valid(at) && words.get(*key).is_some_and(Option::is_some);
        if is_word { i32::try_from(*key).ok() } else { Some(-1) }
    };
    let codes = keys.iter().enumerate().map(code).collect::<Option<Vec<_>>>()?;
    let words = words.iter().map(|word| word.unwrap_or_default().to_owned());
    Some(Values::Dictionary { codes, words: words.collect() })
}

/// Text or bytes of fixed width; `None` if some are longer, or end in zeros themselves.
fn padded(kind: &ColumnKind, width: usize, array: &ArrayRef) -> Option<Values> {
    let is_text = *kind == ColumnKind::String;
    let width = width.max(if is_text { 4 } else { 1 });
    let mut bytes = Vec::with_capacity(array.len().saturating_mul(width));
    let mut pad = |row: &[u8]| {
        let end = bytes.len().checked_add(width)?;
        bytes.extend_from_slice(row);
        let is_fitting = bytes.len() <= end && (is_text || row.last() != Some(&0));
        bytes.resize(end, 0);
        is_fitting.then_some(())
    };
    if is_text {
        for text in texts(array)? {
            let text = text.unwrap_or_default();
            let chars = text.chars().flat_map(|c| u32::from(c).to_le_bytes());
            pad(&chars.collect::<Vec<u8>>()).filter(|()| !text.ends_with('\0'))?;
        }
        return fixed(&format!("<U{}", width.checked_div(4)?), vec![], bytes);
    }
    blobs(array)?.into_iter().try_for_each(|row| pad(row.unwrap_or_default()))?;
    fixed(&format!("|S{width}"), vec![], bytes)
}

/// The rows as values of any kind; nil for null.
fn cells(array: &ArrayRef) -> Option<Vec<Value>> {
    let or_nil = |value: Option<Value>| value.unwrap_or(Value::Nil);
    if let Some(rows) = texts(array) {
        let value = |text: Option<&str>| or_nil(text.map(|text| Value::Str(text.to_owned())));
        return Some(rows.into_iter().map(value).collect());
    }
    if let Some(rows) = blobs(array) {
        let value = |bytes: Option<&[u8]>| or_nil(bytes.map(|bytes| Value::Bytes(bytes.to_vec())));
        return Some(rows.into_iter().map(value).collect());
    }
    let valid = |at: usize, value: Value| if array.is_null(at) { Value::Nil } else { value };
    match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list_opt::<i32>()?;
            lists(array, list.values(), list.value_offsets().iter().map(|at| i64::from(*at)))
        }
        DataType::LargeList(_) => {
            let list = array.as_list_opt::<i64>()?;
            lists(array, list.values(), list.value_offsets().iter().copied())
        }
        DataType::FixedSizeList(_, len) => {
            let list = array.as_fixed_size_list_opt()?;
            let (start, len) = (i64::try_from(list.value_offset_at(0)).ok()?, i64::from(*len));
            let rows = 0..=i64::try_from(list.len()).ok()?;
            let offset = |row: i64| start.saturating_add(row.saturating_mul(len));
            lists(array, list.values(), rows.map(offset))
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct_opt()?.columns().iter().map(cells);
            let columns = columns.collect::<Option<Vec<_>>>()?;
            let row = |at: usize| {
                let entry = |(field, cells): (&Arc<Field>, &Vec<Value>)| {
                    (Value::Str(field.name().clone()), or_nil(cells.get(at).cloned()))
                };
                valid(at, Value::Map(fields.iter().zip(&columns).map(entry).collect()))
            };
            Some((0..array.len()).map(row).collect())
        }
        data_type => {
            let ColumnKind::Fixed(name) = scalar_kind(data_type)? else {
                let counts = counts(array)?.into_iter().enumerate();
                return Some(counts.map(|(at, count)| valid(at, Value::Int(count))).collect());
            };
            let values = fixed(&format!("<{name}"), vec![], numbers(name, array)?)?;
            let items = ColumnValues::new(values);
            Some((0..array.len()).map(|at| valid(at, items.value(at))).collect())
        }
    }
}

/// Lists of values, which lie between these offsets.
fn lists(
    array: &ArrayRef,
    values: &ArrayRef,
    offsets: impl Iterator<Item = i64>,
) -> Option<Vec<Value>> {
    let offsets = offsets.map(|at| usize::try_from(at).ok()).collect::<Option<Vec<_>>>()?;
    let (first, last) = (*offsets.first()?, *offsets.last()?);
    let items = cells(&values.slice(first, last.checked_sub(first)?))?;
    let row = |(at, ends): (usize, &[usize])| {
        let [start, end] = ends else { return None };
        let items = items.get(start.checked_sub(first)?..end.checked_sub(first)?)?;
        Some(if array.is_null(at) { Value::Nil } else { Value::Array(items.to_vec()) })
    };
    offsets.windows(2).enumerate().map(row).collect()
}
