//! `b2 formats`: the codecs and filters of this build, and those known by name only.

use blosc_chunk::{CodecId, FilterId, Registries, Simd};
use serde::Serialize;

use crate::{
    console::Console,
    error::Result,
    render::{Align, Table},
};

/// The abilities of a build.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.formats/1")]
struct FormatsReport {
    version: &'static str,
    simd: &'static str,
    formats: &'static [FormatRow],
    codecs: Vec<PartRow>,
    filters: Vec<PartRow>,
    checksums: &'static [ChecksumRow],
}

/// A kind of checksum, and where it is.
#[derive(Debug, Serialize)]
struct ChecksumRow {
    name: &'static str,
    place: &'static str,
}

const CHECKSUMS: &[ChecksumRow] = &[
    ChecksumRow { name: "xxh3", place: "frames and arrays: body, chunks; files of bcolz" },
    ChecksumRow { name: "adler32", place: "Bloscpack files, unless chosen" },
    ChecksumRow { name: "crc32", place: "Bloscpack files; members of .b2z, read" },
    ChecksumRow { name: "md5, sha1, sha224, sha256, sha384, sha512", place: "Bloscpack files" },
];

#[derive(Debug, Serialize)]
struct FormatRow {
    name: &'static str,
    read: bool,
    write: bool,
    note: &'static str,
}

/// A codec or a filter.
#[derive(Debug, Serialize)]
struct PartRow {
    id: u8,
    name: String,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl FormatRow {
    /// A format that is read and written.
    const fn both(name: &'static str, note: &'static str) -> Self {
        Self { name, read: true, write: true, note }
    }

    /// A format that is only read.
    const fn read(name: &'static str, note: &'static str) -> Self {
        Self { name, read: true, write: false, note }
    }
}

const FORMATS: &[FormatRow] = &[
    FormatRow::both("b2frame", "contiguous Blosc2 frame, format 2 and 3 (.b2frame)"),
    FormatRow::both("sframe", "sparse Blosc2 frame (directory, .sframe)"),
    FormatRow::read("legacy-frame", "frame of the 2.0.0 betas; `b2 convert` makes one of today"),
    FormatRow::both("b2nd", "n-dimensional array in a contiguous frame (.b2nd)"),
    FormatRow::both("chunk", "bare chunk of Blosc 1 or Blosc2, as Zarr stores them (.chunk)"),
    FormatRow::both("blp", "Bloscpack file, format 1 to 3 (.blp)"),
    FormatRow::both("b2z", "store of Blosc2 in one file (.b2z); `b2 pack` makes it of a directory"),
    FormatRow::both("b2d", "store of Blosc2 in a directory (.b2d); `b2 unpack` makes it of a file"),
    FormatRow::read("b2e", "store of Blosc2 in a frame (.b2e)"),
    FormatRow::both("carray", "array of bcolz (directory)"),
    FormatRow::both("ctable", "table of bcolz (directory)"),
    FormatRow::both("npy", "array of NumPy, format 1 to 3 (.npy)"),
    FormatRow::both("csv", "comma-separated values (.csv)"),
    FormatRow {
        name: "parquet",
        read: cfg!(feature = "parquet"),
        write: cfg!(feature = "parquet"),
        note: match cfg!(feature = "parquet") {
            true => "table of Parquet (.parquet)",
            false => "table of Parquet, in builds with the feature `parquet` (.parquet)",
        },
    },
    FormatRow::both("raw", "bytes without any format"),
];

/// Kinds of inputs besides files.
const ADDRESSES: &str = "Addresses (https://, s3://, gs://, az://) are read by the crate b2-full.";

/// Prints the tables.
pub(crate) fn run(console: &Console) -> Result<()> {
    let report = report();
    if console.json() { console.document(&report) } else { console.print(&text(&report)) }
}

/// Codecs, filters and vector instructions in one line each, for `-V -v`.
pub(crate) fn summary() -> String {
    let report = report();
    let names = |rows: &[PartRow]| {
        let names: Vec<_> =
            rows.iter().filter(|row| row.available).map(|row| row.name.as_str()).collect();
        names.join(" ")
    };
    format!(
        "codecs   {}\nfilters  {}\nsimd     {}\n",
        names(&report.codecs),
        names(&report.filters),
        report.simd
    )
}

fn report() -> FormatsReport {
    FormatsReport {
        version: env!("CARGO_PKG_VERSION"),
        simd: Simd::detect().name(),
        formats: FORMATS,
        codecs: codecs(),
        filters: filters(),
        checksums: CHECKSUMS,
    }
}

fn codecs() -> Vec<PartRow> {
    let registry = Registries::default().codecs;
    let ids =
        (0..=u8::MAX).map(CodecId).filter(|id| id.name().is_some() || registry.get(*id).is_some());
    let row = |id: CodecId| {
        let here = registry.get(id);
        let missing = || {
            registry.describe(id).map(|known| format!("{}; would need {}", known.home, known.needs))
        };
        PartRow {
            id: id.0,
            name: id.to_string(),
            available: here.is_some(),
            note: here.map_or_else(missing, |codec| Some(codec.version().to_owned())),
        }
    };
    ids.map(row).collect()
}

fn filters() -> Vec<PartRow> {
    let registry = Registries::default().filters;
    let ids =
        (1..=u8::MAX).map(FilterId).filter(|id| id.name().is_some() || registry.get(*id).is_some());
    let row = |id: FilterId| {
        let here = registry.describe(id);
        let lossy = here.filter(|filter| filter.is_lossy).map(|_| "loses data".to_owned());
        PartRow { id: id.0, name: id.to_string(), available: here.is_some(), note: lossy }
    };
    ids.map(row).collect()
}

fn text(report: &FormatsReport) -> String {
    let mut formats = Table::new(&[Align::Left; 4]);
    formats.row(["Format", "Read", "Write", ""]);
    for format in report.formats {
        formats.row([format.name, yes(format.read), yes(format.write), format.note]);
    }
    let (codecs, filters) = (parts("Codec", &report.codecs), parts("Filter", &report.filters));
    let mut checksums = Table::new(&[Align::Left; 2]);
    checksums.row(["Checksum", ""]);
    for row in report.checksums {
        checksums.row([row.name, row.place]);
    }
    let simd = report.simd;
    format!(
        "{formats}\n{ADDRESSES}\n\n{codecs}\n{filters}\n{checksums}\n\
        Vector instructions in use: {simd}\n",
    )
}

fn parts(title: &str, rows: &[PartRow]) -> Table {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row([title, "Id", "Here", ""]);
    for row in rows {
        let note = row.note.clone().unwrap_or_default();
        table.row([row.name.clone(), row.id.to_string(), yes(row.available).to_owned(), note]);
    }
    table
}

fn yes(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
