//! Files that another program changes while they are read. An append rewrites header, offsets and
//! the last chunk, and no other old byte.

use core::time::Duration;
use std::{io, thread};

use blosc_chunk::{Encoder, max_compressed_len};
use blosc_io::{ReadAt, Stamp};

use super::{BlpFile, StoreReader};
use crate::chunk::{Expected, read_chunk};
use crate::decoding::decode_into;
use crate::input::Input;
use crate::journal::Before;
use crate::{Error, Header, PackedChunk, Result};

/// Reads a part of the file that must not change meanwhile, and repeats until it did not. Returns
/// the stamp of that state.
pub(super) fn read_unchanged<S: ReadAt, T>(
    store: &mut Before<S>,
    mut read: impl FnMut(&Before<S>) -> Result<T>,
) -> Result<(Option<Stamp>, T)> {
    for left in (0..MAX_TRIES).rev() {
        let stamp = store.stamp();
        // A file that is cut in between is read again, too.
        let found = store.refresh().map_err(|source| Error::io(0, source));
        let result = found.and_then(|()| read(store));
        // Modification times are some milliseconds apart, so a file that grew and was cut between
        // two stamps may show the same stamp.
        let may_be_cut = left >= MAX_TRIES.saturating_sub(TRIES_AT_END) && ends_early(&result);
        if left == 0 || store.stamp() == stamp && !may_be_cut {
            return result.map(|result| (stamp, result));
        }
        thread::sleep(PAUSE);
    }
    Err(Error::ChangedByOther { at: 0 })
}

/// Whether the store ended before its own length. Faults of a file that does not change give other
/// errors.
fn ends_early<T>(result: &Result<T>) -> bool {
    let Err(Error::Io { source, .. }) = result else { return false };
    source.kind() == io::ErrorKind::UnexpectedEof
}

impl<S: ReadAt> BlpFile<S> {
    /// Whether the file has changed since it was opened, as far as the store tells.
    pub(super) fn is_changed(&self) -> bool {
        self.stamp.is_some() && self.store.stamp() != self.stamp
    }

    /// Whether a chunk may have been written again since the file was opened.
    pub(super) fn is_rewritten(&self, nchunk: u64) -> bool {
        self.header().nchunks == nchunk.checked_add(1) && self.is_changed()
    }

    /// Reads a chunk of a file that has grown. The former last chunk now begins with its former
    /// data, which are compressed to a chunk again.
    pub(super) fn reread(&self, nchunk: u64, at: u64) -> Result<PackedChunk> {
        let mut view = Before::unread(self.store.store());
        let header = Header { nchunks: None, last_chunk: None, ..self.preamble.header };
        let (_, read) = read_unchanged(&mut view, |view| {
            let len = view.len().map_err(|source| Error::io(at, source))?;
            let mut input = Input::new(StoreReader::new(view, at), at, Some(len));
            Ok(read_chunk(&mut input, Expected { header: &header, ..self.expected(nchunk) }))
        })?;
        let chunk = read?.ok_or(Error::ChangedByOther { at })?;
        if self.expected(nchunk).check(chunk.header(), at).is_ok() {
            return Ok(chunk);
        }
        let range = self.chunk_range(nchunk)?;
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let mut data = vec![];
        decode_into(&chunk, &mut data, &mut self.decoder())?;
        let data = data.get(..len).ok_or(Error::ChangedByOther { at })?;
        let in_chunk = |source| Error::Chunk { nchunk, at, source };
        let mut encoder = Encoder::new(crate::params::default_cparams()).map_err(in_chunk)?;
        let mut bytes = vec![0; max_compressed_len(len)];
        let cbytes = encoder.encode_into(data, &mut bytes).map_err(in_chunk)?;
        bytes.truncate(cbytes);
        PackedChunk::new(nchunk, at, bytes, self.header().checksum)
    }
}

/// Tries to read a changing file.
const MAX_TRIES: u32 = 1000;

/// First tries in which an early end counts as a cut, even if the stamp stays.
const TRIES_AT_END: u32 = 20;

/// Pause before the next try.
const PAUSE: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use blosc_io::MemStore;
    use core::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::WriteOptions;

    /// A file that is cut and grows again between two looks at its stamp, several times.
    struct Flickering {
        file: MemStore,
        left: AtomicU32,
    }

    impl ReadAt for Flickering {
        fn len(&self) -> io::Result<u64> {
            self.file.len()
        }

        fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
            let take = |left: u32| left.checked_sub(1);
            match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                Ok(_) => Ok(0),
                Err(_) => self.file.read_at(at, buf),
            }
        }

        fn stamp(&self) -> Option<Stamp> {
            self.len().ok().map(|len| Stamp::new(len, None))
        }
    }

    #[test]
    fn a_file_that_ends_early_under_the_same_stamp_is_read_again() {
        let bytes = crate::pack(b"some data", WriteOptions::default()).unwrap();
        for (failures, is_read) in [(0, true), (1, true), (15, true), (u32::MAX, false)] {
            let file = MemStore::new(bytes.clone());
            let store = Flickering { file, left: AtomicU32::new(failures) };
            match BlpFile::new(store) {
                Ok(file) => {
                    assert_eq!(file.chunk(0).unwrap(), b"some data");
                    assert!(is_read, "{failures}");
                }
                Err(error) => assert!(!is_read, "{failures}: {error}"),
            }
        }
    }
}
