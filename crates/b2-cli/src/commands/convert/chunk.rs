//! To one chunk without anything around it.

use std::{fs, path::Path};

use blosc_chunk::{
    ChunkHeader, Encoder, Special, SpecialKind, special_chunk,
    transcode::{detach_from_schunk, transcode_header},
};

use super::{Done, Work, source::Packed};
use crate::{
    error::{Doing, Error, Result},
    report::readers,
};

impl Work<'_> {
    /// Writes a chunk to `path`: the one that there is, or one made of all data.
    pub(super) fn chunk(&self, path: &Path) -> Result<Done> {
        self.check_no_shapes()?;
        let moved = if self.args.anew.is_wanted() { None } else { self.only_chunk()? };
        let mut done = Done::default();
        done.count(moved.is_some());
        let chunk = moved.map_or_else(|| self.one_chunk(), Ok)?;
        fs::write(path, chunk).map_err(Error::io_at(Doing::Write, path))?;
        Ok(Done { left_out: self.all_but_data()?, ..done })
    }

    /// The chunk with all content, if there is one, for the target if there is one.
    fn only_chunk(&self) -> Result<Option<Vec<u8>>> {
        let nbytes = self.source.nbytes()?;
        let is_all =
            self.source.chunksize()?.is_some_and(|size| size as u64 >= nbytes) && nbytes > 0;
        // The items of an array may lie otherwise in a chunk.
        let is_fortran = self.source.layout()?.is_some_and(|layout| layout.fortran_order);
        let is_flat = self.source.nd_meta()?.is_none() && !is_fortran;
        if !is_all || !is_flat {
            return Ok(None);
        }
        let chunk = self.source.packed(0, self.cx.memory())?.and_then(|packed| match packed {
            Packed::Bytes(mut bytes) => {
                detach_from_schunk(&mut bytes, self.source.typesize()).ok().map(|()| bytes)
            }
            Packed::Run { kind, nbytes } => self.run(kind, nbytes),
        });
        Ok(match (chunk, self.args.anew.target) {
            (Some(chunk), Some(target)) => {
                let is_known = ChunkHeader::parse(&chunk)
                    .is_ok_and(|header| readers::know_filters(&header.pipeline(), target));
                transcode_header(&chunk, target).ok().filter(|_| is_known)
            }
            (chunk, _) => chunk,
        })
    }

    /// A run, written down.
    fn run(&self, kind: SpecialKind, nbytes: usize) -> Option<Vec<u8>> {
        let special = match kind {
            SpecialKind::Zeros => Special::Zeros,
            SpecialKind::Nans => Special::Nans,
            _ => return None,
        };
        special_chunk(special, nbytes, &self.cparams().ok()?).ok()
    }

    /// All content in one chunk, made in memory.
    fn one_chunk(&self) -> Result<Vec<u8>> {
        let wrong = |source| Error::Chunk { at: 0, source };
        let cparams = self.cparams()?;
        let nbytes = self.source.nbytes()?;
        let threads = self.cx.one_chunk(&cparams, nbytes)?;
        let mut data = Vec::with_capacity(usize::try_from(nbytes).unwrap_or_default());
        self.source.in_c_order(&self.cx.read_options(), self.cx.memory() / 4, &mut |bytes| {
            self.progress.add(bytes.len() as u64);
            data.extend_from_slice(bytes);
            Ok::<(), Error>(())
        })?;
        Encoder::new(cparams.threads(threads))
            .and_then(|mut encoder| encoder.encode(&data))
            .map_err(wrong)
    }
}
