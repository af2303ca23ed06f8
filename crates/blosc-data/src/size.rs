//! Numbers of bytes and items.

use core::ops::Range;

use crate::error::{Error, Param, Result};

/// A number of bytes or items as a length in memory. A number too large for the machine saturates,
/// which is too large for every buffer.
#[must_use]
pub fn as_len(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Bytes of an array with these lengths and items of `itemsize` bytes; saturates. With an
/// `itemsize` of 1, the number of items.
#[must_use]
pub fn nbytes<'a>(itemsize: u64, lens: impl IntoIterator<Item = &'a u64>) -> u64 {
    lens.into_iter().fold(itemsize, |nbytes, len| nbytes.saturating_mul(*len))
}

/// Refuses a need for more working memory than `limit` (bytes).
///
/// # Errors
///
/// [`Error::MaxMemory`].
pub fn check_memory(needed: u64, limit: u64) -> Result<()> {
    if needed > limit { Err(Error::MaxMemory { needed, limit }) } else { Ok(()) }
}

/// A buffer of zeros. If the system lacks the memory that data claim, this is an error.
pub(crate) fn zeroed(nbytes: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    resize(&mut bytes, nbytes)?;
    Ok(bytes)
}

/// Resizes a buffer that is reused; its bytes are arbitrary.
pub(crate) fn resize(bytes: &mut Vec<u8>, nbytes: u64) -> Result<()> {
    reserve(bytes, nbytes)?;
    bytes.resize(as_len(nbytes), 0);
    Ok(())
}

/// The positions of a range.
pub(crate) fn positions(range: &Range<u64>) -> Result<Vec<u64>> {
    let mut list = reserved(range.end.saturating_sub(range.start))?;
    list.extend(range.clone());
    Ok(list)
}

/// An empty list with room for `len` items.
pub(crate) fn reserved<T>(len: u64) -> Result<Vec<T>> {
    let mut items = vec![];
    reserve(&mut items, len)?;
    Ok(items)
}

/// Tests that the system has memory for a library that would abort without it.
pub(crate) fn check_room(nbytes: u64) -> Result<()> {
    reserved::<u8>(nbytes).map(drop)
}

/// Reserves room for `len` items.
fn reserve<T>(items: &mut Vec<T>, len: u64) -> Result<()> {
    let refused = |_| Error::OutOfMemory { needed: nbytes(size_of::<T>() as u64, &[len]) };
    items.try_reserve_exact(as_len(len).saturating_sub(items.len())).map_err(refused)
}

/// Refuses a range that ends after the data, or before its start.
pub(crate) fn check_range(range: &Range<u64>, len: u64) -> Result<()> {
    let (start, end) = (range.start, range.end);
    if start <= end && end <= len { Ok(()) } else { Err(Param::Range { start, end, len }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claimed_memory_that_is_missing_is_an_error() {
        assert_eq!(zeroed(3).unwrap(), [0; 3]);
        assert!(matches!(zeroed(1 << 62), Err(Error::OutOfMemory { needed }) if needed == 1 << 62));
        assert_eq!(positions(&(3..5)).unwrap(), [3, 4]);
        assert!(positions(&(0..1 << 60)).is_err());
    }

    #[test]
    fn too_large_stays_too_large() {
        assert_eq!(nbytes(8, &[3, 4]), 96);
        assert_eq!(nbytes(2, &[u64::MAX, 0]), 0);
        assert_eq!(nbytes(2, &[u64::MAX]), u64::MAX);
        assert_eq!(as_len(7), 7);
        assert!(check_memory(2, 2).is_ok());
        assert!(matches!(check_memory(3, 2), Err(Error::MaxMemory { needed: 3, limit: 2 })));
    }
}
