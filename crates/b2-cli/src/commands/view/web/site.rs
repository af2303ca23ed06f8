//! The content of each path: the page, and the named files by their numbers.
//!
//! No part of a path becomes a path of the file system.

use std::{fs::File, path::PathBuf, time::UNIX_EPOCH};

use b2_program::http::{Answer, Body, Request};

use super::Asset;

/// A named file.
#[derive(Debug)]
pub(super) struct Served {
    path: PathBuf,
    /// The member that the page shows first.
    member: Option<String>,
}

impl Served {
    pub(super) fn new(path: PathBuf, member: Option<String>) -> Self {
        Self { path, member }
    }
}

/// The page and its files.
#[derive(Debug)]
pub(super) struct Site {
    secret: String,
    page: &'static [Asset],
    files: Vec<Served>,
}

impl Site {
    pub(super) fn new(secret: String, page: &'static [Asset], files: Vec<Served>) -> Self {
        Self { secret, page, files }
    }

    /// The address of the page with each file.
    pub(super) fn addresses(&self, port: u16) -> impl Iterator<Item = String> {
        let first = format!("http://127.0.0.1:{port}/{}/", self.secret);
        self.files.iter().enumerate().map(move |(number, file)| {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            // Escaped once for the path, and once more for the query.
            let url = escaped(&format!("files/{number}/{}", escaped(&name)));
            let member = file.member.as_deref().map(|key| format!("#member={}", escaped(key)));
            format!("{first}?url={url}{}", member.unwrap_or_default())
        })
    }

    pub(super) fn answer(&self, request: &Request) -> Answer {
        if !request.is_for_this_machine() {
            return Answer::empty(403);
        }
        let words: Vec<&str> = request.path.split('/').skip(1).collect();
        let known = words.split_first().filter(|(word, _)| self.knows(word));
        let Some((_, rest)) = known else { return Answer::empty(404) };
        match rest {
            [""] => self.asset("index.html"),
            ["files", number, _] => self.file(number, request),
            [name] => self.asset(name),
            _ => Answer::empty(404),
        }
    }

    /// Compares in constant time, so that timing tells nothing of the secret.
    fn knows(&self, word: &str) -> bool {
        let differences = word.bytes().zip(self.secret.bytes()).map(|(a, b)| a ^ b);
        word.len() == self.secret.len() && differences.fold(0, |all, one| all | one) == 0
    }

    fn asset(&self, name: &str) -> Answer {
        match self.page.iter().find(|(known, ..)| *known == name) {
            Some((_, kind, bytes)) => Answer {
                status: 200,
                headers: vec![("Content-Type", (*kind).to_owned())],
                body: Body::Bytes(bytes),
            },
            None => Answer::empty(404),
        }
    }

    fn file(&self, number: &str, request: &Request) -> Answer {
        let served = number.parse().ok().and_then(|number: usize| self.files.get(number));
        let Some(file) = served.and_then(|served| File::open(&served.path).ok()) else {
            return Answer::empty(404);
        };
        let Ok(facts) = file.metadata() else { return Answer::empty(404) };
        let (len, time) = (facts.len(), facts.modified().ok());
        let time = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let mut headers = vec![
            ("Content-Type", "application/octet-stream".to_owned()),
            ("Accept-Ranges", "bytes".to_owned()),
            ("ETag", format!("\"{len:x}-{:x}\"", time.as_nanos())),
        ];
        let (status, range) = match request.range.map(|range| range.within(len)) {
            None => (200, 0..len),
            Some(Some(range)) => {
                let (start, last) = (range.start, range.end.saturating_sub(1));
                headers.push(("Content-Range", format!("bytes {start}-{last}/{len}")));
                (206, range)
            }
            Some(None) => {
                headers.push(("Content-Range", format!("bytes */{len}")));
                return Answer { status: 416, headers, body: Body::Bytes(&[]) };
            }
        };
        let body = Body::Part(file, range.start, range.end.saturating_sub(range.start));
        Answer { status, headers, body }
    }
}

/// A text as a part of an address.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, path::Path};

    use super::*;

    const PAGE: &[Asset] =
        &[("index.html", "text/html", b"<page>"), ("b2.wasm", "application/wasm", b"\0")];
    const SECRET: &str = "00112233445566778899aabbccddeeff";

    fn site(folder: &Path) -> Site {
        let files = ["a b.b2nd", "second.b2z"].map(|name| {
            let path = folder.join(name);
            std::fs::write(&path, format!("0123456789 of {name}")).unwrap();
            Served::new(path, (name == "second.b2z").then(|| "/a&b".to_owned()))
        });
        std::fs::write(folder.join("hidden"), "nobody's").unwrap();
        Site::new(SECRET.to_owned(), PAGE, Vec::from(files))
    }

    /// The status and the body of the answer, and its head.
    fn ask(site: &Site, path: &str, more: &str) -> (u16, String, String) {
        let text = format!("GET {path} HTTP/1.1\r\nHost: localhost:80\r\n{more}\r\n");
        let request = Request::read(&mut text.as_bytes()).unwrap().unwrap().unwrap();
        let mut bytes = vec![];
        let answer = site.answer(&request);
        let status = answer.status;
        answer.write(&mut bytes, request.is_head, true).unwrap();
        bytes.flush().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (status, body.to_owned(), head.to_owned())
    }

    #[test]
    fn the_page_and_two_files_are_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(folder.path());
        let cases = [
            ("/S/", 200, "<page>"),
            ("/S/index.html", 200, "<page>"),
            ("/S/b2.wasm", 200, "\0"),
            ("/S/files/0/a%20b.b2nd", 200, "0123456789 of a b.b2nd"),
            ("/S/files/1/any-name", 200, "0123456789 of second.b2z"),
            ("/", 404, ""),
            ("/S", 404, ""),
            ("/00112233445566778899aabbccddeefe/", 404, ""),
            ("/00112233445566778899aabbccddeefe/files/0/a", 404, ""),
            ("/00112233445566778899aabbccddee/", 404, ""),
            ("/index.html", 404, ""),
            ("/S/none.js", 404, ""),
            ("/S/files/2/a", 404, ""),
            ("/S/files/-1/a", 404, ""),
            ("/S/files/0", 404, ""),
            ("/S/files/0/../hidden", 404, ""),
            ("/S/files/../../hidden", 404, ""),
            ("/S/../hidden", 404, ""),
            ("/S/%2e%2e/hidden", 404, ""),
            ("/S/files/hidden/a", 404, ""),
        ];
        for (path, status, body) in cases {
            let path = path.replace("/S", &format!("/{SECRET}"));
            let (found, found_body, _) = ask(&site, &path, "");
            assert_eq!((found, &*found_body), (status, body), "{path}");
        }
    }

    #[test]
    fn ranges_of_a_file_are_answered_and_no_other_origin_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(folder.path());
        let path = format!("/{SECRET}/files/0/x");
        let cases = [
            ("Range: bytes=2-4\r\n", 206, "234", "Content-Range: bytes 2-4/22"),
            ("Range: bytes=-4\r\n", 206, "b2nd", "Content-Range: bytes 18-21/22"),
            ("Range: bytes=99-\r\n", 416, "", "Content-Range: bytes */22"),
            ("Range: bytes=0-1,4-5\r\n", 200, "0123456789 of a b.b2nd", "ETag: \"16-"),
            ("Origin: https://evil.example\r\n", 200, "0123456789 of a b.b2nd", "no-store"),
        ];
        for (header, status, body, expected) in cases {
            let (found, found_body, head) = ask(&site, &path, header);
            assert_eq!((found, &*found_body), (status, body), "{header}");
            assert!(head.contains(expected), "{head}");
            assert!(!head.to_lowercase().contains("access-control"), "{head}");
        }
    }

    #[test]
    fn a_name_that_was_rebound_to_this_machine_gets_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(folder.path());
        let text = format!("GET /{SECRET}/ HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        let request = Request::read(&mut text.as_bytes()).unwrap().unwrap().unwrap();
        assert_eq!(site.answer(&request).status, 403);
    }

    #[test]
    fn addresses_name_the_file_and_its_member() {
        let folder = tempfile::tempdir().unwrap();
        let addresses: Vec<String> = site(folder.path()).addresses(81).collect();
        let first = format!("http://127.0.0.1:81/{SECRET}/?url=files");
        assert_eq!(addresses[0], format!("{first}/0/a%2520b.b2nd"));
        assert_eq!(addresses[1], format!("{first}/1/second.b2z#member=/a%26b"));
    }
}
