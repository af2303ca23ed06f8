//! The dictionary of a chunk ("Dictionary section" in the format document).
//!
//! C-Blosc2 trains with the first sixteenth of the data only; here the samples come from all data.
//! A reader uses the stored dictionary in either case.

use std::sync::Arc;

use blosc_codecs::Codec;

use super::Input;
use super::blocks::{Job, first_block};
use super::plan::Plan;
use super::worker::Worker;
use crate::error::{Error, Result};
use crate::jobs;
use crate::layout::MAX_DICT_NBYTES;
use crate::memory;
use crate::params::{CParams, Dict};

/// The dictionary that the parameters request, if there is enough data for one.
pub(super) fn choose(
    params: &CParams,
    plan: &Plan,
    input: Input<'_>,
    workers: &mut Vec<Worker>,
) -> Result<Option<Arc<[u8]>>> {
    match &params.dict {
        Dict::None => Ok(None),
        Dict::Given(dict) => Ok(Some(dict.clone())),
        Dict::Train { max } => {
            let max = (*max).min(MAX_DICT_NBYTES).min(input.nbytes() / 20);
            if max < MIN_DICT_NBYTES
                || (matches!(input, Input::Blocks(_)) && plan.grid.nblocks < MIN_NSAMPLES)
            {
                return Ok(None);
            }
            train(params, plan, input, workers, max)
        }
    }
}

fn train(
    params: &CParams,
    plan: &Plan,
    input: Input<'_>,
    workers: &mut Vec<Worker>,
    max: usize,
) -> Result<Option<Arc<[u8]>>> {
    let (id, format) = (params.codec, params.codec.format());
    let codec: &Arc<dyn Codec> = match params.registries.codecs.require(id) {
        Ok(codec) => codec,
        Err(source) => return Err(Error::UnknownCodec { format, id, source }),
    };
    let first = first_block(params, plan, input, workers)?;
    let job = Job::new(params, plan, input, first.as_deref());
    let text = samples(&job, jobs::first_worker(workers), max * TEXT_PER_DICT)?;
    let pieces: Vec<&[u8]> = text.iter().map(Vec::as_slice).collect();
    let dict = codec.train_dict(&pieces, max).map_err(|source| Error::Codec { at: 0, source })?;
    Ok(dict.filter(|dict| (1..=MAX_DICT_NBYTES).contains(&dict.len())).map(Arc::from))
}

/// Filtered data in evenly spaced pieces of evenly spaced blocks, about `max_nbytes` bytes in all.
fn samples(job: &Job<'_>, worker: &mut Worker, max_nbytes: usize) -> Result<Vec<Vec<u8>>> {
    let nblocks = job.plan.grid.nblocks;
    let per_block = (max_nbytes / nblocks).max(MIN_NSAMPLES * MIN_SAMPLE_NBYTES);
    let wanted = (max_nbytes / per_block).clamp(1, nblocks);
    let mut text = Vec::new();
    for i in 0..wanted {
        let block = worker.filtered(job, i * nblocks / wanted)?;
        let stream = block.len() / job.plan.nstreams(block.len());
        let piece = (per_block / MIN_NSAMPLES).min(stream);
        let pieces = block.chunks(piece.max(block.len() / MIN_NSAMPLES));
        for part in pieces {
            text.push(memory::copy(&part[..piece.min(part.len())])?);
        }
    }
    Ok(text)
}

/// Smallest dictionary that is worth its bytes.
const MIN_DICT_NBYTES: usize = 256;
/// Fewest blocks, or pieces of one block, to train with.
const MIN_NSAMPLES: usize = 8;
/// Shortest piece of a block (bytes).
const MIN_SAMPLE_NBYTES: usize = 256;
/// Bytes to train with, for each byte of the dictionary.
const TEXT_PER_DICT: usize = 100;
