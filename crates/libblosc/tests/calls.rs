//! Single calls: results, and invalid arguments.

use crate::library::Blosc;

/// All functions of C-Blosc 1.21.
const NAMES: [&str; 25] = [
    "blosc_cbuffer_complib",
    "blosc_cbuffer_metainfo",
    "blosc_cbuffer_sizes",
    "blosc_cbuffer_validate",
    "blosc_cbuffer_versions",
    "blosc_compcode_to_compname",
    "blosc_compname_to_compcode",
    "blosc_compress",
    "blosc_compress_ctx",
    "blosc_decompress",
    "blosc_decompress_ctx",
    "blosc_destroy",
    "blosc_free_resources",
    "blosc_get_blocksize",
    "blosc_get_complib_info",
    "blosc_get_compressor",
    "blosc_get_nthreads",
    "blosc_get_version_string",
    "blosc_getitem",
    "blosc_init",
    "blosc_list_compressors",
    "blosc_set_blocksize",
    "blosc_set_compressor",
    "blosc_set_nthreads",
    "blosc_set_splitmode",
];

fn numbers(nitems: u32) -> Vec<u8> {
    (0..nitems).flat_map(|n| (n / 3).to_le_bytes()).collect()
}

#[test]
fn every_name_is_there() {
    let blosc = Blosc::load();
    let missing: Vec<&str> = NAMES.into_iter().filter(|name| !blosc.has(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn texts_are_those_that_programs_ask_for() {
    let blosc = Blosc::load();
    assert_eq!(blosc.text("blosc_get_version_string"), "1.21.6");
    assert_eq!(blosc.text("blosc_list_compressors"), "blosclz,lz4,lz4hc,snappy,zlib,zstd");
    assert_eq!(blosc.text("blosc_get_compressor"), "blosclz");
}

#[test]
fn every_codec_makes_chunks_that_are_read_again() {
    let blosc = Blosc::load();
    let data = numbers(300_000);
    for name in [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd"] {
        for nthreads in [1, 2] {
            let (code, chunk) = blosc.compress_ctx(&data, Some(name), nthreads);
            assert!(code > 16 && chunk.len() < data.len() / 2, "{name:?}: {code}");
            let (code, back) = blosc.decompress_ctx(&chunk, data.len(), nthreads);
            assert_eq!(usize::try_from(code), Ok(data.len()));
            assert!(back == data);
            let mut items = [0; 5];
            assert_eq!(blosc.getitem(&chunk, 150_000, &mut items), 20);
            assert_eq!(items, [50_000, 50_000, 50_000, 50_001, 50_001]);
        }
    }
}

#[test]
fn what_is_no_argument_is_a_code() {
    let blosc = Blosc::load();
    assert_eq!(blosc.null_calls(), [-1; 4]);
    let data = numbers(1000);
    assert_eq!(blosc.compress_ctx(&data, None, 1).0, -5);
    assert_eq!(blosc.compress_ctx(&data, Some(c"no"), 1).0, -5);
    let (_, chunk) = blosc.compress_ctx(&data, Some(c"lz4"), 1);
    assert_eq!(blosc.decompress_ctx(&chunk, data.len() - 1, 1).0, -1);
    assert_eq!(blosc.getitem(&chunk, -1, &mut [0]), -1);
    assert_eq!(blosc.getitem(&chunk, 1000, &mut [0]), -1);
    let damaged = |at: usize, byte: u8| {
        let mut bytes = chunk.clone();
        bytes[at] = byte;
        blosc.decompress_ctx(&bytes, data.len(), 1).0
    };
    // The version of the chunk, of its codec's format, the codec, the first block.
    assert_eq!([damaged(0, 3), damaged(1, 2), damaged(2, 0xa1), damaged(16, 0)], [-1, -9, -5, -1]);
}

#[test]
fn the_library_may_be_closed_and_loaded_again() {
    let data = numbers(100_000);
    for n in 0..100 {
        let blosc = Blosc::load();
        blosc.set_nthreads(2);
        let chunk = blosc.compress(1, 4, &data);
        assert!(blosc.decompress(&chunk, data.len()) == data);
        if n % 2 == 0 {
            blosc.destroy();
        }
    }
}
