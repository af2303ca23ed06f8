//! Trials of compression settings as text.

use blosc_data::{
    content::Content,
    trial::{Outcome, Sample, SampleOptions, Setting},
};

use crate::{
    args::{Typesize, tune::TrialArgs},
    context::Context,
    error::Result,
    inputs::Origin,
    render::{Units, size::ratio},
};

/// Takes a sample of an open input.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn sample(
    cx: &Context,
    origin: &Origin,
    args: &TrialArgs,
    contents: &[Content],
) -> Result<Sample> {
    let typesize = match args.typesize {
        Typesize::Bytes(given) => Some(given),
        Typesize::Auto => None,
    };
    let options = SampleOptions::default()
        .max_nbytes(args.sample.0.min(cx.memory() / 4))
        .typesize(typesize)
        .budget(cx.read_options());
    Ok(Sample::take(contents, origin.path(), &options)?)
}

/// `shuffle -> zstd level 5`.
pub(crate) fn setting_text(setting: &Setting, units: Units) -> String {
    let blocks = match setting.blocksize {
        Some(blocksize) => format!(", blocks of {}", units.size(blocksize as u64)),
        None => String::new(),
    };
    let Setting { filters, codec, clevel, .. } = setting;
    format!("{filters} -> {codec} level {}{blocks}", clevel.get())
}

/// Ratio, speeds and setting, as cells.
pub(crate) fn cells(outcome: &Outcome, units: Units) -> Vec<String> {
    vec![
        format!("  {}x", ratio(outcome.nbytes, outcome.cbytes)),
        speed(units, outcome.write),
        speed(units, outcome.read),
        setting_text(&outcome.setting, units),
    ]
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a speed is a positive number of bytes"
)]
fn speed(units: Units, bytes_per_second: f64) -> String {
    format!("{}/s", units.size(bytes_per_second as u64))
}

/// The sample of a trial, in words.
pub(crate) fn summary(sample: &Sample, cx: &Context) -> String {
    let units = cx.console.units();
    format!(
        "{} of {}, items of {} {} ({}), one thread",
        units.size(sample.nbytes()),
        units.size(sample.total),
        sample.typesize,
        if sample.typesize == 1 { "byte" } else { "bytes" },
        sample.evidence
    )
}
