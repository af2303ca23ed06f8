//! `b2 info` on a data set of bcolz.

use bcolz_store::DataSet;

use super::{Lines, dims, filters_text, print_report, print_rows, sizes, wants_json_table};
use crate::{
    console::Console,
    context::Context,
    error::Result,
    formats::Bcolz,
    render::{Align, Table, Units, escape::shell_word, harmless, size},
    report::{ArrayChunks, ArrayReport, BcolzReport, Body, TableReport},
};

/// Describes a data set.
pub(super) fn run(cx: &Context, name: &str, set: &Bcolz) -> Result<()> {
    let report = BcolzReport::new(name, set, wants_json_table(cx));
    let text = |console: &Console| text(&report, console);
    print_report(cx, &report, text, &report.problems, || chunks(cx, set))
}

/// One line per chunk; those of each column below its name.
fn chunks(cx: &Context, set: &Bcolz) -> Result<()> {
    match &set.set {
        DataSet::CArray(array) => print_rows(cx, false, ArrayChunks(array).rows()),
        DataSet::CTable(table) => table.columns().iter().try_for_each(|column| {
            cx.console.print(&format!("  {}\n", harmless(&column.name)))?;
            print_rows(cx, false, ArrayChunks(&column.array).rows())
        }),
    }
}

/// The report for people.
fn text(report: &BcolzReport<'_>, console: &Console) -> String {
    let what = match &report.body {
        Body::Array(_) => "bcolz array (carray, disk format 1)".to_owned(),
        Body::Table(table) => headline(table),
    };
    let mut lines = Lines::new(console, report.path, &what);
    let verbose = console.verbose() > 0;
    match &report.body {
        Body::Array(array) => {
            self::array(&mut lines, array, &files(report, console.units()), verbose)
        }
        Body::Table(table) => {
            self::table(&mut lines, table, &files(report, console.units()), verbose)
        }
    }
    lines.notes(&report.warnings, &report.problems);
    if report.needs_rescue {
        let [path, fixed] =
            [report.path, &b2_program::path::fixed(report.path)].map(|it| shell_word(it.as_ref()));
        lines.add("hint", &format!("b2 rescue {path} -o {fixed}"));
    }
    lines.text
}

fn array(lines: &mut Lines, array: &ArrayReport<'_>, files: &str, verbose: bool) {
    let units = lines.units;
    let is_object = array.dtype == "object";
    let items = if is_object {
        String::new()
    } else {
        format!(", items of {}", size::counted(array.typesize as u64, "byte"))
    };
    lines.add("shape", &format!("{}     {}{items}", dims(array.shape), array.dtype));
    let chunks = size::count(array.nchunks);
    let chunks = match array.nchunks {
        0 => chunks,
        _ if is_object => format!("{chunks}, one for each element"),
        _ => {
            let (rows, nbytes) = (size::count(array.chunklen), units.size(array.chunksize));
            let rest = array.shape.first().map_or(0, |len| len % array.chunklen.max(1));
            let last =
                if rest > 0 { format!(", last {}", size::count(rest)) } else { String::new() };
            format!("{chunks} of {rows} rows ({nbytes}){last}")
        }
    };
    lines.add("chunks", &chunks);
    lines.add("size", &sizes(array.nbytes, array.cbytes, units));
    lines.add("pipeline", &pipeline(array, units));
    lines.add("files", files);
    if let Some(dflt) = array.dflt.as_ref().filter(|_| verbose) {
        lines.add("fill value", &dflt.to_string());
    }
    lines.attrs(&array.attrs, verbose);
}

fn pipeline(array: &ArrayReport<'_>, units: Units) -> String {
    let filters = filters_text(&array.filters, &array.filters_meta);
    let blocks = array
        .blocksize
        .map(|blocksize| format!(" (first chunk, blocks of {})", units.size(blocksize)));
    format!("{filters} -> {} level {}{}", array.codec, array.clevel, blocks.unwrap_or_default())
}

/// `640 B     dead 0 B`.
fn files(report: &BcolzReport<'_>, units: Units) -> String {
    let dead = report.dead_bytes.map(|dead| format!("     dead {}", units.size(dead)));
    format!("{}{}", units.size(report.file_bytes), dead.unwrap_or_default())
}

fn headline(table: &TableReport<'_>) -> String {
    let plural =
        |n: u64, what: &str| format!("{} {what}{}", size::count(n), if n == 1 { "" } else { "s" });
    let (rows, columns) = (plural(table.rows, "row"), plural(table.columns.len() as u64, "column"));
    format!("bcolz table (ctable, disk format 1), {rows}, {columns}")
}

fn table(lines: &mut Lines, table: &TableReport<'_>, files: &str, verbose: bool) {
    let units = lines.units;
    let mut cells = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Left, Align::Left]);
    cells.row(["  column", "dtype", "chunks", "size", "codec"]);
    for column in &table.columns {
        let inner = column.shape.iter().skip(1).map(|len| format!(" x {len}")).collect::<String>();
        cells.row([
            format!("  {}", harmless(column.name.unwrap_or_default())),
            format!("{}{inner}", column.dtype),
            size::count(column.nchunks),
            sizes(column.nbytes, column.cbytes, units),
            [column.codec.clone(), column.clevel.to_string()]
                .into_iter()
                .chain(column.filters.clone())
                .collect::<Vec<_>>()
                .join(" "),
        ]);
    }
    lines.text += &cells.to_string();
    lines.add("size", &sizes(table.nbytes, table.cbytes, units));
    lines.add("files", files);
    lines.attrs(&table.attrs, verbose);
}
