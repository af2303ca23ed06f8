//! Bare chunks, which have no checksums.

use blosc_chunk::{
    CParams, Chunk, CodecId, Decoder, Encoder, Scratch, SplitMode, Target, validate::Depth,
};
use blosc_container::rescue::{ChunkSalvage, ChunkState, RescueOptions};

use super::{Files, Rescued, Sample, StoredChunk, data, dparams};
use crate::failure::{Result, fail};

pub(super) fn samples() -> Result<Vec<Sample>> {
    [
        (CodecId::BLOSCLZ, Target::Blosc1_14),
        (CodecId::LZ4, Target::Blosc3_0),
        (CodecId::ZSTD, Target::Blosc3_0),
    ]
    .into_iter()
    .map(|(codec, target)| sample(codec, target, 5000))
    .collect()
}

/// A sample of 64 blocks.
pub(super) fn large_sample() -> Result<Sample> {
    sample(CodecId::LZ4, Target::Blosc3_0, 64 * BLOCK_NBYTES - 100)
}

fn sample(codec: CodecId, target: Target, nbytes: usize) -> Result<Sample> {
    let params = CParams::default().codec(codec).typesize(4).target(target);
    // Blosc 1 makes split blocks larger.
    let params = params.split(SplitMode::Never);
    let data = data(nbytes, 11);
    let chunk = Encoder::new(params.blocksize(Some(BLOCK_NBYTES)))?.encode(&data)?;
    let blocks = Chunk::parse(&chunk)?.blocks()?.zip(data.chunks(BLOCK_NBYTES));
    let chunks = blocks.map(|(block, data)| {
        let block = block?;
        let stored = block.offset()..block.offset() + block.cbytes();
        let data = data.to_vec();
        Ok(StoredChunk { number: block.nblock(), nfile: 0, stored, data })
    });
    let chunks = chunks.collect::<Result<_>>()?;
    Ok(Sample {
        container: "chunk",
        is_sealed: false,
        files: Files::from_bytes(chunk),
        chunks,
        covered: vec![],
        verify,
        read: |files| Ok(Decoder::new(dparams()).decode(files.bytes()).map(drop)?),
        rescue: Some(rescue),
    })
}

/// Bytes of data in a block. A block of a bare chunk has the role of a chunk in other containers.
const BLOCK_NBYTES: usize = 1024;

fn rescue(files: &Files) -> Result<Rescued> {
    let saved = ChunkSalvage::from_bytes(files.bytes(), &dparams(), &RescueOptions::default())?;
    if Decoder::new(dparams()).decode(&saved.to_chunk()?)? != saved.data() {
        return fail("the saved chunk has other data");
    }
    let blocks = saved.data().chunks(saved.header().blocksize()).zip(&saved.blocks);
    let data = |(data, state): (&[u8], &ChunkState)| match state {
        ChunkState::Lost => None,
        _ => Some(data.to_vec()),
    };
    Ok(blocks.map(data).collect())
}

fn verify(files: &Files) -> Result<()> {
    let chunk = Chunk::parse(files.bytes())?;
    let report = chunk.validate(Depth::Decode, &mut Scratch::new(&dparams()));
    if report.is_ok() { Ok(()) } else { fail(format!("{report:?}")) }
}
