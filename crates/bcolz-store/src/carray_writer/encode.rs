//! From rows to a chunk file.

use blosc_chunk::Encoder;
use blosc_container::parallel::for_each;

use super::CArrayWriter;
use crate::chunk_file::PREAMBLE;
use crate::error::{Error, Result};
use crate::layout::chunk_path;
use crate::meta::typesize;
use crate::quantize::Quantize;

/// A chunk on its way through a worker.
pub(super) struct Job<'a> {
    pub(super) nchunk: u64,
    pub(super) data: &'a [u8],
    pub(super) file: Vec<u8>,
}

impl CArrayWriter {
    /// The whole file of a chunk.
    pub(super) fn encode(&self, nchunk: u64, data: &[u8]) -> Result<Vec<u8>> {
        let mut jobs = [Job { nchunk, data, file: Vec::new() }];
        self.encode_all(&mut jobs)?;
        let [job] = jobs;
        Ok(job.file)
    }

    /// The files of several chunks.
    pub(super) fn encode_all(&self, jobs: &mut [Job<'_>]) -> Result<()> {
        let quantize = Quantize::new(self.storage.cparams.quantize, &self.layout.dtype)?;
        let params = self.storage.cparams.to_chunk(typesize(&self.layout.dtype));
        let make = || Encoder::new(params.clone());
        let threads = &self.options.budget.threads;
        let nworkers = threads.count_for(jobs.len());
        for_each((threads, nworkers), jobs.iter_mut(), make, |encoder, job| {
            let in_chunk = |source| Error::Chunk {
                path: chunk_path(&self.path, job.nchunk),
                nchunk: job.nchunk,
                source,
            };
            job.file = match encoder {
                Ok(encoder) => encode(encoder, quantize, job.data).map_err(in_chunk)?,
                Err(error) => return Err(in_chunk(error.clone())),
            };
            Ok(())
        })
    }
}

fn encode(
    encoder: &mut Encoder,
    quantize: Option<Quantize>,
    data: &[u8],
) -> Result<Vec<u8>, blosc_chunk::Error> {
    let chunk = match quantize {
        Some(quantize) => {
            let mut rounded = data.to_vec();
            quantize.apply(&mut rounded);
            encoder.encode(&rounded)?
        }
        None => encoder.encode(data)?,
    };
    Ok([&PREAMBLE[..], &chunk].concat())
}
