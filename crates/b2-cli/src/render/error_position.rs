//! Where in a file an error is, and which numbers clash: what each layer put on it, collected for
//! programs.

use core::error::Error as StdError;

use b2frame::Corrupt;
use serde::Serialize;

/// Byte, chunk and block, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    /// Byte of the file where the damaged thing starts: the chunk when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u64>,
    /// Chunk, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<u64>,
    /// Block of the chunk, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<u64>,
    /// What should be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<u64>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<u64>,
}

/// The place that `error` or one of its causes names.
pub(crate) fn place_of(error: &(dyn StdError + 'static)) -> Place {
    let mut place = Place::default();
    let mut link = Some(error);
    while let Some(error) = link {
        place.learn(error);
        link = error.source();
    }
    place
}

impl Place {
    /// Takes over what `error` itself knows. The outermost offset counts: it is one of the file.
    fn learn(&mut self, error: &(dyn StdError + 'static)) {
        match error.downcast_ref() {
            Some(crate::error::Error::Frame(inner)) => self.learn(inner),
            Some(crate::error::Error::Blp(inner)) => self.learn(inner),
            Some(crate::error::Error::ReadBack { at, expected, found }) => {
                self.offset = Some(*at);
                (self.expected, self.found) = (expected.0.map(u64::from), found.0.map(u64::from));
            }
            Some(crate::error::Error::Chunk { at, source }) => {
                self.offset = Some(at.saturating_add(position(source)));
            }
            _ => {}
        }
        if let Some(error) = error.downcast_ref::<b2frame::Error>() {
            self.offset = self.offset.or(error.position());
            self.chunk = self.chunk.or(match error {
                b2frame::Error::Chunk { nchunk, .. } | b2frame::Error::Compress { nchunk, .. } => {
                    Some(*nchunk)
                }
                _ => None,
            });
        }
        match error.downcast_ref() {
            Some(bloscpack::Error::Chunk { nchunk, at, .. }) => {
                (self.chunk, self.offset) = (Some(*nchunk), Some(*at));
            }
            Some(bloscpack::Error::Corrupt { at, what }) => {
                self.offset = self.offset.or(Some(*at));
                self.chunk = self.chunk.or(what.nchunk());
            }
            _ => {}
        }
        if let Some(b2frame::Error::Corrupt { what, .. }) = error.downcast_ref() {
            (self.expected, self.found) = clash(what).unzip();
        }
        if let Some(blosc_chunk::Error::Corrupt {
            what: blosc_chunk::Corrupt::Truncated { cbytes, len },
            ..
        }) = error.downcast_ref()
        {
            (self.expected, self.found) = (Some(*cbytes as u64), Some(*len as u64));
        }
        if let Some(blosc_chunk::Error::Block { nblock, .. }) = error.downcast_ref() {
            self.block = Some(*nblock);
        }
    }
}

/// Where in a chunk the damage is (bytes).
fn position(error: &blosc_chunk::Error) -> u64 {
    match error {
        blosc_chunk::Error::Corrupt { at, .. }
        | blosc_chunk::Error::Block { at, .. }
        | blosc_chunk::Error::Codec { at, .. } => *at,
        _ => 0,
    }
}

/// What a frame should have, and has.
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
        let error =
            crate::error::Error::Frame(b2frame::Error::Chunk { nchunk: 7, at: 1000, source });
        let place =
            Place { offset: Some(1000), chunk: Some(7), block: Some(3), ..Place::default() };
        assert_eq!(place_of(&error), place);
    }

    #[test]
    fn clashing_numbers_are_told_apart() {
        let what = Corrupt::FrameTruncated { frame_len: 369, available: 200 };
        let error = crate::error::Error::Frame(b2frame::Error::Corrupt { at: 16, what });
        let place = place_of(&error);
        assert_eq!((place.offset, place.expected, place.found), (Some(16), Some(369), Some(200)));
    }

    #[test]
    fn an_error_without_coordinates_has_no_place() {
        assert_eq!(place_of(&crate::error::Error::Terminal), Place::default());
    }
}
