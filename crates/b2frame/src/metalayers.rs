//! Metalayers: named byte strings, in the header (fixed size) and in the trailer (variable size).
//!
//! Header and trailer use one encoding: a map from names to positions, then the values. They differ
//! in three facts, gathered in `Section`: the start of the section, the origin of the positions,
//! and the span of `idx_size`. Values are kept as ranges of the bytes that were read, so memory is
//! bounded by the length of the file.

use core::ops::Range;
use std::borrow::Cow;

use crate::error::{Corrupt, Error, Param, Result};
use crate::msgpack::{ARRAY16, BIN32, FIXARRAY, FIXSTR, INT32, MAP16, Reader, UINT16, Writer};
pub use crate::schunk::VlMeta;
use crate::trailer;

/// The longest name of a metalayer or vlmetalayer (bytes).
pub const MAX_NAME_LEN: usize = 31;
/// The largest number of metalayers in a header.
pub const MAX_METALAYERS: usize = 16;
/// The largest number of vlmetalayers that readers accept in a trailer.
pub const MAX_VLMETALAYERS: usize = 8192;
/// The largest number of vlmetalayers that C-Blosc2 can write to a frame; the writer here obeys it.
pub(crate) const MAX_VLMETALAYERS_WRITTEN: usize = 16;

/// The metalayers of a frame: their bytes, and the ranges of names and values in them.
///
/// Invariants: every range lies inside `bytes`; names have 1..=31 bytes.
#[derive(Clone, Debug, Default)]
pub struct Metalayers {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether an entry was removed whose bytes remain.
    is_cut: bool,
}

/// Equal are the same names and contents in the same order, at any positions.
impl PartialEq for Metalayers {
    fn eq(&self, other: &Self) -> bool {
        let facts = |layers: &Self| -> Vec<(Vec<u8>, Vec<u8>)> {
            layers.iter().map(|layer| (layer.name.to_vec(), layer.content.to_vec())).collect()
        };
        facts(self) == facts(other)
    }
}

impl Eq for Metalayers {}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: Range<usize>,
    content: Range<usize>,
}

/// One metalayer: its name and its content, uninterpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metalayer<'a> {
    /// The name as bytes; see [`name_text`](Self::name_text).
    pub name: &'a [u8],
    /// The content. By custom a metalayer holds MessagePack; a vlmetalayer holds a compressed
    /// chunk.
    pub content: &'a [u8],
    /// Position of the content (bytes), from the start of the header or trailer that holds it.
    pub position: u64,
}

impl<'a> Metalayer<'a> {
    /// The name for display; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn name_text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.name)
    }
}

impl Metalayers {
    /// Number of metalayers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no metalayers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All metalayers, in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Metalayer<'_>> {
        self.entries.iter().map(|entry| Metalayer {
            name: self.bytes.get(entry.name.clone()).unwrap_or_default(),
            content: self.bytes.get(entry.content.clone()).unwrap_or_default(),
            position: entry.content.start as u64,
        })
    }

    /// The first metalayer of this name. Names are compared as bytes.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Option<Metalayer<'_>> {
        self.iter().find(|layer| layer.name == name.as_ref())
    }

    /// Removes the first metalayer of this name and returns its content; the bytes stay.
    pub(crate) fn take(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let at = self.iter().position(|layer| layer.name == name)?;
        let content = self.entries.get(at).map(|entry| entry.content.clone())?;
        self.entries.remove(at);
        self.is_cut = true;
        self.bytes.get(content).map(<[u8]>::to_vec)
    }

    /// A single metalayer, whose content is a part of `bytes`.
    pub(crate) fn with_single(mut bytes: Vec<u8>, content: Range<usize>, name: &str) -> Self {
        let start = bytes.len();
        bytes.extend_from_slice(name.as_bytes());
        let entries = vec![Entry { name: start..bytes.len(), content }];
        Self { bytes, entries, is_cut: false }
    }

    /// Parses the section of a header or trailer. `bytes` is the whole header, or the trailer up to
    /// its last 23 bytes; errors give positions in them.
    pub(crate) fn parse(bytes: Vec<u8>, section: Section) -> Result<Self> {
        let mut reader = Reader::new(&bytes, section.start);
        let count = parse_counts(&mut reader, section)?;
        let entries =
            (0..count).map(|_| parse_entry(&bytes, &mut reader)).collect::<Result<Vec<_>>>()?;
        // A second count precedes the values. C readers ignore the count, so only its marker is
        // checked.
        reader.u16("metalayer values", ARRAY16)?;
        if section.ends_exactly {
            let end = entries.iter().map(|e| e.content.end).max().unwrap_or(reader.position());
            if end != bytes.len() {
                let what = Corrupt::SectionEnd { end: end as u64, expected: bytes.len() as u64 };
                return Err(Error::corrupt(section.start, what));
            }
        }
        Ok(Self { bytes, entries, is_cut: false })
    }

    /// Metalayers of these names and contents. The fixed part of a header is left as zeros.
    pub(crate) fn build<'a, I>(layers: I, section: Section) -> Result<Self>
    where
        I: IntoIterator<Item = (&'a [u8], &'a [u8])> + Clone,
    {
        let mut bytes = section.lead.to_vec();
        bytes.extend(Self::encode(layers, section)?);
        Self::parse(bytes, section)
    }

    /// Whether no metalayer was removed.
    pub(crate) fn is_as_read(&self) -> bool {
        !self.is_cut
    }

    /// The bytes of the section: a header with any fixed part, or a trailer without its end.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Length of the header with these metalayers (bytes).
    pub(crate) fn header_len(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    /// Replaces the content of the first metalayer of this name, if the length stays.
    pub(crate) fn overwrite(&mut self, name: &[u8], content: &[u8]) -> bool {
        let is_it = |entry: &&Entry| self.bytes.get(entry.name.clone()) == Some(name);
        let place = self.entries.iter().find(is_it).map(|entry| entry.content.clone());
        match place
            .and_then(|place| self.bytes.get_mut(place))
            .filter(|old| old.len() == content.len())
        {
            Some(old) => old.copy_from_slice(content),
            None => return false,
        }
        true
    }

    /// Encodes a section for these names and contents.
    pub(crate) fn encode<'a, I>(layers: I, section: Section) -> Result<Vec<u8>>
    where
        I: IntoIterator<Item = (&'a [u8], &'a [u8])> + Clone,
    {
        let names: usize = layers.clone().into_iter().map(|(name, _)| name.len()).sum();
        let count = layers.clone().into_iter().count();
        check_layers(layers.clone(), section)?;
        // 7 bytes up to the map's count, per entry a marker and a position, then the count of the
        // values.
        let map_end = count.saturating_mul(6).saturating_add(names).saturating_add(7);
        let mut position = map_end.saturating_add(section.start).saturating_add(3);
        let idx_size = map_end.saturating_sub(section.not_counted());
        let mut writer = Writer::default();
        writer.u8(FIXARRAY | 3).u16(UINT16, narrow(idx_size)?).u16(MAP16, narrow(count)?);
        for (name, content) in layers.clone() {
            writer.u8(FIXSTR | narrow::<u8>(name.len())?).raw(name);
            writer.u32(INT32, narrow::<i32>(position)?.cast_unsigned());
            position = position.saturating_add(content.len()).saturating_add(5);
        }
        writer.u16(ARRAY16, narrow(count)?);
        for (_, content) in layers {
            writer.u32(BIN32, narrow(content.len())?).raw(content);
        }
        narrow::<i32>(position)?;
        Ok(writer.bytes)
    }
}

/// The differences between the sections of header and trailer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    /// Position of the section (bytes), from the origin of its positions.
    pub start: usize,
    /// The known bytes before the section.
    pub lead: &'static [u8],
    /// The largest number of entries.
    pub max: usize,
    /// Whether `idx_size` leaves out the section's first byte.
    pub first_byte_not_counted: bool,
    /// Whether the last value must end at the end of the bytes.
    pub ends_exactly: bool,
}

impl Section {
    /// Metalayers: right after the 87 fixed bytes of the header; positions count from the frame's
    /// first byte.
    pub(crate) const HEADER: Self = Self {
        start: 87,
        lead: &[0; 87],
        max: MAX_METALAYERS,
        first_byte_not_counted: false,
        ends_exactly: false,
    };
    /// Vlmetalayers: after two bytes of the trailer; positions count from the trailer's first byte.
    pub(crate) const TRAILER: Self = Self {
        start: 2,
        lead: &trailer::START,
        max: MAX_VLMETALAYERS,
        first_byte_not_counted: true,
        ends_exactly: true,
    };

    fn not_counted(self) -> usize {
        usize::from(self.first_byte_not_counted)
    }
}

/// Parses everything before the first name; returns the number of entries. `idx_size` is redundant
/// and ignored.
fn parse_counts(reader: &mut Reader<'_>, section: Section) -> Result<u16> {
    reader.marker("metalayer section", FIXARRAY | 3)?;
    reader.u16("idx_size", UINT16)?;
    let at = reader.position();
    let count = reader.u16("metalayer map", MAP16)?;
    if usize::from(count) > section.max {
        return Err(Error::corrupt(at, Corrupt::MetaCount { count, max: section.max }));
    }
    Ok(count)
}

/// A name and the range of its value, found through its position.
fn parse_entry(bytes: &[u8], reader: &mut Reader<'_>) -> Result<Entry> {
    let at = reader.position();
    let marker = reader.u8()?;
    if !(FIXSTR | 1..=FIXSTR | 31).contains(&marker) {
        return Err(Error::corrupt(at, Corrupt::NameMarker { found: marker }));
    }
    let start = reader.position();
    reader.take(usize::from(marker & 31))?;
    let name = start..reader.position();
    let at = reader.position();
    let position = reader.i32("metalayer position")?;
    let outside =
        || Error::corrupt(at, Corrupt::MetaPosition { position, end: bytes.len() as u64 });
    let mut value = Reader::new(bytes, usize::try_from(position).map_err(|_| outside())?);
    let len = value.u32("metalayer value", BIN32)?;
    let start = value.position();
    value.take(usize::try_from(len).map_err(|_| outside())?)?;
    Ok(Entry { name, content: start..value.position() })
}

/// Checks that the layers can be written: their number, the lengths of names, no name twice.
fn check_layers<'a, I>(layers: I, section: Section) -> Result<()>
where
    I: IntoIterator<Item = (&'a [u8], &'a [u8])> + Clone,
{
    let count = layers.clone().into_iter().count();
    // C readers accept far more vlmetalayers than C writers can write.
    let max = section.max.min(MAX_VLMETALAYERS_WRITTEN);
    if count > max {
        return Err(Param::MetaCount { count, max }.into());
    }
    for (n, (name, _)) in layers.clone().into_iter().enumerate() {
        if name.is_empty() || name.len() > MAX_NAME_LEN {
            return Err(Param::MetaName { len: name.len() }.into());
        }
        if layers.clone().into_iter().take(n).any(|(earlier, _)| earlier == name) {
            return Err(
                Param::MetaTwice { name: String::from_utf8_lossy(name).into_owned() }.into()
            );
        }
    }
    Ok(())
}

/// A number in the width of its field.
fn narrow<T: TryFrom<usize>>(value: usize) -> Result<T> {
    T::try_from(value).map_err(|_| Param::MetaTooLong { nbytes: value as u64 }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(layers: &[(&[u8], &[u8])], section: Section) -> Result<Vec<u8>> {
        Metalayers::encode(layers.iter().copied(), section)
    }

    /// The section, after as many bytes as precede it in a header or trailer.
    fn placed(layers: &[(&[u8], &[u8])], section: Section) -> Vec<u8> {
        let mut bytes = vec![0; section.start];
        bytes.extend(encode(layers, section).unwrap());
        bytes
    }

    #[test]
    fn the_empty_sections_are_those_of_the_document() {
        let header = encode(&[], Section::HEADER).unwrap();
        assert_eq!(header, [0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]);
        let trailer = encode(&[], Section::TRAILER).unwrap();
        assert_eq!(trailer, [0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0]);
    }

    #[test]
    fn what_is_encoded_is_parsed() {
        let layers: [(&[u8], &[u8]); 3] =
            [(b"kind", b"\xa4demo"), (b"\xff", b""), (b"n", &[7; 300])];
        for section in [Section::HEADER, Section::TRAILER] {
            let parsed = Metalayers::parse(placed(&layers, section), section).unwrap();
            let found: Vec<_> = parsed.iter().map(|l| (l.name, l.content)).collect();
            assert_eq!(found, layers);
            assert_eq!(parsed.get("n").unwrap().content, [7; 300]);
            assert_eq!(parsed.iter().nth(1).unwrap().name_text(), "\u{fffd}");
            assert!(parsed.get("absent").is_none());
            assert_eq!((parsed.len(), parsed.is_empty()), (3, false));
        }
    }

    #[test]
    fn idx_size_counts_the_first_byte_in_headers_only() {
        let layers: [(&[u8], &[u8]); 1] = [(b"kind", b"x")];
        assert_eq!(encode(&layers, Section::HEADER).unwrap()[2..4], [0, 17]);
        assert_eq!(encode(&layers, Section::TRAILER).unwrap()[2..4], [0, 16]);
    }

    #[test]
    fn what_readers_refuse_is_not_written() {
        let param = |layers: &[(&[u8], &[u8])]| match encode(layers, Section::TRAILER) {
            Err(Error::Param(param)) => param,
            other => panic!("{other:?}"),
        };
        assert_eq!(param(&[(b"", b"")]), Param::MetaName { len: 0 });
        assert_eq!(param(&[(&[b'x'; 32], b"")]), Param::MetaName { len: 32 });
        assert_eq!(param(&[(b"a", b""), (b"a", b"")]), Param::MetaTwice { name: "a".to_owned() });
        let many: Vec<[u8; 1]> = (0..17).map(|i| [b'a' + i]).collect();
        let many: Vec<(&[u8], &[u8])> = many.iter().map(|name| (&name[..], &b""[..])).collect();
        assert_eq!(param(&many), Param::MetaCount { count: 17, max: 16 });
    }
}
