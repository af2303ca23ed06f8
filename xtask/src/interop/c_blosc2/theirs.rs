//! C's reading of a chunk, and its known faults.

use core::ops::Range;

use blosc_chunk::{Chunk, CodecId, Kind, Special};
use serde_json::Value;

use super::{Bench, Call, DELTA, Reply, Result, Verdict, compare, fail, mask, masked};

/// A chunk as C reads it.
pub(super) struct Theirs {
    reply: Reply,
}

impl Theirs {
    /// Lets C read a chunk of `blosc-chunk`.
    pub(super) fn ask(bench: &mut Bench, call: &Call, chunk: &[u8]) -> Result<Self> {
        let theirs = Self { reply: bench.oracle.ask(request(call, chunk), &[chunk])? };
        match theirs.content() {
            Some(_) => Ok(theirs),
            None => fail(format!("refused by the oracle: {}", theirs.reply.facts)),
        }
    }

    /// Lets C read its own chunk; `None` if it crashes.
    pub(super) fn try_ask(bench: &mut Bench, call: &Call, chunk: &[u8]) -> Result<Option<Self>> {
        Ok(bench.oracle.try_ask(request(call, chunk), &[chunk])?.map(|reply| Self { reply }))
    }

    /// The whole chunk, if C reads all of it.
    pub(super) fn content(&self) -> Option<&[u8]> {
        let content = self.reply.parts.first()?;
        self.is_read(&self.reply.facts["code"], content.len()).then_some(content)
    }

    /// Checks that the parts that C reads are parts of the whole, except for its known faults.
    pub(super) fn check_parts(&self, call: &Call, chunk: &[u8], content: &[u8]) -> Result<Verdict> {
        let (chunk, typesize) = (Chunk::parse(chunk)?, call.stored_typesize());
        let (facts, items) = (&self.reply.facts, call.items());
        let mut parts = self.reply.parts.iter().skip(1);
        let mut verdict = Verdict::Equal;
        for key in ["items", "bytes"] {
            for (i, items) in items.iter().enumerate() {
                let bytes = items.start * typesize..items.end * typesize;
                let (code, expected) = (&facts[key][i], &content[bytes.clone()]);
                let part = parts.next().map_or(&[][..], Vec::as_slice);
                if self.is_read(code, expected.len()) && part == expected {
                    continue;
                }
                if !is_misread(&chunk, &bytes) {
                    compare(&format!("{key} {items:?} (code {code})"), expected, part)?;
                    return fail(format!("{key} {items:?}: code {code}"));
                }
                verdict = Verdict::Misread;
            }
        }
        if chunk.header().kind() == Kind::Regular {
            let part = parts.next().map_or(&[][..], Vec::as_slice);
            compare("masked by the oracle", &masked(&chunk, &mask(call, &chunk), content)?, part)?;
        }
        Ok(verdict)
    }

    fn is_read(&self, code: &Value, nbytes: usize) -> bool {
        code.as_u64() == u64::try_from(nbytes).ok()
    }
}

/// Compares the sizes in the header with the ones that C reports.
pub(super) fn check_sizes(chunk: &Chunk<'_>, theirs: &Theirs) -> Result<()> {
    let header = chunk.header();
    let ours = serde_json::json!([0, header.nbytes(), header.cbytes(), header.blocksize()]);
    let said = &theirs.reply.facts["sizes"];
    if *said == ours { Ok(()) } else { fail(format!("sizes {ours}, the oracle says {said}")) }
}

/// Whether C-Blosc2 is known to get these bytes of a chunk wrong when they are requested alone. It
/// ignores the first block if delta refers to it, and the dictionary. It starts a repeated value
/// from its beginning at any position. If the request is as long as a block, it overwrites the
/// earlier bytes with the whole block. With ZFP at a fixed rate, it takes items from one cell only.
pub(in crate::interop) fn is_misread(chunk: &Chunk<'_>, bytes: &Range<usize>) -> bool {
    if let Some(Special::Value(value)) = chunk.special() {
        let is_whole = |at: usize| at.is_multiple_of(value.len());
        return !is_whole(bytes.start) || !is_whole(bytes.len());
    }
    let (header, touched) = (chunk.header(), touched(chunk, bytes));
    let overwrites = touched.clone().skip(1).any(|nblock| block_len(chunk, nblock) == bytes.len());
    let refers = header.pipeline().active().any(|slot| slot.id.0 == DELTA);
    let cells = header.codec_id() == CodecId::ZFP_RATE && bytes.len() > header.typesize();
    header.kind() == Kind::Regular
        && (cells || header.has_dict() || overwrites || (refers && touched.end > 1))
}

/// The blocks that hold these bytes.
fn touched(chunk: &Chunk<'_>, bytes: &Range<usize>) -> Range<usize> {
    chunk
        .blocksize()
        .map_or(0..0, |blocksize| bytes.start / blocksize..bytes.end.div_ceil(blocksize))
}

fn block_len(chunk: &Chunk<'_>, nblock: usize) -> usize {
    chunk.block_data(nblock).map_or(0, |data| data.len())
}

fn request(call: &Call, bytes: &[u8]) -> Value {
    let mut request = call.read_json("c_read");
    let typesize = call.stored_typesize();
    let pairs = |unit: usize| -> Value {
        call.items()
            .iter()
            .map(|items| [items.start * unit, items.end * unit])
            .map(Value::from_iter)
            .collect()
    };
    (request["items"], request["bytes"]) = (pairs(1), pairs(typesize));
    let regular = Chunk::parse(bytes).ok().filter(|chunk| chunk.header().kind() == Kind::Regular);
    request["mask"] = regular.map_or_else(Vec::new, |chunk| mask(call, &chunk)).into();
    request
}
