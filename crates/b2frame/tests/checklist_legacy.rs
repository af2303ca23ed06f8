//! The list of checks for frames from strangers, entry by entry, for the layouts of the 2.0.0
//! betas. `legacy.rs` tests their errors by name; this file proves that no entry was forgotten.

use b2frame::{
    Budget, EditOptions, Error, SChunk, SChunkWriter,
    error::{Blame, Corrupt},
    header::FrameLayout,
};
use blosc_io::MemStore;

/// Two chunks of 8000 bytes, two metalayers, usermeta.
const FULL: &str = "beta2-lz4-shuffle-i8-meta-usermeta";
/// One metalayer, no trailer.
const BETA1: &str = "beta1-zstd-bitshuffle-i4";
/// Positions of parts of `FULL`.
const METALAYERS: usize = 82;
const CHUNK: usize = 147;
const INDEX: usize = CHUNK + 1008;

fn sample(name: &str) -> Vec<u8> {
    blosc_testdata::fixture::read(format!("frames/legacy/{name}.b2frame")).unwrap()
}

fn edited(name: &str, at: usize, new: &[u8]) -> Vec<u8> {
    let mut frame = sample(name);
    frame[at..at + new.len()].copy_from_slice(new);
    frame
}

/// Opens the frame and reads all of it.
fn read(frame: Vec<u8>) -> Result<(), Error> {
    let schunk = SChunk::from_cframe(frame)?;
    schunk
        .vlmeta()
        .stored()
        .iter()
        .try_for_each(|layer| schunk.vlmeta().decode(layer).map(drop))?;
    schunk.decode_ordered(0..schunk.nchunks(), &Budget::default(), |_, _| Ok(()))
}

/// Every one of these changes is refused, either as damage or as a file of another kind.
fn refused(name: &str, at: usize, values: &[&[u8]]) {
    for (n, value) in values.iter().enumerate() {
        let error =
            read(edited(name, at, value)).expect_err(&format!("{name} at {at}: {n} was read"));
        assert!(
            matches!(error.blame(), Blame::Data | Blame::NotOurs),
            "{name} at {at}: {n}: {error:?}"
        );
    }
}

/// Position of the trailer of `FULL`.
fn trailer() -> usize {
    let schunk = SChunk::from_cframe(sample(FULL)).unwrap();
    usize::try_from(schunk.frame_len() - schunk.trailer_len()).unwrap()
}

#[test]
fn samples_are_read() {
    for name in [FULL, BETA1] {
        assert!(read(sample(name)).is_ok(), "{name}");
    }
    assert_eq!(SChunk::from_cframe(sample(BETA1)).unwrap().layout(), FrameLayout::Beta1);
}

#[test]
fn entry_1_length_and_magic() {
    for name in [FULL, BETA1] {
        (0..87)
            .for_each(|len| assert!(read(sample(name)[..len].to_vec()).is_err(), "{name}: {len}"));
        (0..10).for_each(|at| refused(name, at, &[&[0xee]]));
    }
}

#[test]
fn entry_2_version_belongs_to_the_layout() {
    refused(FULL, 0x19, &[&[0x23], &[0x24], &[0x13], &[0x2f]]);
    refused(BETA1, 0x19, &[&[0x21], &[0x22], &[0x2f]]);
}

#[test]
fn entry_3_markers() {
    for at in [0x0a, 0x0f, 0x18, 0x1d, 0x26, 0x2f, 0x34, 0x39, 0x3c] {
        refused(FULL, at, &[&[0x00], &[0xff]]);
        refused(BETA1, at, &[&[0x00], &[0xff]]);
    }
    refused(FULL, 0x40, &[&[0x00], &[0xff]]);
}

#[test]
fn entry_4_header_len() {
    let wrong: [&[u8]; 4] = [&[0, 0, 0, 91], &[0, 0, 0, 0], &[0xff; 4], &[0, 0, 0xff, 0]];
    refused(FULL, 0x0b, &wrong);
    refused(BETA1, 0x0b, &[&[0, 0, 0, 73], &[0, 0, 0, 0], &[0xff; 4], &[0, 0, 0xff, 0]]);
}

#[test]
fn entry_5_frame_len() {
    for name in [FULL, BETA1] {
        refused(
            name,
            0x10,
            &[&[0; 8], &[0xff; 8], &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
        );
        let len = sample(name).len() as u64 + 1;
        refused(name, 0x10, &[&len.to_be_bytes()]);
    }
}

#[test]
fn entry_6_frame_type() {
    // The betas had no frame type: the byte is meaningless in beta.1, and reserved later.
    assert!(read(edited(BETA1, 0x1a, &[0x55])).is_ok());
}

#[test]
fn entry_7_nbytes() {
    for name in [FULL, BETA1] {
        refused(name, 0x1e, &[&[0xff; 8], &[0x80, 0, 0, 0, 0, 0, 0, 0]]);
        refused(name, 0x35, &[&[0; 4]]);
    }
}

#[test]
fn entry_8_sizes() {
    for name in [FULL, BETA1] {
        refused(name, 0x30, &[&[0; 4], &[0xff; 4], &[0x80, 0, 0, 0]]);
        refused(name, 0x35, &[&[0xff; 4], &[0x80, 0, 0, 0], &[0, 0, 0x1f, 0x41]]);
    }
}

#[test]
fn entry_9_cbytes() {
    for name in [FULL, BETA1] {
        refused(name, 0x27, &[&[0xff; 8], &[0, 0, 0, 0, 0, 0, 0x80, 0], &[0; 8]]);
        refused(name, 0x27, &[&[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]);
    }
}

#[test]
fn entry_10_filter_slots() {
    refused(FULL, 0x41, &[&[7], &[9], &[0xff]]);
    // An unknown filter in the header is allowed if no chunk uses it.
    assert!(read(edited(FULL, 0x42, &[0x70])).is_ok());
}

#[test]
fn entry_11_width_of_offsets() {
    refused(FULL, 0x19, &[&[0x01], &[0x11], &[0x31]]);
    refused(BETA1, 0x19, &[&[0x04], &[0x14], &[0x34]]);
}

#[test]
fn entry_12_end_of_the_trailer() {
    let end = sample(FULL).len();
    refused(FULL, end - 23, &[&[0xcd], &[0]]);
    refused(FULL, end - 18, &[&[0xd7], &[0]]);
    let frame_len = u32::try_from(end).unwrap();
    refused(
        FULL,
        end - 22,
        &[&[0, 0, 0, 29], &(frame_len - 146).to_be_bytes(), &[0xff; 4], &[0x80, 0, 0, 0]],
    );
}

#[test]
fn entry_13_start_of_the_trailer() {
    refused(FULL, trailer(), &[&[0x00], &[0x93], &[0xff]]);
    refused(FULL, trailer() + 1, &[&[2], &[0xff]]);
}

#[test]
fn entry_14_metalayer_section() {
    for (name, at) in [(FULL, METALAYERS), (BETA1, 64)] {
        for marker in [at, at + 1, at + 4] {
            refused(name, marker, &[&[0x01]]);
        }
        refused(name, at + 5, &[&[0, 17], &[0xff, 0xff]]);
        refused(name, at + 7, &[&[0xa0], &[0xc0], &[0xbf]]);
        // The name has 13 bytes; the marker of the position follows.
        refused(name, at + 21, &[&[0x01]]);
    }
}

#[test]
fn entry_15_metalayer_values() {
    for (name, at) in [(FULL, METALAYERS), (BETA1, 64)] {
        refused(name, at + 22, &[&[0xff; 4], &[0x7f, 0xff, 0xff, 0xff], &[0, 0, 0xff, 0]]);
        let position = sample(name)[at + 22..at + 26].try_into().map(u32::from_be_bytes).unwrap();
        let value = usize::try_from(position).unwrap();
        refused(name, value, &[&[0xc5]]);
        refused(name, value + 1, &[&[0xff; 4], &[0x7f, 0xff, 0xff, 0xff], &[0, 0, 0xff, 0]]);
    }
}

#[test]
fn entry_16_what_only_a_strict_reader_would_refuse() {
    for (name, at) in [(FULL, METALAYERS), (BETA1, 64)] {
        assert!(read(edited(name, at + 2, &[0, 0])).is_ok(), "{name}");
    }
}

#[test]
fn entry_17_vlmetalayers() {
    // The betas have at most one vlmetalayer, without a name.
    refused(FULL, trailer() + 2, &[&[0xc5], &[0xde]]);
    refused(FULL, trailer() + 3, &[&[0xff; 4], &[0x7f, 0xff, 0xff, 0xff], &[0, 0, 0x10, 0]]);
}

#[test]
fn entry_18_content_of_vlmetalayers() {
    let chunk = trailer() + 7;
    refused(FULL, chunk + 12, &[&[31, 0, 0, 0], &[0xff; 4], &[0xff, 0, 0, 0]]);
    refused(FULL, chunk + 4, &[&[0xff; 4]]);
    let error = read(edited(FULL, chunk + 4, &[0, 0, 0, 0x7f])).unwrap_err();
    assert!(matches!(error.blame(), Blame::Limit | Blame::Data), "{error:?}");
}

#[test]
fn entry_19_end_of_the_usermeta() {
    let len =
        sample(FULL)[trailer() + 3..trailer() + 7].try_into().map(u32::from_be_bytes).unwrap();
    refused(FULL, trailer() + 3, &[&(len - 1).to_be_bytes(), &(len + 1).to_be_bytes()]);
}

#[test]
fn entry_20_index() {
    refused(FULL, INDEX, &[&[0], &[99]]);
    refused(FULL, INDEX + 4, &[&[8, 0, 0, 0], &[17, 0, 0, 0], &[24, 0, 0, 0]]);
    refused(FULL, INDEX + 12, &[&[15, 0, 0, 0], &[0xff; 4], &[0, 0xff, 0, 0]]);
}

#[test]
fn entry_21_number_of_chunks() {
    refused(
        FULL,
        0x1e,
        &[&[0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], &[0, 0, 0, 0, 0x40, 0, 0, 0]],
    );
}

#[test]
fn entry_22_offsets() {
    // The offsets are stored uncompressed, after the header of the index chunk.
    let first = INDEX + 32;
    let offsets = |at: usize| sample(FULL)[at..at + 8].try_into().map(u64::from_le_bytes).unwrap();
    assert_eq!(offsets(first), 0);
    for at in [first, first + 8] {
        let wrong = [1008_u64 - 31, 1008, u64::MAX >> 1];
        wrong.iter().for_each(|offset| refused(FULL, at, &[&offset.to_le_bytes()]));
    }
}

#[test]
fn entry_23_length_of_a_chunk() {
    refused(FULL, CHUNK + 12, &[&[31, 0, 0, 0], &[0, 0xff, 0, 0], &[0xff; 4]]);
}

#[test]
fn entry_24_size_of_a_chunk() {
    refused(FULL, CHUNK + 4, &[&[0x41, 0x1f, 0, 0], &[0x38, 0x1f, 0, 0]]);
    // The `nbytes` of the frame gives the size of the last chunk.
    refused(FULL, 0x24, &[&[0x3e, 0x70]]);
}

#[test]
fn entry_25_special_values() {
    // The betas had no special values.
    for kind in [0x80, 0x83, 0x88, 0xff] {
        refused(FULL, INDEX + 32 + 7, &[&[kind]]);
    }
}

#[test]
fn entry_26_sum_of_the_chunks() {
    // All sizes are fixed: a wrong sum is a wrong size.
    refused(
        FULL,
        0x1e,
        &[&16_001_u64.to_be_bytes(), &15_999_u64.to_be_bytes(), &8000_u64.to_be_bytes()],
    );
}

#[test]
fn entry_27_what_is_inside_of_chunks() {
    refused(FULL, CHUNK + 32, &[&[3, 0, 0, 0], &[0xff; 4]]);
}

#[test]
fn entry_28_kinds_of_chunks_do_not_mix() {
    // The betas had no blocks of individual sizes: a chunk with them, by its version and its second
    // flags, is refused.
    let mut frame = edited(FULL, CHUNK, &[6]);
    frame[CHUNK + 0x1e] |= 1;
    let error = read(frame).unwrap_err();
    let vl = Corrupt::VlBlocks { nchunk: 0, found: true, expected: false };
    assert!(matches!(&error, Error::Corrupt { what, .. } if *what == vl), "{error:?}");
}

#[test]
fn entry_29_links_out_of_a_directory() {
    // The betas had no sparse frames: a directory must have today's layout.
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("chunks.b2frame"), sample(FULL)).unwrap();
    assert!(SChunk::open(dir.path()).is_err());
}

#[test]
fn entry_30_numbers_from_callers() {
    for name in [FULL, BETA1] {
        let schunk = SChunk::from_cframe(sample(name)).unwrap();
        for nchunk in [schunk.nchunks(), u64::MAX] {
            assert_eq!(schunk.chunk(nchunk).unwrap_err().blame(), Blame::Usage);
            assert_eq!(schunk.decode_chunk(nchunk).unwrap_err().blame(), Blame::Usage);
        }
        let store = Box::new(MemStore::new(sample(name)));
        assert!(SChunkWriter::open_in(store, &EditOptions::default()).is_err());
    }
}
