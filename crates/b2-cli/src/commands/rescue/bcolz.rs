//! Data sets of bcolz: a copy of the directory, of which what cannot be read is repaired, filled or
//! left out.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use bcolz_store::{
    CArray, DataSet, OpenOptions,
    repair::{Action, Repair, RescueOptions},
    tree::DirTree,
};

use super::{Bad, Counts, Rescue, Saved, unreadable};
use crate::{
    error::{Doing, Error, Result},
    inputs::Guard,
};

/// Whether a directory is, or was, an array or a table: its chunks may be all that is left.
pub(super) fn was_one(path: &Path) -> bool {
    let has_chunks = |path: &Path| {
        fs::read_dir(path.join("data")).is_ok_and(|entries| {
            entries.flatten().any(|entry| {
                let name = entry.file_name();
                let digits = name.to_str().and_then(|name| name.strip_prefix("__"));
                let digits = digits.and_then(|name| name.strip_suffix(".blp")).unwrap_or_default();
                digits.parse::<u64>().is_ok()
            })
        })
    };
    let columns = || fs::read_dir(path).into_iter().flatten().flatten();
    crate::inputs::Place::from(path).is_bcolz()
        || path.is_dir() && (has_chunks(path) || columns().any(|entry| has_chunks(&entry.path())))
}

/// Rescues the sound chunks of `root` as `target`.
pub(super) fn run(rescue: Rescue<'_>) -> Result<Saved> {
    let Rescue { args, cx, path: root, .. } = rescue;
    let staged = rescue.stage()?;
    copy(root, staged.path(), MAX_DEPTH, !args.no_sync)?;
    let budget = cx.read_options().max_memory(cx.memory() / 2);
    let read = OpenOptions::default().dparams(rescue.dparams()).budget(budget);
    let store = Arc::new(DirTree::new(staged.path()));
    let options = RescueOptions::default().fill(args.fill()).dtype(args.dtype.clone());
    let actions = bcolz_store::repair::rescue_in(store.clone(), "", &read, &options)?;
    let set = bcolz_store::open_in(store, "", &read)?;
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
    Guard::new(args.limits).admit_bytes(nbytes, crate::formats::bcolz::stored(&root.into()))?;
    rescue.commit(staged)?;
    Ok(Saved {
        complete: !actions.iter().any(|action| action.what.is_loss()),
        nbytes,
        filled,
        chunks: Some(counts(&set, &actions)),
        bad: actions.iter().filter_map(bad).collect(),
        actions: actions.iter().map(ToString::to_string).collect(),
        ..Saved::default()
    })
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

/// The chunk that an action is about, if it is not good.
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

/// Copies the ordinary files below a directory; links and devices stay where they are.
fn copy(from: &Path, to: &Path, depth: usize, sync: bool) -> Result<()> {
    fs::create_dir(to).map_err(Error::io_at(Doing::Create, to))?;
    for entry in fs::read_dir(from).map_err(unreadable(from))? {
        let entry = entry.map_err(unreadable(from))?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(unreadable(&source))?;
        if kind.is_dir() && depth > 0 {
            copy(&source, &copied, depth - 1, sync)?;
        } else if kind.is_file() {
            copy_file(&source, &copied, sync)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, sync: bool) -> Result<()> {
    let mut source = File::open(from).map_err(unreadable(from))?;
    let mut copied = File::create(to).map_err(Error::io_at(Doing::Create, to))?;
    io::copy(&mut source, &mut copied).map_err(Error::io_at(Doing::Write, to))?;
    if sync { copied.sync_all().map_err(Error::io_at(Doing::Sync, to)) } else { Ok(()) }
}

/// Directories of a table, of a column, and of its chunks.
const MAX_DEPTH: usize = 3;
