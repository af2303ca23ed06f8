//! Our own decoder: frames, their blocks, and the dictionary.
//!
//! The whole destination exists from the start, so there is no window: matches are copied within
//! the destination. Tables are kept between streams.

use alloc::boxed::Box;

use xxhash_rust::xxh64::xxh64;

use super::{
    Result,
    block::Block,
    dict::Dict,
    fault::{Fault, corrupt, truncated},
    header::{self, BlockHeader, BlockKind, FrameHeader},
    sequences::Output,
};
use crate::{CodecId, Corrupt, Error, Simd, StreamDecoder};

/// A frame has at least this many bytes.
const MIN_NBYTES: usize = 5;

/// The decoder; keeps its tables between streams.
pub(super) struct Decoder {
    dict: Option<Box<Dict>>,
    block: Block,
}

impl Decoder {
    pub(super) fn new(dict: Option<&[u8]>, simd: Simd) -> Result<Self> {
        let dict = dict.filter(|dict| !dict.is_empty()).map(Dict::new).transpose()?;
        Ok(Self { dict: dict.map(Box::new), block: Block::new(simd) })
    }

    /// Decodes the frame at `at` to the start of `dest`; returns its end, and the number of decoded
    /// bytes.
    fn decode_frame(&mut self, src: &[u8], at: usize, dest: &mut [u8]) -> Result<(usize, usize)> {
        let header = FrameHeader::read(src, at)?;
        let given = self.dict.as_ref().map_or(0, |dict| dict.id);
        if header.dict != 0 && header.dict != given {
            return Err(Fault::Dictionary { needed: header.dict, given }.into_error(at));
        }
        let room = dest.len();
        if let Some(nbytes) = header.nbytes.filter(|&nbytes| nbytes > room as u64) {
            return Err(corrupt(at, Corrupt::TooLong { nbytes, room }));
        }
        let dict = self.dict.as_deref();
        self.block.begin(dict);
        let mut output = Output { dest, done: 0, dict: dict.map_or(&[], |dict| &dict.bytes) };
        let end = decode_blocks(&mut self.block, dict, src, &header, &mut output)?;
        let nbytes = output.done;
        if let Some(stated) = header.nbytes.filter(|&stated| stated != nbytes as u64) {
            return Err(Fault::ContentSize { nbytes, stated }.into_error(end));
        }
        if !header.has_checksum {
            return Ok((end, nbytes));
        }
        let stated = header::number32(src, end)?;
        let [a, b, c, d, ..] = xxh64(&dest[..nbytes], 0).to_le_bytes();
        let found = u32::from_le_bytes([a, b, c, d]);
        if found != stated {
            return Err(Fault::Checksum { found, stated }.into_error(end));
        }
        Ok((end + 4, nbytes))
    }
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        refuse_legacy(src)?;
        let (mut at, mut done) = (0, 0);
        while src.len() - at >= MIN_NBYTES {
            if let Some(end) = header::skippable_end(src, at)? {
                at = end;
                continue;
            }
            let (end, nbytes) = self.decode_frame(src, at, &mut dest[done..])?;
            at = end;
            done += nbytes;
        }
        match src.len() - at {
            0 if done == dest.len() => Ok(()),
            0 => Err(corrupt(at, Corrupt::TooShort { nbytes: done, expected: dest.len() })),
            have if at == 0 => Err(truncated(0, MIN_NBYTES, have)),
            extra => Err(corrupt(at, Corrupt::Trailing { extra })),
        }
    }
}

/// Decodes all blocks of a frame; returns their end.
fn decode_blocks(
    block: &mut Block,
    dict: Option<&Dict>,
    src: &[u8],
    header: &FrameHeader,
    output: &mut Output<'_>,
) -> Result<usize> {
    let mut at = header.end;
    loop {
        let BlockHeader { kind, nbytes, is_last } = BlockHeader::read(src, at)?;
        at += BlockHeader::NBYTES;
        let need = if matches!(kind, BlockKind::Run) { 1 } else { nbytes };
        let end = at + need;
        let bytes = src.get(at..end).ok_or_else(|| truncated(at, need, src.len() - at))?;
        match kind {
            BlockKind::Raw => output.copy(bytes, at)?,
            BlockKind::Run => output.next(nbytes, at)?.fill(bytes.first().copied().unwrap_or(0)),
            BlockKind::Compressed => {
                check_block(nbytes, header.max_block, at)?;
                let before = output.done;
                block.decode(dict, src, at..end, header.max_block, output)?;
                // The excess is still within the destination.
                check_block(output.done - before, header.max_block, at)?;
            }
        }
        at = end;
        if is_last {
            return Ok(at);
        }
    }
}

fn check_block(nbytes: usize, limit: usize, at: usize) -> Result<()> {
    if nbytes > limit { Err(Fault::BlockSize { nbytes, limit }.into_error(at)) } else { Ok(()) }
}

/// Refuses frames from before the final format, which have another magic number.
fn refuse_legacy(src: &[u8]) -> Result<()> {
    let name = match src {
        [0x27, 0xB5, 0x2F, 0xFD, ..] => "a frame of zstd 0.7",
        [0x26, 0xB5, 0x2F, 0xFD, ..] => "a frame of zstd 0.6",
        [0x25, 0xB5, 0x2F, 0xFD, ..] => "a frame of zstd 0.5",
        _ => return Ok(()),
    };
    Err(Error::Unsupported {
        id: CodecId::ZSTD,
        name,
        needs: "a decoder for zstd frames from before 1.0",
    })
}
