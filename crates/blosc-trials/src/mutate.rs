//! Damages sound chunks and containers, and applies every operation of a reader.
//!
//! For any bytes a reader returns data or an error: it does not panic, and needs no more memory
//! than its limits, the bytes and the data account for. A chunk that decodes also decodes in every
//! other way, to the same data. The seed and its number determine every case, so the command that
//! is printed with a failure repeats it.

mod check;
mod damage;
mod files;
mod pool;

use core::{fmt::Write as _, ops::Range};

use crate::{
    Say,
    cases::{Panics, draw},
    failure::{Context, Failure, Result, fail},
};
use check::{Checker, Outcome};
use damage::damage;
use files::FileMutator;
pub use files::change;
use pool::Pool;

/// Damages a chunk for each case, reads it in every way and reports a line. Returns the numbers of
/// chunks that decoded, that failed in decoding, and that were refused before.
///
/// # Errors
///
/// A reader panicked or needed too much memory, or two ways of reading differ.
pub fn chunks(cases: Range<u64>, seed: u64, say: Say<'_>) -> Result<[u64; 3]> {
    let (pool, panics) = (Pool::load()?, Panics::watch());
    let mut checker = Checker::new();
    let mut tally = Tally::default();
    for number in cases {
        let (mut draw, mut bytes) = (draw(seed, number), Vec::new());
        damage(&pool, &mut draw, &mut bytes);
        match panics.catch(|| checker.check(&bytes, &mut draw)) {
            Ok(outcome) => tally.count(outcome, &checker),
            Err(failure) => return Err(failure).at(Reproduce { seed, number, bytes: &bytes }),
        }
    }
    say(format!("{} sound chunks; {tally}", pool.len()));
    Ok(tally.counts)
}

/// Damages the files of a container for each case, opens, verifies, reads and rescues it, and
/// reports a line. Returns the numbers of containers that were verified, refused and rescued, and
/// refused.
///
/// # Errors
///
/// A reader panicked or needed too much memory, or a verified container cannot be read.
pub fn containers(cases: Range<u64>, seed: u64, say: Say<'_>) -> Result<[u64; 3]> {
    let (mut mutator, panics) = (FileMutator::load()?, Panics::watch());
    for number in cases {
        let (nsample, files) = mutator.mutate(&mut draw(seed, number));
        let again = || format!("again: cargo xtask mutate --seed {seed} --file {number}");
        let checked = panics.catch(|| mutator.check(nsample, &files));
        checked.at(mutator.container(nsample)).at(again())?;
    }
    say(mutator.to_string());
    Ok(mutator.counts)
}

/// The command that runs a case alone, and its description.
struct Reproduce<'a> {
    seed: u64,
    number: u64,
    bytes: &'a [u8],
}

impl core::fmt::Display for Reproduce<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (seed, number) = (self.seed, self.number);
        let hex = self.bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        writeln!(f, "{hex}")?;
        writeln!(f, "again: cargo xtask mutate --seed {seed} --case {number}")?;
        write!(f, "case {number}")
    }
}

/// The results of all cases.
#[derive(Default)]
struct Tally {
    counts: [u64; 3],
    peak: usize,
}

impl Tally {
    fn count(&mut self, outcome: Outcome, checker: &Checker) {
        self.counts[outcome as usize] += 1;
        self.peak = self.peak.max(checker.peak());
    }
}

impl core::fmt::Display for Tally {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [decoded, damaged, refused] = self.counts;
        let kib = self.peak >> 10;
        let total = decoded + damaged + refused;
        write!(
            f,
            "{total} damaged: {decoded} decoded, {damaged} found damaged on decoding, {refused} refused before; \
             at most {kib} KiB needed for one of them"
        )
    }
}

/// Fails unless `is_so`.
fn ensure(is_so: bool, what: impl FnOnce() -> String) -> core::result::Result<(), Failure> {
    if is_so { Ok(()) } else { fail(what()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use blosc_chunk::{ChunkHeader, Kind};

    use super::*;
    use crate::{cases::memory_for, container};

    #[test]
    fn damage_repeats_and_differs() {
        let pool = Pool::load().unwrap();
        let damaged = |seed, number| {
            let mut bytes = Vec::new();
            damage(&pool, &mut draw(seed, number), &mut bytes);
            bytes
        };
        assert_eq!(damaged(1, 2), damaged(1, 2));
        let all: BTreeSet<Vec<u8>> = (0..100).map(|number| damaged(1, number)).collect();
        assert!(all.len() > 95, "{}", all.len());
    }

    #[test]
    fn the_pool_has_every_kind_codec_and_filter() {
        let pool = Pool::load().unwrap();
        let headers: Vec<ChunkHeader> =
            (0..pool.len()).filter_map(|index| ChunkHeader::parse(pool.get(index)).ok()).collect();
        let count =
            |is: fn(&ChunkHeader) -> bool| headers.iter().filter(|header| is(header)).count();
        assert!(count(|header| header.kind() == Kind::Vl) > 5);
        assert!(count(|header| header.kind() == Kind::Memcpyed) > 5);
        assert!(count(ChunkHeader::has_dict) > 5);
        assert!(count(|header| header.special().is_some()) > 5);
        let codecs: BTreeSet<u8> = headers.iter().map(|header| header.codec_id().0).collect();
        assert!(
            [0, 1, 2, 3, 4, 5, 32, 33, 34, 35].iter().all(|id| codecs.contains(id)),
            "{codecs:?}"
        );
        let filters: BTreeSet<u8> =
            headers.iter().flat_map(|header| header.pipeline().ids()).collect();
        assert!([1, 2, 3, 4, 32, 33, 35].iter().all(|id| filters.contains(id)), "{filters:?}");
    }

    #[test]
    fn chunks_that_a_header_only_claims_need_little_memory() {
        use b2frame::rescue::{RescueOptions, Salvage};
        const NCHUNKS: u64 = 8_000_000;
        let params = b2frame::FrameParams::default().chunksize(512);
        let mut frame = b2frame::to_cframe(&container::data(2000, 1), &params).unwrap();
        frame[30..38].copy_from_slice(&(NCHUNKS * 512).to_be_bytes());
        // The index is cut off, too.
        frame.truncate(frame.len() - 140);
        let store = std::sync::Arc::new(blosc_io::MemStore::new(frame));
        let (options, rescue) = (b2frame::OpenOptions::default(), RescueOptions::default());
        let (saved, needed) = memory_for(|| Salvage::from_store(store, &options, &rescue));
        assert_eq!(saved.unwrap().chunks.len() as u64, NCHUNKS);
        // The allowance is a number and a state for each chunk.
        assert!(needed < 100 << 20, "{needed} bytes");
    }

    #[test]
    fn what_needs_too_much_memory_is_found() {
        let mut checker = Checker::new();
        let greedy = checker.within_memory(&[], || vec![0_u8; 2 << 20].len()).unwrap_err();
        assert!(greedy.to_string().contains("bytes of memory"), "{greedy}");
    }
}
