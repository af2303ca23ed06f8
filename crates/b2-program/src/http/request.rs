//! The head of an HTTP/1.1 request; anything else is refused.

use std::io::{self, BufRead, Read as _};

/// Bytes of a head.
const MAX_HEAD: u64 = 16 << 10;

/// The request of a browser.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// The path, without what follows a question mark.
    pub path: String,
    /// Whether the answer has no body.
    pub is_head: bool,
    /// The header `Host`.
    pub host: String,
    /// The part of the file that the browser wants.
    pub range: Option<Range>,
    /// Whether the connection stays open.
    pub keeps_alive: bool,
}

/// One range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// From a position to another, which belongs to it, or to the end.
    From(u64, Option<u64>),
    /// The last bytes.
    Last(u64),
}

/// The status of a request that is refused for its form.
pub type Refused = u16;

impl Request {
    /// The next request of a connection; `None` at its end.
    ///
    /// # Errors
    ///
    /// A connection that cannot be read.
    pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Result<Self, Refused>>> {
        let mut head = reader.take(MAX_HEAD);
        let mut lines = vec![];
        loop {
            let mut line = vec![];
            head.read_until(b'\n', &mut line)?;
            if line.is_empty() && lines.is_empty() {
                return Ok(None);
            }
            let Some(line) = line.strip_suffix(b"\r\n") else {
                return Ok(Some(Err(if head.limit() == 0 { 431 } else { 400 })));
            };
            if line.is_empty() {
                return Ok(Some(Self::parse(&lines).unwrap_or(Err(400))));
            }
            match str::from_utf8(line) {
                Ok(line) if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) => {
                    lines.push(line.to_owned());
                }
                _ => return Ok(Some(Err(400))),
            }
        }
    }

    /// `None` if it is malformed; the status if this server has no answer to it.
    fn parse(lines: &[String]) -> Option<Result<Self, Refused>> {
        let (first, headers) = lines.split_first()?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !target.starts_with('/') || version != "HTTP/1.1" {
            return None;
        }
        let is_head = match method {
            "GET" => false,
            "HEAD" => true,
            _ => return Some(Err(405)),
        };
        let (mut host, mut range, mut keeps_alive) = (None, None, true);
        for header in headers {
            let (name, value) = header.split_once(':')?;
            if name.is_empty()
                || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            {
                return None;
            }
            let value = value.trim_matches([' ', '\t']);
            match &*name.to_ascii_lowercase() {
                "host" if host.replace(value.to_owned()).is_some() => return None,
                "range" => range = Range::parse(value),
                "connection" => keeps_alive &= !value.eq_ignore_ascii_case("close"),
                // A body would be read as the next request.
                "transfer-encoding" => return None,
                "content-length" if value != "0" => return None,
                _ => {}
            }
        }
        let path = target.split_once('?').map_or(target, |(path, _)| path).to_owned();
        Some(Ok(Self { path, is_head, host: host?, range, keeps_alive }))
    }

    /// Whether the browser was sent to this machine by a name of this machine: any other name was
    /// made to lead here, so that a page of another origin can read the answers.
    #[must_use]
    pub fn is_for_this_machine(&self) -> bool {
        let (name, port) = match self.host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (&*self.host, None),
        };
        // The other end of a tunnel may have any port.
        let is_port =
            |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        matches!(name, "127.0.0.1" | "localhost" | "[::1]") && port.is_none_or(is_port)
    }
}

impl Range {
    /// `None` for several ranges and for other units: the answer is then the whole file.
    fn parse(value: &str) -> Option<Self> {
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse::<u64>().ok(),
            false => None,
        };
        let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
        match (first, last) {
            ("", last) => number(last).map(Self::Last),
            (first, "") => Some(Self::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::From(first, Some(last)))
            }
        }
    }

    /// The positions in a file of `len` bytes; `None` if none of it is there.
    #[must_use]
    pub fn within(self, len: u64) -> Option<core::ops::Range<u64>> {
        let range = match self {
            Self::From(first, last) => {
                first..last.map_or(len, |last| last.saturating_add(1)).min(len)
            }
            Self::Last(nbytes) => len.saturating_sub(nbytes)..len,
        };
        (range.start < range.end).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Result<Request, Refused>> {
        Request::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn a_request_has_a_path_a_host_and_a_range() {
        let text = "GET /a/b?url=x HTTP/1.1\r\nhost: 127.0.0.1:80\r\nRange: bytes=3-9\r\n\
                    Connection: close\r\n\r\n";
        let expected = Request {
            path: "/a/b".to_owned(),
            is_head: false,
            host: "127.0.0.1:80".to_owned(),
            range: Some(Range::From(3, Some(9))),
            keeps_alive: false,
        };
        assert_eq!(read(text), Some(Ok(expected)));
        assert_eq!(read(""), None);
    }

    #[test]
    fn other_heads_are_refused() {
        let long = format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(20_000));
        let refused = [
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
            ("GET / HTTP/1.0\r\nHost: x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: x\n\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nA: \u{e9}\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\n", 400),
            (&long, 431),
        ];
        for (text, status) in refused {
            assert_eq!(read(text), Some(Err(status)), "{text:.60}");
        }
    }

    #[test]
    fn ranges_are_cut_to_the_file() {
        let of = |text: &str| Range::parse(text).and_then(|range| range.within(10));
        let cases = [
            ("bytes=0-3", Some(0..4)),
            ("bytes=4-", Some(4..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-30", Some(0..10)),
            ("bytes=8-99", Some(8..10)),
            ("bytes=10-11", None),
            ("bytes=-0", None),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text), expected, "{text}");
        }
        for text in ["bytes=3-2", "bytes=0-1,3-4", "bytes=+1-2", "items=0-1", "bytes=-", "bytes=a-"]
        {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }

    #[test]
    fn other_names_of_the_machine_are_not_believed() {
        let of = |host: &str| {
            let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            read(&text).unwrap().unwrap().is_for_this_machine()
        };
        let ours = ["127.0.0.1", "127.0.0.1:80", "localhost:8000", "[::1]", "[::1]:80"];
        assert!(ours.into_iter().all(of));
        let theirs = [
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost:",
            "",
            "a@127.0.0.1",
        ];
        assert!(!theirs.into_iter().any(of));
    }
}
