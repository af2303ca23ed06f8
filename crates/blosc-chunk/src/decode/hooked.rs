//! Reading with a postfilter: the postfilter gets whole blocks, and the caller the requested part.

use core::ops::Range;

use super::worker::{Worker, resized};
use super::{Job, Map, Piece, Pieces, Scratch, Wanted, read_ambiguous};
use crate::error::{Error, Result};
use crate::hooks::Postfilter;
use crate::jobs::{self, for_each};
use crate::layout::Grid;
use crate::source::Blocks;

/// Decodes the bytes `range` of a chunk's data through a postfilter; `dest` is as long. `chosen`
/// selects blocks, as in [`Wanted`].
pub(crate) fn read_hooked(
    blocks: &impl Blocks,
    wanted: &Wanted<'_>,
    dest: &mut [u8],
    scratch: &mut Scratch,
    postfilter: &dyn Postfilter,
) -> Result<()> {
    let grid = blocks.layout().grid;
    if let Some(literal) = blocks.layout().literal() {
        let whole = read_ambiguous(blocks, literal, scratch)?;
        let from = |_: &mut Worker, _: usize, range: Range<usize>, block: &mut [u8]| {
            block.copy_from_slice(&whole[range]);
            Ok(())
        };
        return read_blocks(&Map::Grid(grid), wanted, dest, scratch, postfilter, from);
    }
    let (map, params) = (Map::new(blocks)?, scratch.params.clone());
    let job = Job::new(blocks, &map, &params, 0);
    let job = job.as_ref().map_err(Error::clone)?;
    let mut reference = core::mem::take(&mut scratch.reference);
    let read = job.prepare_reference(wanted, &mut scratch.workers, &mut reference).and_then(|()| {
        let first = &*reference;
        let decode = |worker: &mut Worker, nblock: usize, range: Range<usize>, block: &mut [u8]| {
            job.read_part(worker, nblock, &(0..range.len()), block, first)
        };
        read_blocks(&map, wanted, dest, scratch, postfilter, decode)
    });
    scratch.reference = reference;
    read
}

/// The same for a chunk without decoding. `write` gets a block and its range in the data.
pub(crate) fn write_hooked(
    grid: Grid,
    range: Range<usize>,
    dest: &mut [u8],
    scratch: &mut Scratch,
    postfilter: &dyn Postfilter,
    write: impl Fn(Range<usize>, &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    let wanted = Wanted { range, chosen: None };
    read_blocks(&Map::Grid(grid), &wanted, dest, scratch, postfilter, |_, _, range, block| {
        write(range, block)
    })
}

/// Makes the requested blocks of `map` with `decode`, and passes each to the postfilter.
fn read_blocks(
    map: &Map,
    wanted: &Wanted<'_>,
    dest: &mut [u8],
    scratch: &mut Scratch,
    postfilter: &dyn Postfilter,
    decode: impl Fn(&mut Worker, usize, Range<usize>, &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    let Scratch { params, workers, tuner, .. } = scratch;
    let (limits, nblocks) = (params.limits, map.covering(&wanted.range));
    let (nbytes, max_jobs) = (dest.len(), params.threads.count_for(nblocks.len()));
    let pieces = Pieces { map, nblocks, range: wanted.range.clone(), dest };
    let pieces = pieces.filter(|piece| wanted.is_chosen(piece.nblock));
    let read = |worker: &mut Worker, Piece { nblock, part, dest }: Piece<'_>| {
        let range = map.range(nblock);
        limits.check_nbytes(range.len())?;
        let (start, mut input) = (range.start, core::mem::take(&mut worker.hooked.input));
        let block = resized(&mut input, range.len())?;
        let done = decode(worker, nblock, range, block).and_then(|()| {
            let hooked = &mut worker.hooked;
            let mut apply = |dest: &mut [u8]| {
                let place = (nblock, start, map.blocksize(nblock));
                hooked.hook.call(place, block, |cx| postfilter.apply(cx, dest))
            };
            if dest.len() == block.len() {
                return apply(dest);
            }
            let output = resized(&mut hooked.output, block.len())?;
            apply(output)?;
            dest.copy_from_slice(&output[part]);
            Ok(())
        });
        worker.hooked.input = input;
        done
    };
    tuner.run(max_jobs, nbytes, MIN_JOB_NBYTES, |jobs| {
        jobs::number(workers, jobs, |worker, number| worker.hooked.hook.number = number);
        for_each((&params.threads, jobs), workers, pieces, read)
    })
}

/// Bytes that justify a separate thread, as long as nothing was measured: the time of a postfilter
/// is unknown.
const MIN_JOB_NBYTES: usize = 64 << 10;
