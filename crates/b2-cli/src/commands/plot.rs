//! `b2 plot`: a picture of numbers, in a file or in the terminal. Reads the slice tile by tile, and
//! keeps no more of it than a picture can show.

mod labels;
pub(super) mod screen;

use core::ops::Range;
use std::{path::Path, rc::Rc};

use bcolz_store::DataSet;
use serde::Serialize;

use self::labels::Labels;
use super::{
    content::{
        self,
        grid::Grid,
        values::{Axis, Numbers, axes},
    },
    convert::source::Source,
    frames,
};
use crate::{
    args::{
        PlotArgs,
        plot::{PictureFormat, PictureSize, PlotKind},
        slice,
    },
    context::Context,
    error::{Result, message},
    exit::Code,
    formats::store,
    inputs::{decoded::Guard, object::Object, origin::Origin, walk},
    output::targets::{Naming, Target, Targets},
    plot::{
        axis::AxisRange,
        color,
        draw::{self, Content, Note, Picture},
        raster,
        reduce::{Extent, Histogram, Line, Map, Tally},
        svg, text,
    },
    render::{
        escape::{harmless, path_text},
        progress::Progress,
        size::count,
    },
};

/// What was drawn.
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
    /// What a picture has of lines, cells or bars, if there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LineReport<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<&'a Histogram>,
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

/// Characters where there is no terminal.
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
            Err(message::PLOT_FORMAT.about(path_text(output)))
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
    let room = |len: u32, margin: u32| (len.saturating_sub(margin)).max(16) as usize;
    let drawn = Drawn::new(args, cx, origin, (room(width, 100), room(height, 90)))?;
    let canvas = draw::draw(&drawn.picture, width, height);
    let file = match format {
        PictureFormat::Png => raster::png(&canvas),
        PictureFormat::Svg => svg::svg(&canvas).into_bytes(),
    };
    frames::write(cx, &args.outputs(), target, |sink| sink.write(&file))?;
    let output = match target {
        Target::Stdout => "stdout".to_owned(),
        Target::File(path) | Target::Device(path) => path_text(path),
    };
    if cx.console.json() && !matches!(target, Target::Stdout) {
        return cx.console.document(&drawn.report(&origin.name(), Some(&output)));
    }
    let lens: Vec<String> = drawn.shape.iter().map(|len| count(*len)).collect();
    let what = format!("{} of {} items", drawn.kind_name(), lens.join(" x "));
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
    let plane = text::plane(width, height);
    let has_colors = cx.console.has_colors();
    let is_line = (2 * plane.width, if has_colors { 2 } else { 1 } * plane.height);
    let drawn = Drawn::new(args, cx, origin, is_line)?;
    if cx.console.json() {
        return cx.console.document(&drawn.report(&origin.name(), None));
    }
    let screen = text::draw(&drawn.picture, width, height, has_colors);
    cx.console.print_styled(&screen.styled(cx.console.has_true_color()))
}

/// A picture, and what it is of.
struct Drawn {
    name: String,
    kind: PlotKind,
    dtype: String,
    shape: Vec<u64>,
    tally: Tally,
    extent: Extent,
    picture: Picture,
}

/// The numbers of an input: columns with their names, or one without.
struct Series {
    columns: Vec<(String, Numbers)>,
    labels: Labels,
    /// Bytes that the input takes.
    stored: u64,
    is_table: bool,
    /// What columns are read from: a temporary table goes with it.
    _sources: Vec<Source>,
}

impl Drawn {
    /// Draws an input with at most `room` columns and rows.
    fn new(args: &PlotArgs, cx: &Context, origin: &Origin, room: (usize, usize)) -> Result<Self> {
        let series = Series::open(args, cx, origin)?;
        let Some((_, first)) = series.columns.first() else {
            return Err(message::PLOT_NO_VALUES.error());
        };
        let picks = args.slice.as_ref().map(|slice| slice.in_dims(first.shape().len()));
        let picks = picks.unwrap_or_else(|| default_picks(args.kind, first.shape().len()));
        let axes = axes(&picks, first.shape())?;
        let shape: Vec<u64> =
            axes.iter().filter(|axis| !axis.is_index).map(|axis| axis.len).collect();
        let nitems = axes.iter().fold(1u64, |nitems, axis| nitems.saturating_mul(axis.len));
        if nitems == 0 {
            return Err(message::PLOT_NO_VALUES.error());
        }
        let kept = kept(&axes);
        let kind = kind(args.kind, &kept, &shape)?;
        if kind != PlotKind::Line && series.columns.len() > 1 {
            return Err(message::PLOT_ONE_COLUMN.error());
        }
        let itemsize = first.dtype().itemsize() as u64;
        let npasses = if kind == PlotKind::Histogram { 2 } else { 1 };
        let nbytes = nitems.saturating_mul(itemsize).saturating_mul(series.columns.len() as u64);
        Guard::new(args.limits).admit_bytes(nbytes, series.stored)?;
        let name = origin.name();
        let progress = Progress::new(&cx.console, &name, Some(nbytes.saturating_mul(npasses)));
        let reading = Reading { cx, axes: &axes, progress: &progress };
        let part = part_name(&picks, first.shape().len());
        let title = match &args.title {
            Some(title) => harmless(title),
            None => format!("{}{part}", harmless(&name)),
        };
        let mut drawn = Self {
            name: format!("{name}{part}"),
            kind,
            dtype: first.dtype().to_string(),
            shape,
            tally: Tally::default(),
            extent: Extent::EMPTY,
            picture: Picture {
                title,
                x_label: String::new(),
                y_label: String::new(),
                x: AxisRange::new(0.0, 1.0),
                y: AxisRange::new(0.0, 1.0),
                notes: vec![],
                content: Content::Bars(Histogram::new(0.0, 1.0, 1)),
            },
        };
        match (kind, &kept[..]) {
            (PlotKind::Line, [dim]) => drawn.lines(&reading, &series, *dim, room.0)?,
            (PlotKind::Heat, [down, across]) => {
                drawn.map(&reading, &series, first, [*down, *across], room)?;
            }
            _ => drawn.bars(&reading, &series, first, args.bins)?,
        }
        drawn.notes();
        Ok(drawn)
    }

    fn lines(
        &mut self,
        reading: &Reading<'_>,
        series: &Series,
        dim: usize,
        max_columns: usize,
    ) -> Result<()> {
        let axis = reading.axes[dim];
        let mut lines = vec![];
        for (name, numbers) in &series.columns {
            let mut line = Line::new(axis.len, max_columns);
            reading.pass(numbers, &mut |tile, values| line.add(tile[dim].start, values))?;
            self.extent = self.extent.join(line.extent());
            self.tally.nitems += line.tally.nitems;
            self.tally.nan += line.tally.nan;
            self.tally.inf += line.tally.inf;
            lines.push((harmless(name), line));
        }
        let (low, high) = self.extent.ends().unwrap_or((0.0, 1.0));
        let picture = &mut self.picture;
        picture.y = AxisRange::new(low, high).padded();
        let units = series.columns.iter().map(|(_, numbers)| numbers.time_unit());
        let units: Vec<Option<String>> = units.collect();
        picture.y.time_unit = units
            .first()
            .cloned()
            .flatten()
            .filter(|unit| units.iter().flatten().all(|it| it == unit));
        (picture.x, picture.x_label) = series.axis(dim, &axis, 0.0);
        picture.y_label = series.value_label();
        if lines.len() > 1 {
            let names = lines.iter().zip(color::LINES.iter().cycle());
            let note = |((name, _), color): (&(String, Line), &_)| Note {
                color: Some(*color),
                text: name.clone(),
            };
            picture.notes.extend(names.map(note));
            picture.y_label = series.labels.units.as_deref().map(harmless).unwrap_or_default();
        }
        if let Some((_, line)) =
            lines.first().filter(|(_, line)| line.len > line.columns.len() as u64)
        {
            let each = line.len / line.columns.len().max(1) as u64;
            let text = format!("from least to largest of {} items each", count(each));
            picture.notes.push(Note { color: None, text });
        }
        #[allow(clippy::cast_precision_loss, reason = "positions of pixels")]
        let (start, step) = (axis.start as f64, axis.step as f64);
        picture.content = Content::Lines { lines, start, step };
        Ok(())
    }

    fn map(
        &mut self,
        reading: &Reading<'_>,
        series: &Series,
        numbers: &Numbers,
        dims: [usize; 2],
        room: (usize, usize),
    ) -> Result<()> {
        let [down, across] = dims.map(|dim| reading.axes[dim]);
        let mut map = Map::new([down.len, across.len], room.1, room.0);
        reading.pass(numbers, &mut |tile, values| {
            map.add(&tile[dims[0]], &tile[dims[1]], values);
        })?;
        self.extent = map.extent();
        self.tally = map.tally;
        let (low, high) = self.extent.ends().unwrap_or((0.0, 1.0));
        let mut values = AxisRange::new(low, high);
        values.time_unit = numbers.time_unit();
        let picture = &mut self.picture;
        (picture.x, picture.x_label) = series.axis(dims[1], &across, 0.5);
        (picture.y, picture.y_label) = series.axis(dims[0], &down, 0.5);
        // The first row is above.
        picture.y.is_reversed = !picture.y.is_reversed;
        let ncells = (map.nrows as u64).saturating_mul(map.ncols as u64);
        let nitems = down.len.saturating_mul(across.len);
        if nitems > ncells {
            let text = format!("each cell the mean of {} items", count(nitems / ncells.max(1)));
            picture.notes.push(Note { color: None, text });
        }
        let label = series.value_label();
        picture.content = Content::Map { map, values, label };
        Ok(())
    }

    fn bars(
        &mut self,
        reading: &Reading<'_>,
        series: &Series,
        numbers: &Numbers,
        nbins: u16,
    ) -> Result<()> {
        let (mut extent, mut tally) = (Extent::EMPTY, Tally::default());
        reading.pass(numbers, &mut |_, values| {
            extent.add(values);
            tally.count(values);
        })?;
        (self.extent, self.tally) = (extent, tally);
        let (low, high) = extent.ends().unwrap_or((0.0, 1.0));
        let mut histogram = Histogram::new(low, high, nbins);
        reading.pass(numbers, &mut |_, values| histogram.count(values, 1))?;
        let ends = (histogram.edges.first(), histogram.edges.last());
        let picture = &mut self.picture;
        if let (Some(first), Some(last)) = ends {
            picture.x = AxisRange::new(*first, *last);
            picture.x.time_unit = numbers.time_unit();
        }
        let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
        #[allow(clippy::cast_precision_loss, reason = "heights of bars")]
        let most = most as f64;
        picture.y = AxisRange::new(0.0, most * 1.04);
        picture.x_label = series.value_label();
        picture.y_label = "items".to_owned();
        picture.content = Content::Bars(histogram);
        Ok(())
    }

    /// What is not drawn as a value.
    fn notes(&mut self) {
        let Tally { nan, inf, .. } = self.tally;
        if inf > 0 {
            let text = format!("{} infinite", count(inf));
            self.picture.notes.insert(0, Note { color: Some(color::INK), text });
        }
        if nan > 0 {
            let text = format!("{} NaN", count(nan));
            self.picture.notes.insert(0, Note { color: Some(color::NAN), text });
        }
    }

    fn kind_name(&self) -> &'static str {
        match self.kind {
            PlotKind::Line => "line",
            PlotKind::Heat => "heat map",
            PlotKind::Histogram => "histogram",
        }
    }

    fn report<'a>(&'a self, path: &'a str, output: Option<&'a str>) -> PlotReport<'a> {
        let (mut lines, mut cells, mut histogram) = (None, None, None);
        if output.is_none() {
            match &self.picture.content {
                Content::Lines { lines: drawn, .. } => {
                    let report = |(name, line): &'a (String, Line)| {
                        let ends = || line.columns.iter().map(|it| it.extent.ends());
                        LineReport {
                            name,
                            min: ends().map(|it| it.map_or(f64::NAN, |it| it.0)).collect(),
                            max: ends().map(|it| it.map_or(f64::NAN, |it| it.1)).collect(),
                        }
                    };
                    lines = Some(drawn.iter().map(report).collect());
                }
                Content::Map { map, .. } => {
                    let row = |row| (0..map.ncols).map(|col| map.mean(row, col)).collect();
                    cells = Some((0..map.nrows).map(row).collect());
                }
                Content::Bars(bars) => histogram = Some(bars),
            }
        }
        PlotReport {
            path,
            output,
            kind: match self.kind {
                PlotKind::Heat => "heat",
                _ => self.kind_name(),
            },
            dtype: self.dtype.clone(),
            shape: self.shape.clone(),
            nan: self.tally.nan,
            inf: self.tally.inf,
            min: self.extent.ends().map(|ends| ends.0),
            max: self.extent.ends().map(|ends| ends.1),
            lines,
            cells,
            histogram,
        }
    }
}

/// Takes the ranges of a tile in each axis, and its numbers.
type TileWork<'a> = &'a mut dyn FnMut(&[Range<u64>], &[f64]);

/// How the numbers of a slice are read.
struct Reading<'a> {
    cx: &'a Context,
    axes: &'a [Axis],
    progress: &'a Progress,
}

impl Reading<'_> {
    fn pass(&self, numbers: &Numbers, work: TileWork<'_>) -> Result<()> {
        let itemsize = numbers.dtype().itemsize() as u64;
        numbers.for_each_tile(self.axes, self.cx.memory(), &mut |tile, values| {
            work(tile, values);
            self.progress.add((values.len() as u64).saturating_mul(itemsize));
            Ok(())
        })
    }
}

impl Series {
    fn open(args: &PlotArgs, cx: &Context, origin: &Origin) -> Result<Self> {
        if let Some(table) = store::table(origin, cx.read_params())? {
            let names = table.schema().columns.iter().map(|column| column.name.clone());
            let wanted = chosen(args, names)?;
            let grid = |name: &String| {
                let grid = Rc::new(Grid::from_table(cx, &table, name)?);
                Ok((name.clone(), Numbers::new(grid, None)?))
            };
            let columns = wanted.iter().map(grid).collect::<Result<_>>()?;
            let (_, stored) = store::table_sizes(&table)?;
            let labels = Labels::default();
            return Ok(Self { columns, labels, stored, is_table: true, _sources: vec![] });
        }
        let foreign = content::foreign_table(cx, origin, args.dtype.as_ref())?;
        let is_foreign = foreign.is_some();
        let sources = match foreign {
            Some(table) => vec![table],
            None => content::open_to_look(cx, origin)?,
        };
        let stored = sources.iter().map(Source::stored).fold(0, u64::saturating_add);
        let labels = match &sources[..] {
            [source] => Labels::new(source.metadata()?.without_array().values()),
            _ => Labels::default(),
        };
        if let [Source::Object(Object::Bcolz(set))] = &sources[..]
            && let DataSet::CTable(table) = &set.set
        {
            let wanted = chosen(args, table.names().map(str::to_owned))?;
            let grid = |name: &String| {
                let grid = Rc::new(Grid::from_ctable(cx, set, name)?);
                Ok((name.clone(), Numbers::new(grid, None)?))
            };
            let columns = wanted.iter().map(grid).collect::<Result<_>>()?;
            return Ok(Self { columns, labels, stored, is_table: true, _sources: sources });
        }
        for source in &sources {
            if let Some(schunk) = source.frame() {
                store::refuse_objects(schunk, &origin.name())?;
            }
        }
        let grid = Rc::new(Grid::new(cx, origin, args.dtype.as_ref(), sources)?);
        let names = match is_foreign {
            true => {
                let fields = grid.dtype().fields().iter();
                chosen(args, fields.map(|field| field.name().to_owned()))?
            }
            false => args.columns.clone(),
        };
        let columns = match names.is_empty() {
            true => vec![(String::new(), Numbers::new(grid, None)?)],
            false => {
                let numbers =
                    |name: &String| Ok((name.clone(), Numbers::new(Rc::clone(&grid), Some(name))?));
                names.iter().map(numbers).collect::<Result<_>>()?
            }
        };
        Ok(Self { columns, labels, stored, is_table: is_foreign, _sources: vec![] })
    }

    /// The range and the label of a dimension, with this much more at both ends.
    fn axis(&self, dim: usize, axis: &Axis, more: f64) -> (AxisRange, String) {
        let ends = [axis.position(0), axis.position(axis.len.saturating_sub(1))];
        #[allow(clippy::cast_precision_loss, reason = "positions of pixels")]
        let [a, b] = ends.map(|end| end as f64);
        #[allow(clippy::cast_precision_loss, reason = "positions of pixels")]
        let more = more * axis.step.unsigned_abs() as f64;
        let mut range = AxisRange::new(a.min(b) - more, a.max(b) + more);
        range.is_reversed = axis.step < 0;
        let name = self.labels.dims.get(dim).map(|name| harmless(name));
        let label = match name {
            Some(name) => name,
            None if self.is_table => "row".to_owned(),
            None => format!("dimension {dim}"),
        };
        (range, label)
    }

    /// What the values are called, with their unit.
    fn value_label(&self) -> String {
        let column = match &self.columns[..] {
            [(name, _)] if !name.is_empty() => Some(name.as_str()),
            _ => None,
        };
        let name = column.or(self.labels.name.as_deref()).map(harmless);
        let units = self.labels.units.as_deref().map(harmless);
        match (name, units) {
            (Some(name), Some(units)) => format!("{name} [{units}]"),
            (Some(name), None) => name,
            (None, Some(units)) => format!("[{units}]"),
            (None, None) => String::new(),
        }
    }
}

/// The columns that were named; a table has to have some named, unless it has only one.
fn chosen(args: &PlotArgs, names: impl Iterator<Item = String>) -> Result<Vec<String>> {
    if !args.columns.is_empty() {
        return Ok(args.columns.clone());
    }
    let names: Vec<String> = names.collect();
    match &names[..] {
        [_] => Ok(names),
        _ => Err(message::CHOOSE_COLUMN.about(names.join(", "))),
    }
}

/// Without a slice: everything of a histogram and of two dimensions, else the first positions.
fn default_picks(kind: Option<PlotKind>, ndim: usize) -> Vec<b2frame::nd::Pick> {
    let shown = match kind {
        Some(PlotKind::Histogram) => ndim,
        Some(PlotKind::Line) => 1,
        _ => 2,
    };
    vec![b2frame::nd::Pick::Index(0); ndim.saturating_sub(shown)]
}

/// Dimensions that are left, without those of one position if there are too many.
fn kept(axes: &[Axis]) -> Vec<usize> {
    let left = |is_kept: &dyn Fn(&Axis) -> bool| -> Vec<usize> {
        (0..axes.len()).filter(|dim| is_kept(&axes[*dim])).collect()
    };
    let all = left(&|axis| !axis.is_index);
    let long = left(&|axis| !axis.is_index && axis.len > 1);
    if all.len() < 2 || long.is_empty() { all.into_iter().take(2).collect() } else { long }
}

fn kind(wanted: Option<PlotKind>, kept: &[usize], shape: &[u64]) -> Result<PlotKind> {
    match (wanted, kept.len()) {
        (Some(PlotKind::Histogram), _) => Ok(PlotKind::Histogram),
        (_, 0) => Err(message::PLOT_NO_DIMENSION.error()),
        (Some(PlotKind::Line) | None, 1) => Ok(PlotKind::Line),
        (Some(PlotKind::Heat) | None, 2) => Ok(PlotKind::Heat),
        (Some(PlotKind::Line), _) => Err(message::PLOT_LINE.about(shape.len())),
        (Some(PlotKind::Heat), _) => Err(message::PLOT_HEAT.about(shape.len())),
        (None, _) => Err(message::PLOT_DIMENSIONS.about(shape.len())),
    }
}

/// The slice between brackets; nothing if it is all.
fn part_name(picks: &[b2frame::nd::Pick], ndim: usize) -> String {
    use b2frame::nd::Pick;
    if picks.iter().all(|pick| *pick == Pick::ALL) {
        return String::new();
    }
    let end = |end: &Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
    let text = |pick: &Pick| match pick {
        Pick::Index(index) => index.to_string(),
        Pick::Slice { start, stop, step: 1 } => format!("{}:{}", end(start), end(stop)),
        Pick::Slice { start, stop, step } => format!("{}:{}:{step}", end(start), end(stop)),
    };
    let rest = ndim.saturating_sub(picks.len());
    let parts = picks.iter().map(text).chain(core::iter::repeat_n(":".to_owned(), rest));
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}
