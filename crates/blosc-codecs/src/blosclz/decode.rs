//! Decoding: "Bitstream" and "Decoder" in the codec document.

use super::{BloscLz, FAR_BASE, MAX_RUN, corrupt};
use crate::{
    Corrupt, Error,
    lz::{copy_match, wild},
};

/// Decompresses a BloscLZ stream. Succeeds only if exactly `dest.len()` bytes come out.
///
/// # Errors
///
/// [`Error::Corrupt`] with the position in `src` where it went wrong.
pub fn decompress(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    let (at, done) = wild::decode::<BloscLz, false>(src, dest);
    finish(src, at, dest, done, usize::MAX)
}

/// As [`decompress`], to a destination that is hardly in the cache.
pub(super) fn decompress_uncached(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    let (at, done) = wild::decode::<BloscLz, true>(src, dest);
    finish(src, at, dest, done, usize::MAX)
}

/// As [`decompress`], but stops as soon as the first `wanted` bytes of `dest` are right; nothing is
/// known of the rest of the stream then.
///
/// # Errors
///
/// As [`decompress`].
pub fn decompress_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> Result<(), Error> {
    let near = wanted.saturating_add(wild::MARGIN).min(dest.len());
    let (at, done) = wild::decode::<BloscLz, false>(src, &mut dest[..near]);
    if done >= wanted { Ok(()) } else { finish(src, at, dest, done, wanted) }
}

/// As [`decompress`], by the safe half of the decoder alone; for the fuzz targets.
///
/// # Errors
///
/// As [`decompress`].
#[cfg(fuzzing)]
pub fn decompress_safely(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    finish(src, 0, dest, 0, usize::MAX)
}

/// Decodes from the instruction at `src[at..]`, which writes to `dest[done..]`, to the end or to
/// where `until` bytes are there.
fn finish(
    src: &[u8],
    at: usize,
    dest: &mut [u8],
    mut done: usize,
    until: usize,
) -> Result<(), Error> {
    let mut input = Input { src, at };
    let mut control = input.byte(1)?;
    if at == 0 {
        // The first instruction is a literal run, whatever its upper bits say.
        control &= 31;
    }
    loop {
        done = if usize::from(control) < MAX_RUN {
            input.literals(usize::from(control) + 1, dest, done)?
        } else {
            input.repeat(control, dest, done, until)?
        };
        if done >= until {
            return Ok(());
        }
        if input.at == src.len() {
            break;
        }
        control = input.byte(1)?;
    }
    if done < dest.len() {
        return Err(corrupt(src.len(), Corrupt::TooShort { nbytes: done, expected: dest.len() }));
    }
    Ok(())
}

/// The stream and how far it was read.
struct Input<'a> {
    src: &'a [u8],
    at: usize,
}

impl Input<'_> {
    /// The next byte, of which the stream must still have `need`.
    #[inline(always)]
    fn byte(&mut self, need: usize) -> Result<u8, Error> {
        let have = self.src.len() - self.at;
        if have < need {
            return Err(corrupt(self.at, Corrupt::Truncated { need, have }));
        }
        let byte = self.src[self.at];
        self.at += 1;
        Ok(byte)
    }

    /// Copies a literal run of `len` bytes to `dest[done..]` and returns its end.
    #[inline(always)]
    fn literals(&mut self, len: usize, dest: &mut [u8], done: usize) -> Result<usize, Error> {
        let (from, end) = (self.at, done + len);
        let have = self.src.len() - from;
        let run = self
            .src
            .get(from..from + len)
            .ok_or_else(|| corrupt(from, Corrupt::Truncated { need: len, have }))?;
        let room = dest.len();
        dest.get_mut(done..end)
            .ok_or_else(|| corrupt(from, Corrupt::TooLong { nbytes: end as u64, room }))?
            .copy_from_slice(run);
        self.at += len;
        Ok(end)
    }

    /// Executes the match that `control` starts, as far as `until`, and returns its end in `dest`.
    #[inline(always)]
    fn repeat(
        &mut self,
        control: u8,
        dest: &mut [u8],
        done: usize,
        until: usize,
    ) -> Result<usize, Error> {
        let start = self.at - 1;
        let len = self.length(control, dest.len() - done)?;
        let distance = self.distance(control & 31)?;
        if distance > done {
            return Err(corrupt(start, Corrupt::Distance { distance, available: done }));
        }
        if len > dest.len() - done {
            let nbytes = done as u64 + len as u64;
            return Err(corrupt(start, Corrupt::TooLong { nbytes, room: dest.len() }));
        }
        if self.at == self.src.len() {
            return Err(corrupt(start, Corrupt::EndsWithMatch));
        }
        let len = len.min(until.saturating_sub(done));
        copy_match(dest, done, distance, len);
        Ok(done + len)
    }

    /// The length of a match; more than `room` as soon as it is known to be so.
    #[inline(always)]
    fn length(&mut self, control: u8, room: usize) -> Result<usize, Error> {
        let short = usize::from(control >> 5) + 2;
        if short < 9 {
            return Ok(short);
        }
        let mut len = short;
        loop {
            // One more byte, at least, holds the distance.
            let more = self.byte(2)?;
            len += usize::from(more);
            if more != u8::MAX || len > room {
                return Ok(len);
            }
        }
    }

    #[inline(always)]
    fn distance(&mut self, high: u8) -> Result<usize, Error> {
        let low = self.byte(1)?;
        if high == 31 && low == u8::MAX {
            let far = [self.byte(2)?, self.byte(1)?];
            return Ok(FAR_BASE + usize::from(u16::from_be_bytes(far)));
        }
        Ok(usize::from(high) * 256 + usize::from(low) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codec as _, lz, lz::wild::FastHalf as _};

    #[test]
    fn both_halves_agree_on_any_stream() {
        lz::tests::twins(
            |options| BloscLz.new_encoder(options),
            decompress,
            |src, dest| finish(src, 0, dest, 0, usize::MAX),
        );
    }

    #[test]
    fn in_the_cache_or_not_it_is_the_same() {
        lz::tests::twins(|options| BloscLz.new_encoder(options), decompress_uncached, decompress);
    }

    #[test]
    fn without_new_instructions_it_is_the_same() {
        let plain = |src: &[u8], dest: &mut [u8]| {
            let (at, done) = BloscLz::decode_plain::<false>(src, dest);
            finish(src, at, dest, done, usize::MAX)
        };
        lz::tests::twins(|options| BloscLz.new_encoder(options), decompress, plain);
    }

    #[test]
    fn a_prefix_is_the_start_of_the_whole() {
        lz::tests::prefixes(|options| BloscLz.new_encoder(options), decompress_prefix);
    }
}
