//! The states of a file or a directory after a crash.

use core::fmt::Debug;
use std::{fs, path::Path, sync::Arc};

use blosc_io::{
    MemStore, WriteAt,
    testing::{
        Change, FailingStore, FailingTree, Fault, Plan, RecordingStore, RecordingTree, Step,
    },
    tree::{MemTree, Tree, join, parent},
};
use blosc_testdata::data::XorShift32;

use crate::{
    container::Files,
    failure::{Result, fail},
};

/// The unit that a disk writes whole, and the size of a memory page (bytes).
const PIECES: [usize; 2] = [SECTOR, 4096];

/// Most containers rely on sectors (bytes).
pub(super) const SECTOR: usize = 512;

/// Bytes on a medium, changed by calls.
pub(super) trait Disk: Clone + 'static {
    /// The store or tree that a writer gets.
    type Handle;
    /// A call of a writer.
    type Call: Debug;

    /// The calls of a successful change, and the state after it.
    fn record(&self, change: fn(Self::Handle) -> Result<()>) -> Result<(Vec<Self::Call>, Self)>;

    /// The outcome of a change in which a call fails.
    fn fail(&self, change: fn(Self::Handle) -> Result<()>, fault: Fault) -> Outcome<Self>;

    fn apply(&mut self, call: &Self::Call);

    /// The possible states if the process dies within the call; the medium writes `unit` bytes as a
    /// whole.
    fn cuts(&self, call: &Self::Call, unit: usize) -> Vec<Self>;

    /// Whether a loss of power after `later` calls may undo the call.
    fn may_be_lost(call: &Self::Call, later: &[Self::Call]) -> bool;

    /// Applies the call as a loss of power after `later` calls may leave it.
    fn apply_or_lose(&mut self, call: &Self::Call, later: &[Self::Call], draw: &mut XorShift32);

    /// Writes the bytes as a file or a directory.
    fn write(&self, path: &Path) -> Result<()>;
}

/// The outcome of a change that was to fail.
pub(super) struct Outcome<D> {
    pub(super) left: D,
    /// The result of the change.
    pub(super) done: Result<()>,
    /// Whether the failing call occurred.
    pub(super) has_failed: bool,
}

/// One file.
#[derive(Clone)]
pub(super) struct FileDisk(Vec<u8>);

impl FileDisk {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        let end = at.saturating_add(bytes.len());
        if self.0.len() < end {
            self.0.resize(end, 0);
        }
        self.0[at..end].copy_from_slice(bytes);
    }
}

impl Disk for FileDisk {
    type Handle = Box<dyn WriteAt>;
    type Call = Change;

    fn record(&self, change: fn(Self::Handle) -> Result<()>) -> Result<(Vec<Change>, Self)> {
        let store = RecordingStore::new(MemStore::new(self.0.clone()));
        let recording = store.recording();
        change(Box::new(store))?;
        let calls = recording.take();
        let mut after = self.clone();
        calls.iter().for_each(|call| after.apply(call));
        Ok((calls, after))
    }

    fn fail(&self, change: fn(Self::Handle) -> Result<()>, fault: Fault) -> Outcome<Self> {
        let store = RecordingStore::new(MemStore::new(self.0.clone()));
        let (recording, plan) = (store.recording(), Plan::default());
        plan.set(fault);
        let done = change(Box::new(FailingStore::new(store, plan.clone())));
        let mut left = self.clone();
        recording.take().iter().for_each(|call| left.apply(call));
        Outcome { left, done, has_failed: !plan.is_pending() }
    }

    fn apply(&mut self, call: &Change) {
        match call {
            Change::Write { at, bytes } => self.overwrite(position(*at), bytes),
            Change::SetLen(len) => self.0.resize(position(*len), 0),
            Change::Sync => {}
        }
    }

    fn cuts(&self, call: &Change, unit: usize) -> Vec<Self> {
        let Change::Write { at, bytes } = call else { return vec![] };
        let at = position(*at);
        let cuts = pieces(at, bytes.len(), unit).into_iter().skip(1).map(|(start, _)| {
            let mut cut = self.clone();
            cut.overwrite(at, &bytes[..start]);
            cut
        });
        cuts.collect()
    }

    fn may_be_lost(_: &Change, later: &[Change]) -> bool {
        !later.contains(&Change::Sync)
    }

    fn apply_or_lose(&mut self, call: &Change, later: &[Change], draw: &mut XorShift32) {
        match (call, if Self::may_be_lost(call, later) { draw.below(4) } else { 0 }) {
            (_, 0 | 1) => self.apply(call),
            (Change::Write { at, bytes }, 2) => {
                let at = position(*at);
                let len = PIECES[usize::from(draw.below(2) == 1)];
                for (start, end) in pieces(at, bytes.len(), len) {
                    if draw.below(2) == 0 {
                        self.overwrite(at + start, &bytes[start..end]);
                    }
                }
            }
            _ => {}
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        Ok(fs::write(path, &self.0)?)
    }
}

/// A directory.
#[derive(Clone)]
pub(super) struct TreeDisk(MemTree);

impl TreeDisk {
    pub(super) fn new(tree: MemTree) -> Self {
        Self(tree)
    }

    /// A copy to read.
    pub(super) fn tree(&self) -> Arc<dyn Tree> {
        Arc::new(self.0.clone())
    }

    /// Changes the names as far as possible: required entries may be lost. A tree in memory does
    /// not miss directories; a medium does.
    fn apply_where_possible(&self, step: &Step) {
        let is_possible = match step {
            Step::Write(path, _)
            | Step::CreateNew(path, _)
            | Step::CreateDir(path)
            | Step::Rename(_, path) => self.0.list(parent(path)).is_ok(),
            Step::Remove(_) | Step::Sync(_) | Step::SyncNames(_) => true,
        };
        if is_possible {
            drop(step.apply(&self.0));
        }
    }
}

impl Disk for TreeDisk {
    type Handle = Arc<dyn Tree>;
    type Call = Step;

    fn record(&self, change: fn(Self::Handle) -> Result<()>) -> Result<(Vec<Step>, Self)> {
        let tree = RecordingTree::new(self.0.clone());
        change(Arc::new(tree.clone()))?;
        let calls = tree.take();
        let after = self.clone();
        for call in &calls {
            if let Err(error) = call.apply(&after.0) {
                return fail(format!("{call:?}: {error}"));
            }
        }
        Ok((calls, after))
    }

    fn fail(&self, change: fn(Self::Handle) -> Result<()>, fault: Fault) -> Outcome<Self> {
        let recorder = RecordingTree::new(self.0.clone());
        let tree = FailingTree::new(recorder.clone());
        let plan = tree.plan();
        plan.set(fault);
        let done = change(Arc::new(tree.clone()));
        let left = self.clone();
        recorder.take().iter().for_each(|call| left.apply_where_possible(call));
        Outcome { left, done, has_failed: !plan.is_pending() }
    }

    fn apply(&mut self, call: &Step) {
        self.apply_where_possible(call);
    }

    /// A tree changes in whole steps, except for a new file, which grows.
    fn cuts(&self, call: &Step, unit: usize) -> Vec<Self> {
        let Step::CreateNew(path, bytes) = call else { return vec![] };
        let cuts = pieces(0, bytes.len(), unit).into_iter().map(|(start, _)| {
            let cut = self.clone();
            cut.apply_where_possible(&Step::CreateNew(path.clone(), bytes[..start].to_vec()));
            cut
        });
        cuts.collect()
    }

    fn may_be_lost(call: &Step, later: &[Step]) -> bool {
        let (Step::Write(path, _)
        | Step::CreateNew(path, _)
        | Step::Rename(_, path)
        | Step::Remove(path)
        | Step::CreateDir(path)) = call
        else {
            return false;
        };
        !later.iter().any(|step| matches!(step, Step::SyncNames(p) if p == parent(path)))
    }

    fn apply_or_lose(&mut self, call: &Step, later: &[Step], draw: &mut XorShift32) {
        let is_synced =
            |path: &str| later.iter().any(|step| matches!(step, Step::Sync(p) if p == path));
        let may_be_lost = Self::may_be_lost(call, later);
        match call {
            Step::Write(path, bytes) | Step::CreateNew(path, bytes) => {
                if may_be_lost && draw.below(4) == 0 {
                    return;
                }
                // `DirTree` syncs a replacing file before its name.
                let is_whole = is_synced(path) || self.0.open(path).is_ok();
                let bytes = if is_whole { bytes.clone() } else { torn(bytes, draw) };
                let step = match call {
                    Step::Write(..) => Step::Write(path.clone(), bytes),
                    _ => Step::CreateNew(path.clone(), bytes),
                };
                self.apply_where_possible(&step);
            }
            Step::Rename(..) | Step::Remove(_) | Step::CreateDir(_) => {
                if !may_be_lost || draw.below(4) > 0 {
                    self.apply_where_possible(call);
                }
            }
            Step::Sync(_) | Step::SyncNames(_) => {}
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        let mut dirs = vec![String::new()];
        while let Some(dir) = dirs.pop() {
            fs::create_dir(path.join(&dir))?;
            let entries = self.0.list(&dir)?;
            let below = entries.into_iter().filter(|entry| entry.is_dir);
            dirs.extend(below.map(|entry| join(&dir, &entry.name)));
        }
        for (name, bytes) in Files::from_tree(&self.0, "")?.0 {
            fs::write(path.join(name), bytes)?;
        }
        Ok(())
    }
}

/// Content of a new file that was not synced: all, the first half, or some of its pieces.
fn torn(bytes: &[u8], draw: &mut XorShift32) -> Vec<u8> {
    match draw.below(4) {
        0 => bytes[..bytes.len() / 2].to_vec(),
        1 => {
            let mut left = vec![0; bytes.len()];
            let len = PIECES[usize::from(draw.below(2) == 1)];
            for (start, end) in pieces(0, bytes.len(), len) {
                if draw.below(2) == 0 {
                    left[start..end].copy_from_slice(&bytes[start..end]);
                }
            }
            left
        }
        _ => bytes.to_vec(),
    }
}

/// The pieces of `len` bytes on the medium that hold the `nbytes` bytes from `at` on, as parts of
/// these bytes.
fn pieces(at: usize, nbytes: usize, len: usize) -> Vec<(usize, usize)> {
    let mut pieces = vec![];
    let mut start = 0;
    while start < nbytes {
        let end = nbytes.min(start + len - (at + start) % len);
        pieces.push((start, end));
        start = end;
    }
    pieces
}

fn position(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_multiples_of_their_length() {
        assert_eq!(pieces(500, 600, 512), [(0, 12), (12, 524), (524, 600)]);
        assert_eq!(pieces(512, 512, 512), [(0, 512)]);
        assert_eq!(pieces(7, 0, 512), []);
    }

    #[test]
    fn what_was_synced_is_never_lost() {
        let write = Change::Write { at: 0, bytes: vec![1; 3000] };
        let mut draw = XorShift32::new(1);
        let mut left = |later: &[Change]| {
            let mut disk = FileDisk::new(vec![0; 3000]);
            disk.apply_or_lose(&write, later, &mut draw);
            disk.0
        };
        assert!((0..100).all(|_| left(&[Change::Sync]) == [1; 3000]));
        let others: Vec<_> = (0..100).map(|_| left(&[])).collect();
        assert!(others.contains(&vec![0; 3000]) && others.contains(&vec![1; 3000]));
        assert!(others.iter().any(|bytes| bytes.contains(&0) && bytes.contains(&1)));
    }
}
