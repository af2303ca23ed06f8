//! How an output takes its place, the same way for compress, decompress, convert and recompress.
//!
//! ```text
//! Target --open--> Dest::Stream   written from front to back
//!                  Dest::File     staged, read back if requested, renamed; then the input may go
//! ```

use std::{
    fs::{self, Metadata},
    io,
    path::Path,
};

use crate::{
    args::OutputArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    inputs::{Origin, origin},
    output::{Sink, Staged, Target},
};

/// Where the bytes of an output go.
pub(crate) enum Dest<'a> {
    /// To a file that is staged.
    File(&'a Path),
    /// To standard output or a device.
    Stream(Sink),
}

impl Target {
    /// Opens what is written in place.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or `stdout` refuses.
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
    /// Whether the output is read back though the input stays.
    pub(crate) verify: bool,
    /// The input whose mode and times the output gets.
    pub(crate) metadata: Option<Metadata>,
}

impl Placement<'_> {
    /// Reads the output back where that was requested or the input goes, renames it, and removes
    /// the input if that was requested and `lost` finds nothing that the output lacks.
    ///
    /// # Errors
    ///
    /// When `read_back` or `lost` fail, when the system refuses, or something would be lost.
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
        if !rm {
            // An input that goes is locked until its output has its place.
            return self.cx.put_in_place(self.origin, staged, self.metadata);
        }
        staged.commit(self.metadata.as_ref())?;
        match (self.origin.path().filter(|_| rm), lost) {
            (Some(_), Some(what)) => Err(message::WOULD_LOSE.about(what)),
            (Some(path), None) => remove_input(path).map_err(Error::io(Doing::Remove)),
            (None, _) => Ok(()),
        }
    }
}

/// Removes a file or a sparse frame, but nothing of other programs.
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
    /// Frames; none of other formats.
    pub(crate) frames: u64,
    /// Bytes of data.
    pub(crate) nbytes: u64,
    /// Bytes of data compressed.
    pub(crate) stored: u64,
}
