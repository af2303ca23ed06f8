//! A version of an object, fetched in parts.

use core::ops::Range;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _};

/// A version of an object.
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    pub(crate) e_tag: Option<String>,
    /// Time of the last change (seconds), which distinguishes versions without a tag.
    pub(crate) modified: Option<i64>,
    /// Its length (bytes).
    pub(crate) len: u64,
    /// Its number in the cache.
    pub(crate) id: u64,
}

/// A fetched part, and the metadata of the whole object.
pub(crate) struct Fetched {
    pub(crate) at: u64,
    pub(crate) bytes: Bytes,
    pub(crate) meta: ObjectMeta,
}

impl Object {
    pub(crate) async fn fetch(&self, range: GetRange) -> io::Result<Fetched> {
        let options = GetOptions {
            range: Some(range),
            // Weak tags match nothing there (RFC 9110, 13.1.1), and those of Azure's listings lack
            // their quotation marks; the answer is compared below.
            if_match: self.e_tag.clone().filter(|tag| tag.starts_with('"')),
            ..GetOptions::default()
        };
        let got = self.store.get_opts(&self.path, options).await.map_err(|e| self.error(e))?;
        let (meta, at) = (got.meta.clone(), got.range.start);
        let bytes = got.bytes().await.map_err(|e| self.error(e))?;
        Ok(Fetched { at, bytes, meta })
    }

    /// Some bytes of the opened version.
    pub(crate) async fn fetch_exactly(&self, range: Range<u64>) -> io::Result<Bytes> {
        let Fetched { at, bytes, meta } = self.fetch(GetRange::Bounded(range.clone())).await?;
        if !self.is_version(&meta) {
            return Err(replaced(&self.path));
        }
        if at != range.start || bytes.len() as u64 != range.end.saturating_sub(range.start) {
            let text = format!("{}: {} of bytes {range:?} came", self.path, bytes.len());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(bytes)
    }

    /// Whether an answer belongs to the opened version.
    pub(crate) fn is_version(&self, meta: &ObjectMeta) -> bool {
        let is_same = match (&self.e_tag, &meta.e_tag) {
            (Some(opened), Some(found)) => bare(opened) == bare(found),
            _ => self.modified.is_none_or(|opened| meta.last_modified.timestamp() == opened),
        };
        meta.size == self.len && is_same
    }

    /// All bytes in one request, if they are few: for servers without ranges.
    pub(crate) async fn fetch_whole(&self, max_nbytes: u64) -> io::Result<Fetched> {
        let got = self.store.get(&self.path).await.map_err(|e| self.error(e))?;
        if got.meta.size > max_nbytes {
            let text = "this server sends files only as a whole: download it";
            return Err(io::Error::other(text));
        }
        let meta = got.meta.clone();
        let bytes = got.bytes().await.map_err(|e| self.error(e))?;
        Ok(Fetched { at: 0, bytes, meta })
    }

    pub(crate) fn error(&self, error: object_store::Error) -> io::Error {
        match error {
            object_store::Error::Precondition { .. } | object_store::Error::NotModified { .. } => {
                replaced(&self.path)
            }
            error => io_error(error),
        }
    }
}

/// Most characters of a message.
const MAX_MESSAGE_LEN: usize = 300;

/// The error of a store in one line: error pages of servers are for browsers.
pub(crate) fn io_error(error: object_store::Error) -> io::Error {
    use object_store::Error;
    let kind = match &error {
        Error::NotFound { .. } => return io::Error::new(io::ErrorKind::NotFound, "not found"),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        Error::NotSupported { .. } => io::ErrorKind::Unsupported,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, one_line(&error))
}

/// The text of an error and its causes, without the page that a server sent.
fn one_line(error: &dyn core::error::Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        let link = error.to_string();
        if !text.contains(&link) {
            text = format!("{text}: {link}");
        }
        cause = error.source();
    }
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    let line = line.split(": <").next().unwrap_or_default().trim_end();
    match line.char_indices().nth(MAX_MESSAGE_LEN) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}

/// A tag without quotation marks: Azure sends them with an object, but omits them in a listing.
pub(crate) fn bare(tag: &str) -> &str {
    tag.trim_matches('"')
}

pub(crate) fn replaced(path: &Path) -> io::Error {
    io::Error::other(format!("{path}: the object was replaced while it was read"))
}
