//! An answer: its status, its headers, and bytes.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write},
};

/// The bytes of an answer.
#[derive(Debug)]
pub enum Body {
    /// Bytes in memory.
    Bytes(&'static [u8]),
    /// A part of a file: where it begins, and its length.
    Part(File, u64, u64),
}

/// The answer to a browser.
#[derive(Debug)]
pub struct Answer {
    /// The status: 200 for a whole file, 206 for a part of one.
    pub status: u16,
    /// Headers beside those of all answers.
    pub headers: Vec<(&'static str, String)>,
    /// The bytes after the headers.
    pub body: Body,
}

/// Headers of all answers: no copy is kept, no other origin gets them, the address stays secret.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
                       Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n";

impl Answer {
    /// An answer of a status alone.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        let headers = match status {
            405 => vec![("Allow", "GET, HEAD".to_owned())],
            _ => vec![],
        };
        Self { status, headers, body: Body::Bytes(&[]) }
    }

    /// Writes the head, and the body unless only the head is wanted.
    ///
    /// # Errors
    ///
    /// A connection that takes no more; a file that became shorter meanwhile.
    pub fn write(self, to: &mut impl Write, is_head: bool, keeps_alive: bool) -> io::Result<()> {
        let nbytes = match &self.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Part(_, _, nbytes) => *nbytes,
        };
        let mut head = format!("HTTP/1.1 {} {}\r\n{HEADERS}", self.status, reason(self.status));
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += if keeps_alive { "" } else { "Connection: close\r\n" };
        head += &format!("Content-Length: {nbytes}\r\n\r\n");
        to.write_all(head.as_bytes())?;
        match self.body {
            _ if is_head => {}
            Body::Bytes(bytes) => to.write_all(bytes)?,
            Body::Part(mut file, at, nbytes) => {
                file.seek(SeekFrom::Start(at))?;
                // A file that became shorter ends the connection, so that the browser notices
                // missing bytes.
                if io::copy(&mut file.take(nbytes), to)? < nbytes {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        to.flush()
    }
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        416 => "Range Not Satisfiable",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}
