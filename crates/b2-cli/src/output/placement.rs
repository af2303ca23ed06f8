//! How a complete output gets its name, for compress, decompress, convert and recompress.
//!
//! ```text
//! Target --open--> Dest::Stream   written from front to back
//!                  Dest::File     staged, read back if requested, renamed; then the input may go
//! ```

use std::{
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use b2store::Note;
use blosc_io::replace;

use crate::{
    args::OutputArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    inputs::{Origin, origin},
    output::{Sink, Staged, Target},
    render::path_text,
};

/// The destination of the bytes of an output.
pub(crate) enum Dest<'a> {
    /// A file, by its temporary path.
    File(&'a Path),
    /// To standard output or a device.
    Stream(Sink),
}

impl Target {
    /// Opens a stream for a target that is written in place; for a file, the path.
    ///
    /// # Errors
    ///
    /// When the target cannot be opened, or `stdout` refuses.
    pub(crate) fn open(&self, stdout: impl FnOnce() -> Result<Sink>) -> Result<Dest<'_>> {
        Ok(match self {
            Self::Stdout => Dest::Stream(stdout()?),
            Self::Device(path) => Dest::Stream(Sink::device(path)?),
            Self::File(path) => Dest::File(path),
        })
    }

    /// The path; `None` is standard output.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) | Self::Device(path) => Some(path),
        }
    }
}

/// The way from a complete output to its target.
pub(crate) struct Placement<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) origin: &'a Origin,
    pub(crate) output: &'a OutputArgs,
    /// Whether the output is read back even if the input stays.
    pub(crate) verify: bool,
    /// The mode and times of the input, for the output.
    pub(crate) metadata: Option<Metadata>,
}

impl Placement<'_> {
    /// Reads the output back if `--verify` or `--rm` is given, and renames it. With `--rm`, removes
    /// the input if `lost` finds nothing that the output lacks.
    ///
    /// # Errors
    ///
    /// When `read_back` or `lost` fails, the system refuses, or the output lacks something.
    pub(crate) fn finish(
        self,
        staged: Staged,
        read_back: impl FnOnce(&Staged) -> Result<()>,
        lost: impl FnOnce(&Staged) -> Result<Option<String>>,
    ) -> Result<()> {
        let OutputArgs { rm, force, .. } = *self.output;
        if self.verify || rm {
            staged.sync()?;
            read_back(&staged)?;
        }
        let lost = if rm && !force { lost(&staged)? } else { None };
        let input = self.origin.changeable().filter(|_| rm && !force);
        let lost = lost.or_else(|| input.and_then(|path| beside(path)));
        if !rm {
            // Only `--rm` needs each output renamed at once, while the input is locked.
            return self.cx.put_in_place(self.origin, staged, self.metadata);
        }
        staged.commit(self.metadata.as_ref())?;
        match (self.origin.changeable().filter(|_| rm), lost) {
            (Some(_), Some(what)) => Err(message::WOULD_LOSE.about(what)),
            (Some(path), None) => remove_input(path).map_err(Error::io(Doing::Remove)),
            (None, _) => Ok(()),
        }
    }
}

/// The content of an input that no reader of it reads, in words.
fn beside(input: &Path) -> Option<String> {
    if let Some(file) = foreign_file(input) {
        return Some(format!("{}, which is no part of it,", path_text(&file)));
    }
    let place = crate::inputs::Place::from(input);
    let store = Some(input).filter(|path| place.is_store() && path.is_file());
    let store = b2store::Store::open(store?).ok()?;
    store.notes().iter().find_map(|note| match note {
        Note::Outside { before, after } => {
            Some(format!("{} bytes around its archive", before.saturating_add(*after)))
        }
        _ => None,
    })
}

/// The first file in a sparse frame or a data set of bcolz that is no part of it. It would be
/// removed with the folder.
pub(crate) fn foreign_file(folder: &Path) -> Option<PathBuf> {
    let place = crate::inputs::Place::from(folder);
    if !place.is_sparse_frame() && !place.is_bcolz() {
        return None;
    }
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if is_part(&path) => {}
                false => return Some(path),
            }
        }
    }
    None
}

/// Whether a file can be a part of a sparse frame or a data set of bcolz, by its name.
fn is_part(path: &Path) -> bool {
    const NAMES: [&[u8]; 4] = [origin::INDEX_FILE.as_bytes(), b".b2sums", b"sizes", b"storage"];
    let name = path.file_name().unwrap_or_default();
    let bytes = name.as_encoded_bytes();
    NAMES.contains(&bytes)
        || bytes.starts_with(b"__")
        || bytes.ends_with(b".chunk")
        || bytes.ends_with(b".b2lock")
        || replace::is_leftover(path)
        || name.to_str().is_some_and(replace::is_temporary)
}

/// Removes a file, or the files of a sparse frame but no other ones.
fn remove_input(path: &Path) -> io::Result<()> {
    if !crate::inputs::Place::from(path).is_sparse_frame() {
        return fs::remove_file(path);
    }
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let is_chunk = path.extension().is_some_and(|extension| extension == "chunk");
        if is_chunk || name == origin::INDEX_FILE || name == ".b2lock" {
            fs::remove_file(path)?;
        }
    }
    fs::remove_dir(path)
}

/// Mode and times of an input, if it is a file or a directory.
pub(crate) fn metadata_of(origin: &Origin) -> Option<Metadata> {
    let is_kept = |metadata: &Metadata| metadata.is_file() || metadata.is_dir();
    origin.path().and_then(|path| fs::metadata(path).ok()).filter(is_kept)
}

/// Counts of the frames and bytes that were placed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Frames; 0 for other formats.
    pub(crate) frames: u64,
    /// Bytes of data.
    pub(crate) nbytes: u64,
    /// Bytes of data compressed.
    pub(crate) stored: u64,
}
