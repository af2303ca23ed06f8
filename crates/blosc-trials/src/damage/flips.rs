//! Bits flipped in every class of bytes that checksums cover. Verifying reports all of them, and
//! names the chunk.

use core::fmt;
use std::collections::BTreeMap;

use super::{Settings, Tally, hit::Hit};
use crate::{
    Say,
    cases::{Panics, below, draw},
    container::{Sample, samples},
    failure::{Result, fail},
};

/// Bytes of a chunk's header.
const CHUNK_HEADER: usize = 32;

/// The part of a container that a byte belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// A file without chunks, by its name: an index, metadata, checksums.
    File(String),
    /// The part before the first chunk of a file: headers and metadata.
    BeforeChunks,
    ChunkHeader,
    ChunkData,
    /// Parts after the first chunk of a file that are not chunks: index, trailer, records.
    AfterChunks,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name) => write!(f, "file {name}"),
            Self::BeforeChunks => f.write_str("before the chunks"),
            Self::ChunkHeader => f.write_str("headers of chunks"),
            Self::ChunkData => f.write_str("data of chunks"),
            Self::AfterChunks => f.write_str("after the chunks"),
        }
    }
}

impl Class {
    fn of_byte(sample: &Sample, nfile: usize, at: usize) -> Self {
        let in_file = || sample.chunks.iter().filter(|chunk| chunk.nfile == nfile);
        if let Some(chunk) = in_file().find(|chunk| chunk.stored.contains(&at)) {
            return match at - chunk.stored.start < CHUNK_HEADER {
                true => Self::ChunkHeader,
                false => Self::ChunkData,
            };
        }
        match in_file().map(|chunk| chunk.stored.start).min() {
            None => Self::File(sample.files.0[nfile].0.clone()),
            Some(first) if at < first => Self::BeforeChunks,
            Some(_) => Self::AfterChunks,
        }
    }
}

/// The bytes of each class that checksums cover: file and position.
fn classes(sample: &Sample) -> BTreeMap<Class, Vec<(usize, usize)>> {
    let mut classes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (nfile, part) in &sample.covered {
        for at in part.clone() {
            classes.entry(Class::of_byte(sample, *nfile, at)).or_default().push((*nfile, at));
        }
    }
    classes
}

/// Flips a bit for each case in each class of bytes of each sealed sample, one at a time, and
/// reports a line for each class. Returns the number of classes.
///
/// # Errors
///
/// A flipped bit was not reported, or without the number of its chunk.
pub fn flip_bits(settings: &Settings, say: Say<'_>) -> Result<usize> {
    let panics = Panics::watch();
    let (mut nbad, mut nclasses) = (0, 0);
    let all = samples()?;
    for sample in all.iter().filter(|sample| sample.is_sealed && settings.takes(sample)) {
        for (class, bytes) in classes(sample) {
            let Tally { covered, named, nbad: wrong, first, .. } =
                flip(sample, &bytes, settings, &panics);
            let chunk = if named.ncases > 0 { format!(", chunk named {named}") } else { "".into() };
            say(format!("{:<12} {class}: {covered} told{chunk}", sample.container));
            first.iter().for_each(|first| say(format!("  {first}")));
            nbad += wrong;
            nclasses += 1;
        }
    }
    if nbad == 0 { Ok(nclasses) } else { fail(format!("{nbad} are not as promised")) }
}

/// Flips a number of bits of these bytes, one at a time, and counts reports, and reports with the
/// number of the chunk.
fn flip(sample: &Sample, bytes: &[(usize, usize)], settings: &Settings, panics: &Panics) -> Tally {
    let (mut tally, mut files) = (Tally::default(), sample.files.clone());
    for number in settings.cases.clone() {
        let mut draw = draw(settings.seed, number);
        let (nfile, at) = bytes[below(&mut draw, bytes.len())];
        let mask = 1_u8 << below(&mut draw, 8);
        files.0[nfile].1[at] ^= mask;
        let verified = panics.catch(|| (sample.verify)(&files));
        files.0[nfile].1[at] ^= mask;
        let name = &sample.files.0[nfile].0;
        tally.place = format!("bit {mask:#x} of byte {at} of {name}");
        tally.covered.ncases += 1;
        match &verified {
            Ok(()) => tally.count_bad("not noticed"),
            Err(_) => tally.covered.ngood += 1,
        }
        tally.count_named(sample, &Hit::of_range(name.clone(), nfile, at..at + 1), &verified);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_covered_byte_has_a_class() {
        let all = samples().unwrap();
        for sample in all.iter().filter(|sample| sample.is_sealed) {
            let classes = classes(sample);
            let nbytes: usize = classes.values().map(Vec::len).sum();
            let covered: usize = sample.covered.iter().map(|(_, part)| part.len()).sum();
            assert_eq!(nbytes, covered, "{}", sample.container);
            assert!(classes.len() >= 3, "{}", sample.container);
            assert!(classes.contains_key(&Class::ChunkHeader), "{}", sample.container);
            assert!(classes.contains_key(&Class::ChunkData), "{}", sample.container);
        }
    }

    #[test]
    fn a_bit_that_is_not_told_is_found() {
        let mut sample = samples().unwrap().swap_remove(0);
        sample.verify = |_| Ok(());
        let (class, bytes) = classes(&sample).pop_first().unwrap();
        let settings =
            Settings { seed: 1, time: core::time::Duration::ZERO, only: None, cases: 0..3 };
        let tally = flip(&sample, &bytes, &settings, &Panics::watch());
        assert_eq!((tally.covered.ncases, tally.covered.ngood), (3, 0), "{class}");
        assert!(tally.nbad >= 3 && !tally.first.is_empty());
    }
}
