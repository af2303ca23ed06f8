//! Counts the calls for opening and a first read: each is a round trip on far storage.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::fs;
use std::io;
use std::sync::Arc;

use blosc_data::{Data, Dataset, OpenOptions, Source, open_source};
use blosc_dtype::npy::NpyHeader;
use blosc_io::testing::CountingStore;
use blosc_io::tree::{DirTree, Entry};
use blosc_io::{MemStore, ReadAt, Tree};
use blosc_testdata::fixture::{path, read};

/// Most calls to open a file and read its first part.
const MOST_CALLS: usize = 12;

/// The same for stores, which do not announce their reads. An archive costs a read of the local
/// header for each member. In a frame, each read of a value decodes its chunk again.
const MOST_CALLS_OF_STORES: usize = 40;

/// Reads a first part of any kind of data.
fn read_first(found: &Dataset) {
    match &found.data {
        Data::Bytes(bytes) => bytes.read_at(0, &mut [0]).unwrap(),
        Data::Array(array) => {
            let first = vec![blosc_data::Pick::from(0..1); array.shape().len()];
            array.to_bytes(first).map(drop).unwrap();
        }
        Data::Table(table) => {
            table.read(&[&table.columns()[0].name], 0..1).map(drop).unwrap();
        }
        Data::Objects(objects) => objects.get(0..1).map(drop).unwrap(),
        Data::Group(group) => {
            let members = group.members().unwrap();
            let first = members.iter().find(|one| one.kind == blosc_data::MemberKind::Value);
            read_first(&group.open(&first.unwrap().name).unwrap());
        }
        other => panic!("{}", other.kind_name()),
    }
}

#[test]
fn files_open_and_give_their_first_part_in_few_calls() {
    let header = NpyHeader::new("<u2".parse().unwrap(), vec![3]).to_bytes().unwrap();
    let npy = [&header[..], &[0; 6]].concat();
    let chunk = blosc_chunk::compress(&[7; 9000], &blosc_chunk::CParams::default()).unwrap();
    let of = |file: &str| (file.to_owned(), read(file).unwrap());
    let files = [
        of("frames/tiny.b2frame"),
        of("frames/tiny-nd.b2nd"),
        of("stores/objects.b2f"),
        of("stores/batches.b2b"),
        of("stores/embed-basic.b2e"),
        of("stores/tree-basic.b2z"),
        of("bloscpack/real_default.blp"),
        of("bloscpack/real_np_f8.blp"),
        ("x.npy".to_owned(), npy),
        ("x.chunk".to_owned(), chunk),
    ];
    for (name, bytes) in files {
        let store = Arc::new(CountingStore::new(MemStore::new(bytes)));
        let source = Source::File(Arc::clone(&store) as Arc<dyn ReadAt>);
        let found = open_source(source, &name, &OpenOptions::default()).unwrap();
        read_first(&found);
        let (calls, reads) = (store.trips(), store.reads());
        let is_store = found.format == blosc_data::Format::Store;
        let most = if is_store { MOST_CALLS_OF_STORES } else { MOST_CALLS };
        assert!(calls <= most, "{name}: {calls} calls: {reads:?}");
    }
}

/// Counts opened files and listed folders.
#[derive(Debug)]
struct CountingTree(DirTree, AtomicUsize);

impl Tree for CountingTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        let opened = self.0.open(path)?;
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(opened)
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        self.0.len_of(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.list(path)
    }
}

#[test]
fn folders_open_few_files() {
    for (name, most) in [("bcolz/ca_i4", MOST_CALLS), ("frames/tiny-sparse.b2frame", MOST_CALLS)] {
        let folder = path(name);
        assert!(fs::metadata(&folder).unwrap().is_dir());
        let tree = Arc::new(CountingTree(DirTree::new(folder), AtomicUsize::new(0)));
        let source = Source::Folder(Arc::clone(&tree) as Arc<dyn Tree>);
        let found = open_source(source, name, &OpenOptions::default()).unwrap();
        read_first(&found);
        let calls = tree.1.load(Ordering::Relaxed);
        assert!(calls <= most, "{name}: {calls} calls");
    }
}
