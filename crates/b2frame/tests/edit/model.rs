//! A model of a super-chunk: a list of chunks, and metalayers. The slow and obvious way.

use std::collections::BTreeMap;

use b2frame::{FrameParams, Result, SChunk, SChunkWriter, report::VerifyOptions};
use blosc_chunk::{CParams, SpecialKind};
use blosc_testdata::data::XorShift32;

/// Bytes of an item.
pub(crate) const TYPESIZE: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// Size of chunks, if they share one (bytes).
    pub(crate) chunksize: Option<usize>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) meta: Vec<u8>,
    pub(crate) vlmeta: BTreeMap<&'static str, Vec<u8>>,
}

/// A change.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Append(Vec<u8>),
    AppendChunk(Vec<u8>),
    AppendZeros(usize),
    Update(usize, Vec<u8>),
    Insert(usize, Vec<u8>),
    InsertChunk(usize, Vec<u8>),
    Delete(usize),
    Clear,
    Reorder(Vec<usize>),
    Write(usize, Vec<u8>),
    SetMeta(Vec<u8>),
    SetVlmeta(&'static str, Vec<u8>),
    DeleteVlmeta(&'static str),
}

impl Model {
    pub(crate) fn new(rng: &mut XorShift32) -> Self {
        let chunksize = (rng.below(4) > 0).then(|| TYPESIZE * (1 + below(rng, 40)));
        Self { chunksize, chunks: vec![], meta: vec![0; 8], vlmeta: BTreeMap::new() }
    }

    pub(crate) fn nchunks(&self) -> u64 {
        self.chunks.len() as u64
    }

    pub(crate) fn nbytes(&self) -> u64 {
        self.data().len() as u64
    }

    pub(crate) fn data(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    /// Whether no chunk may follow the last one.
    fn is_short(&self) -> bool {
        self.chunksize.is_some_and(|size| self.chunks.last().is_some_and(|last| last.len() < size))
    }

    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Append(data) => self.append(data),
            Op::AppendChunk(data) => self.chunks.push(data.clone()),
            Op::AppendZeros(nbytes) => self.chunks.push(vec![0; *nbytes]),
            Op::Update(n, data) => self.chunks[*n] = data.clone(),
            Op::Insert(n, data) | Op::InsertChunk(n, data) => {
                self.chunks.insert(*n, data.clone());
            }
            Op::Delete(n) => drop(self.chunks.remove(*n)),
            Op::Clear => self.chunks.clear(),
            Op::Reorder(order) => {
                self.chunks = order.iter().map(|n| self.chunks[*n].clone()).collect()
            }
            Op::Write(start, items) => self.write(start * TYPESIZE, items),
            Op::SetMeta(content) => self.meta = content.clone(),
            Op::SetVlmeta(name, content) => drop(self.vlmeta.insert(name, content.clone())),
            Op::DeleteVlmeta(name) => drop(self.vlmeta.remove(name)),
        }
    }

    fn append(&mut self, data: &[u8]) {
        let Some(size) = self.chunksize else {
            if !data.is_empty() {
                self.chunks.push(data.to_vec());
            }
            return;
        };
        let all = [self.data().as_slice(), data].concat();
        self.chunks = all.chunks(size).map(<[u8]>::to_vec).collect();
    }

    fn write(&mut self, mut at: usize, items: &[u8]) {
        for byte in items {
            let mut place = at;
            let chunk = self.chunks.iter_mut().find(|chunk| {
                let is_here = place < chunk.len();
                place -= if is_here { 0 } else { chunk.len() };
                is_here
            });
            chunk.unwrap()[place] = *byte;
            at += 1;
        }
    }

    /// Whether a super-chunk equals this model.
    pub(crate) fn matches(&self, schunk: &SChunk) -> bool {
        let chunks: Result<Vec<Vec<u8>>> =
            (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n)).collect();
        let names: Vec<_> =
            schunk.vlmeta().stored().iter().map(|layer| layer.name.to_vec()).collect();
        chunks.is_ok_and(|chunks| chunks == self.chunks)
            && schunk.nbytes() == self.nbytes()
            && schunk.meta().get("m").map(|layer| layer.content) == Some(&self.meta)
            && names.len() == self.vlmeta.len()
            && self
                .vlmeta
                .iter()
                .all(|(name, content)| schunk.vlmeta().get(name).unwrap().as_ref() == Some(content))
    }
}

impl Op {
    pub(crate) fn apply(&self, writer: &mut SChunkWriter) -> Result<()> {
        let n = |n: &usize| *n as u64;
        match self {
            Self::Append(data) => writer.append(data),
            Self::AppendChunk(data) => {
                let chunk = blosc_chunk::compress(data, writer.cparams()).unwrap();
                writer.append_chunk(&chunk)
            }
            Self::AppendZeros(nbytes) => writer.append_special(SpecialKind::Zeros, *nbytes),
            Self::Update(nchunk, data) => writer.update(n(nchunk), data),
            Self::Insert(nchunk, data) => writer.insert(n(nchunk), data),
            Self::InsertChunk(nchunk, data) => {
                let chunk = blosc_chunk::compress(data, writer.cparams()).unwrap();
                writer.insert_chunk(n(nchunk), &chunk)
            }
            Self::Delete(nchunk) => writer.delete(n(nchunk)),
            Self::Clear => (0..writer.nchunks()).try_for_each(|_| writer.delete(0)),
            Self::Reorder(order) => writer.reorder(&order.iter().map(n).collect::<Vec<_>>()),
            Self::Write(start, items) => writer.write(n(start), items),
            Self::SetMeta(content) => writer.set_meta("m", content),
            Self::SetVlmeta(name, content) => writer.set_vlmeta(name, content),
            Self::DeleteVlmeta(name) => writer.delete_vlmeta(name).map(drop),
        }
    }
}

pub(crate) fn params(model: &Model) -> FrameParams {
    FrameParams::new(CParams::default().typesize(TYPESIZE))
        .chunksize(model.chunksize.unwrap_or(TYPESIZE))
        .metalayer("m", model.meta.clone())
}

/// Compares all of the super-chunk with the model, and verifies it.
pub(crate) fn check(schunk: &SChunk, model: &Model, what: &str) {
    assert_eq!((schunk.nchunks(), schunk.nbytes()), (model.nchunks(), model.nbytes()), "{what}");
    for (nchunk, chunk) in (0..).zip(&model.chunks) {
        assert_eq!(schunk.decode_chunk(nchunk).unwrap(), *chunk, "{what}, chunk {nchunk}");
    }
    let mut data = vec![0; model.data().len()];
    schunk.read_bytes(0, &mut data).unwrap();
    assert_eq!(data, model.data(), "{what}");
    assert!(model.matches(schunk), "{what}");
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok(), "{what}: {report:?}");
}

/// A random change that the frame allows.
pub(crate) fn random_op(rng: &mut XorShift32, model: &Model) -> Op {
    loop {
        if let Some(op) = try_random_op(rng, model) {
            return op;
        }
    }
}

fn try_random_op(rng: &mut XorShift32, model: &Model) -> Option<Op> {
    let nchunks = model.chunks.len();
    let any = |rng: &mut XorShift32| model.chunksize.unwrap_or_else(|| 1 + below(rng, 100));
    let may_append = !model.is_short();
    Some(match rng.below(16) {
        0..3 => {
            let nbytes = below(rng, 300);
            Op::Append(data(rng, nbytes))
        }
        3 if may_append => {
            let nbytes = any(rng);
            Op::AppendChunk(data(rng, nbytes))
        }
        4 if may_append => Op::AppendZeros(any(rng)),
        5 | 6 if nchunks > 0 => {
            let (n, mut nbytes) = (below(rng, nchunks), any(rng));
            if n + 1 == nchunks && rng.below(2) == 0 {
                nbytes = 1 + below(rng, nbytes);
            }
            Op::Update(n, data(rng, nbytes))
        }
        kind @ (7 | 8) => {
            let n = below(rng, nchunks + 1);
            if n == nchunks && !may_append {
                return None;
            }
            let nbytes = any(rng);
            let data = data(rng, nbytes);
            if kind == 7 { Op::Insert(n, data) } else { Op::InsertChunk(n, data) }
        }
        9 if nchunks > 0 => Op::Delete(below(rng, nchunks)),
        10 if rng.below(4) == 0 => Op::Clear,
        11 => Op::Reorder(order(rng, nchunks, !may_append)),
        12 | 13 if model.nbytes() >= TYPESIZE as u64 => {
            let nitems = model.data().len() / TYPESIZE;
            let start = below(rng, nitems);
            let len = below(rng, nitems - start + 1);
            Op::Write(start, data(rng, len * TYPESIZE))
        }
        14 => Op::SetMeta(data(rng, 8)),
        15 => {
            let name = ["a", "bc", "def"][below(rng, 3)];
            if rng.below(3) == 0 {
                return Some(Op::DeleteVlmeta(name));
            }
            let nbytes = below(rng, 100);
            Op::SetVlmeta(name, data(rng, nbytes))
        }
        _ => return None,
    })
}

fn order(rng: &mut XorShift32, nchunks: usize, is_last_fixed: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nchunks).collect();
    let movable = nchunks - usize::from(is_last_fixed && nchunks > 0);
    for n in 1..movable {
        order.swap(n, below(rng, n + 1));
    }
    order
}

/// Data that are partly compressible and partly zeros.
fn data(rng: &mut XorShift32, nbytes: usize) -> Vec<u8> {
    let mask = [0, 1, 0xff][below(rng, 3)];
    (0..nbytes).map(|_| rng.next_hi().to_le_bytes()[0] & mask).collect()
}

fn below(rng: &mut XorShift32, bound: usize) -> usize {
    usize::try_from(rng.below(bound as u64)).unwrap()
}
