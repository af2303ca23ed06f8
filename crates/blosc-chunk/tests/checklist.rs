//! One test for each entry of the checklist in the format document ("What a reader checks"), with
//! bytes that violate it. The numbers in the names are those of the list.

// Sizes of a few bytes.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Decoder, Error, Limits, Scratch, compress,
    decompress,
    error::{Blame, Corrupt, Unsupported},
    partial::{ChunkIndex, IndexStep},
    raw::{Blosc2Flags, FormatId},
    validate::{Depth, Note},
};

/// "abcdefgh" in two stored blocks of four bytes: LZ4, typesize 1, extended header.
const E: [u8; 56] = *b"\x05\x01\x35\x01\x08\0\0\0\x04\0\0\0\x38\0\0\0\
    \0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\
    \x28\0\0\0\x30\0\0\0\x04\0\0\0abcd\x04\0\0\0efgh";

/// The same, written by Blosc 1.
const E1: [u8; 40] =
    *b"\x02\x01\x30\x01\x08\0\0\0\x04\0\0\0\x28\0\0\0\x18\0\0\0\x20\0\0\0\x04\0\0\0abcd\x04\0\0\0efgh";

/// The chunk with bytes replaced from `at` on.
fn patch<const N: usize>(chunk: &[u8], at: usize, bytes: [u8; N]) -> Vec<u8> {
    let mut chunk = chunk.to_vec();
    chunk[at..at + N].copy_from_slice(&bytes);
    chunk
}

fn patch_i32(chunk: &[u8], at: usize, value: i32) -> Vec<u8> {
    patch(chunk, at, value.to_le_bytes())
}

fn error(chunk: &[u8]) -> Error {
    decompress(chunk).unwrap_err()
}

fn corrupt(at: u64, what: Corrupt) -> Error {
    Error::Corrupt { at, what }
}

/// The failed check in a block, and its offset.
fn in_block(chunk: &[u8], expected: u64) -> (u64, Corrupt) {
    match error(chunk) {
        Error::Block { nblock, source, .. } if nblock == expected => match *source {
            Error::Corrupt { at, what } => (at, what),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Body and value of a chunk with a special kind and the given sizes.
fn special(kind: u8, typesize: u8, nbytes: i32, body: &[u8]) -> Vec<u8> {
    let mut chunk = patch_i32(&E[..32], 4, nbytes);
    chunk[3] = typesize;
    chunk[0x1f] = kind << 4;
    chunk.extend_from_slice(body);
    let cbytes = chunk.len() as i32;
    patch_i32(&chunk, 0xc, cbytes)
}

/// A VL-block chunk of two blocks with these starts and sizes, and the payload "abcd", "efgh".
fn vl(nbytes: i32, starts: [i32; 2], sizes: [i32; 2]) -> Vec<u8> {
    let mut chunk = patch(&E, 0, [6]);
    chunk[0x1e] = 1;
    let fields = [
        (4, nbytes),
        (8, 2),
        (0x20, starts[0]),
        (0x24, starts[1]),
        (0x28, sizes[0]),
        (0x30, sizes[1]),
    ];
    fields.into_iter().fold(chunk, |chunk, (at, value)| patch_i32(&chunk, at, value))
}

/// E with a dictionary section of the size `dsize`.
fn with_dict(dsize: i32) -> Vec<u8> {
    let mut chunk = E[..32].to_vec();
    chunk[0x1f] = Blosc2Flags::DICT;
    for field in [0x30, 0x38, dsize] {
        chunk.extend_from_slice(&field.to_le_bytes());
    }
    chunk.extend_from_slice(b"DICT");
    chunk.extend_from_slice(&E[0x28..]);
    patch_i32(&chunk, 0xc, 0x40)
}

#[test]
fn the_base_chunks_are_sound() {
    for chunk in [&E[..], &E1, &vl(8, [0x28, 0x30], [4, 4]), &with_dict(4)] {
        assert_eq!(decompress(chunk).unwrap(), b"abcdefgh");
    }
}

#[test]
fn check_01_the_header_is_there() {
    for len in 0..16 {
        assert_eq!(error(&E[..len]), corrupt(len as u64, Corrupt::TooShort { len, needed: 16 }));
    }
    for len in 16..32 {
        assert_eq!(error(&E[..len]), corrupt(len as u64, Corrupt::TooShort { len, needed: 32 }));
    }
}

#[test]
fn check_02_the_version_is_known() {
    for version in [0, 7, 255] {
        assert_eq!(error(&patch(&E, 0, [version])), Error::UnknownVersion { version });
    }
    assert_eq!(error(&patch(&E, 0, [7])).blame(), Blame::NotOurs);
    // Releases before 1.0 wrote headers of version 1, which equal those of version 2.
    assert_eq!(decompress(&patch(&E1, 0, [1])).unwrap(), decompress(&E1).unwrap());
    // Further bits of flags2 have no meaning yet.
    assert_eq!(decompress(&patch(&E, 0x1e, [2])).unwrap(), b"abcdefgh");
}

#[test]
fn check_03_cbytes_is_between_header_and_buffer() {
    let cbytes = |cbytes| error(&patch_i32(&E, 0xc, cbytes));
    assert_eq!(cbytes(0x39), corrupt(0xc, Corrupt::Truncated { cbytes: 0x39, len: 56 }));
    for value in [0x1f, 0, -1, i32::MIN] {
        assert_eq!(cbytes(value), corrupt(0xc, Corrupt::Cbytes { cbytes: value, header_len: 32 }));
    }
    assert_eq!(
        error(&patch_i32(&E1, 0xc, 15)),
        corrupt(0xc, Corrupt::Cbytes { cbytes: 15, header_len: 16 })
    );
}

#[test]
fn check_04_offsets_are_bounded_by_the_chunk_and_not_by_the_buffer() {
    let (at, what) = in_block(&patch_i32(&E, 0xc, 0x34), 1);
    assert_eq!((at, what), (0x30, Corrupt::StreamSize { csize: 4, left: 0 }));
    let what = Corrupt::BlockStart { nblock: 1, bstart: 0x30, min: 0x28, max: 0x2e };
    assert_eq!(error(&patch_i32(&E, 0xc, 0x32)), corrupt(0x24, what));
}

#[test]
fn check_05_nbytes_is_not_negative_and_within_the_limit() {
    assert_eq!(error(&patch_i32(&E, 4, -1)), corrupt(4, Corrupt::Nbytes { nbytes: -1 }));
    let mut decoder = Decoder::new(DParams::default().limits(Limits::none().max_nbytes(7)));
    assert_eq!(decoder.decode(&E), Err(Error::Limit { nbytes: 8, limit: 7 }));
    let huge =
        Decoder::new(DParams::default().limits(Limits::none())).decode(&patch_i32(&E, 4, i32::MAX));
    assert!(matches!(huge, Err(Error::Corrupt { what: Corrupt::BlockStarts { .. }, .. })));
}

#[test]
fn check_06_blocksize_is_between_one_and_the_maximum() {
    let max = 536_866_816;
    for blocksize in [0, -4, 0x1fff_f001, i32::MIN] {
        let expected = corrupt(8, Corrupt::Blocksize { blocksize, max });
        assert_eq!(error(&patch_i32(&E, 8, blocksize)), expected);
    }
    let max = 715_827_542;
    let expected = corrupt(8, Corrupt::Blocksize { blocksize: 715_827_543, max });
    assert_eq!(error(&patch_i32(&E1, 8, 715_827_543)), expected);
    // Blocks beyond the data are cut, as in C-Blosc2 3.x.
    let one = patch_i32(&E[..0x34], 8, 100);
    let one = patch_i32(&patch_i32(&one, 0xc, 0x30), 0x20, 0x24);
    let one = [&one[..0x24], &8i32.to_le_bytes(), b"abcdefgh"].concat();
    assert_eq!(decompress(&one).unwrap(), b"abcdefgh");
}

#[test]
fn check_07_typesize_is_not_zero() {
    assert_eq!(error(&patch(&E, 3, [0])), corrupt(3, Corrupt::Typesize));
}

#[test]
fn check_08_the_block_starts_fit_before_anything_is_allocated_for_them() {
    let what = Corrupt::BlockStarts { nblocks: 8, end: 64, cbytes: 56 };
    assert_eq!(error(&patch_i32(&E, 8, 1)), corrupt(32, what));
    let many = patch_i32(&vl(8, [0x28, 0x30], [4, 4]), 8, 500_000_000);
    let what = Corrupt::BlockStarts { nblocks: 500_000_000, end: 2_000_000_032, cbytes: 56 };
    assert_eq!(error(&many), corrupt(32, what));
}

#[test]
fn check_09_memcpyed_chunks_are_exactly_as_long_as_their_data() {
    for len in [7, 9] {
        let chunk = [&E[..32], &b"abcdefghi"[..len]].concat();
        let chunk = patch_i32(&patch(&chunk, 2, [0x37]), 0xc, 32 + len as i32);
        let what = Corrupt::MemcpyedSize { cbytes: 32 + len, expected: 40 };
        assert_eq!(error(&chunk), corrupt(0xc, what));
    }
    let both = patch(&vl(8, [0x28, 0x30], [4, 4]), 2, [0x37]);
    assert_eq!(
        error(&both),
        corrupt(2, Corrupt::Kinds { flags: 0x37, flags2: 1, blosc2_flags: 0 })
    );
    let both = patch(&special(1, 1, 8, b""), 2, [0x37]);
    assert_eq!(
        error(&both),
        corrupt(2, Corrupt::Kinds { flags: 0x37, flags2: 0, blosc2_flags: 0x10 })
    );
}

#[test]
fn check_10_blocks_start_inside_the_block_area() {
    for bstart in [0, -1, 4, 0x20, 0x24, 0x38, 0x36, 0x35, i32::MAX, i32::MIN] {
        let what = Corrupt::BlockStart { nblock: 1, bstart, min: 0x28, max: 0x34 };
        assert_eq!(error(&patch_i32(&E, 0x24, bstart)), corrupt(0x24, what));
    }
    // A run of zeros takes four bytes, so a block may begin there.
    let run = patch_i32(&patch_i32(&E[..0x34], 0xc, 0x34), 0x30, 0);
    assert_eq!(decompress(&run).unwrap(), b"abcd\0\0\0\0");
}

#[test]
fn check_11_streams_end_inside_the_chunk() {
    for csize in [0x64, i32::MAX, 5] {
        let found = in_block(&patch_i32(&E, 0x30, csize), 1);
        assert_eq!(found, (0x30, Corrupt::StreamSize { csize, left: 4 }));
    }
    // Two streams of two bytes, without space for the size of the second.
    let split = patch(&patch(&E, 2, [0x25, 2]), 0x28, [0; 8]);
    let split = patch_i32(&split, 0x30, 2);
    assert_eq!(in_block(&split, 1), (0x36, Corrupt::StreamHeader { left: 2 }));
}

#[test]
fn check_12_stored_streams_are_all_there() {
    let cut = patch_i32(&E[..54], 0xc, 54);
    assert_eq!(in_block(&cut, 1), (0x30, Corrupt::StreamSize { csize: 4, left: 2 }));
}

#[test]
fn check_13_runs_are_of_one_byte_and_have_a_token() {
    let run = |csize: i32| in_block(&patch_i32(&E, 0x30, csize), 1).1;
    for csize in [-256, i32::MIN, -1000] {
        assert_eq!(run(csize), Corrupt::RunValue { csize });
    }
    for token in [0, 2, 0xfe] {
        let chunk = patch(&patch_i32(&E, 0x30, -7), 0x34, [token]);
        assert_eq!(in_block(&chunk, 1), (0x30, Corrupt::Token { token }));
    }
    let last = patch_i32(&patch_i32(&E[..0x34], 0xc, 0x34), 0x30, -7);
    assert_eq!(in_block(&last, 1), (0x30, Corrupt::TokenMissing { csize: -7 }));
    let sound = patch(&patch_i32(&E, 0x30, -255), 0x34, [0xff]);
    assert_eq!(decompress(&sound).unwrap(), b"abcd\xff\xff\xff\xff");
}

#[test]
fn check_14_blosc1_has_no_runs() {
    for csize in [0, -7] {
        let found = in_block(&patch_i32(&E1, 0x20, csize), 1);
        assert_eq!(found, (0x20, Corrupt::RunInBlosc1 { csize }));
    }
}

#[test]
fn check_15_codecs_give_exactly_the_bytes_of_the_stream() {
    let Error::Block { nblock: 1, source, .. } = error(&patch_i32(&E, 0x30, 3)) else { panic!() };
    assert!(matches!(*source, Error::Codec { at: 0x30, .. }));
    // A valid LZ4 stream of three literals, or of five.
    for stream in [&b"\x30abc"[..], b"\x50abcde"] {
        let csize = stream.len() as i32;
        let chunk = [&patch_i32(&E, 0x30, csize)[..0x34], stream].concat();
        let chunk = patch_i32(&chunk, 0xc, 0x34 + csize);
        if csize == 4 {
            // A stream as long as the data is stored, even if a codec could decode it.
            assert_eq!(decompress(&chunk).unwrap(), b"abcd\x30abc");
        } else {
            assert!(matches!(error(&chunk), Error::Block { nblock: 1, .. }));
        }
    }
}

#[test]
fn check_16_split_blocks_are_whole_items() {
    let chunk = patch(&E, 2, [0x25, 3]);
    assert_eq!(error(&chunk), corrupt(8, Corrupt::Split { blocksize: 4, typesize: 3 }));
    let chunk = patch(&E, 2, [0x25, 8]);
    assert_eq!(error(&chunk), corrupt(8, Corrupt::Split { blocksize: 4, typesize: 8 }));
}

#[test]
fn check_17_every_byte_of_the_output_is_written() {
    let mut dest = [0xaa; 10];
    let chunk = special(4, 3, 8, b"");
    Chunk::parse(&chunk).unwrap().decode_into(&mut dest, &mut Scratch::default()).unwrap();
    assert_eq!(dest, [0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xaa]);
}

#[test]
fn check_18_filters_are_known() {
    for id in [5, 31, 37, 200] {
        let chunk = patch(&E, 0x15, [id]);
        let error = error(&chunk);
        assert_eq!(
            (&error, error.blame()),
            (&Error::UnknownFilter { id: blosc_chunk::FilterId(id) }, Blame::NotOurs)
        );
    }
    // An item width beyond the block.
    assert_eq!(decompress(&patch(&patch(&E, 0x15, [1]), 0x1d, [200])).unwrap(), b"abcdefgh");
    // Copies and runs were never filtered.
    let copy = patch_i32(&patch(&[&E[..32], b"abcdefgh"].concat(), 2, [0x37]), 0xc, 40);
    assert_eq!(decompress(&patch(&copy, 0x15, [5])).unwrap(), b"abcdefgh");
}

#[test]
fn check_19_codecs_are_known_when_a_stream_needs_one() {
    let coded = |flags: u8, id| patch(&patch_i32(&patch(&E, 2, [flags]), 0x30, 3), 0x16, [id]);
    for (flags, id, format) in [(0x55, 3, 2), (0xb5, 6, 5), (0xd5, 200, 6), (0xf5, 7, 7)] {
        let error = error(&coded(flags, id));
        assert_eq!(error.blame(), Blame::NotOurs);
        let Error::Block { source, .. } = error else { panic!("{error:?}") };
        let found = matches!(*source, Error::UnknownCodec { format: FormatId(f), id: CodecId(i), .. } if (f, i) == (format, id));
        assert!(found, "{source:?}");
        // Stored streams need no codec.
        assert_eq!(decompress(&patch_i32(&coded(flags, id), 0x30, 4)).unwrap(), b"abcdefgh");
    }
}

#[test]
fn check_20_special_chunks_have_a_kind_and_whole_values() {
    for code in 5..8 {
        assert_eq!(error(&special(code, 1, 8, b"")), corrupt(0x1f, Corrupt::SpecialKind { code }));
    }
    for value in [&b""[..], b"abc", b"abcdefghijklmnop"] {
        let what = Corrupt::ValueWidth { width: value.len(), nbytes: 8 };
        assert_eq!(error(&special(3, 1, 8, value)), corrupt(0xc, what));
    }
    for (typesize, nbytes) in [(2, 8), (1, 8), (4, 6)] {
        let what = Corrupt::Nans { typesize: typesize.into(), nbytes: nbytes as usize };
        assert_eq!(error(&special(2, typesize, nbytes, b"")), corrupt(3, what));
    }
    assert_eq!(decompress(&special(3, 1, 8, b"abcd")).unwrap(), b"abcdabcd");
    // C-Blosc2 writes this for no items, and refuses it itself.
    assert_eq!(decompress(&special(3, 4, 0, b"abcd")).unwrap(), b"");
    let both = patch(&special(1, 1, 8, b""), 0x1e, [1]);
    assert_eq!(
        error(&both),
        corrupt(2, Corrupt::Kinds { flags: 0x35, flags2: 1, blosc2_flags: 0x10 })
    );
}

#[test]
fn check_21_vl_blocks_are_in_order_and_add_up() {
    let span = |nblock, start, end| Corrupt::VlSpan { nblock, start, end };
    assert_eq!(error(&vl(8, [0x30, 0x28], [4, 4])), corrupt(0x20, span(0, 0x30, 0x28)));
    assert_eq!(error(&vl(8, [0x28, 0x2c], [4, 4])), corrupt(0x20, span(0, 0x28, 0x2c)));
    assert_eq!(error(&vl(8, [0x28, 0x34], [4, 4])), corrupt(0x24, span(1, 0x34, 0x38)));
    assert_eq!(
        error(&vl(9, [0x28, 0x30], [4, 4])),
        corrupt(4, Corrupt::VlSum { sum: 8, nbytes: 9 })
    );
    let size = |nbytes, left| Corrupt::VlSize { nbytes, left };
    assert_eq!(error(&vl(7, [0x28, 0x30], [4, 4])), corrupt(0x30, size(4, 3)));
    assert_eq!(error(&vl(8, [0x28, 0x30], [-4, 12])), corrupt(0x28, size(-4, 8)));
    assert_eq!(error(&vl(4, [0x28, 0x30], [4, 0])), corrupt(0x30, size(0, 0)));
    // The sum would overflow to the right value in 32 bits.
    assert_eq!(error(&vl(8, [0x28, 0x30], [i32::MAX, 4])), corrupt(0x28, size(i32::MAX, 8)));
}

#[test]
fn check_22_dictionaries_fit() {
    for dsize in [0, -5, 32769] {
        assert_eq!(
            error(&with_dict(dsize)),
            corrupt(0x28, Corrupt::DictSize { dsize, max: 32768 })
        );
    }
    let what = Corrupt::DictRoom { end: 0x2c + 1000, cbytes: 0x40 };
    assert_eq!(error(&with_dict(1000)), corrupt(0x28, what));
    let none = patch_i32(&patch_i32(&with_dict(4)[..0x24], 0xc, 0x24), 8, 8);
    assert_eq!(error(&none), corrupt(0x24, Corrupt::DictRoom { end: 0x28, cbytes: 0x24 }));
    // A copy has no dictionary; the bit is ignored.
    let copy = patch_i32(&patch(&[&E[..32], b"\0\0\0\0efgh"].concat(), 2, [0x37]), 0xc, 40);
    let copy = patch(&copy, 0x1f, [Blosc2Flags::DICT]);
    assert_eq!(decompress(&copy).unwrap(), b"\0\0\0\0efgh");
    let notes = Chunk::parse(&copy).unwrap().validate(Depth::Header, &mut Scratch::default()).notes;
    assert_eq!(notes, [Note::DictOfCopy]);
}

#[test]
fn check_23_lazy_chunks_are_no_chunks() {
    let lazy = patch(&E, 0x1f, [Blosc2Flags::LAZY]);
    assert_eq!(error(&lazy), corrupt(0x1f, Corrupt::Lazy));
    assert_eq!(ChunkIndex::parse(&lazy).unwrap_err(), corrupt(0x1f, Corrupt::Lazy));
    assert!(ChunkHeader::parse(&lazy).unwrap().is_lazy());
}

#[test]
fn check_24_large_outputs_need_permission_and_are_filled_at_once() {
    let bomb = patch_i32(&special(1, 1, 0x7fff_ffdf, b""), 8, 0x1fff_f000);
    assert_eq!(error(&bomb), Error::Limit { nbytes: 0x7fff_ffdf, limit: 1 << 30 });
    let mut part = [1; 16];
    let chunk = Chunk::parse(&bomb).unwrap();
    chunk.read_bytes(0x7fff_ff00..0x7fff_ff10, &mut part, &mut Scratch::default()).unwrap();
    assert_eq!(part, [0; 16]);
    // A million blocks of one byte, which are missing.
    let copy =
        compress(&[5; 1 << 20], &CParams::default().clevel(blosc_chunk::Level::NONE)).unwrap();
    assert_eq!(decompress(&patch_i32(&copy, 8, 1)).unwrap(), [5; 1 << 20]);
    let by_ratio = DParams::default().limits(Limits::none().max_ratio(Some(1000)));
    let error = Decoder::new(by_ratio).decode(&special(1, 1, 1 << 20, b""));
    assert_eq!(error, Err(Error::Limit { nbytes: 1 << 20, limit: 32_000 }));
    let by_blocks = DParams::default().limits(Limits::none().max_blocks(Some(1)));
    assert_eq!(Decoder::new(by_blocks).decode(&E), Err(Error::Limit { nbytes: 2, limit: 1 }));
    // One item of a block that exceeds the limit.
    let data: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
    let chunk = compress(&data, &CParams::default().typesize(4)).unwrap();
    let mut scratch = Scratch::new(&DParams::default().limits(Limits::none().max_nbytes(1000)));
    let error =
        Chunk::parse(&chunk).unwrap().read_items(0..1, &mut [0; 4], &mut scratch).unwrap_err();
    assert_eq!(error.blame(), Blame::Limit);
}

#[test]
fn check_25_item_ranges_do_not_overflow() {
    let four = patch(&E, 3, [4]);
    let chunk = Chunk::parse(&four).unwrap();
    let mut dest = [0; 16];
    for (start, end) in [(1 << 30, (1 << 30) + 1), (0, 3), (usize::MAX, usize::MAX), (2, 3)] {
        let error = chunk.read_items(start..end, &mut dest, &mut Scratch::default()).unwrap_err();
        assert_eq!(error, Error::Range { start, end, len: 2 });
    }
    let small = chunk.read_items(0..2, &mut dest[..7], &mut Scratch::default()).unwrap_err();
    assert_eq!(small, Error::Dest { needed: 8, room: 7 });
    assert_eq!(chunk.read_items(1..1, &mut [], &mut Scratch::default()), Ok(()));
}

#[test]
fn check_26_blocks_may_share_bytes_and_that_is_noted() {
    let shared = patch_i32(&E, 0x24, 0x28);
    assert_eq!(decompress(&shared).unwrap(), b"abcdabcd");
    let report = Chunk::parse(&shared).unwrap().validate(Depth::Decode, &mut Scratch::default());
    assert!(report.is_ok());
    assert_eq!(report.notes, [Note::Gaps { nbytes: 8 }, Note::Overlap { nblock: 1 }]);
}

#[test]
fn check_27_flags_that_blosc1_does_not_have() {
    for flags in [0x38, 0x35] {
        assert_eq!(error(&patch(&E1, 2, [flags])), corrupt(2, Corrupt::Blosc1Flags { flags }));
    }
    assert_eq!(error(&patch(&E1, 1, [2])), corrupt(1, Corrupt::VersionLz { versionlz: 2 }));
    assert_eq!(decompress(&patch(&E, 1, [2])).unwrap(), b"abcdefgh");
}

#[test]
fn check_28_delta_refers_to_a_block_that_is_long_enough() {
    let delta = patch(&E, 0x15, [3]);
    let first = [b'a', b'a' ^ b'b', b'a' ^ b'b' ^ b'c', b'a' ^ b'b' ^ b'c' ^ b'd'];
    let second: Vec<u8> = first.iter().zip(b"efgh").map(|(a, b)| a ^ b).collect();
    assert_eq!(decompress(&delta).unwrap(), [&first[..], &second].concat());
    // Only the last block is shorter.
    let nine = patch_i32(&delta, 4, 7);
    let nine = patch_i32(&nine, 0x30, 3);
    assert_eq!(decompress(&nine).unwrap(), [&first[..], &second[..3]].concat());
}

#[test]
fn check_29_statistics_and_unset_data_are_not_passed_off_as_data() {
    let statistics = patch(&E, 0x1f, [Blosc2Flags::INSTRUMENTED]);
    assert_eq!(error(&statistics), Error::Unsupported(Unsupported::Instrumented));
    let filtered = patch(&patch(&statistics, 0x15, [3]), 3, [4]);
    let mut decoder = Decoder::new(DParams::default().instrumented(true));
    assert_eq!(decoder.decode(&filtered).unwrap(), b"abcdefgh");
    let notes = |chunk: &[u8]| {
        Chunk::parse(chunk).unwrap().validate(Depth::Header, &mut Scratch::default()).notes
    };
    assert_eq!(notes(&statistics), [Note::Instrumented]);
    assert_eq!(notes(&special(4, 1, 8, b"")), [Note::Uninit]);
}

#[test]
fn check_30_differences_are_taken_of_ordered_numbers_only() {
    assert!(matches!(error(&patch_i32(&special(3, 1, 8, b"ab"), 0xc, 31)), Error::Corrupt { .. }));
    assert!(matches!(error(&vl(8, [0x30, 0x30], [4, 4])), Error::Corrupt { .. }));
    let IndexStep::Needs(needed) = ChunkIndex::parse(&E[..32]).unwrap() else { panic!() };
    assert_eq!(needed, 40);
}
