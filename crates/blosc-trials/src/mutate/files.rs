//! Files of containers: samples and fixtures of all of them, changed as by a stranger, then opened,
//! verified, read and rescued.

use core::fmt;

use blosc_testdata::data::XorShift32;

use super::ensure;
use crate::{
    cases::{below, memory_for},
    container::{Files, Sample, fixtures, samples},
    damage::{PER_BYTE, STATES},
    failure::{Result, fail},
};

/// Numbers that readers may fail to check.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    32,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    1 << 20,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

/// Words of metadata that are text.
const WORDS: [&[u8]; 12] = [
    b"null",
    b"-1",
    b"1e999",
    b"{",
    b"]",
    b"\"",
    b"[[[[",
    b"99999999999999999999",
    b"\\ud800",
    b"../x",
    b"\xce",
    b"\xdf\xff\xff\xff\xff",
];

/// Samples of all containers, and the results of changing them.
pub(super) struct FileMutator {
    samples: Vec<Sample>,
    pub(super) counts: [u64; 3],
    peak: usize,
}

impl FileMutator {
    pub(super) fn load() -> Result<Self> {
        let samples = [samples()?, fixtures()?].into_iter().flatten().collect();
        Ok(Self { samples, counts: [0; 3], peak: 0 })
    }

    /// Changes the files of a sample, one to four times. Returns the sample's number and the files.
    pub(super) fn mutate(&self, draw: &mut XorShift32) -> (usize, Files) {
        let nsample = below(draw, self.samples.len());
        let mut files = self.samples[nsample].files.clone();
        for _ in 0..=below(draw, 4) {
            let foreign = &self.samples[below(draw, self.samples.len())].files;
            change(&mut files, &foreign.0[below(draw, foreign.0.len())].1, draw);
        }
        (nsample, files)
    }

    pub(super) fn container(&self, nsample: usize) -> &'static str {
        self.samples[nsample].container
    }

    /// Runs every operation on the files.
    pub(super) fn check(&mut self, nsample: usize, files: &Files) -> Result<()> {
        let sample = &self.samples[nsample];
        let (outcome, needed) = memory_for(|| {
            let verified = (sample.verify)(files);
            let read = (sample.read)(files);
            let rescued = sample.rescue.map(|rescue| rescue(files));
            (verified, read, rescued)
        });
        self.peak = self.peak.max(needed);
        let allowed = STATES + PER_BYTE * files.nbytes();
        ensure(needed <= allowed, || format!("{needed} bytes of memory, {allowed} are enough"))?;
        let (verified, read, rescued) = outcome;
        if let (Ok(()), Err(failure)) = (&verified, &read) {
            return fail(format!("verified, and cannot be read: {failure}"));
        }
        let found = match (verified, rescued) {
            (Ok(()), _) => 0,
            (Err(_), Some(Ok(_))) => 1,
            _ => 2,
        };
        self.counts[found] += 1;
        Ok(())
    }
}

/// Changes the files as a stranger would; bytes of another file may be inserted.
pub fn change(files: &mut Files, foreign: &[u8], draw: &mut XorShift32) {
    let nfiles = files.0.len();
    let (one, other) = (below(draw, nfiles), below(draw, nfiles));
    if nfiles > 1 && below(draw, 30) == 0 {
        match below(draw, 3) {
            0 => drop(files.0.remove(one)),
            1 => files.0[one].1 = files.0[other].1.clone(),
            _ => files.0[one].1.clear(),
        }
        return;
    }
    let bytes = &mut files.0[one].1;
    if bytes.is_empty() {
        return;
    }
    // Changes to headers and trailers find more than changes to data.
    let at = match below(draw, 4) {
        0 => below(draw, bytes.len().min(128)),
        1 => bytes.len() - 1 - below(draw, bytes.len().min(128)),
        _ => below(draw, bytes.len()),
    };
    match below(draw, 12) {
        0..3 => bytes[at] ^= 1 << below(draw, 8),
        3 => bytes[at] = draw.next_hi().to_le_bytes()[0],
        4..8 => set_number(bytes, at, draw),
        8 => bytes.truncate(at),
        9 => {
            let from = below(draw, foreign.len().max(1)).min(foreign.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&foreign[from..]);
        }
        10 => {
            let word = WORDS[below(draw, WORDS.len())];
            let end = (at + below(draw, word.len() + 1)).min(bytes.len());
            drop(bytes.splice(at..end, word.iter().copied()));
        }
        _ => {
            let end = (at + below(draw, 40)).min(bytes.len());
            let again = if below(draw, 2) == 0 { vec![] } else { bytes[at..end].repeat(2) };
            drop(bytes.splice(at..end, again));
        }
    }
}

/// Sets a number of one, two, four or eight bytes, in either byte order.
fn set_number(bytes: &mut [u8], at: usize, draw: &mut XorShift32) {
    let width = 1 << below(draw, 4);
    let near = (bytes.len() as u64).wrapping_add(draw.below(9)).wrapping_sub(4);
    let number = if below(draw, 4) == 0 { near } else { NUMBERS[below(draw, NUMBERS.len())] };
    let mut encoded = number.to_le_bytes()[..width].to_vec();
    if below(draw, 2) == 0 {
        encoded.reverse();
    }
    for (byte, new) in bytes[at..].iter_mut().zip(encoded) {
        *byte = new;
    }
}

impl fmt::Display for FileMutator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sound, saved, refused] = self.counts;
        let (total, kib) = (sound + saved + refused, self.peak >> 10);
        write!(
            f,
            "{} sound containers; {total} damaged: {sound} verified, {saved} refused and rescued, \
             {refused} refused; at most {kib} KiB needed for one of them",
            self.samples.len()
        )
    }
}
