//! The list of checks for frames from strangers, entry by entry. `errors.rs` tests the errors by
//! name and position; this file proves that no entry was forgotten.

use std::sync::Arc;

use b2frame::{
    Budget, Error, FrameParams, OpenOptions, SChunk, SChunkWriter, error::Blame,
    report::VerifyOptions, to_cframe,
};
use blosc_chunk::CParams;
use blosc_io::MemStore;

fn sample(name: &str) -> Vec<u8> {
    blosc_testdata::fixture::read(format!("frames/{name}")).unwrap()
}

/// `tiny.b2frame` with some bytes replaced.
fn tiny(edits: &[(usize, &[u8])]) -> Vec<u8> {
    let mut frame = sample("tiny.b2frame");
    for (at, bytes) in edits {
        frame[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    frame
}

/// Opens the frame and reads all of it.
fn read(frame: Vec<u8>) -> Result<(), Error> {
    let schunk = SChunk::from_store(Arc::new(MemStore::new(frame)))?;
    schunk
        .vlmeta()
        .stored()
        .iter()
        .try_for_each(|layer| schunk.vlmeta().decode(layer).map(drop))?;
    schunk.decode_ordered(0..schunk.nchunks(), &Budget::default(), |_, _| Ok(()))
}

/// Every one of these frames is refused, either as damaged or as a file of another kind.
fn refused(frames: impl IntoIterator<Item = Vec<u8>>) {
    for (n, frame) in frames.into_iter().enumerate() {
        let error = read(frame).expect_err(&format!("frame {n} was read"));
        assert!(matches!(error.blame(), Blame::Data | Blame::NotOurs), "frame {n}: {error:?}");
    }
}

/// Changes of `tiny.b2frame` at one position.
fn refused_at(at: usize, values: &[&[u8]]) {
    refused(values.iter().map(|bytes| tiny(&[(at, *bytes)])));
}

#[test]
fn entry_1_length_and_magic() {
    refused((0..87).map(|len| tiny(&[])[..len].to_vec()));
    refused((0..10).map(|at| tiny(&[(at, &[0xee])])));
}

#[test]
fn entry_2_version_belongs_to_the_layout() {
    refused_at(0x19, &[&[0x10], &[0x11], &[0x14], &[0x1f]]);
    assert!(read(tiny(&[(0x19, &[0x13])])).is_ok());
}

#[test]
fn entry_3_markers() {
    for at in [0x0a, 0x0f, 0x18, 0x1d, 0x26, 0x2f, 0x34, 0x39, 0x3e, 0x41, 0x44, 0x45] {
        refused_at(at, &[&[0x00], &[0xff]]);
    }
}

#[test]
fn entry_4_header_len() {
    refused_at(
        0x0b,
        &[&[0, 0, 0, 96], &[0, 0, 0, 0], &[0xff; 4], &[0x80, 0, 0, 0], &[0, 0, 1, 0x50]],
    );
}

#[test]
fn entry_5_frame_len() {
    refused_at(0x10, &[&[0; 8], &[0xff; 8], &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]);
    refused_at(0x16, &[&[1, 0x72]]);
    let store = Arc::new(MemStore::new(tiny(&[])));
    for offset in [1, 368, 369, u64::MAX - 100, u64::MAX] {
        let options = OpenOptions::default().offset(offset);
        assert!(SChunk::from_store_with(Arc::<MemStore>::clone(&store), &options).is_err());
    }
}

#[test]
fn entry_6_frame_type() {
    refused_at(0x1a, &[&[1], &[2], &[0x10], &[0xff]]);
}

#[test]
fn entry_7_nbytes() {
    refused_at(0x1e, &[&[0xff; 8], &[0x80, 0, 0, 0, 0, 0, 0, 0]]);
    refused_at(0x3a, &[&[0xff; 4]]);
}

#[test]
fn entry_8_sizes() {
    refused_at(0x30, &[&[0; 4], &[0xff; 4]]);
    refused_at(0x35, &[&[0xff; 4]]);
    refused_at(0x3a, &[&[0xff, 0xff, 0xff, 0xfe], &[0x80, 0, 0, 0]]);
}

#[test]
fn entry_9_cbytes() {
    refused_at(0x27, &[&[0xff; 8], &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]);
    refused_at(0x2e, &[&[110], &[112], &[200]]);
}

#[test]
fn entry_10_filter_slots() {
    refused_at(0x46, &[&[7], &[0xff]]);
    for (at, id) in [(0x47, 99), (0x1b, 0x5e), (0x4d, 200)] {
        assert!(read(tiny(&[(at, &[id])])).is_ok(), "{at}");
    }
}

#[test]
fn entry_11_width_of_offsets() {
    refused_at(0x19, &[&[0x02], &[0x22], &[0x32]]);
}

#[test]
fn entry_12_end_of_the_trailer() {
    let end = 0x171;
    refused_at(end - 23, &[&[0xcd]]);
    refused_at(end - 18, &[&[0xd7]]);
    refused_at(end - 22, &[&[0; 4], &[0, 0, 0, 34], &[0, 0, 1, 0], &[0x80, 0, 0, 0], &[0xff; 4]]);
}

#[test]
fn entry_13_start_of_the_trailer() {
    for at in [0x11c, 0x11d, 0x11e] {
        refused_at(at, &[&[0], &[0x0d]]);
    }
}

#[test]
fn entry_14_metalayer_section() {
    for at in [0x57, 0x58, 0x5b, 0x63, 0x68] {
        refused_at(at, &[&[0x01]]);
    }
    refused_at(0x5c, &[&[0, 17], &[0xff, 0xff]]);
    refused_at(0x5e, &[&[0xa0], &[0xc0], &[0xbf]]);
}

#[test]
fn entry_15_metalayer_values() {
    refused_at(0x64, &[&[0xff; 4], &[0, 0, 0, 0x6c], &[0, 0, 0, 0x75], &[0x7f, 0xff, 0xff, 0xff]]);
    refused_at(0x6b, &[&[0xc5]]);
    refused_at(0x6c, &[&[0, 0, 0, 6], &[0x7f, 0xff, 0xff, 0xff], &[0xff; 4]]);
}

#[test]
fn entry_16_what_only_a_strict_reader_would_refuse() {
    // C readers ignore both fields, so files may have any values there.
    assert!(read(tiny(&[(0x59, &[0, 0]), (0x69, &[0, 9])])).is_ok());
}

#[test]
fn entry_17_vlmetalayers() {
    refused_at(0x123, &[&[0x20, 0x01], &[0xff, 0xff]]);
    refused_at(0x12b, &[&[0xff; 4], &[0, 0, 0, 0x3f]]);
    refused_at(0x133, &[&[0x7f, 0xff, 0xff, 0xff]]);
}

#[test]
fn entry_18_content_of_vlmetalayers() {
    refused_at(0x137 + 12, &[&[36, 0, 0, 0], &[34, 0, 0, 0]]);
    refused_at(0x137 + 4, &[&[0xff, 0xff, 0xff, 0x7f], &[4, 0, 0, 0]]);
    // A run has as many bytes as it says, so only a limit helps.
    let run = blosc_chunk::special_chunk(
        blosc_chunk::Special::Zeros,
        1 << 30,
        &CParams::default().typesize(1),
    );
    let frame = with_vlmeta_chunk(&run.unwrap());
    let error = read(frame).unwrap_err();
    assert_eq!(error.blame(), Blame::Limit, "{error}");
}

/// A frame with one vlmetalayer: this chunk of 32 bytes.
fn with_vlmeta_chunk(chunk: &[u8]) -> Vec<u8> {
    let params = FrameParams::default().vlmetalayer("a", *b"").checksums(b2frame::Checksums::None);
    let mut frame = to_cframe(&[1; 8], &params).unwrap();
    let at = frame.len() - 23 - 32;
    frame[at..at + 32].copy_from_slice(chunk);
    frame
}

#[test]
fn entry_19_end_of_the_vlmetalayers() {
    refused_at(0x133, &[&[0, 0, 0, 34], &[0, 0, 0, 36]]);
}

#[test]
fn entry_20_index() {
    let index = 0xe4;
    refused_at(index, &[&[0], &[99]]);
    refused_at(index + 4, &[&[16, 0, 0, 0], &[25, 0, 0, 0], &[32, 0, 0, 0]]);
    refused_at(index + 12, &[&[57, 0, 0, 0], &[31, 0, 0, 0], &[0xff; 4]]);
    let mut variable = sample("variable-chunks.b2frame");
    let schunk = SChunk::from_cframe(variable.clone()).unwrap();
    let header_len = u64::from(schunk.header().header_len());
    let at = usize::try_from(header_len + schunk.cbytes()).unwrap() + 4;
    variable[at] += 4;
    refused([variable]);
}

#[test]
fn entry_21_number_of_chunks() {
    refused_at(0x1e, &[&[0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]);
    refused([tiny(&[(0x1e, &[0, 0, 0, 0, 0x40, 0, 0, 0]), (0x3a, &[0, 0, 0, 1])])]);
}

#[test]
fn entry_22_offsets() {
    refused_at(0x104, &[&[0x50, 0, 0, 0], &[0xff, 0xff, 0xff, 0x7f]]);
    refused_at(0x10b, &[&[0x7f]]);
}

#[test]
fn entry_23_length_of_a_chunk() {
    refused_at(0x75 + 12, &[&[31, 0, 0, 0], &[0xff, 0, 0, 0], &[0xff; 4]]);
}

#[test]
fn entry_24_size_of_a_chunk() {
    refused_at(0x75 + 4, &[&[65, 0, 0, 0], &[60, 0, 0, 0]]);
    // The `nbytes` of the frame gives the size of the last chunk.
    refused_at(0x25, &[&[0x90]]);
}

#[test]
fn entry_25_special_values() {
    for kind in [0x80, 0x83, 0x85, 0x86, 0x87, 0x88, 0xc1, 0xff] {
        refused_at(0x113, &[&[kind]]);
    }
    refused([tiny(&[(0x113, &[0x82]), (0x30, &[0, 0, 0, 2])])]);
    refused([sample("variable-with-two-specials.b2frame")]);
}

#[test]
fn entry_26_sum_of_the_chunks() {
    let mut frame = sample("variable-chunks.b2frame");
    frame[0x25] += 1;
    let schunk = SChunk::from_cframe(frame).unwrap();
    assert!(!schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
    assert!(schunk.read_bytes(0, &mut [0; 4]).is_err());
}

#[test]
fn entry_27_what_is_inside_of_chunks() {
    refused_at(0x75 + 32, &[&[5, 0, 0, 0], &[0xff; 4]]);
}

#[test]
fn entry_28_kinds_of_chunks_do_not_mix() {
    refused_at(0x19, &[&[0x93]]);
    let mut frame = sample("vl-blocks.b2frame");
    frame[0x19] = 0x53;
    refused([frame]);
}

#[cfg(unix)]
#[test]
fn entry_29_links_out_of_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let (path, secret) = (dir.path().join("f.b2frame"), dir.path().join("secret"));
    let sample = blosc_testdata::fixture::path("frames/tiny-sparse.b2frame");
    SChunk::open(&sample).unwrap().save_sparse(&path).unwrap();
    std::fs::rename(path.join("00000000.chunk"), &secret).unwrap();
    std::os::unix::fs::symlink(&secret, path.join("00000000.chunk")).unwrap();
    let schunk = SChunk::open(&path).unwrap();
    let error = schunk.decode_chunk(0).unwrap_err();
    assert!(matches!(&error, Error::ChunkFile { .. }), "{error:?}");
    assert_eq!(error.blame(), Blame::Data);
    // A writer does not write through a link either.
    std::os::unix::fs::symlink(&secret, path.join("00000002.chunk")).unwrap();
    let before = std::fs::read(&secret).unwrap();
    let mut writer = SChunkWriter::open(&path).unwrap();
    writer.insert(0, &[1; 64]).unwrap();
    writer.commit().unwrap();
    assert_eq!(std::fs::read(&secret).unwrap(), before);
}

#[test]
fn entry_30_numbers_from_callers() {
    let schunk = SChunk::from_cframe(tiny(&[])).unwrap();
    for nchunk in [3, u64::MAX] {
        assert_eq!(schunk.chunk(nchunk).unwrap_err().blame(), Blame::Usage);
        assert_eq!(schunk.decode_chunk(nchunk).unwrap_err().blame(), Blame::Usage);
    }
    let mut writer =
        SChunkWriter::open_in(Box::new(MemStore::new(tiny(&[]))), &b2frame::EditOptions::default());
    let writer = writer.as_mut().unwrap();
    for order in [[0, 2, 2], [0, 1, 3], [0, 1, u64::MAX], [2, 0, 1]] {
        assert_eq!(writer.reorder(&order).unwrap_err().blame(), Blame::Usage);
    }
    assert!(writer.reorder(&[0]).is_err() && writer.reorder(&[]).is_err());
    writer.reorder(&[1, 0, 2]).unwrap();
}
