//! Frames, arrays, stores and tables on a web server in the process, well-behaved and not.

#[path = "support/server.rs"]
mod server;

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use b2frame::{FrameParams, NdArray, NdParams, NdWriter, SChunk, SChunkWriter, to_cframe};
use b2store::{ColumnKind, ColumnValues, NewColumn, Store, StoreWriter};
use bcolz_store::{CTable, CTableWriter, CreateOptions};
use blosc_io::ReadAt as _;
use blosc_object_store::{Address, Cache, Remote, RemoteTree};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use server::{Fault, Files, Server, files_in};

/// A store whose requests time out soon.
fn store(server: &Server) -> Arc<dyn ObjectStore> {
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(1),
            max_backoff: Duration::from_millis(5),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(5),
    };
    let client = ClientOptions::new().with_allow_http(true);
    let builder = HttpBuilder::new().with_url(&server.address).with_retry(retry);
    Arc::new(builder.with_client_options(client).build().unwrap())
}

/// A server of one frame.
fn serve(frame: Vec<u8>, fault: Fault) -> Server {
    Server::start(Files::from([("data.b2frame".to_owned(), frame)]), fault)
}

/// A frame of 10 chunks of noise.
fn frame() -> (Vec<u8>, Vec<u8>) {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    let data: Vec<u8> = (0..1_000_000).map(|_| next()).collect();
    let frame = to_cframe(&data, &FrameParams::default().chunksize(100_000)).unwrap();
    (data, frame)
}

/// All kinds of data over HTTP equal the same data on disk.
#[test]
fn addresses_of_a_server_share_its_connections() {
    let files = (0..50).map(|file| (format!("folder/{file}"), vec![file; 1000])).collect();
    let server = Server::start(files, Fault::None);
    let cache = Cache::new(1 << 20).unwrap();
    for file in 0..50 {
        let text = format!("{}/folder/{file}", server.address);
        let mut first = [0];
        let object = Address::parse_in(&text, &cache).unwrap().open(&cache).unwrap();
        object.read_exact_at(999, &mut first).unwrap();
        assert_eq!(first, [file]);
    }
    // Each request under way has its own connection.
    let connections = server.connections.load(Ordering::Relaxed);
    assert!(connections < 10, "{connections} connections");
}

#[test]
fn all_kinds_are_read_as_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (data, frame) = frame();
    std::fs::write(at("x.b2frame"), frame).unwrap();
    let params = NdParams::new(&[100, 1000], "<i4".parse().unwrap()).chunkshape(&[10, 1000]);
    let mut writer = NdWriter::create(at("x.b2nd"), &params).unwrap();
    writer.write_bytes(.., &data[..400_000]).unwrap();
    let array = writer.finish().unwrap();
    let params = FrameParams::default().chunksize(100_000);
    let mut sparse = SChunkWriter::create_sparse(at("x.sframe"), &params).unwrap();
    sparse.append(&data).unwrap();
    sparse.finish().unwrap();
    let new = CreateOptions::new("<i8".parse().unwrap()).chunklen(Some(10_000));
    let mut table = CTableWriter::create(at("x.bcolz"), &[("a", new)]).unwrap();
    table.append(&[&data[..800_000]]).unwrap();
    table.finish().unwrap();
    let values = ColumnValues::fixed("<i8".parse().unwrap(), data[..800_000].to_vec());
    for name in ["x.b2z", "x.b2d"] {
        let mut store = StoreWriter::create(at(name)).unwrap();
        let column = NewColumn::new("a", ColumnKind::Fixed("i8"));
        store.insert_table("/t", &[column], core::slice::from_ref(&values)).unwrap();
        store.commit().unwrap();
    }

    // Azure lists tags without quotation marks.
    for fault in [Fault::None, Fault::BareTag] {
        let server = Server::start(files_in(dir.path()), fault);
        let cache = Cache::new(64 << 20).unwrap();
        let address = |name: &str| Address::parse(&format!("{}/{name}", server.address)).unwrap();
        let object = |name: &str| Arc::new(address(name).open(&cache).unwrap());
        let tree = |name: &str| -> Arc<RemoteTree> {
            assert_eq!(
                address(name).open(&cache).unwrap_err().kind(),
                std::io::ErrorKind::NotFound
            );
            Arc::new(address(name).open_tree(&cache).unwrap())
        };
        let bytes = |schunk: &SChunk| {
            let mut bytes = vec![0; 1_000_000];
            schunk.read_bytes(0, &mut bytes).map(|()| bytes)
        };
        let frame = SChunk::from_store(object("x.b2frame")).unwrap();
        assert!(bytes(&frame).unwrap() == data);
        let far = NdArray::from_schunk(SChunk::from_store(object("x.b2nd")).unwrap()).unwrap();
        assert_eq!(far.to_bytes((.., 7)).unwrap(), array.to_bytes((.., 7)).unwrap());
        let options = b2frame::OpenOptions::default();
        let sparse = SChunk::from_tree(tree("x.sframe"), &options).unwrap();
        assert!(bytes(&sparse).unwrap() == data);
        let options = bcolz_store::OpenOptions::default();
        let table = CTable::open_in(tree("x.bcolz"), "", &options).unwrap();
        assert!(table.column("a").unwrap().read(0..100_000).unwrap() == data[..800_000]);
        let options = b2store::OpenOptions::default();
        let archive = Store::from_store(object("x.b2z"), &options).unwrap();
        let directory = Store::from_tree(tree("x.b2d"), &options).unwrap();
        for store in [archive, directory] {
            let column = store.table("/t").unwrap().column("a").unwrap();
            assert_eq!(column.read(0..100_000).unwrap(), values);
        }
        assert_eq!(cache.counts().requests, server.requests.load(Ordering::Relaxed));
    }
}

fn open(server: &Server, cache: &Arc<Cache>) -> std::io::Result<Remote> {
    Remote::open(store(server), &Path::from("data.b2frame"), cache)
}

#[test]
fn a_frame_is_read_in_parts() {
    let (data, frame) = frame();
    let faults = [Fault::None, Fault::Slow, Fault::Busy, Fault::WeakTag];
    for fault in faults.into_iter().chain([Fault::NoSuffix, Fault::TailFails]) {
        let server = serve(frame.clone(), fault);
        let cache = Cache::new(64 << 20).unwrap();
        let schunk = SChunk::from_store(Arc::new(open(&server, &cache).unwrap())).unwrap();
        let opened = cache.counts();
        // Without ranges from the end, the last bytes are fetched by position.
        let lacks_tail = [Fault::NoSuffix, Fault::TailFails].contains(&fault);
        assert_eq!(opened.rounds, if lacks_tail { 2 } else { 1 }, "{fault:?}");
        assert_eq!(opened.failed, u64::from(lacks_tail), "{fault:?}");
        assert_eq!(schunk.decode_chunk(4).unwrap(), data[400_000..500_000], "{fault:?}");
        assert!(cache.counts().nbytes < frame.len() as u64 / 2, "{:?}", cache.counts());
        assert!(server.requests.load(Ordering::Relaxed) < 12, "{fault:?}");
    }
}

#[test]
fn an_address_leads_to_a_frame() {
    let (data, frame) = frame();
    let server = serve(frame, Fault::None);
    let cache = Cache::new(64 << 20).unwrap();
    let address = Address::parse(&format!("{}/data.b2frame", server.address)).unwrap();
    let schunk = SChunk::from_store(Arc::new(address.open(&cache).unwrap())).unwrap();
    assert_eq!(schunk.decode_chunk(9).unwrap(), data[900_000..]);
    let none = Address::parse(&format!("{}/other", server.address)).unwrap();
    assert_eq!(none.open(&cache).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    for text in ["data.b2frame", "gopher://x/y"] {
        let error = Address::parse(text).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
}

#[test]
fn the_query_of_a_signed_address_is_sent() {
    let (data, frame) = frame();
    // The server has the file only under the name with the query.
    let name = "data.b2frame?X-Expires=60&X-Signature=a/b+c".to_owned();
    let server = Server::start(Files::from([(name, frame)]), Fault::None);
    let cache = Cache::new(64 << 20).unwrap();
    let address =
        |query| format!("{}/data.b2frame?X-Expires=60&X-Signature={query}", server.address);
    let signed = Address::parse(&address("a%2Fb+c#part")).unwrap();
    let schunk = SChunk::from_store(Arc::new(signed.open(&cache).unwrap())).unwrap();
    assert_eq!(schunk.decode_chunk(9).unwrap(), data[900_000..]);
    let other = Address::parse(&address("other")).unwrap();
    assert_eq!(other.open(&cache).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn servers_that_fail_give_errors_and_no_wrong_bytes() {
    let (_, frame) = frame();
    let server = serve(frame.clone(), Fault::Cut);
    let error = open(&server, &Cache::new(64 << 20).unwrap()).unwrap_err();
    assert!(!error.to_string().is_empty(), "{error}");
    for fault in [Fault::Replaced, Fault::ReplacedSilently, Fault::ReplacedWithoutTag] {
        let server = serve(frame.clone(), fault);
        let cache = Cache::new(64 << 20).unwrap();
        let remote = open(&server, &cache).unwrap();
        let error = remote.read_exact_at(500_000, &mut [0; 100]).unwrap_err();
        assert!(error.to_string().contains("replaced"), "{fault:?}: {error}");
    }
    // A request that fails after opening is an error of reading, and is counted.
    let server = serve(frame.clone(), Fault::FailsLater);
    let cache = Cache::new(64 << 20).unwrap();
    let remote = open(&server, &cache).unwrap();
    assert!(remote.read_exact_at(500_000, &mut [0; 100]).is_err());
    assert!(remote.read_ranges(core::slice::from_ref(&(500_000..500_010))).is_err());
    let counts = cache.counts();
    assert!(counts.failed >= 2 && counts.requests >= 4, "{counts:?}");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::at_nobody(format!("http://{nobody}"));
    let mut answer = String::new();
    assert!(open(&server, &Cache::new(1 << 20).unwrap()).is_err());
    assert!(TcpStream::connect(nobody).map(|mut s| s.read_to_string(&mut answer)).is_err());
}

#[test]
fn a_server_without_ranges_sends_small_files_whole() {
    let (data, frame) = frame();
    let server = serve(frame, Fault::NoRanges);
    // The object is held outside of the budget: it could not be fetched again.
    let cache = Cache::new(1 << 16).unwrap();
    let remote = Arc::new(open(&server, &cache).unwrap());
    let schunk = SChunk::from_store(Arc::clone(&remote) as _).unwrap();
    assert_eq!(schunk.decode_chunk(4).unwrap(), data[400_000..500_000]);
    assert_eq!(cache.counts().requests, 3);
    let parts = remote.read_ranges(&[0..4, 100..200]).unwrap();
    assert_eq!((parts[0].len(), parts[1].len()), (4, 100));
    // A longer file is refused.
    let server = serve(vec![0; (64 << 20) + 1], Fault::NoRanges);
    let error = open(&server, &cache).unwrap_err();
    assert_eq!(error.to_string(), "this server sends files only as a whole: download it");
}

#[test]
fn messages_are_one_line_and_refusals_are_not_tried_again() {
    let (_, frame) = frame();
    let server = serve(frame, Fault::None);
    let cache = Cache::new(1 << 20).unwrap();
    let none = Address::parse(&format!("{}/none", server.address)).unwrap();
    assert_eq!(none.open(&cache).unwrap_err().to_string(), "not found");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = Address::parse(&format!("http://{nobody}/x.b2nd")).unwrap();
    let start = std::time::Instant::now();
    let error = address.open(&cache).unwrap_err().to_string();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(error.len() < 400 && !error.contains('\n'), "{error}");
    assert!(error.to_lowercase().contains("refused"), "{error}");
}

#[test]
fn a_fingerprint_tells_versions_apart() {
    let (_, frame) = frame();
    let files = || Files::from([("t 1%/a#?".to_owned(), frame.clone())]);
    let server = Server::start(files(), Fault::None);
    let folder = Address::below(&server.address, "t 1%").unwrap();
    let file = Address::below(&folder, "a#?").unwrap();
    let [folder, file] = [folder, file].map(|text| Address::parse(&text).unwrap());
    let fingerprints = || {
        // Another process has a cache of its own.
        let cache = Cache::new(1 << 20).unwrap();
        let tree = folder.open_tree(&cache).unwrap();
        [file.open(&cache).unwrap().fingerprint(), tree.fingerprint()]
    };
    let before = fingerprints();
    assert_eq!(fingerprints(), before);
    // The new files have the same names and lengths.
    server.replace(files());
    let after = fingerprints();
    assert!(before[0] != after[0] && before[1] != after[1], "{before:?} {after:?}");
}

#[test]
fn the_example_prints_what_an_address_holds() {
    let (data, frame) = frame();
    let server = serve(frame, Fault::None);
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/remote");
    let address = format!("{}/data.b2frame", server.address);
    let output = std::process::Command::new(example).arg(&address).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let bytes = format!(" {} bytes\n", data.len());
    assert!(text.contains(&bytes) && text.contains("2 requests in 1 rounds"), "{text}");
}
