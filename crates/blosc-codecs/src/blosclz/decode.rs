//! Decoding: "Bitstream" and "Decoder" in the codec document. The safe half; [`decode_fast`] stops
//! where a margin begins or an instruction is doubtful, and this half goes on.

use super::{BloscLz, FAR_BASE, MAX_RUN};
use crate::{
    CodecId, Corrupt, Error, Simd,
    lz::{
        copy_match,
        fast_decode::{MARGIN, decode_fast},
        input::Input,
    },
};

/// Decompresses a BloscLZ stream. Succeeds only if it decodes to exactly `dest.len()` bytes; an
/// error has the position of the defect in `src`. `UNCACHED` is for a destination that is mostly
/// outside of the cache.
pub(super) fn decode<const UNCACHED: bool>(
    simd: Simd,
    src: &[u8],
    dest: &mut [u8],
) -> Result<(), Error> {
    let (at, done) = decode_fast::<BloscLz, UNCACHED>(simd, src, dest);
    finish(src, at, dest, done, usize::MAX)
}

/// As [`decode`], but stops as soon as the first `wanted` bytes of `dest` are right. The rest of
/// the stream is not checked then.
pub(super) fn decode_prefix(
    simd: Simd,
    src: &[u8],
    dest: &mut [u8],
    wanted: usize,
) -> Result<(), Error> {
    let near = wanted.saturating_add(MARGIN).min(dest.len());
    let (at, done) = decode_fast::<BloscLz, false>(simd, src, &mut dest[..near]);
    if done >= wanted { Ok(()) } else { finish(src, at, dest, done, wanted) }
}

/// As the decoder, with the safe half only; for the fuzz targets.
///
/// # Errors
///
/// As the decoder.
#[cfg(fuzzing)]
pub fn decompress_safely(src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    finish(src, 0, dest, 0, usize::MAX)
}

/// Decodes from the instruction at `src[at..]`, which writes to `dest[done..]`, to the end of the
/// stream, or until the first `until` bytes of `dest` are written.
fn finish(
    src: &[u8],
    at: usize,
    dest: &mut [u8],
    mut done: usize,
    until: usize,
) -> Result<(), Error> {
    let mut input = Input { codec: CodecId::BLOSCLZ, src, at };
    let mut control = input.read_byte(1)?;
    if at == 0 {
        // The first instruction is a literal run; its upper bits are ignored.
        control &= 31;
    }
    loop {
        done = if usize::from(control) < MAX_RUN {
            input.copy_literals(usize::from(control) + 1, dest, done)?
        } else {
            input.copy_match(control, dest, done, until)?
        };
        if done >= until {
            return Ok(());
        }
        if input.at == src.len() {
            break;
        }
        control = input.read_byte(1)?;
    }
    input.check_end(dest, done)
}

impl Input<'_> {
    /// Executes the match that `control` starts, at most up to `until`; returns its end in `dest`.
    #[inline(always)]
    fn copy_match(
        &mut self,
        control: u8,
        dest: &mut [u8],
        done: usize,
        until: usize,
    ) -> Result<usize, Error> {
        let start = self.at - 1;
        let len = self.read_match_length(control, dest.len() - done)?;
        let distance = self.read_distance(control & 31)?;
        self.check_match(start, (distance, done), len, dest, done)?;
        if self.at == self.src.len() {
            return Err(self.corrupt(start, Corrupt::EndsWithMatch));
        }
        let len = len.min(until.saturating_sub(done));
        copy_match(dest, done, distance, len);
        Ok(done + len)
    }

    /// The length of a match; stops reading once it exceeds `room`.
    #[inline(always)]
    fn read_match_length(&mut self, control: u8, room: usize) -> Result<usize, Error> {
        let short = usize::from(control >> 5) + 2;
        if short < 9 {
            return Ok(short);
        }
        // At least one more byte holds the distance.
        self.add_to_length(short, room, 2)
    }

    #[inline(always)]
    fn read_distance(&mut self, high: u8) -> Result<usize, Error> {
        let low = self.read_byte(1)?;
        if high == 31 && low == u8::MAX {
            let far = [self.read_byte(2)?, self.read_byte(1)?];
            return Ok(FAR_BASE + usize::from(u16::from_be_bytes(far)));
        }
        Ok(usize::from(high) * 256 + usize::from(low) + 1)
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
                |options| BloscLz.new_encoder(options),
                |src, dest| decode::<false>(simd, src, dest),
                |src, dest| finish(src, 0, dest, 0, usize::MAX),
            );
        }
    }

    #[test]
    fn prefetching_changes_nothing() {
        assert_twins_agree(
            |options| BloscLz.new_encoder(options),
            |src, dest| decode::<true>(Simd::detect(), src, dest),
            |src, dest| decode::<false>(Simd::detect(), src, dest),
        );
    }

    #[test]
    fn a_prefix_is_the_start_of_the_whole() {
        assert_prefixes_agree(
            |options| BloscLz.new_encoder(options),
            |src, dest, wanted| decode_prefix(Simd::detect(), src, dest, wanted),
        );
    }
}
