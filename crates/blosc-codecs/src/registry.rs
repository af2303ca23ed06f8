//! The codecs of a program, as a value, and descriptions of all codecs that the Blosc family knows.

use alloc::{sync::Arc, vec, vec::Vec};
use core::fmt;

use crate::{Codec, CodecId, Error, FormatId, blosclz, lz4, ndlz, zfp, zstd};

/// A set of codecs. Cloning is cheap; registering a codec in one clone does not change the others.
///
/// ```
/// use blosc_codecs::{CodecId, Registry};
///
/// let registry = Registry::builtin();
/// assert_eq!(registry.require(CodecId::LZ4)?.name(), "lz4");
/// assert!(registry.require(CodecId::GROK).is_err());
/// # Ok::<(), blosc_codecs::Error>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    /// In the order of ids.
    codecs: Arc<Vec<Arc<dyn Codec>>>,
}

impl Registry {
    /// Every codec of this build.
    pub fn builtin() -> Self {
        let codecs: Vec<Arc<dyn Codec>> = vec![
            Arc::new(blosclz::BloscLz),
            Arc::new(lz4::Lz4::FAST),
            Arc::new(lz4::Lz4::HC),
            #[cfg(feature = "snappy")]
            Arc::new(crate::snappy::Snappy),
            #[cfg(feature = "zlib")]
            Arc::new(crate::zlib::Zlib),
            Arc::new(zstd::Zstd),
            Arc::new(ndlz::Ndlz),
            Arc::new(zfp::Zfp::ACCURACY),
            Arc::new(zfp::Zfp::PRECISION),
            Arc::new(zfp::Zfp::RATE),
        ];
        Self { codecs: Arc::new(codecs) }
    }

    /// A set without any codec.
    pub fn empty() -> Self {
        Self { codecs: Arc::default() }
    }

    /// Adds a codec; replaces and returns an earlier one with the same id.
    pub fn register(&mut self, codec: Arc<dyn Codec>) -> Option<Arc<dyn Codec>> {
        let codecs = Arc::make_mut(&mut self.codecs);
        match codecs.binary_search_by_key(&codec.id(), |c| c.id()) {
            Ok(i) => Some(core::mem::replace(&mut codecs[i], codec)),
            Err(i) => {
                codecs.insert(i, codec);
                None
            }
        }
    }

    /// The codec of this id, if it is registered. [`require`](Self::require) gives the reason if
    /// not.
    pub fn get(&self, id: CodecId) -> Option<&Arc<dyn Codec>> {
        let i = self.codecs.binary_search_by_key(&id, |c| c.id()).ok()?;
        self.codecs.get(i)
    }

    /// The codec of this id.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the codec is known but not registered, [`Error::UnknownCodec`]
    /// otherwise.
    pub fn require(&self, id: CodecId) -> Result<&Arc<dyn Codec>, Error> {
        self.get(id).ok_or_else(|| unavailable(id))
    }

    /// A codec that decodes this format.
    ///
    /// # Errors
    ///
    /// As [`require`](Self::require); [`Error::UnknownFormat`] for [`FormatId::USER`] and beyond
    /// (look up the codec id instead).
    pub fn require_format(&self, format: FormatId) -> Result<&Arc<dyn Codec>, Error> {
        self.require(codec_of(format).ok_or(Error::UnknownFormat { format })?)
    }

    /// All codecs, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Codec>> {
        self.codecs.iter()
    }

    /// The description of a codec id, whether the codec is registered or not.
    pub fn describe(&self, id: CodecId) -> Option<Description> {
        KNOWN.iter().find(|d| d.id == id).copied()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

/// Two registries are equal if they have the same codecs by id, name and version.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        let equals = |(a, b): (&Arc<dyn Codec>, &Arc<dyn Codec>)| {
            a.id() == b.id() && a.name() == b.name() && a.version() == b.version()
        };
        Arc::ptr_eq(&self.codecs, &other.codecs)
            || self.codecs.len() == other.codecs.len() && self.iter().zip(other.iter()).all(equals)
    }
}

impl Eq for Registry {}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|c| c.name())).finish()
    }
}

/// A codec that the Blosc family knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Its id.
    pub id: CodecId,
    /// Its name.
    pub name: &'static str,
    /// Its origin.
    pub home: &'static str,
    /// The requirement for decoding: a feature, a library, or the shape of the array's blocks.
    pub needs: &'static str,
}

fn unavailable(id: CodecId) -> Error {
    match KNOWN.iter().find(|d| d.id == id) {
        Some(d) => Error::Unsupported { id, name: d.name, needs: d.needs },
        None => Error::UnknownCodec { id },
    }
}

/// A codec that decodes a format.
fn codec_of(format: FormatId) -> Option<CodecId> {
    [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::SNAPPY, CodecId::ZLIB, CodecId::ZSTD, CodecId::LIZARD]
        .into_iter()
        .find(|id| id.format() == format)
}

const fn describe(
    id: CodecId,
    name: &'static str,
    home: &'static str,
    needs: &'static str,
) -> Description {
    Description { id, name, home, needs }
}

const PLUGIN: &str = "C-Blosc2, registered plugin";
const OWN_WHEEL: &str = "a plugin of C-Blosc2 in a package of its own";

/// All codecs that the Blosc family knows, in the order of their ids.
pub(crate) const KNOWN: [Description; 16] = [
    describe(CodecId::BLOSCLZ, "blosclz", "Blosc", "nothing"),
    describe(CodecId::LZ4, "lz4", "LZ4", "nothing"),
    describe(CodecId::LZ4HC, "lz4hc", "LZ4", "nothing"),
    describe(
        CodecId::SNAPPY,
        "snappy",
        "Snappy; Blosc 1 only",
        "the feature `snappy` of blosc-codecs",
    ),
    describe(CodecId::ZLIB, "zlib", "zlib", "the feature `zlib` of blosc-codecs"),
    describe(CodecId::ZSTD, "zstd", "Zstandard", "the feature `zstd` of blosc-codecs"),
    describe(
        CodecId::LIZARD,
        "lizard",
        "Lizard; alphas and betas of C-Blosc2 2.0",
        "a Lizard 1.x decoder, which no release since has",
    ),
    describe(CodecId::NDLZ, "ndlz", PLUGIN, "nothing"),
    describe(CodecId::ZFP_ACC, "zfp_acc", PLUGIN, "the shape of the array's blocks"),
    describe(CodecId::ZFP_PREC, "zfp_prec", PLUGIN, "the shape of the array's blocks"),
    describe(CodecId::ZFP_RATE, "zfp_rate", PLUGIN, "the shape of the array's blocks"),
    describe(
        CodecId::OPENHTJ2K,
        "openhtj2k",
        OWN_WHEEL,
        "the plugin blosc2_openhtj2k (an HTJ2K library)",
    ),
    describe(CodecId::GROK, "grok", OWN_WHEEL, "the plugin blosc2_grok (a JPEG 2000 library)"),
    describe(CodecId::OPENZL, "openzl", OWN_WHEEL, "the plugin blosc2_openzl (the OpenZL library)"),
    describe(CodecId::J2K, "j2k", OWN_WHEEL, "the plugin blosc2_j2k (a JPEG 2000 library)"),
    describe(CodecId::HTJ2K, "htj2k", OWN_WHEEL, "the plugin blosc2_htj2k (an HTJ2K library)"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::ToString};

    #[test]
    fn builtin_codecs_are_in_order_and_agree_with_their_descriptions() {
        let registry = Registry::builtin();
        let ids: Vec<_> = registry.iter().map(|c| c.id()).collect();
        assert!(ids.windows(2).all(|w| w[0] < w[1]), "{ids:?}");
        for codec in registry.iter() {
            let description = registry.describe(codec.id()).unwrap();
            assert_eq!(description.name, codec.name());
            assert_eq!(codec.id().name(), Some(codec.name()));
        }
    }

    #[test]
    fn missing_codecs_name_their_needs() {
        let registry = Registry::builtin();
        let error = registry.require(CodecId::GROK).err().unwrap();
        assert_eq!(
            error.to_string(),
            "grok is not supported here: it needs the plugin blosc2_grok (a JPEG 2000 library)"
        );
        assert_eq!(
            registry.require(CodecId(77)).err(),
            Some(Error::UnknownCodec { id: CodecId(77) })
        );
        let zstd = Registry::empty().require_format(FormatId::ZSTD).err().unwrap();
        assert!(zstd.to_string().contains("feature `zstd`"), "{zstd}");
        assert!(matches!(
            registry.require_format(FormatId::LIZARD).err(),
            Some(Error::Unsupported { id: CodecId::LIZARD, .. })
        ));
    }

    #[cfg(not(feature = "write"))]
    #[test]
    fn builds_that_only_read_refuse_encoders() {
        for codec in Registry::builtin().iter() {
            let options = crate::EncodeOptions { blockshape: Some(&[8, 8]), ..Default::default() };
            let refused = codec.new_encoder(&options).err().unwrap();
            assert!(matches!(refused, Error::Unsupported { id, .. } if id == codec.id()));
        }
    }

    #[test]
    fn registering_in_a_clone_leaves_the_first_registry_alone() {
        let first = Registry::empty();
        let mut clone = first.clone();
        assert!(clone.register(Arc::new(lz4::Lz4::FAST)).is_none());
        assert!(clone.register(Arc::new(lz4::Lz4::FAST)).is_some());
        assert!(first.get(CodecId::LZ4).is_none());
        assert_ne!(first, clone);
        assert_eq!(format!("{clone:?}"), r#"{"lz4"}"#);
    }
}
