//! Appending in place ("Append" in the format document).
//!
//! The last chunk is always written again, with the first of the new data added; further chunks
//! follow. The result is byte for byte that of Bloscpack 0.16.0, except that no byte is left after
//! the last chunk.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "the plan was checked before anything is written"
)]

mod plan;

use std::io::Read;

use blosc_chunk::CParams;
use blosc_io::{AlignedBytes, Durability, WriteAt};
use serde_json::Value;

use crate::change::{Change, Seen};
use crate::encoding::{Encoding, in_chunk};
use crate::input::Input;
use crate::metadata::Section;
use crate::params::default_cparams;
use crate::writer::room_in;
use crate::{BlpFile, Error, Header, Param, ReadOptions, Result};

use plan::Plan;
pub(crate) use plan::check_tail;

blosc_chunk::setters! {
    /// Options for appending.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct AppendOptions {
        /// Parameters for compressing the last chunk and new chunks; `None` for the default of
        /// Bloscpack 0.16.0, with the typesize in the file's header.
        pub cparams: Option<CParams>,
        /// Data of a chunk (bytes), if the file does not tell it: the file was empty so far.
        pub chunksize: u32,
        /// New metadata in place of the old ones. The file must have some, and enough room.
        pub metadata: Option<Value>,
        /// The state that a crash in the middle of the change may leave. Unless this is
        /// [`Durability::None`], the file keeps its former content: a journal after the end of the
        /// file first keeps the overwritten bytes, and the storage is synced three times. This
        /// crate reads an interrupted file in its former state and restores it at the next change;
        /// other readers may find it damaged until then. With [`Durability::None`] a crash may
        /// leave a damaged file, as it does with Bloscpack 0.16.0. An error is undone in either
        /// case.
        pub durability: Durability,
        /// Options for reading the file. Their `budget` is for compressing, too.
        pub read: ReadOptions,
    }
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self {
            cparams: None,
            chunksize: crate::params::DEFAULT_CHUNKSIZE,
            metadata: None,
            durability: Durability::default(),
            read: ReadOptions::default(),
        }
    }
}

/// The result of [`append`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendReport {
    /// Chunks added.
    pub added: u64,
    /// The header now.
    pub header: Header,
    /// Length of the file before (bytes).
    pub len_before: u64,
    /// Length of the file now (bytes).
    pub len: u64,
}

/// Appends `nbytes` bytes of `data` to a file of version 3.
///
/// ```
/// use blosc_io::MemStore;
/// use bloscpack::{AppendOptions, WriteOptions, append, pack, unpack};
///
/// let mut store = MemStore::new(pack(b"to be, or ", WriteOptions::default())?);
/// append(&mut store, &b"not to be"[..], 9, &AppendOptions::default())?;
/// assert_eq!(unpack(store.as_bytes())?, b"to be, or not to be");
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// A file on a disk is best opened as a [`LockedFile`](crate::LockedFile), so that two programs do
/// not append at once.
///
/// Unlike Bloscpack 0.16.0, this function also appends to files without offsets and to empty files.
///
/// # Errors
///
/// Before the first write: [`Param::NotEnoughSpace`] if the offsets are used up
/// ([`LockedFile::append`](crate::LockedFile::append) makes more room), [`Param::NotAppendable`]
/// for a file of an old version or with chunks of unknown number or size, [`Param::NoMetadata`] or
/// [`Param::MetadataRoom`] for new metadata that the file cannot take, and the errors of
/// [`BlpFile::packed_chunk`] for the last chunk. Before the first write, or later with the file
/// restored: [`Error::ChangedByOther`]. Later, with the file restored: [`Param::DataSize`] if fewer
/// data come, [`Error::Chunk`] if they cannot be compressed, and [`Error::Io`].
pub fn append<S: WriteAt>(
    store: &mut S,
    data: impl Read,
    nbytes: u64,
    options: &AppendOptions,
) -> Result<AppendReport> {
    let len_before = store.len().map_err(|source| Error::io(0, source))?;
    recover(store)?;
    let plan = Plan::new(&BlpFile::with_options(&*store, options.read.clone())?, nbytes, options)?;
    let mut change = Change::begin(store, plan.change(), options.durability)?;
    let written = write(&mut change, &plan, data, options);
    let len = change.end(written)?;
    Ok(AppendReport { added: plan.added(), header: plan.header, len_before, len })
}

/// Writes chunks, header, offsets and metadata, and returns the new length of the file.
fn write<S: WriteAt>(
    change: &mut Change<'_, S>,
    plan: &Plan,
    data: impl Read,
    options: &AppendOptions,
) -> Result<u64> {
    let mut positions = vec![];
    let end = write_chunks(change, plan, data, options, &mut positions)?;
    change.check_unchanged()?;
    change.write(0, &plan.header.to_bytes())?;
    if plan.header.offsets {
        let entries: Vec<u8> = positions.into_iter().flat_map(u64::to_le_bytes).collect();
        change.write(plan.entries_at, &entries)?;
    }
    if let Some((at, section)) = &plan.section {
        write_section(change, *at, section)?;
    }
    Ok(end)
}

fn write_section<S: WriteAt>(change: &mut Change<'_, S>, at: u64, section: &Section) -> Result<()> {
    let mut bytes = vec![];
    section.write(&mut bytes).map_err(|source| Error::io(at, source))?;
    change.write(at, &bytes)
}

/// Writes the last chunk again and all new ones, and returns their end.
fn write_chunks<S: WriteAt>(
    change: &mut Change<'_, S>,
    plan: &Plan,
    data: impl Read,
    options: &AppendOptions,
    positions: &mut Vec<u64>,
) -> Result<u64> {
    let cparams = options.cparams.clone().unwrap_or_else(|| default_for(&plan.header));
    let mut encoding = Encoding::new(&cparams, plan.header.checksum, options.read.budget.clone())?;
    let mut source = Input::new(plan.old.as_slice().chain(data.take(plan.new_nbytes)), 0, None);
    let mut at = plan.chunks_at;
    let mut nchunk = plan.first;
    let mut flush = |encoding: &mut Encoding| {
        encoding.flush(|encoded| {
            let (bytes, digest) = encoded.map_err(|source| in_chunk(nchunk, at, source))?;
            change.write(at, bytes)?;
            change.write(at + bytes.len() as u64, digest.as_bytes())?;
            positions.push(at);
            at += (bytes.len() + digest.as_bytes().len()) as u64;
            nchunk += 1;
            Ok(())
        })
    };
    let mut buf = AlignedBytes::new();
    for piece in 0..plan.pieces.nchunks {
        let nbytes = plan.pieces.nbytes(piece) as usize;
        let mut filled = 0;
        while filled < nbytes {
            match source.up_to(room_in(&mut buf, filled, nbytes))? {
                0 => {
                    let found = source.position().saturating_sub(plan.old.len() as u64);
                    return Err(Param::DataSize { announced: plan.new_nbytes, found }.into());
                }
                n => filled += n,
            }
        }
        if encoding.push(&mut buf, nbytes)? {
            flush(&mut encoding)?;
        }
    }
    flush(&mut encoding)?;
    Ok(at)
}

/// The default of Bloscpack 0.16.0, with the typesize of the header.
fn default_for(header: &Header) -> CParams {
    let typesize = header.typesize.unwrap_or(1).max(1);
    default_cparams().typesize(typesize.into())
}

/// Restores a file whose change was interrupted; returns whether there was such a change.
///
/// # Errors
///
/// [`Error::Io`]. A second call can try again.
pub fn recover<S: WriteAt>(store: &mut S) -> Result<bool> {
    crate::change::recover(store)
}

/// Replaces the metadata of a file. The section keeps its size.
///
/// As in Bloscpack 0.16.0, the text is compressed with zlib at level 6 if that helps, even if the
/// old text was stored differently.
///
/// # Errors
///
/// [`Param::NoMetadata`] if the file has none, [`Param::MetadataRoom`] if there is not enough room,
/// [`Param::NotAppendable`] for a file of an old version; [`Error::Corrupt`] or [`Error::Io`].
pub fn rewrite_metadata<S: WriteAt>(
    store: &mut S,
    metadata: &Value,
    durability: Durability,
) -> Result<()> {
    recover(store)?;
    let file = BlpFile::new(&*store)?;
    let old = file.metadata().ok_or(Param::NoMetadata)?;
    let (at, section) = (old.position(), Section::replacing(old, metadata, None)?);
    let seen = Seen {
        len: file.file_len(),
        parts: vec![(0, file.header().to_bytes().to_vec()), (at, old.header().to_bytes().to_vec())],
    };
    let plan = crate::change::Plan {
        seen,
        overwritten: vec![(at, section.len())],
        len_before: file.file_len(),
        end: file.file_len(),
    };
    let mut change = Change::begin(store, plan.clone(), durability)?;
    let written = write_section(&mut change, at, &section).map(|()| plan.end);
    change.end(written).map(drop)
}
