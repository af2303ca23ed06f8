//! One test for each error: a valid frame with a few bytes changed, the exact variant, the exact
//! position.

mod samples;

use std::io;
use std::sync::Arc;

use b2frame::{
    Budget, CompressOptions, Error, FrameParams, FrameWriter, NdArray, OpenOptions, SChunk,
    compress_stream,
    error::{Blame, Corrupt, Limited, NdCorrupt, Param},
    frames::read_frame,
    header::FrameHeader,
    nd::NdMeta,
    probe::Kind,
    report::VerifyOptions,
    to_cframe,
};
use blosc_chunk::{CParams, CodecId, Special, SpecialKind, Target, Threads, special_chunk};
use blosc_io::{MemStore, ReadAt, Sync, WriteAt};

fn sample(name: &str) -> Vec<u8> {
    blosc_testdata::fixture::read(format!("frames/{name}")).unwrap()
}

/// A sample with some bytes replaced.
fn edited(name: &str, at: usize, new: &[u8]) -> Vec<u8> {
    let mut frame = sample(name);
    frame[at..at + new.len()].copy_from_slice(new);
    frame
}

fn open(frame: Vec<u8>) -> Result<SChunk, Error> {
    SChunk::from_store(Arc::new(MemStore::new(frame)))
}

/// The error of a frame, and its position, when the frame is opened or its chunks are located.
fn corrupt(frame: Vec<u8>) -> (u64, Corrupt) {
    let read = |schunk: SChunk| {
        (0..schunk.nchunks())
            .try_for_each(|n| schunk.chunk_info(n).map(drop))
            .and_then(|()| schunk.nd_meta().map(drop))
    };
    match open(frame).and_then(read) {
        Err(Error::Corrupt { at, what }) => (at, what),
        other => panic!("{other:?}"),
    }
}

/// The error of a call.
fn param<T: core::fmt::Debug>(result: Result<T, Error>) -> Param {
    match result {
        Err(Error::Param(param)) => param,
        other => panic!("{other:?}"),
    }
}

/// Changes of `tiny.b2frame`: position, bytes, position of the error, error.
fn header_cases() -> Vec<(usize, Vec<u8>, u64, Corrupt)> {
    let (typesize, int64) = (0x2f, vec![0xd3]);
    let marker = Corrupt::Marker { field: "typesize", found: 0xd3, expected: 0xd2 };
    let deep = i64::MAX.to_be_bytes().to_vec();
    vec![
        (0, vec![0x9f], 0, Corrupt::Marker { field: "header", found: 0x9f, expected: 0x9e }),
        (typesize, int64, 0x2f, marker),
        (0x0b, vec![0, 0, 0, 96], 0x0b, Corrupt::HeaderLen { header_len: 96 }),
        (0x16, vec![0, 0x97], 0x10, Corrupt::FrameLen { frame_len: 151, min: 152 }),
        (0x16, vec![2, 0], 0x10, Corrupt::FrameTruncated { frame_len: 512, available: 369 }),
        (0x1a, vec![0x10], 0x1a, Corrupt::FrameType { found: 0x10 }),
        (0x1e, vec![0xff; 8], 0x1e, Corrupt::Nbytes { nbytes: -1 }),
        (0x30, vec![0; 4], 0x30, Corrupt::Typesize { typesize: 0 }),
        (0x35, vec![0xff; 4], 0x35, Corrupt::Blocksize { blocksize: -1 }),
        (0x3a, vec![0xff; 4], 0x3a, Corrupt::ChunkSize { chunksize: -1 }),
        (0x3a, vec![0x80, 0, 0, 0], 0x3a, Corrupt::ChunkSize { chunksize: i32::MIN }),
        (0x46, vec![7], 0x46, Corrupt::Nfilters { nfilters: 7 }),
        (0x19, vec![0x22], 0x19, Corrupt::OffsetWidth { width: 2 }),
        (0x27, deep, 0x27, Corrupt::Cbytes { cbytes: i64::MAX, room: 217 }),
    ]
}

/// As [`header_cases`], for all parts after the fixed part of the header.
fn other_cases() -> Vec<(usize, Vec<u8>, u64, Corrupt)> {
    let special = 0x8700_0000_0000_0000;
    vec![
        (0x6c, vec![0, 0, 1, 0], 0x70, Corrupt::Truncated { len: 256, left: 5 }),
        (0x5c, vec![0, 17], 0x5b, Corrupt::MetaCount { count: 17, max: 16 }),
        (0x5e, vec![0xa0], 0x5e, Corrupt::NameMarker { found: 0xa0 }),
        (0x64, vec![0xff; 4], 0x63, Corrupt::MetaPosition { position: -1, end: 117 }),
        (0x15e, vec![34], 0x15b, Corrupt::TrailerLen { trailer_len: 34, max: 252 }),
        (0x136, vec![0x22], 0x11e, Corrupt::SectionEnd { end: 61, expected: 62 }),
        (
            0x10c,
            vec![80, 0, 0, 0, 0, 0, 0, 0],
            0xe4,
            Corrupt::Offset { nchunk: 1, offset: 80, cbytes: 111 },
        ),
        (0x113, vec![0x87], 0xe4, Corrupt::SpecialOffset { nchunk: 1, offset: special }),
        (0x81, vec![112], 0x75, Corrupt::ChunkCbytes { nchunk: 0, cbytes: 112, room: 111 }),
        (0x79, vec![60], 0x75, Corrupt::ChunkNbytes { nchunk: 0, nbytes: 60, expected: 64 }),
        (0x19, vec![0x93], 0x75, Corrupt::VlBlocks { nchunk: 0, found: false, expected: true }),
        (0x93, vec![1], 0x75, Corrupt::VlBlocks { nchunk: 0, found: true, expected: false }),
    ]
}

#[test]
fn each_field_of_the_header_is_checked() {
    for (at, new, position, what) in header_cases() {
        assert_eq!(corrupt(edited("tiny.b2frame", at, &new)), (position, what));
    }
}

#[test]
fn each_part_after_the_header_is_checked() {
    for (at, new, position, what) in other_cases() {
        assert_eq!(corrupt(edited("tiny.b2frame", at, &new)), (position, what));
    }
}

#[test]
fn positions_are_those_of_the_file() {
    for (at, new, position, what) in header_cases() {
        let file = [vec![b'.'; 1000], edited("tiny.b2frame", at, &new)].concat();
        let options = OpenOptions::default().offset(1000);
        let found = match SChunk::from_store_with(Arc::new(MemStore::new(file)), &options) {
            Err(Error::Corrupt { at, what }) => (at, what),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, (1000 + position, what));
    }
}

#[test]
fn an_index_for_another_number_of_chunks() {
    // The `nbytes` give one chunk more than the index has offsets for.
    let frame = edited("tiny.b2frame", 0x1e, &200_u64.to_be_bytes());
    assert_eq!(corrupt(frame), (0xe4, Corrupt::IndexNbytes { nbytes: 24, expected: 32 }));
    let frame = edited("tiny.b2frame", 0x1e, &(1_u64 << 40).to_be_bytes());
    assert_eq!(
        corrupt(frame),
        (0xe4, Corrupt::TooManyChunks { nchunks: 1 << 34, max: (1 << 28) - 1 })
    );
}

#[test]
fn an_index_that_reaches_into_the_trailer() {
    let data = blosc_testdata::data::Kind::Noise.bytes(4000);
    let mut frame = to_cframe(&data, &FrameParams::default().chunksize(8)).unwrap();
    let schunk = open(frame.clone()).unwrap();
    let room = schunk.index_len();
    let at = schunk.frame_len() - schunk.trailer_len() - room;
    let field = usize::try_from(at).unwrap() + 12;
    frame[field..field + 4].copy_from_slice(&(u32::try_from(room).unwrap() + 1).to_le_bytes());
    assert_eq!(corrupt(frame), (at, Corrupt::IndexCbytes { cbytes: room + 1, room }));
}

#[test]
fn a_run_of_nan_for_items_that_are_no_floats() {
    let frame = edited("special-nan.b2frame", 0x30, &2_u32.to_be_bytes());
    let (_, what) = corrupt(frame);
    assert_eq!(what, Corrupt::NanTypesize { nchunk: 0, typesize: 2 });
}

#[test]
fn sizes_that_cannot_be_known() {
    let (_, what) = corrupt(sample("variable-with-two-specials.b2frame"));
    assert_eq!(what, Corrupt::SizeLost { nchunk: 2, count: 2, nbytes: 800 });
    // Without special chunks, the sum must be right.
    let schunk = open(edited("variable-chunks.b2frame", 0x1e, &5000_u64.to_be_bytes())).unwrap();
    let Err(Error::Corrupt { what, .. }) = schunk.read_bytes(0, &mut [0; 4]) else { panic!() };
    let found = schunk.chunk_infos().map(|info| info.unwrap().nbytes).sum();
    assert_eq!(what, Corrupt::SumOfChunks { found, expected: 5000 });
    assert!(!schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
}

#[test]
fn a_buffer_that_is_more_than_a_frame() {
    let frame = [sample("tiny.b2frame"), vec![0]].concat();
    let Err(Error::Corrupt { at: 0x10, what }) = SChunk::from_cframe(frame) else { panic!() };
    assert_eq!(what, Corrupt::BytesAfterFrame { frame_len: 369, available: 370 });
}

#[test]
fn a_header_that_is_cut_off() {
    assert_eq!(
        corrupt(sample("tiny.b2frame")[..86].to_vec()),
        (0, Corrupt::HeaderTruncated { len: 86 })
    );
    let Err(Error::Corrupt { what, .. }) = read_frame(&mut &sample("tiny.b2frame")[..300], 1000)
    else {
        panic!()
    };
    assert_eq!(what, Corrupt::FrameTruncated { frame_len: 369, available: 300 });
}

#[test]
fn a_vlmetalayer_that_is_no_chunk_or_of_another_size() {
    let mut frame =
        to_cframe(b"", &FrameParams::default().vlmetalayer("text", b"so ".repeat(99))).unwrap();
    let schunk = open(frame.clone()).unwrap();
    let layer = schunk.vlmeta().stored().get("text").unwrap();
    let (at, len) =
        (schunk.frame_len() - schunk.trailer_len() + layer.position, layer.content.len() as u64);
    frame[usize::try_from(at).unwrap() + 12] += 1;
    let Err(Error::Corrupt { at: found, what }) = open(frame).unwrap().vlmeta().get("text") else {
        panic!()
    };
    assert_eq!((found, what), (at, Corrupt::VlMetaCbytes { cbytes: len + 1, len }));
    let schunk = open(edited("tiny.b2frame", 0x137, &[99])).unwrap();
    let Err(error @ Error::VlMeta { at: 0x137, .. }) = schunk.vlmeta().get("note") else {
        panic!()
    };
    assert_eq!(error.to_string(), "vlmetalayer \"note\" at byte 311");
    assert_eq!(schunk.vlmeta().get("absent").unwrap(), None);
}

#[test]
fn an_array_that_does_not_fit_its_frame() {
    let frame = edited("tiny-nd.b2nd", 112 + 5, &9_u64.to_be_bytes());
    assert_eq!(corrupt(frame), (112, NdCorrupt::ChunkCount { expected: 6, found: 4 }.into()));
    let frame = edited("tiny-nd.b2nd", 112 + 2, &[17]);
    assert_eq!(corrupt(frame), (114, NdCorrupt::Ndim { ndim: 17 }.into()));
    let error = open(edited("tiny-nd.b2nd", 112 + 1, &[1])).unwrap().nd_meta().unwrap_err();
    assert!(matches!(error, Error::UnknownNdVersion { version: 1 }));
    assert!(open(sample("tiny.b2frame")).unwrap().nd_meta().unwrap().is_none());
    assert_eq!(NdMeta::NAME, "b2nd");
}

#[test]
fn what_is_not_ours() {
    let not_ours = |frame: Vec<u8>| {
        let error = open(frame).unwrap_err();
        assert_eq!(error.blame(), Blame::NotOurs, "{error}");
        error
    };
    let png = not_ours(b"\x89PNG\r\n\x1a\n and so on".to_vec());
    assert_eq!(png.to_string(), "not a Blosc2 frame: the file starts like a PNG image");
    assert!(matches!(not_ours(vec![]), Error::NotAFrame { found: Kind::Empty }));
    for first_byte in [0x9b, 0x9c, 0x9d] {
        let header = edited("tiny.b2frame", 0, &[first_byte]);
        let error = FrameHeader::parse(&header).unwrap_err();
        assert!(matches!(error, Error::OlderLayout { first_byte: found } if found == first_byte));
        assert_eq!(error.blame(), Blame::NotOurs);
    }
    let unreleased = not_ours(edited("tiny.b2frame", 0, &[0x9b]));
    assert!(matches!(unreleased, Error::UnreleasedLayout { first_byte: 0x9b, flags: 0x12 }));
    assert!(matches!(
        not_ours(edited("tiny.b2frame", 0x19, &[0x14])),
        Error::UnknownVersion { version: 4 }
    ));
    let trailer = not_ours(edited("tiny.b2frame", 0x11d, &[2]));
    assert!(matches!(trailer, Error::UnknownTrailerVersion { version: 2 }));
    assert!(matches!(not_ours(edited("tiny.b2frame", 0x1a, &[1])), Error::Sparse));
}

#[test]
fn what_a_chunk_or_the_index_says() {
    let schunk = open(edited("tiny.b2frame", 0x95, &[5, 0, 0, 0])).unwrap();
    let error = schunk.decode_chunk(0).unwrap_err();
    assert!(matches!(error, Error::Chunk { nchunk: 0, at: 0x75, .. }), "{error:?}");
    assert_eq!((error.blame(), error.position()), (Blame::Data, Some(0x75)));
    assert_eq!(schunk.decode_chunk(2).unwrap().len(), 20);
    let error = open(edited("tiny.b2frame", 0xe4, &[9])).unwrap_err();
    assert!(matches!(error, Error::Index { at: 0xe4, .. }), "{error:?}");
    assert_eq!(error.blame(), Blame::NotOurs);
}

#[test]
fn limits() {
    let limit = |result: Result<SChunk, Error>| match result {
        Err(error @ Error::Limit { what, nbytes, limit }) => {
            assert_eq!(error.blame(), Blame::Limit);
            (what, nbytes, limit)
        }
        other => panic!("{other:?}"),
    };
    let with = |options: &OpenOptions, frame| {
        SChunk::from_store_with(Arc::new(MemStore::new(frame)), options)
    };
    let options = OpenOptions::default();
    let found = limit(with(&options.clone().max_metadata(100), sample("tiny.b2frame")));
    assert_eq!(found, (Limited::Metadata, 117, 100));
    let found = limit(with(&options.clone().max_metadata(90), sample("variable-chunks.b2frame")));
    assert_eq!(found, (Limited::Metadata, 97, 90));
    let found = limit(with(&options.clone().max_index(50), sample("tiny.b2frame")));
    assert_eq!(found, (Limited::Index, 56, 50));
    // A run is one number, however many chunks it stands for.
    assert!(with(&options.max_index(0), sample("special-zero.b2frame")).is_ok());

    let params = FrameParams::default().vlmetalayer("zeros", vec![0; 5000]);
    let schunk =
        with(&OpenOptions::default().max_metadata(4999), to_cframe(b"", &params).unwrap()).unwrap();
    let error = schunk.vlmeta().get("zeros").unwrap_err();
    assert!(matches!(error, Error::Limit { what: Limited::VlMeta, nbytes: 5000, limit: 4999 }));

    let error = read_frame(&mut sample("tiny.b2frame").as_slice(), 368).unwrap_err();
    assert!(matches!(error, Error::Limit { what: Limited::Frame, nbytes: 369, limit: 368 }));

    let mut writer =
        FrameWriter::new(MemStore::default(), &FrameParams::default().chunksize(1000)).unwrap();
    let error = compress_stream(
        &mut &[0; 9][..],
        &mut writer,
        &CompressOptions::default().budget(Budget::default().max_memory(1999)),
        |_| {},
    );
    assert!(matches!(error, Err(Error::Limit { what: Limited::Memory, limit: 1999, .. })));

    let array = NdArray::from_schunk(open(sample("tiny-nd.b2nd")).unwrap()).unwrap();
    let array = array.budget(Budget::default().max_memory(2));
    let error = array.for_each_band(|_| Ok::<(), Error>(()));
    assert!(
        matches!(error, Err(Error::Limit { what: Limited::Memory, limit: 1, .. })),
        "{error:?}"
    );
    let mut options = OpenOptions::default();
    options.dparams.limits.max_nbytes = 29;
    let store = Arc::new(MemStore::new(sample("tiny-nd.b2nd")));
    let array = NdArray::from_schunk(SChunk::from_store_with(store, &options).unwrap()).unwrap();
    assert!(matches!(array.to_bytes(..), Err(Error::Limit { nbytes: 30, limit: 29, .. })));
}

#[test]
fn wrong_numbers_when_reading() {
    let schunk = open(sample("tiny.b2frame")).unwrap();
    let none = Param::ChunkNumber { nchunk: 3, nchunks: 3 };
    assert_eq!(param(schunk.chunk(3)), none);
    assert_eq!(param(schunk.chunk_info(3)), none);
    assert_eq!(param(schunk.chunk_nbytes(3)), none);
    let after = schunk.decode_ordered(2..4, &Budget::default(), |_, _| Ok::<(), Error>(()));
    assert_eq!(param(after), Param::ChunkNumber { nchunk: 4, nchunks: 3 });
    assert_eq!(
        param(schunk.read_bytes(147, &mut [0; 2])),
        Param::Range { start: 147, end: 149, len: 148 }
    );
    assert_eq!(
        param(schunk.read(36..38, &mut [0; 8])),
        Param::Range { start: 36, end: 38, len: 37 }
    );
    assert_eq!(param(schunk.read(36..37, &mut [0; 5])), Param::BufferLen { len: 5, expected: 4 });
    let short = schunk.decode_chunk_into(0, &mut [0; 63], &mut schunk.scratch());
    assert_eq!(param(short), Param::BufferLen { len: 63, expected: 64 });
}

fn writer(typesize: usize, chunksize: usize) -> Result<FrameWriter<MemStore>, Error> {
    let params = FrameParams::new(CParams::default().typesize(typesize)).chunksize(chunksize);
    FrameWriter::new(MemStore::default(), &params)
}

#[test]
fn chunks_of_blosc1_are_not_written() {
    let params = CParams::default().target(Target::Blosc1_11);
    let chunk = blosc_chunk::compress(&[1; 28], &params).unwrap();
    let mut writer = writer(1, 28).unwrap();
    assert_eq!(param(writer.append_chunk(&chunk)), Param::Blosc1Chunk);
    assert_eq!(writer.nchunks(), 0);
}

#[test]
fn wrong_parameters_when_writing() {
    let max = 0x7fff_ffff - 32;
    assert_eq!(param(writer(4, 0)), Param::ChunkSize { chunksize: 0, typesize: 4, max });
    assert_eq!(
        param(writer(4, 1 << 31)),
        Param::ChunkSize { chunksize: 1 << 31, typesize: 4, max }
    );
    assert_eq!(param(writer(0, 8)), Param::Typesize { typesize: 0, max });
    assert_eq!(writer(6, 20).unwrap().chunksize(), 18);
    assert_eq!(writer(6, 5).unwrap().chunksize(), 6);
    let named = |name: &str| {
        FrameWriter::new(MemStore::default(), &FrameParams::default().metalayer(name, *b"x"))
    };
    assert_eq!(param(named("")), Param::MetaName { len: 0 });
    let twice = FrameParams::default().vlmetalayer("a", *b"").vlmetalayer("a", *b"");
    assert_eq!(param(to_cframe(b"", &twice)), Param::MetaTwice { name: "a".to_owned() });
    let many =
        (0..17).fold(FrameParams::default(), |params, n| params.metalayer(format!("m{n}"), *b""));
    assert_eq!(param(to_cframe(b"", &many)), Param::MetaCount { count: 17, max: 16 });
    let long = FrameParams::default().metalayer("m", vec![0; 10]);
    assert!(to_cframe(b"", &long).is_ok());
    let unknown = FrameParams::new(CParams::default().codec(CodecId(200)));
    let error = to_cframe(b"data", &unknown).unwrap_err();
    assert!(matches!(error, Error::Compress { nchunk: 0, .. }), "{error:?}");
}

#[test]
fn chunks_that_have_no_place() {
    let mut frame = writer(4, 8).unwrap();
    assert_eq!(param(frame.append(b"")), Param::EmptyChunk);
    assert_eq!(param(frame.append(&[0; 9])), Param::ChunkNbytes { nbytes: 9, expected: 8 });
    assert_eq!(param(frame.append_special(SpecialKind::Value, 8)), Param::SpecialKind);
    let error = frame.append_chunk(b"no chunk at all, but some bytes..").unwrap_err();
    assert!(matches!(error, Error::Chunk { nchunk: 0, .. }));
    frame.append(&[1; 3]).unwrap();
    assert_eq!(param(frame.append(&[1; 3])), Param::AfterLastChunk);

    let mut frame = writer(2, 8).unwrap();
    assert_eq!(
        param(frame.append_special(SpecialKind::Nans, 8)),
        Param::NanTypesize { typesize: 2 }
    );
    let nans = special_chunk(Special::Nans, 8, &CParams::default().typesize(4)).unwrap();
    assert_eq!(param(frame.append_chunk(&nans)), Param::NanTypesize { typesize: 2 });
}

/// A store that fails from some position on.
struct Failing(MemStore, u64);

impl ReadAt for Failing {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if at >= self.1 {
            Err(io::ErrorKind::PermissionDenied.into())
        } else {
            self.0.read_at(at, buf)
        }
    }
}

impl WriteAt for Failing {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if at >= self.1 {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            self.0.write_at(at, bytes)
        }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&mut self, what: Sync) -> io::Result<()> {
        self.0.sync(what)
    }
}

#[test]
fn what_the_system_says() {
    let error = SChunk::from_store(Arc::new(Failing(MemStore::new(sample("tiny.b2frame")), 87)))
        .unwrap_err();
    assert!(matches!(error, Error::Io { at: 346, len: 23, .. }), "{error:?}");
    assert_eq!(error.blame(), Blame::Io);

    let mut writer =
        FrameWriter::new(Failing(MemStore::default(), 105), &FrameParams::default().chunksize(8))
            .unwrap();
    writer.append(b"12345678").unwrap();
    let error = writer.append(b"12345678").unwrap_err();
    assert!(matches!(error, Error::Write { at: 137, len: 40, .. }), "{error:?}");

    let error = SChunk::open("/nowhere/at/all").unwrap_err();
    assert!(matches!(error, Error::Open { .. }));
    assert_eq!(error.blame(), Blame::Io);
}

#[test]
fn a_stream_that_breaks() {
    struct Broken(usize);
    impl io::Read for Broken {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = buf.len().min(self.0);
            self.0 -= n;
            if n == 0 { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(n) }
        }
    }
    let mut frame = writer(1, 100).unwrap();
    let error = compress_stream(&mut Broken(250), &mut frame, &CompressOptions::default(), |_| {})
        .unwrap_err();
    assert!(matches!(error, Error::Input { nbytes: 250, .. }), "{error:?}");
    let options = CompressOptions::default().budget(Budget::default().threads(Threads::One));
    let error = compress_stream(&mut Broken(250), &mut writer(1, 100).unwrap(), &options, |_| {})
        .unwrap_err();
    assert!(matches!(error, Error::Input { nbytes: 250, .. }), "{error:?}");
}
