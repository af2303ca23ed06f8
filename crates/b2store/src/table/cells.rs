//! Single cells as values.

use std::sync::Arc;

use blosc_dtype::{ByteOrder, Dtype, Kind};

use super::{ColumnValues, Values};
use crate::value::{NdValue, Value};

impl ColumnValues {
    /// Values without nulls.
    #[must_use]
    pub const fn new(values: Values) -> Self {
        Self { values, valid: None }
    }

    /// Items of fixed width, one for each row, little-endian.
    #[must_use]
    pub const fn fixed(dtype: Dtype, bytes: Vec<u8>) -> Self {
        Self::new(Values::Fixed { dtype, item_shape: Vec::new(), bytes })
    }

    /// Text.
    #[must_use]
    pub fn text<'a>(rows: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut ends, mut text) = (Vec::new(), String::new());
        for row in rows {
            text.push_str(row);
            ends.push(text.len());
        }
        Self::new(Values::Text { ends, text })
    }

    /// Values of any kind; nil is null.
    #[must_use]
    pub fn objects(rows: impl IntoIterator<Item = Value>) -> Self {
        let rows: Vec<Value> = rows.into_iter().collect();
        let valid: Vec<bool> = rows.iter().map(|row| *row != Value::Nil).collect();
        let valid = Some(valid).filter(|valid| valid.contains(&false));
        Self { values: Values::Objects(rows), valid }
    }

    /// The values with nulls where `valid` is false.
    #[must_use]
    pub fn with_valid(self, valid: Vec<bool>) -> Self {
        Self { valid: Some(valid), ..self }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Fixed { bytes, .. } => bytes.len().checked_div(self.rowsize()).unwrap_or(0),
            Values::Text { ends, .. } => ends.len(),
            Values::Objects(objects) => objects.len(),
            Values::Dictionary { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a row is null.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.valid.as_ref().is_some_and(|valid| valid.get(row) == Some(&false))
    }

    /// The value of a row; nil for nulls and for rows that do not exist. Times are integers; arrays
    /// in rows, and items without a scalar counterpart, are [`Value::NdArray`].
    #[must_use]
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Nil;
        }
        let found = match &self.values {
            Values::Fixed { dtype, item_shape, bytes } => {
                let rowsize = self.rowsize();
                let start = row.saturating_mul(rowsize);
                bytes.get(start..start.saturating_add(rowsize)).map(|bytes| {
                    match item_shape.as_slice() {
                        [] => item(dtype, bytes),
                        _ => array(dtype, item_shape, bytes),
                    }
                })
            }
            Values::Text { .. } | Values::Dictionary { .. } => {
                self.text_at(row).map(|text| Value::Str(text.to_owned()))
            }
            Values::Objects(objects) => objects.get(row).cloned(),
        };
        found.unwrap_or(Value::Nil)
    }

    /// Only the rows for which `is_kept` is true.
    #[must_use]
    pub fn keep(self, is_kept: &[bool]) -> Self {
        let rowsize = self.rowsize();
        let kept = || is_kept.iter().enumerate().filter(|(_, kept)| **kept).map(|(row, _)| row);
        let values = match &self.values {
            Values::Fixed { dtype, item_shape, bytes } => {
                let rows = bytes.chunks_exact(rowsize).zip(is_kept);
                let rows = rows.filter(|(_, kept)| **kept).flat_map(|(row, _)| row);
                let (dtype, item_shape) = (dtype.clone(), item_shape.clone());
                Values::Fixed { dtype, item_shape, bytes: rows.copied().collect() }
            }
            Values::Text { .. } => {
                let plain = Self { values: self.values, valid: None };
                let rows = kept().map(|row| plain.text_at(row).unwrap_or_default());
                Self::text(rows).values
            }
            Values::Objects(objects) => {
                Values::Objects(kept().filter_map(|row| objects.get(row).cloned()).collect())
            }
            Values::Dictionary { codes, words } => {
                let codes = kept().filter_map(|row| codes.get(row).copied()).collect();
                Values::Dictionary { codes, words: Arc::clone(words) }
            }
        };
        let kept_of = |valid: Vec<bool>| {
            kept().filter_map(|row| valid.get(row).copied()).collect::<Vec<bool>>()
        };
        let valid = self.valid.map(kept_of).filter(|valid| valid.contains(&false));
        Self { values, valid }
    }

    /// Repeats the only row `count` times.
    #[must_use]
    pub(crate) fn repeated(&self, count: usize) -> Self {
        let values = match &self.values {
            Values::Fixed { dtype, item_shape, bytes } => {
                let (dtype, item_shape) = (dtype.clone(), item_shape.clone());
                Values::Fixed { dtype, item_shape, bytes: bytes.repeat(count) }
            }
            Values::Objects(objects) => {
                Values::Objects(objects.iter().cycle().take(count).cloned().collect())
            }
            Values::Text { .. } | Values::Dictionary { .. } => {
                let text = self.text_at(0).unwrap_or_default();
                Self::text(core::iter::repeat_n(text, count)).values
            }
        };
        Self { values, valid: self.is_null(0).then(|| vec![false; count]) }
    }

    /// Replaces these rows by the only row of `value`; `None` if it does not fit. Text of fixed
    /// width may be shorter.
    pub(crate) fn replaced(self, rows: &[usize], value: &Self) -> Option<Self> {
        let (len, rowsize, is_null) = (self.len(), self.rowsize(), value.is_null(0));
        let mut valid = self.valid.clone().unwrap_or_else(|| vec![true; len]);
        for row in rows {
            *valid.get_mut(*row)? = !is_null;
        }
        let values = match (&self.values, &value.values) {
            (Values::Fixed { .. }, _) if is_null => self.values,
            (Values::Fixed { dtype, item_shape, bytes }, Values::Fixed { bytes: new, .. }) => {
                let is_text = matches!(dtype.kind(), Some(Kind::Unicode | Kind::Bytes));
                let (mut bytes, mut new) = (bytes.clone(), new.clone());
                if new.len() > rowsize || new.len() < rowsize && !is_text {
                    return None;
                }
                new.resize(rowsize, 0);
                for row in rows {
                    let start = row.checked_mul(rowsize)?;
                    bytes.get_mut(start..start.checked_add(rowsize)?)?.copy_from_slice(&new);
                }
                let (dtype, item_shape) = (dtype.clone(), item_shape.clone());
                Values::Fixed { dtype, item_shape, bytes }
            }
            (Values::Fixed { .. }, _) => return None,
            (Values::Objects(objects), _) => {
                let (mut objects, new) = (objects.clone(), value.value(0));
                for row in rows {
                    objects.get_mut(*row)?.clone_from(&new);
                }
                Values::Objects(objects)
            }
            (Values::Text { .. } | Values::Dictionary { .. }, _) => {
                let new = value.text_at(0).unwrap_or_default();
                let mut texts: Vec<&str> =
                    (0..len).map(|row| self.text_at(row).unwrap_or_default()).collect();
                for row in rows {
                    *texts.get_mut(*row)? = new;
                }
                Self::text(texts).values
            }
        };
        Some(Self { values, valid: Some(valid).filter(|valid| valid.contains(&false)) })
    }

    /// Bytes as truth values; one byte value means null.
    pub(crate) fn into_truth(mut self) -> Self {
        if let (Values::Fixed { dtype, bytes, .. }, Ok(truth)) = (&mut self.values, "|b1".parse()) {
            *dtype = truth;
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte == 1));
        }
        self
    }

    /// The text of a row; `None` for nulls and for other values.
    pub(crate) fn text_at(&self, row: usize) -> Option<&str> {
        if self.is_null(row) {
            return None;
        }
        match &self.values {
            Values::Text { ends, text } => {
                let start = row.checked_sub(1).and_then(|before| ends.get(before)).unwrap_or(&0);
                text.get(*start..*ends.get(row)?)
            }
            Values::Objects(objects) => objects.get(row)?.as_str(),
            Values::Dictionary { codes, words } => {
                let code = usize::try_from(*codes.get(row)?).ok()?;
                words.get(code).map(String::as_str)
            }
            Values::Fixed { .. } => None,
        }
    }

    /// Bytes of a row of fixed width, at least 1.
    fn rowsize(&self) -> usize {
        match &self.values {
            Values::Fixed { dtype, item_shape, .. } => rowsize(dtype, item_shape).max(1),
            _ => 1,
        }
    }
}

/// Bytes of a row of an array of these items.
pub(super) fn rowsize(dtype: &Dtype, item_shape: &[u64]) -> usize {
    let nitems = item_shape.iter().fold(1_u64, |product, len| product.saturating_mul(*len));
    usize::try_from(nitems).unwrap_or(usize::MAX).saturating_mul(dtype.itemsize())
}

fn item(dtype: &Dtype, bytes: &[u8]) -> Value {
    let is_big = dtype.scalar().is_some_and(|scalar| scalar.order() == ByteOrder::Big);
    let found = match dtype.kind() {
        _ if is_big => None,
        Some(Kind::Bool) => bytes.first().map(|byte| Value::Bool(*byte != 0)),
        Some(Kind::Int | Kind::DateTime | Kind::TimeDelta) => signed(bytes).map(Value::Int),
        Some(Kind::Uint) => {
            unsigned(bytes).map(|value| i64::try_from(value).map_or(Value::UInt(value), Value::Int))
        }
        Some(Kind::Float) => float(bytes).map(Value::Float),
        Some(Kind::Complex) => {
            let (re, im) = bytes.split_at(bytes.len().div_ceil(2));
            float(re).zip(float(im)).map(|(re, im)| Value::Complex { re, im })
        }
        Some(Kind::Unicode) => {
            let (chars, _) = bytes.as_chunks::<4>();
            let char = |bytes: &[u8; 4]| char::from_u32(u32::from_le_bytes(*bytes));
            let text: Option<String> = chars.iter().map(char).collect();
            text.map(|text| Value::Str(text.trim_end_matches('\0').to_owned()))
        }
        Some(Kind::Bytes) => {
            let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
            let len = bytes.len().saturating_sub(zeros);
            bytes.get(..len).map(|bytes| Value::Bytes(bytes.to_vec()))
        }
        _ => None,
    };
    found.unwrap_or_else(|| array(dtype, &[], bytes))
}

fn array(dtype: &Dtype, shape: &[u64], bytes: &[u8]) -> Value {
    let dtype = dtype.to_string().trim_matches('\'').to_owned();
    let dtype = Value::Map(vec![(Value::Str("str".to_owned()), Value::Str(dtype))]);
    let (shape, data) = (shape.to_vec(), bytes.to_vec());
    Value::NdArray(NdValue { dtype: Box::new(dtype), shape, data })
}

fn unsigned(bytes: &[u8]) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

fn signed(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [a] => i8::from_le_bytes([a]).into(),
        [a, b] => i16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

fn float(bytes: &[u8]) -> Option<f64> {
    match *bytes {
        [a, b, c, d] => Some(f32::from_le_bytes([a, b, c, d]).into()),
        _ => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(dtype: &str, item_shape: &[u64], bytes: &[u8]) -> ColumnValues {
        let dtype = Dtype::parse(dtype).unwrap();
        let (item_shape, bytes) = (item_shape.to_vec(), bytes.to_vec());
        ColumnValues { values: Values::Fixed { dtype, item_shape, bytes }, valid: None }
    }

    #[test]
    fn cells_of_every_kind_are_values() {
        assert_eq!(fixed("|b1", &[], &[0, 1]).value(1), Value::Bool(true));
        assert_eq!(fixed("|i1", &[], &[0xff]).value(0), Value::Int(-1));
        assert_eq!(fixed("<i2", &[], &[0, 0, 0xfe, 0xff]).value(1), Value::Int(-2));
        assert_eq!(fixed("<u8", &[], &[0xff; 8]).value(0), Value::UInt(u64::MAX));
        assert_eq!(fixed("<f4", &[], &1.5_f32.to_le_bytes()).value(0), Value::Float(1.5));
        let complex = [1_f32.to_le_bytes(), (-1_f32).to_le_bytes()].concat();
        assert_eq!(fixed("<c8", &[], &complex).value(0), Value::Complex { re: 1.0, im: -1.0 });
        assert_eq!(fixed("<U2", &[], b"\xe4\0\0\0\0\0\0\0").value(0), Value::Str("ä".to_owned()));
        assert_eq!(fixed("|S3", &[], b"a\0b").value(0), Value::Bytes(b"a\0b".to_vec()));
        assert_eq!(fixed("|S3", &[], b"a\0\0").value(0), Value::Bytes(b"a".to_vec()));
        let rows = fixed("<i2", &[2], &[1, 0, 2, 0, 3, 0, 4, 0]);
        assert_eq!(rows.len(), 2);
        let Value::NdArray(row) = rows.value(1) else { panic!() };
        assert_eq!((row.shape.as_slice(), row.data.as_slice()), (&[2][..], &[3, 0, 4, 0][..]));
        assert_eq!(rows.value(2), Value::Nil);
    }

    #[test]
    fn nulls_are_nil() {
        let text = Values::Text { ends: vec![1, 1, 3], text: "abc".to_owned() };
        let column = ColumnValues { values: text, valid: Some(vec![true, false, true]) };
        let found: Vec<Value> = (0..4).map(|row| column.value(row)).collect();
        let text = |text: &str| Value::Str(text.to_owned());
        assert_eq!(found, [text("a"), Value::Nil, text("bc"), Value::Nil]);
        let words = vec!["x".to_owned()].into();
        let codes = Values::Dictionary { codes: vec![0, -1], words };
        let column = ColumnValues { values: codes, valid: Some(vec![true, false]) };
        assert_eq!((column.value(0), column.value(1)), (text("x"), Value::Nil));
    }
}
