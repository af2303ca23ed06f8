//! Rescue of bcolz data sets: a copy of the directory, with unreadable chunks and columns repaired,
//! filled or left out.

use std::sync::Arc;

use bcolz_store::repair::{Action, Repair, RescueOptions};
use bcolz_store::{CArray, DataSet, OpenOptions};
use blosc_io::tree::{DirTree, Tree, join};

use super::{Bad, Caller, Counts, Job, Output, Report, Unread, stored_nbytes};
use crate::error::{Doing, Error, Result};

/// Copies the directory, and repairs the copy.
pub(super) fn run<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Report, C::Error> {
    let Job { path, options, .. } = job;
    let copy = DirTree::new(caller.output(Output::Any)?);
    copy_all(job.unread, &*job.unread.tree(path), &copy, "", MAX_DEPTH)?;
    let max_memory = options.budget.max_memory / 2;
    let budget = options.budget.clone().max_memory(max_memory);
    let read = OpenOptions::default().dparams(options.dparams_in(2)).budget(budget);
    let store = Arc::new(copy);
    let fill = RescueOptions::default().fill(options.fill.clone()).dtype(options.dtype.clone());
    let actions = bcolz_store::repair::rescue_in(store.clone(), "", &read, &fill);
    let actions = actions.map_err(Error::from)?;
    let set = bcolz_store::open_in(store, "", &read).map_err(Error::from)?;
    let filled = actions.iter().fold(0u64, |sum, action| match action.what {
        Repair::Filled { rows, .. } => {
            sum.saturating_add(rows.saturating_mul(rowsize(&set, &action.path)))
        }
        _ => sum,
    });
    let nbytes = match &set {
        DataSet::CArray(array) => array.nbytes(),
        DataSet::CTable(table) => table.nbytes(),
    };
    caller.admit(nbytes, stored_nbytes(path))?;
    Ok(Report {
        complete: !actions.iter().any(|action| action.what.is_loss()),
        nbytes,
        filled,
        chunks: Some(counts(&set, &actions)),
        bad: actions.iter().filter_map(bad).collect(),
        actions: actions.iter().map(text).collect(),
        ..Report::default()
    })
}

/// Directories of a table, of a column, and of its chunks.
const MAX_DEPTH: usize = 3;

/// Copies the ordinary files of a directory that can be read completely. Links and devices are not
/// copied.
fn copy_all(unread: &Unread, from: &dyn Tree, to: &DirTree, dir: &str, depth: usize) -> Result<()> {
    to.create_dir(dir).map_err(Error::io(Doing::Create))?;
    for entry in from.list(dir).map_err(Error::io(Doing::Read))? {
        let path = join(dir, &entry.name);
        if entry.is_dir && depth > 0 {
            copy_all(unread, from, to, &path, depth - 1)?;
        } else if let (false, Ok(source)) = (entry.is_dir, from.open(&path)) {
            match to.copy_new(&path, &*source) {
                Err(_) if unread.has(&path) => {
                    to.remove(&path).map_err(Error::io(Doing::Remove))?
                }
                copied => copied.map_err(Error::io(Doing::Write))?,
            }
        }
    }
    Ok(())
}

/// The words for an action; the data set itself is not named.
fn text(action: &Action) -> String {
    match action.path.as_str() {
        "" => action.what.to_string(),
        _ => action.to_string(),
    }
}

/// The chunks of an array, or of all columns.
fn counts(set: &DataSet, actions: &[Action]) -> Counts {
    let nchunks = match set {
        DataSet::CArray(array) => array.nchunks(),
        DataSet::CTable(table) => {
            let columns = table.names().filter_map(|name| table.column(name).ok());
            columns.map(CArray::nchunks).sum()
        }
    };
    let mut counts = Counts::default();
    for action in actions {
        match action.what {
            Repair::Filled { .. } => counts.lost += 1,
            Repair::Doubtful { .. } => counts.doubtful += 1,
            Repair::Cut { nchunks, .. } => counts.lost += nchunks,
            _ => {}
        }
    }
    let was_cut = actions.iter().any(|action| matches!(action.what, Repair::Cut { .. }));
    let kept = if was_cut { nchunks } else { nchunks.saturating_sub(counts.lost) };
    Counts { good: kept.saturating_sub(counts.doubtful), ..counts }
}

/// The chunk of an action, if it is not good.
fn bad(action: &Action) -> Option<Bad> {
    let (nchunk, state) = match action.what {
        Repair::Filled { nchunk, .. } => (nchunk, "lost"),
        Repair::Doubtful { nchunk } => (nchunk, "doubtful"),
        _ => return None,
    };
    let path = Some(action.path.clone()).filter(|path| !path.is_empty());
    Some(Bad { path, chunk: Some(nchunk), state, ..Bad::default() })
}

/// Bytes of a row of the array at `path` of the data set.
fn rowsize(set: &DataSet, path: &str) -> u64 {
    let of = |array: &CArray| if array.is_object() { 0 } else { array.rowsize() as u64 };
    match set {
        DataSet::CArray(array) => of(array),
        DataSet::CTable(table) => table.column(path).map_or(0, of),
    }
}
