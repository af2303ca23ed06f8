//! Rows after the last of a table of a store, and data at the end of one of its values.
//!
//! The store is written once, when all rows are in: it is the old or the new one whatever happens.

use b2store::{Column, ColumnKind, ColumnValues, RowAppender, StoreWriter, Value, WriteOptions};
use blosc_data::{
    columns::Rule,
    convert::{each_rows, split},
    error::Refusal,
};
use blosc_dtype::{Dtype, Kind};

use super::{Grown, Input, Work};
use crate::{
    error::{Result, message},
    formats::{TableRows, store::table_sizes},
};

/// One column of the new rows: its place among the fields, and how its items become values.
struct Field<'a> {
    column: &'a Column,
    position: usize,
    rule: Rule,
}

impl Work<'_> {
    fn store_writer(&self) -> Result<StoreWriter> {
        let options = WriteOptions::default().wait(self.cx.lock_wait(self.args.lock));
        Ok(StoreWriter::open_with(self.path, &options)?)
    }

    /// Data at the end of a value, or along a dimension of an array.
    pub(super) fn append_to_value(&self, key: &str, is_array: bool) -> Result<Grown> {
        let mut writer = self.store_writer()?;
        let mut grown = Grown { nbytes: 0, shape: None };
        if is_array {
            writer.edit_array(key, |array| {
                grown = self.append_to_array(array)?;
                Ok::<_, crate::error::Error>(())
            })?;
        } else {
            writer.edit_schunk(key, |schunk| {
                self.append_content(schunk)?;
                grown.nbytes = schunk.nbytes();
                Ok::<_, crate::error::Error>(())
            })?;
        }
        writer.commit()?;
        Ok(grown)
    }

    /// Rows of other tables, of arrays with fields or of text, whose columns are found by name.
    pub(super) fn append_to_table(&self, rows: &TableRows) -> Result<Grown> {
        self.check_axis(1)?;
        let key = rows.table().key();
        let mut writer = self.store_writer()?;
        let mut appender = writer.append_to_table(key)?;
        for input in &self.inputs {
            match input.source.rows() {
                Some(new) => rows_of_store(&mut appender, rows, new)?,
                None => self.rows_with_fields(&mut appender, rows, input)?,
            }
        }
        appender.finish()?;
        let table = writer.commit()?.table(key)?;
        Ok(Grown { nbytes: table_sizes(&table)?.0, shape: Some(vec![table.len()?]) })
    }

    /// Rows with fields, as arrays of NumPy, tables of bcolz and text have them.
    fn rows_with_fields(
        &self,
        appender: &mut RowAppender<'_>,
        rows: &TableRows,
        input: &Input,
    ) -> Result<()> {
        let layout = input.source.layout()?.filter(|_| input.is_array);
        let layout = layout.ok_or(blosc_data::Error::from(Refusal::NoColumns))?;
        let fields = fields(rows, &layout.dtype)?;
        let mut parts = vec![vec![]; layout.dtype.fields().len()];
        each_rows(&input.source, self.cx.resources(), layout.dtype.itemsize(), &mut |bytes| {
            self.progress.add(bytes.len() as u64);
            let count = bytes.len() / layout.dtype.itemsize().max(1);
            split(bytes, &layout.dtype, &mut parts);
            let values = fields.iter().map(|field| {
                let part = parts.get(field.position).cloned().unwrap_or_default();
                field.values(part, count)
            });
            Ok(appender.append(&values.collect::<Result<Vec<_>>>()?)?)
        })
    }
}

/// Appends the rows of a table of a store.
fn rows_of_store(appender: &mut RowAppender<'_>, rows: &TableRows, new: &TableRows) -> Result<()> {
    let positions = rows.columns().iter().map(|column| {
        let name = &column.spec().name;
        let found = new.columns().iter().position(|column| column.spec().name == *name);
        found.ok_or_else(|| message::LACKS_COLUMN.about(name))
    });
    let positions = positions.collect::<Result<Vec<_>>>()?;
    new.for_each_batch(0..new.nrows(), &mut |values| {
        let mut values: Vec<Option<ColumnValues>> = values.into_iter().map(Some).collect();
        let ordered: Vec<ColumnValues> = positions
            .iter()
            .filter_map(|position| values.get_mut(*position).and_then(Option::take))
            .collect();
        Ok(appender.append(&ordered)?)
    })
}

/// The field of each column of a table.
fn fields<'a>(rows: &'a TableRows, dtype: &Dtype) -> Result<Vec<Field<'a>>> {
    let of_column = |column: &'a Column| {
        let name = &column.spec().name;
        let position = dtype.fields().iter().position(|field| field.name() == name);
        let position = position.ok_or_else(|| message::LACKS_COLUMN.about(name))?;
        let found = dtype.fields()[position].dtype();
        let (item, inner) = found.subarray().unwrap_or((found, &[]));
        Ok(Field { column, position, rule: Rule::of_items(name, item, inner)? })
    };
    rows.columns().iter().map(of_column).collect()
}

impl Field<'_> {
    /// The items of a field as values of the column.
    fn values(&self, items: Vec<u8>, count: usize) -> Result<ColumnValues> {
        let spec = self.column.spec();
        let values = self.rule.values(&spec.name, items, count)?;
        let cells = || (0..count).map(|row| values.value(row));
        match spec.kind {
            ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                let texts = cells().map(|cell| match cell {
                    Value::Str(text) => Some(text),
                    Value::Bytes(bytes) => String::from_utf8(bytes).ok(),
                    _ => None,
                });
                let texts: Option<Vec<String>> = texts.collect();
                let texts = texts.ok_or_else(|| message::NO_TEXT.about(&spec.name))?;
                Ok(ColumnValues::text(texts.iter().map(String::as_str)))
            }
            ColumnKind::VlBytes => Ok(ColumnValues::objects(cells())),
            ColumnKind::String | ColumnKind::Bytes => self.padded(values),
            _ => Ok(values),
        }
    }

    /// Text as wide as that of the column.
    fn padded(&self, values: ColumnValues) -> Result<ColumnValues> {
        let (b2store::Values::Fixed { dtype, bytes, .. }, Some(wanted)) =
            (&values.values, self.column.dtype())
        else {
            return Ok(values);
        };
        let is_text = matches!(dtype.kind(), Some(Kind::Unicode | Kind::Bytes));
        let (width, size) = (dtype.itemsize(), wanted.itemsize());
        if !is_text || dtype.kind() != wanted.kind() || width == size {
            return Ok(values);
        }
        let mut padded = Vec::with_capacity(bytes.len() / width.max(1) * size);
        for item in bytes.chunks_exact(width.max(1)) {
            let (kept, cut) = item.split_at(width.min(size));
            if cut.iter().any(|byte| *byte != 0) {
                return Err(message::TEXT_TOO_LONG.about(&self.column.spec().name));
            }
            padded.extend_from_slice(kept);
            padded.resize(padded.len() + size - kept.len(), 0);
        }
        Ok(ColumnValues::fixed(wanted.clone(), padded))
    }
}
