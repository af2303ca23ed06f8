//! Conversion to comma-separated values: a line with the names of the fields or the numbers of the
//! columns, then a line per row.

use std::{fs::File, io, path::Path};

use b2store::ColumnValues;
use csv::{Writer, WriterBuilder};

use super::{Conversion, Report, frame::SHAPE};
use crate::cells::{Rows, cell};
use crate::content::{TableRows, rows::is_text};
use crate::error::{Doing, Error, Result};

/// A file of comma-separated values, row by row.
struct Table<'a> {
    out: Writer<File>,
    path: &'a Path,
}

impl<'a> Table<'a> {
    fn create(path: &'a Path) -> Result<Self> {
        let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
        let out = WriterBuilder::new().buffer_capacity(1 << 20).from_writer(file);
        Ok(Self { out, path })
    }

    fn write<T: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = T>) -> Result<()> {
        let written = self.out.write_record(cells).map_err(io::Error::from);
        written.map_err(Error::io_at(Doing::Write, self.path))
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(Error::io_at(Doing::Write, self.path))
    }
}

impl Conversion<'_> {
    /// Writes rows to `path`.
    pub(super) fn csv(&self, path: &Path) -> Result<Report> {
        if let Some(rows) = self.content.rows() {
            return self.csv_of_cells(rows, path);
        }
        let layout = self.layout()?;
        let columns = Rows::new(&layout.dtype, &layout.shape);
        let mut out = Table::create(path)?;
        let names = match (columns.names(), &self.settings.column) {
            (names, Some(name)) if names.len() == 1 => vec![name.clone()],
            (names, _) => names,
        };
        out.write(names)?;
        self.each_rows(columns.nbytes(), &mut |rows| {
            let mut rows = rows.chunks_exact(columns.nbytes());
            rows.try_for_each(|row| out.write(columns.cells(row)))
        })?;
        out.finish()?;
        let lines = if layout.dtype.fields().is_empty() { 1..=2 } else { 1..=1 };
        let shape = (!lines.contains(&layout.shape.len())).then(|| SHAPE.to_owned());
        let metadata = self.content.metadata()?.without_array().names();
        Ok(Report::without(shape.into_iter().chain(metadata).collect()))
    }

    /// Writes the cells of a table of a store; nulls are empty.
    fn csv_of_cells(&self, rows: &TableRows, path: &Path) -> Result<Report> {
        let mut out = Table::create(path)?;
        let names = rows.columns().iter().map(|column| column.spec().name.as_str());
        out.write(names)?;
        let (nbytes, nrows) = (rows.sizes().0, rows.nrows().max(1));
        let mut nulls = vec![false; rows.columns().len()];
        rows.for_each_batch(0..rows.nrows(), &mut |values| {
            let count = values.first().map_or(0, ColumnValues::len);
            for row in 0..count {
                let cells = values.iter().zip(rows.columns());
                out.write(cells.map(|(values, column)| cell(values, &column.spec().kind, row)))?;
            }
            for (nulls, values) in nulls.iter_mut().zip(&values) {
                *nulls |= values.valid.is_some();
            }
            (self.progress)(nbytes / nrows * count as u64);
            Ok::<(), Error>(())
        })?;
        out.finish()?;
        // Empty text and null give the same line.
        let lost = rows.columns().iter().zip(nulls);
        let lost = lost.filter(|(column, nulls)| *nulls && is_text(&column.spec().kind));
        let lost = lost.map(|(column, _)| format!("the nulls of column `{}`", column.spec().name));
        Ok(Report::without(lost.chain(self.content.metadata()?.names()).collect()))
    }
}
