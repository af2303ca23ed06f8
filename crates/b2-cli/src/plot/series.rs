//! The numbers of an input, as named columns.

use core::ops::Range;
use std::rc::Rc;

use b2_plot::AxisRange;
use bcolz_store::DataSet;
use blosc_data::{RowFilter, convert::select, formats, labels::Labels};

use super::Request;
use crate::{
    args::plot::PlotKind,
    content::{
        self,
        grid::Grid,
        source::Source,
        values::{Axis, Numbers},
    },
    context::Context,
    error::{Result, message},
    formats::store,
    inputs::{object::Object, origin::Origin},
    memory::as_len,
    render::escape::harmless,
};

/// The numbers of an input: named columns, or one without a name.
pub(super) struct Series {
    pub(super) columns: Vec<(String, Numbers)>,
    /// The column that is the x axis.
    pub(super) x: Option<(String, Numbers)>,
    /// The filter of a condition on rows.
    pub(super) chosen: Option<Box<dyn RowFilter>>,
    pub(super) labels: Labels,
    /// Stored bytes of the input.
    pub(super) stored: u64,
    is_table: bool,
    /// Whether a condition has chosen the rows, here or before they were opened.
    is_chosen: bool,
    /// The sources of columns: a temporary table goes with its source.
    _sources: Vec<Source>,
}

impl Series {
    /// Opens an input.
    ///
    /// # Errors
    ///
    /// When the input cannot be opened, or has no numbers.
    pub(super) fn open(request: &Request, cx: &Context, origin: &Origin) -> Result<Self> {
        if let Some(table) = store::table(origin, cx.read_params())? {
            let names = table.schema().columns.iter().map(|column| column.name.clone());
            let columns = of_table(request, names, |name| Grid::from_table(cx, &table, name))?;
            let (_, stored) = store::table_sizes(&table)?;
            let condition = request.condition.as_deref();
            let chosen = condition.map(|text| formats::store_filter(&table, text)).transpose()?;
            return Self::new(request, columns, Labels::default(), stored, chosen, true, vec![]);
        }
        let foreign = content::foreign_table(cx, origin, request.dtype.as_ref())?;
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
            let names = table.names().map(str::to_owned);
            let columns = of_table(request, names, |name| Grid::from_ctable(cx, set, name))?;
            let condition = request.condition.as_deref();
            let chosen = condition.map(|text| formats::bcolz_filter(table, text)).transpose()?;
            return Self::new(request, columns, labels, stored, chosen, true, sources);
        }
        let sources = rows(request, cx, sources)?;
        let mut frames = sources.iter().filter_map(Source::frame);
        frames.try_for_each(|schunk| store::refuse_objects(schunk, &origin.name()))?;
        let grid = Grid::new(cx, origin, request.dtype.as_ref(), sources)?;
        let columns = of_items(request, Rc::new(grid), is_foreign)?;
        Self::new(request, columns, labels, stored, None, is_foreign, vec![])
    }

    /// Takes the x axis out of the columns; all others must be of one kind.
    fn new(
        request: &Request,
        mut columns: Vec<(String, Numbers)>,
        labels: Labels,
        stored: u64,
        chosen: Option<Box<dyn RowFilter>>,
        is_table: bool,
        sources: Vec<Source>,
    ) -> Result<Self> {
        let kind = |(_, numbers): &(String, Numbers)| numbers.time_unit();
        let is_time = columns.first().is_some_and(|first| kind(first).is_some());
        let others = columns.get(1..).unwrap_or_default();
        let x = match (&request.x, request.kind) {
            (Some(_), _) => columns.pop(),
            (None, None | Some(PlotKind::Line))
                if is_time && !others.is_empty() && others.iter().all(|it| kind(it).is_none()) =>
            {
                Some(columns.remove(0))
            }
            _ => None,
        };
        if columns.windows(2).any(|pair| kind(&pair[0]) != kind(&pair[1])) {
            return Err(message::PLOT_UNLIKE.error());
        }
        let is_chosen = request.condition.is_some();
        Ok(Self { columns, x, chosen, labels, stored, is_table, is_chosen, _sources: sources })
    }

    /// The wanted positions of a part along the rows.
    pub(super) fn wanted(&self, axis: &Axis, part: &Range<u64>) -> Result<Option<Vec<usize>>> {
        let Some(chosen) = &self.chosen else { return Ok(None) };
        let (start, step) = (axis.position(part.start), axis.step.unsigned_abs().max(1));
        let ways = chosen.matches(axis.cover(part))?.into_iter().map(|row| row.abs_diff(start));
        let ways = ways.filter(|way| way.is_multiple_of(step));
        let mut found: Vec<usize> = ways.map(|way| as_len(way / step)).collect();
        found.sort_unstable();
        Ok(Some(found))
    }

    /// The range and the label of a dimension, with this much more at both ends.
    pub(super) fn axis(&self, dim: usize, axis: &Axis, more: f64) -> (AxisRange, String) {
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
            None if self.is_chosen => "row of those found".to_owned(),
            None if self.is_table => "row".to_owned(),
            None => format!("dimension {dim}"),
        };
        (range, label)
    }

    /// The name of the values, with their unit.
    pub(super) fn value_label(&self) -> String {
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

/// The named columns of a table, opened by `grid`.
fn of_table(
    request: &Request,
    names: impl Iterator<Item = String>,
    grid: impl Fn(&str) -> Result<Grid>,
) -> Result<Vec<(String, Numbers)>> {
    message::refuse_type(request.dtype.as_ref())?;
    let numbers = |name: String| {
        let numbers = Numbers::new(Rc::new(grid(&name)?), None)?;
        Ok((name, numbers))
    };
    chosen(request, names)?.into_iter().map(numbers).collect()
}

/// The sources of items, reduced to the rows that the condition chooses.
fn rows(request: &Request, cx: &Context, mut sources: Vec<Source>) -> Result<Vec<Source>> {
    if let Some(text) = request.condition.as_deref() {
        let one = sources.pop().filter(|_| sources.is_empty());
        let one = one.ok_or_else(|| message::NOT_A_TABLE.error())?;
        sources.push(select(one, &[], Some(text), &cx.read_params(), &cx.unfinished)?);
    }
    Ok(sources)
}

/// The named fields of items, or the items themselves.
fn of_items(request: &Request, grid: Rc<Grid>, is_foreign: bool) -> Result<Vec<(String, Numbers)>> {
    let fields = grid.dtype().fields().iter();
    if fields.len() == 0 && (request.x.is_some() || request.condition.is_some()) {
        return Err(message::PLOT_ROWS.error());
    }
    let names = match is_foreign || request.x.is_some() {
        true => chosen(request, fields.map(|field| field.name().to_owned()))?,
        false => request.columns.clone(),
    };
    if names.is_empty() {
        return Ok(vec![(String::new(), Numbers::new(grid, None)?)]);
    }
    let numbers = |name: String| {
        let numbers = Numbers::new(Rc::clone(&grid), Some(&name))?;
        Ok((name, numbers))
    };
    names.into_iter().map(numbers).collect()
}

/// The named columns, with the x axis at the end. Only a table of one column may leave them out.
fn chosen(request: &Request, names: impl Iterator<Item = String>) -> Result<Vec<String>> {
    let x = request.x.as_ref();
    let mut columns = request.columns.clone();
    if columns.is_empty() {
        let names: Vec<String> = names.filter(|name| Some(name) != x).collect();
        if names.len() != 1 {
            return Err(message::CHOOSE_COLUMN.about(names.join(", ")));
        }
        columns = names;
    }
    columns.extend(x.cloned());
    Ok(columns)
}
