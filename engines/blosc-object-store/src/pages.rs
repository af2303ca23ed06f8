//! The kept pages, the pages under way, and the memory that both take.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

/// A page of an object: the number of the object, and the number of the page.
pub(crate) type Key = (u64, u64);

/// The pages of all objects.
#[derive(Debug)]
pub(crate) struct Pages {
    found: HashMap<Key, Entry>,
    /// Kept pages that no reader needs, by the time of their last use.
    unused: BTreeMap<u64, Key>,
    clock: u64,
    kept: u64,
    reserved: u64,
    peak: u64,
    max_nbytes: u64,
    nobjects: u64,
    under_way: u64,
}

/// A page that is kept or under way.
#[derive(Debug)]
pub(crate) struct Entry {
    /// None while the page is under way.
    bytes: Option<Bytes>,
    /// Time of its last use, which is its key in `unused`.
    clock: u64,
    /// Number of readers that wait for it.
    pins: u32,
}

impl Pages {
    pub(crate) fn new(max_nbytes: u64) -> Self {
        Self {
            found: HashMap::new(),
            unused: BTreeMap::new(),
            clock: 0,
            kept: 0,
            reserved: 0,
            peak: 0,
            max_nbytes,
            nobjects: 0,
            under_way: 0,
        }
    }

    pub(crate) fn max_nbytes(&self) -> u64 {
        self.max_nbytes
    }

    pub(crate) fn kept_nbytes(&self) -> u64 {
        self.kept
    }

    pub(crate) fn peak_nbytes(&self) -> u64 {
        self.peak
    }

    pub(crate) fn new_object(&mut self) -> u64 {
        self.nobjects = self.nobjects.saturating_add(1);
        self.nobjects
    }

    /// Counts requests; returns whether none was under way before.
    pub(crate) fn begin_requests(&mut self, count: u64) -> bool {
        let is_first = self.under_way == 0;
        self.under_way = self.under_way.saturating_add(count);
        is_first
    }

    pub(crate) fn end_request(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Whether a page is kept or under way.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.found.contains_key(&key)
    }

    pub(crate) fn is_under_way(&self, key: Key) -> bool {
        self.found.get(&key).is_some_and(|entry| entry.bytes.is_none())
    }

    /// The bytes of a kept page, which becomes the most recently used one.
    pub(crate) fn kept(&mut self, key: Key) -> Option<Bytes> {
        self.touch(key);
        self.found.get(&key)?.bytes.clone()
    }

    /// Marks a kept page as the most recently used one.
    pub(crate) fn touch(&mut self, key: Key) {
        let Some(entry) = self.found.get_mut(&key) else { return };
        self.clock = self.clock.saturating_add(1);
        if self.unused.remove(&entry.clock).is_some() {
            self.unused.insert(self.clock, key);
        }
        entry.clock = self.clock;
    }

    /// Keeps a page from being dropped until it is [unpinned](Self::unpin).
    pub(crate) fn pin(&mut self, key: Key) {
        if let Some(entry) = self.found.get_mut(&key) {
            entry.pins = entry.pins.saturating_add(1);
            self.unused.remove(&entry.clock);
        }
    }

    pub(crate) fn unpin(&mut self, key: Key) {
        if let Some(entry) = self.found.get_mut(&key) {
            entry.pins = entry.pins.saturating_sub(1);
            if entry.pins == 0 && entry.bytes.is_some() {
                self.unused.insert(entry.clock, key);
            }
        }
    }

    /// Drops the least recently used pages until `nbytes` more fit; false if readers need all
    /// others.
    pub(crate) fn make_room(&mut self, nbytes: u64) -> bool {
        while self.kept.saturating_add(self.reserved).saturating_add(nbytes) > self.max_nbytes {
            let Some((_, key)) = self.unused.pop_first() else { return false };
            if let Some(Entry { bytes: Some(bytes), .. }) = self.found.remove(&key) {
                self.kept = self.kept.saturating_sub(bytes.len() as u64);
            }
        }
        true
    }

    /// Takes room, which `make_room` made, for requests.
    pub(crate) fn reserve(&mut self, nbytes: u64) {
        self.reserved = self.reserved.saturating_add(nbytes);
        self.note_peak();
    }

    /// Returns the room.
    pub(crate) fn release(&mut self, nbytes: u64) {
        self.reserved = self.reserved.saturating_sub(nbytes);
    }

    /// Marks a page as under way.
    pub(crate) fn begin(&mut self, key: Key) {
        let clock = self.clock;
        self.found.entry(key).or_insert(Entry { bytes: None, clock, pins: 0 });
    }

    /// Forgets a page that could not be fetched, so that other readers try again.
    pub(crate) fn give_up(&mut self, key: Key) {
        if self.is_under_way(key) {
            self.found.remove(&key);
        }
    }

    /// Keeps a fetched page, if there is room.
    pub(crate) fn insert(&mut self, key: Key, bytes: &Bytes) {
        let nbytes = bytes.len() as u64;
        let is_new = self.found.get(&key).is_none_or(|entry| entry.bytes.is_none());
        if !is_new || !self.make_room(nbytes) {
            return self.give_up(key);
        }
        self.clock = self.clock.saturating_add(1);
        let clock = self.clock;
        let entry = self.found.entry(key).or_insert(Entry { bytes: None, clock, pins: 0 });
        entry.bytes = Some(bytes.clone());
        entry.clock = clock;
        if entry.pins == 0 {
            self.unused.insert(clock, key);
        }
        self.kept = self.kept.saturating_add(nbytes);
        self.note_peak();
    }

    fn note_peak(&mut self) {
        self.peak = self.peak.max(self.kept.saturating_add(self.reserved));
    }
}
