//! `b2 verify` of a store, or of a table in one: every value, and the headers of the archive.

use b2frame::SChunk;
use b2store::{Content, Location, Store};

use super::{Findings, verify};
use crate::inputs::Place;
use crate::{
    args::LookArgs,
    context::Context,
    error::Result,
    exit::Code,
    formats::store,
    inputs::{decoded::Guard, object::frame_bytes, origin::Origin},
    render::{escape::harmless, progress::Progress},
};

/// Rows of a column that are read at once.
const ROWS_AT_ONCE: usize = 1 << 14;

/// Verifies every value of a store, or of the table with the key `root` in it, and the checksums of
/// the members of an archive.
pub(super) fn run(
    args: &LookArgs,
    cx: &Context,
    origin: &Origin,
    path: &Place,
    root: &str,
) -> Result<()> {
    let mut findings = Findings::new(origin);
    let store = match store::open(path, cx.dparams()) {
        Err(error) if error.code() == Code::Data => {
            findings.unopened(0, &error);
            findings.point_to_rescue(path);
            return findings.print(cx);
        }
        store => store?,
    };
    findings.add_notes(&store);
    if root == "/" {
        match store.check_embed() {
            Ok(Some(_)) => findings.checksums = "crc32",
            Ok(None) => {}
            Err(error) => findings.unopened(0, &error.into()),
        }
    }
    let mut guard = Guard::new(args.limits);
    let progress = Progress::new(&cx.console, &findings.path, None);
    let mut damaged: Vec<&str> = vec![];
    for key in store.keys().filter(|key| is_below(root, key)) {
        if let Some(Location::Remote { .. }) = store.location(key) {
            findings.warnings.push(format!("{}: somewhere else, not looked at", harmless(key)));
            continue;
        }
        let nproblems = findings.other.len() + findings.bad.len();
        match store.frame(key) {
            Ok(schunk) => {
                let is_in_table = store.tables().any(|table| is_below(table, key));
                // Rows of a table are read, runs as well.
                match is_in_table {
                    true => guard.admit_bytes(schunk.nbytes(), frame_bytes(&schunk))?,
                    false => guard.admit_to_verify(&schunk)?,
                }
                findings.add_value(&store, key, &schunk, (cx, &progress));
                if !is_in_table && findings.other.len() + findings.bad.len() == nproblems {
                    findings.check_value(&store, key);
                }
            }
            Err(error) => findings.unopened(0, &error.into()),
        }
        if findings.other.len() + findings.bad.len() > nproblems {
            damaged.push(key);
        }
    }
    drop(progress);
    for key in store.tables().filter(|key| is_below(root, key)) {
        if let Err(error) = read_table(&store, key, &damaged, &mut findings) {
            findings.unopened(0, &error.into());
        }
    }
    findings.nsummed = findings.nsummed.filter(|n| *n < findings.nchunks);
    if !findings.ok && root == "/" {
        findings.point_to_rescue(path);
    }
    findings.print(cx)
}

impl Findings {
    /// Oddities and damage that opening the store has found.
    fn add_notes(&mut self, store: &Store) {
        for note in store.notes() {
            match note.damage() {
                Some(damage) => self.unopened(0, &damage.into()),
                None => self.warnings.push(store::note_text(note)),
            }
        }
    }

    /// Decodes the frame of a value, and compares the sum of its member.
    fn add_value(
        &mut self,
        store: &Store,
        key: &str,
        schunk: &SChunk,
        (cx, progress): (&Context, &Progress),
    ) {
        let (nother, nbad) = (self.other.len(), self.bad.len());
        self.add_report(0, verify(schunk, cx, progress), ToString::to_string);
        let is_sound = self.other.len() == nother && self.bad.len() == nbad;
        // A value without chunks has nothing to count.
        if schunk.is_sealed() && schunk.nchunks() > 0 {
            self.checksums = "xxh3";
            *self.nsummed.get_or_insert(0) += schunk.nchunks();
        }
        let new = self.other.iter_mut().skip(nother);
        new.chain(self.bad.iter_mut().skip(nbad))
            .for_each(|problem| problem.message = format!("{key}: {}", problem.message));
        match store.check_crc(key) {
            Ok(Some(_)) => (self.checksums, self.nsummed) = ("crc32", None),
            // A chunk that is damaged says more than the sum of the member that it is in.
            Err(error) if is_sound => self.unopened(0, &error.into()),
            _ => {}
        }
    }

    /// Reads what a value holds as it is shown, and the attributes of a group.
    fn check_value(&mut self, store: &Store, key: &str) {
        let read = match key.strip_suffix("/__vlmeta__") {
            Some(group) => store.attributes(if group.is_empty() { "/" } else { group }).map(drop),
            None => store.get(key).and_then(|content| {
                if let Content::Recipe(recipe) = &content {
                    let text = format!("{}: {}, which is not resolved", harmless(key), recipe.kind);
                    self.warnings.push(text);
                }
                content.check_values()
            }),
        };
        match read {
            Ok(()) | Err(b2store::Error::Recipe { .. }) => {}
            Err(error) => self.unopened(0, &error.into()),
        }
    }
}

/// Whether a key is that of a group or table, or of what is in it.
fn is_below(group: &str, key: &str) -> bool {
    let rest = key.strip_prefix(group.trim_end_matches('/'));
    key == group || rest.is_some_and(|rest| rest.starts_with('/'))
}

/// Reads all columns of a table; one that cannot be read is a finding. A table of which a frame is
/// known to be damaged is not read again.
fn read_table(
    store: &Store,
    key: &str,
    damaged: &[&str],
    findings: &mut Findings,
) -> b2store::error::Result<()> {
    let table = match store.table(key) {
        Ok(table) => table,
        Err(_) if damaged.iter().any(|found| found.starts_with(key)) => return Ok(()),
        Err(error) => return Err(error),
    };
    if damaged.iter().any(|key| table.has_key(key)) {
        return Ok(());
    }
    let nrows = table.len()?;
    for column in &table.schema().columns {
        let read = || {
            let column = table.column(&column.name)?;
            for start in (0..nrows).step_by(ROWS_AT_ONCE) {
                column.read(start..nrows.min(start.saturating_add(ROWS_AT_ONCE as u64)))?;
            }
            Ok(())
        };
        match read() {
            Ok(()) | Err(b2store::Error::Recipe { .. }) => {}
            Err(error) => findings.unopened(0, &b2store::Error::into(error)),
        }
    }
    Ok(())
}
