//! `b2 info` on a Bloscpack file.

use super::{Lines, dims, filters_text, print_report, print_rows, sizes, wants_json_table};
use crate::{
    console::Console,
    context::Context,
    error::Result,
    formats::Blp,
    render::{Units, size},
    report::{BlpChunks, BlpReport},
};

/// Describes a file.
pub(super) fn run(cx: &Context, name: &str, blp: &Blp) -> Result<()> {
    let report = BlpReport::new(name, blp, wants_json_table(cx))?;
    let text = |console: &Console| text(&report, console);
    let rows = || print_rows(cx, false, BlpChunks(blp).rows());
    print_report(cx, &report, text, &report.problems, rows)
}

/// The report for people: a line per topic.
fn text(report: &BlpReport<'_>, console: &Console) -> String {
    let (verbose, units) = (console.verbose() > 0, console.units());
    let what = format!("Bloscpack file (format version {})", report.file.format_version);
    let mut lines = Lines::new(console, report.file.path, &what);
    match &report.array {
        Some(array) => {
            let shape =
                format!("{}     {}, {} order", dims(&array.shape), array.dtype, array.order);
            lines.add("shape", &shape);
            lines.add("size", &sizes(report.file.nbytes, report.file.cbytes, units));
        }
        None => lines.items(&report.file, report.typesize),
    }
    lines.add("chunks", &chunks(report, units));
    lines.add("offsets", &offsets(report));
    if let Some(first) = &report.first {
        let filters = filters_text(&first.filters, &first.filters_meta);
        let blocks = units.size(first.blocksize as u64);
        lines.add(
            "pipeline",
            &format!("{filters} -> {} (first chunk, blocks of {blocks})", first.codec),
        );
    }
    let dead = units.size(report.dead_bytes);
    lines.add("file", &format!("{}     dead {dead}", units.size(report.file.file_bytes)));
    let checksums =
        if report.checksum == "none" { "none" } else { &format!("{} per chunk", report.checksum) };
    lines.add("checksums", checksums);
    if let (Some(metadata), Some((stored, room))) = (&report.metadata, report.metadata_bytes) {
        let metadata = metadata.to_string();
        let shown = if verbose || metadata.chars().count() <= SHOWN {
            metadata.as_str()
        } else {
            "-v shows them"
        };
        let (stored, room) = (units.size(stored.into()), units.size(room.into()));
        lines.add("metadata", &format!("{stored}, room for {room}: {shown}"));
    }
    lines.notes(&report.warnings, &report.problems);
    lines.text
}

/// Characters of metadata that are shown without `-v`.
const SHOWN: usize = 120;

fn chunks(report: &BlpReport<'_>, units: Units) -> String {
    let mut text = size::count(report.nchunks);
    if let Some(chunk_size) = report.chunk_size.filter(|_| report.nchunks > 1) {
        text += &format!(" of {}", units.size(chunk_size.into()));
    }
    if let Some(last) = report.last_chunk {
        text += &format!(", last {}", units.size(last.into()));
    }
    text
}

fn offsets(report: &BlpReport<'_>) -> String {
    match report.offsets {
        true => format!("yes, room for {}", size::counted(report.max_app_chunks, "more chunk")),
        false => "no".to_owned(),
    }
}
