//! Frames of the 2.0.0 betas and of the sources before the first release candidate, for reading
//! (`docs/formats/legacy-frame.md`).
//!
//! ```text
//! beta.1   header | metalayers | data section | index                         no trailer
//! beta.2   header | metalayers | data section | index | unused | trailer   one nameless usermeta
//! ```
//!
//! Each layout is read into today's header, metalayers and vlmetalayers; the layers above see no
//! difference. The usermeta becomes a vlmetalayer of that name. Chunks describe themselves as they
//! do today.

pub(crate) mod convert;
mod header;
mod raw;
mod swap;
mod trailer;

use core::fmt;

use crate::error::{Error, Limited, Result};
use crate::header::MAGIC;
use crate::params::OpenOptions;
use crate::schunk::{Parts, check_limit};
use crate::seal::Mark;
use crate::source::Source;

/// The layouts that a frame may have. Version numbers do not order them: 4 is the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameLayout {
    /// 2.0.0-rc.1 and everything since, and the sources of the two months before it.
    Current,
    /// 2.0.0-beta.1.
    Beta1,
    /// 2.0.0-beta.2 to -beta.5.
    Beta2,
    /// Sources of 2021-01-19 to 2021-02-12: integers are little-endian, by accident.
    SwappedBeta2,
    /// Sources of 2021-02-12 to 2021-02-18: the header of the betas, the trailer of today.
    Beta2VlMeta,
}

/// Errors that only a frame of an older layout can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum OlderCorrupt {
    /// `header_len` does not fit the layout, or leaves no room for the rest.
    #[error("header_len is {header_len}, outside {min}..={max}")]
    HeaderLen { header_len: i32, min: u64, max: u64 },
    /// `trailer_len` out of bounds.
    #[error("trailer_len is {trailer_len}, outside {min}..={max}")]
    TrailerLen { trailer_len: u32, min: u64, max: u64 },
    /// The usermeta does not fill the trailer, or is longer.
    #[error("the usermeta has {len} bytes, the trailer has room for {expected}")]
    UsermetaLen { len: u32, expected: u64 },
    /// The marker of the array of elements and the flag disagree about metalayers.
    #[error("has_metalayers is {found:#04x}, the first byte demands {expected:#04x}")]
    HasMetalayers { found: u8, expected: u8 },
}

impl FrameLayout {
    /// The layout of the frame that begins with `head`. Other bytes count as current: the parser of
    /// that layout will refuse them.
    ///
    /// `available` is the length of the file from here on (bytes).
    pub(crate) fn recognize(head: &[u8], available: u64) -> Result<Self> {
        let (&[first_byte, 0xa8, ref rest @ ..], Some(&flags)) = (head, head.get(0x19)) else {
            return Ok(Self::Current);
        };
        if !rest.starts_with(&MAGIC) {
            return Ok(Self::Current);
        }
        match (first_byte, flags) {
            (0x9b | 0x9c, 0x24) => Ok(Self::Beta1),
            (0x9d, 0x21) => Ok(Self::Beta2),
            (0x9d, 0x12) => match raw::is_big_endian(head, available) {
                Some(true) => Ok(Self::Beta2VlMeta),
                Some(false) => Ok(Self::SwappedBeta2),
                None => Err(Error::UnreleasedLayout { first_byte, flags }),
            },
            (0x9b..=0x9d, _) => Err(Error::UnreleasedLayout { first_byte, flags }),
            _ => Ok(Self::Current),
        }
    }
}

impl fmt::Display for FrameLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Current => "current",
            Self::Beta1 => "2.0.0-beta.1",
            Self::Beta2 => "2.0.0-beta.2 to -beta.5",
            Self::SwappedBeta2 => "unreleased, January 2021",
            Self::Beta2VlMeta => "unreleased, February 2021",
        })
    }
}

/// The length of a frame of an older layout, from the first bytes of a stream; `None` for today's
/// layout.
pub(crate) fn frame_len(head: &[u8]) -> Result<Option<u64>> {
    // The length of the stream is unknown.
    match FrameLayout::recognize(head, u64::MAX)? {
        FrameLayout::Current => Ok(None),
        layout => header::parse(layout, head, u64::MAX).map(|header| Some(header.frame_len())),
    }
}

/// Reads everything except index and chunks.
pub(crate) fn read(
    source: &Source,
    layout: FrameLayout,
    head: &[u8],
    available: u64,
    options: &OpenOptions,
) -> Result<Parts> {
    let base = source.base();
    let header = header::parse(layout, head, available).map_err(|error| error.moved(base))?;
    check_limit(Limited::Metadata, header.header_len().into(), options.max_metadata)?;
    let bytes = source.read_vec(0, usize::try_from(header.header_len()).unwrap_or(usize::MAX))?;
    let meta = header::parse_meta(layout, bytes).map_err(|error| error.moved(base))?;
    let (trailer_len, vlmeta) = trailer::read(source, layout, &header, options.max_metadata)?;
    header::check_sections(&header, trailer_len).map_err(|error| error.moved(base))?;
    Ok(Parts { header, meta, vlmeta, trailer_len, mark: Mark::default() })
}
