//! Parameters that only C functions take: plugins, items of any width, many filters, a destination
//! larger than needed.

use core::ops::Range;
use std::sync::Arc;

use blosc_chunk::{CParams, Target};
use serde_json::{Value, json};

use crate::interop::{
    case::{BITSHUFFLE, Case, DELTA, Draw, SHUFFLE, TRUNC_PREC, run, slice},
    chunks::{cparams, cparams_json},
};

const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;
pub(super) const OLD_BYTEDELTA: u8 = 34;
pub(super) const BYTEDELTA: u8 = 35;
const INT_TRUNC: u8 = 36;

const LZ4: u8 = 1;
const LZ4HC: u8 = 2;
const ZSTD: u8 = 5;
const NDLZ: u8 = 32;
const ZFP_ACC: u8 = 33;
const ZFP_RATE: u8 = 35;

/// A case, and additional parameters for both sides.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) case: Case,
    pub(super) codec_meta: u8,
    /// Items per dimension of a block, for plugins; empty for others.
    pub(super) shape: Vec<u32>,
    /// Bytes of the destination beyond data and header.
    pub(super) room: usize,
    /// The target of chunks that `blosc-chunk` writes.
    pub(super) target: Target,
}

impl Call {
    /// Draws the additional parameters of a case from its own seed.
    pub(super) fn draw(case: &Case) -> Self {
        let mut draw = Draw::new(case.recipe.seed.into(), "call", 0);
        let room = if draw.chance(30) { draw.any_size(14) } else { 0 };
        let mut call = Self {
            case: without_layers(case),
            codec_meta: 0,
            shape: vec![],
            room,
            target: target(&mut draw),
        };
        if draw.chance(10) {
            // A block size that is no multiple of anything.
            call.case.blocksize = 1 + draw.any_size(14);
        }
        match draw.within(0..10) {
            0 => call.widen(&mut draw),
            1 => call.set_plugin(&mut draw),
            2..6 => call.set_filters(&mut draw),
            _ => {}
        }
        call.case.dict = matches!(call.case.codec, LZ4 | LZ4HC | ZSTD) && draw.chance(15);
        call
    }

    pub(super) fn params(&self) -> CParams {
        let shape: Option<Arc<[u32]>> =
            (!self.shape.is_empty()).then(|| self.shape.as_slice().into());
        cparams(&self.case).codec_meta(self.codec_meta).blockshape(shape).target(self.target)
    }

    pub(super) fn json(&self, op: &str) -> Value {
        let mut request = cparams_json(&self.case);
        request["op"] = op.into();
        request["codec_meta"] = self.codec_meta.into();
        request["shape"] = self.shape.clone().into();
        request["room"] = self.room.into();
        request
    }

    /// The request that makes C read.
    pub(super) fn read_json(&self, op: &str) -> Value {
        let threads = self.case.reader_threads();
        json!({"op": op, "nthreads": threads, "typesize": self.case.typesize, "shape": self.shape})
    }

    /// The typesize in the header.
    pub(super) fn stored_typesize(&self) -> usize {
        if self.case.typesize > 255 { 1 } else { self.case.typesize }
    }

    pub(super) fn has(&self, filter: u8) -> bool {
        self.case.filters.contains(&filter)
    }

    /// The number of filters. With three, C writes into the data while it compresses them.
    pub(super) fn nfilters(&self) -> usize {
        self.case.filters.iter().filter(|id| **id != 0).count()
    }

    pub(super) fn is_lossy(&self) -> bool {
        [TRUNC_PREC, INT_TRUNC, NDMEAN].into_iter().any(|id| self.has(id)) || self.is_zfp()
    }

    fn is_zfp(&self) -> bool {
        (ZFP_ACC..=ZFP_RATE).contains(&self.case.codec)
    }

    /// Whether C writes delta in a way that it cannot read: with three filters before and one
    /// after.
    pub(super) fn loses_delta(&self) -> bool {
        let filters: Vec<u8> = self.case.filters.into_iter().filter(|id| *id != 0).collect();
        let delta = filters.iter().position(|id| *id == DELTA);
        delta.is_some_and(|before| before > 2 && filters.len() > before + 1)
    }

    /// Bytes that delta processes together.
    pub(super) fn delta_width(&self) -> usize {
        match self.stored_typesize() {
            typesize @ (1 | 2 | 4) => typesize,
            typesize if typesize.is_multiple_of(8) => 8,
            _ => 1,
        }
    }

    /// Items that are too wide for the header.
    fn widen(&mut self, draw: &mut Draw) {
        let typesize = draw.pick(&[256, 257, 300, 512, 1000, 4096]);
        self.case.typesize = typesize;
        self.case.recipe.nbytes = self.case.recipe.nbytes / typesize * typesize;
        self.case.blocksize = typesize * draw.within(0..4);
        if self.has(TRUNC_PREC) {
            (self.case.filters, self.case.filters_meta) = ([0, 0, 0, 0, 0, SHUFFLE], [0; 6]);
        }
        self.resize(draw);
    }

    /// A codec or filter for arrays of two dimensions.
    fn set_plugin(&mut self, draw: &mut Draw) {
        let (rows, cols) = (draw.within(4..60), draw.within(4..60));
        let case = &mut self.case;
        (case.filters, case.filters_meta, case.splitmode) = ([0; 6], [0; 6], 2);
        match draw.within(0..3) {
            0 => {
                (case.codec, self.codec_meta) = (NDLZ, draw.pick(&[4, 8]));
                if draw.chance(50) {
                    (case.filters[5], case.splitmode) = (SHUFFLE, 1);
                } else {
                    case.typesize = 1;
                }
            }
            1 => {
                case.typesize = draw.pick(&[4, 8]);
                (case.codec, self.codec_meta) = draw.pick(&[
                    (ZFP_ACC, 253),
                    (ZFP_ACC, 0),
                    (34, 10),
                    (34, 20),
                    (ZFP_RATE, 30),
                    (ZFP_RATE, 60),
                ]);
            }
            _ => {
                case.typesize = draw.pick(&[4, 8]);
                case.filters[0] = draw.pick(&[NDCELL, NDMEAN]);
                case.filters[1] = draw.pick(&[0, SHUFFLE, BITSHUFFLE]);
                case.filters_meta[0] = draw.pick(&[1, 2, 3, 4]);
            }
        }
        case.recipe.typesize = case.typesize;
        case.blocksize = rows * cols * case.typesize;
        case.recipe.nbytes = case.blocksize * draw.within(1..4);
        self.shape = [rows, cols].iter().filter_map(|n| u32::try_from(*n).ok()).collect();
        self.resize(draw);
    }

    /// Up to five filters, in any order and slots.
    fn set_filters(&mut self, draw: &mut Draw) {
        let typesize = self.case.typesize;
        let count = draw.pick(&[1, 1, 2, 2, 2, 3, 4, 5]);
        let (mut ids, mut metas) = ([0; 6], [0; 6]);
        for _ in 0..count {
            let slot = draw.within(0..6);
            (ids[slot], metas[slot]) = match draw.within(0..12) {
                0..3 => (SHUFFLE, 0),
                3 => (SHUFFLE, byte(draw.within(1..40))),
                4..6 => (BITSHUFFLE, 0),
                // With two of these filters, C's results vary from run to run.
                6..8 if !ids.contains(&DELTA) => (DELTA, 0),
                8 => (BYTEDELTA, byte(draw.within(1..20))),
                // C drops the rest of a block after streams of equal length.
                9 if self.has_whole_items() => (OLD_BYTEDELTA, byte(typesize)),
                10 if matches!(typesize, 4 | 8) => {
                    (TRUNC_PREC, draw.pick(&[1, 10, 23, 0xFF, 0xF8]))
                }
                11 if matches!(typesize, 1 | 2 | 4 | 8) => {
                    (INT_TRUNC, draw.pick(&[1, 7, 8, 0xFF, 0xFC]))
                }
                _ => (BYTEDELTA, byte(typesize)),
            };
        }
        (self.case.filters, self.case.filters_meta) = (ids, metas);
    }

    /// Draws the parameters that depend on the size of the data.
    fn resize(&mut self, draw: &mut Draw) {
        let nbytes = self.case.recipe.nbytes;
        self.case.run = draw.chance(25).then(|| run(draw, nbytes));
        self.case.slices = (0..3).map_while(|_| slice(draw, nbytes / self.case.typesize)).collect();
    }

    fn has_whole_items(&self) -> bool {
        let Case { recipe, blocksize, typesize, .. } = &self.case;
        recipe.nbytes.is_multiple_of(*typesize) && blocksize.is_multiple_of(*typesize)
    }

    /// Items to read, counted in the typesize of the header.
    pub(super) fn items(&self) -> Vec<Range<usize>> {
        let wide = self.case.typesize / self.stored_typesize();
        self.case.slices.iter().map(|items| items.start * wide..items.end * wide).collect()
    }
}

/// The case without layers, which chunks do not have.
pub(super) fn without_layers(case: &Case) -> Case {
    Case { metalayers: vec![], vlmetalayers: vec![], ..case.clone() }
}

fn byte(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn target(draw: &mut Draw) -> Target {
    let blosc1 = [Target::Blosc1_3, Target::Blosc1_11, Target::Blosc1_14];
    match draw.within(0..10) {
        0..2 => draw.pick(&blosc1),
        2..6 => Target::Blosc2_0,
        _ => Target::Blosc3_0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interop::CHUNK;

    fn calls() -> impl Iterator<Item = Call> {
        (0..3000).map(|number| Call::draw(&Case::draw(&mut Draw::new(3, "kind", number), CHUNK)))
    }

    #[test]
    fn calls_repeat() {
        let text = |call: Call| format!("{call:?}");
        assert!(calls().map(text).eq(calls().map(text)));
    }

    #[test]
    fn every_codec_and_filter_is_called() {
        let codecs: std::collections::BTreeSet<u8> = calls().map(|call| call.case.codec).collect();
        assert_eq!(codecs.into_iter().collect::<Vec<_>>(), [0, 1, 2, 4, 5, 32, 33, 34, 35]);
        let filters: std::collections::BTreeSet<u8> =
            calls().flat_map(|call| call.case.filters).collect();
        assert_eq!(filters.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 32, 33, 34, 35, 36]);
    }

    #[test]
    fn items_are_inside_the_data_and_arrays_are_whole_blocks() {
        for call in calls() {
            let nitems = call.case.recipe.nbytes / call.stored_typesize();
            assert!(
                call.items().iter().all(|items| items.start < items.end && items.end <= nitems),
                "{call:?}"
            );
            assert!(call.case.filters.iter().filter(|id| **id == DELTA).count() <= 1, "{call:?}");
            let whole = call.case.recipe.nbytes.checked_rem(call.case.blocksize).unwrap_or(0) == 0;
            assert!(call.shape.is_empty() || whole, "{call:?}");
        }
    }
}
