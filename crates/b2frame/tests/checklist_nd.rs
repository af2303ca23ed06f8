//! The list of checks for arrays from strangers, entry by entry: edits of the metalayer of
//! `tiny-nd.b2nd`, an array of shape (5, 3) in chunks of (4, 2) and blocks of (2, 2). The tests of
//! `src/nd/meta.rs` have the shapes that contradict themselves, `legacy.rs` older layouts of
//! frames.

use b2frame::{
    Error, FrameParams, NdArray, SChunk, error,
    error::{Blame, NdCorrupt, NdParam, Param},
    nd::{NdMeta, Pick},
    to_cframe,
};
use blosc_chunk::CParams;

/// Position and length of the metalayer (bytes).
const META: usize = 112;
const LEN: usize = 0x35;
/// Positions of fields in the metalayer.
const SHAPE: usize = 5;
const CHUNKS: usize = 24;
const BLOCKS: usize = 35;
const DTYPE: usize = 45;

fn sample() -> Vec<u8> {
    blosc_testdata::fixture::read("frames/tiny-nd.b2nd").unwrap()
}

/// The sample with bytes of its metalayer replaced.
fn edited(edits: &[(usize, &[u8])]) -> Vec<u8> {
    let mut frame = sample();
    for (at, bytes) in edits {
        frame[META + at..META + at + bytes.len()].copy_from_slice(bytes);
    }
    frame
}

fn open(frame: Vec<u8>) -> Result<NdArray, Error> {
    NdArray::from_cframe(frame)
}

/// Asserts that all of these edits are refused as damage.
fn refused<'a>(edits: impl IntoIterator<Item = (usize, &'a [u8])>) {
    for (at, bytes) in edits {
        let error = open(edited(&[(at, bytes)])).map(drop).unwrap_err();
        assert_eq!(error.blame(), Blame::Data, "{at}: {error}");
        assert!(error.position().is_some_and(|at| at >= META as u64), "{error:?}");
    }
}

/// A frame with this metalayer and six chunks of 16 bytes.
fn with_meta(name: &str, meta: &[u8]) -> Vec<u8> {
    let params = FrameParams::new(CParams::default().typesize(2)).chunksize(16);
    to_cframe(&[7; 96], &params.metalayer(name, meta)).unwrap()
}

fn meta() -> Vec<u8> {
    sample()[META..META + LEN].to_vec()
}

fn be(n: i64) -> [u8; 8] {
    n.to_be_bytes()
}

#[test]
fn entry_1_marker_and_version() {
    refused([(0, &b"\x96"[..]), (0, b"\x98"), (0, b"\0")]);
    let newer = open(edited(&[(1, &[1])])).unwrap_err();
    assert!(matches!(newer, Error::UnknownNdVersion { version: 1 }));
    assert_eq!(newer.blame(), Blame::NotOurs);
}

#[test]
fn entry_2_number_of_dimensions() {
    refused([(2, &b"\x11"[..]), (2, b"\x80"), (2, b"\xff")]);
}

#[test]
fn entry_3_markers() {
    let lens = [3, 22, 33];
    refused(lens.into_iter().flat_map(|at| [(at, &b"\x91"[..]), (at, b"\x93"), (at, b"\xa0")]));
    refused([4, 13, 23, 28, 34, 39].map(|at| (at, &b"\xcf"[..])));
}

#[test]
fn entry_4_exact_length() {
    for len in 0..LEN {
        let error = open(with_meta("b2nd", &meta()[..len])).map(drop).unwrap_err();
        assert_eq!(error.blame(), Blame::Data, "{len}");
    }
    let longer = [meta(), vec![0]].concat();
    assert!(open(with_meta("b2nd", &longer)).is_err());
}

#[test]
fn entry_5_shape() {
    refused([
        (SHAPE, &be(-1)[..]),
        (SHAPE, &be(i64::MIN)),
        (SHAPE, &be(i64::MAX)),
        (SHAPE, &be(1 << 62)),
    ]);
    // Each factor fits, but not their product.
    assert!(open(edited(&[(SHAPE, &be(1 << 32)), (SHAPE + 9, &be(1 << 32))])).is_err());
}

#[test]
fn entry_6_lengths_of_chunks_and_blocks() {
    for at in [CHUNKS, CHUNKS + 5, BLOCKS, BLOCKS + 5] {
        refused([(at, &b"\0\0\0\0"[..]), (at, b"\xff\xff\xff\xff"), (at, b"\x80\0\0\0")]);
    }
    let empty = NdMeta::new(&[0, 3], &[0, 2], &[0, 2], "<i2").unwrap();
    assert_eq!(NdMeta::parse(&empty.encode()).unwrap(), empty);
}

#[test]
fn entry_7_products_of_a_chunk() {
    let wide: &[u8] = b"\x7f\xff\xff\xff";
    refused([(CHUNKS, wide), (CHUNKS + 5, wide), (BLOCKS, wide), (BLOCKS + 5, wide)]);
    assert!(open(edited(&[(CHUNKS, b"\0\x01\0\0"), (CHUNKS + 5, b"\0\x01\0\0")])).is_err());
}

#[test]
fn entry_8_bytes_of_a_chunk() {
    let error = open(edited(&[(BLOCKS, b"\0\0\0\x03")])).unwrap_err();
    let what = NdCorrupt::ChunkBytes { nbytes: 24, chunksize: 16 };
    assert!(
        matches!(error, Error::Corrupt { what: error::Corrupt::Nd(found), .. } if found == what)
    );
}

#[test]
fn entry_9_number_of_chunks() {
    refused([(SHAPE, &be(9)[..]), (SHAPE, &be(4)), (SHAPE + 9, &be(2)), (SHAPE + 9, &be(5))]);
    // One item less changes no count: this is another valid array, read inside of its bounds.
    assert_eq!(open(edited(&[(SHAPE + 9, &be(4))])).unwrap().shape(), [5, 4]);
    // Chunks of arrays are padded, also the last.
    let params =
        FrameParams::new(CParams::default().typesize(2)).chunksize(16).metalayer("b2nd", meta());
    let error = open(to_cframe(&[7; 60], &params).unwrap()).unwrap_err();
    let what = NdCorrupt::Nbytes { expected: 64, found: 60 };
    assert!(
        matches!(error, Error::Corrupt { what: error::Corrupt::Nd(found), .. } if found == what)
    );
}

#[test]
fn entry_10_dtype() {
    refused([(DTYPE, &b"\xda"[..]), (DTYPE + 1, b"\xff\xff\xff\xff"), (DTYPE + 1, b"\0\0\0\x04")]);
    refused([(DTYPE + 1, &b"\0\0\0\x02"[..])]);
    // Invalid text makes the items raw bytes.
    let array = open(edited(&[(DTYPE + 5, b"\xff\xfe\xfd")])).unwrap();
    assert_eq!(array.dtype().to_string(), "|V2");
    assert_eq!(array.to_bytes((0, 0)).unwrap(), [1, 0]);
}

#[test]
fn entry_11_dtype_and_items() {
    for text in [b"|O8", b"<i4", b"[[[", b"xyz"] {
        let array = open(edited(&[(DTYPE + 5, text)])).unwrap();
        assert_eq!(array.dtype().to_string(), "|V2");
        let typed = array.read::<i16>().unwrap_err();
        assert!(matches!(typed, Error::Param(Param::Nd(NdParam::Dtype { .. }))));
        assert_eq!(array.to_bytes((4, 2)).unwrap(), [15, 0]);
    }
}

#[test]
fn entry_12_parts() {
    let array = open(sample()).unwrap();
    assert!(matches!(array.to_bytes((5, 0)), Err(Error::Param(Param::Nd(NdParam::Index { .. })))));
    assert!(array.to_bytes((0, 0, 0)).is_err());
    assert!(array.read_oindex::<i16>(&[&[5], &[0]]).is_err());
    assert!(array.gather::<i16>(&[15]).is_err());
    assert!(array.get::<i16>(&[u64::MAX, 0]).is_err());
    assert!(array.read_bytes(.., &mut [0; 29]).is_err());
    // As in NumPy, slices are cut at the ends of the array.
    assert_eq!(array.read_slice::<i16>((4..u64::MAX, Pick::ALL)).unwrap(), [13, 14, 15]);
    // The length of a part is compared with a limit before its memory is allocated.
    let mut options = b2frame::OpenOptions::default();
    options.dparams.limits.max_nbytes = 20;
    let store = std::sync::Arc::new(blosc_io::MemStore::new(sample()));
    let array = NdArray::from_schunk(SChunk::from_store_with(store, &options).unwrap()).unwrap();
    assert!(matches!(array.to_bytes(..), Err(Error::Limit { nbytes: 30, limit: 20, .. })));
    assert_eq!(array.read_slice::<i16>((0,)).unwrap(), [1, 2, 3]);
    // A vector of the caller does not grow either.
    let mut dest = vec![7; 9];
    let error = array.read_to_vec(.., &mut dest, 0).unwrap_err();
    assert!(matches!(error, Error::Limit { nbytes: 30, limit: 20, .. }));
    assert_eq!(dest, [7; 9]);
    array.read_to_vec((0,), &mut dest, 2).unwrap();
    assert_eq!(dest, [7, 7, 1, 0, 2, 0, 3, 0]);
    array.read_to_vec((1, 0), &mut dest, 0).unwrap();
    assert_eq!(dest, [4, 0]);
}

#[test]
fn entry_13_bytes_of_a_decoded_chunk() {
    let params = FrameParams::new(CParams::default().typesize(2)).chunksize(16);
    let frame = to_cframe(&[7; 64], &params.metalayer("b2nd", meta())).unwrap();
    let at = usize::try_from(
        SChunk::from_cframe(frame.clone()).unwrap().chunk_info(2).unwrap().offset.unwrap(),
    );
    let mut short = frame.clone();
    // The header of the chunk says one item less.
    short[at.unwrap() + 4] = 14;
    assert!(open(frame).unwrap().to_bytes(..).is_ok());
    let error = open(short).unwrap().to_bytes(..).unwrap_err();
    assert_eq!(error.blame(), Blame::Data, "{error}");
}

#[test]
fn entry_14_both_names() {
    let params = FrameParams::new(CParams::default().typesize(2)).chunksize(16);
    let other = NdMeta::new(&[16, 2], &[4, 2], &[2, 2], "<u2").unwrap().encode();
    let mut older = NdMeta::new(&[8, 4], &[4, 2], &[4, 2], "").unwrap().encode();
    older[0] = 0x95;
    older.truncate(older.len() - 6);
    let both = params.clone().metalayer("caterva", older.clone()).metalayer("b2nd", other);
    let array = open(to_cframe(&[7; 64], &both).unwrap()).unwrap();
    assert_eq!((array.shape(), array.dtype().to_string().as_str()), (&[16, 2][..], "<u2"));
    let alone = open(to_cframe(&[7; 64], &params.metalayer("caterva", older)).unwrap()).unwrap();
    assert_eq!(alone.shape(), [8, 4]);
}
