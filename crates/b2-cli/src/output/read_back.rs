//! Reading back: compares the content of an output with its input.
//!
//! Files are compared byte by byte. Input from a pipe cannot be read twice, so a [`Digest`] of it
//! is taken while it is read.

use std::io::{self, Read};

use b2frame::Budget;
use blosc_data::Digest;

use crate::{
    error::{ByteOrEnd, Doing, Error, Result},
    inputs::{Object, ObjectReader, decoded},
};

/// Compares the content of all `objects` with the bytes of `raw`.
///
/// # Errors
///
/// [`Error::ReadBack`] with the first byte that differs; an error of reading.
pub(crate) fn equal(
    objects: &mut ObjectReader,
    raw: &mut dyn Read,
    options: &Budget,
) -> Result<()> {
    let mut comparison = Comparison { raw, at: 0, buffer: Vec::new() };
    while let Some(object) = objects.next()? {
        decoded::all(&object, options, &mut |bytes| comparison.next(bytes))?;
    }
    comparison.finish()
}

struct Comparison<'a> {
    raw: &'a mut dyn Read,
    at: u64,
    buffer: Vec<u8>,
}

impl Comparison<'_> {
    /// Compares the next bytes.
    fn next(&mut self, decoded: &[u8]) -> Result<()> {
        self.buffer.clear();
        let wanted = decoded.len() as u64;
        self.raw.take(wanted).read_to_end(&mut self.buffer).map_err(Error::io(Doing::Read))?;
        if self.buffer != decoded {
            return Err(self.difference(decoded));
        }
        self.at += wanted;
        Ok(())
    }

    /// Checks that the raw bytes end here.
    fn finish(mut self) -> Result<()> {
        self.buffer.clear();
        self.raw.take(1).read_to_end(&mut self.buffer).map_err(Error::io(Doing::Read))?;
        if self.buffer.is_empty() { Ok(()) } else { Err(self.difference(&[])) }
    }

    fn difference(&self, decoded: &[u8]) -> Error {
        let same = self.buffer.iter().zip(decoded).take_while(|(a, b)| a == b).count();
        let byte = |bytes: &[u8]| ByteOrEnd(bytes.get(same).copied());
        Error::ReadBack {
            at: self.at + same as u64,
            expected: byte(&self.buffer),
            found: byte(decoded),
        }
    }
}

/// The digest of the content of `object`.
///
/// # Errors
///
/// When it cannot be decoded.
pub(crate) fn digest_of(object: &Object, options: &Budget) -> Result<Digest> {
    let mut digest = Digest::default();
    decoded::all(object, options, &mut |bytes| {
        digest.update(bytes);
        Ok(())
    })?;
    Ok(digest)
}

/// A reader that computes the digest of its bytes only if it is needed, since a digest costs time.
#[derive(Debug)]
pub(crate) struct Digesting<R> {
    inner: R,
    digest: Digest,
    needed: bool,
}

impl<R> Digesting<R> {
    /// A reader of `inner`.
    pub(crate) fn new(inner: R, needed: bool) -> Self {
        Self { inner, digest: Digest::default(), needed }
    }

    /// The digest since the start or the last call.
    pub(crate) fn take_digest(&mut self) -> Digest {
        core::mem::take(&mut self.digest)
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.inner.read(buf)?;
        if self.needed {
            self.digest.update(&buf[..nbytes]);
        }
        Ok(nbytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b2frame::{FrameParams, SChunk, to_cframe};
    use blosc_chunk::DParams;
    use blosc_io::MemStore;
    use std::sync::Arc;

    fn compared(frames: &[&[u8]], raw: &[u8]) -> Result<()> {
        let params = FrameParams::default().chunksize(8);
        let stored: Vec<u8> =
            frames.iter().flat_map(|data| to_cframe(data, &params).unwrap()).collect();
        equal(
            &mut ObjectReader::from_store(Arc::new(MemStore::new(stored)), DParams::default()),
            &mut &*raw,
            &Budget::default(),
        )
    }

    #[test]
    fn first_difference_is_reported() {
        assert!(compared(&[b"0123456789"], b"0123456789").is_ok());
        assert!(compared(&[b"0123", b"456789"], b"0123456789").is_ok());
        for (raw, at, expected, found) in [
            (&b"012345678x"[..], 9, Some(b'x'), Some(b'9')),
            (b"0123", 4, None, Some(b'4')),
            (b"0123456789x", 10, Some(b'x'), None),
        ] {
            match compared(&[b"0123456789"], raw) {
                Err(Error::ReadBack { at: a, expected: e, found: f }) => {
                    assert_eq!((a, e.0, f.0), (at, expected, found));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn digesting_reader_hashes_the_bytes_it_reads() {
        let mut reader = Digesting::new(&b"some data"[..], true);
        io::copy(&mut reader, &mut io::sink()).unwrap();
        let frame = to_cframe(b"some data", &FrameParams::default()).unwrap();
        let frame = Object::Frame(Arc::new(SChunk::from_cframe(frame).unwrap()));
        assert_eq!(digest_of(&frame, &Budget::default()).unwrap(), reader.take_digest());
        assert_eq!(reader.take_digest(), Digest::default());
    }
}
