//! Filters that stand beside those of Blosc in the files of h5py and hdf5plugin.
//!
//! | filter | a stored chunk is | `client_data` |
//! |---|---|---|
//! | 32000, LZF | one stream of LZF | revision, version, bytes of a chunk |
//! | 32004, LZ4 | bytes of data, bytes of a block, then length and stream of each block | bytes of a block |
//! | 32008, bitshuffle | blocks of transposed bits, as LZ4 or Zstandard or as they are | version (2), itemsize, items of a block, 0 or 2 for LZ4 or 3 for Zstandard |
//! | 32015, Zstandard | one frame of Zstandard | level |
//!
//! Numbers in chunks have their first byte first. Like those of Blosc, these functions take no more
//! memory than `max_nbytes`.

use blosc_codecs::{CodecId, Corrupt, DecodeOptions, Registry, StreamDecoder};
use blosc_filters::{BitshuffleRule, bitunshuffle};

use crate::{Error, Result, check};

/// The filter of h5py.
pub const FILTER_LZF: u16 = 32000;
/// The filter that stores blocks of LZ4.
pub const FILTER_LZ4: u16 = 32004;
/// The filter that transposes the bits of items.
pub const FILTER_BITSHUFFLE: u16 = 32008;
/// The filter that stores frames of Zstandard.
pub const FILTER_ZSTD: u16 = 32015;

/// Most bytes that a stream of LZ4 gives for one of its own, and one of LZF for two.
const MAX_EXPANSION: u64 = 256;

fn damaged(filter: u16, what: &'static str) -> Error {
    Error::Other { filter, what }
}

/// The bytes of a stream, one after the other.
struct Input<'a> {
    bytes: &'a [u8],
    filter: u16,
}

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let cut = damaged(self.filter, "it ends too early");
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(cut)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<usize> {
        Ok(self.take(1)?.iter().copied().fold(0, |_, byte| usize::from(byte)))
    }

    /// A number of some bytes, the first of which is the highest.
    fn number(&mut self, len: usize) -> Result<u64> {
        let add = |number: u64, byte: &u8| number.wrapping_shl(8) | u64::from(*byte);
        Ok(self.take(len)?.iter().fold(0, add))
    }
}

/// Decodes a chunk that filter 32000 stored.
///
/// # Errors
///
/// [`Error::Other`], [`Error::TooLong`].
pub fn decode_lzf(stored: &[u8], client_data: &[u32], max_nbytes: u64) -> Result<Vec<u8>> {
    let nbytes = client_data.get(2).map_or(max_nbytes, |nbytes| u64::from(*nbytes).min(max_nbytes));
    let mut input = Input { bytes: stored, filter: FILTER_LZF };
    let mut data = Vec::new();
    while !input.bytes.is_empty() {
        let control = input.u8()?;
        if control < 32 {
            let literals = input.take(control.saturating_add(1))?;
            data.extend_from_slice(literals);
        } else {
            let mut len = control >> 5;
            if len == 7 {
                len = len.saturating_add(input.u8()?);
            }
            let distance = (control & 31).wrapping_shl(8) | input.u8()?;
            let far = damaged(FILTER_LZF, "a reference to before the start");
            let start = data.len().checked_sub(distance.saturating_add(1)).ok_or(far)?;
            for at in start..start.saturating_add(len).saturating_add(2) {
                let byte = data.get(at).copied();
                data.extend(byte);
            }
        }
        check(data.len() as u64, nbytes)?;
    }
    Ok(data)
}

/// Decodes a chunk that filter 32015 stored. A frame need not say how many bytes it gives: then
/// more and more room is tried.
///
/// # Errors
///
/// [`Error::Codec`], [`Error::TooLong`].
pub fn decode_zstd(stored: &[u8], _client_data: &[u32], max_nbytes: u64) -> Result<Vec<u8>> {
    let mut decoder = decoder(FILTER_ZSTD, CodecId::ZSTD)?;
    let mut room = (stored.len() as u64).saturating_mul(8).max(1 << 16).min(max_nbytes);
    loop {
        let mut data = vec![0; usize::try_from(room).unwrap_or(usize::MAX)];
        let error = match decoder.decode(stored, &mut data) {
            Ok(()) => return Ok(data),
            Err(error) => error,
        };
        let next = match &error {
            blosc_codecs::Error::Corrupt { what: Corrupt::TooShort { nbytes, .. }, .. } => {
                *nbytes as u64
            }
            blosc_codecs::Error::Corrupt { what: Corrupt::TooLong { nbytes, .. }, .. } => {
                (*nbytes).max(room.saturating_mul(2).min(max_nbytes))
            }
            _ => room,
        };
        if next == room {
            return Err(of_codec(FILTER_ZSTD)(error));
        }
        check(next, max_nbytes)?;
        room = next;
    }
}

fn decoder(filter: u16, codec: CodecId) -> Result<Box<dyn StreamDecoder>> {
    let registry = Registry::builtin();
    let codec = registry.require(codec).map_err(of_codec(filter))?;
    codec.new_decoder(&DecodeOptions::default()).map_err(of_codec(filter))
}

fn of_codec(filter: u16) -> impl FnOnce(blosc_codecs::Error) -> Error {
    move |source| Error::Codec { filter, source }
}

/// Bytes of data and of a block, which a chunk begins with; the bytes that are left to decode are
/// enough for as many.
fn sizes(input: &mut Input<'_>, max_nbytes: u64, expansion: u64) -> Result<(usize, usize)> {
    let (nbytes, blocksize) = (input.number(8)?, input.number(4)?);
    check(nbytes, max_nbytes)?;
    check(nbytes, (input.bytes.len() as u64).saturating_mul(expansion))?;
    let narrow = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    match blocksize {
        0 if nbytes > 0 => Err(damaged(input.filter, "blocks without a byte")),
        _ => Ok((narrow(nbytes), narrow(blocksize))),
    }
}

/// Decodes a chunk that filter 32004 stored.
///
/// # Errors
///
/// [`Error::Other`], [`Error::Codec`], [`Error::TooLong`].
pub fn decode_lz4(stored: &[u8], _client_data: &[u32], max_nbytes: u64) -> Result<Vec<u8>> {
    let mut input = Input { bytes: stored, filter: FILTER_LZ4 };
    let (nbytes, blocksize) = sizes(&mut input, max_nbytes, MAX_EXPANSION)?;
    let mut decoder = decoder(FILTER_LZ4, CodecId::LZ4)?;
    let mut data = vec![0; nbytes];
    for block in data.chunks_mut(blocksize.max(1)) {
        let len = usize::try_from(input.number(4)?).unwrap_or(usize::MAX);
        let stream = input.take(len)?;
        if len == block.len() {
            block.copy_from_slice(stream);
        } else {
            decoder.decode(stream, block).map_err(of_codec(FILTER_LZ4))?;
        }
    }
    Ok(data)
}

/// Items of a block where the writer chose: as many as 8 KiB have, in groups of eight.
fn items_of_block(itemsize: usize) -> usize {
    let items = 8192_usize.checked_div(itemsize).unwrap_or(0);
    (items / 8).saturating_mul(8).max(128)
}

/// Decodes a chunk that filter 32008 stored.
///
/// # Errors
///
/// [`Error::Other`], [`Error::Codec`], [`Error::TooLong`].
pub fn decode_bitshuffle(stored: &[u8], client_data: &[u32], max_nbytes: u64) -> Result<Vec<u8>> {
    let parameter = |n: usize| {
        let value = client_data.get(n).copied().unwrap_or(0);
        usize::try_from(value).unwrap_or(usize::MAX)
    };
    let itemsize = parameter(2).max(1);
    let items = match parameter(3) {
        0 => items_of_block(itemsize),
        items => items,
    };
    let codec = match parameter(4) {
        0 => None,
        2 => Some(CodecId::LZ4),
        3 => Some(CodecId::ZSTD),
        _ => return Err(damaged(FILTER_BITSHUFFLE, "a compressor of another number")),
    };
    let mut input = Input { bytes: stored, filter: FILTER_BITSHUFFLE };
    let Some(codec) = codec else {
        check(stored.len() as u64, max_nbytes)?;
        let mut data = vec![0; stored.len()];
        unshuffle(stored, &mut data, itemsize, items.saturating_mul(itemsize));
        return Ok(data);
    };
    // Zstandard has no such limit; the size of the chunk is one.
    let expansion = if codec == CodecId::LZ4 { MAX_EXPANSION } else { u64::MAX };
    let (nbytes, blocksize) = sizes(&mut input, max_nbytes, expansion)?;
    let mut decoder = decoder(FILTER_BITSHUFFLE, codec)?;
    let mut shuffled = vec![0; nbytes];
    // Items that are no group of eight stand at the end as they are.
    let rest = nbytes.checked_rem(itemsize.saturating_mul(8)).unwrap_or(0);
    let grouped = nbytes.saturating_sub(rest);
    let (blocks, rest) = shuffled.split_at_mut_checked(grouped).unwrap_or_default();
    for block in blocks.chunks_mut(blocksize.max(1)) {
        let len = usize::try_from(input.number(4)?).unwrap_or(usize::MAX);
        decoder.decode(input.take(len)?, block).map_err(of_codec(FILTER_BITSHUFFLE))?;
    }
    rest.copy_from_slice(input.take(rest.len())?);
    let mut data = vec![0; nbytes];
    unshuffle(&shuffled, &mut data, itemsize, blocksize);
    Ok(data)
}

/// Undoes the transposing, block by block.
fn unshuffle(shuffled: &[u8], data: &mut [u8], itemsize: usize, blocksize: usize) {
    let size = blocksize.max(1);
    for (from, to) in shuffled.chunks(size).zip(data.chunks_mut(size)) {
        bitunshuffle(itemsize, BitshuffleRule::Blosc2, from, to);
    }
}
