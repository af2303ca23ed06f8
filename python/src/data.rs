//! Opened data: arrays, bytes, groups, objects. Tables are in `table.rs`.
//!
//! These classes take buffers and numbers; NumPy, its indexes and its types are the business of the
//! Python files. Reading needs `&self` and no lock. All work is done without the GIL.

use std::sync::Arc;

use b2frame::{ChunkBytes, SChunk};
use b2store::{Value, ValueLimits};
use blosc_chunk::{CParams, Special, SpecialKind, special_chunk};
use blosc_data::{Budget, Pick, Selection};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice, PyTuple};
use serde_json::{Map, Value as Json};

use crate::errors::raise;
use crate::memory::{Input, Output, new_bytes};
use crate::value;

/// The name of the data, and the means to read them.
pub(crate) struct Origin {
    pub(crate) name: String,
    pub(crate) budget: Budget,
}

impl Origin {
    pub(crate) fn error(&self, error: blosc_data::Error) -> PyErr {
        crate::errors::raise_at(error, Some(&self.name))
    }
}

/// Attributes as a text of JSON, which `json.loads` reads.
pub(crate) fn json(map: Map<String, Json>) -> String {
    Json::Object(map).to_string()
}

/// The metalayers of a frame, fixed or variable, as they are stored.
fn layers<'py>(
    py: Python<'py>,
    frame: Option<&Arc<SChunk>>,
    is_variable: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let Some(schunk) = frame else { return Ok(dict) };
    if is_variable {
        for layer in schunk.vlmeta().stored().iter() {
            let content = py.detach(|| schunk.vlmeta().decode(layer));
            let content = content.map_err(|error| raise(blosc_data::Error::from(error)))?;
            dict.set_item(layer.name_text(), PyBytes::new(py, &content))?;
        }
    } else {
        for layer in schunk.meta().iter() {
            dict.set_item(layer.name_text(), PyBytes::new(py, layer.content))?;
        }
    }
    Ok(dict)
}

/// The variable metalayers that are values, as Python has them: JSON knows fewer kinds.
fn values<'py>(py: Python<'py>, frame: Option<&Arc<SChunk>>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let Some(schunk) = frame else { return Ok(dict) };
    for layer in schunk.vlmeta().stored().iter() {
        let decoded = py.detach(|| {
            let content = schunk.vlmeta().decode(layer).ok()?;
            Value::decode(&content, &ValueLimits::default()).ok()
        });
        if let Some(decoded) = decoded {
            dict.set_item(layer.name_text(), value::to_python(py, &decoded)?)?;
        }
    }
    Ok(dict)
}

/// A number or a slice of each dimension.
pub(crate) fn selection(key: &Bound<'_, PyTuple>) -> PyResult<Selection> {
    let picks = key.iter().map(|item| pick(&item)).collect::<PyResult<Vec<_>>>()?;
    Ok(Selection::from(&picks[..]))
}

fn pick(key: &Bound<'_, PyAny>) -> PyResult<Pick> {
    if let Ok(slice) = key.cast::<PySlice>() {
        let get = |name| -> PyResult<Option<i64>> { slice.getattr(name)?.extract() };
        let step = get("step")?.unwrap_or(1);
        return Ok(Pick::Slice { start: get("start")?, stop: get("stop")?, step });
    }
    let number = key.extract::<i64>().map(Pick::Index);
    number.map_err(|_| PyTypeError::new_err("an index is an integer or a slice"))
}

/// Lists of positions, one for each dimension.
pub(crate) fn positions(lists: &Bound<'_, PyTuple>) -> PyResult<Vec<Vec<u64>>> {
    lists.iter().map(|list| Ok(Input::get(&list)?.numbers())).collect()
}

/// An array.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Array {
    pub(crate) data: Arc<dyn blosc_data::Array>,
    pub(crate) origin: Origin,
}

#[pymethods]
impl Array {
    #[getter]
    fn name(&self) -> &str {
        &self.origin.name
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.data.format()
    }

    #[getter]
    fn dtype(&self) -> String {
        self.data.dtype().to_string()
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.data.shape())
    }

    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.data.chunkshape())
    }

    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.data.blockshape())
    }

    #[getter]
    fn pipeline(&self) -> String {
        self.data.pipeline()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.data.nbytes()
    }

    #[getter]
    fn cbytes(&self) -> Option<u64> {
        self.data.stored_nbytes()
    }

    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.data.attributes()).map(json).map_err(|error| self.origin.error(error))
    }

    fn layers<'py>(&self, py: Python<'py>, is_variable: bool) -> PyResult<Bound<'py, PyDict>> {
        layers(py, self.data.frame(), is_variable)
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values(py, self.data.frame())
    }

    /// Fills `out` with a part in C order: a number or a slice of each dimension.
    fn read(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyTuple>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (selection, mut out) = (selection(key)?, Output::get(out)?);
        let dest = out.bytes_mut();
        py.detach(|| self.data.read(&selection, dest)).map_err(|error| self.origin.error(error))
    }

    /// Fills `out` with all combinations of positions.
    fn read_outer(
        &self,
        py: Python<'_>,
        lists: &Bound<'_, PyTuple>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (lists, mut out) = (positions(lists)?, Output::get(out)?);
        let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
        let dest = out.bytes_mut();
        py.detach(|| self.data.read_at(&lists, dest)).map_err(|error| self.origin.error(error))
    }

    /// Fills `out` with single items, by their numbers in C order.
    fn gather(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (items, mut out) = (Input::get(items)?.numbers(), Output::get(out)?);
        let dest = out.bytes_mut();
        py.detach(|| self.data.gather(&items, dest)).map_err(|error| self.origin.error(error))
    }

    /// The same data with other threads, for one read.
    fn with_threads(&self, threads: &crate::params::Threads) -> Self {
        let budget = self.origin.budget.clone().threads(threads.0.clone());
        let data = self.data.within(&budget).unwrap_or_else(|| Arc::clone(&self.data));
        Self { data, origin: Origin { name: self.origin.name.clone(), budget } }
    }

    #[getter]
    fn nchunks(&self) -> u64 {
        self.data.nchunks()
    }

    /// A chunk as it is stored.
    fn chunk<'py>(&self, py: Python<'py>, nchunk: u64) -> PyResult<Bound<'py, PyBytes>> {
        let typesize = self.data.dtype().itemsize();
        chunk(py, &self.origin, self.data.chunks(), typesize, nchunk)
    }
}

fn chunk<'py>(
    py: Python<'py>,
    origin: &Origin,
    chunks: Option<&dyn blosc_data::Chunks>,
    typesize: usize,
    nchunk: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let Some(chunks) = chunks else {
        return Err(crate::errors::param("it has no chunks of the Blosc family"));
    };
    if nchunk >= chunks.nchunks() {
        return Err(PyIndexError::new_err(format!("no chunk {nchunk} of {}", chunks.nchunks())));
    }
    let chunk = py.detach(|| chunks.chunk(nchunk)).map_err(|error| origin.error(error))?;
    let bytes = match chunk {
        ChunkBytes::Stored(bytes) => bytes,
        ChunkBytes::Special { kind, nbytes, .. } => {
            let special = match kind {
                SpecialKind::Nans => Special::Nans,
                SpecialKind::Uninit => Special::Uninit,
                _ => Special::Zeros,
            };
            special_chunk(special, nbytes, &CParams::default().typesize(typesize.max(1)))
                .map_err(crate::params::chunk_error)?
        }
        _ => return Err(crate::errors::param("a chunk of a kind that is not known")),
    };
    Ok(PyBytes::new(py, &bytes))
}

/// Bytes without a type or a shape.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Frame {
    pub(crate) data: Arc<dyn blosc_data::Bytes>,
    pub(crate) origin: Origin,
}

#[pymethods]
impl Frame {
    #[getter]
    fn name(&self) -> &str {
        &self.origin.name
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.data.format()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.data.nbytes()
    }

    #[getter]
    fn cbytes(&self) -> u64 {
        self.data.stored_nbytes()
    }

    #[getter]
    fn typesize(&self) -> u64 {
        self.data.typesize()
    }

    #[getter]
    fn nchunks(&self) -> u64 {
        self.data.chunks().map_or(0, blosc_data::Chunks::nchunks)
    }

    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.data.attributes()).map(json).map_err(|error| self.origin.error(error))
    }

    fn layers<'py>(&self, py: Python<'py>, is_variable: bool) -> PyResult<Bound<'py, PyDict>> {
        layers(py, self.data.frame(), is_variable)
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values(py, self.data.frame())
    }

    /// Fills `out` with the bytes from `start` on.
    fn read(&self, py: Python<'_>, start: u64, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut out = Output::get(out)?;
        let dest = out.bytes_mut();
        let read = py.detach(|| self.data.read_within(start, dest, &self.origin.budget));
        read.map_err(|error| self.origin.error(error))
    }

    /// The bytes from `start` on, which are there.
    fn read_bytes<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        nbytes: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        new_bytes(py, nbytes, |dest| {
            let read = py.detach(|| self.data.read_within(start, dest, &self.origin.budget));
            read.map_err(|error| self.origin.error(error))
        })
    }

    /// A chunk as it is stored.
    fn chunk<'py>(&self, py: Python<'py>, nchunk: u64) -> PyResult<Bound<'py, PyBytes>> {
        let typesize = usize::try_from(self.data.typesize()).unwrap_or(1);
        chunk(py, &self.origin, self.data.chunks(), typesize, nchunk)
    }
}

/// Members with names.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Group {
    pub(crate) data: Arc<dyn blosc_data::Group>,
    pub(crate) origin: Origin,
}

#[pymethods]
impl Group {
    #[getter]
    fn name(&self) -> &str {
        &self.origin.name
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.data.format()
    }

    /// Names and kinds: `group`, `table`, `value`.
    fn members(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let members = py.detach(|| self.data.members());
        let members = members.map_err(|error| self.origin.error(error))?;
        let kind = |member: blosc_data::Member| match member.kind {
            blosc_data::MemberKind::Group => (member.name, "group"),
            blosc_data::MemberKind::Table => (member.name, "table"),
            _ => (member.name, "value"),
        };
        Ok(members.into_iter().map(kind).collect())
    }

    fn open<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| self.data.open(name));
        let found = found.map_err(|error| self.origin.error(error))?;
        crate::open::object(py, found, &self.origin.budget)
    }

    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.data.attributes()).map(json).map_err(|error| self.origin.error(error))
    }
}

/// A list of objects.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Objects {
    pub(crate) data: Arc<dyn blosc_data::ListOfObjects>,
    pub(crate) origin: Origin,
}

#[pymethods]
impl Objects {
    #[getter]
    fn name(&self) -> &str {
        &self.origin.name
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.data.format()
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.data.len()).map_err(|error| self.origin.error(error))
    }

    fn get<'py>(&self, py: Python<'py>, start: u64, stop: u64) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let values = py.detach(|| self.data.get(start..stop));
        value::all(py, &values.map_err(|error| self.origin.error(error))?)
    }
}

/// A note how to get some data, which is shown and never followed.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Recipe {
    pub(crate) recipe: Box<b2store::Recipe>,
    pub(crate) origin: Origin,
}

#[pymethods]
impl Recipe {
    #[getter]
    fn name(&self) -> &str {
        &self.origin.name
    }

    #[getter]
    fn kind(&self) -> String {
        self.recipe.kind.to_string()
    }

    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.recipe.description)
    }
}
