//! The position of an error in a file, and the numbers that clash: fields of `--json`.

use core::error::Error as StdError;

use b2frame::error::Corrupt;
use serde::Serialize;

use crate::error::Error;

/// Byte, chunk and block, as far as the error tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorPosition {
    /// Byte of the file where the damaged part starts: its chunk, if it lies in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u64>,
    /// Chunk, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<u64>,
    /// Block of the chunk, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<u64>,
    /// The number that should be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<u64>,
    /// The number that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<u64>,
}

impl ErrorPosition {
    /// The position in `error` or one of its causes.
    pub(crate) fn of_error(error: &Error) -> Self {
        let position = match error {
            Error::Input { error, .. } => return Self::of_error(error),
            Error::Frame(error) => Self::of_frame_error(error),
            Error::Blp(error) => Self::of_blp_error(error),
            Error::Bcolz(bcolz_store::Error::Chunk { nchunk, .. }) => {
                Self { chunk: Some(*nchunk), ..Self::default() }
            }
            Error::Chunk { at, source } => {
                Self { offset: Some(at.saturating_add(offset_in_chunk(source))), ..Self::default() }
            }
            Error::ReadBack { at, expected, found } => {
                let (expected, found) = (expected.0.map(u64::from), found.0.map(u64::from));
                Self { offset: Some(*at), expected, found, ..Self::default() }
            }
            _ => Self::default(),
        };
        position.with_cause(error.source())
    }

    fn of_frame_error(error: &b2frame::Error) -> Self {
        let chunk = match error {
            b2frame::Error::Chunk { nchunk, .. } | b2frame::Error::Compress { nchunk, .. } => {
                Some(*nchunk)
            }
            _ => None,
        };
        let (expected, found) = match error {
            b2frame::Error::Corrupt { what, .. } => clash(what).unzip(),
            _ => (None, None),
        };
        Self { offset: error.position(), chunk, expected, found, block: None }
    }

    fn of_blp_error(error: &bloscpack::Error) -> Self {
        let (offset, chunk) = match error {
            bloscpack::Error::Chunk { nchunk, at, .. } => (Some(*at), Some(*nchunk)),
            bloscpack::Error::Corrupt { at, what } => (Some(*at), what.nchunk()),
            _ => (None, None),
        };
        Self { offset, chunk, ..Self::default() }
    }

    /// Adds the block and the clashing lengths of a chunk error among the causes.
    fn with_cause(mut self, mut cause: Option<&(dyn StdError + 'static)>) -> Self {
        while let Some(error) = cause {
            match error.downcast_ref() {
                Some(blosc_chunk::Error::Block { nblock, .. }) => self.block = Some(*nblock),
                Some(blosc_chunk::Error::Corrupt {
                    what: blosc_chunk::error::Corrupt::Truncated { cbytes, len },
                    ..
                }) => (self.expected, self.found) = (Some(*cbytes as u64), Some(*len as u64)),
                _ => {}
            }
            cause = error.source();
        }
        self
    }
}

/// Offset of the damage in a chunk (bytes).
fn offset_in_chunk(error: &blosc_chunk::Error) -> u64 {
    match error {
        blosc_chunk::Error::Corrupt { at, .. }
        | blosc_chunk::Error::Block { at, .. }
        | blosc_chunk::Error::Codec { at, .. } => *at,
        _ => 0,
    }
}

/// The number that a frame should have, and the number that it has.
fn clash(what: &Corrupt) -> Option<(u64, u64)> {
    Some(match *what {
        Corrupt::HeaderTruncated { len } => (87, len),
        Corrupt::Marker { found, expected, .. } => (expected.into(), found.into()),
        Corrupt::FrameTruncated { frame_len, available } => (frame_len, available),
        Corrupt::SectionEnd { end, expected } => (expected, end),
        Corrupt::IndexNbytes { nbytes, expected }
        | Corrupt::ChunkNbytes { nbytes, expected, .. } => (expected, nbytes),
        Corrupt::SumOfChunks { found, expected } => (expected, found),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_adds_its_coordinate() {
        let cause = blosc_chunk::Error::Limit { nbytes: 2, limit: 1 };
        let source = blosc_chunk::Error::Block { nblock: 3, at: 44, source: Box::new(cause) };
        let error = Error::Frame(b2frame::Error::Chunk { nchunk: 7, at: 1000, source });
        let position = ErrorPosition::of_error(&error);
        assert_eq!((position.offset, position.chunk), (Some(1000), Some(7)));
        assert_eq!((position.block, position.expected), (Some(3), None));
    }

    #[test]
    fn chunk_of_a_bcolz_array_is_named() {
        let source = blosc_chunk::Error::Limit { nbytes: 2, limit: 1 };
        let path = "data/__7.blp".to_owned();
        let error = Error::Bcolz(bcolz_store::Error::Chunk { path, nchunk: 7, source });
        let error = Error::Input { file: "x".to_owned(), error: Box::new(error) };
        assert_eq!(ErrorPosition::of_error(&error).chunk, Some(7));
    }

    #[test]
    fn expected_and_found_numbers_are_named() {
        let what = Corrupt::FrameTruncated { frame_len: 369, available: 200 };
        let error = Error::Frame(b2frame::Error::Corrupt { at: 16, what });
        let ErrorPosition { offset, expected, found, .. } = ErrorPosition::of_error(&error);
        assert_eq!((offset, expected, found), (Some(16), Some(369), Some(200)));
    }

    #[test]
    fn error_without_coordinates_has_no_position() {
        let error = crate::error::message::TERMINAL.error();
        assert_eq!(ErrorPosition::of_error(&error), ErrorPosition::default());
    }
}
