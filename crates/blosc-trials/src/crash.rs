//! An interrupted change leaves the old state or the new one.
//!
//! Each changing operation of each container is recorded, call by call. Then all states that a
//! crash could have left are made and read:
//!
//! - killed: every prefix of the calls, each write of a file cut at every sector (in a Bloscpack
//!   file at every byte), and a second kill during the next writer;
//! - failed: an I/O error or a full disk at every call, once and from there on, and an error at
//!   calls that read;
//! - power lost: a prefix, with the last calls undone that no sync covers;
//! - power lost, drawn from the seed: a prefix, in which each unsynced write is complete, missing,
//!   or torn by sectors or pages.
//!
//! The trial goes through all kinds but the last once; draws follow until the time is over. A
//! reader must find the old or the new content, and the next writer must be able to go on from
//! there. A failed change must return its error.

/// Operations of one writer of frames; each is committed afterwards.
macro_rules! edits {
    (
        $writer:ty, $open:expr, $container:literal, $make:expr, $read:expr, $later:expr;
        $($name:literal: $change:expr,)*
    ) => {
        vec![$(Operation {
            container: $container,
            name: $name,
            make: $make,
            change: |handle| {
                let change: fn(&mut $writer) -> b2frame::Result<()> = $change;
                let mut writer = $open(handle)?;
                change(&mut writer)?;
                Ok(writer.commit()?)
            },
            read: $read,
            next: |handle| {
                let later: fn(&mut $writer) -> b2frame::Result<()> = $later;
                let mut writer = $open(handle)?;
                later(&mut writer)?;
                Ok(writer.commit()?)
            },
            more: b"",
        }),*]
    };
}

mod arrays;
mod bcolz;
mod bloscpack;
mod disk;
mod frames;
mod stores;

use core::{ops::Range, time::Duration};
use std::{io, path::Path, time::Instant};

use blosc_io::testing::Fault;
use blosc_testdata::{data::XorShift32, sha256_hex};

use crate::{
    Say,
    failure::{Context, Result, fail},
};
use disk::{Disk, FileDisk, SECTOR, TreeDisk};

/// The content that a reader finds.
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
    /// Appends `more` to the data, or changes a part that [`Content`] leaves out.
    next: fn(D::Handle) -> Result<()>,
    more: &'static [u8],
}

/// The recorded calls of one operation, and the contents before and after.
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
        other: &mut dyn Other,
        draws: &mut dyn Iterator<Item = XorShift32>,
        tally: &mut Tally,
    ) -> Result<()>;
}

/// The duration and the selection of a trial.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of drawn losses of power.
    pub seed: u64,
    /// The time after which no draw begins.
    pub time: Duration,
    /// The only container to try; all by default.
    pub only: Option<String>,
    /// The draws of each operation.
    pub rounds: Range<u64>,
}

/// Another program that reads containers.
pub trait Other {
    /// Whether the format allows it to read the state after a kill.
    fn can_read(&self, container: &str, operation: &str) -> bool;

    /// The SHA-256 of the data of a container that `write` makes at a path, or the program's error
    /// message.
    ///
    /// # Errors
    ///
    /// The program cannot be reached.
    fn read(
        &mut self,
        container: &str,
        write: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<core::result::Result<String, String>>;
}

/// The numbers of a container's operations and states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its name.
    pub container: &'static str,
    /// Changing operations.
    pub noperations: usize,
    /// States of all operations.
    pub nstates: u64,
}

/// Interrupts every operation in every way, and reports one line for each container.
///
/// # Errors
///
/// A state is neither the old one nor the new one.
pub fn run(settings: &Settings, say: Say<'_>) -> Result<Vec<Count>> {
    let start = Instant::now();
    let subjects = subjects_of(settings)?;
    let mut tallies: Vec<Tally> = subjects.iter().map(|_| Tally::default()).collect();
    for (subject, tally) in subjects.iter().zip(&mut tallies) {
        subject.check_all(tally);
    }
    let mut nrounds = 0_u64;
    for round in settings.rounds.clone().take_while(|_| start.elapsed() < settings.time) {
        nrounds += 1;
        for (n, (subject, tally)) in (0_u64..).zip(subjects.iter().zip(&mut tallies)) {
            tally.place = format!("--round {round}");
            subject.check_drawn(&mut draw(settings.seed, round, n), tally);
        }
    }
    say(format!("crash: seed {}, {nrounds} rounds of draws", settings.seed));
    report(&subjects, &tallies, settings.seed, say)
}

/// Lets another program read the killed states, and `ndraws` losses of power of each operation.
/// # Errors
///
/// The program finds data that are neither the old ones nor the new ones.
pub fn read_by(
    other: &mut dyn Other,
    settings: &Settings,
    ndraws: u64,
    say: Say<'_>,
) -> Result<Vec<Count>> {
    let seed = settings.seed;
    let subjects = subjects_of(settings)?;
    let mut tallies: Vec<Tally> = subjects.iter().map(|_| Tally::default()).collect();
    for (n, (subject, tally)) in (0_u64..).zip(subjects.iter().zip(&mut tallies)) {
        let mut draws = (0..ndraws).map(|round| draw(seed, round, n));
        subject.check_by(other, &mut draws, tally)?;
    }
    report(&subjects, &tallies, seed, say)
}

fn draw(seed: u64, round: u64, nsubject: u64) -> XorShift32 {
    let mixed = (seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ nsubject << 48)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let [.., a, b, c, d] = (mixed ^ mixed >> 29).to_le_bytes();
    XorShift32::new(u32::from_le_bytes([a, b, c, d]))
}

fn subjects_of(settings: &Settings) -> Result<Vec<Box<dyn Crash>>> {
    let mut subjects = subjects()?;
    let Some(only) = &settings.only else { return Ok(subjects) };
    subjects.retain(|subject| subject.container() == only);
    if subjects.is_empty() {
        return fail(format!("--only {only}: no such container"));
    }
    Ok(subjects)
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

/// Prints one line for each container, and the first bad state of each operation.
fn report(
    subjects: &[Box<dyn Crash>],
    tallies: &[Tally],
    seed: u64,
    say: Say<'_>,
) -> Result<Vec<Count>> {
    let mut containers: Vec<&'static str> = subjects.iter().map(|one| one.container()).collect();
    containers.dedup();
    let (mut nbad, mut counts) = (0, vec![]);
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
                say(format!("{container}, {}: {} bad states; {first}", subject.name(), tally.nbad));
                say(format!("again: cargo xtask crash --seed {seed} --only {container}"));
            }
        }
        nbad += sum.nbad;
        say(format!("{container:<12} {noperations:>2} operations: {sum}"));
        counts.push(Count { container, noperations, nstates: sum.nstates() });
    }
    if nbad == 0 {
        return Ok(counts);
    }
    fail(format!("{nbad} states are neither the old nor the new"))
}

/// The results of one operation.
#[derive(Default)]
struct Tally {
    nold: u64,
    nnew: u64,
    /// States from which another writer went on.
    ncontinued: u64,
    nbad: u64,
    /// The first bad state.
    first: Option<String>,
    /// The current state.
    place: String,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.nold += other.nold;
        self.nnew += other.nnew;
        self.ncontinued += other.ncontinued;
        self.nbad += other.nbad;
    }

    fn nstates(&self) -> u64 {
        self.nold + self.nnew + self.nbad
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
        let nstates = self.nstates();
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

    /// Reads a state, and lets another writer go on if `goes_on`.
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

    /// The unit of a write that stays whole (bytes): the journal of a Bloscpack file needs none.
    fn unit(&self) -> usize {
        if self.operation.container == "blp" { 1 } else { SECTOR }
    }

    fn go_on(&self, disk: &D, found: &Content) -> Result<()> {
        let (_, after) = disk.record(self.operation.next)?;
        let expected = [found.data.as_slice(), self.operation.more].concat();
        let content = (self.operation.read)(&after).at("afterwards")?;
        if content.data == expected { Ok(()) } else { fail("leaves other data") }
    }

    /// Power is lost after `stop` calls; any of the last two calls without a sync may be undone.
    fn lose_last(&self, stop: usize, tally: &mut Tally) {
        let calls = &self.calls[..stop];
        let may_be_lost = |n: &usize| D::may_be_lost(&calls[*n], &calls[n + 1..]);
        let last: Vec<usize> = (0..stop).rev().filter(may_be_lost).take(2).collect();
        for set in 1..1_u32 << last.len() {
            let is_lost = |n| last.iter().zip(0..).any(|(at, bit)| *at == n && set >> bit & 1 == 1);
            let mut disk = self.before.clone();
            let kept = calls.iter().enumerate().filter(|(n, _)| !is_lost(*n));
            kept.for_each(|(_, call)| disk.apply(call));
            tally.place = format!("power lost after call {stop}, and {set:#b} of {last:?} undone");
            self.check(&disk, false, tally);
        }
    }

    /// Kills the next writer as well, at each of its calls.
    fn kill_next(&self, disk: &D, tally: &mut Tally) {
        let Ok((calls, after)) = disk.record(self.operation.next) else { return };
        let read = self.operation.read;
        let (Ok(found), Ok(next)) = (read(disk), read(&after)) else { return };
        let mut disk = disk.clone();
        let place = tally.place.clone();
        for (n, call) in calls.iter().enumerate() {
            disk.apply(call);
            tally.place = format!("{place}, and the next writer after call {n}");
            match read(&disk) {
                Ok(again) if again == next => tally.nnew += 1,
                Ok(again) if again == found => tally.nold += 1,
                Ok(_) => tally.count_bad("a state of its own"),
                Err(failure) => tally.count_bad(failure),
            }
        }
    }

    fn check_failures(&self, fault: Fault, tally: &mut Tally) {
        for after in 0.. {
            let fault = Fault { after, ..fault };
            let outcome = self.before.fail(self.operation.change, fault);
            tally.place = format!("{fault:?}");
            let found = self.check(&outcome.left, after % 4 == 0, tally);
            match &outcome.done {
                Ok(()) if found.is_some_and(|found| found != self.new) => {
                    tally.count_bad("reported as done, and the old state is there");
                }
                Err(failure) if !failure.to_string().contains(&fault.kind.to_string()) => {
                    tally.count_bad(format_args!("does not say why it failed: {failure}"));
                }
                _ => {}
            }
            if !outcome.has_failed {
                break;
            }
        }
    }
}

/// Failures to try at every call.
const FAULTS: [Fault; 5] = [
    Fault { after: 0, kind: io::ErrorKind::Other, reads: false, lasts: false },
    Fault { after: 0, kind: io::ErrorKind::StorageFull, reads: false, lasts: false },
    Fault { after: 0, kind: io::ErrorKind::Other, reads: false, lasts: true },
    Fault { after: 0, kind: io::ErrorKind::StorageFull, reads: false, lasts: true },
    Fault { after: 0, kind: io::ErrorKind::Other, reads: true, lasts: false },
];

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
            if n % 4 == 1 {
                self.kill_next(&disk, tally);
            }
            let unit = self.unit();
            for (ncut, cut) in disk.cuts(call, unit).into_iter().enumerate() {
                tally.place = format!("killed in call {n} at cut {ncut} of {unit} bytes");
                self.check(&cut, (unit * ncut).is_multiple_of(4 * SECTOR), tally);
            }
            disk.apply(call);
        }
        (1..=self.calls.len()).for_each(|stop| self.lose_last(stop, tally));
        tally.place = "killed at the end".to_owned();
        self.check(&disk, true, tally);
        for fault in FAULTS {
            self.check_failures(fault, tally);
        }
    }

    fn check_drawn(&self, draw: &mut XorShift32, tally: &mut Tally) {
        self.check(&self.drawn(draw), draw.below(8) == 0, tally);
    }

    fn check_by(
        &self,
        other: &mut dyn Other,
        draws: &mut dyn Iterator<Item = XorShift32>,
        tally: &mut Tally,
    ) -> Result<()> {
        if !other.can_read(self.operation.container, self.operation.name) {
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
        let (old, new) = (sha256_hex(&self.old.data), sha256_hex(&self.new.data));
        for (place, disk) in states {
            tally.place = place;
            match other.read(self.operation.container, &|path| disk.write(path))? {
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
    /// A state that a loss of power may leave.
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
        assert!(tally.first.unwrap().starts_with("killed in call 0 at cut"));
        let mut tally = Tally::default();
        (0..100).for_each(|round| subject.check_drawn(&mut draw(1, round, 0), &mut tally));
        assert!(tally.nold > 0 && tally.nnew > 0 && tally.nbad > 0, "{tally}");
    }
}
