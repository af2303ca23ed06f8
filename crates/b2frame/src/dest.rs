//! Destinations of a new frame: memory, a file or a directory. A file appears only when it is
//! complete.

use std::fs;
use std::path::{Path, PathBuf};

use blosc_io::replace::{Carry, ReplaceOptions, Replacement};

use crate::error::{Error, Result};
use crate::schunk::{Draft, SChunk};

/// The destination of a copy, which decides the kind of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dest {
    /// To a contiguous frame in memory.
    Memory,
    /// To a contiguous frame in a file of this name. The complete copy replaces an existing file,
    /// which may be the source.
    Contiguous(PathBuf),
    /// To a sparse frame in a directory of this name, which must not be there yet.
    Sparse(PathBuf),
}

impl Dest {
    /// Lets `make` write a frame here. If that fails, the old content stays.
    pub(crate) fn write(&self, make: impl FnOnce(&Self) -> Result<SChunk>) -> Result<SChunk> {
        match self {
            Self::Memory => make(self),
            Self::Contiguous(path) => {
                let schunk = replace_file(path, |temporary| {
                    make(&Self::Contiguous(temporary.to_path_buf()))
                })?;
                let mut draft = Draft::of_schunk(schunk);
                draft.change().set_path(path);
                Ok(draft.finish())
            }
            Self::Sparse(path) => {
                let was_there = path.symlink_metadata().is_ok();
                let result = make(self);
                if result.is_err() && !was_there {
                    // The writer has removed its files.
                    let _ = fs::remove_dir(path);
                }
                result
            }
        }
    }
}

/// Lets `make` write a file, syncs it and replaces the one at `path`, if there is one. Links are
/// resolved: the file is replaced and the link stays.
pub(crate) fn replace_file<T>(path: &Path, make: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let failed = |source| Error::Write { at: 0, len: 0, source };
    let new = Replacement::folder(path, ReplaceOptions::default()).map_err(failed)?;
    // A frame with a suffix would be a value of the directory store.
    let mut new = new.named("0");
    let made = make(new.path())?;
    let put =
        new.carry(Carry::Target).and_then(|()| new.put_in_place()).and_then(|()| new.sync_name());
    put.map_err(failed)?;
    Ok(made)
}
