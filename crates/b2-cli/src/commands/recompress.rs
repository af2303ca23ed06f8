//! `b2 recompress`: the same object, compressed another way, in its place or beside it.
//!
//! The output is read back and compared before it takes the place of the input, by a rename: a
//! crash leaves the old object or the new one.

use std::{path::Path, time::Instant};

use b2store::{StoreWriter, WriteOptions};
use serde::Serialize;

use crate::{
    args::{ConvertArgs, ConvertedFormat, RecompressArgs},
    context::Context,
    conversion::{Rewritten, rewrite},
    error::{Error, Result, message},
    exit::Code,
    formats::{csv_table, store},
    inputs::{Object, ObjectReader, Origin, Part, origin, walk},
    output::{Naming, Outcome, Staged, Target, Targets, check_frame_name},
    render::{path_text, size},
};

/// The result of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.recompress/1")]
struct RecompressReport<'a> {
    path: &'a str,
    output: &'a str,
    format: &'static str,
    nbytes: u64,
    /// Bytes before and after.
    file_bytes: u64,
    output_bytes: u64,
    seconds: f64,
}

/// Recompresses each input.
pub(crate) fn run(args: &RecompressArgs, cx: &Context) -> Code {
    if !args.anew.is_wanted() && args.anew.target.is_none() && args.checksum.is_none() {
        return cx.refuse(&message::RECOMPRESS_HOW.error());
    }
    let output = args.outputs();
    let options = ConvertArgs {
        delimiter: csv_table::COMMA,
        anew: args.anew.clone(),
        output: output.clone(),
        checksum: args.checksum,
        checks: args.checks,
        verify: true,
        limits: args.limits,
        ..ConvertArgs::default()
    };
    let inputs = origin::find(&args.inputs, &walk::ours);
    if args.is_in_place() {
        return cx.run_on_inputs(inputs, |origin| {
            let origin = &store::value_of(origin, cx.read_params())?;
            if let Origin::File { path, part: Part::Member(key) } = origin {
                return recompress_value(args, &options, cx, origin, path, key);
            }
            let path = origin.path().ok_or_else(|| message::PIPE_IS_NOT_CHANGED.error())?;
            // What another program writes looks like more than one object meanwhile.
            let _lock = cx.lock_exclusive(path, args.lock)?;
            check_in_place(cx, origin)?;
            recompress(&options, cx, origin, &Target::File(path.to_owned()))
        });
    }
    cx.run_into_targets(inputs, &output, |origin, targets: &mut Targets<'_>| {
        let suffix = convert_format(cx, origin)?.suffix();
        let target = targets.next(origin, Naming::Replace(suffix))?;
        check_frame_name(&target)?;
        recompress(&options, cx, origin, &target)
    })
}

/// Recompresses a value of a store, which is locked meanwhile.
fn recompress_value(
    args: &RecompressArgs,
    options: &ConvertArgs,
    cx: &Context,
    origin: &Origin,
    path: &Path,
    key: &str,
) -> Result<()> {
    let start = Instant::now();
    let locked = WriteOptions::default().wait(cx.lock_wait(args.lock));
    let mut writer = StoreWriter::open_with(path, &locked)?;
    let format = convert_format(cx, origin)?;
    let station = Staged::for_stream(&cx.unfinished)?;
    let target = Target::File(station.path().to_owned());
    let done = rewrite(options, cx, origin, format, &target)?;
    writer.insert_file(key, station.path())?;
    writer.commit()?;
    report(cx, origin, format, &done, Some(Path::new(&origin.name())), start)
}

/// Refuses a file that holds more than this input.
fn check_in_place(cx: &Context, origin: &Origin) -> Result<()> {
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let is_whole = matches!(origin, Origin::File { part: Part::Whole, .. });
    if !is_whole || objects.next()?.is_some() || objects.trailing() > 0 {
        return Err(message::RECOMPRESS_ONE.error());
    }
    Ok(())
}

/// The format of the object, as `convert` calls it.
fn convert_format(cx: &Context, origin: &Origin) -> Result<ConvertedFormat> {
    let object = ObjectReader::open(origin, cx.read_params())?.next()?;
    format(&object.ok_or(Error::NotBlosc { start: vec![] })?)
}

fn format(object: &Object) -> Result<ConvertedFormat> {
    Ok(match object {
        Object::Frame(schunk) if crate::inputs::object::is_sparse(schunk) => {
            ConvertedFormat::Sframe
        }
        Object::Frame(schunk) => match schunk.nd_meta()? {
            Some(_) => ConvertedFormat::B2nd,
            None => ConvertedFormat::B2frame,
        },
        Object::Chunk(_) => ConvertedFormat::Chunk,
        Object::Blp(_) => ConvertedFormat::Blp,
        Object::Bcolz(set) if set.format() == "ctable" => ConvertedFormat::Ctable,
        Object::Bcolz(_) => ConvertedFormat::Carray,
        Object::Table(rows) => {
            return Err(message::A_TABLE.about(rows.table().key()));
        }
        Object::Opened(_) => {
            return Err(Error::NotBlosc { start: vec![] });
        }
    })
}

fn recompress(args: &ConvertArgs, cx: &Context, origin: &Origin, target: &Target) -> Result<()> {
    let start = Instant::now();
    let format = convert_format(cx, origin)?;
    let done = rewrite(args, cx, origin, format, target)?;
    report(cx, origin, format, &done, target.path(), start)
}

fn report(
    cx: &Context,
    origin: &Origin,
    format: ConvertedFormat,
    done: &Rewritten,
    output: Option<&Path>,
    start: Instant,
) -> Result<()> {
    let (name, elapsed) = (origin.name(), start.elapsed());
    if let (true, Some(path)) = (cx.console.json(), output) {
        return cx.console.document(&RecompressReport {
            path: &name,
            output: &path_text(path),
            format: format.name(),
            nbytes: done.nbytes,
            file_bytes: done.before,
            output_bytes: done.after,
            seconds: elapsed.as_secs_f64(),
        });
    }
    let Rewritten { nbytes, before, after } = *done;
    let outcome = Outcome { name: &name, output, before, after, nbytes, elapsed };
    let ratio = format!("  ({}x)", size::ratio(nbytes, after));
    cx.console.note(&outcome.line(&cx.console, &ratio));
    Ok(())
}
