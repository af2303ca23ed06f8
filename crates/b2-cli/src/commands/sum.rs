//! `b2 sum`: a hash of the content, which is the same whatever the format.

use b2_program::escape::path_text;
use blosc_data::sum::{Algorithm, Entry, Report, Sum};
use serde::Serialize;

use super::content;
use crate::{
    args::{LimitArgs, SumArgs},
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{
        ObjectReader, Origin,
        origin::{self, Found},
        walk,
    },
};

/// The sum of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.sum/1")]
struct SumReport<'a> {
    path: &'a str,
    #[serde(flatten)]
    sum: &'a Report,
    /// With --check: whether it is the sum in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
}

/// Prints the sum of each input, or checks those of lists.
pub(crate) fn run(args: &SumArgs, cx: &Context) -> Code {
    if args.check {
        let lists = origin::find(&args.inputs, &walk::all);
        return cx.run_on_inputs(lists, |list| check_list(args, cx, list));
    }
    let inputs = cx.find(&args.inputs, &walk::all).map(|found| {
        let arrays = cx.expand_groups(found).into_iter();
        arrays.flat_map(|input| tables_or_frames(input, cx)).collect()
    });
    cx.run_on_inputs(inputs, |origin| {
        let sum = &sum(cx, origin, args.algorithm.into(), args.limits)?;
        if cx.console.json() {
            return cx.console.document(&SumReport { path: &origin.name(), sum, ok: None });
        }
        cx.console.print_name(&format!("{}  ", sum.sum), &origin.name_bytes(), "")
    })
}

/// The tables and values of a store, so that a table has the same sum in all formats. If the rows
/// of a table have no NumPy type, its frames have a sum each.
fn tables_or_frames(input: Found, cx: &Context) -> Vec<Found> {
    let store = input.as_ref().ok().filter(|origin| store::whole(origin).is_some()).cloned();
    let tables = content::expand(vec![input], cx, true);
    let has_rows = |origin: &Origin| match store::rows(origin, cx.read_params()) {
        Ok(Some(rows)) => rows.dtype().is_ok(),
        _ => true,
    };
    match store {
        Some(store) if !tables.iter().flatten().all(has_rows) => {
            content::expand(vec![Ok(store)], cx, false)
        }
        _ => tables,
    }
}

fn sum(cx: &Context, origin: &Origin, algorithm: Algorithm, limits: LimitArgs) -> Result<Report> {
    if origin.place().is_some_and(walk::is_damaged) {
        // A damaged file is an error, and not raw bytes.
        let opened =
            ObjectReader::open(origin, cx.dparams()).and_then(|mut objects| objects.next());
        opened.map_err(|error| walk::as_damage(origin, error))?;
    }
    let mut sum = Sum::new(algorithm);
    content::for_each(cx, origin, limits, |source| {
        Ok(sum.add(&source, &cx.read_options(), &mut |_| ())?)
    })?;
    Ok(sum.finish())
}

/// Checks every sum of a list.
fn check_list(args: &SumArgs, cx: &Context, list: &Origin) -> Result<()> {
    let bytes = match list.path() {
        Some(path) => std::fs::read(path),
        None => {
            let mut bytes = vec![];
            std::io::copy(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
        }
    };
    let bytes = bytes.map_err(Error::io(Doing::Open))?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.map(|(nline, line)| (nline, line.strip_suffix(b"\r").unwrap_or(line)));
    let entries = lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(nline, line)| Entry::parse(line).ok_or_else(|| message::NO_SUMS.about(nline + 1)))
        .collect::<Result<Vec<_>>>()?;
    if entries.is_empty() {
        return Err(message::EMPTY_LIST.error());
    }
    let mut nwrong = 0;
    let origins = entries.iter().map(|entry| {
        let path = b2_program::input::path_of(entry.name).map_err(Error::io(Doing::Read))?;
        Ok(match cx.origin(&path) {
            // Lists hold sums of single inputs, so a group in a list is read as a file.
            Ok(origin) if origin.is_group() => Ok(Origin::from_word(&path)),
            origin => origin.map_err(|error| (path_text(&path), error)),
        })
    });
    let mut wanted = entries.iter();
    let code = cx.run_on_inputs(origins.collect::<Result<Vec<Found>>>()?, |origin| {
        let Some(Entry { algorithm, sum: digits, name }) = wanted.next() else { return Ok(()) };
        let sum = &sum(cx, origin, *algorithm, args.limits)?;
        let ok = sum.sum.eq_ignore_ascii_case(digits);
        nwrong += u64::from(!ok);
        if cx.console.json() {
            let name = String::from_utf8_lossy(name);
            return cx.console.document(&SumReport { path: &name, sum, ok: Some(ok) });
        }
        cx.console.print_name("", name, if ok { ": OK" } else { ": FAILED" })
    });
    match code {
        Code::Success if nwrong > 0 => Err(message::SUMS_DIFFER.about(nwrong)),
        Code::Success => Ok(()),
        code => Err(Error::Reported { code }),
    }
}
