//! How inputs are read.

use b2frame::Mismatch;
use blosc_chunk::DParams;

/// How chunks are decoded, and what happens where bytes do not match a checksum.
#[derive(Clone, Debug, Default)]
pub struct ReadParams {
    /// Limits, codecs and filters.
    pub dparams: DParams,
    /// How a read ends where bytes do not match their checksum. Default: it fails.
    pub mismatch: Mismatch,
}

impl From<DParams> for ReadParams {
    /// Mismatches are errors.
    fn from(dparams: DParams) -> Self {
        Self { dparams, mismatch: Mismatch::Fail }
    }
}

impl ReadParams {
    /// For frames.
    #[must_use]
    pub fn frame(&self) -> b2frame::OpenOptions {
        let Self { dparams, mismatch } = self.clone();
        b2frame::OpenOptions::default().dparams(dparams).mismatch(mismatch)
    }

    /// For stores.
    #[must_use]
    pub fn store(&self) -> b2store::OpenOptions {
        b2store::OpenOptions::default().frame(self.frame())
    }

    /// For the directories of bcolz.
    #[must_use]
    pub fn bcolz(&self) -> bcolz_store::OpenOptions {
        let Self { dparams, mismatch } = self.clone();
        bcolz_store::OpenOptions::default().dparams(dparams).mismatch(mismatch)
    }

    /// For Bloscpack files.
    #[must_use]
    pub fn blp(&self) -> bloscpack::ReadOptions {
        let Self { dparams, mismatch } = self.clone();
        bloscpack::ReadOptions::default().dparams(dparams).mismatch(mismatch)
    }
}
