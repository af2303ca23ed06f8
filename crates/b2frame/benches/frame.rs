//! Opening, reading and writing of frames, with memcpy as the baseline.

use core::hint::black_box;
use std::sync::Arc;

use b2frame::{
    Budget, CompressOptions, Error, FrameParams, FrameWriter, NdArray, SChunk, compress_stream,
    nd::NdMeta, to_cframe,
};
use blosc_chunk::{CParams, CodecId, Level, Threads};
use blosc_io::MemStore;
use blosc_testdata::data::Kind;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Data of the throughput groups (bytes).
const LEN: usize = 16 << 20;

fn params(codec: CodecId) -> FrameParams {
    FrameParams::new(CParams::default().codec(codec).typesize(4)).chunksize(1 << 20)
}

fn open_frame(frame: Vec<u8>) -> SChunk {
    SChunk::from_store(Arc::new(MemStore::new(frame))).unwrap()
}

/// Opening must not depend on the number of chunks.
fn open(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame/open");
    for nchunks in [1, 1000, 100_000] {
        let level = Level::try_from(0).unwrap();
        let params = FrameParams::new(CParams::default().clevel(level).typesize(4)).chunksize(4);
        let store =
            Arc::new(MemStore::new(to_cframe(&Kind::Noise.bytes(4 * nchunks), &params).unwrap()));
        group.throughput(Throughput::Elements(nchunks as u64));
        group.bench_function(BenchmarkId::from_parameter(nchunks), |b| {
            b.iter(|| SChunk::from_store(store.clone()).unwrap().nchunks());
        });
    }
    group.finish();
}

/// One item of many.
fn item(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame/item");
    group.throughput(Throughput::Bytes(4));
    for (name, codec) in [("lz4", CodecId::LZ4), ("zstd", CodecId::ZSTD)] {
        let schunk = open_frame(to_cframe(&Kind::Walk.bytes(LEN), &params(codec)).unwrap());
        let mut at = 0;
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                at = (at + 1_234_567) % (schunk.nbytes() - 4);
                let mut item = [0; 4];
                schunk.read_bytes(at, &mut item).unwrap();
                item
            });
        });
    }
    group.finish();
}

fn decode(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame/decode");
    group.throughput(Throughput::Bytes(LEN as u64)).sample_size(20);
    let data = Kind::Walk.bytes(LEN);
    let mut copy = vec![0; LEN];
    group.bench_function("memcpy", |b| b.iter(|| copy.copy_from_slice(black_box(&data))));
    for (name, codec) in [("lz4-5", CodecId::LZ4), ("zstd-5", CodecId::ZSTD)] {
        let schunk = open_frame(to_cframe(&data, &params(codec)).unwrap());
        for (threads, label) in [(Threads::One, "one"), (Threads::Auto, "all")] {
            let options = Budget::default().threads(threads);
            group.bench_function(BenchmarkId::new(format!("{name}/walk"), label), |b| {
                b.iter(|| {
                    let mut total = 0;
                    let sink = |_, bytes: &[u8]| {
                        total += bytes.len();
                        Ok::<(), Error>(())
                    };
                    schunk.decode_ordered(0..schunk.nchunks(), &options, sink).unwrap();
                    total
                });
            });
        }
    }
    group.finish();
}

fn compress(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame/compress");
    group.throughput(Throughput::Bytes(LEN as u64)).sample_size(10);
    let data = Kind::Walk.bytes(LEN);
    for (name, codec) in [("lz4-5", CodecId::LZ4), ("zstd-5", CodecId::ZSTD)] {
        for (threads, label) in [(Threads::One, "one"), (Threads::Auto, "all")] {
            let options = CompressOptions::default().budget(Budget::default().threads(threads));
            group.bench_function(BenchmarkId::new(format!("{name}/walk"), label), |b| {
                b.iter(|| {
                    let mut writer = FrameWriter::new(MemStore::default(), &params(codec)).unwrap();
                    compress_stream(&mut data.as_slice(), &mut writer, &options, |_| {}).unwrap();
                    writer.finish().unwrap().as_bytes().len()
                });
            });
        }
    }
    group.finish();
}

/// An array from its chunks to C order: chunks of 512 x 512 in blocks of 64 x 64.
fn array(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame/array");
    group.throughput(Throughput::Bytes(LEN as u64)).sample_size(20);
    let meta = NdMeta::new(&[2048, 2048], &[512, 512], &[64, 64], "<f4").unwrap();
    let params = params(CodecId::LZ4).metalayer("b2nd", meta.encode());
    let frame = to_cframe(&Kind::Walk.bytes(LEN), &params).unwrap();
    let array = NdArray::from_cframe(frame).unwrap();
    for (threads, label) in [(Threads::One, "one"), (Threads::Auto, "all")] {
        let array = array.clone().budget(Budget::default().threads(threads));
        group.bench_function(BenchmarkId::new("lz4-5/walk", label), |b| {
            b.iter(|| {
                let mut total = 0;
                let sink = |bytes: &[u8]| {
                    total += bytes.len();
                    Ok::<(), Error>(())
                };
                array.for_each_band(sink).unwrap();
                total
            });
        });
    }
    group.finish();
}

criterion_group!(benches, open, item, decode, compress, array);
criterion_main!(benches);
