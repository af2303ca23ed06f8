//! The vector instructions that the codecs may use: detected once, then passed as a value.
//!
//! The output never depends on them. Libraries (zlib, Zstandard, Snappy) choose their instructions
//! themselves; this value does not affect them.

/// A set of vector instructions of this machine.
///
/// A value exists only for detected instructions, so it proves that they may be used.
///
/// ```
/// use blosc_codecs::Simd;
///
/// assert_eq!(Simd::detect().limited_to("none"), Simd::none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simd(SimdLevel);

/// The instructions that a [`Simd`] allows; each level includes those before it.
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
    /// The best instructions of the machine. Cheap: the answer of the processor is cached.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().last().unwrap_or(Self::none())
    }

    /// Portable code only.
    #[must_use]
    pub const fn none() -> Self {
        Self(SimdLevel::None)
    }

    /// This set, limited to the level of this name: `none`, `sse2`, `avx2` or `avx512`. No codec
    /// uses others (for example `neon`), so any other name means `none`.
    #[must_use]
    pub fn limited_to(self, name: &str) -> Self {
        let limit = LEVELS.into_iter().find(|(_, known)| *known == name);
        Self(self.0.min(limit.map_or(SimdLevel::None, |(level, _)| level)))
    }

    /// All levels of the machine, worst first.
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

/// The levels, worst first, with their names in `--simd` of the command line.
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
