//! Shared code of the decoders' tests: compares a fast decoder with its safe twin.

use alloc::{boxed::Box, vec, vec::Vec};

use blosc_testdata::data::{Kind, XorShift32};

use super::*;
use crate::{EncodeOptions, Error, Level, StreamEncoder};

/// Compares two decoders on intact, damaged and cut streams: the same verdict, and the same bytes
/// if the stream is accepted.
pub(crate) fn assert_twins_agree(
    encoder: impl Fn(&EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error>,
    fast: impl Fn(&[u8], &mut [u8]) -> Result<(), Error>,
    safe: impl Fn(&[u8], &mut [u8]) -> Result<(), Error>,
) {
    let compare = |stream: &[u8], nbytes: usize| {
        let (mut ours, mut theirs) = (vec![0xA5; nbytes], vec![0x5A; nbytes]);
        let (verdict, expected) = (fast(stream, &mut ours), safe(stream, &mut theirs));
        assert_eq!(verdict, expected, "{stream:?} for {nbytes} bytes");
        assert!(verdict.is_err() || ours == theirs, "{stream:?} for {nbytes} bytes");
    };
    let mut rng = XorShift32::default();
    for kind in Kind::ALL {
        for nbytes in [20, 64, 65, 100, 128, 200, 500, 3000, 20_000] {
            let data = kind.bytes(nbytes);
            let options = EncodeOptions { clevel: Level::DEFAULT, ..EncodeOptions::default() };
            let mut stream = vec![0; nbytes * 2 + 64];
            let len = encoder(&options).unwrap().encode(&data, &mut stream).unwrap();
            let Some(len) = len else { continue };
            stream.truncate(len);
            compare(&stream, nbytes);
            for _ in 0..200 {
                let mut damaged = stream.clone();
                for _ in 0..=rng.below(3) {
                    let at = usize::try_from(rng.below(len as u64)).unwrap();
                    damaged[at] = rng.next_u32().to_le_bytes()[0];
                }
                let cut = usize::try_from(rng.below(len as u64 + 1)).unwrap();
                compare(&damaged, nbytes);
                compare(&damaged[..cut], nbytes);
                compare(&stream, nbytes + 3 - cut % 6);
            }
        }
    }
}

/// Compares decoded prefixes with the data; damaged streams must not panic.
pub(crate) fn assert_prefixes_agree(
    encoder: impl Fn(&EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error>,
    decode: impl Fn(&[u8], &mut [u8], usize) -> Result<(), Error>,
) {
    let mut rng = XorShift32::default();
    let mut below = |n: usize| usize::try_from(rng.below(n as u64)).unwrap();
    for kind in Kind::ALL {
        for nbytes in [20, 65, 100, 200, 3000, 20_000] {
            let data = kind.bytes(nbytes);
            let mut stream = vec![0; nbytes * 2 + 64];
            let len =
                encoder(&EncodeOptions::default()).unwrap().encode(&data, &mut stream).unwrap();
            let Some(len) = len else { continue };
            stream.truncate(len);
            for turn in 0..300 {
                let wanted = if turn < 100 { turn.min(nbytes) } else { below(nbytes + 1) };
                let mut dest = vec![0xA5; nbytes];
                decode(&stream, &mut dest, wanted).unwrap();
                assert_eq!(dest[..wanted], data[..wanted], "{wanted} of {nbytes}");
                let at = below(len);
                let sound = core::mem::replace(&mut stream[at], below(256).to_le_bytes()[0]);
                let _ = decode(&stream[..below(len + 1)], &mut dest, wanted);
                stream[at] = sound;
            }
        }
    }
}

#[test]
fn copy_match_repeats_byte_by_byte() {
    let start: Vec<u8> = (0..40).collect();
    for distance in 1..=40 {
        for len in 0..100 {
            for slack in [0, 40] {
                let mut expected = start.clone();
                (0..len).for_each(|_| expected.push(expected[expected.len() - distance]));
                let mut dest = start.clone();
                dest.resize(40 + len + slack, 0xEE);
                copy_match(&mut dest, 40, distance, len);
                assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
            }
        }
    }
}
