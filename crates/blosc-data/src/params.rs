//! Options for opening and reading data.

use b2frame::{Budget, Mismatch};
use blosc_chunk::DParams;
use blosc_dtype::Dtype;

use crate::formats::csv::COMMA;

blosc_chunk::setters! {
/// Options for opening and reading data.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Parameters for decoding chunks: limits, codecs and filters.
    pub dparams: DParams,
    /// The result of a read whose bytes do not match their checksum. Default: an error.
    pub mismatch: Mismatch,
    /// Threads and memory for reads over many chunks.
    pub budget: Budget,
    /// The byte between the values of a line of text; `None` is a comma.
    pub delimiter: Option<u8>,
    /// The type of the lines of text; `None` to guess it.
    pub dtype: Option<Dtype>,
}
}

impl From<DParams> for OpenOptions {
    /// Options under which mismatches are errors.
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

    /// The options for frames.
    #[must_use]
    pub fn frame(&self) -> b2frame::OpenOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        b2frame::OpenOptions::default().dparams(dparams).mismatch(mismatch)
    }

    /// The options for stores.
    #[must_use]
    pub fn store(&self) -> b2store::OpenOptions {
        b2store::OpenOptions::default().frame(self.frame()).budget(self.budget.clone())
    }

    /// The options for directories of bcolz.
    #[must_use]
    pub fn bcolz(&self) -> bcolz_store::OpenOptions {
        let Self { dparams, mismatch, budget, .. } = self.clone();
        bcolz_store::OpenOptions::default().dparams(dparams).mismatch(mismatch).budget(budget)
    }

    /// The options for Bloscpack files.
    #[must_use]
    pub fn blp(&self) -> bloscpack::ReadOptions {
        let Self { dparams, mismatch, .. } = self.clone();
        bloscpack::ReadOptions::default().dparams(dparams).mismatch(mismatch)
    }
}
