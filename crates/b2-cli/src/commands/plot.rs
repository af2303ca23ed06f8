//! `b2 plot`: a picture of numbers, in a file or in the terminal.

use std::path::Path;

use b2_plot::{Content, Histogram, Line, Room};
use serde::Serialize;

use crate::{
    args::{
        PlotArgs,
        plot::{PictureFormat, PictureSize, PlotKind},
        slice,
    },
    context::Context,
    error::{Result, message},
    exit::Code,
    inputs::{origin::Origin, walk},
    output::{
        copy,
        targets::{Naming, Target, Targets},
    },
    plot::{Drawn, Request},
    render::{escape::path_text, size::count},
};

/// The picture that was drawn.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.plot/1")]
struct PlotReport<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    kind: &'static str,
    dtype: String,
    /// Items of the slice per dimension.
    shape: Vec<u64>,
    nan: u64,
    inf: u64,
    /// The least and the largest finite value that is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    /// The lines, cells or bars of a picture, if there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LineReport<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Histogram>,
}

/// The least and the largest value of each part of a line; null where there is none.
#[derive(Debug, Serialize)]
struct LineReport<'a> {
    name: &'a str,
    min: Vec<f64>,
    max: Vec<f64>,
}

/// Pixels of a picture.
const DEFAULT_SIZE: PictureSize = PictureSize { width: 800, height: 500 };
const MAX_SIDE: u32 = 4096;

/// Characters of a picture where there is no terminal.
const TEXT_SIZE: (usize, usize) = (80, 24);
const MAX_TEXT_SIDE: usize = 1000;

/// Draws each input.
pub(crate) fn run(args: &PlotArgs, cx: &Context) -> Code {
    if let Some(error) = slice::misplaced(&args.inputs.files) {
        return cx.refuse(&error);
    }
    let inputs = cx.find(&args.inputs, &walk::ours_or_npy);
    let Some(output) = &args.output else {
        return cx.run_on_inputs(inputs, |origin| show(args, cx, origin));
    };
    let format = match format(args, output) {
        Ok(format) => format,
        Err(error) => return cx.refuse(&error),
    };
    let suffix = match format {
        PictureFormat::Png => ".png",
        PictureFormat::Svg => ".svg",
    };
    cx.run_into_targets(inputs, &args.outputs(), |origin, targets: &mut Targets<'_>| {
        let target = targets.next(origin, Naming::Replace(suffix))?;
        save(args, cx, origin, format, &target)
    })
}

/// The format of the file, and whether it can have the wanted size.
fn format(args: &PlotArgs, output: &Path) -> Result<PictureFormat> {
    let size = args.size.unwrap_or(DEFAULT_SIZE);
    if !(160..=MAX_SIDE).contains(&size.width) || !(120..=MAX_SIDE).contains(&size.height) {
        return Err(message::PLOT_SIZE.error());
    }
    let suffix = output.extension().map(|suffix| suffix.to_ascii_lowercase());
    let named = match suffix.as_deref().and_then(|suffix| suffix.to_str()) {
        Some("png") => Some(PictureFormat::Png),
        Some("svg") => Some(PictureFormat::Svg),
        _ => None,
    };
    match (args.format, named) {
        (Some(given), Some(named)) if given != named => {
            Err(message::PLOT_TWO_FORMATS.about(path_text(output)))
        }
        (Some(given), _) => Ok(given),
        (None, Some(named)) => Ok(named),
        (None, None) => Err(message::PLOT_FORMAT.about(path_text(output))),
    }
}

/// Writes a picture to a file.
fn save(
    args: &PlotArgs,
    cx: &Context,
    origin: &Origin,
    format: PictureFormat,
    target: &Target,
) -> Result<()> {
    let PictureSize { width, height } = args.size.unwrap_or(DEFAULT_SIZE);
    let drawn = Drawn::new(&request(args), cx, origin, Room::of_pixels(width, height))?;
    let file = match format {
        PictureFormat::Png => drawn.scene.png(width, height),
        PictureFormat::Svg => drawn.scene.svg(width, height).into_bytes(),
    };
    copy::write(cx, &args.outputs(), target, |sink| sink.write(&file))?;
    let output = match target {
        Target::Stdout => "stdout".to_owned(),
        Target::File(path) | Target::Device(path) => path_text(path),
    };
    if cx.console.json() && !matches!(target, Target::Stdout) {
        return cx.console.document(&report(&drawn, &origin.name(), Some(&output)));
    }
    let lens: Vec<String> = drawn.shape.iter().map(|len| count(*len)).collect();
    let noun = if drawn.shape.iter().all(|len| *len == 1) { "item" } else { "items" };
    let what = format!("{} of {} {noun}", drawn.kind_name(), lens.join(" x "));
    cx.console.note(&format!("{} -> {output}   {what}", drawn.name));
    Ok(())
}

/// Prints a picture of characters.
fn show(args: &PlotArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let (width, height) = match args.size {
        Some(PictureSize { width, height }) => (width as usize, height as usize),
        None => cx.console.terminal_size().map_or(TEXT_SIZE, |(width, height)| {
            (width, height.saturating_sub(2).clamp(8, (width / 3).max(8)))
        }),
    };
    let (width, height) = (width.min(MAX_TEXT_SIDE), height.min(MAX_TEXT_SIDE));
    let has_colors = cx.console.has_colors();
    let room = Room::of_cells(width, height, has_colors);
    let drawn = Drawn::new(&request(args), cx, origin, room)?;
    if cx.console.json() {
        return cx.console.document(&report(&drawn, &origin.name(), None));
    }
    let cells = drawn.scene.cells(width, height, has_colors);
    cx.console.print_styled(&cells.escaped(cx.console.has_true_color()))
}

/// The request for a picture of an input.
fn request(args: &PlotArgs) -> Request {
    Request {
        slice: args.slice.clone(),
        columns: args.columns.clone(),
        x: args.x.clone(),
        condition: args.rows.condition.clone(),
        is_log: args.log,
        kind: args.kind,
        range: args.range.clone(),
        is_upward: args.upward,
        bins: args.bins,
        title: args.title.clone(),
        dtype: args.dtype.clone(),
        limits: args.limits,
    }
}

fn report<'a>(drawn: &'a Drawn, path: &'a str, output: Option<&'a str>) -> PlotReport<'a> {
    let (mut lines, mut cells, mut histogram) = (None, None, None);
    if output.is_none() {
        match &drawn.scene.content {
            Content::Lines { lines: shown, .. } => {
                let report = |(name, line): &'a (String, Line)| {
                    let ends = || line.columns.iter().map(|it| it.extent.ends());
                    LineReport {
                        name,
                        min: ends().map(|it| drawn.value(it.map_or(f64::NAN, |it| it.0))).collect(),
                        max: ends().map(|it| drawn.value(it.map_or(f64::NAN, |it| it.1))).collect(),
                    }
                };
                lines = Some(shown.iter().map(report).collect());
            }
            Content::Map { map, .. } => {
                let row = |row| (0..map.ncols).map(|col| drawn.value(map.mean(row, col))).collect();
                cells = Some((0..map.nrows).map(row).collect());
            }
            Content::Bars(bars) => {
                let mut bars = bars.clone();
                bars.edges.iter_mut().for_each(|edge| *edge = drawn.value(*edge));
                histogram = Some(bars);
            }
        }
    }
    PlotReport {
        path,
        output,
        kind: match drawn.kind {
            PlotKind::Heat => "heat",
            _ => drawn.kind_name(),
        },
        dtype: drawn.dtype.clone(),
        shape: drawn.shape.clone(),
        nan: drawn.tally.nan,
        inf: drawn.tally.inf,
        min: drawn.extent.ends().map(|ends| drawn.value(ends.0)),
        max: drawn.extent.ends().map(|ends| drawn.value(ends.1)),
        lines,
        cells,
        histogram,
    }
}
