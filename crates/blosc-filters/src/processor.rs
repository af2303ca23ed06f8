//! Facts about the processor on which choices between kernels depend: maker, family, cache.
//!
//! `docs/performance/constants.md` lists the choices, and the processors that were measured.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::arch::{self, Identity};

/// Choices that depend on more than the supported instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// A register of 64 bytes is stored as two halves, one per cycle, so that registers of 32 bytes
    /// are as fast.
    pub(crate) stores_by_halves: bool,
    /// Registers of 64 bytes are permuted on one port only, but inserted into from memory on two.
    pub(crate) permutes_on_one_port: bool,
    /// A copy from memory is faster if it reads several pages in turns, as the processor prefetches
    /// in each page separately.
    pub(crate) prefetches_by_page: bool,
    /// Bytes of a core's second-level cache.
    pub(crate) second_level_cache_nbytes: usize,
}

impl Tuning {
    /// The choices for this processor.
    pub(crate) fn get() -> Self {
        Self::choose(Processor::get())
    }

    const fn choose(processor: Processor) -> Self {
        let Processor { maker, family, second_level_cache_kib } = processor;
        let is_intels = matches!(maker, Maker::Intel);
        let is_amds = matches!(maker, Maker::Amd);
        Self {
            stores_by_halves: is_amds && family == ZEN4,
            permutes_on_one_port: is_intels,
            prefetches_by_page: is_intels,
            second_level_cache_nbytes: match second_level_cache_kib {
                0 => UNKNOWN_CACHE_NBYTES,
                kib => (kib as usize) << 10,
            },
        }
    }
}

/// The family of Zen 4, and of Zen 3, which has no registers of 64 bytes.
const ZEN4: u16 = 0x19;

/// The second-level cache of a processor that does not report its size (bytes): the size in Zen 4
/// and Zen 5.
const UNKNOWN_CACHE_NBYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Other = 1,
    Intel,
    Amd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Processor {
    maker: Maker,
    family: u16,
    /// 0 if the processor does not report it.
    second_level_cache_kib: u16,
}

impl Processor {
    fn get() -> Self {
        // `CPUID` takes up to some 50 us in a virtual machine, so it runs once.
        static FACTS: AtomicU64 = AtomicU64::new(0);
        match FACTS.load(Ordering::Relaxed) {
            0 => {
                let processor = Self::read();
                FACTS.store(processor.to_word(), Ordering::Relaxed);
                processor
            }
            word => Self::from_word(word),
        }
    }

    fn read() -> Self {
        let Identity { maker, family, second_level_cache_kib } = arch::identity();
        let maker = match &maker {
            b"GenuineIntel" => Maker::Intel,
            b"AuthenticAMD" => Maker::Amd,
            _ => Maker::Other,
        };
        Self { maker, family, second_level_cache_kib }
    }

    /// One word, never 0, which stands for "not read yet".
    const fn to_word(self) -> u64 {
        let ([a, b], [c, d]) =
            (self.second_level_cache_kib.to_le_bytes(), self.family.to_le_bytes());
        u64::from_le_bytes([a, b, c, d, self.maker as u8, 0, 0, 0])
    }

    const fn from_word(word: u64) -> Self {
        let [a, b, c, d, maker, ..] = word.to_le_bytes();
        let maker = match maker {
            2 => Maker::Intel,
            3 => Maker::Amd,
            _ => Maker::Other,
        };
        let (family, second_level_cache_kib) =
            (u16::from_le_bytes([c, d]), u16::from_le_bytes([a, b]));
        Self { maker, family, second_level_cache_kib }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tuning(maker: Maker, family: u16) -> Tuning {
        Tuning::choose(Processor { maker, family, second_level_cache_kib: 2048 })
    }

    #[test]
    fn a_word_keeps_all_facts() {
        for maker in [Maker::Other, Maker::Intel, Maker::Amd] {
            for (family, second_level_cache_kib) in [(0, 0), (6, 2048), (0x1a, u16::MAX)] {
                let processor = Processor { maker, family, second_level_cache_kib };
                assert_ne!(processor.to_word(), 0);
                assert_eq!(Processor::from_word(processor.to_word()), processor);
            }
        }
        assert_eq!(Processor::get(), Processor::read());
    }

    #[test]
    fn families_that_were_measured_get_their_choices() {
        let (granite_rapids, zen4) = (tuning(Maker::Intel, 6), tuning(Maker::Amd, 0x19));
        assert!(granite_rapids.permutes_on_one_port && granite_rapids.prefetches_by_page);
        assert!(!granite_rapids.stores_by_halves);
        assert!(zen4.stores_by_halves && !zen4.prefetches_by_page);
        let zen5 = tuning(Maker::Amd, 0x1a);
        assert!(!zen5.stores_by_halves && !zen5.permutes_on_one_port);
        let other = tuning(Maker::Other, 6);
        assert!(!other.stores_by_halves && !other.permutes_on_one_port);
    }

    #[test]
    fn a_second_level_cache_is_128_kib_to_64_mib() {
        let nbytes = Tuning::get().second_level_cache_nbytes;
        assert!((128 << 10..=64 << 20).contains(&nbytes), "{nbytes}");
    }
}
