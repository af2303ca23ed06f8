//! The spans of a Bloscpack file: header, metadata, offsets, chunks with their digests, and what
//! follows them.
//!
//! A file whose change was interrupted is shown as before the change, followed by the rest of the
//! change.

use blosc_chunk::ChunkHeader;
use bloscpack::{
    Checksum, PackedChunk,
    raw::{
        RawHeader, RawHeader1, RawHeaderRc, RawJournalEntry, RawJournalFooter, RawMetadataHeader,
    },
};
use serde_json::Value;

use super::{
    Printer, SHOWN_TO_PROGRAMS, Span, Wanted, chunk,
    fields::{Meaning, bits, long_le, unsigned_le, unsigned_long_le},
};
use crate::{
    error::{Doing, Error, Result},
    formats::Blp,
    inputs::object_reader::Found,
};

/// Everything in a file.
pub(super) fn file(
    printer: &mut Printer<'_>,
    found: &Found,
    blp: &Blp,
    wanted: &Wanted,
) -> Result<()> {
    let mut walk = Walk { printer, found, blp: Some(blp), at: 0, is_lost: false };
    let end = walk.preamble(wanted)?;
    walk.at = end;
    if let Some(nchunk) = wanted.chunk {
        let chunk = blp.file.packed_chunk(nchunk)?;
        walk.chunk(blp, &chunk)
    } else if wanted.chunks {
        walk.chunks(blp)?;
        walk.after_chunks(blp)
    } else {
        Ok(())
    }
}

/// A file that does not open, as far as its headers go.
pub(super) fn damaged(printer: &mut Printer<'_>, found: &Found, wanted: &Wanted) -> Result<()> {
    Walk { printer, found, blp: None, at: 0, is_lost: false }.preamble(wanted).map(drop)
}

/// A walk over a file from front to back.
struct Walk<'p, 'c, 'f> {
    printer: &'p mut Printer<'c>,
    found: &'f Found,
    /// The file, if it could be opened.
    blp: Option<&'f Blp>,
    /// Where the next span begins (bytes from the start of the Bloscpack file).
    at: u64,
    /// Whether the last chunk could not be read.
    is_lost: bool,
}

impl Walk<'_, '_, '_> {
    /// Everything before the chunks, as far as it is wanted. Returns where it ends.
    fn preamble(&mut self, wanted: &Wanted) -> Result<u64> {
        let bytes = self.read(0, HEADER_LEN)?;
        let is_rc = self.blp.is_some_and(|blp| blp.file.header().version().number() == 0);
        let (len, fields) = match bytes.get(4) {
            _ if is_rc => (8, RawHeaderRc::FIELDS),
            Some(1) => (16, RawHeader1::FIELDS),
            _ => (HEADER_LEN, RawHeader::FIELDS),
        };
        // In version 2 the last field is reserved.
        let (fields, reserved) = match (bytes.get(4), fields.split_last()) {
            (Some(2), Some((last, others))) if !is_rc => (others, Some(last)),
            _ => (fields, None),
        };
        let bytes = bytes.get(..usize::try_from(len).unwrap_or_default()).unwrap_or(&bytes);
        if wanted.header {
            self.printer.section("header", &format!(", {} bytes", bytes.len()))?;
            let at = self.found.at;
            self.printer.raw_fields(fields, MEANINGS, bytes, at)?;
            let reserved = reserved.and_then(|field| Some((field, bytes.get(field.offset..)?)));
            if let Some((field, bytes)) = reserved {
                self.printer.piece(at + field.offset as u64, bytes, "reserved", Value::Null)?;
            }
        }
        self.at = bytes.len() as u64;
        let has = |version: u8, bit: u8| {
            !is_rc && bytes.get(4..6).is_some_and(|b| b[0] >= version && b[1] & bit != 0)
        };
        let (has_metadata, has_offsets) = (has(3, METADATA), has(2, OFFSETS));
        // In version 2 the bytes of the reserve mean nothing.
        let (nchunks, reserve) =
            (u64_at(bytes, 0x10), if has(3, OFFSETS) { u64_at(bytes, 0x18) } else { 0 });
        if has_metadata {
            self.metadata(wanted.header)?;
        }
        if has_offsets {
            self.offsets(nchunks, reserve, wanted.index)?;
        }
        Ok(self.at)
    }

    fn metadata(&mut self, shown: bool) -> Result<()> {
        let bytes = self.read(self.at, METADATA_LEN)?;
        let number = |at: usize| bytes.get(at..).and_then(|n| unsigned_le(n).as_u64()).unwrap_or(0);
        let (room, stored) = (number(0x10), number(0x14));
        let checksum = bytes.get(9).and_then(|id| Checksum::from_id(*id)).unwrap_or(Checksum::None);
        let len = METADATA_LEN + room + checksum.digest_len() as u64;
        if !shown {
            self.at += len;
            return Ok(());
        }
        self.printer.section("metadata", &format!(", {len} bytes"))?;
        self.fields(RawMetadataHeader::FIELDS, &bytes)?;
        let metadata = self.blp.and_then(|blp| blp.file.metadata());
        let value = metadata.and_then(|metadata| metadata.json()).map(Value::to_string);
        self.next(stored.min(room), "data", value)?;
        self.next(room.saturating_sub(stored), "room", None::<Value>)?;
        self.next(checksum.digest_len() as u64, checksum.name(), None::<Value>)
    }

    /// The entries one by one; free entries as one span.
    fn offsets(&mut self, nchunks: u64, reserve: u64, shown: bool) -> Result<()> {
        let len = nchunks.saturating_add(reserve).saturating_mul(8);
        if !shown {
            self.at = self.at.saturating_add(len);
            return Ok(());
        }
        let entries = format!(", {len} bytes: {nchunks} in use, {reserve} free");
        self.printer.section("offsets", &entries)?;
        let mut entry = 0;
        while entry < nchunks {
            let bytes =
                self.read(self.at, (nchunks - entry).min(OFFSETS_AT_ONCE).saturating_mul(8))?;
            for bytes in bytes.chunks_exact(8) {
                let offset = self.found.at + self.at;
                self.printer.piece(offset, bytes, &format!("offset {entry}"), long_le(bytes))?;
                self.at += 8;
                entry += 1;
            }
            if bytes.len() < 8 {
                break;
            }
        }
        self.next(reserve.saturating_mul(8), "free", None::<Value>)
    }

    /// All chunks, and the bytes that belong to none.
    fn chunks(&mut self, blp: &Blp) -> Result<()> {
        for nchunk in 0..blp.file.nchunks()? {
            self.check_memory(blp, nchunk)?;
            match blp.file.packed_chunk(nchunk) {
                Ok(chunk) => {
                    self.dead(chunk.position())?;
                    self.chunk(blp, &chunk)?;
                }
                Err(error) => {
                    self.printer.problem(&error.into())?;
                    self.is_lost = true;
                }
            }
        }
        self.dead(blp.file.file_len())
    }

    /// Refuses a chunk that does not fit the memory: chunks are read whole.
    fn check_memory(&self, blp: &Blp, nchunk: u64) -> Result<()> {
        let Ok(at) = blp.file.position(nchunk) else { return Ok(()) };
        let header = self.read(at, ChunkHeader::MIN_LEN as u64)?;
        let needed = ChunkHeader::parse(&header).map_or(0, |header| header.cbytes() as u64);
        let limit = self.printer.cx.memory();
        if needed > limit { Err(Error::MaxMemory { needed, limit }) } else { Ok(()) }
    }

    fn chunk(&mut self, blp: &Blp, chunk: &PackedChunk) -> Result<()> {
        let (nchunk, bytes, checksum) =
            (chunk.nchunk(), chunk.bytes(), blp.file.header().checksum());
        let at = self.found.at + chunk.position();
        self.printer.section(&format!("chunk {nchunk}"), &format!(", {} bytes", bytes.len()))?;
        chunk::spans(self.printer, bytes, at)?;
        self.at = chunk.end();
        let digest = chunk.digest().as_bytes();
        if digest.is_empty() {
            return Ok(());
        }
        self.printer.piece(
            at + bytes.len() as u64,
            digest,
            checksum.name(),
            digest_value(digest),
        )?;
        if checksum.digest(bytes).as_bytes() == digest {
            return Ok(());
        }
        let what = bloscpack::error::Corrupt::Digest { nchunk, checksum };
        self.printer.problem(&bloscpack::Error::Corrupt { at: chunk.position(), what }.into())
    }

    /// Bytes up to `end` that nothing refers to, or that do not form a chunk.
    fn dead(&mut self, end: u64) -> Result<()> {
        let len = end.saturating_sub(self.at);
        let (section, name) =
            if self.is_lost { ("damaged", "not understood") } else { ("dead bytes", "dead") };
        self.is_lost = false;
        if len == 0 {
            return Ok(());
        }
        self.printer.section(section, &format!(", {len} bytes"))?;
        self.next(len, name, None::<Value>)
    }

    /// The rest of an interrupted change: data that were to be added, and the bytes that it has
    /// overwritten.
    fn after_chunks(&mut self, blp: &Blp) -> Result<()> {
        if !blp.file.is_interrupted() {
            return Ok(());
        }
        // `blp` shows the file before the change; the rest is read from the file itself.
        self.blp = None;
        let end = self.len()?;
        let footer = self.read(end.saturating_sub(FOOTER_LEN), FOOTER_LEN)?;
        let (start, nentries) = (u64_at(&footer, 8), u64_at(&footer, 24));
        self.printer
            .section("interrupted change", &format!(", {} bytes", end.saturating_sub(self.at)))?;
        self.next(start.saturating_sub(self.at), "new data", None::<Value>)?;
        for _ in 0..nentries {
            let entry = self.read(self.at, 16)?;
            self.fields(RawJournalEntry::FIELDS, &entry)?;
            self.next(u64_at(&entry, 8), "former bytes", None::<Value>)?;
        }
        self.at = end.saturating_sub(FOOTER_LEN);
        self.fields(RawJournalFooter::FIELDS, &footer)
    }

    /// Shows the next bytes as these fields.
    fn fields(&mut self, fields: &[blosc_chunk::raw::Field], bytes: &[u8]) -> Result<()> {
        self.printer.raw_fields(fields, MEANINGS, bytes, self.found.at + self.at)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// The next `len` bytes as one span, as far as they are there.
    fn next(&mut self, len: u64, name: &str, value: Option<impl Into<Value>>) -> Result<()> {
        let len = len.min(self.len()?.saturating_sub(self.at));
        if len == 0 {
            return Ok(());
        }
        let bytes = self.read(self.at, len.min(SHOWN_TO_PROGRAMS as u64))?;
        let value = value.map_or(Value::Null, Into::into);
        let offset = self.found.at + self.at;
        self.printer.span(&Span { offset, len, bytes: &bytes, name, value })?;
        self.at += len;
        Ok(())
    }

    /// Bytes of the file.
    fn len(&self) -> Result<u64> {
        match self.blp {
            Some(blp) => Ok(blp.file.file_len()),
            None => Ok(self
                .found
                .store
                .len()
                .map_err(Error::io(Doing::Open))?
                .saturating_sub(self.found.at)),
        }
    }

    /// Up to `len` bytes from `at` on.
    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let there = self.len()?.saturating_sub(at);
        let mut bytes = vec![0; usize::try_from(len.min(there)).unwrap_or_default()];
        match self.blp {
            Some(blp) => blp.file.read_stored_at(at, &mut bytes)?,
            None => {
                let read = self.found.store.read_exact_at(self.found.at + at, &mut bytes);
                read.map_err(Error::io(Doing::Read))?;
            }
        }
        Ok(bytes)
    }
}

/// The number at byte `at`; 0 after the end.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|n| unsigned_long_le(n).as_u64()).unwrap_or(0)
}

/// Digits of a digest; those of 4 bytes are a number.
fn digest_value(digest: &[u8]) -> Value {
    match digest {
        [a, b, c, d] => format!("{:08x}", u32::from_le_bytes([*a, *b, *c, *d])).into(),
        _ => Value::Null,
    }
}

fn options(bytes: &[u8]) -> Value {
    bytes.first().map_or(Value::Null, |byte| {
        bits(*byte, &[(OFFSETS, "offsets"), (METADATA, "metadata")]).into()
    })
}

fn checksum(bytes: &[u8]) -> Value {
    bytes
        .first()
        .and_then(|id| Checksum::from_id(*id))
        .map_or(Value::Null, |checksum| checksum.name().into())
}

fn metadata_codec(bytes: &[u8]) -> Value {
    match bytes {
        [0] => "none".into(),
        [1] => "zlib".into(),
        _ => Value::Null,
    }
}

/// Bit of `options`: there are offsets.
const OFFSETS: u8 = 1;
/// Bit of `options`: there are metadata.
const METADATA: u8 = 2;
/// Bytes of the header of versions 2 and 3.
const HEADER_LEN: u64 = size_of::<RawHeader>() as u64;
/// Bytes of the header of the metadata.
const METADATA_LEN: u64 = size_of::<RawMetadataHeader>() as u64;
/// Bytes at the end of a file whose change was interrupted.
const FOOTER_LEN: u64 = size_of::<RawJournalFooter>() as u64;
/// Entries that are read at once.
const OFFSETS_AT_ONCE: u64 = 8 << 10;

/// Meanings of the codes of the headers.
const MEANINGS: &[Meaning] = &[
    ("options", options),
    ("checksum", checksum),
    ("meta_checksum", checksum),
    ("meta_codec", metadata_codec),
];
