//! Bloscpack files: the chunks that are sound, at their positions in a new file where these are
//! known.

use std::{fs::File, io::Read, path::Path};

use b2frame::{probe, probe::Kind};
use blosc_io::FileStore;

use super::{Bad, Counts, Rescue, Saved, unreadable};
use crate::{
    error::{Doing, Error, Result, message},
    inputs::Guard,
};

/// Bytes of fill, unless `--max-output` says more: their number comes from a damaged header.
const MAX_FILLED_NBYTES: u64 = 16 << 30;

/// Whether the file begins as Bloscpack files do, or has their suffix and begins as no other format
/// does.
pub(super) fn is_blp(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(Error::io(Doing::Open))?;
    file.take(PROBED_NBYTES).read_to_end(&mut head).map_err(unreadable(path))?;
    let has_suffix = path.extension().is_some_and(|suffix| suffix == "blp");
    Ok(match probe(&head) {
        Kind::Bloscpack => true,
        Kind::Unknown | Kind::Chunk => has_suffix,
        _ => false,
    })
}

/// Bytes that tell the format of a file.
const PROBED_NBYTES: u64 = 64;

/// Rescues the sound chunks of `path` as `target`.
pub(super) fn run(rescue: Rescue<'_>) -> Result<Saved> {
    let Rescue { args, path, .. } = rescue;
    let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let found = bloscpack::rescue(&store, &rescue.dparams())?;
    if found.header.is_none() && found.chunks.is_empty() {
        return Err(message::NOTHING_RESCUED.error());
    }
    let nbytes = found.chunks.iter().fold(0u64, |sum, chunk| sum.saturating_add(chunk.nbytes));
    let stored = found.chunks.iter().fold(0u64, |sum, chunk| sum.saturating_add(chunk.cbytes));
    Guard::new(args.limits).admit_bytes(nbytes, stored)?;
    let staged = rescue.stage_file()?;
    let max_filled = args.limits.max_output.map_or(MAX_FILLED_NBYTES, |limit| limit.0);
    let fill = args.fill();
    let (_, filled) = found.write_blp(&store, staged.handle()?, &fill, max_filled)?;
    rescue.commit(staged)?;
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
    actions.extend(
        found
            .lost
            .iter()
            .map(|range| format!("bytes {} to {} are no chunk", range.start, range.end)),
    );
    if found.header.is_none() {
        actions.push("the header is lost, and what it said: metadata, shape and type".to_owned());
    } else if !found.keeps_metadata(&fill) {
        actions.push("the shape and type of the array are left out: rows are missing".to_owned());
    }
    let nbytes = nbytes.saturating_add(filled);
    let (complete, states) = (found.is_complete(), found.states());
    let (chunks, bad) = (Some(Counts::of_states(&states)), Bad::chunks(&states).collect());
    Ok(Saved { complete, nbytes, filled, actions, chunks, bad, ..Saved::default() })
}
