//! The filter kernels, on blocks that stay in the second-level cache.

use blosc_filters::{FilterCx, FilterSlot, Pipeline, Registry, Simd};

use super::{Bench, Subject};
use crate::{
    c_blosc2::FilterKernel,
    failure::{Result, fail},
};

const BLOCK: usize = 256 << 10;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    // The level of both programs: `auto` unless the variable says otherwise.
    let simd = Simd::parse(&std::env::var("B2_SIMD").unwrap_or_else(|_| "auto".into()))?;
    for (name, id) in [("shuffle", 1), ("bitshuffle", 2)] {
        for typesize in [1, 2, 4, 8, 16, 24, 32] {
            if name == "shuffle" && typesize == 1 {
                continue;
            }
            both_ways(bench, name, id, typesize, simd)?;
        }
    }
    Ok(())
}

fn both_ways(bench: &mut Bench, name: &str, id: u8, typesize: usize, simd: Simd) -> Result<()> {
    let registry = Registry::builtin();
    let slot = FilterSlot { id: blosc_filters::FilterId(id), meta: 0 };
    let pipeline = Pipeline::EMPTY.push(slot)?;
    let cx = FilterCx { simd, ..FilterCx::new(typesize) };
    let (forward, backward) = match id {
        1 => (FilterKernel::Shuffle, FilterKernel::Unshuffle),
        _ => (FilterKernel::Bitshuffle, FilterKernel::Bitunshuffle),
    };
    let plain = bench.sets[1].bytes[..BLOCK / typesize * typesize].to_vec();
    let len = plain.len();
    let (mut ours, mut theirs, mut scratch) = (vec![0; len], vec![0; len], vec![0; len]);
    let c = bench.c.clone();
    let subject = |what| Subject {
        group: "filters",
        what,
        setting: format!("{name} {typesize}"),
        case: simd.name().into(),
        threads: 1,
        nbytes: len,
        size: 0.0,
    };
    bench.measure(
        subject("forward"),
        &mut || Ok(pipeline.forward(&registry, &cx, &plain, &mut ours, &mut scratch)?),
        &mut || c.filter(forward, typesize, &plain, &mut theirs),
    )?;
    if ours != theirs {
        return fail(format!("{name} {typesize}: other bytes than C-Blosc2"));
    }
    let (mut filtered, mut back) = (ours, vec![0; len]);
    bench.measure(
        subject("backward"),
        // One filter alone reads its source and leaves it as it is.
        &mut || Ok(pipeline.backward(&registry, &cx, &mut filtered, &mut back)?),
        &mut || c.filter(backward, typesize, &theirs, &mut scratch),
    )?;
    if back != plain || scratch != plain { fail(format!("{name} {typesize}: not undone")) } else { Ok(()) }
}
