//! A web server in the process, well-behaved and not.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use b2frame::{FrameParams, SChunk, to_cframe};
use blosc_io::ReadAt as _;
use blosc_object_store::{Address, Cache, Remote};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// It gives everything whatever is asked.
    NoRanges,
    /// It closes the connection in the middle of every answer.
    Cut,
    /// It waits before each answer.
    Slow,
    /// The content is another one from the third request on.
    Replaced,
    /// The same, and it takes no notice of `If-Match`.
    ReplacedSilently,
    /// The first requests fail.
    Busy,
    /// It knows no ranges from the end.
    NoSuffix,
    /// Its tags are weak, which no `If-Match` matches.
    WeakTag,
    /// It has no tags, and another content from the third request on, which is younger.
    ReplacedWithoutTag,
}

struct Server {
    address: String,
    requests: Arc<AtomicU64>,
}

impl Server {
    fn start(content: Vec<u8>, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicU64::new(0));
        let (content, count) = (Arc::new(Mutex::new(content)), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (content, count) = (Arc::clone(&content), Arc::clone(&count));
                thread::spawn(move || serve(stream.unwrap(), &content, fault, &count));
            }
        });
        Self { address, requests }
    }

    /// A store that gives up soon.
    fn store(&self) -> Arc<dyn ObjectStore> {
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
        let builder = HttpBuilder::new().with_url(&self.address).with_retry(retry);
        Arc::new(builder.with_client_options(client).build().unwrap())
    }
}

/// Answers the requests of a connection.
fn serve(mut stream: TcpStream, content: &Mutex<Vec<u8>>, fault: Fault, count: &AtomicU64) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if lines.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        let mut content = content.lock().unwrap();
        let replaces = [Fault::Replaced, Fault::ReplacedSilently, Fault::ReplacedWithoutTag];
        let is_replaced = replaces.contains(&fault) && number > 2;
        if is_replaced {
            content.iter_mut().for_each(|byte| *byte = 0);
        }
        if fault == Fault::Slow {
            thread::sleep(Duration::from_millis(30));
        }
        let (status, part, more) = answer(&head, &content, fault, number, is_replaced);
        let tag = match (fault, is_replaced) {
            (Fault::ReplacedWithoutTag, _) => "",
            (Fault::WeakTag, _) => "ETag: W/\"1\"\r\n",
            (_, true) => "ETag: \"2\"\r\n",
            (_, false) => "ETag: \"1\"\r\n",
        };
        let day = if is_replaced { 25 } else { 24 };
        let weekday = if is_replaced { "Wed" } else { "Tue" };
        let len = part.len();
        let mut sent = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {len}\r\n{tag}\
            Last-Modified: {weekday}, {day} Nov 2026 00:00:00 GMT\r\n{more}\r\n"
        )
        .into_bytes();
        let is_cut = fault == Fault::Cut && len > 100;
        if !head.starts_with("HEAD") {
            sent.extend_from_slice(&part[..if is_cut { len / 2 } else { len }]);
        }
        drop(content);
        if stream.write_all(&sent).is_err() || is_cut {
            return;
        }
    }
}

/// Status, content and further headers of an answer.
fn answer(
    head: &str,
    content: &[u8],
    fault: Fault,
    number: u64,
    is_replaced: bool,
) -> (&'static str, Vec<u8>, String) {
    let header = |name: &str| {
        let mut found = head.lines().filter_map(|line| line.split_once(": "));
        found.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    if fault == Fault::Busy && number <= 2 {
        return ("503 Service Unavailable", vec![], String::new());
    }
    if head.split(' ').nth(1) != Some("/data.b2frame") {
        return ("404 Not Found", vec![], String::new());
    }
    let is_refused = fault == Fault::WeakTag || is_replaced && fault == Fault::Replaced;
    if is_refused && header("If-Match").is_some() {
        return ("412 Precondition Failed", vec![], String::new());
    }
    let len = content.len();
    let range = header("Range").and_then(|range| range.strip_prefix("bytes="));
    let Some((start, end)) = range.and_then(|range| range.split_once('-')) else {
        return ("200 OK", content.to_vec(), String::new());
    };
    if fault == Fault::NoRanges {
        return ("200 OK", content.to_vec(), String::new());
    }
    let (start, end) = match (start.parse::<usize>(), end.parse::<usize>()) {
        (Err(_), Ok(_)) if fault == Fault::NoSuffix => {
            return ("416 Range Not Satisfiable", vec![], String::new());
        }
        (Err(_), Ok(last)) => (len.saturating_sub(last), len),
        (Ok(start), Ok(end)) => (start, (end + 1).min(len)),
        _ => (0, len),
    };
    let more = format!("Content-Range: bytes {start}-{}/{len}\r\n", end - 1);
    ("206 Partial Content", content[start..end].to_vec(), more)
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

fn open(server: &Server, cache: &Arc<Cache>) -> std::io::Result<Remote> {
    Remote::open(server.store(), &Path::from("data.b2frame"), cache)
}

#[test]
fn a_frame_is_read_in_parts() {
    let (data, frame) = frame();
    for fault in [Fault::None, Fault::Slow, Fault::Busy, Fault::NoSuffix, Fault::WeakTag] {
        let server = Server::start(frame.clone(), fault);
        let cache = Cache::new(64 << 20).unwrap();
        let schunk = SChunk::from_store(Arc::new(open(&server, &cache).unwrap())).unwrap();
        let opened = cache.counts();
        // Without the last bytes, the index takes rounds of its own.
        assert_eq!(opened.rounds, if fault == Fault::NoSuffix { 2 } else { 1 }, "{fault:?}");
        assert_eq!(schunk.decode_chunk(4).unwrap(), data[400_000..500_000], "{fault:?}");
        assert!(cache.counts().nbytes < frame.len() as u64 / 2, "{:?}", cache.counts());
        assert!(server.requests.load(Ordering::Relaxed) < 12, "{fault:?}");
    }
}

#[test]
fn an_address_leads_to_a_frame() {
    let (data, frame) = frame();
    let server = Server::start(frame, Fault::None);
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
fn servers_that_fail_give_errors_and_no_wrong_bytes() {
    let (_, frame) = frame();
    for fault in [Fault::NoRanges, Fault::Cut] {
        let server = Server::start(frame.clone(), fault);
        let cache = Cache::new(64 << 20).unwrap();
        let error = open(&server, &cache).unwrap_err();
        assert!(!error.to_string().is_empty(), "{fault:?}");
    }
    for fault in [Fault::Replaced, Fault::ReplacedSilently, Fault::ReplacedWithoutTag] {
        let server = Server::start(frame.clone(), fault);
        let cache = Cache::new(64 << 20).unwrap();
        let remote = open(&server, &cache).unwrap();
        let error = remote.read_exact_at(500_000, &mut [0; 100]).unwrap_err();
        assert!(error.to_string().contains("replaced"), "{fault:?}: {error}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server { address: format!("http://{nobody}"), requests: Arc::default() };
    let mut answer = String::new();
    assert!(open(&server, &Cache::new(1 << 20).unwrap()).is_err());
    assert!(TcpStream::connect(nobody).map(|mut s| s.read_to_string(&mut answer)).is_err());
}
