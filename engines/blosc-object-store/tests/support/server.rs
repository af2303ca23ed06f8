//! A web server in the process, well-behaved and not: GET and HEAD with ranges, tags and
//! `If-Match`, and PROPFIND for listings.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

/// What a slow server waits before each answer; answers to several connections wait at once.
pub(crate) const DELAY: Duration = Duration::from_millis(30);

/// The files of a server by their paths.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Nothing.
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
    /// Requests for the last bytes fail.
    TailFails,
    /// All requests but the first two fail.
    FailsLater,
}

/// A server, which runs until the process ends.
pub(crate) struct Server {
    /// Scheme, host and port.
    pub(crate) address: String,
    /// Requests so far.
    pub(crate) requests: Arc<AtomicU64>,
}

impl Server {
    /// Serves these files.
    pub(crate) fn start(content: Files, fault: Fault) -> Self {
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
}

/// Answers the requests of a connection.
fn serve(mut stream: TcpStream, content: &Mutex<Files>, fault: Fault, count: &AtomicU64) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if lines.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        if head.starts_with("PROPFIND") {
            count.fetch_add(1, Ordering::Relaxed);
            // What a client says of depth.
            let list = listing(&head, &content.lock().unwrap());
            if stream.write_all(&list).is_err() {
                return;
            }
            continue;
        }
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        if fault == Fault::Slow {
            thread::sleep(DELAY);
        }
        let mut content = content.lock().unwrap();
        let replaces = [Fault::Replaced, Fault::ReplacedSilently, Fault::ReplacedWithoutTag];
        let is_replaced = replaces.contains(&fault) && number > 2;
        if is_replaced {
            content.values_mut().for_each(|file| file.fill(0));
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
    files: &Files,
    fault: Fault,
    number: u64,
    is_replaced: bool,
) -> (&'static str, Vec<u8>, String) {
    let header = |name: &str| {
        let mut found = head.lines().filter_map(|line| line.split_once(": "));
        found.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let fails = match fault {
        Fault::Busy => number <= 2,
        Fault::FailsLater => number > 2,
        Fault::TailFails => header("Range").is_some_and(|range| range.starts_with("bytes=-")),
        _ => false,
    };
    if fails {
        return ("503 Service Unavailable", vec![], String::new());
    }
    let Some(content) = head.split(' ').nth(1).and_then(|path| files.get(path.get(1..)?)) else {
        return ("404 Not Found", vec![], String::new());
    };
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

/// The answer to PROPFIND: the files below a path, or what lies directly below it.
fn listing(head: &str, files: &Files) -> Vec<u8> {
    let below = head.split(' ').nth(1).unwrap_or("/").trim_matches('/');
    let is_shallow = head.lines().any(|line| line.eq_ignore_ascii_case("depth: 1"));
    let mut found = BTreeMap::new();
    for (path, bytes) in files {
        let rest = if below.is_empty() { Some(path.as_str()) } else { path.strip_prefix(below) };
        let Some(rest) = rest.filter(|rest| below.is_empty() || rest.starts_with('/')) else {
            continue;
        };
        match rest.trim_start_matches('/').split_once('/').filter(|_| is_shallow) {
            Some((folder, _)) => found.insert(format!("{below}/{folder}/"), None),
            None => found.insert(path.clone(), Some(bytes.len())),
        };
    }
    let mut body = "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">".to_owned();
    for (path, len) in &found {
        let about = match len {
            Some(len) => format!(
                "<D:getcontentlength>{len}</D:getcontentlength><D:resourcetype/>\
                <D:getetag>\"1\"</D:getetag>"
            ),
            None => "<D:resourcetype><D:collection/></D:resourcetype>".to_owned(),
        };
        body += &format!(
            "<D:response><D:href>/{}</D:href><D:propstat><D:prop><D:getlastmodified>\
            Tue, 24 Nov 2026 00:00:00 GMT</D:getlastmodified>{about}</D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
            path.trim_start_matches('/')
        );
    }
    body += "</D:multistatus>";
    let (status, body) = match found.len() {
        0 => ("404 Not Found", String::new()),
        _ => ("207 Multi-Status", body),
    };
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Everything below a folder.
pub(crate) fn files_in(folder: &Path) -> Files {
    let (mut files, mut folders) = (Files::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in next.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files
}
