//! `b2 recompress`: the same object, compressed another way, in its place or beside it.
//!
//! The output is read back and compared, and a rename then replaces the input: a crash leaves the
//! old object or the new one.

use std::{path::Path, time::Instant};

use serde::Serialize;

use crate::{
    args::{ConvertArgs, ConvertedFormat, RecompressArgs},
    content,
    context::Context,
    conversion::{Rewritten, rewrite, rewrite_in_store},
    error::{Error, Result, message},
    exit::Code,
    formats::{csv_table, store},
    inputs::{
        Object, ObjectReader, Origin, Part, Place,
        origin::{self, Found},
        walk,
    },
    output::{Naming, Outcome, Target, Targets, check_frame_name, foreign_file},
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
    let inputs = inputs.map(|found| found.into_iter().flat_map(|it| values(cx, it)).collect());
    if args.is_in_place() {
        return cx.run_on_inputs(inputs, |origin| {
            origin.to_change()?;
            let origin = &store::value_of(origin, cx.read_params())?;
            match origin {
                Origin::File { path, part: Part::Member(key) } => {
                    return recompress_in_store(args, &options, cx, (origin, path, Some(key)));
                }
                Origin::File { path, .. } if path.is_store() => {
                    return recompress_in_store(args, &options, cx, (origin, path, None));
                }
                _ => {}
            }
            let path = origin.to_change()?;
            // While another program writes the file, it may look like several objects.
            let _lock = cx.lock_exclusive(path, args.lock)?;
            if let Some(file) = foreign_file(path) {
                return Err(message::FOREIGN_FILE.about(path_text(&file)));
            }
            check_in_place(cx, origin)?;
            recompress(&options, cx, origin, &Target::File(path.to_path_buf()))
        });
    }
    cx.run_into_targets(inputs, &output, |origin, targets: &mut Targets<'_>| {
        let suffix = convert_format(cx, origin)?.suffix();
        let target = targets.next(origin, Naming::Replace(suffix))?;
        check_frame_name(&target)?;
        recompress(&options, cx, origin, &target)
    })
}

/// The values and tables of a group in a store; for an archive of NumPy the error that it is only
/// read; any other input unchanged.
fn values(cx: &Context, input: Found) -> Vec<Found> {
    match &input {
        Ok(Origin::File { path, .. }) if path.is_archive() => {
            vec![Err((path.shown(), message::ARCHIVE_IS_READ.error()))]
        }
        Ok(origin) if store::whole(origin).is_none() => content::expand(vec![input], cx, true),
        _ => vec![input],
    }
}

/// Recompresses a value of a store, or all of it, under the lock of the store.
fn recompress_in_store(
    args: &RecompressArgs,
    options: &ConvertArgs,
    cx: &Context,
    (origin, path, key): (&Origin, &Path, Option<&str>),
) -> Result<()> {
    let start = Instant::now();
    let format = convert_format(cx, origin)?;
    let place = (origin, path, key);
    let name = origin.name();
    let done = rewrite_in_store(options, cx, place, format, args.lock);
    let done = done.map_err(|error| error.of_output(Path::new(&name)))?;
    report(cx, origin, format, &done, Some(Path::new(&name)), start)
}

/// Refuses a file that holds more than one object.
fn check_in_place(cx: &Context, origin: &Origin) -> Result<()> {
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let is_whole = matches!(origin, Origin::File { part: Part::Whole, .. });
    if !is_whole || objects.next()?.is_some() || objects.tail().nbytes > 0 {
        return Err(message::RECOMPRESS_ONE.error());
    }
    Ok(())
}

/// The format of the object, as `convert` calls it.
fn convert_format(cx: &Context, origin: &Origin) -> Result<ConvertedFormat> {
    if let Some(path) = store::whole(origin) {
        return Ok(store_format(path));
    }
    let object = ObjectReader::open(origin, cx.read_params())?.next()?;
    format(origin, &object.ok_or(Error::NotBlosc { start: vec![] })?)
}

/// The format of a store of the same form.
fn store_format(path: &Place) -> ConvertedFormat {
    if path.is_dir() { ConvertedFormat::B2d } else { ConvertedFormat::B2z }
}

fn format(origin: &Origin, object: &Object) -> Result<ConvertedFormat> {
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
        Object::Table(rows) if rows.is_column() => {
            return Err(message::A_COLUMN.about(origin.name()));
        }
        Object::Table(_) => origin.place().map_or(ConvertedFormat::B2z, store_format),
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
