//! An object as a file that is read at any position.

use core::fmt;
use core::ops::Range;
use std::io;
use std::sync::Arc;

use blosc_io::{ReadAt, Stamp};
use object_store::path::Path;
use object_store::{GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _};
use xxhash_rust::xxh3::xxh3_64;

use crate::cache::{Cache, PAGE};
use crate::object::{Fetched, Object, bare, replaced};

/// Bytes that opening fetches from the start and from the end of an object: header, trailer and
/// index of most frames.
const HEAD: u64 = 16 << 10;
const TAIL: u64 = 64 << 10;
/// Most bytes that are requested from a server without ranges.
const MAX_WHOLE_NBYTES: u64 = 64 << 20;
/// Least bytes of a read that was not announced; the read starts at a multiple of this number.
const READ_AHEAD: u64 = 64 << 10;

/// An object that is read in parts. Clones share it.
#[derive(Clone)]
pub struct Remote {
    cache: Arc<Cache>,
    object: Object,
    modified: std::time::SystemTime,
    /// The whole object, if the server sends no parts.
    whole: Option<bytes::Bytes>,
}

impl Remote {
    /// Opens an object. Its first and its last bytes are fetched at once, which suffices to open a
    /// frame of ordinary size. If a server knows no ranges that count from the end, a second
    /// request fetches the last bytes. If it knows no ranges at all, an object of up to 64 MiB is
    /// fetched and held whole.
    ///
    /// # Errors
    ///
    /// `NotFound`; an error of the store; the object was replaced in the meantime.
    pub fn open(store: Arc<dyn ObjectStore>, path: &Path, cache: &Arc<Cache>) -> io::Result<Self> {
        let (work, path) = (Arc::clone(cache), path.clone());
        cache.driver.wait(async move { Self::open_async(store, &path, &work).await })
    }

    /// The same in an async runtime of the caller.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_async(
        store: Arc<dyn ObjectStore>,
        path: &Path,
        cache: &Arc<Cache>,
    ) -> io::Result<Self> {
        let (e_tag, modified) = (None, None);
        let asked = Object { store, path: path.clone(), e_tag, modified, len: 0, id: 0 };
        cache.count_requests(2);
        let fetch = async |range| {
            let got = asked.fetch(range).await;
            cache.count_end(&got, |part| part.bytes.len());
            got
        };
        let (head, tail) =
            futures::join!(fetch(GetRange::Bounded(0..HEAD)), fetch(GetRange::Suffix(TAIL)));
        let head = match head {
            Ok(head) => head,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                cache.count_requests(1);
                let whole = asked.fetch_whole(MAX_WHOLE_NBYTES).await;
                cache.count_end(&whole, |whole| whole.bytes.len());
                let Fetched { bytes, meta, .. } = whole?;
                let opened = Self::with_meta(asked.store, meta, cache);
                return Ok(Self { whole: Some(bytes), ..opened });
            }
            Err(error) => {
                // An empty object has no byte to request.
                cache.count_requests(1);
                let found = asked.store.head(&asked.path).await.map_err(|e| asked.error(e));
                cache.count_end(&found, |_| 0);
                return match found {
                    Ok(meta) if meta.size == 0 => Ok(Self::with_meta(asked.store, meta, cache)),
                    _ => Err(error),
                };
            }
        };
        let opened = Self::with_meta(asked.store, head.meta.clone(), cache);
        let keep = |part: &Fetched| opened.cache.keep(&opened.object, part.at, &part.bytes);
        match &tail {
            Ok(tail) if !opened.object.is_version(&tail.meta) => return Err(replaced(path)),
            Ok(tail) => keep(tail),
            // The server knows no ranges from the end, or it failed: the next request tells.
            Err(_) => {
                let len = opened.object.len;
                let range = len.saturating_sub(TAIL).max(HEAD.min(len))..len;
                if !range.is_empty() {
                    let at = range.start;
                    cache.count_requests(1);
                    let got = opened.object.fetch_exactly(range).await;
                    cache.count_end(&got, bytes::Bytes::len);
                    opened.cache.keep(&opened.object, at, &got?);
                }
            }
        }
        keep(&head);
        Ok(opened)
    }

    /// An object from a listing, without a request to the store.
    #[must_use]
    pub fn with_meta(store: Arc<dyn ObjectStore>, meta: ObjectMeta, cache: &Arc<Cache>) -> Self {
        Self {
            cache: Arc::clone(cache),
            object: Object {
                store,
                path: meta.location,
                e_tag: meta.e_tag,
                modified: Some(meta.last_modified.timestamp()),
                len: meta.size,
                id: cache.new_object(),
            },
            modified: meta.last_modified.into(),
            whole: None,
        }
    }

    /// Its path in the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.object.path
    }

    /// Distinguishes the opened version from others, with the same value in every process. It
    /// depends on the length and the tag, or on the time of the last change if there is no tag.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let Object { e_tag, modified, len, .. } = &self.object;
        let version = match e_tag {
            Some(tag) => bare(tag).to_owned(),
            None => modified.unwrap_or_default().to_string(),
        };
        xxh3_64(format!("{len} {version}").as_bytes())
    }

    /// The numbers of the pages of some bytes.
    fn pages(&self, range: &Range<u64>) -> Range<u64> {
        let end = range.end.min(self.object.len);
        if range.start >= end {
            return 0..0;
        }
        range.start / PAGE..end.div_ceil(PAGE)
    }

    /// Ascending numbers of the pages of some ranges, each once.
    fn pages_of(&self, ranges: &[Range<u64>]) -> Vec<u64> {
        let mut numbers: Vec<u64> = ranges.iter().flat_map(|range| self.pages(range)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// Copies what a page has of some bytes, which begin at `at`.
fn copy(number: u64, page: &[u8], at: u64, dest: &mut [u8]) {
    let page_start = number.saturating_mul(PAGE);
    let start = at.max(page_start);
    let end = at.saturating_add(dest.len() as u64);
    let end = end.min(page_start.saturating_add(page.len() as u64));
    let offset = |from: u64| {
        let position = |position: u64| usize::try_from(position.checked_sub(from)?).ok();
        Some(position(start)?..position(end)?)
    };
    let found = offset(page_start).and_then(|range| page.get(range));
    let dest = offset(at).and_then(|range| dest.get_mut(range));
    if let (Some(found), Some(dest)) = (found, dest) {
        dest.copy_from_slice(found);
    }
}

impl ReadAt for Remote {
    fn len(&self) -> io::Result<u64> {
        Ok(self.object.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.object.len.saturating_sub(at).min(buf.len() as u64);
        let len = usize::try_from(len).unwrap_or(buf.len());
        let buf = &mut buf[..len];
        if let Some(whole) = &self.whole {
            copy(0, whole, at, buf);
            return Ok(len);
        }
        let end = at.saturating_add(len as u64);
        let numbers: Vec<u64> = self.pages(&(at..end)).collect();
        if !self.cache.has_all(&self.object, &numbers) {
            // The read was not announced: the bytes after it are probably read next.
            let start = at / READ_AHEAD * READ_AHEAD;
            let ahead = start..end.div_ceil(READ_AHEAD).saturating_mul(READ_AHEAD);
            self.cache.prefetch(&self.object, &self.pages_of(&[ahead]));
        }
        self.cache.read(&self.object, &numbers, |number, page| {
            copy(number, page, at, buf);
            Ok(())
        })?;
        Ok(len)
    }

    /// Fetches all pages of all ranges in one round, as far as they fit into the cache.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.iter().any(|range| range.start > range.end) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if ranges.iter().any(|range| range.end > self.object.len && range.start < range.end) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut read = Vec::with_capacity(ranges.len());
        for range in ranges {
            let len = usize::try_from(range.end - range.start);
            let len = len.map_err(|_| io::ErrorKind::OutOfMemory)?;
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len)?;
            bytes.resize(len, 0);
            read.push(bytes);
        }
        if let Some(whole) = &self.whole {
            let parts = ranges.iter().zip(&mut read);
            parts.for_each(|(range, read)| copy(0, whole, range.start, read));
            return Ok(read);
        }
        // Finds the ranges that overlap a page: they are sorted by start, and `longest` bounds
        // their length.
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_unstable_by_key(|n| ranges[*n].start);
        let longest = ranges.iter().map(|range| range.end - range.start).max().unwrap_or(0);
        self.cache.read(&self.object, &self.pages_of(ranges), |number, page| {
            let start = number.saturating_mul(PAGE);
            let end = start.saturating_add(page.len() as u64);
            let first =
                order.partition_point(|n| ranges[*n].start.saturating_add(longest) <= start);
            for n in order[first..].iter().take_while(|n| ranges[**n].start < end) {
                copy(number, page, ranges[*n].start, &mut read[*n]);
            }
            Ok(())
        })?;
        Ok(read)
    }

    fn prefetch_limit(&self) -> u64 {
        if self.whole.is_some() { 0 } else { self.cache.prefetch_limit() }
    }

    fn prefetch(&self, ranges: &[Range<u64>]) {
        if self.whole.is_some() {
            return;
        }
        self.cache.prefetch(&self.object, &self.pages_of(ranges));
    }

    /// The version cannot change: another version gives an error.
    fn stamp(&self) -> Option<Stamp> {
        Some(Stamp::new(self.object.len, Some(self.modified)))
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, .. } = self;
        f.debug_struct("Remote")
            .field("path", &object.path)
            .field("e_tag", &object.e_tag)
            .field("len", &object.len)
            .finish_non_exhaustive()
    }
}
