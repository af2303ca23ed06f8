//! Tables as files of Parquet, and files of Parquet as tables (feature `parquet`).
//!
//! Both use the record batches and the types of [`arrow`](crate::arrow). A file is written in
//! groups of rows, and read in batches; memory holds one of them. The file keeps the schema of
//! Arrow with its metadata, so dtypes and attributes survive; programs that do not know bcolz see
//! plain columns.
//!
//! ```
//! use bcolz_store::parquet::{self, WriteOptions};
//! # use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype};
//!
//! # let dir = tempfile::tempdir()?;
//! # let [root, file, again] =
//! #     ["trades", "trades.parquet", "again"].map(|name| dir.path().join(name));
//! # let price = CreateOptions::new(Dtype::parse("int16")?);
//! # let mut writer = CTableWriter::create(&root, &[("price", price)])?;
//! # writer.append(&[&[10, 0, 20, 0, 30, 0]])?;
//! # writer.finish()?;
//! let table = CTable::open(root)?;
//! let batches = table.scan().filter("price > 10")?.record_batches()?;
//! let sink = std::fs::File::create(&file)?;
//! assert_eq!(parquet::write(batches, sink, &WriteOptions::default())?, 2);
//!
//! parquet::read(&std::fs::File::open(&file)?, &again, &|_, options| options)?;
//! assert_eq!(CTable::open(&again)?.column("price")?.read_as::<i16>(0..2)?, [20, 30]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use ::parquet::arrow::{ArrowWriter, ProjectionMask};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::arrow::{Columns, RecordBatches};
use crate::create::CreateOptions;
use crate::ctable_writer::CTableWriter;
use crate::error::{Error, Result};

/// Options for writing a file of Parquet.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Rows of a group at most. Default: 2^20, which is Parquet's.
    pub group_rows: usize,
    /// Bytes of a group in the file at most. Default: 64 MiB.
    pub group_nbytes: usize,
    /// Whether pages are compressed, with Snappy. Default: yes.
    pub is_compressed: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { group_rows: 1 << 20, group_nbytes: 64 << 20, is_compressed: true }
    }
}

/// One method for each field, to be chained.
impl WriteOptions {
    /// Sets the most rows of a group, at least one.
    #[must_use]
    pub const fn group_rows(self, group_rows: usize) -> Self {
        Self { group_rows, ..self }
    }

    /// Sets the most bytes of a group, at least one.
    #[must_use]
    pub const fn group_nbytes(self, group_nbytes: usize) -> Self {
        Self { group_nbytes, ..self }
    }

    /// Sets whether pages are compressed.
    #[must_use]
    pub const fn is_compressed(self, is_compressed: bool) -> Self {
        Self { is_compressed, ..self }
    }
}

/// Writes record batches as a file; returns the number of rows.
///
/// # Errors
///
/// The errors of the batches; [`Error::Parquet`] if they cannot be written.
pub fn write(
    batches: RecordBatches<'_>,
    to: impl Write + Send,
    options: &WriteOptions,
) -> Result<u64> {
    write_batches(&batches.schema(), batches, to, options)
}

/// Writes record batches of any origin, all of this schema, as a file; returns the number of rows.
///
/// # Errors
///
/// The errors of the batches; [`Error::Parquet`] if they cannot be written.
pub fn write_batches<E: From<Error>>(
    schema: &SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    to: impl Write + Send,
    options: &WriteOptions,
) -> Result<u64, E> {
    let compression =
        if options.is_compressed { Compression::SNAPPY } else { Compression::UNCOMPRESSED };
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(options.group_rows.max(1)))
        .set_max_row_group_bytes(Some(options.group_nbytes.max(1)))
        .build();
    let writer = ArrowWriter::try_new(to, Arc::clone(schema), Some(properties));
    let mut writer = writer.map_err(Error::from)?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        writer.write(&batch).map_err(Error::from)?;
        rows = u64::saturating_add(rows, batch.num_rows() as u64);
    }
    writer.close().map_err(Error::from)?;
    Ok(rows)
}

/// Makes a table from a file, in the new directory `rootdir`; returns the number of rows.
///
/// `tune` gets the name and the options of each column, and may change all options but the type and
/// shape of the items. Strings without a known length are read twice, first to find the longest.
///
/// # Errors
///
/// [`Error::Parquet`] if the file is not one of Parquet; columns without a counterpart, missing
/// values; the errors of making a table.
pub fn read(
    from: &File,
    rootdir: impl AsRef<Path>,
    tune: &dyn Fn(&str, CreateOptions) -> CreateOptions,
) -> Result<u64> {
    let builder = open(from)?;
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let mut columns = Columns::new(builder.schema())?;
    let unknown: Vec<usize> = columns.unknown().collect();
    if !unknown.is_empty() {
        let mask = ProjectionMask::roots(builder.parquet_schema(), unknown);
        for batch in builder.with_projection(mask).build()? {
            columns.observe(&batch?)?;
        }
    }
    let options = columns.options()?;
    let tuned = options.into_iter().map(|(name, options)| {
        let options = tune(&name, options.expectedlen(Some(rows)));
        (name, options)
    });
    let tuned: Vec<(String, CreateOptions)> = tuned.collect();
    let named: Vec<(&str, CreateOptions)> =
        tuned.iter().map(|(name, options)| (name.as_str(), options.clone())).collect();
    let mut writer = CTableWriter::create(rootdir, &named)?;
    let rows = append(&mut writer, open(from)?.build()?)?;
    for (name, value) in columns.attrs().iter() {
        writer.set_attr(name, value.clone())?;
    }
    writer.finish()?;
    Ok(rows)
}

/// The schema of a file and its rows, in batches of bounded size.
///
/// # Errors
///
/// [`Error::Parquet`] if the file is not one of Parquet; for a batch, if it cannot be decoded.
pub fn batches(
    from: &File,
) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + use<>)> {
    let builder = open(from)?;
    let schema = Arc::clone(builder.schema());
    let batches = builder.build()?;
    Ok((schema, batches.map(|batch| Ok(batch?))))
}

/// Appends the rows of a file to a table; returns their number. The caller flushes them.
///
/// # Errors
///
/// As [`CTableWriter::append_batch`], and [`Error::Parquet`].
pub fn append_file(writer: &mut CTableWriter, from: &File) -> Result<u64> {
    append(writer, open(from)?.build()?)
}

fn append(writer: &mut CTableWriter, batches: ParquetRecordBatchReader) -> Result<u64> {
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        writer.append_batch(&batch)?;
        rows = u64::saturating_add(rows, batch.num_rows() as u64);
    }
    Ok(rows)
}

/// Opens the file at its start, to be read in batches.
fn open(from: &File) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let file =
        from.try_clone().map_err(|error| Error::Parquet(ParquetError::External(error.into())))?;
    Ok(ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(BATCH_ROWS))
}

/// Rows that are read together.
const BATCH_ROWS: usize = 1 << 16;
