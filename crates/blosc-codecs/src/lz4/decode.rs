//! Decoding an LZ4 block of known plain length. The safe half; [`decode_fast`] hands over where a
//! margin begins or a sequence is doubtful.

use super::{Lz4, MIN_MATCH, corrupt};
use crate::{
    Corrupt, Error, Simd,
    lz::{
        copy_match,
        fast_decode::{MARGIN, decode_fast},
    },
};

/// Decompresses an LZ4 block. Succeeds only if exactly `dest.len()` bytes come out; an error has
/// the position in `src` where it went wrong. Offsets may reach into `dict`, the last byte of which
/// is right before the output. With `UNCACHED`, for a destination that is hardly in the cache.
pub(super) fn decode<const UNCACHED: bool>(
    simd: Simd,
    src: &[u8],
    dest: &mut [u8],
    dict: &[u8],
) -> Result<(), Error> {
    // The fast half does nearly all of it, but knows no dictionary.
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

/// As the decoder, by the safe half alone; for the fuzz targets.
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
    let mut input = Input { src, at };
    loop {
        let token = input.read_byte()?;
        let nliterals = input.read_length(token >> 4, dest.len() - done)?;
        done = input.copy_literals(nliterals, dest, done)?;
        if input.at == src.len() {
            break;
        }
        let start = input.at;
        let distance = input.read_offset()?;
        let len = input.read_length(token & 15, dest.len() - done)? + MIN_MATCH;
        if distance == 0 || distance > done + dict.len() {
            return Err(corrupt(
                start,
                Corrupt::Distance { distance, available: done + dict.len() },
            ));
        }
        if len > dest.len() - done {
            return Err(corrupt(start, too_long(done, len, dest)));
        }
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
    if done < dest.len() {
        return Err(corrupt(src.len(), Corrupt::TooShort { nbytes: done, expected: dest.len() }));
    }
    Ok(())
}

/// Copies the part of a match that lies in the dictionary; its length (bytes).
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

/// The block, read up to `at`.
struct Input<'a> {
    src: &'a [u8],
    at: usize,
}

impl Input<'_> {
    #[inline(always)]
    fn read_byte(&mut self) -> Result<u8, Error> {
        let byte = *self
            .src
            .get(self.at)
            .ok_or_else(|| corrupt(self.at, Corrupt::Truncated { need: 1, have: 0 }))?;
        self.at += 1;
        Ok(byte)
    }

    #[inline(always)]
    fn read_offset(&mut self) -> Result<usize, Error> {
        let have = self.src.len() - self.at;
        let Some(&[low, high]) = self.src.get(self.at..self.at + 2) else {
            return Err(corrupt(self.at, Corrupt::Truncated { need: 2, have }));
        };
        self.at += 2;
        Ok(usize::from(u16::from_le_bytes([low, high])))
    }

    /// A length whose first four bits are `nibble`; stops reading once it exceeds `room`.
    #[inline(always)]
    fn read_length(&mut self, nibble: u8, room: usize) -> Result<usize, Error> {
        let mut len = usize::from(nibble);
        if nibble < 15 {
            return Ok(len);
        }
        loop {
            let more = self.read_byte()?;
            len += usize::from(more);
            if more != u8::MAX || len > room {
                return Ok(len);
            }
        }
    }

    #[inline(always)]
    fn copy_literals(&mut self, len: usize, dest: &mut [u8], done: usize) -> Result<usize, Error> {
        let from = self.at;
        let have = self.src.len() - from;
        if len > dest.len() - done {
            return Err(corrupt(from, too_long(done, len, dest)));
        }
        let run = self
            .src
            .get(from..from + len)
            .ok_or_else(|| corrupt(from, Corrupt::Truncated { need: len, have }))?;
        dest[done..done + len].copy_from_slice(run);
        self.at += len;
        Ok(done + len)
    }
}

fn too_long(done: usize, len: usize, dest: &[u8]) -> Corrupt {
    Corrupt::TooLong { nbytes: done as u64 + len as u64, room: dest.len() }
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
