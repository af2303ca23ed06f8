//! Trials of codecs, filters, levels and block sizes on a sample of the user's data.
//!
//! ```
//! use blosc_chunk::{CodecId, DParams, Pipeline};
//! use blosc_data::trial::{Sample, Setting};
//!
//! let walk: Vec<u8> = (0..100_000_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
//! let sample = Sample::new(vec![walk], 4);
//! let setting = Setting::new(CodecId::LZ4, 5, Pipeline::SHUFFLE);
//! let outcome = sample.run(&DParams::default(), setting, 1)?.ok_or("LZ4 is always there")?;
//! assert!(outcome.cratio() > 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::{ops::Range, time::Duration};
use std::{path::Path, time::Instant};

use blosc_chunk::{CParams, CodecId, DParams, Decoder, Encoder, Level, Pipeline};
use serde::Serialize;

use crate::content::Content;
use crate::error::{Error, Result};
use crate::{Budget, typesize};

/// The time. A module in a browser has no clock, and reading one there panics.
fn now() -> Option<Instant> {
    const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));
    HAS_CLOCK.then(Instant::now)
}

/// The time since `start`; 0 without a clock, so that all settings count as equally fast.
fn elapsed(start: Option<Instant>) -> Duration {
    start.map_or(Duration::ZERO, |start| start.elapsed())
}

/// Bytes of data in a chunk of a trial.
const CHUNK_NBYTES: u64 = 1 << 20;

/// The origin of an item size that the caller gives.
const GIVEN: &str = "as given";

/// The settings of a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The codec.
    pub codec: CodecId,
    /// Its own parameter.
    pub codec_meta: u8,
    /// Its level.
    pub clevel: Level,
    /// The filters.
    pub filters: Pipeline,
    /// Bytes of a block; `None` for the automatic choice.
    pub blocksize: Option<usize>,
}

impl Setting {
    /// A setting with automatic blocks.
    #[must_use]
    pub fn new(codec: CodecId, clevel: u8, filters: Pipeline) -> Self {
        let clevel = Level::try_from(clevel).unwrap_or(Level::DEFAULT);
        Self { codec, codec_meta: 0, clevel, filters, blocksize: None }
    }
}

/// The result of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The setting.
    pub setting: Setting,
    /// Bytes of the sample.
    pub nbytes: u64,
    /// Bytes of its chunks.
    pub cbytes: u64,
    /// Bytes of data compressed in a second.
    pub write: f64,
    /// Bytes of data decompressed in a second.
    pub read: f64,
}

/// The outcome as a document.
#[derive(Debug, Serialize)]
pub struct OutcomeReport {
    codec: String,
    clevel: u8,
    filters: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocksize: Option<usize>,
    cbytes: u64,
    cratio: f64,
    write_bytes_per_second: f64,
    read_bytes_per_second: f64,
}

impl Outcome {
    /// The compression ratio: bytes of data for each byte of a chunk.
    #[allow(clippy::cast_precision_loss, reason = "a ratio needs no more digits")]
    #[must_use]
    pub fn cratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes.max(1) as f64
    }

    /// Whether it is better in some measure, and worse in none.
    #[must_use]
    pub fn beats(&self, other: &Self) -> bool {
        let pairs =
            [(self.cratio(), other.cratio()), (self.write, other.write), (self.read, other.read)];
        pairs.iter().all(|(a, b)| a >= b) && pairs.iter().any(|(a, b)| a > b)
    }

    /// The outcome as a document.
    #[must_use]
    pub fn report(&self) -> OutcomeReport {
        OutcomeReport {
            codec: self.setting.codec.to_string(),
            clevel: self.setting.clevel.get(),
            filters: self.setting.filters.active().map(|slot| slot.id.to_string()).collect(),
            blocksize: self.setting.blocksize,
            cbytes: self.cbytes,
            cratio: self.cratio(),
            write_bytes_per_second: self.write,
            read_bytes_per_second: self.read,
        }
    }
}

/// Data for trials.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Pieces of the data, a chunk each.
    pub pieces: Vec<Vec<u8>>,
    /// Bytes of an item.
    pub typesize: usize,
    /// The origin of the item size, in words.
    pub evidence: &'static str,
    /// Bytes of the whole input.
    pub total: u64,
}

blosc_chunk::setters! {
/// Options for taking a sample.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SampleOptions {
    /// Most bytes of the sample.
    pub max_nbytes: u64,
    /// Bytes of an item; `None` to detect it from the content, the name or the bytes.
    pub typesize: Option<u8>,
    /// Threads and memory for reading.
    pub budget: Budget,
}
}

impl Sample {
    /// A sample of pieces from the caller, with items of `typesize` bytes.
    #[must_use]
    pub fn new(pieces: Vec<Vec<u8>>, typesize: usize) -> Self {
        let total = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, typesize, evidence: GIVEN, total }
    }

    /// Takes a sample from all parts of an input; `name` is the name of the input.
    ///
    /// # Errors
    ///
    /// Content that cannot be read.
    pub fn take(
        contents: &[Content],
        name: Option<&Path>,
        options: &SampleOptions,
    ) -> Result<Self> {
        let sizes = contents.iter().map(Content::nbytes).collect::<Result<Vec<_>>>()?;
        let total: u64 = sizes.iter().sum();
        let wanted = options.max_nbytes.min(total);
        let npieces = wanted.div_ceil(CHUNK_NBYTES).max(1);
        let known = item_size(contents);
        let align = known.unwrap_or(16) as u64;
        let mut pieces: Vec<Vec<u8>> = vec![];
        for npiece in 0..npieces {
            let at = u128::from(total.saturating_sub(wanted)) * u128::from(npiece)
                / u128::from(npieces.saturating_sub(1).max(1));
            let at = u64::try_from(at).unwrap_or_default() + npiece * CHUNK_NBYTES;
            let at = (at - at % align).min(total);
            let piece = read(contents, &sizes, at..at + CHUNK_NBYTES.min(wanted), &options.budget)?;
            pieces.extend((!piece.is_empty()).then_some(piece));
        }
        let head = pieces.first().map(Vec::as_slice).unwrap_or_default();
        let (typesize, evidence) = match (options.typesize, known) {
            (Some(given), _) => (usize::from(given), GIVEN),
            (None, Some(known)) => (known, "from the file"),
            (None, None) => {
                let (found, evidence) = typesize::find(name, head, Some(total));
                // Pieces end at borders of items.
                let fits = total.is_multiple_of(found.into());
                if fits { (found.into(), evidence.text()) } else { (1, "no larger one divides it") }
            }
        };
        Ok(Self { pieces, typesize, evidence, total })
    }

    /// Bytes of the sample.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Runs a trial of a setting `rounds` times; the best time counts. `None` if this build lacks
    /// the codec or filter, or it does not suit the data.
    ///
    /// # Errors
    ///
    /// A chunk that cannot be decoded.
    pub fn run(&self, dparams: &DParams, setting: Setting, rounds: u16) -> Result<Option<Outcome>> {
        let cparams = CParams::default()
            .codec(setting.codec)
            .codec_meta(setting.codec_meta)
            .clevel(setting.clevel)
            .typesize(self.typesize)
            .filters(setting.filters)
            .blocksize(setting.blocksize)
            .registries(dparams.registries.clone());
        let Ok(mut encoder) = Encoder::new(cparams) else { return Ok(None) };
        let mut decoder = Decoder::new(dparams.clone());
        let (mut write, mut read, mut cbytes) = (Duration::MAX, Duration::MAX, 0);
        for _ in 0..rounds {
            let start = now();
            let chunks: Result<Vec<_>, _> =
                self.pieces.iter().map(|piece| encoder.encode(piece)).collect();
            let Ok(chunks) = chunks else { return Ok(None) };
            write = write.min(elapsed(start));
            cbytes = chunks.iter().map(|chunk| chunk.len() as u64).sum();
            let start = now();
            for (nchunk, (chunk, piece)) in chunks.iter().zip(&self.pieces).enumerate() {
                let back = decoder
                    .decode(chunk)
                    .map_err(|source| Error::Chunk { at: nchunk as u64, source })?;
                if back != *piece {
                    return Ok(None);
                }
            }
            read = read.min(elapsed(start));
        }
        let nbytes = self.nbytes();
        let per_second = |time: Duration| {
            #[allow(clippy::cast_precision_loss, reason = "a speed needs no more digits")]
            let nbytes = nbytes as f64;
            nbytes / time.as_secs_f64().max(1e-9)
        };
        let (write, read) = (per_second(write), per_second(read));
        Ok(Some(Outcome { setting, nbytes, cbytes, write, read }))
    }
}

/// The item size of the content; `None` for uncompressed data without a type.
fn item_size(contents: &[Content]) -> Option<usize> {
    let content = contents.first().filter(|content| content.name() != "raw")?;
    let layout = content.layout().ok().flatten();
    let size = layout.map_or(content.typesize(), |layout| layout.dtype.itemsize());
    Some(if (1..=255).contains(&size) { size } else { 1 })
}

/// Reads the bytes `range` of all contents together, within one of them.
fn read(
    contents: &[Content],
    sizes: &[u64],
    range: Range<u64>,
    budget: &Budget,
) -> Result<Vec<u8>> {
    let mut start = 0;
    for (content, size) in contents.iter().zip(sizes) {
        if range.start < start + size {
            let range = range.start - start..(range.end - start).min(*size);
            let mut bytes = vec![];
            content.part(range, budget, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok::<(), Error>(())
            })?;
            return Ok(bytes);
        }
        start += size;
    }
    Ok(vec![])
}

/// The ranking of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Little space.
    Ratio,
    /// Space and time.
    Balanced,
    /// Little time, to write and to read.
    Speed,
}

/// Lossless pipelines for items of any size.
const FILTERS: [&str; 5] = ["none", "shuffle", "bitshuffle", "delta,shuffle", "shuffle,bytedelta"];

/// Pipelines that all codecs try.
const MAX_PIPELINES: usize = 2;

/// Codecs and their levels.
const CODECS: [(CodecId, &[u8]); 4] = [
    (CodecId::BLOSCLZ, &[5]),
    (CodecId::LZ4, &[1, 5, 9]),
    (CodecId::LZ4HC, &[5, 9]),
    (CodecId::ZSTD, &[1, 3, 5, 7, 9]),
];

/// Block sizes that the winner tries (bytes).
const BLOCKS: [usize; 3] = [16 << 10, 64 << 10, 512 << 10];

/// The outcomes of all useful trials, and of the setting `now`. A fast and a strong codec try all
/// pipelines; all codecs and levels try the best of these; other block sizes try the winner, unless
/// an array determines the blocks.
///
/// # Errors
///
/// A codec or a filter that fails.
pub fn explore(
    sample: &Sample,
    dparams: &DParams,
    goal: Goal,
    is_array: bool,
    now: Option<Setting>,
) -> Result<Vec<Outcome>> {
    // Shuffle has no effect on single bytes; bitshuffle has.
    let specs: &[&str] = if sample.typesize > 1 { &FILTERS } else { &["none", "bitshuffle"] };
    let pipelines = specs.iter().filter_map(|spec| Pipeline::parse(spec).ok());
    let mut outcomes: Vec<Outcome> = vec![];
    for filters in pipelines {
        attempt(dparams, sample, Setting::new(CodecId::LZ4, 5, filters), &mut outcomes)?;
        attempt(dparams, sample, Setting::new(CodecId::ZSTD, 5, filters), &mut outcomes)?;
    }
    let mut ranked: Vec<(f64, Pipeline)> =
        outcomes.iter().map(|outcome| (outcome.cratio(), outcome.setting.filters)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut kept: Vec<Pipeline> = vec![];
    for (_, filters) in ranked {
        if kept.len() < MAX_PIPELINES && !kept.contains(&filters) {
            kept.push(filters);
        }
    }
    for filters in kept {
        for (codec, levels) in CODECS {
            for level in levels {
                attempt(dparams, sample, Setting::new(codec, *level, filters), &mut outcomes)?;
            }
        }
    }
    // The blocks of an array have a shape, which sizes do not describe.
    if let Some(winner) = choose(goal, &outcomes).filter(|_| !is_array).copied() {
        for blocksize in BLOCKS {
            let setting = Setting { blocksize: Some(blocksize), ..winner.setting };
            attempt(dparams, sample, setting, &mut outcomes)?;
        }
    }
    if let Some(now) = now {
        attempt(dparams, sample, now, &mut outcomes)?;
    }
    Ok(outcomes)
}

/// Runs a trial, unless the setting was tried before.
fn attempt(
    dparams: &DParams,
    sample: &Sample,
    setting: Setting,
    outcomes: &mut Vec<Outcome>,
) -> Result<()> {
    if !outcomes.iter().any(|outcome| outcome.setting == setting) {
        outcomes.extend(sample.run(dparams, setting, 1)?);
    }
    Ok(())
}

/// The best outcome for the goal.
#[must_use]
pub fn choose(goal: Goal, outcomes: &[Outcome]) -> Option<&Outcome> {
    let score = |outcome: &Outcome| match goal {
        Goal::Ratio => outcome.cratio(),
        // Twice the ratio makes up for a tenth of each speed.
        Goal::Balanced => outcome.cratio().log2() + 0.15 * (outcome.write * outcome.read).log2(),
        Goal::Speed => 1.0 / (1.0 / outcome.write + 1.0 / outcome.read),
    };
    outcomes.iter().max_by(|a, b| score(a).total_cmp(&score(b)))
}

#[cfg(test)]
mod explored {
    use super::*;

    fn outcome(cbytes: u64, write: f64, read: f64) -> Outcome {
        let setting = Setting::new(CodecId::ZSTD, 5, Pipeline::SHUFFLE);
        Outcome { setting, nbytes: 1000, cbytes, write, read }
    }

    #[test]
    fn each_goal_has_its_winner() {
        let all = [outcome(100, 1e6, 1e7), outcome(150, 5e8, 1e9), outcome(800, 4e9, 8e9)];
        let winner = |goal| choose(goal, &all).unwrap().cbytes;
        assert_eq!([Goal::Ratio, Goal::Balanced, Goal::Speed].map(winner), [100, 150, 800]);
        assert!(!all.iter().any(|one| all.iter().any(|other| other.beats(one))));
        assert!(outcome(100, 2.0, 2.0).beats(&outcome(100, 1.0, 2.0)));
    }
}
