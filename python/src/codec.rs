//! Buffers in memory: compress, decompress, and what a chunk is.

use std::sync::{Mutex, PoisonError};

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, DParams, Destination, Kind, Limits, Scratch, max_compressed_len,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::param;
use crate::memory::{Input, Output, new_bytes};
use crate::params::{self, Threads, chunk_error};

/// Data that one chunk cannot hold (bytes).
const TOO_LONG: usize = i32::MAX as usize;

/// Room for chunks that an encoder keeps (bytes).
const MAX_KEPT_NBYTES: usize = 32 << 20;

/// Compresses many buffers in the same way.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Encoder {
    params: CParams,
    /// `None` is the size of the items of the buffer.
    typesize: Option<usize>,
    /// Threads that find it in use compress with one of their own.
    kept: Mutex<Option<Work>>,
    arguments: Py<PyAny>,
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (codec, level, shuffle, typesize, format, blocksize, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        codec: &str,
        level: i64,
        shuffle: &str,
        typesize: Option<usize>,
        format: &str,
        blocksize: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let params = params::cparams(codec, level, shuffle, typesize.unwrap_or(1), blocksize)?;
        let params = params.target(params::target(format)?);
        let params = params.threads(blosc_chunk::Executor::threads(threads));
        let arguments = (codec, level, shuffle, typesize, format, blocksize, threads);
        let arguments = arguments.into_pyobject(py)?.into_any().unbind();
        Ok(Self { params: params::checked(params)?, typesize, kept: Mutex::new(None), arguments })
    }

    /// One chunk.
    fn compress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let input = Input::get(data)?;
        let src = input.bytes();
        if src.len() > TOO_LONG {
            return Err(param(format!("{} bytes: a chunk has less than 2 GiB", src.len())));
        }
        let typesize = self.typesize.unwrap_or(input.itemsize()).max(1);
        let mut work = self.take(typesize).map_err(chunk_error)?;
        let cbytes = py.detach(|| work.encode(src)).map_err(chunk_error)?;
        let chunk = PyBytes::new(py, work.room.get(..cbytes).unwrap_or_default());
        self.keep(work);
        Ok(chunk)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Py<PyAny>) {
        (py.get_type::<Self>().into_any(), self.arguments.clone_ref(py))
    }
}

impl Encoder {
    /// The kept encoder, or a new one where another thread has it or items have another size.
    fn take(&self, typesize: usize) -> Result<Work, blosc_chunk::Error> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = kept.filter(|work| work.encoder.params().typesize == typesize) {
            return Ok(work);
        }
        let encoder = blosc_chunk::Encoder::new(self.params.clone().typesize(typesize))?;
        Ok(Work { encoder, room: vec![] })
    }

    fn keep(&self, mut work: Work) {
        if work.room.len() > MAX_KEPT_NBYTES {
            work.room = vec![];
        }
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
    }
}

/// An encoder and the room that it writes to. New memory for each chunk would cost more than LZ4.
struct Work {
    encoder: blosc_chunk::Encoder,
    room: Vec<u8>,
}

impl Work {
    /// One chunk at the start of the room; its size (bytes).
    fn encode(&mut self, src: &[u8]) -> Result<usize, blosc_chunk::Error> {
        let needed = max_compressed_len(src.len());
        if self.room.len() < needed {
            self.room = vec![0; needed];
        }
        self.encoder.encode_into(src, &mut self.room)
    }
}

/// The data of a chunk, or some of its items: as `bytes`, or in `out`, whose length may be more.
#[pyfunction]
#[pyo3(signature = (chunk, out, start, nitems, max_nbytes, threads))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn decompress<'py>(
    py: Python<'py>,
    chunk: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    start: Option<usize>,
    nitems: Option<usize>,
    max_nbytes: Option<u64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let input = Input::get(chunk)?;
    let src = input.bytes();
    // The header is a copy: what another thread writes to the input later does not change it.
    let header = ChunkHeader::parse(src).map_err(chunk_error)?;
    let limits = max_nbytes.map_or_else(Limits::default, |max| Limits::default().max_nbytes(max));
    let (typesize, nbytes) = (header.typesize().max(1), header.nbytes());
    if out.is_none() && nbytes as u64 > limits.max_nbytes {
        let (nbytes, limit) = (nbytes as u64, limits.max_nbytes);
        return Err(chunk_error(blosc_chunk::Error::Limit { nbytes, limit }));
    }
    let range = match (start, nitems) {
        (None, None) => 0..nbytes,
        (start, nitems) => {
            let (start, all) = (start.unwrap_or(0), nbytes / typesize);
            let nitems = nitems.unwrap_or_else(|| all.saturating_sub(start));
            let end = start.saturating_add(nitems);
            if end > all {
                let text = format!("items {start} to {end} of a chunk that has {all}");
                return Err(pyo3::exceptions::PyIndexError::new_err(text));
            }
            start * typesize..end * typesize
        }
    };
    let is_new = out.is_none();
    let decode = |dest: &mut [u8]| -> PyResult<()> {
        py.detach(|| {
            let destination = match is_new {
                true => Destination::for_new_memory(range.len()),
                false => Destination::for_nbytes(range.len()),
            };
            let params = DParams::default().limits(limits).destination(destination);
            let mut scratch =
                Scratch::new(&params.threads(blosc_chunk::Executor::threads(threads)));
            Chunk::parse(src)?.read_bytes(range.clone(), dest, &mut scratch)
        })
        .map_err(chunk_error)
    };
    let Some(out) = out else {
        return Ok(new_bytes(py, range.len(), decode)?.into_any());
    };
    let mut out = Output::apart_from(&input, out)?;
    let dest = out.bytes_mut();
    let room = dest.len();
    let dest = dest.get_mut(..range.len());
    let text = || param(format!("`out` has {room} bytes, {} are needed", range.len()));
    decode(dest.ok_or_else(text)?)?;
    Ok(range.len().into_pyobject(py)?.into_any())
}

/// The fields of the header of a chunk.
#[pyfunction]
pub(crate) fn chunk_info<'py>(
    py: Python<'py>,
    chunk: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let input = Input::get(chunk)?;
    let header = ChunkHeader::parse(input.bytes()).map_err(chunk_error)?;
    let info = PyDict::new(py);
    info.set_item("nbytes", header.nbytes())?;
    info.set_item("cbytes", header.cbytes())?;
    info.set_item("blocksize", header.blocksize())?;
    info.set_item("typesize", header.typesize())?;
    info.set_item("nblocks", header.nblocks())?;
    info.set_item("codec", header.codec_id().to_string())?;
    let filters = header.pipeline();
    let filters: Vec<String> = filters.active().map(|slot| slot.id.to_string()).collect();
    info.set_item("filters", filters)?;
    info.set_item("kind", kind_name(header.kind()))?;
    info.set_item("format", if header.header_len() == 16 { "blosc" } else { "blosc2" })?;
    Ok(info)
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Special(_) => "run",
        Kind::Memcpyed => "stored",
        Kind::Empty => "empty",
        Kind::Vl => "vl-blocks",
        _ => "blocks",
    }
}

/// Classes and functions of this file.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Encoder>()?;
    module.add_class::<Threads>()?;
    module.add_function(wrap_pyfunction!(decompress, module)?)?;
    module.add_function(wrap_pyfunction!(chunk_info, module)?)
}
