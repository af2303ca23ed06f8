//! Errors of the libraries as exceptions of `blosckit.errors`.

use core::error::Error as StdError;
use std::io;

use blosc_chunk::error::Blame;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Where the fault is, as far as the layers tell.
#[derive(Default)]
struct Place {
    chunk: Option<u64>,
    block: Option<u64>,
    /// Bytes from the start of the file; within a chunk from its start.
    offset: Option<u64>,
}

/// The exception for an error of the libraries.
pub(crate) fn raise(error: impl Into<blosc_data::Error>) -> PyErr {
    raise_at(error.into(), None)
}

/// The same, about the file or object `name`.
pub(crate) fn raise_at(error: blosc_data::Error, name: Option<&str>) -> PyErr {
    Python::attach(|py| {
        if let Some(raised) = raised_in_python(py, &error) {
            return raised;
        }
        if let blosc_data::Error::NoMember { name } = &error {
            return PyKeyError::new_err(name.clone());
        }
        let is_recipe = matches!(&error, blosc_data::Error::Store(b2store::Error::Recipe { .. }));
        let class = match error.blame() {
            _ if is_recipe => "UnsupportedError",
            Blame::Data => "CorruptError",
            Blame::NotOurs => "UnsupportedError",
            Blame::Limit => "LimitError",
            Blame::Usage => "ParamError",
            Blame::Busy => "BusyError",
            Blame::Io if is_missing(&error) => return missing(&error, name),
            Blame::Io => "StorageError",
            _ => "BloscError",
        };
        build(py, class, &error, name).unwrap_or_else(|error| error)
    })
}

/// A wrong argument that the libraries do not see.
pub(crate) fn param(text: impl Into<String>) -> PyErr {
    let text: String = text.into();
    Python::attach(|py| {
        let made = py.import("blosckit.errors").and_then(|errors| {
            let class = errors.getattr("ParamError")?;
            Ok(PyErr::from_value(class.call1((text,))?))
        });
        made.unwrap_or_else(|error| error)
    })
}

/// An object that another thread writes.
pub(crate) fn busy(name: &str) -> PyErr {
    Python::attach(|py| {
        let made = py.import("blosckit.errors").and_then(|errors| {
            let text = format!("{name}: another thread is at work on it");
            Ok(PyErr::from_value(errors.getattr("BusyError")?.call1((text,))?))
        });
        made.unwrap_or_else(|error| error)
    })
}

/// An error and its causes in a line.
pub(crate) fn line(error: &(dyn StdError + 'static)) -> String {
    look(error).0
}

fn build(
    py: Python<'_>,
    class: &str,
    error: &(dyn StdError + 'static),
    name: Option<&str>,
) -> PyResult<PyErr> {
    let (text, place, errno) = look(error);
    let text = name.map_or_else(|| text.clone(), |name| format!("{name}: {text}"));
    let details = PyDict::new(py);
    details.set_item("path", name)?;
    details.set_item("chunk", place.chunk)?;
    details.set_item("block", place.block)?;
    details.set_item("offset", place.offset)?;
    details.set_item("errno", errno)?;
    let make = py.import("blosckit.errors")?.getattr("make")?;
    Ok(PyErr::from_value(make.call1((class, text, details))?))
}

/// The line of all layers, the coordinates, and the number of the error of the system.
fn look(error: &(dyn StdError + 'static)) -> (String, Place, Option<i32>) {
    let (mut line, mut place, mut errno) = (error.to_string(), Place::default(), None);
    let mut layer = Some(error);
    while let Some(error) = layer {
        let text = error.to_string();
        if !line.ends_with(&text) {
            line = format!("{line}: {text}");
        }
        note(error, &mut place);
        if let Some(io) = error.downcast_ref::<io::Error>() {
            errno = io.raw_os_error().or(errno);
        }
        layer = inner(error);
    }
    (line.replace('\n', " "), place, errno)
}

/// The cause of an error. What a system error wraps is asked itself, which `source` would skip.
fn inner<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn note(error: &(dyn StdError + 'static), place: &mut Place) {
    if let Some(found) = error.downcast_ref::<blosc_data::Error>() {
        match found {
            blosc_data::Error::Chunk { at, .. } => place.offset = Some(*at),
            // Transparent errors hide their layer from `source`.
            blosc_data::Error::Frame(inner) => note(inner, place),
            blosc_data::Error::Blp(inner) => note(inner, place),
            blosc_data::Error::Store(b2store::Error::Frame { source, .. }) => note(source, place),
            _ => {}
        }
    } else if let Some(found) = error.downcast_ref::<b2frame::Error>() {
        match found {
            b2frame::Error::Chunk { nchunk, at, .. } => {
                (place.chunk, place.offset) = (Some(*nchunk), Some(*at));
            }
            b2frame::Error::Corrupt { at, .. } => place.offset = Some(*at),
            _ => {}
        }
    } else if let Some(found) = error.downcast_ref::<bloscpack::Error>() {
        match found {
            bloscpack::Error::Chunk { nchunk, at, .. } => {
                (place.chunk, place.offset) = (Some(*nchunk), Some(*at));
            }
            bloscpack::Error::Corrupt { at, .. } => place.offset = Some(*at),
            _ => {}
        }
    } else if let Some(blosc_chunk::Error::Block { nblock, at, .. }) = error.downcast_ref() {
        place.block = Some(*nblock);
        place.offset.get_or_insert(*at);
    } else if let Some(blosc_chunk::Error::Corrupt { at, .. }) = error.downcast_ref() {
        place.offset.get_or_insert(*at);
    }
}

/// The exception that a file object or a callback raised, if the error is one of these.
fn raised_in_python(py: Python<'_>, error: &(dyn StdError + 'static)) -> Option<PyErr> {
    let mut layer = Some(error);
    while let Some(error) = layer {
        if let Some(raised) = error.downcast_ref::<PyErr>() {
            return Some(raised.clone_ref(py));
        }
        layer = inner(error);
    }
    None
}

/// Whether the system says that there is no such file.
fn is_missing(error: &(dyn StdError + 'static)) -> bool {
    system_error(error).is_some_and(|error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    })
}

/// The error of the system in the chain.
fn system_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a io::Error> {
    let mut layer = Some(error);
    while let Some(error) = layer {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        layer = inner(error);
    }
    None
}

fn missing(error: &(dyn StdError + 'static), name: Option<&str>) -> PyErr {
    let errno = system_error(error).and_then(io::Error::raw_os_error).unwrap_or(2);
    let name = name.map(str::to_owned);
    PyFileNotFoundError::new_err((errno, "No such file or directory", name))
}
