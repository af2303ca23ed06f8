//! Appends values to a column.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use b2frame::nd::{Fill, Pick, Selection};
use b2frame::{Dtype, NdArray};
use blosc_dtype::json::{Json, base64};
use blosc_dtype::{ByteOrder, Kind};
use blosc_io::ReadAt;

use super::batches::{Cells, Encoded};
use super::items::Items;
use super::{StoreWriter, TableParams};
use crate::content::Content;
use crate::error::{Corrupt, Error, Param, Result};
use crate::table::{ColumnKind, ColumnSpec, ColumnValues, Nulls, Values, simple_name};
use crate::value::Value;

/// Checks that a column can hold these values.
pub(super) fn check_values(spec: &ColumnSpec, values: &ColumnValues) -> Result<()> {
    let wrong = |why| Error::column(&spec.name, why);
    let has_nulls = values.valid.as_ref().is_some_and(|valid| valid.contains(&false));
    if has_nulls && spec.nulls == Nulls::None {
        return Err(wrong("it has nulls, and no way to mark them"));
    }
    let fits = match (&spec.kind, &values.values) {
        (ColumnKind::Fixed(name), Values::Fixed { dtype, item_shape, .. }) => {
            item_shape.is_empty() && simple_name(dtype).as_deref() == Some(*name)
        }
        (ColumnKind::Timestamp { .. }, Values::Fixed { dtype, item_shape, .. }) => {
            item_shape.is_empty() && simple_name(dtype).as_deref() == Some("i8")
        }
        (ColumnKind::String, Values::Fixed { dtype, item_shape, .. }) => {
            item_shape.is_empty() && is_little(dtype) && dtype.kind() == Some(Kind::Unicode)
        }
        (ColumnKind::Bytes, Values::Fixed { dtype, item_shape, .. }) => {
            item_shape.is_empty() && dtype.kind() == Some(Kind::Bytes)
        }
        (ColumnKind::NdArray { item_shape }, Values::Fixed { item_shape: found, .. }) => {
            found == item_shape && !found.contains(&0)
        }
        (ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. }, other) => {
            matches!(other, Values::Text { .. } | Values::Dictionary { .. })
                || all_rows(values, |value| matches!(value, Value::Str(_)))
        }
        (ColumnKind::VlBytes, _) => all_rows(values, |value| matches!(value, Value::Bytes(_))),
        (ColumnKind::Struct, _) => all_rows(values, |value| matches!(value, Value::Map(_))),
        (ColumnKind::List, _) => all_rows(values, |value| matches!(value, Value::Array(_))),
        (ColumnKind::Object, _) => true,
        _ => false,
    };
    if !fits {
        return Err(wrong("its values are of another kind"));
    }
    if let (Nulls::Sentinel(null), Values::Fixed { dtype, .. }) = (&spec.nulls, &values.values)
        && has_nulls
        && sentinel_item(dtype, null).is_none()
    {
        return Err(wrong("its null value cannot be written"));
    }
    Ok(())
}

/// Whether all rows that are not null are of a kind. If the column has nulls, nil is null.
fn all_rows(values: &ColumnValues, fits: impl Fn(&Value) -> bool) -> bool {
    if let Values::Objects(objects) = &values.values {
        let is_nil = |value: &Value| *value == Value::Nil;
        let mut rows = objects.iter().enumerate();
        return rows.all(|(row, value)| is_nil(value) || values.is_null(row) || fits(value));
    }
    (0..values.len()).all(|row| {
        let value = values.value(row);
        value == Value::Nil || fits(&value)
    })
}

fn is_little(dtype: &Dtype) -> bool {
    dtype.scalar().is_none_or(|scalar| scalar.order() != ByteOrder::Big)
}

/// Values of a column in stored form, after their check.
pub(super) enum Checked<'a> {
    Items(Cow<'a, [u8]>),
    Text,
    Cells(Encoded),
}

/// A frame of a column: key, suffix, bytes.
type ColumnFrame = (String, &'static str, Arc<dyn ReadAt>);

/// The growing frames of a column.
pub(super) struct ColumnAppender {
    spec: ColumnSpec,
    key: String,
    dir: Option<PathBuf>,
    how: TableParams,
    frames: Frames,
    /// Created with the first null.
    mask: Option<Items>,
    /// Number of the next row.
    nrows: u64,
}

enum Frames {
    Items(Items),
    Text {
        offsets: Items,
        bytes: Items,
        /// Bytes of all text so far.
        end: i64,
    },
    Words {
        codes: Items,
        words: Cells,
        codes_by_word: HashMap<String, i32>,
        null_code: i32,
    },
    Cells(Cells),
}

impl ColumnAppender {
    /// A new column without rows. The values set its width.
    pub(super) fn create(
        root: &str,
        spec: &ColumnSpec,
        values: &ColumnValues,
        (dir, how): (Option<PathBuf>, &TableParams),
    ) -> Result<Self> {
        let key = column_key(root, spec)?;
        let array = |key: &str, inner: &[u64], dtype: &str| {
            Items::create(key, (0, inner), dtype, Fill::Zeros, (dir.clone(), how))
        };
        let cells = |key: &str| Cells::create(key, spec, (dir.clone(), how));
        let frames = match (&spec.kind, &values.values) {
            (ColumnKind::Utf8, _) => {
                let mut offsets = array(&key, &[], "<i8")?;
                offsets.append(&0_i64.to_le_bytes())?;
                Frames::Text { offsets, bytes: array(&text_key(&key), &[], "|u1")?, end: 0 }
            }
            (ColumnKind::Dictionary { null_code }, _) => Frames::Words {
                codes: array(&key, &[], "<i4")?,
                words: cells(&words_key(&key))?,
                codes_by_word: HashMap::new(),
                null_code: *null_code,
            },
            (_, Values::Fixed { dtype, item_shape, .. }) => {
                let is_sentinel = matches!(spec.nulls, Nulls::Sentinel(_));
                let text = match dtype.kind() {
                    Some(Kind::Bool) if is_sentinel => "|u1".to_owned(),
                    _ => dtype.to_string().trim_matches('\'').to_owned(),
                };
                Frames::Items(array(&key, item_shape, &text)?)
            }
            _ => Frames::Cells(cells(&key)?),
        };
        let (spec, how) = (spec.clone(), how.clone());
        Ok(Self { spec, key, dir, how, frames, mask: None, nrows: 0 })
    }

    /// An existing column; the next appended row is row `end`.
    pub(super) fn open(
        store: &StoreWriter,
        root: &str,
        spec: &ColumnSpec,
        end: u64,
    ) -> Result<Self> {
        let key = column_key(root, spec)?;
        let dir = store.place.dir.clone();
        let array = |key: &str, rows: u64| {
            store.array(key)?;
            Items::open(key, store.source(key)?, rows, dir.clone())
        };
        let frames = match &spec.kind {
            ColumnKind::Utf8 => {
                let (written, start) = last_offset(&store.array(&key)?, &key)?;
                let mut offsets = array(&key, written)?;
                // Offsets of missing rows, and in a new column the offset of the first row.
                let missing = end.saturating_add(1).saturating_sub(written);
                for _ in 0..missing {
                    offsets.append(&start.to_le_bytes())?;
                }
                let nbytes = u64::try_from(start).map_err(|_| {
                    let (row, nbytes) = (written, 0);
                    Error::corrupt(&key, Corrupt::Offsets { row, start, end: start, nbytes })
                })?;
                Frames::Text { offsets, bytes: array(&text_key(&key), nbytes)?, end: start }
            }
            ColumnKind::Dictionary { null_code } => {
                let words_key = words_key(&key);
                Frames::Words {
                    codes: array(&key, end)?,
                    codes_by_word: words_of(store, &words_key)?,
                    words: Cells::open(store, &words_key, dir.clone())?,
                    null_code: *null_code,
                }
            }
            kind if kind.has_native_nulls() => {
                let mut cells = Cells::open(store, &key, dir.clone())?;
                let mut missing = Encoded::default();
                for _ in store.written_rows(root, spec)?..end {
                    let _ = missing.push_text(None);
                }
                cells.append(&missing)?;
                Frames::Cells(cells)
            }
            _ => Frames::Items(array(&key, end)?),
        };
        let mask_key = mask_key(&key);
        let has_mask = spec.nulls == Nulls::Mask && store.contains(&mask_key);
        let mask = if has_mask { Some(array(&mask_key, end)?) } else { None };
        let how = TableParams::like(&store.frame(&key)?);
        Ok(Self { spec: spec.clone(), key, dir, how, frames, mask, nrows: end })
    }

    /// Whether a mask marks nulls.
    pub(super) const fn has_mask(&self) -> bool {
        self.mask.is_some()
    }

    /// Checks that the column can hold values of this kind.
    pub(super) fn check_kind(&self, values: &ColumnValues) -> Result<()> {
        check_values(&self.spec, values)
    }

    /// Bytes of an item of fixed width.
    #[cfg(feature = "arrow")]
    pub(super) fn width(&self) -> Option<usize> {
        match &self.frames {
            Frames::Items(items) => Some(items.dtype().itemsize()),
            _ => None,
        }
    }

    /// Checks values against the column, and converts them to stored form.
    pub(super) fn check<'a>(&self, values: &'a ColumnValues) -> Result<Checked<'a>> {
        let encoded = |push: &mut dyn FnMut(&mut Encoded, usize) -> Option<()>| {
            let mut cells = Encoded::default();
            let pushed = (0..values.len()).try_for_each(|row| push(&mut cells, row));
            let name = || self.spec.name.clone();
            pushed.map(|()| Checked::Cells(cells)).ok_or_else(|| Param::Value { name: name() })
        };
        match (&self.frames, &values.values) {
            (Frames::Items(items), Values::Fixed { dtype, item_shape, bytes }) => {
                self.check_items(items, dtype, item_shape)?;
                self.with_sentinels(items, values, bytes).map(Checked::Items)
            }
            (Frames::Items(_), _) => {
                Err(Error::column(&self.spec.name, "its values are of another kind"))
            }
            (Frames::Cells(_), Values::Objects(objects)) => {
                Ok(encoded(&mut |cells, row| match values.is_null(row) {
                    true => cells.push_text(None),
                    false => cells.push(objects.get(row)?),
                })?)
            }
            (Frames::Cells(_), Values::Fixed { .. }) => {
                Ok(encoded(&mut |cells, row| cells.push(&values.value(row)))?)
            }
            (Frames::Cells(_), _) => {
                Ok(encoded(&mut |cells, row| cells.push_text(values.text_at(row)))?)
            }
            (Frames::Text { .. } | Frames::Words { .. }, _) => Ok(Checked::Text),
        }
    }

    /// Checks that values of fixed width have the type of the destination array.
    fn check_items(&self, items: &Items, dtype: &Dtype, inner: &[u64]) -> Result<()> {
        let is_flag = dtype.kind() == Some(Kind::Bool) && items.dtype().itemsize() == 1;
        let why = if items.dtype().to_string() != dtype.to_string() && !is_flag {
            "its values have another type or width"
        } else if items.inner_shape() != inner {
            "its rows have another shape"
        } else {
            return Ok(());
        };
        Err(Error::column(&self.spec.name, why))
    }

    /// The bytes of rows, with the null value for nulls.
    fn with_sentinels<'a>(
        &self,
        items: &Items,
        values: &ColumnValues,
        bytes: &'a [u8],
    ) -> Result<Cow<'a, [u8]>> {
        let (Nulls::Sentinel(null), Some(valid)) = (&self.spec.nulls, &values.valid) else {
            return Ok(Cow::Borrowed(bytes));
        };
        let none = || Error::column(&self.spec.name, "its null value is none of its type");
        let item = sentinel_item(items.dtype(), null).ok_or_else(none)?;
        let rowsize = bytes.len().checked_div(valid.len().max(1)).unwrap_or(1).max(1);
        let mut bytes = bytes.to_vec();
        let rows = bytes.chunks_exact_mut(rowsize).zip(valid);
        for (row, _) in rows.filter(|(_, is_valid)| !**is_valid) {
            row.chunks_exact_mut(item.len().max(1)).for_each(|cell| cell.copy_from_slice(&item));
        }
        Ok(Cow::Owned(bytes))
    }

    /// Appends checked values.
    pub(super) fn append(&mut self, values: &ColumnValues, checked: &Checked<'_>) -> Result<()> {
        match (&mut self.frames, checked) {
            (Frames::Items(items), Checked::Items(bytes)) => items.append(bytes)?,
            (Frames::Cells(cells), Checked::Cells(encoded)) => cells.append(encoded)?,
            (Frames::Text { offsets, bytes, end }, _) => {
                let none = || Error::column(&self.spec.name, "its null value is no text");
                let null = match &self.spec.nulls {
                    Nulls::Sentinel(null) => null.as_str().ok_or_else(none)?,
                    _ => "",
                };
                append_text((offsets, bytes, end), null, values, &self.spec.name)?;
            }
            (Frames::Words { codes, words, codes_by_word, null_code }, _) => {
                append_codes((codes, words), codes_by_word, *null_code, values, &self.spec.name)?;
            }
            _ => {}
        }
        if self.spec.nulls == Nulls::Mask {
            self.append_mask(values)?;
        }
        self.nrows = self.nrows.saturating_add(values.len() as u64);
        Ok(())
    }

    fn append_mask(&mut self, values: &ColumnValues) -> Result<()> {
        let has_nulls = values.valid.as_ref().is_some_and(|valid| valid.contains(&false));
        if self.mask.is_none() && !has_nulls {
            return Ok(());
        }
        if self.mask.is_none() {
            // Before this, no row was null.
            let fill = Fill::Value(vec![1]);
            let (key, rows) = (mask_key(&self.key), (self.nrows, &[][..]));
            let how = (self.dir.clone(), &self.how);
            self.mask = Some(Items::create(&key, rows, "|b1", fill, how)?);
        }
        let bytes: Vec<u8> = match &values.valid {
            Some(valid) => valid.iter().map(|is_valid| u8::from(*is_valid)).collect(),
            None => vec![1; values.len()],
        };
        self.mask.as_mut().map_or(Ok(()), |mask| mask.append(&bytes))
    }

    /// The frames, with their keys and suffixes.
    pub(super) fn finish(self) -> Result<Vec<ColumnFrame>> {
        let Self { key, frames, mask, .. } = self;
        let mut found = Vec::new();
        if let Some(mask) = mask {
            found.push((mask_key(&key), ".b2nd", mask.finish()?));
        }
        match frames {
            Frames::Items(items) => found.push((key, ".b2nd", items.finish()?)),
            Frames::Cells(cells) => found.push((key, ".b2b", cells.finish()?)),
            Frames::Text { offsets, bytes, .. } => {
                // An empty column has one unused byte, as in python-blosc2.
                found.push((text_key(&key), ".b2nd", bytes.finish()?));
                found.push((key, ".b2nd", offsets.finish()?));
            }
            Frames::Words { codes, words, .. } => {
                found.push((words_key(&key), ".b2b", words.finish()?));
                found.push((key, ".b2nd", codes.finish()?));
            }
        }
        Ok(found)
    }
}

fn append_text(
    (offsets, bytes, end): (&mut Items, &mut Items, &mut i64),
    null: &str,
    values: &ColumnValues,
    name: &str,
) -> Result<()> {
    let after = |start: i64, len: u64| {
        let end = start.checked_add_unsigned(len);
        end.ok_or_else(|| Error::column(name, "more text than offsets can tell"))
    };
    let mut new = Vec::with_capacity(values.len().saturating_mul(8));
    if let (Values::Text { ends, text }, None) = (&values.values, &values.valid) {
        for row_end in ends {
            new.extend(after(*end, *row_end as u64)?.to_le_bytes());
        }
        *end = after(*end, text.len() as u64)?;
        bytes.append(text.as_bytes())?;
        return offsets.append(&new);
    }
    let mut joined = Vec::new();
    for row in 0..values.len() {
        let text = values.text_at(row).unwrap_or(null);
        joined.extend_from_slice(text.as_bytes());
        *end = after(*end, text.len() as u64)?;
        new.extend(end.to_le_bytes());
    }
    bytes.append(&joined)?;
    offsets.append(&new)
}

fn append_codes(
    (codes, words): (&mut Items, &mut Cells),
    codes_by_word: &mut HashMap<String, i32>,
    null_code: i32,
    values: &ColumnValues,
    name: &str,
) -> Result<()> {
    let (mut found, mut new) =
        (Vec::with_capacity(values.len().saturating_mul(4)), Encoded::default());
    for row in 0..values.len() {
        let code = match values.text_at(row) {
            None => null_code,
            Some(word) => match codes_by_word.get(word) {
                Some(code) => *code,
                None => {
                    let full = || Error::column(name, "it has more words than there are codes");
                    let code = i32::try_from(codes_by_word.len()).map_err(|_| full())?;
                    new.push_text(Some(word)).ok_or_else(full)?;
                    codes_by_word.insert(word.to_owned(), code);
                    code
                }
            },
        };
        found.extend(code.to_le_bytes());
    }
    words.append(&new)?;
    codes.append(&found)
}

/// Number of offsets of a column of text, and the last one.
fn last_offset(offsets: &NdArray, key: &str) -> Result<(u64, i64)> {
    let written = offsets.nitems();
    let Some(at) = written.checked_sub(1) else { return Ok((written, 0)) };
    let item = offsets.to_bytes(Selection::from([Pick::from(at..written)]));
    let item = item.map_err(|source| Error::frame(key, source))?;
    let item = <[u8; 8]>::try_from(item.as_slice());
    let last = i64::from_le_bytes(item.map_err(|_| Error::internal(key, "no offset of 64 bits"))?);
    Ok((written, last))
}

/// The words of a dictionary and their codes.
fn words_of(store: &StoreWriter, key: &str) -> Result<HashMap<String, i32>> {
    let Content::Batches(batches) = store.get(key)? else {
        return Err(Error::column(key, "its words are no batches"));
    };
    let words = batches.items(0..batches.len()?)?.into_iter().zip(0..);
    let word = |(word, code)| match word {
        Value::Str(word) => Some((word, code)),
        _ => None,
    };
    Ok(words.filter_map(word).collect())
}

impl StoreWriter {
    /// Number of rows of a column that cannot be cut off, because it is not an array.
    pub(super) fn written_rows(&self, root: &str, spec: &ColumnSpec) -> Result<u64> {
        let key = column_key(root, spec)?;
        match spec.kind {
            ColumnKind::Utf8 => Ok(self.array(&key)?.nitems().saturating_sub(1)),
            ColumnKind::Dictionary { .. } => Ok(0),
            _ => match self.get(&key)? {
                Content::Batches(batches) => batches.len(),
                Content::Lists(lists) => lists.len(),
                Content::Array(_) => Ok(0),
                Content::Recipe(recipe) => Err(Error::Recipe { name: key, kind: recipe.kind }),
                _ => Err(Error::column(&spec.name, "its frame is of another kind")),
            },
        }
    }
}

fn text_key(key: &str) -> String {
    format!("{key}.utf8")
}

fn words_key(key: &str) -> String {
    format!("{key}_dict")
}

pub(super) fn mask_key(key: &str) -> String {
    format!("{key}.notnull")
}

/// The possible keys of a column's frames.
pub(super) fn keys_of(root: &str, spec: &ColumnSpec) -> Result<Vec<String>> {
    let key = column_key(root, spec)?;
    let other = match spec.kind {
        ColumnKind::Utf8 => Some(text_key(&key)),
        ColumnKind::Dictionary { .. } => Some(words_key(&key)),
        _ => None,
    };
    let mask = mask_key(&key);
    Ok([Some(key), other, Some(mask)].into_iter().flatten().collect())
}

/// The key of the main frame of a column.
pub(super) fn column_key(root: &str, spec: &ColumnSpec) -> Result<String> {
    let why = "a part of its name is empty or leads elsewhere";
    let path = spec.path.as_ref().ok_or_else(|| Error::column(&spec.name, why))?;
    Ok(format!("{root}/_cols/{path}"))
}

/// The bytes of an item that means null.
fn sentinel_item(dtype: &Dtype, null: &Json) -> Option<Vec<u8>> {
    let size = dtype.itemsize();
    let padded = |bytes: &[u8]| {
        let mut item = bytes.to_vec();
        item.resize(size, 0);
        (bytes.len() <= size).then_some(item)
    };
    match (dtype.kind()?, null) {
        (Kind::Int | Kind::Uint | Kind::Bool, Json::Int(value)) => {
            value.to_le_bytes().get(..size).map(<[u8]>::to_vec)
        }
        #[expect(clippy::cast_possible_truncation, reason = "the item is a float of 32 bits")]
        (Kind::Float, null) => match size {
            4 => null.as_f64().map(|value| (value as f32).to_le_bytes().to_vec()),
            8 => null.as_f64().map(|value| value.to_le_bytes().to_vec()),
            _ => None,
        },
        (Kind::Unicode, Json::String(text)) => {
            padded(&text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>())
        }
        (Kind::Bytes, null) => padded(&base64::decode(null.get("base64")?.as_str()?)?),
        _ => None,
    }
}
