//! The picture of an input: its numbers, read tile by tile, and no more of them kept than a picture
//! can show. `b2 plot` writes it, `b2 view` shows it.

mod labels;
mod series;

use core::ops::Range;

use b2_plot::{Content, Extent, Histogram, Line, Map, Note, Room, Scene, Tally, color};
use b2frame::nd::Pick;
use blosc_dtype::Dtype;

use self::series::Series;
use crate::{
    args::{LimitArgs, plot::PlotKind, slice::Slice},
    content::values::{Axis, Numbers, axes},
    context::Context,
    error::{Result, message},
    inputs::{decoded::Guard, origin::Origin},
    render::{escape::harmless, progress::Progress, size::count},
};

/// What of an input is drawn, and how.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The part; without one the first positions of dimensions that are too many.
    pub(crate) slice: Option<Slice>,
    /// Columns of a table, or fields of items.
    pub(crate) columns: Vec<String>,
    /// Else what the dimensions suggest.
    pub(crate) kind: Option<PlotKind>,
    /// Bars of a histogram.
    pub(crate) bins: u16,
    /// Else the name of the input and the part.
    pub(crate) title: Option<String>,
    /// Type of the items, where the input does not say or is wrong.
    pub(crate) dtype: Option<Dtype>,
    pub(crate) limits: LimitArgs,
}

/// A picture, and what it is of.
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
    pub(crate) scene: Scene,
}

impl Drawn {
    /// Draws an input with as many numbers as there is room for.
    ///
    /// # Errors
    ///
    /// When there are no numbers to draw, or they cannot be read.
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
        let axes = axes(&picks, first.shape())?;
        let shape: Vec<u64> =
            axes.iter().filter(|axis| !axis.is_index).map(|axis| axis.len).collect();
        let nitems = axes.iter().fold(1u64, |nitems, axis| nitems.saturating_mul(axis.len));
        if nitems == 0 {
            return Err(message::PLOT_NO_VALUES.error());
        }
        let kept = kept(&axes);
        let kind = kind(request.kind, &kept, &shape)?;
        if kind != PlotKind::Line && series.columns.len() > 1 {
            return Err(message::PLOT_ONE_COLUMN.error());
        }
        let itemsize = first.dtype().itemsize() as u64;
        let npasses = if kind == PlotKind::Histogram { 2 } else { 1 };
        let nbytes = nitems.saturating_mul(itemsize).saturating_mul(series.columns.len() as u64);
        Guard::new(request.limits).admit_bytes(nbytes, series.stored)?;
        let name = origin.name();
        let progress = Progress::new(&cx.console, &name, Some(nbytes.saturating_mul(npasses)));
        let reading = Reading { cx, axes: &axes, progress: &progress };
        let part = part_name(&picks, first.shape().len());
        let title = match &request.title {
            Some(title) => harmless(title),
            None => format!("{}{part}", harmless(&name)),
        };
        let (mut scene, extent, tally) = match (kind, &kept[..]) {
            (PlotKind::Line, [dim]) => reading.lines(&series, *dim, room.columns)?,
            (PlotKind::Heat, [down, across]) => {
                reading.map(&series, first, [*down, *across], room)?
            }
            _ => reading.bars(&series, first, request.bins)?,
        };
        scene.title = title;
        scene.notes.splice(0..0, left_out(tally));
        let (name, dtype) = (format!("{name}{part}"), first.dtype().to_string());
        Ok(Self { name, kind, dtype, shape, tally, extent, scene })
    }

    /// What people call the kind of the picture.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            PlotKind::Line => "line",
            PlotKind::Heat => "heat map",
            PlotKind::Histogram => "histogram",
        }
    }
}

/// The picture of the last two dimensions of an input, at `fixed` positions of those before, for a
/// screen.
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
    // Without a part of its own each dimension is taken whole.
    let picks: Vec<Pick> =
        fixed.iter().map(|at| Pick::from(i64::try_from(*at).unwrap_or(i64::MAX))).collect();
    let slice = Some(Slice::from(picks));
    let request = Request { slice, columns, bins: 50, ..Request::default() };
    Ok(Drawn::new(&request, cx, origin, SCREEN_ROOM)?.scene)
}

/// Dots of a screen that is wide.
const SCREEN_ROOM: Room = Room { columns: 400, rows: 120 };

/// Takes the ranges of a tile in each axis, and its numbers.
type TileWork<'a> = &'a mut dyn FnMut(&[Range<u64>], &[f64]);

/// How the numbers of a slice are read.
struct Reading<'a> {
    cx: &'a Context,
    axes: &'a [Axis],
    progress: &'a Progress,
}

/// A scene without a title, the least and the largest value in it, and what is no value.
type Reduced = (Scene, Extent, Tally);

impl Reading<'_> {
    fn pass(&self, numbers: &Numbers, work: TileWork<'_>) -> Result<()> {
        let itemsize = numbers.dtype().itemsize() as u64;
        numbers.for_each_tile(self.axes, self.cx.memory(), &mut |tile, values| {
            work(tile, values);
            self.progress.add((values.len() as u64).saturating_mul(itemsize));
            Ok(())
        })
    }

    /// A line for each column.
    fn lines(&self, series: &Series, dim: usize, max_columns: usize) -> Result<Reduced> {
        let axis = self.axes[dim];
        let (mut lines, mut tally) = (vec![], Tally::default());
        for (name, numbers) in &series.columns {
            let mut line = Line::new(axis.len, max_columns);
            self.pass(numbers, &mut |tile, values| line.add(tile[dim].start, values))?;
            tally = tally.join(line.tally);
            lines.push((harmless(name), line));
        }
        let means = lines.first().and_then(|(_, line)| {
            let ncolumns = line.columns.len() as u64;
            (line.len > ncolumns).then(|| line.len / ncolumns.max(1))
        });
        let is_one = lines.len() < 2;
        #[allow(clippy::cast_precision_loss, reason = "positions of pixels")]
        let (start, step) = (axis.start as f64, axis.step as f64);
        let mut scene = Scene::new("", Content::Lines { lines, start, step });
        let units: Vec<_> = series.columns.iter().map(|(_, numbers)| numbers.time_unit()).collect();
        let is_common = |unit: &String| units.iter().flatten().all(|it| it == unit);
        scene.y.time_unit = units.first().cloned().flatten().filter(is_common);
        (scene.x, scene.x_label) = series.axis(dim, &axis, 0.0);
        scene.y_label = match is_one {
            true => series.value_label(),
            false => series.labels.units.as_deref().map(harmless).unwrap_or_default(),
        };
        scene.notes.extend(means.map(|each| Note {
            color: None,
            text: format!("from least to largest of {} items each", count(each)),
        }));
        let extent = scene.content.extent();
        Ok((scene, extent, tally))
    }

    /// A map of two dimensions, the first of them down.
    fn map(
        &self,
        series: &Series,
        numbers: &Numbers,
        dims: [usize; 2],
        room: Room,
    ) -> Result<Reduced> {
        let [down, across] = dims.map(|dim| self.axes[dim]);
        let mut map = Map::new([down.len, across.len], room.rows, room.columns);
        self.pass(numbers, &mut |tile, values| map.add(&tile[dims[0]], &tile[dims[1]], values))?;
        let (extent, tally) = (map.extent(), map.tally);
        let ncells = (map.nrows as u64).saturating_mul(map.ncols as u64);
        let nitems = down.len.saturating_mul(across.len);
        let mut scene = Scene::new("", Content::map(map));
        if let Content::Map { values, label, .. } = &mut scene.content {
            values.time_unit = numbers.time_unit();
            *label = series.value_label();
        }
        (scene.x, scene.x_label) = series.axis(dims[1], &across, 0.5);
        (scene.y, scene.y_label) = series.axis(dims[0], &down, 0.5);
        // The first row is above.
        scene.y.is_reversed = !scene.y.is_reversed;
        if nitems > ncells {
            let text = format!("each cell the mean of {} items", count(nitems / ncells.max(1)));
            scene.notes.push(Note { color: None, text });
        }
        Ok((scene, extent, tally))
    }

    /// A histogram, whose range is looked for first.
    fn bars(&self, series: &Series, numbers: &Numbers, nbins: u16) -> Result<Reduced> {
        let (mut extent, mut tally) = (Extent::EMPTY, Tally::default());
        self.pass(numbers, &mut |_, values| {
            extent.add(values);
            tally.count(values);
        })?;
        let (low, high) = extent.ends().unwrap_or((0.0, 1.0));
        let mut histogram = Histogram::new(low, high, nbins);
        self.pass(numbers, &mut |_, values| histogram.count(values, 1))?;
        let mut scene = Scene::new("", Content::Bars(histogram));
        scene.x.time_unit = numbers.time_unit();
        scene.x_label = series.value_label();
        Ok((scene, extent, tally))
    }
}

/// Remarks on what is not drawn as a value.
fn left_out(Tally { nan, inf, .. }: Tally) -> impl Iterator<Item = Note> {
    let nan = (nan > 0).then(|| (color::NAN, format!("{} NaN", count(nan))));
    let inf = (inf > 0).then(|| (color::INK, format!("{} infinite", count(inf))));
    [nan, inf].into_iter().flatten().map(|(color, text)| Note { color: Some(color), text })
}

/// Without a slice: everything of a histogram and of two dimensions, else the first positions.
fn default_picks(kind: Option<PlotKind>, ndim: usize) -> Vec<Pick> {
    let shown = match kind {
        Some(PlotKind::Histogram) => ndim,
        Some(PlotKind::Line) => 1,
        _ => 2,
    };
    vec![Pick::Index(0); ndim.saturating_sub(shown)]
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
fn part_name(picks: &[Pick], ndim: usize) -> String {
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
