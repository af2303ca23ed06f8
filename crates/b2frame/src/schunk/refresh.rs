//! Follows a frame that another process changes.
//!
//! A super-chunk is a snapshot. Frames that this crate extends keep all bytes of a snapshot until
//! they are compacted. C-Blosc2 overwrites bytes: if it may write, read the frame under a lock.

use core::ops::Deref;
use core::time::Duration;
use std::path::Path;
use std::thread;

use blosc_chunk::error::Blame;
use blosc_io::LockWait;

use super::{Draft, SChunk, open_file};
use crate::error::{Error, Param, Result};
use crate::header::FIXED_LEN;
use crate::legacy::FrameLayout;
use crate::lock::FrameLock;
use crate::source::Source;
use crate::sparse::INDEX_FILE;

/// C-Blosc2 tries as often, at the same interval, to read a frame during a write.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(1);
/// No change takes longer between two writes.
const RECENT: Duration = Duration::from_secs(1);

impl SChunk {
    /// Looks whether the frame was changed, and reloads it then. Returns whether it has changed.
    ///
    /// A frame that was opened by its path is opened at that path again, even if another file is
    /// there now. Without locking a change may be under way; then the attempt is repeated for a
    /// moment.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, SChunkWriter};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data.b2frame");
    /// let mut writer = SChunkWriter::create(&path, &FrameParams::default().chunksize(8))?;
    /// writer.append(&[1; 8])?;
    /// writer.commit()?;
    /// let mut reader = SChunk::open(&path)?;
    /// assert!(!reader.refresh()?);
    /// writer.append(&[2; 8])?;
    /// writer.commit()?;
    /// assert_eq!(reader.nchunks(), 1);
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.nchunks(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Lock`](crate::Error::Lock), or the error of reading the frame. The super-chunk then
    /// stays as it was.
    pub fn refresh(&mut self) -> Result<bool> {
        let _lock = self.lock()?;
        self.follow()
    }

    /// Calls `read`, and calls it again on the new state while it fails because another writer has
    /// removed files of this snapshot. Only files of sparse frames are removed, after two commits
    /// of the other writer. `read` begins anew each time; discard the data of earlier attempts.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, SChunkWriter};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data.b2frame");
    /// let mut writer = SChunkWriter::create_sparse(&path, &FrameParams::default().chunksize(8))?;
    /// writer.append(&[1; 8])?;
    /// writer.commit()?;
    /// let mut reader = SChunk::open(&path)?;
    /// for n in 2..5 {
    ///     writer.update(0, &[n; 8])?;
    ///     writer.commit()?;
    /// }
    /// assert!(reader.decode_chunk(0).is_err());
    /// assert_eq!(reader.read_current(|schunk| schunk.decode_chunk(0))?, [4; 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The error of `read`: [`Error::Outdated`] only if others commit all the time; as
    /// [`refresh`](Self::refresh).
    pub fn read_current<T>(&mut self, mut read: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        let mut tries = 1;
        loop {
            match read(self) {
                Err(Error::Outdated { .. }) if tries < TRIES => {
                    tries = tries.saturating_add(1);
                    self.refresh()?;
                }
                done => return done,
            }
        }
    }

    /// Takes the shared lock and refreshes: no program that takes the lock changes the frame until
    /// the result is dropped.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh); [`Param::NoPath`] if the frame was not opened by its path.
    pub fn locked(&mut self) -> Result<Locked<'_>> {
        let path = self.path().ok_or(Param::NoPath)?;
        let lock = FrameLock::shared(path)?;
        self.follow()?;
        Ok(Locked { schunk: self, lock })
    }

    /// The present frame, if it was changed.
    pub(crate) fn refreshed(&self) -> Result<Option<Self>> {
        let _lock = self.lock()?;
        self.reopen_settled()
    }

    fn lock(&self) -> Result<Option<FrameLock>> {
        match self.path() {
            Some(path) => self.open_options().locking.shared(path, &LockWait::default()),
            None => Ok(None),
        }
    }

    /// Reloads the frame if it has changed.
    fn follow(&mut self) -> Result<bool> {
        let new = self.reopen_settled()?;
        Ok(new.map(|new| *self = new).is_some())
    }

    fn reopen_settled(&self) -> Result<Option<Self>> {
        let mut tries = 1;
        loop {
            match self.reopen() {
                // Half of a change was read.
                Err(error) if error.blame() == Blame::Data && tries < TRIES => {
                    tries = tries.saturating_add(1);
                    thread::sleep(PAUSE);
                }
                done => return done,
            }
        }
    }

    /// The present frame, if its header has changed.
    pub(crate) fn reopen(&self) -> Result<Option<Self>> {
        if self.layout() != FrameLayout::Current {
            return Ok(None); // No program writes such frames any more.
        }
        let source = match (self.state.folder(), self.path()) {
            (Some(folder), _) => folder.open_index()?,
            (None, Some(path)) => Source::new(open_file(path)?, self.state.source().base()),
            (None, None) => self.state.source().clone(),
        };
        let (head, _) = source.read_head::<FIXED_LEN>(0, FIXED_LEN as u64)?;
        // Metalayers alone change only if a writer replaces them by others of the same size.
        let meta = source
            .read_vec(FIXED_LEN as u64, self.state.meta().bytes().len().saturating_sub(FIXED_LEN));
        let is_same_meta =
            meta.is_ok_and(|meta| self.state.meta().bytes().get(FIXED_LEN..) == Some(&meta));
        let is_same = head == self.state.header().encode() && is_same_meta;
        if is_same && self.state.folder().is_none() {
            return Ok(None);
        }
        let folder = self.state.folder().cloned();
        let mut draft = Draft::open(source, folder, self.open_options().clone())?;
        self.path().into_iter().for_each(|path| draft.change().set_path(path));
        let new = draft.finish();
        // Files with new numbers may have the same lengths as before.
        if is_same && self.has_index_of(&new)? {
            return Ok(None);
        }
        Ok(Some(new))
    }

    /// Whether index and trailer equal those of another frame with the same header.
    fn has_index_of(&self, other: &Self) -> Result<bool> {
        Ok(self.state.mark() == other.state.mark()
            && self.state.vlmeta().bytes() == other.state.vlmeta().bytes()
            && self.offsets()? == other.offsets()?)
    }
}

/// Opens a frame at `path`, and tries again while that fails during a write. Only a recently
/// changed frame gets further attempts.
pub(crate) fn open_settled<T>(path: &Path, open: impl Fn() -> Result<T>) -> Result<T> {
    let mut tries = 1;
    loop {
        match open() {
            Err(error) if error.blame() == Blame::Data && tries < TRIES && is_recent(path) => {
                tries = tries.saturating_add(1);
                thread::sleep(PAUSE);
            }
            opened => return opened,
        }
    }
}

/// Whether a frame was changed so recently that a write may be under way.
fn is_recent(path: &Path) -> bool {
    let index = path.join(INDEX_FILE);
    let metadata = if path.is_dir() { index.metadata() } else { path.metadata() };
    let modified = metadata.and_then(|metadata| metadata.modified()).ok();
    // A time in the future is recent, too.
    modified.is_some_and(|time| time.elapsed().is_ok_and(|age| age < RECENT))
}

/// A super-chunk under a shared lock.
#[derive(Debug)]
pub struct Locked<'a> {
    schunk: &'a SChunk,
    lock: FrameLock,
}

impl Locked<'_> {
    /// The generation of the lock.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.lock.generation()
    }
}

impl Deref for Locked<'_> {
    type Target = SChunk;

    fn deref(&self) -> &SChunk {
        self.schunk
    }
}
