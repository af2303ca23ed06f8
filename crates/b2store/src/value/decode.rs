//! From bytes to a [`Value`].
//!
//! No count in the bytes allocates memory by itself, nesting is limited, and every value is charged
//! to a memory limit before it is kept: one byte of MessagePack can become a value of 40.

use core::ops::Range;

use rmp::Marker;

use super::{NdValue, TUPLE_TAG, Value, ValueError, code};

type Result<T> = core::result::Result<T, ValueError>;

blosc_chunk::setters! {
/// Limits for decoding hostile bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueLimits {
    /// Largest depth of nesting. Default: 64.
    pub max_depth: usize,
    /// Largest memory of all values together (bytes). Default: 256 MiB.
    pub max_memory: usize,
}
}

impl Default for ValueLimits {
    fn default() -> Self {
        Self { max_depth: 64, max_memory: 256 << 20 }
    }
}

impl Value {
    /// Decodes one value, which must fill `bytes`.
    ///
    /// ```
    /// use b2store::{Value, ValueLimits};
    ///
    /// let value = Value::decode(b"\x93\xa9__tuple__\x01\xc0", &ValueLimits::default())?;
    /// assert_eq!(value, Value::Tuple(vec![Value::Int(1), Value::Nil]));
    /// # Ok::<(), b2store::error::ValueError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error in the bytes, with its position; a limit that they exceed.
    pub fn decode(bytes: &[u8], limits: &ValueLimits) -> Result<Self> {
        let mut decoder = Decoder { bytes, at: 0, base: 0, memory: 0, limits: *limits };
        decoder.whole(0)
    }
}

/// Texts and nulls, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The end of each text (bytes of `text`).
    pub(crate) ends: Vec<usize>,
    pub(crate) text: String,
    /// False for nil.
    pub(crate) valid: Vec<bool>,
}

impl Texts {
    /// Decodes a list of texts and nil; refuses other values.
    pub(crate) fn decode(bytes: &[u8], limits: &ValueLimits) -> Result<Self> {
        let mut decoder = Decoder { bytes, at: 0, base: 0, memory: 0, limits: *limits };
        let [marker] = decoder.array()?;
        let len = match Marker::from_u8(marker) {
            Marker::FixArray(len) => len.into(),
            Marker::Array16 => decoder.len16()?,
            Marker::Array32 => decoder.len32()?,
            _ => return Err(ValueError::Marker { at: 0 }),
        };
        let mut texts = Self::default();
        for _ in 0..len {
            decoder.charge(size_of::<usize>().saturating_add(1))?;
            let at = decoder.position();
            let [marker] = decoder.array()?;
            let len = match Marker::from_u8(marker) {
                Marker::Null => None,
                Marker::FixStr(len) => Some(len.into()),
                Marker::Str8 => Some(decoder.len8()?),
                Marker::Str16 => Some(decoder.len16()?),
                Marker::Str32 => Some(decoder.len32()?),
                _ => return Err(ValueError::Marker { at }),
            };
            if let Some(len) = len {
                texts.text.push_str(decoder.str(len)?);
            }
            texts.ends.push(texts.text.len());
            texts.valid.push(len.is_some());
        }
        decoder.end().map(|()| texts)
    }

    /// Appends a text or nil.
    pub(crate) fn push(&mut self, text: Option<&str>) {
        self.text.push_str(text.unwrap_or_default());
        self.ends.push(self.text.len());
        self.valid.push(text.is_some());
    }

    /// Appends some texts of others.
    pub(crate) fn extend(&mut self, texts: &Self, wanted: Range<usize>) {
        let end_of = |before: usize| match before.checked_sub(1) {
            None => 0,
            Some(last) => texts.ends.get(last).copied().unwrap_or(texts.text.len()),
        };
        let (from, before) = (end_of(wanted.start), self.text.len());
        self.text.push_str(texts.text.get(from..end_of(wanted.end)).unwrap_or_default());
        let ends = texts.ends.get(wanted.clone()).unwrap_or_default();
        self.ends.extend(ends.iter().map(|end| before.saturating_add(end.saturating_sub(from))));
        self.valid.extend_from_slice(texts.valid.get(wanted).unwrap_or_default());
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position of the first byte in the outermost bytes.
    base: usize,
    /// Memory charged so far (bytes).
    memory: usize,
    limits: ValueLimits,
}

impl<'a> Decoder<'a> {
    fn position(&self) -> usize {
        self.base.saturating_add(self.at)
    }

    /// The only value of the bytes.
    fn whole(&mut self, depth: usize) -> Result<Value> {
        let value = self.value(depth)?;
        self.end().map(|()| value)
    }

    /// Checks that no bytes follow.
    const fn end(&self) -> Result<()> {
        match self.bytes.len().saturating_sub(self.at) {
            0 => Ok(()),
            nbytes => Err(ValueError::Trailing { nbytes }),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        let at = self.position();
        if depth >= self.limits.max_depth {
            return Err(ValueError::Depth { at, limit: self.limits.max_depth });
        }
        self.charge(size_of::<Value>())?;
        let [marker] = self.array()?;
        Ok(match Marker::from_u8(marker) {
            Marker::Null => Value::Nil,
            Marker::False => Value::Bool(false),
            Marker::True => Value::Bool(true),
            Marker::FixPos(value) => Value::Int(value.into()),
            Marker::FixNeg(value) => Value::Int(value.into()),
            Marker::U8 => Value::Int(u8::from_be_bytes(self.array()?).into()),
            Marker::U16 => Value::Int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Value::Int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => {
                let value = u64::from_be_bytes(self.array()?);
                i64::try_from(value).map_or(Value::UInt(value), Value::Int)
            }
            Marker::I8 => Value::Int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => Value::Int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => Value::Int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => Value::Int(i64::from_be_bytes(self.array()?)),
            Marker::F32 => Value::Float(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => Value::Float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(len) => self.text(len.into())?,
            Marker::Str8 => self.len8().and_then(|len| self.text(len))?,
            Marker::Str16 => self.len16().and_then(|len| self.text(len))?,
            Marker::Str32 => self.len32().and_then(|len| self.text(len))?,
            Marker::Bin8 => self.len8().and_then(|len| self.blob(len))?,
            Marker::Bin16 => self.len16().and_then(|len| self.blob(len))?,
            Marker::Bin32 => self.len32().and_then(|len| self.blob(len))?,
            Marker::FixArray(len) => self.list(len.into(), depth)?,
            Marker::Array16 => self.len16().and_then(|len| self.list(len, depth))?,
            Marker::Array32 => self.len32().and_then(|len| self.list(len, depth))?,
            Marker::FixMap(len) => self.map(len.into(), depth)?,
            Marker::Map16 => self.len16().and_then(|len| self.map(len, depth))?,
            Marker::Map32 => self.len32().and_then(|len| self.map(len, depth))?,
            Marker::FixExt1 => self.extension(1, depth)?,
            Marker::FixExt2 => self.extension(2, depth)?,
            Marker::FixExt4 => self.extension(4, depth)?,
            Marker::FixExt8 => self.extension(8, depth)?,
            Marker::FixExt16 => self.extension(16, depth)?,
            Marker::Ext8 => self.len8().and_then(|len| self.extension(len, depth))?,
            Marker::Ext16 => self.len16().and_then(|len| self.extension(len, depth))?,
            Marker::Ext32 => self.len32().and_then(|len| self.extension(len, depth))?,
            Marker::Reserved => return Err(ValueError::Marker { at }),
        })
    }

    fn list(&mut self, len: usize, depth: usize) -> Result<Value> {
        let mut values = Vec::new();
        for _ in 0..len {
            values.push(self.value(depth.saturating_add(1))?);
        }
        if values.first().and_then(Value::as_str) == Some(TUPLE_TAG) {
            values.remove(0);
            return Ok(Value::Tuple(values));
        }
        Ok(Value::Array(values))
    }

    fn map(&mut self, len: usize, depth: usize) -> Result<Value> {
        let mut entries = Vec::new();
        for _ in 0..len {
            let key = self.value(depth.saturating_add(1))?;
            entries.push((key, self.value(depth.saturating_add(1))?));
        }
        Ok(Value::Map(entries))
    }

    fn extension(&mut self, len: usize, depth: usize) -> Result<Value> {
        let at = self.position();
        let [code] = self.array()?;
        let code = i8::from_be_bytes([code]);
        let content = self.take(len)?;
        let wrong = |expected| ValueError::Extension { code, at, expected };
        match code {
            code::FRAME => {
                self.charge(len)?;
                Ok(Value::Frame(content.to_vec()))
            }
            code::REFERENCE => match self.inner(content, depth)? {
                map @ Value::Map(_) => Ok(Value::Reference(Box::new(map))),
                _ => Err(wrong("a map")),
            },
            code::COMPLEX => match content.as_chunks::<8>() {
                ([re, im], []) => {
                    Ok(Value::Complex { re: f64::from_be_bytes(*re), im: f64::from_be_bytes(*im) })
                }
                _ => Err(wrong("two floats of 64 bits")),
            },
            code::SET => match self.inner(content, depth)? {
                Value::Array(values) => Ok(Value::Set(values)),
                _ => Err(wrong("a list")),
            },
            code::ARRAY => {
                let map = self.inner(content, depth)?;
                numpy_array(map).ok_or_else(|| wrong("a map with dtype, shape and data"))
            }
            _ => {
                self.charge(len)?;
                Ok(Value::Ext(code, content.to_vec()))
            }
        }
    }

    /// The only value in the content of an extension, which was just taken.
    fn inner(&mut self, content: &[u8], depth: usize) -> Result<Value> {
        let base = self.position().saturating_sub(content.len());
        let mut inner = Decoder { bytes: content, at: 0, base, ..*self };
        let value = inner.whole(depth.saturating_add(1));
        self.memory = inner.memory;
        value
    }

    fn text(&mut self, len: usize) -> Result<Value> {
        self.str(len).map(|text| Value::Str(text.to_owned()))
    }

    fn str(&mut self, len: usize) -> Result<&'a str> {
        let at = self.position();
        let bytes = self.take(len)?;
        self.charge(len)?;
        core::str::from_utf8(bytes)
            .map_err(|error| ValueError::Utf8 { at: at.saturating_add(error.valid_up_to()) })
    }

    fn blob(&mut self, len: usize) -> Result<Value> {
        let bytes = self.take(len)?;
        self.charge(len)?;
        Ok(Value::Bytes(bytes.to_vec()))
    }

    fn len8(&mut self) -> Result<usize> {
        self.array().map(|bytes| u8::from_be_bytes(bytes).into())
    }

    fn len16(&mut self) -> Result<usize> {
        self.array().map(|bytes| u16::from_be_bytes(bytes).into())
    }

    fn len32(&mut self) -> Result<usize> {
        self.array().map(|bytes| usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken
            .ok_or(ValueError::Truncated { at: self.base.saturating_add(self.bytes.len()) })?;
        self.at = self.at.saturating_add(len);
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let truncated = ValueError::Truncated { at: self.base.saturating_add(self.bytes.len()) };
        self.take(N)?.try_into().map_err(|_| truncated)
    }

    fn charge(&mut self, nbytes: usize) -> Result<()> {
        self.memory = self.memory.saturating_add(nbytes);
        if self.memory > self.limits.max_memory {
            let (at, limit) = (self.position(), self.limits.max_memory);
            return Err(ValueError::Memory { at, limit });
        }
        Ok(())
    }
}

/// The array in the map of extension 46. The length of plain items must fit the shape, if their
/// type is known here.
fn numpy_array(map: Value) -> Option<Value> {
    let shape = map.get("shape")?.as_array()?;
    let shape: Vec<u64> = shape.iter().map(Value::as_u64).collect::<Option<_>>()?;
    let nitems = shape.iter().try_fold(1_u64, |product, len| product.checked_mul(*len))?;
    let Value::Map(entries) = map else { return None };
    let (mut dtype, mut data, mut values) = (None, None, None);
    for (key, value) in entries {
        match (key.as_str(), value) {
            (Some("dtype"), value) => dtype = Some(value),
            (Some("data"), Value::Bytes(bytes)) => data = Some(bytes),
            (Some("values"), Value::Array(list)) => values = Some(list),
            _ => {}
        }
    }
    if let Some(values) = values {
        let is_whole = values.len() as u64 == nitems;
        return is_whole.then_some(Value::ObjectArray { shape, values });
    }
    let (dtype, data) = (dtype?, data?);
    let is_whole = (data.len() as u64).checked_rem(nitems).is_none_or(|rest| rest == 0);
    is_whole.then(|| Value::NdArray(NdValue { dtype: Box::new(dtype), shape, data }))
}
