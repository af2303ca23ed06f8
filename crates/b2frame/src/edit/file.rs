//! The storage of a contiguous frame that is edited: new bytes go after the frame, and the header
//! commits them.
//!
//! ```text
//!    0          header_len                      committed            end
//!    | header   | chunks | index | trailer       | new chunks         |  uncommitted bytes
//!      never touched before all of the new bytes are synced
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::lock::FileId;
use blosc_io::replace;
use blosc_io::{Durability, ReadAt as _, WriteAt};

use super::rooms::{Fit, Rooms};
use super::shared::Shared;
use super::turns::Turn;
use crate::error::{Error, Param, Result};
use crate::header::FrameHeader;
use crate::probe::{Kind, PROBE_LEN};
use crate::source::Source;

/// The storage of a contiguous frame.
pub(super) struct FrameFile {
    /// The store, which the frame shares with its readers.
    pub(super) store: Shared,
    /// The file's name, if the frame is a whole file that may be replaced by another.
    path: Option<PathBuf>,
    /// The identity of the file, if the store is a file.
    pub(super) id: Option<FileId>,
    /// Position of the frame in the store (bytes).
    pub(super) base: u64,
    header_len: u64,
    /// Length of the frame that readers see; `None` before the first commit (bytes).
    committed: Option<u64>,
    /// Whether the frame was never committed.
    is_new: bool,
    /// Position of the next bytes (bytes from the frame's start). Readers see only bytes before it.
    end: u64,
    /// Whether bytes were written after the frame that readers see, perhaps only in part.
    has_tail: bool,
    rooms: Rooms,
    /// The durability of commits.
    pub(super) durability: Durability,
    /// The last field: on drop, uncommitted bytes are removed before the lock is released.
    pub(super) turn: Turn,
}

impl FrameFile {
    /// For a new frame, with a header of `header_len` bytes.
    pub(super) fn new(store: Box<dyn WriteAt>, header_len: u32, durability: Durability) -> Self {
        let (store, header_len) = (Shared::new(store), header_len.into());
        let mut file = Self::with_len(store, 0, header_len, header_len, durability);
        (file.committed, file.is_new) = (None, true);
        file
    }

    /// For a frame with this header, at position `base` of a store.
    pub(super) fn of_frame(
        store: Shared,
        base: u64,
        header: &FrameHeader,
        durability: Durability,
    ) -> Self {
        Self::with_len(store, base, header.header_len().into(), header.frame_len(), durability)
    }

    fn with_len(
        store: Shared,
        base: u64,
        header_len: u64,
        frame_len: u64,
        durability: Durability,
    ) -> Self {
        Self {
            store,
            path: None,
            id: None,
            base,
            header_len,
            committed: Some(frame_len),
            is_new: false,
            end: frame_len,
            has_tail: false,
            rooms: Rooms::default(),
            durability,
            turn: Turn::default(),
        }
    }

    /// Refuses a frame if other bytes follow that must not be overwritten. Leftovers of an
    /// interrupted writer after the only frame of a file may be.
    pub(super) fn check_end(&self) -> Result<()> {
        let end = self.base.saturating_add(self.end);
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        let left = usize::try_from(len.saturating_sub(end)).unwrap_or(usize::MAX);
        let head = self.source().read_vec(self.end, left.min(PROBE_LEN))?;
        let kind = Kind::recognize(&head);
        if left > 0 && (self.base > 0 || !may_be_leftover(kind, &head)) {
            return Err(Param::NotLast { at: end, kind }.into());
        }
        Ok(())
    }

    /// The frame, for reading.
    pub(super) fn source(&self) -> Source {
        Source::new(Arc::new(self.store.clone()), self.base)
    }

    /// Continues in another store.
    pub(super) fn replace_store(&mut self, store: Box<dyn WriteAt>, id: Option<FileId>) {
        self.store.replace(store);
        self.id = id;
    }

    /// Notes the identity of the file, and its path if the file consists of the frame alone.
    pub(super) fn set_file(&mut self, id: Option<FileId>, path: Option<PathBuf>) {
        (self.id, self.path) = (id, path);
    }

    /// The file's name, if the frame is a whole file that may be replaced by another.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether the frame was never committed.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Length of the frame that was committed (bytes).
    pub(super) fn committed(&self) -> Option<u64> {
        self.committed.filter(|_| !self.is_new)
    }

    /// Removes, once, temporary files of others beside this one. A file that stays is harmless.
    pub(super) fn sweep(&mut self) {
        if let Some(path) = &self.path
            && self.turn.must_sweep()
        {
            let _ = replace::sweep(path);
        }
    }

    /// Position of the next bytes (bytes from the frame's start).
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Length of the data section with all appended bytes (bytes).
    pub(super) fn data_len(&self) -> Result<u64> {
        self.number(self.end)
    }

    /// The number in the index of the chunk at a position.
    fn number(&self, at: u64) -> Result<u64> {
        at.checked_sub(self.header_len).ok_or(Error::internal("a chunk lies within the header"))
    }

    /// Gives the header of a new frame another length, if nothing was written after it.
    pub(super) fn fit_header(&mut self, header_len: u64) -> bool {
        let is_untouched = self.is_new && self.end == self.header_len;
        if is_untouched {
            (self.header_len, self.end) = (header_len, header_len);
        }
        is_untouched
    }

    /// Writes a chunk after all bytes that readers see, and returns its number.
    pub(super) fn place(&mut self, chunk: &[u8]) -> Result<u64> {
        let at = self.append(chunk)?;
        self.number(at)
    }

    /// Writes after all bytes that readers see, and returns the position (bytes from the frame's
    /// start).
    fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        self.cut_leftovers()?;
        let at = self.end;
        self.write_after(at, bytes)?;
        self.rooms.mend(at);
        self.end = at.saturating_add(bytes.len() as u64);
        Ok(at)
    }

    /// Writes a chunk that replaces the one of number `old`, where readers do not look yet, and
    /// returns its number. The new chunk goes over the old one if no reader has seen that one and
    /// the room suffices; or else to a free room; or else to the end. So the file does not grow
    /// each time a part is written again, and the system need not clear new memory.
    pub(super) fn place_instead(&mut self, old: Option<u64>, chunk: &[u8]) -> Result<u64> {
        let old = old.map(|number| number.saturating_add(self.header_len));
        let at = match self.rooms.find(old, chunk.len()) {
            Fit::Same(at) => {
                self.overwrite(at, chunk)?;
                at
            }
            Fit::Free((room, at)) => {
                self.overwrite(at, chunk)?;
                self.rooms.note(old, (room, at));
                at
            }
            Fit::End { slack } => {
                let at = self.append(chunk)?;
                if slack > 0 {
                    self.append(&vec![0; slack])?;
                }
                self.rooms.note(old, ((chunk.len() as u64).saturating_add(slack as u64), at));
                at
            }
        };
        self.number(at)
    }

    fn overwrite(&mut self, at: u64, chunk: &[u8]) -> Result<()> {
        self.rooms.tear(at);
        self.write(at, chunk)?;
        self.rooms.mend(at);
        Ok(())
    }

    /// Notes whether the index refers to the chunks that were written. If so, the rooms that they
    /// have outgrown are free.
    pub(super) fn leave_outgrown(&mut self, are_free: bool) {
        self.rooms.leave_outgrown(are_free);
    }

    /// Refuses an index with a torn chunk, which a failed write left as a mixture of two. The frame
    /// that readers see stays as it was.
    pub(super) fn check_untorn(&self, numbers: &[u64]) -> Result<()> {
        for at in self.rooms.torn() {
            if numbers.contains(&self.number(at)?) {
                let source = io::Error::other("a write over this chunk has failed before");
                return Err(Error::Write { at, len: 0, source });
            }
        }
        Ok(())
    }

    /// Writes at a position of the frame, after the appended bytes: now, or before the next write
    /// of other bytes.
    pub(super) fn write_after(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.has_tail = true;
        let (at, len) = (self.base.saturating_add(at), bytes.len() as u64);
        self.store.append_at(at, bytes).map_err(|source| Error::Write { at, len, source })
    }

    /// Writes at a position of the frame.
    pub(super) fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (at, len) = (self.base.saturating_add(at), bytes.len() as u64);
        self.store.write_at(at, bytes).map_err(|source| Error::Write { at, len, source })
    }

    /// Makes all written bytes as durable as the caller requires.
    pub(super) fn sync(&self) -> Result<()> {
        if self.durability.needs_sync() {
            return self.store.sync().map_err(|source| self.write_error(source));
        }
        Ok(())
    }

    /// Cuts the store at the end of the frame.
    pub(super) fn cut(&mut self, frame_len: u64) -> Result<()> {
        let len = self.base.saturating_add(frame_len);
        self.rooms.settle();
        self.store.set_len(len).map_err(|source| self.write_error(source))?;
        (self.end, self.has_tail) = (frame_len, false);
        self.turn.note_len(len);
        Ok(())
    }

    /// Notes that readers may see the new frame of `frame_len` bytes, or still the old one: a
    /// failed write may have succeeded. Neither is overwritten or cut off.
    pub(super) fn protect(&mut self, frame_len: u64) {
        self.rooms.settle();
        self.committed =
            self.committed.map(|committed| committed.max(frame_len)).or(Some(frame_len));
        self.end = self.end.max(frame_len);
    }

    /// Notes that readers now see a frame with this header.
    pub(super) fn commit(&mut self, header: &FrameHeader) {
        self.rooms.settle();
        self.header_len = header.header_len().into();
        self.committed = Some(header.frame_len());
        self.is_new = false;
        (self.end, self.has_tail) = (header.frame_len(), false);
    }

    /// Removes the leftovers of an interrupted writer before others overwrite them: a mixture must
    /// not look like a frame.
    fn cut_leftovers(&mut self) -> Result<()> {
        if self.committed != Some(self.end) {
            return Ok(());
        }
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        if len <= self.base.saturating_add(self.end) {
            return Ok(());
        }
        if !self.header_is_known() {
            return Err(self.turn.note_foreign());
        }
        self.cut(self.end)
    }

    /// Whether the store has the length of its known content and of the appended bytes.
    pub(super) fn has_known_len(&self) -> Result<bool> {
        let len = self.store.len().map_err(|source| Error::Open { source })?;
        Ok(len == self.turn.known_len().max(self.base.saturating_add(self.end)))
    }

    /// Whether the header is the known one.
    fn header_is_known(&self) -> bool {
        let Some(known) = self.turn.known_header() else { return true };
        self.source().read_vec(0, known.len()).is_ok_and(|header| header == known)
    }

    fn write_error(&self, source: io::Error) -> Error {
        Error::Write { at: self.base.saturating_add(self.end), len: 0, source }
    }
}

impl Drop for FrameFile {
    /// Removes uncommitted bytes. If that fails they stay after the frame, where readers do not
    /// look.
    fn drop(&mut self) {
        if self.turn.is_foreign() || !self.header_is_known() {
            return;
        }
        let _ = match self.committed {
            Some(frame_len) if self.has_tail || frame_len < self.end => self.cut(frame_len),
            // A new file keeps its bytes, for a rescue.
            _ => self.store.flush().map_err(|source| self.write_error(source)),
        };
    }
}

/// Whether an interrupted writer can have left bytes with this beginning. It writes a chunk first,
/// which begins with its version, or a trailer if it changes metadata alone. The system may have
/// kept zeros in their place.
fn may_be_leftover(kind: Kind, head: &[u8]) -> bool {
    match (kind, head) {
        (Kind::Empty | Kind::Chunk, _) => true,
        (Kind::Unknown, [1..=6, rest @ ..]) => rest.len() < 15,
        (Kind::Unknown, [0x94, rest @ ..]) => matches!(rest, [] | [0x01, ..]),
        (Kind::Unknown, _) => head.iter().all(|byte| *byte == 0),
        _ => false,
    }
}
