//! Every case of the conformance suite through the door for all formats: data where data are
//! wanted, an error that blames the file where an error is.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use blosc_chunk::error::Blame;
use blosc_data::{
    Budget, Data, Dataset, Error,
    cells::cell_json,
    json, open,
    verify::{VerifyOptions, verify},
};
use blosc_testdata::{
    conformance::{Case, Content, Kind, cases},
    sha256_hex,
};
use serde_json::Value;

/// The answer of our reader to a case, if the manifest demands another one.
fn fault(case: &Case) -> Option<String> {
    match (case.kind, read(case)) {
        (Kind::Valid | Kind::Undefined, Ok(wrong)) => wrong,
        (Kind::Valid, Err(error)) => Some(format!("{error:?}")),
        (Kind::Invalid, Ok(_)) => Some("is read".to_owned()),
        (Kind::Invalid | Kind::Undefined, Err(error)) => {
            let is_fair = error.blame() != Blame::Usage || case.kind == Kind::Undefined;
            (!is_fair).then(|| format!("blames the caller: {error:?}"))
        }
    }
}

/// Reads all of a case; the member whose data are others than those of the manifest.
fn read(case: &Case) -> Result<Option<String>, Error> {
    let name = case.path().display().to_string();
    // At a place that is named, bytes may follow a chunk.
    let is_placed = case.format == "chunk" && case.kind == Kind::Valid;
    let name = if is_placed { format!("{name}@0") } else { name };
    let whole = open(&name)?;
    if case.kind != Kind::Valid {
        look_everywhere(&whole)?;
    }
    if let Some(name) = case.metadata.keys().find(|name| !has_metadata(case, &whole, name)) {
        return Ok(Some(format!("metadata {name}: others")));
    }
    let Some(members) = &case.members else {
        let Some(wanted) = &case.data else { return consume(&whole).map(|()| None) };
        return Ok((!holds(wanted, &whole)?).then(|| "other data".to_owned()));
    };
    for (member, wanted) in members {
        let is_right = match (case.format.as_str(), member.as_str()) {
            (_, "") => holds(wanted, &whole)?,
            ("table", column) => has_column(wanted, &whole, column)?,
            ("bcolz", column) => holds(wanted, &open(format!("{name}/{column}"))?)?,
            (_, key) => holds(wanted, &open(format!("{name}::{key}"))?)?,
        };
        if !is_right {
            return Ok(Some(format!("{member}: other data")));
        }
    }
    Ok(None)
}

/// Whether a metalayer, or the attributes, are those of the manifest.
fn has_metadata(case: &Case, found: &Dataset, name: &str) -> bool {
    let wanted = &case.metadata[name];
    let frame = match &found.data {
        Data::Bytes(bytes) => bytes.frame(),
        Data::Array(array) => array.frame(),
        _ => None,
    };
    if let Some(frame) = frame {
        let content = frame.meta().get(name).map(|layer| layer.content.to_vec());
        let content = content.or_else(|| frame.vlmeta().get(name).unwrap()).unwrap_or_default();
        let digits: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
        return wanted.as_str() == Some(&digits);
    }
    let attributes = found.attributes().unwrap();
    match wanted {
        // An array has its type and shape in the metadata, which are no attributes.
        Value::Object(wanted) if case.format == "blp" && wanted.contains_key("container") => {
            attributes.iter().all(|(key, value)| wanted.get(key) == Some(value))
        }
        Value::Object(wanted) => *wanted == attributes,
        other => attributes.get("metadata") == Some(other),
    }
}

/// An error if verifying finds a fault in any part.
fn look_everywhere(found: &Dataset) -> Result<(), Error> {
    let options = VerifyOptions::default().budget(budget());
    let mut report = verify(found, &options, &mut |_| ())?;
    match (report.other.pop(), report.bad.pop()) {
        (Some(error), _) => Err(error),
        (None, Some(bad)) => Err(bad.error),
        (None, None) => Ok(()),
    }
}

fn budget() -> Budget {
    Budget::default().max_memory(64 << 20)
}

fn consume(found: &Dataset) -> Result<(), Error> {
    match &found.data {
        Data::Bytes(bytes) => {
            bytes.stream(0..bytes.nbytes().min(1 << 24), &budget(), &mut |_| Ok(()))
        }
        Data::Array(array) => {
            array.stream(0..array.nbytes().min(1 << 24), &budget(), &mut |_| Ok(()))
        }
        _ => Ok(()),
    }
}

fn holds(wanted: &Content, found: &Dataset) -> Result<bool, Error> {
    let bytes = match &found.data {
        Data::Bytes(bytes) => {
            let mut data = vec![0; usize::try_from(bytes.nbytes()).unwrap()];
            bytes.read_at(0, &mut data)?;
            data
        }
        Data::Array(array) => array.to_bytes(..)?,
        Data::Objects(objects) if wanted.values.is_none() => {
            let frame = objects.frame().unwrap();
            let chunks = (0..frame.nchunks()).map(|n| Ok(frame.decode_chunk(n)?));
            chunks.collect::<Result<Vec<_>, Error>>()?.concat()
        }
        Data::Objects(objects) => {
            let values = objects.get(0..objects.len()?)?;
            return Ok(has_values(wanted, values.iter().map(json::value)));
        }
        other => panic!("{}: {}", found.name, other.kind_name()),
    };
    let sum = Some(sha256_hex(&bytes));
    Ok(sum == wanted.sha256 || sum == wanted.c_order_sha256)
}

fn has_column(wanted: &Content, found: &Dataset, name: &str) -> Result<bool, Error> {
    let Data::Table(table) = &found.data else { panic!("{}", found.data.kind_name()) };
    let column = table.read(&[name], 0..table.nrows())?.remove(0);
    let kind = &table.columns()[table.column(name)?].kind;
    let nrows = usize::try_from(table.nrows()).unwrap();
    Ok(has_values(wanted, (0..nrows).map(|row| cell_json(&column, kind, row))))
}

/// Whether the lines of JSON are those that the manifest has the sum of.
fn has_values(wanted: &Content, values: impl Iterator<Item = Value>) -> bool {
    let mut lines = String::new();
    for value in values {
        write_line(&value, &mut lines);
        lines.push('\n');
    }
    wanted.values.as_ref().is_some_and(|values| values.sha256 == sha256_hex(lines.as_bytes()))
}

/// As Python writes it: keys sorted, no blanks, everything but ASCII escaped.
fn write_line(value: &Value, line: &mut String) {
    for letter in value.to_string().encode_utf16() {
        match u8::try_from(letter) {
            Ok(byte) if byte.is_ascii() => line.push(char::from(byte)),
            _ => line.push_str(&format!("\\u{letter:04x}")),
        }
    }
}

fn check(format: &str) {
    let cases = cases().unwrap();
    let mut faults = vec![];
    let mut count = 0;
    for case in cases.iter().filter(|case| case.format == format) {
        count += 1;
        match catch_unwind(AssertUnwindSafe(|| fault(case))) {
            Ok(None) => {}
            Ok(Some(fault)) => faults.push(format!("{}: {fault}", case.id)),
            Err(_) => faults.push(format!("{}: panics", case.id)),
        }
    }
    assert!(count >= 40, "{count} cases");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

macro_rules! formats {
    ($($name:ident)*) => { $(#[test] fn $name() { check(stringify!($name)); })* };
}

formats! { chunk frame sframe b2nd store table blp bcolz }
