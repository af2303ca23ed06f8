//! Threads at work, limited by the memory that each needs.

use blosc_chunk::{CParams, ChunkHeader, CodecId, Executor};

use crate::Budget;
use crate::error::Result;
use crate::size::{as_len, check_memory};

/// Memory of a decoding thread, apart from its chunks (bytes).
const DECODER_NBYTES: u64 = 6 << 20;

/// Threads and working memory of a run. Budgets of its parts are made from them.
#[derive(Clone, Debug)]
pub struct Resources {
    /// The threads.
    pub threads: Executor,
    /// Working memory (bytes).
    pub memory: u64,
}

impl Default for Resources {
    /// All processors, and 192 MiB.
    fn default() -> Self {
        Self { threads: Executor::auto(), memory: 192 << 20 }
    }
}

impl Resources {
    /// The budget for decoding. Large chunks are decoded in parts, so any memory is enough.
    #[must_use]
    pub fn decoding(&self) -> Budget {
        let threads = self.threads_within(self.memory / 2, DECODER_NBYTES);
        Budget::default().threads(threads).max_memory(self.memory / 2)
    }

    /// Memory for objects that are kept as a whole (bytes).
    #[must_use]
    pub fn held(&self) -> u64 {
        self.memory / 2
    }

    /// The budget for compressing chunks of `chunksize` bytes with these parameters, while other
    /// work needs `reserved` bytes.
    ///
    /// # Errors
    ///
    /// When one chunk does not fit.
    pub fn compressing(
        &self,
        cparams: &CParams,
        chunksize: usize,
        reserved: u64,
    ) -> Result<Budget> {
        // The data, and a buffer for the compressed chunk.
        let chunk =
            (blosc_chunk::max_compressed_len(chunksize) as u64).saturating_add(chunksize as u64);
        let encoder = encoder_nbytes(cparams);
        let needed = chunk.saturating_add(encoder).saturating_add(reserved);
        check_memory(needed, self.memory)?;
        let left = self.memory.saturating_sub(reserved);
        let threads = self.threads_within(left, chunk.saturating_add(encoder));
        let chunks = left.saturating_sub(encoder.saturating_mul(threads.count() as u64));
        Ok(Budget::default().threads(threads).max_memory(chunks))
    }

    /// The threads for compressing `nbytes` bytes to one chunk with these parameters.
    ///
    /// # Errors
    ///
    /// When data and chunk together do not fit into the memory.
    pub fn one_chunk(&self, cparams: &CParams, nbytes: u64) -> Result<Executor> {
        let encoder = encoder_nbytes(cparams);
        let both = nbytes.saturating_mul(2).saturating_add(ChunkHeader::MAX_LEN as u64);
        check_memory(both.saturating_add(encoder), self.memory)?;
        Ok(self.threads_within(self.memory.saturating_sub(both), encoder))
    }

    /// The requested threads, or as many as the memory allows.
    fn threads_within(&self, memory: u64, each: u64) -> Executor {
        self.threads.at_most(as_len(memory / each.max(1)))
    }
}

/// Memory of a compressing thread, apart from its chunks (bytes): codec state and filter buffers.
///
/// From the measured growth of the peak per thread, rounded up. Zstd takes 6 times the block up to
/// level 5, and 20 times above (its search tables); other codecs take under 3 times.
#[must_use]
pub fn encoder_nbytes(cparams: &CParams) -> u64 {
    let level = cparams.clevel.get();
    let (factor, automatic) = match (cparams.codec, level) {
        (CodecId::ZSTD, ..=5) => (6, 256 << 10),
        (CodecId::ZSTD, ..=8) => (20, 512 << 10),
        (CodecId::ZSTD, _) => (20, 1 << 20),
        (_, ..=7) => (3, 512 << 10),
        _ => (3, 2 << 20),
    };
    let block = cparams.blocksize.map_or(automatic, |size| size as u64);
    block.saturating_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn resources(threads: usize, memory: u64) -> Resources {
        Resources { threads: Executor::threads(threads), memory }
    }

    #[test]
    fn memory_bounds_the_threads() {
        let cparams = CParams::default();
        let budget = resources(1000, 192 << 20).compressing(&cparams, 1 << 20, 0).unwrap();
        let threads = budget.nworkers();
        let taken = budget.max_memory + encoder_nbytes(&cparams) * threads as u64;
        assert!(threads > 16 && taken <= 192 << 20, "{threads} {taken}");
        let few = resources(3, 192 << 20).compressing(&cparams, 1 << 20, 0).unwrap();
        assert_eq!(few.nworkers(), 3);
    }

    #[test]
    fn a_chunk_that_does_not_fit_is_a_limit() {
        let refused = resources(1, 10 << 20).compressing(&CParams::default(), 8 << 20, 0);
        assert!(matches!(refused, Err(Error::MaxMemory { limit: 10_485_760, .. })));
        let reserved = resources(1, 100 << 20).compressing(&CParams::default(), 1 << 20, 99 << 20);
        assert!(matches!(reserved, Err(Error::MaxMemory { .. })));
    }

    #[test]
    fn strong_compression_needs_more() {
        let of = |level: u8| {
            let cparams = CParams::default().codec(CodecId::ZSTD);
            encoder_nbytes(&cparams.clevel(level.try_into().unwrap()))
        };
        assert!(of(5) < of(7) && of(7) < of(9));
        let large = CParams::default().blocksize(Some(8 << 20));
        assert_eq!(encoder_nbytes(&large), 24 << 20);
    }
}
