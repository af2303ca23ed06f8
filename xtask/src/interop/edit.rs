//! Frames that `b2frame` and python-blosc2 change in turn. After every step both must read the
//! content of a model, which is a list of chunks.

use std::{collections::BTreeMap, fs, path::PathBuf};

use b2frame::{Durability, EditOptions, FrameParams, SChunk, SChunkWriter, report::VerifyOptions};
use blosc_chunk::{CParams, CodecId, Level, Pipeline, SpecialKind};
use serde_json::json;

use super::{Bench, Case, Draw, Verdict, compare, frames::packed};
use crate::failure::{Context, Result, fail};

const STEPS: usize = 12;

/// Both change a frame in a directory.
pub(super) fn sparse(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    run(bench, case, false)
}

/// Both change a frame in a file.
pub(super) fn contiguous(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    run(bench, case, true)
}

/// python-blosc2 reads and changes a frame of `b2frame` whose chunks or blocks have different
/// sizes.
pub(super) fn variable(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "variable", 0);
    let path = bench.folder.join("edit.b2frame");
    let _ = fs::remove_file(&path);
    let (typesize, is_vl) = (case.typesize, draw.chance(40));
    let cparams = CParams::default()
        .codec(CodecId(case.codec))
        .clevel(Level::try_from(case.level)?)
        .typesize(typesize)
        .filters(Pipeline::from_slots([0, 0, 0, 0, 0, draw.pick(&[0, 1, 2])], [0; 6]));
    let (meta, vlmeta) = (vec![0; 8], BTreeMap::new());
    let mut state = State { path, typesize, chunksize: 0, chunks: vec![], meta, vlmeta };
    let params = FrameParams::new(cparams).metalayer("m", packed(&state.meta));
    let mut writer = SChunkWriter::create(&state.path, &params)?;
    if !is_vl {
        writer.make_variable()?;
    }
    for _ in 0..draw.within(1..8) {
        state.append_variable(&mut writer, is_vl, &mut draw)?;
    }
    writer.finish()?;
    state.check_ours().at("read by us")?;
    state.check_oracle(bench).at("read by the oracle")?;
    let n = draw.within(0..state.chunks.len());
    state.chunks.remove(n);
    let request = json!({"op": "edit_change", "path": state.path, "change": "delete", "nchunk": n});
    bench.oracle.ask(request, &[&[]])?;
    state.check_ours().at("changed, read by us")?;
    state.check_oracle(bench).at("changed, read by the oracle")?;
    Ok(Verdict::Equal)
}

fn run(bench: &mut Bench, case: &Case, is_contiguous: bool) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "edit", 0);
    let path = bench.folder.join("edit.b2frame");
    let mut state = State::create(bench, case, path, is_contiguous, &mut draw)?;
    for step in 0..STEPS {
        let ours = draw.chance(60);
        let what = format!("step {step}, by {}", if ours { "us" } else { "the oracle" });
        if ours {
            state.change_by_us(&mut draw).at(&what)?;
        } else {
            state.change_by_oracle(bench, &mut draw).at(&what)?;
        }
        state.check_ours().at(format!("{what}: read by us"))?;
        state.check_oracle(bench).at(format!("{what}: read by the oracle"))?;
    }
    Ok(Verdict::Equal)
}

/// The frame, and its expected content.
struct State {
    path: PathBuf,
    typesize: usize,
    chunksize: usize,
    chunks: Vec<Vec<u8>>,
    meta: Vec<u8>,
    vlmeta: BTreeMap<&'static str, Vec<u8>>,
}

impl State {
    /// A new frame, of one program or the other.
    fn create(
        bench: &mut Bench,
        case: &Case,
        path: PathBuf,
        contiguous: bool,
        draw: &mut Draw,
    ) -> Result<Self> {
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        let (typesize, chunksize) = (case.typesize, case.typesize * draw.within(1..300));
        let filter = draw.pick(&[0_u8, 1, 2]);
        let mut state = Self {
            path,
            typesize,
            chunksize,
            chunks: vec![],
            meta: vec![0; 8],
            vlmeta: BTreeMap::new(),
        };
        if draw.chance(50) {
            let cparams = CParams::default()
                .codec(CodecId(case.codec))
                .clevel(Level::try_from(case.level)?)
                .typesize(typesize)
                .filters(Pipeline::from_slots([0, 0, 0, 0, 0, filter], [0; 6]));
            let params =
                FrameParams::new(cparams).chunksize(chunksize).metalayer("m", packed(&state.meta));
            let writer = match contiguous {
                true => SChunkWriter::create(&state.path, &params)?,
                false => SChunkWriter::create_sparse(&state.path, &params)?,
            };
            writer.finish()?;
        } else {
            let request = json!({
                "op": "edit_create", "path": state.path, "contiguous": contiguous, "chunksize": chunksize,
                "typesize": typesize, "codec": case.codec, "clevel": case.level, "filter": filter,
            });
            // The first chunk sets the chunk size.
            state.chunks.push(state.data(draw, chunksize));
            bench.oracle.ask(request, &[&state.chunks[0]])?;
        }
        Ok(state)
    }

    /// A chunk of any size, of blocks of any size, or a run.
    fn append_variable(
        &mut self,
        writer: &mut SChunkWriter,
        is_vl: bool,
        draw: &mut Draw,
    ) -> Result<()> {
        let nitems = draw.within(1..300);
        let data = self.data(draw, nitems * self.typesize);
        if is_vl {
            let len = self.typesize * draw.within(1..100);
            writer.append_vl(&data.chunks(len).collect::<Vec<_>>())?;
        } else if draw.chance(20) {
            writer.append_special(SpecialKind::Zeros, data.len())?;
            self.chunks.push(vec![0; data.len()]);
            return Ok(());
        } else {
            writer.append(&data)?;
        }
        self.chunks.push(data);
        Ok(())
    }

    /// Some changes and one commit.
    fn change_by_us(&mut self, draw: &mut Draw) -> Result<()> {
        // The test is not about the disk.
        let options = EditOptions::default().durability(Durability::ProcessDeath);
        let mut writer = SChunkWriter::open_with(&self.path, &options)?;
        for _ in 0..draw.within(1..4) {
            self.one_change(&mut writer, draw)?;
        }
        if draw.chance(10) {
            writer.compact()?;
        }
        writer.finish()?;
        Ok(())
    }

    fn one_change(&mut self, writer: &mut SChunkWriter, draw: &mut Draw) -> Result<()> {
        let nchunks = self.chunks.len();
        match draw.within(0..12) {
            0 | 1 => {
                let nitems = draw.within(1..400);
                let data = self.data(draw, self.typesize * nitems);
                writer.append(&data)?;
                let all = [self.chunks.concat(), data].concat();
                self.chunks = all.chunks(self.chunksize).map(<[u8]>::to_vec).collect();
            }
            2 | 3 if nchunks > 0 => {
                let n = draw.within(0..nchunks);
                let data = self.data(draw, self.chunksize);
                writer.update(n as u64, &data)?;
                self.chunks[n] = data;
            }
            4 | 5 => {
                let n = draw.within(0..nchunks + usize::from(!self.is_short()));
                let data = self.data(draw, self.chunksize);
                if n <= nchunks && !(self.is_short() && n == nchunks) {
                    writer.insert(n as u64, &data)?;
                    self.chunks.insert(n, data);
                }
            }
            6 if nchunks > 0 => {
                let n = draw.within(0..nchunks);
                writer.delete(n as u64)?;
                self.chunks.remove(n);
            }
            7 if !self.is_short() => {
                writer.append_special(SpecialKind::Zeros, self.chunksize)?;
                self.chunks.push(vec![0; self.chunksize]);
            }
            8 if nchunks > 1 && !self.is_short() => {
                writer.reorder(&(0..nchunks as u64).rev().collect::<Vec<_>>())?;
                self.chunks.reverse();
            }
            9 if nchunks > 0 => self.write(writer, draw)?,
            10 => {
                self.meta = self.data(draw, 8);
                writer.set_meta("m", &packed(&self.meta))?;
            }
            11 => {
                let (name, content) = (draw.pick(&["a", "bc"]), self.data(draw, 50));
                writer.set_vlmeta(name, &packed(&content))?;
                self.vlmeta.insert(name, content);
            }
            _ => {}
        }
        Ok(())
    }

    /// Overwrites some items.
    fn write(&mut self, writer: &mut SChunkWriter, draw: &mut Draw) -> Result<()> {
        let mut all = self.chunks.concat();
        let nitems = all.len() / self.typesize;
        let start = draw.within(0..nitems);
        let len = draw.within(0..nitems - start) + 1;
        let items = self.data(draw, len * self.typesize);
        writer.write(start as u64, &items)?;
        let at = start * self.typesize;
        all[at..at + items.len()].copy_from_slice(&items);
        self.chunks = all.chunks(self.chunksize).map(<[u8]>::to_vec).collect();
        Ok(())
    }

    fn change_by_oracle(&mut self, bench: &mut Bench, draw: &mut Draw) -> Result<()> {
        let nchunks = self.chunks.len();
        let data = self.data(draw, self.chunksize);
        let n = draw.within(0..nchunks.max(1));
        let name = draw.pick(&["a", "bc"]);
        let change = match draw.within(0..6) {
            0 | 1 if !self.is_short() => {
                self.chunks.push(data.clone());
                "append"
            }
            2 if nchunks > 0 && self.chunks[n].len() == self.chunksize => {
                self.chunks[n].clone_from(&data);
                "update"
            }
            // With a short chunk at the end, the frame would become one of variable sizes, in which
            // C-Blosc2 loses chunks of zeros.
            3 if nchunks > 0 && !self.is_short() => {
                self.chunks.insert(n, data.clone());
                "insert"
            }
            4 if nchunks > 0 => {
                self.chunks.remove(n);
                "delete"
            }
            5 if self.vlmeta.contains_key(name) => {
                self.vlmeta.remove(name);
                "delete_vlmeta"
            }
            5 => {
                self.vlmeta.insert(name, data.clone());
                "vlmeta"
            }
            _ => return Ok(()),
        };
        let request = json!({"op": "edit_change", "path": self.path, "change": change, "nchunk": n, "name": name});
        bench.oracle.ask(request, &[&data]).at(change)?;
        Ok(())
    }

    fn check_ours(&self) -> Result<()> {
        let schunk = SChunk::open(&self.path)?;
        if schunk.nchunks() != self.chunks.len() as u64 {
            return fail(format!(
                "{} chunks expected, found {}",
                self.chunks.len(),
                schunk.nchunks()
            ));
        }
        for (n, chunk) in (0..).zip(&self.chunks) {
            compare(&format!("chunk {n}"), chunk, &schunk.decode_chunk(n)?)?;
        }
        let meta = schunk.meta().get("m").map(|layer| layer.content).unwrap_or_default();
        compare("metalayer", &packed(&self.meta), meta)?;
        for (name, content) in &self.vlmeta {
            compare(name, &packed(content), &schunk.vlmeta().get(name)?.unwrap_or_default())?;
        }
        let report = schunk.verify(&VerifyOptions::default(), |_| {});
        if report.is_ok() { Ok(()) } else { fail(format!("verify: {report:?}")) }
    }

    fn check_oracle(&self, bench: &mut Bench) -> Result<()> {
        let reply = bench.oracle.ask(json!({"op": "edit_view", "path": self.path}), &[])?;
        let names: Vec<&str> = self.vlmeta.keys().copied().collect();
        let expected = json!({
            "chunks": self.chunks.len(), "vlmeta": names, "nbytes": self.chunks.concat().len(),
        });
        for key in ["chunks", "vlmeta", "nbytes"] {
            if reply.facts[key] != expected[key] {
                return fail(format!(
                    "{key}: {} expected, found {}",
                    expected[key], reply.facts[key]
                ));
            }
        }
        let parts = self.chunks.iter().chain([&self.meta]).chain(self.vlmeta.values());
        parts
            .zip(&reply.parts)
            .enumerate()
            .try_for_each(|(n, (expected, found))| compare(&format!("part {n}"), expected, found))
    }

    /// Whether the last chunk is short, so that no other may follow.
    fn is_short(&self) -> bool {
        self.chunks.last().is_some_and(|last| last.len() < self.chunksize)
    }

    /// Bytes that partly compress and partly form a run.
    fn data(&self, draw: &mut Draw, nbytes: usize) -> Vec<u8> {
        let range = draw.pick(&[1, 2, 256]);
        (0..nbytes).map(|_| u8::try_from(draw.within(0..range)).unwrap_or(0)).collect()
    }
}
