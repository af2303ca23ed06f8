//! `b2 table`: changes columns, cells and rows of a table in place.

use b2store::WriteOptions;
use blosc_data::table_edit::{Change, Changed, Means, change_bcolz, change_table};
use serde::Serialize;

use crate::{
    args::table::TableArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{Origin, Part},
    render::{harmless, size},
};

/// The result.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.table/1")]
struct TableReport<'a> {
    path: &'a str,
    /// Cells that were set, or rows that were removed.
    changed: u64,
    /// Columns whose indexes were removed.
    indexes: &'a [String],
}

/// Changes the table.
pub(crate) fn run(args: &TableArgs, cx: &Context) -> Code {
    let changes = Change::parse(&args.action, &args.items, args.rows.condition.as_deref());
    let Some(changes) = changes else { return cx.refuse(&message::TABLE_HOW.error()) };
    let origin = Origin::from_word(&args.table);
    cx.run_on_inputs(vec![Ok(origin)], |origin| apply(&changes, args, cx, origin))
}

fn apply(changes: &[Change], args: &TableArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let Some(place) = origin.place() else { return Err(message::PIPE_IS_NOT_CHANGED.error()) };
    // A missing file has no format, and so would be "not a table".
    if !place.is_elsewhere() {
        place.metadata().map_err(Error::io(Doing::Open))?;
    }
    if place.is_store() && store::table(origin, cx.read_params())?.is_none() {
        return Err(message::NO_TABLE_TO_CHANGE.error());
    }
    let (wait, open) = (cx.lock_wait(args.lock), cx.read_params());
    let means = Means {
        write: WriteOptions::default().wait(wait.clone()),
        bcolz: open.bcolz().lock(wait),
        open,
        resources: cx.resources().clone(),
        unfinished: cx.unfinished.clone(),
    };
    let key = match origin {
        Origin::File { part: Part::Member(key), .. } => key.as_str(),
        _ => "/",
    };
    let done = match (place.is_store(), place.is_bcolz()) {
        (true, _) => change_table(place, key, changes, &means)?,
        (_, true) => change_bcolz(place, changes, &means)?,
        _ => return Err(message::NO_TABLE_TO_CHANGE.error()),
    };
    let mut told = changes.iter().zip(&done);
    told.try_for_each(|(change, done)| tell(change, cx, &origin.name(), done))?;
    cx.tell_waste(origin)
}

fn tell(change: &Change, cx: &Context, name: &str, done: &Changed) -> Result<()> {
    for column in &done.indexes {
        cx.console.warning(name, &format!("the index of column `{column}` is removed"));
    }
    let count = |unit: &str| size::counted(done.count, unit);
    let what = match change {
        Change::Add { name, .. } => format!("column {name} added"),
        Change::Rename { from, to } => format!("column {from} is {to} now"),
        Change::Drop { name } => format!("column {name} removed"),
        Change::Delete { .. } => format!("{} deleted", count("row")),
        Change::Compact => format!("{} deleted or spare, gone", count("row")),
        _ => format!("{} set", count("cell")),
    };
    let report = TableReport { path: name, changed: done.count, indexes: &done.indexes };
    cx.console.done(&report, &format!("{}: {}", harmless(name), harmless(&what)))
}
