//! The sequences of a block: their codes, their tables, and their execution (RFC 8878, 3.1.1.3.2).

#![allow(clippy::cast_possible_truncation, reason = "each value is below its bound")]

use alloc::boxed::Box;

use super::{
    Result,
    bits::Backward,
    fault::{Fault, corrupt},
    fse::{Cell, Counts},
};
use crate::{
    Corrupt,
    lz::{
        copy_match,
        fast_decode::{Kernel, cold_path},
        sequence::{Copier, Sequence},
    },
};

/// Most states of a table.
const STATES: usize = 512;

/// Most bits of the next states of all three tables, of 57.
const MAX_STATE_BITS: u32 = 9 + 9 + 8;

/// A code for lengths of literals, lengths of matches or distances.
pub(super) struct Code {
    /// The base of each symbol, and the number of bits that are added to it.
    symbols: &'static [(u32, u8)],
    /// The highest accuracy of its tables.
    pub(super) max_log: u32,
    /// The counts of the table without counts in the frame.
    counts: &'static [i16],
    log: u32,
}

/// Lengths of literals.
pub(super) const LITERAL_LENGTHS: Code = Code {
    symbols: &lengths::<36>(
        0,
        16,
        &[1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    ),
    max_log: 9,
    counts: &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1,
        1, 1, -1, -1, -1, -1,
    ],
    log: 6,
};

/// Lengths of matches.
pub(super) const MATCH_LENGTHS: Code = Code {
    symbols: &lengths::<53>(
        3,
        32,
        &[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    ),
    max_log: 9,
    counts: &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
    log: 6,
};

/// Distances.
pub(super) const DISTANCES: Code = Code {
    symbols: &distances(),
    max_log: 8,
    counts: &[
        1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
    ],
    log: 5,
};

/// The symbols of lengths from `least` on: `nsingle` of one length each, then one for each of
/// `nbits`, the number of added bits.
const fn lengths<const N: usize>(least: u32, nsingle: usize, nbits: &[u8]) -> [(u32, u8); N] {
    let mut symbols = [(0, 0); N];
    let (mut n, mut length) = (0, least);
    while n < N {
        let added = if n < nsingle { 0 } else { nbits[n - nsingle] };
        symbols[n] = (length, added);
        length += 1 << added;
        n += 1;
    }
    symbols
}

const fn distances() -> [(u32, u8); 32] {
    let mut symbols = [(0, 0); 32];
    let mut n = 0;
    while n < 32 {
        symbols[n] = (1 << n, n as u8);
        n += 1;
    }
    symbols
}

impl Code {
    /// The largest symbol.
    pub(super) const fn max_symbol(&self) -> u8 {
        (self.symbols.len() - 1) as u8
    }
}

/// A state: its number, and the next state. Its fields are in one word, so that the states of three
/// tables fit the registers. From the lowest bit: 32 for `base`; 16 for the next state, without the
/// bits that are read for it; 8 for the number of bits that are added to `base`; 8 for the number
/// of bits that are read for the next state.
#[derive(Clone, Copy, Default)]
struct State(u64);

impl State {
    fn new(base: u32, added: u8, next: u16, nbits: u8) -> Self {
        let fields = u64::from(next) | u64::from(added) << 16 | u64::from(nbits) << 24;
        Self(fields << 32 | u64::from(base))
    }

    #[inline(always)]
    const fn base(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    const fn next(self) -> usize {
        (self.0 >> 32) as u16 as usize
    }

    #[inline(always)]
    const fn added(self) -> u32 {
        (self.0 >> 48) as u8 as u32
    }

    #[inline(always)]
    const fn nbits(self) -> u32 {
        (self.0 >> 56) as u32
    }
}

/// The table of one of the three codes.
#[derive(Clone)]
pub(super) struct Table {
    states: Box<[State; STATES]>,
    log: u32,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { states: Box::new([State::default(); STATES]), log: 0 }
    }

    /// The table for blocks without counts.
    pub(super) fn predefined(code: &Code) -> Self {
        let mut counts = Counts { counts: [0; 256], nsymbols: code.counts.len(), log: code.log };
        counts.counts[..code.counts.len()].copy_from_slice(code.counts);
        let mut table = Self::new();
        table.set(code, &counts);
        table
    }

    /// Makes the table of one symbol.
    pub(super) fn set_single(&mut self, code: &Code, symbol: u8, at: usize) -> Result<()> {
        let limit = code.max_symbol();
        let Some(&(base, added)) = code.symbols.get(usize::from(symbol)) else {
            return Err(Fault::Symbol { symbol, limit }.into_error(at));
        };
        self.log = 0;
        self.states[0] = State::new(base, added, 0, 0);
        Ok(())
    }

    /// Reads the counts of the table from `src[at..end]`; returns their end.
    pub(super) fn read(&mut self, code: &Code, src: &[u8], at: usize, end: usize) -> Result<usize> {
        let (counts, next) = Counts::read(src, at, end, code.max_symbol(), code.max_log)?;
        self.set(code, &counts);
        Ok(next)
    }

    fn set(&mut self, code: &Code, counts: &Counts) {
        self.log = counts.log;
        let states = &mut self.states;
        counts.build(|at, Cell { symbol, nbits, next }| {
            let (base, added) = code.symbols.get(usize::from(symbol)).copied().unwrap_or_default();
            states[at % STATES] = State::new(base, added, next, nbits);
        });
    }
}

/// The literals of a block: `bytes[at..end]`.
pub(super) struct Literals<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) end: usize,
}

/// The destination of a frame's content.
pub(super) struct Output<'a> {
    /// The decoded part of the frame, and space for the rest.
    pub(super) dest: &'a mut [u8],
    /// Length of the decoded part.
    pub(super) done: usize,
    /// The content of the dictionary, which precedes that of the frame.
    pub(super) dict: &'a [u8],
}

impl Output<'_> {
    /// The next `len` bytes.
    pub(super) fn next(&mut self, len: usize, at: usize) -> Result<&mut [u8]> {
        let (room, nbytes) = (self.dest.len(), self.done as u64 + len as u64);
        let to = self.dest.get_mut(self.done..).and_then(|rest| rest.get_mut(..len));
        let to = to.ok_or_else(|| corrupt(at, Corrupt::TooLong { nbytes, room }))?;
        self.done += len;
        Ok(to)
    }

    /// Copies the next `len` bytes.
    pub(super) fn copy(&mut self, bytes: &[u8], at: usize) -> Result<()> {
        self.next(bytes.len(), at)?.copy_from_slice(bytes);
        Ok(())
    }

    /// Copies a match of `len` bytes, which may begin in the dictionary.
    fn copy_match(&mut self, distance: usize, mut len: usize, at: usize) -> Result<()> {
        let available = self.dict.len() + self.done;
        if distance == 0 || distance > available {
            return Err(corrupt(at, Corrupt::Distance { distance, available }));
        }
        if distance > self.done {
            let from = available - distance;
            let n = len.min(self.dict.len() - from);
            self.copy(&self.dict[from..from + n], at)?;
            len -= n;
            if len == 0 {
                return Ok(());
            }
        }
        let to = self.done;
        self.next(len, at)?;
        copy_match(self.dest, to, distance, len);
        Ok(())
    }
}

/// The sequences of a block, which are decoded and executed one after another.
pub(super) struct Sequences<'a, 'b, 'c> {
    pub(super) nsequences: usize,
    pub(super) bits: Backward<'a>,
    pub(super) literal_lengths: &'a Table,
    pub(super) match_lengths: &'a Table,
    pub(super) distances: &'a Table,
    /// The last distances.
    pub(super) last: &'a mut [usize; 3],
    pub(super) literals: &'a mut Literals<'b>,
    pub(super) output: &'a mut Output<'c>,
    /// Start of the sequences, for errors.
    pub(super) at: usize,
}

impl Kernel for Sequences<'_, '_, '_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Self { nsequences, mut bits, last, literals, output, at, .. } = self;
        let literal_states = &*self.literal_lengths.states;
        let match_states = &*self.match_lengths.states;
        let distance_states = &*self.distances.states;
        let mut literal_state = bits.take(self.literal_lengths.log) as usize;
        let mut distance_state = bits.take(self.distances.log) as usize;
        let mut match_state = bits.take(self.match_lengths.log) as usize;
        let [mut first, mut second, mut third] = *last;
        let (mut from, mut done) = (literals.at, output.done);
        let dict = output.dict;
        let mut copier = Copier::new(literals.bytes, literals.end, output.dest);
        for left in (0..nsequences).rev() {
            bits.refill()?;
            let literal = literal_states[literal_state % STATES];
            let matched = match_states[match_state % STATES];
            let far = distance_states[distance_state % STATES];
            let value = far.base() as usize + bits.take(far.added()) as usize;
            let len = matched.base() + bits.take(matched.added()) as u32;
            if far.added() + matched.added() + literal.added() > 57 - MAX_STATE_BITS {
                cold_path();
                bits.refill()?;
            }
            let nliterals = literal.base() + bits.take(literal.added()) as u32;
            let distance = if far.added() > 1 {
                (first, second, third) = (value - 3, first, second);
                first
            } else {
                match value + usize::from(nliterals == 0) {
                    1 => {}
                    2 => (first, second) = (second, first),
                    3 => (first, second, third) = (third, first, second),
                    // A distance of 0 is refused below.
                    _ => (first, second, third) = (first - 1, first, second),
                }
                first
            };
            if left > 0 {
                literal_state = literal.next() + bits.take(literal.nbits()) as usize;
                match_state = matched.next() + bits.take(matched.nbits()) as usize;
                distance_state = far.next() + bits.take(far.nbits()) as usize;
            }
            if copier.copy(Sequence { nliterals, distance, len }, from, done) {
                from += nliterals as usize;
                done += nliterals as usize + len as usize;
            } else {
                let (bytes, dest) = copier.parts();
                let mut rest = Literals { bytes, at: from, end: literals.end };
                let mut output = Output { dest, done, dict };
                execute((nliterals, distance, len), &mut rest, &mut output, at)?;
                (from, done) = (rest.at, output.done);
            }
        }
        (literals.at, output.done) = (from, done);
        *last = [first, second, third];
        bits.check_end()
    }
}

/// Executes a sequence near the end of the literals or of the content, or one that needs the
/// dictionary, or a defective one.
#[cold]
fn execute(
    (nliterals, distance, len): (u32, usize, u32),
    literals: &mut Literals<'_>,
    output: &mut Output<'_>,
    at: usize,
) -> Result<()> {
    let (nliterals, have) = (nliterals as usize, literals.end - literals.at);
    let bytes = literals.bytes.get(literals.at..literals.at + nliterals);
    let bytes = bytes.filter(|_| nliterals <= have);
    let bytes = bytes.ok_or_else(|| Fault::Literals { need: nliterals, have }.into_error(at))?;
    output.copy(bytes, at)?;
    literals.at += nliterals;
    output.copy_match(distance, len as usize, at)
}
