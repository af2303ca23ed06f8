//! Conversion to arrays and tables of bcolz: a column for each field of the items, or an array.
//!
//! The writers of bcolz take rows, and make chunks of bcolz's own length unless the settings give
//! one. A data set of bcolz keeps chunk length, parameters, fill value and attributes, for each
//! column.

use std::path::Path;

use bcolz_store::{
    Attrs, CArray, CArrayWriter, CTable, CTableWriter, Cname, CreateOptions, DataSet, Shuffle,
    StorageParams,
};
use blosc_chunk::FilterId;
use blosc_dtype::Dtype;
use blosc_io::tree::DirTree;

use super::{Conversion, OutputFormat, Report, frame::SHAPE};
use crate::content::{Content, Layout, Object, Sink, SinkError};
use crate::error::{Refusal, Result};
use crate::formats::parquet;
use crate::json;
use crate::resources::Resources;

impl Conversion<'_> {
    /// Writes a table, or an array if the items have no fields, to `path`, where nothing is yet.
    pub(super) fn bcolz(&self, path: &Path) -> Result<Report> {
        let layout = self.layout()?;
        if layout.dtype.fields().is_empty() {
            return match self.settings.format {
                OutputFormat::Ctable => Err(Refusal::NoColumns.into()),
                _ => self.carray(&layout, path),
            };
        }
        if layout.shape.len() > 1 {
            return Err(Refusal::NoColumns.into());
        }
        let is_table_instead = self.settings.format == OutputFormat::Carray;
        Ok(Report { is_table_instead, ..self.ctable(&layout, path)? })
    }

    /// Writes a table to a Parquet file at `path`: the table of the input, or a temporary one made
    /// of it.
    pub(super) fn parquet(&self, path: &Path) -> Result<Report> {
        if !cfg!(feature = "parquet") {
            return Err(Refusal::NoParquet.into());
        }
        match self.content {
            Content::Object(Object::Bcolz(set)) if matches!(set.set, DataSet::CTable(_)) => {
                if let DataSet::CTable(table) = set.tuned(&self.settings.resources.decoding())? {
                    parquet::write(&table, path)?;
                }
            }
            Content::Object(Object::Table(rows)) if !rows.is_column() => {
                let station = self.station()?;
                let table = match rows.is_whole() {
                    true => rows.table().clone(),
                    false => self.chosen_table(rows, station.path())?,
                };
                let left_out = parquet::write_table(&table, path)?;
                let left_out = left_out.iter().map(|column| format!("column {column}")).collect();
                return Ok(Report::without(left_out));
            }
            _ => {
                let layout = self.layout()?;
                if layout.dtype.fields().is_empty() || layout.shape.len() > 1 {
                    return Err(Refusal::NoColumns.into());
                }
                let station = self.station()?;
                self.ctable(&layout, station.path())?;
                parquet::write(&CTable::open(station.path())?, path)?;
                let shape = layout.shape.is_empty().then(|| SHAPE.to_owned());
                return Ok(Report::without(shape.into_iter().collect()));
            }
        }
        Ok(Report::default())
    }

    /// Copies columns that the output, a table of bcolz at `path`, lacks. The table then has all
    /// columns of the input in their order.
    ///
    /// # Errors
    ///
    /// Files that cannot be read or written.
    pub fn keep_columns(&self, names: &[String], path: &Path) -> Result<()> {
        let Content::Object(Object::Bcolz(set)) = self.content else { return Ok(()) };
        let to = DirTree::new(path).durability(self.settings.durability);
        names.iter().try_for_each(|name| set.copy_column(name, &to))
    }

    fn carray(&self, layout: &Layout, path: &Path) -> Result<Report> {
        let (rows, inner) = layout.shape.split_first().unwrap_or((&1, &[]));
        let model = self.data_set().and_then(|set| match set {
            DataSet::CArray(array) => Some(array),
            DataSet::CTable(_) => None,
        });
        let options = self.create_options(layout.dtype.clone(), inner, *rows, model)?;
        let mut writer = CArrayWriter::create(path, &options.attrs(self.attributes()?))?;
        let chunklen = writer.chunklen();
        self.each_rows(writer.rowsize(), &mut |rows| Ok(writer.append(rows)?))?;
        writer.finish()?;
        Ok(Report { recompressed: rows.div_ceil(chunklen), ..Report::default() })
    }

    fn ctable(&self, layout: &Layout, path: &Path) -> Result<Report> {
        let rows = layout.shape.first().copied().unwrap_or(1);
        let fields = layout.dtype.fields();
        let mut columns = vec![];
        for field in fields {
            let (dtype, inner) = field.dtype().subarray().unwrap_or((field.dtype(), &[]));
            let model = self.data_set().and_then(|set| match set {
                DataSet::CArray(_) => None,
                DataSet::CTable(table) => table.column(field.name()).ok(),
            });
            let mut options = self.create_options(dtype.clone(), inner, rows, model)?;
            if let Some(column) = model {
                options.attrs = column.attrs()?;
            }
            columns.push((field.name(), options));
        }
        let mut writer = CTableWriter::create(path, &columns)?;
        for (name, value) in self.attributes()?.iter() {
            writer.set_attr(name, value.clone())?;
        }
        let mut parts: Vec<Vec<u8>> = vec![vec![]; fields.len()];
        self.each_rows(layout.dtype.itemsize(), &mut |rows| {
            split(rows, &layout.dtype, &mut parts);
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            Ok(writer.append(&parts)?)
        })?;
        writer.finish()?;
        let table = CTable::open(path)?;
        let recompressed = table.columns().iter().map(|column| column.array.nchunks()).sum();
        Ok(Report { recompressed, ..Report::default() })
    }

    /// Hands over the content in whole rows, some at a time, and reports progress.
    pub(super) fn each_rows(&self, rowsize: usize, sink: Sink<'_>) -> Result<()> {
        each_rows(self.content, &self.settings.resources, rowsize, &mut |rows| {
            (self.progress)(rows.len() as u64);
            sink(rows)
        })
    }

    /// The options of a new array; by default those of the array that it was.
    fn create_options(
        &self,
        dtype: Dtype,
        inner: &[u64],
        rows: u64,
        model: Option<&CArray>,
    ) -> Result<CreateOptions> {
        let compression = &self.settings.compression;
        if compression.block_nbytes.is_some() || compression.blockshape.is_some() {
            return Err(Refusal::BcolzBlocks.into());
        }
        let rowsize = crate::size::nbytes(dtype.itemsize() as u64, inner).max(1);
        let of_nbytes = compression.chunk_nbytes.map(|nbytes| (nbytes / rowsize).max(1));
        let of_shape = compression.chunkshape.as_ref().and_then(|chunks| chunks.first().copied());
        let asked = of_shape.or(of_nbytes);
        let mut options = CreateOptions::new(dtype)
            .row_shape(inner.to_vec())
            .chunklen(asked.or_else(|| model.map(CArray::chunklen)))
            .expectedlen(Some(rows))
            .cparams(self.bcolz_cparams(model.map(CArray::cparams))?);
        // A fill value that does not parse has not filled anything yet.
        let dflt = model.filter(|array| array.dflt_row().is_ok()).and_then(CArray::dflt);
        options.dflt = dflt.cloned();
        options.durability = self.settings.durability;
        options.checksums = self.settings.checksums.unwrap_or_default();
        options.threads = self.settings.resources.decoding().threads;
        Ok(options)
    }

    /// The requested parameters, else those of the source, else the defaults of bcolz.
    fn bcolz_cparams(&self, before: Option<StorageParams>) -> Result<StorageParams> {
        let anew = &self.settings.compression;
        let mut cparams = before.unwrap_or_default();
        if cparams.cname == Cname::Snappy {
            // No current bcolz opens such data sets.
            cparams = cparams.cname(StorageParams::default().cname);
        }
        if let Some(level) = anew.level {
            cparams = cparams.clevel(level.get());
        }
        if anew.is_fast {
            cparams = cparams.cname(Cname::Lz4);
        }
        if let Some((id, _)) = anew.codec {
            let name = id.to_string();
            cparams = cparams.cname(Cname::from_name(&name).ok_or(Refusal::BcolzCodec(name))?);
        }
        if let Some(filter) = anew.filters {
            let ids: Vec<FilterId> = filter.active().map(|slot| slot.id).collect();
            cparams = cparams.shuffle(match ids[..] {
                [] => Shuffle::None,
                [FilterId::SHUFFLE] => Shuffle::Byte,
                [FilterId::BITSHUFFLE] => Shuffle::Bit,
                _ => return Err(Refusal::BcolzFilter(filter.to_string()).into()),
            });
        }
        Ok(cparams)
    }

    /// The loss of a table that becomes an array: the attributes of its columns, even unreadable
    /// ones.
    pub(super) fn lost_of_columns(&self) -> Option<String> {
        let Some(DataSet::CTable(table)) = self.data_set() else { return None };
        let keeps = matches!(
            self.settings.format,
            OutputFormat::Carray | OutputFormat::Ctable | OutputFormat::Parquet
        );
        let has =
            |array: &CArray| array.attrs().map_or(true, |attrs| attrs.iter().next().is_some());
        let lost = !keeps && table.columns().iter().any(|column| has(&column.array));
        lost.then(|| "the attributes of columns".to_owned())
    }

    /// The metadata of the input.
    pub(super) fn attributes(&self) -> Result<Attrs> {
        match self.data_set() {
            Some(DataSet::CArray(array)) => return Ok(array.attrs()?),
            Some(DataSet::CTable(table)) => return Ok(table.attrs()?),
            None => {}
        }
        let mut found = Attrs::default();
        for (name, value) in self.content.metadata()?.without_array().values() {
            found.set(&name, json::attrs::from_value(&value));
        }
        Ok(found)
    }
}

/// Hands over the content in whole rows of `rowsize` bytes, some at a time.
///
/// # Errors
///
/// Content that cannot be read; the error of `sink`.
pub fn each_rows<E: SinkError>(
    content: &Content,
    resources: &Resources,
    rowsize: usize,
    sink: Sink<'_, E>,
) -> Result<(), E> {
    let mut rest: Vec<u8> = Vec::new();
    let piece = ROWS_NBYTES.max(rowsize);
    content.in_c_order(&resources.decoding(), resources.held() / 4, &mut |bytes| {
        for bytes in bytes.chunks(piece) {
            rest.extend_from_slice(bytes);
            if rest.len() >= piece {
                let whole = rest.len() - rest.len() % rowsize.max(1);
                sink(&rest[..whole])?;
                rest.drain(..whole);
            }
        }
        Ok::<(), E>(())
    })?;
    if rest.is_empty() { Ok(()) } else { sink(&rest) }
}

/// Splits rows into the items of each field.
pub fn split(rows: &[u8], dtype: &Dtype, parts: &mut [Vec<u8>]) {
    parts.iter_mut().for_each(Vec::clear);
    for row in rows.chunks_exact(dtype.itemsize().max(1)) {
        for (field, part) in dtype.fields().iter().zip(parts.iter_mut()) {
            part.extend_from_slice(field.bytes_of(row));
        }
    }
}

/// Bytes of rows that are written at once.
const ROWS_NBYTES: usize = 8 << 20;
