//! Reading and writing whole files, one chunk and several at once, with memcpy as the baseline;
//! one item out of many.

use core::hint::black_box;

use blosc_chunk::{CodecId, Level, Threads};
use blosc_io::MemStore;
use blosc_testdata::data::Kind;
use bloscpack::{BlpFile, Budget, Checksum, ReadOptions, Reader, WriteOptions, pack};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Data of the throughput groups (bytes).
const LEN: usize = 32 << 20;

const THREADS: [(&str, Threads); 2] = [("one", Threads::One), ("auto", Threads::Auto)];

fn options(codec: CodecId, threads: Threads) -> WriteOptions {
    WriteOptions::default()
        .cparams(WriteOptions::default().cparams.codec(codec))
        .budget(Budget::default().threads(threads))
}

fn write(c: &mut Criterion) {
    let mut group = c.benchmark_group("bloscpack/write");
    let data = Kind::Linspace.bytes(LEN);
    group.throughput(Throughput::Bytes(LEN as u64)).sample_size(10);
    group.bench_function("memcpy", |b| b.iter(|| black_box(data.clone())));
    for (name, codec) in
        [("blosclz", CodecId::BLOSCLZ), ("lz4", CodecId::LZ4), ("zstd", CodecId::ZSTD)]
    {
        for (how, threads) in THREADS {
            let options = options(codec, threads);
            group.bench_function(BenchmarkId::new(name, how), |b| {
                b.iter(|| pack(&data, options.clone()).unwrap());
            });
        }
    }
    group.finish();
}

fn read(c: &mut Criterion) {
    let mut group = c.benchmark_group("bloscpack/read");
    let data = Kind::Linspace.bytes(LEN);
    group.throughput(Throughput::Bytes(LEN as u64)).sample_size(10);
    group.bench_function("memcpy", |b| b.iter(|| black_box(data.clone())));
    for (name, codec) in
        [("blosclz", CodecId::BLOSCLZ), ("lz4", CodecId::LZ4), ("zstd", CodecId::ZSTD)]
    {
        let blp = pack(&data, options(codec, Threads::Auto)).unwrap();
        for (how, threads) in THREADS {
            let options = ReadOptions::default().budget(Budget::default().threads(threads));
            group.bench_function(BenchmarkId::new(name, how), |b| {
                b.iter(|| {
                    Reader::with_options(&blp[..], options.clone())
                        .unwrap()
                        .copy_to(&mut std::io::sink())
                        .unwrap()
                });
            });
        }
    }
    group.finish();
}

/// 8 bytes in the middle of a chunk.
fn item(c: &mut Criterion) {
    let mut group = c.benchmark_group("bloscpack/item");
    group.throughput(Throughput::Bytes(8));
    let data = Kind::Linspace.bytes(LEN);
    let file =
        BlpFile::new(MemStore::new(pack(&data, options(CodecId::LZ4, Threads::Auto)).unwrap()))
            .unwrap();
    let mut at = 0;
    group.bench_function("lz4", |b| {
        b.iter(|| {
            at = (at + 8 * 123_457) % (LEN as u64 - 8);
            let mut item = [0; 8];
            file.read_at(at, &mut item).unwrap();
            item
        });
    });
    group.finish();
}

/// The cost of each checksum on chunks that are only stored.
fn checksums(c: &mut Criterion) {
    let mut group = c.benchmark_group("bloscpack/checksum");
    let data = Kind::Noise.bytes(LEN / 4);
    let stored = WriteOptions::default().cparams.clevel(Level::NONE);
    group.throughput(Throughput::Bytes(data.len() as u64)).sample_size(10);
    for checksum in Checksum::ALL {
        let options = WriteOptions::default()
            .cparams(stored.clone())
            .checksum(checksum)
            .budget(Budget::default().threads(Threads::One));
        group.bench_function(BenchmarkId::from_parameter(checksum), |b| {
            b.iter(|| pack(&data, options.clone()).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, write, read, item, checksums);
criterion_main!(benches);
