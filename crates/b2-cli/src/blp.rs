//! The content of a Bloscpack file, all of it or a range.

use core::ops::Range;

use blosc_io::ReadAt;
use bloscpack::{BlpFile, Result};

/// Ranges up to this length (bytes) are read block by block; longer ones chunk by chunk, with all threads.
const SMALL: u64 = 4 << 20;

/// Hands the bytes `range` of the content to `sink`, piece by piece in order.
///
/// # Errors
///
/// What is wrong with the file, after everything before it; or what `sink` says.
pub(crate) fn part<S: ReadAt, E: From<bloscpack::Error>>(
    file: &BlpFile<S>,
    range: Range<u64>,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if range.is_empty() {
        return Ok(());
    }
    if range.end - range.start <= SMALL {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        let n = file.read_at(range.start, &mut bytes)?;
        return sink(&bytes[..n]);
    }
    let first = chunk_of(file, range.start)?;
    let last = chunk_of(file, range.end - 1)?;
    let mut at = file.chunk_range(first)?.start;
    file.decode_ordered(first..last + 1, |_, bytes| {
        let inside =
            |end: u64| usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
        let piece = inside(range.start)..inside(range.end);
        at += bytes.len() as u64;
        sink(&bytes[piece])
    })
}

/// The chunk with byte `at` of the content, which must be inside.
fn chunk_of<S: ReadAt>(file: &BlpFile<S>, at: u64) -> Result<u64> {
    let (mut low, mut high) = (0, file.nchunks()?);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if file.chunk_range(middle)?.start <= at {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_io::MemStore;
    use bloscpack::{WriteOptions, pack};

    #[test]
    fn parts_are_slices_of_the_whole() {
        let data: Vec<u8> = (0..1_500_000_u32).flat_map(u32::to_le_bytes).collect();
        let blp = pack(&data, WriteOptions::default().chunk_size(1_000_000)).unwrap();
        let file = BlpFile::new(MemStore::new(blp)).unwrap();
        for range in [0..6_000_000, 0..1, 17..5_000_017, 999_999..1_000_001, 1_999_999..5_999_999, 5..5] {
            let mut found = vec![];
            let mut sink = |bytes: &[u8]| {
                found.extend_from_slice(bytes);
                Ok::<(), bloscpack::Error>(())
            };
            part(&file, range.clone(), &mut sink).unwrap();
            let expected = &data[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            assert!(found == expected, "{range:?}");
        }
    }
}
