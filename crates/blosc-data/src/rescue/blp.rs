//! Rescue of Bloscpack files: the sound chunks go into a new file, at their old positions if these
//! are known.

use std::fs::File;

use super::{Bad, Caller, Counts, Job, Output, Report};
use crate::error::{Doing, Error, Result};

/// Most bytes of fill by default, since their number comes from a damaged header.
const MAX_FILLED_NBYTES: u64 = 16 << 30;

/// Rescues the sound chunks.
pub(super) fn run<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Report, C::Error> {
    let Job { path, options, .. } = job;
    let store = job.unread.file(path)?;
    let found = bloscpack::rescue(&store, &options.dparams_in(2)).map_err(Error::from)?;
    if found.header.is_none() && found.chunks.is_empty() {
        return Err(Error::NothingRescued.into());
    }
    let nbytes = found.chunks.iter().fold(0u64, |sum, chunk| sum.saturating_add(chunk.nbytes));
    let stored = found.chunks.iter().fold(0u64, |sum, chunk| sum.saturating_add(chunk.cbytes));
    caller.admit(nbytes, stored)?;
    let output = File::create(caller.output(Output::File)?).map_err(Error::io(Doing::Write))?;
    let max_filled = options.max_filled.unwrap_or(MAX_FILLED_NBYTES);
    let written = found.write_blp(&store, output, &options.fill, max_filled);
    let (_, filled) = written.map_err(Error::from)?;
    let (states, actions) = (found.states(), actions(&found, options, filled));
    let (chunks, bad) = (Some(Counts::of_states(&states)), Bad::chunks(&states).collect());
    let (complete, nbytes) = (found.is_complete(), nbytes.saturating_add(filled));
    Ok(Report { complete, nbytes, filled, actions, chunks, bad, ..Report::default() })
}

fn actions(
    found: &bloscpack::rescue::Rescue,
    options: &super::Options,
    filled: u64,
) -> Vec<String> {
    let mut actions = vec![format!("sound chunks: {}", found.chunks.len())];
    if found.lost_magic {
        actions.push("the magic at the start was damaged, and is written anew".to_owned());
    }
    if found.lost_metadata() {
        actions.push("the metadata are lost".to_owned());
    }
    if let Some(announced) = found.header.and_then(|header| header.nchunks()) {
        let lost = announced.saturating_sub(found.chunks.len() as u64);
        if lost > 0 {
            let what = match filled {
                0 => "the data after them have moved up",
                _ => "filled, so that the others stay at their positions",
            };
            actions.push(format!("lost chunks: {lost}; {what}"));
        }
    }
    let lost = found.lost.iter();
    actions.extend(lost.map(|it| format!("bytes {} to {} are no chunk", it.start, it.end)));
    if found.header.is_none() {
        actions.push("the header is lost, and what it said: metadata, shape and type".to_owned());
    } else if !found.keeps_metadata(&options.fill) {
        actions.push("the shape and type of the array are left out: rows are missing".to_owned());
    }
    actions
}
