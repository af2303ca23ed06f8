//! Writing and reading back: every way of writing, every option, and the exact bytes for known
//! data.

use core::num::NonZeroUsize;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use blosc_chunk::{CodecId, Level, Pipeline, Target, Threads, compress};
use blosc_io::MemStore;
use blosc_testdata::data::Kind;
use blosc_testdata::fixture;
use bloscpack::{
    BlpFile, Budget, Checksum, Error, ReadOptions, Reader, WriteOptions, Writer,
    error::Param,
    pack,
    params::{FileLimits, Reserve},
    report::{Note, VerifyOptions},
    unpack,
};
use proptest::prelude::*;
use serde_json::json;

/// Writes in pieces that do not match the chunks.
fn write_all<W: Write>(mut writer: Writer<W>, data: &[u8]) -> W {
    for piece in data.chunks(777) {
        writer.write_all(piece).unwrap();
    }
    writer.finish().unwrap()
}

fn streamed(data: &[u8], options: WriteOptions) -> Vec<u8> {
    write_all(Writer::new(vec![], options).unwrap(), data)
}

fn seekable(data: &[u8], options: WriteOptions) -> Vec<u8> {
    write_all(Writer::seekable(Cursor::new(vec![]), options).unwrap(), data).into_inner()
}

#[test]
fn known_files_are_written_byte_for_byte() {
    let written = |data: &[u8], options| pack(data, options).unwrap();
    for (file, data, options) in [
        ("real_one_byte", &b"A"[..], WriteOptions::default()),
        ("real_empty", b"", WriteOptions::default()),
        ("real_empty_no_offsets", b"", WriteOptions::default().offsets(false)),
    ] {
        let expected = fixture::read(format!("bloscpack/{file}.blp")).unwrap();
        assert_eq!(written(data, options), expected, "{file}");
    }
}

#[test]
fn files_of_bloscpack_0_16_are_written_again_byte_for_byte() {
    // Stored data do not depend on the version of a codec.
    let level_0 = WriteOptions::default().cparams.clevel(Level::NONE);
    for (file, cparams) in
        [("real_clevel_0", level_0), ("real_incompressible", WriteOptions::default().cparams)]
    {
        let expected = fixture::read(format!("bloscpack/{file}.blp")).unwrap();
        let chunksize = Reader::new(&expected[..]).unwrap().header().chunksize().unwrap();
        let options = WriteOptions::default().chunksize(chunksize).cparams(cparams);
        assert_eq!(pack(&unpack(&expected).unwrap(), options).unwrap(), expected, "{file}");
    }
}

#[test]
fn each_way_of_writing_tells_what_it_can() {
    let data = Kind::Walk.bytes(2500);
    let options = WriteOptions::default().chunksize(1000);
    let known = options.clone().nbytes(Some(2500));
    let fields = |blp: &[u8]| {
        assert_eq!(unpack(blp).unwrap(), data);
        let header = *Reader::new(blp).unwrap().header();
        (header.nchunks(), header.last_chunk(), header.has_offsets(), header.max_app_chunks())
    };
    assert_eq!(fields(&seekable(&data, known.clone())), (Some(3), Some(500), true, 30));
    assert_eq!(fields(&seekable(&data, options.clone())), (Some(3), Some(500), false, 0));
    assert_eq!(fields(&streamed(&data, known)), (Some(3), Some(500), false, 0));
    assert_eq!(fields(&streamed(&data, options.clone())), (None, None, false, 0));
    let file = BlpFile::new(MemStore::new(streamed(&data, options))).unwrap();
    assert_eq!(file.verify(&VerifyOptions::default(), |_| {}).unwrap().notes, [Note::CountUnknown]);
    assert_eq!((file.nchunks().unwrap(), file.nbytes().unwrap()), (3, 2500));
}

#[test]
fn no_data_are_one_chunk_without_data() {
    for blp in [
        streamed(&[], WriteOptions::default()),
        seekable(&[], WriteOptions::default()),
        seekable(&[], WriteOptions::default().nbytes(Some(0))),
    ] {
        assert!(unpack(&blp).unwrap().is_empty());
        let file = BlpFile::new(MemStore::new(blp)).unwrap();
        assert_eq!((file.nchunks().unwrap(), file.nbytes().unwrap()), (1, 0));
        assert!(file.chunk(0).unwrap().is_empty());
        assert_eq!(file.read_at(0, &mut [0; 3]).unwrap(), 0);
    }
    let small = seekable(b"abc", WriteOptions::default());
    assert_eq!(Reader::new(&small[..]).unwrap().header().chunksize(), Some(3));
}

#[test]
fn the_announced_size_is_kept_to() {
    for (announced, len, found) in
        [(10, 9, 9), (10, 11, 11), (0, 1, 1), (2000, 1999, 1999), (2000, 5000, 2001)]
    {
        let options = WriteOptions::default().chunksize(1000).nbytes(Some(announced));
        let mut writer = Writer::new(vec![], options).unwrap();
        let written =
            writer.write_all(&vec![1; len]).map_err(|error| error.downcast::<Error>().unwrap());
        let error = written.and_then(|()| writer.finish().map(drop)).unwrap_err();
        assert!(
            matches!(error, Error::Param(Param::DataSize { announced: a, found: f }) if a == announced && f == found),
            "{error}"
        );
    }
}

#[test]
fn a_file_can_begin_anywhere() {
    let mut to = Cursor::new(b"before".to_vec());
    to.seek(SeekFrom::End(0)).unwrap();
    let options = WriteOptions::default().chunksize(100).nbytes(Some(250));
    let written = write_all(Writer::seekable(to, options.clone()).unwrap(), &[3; 250]).into_inner();
    assert_eq!(written[6..], seekable(&[3; 250], options));
}

#[test]
fn chunks_are_taken_over_as_they_are() {
    let cparams = WriteOptions::default().cparams.codec(CodecId::ZSTD).typesize(4);
    let data = Kind::Walk.bytes(250);
    let chunks: Vec<Vec<u8>> =
        data.chunks(100).map(|part| compress(part, &cparams).unwrap()).collect();
    let options = WriteOptions::default().chunksize(100).nbytes(Some(250));
    let mut writer = Writer::seekable(Cursor::new(vec![]), options).unwrap();
    writer.push_chunk(&chunks[0]).unwrap();
    let wrong = writer.push_chunk(&chunks[2]).unwrap_err();
    assert!(
        matches!(wrong, Error::Param(Param::DataSize { .. } | Param::ForeignChunk { .. })),
        "{wrong}"
    );
    let blosc2 = compress(&data[..100], &blosc_chunk::CParams::default()).unwrap();
    let wrong = writer.push_chunk(&blosc2).unwrap_err();
    assert!(matches!(wrong, Error::Param(Param::ForeignVersion { version: 5 })), "{wrong}");
    let longer = [&chunks[1][..], b"x"].concat();
    assert!(matches!(writer.push_chunk(&longer), Err(Error::Param(Param::ForeignChunk { .. }))));
    writer.write_all(&data[100..200]).unwrap();
    writer.push_chunk(&chunks[2]).unwrap();
    let blp = writer.finish().unwrap().into_inner();
    assert_eq!(unpack(&blp).unwrap(), data);
    let file = BlpFile::new(MemStore::new(blp)).unwrap();
    assert_eq!(file.packed_chunk(2).unwrap().bytes(), chunks[2]);
    assert!(file.verify(&VerifyOptions::default(), |_| {}).unwrap().is_ok());
}

#[test]
fn options_that_cannot_be_had_are_refused() {
    let error = |options: WriteOptions| pack(b"x", options).unwrap_err();
    for chunksize in [0, 2_147_483_632] {
        let wrong = error(WriteOptions::default().chunksize(chunksize));
        assert!(matches!(wrong, Error::Param(Param::ChunkSize { .. })), "{wrong}");
    }
    let wrong = error(
        WriteOptions::default().cparams(WriteOptions::default().cparams.target(Target::Blosc2_0)),
    );
    assert!(
        matches!(wrong, Error::Param(Param::NotBlosc1 { target: Target::Blosc2_0 })),
        "{wrong}"
    );
    let wrong = error(
        WriteOptions::default()
            .cparams(WriteOptions::default().cparams.filters(Pipeline::parse("delta").unwrap())),
    );
    assert!(matches!(wrong, Error::Chunk { .. }), "{wrong}");
    let many = WriteOptions::default().chunksize(1).nbytes(Some(u64::MAX)).offsets(false);
    let wrong = Writer::new(vec![], many).unwrap_err();
    assert!(matches!(wrong, Error::Param(Param::TooManyChunks { .. })), "{wrong}");
}

#[test]
fn the_reserve_is_what_was_asked_for() {
    for (reserve, expected) in
        [(Reserve::Times(0), 0), (Reserve::Times(3), 9), (Reserve::Entries(5), 5)]
    {
        let blp = pack(&[1; 250], WriteOptions::default().chunksize(100).reserve(reserve)).unwrap();
        let reader = Reader::new(&blp[..]).unwrap();
        assert_eq!(
            (reader.header().max_app_chunks(), reader.offsets().unwrap().reserved()),
            (expected, expected)
        );
    }
}

#[test]
fn limits_come_before_memory() {
    let blp = pack(
        &[1; 5000],
        WriteOptions::default().chunksize(1000).metadata(Some(json!("x".repeat(99)))),
    )
    .unwrap();
    let with =
        |limits| Reader::with_options(&blp[..], ReadOptions::default().limits(limits)).map(drop);
    assert!(with(FileLimits::default().max_nbytes(5000).max_metadata(101).max_chunks(5)).is_ok());
    let error = with(FileLimits::default().max_nbytes(4999)).unwrap_err();
    assert_eq!(error.to_string(), "5000 bytes of data needed, the limit is 4999");
    let error = with(FileLimits::default().max_metadata(100)).unwrap_err();
    assert_eq!(error.to_string(), "101 bytes of metadata needed, the limit is 100");
    let error = with(FileLimits::default().max_chunks(4)).unwrap_err();
    assert_eq!(error.to_string(), "5 positions of chunks needed, the limit is 4");
    let chunks =
        blosc_chunk::DParams::default().limits(blosc_chunk::Limits::default().max_nbytes(999));
    let mut reader =
        Reader::with_options(&blp[..], ReadOptions::default().dparams(chunks)).unwrap();
    assert_eq!(
        reader.next_chunk().unwrap_err().to_string(),
        "1000 bytes for a chunk needed, the limit is 999"
    );
    let stream = streamed(&[1; 5000], WriteOptions::default().chunksize(1000));
    let options = ReadOptions::default().limits(FileLimits::default().max_nbytes(2500));
    let mut data = vec![];
    let mut reader = Reader::with_options(&stream[..], options).unwrap();
    assert!(matches!(
        reader.copy_to(&mut data),
        Err(Error::Limit { needed: 3000, limit: 2500, .. })
    ));
    assert_eq!(data.len(), 2000);
}

#[test]
fn the_cursor_goes_where_it_is_sent() {
    let data = Kind::Text.bytes(5000);
    let blp = pack(&data, WriteOptions::default().chunksize(700)).unwrap();
    let file = BlpFile::new(MemStore::new(blp)).unwrap();
    let mut cursor = file.reader();
    for (to, at) in [
        (SeekFrom::Start(699), 699),
        (SeekFrom::Current(2), 702),
        (SeekFrom::End(-1), 4999),
        (SeekFrom::Start(0), 0),
    ] {
        cursor.seek(to).unwrap();
        let mut buf = [0; 100];
        let read = cursor.read(&mut buf).unwrap();
        assert!(read > 0 && data[at..].starts_with(&buf[..read]), "{to:?}");
    }
    assert_eq!(cursor.seek(SeekFrom::Start(9999)).unwrap(), 9999);
    assert_eq!(cursor.read(&mut [0; 4]).unwrap(), 0);
    let before = cursor.seek(SeekFrom::End(-5001)).unwrap_err();
    assert_eq!(before.kind(), io::ErrorKind::InvalidInput);
    cursor.rewind().unwrap();
    let mut all = vec![];
    cursor.read_to_end(&mut all).unwrap();
    assert_eq!(all, data);
}

#[test]
fn chunks_that_are_not_there_are_named() {
    let file = BlpFile::new(MemStore::new(pack(b"x", WriteOptions::default()).unwrap())).unwrap();
    let error = file.chunk(1).unwrap_err();
    assert!(matches!(error, Error::Param(Param::NoChunk { nchunk: 1, nchunks: 1 })), "{error}");
    assert!(file.chunk(u64::MAX).is_err());
}

fn codec(n: u8) -> CodecId {
    [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC, CodecId::ZLIB, CodecId::ZSTD, CodecId::SNAPPY]
        [usize::from(n)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_is_written_is_read(
        nbytes in 0_usize..9000,
        chunksize in prop_oneof![1_u32..50, 50_u32..5000, Just(1 << 20)],
        kind in 0_usize..8,
        codec_number in 0_u8..6,
        level in 0_u8..10,
        typesize in prop_oneof![1_usize..20, Just(255)],
        filter in 0_usize..3,
        checksum in 0_u8..9,
        offsets in any::<bool>(),
        announced in any::<bool>(),
        can_seek in any::<bool>(),
        metadata in any::<bool>(),
    ) {
        let data = Kind::ALL[kind].bytes(nbytes);
        let cparams = WriteOptions::default().cparams
            .codec(codec(codec_number))
            .clevel(Level::try_from(level).unwrap())
            .typesize(typesize)
            .filters(Pipeline::parse(["none", "shuffle", "bitshuffle"][filter]).unwrap());
        let options = WriteOptions::default()
            .chunksize(chunksize)
            .cparams(cparams)
            .checksum(Checksum::from_id(checksum).unwrap())
            .offsets(offsets)
            .nbytes(announced.then_some(nbytes as u64))
            .metadata(metadata.then(|| json!({ "kind": kind })));
        let write = |threads| {
            let options = options.clone().budget(Budget::default().threads(threads).max_memory(20_000));
            if can_seek { seekable(&data, options) } else { streamed(&data, options) }
        };
        let blp = write(Threads::One);
        prop_assert_eq!(&write(Threads::N(NonZeroUsize::new(3).unwrap())), &blp);
        prop_assert_eq!(&unpack(&blp).unwrap(), &data);
        let file = BlpFile::new(MemStore::new(blp)).unwrap();
        let report = file.verify(&VerifyOptions::default(), |_| {}).unwrap();
        prop_assert!(report.is_ok());
        prop_assert_eq!(file.nbytes().unwrap(), nbytes as u64);
        prop_assert_eq!(file.trailing_bytes().unwrap(), 0);
        let (start, mut part) = (nbytes / 3, vec![0; nbytes / 2]);
        prop_assert_eq!(file.read_at(start as u64, &mut part).unwrap(), part.len());
        prop_assert_eq!(&part, &data[start..start + part.len()]);
        prop_assert_eq!(file.metadata().is_some(), metadata);
    }
}

#[test]
fn data_may_be_put_into_the_room_of_the_writer() {
    let data = Kind::Walk.bytes(100_000);
    let options = || WriteOptions::default().chunksize(9_000).nbytes(Some(data.len() as u64));
    let mut writer = Writer::seekable(Cursor::new(vec![]), options()).unwrap();
    let mut rest = &data[..];
    while !rest.is_empty() {
        let len = rest.read(writer.room()).unwrap();
        writer.fill(len).unwrap();
    }
    writer.fill(0).unwrap();
    assert!(!writer.room().is_empty());
    let more = writer.fill(1).unwrap_err();
    assert!(
        matches!(more, Error::Param(Param::DataSize { announced: 100_000, found: 100_001 })),
        "{more}"
    );
    assert!(writer.finish().unwrap().into_inner() == pack(&data, options()).unwrap());

    let mut writer = Writer::new(vec![], WriteOptions::default().chunksize(10)).unwrap();
    assert_eq!(writer.room().len(), 10);
    let error = writer.fill(11).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Room { room: 10, len: 11 })), "{error}");
}

/// A source that gives a few bytes at a time, and perhaps an error in the end.
struct Slow<'a> {
    left: &'a [u8],
    fails: bool,
}

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && self.fails {
            return Err(io::Error::other("gone"));
        }
        let len = self.left.len().min(299).min(buf.len());
        self.left.read(&mut buf[..len])
    }
}

#[test]
fn what_is_copied_is_what_is_written_whatever_the_threads() {
    let data = Kind::Walk.bytes(25_300);
    for threads in [1, 2, 3, 8] {
        let threads = Threads::N(NonZeroUsize::new(threads).unwrap());
        for (announced, chunksize) in
            [(Some(25_300), 1000), (None, 1000), (Some(25_300), 25_300), (None, 100_000)]
        {
            let options = WriteOptions::default()
                .chunksize(chunksize)
                .nbytes(announced)
                .budget(Budget::default().threads(threads));
            let expected = seekable(&data, options.clone());
            // Each chunk but the first is begun by one way of writing and completed by another.
            for (first, last) in
                [(0, 25_300), (4321, 20_000), (999, 1001), (3, 4), (25_300, 25_300)]
            {
                let mut writer = Writer::seekable(Cursor::new(vec![]), options.clone()).unwrap();
                writer.write_all(&data[..first]).unwrap();
                let copied =
                    writer.copy_from(&mut Slow { left: &data[first..last], fails: false }).unwrap();
                assert_eq!(copied, (last - first) as u64);
                writer.write_all(&data[last..]).unwrap();
                assert!(writer.finish().unwrap().into_inner() == expected, "{first}..{last}");
            }
        }
    }
}

#[test]
fn a_source_that_fails_or_has_more_than_announced_ends_the_copy() {
    let data = Kind::Walk.bytes(10_001);
    for threads in [1, 2, 8] {
        let threads = Threads::N(NonZeroUsize::new(threads).unwrap());
        let options = WriteOptions::default()
            .chunksize(1000)
            .nbytes(Some(10_000))
            .budget(Budget::default().threads(threads));
        let mut writer = Writer::seekable(Cursor::new(vec![]), options.clone()).unwrap();
        let error = writer.copy_from(&mut &data[..]).unwrap_err();
        assert!(
            matches!(error, Error::Param(Param::DataSize { announced: 10_000, found: 10_001 })),
            "{error}"
        );
        let mut writer = Writer::seekable(Cursor::new(vec![]), options).unwrap();
        let error = writer.copy_from(&mut Slow { left: &data[..3500], fails: true }).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
    }
}

#[test]
fn what_comes_before_a_bad_chunk_is_copied() {
    let data = Kind::Walk.bytes(20_000);
    let mut blp = pack(&data, WriteOptions::default().chunksize(1000)).unwrap();
    let file = BlpFile::new(MemStore::new(blp.clone())).unwrap();
    for nchunk in [7, 12] {
        let at = usize::try_from(file.position(nchunk).unwrap()).unwrap();
        blp[at + 20] ^= 1;
    }
    for threads in [1, 2, 3, 8] {
        let options = ReadOptions::default().budget(Budget {
            threads: Threads::N(NonZeroUsize::new(threads).unwrap()).into(),
            ..Budget::default()
        });
        let file = BlpFile::with_options(MemStore::new(blp.clone()), options).unwrap();
        let mut copied = vec![];
        let error = file.copy_to(2..20, &mut copied).unwrap_err();
        assert_eq!(error.to_string(), file.packed_chunk(7).unwrap_err().to_string());
        assert!(copied == data[2000..7000], "{threads} threads");
        let mut none = [0; 1500];
        assert!(matches!(file.copy_to(0..5, &mut &mut none[..]), Err(Error::Io { at: 1000, .. })));
    }
}
