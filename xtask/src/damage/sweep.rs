//! `cargo xtask damage --sweep`: each sample cut at every byte of each of its files, and each page
//! of them zeroed in turn; larger ones too, which are cut and changed at random bytes. Chunks that
//! are whole come back at their places; how many do where more than chunks was hit is counted.

use core::ops::Range;

use blosc_testdata::data::XorShift32;

use super::{Tally, hit::Hit};
use crate::{
    args::Args,
    cases::{Panics, below, draw},
    containers::{Sample, large_samples, samples},
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

pub(super) fn run(mut args: Args) -> Result<()> {
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    let nbytes: u64 = args.option("--bytes")?.unwrap_or(10_000);
    let only: Option<String> = args.option("--only")?;
    args.finish()?;
    let is_chosen = |sample: &Sample| only.as_ref().is_none_or(|only| only == sample.container);
    let panics = Panics::watch();
    let mut nbad = 0;
    for sample in samples()?.iter().filter(|sample| sample.rescue.is_some() && is_chosen(sample)) {
        nbad += report(sample, "cut at every byte", &cuts(sample, &panics));
        nbad += report(sample, "each page zeroed", &pages(sample, &panics));
    }
    for sample in large_samples()?.iter().filter(|sample| is_chosen(sample)) {
        nbad += report(sample, "each page zeroed", &pages(sample, &panics));
        let what = format!("cut at {nbytes} bytes");
        nbad += report(sample, &what, &random_cuts(sample, seed, nbytes, &panics));
        let what = format!("{nbytes} bytes changed");
        nbad += report(sample, &what, &changes(sample, seed, nbytes, &panics));
    }
    if nbad == 0 { Ok(()) } else { fail(format!("{nbad} are not as promised")) }
}

fn report(sample: &Sample, what: &str, Found { cases, tally }: &Found) -> u64 {
    let sealed = if sample.is_sealed { "sealed" } else { "unsealed" };
    let (beside, others) = (tally.beside_chunks, tally.beside_others);
    println!(
        "{:<12} {sealed:<8} {what}: {cases} cases; whole chunks back {beside}, {others} where more \
         than chunks was hit; {} bad",
        sample.container, tally.nbad
    );
    tally.first.iter().for_each(|first| println!("  {first}"));
    tally.nbad
}

fn cuts(sample: &Sample, panics: &Panics) -> Found {
    let mut found = Found::default();
    for (nfile, (_, bytes)) in sample.files.0.iter().enumerate() {
        for kept in 0..bytes.len() {
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

fn random_cuts(sample: &Sample, seed: u64, count: u64, panics: &Panics) -> Found {
    let mut found = Found::default();
    for number in 0..count {
        let (nfile, at) = place(sample, &mut draw(seed, number));
        let change = |bytes: &mut Vec<u8>| bytes.truncate(at);
        damaged(sample, nfile, at..sample.files.0[nfile].1.len(), &change, panics, &mut found);
    }
    found
}

fn changes(sample: &Sample, seed: u64, count: u64, panics: &Panics) -> Found {
    let mut found = Found::default();
    for number in 0..count {
        let mut draw = draw(seed, number);
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
