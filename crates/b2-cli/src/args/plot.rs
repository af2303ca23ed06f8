//! Options of `plot`.

use core::str::FromStr;
use std::path::PathBuf;

use b2_plot::AxisRange;
use blosc_dtype::Dtype;
use clap::{Args, ValueEnum};

use super::{
    compress::parse_dtype,
    shared::{CheckArgs, InputArgs, LimitArgs, OutputArgs, WhereArgs},
    slice::Slice,
};

/// Options of `plot`.
#[derive(Args, Debug, Default)]
pub(crate) struct PlotArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Type of the items, as NumPy writes it, where the file does not say or is wrong
    #[arg(long, value_name = "TYPE", value_parser = parse_dtype, help_heading = "Input")]
    pub(crate) dtype: Option<Dtype>,
    /// Only this part, as NumPy writes it: 0,:,5 or 10:20,::-1
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) slice: Option<Slice>,
    /// These columns of a table, or fields of items: a line for each
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) columns: Vec<String>,
    /// The column that is the x axis [default: a first column of times, else the rows]
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub(crate) x: Option<String>,
    #[command(flatten)]
    pub(crate) rows: WhereArgs,
    /// Kind of the picture [default: a line of one dimension, a heat map of two]
    #[arg(long, value_name = "KIND", help_heading = "Output")]
    pub(crate) kind: Option<PlotKind>,
    /// Logarithms of the values, above zero: powers of ten are as far apart from each other
    #[arg(long, help_heading = "Output")]
    pub(crate) log: bool,
    /// The values of the first and the last colour of a heat map [default: the least and largest]
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) range: Option<AxisRange>,
    /// The first row of a heat map below the others, as latitudes from the south are drawn
    #[arg(long, help_heading = "Output")]
    pub(crate) upward: bool,
    /// Steps of a histogram [default: 50]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1000),
        help_heading = "Output"
    )]
    pub(crate) bins: Option<u16>,
    /// Output file, .png or .svg; `-` is standard output [default: characters, in the terminal]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Kind of the output file [default: by its name]
    #[arg(long, value_name = "FMT", help_heading = "Output")]
    pub(crate) format: Option<PictureFormat>,
    /// Pixels of a picture, or characters in the terminal [default: 800x500; the terminal]
    #[arg(long, value_name = "WxH", help_heading = "Output")]
    pub(crate) size: Option<PictureSize>,
    /// The title [default: name and slice]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(crate) title: Option<String>,
    /// Overwrite what is there, write binary data to a terminal
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Do not wait for the disk before renaming the output into place
    #[arg(long, help_heading = "Output")]
    pub(crate) no_sync: bool,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl PlotArgs {
    /// Where the picture goes, for the rules of all commands.
    pub(crate) fn outputs(&self) -> OutputArgs {
        OutputArgs {
            output: self.output.clone(),
            force: self.force,
            no_sync: self.no_sync,
            ..OutputArgs::default()
        }
    }
}

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotKind {
    /// Values over one dimension.
    Line,
    /// Colours over two dimensions.
    Heat,
    /// How often values are in each of some steps.
    #[value(alias = "hist")]
    Histogram,
}

/// Formats of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureFormat {
    /// Pixels.
    Png,
    /// Shapes, which stay sharp at any size.
    Svg,
}

/// Width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureSize {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Error: the text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a size like 800x500")]
pub(crate) struct PictureSizeError {
    text: String,
}

impl FromStr for PictureSize {
    type Err = PictureSizeError;

    fn from_str(text: &str) -> Result<Self, PictureSizeError> {
        let side = |digits: &str| digits.parse().ok().filter(|side| *side > 0);
        let sides = text.split_once('x').and_then(|(w, h)| Some((side(w)?, side(h)?)));
        let (width, height) = sides.ok_or_else(|| PictureSizeError { text: text.to_owned() })?;
        Ok(Self { width, height })
    }
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 plot wave.b2nd                                    a line, here in the terminal
  b2 plot cube.b2nd --slice 0,:,: -o first.png         a heat map of two dimensions
  b2 plot cube.b2nd --slice :,120,240 -o point.svg
  b2 plot cube.b2nd --kind histogram --bins 100
  b2 plot cube.b2nd --slice 0,::40,: --kind line       a line for each row
  b2 plot prices.bcolz --columns time,open,close -o prices.png
  b2 plot trades.b2z --x size --columns price --where 'size > 9' --log
  b2 plot run.b2z::/pressure --size 1600x900 -o p.png
  b2 plot --dtype f4 samples.b2frame";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_pictures_are_width_x_height() {
        assert_eq!("80x24".parse(), Ok(PictureSize { width: 80, height: 24 }));
        for text in ["", "80", "0x5", "-1x5", "1x2x3", "axb"] {
            assert!(text.parse::<PictureSize>().is_err(), "{text}");
        }
    }
}
