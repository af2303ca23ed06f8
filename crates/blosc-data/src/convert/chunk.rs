//! Conversion to one bare chunk.

use std::{fs, path::Path};

use blosc_chunk::{
    ChunkHeader, Encoder, Special, SpecialKind, special_chunk,
    transcode::{detach_from_schunk, transcode_header},
};

use super::{Conversion, Report, know_filters};
use crate::content::Packed;
use crate::error::{Doing, Error, Result};

impl Conversion<'_> {
    /// Writes a chunk to `path`: the only chunk of the content, or one made of all data.
    pub(super) fn chunk(&self, path: &Path) -> Result<Report> {
        self.check_no_shapes()?;
        let moved = if self.settings.compression.is_wanted() { None } else { self.only_chunk()? };
        let mut done = Report::default();
        done.count(moved.is_some());
        let chunk = moved.map_or_else(|| self.one_chunk(), Ok)?;
        fs::write(path, chunk).map_err(Error::io_at(Doing::Write, path))?;
        Ok(Report { left_out: self.all_but_data()?, ..done })
    }

    /// The chunk with all content, if there is one and the target can read it.
    fn only_chunk(&self) -> Result<Option<Vec<u8>>> {
        let nbytes = self.content.nbytes()?;
        let is_all =
            self.content.chunksize()?.is_some_and(|size| size as u64 >= nbytes) && nbytes > 0;
        // Chunks of arrays may hold the items in another order.
        let is_fortran = self.content.layout()?.is_some_and(|layout| layout.fortran_order);
        let is_flat = self.content.nd_meta()?.is_none() && !is_fortran;
        if !is_all || !is_flat {
            return Ok(None);
        }
        let chunk =
            self.content.packed(0, self.settings.resources.held())?.and_then(
                |packed| match packed {
                    Packed::Bytes(mut bytes) => {
                        detach_from_schunk(&mut bytes, self.content.typesize()).ok().map(|()| bytes)
                    }
                    Packed::Run { kind, nbytes } => self.run(kind, nbytes),
                },
            );
        Ok(match (chunk, self.settings.compression.target) {
            (Some(chunk), Some(target)) => {
                let is_known = ChunkHeader::parse(&chunk)
                    .is_ok_and(|header| know_filters(&header.pipeline(), target));
                transcode_header(&chunk, target).ok().filter(|_| is_known)
            }
            (chunk, _) => chunk,
        })
    }

    /// A run as a chunk.
    fn run(&self, kind: SpecialKind, nbytes: usize) -> Option<Vec<u8>> {
        let special = match kind {
            SpecialKind::Zeros => Special::Zeros,
            SpecialKind::Nans => Special::Nans,
            _ => return None,
        };
        special_chunk(special, nbytes, &self.cparams().ok()?).ok()
    }

    /// Compresses all content to one chunk, in memory.
    fn one_chunk(&self) -> Result<Vec<u8>> {
        let wrong = |source| Error::Chunk { at: 0, source };
        let cparams = self.cparams()?;
        let nbytes = self.content.nbytes()?;
        let threads = self.settings.resources.one_chunk(&cparams, nbytes)?;
        let mut data = Vec::with_capacity(usize::try_from(nbytes).unwrap_or_default());
        self.content.in_c_order(
            &self.settings.resources.decoding(),
            self.settings.resources.held() / 4,
            &mut |bytes| {
                (self.progress)(bytes.len() as u64);
                data.extend_from_slice(bytes);
                Ok::<(), Error>(())
            },
        )?;
        Encoder::new(cparams.threads(threads))
            .and_then(|mut encoder| encoder.encode(&data))
            .map_err(wrong)
    }
}
