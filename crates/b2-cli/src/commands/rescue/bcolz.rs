//! Data sets of bcolz: a copy of the directory, of which what cannot be read is repaired, filled or
//! left out.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use bcolz_store::{Budget, CArray, DataSet, OpenOptions, repair::Repair, tree::DirTree};
use blosc_chunk::Limits;

use super::{Saved, unreadable};
use crate::{
    args::RescueArgs,
    context::Context,
    error::{Doing, Error, Result},
    inputs::decoded::Guard,
    output::staged::{Nest, StageOptions},
};

/// Rescues the sound chunks of `root` as `target`.
pub(super) fn run(
    args: &RescueArgs,
    cx: &Context,
    root: &Path,
    target: &Path,
    options: StageOptions,
) -> Result<Saved> {
    let nest = Nest::create(target, options, &cx.unfinished)?;
    copy(root, nest.path(), MAX_DEPTH, options)?;
    let limits = Limits::none().max_nbytes(cx.memory() / 2);
    let read = OpenOptions::default()
        .dparams(cx.dparams().limits(limits))
        .budget(Budget::default().max_memory(cx.memory() / 2));
    let store = Arc::new(DirTree::new(nest.path()));
    let actions = bcolz_store::repair::rescue_in(store.clone(), "", &read, &args.fill())?;
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
    Guard::new(args.limits).admit_bytes(nbytes, crate::formats::bcolz::stored(root))?;
    nest.commit_with_mode(fs::metadata(root).ok().as_ref())?;
    Ok(Saved {
        complete: !actions.iter().any(|action| action.what.is_loss()),
        nbytes,
        filled,
        actions: actions.iter().map(ToString::to_string).collect(),
        chunks: None,
    })
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
fn copy(from: &Path, to: &Path, depth: usize, options: StageOptions) -> Result<()> {
    fs::create_dir(to).map_err(Error::io_at(Doing::Create, to))?;
    for entry in fs::read_dir(from).map_err(unreadable(from))? {
        let entry = entry.map_err(unreadable(from))?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(unreadable(&source))?;
        if kind.is_dir() && depth > 0 {
            copy(&source, &copied, depth - 1, options)?;
        } else if kind.is_file() {
            copy_file(&source, &copied, options)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, options: StageOptions) -> Result<()> {
    let mut source = File::open(from).map_err(unreadable(from))?;
    let mut copied = File::create(to).map_err(Error::io_at(Doing::Create, to))?;
    io::copy(&mut source, &mut copied).map_err(Error::io_at(Doing::Write, to))?;
    if options.sync { copied.sync_all().map_err(Error::io_at(Doing::Sync, to)) } else { Ok(()) }
}

/// Directories of a table, of a column, and of its chunks.
const MAX_DEPTH: usize = 3;
