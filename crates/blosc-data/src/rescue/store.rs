//! Rescue of stores: whole values, and the readable parts of other frames.

use std::fs;

use b2store::rescue::{Salvage, SavedValue};
use b2store::{OpenOptions, Store, StoreForm, WriteOptions};

use super::{Bad, Caller, Counts, Job, Output, Report, has_suffix, not_good, stored_nbytes};
use crate::error::{Error, Result};

/// Rescues a store. A directory stays one unless the output is named `.b2z`. `None` for an embed
/// store that lists no values any more.
pub(super) fn run<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Option<Report>, C::Error> {
    let Job { path, options, .. } = job;
    let frame = b2frame::OpenOptions::default().dparams(options.dparams_in(2));
    let rescue = options.of_container(caller.allowance(stored_nbytes(path)));
    let is_frame = path.is_file() && has_suffix(path, "b2e");
    let (open, unread) = (OpenOptions::default().frame(frame), job.unread);
    let saved = match path.is_dir() {
        true => Salvage::from_tree(unread.tree(path), &open, &rescue),
        false => Salvage::from_store(unread.file(path)?, &open, &rescue),
    };
    let mut saved = match saved {
        Err(b2store::Error::NotAStore { .. }) if is_frame => return Ok(None),
        // The hints of these errors name the rescue itself.
        Err(b2store::Error::NotAStore { .. } | b2store::Error::Zip(_)) => {
            return Err(Error::NothingRescued.into());
        }
        saved => saved.map_err(Error::from)?,
    };
    let nbytes = saved.values.iter().map(|value| value.nbytes).fold(0, u64::saturating_add);
    let stored =
        fs::metadata(path).map_or(0, |found| if found.is_dir() { nbytes } else { found.len() });
    caller.admit(nbytes, stored)?;
    let target = caller.output(Output::Any)?;
    let is_dir = path.is_dir() && !has_suffix(&target, "b2z") || has_suffix(&target, "b2d");
    let form = match is_frame && !has_suffix(&target, "b2z") {
        _ if is_dir => StoreForm::Dir,
        true => StoreForm::Embed,
        false => StoreForm::Zip,
    };
    let written = saved.save(&target, &WriteOptions::default().form(form));
    let nbytes = data_nbytes(&written.map_err(Error::from)?)?;
    Ok(Some(report(&saved, nbytes)))
}

/// Bytes of data in a store; of a table, its rows.
fn data_nbytes(store: &Store) -> Result<u64> {
    let tables = store.tables().map(|key| store.table(key));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let values = store.keys().filter(|key| !tables.iter().any(|table| table.has_key(key)));
    let values = values.map(|key| Ok(store.frame(key)?.items_nbytes()));
    let tables = tables.iter().map(|table| Ok(table.nbytes()?));
    values.chain(tables).sum()
}

fn report(saved: &Salvage, nbytes: u64) -> Report {
    let mut actions: Vec<String> = saved.damage.iter().map(ToString::to_string).collect();
    let (mut counts, mut bad, mut filled) = (Counts::default(), vec![], 0);
    for value in &saved.values {
        let found = Counts::of_states(&value.chunks);
        counts.add_all(found);
        let path = Some(value.key.clone());
        let of_value = Bad::chunks(&value.chunks);
        Bad::list(&mut bad, of_value.map(|bad| Bad { path: path.clone(), ..bad }));
        let nchunks = (value.chunks.len() as u64).max(1);
        filled += value.nbytes.saturating_mul(found.lost) / nchunks;
        actions.extend(actions_of(value));
    }
    // Filled flags, and room for more rows, are not data.
    let filled = filled.min(nbytes);
    let (complete, chunks) = (saved.is_complete(), Some(counts));
    Report { complete, nbytes, filled, actions, chunks, bad, ..Report::default() }
}

/// The actions that changed a value.
fn actions_of(value: &SavedValue) -> Vec<String> {
    let key = &value.key;
    if value.is_lost {
        return vec![format!("{key}: lost")];
    }
    let mut actions: Vec<String> =
        value.damage.iter().map(|damage| format!("{key}: {damage}")).collect();
    if value.is_changed {
        actions
            .push(format!("{key}: the checksum or the place in the store says that data changed"));
    }
    let filled = match value.is_zeroed {
        true => "filled with zeros, since the fill is no item of it",
        false => "filled",
    };
    let found = not_good("chunk", &value.chunks, filled);
    actions.extend(found.map(|found| format!("{key}: {found}")));
    actions
}
