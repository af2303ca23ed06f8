//! A web server in the process, with or without a fault: GET and HEAD with ranges, tags and
//! `If-Match`, and PROPFIND for listings.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

/// The delay of a slow server before each answer; answers on several connections wait at once.
pub(crate) const DELAY: Duration = Duration::from_millis(30);

/// The files of a server by their paths.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The fault of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It ignores ranges, and sends the whole file.
    NoRanges,
    /// It closes the connection in the middle of every answer.
    Cut,
    /// It waits before each answer.
    Slow,
    /// It sends another content from the third request on.
    Replaced,
    /// The same, and it ignores `If-Match`.
    ReplacedSilently,
    /// The first requests fail.
    Busy,
    /// It knows no ranges from the end.
    NoSuffix,
    /// Its tags are weak, which no `If-Match` matches.
    WeakTag,
    /// Tags in listings have no quotation marks.
    BareTag,
    /// It has no tags, and sends another, younger content from the third request on.
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
    /// Connections so far.
    pub(crate) connections: Arc<AtomicU64>,
    content: Arc<Mutex<Content>>,
}

struct Content {
    files: Files,
    /// The tag of all files.
    tag: u64,
}

impl Server {
    /// Serves these files.
    pub(crate) fn start(content: Files, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicU64::new(0));
        let connections = Arc::new(AtomicU64::new(0));
        let accepted = Arc::clone(&connections);
        let content = Arc::new(Mutex::new(Content { files: content, tag: 1 }));
        let served = (Arc::clone(&content), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                accepted.fetch_add(1, Ordering::Relaxed);
                let (content, count) = served.clone();
                thread::spawn(move || serve(stream.unwrap(), &content, fault, &count));
            }
        });
        Self { address, requests, connections, content }
    }

    /// An address without a server.
    pub(crate) fn at_nobody(address: String) -> Self {
        let content = Content { files: Files::new(), tag: 1 };
        Self {
            address,
            requests: Arc::default(),
            connections: Arc::default(),
            content: Arc::new(Mutex::new(content)),
        }
    }

    /// Replaces all files.
    pub(crate) fn replace(&self, files: Files) {
        let mut content = self.content.lock().unwrap();
        content.files = files;
        content.tag += 1;
    }
}

/// Answers the requests of a connection.
fn serve(mut stream: TcpStream, content: &Mutex<Content>, fault: Fault, count: &AtomicU64) {
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
            // The client sends `Depth`.
            let list = listing(&head, &content.lock().unwrap(), fault);
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
            content.files.values_mut().for_each(|file| file.fill(0));
            content.tag = 2;
        }
        let (status, part, more) = answer(&head, &content, fault, number, is_replaced);
        let tag = match fault {
            Fault::ReplacedWithoutTag => String::new(),
            Fault::WeakTag => format!("ETag: W/\"{}\"\r\n", content.tag),
            _ => format!("ETag: \"{}\"\r\n", content.tag),
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
    Content { files, tag }: &Content,
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
    let Some(content) = files.get(&path_of(head)) else {
        return ("404 Not Found", vec![], String::new());
    };
    let ignores_tags = is_replaced && fault != Fault::Replaced;
    let is_refused = |asked: &str| fault == Fault::WeakTag || asked != format!("\"{tag}\"");
    if !ignores_tags && header("If-Match").is_some_and(is_refused) {
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

/// The answer to PROPFIND: the files below a path, or the entries directly below it.
fn listing(head: &str, Content { files, tag }: &Content, fault: Fault) -> Vec<u8> {
    let mark = if fault == Fault::BareTag { "" } else { "\"" };
    let below = path_of(head);
    let below = below.trim_end_matches('/');
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
                <D:getetag>{mark}{tag}{mark}</D:getetag>"
            ),
            None => "<D:resourcetype><D:collection/></D:resourcetype>".to_owned(),
        };
        body += &format!(
            "<D:response><D:href>/{}</D:href><D:propstat><D:prop><D:getlastmodified>\
            Tue, 24 Nov 2026 00:00:00 GMT</D:getlastmodified>{about}</D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
            encoded(path.trim_start_matches('/'))
        );
    }
    body += "</D:multistatus>";
    let (status, body) = match found.len() {
        0 => ("404 Not Found", String::new()),
        _ => ("207 Multi-Status", body),
    };
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The path of a request, without the slash at its start.
fn path_of(head: &str) -> String {
    let path = head.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let mut parts = path.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        decoded.push(u8::from_str_radix(&part[..2], 16).unwrap());
        decoded.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(decoded).unwrap()
}

/// A path, escaped as in a listing.
fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._=".contains(&byte);
    let byte = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

/// All files below a folder.
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
