//! Bytedelta, id 35, and its older form, id 34: differences of bytes within each of several byte
//! streams ("bytedelta" in the format document). It follows shuffle, whose planes are the streams.

use crate::filter::Builtin;
use crate::{FilterCx, FilterId, Simd, arch};

/// Replaces each byte by its difference to the one before (mod 256), in `streams` streams of equal
/// length that stand one after another. The bytes that are left over are copied. 0 streams count as
/// 1.
///
/// ```
/// let mut dest = [0; 7];
/// blosc_filters::functions::bytedelta_encode(2, &[5, 6, 8, 9, 8, 8, 77], &mut dest);
/// assert_eq!(dest, [5, 1, 2, 9, 255, 0, 77]);
/// ```
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn bytedelta_encode(streams: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "bytedelta: lengths of source and destination");
    let len = stream_len(streams, src);
    for (to, from) in whole_streams(len, streams, src, dest) {
        encode_stream(from, to);
    }
}

/// Undoes [`bytedelta_encode`].
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn bytedelta_decode(streams: usize, src: &[u8], dest: &mut [u8]) {
    decode_with(Simd::detect(), streams, src, dest);
}

fn decode_with(simd: Simd, streams: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "bytedelta: lengths of source and destination");
    let len = stream_len(streams, src);
    for (to, from) in whole_streams(len, streams, src, dest) {
        arch::running_sum(simd, from, to);
    }
}

/// Decodes the output of C-Blosc2 2.8.0 to 2.9.3 under id 34: the sum starts again at the last
/// multiple of 16 of each stream.
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn bytedelta_decode_legacy(streams: usize, src: &[u8], dest: &mut [u8]) {
    decode_legacy_with(Simd::detect(), streams, src, dest);
}

fn decode_legacy_with(simd: Simd, streams: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "bytedelta: lengths of source and destination");
    let len = stream_len(streams, src);
    for (to, from) in whole_streams(len, streams, src, dest) {
        let (from_vectors, from_rest) = from.split_at(len - len % 16);
        let (to_vectors, to_rest) = to.split_at_mut(len - len % 16);
        arch::running_sum(simd, from_vectors, to_vectors);
        arch::running_sum(simd, from_rest, to_rest);
    }
}

/// The inverse of [`bytedelta_decode_legacy`].
fn encode_legacy(streams: usize, src: &[u8], dest: &mut [u8]) {
    let len = stream_len(streams, src);
    for (to, from) in whole_streams(len, streams, src, dest) {
        let (from_vectors, from_rest) = from.split_at(len - len % 16);
        let (to_vectors, to_rest) = to.split_at_mut(len - len % 16);
        encode_stream(from_vectors, to_vectors);
        encode_stream(from_rest, to_rest);
    }
}

/// Bytes of one stream.
fn stream_len(streams: usize, src: &[u8]) -> usize {
    src.len() / streams.max(1)
}

/// The streams in pairs of destination and source, after the leftover bytes have been copied.
fn whole_streams<'a>(
    len: usize,
    streams: usize,
    src: &'a [u8],
    dest: &'a mut [u8],
) -> impl Iterator<Item = (&'a mut [u8], &'a [u8])> {
    let (from, from_rest) = src.split_at(len * streams.max(1));
    let (to, to_rest) = dest.split_at_mut(from.len());
    to_rest.copy_from_slice(from_rest);
    // Without a byte in a stream there is no stream: `chunks_exact` of an empty slice gives none.
    to.chunks_exact_mut(len.max(1)).zip(from.chunks_exact(len.max(1)))
}

fn encode_stream(src: &[u8], dest: &mut [u8]) {
    let mut before = 0;
    for (to, &byte) in dest.iter_mut().zip(src) {
        *to = byte.wrapping_sub(before);
        before = byte;
    }
}

/// Bytedelta as a filter of the format.
pub(crate) const FILTER: Builtin = Builtin::lossless(
    FilterId::BYTEDELTA,
    |cx, meta, src, dest| {
        bytedelta_encode(streams(cx, meta), src, dest);
        Ok(())
    },
    |cx, meta, src, dest| {
        decode_with(cx.simd, streams(cx, meta), src, dest);
        Ok(())
    },
);

/// Id 34. It encodes too, so that a chunk can be rewritten unchanged; new chunks should use
/// [`FILTER`].
pub(crate) const LEGACY: Builtin = Builtin::lossless(
    FilterId::BYTEDELTA_LEGACY,
    |cx, meta, src, dest| {
        encode_legacy(streams(cx, meta), src, dest);
        Ok(())
    },
    |cx, meta, src, dest| {
        decode_legacy_with(cx.simd, streams(cx, meta), src, dest);
        Ok(())
    },
);

/// The number of streams: the meta byte, or the super-chunk's typesize if that byte is 0.
fn streams(cx: &FilterCx<'_>, meta: u8) -> usize {
    if meta == 0 { cx.schunk_typesize } else { usize::from(meta) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use alloc::vec;
    use alloc::vec::Vec;

    fn run(function: impl Fn(usize, &[u8], &mut [u8]), streams: usize, src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0xEE; src.len()];
        function(streams, src, &mut dest);
        dest
    }

    #[test]
    fn each_stream_starts_from_zero_and_leftovers_are_copied() {
        let src = [1, 2, 4, 7, 9, 9, 5, 3, 77, 78];
        assert_eq!(run(bytedelta_encode, 4, &src), [1, 1, 4, 3, 9, 0, 5, 254, 77, 78]);
        assert_eq!(run(bytedelta_encode, 11, &src), src);
        assert_eq!(run(bytedelta_encode, 0, &[1, 2]), [1, 1]);
    }

    #[test]
    fn the_older_form_starts_again_at_the_last_multiple_of_16_of_each_stream() {
        let src: Vec<u8> = (10..28).chain(10..28).collect();
        let mut expected = [[10].as_slice(), &[1; 15], &[26, 1]].concat();
        expected.extend_from_within(..);
        assert_eq!(run(encode_legacy, 2, &src), expected);
        assert_eq!(run(bytedelta_decode_legacy, 2, &expected), src);
    }

    #[test]
    fn decode_undoes_encode() {
        for streams in (1..=40).chain([255, 600]) {
            for len in 0..=600 {
                let src: Vec<u8> = (0..len).map(|i| (i * i % 251) as u8).collect();
                let filtered = run(bytedelta_encode, streams, &src);
                assert_eq!(
                    run(bytedelta_decode, streams, &filtered),
                    src,
                    "{streams} streams, {len} bytes"
                );
                let filtered = run(encode_legacy, streams, &src);
                assert_eq!(
                    run(bytedelta_decode_legacy, streams, &filtered),
                    src,
                    "{streams} streams, {len} bytes"
                );
            }
        }
    }

    #[test]
    fn meta_is_the_number_of_streams_and_0_means_the_typesize_of_the_super_chunk() {
        let (src, mut cx) = ([3; 12], FilterCx::new(1));
        cx.schunk_typesize = 6;
        for (meta, starts) in [(0, 6), (3, 3), (1, 1)] {
            let mut dest = [0xEE; 12];
            FILTER.forward(&cx, meta, &src, &mut dest).unwrap();
            assert_eq!(dest.iter().filter(|&&byte| byte == 3).count(), starts);
        }
    }
}
