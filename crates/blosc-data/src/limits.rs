//! Limits for the output of small inputs.

use b2frame::SChunk;

use crate::content::Object;
use crate::error::{Error, Result};
use crate::formats::frame::stored_nbytes;

/// The limits for the output of one input. By default they stop only data that are made to do harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimits {
    /// Most bytes of data.
    pub max_nbytes: Option<u64>,
    /// Most bytes of data for each stored byte.
    pub max_ratio: Option<u64>,
}

impl OutputLimits {
    /// The most bytes of data from `stored` bytes.
    #[must_use]
    pub fn allowance(self, stored: u64) -> u64 {
        let of_ratio = |ratio: u64| stored.saturating_mul(ratio);
        match (self.max_nbytes, self.max_ratio) {
            (None, None) => of_ratio(MAX_UNASKED_RATIO).max(FREE_NBYTES),
            (nbytes, ratio) => nbytes.unwrap_or(u64::MAX).min(ratio.map_or(u64::MAX, of_ratio)),
        }
    }

    const fn is_given(self) -> bool {
        self.max_nbytes.is_some() || self.max_ratio.is_some()
    }
}

/// The guard of one input; it must admit data before they are decoded.
#[derive(Clone, Debug)]
pub struct Guard {
    limits: OutputLimits,
    /// Bytes that the ratio does not limit.
    free: u64,
    nbytes: u64,
    stored: u64,
}

/// Bytes that any input may give by default.
const FREE_NBYTES: u64 = 16 << 30;

/// The largest ratio by default, for data beyond that.
const MAX_UNASKED_RATIO: u64 = 10_000;

impl Guard {
    /// A guard for one input whose whole content is decoded.
    pub fn new(limits: impl Into<OutputLimits>) -> Self {
        Self { limits: limits.into(), free: FREE_NBYTES, nbytes: 0, stored: 0 }
    }

    /// A guard for an input that is only read in part: only explicit limits count.
    pub fn for_looking(limits: impl Into<OutputLimits>) -> Self {
        Self { free: u64::MAX, ..Self::new(limits) }
    }

    /// Admits an object, before any of it is decoded.
    ///
    /// # Errors
    ///
    /// [`Error::MaxOutput`] and [`Error::MaxRatio`], when the objects so far exceed a limit.
    pub fn admit(&mut self, object: &Object) -> Result<()> {
        self.admit_bytes(object.nbytes(), object.stored())
    }

    /// Admits a frame for verification. By default only data that must be decoded count.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit).
    pub fn admit_to_verify(&mut self, schunk: &SChunk) -> Result<()> {
        let is_all = self.limits.is_given();
        let nbytes = if is_all { schunk.nbytes() } else { schunk.nbytes_to_verify() };
        self.admit_bytes(nbytes, stored_nbytes(schunk))
    }

    /// Admits `nbytes` bytes of data that are decoded from `stored` bytes.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit).
    pub fn admit_bytes(&mut self, nbytes: u64, stored: u64) -> Result<()> {
        self.nbytes = self.nbytes.saturating_add(nbytes);
        self.stored = self.stored.saturating_add(stored);
        let (nbytes, from) = (self.nbytes, self.stored);
        let is_over = |ratio: u64| nbytes > from.saturating_mul(ratio);
        match self.limits {
            OutputLimits { max_nbytes: Some(limit), .. } if nbytes > limit => {
                Err(Error::MaxOutput { nbytes, limit })
            }
            OutputLimits { max_ratio: Some(limit), .. } if is_over(limit) => {
                Err(Error::MaxRatio { nbytes, from, limit })
            }
            limits if !limits.is_given() && nbytes > self.free && is_over(MAX_UNASKED_RATIO) => {
                Err(Error::MaxRatio { nbytes, from, limit: MAX_UNASKED_RATIO })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_extreme_ratios_are_refused_by_default() {
        let admit = |mut guard: Guard, nbytes, stored| guard.admit_bytes(nbytes, stored).is_ok();
        let unasked = OutputLimits::default();
        assert!(admit(Guard::new(unasked), 16 << 30, 100));
        assert!(!admit(Guard::new(unasked), (16 << 30) + 1, 100));
        assert!(admit(Guard::new(unasked), 100 << 30, 11 << 20));
        assert!(admit(Guard::for_looking(unasked), 1 << 62, 100));
        assert_eq!(unasked.allowance(100), 16 << 30);
        assert_eq!(unasked.allowance(1 << 30), 10_000 << 30);
        let asked = OutputLimits { max_nbytes: Some(9), max_ratio: Some(2) };
        assert_eq!((asked.allowance(4), asked.allowance(5)), (8, 9));
        let asked = OutputLimits { max_nbytes: Some(1 << 50), max_ratio: None };
        assert!(admit(Guard::new(asked), 1 << 50, 100));
        assert!(!admit(Guard::for_looking(asked), (1 << 50) + 1, 100));
    }
}
