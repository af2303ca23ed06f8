//! A probe for sparse data: streams of runs of one byte with single other bytes between them, for
//! example the byte planes of numbers that are mostly zero.
//!
//! All positions of their runs have one hash. So hash chains lead through the whole window, and end
//! with a match that takes as many bits as the run and the byte that it replaces. zlib's strategy
//! that searches runs only (`Z_RLE`) is up to nine times as fast there, and its output is shorter;
//! on other data its output is longer. Figures: `docs/performance/zlib.md`.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status, Strategy};

use crate::lz::load64;

/// Shorter streams (bytes) are too short for the probe.
const MIN_NBYTES: usize = 1 << 16;
/// Higher levels search longer, and find more.
const MAX_LEVEL: i32 = 6;
/// Slots of the table of changes.
const SLOTS: usize = 1 << 13;
/// Bytes that are tested together.
const STEP: usize = 32;
/// Bytes after which data may be excluded.
const PART_NBYTES: usize = 1 << 12;
/// Fewest changes that are significant.
const ENOUGH: usize = 256;
/// Windows that are compressed both ways, together a quarter of the stream.
const WINDOWS: usize = 8;

/// The probe, with memory that it keeps between streams.
pub(super) struct RunProbe {
    level: i32,
    /// Hashes of changes by their slot.
    seen: Vec<u32>,
    sample: Vec<u8>,
    compressed: Vec<u8>,
    /// An encoder that searches runs only. Made when first needed.
    runs: Option<Deflate>,
}

impl RunProbe {
    pub(super) fn new(level: i32) -> Self {
        let (seen, sample, compressed) = (Vec::new(), Vec::new(), Vec::new());
        Self { level, seen, sample, compressed, runs: None }
    }

    /// The encoder that searches runs only, if its output for `src` is not expected to be longer
    /// than that of `all`, which has the level of the probe.
    pub(super) fn encoder(&mut self, src: &[u8], all: &mut Deflate) -> Option<&mut Deflate> {
        if src.len() < MIN_NBYTES || self.level > MAX_LEVEL || !self.is_sparse(src) {
            return None;
        }
        let config = DeflateConfig { strategy: Strategy::Rle, ..DeflateConfig::new(self.level) };
        let runs = self.runs.get_or_insert_with(|| Deflate::new_with_config(config));
        self.sample.clear();
        for part in src.chunks_exact(src.len() / WINDOWS).take(WINDOWS) {
            let len = part.len() / 4;
            self.sample.extend_from_slice(&part[(part.len() - len) / 2..][..len]);
        }
        self.compressed.resize(2 * self.sample.len(), 0);
        let by_all = compressed_len(all, &self.sample, &mut self.compressed)?;
        let by_runs = compressed_len(runs, &self.sample, &mut self.compressed)?;
        // Samples that shrink below a 64th are not significant, and are compressed fast anyway.
        let is_shorter = by_runs * 100 <= by_all * 93 && by_runs * 64 >= self.sample.len() as u64;
        is_shorter.then_some(runs)
    }

    /// Whether data are sparse: seven of eight bytes equal the byte before, and two fifths of the
    /// changes return to the byte before the last change. Also, four changes in a row seldom recur
    /// with the same bytes at the same distances. Most other data are excluded within their first
    /// part.
    fn is_sparse(&mut self, src: &[u8]) -> bool {
        self.seen.clear();
        self.seen.resize(SLOTS, 0);
        let (mut count, mut returns, mut repeated) = (0, 0, 0);
        let mut last = Changes::default();
        let end = src.len() - STEP;
        for part in (1..end).step_by(PART_NBYTES) {
            let part_end = (part + PART_NBYTES).min(end);
            for step in (part..part_end).step_by(STEP) {
                let words = [0, 8, 16, 24].map(|n| (step + n, changes(src, step + n)));
                if words.iter().all(|(_, differs)| *differs == 0) {
                    continue;
                }
                for (at, mut differs) in words {
                    while differs != 0 {
                        let byte = differs.trailing_zeros() / 8;
                        differs &= !(0xFF << (8 * byte));
                        let position = at + byte as usize;
                        last.push(src[position], position);
                        count += 1;
                        returns += usize::from(last.is_return());
                        let hash = last.hash();
                        let seen = &mut self.seen[slot(hash)];
                        repeated += usize::from(*seen == tag(hash));
                        *seen = tag(hash);
                    }
                }
                // Too many changes for the whole part: noise is excluded after some hundred bytes.
                if count * 8 > part_end {
                    return false;
                }
            }
            // One byte plane may have many repetitions, and the next one few.
            if count >= ENOUGH && (returns * 5 < count * 2 || repeated * 2 > count) {
                return false;
            }
        }
        count * 8 <= src.len() && returns * 5 >= count * 2 && repeated * 10 <= count
    }
}

/// Eight bytes, from `at` on; a zero byte means that the byte equals the one before.
fn changes(src: &[u8], at: usize) -> u64 {
    load64(src, at) ^ load64(src, at - 1)
}

/// The last four changes: bytes, and the distances from one to the next.
#[derive(Default)]
struct Changes {
    bytes: u32,
    distances: [u32; 3],
    position: usize,
}

impl Changes {
    fn push(&mut self, byte: u8, position: usize) {
        self.bytes = self.bytes << 8 | u32::from(byte);
        let distance = u32::try_from(position - self.position).unwrap_or(u32::MAX);
        self.distances = [self.distances[1], self.distances[2], distance];
        self.position = position;
    }

    /// Whether the byte equals the one before the last change.
    fn is_return(&self) -> bool {
        let [_, before, _, byte] = self.bytes.to_be_bytes();
        before == byte
    }

    fn hash(&self) -> u64 {
        let [a, b, c] = self.distances.map(u64::from);
        let words = [u64::from(self.bytes) << 32 | a, b << 32 | c];
        words
            .iter()
            .fold(0, |hash, word| (hash ^ word).wrapping_mul(0x9E37_79B1_85EB_CA87).rotate_left(29))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most 13 bits")]
fn slot(hash: u64) -> usize {
    (hash >> (64 - SLOTS.trailing_zeros())) as usize
}

/// Never 0, which is an empty slot.
#[allow(clippy::cast_possible_truncation, reason = "as many bits as a tag has")]
fn tag(hash: u64) -> u32 {
    hash as u32 | 1
}

fn compressed_len(deflate: &mut Deflate, src: &[u8], dest: &mut [u8]) -> Option<u64> {
    deflate.reset();
    let status = deflate.compress(src, dest, DeflateFlush::Finish);
    (status == Ok(Status::StreamEnd)).then(|| deflate.total_out())
}

#[cfg(test)]
mod tests {
    use blosc_testdata::data::{Kind, XorShift32};

    use super::*;

    fn is_chosen(src: &[u8]) -> bool {
        let mut all = Deflate::new(5, true, 15);
        RunProbe::new(5).encoder(src, &mut all).is_some()
    }

    /// `nbytes` bytes: one in `rarity` is random, and the others are 0.
    fn sparse(nbytes: usize, rarity: u32, rng: &mut XorShift32) -> Vec<u8> {
        let mut byte = || match rng.next_hi() % rarity {
            0 => rng.next_hi().to_le_bytes()[1],
            _ => 0,
        };
        (0..nbytes).map(|_| byte()).collect()
    }

    #[test]
    fn sparse_bytes_are_recognised() {
        let mut rng = XorShift32::new(1);
        for rarity in [100, 120, 150] {
            for nbytes in [1 << 16, 100_001, 1 << 18] {
                assert!(is_chosen(&sparse(nbytes, rarity, &mut rng)), "{rarity} {nbytes}");
            }
        }
    }

    #[test]
    fn other_data_and_short_streams_are_not() {
        let mut rng = XorShift32::new(2);
        assert!(!is_chosen(&[]));
        assert!(!is_chosen(&sparse(MIN_NBYTES - 1, 100, &mut rng)));
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Sparse) {
            for nbytes in [65_536, 100_000, 300_000] {
                assert!(!is_chosen(&kind.bytes(nbytes)), "{} {nbytes}", kind.name());
            }
        }
        // Rows that resemble the one before, within a window of 32 KiB.
        let row = sparse(10_000, 100, &mut rng);
        assert!(!is_chosen(&row.repeat(20)));
        // A counter, whose bytes do not recur.
        let counter: Vec<u8> = (0..100_000_u32).map(|n| (n / 11).to_le_bytes()[0]).collect();
        assert!(!is_chosen(&counter));
        let mut all = Deflate::new(7, true, 15);
        let src = sparse(1 << 16, 100, &mut rng);
        assert!(RunProbe::new(7).encoder(&src, &mut all).is_none());
    }

    /// Sparse data of many kinds at all levels: the chosen output is never longer.
    #[test]
    fn what_is_chosen_is_no_longer() {
        let mut rng = XorShift32::new(3);
        let mut chosen = 0;
        for n in 0..200 {
            let rarity = 1 << (1 + rng.next_hi() % 9);
            let most = [1, 2, 4, 20, 255][(rng.next_hi() % 5) as usize];
            let nbytes = 1 << (16 + rng.next_hi() % 3);
            let (mut value, mut src) = (0_u32, Vec::new());
            while src.len() < nbytes {
                let is_rare = rng.next_hi().is_multiple_of(rarity);
                let new = 1 + rng.next_hi() % most;
                value = match (is_rare, n % 4) {
                    (true, 0 | 1) => new,
                    (true, 2) => value + new,
                    (false, 2) => value,
                    (true, _) => new * 0x0101,
                    (false, _) => 0,
                };
                src.extend_from_slice(&value.to_le_bytes()[..if n % 4 == 3 { 2 } else { 1 }]);
            }
            let l = 1 + n % 6;
            let mut all = Deflate::new(l, true, 15);
            let mut dest = alloc::vec![0; 2 * src.len()];
            if let Some(runs) = RunProbe::new(l).encoder(&src, &mut all) {
                let by_runs = compressed_len(runs, &src, &mut dest).unwrap();
                let by_all = compressed_len(&mut all, &src, &mut dest).unwrap();
                assert!(by_runs * 1000 <= by_all * 1005, "{n}: {by_runs} and {by_all}");
                chosen += 1;
            }
        }
        assert!(chosen > 20, "{chosen}");
    }
}
