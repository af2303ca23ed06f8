//! Rows in Arrow's form: streams of its IPC messages with one column. python-blosc2 up to 4.13
//! writes lists in this form by default ("Batches" in `docs/formats/store.md`).
//!
//! ```text
//!   stream    ffffffff, length, message, body; the same again ...; ffffffff 0
//!   message   a flatbuffer: a schema, or a record batch with the lengths of arrays and buffers
//!   body      the buffers: flags of nulls, ends of lists and texts, items
//! ```
//!
//! Every number is compared with the available bytes, and memory is counted.

mod flat;

use crate::value::Value;
use flat::Table;

/// The error in bytes that are not rows in Arrow's form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IpcFault {
    /// A message that is cut or damaged.
    #[error("a message of Arrow is damaged: {what}")]
    Message {
        /// The part.
        what: &'static str,
    },
    /// Items of an unsupported type.
    #[error("items of the type {number} of Arrow are not read")]
    Type {
        /// The number of the type in Arrow's schema.
        number: u8,
    },
    /// Buffers that Arrow has compressed.
    #[error("the buffers are compressed by Arrow")]
    Compressed,
    /// More memory than the limit.
    #[error("more than {limit} bytes of memory needed")]
    Memory {
        /// The limit.
        limit: usize,
    },
}

type Result<T, E = IpcFault> = core::result::Result<T, E>;

/// The deepest nesting of fields.
const MAX_DEPTH: usize = 32;
/// The largest number of fields in a schema: a few tables can be the children of many others.
const MAX_FIELDS: usize = 4096;

/// The type of the items of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Null,
    Bool,
    /// Integers; also times, as their counts.
    Int {
        nbytes: usize,
        is_signed: bool,
    },
    Float {
        nbytes: usize,
    },
    /// Text or bytes, with ends of 4 or 8 bytes.
    Run {
        is_text: bool,
        end_nbytes: usize,
    },
    FixedBytes(usize),
    List {
        end_nbytes: usize,
    },
    FixedList(usize),
    Struct,
}

/// A field of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    name: String,
    kind: Type,
    children: Vec<Self>,
}

const fn damaged(what: &'static str) -> IpcFault {
    IpcFault::Message { what }
}

/// The rows of a stream, or of a single record batch whose field `known` gives.
pub(crate) fn rows(
    mut bytes: &[u8],
    known: Option<&Field>,
    max_memory: usize,
) -> Result<Vec<Value>> {
    let (mut field, mut rows, mut left) = (known.cloned(), Vec::new(), max_memory);
    while let Some((message, after)) = next_message(bytes)? {
        let kind = message.byte(1).ok_or(damaged("its kind"))?;
        let header = message.table(2).ok_or(damaged("its header"))?;
        let body_len = message.number(3).map_or(0, u64::from_le_bytes);
        let body_len = usize::try_from(body_len).map_err(|_| damaged("the length of its body"))?;
        let (body, rest) = after.split_at_checked(body_len).ok_or(damaged("its body is cut"))?;
        bytes = rest;
        match kind {
            SCHEMA => field = Some(only_field(&header)?),
            RECORD_BATCH => {
                let field = field.as_ref().ok_or(damaged("no schema before the rows"))?;
                let columns = &mut Columns::new(&header, body, left, max_memory)?;
                let found = columns.column(field)?;
                left = columns.left;
                rows.extend(found);
            }
            // Dictionaries belong to unsupported types.
            _ => {}
        }
    }
    Ok(rows)
}

/// The only field of the schema in a message.
pub(crate) fn field_of(bytes: &[u8]) -> Result<Field> {
    let (message, _) = next_message(bytes)?.ok_or(damaged("it is empty"))?;
    only_field(&message.table(2).ok_or(damaged("its header"))?)
}

const SCHEMA: u8 = 1;
const RECORD_BATCH: u8 = 3;

/// The next message and the bytes after it; `None` at the end.
fn next_message(bytes: &[u8]) -> Result<Option<(Table<'_>, &[u8])>> {
    // Messages before Arrow 0.15 begin with their length.
    let bytes = bytes.strip_prefix(&[0xff; 4]).unwrap_or(bytes);
    let Some((len, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
    if len == 0 {
        return Ok(None);
    }
    let (message, body) = rest.split_at_checked(len).ok_or(damaged("it is cut"))?;
    Ok(Some((Table::root(message).ok_or(damaged("its root"))?, body)))
}

fn only_field(schema: &Table<'_>) -> Result<Field> {
    let fields: Vec<Table<'_>> = schema.tables(1).ok_or(damaged("its fields"))?.collect();
    match &fields[..] {
        [field] => Field::parse(field, MAX_DEPTH, &mut 0),
        _ => Err(damaged("it has not one column")),
    }
}

impl Field {
    fn parse(table: &Table<'_>, depth: usize, count: &mut usize) -> Result<Self> {
        *count = count.saturating_add(1);
        let inner = depth.checked_sub(1).filter(|_| *count <= MAX_FIELDS);
        let inner = inner.ok_or(damaged("fields without end"))?;
        let number = table.byte(2).unwrap_or(0);
        let kind = table.table(3).ok_or(damaged("the type of a field"))?;
        // A dictionary has codes here and its words in another message.
        if table.table(4).is_some() {
            return Err(IpcFault::Type { number });
        }
        let children = table.tables(5).into_iter().flatten();
        let children = children.map(|child| Self::parse(&child, inner, count));
        let children = children.collect::<Result<Vec<_>>>()?;
        let kind = Type::parse(number, &kind).ok_or(IpcFault::Type { number })?;
        let is_list = matches!(kind, Type::List { .. } | Type::FixedList(_));
        if is_list && children.len() != 1 {
            return Err(damaged("a list has not one kind of items"));
        }
        Ok(Self { name: table.text(0).unwrap_or_default().to_owned(), kind, children })
    }
}

impl Type {
    /// The type of a number in the union of Arrow's schema, with its parameters.
    fn parse(number: u8, table: &Table<'_>) -> Option<Self> {
        let short = |n| table.number(n).map_or(0, i16::from_le_bytes);
        let count = |n| usize::try_from(table.number(n).map_or(0, i32::from_le_bytes)).ok();
        let int = |nbytes| Self::Int { nbytes, is_signed: true };
        Some(match number {
            1 => Self::Null,
            2 => {
                let is_signed = table.byte(1).unwrap_or(0) != 0;
                let nbytes = count(0)? / 8;
                [1, 2, 4, 8].contains(&nbytes).then_some(Self::Int { nbytes, is_signed })?
            }
            3 => match short(0) {
                1 => Self::Float { nbytes: 4 },
                2 => Self::Float { nbytes: 8 },
                _ => return None,
            },
            4 => Self::Run { is_text: false, end_nbytes: 4 },
            5 => Self::Run { is_text: true, end_nbytes: 4 },
            6 => Self::Bool,
            // Dates in days or milliseconds; milliseconds are the default.
            8 if table.number(0).map(i16::from_le_bytes) == Some(0) => int(4),
            8 | 10 | 18 => int(8),
            // Times of a day.
            9 => int(count(1).filter(|nbits| *nbits > 0).unwrap_or(32) / 8),
            12 => Self::List { end_nbytes: 4 },
            13 => Self::Struct,
            15 => Self::FixedBytes(count(0)?),
            16 => Self::FixedList(count(0)?),
            19 => Self::Run { is_text: false, end_nbytes: 8 },
            20 => Self::Run { is_text: true, end_nbytes: 8 },
            21 => Self::List { end_nbytes: 8 },
            _ => return None,
        })
    }
}

/// The arrays of a record batch, one after the other.
struct Columns<'a> {
    body: &'a [u8],
    /// Lengths of arrays, and positions of buffers, that are still unused.
    nodes: &'a [[u8; 16]],
    buffers: &'a [[u8; 16]],
    /// The memory that remains of `limit` (bytes).
    left: usize,
    limit: usize,
}

impl<'a> Columns<'a> {
    fn new(header: &Table<'a>, body: &'a [u8], left: usize, limit: usize) -> Result<Self> {
        if header.table(3).is_some() {
            return Err(IpcFault::Compressed);
        }
        let nodes = header.structs(1).ok_or(damaged("lengths of arrays"))?;
        let buffers = header.structs(2).ok_or(damaged("places of buffers"))?;
        Ok(Self { body, nodes, buffers, left, limit })
    }

    fn next_len(&mut self) -> Result<usize> {
        let (node, rest) = self.nodes.split_first().ok_or(damaged("an array is missing"))?;
        self.nodes = rest;
        usize::try_from(first_number(node)).map_err(|_| damaged("the length of an array"))
    }

    fn next_buffer(&mut self) -> Result<&'a [u8]> {
        let (place, rest) = self.buffers.split_first().ok_or(damaged("a buffer is missing"))?;
        self.buffers = rest;
        let (start, len) = (first_number(place), last_number(place));
        let range =
            usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(len)).ok());
        let bytes = range.and_then(|(start, end)| self.body.get(start..end));
        bytes.ok_or(damaged("a buffer lies outside"))
    }

    fn take_memory(&mut self, nbytes: usize) -> Result<()> {
        let left = self.left.checked_sub(nbytes);
        self.left = left.ok_or(IpcFault::Memory { limit: self.limit })?;
        Ok(())
    }

    /// The values of the next array, which belongs to `field`.
    fn column(&mut self, field: &Field) -> Result<Vec<Value>> {
        let len = self.next_len()?;
        self.take_memory(len.saturating_mul(size_of::<Value>()))?;
        let valid = if field.kind == Type::Null { &[][..] } else { self.next_buffer()? };
        let mut values = self.values(field, len)?;
        if !valid.is_empty() {
            for (n, value) in values.iter_mut().enumerate() {
                if !bit(valid, n).ok_or(damaged("which items are null"))? {
                    *value = Value::Nil;
                }
            }
        }
        Ok(values)
    }

    fn values(&mut self, field: &Field, len: usize) -> Result<Vec<Value>> {
        match field.kind {
            Type::Null => Ok(vec![Value::Nil; len]),
            Type::Bool => {
                let bits = self.next_buffer()?;
                each(len, |n| bit(bits, n).map(Value::Bool))
            }
            Type::Int { nbytes, is_signed } => {
                let items = self.next_buffer()?;
                each(len, |n| item(items, n, nbytes).and_then(|item| integer(item, is_signed)))
            }
            Type::Float { nbytes } => {
                let items = self.next_buffer()?;
                each(len, |n| item(items, n, nbytes).and_then(float))
            }
            Type::FixedBytes(nbytes) => {
                self.take_memory(len.saturating_mul(nbytes))?;
                let items = self.next_buffer()?;
                each(len, |n| Some(Value::Bytes(item(items, n, nbytes)?.to_vec())))
            }
            Type::Run { is_text, end_nbytes } => {
                let (ends, bytes) = (self.next_buffer()?, self.next_buffer()?);
                self.take_memory(bytes.len())?;
                let ends = ends_of(ends, len, end_nbytes, bytes.len())?;
                each(len, |n| {
                    let part = bytes.get(*ends.get(n)?..*ends.get(n.checked_add(1)?)?)?;
                    Some(match is_text {
                        true => Value::Str(core::str::from_utf8(part).ok()?.to_owned()),
                        false => Value::Bytes(part.to_vec()),
                    })
                })
            }
            Type::List { end_nbytes } => {
                let ends = self.next_buffer()?;
                let items = self.first_child(field)?;
                let ends = ends_of(ends, len, end_nbytes, items.len())?;
                Ok(lists(items, &ends))
            }
            Type::FixedList(size) => {
                let items = self.first_child(field)?;
                if len.saturating_mul(size) > items.len() {
                    return Err(damaged("items of lists"));
                }
                let ends: Vec<usize> = (0..=len).map(|n| n.saturating_mul(size)).collect();
                Ok(lists(items, &ends))
            }
            Type::Struct => self.structs(field, len),
        }
    }

    fn first_child(&mut self, field: &Field) -> Result<Vec<Value>> {
        self.column(field.children.first().ok_or(damaged("the items of a list"))?)
    }

    fn structs(&mut self, field: &Field, len: usize) -> Result<Vec<Value>> {
        let mut rows = vec![Vec::new(); len];
        for child in &field.children {
            let values = self.column(child)?;
            if values.len() < len {
                return Err(damaged("the fields of a struct"));
            }
            self.take_memory(
                len.saturating_mul(child.name.len().saturating_add(size_of::<Value>())),
            )?;
            for (row, value) in rows.iter_mut().zip(values) {
                row.push((Value::Str(child.name.clone()), value));
            }
        }
        Ok(rows.into_iter().map(Value::Map).collect())
    }
}

/// A value for each number.
fn each(len: usize, value: impl Fn(usize) -> Option<Value>) -> Result<Vec<Value>> {
    (0..len).map(|n| value(n).ok_or(damaged("items"))).collect()
}

/// Lists of items, each up to its end.
fn lists(items: Vec<Value>, ends: &[usize]) -> Vec<Value> {
    let mut items = items.into_iter();
    let first = ends.first().copied().unwrap_or(0);
    items.by_ref().take(first).for_each(drop);
    let lens = ends.windows(2).map(|pair| match pair {
        [start, end] => end.saturating_sub(*start),
        _ => 0,
    });
    lens.map(|len| Value::Array(items.by_ref().take(len).collect())).collect()
}

/// The starts of `len` runs and the end of the last. They must not decrease, and lie within
/// `limit`.
fn ends_of(bytes: &[u8], len: usize, nbytes: usize, limit: usize) -> Result<Vec<usize>> {
    // Arrays without items may lack ends.
    if len == 0 {
        return Ok(vec![0]);
    }
    let mut last = 0;
    let end = |n| {
        let end = match integer(item(bytes, n, nbytes)?, true)? {
            Value::Int(end) => usize::try_from(end).ok()?,
            _ => return None,
        };
        let is_right = end >= last && end <= limit;
        last = end;
        is_right.then_some(end)
    };
    (0..=len).map(end).collect::<Option<_>>().ok_or(damaged("where lists or texts end"))
}

fn item(bytes: &[u8], n: usize, nbytes: usize) -> Option<&[u8]> {
    let start = n.checked_mul(nbytes)?;
    bytes.get(start..start.checked_add(nbytes)?)
}

fn bit(bits: &[u8], n: usize) -> Option<bool> {
    bits.get(n / 8).map(|byte| byte >> (n % 8) & 1 != 0)
}

fn integer(item: &[u8], is_signed: bool) -> Option<Value> {
    let is_negative = is_signed && item.last()? & 0x80 != 0;
    let mut bytes = [if is_negative { 0xff } else { 0 }; 8];
    bytes.get_mut(..item.len())?.copy_from_slice(item);
    Some(match is_signed {
        true => Value::Int(i64::from_le_bytes(bytes)),
        false => Value::count(u64::from_le_bytes(bytes)),
    })
}

fn float(item: &[u8]) -> Option<Value> {
    Some(Value::Float(match item.len() {
        4 => f32::from_le_bytes(item.try_into().ok()?).into(),
        _ => f64::from_le_bytes(item.try_into().ok()?),
    }))
}

fn first_number(place: &[u8; 16]) -> u64 {
    place.first_chunk().copied().map_or(u64::MAX, u64::from_le_bytes)
}

fn last_number(place: &[u8; 16]) -> u64 {
    place.last_chunk().copied().map_or(u64::MAX, u64::from_le_bytes)
}
