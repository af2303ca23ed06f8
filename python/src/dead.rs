//! Files of the packages bloscpack and bcolz, for `blosckit.bloscpack` and `blosckit.bcolz`.

use std::path::PathBuf;
use std::sync::Mutex;

use bcolz_store::{CArrayWriter, CTableWriter, Cname, CreateOptions, Shuffle, StorageParams};
use blosc_chunk::Target;
use blosc_data::Dtype;
use bloscpack::numpy::{ArrayInfo, Order};
use bloscpack::{BlpFile, Checksum, WriteOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{busy, param, raise, raise_at};
use crate::memory::Input;
use crate::params;
use crate::source::BufferSource;

/// How a Bloscpack file is written.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct BlpOptions {
    codec: String,
    level: i64,
    shuffle: String,
    typesize: usize,
    chunksize: u32,
    checksum: String,
    offsets: bool,
    /// A text of JSON.
    metadata: Option<String>,
    /// Type and shape of an array.
    array: Option<(String, Vec<u64>)>,
}

impl BlpOptions {
    fn write_options(&self) -> PyResult<WriteOptions> {
        let cparams = params::cparams(&self.codec, self.level, &self.shuffle, self.typesize, 0)?;
        let checksum: Checksum = self.checksum.parse().map_err(|_| param("no such checksum"))?;
        let metadata = self.metadata.as_deref().map(serde_json::from_str).transpose();
        let metadata = metadata.map_err(|error| param(error.to_string()))?;
        let options = WriteOptions::default()
            .cparams(cparams.target(Target::Blosc1_11))
            .chunksize(self.chunksize)
            .checksum(checksum)
            .offsets(self.offsets)
            .metadata(metadata);
        let Some((dtype, shape)) = &self.array else { return Ok(options) };
        let dtype = Dtype::parse(dtype).map_err(|error| param(error.to_string()))?;
        let info = ArrayInfo::new(dtype, shape.clone(), Order::C);
        let options = info.and_then(|info| bloscpack::numpy::array_options(&info, options));
        options.map_err(|error| raise(blosc_data::Error::from(error)))
    }
}

/// Bytes, or the items of an array, as a Bloscpack file.
#[pyfunction]
fn blp_pack<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    options: BlpOptions,
) -> PyResult<Bound<'py, PyBytes>> {
    let (input, options) = (Input::get(data)?, options.write_options()?);
    let bytes = input.bytes();
    let packed = py.detach(|| bloscpack::pack(bytes, options));
    let packed = packed.map_err(|error| raise(blosc_data::Error::from(error)))?;
    Ok(PyBytes::new(py, &packed))
}

/// The bytes of a Bloscpack file, and its metadata as a text of JSON.
#[pyfunction]
fn blp_unpack<'py>(
    py: Python<'py>,
    blp: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyBytes>, Option<String>)> {
    let input = Input::get(blp)?;
    let unpacked = py.detach(|| {
        let file = BlpFile::new(BufferSource(input))?;
        let mut data = vec![];
        file.copy_to(0..file.nchunks()?, &mut data)?;
        let metadata = file.metadata().and_then(|found| found.json()).map(ToString::to_string);
        Ok::<_, bloscpack::Error>((data, metadata))
    });
    let (data, metadata) = unpacked.map_err(|error| raise(blosc_data::Error::from(error)))?;
    Ok((PyBytes::new(py, &data), metadata))
}

enum Rows {
    Array(Box<CArrayWriter>),
    Table(CTableWriter),
}

/// An array or a table of bcolz under way.
#[pyclass(frozen, module = "blosckit._native")]
struct BcolzWriter {
    rows: Mutex<Option<Rows>>,
    name: String,
}

/// How the arrays of bcolz are made.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct BcolzOptions {
    cname: String,
    clevel: u8,
    shuffle: u8,
    quantize: u8,
    expectedlen: Option<u64>,
    chunklen: Option<u64>,
    /// The value that resizing fills with, as a text of JSON.
    dflt: Option<String>,
}

impl BcolzOptions {
    /// The options for a column of a type and a shape of its rows.
    fn create_options(&self, dtype: &str, row_shape: Vec<u64>) -> PyResult<CreateOptions> {
        let dtype = Dtype::parse(dtype).map_err(|error| param(error.to_string()))?;
        let cname = Cname::from_name(&self.cname);
        let cname = cname.ok_or_else(|| param(format!("no codec {:?}", self.cname)))?;
        let shuffle = match self.shuffle {
            0 => Shuffle::None,
            1 => Shuffle::Byte,
            2 => Shuffle::Bit,
            other => return Err(param(format!("shuffle {other}: 0, 1 or 2"))),
        };
        let cparams = StorageParams::default().cname(cname).clevel(self.clevel).shuffle(shuffle);
        let dflt = self.dflt.as_deref().map(|text| blosc_dtype::json::parse(text.as_bytes()));
        let dflt = dflt.transpose().map_err(|error| param(error.to_string()))?;
        Ok(CreateOptions::new(dtype)
            .row_shape(row_shape)
            .cparams(cparams.quantize(self.quantize))
            .expectedlen(self.expectedlen)
            .chunklen(self.chunklen)
            .dflt(dflt))
    }
}

#[pymethods]
impl BcolzWriter {
    /// A new array.
    #[staticmethod]
    fn create_array(
        py: Python<'_>,
        path: PathBuf,
        dtype: &str,
        row_shape: Vec<u64>,
        options: BcolzOptions,
    ) -> PyResult<Self> {
        let options = options.create_options(dtype, row_shape)?;
        let writer = py.detach(|| {
            CArrayWriter::create(&path, &options).map(|rows| Rows::Array(Box::new(rows)))
        });
        Self::over(writer, path)
    }

    /// A new table of columns of these names, types and shapes of rows.
    #[staticmethod]
    fn create_table(
        py: Python<'_>,
        path: PathBuf,
        columns: Vec<(String, String, Vec<u64>)>,
        options: BcolzOptions,
    ) -> PyResult<Self> {
        let options = columns.iter().map(|(name, dtype, shape)| {
            Ok((name.as_str(), options.create_options(dtype, shape.clone())?))
        });
        let options = options.collect::<PyResult<Vec<_>>>()?;
        let writer = py.detach(|| CTableWriter::create(&path, &options).map(Rows::Table));
        Self::over(writer, path)
    }

    /// An array or a table that is there.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, is_table: bool) -> PyResult<Self> {
        let writer = py.detach(|| match is_table {
            true => CTableWriter::open(&path).map(Rows::Table),
            false => CArrayWriter::open(&path).map(|rows| Rows::Array(Box::new(rows))),
        });
        Self::over(writer, path)
    }

    /// Appends rows: the items of an array, or those of each column of a table.
    fn append(&self, py: Python<'_>, columns: &Bound<'_, PyTuple>) -> PyResult<()> {
        let inputs = columns.iter().map(|column| Input::get(&column));
        let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
        let columns: Vec<&[u8]> = inputs.iter().map(Input::bytes).collect();
        self.edit(py, |rows| match rows {
            Rows::Array(writer) => columns.iter().try_for_each(|items| writer.append(items)),
            Rows::Table(writer) => writer.append(&columns),
        })
    }

    /// Removes the last rows.
    fn trim(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        self.edit(py, |rows| match rows {
            Rows::Array(writer) => writer.trim(count),
            Rows::Table(writer) => writer.trim(count),
        })
    }

    fn resize(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        self.edit(py, |rows| match rows {
            Rows::Array(writer) => writer.resize(count),
            Rows::Table(writer) => writer.resize(count),
        })
    }

    /// Sets an attribute by a text of JSON.
    fn set_attribute(&self, py: Python<'_>, name: &str, text: &str) -> PyResult<()> {
        let item =
            blosc_dtype::json::parse(text.as_bytes()).map_err(|error| param(error.to_string()))?;
        self.edit(py, |rows| match rows {
            Rows::Array(writer) => writer.set_attr(name, item),
            Rows::Table(writer) => writer.set_attr(name, item),
        })
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.edit(py, |rows| match rows {
            Rows::Array(writer) => writer.flush(),
            Rows::Table(writer) => writer.flush(),
        })
    }

    /// Flushes, and ends.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let rows = self.rows.try_lock().map_err(|_| busy(&self.name))?.take();
        let done = py.detach(|| match rows {
            Some(Rows::Array(writer)) => writer.finish(),
            Some(Rows::Table(writer)) => writer.finish(),
            None => Ok(()),
        });
        done.map_err(|error| raise_at(error.into(), Some(&self.name)))
    }
}

impl BcolzWriter {
    fn over(rows: bcolz_store::Result<Rows>, path: PathBuf) -> PyResult<Self> {
        let name = path.to_string_lossy().into_owned();
        let rows = rows.map_err(|error| raise_at(error.into(), Some(&name)))?;
        Ok(Self { rows: Mutex::new(Some(rows)), name })
    }

    fn edit(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Rows) -> bcolz_store::Result<()> + Send,
    ) -> PyResult<()> {
        let done = py.detach(|| {
            let Ok(mut rows) = self.rows.try_lock() else { return None };
            Some(rows.as_mut().map(work))
        });
        let done = done.ok_or_else(|| busy(&self.name))?;
        let closed = || PyValueError::new_err("I/O operation on a closed object");
        done.ok_or_else(closed)?.map_err(|error| raise_at(error.into(), Some(&self.name)))
    }
}

/// Classes and functions of this file.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BcolzWriter>()?;
    module.add_function(wrap_pyfunction!(blp_pack, module)?)?;
    module.add_function(wrap_pyfunction!(blp_unpack, module)?)
}
