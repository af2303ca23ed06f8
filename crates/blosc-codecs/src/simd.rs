//! Which vector instructions the codecs may use: found once, then passed on as a value.
//!
//! The bytes that come out never depend on it. Libraries (zlib, Zstandard, Snappy) choose their
//! instructions themselves; no value of ours reaches them.

/// A set of vector instructions that this machine has.
///
/// A value can be made only for instructions that were found, so holding one is the proof that they
/// may be used.
///
/// ```
/// use blosc_codecs::Simd;
///
/// assert_eq!(Simd::detect().limited_to("none"), Simd::none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simd(SimdLevel);

/// What a [`Simd`] allows; each level includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum SimdLevel {
    /// Portable code.
    None,
    /// SSE2.
    Sse2,
    /// AVX2, BMI1 and BMI2.
    Avx2,
    /// AVX-512 F and BW.
    Avx512,
}

impl Simd {
    /// The best that the machine has. Cheap: the answer of the processor is remembered.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().last().unwrap_or(Self::none())
    }

    /// Portable code only.
    #[must_use]
    pub const fn none() -> Self {
        Self(SimdLevel::None)
    }

    /// This set without what goes beyond the instructions of this name: `none`, `sse2`, `avx2` or
    /// `avx512`. No codec uses others (such as `neon`), so any other name stands for none.
    #[must_use]
    pub fn limited_to(self, name: &str) -> Self {
        let limit = LEVELS.into_iter().find(|(_, known)| *known == name);
        Self(self.0.min(limit.map_or(SimdLevel::None, |(level, _)| level)))
    }

    /// All that the machine has, worst first.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        LEVELS.into_iter().filter(|(level, _)| is_detected(*level)).map(|(level, _)| Self(level))
    }

    pub(crate) const fn level(self) -> SimdLevel {
        self.0
    }
}

impl Default for Simd {
    fn default() -> Self {
        Self::detect()
    }
}

/// Whether the processor has all these features.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt),+) => {
        [$({
            #[cfg(feature = "std")]
            let found = std::is_x86_feature_detected!($feature);
            #[cfg(not(feature = "std"))]
            let found = cfg!(target_feature = $feature);
            found
        }),+]
        .into_iter()
        .all(|found| found)
    };
}

#[cfg(target_arch = "x86_64")]
fn is_detected(level: SimdLevel) -> bool {
    match level {
        SimdLevel::None => true,
        SimdLevel::Sse2 => has!("sse2"),
        SimdLevel::Avx2 => has!("avx2", "bmi1", "bmi2"),
        SimdLevel::Avx512 => has!("avx2", "bmi1", "bmi2", "avx512f", "avx512bw"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn is_detected(level: SimdLevel) -> bool {
    level == SimdLevel::None
}

/// Worst first, by the names that `--simd` of the command line has.
const LEVELS: [(SimdLevel, &str); 4] = [
    (SimdLevel::None, "none"),
    (SimdLevel::Sse2, "sse2"),
    (SimdLevel::Avx2, "avx2"),
    (SimdLevel::Avx512, "avx512"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limited_to_never_adds_instructions() {
        for simd in Simd::available() {
            for (level, name) in LEVELS {
                assert_eq!(simd.limited_to(name).level(), simd.level().min(level));
            }
            assert_eq!(simd.limited_to("neon"), Simd::none());
        }
    }

    #[test]
    fn detect_is_the_best_available_set() {
        assert!(Simd::available().all(|simd| simd.level() <= Simd::detect().level()));
        assert_eq!(Simd::available().next(), Some(Simd::none()));
    }
}
