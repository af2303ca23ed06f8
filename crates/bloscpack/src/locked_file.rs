//! A file that one program changes at a time. If its table of offsets is used up, a new file with a
//! larger one replaces it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use blosc_io::replace::{self, Carry, ReplaceOptions, Replacement};
use blosc_io::{Durability, FileStore, Lock, LockWait, ReadAt, Stamp, Sync, WriteAt};

use crate::append::check_tail;
use crate::{
    AppendOptions, AppendReport, BlpFile, Error, OffsetsUse, Param, ReadOptions, RepackOptions,
    Reserve, Result, append, repack,
};

/// A locked file that is open for changes: other programs that lock wait until it is dropped. It is
/// a store, so all functions that change a store can change it.
///
/// ```
/// use blosc_io::LockWait;
/// use bloscpack::{AppendOptions, BlpFile, LockedFile, WriteOptions, pack, rewrite_metadata};
/// use serde_json::json;
///
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("log.blp");
/// std::fs::write(&path, pack(b"one,", WriteOptions::default().metadata(Some(json!(1))))?)?;
///
/// let mut file = LockedFile::open(&path, &LockWait::default())?;
/// file.append(&b"two"[..], 3, &AppendOptions::default())?;
/// rewrite_metadata(&mut file, &json!(2), Default::default())?;
/// drop(file);
/// assert_eq!(BlpFile::open(&path)?.chunk(0)?, b"one,");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If the system or the file system has no locks, the file is not locked. A noticed change by
/// another program is then an error: [`Error::ChangedByOther`].
#[derive(Debug)]
pub struct LockedFile {
    path: PathBuf,
    store: FileStore,
    /// Released after the last write.
    _lock: Lock,
    /// Whether a new file, which is `store`, replaced the one that was opened.
    replaced: bool,
}

impl LockedFile {
    /// Opens a file for changes as soon as no other program has it open for changes. Removes
    /// temporary files that a killed program left beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another program has the lock for longer than `wait` allows, or
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, wait: &LockWait) -> Result<Self> {
        let path = path.as_ref();
        loop {
            let lock = Lock::exclusive(path, wait).map_err(Error::lock)?;
            let store = FileStore::open_rw(path).map_err(Error::open(path))?;
            // A program that does not lock may have replaced the file in between.
            if lock.has_name(path).map_err(|source| Error::io(0, source))? {
                // Leftovers that cannot be removed are harmless.
                let _ = replace::sweep(path);
                return Ok(Self { path: path.to_owned(), store, _lock: lock, replaced: false });
            }
        }
    }

    /// As [`append`], also if the offsets are used up: a file with the same chunks and a larger
    /// table then replaces this one in one step, and is appended to.
    ///
    /// # Errors
    ///
    /// As [`append`]. If the replacement fails, the file keeps its old content.
    pub fn append(
        &mut self,
        mut data: impl Read,
        nbytes: u64,
        options: &AppendOptions,
    ) -> Result<AppendReport> {
        // `append` reads `data` only after its plan is made, so they are still complete.
        match append(self, &mut data, nbytes, options) {
            Err(Error::Param(Param::NotEnoughSpace { needed, .. })) => {
                self.enlarge_table(needed, options.durability)?;
                append(self, &mut data, nbytes, options)
            }
            done => done,
        }
    }

    /// Cuts off the bytes after the last chunk, which have no meaning, and returns their number.
    ///
    /// # Errors
    ///
    /// [`Param::NotLast`] if they are a chunk or a file themselves, [`Error::Corrupt`] or
    /// [`Error::Io`].
    pub fn cut_tail(&mut self) -> Result<u64> {
        crate::recover(self)?;
        let read = ReadOptions::default().offsets(OffsetsUse::Check);
        let file = BlpFile::with_options(&self.store, read)?;
        check_tail(&file)?;
        let ntail = file.trailing_bytes()?;
        drop(file);
        if ntail > 0 {
            let len =
                self.store.len().map_err(|source| Error::io(0, source))?.saturating_sub(ntail);
            let cut = self.store.set_len(len).and_then(|()| self.store.sync(Sync::All));
            cut.map_err(|source| Error::io(len, source))?;
        }
        Ok(ntail)
    }

    /// Replaces the file by one with room for more than `needed` additional chunks.
    fn enlarge_table(&mut self, needed: u64, durability: Durability) -> Result<()> {
        let read = ReadOptions::default().offsets(OffsetsUse::Check);
        let file = BlpFile::with_options(&self.store, read)?;
        let nchunks = file.nchunks()?;
        let reserve = Reserve::Entries(nchunks.max(needed).saturating_mul(GROWTH_FACTOR));
        let io_error = |source| Error::io(0, source);
        let options = ReplaceOptions { durability, ..ReplaceOptions::default() };
        let replacement = Replacement::file(&self.path, options).map_err(io_error)?;
        // The new file is locked before it gets the name, so that waiting programs keep waiting.
        let new = replacement.handle().map_err(io_error)?;
        let new = repack(&file, new, &RepackOptions::default().reserve(reserve))?;
        drop(file);
        replacement.commit(Carry::Target).map_err(io_error)?;
        (self.store, self.replaced) = (FileStore::from_file(new), true);
        Ok(())
    }

    /// Whether a file with a larger table replaced the opened one.
    #[must_use]
    pub const fn is_replaced(&self) -> bool {
        self.replaced
    }
}

impl ReadAt for LockedFile {
    fn len(&self) -> io::Result<u64> {
        self.store.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.store.read_at(at, buf)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.store.stamp()
    }
}

impl WriteAt for LockedFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.store.write_at(at, bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.store.set_len(len)
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        self.store.sync(what)
    }
}

/// Room in a new table, as a multiple of the present chunks.
const GROWTH_FACTOR: u64 = 10;
