//! `b2 scan`: frames and chunks inside any file, at positions that `FILE@N` opens.
//!
//! Frames are known by their magic number. Chunks have none: wherever a header makes sense and
//! what it describes lies in the file, the chunk is decoded, and listed if that works.

use std::{
    io::{self, Read as _},
    sync::Arc,
};

use b2frame::{
    OpenOptions, SChunk, probe,
    probe::{Kind, PROBE_LEN},
};
use blosc_chunk::ChunkHeader;
use blosc_io::{FileStore, ReadAt};
use serde::Serialize;

use crate::{
    args::{InputArgs, ScanArgs},
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::{BareChunk, chunk::stored_len, store},
    inputs::{Origin, Part, frame_bytes, is_sparse, item_type, origin, walk},
    render::{harmless, size},
    report::info::frame_name,
};

/// Bytes that are looked at together.
const WINDOW_NBYTES: usize = 1 << 20;

/// The type byte before the magic number, MessagePack's text of 8 bytes.
const TEXT_OF_EIGHT: u8 = 0xa8;

/// The newest version of a chunk.
const MAX_CHUNK_VERSION: u8 = 6;

/// The objects of one file.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.scan/1")]
struct ScanReport<'a> {
    path: &'a str,
    file_bytes: u64,
    objects: Vec<Object>,
}

/// One frame or chunk.
#[derive(Debug, Serialize)]
struct Object {
    /// Where it starts (bytes).
    offset: u64,
    /// Its length in the file (bytes).
    cbytes: u64,
    format: &'static str,
    nbytes: u64,
    typesize: u64,
    codec: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<u64>>,
}

/// Scans each file.
pub(crate) fn run(args: &ScanArgs, cx: &Context) -> Code {
    let inputs = InputArgs { files: args.files.clone(), ..InputArgs::default() };
    cx.run_on_inputs(origin::find(&inputs, &walk::all), |origin| scan_input(args, cx, origin))
}

fn scan_input(args: &ScanArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let (store, name) = (open(origin)?, origin.name());
    let file_bytes = store.len().map_err(Error::io(Doing::Open))?;
    let mut scan = Scan { cx, store, file_bytes, wants_chunks: !args.frames };
    let (mut objects, mut nobjects) = (vec![], 0u64);
    scan.run(&mut |object| {
        nobjects += 1;
        match cx.console.json() {
            true => objects.push(object),
            false => cx.console.print(&line(&object))?,
        }
        Ok(())
    })?;
    if cx.console.json() {
        let path = name.as_str();
        cx.console.document(&ScanReport { path, file_bytes, objects })?;
    }
    match nobjects {
        0 if cx.console.json() => Err(Error::Reported { code: Code::Data }),
        0 => Err(message::NOTHING_FOUND.error()),
        _ => Ok(()),
    }
}

/// The file; standard input is kept in a temporary one.
fn open(origin: &Origin) -> Result<Arc<dyn ReadAt>> {
    if let Origin::File { path, part: Part::Member(key) } = origin {
        let opened = store::open(path, blosc_chunk::DParams::default())?;
        return Ok(opened.frame_bytes(key)?);
    }
    if let Some(path) = origin.path() {
        return Ok(Arc::new(FileStore::open(path).map_err(Error::io(Doing::Open))?));
    }
    let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    let mut stdin = io::stdin().lock().take(u64::MAX);
    io::copy(&mut stdin, &mut file).map_err(Error::io(Doing::Spool))?;
    Ok(Arc::new(FileStore::from_file(file)))
}

/// A file that is scanned.
struct Scan<'a> {
    cx: &'a Context,
    store: Arc<dyn ReadAt>,
    file_bytes: u64,
    wants_chunks: bool,
}

impl Scan<'_> {
    /// Hands what is found to `found`, in order; nothing is sought inside of it.
    fn run(&mut self, found: &mut dyn FnMut(Object) -> Result<()>) -> Result<()> {
        let mut window = vec![0; WINDOW_NBYTES];
        let mut start = 0;
        while start < self.file_bytes {
            let left = self.file_bytes - start;
            let len = usize::try_from(left).map_or(WINDOW_NBYTES, |left| left.min(WINDOW_NBYTES));
            let bytes = window.get_mut(..len).unwrap_or_default();
            self.store.read_exact_at(start, bytes).map_err(Error::io(Doing::Read))?;
            // What begins near the end is seen whole in the next window.
            let is_last = start + len as u64 == self.file_bytes;
            let end = if is_last { len } else { len - ChunkHeader::MAX_LEN };
            let mut next = start + end as u64;
            let mut at = 0;
            while let Some(distance) = self.first_candidate(&bytes[at..], end - at) {
                at += distance;
                match self.object(start + at as u64, &bytes[at..]) {
                    Some(object) => {
                        let after = start + at as u64 + object.cbytes.max(1);
                        found(object)?;
                        next = next.max(after);
                        match usize::try_from(after - start).ok().filter(|to| *to < end) {
                            Some(to) => at = to,
                            None => {
                                next = after;
                                break;
                            }
                        }
                    }
                    None => at += 1,
                }
            }
            start = next;
        }
        Ok(())
    }

    /// The first position before `end` where something may begin.
    fn first_candidate(&self, bytes: &[u8], end: usize) -> Option<usize> {
        (0..end).find(|at| {
            let head = bytes.get(*at..).unwrap_or_default();
            is_frame(head) || (self.wants_chunks && may_be_chunk(head))
        })
    }

    /// What begins at `offset` with `head`.
    fn object(&self, offset: u64, head: &[u8]) -> Option<Object> {
        if is_frame(head) {
            return self.frame(offset);
        }
        self.chunk(offset, head)
    }

    fn frame(&self, offset: u64) -> Option<Object> {
        let options = OpenOptions::default().offset(offset).dparams(self.cx.dparams());
        let schunk = SChunk::from_store_with(Arc::clone(&self.store), &options).ok()?;
        // Its chunks would be in other files.
        let cbytes = if is_sparse(&schunk) { schunk.frame_len() } else { frame_bytes(&schunk) };
        let meta = schunk.nd_meta().ok().flatten();
        let dtype = meta.as_ref().and_then(|meta| {
            item_type(meta, schunk.header().typesize().get()).ok().map(|dtype| dtype.to_string())
        });
        Some(Object {
            offset,
            cbytes,
            format: frame_name(&schunk, meta.is_some()),
            nbytes: schunk.nbytes(),
            typesize: schunk.typesize() as u64,
            codec: schunk.cparams().codec.to_string(),
            dtype,
            shape: meta.map(|meta| meta.shape().to_vec()),
        })
    }

    fn chunk(&self, offset: u64, head: &[u8]) -> Option<Object> {
        let header = ChunkHeader::parse(head.get(..ChunkHeader::MAX_LEN).unwrap_or(head)).ok()?;
        let is_there = offset.checked_add(stored_len(&header))? <= self.file_bytes;
        // A lazy chunk has its data elsewhere, and one without data is too little to tell it.
        if !is_there || header.is_lazy() || header.nbytes() == 0 {
            return None;
        }
        let chunk = BareChunk::open(Arc::clone(&self.store), offset, self.cx.dparams()).ok()?;
        let nbytes = header.nbytes() as u64;
        if header.special().is_none() {
            chunk.part(0..nbytes, &self.cx.read_options(), &mut |_| Ok::<(), Error>(())).ok()?;
        }
        Some(Object {
            offset,
            cbytes: chunk.stored(),
            format: "chunk",
            nbytes,
            typesize: header.typesize() as u64,
            codec: header.codec_id().to_string(),
            dtype: None,
            shape: None,
        })
    }
}

/// Does a frame begin like this?
fn is_frame(head: &[u8]) -> bool {
    let start = head.get(..PROBE_LEN).unwrap_or(head);
    head.get(1) == Some(&TEXT_OF_EIGHT) && matches!(probe(start), Kind::Frame | Kind::OlderFrame)
}

/// May these be the first bytes of the header of a chunk? This decides for nearly all bytes of a
/// file.
fn may_be_chunk(head: &[u8]) -> bool {
    let [version, _, _, typesize, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3, ..] = head else {
        return false;
    };
    let nbytes = i32::from_le_bytes([*n0, *n1, *n2, *n3]);
    let blocksize = i32::from_le_bytes([*b0, *b1, *b2, *b3]);
    let cbytes = i32::from_le_bytes([*c0, *c1, *c2, *c3]);
    (1..=MAX_CHUNK_VERSION).contains(version)
        && *typesize > 0
        && nbytes > 0
        && (1..=nbytes).contains(&blocksize)
        && cbytes >= 16
        // Data that do not compress are stored with the header and nothing else.
        && i64::from(cbytes) <= i64::from(nbytes) + 32
}

fn line(object: &Object) -> String {
    let what = match (&object.dtype, &object.shape) {
        (Some(dtype), Some(shape)) => format!("{dtype} {}", size::shape(shape)),
        _ => format!("{} bytes in items of {}", object.nbytes, object.typesize),
    };
    let Object { offset, cbytes, format, codec, .. } = object;
    format!("{offset:>12}  {cbytes:>10}  {format:<7}  {codec:<7}  {}\n", harmless(&what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_may_begin_a_chunk() {
        let header = [2, 1, 0x21, 4, 64, 0, 0, 0, 32, 0, 0, 0, 40, 0, 0, 0];
        assert!(may_be_chunk(&header));
        assert!(!may_be_chunk(&header[..15]));
        for (at, byte) in [(0, 0), (0, 99), (3, 0), (7, 0x80), (8, 65), (12, 15), (13, 9)] {
            let mut other = header;
            other[at] = byte;
            assert!(!may_be_chunk(&other), "{at} {byte}");
        }
        assert!(!may_be_chunk(&[0; 32]) && !may_be_chunk(&[0xff; 32]));
    }
}
