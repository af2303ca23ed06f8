//! `b2 meta`: metadata of frames, Bloscpack files, data sets of bcolz and stores, shown and changed
//! in place.
//!
//! All metadata of a file are one JSON document, as in `info --json` and `compress --meta-file`.
//! `get` and `export` print it; `import` and `edit` compare it with a new one, and change what
//! differs in one step.

mod bcolz;
mod blp;
mod edit;
mod frame;
mod store;

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    args::{MetaArgs, meta::Action},
    context::Context,
    error::{Doing, Error, Result, WideInteger, message},
    exit::Code,
    inputs::{Object, ObjectReader, Origin, Part, Place},
    metadata::{self, Change, Document, Kind, Owner},
    output::{StageOptions, Staged},
    render::{harmless, size},
};

/// Runs the requested action.
pub(crate) fn run(args: &MetaArgs, cx: &Context) -> Code {
    cx.run_on_inputs(cx.input(&args.file), |origin| run_action(args, cx, origin))
}

/// A document about changes.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.meta/1")]
struct ChangeReport<'a> {
    path: &'a str,
    changed: Vec<&'a str>,
}

fn run_action(args: &MetaArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let (owner, document) = metadata::of_input(origin, cx.read_params())?;
    match args.action {
        Action::Get => print_values(args, cx, origin, document.only(kind(args))),
        Action::Export => export(args, cx, origin, document.only(kind(args))),
        Action::Set => {
            let changes = settings(args)?;
            for change in &changes {
                if let Change::Set { name, value, .. } = change {
                    metadata::tell_of_text(&cx.console, &origin.name(), name, value);
                }
            }
            change(args, cx, origin, owner, &document, &changes)
        }
        Action::Del => change(args, cx, origin, owner, &document, &deletions(args)?),
        Action::Import => {
            let new = imported(args)?.for_file(&document);
            change(args, cx, origin, owner, &document, &document.changes(&new)?)
        }
        Action::Edit => {
            let text = document.only(kind(args)).pretty();
            let changes = edit::edited(&text, cx, |text| {
                let changes = document.changes(&Document::parse(text.as_bytes())?)?;
                document.check(&changes).map(|()| changes)
            })?;
            change(args, cx, origin, owner, &document, &changes)
        }
    }
}

fn kind(args: &MetaArgs) -> Option<Kind> {
    match (args.meta, args.vlmeta) {
        (true, _) => Some(Kind::Fixed),
        (_, true) => Some(Kind::Variable),
        _ => None,
    }
}

/// Prints the values of these names; of all names if none is given.
fn print_values(args: &MetaArgs, cx: &Context, origin: &Origin, document: Document) -> Result<()> {
    if args.items.is_empty() {
        return match cx.console.json() {
            true => cx.console.document(&document.report(&origin.name())),
            false => cx.console.print(&document.lines()),
        };
    }
    if cx.console.json() {
        return cx.console.document(&document.named(&args.items)?.report(&origin.name()));
    }
    for name in &args.items {
        let value = document.get(name).ok_or_else(|| message::NO_SUCH_METADATA.about(name))?;
        cx.console.document(value)?;
    }
    Ok(())
}

fn export(args: &MetaArgs, cx: &Context, origin: &Origin, document: Document) -> Result<()> {
    let text = document.pretty();
    match args.output.as_deref().filter(|output| *output != Path::new("-")) {
        None => cx.console.print(&text),
        Some(path) => {
            let options = StageOptions { force: args.force, sync: true };
            let staged = Staged::create(path, options, &cx.unfinished)?;
            staged
                .handle()?
                .write_all(text.as_bytes())
                .map_err(Error::io_at(Doing::Write, path))?;
            let source = origin.path().and_then(|path| fs::metadata(path).ok());
            staged.commit_with_mode(source.as_ref()).map(drop)
        }
    }
}

fn settings(args: &MetaArgs) -> Result<Vec<Change>> {
    let kind = kind(args);
    let set = |item: &String| {
        let (name, text) = name_and_value(item).ok_or_else(|| message::NAME_VALUE.about(item))?;
        let value = metadata::json_or_text(text)
            .map_err(|WideInteger(number)| message::WIDE_INTEGER.about(number))?;
        Ok(Change::Set { kind, name, value })
    };
    required_items(args)?.iter().map(set).collect()
}

/// `NAME=VALUE`, or `"NAME"=VALUE` where the name has a `=` in it.
fn name_and_value(item: &str) -> Option<(String, &str)> {
    let mut quoted = serde_json::Deserializer::from_str(item).into_iter::<String>();
    if item.starts_with('"')
        && let Some(Ok(name)) = quoted.next()
        && let Some(value) = item.get(quoted.byte_offset()..).and_then(|it| it.strip_prefix('='))
    {
        return Some((name, value));
    }
    let (name, value) = item.split_once('=').filter(|(name, _)| !name.is_empty())?;
    Some((name.to_owned(), value))
}

fn deletions(args: &MetaArgs) -> Result<Vec<Change>> {
    let kind = kind(args);
    Ok(required_items(args)?
        .iter()
        .map(|name| Change::Delete { kind, name: name.clone() })
        .collect())
}

/// The names on the command line, of which there must be one.
fn required_items(args: &MetaArgs) -> Result<&[String]> {
    if args.items.is_empty() { Err(message::NO_NAMES.error()) } else { Ok(&args.items) }
}

/// The document in the file to import.
fn imported(args: &MetaArgs) -> Result<Document> {
    let [name] = &args.items[..] else { return Err(message::ONE_IMPORT.error()) };
    let path = PathBuf::from(name);
    let mut bytes = vec![];
    match name.as_str() {
        "-" => drop(io::stdin().lock().read_to_end(&mut bytes).map_err(Error::io(Doing::Read))?),
        _ => bytes = fs::read(&path).map_err(Error::io_at(Doing::Open, &path))?,
    }
    Document::parse(&bytes).map_err(|error| match error {
        Error::Metadata { what, .. } => Error::Metadata { path, what },
        other => other,
    })
}

/// Makes all changes, or none of them.
fn change(
    args: &MetaArgs,
    cx: &Context,
    origin: &Origin,
    owner: Owner,
    document: &Document,
    changes: &[Change],
) -> Result<()> {
    let is_elsewhere = origin.place().is_some_and(Place::is_elsewhere);
    if is_elsewhere || matches!(origin, Origin::Opened(_)) {
        return Err(message::METADATA_ONLY_READ.error());
    }
    document.check(changes)?;
    if changes.is_empty() {
        return report(cx, origin, changes);
    }
    let path = origin.to_change()?;
    let key = match origin {
        Origin::File { part: Part::Member(key), .. } => Some(key.as_str()),
        _ => None,
    };
    match (owner, key) {
        (Owner::Group, key) => {
            store::change(cx, path, key.unwrap_or("/"), false, changes, args.lock)?;
        }
        (Owner::Object(Object::Table(_)), _) => {
            return Err(message::COLUMN_HAS_NO_METADATA.error());
        }
        (Owner::Object(_), Some(key)) => {
            store::change(cx, path, key, true, changes, args.lock)?;
        }
        (Owner::Object(object), None) => {
            if let Object::Frame(_) = &object {
                // A change overwrites bytes after the frame: warn of them first.
                let mut objects = ObjectReader::open(origin, cx.read_params())?;
                while objects.next()?.is_some() {}
                objects.warn_of_trailing(&cx.console, &origin.name());
            }
            change_object(args, cx, path, object, document, changes)?;
        }
    }
    let (name, n) = (origin.name(), changes.len());
    let name = harmless(&name);
    cx.console.detail(&format!("{name}: {} made", size::counted(n as u64, "change")));
    report(cx, origin, changes)?;
    cx.tell_waste(origin)
}

/// Prints the changed names as JSON.
fn report(cx: &Context, origin: &Origin, changes: &[Change]) -> Result<()> {
    if !cx.console.json() {
        return Ok(());
    }
    let changed = changes.iter().filter_map(Change::name).collect();
    let path = origin.name();
    cx.console.document(&ChangeReport { path: &path, changed })
}

/// Changes the metadata of an object that is a file of its own.
fn change_object(
    args: &MetaArgs,
    cx: &Context,
    path: &Path,
    object: Object,
    document: &Document,
    changes: &[Change],
) -> Result<()> {
    match object {
        Object::Frame(schunk) => {
            let offset = schunk.offset();
            // The open frame would keep the lock.
            drop(schunk);
            frame::change(cx, path, offset, changes, args.lock)
        }
        Object::Blp(blp) => {
            blp::change(cx, path, *blp, document, changes, &cx.lock_wait(args.lock))
        }
        Object::Bcolz(_) => bcolz::change(path, changes, &cx.lock_wait(args.lock)),
        Object::Table(_) => Err(message::COLUMN_HAS_NO_METADATA.error()),
        Object::Chunk(_) | Object::Opened(_) => Err(message::CHUNK_HAS_NO_METADATA.error()),
    }
}
