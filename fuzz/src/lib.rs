//! The common parts of the fuzz targets: limits that keep one input fast, and parameters drawn from
//! the input.

pub mod program;

use blosc_chunk::{CParams, CodecId, DParams, Level, Limits, Pipeline, SplitMode};
use blosc_codecs::{DecodeOptions, EncodeOptions};
use blosc_io::tree::{MemTree, Tree, join};

/// Bytes that one input may make a decoder allocate.
pub const MAX_NBYTES: u64 = 1 << 22;

/// Decoding parameters for strangers' chunks, with a small limit.
pub fn dparams() -> DParams {
    DParams::default().limits(Limits::default().max_nbytes(MAX_NBYTES))
}

/// Takes one byte off the front of the input.
pub fn take(input: &mut &[u8]) -> u8 {
    let Some((first, rest)) = input.split_first() else { return 0 };
    *input = rest;
    *first
}

/// Compression parameters from the first bytes of the input; `None` if no chunk can be written with
/// them.
pub fn cparams(input: &mut &[u8]) -> Option<CParams> {
    let codecs = [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC, CodecId::ZLIB, CodecId::ZSTD];
    let codec = codecs[usize::from(take(input)) % codecs.len()];
    let level = Level::try_from(take(input) % 10).ok()?;
    let typesize = usize::from(take(input)).max(1);
    let mut filters = [0; 6];
    let shape = take(input);
    filters[4] = [0, 3, 2, 0][usize::from(shape & 3)];
    filters[5] = [1, 2, 0, 1][usize::from(shape >> 2 & 3)];
    let block_size = match take(input) {
        0 => None,
        n => Some(usize::from(n) * usize::from(take(input)).max(1)),
    };
    let split =
        [SplitMode::Auto, SplitMode::Always, SplitMode::Never][usize::from(take(input)) % 3];
    let params = CParams::default()
        .codec(codec)
        .clevel(level)
        .typesize(typesize)
        .filters(Pipeline::from_slots(filters, [0; 6]))
        .blocksize(block_size)
        .split(split);
    params.check().is_ok().then_some(params)
}

/// The input as files with these names, in the order of the input: each has the number of its name
/// in one byte, its length in two, and its bytes.
pub fn tree(input: &[u8], names: &[&str]) -> MemTree {
    let tree = MemTree::new();
    fill_tree(&tree, input, names, "");
    tree
}

/// Writes the input as files below an existing directory.
pub fn fill_tree(tree: &MemTree, input: &[u8], names: &[&str], root: &str) {
    let mut rest = input;
    while let [name, low, high, after @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
        let (bytes, next) = after.split_at(len);
        let path = join(root, names[usize::from(*name) % names.len()]);
        for (at, _) in path.match_indices('/') {
            // The directory may exist.
            let _ = tree.create_dir(&path[..at]);
        }
        let _ = tree.write(&path, bytes);
        rest = next;
    }
}

/// A store over the input.
pub fn store(data: &[u8]) -> blosc_io::MemStore {
    blosc_io::MemStore::new(data.to_vec())
}

/// Decodes a stream; only a panic or an overlong result is a failure.
pub fn decode_stream(
    codec: CodecId,
    meta: u8,
    blockshape: Option<&[u32]>,
    len: usize,
    stream: &[u8],
) {
    let registry = blosc_codecs::Registry::builtin();
    let codec = registry.get(codec).expect("built in");
    let typesize = typesize(len, blockshape);
    let options = DecodeOptions { meta, typesize, blockshape, ..DecodeOptions::default() };
    if let Ok(mut decoder) = codec.new_decoder(&options) {
        let _ = decoder.decode(stream, &mut vec![0; len]);
    }
}

/// Compresses a stream, if the codec takes it; returns the result.
pub fn encode_stream(
    codec: CodecId,
    meta: u8,
    blockshape: Option<&[u32]>,
    plain: &[u8],
) -> Option<Vec<u8>> {
    let registry = blosc_codecs::Registry::builtin();
    let codec = registry.get(codec).expect("built in");
    let typesize = typesize(plain.len(), blockshape);
    let options = EncodeOptions { meta, typesize, blockshape, ..EncodeOptions::default() };
    let mut room = vec![0; plain.len()];
    let len = codec.new_encoder(&options).ok()?.encode(plain, &mut room).ok()??;
    room.truncate(len);
    Some(room)
}

/// Checks that data compressed by a lossless codec come back.
pub fn round_trip(codec: CodecId, meta: u8, blockshape: Option<&[u32]>, plain: &[u8]) {
    let Some(stream) = encode_stream(codec, meta, blockshape, plain) else { return };
    let registry = blosc_codecs::Registry::builtin();
    let options = DecodeOptions { meta, blockshape, ..DecodeOptions::default() };
    let mut decoder =
        registry.get(codec).expect("built in").new_decoder(&options).expect("as the encoder");
    let mut back = vec![0; plain.len()];
    decoder.decode(&stream, &mut back).expect("our own stream");
    assert_eq!(back, plain);
}

/// Bytes per item, if the block has this shape.
fn typesize(len: usize, blockshape: Option<&[u32]>) -> usize {
    let nitems = blockshape.map_or(len, |shape| shape.iter().product::<u32>() as usize);
    len.checked_div(nitems).unwrap_or(1).max(1)
}

/// Decodes a stream by the usual decoder and by its safe twin, which must agree.
pub fn twins(
    codec: CodecId,
    twin: fn(&[u8], &mut [u8]) -> Result<(), blosc_codecs::Error>,
    len: usize,
    stream: &[u8],
) {
    let registry = blosc_codecs::Registry::builtin();
    let codec = registry.get(codec).expect("built in");
    let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("no options");
    let mut expected = vec![0; len];
    let verdict = twin(stream, &mut expected);
    for is_cached in [true, false] {
        let mut found = vec![0; len];
        let result = if is_cached {
            decoder.decode(stream, &mut found)
        } else {
            decoder.decode_uncached(stream, &mut found)
        };
        assert_eq!(result.is_ok(), verdict.is_ok(), "{result:?}, {verdict:?}");
        assert!(result.is_err() || found == expected);
    }
}
