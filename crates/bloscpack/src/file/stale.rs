//! Files that another program changes while they are read: an append writes header, offsets and the
//! last chunk again, and nothing else of what was there.

use core::time::Duration;
use std::thread;

use blosc_chunk::{Encoder, max_compressed_len};
use blosc_io::{ReadAt, Stamp};

use super::{BlpFile, StoreReader};
use crate::chunk::{Expected, read_chunk};
use crate::decoding::decode_into;
use crate::input::Input;
use crate::journal::Before;
use crate::{Error, Header, PackedChunk, Result};

/// Reads something that must not change meanwhile, again and again until it does not, and returns
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
        if left == 0 || store.stamp() == stamp {
            return result.map(|result| (stamp, result));
        }
        thread::sleep(PAUSE);
    }
    Err(Error::ChangedByOther { at: 0 })
}

impl<S: ReadAt> BlpFile<S> {
    /// Whether the file is another one than when it was opened, as far as the store tells.
    pub(super) fn is_changed(&self) -> bool {
        self.stamp.is_some() && self.store.stamp() != self.stamp
    }

    /// Whether a chunk may have been written again since the file was opened.
    pub(super) fn is_rewritten(&self, nchunk: u64) -> bool {
        self.header().nchunks == nchunk.checked_add(1) && self.is_changed()
    }

    /// A chunk of a file that has grown. The one that was the last begins with the data that it
    /// had, which are made to a chunk again.
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
        let mut encoder = Encoder::new(crate::default_cparams()).map_err(in_chunk)?;
        let mut bytes = vec![0; max_compressed_len(len)];
        let cbytes = encoder.encode_into(data, &mut bytes).map_err(in_chunk)?;
        bytes.truncate(cbytes);
        PackedChunk::new(nchunk, at, bytes, self.header().checksum)
    }
}

/// How many times a file that changes is read again.
const MAX_TRIES: u32 = 1000;

/// How long a change is waited for before the next try.
const PAUSE: Duration = Duration::from_millis(1);
