//! Editing, against a model that is a list of chunks: after every commit the frame equals the
//! model. A commit that is interrupted in any way leaves the frame before it or the frame after it.

mod model;
mod sparse;

use std::sync::Arc;

use b2frame::{
    Durability, EditOptions, FrameParams, NdParams, NdWriter, SChunk, SChunkWriter, error::Param,
    header::ChunkSize, nd::Selection, probe::Kind,
};
use blosc_chunk::{CParams, Pipeline, SpecialKind, Target, compress};
use blosc_io::testing::{Change, FailingStore, Plan, RecordingStore};
use blosc_io::{MemStore, WriteAt};
use blosc_testdata::data::XorShift32 as Rng;
use model::{Model, Op, check, params, random_op};

/// Opens the frame in a store.
fn open(store: MemStore) -> SChunk {
    SChunk::from_store(Arc::new(store)).unwrap()
}

fn edit(frame: Vec<u8>) -> SChunkWriter {
    SChunkWriter::open_in(Box::new(MemStore::new(frame)), &EditOptions::default()).unwrap()
}

fn in_memory(model: &Model) -> SChunkWriter {
    let mut writer = SChunkWriter::in_memory(&params(model)).unwrap();
    if model.chunksize.is_none() {
        writer.make_variable().unwrap();
    }
    writer
}

#[test]
fn random_changes_give_what_the_model_says() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut model = Model::new(&mut rng);
        let mut writer = in_memory(&model);
        for step in 0..60 {
            let op = random_op(&mut rng, &model);
            op.apply(&mut writer)
                .unwrap_or_else(|error| panic!("seed {seed}, step {step}, {op:?}: {error}"));
            model.apply(&op);
            assert_eq!(
                (writer.nchunks(), writer.nbytes()),
                (model.nchunks(), model.nbytes()),
                "{seed} {step}"
            );
            if rng.below(8) == 0 {
                writer.commit().unwrap();
            }
            if rng.below(4) == 0 {
                check(writer.schunk().unwrap(), &model, &format!("seed {seed}, step {step}"));
            }
            if rng.below(16) == 0 {
                let frame = writer.finish().unwrap().to_cframe().unwrap();
                check(
                    &SChunk::from_cframe(frame.clone()).unwrap(),
                    &model,
                    &format!("{seed} {step} reopened"),
                );
                writer = edit(frame);
            }
        }
        check(&writer.finish().unwrap(), &model, &format!("seed {seed}, end"));
    }
}

#[test]
fn every_interrupted_commit_is_none_or_all() {
    for seed in 0..25 {
        let mut rng = Rng::new(1000 + seed);
        let mut before = Model::new(&mut rng);
        let mut writer = in_memory(&before);
        for _ in 0..4 {
            let op = random_op(&mut rng, &before);
            op.apply(&mut writer).unwrap();
            before.apply(&op);
        }
        let mut frame = writer.finish().unwrap().to_cframe().unwrap();
        for _ in 0..6 {
            let mut after = before.clone();
            let store = RecordingStore::new(MemStore::new(frame.clone()));
            let recording = store.recording();
            let mut writer =
                SChunkWriter::open_in(Box::new(store), &EditOptions::default()).unwrap();
            for _ in 0..=rng.below(3) {
                let op = random_op(&mut rng, &after);
                let is_torn = matches!(op, Op::SetVlmeta(..)) && after.nbytes() == 0;
                if !is_torn {
                    op.apply(&mut writer).unwrap();
                    after.apply(&op);
                }
            }
            // Without a file to rename, vlmetalayers of an empty frame cannot be replaced
            // atomically.
            if after.nbytes() == 0 && after.vlmeta != before.vlmeta && before.nbytes() == 0 {
                continue;
            }
            writer.commit().unwrap();
            let changes = recording.take();
            replay(&frame, &changes, &before, &after);
            let mut store = MemStore::new(frame);
            changes.iter().for_each(|change| change.apply(&mut store).unwrap());
            frame = store.into_bytes();
            before = after;
        }
    }
}

/// Cuts off the last of the first `stop` changes at each end of a sector.
fn tear(frame: &[u8], changes: &[Change], stop: usize, before: &Model, after: &Model) {
    let Some((Change::Write { at, bytes }, earlier)) = changes[..stop].split_last() else { return };
    let (start, end) = (*at, *at + bytes.len() as u64);
    for cut in (start / 512 + 1..=end / 512).map(|sector| sector * 512).filter(|cut| *cut < end) {
        let mut store = MemStore::new(frame.to_vec());
        earlier.iter().for_each(|change| change.apply(&mut store).unwrap());
        store.write_at(start, &bytes[..usize::try_from(cut - start).unwrap()]).unwrap();
        let schunk = open(store);
        assert!(before.matches(&schunk) || after.matches(&schunk), "torn at {cut}: {changes:?}");
    }
}

/// Stops after every change, and omits any unsynced changes before it.
fn replay(frame: &[u8], changes: &[Change], before: &Model, after: &Model) {
    for stop in 0..=changes.len() {
        tear(frame, changes, stop, before, after);
        let synced = changes[..stop]
            .iter()
            .rposition(|change| *change == Change::Sync)
            .map_or(0, |at| at + 1);
        let (done, open_ended) = (&changes[..synced], &changes[synced..stop]);
        // Of many changes only the last ones are omitted: the others are chunks.
        let always = open_ended.len().saturating_sub(8);
        for lost in 0..1_u32 << (open_ended.len() - always) {
            let mut store = MemStore::new(frame.to_vec());
            done.iter().for_each(|change| change.apply(&mut store).unwrap());
            for (n, change) in open_ended.iter().enumerate() {
                if n < always || lost >> (n - always) & 1 == 0 {
                    change.apply(&mut store).unwrap();
                }
            }
            let schunk = open(store);
            let is_before = before.matches(&schunk);
            assert!(is_before || after.matches(&schunk), "stopped after {stop} of {changes:?}");
            assert!(!is_before || stop < changes.len() || lost > 0 || before == after);
        }
    }
}

#[test]
fn what_was_not_committed_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer = SChunkWriter::create(&path, &FrameParams::default().chunksize(64)).unwrap();
    writer.append(&[1; 100]).unwrap();
    writer.commit().unwrap();
    let committed = std::fs::read(&path).unwrap();
    let mut rng = Rng::new(5);
    let noise: Vec<u8> = (0..250_000).flat_map(|_| rng.next_hi().to_le_bytes()).collect();
    writer.append(&noise).unwrap();
    writer.delete(0).unwrap();
    writer.set_vlmeta("note", b"later").unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > committed.len() as u64);
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), committed);
}

#[test]
fn many_appends_between_commits_cost_what_few_cost() {
    let written = |appends: usize| {
        let store = RecordingStore::new(MemStore::default());
        let recording = store.recording();
        let mut writer =
            SChunkWriter::create_in(Box::new(store), &FrameParams::default().chunksize(32))
                .unwrap();
        let mut rng = Rng::new(1);
        for _ in 0..appends {
            let item: Vec<u8> = (0..32).map(|_| rng.next_hi().to_le_bytes()[0]).collect();
            writer.append(&item).unwrap();
        }
        writer.commit().unwrap();
        let len = |change: &Change| {
            if let Change::Write { bytes, .. } = change { bytes.len() } else { 0 }
        };
        recording.take().iter().map(len).sum::<usize>()
    };
    let (few, many) = (written(500), written(5000));
    assert!(many < few * 11, "{few} bytes for 500 appends, {many} for 5000");
}

#[test]
fn few_bytes_at_a_time_are_compressed_once() {
    let store = RecordingStore::new(MemStore::default());
    let recording = store.recording();
    let mut writer =
        SChunkWriter::create_in(Box::new(store), &FrameParams::default().chunksize(4096)).unwrap();
    for n in 0..10_000_u32 {
        writer.append(&n.to_le_bytes()).unwrap();
    }
    assert_eq!((writer.nchunks(), writer.nbytes()), (10, 40_000));
    let schunk = writer.finish().unwrap();
    let len = |change: &Change| {
        if let Change::Write { bytes, .. } = change { bytes.len() as u64 } else { 0 }
    };
    assert_eq!(recording.take().iter().map(len).sum::<u64>(), schunk.frame_len());
    let mut data = vec![0; 40_000];
    schunk.read_bytes(0, &mut data).unwrap();
    assert!(data.chunks(4).zip(0_u32..).all(|(item, n)| item == n.to_le_bytes()));
}

#[test]
fn a_short_last_chunk_is_filled_up() {
    let frame = b2frame::to_cframe(&[7; 100], &FrameParams::default().chunksize(64)).unwrap();
    let mut writer = edit(frame);
    writer.append(&[8; 10]).unwrap();
    writer.append(&[9; 50]).unwrap();
    let schunk = writer.finish().unwrap();
    let sizes: Vec<_> = (0..schunk.nchunks()).map(|n| schunk.chunk_nbytes(n).unwrap()).collect();
    assert_eq!(sizes, [64, 64, 32]);
    let mut data = vec![0; 160];
    schunk.read_bytes(0, &mut data).unwrap();
    assert_eq!(data, [[7; 100].as_slice(), &[8; 10], &[9; 50]].concat());
}

#[test]
fn fixed_sizes_are_kept() {
    let mut writer = SChunkWriter::in_memory(&FrameParams::default().chunksize(64)).unwrap();
    writer.append(&[1; 100]).unwrap();
    let param = |result: b2frame::Result<()>| match result {
        Err(b2frame::Error::Param(param)) => param,
        other => panic!("{other:?}"),
    };
    assert_eq!(param(writer.update(0, &[2; 63])), Param::ChunkNbytes { nbytes: 63, expected: 64 });
    assert_eq!(param(writer.update(1, &[2; 65])), Param::ChunkNbytes { nbytes: 65, expected: 64 });
    assert_eq!(param(writer.update(2, &[2; 64])), Param::ChunkNumber { nchunk: 2, nchunks: 2 });
    assert_eq!(param(writer.insert(0, &[2; 63])), Param::ChunkNbytes { nbytes: 63, expected: 64 });
    assert_eq!(param(writer.insert(2, &[2; 64])), Param::AfterLastChunk);
    assert_eq!(param(writer.insert(3, &[2; 64])), Param::ChunkNumber { nchunk: 3, nchunks: 2 });
    assert_eq!(param(writer.insert(0, &[])), Param::EmptyChunk);
    assert_eq!(param(writer.reorder(&[1, 0])), Param::AfterLastChunk);
    assert_eq!(param(writer.reorder(&[0, 0])), Param::Order { nchunk: 0, nchunks: 2 });
    assert_eq!(param(writer.reorder(&[0, 2])), Param::Order { nchunk: 2, nchunks: 2 });
    assert_eq!(param(writer.reorder(&[0])), Param::Order { nchunk: 1, nchunks: 2 });
    assert_eq!(param(writer.delete(2)), Param::ChunkNumber { nchunk: 2, nchunks: 2 });
    assert_eq!(param(writer.write(12, &[0; 16])), Param::Range { start: 96, end: 112, len: 100 });
    assert_eq!(param(writer.write(0, &[0; 9])), Param::BufferLen { len: 9, expected: 16 });
    assert_eq!(param(writer.append_vl(&[b"a"])), Param::VlBlocks);
    assert_eq!(param(writer.append_special(SpecialKind::Value, 8)), Param::AfterLastChunk);
    assert_eq!(param(writer.append_chunk(&old_chunk())), Param::Blosc1Chunk);
    assert_eq!(param(writer.insert_chunk(0, &old_chunk())), Param::Blosc1Chunk);
    writer.update(1, &[3; 64]).unwrap();
    writer.insert(2, &[4; 64]).unwrap();
    writer.update(2, &[5; 1]).unwrap();
    assert_eq!(writer.finish().unwrap().nbytes(), 129);
}

fn old_chunk() -> Vec<u8> {
    let params = CParams::default().target(Target::Blosc1_11);
    compress(&[1; 28], &params).unwrap()
}

#[test]
fn the_first_chunk_sets_the_size_where_none_is() {
    let frame = blosc_testdata::fixture::read("frames/empty.b2frame").unwrap();
    let mut writer = edit(frame);
    assert_eq!(writer.schunk().unwrap().chunksize(), ChunkSize::Unset);
    writer.append(&[1; 24]).unwrap();
    writer.append(&[2; 30]).unwrap();
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.chunksize().fixed(), Some(24));
    assert_eq!((schunk.nchunks(), schunk.nbytes()), (3, 54));
}

#[test]
fn a_chunk_is_found_after_a_stale_data_section() {
    for name in ["delete-all.b2frame", "delete-all-then-append.b2frame", "fixed-updated.b2frame"] {
        let frame = blosc_testdata::fixture::read(format!("frames/{name}")).unwrap();
        let mut writer = edit(frame);
        let (nchunks, size) =
            (writer.nchunks(), writer.schunk().unwrap().chunksize().fixed().unwrap());
        writer.insert(0, &vec![5; size as usize]).unwrap();
        let schunk = SChunk::from_cframe(writer.finish().unwrap().to_cframe().unwrap()).unwrap();
        assert_eq!(schunk.nchunks(), nchunks + 1, "{name}");
        assert_eq!(schunk.decode_chunk(0).unwrap(), vec![5; size as usize], "{name}");
        assert!(
            schunk.verify(&b2frame::report::VerifyOptions::default(), |_| {}).is_ok(),
            "{name}"
        );
    }
}

#[test]
fn runs_become_chunks_where_the_index_has_no_room_for_their_size() {
    let frame = blosc_testdata::fixture::read("frames/variable-with-one-special.b2frame").unwrap();
    let before = SChunk::from_cframe(frame.clone()).unwrap();
    let chunks: Vec<_> = (0..before.nchunks()).map(|n| before.decode_chunk(n).unwrap()).collect();
    let mut writer = edit(frame);
    writer.append_special(SpecialKind::Zeros, 1000).unwrap();
    let after = writer.finish().unwrap();
    for (n, chunk) in (0..).zip(&chunks) {
        assert_eq!(after.decode_chunk(n).unwrap(), *chunk);
        assert!(after.chunk_info(n).unwrap().offset.is_some());
    }
    assert_eq!(after.decode_chunk(after.nchunks() - 1).unwrap(), [0; 1000]);
    assert_eq!(after.usage().unwrap().value, 2);
}

#[test]
fn a_fixed_frame_can_be_made_variable() {
    let mut writer = SChunkWriter::in_memory(&FrameParams::default().chunksize(64)).unwrap();
    writer.append(&[0; 64]).unwrap();
    writer.append(&[1; 70]).unwrap();
    writer.make_variable().unwrap();
    writer.append(&[2; 300]).unwrap();
    writer.insert(0, &[3; 5]).unwrap();
    writer.update(3, &[4; 9]).unwrap();
    let schunk = writer.finish().unwrap();
    assert_eq!((schunk.header().flags().0, schunk.chunksize()), (0x53, ChunkSize::Variable));
    let chunks: Vec<_> = (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n).unwrap()).collect();
    assert_eq!(chunks, [vec![3; 5], vec![0; 64], vec![1; 64], vec![4; 9], vec![2; 300]]);
}

#[test]
fn chunks_of_blocks_make_a_frame_of_their_own() {
    let mut writer =
        SChunkWriter::in_memory(&FrameParams::new(CParams::default().typesize(1))).unwrap();
    writer.append_vl(&[b"one", b"and another"]).unwrap();
    writer.append_vl(&[&[7; 500]]).unwrap();
    writer.update_vl(1, &[b"two", b"three", b"x"]).unwrap();
    assert!(matches!(writer.append(b"plain"), Err(b2frame::Error::Param(Param::VlBlocks))));
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.header().flags().0, 0xd3);
    assert_eq!(schunk.decode_chunk(0).unwrap(), b"oneand another");
    assert_eq!(schunk.vl_block(1, 1).unwrap(), b"three");
    assert!(schunk.vl_block(1, 3).is_err());
}

#[test]
fn compacting_leaves_nothing_unused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer =
        SChunkWriter::create(&path, &FrameParams::default().chunksize(64).metalayer("m", *b"x"))
            .unwrap();
    for n in 0..20 {
        writer.append(&[n; 64]).unwrap();
        writer.commit().unwrap();
    }
    writer.delete(3).unwrap();
    let saved = writer.compact().unwrap();
    assert!(saved > 500, "{saved}");
    writer.append(&[99; 64]).unwrap();
    drop(writer.finish().unwrap());
    let mut writer = SChunkWriter::open(&path).unwrap();
    writer.compact().unwrap();
    assert_eq!(writer.compact().unwrap(), 0);
    let schunk = SChunk::open(&path).unwrap();
    assert_eq!((schunk.nchunks(), schunk.usage().unwrap().dead_bytes), (20, 0));
    assert_eq!(schunk.decode_chunk(3).unwrap(), [4; 64]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_metalayer_may_change_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer = SChunkWriter::create(&path, &FrameParams::default().chunksize(64)).unwrap();
    writer.set_meta("first", b"before there is data").unwrap();
    writer.append(&[1; 100]).unwrap();
    writer.commit().unwrap();
    writer.set_meta("first", b"other size").unwrap();
    writer.set_meta("second", b"new").unwrap();
    assert!(writer.delete_meta("first").unwrap() && !writer.delete_meta("first").unwrap());
    assert!(SChunk::open(&path).unwrap().meta().get("second").is_none());
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.meta().len(), 1);
    let again = SChunk::open(&path).unwrap();
    assert_eq!(again.meta().get("second").unwrap().content, b"new");
    assert_eq!(again.decode_chunk(1).unwrap(), [1; 36]);
}

#[test]
fn a_frame_at_the_end_of_a_file_can_grow_and_no_other() {
    let one = b2frame::to_cframe(&[1; 100], &FrameParams::default()).unwrap();
    let both = [one.clone(), one.clone()].concat();
    let options =
        |offset| EditOptions::default().open(b2frame::OpenOptions::default().offset(offset));
    let open = |bytes: &[u8], offset| {
        SChunkWriter::open_in(Box::new(MemStore::new(bytes.to_vec())), &options(offset))
    };
    let at = one.len() as u64;
    let Err(b2frame::Error::Param(param)) = open(&both, 0).map(drop) else { panic!("not refused") };
    assert_eq!(param, Param::NotLast { at, kind: Kind::Frame });
    let padded = [both.as_slice(), b"more"].concat();
    assert!(open(&padded, at).is_err());
    let mut writer = open(&both, at).unwrap();
    writer.append(&[2; 10]).unwrap();
    writer.compact().unwrap();
    let schunk = writer.finish().unwrap();
    assert_eq!((schunk.offset(), schunk.nbytes()), (at, 110));
}

#[test]
fn a_file_of_another_format_after_the_frame_is_not_overwritten() {
    let frame = b2frame::to_cframe(&[1; 100], &FrameParams::default()).unwrap();
    let at = frame.len() as u64;
    for (head, kind) in [
        (&b"blpk\x03"[..], Kind::Bloscpack),
        (b"\x93NUMPY\x01\0", Kind::Npy),
        (b"PK\x03\x04", Kind::Zip),
        (b"\x89HDF\r\n\x1a\n", Kind::Foreign("an HDF5 file")),
    ] {
        let both = [frame.as_slice(), head, &[0; 100]].concat();
        let opened = SChunkWriter::open_in(Box::new(MemStore::new(both)), &EditOptions::default());
        let Err(b2frame::Error::Param(param)) = opened.map(drop) else { panic!("{kind}") };
        assert_eq!(param, Param::NotLast { at, kind });
        assert_eq!(param.to_string(), format!("{kind} follows the frame, at byte {at}"));
    }
}

#[test]
fn what_an_interrupted_writer_left_is_no_hindrance() {
    let frame = b2frame::to_cframe(&[1; 104], &FrameParams::default().chunksize(104)).unwrap();
    let chunk = compress(&[3; 5000], &CParams::default()).unwrap();
    let rest = [0xaa; 5000];
    for left in [&[&chunk[..], &rest].concat()[..], &[0; 5000], b"\x94\x01\x93\xcd", &chunk[..9]] {
        let mut writer = edit([&frame[..], left].concat());
        writer.append(&[2; 104]).unwrap();
        let schunk = writer.finish().unwrap();
        assert_eq!(schunk.decode_chunk(1).unwrap(), [2; 104]);
        assert!(schunk.frame_len() < 1000);
    }
    for foreign in [&rest[..], b"hello"] {
        let followed = [&frame[..], foreign].concat();
        let opened =
            SChunkWriter::open_in(Box::new(MemStore::new(followed)), &EditOptions::default());
        let Err(b2frame::Error::Param(param)) = opened.map(drop) else { panic!("not refused") };
        assert_eq!(param, Param::NotLast { at: frame.len() as u64, kind: Kind::Unknown });
    }
}

#[test]
fn data_can_be_written_as_to_a_file() {
    use std::io::Write as _;
    let mut writer = SChunkWriter::in_memory(&FrameParams::default().chunksize(100)).unwrap();
    write!(writer, "{:>250}", "right").unwrap();
    writer.flush().unwrap();
    let mut copy = Vec::new();
    writer
        .schunk()
        .unwrap()
        .decode_ordered(0..3, &b2frame::Budget::default(), |_, data| {
            copy.extend_from_slice(data);
            Ok::<(), b2frame::Error>(())
        })
        .unwrap();
    assert_eq!(copy, format!("{:>250}", "right").into_bytes());
}

/// A store whose writes succeed up to some position and fail from there on.
#[derive(Clone, Default)]
struct Full {
    inner: Arc<std::sync::Mutex<MemStore>>,
    room: Arc<core::sync::atomic::AtomicU64>,
}

impl blosc_io::ReadAt for Full {
    fn len(&self) -> std::io::Result<u64> {
        self.inner.lock().unwrap().len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        self.inner.lock().unwrap().read_at(at, buf)
    }
}

impl WriteAt for Full {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        let room = self.room.load(core::sync::atomic::Ordering::Relaxed).saturating_sub(at);
        let fits = usize::try_from(room).unwrap().min(bytes.len());
        let mut inner = self.inner.lock().unwrap();
        if fits > 0 {
            inner.write_at(at, &bytes[..fits])?;
        }
        if fits == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::StorageFull.into()) }
    }

    fn set_len(&mut self, len: u64) -> std::io::Result<()> {
        self.inner.lock().unwrap().set_len(len)
    }

    fn sync(&mut self, what: blosc_io::Sync) -> std::io::Result<()> {
        self.inner.lock().unwrap().sync(what)
    }
}

/// A write that is cut short leaves no bytes, whether it is the first one or a later one.
#[test]
fn an_append_that_finds_the_disk_full_leaves_no_tail() {
    let mut rng = Rng::new(5);
    let data: Vec<u8> = (0..1 << 18).flat_map(|_| rng.next_hi().to_le_bytes()).collect();
    let params = FrameParams::default().chunksize(1 << 20);
    for more in [10, 1000, 1 << 18, (1 << 19) + 1000] {
        let store = Full::default();
        store.room.store(1 << 30, core::sync::atomic::Ordering::Relaxed);
        let mut writer = SChunkWriter::create_in(Box::new(store.clone()), &params).unwrap();
        writer.append(&data).unwrap();
        writer.commit().unwrap();
        let len = writer.finish().unwrap().frame_len();
        store.room.store(len + more, core::sync::atomic::Ordering::Relaxed);
        let mut writer =
            SChunkWriter::open_in(Box::new(store.clone()), &EditOptions::default()).unwrap();
        let done = writer.append(&data).and_then(|()| writer.append(&data));
        assert!(done.and_then(|()| writer.commit()).is_err());
        drop(writer);
        assert_eq!(blosc_io::ReadAt::len(&store).unwrap(), len, "{more}");
    }
}

#[test]
fn a_full_disk_loses_nothing_and_can_be_tried_again() {
    let store = Full::default();
    let room = Arc::clone(&store.room);
    let mut writer =
        SChunkWriter::create_in(Box::new(store), &FrameParams::default().chunksize(64)).unwrap();
    let give = |bytes| room.store(bytes, core::sync::atomic::Ordering::Relaxed);
    give(1 << 20);
    writer.append(&[1; 64]).unwrap();
    writer.commit().unwrap();
    let len = writer.schunk().unwrap().frame_len();
    give(len + 10);
    writer.append(&[2; 64]).unwrap();
    for room in [10, 70] {
        give(len + room);
        assert!(matches!(writer.commit(), Err(b2frame::Error::Write { .. })));
        assert_eq!(writer.schunk().unwrap().decode_chunk(1).unwrap(), [2; 64]);
    }
    give(1 << 20);
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.decode_chunk(1).unwrap(), [2; 64]);
}

#[test]
fn a_full_disk_is_told_of_by_the_append_that_finds_it() {
    let store = Full::default();
    let room = Arc::clone(&store.room);
    let chunksize = 1 << 20;
    let mut writer =
        SChunkWriter::create_in(Box::new(store), &FrameParams::default().chunksize(chunksize))
            .unwrap();
    let mut rng = Rng::new(3);
    let data: Vec<u8> = (0..chunksize / 4).flat_map(|_| rng.next_hi().to_le_bytes()).collect();
    assert!(matches!(writer.append(&data), Err(b2frame::Error::Write { .. })));
    assert_eq!(writer.nchunks(), 0);
    room.store(1 << 30, core::sync::atomic::Ordering::Relaxed);
    writer.append(&data).unwrap();
    assert_eq!(writer.finish().unwrap().decode_chunk(0).unwrap(), data);
}

/// A store that performs each call, and then reports a failure.
struct Liar {
    inner: MemStore,
    lies: Arc<core::sync::atomic::AtomicBool>,
    copy: Arc<std::sync::Mutex<Vec<u8>>>,
}

impl blosc_io::ReadAt for Liar {
    fn len(&self) -> std::io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read_at(at, buf)
    }
}

impl WriteAt for Liar {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.inner.write_at(at, bytes)?;
        self.copy.lock().unwrap().clone_from(&self.inner.as_bytes().to_vec());
        let lies = at == 0 && self.lies.load(core::sync::atomic::Ordering::Relaxed);
        if lies { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    fn set_len(&mut self, len: u64) -> std::io::Result<()> {
        self.inner.set_len(len)?;
        self.copy.lock().unwrap().clone_from(&self.inner.as_bytes().to_vec());
        Ok(())
    }

    fn sync(&mut self, what: blosc_io::Sync) -> std::io::Result<()> {
        self.inner.sync(what)
    }
}

#[test]
fn a_header_that_may_have_been_written_is_believed_neither_way() {
    let frame = b2frame::to_cframe(&[1; 64], &FrameParams::default().chunksize(64)).unwrap();
    let lies = Arc::new(core::sync::atomic::AtomicBool::new(true));
    let copy = Arc::new(std::sync::Mutex::new(frame.clone()));
    let store =
        Liar { inner: MemStore::new(frame), lies: Arc::clone(&lies), copy: Arc::clone(&copy) };
    let mut writer = SChunkWriter::open_in(Box::new(store), &EditOptions::default()).unwrap();
    writer.append(&[2; 64]).unwrap();
    assert!(writer.commit().is_err());
    let state = || open(MemStore::new(copy.lock().unwrap().clone()));
    assert_eq!(state().decode_chunk(1).unwrap(), [2; 64]);
    // Later calls must not touch the written bytes.
    writer.append(&[3; 64]).unwrap();
    assert_eq!(state().decode_chunk(1).unwrap(), [2; 64]);
    assert!(writer.commit().is_err());
    lies.store(false, core::sync::atomic::Ordering::Relaxed);
    writer.commit().unwrap();
    writer.append(&[4; 64]).unwrap();
    drop(writer);
    assert_eq!(state().nchunks(), 3);
    assert!(state().verify(&b2frame::report::VerifyOptions::default(), |_| {}).is_ok());
}

#[test]
fn the_first_commit_can_be_tried_again() {
    for data in [&[][..], &[1; 64]] {
        let lies = Arc::new(core::sync::atomic::AtomicBool::new(true));
        let copy = Arc::new(std::sync::Mutex::new(vec![]));
        let store =
            Liar { inner: MemStore::default(), lies: Arc::clone(&lies), copy: Arc::clone(&copy) };
        let params = FrameParams::default().chunksize(64).metalayer("m", *b"meta");
        let mut writer = SChunkWriter::create_in(Box::new(store), &params).unwrap();
        writer.append(data).unwrap();
        assert!(writer.commit().is_err());
        // The second try does not rely on the bytes of the first.
        copy.lock().unwrap().clear();
        lies.store(false, core::sync::atomic::Ordering::Relaxed);
        writer.commit().unwrap();
        let schunk = open(MemStore::new(copy.lock().unwrap().clone()));
        assert_eq!((schunk.nbytes(), schunk.meta().len()), (data.len() as u64, 1));
    }
}

#[test]
fn a_frame_with_what_only_newer_readers_know_can_be_changed() {
    let filters = Pipeline::from_slots([0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 4]);
    let cparams = CParams::default().typesize(16).filters(filters);
    let plain = FrameParams::new(cparams.clone()).chunksize(64);
    assert!(b2frame::to_cframe(&[1; 64], &plain).is_err(), "a shuffle of its own width is new");
    let newer = FrameParams::new(cparams.target(Target::Blosc3_0)).chunksize(64);
    let mut writer = edit(b2frame::to_cframe(&[1; 64], &newer).unwrap());
    writer.append(&[2; 64]).unwrap();
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.decode_chunk(1).unwrap(), [2; 64]);
    assert_eq!(schunk.chunk_info(1).unwrap().stored.unwrap().pipeline, filters);
    let copy = schunk
        .copy(&b2frame::Dest::Memory, &b2frame::CopyOptions::default().chunksize(32))
        .unwrap();
    assert_eq!(copy.decode_chunk(3).unwrap(), [2; 32]);
}

#[test]
fn a_new_file_keeps_chunks_that_were_never_committed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut writer = SChunkWriter::create(&path, &FrameParams::default().chunksize(64)).unwrap();
    writer.set_durability(Durability::ProcessDeath);
    writer.append(b"sixty-four bytes that are not the same, so that there is a chunk").unwrap();
    drop(writer);
    assert!(std::fs::metadata(&path).unwrap().len() > 64);
    assert!(SChunk::open(&path).is_err());
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
    assert!(matches!(refused, b2frame::Error::Write { .. }), "{refused}");
    write(&mut writer, 3).unwrap();
    writer.commit().unwrap();
    assert!(writer.finish().unwrap().schunk().decode_chunk(0).unwrap() == noise(3));
}
