//! To arrays and tables of bcolz: one with a column for each field of the items, or an array.
//!
//! The writers of bcolz take rows and make chunks of them, as long as bcolz would make them unless
//! `--chunks` was given. A data set of bcolz keeps its chunks' length and
//! parameters, fill values and attributes, each column its own.

use std::path::Path;

use bcolz_store::{
    Attrs, CArray, CArrayWriter, CTableWriter, Cname, CreateOptions, DataSet, Durability, Shuffle,
    StorageParams,
};
use blosc_chunk::FilterId;
use blosc_data::formats::parquet;
use blosc_dtype::Dtype;

use super::{
    Done, Work,
    source::{Layout, Source},
};
use crate::{
    args::ConvertedFormat,
    context::Context,
    error::{Result, message},
    inputs::{Object, Sink},
    output::Staged,
};

impl Work<'_> {
    /// Writes a table, or an array if the items have no fields, to `path`, where nothing is yet.
    pub(super) fn bcolz(&self, path: &Path) -> Result<Done> {
        let layout = self.layout()?;
        if layout.dtype.fields().is_empty() {
            return match self.format {
                ConvertedFormat::Ctable => Err(message::NO_COLUMNS.error()),
                _ => self.carray(&layout, path),
            };
        }
        if layout.shape.len() > 1 {
            return Err(message::NO_COLUMNS.error());
        }
        if self.args.format == Some(ConvertedFormat::Carray) {
            let text = "written as a table, since the items have fields";
            self.cx.console.warning(&self.origin.name(), text);
        }
        self.ctable(&layout, path)
    }

    /// Writes a table for Parquet to `path`: that of the input, or one that is made of it for a
    /// while.
    pub(super) fn parquet(&self, path: &Path) -> Result<Done> {
        if !cfg!(feature = "parquet") {
            return Err(message::NO_PARQUET.error());
        }
        match &self.source {
            Source::Object(Object::Bcolz(set)) if matches!(set.set, DataSet::CTable(_)) => {
                if let DataSet::CTable(table) = set.tuned(&self.cx.read_options())? {
                    parquet::write(&table, path)?;
                }
            }
            Source::Object(Object::Table(rows)) if !rows.is_column() => {
                let station = Staged::for_stream(&self.cx.unfinished)?;
                let table = match rows.is_whole() {
                    true => rows.table().clone(),
                    false => self.chosen_table(rows, station.path())?,
                };
                let left_out = parquet::write_table(&table, path)?;
                let left_out = left_out.iter().map(|column| format!("column {column}")).collect();
                return Ok(Done { left_out, ..Done::default() });
            }
            _ => {
                let layout = self.layout()?;
                if layout.dtype.fields().is_empty() || layout.shape.len() > 1 {
                    return Err(message::NO_COLUMNS.error());
                }
                let station = Staged::for_stream(&self.cx.unfinished)?;
                self.ctable(&layout, station.path())?;
                parquet::write(&bcolz_store::CTable::open(station.path())?, path)?;
            }
        }
        Ok(Done::default())
    }

    fn carray(&self, layout: &Layout, path: &Path) -> Result<Done> {
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
        Ok(Done { recompressed: rows.div_ceil(chunklen), ..Done::default() })
    }

    fn ctable(&self, layout: &Layout, path: &Path) -> Result<Done> {
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
        let table = bcolz_store::CTable::open(path)?;
        let recompressed = table.columns().iter().map(|column| column.array.nchunks()).sum();
        Ok(Done { recompressed, ..Done::default() })
    }

    /// Hands over the content in whole rows, some at a time.
    pub(super) fn each_rows(&self, rowsize: usize, sink: Sink<'_>) -> Result<()> {
        each_rows(&self.source, self.cx, rowsize, &mut |rows| {
            self.progress.add(rows.len() as u64);
            sink(rows)
        })
    }

    /// How to make an array, by default like the array that it was before.
    fn create_options(
        &self,
        dtype: Dtype,
        inner: &[u64],
        rows: u64,
        model: Option<&CArray>,
    ) -> Result<CreateOptions> {
        let durability =
            if self.output.no_sync { Durability::ProcessDeath } else { Durability::PowerLoss };
        let asked = self.args.anew.chunks.as_ref().and_then(|chunks| chunks.0.first().copied());
        let mut options = CreateOptions::new(dtype)
            .row_shape(inner.to_vec())
            .chunklen(asked.or_else(|| model.map(CArray::chunklen)))
            .expectedlen(Some(rows))
            .cparams(self.bcolz_cparams(model.map(CArray::cparams))?);
        // One that makes no sense has filled nothing yet.
        let dflt = model.filter(|array| array.dflt_row().is_ok()).and_then(CArray::dflt);
        options.dflt = dflt.cloned();
        options.durability = durability;
        options.checksums = self.seal().unwrap_or_default();
        options.threads = self.cx.read_options().threads;
        Ok(options)
    }

    /// The requested parameters, else those of the source, else those of bcolz.
    fn bcolz_cparams(&self, before: Option<StorageParams>) -> Result<StorageParams> {
        let anew = &self.args.anew;
        let mut cparams = before.unwrap_or_default();
        if cparams.cname == Cname::Snappy {
            // No bcolz of today opens such data sets.
            cparams = cparams.cname(StorageParams::default().cname);
        }
        if anew.level.given {
            cparams = cparams.clevel(anew.level.level.get());
        }
        if let Some(choice) = anew.codec {
            let name = choice.id.to_string();
            cparams =
                cparams.cname(Cname::from_name(&name).ok_or(message::BCOLZ_CODEC.about(name))?);
        }
        if let Some(filter) = anew.filter {
            let ids: Vec<FilterId> = filter.active().map(|slot| slot.id).collect();
            cparams = cparams.shuffle(match ids[..] {
                [] => Shuffle::None,
                [FilterId::SHUFFLE] => Shuffle::Byte,
                [FilterId::BITSHUFFLE] => Shuffle::Bit,
                _ => return Err(message::BCOLZ_FILTER.about(filter)),
            });
        }
        Ok(cparams)
    }

    /// The data set that the input is.
    pub(super) fn data_set(&self) -> Option<&DataSet> {
        match &self.source {
            Source::Object(Object::Bcolz(set)) => Some(&set.set),
            _ => None,
        }
    }

    /// What is lost of a table where there are no columns: their attributes, even if nobody can
    /// read them.
    pub(super) fn lost_of_columns(&self) -> Option<String> {
        let Some(DataSet::CTable(table)) = self.data_set() else { return None };
        let keeps = matches!(
            self.format,
            ConvertedFormat::Carray | ConvertedFormat::Ctable | ConvertedFormat::Parquet
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
        for (name, value) in self.source.metadata()?.without_array().values() {
            found.set(&name, blosc_data::json::attrs::from_value(&value));
        }
        Ok(found)
    }
}

/// Hands over the content of `source` in whole rows of `rowsize` bytes, some at a time.
pub(crate) fn each_rows(
    source: &Source,
    cx: &Context,
    rowsize: usize,
    sink: Sink<'_>,
) -> Result<()> {
    let mut rest: Vec<u8> = Vec::new();
    let piece = ROWS_NBYTES.max(rowsize);
    source.in_c_order(&cx.read_options(), cx.memory() / 4, &mut |bytes| {
        for bytes in bytes.chunks(piece) {
            rest.extend_from_slice(bytes);
            if rest.len() >= piece {
                let whole = rest.len() - rest.len() % rowsize.max(1);
                sink(&rest[..whole])?;
                rest.drain(..whole);
            }
        }
        Ok::<(), crate::error::Error>(())
    })?;
    if rest.is_empty() { Ok(()) } else { sink(&rest) }
}

/// The rows of each field, one after the other.
pub(crate) fn split(rows: &[u8], dtype: &Dtype, parts: &mut [Vec<u8>]) {
    parts.iter_mut().for_each(Vec::clear);
    for row in rows.chunks_exact(dtype.itemsize().max(1)) {
        for (field, part) in dtype.fields().iter().zip(parts.iter_mut()) {
            part.extend_from_slice(field.bytes_of(row));
        }
    }
}

/// Bytes of rows that are written at once.
const ROWS_NBYTES: usize = 8 << 20;
