//! Looks for damage: decodes all chunks, and continues after a bad one.

use core::cell::RefCell;
use core::ops::Range;

use blosc_chunk::{Chunk, ChunkHeader, error::Blame};
use blosc_container::parallel::{Job, in_order};
use blosc_container::report::{Progress, VerifyOptions};

use super::ordered::{Part, Parts};
use super::{Buffers, Fetched, Location, SChunk, Scratch};
use crate::error::{Corrupt, Error, Result};
use crate::nd::{Geometry, Padding};
use crate::offsets::Offset;
use crate::seal::{ChunkSums, SealState, chunk_term};

/// The report of verifying a frame.
pub type VerifyReport = blosc_container::report::Report<Error, Note>;

/// A chunk that could not be read.
pub type BadChunk = blosc_container::report::BadChunk<Error>;

/// Something odd that is readable nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// The header of a chunk has another block size than its blocks, as some releases of C-Blosc2
    /// 3.x write. C-Blosc2 cannot read such a chunk.
    #[error(
        "chunk {nchunk} at byte {offset}: the header says blocks of {stored} bytes, \
         they have {used}"
    )]
    Blocksize {
        /// Number of the chunk.
        nchunk: u64,
        /// Position of its start in the file (bytes).
        offset: u64,
        /// Block size in the header (bytes).
        stored: usize,
        /// Block size that was used (bytes).
        used: usize,
    },
    /// The header was changed after sealing; all other parts are as sealed.
    #[error("the header was changed after the frame was sealed: by another program, or damaged")]
    HeaderChanged,
    /// The frame was sealed, and a program without support for seals has changed it.
    #[error("another program has changed the frame, which is not sealed any more")]
    SealBroken,
    /// Chunks of an array whose padding holds items. The format has zeros there. An array that was
    /// made smaller keeps its old items, and C-Blosc2 shows them again when the array grows.
    #[error(
        "{nchunks} {}, the first is {nchunk}: items outside of the shape of the array are not \
         zero: from before it was made smaller, or what was in memory",
        if *nchunks == 1 { "chunk" } else { "chunks" }
    )]
    HiddenItems {
        /// Number of the first such chunk.
        nchunk: u64,
        /// Number of such chunks.
        nchunks: u64,
    },
    /// A run stored as a chunk of 32 bytes. C-Blosc2 expects such runs in the index and cannot read
    /// the chunk.
    #[error("chunk {nchunk} at byte {offset}: a run stored as a chunk, not in the index")]
    StoredRun {
        /// Number of the chunk.
        nchunk: u64,
        /// Position of its start in the file (bytes).
        offset: u64,
    },
}

impl SChunk {
    /// Decodes every chunk and vlmetalayer and reports the unreadable ones. `progress` is called
    /// now and then.
    ///
    /// The report holds all errors of the frame; the call itself never fails.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        mut progress: impl FnMut(Progress),
    ) -> VerifyReport {
        self.unwatched().verify_all(options, &mut progress)
    }

    fn verify_all(
        &self,
        options: &VerifyOptions,
        mut progress: &mut dyn FnMut(Progress),
    ) -> VerifyReport {
        let mut report = VerifyReport::default();
        report.nchunks = self.nchunks();
        if self.is_sealed() {
            (report.checksum, report.nsummed) = (Some("xxh3"), report.nchunks);
        }
        self.verify_metadata(&mut report);
        let mut sums = None;
        if self.state.index().is_repeated() && self.nchunks() > 1 {
            self.verify_repeated(options, &mut report, &mut progress);
        } else {
            sums = ChunkSums::new(self);
            let nchunks = 0..self.nchunks();
            self.verify_chunks(nchunks, options, &mut report, &mut progress, sums.as_mut());
        }
        if report.is_ok() && report.nbytes != self.nbytes() {
            let what = Corrupt::SumOfChunks { found: report.nbytes, expected: self.nbytes() };
            report.other.push(Error::Corrupt { at: self.state.source().position(0x1e), what });
        }
        let state = sums.map_or_else(|| self.seal_state(), |sums| self.compare_sums(sums));
        self.verify_seal(state, options, &mut report);
        progress(Progress { nchunks: report.nchunks, nbytes: report.nbytes });
        report
    }

    /// Bytes of data that [`verify`](Self::verify) decodes. Runs in the index do not count; if all
    /// chunks are the same chunk, it counts once.
    #[must_use]
    pub fn nbytes_to_verify(&self) -> u64 {
        let nbytes_of = |nchunk| match self.offset_of(nchunk) {
            Ok(Offset::Special(_)) => 0,
            _ => self.chunk_nbytes(nchunk).unwrap_or(0) as u64,
        };
        let nchunks = self.nchunks();
        match self.chunksize().fixed() {
            // Only the headers of chunks store their sizes.
            None => self.nbytes(),
            Some(_) if self.state.index().is_repeated() && nchunks > 1 => {
                nbytes_of(0).saturating_add(nbytes_of(nchunks.saturating_sub(1)))
            }
            Some(_) => (0..nchunks).map(nbytes_of).fold(0, u64::saturating_add),
        }
    }

    /// Looks for damage without decoding data: every chunk must be at the position in the index,
    /// with a valid header and all its bytes. In a sealed frame the bytes must be as sealed. If all
    /// chunks are the same chunk, it is checked once.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, to_cframe};
    ///
    /// let mut frame = to_cframe(&[7; 1000], &FrameParams::default())?;
    /// SChunk::from_cframe(frame.clone())?.check()?;
    /// let offset = SChunk::from_cframe(frame.clone())?.chunk_info(0)?.offset;
    /// if let Some(header) = offset.and_then(|at| frame.get_mut(usize::try_from(at).ok()?)) {
    ///     *header = 0;
    /// }
    /// assert!(SChunk::from_cframe(frame)?.check().is_err());
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error found: the position or header of a chunk, or a sum; the error of the
    /// storage.
    pub fn check(&self) -> Result<()> {
        let nchunks = self.nchunks();
        let last = nchunks.saturating_sub(1);
        match self.state.index().is_repeated() && nchunks > 1 {
            true => [0, last].into_iter().try_for_each(|nchunk| self.locate(nchunk).map(drop))?,
            false => (0..nchunks).try_for_each(|nchunk| self.locate(nchunk).map(drop))?,
        }
        match self.seal_state()? {
            SealState::BodyDamaged { chunks } => Err(self.sum_error(chunks.first().copied())),
            SealState::SealDamaged => Err(self.seal_error(Corrupt::Seal)),
            _ => Ok(()),
        }
    }

    /// The error for changed bytes of a chunk, or of another part of the body.
    pub(crate) fn sum_error(&self, nchunk: Option<u64>) -> Error {
        let Some(nchunk) = nchunk else { return self.seal_error(Corrupt::BodySum) };
        let at = self.stored_at(nchunk).unwrap_or(0);
        Error::Corrupt { at, what: Corrupt::ChunkSum { nchunk } }
    }

    pub(crate) fn seal_error(&self, what: Corrupt) -> Error {
        let at = self.frame_len().saturating_sub(16);
        Error::Corrupt { at: self.state.source().position(at), what }
    }

    /// Reports the result of the comparison with the seal.
    fn verify_seal(
        &self,
        state: Result<SealState>,
        options: &VerifyOptions,
        report: &mut VerifyReport,
    ) {
        let note = match state {
            Ok(SealState::BodyDamaged { chunks }) => {
                if chunks.is_empty() && report.is_ok() {
                    report.other.push(self.sum_error(None));
                }
                for nchunk in chunks {
                    let (offset, error) = (self.stored_at(nchunk), self.sum_error(Some(nchunk)));
                    if let Some(bad) = report.bad.iter_mut().find(|bad| bad.nchunk == nchunk) {
                        // In a sealed frame an unknown codec or filter is damage.
                        if bad.error.blame() != Blame::Data {
                            bad.error = error;
                        }
                        continue;
                    }
                    report.add_bad(BadChunk { nchunk, offset, error }, options.max_reported);
                }
                return;
            }
            Ok(SealState::SealDamaged) => {
                return report.other.push(self.seal_error(Corrupt::Seal));
            }
            Ok(SealState::HeaderChanged) => Note::HeaderChanged,
            Ok(SealState::BrokenByOtherWriter) => Note::SealBroken,
            Ok(_) => return,
            Err(error) => return report.other.push(error),
        };
        if report.notes.len() < options.max_reported {
            report.notes.push(note);
        }
    }

    fn verify_metadata(&self, report: &mut VerifyReport) {
        let vlmeta = self.vlmeta();
        report.other.extend(vlmeta.stored().iter().filter_map(|layer| vlmeta.decode(layer).err()));
        report.other.extend(self.nd_meta().err());
    }

    /// Verifies a frame in which all chunks except the last are the same chunk: it is checked once,
    /// since there may be millions.
    fn verify_repeated(
        &self,
        options: &VerifyOptions,
        report: &mut VerifyReport,
        progress: &mut dyn FnMut(Progress),
    ) {
        let last = self.nchunks().saturating_sub(1);
        match self.locate(0) {
            Ok(Location::Special { nbytes, .. }) => report.nbytes = nbytes as u64,
            _ => self.verify_chunks(0..1, options, report, progress, None),
        }
        report.nbytes = report.nbytes.saturating_mul(last);
        report.nbad = report.nbad.saturating_mul(last);
        match self.locate(last) {
            Ok(Location::Special { nbytes, .. }) => {
                report.nbytes = report.nbytes.saturating_add(nbytes as u64)
            }
            _ => self.verify_chunks(last..self.nchunks(), options, report, progress, None),
        }
    }

    fn verify_chunks(
        &self,
        nchunks: Range<u64>,
        options: &VerifyOptions,
        report: &mut VerifyReport,
        progress: &mut dyn FnMut(Progress),
        sums: Option<&mut ChunkSums>,
    ) {
        let has_sums = sums.is_some();
        let meta = self.nd_meta().ok().flatten().filter(|_| !nchunks.is_empty());
        let geometry = meta.map(|meta| Geometry::new(&meta, self.typesize()));
        let mut parts = Parts::new(self, nchunks, &options.budget);
        let buffers = RefCell::new(Vec::<Vec<u8>>::new());
        let (last_bad, last_hidden) = (None, None);
        let mut done = Done { max: options.max_reported, last_bad, last_hidden, sums, report };
        let result = in_order(
            &options.budget,
            || Ok::<_, Error>(next(&mut parts, &buffers)),
            || self.pooled(),
            |scratch, job| match job {
                Found::Part(part) => self.check_part(part, has_sums, geometry.as_ref(), scratch),
                Found::Bad(nchunk, error) => Checked {
                    nchunk,
                    is_end: true,
                    nbytes: 0,
                    note: None,
                    has_hidden: false,
                    header: None,
                    term: Term::NotRead,
                    dest: vec![],
                    result: Err(error),
                },
            },
            |checked: Checked| {
                let nchunks = checked.nchunk.saturating_add(checked.is_end.into());
                buffers.borrow_mut().push(done.take(self, checked));
                progress(Progress { nchunks, nbytes: done.report.nbytes });
                Ok(())
            },
        );
        // Errors concern single chunks and are noted there, so the call has none.
        debug_assert!(result.is_ok());
    }

    /// Decodes a part and drops its data. One item of a run suffices.
    fn check_part(
        &self,
        part: Part,
        has_sums: bool,
        geometry: Option<&Geometry>,
        scratch: &mut Scratch,
    ) -> Checked {
        let Part { nchunk, range, location, mut dest } = part;
        let needed = match location {
            Location::Special { .. } => {
                range.start..range.start.saturating_add(self.typesize()).min(range.end)
            }
            Location::Stored { .. } => range.clone(),
        };
        dest.resize(needed.len(), 0);
        let Buffers { bytes, chunk, .. } = scratch.parts();
        let fetched = self.fetch(nchunk, &location, core::slice::from_ref(&needed), bytes);
        let is_first = range.start == 0;
        let blocksize = fetched.as_ref().ok().and_then(Fetched::blocksize);
        let note = if is_first { note(nchunk, &location, blocksize) } else { None };
        let is_stored = matches!(location, Location::Stored { .. });
        let term = if has_sums && is_first && is_stored {
            let whole = fetched.as_ref().ok().and_then(Fetched::whole);
            self.find_term(nchunk, whole.map(Chunk::bytes))
        } else {
            Term::Nothing
        };
        let result = fetched.and_then(|it| it.decode(needed, &mut dest, chunk));
        let is_end = range.end == location.nbytes();
        let is_data =
            matches!(&location, Location::Stored { header, .. } if header.special().is_none());
        let padding = geometry.filter(|_| is_data && result.is_ok());
        let padding = padding.and_then(|geometry| Padding::new(geometry, nchunk));
        let has_hidden = padding.is_some_and(|it| it.holds_items(range.start as u64, &dest));
        let header = match location {
            Location::Stored { header, .. } if is_first => Some(header),
            _ => None,
        };
        let nbytes = range.len() as u64;
        Checked { nchunk, is_end, nbytes, note, has_hidden, header, term, dest, result }
    }

    /// The term of a stored chunk, if these bytes are all of it.
    fn find_term(&self, nchunk: u64, bytes: Option<&[u8]>) -> Term {
        match (self.offset_of(nchunk), bytes) {
            (Ok(Offset::Stored(number)), Some(bytes)) => Term::Read(chunk_term(number, bytes)),
            _ => Term::NotRead,
        }
    }
}

/// The note for a chunk whose blocks have this size, if it is unusual.
fn note(nchunk: u64, location: &Location, blocksize: Option<usize>) -> Option<Note> {
    let Location::Stored { source, at, header } = location else { return None };
    let offset = source.position(*at);
    if header.special().is_some() && header.cbytes() == ChunkHeader::MAX_LEN {
        return Some(Note::StoredRun { nchunk, offset });
    }
    let (stored, used) = (header.blocksize(), blocksize?);
    (used != stored).then_some(Note::Blocksize { nchunk, offset, stored, used })
}

/// A part or chunk to check.
enum Found {
    Part(Part),
    /// A chunk whose position is already wrong.
    Bad(u64, Error),
}

/// The result of a check.
struct Checked {
    nchunk: u64,
    /// Whether this is the last part of the chunk.
    is_end: bool,
    nbytes: u64,
    note: Option<Note>,
    /// Whether the chunk has items outside of the shape of the array.
    has_hidden: bool,
    /// The header of a stored chunk, with its first part.
    header: Option<ChunkHeader>,
    term: Term,
    dest: Vec<u8>,
    result: Result<()>,
}

/// The contribution of a part to the sum of its chunk.
enum Term {
    /// None: this is not the first part, the chunk is not stored, or there is no seal.
    Nothing,
    Read(u128),
    /// The bytes were not all read at once.
    NotRead,
}

/// The next part of a chunk, or a chunk without parts because it was not found.
fn next(parts: &mut Parts<'_>, buffers: &RefCell<Vec<Vec<u8>>>) -> Option<Job<Found>> {
    let nchunk = parts.next_chunk();
    match parts.next() {
        Ok(None) => None,
        Ok(Some(Job { job: mut part, weight })) => {
            part.dest = buffers.borrow_mut().pop().unwrap_or_default();
            Some(Job { job: Found::Part(part), weight })
        }
        Err(error) => Some(Job { job: Found::Bad(nchunk, error), weight: 0 }),
    }
}

/// Collects results.
struct Done<'a> {
    max: usize,
    last_bad: Option<u64>,
    last_hidden: Option<u64>,
    sums: Option<&'a mut ChunkSums>,
    report: &'a mut VerifyReport,
}

impl Done<'_> {
    /// Notes a result and returns its buffer.
    fn take(&mut self, schunk: &SChunk, checked: Checked) -> Vec<u8> {
        let Checked { nchunk, nbytes, note, has_hidden, header, term, dest, result, .. } = checked;
        match (&mut self.sums, term) {
            (Some(sums), Term::Read(term)) => sums.add(nchunk, term, 1),
            (Some(sums), Term::NotRead) => sums.pending.push(nchunk),
            _ => {}
        }
        let report = &mut *self.report;
        report.notes.extend(note.filter(|_| report.notes.len() < self.max));
        // Further parts of a chunk do not count as chunks.
        if has_hidden && self.last_hidden != Some(nchunk) {
            self.last_hidden = Some(nchunk);
            let is_known = |note: &&mut Note| matches!(note, Note::HiddenItems { .. });
            match report.notes.iter_mut().find(is_known) {
                Some(Note::HiddenItems { nchunks, .. }) => *nchunks = nchunks.saturating_add(1),
                _ => report.notes.push(Note::HiddenItems { nchunk, nchunks: 1 }),
            }
        }
        match result {
            Ok(()) => {
                report.nbytes = report.nbytes.saturating_add(nbytes);
                if let Some(header) = header {
                    report.add_suspicions(nchunk, &header);
                }
            }
            // Further parts of a bad chunk do not count as chunks.
            Err(_) if self.last_bad == Some(nchunk) => {}
            Err(error) => {
                self.last_bad = Some(nchunk);
                let offset = schunk.stored_at(nchunk);
                report.add_bad(BadChunk { nchunk, offset, error }, self.max);
            }
        }
        dest
    }
}
