//! A disk that fails to read: the error says so, and nothing else is concluded.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use blosc_chunk::error::Blame;
use blosc_data::verify::{VerifyOptions, verify};
use blosc_data::{Error, Format, OpenOptions, Source, open_source, recognise};
use blosc_io::MemStore;
use blosc_io::testing::{FailingStore, FailingTree, Fault, Plan};
use blosc_io::tree::DirTree;
use blosc_testdata::fixture::path;

/// The format, and the result of verification.
#[derive(Debug, PartialEq)]
struct Seen {
    format: Format,
    is_ok: bool,
    checksum: Option<&'static str>,
    nsummed: u64,
    notes: Vec<String>,
}

/// Recognises, opens and verifies; damage and refusals are errors.
fn look(source: Source, name: &str) -> Result<Seen, Blame> {
    let io = |_: io::Error| Blame::Io;
    let format = recognise(&source, name).map_err(io)?;
    let found = open_source(source, name, &OpenOptions::default()).map_err(|it| it.blame())?;
    let options = VerifyOptions::default();
    let report = verify(&found, &options, &mut |_| ()).map_err(|it| it.blame())?;
    let mut faults = report.other.iter().chain(report.bad.iter().map(|bad| &bad.error));
    if let Some(fault) = faults.next() {
        // A failure may hide errors after it.
        let is_io = |error: &Error| error.blame() == Blame::Io;
        return Err(if is_io(fault) || faults.any(is_io) { Blame::Io } else { fault.blame() });
    }
    let (is_ok, checksum, nsummed) = (report.is_ok(), report.checksum, report.nsummed);
    Ok(Seen { format, is_ok, checksum, nsummed, notes: report.notes })
}

/// A file or a folder on a disk that fails by plan.
fn on_disk(file: &PathBuf) -> (Source, Plan) {
    if file.is_dir() {
        let tree = FailingTree::new(DirTree::new(file));
        let plan = tree.plan();
        return (Source::Folder(Arc::new(tree)), plan);
    }
    let plan = Plan::default();
    let store = MemStore::new(std::fs::read(file).unwrap());
    (Source::File(Arc::new(FailingStore::new(store, plan.clone()))), plan)
}

#[test]
fn a_disk_that_fails_once_is_told_of_and_nothing_is_concluded_from_it() {
    let mut count = 0;
    for name in [
        "frames/tiny.b2frame",
        "frames/tiny-sparse.b2frame",
        "bloscpack/real_default.blp",
        "bcolz/ca_2d",
        "bcolz/ct_basic",
        "stores/tree-basic.b2z",
        "stores/tree-basic.b2d",
        "stores/table-basic.b2d",
        "stores/embed-basic.b2e",
        "called/two-arrays.npz",
    ] {
        let file = path(name);
        let sound = look(on_disk(&file).0, name).unwrap();
        for after in 0..60 {
            let (source, plan) = on_disk(&file);
            plan.set(Fault { after, kind: io::ErrorKind::Other, reads: true, lasts: false });
            let seen = look(source, name);
            if plan.is_pending() {
                break;
            }
            count += 1;
            match seen {
                // The failed bytes were read again, or are not needed.
                Ok(seen) => assert_eq!(seen, sound, "{name}, read {after}"),
                Err(blame) => assert_eq!(blame, Blame::Io, "{name}, read {after}"),
            }
        }
    }
    assert!(count > 100, "{count}");
}
