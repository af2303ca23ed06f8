//! Care of files: verify, rescue, seal, compact, convert.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use b2frame::{Checksums, EditOptions, SChunkWriter};
use blosc_chunk::Level;
use blosc_container::rescue::Fill;
use blosc_data::convert::{Compression, OutputFormat, Settings};
use blosc_data::verify::{Report, VerifyOptions};
use blosc_data::{OpenOptions, Opened, Opener, Openers, rescue};
use blosc_io::replace::{Carry, ReplaceOptions, Replacement};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{line, param, raise, raise_at};
use crate::params::{self, Threads, open_options};
use crate::watch::{Watch, source, watched};

/// Opens files of the system so that stopped work ends.
#[derive(Debug)]
struct WatchedFiles(Arc<Watch>);

impl Opener for WatchedFiles {
    fn open(&self, word: &str) -> std::io::Result<Option<Opened>> {
        let path = Path::new(word);
        if !path.is_file() && !path.is_dir() {
            return Ok(None);
        }
        source(path, &self.0).map(|source| Some(Opened::Source(source))).or(Ok(None))
    }
}

/// Decodes all that is there. The report as a dictionary.
#[pyfunction]
#[pyo3(signature = (path, threads, max_memory, progress))]
fn verify<'py>(
    py: Python<'py>,
    path: PathBuf,
    threads: &Threads,
    max_memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = open_options(threads, max_memory, None);
    let report = watched(py, progress, None, |watch| {
        let files: Box<dyn Opener> = Box::new(WatchedFiles(Arc::clone(watch)));
        let openers = Openers::new(vec![files]);
        let found = blosc_data::open_with(&path, &openers, &options)?;
        let options = VerifyOptions::default().budget(options.budget.clone());
        blosc_data::verify::verify(&found, &options, &mut |progress| {
            watch.done.store(progress.nbytes, Ordering::Relaxed);
        })
    })?;
    let report = report.map_err(|error| raise_at(error, Some(&path.to_string_lossy())))?;
    report_of(py, &report)
}

fn report_of<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ok", report.is_ok())?;
    dict.set_item("nchunks", report.nchunks)?;
    dict.set_item("nbytes", report.nbytes)?;
    dict.set_item("nbad", report.nbad)?;
    let bad = report.bad.iter().map(|bad| (bad.nchunk, bad.offset, line(&bad.error)));
    dict.set_item("bad", bad.collect::<Vec<_>>())?;
    dict.set_item("other", report.other.iter().map(|error| line(error)).collect::<Vec<_>>())?;
    let suspected = report.suspected.iter().map(ToString::to_string);
    let notes = report.notes.iter().cloned().chain(suspected);
    dict.set_item("notes", notes.collect::<Vec<_>>())?;
    Ok(dict)
}

/// A rescue to one path, which appears whole or not at all.
struct Target<'a> {
    to: &'a Path,
    place: Option<Replacement>,
}

impl Target<'_> {
    fn failed(&self, source: std::io::Error) -> blosc_data::Error {
        let doing = blosc_data::error::Doing::Create;
        blosc_data::Error::Write { doing, path: self.to.to_owned(), source }
    }
}

impl rescue::Caller for Target<'_> {
    type Error = blosc_data::Error;

    fn output(&mut self, _: rescue::Output) -> blosc_data::Result<PathBuf> {
        let place = Replacement::folder(self.to, ReplaceOptions::default());
        let place = place.map_err(|error| self.failed(error))?;
        let path = place.path().to_owned();
        self.place = Some(place);
        Ok(path)
    }
}

/// The sound parts of something damaged, as something new. The report as a text of JSON.
#[pyfunction]
#[pyo3(signature = (original, new, fill, item, threads, progress))]
fn rescue_to(
    py: Python<'_>,
    original: PathBuf,
    new: PathBuf,
    fill: &str,
    item: Option<Vec<u8>>,
    threads: &Threads,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let fill = match (fill, item) {
        (_, Some(item)) => Fill::Value(item),
        ("zeros", _) => Fill::Zeros,
        ("nan", _) => Fill::NaN,
        ("cut", _) => Fill::Cut,
        (other, _) => return Err(param(format!("fill {other:?}: `zeros`, `nan` or `cut`"))),
    };
    let options = open_options(threads, None, None);
    let options = rescue::Options::default().fill(fill).budget(options.budget);
    let report = watched(py, progress, None, |_| -> blosc_data::Result<rescue::Report> {
        let mut target = Target { to: &new, place: None };
        let report = rescue::rescue(&original, None, &options, &mut target)?;
        if let Some(place) = target.place.take() {
            place.commit(Carry::Target).map_err(|error| target.failed(error))?;
        }
        Ok(report)
    })?;
    let report = report.map_err(|error| raise_at(error, Some(&original.to_string_lossy())))?;
    serde_json::to_string(&report).map_err(|error| param(error.to_string()))
}

/// Gives a frame a seal in its place.
#[pyfunction]
#[pyo3(signature = (path, checksums, progress))]
fn seal(
    py: Python<'_>,
    path: PathBuf,
    checksums: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let checksums = checksums_of(checksums)?;
    let sealed = watched(py, progress, None, |_| {
        b2frame::seal::seal(&path, checksums, &EditOptions::default())
    })?;
    sealed.map_err(|error| raise_at(error.into(), Some(&path.to_string_lossy())))
}

/// The sums of a name.
pub(crate) fn checksums_of(name: &str) -> PyResult<Checksums> {
    match name {
        "body" => Ok(Checksums::Body),
        "chunks" => Ok(Checksums::Chunks),
        "none" => Ok(Checksums::None),
        other => Err(param(format!("checksums {other:?}: `body`, `chunks` or `none`"))),
    }
}

/// Writes a frame anew without dead bytes, in its place; how many these were.
#[pyfunction]
#[pyo3(signature = (path, progress))]
fn compact(py: Python<'_>, path: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<u64> {
    let freed = watched(py, progress, None, |_| SChunkWriter::open(&path)?.compact())?;
    freed.map_err(|error| raise_at(error.into(), Some(&path.to_string_lossy())))
}

/// How a conversion compresses, where that is requested.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wanted {
    codec: Option<String>,
    level: Option<u8>,
    shuffle: Option<String>,
    chunks: Option<Vec<u64>>,
    blocks: Option<Vec<u64>>,
}

impl Wanted {
    fn compression(self) -> PyResult<Compression> {
        let level = self.level.map(Level::try_from).transpose();
        let level = level.map_err(|_| param("level must be between 0 and 9"))?;
        let codec = self.codec.as_deref().map(params::codec).transpose()?;
        Ok(Compression::default()
            .codec(codec.map(|codec| (codec, 0)))
            .level(level)
            .filters(self.shuffle.as_deref().map(params::filters).transpose()?)
            .chunkshape(self.chunks)
            .blockshape(self.blocks))
    }
}

fn output_format(name: &str) -> PyResult<OutputFormat> {
    use OutputFormat::{
        B2d, B2frame, B2nd, B2z, Blp, Carray, Chunk, Csv, Ctable, Npy, Raw, Sframe,
    };
    let all = [B2frame, Sframe, B2nd, Blp, Npy, Chunk, Raw, Carray, Ctable, Csv, B2z, B2d];
    let found = all.into_iter().find(|format| format.name() == name);
    found.ok_or_else(|| param(format!("no format {name:?} is written")))
}

/// Converts a file or a folder. The report as a text of JSON.
#[pyfunction]
fn convert(
    py: Python<'_>,
    original: PathBuf,
    new: PathBuf,
    format: &str,
    options: Wanted,
    threads: &Threads,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let open: OpenOptions = open_options(threads, None, None);
    let settings = Settings::default().format(output_format(format)?).open(open.clone());
    let mut settings = settings.compression(options.compression()?);
    settings.resources.threads = threads.0.clone();
    let stem = original.file_stem().unwrap_or_default();
    settings.key = format!("/{}", stem.to_string_lossy());
    let report = watched(py, progress, None, |watch| -> blosc_data::Result<_> {
        let name = original.to_string_lossy();
        let source = source(&original, watch)?;
        let content = blosc_data::content::of_source(source, &name, &open)?;
        let mut sink = blosc_data::convert::create(&new, settings)?;
        let report = sink.write(&content, &|nbytes| {
            watch.done.fetch_add(nbytes, Ordering::Relaxed);
        })?;
        sink.commit()?;
        Ok(report)
    })?;
    let report = report.map_err(|error| raise_at(error, Some(&original.to_string_lossy())))?;
    serde_json::to_string(&report).map_err(|error| param(error.to_string()))
}

/// Bloscpack files and others that appear whole: data that `convert` makes a file of.
#[pyfunction]
fn save_array(
    py: Python<'_>,
    frame: Vec<u8>,
    new: PathBuf,
    format: &str,
    options: Wanted,
) -> PyResult<()> {
    let settings = Settings::default().format(output_format(format)?);
    let settings = settings.compression(options.compression()?);
    py.detach(|| {
        let store = Arc::new(blosc_io::MemStore::new(frame));
        let source = blosc_data::Source::File(store);
        let options = OpenOptions::default();
        let content = blosc_data::content::of_source(source, "array", &options)?;
        let mut sink = blosc_data::convert::create(&new, settings)?;
        sink.write(&content, &|_| ())?;
        sink.commit()
    })
    .map_err(raise)
}

/// Functions of this file.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(rescue_to, module)?)?;
    module.add_function(wrap_pyfunction!(seal, module)?)?;
    module.add_function(wrap_pyfunction!(compact, module)?)?;
    module.add_function(wrap_pyfunction!(save_array, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)
}
