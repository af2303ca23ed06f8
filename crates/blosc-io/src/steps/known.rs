//! The bytes of a file that are known so far.

use core::ops::Range;
use std::collections::BTreeMap;

/// Pieces of a file by their positions, which do not overlap.
#[derive(Debug, Default)]
pub(super) struct Known {
    pieces: BTreeMap<u64, Piece>,
    nbytes: u64,
    /// The number of the current work.
    work: u64,
}

#[derive(Debug)]
struct Piece {
    bytes: Box<[u8]>,
    /// The last work that used it.
    work: u64,
}

impl Known {
    /// Bytes of all pieces.
    pub(super) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Begins the work with this number, which is later than all before.
    pub(super) fn begin(&mut self, work: u64) {
        self.work = work;
    }

    /// The last work that used it, the position and the bytes of each piece.
    pub(super) fn uses(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.pieces.iter().map(|(at, piece)| (piece.work, *at, piece.bytes.len() as u64))
    }

    /// Forgets the piece at this position.
    pub(super) fn remove(&mut self, at: u64) {
        if let Some(piece) = self.pieces.remove(&at) {
            self.nbytes = self.nbytes.saturating_sub(piece.bytes.len() as u64);
        }
    }

    /// Forgets all pieces.
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.nbytes = 0;
    }

    /// Adds the bytes that are not known yet.
    pub(super) fn insert(&mut self, at: u64, bytes: &[u8]) {
        for gap in self.gaps(at..at.saturating_add(bytes.len() as u64)) {
            let offset = |position: u64| usize::try_from(position.saturating_sub(at));
            let (Ok(start), Ok(end)) = (offset(gap.start), offset(gap.end)) else { continue };
            if let Some(piece) = bytes.get(start..end) {
                self.nbytes = self.nbytes.saturating_add(piece.len() as u64);
                let piece = Piece { bytes: piece.into(), work: self.work };
                self.pieces.insert(gap.start, piece);
            }
        }
    }

    /// Copies the bytes from position `at` on to `dest`; false if some are not known.
    pub(super) fn copy(&mut self, at: u64, dest: &mut [u8]) -> bool {
        let (mut at, mut rest) = (at, dest);
        while !rest.is_empty() {
            let Some((start, piece)) = self.pieces.range_mut(..=at).next_back() else {
                return false;
            };
            let from = usize::try_from(at.saturating_sub(*start)).unwrap_or(usize::MAX);
            let Some(found) = piece.bytes.get(from..).filter(|found| !found.is_empty()) else {
                return false;
            };
            piece.work = self.work;
            let (now, later) = rest.split_at_mut(found.len().min(rest.len()));
            now.copy_from_slice(found.get(..now.len()).unwrap_or_default());
            at = at.saturating_add(now.len() as u64);
            rest = later;
        }
        true
    }

    /// The parts of a range that are not known.
    pub(super) fn gaps(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        // A hostile file may name a part after its end.
        if range.is_empty() {
            return gaps;
        }
        let mut at = range.start;
        let before = self.pieces.range(..range.start).next_back();
        for (start, piece) in before.into_iter().chain(self.pieces.range(range.clone())) {
            if *start > at {
                gaps.push(at..*start);
            }
            at = at.max(start.saturating_add(piece.bytes.len() as u64));
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        gaps
    }
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_any_order_become_the_whole() {
        let content: Vec<u8> = (0..200).collect();
        for seed in 1..50_usize {
            let mut known = Known::default();
            let mut have = [false; 200];
            for n in 0..12 {
                let start = n * seed * 37 % 190;
                let end = start + 1 + n * seed * 13 % (199 - start);
                known.insert(start as u64, &content[start..end]);
                have[start..end].fill(true);
                let missing: Vec<u64> =
                    known.gaps(0..200).into_iter().flat_map(|gap| gap.start..gap.end).collect();
                let expected = (0..200).filter(|at| !have[*at as usize]).collect::<Vec<u64>>();
                assert_eq!(missing, expected);
                let mut dest = vec![0; end - start];
                assert!(known.copy(start as u64, &mut dest));
                assert_eq!(dest, content[start..end]);
            }
            assert_eq!(known.nbytes(), have.iter().filter(|have| **have).count() as u64);
        }
    }

    #[test]
    fn an_empty_range_has_no_gap() {
        let mut known = Known::default();
        assert_eq!(known.gaps(5..5), []);
        assert_eq!(known.gaps(Range { start: 9, end: 5 }), []);
        known.insert(3, b"");
        assert_eq!(known.nbytes(), 0);
        assert!(!known.copy(3, &mut [0]));
    }
}
