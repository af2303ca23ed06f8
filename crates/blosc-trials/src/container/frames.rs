//! Frames and arrays, contiguous and sparse.

use std::sync::Arc;

use b2frame::{
    Checksums, ChunkBytes, FrameParams, NdArray, NdParams, NdWriter, OpenOptions, SChunk,
    SChunkWriter,
    nd::{Pick, Selection},
    report::VerifyOptions,
    rescue::{ChunkState, RescueOptions, Salvage},
    seal::SealState,
};
use blosc_io::tree::MemTree;

use super::{
    Files, MAX_NBYTES, MAX_NCHUNKS, Rescued, Sample, StoredChunk, budget, data, find,
    parts_of_frame,
};
use crate::failure::{Result, fail};

const CHUNKSIZE: usize = 1024;

pub(crate) fn samples(is_sealed: bool) -> Result<Vec<Sample>> {
    samples_of(is_sealed, 1)
}

/// Samples of 60 chunks.
pub(crate) fn large_samples() -> Result<Vec<Sample>> {
    samples_of(true, 10)
}

/// Samples of six chunks, `scale` times as large.
fn samples_of(is_sealed: bool, scale: usize) -> Result<Vec<Sample>> {
    let checksums = if is_sealed { Checksums::Chunks } else { Checksums::None };
    let params = FrameParams::default()
        .chunksize(CHUNKSIZE)
        .checksums(checksums)
        .metalayer("unit", *b"metre")
        .vlmetalayer("note", *b"a few words");
    let frame = b2frame::to_cframe(&data(6 * scale * CHUNKSIZE - 100, 1), &params)?;
    let tree = Arc::new(MemTree::new());
    let mut writer = SChunkWriter::create_in_tree(tree.clone(), &params)?;
    writer.append(&data(6 * scale * CHUNKSIZE - 100, 2))?;
    writer.set_vlmeta("note", b"a few words")?;
    writer.commit()?;
    drop(writer);
    let params = NdParams::new(&[24, 24 * scale as u64], "<i4".parse()?);
    let params = params.chunkshape(&[8, 12]).blockshape(&[4, 4]);
    let array = array(&params, &data(24 * 24 * scale * 4, 3), checksums)?;
    Ok(vec![
        Sample {
            container: "frame",
            is_sealed,
            chunks: chunks_of_file(&frame)?,
            covered: parts_of_frame(0, 0..frame.len()).into(),
            files: Files::from_bytes(frame),
            verify: |files| verify_frame(&open_file(files)?),
            read: |files| read_frame(&open_file(files)?),
            rescue: Some(rescue_file),
        },
        Sample {
            container: "b2nd",
            is_sealed,
            chunks: chunks_of_file(&array)?,
            covered: parts_of_frame(0, 0..array.len()).into(),
            files: Files::from_bytes(array),
            verify: |files| verify_frame(NdArray::from_schunk(open_file(files)?)?.schunk()),
            read: |files| read_array(&NdArray::from_schunk(open_file(files)?)?),
            rescue: Some(rescue_file),
        },
        sparse(Files::from_tree(&*tree, "")?, is_sealed)?,
    ])
}

/// The frame of an array. (A copy of one without checksums has some.)
pub(crate) fn array(params: &NdParams, data: &[u8], checksums: Checksums) -> Result<Vec<u8>> {
    let mut writer = NdWriter::in_memory(params)?;
    writer.write_bytes(Selection::ALL, data)?;
    let array = writer.finish()?;
    let schunk = array.schunk();
    let mut data = vec![];
    for nchunk in 0..schunk.nchunks() {
        data.extend(schunk.decode_chunk(nchunk)?);
    }
    let params = FrameParams::new(schunk.cparams())
        .chunksize(schunk.chunk_nbytes(0)?)
        .checksums(checksums)
        .metalayer("b2nd", array.meta().encode());
    Ok(b2frame::to_cframe(&data, &params)?)
}

/// The chunks of a sparse frame, each of which has a file.
pub(crate) fn chunks_of_tree(files: &Files) -> Result<Vec<StoredChunk>> {
    let schunk = open_tree(files)?;
    let mut chunks = vec![];
    for nchunk in 0..schunk.nchunks() {
        let stored = stored(&schunk, nchunk)?;
        let nfile = files.0.iter().position(|(_, bytes)| *bytes == stored);
        let Some(nfile) = nfile else { return fail("no file of a chunk") };
        let data = schunk.decode_chunk(nchunk)?;
        let number = usize::try_from(nchunk)?;
        chunks.push(StoredChunk { number, nfile, stored: 0..stored.len(), data });
    }
    Ok(chunks)
}

fn sparse(files: Files, is_sealed: bool) -> Result<Sample> {
    let chunks = chunks_of_tree(&files)?;
    let mut covered = vec![];
    for (nfile, (name, bytes)) in files.0.iter().enumerate() {
        match name.ends_with(".chunk") {
            true => covered.push((nfile, 0..bytes.len())),
            false => covered.extend(parts_of_frame(nfile, 0..bytes.len())),
        }
    }
    Ok(Sample {
        container: "sparse-frame",
        is_sealed,
        files,
        chunks,
        covered,
        verify: |files| verify_frame(&open_tree(files)?),
        read: |files| read_frame(&open_tree(files)?),
        rescue: Some(|files| {
            let options = RescueOptions::default().budget(budget());
            rescued(&Salvage::from_tree(files.tree()?, &open_options(), &options)?)
        }),
    })
}

/// The bytes of a chunk.
fn stored(schunk: &SChunk, nchunk: u64) -> Result<Vec<u8>> {
    match schunk.chunk(nchunk)? {
        ChunkBytes::Stored(bytes) => Ok(bytes),
        _ => fail("a chunk without bytes"),
    }
}

pub(crate) fn chunks_of_file(frame: &[u8]) -> Result<Vec<StoredChunk>> {
    let schunk = SChunk::from_cframe(frame.to_vec())?;
    let chunk = |nchunk| {
        let stored = find(frame, &stored(&schunk, nchunk)?)?;
        let (number, data) = (usize::try_from(nchunk)?, schunk.decode_chunk(nchunk)?);
        Ok(StoredChunk { number, nfile: 0, stored, data })
    };
    (0..schunk.nchunks()).map(chunk).collect()
}

pub(crate) fn open_options() -> OpenOptions {
    OpenOptions::default().dparams(super::dparams()).max_metadata(1 << 16).max_index(1 << 16)
}

fn open_file(files: &Files) -> Result<SChunk> {
    Ok(SChunk::from_store_with(Arc::new(files.store()), &open_options())?)
}

fn open_tree(files: &Files) -> Result<SChunk> {
    Ok(SChunk::from_tree(files.tree()?, &open_options())?)
}

/// Verifies the facts and the sums of a frame.
pub(crate) fn verify_frame(schunk: &SChunk) -> Result<()> {
    let _ = (schunk.usage(), schunk.cparams(), schunk.chunksize());
    schunk.chunk_infos().take(MAX_NCHUNKS).for_each(drop);
    for layer in schunk.vlmeta().stored().iter() {
        let _ = schunk.vlmeta().decode(layer);
    }
    let report = schunk.verify(&VerifyOptions::default().budget(budget()), |_| {});
    if let Some(bad) = report.bad.first() {
        return fail(format!("chunk {}: {}", bad.nchunk, bad.error));
    }
    if let Some(error) = report.other.first() {
        return fail(error.to_string());
    }
    match schunk.seal_state()? {
        SealState::Intact | SealState::NeverSealed => Ok(()),
        state => fail(format!("{state:?}")),
    }
}

pub(crate) fn read_frame(schunk: &SChunk) -> Result<()> {
    let mut some = [0; 100];
    let len = some.len().min(usize::try_from(schunk.nbytes())?);
    schunk.read_bytes(schunk.nbytes() / 2, &mut some[..len / 2])?;
    let mut scratch = schunk.scratch();
    for nchunk in 0..schunk.nchunks().min(MAX_NCHUNKS as u64) {
        let nbytes = schunk.chunk_nbytes(nchunk)?;
        if nbytes as u64 <= MAX_NBYTES {
            schunk.decode_chunk_into(nchunk, &mut vec![0; nbytes], &mut scratch)?;
        }
    }
    Ok(())
}

pub(crate) fn read_array(array: &NdArray) -> Result<()> {
    if array.nbytes() <= MAX_NBYTES {
        array.to_bytes(Selection::ALL)?;
        let _ = array.to_bytes(Selection::from([Pick::ALL]));
    }
    Ok(())
}

pub(crate) fn rescue_file(files: &Files) -> Result<Rescued> {
    let options = RescueOptions::default().budget(budget());
    rescued(&Salvage::from_store(Arc::new(files.store()), &open_options(), &options)?)
}

pub(crate) fn rescued(saved: &Salvage) -> Result<Rescued> {
    let mut all = vec![];
    for (nchunk, state) in (0_u64..).zip(&saved.chunks).take(MAX_NCHUNKS) {
        let is_small = saved.schunk.chunk_nbytes(nchunk)? as u64 <= MAX_NBYTES;
        let is_there = *state != ChunkState::Lost && is_small;
        all.push(is_there.then(|| saved.schunk.decode_chunk(nchunk)).transpose()?);
    }
    Ok(all)
}
