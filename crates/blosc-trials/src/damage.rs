//! Damage by a bad disk is noticed, and the undamaged data come back.
//!
//! Each container, with checksums and without, is damaged at one position: a bit flipped, a file
//! cut, a sector zeroed, two ranges exchanged, a range replaced by bytes of another file. It is
//! then opened, verified, read and rescued:
//!
//! - no operation panics, or needs more memory than the limits and the files account for;
//! - a container that verifies can be read;
//! - with checksums, verifying reports every flipped bit that they cover;
//! - if only chunks are damaged, rescue returns all others at their positions. If a header or an
//!   index is damaged, the returned chunks are counted.
//!
//! With checksums for each chunk, verifying names the chunk with a flipped bit.
//!
//! Cases follow until the time is over. The seed and its number determine each case. [`flip_bits`]
//! tries each class of bytes that checksums cover, [`sweep`] every cut and every page.

mod flips;
pub mod hit;
mod sweep;

use core::{fmt, ops::Range, time::Duration};
use std::time::Instant;

use crate::{
    Say,
    cases::{Panics, below, draw, memory_for},
    container::{Files, Sample, samples},
    failure::{Result, fail},
};
pub use flips::flip_bits;
use hit::{Hit, Kind, damage};
pub use sweep::{Swept, sweep};

/// Bytes that readers need for any container: decoders, caches, a chunk at the limit.
pub(crate) const STATES: usize = 8 << 20;

/// Bytes for each byte of the files: tables of chunks and blocks, copies in memory.
pub(crate) const PER_BYTE: usize = 64;

/// The duration and the selection of a trial.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of the damage.
    pub seed: u64,
    /// The time after which no case begins.
    pub time: Duration,
    /// The only container to try; all by default.
    pub only: Option<String>,
    /// The numbers of the cases.
    pub cases: Range<u64>,
}

impl Settings {
    pub(crate) fn takes(&self, sample: &Sample) -> bool {
        self.only.as_ref().is_none_or(|only| only == sample.container)
    }
}

/// Damages each sample at one position per case, and reports a line for each sample. Returns for
/// each sample and kind of damage the number of cases, and of cases that verifying reported.
///
/// # Errors
///
/// A sample breaks a promise of this module.
pub fn run(settings: &Settings, say: Say<'_>) -> Result<Vec<[(u64, u64); Kind::ALL.len()]>> {
    let Settings { seed, only, cases, .. } = settings;
    let all = samples()?;
    let chosen: Vec<&Sample> = all.iter().filter(|sample| settings.takes(sample)).collect();
    if chosen.is_empty() {
        return fail(format!("--only {}: no such container", only.clone().unwrap_or_default()));
    }
    let start = Instant::now();
    let mut tallies: Vec<Tally> = chosen.iter().map(|_| Tally::default()).collect();
    let panics = Panics::watch();
    for number in cases.clone().take_while(|_| start.elapsed() < settings.time) {
        let mut draw = draw(*seed, number);
        let nsample = below(&mut draw, chosen.len());
        let kind = Kind::ALL[below(&mut draw, Kind::ALL.len())];
        let (sample, tally) = (chosen[nsample], &mut tallies[nsample]);
        let mut files = sample.files.clone();
        let Some(hit) = damage(&mut files, kind, &all, &mut draw) else { continue };
        tally.place = format!("case {number}, {hit}");
        check(sample, &files, &hit, kind, &panics, tally);
    }
    report(&chosen, &tallies, *seed, say)?;
    Ok(tallies.iter().map(|tally| tally.counts.map(|one| (one.ncases, one.ngood))).collect())
}

fn check(
    sample: &Sample,
    files: &Files,
    hit: &Hit,
    kind: Kind,
    panics: &Panics,
    tally: &mut Tally,
) {
    let start = Instant::now();
    let (outcome, needed) = memory_for(|| panics.catch(|| Ok(Outcome::of_reading(sample, files))));
    tally.peak = tally.peak.max(needed);
    tally.slowest = tally.slowest.max(start.elapsed());
    let count = &mut tally.counts[kind as usize];
    count.ncases += 1;
    if needed > STATES + PER_BYTE * files.nbytes() {
        tally.count_bad(format_args!("{needed} bytes of memory"));
    }
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => return tally.count_bad(failure),
    };
    let is_noticed = outcome.verify.is_err();
    tally.counts[kind as usize].ngood += u64::from(is_noticed);
    if let (Ok(()), Err(failure)) = (&outcome.verify, &outcome.read) {
        tally.count_bad(format_args!("verified, and cannot be read: {failure}"));
    }
    if sample.is_sealed && kind == Kind::Flip && hit.is_within(&sample.covered) {
        tally.covered.ncases += 1;
        tally.covered.ngood += u64::from(is_noticed);
        if !is_noticed {
            tally.count_bad("not noticed");
        }
    }
    if sample.is_sealed && kind == Kind::Flip {
        tally.count_named(sample, hit, &outcome.verify);
    }
    if let Some(rescued) = &outcome.rescued {
        tally.count_rescued(sample, hit, rescued);
    }
}

/// The results of reading a damaged container.
struct Outcome {
    verify: Result<()>,
    read: Result<()>,
    rescued: Option<Result<crate::container::Rescued>>,
}

impl Outcome {
    fn of_reading(sample: &Sample, files: &Files) -> Self {
        Self {
            verify: (sample.verify)(files),
            read: (sample.read)(files),
            rescued: sample.rescue.map(|rescue| rescue(files)),
        }
    }
}

/// The number of cases, and of good ones: reported damage, returned chunks.
#[derive(Clone, Copy, Default)]
struct Count {
    ncases: u64,
    ngood: u64,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ngood, self.ncases)
    }
}

/// The results of one sample.
#[derive(Default)]
struct Tally {
    counts: [Count; Kind::ALL.len()],
    /// Flipped bits that the checksums cover.
    covered: Count,
    /// Flipped bits in chunks; good if the report names the chunk.
    named: Count,
    /// Undamaged chunks beside damaged ones; good if rescue returned them.
    beside_chunks: Count,
    /// Undamaged chunks after damage to a header, an index or metadata.
    beside_others: Count,
    peak: usize,
    slowest: Duration,
    nbad: u64,
    /// The first failures.
    first: Vec<String>,
    /// The current case.
    place: String,
}

impl Tally {
    fn count_bad(&mut self, what: impl fmt::Display) {
        self.nbad += 1;
        if self.first.len() < 5 {
            self.first.push(format!("{}: {what}", self.place));
        }
    }

    /// Counts whether the report names the chunk with a flipped bit.
    fn count_named(&mut self, sample: &Sample, hit: &Hit, verified: &Result<()>) {
        let Some(chunk) = sample.chunks.iter().find(|chunk| hit.is_on(chunk)) else { return };
        self.named.ncases += 1;
        let name = format!("chunk {}", chunk.number);
        match verified {
            Err(failure) if failure.to_string().contains(&name) => self.named.ngood += 1,
            other => self.count_bad(format_args!("{name} is not named: {other:?}")),
        }
    }

    fn count_rescued(
        &mut self,
        sample: &Sample,
        hit: &Hit,
        rescued: &Result<crate::container::Rescued>,
    ) {
        let nothing = vec![];
        let found = rescued.as_ref().unwrap_or(&nothing);
        let is_on_chunks = hit.is_on_chunks_alone(&sample.chunks);
        let is_back = |nchunk: usize, data: &Vec<u8>| {
            found.get(nchunk).is_some_and(|found| found.as_ref() == Some(data))
        };
        let whole = sample.chunks.iter().enumerate().filter(|(_, chunk)| !hit.is_on(chunk));
        let mut missing = None;
        let count = if is_on_chunks { &mut self.beside_chunks } else { &mut self.beside_others };
        for (nchunk, chunk) in whole {
            count.ncases += 1;
            match is_back(nchunk, &chunk.data) {
                true => count.ngood += 1,
                false => missing = missing.or(Some(nchunk)),
            }
        }
        match (missing.filter(|_| is_on_chunks), rescued) {
            (None, _) => {}
            (Some(nchunk), Ok(_)) => {
                self.count_bad(format_args!("chunk {nchunk} is not given back"));
            }
            (Some(_), Err(failure)) => self.count_bad(format_args!("not rescued: {failure}")),
        }
    }
}

fn report(samples: &[&Sample], tallies: &[Tally], seed: u64, say: Say<'_>) -> Result<()> {
    say(format!("damage: seed {seed}; noticed of how many, chunks that were not hit given back"));
    let mut nbad = 0;
    for (sample, tally) in samples.iter().zip(tallies) {
        nbad += tally.nbad;
        say(line_of(sample, tally));
        tally.first.iter().for_each(|first| say(format!("  {first}")));
    }
    if nbad == 0 {
        return Ok(());
    }
    fail(format!("{nbad} are not as promised; again: cargo xtask damage --seed {seed} --case N"))
}

fn line_of(sample: &Sample, tally: &Tally) -> String {
    let mut line = format!("{:<12} {:<8}", sample.container, sample.sealed());
    for (kind, count) in Kind::ALL.iter().zip(&tally.counts) {
        line += &format!(" {} {count};", kind.name());
    }
    if sample.is_sealed {
        line += &format!(" covered bits {}, chunk named {};", tally.covered, tally.named);
    }
    if sample.rescue.is_some() {
        let (beside, others) = (tally.beside_chunks, tally.beside_others);
        line += &format!(" given back {beside}, {others} where more than chunks was hit;");
    }
    let (kib, slowest) = (tally.peak >> 10, tally.slowest.as_millis());
    line + &format!(" at most {kib} KiB, {slowest} ms; {} bad", tally.nbad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_noticed_or_given_back_is_found() {
        let mut sample = samples().unwrap().swap_remove(0);
        sample.verify = |_| Ok(());
        sample.rescue = Some(|_| Ok(vec![]));
        let mut files = sample.files.clone();
        let samples = [sample];
        let hit = damage(&mut files, Kind::Flip, &samples, &mut draw(1, 1)).unwrap();
        let (mut tally, panics) = (Tally::default(), Panics::watch());
        check(&samples[0], &files, &hit, Kind::Flip, &panics, &mut tally);
        assert!(tally.nbad >= 2, "{:?}", tally.first);
    }
}
