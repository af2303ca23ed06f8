//! The numbers of an input, as columns with names.

use std::rc::Rc;

use b2_plot::AxisRange;
use bcolz_store::DataSet;

use super::{Request, labels::Labels};
use crate::{
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
    render::escape::harmless,
};

/// The numbers of an input: columns with their names, or one without.
pub(super) struct Series {
    pub(super) columns: Vec<(String, Numbers)>,
    pub(super) labels: Labels,
    /// Bytes that the input takes.
    pub(super) stored: u64,
    is_table: bool,
    /// What columns are read from: a temporary table goes with it.
    _sources: Vec<Source>,
}

impl Series {
    /// Opens an input.
    ///
    /// # Errors
    ///
    /// When there are no numbers in it, or it cannot be opened.
    pub(super) fn open(request: &Request, cx: &Context, origin: &Origin) -> Result<Self> {
        if let Some(table) = store::table(origin, cx.read_params())? {
            let names = table.schema().columns.iter().map(|column| column.name.clone());
            let wanted = chosen(request, names)?;
            let grid = |name: &String| {
                let grid = Rc::new(Grid::from_table(cx, &table, name)?);
                Ok((name.clone(), Numbers::new(grid, None)?))
            };
            let columns = wanted.iter().map(grid).collect::<Result<_>>()?;
            let (_, stored) = store::table_sizes(&table)?;
            let labels = Labels::default();
            return Ok(Self { columns, labels, stored, is_table: true, _sources: vec![] });
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
            let wanted = chosen(request, table.names().map(str::to_owned))?;
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
        let grid = Rc::new(Grid::new(cx, origin, request.dtype.as_ref(), sources)?);
        let names = match is_foreign {
            true => {
                let fields = grid.dtype().fields().iter();
                chosen(request, fields.map(|field| field.name().to_owned()))?
            }
            false => request.columns.clone(),
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
            None if self.is_table => "row".to_owned(),
            None => format!("dimension {dim}"),
        };
        (range, label)
    }

    /// What the values are called, with their unit.
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

/// The columns that were named; a table has to have some named, unless it has only one.
fn chosen(request: &Request, names: impl Iterator<Item = String>) -> Result<Vec<String>> {
    if !request.columns.is_empty() {
        return Ok(request.columns.clone());
    }
    let names: Vec<String> = names.collect();
    match &names[..] {
        [_] => Ok(names),
        _ => Err(message::CHOOSE_COLUMN.about(names.join(", "))),
    }
}
