//! Each filter forward and backward on blocks of 32 KiB and 256 KiB of random bytes, on every set
//! of vector instructions that the machine has, beside memcpy.
//!
//! `cargo bench -p blosc-filters -- shuffle/forward/avx2`

use blosc_filters::{FilterCx, FilterId, Pipeline, Registry, Simd};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Filters and the typesizes that stand for their kernels.
const FILTERS: [(FilterId, &[usize]); 5] = [
    (FilterId::SHUFFLE, &[2, 3, 4, 6, 8, 12, 16, 24]),
    (FilterId::BITSHUFFLE, &[1, 2, 3, 4, 8, 16]),
    (FilterId::DELTA, &[1, 4, 8]),
    (FilterId::BYTEDELTA, &[4]),
    (FilterId::TRUNC_PREC, &[4]),
];

const NBYTES: [usize; 2] = [32 << 10, 256 << 10];

fn filters(c: &mut Criterion) {
    for (id, typesizes) in FILTERS {
        for direction in ["forward", "backward"] {
            let mut group = c.benchmark_group(format!("{id}/{direction}"));
            for nbytes in NBYTES {
                let (src, mut dest) = (noise(nbytes), vec![0; nbytes]);
                group.throughput(Throughput::Bytes(nbytes as u64));
                group.bench_function(BenchmarkId::new("memcpy", nbytes), |b| {
                    b.iter(|| dest.copy_from_slice(&src))
                });
                for simd in Simd::available() {
                    for &typesize in typesizes {
                        let name = format!("{}/{typesize}", simd.name());
                        let mut run = run(id, direction, typesize, simd);
                        group.bench_function(BenchmarkId::new(name, nbytes), |b| {
                            b.iter(|| run(&src, &mut dest))
                        });
                    }
                }
            }
        }
    }
}

/// One filter as a function of source and destination.
fn run(
    id: FilterId,
    direction: &str,
    typesize: usize,
    simd: Simd,
) -> impl FnMut(&[u8], &mut [u8]) + use<> {
    let registry = Registry::builtin();
    let cx = FilterCx { simd, ..FilterCx::new(typesize) };
    let meta = if id == FilterId::TRUNC_PREC { 12 } else { 0 };
    let forward = direction == "forward";
    let pipeline = Pipeline::EMPTY.push(blosc_filters::FilterSlot { id, meta }).unwrap_or_default();
    move |src, dest| {
        let Some((slot, filter)) =
            pipeline.active().find_map(|slot| Some((slot, registry.get(slot.id)?)))
        else {
            return;
        };
        let done = if forward {
            filter.forward(&cx, slot.meta, src, dest)
        } else {
            filter.backward(&cx, slot.meta, src, dest)
        };
        debug_assert_eq!(done, Ok(()));
    }
}

fn noise(nbytes: usize) -> Vec<u8> {
    blosc_testdata::data::Kind::Noise.bytes(nbytes)
}

criterion_group!(benches, filters);
criterion_main!(benches);
