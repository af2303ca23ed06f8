//! Bytes of any format: what was compressed, without a type or a shape.

use core::{fmt::Debug, ops::Range};

use serde_json::{Map, Value};

use crate::Budget;
use crate::chunks::Chunks;
use crate::error::{Error, Param, Result};
use crate::verify::{self, OnProgress, Report, VerifyOptions};

/// Compressed bytes.
pub trait Bytes: Debug + Send + Sync {
    /// The name of the format: `frame`, `chunk`, `blp`.
    fn format(&self) -> &'static str;

    /// Number of bytes.
    fn nbytes(&self) -> u64;

    /// Bytes of an item, as the codec was told; 1 where that is not known.
    fn typesize(&self) -> u64;

    /// Bytes that it takes where it is stored.
    fn stored_nbytes(&self) -> u64;

    /// Named values beside the bytes, as far as JSON can say them.
    ///
    /// # Errors
    ///
    /// Values that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// Hands the bytes `range` to `sink`, piece by piece in order, within the memory of `budget`.
    /// `read_at` checks the range for its callers.
    ///
    /// # Errors
    ///
    /// Damage, after all bytes before it; or the error of `sink`.
    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()>;

    /// The chunks as they are stored; `None` where there are none.
    fn chunks(&self) -> Option<&dyn Chunks> {
        None
    }

    /// Compares what was read with the seals of its file: after all of it was read, before it is
    /// believed.
    ///
    /// # Errors
    ///
    /// Bytes that are not those that were sealed.
    fn compare_seals(&self) -> Result<()> {
        Ok(())
    }

    /// Decodes everything and compares checksums; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// Only where the system refuses to read at all; damage is in the report.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let _ = progress;
        let read = self.stream(0..self.nbytes(), &options.budget, &mut |_| Ok(()));
        Ok(verify::of_reading(read.and_then(|()| self.compare_seals()), self.nbytes()))
    }
}

impl dyn Bytes + '_ {
    /// Fills `dest` with the bytes from `start` on.
    ///
    /// # Errors
    ///
    /// [`Param::Range`] where they reach beyond the end; bytes that cannot be read.
    pub fn read_at(&self, start: u64, dest: &mut [u8]) -> Result<()> {
        let (end, len) = (start.saturating_add(dest.len() as u64), self.nbytes());
        if end > len {
            return Err(Param::Range { start, end, len }.into());
        }
        let mut filled = 0;
        self.stream(start..end, &Budget::default(), &mut |piece| {
            let rest = dest.get_mut(filled..).unwrap_or_default();
            let here = rest.get_mut(..piece.len()).ok_or(Error::Internal("a piece too long"))?;
            here.copy_from_slice(piece);
            filled += piece.len();
            Ok(())
        })?;
        if filled == dest.len() { Ok(()) } else { Err(Error::Internal("a piece too short")) }
    }
}
