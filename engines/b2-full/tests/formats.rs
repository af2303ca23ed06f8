//! Arrays of zarr-python, h5py and PyTables, read by the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use b2frame::NdArray;
use b2frame::nd::Selection;
use b2store::Store;

fn sample(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name).display().to_string()
}

fn b2(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_b2")).args(args).output().unwrap()
}

/// The output of a command that succeeds.
fn printed(args: &[&str]) -> Vec<u8> {
    let output = b2(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The message of a command that fails.
fn refused(args: &[&str]) -> String {
    let output = b2(args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The positions of some items as the generator of the samples writes them.
fn numbers<const SIZE: usize>(count: u32, item: fn(u32) -> [u8; SIZE]) -> Vec<u8> {
    (0..count).flat_map(item).collect()
}

fn flat() -> Vec<u8> {
    numbers(1200, u32::to_le_bytes)
}

fn cube(item: fn(f64) -> [u8; 8]) -> Vec<u8> {
    (0..210_u32).flat_map(|n| item(f64::from(n))).collect()
}

fn hole() -> Vec<u8> {
    let item = |n: u16| if (40..50).contains(&n) { n - 40 } else { 9 };
    (0..100).flat_map(|n| item(n).to_le_bytes()).collect()
}

/// 50 records with fields of 4, 8 and 4 bytes, and bytes between and after them.
fn records() -> Vec<u8> {
    let record = |n: u32| {
        let mut record = [0; 24];
        record[..4].copy_from_slice(&n.to_le_bytes());
        record[8..16].copy_from_slice(&(f64::from(n) / 4.0).to_le_bytes());
        let len = usize::try_from(n % 5).unwrap();
        record[16..16 + len].copy_from_slice(&b"abcd"[..len]);
        record
    };
    (0..50).flat_map(record).collect()
}

/// Some rows and columns of `flat`.
fn part_of_flat() -> Vec<u8> {
    (7..17_u32)
        .flat_map(|i| (3..40).step_by(6).flat_map(move |j| (i * 40 + j).to_le_bytes()))
        .collect()
}

/// A group is listed, described, and becomes a store; its arrays are read as a whole and in parts.
fn check_group(name: &str, arrays: &[(&str, Vec<u8>)]) {
    let group = sample(name);
    let listed = String::from_utf8(printed(&["list", &group])).unwrap();
    let described = String::from_utf8(printed(&["info", "-v", &group])).unwrap();
    assert!(described.contains("samples"), "{described}");
    for (key, bytes) in arrays {
        let array = format!("{group}::{key}");
        assert!(listed.contains(&array), "{listed}");
        assert!(described.contains(&array), "{described}");
        assert!(printed(&["cat", &array]) == *bytes, "{array}");
        let end = format!("--bytes=-{}:", bytes.len() / 3);
        assert!(
            printed(&["cat", &end, &array]) == bytes[bytes.len() - bytes.len() / 3..],
            "{array}"
        );
        printed(&["show", &array]);
        printed(&["stats", &array]);
    }
    let flat = format!("{group}::/flat");
    assert_eq!(printed(&["cat", "--slice=7:17,3::6", &flat]), part_of_flat());
    let shown = String::from_utf8(printed(&["show", "--slice=29,37:", &flat])).unwrap();
    assert_eq!(shown, "[1197 1198 1199]\n");
    let info = String::from_utf8(printed(&["info", "--json", &flat])).unwrap();
    for part in ["\"shape\":[30,40]", "\"chunkshape\":[8,16]", "\"unit\":\"m\""] {
        assert!(info.replace([' ', '\n'], "").contains(part), "{part}: {info}");
    }
    assert!(refused(&["cat", &group]).contains("group of arrays"));
    refused(&["info", &format!("{group}::/nowhere")]);
}

fn convert(from: &str, to: &Path) {
    printed(&["convert", "--verify", from, to.to_str().unwrap()]);
}

#[cfg(feature = "zarr")]
#[test]
fn groups_of_zarr_of_both_versions() {
    let dir = tempfile::tempdir().unwrap();
    let arrays =
        [("/flat", flat()), ("/deep/cube", cube(f64::to_le_bytes)), ("/deep/hole", hole())];
    for name in ["v2.zarr", "v3.zarr"] {
        check_group(name, &arrays);
        let group = sample(name);
        let store = dir.path().join(format!("{name}.b2z"));
        convert(&group, &store);
        let store = Store::open(&store).unwrap();
        for (key, bytes) in &arrays {
            let array = NdArray::from_schunk(store.frame(key).unwrap()).unwrap();
            assert!(array.to_bytes(Selection::ALL).unwrap() == *bytes, "{name} {key}");
        }
        // An inner folder is a group or an array of its own.
        assert_eq!(printed(&["cat", &format!("{group}/deep/cube")]), arrays[1].1);
        assert!(
            String::from_utf8(printed(&["list", &format!("{group}/deep")]))
                .unwrap()
                .contains("::/hole")
        );
        let path = dir.path().join(format!("{name}.b2nd"));
        convert(&format!("{group}::/deep/cube"), &path);
        let array = NdArray::open(&path).unwrap();
        assert_eq!((array.shape(), array.dtype().to_string()), (&[5, 6, 7][..], "<f8".to_owned()));
    }
}

#[cfg(feature = "zarr")]
#[test]
fn a_damaged_chunk_of_zarr_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for (name, chunk) in [("v2.zarr", "flat/1.1"), ("v3.zarr", "flat/c/1/1")] {
        let copy = dir.path().join(name);
        copy_folder(Path::new(&sample(name)), &copy);
        let path = copy.join(chunk);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let flat = format!("{}::/flat", copy.display());
        assert!(refused(&["cat", &flat]).contains("blosc"), "{name}");
        // Other chunks can still be read.
        assert_eq!(printed(&["cat", "--slice=:8,:", &flat]), flat_rows(8));
    }
}

#[cfg(feature = "zarr")]
fn flat_rows(count: u32) -> Vec<u8> {
    numbers(count * 40, u32::to_le_bytes)
}

#[cfg(feature = "zarr")]
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &to),
            false => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

#[cfg(feature = "hdf5")]
#[test]
fn data_sets_of_h5py() {
    let flags = (0..20_u8).map(|n| u8::from(n % 3 == 0)).collect();
    let complex =
        (0..6_u8).flat_map(|n| [f32::from(n), 2.0 * f32::from(n)]).flat_map(f32::to_le_bytes);
    let listed = b2(&["list", &sample("sample.h5")]);
    assert!(listed.stderr.is_empty(), "{listed:?}");
    let arrays = [
        ("/flat", flat()),
        ("/deep/cube", cube(f64::to_be_bytes)),
        ("/records", records()),
        ("/flags", flags),
        ("/complex", complex.collect()),
        ("/scalar", 2.5_f32.to_le_bytes().to_vec()),
        ("/masked", numbers(20, u32::to_le_bytes)),
    ];
    for (key, bytes) in &arrays {
        let array = format!("{}::{key}", sample("sample.h5"));
        assert!(printed(&["cat", &array]) == *bytes, "{key}");
        let name = key.rsplit('/').next().unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains(&format!("{name}\n")), "{listed}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cube.b2nd");
    convert(&format!("{}::/deep/cube", sample("sample.h5")), &path);
    let array = NdArray::open(&path).unwrap();
    assert_eq!((array.shape(), array.dtype().to_string()), (&[5, 6, 7][..], ">f8".to_owned()));
}

#[cfg(feature = "hdf5")]
#[test]
fn a_group_of_hdf5_and_its_parts() {
    let deep = format!("{}::/deep", sample("sample.h5"));
    assert!(String::from_utf8(printed(&["list", &deep])).unwrap().contains("::/deep/cube"));
    let flat = format!("{}::/flat", sample("sample.h5"));
    assert_eq!(printed(&["cat", "--slice=7:17,3::6", &flat]), part_of_flat());
    let info = String::from_utf8(printed(&["info", "--json", &flat])).unwrap();
    let info = info.replace([' ', '\n'], "");
    for part in ["\"unit\":\"m\"", "\"scale\":0.5", "\"range\":[1,2]", "\"chunkshape\":[8,16]"] {
        assert!(info.contains(part), "{part}: {info}");
    }
}

#[cfg(feature = "hdf5")]
#[test]
fn tables_of_pytables_are_records() {
    let table = format!("{}::/records", sample("pytables.h5"));
    let shown = String::from_utf8(printed(&["show", "--csv", "--slice=1:3", &table])).unwrap();
    assert!(shown.contains("0.25") && shown.contains("ab"), "{shown}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.bcolz");
    printed(&["convert", "--format", "ctable", "-o", path.to_str().unwrap(), &table]);
    let shown = String::from_utf8(printed(&[
        "show",
        "--csv",
        "--where",
        "id == 49",
        path.to_str().unwrap(),
    ]))
    .unwrap();
    assert!(shown.contains("49,12.25,abcd"), "{shown}");
}

#[test]
fn rows_of_records_are_chosen_as_those_of_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("records.b2z").display().to_string();
    convert(&format!("{}::/records", sample("pytables.h5")), Path::new(&own));
    let text = |args: &[&str]| String::from_utf8(printed(args)).unwrap();
    let table = |name: &str| format!("{}::/records", sample(name));
    for name in [own, table("sample.h5"), table("pytables.h5")] {
        let chosen = ["--where", "id > 47", "--columns", "price", &name];
        let shown = text(&[&["show", "--csv"], &chosen[..]].concat());
        assert_eq!(shown, "price\n12.0\n12.25\n", "{name}");
        let picture = text(&[&["plot", "--json"], &chosen[..]].concat()).replace(' ', "");
        for part in ["\"shape\":[2]", "\"min\":12.0", "\"max\":12.25"] {
            assert!(picture.contains(part), "{name}: {picture}");
        }
        let among = ["plot", "--json", "--slice=1:", "--where", "id > 47", "--columns", "price"];
        let among = text(&[&among[..], &[&name]].concat()).replace(' ', "");
        assert!(among.contains("\"shape\":[1]"), "{name}: {among}");
        let file = dir.path().join("plot.svg").display().to_string();
        printed(&[&["plot", "-f", "-o", &file], &chosen[..]].concat());
        assert!(std::fs::read_to_string(file).unwrap().contains("row of those found"), "{name}");
    }
    let flat = format!("{}::/flat", sample("sample.h5"));
    for command in ["plot", "show"] {
        let message = refused(&[command, "--where", "a > 1", &flat]);
        assert!(message.contains("table") || message.contains("columns"), "{message}");
    }
    let message = refused(&["stats", "--where", "id > 47", &table("sample.h5")]);
    assert!(message.contains("`b2 convert` take --where"), "{message}");
}

#[test]
fn the_example_prints_what_names_lead_to() {
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().and_then(Path::parent).unwrap().join("examples/arrays");
    let names =
        [sample("v3.zarr"), sample("v3.zarr") + "::/deep/cube", sample("v2.zarr") + "/flat"];
    let output = Command::new(example).args(&names).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("v3.zarr: 3 members"), "{text}");
    assert!(lines[1].contains("v3.zarr::/deep/cube: zarr"), "{text}");
    assert!(lines[2].ends_with("flat: zarr, [30, 40] of <i4"), "{text}");
}
