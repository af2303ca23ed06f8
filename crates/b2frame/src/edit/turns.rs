//! Taking turns with other writers: the lock, what others did meanwhile, and a look before each
//! commit whether somebody without a lock has changed the frame.
//!
//! ```text
//!   first change   lock, look: as it was?  no: open again     take_lock
//!   more changes   ...
//!   commit         look: as it was?  no: ChangedByOther       check_unchanged
//!                  write, unlock
//! ```

use std::path::Path;

use blosc_io::Lock;

use super::SChunkWriter;
use crate::error::{Error, Result};
use crate::lock::Held;

/// What a frame looks like, as far as any change of it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The header of a contiguous frame, and the last bytes of its trailer.
    Ends { header: Vec<u8>, end: Vec<u8> },
    /// The sum of the index file of a sparse frame.
    Index(u128),
}

/// The lock of a frame, and what the frame looked like under it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Held from the first change to the commit.
    held: Option<Held>,
    /// The generation of the lock when the frame was last looked at.
    generation: u64,
    /// What the frame looked like then, if others can find it; nothing while it is written.
    known: Option<Look>,
    /// Length of the store then, and since (bytes).
    known_len: u64,
    /// Whether another program has changed the frame, without a lock.
    is_foreign: bool,
    /// Whether leftovers of others were looked for.
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

    /// The file that takes the place of the locked one has this lock.
    pub(super) fn replace_lock(&mut self, lock: Lock) {
        self.held.get_or_insert_default().replace(lock);
    }

    /// The turn of a frame that was just opened, under the shared lock of this generation.
    pub(super) fn opened_at(&mut self, generation: u64) {
        self.generation = generation;
    }

    /// The frame was opened again, which was in the turn of `old` before.
    pub(super) fn go_on(&mut self, old: &Self) {
        (self.generation, self.is_swept) = (old.generation, old.is_swept);
    }

    /// Says once that leftovers of others are to be looked for.
    pub(super) fn must_sweep(&mut self) -> bool {
        !core::mem::replace(&mut self.is_swept, true)
    }

    /// What the frame looked like under the lock, if others can find it; nothing while it is
    /// written.
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

    /// Length of the store under the lock, and since (bytes).
    pub(super) fn known_len(&self) -> u64 {
        self.known_len
    }

    /// Notes what the frame looks like, if others can find it.
    pub(super) fn note_look(&mut self, look: Option<Look>) {
        self.known = look;
    }

    /// Notes how long the store is (bytes).
    pub(super) fn note_len(&mut self, len: u64) {
        self.known_len = len;
    }

    /// The frame is about to look different.
    pub(super) fn forget_look(&mut self) {
        self.known = None;
    }

    /// Whether another program has changed the frame, without a lock.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Another program has changed the frame, without a lock.
    pub(super) fn note_foreign(&mut self) -> Error {
        self.is_foreign = true;
        Error::ChangedByOther
    }

    /// Whether nobody has locked the frame between the last look and this lock.
    pub(super) fn is_next(&self, held: &Held) -> bool {
        held.generation().is_none_or(|now| now == self.generation.wrapping_add(1))
    }

    /// Whether `path` still names the file that is locked.
    fn has_name(&self, path: Option<&Path>) -> bool {
        self.held.as_ref().zip(path).is_none_or(|(held, path)| held.has_name(path))
    }
}

impl SChunkWriter {
    /// Takes the lock of the frame, which others then wait for until the next commit, and takes
    /// over what they have changed since the frame was opened. Any change does this; call it before
    /// looking at what a change is to be built on.
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
    /// [`Error::Locked`] when another writer holds it for longer than
    /// [`EditOptions::lock`](crate::EditOptions::lock) says, [`Error::Lock`], or why the frame
    /// cannot be read.
    pub fn lock(&mut self) -> Result<()> {
        self.take_lock().map(drop)
    }

    /// Takes the lock, if it is not held. Says whether others have changed the frame meanwhile.
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

    /// Whether nobody without a lock has changed the frame since it was locked, as far as that can
    /// be seen.
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

    /// Opens the frame again. Nothing is under way.
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
