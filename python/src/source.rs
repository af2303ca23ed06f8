//! Bytes that a Python object keeps: buffers, and files that seek and read.

use std::io;
use std::sync::{Mutex, PoisonError};

use blosc_io::ReadAt;
use pyo3::prelude::*;

use crate::memory::Input;

/// A buffer, which is kept and not copied.
pub(crate) struct BufferSource(pub(crate) Input);

impl ReadAt for BufferSource {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.bytes().len() as u64)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.copy_to(at, buf))
    }
}

/// An object with `seek` and `read`. Threads take turns, since it has one position. The turn is
/// never waited for with the GIL, which the one whose turn it is needs.
pub(crate) struct FileObject {
    file: Py<PyAny>,
    len: u64,
    turn: Mutex<()>,
}

impl FileObject {
    /// # Errors
    ///
    /// The exception of `seek`.
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        let end: Option<u64> = file.call_method1("seek", (0, 2))?.extract()?;
        let len = match end {
            Some(len) => len,
            None => file.call_method0("tell")?.extract()?,
        };
        Ok(Self { file: file.clone().unbind(), len, turn: Mutex::new(()) })
    }

    fn read(&self, py: Python<'_>, at: u64, buf: &mut [u8]) -> PyResult<usize> {
        let file = self.file.bind(py);
        file.call_method1("seek", (at,))?;
        // A raw file gives as much as it has at hand.
        let mut len = 0;
        while let Some(rest) = buf.get_mut(len..).filter(|rest| !rest.is_empty()) {
            let read = file.call_method1("read", (rest.len(),))?;
            match Input::get(&read)?.copy_to(0, rest) {
                0 => break,
                more => len += more,
            }
        }
        Ok(len)
    }
}

impl ReadAt for FileObject {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let read = Python::try_attach(|py| self.read(py, at, buf));
        let read = read.ok_or_else(|| io::Error::other("the interpreter has ended"))?;
        read.map_err(io::Error::other)
    }
}

/// Whole files by ranges, from an object with `size()` and `get_ranges(starts, ends)`: one call for
/// all that is announced.
pub(crate) struct RangesObject {
    object: Py<PyAny>,
    len: u64,
    kept: Mutex<Vec<(u64, Vec<u8>)>>,
}

/// Bytes that are announced at once.
const PREFETCH_NBYTES: u64 = 64 << 20;

impl RangesObject {
    /// # Errors
    ///
    /// The exception of `size`.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let len = object.call_method0("size")?.extract()?;
        Ok(Self { object: object.clone().unbind(), len, kept: Mutex::new(vec![]) })
    }

    fn fetch(&self, ranges: &[core::ops::Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let call = |py: Python<'_>| -> PyResult<Vec<Vec<u8>>> {
            let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
            let ends: Vec<u64> = ranges.iter().map(|range| range.end).collect();
            let parts = self.object.bind(py).call_method1("get_ranges", (starts, ends))?;
            let bytes = |part: PyResult<Bound<'_, PyAny>>| -> PyResult<Vec<u8>> {
                Ok(Input::get(&part?)?.bytes().to_vec())
            };
            parts.try_iter()?.map(bytes).collect()
        };
        let parts = Python::try_attach(call);
        let parts = parts.ok_or_else(|| io::Error::other("the interpreter has ended"))?;
        parts.map_err(io::Error::other)
    }

    /// Fills the buffer from what is kept, if all of it is.
    fn take_kept(&self, at: u64, buf: &mut [u8]) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().any(|(start, bytes)| {
            let skip = at.checked_sub(*start).and_then(|skip| usize::try_from(skip).ok());
            let part = skip.and_then(|skip| bytes.get(skip..skip.checked_add(buf.len())?));
            part.map(|part| buf.copy_from_slice(part)).is_some()
        })
    }
}

impl ReadAt for RangesObject {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        let Some(buf) = buf.get_mut(..len).filter(|buf| !buf.is_empty()) else { return Ok(0) };
        if self.take_kept(at, buf) {
            return Ok(len);
        }
        let parts = self.fetch(core::slice::from_ref(&(at..at.saturating_add(len as u64))))?;
        let part = parts.first().filter(|part| part.len() == len);
        buf.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(len)
    }

    fn prefetch_limit(&self) -> u64 {
        PREFETCH_NBYTES
    }

    fn prefetch(&self, ranges: &[core::ops::Range<u64>]) {
        let cut = |range: &core::ops::Range<u64>| range.start..range.end.min(self.len);
        let ranges: Vec<_> = ranges.iter().map(cut).filter(|range| !range.is_empty()).collect();
        // A failure is told by the read that comes.
        let Ok(parts) = self.fetch(&ranges) else { return };
        let starts = ranges.iter().map(|range| range.start);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = starts.zip(parts).collect();
    }
}
