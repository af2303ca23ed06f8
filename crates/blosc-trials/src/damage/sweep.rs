//! Each sample cut at every byte of each of its files, and with each page zeroed in turn; larger
//! samples cut and changed at random bytes. Undamaged chunks come back at their positions; if the
//! damage reaches other parts, the returned ones are counted.

use core::ops::Range;

use blosc_testdata::data::XorShift32;

use super::{Settings, Tally, hit::Hit};
use crate::{
    Say,
    cases::{Panics, below, draw},
    container::{Sample, large_samples, samples},
    failure::{Result, fail},
};

/// The unit that a file system loses (bytes).
const PAGE: usize = 4096;

/// The results of sweeping one sample.
#[derive(Default)]
struct Found {
    cases: u64,
    tally: Tally,
}

/// The fate of the undamaged chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The container of the sample.
    pub container: &'static str,
    /// The kind of damage.
    pub what: String,
    /// The number of damaged positions.
    pub ncases: u64,
    /// Undamaged chunks of all cases.
    pub nwhole: u64,
    /// Undamaged chunks that rescue returned.
    pub nback: u64,
}

/// Cuts every sample at each byte whose position is a multiple of `step`, and zeroes each page.
/// Cuts and changes the large ones at a random byte for each case. Reports a line for each.
///
/// # Errors
///
/// Rescue did not return an undamaged chunk, although only chunks were damaged.
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

/// A random byte of one of the files.
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

/// Rescues the sample with one file changed, and counts the returned chunks.
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
