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
fn both_filters_give_the_unfiltered_values() {
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

/// The output of an example.
fn printed(name: &str, argument: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    let output = std::process::Command::new(example).arg(argument).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_examples_read_data_sets_and_write_chunks() {
    let path = format!("{}/tests/samples/pytables.h5", env!("CARGO_MANIFEST_DIR"));
    let text = printed("datasets", &path);
    let flat = text.lines().find(|line| line.starts_with("/flat ")).unwrap();
    let sum = flat.rsplit(' ').next();
    assert_eq!(text.lines().filter(|line| line.rsplit(' ').next() == sum).count(), 5, "{text}");

    let folder = std::env::temp_dir().join(format!("hdf5-blosc-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = printed("encode", folder.to_str().unwrap());
    let data: Vec<u8> = (0..2500_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (name, filter) = (words.next().unwrap(), words.next().unwrap());
        let client_data = words.next().unwrap().trim_matches(['[', ']']);
        let client_data: Vec<u32> = client_data.split(", ").map(|n| n.parse().unwrap()).collect();
        let stored = std::fs::read(folder.join(format!("{name}.{filter}"))).unwrap();
        let decoded = match filter {
            "32001" => hdf5_blosc::decode_32001(&stored, &client_data, 10_000),
            _ => hdf5_blosc::decode_32026(&stored, &client_data, 10_000),
        };
        assert_eq!(decoded.unwrap(), data, "{line}");
    }
    assert_eq!(text.lines().count(), 6);
    std::fs::remove_dir_all(&folder).unwrap();
}
