//! Parameters of compression and of reading, as Python names them.

use blosc_chunk::{CParams, CodecId, DParams, Executor, Level, Limits, Pipeline, Target};
use blosc_data::{Budget, OpenOptions};
use pyo3::prelude::*;

use crate::errors::{param, raise};

/// Threads that calls and objects share: a value, which starts none before the first need, and new
/// ones in a child process.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Threads(pub(crate) Executor);

#[pymethods]
impl Threads {
    /// `None` is one for each processor.
    #[new]
    #[pyo3(signature = (n=None))]
    fn new(n: Option<usize>) -> Self {
        Self(n.map_or_else(Executor::auto, Executor::threads))
    }

    fn __len__(&self) -> usize {
        self.0.count()
    }
}

/// The codec of a name.
pub(crate) fn codec(name: &str) -> PyResult<CodecId> {
    let known = CodecId::from_name(&name.replace('-', "_"));
    known.ok_or_else(|| param(format!("no codec {name:?}")))
}

/// The filters of a text: `byte` and `bit` are shuffles, `none` is none, others as the pipeline
/// has them.
pub(crate) fn filters(text: &str) -> PyResult<Pipeline> {
    match text {
        "none" => Ok(Pipeline::EMPTY),
        "byte" => Ok(Pipeline::SHUFFLE),
        "bit" => parse_filters("bitshuffle"),
        other => parse_filters(other),
    }
}

fn parse_filters(text: &str) -> PyResult<Pipeline> {
    Pipeline::parse(text).map_err(|error| param(format!("shuffle {text:?}: {error}")))
}

/// How chunks are compressed.
pub(crate) fn cparams(
    name: &str,
    level: i64,
    shuffle: &str,
    typesize: usize,
    blocksize: usize,
) -> PyResult<CParams> {
    let level = u8::try_from(level).ok().and_then(|level| Level::try_from(level).ok());
    let level = level.ok_or_else(|| param("level must be between 0 and 9"))?;
    let params = CParams::default().codec(codec(name)?).clevel(level).filters(filters(shuffle)?);
    let params = params.typesize(typesize.max(1));
    Ok(params.blocksize((blocksize > 0).then_some(blocksize)))
}

/// The oldest reader of chunks.
pub(crate) fn target(format: &str) -> PyResult<Target> {
    match format {
        "blosc" => Ok(Target::Blosc1_14),
        "blosc2" => Ok(Target::Blosc2_0),
        other => Err(param(format!("format {other:?}: `blosc` or `blosc2`"))),
    }
}

/// Whether chunks can be written like this.
pub(crate) fn checked(params: CParams) -> PyResult<CParams> {
    params.check().map_err(chunk_error)?;
    Ok(params)
}

/// The exception for an error about a chunk in memory.
pub(crate) fn chunk_error(source: blosc_chunk::Error) -> PyErr {
    raise(blosc_data::Error::Chunk { at: 0, source })
}

/// How data are opened: the threads, the memory of long reads, and the most that a chunk may have.
pub(crate) fn open_options(
    threads: &Threads,
    max_memory: Option<u64>,
    max_chunk: Option<u64>,
) -> OpenOptions {
    let budget = Budget::default().threads(threads.0.clone());
    let budget = max_memory.map_or(budget.clone(), |max| budget.max_memory(max));
    let limits = max_chunk.map(|max| Limits::default().max_nbytes(max));
    let dparams = DParams::default();
    let dparams = limits.map_or(dparams.clone(), |limits| dparams.limits(limits));
    OpenOptions::default().budget(budget).dparams(dparams)
}
