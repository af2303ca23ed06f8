//! The plan of an append, computed and checked before the first write.

use blosc_chunk::ChunkHeader;
use blosc_io::ReadAt;

use super::AppendOptions;
use crate::change::{self, Seen};
use crate::chunk::CHUNK_VERSION;
use crate::metadata::Section;
use crate::offsets::ENTRY_LEN;
use crate::raw::MAGIC;
use crate::sizes::Division;
use crate::{BlpFile, Error, Header, Offsets, Param, Result, Version};

/// The bytes that an append writes, and their positions.
#[derive(Debug)]
pub(super) struct Plan {
    /// The header after the append.
    pub(super) header: Header,
    /// The data of the last chunk, which is written again.
    pub(super) old: Vec<u8>,
    /// Data to be appended (bytes).
    pub(super) new_nbytes: u64,
    /// Old and new data divided into chunks.
    pub(super) pieces: Division,
    /// Number and position of the first chunk that is written.
    pub(super) first: u64,
    pub(super) chunks_at: u64,
    /// The end of the last chunk before the append.
    chunks_end: u64,
    /// The position of the offset of the first chunk that is written.
    pub(super) entries_at: u64,
    /// New metadata and their position.
    pub(super) section: Option<(u64, Section)>,
    /// Chunks before.
    nchunks_before: u64,
    /// The state of the file that the plan is based on.
    seen: Seen,
}

impl Plan {
    pub(super) fn new<S: ReadAt>(
        file: &BlpFile<S>,
        new_nbytes: u64,
        options: &AppendOptions,
    ) -> Result<Self> {
        let header = *file.header();
        let nchunks = check(file)?;
        let chunksize = match header.chunksize {
            Some(0) | None => options.chunksize,
            Some(chunksize) => chunksize,
        };
        let first = nchunks.saturating_sub(1);
        let chunks_at =
            if nchunks == 0 { file.preamble().chunks_at } else { file.position(first)? };
        let old = if nchunks == 0 { vec![] } else { file.chunk(first)? };
        let total =
            (old.len() as u64).checked_add(new_nbytes).ok_or(too_many(nchunks, u64::MAX))?;
        let pieces = Division::new(total, chunksize)?;
        let chunks_end = file.chunks_end()?;
        if file.file_len() > chunks_end {
            check_tail(file)?;
        }
        let plan = Self {
            header,
            old,
            new_nbytes,
            pieces,
            first,
            chunks_at,
            chunks_end,
            entries_at: file.offsets_position() + first * ENTRY_LEN,
            section: section(file, options)?,
            nchunks_before: nchunks,
            seen: Seen { len: file.file_len(), parts: vec![(0, header.to_bytes().to_vec())] },
        };
        let header = plan.new_header()?;
        let mut plan = Self { header, ..plan };
        if let Some(positions) = file.offsets().and_then(Offsets::positions) {
            let unset = core::iter::repeat(u64::MAX);
            let last = positions.last().copied().into_iter().chain(unset);
            let count = usize::try_from(plan.pieces.nchunks).unwrap_or(usize::MAX);
            let entries = last.take(count).flat_map(u64::to_le_bytes);
            plan.seen.parts.push((plan.entries_at, entries.collect()));
        }
        Ok(plan)
    }

    /// Chunks that are added.
    pub(super) fn added(&self) -> u64 {
        (self.first + self.pieces.nchunks).saturating_sub(self.nchunks_before)
    }

    fn new_header(&self) -> Result<Header> {
        let (header, added) = (self.header, self.added());
        let available = header.max_app_chunks;
        if header.offsets && added > available {
            return Err(Param::NotEnoughSpace { needed: added, available }.into());
        }
        let nchunks =
            self.nchunks_before.checked_add(added).filter(|sum| i64::try_from(*sum).is_ok());
        Ok(Header {
            nchunks: Some(nchunks.ok_or(too_many(self.nchunks_before, added))?),
            max_app_chunks: if header.offsets { available - added } else { available },
            chunksize: match header.chunksize {
                // An empty file gets the chunk size of a new one.
                Some(0) => Some(self.pieces.chunksize),
                known => known,
            },
            last_chunk: Some(self.pieces.last_chunk),
            ..header
        })
    }

    /// The ranges that the append overwrites, and the greatest length of the file.
    pub(super) fn change(&self) -> change::Plan {
        let mut overwritten = vec![(0, Header::MAX_LEN as u64)];
        if self.header.offsets {
            overwritten.push((self.entries_at, self.pieces.nchunks * ENTRY_LEN));
        }
        if let Some((at, section)) = &self.section {
            overwritten.push((*at, section.len()));
        }
        overwritten.push((self.chunks_at, self.chunks_end - self.chunks_at));
        // A chunk is at most its header longer than its data.
        let per_chunk = 32 + self.header.checksum.digest_len() as u64;
        let most = (self.old.len() as u64)
            .saturating_add(self.new_nbytes)
            .saturating_add(self.pieces.nchunks.saturating_mul(per_chunk));
        change::Plan {
            seen: self.seen.clone(),
            overwritten,
            len_before: self.chunks_end,
            end: self.chunks_at.saturating_add(most),
        }
    }
}

/// Checks that the file can be appended to; returns its number of chunks.
fn check<S: ReadAt>(file: &BlpFile<S>) -> Result<u64> {
    let header = file.header();
    let refuse = |what| Err(Error::Param(Param::NotAppendable { what }));
    if header.version != Version::V3 {
        return refuse("its format version is not 3");
    }
    if header.chunksize.is_none() {
        return refuse("the size of its chunks is not known");
    }
    if file.offsets().is_some_and(Offsets::is_unset) {
        return refuse("its offsets are not set");
    }
    match header.nchunks {
        Some(nchunks) => Ok(nchunks),
        None => refuse("the number of its chunks is not known"),
    }
}

/// Refuses foreign bytes after the last chunk, which an append would overwrite. Leftovers of
/// interrupted writers have no magic, and are a whole chunk only if the writer wrote nothing else.
pub(crate) fn check_tail<S: ReadAt>(file: &BlpFile<S>) -> Result<()> {
    let mut head = [0; 32];
    let len = file.read_trailing(&mut head)?;
    let Some(head) = head.get(..len) else { return Ok(()) };
    let left = file.trailing_bytes()?;
    let is_chunk =
        |head: &[u8]| ChunkHeader::parse(head).is_ok_and(|header| header.cbytes() as u64 <= left);
    let what = match head {
        _ if head.starts_with(&MAGIC) => "another Bloscpack file",
        [_, 0xa8, name @ ..] if name.starts_with(b"b2frame") => "a frame",
        _ if FOREIGN.iter().any(|magic| head.starts_with(magic)) => "a file of another format",
        [CHUNK_VERSION, ..] if is_chunk(head) => "a chunk that is no part of it",
        _ => return Ok(()),
    };
    Err(Param::NotLast { what }.into())
}

/// The first bytes of other files that hold arrays: NumPy's, zip archives, HDF5, Parquet.
const FOREIGN: [&[u8]; 4] = [b"\x93NUMPY", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"PAR1"];

/// The new metadata, if there are any and they differ.
fn section<S: ReadAt>(
    file: &BlpFile<S>,
    options: &AppendOptions,
) -> Result<Option<(u64, Section)>> {
    let Some(value) = &options.metadata else { return Ok(None) };
    let old = file.metadata().ok_or(Param::NoMetadata)?;
    if old.json() == Some(value) {
        return Ok(None);
    }
    Ok(Some((old.position(), Section::replacing(old, value, None)?)))
}

fn too_many(nchunks: u64, added: u64) -> Error {
    Param::TooManyChunks { nchunks: nchunks.saturating_add(added), reserve: 0 }.into()
}
