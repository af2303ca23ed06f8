//! The parameters of compressing ([`CParams`]) and of decompressing ([`DParams`]).

mod check;

use core::fmt;
use std::sync::Arc;

use blosc_codecs::{CodecId, Level};
use blosc_filters::{
    Pipeline, Simd,
    internal::{StoreHint, second_level_cache_nbytes},
};
use blosc_threads::Executor;

use crate::error::Result;
use crate::limits::Limits;

crate::setters! {
    /// The parameters of compressing. The defaults are those of C-Blosc2: BloscLZ at level 5, items
    /// of 8 bytes, shuffle, automatic block size; every C-Blosc2 from 2.0.3 on reads the chunks.
    ///
    /// ```
    /// use blosc_chunk::{CParams, CodecId, Pipeline};
    ///
    /// let params = CParams::default().codec(CodecId::LZ4).typesize(4);
    /// let params = params.filters(Pipeline::parse("bitshuffle")?);
    /// assert!(params.check().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CParams {
        /// The codec of the streams.
        pub codec: CodecId,
        /// The codec's parameter, stored in the header; 0 for built-in codecs.
        pub codec_meta: u8,
        /// Compression level, 0 to 9; at 0 the data are stored.
        pub clevel: Level,
        /// Bytes of an item. Items wider than 255 bytes are compressed as bytes.
        pub typesize: usize,
        /// The filters before the codec.
        pub filters: Pipeline,
        /// Bytes of a block, rounded down to whole items; `None` for the automatic choice of the
        /// C libraries.
        pub blocksize: Option<usize>,
        /// Whether blocks are split into streams.
        pub split: SplitMode,
        /// A dictionary for the streams of a chunk.
        pub dict: Dict,
        /// The oldest reader that the chunks are for.
        pub target: Target,
        /// Whether a chunk of zeros is stored as 32 bytes.
        pub special_values: bool,
        /// The codecs, filters and processor instructions to use.
        pub registries: Registries,
        /// Items per dimension of a block, slowest first, for codecs and filters that work on
        /// arrays.
        pub blockshape: Option<Arc<[u32]>>,
        /// Bytes of an item according to the super-chunk of the chunk. `None` for a chunk on its
        /// own: the header then has the number of byte streams of bytedelta, since C-Blosc2 takes
        /// its parameter 0 for the typesize of the super-chunk and refuses it elsewhere.
        pub schunk_typesize: Option<usize>,
        ;
        /// Threads inside one chunk. The bytes do not depend on it.
        pub threads: Executor,
    }
}

impl Default for CParams {
    fn default() -> Self {
        Self {
            codec: CodecId::BLOSCLZ,
            codec_meta: 0,
            clevel: Level::DEFAULT,
            typesize: 8,
            filters: Pipeline::SHUFFLE,
            blocksize: None,
            split: SplitMode::default(),
            dict: Dict::None,
            target: Target::default(),
            special_values: true,
            threads: Executor::default(),
            registries: Registries::default(),
            blockshape: None,
            schunk_typesize: None,
        }
    }
}

impl CParams {
    /// Sets [`threads`](Self#structfield.threads): a number of them, or their source.
    #[must_use]
    pub fn threads(self, threads: impl Into<Executor>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Checks that chunks can be written with these parameters for this target.
    ///
    /// # Errors
    ///
    /// [`Error::Param`](crate::Error::Param) if the parameters contradict each other or the target,
    /// [`Error::UnknownCodec`](crate::Error::UnknownCodec) and
    /// [`Error::UnknownFilter`](crate::Error::UnknownFilter) if the registries lack a codec or
    /// filter.
    pub fn check(&self) -> Result<()> {
        check::check(self)
    }

    /// These parameters for a chunk of a super-chunk, whose typesize is that of the parameters
    /// unless another one is set.
    #[must_use]
    pub fn in_schunk(self) -> Self {
        let typesize = self.schunk_typesize.unwrap_or(self.typesize);
        self.schunk_typesize(Some(typesize))
    }

    /// The typesize in the header (bytes): 1 for items that are too wide for it.
    pub(crate) fn stored_typesize(&self) -> u8 {
        u8::try_from(self.typesize).unwrap_or(1)
    }
}

crate::setters! {
    /// The parameters of decompressing.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct DParams {
        /// Limits for the memory and time of a chunk.
        pub limits: Limits,
        /// The codecs, filters and processor instructions to use.
        pub registries: Registries,
        /// Items per dimension of a block, slowest first, for codecs and filters that work on
        /// arrays.
        pub blockshape: Option<Arc<[u32]>>,
        /// Bytes of an item for filters that use the super-chunk's typesize; `None` for that of the
        /// chunk.
        pub schunk_typesize: Option<usize>,
        /// Whether instrumented chunks are read. Their data are statistics, 16 bytes for each
        /// stream.
        pub instrumented: bool,
        /// The memory that the data are decoded to.
        pub destination: Destination,
        ;
        /// Threads inside one chunk.
        pub threads: Executor,
    }
}

impl DParams {
    /// Sets [`threads`](Self#structfield.threads): a number of them, or their source.
    #[must_use]
    pub fn threads(self, threads: impl Into<Executor>) -> Self {
        Self { threads: threads.into(), ..self }
    }
}

/// Whether data are likely to be in the processor's cache at their next use. The bytes do not
/// depend on it. See `docs/performance/chunk.md`.
///
/// Only the caller can know: it depends not on the size of a chunk but on all memory that is
/// written before the first byte of it is read again.
///
/// ```
/// use blosc_chunk::{CParams, DParams, Decoder, Destination, compress};
///
/// let data: Vec<u8> = (0..4_000_000u32).flat_map(u32::to_le_bytes).collect();
/// let mut whole = vec![0; data.len()];
/// let destination = Destination::for_nbytes(whole.len());
/// let mut decoder = Decoder::new(DParams::default().destination(destination));
/// for (part, dest) in data.chunks(1 << 20).zip(whole.chunks_mut(1 << 20)) {
///     decoder.decode_into(&compress(part, &CParams::default().typesize(4))?, dest)?;
/// }
/// assert_eq!(whole, data);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Destination {
    /// A buffer whose parts are used soon after they are written, for example one that is reused.
    #[default]
    Cached,
    /// More memory than the private caches of a core hold, but not more than all its caches.
    Outer,
    /// More memory than any cache holds: it is written with non-temporal stores if these are
    /// faster.
    Large,
}

impl Destination {
    /// The kind for `nbytes` bytes that are written from the first to the last before any is read.
    #[must_use]
    pub fn for_nbytes(nbytes: usize) -> Self {
        if nbytes < second_level_cache_nbytes() {
            return Self::Cached;
        }
        let (large, below) = if has_avx512() {
            (3 * BEYOND_CACHE_NBYTES, Self::Outer)
        } else {
            (BEYOND_CACHE_NBYTES, Self::Cached)
        };
        if nbytes >= large { Self::Large } else { below }
    }

    /// The kind for `nbytes` bytes of new, untouched memory. The system clears it page by page
    /// during the writes, and the cleared pages are in a cache, so that non-temporal stores would
    /// only write them once more.
    #[must_use]
    pub fn for_new_memory(nbytes: usize) -> Self {
        match Self::for_nbytes(nbytes) {
            Self::Large if has_avx512() => Self::Outer,
            Self::Large => Self::Cached,
            other => other,
        }
    }

    /// The stores for the destination of one call, which has `nbytes` bytes. Even a reused buffer
    /// leaves the second-level cache if it is longer than that cache.
    pub(crate) fn stores(self, nbytes: usize) -> StoreHint {
        match self {
            Self::Cached if nbytes >= second_level_cache_nbytes() && has_avx512() => {
                StoreHint::OuterCache
            }
            Self::Cached => StoreHint::Cached,
            Self::Outer => StoreHint::OuterCache,
            Self::Large => StoreHint::NonTemporal,
        }
    }
}

/// Only processors with AVX-512 gain by [`Destination::Outer`].
fn has_avx512() -> bool {
    Simd::detect().name() == "avx512"
}

/// Usually more than the caches of a core hold (bytes). Processors with AVX-512 have faster caches
/// before the same memory, and gain nothing from 16 MiB on.
const BEYOND_CACHE_NBYTES: usize = 8 << 20;

/// The oldest reader for a chunk. Later readers read it too, and C-Blosc2 reads all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Target {
    /// C-Blosc 1.3: BloscLZ, LZ4, LZ4HC, Snappy and zlib; shuffle; split by a fixed rule.
    Blosc1_3,
    /// C-Blosc 1.11: also Zstd, bitshuffle, and blocks that are not split.
    Blosc1_11,
    /// C-Blosc 1.14: the same chunks, split as that release does.
    Blosc1_14,
    /// C-Blosc2 2.0.3: 32-byte headers, runs, any filters. Later filters and plugins need a reader
    /// that has them, for any target.
    #[default]
    Blosc2_0,
    /// C-Blosc2 3.0: also VL-blocks, LZ4 dictionaries and shuffle with a width of its own.
    Blosc3_0,
}

impl Target {
    pub(crate) const fn is_blosc1(self) -> bool {
        matches!(self, Self::Blosc1_3 | Self::Blosc1_11 | Self::Blosc1_14)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Blosc1_3 => "blosc-1.3",
            Self::Blosc1_11 => "blosc-1.11",
            Self::Blosc1_14 => "blosc-1.14",
            Self::Blosc2_0 => "blosc2-2.0",
            Self::Blosc3_0 => "blosc2-3.0",
        })
    }
}

/// When blocks are split into one stream for each byte of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitMode {
    /// Always, except for leftover blocks. For Blosc 1 only from C-Blosc 1.14 on, and within its
    /// bounds: no C-Blosc could read other split blocks.
    Always,
    /// Never.
    Never,
    /// If it usually helps. For Blosc2 the same as `ForwardCompat`.
    Auto,
    /// The default of the C libraries.
    #[default]
    ForwardCompat,
}

/// Whether the streams of a chunk share a dictionary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dict {
    /// No dictionary.
    #[default]
    None,
    /// A dictionary of at most `max` bytes, made from the data; none if the data are few.
    Train {
        /// The greatest size (bytes), up to 32768.
        max: usize,
    },
    /// The given dictionary.
    Given(Arc<[u8]>),
}

/// The codecs, filters and machine instructions to work with.
#[derive(Clone, Debug)]
pub struct Registries {
    /// The codecs.
    pub codecs: blosc_codecs::Registry,
    /// The filters.
    pub filters: blosc_filters::Registry,
    /// The vector instructions to use, for filters and codecs.
    pub simd: Simd,
}

impl Registries {
    /// The instructions for codecs: at most those for filters.
    pub(crate) fn codec_simd(&self) -> blosc_codecs::Simd {
        let all = blosc_codecs::Simd::detect();
        if self.simd == Simd::detect() { all } else { all.limited_to(self.simd.name()) }
    }
}

impl Default for Registries {
    fn default() -> Self {
        Self {
            codecs: blosc_codecs::Registry::builtin(),
            filters: blosc_filters::Registry::builtin(),
            simd: Simd::detect(),
        }
    }
}

/// Equal if they have codecs and filters of the same ids and names.
impl PartialEq for Registries {
    fn eq(&self, other: &Self) -> bool {
        self.codecs == other.codecs && self.filters.iter().eq(other.filters.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setter_sets_its_field_and_no_other() {
        let params = CParams::default().clevel(Level::BEST).blocksize(Some(64)).typesize(3);
        let expected =
            CParams { clevel: Level::BEST, blocksize: Some(64), typesize: 3, ..CParams::default() };
        assert_eq!(params, expected);
        let params = DParams::default().instrumented(true).schunk_typesize(Some(7));
        let expected =
            DParams { instrumented: true, schunk_typesize: Some(7), ..DParams::default() };
        assert_eq!(params, expected);
    }

    #[test]
    fn destinations_grow_with_the_memory_written_before_it_is_read() {
        assert_eq!(Destination::for_nbytes(second_level_cache_nbytes() - 1), Destination::Cached);
        assert_eq!(Destination::for_nbytes(3 * BEYOND_CACHE_NBYTES), Destination::Large);
        for nbytes in [0, second_level_cache_nbytes(), 3 * BEYOND_CACHE_NBYTES, usize::MAX] {
            assert_ne!(Destination::for_new_memory(nbytes), Destination::Large);
        }
    }

    #[test]
    fn long_buffers_are_in_the_outer_cache_and_never_bypass_it() {
        let nbytes = second_level_cache_nbytes();
        let outer = if has_avx512() { StoreHint::OuterCache } else { StoreHint::Cached };
        assert_eq!(Destination::Cached.stores(nbytes - 1), StoreHint::Cached);
        assert_eq!([nbytes, usize::MAX].map(|n| Destination::Cached.stores(n)), [outer; 2]);
        assert_eq!(Destination::Outer.stores(1), StoreHint::OuterCache);
        assert_eq!(Destination::Large.stores(1), StoreHint::NonTemporal);
    }

    #[test]
    fn instructions_that_filters_may_not_use_are_not_used_by_codecs_either() {
        let simd = |simd| Registries { simd, ..Registries::default() }.codec_simd();
        assert_eq!(simd(Simd::none()), blosc_codecs::Simd::none());
        assert_eq!(simd(Simd::detect()), blosc_codecs::Simd::detect());
    }
}
