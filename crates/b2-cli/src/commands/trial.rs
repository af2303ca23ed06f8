//! Trials of codecs, filters, levels and block sizes on a sample of the user's data.

use core::time::Duration;
use std::time::Instant;

use blosc_chunk::{CParams, CodecId, Decoder, Encoder, Level, Pipeline};
use serde::Serialize;

use super::content::{self, source::Source};
use crate::{
    args::{LimitArgs, Typesize, tune::TrialArgs},
    context::Context,
    error::{Error, Result},
    inputs::{Origin, typesize},
    render::{Units, size::ratio},
};

/// Bytes of data in a chunk of a trial.
const CHUNK_NBYTES: u64 = 1 << 20;

/// How a trial compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) codec: CodecId,
    pub(super) codec_meta: u8,
    pub(super) clevel: Level,
    pub(super) filters: Pipeline,
    pub(super) blocksize: Option<usize>,
}

impl Setting {
    /// A setting with automatic blocks.
    pub(super) fn new(codec: CodecId, clevel: u8, filters: Pipeline) -> Self {
        let clevel = Level::try_from(clevel).unwrap_or(Level::DEFAULT);
        Self { codec, codec_meta: 0, clevel, filters, blocksize: None }
    }

    /// `shuffle -> zstd level 5`.
    pub(super) fn text(&self, units: Units) -> String {
        let blocks = match self.blocksize {
            Some(blocksize) => format!(", blocks of {}", units.size(blocksize as u64)),
            None => String::new(),
        };
        let Self { filters, codec, clevel, .. } = self;
        format!("{filters} -> {codec} level {}{blocks}", clevel.get())
    }
}

/// What came of a setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) setting: Setting,
    pub(super) nbytes: u64,
    pub(super) cbytes: u64,
    /// Bytes of data per second.
    pub(super) write: f64,
    pub(super) read: f64,
}

/// The same as a document.
#[derive(Debug, Serialize)]
pub(super) struct OutcomeReport {
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
    /// Bytes of data for each byte of a chunk.
    #[allow(clippy::cast_precision_loss, reason = "a ratio needs no more digits")]
    pub(super) fn cratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes.max(1) as f64
    }

    /// Is it nowhere worse, and somewhere better?
    pub(super) fn beats(&self, other: &Self) -> bool {
        let pairs =
            [(self.cratio(), other.cratio()), (self.write, other.write), (self.read, other.read)];
        pairs.iter().all(|(a, b)| a >= b) && pairs.iter().any(|(a, b)| a > b)
    }

    /// Ratio, speeds and setting, as cells.
    pub(super) fn cells(&self, units: Units) -> Vec<String> {
        vec![
            format!("  {}x", ratio(self.nbytes, self.cbytes)),
            speed(units, self.write),
            speed(units, self.read),
            self.setting.text(units),
        ]
    }

    /// As a document.
    pub(super) fn report(&self) -> OutcomeReport {
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

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a speed is a positive number of bytes"
)]
fn speed(units: Units, bytes_per_second: f64) -> String {
    format!("{}/s", units.size(bytes_per_second as u64))
}

/// Data to try settings on.
pub(super) struct Sample {
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) typesize: usize,
    /// Where the item size comes from.
    pub(super) evidence: &'static str,
    /// Bytes of everything.
    pub(super) total: u64,
    pub(super) sources: Vec<Source>,
}

impl Sample {
    /// Takes a sample from all parts of an input.
    ///
    /// # Errors
    ///
    /// When the input cannot be read.
    pub(super) fn take(
        cx: &Context,
        origin: &Origin,
        args: &TrialArgs,
        limits: LimitArgs,
    ) -> Result<Self> {
        let sources = content::open(cx, origin, limits)?;
        let sizes = sources.iter().map(Source::nbytes).collect::<blosc_data::Result<Vec<_>>>()?;
        let total: u64 = sizes.iter().sum();
        let wanted = args.sample.0.min(total).min(cx.memory() / 4);
        let npieces = wanted.div_ceil(CHUNK_NBYTES).max(1);
        let known = item_size(&sources);
        let align = known.unwrap_or(16) as u64;
        let mut pieces: Vec<Vec<u8>> = vec![];
        for npiece in 0..npieces {
            let at = u128::from(total.saturating_sub(wanted)) * u128::from(npiece)
                / u128::from(npieces.saturating_sub(1).max(1));
            let at = u64::try_from(at).unwrap_or_default() + npiece * CHUNK_NBYTES;
            let at = (at - at % align).min(total);
            let piece = read(cx, &sources, &sizes, at, CHUNK_NBYTES.min(wanted))?;
            pieces.extend((!piece.is_empty()).then_some(piece));
        }
        let head = pieces.first().map(Vec::as_slice).unwrap_or_default();
        let (typesize, evidence) = match (args.typesize, known) {
            (Typesize::Bytes(given), _) => (usize::from(given), "as given"),
            (Typesize::Auto, Some(known)) => (known, "from the file"),
            (Typesize::Auto, None) => {
                let (found, evidence) = typesize::find(origin.path(), head, Some(total));
                // An item is not cut.
                let fits = total.is_multiple_of(found.into());
                if fits { (found.into(), evidence.text()) } else { (1, "no larger one divides it") }
            }
        };
        Ok(Self { pieces, typesize, evidence, total, sources })
    }

    /// Bytes of the sample.
    pub(super) fn nbytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Tries a setting, `rounds` times of which the best counts; `None` if there is no such codec
    /// or filter here, or it does not suit the data.
    pub(super) fn run(
        &self,
        cx: &Context,
        setting: Setting,
        rounds: u16,
    ) -> Result<Option<Outcome>> {
        let cparams = CParams::default()
            .codec(setting.codec)
            .codec_meta(setting.codec_meta)
            .clevel(setting.clevel)
            .typesize(self.typesize)
            .filters(setting.filters)
            .blocksize(setting.blocksize)
            .registries(cx.registries());
        let Ok(mut encoder) = Encoder::new(cparams) else { return Ok(None) };
        let mut decoder = Decoder::new(cx.dparams());
        let (mut write, mut read, mut cbytes) = (Duration::MAX, Duration::MAX, 0);
        for _ in 0..rounds {
            let start = Instant::now();
            let chunks: Result<Vec<_>, _> =
                self.pieces.iter().map(|piece| encoder.encode(piece)).collect();
            let Ok(chunks) = chunks else { return Ok(None) };
            write = write.min(start.elapsed());
            cbytes = chunks.iter().map(|chunk| chunk.len() as u64).sum();
            let start = Instant::now();
            for (nchunk, (chunk, piece)) in chunks.iter().zip(&self.pieces).enumerate() {
                let back = decoder
                    .decode(chunk)
                    .map_err(|source| Error::Chunk { at: nchunk as u64, source })?;
                if back != *piece {
                    return Ok(None);
                }
            }
            read = read.min(start.elapsed());
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

/// The item size that the file tells; `None` for data that are not compressed and have no type.
fn item_size(sources: &[Source]) -> Option<usize> {
    let source = sources.first().filter(|source| source.name() != "raw")?;
    let size = source.layout().ok().flatten().map_or(source.typesize(), |it| it.dtype.itemsize());
    Some(if (1..=255).contains(&size) { size } else { 1 })
}

/// At most `len` bytes of the content of all objects, from `at` on, of one of them.
fn read(cx: &Context, sources: &[Source], sizes: &[u64], at: u64, len: u64) -> Result<Vec<u8>> {
    let mut start = 0;
    for (source, size) in sources.iter().zip(sizes) {
        if at < start + size {
            let range = at - start..(at - start + len).min(*size);
            let mut bytes = vec![];
            source.part(range, &cx.read_options(), &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok::<(), Error>(())
            })?;
            return Ok(bytes);
        }
        start += size;
    }
    Ok(vec![])
}
