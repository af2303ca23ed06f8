//! How inputs are read.

use b2frame::{Budget, Mismatch};
use blosc_chunk::DParams;

/// How chunks are decoded, and what happens where bytes do not match a checksum.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadParams {
    pub(crate) dparams: DParams,
    pub(crate) mismatch: Mismatch,
    /// What members of stores may use.
    pub(crate) budget: Budget,
}

impl From<DParams> for ReadParams {
    /// Mismatches are errors.
    fn from(dparams: DParams) -> Self {
        Self { dparams, ..Self::default() }
    }
}

impl ReadParams {
    /// For frames.
    pub(crate) fn frame(&self) -> b2frame::OpenOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        b2frame::OpenOptions::default().dparams(dparams).mismatch(mismatch)
    }

    /// For stores.
    pub(crate) fn store(&self) -> b2store::OpenOptions {
        b2store::OpenOptions::default().frame(self.frame()).budget(self.budget.clone())
    }

    /// For the directories of bcolz.
    pub(crate) fn bcolz(&self) -> bcolz_store::OpenOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        bcolz_store::OpenOptions::default().dparams(dparams).mismatch(mismatch)
    }

    /// For Bloscpack files.
    pub(crate) fn blp(&self) -> bloscpack::ReadOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        bloscpack::ReadOptions::default().dparams(dparams).mismatch(mismatch)
    }
}
