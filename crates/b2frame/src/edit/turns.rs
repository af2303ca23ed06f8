//! Turns with other writers: the lock, the changes of other writers, and a look before each commit
//! for changes without a lock.
//!
//! ```text
//!   first change   lock; look: as before?  no: open again     take_lock
//!   more changes   ...
//!   commit         look: as before?  no: ChangedByOther       check_unchanged
//!                  write, unlock
//! ```

use std::path::Path;

use blosc_io::Lock;

use super::SChunkWriter;
use crate::error::{Error, Result};
use crate::lock::Held;

/// The parts of a frame that every change of it alters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The header of a contiguous frame, and the last bytes of its trailer.
    Ends { header: Vec<u8>, end: Vec<u8> },
    /// The sum of the index file of a sparse frame.
    Index(u128),
}

/// The lock of a frame, and the look of the frame under it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Held from the first change to the commit.
    held: Option<Held>,
    /// The generation of the lock at the last look.
    generation: u64,
    /// The last look, if other programs can find the frame; `None` during a write.
    known: Option<Look>,
    /// Length of the store at the last look, and of the bytes added since (bytes).
    known_len: u64,
    /// Whether another program has changed the frame without a lock.
    is_foreign: bool,
    /// Whether leftovers of other writers were removed.
    is_swept: bool,
}

impl Turn {
    /// A turn that begins with this lock.
    pub(super) fn taken(&mut self, held: Held) {
        self.generation = held.generation().unwrap_or(self.generation);
        self.held = Some(held);
    }

    /// Lets other writers have their turn.
    pub(super) fn release(&mut self) {
        self.held = None;
    }

    /// The new file that replaces the locked one has this lock.
    pub(super) fn replace_lock(&mut self, lock: Lock) {
        self.held.get_or_insert_default().replace(lock);
    }

    /// The turn of a frame that was just opened, under the shared lock of this generation.
    pub(super) fn opened_at(&mut self, generation: u64) {
        self.generation = generation;
    }

    /// Continues the turn `old` after the frame was opened again.
    pub(super) fn go_on(&mut self, old: &Self) {
        (self.generation, self.is_swept) = (old.generation, old.is_swept);
    }

    /// Returns true once: leftovers of other writers are to be removed.
    pub(super) fn must_sweep(&mut self) -> bool {
        !core::mem::replace(&mut self.is_swept, true)
    }

    /// The look of the frame under the lock, if other programs can find it; `None` during a write.
    pub(super) fn known(&self) -> Option<&Look> {
        self.known.as_ref()
    }

    /// The header as it was under the lock, of a contiguous frame.
    pub(super) fn known_header(&self) -> Option<&[u8]> {
        match &self.known {
            Some(Look::Ends { header, .. }) => Some(header),
            _ => None,
        }
    }

    /// Length of the store under the lock, and of the bytes added since (bytes).
    pub(super) fn known_len(&self) -> u64 {
        self.known_len
    }

    /// Notes the look of the frame, if other programs can find it.
    pub(super) fn note_look(&mut self, look: Option<Look>) {
        self.known = look;
    }

    /// Notes the length of the store (bytes).
    pub(super) fn note_len(&mut self, len: u64) {
        self.known_len = len;
    }

    /// Notes that the look of the frame is about to change.
    pub(super) fn forget_look(&mut self) {
        self.known = None;
    }

    /// Whether another program has changed the frame without a lock.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Notes that another program has changed the frame without a lock.
    pub(super) fn note_foreign(&mut self) -> Error {
        self.is_foreign = true;
        Error::ChangedByOther
    }

    /// Whether no other writer has locked the frame between the last look and this lock.
    pub(super) fn is_next(&self, held: &Held) -> bool {
        held.generation().is_none_or(|now| now == self.generation.wrapping_add(1))
    }

    /// Whether `path` still names the file that is locked.
    fn has_name(&self, path: Option<&Path>) -> bool {
        self.held.as_ref().zip(path).is_none_or(|(held, path)| held.has_name(path))
    }
}

impl SChunkWriter {
    /// Takes the lock of the frame until the next commit, and reads the changes of other writers
    /// since the frame was opened. Every change does this itself; call it before you read data that
    /// a change depends on.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunkWriter};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data.b2frame");
    /// drop(SChunkWriter::create(&path, &FrameParams::default().chunksize(8))?.finish()?);
    /// let mut first = SChunkWriter::open(&path)?;
    /// let mut second = SChunkWriter::open(&path)?;
    /// first.append(&[1; 8])?;
    /// first.commit()?;
    /// assert_eq!(second.nchunks(), 0);
    /// second.lock()?;
    /// assert_eq!(second.nchunks(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Locked`] if another writer holds the lock for longer than
    /// [`EditOptions::lock`](crate::EditOptions::lock) allows, [`Error::Lock`], or the error of
    /// reading the frame.
    pub fn lock(&mut self) -> Result<()> {
        self.take_lock().map(drop)
    }

    /// Takes the lock, if it is not held. Returns whether other writers have changed the frame
    /// since.
    pub(crate) fn take_lock(&mut self) -> Result<bool> {
        if self.storage.turn().held.is_some() {
            return Ok(false);
        }
        let held = self.storage.wait_for_lock(self.frame.path(), &self.options)?;
        let is_changed = !self.storage.is_new() && !self.storage.is_known(&self.frame, &held);
        if is_changed {
            self.reload()?;
        }
        self.storage.prepare(self.frame.snapshot())?;
        if !self.storage.is_new() {
            self.storage.note_look(&self.frame);
            self.seal.load(&mut self.frame)?;
        }
        self.storage.turn_mut().taken(held);
        Ok(is_changed)
    }

    /// Checks that no program has changed the frame without a lock since it was locked, as far as
    /// its look shows.
    pub(super) fn check_unchanged(&mut self) -> Result<()> {
        let turn = self.storage.turn();
        let Some(known) = turn.known() else { return Ok(()) };
        if turn.has_name(self.frame.path())
            && self.storage.has_known_len()?
            && self.storage.look(self.frame.header())? == *known
        {
            return Ok(());
        }
        Err(self.storage.turn_mut().note_foreign())
    }

    /// Opens the frame again. No change is under way.
    fn reload(&mut self) -> Result<()> {
        let mut new = match (self.frame.path(), self.storage.folder()) {
            (Some(path), _) => Self::open_unlocked(path, &self.options)?,
            (None, Some(folder)) => Self::in_folder(folder, &self.options)?,
            (None, None) => return Ok(()),
        };
        if new.frame.typesize() != self.frame.typesize() {
            self.compressor = new.compressor;
        }
        new.storage.turn_mut().go_on(self.storage.turn());
        (self.frame, self.storage) = (new.frame, new.storage);
        self.seal.forget();
        Ok(())
    }
}
