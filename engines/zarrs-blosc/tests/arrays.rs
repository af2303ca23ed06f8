//! Arrays of zarr-python, and parts of chunks.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use zarrs::array::{Array, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs_blosc::{BloscCodec, Config};
use zarrs_codec::{
    ArrayBytesRaw, BytesPartialDecoderTraits, BytesRepresentation, BytesToBytesCodecTraits,
    CodecError, CodecOptions,
};
use zarrs_storage::StorageError;
use zarrs_storage::byte_range::{ByteRange, ByteRangeIterator, extract_byte_ranges};

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// The items of all samples: 48 x 40.
fn expected() -> Vec<i32> {
    let bytes = std::fs::read(samples().join("data.npy")).unwrap();
    let items = bytes[bytes.len() - 48 * 40 * 4..].chunks_exact(4);
    items.map(|item| i32::from_le_bytes(item.try_into().unwrap())).collect()
}

#[test]
fn arrays_of_zarr_python_read_equal_as_a_whole_and_in_parts() {
    zarrs_blosc::register();
    let (expected, mut count) = (expected(), [0, 0]);
    let store = Arc::new(FilesystemStore::new(samples()).unwrap());
    for entry in std::fs::read_dir(samples()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(version) = name.strip_prefix('v').and_then(|rest| rest.get(..1)) else { continue };
        let array = Array::open(Arc::clone(&store), &format!("/{name}")).unwrap();
        let found: Vec<i32> = array.retrieve_array_subset(&array.subset_all()).unwrap();
        assert_eq!(found, expected, "{name}");
        for (rows, columns) in [(0..1, 0..40), (29..31, 24..26), (47..48, 39..40), (5..40, 3..4)] {
            let subset = ArraySubset::new_with_ranges(&[rows.clone(), columns.clone()]);
            let part: Vec<i32> = array.retrieve_array_subset(&subset).unwrap();
            let expected: Vec<i32> = rows
                .flat_map(|row| {
                    columns.clone().map(move |column| usize::try_from(row * 40 + column).unwrap())
                })
                .map(|at| expected[at])
                .collect();
            assert_eq!(part, expected, "{name} {subset:?}");
        }
        count[usize::from(version == "3")] += 1;
    }
    assert_eq!(count, [10, 15]);
}

/// A chunk in memory that records the ranges read from it.
struct Bytes {
    chunk: Option<Vec<u8>>,
    read: Mutex<u64>,
    /// Whether a range past the end is an error, as in some stores.
    is_strict: bool,
}

impl BytesPartialDecoderTraits for Bytes {
    fn exists(&self) -> Result<bool, StorageError> {
        Ok(self.chunk.is_some())
    }

    fn size_held(&self) -> usize {
        0
    }

    fn supports_partial_decode(&self) -> bool {
        true
    }

    fn partial_decode_many(
        &self,
        regions: ByteRangeIterator<'_>,
        _options: &CodecOptions,
    ) -> Result<Option<Vec<ArrayBytesRaw<'_>>>, CodecError> {
        let Some(chunk) = &self.chunk else { return Ok(None) };
        let len = chunk.len() as u64;
        let clamp = |region: ByteRange| match region {
            ByteRange::FromStart(start, Some(n)) if !self.is_strict => {
                ByteRange::FromStart(start, Some(n.min(len.saturating_sub(start))))
            }
            other => other,
        };
        let regions: Vec<ByteRange> = regions.map(clamp).collect();
        let parts = extract_byte_ranges(chunk, &mut regions.into_iter())?;
        *self.read.lock().unwrap() += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        Ok(Some(parts.into_iter().map(Cow::Owned).collect()))
    }
}

fn codec(cname: &str, shuffle: &str) -> Arc<BloscCodec> {
    let config = serde_json::json!({
        "cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 8, "blocksize": 0,
    });
    Arc::new(BloscCodec::new(Config::from_v3(config.as_object().unwrap().clone()).unwrap()))
}

fn input(chunk: Option<Vec<u8>>, is_strict: bool) -> Arc<Bytes> {
    Arc::new(Bytes { chunk, read: Mutex::new(0), is_strict })
}

const FEW: [&str; 5] = ["blosclz", "lz4", "zlib", "zstd", "snappy"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_are_those_of_the_whole(
        nitems in 1_usize..60_000,
        which in 0_usize..FEW.len(),
        shuffle in 0_usize..3,
        cuts in proptest::collection::vec((0_usize..1000, 0_usize..200), 1..5),
        is_strict: bool,
    ) {
        let data: Vec<u8> = (0..nitems as u64).flat_map(|n| (n * n / 7).to_le_bytes()).collect();
        let codec = codec(FEW[which], ["noshuffle", "shuffle", "bitshuffle"][shuffle]);
        let (size, options) = (BytesRepresentation::FixedSize(data.len() as u64), CodecOptions::default());
        let chunk = codec.encode(Cow::Borrowed(&data), &options).unwrap().into_owned();
        let whole = codec.decode(Cow::Borrowed(&chunk), &size, &options).unwrap();
        prop_assert!(whole == data);
        let input = input(Some(chunk), is_strict);
        let part = Arc::clone(&codec).partial_decoder(input, &size, &options).unwrap();
        let place = |thousandths: usize| data.len() * thousandths.min(1000) / 1000;
        let ranges: Vec<(usize, usize)> =
            cuts.iter().map(|(start, n)| (place(*start), place(start + n))).collect();
        let regions = ranges.iter().map(|(a, b)| ByteRange::FromStart(*a as u64, Some((b - a) as u64)));
        let found = part.partial_decode_many(Box::new(regions), &options).unwrap().unwrap();
        for ((a, b), found) in ranges.iter().zip(&found) {
            prop_assert!(found[..] == data[*a..*b]);
        }
        let tail = part.partial_decode(ByteRange::Suffix(8), &options).unwrap().unwrap();
        prop_assert!(tail[..] == data[data.len() - 8..]);
    }
}

#[test]
fn a_part_fetches_the_blocks_that_hold_it() {
    let data: Vec<u8> = (0..1_000_000_u64).flat_map(|n| (n * n).to_le_bytes()).collect();
    let (codec, options) = (codec("lz4", "shuffle"), CodecOptions::default());
    let size = BytesRepresentation::FixedSize(data.len() as u64);
    let chunk = codec.encode(Cow::Borrowed(&data), &options).unwrap().into_owned();
    let (len, input) = (chunk.len() as u64, input(Some(chunk), false));
    let part = codec.partial_decoder(Arc::clone(&input) as _, &size, &options).unwrap();
    let found = part.partial_decode(ByteRange::FromStart(4_000_000, Some(80)), &options).unwrap();
    assert_eq!(found.unwrap()[..], data[4_000_000..4_000_080]);
    let read = *input.read.lock().unwrap();
    assert!(read < len / 5, "{read} of {len} bytes");
    // The header is known now.
    part.partial_decode(ByteRange::FromStart(4_000_000, Some(80)), &options).unwrap();
    assert!(*input.read.lock().unwrap() < 2 * read);
}

#[test]
fn chunks_of_another_size_and_damaged_ones_are_errors() {
    let data = vec![7_u8; 8000];
    let (codec, options) = (codec("zstd", "shuffle"), CodecOptions::default());
    let chunk = codec.encode(Cow::Borrowed(&data), &options).unwrap().into_owned();
    let size = |n| BytesRepresentation::FixedSize(n);
    for wrong in [size(7999), size(8001), BytesRepresentation::BoundedSize(7999)] {
        codec.decode(Cow::Borrowed(&chunk), &wrong, &options).unwrap_err();
        let part =
            Arc::clone(&codec).partial_decoder(input(Some(chunk.clone()), true), &wrong, &options);
        let region = ByteRange::FromStart(0, Some(8));
        part.unwrap().partial_decode(region, &options).unwrap_err();
    }
    for len in 0..chunk.len() {
        let cut = chunk[..len].to_vec();
        codec.decode(Cow::Borrowed(&cut), &size(8000), &options).unwrap_err();
        let part =
            Arc::clone(&codec).partial_decoder(input(Some(cut), false), &size(8000), &options);
        let all = ByteRange::FromStart(0, None);
        part.unwrap().partial_decode(all, &options).unwrap_err();
    }
    // A chunk that claims 2 GiB is refused before memory is allocated.
    let mut bomb = chunk.clone();
    bomb[4..8].copy_from_slice(&0x7fff_ffef_u32.to_le_bytes());
    codec.decode(Cow::Borrowed(&bomb), &size(8000), &options).unwrap_err();
}

#[test]
fn missing_chunks_stay_missing() {
    let (codec, options) = (codec("lz4", "shuffle"), CodecOptions::default());
    let size = BytesRepresentation::FixedSize(80);
    let part = codec.partial_decoder(input(None, true), &size, &options).unwrap();
    assert!(!part.exists().unwrap());
    assert!(part.partial_decode(ByteRange::FromStart(0, Some(8)), &options).unwrap().is_none());
}
