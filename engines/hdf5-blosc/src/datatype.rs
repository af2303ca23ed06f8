//! The items of a data set, as its datatype message describes them (file format
//! specification of HDF5, IV.A.2.d), in the types of NumPy.
//!
//! ```text
//! datatype message --ItemType::parse--> a type of NumPy, and what becomes of the stored bytes
//! ```
//!
//! Numbers are read by size, byte order, bit offset, precision, and the parts of a float. What no
//! type of NumPy holds exactly is an error that names it.

mod bytes;
mod number;

use core::fmt::Write as _;

use bytes::Bytes;
use number::Number;

/// Why the items of a data set are not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// A type that has no counterpart, by its name.
    #[error("{0}, which have no counterpart")]
    Unsupported(String),
    /// A message that contradicts itself, or ends too early.
    #[error("a damaged datatype message: {0}")]
    Damaged(&'static str),
}

type Result<T> = core::result::Result<T, TypeError>;

fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(TypeError::Unsupported(what.into()))
}

/// The type of items, and how the bytes of an item are made of those that are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemType {
    numpy: String,
    stored: usize,
    nbytes: usize,
    parts: Vec<Part>,
}

/// A number that is stored otherwise than NumPy has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Where it is in the item (bytes).
    at: usize,
    number: Number,
}

/// Most numbers of an item that are stored otherwise.
const MAX_PARTS: usize = 1 << 16;
/// Types that are within each other.
const MAX_DEPTH: usize = 32;

impl ItemType {
    /// The type that a datatype message describes.
    ///
    /// # Errors
    ///
    /// [`TypeError::Unsupported`], [`TypeError::Damaged`].
    pub fn parse(message: &[u8]) -> Result<Self> {
        Self::parse_all(Bytes { rest: message, is_of_pytables: false })
    }

    /// The same in a file of PyTables, which alone says what its times are: seconds since 1970, as
    /// integers of 4 bytes, or as floats that are stored as seconds and microseconds.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_of_pytables(message: &[u8]) -> Result<Self> {
        Self::parse_all(Bytes { rest: message, is_of_pytables: true })
    }

    fn parse_all(mut bytes: Bytes<'_>) -> Result<Self> {
        let item = parse(&mut bytes, MAX_DEPTH)?;
        if item.numpy.starts_with('(') {
            return unsupported("items that are arrays");
        }
        Ok(item)
    }

    /// The type in NumPy's words: a code as `<i4`, or the dictionary of a record.
    #[must_use]
    pub fn numpy(&self) -> &str {
        &self.numpy
    }

    /// Size of a stored item (bytes).
    #[must_use]
    pub fn stored_nbytes(&self) -> usize {
        self.stored
    }

    /// Size of an item (bytes).
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Whether the stored bytes are the items.
    #[must_use]
    pub fn is_as_stored(&self) -> bool {
        self.parts.is_empty()
    }

    /// Makes items of stored ones, as many as both slices have room for.
    pub fn convert(&self, stored: &[u8], items: &mut [u8]) {
        let pairs =
            stored.chunks_exact(self.stored.max(1)).zip(items.chunks_exact_mut(self.nbytes.max(1)));
        for (stored, item) in pairs {
            if self.stored == self.nbytes {
                item.copy_from_slice(stored);
            }
            for Part { at, number } in &self.parts {
                if let (Some(from), Some(to)) = (stored.get(*at..), item.get_mut(*at..)) {
                    number.convert(from, to);
                }
            }
        }
    }

    fn as_stored(numpy: String, size: usize) -> Self {
        Self { numpy, stored: size, nbytes: size, parts: vec![] }
    }

    fn of_number(number: Number) -> Self {
        let (numpy, stored, nbytes) = (number.code(), number.stored(), number.nbytes());
        let parts = if number.is_as_stored() { vec![] } else { vec![Part { at: 0, number }] };
        Self { numpy, stored, nbytes, parts }
    }

    /// The type as a field has it: in quotes, unless it is a record or an array.
    fn quoted(&self) -> String {
        if self.numpy.starts_with(['{', '(']) {
            return self.numpy.clone();
        }
        format!("'{}'", self.numpy)
    }
}

/// The part of a message that all classes begin with.
struct Head {
    class: u8,
    version: u8,
    /// The bits of the class.
    bits: u32,
    size: usize,
}

fn parse(bytes: &mut Bytes<'_>, depth: usize) -> Result<ItemType> {
    let depth = depth.checked_sub(1).ok_or(TypeError::Damaged("types within too many types"))?;
    let word = bytes.u32()?;
    let [first, ..] = word.to_le_bytes();
    let size = usize::try_from(bytes.u32()?).unwrap_or(usize::MAX);
    let head = Head { class: first & 0xf, version: first >> 4, bits: word >> 8, size };
    match head.class {
        0 => Number::integer(&head, bytes, head.bits & 8 != 0).map(ItemType::of_number),
        1 => Number::float(&head, bytes).map(ItemType::of_number),
        2 if bytes.is_of_pytables => Number::time(&head, bytes).map(ItemType::of_number),
        2 => unsupported("times of HDF5 (H5T_TIME)"),
        3 => Ok(ItemType::as_stored(format!("|S{size}"), size)),
        4 => Number::integer(&head, bytes, false).map(ItemType::of_number),
        5 => opaque(&head, bytes),
        6 => compound(&head, bytes, depth),
        7 => unsupported("references"),
        8 => enumeration(&head, bytes, depth),
        9 => unsupported("items of variable length"),
        10 => array(&head, bytes, depth),
        11 => unsupported("complex numbers of HDF5 2.0 (class 11)"),
        class => unsupported(format!("items of the class {class}")),
    }
}

/// Bytes with a tag; that of h5py says which type of NumPy they are.
fn opaque(head: &Head, bytes: &mut Bytes<'_>) -> Result<ItemType> {
    let [len, ..] = head.bits.to_le_bytes();
    let tag = bytes.take(usize::from(len).next_multiple_of(8))?;
    let tag = tag.split(|byte| *byte == 0).next().unwrap_or_default();
    let time = core::str::from_utf8(tag).ok().and_then(|tag| tag.strip_prefix("NUMPY:"));
    let is_time = |code: &str| {
        head.size == 8 && code.get(1..3).is_some_and(|kind| matches!(kind, "M8" | "m8"))
    };
    let code = time.filter(|code| is_time(code)).map(str::to_owned);
    Ok(ItemType::as_stored(code.unwrap_or_else(|| format!("|V{}", head.size)), head.size))
}

fn enumeration(head: &Head, bytes: &mut Bytes<'_>, depth: usize) -> Result<ItemType> {
    let base = parse(bytes, depth)?;
    if base.stored != head.size {
        return Err(TypeError::Damaged("an enumeration and its numbers have two sizes"));
    }
    let count = head.bits & 0xffff;
    let names: Vec<&[u8]> = (0..count).map(|_| bytes.name(head.version)).collect::<Result<_>>()?;
    let values: Vec<&[u8]> = names.iter().map(|_| bytes.take(head.size)).collect::<Result<_>>()?;
    let members = names.iter().copied().zip(values);
    let is_bool = members.clone().count() == 2
        && members.clone().any(|member| member == (&b"FALSE"[..], &[0][..]))
        && members.clone().any(|member| member == (&b"TRUE"[..], &[1][..]));
    match is_bool && base.is_as_stored() {
        true => Ok(ItemType::as_stored("|b1".to_owned(), 1)),
        false => Ok(base),
    }
}

fn array(head: &Head, bytes: &mut Bytes<'_>, depth: usize) -> Result<ItemType> {
    let rank = bytes.u8()?;
    if head.version < 3 {
        bytes.take(3)?;
    }
    let dims: Vec<u32> = (0..rank).map(|_| bytes.u32()).collect::<Result<_>>()?;
    if head.version < 3 {
        dims.iter().try_for_each(|_| bytes.u32().map(drop))?;
    }
    let base = parse(bytes, depth)?;
    let count = dims.iter().try_fold(1_usize, |count, len| {
        count.checked_mul(usize::try_from(*len).ok()?).filter(|count| *count > 0)
    });
    let size = count.and_then(|count| count.checked_mul(base.stored));
    let (Some(count), true) = (count, size == Some(head.size)) else {
        return Err(TypeError::Damaged("an array and its items have two sizes"));
    };
    let sizes: Vec<String> = dims.iter().map(u32::to_string).collect();
    let numpy = format!("({}, ({},))", base.quoted(), sizes.join(", "));
    let mut item = ItemType::as_stored(numpy, head.size);
    if !base.is_as_stored() {
        let starts = (0..head.size).step_by(base.stored.max(1)).take(count);
        starts.enumerate().try_for_each(|(n, at)| add_parts(&mut item, n, at, &base))?;
    }
    Ok(item)
}

/// Adds the numbers of a part that starts at `at`.
fn add_parts(
    item: &mut ItemType,
    name: impl core::fmt::Display,
    at: usize,
    part: &ItemType,
) -> Result<()> {
    if part.stored != part.nbytes {
        return unsupported(format!("{name} of a record: numbers that become {}", part.numpy));
    }
    if item.parts.len().saturating_add(part.parts.len()) > MAX_PARTS {
        return unsupported(format!("records of more than {MAX_PARTS} numbers to convert"));
    }
    let moved = part.parts.iter().map(|inner| Part { at: inner.at.saturating_add(at), ..*inner });
    item.parts.extend(moved);
    Ok(())
}

fn compound(head: &Head, bytes: &mut Bytes<'_>, depth: usize) -> Result<ItemType> {
    let mut fields = vec![];
    for _ in 0..head.bits & 0xffff {
        let name = String::from_utf8_lossy(bytes.name(head.version)?).into_owned();
        let at = field_offset(head, bytes)?;
        let item = parse(bytes, depth).map_err(|error| match error {
            TypeError::Unsupported(what) => {
                TypeError::Unsupported(format!("records with a field `{name}` of {what}"))
            }
            damaged => damaged,
        })?;
        if at.checked_add(item.stored).is_none_or(|end| end > head.size) {
            return Err(TypeError::Damaged("a field ends after its record"));
        }
        fields.push((name, at, item));
    }
    match complex(head, &fields) {
        Some(code) => Ok(ItemType::as_stored(code, head.size)),
        None => record(head.size, &fields),
    }
}

/// Where a field begins; the dimensions that version 1 has there are those of no writer.
fn field_offset(head: &Head, bytes: &mut Bytes<'_>) -> Result<usize> {
    let mut offset = [0; 4];
    let len = match (head.version, head.size) {
        (..3, _) | (_, 0x100_0000..) => 4,
        (_, 0x1_0000..) => 3,
        (_, 0x100..) => 2,
        _ => 1,
    };
    offset.iter_mut().zip(bytes.take(len)?).for_each(|(to, from)| *to = *from);
    if head.version < 2 {
        let dimensions = bytes.take(28)?;
        if dimensions.first() != Some(&0) {
            return unsupported("records of version 1 with fields that are arrays");
        }
    }
    Ok(usize::try_from(u32::from_le_bytes(offset)).unwrap_or(usize::MAX))
}

/// The complex number that h5py writes as two fields.
fn complex(head: &Head, fields: &[(String, usize, ItemType)]) -> Option<String> {
    let [(re, 0, a), (im, at, b)] = fields else { return None };
    let (order, kind) = a.numpy.split_at_checked(1)?;
    let is_complex = (re == "r" && im == "i")
        && (a == b && a.is_as_stored() && matches!(kind, "f4" | "f8"))
        && (*at == a.stored && at.checked_mul(2) == Some(head.size));
    is_complex.then(|| format!("{order}c{}", head.size))
}

fn record(size: usize, fields: &[(String, usize, ItemType)]) -> Result<ItemType> {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let list = |texts: Vec<String>| texts.join(", ");
    let names = list(fields.iter().map(|(name, ..)| quoted(name)).collect());
    let formats = list(fields.iter().map(|(.., item)| item.quoted()).collect());
    let offsets = list(fields.iter().map(|(_, at, _)| at.to_string()).collect());
    let mut numpy = String::from("{");
    let _written = write!(
        numpy,
        "'names': [{names}], 'formats': [{formats}], 'offsets': [{offsets}], 'itemsize': {size}}}"
    );
    let mut item = ItemType::as_stored(numpy, size);
    fields.iter().try_for_each(|(name, at, field)| {
        add_parts(&mut item, format_args!("field `{name}`"), *at, field)
    })?;
    Ok(item)
}

#[cfg(test)]
mod tests;
