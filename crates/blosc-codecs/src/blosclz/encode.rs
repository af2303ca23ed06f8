//! Encoding: greedy parsing over one hash table, with skip acceleration and an entropy probe.
//!
//! The search is of the LZ77 kind that LZ4 and FastLZ use:
//!
//! * *Hash table, one candidate.* Four bytes are hashed; each slot holds the last position with
//!   that hash. Chains do not exist: the candidate matches, or there is no match.
//! * *Greedy parsing.* The first match that pays is taken. It is first extended backwards over
//!   pending literals (`extend_back`). At high levels the position after a match is tried in two
//!   ways: as the start of a new match, and as the continuation of one that begins a byte earlier.
//! * *Skip acceleration.* Each miss adds to a counter, and the step to the next probe is the
//!   counter divided by [`SKIP_TRIGGER`]. Incompressible data is soon crossed in steps of
//!   [`SearchParams::max_step`] bytes.
//! * *No unpredictable branch per probe.* It is equally hard to predict whether a word is known and
//!   whether it agrees, so one test covers both: an unknown word is compared with the start of the
//!   stream.
//! * *A loop for items.* Data such as a random walk of integers alternates one literal and a match
//!   of seven bytes; after two of those in a row, `Search::run_items` continues from item to item.
//! * *Compression probe.* The start of a stream (256 bytes) is compressed. If that is no clear
//!   gain, a part of the stream is counted without writing it. If the part would shrink too little
//!   for the level, the stream is given up (`probe`), as in C-Blosc2. At levels 7 to 9 a second
//!   part may save it; the rest is then searched in the cheapest way.
//!
//! All tuned numbers are here: [`SearchParams`], with one row of `strategies!` per level and length
//! of the stream. `docs/performance/blosclz.md` has the reasons, and the attempts that failed.

use super::{
    probe::{Outlook, Probe},
    search::{MAX_DISTANCE, SLOTS, Search},
    writer::{Writer, literals_cost},
};
use crate::{
    Error, Level, Simd, StreamEncoder,
    lz::{hash_table::HashTable, output::OutputBuffer},
};

/// No match starts in the last bytes of the input.
pub(super) const TAIL_NBYTES: usize = 12;
/// Bits of a hash from level 7 on: all slots.
pub(super) const HASH_BITS: u32 = SLOTS.trailing_zeros();
/// Bits of a hash up to level 6: half of the slots, which the first-level cache holds.
pub(super) const FAST_HASH_BITS: u32 = 13;
/// Bits of a hash in streams below [`SHORT_NBYTES`]: only the first slots, which are soon in the
/// first-level cache. All distances are near there.
pub(super) const SHORT_HASH_BITS: u32 = 12;
/// Streams below this (bytes) are short.
const SHORT_NBYTES: usize = 1 << 13;
/// In streams below this (bytes), bit planes have some hundred bytes: the steps of longer streams
/// would skip the repetitions of the planes.
const MEDIUM_NBYTES: usize = 1 << 15;

/// The unit of the skip counter: the step between probes is the counter divided by this.
pub(super) const SKIP_TRIGGER: usize = 64;

/// The effort of the search, and the shortest matches that pay: a near match takes two bytes, a far
/// one four, and either may end a literal run.
#[derive(Clone, Copy)]
pub(super) struct SearchParams {
    /// Amount that a miss adds to the skip counter, of [`SKIP_TRIGGER`].
    pub(super) skip_acceleration: usize,
    /// The longest step between probes (bytes).
    pub(super) max_step: usize,
    /// The shortest match within [`MAX_NEAR`](super::MAX_NEAR) that pays (bytes).
    pub(super) min_near_len: usize,
    /// The shortest other match that pays (bytes).
    pub(super) min_far_len: usize,
    /// After a match of this length (bytes), the continuation from its last byte is tried: it knows
    /// the context, such as the end of a run. After shorter ones that seldom helps.
    pub(super) min_context_len: usize,
    /// Whether that continuation is compared with the match that starts right after this one.
    pub(super) compares_both: bool,
    /// Bits at the end of the first eight bytes of a match that may differ.
    pub(super) ignored_bits: usize,
}

/// The parameters of a search as constants: as numbers in memory they cost a fifth of the speed.
pub(super) trait Strategy {
    const PARAMS: SearchParams;
}

/// Up to level 6.
const fn fast(skip_acceleration: usize, max_step: usize) -> SearchParams {
    SearchParams {
        skip_acceleration,
        max_step,
        min_near_len: 6,
        min_far_len: 8,
        min_context_len: 9,
        compares_both: false,
        ignored_bits: 16,
    }
}

/// From level 7 on.
const fn thorough(min_context_len: usize) -> SearchParams {
    SearchParams {
        skip_acceleration: 2,
        max_step: 64,
        min_near_len: 4,
        min_far_len: 7,
        min_context_len,
        compares_both: true,
        ignored_bits: 32,
    }
}

/// Declares one type for each row of the table of parameters.
macro_rules! strategies {
    ($($(#[$doc:meta])* $name:ident = $params:expr;)+) => {
        $($(#[$doc])* pub(super) struct $name;
        impl Strategy for $name {
            const PARAMS: SearchParams = $params;
        })+
    };
}

strategies! {
    /// Up to level 6, streams below [`SHORT_NBYTES`].
    FastShort = fast(2, 8);
    /// Up to level 6, streams below [`MEDIUM_NBYTES`].
    FastMedium = fast(4, 8);
    /// Up to level 6, other streams. Matches after incompressible data are found soon enough with
    /// steps up to 16 bytes, as in bit planes.
    Fast = fast(4, 16);
    /// From level 7 on, streams below [`SHORT_NBYTES`].
    ThoroughShort = thorough(6);
    /// From level 7 on, other streams.
    Thorough = thorough(0);
    /// After a start that does not pay, where C-Blosc2 gives up: hardly slower than storing the
    /// stream, since all eight bytes have to agree and steps soon get long.
    Sparse = SearchParams {
        skip_acceleration: 8,
        max_step: 64,
        min_near_len: 8,
        min_far_len: 8,
        min_context_len: 9,
        compares_both: false,
        ignored_bits: 0,
    };
}

/// Compresses streams; keeps its table between them.
pub(super) struct Encoder {
    table: HashTable<SLOTS>,
    clevel: u8,
    simd: Simd,
}

impl Encoder {
    /// An encoder of this level.
    pub(super) fn new(clevel: Level, simd: Simd) -> Self {
        Self { table: HashTable::new(), clevel: clevel.effective(), simd }
    }

    /// Compresses `src` to the start of `dest`; returns the length of the stream, or `None` if the
    /// stream does not fit.
    fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        match (self.clevel > 6, src.len()) {
            (false, ..SHORT_NBYTES) => self.search::<FastShort, SHORT_HASH_BITS>(src, dest),
            (false, ..MEDIUM_NBYTES) => self.search::<FastMedium, FAST_HASH_BITS>(src, dest),
            (false, _) => self.search::<Fast, FAST_HASH_BITS>(src, dest),
            (true, ..SHORT_NBYTES) => self.search::<ThoroughShort, SHORT_HASH_BITS>(src, dest),
            (true, _) => self.search::<Thorough, HASH_BITS>(src, dest),
        }
    }

    fn search<S: Strategy, const BITS: u32>(
        &mut self,
        src: &[u8],
        dest: &mut [u8],
    ) -> Option<usize> {
        let table = self.table.start::<BITS, MAX_DISTANCE>(src.len())?;
        let mut search = Search::<S, BITS>::new(src, table, self.simd);
        let mut writer = Writer { src, out: OutputBuffer::new(dest) };
        let limit = src.len().saturating_sub(TAIL_NBYTES);
        if let Some(probe) = Probe::new(self.clevel, src.len()) {
            search.run(limit.min(probe.start_nbytes), &mut writer)?;
            let cost = writer.out.len() + literals_cost(search.at - search.anchor);
            if !probe.pays_clearly(search.at, cost) && !search.part_pays(&probe) {
                match search.second_part_outlook(&probe)? {
                    Outlook::Sparse => {
                        return search.with_strategy::<Sparse>().finish(limit, writer);
                    }
                    Outlook::Good => {}
                }
            }
        }
        search.finish(limit, writer)
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }

    fn depends_on_room(&self) -> bool {
        false
    }
}
