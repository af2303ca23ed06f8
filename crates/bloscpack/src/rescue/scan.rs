//! The search for intact chunks.

use std::io;

use blosc_chunk::{ChunkHeader, DParams, Decoder, Limits};
use blosc_io::ReadAt;

use super::{Rescue, Rescued};
use crate::chunk::{self, Expected};
use crate::file::StoreReader;
use crate::header::Version;
use crate::input::Input;
use crate::journal::Before;
use crate::preamble::Preamble;
use crate::raw::MAGIC;
use crate::{
    Error, Header, MetadataUse, Mismatch, OffsetsUse, PackedChunk, RcHeader, ReadOptions, Result,
};

/// A scan of a file from front to back.
pub(super) struct Scan<'a, S> {
    view: &'a Before<S>,
    len: u64,
    /// The properties that chunks must have.
    rule: Header,
    pub(super) found: Rescue,
    /// The expected positions of chunks, from the offsets.
    positions: Vec<u64>,
    chunks_at: u64,
    /// The position to search next.
    at: u64,
    /// Number of the next chunk, unless one before it is missing.
    next: Option<u64>,
    decoder: Decoder,
    data: Vec<u8>,
    /// Bytes that may still be searched, read or decoded.
    budget: u64,
}

impl<'a, S: ReadAt> Scan<'a, S> {
    pub(super) fn new(view: &'a Before<S>, dparams: &DParams) -> Result<Self> {
        let len = view.len().map_err(|source| Error::io(0, source))?;
        let mut scan = Self {
            view,
            len,
            rule: rule(None),
            found: Rescue { limits: dparams.limits, ..Rescue::default() },
            positions: vec![],
            chunks_at: Header::PREFIX_LEN as u64,
            at: 0,
            next: Some(0),
            decoder: Decoder::new(dparams.clone()),
            data: vec![],
            budget: len.saturating_mul(SEARCH_FACTOR).saturating_add(1 << 20),
        };
        scan.read_preamble()?;
        scan.rule = rule(scan.found.header.as_ref());
        scan.at = scan.chunks_at;
        Ok(scan)
    }

    /// Reads as many of the parts before the chunks as possible.
    fn read_preamble(&mut self) -> Result<()> {
        let uses = [
            (MetadataUse::Raw, OffsetsUse::Check),
            (MetadataUse::Raw, OffsetsUse::Ignore),
            (MetadataUse::Ignore, OffsetsUse::Ignore),
        ];
        let (view, len) = (self.view, self.len);
        let (with_magic, is_damaged) = WithMagic::new(view, len)?;
        for (metadata, offsets) in uses {
            let options = ReadOptions::default()
                .metadata(metadata)
                .offsets(offsets)
                .rc_header(RcHeader::Never);
            match Preamble::read(&mut input(&with_magic, 0, len), &options) {
                Ok(preamble) => {
                    self.take(preamble);
                    self.found.lost_magic = is_damaged;
                    return Ok(());
                }
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(_) => {}
            }
        }
        let mut bytes = [0; Header::MAX_LEN];
        let read = input(&with_magic, 0, len).up_to(&mut bytes)?;
        if let Ok(header) = Header::parse(&bytes[..read]) {
            self.found.header = Some(header);
            self.found.lost_magic = is_damaged;
            self.chunks_at = header.version.header_len() as u64;
        }
        Ok(())
    }

    fn take(&mut self, preamble: Preamble) {
        self.positions =
            preamble.offsets.as_ref().and_then(|o| o.positions()).unwrap_or_default().to_vec();
        self.chunks_at = preamble.chunks_at;
        self.found.header = Some(preamble.header);
        self.found.metadata = preamble.metadata;
    }

    pub(super) fn run(&mut self) -> Result<()> {
        while self.at < self.len && !self.is_complete() {
            let at = self.at;
            match self.read_intact(at)? {
                Some(chunk) => {
                    self.next = chunk.nchunk.map(|nchunk| nchunk + 1);
                    self.found.chunks.push(chunk);
                }
                None => {
                    self.at = self.search(at + 1)?;
                    self.found.lost.push(at..self.at);
                    self.next = None;
                }
            }
        }
        Ok(())
    }

    /// Whether all chunks were found, so that bytes after them have no meaning.
    fn is_complete(&self) -> bool {
        let nchunks = self.found.header.and_then(|header| header.nchunks);
        nchunks.is_some() && nchunks == self.next
    }

    /// The chunk at byte `at`, if it is intact; moves the scan past it.
    fn read_intact(&mut self, at: u64) -> Result<Option<Rescued>> {
        let nchunk = self.number(at);
        let packed = match read(
            self.view,
            self.len,
            &self.rule,
            &self.found.limits,
            at,
            at == self.chunks_at,
        ) {
            Ok(Some(packed)) => packed,
            Err(error @ Error::Io { .. }) => return Err(error),
            Ok(None) | Err(_) => return Ok(None),
        };
        let (cbytes, nbytes) = (packed.bytes().len() as u64, packed.header().nbytes() as u64);
        if crate::decoding::decode_into(&packed, &mut self.data, &mut self.decoder).is_err() {
            // Only failures cost budget: a chunk that decodes is not tried again.
            self.spend(cbytes.saturating_add(nbytes));
            return Ok(None);
        }
        if self.covers_another(at, packed.end())? {
            return Ok(None);
        }
        self.at = packed.end();
        Ok(Some(Rescued { nchunk, at, cbytes, nbytes }))
    }

    /// Whether a chunk that claims the bytes from `at` to `end` covers the start of another
    /// readable one. Then its size is damaged, although its own blocks may decode.
    fn covers_another(&mut self, at: u64, end: u64) -> Result<bool> {
        let next = self.positions.partition_point(|position| *position <= at);
        let Some(start) = self.positions.get(next).copied().filter(|start| *start < end) else {
            return Ok(false);
        };
        match read(self.view, self.len, &self.rule, &self.found.limits, start, false) {
            Ok(Some(packed)) => {
                self.spend(packed.bytes().len() as u64 + packed.header().nbytes() as u64);
                let decoded =
                    crate::decoding::decode_into(&packed, &mut self.data, &mut self.decoder);
                Ok(decoded.is_ok())
            }
            Err(error @ Error::Io { .. }) => Err(error),
            Ok(None) | Err(_) => Ok(false),
        }
    }

    fn number(&self, at: u64) -> Option<u64> {
        match self.positions.binary_search(&at) {
            Ok(nchunk) => Some(nchunk as u64),
            Err(_) => self.next,
        }
    }

    /// The next possible position of a chunk, at or after byte `from`.
    fn search(&mut self, from: u64) -> Result<u64> {
        let known = self.positions.partition_point(|at| *at < from);
        match self.positions.get(known) {
            Some(at) => Ok(*at),
            None if !self.positions.is_empty() => Ok(self.len),
            None => self.search_bytes(from),
        }
    }

    fn search_bytes(&mut self, mut from: u64) -> Result<u64> {
        let mut window = vec![0; WINDOW_NBYTES];
        while from < self.len && self.budget > 0 {
            let read = input(self.view, from, self.len).up_to(&mut window)?;
            let headers = window[..read].windows(ChunkHeader::MIN_LEN);
            let searched = headers.len() as u64;
            let found =
                headers.enumerate().find(|(i, bytes)| self.is_plausible(bytes, from + *i as u64));
            if let Some((i, _)) = found {
                self.spend(i as u64 + 1);
                return Ok(from + i as u64);
            }
            if searched == 0 {
                break;
            }
            self.spend(searched);
            from += searched;
        }
        Ok(self.len)
    }

    fn is_plausible(&self, bytes: &[u8], at: u64) -> bool {
        let [chunk::CHUNK_VERSION, ..] = bytes else { return false };
        ChunkHeader::parse(bytes).is_ok_and(|header| {
            let size = self.rule.check_nbytes(1, chunk::nbytes(&header));
            size.is_ok() && at.saturating_add(header.cbytes() as u64) <= self.len
        })
    }

    fn spend(&mut self, bytes: u64) {
        self.budget = self.budget.saturating_sub(bytes);
    }
}

/// A chunk at byte `at`, its size and digest checked; `None` at the end of the file.
pub(super) fn read<S: ReadAt>(
    view: &Before<S>,
    len: u64,
    rule: &Header,
    limits: &Limits,
    at: u64,
    first: bool,
) -> Result<Option<PackedChunk>> {
    let nchunk = u64::from(!first);
    let expected = Expected { nchunk, header: rule, limits, mismatch: &Mismatch::Fail };
    chunk::read_chunk(&mut input(view, at, len), expected)
}

/// The header's rules for a chunk with any number; without a header, all chunks are allowed.
pub(super) fn rule(header: Option<&Header>) -> Header {
    header.map_or(Header::bare(Version::V1), |header| Header { nchunks: None, ..*header })
}

fn input<V: ReadAt>(view: &V, at: u64, len: u64) -> Input<StoreReader<'_, V>> {
    Input::new(StoreReader::new(view, at), at, Some(len))
}

/// A file whose first four bytes are replaced by the magic.
struct WithMagic<'a, V> {
    view: &'a V,
    len: u64,
}

impl<'a, V: ReadAt> WithMagic<'a, V> {
    /// Also returns whether the magic in the file is wrong.
    fn new(view: &'a V, len: u64) -> Result<(Self, bool)> {
        let mut first = [0; MAGIC.len()];
        let read = input(view, 0, len).up_to(&mut first)?;
        Ok((Self { view, len }, first[..read] != MAGIC))
    }
}

impl<V: ReadAt> ReadAt for WithMagic<'_, V> {
    fn read_at(&self, at: u64, dest: &mut [u8]) -> io::Result<usize> {
        let read = self.view.read_at(at, dest)?;
        let inside = MAGIC.iter().zip(0_u64..).filter(|(_, position)| *position < self.len);
        for (byte, position) in inside {
            let place = position.checked_sub(at).and_then(|place| usize::try_from(place).ok());
            if let Some(dest) = place.and_then(|place| dest[..read].get_mut(place)) {
                *dest = *byte;
            }
        }
        Ok(read)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }
}

/// Bytes of work for each byte of the file.
const SEARCH_FACTOR: u64 = 64;

/// Bytes searched at once.
const WINDOW_NBYTES: usize = 1 << 16;
