//! The spans of a frame: header, metalayers, chunks and the bytes between them, index, trailer.

use b2frame::{
    ChunkBytes, SChunk,
    raw::{RawHeader, RawTrailerEnd},
};
use serde_json::Value;

use super::{
    Printer, Span, Wanted, chunk,
    fields::{Meaning, bits, boolean, byte, codec, filters, marked},
};
use crate::{
    error::{Doing, Error, Result},
    formats::msgpack_json,
    inputs::{is_sparse, object_reader::Found},
    memory,
};

/// The header of a frame, also when the rest is damaged.
pub(super) fn header(printer: &mut Printer<'_>, found: &Found) -> Result<()> {
    let fixed = read(found, found.at, FIXED_LEN)?;
    let header_len = match marked(fixed.get(0xa..0xf).unwrap_or_default()).as_u64() {
        Some(len) if len <= MAX_SECTION => len,
        _ => FIXED_LEN,
    };
    let bytes = read(found, found.at, header_len)?;
    printer.section("header", &format!(", {} bytes", bytes.len()))?;
    printer.raw_fields(RawHeader::FIELDS, MEANINGS, &bytes, found.at)?;
    let layers = bytes.get(0x57..).unwrap_or_default();
    Layers { printer, bytes: layers, at: 0, offset: found.at + 0x57, decoded: true }.all()
}

/// Everything after the header.
pub(super) fn body(
    printer: &mut Printer<'_>,
    found: &Found,
    schunk: &SChunk,
    wanted: &Wanted,
) -> Result<()> {
    if let Some(nchunk) = wanted.chunk {
        schunk.chunk_info(nchunk)?;
        one_chunk(printer, schunk, nchunk)?;
    } else if wanted.chunks {
        chunks(printer, found, schunk)?;
    }
    if wanted.index && schunk.index_len() > 0 {
        index(printer, found, schunk)?;
    }
    if wanted.trailer {
        trailer(printer, found, schunk)?;
    }
    Ok(())
}

/// All chunks of the data section in file order, and the bytes between them.
fn chunks(printer: &mut Printer<'_>, found: &Found, schunk: &SChunk) -> Result<()> {
    let (mut positions, mut runs) = (Vec::new(), 0u64);
    for nchunk in 0..schunk.nchunks() {
        match schunk.chunk_info(nchunk) {
            Ok(info) => match info.offset {
                Some(offset) => positions.push((offset, info.cbytes, nchunk)),
                None => runs += 1,
            },
            Err(error) => printer.problem(&error.into())?,
        }
    }
    if !is_sparse(schunk) {
        positions.sort_unstable();
    }
    // The chunks of a sparse frame are files of their own: there is nothing between them.
    let is_one_file = !is_sparse(schunk);
    let mut end = found.at + u64::from(schunk.header().header_len());
    for (offset, cbytes, nchunk) in positions {
        if is_one_file {
            dead(printer, found, end..offset)?;
        }
        one_chunk(printer, schunk, nchunk)?;
        end = end.max(offset + cbytes);
    }
    if is_one_file {
        let start = found.at + u64::from(schunk.header().header_len());
        dead(printer, found, end..start.saturating_add(schunk.cbytes()))?;
    }
    if runs > 0 {
        let (chunks, are) = if runs == 1 { ("chunk", "is a run") } else { ("chunks", "are runs") };
        printer.section(
            &format!("{runs} {chunks}"),
            &format!(" that {are} in the index, without bytes"),
        )?;
    }
    Ok(())
}

fn one_chunk(printer: &mut Printer<'_>, schunk: &SChunk, nchunk: u64) -> Result<()> {
    let info = match schunk.chunk_info(nchunk) {
        Ok(info) => info,
        Err(error) => return printer.problem(&error.into()),
    };
    let limit = printer.cx.memory();
    memory::check(info.cbytes, limit)?;
    let name = format!("chunk {nchunk}");
    match schunk.chunk(nchunk)? {
        ChunkBytes::Stored(bytes) => {
            printer.section(&name, &format!(", {} bytes", bytes.len()))?;
            chunk::spans(printer, &bytes, info.offset.unwrap_or(0))
        }
        _ => printer.section(&name, ", a run in the index, without bytes"),
    }
}

/// Bytes that nothing refers to.
fn dead(printer: &mut Printer<'_>, found: &Found, range: core::ops::Range<u64>) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let len = range.end - range.start;
    let bytes = read(found, range.start, len.min(super::SHOWN_TO_PROGRAMS as u64))?;
    printer.section("dead bytes", &format!(", {len} bytes"))?;
    printer.span(&Span {
        offset: range.start,
        len,
        bytes: &bytes,
        name: "dead",
        value: Value::Null,
    })
}

fn index(printer: &mut Printer<'_>, found: &Found, schunk: &SChunk) -> Result<()> {
    let (len, limit) = (schunk.index_len(), printer.cx.memory());
    memory::check(len, limit)?;
    // The data section of a sparse frame is empty: its chunks are files.
    let data = if is_sparse(schunk) { 0 } else { schunk.cbytes() };
    let at = found.at + u64::from(schunk.header().header_len()) + data;
    printer.section("index", &format!(", {len} bytes: a chunk of {} offsets", schunk.nchunks()))?;
    chunk::spans(printer, &read(found, at, len)?, at)
}

fn trailer(printer: &mut Printer<'_>, found: &Found, schunk: &SChunk) -> Result<()> {
    let (len, limit) = (schunk.trailer_len(), printer.cx.memory());
    memory::check(len, limit)?;
    let at = found.at + schunk.frame_len() - len;
    let bytes = read(found, at, len)?;
    printer.section("trailer", &format!(", {len} bytes"))?;
    printer.piece(at, bytes.get(..1).unwrap_or_default(), "array", elements(&bytes))?;
    let version = bytes.get(1..2).unwrap_or_default();
    printer.piece(at + 1, version, "trailer version", byte(version))?;
    let end = bytes.len().saturating_sub(size_of::<RawTrailerEnd>());
    let layers = bytes.get(2..end).unwrap_or_default();
    Layers { printer, bytes: layers, at: 0, offset: at + 2, decoded: false }.all()?;
    let fixed = bytes.get(end..).unwrap_or_default();
    printer.raw_fields(RawTrailerEnd::FIELDS, MEANINGS, fixed, at + end as u64)
}

/// Up to `len` bytes from `at` of the file.
fn read(found: &Found, at: u64, len: u64) -> Result<Vec<u8>> {
    let there = found.store.len().map_err(Error::io(Doing::Open))?.saturating_sub(at);
    let mut bytes = vec![0; usize::try_from(len.min(there)).unwrap_or_default()];
    found.store.read_exact_at(at, &mut bytes).map_err(Error::io(Doing::Read))?;
    Ok(bytes)
}

/// A walk over a metalayer section, up to bytes that are no such section.
struct Layers<'p, 'c, 'b> {
    printer: &'p mut Printer<'c>,
    bytes: &'b [u8],
    at: usize,
    /// Where `bytes` start in the file.
    offset: u64,
    /// The contents are values, and not chunks.
    decoded: bool,
}

/// Why a walk ends before the end of the section.
enum Stop {
    /// The bytes are no such section.
    NotUnderstood,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl<'b> Layers<'_, '_, 'b> {
    fn all(mut self) -> Result<()> {
        let name = match self.walk() {
            Ok(()) => "unused",
            Err(Stop::NotUnderstood) => "not understood",
            Err(Stop::Error(error)) => return Err(error),
        };
        match self.bytes.get(self.at..) {
            Some(rest) if !rest.is_empty() => self.show(rest, name, Value::Null),
            _ => Ok(()),
        }
    }

    fn walk(&mut self) -> Result<(), Stop> {
        self.take(0x93, 1, "section", elements)?;
        self.take(0xcd, 3, "idx_size", marked)?;
        let nlayers = self.take(0xde, 3, "names", count)?;
        let mut names = Vec::new();
        for _ in 0..nlayers.as_u64().unwrap_or(0) {
            let name = self.name()?;
            self.take(0xd2, 5, &format!("{name}: position"), marked)?;
            names.push(name);
        }
        self.take(0xdc, 3, "contents", count)?;
        for name in names {
            let len = self.take(0xc6, 5, &format!("{name}: length"), bin_len)?;
            let content = self.next(len.as_u64().map_or(usize::MAX, memory::as_len))?;
            let value = if self.decoded { msgpack_json::to_json(content) } else { Value::Null };
            self.show(content, &format!("{name}: content"), value)?;
        }
        Ok(())
    }

    /// A short string.
    fn name(&mut self) -> Result<String, Stop> {
        let len = match self.next(1)? {
            [marker @ 0xa1..=0xbf] => usize::from(marker & 0x1f),
            _ => return Err(Stop::NotUnderstood),
        };
        let bytes = self.next(1 + len)?;
        let name = bytes[1..].escape_ascii().to_string();
        self.show(bytes, "name", name.as_str())?;
        Ok(name)
    }

    /// `len` bytes that begin with `marker`.
    fn take(
        &mut self,
        marker: u8,
        len: usize,
        name: &str,
        means: fn(&[u8]) -> Value,
    ) -> Result<Value, Stop> {
        let bytes = self.next(len)?;
        if bytes.first() != Some(&marker) {
            return Err(Stop::NotUnderstood);
        }
        let value = means(bytes);
        self.show(bytes, name, value.clone())?;
        Ok(value)
    }

    /// The next `len` bytes.
    fn next(&self, len: usize) -> Result<&'b [u8], Stop> {
        self.bytes.get(self.at..self.at.saturating_add(len)).ok_or(Stop::NotUnderstood)
    }

    /// Shows the next bytes.
    fn show(&mut self, bytes: &[u8], name: &str, value: impl Into<Value>) -> Result<()> {
        self.printer.piece(self.offset + self.at as u64, bytes, name, value)?;
        self.at += bytes.len();
        Ok(())
    }
}

/// The number of elements after the marker of a map or an array.
fn count(bytes: &[u8]) -> Value {
    let number = bytes.get(1..).and_then(<[u8]>::first_chunk);
    number.map_or(Value::Null, |n| u16::from_be_bytes(*n).into())
}

/// The length after the marker of a byte string.
fn bin_len(bytes: &[u8]) -> Value {
    let number = bytes.get(1..).and_then(<[u8]>::first_chunk);
    number.map_or(Value::Null, |n| u32::from_be_bytes(*n).into())
}

fn elements(bytes: &[u8]) -> Value {
    bytes.first().map_or(Value::Null, |marker| format!("{} elements", marker & 0xf).into())
}

fn general_flags(bytes: &[u8]) -> Value {
    let Some(&byte) = bytes.first() else { return Value::Null };
    let set = bits(byte, &[(0x40, "variable chunks"), (0x80, "VL-blocks")]);
    let set = if set == "none" { String::new() } else { format!(", {set}") };
    format!("version {}, offsets of {} bits{set}", byte & 0xf, 32u32 << (byte >> 4 & 3)).into()
}

fn frame_type(bytes: &[u8]) -> Value {
    match bytes {
        [0] => "contiguous".into(),
        [1] => "sparse".into(),
        _ => Value::Null,
    }
}

fn codec_and_level(bytes: &[u8]) -> Value {
    let Some(&byte) = bytes.first() else { return Value::Null };
    let name = if byte & 0xf == 6 { "as udcodec says".into() } else { codec(&[byte & 0xf]) };
    let name = name.as_str().map(str::to_owned).unwrap_or_default();
    format!("{name}, level {}", byte >> 4).into()
}

fn split_mode(bytes: &[u8]) -> Value {
    let mode = bytes.first().map(|byte| usize::from(byte & 3));
    let mode =
        mode.and_then(|mode| ["always", "never", "automatic", "forward compatible"].get(mode));
    mode.map_or(Value::Null, |mode| format!("split {mode}").into())
}

fn other_flags2(bytes: &[u8]) -> Value {
    bytes.first().map_or(Value::Null, |byte| bits(*byte, &[(1, "dictionary")]).into())
}

/// Bytes of the header without metalayers.
const FIXED_LEN: u64 = size_of::<RawHeader>() as u64;

/// Bytes of a header that are shown at most: 16 metalayers of reasonable size.
const MAX_SECTION: u64 = 16 << 20;

/// Meanings of the fields of header and trailer.
const MEANINGS: &[Meaning] = &[
    ("array", elements),
    ("general_flags", general_flags),
    ("frame_type", frame_type),
    ("codec", codec_and_level),
    ("other_flags", split_mode),
    ("has_vlmeta", boolean),
    ("filters", filters),
    ("udcodec", codec),
    ("other_flags2", other_flags2),
    ("fingerprint_type", byte),
];
