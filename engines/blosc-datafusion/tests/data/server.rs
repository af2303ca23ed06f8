//! A web server in the process.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Answers requests for ranges of files; the address of the server.
pub(crate) fn start(files: HashMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let files = Arc::new(files);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let files = Arc::clone(&files);
            thread::spawn(move || serve(stream.unwrap(), &files));
        }
    });
    address
}

fn serve(mut stream: TcpStream, files: &HashMap<String, Vec<u8>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if lines.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let name = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
        let range = head.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("range: bytes=")?
                .split_once('-')
                .map(|(a, b)| (a.parse().ok(), b.parse().ok()))
        });
        let (status, part, more) = match (files.get(name), range) {
            (None, _) => ("404 Not Found", &[][..], String::new()),
            (Some(file), Some((start, end))) => {
                let (start, end): (usize, usize) = match (start, end) {
                    (Some(start), Some(end)) => (start, file.len().min(end + 1)),
                    (None, Some(last)) => (file.len().saturating_sub(last), file.len()),
                    _ => (0, file.len()),
                };
                let more = format!("Content-Range: bytes {start}-{}/{}\r\n", end - 1, file.len());
                ("206 Partial Content", &file[start..end], more)
            }
            (Some(file), None) => ("200 OK", &file[..], String::new()),
        };
        let len = part.len();
        let sent = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {len}\r\nETag: \"1\"\r\n\
            Last-Modified: Tue, 24 Nov 2026 00:00:00 GMT\r\n{more}\r\n"
        );
        let part = if head.starts_with("HEAD") { &[] } else { part };
        if stream.write_all(sent.as_bytes()).and_then(|()| stream.write_all(part)).is_err() {
            return;
        }
    }
}
