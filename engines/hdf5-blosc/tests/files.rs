//! Files of h5py with hdf5plugin, and of PyTables.

use std::collections::BTreeMap;

use hdf5_reader::group::Group;
use hdf5_reader::{FilterRegistry, Hdf5File, OpenOptions};

fn open(name: &str) -> Hdf5File {
    let mut filters = FilterRegistry::new();
    hdf5_blosc::register(&mut filters);
    let path = format!("{}/tests/samples/{name}", env!("CARGO_MANIFEST_DIR"));
    let options = OpenOptions::default().with_filter_registry(filters);
    Hdf5File::open_with_options(path, options).unwrap()
}

/// The bytes of every data set, by its path.
fn datasets(group: &Group, path: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    let (groups, datasets_here) = group.members().unwrap();
    for dataset in datasets_here {
        let name = format!("{path}/{}", dataset.name().rsplit('/').next().unwrap());
        let bytes = dataset.read_raw_bytes().unwrap_or_else(|error| panic!("{name}: {error}"));
        found.insert(name, bytes);
    }
    for group in groups {
        let name = group.name().rsplit('/').next().unwrap().to_owned();
        datasets(&group, &format!("{path}/{name}"), found);
    }
}

fn all(name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    datasets(&open(name).root_group().unwrap(), "", &mut found);
    found
}

#[test]
fn both_filters_give_what_is_stored_plainly() {
    let found = all("hdf5plugin.h5");
    let mut count = 0;
    for (name, bytes) in found.iter().filter(|(name, _)| !name.starts_with("/plain")) {
        let plain = format!("/plain/{}", name.rsplit('/').next().unwrap());
        assert!(*bytes == found[&plain], "{name}");
        count += 1;
    }
    assert_eq!(count, 15 + 18 + 2);
}

#[test]
fn files_of_pytables_are_read() {
    let found = all("pytables.h5");
    let plain = &found["/flat"];
    assert_eq!(plain.len(), 48 * 60 * 4);
    assert!(found.values().all(|bytes| bytes == plain));
    assert_eq!(found.len(), 5);
}

#[test]
fn a_damaged_chunk_is_an_error_that_names_the_filter() {
    let path = format!("{}/tests/samples/hdf5plugin.h5", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = std::fs::read(path).unwrap();
    // The magic of every frame.
    let frames: Vec<usize> =
        (0..bytes.len() - 10).filter(|at| bytes[*at..].starts_with(b"\x9e\xa8b2frame")).collect();
    assert!(frames.len() > 30);
    for at in frames {
        bytes[at + 20] ^= 0xff;
    }
    let mut filters = FilterRegistry::new();
    hdf5_blosc::register(&mut filters);
    let options = OpenOptions::default().with_filter_registry(filters);
    let file = Hdf5File::from_vec_with_options(bytes, options).unwrap();
    let dataset = file.dataset("/blosc2/zstd/1/walk").unwrap();
    let error = dataset.read_raw_bytes().unwrap_err().to_string();
    assert!(error.contains("32026"), "{error}");
}
