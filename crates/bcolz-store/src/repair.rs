//! Repairing the state after a crash, without losing a row that can be read ("Crashes and
//! half-written data").

use std::path::Path;
use std::sync::Arc;

use blosc_io::LockWait;

use crate::carray::CArray;
use crate::carray_writer::CArrayWriter;
use crate::chunk_file::{ChunkFile, Expected};
use crate::error::{Corrupt, Error, Result};
use crate::files::{self, join};
use crate::layout::{Layout, chunk_path};
use crate::leftovers;
use crate::meta::{self, Attrs, Sizes, Storage};
use crate::names::{self, names_path};
use crate::note::shown;
use crate::params::OpenOptions;
use crate::table_sums::replace_attrs;
use crate::tree::{DirTree, Tree};

pub use crate::rescue::{RescueOptions, rescue_in};
pub use blosc_container::rescue::Fill;

/// A repair that was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", shown(path))]
#[non_exhaustive]
pub struct Action {
    /// The array or table (path below the root).
    pub path: String,
    /// The kind of repair.
    pub what: Repair,
}

/// The kinds of repairs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Repair {
    /// A missing or empty `__attrs__`, without which bcolz opens nothing, was written.
    #[error("wrote empty attributes")]
    Attrs,
    /// `meta/sizes` was missing or no JSON; the length was taken from the chunks.
    #[error("counted {len} rows")]
    Sizes {
        /// Rows found.
        len: u64,
    },
    /// `meta/sizes` counted rows after the last stored one.
    #[error("{to} rows, not {from}")]
    Shortened {
        /// Rows counted before.
        from: u64,
        /// Rows present.
        to: u64,
    },
    /// A column longer than the shortest one was trimmed.
    #[error("trimmed from {from} to {to} rows")]
    Trimmed {
        /// Rows before.
        from: u64,
        /// Rows afterwards.
        to: u64,
    },
    /// The renaming of a column was completed.
    #[error("completed the renaming of {to:?}")]
    Renamed {
        /// Its new name.
        to: String,
    },
    /// Attributes that are not valid were dropped. This repair and all that follow are made by
    /// [`rescue_in`] only.
    #[error("gave up attributes that make no sense")]
    AttrsLost,
    /// The list of columns was not valid; all directories with arrays became columns.
    #[error("found {count} columns by their directories")]
    Names {
        /// Columns.
        count: usize,
    },
    /// `meta/storage` was missing or not valid; chunk length and compression come from the chunks.
    #[error("the type is lost; items are {dtype}, as the chunks have them")]
    Storage {
        /// The type: the caller's, or raw bytes.
        dtype: String,
    },
    /// A column without any readable data was removed from the list.
    #[error("gave up column {name:?}")]
    ColumnDropped {
        /// Its name.
        name: String,
    },
    /// A chunk that cannot be read was replaced by fill values.
    #[error("filled chunk {nchunk}, {rows} rows, with the fill value")]
    Filled {
        /// Its number.
        nchunk: u64,
        /// Rows in it.
        rows: u64,
    },
    /// A chunk was read and kept, but does not match its checksum.
    #[error("kept chunk {nchunk}, which is not as it was written")]
    Doubtful {
        /// Its number.
        nchunk: u64,
    },
    /// A file of metadata was read and kept, but does not match its checksum. The new array has no
    /// checksums.
    #[error("kept {name}, which is not as it was written")]
    Metadata {
        /// The file (path below the array).
        name: &'static str,
    },
    /// The file of checksums is damaged, so no file was compared. The new array has none.
    #[error("left out .b2sums, which is damaged")]
    Sums,
    /// Rows that cannot be read were removed, and the rows after them moved up.
    #[error("took out {rows} rows")]
    Cut {
        /// Rows removed.
        rows: u64,
        /// Chunks of this array that cannot be read.
        nchunks: u64,
    },
    /// Leftovers of an interrupted change, never committed, were removed.
    #[error("removed the unfinished {name:?}")]
    Removed {
        /// The file or directory.
        name: String,
    },
}

impl Repair {
    /// Whether the repair lost data for good.
    #[must_use]
    pub const fn is_loss(&self) -> bool {
        matches!(
            self,
            Self::AttrsLost
                | Self::Storage { .. }
                | Self::ColumnDropped { .. }
                | Self::Filled { .. }
                | Self::Doubtful { .. }
                | Self::Metadata { .. }
                | Self::Cut { .. }
                | Self::Shortened { .. }
                | Self::Trimmed { .. }
        )
    }
}

/// Repairs the array or table in a directory; sound files are not touched.
///
/// Trims columns that are longer than the shortest one: their last rows have no counterpart in the
/// others. A caller that wants to keep those rows reads the columns one by one before.
///
/// # Errors
///
/// `Corrupt` for faults that cannot be repaired; `Io`. Earlier repairs of the same call stay.
pub fn repair(rootdir: impl AsRef<Path>) -> Result<Vec<Action>> {
    repair_in(Arc::new(DirTree::new(rootdir.as_ref())), "")
}

/// Repairs the array or table at `path` of a tree.
///
/// # Errors
///
/// As [`repair`].
pub fn repair_in(tree: Arc<dyn Tree>, path: &str) -> Result<Vec<Action>> {
    let _lock = files::lock_exclusive(&*tree, path, &LockWait::default())?;
    repair_locked(tree, path)
}

/// Repairs an array or table under a lock that the caller holds.
pub(crate) fn repair_locked(tree: Arc<dyn Tree>, path: &str) -> Result<Vec<Action>> {
    let is_table = names::is_table(&*tree, path)?;
    let mut repairer = Repairer { tree, keeps_length: false, actions: Vec::new() };
    if is_table {
        repairer.table(path)?
    } else {
        repairer.array(path)?
    }
    Ok(repairer.actions)
}

/// Repairs an array and keeps its length, however many chunks are lost.
pub(crate) fn repair_array(tree: Arc<dyn Tree>, path: &str) -> Result<Vec<Action>> {
    let mut repairer = Repairer { tree, keeps_length: true, actions: Vec::new() };
    repairer.array(path)?;
    Ok(repairer.actions)
}

struct Repairer {
    tree: Arc<dyn Tree>,
    /// Whether missing rows stay, to be filled later.
    keeps_length: bool,
    actions: Vec<Action>,
}

impl Repairer {
    fn table(&mut self, path: &str) -> Result<()> {
        if let Some(done) = leftovers::finish_rename(&*self.tree, path)? {
            self.did(path, done);
        }
        self.remove_pending(path)?;
        let names_path = names_path(path);
        let json = meta::read_object(&*self.tree, &names_path)?;
        let names = names::parse_names(&json, &names_path)?;
        let mut lengths = Vec::new();
        for name in &names {
            if let Some(fault) = names::fault(name) {
                return Err(Error::corrupt(
                    names_path,
                    Corrupt::ColumnName { name: name.clone(), fault },
                ));
            }
            let path = join(path, name);
            self.array(&path)?;
            lengths.push(
                CArray::open_column(self.tree.clone(), &path, &OpenOptions::default())?.len(),
            );
        }
        let to = lengths.iter().copied().min().unwrap_or(0);
        for (name, from) in names.iter().zip(lengths).filter(|(_, from)| *from > to) {
            let path = join(path, name);
            let column = CArray::open_column(self.tree.clone(), &path, &OpenOptions::default())?;
            CArrayWriter::from_array(column)?.trim(from.saturating_sub(to))?;
            self.did(&path, Repair::Trimmed { from, to });
        }
        self.attrs(path)
    }

    fn array(&mut self, path: &str) -> Result<()> {
        self.attrs(path)?;
        for inner in ["", "meta", "data"] {
            self.remove_pending(&join(path, inner))?;
        }
        let (storage, _) = Storage::read(&*self.tree, path)?;
        let sizes_path = meta::sizes_path(path);
        let sizes = match meta::read_object(&*self.tree, &sizes_path) {
            Ok(json) => Sizes::parse(&json, &sizes_path)?,
            Err(Error::Corrupt { what: Corrupt::Missing | Corrupt::Json { .. }, .. }) => {
                let sizes = self.count(path, &storage)?;
                self.write(&sizes_path, &sizes.to_text())?;
                let len = sizes.shape.first().copied().unwrap_or(0);
                self.did(path, Repair::Sizes { len });
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if self.keeps_length {
            return Layout::new(&sizes, &storage, path).map(drop);
        }
        self.shorten(path, sizes, &storage)
    }

    fn attrs(&mut self, path: &str) -> Result<()> {
        let attrs_path = meta::attrs_path(path);
        match files::read_metadata(&*self.tree, &attrs_path)?.as_deref() {
            None | Some([]) => {
                replace_attrs(&*self.tree, path, &Attrs::default().to_text())?;
                self.did(path, Repair::Attrs);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Removes unfinished files and columns.
    fn remove_pending(&mut self, path: &str) -> Result<()> {
        for name in leftovers::remove_pending(&*self.tree, path)? {
            self.did(path, Repair::Removed { name });
        }
        Ok(())
    }

    /// The sizes of an array by its chunks: the full ones, and the first shorter one.
    fn count(&self, path: &str, storage: &Storage) -> Result<Sizes> {
        let plain = |len| Sizes { shape: vec![len], nbytes: Some(0), cbytes: Some(0) };
        let mut layout = Layout::new(&plain(0), storage, path)?;
        let mut sizes = plain(0);
        if layout.is_object {
            let mut len = 0;
            while files::has_file(&*self.tree, &chunk_path(path, len))? {
                len = len.saturating_add(1);
            }
            return Ok(plain(len));
        }
        // Rows with a shape are longer than items; the shape itself is lost.
        if let Some(nbytes) = self.chunk_nbytes(path, &layout, 0)?
            && nbytes > layout.chunk_nbytes()
            && nbytes.is_multiple_of(layout.chunk_nbytes())
            && let Some(width) = nbytes.checked_div(layout.chunk_nbytes())
        {
            sizes.shape.push(width);
            layout = Layout::new(&sizes, storage, path)?;
        }
        let first = if self.keeps_length { self.last_chunk(path)? } else { 0 };
        let mut len = first.saturating_mul(layout.chunklen);
        for nchunk in first.. {
            let nbytes = self.chunk_nbytes(path, &layout, nchunk)?.unwrap_or(0);
            len = len.saturating_add(layout.rows_of(nbytes));
            if nbytes < layout.chunk_nbytes() {
                break;
            }
        }
        let nbytes = Some(layout.nbytes_of(len).into());
        Ok(Sizes { nbytes, cbytes: nbytes, ..sizes.with_len(len) })
    }

    /// The number of the last chunk, unless too few of the chunks before it exist.
    fn last_chunk(&self, path: &str) -> Result<u64> {
        let numbers = leftovers::chunk_numbers(&*self.tree, path)?;
        let limit = (numbers.len() as u64).saturating_mul(2);
        Ok(numbers.into_iter().filter(|number| *number < limit).max().unwrap_or(0))
    }

    /// Corrects a length that an interrupted trim of bcolz left too large: the last existing chunk
    /// holds fewer rows.
    fn shorten(&mut self, path: &str, sizes: Sizes, storage: &Storage) -> Result<()> {
        let layout = Layout::new(&sizes, storage, path)?;
        let from = layout.len();
        let Some(last) = layout.nchunks().checked_sub(1).filter(|_| !layout.is_object) else {
            return Ok(());
        };
        let holds = |nbytes: u64, nchunk: u64| nbytes >= layout.allowed_nbytes(nchunk).0;
        if self.chunk_nbytes(path, &layout, last)?.is_some_and(|nbytes| holds(nbytes, last)) {
            return Ok(());
        }
        let mut len = 0;
        for nchunk in 0..=last {
            // Keeps a damaged chunk, as its data may be recoverable by other means.
            let Some(nbytes) = self.chunk_nbytes(path, &layout, nchunk)? else { return Ok(()) };
            len = layout.rows_in(nchunk).min(layout.rows_of(nbytes)).saturating_add(len);
            if !holds(nbytes, nchunk) {
                // Chunks after this one hold data, which must stay reachable.
                let next = chunk_path(path, nchunk.saturating_add(1));
                if nchunk < last && files::has_file(&*self.tree, &next)? {
                    return Ok(());
                }
                break;
            }
        }
        let nbytes = Some(layout.nbytes_of(len).into());
        let sizes = Sizes { nbytes, ..sizes.with_len(len) };
        self.write(&meta::sizes_path(path), &sizes.to_text())?;
        self.did(path, Repair::Shortened { from, to: len });
        Ok(())
    }

    /// Bytes of data in a chunk, by its header: 0 if it is missing, `None` if it is damaged.
    fn chunk_nbytes(&self, path: &str, layout: &Layout, nchunk: u64) -> Result<Option<u64>> {
        let nbytes = (1, crate::layout::MAX_CHUNK_BYTES);
        let rowsize = layout.rowsize as u64;
        let expected = Expected { nchunk, nbytes, rowsize, limit: u64::MAX };
        match ChunkFile::open(&*self.tree, chunk_path(path, nchunk), expected) {
            Ok(file) => Ok(Some(file.header.nbytes() as u64)),
            Err(error @ Error::Io { .. }) => Err(error),
            Err(Error::Corrupt { what: Corrupt::Missing, .. }) => Ok(Some(0)),
            Err(_) => Ok(None),
        }
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        files::write(&*self.tree, path, text.as_bytes())
    }

    fn did(&mut self, path: &str, what: Repair) {
        self.actions.push(Action { path: path.to_owned(), what });
    }
}
