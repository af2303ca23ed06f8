//! Frames, stores and tables in a store of objects in memory equal those on disk, and take few
//! rounds of requests.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

use std::path::Path as FilePath;
use std::sync::{Arc, Barrier};

use b2frame::nd::{Pick, Selection};
use b2frame::{NdArray, NdParams, NdWriter, SChunk, SChunkWriter};
use b2store::{ColumnKind, ColumnValues, NewColumn, Store, StoreWriter};
use bcolz_store::{CTable, CTableWriter, CreateOptions, OpenOptions};
use blosc_io::ReadAt as _;
use blosc_io::tree::Tree as _;
use blosc_object_store::{Cache, Remote, RemoteTree, read_async};
use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;

/// Numbers that do not compress to almost nothing.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

fn whole() -> Selection {
    Selection::default()
}

/// Uploads all files below a folder.
async fn upload(store: &InMemory, folder: &FilePath) {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            store.put(&Path::from(name), std::fs::read(&path).unwrap().into()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn parts_of_an_array_come_in_few_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let params = NdParams::new(&[400, 1000], "<i4".parse().unwrap()).chunkshape(&[50, 500]);
    let mut writer = NdWriter::create(dir.path().join("a.b2nd"), &params).unwrap();
    writer.write_bytes(whole(), &noise(1_600_000)).unwrap();
    let local = writer.finish().unwrap();
    let store = Arc::new(InMemory::new());
    upload(&store, dir.path()).await;

    let cache = Cache::new(64 << 20).unwrap();
    let remote = Remote::open(store, &Path::from("a.b2nd"), &cache).unwrap();
    let len = remote.len().unwrap();
    let array = NdArray::from_schunk(SChunk::from_store(Arc::new(remote)).unwrap()).unwrap();
    let opened = cache.counts();
    assert_eq!((opened.rounds, opened.requests), (1, 2));

    let part = [Pick::slice(10, 12, 1), Pick::slice(400, 700, 1)];
    assert_eq!(array.to_bytes(part).unwrap(), local.to_bytes(part).unwrap());
    let read = cache.counts();
    assert!(read.rounds <= opened.rounds + 2, "{read:?}");
    assert!(read.nbytes < len / 2, "{read:?} of {len}");
    array.to_bytes(part).unwrap();
    assert_eq!(cache.counts(), read);
    assert_eq!(array.to_bytes(whole()).unwrap(), local.to_bytes(whole()).unwrap());
    // No byte arrived twice, except for the first page and the tail.
    assert!(cache.counts().nbytes <= len + (192 << 10), "{:?} of {len}", cache.counts());
}

#[tokio::test]
async fn trees_are_read_as_directories_are() {
    let dir = tempfile::tempdir().unwrap();
    let new = |dtype: &str| CreateOptions::new(dtype.parse().unwrap()).chunklen(Some(1000));
    let columns = [("a", new("<i8")), ("b", new("|S3"))];
    let mut writer = CTableWriter::create(dir.path().join("t.bcolz"), &columns).unwrap();
    writer.append(&[&noise(40_000), &noise(15_000)]).unwrap();
    writer.finish().unwrap();
    let params = b2frame::FrameParams::default().chunksize(4096);
    let mut sparse = SChunkWriter::create_sparse(dir.path().join("s.b2frame"), &params).unwrap();
    sparse.append(&noise(20_000)).unwrap();
    sparse.finish().unwrap();
    let ids = ColumnValues::fixed("<i8".parse().unwrap(), noise(8_000));
    let mut packed = StoreWriter::create(dir.path().join("t.b2z")).unwrap();
    packed.insert_table("/", &[NewColumn::new("id", ColumnKind::Fixed("i8"))], &[ids]).unwrap();
    packed.commit().unwrap();
    let store = Arc::new(InMemory::new());
    upload(&store, dir.path()).await;
    let cache = Cache::new(64 << 20).unwrap();
    let tree =
        |name: &str| Arc::new(RemoteTree::open(store.clone(), &Path::from(name), &cache).unwrap());

    let table = CTable::open_in(tree("t.bcolz"), "", &OpenOptions::default()).unwrap();
    let local = CTable::open(dir.path().join("t.bcolz")).unwrap();
    for name in ["a", "b"] {
        let found = table.column(name).unwrap().read(0..5000).unwrap();
        assert_eq!(found, local.column(name).unwrap().read(0..5000).unwrap());
    }
    let frame = SChunk::from_tree(tree("s.b2frame"), &b2frame::OpenOptions::default()).unwrap();
    let local = SChunk::open(dir.path().join("s.b2frame")).unwrap();
    for nchunk in 0..local.nchunks() {
        assert_eq!(frame.decode_chunk(nchunk).unwrap(), local.decode_chunk(nchunk).unwrap());
    }
    let packed = Remote::open(store.clone(), &Path::from("t.b2z"), &cache).unwrap();
    let options = b2store::OpenOptions::default();
    let archive = Store::from_store(Arc::new(packed), &options).unwrap();
    let ids = archive.table("/").unwrap().column("id").unwrap().read(0..1000).unwrap();
    let local = Store::open(dir.path().join("t.b2z")).unwrap().table("/").unwrap();
    assert_eq!(ids, local.column("id").unwrap().read(0..1000).unwrap());

    let all = tree("t.bcolz");
    assert_eq!(all.list("a/meta").unwrap().len(), 2);
    assert!(all.list("").unwrap().iter().any(|entry| entry.name == "b" && entry.is_dir));
    let kind = |result: std::io::Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(all.open("a/none").map(drop)), std::io::ErrorKind::NotFound);
    assert_eq!(kind(all.open("a").map(drop)), std::io::ErrorKind::InvalidInput);
    assert_eq!(kind(all.list("a/meta/sizes").map(drop)), std::io::ErrorKind::NotADirectory);
    assert_eq!(kind(all.write("x", b"")), std::io::ErrorKind::ReadOnlyFilesystem);
    let none = RemoteTree::open(store.clone(), &Path::from("none"), &cache);
    assert_eq!(none.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn any_range_is_what_the_object_holds() {
    let store = Arc::new(InMemory::new());
    let cache = Cache::new(1 << 20).unwrap();
    for len in [0, 1, 65_535, 65_536, 65_537, 131_072, 700_001] {
        let content = noise(len);
        let path = Path::from(format!("o{len}"));
        store.put(&path, content.clone().into()).await.unwrap();
        let remote = Remote::open(store.clone(), &path, &cache).unwrap();
        assert_eq!(remote.len().unwrap(), len as u64);
        for seed in 0..200_usize {
            let (a, b) = (seed * 7919 % (len + 1), seed * 104_729 % (len + 1));
            let (start, end) = (a.min(b), a.max(b));
            let mut buf = vec![1; end - start];
            remote.read_exact_at(start as u64, &mut buf).unwrap();
            assert_eq!(buf, content[start..end], "{start}..{end} of {len}");
            let two = [start as u64..end as u64, 0..start as u64];
            let read = remote.read_ranges(&two).unwrap();
            assert_eq!(read, [&content[start..end], &content[..start]]);
            assert!(cache.peak_nbytes() <= 1 << 20);
        }
        assert_eq!(remote.read_at(len as u64, &mut [0; 4]).unwrap(), 0);
        let beyond = remote.read_exact_at(len as u64, &mut [0]).unwrap_err();
        assert_eq!(beyond.kind(), std::io::ErrorKind::UnexpectedEof);
        assert!(remote.read_ranges(&[0..1, 0..len as u64 + 1]).is_err());
    }
}

#[tokio::test]
async fn threads_that_need_the_same_bytes_wait_for_one_request() {
    let store = Arc::new(InMemory::new());
    let content = noise(600_000);
    store.put(&Path::from("o"), content.clone().into()).await.unwrap();
    let cache = Cache::new(64 << 20).unwrap();
    let remote = Remote::open(store, &Path::from("o"), &cache).unwrap();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let mut buf = vec![0; 200_000];
                remote.read_exact_at(100_000, &mut buf).unwrap();
                assert_eq!(buf, content[100_000..300_000]);
            });
        }
    });
    let pages = (300_000_u64.div_ceil(65_536) - 100_000 / 65_536) * 65_536;
    assert!(cache.counts().nbytes <= 2 * 65_536 + pages, "{:?}", cache.counts());
}

#[tokio::test]
async fn an_object_that_is_replaced_is_an_error() {
    let store = Arc::new(InMemory::new());
    store.put(&Path::from("o"), noise(600_000).into()).await.unwrap();
    let cache = Cache::new(64 << 20).unwrap();
    let remote = Remote::open(store.clone(), &Path::from("o"), &cache).unwrap();
    let listed = store.head(&Path::from("o")).await.unwrap();
    let listed = Remote::with_meta(store.clone(), listed, &cache);
    store.put(&Path::from("o"), noise(600_000).into()).await.unwrap();
    for old in [&remote, &listed] {
        let error = old.read_exact_at(200_000, &mut [0; 10]).unwrap_err();
        assert!(error.to_string().contains("replaced"), "{error}");
    }
    store.delete(&Path::from("o")).await.unwrap();
    let error = remote.read_exact_at(200_000, &mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let none = Remote::open(store, &Path::from("o"), &cache).unwrap_err();
    assert_eq!(none.kind(), std::io::ErrorKind::NotFound);
}

/// Any number of threads read any parts: the data are right and the budget holds.
#[test]
fn the_budget_is_never_exceeded() {
    use proptest::prelude::*;

    const LEN: u64 = 3 << 20;
    let content = noise(LEN as usize);
    let store = Arc::new(InMemory::new());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(store.put(&Path::from("o"), content.clone().into())).unwrap();
    let range = || (0..LEN, 0..LEN).prop_map(|(a, b)| a.min(b)..a.max(b));
    let short = || (0..LEN - 5000, 0..5000_u64).prop_map(|(at, len)| at..at + len);
    let read =
        || (any::<bool>(), prop::collection::vec(prop_oneof![range(), short(), short()], 1..6));
    let strategy = prop::collection::vec(prop::collection::vec(read(), 1..8), 1..5);
    let config = ProptestConfig { cases: 20, failure_persistence: None, ..Default::default() };
    proptest!(config, |(threads in strategy, budget in (1_u64 << 20)..(4 << 20))| {
        let cache = Cache::new(budget).unwrap();
        let remote = Remote::open(store.clone(), &Path::from("o"), &cache).unwrap();
        std::thread::scope(|scope| {
            for reads in &threads {
                let (remote, content) = (&remote, &content);
                scope.spawn(move || {
                    for (is_announced, ranges) in reads {
                        if *is_announced {
                            remote.prefetch(ranges);
                        }
                        let found = remote.read_ranges(ranges).unwrap();
                        for (range, found) in ranges.iter().zip(found) {
                            assert!(found == content[range.start as usize..range.end as usize]);
                        }
                        let first = &ranges[0];
                        let mut one = vec![0; (first.end - first.start) as usize];
                        remote.read_exact_at(first.start, &mut one).unwrap();
                        assert!(one == content[first.start as usize..first.end as usize]);
                    }
                });
            }
        });
        prop_assert!(cache.peak_nbytes() <= budget, "{} of {budget}", cache.peak_nbytes());
        prop_assert!(cache.kept_nbytes() > 0);
    });
}

/// Work in an async runtime of one thread fetches while it waits, and so does other work beside it.
#[tokio::test]
async fn async_work_waits_without_its_thread() {
    let dir = tempfile::tempdir().unwrap();
    let params = NdParams::new(&[400, 1000], "<i4".parse().unwrap()).chunkshape(&[50, 500]);
    let mut writer = NdWriter::create(dir.path().join("a.b2nd"), &params).unwrap();
    writer.write_bytes(whole(), &noise(1_600_000)).unwrap();
    let local = writer.finish().unwrap();
    let memory = InMemory::new();
    upload(&memory, dir.path()).await;
    let latency = core::time::Duration::from_millis(20);
    let config =
        object_store::throttle::ThrottleConfig { wait_get_per_call: latency, ..Default::default() };
    let store = Arc::new(object_store::throttle::ThrottledStore::new(memory, config));
    let cache = Cache::new(64 << 20).unwrap();
    let remote = Remote::open_async(store.clone(), &Path::from("a.b2nd"), &cache).await.unwrap();
    let open = || NdArray::from_schunk(SChunk::from_store(Arc::new(remote.clone()))?);
    let array = read_async(open).await.unwrap();
    let parts = [(3_i64..5, 0_i64..1000), (100..400, 3..4), (399..400, 999..1000)];
    let read = |(rows, columns): &(core::ops::Range<i64>, core::ops::Range<i64>)| {
        let (array, part) = (array.clone(), Selection::from((rows.clone(), columns.clone())));
        async move { read_async(|| array.to_bytes(&part)).await }
    };
    let found = futures::future::join_all(parts.iter().map(read)).await;
    for ((rows, columns), found) in parts.into_iter().zip(found) {
        assert_eq!(found.unwrap(), local.to_bytes((rows, columns)).unwrap());
    }
    // Three parts at once, with two rounds each.
    assert!(cache.counts().rounds <= 4, "{:?}", cache.counts());
    // The caller gets the error, and the session ends with the work.
    store.delete(&Path::from("a.b2nd")).await.unwrap();
    assert!(read_async(|| array.to_bytes((200..210, ..))).await.is_err());
    assert!(array.to_bytes((200..210, ..)).is_err());
    assert_eq!(array.to_bytes((3..5, ..)).unwrap(), local.to_bytes((3..5, ..)).unwrap());
}
