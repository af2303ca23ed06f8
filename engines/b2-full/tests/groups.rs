//! Groups of Zarr, HDF5 and netCDF: members, attributes, names of dimensions, and their losses.

use std::path::{Path, PathBuf};
use std::process::Command;

use b2frame::NdArray;
use b2frame::nd::Selection;
use b2store::{Store, Value};

fn sample(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name).display().to_string()
}

/// The exit code, and the two outputs.
fn b2(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_b2")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn numbers(count: i32) -> Vec<u8> {
    (0..count).flat_map(i32::to_le_bytes).collect()
}

fn attribute(store: &Store, key: &str, name: &str) -> Option<Value> {
    let attributes = store.attributes(key).unwrap();
    attributes.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Str(text.to_owned()))
}

/// The content of a sample.
struct Group {
    name: &'static str,
    /// The array of 4 x 6 numbers.
    temp: &'static str,
    arrays: &'static [&'static str],
    /// The group with the attribute `institution`.
    inner: &'static str,
    /// Members that are not read, with the reason.
    unread: &'static [(&'static str, &'static str)],
    /// Attributes and links that are not read.
    lost: &'static [&'static str],
}

const GROUPS: [Group; 4] = [
    Group {
        name: "mixed2.zarr",
        temp: "/temp",
        arrays: &["/deep/er/x", "/rec", "/temp", "/text"],
        inner: "/deep/er",
        unread: &[("/odd", "codec somebodys is not supported")],
        lost: &[],
    },
    Group {
        name: "mixed3.zarr",
        temp: "/temp",
        arrays: &["/deep/er/x", "/temp", "/text"],
        inner: "/deep/er",
        unread: &[],
        lost: &[],
    },
    Group {
        name: "mixed.h5",
        temp: "/temp",
        arrays: &["/deep/er/x", "/lat", "/odd", "/temp", "/text", "/time"],
        inner: "/deep/er",
        unread: &[("/nothing", "without a single item"), ("/references", "references")],
        lost: &[
            "the attribute `root` of this group",
            "/elsewhere, a link to /x in other.h5, which is not opened",
        ],
    },
    Group {
        name: "mixed.nc",
        temp: "/run/temp",
        arrays: &["/lat", "/run/temp", "/time"],
        inner: "/run",
        unread: &[],
        lost: &[],
    },
];

impl Group {
    fn code(&self) -> i32 {
        if self.unread.is_empty() && self.lost.is_empty() { 0 } else { 4 }
    }

    /// Checks that the output shows the readable members, and that messages name the others.
    fn check(&self, (code, output, messages): &(i32, String, String)) {
        let expected = if self.unread.is_empty() { 0 } else { 4 };
        assert_eq!(*code, expected, "{}: {messages}", self.name);
        for (member, why) in self.unread {
            let line = messages.lines().find(|line| line.contains(&format!("::{member}")));
            assert!(line.is_some_and(|line| line.contains(why)), "{member}: {messages}");
        }
        for array in self.arrays {
            let last = array.rsplit('/').next().unwrap();
            assert!(output.contains(last), "{array}: {output}");
        }
    }
}

#[test]
fn one_member_that_is_not_read_hides_no_other() {
    for group in &GROUPS {
        let name = sample(group.name);
        group.check(&b2(&["info", &name]));
        group.check(&b2(&["info", "--json", &name]));
        group.check(&b2(&["list", &name]));
        group.check(&b2(&["list", "--json", &name]));
        let tree = b2(&["list", "--tree", &name]);
        group.check(&tree);
        assert_eq!(tree.1.lines().filter(|line| line.contains("group")).count(), 1, "{}", tree.1);
        group.check(&b2(&["sum", &name]));
        group.check(&b2(&["stats", &name]));
        for command in ["cat", "show", "stats", "sum"] {
            if ["cat", "show"].contains(&command) {
                let (code, output, messages) = b2(&[command, &name]);
                assert_eq!((code, output.as_str()), (2, ""), "{command}: {messages}");
                assert!(messages.contains("a group of arrays"), "{command}: {messages}");
            }
            let (code, ..) = b2(&[command, &format!("{name}::{}", group.temp)]);
            assert_eq!(code, 0, "{command}");
            for (member, why) in group.unread {
                let (code, _, messages) = b2(&[command, &format!("{name}::{member}")]);
                assert!(code == 4 && messages.contains(why), "{command} {member}: {messages}");
            }
        }
        let temp = format!("{name}::{}", group.temp);
        assert_eq!(b2(&["diff", &temp, &temp]).0, 0);
    }
}

#[test]
fn groups_become_stores_with_all_that_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    for group in &GROUPS {
        for form in ["b2z", "b2d"] {
            let path = dir.path().join(format!("{}.{form}", group.name));
            let (code, _, messages) =
                b2(&["convert", "--verify", &sample(group.name), path.to_str().unwrap()]);
            assert_eq!(code, group.code(), "{}: {messages}", group.name);
            for (member, why) in group.unread {
                let is_told = |line: &str| {
                    line.contains(&format!("::{member}: warning: left out")) && line.contains(why)
                };
                assert!(messages.lines().any(is_told), "{member}: {messages}");
            }
            assert!(group.lost.iter().all(|what| messages.contains(what)), "{messages}");
            check_store(group, &Store::open(&path).unwrap());
        }
    }
}

/// The keys of values and of tables.
fn values_of(store: &Store) -> Vec<&str> {
    let tables: Vec<&str> = store.tables().collect();
    let is_value = |key: &&str| {
        let is_of_table = tables.iter().any(|table| key.starts_with(&format!("{table}/")));
        !is_of_table && !key.ends_with("/__vlmeta__")
    };
    let mut values: Vec<&str> =
        store.keys().filter(is_value).chain(tables.iter().copied()).collect();
    values.sort_unstable();
    values
}

fn check_store(group: &Group, store: &Store) {
    let values = values_of(store);
    assert!(values.eq(group.arrays), "{}: {values:?}", group.name);
    assert_eq!(attribute(store, "/", "title"), text("mixed"));
    assert_eq!(attribute(store, group.inner, "institution"), text("here"));
    let temp = NdArray::from_schunk(store.frame(group.temp).unwrap()).unwrap();
    assert_eq!(temp.to_bytes(Selection::ALL).unwrap(), numbers(24));
    let vlmeta = |name: &str| temp.schunk().vlmeta().get(name).unwrap().unwrap();
    assert_eq!(vlmeta("_ARRAY_DIMENSIONS"), b"\x92\xa4time\xa3lat", "{}", group.name);
    assert_eq!(vlmeta("units"), b"\xa1K");
}

#[test]
fn attributes_of_hdf5_keep_their_shapes_and_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    b2(&["convert", &sample("mixed.h5"), path.to_str().unwrap()]);
    let store = Store::open(&path).unwrap();
    assert_eq!(attribute(&store, "/", "missing"), text("NaN"));
    let row = |a, b| Value::Array(vec![Value::Int(a), Value::Int(b)]);
    assert_eq!(attribute(&store, "/", "grid"), Some(Value::Array(vec![row(1, 2), row(3, 4)])));
    let (_, step, _) = b2(&["meta", "get", &format!("{}::/deep/er/x", path.display())]);
    assert!(step.contains("[\"step\"]"), "{step}");
    // A group of a store has room for 16 attributes with short names.
    b2(&["convert", "-f", &sample("mixed.nc"), path.to_str().unwrap()]);
    let (_, attributes, _) = b2(&["meta", "get", path.to_str().unwrap()]);
    for name in ["attribute_00", "attribute_19", "a_name_of_more_than_thirty_one_letters"] {
        assert!(attributes.contains(name), "{name}: {attributes}");
    }
}

#[test]
fn a_group_within_is_a_root_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    for (name, group, key) in [
        ("mixed2.zarr", "::/deep", "/er"),
        ("mixed2.zarr", "/deep", "/er"),
        ("mixed3.zarr", "::/deep/er", "/"),
        ("mixed.h5", "::/deep", "/er"),
        ("mixed.nc", "::/run/", "/"),
    ] {
        let name = sample(name) + group;
        assert_eq!(b2(&["convert", "-f", &name, path.to_str().unwrap()]).0, 0, "{name}");
        let store = Store::open(&path).unwrap();
        assert_eq!(attribute(&store, key, "institution"), text("here"), "{name}");
        let below = format!("{}/", key.trim_end_matches('/'));
        assert!(store.keys().all(|key| key.starts_with(&below)), "{name}");
    }
}

#[test]
fn an_array_goes_to_every_format_with_its_attributes() {
    let dir = tempfile::tempdir().unwrap();
    for group in &GROUPS {
        let temp = format!("{}::{}", sample(group.name), group.temp);
        for format in ["b2nd", "b2frame", "blp", "carray", "npy", "csv", "raw"] {
            let path = dir.path().join(format!("{}.{format}", group.name));
            let to = path.to_str().unwrap();
            let (code, _, messages) = b2(&["convert", "--format", format, &temp, "-o", to]);
            assert_eq!(code, 0, "{format}: {messages}");
            if ["npy", "csv", "raw"].contains(&format) {
                continue;
            }
            let (_, attributes, _) = b2(&["meta", "export", to]);
            assert!(attributes.contains("_ARRAY_DIMENSIONS"), "{format}: {attributes}");
        }
    }
}

#[test]
fn where_nothing_can_be_read_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let only = dir.path().join("only.zarr");
    copy_folder(Path::new(&sample("mixed2.zarr/odd")), &only.join("odd"));
    std::fs::copy(sample("mixed2.zarr/.zgroup"), only.join(".zgroup")).unwrap();
    let empty = dir.path().join("empty.zarr");
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(empty.join(".zgroup"), "{\"zarr_format\": 2}").unwrap();
    let to = dir.path().join("x.b2z");
    let references = sample("mixed.h5") + "::/references";
    for from in [only.to_str().unwrap(), empty.to_str().unwrap(), &references] {
        let (code, _, messages) = b2(&["convert", from, to.to_str().unwrap()]);
        assert!(code == 4 && !to.exists(), "{from}: {messages}");
    }
    // Damaged metadata are not an unknown type.
    std::fs::write(only.join("odd/.zarray"), "{").unwrap();
    let (code, _, messages) = b2(&["convert", only.to_str().unwrap(), to.to_str().unwrap()]);
    assert!(code == 1 && !to.exists() && messages.contains("::/odd"), "{messages}");
}

#[test]
fn commands_that_read_no_groups_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("new");
    let new = new.to_str().unwrap();
    for (name, what) in [
        ("mixed2.zarr", "a Zarr group"),
        ("mixed3.zarr", "a Zarr group"),
        ("mixed3.zarr/temp", "a Zarr array"),
        ("mixed3.zarr::/temp", "a Zarr array"),
        ("mixed.h5", "an HDF5 file"),
        ("mixed.h5::/temp", "an HDF5 file"),
        ("mixed.nc", "an HDF5 file"),
    ] {
        let name = &sample(name);
        for args in [
            &["recompress", "-C", "lz4", name, "-o", new][..],
            &["append", name, name],
            &["repack", name],
            &["seal", name],
        ] {
            let (code, _, messages) = b2(args);
            assert!(code == 4 && messages.contains(what), "{args:?}: {code} {messages}");
        }
    }
    assert!(!Path::new(new).exists());
}

#[test]
fn groups_in_a_folder_are_groups_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("folder");
    copy_folder(Path::new(&sample("mixed2.zarr")), &folder.join("inner/run.zarr"));
    std::fs::copy(sample("mixed.nc"), folder.join("b.nc")).unwrap();
    std::fs::write(folder.join("notes.txt"), "notes").unwrap();
    let to = dir.path().join("x.b2z");
    let (code, _, messages) = b2(&["convert", folder.to_str().unwrap(), to.to_str().unwrap()]);
    assert!(code == 4 && messages.contains("::/odd: warning: left out"), "{messages}");
    let store = Store::open(&to).unwrap();
    let expected = [
        "/b.nc/lat",
        "/b.nc/run/temp",
        "/b.nc/time",
        "/inner/run.zarr/deep/er/x",
        "/inner/run.zarr/rec",
        "/inner/run.zarr/temp",
        "/inner/run.zarr/text",
        "/notes.txt",
    ];
    assert_eq!(values_of(&store), expected, "{messages}");
    assert_eq!(attribute(&store, "/inner/run.zarr", "title"), text("mixed"));
}

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
