//! Damage to the files of a container by a bad disk.

use core::{fmt, ops::Range};

use blosc_testdata::data::XorShift32;

use crate::{
    cases::below,
    container::{Files, Part, Sample, StoredChunk},
};

/// The unit that a disk loses (bytes).
const SECTOR: usize = 512;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One bit is flipped.
    Flip,
    /// The end of a file is missing.
    Cut,
    /// A sector is zeros.
    Zero,
    /// Two ranges are exchanged.
    Exchange,
    /// A range holds bytes of another file.
    Foreign,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Flip, Self::Cut, Self::Zero, Self::Exchange, Self::Foreign];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Flip => "flipped bits",
            Self::Cut => "cuts",
            Self::Zero => "zeroed sectors",
            Self::Exchange => "exchanged",
            Self::Foreign => "foreign bytes",
        }
    }
}

/// The changed bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    kind: Kind,
    name: String,
    nfile: usize,
    ranges: Vec<Range<usize>>,
}

impl Hit {
    /// A hit on these bytes of one file.
    pub(super) fn of_range(name: String, nfile: usize, range: Range<usize>) -> Self {
        Self { kind: Kind::Foreign, name, nfile, ranges: only(range) }
    }

    /// Whether the hit touches the data of a chunk.
    #[must_use]
    pub fn is_on(&self, chunk: &StoredChunk) -> bool {
        let overlaps =
            |range: &Range<usize>| range.start < chunk.stored.end && chunk.stored.start < range.end;
        self.nfile == chunk.nfile && self.ranges.iter().any(overlaps)
    }

    /// Whether the hit touches only chunks: no header, index or metadata.
    #[must_use]
    pub fn is_on_chunks_alone(&self, chunks: &[StoredChunk]) -> bool {
        let is_in_chunk = |at: usize| {
            chunks.iter().any(|chunk| chunk.nfile == self.nfile && chunk.stored.contains(&at))
        };
        self.ranges.iter().cloned().flatten().all(is_in_chunk)
    }

    /// Whether the hit lies within these parts.
    pub(super) fn is_within(&self, parts: &[Part]) -> bool {
        let contains = |range: &Range<usize>| {
            parts.iter().any(|(nfile, part)| {
                *nfile == self.nfile && part.start <= range.start && range.end <= part.end
            })
        };
        self.ranges.iter().all(contains)
    }
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} in {}", self.kind, self.name, Ranges(&self.ranges))
    }
}

struct Ranges<'a>(&'a [Range<usize>]);

impl fmt::Display for Ranges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges = self.0.iter();
        let Some(first) = ranges.next() else { return f.write_str("no bytes") };
        write!(f, "bytes {first:?}")?;
        ranges.try_for_each(|range| write!(f, ", {range:?}"))
    }
}

/// Damages one file, and changes at least one byte.
pub fn damage(
    files: &mut Files,
    kind: Kind,
    others: &[Sample],
    draw: &mut XorShift32,
) -> Option<Hit> {
    for _ in 0..20 {
        let nfile = draw_file(files, draw);
        let (name, bytes) = &mut files.0[nfile];
        let before = bytes.clone();
        let ranges = match kind {
            Kind::Flip => flip(bytes, draw),
            Kind::Cut => cut(bytes, draw),
            Kind::Zero => zero(bytes, draw),
            Kind::Exchange => exchange(bytes, draw),
            Kind::Foreign => replace(bytes, others, draw),
        };
        if *bytes != before {
            return Some(Hit { kind, name: name.clone(), nfile, ranges });
        }
    }
    None
}

/// One of the files; half of the draws prefer large ones.
fn draw_file(files: &Files, draw: &mut XorShift32) -> usize {
    if draw.below(2) == 0 {
        return below(draw, files.0.len());
    }
    let mut at = below(draw, files.nbytes().max(1));
    for (nfile, (_, bytes)) in files.0.iter().enumerate() {
        if at < bytes.len() {
            return nfile;
        }
        at -= bytes.len();
    }
    0
}

fn only(range: Range<usize>) -> Vec<Range<usize>> {
    core::iter::once(range).collect()
}

fn flip(bytes: &mut [u8], draw: &mut XorShift32) -> Vec<Range<usize>> {
    if bytes.is_empty() {
        return vec![];
    }
    let at = below(draw, bytes.len());
    bytes[at] ^= 1 << below(draw, 8);
    only(at..at + 1)
}

fn cut(bytes: &mut Vec<u8>, draw: &mut XorShift32) -> Vec<Range<usize>> {
    let len = bytes.len();
    // The last bytes are as likely as all others.
    let kept = if draw.below(4) == 0 {
        len.saturating_sub(1 + below(draw, 40))
    } else {
        below(draw, len.max(1))
    };
    bytes.truncate(kept);
    only(kept..len)
}

fn zero(bytes: &mut [u8], draw: &mut XorShift32) -> Vec<Range<usize>> {
    let start = SECTOR * below(draw, bytes.len().div_ceil(SECTOR).max(1));
    let end = (start + SECTOR).min(bytes.len());
    bytes[start..end].fill(0);
    only(start..end)
}

fn exchange(bytes: &mut [u8], draw: &mut XorShift32) -> Vec<Range<usize>> {
    let nsectors = bytes.len() / SECTOR;
    let len = if nsectors >= 2 && draw.below(2) == 0 { SECTOR } else { 1 + below(draw, 64) };
    let nplaces = bytes.len() / len;
    if nplaces < 2 {
        return vec![];
    }
    let (one, other) = (len * below(draw, nplaces), len * below(draw, nplaces));
    if one == other {
        return vec![];
    }
    for n in 0..len {
        bytes.swap(one + n, other + n);
    }
    vec![one..one + len, other..other + len]
}

fn replace(bytes: &mut [u8], others: &[Sample], draw: &mut XorShift32) -> Vec<Range<usize>> {
    let other = &others[below(draw, others.len())].files;
    let (_, foreign) = &other.0[draw_file(other, draw)];
    let len = (1 + below(draw, 2 * SECTOR)).min(bytes.len()).min(foreign.len());
    let at = below(draw, bytes.len() - len + 1);
    let from = below(draw, foreign.len() - len + 1);
    bytes[at..at + len].copy_from_slice(&foreign[from..from + len]);
    only(at..at + len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cases, container::samples};

    #[test]
    fn only_the_bytes_that_are_named_differ() {
        let samples = samples().unwrap();
        for number in 0..500 {
            let mut draw = cases::draw(1, number);
            let sample = &samples[below(&mut draw, samples.len())];
            let kind = Kind::ALL[below(&mut draw, Kind::ALL.len())];
            let mut files = sample.files.clone();
            let hit = damage(&mut files, kind, &samples, &mut draw).unwrap();
            for (nfile, ((_, now), (_, before))) in files.0.iter().zip(&sample.files.0).enumerate()
            {
                for (at, byte) in before.iter().enumerate() {
                    let is_hit =
                        nfile == hit.nfile && hit.ranges.iter().any(|range| range.contains(&at));
                    assert!(is_hit || now.get(at) == Some(byte), "{hit}: {at}");
                }
            }
        }
    }
}
