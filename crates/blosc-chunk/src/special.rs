//! Chunks that are a run ("Special chunks" in the format document): zeros, NaN, one value, or unset
//! data.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths of two slices; the value is not empty"
)]

use blosc_filters::{Simd, internal::StoreHint};

use crate::error::{Corrupt, Error, Result};

/// The kind of a run, without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialKind {
    /// Zero bytes.
    Zeros,
    /// Items that are the quiet NaN of a 4-byte or 8-byte float.
    Nans,
    /// One item, stored once.
    Value,
    /// Data that were never set. Read as zeros.
    Uninit,
}

impl SpecialKind {
    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Zeros),
            2 => Some(Self::Nans),
            3 => Some(Self::Value),
            4 => Some(Self::Uninit),
            _ => None,
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Zeros => 1,
            Self::Nans => 2,
            Self::Value => 3,
            Self::Uninit => 4,
        }
    }
}

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special<'a> {
    /// Zero bytes.
    Zeros,
    /// Items that are the quiet NaN of a 4-byte or 8-byte float, little-endian.
    Nans,
    /// This item repeatedly.
    Value(&'a [u8]),
    /// Data that were never set. Read as zeros, so that memory does not leak.
    Uninit,
}

impl Special<'_> {
    /// The kind of the run.
    #[must_use]
    pub const fn kind(&self) -> SpecialKind {
        match self {
            Self::Zeros => SpecialKind::Zeros,
            Self::Nans => SpecialKind::Nans,
            Self::Value(_) => SpecialKind::Value,
            Self::Uninit => SpecialKind::Uninit,
        }
    }
}

/// Fills `dest` with a run that starts at an item. The last item may be cut.
///
/// ```
/// use blosc_chunk::Special;
/// use blosc_chunk::internal::fill_special;
///
/// let mut dest = [0; 7];
/// fill_special(Special::Value(b"abc"), 3, &mut dest)?;
/// assert_eq!(&dest, b"abcabca");
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Corrupt`] for NaN items that are neither 4 nor 8 bytes, or an empty value.
pub fn fill_special(special: Special<'_>, typesize: usize, dest: &mut [u8]) -> Result<()> {
    fill_special_from(special, typesize, 0, dest, (StoreHint::Cached, Simd::none()))
}

/// Fills `dest` with the bytes of a run from byte `start` on. `stores` and `simd` are for zeros.
#[inline]
pub(crate) fn fill_special_from(
    special: Special<'_>,
    typesize: usize,
    start: usize,
    dest: &mut [u8],
    (stores, simd): (StoreHint, Simd),
) -> Result<()> {
    let nbytes = dest.len();
    match special {
        Special::Zeros | Special::Uninit => stores.fill(simd, 0, dest),
        Special::Value([]) if nbytes > 0 => {
            return Err(Error::corrupt(0xc, Corrupt::ValueWidth { width: 0, nbytes }));
        }
        Special::Value(value) => repeat(value, start, dest),
        Special::Nans => match typesize {
            4 => repeat(&NAN_4, start, dest),
            8 => repeat(&NAN_8, start, dest),
            _ => return Err(Error::corrupt(3, Corrupt::Nans { typesize, nbytes })),
        },
    }
    Ok(())
}

/// Writes one period and doubles it: this makes long copies for a value of any width.
#[inline(never)]
fn repeat(value: &[u8], start: usize, dest: &mut [u8]) {
    let (tail, head) = (&value[start % value.len()..], &value[..start % value.len()]);
    let (first, rest) = dest.split_at_mut(tail.len().min(dest.len()));
    first.copy_from_slice(&tail[..first.len()]);
    let len = head.len().min(rest.len());
    rest[..len].copy_from_slice(&head[..len]);
    let mut filled = value.len().min(dest.len());
    while filled < dest.len() {
        let len = filled.min(dest.len() - filled);
        dest.copy_within(..len, filled);
        filled += len;
    }
}

/// `f32::NAN`, with the bytes that C writes.
const NAN_4: [u8; 4] = [0, 0, 0xc0, 0x7f];
/// `f64::NAN`, with the bytes that C writes.
const NAN_8: [u8; 8] = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_from_the_middle_is_a_slice_of_the_run() {
        let mut whole = [0; 100];
        fill_special(Special::Value(b"abcde"), 5, &mut whole).unwrap();
        for start in 0..50 {
            for len in 0..50 {
                let mut part = vec![0; len];
                let write = (StoreHint::Cached, Simd::none());
                fill_special_from(Special::Value(b"abcde"), 5, start, &mut part, write).unwrap();
                assert_eq!(part, whole[start..start + len]);
            }
        }
    }

    #[test]
    fn nans_are_those_of_the_platform_formats() {
        let mut dest = [0; 8];
        fill_special(Special::Nans, 4, &mut dest).unwrap();
        assert!(f32::from_le_bytes(dest[4..].try_into().unwrap()).is_nan());
        fill_special(Special::Nans, 8, &mut dest).unwrap();
        assert!(f64::from_le_bytes(dest).is_nan());
        assert!(fill_special(Special::Nans, 2, &mut dest).is_err());
    }

    #[test]
    fn uninit_reads_as_zeros() {
        let mut dest = [1; 8];
        fill_special(Special::Uninit, 3, &mut dest).unwrap();
        assert_eq!(dest, [0; 8]);
    }
}
