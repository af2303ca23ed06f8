//! Super-chunks as streams, scattered items, and frames sent through a pipe.

use std::io::{BufRead as _, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use b2frame::{
    Error, FrameParams, FrameStream, OpenOptions, SChunk, SChunkWriter,
    error::Param,
    frames::{Frames, read_frame},
    to_cframe,
};
use blosc_chunk::CParams;
use blosc_io::MemStore;
use blosc_io::testing::CountingStore;
use blosc_testdata::data::XorShift32;

fn noise(nbytes: usize, seed: u32) -> Vec<u8> {
    let mut rng = XorShift32::new(seed);
    (0..nbytes).map(|_| rng.next_hi().to_le_bytes()[0] & 0x3f).collect()
}

fn schunk(data: &[u8], typesize: usize, chunksize: usize) -> SChunk {
    let params = FrameParams::new(CParams::default().typesize(typesize)).chunksize(chunksize);
    SChunk::from_cframe(to_cframe(data, &params).unwrap()).unwrap()
}

/// Chunks of different sizes whose borders do not fit items.
fn variable(data: &[u8], typesize: usize) -> SChunk {
    let params = FrameParams::new(CParams::default().typesize(typesize));
    let mut writer = SChunkWriter::in_memory(&params).unwrap();
    writer.make_variable().unwrap();
    let mut rest = data;
    for len in (1..).map(|n| n * 37 % 301 + 1) {
        let (now, later) = rest.split_at(len.min(rest.len()));
        writer.append(now).unwrap();
        rest = later;
        if rest.is_empty() {
            return writer.finish().unwrap();
        }
    }
    unreachable!()
}

#[test]
fn a_reader_reads_what_a_file_would() {
    let data = noise(3_000_000, 1);
    for schunk in [schunk(&data, 4, 1 << 20), schunk(&data, 4, 100_000), schunk(&data, 1, 1 << 22)]
    {
        let mut file = std::io::Cursor::new(&data);
        let mut reader = schunk.reader();
        let mut rng = XorShift32::new(2);
        for step in 0..200 {
            if rng.below(2) == 0 {
                let by = i64::try_from(rng.below(4_000_000)).unwrap();
                let to = match rng.below(3) {
                    0 => SeekFrom::Start(by.unsigned_abs()),
                    1 => SeekFrom::Current(by - 2_000_000),
                    _ => SeekFrom::End(-by),
                };
                assert_eq!(reader.seek(to).ok(), file.seek(to).ok(), "{step}");
            }
            let most = if rng.below(4) == 0 { 2_000_000 } else { 5000 };
            let len = usize::try_from(rng.below(most)).unwrap();
            let (mut found, mut expected) = (vec![], vec![]);
            reader.by_ref().take(len as u64).read_to_end(&mut found).unwrap();
            file.by_ref().take(len as u64).read_to_end(&mut expected).unwrap();
            assert!(found == expected, "step {step}, {len} bytes");
        }
        let mut all = vec![];
        schunk.reader().read_to_end(&mut all).unwrap();
        assert!(all == data);
    }
}

#[test]
fn lines_may_go_across_chunks() {
    let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
    let schunk = variable(text.as_bytes(), 1);
    for (n, line) in schunk.reader().lines().enumerate() {
        assert_eq!(line.unwrap(), format!("line {n}"));
    }
    assert_eq!(schunk.reader().lines().count(), 1000);
    let empty = schunk_of_nothing();
    assert_eq!(empty.reader().read(&mut [0; 4]).unwrap(), 0);
}

fn schunk_of_nothing() -> SChunk {
    schunk(&[], 1, 64)
}

#[test]
fn gathered_items_are_those_of_the_data() {
    for typesize in [1, 3, 8, 300] {
        let data = noise(typesize * 2000, 3);
        for schunk in [schunk(&data, typesize, typesize * 170), variable(&data, typesize)] {
            let mut rng = XorShift32::new(4);
            for count in [0, 1, 2, 50, 3000] {
                let items: Vec<u64> = (0..count).map(|_| rng.below(2000)).collect();
                let mut found = vec![0xaa; count * typesize];
                schunk.gather(&items, &mut found).unwrap();
                let item = |n: &u64| {
                    let at = usize::try_from(*n).unwrap() * typesize;
                    data[at..at + typesize].to_vec()
                };
                assert!(
                    found == items.iter().flat_map(item).collect::<Vec<_>>(),
                    "{typesize} {count}"
                );
            }
        }
    }
}

#[test]
fn gathering_little_reads_little() {
    let data = noise(4 << 20, 5);
    let params = FrameParams::new(CParams::default().typesize(4).blocksize(Some(16 << 10)))
        .chunksize(1 << 20);
    let frame = to_cframe(&data, &params).unwrap();
    let len = frame.len() as u64;
    let store = Arc::new(CountingStore::new(MemStore::new(frame)));
    let schunk = SChunk::from_store(Arc::<CountingStore<MemStore>>::clone(&store)).unwrap();
    let before = store.bytes();
    let mut items = [0; 8];
    schunk.gather(&[900_000, 10], &mut items).unwrap();
    assert_eq!(items[4..], data[40..44]);
    let read = store.bytes() - before;
    assert!(read < len / 20, "{read} of {len} bytes read");
}

#[test]
fn items_that_are_not_there_are_not_gathered() {
    let schunk = schunk(&[1; 100], 8, 64);
    let param = |result| match result {
        Err(Error::Param(param)) => param,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        param(schunk.gather(&[12], &mut [0; 8])),
        Param::Range { start: 12, end: 13, len: 12 }
    );
    assert_eq!(
        param(schunk.gather(&[u64::MAX], &mut [0; 8])),
        Param::Range { start: u64::MAX, end: u64::MAX, len: 12 }
    );
    assert_eq!(param(schunk.gather(&[0], &mut [0; 9])), Param::BufferLen { len: 9, expected: 8 });
}

#[test]
fn a_pipe_gets_frames_one_after_the_other() {
    for nbytes in [0, 1, 1000, 100_000] {
        let data = noise(nbytes, 6);
        let params = FrameParams::default().chunksize(4096).metalayer("m", *b"meta");
        let mut stream = FrameStream::new(vec![], params, 20_000).unwrap();
        for piece in data.chunks(777) {
            stream.write_all(piece).unwrap();
        }
        let bytes = stream.finish().unwrap();
        let (mut rest, mut found) = (bytes.as_slice(), vec![]);
        while let Some(frame) = read_frame(&mut rest, 1 << 20).unwrap() {
            let schunk = SChunk::from_cframe(frame).unwrap();
            assert_eq!(schunk.meta().len(), 1);
            schunk.reader().read_to_end(&mut found).unwrap();
        }
        assert!(found == data, "{nbytes}");
        let frames = Frames::new(Arc::new(MemStore::new(bytes)), &OpenOptions::default());
        assert_eq!(frames.count() > 1, nbytes == 100_000);
    }
}

#[test]
fn a_stream_that_breaks_is_named() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut stream = FrameStream::new(Closed, FrameParams::default().chunksize(64), 1).unwrap();
    let Err(Error::Output { source }) = stream.append(&[1; 100]) else { panic!("written") };
    assert_eq!(source.kind(), std::io::ErrorKind::BrokenPipe);
}
