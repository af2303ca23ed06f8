//! The interface of a filter.

use crate::internal::StoreHint;
use crate::{BitshuffleRule, BlockGeometry, Error, FilterId, Reference, Result, Simd};

/// Converts a block to a representation that compresses better, and back.
///
/// [`Registry::builtin`](crate::Registry::builtin) has the filters of the format; a program
/// adds its own with [`Registry::register`](crate::Registry::register).
///
/// ```
/// use blosc_filters::{Error, Filter, FilterCx, FilterId, Pipeline, Registry, Result};
/// use std::sync::Arc;
///
/// struct Invert;
///
/// impl Filter for Invert {
///     fn id(&self) -> FilterId {
///         FilterId(160)
///     }
///     fn name(&self) -> &str {
///         "invert"
///     }
///     fn forward(&self, _: &FilterCx<'_>, _meta: u8, src: &[u8], dest: &mut [u8]) -> Result {
///         dest.iter_mut().zip(src).for_each(|(d, s)| *d = !s);
///         Ok(())
///     }
///     fn backward(&self, cx: &FilterCx<'_>, meta: u8, src: &[u8], dest: &mut [u8]) -> Result {
///         self.forward(cx, meta, src, dest)
///     }
/// }
///
/// let mut registry = Registry::builtin();
/// registry.register(Arc::new(Invert))?;
/// let (mut dest, mut scratch) = ([0; 3], [0; 3]);
/// Pipeline::parse("160")?.forward(&registry, &FilterCx::new(1), b"abc", &mut dest, &mut scratch)?;
/// assert_eq!(dest, [!b'a', !b'b', !b'c']);
/// # Ok::<(), Error>(())
/// ```
pub trait Filter: Send + Sync {
    /// The number in chunk headers.
    fn id(&self) -> FilterId;

    /// The name in specifications of a pipeline and in messages.
    fn name(&self) -> &str;

    /// Filters a block: `src` is the block or the output of the slot before, `dest` is as long. All
    /// of `dest` must be written.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the filter refuses `cx` or `meta`.
    fn forward(&self, cx: &FilterCx<'_>, meta: u8, src: &[u8], dest: &mut [u8]) -> Result;

    /// Undoes [`forward`](Self::forward), with the same lengths. `src` comes from a file and may
    /// hold anything.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the filter refuses `cx` or `meta`.
    fn backward(&self, cx: &FilterCx<'_>, meta: u8, src: &[u8], dest: &mut [u8]) -> Result;

    /// Whether `backward(forward(x))` may differ from `x`.
    fn is_lossy(&self) -> bool {
        false
    }

    /// Whether [`backward`](Self::backward) only copies. The pipeline then omits it.
    fn backward_is_identity(&self, _cx: &FilterCx<'_>, _meta: u8) -> bool {
        false
    }
}

/// One direction of a filter, for a source and a destination of one length.
pub(crate) type Direction = fn(&FilterCx<'_>, u8, &[u8], &mut [u8]) -> Result;

/// A filter of the format.
pub(crate) struct Builtin {
    pub(crate) id: FilterId,
    pub(crate) is_lossy: bool,
    pub(crate) forward: Direction,
    pub(crate) backward: Direction,
    pub(crate) backward_is_identity: fn(&FilterCx<'_>, u8) -> bool,
}

impl Builtin {
    /// A filter without loss whose inverse does more than copy.
    pub(crate) const fn lossless(id: FilterId, forward: Direction, backward: Direction) -> Self {
        let forward = if_written(forward);
        Self { id, is_lossy: false, forward, backward, backward_is_identity: |_, _| false }
    }
}

/// The forward direction; builds that only read leave it out.
pub(crate) const fn if_written(forward: Direction) -> Direction {
    if cfg!(feature = "write") { forward } else { |_, _, _, _| Err(Error::ReadOnly) }
}

impl Filter for Builtin {
    fn id(&self) -> FilterId {
        self.id
    }

    fn name(&self) -> &'static str {
        self.id.name().unwrap_or_default()
    }

    fn forward(&self, cx: &FilterCx<'_>, meta: u8, src: &[u8], dest: &mut [u8]) -> Result {
        check_lengths(src, dest)?;
        (self.forward)(cx, meta, src, dest)
    }

    fn backward(&self, cx: &FilterCx<'_>, meta: u8, src: &[u8], dest: &mut [u8]) -> Result {
        check_lengths(src, dest)?;
        (self.backward)(cx, meta, src, dest)
    }

    fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    fn backward_is_identity(&self, cx: &FilterCx<'_>, meta: u8) -> bool {
        (self.backward_is_identity)(cx, meta)
    }
}

/// The facts about a block that filters need.
#[derive(Debug, Clone, Copy)]
pub struct FilterCx<'a> {
    /// Bytes of an item according to the chunk header, 1..=255. Wider items have 1 here.
    pub typesize: usize,
    /// Bytes of an item according to the super-chunk; the same as `typesize` unless wider than 255
    /// bytes.
    pub schunk_typesize: usize,
    /// The reference of delta.
    pub reference: Reference<'a>,
    /// The bitshuffle of the chunk's version.
    pub bitshuffle: BitshuffleRule,
    /// The shape of the block, if it is part of an array.
    pub geometry: Option<&'a BlockGeometry<'a>>,
    /// The instructions to use.
    pub simd: Simd,
    /// How [`backward`](Filter::backward) writes its destination, if a filter has several ways.
    pub stores: StoreHint,
}

impl FilterCx<'_> {
    /// For a first block of a Blosc2 chunk with items of `typesize` bytes, without a shape, and
    /// with the best instructions of the machine.
    #[must_use]
    pub fn new(typesize: usize) -> Self {
        Self {
            typesize,
            schunk_typesize: typesize,
            reference: Reference::FirstBlock,
            bitshuffle: BitshuffleRule::Blosc2,
            geometry: None,
            simd: Simd::detect(),
            stores: StoreHint::Cached,
        }
    }
}

/// Fails unless both have the same length. The built-in filters call it first, since their kernels
/// rely on it.
pub(crate) fn check_lengths(src: &[u8], dest: &[u8]) -> Result {
    if src.len() == dest.len() {
        Ok(())
    } else {
        Err(Error::Length { src: src.len(), dest: dest.len() })
    }
}
