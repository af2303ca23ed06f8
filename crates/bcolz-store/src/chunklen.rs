//! The default chunk length of bcolz ("Default chunk length").

/// Rows of a chunk for an array that is expected to have `expectedlen` rows of `rowsize` bytes.
pub(crate) fn default(expectedlen: u64, rowsize: u64) -> u64 {
    let nbytes = expectedlen.saturating_mul(rowsize);
    let size =
        STEPS.iter().find(|(end, _)| nbytes < *end).map_or(MAX_DEFAULT_NBYTES, |(_, size)| *size);
    size.checked_div(rowsize).unwrap_or(size).max(1)
}

/// Expected sizes (bytes) and the chunk sizes (bytes) below them. bcolz computes them by a formula
/// with logarithms and truncation, which joins two decades into one.
const STEPS: [(u64, u64); 8] = [
    (105, 16 << 10),
    (1_049, 32 << 10),
    (10_486, 64 << 10),
    (104_858, 128 << 10),
    (10_485_760, 256 << 10),
    (104_857_600, 512 << 10),
    (1_048_576_000, 1 << 20),
    (10_485_760_000, 2 << 20),
];

const MAX_DEFAULT_NBYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::default;

    #[test]
    fn steps_are_those_of_the_original() {
        for (nbytes, size) in [
            (0, 16384),
            (104, 16384),
            (105, 32768),
            (1048, 32768),
            (10_485, 65536),
            (104_857, 131_072),
            (104_858, 262_144),
            (10_485_759, 262_144),
            (10_485_760, 524_288),
            (1_048_575_999, 1_048_576),
            (10_485_759_999, 2_097_152),
            (u64::MAX, 4_194_304),
        ] {
            assert_eq!(default(nbytes, 1), size, "{nbytes}");
        }
        assert_eq!(default(300, 24), 65536 / 24);
        assert_eq!(default(1, 1 << 30), 1);
    }
}
