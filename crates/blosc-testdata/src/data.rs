//! Bytes of several kinds, each a pure function of its [`Recipe`].
//!
//! The kinds stand for typical data: counters, slowly moving measurements, text, floating-point
//! grids, mostly-zero arrays, incompressible data, and a mixture that changes within a chunk.

/// A 32-bit xorshift generator: small, the same everywhere, and good enough for test data.
#[derive(Clone, Debug)]
pub struct XorShift32(u32);

impl XorShift32 {
    /// The seed of the sets in the benchmark [corpus](crate::corpus).
    pub const SEED: u32 = 0x9E37_79B9;

    /// A generator from `seed`; 0, which would give only zeros, counts as [`SEED`](Self::SEED).
    pub fn new(seed: u32) -> Self {
        Self(if seed == 0 { Self::SEED } else { seed })
    }

    /// The next number; the first is taken after one step.
    pub fn next_u32(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// The upper 16 bits of the next number, which are the better ones.
    pub fn next_hi(&mut self) -> u32 {
        self.next_u32() >> 16
    }

    /// A number in `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u64::from(self.next_u32()) << 32 | u64::from(self.next_u32());
        wide.checked_rem(bound).unwrap_or(0)
    }
}

impl Default for XorShift32 {
    fn default() -> Self {
        Self(Self::SEED)
    }
}

/// The kind of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// All bytes 0.
    Zeros,
    /// Items counting up from 0.
    Ramp,
    /// Items that move by -3..=3 from one to the next.
    Walk,
    /// Words and punctuation.
    Text,
    /// Bytes that no codec can compress.
    Noise,
    /// One byte in 32 is not 0.
    Sparse,
    /// Evenly spaced floating-point numbers: f32 for typesize 4, f64 for all others.
    Linspace,
    /// Stretches of the other kinds, one after another, 1..=8192 bytes each.
    Mixed,
}

impl Kind {
    /// Every kind, for loops over all of them.
    pub const ALL: [Self; 8] = [
        Self::Zeros,
        Self::Ramp,
        Self::Walk,
        Self::Text,
        Self::Noise,
        Self::Sparse,
        Self::Linspace,
        Self::Mixed,
    ];

    /// The name for benchmark ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ramp => "ramp",
            Self::Walk => "walk",
            Self::Text => "text",
            Self::Noise => "noise",
            Self::Sparse => "sparse",
            Self::Linspace => "linspace",
            Self::Mixed => "mixed",
        }
    }

    /// `nbytes` bytes of this kind with 4-byte items (8-byte ones for [`Linspace`](Self::Linspace))
    /// and the default seed.
    pub fn bytes(self, nbytes: usize) -> Vec<u8> {
        let typesize = if self == Self::Linspace { 8 } else { 4 };
        Recipe { kind: self, typesize, seed: XorShift32::SEED, nbytes }.bytes()
    }
}

/// All parameters of the bytes: equal recipes give equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// The kind of bytes.
    pub kind: Kind,
    /// The width of an item (bytes); 0 counts as 1. Text, noise and sparse data have no items.
    pub typesize: usize,
    /// The seed of the random numbers.
    pub seed: u32,
    /// The number of bytes; not necessarily whole items.
    pub nbytes: usize,
}

impl Recipe {
    /// The bytes, exactly `nbytes` of them.
    pub fn bytes(&self) -> Vec<u8> {
        let mut rng = XorShift32::new(self.seed);
        let mut out = Vec::with_capacity(self.nbytes + 64);
        self.fill(self.nbytes, &mut rng, &mut out);
        out
    }

    /// Appends `nbytes` bytes to `out`.
    fn fill(&self, nbytes: usize, rng: &mut XorShift32, out: &mut Vec<u8>) {
        let end = out.len() + nbytes;
        match self.kind {
            Kind::Zeros => {}
            Kind::Ramp => self.ramp(end, out),
            Kind::Walk => self.walk(end, rng, out),
            Kind::Text => text(end, rng, out),
            Kind::Noise => bytes_of(end, out, || low_byte(rng.next_hi())),
            Kind::Sparse => bytes_of(end, out, || sparse_byte(rng.next_u32())),
            Kind::Linspace => self.linspace(end, out),
            Kind::Mixed => self.mixed(end, rng, out),
        }
        out.resize(end, 0);
    }

    fn ramp(&self, end: usize, out: &mut Vec<u8>) {
        let mut item = 0;
        while out.len() < end {
            push_item(item, self.typesize, out);
            item += 1;
        }
    }

    fn walk(&self, end: usize, rng: &mut XorShift32, out: &mut Vec<u8>) {
        let mut item = 0;
        while out.len() < end {
            item += i128::from(rng.next_hi() % 7) - 3;
            push_item(item, self.typesize, out);
        }
    }

    fn linspace(&self, end: usize, out: &mut Vec<u8>) {
        let mut i = 0_u32;
        while out.len() < end {
            let x = f64::from(i) * 0.001;
            match self.typesize {
                4 => out.extend_from_slice(&narrow(x).to_le_bytes()),
                _ => out.extend_from_slice(&x.to_le_bytes()),
            }
            i += 1;
        }
    }

    fn mixed(&self, end: usize, rng: &mut XorShift32, out: &mut Vec<u8>) {
        const PARTS: [Kind; 7] = [
            Kind::Walk,
            Kind::Noise,
            Kind::Text,
            Kind::Zeros,
            Kind::Linspace,
            Kind::Sparse,
            Kind::Ramp,
        ];
        while out.len() < end {
            let pick = rng.next_hi() as usize % PARTS.len();
            let nbytes = (1 + rng.next_hi() as usize % 8192).min(end - out.len());
            Self { kind: PARTS[pick], ..*self }.fill(nbytes, rng, out);
        }
    }
}

/// Words with frequencies that fall off, as in prose.
fn text(end: usize, rng: &mut XorShift32, out: &mut Vec<u8>) {
    while out.len() < end {
        let (a, b) = (rng.next_hi() as usize, rng.next_hi() as usize);
        out.extend_from_slice(WORDS[(a % WORDS.len()).min(b % WORDS.len())]);
        out.push(match rng.next_hi() % 24 {
            0 => b'\n',
            1 | 2 => b',',
            _ => b' ',
        });
    }
}

/// Appends `byte()` until `out` holds `end` bytes.
fn bytes_of(end: usize, out: &mut Vec<u8>, byte: impl FnMut() -> u8) {
    let missing = end.saturating_sub(out.len());
    out.extend(core::iter::repeat_with(byte).take(missing));
}

/// `item` as a little-endian signed integer of `typesize` bytes; narrow ones lose the upper bytes.
fn push_item(item: i128, typesize: usize, out: &mut Vec<u8>) {
    let sign = if item < 0 { 0xFF } else { 0 };
    let bytes = item.to_le_bytes().into_iter().chain(core::iter::repeat(sign));
    out.extend(bytes.take(typesize.max(1)));
}

/// The lowest byte of `word`.
pub(crate) fn low_byte(word: u32) -> u8 {
    word.to_le_bytes()[0]
}

/// A byte that is 0 in 31 of 32 cases.
pub(crate) fn sparse_byte(word: u32) -> u8 {
    if word >> 27 == 0 { low_byte(word >> 16) } else { 0 }
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is wanted")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Frequent ones first.
const WORDS: [&[u8]; 48] = [
    b"the",
    b"of",
    b"and",
    b"to",
    b"in",
    b"a",
    b"is",
    b"that",
    b"for",
    b"it",
    b"as",
    b"was",
    b"with",
    b"be",
    b"by",
    b"on",
    b"not",
    b"he",
    b"his",
    b"but",
    b"at",
    b"are",
    b"this",
    b"have",
    b"from",
    b"or",
    b"had",
    b"an",
    b"they",
    b"which",
    b"one",
    b"you",
    b"were",
    b"all",
    b"her",
    b"she",
    b"there",
    b"would",
    b"their",
    b"temperature",
    b"pressure",
    b"station",
    b"height",
    b"measured",
    b"between",
    b"average",
    b"observed",
    b"instrument",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_length_asked_for_and_repeats() {
        for kind in Kind::ALL {
            for typesize in [0, 1, 2, 3, 4, 7, 8, 16, 17, 255] {
                for nbytes in [0, 1, 3, 255, 8193, 40_000] {
                    let recipe = Recipe { kind, typesize, seed: 7, nbytes };
                    let bytes = recipe.bytes();
                    assert_eq!(bytes.len(), nbytes, "{recipe:?}");
                    assert_eq!(bytes, recipe.bytes(), "{recipe:?}");
                }
            }
        }
    }

    #[test]
    fn seed_changes_the_random_kinds_only() {
        for kind in Kind::ALL {
            let of = |seed| Recipe { kind, typesize: 4, seed, nbytes: 4096 }.bytes();
            let fixed = matches!(kind, Kind::Zeros | Kind::Ramp | Kind::Linspace);
            assert_eq!(of(1) == of(2), fixed, "{kind:?}");
        }
    }

    #[test]
    fn items_are_little_endian_and_sign_extended() {
        let mut out = Vec::new();
        push_item(258, 3, &mut out);
        push_item(-2, 18, &mut out);
        assert_eq!(out[..3], [2, 1, 0]);
        assert_eq!(out[3], 0xFE);
        assert!(out[4..].iter().all(|&byte| byte == 0xFF));
    }

    #[test]
    fn below_stays_below() {
        let mut rng = XorShift32::new(0);
        assert_eq!(rng.below(0), 0);
        assert!((0..1000).all(|_| rng.below(13) < 13));
    }
}
