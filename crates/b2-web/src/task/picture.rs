//! Pictures of any amount of numbers, tile by tile.

use core::ops::Range;
use std::sync::Arc;

use b2_plot::{AxisRange, Content, Line, Map, Note, Room, Scene, color};
use blosc_data::columns::shown_dtype;
use blosc_data::labels::Labels;
use blosc_data::tiles::{Axis, axes, kept, numbers_of_tile, part_name};
use blosc_data::{Array, ColumnValues, Data, Dataset, Pick, Table, Values};
use blosc_dtype::numbers::{Extent, Histogram, NumberType, Tally};
use blosc_dtype::text::{count, harmless};
use blosc_dtype::{Dtype, Kind};

use super::{PIECE_NROWS, index, no_piece, read_box, tiles};
use crate::fault::{Fault, Result};
use crate::request::{Numbers, TaskRequest};

/// Steps of a histogram.
const NBINS: u16 = 80;
/// The largest side of a picture (pixels).
const MAX_SIDE: u32 = 4096;

#[derive(Debug)]
pub(super) struct Picture {
    series: Series,
    axes: Vec<Axis>,
    tiles: Vec<Vec<Range<u64>>>,
    content: Reduced,
    tally: Tally,
    labels: Labels,
    title: String,
}

/// Where numbers are.
#[derive(Debug)]
struct Series {
    of: Of,
    number: NumberType,
    /// The type of a number.
    dtype: Dtype,
    /// Where it is in an item (bytes), and how long the item is.
    offset: usize,
    itemsize: usize,
    name: Option<String>,
}

#[derive(Debug)]
enum Of {
    Array(Arc<dyn Array>),
    Column(Arc<dyn Table>, usize),
}

#[derive(Debug)]
enum Reduced {
    Line(Line),
    Map(Map),
    /// First the range is looked for, then the bars are counted.
    Bars(Extent, Option<Histogram>),
}

impl Picture {
    pub(super) fn new(of: &Dataset, request: &TaskRequest) -> Result<Self> {
        let (TaskRequest::Line(numbers)
        | TaskRequest::Map(numbers)
        | TaskRequest::Histogram(numbers)) = request
        else {
            return Err(Fault::request("no picture"));
        };
        let series = Series::new(&of.data, numbers.column.as_deref())?;
        let picks: Vec<Pick> = numbers.part.iter().map(|part| part.pick()).collect();
        let axes = axes(&picks, &series.shape())?;
        if axes.iter().any(|axis| axis.len == 0) {
            return Err(Fault::request("there is nothing in this part"));
        }
        let tiles = series.tiles(&axes)?;
        let content = reduced(request, numbers, &axes)?;
        let labels = Labels::new(of.attributes()?.into_iter().collect());
        let title = format!("{}{}", harmless(&of.name), part_name(&picks, axes.len()));
        Ok(Self { series, axes, tiles, content, tally: Tally::default(), labels, title })
    }

    pub(super) fn npieces(&self) -> u64 {
        let npasses = if matches!(self.content, Reduced::Bars(..)) { 2 } else { 1 };
        (self.tiles.len() as u64).saturating_mul(npasses)
    }

    fn tile(&self, number: u64) -> Option<&[Range<u64>]> {
        let tile = self.tiles.get(index(number).checked_rem(self.tiles.len())?)?;
        Some(tile)
    }

    pub(super) fn read(&self, number: u64) -> Result<Vec<f64>> {
        let tile = self.tile(number).ok_or_else(no_piece)?;
        let bounds: Vec<Range<u64>> =
            self.axes.iter().zip(tile).map(|(axis, part)| axis.cover(part)).collect();
        let (bytes, valid) = self.series.read(&bounds)?;
        let mut values = vec![];
        let Series { number, itemsize, offset, ref dtype, .. } = self.series;
        let sizes = (itemsize, dtype.itemsize());
        let bytes = bytes.get(offset..).unwrap_or_default();
        numbers_of_tile(number, sizes, &self.axes, (tile, &bounds), bytes, &mut values);
        for (value, is_valid) in values.iter_mut().zip(valid.into_iter().flatten()) {
            if !is_valid {
                *value = f64::NAN;
            }
        }
        Ok(values)
    }

    pub(super) fn take(&mut self, number: u64, values: &[f64]) {
        let Some(tile) = self.tile(number).map(<[_]>::to_vec) else { return };
        let along = |dim: usize| tile.get(dim).cloned().unwrap_or(0..1);
        let dims = kept(&self.axes);
        match &mut self.content {
            Reduced::Line(line) => {
                line.add(dims.first().map_or(0, |dim| along(*dim).start), values);
            }
            Reduced::Map(map) => {
                if let [down, across] = dims[..] {
                    map.add(&along(down), &along(across), values);
                }
            }
            Reduced::Bars(_, Some(histogram)) => return histogram.count(values, 1),
            Reduced::Bars(extent, bars) => {
                extent.add(values);
                if number.saturating_add(1) == self.tiles.len() as u64 {
                    let (low, high) = extent.ends().unwrap_or((0.0, 1.0));
                    *bars = Some(Histogram::new(low, high, NBINS));
                }
            }
        }
        self.tally.count(values);
    }

    pub(super) fn png(&self, width: u32, height: u32) -> Vec<u8> {
        self.scene().png(width.clamp(160, MAX_SIDE), height.clamp(120, MAX_SIDE))
    }

    fn scene(&self) -> Scene {
        let time_unit = self.series.time_unit();
        let dims = kept(&self.axes);
        let content = match &self.content {
            Reduced::Line(line) => {
                let axis = dims.first().and_then(|dim| self.axes.get(*dim));
                let start = axis.map_or(0.0, |axis| position(axis, 0));
                let lines = vec![(String::new(), line.clone())];
                Content::Lines { lines, start, step: 1.0 }
            }
            Reduced::Map(map) => Content::map(map.clone()),
            Reduced::Bars(_, bars) => {
                let none = || Histogram::new(0.0, 1.0, NBINS);
                Content::Bars(bars.clone().unwrap_or_else(none))
            }
        };
        let mut scene = Scene::new(self.title.clone(), content);
        scene.notes.splice(0..0, self.notes());
        match &mut scene.content {
            Content::Lines { .. } => {
                scene.y.time_unit = time_unit;
                scene.y_label = self.value_label();
                (scene.x, scene.x_label) = self.axis(&dims, 0, 0.0);
            }
            Content::Map { values, label, .. } => {
                values.time_unit = time_unit;
                *label = self.value_label();
                (scene.x, scene.x_label) = self.axis(&dims, 1, 0.5);
                (scene.y, scene.y_label) = self.axis(&dims, 0, 0.5);
                // The first row is above.
                scene.y.is_reversed = true;
            }
            Content::Bars(_) => {
                scene.x.time_unit = time_unit;
                scene.x_label = self.value_label();
            }
        }
        scene
    }

    fn notes(&self) -> Vec<Note> {
        let Tally { nan, inf, .. } = self.tally;
        let note = |n: u64, color, what: &str| {
            (n > 0).then(|| Note { color: Some(color), text: format!("{} {what}", count(n)) })
        };
        let notes = [note(nan, color::NAN, "NaN"), note(inf, color::INK, "infinite")];
        notes.into_iter().flatten().collect()
    }

    /// The range and the label of a dimension that stays.
    fn axis(&self, dims: &[usize], number: usize, more: f64) -> (AxisRange, String) {
        let Some((dim, axis)) = dims.get(number).and_then(|dim| Some((dim, self.axes.get(*dim)?)))
        else {
            return (AxisRange::new(0.0, 1.0), String::new());
        };
        let (first, last) = (position(axis, 0), position(axis, axis.len.saturating_sub(1)));
        let label = match (self.labels.dims.get(*dim), &self.series.of) {
            (Some(name), _) => harmless(name),
            (None, Of::Column(..)) => "row".to_owned(),
            (None, Of::Array(_)) => format!("dimension {dim}"),
        };
        (AxisRange::new(first - more, last + more), label)
    }

    fn value_label(&self) -> String {
        let name = self.series.name.as_deref().or(self.labels.name.as_deref()).map(harmless);
        let units = self.labels.units.as_deref().map(|units| format!("[{}]", harmless(units)));
        let both: Vec<String> = [name, units].into_iter().flatten().collect();
        both.join(" ")
    }
}

#[allow(clippy::cast_precision_loss, reason = "positions of pixels")]
fn position(axis: &Axis, n: u64) -> f64 {
    axis.position(n) as f64
}

fn reduced(request: &TaskRequest, numbers: &Numbers, axes: &[Axis]) -> Result<Reduced> {
    let Numbers { width, height, .. } = *numbers;
    let room = Room::of_pixels(width.clamp(160, MAX_SIDE), height.clamp(120, MAX_SIDE));
    let dims = kept(axes);
    let len = |dim: usize| axes.get(dim).map_or(1, |axis| axis.len);
    match (request, &dims[..]) {
        (TaskRequest::Histogram(_), _) => Ok(Reduced::Bars(Extent::EMPTY, None)),
        (TaskRequest::Line(_), [dim]) => Ok(Reduced::Line(Line::new(len(*dim), room.columns))),
        (TaskRequest::Map(_), [down, across]) => {
            Ok(Reduced::Map(Map::new([len(*down), len(*across)], room.rows, room.columns)))
        }
        (TaskRequest::Line(_), _) => Err(Fault::request("a line has one dimension")),
        _ => Err(Fault::request("a map has two dimensions")),
    }
}

impl Series {
    fn new(data: &Data, column: Option<&str>) -> Result<Self> {
        let (of, dtype, offset, itemsize) = match (data, column) {
            (Data::Array(array), None) => {
                let dtype = array.dtype().clone();
                let itemsize = dtype.itemsize();
                (Of::Array(Arc::clone(array)), dtype, 0, itemsize)
            }
            (Data::Array(array), Some(name)) => {
                let (dtype, offset) = array.dtype().field_at(name).ok_or_else(|| no_field(name))?;
                (Of::Array(Arc::clone(array)), dtype, offset, array.dtype().itemsize())
            }
            (Data::Table(table), Some(name)) => {
                let number = table.column(name)?;
                let column = table.columns().get(number).ok_or_else(|| no_field(name))?;
                let dtype = column.dtype.as_ref().filter(|_| column.item_shape.is_empty());
                let dtype = dtype.ok_or_else(|| Fault::request("the column holds no numbers"))?;
                let dtype = shown_dtype(dtype, &column.kind).into_owned();
                let itemsize = dtype.itemsize();
                (Of::Column(Arc::clone(table), number), dtype, 0, itemsize)
            }
            _ => return Err(Fault::request("choose a column")),
        };
        let number = dtype.scalar().and_then(NumberType::new);
        let number = number.ok_or_else(|| Fault::request("these are no numbers"))?;
        let name = column.map(str::to_owned);
        Ok(Self { of, number, dtype, offset, itemsize, name })
    }

    fn shape(&self) -> Vec<u64> {
        match &self.of {
            Of::Array(array) => array.shape().to_vec(),
            Of::Column(table, _) => vec![table.nrows()],
        }
    }

    fn tiles(&self, axes: &[Axis]) -> Result<Vec<Vec<Range<u64>>>> {
        match &self.of {
            Of::Array(array) => tiles(&**array, axes),
            Of::Column(..) => {
                let len = axes.first().map_or(0, |axis| axis.len);
                let starts = (0..len).step_by(index(PIECE_NROWS));
                let piece = |start: u64| start..len.min(start.saturating_add(PIECE_NROWS));
                Ok(starts.map(|start| Vec::from([piece(start)])).collect())
            }
        }
    }

    /// The items of a box, and which of them are no nulls.
    fn read(&self, bounds: &[Range<u64>]) -> Result<(Vec<u8>, Option<Vec<bool>>)> {
        match &self.of {
            Of::Array(array) => Ok((read_box(&**array, bounds)?, None)),
            Of::Column(table, number) => {
                let rows = bounds.first().cloned().unwrap_or(0..0);
                let values = table.read_columns(&[*number], rows)?.pop();
                match values {
                    Some(ColumnValues { values: Values::Fixed { bytes, .. }, valid, .. }) => {
                        Ok((bytes, valid))
                    }
                    _ => Err(Fault::request("the column holds no numbers")),
                }
            }
        }
    }

    /// The unit of points in time.
    fn time_unit(&self) -> Option<String> {
        let scalar = self.dtype.scalar().filter(|scalar| scalar.kind() == Kind::DateTime)?;
        scalar.unit().map(str::to_owned)
    }
}

fn no_field(name: &str) -> Fault {
    Fault::Request(format!("there is no column {name:?}"))
}
