//! Frames that several handles use at once: readers that follow, writers that take turns.

use std::sync::Arc;
use std::thread;

use b2frame::{
    Durability, EditOptions, Error, FrameLock, FrameParams, Locking, OpenOptions, Param, SChunk,
    SChunkWriter, VerifyOptions, to_cframe,
};
use blosc_io::MemStore;

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

#[test]
fn writers_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    drop(
        SChunkWriter::create(&path, &FrameParams::default().chunksize(64))
            .unwrap()
            .finish()
            .unwrap(),
    );
    let write = |thread: u8| {
        let mut writer = SChunkWriter::open_with(&path, &editing()).unwrap();
        for n in 0..20 {
            writer.append(&[thread; 64]).unwrap();
            writer.set_vlmeta(format!("t{thread}"), &[n]).unwrap();
            writer.commit().unwrap();
        }
    };
    thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || write(thread));
        }
    });
    let schunk = SChunk::open(&path).unwrap();
    assert_eq!(schunk.nchunks(), 60);
    for thread in 0..3 {
        let of_thread = (0..60).filter(|n| schunk.decode_chunk(*n).unwrap() == [thread; 64]);
        assert_eq!(of_thread.count(), 20);
        assert_eq!(schunk.vlmeta().get(format!("t{thread}")).unwrap(), Some(vec![19]));
    }
    assert!(schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
    let generation = FrameLock::shared(&path).unwrap().generation();
    assert_eq!(generation, 60);
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
