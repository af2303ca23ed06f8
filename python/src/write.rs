//! Writers of arrays, frames and stores. A second thread that writes meanwhile is told so.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use arrow_array::RecordBatchReader as _;
use b2frame::nd::Fill;
use b2frame::{FrameParams, NdParams, NdWriter, SChunkWriter};
use b2store::StoreWriter as Writer;
use blosc_data::{Budget, Dtype, error::Doing};
use blosc_io::replace::{Temporary, Unfinished, directory_of, rename_new, sync_names};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::care::checksums_of;
use crate::data::{positions, selection};
use crate::errors::{busy, param, raise, raise_at};
use crate::memory::{Input, arrow_stream};
use crate::params::{self, Threads};
use crate::value;

/// Something that is written, until it is closed.
struct Open<W> {
    writer: Mutex<Option<W>>,
    name: String,
}

impl<W: Send> Open<W> {
    fn new(writer: W, name: String) -> Self {
        Self { writer: Mutex::new(Some(writer)), name }
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Option<W>>> {
        self.writer.try_lock().map_err(|_| busy(&self.name))
    }

    /// Works with the writer, without the GIL.
    fn edit<T: Send, E: Into<blosc_data::Error> + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut W) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let Ok(mut writer) = self.writer.try_lock() else { return Err(None) };
            let Some(writer) = writer.as_mut() else { return Ok(None) };
            let wrong = |error: E| -> Option<blosc_data::Error> { Some(error.into()) };
            work(writer).map(Some).map_err(wrong)
        });
        match done {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(PyValueError::new_err("I/O operation on a closed object")),
            Err(None) => Err(busy(&self.name)),
            Err(Some(error)) => Err(raise_at(error, Some(&self.name))),
        }
    }

    fn take(&self) -> PyResult<W> {
        let closed = || PyValueError::new_err("I/O operation on a closed object");
        self.lock()?.take().ok_or_else(closed)
    }
}

/// A folder for what is made in the place of a path: it stands there when it is whole, or never.
#[pyclass(frozen, module = "blosckit._native")]
struct Station {
    folder: Mutex<Option<Temporary>>,
    target: PathBuf,
    process: u32,
}

#[pymethods]
impl Station {
    #[new]
    fn new(target: PathBuf) -> PyResult<Self> {
        let name = target.file_name().unwrap_or_default();
        let folder = Temporary::folder(directory_of(&target), name, &Unfinished::default());
        let folder = Mutex::new(Some(folder.map_err(|error| not_placed(&target, error))?));
        Ok(Self { folder, target, process: std::process::id() })
    }

    /// Where it is made.
    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        let folder = self.folder.try_lock().ok();
        let path = folder.as_ref().and_then(|it| it.as_ref()).map(Temporary::path);
        let path = path.ok_or_else(|| PyValueError::new_err("it is in its place"))?;
        Ok(path.join(self.target.file_name().unwrap_or_default()))
    }

    /// Gives it its name, which may be that of another file only if it `replaces` that.
    fn put_in_place(&self, py: Python<'_>, replaces: bool) -> PyResult<()> {
        let made = self.path()?;
        py.detach(|| {
            match replaces {
                true => std::fs::rename(&made, &self.target)?,
                false => rename_new(&made, &self.target)?,
            }
            sync_names(directory_of(&self.target))
        })
        .map_err(|error| not_placed(&self.target, error))?;
        self.close();
        Ok(())
    }

    /// Removes what was made.
    fn close(&self) {
        drop(self.folder.try_lock().ok().and_then(|mut folder| folder.take()));
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        // The child of a fork does not own it.
        if self.process != std::process::id()
            && let Ok(folder) = self.folder.get_mut()
        {
            core::mem::forget(folder.take());
        }
    }
}

fn not_placed(path: &Path, error: io::Error) -> PyErr {
    let (name, path) = (path.to_string_lossy(), path.to_owned());
    let error = blosc_data::Error::Write { doing: Doing::Create, path, source: error };
    raise_at(error, Some(&name))
}

/// An array under way.
#[pyclass(frozen, module = "blosckit._native")]
struct ArrayWriter(Open<NdWriter>);

/// The properties of a new array.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ArrayOptions {
    codec: String,
    level: i64,
    shuffle: String,
    chunks: Option<Vec<u32>>,
    blocks: Option<Vec<u32>>,
    /// The bytes of an item that is not written.
    fill: Option<Vec<u8>>,
    checksums: Option<String>,
}

impl ArrayOptions {
    fn nd_params(self, shape: &[u64], dtype: &str) -> PyResult<NdParams> {
        let dtype = Dtype::parse(dtype).map_err(|error| param(error.to_string()))?;
        let itemsize = dtype.itemsize();
        let cparams = params::cparams(&self.codec, self.level, &self.shuffle, itemsize, 0)?;
        let mut params = NdParams::new(shape, dtype).cparams(cparams);
        params.chunkshape = self.chunks;
        params.blockshape = self.blocks;
        params.fill = self.fill.map_or(Fill::Zeros, Fill::Value);
        if let Some(sums) = self.checksums {
            params.checksums = checksums_of(&sums)?;
        }
        Ok(params)
    }
}

#[pymethods]
impl ArrayWriter {
    /// A new array: at a path, in a folder of chunks, or in memory.
    #[staticmethod]
    #[pyo3(signature = (path, is_sparse, shape, dtype, options, threads))]
    fn create(
        py: Python<'_>,
        path: Option<PathBuf>,
        is_sparse: bool,
        shape: Vec<u64>,
        dtype: &str,
        options: ArrayOptions,
        threads: &Threads,
    ) -> PyResult<Self> {
        let params = options.nd_params(&shape, dtype)?;
        let writer = py.detach(|| match &path {
            Some(path) if is_sparse => NdWriter::create_sparse(path, &params),
            Some(path) => NdWriter::create(path, &params),
            None => NdWriter::in_memory(&params),
        });
        Self::over(writer, path, threads)
    }

    /// The array at a path, to be changed.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, threads: &Threads) -> PyResult<Self> {
        let writer = py.detach(|| NdWriter::open(&path));
        Self::over(writer, Some(path), threads)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shape = self.0.edit(py, |writer| Ok::<_, b2frame::Error>(writer.shape().to_vec()))?;
        PyTuple::new(py, shape)
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<String> {
        self.0.edit(py, |writer| Ok::<_, b2frame::Error>(writer.dtype().to_string()))
    }

    /// Writes a part from items in C order.
    fn write(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyTuple>,
        items: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (selection, items) = (selection(key)?, Input::get(items)?);
        let bytes = items.bytes();
        self.0.edit(py, |writer| writer.write_bytes(&selection, bytes))
    }

    /// Writes to all combinations of positions.
    fn write_outer(
        &self,
        py: Python<'_>,
        lists: &Bound<'_, PyTuple>,
        items: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (lists, items) = (positions(lists)?, Input::get(items)?);
        let (lists, bytes): (Vec<&[u64]>, _) =
            (lists.iter().map(Vec::as_slice).collect(), items.bytes());
        self.0.edit(py, |writer| writer.write_oindex_bytes(&lists, bytes))
    }

    fn append(&self, py: Python<'_>, axis: usize, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = Input::get(items)?;
        let bytes = items.bytes();
        self.0.edit(py, |writer| writer.append_bytes(axis, bytes))
    }

    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        self.0.edit(py, |writer| writer.resize(&shape))
    }

    fn set_attribute(&self, py: Python<'_>, name: &str, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let content = value::from_python(item)?.encode();
        let content = content.ok_or_else(|| param(format!("{name:?} cannot be encoded")))?;
        self.0.edit(py, |writer| writer.schunk_writer().set_vlmeta(name, &content))
    }

    /// Whether there was one.
    fn delete_attribute(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.0.edit(py, |writer| writer.schunk_writer().delete_vlmeta(name))
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.0.edit(py, NdWriter::commit)
    }

    /// Ends without a commit.
    fn close(&self) -> PyResult<()> {
        self.0.lock()?.take();
        Ok(())
    }

    /// Commits, and gives the bytes of the frame.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let writer = self.0.take()?;
        let frame = py.detach(|| writer.finish()?.schunk().to_cframe());
        let frame = frame.map_err(|error| raise(blosc_data::Error::from(error)))?;
        Ok(PyBytes::new(py, &frame))
    }
}

impl ArrayWriter {
    fn over(
        writer: b2frame::Result<NdWriter>,
        path: Option<PathBuf>,
        threads: &Threads,
    ) -> PyResult<Self> {
        let name = path.map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        let writer = writer.map_err(|error| raise_at(error.into(), Some(&name)))?;
        let budget = Budget::default().threads(threads.0.clone());
        Ok(Self(Open::new(writer.budget(budget), name)))
    }
}

/// A frame without a shape under way.
#[pyclass(frozen, module = "blosckit._native")]
struct FrameWriter(Open<SChunkWriter>);

#[pymethods]
impl FrameWriter {
    #[staticmethod]
    #[pyo3(signature = (path, typesize, chunksize, codec, level, shuffle))]
    fn create(
        py: Python<'_>,
        path: Option<PathBuf>,
        typesize: usize,
        chunksize: Option<usize>,
        codec: &str,
        level: i64,
        shuffle: &str,
    ) -> PyResult<Self> {
        let params = FrameParams::new(params::cparams(codec, level, shuffle, typesize, 0)?);
        let params = chunksize.map_or(params.clone(), |size| params.chunksize(size));
        let writer = py.detach(|| match &path {
            Some(path) => SChunkWriter::create(path, &params),
            None => SChunkWriter::in_memory(&params),
        });
        Self::over(writer, path)
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::over(py.detach(|| SChunkWriter::open(&path)), Some(path))
    }

    fn append(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Input::get(data)?;
        let bytes = data.bytes();
        self.0.edit(py, |writer| writer.append(bytes))
    }

    fn write(&self, py: Python<'_>, start: u64, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Input::get(data)?;
        let bytes = data.bytes();
        self.0.edit(py, |writer| writer.write_bytes(start, bytes))
    }

    fn set_attribute(&self, py: Python<'_>, name: &str, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let content = value::from_python(item)?.encode();
        let content = content.ok_or_else(|| param(format!("{name:?} cannot be encoded")))?;
        self.0.edit(py, |writer| writer.set_vlmeta(name, &content))
    }

    fn delete_attribute(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.0.edit(py, |writer| writer.delete_vlmeta(name))
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.0.edit(py, SChunkWriter::commit)
    }

    fn close(&self) -> PyResult<()> {
        self.0.lock()?.take();
        Ok(())
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let writer = self.0.take()?;
        let frame = py.detach(|| writer.finish()?.to_cframe());
        let frame = frame.map_err(|error| raise(blosc_data::Error::from(error)))?;
        Ok(PyBytes::new(py, &frame))
    }
}

impl FrameWriter {
    fn over(writer: b2frame::Result<SChunkWriter>, path: Option<PathBuf>) -> PyResult<Self> {
        let name = path.map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        let writer = writer.map_err(|error| raise_at(error.into(), Some(&name)))?;
        Ok(Self(Open::new(writer, name)))
    }
}

/// A store under way: nothing is written before the commit.
#[pyclass(frozen, module = "blosckit._native")]
struct StoreWriter(Open<Writer>);

#[pymethods]
impl StoreWriter {
    /// A new store, or one that is there.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, is_new: bool) -> PyResult<Self> {
        let writer = py.detach(|| match is_new {
            true => Writer::create(&path),
            false => Writer::open(&path),
        });
        let name = path.to_string_lossy().into_owned();
        let writer = writer.map_err(|error| raise_at(error.into(), Some(&name)))?;
        Ok(Self(Open::new(writer, name)))
    }

    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.0
            .edit(py, |writer| Ok::<_, b2store::Error>(writer.keys().map(str::to_owned).collect()))
    }

    /// Adds or replaces a value by a frame.
    fn insert_frame(&self, py: Python<'_>, key: &str, frame: Vec<u8>) -> PyResult<()> {
        self.0.edit(py, |writer| writer.insert_cframe(key, frame))
    }

    /// Adds a table by a stream of Arrow, or appends its rows; their number.
    fn insert_arrow(
        &self,
        py: Python<'_>,
        key: &str,
        stream: &Bound<'_, PyAny>,
        is_new: bool,
    ) -> PyResult<u64> {
        let batches = arrow_stream(stream)?;
        let schema = batches.schema();
        let batches = batches.map(|batch| batch.map_err(b2store::Error::from));
        self.0.edit(py, |writer| {
            if is_new {
                return writer.insert_batches(key, &schema, batches);
            }
            let mut rows = writer.append_to_table(key)?;
            for batch in batches {
                rows.append_batch(&batch?)?;
            }
            let nrows = rows.nrows();
            rows.finish()?;
            Ok(nrows)
        })
    }

    fn remove(&self, py: Python<'_>, key: &str) -> PyResult<()> {
        self.0.edit(py, |writer| writer.remove(key))
    }

    fn set_attribute(
        &self,
        py: Python<'_>,
        key: &str,
        name: &str,
        item: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let item = value::from_python(item)?;
        self.0.edit(py, |writer| writer.set_attribute(key, name, &item))
    }

    fn delete_attribute(&self, py: Python<'_>, key: &str, name: &str) -> PyResult<bool> {
        self.0.edit(py, |writer| writer.remove_attribute(key, name))
    }

    /// Puts the store in place; the writer is closed then.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.0.take()?;
        let done = py.detach(|| writer.commit().map(drop));
        done.map_err(|error| raise_at(error.into(), Some(&self.0.name)))
    }

    fn close(&self) -> PyResult<()> {
        self.0.lock()?.take();
        Ok(())
    }
}

/// Classes of this file.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Station>()?;
    module.add_class::<ArrayWriter>()?;
    module.add_class::<FrameWriter>()?;
    module.add_class::<StoreWriter>()
}
