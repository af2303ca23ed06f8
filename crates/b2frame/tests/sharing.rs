//! Frames that several handles use at once: readers follow changes, writers take turns.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use b2frame::{
    Durability, EditOptions, Error, FrameParams, FrameWriter, NdArray, NdParams, NdWriter,
    OpenOptions, SChunk, SChunkWriter,
    error::{Blame, Param},
    lock::{FrameLock, Locking},
    report::VerifyOptions,
    to_cframe,
};
use blosc_chunk::CParams;
use blosc_io::{LockWait, MemStore, ReadAt};

/// No lock beside the frame, and no durability that costs time.
fn plain() -> EditOptions {
    EditOptions::default().durability(Durability::ProcessDeath)
}

fn locking() -> OpenOptions {
    OpenOptions::default().locking(Locking::Sidecar)
}

fn editing() -> EditOptions {
    EditOptions::default().open(locking()).durability(Durability::ProcessDeath)
}

#[test]
fn a_snapshot_stays_while_the_frame_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer = SChunkWriter::create(&path, &FrameParams::default().chunksize(64)).unwrap();
    writer.append(&[1; 128]).unwrap();
    writer.commit().unwrap();
    let mut reader = SChunk::open(&path).unwrap();
    for n in 2..20 {
        writer.update(0, &[n; 64]).unwrap();
        writer.append(&[n; 64]).unwrap();
        writer.set_vlmeta("n", &[n]).unwrap();
        assert_eq!(reader.decode_chunk(0).unwrap(), [n - 1; 64]);
        assert!(!reader.refresh().unwrap());
        writer.commit().unwrap();
        assert_eq!(reader.decode_chunk(0).unwrap(), [n - 1; 64]);
        assert!(reader.refresh().unwrap() && !reader.refresh().unwrap());
        assert_eq!(reader.decode_chunk(0).unwrap(), [n; 64]);
        assert_eq!(
            (reader.nchunks(), reader.vlmeta().get("n").unwrap()),
            (u64::from(n) + 1, Some(vec![n]))
        );
    }
    writer.compact().unwrap();
    assert_eq!(reader.decode_chunk(0).unwrap(), [19; 64]);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.usage().unwrap().dead_bytes, 0);
}

#[test]
fn metadata_of_the_same_size_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let params = FrameParams::default().chunksize(64).metalayer("m", *b"one");
    let mut writer = SChunkWriter::create(&path, &params).unwrap();
    writer.append(&[1; 64]).unwrap();
    writer.commit().unwrap();
    let mut reader = SChunk::open(&path).unwrap();
    writer.set_meta("m", b"two").unwrap();
    writer.commit().unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.meta().get("m").unwrap().content, b"two");
}

#[test]
fn directories_are_followed_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer =
        SChunkWriter::create_sparse(&path, &FrameParams::default().chunksize(64)).unwrap();
    writer.append(&[1; 64]).unwrap();
    writer.commit().unwrap();
    let mut reader = SChunk::open_with(&path, &locking()).unwrap();
    writer.append(&[2; 64]).unwrap();
    writer.commit().unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.decode_chunk(1).unwrap(), [2; 64]);
    assert!(path.join(".b2lock").exists());
}

fn create(path: &Path, is_sparse: bool) {
    let params = FrameParams::default().chunksize(64).metalayer("m", *b"one");
    let writer = match is_sparse {
        true => SChunkWriter::create_sparse(path, &params),
        false => SChunkWriter::create(path, &params),
    };
    drop(writer.unwrap().finish().unwrap());
}

#[test]
fn writers_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    create(&path, false);
    check_turns(&path, &editing());
    let generation = FrameLock::shared(&path).unwrap().generation();
    assert_eq!(generation, 60);
}

/// No writer requests a lock, and another file replaces the file now and then.
#[cfg(unix)]
#[test]
fn writers_take_turns_without_an_option() {
    let dir = tempfile::tempdir().unwrap();
    for is_sparse in [false, true] {
        let path = dir.path().join(format!("{is_sparse}.b2frame"));
        create(&path, is_sparse);
        check_turns(&path, &plain());
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// Three threads append and set metadata, each with its own writer.
fn check_turns(path: &Path, options: &EditOptions) {
    let write = |thread: u8| {
        let mut writer = SChunkWriter::open_with(path, options).unwrap();
        for n in 0..20 {
            if n % 5 == 4 {
                writer = SChunkWriter::open_with(path, options).unwrap();
            }
            writer.append(&[thread; 64]).unwrap();
            writer.set_vlmeta(format!("t{thread}"), &[n]).unwrap();
            if n % 7 == 6 {
                writer.set_meta("m", &vec![n; usize::from(n)]).unwrap();
            }
            writer.commit().unwrap();
        }
    };
    thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || write(thread));
        }
    });
    let schunk = SChunk::open(path).unwrap();
    assert_eq!(schunk.nchunks(), 60);
    for thread in 0..3 {
        let of_thread = (0..60).filter(|n| schunk.decode_chunk(*n).unwrap() == [thread; 64]);
        assert_eq!(of_thread.count(), 20);
        assert_eq!(schunk.vlmeta().get(format!("t{thread}")).unwrap(), Some(vec![19]));
    }
    assert!(schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
}

#[cfg(unix)]
#[test]
fn arrays_that_several_append_to_have_all_rows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.b2nd");
    let params = NdParams::new(&[0, 3], "<i4".parse().unwrap()).chunkshape(&[4, 3]);
    drop(NdWriter::create(&path, &params).unwrap().finish().unwrap());
    thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let mut writer = NdWriter::open_with(path, &plain()).unwrap();
                for _ in 0..10 {
                    writer.append(0, &[thread; 6]).unwrap();
                    writer.commit().unwrap();
                }
            });
        }
    });
    let array = NdArray::open(&path).unwrap();
    assert_eq!(array.shape(), [80, 3]);
    let items = array.read::<i32>().unwrap();
    for thread in 0..4 {
        assert_eq!(items.iter().filter(|item| **item == thread).count(), 60);
    }
}

/// A store that holds another state after some calls, like a file to which another process commits.
#[derive(Debug)]
struct Changing {
    states: [Vec<u8>; 2],
    calls: AtomicUsize,
    change: usize,
}

impl Changing {
    fn now(&self) -> &[u8] {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        &self.states[usize::from(calls >= self.change)]
    }
}

impl ReadAt for Changing {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.now().len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.now()[usize::try_from(at).unwrap()..];
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

#[test]
fn a_commit_between_two_reads_of_an_opening_leaves_no_mixture() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.b2nd");
    let params = NdParams::new(&[0, 3], "<i4".parse().unwrap()).chunkshape(&[4, 3]);
    drop(NdWriter::create(&path, &params).unwrap().finish().unwrap());
    let mut seen = [0, 0];
    for rows in [0, 4, 6] {
        let before = std::fs::read(&path).unwrap();
        let mut writer = NdWriter::open_with(&path, &plain()).unwrap();
        writer.append(0, &[7_i32; 6]).unwrap();
        writer.commit().unwrap();
        let after = std::fs::read(&path).unwrap();
        for change in 0..20 {
            let states = [before.clone(), after.clone()];
            let store = Changing { states, calls: AtomicUsize::new(0), change };
            let schunk = SChunk::from_store(Arc::new(store)).unwrap();
            let array = NdArray::from_schunk(schunk).unwrap();
            let is_new = array.shape()[0] != rows;
            let nitems = 3 * if is_new { rows + 2 } else { rows };
            let items = array.read::<i32>().unwrap();
            assert_eq!((items.len() as u64, items.iter().all(|item| *item == 7)), (nitems, true));
            seen[usize::from(is_new)] += 1;
        }
        if rows == 0 {
            writer.append(0, &[7_i32; 6]).unwrap();
            writer.commit().unwrap();
        }
    }
    assert!(seen.iter().all(|seen| *seen > 3), "{seen:?}");
}

#[cfg(unix)]
#[test]
fn a_writer_that_must_not_wait_is_told_who_holds_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    for is_sparse in [false, true] {
        let path = dir.path().join(format!("{is_sparse}.b2frame"));
        create(&path, is_sparse);
        let mut first = SChunkWriter::open(&path).unwrap();
        first.append(&[1; 64]).unwrap();
        let impatient = plain().lock(LockWait::never());
        let mut second = SChunkWriter::open_with(&path, &impatient).unwrap();
        let error = second.append(&[2; 64]).unwrap_err();
        assert!(matches!(error, Error::Locked { .. }), "{error:?}");
        assert_eq!(error.blame(), Blame::Busy);
        first.commit().unwrap();
        second.append(&[2; 64]).unwrap();
        assert_eq!(second.finish().unwrap().nchunks(), 2);
    }
}

/// A program without locks replaces the frame, or writes to it.
#[cfg(unix)]
#[test]
fn what_others_did_without_a_lock_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    for (n, is_sparse) in [false, false, false, true].into_iter().enumerate() {
        let path = dir.path().join(format!("{n}.b2frame"));
        create(&path, is_sparse);
        let file = if is_sparse { path.join("chunks.b2frame") } else { path.clone() };
        let mut other = std::fs::read(&file).unwrap();
        let mut writer = SChunkWriter::open(&path).unwrap();
        writer.append(&[1; 64]).unwrap();
        match n {
            // Another file with the same content.
            0 => {
                std::fs::write(dir.path().join("new"), &other).unwrap();
                std::fs::rename(dir.path().join("new"), &file).unwrap();
            }
            // The same length, and a longer file.
            1 => {
                *other.last_mut().unwrap() = 7;
                std::fs::write(&file, &other).unwrap();
            }
            _ => {
                other.extend([1; 100]);
                std::fs::write(&file, &other).unwrap();
            }
        }
        let error = writer.commit().unwrap_err();
        assert!(matches!(error, Error::ChangedByOther), "{n}: {error:?}");
        assert_eq!(error.blame(), Blame::Busy);
        drop(writer);
        assert!(std::fs::read(&file).unwrap() == other, "{n}");
    }
}

#[test]
fn a_reader_of_a_sparse_frame_has_one_commit_of_grace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    create(&path, true);
    let mut writer = SChunkWriter::open_with(&path, &plain()).unwrap();
    writer.append(&[1; 32]).unwrap();
    writer.commit().unwrap();
    let mut reader = SChunk::open(&path).unwrap();
    writer.append(&[2; 16]).unwrap();
    writer.commit().unwrap();
    assert_eq!(reader.decode_chunk(0).unwrap(), [1; 32]);
    writer.append(&[3; 16]).unwrap();
    writer.commit().unwrap();
    let error = reader.decode_chunk(0).unwrap_err();
    assert!(matches!(error, Error::Outdated { nchunk: 0, .. }), "{error:?}");
    assert_eq!(error.blame(), Blame::Busy);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.decode_chunk(0).unwrap().len(), 64);
}

#[test]
fn a_reader_that_is_overtaken_reads_the_present_state() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.b2nd");
    let items = |n: u32| (0..64).map(|i| (n + i).wrapping_mul(0x9e37_79b1)).collect::<Vec<u32>>();
    let params = NdParams::new(&[64], "<u4".parse().unwrap()).chunkshape(&[32]);
    let mut writer = NdWriter::create_sparse(&path, &params).unwrap();
    writer.write_slice(.., &items(1)).unwrap();
    writer.commit().unwrap();
    let mut reader = SChunk::open(&path).unwrap();
    let mut array = NdArray::open(&path).unwrap();
    assert!(!array.refresh().unwrap());
    for n in 2..5 {
        writer.write_slice(.., &items(n)).unwrap();
        writer.commit().unwrap();
    }
    assert!(matches!(array.to_bytes(..), Err(Error::Outdated { .. })));
    let mut tries = 0;
    let read = reader.read_current(|schunk| {
        tries += 1;
        schunk.decode_chunk(1)
    });
    let expected: Vec<u8> = items(4)[32..].iter().flat_map(|item| item.to_le_bytes()).collect();
    assert_eq!((read.unwrap(), tries), (expected, 2));
    assert!(array.refresh().unwrap());
    assert_eq!(array.read::<u32>().unwrap(), items(4));
    writer.append(0, &[5_u32]).unwrap();
    writer.commit().unwrap();
    let mut view = array.expand_dims(&[0]).unwrap();
    assert!(view.refresh().unwrap());
    assert_eq!(view.shape(), [1, 65]);
}

#[cfg(unix)]
#[test]
fn a_stream_to_a_file_locks_it_before_emptying_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    create(&path, false);
    let before = std::fs::read(&path).unwrap();
    // Invalid parameters do not destroy the file.
    let params = FrameParams::new(CParams::default().typesize(0));
    FrameWriter::create(&path, &params).unwrap_err();
    assert!(std::fs::read(&path).unwrap() == before);
    let mut editor = SChunkWriter::open_with(&path, &plain()).unwrap();
    editor.append(&[1; 16]).unwrap();
    let other = {
        let path = path.clone();
        thread::spawn(move || {
            let mut writer = FrameWriter::create(&path, &FrameParams::default()).unwrap();
            let never = plain().lock(LockWait::never());
            let mut late = SChunkWriter::open_with(&path, &never);
            let refused = late.as_mut().map(|late| late.append(b"x"));
            assert!(!matches!(refused, Ok(Ok(()))));
            writer.append(b"new").unwrap();
            writer.finish().unwrap();
        })
    };
    thread::sleep(Duration::from_millis(50));
    assert!(std::fs::metadata(&path).unwrap().len() >= before.len() as u64);
    editor.commit().unwrap();
    other.join().unwrap();
    let schunk = SChunk::open(&path).unwrap();
    assert_eq!(schunk.decode_chunk(0).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_beside_a_frame_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    create(&path, false);
    let left = dir.path().join(format!("f.b2frame.{}.tmp", u32::MAX));
    std::fs::write(&left, &std::fs::read(&path).unwrap()[..9]).unwrap();
    let mut writer = SChunkWriter::open(&path).unwrap();
    assert!(left.exists());
    writer.append(&[1; 64]).unwrap();
    writer.commit().unwrap();
    assert!(!left.exists());
}

/// The name of the variable that turns [`in_another_process`] into the other process.
const CHILD: &str = "B2FRAME_SHARING_CHILD";

/// As the child of another test: appends to a frame, or sets metadata of any length.
#[test]
fn in_another_process() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    for n in 0..10 {
        let mut writer = SChunkWriter::open_with(&path, &plain()).unwrap();
        if std::env::var_os("B2FRAME_SHARING_META").is_some() {
            writer.set_meta("m", &vec![7; n * 10]).unwrap();
            writer.set_vlmeta("n", &[u8::try_from(n).unwrap()]).unwrap();
        } else {
            writer.append(&[9; 50]).unwrap();
        }
        writer.commit().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn processes_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    for is_sparse in [false, true] {
        let path = dir.path().join(format!("{is_sparse}.b2frame"));
        create(&path, is_sparse);
        let child = |is_meta: bool| {
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "sharing::in_another_process"]).env(CHILD, &path);
            if is_meta {
                command.env("B2FRAME_SHARING_META", "1");
            }
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        };
        for mut child in [child(false), child(true), child(false), child(true)] {
            assert!(child.wait().unwrap().success());
        }
        let schunk = SChunk::open(&path).unwrap();
        assert_eq!(schunk.nbytes(), 2 * 10 * 50);
        assert_eq!(schunk.meta().get("m").unwrap().content, [7; 90]);
        assert_eq!(schunk.vlmeta().get("n").unwrap(), Some(vec![9]));
        assert!(schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
    }
}

#[test]
fn a_reader_that_locks_keeps_writers_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    drop(
        SChunkWriter::create(&path, &FrameParams::default().chunksize(64))
            .unwrap()
            .finish()
            .unwrap(),
    );
    let mut writer = SChunkWriter::open_with(&path, &editing()).unwrap();
    writer.append(&[1; 64]).unwrap();
    writer.commit().unwrap();
    let mut reader = SChunk::open_with(&path, &locking()).unwrap();
    let locked = reader.locked().unwrap();
    assert_eq!((locked.generation(), locked.nchunks()), (1, 1));
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            writer.append(&[2; 64]).unwrap();
            writer.commit().unwrap();
        });
        for _ in 0..100 {
            assert_eq!(SChunk::open(&path).unwrap().nchunks(), 1);
        }
        drop(locked);
        other.join().unwrap();
    });
    assert_eq!(reader.locked().unwrap().nchunks(), 2);
}

#[test]
fn changes_that_were_given_up_release_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    drop(
        SChunkWriter::create(&path, &FrameParams::default().chunksize(64))
            .unwrap()
            .finish()
            .unwrap(),
    );
    let mut first = SChunkWriter::open_with(&path, &editing()).unwrap();
    let mut second = SChunkWriter::open_with(&path, &editing()).unwrap();
    first.append(&[1; 64]).unwrap();
    drop(first);
    second.append(&[2; 64]).unwrap();
    assert_eq!(second.finish().unwrap().decode_chunk(0).unwrap(), [2; 64]);
}

#[test]
fn a_frame_without_a_name_has_no_lock() {
    let frame = to_cframe(&[1; 100], &FrameParams::default()).unwrap();
    let mut schunk = SChunk::from_store(Arc::new(MemStore::new(frame))).unwrap();
    assert!(!schunk.refresh().unwrap());
    assert!(matches!(schunk.locked(), Err(Error::Param(Param::NoPath))));
}

#[test]
fn a_damaged_frame_leaves_the_reader_what_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    std::fs::write(&path, to_cframe(&[1; 100], &FrameParams::default()).unwrap()).unwrap();
    let mut reader = SChunk::open(&path).unwrap();
    let mut damaged = to_cframe(&[2; 200], &FrameParams::default()).unwrap();
    damaged.truncate(200);
    std::fs::write(dir.path().join("new"), damaged).unwrap();
    std::fs::rename(dir.path().join("new"), &path).unwrap();
    assert!(matches!(reader.refresh(), Err(Error::Corrupt { .. })));
    assert_eq!(reader.decode_chunk(0).unwrap(), [1; 100]);
}
