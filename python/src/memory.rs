//! The only unsafe code: memory that belongs to Python objects.

use core::ffi::c_int;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

/// The bytes of any C-contiguous buffer, whatever its items are.
pub(crate) struct Input {
    buffer: PyUntypedBuffer,
    itemsize: usize,
}

impl Input {
    /// # Errors
    ///
    /// `TypeError` for what is no buffer, `ValueError` for one that is not contiguous.
    pub(crate) fn get(obj: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (buffer, itemsize) = buffer_of(obj)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("the buffer is not C-contiguous"));
        }
        Ok(Self { buffer, itemsize })
    }

    /// Bytes of an item.
    pub(crate) fn itemsize(&self) -> usize {
        self.itemsize
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        let len = self.buffer.len_bytes();
        if len == 0 {
            return &[];
        }
        // SAFETY: the exporter keeps `len` contiguous bytes alive as long as `self.buffer`. That
        // no thread writes them meanwhile is the part of the caller in Python, as with hashlib
        // and zlib; the documentation of the package says so.
        unsafe { core::slice::from_raw_parts(self.buffer.buf_ptr().cast(), len) }
    }

    /// Copies bytes from `start` on into `dest`, which may be a part of the same memory, and says
    /// how many.
    pub(crate) fn copy_to(&self, start: u64, dest: &mut [u8]) -> usize {
        let len = self.buffer.len_bytes();
        let start = usize::try_from(start).unwrap_or(len).min(len);
        let len = (len - start).min(dest.len());
        if len > 0 {
            let from = self.buffer.buf_ptr().cast::<u8>();
            // SAFETY: the buffer has `start + len` bytes, as above.
            let from = unsafe { from.add(start) };
            // SAFETY: `len` bytes are there, and in `dest`. Nothing refers to the source, so that
            // an overlap is a move of bytes.
            unsafe { ptr::copy(from, dest.as_mut_ptr(), len) };
        }
        len
    }

    /// The numbers of a buffer of 64-bit integers in native byte order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let items = self.bytes().as_chunks::<8>().0;
        items.iter().map(|item| u64::from_ne_bytes(*item)).collect()
    }
}

/// The bytes of a writable C-contiguous buffer.
pub(crate) struct Output(PyUntypedBuffer);

impl Output {
    /// # Errors
    ///
    /// `TypeError` for what is no buffer, `ValueError` for one that cannot be written.
    pub(crate) fn get(obj: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (buffer, _) = buffer_of(obj)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("`out` must be writable and C-contiguous"));
        }
        Ok(Self(buffer))
    }

    /// The same, for bytes that are made of `input`.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); `ValueError` where the two share memory.
    pub(crate) fn apart_from(input: &Input, obj: &Bound<'_, PyAny>) -> PyResult<Self> {
        let out = Self::get(obj)?;
        let range = |buffer: &PyUntypedBuffer| {
            let start = buffer.buf_ptr().addr();
            start..start.saturating_add(buffer.len_bytes())
        };
        let (a, b) = (range(&out.0), range(&input.buffer));
        if a.start.max(b.start) < a.end.min(b.end) {
            return Err(PyValueError::new_err("`out` shares memory with what is read"));
        }
        Ok(out)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.0.len_bytes();
        if len == 0 {
            return &mut [];
        }
        // SAFETY: as above; the buffer is writable, and `&mut self` is the only slice of it here:
        // `apart_from` refuses the memory of an input, and sources copy without one.
        unsafe { core::slice::from_raw_parts_mut(self.0.buf_ptr().cast(), len) }
    }
}

/// New `bytes`, which `fill` writes from the first to the last byte. If it fails, they are dropped.
///
/// The memory is not cleared first, which takes a quarter of the time of a fast decoder.
///
/// # Errors
///
/// `MemoryError`, and those of `fill`.
pub(crate) fn new_bytes<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(len).map_err(|_| PyMemoryError::new_err(()))?;
    // SAFETY: without a source this makes an object of `size` bytes, or raises.
    let new = unsafe { ffi::PyBytes_FromStringAndSize(ptr::null(), size) };
    // SAFETY: a new reference, or null for an exception.
    let new = unsafe { Bound::from_owned_ptr_or_err(py, new) }?;
    // SAFETY: the object is `bytes`.
    let start = unsafe { ffi::PyBytes_AsString(new.as_ptr()) };
    // SAFETY: no other code has seen the object yet, which has `len` bytes from there on. They come
    // from a function outside of Rust: their values are not known, but each is one of a byte.
    let memory = unsafe { core::slice::from_raw_parts_mut(start.cast::<u8>(), len) };
    fill(memory)?;
    Ok(new.cast_into::<PyBytes>()?)
}

/// Memory of ours that NumPy takes over without a copy, by the buffer protocol.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Memory {
    start: NonNull<u8>,
    len: usize,
    capacity: usize,
}

// SAFETY: the memory is that of this object alone.
unsafe impl Send for Memory {}

// SAFETY: no code here reads or writes it once it is made: it is for Python alone.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let mut bytes = ManuallyDrop::new(bytes);
        let start = NonNull::new(bytes.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { start, len: bytes.len(), capacity: bytes.capacity() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: these are the parts of the vector that `new` took; every view of it is gone, as
        // each of them keeps this object.
        drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), self.len, self.capacity) });
    }
}

#[pymethods]
impl Memory {
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let memory = slf.get();
        let (start, len) = (memory.start.as_ptr(), ffi::Py_ssize_t::try_from(memory.len)?);
        // SAFETY: Python hands over a view to be filled; it keeps the object, which keeps `len`
        // bytes that may be read and written.
        let code =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast(), len, 0, flags) };
        if code == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

/// The buffer of an object and the bytes of an item. Dates of NumPy have none: such an array is
/// viewed as bytes (numpy#4983).
fn buffer_of(obj: &Bound<'_, PyAny>) -> PyResult<(PyUntypedBuffer, usize)> {
    match PyUntypedBuffer::get(obj) {
        Ok(buffer) => {
            if has_objects(buffer.format().to_bytes()) {
                return Err(PyTypeError::new_err("a buffer of Python objects has no plain bytes"));
            }
            let itemsize = buffer.item_size();
            Ok((buffer, itemsize))
        }
        Err(error) => {
            let is_array = obj.hasattr("__array_interface__")? && obj.hasattr("view")?;
            if !is_array || obj.getattr("dtype")?.getattr("hasobject")?.is_truthy()? {
                return Err(as_type_error(obj, error));
            }
            if !obj.getattr("flags")?.getattr("c_contiguous")?.is_truthy()? {
                return Err(PyValueError::new_err("the array is not C-contiguous"));
            }
            let itemsize = obj.getattr("itemsize")?.extract()?;
            let flat = obj.call_method1("reshape", (-1,))?.call_method1("view", ("u1",))?;
            Ok((PyUntypedBuffer::get(&flat)?, itemsize))
        }
    }
}

/// Whether items are references to objects (`O`), apart from names of fields (`:name:`).
fn has_objects(format: &[u8]) -> bool {
    format.split(|byte| *byte == b':').step_by(2).any(|codes| codes.contains(&b'O'))
}

fn as_type_error(obj: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let name = obj.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
    let new = PyTypeError::new_err(format!("a bytes-like object is required, not {name:?}"));
    new.set_cause(obj.py(), Some(error));
    new
}

/// The stream of Arrow that an object gives, which belongs to the caller then.
///
/// # Errors
///
/// `TypeError` for an object that gives none; what the object raises.
pub(crate) fn arrow_stream(obj: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    if !obj.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err("an object with __arrow_c_stream__ is required"));
    }
    let capsule = obj.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    let stream = stream.cast::<FFI_ArrowArrayStream>().as_ptr();
    // SAFETY: a capsule of this name holds a stream, which is moved out of it: what stays is a
    // released one, as the interface of Arrow wants it.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}
