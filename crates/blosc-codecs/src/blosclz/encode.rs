//! Encoding: a greedy search over one hash table.

use core::ops::Range;

use super::{FAR_BASE, MAX_NEAR, MAX_RUN};
use crate::{
    BlockEncoder, Error, Level,
    lz::{Room, Stream as Places, Table, common_len, load32},
};

/// Farthest match that any encoder has written.
const MAX_DISTANCE: u32 = 73_724;
/// No match starts in the last bytes of the input.
const TAIL: usize = 12;
/// A match of this length is good enough to look no further.
const LONG: usize = 128;
/// Slots of the table.
const SLOTS: usize = 1 << 14;
/// Misses after which the step between probes grows by one.
const PATIENCE: usize = 64;

/// Compresses streams; keeps its table between them.
pub struct Encoder {
    table: Table<SLOTS>,
    effort: u8,
}

impl Encoder {
    /// An encoder of this effort.
    pub fn new(level: Level) -> Self {
        Self { table: Table::new(), effort: level.effort() }
    }

    /// Compresses `src` to the start of `dest`; the length of the stream, or `None` when it does not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        let places = self.table.start(src.len(), MAX_DISTANCE)?;
        let mut search = Search::new(src, places, Shortest::new(self.effort));
        let mut stream = Stream { out: Room::new(dest), src };
        let limit = src.len().saturating_sub(TAIL);
        if let Some(probe) = Probe::new(self.effort, src.len()) {
            search.run(limit.min(probe.enough), &mut stream)?;
            let cost = stream.out.len() + cost_of_literals(search.at - search.anchor);
            if !probe.pays_clearly(search.at, cost) && !search.probe(&probe) {
                return None;
            }
        }
        search.run(limit, &mut stream)?;
        stream.literals(search.anchor, src.len())?;
        stream.finish()
    }
}

impl BlockEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }
}

/// The shortest matches that pay: a near one takes two bytes, a far one four, and either may end a literal run.
struct Shortest {
    near: usize,
    far: usize,
    /// A match of this length knows a context in which the next one may begin, such as a run. Shorter ones seldom do.
    context: usize,
}

impl Shortest {
    fn new(effort: u8) -> Self {
        match effort {
            ..=6 => Self { near: 6, far: 8, context: 9 },
            _ => Self { near: 4, far: 7, context: 0 },
        }
    }

    fn allows(&self, m: &Match) -> bool {
        m.len >= if m.distance > MAX_NEAR { self.far } else { self.near }
    }
}

/// A match: where it starts, how far back its bytes are, how many.
#[derive(Clone, Copy)]
struct Match {
    at: usize,
    distance: usize,
    len: usize,
}

struct Search<'a> {
    src: &'a [u8],
    places: Places<'a, SLOTS>,
    min: Shortest,
    /// Where the pending literals start.
    anchor: usize,
    /// The next place to look at.
    at: usize,
    /// Grows with each miss; sets the step to the next place.
    probes: usize,
    /// Length of the last match.
    last: usize,
}

impl<'a> Search<'a> {
    fn new(src: &'a [u8], places: Places<'a, SLOTS>, min: Shortest) -> Self {
        // The stream starts with a literal.
        Self { src, places, min, anchor: 0, at: 1, probes: PATIENCE, last: 0 }
    }

    /// Goes on until `limit` at least.
    fn run(&mut self, limit: usize, stream: &mut Stream<'_>) -> Option<()> {
        while self.at < limit {
            match self.next() {
                Some(m) => {
                    stream.literals(self.anchor, m.at)?;
                    stream.repeat(m.distance, m.len)?;
                    self.take(&m);
                }
                None => self.miss(),
            }
        }
        Some(())
    }

    #[inline(always)]
    fn take(&mut self, m: &Match) {
        self.probes = PATIENCE;
        self.anchor = m.at + m.len;
        self.last = m.len;
        self.at = self.anchor;
    }

    #[inline(always)]
    fn miss(&mut self) {
        self.at += self.probes / PATIENCE;
        self.probes += 1;
    }

    /// A match worth taking around the current place.
    #[inline(always)]
    fn next(&mut self) -> Option<Match> {
        let found = if self.at == self.anchor && self.last >= self.min.context {
            self.find_after_match(self.at)
        } else {
            self.find(self.at)
        };
        let m = self.widen(found?);
        self.min.allows(&m).then_some(m)
    }

    /// Whether the bytes that the probe names would be compressed enough. Counts as the original encoder does, which
    /// leaves the last byte of each match: the same data is to be given up.
    fn probe(&mut self, probe: &Probe) -> bool {
        let (anchor, at, probes) = (self.anchor, self.at, self.probes);
        let start = probe.region.start.max(1);
        (self.anchor, self.at, self.probes) = (start, start + 1, PATIENCE);
        let mut cost = 0;
        while self.at < probe.region.end {
            match self.find(self.at).map(|m| Match { len: m.len - 1, ..m }).filter(|m| self.min.allows(m)) {
                Some(m) => {
                    cost += cost_of_literals(m.at - self.anchor) + cost_of_match(&m);
                    self.take(&m);
                }
                None => self.miss(),
            }
        }
        let pays =
            probe.pays(self.at - start, cost + cost_of_literals(self.at.max(self.anchor) - self.anchor));
        (self.anchor, self.at, self.probes) = (anchor, at, probes);
        pays
    }

    /// Where a match ended, what goes on from its last byte may be longer than what starts here: it knows the
    /// context, such as the end of a run.
    fn find_after_match(&mut self, at: usize) -> Option<Match> {
        let across = self.find(at - 1).map(|m| Match { at, len: m.len - 1, ..m });
        match across {
            Some(across) if across.len >= LONG => Some(across),
            Some(across) => self.find(at).filter(|here| here.len >= across.len).or(Some(across)),
            None => self.find(at),
        }
    }

    #[inline(always)]
    fn find(&mut self, at: usize) -> Option<Match> {
        let word = load32(self.src, at);
        let earlier = self.places.replace(word.wrapping_mul(2_654_435_761), at)?;
        if load32(self.src, earlier) != word {
            return None;
        }
        // The stream ends with a literal.
        let len = 4 + common_len(self.src, earlier + 4, at + 4, self.src.len() - 1);
        Some(Match { at, distance: at - earlier, len })
    }

    /// Lets a match begin earlier where the bytes agree.
    #[inline(always)]
    fn widen(&self, mut m: Match) -> Match {
        let start = (self.anchor + 1).max(2).max(m.distance + 1);
        while m.at >= start && self.src[m.at - 1] == self.src[m.at - m.distance - 1] {
            m.at -= 1;
            m.len += 1;
        }
        m
    }
}

/// Low levels leave data alone that is hard to compress: they exist to be fast. If the start does not pay, a part
/// further on decides, the same one that the original encoder looks at.
struct Probe {
    /// The start is judged by so many bytes.
    enough: usize,
    region: Range<usize>,
    /// Plain bytes that a hundred compressed bytes must stand for.
    percent: usize,
}

impl Probe {
    /// `None` at levels that compress whatever they can.
    fn new(effort: u8, len: usize) -> Option<Self> {
        let (share, percent, most) = match effort {
            1 => (8, 200, 1 << 12),
            2 => (4, 150, 1 << 13),
            3 => (4, 120, 1 << 14),
            4..=6 => (2, 120, 1 << 14),
            _ => return None,
        };
        let start = len - len / share;
        let end = (start + most).min(len.saturating_sub(TAIL));
        Some(Self { enough: (len / 8).min(2048), region: start..end, percent })
    }

    /// Whether what was seen is so easy to compress that the rest hardly matters.
    fn pays_clearly(&self, plain: usize, cost: usize) -> bool {
        plain >= cost * 2 && self.pays(plain, cost)
    }

    fn pays(&self, plain: usize, cost: usize) -> bool {
        plain * 100 >= cost * self.percent
    }
}

fn cost_of_literals(n: usize) -> usize {
    n + n.div_ceil(MAX_RUN)
}

fn cost_of_match(m: &Match) -> usize {
    let far = if m.distance > MAX_NEAR { 2 } else { 0 };
    2 + far + (m.len + 255 - 9) / 255
}

/// The instructions written so far.
struct Stream<'a> {
    src: &'a [u8],
    out: Room<'a>,
}

impl Stream<'_> {
    fn literals(&mut self, from: usize, to: usize) -> Option<()> {
        let mut at = from;
        while at < to {
            let len = MAX_RUN.min(to - at);
            #[allow(clippy::cast_possible_truncation, reason = "a run has 1 to 32 bytes")]
            self.out.byte(len as u8 - 1)?;
            self.out.short(self.src, at, len)?;
            at += len;
        }
        Some(())
    }

    #[allow(clippy::cast_possible_truncation, reason = "each value is below its field's bound")]
    fn repeat(&mut self, distance: usize, len: usize) -> Option<()> {
        let (high, low) = match distance {
            ..=MAX_NEAR => ((distance - 1) >> 8, (distance - 1) as u8),
            _ => (31, u8::MAX),
        };
        if len < 9 {
            self.out.byte((((len - 2) << 5) | high) as u8)?;
        } else {
            self.out.byte((7 << 5 | high) as u8)?;
            let mut rest = len - 9;
            while rest >= 255 {
                self.out.byte(255)?;
                rest -= 255;
            }
            self.out.byte(rest as u8)?;
        }
        self.out.byte(low)?;
        if distance > MAX_NEAR {
            self.out.bytes(&((distance - FAR_BASE) as u16).to_be_bytes())?;
        }
        Some(())
    }

    fn finish(mut self) -> Option<usize> {
        // The mark of the first control byte.
        *self.out.written().first_mut()? |= 0x20;
        Some(self.out.len())
    }
}
