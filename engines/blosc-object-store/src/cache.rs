//! Pages of objects that were fetched, kept within a budget.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::driver::Driver;

/// Bytes of a page: what is fetched at least.
pub(crate) const PAGE: u64 = 64 << 10;

/// What several objects share: the budget of bytes that are kept, and the thread in which requests
/// run.
#[derive(Debug)]
pub struct Cache {
    pub(crate) driver: Driver,
    pages: Mutex<Pages>,
    arrived: Condvar,
    requests: AtomicU64,
    rounds: AtomicU64,
    nbytes: AtomicU64,
}

/// What was asked of the stores so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// How often a caller waited for requests, which ran at once.
    pub rounds: u64,
    /// Bytes that came.
    pub nbytes: u64,
}

/// A page of an object.
pub(crate) type Key = (u64, u64);

#[derive(Debug, Default)]
struct Pages {
    found: HashMap<Key, Page>,
    /// Pages by the time of their last use.
    used: BTreeMap<u64, Key>,
    clock: u64,
    nbytes: u64,
    max_nbytes: u64,
    nobjects: u64,
}

#[derive(Debug)]
enum Page {
    /// Somebody waits for it already.
    OnItsWay,
    Kept(Bytes, u64),
}

/// What a caller who needs pages is told.
pub(crate) enum Claim {
    Kept(Bytes),
    /// Another caller fetches it.
    Elsewhere,
    /// The caller has to fetch it now, and to [deliver](Cache::deliver) it or to
    /// [give it up](Cache::give_up).
    Yours,
}

impl Cache {
    /// A cache of that many bytes. The page that was used last stays even if it is larger.
    ///
    /// # Errors
    ///
    /// When the system has no thread for the requests.
    pub fn new(max_nbytes: u64) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            driver: Driver::new()?,
            pages: Mutex::new(Pages { max_nbytes, ..Pages::default() }),
            arrived: Condvar::new(),
            requests: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            nbytes: AtomicU64::new(0),
        }))
    }

    /// What was asked of the stores so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            rounds: self.rounds.load(Ordering::Relaxed),
            nbytes: self.nbytes.load(Ordering::Relaxed),
        }
    }

    /// Bytes that are kept now.
    #[must_use]
    pub fn kept_nbytes(&self) -> u64 {
        self.lock().nbytes
    }

    /// Notes a round of requests.
    pub(crate) fn count_round(&self, requests: u64, nbytes: u64) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.nbytes.fetch_add(nbytes, Ordering::Relaxed);
    }

    /// A number for a version of an object.
    pub(crate) fn new_object(&self) -> u64 {
        let mut pages = self.lock();
        pages.nobjects = pages.nobjects.saturating_add(1);
        pages.nobjects
    }

    pub(crate) fn claim(&self, key: Key) -> Claim {
        let mut pages = self.lock();
        match pages.found.get(&key) {
            Some(Page::OnItsWay) => Claim::Elsewhere,
            Some(Page::Kept(bytes, _)) => {
                let bytes = bytes.clone();
                pages.keep(key, bytes.clone());
                Claim::Kept(bytes)
            }
            None => {
                pages.found.insert(key, Page::OnItsWay);
                Claim::Yours
            }
        }
    }

    pub(crate) fn deliver(&self, key: Key, bytes: Bytes) {
        self.lock().keep(key, bytes);
        self.arrived.notify_all();
    }

    /// Lets others try what could not be fetched.
    pub(crate) fn give_up(&self, key: Key) {
        let mut pages = self.lock();
        if matches!(pages.found.get(&key), Some(Page::OnItsWay)) {
            pages.found.remove(&key);
        }
        drop(pages);
        self.arrived.notify_all();
    }

    /// Returns when a page is no longer on its way.
    pub(crate) fn wait_for(&self, key: Key) {
        let is_on_its_way =
            |pages: &mut Pages| matches!(pages.found.get(&key), Some(Page::OnItsWay));
        let waited = self.arrived.wait_while(self.lock(), is_on_its_way);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// Keeps a page as the one used last, and drops those that were not used for longest.
    fn keep(&mut self, key: Key, bytes: Bytes) {
        self.clock = self.clock.saturating_add(1);
        self.nbytes = self.nbytes.saturating_add(bytes.len() as u64);
        let page = Page::Kept(bytes, self.clock);
        if let Some(Page::Kept(old, clock)) = self.found.insert(key, page) {
            self.used.remove(&clock);
            self.nbytes = self.nbytes.saturating_sub(old.len() as u64);
        }
        self.used.insert(self.clock, key);
        while self.nbytes > self.max_nbytes && self.used.len() > 1 {
            let Some((_, oldest)) = self.used.pop_first() else { return };
            if let Some(Page::Kept(bytes, _)) = self.found.remove(&oldest) {
                self.nbytes = self.nbytes.saturating_sub(bytes.len() as u64);
            }
        }
    }
}
