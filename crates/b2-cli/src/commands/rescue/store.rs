//! Stores: every value that is whole, and of the others what can be saved of a frame.

use std::{fs, path::Path};

use b2store::{
    OpenOptions, StoreForm, WriteOptions,
    rescue::{Salvage, SavedValue},
};

use super::{Bad, Counts, Rescue, Saved, frame::not_good};
use crate::{error::Result, inputs::Guard};

/// Whether a path is, or was, a store.
pub(super) fn was_one(path: &Path) -> bool {
    crate::inputs::Place::from(path).is_store() || (path.is_dir() && is_called(path, "b2d"))
}

fn is_called(path: &Path, suffix: &str) -> bool {
    path.extension().is_some_and(|found| found == suffix)
}

/// Rescues the store `path` as `target`: a directory as a directory unless that is called `.b2z`.
/// `None` for an embed store whose values are not known any more: it is a frame as others are.
pub(super) fn run(rescue: Rescue<'_>) -> Result<Option<Saved>> {
    let Rescue { args, path, target, .. } = rescue;
    let frame = b2frame::OpenOptions::default().dparams(rescue.dparams());
    let options = rescue.options(super::size_of(path));
    let is_frame = path.is_file() && is_called(path, "b2e");
    let mut saved = match Salvage::open(path, &OpenOptions::default().frame(frame), &options) {
        Err(b2store::Error::NotAStore { .. }) if is_frame => return Ok(None),
        saved => saved?,
    };
    let nbytes = saved.values.iter().map(|value| value.nbytes).fold(0, u64::saturating_add);
    let stored =
        fs::metadata(path).map_or(0, |found| if found.is_dir() { nbytes } else { found.len() });
    Guard::new(args.limits).admit_bytes(nbytes, stored)?;
    let staged = rescue.stage()?;
    let is_dir = path.is_dir() && !is_called(target, "b2z") || is_called(target, "b2d");
    let form = match is_frame && !is_called(target, "b2z") {
        _ if is_dir => StoreForm::Dir,
        true => StoreForm::Embed,
        false => StoreForm::Zip,
    };
    drop(saved.save(staged.path(), &WriteOptions::default().form(form))?);
    rescue.commit(staged)?;
    Ok(Some(summary(&saved, nbytes)))
}

fn summary(saved: &Salvage, nbytes: u64) -> Saved {
    let mut actions: Vec<String> = saved.damage.iter().map(ToString::to_string).collect();
    let (mut counts, mut bad, mut filled) = (Counts::default(), vec![], 0);
    for value in &saved.values {
        let of_value = Counts::of_states(&value.chunks);
        counts.add_all(of_value);
        let path = Some(value.key.clone());
        bad.extend(Bad::chunks(&value.chunks).map(|bad| Bad { path: path.clone(), ..bad }));
        let nchunks = (value.chunks.len() as u64).max(1);
        filled += value.nbytes / nchunks * of_value.lost;
        actions.extend(actions_of(value));
    }
    let (complete, chunks) = (saved.is_complete(), Some(counts));
    Saved { complete, nbytes, filled, actions, chunks, bad, ..Saved::default() }
}

/// What became of a value that is not as it was.
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
    let found = not_good("chunk", &value.chunks, "filled");
    actions.extend(found.map(|found| format!("{key}: {found}")));
    actions
}
