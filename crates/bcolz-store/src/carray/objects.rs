//! The elements of an object array: one pickle in each chunk file ("Object dtype").

use super::CArray;
use crate::error::{Error, Param, Result};
use crate::layout::chunk_path;
use crate::pickle::{self, Object};
use crate::worker::Worker;

/// The elements of an object array; made by [`CArray::objects`].
#[derive(Debug)]
pub struct Objects<'a> {
    array: &'a CArray,
    next: u64,
    worker: Worker,
}

impl CArray {
    /// The elements of an object array, as far as they are plain data; no pickle is executed.
    ///
    /// # Errors
    ///
    /// [`Param::Objects`] if the array holds no objects. An element other than plain data gives an
    /// error, and the next ones follow; an element that cannot be read ends the iteration.
    pub fn objects(&self) -> Result<Objects<'_>> {
        self.check_object()?;
        Ok(Objects { array: self, next: 0, worker: Worker::new(&self.options.dparams) })
    }

    /// The pickle of an element as stored.
    ///
    /// # Errors
    ///
    /// [`Param::Objects`] if the array holds no objects, [`Param::Rows`] if it is shorter;
    /// `Corrupt`, `Chunk` and `Io` if the file cannot be read.
    pub fn pickle(&self, nitem: u64) -> Result<Vec<u8>> {
        self.check_object()?;
        self.pickle_with(nitem, &mut Worker::new(&self.options.dparams))
    }

    fn pickle_with(&self, nitem: u64, worker: &mut Worker) -> Result<Vec<u8>> {
        if nitem >= self.len() {
            let (start, end) = (nitem, nitem.saturating_add(1));
            return Err(Param::Rows { start, end, len: self.len() }.into());
        }
        let mut bytes = Vec::new();
        self.decode_chunk(nitem, &mut bytes, worker)?;
        Ok(bytes)
    }

    fn check_object(&self) -> Result<()> {
        if self.layout.is_object {
            return Ok(());
        }
        Err(Param::Objects { found: self.path.clone(), objects: false }.into())
    }
}

impl Iterator for Objects<'_> {
    type Item = Result<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.array.len() {
            return None;
        }
        let nitem = self.next;
        self.next = nitem.saturating_add(1);
        let bytes = self.array.pickle_with(nitem, &mut self.worker);
        if bytes.is_err() {
            // The stored length may be false, so the first unreadable element ends the iteration.
            self.next = self.array.len();
        }
        Some(bytes.and_then(|bytes| {
            let path = || chunk_path(self.array.path(), nitem);
            pickle::load(&bytes).map_err(|source| Error::Pickle { path: path(), nitem, source })
        }))
    }
}
