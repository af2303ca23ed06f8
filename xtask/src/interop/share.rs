//! Frames that python-blosc2 and `b2frame` use at the same time: by the lock beside them, and by
//! readers that follow.

use std::{fs, thread};

use b2frame::{
    Durability, EditOptions, FrameParams, OpenOptions, SChunk, SChunkWriter, lock::Locking,
    report::VerifyOptions,
};
use serde_json::json;

use super::{Bench, Case, Draw, Verdict, chunks::cparams, compare};
use crate::failure::{Context, Result, fail};

/// Both append to one frame at once, under the lock.
pub(super) fn take_turns(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "share", 0);
    let (count, size) = (draw.within(2..12), case.typesize * draw.within(1..200));
    let path = bench.folder.join("share.b2frame");
    let is_sparse = create(bench, case, size, &mut draw)?;
    let options = EditOptions::default()
        .durability(Durability::ProcessDeath)
        .open(OpenOptions::default().locking(Locking::Sidecar));
    let theirs = vec![2; count * size];
    thread::scope(|scope| {
        let ours = scope.spawn(|| -> b2frame::Result<()> {
            let mut writer = SChunkWriter::open_with(&path, &options)?;
            (0..count).try_for_each(|_| {
                writer.append(&vec![1; size])?;
                writer.commit()
            })
        });
        let request = json!({"op": "share_append", "path": path, "count": count});
        bench.oracle.ask(request, &[&theirs]).at("the oracle")?;
        match ours.join() {
            Ok(result) => Ok(result?),
            Err(_) => fail("the writer panicked"),
        }
    })
    .at(if is_sparse { "a directory" } else { "a file" })?;
    let schunk = SChunk::open(&path)?;
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    if schunk.nchunks() != 2 * count as u64 || !report.is_ok() {
        return fail(format!("{} chunks, {count} of each expected: {report:?}", schunk.nchunks()));
    }
    let chunks: Vec<Vec<u8>> =
        (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n)).collect::<b2frame::Result<_>>()?;
    let of = |value| chunks.iter().filter(|chunk| **chunk == vec![value; size]).count();
    if (of(1), of(2)) == (count, count) {
        Ok(Verdict::Equal)
    } else {
        fail("a chunk has other data")
    }
}

/// One program appends, the other has the frame open and follows.
pub(super) fn follow(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "follow", 0);
    let (locking, size) = (draw.chance(50), case.typesize * draw.within(1..200));
    let path = bench.folder.join("share.b2frame");
    create(bench, case, size, &mut draw)?;
    let lock = if locking { Locking::Sidecar } else { Locking::Off };
    let open = OpenOptions::default().locking(lock);
    let options = EditOptions::default().durability(Durability::ProcessDeath).open(open.clone());
    let mut writer = SChunkWriter::open_with(&path, &options)?;
    let mut reader = SChunk::open_with(&path, &open)?;
    let mut data = vec![];
    for step in 0..draw.within(2..8) {
        let chunk: Vec<u8> =
            (0..size).map(|n| u8::try_from((n + step) % 251).unwrap_or(0)).collect();
        data.extend_from_slice(&chunk);
        if locking && draw.chance(50) {
            let request = json!({"op": "share_append", "path": path, "count": 1});
            bench.oracle.ask(request, &[&chunk]).at("appending")?;
        } else {
            writer.append(&chunk)?;
            writer.commit()?;
        }
        let request =
            json!({"op": "share_follow", "path": path, "first": step == 0, "locking": locking});
        let reply = bench.oracle.ask(request, &[]).at(format!("step {step}"))?;
        compare("seen by the oracle", &data, &reply.into_first()?)?;
        reader.refresh()?;
        let mut found = vec![0; usize::try_from(reader.nbytes())?];
        reader.read_bytes(0, &mut found)?;
        compare("seen by us", &data, &found)?;
    }
    Ok(Verdict::Equal)
}

/// A frame without chunks, of either kind.
fn create(bench: &Bench, case: &Case, size: usize, draw: &mut Draw) -> Result<bool> {
    let path = bench.folder.join("share.b2frame");
    let _ = fs::remove_file(bench.folder.join("share.b2frame.b2lock"));
    let _ = fs::remove_file(&path);
    let _ = fs::remove_dir_all(&path);
    let simple = Case {
        filters: [0, 0, 0, 0, 0, 1],
        filters_meta: [0; 6],
        dict: false,
        blocksize: 0,
        ..case.clone()
    };
    let params = FrameParams::new(cparams(&simple)).chunksize(size);
    let is_sparse = draw.chance(40);
    let writer = match is_sparse {
        true => SChunkWriter::create_sparse(&path, &params)?,
        false => SChunkWriter::create(&path, &params)?,
    };
    writer.finish()?;
    Ok(is_sparse)
}
