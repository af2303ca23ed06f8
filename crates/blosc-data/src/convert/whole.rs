//! Whole stores: copied without dead bytes, and recompressed frame by frame, so that all other
//! parts stay.

use std::path::Path;
use std::sync::Arc;

use b2frame::{Checksums, CopyOptions, Dest, NdArray, SChunk};
use b2store::{Content as Stored, Store, StoreWriter, WriteOptions};

use super::array::lens;
use super::{Conversion, OnProgress, Report, Settings, check_dimensions};
use crate::content::{Content, Object};
use crate::error::{Error, Refusal, Result};
use crate::formats::frame::stored_nbytes;
use crate::formats::store::is_below;
use crate::size::as_len;
use crate::spool::Station;

/// The result of [`recompress_store`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recompressed {
    /// Counts of the recompressed data, and the removed indexes.
    pub report: Report,
    /// Bytes of the frames before.
    pub before: u64,
    /// The stations hold the new frames until the store is written.
    pub stations: Vec<Station>,
}

/// Copies a store to `to`, compressed by the settings. With `verify`, recompressed data are read
/// back and compared.
///
/// # Errors
///
/// As [`StoreWriter::copy`] and [`recompress_store`].
pub fn copy_store(
    from: &Store,
    to: &Path,
    settings: &Settings,
    verify: bool,
    progress: OnProgress<'_>,
) -> Result<(Store, Recompressed)> {
    let options = WriteOptions::default().form(settings.format.store_form());
    let mut writer = StoreWriter::copy(from, to, &options)?;
    let compression = &settings.compression;
    let is_anew =
        compression.is_wanted() || compression.target.is_some() || settings.checksums.is_some();
    let done = match is_anew {
        true => recompress_store(&mut writer, None, settings, verify, progress)?,
        false => Recompressed::default(),
    };
    Ok((writer.commit()?, done))
}

/// Compresses the values of a store, or those at and below `key`, by the settings; the caller
/// commits the writer. Each frame keeps its items, its metadata and its key. Recipes stay. Other
/// chunks make an index useless, so it is removed; other indexes stay.
///
/// # Errors
///
/// Settings that do not fit a value; frames that cannot be read, or read back differently.
pub fn recompress_store(
    writer: &mut StoreWriter,
    key: Option<&str>,
    settings: &Settings,
    verify: bool,
    progress: OnProgress<'_>,
) -> Result<Recompressed> {
    let mut done = Recompressed::default();
    let root = key.map_or("", |key| key.trim_end_matches('/'));
    let is_meant = |found: &str| found == root || is_below(root, found);
    let tables: Vec<String> =
        writer.tables().map(|key| key.trim_end_matches('/').to_owned()).collect();
    if settings.compression.has_shapes() {
        for table in tables.iter().filter(|table| is_meant(table)) {
            let names = writer.remove_table_indexes(if table.is_empty() { "/" } else { table })?;
            let gone = names.iter().map(|name| format!("the index of column `{name}`"));
            done.report.left_out.extend(gone);
        }
    }
    let keys: Vec<String> = writer.keys().filter(|key| is_meant(key)).map(str::to_owned).collect();
    for key in keys {
        let path = tables.iter().find_map(|table| key.strip_prefix(&**table)?.strip_prefix('/'));
        if path.is_some_and(|path| path.starts_with("_indexes/")) {
            continue;
        }
        let stored = match writer.get(&key) {
            Err(b2store::Error::Recipe { .. }) | Ok(Stored::Recipe(_)) => continue,
            stored => stored?,
        };
        let schunk = Arc::new(writer.frame(&key)?);
        // Only the seal of a frame without chunks can change, and attributes have none.
        let has_seal = settings.checksums.is_some() && !key.ends_with("/__vlmeta__");
        if schunk.nchunks() == 0 && !has_seal {
            continue;
        }
        let content = Content::Object(Object::Frame(Arc::clone(&schunk)));
        let conversion = Conversion { progress, ..Conversion::new(&content, settings) };
        let station = conversion.station()?;
        let new = match stored {
            Stored::Array(array) => conversion.array_like(&array, path, &station)?,
            _ => conversion.frame_like(&schunk, path.is_none(), &station)?,
        };
        if verify {
            let new = Content::Object(Object::Frame(Arc::new(SChunk::open(station.path())?)));
            if conversion.digest(&new)? != conversion.digest(&content)? {
                return Err(Error::ReadBack { name: key });
            }
        }
        done.before = done.before.saturating_add(stored_nbytes(&schunk));
        done.report.nbytes = done.report.nbytes.saturating_add(schunk.items_nbytes());
        done.report.stored_nbytes = done.report.stored_nbytes.saturating_add(stored_nbytes(&new));
        done.report.recompressed = done.report.recompressed.saturating_add(new.nchunks());
        progress(schunk.items_nbytes());
        writer.insert_recompressed(&key, station.path())?;
        done.stations.push(station);
    }
    Ok(done)
}

impl Conversion<'_> {
    /// Recompresses a frame without dimensions; chunks keep their size unless the settings give
    /// one.
    fn frame_like(&self, schunk: &SChunk, is_value: bool, station: &Station) -> Result<SChunk> {
        let compression = &self.settings.compression;
        if is_value {
            self.check_no_shapes()?;
        }
        let mut options = CopyOptions::default().budget(self.settings.resources.decoding());
        options.cparams = Some(self.cparams()?);
        // The borders of chunks of varying sizes have a meaning.
        let has_size = schunk.chunksize().fixed().is_some();
        options.chunksize = compression.chunk_nbytes.filter(|_| has_size).map(as_len);
        let unsealed = (!is_value && !schunk.is_sealed()).then_some(Checksums::None);
        options.checksums = self.settings.checksums.or(unsealed);
        Ok(schunk.copy(&Dest::Contiguous(station.path().to_owned()), &options)?)
    }

    /// Recompresses an array; `path` is its path below its table, if it belongs to one.
    fn array_like(&self, array: &NdArray, path: Option<&str>, station: &Station) -> Result<SChunk> {
        let compression = &self.settings.compression;
        if compression.has_sizes() {
            return Err(
                if path.is_some() { Refusal::RowsOfTable } else { Refusal::BytesOfArray }.into()
            );
        }
        let codec = compression.codec.map(|codec| codec.0);
        let filters = compression.filters.unwrap_or_default();
        check_dimensions(codec, &filters, Some(array.shape()), None)?;
        let mut params = array.params()?.cparams(self.cparams()?);
        let is_unsealed = path.is_some() && !array.schunk().is_sealed();
        let unsealed = is_unsealed.then_some(Checksums::None);
        params.checksums = self.settings.checksums.or(unsealed).unwrap_or(params.checksums);
        let (chunks, blocks) = (&compression.chunkshape, &compression.blockshape);
        match path {
            // Chunks of text depend on the length of the text, not on rows.
            Some(path) if path.ends_with(".utf8") => {}
            Some(_) => {
                let (chunks, blocks) = (rows_of(chunks)?, rows_of(blocks)?);
                let (mut chunk, mut block) = (array.chunkshape(), array.blockshape());
                if let (Some(chunk), Some(block)) = (chunk.first_mut(), block.first_mut()) {
                    *chunk = chunks.unwrap_or((*chunk).max(blocks.unwrap_or(1)));
                    *block = blocks.unwrap_or((*block).min(*chunk));
                }
                params = params.chunkshape(&chunk).blockshape(&block);
            }
            None if compression.has_shapes() => {
                params.chunkshape = chunks.as_deref().map(lens);
                params.blockshape = blocks.as_deref().map(lens);
            }
            None => {}
        }
        let copy = array.copy(&Dest::Contiguous(station.path().to_owned()), &params)?;
        drop(copy);
        Ok(SChunk::open(station.path())?)
    }
}

/// The rows of a chunk or a block of a table.
///
/// # Errors
///
/// [`Refusal::RowsOfTable`] for a shape of several dimensions.
pub(super) fn rows_of(shape: &Option<Vec<u64>>) -> Result<Option<u32>> {
    match shape.as_deref() {
        None => Ok(None),
        Some([rows]) => Ok(lens(&[*rows]).first().copied()),
        Some(_) => Err(Refusal::RowsOfTable.into()),
    }
}
