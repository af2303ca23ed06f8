//! Values of a column behind those that it has.

use b2frame::Dtype;
use b2frame::nd::{Fill, Pick, Selection};
use blosc_dtype::json::Json;
use blosc_dtype::{ByteOrder, Kind};

use super::spec::is_native;
use super::{StoreWriter, new_array};
use crate::content::Content;
use crate::error::{Error, Param, Result};
use crate::table::{ColumnKind, ColumnSpec, ColumnValues, Nulls, Values, decode_base64};
use crate::value::Value;

/// Whether a column can hold these values.
pub(super) fn check_values(spec: &ColumnSpec, values: &ColumnValues) -> Result<()> {
    let wrong = |why| Error::from(Param::Column { name: spec.name.clone(), why });
    let has_nulls = values.valid.as_ref().is_some_and(|valid| valid.contains(&false));
    if has_nulls && spec.nulls == Nulls::None {
        return Err(wrong("it has nulls, and no way to mark them"));
    }
    let fits = match (&spec.kind, &values.values) {
        (ColumnKind::Fixed(name), Values::Fixed { dtype, item_shape, .. }) => {
            item_shape.is_empty() && is_little(dtype) && short_name(dtype).as_deref() == Some(*name)
        }
        (ColumnKind::Timestamp { .. }, Values::Fixed { dtype, item_shape, .. }) => {
            item_shape.is_empty() && is_little(dtype) && short_name(dtype).as_deref() == Some("i8")
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
    let is_encodable = |row: usize| values.value(row).encode().is_some();
    if is_native(&spec.kind) && !(0..values.len()).all(is_encodable) {
        return Err(Param::Value { name: spec.name.clone() }.into());
    }
    Ok(())
}

/// Whether all rows that are not null are of a kind. Nil is null where a column has nulls.
fn all_rows(values: &ColumnValues, fits: impl Fn(&Value) -> bool) -> bool {
    (0..values.len()).all(|row| {
        let value = values.value(row);
        value == Value::Nil || fits(&value)
    })
}

fn is_little(dtype: &Dtype) -> bool {
    dtype.scalar().is_none_or(|scalar| scalar.order() != ByteOrder::Big)
}

fn short_name(dtype: &Dtype) -> Option<String> {
    let letter = match dtype.kind()? {
        Kind::Bool => 'b',
        Kind::Int => 'i',
        Kind::Uint => 'u',
        Kind::Float => 'f',
        Kind::Complex => 'c',
        _ => return None,
    };
    Some(format!("{letter}{}", dtype.itemsize()))
}

impl StoreWriter {
    /// The frames of a column without rows.
    pub(super) fn create_column(
        &mut self,
        root: &str,
        spec: &ColumnSpec,
        values: &ColumnValues,
    ) -> Result<()> {
        let key = column_key(root, spec)?;
        match (&spec.kind, &values.values) {
            (ColumnKind::Utf8, _) => {
                let offsets = new_array(&[1], "<i8", &Fill::Zeros, &key)?;
                self.store_value(&key, ".b2nd", offsets);
                let bytes = new_array(&[1], "|u1", &Fill::Zeros, &key)?;
                self.store_value(&format!("{key}.utf8"), ".b2nd", bytes);
            }
            (ColumnKind::Dictionary { .. }, _) => {
                let codes = new_array(&[1], "<i4", &Fill::Zeros, &key)?;
                self.store_value(&key, ".b2nd", codes);
                self.create_batches(&format!("{key}_dict"), spec)?;
            }
            (_, Values::Fixed { dtype, item_shape, .. }) => {
                let is_sentinel = matches!(spec.nulls, Nulls::Sentinel(_));
                let text = match dtype.kind() {
                    Some(Kind::Bool) if is_sentinel => "|u1".to_owned(),
                    _ => dtype.to_string().trim_matches('\'').to_owned(),
                };
                let shape = [&[1][..], item_shape].concat();
                let array = new_array(&shape, &text, &Fill::Zeros, &key)?;
                self.store_value(&key, ".b2nd", array);
            }
            _ => self.create_batches(&key, spec)?,
        }
        Ok(())
    }

    /// Rows of a column that cannot be cut off, because they are no array.
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
                _ => {
                    let why = "its frame is of another kind";
                    Err(Param::Column { name: spec.name.clone(), why }.into())
                }
            },
        }
    }

    /// Appends values of a column, so that the first of them is row `end`.
    pub(super) fn append_column(
        &mut self,
        root: &str,
        spec: &ColumnSpec,
        values: &ColumnValues,
        end: u64,
    ) -> Result<()> {
        let key = column_key(root, spec)?;
        match &spec.kind {
            ColumnKind::Utf8 => self.append_text(&key, spec, values, end)?,
            ColumnKind::Dictionary { null_code } => {
                self.append_codes(&key, values, end, *null_code)?;
            }
            kind if is_native(kind) => {
                let rows = (0..values.len()).map(|row| values.value(row)).collect();
                self.append_cells(&key, rows, end)?;
            }
            _ => self.append_items(&key, spec, values, end)?,
        }
        if spec.nulls == Nulls::Mask {
            self.append_mask(&format!("{key}.notnull"), values, end)?;
        }
        Ok(())
    }

    /// Whether values of fixed width are of the type of the array that they are appended to.
    pub(super) fn check_items(
        &self,
        root: &str,
        spec: &ColumnSpec,
        values: &ColumnValues,
    ) -> Result<()> {
        let Values::Fixed { dtype, item_shape, .. } = &values.values else { return Ok(()) };
        if spec.kind == ColumnKind::Utf8 || is_native(&spec.kind) {
            return Ok(());
        }
        let array = self.array(&column_key(root, spec)?)?;
        let is_flag = dtype.kind() == Some(Kind::Bool) && array.dtype().itemsize() == 1;
        let why = if array.dtype().to_string() != dtype.to_string() && !is_flag {
            "its values have another type or width"
        } else if array.shape().get(1..) != Some(item_shape) {
            "its rows have another shape"
        } else {
            return Ok(());
        };
        Err(Param::Column { name: spec.name.clone(), why }.into())
    }

    fn append_items(
        &mut self,
        key: &str,
        spec: &ColumnSpec,
        values: &ColumnValues,
        end: u64,
    ) -> Result<()> {
        let Values::Fixed { bytes, .. } = &values.values else { return Ok(()) };
        let array = self.array(key)?;
        let mut shape = array.shape().to_vec();
        if let Some(first) = shape.first_mut() {
            *first = end;
        }
        let mut bytes = bytes.clone();
        if let (Nulls::Sentinel(null), Some(valid)) = (&spec.nulls, &values.valid) {
            let item = sentinel_item(array.dtype(), null).unwrap_or_default();
            let rowsize = bytes.len().checked_div(valid.len().max(1)).unwrap_or(1).max(1);
            let rows = bytes.chunks_exact_mut(rowsize).zip(valid);
            for (row, _) in rows.filter(|(_, is_valid)| !**is_valid) {
                row.chunks_exact_mut(item.len().max(1))
                    .for_each(|cell| cell.copy_from_slice(&item));
            }
        }
        drop(array);
        self.edit_items(key, |writer| {
            writer.resize(&shape)?;
            writer.append_bytes(0, &bytes)
        })
    }

    fn append_mask(&mut self, key: &str, values: &ColumnValues, end: u64) -> Result<()> {
        let is_new = !self.contains(key);
        let has_nulls = values.valid.as_ref().is_some_and(|valid| valid.contains(&false));
        if is_new && !has_nulls {
            return Ok(());
        }
        if is_new {
            // No row before was null.
            let mask = new_array(&[end.max(1)], "|b1", &Fill::Value(vec![1]), key)?;
            self.store_value(key, ".b2nd", mask);
        }
        let valid = values.valid.clone().unwrap_or_else(|| vec![true; values.len()]);
        let bytes: Vec<u8> = valid.into_iter().map(u8::from).collect();
        self.edit_items(key, |writer| {
            writer.resize(&[end])?;
            writer.append_bytes(0, &bytes)
        })
    }

    fn append_text(
        &mut self,
        key: &str,
        spec: &ColumnSpec,
        values: &ColumnValues,
        end: u64,
    ) -> Result<()> {
        let offsets = self.array(key)?;
        let written = offsets.nitems();
        let start = match i64::try_from(written).unwrap_or_default().checked_sub(1) {
            Some(last) if last >= 0 => {
                let pick = Pick::slice(last, last.saturating_add(1), 1);
                let item = offsets.to_bytes(Selection::from([pick]));
                let item = item.map_err(|source| Error::frame(key, source))?;
                <[u8; 8]>::try_from(item.as_slice()).map_or(0, i64::from_le_bytes)
            }
            _ => 0,
        };
        let null = match &spec.nulls {
            Nulls::Sentinel(null) => null.as_str().unwrap_or_default(),
            _ => "",
        };
        let (mut at, mut bytes, mut new) = (start, Vec::new(), Vec::new());
        // Rows that no column has yet, and where the first one starts.
        let missing = end.saturating_add(1).saturating_sub(written);
        for _ in 0..missing {
            new.extend(at.to_le_bytes());
        }
        for row in 0..values.len() {
            let value = values.value(row);
            let text = value.as_str().unwrap_or(null);
            bytes.extend(text.as_bytes());
            at = at.saturating_add(i64::try_from(text.len()).unwrap_or(i64::MAX));
            new.extend(at.to_le_bytes());
        }
        drop(offsets);
        self.edit_items(key, |writer| writer.append_bytes(0, &new))?;
        let start = u64::try_from(start).unwrap_or_default();
        let is_empty = start == 0 && bytes.is_empty();
        self.edit_items(&format!("{key}.utf8"), |writer| {
            writer.resize(&[start])?;
            // One byte that nobody needs, as python-blosc2 has it.
            writer.append_bytes(0, if is_empty { &[0] } else { &bytes })
        })
    }

    fn append_codes(
        &mut self,
        key: &str,
        values: &ColumnValues,
        end: u64,
        null_code: i32,
    ) -> Result<()> {
        let words_key = format!("{key}_dict");
        let mut codes_by_word = self.words(&words_key)?;
        let (mut codes, mut new) = (Vec::new(), Vec::new());
        for row in 0..values.len() {
            let code = match values.value(row) {
                Value::Str(word) => {
                    let next = i32::try_from(codes_by_word.len()).unwrap_or(i32::MAX);
                    *codes_by_word.entry(word).or_insert_with_key(|word| {
                        new.push(Value::Str(word.clone()));
                        next
                    })
                }
                _ => null_code,
            };
            codes.extend(code.to_le_bytes());
        }
        if !new.is_empty() {
            self.append_batches(&words_key, new)?;
        }
        self.edit_items(key, |writer| {
            writer.resize(&[end])?;
            writer.append_bytes(0, &codes)
        })
    }
}

/// The key of the main frame of a column.
fn column_key(root: &str, spec: &ColumnSpec) -> Result<String> {
    let why = "a part of its name is empty or leads elsewhere";
    let path = spec.path.as_ref();
    let path = path.ok_or_else(|| Param::Column { name: spec.name.clone(), why })?;
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
        (Kind::Bytes, null) => padded(&decode_base64(null.get("base64")?.as_str()?)?),
        _ => None,
    }
}
