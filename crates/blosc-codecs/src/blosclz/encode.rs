//! Encoding: a greedy search over one hash table.

use core::{marker::PhantomData, ops::Range};

use super::{FAR_BASE, MAX_NEAR, MAX_RUN};
use crate::{
    Error, Level, StreamEncoder,
    lz::{
        Room, Stream as Places, Table, common_len, load32,
        wild::{Ground, Place},
    },
};

/// Farthest match that any encoder has written.
const MAX_DISTANCE: u32 = 73_724;
/// No match starts in the last bytes of the input.
const TAIL: usize = 12;
/// A match of this length is good enough to look no further.
const LONG: usize = 128;
/// Slots of the table.
const SLOTS: usize = 1 << BITS;
const BITS: u32 = 14;
/// Up to level 6, half of them, which the nearest cache holds.
const FAST_BITS: u32 = 13;
/// Below, the first of them are enough, which are soon in the nearest cache, and no distance is
/// far.
const SHORT: usize = 1 << 13;
const SHORT_BITS: u32 = 12;
/// In streams below this, planes of bits have some hundred bytes: a step as long as in others would
/// miss what they repeat.
const MEDIUM: usize = 1 << 15;
/// Bytes of a small item.
const ITEM: usize = 4;
/// All but the first byte of two of them, or of one large item.
const REST: usize = 2 * ITEM - 1;
/// Of the first eight bytes of such a rest, bits at the end that may differ: shorter ones seldom
/// save anything.
const ITEM_FREE: usize = 16;
/// So many small items that match nothing are passed over, if as many before them were found.
const MISSES: usize = 4;
/// What misses add up to before the step between probes grows by one.
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

    /// Compresses `src` to the start of `dest`; the length of the stream, or `None` when it does
    /// not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        match (self.effort > 6, src.len()) {
            (false, ..SHORT) => self.compress_with::<Fast<2, 8>, SHORT_BITS>(src, dest),
            (false, ..MEDIUM) => self.compress_with::<Fast<4, 8>, FAST_BITS>(src, dest),
            (false, _) => self.compress_with::<Usual, FAST_BITS>(src, dest),
            (true, ..SHORT) => self.compress_with::<Thorough<6>, SHORT_BITS>(src, dest),
            (true, _) => self.compress_with::<Thorough<0>, BITS>(src, dest),
        }
    }

    fn compress_with<C: Care, const BITS: u32>(
        &mut self,
        src: &[u8],
        dest: &mut [u8],
    ) -> Option<usize> {
        let places = self.table.start(src.len())?;
        let mut search = Search::<C, BITS>::new(src, places);
        let mut stream = Stream { out: Room::new(dest), src };
        let limit = src.len().saturating_sub(TAIL);
        if let Some(probe) = Probe::new(self.effort, src.len()) {
            search.run(limit.min(probe.enough), &mut stream)?;
            let cost = stream.out.len() + cost_of_literals(search.at - search.anchor);
            if !probe.pays_clearly(search.at, cost) && !search.pays(&probe) {
                match search.pays_further_on(&probe)? {
                    Effort::Hasty => return search.with_care::<Hasty>().finish(limit, stream),
                    Effort::AsBefore => {}
                }
            }
        }
        search.finish(limit, stream)
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

/// How hard to search, and the shortest matches that pay: a near one takes two bytes, a far one
/// four, and either may end a literal run.
trait Care {
    /// What a miss adds, of [`PATIENCE`].
    const GROWTH: usize;
    /// The longest step. Behind noise, what can be compressed again is found before it has ended,
    /// as in planes of bits.
    const MOST_STEP: usize;
    const NEAR: usize;
    const FAR: usize;
    /// A match of this length knows a context in which the next one may begin, such as a run.
    /// Shorter ones seldom do.
    const CONTEXT: usize;
    /// Whether what starts where a match ended is compared with what goes on from its last byte.
    const BOTH: bool;
    /// Of the first eight bytes of a match, bits at the end that may differ.
    const FREE: usize;

    fn allows(m: &Match) -> bool {
        m.len >= if m.distance > MAX_NEAR { Self::FAR } else { Self::NEAR }
    }
}

/// Up to level 6; shorter streams with shorter steps.
struct Fast<const GROWTH: usize, const MOST_STEP: usize>;

impl<const GROWTH: usize, const MOST_STEP: usize> Care for Fast<GROWTH, MOST_STEP> {
    const GROWTH: usize = GROWTH;
    const MOST_STEP: usize = MOST_STEP;
    const NEAR: usize = 6;
    const FAR: usize = 8;
    const CONTEXT: usize = 9;
    const BOTH: bool = false;
    const FREE: usize = 16;
}

/// Streams that are not short.
type Usual = Fast<4, 16>;

/// From level 7 on.
struct Thorough<const CONTEXT: usize>;

impl<const CONTEXT: usize> Care for Thorough<CONTEXT> {
    const GROWTH: usize = 2;
    const MOST_STEP: usize = 64;
    const NEAR: usize = 4;
    const FAR: usize = 7;
    const CONTEXT: usize = CONTEXT;
    const BOTH: bool = true;
    const FREE: usize = 32;
}

/// How to go on behind a start that does not pay.
enum Effort {
    Hasty,
    AsBefore,
}

/// Behind a start that does not pay. The original gives up there, so that this has little more time
/// than noise takes: all eight bytes have to agree, and steps soon get long.
struct Hasty;

impl Care for Hasty {
    const GROWTH: usize = 8;
    const MOST_STEP: usize = 64;
    const NEAR: usize = 8;
    const FAR: usize = 8;
    const CONTEXT: usize = 9;
    const BOTH: bool = false;
    const FREE: usize = 0;
}

/// A match: where it starts, how far back its bytes are, how many.
#[derive(Clone, Copy)]
struct Match {
    at: usize,
    distance: usize,
    len: usize,
}

struct Search<'a, C, const BITS: u32> {
    src: &'a [u8],
    places: Places<'a, SLOTS, BITS, MAX_DISTANCE>,
    care: PhantomData<C>,
    /// Where the pending literals start.
    anchor: usize,
    /// The next place to look at.
    at: usize,
    /// Grows with each miss; sets the step to the next place.
    probes: usize,
    /// Length of the last match.
    last: usize,
}

impl<'a, C: Care, const BITS: u32> Search<'a, C, BITS> {
    /// In short streams, nothing is too far away.
    const REACH: u32 = if BITS > SHORT_BITS { MAX_DISTANCE } else { u32::MAX };

    fn new(src: &'a [u8], places: Places<'a, SLOTS, BITS, MAX_DISTANCE>) -> Self {
        // The stream starts with a literal.
        Self { src, places, care: PhantomData, anchor: 0, at: 1, probes: PATIENCE, last: 0 }
    }

    /// Goes on as carefully as `D`.
    fn with_care<D: Care>(self) -> Search<'a, D, BITS> {
        let Self { src, places, anchor, at, probes, last, .. } = self;
        Search { src, places, care: PhantomData, anchor, at, probes, last }
    }

    /// The rest of the stream, whose length is returned.
    fn finish(mut self, limit: usize, mut stream: Stream<'_>) -> Option<usize> {
        self.run(limit, &mut stream)?;
        stream.literals(self.anchor, self.src.len())?;
        stream.finish()
    }

    /// Goes on until `limit` at least.
    ///
    /// Items have a loop of their own. It is not called from within the other one, whose registers
    /// the call would take.
    fn run(&mut self, limit: usize, stream: &mut Stream<'_>) -> Option<()> {
        while self.sequences(limit, stream)? {
            self.items(limit, stream)?;
        }
        Some(())
    }

    /// Goes on until `limit` at least, or to where items seem to begin; whether they do.
    fn sequences(&mut self, limit: usize, stream: &mut Stream<'_>) -> Option<bool> {
        while self.at < limit {
            let found = if self.at == self.anchor && self.last >= C::CONTEXT {
                self.find_after_match(limit)
            } else {
                self.scan(limit)
            };
            let Some(found) = found else {
                self.miss(C::GROWTH);
                continue;
            };
            let m = self.widen(found);
            if C::allows(&m) {
                stream.sequence(self.anchor, &m, BITS > SHORT_BITS)?;
                let is_item = m.at == found.at && m.at == self.anchor + 1 && m.len == REST;
                let is_second = is_item && self.last == REST;
                self.take(&m);
                if is_second {
                    return Some(true);
                }
            } else {
                self.miss(C::GROWTH);
            }
        }
        Some(false)
    }

    /// The next match of as many bytes as may pay. If there is none up to `limit`, the place is the
    /// last one before.
    ///
    /// Whether four bytes agree is hard to foretell in data where many do and few go on; whether
    /// six agree is not.
    #[inline(always)]
    fn scan(&mut self, limit: usize) -> Option<Match> {
        let ground = Ground::new(self.src, limit - 1)?;
        let mut here = ground.place(self.at)?;
        let mut probes = self.probes;
        let found = loop {
            let at = here.at();
            let next = ground.place(at + probes / PATIENCE);
            let found = self.candidate(here, C::FREE);
            if found.is_some() {
                break found;
            }
            let Some(next) = next else { break None };
            here = next;
            probes = (probes + C::GROWTH).min(C::MOST_STEP * PATIENCE);
        };
        let at = here.at();
        (self.at, self.probes) = (at, probes);
        let (earlier, differing) = found?;
        Some(self.measure(at, earlier, differing))
    }

    /// Goes on after a match.
    #[inline(always)]
    fn take(&mut self, m: &Match) {
        let end = m.at + m.len;
        (self.anchor, self.at, self.probes, self.last) = (end, end, PATIENCE, m.len);
    }

    /// Where items differ from earlier ones in their first byte alone, that is one literal and the
    /// rest of two items (or of a large one) again and again. Goes on from item to item until
    /// several in a row match nothing, or something else does. The search has just taken two
    /// such matches.
    ///
    /// No match starts with the literal; and as it is known by a branch, which is foretold, where
    /// the next one starts, the search there does not wait until this one is measured.
    #[inline(never)]
    fn items(&mut self, limit: usize, stream: &mut Stream<'_>) -> Option<()> {
        let Some(ground) = Ground::new(self.src, limit - 1) else { return Some(()) };
        let mut credit = 0;
        self.at += 1;
        while let Some(here) = ground.place(self.at) {
            let at = here.at();
            let Some((earlier, differing)) = self.candidate(here, ITEM_FREE) else {
                if credit == 0 {
                    break;
                }
                credit -= 1;
                self.at += ITEM;
                continue;
            };
            credit = MISSES.min(credit + 1);
            let is_rest = differing != 0 && differing << 8 == 0 && at == self.anchor + 1;
            if is_rest && stream.item(self.src, at, earlier) {
                self.anchor = at + REST;
            } else {
                let m = self.widen(self.measure(at, earlier, differing));
                if !C::allows(&m) {
                    break;
                }
                stream.sequence(self.anchor, &m, BITS > SHORT_BITS)?;
                self.take(&m);
                if ![REST, REST + ITEM].contains(&(self.anchor - at)) {
                    break;
                }
            }
            self.at = self.anchor + 1;
        }
        Some(())
    }

    /// Where these four bytes were last, or else the start, if it is within reach and of the first
    /// eight bytes at most `free` bits at the end differ; and in what they do.
    ///
    /// Whether the four bytes came before at all is as hard to foretell as whether more agree. So
    /// there is one branch for both, and where nothing is known the bytes are compared with
    /// those at the start.
    #[inline(always)]
    fn candidate(&mut self, here: Place<'_>, free: usize) -> Option<(usize, u64)> {
        let earlier = self.places.swap(hash(here.word()), here.at());
        let (earlier, word) = here.before(earlier, Self::REACH);
        let differing = word ^ here.word();
        let is_near = Self::REACH == u32::MAX || here.at() - earlier <= Self::REACH as usize;
        (differing << free == 0 && is_near).then_some((earlier, differing))
    }

    #[inline(always)]
    fn miss(&mut self, growth: usize) {
        self.at += self.probes / PATIENCE;
        self.probes += growth;
    }

    /// Whether the part that the probe names would be compressed enough.
    fn pays(&mut self, probe: &Probe) -> bool {
        // The original encoder leaves the last byte of each match, takes none below 6, and looks at
        // every place; only where skipping some leaves a doubt is that done here.
        let Range { start: enough, end: doubtful } = probe.bounds();
        let cost = self.cost::<Usual>(&probe.part, 1, 1, &(enough..doubtful));
        cost <= enough
            || cost <= doubtful.min(probe.part.len())
                && self.cost::<Usual>(&probe.part, 1, 0, &(enough..enough)) <= enough
    }

    /// How hard to search where the start does not pay, if there is a part further on where that is
    /// worth its time. It is where matches are long, or hardly any (something may still come
    /// behind), both of which take little; and where shorter ones save enough. It is not where
    /// many of them save little.
    fn pays_further_on(&mut self, probe: &Probe) -> Option<Effort> {
        let part = probe.further.as_ref()?;
        let (plain, cost) = (part.len(), self.cost::<Thorough<0>>(part, 0, 1, &(0..usize::MAX)));
        match plain * 100 / cost.max(1) {
            ..=98 | 300.. => Some(Effort::Hasty),
            140.. => Some(Effort::AsBefore),
            _ => None,
        }
    }

    /// How many bytes this part would take, if `less` bytes of each match are left and the step
    /// grows by `growth`. No further than it takes to know that this is up to the first of
    /// `bounds` or above the second.
    fn cost<P: Care>(
        &mut self,
        part: &Range<usize>,
        less: usize,
        growth: usize,
        bounds: &Range<usize>,
    ) -> usize {
        let start = part.start.max(1);
        let Some(ground) = Ground::new(self.src, part.end.saturating_sub(1)) else { return 0 };
        let (mut anchor, mut at, mut probes, mut cost) = (start, start + 1, PATIENCE, 0);
        // A shorter match never counts.
        let free = 64 - 8 * (P::NEAR + less);
        while let Some(here) = ground.place(at) {
            let found = self.candidate(here, free);
            let found = found.map(|(earlier, differing)| self.measure(at, earlier, differing));
            match found.map(|m| Match { len: m.len - less, ..m }).filter(|m| P::allows(m)) {
                Some(m) => {
                    cost += cost_of_literals(at - anchor) + cost_of_match(&m);
                    at += m.len;
                    (anchor, probes) = (at, PATIENCE);
                    let most = cost + cost_of_literals(part.end.saturating_sub(at));
                    if most <= bounds.start || cost > bounds.end {
                        return most;
                    }
                    // From where what comes next often goes on.
                    if let Some(before) = ground.place(at).and_then(|_| ground.place(at - 2)) {
                        self.places.note(hash(before.word()), at - 2);
                    }
                }
                None => {
                    at += probes / PATIENCE;
                    probes += growth;
                }
            }
        }
        cost + cost_of_literals(at.max(anchor) - anchor)
    }

    /// The match at `at` with `earlier`, of which the first eight bytes differ by so much.
    #[inline(always)]
    fn measure(&self, at: usize, earlier: usize, differing: u64) -> Match {
        // The stream ends with a literal.
        let len = match differing {
            0 => 8 + common_len(self.src, earlier + 8, at + 8, self.src.len() - 1),
            _ => differing.trailing_zeros() as usize / 8,
        };
        Match { at, distance: at - earlier, len }
    }

    /// Where a match ended, what goes on from its last byte may be longer than what starts here: it
    /// knows the context, such as the end of a run.
    #[inline(always)]
    fn find_after_match(&mut self, limit: usize) -> Option<Match> {
        let at = self.at;
        if !C::BOTH {
            // Where what comes next goes on, once this comes again.
            self.places.note(hash(load32(self.src, at - 3).into()), at - 3);
            let across = Ground::new(self.src, at - 1)?.place(at - 1)?;
            // All eight bytes have to agree: a match that ends among them is one more branch.
            let across = self.places.replace(hash(across.word()), at - 1).and_then(|earlier| {
                (across.word_at(earlier) == across.word()).then(|| self.measure(at - 1, earlier, 0))
            });
            let across = across.map(|m| Match { at, len: m.len - 1, ..m });
            return across.filter(C::allows).or_else(|| self.scan(limit));
        }
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
        let earlier = self.places.replace(hash(word.into()), at)?;
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

/// Of the first four bytes.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "these four are what is wanted")]
fn hash(word: u64) -> u32 {
    (word as u32).wrapping_mul(2_654_435_761)
}

/// Data that is hard to compress is left alone, at low levels sooner. If the start does not pay, a
/// part decides, the same one that the original encoder looks at. From level 7 on, that is the
/// start, which says little of planes of bytes one after another: the half of the others is looked
/// at as well.
struct Probe {
    /// The start is judged by so many bytes.
    enough: usize,
    part: Range<usize>,
    further: Option<Range<usize>>,
    /// Plain bytes that a hundred compressed bytes must stand for.
    percent: usize,
}

impl Probe {
    /// `None` at high levels for streams so short that nothing is lost by trying.
    fn new(effort: u8, len: usize) -> Option<Self> {
        let (start, percent, most) = match effort {
            1 => (len - len / 8, 200, 1 << 12),
            2 => (len - len / 4, 150, 1 << 13),
            3 => (len - len / 4, 120, 1 << 14),
            4..=6 => (len - len / 2, 120, 1 << 14),
            _ if len < 1 << 13 => return None,
            7 => (0, 115, 1 << 14),
            8 => (0, 110, 1 << 14),
            _ => (0, 100, 1 << 14),
        };
        let part = |start: usize, most: usize| start..(start + most).min(len.saturating_sub(TAIL));
        let further = (effort > 6).then(|| part(len / 2, 1 << 11));
        Some(Self { enough: (len / 64).min(256), part: part(start, most), further, percent })
    }

    /// What the part may take to pay, and what leaves a doubt.
    fn bounds(&self) -> Range<usize> {
        let enough = self.part.len() * 100 / self.percent;
        enough..enough * 10 / 9
    }

    /// Whether what was seen is so easy to compress that the rest hardly matters.
    fn pays_clearly(&self, plain: usize, cost: usize) -> bool {
        plain * 100 >= cost * 2 * self.percent
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
    /// The literals from `anchor` on, then a match.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "each value is below its field's bound")]
    fn sequence(&mut self, anchor: usize, m: &Match, may_be_far: bool) -> Option<()> {
        let nliterals = m.at - anchor;
        let is_usual = nliterals <= MAX_RUN && m.len < 9 + 255;
        let (true, Some(run), Some(out)) =
            (is_usual, self.src.get(anchor..anchor + MAX_RUN), self.out.next::<40>())
        else {
            self.literals(anchor, m.at)?;
            return self.repeat(m.distance, m.len);
        };
        // Without a loop, and without a branch: neither lengths nor distances can be foretold.
        let (is_far, is_long) = (may_be_far && m.distance > MAX_NEAR, m.len >= 9);
        out[0] = (nliterals as u8).wrapping_sub(1);
        out[1..=MAX_RUN].copy_from_slice(run);
        let at = nliterals + usize::from(nliterals > 0);
        let (high, low) =
            if is_far { (31, u8::MAX) } else { ((m.distance - 1) >> 8, (m.distance - 1) as u8) };
        let code = if is_long { 7 } else { m.len - 2 };
        out[at] = (code << 5 | high) as u8;
        out[at + 1] = m.len.wrapping_sub(9) as u8;
        let end = at + 1 + usize::from(is_long);
        out[end] = low;
        if may_be_far {
            out[end + 1..end + 3]
                .copy_from_slice(&(m.distance.wrapping_sub(FAR_BASE) as u16).to_be_bytes());
        }
        self.out.skip(end + 1 + 2 * usize::from(is_far));
        Some(())
    }

    /// The literal before `at`, then a match of [`REST`] bytes with `earlier`, or of one more if
    /// the literal is the same as well; in one word. `false` where that does not do.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "each value is below its field's bound")]
    fn item(&mut self, src: &[u8], at: usize, earlier: usize) -> bool {
        let distance = at - earlier;
        let (1.., ..=MAX_NEAR, Some(out)) = (earlier, distance, self.out.next::<4>()) else {
            return false;
        };
        let literal = src[at - 1];
        let more = usize::from(literal == src[earlier - 1]);
        let control = (REST - 2 + more) << 5 | (distance - 1) >> 8;
        let sequence = u32::from_le_bytes([0, literal, control as u8, (distance - 1) as u8]);
        *out = (sequence >> (16 * more)).to_le_bytes();
        self.out.skip(4 - 2 * more);
        true
    }

    fn literals(&mut self, from: usize, to: usize) -> Option<()> {
        // What does not fit is not begun: noise is one long run.
        if to - from > LONG && cost_of_literals(to - from) > self.out.left() {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use blosc_testdata::data::Kind;

    use super::*;

    #[test]
    fn a_cost_that_is_cut_short_is_on_the_right_side() {
        let mut cut_short = 0;
        for kind in Kind::ALL {
            let src = kind.bytes(20_000);
            for (part, percent) in [(0..4096, 100), (10_000..18_192, 120), (17_500..19_988, 200)] {
                let probe = Probe { enough: 0, part, further: None, percent };
                let cost = |bounds: &Range<usize>| {
                    let mut table = Table::new();
                    let places = table.start(src.len()).unwrap();
                    Search::<Usual, FAST_BITS>::new(&src, places).cost::<Usual>(
                        &probe.part,
                        1,
                        1,
                        bounds,
                    )
                };
                let Range { start: enough, end: doubtful } = probe.bounds();
                let (all, bounded) = (cost(&(0..usize::MAX)), cost(&(enough..doubtful)));
                assert_eq!(all <= enough, bounded <= enough, "{kind:?}: {all}, {bounded}");
                assert_eq!(all <= doubtful, bounded <= doubtful, "{kind:?}: {all}, {bounded}");
                cut_short += usize::from(all != bounded);
            }
        }
        assert!(cut_short > 0);
    }
}
