//! The picture of an input. Its numbers are read tile by tile, and only as many are kept as the
//! picture can show. `b2 plot` writes the picture, `b2 view` shows it.

mod series;

use core::ops::Range;
use std::borrow::Cow;

use b2_plot::{AxisRange, Content, Extent, Histogram, Line, Map, Note, Room, Scene, Tally, color};
use b2frame::nd::Pick;
use blosc_data::tiles::{kept, part_name};
use blosc_dtype::Dtype;

use self::series::Series;
use crate::{
    args::{
        LimitArgs,
        plot::PlotKind,
        slice::{self, Slice},
    },
    content::values::{Axis, Numbers, axes},
    context::Context,
    error::{Result, message},
    inputs::{decoded::Guard, origin::Origin},
    render::{
        escape::harmless,
        progress::Progress,
        size::{count, counted, each},
    },
};

/// The part to draw, and its form.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The part; without one, surplus dimensions stay at their first position.
    pub(crate) slice: Option<Slice>,
    /// Columns of a table, or fields of items.
    pub(crate) columns: Vec<String>,
    /// The column that is the x axis.
    pub(crate) x: Option<String>,
    /// A condition that chooses rows of a table.
    pub(crate) condition: Option<String>,
    /// Whether logarithms are drawn.
    pub(crate) is_log: bool,
    /// The kind; `None` if the dimensions decide.
    pub(crate) kind: Option<PlotKind>,
    /// The range of the colours of a map.
    pub(crate) range: Option<AxisRange>,
    /// Whether the first row of a map is at the bottom.
    pub(crate) is_upward: bool,
    /// Bars of a histogram.
    pub(crate) bins: Option<u16>,
    /// The title; `None` for the name of the input and the part.
    pub(crate) title: Option<String>,
    /// Type of the items, where the input does not say or is wrong.
    pub(crate) dtype: Option<Dtype>,
    pub(crate) limits: LimitArgs,
}

/// A picture with its facts.
pub(crate) struct Drawn {
    /// The input and the part.
    pub(crate) name: String,
    pub(crate) kind: PlotKind,
    pub(crate) dtype: String,
    /// Items of the part per dimension.
    pub(crate) shape: Vec<u64>,
    pub(crate) tally: Tally,
    /// The least and the largest finite value that is drawn.
    pub(crate) extent: Extent,
    pub(crate) is_log: bool,
    pub(crate) scene: Scene,
}

impl Drawn {
    /// Draws an input with as many numbers as there is room for.
    ///
    /// # Errors
    ///
    /// When the input has no numbers, or they cannot be read.
    pub(crate) fn new(
        request: &Request,
        cx: &Context,
        origin: &Origin,
        room: Room,
    ) -> Result<Self> {
        let series = Series::open(request, cx, origin)?;
        let Some((_, first)) = series.columns.first() else {
            return Err(message::PLOT_NO_VALUES.error());
        };
        let picks = request.slice.as_ref().map(|slice| slice.in_dims(first.shape().len()));
        let picks = picks.unwrap_or_else(|| default_picks(request.kind, first.shape().len()));
        let mut axes = axes(&picks, first.shape())?;
        among_found(request, &series, first.shape(), &mut axes)?;
        let shown = shown(&series, &axes)?;
        let shape: Vec<u64> =
            shown.iter().filter(|axis| !axis.is_index).map(|axis| axis.len).collect();
        let nitems = shown.iter().fold(1u64, |nitems, axis| nitems.saturating_mul(axis.len));
        if nitems == 0 {
            return Err(message::PLOT_NO_VALUES.error());
        }
        let kept = match (request.kind, &all_dims(&shown)[..]) {
            // A map may have a single row or column.
            (Some(PlotKind::Heat), dims @ [_, _]) => dims.to_vec(),
            _ => kept(&shown),
        };
        let nrows = kept.first().map_or(0, |dim| shown[*dim].len);
        let kind = kind(request.kind, &kept, &shape, nrows)?;
        if kind != PlotKind::Heat && (request.range.is_some() || request.is_upward) {
            return Err(message::PLOT_MAPS.error());
        }
        if kind != PlotKind::Histogram && request.bins.is_some() {
            return Err(message::PLOT_BARS.error());
        }
        if kind != PlotKind::Line && series.columns.len() > 1 {
            return Err(message::PLOT_ONE_COLUMN.error());
        }
        let itemsize = first.dtype().itemsize() as u64;
        let npasses = if kind == PlotKind::Histogram { 2 } else { 1 };
        let ncolumns = series.columns.len() + usize::from(series.x.is_some());
        let nbytes = nitems.saturating_mul(itemsize).saturating_mul(ncolumns as u64);
        Guard::new(request.limits).admit_bytes(nbytes, series.stored)?;
        let name = origin.name();
        let progress = Progress::new(&cx.console, &name, Some(nbytes.saturating_mul(npasses)));
        let (axes, shown, progress) = (&axes[..], &shown[..], &progress);
        let reading = Reading { cx, axes, shown, progress, is_log: request.is_log };
        let part = part_name(&picks, first.shape().len());
        let title = match &request.title {
            Some(title) => harmless(title),
            None => format!("{}{part}", harmless(&name)),
        };
        let (mut scene, extent, tally) = match (kind, &kept[..]) {
            (PlotKind::Line, dims) => reading.lines(&series, dims, room.columns)?,
            (PlotKind::Heat, [down, across]) => {
                reading.map(&series, request, [*down, *across], room)?
            }
            _ => reading.bars(&series, first, request.bins.unwrap_or(DEFAULT_BINS))?,
        };
        scene.title = title;
        scene.notes.splice(0..0, left_out(tally, request.is_log));
        let (name, dtype) = (format!("{name}{part}"), first.dtype().to_string());
        let is_log = request.is_log;
        Ok(Self { name, kind, dtype, shape, tally, extent, is_log, scene })
    }

    /// The value for a drawn number, which may be a logarithm.
    pub(crate) fn value(&self, drawn: f64) -> f64 {
        if self.is_log { 10f64.powf(drawn) } else { drawn }
    }

    /// The name of the kind of the picture, for people.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            PlotKind::Line => "line",
            PlotKind::Heat => "heat map",
            PlotKind::Histogram => "histogram",
        }
    }
}

/// The picture of the last two dimensions of an input for a screen, at `fixed` positions of the
/// others.
///
/// # Errors
///
/// As [`Drawn::new`].
pub(crate) fn scene_for_screen(
    cx: &Context,
    origin: &Origin,
    fixed: &[u64],
    columns: Vec<String>,
) -> Result<Scene> {
    // Without a slice, every dimension is drawn whole.
    let picks: Vec<Pick> =
        fixed.iter().map(|at| Pick::from(i64::try_from(*at).unwrap_or(i64::MAX))).collect();
    let slice = Some(Slice::from(picks));
    let request = Request { slice, columns, ..Request::default() };
    Ok(Drawn::new(&request, cx, origin, SCREEN_ROOM)?.scene)
}

/// Bars of a histogram, by default.
const DEFAULT_BINS: u16 = 50;

/// Points for the picture on a wide screen.
const SCREEN_ROOM: Room = Room { columns: 400, rows: 120 };

/// Takes the ranges of a tile, its positions on the x axis if a column gives them, and its numbers.
type TileWork<'a> = &'a mut dyn FnMut(&[Range<u64>], &[f64], &[f64]);

/// The state of reading the numbers of a slice.
struct Reading<'a> {
    cx: &'a Context,
    axes: &'a [Axis],
    /// The axes without rows after the last wanted one.
    shown: &'a [Axis],
    progress: &'a Progress,
    is_log: bool,
}

/// A scene without a title, the extent of its values, and the count of other items.
type Reduced = (Scene, Extent, Tally);

impl Reading<'_> {
    /// Reads the wanted numbers tile by tile, with the positions from `x`.
    fn pass(
        &self,
        series: &Series,
        (numbers, axes, x): (&Numbers, &[Axis], Option<&Numbers>),
        work: TileWork<'_>,
    ) -> Result<()> {
        let itemsize = numbers.dtype().itemsize() as u64;
        let mut before = 0;
        numbers.for_each_tile(axes, self.cx.memory(), &mut |tile, values| {
            self.progress.add((values.len() as u64).saturating_mul(itemsize));
            let mut positions = vec![];
            if let (Some(x), [axis], [part]) = (x, axes, tile) {
                x.for_each_tile(&[axis.part(part)], self.cx.memory(), &mut |_, part| {
                    positions.extend(part);
                    Ok(())
                })?;
            }
            let ([axis], [part]) = (axes, tile) else {
                work(tile, &positions, values);
                return Ok(());
            };
            let Some(wanted) = series.wanted(axis, part)? else {
                work(tile, &positions, values);
                return Ok(());
            };
            let choose = |from: &[f64]| -> Vec<f64> {
                wanted.iter().filter_map(|n| from.get(*n).copied()).collect()
            };
            let after = before + wanted.len() as u64;
            let rows = before..after;
            work(core::slice::from_ref(&rows), &choose(&positions), &choose(values));
            before = after;
            Ok(())
        })
    }

    /// Values, or their logarithms.
    fn scaled<'v>(&self, values: &'v [f64]) -> Cow<'v, [f64]> {
        match self.is_log {
            true => values.iter().map(|value| logarithm(*value)).collect(),
            false => Cow::Borrowed(values),
        }
    }

    /// A line for each column, or for each position of the first of two dimensions.
    fn lines(&self, series: &Series, dims: &[usize], max_columns: usize) -> Result<Reduced> {
        let dim = dims.last().copied().unwrap_or(0);
        let axis = self.shown[dim];
        let (mut lines, mut tally, mut over) = (vec![], Tally::default(), Extent::EMPTY);
        if let Some((_, x)) = &series.x {
            self.pass(series, (x, self.axes, None), &mut |_, _, values| over.add(values))?;
        }
        let over = series.x.as_ref().map(|_| over.ends().unwrap_or((0.0, 1.0)));
        let over = over.map(|(low, high)| AxisRange::new(low, high));
        for (name, axes) in self.rows(series, dims) {
            for (column, numbers) in &series.columns {
                let x = series.x.as_ref().map(|(_, x)| x);
                let mut line = match &over {
                    Some(_) => Line::of_columns(max_columns),
                    None => Line::new(axis.len, max_columns),
                };
                self.pass(series, (numbers, &axes, x), &mut |tile, positions, values| {
                    let values = self.scaled(values);
                    match &over {
                        Some(x) => line.add_over([x.low, x.high], positions, &values),
                        None => line.add(tile[dim].start, &values),
                    }
                })?;
                tally = tally.join(line.tally);
                lines.push((harmless(&format!("{column}{name}")), line));
            }
        }
        let means = lines.first().and_then(|(_, line)| {
            let ncolumns = line.columns.len() as u64;
            (line.len > ncolumns).then(|| each(line.len, ncolumns))
        });
        let is_one = lines.len() < 2;
        #[allow(clippy::cast_precision_loss, reason = "positions of pixels")]
        let (start, step) = match &over {
            Some(x) => (x.low, (x.high - x.low) / max_columns.saturating_sub(1).max(1) as f64),
            None => (axis.start as f64, axis.step as f64),
        };
        let mut scene = Scene::new("", Content::Lines { lines, start, step });
        scene.y.is_log = self.is_log;
        scene.y.time_unit = series.columns.first().and_then(|(_, numbers)| numbers.time_unit());
        (scene.x, scene.x_label) = match (over, &series.x) {
            (Some(range), Some((name, x))) => {
                (AxisRange { time_unit: x.time_unit(), ..range }, harmless(name))
            }
            _ => series.axis(dim, &axis, 0.0),
        };
        scene.y_label = match is_one {
            true => series.value_label(),
            false => series.labels.units.as_deref().map(harmless).unwrap_or_default(),
        };
        scene.notes.extend(means.map(|each| Note {
            color: None,
            text: format!("from least to largest of {each} items each"),
        }));
        let extent = scene.content.extent();
        Ok((scene, extent, tally))
    }

    /// The names and axes of the lines: one, or one for each position of the first of two
    /// dimensions.
    fn rows(&self, series: &Series, dims: &[usize]) -> Vec<(String, Vec<Axis>)> {
        let [down, _] = dims else { return vec![(String::new(), self.axes.to_vec())] };
        let rows = self.axes[*down];
        let (_, label) = series.axis(*down, &rows, 0.0);
        let row = |n: u64| {
            let mut axes = self.axes.to_vec();
            axes[*down] = Axis { start: rows.position(n), step: 1, len: 1, is_index: true };
            (format!("{label} = {}", rows.position(n)), axes)
        };
        (0..rows.len).map(row).collect()
    }

    /// A map of two dimensions; the first one runs down.
    fn map(
        &self,
        series: &Series,
        request: &Request,
        dims: [usize; 2],
        room: Room,
    ) -> Result<Reduced> {
        let Some((_, numbers)) = series.columns.first() else {
            return Err(message::PLOT_NO_VALUES.error());
        };
        let [down, across] = dims.map(|dim| self.axes[dim]);
        let mut map = Map::new([down.len, across.len], room.rows, room.columns);
        self.pass(series, (numbers, self.axes, None), &mut |tile, _, values| {
            map.add(&tile[dims[0]], &tile[dims[1]], &self.scaled(values));
        })?;
        let (extent, tally) = (map.extent(), map.tally);
        let ncells = (map.nrows as u64).saturating_mul(map.ncols as u64);
        let nitems = down.len.saturating_mul(across.len);
        let mut scene = Scene::new("", Content::map(map));
        if let Content::Map { values, label, .. } = &mut scene.content {
            if let Some(range) = &request.range {
                let ends = [range.low, range.high];
                let [low, high] = ends.map(|end| if self.is_log { logarithm(end) } else { end });
                (values.low, values.high) = (low, high);
            }
            values.time_unit = numbers.time_unit();
            values.is_log = self.is_log;
            *label = series.value_label();
        }
        (scene.x, scene.x_label) = series.axis(dims[1], &across, 0.5);
        (scene.y, scene.y_label) = series.axis(dims[0], &down, 0.5);
        // The first row is at the top by default.
        scene.y.is_reversed ^= !request.is_upward;
        if nitems > ncells {
            let text = format!("each cell the mean of {} items", each(nitems, ncells));
            scene.notes.push(Note { color: None, text });
        }
        Ok((scene, extent, tally))
    }

    /// A histogram. A first pass finds its range.
    fn bars(&self, series: &Series, numbers: &Numbers, nbins: u16) -> Result<Reduced> {
        let (mut extent, mut tally) = (Extent::EMPTY, Tally::default());
        let read = (numbers, self.axes, None);
        self.pass(series, read, &mut |_, _, values| {
            let values = self.scaled(values);
            extent.add(&values);
            tally.count(&values);
        })?;
        let (low, high) = extent.ends().unwrap_or((0.0, 1.0));
        let mut histogram = Histogram::new(low, high, nbins);
        self.pass(series, read, &mut |_, _, values| histogram.count(&self.scaled(values), 1))?;
        let mut scene = Scene::new("", Content::Bars(histogram));
        scene.x.time_unit = numbers.time_unit();
        scene.x.is_log = self.is_log;
        scene.x_label = series.value_label();
        Ok((scene, extent, tally))
    }
}

/// The axes; the first one ends after the last wanted row.
fn shown(series: &Series, axes: &[Axis]) -> Result<Vec<Axis>> {
    let mut shown = axes.to_vec();
    if series.chosen.is_none() && series.x.is_none() {
        return Ok(shown);
    }
    let [axis] = &mut shown[..] else { return Err(message::PLOT_ROWS.error()) };
    if series.chosen.is_some() {
        let mut nrows = 0;
        for start in (0..axis.len).step_by(ROWS_AT_ONCE) {
            let part = start..axis.len.min(start.saturating_add(ROWS_AT_ONCE as u64));
            nrows += series.wanted(axis, &part)?.map_or(0, |rows| rows.len() as u64);
        }
        *axis = Axis { start: 0, step: 1, len: nrows, is_index: false };
    }
    Ok(shown)
}

/// Lets a slice of rows count only the rows that the condition finds.
fn among_found(request: &Request, series: &Series, shape: &[u64], axes: &mut [Axis]) -> Result<()> {
    if let (Some(slice), Some(chosen), ([axis], [nrows])) =
        (&request.slice, &series.chosen, (axes, shape))
    {
        let mut matches = |rows| Ok(chosen.matches(rows)?);
        let rows = slice::rows(Some(slice), *nrows, Some(&mut matches))?;
        let (start, len) = (rows.start, rows.end - rows.start);
        *axis = Axis { start, step: 1, len, is_index: false };
    }
    Ok(())
}

/// The dimensions in which a slice has more than one position.
fn all_dims(shown: &[Axis]) -> Vec<usize> {
    (0..shown.len()).filter(|dim| !shown[*dim].is_index).collect()
}

/// Rows for which a condition is evaluated at once.
const ROWS_AT_ONCE: usize = 1 << 16;

/// The logarithm; NaN if there is none.
fn logarithm(value: f64) -> f64 {
    if value > 0.0 { value.log10() } else { f64::NAN }
}

/// Notes on items that are not drawn as values.
fn left_out(Tally { nan, inf, .. }: Tally, is_log: bool) -> impl Iterator<Item = Note> {
    let what = if is_log { "NaN or not above zero" } else { "NaN" };
    let nan = (nan > 0).then(|| (color::NAN, format!("{} {what}", count(nan))));
    let inf = (inf > 0).then(|| (color::INK, format!("{} infinite", count(inf))));
    [nan, inf].into_iter().flatten().map(|(color, text)| Note { color: Some(color), text })
}

/// The slice by default: everything for a histogram and for two dimensions, else first positions.
fn default_picks(kind: Option<PlotKind>, ndim: usize) -> Vec<Pick> {
    let shown = match kind {
        Some(PlotKind::Histogram) => ndim,
        Some(PlotKind::Line) => 1,
        _ => 2,
    };
    vec![Pick::Index(0); ndim.saturating_sub(shown)]
}

/// Most lines in one picture: more would repeat colours.
const MAX_LINES: u64 = 6;

fn kind(wanted: Option<PlotKind>, kept: &[usize], shape: &[u64], nrows: u64) -> Result<PlotKind> {
    match (wanted, kept.len()) {
        (Some(PlotKind::Line), 2) if nrows <= MAX_LINES => Ok(PlotKind::Line),
        (Some(PlotKind::Histogram), _) => Ok(PlotKind::Histogram),
        (_, 0) => Err(message::PLOT_NO_DIMENSION.error()),
        (Some(PlotKind::Line) | None, 1) => Ok(PlotKind::Line),
        (Some(PlotKind::Heat) | None, 2) => Ok(PlotKind::Heat),
        (Some(PlotKind::Line), _) => {
            Err(message::PLOT_LINE.about(counted(shape.len() as u64, "dimension")))
        }
        (Some(PlotKind::Heat), _) => {
            Err(message::PLOT_HEAT.about(counted(shape.len() as u64, "dimension")))
        }
        (None, _) => Err(message::PLOT_DIMENSIONS.about(shape.len())),
    }
}
