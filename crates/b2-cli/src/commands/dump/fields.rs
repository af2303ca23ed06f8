//! Tables of fields: where they are, how they are called, and what their bytes say.

use blosc_chunk::{
    CodecId, FilterId,
    raw::{self, FieldKind, Flags, FormatId},
};
use serde_json::Value;

use super::{Printer, Span};
use crate::error::Result;

/// The name of a field, and what its bytes say beyond a number or a text.
pub(super) type Meaning = (&'static str, fn(&[u8]) -> Value);

impl Printer<'_> {
    /// Shows those fields of a table of the format that `bytes` holds; they start at `offset`.
    /// `meanings` explains fields by name, beyond their number or text. A number and its
    /// MessagePack marker are one span.
    pub(super) fn raw_fields(
        &mut self,
        fields: &[raw::Field],
        meanings: &[Meaning],
        bytes: &[u8],
        offset: u64,
    ) -> Result<()> {
        let mut fields = fields.iter().peekable();
        while let Some(first) = fields.next() {
            let is_number =
                |next: &&raw::Field| matches!(next.kind, FieldKind::Unsigned | FieldKind::Signed);
            let value = match first.kind {
                FieldKind::Marker => fields.next_if(is_number),
                _ => None,
            };
            let field = value.unwrap_or(first);
            let end = field.offset + field.size;
            let Some(bytes) = bytes.get(first.offset..end) else { continue };
            let value = match meanings.iter().find(|(name, _)| *name == field.name) {
                Some((_, means)) => means(bytes),
                None if value.is_some() => marked(bytes),
                None => plain(field.kind, bytes),
            };
            self.piece(offset + first.offset as u64, bytes, field.name, value)?;
        }
        Ok(())
    }

    /// Shows a span whose bytes are all in memory.
    pub(super) fn piece(
        &mut self,
        offset: u64,
        bytes: &[u8],
        name: &str,
        value: impl Into<Value>,
    ) -> Result<()> {
        self.span(&Span { offset, len: bytes.len() as u64, bytes, name, value: value.into() })
    }
}

/// A number or a text.
fn plain(kind: FieldKind, bytes: &[u8]) -> Value {
    match (kind, bytes.len()) {
        (FieldKind::Text, _) => text(bytes),
        (FieldKind::Unsigned | FieldKind::Signed, 1) => byte(bytes),
        (FieldKind::Unsigned, 4) => unsigned_le(bytes),
        (FieldKind::Unsigned, 8) => unsigned_long_le(bytes),
        (FieldKind::Signed, 4) => signed_le(bytes),
        (FieldKind::Signed, 8) => long_le(bytes),
        _ => Value::Null,
    }
}

pub(super) fn signed_le(bytes: &[u8]) -> Value {
    bytes.first_chunk().map_or(Value::Null, |bytes| i32::from_le_bytes(*bytes).into())
}

pub(super) fn unsigned_le(bytes: &[u8]) -> Value {
    bytes.first_chunk().map_or(Value::Null, |bytes| u32::from_le_bytes(*bytes).into())
}

pub(super) fn long_le(bytes: &[u8]) -> Value {
    bytes.first_chunk().map_or(Value::Null, |bytes| i64::from_le_bytes(*bytes).into())
}

pub(super) fn unsigned_long_le(bytes: &[u8]) -> Value {
    bytes.first_chunk().map_or(Value::Null, |bytes| u64::from_le_bytes(*bytes).into())
}

/// An unsigned number, or a signed one that is not negative, after its MessagePack marker.
pub(super) fn marked(bytes: &[u8]) -> Value {
    match bytes {
        [0xd1, number @ ..] => number.first_chunk().map(|n| i16::from_be_bytes(*n).into()),
        [0xd2, number @ ..] => number.first_chunk().map(|n| i32::from_be_bytes(*n).into()),
        [0xd3, number @ ..] => number.first_chunk().map(|n| i64::from_be_bytes(*n).into()),
        [0xcd, number @ ..] => number.first_chunk().map(|n| u16::from_be_bytes(*n).into()),
        [0xce, number @ ..] => number.first_chunk().map(|n| u32::from_be_bytes(*n).into()),
        [0xcf, number @ ..] => number.first_chunk().map(|n| u64::from_be_bytes(*n).into()),
        _ => None,
    }
    .unwrap_or(Value::Null)
}

pub(super) fn byte(bytes: &[u8]) -> Value {
    bytes.first().map_or(Value::Null, |byte| (*byte).into())
}

pub(super) fn text(bytes: &[u8]) -> Value {
    bytes.escape_ascii().to_string().into()
}

/// `c3` and `c2` of MessagePack.
pub(super) fn boolean(bytes: &[u8]) -> Value {
    match bytes {
        [0xc3] => true.into(),
        [0xc2] => false.into(),
        _ => Value::Null,
    }
}

/// Filters by slot.
pub(super) fn filters(bytes: &[u8]) -> Value {
    let names =
        bytes.iter().map(|id| if *id == 0 { "-".to_owned() } else { FilterId(*id).to_string() });
    names.collect::<Vec<_>>().join(", ").into()
}

pub(super) fn codec(bytes: &[u8]) -> Value {
    bytes.first().map_or(Value::Null, |id| CodecId(*id).to_string().into())
}

/// The names of the bits of a byte that are set.
pub(super) fn bits(byte: u8, names: &[(u8, &str)]) -> String {
    let set: Vec<_> =
        names.iter().filter(|(bit, _)| byte & bit != 0).map(|(_, name)| *name).collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}

/// The flags of a chunk.
pub(super) fn chunk_flags(bytes: &[u8]) -> Value {
    let Some(&byte) = bytes.first() else { return Value::Null };
    let flags = Flags(byte);
    let mut names =
        vec![(Flags::MEMCPYED, "memcpyed"), (Flags::DELTA, "delta"), (Flags::UNSPLIT, "not split")];
    if !flags.is_extended() {
        names.extend([(Flags::SHUFFLE, "shuffle"), (Flags::BITSHUFFLE, "bitshuffle")]);
    }
    let header = if flags.is_extended() { "32-byte header" } else { "16-byte header" };
    let set = bits(byte, &names);
    let set = if set == "none" { String::new() } else { format!(", {set}") };
    format!("{header}{set}, format {} ({})", flags.format(), format_name(flags.format())).into()
}

/// The codec whose streams a format code stands for.
fn format_name(format: FormatId) -> String {
    match format {
        FormatId::BLOSCLZ => CodecId::BLOSCLZ.to_string(),
        FormatId::LZ4 => "lz4 or lz4hc".to_owned(),
        FormatId::SNAPPY => CodecId::SNAPPY.to_string(),
        FormatId::ZLIB => CodecId::ZLIB.to_string(),
        FormatId::ZSTD => CodecId::ZSTD.to_string(),
        FormatId::LIZARD => CodecId::LIZARD.to_string(),
        FormatId::USER => "as udcodec says".to_owned(),
        _ => "unknown".to_owned(),
    }
}
