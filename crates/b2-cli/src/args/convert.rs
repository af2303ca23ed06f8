//! Options of `convert`.

use b2_program::level::LevelArgs;
use blosc_chunk::{Pipeline, Target};
use blosc_data::{
    convert::Compression,
    formats::csv::{COMMA, parse_delimiter},
};
use blosc_dtype::Dtype;
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use super::{
    CheckArgs, InputArgs, LimitArgs, LockArgs, OutputArgs, WhereArgs,
    compress::{
        ChecksumChoice, CodecChoice, DataShape, Shape, level_of, parse_checksum, parse_codec,
        parse_data_shape, parse_dtype, parse_filter, parse_shape, parse_target,
    },
    slice::Slice,
};
use crate::render::ByteSize;

/// Arguments of `b2 convert`.
#[derive(Args, Debug, Default)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Format of the output [default: by its name]
    #[arg(long, value_name = "FMT", value_parser = formats(), help_heading = "Output")]
    pub(crate) format: Option<ConvertedFormat>,
    /// Format of the input, where neither its content nor its name says: csv
    #[arg(long, value_name = "FMT", help_heading = "Input")]
    pub(crate) from: Option<TextFormat>,
    /// The character between the values of a line of CSV; `tab` for a tab
    #[arg(long, value_name = "C", value_parser = parse_delimiter, default_value = ",", help_heading = "Input")]
    pub(crate) delimiter: u8,
    /// Type of the items, as NumPy writes it, of an input that does not say; raw data are read
    /// with it only
    #[arg(long, value_name = "TYPE", value_parser = parse_dtype, help_heading = "Arrays")]
    pub(crate) dtype: Option<Dtype>,
    /// Items per dimension of an input that does not say, in C order [default: one dimension]
    #[arg(long, value_name = "N,N,...", value_parser = parse_data_shape, allow_hyphen_values = true, help_heading = "Arrays")]
    pub(crate) shape: Option<DataShape>,
    /// Only this part of an array, or of the rows of a table that --where finds, as NumPy writes it
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) slice: Option<Slice>,
    /// Only these columns of a table of bcolz or of a store, in this order
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) rows: WhereArgs,
    #[command(flatten)]
    pub(crate) anew: AnewArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Checksums to write. Of a frame or an array: body (one of the whole), chunks (also one of
    /// each chunk), none [default: that of the input, or body]. Of a Bloscpack file: none, adler32,
    /// crc32, md5, sha1, sha224, sha256, sha384, sha512 [default: that of the input, or adler32].
    /// Carrays and tables have one of each file, or none
    #[arg(long, value_name = "KIND", value_parser = parse_checksum, help_heading = "Output")]
    pub(crate) checksum: Option<ChecksumChoice>,
    /// Read back and compare before success is reported (always done with --rm)
    #[arg(long, conflicts_with = "stdout", help_heading = "Output")]
    pub(crate) verify: bool,
    /// Write nothing where a part of an input would be left out or become something else
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl ConvertArgs {
    /// Whether an option applies to one array or table only.
    pub(crate) fn is_of_one(&self) -> bool {
        let chooses = self.slice.is_some() || self.rows.condition.is_some();
        chooses || !self.columns.is_empty() || self.tells_input()
    }

    /// Whether an option tells what an input does not tell itself.
    pub(crate) fn tells_input(&self) -> bool {
        self.tells_items() || self.from.is_some() || self.delimiter != COMMA
    }

    /// Whether an option tells the type or the shape of the items.
    pub(crate) fn tells_items(&self) -> bool {
        self.dtype.is_some() || self.shape.is_some()
    }
}

/// Formats of text, which are known by their names alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TextFormat {
    Csv,
}

/// How data is compressed anew; without any of these, chunks are moved wherever the output can hold
/// them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct AnewArgs {
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    /// Codec by name or number, and its parameter [default: that of the input]
    #[arg(short = 'C', long, value_name = "NAME[:META]", value_parser = parse_codec, help_heading = "Compression")]
    pub(crate) codec: Option<CodecChoice>,
    /// Filters in their order: shuffle, bitshuffle, delta, none [default: those of the input]
    #[arg(long, value_name = "SPEC", value_parser = parse_filter, help_heading = "Compression")]
    pub(crate) filter: Option<Pipeline>,
    /// Bytes of data per chunk [default: those of the input]
    #[arg(short = 'z', long, value_name = "SIZE", help_heading = "Compression")]
    pub(crate) chunk_size: Option<ByteSize>,
    /// Bytes of data per block [default: automatic]
    #[arg(long, value_name = "SIZE", help_heading = "Compression")]
    pub(crate) block_size: Option<ByteSize>,
    /// The oldest reader to write for: blosc-1.3, blosc-1.11, blosc-1.14 (Bloscpack and bare
    /// chunks), blosc2-2.0, blosc2-3.0
    #[arg(long, value_name = "READER", value_parser = parse_target, help_heading = "Compression")]
    pub(crate) target: Option<Target>,
    /// Items per dimension of a chunk of an array [default: those of the input, or automatic]
    #[arg(long, value_name = "N,N,...", value_parser = parse_shape, help_heading = "Arrays")]
    pub(crate) chunks: Option<Shape>,
    /// Items per dimension of a block of an array [default: those of the input, or automatic]
    #[arg(long, value_name = "N,N,...", value_parser = parse_shape, help_heading = "Arrays")]
    pub(crate) blocks: Option<Shape>,
}

impl AnewArgs {
    /// The options as the library takes them.
    pub(crate) fn compression(&self) -> Compression {
        let nbytes = |size: &Option<ByteSize>| size.as_ref().map(|size| size.0);
        let lens = |shape: &Option<Shape>| shape.as_ref().map(|shape| shape.0.clone());
        Compression::default()
            .codec(self.codec.map(|choice| (choice.id, choice.meta)))
            .level(self.level.given.then(|| level_of(self.level)))
            .is_fast(self.level.fast)
            .filters(self.filter)
            .chunk_nbytes(nbytes(&self.chunk_size))
            .block_nbytes(nbytes(&self.block_size))
            .chunkshape(lens(&self.chunks))
            .blockshape(lens(&self.blocks))
            .target(self.target)
    }

    /// Whether an option changes the compression, so that chunks may have to be compressed again.
    pub(crate) fn is_wanted(&self) -> bool {
        self.compression().is_wanted()
    }
}

pub(crate) use blosc_data::convert::OutputFormat as ConvertedFormat;

/// Formats that `convert` writes.
pub(crate) const FORMATS: [(ConvertedFormat, &str); 13] = [
    (ConvertedFormat::B2frame, "A contiguous Blosc2 frame"),
    (ConvertedFormat::Sframe, "A sparse Blosc2 frame, which is a directory"),
    (ConvertedFormat::B2nd, "An n-dimensional array in a contiguous frame"),
    (ConvertedFormat::Blp, "A Bloscpack file"),
    (ConvertedFormat::Npy, "An array as NumPy keeps it"),
    (ConvertedFormat::Chunk, "One chunk and nothing else, as Zarr stores them"),
    (ConvertedFormat::Raw, "The bytes of the items, arrays in C order"),
    (ConvertedFormat::Carray, "An array of bcolz; of items with fields, a table"),
    (ConvertedFormat::Ctable, "A table of bcolz"),
    (ConvertedFormat::Csv, "Comma-separated values"),
    (ConvertedFormat::B2z, "A store of python-blosc2 in a zip archive: a table, or one value"),
    (ConvertedFormat::B2d, "The same in a directory"),
    (ConvertedFormat::Parquet, PARQUET),
];

const PARQUET: &str = match cfg!(feature = "parquet") {
    true => "A table as Parquet keeps it",
    false => "A table as Parquet keeps it, in builds with the feature `parquet`",
};

/// Parses the name of a format.
fn formats() -> impl TypedValueParser<Value = ConvertedFormat> {
    let names = FORMATS.map(|(format, help)| PossibleValue::new(format.name()).help(help));
    PossibleValuesParser::new(names).try_map(|name| {
        let found = FORMATS.iter().find(|(format, _)| format.name() == name);
        found.map(|(format, _)| *format).ok_or("no such format")
    })
}

pub(crate) const USAGE: &str = "b2 convert [OPTIONS] IN OUT
       b2 convert [OPTIONS] IN... -o OUT|-c|--output-dir DIR
       b2 convert [OPTIONS] --format FMT IN...";

pub(crate) const EXAMPLES: &str = "\
Examples:
  b2 convert data.blp data.b2frame  chunks are moved, not compressed anew
  b2 convert old.b2frame new.b2frame  a frame of the 2.0.0 betas becomes one of today
  b2 convert --format sframe data.b2frame  writes the directory data.sframe
  b2 convert -C zstd -9 data.b2frame small.b2frame
  b2 convert field.b2nd field.npy
  b2 convert --dtype f4 --shape 30,1461 temperature.f32 years.b2nd
  b2 convert rows.csv rows.bcolz    a table with a column for each column
  b2 convert prices.bcolz prices.csv
  b2 convert --where 'price > 10' --columns time,price trades.b2z dear.csv
  b2 convert --format b2frame --output-dir frames *.blp";
