//! The spans of a chunk: header, block starts, dictionary, blocks and their streams.

use blosc_chunk::{
    Chunk, ChunkHeader, Special,
    block::{BlockRef, StreamKind, StreamRef},
    raw::{Blosc2Flags, Blosc2Flags2, RawExtension, RawHeader},
};
use serde_json::Value;

use super::{
    Printer, Span,
    fields::{Meaning, bits, chunk_flags, codec, filters, signed_le},
};
use crate::{
    error::{Error, Result},
    formats::BareChunk,
};

/// A chunk that is a file of its own.
pub(super) fn bare(printer: &mut Printer<'_>, chunk: &BareChunk) -> Result<()> {
    let bytes = chunk.bytes(printer.cx.memory())?;
    printer.section("chunk", &format!(", {} bytes", chunk.stored()))?;
    spans(printer, &bytes, chunk.offset())
}

/// The chunk `bytes`, which starts at `offset` of the file.
pub(super) fn spans(printer: &mut Printer<'_>, bytes: &[u8], offset: u64) -> Result<()> {
    printer.raw_fields(RawHeader::FIELDS, MEANINGS, bytes, offset)?;
    let wrong = |source| Error::Chunk { at: offset, source };
    let header = match ChunkHeader::parse(bytes) {
        Ok(header) => header,
        Err(error) => return printer.problem(&wrong(error)),
    };
    if header.is_extended() {
        printer.raw_fields(RawExtension::FIELDS, MEANINGS, bytes, offset)?;
    }
    if header.is_lazy() {
        return lazy(printer, &header, bytes, offset);
    }
    match Chunk::parse(bytes) {
        Ok(chunk) => body(printer, &chunk, offset),
        Err(error) => printer.problem(&wrong(error)),
    }
}

fn body(printer: &mut Printer<'_>, chunk: &Chunk<'_>, offset: u64) -> Result<()> {
    let header_len = chunk.header().header_len();
    let rest = chunk.bytes().get(header_len..).unwrap_or_default();
    if chunk.nblocks() == 0 {
        let name = match chunk.special() {
            Some(Special::Value(_)) => "value",
            _ if chunk.header().is_memcpyed() => "data",
            _ => "unused",
        };
        return if rest.is_empty() {
            Ok(())
        } else {
            printer.piece(offset + header_len as u64, rest, name, Value::Null)
        };
    }
    for (nblock, bstart) in rest.chunks_exact(4).take(chunk.nblocks()).enumerate() {
        let at = offset + (header_len + 4 * nblock) as u64;
        printer.piece(at, bstart, &format!("bstart {nblock}"), signed_le(bstart))?;
    }
    dict(printer, chunk, offset)?;
    let wrong = |source| Error::Chunk { at: offset, source };
    let blocks = match chunk.blocks() {
        Ok(blocks) => blocks,
        Err(error) => return printer.problem(&wrong(error)),
    };
    for block in blocks {
        match block {
            Ok(block) => streams(printer, chunk, &block, offset)?,
            Err(error) => printer.problem(&wrong(error))?,
        }
    }
    Ok(())
}

fn dict(printer: &mut Printer<'_>, chunk: &Chunk<'_>, offset: u64) -> Result<()> {
    let Some(dict) = chunk.dict() else { return Ok(()) };
    let at = chunk.header().header_len() + 4 * chunk.nblocks();
    let size = chunk.bytes().get(at..at + 4).unwrap_or_default();
    printer.piece(offset + at as u64, size, "dictionary size", signed_le(size))?;
    printer.piece(offset + at as u64 + 4, dict, "dictionary", Value::Null)
}

fn streams(
    printer: &mut Printer<'_>,
    chunk: &Chunk<'_>,
    block: &BlockRef,
    offset: u64,
) -> Result<()> {
    for (nstream, stream) in block.streams().iter().enumerate() {
        let several = block.streams().len() > 1;
        let name = if several { format!(" stream {nstream}") } else { String::new() };
        let name = format!("block {}{name}", block.nblock());
        let at = stream.offset;
        let size = chunk.bytes().get(at..at + 4).unwrap_or_default();
        printer.piece(offset + at as u64, size, &format!("{name} csize"), signed_le(size))?;
        payload(printer, chunk, stream, &name, offset)?;
    }
    Ok(())
}

/// The bytes after the size of a stream: stored bytes, or the token of a run, or nothing.
fn payload(
    printer: &mut Printer<'_>,
    chunk: &Chunk<'_>,
    stream: &StreamRef,
    name: &str,
    offset: u64,
) -> Result<()> {
    let end = stream.offset + stream.cbytes();
    let bytes = chunk.bytes().get(stream.offset + 4..end).unwrap_or_default();
    let nbytes = stream.nbytes;
    let what = match stream.kind {
        StreamKind::Stored => format!("stored, {nbytes} bytes"),
        StreamKind::Coded => format!("{} for {nbytes} bytes", chunk.header().codec_id()),
        StreamKind::Run(value) => format!("{nbytes} bytes of {value:#04x}"),
    };
    let at = offset + stream.offset as u64 + 4;
    printer.span(&Span { offset: at, len: bytes.len() as u64, bytes, name, value: what.into() })
}

/// A lazy chunk has no blocks, but a list of their sizes and its position in the frame.
fn lazy(printer: &mut Printer<'_>, header: &ChunkHeader, bytes: &[u8], offset: u64) -> Result<()> {
    let start = header.header_len();
    let table = 4 * header.nblocks();
    let fields = [
        ("block starts", table),
        ("number", 4),
        ("position in the frame", 8),
        ("block sizes", table),
    ];
    let mut at = start;
    for (name, len) in fields {
        let piece = bytes.get(at..at + len).unwrap_or_default();
        let value = if len == 4 { signed_le(piece) } else { Value::Null };
        printer.piece(offset + at as u64, piece, name, value)?;
        at += len;
    }
    Ok(())
}

fn flags2(bytes: &[u8]) -> Value {
    bytes.first().map_or(Value::Null, |byte| bits(*byte, &[(Blosc2Flags2::VL, "VL-blocks")]).into())
}

fn blosc2_flags(bytes: &[u8]) -> Value {
    let Some(&byte) = bytes.first() else { return Value::Null };
    let names = [
        (Blosc2Flags::DICT, "dictionary"),
        (Blosc2Flags::BIG_ENDIAN, "big-endian writer"),
        (Blosc2Flags::LAZY, "lazy"),
        (Blosc2Flags::INSTRUMENTED, "instrumented"),
    ];
    let set = bits(byte, &names);
    match Blosc2Flags(byte).special_code() {
        0 => set.into(),
        code => {
            let kind = ["", "zeros", "NaN", "one value", "uninitialised"]
                .get(usize::from(code))
                .unwrap_or(&"?");
            let set = if set == "none" { String::new() } else { format!("{set}, ") };
            format!("{set}special kind {code}: {kind}").into()
        }
    }
}

/// Meanings of the codes of a header.
const MEANINGS: &[Meaning] = &[
    ("flags", chunk_flags),
    ("filters", filters),
    ("udcodec", codec),
    ("blosc2_flags2", flags2),
    ("blosc2_flags", blosc2_flags),
];
