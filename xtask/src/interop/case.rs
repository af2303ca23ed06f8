//! One random case: the seed, the kind and the number of the case determine its data and
//! parameters.

use core::ops::Range;

use blosc_testdata::data::{Kind, Recipe};

/// Random numbers: splitmix64.
pub(super) struct Draw(u64);

impl Draw {
    /// Equal arguments give equal numbers; different ones give independent numbers.
    pub(super) fn new(seed: u64, kind: &str, number: u64) -> Self {
        let mut draw = Self(seed);
        for byte in kind.bytes() {
            draw.0 = draw.next() ^ u64::from(byte);
        }
        draw.0 = draw.next() ^ number;
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A seed for data.
    fn seed(&mut self) -> u32 {
        let [a, b, c, d, ..] = self.next().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// A number in `range`, which must not be empty.
    pub(super) fn within(&mut self, range: Range<usize>) -> usize {
        let width = range.len().max(1) as u64;
        range.start + usize::try_from(self.next() % width).unwrap_or(0)
    }

    /// True in `percent` of 100 cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.within(0..100) < percent
    }

    /// One of `items`.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.within(0..items.len())]
    }

    /// A number below `2^bits`, small ones as likely as large ones.
    pub(super) fn any_size(&mut self, bits: usize) -> usize {
        let bits = self.within(0..bits + 1);
        self.within(0..1 << bits)
    }
}

/// The amount of data of a case, and its filters.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    /// At most `2^bits` bytes.
    pub(super) bits: usize,
    pub(super) filters: Filters,
}

/// The filters that may be drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filters {
    /// A filter that a 16-byte header can name.
    Blosc1,
    /// Up to two filters of Blosc2.
    Blosc2,
    /// As `Blosc2`, without trunc_prec with a negative parameter: python-blosc2 writes frames with
    /// it and cannot open them.
    Frame,
}

/// Data and parameters.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The data before a run overwrites a part of them.
    pub(super) recipe: Recipe,
    /// The range and the item of a run, so that runs and special chunks occur.
    pub(super) run: Option<(Range<usize>, u8)>,
    pub(super) codec: u8,
    pub(super) level: u8,
    pub(super) typesize: usize,
    pub(super) filters: [u8; 6],
    pub(super) filters_meta: [u8; 6],
    /// Bytes of a block; 0 for the automatic choice.
    pub(super) blocksize: usize,
    /// The split mode by C-Blosc2's numbers: 1 always, 2 never, 3 automatic, 4 compatible.
    pub(super) splitmode: u8,
    pub(super) dict: bool,
    pub(super) threads: usize,
    /// Bytes of a chunk.
    pub(super) chunksize: usize,
    pub(super) metalayers: Vec<(String, Vec<u8>)>,
    pub(super) vlmetalayers: Vec<(String, Vec<u8>)>,
    /// Whether data pass through a file, or only through memory.
    pub(super) through_file: bool,
    /// Parts to read (items).
    pub(super) slices: Vec<Range<usize>>,
}

pub(super) const SHUFFLE: u8 = 1;
pub(super) const BITSHUFFLE: u8 = 2;
pub(super) const DELTA: u8 = 3;
pub(super) const TRUNC_PREC: u8 = 4;

impl Case {
    pub(super) fn draw(draw: &mut Draw, scope: Scope) -> Self {
        let typesize = typesize(draw);
        let nbytes = nbytes(draw, typesize, scope.bits);
        let (filters, filters_meta) = match scope.filters {
            Filters::Blosc1 => blosc1_filter(draw),
            Filters::Blosc2 => pipeline(draw, typesize, &[1, 5, 10, 20, 0xFF, 0xF8]),
            Filters::Frame => pipeline(draw, typesize, &[1, 5, 10, 20]),
        };
        let chunksize = chunksize(draw, typesize, nbytes);
        let codec = draw.pick(&[0, 1, 2, 4, 5]);
        let kind = draw.pick(&Kind::ALL);
        Self {
            recipe: Recipe { kind, typesize, seed: draw.seed(), nbytes },
            run: draw.chance(25).then(|| run(draw, nbytes)),
            codec,
            level: u8::try_from(draw.within(0..10)).unwrap_or(5),
            typesize,
            filters,
            filters_meta,
            blocksize: blocksize(draw, typesize, chunksize),
            splitmode: draw.pick(&[1, 2, 3, 4]),
            dict: scope.filters != Filters::Blosc1 && codec != 0 && codec != 4 && draw.chance(10),
            threads: draw.within(1..5),
            chunksize,
            metalayers: layers(draw, "meta"),
            vlmetalayers: layers(draw, "vlmeta"),
            through_file: draw.chance(50),
            slices: (0..3).map_while(|_| slice(draw, nbytes / typesize)).collect(),
        }
    }

    /// The data to compress.
    pub(super) fn data(&self) -> Vec<u8> {
        let mut data = self.recipe.bytes();
        if let Some((range, value)) = &self.run {
            data[range.clone()].fill(*value);
        }
        data
    }

    /// Whether decoding returns the input. C-Blosc2 loses the bytes of a block after its last whole
    /// item when it writes with delta. Trunc_prec is meant to lose precision. And less than 32
    /// bytes of data with a dictionary in the parameters are compressed and marked as a copy.
    pub(super) fn is_exact(&self) -> bool {
        let whole_items = self.recipe.nbytes.is_multiple_of(self.typesize);
        let last = self.recipe.nbytes % self.chunksize;
        let few = [self.recipe.nbytes, self.chunksize, last]
            .iter()
            .any(|nbytes| (1..32).contains(nbytes));
        let cut = !whole_items && self.filters.contains(&DELTA);
        !(self.is_lossy() || cut || (self.dict && few))
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.filters.contains(&TRUNC_PREC)
    }

    /// The number of threads that the oracle reads with: one if delta refers to a block that
    /// another thread may still be decoding, since C-Blosc2 does not always wait for it.
    pub(super) fn reader_threads(&self) -> usize {
        if self.filters.contains(&DELTA) { 1 } else { self.threads }
    }

    /// Number of the Blosc 1 filter: 0 none, 1 shuffle, 2 bitshuffle.
    pub(super) fn blosc1_shuffle(&self) -> u8 {
        self.filters[5]
    }
}

/// Mostly common widths, sometimes any other.
fn typesize(draw: &mut Draw) -> usize {
    match draw.within(0..10) {
        0..=4 => draw.pick(&[1, 2, 4, 8, 16]),
        5..=8 => draw.within(1..17),
        _ => draw.pick(&[17, 24, 31, 32, 33, 64, 100, 127, 128, 129, 200, 255]),
    }
}

/// Mostly whole items: C-Blosc2 cannot read back all of its own data if the last item is cut.
fn nbytes(draw: &mut Draw, typesize: usize, bits: usize) -> usize {
    let nbytes = draw.any_size(bits);
    if draw.chance(70) { nbytes / typesize * typesize } else { nbytes }
}

/// No filter, one or two, at the end of the slots or at their beginning. Trunc_prec takes the
/// number of mantissa bits to keep, or, as a negative number, to drop.
fn pipeline(draw: &mut Draw, typesize: usize, bits: &[u8]) -> ([u8; 6], [u8; 6]) {
    let floats = typesize == 4 || typesize == 8;
    let one: &[&[u8]] = &[&[SHUFFLE], &[BITSHUFFLE], &[DELTA], &[SHUFFLE]];
    let two: &[&[u8]] =
        &[&[DELTA, SHUFFLE], &[DELTA, BITSHUFFLE], &[SHUFFLE, DELTA], &[SHUFFLE, BITSHUFFLE]];
    let lossy: &[&[u8]] = &[&[TRUNC_PREC], &[TRUNC_PREC, SHUFFLE], &[TRUNC_PREC, BITSHUFFLE]];
    let chosen = match draw.within(0..20) {
        0..3 => &[],
        3..12 => draw.pick(one),
        12..17 => draw.pick(two),
        _ if floats => draw.pick(lossy),
        _ => draw.pick(two),
    };
    let first = if draw.chance(50) { 0 } else { 6 - chosen.len() };
    let (mut ids, mut metas) = ([0; 6], [0; 6]);
    for (slot, id) in (first..).zip(chosen) {
        ids[slot] = *id;
        if *id == TRUNC_PREC {
            metas[slot] = draw.pick(bits);
        }
    }
    (ids, metas)
}

/// A filter that a 16-byte header can name.
fn blosc1_filter(draw: &mut Draw) -> ([u8; 6], [u8; 6]) {
    ([0, 0, 0, 0, 0, draw.pick(&[0, SHUFFLE, BITSHUFFLE])], [0; 6])
}

/// Whole items, and not so small that a case has thousands of chunks.
fn chunksize(draw: &mut Draw, typesize: usize, nbytes: usize) -> usize {
    let least = nbytes / 100;
    let nitems = (least + draw.any_size(20)) / typesize;
    nitems.max(1) * typesize
}

/// Automatic, or whole items of at most a chunk.
fn blocksize(draw: &mut Draw, typesize: usize, chunksize: usize) -> usize {
    if draw.chance(50) {
        return 0;
    }
    let nitems = 64_usize.div_ceil(typesize) + draw.any_size(16) / typesize;
    (nitems * typesize).min(chunksize)
}

pub(super) fn run(draw: &mut Draw, nbytes: usize) -> (Range<usize>, u8) {
    let (a, b) = (draw.within(0..nbytes + 1), draw.within(0..nbytes + 1));
    // Half of the runs cover all the data.
    let range = if draw.chance(50) { 0..nbytes } else { a.min(b)..a.max(b) };
    (range, draw.pick(&[0, 0, 7, 255]))
}

fn layers(draw: &mut Draw, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let count = if draw.chance(70) { 0 } else { draw.within(1..5) };
    let layer = |i| {
        let nbytes = draw.any_size(12);
        let recipe = Recipe { kind: Kind::Text, typesize: 1, seed: draw.seed(), nbytes };
        (format!("{prefix}-{i}"), recipe.bytes())
    };
    (0..count).map(layer).collect()
}

pub(super) fn slice(draw: &mut Draw, nitems: usize) -> Option<Range<usize>> {
    if nitems == 0 {
        return None;
    }
    let start = draw.within(0..nitems);
    let len = 1 + draw.any_size(12);
    Some(start..(start + len).min(nitems))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: Scope = Scope { bits: 16, filters: Filters::Blosc2 };

    #[test]
    fn cases_repeat_and_differ() {
        let case =
            |seed, number| format!("{:?}", Case::draw(&mut Draw::new(seed, "kind", number), SCOPE));
        assert_eq!(case(1, 2), case(1, 2));
        assert_ne!(case(1, 2), case(1, 3));
        assert_ne!(case(1, 2), case(2, 2));
    }

    #[test]
    fn parameters_are_ones_that_the_original_programs_take() {
        for number in 0..2000 {
            let case = Case::draw(&mut Draw::new(5, "kind", number), SCOPE);
            assert!(case.chunksize.is_multiple_of(case.typesize), "{case:?}");
            assert!(
                case.blocksize <= case.chunksize && case.blocksize.is_multiple_of(case.typesize),
                "{case:?}"
            );
            assert_eq!(case.data().len(), case.recipe.nbytes);
            let nitems = case.recipe.nbytes / case.typesize;
            assert!(case.slices.iter().all(|slice| slice.start < slice.end && slice.end <= nitems));
        }
    }
}
