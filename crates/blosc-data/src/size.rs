//! Numbers of bytes and items.

use crate::error::{Error, Result};

/// A number of bytes or items as a length in memory; one that is too large for this machine stays
/// too large for every buffer.
#[must_use]
pub fn as_len(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Bytes of `itemsize` for each item of an array with these lengths; saturates. With an `itemsize`
/// of 1 it is the number of items.
#[must_use]
pub fn nbytes<'a>(itemsize: u64, lens: impl IntoIterator<Item = &'a u64>) -> u64 {
    lens.into_iter().fold(itemsize, |nbytes, len| nbytes.saturating_mul(*len))
}

/// Refuses what needs more working memory than there is (bytes).
///
/// # Errors
///
/// [`Error::MaxMemory`].
pub fn check_memory(needed: u64, limit: u64) -> Result<()> {
    if needed > limit { Err(Error::MaxMemory { needed, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_stays_too_large() {
        assert_eq!(nbytes(8, &[3, 4]), 96);
        assert_eq!(nbytes(2, &[u64::MAX, 0]), 0);
        assert_eq!(nbytes(2, &[u64::MAX]), u64::MAX);
        assert_eq!(as_len(7), 7);
        assert!(check_memory(2, 2).is_ok());
        assert!(matches!(check_memory(3, 2), Err(Error::MaxMemory { needed: 3, limit: 2 })));
    }
}
