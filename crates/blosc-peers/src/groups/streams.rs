//! Codecs almost alone: the streams that chunks pass to them, as chunks of one block without a
//! filter.
//!
//! Streams of 4 KiB and of 256 KiB, one after another: the bytes unchanged, and the planes of a
//! shuffle, except for runs of one byte, which a codec never gets.

use blosc_filters::shuffle;

use super::{
    Bench,
    chunks::{CODECS, NEVER, Place, hot, is_fast},
    frames::PARAMS,
};
use crate::{c_blosc2::Params, failure::Result, sets::Set};

/// The length of a stream, and of all streams that take turns.
const LENGTHS: [(usize, usize); 2] = [(4 << 10, 128 << 10), (256 << 10, 2 << 20)];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let levels: &[u8] = if bench.quick { &[5] } else { &[1, 5, 9] };
    let sets: Vec<_> =
        bench.sets.iter().map(|set| LENGTHS.map(|lengths| streams(set, lengths))).collect();
    for (name, codec) in CODECS {
        for (nth, (nbytes, _)) in LENGTHS.into_iter().enumerate() {
            for &level in levels {
                let params = params(codec, level, nbytes);
                for (case, plain) in sets.iter().flat_map(|lengths| &lengths[nth]) {
                    let setting = format!("{name} {}K level {level}", nbytes >> 10);
                    let place =
                        Place { group: "streams", setting, case: format!("{case} level {level}") };
                    hot(bench, place, &params, plain, nbytes)?;
                }
            }
        }
    }
    noise(bench)
}

/// The thorough codecs on noise.
fn noise(bench: &mut Bench) -> Result<()> {
    let (nbytes, total) = LENGTHS[1];
    let Some(set) = bench.sets.iter().find(|set| set.name == "random") else { return Ok(()) };
    let plain = set.bytes[..total].to_vec();
    for (name, codec) in CODECS.into_iter().filter(|(_, codec)| !is_fast(*codec)) {
        let (setting, case) =
            (format!("noise, {name} {}K level 9", nbytes >> 10), "random level 9".to_owned());
        hot(
            bench,
            Place { group: "streams", setting, case },
            &params(codec, 9, nbytes),
            &plain,
            nbytes,
        )?;
    }
    Ok(())
}

/// One block of single bytes.
fn params(codec: u8, level: u8, nbytes: usize) -> Params {
    let filters = [0; 6];
    Params { codec, level, typesize: 1, filters, block_size: nbytes, split: NEVER, ..PARAMS }
}

/// The measured streams of a set, and their names.
fn streams(set: &Set, (nbytes, total): (usize, usize)) -> Vec<(String, Vec<u8>)> {
    let Set { name, typesize, bytes } = set;
    let mut all = vec![((*name).to_owned(), bytes[..total].to_vec())];
    // Shuffling does not change the statistics of noise and text.
    if *typesize > 1 && *name != "random" {
        all.push((format!("{name} shuffled"), planes(*typesize, bytes, nbytes, total)));
    }
    all.retain(|(name, bytes)| !bytes.is_empty() || !name.ends_with("shuffled"));
    all
}

/// The planes that are not runs of one byte, up to `total` bytes of them.
fn planes(typesize: usize, bytes: &[u8], nbytes: usize, total: usize) -> Vec<u8> {
    let mut block = vec![0; typesize * nbytes];
    let mut all = Vec::with_capacity(total);
    for part in bytes.chunks_exact(block.len()) {
        shuffle(typesize, part, &mut block);
        for plane in
            block.chunks_exact(nbytes).filter(|plane| plane.iter().any(|&byte| byte != plane[0]))
        {
            if all.len() < total {
                all.extend_from_slice(plane);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_that_are_runs_are_left_out() {
        let bytes: Vec<u8> = (0..64).flat_map(|i: u8| [i, 7, i / 2, 0]).collect();
        let expected: Vec<u8> = (0..16).chain((0..16).map(|i| i / 2)).chain(16..32).collect();
        assert_eq!(planes(4, &bytes, 16, 48), expected);
    }
}
