//! Decoding an LZ4 block of known plain length.

use super::{Lz4, MIN_MATCH, corrupt};
use crate::{
    Corrupt, Error,
    lz::{copy_match, wild},
};

/// Decompresses an LZ4 block. Succeeds only if exactly `dest.len()` bytes come out.
///
/// # Errors
///
/// [`Error::Corrupt`] with the position in `src` where it went wrong.
pub fn decompress(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    decompress_with_dict(src, dest, &[])
}

/// As [`decompress`], to a destination that is hardly in the cache.
pub(super) fn decompress_uncached(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    let (at, done) = wild::decode::<Lz4, true>(src, dest);
    finish(src, at, dest, done, &[], usize::MAX)
}

/// Decompresses an LZ4 block whose offsets may reach into `dict`, the last byte of which stands
/// right before the output.
///
/// # Errors
///
/// As [`decompress`].
pub fn decompress_with_dict(src: &[u8], dest: &mut [u8], dict: &[u8]) -> Result<(), Error> {
    // Nearly all of it, unless distances reach into a dictionary.
    let (at, done) = if dict.is_empty() { wild::decode::<Lz4, false>(src, dest) } else { (0, 0) };
    finish(src, at, dest, done, dict, usize::MAX)
}

/// As [`decompress_with_dict`], but stops as soon as the first `wanted` bytes of `dest` are right;
/// nothing is known of the rest of the block then.
///
/// # Errors
///
/// As [`decompress`].
pub fn decompress_prefix(
    src: &[u8],
    dest: &mut [u8],
    wanted: usize,
    dict: &[u8],
) -> Result<(), Error> {
    let near = wanted.saturating_add(wild::MARGIN).min(dest.len());
    let (at, done) =
        if dict.is_empty() { wild::decode::<Lz4, false>(src, &mut dest[..near]) } else { (0, 0) };
    if done >= wanted { Ok(()) } else { finish(src, at, dest, done, dict, wanted) }
}

/// As [`decompress`], by the safe half of the decoder alone; for the fuzz targets.
///
/// # Errors
///
/// As [`decompress`].
#[cfg(fuzzing)]
pub fn decompress_safely(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    finish(src, 0, dest, 0, &[], usize::MAX)
}

/// Decodes from the sequence at `src[at..]`, which writes to `dest[done..]`, to the end or to where
/// `until` bytes are there.
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
        let token = input.byte()?;
        let nliterals = input.length(token >> 4, dest.len() - done)?;
        done = input.literals(nliterals, dest, done)?;
        if input.at == src.len() {
            break;
        }
        let start = input.at;
        let distance = input.offset()?;
        let len = input.length(token & 15, dest.len() - done)? + MIN_MATCH;
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

/// Copies what a match takes from the dictionary and returns how much that is.
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

/// The block and how far it was read.
struct Input<'a> {
    src: &'a [u8],
    at: usize,
}

impl Input<'_> {
    #[inline(always)]
    fn byte(&mut self) -> Result<u8, Error> {
        let byte = *self
            .src
            .get(self.at)
            .ok_or_else(|| corrupt(self.at, Corrupt::Truncated { need: 1, have: 0 }))?;
        self.at += 1;
        Ok(byte)
    }

    #[inline(always)]
    fn offset(&mut self) -> Result<usize, Error> {
        let have = self.src.len() - self.at;
        let Some(&[low, high]) = self.src.get(self.at..self.at + 2) else {
            return Err(corrupt(self.at, Corrupt::Truncated { need: 2, have }));
        };
        self.at += 2;
        Ok(usize::from(u16::from_le_bytes([low, high])))
    }

    /// A length whose first four bits are `nibble`; more than `room` as soon as it is known to be
    /// so.
    #[inline(always)]
    fn length(&mut self, nibble: u8, room: usize) -> Result<usize, Error> {
        let mut len = usize::from(nibble);
        if nibble < 15 {
            return Ok(len);
        }
        loop {
            let more = self.byte()?;
            len += usize::from(more);
            if more != u8::MAX || len > room {
                return Ok(len);
            }
        }
    }

    #[inline(always)]
    fn literals(&mut self, len: usize, dest: &mut [u8], done: usize) -> Result<usize, Error> {
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
    use crate::{Codec as _, lz, lz::wild::FastHalf as _};

    #[test]
    fn both_halves_agree_on_any_stream() {
        lz::tests::twins(
            |options| Lz4.new_encoder(options),
            decompress,
            |src, dest| finish(src, 0, dest, 0, &[], usize::MAX),
        );
    }

    #[test]
    fn in_the_cache_or_not_it_is_the_same() {
        lz::tests::twins(|options| Lz4.new_encoder(options), decompress_uncached, decompress);
    }

    #[test]
    fn without_new_instructions_it_is_the_same() {
        let plain = |src: &[u8], dest: &mut [u8]| {
            let (at, done) = Lz4::decode_plain::<false>(src, dest);
            finish(src, at, dest, done, &[], usize::MAX)
        };
        lz::tests::twins(|options| Lz4.new_encoder(options), decompress, plain);
    }

    #[test]
    fn a_prefix_is_the_start_of_the_whole() {
        lz::tests::prefixes(
            |options| Lz4.new_encoder(options),
            |src, dest, wanted| decompress_prefix(src, dest, wanted, &[]),
        );
    }
}
