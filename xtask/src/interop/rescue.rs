//! Damaged containers of the oracles, rescued by `b2`: the oracle opens the result, in which every
//! undamaged chunk has its position. Also frames that C-Blosc2 wrote and cannot read back: it reads
//! their copies by `b2 rescue`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use b2frame::SChunk;
use blosc_trials::{
    cases,
    container::{Files, StoredChunk, data, stored_chunks},
    damage::hit::{Kind, damage},
};
use serde_json::json;

use super::{
    Bench, Case, Draw, Verdict, compare,
    frames::{content_for_oracle, frame_of_oracle},
};
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

/// The containers, and the names of their files or directories.
const FORMS: [(&str, &str); 9] = [
    ("frame", "b2frame"),
    ("sparse", "sframe"),
    ("b2nd", "b2nd"),
    ("b2nd-sparse", "b2nd"),
    ("blp", "blp"),
    ("bcolz", "bcolz"),
    ("ctable", "bcolz"),
    ("b2z", "b2z"),
    ("b2d", "b2d"),
];

/// A container is damaged at one position.
pub(super) fn damaged(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let seed = case.recipe.seed;
    let mut draw = Draw::new(seed.into(), "rescue", 0);
    let (form, suffix) = draw.pick(&FORMS);
    let made = Made::draw(bench, form, suffix, &mut draw, seed)?;
    let kind = draw.pick(&[Kind::Flip, Kind::Cut, Kind::Zero, Kind::Exchange]);
    let mut files = made.files.clone();
    let mut random = cases::draw(seed.into(), 1);
    let Some(hit) = damage(&mut files, kind, &[], &mut random) else { return Ok(Verdict::Refused) };
    let damaged = bench.folder.join(format!("damaged.{suffix}"));
    let saved = bench.folder.join(format!("saved.{suffix}"));
    write(&files, &damaged)?;
    workspace::remove(&saved)?;
    let place = format!("{form}: {hit}");
    let is_on_chunks = hit.is_on_chunks_alone(&made.chunks);
    if !rescue(bench, case, &damaged, &saved).at(&place)? {
        return match is_on_chunks && !made.chunks.iter().all(|chunk| hit.is_on(chunk)) {
            true => fail(format!("{place}: nothing is saved")),
            false => Ok(Verdict::Lost),
        };
    }
    let request = json!({"op": "rescue_read", "form": form, "path": saved.to_string_lossy()});
    let read = match bench.oracle.ask(request, &[]) {
        // If metadata are damaged too, the oracle may refuse their remains.
        Err(_) if !is_on_chunks => return Ok(Verdict::Lost),
        read => read.at(&place)?,
    };
    let mut is_all = true;
    for chunk in made.chunks.iter().filter(|chunk| !hit.is_on(chunk)) {
        let range = made.range(chunk);
        let found = read.parts.get(made.column(chunk)).and_then(|part| part.get(range.clone()));
        let expected = &made.columns[made.column(chunk)][range];
        if is_on_chunks {
            compare(&format!("{place}: chunk {}", chunk.number), expected, found.unwrap_or(&[]))?;
        }
        is_all &= found == Some(expected);
    }
    if is_on_chunks && read.parts.iter().zip(&made.columns).any(|(a, b)| a.len() != b.len()) {
        return fail(format!("{place}: another length"));
    }
    Ok(if is_all { Verdict::Equal } else { Verdict::Lost })
}

/// A container written by an original program.
struct Made {
    /// The data of each column, or of the only content.
    columns: Vec<Vec<u8>>,
    /// Bytes of data in a chunk.
    chunksize: usize,
    files: Files,
    /// The chunks of all columns, one column after the other.
    chunks: Vec<StoredChunk>,
}

impl Made {
    fn draw(
        bench: &mut Bench,
        form: &str,
        suffix: &str,
        draw: &mut Draw,
        seed: u32,
    ) -> Result<Self> {
        let (chunk, ncolumns) = (draw.within(150..600), if has_columns(form) { 2 } else { 1 });
        // The last chunk is shorter.
        let nitems = chunk * draw.within(3..9) - draw.within(1..100);
        let columns: Vec<Vec<u8>> =
            (0..ncolumns).map(|column| data(4 * nitems, seed ^ column)).collect();
        let path = bench.folder.join(format!("made.{suffix}"));
        let request = json!({
            "op": "rescue_make", "form": form, "path": path.to_string_lossy(), "chunk": chunk,
            "codec": draw.pick(&[0, 1, 2, 4, 5]), "clevel": draw.within(0..10),
            "filter": draw.pick(&[0, 1, 2]), "blocksize": draw.pick(&[0, 0, 256, 1024]),
            "checksum": draw.pick(&["None", "adler32", "crc32", "sha256"]),
        });
        let parts: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        let reply = bench.oracle.ask(request, &parts)?;
        let files = Files::from_disk(&path)?;
        let chunks = match reply.facts["places"].as_array() {
            Some(places) if !places.is_empty() => {
                let mut all = vec![];
                for place in places {
                    let name = place[0].as_str().unwrap_or_default();
                    let number = |n: usize| place[n].as_u64().unwrap_or(0);
                    let start = usize::try_from(number(1))?;
                    let end = start + usize::try_from(number(2))?;
                    all.extend(stored_chunks::of_frame_in(&files, name, start..end)?);
                }
                all
            }
            _ => match form {
                "frame" | "b2nd" => stored_chunks::of_frame(&files)?,
                "sparse" | "b2nd-sparse" => stored_chunks::of_sparse_frame(&files)?,
                "blp" => stored_chunks::of_blp(&files)?,
                "bcolz" => stored_chunks::of_bcolz(&files, &[""])?,
                _ => stored_chunks::of_bcolz(&files, &["v", "w"])?,
            },
        };
        let made = Self { columns, chunksize: 4 * chunk, files, chunks };
        match made.chunks.len() == made.nchunks() * made.columns.len() {
            true => Ok(made),
            false => fail(format!("{form}: {} chunks were found", made.chunks.len())),
        }
    }

    /// Chunks of a column.
    fn nchunks(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len().div_ceil(self.chunksize))
    }

    /// The column of a chunk, by its index in the list.
    fn column(&self, chunk: &StoredChunk) -> usize {
        let at = self.chunks.iter().position(|other| core::ptr::eq(other, chunk)).unwrap_or(0);
        at / self.nchunks().max(1)
    }

    /// The chunk's range in its column (bytes).
    fn range(&self, chunk: &StoredChunk) -> core::ops::Range<usize> {
        let start = chunk.number * self.chunksize;
        start..(start + self.chunksize).min(self.columns[self.column(chunk)].len())
    }
}

fn has_columns(form: &str) -> bool {
    matches!(form, "ctable" | "b2z" | "b2d")
}

/// Runs `b2 rescue`; returns whether it saved any data.
fn rescue(bench: &Bench, case: &Case, damaged: &Path, saved: &Path) -> Result<bool> {
    let mut command = bench.b2(case, "rescue");
    command.arg("--quiet").arg("--output").arg(saved).arg(damaged);
    let output = output_of(&mut command)?;
    match output.status.code() {
        Some(0 | 1) if saved.exists() => Ok(true),
        Some(1 | 4) => Ok(false),
        code => fail(format!(
            "{}: exit code {code:?}: {}",
            workspace::describe(&command),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

fn output_of(command: &mut Command) -> Result<std::process::Output> {
    command.output().at(workspace::describe(command))
}

fn write(files: &Files, path: &Path) -> Result<()> {
    workspace::remove(path)?;
    for (name, bytes) in &files.0 {
        let file: PathBuf = if files.is_one_file() { path.into() } else { path.join(name) };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).at(folder.display())?;
        }
        fs::write(&file, bytes).at(file.display())?;
    }
    Ok(())
}

/// C-Blosc2 writes a frame that it cannot read back; it can read the copy by `b2 rescue`.
pub(super) fn unreadable(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let Some(frame) = frame_of_oracle(bench, case)? else { return Ok(Verdict::Refused) };
    let content = content_for_oracle(bench, case, &frame)?;
    let data = case.data();
    if content.as_ref() == Some(&data) || case.is_lossy() {
        return Ok(Verdict::Equal);
    }
    let ours = SChunk::from_cframe(frame.clone())?;
    let found: b2frame::Result<Vec<Vec<u8>>> =
        (0..ours.nchunks()).map(|nchunk| ours.decode_chunk(nchunk)).collect();
    // Data that an encoder has spoiled are lost.
    if found.ok().map(|chunks| chunks.concat()).as_ref() != Some(&data) {
        return Ok(Verdict::Lost);
    }
    let (path, saved) = (bench.folder.join("case.b2frame"), bench.folder.join("saved.b2frame"));
    fs::write(&path, &frame).at(path.display())?;
    workspace::remove(&saved)?;
    if !rescue(bench, case, &path, &saved)? {
        return fail("nothing is saved of a frame that we read");
    }
    let read = content_for_oracle(bench, case, &fs::read(&saved).at(saved.display())?)?;
    match read {
        Some(read) => compare("what was saved", &data, &read).map(|()| Verdict::Rescued),
        None => fail("the oracle cannot read what was saved"),
    }
}
