//! The door: anything to one of the classes.

use std::path::PathBuf;
use std::sync::Arc;

use blosc_data::{Budget, Data, Dataset, Part, Source};
use blosc_io::ReadAt;
use pyo3::prelude::*;

use crate::data::{Array, Frame, Group, Objects, Origin, Recipe};
use crate::errors::raise_at;
use crate::memory::Input;
use crate::params::{Threads, open_options};
use crate::source::{BufferSource, FileObject, RangesObject};
use crate::table::Table;

/// Opens a file or a folder, or a part of one.
#[pyfunction]
#[pyo3(signature = (path, threads, max_memory, max_chunk))]
fn open_path<'py>(
    py: Python<'py>,
    path: PathBuf,
    threads: &Threads,
    max_memory: Option<u64>,
    max_chunk: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = open_options(threads, max_memory, max_chunk);
    let openers = blosc_data::Openers::default();
    let found = py.detach(|| blosc_data::open_with(&path, &openers, &options));
    let found = found.map_err(|error| raise_at(error, Some(&path.to_string_lossy())))?;
    object(py, found, &options.budget)
}

/// Opens bytes that an object keeps: `kind` is `buffer`, `file` or `ranges`.
#[pyfunction]
#[pyo3(signature = (kind, source, name, offset, threads, max_memory, max_chunk))]
#[allow(clippy::too_many_arguments)]
fn open_object<'py>(
    py: Python<'py>,
    kind: &str,
    source: &Bound<'py, PyAny>,
    name: &str,
    offset: u64,
    threads: &Threads,
    max_memory: Option<u64>,
    max_chunk: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = open_options(threads, max_memory, max_chunk);
    let file: Arc<dyn ReadAt> = match kind {
        "buffer" => Arc::new(BufferSource(Input::get(source)?)),
        "file" => Arc::new(FileObject::new(source)?),
        _ => Arc::new(RangesObject::new(source)?),
    };
    let part = if offset == 0 { Part::Whole } else { Part::Offset(offset) };
    let found = py.detach(|| blosc_data::open_part(Source::File(file), name, &part, &options));
    object(py, found.map_err(|error| raise_at(error, Some(name)))?, &options.budget)
}

/// The object for opened data.
pub(crate) fn object<'py>(
    py: Python<'py>,
    found: Dataset,
    budget: &Budget,
) -> PyResult<Bound<'py, PyAny>> {
    let origin = Origin { name: found.name, budget: budget.clone() };
    Ok(match found.data {
        Data::Array(data) => Bound::new(py, Array { data, origin })?.into_any(),
        Data::Bytes(data) => Bound::new(py, Frame { data, origin })?.into_any(),
        Data::Table(data) => Bound::new(py, Table { data, origin })?.into_any(),
        Data::Group(data) => Bound::new(py, Group { data, origin })?.into_any(),
        Data::Objects(data) => Bound::new(py, Objects { data, origin })?.into_any(),
        Data::Recipe(recipe) => Bound::new(py, Recipe { recipe, origin })?.into_any(),
        _ => return Err(crate::errors::param("data of a kind that is not known")),
    })
}

/// Classes and functions of this file.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Array>()?;
    module.add_class::<Frame>()?;
    module.add_class::<Table>()?;
    module.add_class::<Group>()?;
    module.add_class::<Objects>()?;
    module.add_class::<Recipe>()?;
    module.add_function(wrap_pyfunction!(open_path, module)?)?;
    module.add_function(wrap_pyfunction!(open_object, module)?)
}
