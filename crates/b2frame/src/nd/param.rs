//! Errors of callers that request an impossible part or shape of an array.

/// A request that does not fit the array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum NdParam {
    /// A selection or shape of more dimensions than the array has.
    #[error("number of dimensions: {given} given, {ndim} in the array")]
    Dims { given: usize, ndim: usize },
    /// A position outside of the array.
    #[error("index {index} in dimension {dim}, which has {len} items")]
    Index { dim: usize, index: i64, len: u64 },
    /// A flat position after the last item.
    #[error("item {item} of an array that has {nitems}")]
    Item { item: u64, nitems: u64 },
    /// Bytes outside of an item.
    #[error("bytes {start} to {end} of items of {itemsize}")]
    Field { start: usize, end: usize, itemsize: usize },
    /// A slice with step 0.
    #[error("a step of 0 in dimension {dim}")]
    Step { dim: usize },
    /// A dimension that does not exist, is not of length 1 where that is required, or is named
    /// twice.
    #[error("dimension {axis} of {ndim}: {what}")]
    Axis { axis: usize, ndim: usize, what: &'static str },
    /// Shapes that contradict each other, or are too large.
    #[error("{}", why_not(shape, chunks, blocks))]
    Shapes { shape: Vec<u64>, chunks: Vec<u32>, blocks: Vec<u32> },
    /// A position inside of an array that must be a border of chunks.
    #[error("position {at} in dimension {axis}, not at the end and no multiple of {chunklen}")]
    Align { axis: usize, at: u64, chunklen: u64 },
    /// Arrays that do not fit into one.
    #[error("an array of shape {shape:?} at {at:?} of one of {whole:?}")]
    Outside { shape: Vec<u64>, at: Vec<u64>, whole: Vec<u64> },
    /// Items of another shape than their destination.
    #[error("items of shape {shape:?} for a part of shape {expected:?}")]
    Shape { shape: Vec<u64>, expected: Vec<u64> },
    /// Items of another type than the caller's.
    #[error("items are {dtype}, not {wanted}")]
    Dtype { dtype: String, wanted: String },
}

/// The reason why chunks and blocks of these lengths are refused.
fn why_not(shape: &[u64], chunks: &[u32], blocks: &[u32]) -> String {
    let grid = format!("chunks of {chunks:?} and blocks of {blocks:?}");
    if chunks.len() != shape.len() || blocks.len() != shape.len() {
        return format!("{grid} for an array of {shape:?}, which has other dimensions");
    }
    let lens = || shape.iter().zip(chunks).zip(blocks).enumerate();
    if let Some((dim, ((_, chunk), block))) = lens().find(|(_, ((_, chunk), block))| block > chunk)
    {
        return format!("{grid}: in dimension {dim} a block of {block} does not fit into {chunk}");
    }
    let is_nothing =
        |((len, chunk), block): ((&u64, &u32), &u32)| *len > 0 && (*chunk == 0 || *block == 0);
    match lens().find(|(_, lens)| is_nothing(*lens)) {
        Some((dim, _)) => format!("{grid}: in dimension {dim} they have no items"),
        None => format!("{grid} for an array of {shape:?} are too large"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_say_what_does_not_fit() {
        let said = |shape: &[u64], chunks: &[u32], blocks: &[u32]| {
            let (shape, chunks, blocks) = (shape.to_vec(), chunks.to_vec(), blocks.to_vec());
            NdParam::Shapes { shape, chunks, blocks }.to_string()
        };
        assert_eq!(
            said(&[30, 1461], &[10, 100], &[200, 1]),
            "chunks of [10, 100] and blocks of [200, 1]: in dimension 0 a block of 200 does not \
             fit into 10"
        );
        assert_eq!(
            said(&[30, 4], &[10, 2], &[5, 0]),
            "chunks of [10, 2] and blocks of [5, 0]: in dimension 1 they have no items"
        );
        assert_eq!(
            said(&[30], &[10, 2], &[5, 1]),
            "chunks of [10, 2] and blocks of [5, 1] for an array of [30], which has other dimensions"
        );
        assert_eq!(
            said(&[1 << 40], &[u32::MAX], &[8]),
            "chunks of [4294967295] and blocks of [8] for an array of [1099511627776] are too large"
        );
    }
}
