//! One array in a directory: opening it, and the facts that its metadata tell.

mod blocks;
mod chunks;
mod compare;
mod info;
mod objects;
mod row_reader;
mod rows;
mod verify;

use core::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use blosc_container::{block_cache::BlockCache, pool::Pool};
use blosc_dtype::Dtype;

pub use blocks::Blocks;
pub use blosc_dtype::Element;
pub use objects::Objects;
pub use row_reader::RowReader;
pub use verify::{BadChunk, Report};

use crate::error::{Param, Result};
use crate::layout::{Layout, chunk_path};
use crate::meta::{self, Attrs, Sizes, Storage};
use crate::note::{Fault, Note};
use crate::tree::Tree;
use crate::worker::Worker;
use crate::{OpenOptions, StorageParams, fill};
use blosc_dtype::json::Json;
use compare::Compared;

/// An array that can be read; see the [crate] for an example.
///
/// Opening reads only the metadata. The array keeps that state: rows that another program appends
/// later do not appear.
#[derive(Clone, Debug)]
pub struct CArray {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) path: String,
    pub(crate) layout: Layout,
    pub(crate) storage: Storage,
    pub(crate) sizes: Sizes,
    /// None if they are damaged.
    attrs: Option<Attrs>,
    notes: Vec<Note>,
    pub(crate) options: OpenOptions,
    /// Shared by all clones.
    pool: Arc<Pool<Worker>>,
    /// Shared as well.
    cache: Arc<Mutex<BlockCache>>,
    /// Checksums, and the files already compared with them. Also shared.
    compared: Arc<OnceLock<Compared>>,
}

impl CArray {
    /// Opens the array in a directory.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::Error::Corrupt) and [`Dtype`](crate::Error::Dtype) if metadata are
    /// missing or wrong; `Io`.
    pub fn open(rootdir: impl AsRef<Path>) -> Result<Self> {
        let tree = Arc::new(crate::open::directory(rootdir.as_ref())?);
        Self::open_in(tree, "", &OpenOptions::default())
    }

    /// Opens the array at `path` of a tree.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<Self> {
        crate::prefetch::announce_metadata(&*tree, path);
        if crate::names::is_table(&*tree, path)? {
            return Err(Param::Kind { found: "ctable", asked: "carray" }.into());
        }
        Self::open_column(tree, path, options)
    }

    /// Opens an array at a path that is known to hold no table.
    pub(crate) fn open_column(
        tree: Arc<dyn Tree>,
        path: &str,
        options: &OpenOptions,
    ) -> Result<Self> {
        let sizes = Sizes::read(&*tree, path)?;
        let (storage, mut faults) = Storage::read(&*tree, path)?;
        let layout = Layout::new(&sizes, &storage, path)?;
        let nbytes = layout.nbytes_of(layout.len());
        if let Some(stored) =
            sizes.nbytes.filter(|stored| !layout.is_object && *stored != i128::from(nbytes))
        {
            faults.push(Fault::Nbytes { stored, expected: nbytes });
        }
        let attrs = match Attrs::read(&*tree, path) {
            Ok((attrs, fault)) => {
                faults.extend(fault);
                Some(attrs)
            }
            // The data are readable without attributes; `attrs` reports the damage.
            Err(_) => None,
        };
        let notes = faults.into_iter().map(|fault| Note { path: path.to_owned(), fault }).collect();
        let array = Self {
            tree,
            path: path.to_owned(),
            layout,
            storage,
            sizes,
            attrs,
            notes,
            options: options.clone(),
            pool: Arc::default(),
            cache: Arc::new(Mutex::new(BlockCache::new(options.cache))),
            compared: Arc::default(),
        };
        // The checksums came with the other metadata; later they would take a round of their own.
        if array.prefetch_limit() > 0 {
            array.compares_files();
        }
        Ok(array)
    }

    /// Rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.layout.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows, and items of a row in each further dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// The type of an item.
    #[must_use]
    pub const fn dtype(&self) -> &Dtype {
        &self.layout.dtype
    }

    /// Bytes of a row.
    #[must_use]
    pub const fn rowsize(&self) -> usize {
        self.layout.rowsize
    }

    /// Rows of a full chunk.
    #[must_use]
    pub const fn chunklen(&self) -> u64 {
        self.storage.chunklen
    }

    /// Bytes of all rows; for an object array, the number that its writer stored.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        if self.layout.is_object {
            return self.sizes.nbytes.and_then(|nbytes| nbytes.try_into().ok()).unwrap_or(0);
        }
        self.layout.nbytes_of(self.len())
    }

    /// The compressed size as its writer counted it. It counts a missing chunk too, and may be
    /// negative.
    #[must_use]
    pub const fn stored_cbytes(&self) -> Option<i128> {
        self.sizes.cbytes
    }

    /// Chunks, the partial one included; elements of an object array.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.layout.nchunks()
    }

    /// Rows in the partial chunk.
    #[must_use]
    pub fn nleftover(&self) -> u64 {
        self.layout.leftover()
    }

    /// Whether the elements are pickled Python objects: see [`objects`](Self::objects).
    #[must_use]
    pub const fn is_object(&self) -> bool {
        self.layout.is_object
    }

    /// The parameters for chunks still to be written; each existing chunk's header has its own.
    #[must_use]
    pub const fn cparams(&self) -> StorageParams {
        self.storage.cparams
    }

    /// The length that was expected when the array was made.
    #[must_use]
    pub const fn expectedlen(&self) -> Option<i128> {
        self.storage.expectedlen
    }

    /// The fill value as it is stored.
    #[must_use]
    pub const fn dflt(&self) -> Option<&Json> {
        self.storage.dflt.as_ref()
    }

    /// The fill value as bytes: one row.
    ///
    /// # Errors
    ///
    /// [`Corrupt::Dflt`](crate::error::Corrupt::Dflt) where it is not a value of the dtype.
    pub fn dflt_row(&self) -> Result<Vec<u8>> {
        fill::row(&self.layout, self.dflt(), &meta::storage_path(&self.path))
    }

    /// The attributes of the user.
    ///
    /// # Errors
    ///
    /// If `__attrs__` is damaged; the data are readable all the same.
    pub fn attrs(&self) -> Result<Attrs> {
        match &self.attrs {
            Some(attrs) => Ok(attrs.clone()),
            None => Attrs::read(&*self.tree, &self.path).map(|(attrs, _)| attrs),
        }
    }

    /// Oddities of the metadata.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The path of the array below the root of its tree.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The files of the chunks with these rows, below the root of its tree.
    pub fn chunk_paths(&self, rows: Range<u64>) -> impl Iterator<Item = String> {
        self.parts_of(rows).map(|(nchunk, _)| chunk_path(&self.path, nchunk))
    }

    fn check_rows(&self, rows: &Range<u64>) -> Result<()> {
        if self.layout.is_object {
            return Err(Param::Objects { found: self.path.clone(), objects: true }.into());
        }
        if rows.start > rows.end || rows.end > self.len() {
            return Err(Param::Rows { start: rows.start, end: rows.end, len: self.len() }.into());
        }
        Ok(())
    }
}
