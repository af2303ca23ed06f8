//! Damage that known defects of other encoders may have caused, as far as a header tells
//! (docs/known-defects.md).
//!
//! A chunk does not name the release that wrote it. The forms below are valid, and releases without
//! the defect write them, too: a suspicion is a reason to compare the data with their source, not a
//! proof of damage.

use core::fmt;

use blosc_filters::FilterId;

use crate::{ChunkHeader, Kind};

/// A form of chunk whose data a defective encoder may have damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suspicion {
    /// Bitshuffled blocks of C-Blosc 1.7.0 to 1.17.1 with a multiple of 8 items, and with bytes
    /// after the last item: these bytes are missing.
    BitshuffleTail,
    /// Filter 34, of C-Blosc2 2.8.0 to 2.9.3: builds without SIMD wrote another form under the
    /// same id.
    LegacyBytedelta,
    /// Blocks that do not consist of whole items: encoders before C-Blosc2 3.3.2 (bytedelta), and
    /// all of C-Blosc2 (others), did not write the bytes after the last item.
    LeftoverBytes {
        /// The filter that omits them.
        filter: FilterId,
    },
    /// Three filters or more: C-Blosc2 2.10.0 to 3.3.5 overwrote the data while compressing.
    ManyFilters,
    /// Delta after another filter: C-Blosc2 before 3.0.2 took the difference from data without the
    /// filter.
    DeltaAfterFilter,
    /// A filter that loses bits before delta: C-Blosc2 leaves bits of the first block in the
    /// others.
    LossyBeforeDelta,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitshuffleTail => f.write_str(
                "bitshuffle with bytes after the last item, which C-Blosc 1.7.0 to 1.17.1 lost",
            ),
            Self::LegacyBytedelta => f.write_str(
                "bytedelta as filter 34, whose data differ between builds of C-Blosc2 2.8.0 to \
                 2.9.3",
            ),
            Self::LeftoverBytes { filter } => write!(
                f,
                "{} with bytes after the last item, which C-Blosc2 {}did not write",
                filter.name().unwrap_or("a filter"),
                if *filter == FilterId::BYTEDELTA { "before 3.3.2 " } else { "" },
            ),
            Self::ManyFilters => f.write_str(
                "three or more filters, with which C-Blosc2 2.10.0 to 3.3.5 spoiled data",
            ),
            Self::DeltaAfterFilter => f.write_str(
                "delta after another filter, with which C-Blosc2 before 3.0.2 spoiled data",
            ),
            Self::LossyBeforeDelta => f.write_str(
                "a lossy filter before delta, with which C-Blosc2 changes more than the filter does",
            ),
        }
    }
}

impl ChunkHeader {
    /// The known defects of encoders that may have damaged the data of this chunk; most chunks have
    /// none.
    pub fn suspicions(&self) -> impl Iterator<Item = Suspicion> {
        let pipeline = self.pipeline();
        let kind = self.kind();
        let is_filtered = matches!(kind, Kind::Regular | Kind::Vl);
        let has = |filter| is_filtered && pipeline.contains(filter);
        let has_leftover = kind == Kind::Regular && self.has_leftover_bytes();
        let leftover =
            |filter| (has(filter) && has_leftover).then_some(Suspicion::LeftoverBytes { filter });
        let before_delta = || pipeline.active().take_while(|slot| slot.id != FilterId::DELTA);
        let has_delta = has(FilterId::DELTA);
        let is_many = matches!(kind, Kind::Regular | Kind::Vl | Kind::Memcpyed)
            && self.is_extended()
            && pipeline.active().count() > 2;
        [
            self.has_bitshuffle_tail().then_some(Suspicion::BitshuffleTail),
            has(FilterId::BYTEDELTA_LEGACY).then_some(Suspicion::LegacyBytedelta),
            leftover(FilterId::DELTA),
            leftover(FilterId::TRUNC_PREC),
            leftover(FilterId::INT_TRUNC),
            leftover(FilterId::BYTEDELTA),
            is_many.then_some(Suspicion::ManyFilters),
            (has_delta && before_delta().next().is_some()).then_some(Suspicion::DeltaAfterFilter),
            (has_delta && before_delta().any(|slot| is_lossy(slot.id)))
                .then_some(Suspicion::LossyBeforeDelta),
        ]
        .into_iter()
        .flatten()
    }

    /// Lengths of all blocks but the last, and of the last (bytes).
    fn block_lengths(&self) -> [usize; 2] {
        let full = self.blocksize().min(self.nbytes());
        let last = self.nbytes().checked_rem(full).unwrap_or(0);
        [full, if last == 0 { full } else { last }]
    }

    fn has_leftover_bytes(&self) -> bool {
        let typesize = self.typesize();
        self.block_lengths().iter().any(|nbytes| !nbytes.is_multiple_of(typesize))
    }

    /// Whether a block has the form in which C-Blosc 1.7.0 to 1.17.1 lost bytes.
    fn has_bitshuffle_tail(&self) -> bool {
        let typesize = self.typesize();
        let is_cut = |nbytes: &usize| {
            let nitems = nbytes.checked_div(typesize).unwrap_or(0);
            !nbytes.is_multiple_of(typesize) && nitems.is_multiple_of(8)
        };
        self.version() <= 2
            && self.kind() == Kind::Regular
            && self.pipeline().contains(FilterId::BITSHUFFLE)
            && self.block_lengths().iter().any(is_cut)
    }
}

/// Whether a built-in filter loses bits.
const fn is_lossy(filter: FilterId) -> bool {
    matches!(filter, FilterId::TRUNC_PREC | FilterId::INT_TRUNC | FilterId::NDMEAN)
}
