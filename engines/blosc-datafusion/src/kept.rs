//! Tables that a session keeps open between queries that name the same file.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::columns::{self, Opened};
use crate::error::Result;
use crate::options::TableOptions;

/// Most tables that are kept.
const MAX_KEPT: usize = 64;

/// The local tables that were opened last: a query reuses the minima and maxima that an earlier one
/// learned.
#[derive(Debug, Default)]
pub(crate) struct KeptTables(Mutex<VecDeque<Kept>>);

#[derive(Debug)]
struct Kept {
    location: String,
    options: TableOptions,
    opened: Opened,
}

impl KeptTables {
    /// The table at a location: as it was opened before, if it is still the same, or else opened
    /// now. Remote tables are always opened: only opening tells whether they are the same.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(crate) fn open(&self, location: &str, options: &TableOptions) -> Result<Opened> {
        if columns::is_address(location) {
            return columns::open(location, options);
        }
        let opened = match self.take(location, options) {
            Some(opened) if columns::fingerprint_now(location)? == opened.fingerprint => opened,
            _ => columns::open(location, options)?,
        };
        let (location, options) = (location.to_owned(), *options);
        let mut kept = self.lock();
        kept.push_front(Kept { location, options, opened: opened.clone() });
        kept.truncate(MAX_KEPT);
        Ok(opened)
    }

    /// Takes out the table that was opened by this name.
    fn take(&self, location: &str, options: &TableOptions) -> Option<Opened> {
        let mut kept = self.lock();
        let is_it = |kept: &Kept| kept.location == location && kept.options == *options;
        let at = kept.iter().position(is_it)?;
        kept.remove(at).map(|kept| kept.opened)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
