//! Fetched pages of objects, kept within a budget.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use object_store::ObjectStore;
use tokio::sync::{Notify, Semaphore};

use crate::driver::Driver;
use crate::object::Object;
use crate::pages::{Key, Pages};
use crate::session::Session;

/// Bytes of a page, which is kept or dropped as a whole.
pub(crate) const PAGE: u64 = 4 << 10;
/// Longest gap between two pages that one request fetches: a second request would take longer.
const MERGE_GAP: u64 = 16 << 10;
/// Most bytes of a request, and most requests at once.
const MAX_REQUEST: u64 = 8 << 20;
const MAX_REQUESTS: usize = 32;
/// The least budget (bytes).
const MIN_BUDGET: u64 = 1 << 20;

/// State that several objects share: the budget of bytes in memory, and the thread for requests.
///
/// The budget covers all fetched bytes that are kept, and requests under way, which count twice the
/// bytes that they fetch: as an answer and as pages. The first 80 KiB of an object that is being
/// opened count after they have arrived.
#[derive(Debug)]
pub struct Cache {
    pub(crate) driver: Driver,
    clients: Mutex<BTreeMap<Server, Arc<dyn ObjectStore>>>,
    pages: Mutex<Pages>,
    /// Signals that a page arrived, or that a reader no longer needs one.
    changed: Condvar,
    changed_async: Notify,
    permits: Arc<Semaphore>,
    requests: AtomicU64,
    failed: AtomicU64,
    rounds: AtomicU64,
    nbytes: AtomicU64,
}

/// Counts of the requests so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests, including failed ones. Retries by the client of a store count as one request.
    pub requests: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Number of times that requests began while none was under way: the waits of a reader, one
    /// after the other.
    pub rounds: u64,
    /// Received bytes.
    pub nbytes: u64,
}

/// A server and the options of its client: addresses that agree in all of this share a client.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Server {
    /// Scheme, user and host.
    pub(crate) root: String,
    /// The bucket, if the path begins with it.
    pub(crate) bucket: String,
    pub(crate) options: Vec<(String, String)>,
}

/// The error of the requests for some pages, if one failed.
pub(crate) type Failure = Arc<Mutex<Option<io::Error>>>;

impl Cache {
    /// A cache of `max_nbytes` bytes, at least 1 MiB.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread for the requests.
    pub fn new(max_nbytes: u64) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            driver: Driver::new()?,
            clients: Mutex::default(),
            pages: Mutex::new(Pages::new(max_nbytes.max(MIN_BUDGET))),
            changed: Condvar::new(),
            changed_async: Notify::new(),
            permits: Arc::new(Semaphore::new(MAX_REQUESTS)),
            requests: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            nbytes: AtomicU64::new(0),
        }))
    }

    /// The client for a server, which `build` makes for the first address of the server.
    pub(crate) fn client(
        &self,
        server: Server,
        build: impl FnOnce() -> io::Result<Arc<dyn ObjectStore>>,
    ) -> io::Result<Arc<dyn ObjectStore>> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        match clients.entry(server) {
            Entry::Occupied(known) => Ok(Arc::clone(known.get())),
            Entry::Vacant(place) => Ok(Arc::clone(place.insert(build()?))),
        }
    }

    /// Counts of the requests so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            rounds: self.rounds.load(Ordering::Relaxed),
            nbytes: self.nbytes.load(Ordering::Relaxed),
        }
    }

    /// Bytes that are kept now.
    #[must_use]
    pub fn kept_nbytes(&self) -> u64 {
        self.lock().kept_nbytes()
    }

    /// The largest sum of kept bytes and bytes under way so far: never more than the budget.
    #[must_use]
    pub fn peak_nbytes(&self) -> u64 {
        self.lock().peak_nbytes()
    }

    /// Bytes that may be announced at once: half of the budget while they are under way.
    pub(crate) fn prefetch_limit(&self) -> u64 {
        self.lock().max_nbytes() / 4
    }

    /// A number for a version of an object.
    pub(crate) fn new_object(&self) -> u64 {
        self.lock().new_object()
    }

    /// Notes requests that begin.
    pub(crate) fn count_requests(&self, count: u64) {
        self.requests.fetch_add(count, Ordering::Relaxed);
        if self.lock().begin_requests(count) {
            self.rounds.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes how a request ended.
    pub(crate) fn count_end<T>(&self, got: &io::Result<T>, nbytes: impl Fn(&T) -> usize) {
        match got {
            Ok(got) => self.nbytes.fetch_add(nbytes(got) as u64, Ordering::Relaxed),
            Err(_) => self.failed.fetch_add(1, Ordering::Relaxed),
        };
        self.lock().end_request();
    }

    /// Keeps the pages that lie completely within some bytes of an object, which begin at `at`.
    pub(crate) fn keep(&self, object: &Object, at: u64, bytes: &Bytes) {
        let mut pages = self.lock();
        for (number, page) in pages_in(object, at, bytes) {
            pages.insert((object.id, number), &page);
        }
    }

    /// Calls `show` for each page; missing pages are fetched and waited for. `numbers` ascends,
    /// without duplicates.
    pub(crate) fn read(
        self: &Arc<Self>,
        object: &Object,
        numbers: &[u64],
        mut show: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(session) = Session::current() {
            return self.read_now(object, numbers, &session, show);
        }
        // All pages of a batch fit into the cache at once.
        let batch = usize::try_from(self.prefetch_limit() / 2 / PAGE).unwrap_or(1).max(1);
        for numbers in numbers.chunks(batch) {
            let mut left = numbers.to_vec();
            while !left.is_empty() {
                let failure = self.claim(object, &left);
                let is_under_way = |pages: &mut Pages| {
                    left.iter().any(|number| pages.is_under_way((object.id, *number)))
                };
                let waited = self.changed.wait_while(self.lock(), is_under_way);
                let mut pages = waited.unwrap_or_else(PoisonError::into_inner);
                let mut shown = Ok(());
                left.retain(|number| {
                    let key = (object.id, *number);
                    let Some(page) = pages.kept(key) else { return true };
                    if shown.is_ok() {
                        shown = show(*number, &page);
                    }
                    pages.unpin(key);
                    false
                });
                drop(pages);
                self.notify();
                shown?;
                // Pages that another reader failed to fetch are fetched again.
                let failed = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let (false, Some(error)) = (left.is_empty(), failed) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The same within a session, where a read does not wait.
    fn read_now(
        self: &Arc<Self>,
        object: &Object,
        numbers: &[u64],
        session: &Session,
        mut show: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(error) = session.take_failure() {
            return Err(error);
        }
        let mut missing = Vec::new();
        {
            let mut pages = self.lock();
            for number in numbers {
                match pages.kept((object.id, *number)) {
                    Some(page) => show(*number, &page)?,
                    None => missing.push(*number),
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.begin(object, &missing, session.failure());
        session.lacks(self, missing.iter().map(|number| (object.id, *number)));
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Whether each of these pages is kept or under way.
    pub(crate) fn has_all(&self, object: &Object, numbers: &[u64]) -> bool {
        let pages = self.lock();
        numbers.iter().all(|number| pages.has((object.id, *number)))
    }

    /// Begins to fetch the pages that are neither kept nor under way, as many as fit.
    pub(crate) fn prefetch(self: &Arc<Self>, object: &Object, numbers: &[u64]) {
        self.begin(object, numbers, Failure::default());
        if let Some(session) = Session::current() {
            let pages = self.lock();
            let keys = numbers.iter().map(|number| (object.id, *number));
            session.announces(self, keys.filter(|key| pages.is_under_way(*key)));
        }
    }

    /// The same; `failure` receives an error.
    fn begin(self: &Arc<Self>, object: &Object, numbers: &[u64], failure: Failure) {
        let mut pages = self.lock();
        let limit = pages.max_nbytes() / 4;
        let mut runs = runs_of(object, numbers, limit, |number| pages.has((object.id, number)));
        let mut nbytes = 0_u64;
        runs.retain(|run| {
            nbytes = nbytes.saturating_add(run.end.saturating_sub(run.start));
            nbytes <= limit
        });
        if !pages.make_room(cost(&runs)) {
            return;
        }
        mark(&mut pages, object, &runs);
        drop(pages);
        self.start(object, runs, failure);
    }

    /// Pins pages so that they stay, and begins to fetch the missing ones once all of them fit.
    fn claim(self: &Arc<Self>, object: &Object, numbers: &[u64]) -> Failure {
        let failure = Failure::default();
        let mut pages = self.lock();
        loop {
            numbers.iter().for_each(|number| pages.touch((object.id, *number)));
            let limit = pages.max_nbytes() / 4;
            let runs = runs_of(object, numbers, limit, |number| pages.has((object.id, number)));
            if !pages.make_room(cost(&runs)) {
                pages = self.changed.wait(pages).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            mark(&mut pages, object, &runs);
            // Making room may have dropped one of these pages.
            if numbers.iter().all(|number| pages.has((object.id, *number))) {
                numbers.iter().for_each(|number| pages.pin((object.id, *number)));
                drop(pages);
                self.start(object, runs, Arc::clone(&failure));
                return failure;
            }
            unmark(&mut pages, object, &runs);
        }
    }

    /// Begins requests that have their room.
    fn start(self: &Arc<Self>, object: &Object, runs: Vec<Range<u64>>, failure: Failure) {
        if runs.is_empty() {
            return;
        }
        self.count_requests(runs.len() as u64);
        let (cache, object) = (Arc::clone(self), object.clone());
        self.driver.spawn(async move {
            let fetches = runs.into_iter().map(|run| cache.fetch(&object, run, &failure));
            let mut fetches: FuturesUnordered<_> = fetches.collect();
            while fetches.next().await.is_some() {}
        });
    }

    /// Fetches pages that are under way.
    async fn fetch(&self, object: &Object, run: Range<u64>, failure: &Failure) {
        let permit = self.permits.acquire().await;
        let got = object.fetch_exactly(run.clone()).await;
        drop(permit);
        self.count_end(&got, Bytes::len);
        let mut pages = self.lock();
        pages.release(cost(core::slice::from_ref(&run)));
        match got {
            Ok(bytes) => {
                for (number, page) in pages_in(object, run.start, &bytes) {
                    pages.insert((object.id, number), &page);
                }
            }
            Err(error) => {
                numbers_of(&run).for_each(|number| pages.give_up((object.id, number)));
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
        drop(pages);
        self.notify();
    }

    /// Returns once a page is not under way.
    pub(crate) async fn wait_for(&self, key: Key) {
        loop {
            let changed = self.changed_async.notified();
            futures::pin_mut!(changed);
            changed.as_mut().enable();
            if !self.lock().is_under_way(key) {
                return;
            }
            changed.await;
        }
    }

    fn notify(&self) {
        self.changed.notify_all();
        self.changed_async.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks pages as under way, and reserves their room.
fn mark(pages: &mut Pages, object: &Object, runs: &[Range<u64>]) {
    let numbers = runs.iter().flat_map(numbers_of);
    numbers.for_each(|number| pages.begin((object.id, number)));
    pages.reserve(cost(runs));
}

/// Reverses `mark`.
fn unmark(pages: &mut Pages, object: &Object, runs: &[Range<u64>]) {
    let numbers = runs.iter().flat_map(numbers_of);
    numbers.for_each(|number| pages.give_up((object.id, number)));
    pages.release(cost(runs));
}

/// Memory that requests take while they are under way.
fn cost(runs: &[Range<u64>]) -> u64 {
    runs.iter().map(|run| run.end.saturating_sub(run.start)).sum::<u64>().saturating_mul(2)
}

/// The runs to fetch for missing pages: one request for neighbours, of at most `limit` bytes.
fn runs_of(
    object: &Object,
    numbers: &[u64],
    limit: u64,
    is_there: impl Fn(u64) -> bool,
) -> Vec<Range<u64>> {
    let max = MAX_REQUEST.min(limit / 2 / PAGE * PAGE).max(PAGE);
    let mut runs: Vec<Range<u64>> = Vec::new();
    for number in numbers.iter().filter(|number| !is_there(**number)) {
        let start = number.saturating_mul(PAGE);
        let page = start..start.saturating_add(PAGE).min(object.len);
        if page.is_empty() {
            continue;
        }
        let merged = runs.last_mut().filter(|run| {
            let gap = run.end..page.start;
            page.start.saturating_sub(run.end) <= MERGE_GAP
                && page.end.saturating_sub(run.start) <= max
                && numbers_of(&gap).all(|between| !is_there(between))
        });
        match merged {
            Some(run) => run.end = page.end,
            None => runs.push(page),
        }
    }
    runs
}

/// The numbers of the pages of a run.
fn numbers_of(run: &Range<u64>) -> Range<u64> {
    run.start / PAGE..run.end.div_ceil(PAGE)
}

/// The whole pages in some bytes of an object. They are copied, so that each is freed separately.
fn pages_in(object: &Object, at: u64, bytes: &Bytes) -> impl Iterator<Item = (u64, Bytes)> + use<> {
    let (bytes, len) = (bytes.clone(), object.len);
    let end = at.saturating_add(bytes.len() as u64);
    let numbers = at.div_ceil(PAGE)..end.div_ceil(PAGE);
    numbers.filter_map(move |number| {
        let start = number.saturating_mul(PAGE);
        let page_end = start.saturating_add(PAGE).min(len);
        let offset = |position: u64| usize::try_from(position.checked_sub(at)?).ok();
        let page = bytes.get(offset(start)?..offset(page_end)?)?;
        Some((number, Bytes::copy_from_slice(page)))
    })
}
