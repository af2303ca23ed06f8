//! The cost of seals: compressing with LZ4, reading all of it and verifying it, without sums, with
//! the sum of the body, and with a sum for each chunk. The three take turns; the best of all rounds
//! counts. Result in `docs/formats/seal.md`.

use std::time::Instant;

use b2frame::{Budget, Checksums, FrameParams, SChunk, report::VerifyOptions, to_cframe};
use blosc_chunk::{CParams, CodecId, Threads};

const ROUNDS: usize = 25;
/// Items of 4 bytes.
const NITEMS: u32 = 1 << 24;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let data = sets();
    println!(
        "{:<12} {:>6} {:>24} {:>24} {:>24}",
        "data", "ratio", "compress, MB/s", "decode and verify, MB/s", "read, MB/s"
    );
    for (name, typesize, data) in data {
        let kinds = [Checksums::None, Checksums::Body, Checksums::Chunks];
        let mut best = [[f64::MAX; 3]; 3];
        let mut ratio = 0.0;
        for _ in 0..ROUNDS {
            for (kind, best) in kinds.iter().zip(&mut best) {
                let cparams = CParams::default().codec(CodecId::LZ4).typesize(typesize);
                let params = FrameParams::new(cparams).chunksize(1 << 20).checksums(*kind);
                let start = Instant::now();
                let frame = to_cframe(&data, &params)?;
                best[0] = best[0].min(start.elapsed().as_secs_f64());
                ratio = data.len() as f64 / frame.len() as f64;
                let schunk = SChunk::from_cframe(frame)?;
                let budget = Budget::default().threads(Threads::One);
                let start = Instant::now();
                let report =
                    schunk.verify(&VerifyOptions::default().budget(budget.clone()), |_| {});
                best[1] = best[1].min(start.elapsed().as_secs_f64());
                assert!(report.is_ok());
                let all = 0..schunk.nchunks();
                let start = Instant::now();
                schunk.decode_ordered(all, &budget, |_, _| Ok::<(), b2frame::Error>(()))?;
                best[2] = best[2].min(start.elapsed().as_secs_f64());
            }
        }
        let speed = |n: usize| {
            let [none, body, chunks] = best.map(|best| data.len() as f64 / best[n] / 1e6);
            format!("{none:.0} {body:.0} {chunks:.0}")
        };
        println!("{name:<12} {ratio:>6.2} {:>24} {:>24} {:>24}", speed(0), speed(1), speed(2));
    }
    Ok(())
}

/// Measured values, counters and noise.
fn sets() -> Vec<(&'static str, usize, Vec<u8>)> {
    let mut random = blosc_testdata::data::XorShift32::new(3);
    let noise: Vec<u8> = (0..NITEMS).flat_map(|_| random.next_u32().to_le_bytes()).collect();
    let mut walk = 0_u32;
    let mut step = || {
        walk = walk.wrapping_add(random.next_u32() >> 26);
        walk
    };
    let walk: Vec<u8> = (0..NITEMS).flat_map(|_| step().to_le_bytes()).collect();
    let wave = |n: u32| (n as f32 / 700.0).sin() * 20.0 + (n % 17) as f32 / 64.0;
    let floats: Vec<u8> = (0..NITEMS).flat_map(|n| wave(n).to_le_bytes()).collect();
    let counters: Vec<u8> = (0..NITEMS).flat_map(u32::to_le_bytes).collect();
    vec![("counters", 4, counters), ("walk", 4, walk), ("waves", 4, floats), ("noise", 4, noise)]
}
