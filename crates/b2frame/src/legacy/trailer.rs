//! The trailers of the older layouts: none, one with a nameless usermeta, or today's.

use super::{FrameLayout, OlderCorrupt, swap};
use crate::error::{Corrupt, Error, Result};
use crate::header::FrameHeader;
use crate::metalayers::Metalayers;
use crate::msgpack::{BIN32, FIXARRAY, FIXEXT16, UINT32};
use crate::schunk::read_trailer_as;
use crate::source::Source;
use crate::trailer;

/// Name of the vlmetalayer that the usermeta becomes.
const USERMETA: &str = "usermeta";
/// Bytes before the usermeta: marker, version, marker and length.
const BEFORE: usize = 7;
/// Length of a trailer without usermeta (bytes).
const MIN_LEN: u64 = 30;
/// First byte of a trailer. beta.2 wrote the sum of 9 and 4, without the shift.
const ARRAYS: [u8; 2] = [FIXARRAY | 4, 0x0d];

/// The length of the trailer and its vlmetalayers.
pub(super) fn read(
    source: &Source,
    layout: FrameLayout,
    header: &FrameHeader,
    max: u64,
) -> Result<(u32, Metalayers)> {
    match layout {
        FrameLayout::Beta1 => Ok((0, Metalayers::default())),
        FrameLayout::Beta2VlMeta => {
            let (trailer_len, vlmeta, _) = crate::schunk::read_trailer(source, header, max)?;
            Ok((trailer_len, vlmeta))
        }
        _ => read_usermeta(source, layout == FrameLayout::SwappedBeta2, header, max),
    }
}

fn read_usermeta(
    source: &Source,
    is_swapped: bool,
    header: &FrameHeader,
    max: u64,
) -> Result<(u32, Metalayers)> {
    let parse = |bytes| parse(bytes, is_swapped);
    let parse_end = |end, room| Ok((parse_end(end, is_swapped, room)?, ()));
    let (len, (), usermeta) = read_trailer_as(source, header, max, parse, parse_end)?;
    Ok((len, usermeta))
}

/// The length of the trailer, from the last bytes of a frame. `room` is its largest possible length
/// (bytes).
fn parse_end(mut end: [u8; trailer::END_LEN], is_swapped: bool, room: u64) -> Result<u32> {
    if is_swapped {
        swap::turn(&mut end, 1, 4);
    }
    let [len_marker, a, b, c, d, fingerprint_marker, ..] = end;
    for (at, field, found, expected) in
        [(0, "trailer_len", len_marker, UINT32), (5, "fingerprint", fingerprint_marker, FIXEXT16)]
    {
        if found != expected {
            return Err(Error::corrupt(at, Corrupt::Marker { field, found, expected }));
        }
    }
    let trailer_len = u32::from_be_bytes([a, b, c, d]);
    if (MIN_LEN..=room).contains(&trailer_len.into()) {
        return Ok(trailer_len);
    }
    Err(Error::corrupt(1, OlderCorrupt::TrailerLen { trailer_len, min: MIN_LEN, max: room }))
}

/// A whole trailer: the usermeta, if present, as a vlmetalayer.
fn parse(mut bytes: Vec<u8>, is_swapped: bool) -> Result<Metalayers> {
    if is_swapped {
        swap::turn(&mut bytes, 3, 4);
    }
    let Some(&[array, version, marker, a, b, c, d]) = bytes.first_chunk::<BEFORE>() else {
        let left = bytes.len() as u64;
        return Err(Error::corrupt(0, Corrupt::Truncated { len: MIN_LEN, left }));
    };
    if !ARRAYS.contains(&array) {
        let what = Corrupt::Marker { field: "trailer", found: array, expected: FIXARRAY | 4 };
        return Err(Error::corrupt(0, what));
    }
    if version > 1 {
        return Err(Error::UnknownTrailerVersion { version });
    }
    if marker != BIN32 {
        let what = Corrupt::Marker { field: "usermeta", found: marker, expected: BIN32 };
        return Err(Error::corrupt(2, what));
    }
    let (len, expected) =
        (u32::from_be_bytes([a, b, c, d]), (bytes.len() as u64).saturating_sub(MIN_LEN));
    if u64::from(len) != expected {
        return Err(Error::corrupt(3, OlderCorrupt::UsermetaLen { len, expected }));
    }
    bytes.truncate(bytes.len().saturating_sub(trailer::END_LEN));
    let content = BEFORE..bytes.len();
    Ok(if content.is_empty() {
        Metalayers::default()
    } else {
        Metalayers::with_single(bytes, content, USERMETA)
    })
}
