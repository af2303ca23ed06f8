//! `cargo xtask crash`: a change that is interrupted leaves the old state or the new one.
//!
//! Each changing operation of each container is recorded, call by call. The states that a crash
//! could have left are then made and read:
//!
//! - killed: every prefix of the calls, and each write of a file cut at every sector;
//! - failed: an I/O error or a full disk at every call;
//! - power lost, drawn from the seed: a prefix, of which what no sync covers is there, is not, or
//!   is torn by sectors or pages.
//!
//! The first two are gone through once; draws follow until `--seconds` are over. A reader has to
//! find the old or the new content, and the next writer has to go on from what was found.
//! `--originals N` has the killed states, and N draws of each operation, read by the program that
//! the format comes from as well, where the format allows it.

mod arrays;
mod bcolz;
mod bloscpack;
mod disk;
mod frames;
mod originals;
mod stores;

use core::time::Duration;
use std::time::Instant;

use blosc_testdata::data::XorShift32;

use crate::{
    args::Args,
    failure::{Context, Result, fail},
};
use disk::{Disk, FileDisk, TreeDisk};
use originals::Originals;

/// What a reader finds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    data: Vec<u8>,
    /// Metadata, names and shapes.
    rest: String,
}

/// One changing operation of a container.
struct Operation<D: Disk> {
    container: &'static str,
    name: &'static str,
    make: fn() -> Result<D>,
    change: fn(D::Handle) -> Result<()>,
    read: fn(&D) -> Result<Content>,
    /// Appends `more` to the data, or changes what [`Content`] does not hold.
    next: fn(D::Handle) -> Result<()>,
    more: &'static [u8],
}

/// How the states of one operation were, and which draw comes next.
struct Subject<D: Disk> {
    operation: Operation<D>,
    before: D,
    calls: Vec<D::Call>,
    old: Content,
    new: Content,
}

/// A subject of any kind of disk.
trait Crash {
    fn container(&self) -> &'static str;
    fn name(&self) -> &'static str;
    /// Every prefix, every cut, every failing call.
    fn check_all(&self, tally: &mut Tally);
    /// A loss of power.
    fn check_drawn(&self, draw: &mut XorShift32, tally: &mut Tally);
    /// Every prefix and some losses of power, read by another program.
    fn check_by(
        &self,
        originals: &mut Originals,
        draws: &mut dyn Iterator<Item = XorShift32>,
        tally: &mut Tally,
    ) -> Result<()>;
}

pub(crate) fn run(mut args: Args) -> Result<()> {
    let seconds: u64 = args.option("--seconds")?.unwrap_or(60);
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    let only: Option<String> = args.option("--only")?;
    let round: Option<u64> = args.option("--round")?;
    let originals: Option<u64> = args.option("--originals")?;
    let python = args.option("--python")?;
    args.finish()?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut subjects = subjects()?;
    if let Some(only) = &only {
        subjects.retain(|subject| subject.container() == only);
        if subjects.is_empty() {
            return fail(format!("--only {only}: no such container"));
        }
    }
    let mut tallies: Vec<Tally> = subjects.iter().map(|_| Tally::default()).collect();
    if let Some(nrounds) = originals {
        let mut originals = Originals::start(python)?;
        for (n, (subject, tally)) in (0_u64..).zip(subjects.iter().zip(&mut tallies)) {
            let mut draws = (0..nrounds).map(|round| draw(seed, round, n));
            subject.check_by(&mut originals, &mut draws, tally)?;
        }
        return report(&subjects, &tallies, seed);
    }
    for (subject, tally) in subjects.iter().zip(&mut tallies) {
        subject.check_all(tally);
    }
    let rounds = round.map_or(0..u64::MAX, |round| round..round.saturating_add(1));
    let mut nrounds = 0_u64;
    for round in rounds {
        if Instant::now() >= end {
            break;
        }
        nrounds += 1;
        for (n, (subject, tally)) in (0_u64..).zip(subjects.iter().zip(&mut tallies)) {
            tally.place = format!("--round {round}");
            subject.check_drawn(&mut draw(seed, round, n), tally);
        }
    }
    println!("crash: seed {seed}, {nrounds} rounds of draws");
    report(&subjects, &tallies, seed)
}

fn draw(seed: u64, round: u64, nsubject: u64) -> XorShift32 {
    let mixed = (seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ nsubject << 48)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let [.., a, b, c, d] = (mixed ^ mixed >> 29).to_le_bytes();
    XorShift32::new(u32::from_le_bytes([a, b, c, d]))
}

fn subjects() -> Result<Vec<Box<dyn Crash>>> {
    let mut subjects: Vec<Box<dyn Crash>> = vec![];
    let files = frames::of_files().into_iter().chain(arrays::of_files()).chain(bloscpack::all());
    for operation in files {
        subjects.push(Box::new(Subject::<FileDisk>::record(operation)?));
    }
    let trees = frames::of_trees().into_iter().chain(arrays::of_trees()).chain(bcolz::all());
    let trees = trees.chain(stores::all());
    for operation in trees {
        subjects.push(Box::new(Subject::<TreeDisk>::record(operation)?));
    }
    Ok(subjects)
}

/// One line for each container; the first bad state of each operation.
fn report(subjects: &[Box<dyn Crash>], tallies: &[Tally], seed: u64) -> Result<()> {
    let mut containers: Vec<&str> = subjects.iter().map(|subject| subject.container()).collect();
    containers.dedup();
    let mut nbad = 0;
    for container in containers {
        let mut sum = Tally::default();
        let mut noperations = 0;
        for (subject, tally) in subjects.iter().zip(tallies) {
            if subject.container() != container {
                continue;
            }
            noperations += 1;
            sum.add(tally);
            if let Some(first) = &tally.first {
                println!("{container}, {}: {} bad states; {first}", subject.name(), tally.nbad);
                println!("again: cargo xtask crash --seed {seed} --only {container}");
            }
        }
        nbad += sum.nbad;
        println!("{container:<12} {noperations:>2} operations: {sum}");
    }
    if nbad == 0 { Ok(()) } else { fail(format!("{nbad} states are neither the old nor the new")) }
}

/// What was found of one operation.
#[derive(Default)]
struct Tally {
    nold: u64,
    nnew: u64,
    /// States from which another writer went on.
    ncontinued: u64,
    nbad: u64,
    /// The first bad state.
    first: Option<String>,
    /// Which state is looked at.
    place: String,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.nold += other.nold;
        self.nnew += other.nnew;
        self.ncontinued += other.ncontinued;
        self.nbad += other.nbad;
    }

    fn count_bad(&mut self, what: impl core::fmt::Display) {
        self.nbad += 1;
        let place = &self.place;
        self.first.get_or_insert_with(|| format!("{place}: {what}"));
    }
}

impl core::fmt::Display for Tally {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { nold, nnew, ncontinued, nbad, .. } = self;
        let nstates = nold + nnew + nbad;
        write!(
            f,
            "{nstates} states: {nold} old, {nnew} new, {nbad} bad; {ncontinued} went on with the \
             next change"
        )
    }
}

impl<D: Disk> Subject<D> {
    fn record(operation: Operation<D>) -> Result<Self> {
        let place = format!("{}, {}", operation.container, operation.name);
        let before = (operation.make)().at(&place)?;
        let old = (operation.read)(&before).at(&place)?;
        let (calls, after) = before.record(operation.change).at(&place)?;
        let new = (operation.read)(&after).at(&place)?;
        if old == new {
            return fail(format!("{place}: changes nothing that is read"));
        }
        Ok(Self { operation, before, calls, old, new })
    }

    /// Reads a state, and lets another writer go on where `goes_on`.
    fn check(&self, disk: &D, goes_on: bool, tally: &mut Tally) -> Option<Content> {
        let found = match (self.operation.read)(disk) {
            Ok(found) if found == self.old => {
                tally.nold += 1;
                found
            }
            Ok(found) if found == self.new => {
                tally.nnew += 1;
                found
            }
            Ok(found) => {
                let (nbytes, rest) = (found.data.len(), found.rest);
                tally.count_bad(format_args!("a state of its own: {nbytes} bytes, {rest}"));
                return None;
            }
            Err(failure) => {
                tally.count_bad(failure);
                return None;
            }
        };
        if goes_on {
            match self.go_on(disk, &found) {
                Ok(()) => tally.ncontinued += 1,
                Err(failure) => tally.count_bad(format_args!("the next change: {failure}")),
            }
        }
        Some(found)
    }

    fn go_on(&self, disk: &D, found: &Content) -> Result<()> {
        let (_, after) = disk.record(self.operation.next)?;
        let expected = [found.data.as_slice(), self.operation.more].concat();
        let content = (self.operation.read)(&after).at("afterwards")?;
        if content.data == expected { Ok(()) } else { fail("leaves other data") }
    }

    fn check_failures(&self, tally: &mut Tally) {
        for kind in [std::io::ErrorKind::Other, std::io::ErrorKind::StorageFull] {
            for ncall in 0.. {
                let outcome = self.before.fail(self.operation.change, ncall, kind);
                tally.place = format!("{kind:?} at call {ncall}");
                let found = self.check(&outcome.left, ncall % 4 == 0, tally);
                if outcome.is_done && found.is_some_and(|found| found != self.new) {
                    tally.count_bad("reported as done, and the old state is there");
                }
                if !outcome.has_failed {
                    break;
                }
            }
        }
    }
}

impl<D: Disk> Crash for Subject<D> {
    fn container(&self) -> &'static str {
        self.operation.container
    }

    fn name(&self) -> &'static str {
        self.operation.name
    }

    fn check_all(&self, tally: &mut Tally) {
        let mut disk = self.before.clone();
        for (n, call) in self.calls.iter().enumerate() {
            tally.place = format!("killed before call {n}");
            self.check(&disk, true, tally);
            for (ncut, cut) in disk.cuts(call).into_iter().enumerate() {
                tally.place = format!("killed in call {n} at sector {ncut}");
                self.check(&cut, ncut % 4 == 0, tally);
            }
            disk.apply(call);
        }
        tally.place = "killed at the end".to_owned();
        self.check(&disk, true, tally);
        self.check_failures(tally);
    }

    fn check_drawn(&self, draw: &mut XorShift32, tally: &mut Tally) {
        self.check(&self.drawn(draw), draw.below(8) == 0, tally);
    }

    fn check_by(
        &self,
        originals: &mut Originals,
        draws: &mut dyn Iterator<Item = XorShift32>,
        tally: &mut Tally,
    ) -> Result<()> {
        if !originals::can_read(self.operation.container, self.operation.name) {
            return Ok(());
        }
        let mut disk = self.before.clone();
        let mut states = vec![];
        for (n, call) in self.calls.iter().enumerate() {
            states.push((format!("killed before call {n}"), disk.clone()));
            disk.apply(call);
        }
        states.push(("killed at the end".to_owned(), disk));
        let drawn =
            draws.zip(0..).map(|(mut draw, n)| (format!("draw {n}"), self.drawn(&mut draw)));
        states.extend(drawn);
        let (old, new) = (originals::digest(&self.old.data), originals::digest(&self.new.data));
        for (place, disk) in states {
            tally.place = place;
            match originals.read(self.operation.container, |path| disk.write(path))? {
                Ok(found) if found == old => tally.nold += 1,
                Ok(found) if found == new => tally.nnew += 1,
                Ok(_) => tally.count_bad("other data"),
                Err(said) => tally.count_bad(said.trim_end()),
            }
        }
        Ok(())
    }
}

impl<D: Disk> Subject<D> {
    /// What a loss of power leaves.
    fn drawn(&self, draw: &mut XorShift32) -> D {
        let stop = usize::try_from(draw.below(self.calls.len() as u64 + 1)).unwrap_or(0);
        let calls = self.calls.get(..stop).unwrap_or_default();
        let mut disk = self.before.clone();
        for (n, call) in calls.iter().enumerate() {
            disk.apply_or_lose(call, calls.get(n + 1..).unwrap_or_default(), draw);
        }
        disk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_is_no_commit_is_found() {
        let operation = Operation::<FileDisk> {
            container: "file",
            name: "overwrite",
            make: || Ok(FileDisk::new(vec![1; 2000])),
            change: |mut store| {
                store.write_at(0, &[2; 2000])?;
                Ok(store.sync(blosc_io::Sync::All)?)
            },
            read: |disk| Ok(Content { data: disk.bytes().to_vec(), rest: String::new() }),
            next: |mut store| Ok(store.write_at(2000, b"more")?),
            more: b"more",
        };
        let mut tally = Tally::default();
        let subject = Subject::record(operation).unwrap();
        subject.check_all(&mut tally);
        assert!(tally.nold > 0 && tally.nnew > 0 && tally.nbad > 2, "{tally}");
        assert!(tally.first.unwrap().starts_with("killed in call 0 at sector"));
        let mut tally = Tally::default();
        (0..100).for_each(|round| subject.check_drawn(&mut draw(1, round, 0), &mut tally));
        assert!(tally.nold > 0 && tally.nnew > 0 && tally.nbad > 0, "{tally}");
    }

    #[test]
    fn every_container_has_its_operations() {
        let subjects = subjects().unwrap();
        let count =
            |container| subjects.iter().filter(|subject| subject.container() == container).count();
        for container in [
            "frame",
            "sparse-frame",
            "b2nd",
            "sparse-b2nd",
            "blp",
            "carray",
            "ctable",
            "b2z",
            "b2d",
            "b2e",
        ] {
            assert!(count(container) >= 3, "{container}: {}", count(container));
        }
    }
}
