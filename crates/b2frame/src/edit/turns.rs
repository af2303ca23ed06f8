//! Taking turns with other writers: the lock, what others did meanwhile, and a look before each
//! commit whether somebody without a lock has changed the frame.
//!
//! ```text
//!   first change   lock, look: as it was?  no: open again     take_lock
//!   more changes   ...
//!   commit         look: as it was?  no: ChangedByOther       check_unchanged
//!                  write, unlock
//! ```
//!
//! What is compared is the header and the end of the trailer, of a sparse frame the whole file of
//! the index.

use std::path::Path;

use blosc_io::replace;
use xxhash_rust::xxh3::xxh3_128;

use super::SChunkWriter;
use crate::error::{Error, Result};
use crate::lock::Held;
use crate::source::Source;
use crate::trailer;

/// What a frame looks like, as far as any change of it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Bytes of the header; of a sparse frame their sum and that of all after them.
    pub(super) header: Vec<u8>,
    /// The last bytes of the trailer.
    end: Vec<u8>,
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
        if self.held.is_some() {
            return Ok(false);
        }
        let held = self.wait_for_lock()?;
        let is_changed = !self.file.is_new() && !self.is_known(&held);
        if is_changed {
            self.reload()?;
        }
        if let (Some(path), false) = (self.file.path(), self.is_swept) {
            // A file that stays is harmless.
            let _ = replace::sweep(path);
            self.is_swept = true;
        }
        if self.files.is_some() {
            let table = self.frame.snapshot().offsets()?;
            self.files.iter_mut().try_for_each(|files| files.prepare(&table))?;
        }
        if !self.file.is_new() {
            self.note_look();
            self.load_seal();
        }
        self.generation = held.generation().unwrap_or(self.generation);
        self.held = Some(held);
        Ok(is_changed)
    }

    /// Whether nobody without a lock has changed the frame since it was locked, as far as that can
    /// be seen.
    pub(super) fn check_unchanged(&mut self) -> Result<()> {
        let Some(known) = self.file.known().cloned() else { return Ok(()) };
        let has_name = match (&self.held, self.frame.path()) {
            (Some(held), Some(path)) => held.has_name(path),
            _ => true,
        };
        let has_len = self.files.is_some() || self.file.has_known_len()?;
        if has_name && has_len && self.look()? == known {
            return Ok(());
        }
        self.file.note_foreign();
        Err(Error::ChangedByOther)
    }

    /// Notes what the frame looks like now.
    pub(super) fn note_look(&mut self) {
        let look = if self.is_named() { self.look().ok() } else { None };
        self.file.note_look(look);
    }

    /// Whether others can find the frame.
    fn is_named(&self) -> bool {
        self.files.is_some() || self.frame.path().is_some()
    }

    fn wait_for_lock(&self) -> Result<Held> {
        let (locking, wait) = (self.options.open.locking, &self.options.lock);
        match (&self.files, self.frame.path()) {
            (Some(files), path) => Held::of_tree(files.tree(), path, locking, wait),
            (None, Some(path)) => Held::of_file(path, locking, wait),
            (None, None) => Ok(Held::default()),
        }
    }

    /// Whether the frame is what it was when it was last looked at.
    fn is_known(&self, held: &Held) -> bool {
        if !self.is_named() {
            return true;
        }
        let is_alone = held.generation().is_none_or(|now| now == self.generation.wrapping_add(1));
        let is_other = matches!((held.id(), self.file.id()), (Some(a), Some(b)) if a != b);
        let known = self.file.known();
        is_alone && !is_other && known.is_some() && self.look().ok().as_ref() == known
    }

    /// Opens the frame again. Nothing is under way.
    fn reload(&mut self) -> Result<()> {
        let new = match (self.frame.path(), self.files.take()) {
            (Some(path), _) => Self::open_unlocked(path, &self.options)?,
            (None, Some(files)) => Self::in_folder(files.folder(), &self.options)?,
            (None, None) => return Ok(()),
        };
        if new.frame.typesize() != self.frame.typesize() {
            (self.cparams, self.encoder) = (new.cparams, None);
        }
        (self.frame, self.file, self.files) = (new.frame, new.file, new.files);
        self.is_seal_known = false;
        Ok(())
    }

    fn look(&self) -> Result<Look> {
        match &self.files {
            Some(files) => {
                let index = files.folder().open_index()?;
                let len = usize::try_from(index.available()?).unwrap_or(usize::MAX);
                let sum = xxh3_128(&index.read_vec(0, len)?);
                Ok(Look { header: sum.to_le_bytes().to_vec(), end: vec![] })
            }
            None => Look::read(&self.file.source(), self.frame.header()),
        }
    }
}

impl Look {
    fn read(source: &Source, header: &crate::header::FrameHeader) -> Result<Self> {
        let len = usize::try_from(header.header_len()).unwrap_or(usize::MAX);
        let end = header.frame_len().saturating_sub(trailer::END_LEN as u64);
        Ok(Self { header: source.read_vec(0, len)?, end: source.read_vec(end, trailer::END_LEN)? })
    }
}

/// The name of the file that a path leads to.
pub(super) fn is_plain_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}
