//! Sequences of chunks through readers and writers.

use std::io::{self, Read, Write};

use blosc_chunk::{CParams, Chunk, DParams, Limits, Target, compress, read, write};
use blosc_testdata::data::Kind as Data;

/// A reader that gives a few bytes at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let len = dest.len().min(7);
        self.0.read(&mut dest[..len])
    }
}

fn params() -> CParams {
    CParams::default().typesize(4)
}

#[test]
fn all_four_adaptors_agree() {
    let data = Data::Mixed.bytes(100_003);
    let mut pulled = Vec::new();
    read::ChunkEncoder::new(Trickle(&data), params(), 30_000)
        .unwrap()
        .read_to_end(&mut pulled)
        .unwrap();
    let mut encoder = write::ChunkEncoder::new(Vec::new(), params(), 30_000).unwrap();
    data.chunks(999).for_each(|part| encoder.write_all(part).unwrap());
    let pushed = encoder.finish().unwrap();
    assert_eq!(pulled, pushed);
    assert_eq!(Chunk::parse(&pushed).unwrap().header().nbytes(), 30_000);

    let mut back = Vec::new();
    read::ChunkDecoder::new(Trickle(&pushed), DParams::default()).read_to_end(&mut back).unwrap();
    assert_eq!(back, data);
    let mut decoder = write::ChunkDecoder::new(Vec::new(), DParams::default());
    pushed.chunks(13).for_each(|part| decoder.write_all(part).unwrap());
    assert_eq!(decoder.finish().unwrap(), data);
}

#[test]
fn short_headers_and_empty_chunks_are_part_of_a_stream() {
    let blosc1 = params().target(Target::Blosc1_14);
    let parts = [&b""[..], b"x", b"", b"yz"];
    let stream: Vec<u8> = parts.iter().flat_map(|part| compress(part, &blosc1).unwrap()).collect();
    let mut back = Vec::new();
    read::ChunkDecoder::new(&stream[..], DParams::default()).read_to_end(&mut back).unwrap();
    assert_eq!(back, b"xyz");
    let mut decoder = write::ChunkDecoder::new(Vec::new(), DParams::default());
    stream.iter().for_each(|&byte| decoder.write_all(&[byte]).unwrap());
    assert_eq!(decoder.finish().unwrap(), b"xyz");
}

#[test]
fn nothing_in_is_nothing_out() {
    let encoder = write::ChunkEncoder::new(Vec::new(), params(), 100).unwrap();
    assert_eq!(encoder.finish().unwrap(), b"");
    let mut back = Vec::new();
    read::ChunkDecoder::new(io::empty(), DParams::default()).read_to_end(&mut back).unwrap();
    read::ChunkEncoder::new(io::empty(), params(), 100).unwrap().read_to_end(&mut back).unwrap();
    assert_eq!(back, b"");
}

#[test]
fn cut_damaged_and_oversized_streams_are_told_apart() {
    let stream = compress(&Data::Text.bytes(5000), &params()).unwrap();
    let read = |stream: &[u8], limits| {
        let mut decoder = read::ChunkDecoder::new(stream, DParams::default().limits(limits));
        decoder.read_to_end(&mut Vec::new()).unwrap_err().kind()
    };
    for cut in [1, 15, 16, 31, 32, stream.len() - 1] {
        assert_eq!(read(&stream[..cut], Limits::default()), io::ErrorKind::UnexpectedEof, "{cut}");
        let mut decoder = write::ChunkDecoder::new(Vec::new(), DParams::default());
        decoder.write_all(&stream[..cut]).unwrap();
        assert_eq!(decoder.finish().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
    assert_eq!(read(&stream, Limits::default().max_nbytes(4999)), io::ErrorKind::OutOfMemory);
    assert_eq!(read(&[9; 40], Limits::default()), io::ErrorKind::Unsupported);
    let mut negative = stream;
    negative[4..8].fill(0xff);
    assert_eq!(read(&negative, Limits::default()), io::ErrorKind::InvalidData);
}

#[test]
fn the_inner_reader_or_writer_is_within_reach() {
    let mut encoder = write::ChunkEncoder::new(Vec::new(), params(), 100).unwrap();
    encoder.write_all(&[1; 100]).unwrap();
    assert!(encoder.get_ref().is_empty());
    encoder.try_finish().unwrap();
    assert!(!encoder.get_mut().is_empty());
    let stream = encoder.into_inner();
    let decoder = read::ChunkDecoder::new(&stream[..], DParams::default());
    assert_eq!(decoder.get_ref().len(), stream.len());
    assert_eq!(decoder.into_inner(), stream);
    assert!(write::ChunkEncoder::new(Vec::new(), params(), 0).is_err());
    assert!(read::ChunkEncoder::new(io::empty(), params(), usize::MAX).is_err());
}
