//! Writers of rows.

use std::io::Write;

use datafusion::arrow::array::Array as _;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
#[cfg(feature = "parquet")]
use datafusion::parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};

use crate::Format;

/// The output.
pub(crate) type Out = Box<dyn Write + Send>;

/// Writes rows, batch by batch.
pub(crate) enum RowWriter {
    /// Holds all rows.
    Table(Out, Vec<RecordBatch>),
    Csv(Out),
    Json(Out),
    #[cfg(feature = "parquet")]
    Parquet(Box<ArrowWriter<Out>>),
}

impl RowWriter {
    pub(crate) fn new(format: Format, mut out: Out, schema: &SchemaRef) -> Result<Self> {
        Ok(match format {
            Format::Table => Self::Table(out, vec![RecordBatch::new_empty(schema.clone())]),
            Format::Csv => {
                let names = schema.fields().iter().map(|field| quoted(field.name()));
                writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
                Self::Csv(out)
            }
            Format::Json => Self::Json(out),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let zstd = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(zstd).build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
                Self::Parquet(Box::new(writer))
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                let what = "this build was made without the feature `parquet`".to_owned();
                return Err(datafusion::error::DataFusionError::NotImplemented(what));
            }
        })
    }

    pub(crate) fn write(&mut self, batch: RecordBatch) -> Result<()> {
        match self {
            Self::Table(_, held) => held.push(batch),
            Self::Csv(out) => write_csv(out, &batch)?,
            Self::Json(out) => LineDelimitedWriter::new(out).write(&batch)?,
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.write(&batch)?,
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Table(mut out, held) => {
                writeln!(out, "{}", pretty_format_batches(&held)?)?;
                Ok(out.flush()?)
            }
            Self::Csv(mut out) | Self::Json(mut out) => Ok(out.flush()?),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => Ok(writer.into_inner()?.flush()?),
        }
    }
}

/// Writes rows as lines of values. The writer of Arrow writes nulls and empty texts alike.
fn write_csv(out: &mut impl Write, batch: &RecordBatch) -> Result<()> {
    let options = FormatOptions::default();
    let columns = batch.columns().iter().map(|column| {
        let is_text =
            matches!(column.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        Ok((column, is_text, ArrayFormatter::try_new(column, &options)?))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        for (n, (column, is_text, format)) in columns.iter().enumerate() {
            if n > 0 {
                out.write_all(b",")?;
            }
            if column.is_null(row) {
                continue;
            }
            let text = format.value(row).try_to_string()?;
            match *is_text && text.is_empty() {
                true => out.write_all(b"\"\"")?,
                false => out.write_all(quoted(&text).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A value in quotes, if a reader would take it for several values.
fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int32Array, StringViewArray};

    use super::*;

    #[test]
    fn nulls_and_empty_texts_differ() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
        let texts: ArrayRef =
            Arc::new(StringViewArray::from(vec![Some("a,\"b\""), None, Some("")]));
        let batch = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
        let mut out = vec![];
        write_csv(&mut out, &batch).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "1,\"a,\"\"b\"\"\"\n,\n3,\"\"\n");
    }
}
