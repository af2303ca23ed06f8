//! Commits: all changes or none, whenever the machine stops.
//!
//! | way | used for a frame | step 1, invisible to readers | step 2, the commit |
//! |---|---|---|---|
//! | `AfterEnd` | with data | index, trailer after the end; sync | the header, in one write; sync |
//! | `Header` | with data, if only metalayers change | | the header, in one write; sync |
//! | `AfterHeader` | without data | trailer after the header; sync | the header; sync; cut |
//! | `Anew` | that moves, or is mostly unused bytes | all of it, to a new file; sync | a rename |
//! | `IndexFile` | sparse | chunk files, index file; sync | a rename |
//!
//! With `AfterEnd` the old index and trailer become unused bytes of the data section. Before
//! `AfterHeader`, a commit of its own moves chunks away that lie there and that readers of the old
//! frame need.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use blosc_io::MemStore;

use super::file::FrameFile;
use super::folder::FrameFolder;
use super::sealing::KeptSeal;
use super::storage::Storage;
use super::{Changed, SChunkWriter};
use crate::error::{Error, Param, Result};
use crate::header::{FIXED_LEN, FrameHeader};
use crate::offsets::Offset;
use crate::params::EditOptions;
use crate::rewrite::{copy_live, write_file};
use crate::schunk::{ChunkBytes, Draft};
use crate::seal::{Sealed, is_stored};
use crate::trailer;
use crate::writer::encode_index;

/// Bytes that a disk writes atomically.
const SECTOR_LEN: usize = 512;
/// The least length of a chunk (bytes).
const MIN_CHUNK: u64 = 32;
/// Up to this number of unused bytes a frame is not written anew.
const MAX_SMALL_NBYTES: u64 = 64 << 10;

/// The way of writing changes, and its destination: a row of the table above.
enum Way<'a> {
    AfterEnd(&'a mut FrameFile),
    Header(&'a mut FrameFile),
    AfterHeader(&'a mut FrameFile),
    Anew(&'a mut FrameFile),
    IndexFile(&'a mut FrameFolder),
}

impl SChunkWriter {
    /// Commits all changes so far. In any case, the frame afterwards is the old one or the new one.
    ///
    /// Two parts are overwritten in place if the store is not a file of its own: a header of
    /// another length ([`set_meta`](Self::set_meta)), and vlmetalayers of a frame without data.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write); [`Error::Compress`](crate::Error::Compress) for the
    /// index. The changes remain and can be committed again.
    pub fn commit(&mut self) -> Result<()> {
        self.commit_held()?;
        self.storage.turn_mut().release();
        Ok(())
    }

    /// Commits and keeps the lock.
    fn commit_held(&mut self) -> Result<()> {
        self.settle()?;
        if self.changed == Changed::default() && !self.storage.is_new() {
            self.seal.show(&mut self.frame);
            return Ok(());
        }
        self.check_unchanged()?;
        if let Storage::Contiguous(file) = &self.storage {
            file.check_untorn(self.table())?;
        }
        self.write_changes()?;
        self.changed = Changed::default();
        self.storage.note_look(&self.frame);
        Ok(())
    }

    /// Commits, and writes the frame anew without unused bytes. Returns the number of unused bytes.
    /// In a sparse frame, removes files that the index does not refer to.
    ///
    /// A new file replaces a file. Any other store is overwritten in place, which does not survive
    /// a crash of the machine.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), and the error of a chunk.
    pub fn compact(&mut self) -> Result<u64> {
        self.begin()?;
        self.commit_held()?;
        self.load_index()?;
        let before = self.frame.header().frame_len();
        let (mut publication, storage) = self.publication();
        let saved = match storage {
            Storage::Sparse(folder) => folder.chunks.sweep(publication.frame.index().as_table())?,
            Storage::Contiguous(file) => {
                publication.anew(file)?;
                before.saturating_sub(publication.frame.header().frame_len())
            }
        };
        self.storage.note_look(&self.frame);
        self.storage.turn_mut().release();
        Ok(saved)
    }

    fn write_changes(&mut self) -> Result<()> {
        if !self.frame.index().is_table() {
            let (mut publication, storage) = self.publication();
            let way = publication.way(storage);
            if publication.needs_table(&way) {
                // Runs that only the index described may become chunks; this changes the way.
                self.load_index()?;
            }
        }
        let (mut publication, storage) = self.publication();
        match publication.way(storage) {
            Way::AfterEnd(file) => publication.after_end(file),
            Way::Header(file) => publication.header_alone(file),
            Way::AfterHeader(file) => publication.after_header(file),
            Way::Anew(file) => publication.anew(file),
            Way::IndexFile(folder) => publication.index_file(folder),
        }
    }

    /// All changes except the data that are held back, and their storage.
    fn publication(&mut self) -> (Publication<'_>, &mut Storage) {
        let Self { frame, seal, changed, storage, .. } = self;
        (Publication { frame, seal, changed }, storage)
    }

    fn move_to_end(&mut self, nchunk: u64) -> Result<()> {
        if let ChunkBytes::Stored(bytes) = self.frame.snapshot().chunk(nchunk)? {
            let offset = self.store(&bytes)?;
            self.set_offset(nchunk, offset)?;
        }
        Ok(())
    }
}

/// A frame that is about to be published.
struct Publication<'a> {
    frame: &'a mut Draft,
    seal: &'a mut KeptSeal,
    changed: &'a mut Changed,
}

/// The choice of the way.
impl Publication<'_> {
    fn way<'s>(&mut self, storage: &'s mut Storage) -> Way<'s> {
        let file = match storage {
            Storage::Sparse(folder) => return Way::IndexFile(folder),
            Storage::Contiguous(file) => file,
        };
        let (header, meta) = (self.frame.header(), self.frame.meta());
        let (has_data, moves) = (header.nbytes() > 0, meta.header_len() != header.header_len());
        let is_trailer_alone = !has_data && self.has_trailer() && file.path().is_some();
        let is_bloated = has_data && self.changed.chunks && self.is_mostly_dead(file);
        if moves || is_trailer_alone || is_bloated || self.needs_long_write(file) {
            Way::Anew(file)
        } else if !has_data {
            Way::AfterHeader(file)
        } else if self.needs_index(file) || self.has_trailer() {
            Way::AfterEnd(file)
        } else {
            Way::Header(file)
        }
    }

    /// Whether the commit writes the index or needs it for the trailer.
    fn needs_table(&self, way: &Way<'_>) -> bool {
        self.changed.chunks
            || self.seal.has_chunk_sums()
            || matches!(way, Way::Anew(_) | Way::IndexFile(_))
    }

    /// Whether the index differs from the one that readers see.
    fn needs_index(&self, file: &FrameFile) -> bool {
        self.changed.chunks || file.is_new()
    }

    /// Whether the trailer, apart from the index, differs from the one that readers see. The seal
    /// in the trailer has a sum of the header.
    fn has_trailer(&self) -> bool {
        self.changed.vlmeta || self.changed.meta && self.seal.is_kept()
    }

    /// Whether the changed bytes of the header span two sectors, so that a crash could leave a
    /// mixture. Then a new file replaces the old one.
    fn needs_long_write(&self, file: &FrameFile) -> bool {
        self.changed.meta
            && file.path().is_some()
            && !file.is_new()
            && self.changed_meta_len(file) > SECTOR_LEN
    }

    /// The end of the changed bytes of the header (bytes).
    fn changed_meta_len(&self, file: &FrameFile) -> usize {
        let new = self.frame.meta().bytes();
        let Some(old) = file.turn.known_header() else { return new.len() };
        let differs = |at: &usize| old.get(*at) != new.get(*at);
        (FIXED_LEN..new.len()).rev().find(differs).map_or(FIXED_LEN, |at| at.saturating_add(1))
    }

    /// Whether more bytes of the file are unused than used, so that a commit should write it anew.
    /// Writing the unused bytes has cost as much before.
    fn is_mostly_dead(&mut self, file: &FrameFile) -> bool {
        let Ok(data_len) = file.data_len() else { return false };
        if file.path().is_none() || file.is_new() || data_len <= MAX_SMALL_NBYTES {
            return false;
        }
        let live = self.seal.live_nbytes(self.frame, data_len);
        live.is_some_and(|live| data_len.saturating_sub(live) > live.max(MAX_SMALL_NBYTES))
    }
}

/// The ways of a contiguous frame.
impl Publication<'_> {
    /// Writes index and trailer after everything, then the header.
    fn after_end(&mut self, file: &mut FrameFile) -> Result<()> {
        let (mut header, start) = (self.frame.header().clone(), file.end());
        let (mut at, mut index_len, mut bytes) = (start, self.frame.index().cbytes(), vec![]);
        let lead = if self.needs_index(file) {
            bytes = encode_index(self.frame.index().as_table(), self.frame.registries())?;
            index_len = bytes.len() as u64;
            at = start.saturating_add(index_len);
            header.set_cbytes(file.data_len()?)?;
            &bytes
        } else {
            &self.read_lead(file)?
        };
        let Sealed { trailer, mark } =
            self.seal.encode_trailer(self.frame, &mut header, at, lead, index_len)?;
        bytes.extend(&trailer);
        // A failure changes nothing: these bytes become part of the frame only with the header.
        file.write_after(start, &bytes)?;
        file.sync()?;
        self.write_header(file, header, index_len, trailer::len(&trailer))?;
        self.seal.note_sealed(self.frame, mark);
        Ok(())
    }

    /// Reads the bytes between the chunks and the next trailer, where the index stays: the seal
    /// needs them.
    fn read_lead(&self, file: &FrameFile) -> Result<Vec<u8>> {
        if !self.seal.is_kept() {
            return Ok(vec![]);
        }
        let start = self.frame.index().position();
        let len = file.end().checked_sub(start).and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or(Error::internal("the index lies after the frame"))?;
        file.source().read_vec(start, len)
    }

    /// Writes only the header: neither index nor trailer change.
    fn header_alone(&mut self, file: &mut FrameFile) -> Result<()> {
        let (header, index_len) = (self.frame.header().clone(), self.frame.index().cbytes());
        self.write_header(file, header, index_len, self.frame.trailer_len())
    }

    /// Writes the trailer right after the header, after moving away what readers still need.
    fn after_header(&mut self, file: &mut FrameFile) -> Result<()> {
        let mut header = self.frame.header().clone();
        let header_len = u64::from(header.header_len());
        header.set_cbytes(0)?;
        let Sealed { trailer, mark } =
            self.seal.encode_trailer(self.frame, &mut header, header_len, &[], 0)?;
        if self.needs_index(file) || self.changed.vlmeta || self.seal.is_kept() {
            self.vacate(file, trailer.len() as u64)?;
            file.write(header_len, &trailer)?;
            file.sync()?;
        }
        self.write_header(file, header, 0, trailer::len(&trailer))?;
        self.seal.note_sealed(self.frame, mark);
        file.cut(self.frame.header().frame_len())
    }

    /// Moves away the chunks that readers need from the first bytes after the header, in a commit
    /// of its own.
    fn vacate(&self, file: &mut FrameFile, nbytes: u64) -> Result<()> {
        let Some(frame_len) = file.committed() else { return Ok(()) };
        file.cut(frame_len)?;
        let options = EditOptions {
            durability: file.durability,
            open: self.frame.options().clone().offset(file.base),
            ..EditOptions::default()
        };
        let mut old = SChunkWriter::open_shared(file.store.clone(), &options)?;
        if old.frame.header().nbytes() == 0 {
            return Ok(());
        }
        old.lock()?;
        old.load_index()?;
        for nchunk in 0..old.frame.nchunks() {
            let offset = old.frame.snapshot().offset_of(nchunk)?;
            if matches!(offset, Offset::Stored(offset) if offset < nbytes) {
                old.move_to_end(nchunk)?;
            }
        }
        // The index must move even if no chunk does.
        old.changed.chunks = true;
        file.turn.forget_look();
        old.commit()?;
        file.commit(old.frame.header());
        Ok(())
    }

    /// Writes the header, which makes the commit, and notes the frame as committed.
    fn write_header(
        &mut self,
        file: &mut FrameFile,
        header: FrameHeader,
        index_len: u64,
        trailer_len: u32,
    ) -> Result<()> {
        let mut bytes = header.encode_with(self.frame.meta())?;
        let has_meta = self.changed.meta || file.is_new();
        bytes.truncate(if has_meta { self.changed_meta_len(file) } else { FIXED_LEN });
        file.protect(header.frame_len());
        file.turn.forget_look();
        file.write(0, &bytes)?;
        file.sync()?;
        file.commit(&header);
        self.frame.change().set_written(header, index_len, trailer_len);
        Ok(())
    }

    /// Writes the frame anew: to a file that replaces this one, or else over it.
    fn anew(&mut self, file: &mut FrameFile) -> Result<()> {
        let (schunk, seal) = (self.frame.snapshot(), self.seal.source());
        let copy = match file.path().map(Path::to_path_buf) {
            Some(path) => {
                file.turn.forget_look();
                let (store, copy, lock) = write_file(schunk, &path, seal)?;
                let id = store.id();
                file.replace_store(Box::new(store), id);
                file.turn.replace_lock(lock);
                copy
            }
            None => {
                let mut image = MemStore::default();
                let copy = copy_live(schunk, &mut image, seal)?;
                file.turn.forget_look();
                file.write(0, image.as_bytes())?;
                file.cut(copy.header.frame_len())?;
                file.sync()?;
                copy
            }
        };
        file.commit(&copy.header);
        let frame = self.frame.change();
        frame.set_table(copy.table);
        frame.set_written(copy.header, copy.index_len, copy.trailer_len);
        self.seal.set_sum(copy.seal);
        self.seal.note_sealed(self.frame, copy.mark);
        Ok(())
    }
}

/// The way of a sparse frame.
impl Publication<'_> {
    /// The new chunk files are written already; a new index replaces the old one. A second commit
    /// renumbers the files if C-Blosc2 would refuse their numbers.
    fn index_file(&mut self, folder: &mut FrameFolder) -> Result<()> {
        self.publish_index(folder)?;
        if self.lower_numbers(folder)? { self.publish_index(folder) } else { Ok(()) }
    }

    fn publish_index(&mut self, folder: &mut FrameFolder) -> Result<()> {
        let table = self.frame.index().as_table();
        let index = match table {
            [] => vec![],
            table => encode_index(table, self.frame.registries())?,
        };
        let (mut header, index_len) = (self.frame.header().clone(), index.len() as u64);
        // `cbytes` of a frame without data is 0.
        let cbytes = header.cbytes();
        let least = self.largest_number().map_or(0, |id| id.saturating_add(MIN_CHUNK));
        header.set_cbytes(cbytes.max(least))?;
        let at = u64::from(header.header_len()).saturating_add(index_len);
        let Sealed { trailer, mark } =
            self.seal.encode_trailer(self.frame, &mut header, at, &index, index_len)?;
        let lead = header.encode_with(self.frame.meta())?;
        folder.publish(&[lead, index, trailer.clone()].concat(), table)?;
        header.set_cbytes(cbytes)?;
        self.frame.change().set_written(header, index_len, trailer::len(&trailer));
        self.seal.note_sealed(self.frame, mark);
        *self.changed = Changed::default();
        Ok(())
    }

    /// Gives chunks lower numbers if C-Blosc2 would refuse some: it checks the numbers of files
    /// against the bound for positions in a data section. This happens after many changes of a few
    /// tiny chunks. Returns whether numbers changed.
    ///
    /// Until the commit after this one, and if there are not enough numbers, the header claims more
    /// compressed bytes than there are. A reader that still has the old index finds another chunk
    /// under the number.
    fn lower_numbers(&mut self, folder: &mut FrameFolder) -> Result<bool> {
        let bound = self.frame.header().cbytes().saturating_sub(MIN_CHUNK);
        if self.largest_number().is_none_or(|id| id <= bound) {
            return Ok(false);
        }
        let table = self.frame.index().as_table().to_vec();
        let used: HashSet<u64> = table.iter().copied().collect();
        let is_free = |id: &u64| !used.contains(id) && !folder.chunks.has(*id);
        let free: Vec<u64> = (0..=bound).filter(is_free).take(table.len()).collect();
        let (mut free, mut moved) = (free.into_iter(), HashMap::new());
        for (nchunk, old) in (0..).zip(table) {
            if !is_stored(old) || old <= bound {
                continue;
            }
            let new = match moved.get(&old) {
                Some(new) => *new,
                None => match free.next() {
                    Some(new) => self.copy_file(folder, nchunk, new)?,
                    None => break,
                },
            };
            moved.insert(old, new);
            self.renumber(folder, nchunk, old, new)?;
        }
        Ok(!moved.is_empty())
    }

    /// Writes a chunk to the file of another number.
    fn copy_file(&mut self, folder: &mut FrameFolder, nchunk: u64, id: u64) -> Result<u64> {
        let ChunkBytes::Stored(bytes) = self.frame.snapshot().chunk(nchunk)? else {
            return Err(Error::internal("a run has the number of a file"));
        };
        folder.chunks.create_as(u32::try_from(id).map_err(|_| Param::NoChunkId)?, &bytes)?;
        self.seal.note_stored(id, &bytes);
        self.frame.change().add_file(bytes.len() as u64);
        Ok(id)
    }

    /// Makes the index refer to a chunk by another number.
    fn renumber(
        &mut self,
        folder: &mut FrameFolder,
        nchunk: u64,
        old: u64,
        new: u64,
    ) -> Result<()> {
        self.seal.remove(self.frame, nchunk, old)?;
        self.seal.add(new)?;
        let frame = self.frame.change();
        frame.subtract_file(folder.forget(old));
        self.changed.chunks = true;
        frame.set_number(nchunk, new)
    }

    /// The largest number of a chunk's file.
    fn largest_number(&self) -> Option<u64> {
        let numbers = self.frame.index().as_table().iter();
        numbers.copied().filter(|number| is_stored(*number)).max()
    }
}
