//! Stores and trees behave as a vector of bytes and a map of names do, whatever the order of calls.

use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind};

use blosc_io::tree::{DirTree, MemTree, Tree};
use blosc_io::{FileStore, MemStore, ReadAt, SeekStore, Sync, Windowed, WriteAt};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    SetLen(usize),
    Read(usize, usize),
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let step = prop_oneof![
        4 => (0..200usize, bytes).prop_map(|(at, bytes)| Step::Write(at, bytes)),
        1 => (0..200usize).prop_map(Step::SetLen),
        4 => (0..260usize, 0..60usize).prop_map(|(at, len)| Step::Read(at, len)),
        1 => Just(Step::Sync),
    ];
    prop::collection::vec(step, 1..40)
}

/// Takes the steps with a store and with a vector.
fn expect_vector(store: &mut dyn WriteAt, steps: &[Step]) -> io::Result<()> {
    let mut model: Vec<u8> = Vec::new();
    for step in steps {
        match step {
            // Writing nothing extends nothing.
            Step::Write(at, bytes) => {
                store.write_at(*at as u64, bytes)?;
                if !bytes.is_empty() {
                    model.resize(model.len().max(*at + bytes.len()), 0);
                    model[*at..*at + bytes.len()].copy_from_slice(bytes);
                }
            }
            Step::SetLen(len) => {
                store.set_len(*len as u64)?;
                model.resize(*len, 0);
            }
            Step::Read(at, len) => {
                let expected = model.get(*at..*at + len);
                let mut buf = vec![0xEE; *len];
                let read = store.read_exact_at(*at as u64, &mut buf);
                match expected {
                    Some(bytes) => {
                        read?;
                        assert_eq!(buf, bytes, "{len} bytes at {at}");
                        let range = *at as u64..(*at + *len) as u64;
                        assert_eq!(store.read_ranges(&[range])?, [bytes.to_vec()]);
                    }
                    None if *len == 0 => {}
                    None => assert_eq!(read.unwrap_err().kind(), ErrorKind::UnexpectedEof),
                }
            }
            Step::Sync => store.sync(Sync::Data)?,
        }
        assert_eq!(store.len()?, model.len() as u64);
    }
    let mut all = vec![0; model.len()];
    store.read_exact_at(0, &mut all)?;
    assert_eq!(all, model);
    Ok(())
}

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    CreateNew(usize, Vec<u8>),
    Remove(usize),
    Rename(usize, usize),
}

/// Names in two directories, so that files move between them.
const NAMES: [&str; 5] = ["a", "d/a", "d/b", "e/a", "e/__c"];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let name = || 0..NAMES.len();
    let bytes = || prop::collection::vec(any::<u8>(), 0..9);
    let change = prop_oneof![
        3 => (name(), bytes()).prop_map(|(name, bytes)| Change::Write(name, bytes)),
        2 => (name(), bytes()).prop_map(|(name, bytes)| Change::CreateNew(name, bytes)),
        1 => name().prop_map(Change::Remove),
        2 => (name(), name()).prop_map(|(from, to)| Change::Rename(from, to)),
    ];
    prop::collection::vec(change, 1..30)
}

/// Makes the changes in a tree and in a map.
fn expect_map(tree: &dyn Tree, changes: &[Change]) -> io::Result<()> {
    let mut model: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    ["d", "e"].iter().try_for_each(|dir| tree.create_dir(dir))?;
    for change in changes {
        match change {
            Change::Write(name, bytes) => {
                tree.write(NAMES[*name], bytes)?;
                model.insert(NAMES[*name], bytes.clone());
            }
            Change::CreateNew(name, bytes) if model.contains_key(NAMES[*name]) => {
                let error = tree.create_new(NAMES[*name], bytes).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            }
            Change::CreateNew(name, bytes) => {
                tree.create_new(NAMES[*name], bytes)?;
                model.insert(NAMES[*name], bytes.clone());
            }
            Change::Remove(name) => {
                tree.remove(NAMES[*name])?;
                model.remove(NAMES[*name]);
            }
            Change::Rename(from, to) => {
                let renamed = tree.rename(NAMES[*from], NAMES[*to]);
                match model.remove(NAMES[*from]) {
                    Some(bytes) => {
                        renamed?;
                        model.insert(NAMES[*to], bytes);
                    }
                    None => assert_eq!(renamed.unwrap_err().kind(), ErrorKind::NotFound),
                }
            }
        }
        for name in NAMES {
            match model.get(name) {
                Some(bytes) => {
                    let mut found = vec![0; usize::try_from(tree.len_of(name)?).unwrap()];
                    tree.open(name)?.read_exact_at(0, &mut found)?;
                    assert_eq!(&found, bytes, "{name}");
                }
                None => {
                    assert_eq!(tree.open(name).err().unwrap().kind(), ErrorKind::NotFound);
                }
            }
        }
        let listed: usize = ["d", "e"].map(|dir| tree.list(dir).unwrap().len()).iter().sum();
        assert_eq!(listed, model.keys().filter(|name| name.contains('/')).count());
    }
    tree.sync_all(&NAMES.map(str::to_owned))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn stores_are_vectors(steps in steps()) {
        expect_vector(&mut MemStore::default(), &steps)?;
        expect_vector(&mut FileStore::from_file(tempfile::tempfile()?), &steps)?;
        // Such a store cannot be cut.
        let growing: Vec<Step> =
            steps.into_iter().filter(|step| !matches!(step, Step::SetLen(_))).collect();
        expect_vector(&mut SeekStore::new(tempfile::tempfile()?), &growing)?;
    }

    #[test]
    fn a_window_is_a_slice(content: Vec<u8>, start in 0..300u64, len in 0..300u64) {
        let end = usize::try_from(start + len).unwrap();
        let slice = content.get(usize::try_from(start).unwrap()..end);
        let stores: [Box<dyn ReadAt>; 2] = [
            Box::new(MemStore::new(content.clone())),
            Box::new(SeekStore::new(Cursor::new(content.clone()))),
        ];
        for store in stores {
            match (Windowed::new(store, start, len), slice) {
                (Ok(window), Some(slice)) => {
                    let mut found = vec![0; slice.len()];
                    window.read_exact_at(0, &mut found)?;
                    prop_assert_eq!(&found, slice);
                    prop_assert_eq!(window.read_at(len, &mut [0; 8])?, 0);
                }
                (Ok(window), None) => prop_assert!(window.read_exact_at(0, &mut vec![0; end]).is_err()),
                (Err(_), slice) => prop_assert!(slice.is_none()),
            }
        }
    }

    #[test]
    fn trees_are_maps(changes in changes()) {
        let dir = tempfile::tempdir()?;
        expect_map(&DirTree::new(dir.path()), &changes)?;
        expect_map(&MemTree::new(), &changes)?;
    }
}
