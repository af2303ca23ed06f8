//! Writes a super-chunk anew as a contiguous frame without unused bytes: for copies, and for edits
//! that have to move everything.

use std::collections::HashMap;
use std::path::Path;

use blosc_io::{FileStore, Lock, LockWait, Sync, WriteAt};

use crate::dest::replace_file;
use crate::error::{Corrupt, Error, Result};
use crate::header::{FrameHeader, FrameType};
use crate::schunk::{ChunkBytes, SChunk};
use crate::seal::{BodySum, Ending, Mark, Moved, SealFrom, Sealed};
use crate::trailer;
use crate::writer::encode_index;

/// Writes a super-chunk to a file that replaces the one at `path`, if there is one. The new file is
/// locked before it gets the name, so that no other writer can change it in between.
pub(crate) fn write_file(
    schunk: &SChunk,
    path: &Path,
    seal: SealFrom<'_>,
) -> Result<(FileStore, Copied, Lock)> {
    replace_file(path, |temporary| {
        let mut store = FileStore::create(temporary).map_err(|source| Error::Open { source })?;
        let lock = Lock::exclusive(temporary, &LockWait::default())
            .map_err(|error| Error::not_locked(path, error))?;
        let copy = copy_live(schunk, &mut store, seal)?;
        let failed = |source| Error::Write { at: 0, len: copy.header.frame_len(), source };
        store.sync(Sync::All).map_err(failed)?;
        Ok((store, copy, lock))
    })
}

/// Writes the live parts of a super-chunk as a contiguous frame to a store, with the header last.
pub(crate) fn copy_live(
    schunk: &SChunk,
    to: &mut dyn WriteAt,
    seal: SealFrom<'_>,
) -> Result<Copied> {
    let mut places = Moved::default();
    let header_len = schunk.meta().header_len();
    let start = header_len.into();
    let mut to = Appender { to, start, at: start, waiting: Vec::new() };
    let noted = (!matches!(seal, SealFrom::Nothing)).then_some(&mut places);
    let table = to.append_chunks(schunk, noted)?;
    let mut header = schunk.header().clone();
    header.set_header_len(header_len);
    header.set_frame_type(FrameType::Contiguous);
    header.set_cbytes(to.data_len()?)?;
    let index = if table.is_empty() { vec![] } else { encode_index(&table, schunk.registries())? };
    to.append(&index)?;
    // A seal that is dropped on purpose leaves no trace.
    let no_mark = Mark::default();
    let old_mark = if matches!(seal, SealFrom::Nothing) { schunk.state().mark() } else { &no_mark };
    if let SealFrom::Old(old, _) = seal
        && !places.is_right(old)
    {
        schunk.open_options().mismatch.found(schunk.seal_error(Corrupt::BodySum))?;
    }
    let seal = places.seal(seal);
    let ending = Ending {
        seal: seal.as_ref(),
        old_mark,
        meta: schunk.meta(),
        vlmeta: schunk.vlmeta().stored(),
        numbers: &table,
        index_len: index.len() as u64,
        registries: schunk.registries(),
    };
    let Sealed { trailer, mark } = ending.encode(&mut header, to.at, &index)?;
    to.append(&trailer)?;
    to.finish(&header.encode_with(schunk.meta())?)?;
    let (index_len, trailer_len) = (index.len() as u64, trailer::len(&trailer));
    Ok(Copied { header, table, index_len, trailer_len, seal, mark })
}

/// The parts of the new frame that differ from the old one's.
pub(crate) struct Copied {
    pub header: FrameHeader,
    pub table: Vec<u64>,
    pub index_len: u64,
    pub trailer_len: u32,
    pub seal: Option<BodySum>,
    pub mark: Mark,
}

/// Short chunks are collected up to this size before they are written (bytes).
const TOGETHER_NBYTES: usize = 256 << 10;

/// Writes at consecutive positions of a store.
struct Appender<'a> {
    to: &'a mut dyn WriteAt,
    /// Position of the data section.
    start: u64,
    /// Position of the next bytes.
    at: u64,
    /// Bytes before `at` that are not written yet.
    waiting: Vec<u8>,
}

impl Appender<'_> {
    /// Length of the data section so far (bytes).
    fn data_len(&self) -> Result<u64> {
        self.at.checked_sub(self.start).ok_or(Error::internal("a chunk lies within the header"))
    }

    /// Appends each stored chunk once, and returns the index of the copy. For a seal, `places`
    /// receives all moves.
    fn append_chunks(
        &mut self,
        schunk: &SChunk,
        mut places: Option<&mut Moved>,
    ) -> Result<Vec<u64>> {
        let (mut table, mut moved) = (schunk.offsets()?, HashMap::new());
        for (nchunk, number) in (0..).zip(&mut table) {
            let ChunkBytes::Stored(bytes) = schunk.chunk(nchunk)? else { continue };
            let new = match moved.get(number) {
                Some(new) => {
                    places.iter_mut().for_each(|places| places.note_again(*number));
                    *new
                }
                None => {
                    let new = self.data_len()?;
                    self.append(&bytes)?;
                    places.iter_mut().for_each(|places| places.note(*number, new, &bytes));
                    new
                }
            };
            moved.insert(*number, new);
            *number = new;
        }
        Ok(table)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let at = self.at;
        if self.waiting.len().saturating_add(bytes.len()) > TOGETHER_NBYTES {
            self.write_waiting()?;
        }
        if bytes.len() < TOGETHER_NBYTES {
            self.waiting.extend_from_slice(bytes);
        } else {
            write(self.to, at, bytes)?;
        }
        self.at = at.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn write_waiting(&mut self) -> Result<()> {
        let at = self.at.saturating_sub(self.waiting.len() as u64);
        write(self.to, at, &self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes the pending bytes, and the header last.
    fn finish(mut self, header: &[u8]) -> Result<()> {
        self.write_waiting()?;
        write(self.to, 0, header)
    }
}

fn write(to: &mut dyn WriteAt, at: u64, bytes: &[u8]) -> Result<()> {
    to.write_at(at, bytes).map_err(|source| Error::Write { at, len: bytes.len() as u64, source })
}
