//! The division of data into chunks, and the check of chunk sizes against the header ("How a writer
//! divides its input" and "Chunks" in the format document).

use crate::header::{MAX_CHUNKSIZE, Version};
use crate::{Corrupt, Header, Param};

/// Data divided into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    pub(crate) nchunks: u64,
    pub(crate) chunksize: u32,
    pub(crate) last_chunk: u32,
}

impl Division {
    /// Divides `nbytes` into chunks of `chunk_size`. No data make one chunk without data; less than
    /// a chunk of data reduces the chunk size.
    pub(crate) fn new(nbytes: u64, chunksize: u32) -> Result<Self, Param> {
        if !(1..=MAX_CHUNKSIZE).contains(&chunksize) {
            return Err(Param::ChunkSize { chunksize: chunksize.into(), max: MAX_CHUNKSIZE });
        }
        // Data shorter than a chunk fit an `u32`.
        let chunksize = u32::try_from(nbytes).map_or(chunksize, |nbytes| nbytes.min(chunksize));
        let last_chunk = nbytes.checked_rem(chunksize.into()).unwrap_or(0);
        Ok(Self {
            nchunks: nbytes.div_ceil(u64::from(chunksize).max(1)).max(1),
            chunksize,
            last_chunk: u32::try_from(last_chunk)
                .ok()
                .filter(|rest| *rest > 0)
                .unwrap_or(chunksize),
        })
    }

    /// Data of a chunk (bytes).
    pub(crate) fn nbytes(&self, nchunk: u64) -> u32 {
        if nchunk.checked_add(1) == Some(self.nchunks) { self.last_chunk } else { self.chunksize }
    }
}

/// Checks the sizes of chunks one after another.
#[derive(Clone, Debug)]
pub(crate) struct SizeCheck {
    header: Header,
    /// The number and the size in bytes of the last chunk, after which no other may follow.
    ended: Option<(u64, u32)>,
}

impl SizeCheck {
    pub(crate) fn new(header: Header) -> Self {
        Self { header, ended: None }
    }

    /// Checks that chunk `nchunk`, the next one, may have `nbytes` of data.
    pub(crate) fn next(&mut self, nchunk: u64, nbytes: u32) -> Result<(), Corrupt> {
        if let Some((nchunk, nbytes)) = self.ended {
            let expected = self.header.uniform_size().unwrap_or(0);
            return Err(wrong(nchunk, nbytes, expected));
        }
        if self.header.check_nbytes(nchunk, nbytes)? == Follows::Nothing {
            self.ended = Some((nchunk, nbytes));
        }
        Ok(())
    }

    /// Checks that the chunks may end after chunk `nchunk` with `nbytes`, if the header does not
    /// give their number.
    pub(crate) fn check_last(&self, nchunk: u64, nbytes: u32) -> Result<(), Corrupt> {
        match (self.header.nchunks, self.header.last_chunk) {
            (None, Some(last_chunk)) if last_chunk != nbytes => {
                Err(wrong(nchunk, nbytes, last_chunk))
            }
            _ => Ok(()),
        }
    }
}

/// The chunks that can follow a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    Anything,
    /// The chunk is the last one, by its number or its size.
    Nothing,
}

impl Header {
    /// Checks by the header alone that chunk `nchunk` may have `nbytes` of data.
    pub(crate) fn check_nbytes(&self, nchunk: u64, nbytes: u32) -> Result<Follows, Corrupt> {
        let follows = match self.nchunks {
            Some(nchunks) if nchunk.saturating_add(1) < nchunks => self.check_inner(nchunk, nbytes),
            Some(_) => self.check_final(nchunk, nbytes),
            None => self.check_any(nchunk, nbytes),
        }?;
        let empty_is_fine =
            follows == Follows::Nothing && (nchunk == 0 || self.version < Version::V3);
        if nbytes == 0 && !empty_is_fine {
            return Err(Corrupt::EmptyChunk { nchunk });
        }
        Ok(follows)
    }

    fn check_inner(&self, nchunk: u64, nbytes: u32) -> Result<Follows, Corrupt> {
        match self.uniform_size() {
            Some(chunksize) if chunksize != nbytes => Err(wrong(nchunk, nbytes, chunksize)),
            _ => Ok(Follows::Anything),
        }
    }

    fn check_final(&self, nchunk: u64, nbytes: u32) -> Result<Follows, Corrupt> {
        match (self.last_chunk, self.uniform_size()) {
            (Some(last_chunk), _) if last_chunk != nbytes => Err(wrong(nchunk, nbytes, last_chunk)),
            (None, Some(chunksize)) if nbytes > chunksize => Err(wrong(nchunk, nbytes, chunksize)),
            _ => Ok(Follows::Nothing),
        }
    }

    /// Checks a chunk that may be the last one or not.
    fn check_any(&self, nchunk: u64, nbytes: u32) -> Result<Follows, Corrupt> {
        match (self.uniform_size(), self.last_chunk) {
            _ if nbytes == 0 => Ok(Follows::Nothing),
            (None, _) => Ok(Follows::Anything),
            (Some(chunksize), _) if nbytes == chunksize => Ok(Follows::Anything),
            (_, Some(last_chunk)) if nbytes == last_chunk => Ok(Follows::Nothing),
            (Some(chunksize), None) if nbytes < chunksize => Ok(Follows::Nothing),
            (Some(chunksize), _) => Err(wrong(nchunk, nbytes, chunksize)),
        }
    }
}

fn wrong(nchunk: u64, nbytes: u32, expected: u32) -> Corrupt {
    if nbytes == 0 {
        return Corrupt::EmptyChunk { nchunk };
    }
    Corrupt::ChunkSize { nchunk, nbytes, expected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn division(nbytes: u64, chunksize: u32) -> (u64, u32, u32) {
        let found = Division::new(nbytes, chunksize).unwrap();
        (found.nchunks, found.chunksize, found.last_chunk)
    }

    #[test]
    fn division_is_that_of_bloscpack_0_16() {
        assert_eq!(division(0, 1 << 20), (1, 0, 0));
        assert_eq!(division(1, 1 << 20), (1, 1, 1));
        assert_eq!(division(10, 10), (1, 10, 10));
        assert_eq!(division(20, 10), (2, 10, 10));
        assert_eq!(division(21, 10), (3, 10, 1));
        assert_eq!(division(u64::MAX, 1), (u64::MAX, 1, 1));
        let max = MAX_CHUNKSIZE;
        for chunksize in [0, max + 1] {
            let error = Param::ChunkSize { chunksize: chunksize.into(), max };
            assert_eq!(Division::new(5, chunksize), Err(error));
        }
    }

    /// A header of these fields, -1 for unknown.
    fn header(version: u8, chunksize: i32, last_chunk: i32, nchunks: i64) -> Header {
        let fields =
            [&chunksize.to_le_bytes()[..], &last_chunk.to_le_bytes(), &nchunks.to_le_bytes()]
                .concat();
        Header::parse(&[&b"blpk"[..], &[version, 0, 0, 8], &fields, &[0; 8]].concat()).unwrap()
    }

    fn check(header: Header, sizes: &[u32]) -> Result<(), Corrupt> {
        let mut check = SizeCheck::new(header);
        for (nchunk, nbytes) in sizes.iter().enumerate() {
            check.next(nchunk as u64, *nbytes)?;
        }
        check.check_last(sizes.len() as u64 - 1, sizes[sizes.len() - 1])
    }

    #[test]
    fn known_sizes_are_exact() {
        let known = header(3, 10, 4, 3);
        assert_eq!(check(known, &[10, 10, 4]), Ok(()));
        assert_eq!(check(known, &[10, 9]), Err(wrong(1, 9, 10)));
        assert_eq!(check(known, &[10, 10, 10]), Err(wrong(2, 10, 4)));
        assert_eq!(check(known, &[0]), Err(Corrupt::EmptyChunk { nchunk: 0 }));
    }

    #[test]
    fn an_unknown_last_chunk_is_at_most_a_chunk() {
        let unknown = header(3, 10, -1, 2);
        assert_eq!(check(unknown, &[10, 3]), Ok(()));
        assert_eq!(check(unknown, &[10, 11]), Err(wrong(1, 11, 10)));
        assert_eq!(check(unknown, &[10, 0]), Err(Corrupt::EmptyChunk { nchunk: 1 }));
    }

    #[test]
    fn an_unknown_number_ends_with_the_first_short_chunk() {
        let stream = header(3, 10, -1, -1);
        assert_eq!(check(stream, &[10, 10, 3]), Ok(()));
        assert_eq!(check(stream, &[10, 10]), Ok(()));
        assert_eq!(check(stream, &[0]), Ok(()));
        assert_eq!(check(stream, &[10, 3, 10]), Err(wrong(1, 3, 10)));
        assert_eq!(check(stream, &[0, 10]), Err(Corrupt::EmptyChunk { nchunk: 0 }));
        assert_eq!(check(stream, &[11]), Err(wrong(0, 11, 10)));
        let last_known = header(3, 10, 4, -1);
        assert_eq!(check(last_known, &[10, 4]), Ok(()));
        assert_eq!(check(last_known, &[10, 3]), Err(wrong(1, 3, 10)));
        assert_eq!(check(last_known, &[10, 10]), Err(wrong(1, 10, 4)));
    }

    #[test]
    fn nothing_known_allows_any_sizes() {
        assert_eq!(check(header(3, -1, -1, -1), &[7, 1, 900]), Ok(()));
        assert_eq!(check(header(3, -1, 900, 3), &[7, 1, 900]), Ok(()));
        assert_eq!(check(header(3, -1, -1, 3), &[7, 0]), Err(Corrupt::EmptyChunk { nchunk: 1 }));
    }

    #[test]
    fn old_versions_have_their_own_last_chunks() {
        assert_eq!(check(header(2, 0, 20, 1), &[20]), Ok(()));
        assert_eq!(check(header(2, 3, 4, 2), &[3, 4]), Ok(()));
        assert_eq!(check(header(2, 10, 0, 3), &[10, 10, 0]), Ok(()));
        let v1 = Header::parse(b"blpk\x01\0\0\0\x03\0\0\0\0\0\0\0").unwrap();
        assert_eq!(check(v1, &[10, 20, 0]), Ok(()));
        assert_eq!(check(v1, &[10, 0, 20]), Err(Corrupt::EmptyChunk { nchunk: 1 }));
    }

    #[test]
    fn only_an_empty_file_has_an_empty_chunk() {
        assert_eq!(check(header(3, 0, 0, 1), &[0]), Ok(()));
        assert_eq!(check(header(3, 0, 0, 2), &[0]), Err(Corrupt::EmptyChunk { nchunk: 0 }));
        assert_eq!(check(header(3, 10, 0, 2), &[10, 0]), Err(Corrupt::EmptyChunk { nchunk: 1 }));
    }

    proptest! {
        #[test]
        fn divided_data_are_all_there(nbytes in 0_u64..100_000, chunksize in 1_u32..5000) {
            let division = Division::new(nbytes, chunksize).unwrap();
            let sum: u64 = (0..division.nchunks).map(|n| u64::from(division.nbytes(n))).sum();
            prop_assert_eq!(sum, nbytes);
            prop_assert!(division.last_chunk <= division.chunksize && division.chunksize <= chunksize);
        }
    }
}
