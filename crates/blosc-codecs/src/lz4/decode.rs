//! Decoding an LZ4 block of known decoded length. The safe half; [`decode_fast`] stops where a
//! margin begins or a sequence is doubtful, and this half goes on.

use super::{Lz4, MIN_MATCH};
use crate::{
    CodecId, Corrupt, Error, Simd,
    lz::{
        copy_match,
        fast_decode::{MARGIN, decode_fast},
        input::Input,
    },
};

/// Decompresses an LZ4 block. Succeeds only if it decodes to exactly `dest.len()` bytes; an error
/// has the position of the defect in `src`. Offsets may reach into `dict`, whose last byte is right
/// before the output. `UNCACHED` is for a destination that is mostly outside of the cache.
pub(super) fn decode<const UNCACHED: bool>(
    simd: Simd,
    src: &[u8],
    dest: &mut [u8],
    dict: &[u8],
) -> Result<(), Error> {
    // The fast half decodes almost everything, but does not support a dictionary.
    let (at, done) =
        if dict.is_empty() { decode_fast::<Lz4, UNCACHED>(simd, src, dest) } else { (0, 0) };
    finish(src, at, dest, done, dict, usize::MAX)
}

/// As [`decode`], but stops as soon as the first `wanted` bytes of `dest` are right.
/// The rest of the block is not checked then.
pub(super) fn decode_prefix(
    simd: Simd,
    src: &[u8],
    dest: &mut [u8],
    wanted: usize,
    dict: &[u8],
) -> Result<(), Error> {
    let near = wanted.saturating_add(MARGIN).min(dest.len());
    let (at, done) = if dict.is_empty() {
        decode_fast::<Lz4, false>(simd, src, &mut dest[..near])
    } else {
        (0, 0)
    };
    if done >= wanted { Ok(()) } else { finish(src, at, dest, done, dict, wanted) }
}

/// As the decoder, with the safe half only; for the fuzz targets.
///
/// # Errors
///
/// As the decoder.
#[cfg(fuzzing)]
pub fn decompress_safely(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    finish(src, 0, dest, 0, &[], usize::MAX)
}

/// Decodes from the sequence at `src[at..]`, which writes to `dest[done..]`, to the end of the
/// block, or until the first `until` bytes of `dest` are written.
fn finish(
    src: &[u8],
    at: usize,
    dest: &mut [u8],
    mut done: usize,
    dict: &[u8],
    until: usize,
) -> Result<(), Error> {
    let mut input = Input { codec: CodecId::LZ4, src, at };
    loop {
        let token = input.read_byte(1)?;
        let nliterals = input.read_length(token >> 4, dest.len() - done)?;
        done = input.copy_literals(nliterals, dest, done)?;
        if input.at == src.len() {
            break;
        }
        let start = input.at;
        let distance = input.read_offset()?;
        let len = input.read_length(token & 15, dest.len() - done)? + MIN_MATCH;
        input.check_match(start, (distance, done + dict.len()), len, dest, done)?;
        let len = len.min(until.saturating_sub(done));
        let from_dict = copy_from_dict(dict, dest, done, distance, len);
        if from_dict < len {
            copy_match(dest, done + from_dict, distance, len - from_dict);
        }
        done += len;
        if done >= until {
            return Ok(());
        }
    }
    input.check_end(dest, done)
}

/// Copies the part of a match that lies in the dictionary; returns its length (bytes).
#[inline(always)]
fn copy_from_dict(dict: &[u8], dest: &mut [u8], done: usize, distance: usize, len: usize) -> usize {
    if distance <= done {
        return 0;
    }
    let from = &dict[dict.len() - (distance - done)..];
    let n = from.len().min(len);
    dest[done..done + n].copy_from_slice(&from[..n]);
    n
}

impl Input<'_> {
    #[inline(always)]
    fn read_offset(&mut self) -> Result<usize, Error> {
        let have = self.src.len() - self.at;
        let Some(&[low, high]) = self.src.get(self.at..self.at + 2) else {
            return Err(self.corrupt(self.at, Corrupt::Truncated { need: 2, have }));
        };
        self.at += 2;
        Ok(usize::from(u16::from_le_bytes([low, high])))
    }

    /// A length whose first four bits are `nibble`; stops reading once the length exceeds `room`.
    #[inline(always)]
    fn read_length(&mut self, nibble: u8, room: usize) -> Result<usize, Error> {
        let len = usize::from(nibble);
        if nibble < 15 { Ok(len) } else { self.add_to_length(len, room, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Codec as _,
        lz::tests::{assert_prefixes_agree, assert_twins_agree},
    };

    #[test]
    fn the_safe_half_agrees_on_any_stream() {
        for simd in Simd::available() {
            assert_twins_agree(
                |options| Lz4::FAST.new_encoder(options),
                |src, dest| decode::<false>(simd, src, dest, &[]),
                |src, dest| finish(src, 0, dest, 0, &[], usize::MAX),
            );
        }
    }

    #[test]
    fn prefetching_changes_nothing() {
        assert_twins_agree(
            |options| Lz4::FAST.new_encoder(options),
            |src, dest| decode::<true>(Simd::detect(), src, dest, &[]),
            |src, dest| decode::<false>(Simd::detect(), src, dest, &[]),
        );
    }

    #[test]
    fn a_prefix_is_the_start_of_the_whole() {
        assert_prefixes_agree(
            |options| Lz4::FAST.new_encoder(options),
            |src, dest, wanted| decode_prefix(Simd::detect(), src, dest, wanted, &[]),
        );
    }
}
