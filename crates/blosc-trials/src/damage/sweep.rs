//! Each sample cut at every byte of each of its files, and each page
//! of them zeroed in turn; larger ones too, which are cut and changed at random bytes. Chunks that
//! are whole come back at their places; how many do where more than chunks was hit is counted.

use core::ops::Range;

use blosc_testdata::data::XorShift32;

use super::{Settings, Tally, hit::Hit};
use crate::{
    Say,
    cases::{Panics, below, draw},
    container::{Sample, large_samples, samples},
    failure::{Result, fail},
};

/// What a file system loses as a whole (bytes).
const PAGE: usize = 4096;

/// What a sweep of one sample found.
#[derive(Default)]
struct Found {
    cases: u64,
    tally: Tally,
}

/// What became of the chunks that were not hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The container of the sample.
    pub container: &'static str,
    /// What was done to it.
    pub what: String,
    /// In how many places.
    pub ncases: u64,
    /// Whole chunks of all cases.
    pub nwhole: u64,
    /// Those of them that rescue gave back.
    pub nback: u64,
}

/// Cuts every sample at each byte whose position is a multiple of `step`, and zeroes each page;
/// cuts and changes the large ones at as many random bytes as there are cases. Reports a line for
/// each.
///
/// # Errors
///
/// A chunk that is whole was not given back, where chunks alone were hit.
pub fn sweep(settings: &Settings, step: usize, say: Say<'_>) -> Result<Vec<Swept>> {
    let panics = Panics::watch();
    let (mut nbad, mut all) = (0, vec![]);
    let mut note = |sample: &Sample, what: &str, found: Found| {
        nbad += found.tally.nbad;
        all.push(report(sample, what, &found, say));
    };
    for sample in samples()?.iter().filter(|sample| settings.takes(sample)) {
        let every = if step == 1 { "every byte" } else { "some bytes" };
        note(sample, &format!("cut at {every}"), cuts(sample, step, &panics));
        note(sample, "each page zeroed", pages(sample, &panics));
    }
    let nbytes = settings.cases.end;
    for sample in large_samples()?.iter().filter(|sample| settings.takes(sample)) {
        note(sample, "each page zeroed", pages(sample, &panics));
        note(sample, &format!("cut at {nbytes} bytes"), random_cuts(sample, settings, &panics));
        note(sample, &format!("{nbytes} bytes changed"), changes(sample, settings, &panics));
    }
    if nbad == 0 { Ok(all) } else { fail(format!("{nbad} are not as promised")) }
}

fn report(sample: &Sample, what: &str, found: &Found, say: &mut dyn FnMut(String)) -> Swept {
    let Found { cases, tally } = found;
    let (beside, others) = (tally.beside_chunks, tally.beside_others);
    let Sample { container, .. } = sample;
    say(format!(
        "{container:<12} {:<8} {what}: {cases} cases; whole chunks back {beside}, {others} where \
         more than chunks was hit; {} bad",
        sample.sealed(),
        tally.nbad
    ));
    tally.first.iter().for_each(|first| say(format!("  {first}")));
    Swept {
        container,
        what: what.to_owned(),
        ncases: *cases,
        nwhole: beside.ncases + others.ncases,
        nback: beside.ngood + others.ngood,
    }
}

fn cuts(sample: &Sample, step: usize, panics: &Panics) -> Found {
    let mut found = Found::default();
    for (nfile, (_, bytes)) in sample.files.0.iter().enumerate() {
        for kept in (0..bytes.len()).step_by(step) {
            let change = |bytes: &mut Vec<u8>| bytes.truncate(kept);
            damaged(sample, nfile, kept..bytes.len(), &change, panics, &mut found);
        }
    }
    found
}

fn pages(sample: &Sample, panics: &Panics) -> Found {
    let mut found = Found::default();
    for (nfile, (_, bytes)) in sample.files.0.iter().enumerate() {
        for start in (0..bytes.len()).step_by(PAGE) {
            let page = start..(start + PAGE).min(bytes.len());
            let change = |bytes: &mut Vec<u8>| bytes[page.clone()].fill(0);
            damaged(sample, nfile, page.clone(), &change, panics, &mut found);
        }
    }
    found
}

fn random_cuts(sample: &Sample, settings: &Settings, panics: &Panics) -> Found {
    let mut found = Found::default();
    for number in settings.cases.clone() {
        let (nfile, at) = place(sample, &mut draw(settings.seed, number));
        let change = |bytes: &mut Vec<u8>| bytes.truncate(at);
        damaged(sample, nfile, at..sample.files.0[nfile].1.len(), &change, panics, &mut found);
    }
    found
}

fn changes(sample: &Sample, settings: &Settings, panics: &Panics) -> Found {
    let mut found = Found::default();
    for number in settings.cases.clone() {
        let mut draw = draw(settings.seed, number);
        let (nfile, at) = place(sample, &mut draw);
        let mask = u8::try_from(1 + below(&mut draw, 255)).unwrap_or(1);
        let change = |bytes: &mut Vec<u8>| bytes[at] ^= mask;
        damaged(sample, nfile, at..at + 1, &change, panics, &mut found);
    }
    found
}

/// A byte of one of the files.
fn place(sample: &Sample, draw: &mut XorShift32) -> (usize, usize) {
    let mut at = below(draw, sample.files.nbytes());
    for (nfile, (_, bytes)) in sample.files.0.iter().enumerate() {
        if at < bytes.len() {
            return (nfile, at);
        }
        at -= bytes.len();
    }
    (0, 0)
}

/// Rescues the sample with one file changed, and counts what came back.
fn damaged(
    sample: &Sample,
    nfile: usize,
    range: Range<usize>,
    change: &dyn Fn(&mut Vec<u8>),
    panics: &Panics,
    found: &mut Found,
) {
    let Some(rescue) = sample.rescue else { return };
    let mut files = sample.files.clone();
    let (name, bytes) = &mut files.0[nfile];
    let name = name.clone();
    change(bytes);
    found.cases += 1;
    found.tally.place = format!("bytes {range:?} of {name}");
    match panics.catch(|| Ok(rescue(&files))) {
        Ok(rescued) => {
            let hit = Hit::of_range(name, nfile, range);
            found.tally.count_rescued(sample, &hit, &rescued);
        }
        Err(failure) => found.tally.count_bad(failure),
    }
}
