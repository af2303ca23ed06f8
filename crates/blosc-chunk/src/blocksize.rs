//! The block sizes and splits of C-Blosc and C-Blosc2 ("Split decision" and "Automatic block size"
//! in the format document).
//!
//! The choice affects only the ratio and the speed of compression; a reader takes both from the
//! header. The choice is the same on every machine: the "cache sizes" in the heuristics of C are
//! constants.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "sizes of the caller, which `CParams::check` bounds"
)]

use blosc_codecs::CodecId;
use blosc_filters::FilterId;

use crate::header::{MAX_BLOCKSIZE_1, MAX_BLOCKSIZE_2, MIN_BUFFER_1, MIN_BUFFER_2};
use crate::params::{CParams, SplitMode, Target};

/// Block size (bytes) for a chunk of `nbytes`, as stored in its header.
pub(crate) fn blocksize(params: &CParams, nbytes: usize) -> usize {
    if params.target.is_blosc1() {
        blocksize_1(params, nbytes)
    } else {
        blocksize_2(params, nbytes)
    }
}

/// Whether full blocks of `blocksize` bytes are split. Blocks that do not consist of whole items
/// are never split.
pub(crate) fn is_split(params: &CParams, blocksize: usize) -> bool {
    let typesize = usize::from(params.stored_typesize());
    if !blocksize.is_multiple_of(typesize) {
        false
    } else if params.target.is_blosc1() {
        is_split_1(params, typesize, blocksize)
    } else {
        is_split_2(params, typesize, blocksize)
    }
}

/// C-Blosc2 tests the split with all data as one block, and counts items of the caller's size, even
/// if the header cannot hold that size.
fn blocksize_2(params: &CParams, nbytes: usize) -> usize {
    let typesize = params.typesize;
    if nbytes < typesize {
        return 1;
    }
    let wanted = match params.blocksize {
        Some(user) => user.min(MAX_BLOCKSIZE_2 as usize),
        None if params.clevel.get() > 0 && is_split_2(params, typesize, nbytes) => {
            split_size(params.clevel.get()).saturating_mul(typesize).clamp(32 * KIB, 4 * MIB)
        }
        None if nbytes < 32 * KIB => nbytes,
        None => automatic_size(params),
    };
    whole_items(wanted.min(nbytes), typesize)
}

/// C-Blosc works with the typesize of the header, and enlarges split blocks even if the caller
/// chose the size.
fn blocksize_1(params: &CParams, nbytes: usize) -> usize {
    let typesize = usize::from(params.stored_typesize());
    if nbytes < typesize {
        return 1;
    }
    let mut wanted = match params.blocksize {
        Some(user) => user.clamp(MIN_BUFFER_1, MAX_BLOCKSIZE_1 as usize),
        None if nbytes < 32 * KIB => nbytes,
        None => automatic_size(params),
    };
    // C-Blosc tests the bounds only if the mode leaves it a choice.
    let is_enlarged = params.split == SplitMode::Always || is_split_1(params, typesize, wanted);
    if params.clevel.get() > 0 && is_enlarged {
        wanted = (wanted.min(256 * KIB) * typesize).clamp(64 * KIB, MIB);
    }
    whole_items(wanted.min(nbytes), typesize)
}

fn is_split_2(params: &CParams, typesize: usize, blocksize: usize) -> bool {
    match params.split {
        SplitMode::Never => false,
        _ if params.codec == CodecId::OPENZL => false,
        SplitMode::Always => true,
        SplitMode::Auto | SplitMode::ForwardCompat => {
            splits_well(params)
                && params.filters.contains(FilterId::SHUFFLE)
                && typesize <= MAX_STREAMS
                && blocksize / typesize >= MIN_BUFFER_2
        }
    }
}

fn splits_well(params: &CParams) -> bool {
    match params.codec {
        CodecId::BLOSCLZ | CodecId::LZ4 => true,
        CodecId::ZSTD => params.clevel.get() <= 5,
        _ => false,
    }
}

fn is_split_1(params: &CParams, typesize: usize, blocksize: usize) -> bool {
    let by_codec = match params.split {
        _ if params.target == Target::Blosc1_3 => true,
        SplitMode::Never => false,
        SplitMode::Always => true,
        SplitMode::Auto => matches!(params.codec, CodecId::BLOSCLZ | CodecId::SNAPPY),
        SplitMode::ForwardCompat => params.codec != CodecId::ZSTD,
    };
    by_codec && splits_in_blosc1(typesize, blocksize)
}

/// The bounds that every reader of Blosc 1 applies, regardless of the flags.
pub(crate) fn splits_in_blosc1(typesize: usize, blocksize: usize) -> bool {
    typesize <= MAX_STREAMS && blocksize / typesize >= MIN_BUFFER_1
}

/// Size of blocks for codecs that run on whole blocks (bytes): larger for slower codecs and higher
/// levels.
fn automatic_size(params: &CParams) -> usize {
    let shift = [0, 1, 2, 3, 4, 4, 5, 5, 5, 5][usize::from(params.clevel.get())];
    match params.codec {
        CodecId::LZ4HC | CodecId::ZLIB | CodecId::ZSTD if params.clevel.get() == 9 => MIB,
        CodecId::LZ4HC | CodecId::ZLIB | CodecId::ZSTD => (16 * KIB) << shift,
        _ => (8 * KIB) << shift,
    }
}

/// Bytes of one stream of a split block.
fn split_size(level: u8) -> usize {
    match level {
        ..=3 => 32 * KIB,
        4..=6 => 64 * KIB,
        7 => 128 * KIB,
        8 => 256 * KIB,
        _ => 512 * KIB,
    }
}

fn whole_items(blocksize: usize, typesize: usize) -> usize {
    if blocksize > typesize { blocksize - blocksize % typesize } else { blocksize }
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// Largest typesize whose blocks are split.
const MAX_STREAMS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_codecs::Level;
    use blosc_filters::Pipeline;

    /// The measured tables beside the fixtures, one row per line.
    fn rows() -> Vec<Vec<String>> {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/samples/chunks/blocksizes.txt");
        let text = std::fs::read_to_string(path).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        rows.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }

    fn bytes(text: &str) -> usize {
        let number = |digits: &str, unit: usize| digits.parse::<usize>().unwrap() * unit;
        match text.split_at(text.len() - 1) {
            (digits, "K") => number(digits, KIB),
            (digits, "M") => number(digits, MIB),
            _ => number(text, 1),
        }
    }

    fn params(section: &str, codec: &str, level: u8, typesize: usize) -> CParams {
        let params = CParams::default()
            .codec(CodecId::from_name(codec).unwrap())
            .clevel(Level::try_from(level).unwrap())
            .typesize(typesize);
        match section {
            "A.1" => params,
            "A.2" => params.filters(Pipeline::parse("bitshuffle").unwrap()),
            _ => params.target(Target::Blosc1_14),
        }
    }

    const SIZES: [usize; 14] = [
        KIB,
        4 * KIB,
        16 * KIB,
        32 * KIB,
        64 * KIB,
        128 * KIB,
        256 * KIB,
        512 * KIB,
        MIB,
        2 * MIB,
        4 * MIB,
        16 * MIB,
        64 * MIB,
        256 * MIB,
    ];

    #[test]
    fn blocksizes_equal_the_measured_table() {
        let mut count = 0;
        for row in rows().iter().filter(|row| row[0] != "A.4") {
            let level = row[2].parse().unwrap();
            for (codec, typesize) in
                row[1].split(',').flat_map(|c| row[3].split(',').map(move |t| (c, t)))
            {
                let params = params(&row[0], codec, level, typesize.parse().unwrap());
                for (nbytes, expected) in SIZES.iter().zip(&row[4..]) {
                    assert_eq!(blocksize(&params, *nbytes), bytes(expected), "{row:?} {nbytes}");
                    count += 1;
                }
            }
        }
        assert_eq!(count, 3 * 5 * 9 * 5 * 14);
    }

    #[test]
    fn blocksizes_of_odd_typesizes_equal_the_measured_table() {
        let mut count = 0;
        for row in rows().iter().filter(|row| row[0] == "A.4") {
            let columns = ["A.1", "A.3"]
                .into_iter()
                .flat_map(|s| ["blosclz", "lz4hc", "zstd"].map(|c| (s, c)));
            for ((section, codec), expected) in columns.zip(&row[3..]) {
                let params = params(section, codec, 5, bytes(&row[2]));
                assert_eq!(
                    blocksize(&params, bytes(&row[1])),
                    bytes(expected),
                    "{row:?} {section} {codec}"
                );
                count += 1;
            }
        }
        assert_eq!(count, 15 * 6);
    }

    #[test]
    fn short_data_are_one_block_even_beyond_the_limit() {
        let params = params("A.2", "blosclz", 1, 4);
        assert_eq!(blocksize(&params, 20480), 20480);
        assert_eq!(blocksize(&params, 33000), 16384);
        assert_eq!(blocksize(&params, 3), 1);
    }

    #[test]
    fn blocks_of_the_caller_are_rounded_to_items_and_enlarged_by_blosc1_only() {
        let params = params("A.1", "lz4", 5, 3).blocksize(Some(64));
        assert_eq!(blocksize(&params, 1000), 63);
        assert_eq!(blocksize(&params.clone().blocksize(Some(1000)), 64), 63);
        assert_eq!(
            blocksize(&params.target(Target::Blosc1_14).blocksize(Some(4096)), MIB),
            64 * KIB - 1
        );
    }

    /// C-Blosc 1.21.3 chose these sizes.
    #[test]
    fn blocks_that_blosc1_always_splits_are_enlarged_whatever_the_bounds() {
        let cases = [
            ("zstd", 5, 4, MIB, None, MIB, true),
            ("zstd", 5, 16, MIB, None, MIB, true),
            ("lz4", 5, 16, 40_000, Some(1), 40_000, true),
            ("lz4", 1, 8, 40_000, Some(100), 40_000, true),
            ("lz4", 5, 1, MIB, None, 128 * KIB, true),
            // No reader supports these splits.
            ("zlib", 5, 17, MIB, None, MIB - 16, false),
            ("lz4", 5, 255, MIB, None, MIB - 16, false),
        ];
        for (codec, level, typesize, nbytes, user, expected, split) in cases {
            let params = params("A.3", codec, level, typesize).split(SplitMode::Always);
            let found = blocksize(&params.clone().blocksize(user), nbytes);
            assert_eq!((found, is_split(&params, found)), (expected, split), "{codec} {typesize}");
        }
    }

    #[test]
    fn splits_are_those_of_c_blosc_and_c_blosc2() {
        let split = |section, codec, level, typesize, blocksize| {
            is_split(&params(section, codec, level, typesize), blocksize)
        };
        assert!(split("A.1", "lz4", 5, 4, 128) && !split("A.1", "lz4", 5, 4, 124));
        assert!(split("A.1", "zstd", 5, 16, 4096) && !split("A.1", "zstd", 6, 16, 4096));
        assert!(!split("A.1", "lz4", 5, 17, 4096) && !split("A.1", "zlib", 5, 4, 4096));
        assert!(!split("A.2", "lz4", 5, 4, 4096));
        assert!(split("A.3", "zlib", 5, 4, 512) && !split("A.3", "zlib", 5, 4, 508));
        assert!(!split("A.3", "zstd", 5, 4, 512));
    }
}
