//! Whole chunks against other crates in Rust: `blosc2-pure-rs` and `blusc` (feature `rust-peers`).
//!
//! One thread, level 5, shuffled; each side reads the other's chunk before the measurement. A chunk
//! that either side cannot read is reported and not measured: one of the two has a fault.

use blosc_chunk::{CParams, CodecId, DParams, Decoder, Encoder, Pipeline};

use super::{Bench, Subject};
use crate::failure::{Result, fail};

const CODECS: [(&str, u8); 3] = [("blosclz", 0), ("lz4", 1), ("zstd", 5)];
const CHUNK: usize = 4 << 20;
const SHUFFLE: [u8; 6] = [0, 0, 0, 0, 0, 1];
const FORWARD_COMPAT: i32 = 4;

/// Another crate: its encoder and its decoder, into given buffers.
trait Peer {
    const NAME: &'static str;
    fn new(codec: u8, typesize: i32) -> Self;
    fn encode(&self, src: &[u8], dest: &mut [u8]) -> Result<usize>;
    fn decode(&self, chunk: &[u8], dest: &mut [u8]) -> Result<usize>;
}

struct Blosc2PureRs(blosc2_pure_rs::CParams);

impl Peer for Blosc2PureRs {
    const NAME: &'static str = "blosc2-pure-rs";

    fn new(codec: u8, typesize: i32) -> Self {
        Self(blosc2_pure_rs::CParams { compcode: codec, typesize, ..Default::default() })
    }

    fn encode(&self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let context = blosc2_pure_rs::compress::CContext::new(self.0.clone());
        context.compress_chunk_into(src, dest).or_else(fail)
    }

    fn decode(&self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        blosc2_pure_rs::compress::decompress_chunk_into(chunk, dest).or_else(fail)
    }
}

struct Blusc(blusc::Blosc2Context, blusc::Blosc2Context);

impl Peer for Blusc {
    const NAME: &'static str = "blusc";

    fn new(codec: u8, typesize: i32) -> Self {
        let params = blusc::Blosc2Cparams {
            compcode: codec,
            typesize,
            splitmode: FORWARD_COMPAT,
            filters: SHUFFLE,
            ..blusc::BLOSC2_CPARAMS_DEFAULTS
        };
        Self(
            blusc::blosc2_create_cctx(params),
            blusc::blosc2_create_dctx(blusc::BLOSC2_DPARAMS_DEFAULTS),
        )
    }

    fn encode(&self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        positive(blusc::blosc2_compress_ctx(&self.0, src, dest))
    }

    fn decode(&self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        positive(blusc::blosc2_decompress_ctx(&self.1, chunk, dest))
    }
}

fn positive(done: i32) -> Result<usize> {
    match usize::try_from(done) {
        Ok(nbytes) if nbytes > 0 => Ok(nbytes),
        _ => fail(format!("gives {done}")),
    }
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    for (name, codec) in CODECS {
        for set in 0..bench.sets.len() {
            against::<Blosc2PureRs>(bench, name, codec, set)?;
            against::<Blusc>(bench, name, codec, set)?;
        }
    }
    Ok(())
}

fn against<P: Peer>(bench: &mut Bench, codec_name: &str, codec: u8, set: usize) -> Result<()> {
    let (name, typesize) = (bench.sets[set].name, bench.sets[set].typesize);
    let plain = bench.sets[set].bytes[..CHUNK].to_vec();
    let peer = P::new(codec, i32::try_from(typesize)?);
    let params = CParams::default().codec(CodecId(codec)).typesize(typesize);
    let mut encoder = Encoder::new(params.filters(Pipeline::from_slots(SHUFFLE, [0; 6])))?;
    let mut decoder = Decoder::new(DParams::default());
    let (mut dest, mut their_dest) = (vec![0; CHUNK + 64], vec![0; CHUNK + 64]);
    let nbytes = encoder.encode_into(&plain, &mut dest)?;
    let chunk = dest[..nbytes].to_vec();
    let their_chunk = match peer.encode(&plain, &mut their_dest) {
        Ok(nbytes) => their_dest[..nbytes].to_vec(),
        Err(why) => {
            eprintln!("  {}, {codec_name}, {name}: makes no chunk: {why}", P::NAME);
            return Ok(());
        }
    };
    let subject = |what| {
        let setting = format!("{}: {codec_name} shuffle", P::NAME);
        let subject = Subject::new("peers", what, setting, name).nbytes(CHUNK);
        subject.sizes(chunk.len(), their_chunk.len())
    };
    dest.fill(0);
    match decoder.decode_into(&their_chunk, &mut dest[..CHUNK]) {
        Ok(_) if dest[..CHUNK] == plain => bench.measure(
            subject("compress"),
            &mut || Ok(encoder.encode_into(&plain, &mut dest).map(drop)?),
            &mut || peer.encode(&plain, &mut their_dest).map(drop),
        )?,
        Ok(_) => eprintln!("  {}, {codec_name}, {name}: its chunk holds other bytes", P::NAME),
        Err(why) => eprintln!("  {}, {codec_name}, {name}: its chunk: {why}", P::NAME),
    }
    their_dest.fill(0);
    match peer.decode(&chunk, &mut their_dest[..CHUNK]) {
        Ok(_) if their_dest[..CHUNK] == plain => bench.measure(
            subject("decompress"),
            &mut || Ok(decoder.decode_into(&chunk, &mut dest[..CHUNK]).map(drop)?),
            &mut || peer.decode(&chunk, &mut their_dest[..CHUNK]).map(drop),
        )?,
        Ok(_) => eprintln!("  {}, {codec_name}, {name}: reads other bytes from our chunk", P::NAME),
        Err(why) => {
            eprintln!("  {}, {codec_name}, {name}: does not read our chunk: {why}", P::NAME)
        }
    }
    Ok(())
}
