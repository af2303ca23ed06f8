//! The number of a filter in a chunk header ("Ids" in the format document).

use core::fmt;

/// A filter's number as stored in a chunk. Any byte is kept; [`Registry`](crate::Registry) knows
/// the valid ones.
///
/// ```
/// use blosc_filters::FilterId;
/// assert_eq!(FilterId::SHUFFLE, FilterId(1));
/// assert_eq!(FilterId(2).to_string(), "bitshuffle");
/// assert_eq!(FilterId(200).to_string(), "200");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct FilterId(pub u8);

impl FilterId {
    /// An empty slot.
    pub const NOFILTER: Self = Self(0);
    /// Byte shuffle.
    pub const SHUFFLE: Self = Self(1);
    /// Bit shuffle.
    pub const BITSHUFFLE: Self = Self(2);
    /// XOR with the previous item or with the first block.
    pub const DELTA: Self = Self(3);
    /// Truncated precision of floats; lossy.
    pub const TRUNC_PREC: Self = Self(4);
    /// Items of small n-dimensional cells, stored together.
    pub const NDCELL: Self = Self(32);
    /// The mean of each n-dimensional cell; lossy.
    pub const NDMEAN: Self = Self(33);
    /// Bytedelta of C-Blosc2 2.8.0 to 2.9.3; read, never written.
    pub const BYTEDELTA_LEGACY: Self = Self(34);
    /// Differences of bytes within each byte stream.
    pub const BYTEDELTA: Self = Self(35);
    /// Truncated precision of integers; lossy.
    pub const INT_TRUNC: Self = Self(36);

    /// The name of a filter that the format defines; `None` for all other ids.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(id, _)| *id == self).map(|(_, name)| *name)
    }

    /// The id for a name in any case, in the format's spelling or with `-` for `_`; also `trunc`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("trunc") {
            return Some(Self::TRUNC_PREC);
        }
        NAMES.iter().find(|(_, known)| same_name(known, name)).map(|(id, _)| *id)
    }

    /// Whether the filter needs the shape of a block, which only arrays have: without it, the
    /// filter refuses to encode and to decode.
    #[must_use]
    pub const fn needs_block_shape(self) -> bool {
        matches!(self, Self::NDCELL | Self::NDMEAN)
    }
}

impl fmt::Display for FilterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "{}", self.0),
        }
    }
}

fn same_name(known: &str, name: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    known.len() == name.len() && known.bytes().zip(name.bytes()).all(|(a, b)| a == plain(b))
}

const NAMES: [(FilterId, &str); 10] = [
    (FilterId::NOFILTER, "none"),
    (FilterId::SHUFFLE, "shuffle"),
    (FilterId::BITSHUFFLE, "bitshuffle"),
    (FilterId::DELTA, "delta"),
    (FilterId::TRUNC_PREC, "trunc_prec"),
    (FilterId::NDCELL, "ndcell"),
    (FilterId::NDMEAN, "ndmean"),
    (FilterId::BYTEDELTA_LEGACY, "bytedelta_legacy"),
    (FilterId::BYTEDELTA, "bytedelta"),
    (FilterId::INT_TRUNC, "int_trunc"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_ids() {
        for (id, name) in NAMES {
            assert_eq!((id.name(), FilterId::from_name(name)), (Some(name), Some(id)));
        }
    }

    #[test]
    fn names_are_read_in_any_case_and_with_dashes() {
        assert_eq!(FilterId::from_name("Int-Trunc"), Some(FilterId::INT_TRUNC));
        assert_eq!(FilterId::from_name("TRUNC"), Some(FilterId::TRUNC_PREC));
        assert_eq!(FilterId::from_name("shuffl"), None);
    }
}
