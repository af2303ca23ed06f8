//! The trailer: vlmetalayers, its own length, and the fingerprint of the seal.
//!
//! ```text
//! 94 01 | section of vlmetalayers (metalayers.rs) | ce trailer_len | d8 type fingerprint
//!         from byte 2 on                            last 23 bytes
//! ```
//!
//! The trailer is found from the end of the frame, so [`TrailerEnd`] is read first.

use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::error::{Corrupt, Error, Param, Result};
use crate::metalayers::{Metalayers, Section};
use crate::msgpack::{FIXARRAY, FIXEXT16, UINT32};
use crate::raw::RawTrailerEnd;
use crate::seal;

/// Length of the fixed end of a trailer (bytes).
pub(crate) const END_LEN: usize = size_of::<RawTrailerEnd>();
/// Length of a trailer without vlmetalayers (bytes).
pub(crate) const MIN_LEN: u64 = 35;
/// The known version of a trailer.
const VERSION: u8 = 1;
/// The first bytes of a trailer.
pub(crate) const START: [u8; 2] = [FIXARRAY | 4, VERSION];

/// The checked end of a trailer: the length of the whole trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrailerEnd {
    /// Bytes of the whole trailer, at least 35.
    pub trailer_len: u32,
    /// The type of the fingerprint.
    pub kind: u8,
    /// The fingerprint.
    pub fingerprint: [u8; 16],
}

impl TrailerEnd {
    /// Parses the last 23 bytes of a frame; `room` is the largest possible length of the trailer
    /// (bytes). Errors give positions in `bytes`.
    pub(crate) fn parse(bytes: [u8; END_LEN], room: u64) -> Result<Self> {
        let raw = RawTrailerEnd::read_from_bytes(&bytes)
            .map_err(|_| Error::corrupt(0, Corrupt::Truncated { len: END_LEN as u64, left: 0 }))?;
        for (at, field, found, expected) in [
            (0, "trailer_len", raw.trailer_len_marker, UINT32),
            (5, "fingerprint", raw.fingerprint_marker, FIXEXT16),
        ] {
            if found != expected {
                return Err(Error::corrupt(at, Corrupt::Marker { field, found, expected }));
            }
        }
        let trailer_len = raw.trailer_len.get();
        let max = room.min(i32::MAX.unsigned_abs().into());
        if !(MIN_LEN..=max).contains(&trailer_len.into()) {
            return Err(Error::corrupt(1, Corrupt::TrailerLen { trailer_len, max }));
        }
        Ok(Self { trailer_len, kind: raw.fingerprint_type, fingerprint: raw.fingerprint })
    }
}

/// Parses a whole trailer into its vlmetalayers. Errors give positions in the trailer.
pub(crate) fn parse(mut bytes: Vec<u8>) -> Result<Metalayers> {
    let found = bytes.first().copied().unwrap_or_default();
    if found != FIXARRAY | 4 {
        return Err(Error::corrupt(
            0,
            Corrupt::Marker { field: "trailer", found, expected: FIXARRAY | 4 },
        ));
    }
    match bytes.get(1) {
        Some(&VERSION) => {}
        version => {
            return Err(Error::UnknownTrailerVersion {
                version: version.copied().unwrap_or_default(),
            });
        }
    }
    bytes.truncate(bytes.len().saturating_sub(END_LEN));
    Metalayers::parse(bytes, Section::TRAILER)
}

/// The trailer of these vlmetalayers, whose contents are compressed, and of the seal's layer.
pub(crate) fn around(vlmeta: &Metalayers, layer: Option<&[u8]>) -> Result<Vec<u8>> {
    let mut bytes = if layer.is_none() && vlmeta.is_as_read() {
        vlmeta.bytes().to_vec()
    } else {
        seal::section(vlmeta, layer)?
    };
    let trailer_len = bytes.len().saturating_add(END_LEN);
    let too_long = |_| Param::MetaTooLong { nbytes: trailer_len as u64 };
    let end = RawTrailerEnd {
        trailer_len_marker: UINT32,
        trailer_len: i32::try_from(trailer_len).map_err(too_long)?.unsigned_abs().into(),
        fingerprint_marker: FIXEXT16,
        fingerprint_type: 0,
        fingerprint: [0; 16],
    };
    bytes.extend_from_slice(end.as_bytes());
    Ok(bytes)
}

/// The length of a trailer, which was checked at its creation (bytes).
pub(crate) fn len(trailer: &[u8]) -> u32 {
    u32::try_from(trailer.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode<const N: usize>(layers: [(&[u8], &[u8]); N]) -> Result<Vec<u8>> {
        around(&Metalayers::build(layers, Section::TRAILER)?, None)
    }

    /// The trailer of a frame without vlmetalayers, from the format document.
    const EMPTY: [u8; 19] =
        [0x94, 0x01, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, 0xce, 0, 0, 0, 0x23, 0xd8, 0];

    fn end_of(bytes: &[u8]) -> [u8; END_LEN] {
        *bytes.last_chunk().unwrap()
    }

    #[test]
    fn the_empty_trailer_is_that_of_the_document() {
        let mut expected = EMPTY.to_vec();
        expected.extend([0; 16]);
        assert_eq!(encode([]).unwrap(), expected);
        assert_eq!(TrailerEnd::parse(end_of(&expected), 35).unwrap().trailer_len, 35);
        assert!(parse(expected).unwrap().is_empty());
    }

    #[test]
    fn what_is_encoded_is_parsed() {
        let layers: [(&[u8], &[u8]); 2] = [(b"note", b"one"), (b"other", b"")];
        let bytes = encode(layers).unwrap();
        let end = TrailerEnd::parse(end_of(&bytes), 1 << 40).unwrap();
        assert_eq!(end.trailer_len as usize, bytes.len());
        let parsed = parse(bytes).unwrap();
        assert_eq!(parsed.iter().map(|l| (l.name, l.content)).collect::<Vec<_>>(), layers);
    }

    #[test]
    fn a_trailer_longer_than_its_room_is_corrupt() {
        let bytes = encode([]).unwrap();
        let Err(Error::Corrupt { at: 1, what }) = TrailerEnd::parse(end_of(&bytes), 34) else {
            panic!()
        };
        assert_eq!(what, Corrupt::TrailerLen { trailer_len: 35, max: 34 });
    }

    #[test]
    fn bytes_between_the_values_and_the_end_are_corrupt() {
        let mut bytes = encode([]).unwrap();
        bytes.splice(12..12, [0]);
        let Err(Error::Corrupt { at: 2, what }) = parse(bytes) else { panic!() };
        assert_eq!(what, Corrupt::SectionEnd { end: 12, expected: 13 });
    }
}
