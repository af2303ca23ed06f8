//! The storage of a contiguous frame that is edited: new bytes go after the frame, the header
//! makes them count.
//!
//! ```text
//!    0          header_len                      committed            end
//!    | header   | chunks | index | trailer       | new chunks         |  what is not committed
//!      never touched before all of the new bytes are synced
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::lock::FileId;
use blosc_io::{Durability, ReadAt as _, WriteAt};

use super::shared::Shared;
use super::turns::Look;
use crate::error::{Error, Param, Result};
use crate::probe::Kind;
use crate::source::Source;

/// A chunk that has outgrown its room gets its length divided by this as slack.
const OUTGROWN_SLACK: usize = 8;

/// Where a contiguous frame is written.
pub(super) struct FrameFile {
    store: Shared,
    /// The file's name, if the frame is a whole file that may be replaced by another.
    path: Option<PathBuf>,
    base: u64,
    /// Length of the frame that readers see; nothing for one that was never committed (bytes).
    committed: Option<u64>,
    /// Whether there was no commit yet.
    is_new: bool,
    /// Where the next bytes go (bytes from the frame's start). What readers see lies before it.
    end: u64,
    /// Chunks that were written since the last commit in the place of others, which no reader has
    /// seen: position and room for each (bytes). Another chunk may take their place.
    fresh: HashMap<u64, u64>,
    /// Rooms of such chunks that nothing refers to any more: length and position (bytes).
    free: BTreeSet<(u64, u64)>,
    /// Rooms that become free once the index refers to other ones.
    outgrown: Vec<(u64, u64)>,
    /// Those of them over which a write has failed, so that they are neither the old nor the new.
    torn: HashSet<u64>,
    durability: Durability,
    /// Which file it is, if it is one.
    id: Option<FileId>,
    /// What the frame looked like under the lock, if others can find it; nothing while it is
    /// written.
    known: Option<Look>,
    /// Length of the store then, and since (bytes).
    known_len: u64,
    /// Whether another program has changed the frame, without a lock.
    is_foreign: bool,
}

impl FrameFile {
    /// For a frame that is not there yet, with a header of `header_len` bytes.
    pub(super) fn new(store: Box<dyn WriteAt>, header_len: u64, durability: Durability) -> Self {
        let mut file = Self::for_frame(Shared::new(store), 0, header_len, durability);
        (file.committed, file.is_new) = (None, true);
        file
    }

    /// For a frame of `frame_len` bytes.
    pub(super) fn for_frame(
        store: Shared,
        base: u64,
        frame_len: u64,
        durability: Durability,
    ) -> Self {
        Self {
            store,
            path: None,
            base,
            committed: Some(frame_len),
            is_new: false,
            end: frame_len,
            fresh: HashMap::new(),
            free: BTreeSet::new(),
            outgrown: vec![],
            torn: HashSet::new(),
            durability,
            id: None,
            known: None,
            known_len: 0,
            is_foreign: false,
        }
    }

    /// Refuses a frame that is followed by something which must not be overwritten. What an
    /// interrupted writer left after the only frame of a file may be.
    pub(super) fn check_end(&self) -> Result<()> {
        let end = self.base.saturating_add(self.end);
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        let mut magic = [0; 10];
        let is_frame = len.saturating_sub(end) >= magic.len() as u64 && {
            self.source().read_into(self.end, &mut magic)?;
            matches!(Kind::recognize(&magic), Kind::Frame | Kind::OlderFrame)
        };
        if len > end && (self.base > 0 || is_frame) {
            return Err(Param::NotLast { at: end }.into());
        }
        Ok(())
    }

    /// The frame, for reading.
    pub(super) fn source(&self) -> Source {
        Source::new(Arc::new(self.store.clone()), self.base)
    }

    /// The store, which the frame shares with its readers.
    pub(super) fn store(&self) -> Shared {
        self.store.clone()
    }

    /// Goes on in another store.
    pub(super) fn replace_store(&mut self, store: Box<dyn WriteAt>, id: Option<FileId>) {
        self.store.replace(store);
        self.id = id;
    }

    /// Notes which file it is, and its name if the frame is a whole file that may be replaced.
    pub(super) fn set_file(&mut self, id: Option<FileId>, path: Option<PathBuf>) {
        (self.id, self.path) = (id, path);
    }

    /// Which file it is, if it is one.
    pub(super) fn id(&self) -> Option<FileId> {
        self.id
    }

    /// The file's name, if the frame is a whole file that may be replaced by another.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether there was no commit yet.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Length of the frame that was committed (bytes).
    pub(super) fn committed(&self) -> Option<u64> {
        self.committed.filter(|_| !self.is_new)
    }

    /// What the frame looked like under the lock, if others can find it; nothing while it is
    /// written.
    pub(super) fn known(&self) -> Option<&Look> {
        self.known.as_ref()
    }

    /// Notes what the frame looks like, if others can find it, and how long the store is.
    pub(super) fn note_look(&mut self, look: Option<Look>) {
        self.known = look;
        self.known_len = self.store.len().unwrap_or(0);
    }

    /// The frame is about to look different.
    pub(super) fn forget_look(&mut self) {
        self.known = None;
    }

    /// Notes that another program has changed the frame, without a lock.
    pub(super) fn note_foreign(&mut self) {
        self.is_foreign = true;
    }

    /// What commits are to survive.
    pub(super) fn durability(&self) -> Durability {
        self.durability
    }

    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Position of the frame in the store (bytes).
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Where the next bytes go (bytes from the frame's start).
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Lets the data section of a frame without data begin elsewhere.
    pub(super) fn set_start(&mut self, header_len: u64) {
        self.end = header_len;
    }

    /// Whether nothing was written yet to a frame that is not there yet.
    pub(super) fn is_untouched(&self, header_len: u64) -> bool {
        self.is_new && self.end == header_len
    }

    /// Writes after everything that readers see, and says where that is (bytes from the frame's
    /// start).
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        self.cut_leftovers()?;
        let at = self.end;
        self.write_behind(at, bytes)?;
        self.torn.remove(&at);
        self.end = at.saturating_add(bytes.len() as u64);
        Ok(at)
    }

    /// Writes a chunk that takes the place of the one at `old`, to where no reader looks yet, and
    /// says where that is: over the old one if no reader has seen that one and it has the room, or
    /// else in a free room, or after everything. So a part that is written again and again takes
    /// no more room each time, nor memory that the system must clear first.
    pub(super) fn write_instead(&mut self, old: Option<u64>, chunk: &[u8]) -> Result<u64> {
        let nbytes = chunk.len() as u64;
        let old = old.and_then(|at| Some((*self.fresh.get(&at)?, at)));
        if let Some((_, at)) = old.filter(|(room, _)| nbytes <= *room) {
            self.overwrite(at, chunk)?;
            return Ok(at);
        }
        if let Some((room, at)) = self.free.range((nbytes, 0)..).next().copied() {
            self.overwrite(at, chunk)?;
            self.free.remove(&(room, at));
            self.fresh.insert(at, room);
            self.outgrown.extend(old);
            return Ok(at);
        }
        let at = self.append(chunk)?;
        let mut room = nbytes;
        if old.is_some() {
            // It has grown before, and will again.
            let slack = chunk.len() / OUTGROWN_SLACK;
            self.append(&vec![0; slack])?;
            room = room.saturating_add(slack as u64);
        }
        self.fresh.insert(at, room);
        self.outgrown.extend(old);
        Ok(at)
    }

    fn overwrite(&mut self, at: u64, chunk: &[u8]) -> Result<()> {
        self.torn.insert(at);
        self.write(at, chunk)?;
        self.torn.remove(&at);
        Ok(())
    }

    /// Notes whether the index refers to the chunks that were written, so that the rooms which they
    /// have outgrown are free.
    pub(super) fn leave_outgrown(&mut self, are_free: bool) {
        for (room, at) in self.outgrown.drain(..) {
            if are_free {
                self.fresh.remove(&at);
                self.free.insert((room, at));
            }
        }
    }

    /// From now on no chunk may be overwritten: readers may see all of them.
    fn settle_rooms(&mut self) {
        self.fresh.clear();
        self.free.clear();
        self.outgrown.clear();
    }

    /// Positions of chunks that are a mixture of two, after a write that failed.
    pub(super) fn torn(&self) -> impl Iterator<Item = u64> {
        self.torn.iter().copied()
    }

    /// Writes at a position of the frame, after what was appended: now, or before anything else is
    /// written.
    pub(super) fn write_behind(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (at, len) = (self.base.saturating_add(at), bytes.len() as u64);
        self.store.append_at(at, bytes).map_err(|source| Error::Write { at, len, source })
    }

    /// Writes at a position of the frame.
    pub(super) fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (at, len) = (self.base.saturating_add(at), bytes.len() as u64);
        self.store.write_at(at, bytes).map_err(|source| Error::Write { at, len, source })
    }

    /// Returns when all that was written would survive what this file is to survive.
    pub(super) fn sync(&self) -> Result<()> {
        if self.durability.needs_sync() {
            return self.store.sync().map_err(|source| self.write_error(source));
        }
        Ok(())
    }

    /// Makes the store end where the frame does.
    pub(super) fn cut(&mut self, frame_len: u64) -> Result<()> {
        let len = self.base.saturating_add(frame_len);
        self.settle_rooms();
        self.store.set_len(len).map_err(|source| self.write_error(source))?;
        (self.end, self.known_len) = (frame_len, len);
        Ok(())
    }

    /// Notes that readers may see a frame of `frame_len` bytes from now on, or still the old one: a
    /// write that failed may have been done. Nothing of either is overwritten or cut off.
    pub(super) fn protect(&mut self, frame_len: u64) {
        self.settle_rooms();
        self.committed =
            self.committed.map(|committed| committed.max(frame_len)).or(Some(frame_len));
        self.end = self.end.max(frame_len);
    }

    /// Notes that readers see a frame of `frame_len` bytes now.
    pub(super) fn commit(&mut self, frame_len: u64) {
        self.settle_rooms();
        self.committed = Some(frame_len);
        self.is_new = false;
        self.end = frame_len;
    }

    /// What an interrupted writer left is removed before anything is written over it: nobody shall
    /// take a mixture for something.
    fn cut_leftovers(&mut self) -> Result<()> {
        if self.committed != Some(self.end) {
            return Ok(());
        }
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        if len <= self.base.saturating_add(self.end) {
            return Ok(());
        }
        if !self.header_is_known() {
            self.is_foreign = true;
            return Err(Error::ChangedByOther);
        }
        self.cut(self.end)
    }

    /// Whether the store is as long as what is in it and what was added.
    pub(super) fn has_known_len(&self) -> Result<bool> {
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        Ok(len == self.known_len.max(self.base.saturating_add(self.end)))
    }

    /// Whether the header is the one that is known.
    fn header_is_known(&self) -> bool {
        let Some(known) = &self.known else { return true };
        let header = self.source().read_vec(0, known.header.len());
        header.is_ok_and(|header| header == known.header)
    }

    fn write_error(&self, source: std::io::Error) -> Error {
        Error::Write { at: self.base.saturating_add(self.end), len: 0, source }
    }
}

impl Drop for FrameFile {
    /// Removes what was not committed. If that fails it stays behind the frame, where nobody looks.
    fn drop(&mut self) {
        if self.is_foreign || !self.header_is_known() {
            return;
        }
        let _ = match self.committed {
            Some(frame_len) if frame_len < self.end => self.cut(frame_len),
            // A new file keeps what there is, for a rescue.
            _ => self.store.flush().map_err(|source| self.write_error(source)),
        };
    }
}
