//! Files of chunks that stay open while single rows are read of them.

use std::collections::{HashMap, VecDeque, hash_map::Entry};

use blosc_io::ReadAt;

use crate::error::Result;

/// The files that were opened last: finding and opening one takes as long as ten reads of it.
#[derive(Default)]
pub(super) struct Files {
    files: HashMap<u64, Box<dyn ReadAt>>,
    /// Their chunks, the one that was opened first in front.
    order: VecDeque<u64>,
}

impl Files {
    /// The file of a chunk, which is opened unless it is open: its stamp tells whether it is still
    /// the one of that name.
    pub(super) fn file(
        &mut self,
        nchunk: u64,
        open: impl FnOnce() -> Result<Box<dyn ReadAt>>,
    ) -> Result<&dyn ReadAt> {
        if cfg!(not(unix)) {
            // Only Unix tells that another file got the name.
            self.close(nchunk);
        }
        if self.order.len() >= MOST && !self.files.contains_key(&nchunk) {
            self.order.pop_front().and_then(|oldest| self.files.remove(&oldest));
        }
        match self.files.entry(nchunk) {
            Entry::Occupied(file) => Ok(&**file.into_mut()),
            Entry::Vacant(place) => {
                let file = open()?;
                self.order.push_back(nchunk);
                Ok(&**place.insert(file))
            }
        }
    }

    /// Closes the file of a chunk.
    pub(super) fn close(&mut self, nchunk: u64) {
        if self.files.remove(&nchunk).is_some() {
            self.order.retain(|other| *other != nchunk);
        }
    }
}

impl core::fmt::Debug for Files {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Files").field("open", &self.order).finish_non_exhaustive()
    }
}

/// A fifth of what Linux lets a process have open, unless it is told otherwise.
const MOST: usize = 192;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{MemTree, Tree};

    #[test]
    fn the_files_that_were_opened_first_are_closed() {
        let tree = MemTree::new();
        tree.write("f", b"abc").unwrap();
        let mut files = Files::default();
        let mut opened = 0;
        let last = MOST as u64;
        for nchunk in (0..=last).chain([last, 1, 0, 1]) {
            let open = || {
                opened += 1;
                Ok(tree.open("f").unwrap())
            };
            assert_eq!(files.file(nchunk, open).unwrap().len().unwrap(), 3);
        }
        let expected = if cfg!(unix) { MOST + 3 } else { MOST + 5 };
        assert_eq!((opened, files.order.len(), files.files.len()), (expected, MOST, MOST));
        files.close(0);
        files.close(0);
        assert_eq!((files.order.len(), files.files.len()), (MOST - 1, MOST - 1));
        assert!(
            files.file(0, || Err(crate::Param::Buffer { found: 0, needed: 1 }.into())).is_err()
        );
        assert_eq!((files.order.len(), files.files.len()), (MOST - 1, MOST - 1));
    }
}
