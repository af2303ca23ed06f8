//! Where in a file an error is: the coordinates that each layer put on it, collected for programs.

use core::error::Error as StdError;

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
            Some(crate::error::Error::ReadBack { at, .. }) => self.offset = Some(*at),
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
        if let Some(blosc_chunk::Error::Block { nblock, .. }) = error.downcast_ref() {
            self.block = Some(*nblock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_adds_its_coordinate() {
        let cause = blosc_chunk::Error::Limit { nbytes: 2, limit: 1 };
        let source = blosc_chunk::Error::Block { nblock: 3, at: 44, source: Box::new(cause) };
        let error = crate::error::Error::Frame(b2frame::Error::Chunk { nchunk: 7, at: 1000, source });
        let place = Place { offset: Some(1000), chunk: Some(7), block: Some(3) };
        assert_eq!(place_of(&error), place);
    }

    #[test]
    fn an_error_without_coordinates_has_no_place() {
        assert_eq!(place_of(&crate::error::Error::Terminal), Place::default());
    }
}
