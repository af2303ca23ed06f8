//! Tables of stores, column by column: nulls and deleted rows are no values.

use b2store::{ColumnValues, Value, Values};

use super::{
    StatsReport,
    column::{Column, ColumnReport},
};
use crate::{
    args::StatsArgs,
    commands::show::store::shown_dtype,
    context::Context,
    error::Result,
    formats::store::rows::TableRows,
    inputs::{decoded::Guard, origin::Origin},
};

/// A column, and its rows without a value.
struct Looked {
    /// Nothing for text and objects, whose nulls are counted alone.
    numbers: Option<Column>,
    name: String,
    kind: String,
    nulls: u64,
}

/// Looks at the columns of a table, or at one.
pub(super) fn describe(
    args: &StatsArgs,
    cx: &Context,
    origin: &Origin,
    rows: &TableRows,
) -> Result<()> {
    let selected;
    let rows = match args.columns.as_slice() {
        [] => rows,
        names => {
            selected = TableRows::open(rows.table().clone())?.select(names)?;
            &selected
        }
    };
    let (nbytes, stored) = rows.sizes();
    Guard::new(args.limits).admit_bytes(nbytes, stored)?;
    let mut columns: Vec<Looked> = rows.columns().iter().map(Looked::new).collect();
    let each = |columns: &mut [Looked], look: &dyn Fn(&mut Looked, &ColumnValues)| {
        rows.for_each_batch(0..rows.nrows(), &mut |values| {
            columns.iter_mut().zip(&values).for_each(|(column, values)| look(column, values));
            Ok::<(), blosc_data::Error>(())
        })
    };
    each(&mut columns, &Looked::look)?;
    rows.compare_seals()?;
    if let Some(nbins) = args.histogram {
        for column in columns.iter_mut().filter_map(|column| column.numbers.as_mut()) {
            column.start_histogram(nbins);
        }
        each(&mut columns, &|column, values| {
            if let Some(numbers) = &mut column.numbers {
                numbers.count(&items(values), 1);
            }
        })?;
    }
    let name = origin.name();
    let columns = columns.iter().map(Looked::report).collect();
    super::print(
        cx,
        &StatsReport {
            path: &name,
            format: rows.format(),
            dtype: "table".to_owned(),
            shape: None,
            nbytes,
            items: rows.nrows(),
            columns,
        },
    )
}

impl Looked {
    fn new(column: &b2store::Column) -> Self {
        let name = column.spec().name.clone();
        // The items of a row that is an array are values as single ones are.
        let dtype = column.dtype().map(|dtype| shown_dtype(dtype, column.spec()));
        let numbers = dtype.map(|dtype| Column::of_table(&name, dtype.into_owned()));
        let kind = column.spec().json.get("kind").and_then(|kind| kind.as_str());
        Self { numbers, name, kind: kind.unwrap_or("-").to_owned(), nulls: 0 }
    }

    fn look(&mut self, values: &ColumnValues) {
        self.nulls += nulls(values);
        if let Some(numbers) = &mut self.numbers {
            numbers.look(&items(values), 1);
        }
    }

    fn report(&self) -> ColumnReport {
        let report = match &self.numbers {
            Some(numbers) => numbers.report(),
            None => ColumnReport::of_kind(&self.name, &self.kind),
        };
        ColumnReport { nulls: Some(self.nulls), ..report }
    }
}

fn nulls(values: &ColumnValues) -> u64 {
    let marked = values.valid.iter().flatten().filter(|is_valid| !**is_valid).count();
    let objects = match (&values.values, &values.valid) {
        (Values::Objects(objects), None) => {
            objects.iter().filter(|value| matches!(value, Value::Nil)).count()
        }
        _ => 0,
    };
    (marked + objects) as u64
}

/// The items of the rows that have a value.
fn items(values: &ColumnValues) -> std::borrow::Cow<'_, [u8]> {
    let Values::Fixed { bytes, .. } = &values.values else { return (&[][..]).into() };
    match &values.valid {
        None => bytes.into(),
        Some(valid) => {
            let rowsize = bytes.len().checked_div(valid.len()).unwrap_or(0).max(1);
            let rows = bytes.chunks_exact(rowsize).zip(valid);
            let kept = rows.filter(|(_, is_valid)| **is_valid).flat_map(|(row, _)| row);
            kept.copied().collect::<Vec<u8>>().into()
        }
    }
}
