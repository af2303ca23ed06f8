//! An object as a file that is read at any position.

use core::fmt;
use core::ops::Range;
use std::io;
use std::sync::Arc;

use blosc_io::{ReadAt, Stamp};
use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _};

use crate::cache::{Cache, Claim, PAGE};

/// Most bytes of a request, and most requests at once.
const MAX_REQUEST: u64 = 8 << 20;
const MAX_REQUESTS: usize = 10;

/// An object, of which parts are read. Cloning shares it.
#[derive(Clone)]
pub struct Remote {
    cache: Arc<Cache>,
    object: Object,
    /// Its number in the cache.
    id: u64,
    len: u64,
    /// Its last bytes and where they begin, if they came when it was opened.
    tail: (u64, Bytes),
    modified: std::time::SystemTime,
}

/// A version of an object.
#[derive(Clone)]
struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
    e_tag: Option<String>,
    /// When it was changed last (seconds): what tells versions apart where there is no tag.
    modified: Option<i64>,
}

/// A part that was fetched, and what the store said of the whole.
struct Fetched {
    at: u64,
    bytes: Bytes,
    meta: ObjectMeta,
}

impl Remote {
    /// Opens an object: its first and its last bytes are fetched at once, which is all that
    /// opening a frame of ordinary size needs.
    ///
    /// # Errors
    ///
    /// `NotFound`; what the store says; that the object was replaced meanwhile.
    pub fn open(store: Arc<dyn ObjectStore>, path: &Path, cache: &Arc<Cache>) -> io::Result<Self> {
        let object = Object { store, path: path.clone(), e_tag: None, modified: None };
        let asked = object.clone();
        let (head, tail, meta) = cache.driver.wait(async move {
            let (head, tail) = futures::join!(
                asked.fetch(GetRange::Bounded(0..PAGE)),
                asked.fetch(GetRange::Suffix(PAGE))
            );
            match (head, tail) {
                (Ok(head), tail) => {
                    let meta = head.meta.clone();
                    // Some stores know no ranges that count from the end.
                    Ok((Some(head), tail.ok(), meta))
                }
                // No byte can be asked of an empty object.
                (Err(error), _) => match asked.store.head(&asked.path).await {
                    Ok(meta) if meta.size == 0 => Ok((None, None, meta)),
                    _ => Err(error),
                },
            }
        })?;
        let parts = || head.iter().chain(&tail);
        let nbytes = parts().map(|part| part.bytes.len() as u64).fold(0, u64::saturating_add);
        cache.count_round(2, nbytes);
        if parts().any(|part| part.meta.e_tag != meta.e_tag || part.meta.size != meta.size) {
            return Err(replaced(path));
        }
        let remote = Self::with_meta(object.store, meta, cache);
        if let Some(head) = head {
            let key = (remote.id, 0);
            cache.deliver(key, head.bytes);
        }
        let tail = tail.map_or((remote.len, Bytes::new()), |tail| (tail.at, tail.bytes));
        Ok(Self { tail, ..remote })
    }

    /// An object of which a listing told; nothing is asked of the store yet.
    #[must_use]
    pub fn with_meta(store: Arc<dyn ObjectStore>, meta: ObjectMeta, cache: &Arc<Cache>) -> Self {
        Self {
            cache: Arc::clone(cache),
            object: Object {
                store,
                path: meta.location,
                e_tag: meta.e_tag,
                modified: Some(meta.last_modified.timestamp()),
            },
            id: cache.new_object(),
            len: meta.size,
            tail: (meta.size, Bytes::new()),
            modified: meta.last_modified.into(),
        }
    }

    /// Its path in the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.object.path
    }

    /// The bytes of a page.
    fn page(&self, number: u64) -> Range<u64> {
        let start = number.saturating_mul(PAGE);
        start..start.saturating_add(PAGE).min(self.len)
    }

    /// The numbers of the pages of some bytes that did not come with the opening.
    fn pages(&self, range: &Range<u64>) -> Range<u64> {
        if range.start >= range.end || range.start >= self.tail.0 {
            return 0..0;
        }
        range.start / PAGE..range.end.div_ceil(PAGE)
    }

    /// Pages, fetched in one round as far as they are not kept or on their way; ascending numbers,
    /// each once.
    fn load(&self, numbers: &[u64]) -> io::Result<Vec<Bytes>> {
        let mut loaded: Vec<Option<Bytes>> = vec![None; numbers.len()];
        loop {
            let (mut mine, mut others) = (Vec::new(), Vec::new());
            for (slot, number) in loaded.iter_mut().zip(numbers).filter(|(slot, _)| slot.is_none())
            {
                match self.cache.claim((self.id, *number)) {
                    Claim::Kept(bytes) => *slot = Some(bytes),
                    Claim::Elsewhere => others.push(*number),
                    Claim::Yours => mine.push(*number),
                }
            }
            let fetched = self.fetch(&mine);
            for (nth, number) in mine.iter().enumerate() {
                match &fetched {
                    Ok(pages) => {
                        let page = pages.get(nth).cloned().unwrap_or_default();
                        if let Ok(at) = numbers.binary_search(number) {
                            loaded[at] = Some(page.clone());
                        }
                        self.cache.deliver((self.id, *number), page);
                    }
                    Err(_) => self.cache.give_up((self.id, *number)),
                }
            }
            fetched?;
            others.iter().for_each(|number| self.cache.wait_for((self.id, *number)));
            if others.is_empty() {
                return Ok(loaded.into_iter().flatten().collect());
            }
        }
    }

    /// Pages that nobody has, neighbours by one request.
    fn fetch(&self, numbers: &[u64]) -> io::Result<Vec<Bytes>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for number in numbers {
            let page = self.page(*number);
            match runs.last_mut() {
                Some(run) if run.end == page.start && page.end - run.start <= MAX_REQUEST => {
                    run.end = page.end;
                }
                _ => runs.push(page),
            }
        }
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let (object, len, asked) = (self.object.clone(), self.len, runs.clone());
        let parts: Vec<Bytes> = self.cache.driver.wait(async move {
            let parts = asked.into_iter().map(|run| object.fetch_exactly(run, len));
            stream::iter(parts).buffered(MAX_REQUESTS).try_collect().await
        })?;
        let nbytes = parts.iter().map(|part| part.len() as u64).fold(0, u64::saturating_add);
        self.cache.count_round(runs.len() as u64, nbytes);
        let pages = runs.iter().zip(&parts).flat_map(|(run, part)| {
            let page = PAGE.min(run.end - run.start).max(1);
            // Copies, so that a page which is dropped gives its memory back.
            part.chunks(usize::try_from(page).unwrap_or(usize::MAX)).map(Bytes::copy_from_slice)
        });
        Ok(pages.collect())
    }

    /// Copies bytes out of the tail and of loaded pages.
    fn copy(&self, at: u64, buf: &mut [u8], numbers: &[u64], pages: &[Bytes]) -> io::Result<()> {
        let lacks = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (start, tail) = &self.tail;
        if at >= *start {
            let from = usize::try_from(at - start).map_err(|_| lacks())?;
            let found = tail.get(from..from + buf.len()).ok_or_else(lacks)?;
            buf.copy_from_slice(found);
            return Ok(());
        }
        let (mut at, mut rest) = (at, buf);
        while !rest.is_empty() {
            let nth = numbers.binary_search(&(at / PAGE)).map_err(|_| lacks())?;
            let page = pages.get(nth).ok_or_else(lacks)?;
            let from = usize::try_from(at % PAGE).map_err(|_| lacks())?;
            let found = page.get(from..).filter(|found| !found.is_empty()).ok_or_else(lacks)?;
            let len = found.len().min(rest.len());
            let (to, after) = rest.split_at_mut(len);
            to.copy_from_slice(&found[..len]);
            (at, rest) = (at + len as u64, after);
        }
        Ok(())
    }
}

impl Object {
    async fn fetch(&self, range: GetRange) -> io::Result<Fetched> {
        let options = GetOptions {
            range: Some(range),
            // Weak tags match nothing there (RFC 9110, 13.1.1); the answer is compared below.
            if_match: self.e_tag.clone().filter(|tag| !tag.starts_with("W/")),
            ..GetOptions::default()
        };
        let got = self.store.get_opts(&self.path, options).await.map_err(|e| self.error(e))?;
        let (meta, at) = (got.meta.clone(), got.range.start);
        let bytes = got.bytes().await.map_err(|e| self.error(e))?;
        Ok(Fetched { at, bytes, meta })
    }

    /// Some bytes of an object that had `len` bytes when it was opened.
    async fn fetch_exactly(&self, range: Range<u64>, len: u64) -> io::Result<Bytes> {
        let Fetched { at, bytes, meta } = self.fetch(GetRange::Bounded(range.clone())).await?;
        let is_same = match (&self.e_tag, &meta.e_tag) {
            (Some(opened), Some(found)) => opened == found,
            _ => self.modified.is_none_or(|opened| meta.last_modified.timestamp() == opened),
        };
        if meta.size != len || !is_same {
            return Err(replaced(&self.path));
        }
        if at != range.start || bytes.len() as u64 != range.end - range.start {
            let text = format!("{}: {} of bytes {range:?} came", self.path, bytes.len());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(bytes)
    }

    fn error(&self, error: object_store::Error) -> io::Error {
        use object_store::Error;
        let kind = match &error {
            Error::NotFound { .. } => io::ErrorKind::NotFound,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                io::ErrorKind::PermissionDenied
            }
            Error::Precondition { .. } | Error::NotModified { .. } => return replaced(&self.path),
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

fn replaced(path: &Path) -> io::Error {
    io::Error::other(format!("{path}: the object was replaced while it was read"))
}

impl ReadAt for Remote {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.len.saturating_sub(at).min(buf.len() as u64);
        let len = usize::try_from(len).unwrap_or(buf.len());
        let buf = &mut buf[..len];
        let numbers: Vec<u64> = self.pages(&(at..at + len as u64)).collect();
        let pages = self.load(&numbers)?;
        self.copy(at, buf, &numbers, &pages)?;
        Ok(len)
    }

    /// All pages of all ranges in one round.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.iter().any(|range| range.start > range.end) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if ranges.iter().any(|range| range.end > self.len && range.start < range.end) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut numbers: Vec<u64> = ranges.iter().flat_map(|range| self.pages(range)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let pages = self.load(&numbers)?;
        let mut read = Vec::with_capacity(ranges.len());
        for range in ranges {
            let len = usize::try_from(range.end - range.start);
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len.map_err(|_| io::ErrorKind::OutOfMemory)?)?;
            bytes.resize(len.unwrap_or_default(), 0);
            if !bytes.is_empty() {
                self.copy(range.start, &mut bytes, &numbers, &pages)?;
            }
            read.push(bytes);
        }
        Ok(read)
    }

    /// The version cannot change: another one is an error.
    fn stamp(&self) -> Option<Stamp> {
        Some(Stamp::new(self.len, Some(self.modified)))
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, len, .. } = self;
        f.debug_struct("Remote")
            .field("path", &object.path)
            .field("e_tag", &object.e_tag)
            .field("len", len)
            .finish_non_exhaustive()
    }
}
