//! `b2 scan`: frames and chunks inside any file, at positions that `FILE@N` opens.

use std::{
    io::{self, Read as _},
    sync::Arc,
};

use blosc_data::scan::{Found, ScanOptions, scan};
use blosc_io::{FileStore, ReadAt};
use serde::Serialize;

use crate::{
    args::{InputArgs, ScanArgs},
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{Origin, Part, origin, walk},
    render::{harmless, size},
};

/// The objects of one file.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.scan/1")]
struct ScanReport<'a> {
    path: &'a str,
    file_bytes: u64,
    objects: Vec<Found>,
}

/// Scans each file.
pub(crate) fn run(args: &ScanArgs, cx: &Context) -> Code {
    let inputs = InputArgs { files: args.files.clone(), ..InputArgs::default() };
    cx.run_on_inputs(origin::find(&inputs, &walk::all), |origin| scan_input(args, cx, origin))
}

fn scan_input(args: &ScanArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let (store, name) = (open(origin)?, origin.name());
    let file_bytes = store.len().map_err(Error::io(Doing::Open))?;
    let options = ScanOptions::default().frames_only(args.frames).dparams(cx.dparams());
    let options = options.budget(cx.read_options());
    let (mut objects, mut nobjects) = (vec![], 0u64);
    scan::<Error>(store, &options, &mut |object| {
        nobjects += 1;
        match cx.console.json() {
            true => objects.push(object),
            false => cx.console.print(&line(&object))?,
        }
        Ok(())
    })?;
    if cx.console.json() {
        let path = name.as_str();
        cx.console.document(&ScanReport { path, file_bytes, objects })?;
    }
    match nobjects {
        0 if cx.console.json() => Err(Error::Reported { code: Code::Data }),
        0 => Err(message::NOTHING_FOUND.error()),
        _ => Ok(()),
    }
}

/// The file; standard input is copied to a temporary one.
fn open(origin: &Origin) -> Result<Arc<dyn ReadAt>> {
    if let Origin::File { path, part: Part::Member(key) } = origin {
        let opened = store::open(path, blosc_chunk::DParams::default())?;
        return Ok(opened.frame_bytes(key)?);
    }
    if let Some(path) = origin.path() {
        return Ok(Arc::new(FileStore::open(path).map_err(Error::io(Doing::Open))?));
    }
    let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    let mut stdin = io::stdin().lock().take(u64::MAX);
    io::copy(&mut stdin, &mut file).map_err(Error::io(Doing::Spool))?;
    Ok(Arc::new(FileStore::from_file(file)))
}

fn line(object: &Found) -> String {
    let what = match (&object.dtype, &object.shape) {
        (Some(dtype), Some(shape)) => format!("{dtype} {}", size::shape(shape)),
        _ => format!("{} bytes in items of {}", object.nbytes, object.typesize),
    };
    let Found { offset, cbytes, format, codec, .. } = object;
    format!("{offset:>12}  {cbytes:>10}  {format:<7}  {codec:<7}  {}\n", harmless(&what))
}
