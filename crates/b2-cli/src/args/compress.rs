//! Options of `compress`.

use std::path::PathBuf;

use b2_program::level::LevelArgs;
use b2frame::Checksums;
use blosc_chunk::{CodecId, Level, Pipeline, Target};
use blosc_dtype::Dtype;
use bloscpack::Checksum;
use clap::{Args, ValueEnum};

use super::{InputArgs, LockArgs, OutputArgs};
use crate::{
    error::{WideInteger, chain},
    formats::msgpack_json,
    metadata,
    render::ByteSize,
};

/// The level of the options, whose range clap has checked.
pub(crate) fn level_of(args: LevelArgs) -> Level {
    Level::try_from(args.level).unwrap_or_default()
}

/// Arguments of `b2 compress`.
#[derive(Args, Debug)]
pub(crate) struct CompressArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) tuning: TuningArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// How data is compressed.
#[derive(Args, Debug)]
pub(crate) struct TuningArgs {
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    /// Codec by name or number, and its parameter, as in zfp_acc:-3 (needs --lossy) [default: zstd,
    /// lz4 with --fast]
    #[arg(short = 'C', long, value_name = "NAME[:META]", value_parser = parse_codec, help_heading = "Compression")]
    pub(crate) codec: Option<CodecChoice>,
    /// Filters in their order: shuffle, bitshuffle, delta, trunc:N (keeps N bits of the mantissa,
    /// needs --lossy), none [default: shuffle; none with zfp and ndlz]
    #[arg(long, value_name = "SPEC", value_parser = parse_filter, help_heading = "Compression")]
    pub(crate) filter: Option<Pipeline>,
    /// Bytes per item; auto takes it from a .npy header, else from a name like .f32, else from the
    /// data
    #[arg(short = 't', long, value_name = "N", default_value = "auto", value_parser = parse_typesize, help_heading = "Compression")]
    pub(crate) typesize: Typesize,
    /// Bytes of data per chunk [default: automatic]
    #[arg(short = 'z', long, value_name = "SIZE", help_heading = "Compression")]
    pub(crate) chunk_size: Option<ByteSize>,
    /// Bytes of data per block [default: automatic]
    #[arg(long, value_name = "SIZE", help_heading = "Compression")]
    pub(crate) block_size: Option<ByteSize>,
    /// When the bytes of an item go into streams of their own
    #[arg(long, value_name = "MODE", default_value = "forward", help_heading = "Compression")]
    pub(crate) split: Split,
    /// Compress runs of equal values like other data
    #[arg(long, help_heading = "Compression")]
    pub(crate) no_special: bool,
    /// Let the streams of a chunk share a dictionary made from its data (zstd; lz4 and lz4hc for
    /// blosc2-3.0)
    #[arg(long, help_heading = "Compression")]
    pub(crate) dict: bool,
    /// The oldest reader to write for: blosc-1.3, blosc-1.11, blosc-1.14 (bare chunks),
    /// blosc2-2.0, blosc2-3.0 [default: blosc2-2.0, and filters that are named]
    #[arg(long, value_name = "READER", value_parser = parse_target, help_heading = "Compression")]
    pub(crate) target: Option<Target>,
    /// Allow codecs and filters that lose data; the loss is reported
    #[arg(long, help_heading = "Compression")]
    pub(crate) lossy: bool,
    /// Type of the items of raw data, as NumPy writes it: f4, <i2, |S5
    #[arg(long, value_name = "TYPE", value_parser = parse_dtype, help_heading = "Arrays")]
    pub(crate) dtype: Option<Dtype>,
    /// Raw data is an array of this shape, in C order; one length may be -1 [default: one
    /// dimension]
    #[arg(long, value_name = "N,N,...", value_parser = parse_data_shape, allow_hyphen_values = true, requires = "dtype", help_heading = "Arrays")]
    pub(crate) shape: Option<DataShape>,
    /// Items per dimension of a chunk of an array [default: automatic]
    #[arg(long, value_name = "N,N,...", value_parser = parse_shape, help_heading = "Arrays")]
    pub(crate) chunks: Option<Shape>,
    /// Items per dimension of a block of an array [default: automatic]
    #[arg(long, value_name = "N,N,...", value_parser = parse_shape, help_heading = "Arrays")]
    pub(crate) blocks: Option<Shape>,
    /// Format of the output [default: by the name given to -o, else b2nd for arrays, b2frame for
    /// the rest]
    #[arg(long, value_name = "FMT", help_heading = "Output")]
    pub(crate) format: Option<CompressedFormat>,
    /// Metalayer of the frame: VALUE is JSON, or else text
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_layer, help_heading = "Metadata")]
    pub(crate) meta: Vec<Layer>,
    /// Metalayer of variable size
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_layer, help_heading = "Metadata")]
    pub(crate) vlmeta: Vec<Layer>,
    /// Metalayers from a JSON file with the keys metalayers and vlmetalayers, as `b2 info --json`
    /// prints them
    #[arg(long, value_name = "FILE", help_heading = "Metadata")]
    pub(crate) meta_file: Option<PathBuf>,
    /// Checksums to write. Of a frame or an array: body (one of the whole), chunks (also one of
    /// each chunk, which tells what is damaged), none [default: body]. Of a Bloscpack file: none,
    /// adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512 [default: adler32]
    #[arg(long, value_name = "KIND", value_parser = parse_checksum, help_heading = "Output")]
    pub(crate) checksum: Option<ChecksumChoice>,
    /// Read back and compare before success is reported (always done with --rm)
    #[arg(long, help_heading = "Output")]
    pub(crate) verify: bool,
}

impl TuningArgs {
    /// The readers to write for.
    pub(crate) fn target(&self) -> Target {
        self.target.unwrap_or(Target::Blosc2_0)
    }

    /// The filters; by default none for codecs that read items (zfp) or two-dimensional bytes
    /// (ndlz).
    pub(crate) fn pipeline(&self) -> Pipeline {
        let takes_items = self.codec.is_some_and(|choice| {
            matches!(
                choice.id,
                CodecId::NDLZ | CodecId::ZFP_ACC | CodecId::ZFP_PREC | CodecId::ZFP_RATE
            )
        });
        let default = if takes_items { Pipeline::default() } else { Pipeline::SHUFFLE };
        self.filter.unwrap_or(default)
    }
}

/// Lengths of the dimensions of an array (items).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

impl Shape {
    /// The lengths of a chunk or block. A length over `u32::MAX` saturates, which is too long as
    /// well.
    pub(crate) fn lens(&self) -> Vec<u32> {
        self.0.iter().map(|len| u32::try_from(*len).unwrap_or(u32::MAX)).collect()
    }
}

pub(crate) use blosc_data::content::metadata::Layer;

/// A codec and its meta byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodecChoice {
    pub(crate) id: CodecId,
    pub(crate) meta: u8,
}

/// The size of an item: given, or to be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typesize {
    Auto,
    Bytes(u8),
}

/// Split modes of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Split {
    /// Every block.
    Always,
    /// No block.
    Never,
    /// As C-Blosc2 decides.
    Auto,
    /// As Blosc 1 decided.
    Forward,
}

/// Formats that `compress` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressedFormat {
    /// A contiguous Blosc2 frame.
    B2frame,
    /// An n-dimensional array in a contiguous frame, from `.npy` or with --shape and --dtype.
    B2nd,
    /// One chunk and nothing else, as Zarr stores them.
    Chunk,
    /// A Bloscpack file; an array in it from `.npy` or with --shape and --dtype.
    Blp,
}

/// Faults of the value of an option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    /// A number in metadata.
    #[error(transparent)]
    WideInteger(#[from] WideInteger),
    /// No codec of this name.
    #[error("no codec has the name {name:?} (see `b2 formats`)")]
    Codec { name: String },
    /// The parameter of the codec is not a byte (0 to 255).
    #[error("{meta:?} is not a number from 0 to 255")]
    Meta { meta: String },
    /// The exponent of an accuracy is no signed byte.
    #[error("{meta:?} is not a number from -128 to 127, the power of ten of the largest error")]
    Accuracy { meta: String },
    /// The codec has no parameter.
    #[error("{name} has no parameter; the level is -0 to -9 or -l N")]
    NoMeta { name: String },
    /// The library does not understand the filters.
    #[error("{}", chain(.0))]
    Filter(blosc_chunk::Error),
    /// No filter of this name.
    #[error("no filter has the name {name:?} (see `b2 formats`)")]
    FilterName { name: String },
    /// Not a list of lengths.
    #[error("{text:?} is not a shape like 1460,241,480")]
    Shape { text: String },
    /// More than one length is -1.
    #[error("{text:?} is not a shape like 1460,-1,480, in which one length may be -1")]
    DataShape { text: String },
    /// Not the type of an item.
    #[error("{}", chain(.0))]
    Dtype(blosc_dtype::Error),
    /// A metalayer without a name.
    #[error("{text:?} is not of the form NAME=VALUE")]
    Layer { text: String },
    /// No reader of this name.
    #[error("no reader has the name {name:?} ({})", target_names().join(", "))]
    Target { name: String },
    /// Not an item size.
    #[error("{text:?} is neither `auto` nor a number of bytes from 1 to 255")]
    Typesize { text: String },
}

pub(crate) fn parse_codec(text: &str) -> Result<CodecChoice, ValueError> {
    let (name, meta) = match text.split_once(':') {
        Some((name, meta)) => (name, Some(meta)),
        None => (text, None),
    };
    let by_number = || name.parse().ok().map(CodecId);
    let id = CodecId::from_name(&name.replace('-', "_"))
        .or_else(by_number)
        .ok_or_else(|| ValueError::Codec { name: name.to_owned() })?;
    let Some(meta) = meta else { return Ok(CodecChoice { id, meta: 0 }) };
    let meta = match id {
        CodecId::ZFP_ACC => {
            let exponent = meta.parse::<i16>().ok().filter(|power| (-128..=255).contains(power));
            let exponent = exponent.ok_or(ValueError::Accuracy { meta: meta.to_owned() })?;
            exponent.to_le_bytes()[0]
        }
        id if id < CodecId::NDLZ => return Err(ValueError::NoMeta { name: name.to_owned() }),
        _ => meta.parse().map_err(|_| ValueError::Meta { meta: meta.to_owned() })?,
    };
    Ok(CodecChoice { id, meta })
}

pub(crate) fn parse_checksum(text: &str) -> Result<ChecksumChoice, String> {
    match text {
        "none" => Ok(ChecksumChoice::None),
        "body" => Ok(ChecksumChoice::Seal(Checksums::Body)),
        "chunks" => Ok(ChecksumChoice::Seal(Checksums::Chunks)),
        _ => text.parse().map(ChecksumChoice::Digest).map_err(|_| {
            format!(
                "{text} is none of body and chunks (frames), adler32, crc32, md5, sha1, sha224, \
                 sha256, sha384 and sha512 (Bloscpack), and none"
            )
        }),
    }
}

/// The checksums to write; each format has its own kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChecksumChoice {
    None,
    /// The sums of a frame.
    Seal(Checksums),
    /// The digests of the chunks of a Bloscpack file.
    Digest(Checksum),
}

impl ChecksumChoice {
    /// The choice for a frame; `None` if frames have no such checksum.
    pub(crate) const fn seal(self) -> Option<Checksums> {
        match self {
            Self::None => Some(Checksums::None),
            Self::Seal(checksums) => Some(checksums),
            Self::Digest(_) => None,
        }
    }

    /// The choice for a Bloscpack file; `None` if it has no such checksum.
    pub(crate) const fn digest(self) -> Option<Checksum> {
        match self {
            Self::None => Some(Checksum::None),
            Self::Digest(checksum) => Some(checksum),
            Self::Seal(_) => None,
        }
    }
}

pub(crate) fn parse_filter(text: &str) -> Result<Pipeline, ValueError> {
    Pipeline::parse(text).map_err(|error| match unknown_filter(text) {
        Some(name) => ValueError::FilterName { name: name.to_owned() },
        None => ValueError::Filter(error.into()),
    })
}

/// The first name in the list that is not a filter.
fn unknown_filter(text: &str) -> Option<&str> {
    let names = text.split(',').map(|part| part.split(':').next().unwrap_or_default().trim());
    let is_known =
        |name: &str| Pipeline::parse(name).is_ok() || Pipeline::parse(&format!("{name}:1")).is_ok();
    names.into_iter().find(|name| !is_known(name))
}

/// Parses a shape in which one length may be -1: the size of the data determines it.
pub(crate) fn parse_data_shape(text: &str) -> Result<DataShape, ValueError> {
    let wrong = || ValueError::DataShape { text: text.to_owned() };
    let is_open = |part: &str| part.trim() == "-1";
    let nopen = text.split(',').filter(|part| is_open(part)).count();
    let closed = text.split(',').map(|part| if is_open(part) { "1" } else { part });
    let closed = closed.collect::<Vec<_>>().join(",");
    let Shape(lens) = parse_shape(&closed)?;
    match nopen {
        0 => Ok(DataShape { lens, open: None }),
        1 => Ok(DataShape { lens, open: text.split(',').position(is_open) }),
        _ => Err(wrong()),
    }
}

pub(crate) use blosc_data::convert::DataShape;

/// Parses `3,4`; an empty text is the shape of a scalar.
pub(crate) fn parse_shape(text: &str) -> Result<Shape, ValueError> {
    let lens = text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()).map(str::parse);
    lens.collect::<Result<_, _>>()
        .map(Shape)
        .map_err(|_| ValueError::Shape { text: text.to_owned() })
}

pub(crate) fn parse_dtype(text: &str) -> Result<Dtype, ValueError> {
    let dtype = Dtype::parse(full_name(text)).map_err(ValueError::Dtype)?;
    // `f4` and `float32` are kept as `<f4`.
    Ok(dtype.scalar().cloned().map_or(dtype, Dtype::from))
}

/// The NumPy type for a name of C or of Python, with the sizes of Linux.
fn full_name(text: &str) -> &str {
    match text {
        "double" | "float" => "float64",
        "single" => "float32",
        "half" => "float16",
        "byte" => "int8",
        "ubyte" => "uint8",
        "short" => "int16",
        "ushort" => "uint16",
        "intc" => "int32",
        "uintc" => "uint32",
        "int" | "long" | "longlong" => "int64",
        "uint" | "ulong" | "ulonglong" => "uint64",
        "csingle" => "complex64",
        "complex" | "cdouble" => "complex128",
        name => name,
    }
}

fn parse_layer(text: &str) -> Result<Layer, ValueError> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| ValueError::Layer { text: text.to_owned() })?;
    let value = metadata::json_or_text(value)?;
    Ok(Layer { name: name.to_owned(), content: msgpack_json::from_json(&value) })
}

pub(crate) fn parse_target(text: &str) -> Result<Target, ValueError> {
    let target = TARGETS.into_iter().find(|target| target.to_string() == text);
    target.ok_or_else(|| ValueError::Target { name: text.to_owned() })
}

pub(crate) fn target_names() -> Vec<String> {
    TARGETS.iter().map(ToString::to_string).collect()
}

const TARGETS: [Target; 5] =
    [Target::Blosc1_3, Target::Blosc1_11, Target::Blosc1_14, Target::Blosc2_0, Target::Blosc3_0];

pub(crate) fn parse_typesize(text: &str) -> Result<Typesize, ValueError> {
    match text.parse() {
        Ok(0) | Err(_) if text != "auto" => Err(ValueError::Typesize { text: text.to_owned() }),
        Ok(bytes) => Ok(Typesize::Bytes(bytes)),
        Err(_) => Ok(Typesize::Auto),
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  b2 c air.f32                      writes air.f32.b2frame, items of 4 bytes
  b2 c -9 -t 8 -o out.b2frame data  best level, items of 8 bytes
  b2 c --fast *.f64                 lz4 for every file
  zcat log.gz | b2 c -t 1 > log.b2frame
  b2 c --filter delta,shuffle -C zstd -3 ticks.i64
  b2 c field.npy                    writes the array field.npy.b2nd
  b2 c --shape 1460,241,480 --dtype f4 air.f32
  b2 c --format blp field.npy       as pack_ndarray of Bloscpack: field.npy.blp
  b2 c --format chunk -C lz4 --target blosc-1.11 part.f64
  b2 c --rm --output-dir packed *.dat";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_length_of_a_shape_is_left_to_the_data() {
        let shape = |text| parse_data_shape(text).map(|shape| shape.of_items(24));
        assert_eq!(shape("2,-1,3"), Ok(vec![2, 4, 3]));
        assert_eq!(shape("5"), Ok(vec![5]));
        assert_eq!(shape(""), Ok(vec![]));
        assert_eq!(shape("0,-1"), Ok(vec![0, 0]));
        assert_eq!(shape("-1,-1"), Err(ValueError::DataShape { text: "-1,-1".into() }));
        assert_eq!(shape("-2,3"), Err(ValueError::Shape { text: "-2,3".into() }));
    }

    #[test]
    fn types_have_the_names_of_c_as_well() {
        for (name, text) in
            [("double", "<f8"), ("int", "<i8"), ("half", "<f2"), ("complex", "<c16")]
        {
            assert_eq!(parse_dtype(name).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_unknown_filter_is_named() {
        let wrong = parse_filter("shuffle,nope:3").unwrap_err();
        assert_eq!(wrong.to_string(), "no filter has the name \"nope\" (see `b2 formats`)");
        assert!(parse_filter("trunc:20,shuffle").is_ok() && parse_filter("none").is_ok());
    }

    #[test]
    fn codecs_go_by_name_or_number() {
        assert_eq!(parse_codec("zstd"), Ok(CodecChoice { id: CodecId::ZSTD, meta: 0 }));
        assert_eq!(parse_codec("zfp_rate:7"), Ok(CodecChoice { id: CodecId::ZFP_RATE, meta: 7 }));
        assert_eq!(parse_codec("zfp-acc:-3"), Ok(CodecChoice { id: CodecId::ZFP_ACC, meta: 253 }));
        assert_eq!(parse_codec("4"), Ok(CodecChoice { id: CodecId::ZLIB, meta: 0 }));
        assert_eq!(parse_codec("gzip"), Err(ValueError::Codec { name: "gzip".into() }));
        assert_eq!(parse_codec("ndlz:x"), Err(ValueError::Meta { meta: "x".into() }));
        assert_eq!(parse_codec("34:256"), Err(ValueError::Meta { meta: "256".into() }));
        assert_eq!(parse_codec("33:256"), Err(ValueError::Accuracy { meta: "256".into() }));
        for name in ["zstd", "lz4hc", "4"] {
            let refused = Err(ValueError::NoMeta { name: name.into() });
            assert_eq!(parse_codec(&format!("{name}:3")), refused);
        }
    }

    #[test]
    fn shapes_are_lists_of_lengths() {
        assert_eq!(parse_shape("3, 4"), Ok(Shape(vec![3, 4])));
        assert_eq!(parse_shape("7"), Ok(Shape(vec![7])));
        assert_eq!(parse_shape(""), Ok(Shape(vec![])));
        for text in ["3,", "3x4", "-1"] {
            assert_eq!(parse_shape(text), Err(ValueError::Shape { text: text.into() }));
        }
    }

    #[test]
    fn metalayers_are_json_or_text() {
        let layer = |text| parse_layer(text).map(|layer| layer.content);
        assert_eq!(layer("n=1"), Ok(vec![1]));
        assert_eq!(layer("n=km"), Ok(b"\xa2km".to_vec()));
        assert_eq!(layer("n="), Ok(b"\xa0".to_vec()));
        assert_eq!(layer("n=[true,null]"), Ok(b"\x92\xc3\xc0".to_vec()));
        for text in ["", "n", "=1"] {
            assert_eq!(layer(text), Err(ValueError::Layer { text: text.into() }));
        }
    }

    #[test]
    fn targets_are_those_of_the_library() {
        assert_eq!(parse_target("blosc-1.3"), Ok(Target::Blosc1_3));
        assert_eq!(parse_target("blosc2-3.0"), Ok(Target::Blosc3_0));
        assert_eq!(parse_target("blosc-2"), Err(ValueError::Target { name: "blosc-2".into() }));
    }

    #[test]
    fn typesizes_are_auto_or_fit_a_byte() {
        assert_eq!(parse_typesize("auto"), Ok(Typesize::Auto));
        assert_eq!(parse_typesize("1"), Ok(Typesize::Bytes(1)));
        assert_eq!(parse_typesize("255"), Ok(Typesize::Bytes(255)));
        for text in ["0", "256", "", "4.0", "-1"] {
            assert_eq!(parse_typesize(text), Err(ValueError::Typesize { text: text.into() }));
        }
    }
}
