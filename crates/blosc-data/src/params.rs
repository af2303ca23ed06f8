//! How data are opened and read.

use b2frame::{Budget, Mismatch};
use blosc_chunk::DParams;
use blosc_dtype::Dtype;

use crate::formats::csv::COMMA;

blosc_chunk::setters! {
/// How data are opened and read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How chunks are decoded: limits, codecs and filters.
    pub dparams: DParams,
    /// How a read ends where bytes do not match their checksum. Default: it fails.
    pub mismatch: Mismatch,
    /// Threads and memory of reads that go over many chunks.
    pub budget: Budget,
    /// The byte between the values of a line of text; `None` is a comma.
    pub delimiter: Option<u8>,
    /// The type of the lines of text; `None` is found by reading them.
    pub dtype: Option<Dtype>,
}
}

impl From<DParams> for OpenOptions {
    /// Mismatches are errors.
    fn from(dparams: DParams) -> Self {
        Self { dparams, ..Self::default() }
    }
}

impl OpenOptions {
    /// The byte between the values of a line of text.
    #[must_use]
    pub fn delimiter_of_text(&self) -> u8 {
        self.delimiter.unwrap_or(COMMA)
    }

    /// For frames.
    #[must_use]
    pub fn frame(&self) -> b2frame::OpenOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        b2frame::OpenOptions::default().dparams(dparams).mismatch(mismatch)
    }

    /// For stores.
    #[must_use]
    pub fn store(&self) -> b2store::OpenOptions {
        b2store::OpenOptions::default().frame(self.frame()).budget(self.budget.clone())
    }

    /// For the directories of bcolz.
    #[must_use]
    pub fn bcolz(&self) -> bcolz_store::OpenOptions {
        let Self { dparams, mismatch, budget, .. } = self.clone();
        bcolz_store::OpenOptions::default().dparams(dparams).mismatch(mismatch).budget(budget)
    }

    /// For Bloscpack files.
    #[must_use]
    pub fn blp(&self) -> bloscpack::ReadOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        bloscpack::ReadOptions::default().dparams(dparams).mismatch(mismatch)
    }
}
