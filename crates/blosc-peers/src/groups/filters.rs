//! The filter kernels.
//!
//! Their speed depends on the positions of the buffers: on the alignment of both, and on the cache
//! sets that they share. So both sides work on the same buffers, and each typesize is measured with
//! blocks of several sizes and at several offsets within a page.

use core::cell::RefCell;

use blosc_filters::{FilterCx, FilterId, FilterSlot, Pipeline, Registry, Simd};

use super::{Bench, Subject};
use crate::{
    c_blosc2::FilterKernel,
    failure::{Result, fail},
};

const PAGE: usize = 4096;
/// From the first-level cache to beyond the second.
const BLOCKS: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Offsets of source and destination within a page: as in large allocations, on cache lines, and
/// anywhere.
const PLACES: [(usize, usize); 3] = [(16, 16), (0, 0), (1, 2099)];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    // The level of both programs: `auto` by default.
    let simd = Simd::parse(&std::env::var("B2_SIMD").unwrap_or_else(|_| "auto".into()))?;
    for (name, id) in [("shuffle", FilterId::SHUFFLE), ("bitshuffle", FilterId::BITSHUFFLE)] {
        for typesize in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32] {
            if id == FilterId::SHUFFLE && typesize == 1 {
                continue;
            }
            for (nbytes, places) in
                BLOCKS.into_iter().flat_map(|n| PLACES.map(|places| (n, places)))
            {
                let job =
                    Job { name, id, typesize, nbytes: nbytes / typesize * typesize, places, simd };
                both_ways(bench, &job)?;
            }
        }
    }
    Ok(())
}

struct Job {
    name: &'static str,
    id: FilterId,
    typesize: usize,
    nbytes: usize,
    /// Offsets of source and destination in a page.
    places: (usize, usize),
    simd: Simd,
}

impl Job {
    fn subject(&self, what: &'static str) -> Subject {
        let (from, to) = self.places;
        let setting = format!("{} {}", self.name, self.typesize);
        let (simd, kib) = (self.simd.name(), self.nbytes.div_ceil(1 << 10));
        let case = format!("{simd} {kib}K at {from} to {to}");
        Subject::new("filters", what, setting, case).nbytes(self.nbytes)
    }

    /// The functions of C-Blosc2, forward and backward.
    fn kernels(&self) -> (FilterKernel, FilterKernel) {
        match self.id {
            FilterId::SHUFFLE => (FilterKernel::Shuffle, FilterKernel::Unshuffle),
            _ => (FilterKernel::Bitshuffle, FilterKernel::Bitunshuffle),
        }
    }
}

fn both_ways(bench: &mut Bench, job: &Job) -> Result<()> {
    let registry = Registry::builtin();
    let pipeline = Pipeline::EMPTY.push(FilterSlot { id: job.id, meta: 0 })?;
    let cx = FilterCx { simd: job.simd, ..FilterCx::new(job.typesize) };
    let (typesize, (forward, backward), c) = (job.typesize, job.kernels(), bench.c.clone());
    let plain = bench.sets[1].bytes[..job.nbytes].to_vec();
    let src = RefCell::new(Placed::new(job.nbytes, job.places.0));
    let dest = RefCell::new(Placed::new(job.nbytes, job.places.1));
    let mut scratch = vec![0; job.nbytes];
    src.borrow_mut().bytes().copy_from_slice(&plain);
    bench.measure(
        job.subject("forward"),
        &mut || {
            let (mut src, mut dest) = (src.borrow_mut(), dest.borrow_mut());
            Ok(pipeline.forward(&registry, &cx, src.bytes(), dest.bytes(), &mut scratch)?)
        },
        &mut || c.filter(forward, typesize, src.borrow_mut().bytes(), dest.borrow_mut().bytes()),
    )?;
    let (mut ours, mut theirs) = (vec![0; job.nbytes], vec![0; job.nbytes]);
    pipeline.forward(&registry, &cx, &plain, &mut ours, &mut scratch)?;
    c.filter(forward, typesize, &plain, &mut theirs)?;
    if ours != theirs {
        return fail(format!("{} {typesize}: other bytes than C-Blosc2", job.name));
    }
    src.borrow_mut().bytes().copy_from_slice(&ours);
    bench.measure(
        job.subject("backward"),
        &mut || {
            let (mut src, mut dest) = (src.borrow_mut(), dest.borrow_mut());
            // A single filter only reads its source and does not change it.
            Ok(pipeline.backward(&registry, &cx, src.bytes(), dest.bytes())?)
        },
        &mut || c.filter(backward, typesize, src.borrow_mut().bytes(), dest.borrow_mut().bytes()),
    )?;
    dest.borrow_mut().bytes().fill(0);
    pipeline.backward(&registry, &cx, src.borrow_mut().bytes(), dest.borrow_mut().bytes())?;
    if dest.borrow_mut().bytes() != plain {
        fail(format!("{} {typesize}: not undone", job.name))
    } else {
        Ok(())
    }
}

/// Bytes at a given offset within a page.
struct Placed {
    buffer: Vec<u8>,
    start: usize,
    nbytes: usize,
}

impl Placed {
    fn new(nbytes: usize, place: usize) -> Self {
        let buffer = vec![0; nbytes + 2 * PAGE];
        let start = buffer.as_ptr().align_offset(PAGE) + place;
        Self { buffer, start, nbytes }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..][..self.nbytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_start_where_they_were_told() {
        for place in [0, 16, 2099] {
            let mut placed = Placed::new(100, place);
            assert_eq!((placed.bytes().as_ptr().addr() % PAGE, placed.bytes().len()), (place, 100));
        }
    }
}
