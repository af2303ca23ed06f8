//! `.b2sums`: verifying finds and names every damage, and calls no change damage.

use std::io;
use std::sync::Arc;

use bcolz_store::tree::{DirTree, Entry, MemTree, Tree};
use bcolz_store::{
    CArray, CArrayWriter, CTableWriter, Checksums, Cname, CreateOptions, DataSet, Dtype, Error,
    OpenOptions, StorageParams,
    error::Corrupt,
    open_in,
    repair::{Fill, rescue_in},
    verify::Fault,
    verify::VerifyOptions,
};
use blosc_io::ReadAt;

type Report = blosc_container::report::Report<Error, bcolz_store::verify::Note>;

fn options(cname: Cname) -> CreateOptions {
    let cparams = StorageParams::default().cname(cname);
    CreateOptions::new(Dtype::parse("<i2").unwrap()).chunklen(Some(40)).cparams(cparams)
}

fn walk(rows: u32) -> Vec<u8> {
    let value = |row: u32| u16::try_from(row.wrapping_mul(row) % 251).unwrap();
    (0..rows).flat_map(|row| value(row).to_le_bytes()).collect()
}

/// An array of two full chunks and a partial one.
fn array(cname: Cname) -> Arc<MemTree> {
    let tree = Arc::new(MemTree::new());
    let mut writer = CArrayWriter::create_in(tree.clone(), "", &options(cname)).unwrap();
    writer.append(&walk(100)).unwrap();
    writer.finish().unwrap();
    tree
}

fn open(tree: &Arc<MemTree>) -> DataSet {
    open_in(tree.clone(), "", &OpenOptions::default()).unwrap()
}

fn verify(tree: &Arc<MemTree>) -> Report {
    open(tree).verify(&VerifyOptions::default(), |_| ()).unwrap()
}

fn read(tree: &dyn Tree, path: &str) -> Vec<u8> {
    let file = tree.open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

fn faults(report: &Report) -> Vec<Fault> {
    report.notes.iter().map(|note| note.fault.clone()).collect()
}

#[test]
fn a_bad_sum_says_what_was_written_and_what_is_there() {
    let (tree, other) = (array(Cname::Lz4), Arc::new(MemTree::new()));
    let mut writer = CArrayWriter::create_in(other.clone(), "", &options(Cname::Lz4)).unwrap();
    let mut rows = walk(100);
    rows[100] ^= 1;
    writer.append(&rows).unwrap();
    writer.finish().unwrap();
    let (old, new) = (read(&*tree, "data/__1.blp"), read(&*other, "data/__1.blp"));
    assert!(old.len() == new.len() && old != new);
    tree.write("data/__1.blp", &new).unwrap();
    let bad = verify(&tree).bad;
    let Error::Corrupt { path, what: Corrupt::Checksum { found, stored } } = &bad[0].error else {
        panic!("{bad:?}");
    };
    assert_eq!((path.as_str(), found != stored), ("data/__1.blp", true));
    // The chunk is readable, so rescuing keeps it, and reports it as doubtful.
    let actions =
        rescue_in(tree.clone(), "", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
    let texts: Vec<String> = actions.iter().map(ToString::to_string).collect();
    assert_eq!(texts, [".: kept chunk 1, which is not as it was written"]);
    assert!(actions[0].what.is_loss());
    assert_eq!(read(&*tree, "data/__1.blp"), new);
    assert!(verify(&tree).is_ok());
}

#[test]
fn what_programs_without_sums_change_is_not_called_damage() {
    let append = |tree: &Arc<MemTree>, change: &dyn Fn(&mut CArrayWriter)| {
        // A program that ignores sums writes this.
        let sums = read(&**tree, ".b2sums");
        tree.remove(".b2sums").unwrap();
        let mut writer = CArrayWriter::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
        change(&mut writer);
        writer.finish().unwrap();
        assert!(tree.open(".b2sums").is_err());
        tree.write(".b2sums", &sums).unwrap();
    };
    let changes: [&dyn Fn(&mut CArrayWriter); 4] = [
        &|writer| writer.append(&walk(7)).unwrap(),
        &|writer| writer.append(&walk(77)).unwrap(),
        &|writer| writer.trim(30).unwrap(),
        &|writer| writer.trim(100).unwrap(),
    ];
    for change in changes {
        let tree = array(Cname::Lz4);
        append(&tree, change);
        let report = verify(&tree);
        assert!(report.is_ok(), "{report:?}");
        assert_eq!(faults(&report), [Fault::ChangedByOther]);
        // The next writer brings the sums up to date.
        CArrayWriter::open_in(tree.clone(), "", &OpenOptions::default()).unwrap().finish().unwrap();
        let report = verify(&tree);
        assert!(report.is_ok() && report.notes.is_empty(), "{report:?}");
    }
}

#[test]
fn damage_under_a_change_of_another_program_is_not_given_a_new_sum() {
    let tree = array(Cname::BloscLz);
    let sums = read(&*tree, ".b2sums");
    let mut damaged = read(&*tree, "data/__0.blp");
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    tree.write("data/__0.blp", &damaged).unwrap();
    tree.remove(".b2sums").unwrap();
    let mut writer = CArrayWriter::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    writer.append(&walk(7)).unwrap();
    writer.finish().unwrap();
    tree.write(".b2sums", &sums).unwrap();
    let mut writer = CArrayWriter::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    writer.append(&walk(9)).unwrap();
    writer.finish().unwrap();
    let bad = verify(&tree).bad;
    assert_eq!(bad.iter().map(|bad| bad.nchunk).collect::<Vec<_>>(), [0]);
}

#[test]
fn sums_are_written_unless_they_are_not_wanted_and_for_arrays_of_others_on_request() {
    let tree = Arc::new(MemTree::new());
    let plain = options(Cname::Lz4).checksums(Checksums::None);
    let columns = [("a", plain.clone()), ("b", options(Cname::Lz4)), ("c", plain)];
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).unwrap();
    writer.append(&[&walk(100), &walk(100), &walk(100)]).unwrap();
    writer.finish().unwrap();
    let has = |path: &str| tree.open(path).is_ok();
    assert_eq!(["a", "b", "c"].map(|name| has(&format!("{name}/.b2sums"))), [false, true, false]);
    // The report has both the columns without sums and the number of compared sums.
    let report = verify(&tree);
    let missing = report.notes.iter().filter(|note| note.fault == Fault::SumsMissing);
    assert_eq!(missing.count(), 2);
    assert!(open(&tree).has_checksums() && report.nsummed * 3 == report.nchunks);
    // A rescued table has sums of all columns, or of none.
    rescue_in(tree.clone(), "", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
    assert!(verify(&tree).is_ok() && !open(&tree).has_checksums());
    open(&tree).seal().unwrap();
    assert!(open(&tree).has_checksums());
    assert!(has("a/.b2sums") && has("c/.b2sums") && verify(&tree).notes.is_empty());
    let mut damaged = read(&*tree, "c/data/__2.blp");
    damaged[40] ^= 1;
    tree.write("c/data/__2.blp", &damaged).unwrap();
    assert_eq!(verify(&tree).bad[0].nchunk, 2);
}

#[test]
fn a_column_that_is_added_has_sums_as_the_others_have() {
    for (checksums, expected) in [(Checksums::None, false), (Checksums::default(), true)] {
        let tree = Arc::new(MemTree::new());
        let first = options(Cname::Lz4).checksums(checksums);
        let mut writer = CTableWriter::create_in(tree.clone(), "", &[("a", first)]).unwrap();
        writer.append(&[&walk(100)]).unwrap();
        writer.add_column("b", &options(Cname::Lz4), &walk(100)).unwrap();
        writer.finish().unwrap();
        assert_eq!(tree.open("b/.b2sums").is_ok(), expected);
        assert!(verify(&tree).is_ok() && verify(&tree).notes.is_empty());
    }
}

#[test]
fn a_damaged_file_of_sums_is_damage() {
    let tree = array(Cname::Lz4);
    for bytes in [&b""[..], b"b2sums", &[0; 100]] {
        tree.write(".b2sums", bytes).unwrap();
        let report = verify(&tree);
        assert_eq!((report.nbad, report.nsummed), (0, 0));
        assert!(!report.is_ok() && report.other[0].to_string().contains(".b2sums"));
    }
}

/// A tree in which one file cannot be read.
#[derive(Debug)]
struct Unreadable(Arc<MemTree>, String);

impl Tree for Unreadable {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        if path == self.1 { Err(io::Error::other("bad sector")) } else { self.0.open(path) }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.0.list(path)
    }
}

#[test]
fn sums_that_cannot_be_read_are_reported_and_the_columns_are_verified() {
    let tree = Arc::new(MemTree::new());
    let columns = ["a", "b"].map(|name| (name, options(Cname::Lz4)));
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).unwrap();
    writer.append(&[&walk(100), &walk(100)]).unwrap();
    writer.finish().unwrap();
    let nchunks = verify(&tree).nchunks;
    for path in [".b2sums", "a/.b2sums", "__attrs__"] {
        let unreadable = Arc::new(Unreadable(tree.clone(), path.to_owned()));
        let opened = open_in(unreadable, "", &OpenOptions::default()).unwrap();
        let report = opened.verify(&VerifyOptions::default(), |_| ()).unwrap();
        assert_eq!((report.nchunks, report.nbad), (nchunks, 0), "{path}");
        let faults: Vec<String> = report.other.iter().map(ToString::to_string).collect();
        assert!(faults.len() == 1 && faults[0].contains(path), "{path}: {faults:?}");
        assert!(matches!(report.other[0], Error::Io { .. }));
    }
}

#[test]
fn rows_that_are_changed_in_place_have_new_sums_also_without_a_flush() {
    let tree = array(Cname::Lz4);
    let mut writer = CArrayWriter::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    writer.write_rows(30, &walk(20)).unwrap();
    // After a kill at this point, chunks 0 and 1 have no sums.
    assert!(verify(&tree).is_ok());
    writer.write_rows(90, &walk(5)).unwrap();
    writer.finish().unwrap();
    let report = verify(&tree);
    assert!(report.is_ok() && report.notes.is_empty());
    let mut damaged = read(&*tree, "data/__0.blp");
    let last = damaged.len() - 1;
    damaged[last] ^= 0x10;
    tree.write("data/__0.blp", &damaged).unwrap();
    assert_eq!(verify(&tree).nbad, 1);
}

#[test]
fn the_sum_is_that_of_the_file_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a");
    let mut writer = CArrayWriter::create(&root, &options(Cname::Lz4)).unwrap();
    writer.append(&walk(40)).unwrap();
    writer.finish().unwrap();
    let sums = std::fs::read(root.join(".b2sums")).unwrap();
    let file = std::fs::read(root.join("data/__0.blp")).unwrap();
    assert_eq!(&sums[..8], b"b2sums\0\x01");
    assert_eq!(sums[8..16], 40_u64.to_le_bytes());
    assert_eq!(sums[72..80], (file.len() as u64).to_le_bytes());
    assert_eq!(sums[80..88], xxhash_rust::xxh3::xxh3_64(&file).to_le_bytes());
    let array = CArray::open_in(Arc::new(DirTree::new(root)), "", &OpenOptions::default()).unwrap();
    assert!(array.verify(&VerifyOptions::default(), |_| ()).unwrap().is_ok());
}
