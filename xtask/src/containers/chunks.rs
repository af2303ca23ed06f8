//! Bare chunks, which have no checksums.

use blosc_chunk::{CParams, Chunk, CodecId, Decoder, Encoder, Scratch, Target, validate::Depth};

use super::{Files, Sample, data, dparams};
use crate::failure::{Result, fail};

pub(super) fn samples() -> Result<Vec<Sample>> {
    let sample = |codec, target| {
        let params = CParams::default().codec(codec).typesize(4).target(target);
        let chunk = Encoder::new(params.blocksize(Some(1024)))?.encode(&data(5000, 11))?;
        Ok(Sample {
            container: "chunk",
            is_sealed: false,
            files: Files::from_bytes(chunk),
            chunks: vec![],
            covered: vec![],
            verify,
            read: |files| Ok(Decoder::new(dparams()).decode(files.bytes()).map(drop)?),
            rescue: None,
        })
    };
    [
        (CodecId::BLOSCLZ, Target::Blosc1_14),
        (CodecId::LZ4, Target::Blosc3_0),
        (CodecId::ZSTD, Target::Blosc3_0),
    ]
    .into_iter()
    .map(|(codec, target)| sample(codec, target))
    .collect()
}

fn verify(files: &Files) -> Result<()> {
    let chunk = Chunk::parse(files.bytes())?;
    let report = chunk.validate(Depth::Decode, &mut Scratch::new(&dparams()));
    if report.is_ok() { Ok(()) } else { fail(format!("{report:?}")) }
}
