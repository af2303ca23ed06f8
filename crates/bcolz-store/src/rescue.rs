//! Rescuing damaged data: unreadable parts are left out or filled, so that the rest is readable
//! ("Crashes and half-written data").
//!
//! [`repair`](crate::repair::repair()) loses no readable data. Rescuing gives up parts, so it is
//! meant for a copy.

use core::ops::Range;
use std::io;
use std::sync::Arc;

use blosc_chunk::{ChunkHeader, FilterId};
use blosc_container::report::VerifyOptions;
use blosc_container::rescue::{Fill, Filling};
use blosc_dtype::{Dtype, Kind};
use blosc_io::replace::{is_temporary, temporary_path};

use crate::carray::CArray;
use crate::carray_writer::CArrayWriter;
use crate::chunk_file::{ChunkFile, Expected, PREAMBLE};
use crate::create::CreateOptions;
use crate::ctable_writer::names_text;
use crate::error::{Corrupt, Error, Param, Result};
use crate::files::{self, join};
use crate::fill;
use crate::layout::{MAX_CHUNK_BYTES, chunk_path};
use crate::leftovers::{self, chunk_numbers, list_existing};
use crate::meta::{self, Attrs, Sizes, Storage};
use crate::names;
use crate::params::{Cname, OpenOptions, Shuffle, StorageParams};
use crate::repair::{Action, Repair, repair_array, repair_locked};
use crate::sums::{Sums, sums_path};
use crate::table_sums::{TableSums, replace_attrs};
use crate::tree::Tree;
use crate::worker::Worker;
use blosc_dtype::json::Json;

blosc_chunk::setters! {
/// How to rescue an array or a table.
#[derive(Clone, Debug, Default)]
pub struct RescueOptions {
    /// The filling in place of lost data. Default: the fill value of the array.
    pub fill: Fill,
    /// The type of the items of an array that has lost its `meta/storage`. Default: raw bytes of
    /// the chunks' item size.
    pub dtype: Option<Dtype>,
}
}

impl From<Fill> for RescueOptions {
    fn from(fill: Fill) -> Self {
        Self { fill, dtype: None }
    }
}

/// Makes all of the array or table at `path` of a tree readable, and returns the losses: attributes
/// and lengths that are not valid, columns without readable data, and chunks that do not decode.
/// Lost chunks are filled, so that all other rows keep their positions, or cut. [`Fill::Zeros`] is
/// the fill value of the array, which is zero unless its writer chose another one; an object is
/// filled with `None`.
///
/// Without `__rootdirs__`, all directories that hold arrays become the columns of a table. An array
/// without `meta/storage` gets one made from its chunks; only the caller can know the type.
///
/// # Errors
///
/// `Corrupt` if no data can be saved, `Limit` for chunks that are larger than `options` allow,
/// [`Param::Fill`](crate::error::Param::Fill) for a value that does not fit the type, `Io`.
pub fn rescue_in(
    tree: Arc<dyn Tree>,
    path: &str,
    options: &OpenOptions,
    rescue: &RescueOptions,
) -> Result<Vec<Action>> {
    let _lock = files::lock_exclusive(&*tree, path, &options.lock)?;
    let is_table = looks_like_table(&*tree, path)?;
    let RescueOptions { fill, dtype } = rescue.clone();
    let mut rescuer = Rescuer { tree, options: options.clone(), fill, dtype, actions: Vec::new() };
    if is_table {
        rescuer.table(path)?;
    } else {
        let (array, lost) = rescuer.array(path)?;
        rescuer.mend(&array, lost)?;
    }
    Ok(rescuer.actions)
}

/// Whether there is a table at `path`, even without its list of columns.
fn looks_like_table(tree: &dyn Tree, path: &str) -> Result<bool> {
    if names::is_table(tree, path)? {
        return Ok(true);
    }
    if looks_like_array(tree, path)? {
        return Ok(false);
    }
    for entry in list_existing(tree, path)?.into_iter().filter(|entry| entry.is_dir) {
        if looks_like_array(tree, &join(path, &entry.name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there is an array at `path`, even without its `meta/`.
fn looks_like_array(tree: &dyn Tree, path: &str) -> Result<bool> {
    Ok(files::has_file(tree, &meta::storage_path(path))?
        || files::has_file(tree, &meta::sizes_path(path))?
        || !chunk_numbers(tree, path)?.is_empty())
}

struct Rescuer {
    tree: Arc<dyn Tree>,
    options: OpenOptions,
    fill: Fill,
    dtype: Option<Dtype>,
    actions: Vec<Action>,
}

impl Rescuer {
    fn table(&mut self, path: &str) -> Result<()> {
        self.attrs(path)?;
        if let Some(what) = leftovers::finish_rename(&*self.tree, path)? {
            self.did(path, what);
        }
        let listed = self.names(path)?;
        let mut columns: Vec<(String, CArray, Vec<u64>)> = Vec::new();
        for name in &listed {
            let is_usable =
                columns.iter().all(|(kept, ..)| kept != name) && names::fault(name).is_none();
            let nactions = self.actions.len();
            match is_usable.then(|| self.array(&join(path, name))) {
                Some(Ok((array, lost))) if is_partly_good(&array, &lost) => {
                    columns.push((name.clone(), array, lost));
                }
                Some(Err(error @ (Error::Io { .. } | Error::Limit { .. }))) => return Err(error),
                _ => {
                    self.actions.truncate(nactions);
                    self.did(path, Repair::ColumnDropped { name: name.clone() });
                }
            }
        }
        // Drops a column that lost its length, so that the other columns keep theirs.
        if columns.iter().any(|(_, array, _)| !array.is_empty()) {
            let empty = |column: &(String, CArray, Vec<u64>)| column.1.is_empty();
            for (name, ..) in columns.extract_if(.., |column| empty(column)) {
                self.did(path, Repair::ColumnDropped { name });
            }
        }
        if columns.is_empty() && !listed.is_empty() {
            return Err(Error::corrupt(names::names_path(path), Corrupt::Missing));
        }
        let kept: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
        if kept != listed {
            self.write(&names::names_path(path), &names_text(kept.iter().copied()))?;
        }
        let names: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
        let kept: Vec<String> = kept.iter().map(|name| join(path, name)).collect();
        if self.fill == Fill::Cut {
            self.cut_rows(&columns)?;
        } else {
            for (_, array, lost) in columns {
                self.mend(&array, lost)?;
            }
        }
        self.actions.extend(repair_locked(self.tree.clone(), path)?);
        self.drop_sums_of_some(&kept)?;
        TableSums::update(&*self.tree, path, names.iter().map(String::as_str), false)
    }

    /// Removes the sums of the columns at `paths` unless all columns have some: verifying would
    /// miss the others.
    fn drop_sums_of_some(&self, paths: &[String]) -> Result<()> {
        let mut summed = Vec::new();
        for path in paths {
            summed.extend(Sums::exist(&*self.tree, path)?.then(|| sums_path(path)));
        }
        if summed.len() == paths.len() {
            return Ok(());
        }
        for sums in summed {
            self.tree.remove(&sums).map_err(|source| Error::io(sums, source))?;
        }
        Ok(())
    }

    /// The names of the columns; if the list is damaged or missing, the names of all directories
    /// that can be a column.
    fn names(&mut self, path: &str) -> Result<Vec<String>> {
        let names_path = names::names_path(path);
        let names = meta::read_object(&*self.tree, &names_path)
            .and_then(|json| names::parse_names(&json, &names_path));
        match names {
            Err(Error::Corrupt { .. }) => {}
            other => return other,
        }
        let mut names = Vec::new();
        for entry in list_existing(&*self.tree, path)? {
            let is_column = entry.is_dir && !is_temporary(&entry.name);
            if is_column && looks_like_array(&*self.tree, &join(path, &entry.name))? {
                names.push(entry.name);
            }
        }
        names.sort();
        self.write(&names_path, &names_text(names.iter().map(String::as_str)))?;
        self.did(path, Repair::Names { count: names.len() });
        Ok(names)
    }

    /// Makes the metadata of an array readable; returns it and the numbers of its unreadable
    /// chunks.
    fn array(&mut self, path: &str) -> Result<(CArray, Vec<u64>)> {
        let storage = self.storage_by_chunks(path)?;
        self.attrs(path)?;
        for inner in ["meta", "data"] {
            let dir = join(path, inner);
            match self.tree.create_dir(&dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::io(dir, error));
                }
                _ => {}
            }
        }
        if let Some(storage) = storage {
            self.write(&meta::storage_path(path), &storage.to_text())?;
            self.did(path, Repair::Storage { dtype: storage.dtype.to_string() });
        }
        let sizes_path = meta::sizes_path(path);
        let repaired = match repair_array(self.tree.clone(), path) {
            // The chunks tell the length too.
            Err(Error::Corrupt { path: wrong, .. }) if wrong == sizes_path => {
                self.tree.remove(&sizes_path).map_err(|source| Error::io(&sizes_path, source))?;
                repair_array(self.tree.clone(), path)
            }
            repaired => repaired,
        };
        self.actions.extend(repaired?);
        let mut array = CArray::open_column(self.tree.clone(), path, &self.options)?;
        self.check_length(&mut array)?;
        self.complete_sizes(&array)?;
        let options = VerifyOptions::default().max_reported(usize::MAX);
        let mut lost = Vec::new();
        let found = array.verify_locked(&options, &mut |_| ())?;
        let is_sums = |error: &Error| matches!(error, Error::Corrupt { what: Corrupt::Sums, .. });
        if found.other.iter().any(is_sums) {
            self.did(path, Repair::Sums);
        }
        let kept = [("meta/storage", meta::storage_path(path)), ("meta/sizes", sizes_path)];
        for (name, file) in kept {
            let is_kept = |error: &Error| match error {
                Error::Corrupt { path, what: Corrupt::Checksum { .. } } => *path == file,
                _ => false,
            };
            // A repaired file differs from its sum as well.
            let is_mended = self.actions.iter().any(|action| action.path == path);
            if !is_mended && found.other.iter().any(is_kept) {
                self.did(path, Repair::Metadata { name });
            }
        }
        for bad in found.bad {
            match bad.error {
                // The chunk decodes, but its fault is unknown.
                Error::Corrupt { what: Corrupt::Checksum { .. }, .. } => {
                    self.did(path, Repair::Doubtful { nchunk: bad.nchunk });
                }
                error @ (Error::Io { .. } | Error::Limit { .. }) => return Err(error),
                _ => lost.push(bad.nchunk),
            }
        }
        if !self.actions.is_empty() || !lost.is_empty() {
            // The sums are of another state.
            let sums = sums_path(path);
            self.tree.remove(&sums).map_err(|source| Error::io(sums, source))?;
        }
        Ok((array, lost))
    }

    /// A `meta/storage` in place of a missing or invalid one. The chunks tell the chunk length, the
    /// compression, and the size of an item but not its type.
    fn storage_by_chunks(&self, path: &str) -> Result<Option<Storage>> {
        let storage_path = meta::storage_path(path);
        match Storage::read(&*self.tree, path) {
            Ok(_) => return Ok(None),
            Err(Error::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        let headers = self.chunk_headers(path)?;
        let shape = self.shape(path);
        let sizes = headers.iter().map(ChunkHeader::nbytes);
        let total: u64 = sizes.clone().map(|nbytes| nbytes as u64).sum();
        let missing = || Error::corrupt(&storage_path, Corrupt::Missing);
        let nbytes = sizes.clone().max().ok_or_else(missing)?;
        // Chunks of different sizes mean an array of objects, one in each chunk: their types are
        // unknown.
        if sizes.rev().skip(1).any(|other| other != nbytes) {
            return Err(missing());
        }
        let Some(header) = headers.first() else { return Err(missing()) };
        // The chunks of strings have typesize 1; the sizes tell the item size, if all chunks exist.
        let nitems = shape.iter().fold(1u64, |items, dim| items.saturating_mul(*dim));
        let itemsize = match total.checked_div(nitems) {
            Some(size) if !shape.is_empty() && size > 0 && size.saturating_mul(nitems) == total => {
                size
            }
            _ => header.typesize() as u64,
        };
        let raw = if itemsize == 1 { "|u1".to_owned() } else { format!("|V{itemsize}") };
        let dtype = self.dtype.clone().or_else(|| Dtype::parse(&raw).ok()).ok_or_else(missing)?;
        let row_shape: Vec<u64> = shape.iter().skip(1).copied().collect();
        let items = row_shape.iter().fold(1u64, |items, dim| items.saturating_mul(*dim));
        let rowsize = items.saturating_mul(dtype.itemsize() as u64);
        let chunklen = (nbytes as u64).checked_div(rowsize).unwrap_or(0);
        if chunklen.saturating_mul(rowsize) != nbytes as u64 {
            return Err(Param::Fill { dtype: dtype.to_string() }.into());
        }
        let shuffle = match header.pipeline() {
            filters if filters.contains(FilterId::BITSHUFFLE) => Shuffle::Bit,
            filters if filters.contains(FilterId::SHUFFLE) => Shuffle::Byte,
            _ => Shuffle::None,
        };
        let cname = Cname::of_codec(header.codec_id()).unwrap_or_default();
        let cparams = StorageParams::default().cname(cname).shuffle(shuffle);
        let like = CreateOptions::new(dtype).row_shape(row_shape).cparams(cparams);
        let (_, storage, _) = like.chunklen(Some(chunklen)).to_metadata(path)?;
        Ok(Some(storage))
    }

    /// The headers of the readable chunks, in order.
    fn chunk_headers(&self, path: &str) -> Result<Vec<ChunkHeader>> {
        let mut headers = Vec::new();
        for nchunk in chunk_numbers(&*self.tree, path)? {
            let nbytes = (1, MAX_CHUNK_BYTES);
            let expected = Expected { nchunk, nbytes, rowsize: 1, limit: u64::MAX };
            match ChunkFile::open(&*self.tree, chunk_path(path, nchunk), expected) {
                Ok(file) => headers.push(file.header),
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(headers)
    }

    /// The shape, if the sizes can be read; empty otherwise, so that a row is an item.
    fn shape(&self, path: &str) -> Vec<u64> {
        let sizes = Sizes::read(&*self.tree, path);
        sizes.map_or_else(|_| Vec::new(), |sizes| sizes.shape)
    }

    /// Drops unreadable attributes, which keep bcolz from opening the array or table.
    fn attrs(&mut self, path: &str) -> Result<()> {
        match Attrs::read(&*self.tree, path) {
            Err(Error::Corrupt { .. }) => {
                replace_attrs(&*self.tree, path, &Attrs::default().to_text())?;
                self.did(path, Repair::AttrsLost);
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// Fills the lost chunks, or removes them.
    fn mend(&mut self, array: &CArray, lost: Vec<u64>) -> Result<()> {
        if self.fill == Fill::Cut {
            return self.cut_chunks(array, &lost);
        }
        for nchunk in lost {
            let (saved, nbytes, row, rows) = if array.is_object() {
                (PICKLED_NONE.to_vec(), PICKLED_NONE.len(), vec![], 1)
            } else {
                let rows = array.layout.rows_in(nchunk);
                let needed = array.layout.nbytes_of(rows);
                let limit = self.options.dparams.limits.max_nbytes;
                if needed > limit {
                    return Err(Error::Limit { path: array.path().to_owned(), needed, limit });
                }
                let saved = self.read_short_chunk(array, nchunk);
                let nsaved = array.layout.rows_of(saved.len() as u64);
                let nbytes = usize::try_from(needed).unwrap_or(usize::MAX);
                (saved, nbytes, self.filling_row(array)?, rows.saturating_sub(nsaved))
            };
            let params = array.cparams().to_chunk(meta::typesize(array.dtype()));
            let chunk = Filling::new(row).chunk(0, nbytes, &saved, params);
            let wrong =
                |source| Error::Chunk { path: chunk_path(array.path(), nchunk), nchunk, source };
            let file = [&PREAMBLE[..], &chunk.map_err(wrong)?].concat();
            let chunk_path = chunk_path(array.path(), nchunk);
            self.tree.write(&chunk_path, &file).map_err(|source| Error::io(&chunk_path, source))?;
            self.did(array.path(), Repair::Filled { nchunk, rows });
        }
        Ok(())
    }

    /// The rows of a chunk that holds fewer than it should; empty if it cannot be decoded.
    fn read_short_chunk(&self, array: &CArray, nchunk: u64) -> Vec<u8> {
        let rowsize = array.rowsize() as u64;
        let (_, max) = array.layout.allowed_nbytes(nchunk);
        let expected = Expected {
            nchunk,
            nbytes: (rowsize, max.min(array.layout.nbytes_of(array.layout.rows_in(nchunk)))),
            rowsize,
            limit: self.options.dparams.limits.max_nbytes,
        };
        let chunk = ChunkFile::open(&*self.tree, chunk_path(array.path(), nchunk), expected);
        let Ok(chunk) = chunk else { return Vec::new() };
        let mut data = vec![0; chunk.header.nbytes()];
        let mut worker = Worker::new(&self.options.dparams);
        let decoded = chunk.reader(&mut worker.packed).decode(
            0..chunk.header.nbytes(),
            &mut data,
            &mut worker.scratch,
        );
        decoded.map_or(Vec::new(), |()| data)
    }

    /// The row that takes the place of each lost one.
    fn filling_row(&self, array: &CArray) -> Result<Vec<u8>> {
        let (rowsize, dtype) = (array.rowsize(), array.dtype());
        let misfit = || Error::from(Param::Fill { dtype: dtype.to_string() });
        let item = match &self.fill {
            Fill::NaN if matches!(dtype.kind(), Some(Kind::Float | Kind::Complex)) => {
                let nan = Json::Float(f64::NAN);
                return fill::row(&array.layout, Some(&nan), array.path());
            }
            Fill::NaN => return Err(misfit()),
            Fill::Value(value) => value.clone(),
            // If the fill value cannot be read, zeros take its place.
            _ => return Ok(array.dflt_row().unwrap_or_else(|_| vec![0; rowsize])),
        };
        if item.is_empty() || item.len() != dtype.itemsize() {
            return Err(misfit());
        }
        Ok(item.repeat(rowsize.checked_div(item.len()).unwrap_or(0)))
    }

    /// Removes chunks from an array. The chunks after them move up, as only the last may be
    /// partial.
    fn cut_chunks(&mut self, array: &CArray, lost: &[u64]) -> Result<()> {
        if lost.is_empty() {
            return Ok(());
        }
        let path = array.path();
        let rows = lost.iter().map(|nchunk| array.layout.rows_in(*nchunk)).sum::<u64>();
        let kept = (0..array.nchunks()).filter(|nchunk| lost.binary_search(nchunk).is_err());
        let mut nkept: u64 = 0;
        for nchunk in kept {
            if nkept != nchunk {
                let from = chunk_path(path, nchunk);
                self.tree
                    .rename(&from, &chunk_path(path, nkept))
                    .map_err(|source| Error::io(from, source))?;
            }
            nkept = nkept.saturating_add(1);
        }
        self.set_length(array, array.len().saturating_sub(rows))?;
        for nchunk in nkept..array.nchunks() {
            let stale = chunk_path(path, nchunk);
            self.tree.remove(&stale).map_err(|source| Error::io(stale, source))?;
        }
        self.did(path, Repair::Cut { rows, nchunks: lost.len() as u64 });
        Ok(())
    }

    /// Removes from all columns the rows that any column has lost.
    fn cut_rows(&mut self, columns: &[(String, CArray, Vec<u64>)]) -> Result<()> {
        let len = columns.iter().map(|(_, array, _)| array.len()).min().unwrap_or(0);
        let mut lost: Vec<Range<u64>> = Vec::new();
        for (_, array, chunks) in columns {
            let start = |nchunk: u64| nchunk.saturating_mul(array.layout.chunklen).min(len);
            lost.extend(
                chunks.iter().map(|nchunk| start(*nchunk)..start(nchunk.saturating_add(1))),
            );
        }
        lost.sort_unstable_by_key(|rows| rows.start);
        let (mut kept, mut next) = (Vec::new(), 0);
        for rows in lost.iter().chain([&(len..len)]) {
            if next < rows.start {
                kept.push(next..rows.start);
            }
            next = next.max(rows.end);
        }
        if lost.is_empty() {
            return Ok(());
        }
        for (_, array, chunks) in columns {
            self.keep_rows(array, &kept, chunks.len() as u64)?;
        }
        Ok(())
    }

    /// Replaces a column that has lost `nchunks` chunks by one with some of its rows.
    fn keep_rows(&mut self, array: &CArray, kept: &[Range<u64>], nchunks: u64) -> Result<()> {
        let path = array.path();
        let nkept = kept.iter().map(|rows| rows.end.saturating_sub(rows.start)).sum::<u64>();
        let rows = array.len().saturating_sub(nkept);
        if array.is_object() {
            let is_kept = |row: &u64| kept.iter().any(|rows| rows.contains(row));
            let lost: Vec<u64> = (0..array.len()).filter(|row| !is_kept(row)).collect();
            return self.cut_chunks(array, &lost);
        }
        let new = temporary_path(path);
        let remove = |path: &str| self.tree.remove(path).map_err(|error| Error::io(path, error));
        let options = CreateOptions::like(array)?;
        let mut writer = CArrayWriter::create_column(self.tree.clone(), &new, &options)?;
        for rows in kept {
            for block in array.blocks(0).skip(rows.start).limit(rows.end.saturating_sub(rows.start))
            {
                writer.append(&block?)?;
            }
        }
        writer.finish()?;
        remove(path)?;
        self.tree.rename(&new, path).map_err(|source| Error::io(new, source))?;
        self.did(path, Repair::Cut { rows, nchunks });
        Ok(())
    }

    /// Refuses a length of which hardly a chunk exists: it is false, and filling would take
    /// forever.
    fn check_length(&mut self, array: &mut CArray) -> Result<()> {
        let mut numbers = chunk_numbers(&*self.tree, array.path())?;
        numbers.retain(|number| *number < array.nchunks());
        let limit = (numbers.len() as u64).saturating_mul(2).saturating_add(MAX_MISSING_CHUNKS);
        if array.nchunks() <= limit {
            return Ok(());
        }
        let nchunks = numbers.into_iter().filter(|number| *number < limit).max();
        let Some(last) = nchunks else {
            return Err(Error::corrupt(chunk_path(array.path(), 0), Corrupt::Missing));
        };
        let (from, to) =
            (array.len(), last.saturating_add(1).saturating_mul(array.layout.chunklen));
        self.set_length(array, to)?;
        self.did(array.path(), Repair::Shortened { from, to });
        *array = CArray::open_column(self.tree.clone(), array.path(), &self.options)?;
        Ok(())
    }

    /// bcolz opens an array only with both sums in `meta/sizes`; this crate needs neither.
    fn complete_sizes(&mut self, array: &CArray) -> Result<()> {
        let mut sizes = array.sizes.clone();
        if sizes.cbytes.is_some() && sizes.nbytes.is_some() {
            return Ok(());
        }
        let files = chunk_numbers(&*self.tree, array.path())?.into_iter();
        let lens = files.filter_map(|n| self.tree.len_of(&chunk_path(array.path(), n)).ok());
        sizes.cbytes.get_or_insert(lens.map(i128::from).sum());
        sizes.nbytes.get_or_insert(array.layout.nbytes_of(array.len()).into());
        // Checksums belong to files that had both sums.
        let is_mended = self.actions.iter().any(|action| action.path == array.path());
        if !is_mended && self.tree.len_of(&sums_path(array.path())).is_ok() {
            self.did(array.path(), Repair::Metadata { name: "meta/sizes" });
        }
        self.write(&meta::sizes_path(array.path()), &sizes.to_text())
    }

    fn set_length(&self, array: &CArray, len: u64) -> Result<()> {
        let mut sizes = array.sizes.clone().with_len(len);
        if !array.is_object() {
            sizes.nbytes = Some(array.layout.nbytes_of(len).into());
        }
        self.write(&meta::sizes_path(array.path()), &sizes.to_text())
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        self.tree.write(path, text.as_bytes()).map_err(|source| Error::io(path, source))
    }

    fn did(&mut self, path: &str, what: Repair) {
        self.actions.push(Action { path: path.to_owned(), what });
    }
}

/// Whether a column is worth keeping: it is empty, or some of its chunks are readable.
fn is_partly_good(array: &CArray, lost: &[u64]) -> bool {
    lost.is_empty() || (lost.len() as u64) < array.nchunks()
}

/// Missing chunks that an array may have beyond the number of existing ones.
const MAX_MISSING_CHUNKS: u64 = 1000;

/// The pickle of `None`.
const PICKLED_NONE: &[u8] = b"\x80\x02N.";
