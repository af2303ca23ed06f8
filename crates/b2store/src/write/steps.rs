//! From the future files of a directory to the steps that make them, in an order in which each
//! intermediate state is readable.
//!
//! | part | steps | then |
//! |---|---|---|
//! | [`manifests_without_indexes`](Change::manifests_without_indexes) | `Write` | `Sync` |
//! | [`other_names`](Change::other_names), for another suffix | `Rename` | `Sync` |
//! | [`new_directories`](Change::new_directories), each as a whole | `WriteDir` | |
//! | [`new_files`](Change::new_files): values, flags of rows, manifests | `Write` | `Sync` between the three |
//! | the embedded values | `Write` | |
//! | [`gone`](Change::gone), manifests first | `Remove`, `RemoveDir` | |
//!
//! All new files are on the medium before the first removal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blosc_io::ReadAt;

use super::place::Step;
use super::{NewFile, StoreWriter};
use crate::error::Result;
use crate::store::EMBED_FILE;

/// A directory before and after its change.
struct Change<'a> {
    new: &'a StoreWriter,
    /// The existing files.
    old: &'a [String],
}

impl StoreWriter {
    /// The steps that change the directory, with `embed.b2e` if it has changed.
    pub(super) fn steps(&self, embed: Option<Arc<dyn ReadAt>>) -> Result<Vec<Step>> {
        let old = match &self.base {
            Some(base) => base.files().paths(base.options().max_files)?,
            None => Vec::new(),
        };
        let change = Change { new: self, old: &old };
        let mut steps = synced(change.manifests_without_indexes());
        // Otherwise the old file could remain beside the new one with the other suffix.
        steps.extend(synced(change.other_names()));
        let (dirs, files) = change.split();
        steps.extend(Change::new_directories(dirs));
        steps.extend(Change::new_files(files));
        steps.extend(embed.map(|frame| Step::Write(EMBED_FILE.to_owned(), frame)));
        let gone = change.gone();
        if !gone.is_empty() && !steps.is_empty() {
            steps.push(Step::Sync);
        }
        steps.extend(gone);
        Ok(steps)
    }
}

/// The new files of a directory, by their names below it.
type NewFiles = Vec<(String, Arc<dyn ReadAt>)>;
/// New directories, and new files in old ones.
type Split<'a> = (BTreeMap<&'a str, NewFiles>, Vec<(&'a str, &'a NewFile)>);

impl<'a> Change<'a> {
    fn manifests_without_indexes(&self) -> Vec<Step> {
        self.new.first.iter().map(|(path, file)| write_step(path, file)).collect()
    }

    fn other_names(&self) -> Vec<Step> {
        let renamed = self.renamed();
        renamed.map(|(from, to)| Step::Rename(from.to_owned(), to.to_owned())).collect()
    }

    /// Divides the new files into files of new directories and files of old ones.
    fn split(&self) -> Split<'a> {
        let (mut dirs, mut files) = Split::default();
        for (path, file) in &self.new.files {
            let Some(file) = file else { continue };
            match self.new_dir(path) {
                Some((dir, below)) => {
                    dirs.entry(dir).or_default().push((below.to_owned(), Arc::clone(&file.0)));
                }
                None => files.push((path.as_str(), file)),
            }
        }
        (dirs, files)
    }

    fn new_directories(dirs: BTreeMap<&str, NewFiles>) -> impl Iterator<Item = Step> {
        dirs.into_iter().map(|(dir, files)| Step::WriteDir(dir.to_owned(), files))
    }

    fn new_files(mut files: Vec<(&str, &NewFile)>) -> Vec<Step> {
        files.sort_by_key(|(path, _)| rank(path));
        let mut steps = Vec::with_capacity(files.len());
        let mut last = None;
        for (path, file) in files {
            // Files that make other files visible also come later on the medium.
            if last.is_some_and(|last| last < rank(path)) {
                steps.push(Step::Sync);
            }
            last = Some(rank(path));
            steps.push(write_step(path, file));
        }
        steps
    }

    fn gone(&self) -> Vec<Step> {
        let is_gone =
            |path: &&String| *path != EMBED_FILE && !self.is_kept(path) && !self.is_renamed(path);
        let mut gone: Vec<&String> = self.old.iter().filter(is_gone).collect();
        // Without its manifest a table is not a table.
        gone.sort_by_key(|path| core::cmp::Reverse(rank(path)));
        let (mut steps, mut removed) = (Vec::new(), BTreeSet::new());
        for path in gone {
            match ancestors(path).find(|(dir, _)| self.is_empty(dir)) {
                Some((dir, _)) if removed.insert(dir) => {
                    steps.push(Step::RemoveDir(dir.to_owned()));
                }
                Some(_) => {}
                None => steps.push(Step::Remove(path.clone())),
            }
        }
        steps
    }

    /// Files that get another suffix: old and new path.
    fn renamed(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let new = self.new;
        let renamed = new.renamed.iter().map(|(from, to)| (from.as_str(), to.as_str()));
        renamed.filter(|(_, to)| new.files.contains_key(*to))
    }

    fn is_renamed(&self, path: &str) -> bool {
        self.renamed().any(|(from, _)| from == path)
    }

    fn is_kept(&self, path: &str) -> bool {
        self.new.files.contains_key(path)
    }

    /// Whether all files of a directory go.
    fn is_empty(&self, dir: &str) -> bool {
        let stays = |path: &&String| self.is_kept(path) || self.is_renamed(path);
        !self.new.files.keys().any(|path| is_below(path, dir))
            && !self.old.iter().filter(stays).any(|path| is_below(path, dir))
    }

    /// The topmost directory of a path without a file of the base, and the rest of the path.
    fn new_dir<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        // A renamed file in it would need the directory before.
        let is_target = |dir: &str| self.new.renamed.iter().any(|(_, to)| is_below(to, dir));
        let is_new = |dir: &str| !self.old.iter().any(|path| is_below(path, dir));
        ancestors(path).find(|(dir, _)| is_new(dir) && !is_target(dir))
    }
}

/// Steps that must be on the medium before the next ones.
fn synced(mut steps: Vec<Step>) -> Vec<Step> {
    if !steps.is_empty() {
        steps.push(Step::Sync);
    }
    steps
}

fn write_step(path: &str, NewFile(source): &NewFile) -> Step {
    Step::Write(path.to_owned(), Arc::clone(source))
}

/// The directories of a path, from the topmost one, each with the rest of the path.
fn ancestors(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    ends.filter_map(|end| path.split_at_checked(end))
        .filter_map(|(dir, rest)| rest.strip_prefix('/').map(|below| (dir, below)))
}

fn is_below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// The rank of a file: files that make a table visible have the highest. A directory gets them
/// last; an archive appears as a whole and has them first.
pub(super) fn rank(path: &str) -> u8 {
    match path.rsplit('/').next() {
        Some(EMBED_FILE) => 3,
        Some("_meta.b2f") => 2,
        Some("_valid_rows.b2nd") => 1,
        _ => 0,
    }
}
