//! The content of a frame or a chunk: the bytes that were compressed, or of an array its items in C
//! order without padding. That of a table of bcolz are its rows, as NumPy's structured arrays have
//! them.

use core::ops::Range;

use b2frame::{Budget, SChunk};

use crate::{
    args::LimitArgs,
    error::{Error, Result},
    inputs::{Object, frame_bytes},
    render::ByteSize,
};

/// Where pieces of content go.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Bytes of the content.
///
/// # Errors
///
/// When the frame says that it is an array, and cannot be one.
pub(crate) fn nbytes(object: &Object) -> Result<u64> {
    Ok(object.content_nbytes()?)
}

/// Hands the content to `sink`, piece by piece in order.
///
/// # Errors
///
/// Damage, after all data before it; or the error of `sink`.
pub(crate) fn all(object: &Object, options: &Budget, sink: Sink<'_>) -> Result<()> {
    part(object, 0..nbytes(object)?, options, sink)
}

/// Hands the bytes `range` of the content to `sink`, piece by piece in order.
///
/// # Errors
///
/// As [`all`]; a range beyond the end is the caller's fault.
pub(crate) fn part(
    object: &Object,
    range: Range<u64>,
    options: &Budget,
    sink: Sink<'_>,
) -> Result<()> {
    object.part(range, options, sink)
}

/// Guards one input against decompressing to more than its user allows: what the options say, or,
/// without any of them, more than any data that are not made to do harm.
#[derive(Debug)]
pub(crate) struct Guard {
    limits: LimitArgs,
    /// Bytes from which on the ratio counts without an option.
    free: u64,
    nbytes: u64,
    stored: u64,
}

/// How many times its size an input may give without an option, once that is a lot.
const MAX_UNASKED_RATIO: u64 = 10_000;

impl Guard {
    /// A guard for one input whose content is decoded: written, or only read, which takes as long.
    pub(crate) fn new(limits: LimitArgs) -> Self {
        Self { limits, free: 16 << 30, nbytes: 0, stored: 0 }
    }

    /// A guard for one input of which only the options limit what is read.
    pub(crate) fn for_looking(limits: LimitArgs) -> Self {
        Self { free: u64::MAX, ..Self::new(limits) }
    }

    /// The most bytes of data that may come out of `stored` bytes.
    pub(crate) fn allowance(limits: LimitArgs, stored: u64) -> u64 {
        let of_ratio = |ratio: u64| stored.saturating_mul(ratio);
        match (limits.max_output, limits.max_ratio) {
            (None, None) => of_ratio(MAX_UNASKED_RATIO).max(Self::new(limits).free),
            (output, ratio) => {
                let output = output.map_or(u64::MAX, |ByteSize(limit)| limit);
                output.min(ratio.map_or(u64::MAX, of_ratio))
            }
        }
    }

    /// Adds an object, before anything of it is decoded.
    ///
    /// # Errors
    ///
    /// When the objects so far are too much.
    pub(crate) fn admit(&mut self, object: &Object) -> Result<()> {
        self.admit_bytes(object.nbytes(), object.stored())
    }

    /// Adds a frame that is verified: without an option, only what has to be decoded for it counts.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit).
    pub(crate) fn admit_to_verify(&mut self, schunk: &SChunk) -> Result<()> {
        let is_asked = self.limits.max_output.is_some() || self.limits.max_ratio.is_some();
        let nbytes = if is_asked { schunk.nbytes() } else { schunk.nbytes_to_verify() };
        self.admit_bytes(nbytes, frame_bytes(schunk))
    }

    /// Adds `nbytes` bytes of data that are decoded from `stored` bytes.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit).
    pub(crate) fn admit_bytes(&mut self, nbytes: u64, stored: u64) -> Result<()> {
        self.nbytes = self.nbytes.saturating_add(nbytes);
        self.stored = self.stored.saturating_add(stored);
        let (nbytes, from) = (self.nbytes, self.stored);
        match self.limits {
            LimitArgs { max_output: Some(ByteSize(limit)), .. } if nbytes > limit => {
                Err(Error::MaxOutput { nbytes, limit })
            }
            LimitArgs { max_ratio: Some(limit), .. } if nbytes > from.saturating_mul(limit) => {
                Err(Error::MaxRatio { nbytes, from, limit })
            }
            LimitArgs { max_output: None, max_ratio: None }
                if nbytes > self.free && nbytes > from.saturating_mul(MAX_UNASKED_RATIO) =>
            {
                Err(Error::MaxRatio { nbytes, from, limit: MAX_UNASKED_RATIO })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b2frame::{FrameParams, to_cframe};
    use std::sync::Arc;

    #[test]
    fn only_a_lot_out_of_little_is_refused_unasked() {
        let admit = |mut guard: Guard, nbytes, stored| guard.admit_bytes(nbytes, stored).is_ok();
        let unasked = LimitArgs::default;
        assert!(admit(Guard::new(unasked()), 16 << 30, 100));
        assert!(!admit(Guard::new(unasked()), (16 << 30) + 1, 100));
        assert!(admit(Guard::new(unasked()), 100 << 30, 11 << 20));
        assert!(admit(Guard::for_looking(unasked()), 1 << 62, 100));
        assert_eq!(Guard::allowance(unasked(), 100), 16 << 30);
        assert_eq!(Guard::allowance(unasked(), 1 << 30), 10_000 << 30);
        let asked = LimitArgs { max_output: Some(ByteSize(9)), max_ratio: Some(2) };
        assert_eq!((Guard::allowance(asked, 4), Guard::allowance(asked, 5)), (8, 9));
        let asked = LimitArgs { max_output: Some(ByteSize(1 << 50)), max_ratio: None };
        assert!(admit(Guard::new(asked), 1 << 50, 100));
        assert!(!admit(Guard::for_looking(asked), (1 << 50) + 1, 100));
    }

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
