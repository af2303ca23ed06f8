//! Values of stores as objects of Python, and back.

use b2store::{NdValue, Value, Values};
use blosc_data::ColumnValues;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple,
};

use crate::errors::param;
use crate::memory::Memory;

/// Values within values: deeper ones are refused, as a list may hold itself.
const MAX_DEPTH: usize = 64;

/// A value as an object.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Nil => py.None().into_bound(py),
        Value::Bool(value) => value.into_bound_py_any(py)?,
        Value::Int(value) => value.into_bound_py_any(py)?,
        Value::UInt(value) => value.into_bound_py_any(py)?,
        Value::Float(value) => value.into_bound_py_any(py)?,
        Value::Str(value) => value.into_bound_py_any(py)?,
        Value::Bytes(value) | Value::Frame(value) => PyBytes::new(py, value).into_any(),
        Value::Array(values) => PyList::new(py, all(py, values)?)?.into_any(),
        Value::Tuple(values) => PyTuple::new(py, all(py, values)?)?.into_any(),
        Value::Set(values) => {
            let set = helper(py)?.getattr("set_of")?;
            set.call1((PyList::new(py, all(py, values)?)?,))?
        }
        Value::Map(entries) => {
            let keys = entries.iter().map(|(key, _)| to_python(py, key));
            let values = entries.iter().map(|(_, value)| to_python(py, value));
            let keys = PyList::new(py, keys.collect::<PyResult<Vec<_>>>()?)?;
            let values = PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?;
            helper(py)?.getattr("dict_of")?.call1((keys, values))?
        }
        Value::Complex { re, im } => PyComplex::from_doubles(py, *re, *im).into_any(),
        Value::NdArray(NdValue { dtype, shape, data, .. }) => {
            let (dtype, shape) = (to_python(py, dtype)?, PyTuple::new(py, shape)?);
            let array = helper(py)?.getattr("ndarray_of")?;
            array.call1((dtype, shape, PyByteArray::new(py, data)))?
        }
        Value::ObjectArray { shape, values } => {
            let shape = PyTuple::new(py, shape)?;
            let values = PyList::new(py, all(py, values)?)?;
            helper(py)?.getattr("object_array_of")?.call1((shape, values))?
        }
        Value::Reference(value) => {
            helper(py)?.getattr("Reference")?.call1((to_python(py, value)?,))?
        }
        Value::Ext(code, data) => {
            helper(py)?.getattr("Extension")?.call1((*code, PyBytes::new(py, data)))?
        }
        _ => return Err(PyTypeError::new_err("a value of a kind that is not known")),
    })
}

fn helper(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("blosckit._values")
}

/// Values as objects.
pub(crate) fn all<'py>(py: Python<'py>, values: &[Value]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.iter().map(|value| to_python(py, value)).collect()
}

/// An object as a value.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    at_depth(object, 0)
}

fn at_depth(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(param("values within values, deeper than 64"));
    }
    let inner = |object: PyResult<Bound<'_, PyAny>>| at_depth(&object?, depth + 1);
    if object.is_none() {
        return Ok(Value::Nil);
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract::<i64>() {
            Ok(value) => Ok(Value::Int(value)),
            Err(_) => Ok(Value::UInt(object.extract()?)),
        };
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if let Ok(value) = object.cast::<PyString>() {
        return Ok(Value::Str(value.to_string()));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(Value::Bytes(value.as_bytes().to_vec()));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(Value::Array(list.try_iter()?.map(inner).collect::<PyResult<_>>()?));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(Value::Tuple(tuple.try_iter()?.map(inner).collect::<PyResult<_>>()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let entry =
            |(key, value)| -> PyResult<(Value, Value)> { Ok((inner(Ok(key))?, inner(Ok(value))?)) };
        return Ok(Value::Map(dict.iter().map(entry).collect::<PyResult<_>>()?));
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods as _;
        return Ok(Value::Complex { re: value.real(), im: value.imag() });
    }
    // Scalars of NumPy are numbers of Python.
    if object.hasattr("dtype")? && object.getattr("ndim")?.extract::<usize>()? == 0 {
        return inner(object.call_method0("item"));
    }
    let name = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("no value of a store can be of type {name}")))
}

/// The values of a column, as a dictionary that `_table.py` makes an array of.
pub(crate) fn column<'py>(py: Python<'py>, column: ColumnValues) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let nulls = nulls(&column);
    match column.values {
        Values::Fixed { dtype, item_shape, bytes } => {
            dict.set_item("dtype", dtype.to_string())?;
            dict.set_item("item_shape", PyTuple::new(py, item_shape)?)?;
            dict.set_item("data", Memory::new(bytes))?;
        }
        Values::Objects(values) => dict.set_item("objects", all(py, &values)?)?,
        Values::Text { ends, text } => {
            let starts = core::iter::once(0).chain(ends.iter().copied());
            let found = starts.zip(&ends).map(|(start, end)| text.get(start..*end));
            dict.set_item("texts", texts(py, found, nulls.as_deref())?)?;
        }
        Values::Dictionary { codes, words } => {
            let words: Vec<_> = words.iter().map(|word| PyString::new(py, word)).collect();
            let word = |code: i32| usize::try_from(code).ok().and_then(|code| words.get(code));
            let found = codes.into_iter().map(word);
            dict.set_item("texts", texts(py, found, nulls.as_deref())?)?;
        }
        _ => return Err(PyTypeError::new_err("a column of a kind that is not known")),
    }
    if let Some(nulls) = nulls {
        dict.set_item("nulls", Memory::new(nulls))?;
    }
    Ok(dict)
}

/// A byte of 1 for each row that is null, if there is one.
fn nulls(column: &ColumnValues) -> Option<Vec<u8>> {
    column.valid.as_ref()?;
    let nulls: Vec<u8> = (0..column.len()).map(|row| u8::from(column.is_null(row))).collect();
    nulls.contains(&1).then_some(nulls)
}

/// The text of each row, or `None`.
fn texts<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    found: impl Iterator<Item = Option<T>>,
    nulls: Option<&[u8]>,
) -> PyResult<Bound<'py, PyList>> {
    let is_null = |row| nulls.is_some_and(|nulls| nulls.get(row) == Some(&1));
    let rows = found.enumerate().map(|(row, text)| text.filter(|_| !is_null(row)));
    PyList::new(py, rows.collect::<Vec<_>>())
}
