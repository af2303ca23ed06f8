//! Former defects, each with its smallest input.

// Sizes of a few bytes.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

use blosc_chunk::{
    Chunk, Scratch, Target, decompress,
    partial::{ChunkIndex, IndexStep},
    transcode::transcode_header,
    validate::{Depth, Note},
};

/// C-Blosc2 3.3.5 marks empty data, compressed with a dictionary, as memcpyed and as a chunk of
/// zeros.
#[test]
fn empty_chunk_with_two_kinds_is_empty() {
    let mut chunk = [0; 32];
    chunk[..4].copy_from_slice(&[5, 1, 7, 16]);
    (chunk[8], chunk[12], chunk[31]) = (1, 32, 0x10);
    assert_eq!(decompress(&chunk), Ok(vec![]));
}

/// Six bytes in two unsplit blocks, typesize 3, a block size of 5 in the header: the first block
/// stored, the second a run of sevens. Only the first block decides whether it is of five
/// bytes or, rounded, of three.
fn with_ambiguous_blocksize(first: &[u8]) -> Vec<u8> {
    let mut chunk =
        b"\x05\x01\x35\x03\x06\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for field in [40, 44 + first.len() as i32, first.len() as i32] {
        chunk.extend_from_slice(&field.to_le_bytes());
    }
    chunk.extend_from_slice(first);
    chunk.extend_from_slice(b"\xf9\xff\xff\xff\x01");
    let cbytes = chunk.len() as i32;
    chunk[0xc..0x10].copy_from_slice(&cbytes.to_le_bytes());
    chunk
}

#[test]
fn parts_of_a_chunk_with_a_ambiguous_block_size_agree_with_the_whole() {
    for (first, data) in [(&b"abcde"[..], b"abcde\x07"), (b"abc", b"abc\x07\x07\x07")] {
        let bytes = with_ambiguous_blocksize(first);
        assert_eq!(decompress(&bytes).unwrap(), data);
        let (chunk, mut scratch) = (Chunk::parse(&bytes).unwrap(), Scratch::default());
        for (start, expected) in data.iter().enumerate() {
            let mut byte = [0];
            chunk.read_bytes(start..start + 1, &mut byte, &mut scratch).unwrap();
            assert_eq!(&byte[0], expected);
        }
        assert!(chunk.validate(Depth::Decode, &mut scratch).is_ok());
    }
}

/// Written by C-Blosc2 3.3.5, which cannot read them: few data, and a dictionary was requested.
#[test]
fn compressed_data_with_the_flags_of_a_copy_are_read() {
    let head = |typesize, nbytes, cbytes, codec| {
        let mut head =
            [5, 1, 7, typesize, nbytes, 0, 0, 0, nbytes, 0, 0, 0, cbytes, 0, 0, 0].to_vec();
        head.extend([0, 0, 0, 0, 0, 1, codec, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        head
    };
    let runs = [
        head(4, 28, 54, 1),
        b"\x24\0\0\0\xff\xff\xff\xff\x01\xfe\xff\xff\xff\x01\0\0\0\0\0\0\0\0".to_vec(),
    ];
    let coded = [head(1, 31, 54, 2), b"\x24\0\0\0\x0e\0\0\0\x4fabcd\x04\0\x03\x50cdxyz".to_vec()];
    let mut zeros = head(4, 28, 32, 5);
    zeros[31] = 0x10;
    let text = b"abcdabcdabcdabcdabcdabcdabcdxyz".to_vec();
    let cases =
        [(runs.concat(), b"\x01\x02\0\0".repeat(7)), (coded.concat(), text), (zeros, vec![0; 28])];
    for (bytes, data) in cases {
        assert_eq!(decompress(&bytes).unwrap(), data);
        let chunk = Chunk::parse(&bytes).unwrap();
        let report = chunk.validate(Depth::Decode, &mut Scratch::default());
        assert!(report.is_ok() && report.notes.contains(&Note::Mislabelled), "{report:?}");
        assert!(!chunk.header().is_memcpyed());
        assert_eq!(chunk.header().to_bytes(), bytes[..32]);
    }
}

/// C-Blosc2 3.3.5 cuts data that are shorter than an item into blocks of one byte, and stores the
/// block size of the caller.
#[test]
fn data_shorter_than_an_item_have_blocks_of_one_byte() {
    let mut chunk =
        b"\x05\x01\x35\x08\x03\0\0\0\x03\0\0\0\x3b\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0"
            .to_vec();
    for nblock in 0..3_u32 {
        chunk.extend_from_slice(&(44 + 5 * nblock).to_le_bytes());
    }
    chunk.extend_from_slice(b"\xff\xff\xff\xff\x01\xfe\xff\xff\xff\x01\xfd\xff\xff\xff\x01");
    assert_eq!(decompress(&chunk).unwrap(), [1, 2, 3]);
    assert_eq!(Chunk::parse(&chunk).unwrap().blocksize(), Some(1));
}

/// Two blocks of four bytes, although an item has more than both: there is no room for the starts
/// of blocks of one byte.
#[test]
fn an_index_needs_no_more_than_the_chunk_has() {
    let chunk = b"\x05\x01\x35\x7f\x08\0\0\0\x04\0\0\0\x38\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\
                  \x28\0\0\0\x30\0\0\0\x04\0\0\0abcd\x04\0\0\0efgh";
    assert_eq!(decompress(chunk).unwrap(), b"abcdefgh");
    assert!(
        matches!(ChunkIndex::parse(&chunk[..40]), Ok(IndexStep::Ready(index)) if index.nblocks() == 2)
    );
}

/// A block of four bytes, with space for another block start: with items of three bytes, a reader
/// of Blosc2 would see a block of three bytes and one of one byte.
#[test]
fn a_block_size_that_the_target_reads_otherwise_is_refused() {
    let mut old = b"\x02\x01\x94\x03\x04\0\0\0\xff\0\0\0\x20\0\0\0".to_vec();
    old.extend(b"\x18\0\0\0\x3e\0\0\0\x04\0\0\0\x28\xb5\x2f\xfd");
    assert_eq!(decompress(&old), Ok(b"\x28\xb5\x2f\xfd".to_vec()));
    let refused = transcode_header(&old, Target::Blosc2_0).unwrap_err();
    assert!(refused.to_string().contains("a block size in doubt"), "{refused}");
}
