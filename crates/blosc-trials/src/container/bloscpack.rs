//! Bloscpack files.

use blosc_chunk::Decoder;
use blosc_io::MemStore;
use bloscpack::{
    AppendOptions, BlpFile, Checksum, ReadOptions, WriteOptions, append, pack, params::FileLimits,
    repair_offsets, report::VerifyOptions,
};
use serde_json::json;

use super::{
    Files, MAX_NBYTES, MAX_NCHUNKS, Part, Rescued, Sample, StoredChunk, budget, data, dparams,
};
use crate::failure::{Failure, Result, fail};

const CHUNKSIZE: u32 = 1024;

/// The size of items by the writer's option, which no reader needs.
const TYPESIZE: usize = 7;

/// Fields of the metadata header, and the metadata after it (bytes from the start of the file).
const META_LEVEL: usize = 0x2b;
const MAX_META_SIZE: usize = 0x30;
const USER_CODEC: usize = 0x38;
const METADATA: usize = 0x40;

pub(super) fn sample(is_sealed: bool) -> Result<Sample> {
    sample_of(is_sealed, &data(6 * 1024 - 100, 4))
}

/// A sample of 64 chunks.
pub(super) fn large_sample() -> Result<Sample> {
    sample_of(true, &data(64 * 1024 - 100, 4))
}

fn sample_of(is_sealed: bool, data: &[u8]) -> Result<Sample> {
    let checksum = if is_sealed { Checksum::Crc32 } else { Checksum::None };
    let options = WriteOptions::default()
        .chunksize(CHUNKSIZE)
        .checksum(checksum)
        .metadata(Some(json!({ "unit": "metre" })));
    let bytes = pack(data, options)?;
    let files = Files::from_bytes(bytes);
    let (file, chunks) = (open(&files)?, chunks_of(&files)?);
    let first = usize::try_from(file.position(0)?)?;
    let offsets = usize::try_from(file.offsets_position())?;
    let covered = covered(files.bytes(), offsets, chunks.len(), first)?;
    let rescue = Some(rescue as fn(&Files) -> Result<Rescued>);
    Ok(Sample { container: "blp", is_sealed, files, chunks, covered, verify, read, rescue })
}

pub(super) fn chunks_of(files: &Files) -> Result<Vec<StoredChunk>> {
    let file = open(files)?;
    let mut chunks = vec![];
    for nchunk in 0..file.nchunks()? {
        let start = usize::try_from(file.position(nchunk)?)?;
        let packed = file.packed_chunk(nchunk)?;
        let stored = start..usize::try_from(packed.end())?;
        let (number, data) = (usize::try_from(nchunk)?, file.chunk(nchunk)?);
        chunks.push(StoredChunk { number, nfile: 0, stored, data });
    }
    Ok(chunks)
}

/// The parts that checksums cover. Informative fields, the reserved bytes of the metadata header,
/// and free room have no checksum.
fn covered(bytes: &[u8], offsets: usize, nchunks: usize, first: usize) -> Result<Vec<Part>> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4).map(<[u8; 4]>::try_from);
        Ok::<_, Failure>(usize::try_from(u32::from_le_bytes(
            bytes.transpose()?.unwrap_or_default(),
        ))?)
    };
    let (room, used) = (number(MAX_META_SIZE)?, number(MAX_META_SIZE + 4)?);
    let free = [
        TYPESIZE..TYPESIZE + 1,
        META_LEVEL..META_LEVEL + 1,
        USER_CODEC..METADATA,
        METADATA + used..METADATA + room,
        offsets + 8 * nchunks..first,
    ];
    let starts = core::iter::once(0).chain(free.iter().map(|free| free.end));
    let ends = free.iter().map(|free| free.start).chain([bytes.len()]);
    Ok(starts.zip(ends).map(|(start, end)| (0, start..end)).collect())
}

fn open(files: &Files) -> Result<BlpFile<MemStore>> {
    open_store(files.store())
}

pub(crate) fn open_store(store: MemStore) -> Result<BlpFile<MemStore>> {
    let limits = FileLimits::default().max_nbytes(4 * MAX_NBYTES).max_metadata(1 << 16);
    let options = read_options().limits(limits.max_chunks(1 << 16));
    Ok(BlpFile::with_options(store, options)?)
}

pub(crate) fn read_options() -> ReadOptions {
    ReadOptions::default().dparams(dparams()).budget(budget())
}

fn verify(files: &Files) -> Result<()> {
    verify_file(&open(files)?)
}

pub(crate) fn verify_file(file: &BlpFile<MemStore>) -> Result<()> {
    let _ = (file.trailing_bytes(), file.nbytes(), file.metadata().map(|found| found.json()));
    let report = file.verify(&VerifyOptions::default().budget(budget()), |_| {})?;
    if let Some(bad) = report.bad.first() {
        return fail(format!("chunk {}: {}", bad.nchunk, bad.error));
    }
    report.other.first().map_or(Ok(()), |error| fail(error.to_string()))
}

fn read(files: &Files) -> Result<()> {
    let file = open(files)?;
    let mut some = [0; 100];
    let _ = file.read_at(1000, &mut some);
    for nchunk in 0..file.nchunks()?.min(MAX_NCHUNKS as u64) {
        file.chunk(nchunk)?;
    }
    // Success of these operations does not matter.
    let _ = (file.array_info(), repair_offsets(&mut files.store()).map(drop));
    let _ = append(
        &mut files.store(),
        &[0; 100][..],
        100,
        &AppendOptions::default().read(read_options()),
    );
    Ok(())
}

fn rescue(files: &Files) -> Result<Rescued> {
    let found = bloscpack::rescue(&files.store(), &dparams())?;
    let mut decoder = Decoder::new(dparams());
    let mut all = vec![];
    for chunk in found.chunks {
        let nchunk = chunk.nchunk.filter(|nchunk| *nchunk < MAX_NCHUNKS as u64);
        let Some(nchunk) = nchunk.and_then(|nchunk| usize::try_from(nchunk).ok()) else { continue };
        let stored = usize::try_from(chunk.at)?..usize::try_from(chunk.at + chunk.cbytes)?;
        if all.len() <= nchunk {
            all.resize(nchunk + 1, None);
        }
        all[nchunk] = Some(decoder.decode(&files.bytes()[stored])?);
    }
    Ok(all)
}
