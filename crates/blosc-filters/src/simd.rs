//! The vector instructions of the kernels: detected once, then passed as a value.

use core::fmt;

use crate::processor::Tuning;
use crate::{Error, Result};

/// A set of vector instructions of this machine.
///
/// A value exists only for detected instructions, so it proves that they may be used.
///
/// ```
/// use blosc_filters::Simd;
/// assert_eq!(Simd::parse("auto")?.name(), Simd::detect().name());
/// assert_eq!(Simd::none().name(), "none");
/// # Ok::<(), blosc_filters::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Simd(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Portable code.
    None,
    /// SSE2.
    Sse2,
    /// AVX2.
    Avx2,
    /// AVX-512 F, BW, VL and VBMI, and GFNI: Ice Lake, Zen 4 and later.
    Avx512,
    /// NEON.
    Neon,
    /// SIMD128 of WebAssembly.
    Simd128,
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
        Self(Level::None)
    }

    /// `auto`, `none`, `sse2`, `avx2`, `avx512`, `neon` or `simd128`.
    ///
    /// # Errors
    ///
    /// [`Error::Simd`] for other texts, and for instructions that the machine lacks.
    pub fn parse(text: &str) -> Result<Self> {
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Self::detect());
        }
        Self::available().find(|simd| text.eq_ignore_ascii_case(simd.name())).ok_or(Error::Simd)
    }

    /// All levels of the machine, worst first; for tests and benches that compare them.
    pub fn available() -> impl Iterator<Item = Self> {
        LEVELS.into_iter().filter(|level| detected(*level)).map(Self)
    }

    pub(crate) const fn level(self) -> Level {
        self.0
    }

    /// The text that [`parse`](Self::parse) takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Level::None => "none",
            Level::Sse2 => "sse2",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
            Level::Simd128 => "simd128",
        }
    }
}

impl Default for Simd {
    fn default() -> Self {
        Self::detect()
    }
}

impl fmt::Debug for Simd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Simd({})", self.name())
    }
}

/// Whether the processor has all these features.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! has_features {
    ($detector:ident: $($feature:tt),+) => {
        [$({
            #[cfg(feature = "std")]
            let found = std::arch::$detector!($feature);
            #[cfg(not(feature = "std"))]
            let found = cfg!(target_feature = $feature);
            found
        }),+]
        .into_iter()
        .all(|found| found)
    };
}

/// Whether the copy instruction may be slow for some distances between source and destination.
/// AMD's processors have AVX-VNNI since Zen 5, which has no slow distances; other processors
/// without it were not measured.
#[cfg(target_arch = "x86_64")]
pub(crate) fn may_copy_slowly() -> bool {
    !has_features!(is_x86_feature_detected: "avxvnni")
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) const fn may_copy_slowly() -> bool {
    false
}

/// Bytes of a core's second-level cache: the processor's answer, or else 1 MiB.
#[must_use]
pub fn second_level_cache_nbytes() -> usize {
    Tuning::get().second_level_cache_nbytes
}

#[cfg(target_arch = "x86_64")]
fn detected(level: Level) -> bool {
    match level {
        Level::None => true,
        Level::Sse2 => has_features!(is_x86_feature_detected: "sse2"),
        Level::Avx2 => has_features!(is_x86_feature_detected: "avx2"),
        Level::Avx512 => {
            has_features!(is_x86_feature_detected: "avx2", "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "gfni")
        }
        Level::Neon | Level::Simd128 => false,
    }
}

#[cfg(target_arch = "aarch64")]
fn detected(level: Level) -> bool {
    match level {
        Level::None => true,
        Level::Neon => has_features!(is_aarch64_feature_detected: "neon"),
        Level::Sse2 | Level::Avx2 | Level::Avx512 | Level::Simd128 => false,
    }
}

/// A module of WebAssembly cannot detect: it has the instructions for which it was compiled.
#[cfg(target_arch = "wasm32")]
fn detected(level: Level) -> bool {
    level == Level::None || level == Level::Simd128 && cfg!(target_feature = "simd128")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32")))]
fn detected(level: Level) -> bool {
    level == Level::None
}

/// Worst first.
const LEVELS: [Level; 6] =
    [Level::None, Level::Sse2, Level::Avx2, Level::Avx512, Level::Neon, Level::Simd128];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_can_be_asked_for_by_name() {
        for simd in Simd::available() {
            assert_eq!(Simd::parse(simd.name()), Ok(simd));
        }
    }

    #[cfg(target_arch = "wasm32")]
    #[test]
    fn a_module_has_what_it_was_compiled_for() {
        let expected = if cfg!(target_feature = "simd128") { "simd128" } else { "none" };
        assert_eq!(Simd::detect().name(), expected);
    }

    #[test]
    fn unknown_names_and_instructions_of_other_machines_are_refused() {
        assert_eq!(Simd::parse("mmx"), Err(Error::Simd));
        let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
        assert_eq!(Simd::parse(foreign), Err(Error::Simd));
    }
}
