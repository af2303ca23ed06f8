//! `b2 info` on a bare chunk.

use core::fmt::Write;

use super::{Lines, filters_text, print_lines, print_report, wants_table};
use crate::{
    console::Console,
    context::Context,
    error::Result,
    formats::BareChunk,
    render::{Units, harmless, size},
    report::{BlockRow, BlockTable, ChunkReport},
};

/// Describes a chunk.
pub(super) fn run(cx: &Context, name: &str, chunk: &BareChunk) -> Result<()> {
    let table = wants_table(cx);
    let bytes = match chunk.bytes(cx.memory()) {
        // The header alone tells most of it.
        Err(blosc_data::Error::MaxMemory { .. }) if !table => None,
        bytes => Some(bytes?),
    };
    let report = ChunkReport::new(name, chunk, bytes.as_deref(), table);
    let text = |console: &Console| text(&report, console);
    let table = report.blocks.filter(|_| report.nblocks > 0);
    let rows = || table.map_or(Ok(()), |table| blocks(cx, table));
    print_report(cx, &report, text, &report.problems, rows)
}

/// The report for people: a line per topic.
fn text(report: &ChunkReport<'_>, console: &Console) -> String {
    let units = console.units();
    let maker = if report.file.format_version <= 2 { "Blosc1" } else { "Blosc2" };
    let what = format!("{maker} chunk (version {})", report.file.format_version);
    let mut lines = Lines::new(console, report.file.path, &what);
    lines.items(&report.file, report.typesize as u64);
    lines.add("blocks", &blocks_text(report, units));
    let codec = match report.codec_meta {
        0 => report.codec.clone(),
        meta => format!("{}:{meta}", report.codec),
    };
    if report.nblocks > 0 {
        let filters = filters_text(&report.filters, &report.filters_meta);
        lines.add("pipeline", &format!("{filters} -> {codec}{}", dict_text(report, units)));
    }
    lines.add("file", &file_text(report, units));
    lines.add("checksums", "none");
    lines.add("opens with", &report.opens_with);
    lines.notes(&report.warnings, &report.problems);
    lines.text
}

/// The line about blocks: how the chunk stores its data.
fn blocks_text(report: &ChunkReport<'_>, units: Units) -> String {
    if report.file.nbytes == 0 {
        return "none: there are no data".to_owned();
    }
    if let Some(special) = report.special {
        return format!("none: {}", run_text(special));
    }
    if report.memcpyed {
        return "none: the data are stored as they are".to_owned();
    }
    let mut text = size::count(report.nblocks as u64);
    if report.vl_blocks {
        return text + " of individual sizes";
    }
    if let Some(blocksize) = report.blocksize {
        let _written = write!(text, " of {}", units.size(blocksize as u64));
        let last = report.file.nbytes % blocksize.max(1) as u64;
        if last > 0 && report.nblocks > 1 {
            let _written = write!(text, ", last {}", units.size(last));
        }
    }
    if report.split {
        let _written = write!(text, ", split into {} streams", report.typesize);
    }
    text
}

fn run_text(special: &str) -> &'static str {
    match special {
        "zeros" => "all data are zero",
        "nan" => "all items are NaN",
        "value" => "all items are one value",
        _ => "the data were never set",
    }
}

fn dict_text(report: &ChunkReport<'_>, units: Units) -> String {
    match (report.dict, report.dict_bytes) {
        (true, Some(nbytes)) => format!(", dictionary of {}", units.size(nbytes as u64)),
        (true, None) => ", dictionary".to_owned(),
        (false, _) => String::new(),
    }
}

fn file_text(report: &ChunkReport<'_>, units: Units) -> String {
    let mut text =
        format!("{}     header {} B", units.size(report.file.file_bytes), report.header_bytes);
    if report.lazy {
        return text + "; a lazy chunk: its blocks are elsewhere";
    }
    if report.nblocks > 0 {
        let _written = write!(text, ", block starts {}", units.size(4 * report.nblocks as u64));
    }
    if let Some(dead) = report.dead_bytes {
        let _written = write!(text, ", dead {}", units.size(dead));
    }
    text
}

/// One line per block, printed as they come.
fn blocks(cx: &Context, table: BlockTable<'_>) -> Result<()> {
    let head = format!(
        "{:>9}  {:>12}  {:>12}  {:>12}  {:>7}  streams\n",
        "block", "offset", "bytes", "data", "ratio"
    );
    print_lines(cx, head, table.rows().map(|row| line(&row)))
}

fn line(row: &BlockRow) -> String {
    let nblock = size::count(row.nblock as u64);
    if let Some(error) = &row.error {
        return format!("{nblock:>9}  {}", harmless(error));
    }
    let (nbytes, cbytes) = (row.nbytes as u64, row.cbytes as u64);
    format!(
        "{nblock:>9}  {:>12}  {:>12}  {:>12}  {:>7}  {}",
        row.offset.map_or("-".to_owned(), |offset| size::count(offset as u64)),
        size::count(cbytes),
        size::count(nbytes),
        size::ratio(nbytes, cbytes),
        row.summary()
    )
}
