//! The content of an object: the compressed bytes; of an array its items in C order without
//! padding; of a bcolz table its rows, as in NumPy's structured arrays.

use core::ops::Range;

use b2frame::Budget;

pub(crate) use blosc_data::limits::Guard;

use crate::{error::Result, inputs::Object};

/// Where pieces of content go.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Bytes of the content.
///
/// # Errors
///
/// When the metadata describe an array that the frame cannot be.
pub(crate) fn nbytes(object: &Object) -> Result<u64> {
    Ok(object.content_nbytes()?)
}

/// Hands the content to `sink` in order, in pieces.
///
/// # Errors
///
/// Damage, after all data before it; the error of `sink`.
pub(crate) fn all(object: &Object, options: &Budget, sink: Sink<'_>) -> Result<()> {
    part(object, 0..nbytes(object)?, options, sink)
}

/// Hands the bytes `range` of the content to `sink` in order, in pieces.
///
/// # Errors
///
/// As [`all`]. The caller keeps the range within the content.
pub(crate) fn part(
    object: &Object,
    range: Range<u64>,
    options: &Budget,
    sink: Sink<'_>,
) -> Result<()> {
    object.part(range, options, sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use b2frame::{FrameParams, SChunk, to_cframe};
    use std::sync::Arc;

    #[test]
    fn parts_of_arrays_are_slices_of_their_items() {
        let data: Vec<u8> = (0..7 * 50 * 60_u16).flat_map(u16::to_le_bytes).collect();
        let shape = [7, 50, 60];
        for (chunks, blocks) in [([2, 20, 30], [1, 10, 30]), ([7, 50, 60], [7, 50, 60])] {
            let params = b2frame::NdParams::new(&shape, "<u2".parse().unwrap());
            let params = params.chunkshape(&chunks).blockshape(&blocks);
            let mut writer = b2frame::NdWriter::in_memory(&params).unwrap();
            writer.write_bytes(b2frame::nd::Selection::ALL, &data).unwrap();
            let array = writer.finish().unwrap();
            let object = Object::Frame(Arc::clone(array.schunk()));
            for range in [0..1, 119..121, 6_001..29_999, 41_990..42_000, 3..41_999, 0..42_000] {
                let mut found = Vec::new();
                let mut sink = |bytes: &[u8]| {
                    found.extend_from_slice(bytes);
                    Ok(())
                };
                let budget = Budget::default().max_memory(200_000);
                part(&object, range.clone(), &budget, &mut sink).unwrap();
                let expected = &data
                    [usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
                assert!(found == expected, "{range:?}");
            }
        }
    }

    #[test]
    fn parts_are_slices_of_the_whole() {
        let data: Vec<u8> = (0..1_500_000u32).flat_map(u32::to_le_bytes).collect();
        let frame = to_cframe(&data, &FrameParams::default().chunksize(1_000_000)).unwrap();
        let object = Object::Frame(Arc::new(SChunk::from_cframe(frame).unwrap()));
        for range in [
            0..6_000_000,
            0..1,
            17..999_999,
            999_999..1_000_001,
            3..5_999_999,
            5_999_999..6_000_000,
            5..5,
        ] {
            let mut found = Vec::new();
            let mut sink = |bytes: &[u8]| {
                found.extend_from_slice(bytes);
                Ok(())
            };
            part(&object, range.clone(), &Budget::default(), &mut sink).unwrap();
            let expected =
                &data[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            assert!(found == expected, "{range:?}");
        }
    }
}
