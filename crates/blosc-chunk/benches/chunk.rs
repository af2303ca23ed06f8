//! Whole chunks and parts of them: 4 MiB of each kind of data, one thread. `memcpy` is the
//! baseline.

use core::hint::black_box;

use blosc_chunk::{CParams, Chunk, CodecId, Encoder, Level, Pipeline, Scratch};
use blosc_testdata::data::Kind as Data;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const NBYTES: usize = 4 << 20;
const KINDS: [Data; 4] = [Data::Ramp, Data::Walk, Data::Text, Data::Noise];

fn cases() -> impl Iterator<Item = (String, CParams)> {
    let with = |codec, level, filters| {
        let level = Level::try_from(level).unwrap();
        let filters = Pipeline::parse(filters).unwrap();
        CParams::default().codec(codec).clevel(level).typesize(4).filters(filters)
    };
    [
        (CodecId::BLOSCLZ, 5, "shuffle"),
        (CodecId::LZ4, 5, "shuffle"),
        (CodecId::LZ4, 5, "bitshuffle"),
        (CodecId::LZ4, 5, "delta,shuffle"),
        (CodecId::LZ4, 5, "none"),
        (CodecId::ZSTD, 1, "shuffle"),
    ]
    .into_iter()
    .map(move |(codec, level, filters)| {
        (format!("{codec}-{level}-{filters}"), with(codec, level, filters))
    })
}

fn whole_chunks(c: &mut Criterion) {
    for kind in KINDS {
        let data = kind.bytes(NBYTES);
        let mut dest = vec![0; NBYTES + 32];
        let mut group = c.benchmark_group("chunk/compress");
        group.throughput(Throughput::Bytes(NBYTES as u64)).sample_size(20);
        for (name, params) in cases() {
            let mut encoder = Encoder::new(params).unwrap();
            let id = BenchmarkId::new(name, format!("{}/4M", kind.name()));
            group.bench_function(id, |b| {
                b.iter(|| encoder.encode_into(black_box(&data), &mut dest).unwrap())
            });
        }
        group.finish();
        let mut group = c.benchmark_group("chunk/decompress");
        group.throughput(Throughput::Bytes(NBYTES as u64)).sample_size(20);
        group.bench_function(BenchmarkId::new("memcpy", format!("{}/4M", kind.name())), |b| {
            b.iter(|| dest[..NBYTES].copy_from_slice(black_box(&data)));
        });
        for (name, params) in cases() {
            let bytes = Encoder::new(params).unwrap().encode(&data).unwrap();
            let mut scratch = Scratch::default();
            let id = BenchmarkId::new(name, format!("{}/4M", kind.name()));
            group.bench_function(id, |b| {
                b.iter(|| {
                    Chunk::parse(black_box(&bytes))
                        .unwrap()
                        .decode_into(&mut dest, &mut scratch)
                        .unwrap()
                });
            });
        }
        group.finish();
    }
}

fn parts(c: &mut Criterion) {
    let data = Data::Walk.bytes(NBYTES);
    let mut group = c.benchmark_group("chunk/read_items");
    group.throughput(Throughput::Elements(100)).sample_size(50);
    for (name, params) in cases() {
        let bytes = Encoder::new(params).unwrap().encode(&data).unwrap();
        let (mut scratch, mut dest, mut at) = (Scratch::default(), [0; 400], 0);
        group.bench_function(BenchmarkId::new(name, "walk/100-items"), |b| {
            b.iter(|| {
                at = (at + 77_777) % (NBYTES / 4 - 100);
                Chunk::parse(&bytes)
                    .unwrap()
                    .read_items(at..at + 100, &mut dest, &mut scratch)
                    .unwrap();
            });
        });
    }
    group.finish();
}

fn specials(c: &mut Criterion) {
    let (zeros, mut dest) = (vec![0; NBYTES], vec![0; NBYTES + 32]);
    let mut encoder = Encoder::new(CParams::default().codec(CodecId::LZ4)).unwrap();
    let mut group = c.benchmark_group("chunk/zeros");
    group.throughput(Throughput::Bytes(NBYTES as u64)).sample_size(20);
    group.bench_function("compress/4M", |b| {
        b.iter(|| encoder.encode_into(&zeros, &mut dest).unwrap())
    });
    let bytes = encoder.encode(&zeros).unwrap();
    let mut scratch = Scratch::default();
    group.bench_function("decompress/4M", |b| {
        b.iter(|| Chunk::parse(&bytes).unwrap().decode_into(&mut dest, &mut scratch).unwrap());
    });
    group.finish();
}

criterion_group!(benches, whole_chunks, parts, specials);
criterion_main!(benches);
