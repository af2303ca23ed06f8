//! Copying chunks to a new file without recompressing them, and rebuilding offsets.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "sizes are those of chunks that were found"
)]

use std::io::{Seek, Write};

use blosc_io::{ReadAt, WriteAt};
use serde_json::Value;

use crate::metadata::{MetadataOptions, Section};
use crate::offsets::{ENTRY_LEN, UNSET_BYTE};
use crate::{
    BlpFile, Checksum, Error, Header, OffsetsUse, Param, ReadOptions, Reserve, Result, Version,
    WriteOptions, Writer,
};

blosc_chunk::setters! {
    /// Changes to make while copying. The default keeps checksum and metadata and writes offsets
    /// with a tenfold reserve.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct RepackOptions {
        /// Another checksum of the chunks.
        pub checksum: Option<Checksum>,
        /// Whether to write offsets.
        pub offsets: bool,
        /// The number of offsets to keep free for appending.
        pub reserve: Reserve,
        /// The metadata.
        pub metadata: NewMetadata,
    }
}

/// The metadata of a new file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum NewMetadata {
    /// The metadata of the old file, in any format.
    #[default]
    Keep,
    /// None.
    Remove,
    /// These metadata.
    Set(Value, MetadataOptions),
}

impl Default for RepackOptions {
    fn default() -> Self {
        Self {
            checksum: None,
            offsets: true,
            reserve: Reserve::default(),
            metadata: NewMetadata::Keep,
        }
    }
}

/// Writes the chunks of a file of any version to a new one of version 3.
///
/// This gives a file more room for appending, updates old versions and drops bytes that an append
/// left after the chunks. If the chunks differ in size, the new header gives no size, and each
/// chunk may have any.
///
/// ```
/// use std::io::Cursor;
/// use blosc_io::MemStore;
/// use bloscpack::{BlpFile, RepackOptions, WriteOptions, pack, repack, params::Reserve};
///
/// let old = BlpFile::new(MemStore::new(pack(b"data", WriteOptions::default().offsets(false))?))?;
/// let options = RepackOptions::default().reserve(Reserve::Entries(1000));
/// let new = repack(&old, Cursor::new(vec![]), &options)?.into_inner();
/// assert_eq!(BlpFile::new(MemStore::new(new))?.header().max_app_chunks(), 1000);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
///
/// As [`BlpFile::packed_chunk`], [`Writer::push_chunk`] and [`Writer::finish`].
pub fn repack<S: ReadAt, W: Write + Seek>(
    file: &BlpFile<S>,
    to: W,
    options: &RepackOptions,
) -> Result<W> {
    let section = match (&options.metadata, file.metadata()) {
        (NewMetadata::Set(value, how), _) => Section::new(value, how)?,
        (NewMetadata::Keep, Some(old)) => Some(Section::keeping(old)?),
        _ => None,
    };
    let sizes = Sizes::new(file.index()?.sizes());
    let checksum = options.checksum.unwrap_or(file.header().checksum);
    let header = Header {
        metadata: section.is_some(),
        typesize: Some(typesize(file)?),
        ..sizes.header(checksum, options.offsets.then_some(options.reserve))?
    };
    let mut writer = Writer::with_parts(to, header, section.as_ref(), &WriteOptions::default())?;
    for nchunk in 0..sizes.nchunks {
        writer.push_chunk(file.packed_chunk(nchunk)?.bytes())?;
    }
    writer.finish()
}

/// The typesize in the header; in versions without one, that of the first chunk.
fn typesize<S: ReadAt>(file: &BlpFile<S>) -> Result<u8> {
    match file.header().typesize {
        Some(typesize) => Ok(typesize),
        None if file.nchunks()? == 0 => Ok(1),
        None => Ok(u8::try_from(file.packed_chunk(0)?.header().typesize()).unwrap_or(1)),
    }
}

/// The sizes of chunks in the form of a version 3 header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Leaves out the empty last chunk of old versions.
    pub(crate) nchunks: u64,
    first: u64,
    last: u64,
    differ: bool,
}

impl Sizes {
    pub(crate) fn new(sizes: impl Iterator<Item = u64>) -> Self {
        let mut found = Self::default();
        for size in sizes
            .enumerate()
            .filter(|(nchunk, size)| *nchunk == 0 || *size > 0)
            .map(|(_, size)| size)
        {
            if found.nchunks == 0 {
                found.first = size;
            }
            // The previous chunk is not the last one, so its size must be that of the first.
            found.differ |= found.nchunks > 0 && found.last != found.first;
            found.last = size;
            found.nchunks += 1;
        }
        found.differ |= found.last > found.first;
        found
    }

    pub(crate) fn header(&self, checksum: Checksum, reserve: Option<Reserve>) -> Result<Header> {
        let max_app_chunks = reserve.map_or(0, |reserve| reserve.entries(self.nchunks));
        let too_many = Param::TooManyChunks { nchunks: self.nchunks, reserve: max_app_chunks };
        let size = |nbytes| u32::try_from(nbytes).map_err(|_| too_many.clone());
        Ok(Header {
            version: Version::V3,
            offsets: reserve.is_some(),
            metadata: false,
            checksum,
            typesize: Some(1),
            chunksize: if self.differ { None } else { Some(size(self.first)?) },
            last_chunk: Some(size(self.last)?),
            nchunks: Some(self.nchunks),
            max_app_chunks,
            reserved_set: false,
        })
    }
}

/// Sets the offsets of a file to the positions of its chunks, frees the reserve, and returns the
/// number of chunks.
///
/// This is for files whose writer was interrupted after the last chunk, or whose offsets are
/// damaged. The file keeps its length: a table that does not fit into it is an error.
///
/// # Errors
///
/// [`Param::NotAppendable`] if the file has no offsets, or the errors of the walk over its chunks.
pub fn repair_offsets<S: WriteAt>(store: &mut S) -> Result<u64> {
    // Damage can make the restored file another one with an interrupted change.
    while crate::recover(store)? {}
    let file = BlpFile::with_options(&*store, ReadOptions::default().offsets(OffsetsUse::Ignore))?;
    if !file.header().offsets {
        return Err(Param::NotAppendable { what: "it has no offsets" }.into());
    }
    let mut at = file.offsets_position();
    let mut entries: Vec<u8> = file.index()?.positions().flat_map(u64::to_le_bytes).collect();
    let nchunks = entries.len() as u64 / ENTRY_LEN;
    let mut reserve = file.header().max_app_chunks * ENTRY_LEN;
    drop(file);
    loop {
        store.write_at(at, &entries).map_err(|source| Error::io(at, source))?;
        at += entries.len() as u64;
        let piece = reserve.min(1 << 16);
        if piece == 0 {
            return Ok(nchunks);
        }
        entries = vec![UNSET_BYTE; usize::try_from(piece).unwrap_or(0)];
        reserve -= piece;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(sizes: &[u64]) -> (Option<u32>, Option<u32>, Option<u64>) {
        let header = Sizes::new(sizes.iter().copied()).header(Checksum::None, None).unwrap();
        (header.chunksize, header.last_chunk, header.nchunks)
    }

    #[test]
    fn sizes_become_header_fields() {
        assert_eq!(sizes(&[]), (Some(0), Some(0), Some(0)));
        assert_eq!(sizes(&[0]), (Some(0), Some(0), Some(1)));
        assert_eq!(sizes(&[7]), (Some(7), Some(7), Some(1)));
        assert_eq!(sizes(&[7, 7, 3]), (Some(7), Some(3), Some(3)));
        assert_eq!(sizes(&[7, 7, 0]), (Some(7), Some(7), Some(2)));
        assert_eq!(sizes(&[3, 4]), (None, Some(4), Some(2)));
        assert_eq!(sizes(&[7, 3, 7]), (None, Some(7), Some(3)));
    }
}
