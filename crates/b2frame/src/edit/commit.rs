//! Making changes count: all of them or none, whenever the machine stops.
//!
//! | step | writes | a reader sees |
//! |---|---|---|
//! | 1 | new chunks, index, trailer after the frame | the old frame, with bytes after it |
//! | 2 | sync | the old frame |
//! | 3 | the header, in one write | the new frame |
//! | 4 | sync | the new frame |
//!
//! The old index and trailer become unused bytes of the data section. Two things need more: a frame
//! without data has its trailer right after the header, so chunks that lie there are moved away
//! first; a header of another length moves everything, so a new file takes the place of the old
//! one.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use blosc_io::MemStore;

use super::{Changed, SChunkWriter};
use crate::error::{Error, Param, Result};
use crate::header::{FIXED_LEN, FrameHeader};
use crate::offsets::Offset;
use crate::params::EditOptions;
use crate::rewrite::{Copied, copy_live, write_file};
use crate::schunk::ChunkBytes;
use crate::seal::{Sealed, is_stored};
use crate::sparse::ReadOnly;
use crate::trailer;
use crate::writer::encode_index;

/// What a disk writes as a whole (bytes).
const SECTOR_LEN: usize = 512;
/// The least length of a chunk (bytes).
const MIN_CHUNK: u64 = 32;

impl SChunkWriter {
    /// Makes all changes so far count. Whatever happens, the frame is as it was before or as it is
    /// after.
    ///
    /// There are two exceptions, for stores that are no file of their own: a header of another
    /// length ([`set_meta`](Self::set_meta)), and vlmetalayers of a frame without data, are
    /// overwritten in place.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write); [`Error::Compress`](crate::Error::Compress) for the
    /// index. The changes are still there and can be committed again.
    pub fn commit(&mut self) -> Result<()> {
        self.commit_held()?;
        self.held = None;
        Ok(())
    }

    /// Commits and keeps the lock.
    fn commit_held(&mut self) -> Result<()> {
        self.settle()?;
        if self.changed == Changed::default() && !self.file.is_new() {
            self.show_seal();
            return Ok(());
        }
        self.check_unchanged()?;
        self.check_untorn()?;
        self.write_changes()?;
        self.changed = Changed::default();
        self.note_look();
        Ok(())
    }

    /// Refuses a chunk over which a write has failed: what readers see stays as it was.
    fn check_untorn(&self) -> Result<()> {
        let header_len = u64::from(self.frame.header().header_len());
        let is_named = |at: &u64| self.table().contains(&at.saturating_sub(header_len));
        let Some(at) = self.file.torn().find(is_named) else { return Ok(()) };
        let source = io::Error::other("a write over this chunk has failed before");
        Err(Error::Write { at, len: 0, source })
    }

    fn write_changes(&mut self) -> Result<()> {
        if self.files.is_some() {
            return self.commit_files();
        }
        let is_longer = self.frame.meta().header_len() != self.frame.header().header_len();
        let has_trailer = self.changed.vlmeta || self.changed.meta && self.seal.is_some();
        let is_trailer_alone =
            self.frame.header().nbytes() == 0 && has_trailer && self.file.path().is_some();
        let is_bloated =
            self.changed.chunks && self.frame.header().nbytes() > 0 && self.is_mostly_dead();
        if is_longer || is_trailer_alone || self.needs_long_write() || is_bloated {
            self.rewrite()
        } else if self.frame.header().nbytes() > 0 {
            self.commit_data()
        } else {
            self.commit_empty()
        }
    }

    /// Whether what changes in the header does not lie in one sector, so that a crash could leave
    /// a mixture: then a new file takes the place of a file.
    fn needs_long_write(&self) -> bool {
        self.changed.meta
            && self.file.path().is_some()
            && !self.file.is_new()
            && self.changed_meta_len() > SECTOR_LEN
    }

    /// Up to where the header changes (bytes).
    fn changed_meta_len(&self) -> usize {
        let new = self.frame.meta().bytes();
        let Some(old) = self.file.known().map(|known| &known.header) else {
            return new.len();
        };
        let differs = |at: &usize| old.get(*at) != new.get(*at);
        (FIXED_LEN..new.len()).rev().find(differs).map_or(FIXED_LEN, |at| at.saturating_add(1))
    }

    /// Commits, and writes the frame anew without bytes that nothing refers to. Says how many those
    /// were. Of a sparse frame, removes files that nothing refers to.
    ///
    /// A file is replaced by another one; what is no file of its own is overwritten in place, which
    /// a crash of the machine would not survive.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), and what is wrong with a chunk.
    pub fn compact(&mut self) -> Result<u64> {
        self.begin()?;
        self.commit_held()?;
        self.load_index()?;
        let saved = match &mut self.files {
            Some(files) => files.sweep(self.frame.index().as_table())?,
            None => {
                let before = self.frame.header().frame_len();
                self.rewrite()?;
                before.saturating_sub(self.frame.header().frame_len())
            }
        };
        self.held = None;
        Ok(saved)
    }

    /// Index and trailer after everything, then the header.
    fn commit_data(&mut self) -> Result<()> {
        let is_new = self.file.is_new();
        let (mut header, start) = (self.frame.header().clone(), self.file.end());
        let mut index_len = self.frame.index().cbytes();
        let mut bytes = vec![];
        if self.changed.chunks || is_new {
            self.load_index()?;
            bytes = encode_index(self.table(), self.frame.registries())?;
            index_len = bytes.len() as u64;
            header.set_cbytes(start.saturating_sub(header.header_len().into()));
        }
        // The header has a sum there.
        let has_header_sum = self.changed.meta && self.seal.is_some();
        if self.changed.chunks || self.changed.vlmeta || is_new || has_header_sum {
            let lead = if bytes.is_empty() { self.read_lead()? } else { bytes.clone() };
            let at = start.saturating_add(bytes.len() as u64);
            let Sealed { trailer, mark } =
                self.encode_trailer(&mut header, at, &lead, index_len)?;
            bytes.extend(&trailer);
            // Not yet part of the frame, so not counted before the header is written: a failure
            // changes nothing.
            self.file.write_behind(start, &bytes)?;
            self.file.sync()?;
            self.write_header(header, index_len, trailer::len(&trailer))?;
            self.note_sealed(mark);
            return Ok(());
        }
        self.write_header(header, index_len, self.frame.trailer_len())
    }

    /// What lies between the chunks and the next trailer, where the index stays: for the seal.
    fn read_lead(&mut self) -> Result<Vec<u8>> {
        if self.seal.is_none() {
            return Ok(vec![]);
        }
        if self.has_chunk_sums() {
            self.load_index()?;
        }
        let start = self.frame.index().position();
        let len = usize::try_from(self.file.end().saturating_sub(start)).unwrap_or(usize::MAX);
        self.file.source().read_vec(start, len)
    }

    /// New files are there already; a new index takes the place of the old one. Should C-Blosc2 not
    /// take the numbers of the files, the chunks then get other ones, in a commit of their own.
    fn commit_files(&mut self) -> Result<()> {
        self.commit_index_file()?;
        if self.lower_numbers()? { self.commit_index_file() } else { Ok(()) }
    }

    fn commit_index_file(&mut self) -> Result<()> {
        self.load_index()?;
        let index = match self.table() {
            [] => vec![],
            table => encode_index(table, self.frame.registries())?,
        };
        let mut header = self.frame.header().clone();
        if header.nbytes() == 0 {
            header.set_cbytes(0);
        }
        let mut written = header.clone();
        if let Some(least) = self.largest_number().map(|id| id.saturating_add(MIN_CHUNK)) {
            written.set_cbytes(least.max(written.cbytes()));
        }
        let (index_len, cbytes) = (index.len() as u64, header.cbytes());
        let at = u64::from(header.header_len()).saturating_add(index_len);
        let Sealed { trailer, mark } = self.encode_trailer(&mut written, at, &index, index_len)?;
        header = written.clone();
        header.set_cbytes(cbytes);
        let meta = self.frame.meta().bytes().get(FIXED_LEN..).unwrap_or_default();
        let image = [written.encode().as_slice(), meta, &index, &trailer].concat();
        let Some(files) = &mut self.files else { return Ok(()) };
        self.file.forget_look();
        let store = files.commit(&image)?;
        files.clean(self.frame.index().as_table());
        self.file.replace_store(Box::new(ReadOnly(store)), None);
        self.adopt(header, index_len, trailer::len(&trailer));
        self.note_sealed(mark);
        self.changed = Changed::default();
        Ok(())
    }

    /// Gives chunks lower numbers if some are above what C-Blosc2 takes, which holds the numbers of
    /// files against the bound for positions in a data section: after many changes of a few
    /// tiny chunks. Says whether it did.
    ///
    /// Until the commit after it, and where there are not enough numbers, the header claims more
    /// compressed bytes than there are. A reader that did not look at the index since then
    /// finds another chunk under the number.
    fn lower_numbers(&mut self) -> Result<bool> {
        let bound = self.frame.header().cbytes().saturating_sub(MIN_CHUNK);
        if self.largest_number().is_none_or(|id| id <= bound) {
            return Ok(false);
        }
        let table = self.table().to_vec();
        let used: HashSet<u64> = table.iter().copied().collect();
        let is_free = |id: &u64| {
            !used.contains(id) && self.files.as_ref().is_none_or(|files| !files.has(*id))
        };
        let mut free =
            (0..=bound).filter(is_free).take(table.len()).collect::<Vec<_>>().into_iter();
        let mut moved = HashMap::new();
        for (nchunk, old) in (0..).zip(table) {
            if !is_stored(old) || old <= bound {
                continue;
            }
            let new = match moved.get(&old) {
                Some(new) => *new,
                None => match free.next() {
                    Some(new) => self.copy_file(nchunk, new)?,
                    None => break,
                },
            };
            moved.insert(old, new);
            self.set_offset(nchunk, new);
        }
        Ok(!moved.is_empty())
    }

    /// Writes a chunk to the file of another number.
    fn copy_file(&mut self, nchunk: u64, id: u64) -> Result<u64> {
        if let (ChunkBytes::Stored(bytes), Some(files)) =
            (self.frame.snapshot().chunk(nchunk)?, &mut self.files)
        {
            files.create_as(u32::try_from(id).map_err(|_| Param::NoChunkId)?, &bytes)?;
            self.note_stored(id, &bytes);
            self.frame.change().add_file(bytes.len() as u64);
        }
        Ok(id)
    }

    /// The largest number of a chunk's file.
    fn largest_number(&self) -> Option<u64> {
        self.table().iter().copied().filter(|number| is_stored(*number)).max()
    }

    /// The trailer right after the header, where nothing may lie that readers still need.
    fn commit_empty(&mut self) -> Result<()> {
        let mut header = self.frame.header().clone();
        let header_len = u64::from(header.header_len());
        header.set_cbytes(0);
        let Sealed { trailer, mark } = self.encode_trailer(&mut header, header_len, &[], 0)?;
        if self.changed.chunks || self.changed.vlmeta || self.seal.is_some() || self.file.is_new() {
            self.vacate(trailer.len() as u64)?;
            self.file.write(header_len, &trailer)?;
            self.file.sync()?;
        }
        self.write_header(header, 0, trailer::len(&trailer))?;
        self.note_sealed(mark);
        self.file.cut(self.frame.header().frame_len())
    }

    /// Writes the header, which is what makes a commit, and takes the frame for committed.
    fn write_header(
        &mut self,
        header: FrameHeader,
        index_len: u64,
        trailer_len: u32,
    ) -> Result<()> {
        let mut bytes = header.encode().to_vec();
        if self.changed.meta || self.file.is_new() {
            let to = self.changed_meta_len();
            let meta = self.frame.meta().bytes().get(FIXED_LEN..to).unwrap_or_default();
            bytes.extend_from_slice(meta);
        }
        self.file.protect(header.frame_len());
        self.file.forget_look();
        self.file.write(0, &bytes)?;
        self.file.sync()?;
        self.adopt(header, index_len, trailer_len);
        Ok(())
    }

    /// The state is the committed one.
    fn adopt(&mut self, header: FrameHeader, index_len: u64, trailer_len: u32) {
        self.file.commit(header.frame_len());
        self.frame.change().set_written(header, index_len, trailer_len);
    }

    /// Moves away what readers need of the first bytes after the header, in a commit of its own.
    fn vacate(&mut self, nbytes: u64) -> Result<()> {
        let Some(frame_len) = self.file.committed() else {
            return Ok(());
        };
        self.file.cut(frame_len)?;
        let options = EditOptions { durability: self.file.durability(), ..EditOptions::default() };
        let options =
            EditOptions { open: self.frame.options().clone().offset(self.file.base()), ..options };
        let mut old = Self::open_shared(self.file.store(), &options)?;
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
        self.file.forget_look();
        old.commit()?;
        self.file.commit(old.frame.header().frame_len());
        Ok(())
    }

    fn move_to_end(&mut self, nchunk: u64) -> Result<()> {
        if let ChunkBytes::Stored(bytes) = self.frame.snapshot().chunk(nchunk)? {
            let offset = self.store(&bytes)?;
            self.set_offset(nchunk, offset);
        }
        Ok(())
    }

    /// Writes the frame anew: to a file that takes the place of this one, or else over it.
    fn rewrite(&mut self) -> Result<()> {
        self.load_index()?;
        match self.file.path().map(Path::to_path_buf) {
            Some(path) => {
                self.file.forget_look();
                let (store, copy, lock) =
                    write_file(self.frame.snapshot(), &path, self.seal_from())?;
                let id = store.id();
                self.file.replace_store(Box::new(store), id);
                self.held.get_or_insert_default().replace(lock);
                self.take_copy(copy);
                self.note_look();
                Ok(())
            }
            None => {
                let mut image = MemStore::default();
                let copy = copy_live(self.frame.snapshot(), &mut image, self.seal_from())?;
                self.file.forget_look();
                self.file.write(0, image.as_bytes())?;
                self.file.cut(copy.header.frame_len())?;
                self.file.sync()?;
                self.take_copy(copy);
                Ok(())
            }
        }
    }

    fn take_copy(&mut self, copy: Copied) {
        self.frame.change().set_table(copy.table);
        self.adopt(copy.header, copy.index_len, copy.trailer_len);
        self.seal = copy.seal;
        self.note_sealed(copy.mark);
    }
}
