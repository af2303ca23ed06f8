//! A part of a block without the rest of it: which bytes of the streams hold it, and the filter
//! undone for these alone.

use core::ops::Range;

use blosc_filters::{BitshuffleRule, FilterCx, FilterId, Undo};

/// The bytes of a filtered block that hold a part of its data: the same bytes of each of its
/// planes. Without a filter the block is one plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    planes: usize,
    /// Bytes of a plane.
    width: usize,
    /// From where to where the bytes are in a plane.
    from: usize,
    to: usize,
    /// The part among the data that these bytes hold.
    part: Range<usize>,
}

impl Slice {
    /// For a part of a block of `nbytes` bytes; `None` if the filters must see the whole block.
    pub(super) fn new(
        undo: &Undo<'_>,
        cx: &FilterCx<'_>,
        nbytes: usize,
        part: &Range<usize>,
    ) -> Option<Self> {
        if part.is_empty() {
            return None;
        }
        if undo.is_nothing() {
            let Range { start: from, end: to } = *part;
            return Some(Self { planes: 1, width: nbytes, from, to, part: 0..to - from });
        }
        let slot = undo.only()?;
        match slot.id {
            FilterId::SHUFFLE if slot.meta == 0 => Self::of_items(cx.typesize, 1, nbytes, part),
            FilterId::BITSHUFFLE if cx.bitshuffle == BitshuffleRule::Blosc2 => {
                Self::of_items(cx.typesize, 8, nbytes, part)
            }
            _ => None,
        }
    }

    /// For items of which each byte is spread over `bits` planes, so many of them to a byte. The
    /// items behind the last such byte are not in planes.
    fn of_items(typesize: usize, bits: usize, nbytes: usize, part: &Range<usize>) -> Option<Self> {
        let together = typesize * bits;
        let width = nbytes / together;
        let (from, to) = (part.start / together, part.end.div_ceil(together));
        let start = part.start - from * together;
        let slice = Self { planes: together, width, from, to, part: start..start + part.len() };
        (to <= width).then_some(slice)
    }

    /// Bytes of all planes together.
    pub(super) const fn nbytes(&self) -> usize {
        self.planes * (self.to - self.from)
    }

    /// The part among the data of the slice.
    pub(super) fn part(&self) -> Range<usize> {
        self.part.clone()
    }

    /// From the first to the last byte of the slice in a stream that is this part of the block,
    /// counted from the start of the stream.
    pub(super) fn span(&self, stream: &Range<usize>) -> Range<usize> {
        let Self { planes, width, from, to, .. } = *self;
        // The first plane that does not end before the stream, and the last one that begins in it.
        let first =
            if stream.start % width < to { stream.start / width } else { stream.start / width + 1 };
        let last = ((stream.end - 1) / width).min(planes - 1);
        let last = if last * width + from < stream.end { Some(last) } else { last.checked_sub(1) };
        let Some(last) = last.filter(|&last| first <= last) else { return 0..0 };
        let start = (first * width + from).max(stream.start) - stream.start;
        start..(last * width + to).min(stream.end) - stream.start
    }

    /// Puts the bytes of the planes side by side: a block of its own.
    pub(super) fn gather(&self, block: &[u8], dest: &mut [u8]) {
        let len = self.to - self.from;
        for (plane, dest) in block.chunks_exact(self.width).zip(dest.chunks_exact_mut(len)) {
            dest.copy_from_slice(&plane[self.from..self.to]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_reaches_from_the_first_to_the_last_byte() {
        for (planes, width) in [(1, 12), (3, 4), (4, 3), (12, 1), (2, 5)] {
            for from in 0..width {
                for to in from + 1..=width {
                    let slice = Slice { planes, width, from, to, part: 0..0 };
                    let is_in =
                        |at: usize| at / width < planes && (from..to).contains(&(at % width));
                    for start in 0..12 {
                        for end in start + 1..=12 {
                            let first = (start..end).find(|&at| is_in(at));
                            let last = (start..end).rev().find(|&at| is_in(at));
                            let expected =
                                first.zip(last).map_or(0..0, |(a, b)| a - start..b + 1 - start);
                            let span = slice.span(&(start..end));
                            assert_eq!(span, expected, "{slice:?} in {start}..{end}");
                        }
                    }
                }
            }
        }
    }
}
