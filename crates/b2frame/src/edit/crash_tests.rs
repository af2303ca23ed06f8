//! Sparse frames after a crash: a commit is recorded step by step, and each state that a crash
//! could leave is opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use blosc_io::testing::{FailingStore, FailingTree, Plan, RecordingStore, RecordingTree, Step};
use blosc_io::tree::{DirTree, MemTree, Tree};
use blosc_io::{Durability, MemStore, ReadAt as _};
use blosc_testdata::data::XorShift32 as Rng;

use super::SChunkWriter;
use crate::nd::{NdParams, NdWriter, Selection};
use crate::params::{Checksums, EditOptions, FrameParams, OpenOptions};
use crate::schunk::SChunk;
use crate::seal::SealState;

/// A change of a frame.
type Operation = fn(&mut SChunkWriter) -> crate::Result<()>;

/// Each kind of change, with its name. The last two write a frame in a store over itself.
const OPERATIONS: [(&str, Operation); 10] = [
    ("append", |writer| writer.append(&[7; 40])),
    ("insert", |writer| writer.insert(1, &[8; 16])),
    ("update", |writer| writer.update(0, &[9; 16])),
    ("delete", |writer| writer.delete(1)),
    ("metalayer of equal length", |writer| writer.set_meta("m", b"new")),
    ("vlmetalayer", |writer| writer.set_vlmeta("v", b"value")),
    ("no vlmetalayer", |writer| writer.delete_vlmeta("v").map(drop)),
    ("seal", |writer| writer.set_seal(Checksums::Chunks)),
    ("longer metalayer", |writer| writer.set_meta("m", &[b'm'; 900])),
    ("compact", |writer| writer.compact().map(drop)),
];

/// A frame with replaced chunks and a vlmetalayer.
fn change_a_little(writer: &mut SChunkWriter) {
    writer.append(&[1; 40]).unwrap();
    writer.commit().unwrap();
    writer.append(&[2; 4]).unwrap();
    writer.set_vlmeta("v", b"old").unwrap();
    writer.commit().unwrap();
}

#[test]
fn an_error_at_any_call_leaves_a_sparse_frame_old_or_new() {
    let base = Arc::new(MemTree::new());
    let params = FrameParams::default().chunksize(16).metalayer("m", *b"old");
    change_a_little(&mut SChunkWriter::create_in_tree(base.clone(), &params).unwrap());
    let before = content(&(base.clone() as Arc<dyn Tree>)).unwrap();
    for (name, operation) in OPERATIONS {
        let mut calls = 0;
        let mut states = vec![];
        loop {
            let tree = FailingTree::new(MemTree::clone(&base));
            let shared: Arc<dyn Tree> = Arc::new(tree.clone());
            let options = EditOptions::default();
            let mut writer = SChunkWriter::open_in_tree(shared.clone(), &options).unwrap();
            tree.plan().fail_at(calls, std::io::ErrorKind::StorageFull);
            let done = operation(&mut writer).and_then(|()| writer.commit());
            drop(writer);
            let is_through = tree.plan().is_pending();
            assert!(done.is_ok() || !is_through, "{name}: {done:?}");
            let found = content(&shared);
            assert!(found.is_some(), "{name}, call {calls}: nothing can be read");
            states.push((done.is_ok(), found.unwrap()));
            if is_through {
                break;
            }
            calls += 1;
        }
        let (is_done, after) = states.last().unwrap();
        assert!(*is_done && calls > 1, "{name}: {calls} calls");
        for (is_done, found) in &states {
            assert!(found == after || !is_done && *found == before, "{name}: {found:?}");
        }
    }
}

#[test]
fn an_error_at_any_call_leaves_a_contiguous_frame_old_or_new() {
    let params = FrameParams::default().chunksize(16).metalayer("m", *b"old");
    let mut writer = SChunkWriter::in_memory(&params).unwrap();
    change_a_little(&mut writer);
    let base = writer.finish().unwrap().to_cframe().unwrap();
    let read =
        |bytes: Vec<u8>| content_of(&SChunk::from_store(Arc::new(MemStore::new(bytes))).ok()?);
    let before = read(base.clone()).unwrap();
    for (name, operation) in &OPERATIONS[..OPERATIONS.len() - 2] {
        let mut states = vec![];
        loop {
            let store = RecordingStore::new(MemStore::new(base.clone()));
            let (recording, plan) = (store.recording(), Plan::default());
            let store = Box::new(FailingStore::new(store, plan.clone()));
            let mut writer = SChunkWriter::open_in(store, &EditOptions::default()).unwrap();
            plan.fail_at(states.len(), std::io::ErrorKind::StorageFull);
            let done = operation(&mut writer).and_then(|()| writer.commit());
            drop(writer);
            let mut left = MemStore::new(base.clone());
            recording.take().iter().for_each(|change| change.apply(&mut left).unwrap());
            let found = read(left.into_bytes());
            assert!(found.is_some(), "{name}, call {}: nothing can be read", states.len());
            states.push((done.is_ok(), found.unwrap()));
            if plan.is_pending() {
                break;
            }
        }
        let (is_done, after) = states.last().unwrap();
        assert!(*is_done && states.len() > 3, "{name}: {} calls", states.len());
        for (is_done, found) in &states {
            assert!(found == after || !is_done && *found == before, "{name}: {found:?}");
        }
    }
}

#[test]
fn a_chunk_over_which_a_write_has_failed_is_not_committed() {
    let params = NdParams::new(&[1024], "<u4".parse().unwrap()).chunkshape(&[1024]);
    let noise = |seed| -> Vec<u8> {
        let mut random = Rng::new(seed);
        (0..1024).flat_map(|_| random.next_u32().to_le_bytes()).collect()
    };
    let write = |writer: &mut NdWriter, seed| writer.write_bytes(Selection::ALL, &noise(seed));
    let mut writer = NdWriter::in_memory(&params).unwrap();
    write(&mut writer, 1).unwrap();
    let base = writer.finish().unwrap().schunk().to_cframe().unwrap();
    let plan = Plan::default();
    let store = Box::new(FailingStore::new(MemStore::new(base), plan.clone()));
    let mut writer = NdWriter::open_in(store, &EditOptions::default()).unwrap();
    write(&mut writer, 2).unwrap();
    plan.fail_at(0, std::io::ErrorKind::StorageFull);
    write(&mut writer, 3).unwrap_err();
    let refused = writer.commit().unwrap_err();
    assert!(matches!(refused, crate::Error::Write { .. }), "{refused}");
    write(&mut writer, 3).unwrap();
    writer.commit().unwrap();
    assert!(writer.finish().unwrap().schunk().decode_chunk(0).unwrap() == noise(3));
}

type Files = BTreeMap<String, Vec<u8>>;

/// What a frame holds.
type Content = (Vec<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>);

#[test]
fn an_interrupted_commit_of_a_directory_leaves_the_old_or_the_new_state() {
    for seed in 0..2 {
        let dir = tempfile::tempdir().unwrap();
        check_interruptions(DirTree::new(dir.path()), 2000 + seed);
    }
}

#[test]
fn an_interrupted_commit_in_memory_leaves_the_old_or_the_new_state() {
    for seed in 2..6 {
        check_interruptions(MemTree::new(), 2000 + seed);
    }
}

fn check_interruptions(tree: impl Tree + 'static, seed: u32) {
    let tree = Arc::new(RecordingTree::new(tree));
    let mut rng = Rng::new(seed);
    let params = FrameParams::default().chunksize(16).metalayer("m", *b"old");
    let mut writer = SChunkWriter::create_in_tree(tree.clone(), &params).unwrap();
    writer.append(&[1; 40]).unwrap();
    drop(writer.finish().unwrap());
    let stops: usize = (0..4).map(|_| interrupt(&tree, &mut rng)).sum();
    assert!(stops > 25, "{stops}");
}

/// Changes a frame, and checks each state that an interruption would have left. Returns how many
/// these were.
fn interrupt<T: Tree + 'static>(tree: &Arc<RecordingTree<T>>, rng: &mut Rng) -> usize {
    let shared: Arc<dyn Tree> = tree.clone();
    let (files, before) = (files(&shared), content(&shared).unwrap());
    tree.take();
    let mut writer = SChunkWriter::open_in_tree(shared.clone(), &EditOptions::default()).unwrap();
    for _ in 0..=rng.below(3) {
        change(&mut writer, rng);
    }
    match rng.below(6) {
        0 => drop(writer.compact().unwrap()),
        _ => writer.commit().unwrap(),
    }
    drop(writer);
    let after = content(&shared).unwrap();
    let steps = tree.take();
    (0..=steps.len()).map(|stop| replay(&files, &steps, stop, &before, &after)).sum()
}

fn change(writer: &mut SChunkWriter, rng: &mut Rng) {
    let nchunks = writer.nchunks();
    let data: Vec<u8> = (0..16).map(|_| u8::try_from(rng.below(250)).unwrap()).collect();
    let nchunk = rng.below(nchunks.max(1));
    let is_whole = nchunk + 1 < nchunks;
    match rng.below(6) {
        0 => writer.append(&data[..1 + usize::try_from(rng.below(15)).unwrap()]).unwrap(),
        1 if is_whole => writer.update(nchunk, &data).unwrap(),
        2 if is_whole => writer.insert(nchunk, &data).unwrap(),
        3 if is_whole => writer.delete(nchunk).unwrap(),
        4 => writer.set_meta("m", &data[..3]).unwrap(),
        5 => writer.set_vlmeta("v", &data).unwrap(),
        _ => writer.append(&data).unwrap(),
    }
}

/// Stops after `stop` steps, and leaves out any of the last ones that a loss of power may undo.
fn replay(files: &Files, steps: &[Step], stop: usize, before: &Content, after: &Content) -> usize {
    let steps = &steps[..stop];
    let open_ended: Vec<usize> = (0..stop).filter(|n| !lasts(steps, *n)).collect();
    // Of many, the last ones: the others are chunks, or their removal.
    let open_ended = &open_ended[open_ended.len().saturating_sub(4)..];
    let lost = |set: u32, n: usize| {
        open_ended.iter().position(|open| *open == n).is_some_and(|bit| set >> bit & 1 == 1)
    };
    for set in 0..1_u32 << open_ended.len() {
        let mut files = files.clone();
        for (n, step) in steps.iter().enumerate() {
            apply(&mut files, step, lost(set, n));
        }
        let left: Arc<dyn Tree> = Arc::new(MemTree::new());
        for (name, bytes) in &files {
            left.write(name, bytes).unwrap();
        }
        let found = content(&left);
        let is_one_of_them = found.as_ref().is_some_and(|found| found == before || found == after);
        assert!(
            is_one_of_them,
            "{found:?} instead of\n{before:?} or\n{after:?}, lost {set:b} of {steps:?}"
        );
        if set > 0 {
            continue;
        }
        // Files that were left do not obstruct a later writer.
        let options = EditOptions::default().durability(Durability::ProcessDeath);
        let mut writer = SChunkWriter::open_in_tree(left.clone(), &options).unwrap();
        writer.set_vlmeta("later", b"x").unwrap();
        writer.commit().unwrap();
        assert_eq!(content(&left), found);
    }
    1 << open_ended.len()
}

/// Whether a step is still in effect after a loss of power that follows the last one.
fn lasts(steps: &[Step], n: usize) -> bool {
    let later = &steps[n + 1..];
    let is_named = later.contains(&Step::SyncNames(String::new()));
    match &steps[n] {
        Step::Write(name, _) | Step::CreateNew(name, _) => {
            is_named && later.contains(&Step::Sync(name.clone()))
        }
        Step::Rename(..) | Step::Remove(_) | Step::CreateDir(_) => is_named,
        Step::Sync(_) | Step::SyncNames(_) => true,
    }
}

/// Does a step, or what is left of it: of a file its name, and half of its bytes.
fn apply(files: &mut Files, step: &Step, is_lost: bool) {
    match step {
        Step::Write(name, bytes) | Step::CreateNew(name, bytes) => {
            let bytes = if is_lost { &bytes[..bytes.len() / 2] } else { bytes };
            files.insert(name.clone(), bytes.to_vec());
        }
        Step::Rename(from, to) if !is_lost => {
            if let Some(bytes) = files.remove(from) {
                files.insert(to.clone(), bytes);
            }
        }
        Step::Remove(name) if !is_lost => drop(files.remove(name)),
        _ => {}
    }
}

fn files(tree: &Arc<dyn Tree>) -> Files {
    let file = |name: String| {
        let file = tree.open(&name).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_exact_at(0, &mut bytes).unwrap();
        (name, bytes)
    };
    tree.list("").unwrap().into_iter().map(|entry| file(entry.name)).collect()
}

fn content(tree: &Arc<dyn Tree>) -> Option<Content> {
    content_of(&SChunk::from_tree(tree.clone(), &OpenOptions::default()).ok()?)
}

/// What a frame holds, if its seal is not broken.
fn content_of(schunk: &SChunk) -> Option<Content> {
    if schunk.seal_state().ok()? != SealState::Intact {
        return None;
    }
    let chunks: crate::Result<_> = (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n)).collect();
    let meta = schunk.meta().get("m").map(|layer| layer.content.to_vec());
    Some((chunks.ok()?, meta, schunk.vlmeta().get("v").ok()?))
}
