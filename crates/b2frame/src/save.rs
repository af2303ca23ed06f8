//! Whole frames made from super-chunks.

use std::path::Path;
use std::sync::Arc;

use blosc_io::{MemStore, Tree};

use crate::dest::Dest;
use crate::edit::SChunkWriter;
use crate::error::Result;
use crate::legacy::FrameLayout;
use crate::legacy::convert;
use crate::params::Checksums;
use crate::rewrite::{copy_live, write_file};
use crate::schunk::SChunk;
use crate::seal::{BodySum, SealFrom};
use crate::sparse::Folder;
use crate::writer::Start;

impl SChunk {
    /// Encodes the super-chunk as one contiguous frame of the current layout without unused bytes.
    /// Chunks are not compressed anew. This converts frames of the 2.0.0 betas for today's
    /// programs.
    ///
    /// # Errors
    /// The error of a chunk.
    pub fn to_cframe(&self) -> Result<Vec<u8>> {
        if self.layout() != FrameLayout::Current {
            return convert::to_cframe(self);
        }
        self.encode_frame(None)
    }

    /// As [`to_cframe`](Self::to_cframe), with other checksums.
    fn encode_frame(&self, checksums: Option<Checksums>) -> Result<Vec<u8>> {
        let mut image = MemStore::default();
        let seal = BodySum::of_frame(self)?;
        copy_live(self, &mut image, seal_from(seal.as_ref(), checksums))?;
        Ok(image.into_bytes())
    }

    /// Copies all chunks as they are.
    pub(crate) fn copy_chunks(&self, dest: &Dest, checksums: Option<Checksums>) -> Result<Self> {
        match dest {
            Dest::Memory => Self::from_cframe(self.encode_frame(checksums)?),
            Dest::Contiguous(path) => {
                self.save_file(path, checksums)?;
                Self::open(path)
            }
            Dest::Sparse(path) => dest.write(|dest| {
                let start = Start::like(self, checksums);
                self.append_to(SChunkWriter::start(dest, start, self.cparams())?)?;
                Self::open(path)
            }),
        }
    }

    fn save_file(&self, path: &Path, checksums: Option<Checksums>) -> Result<()> {
        let seal = BodySum::of_frame(self)?;
        write_file(self, path, seal_from(seal.as_ref(), checksums)).map(drop)
    }

    /// Writes the super-chunk as a contiguous frame to a file, without unused bytes. An existing
    /// file is replaced. Chunks are not compressed anew.
    ///
    /// # Errors
    /// [`Error::Open`](crate::Error::Open), [`Error::Write`](crate::Error::Write), or the error of
    /// a chunk.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        match self.as_current()? {
            Some(current) => current.save(path),
            None => self.save_file(path.as_ref(), None),
        }
    }

    /// Writes the super-chunk as a sparse frame to a new directory. Chunks are not compressed anew.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunk, to_cframe};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data.b2frame");
    /// let frame = to_cframe(&[7; 100_000], &FrameParams::default().chunksize(1 << 14))?;
    /// SChunk::from_cframe(frame)?.save_sparse(&path)?;
    /// assert_eq!(SChunk::open(&path)?.nbytes(), 100_000);
    /// assert_eq!(std::fs::read_dir(&path)?.count(), 1 + 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub fn save_sparse(&self, path: impl AsRef<Path>) -> Result<()> {
        if let Some(current) = self.as_current()? {
            return current.save_sparse(path);
        }
        let dest = Dest::Sparse(path.as_ref().to_path_buf());
        self.append_to(SChunkWriter::start(&dest, Start::like(self, None), self.cparams())?)
    }

    /// Writes the super-chunk as a sparse frame to an empty tree of files. Chunks are not
    /// compressed anew.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub fn save_in_tree(&self, tree: Arc<dyn Tree>) -> Result<()> {
        match self.as_current()? {
            Some(current) => current.save_in_tree(tree),
            None => {
                let start = Start::like(self, None);
                self.append_to(SChunkWriter::sparse_in(Folder { tree }, start, self.cparams())?)
            }
        }
    }

    fn append_to(&self, mut writer: SChunkWriter) -> Result<()> {
        writer.append_chunks(self)?;
        writer.finish().map(drop)
    }

    /// A frame of an older layout converted to today's, in memory.
    pub(crate) fn as_current(&self) -> Result<Option<Self>> {
        match self.layout() {
            FrameLayout::Current => Ok(None),
            _ => self.to_cframe().and_then(Self::from_cframe).map(Some),
        }
    }
}

/// The seal of a copy: that of the frame, or a new one.
fn seal_from(seal: Option<&BodySum>, checksums: Option<Checksums>) -> SealFrom<'_> {
    match seal {
        Some(seal) => SealFrom::Old(seal, checksums.unwrap_or(seal.checksums())),
        None => SealFrom::Fresh(checksums.unwrap_or_default()),
    }
}
