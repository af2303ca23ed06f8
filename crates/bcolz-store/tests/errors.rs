//! Data sets that must be refused, each for the right reason; and one case for each check of the
//! format document.

use crate::tree;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bcolz_store::tree::{DirTree, Entry, MemTree, Tree};
use bcolz_store::{
    BrokenColumns, CArray, CArrayWriter, CTable, CreateOptions, DataSet, Dtype, Error, OpenOptions,
    Result,
    error::{Blame, Corrupt},
    open, open_in,
};
use blosc_io::ReadAt;
use blosc_testdata::fixture;
use serde_json::Value;

/// Name and class of error.
fn cases() -> BTreeMap<String, String> {
    let list: Value =
        serde_json::from_slice(&fixture::read("bcolz/malformed/expected.json").unwrap()).unwrap();
    let case = |(name, case): (&String, &Value)| {
        (name.clone(), case["error"].as_str().unwrap().to_owned())
    };
    list["cases"].as_object().unwrap().iter().map(case).collect()
}

/// The class that the list uses for an error.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Dtype { .. } => "dtype",
        Error::Corrupt { path, .. } if path.ends_with("__attrs__") => "attrs",
        Error::Corrupt { what, .. } => match what {
            Corrupt::Missing => "missing",
            Corrupt::Json { .. } => "json",
            Corrupt::Key { .. } => "key",
            Corrupt::Type { .. } => "type",
            Corrupt::Range { .. } => "range",
            Corrupt::Magic { .. } => "magic",
            Corrupt::Version { .. } => "version",
            Corrupt::Reserved { .. } => "reserved",
            Corrupt::ChunkCount { .. } => "nchunks",
            Corrupt::Truncated { .. } => "truncated",
            Corrupt::Trailing { .. } => "trailing",
            Corrupt::ChunkSize { .. } => "chunk-size",
            Corrupt::ColumnName { .. } => "column-name",
            other => unreachable!("{other}"),
        },
        other => unreachable!("{other}"),
    }
}

/// The first fault that any of the functions reports.
fn first_error(root: &Path) -> Result<()> {
    first_of(open(root)?)
}

fn first_of(found: DataSet) -> Result<()> {
    let report = found.verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())?;
    match (report.bad.into_iter().next(), report.other.into_iter().next()) {
        (Some(bad), _) => Err(bad.error),
        (None, Some(error)) => Err(error),
        _ => Ok(()),
    }
}

#[test]
fn every_malformed_data_set_is_refused_for_the_right_reason() {
    let cases = cases();
    assert_eq!(cases.len(), 44);
    for (name, expected) in cases {
        let error = first_error(&fixture::path("bcolz/malformed").join(&name)).unwrap_err();
        assert_eq!(class(&error), expected, "{name}: {error}");
        assert_eq!(error.blame(), Blame::Data, "{name}: {error}");
    }
}

#[test]
fn reading_finds_what_verifying_finds() {
    for (name, expected) in cases() {
        let Ok(DataSet::CArray(array)) = open(fixture::path("bcolz/malformed").join(&name)) else {
            continue;
        };
        match array.read(0..array.len()) {
            Ok(_) => assert_eq!(expected, "attrs", "{name}"),
            Err(error) => assert_eq!(class(&error), expected, "{name}: {error}"),
        }
    }
}

/// An array of 25 items of type int32 in chunks of 10.
fn array() -> MemTree {
    let tree = Arc::new(MemTree::new());
    let options =
        CreateOptions::new(Dtype::parse("int32").unwrap()).chunklen(Some(10)).expectedlen(Some(25));
    let mut writer = CArrayWriter::create_in(tree.clone(), "", &options).unwrap();
    writer.append(&(0..25_i32).flat_map(i32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    writer.finish().unwrap();
    (*tree).clone()
}

fn bytes(tree: &MemTree, path: &str) -> Vec<u8> {
    let file = tree.open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// The error, with its causes, of an array with one file changed.
fn refused(path: &str, change: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>) -> String {
    let tree = array();
    match change(bytes(&tree, path)) {
        Some(changed) => tree.write(path, &changed).unwrap(),
        None => tree.remove(path).unwrap(),
    }
    let error =
        open_in(Arc::new(tree), "", &OpenOptions::default()).and_then(first_of).unwrap_err();
    let cause = core::error::Error::source(&error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

fn refused_text(path: &str, text: &str) -> String {
    refused(path, |_| Some(text.into()))
}

/// One byte of a chunk file changed.
fn refused_byte(at: usize, byte: u8) -> String {
    refused("data/__1.blp", |mut bytes| {
        bytes[at] = byte;
        Some(bytes)
    })
}

#[test]
fn check_1_metadata_files_are_short_json_objects() {
    assert_eq!(refused_text("meta/sizes", ""), "meta/sizes: no JSON at byte 0: expected a value");
    assert_eq!(refused_text("meta/sizes", "[1]"), "meta/sizes: is a list, not an object");
    let deep = "[".repeat(1000);
    assert_eq!(
        refused_text("meta/storage", &deep),
        "meta/storage: no JSON at byte 128: expected less nesting"
    );
    let long = " ".repeat((16 << 20) + 1);
    assert_eq!(
        refused_text("meta/storage", &long),
        "meta/storage: 16777217 bytes of metadata, the limit is 16777216"
    );
    assert_eq!(
        refused("meta/sizes", |_| Some(vec![0xff])),
        "meta/sizes: no JSON at byte 0: expected UTF-8"
    );
    assert_eq!(refused("meta/sizes", |_| None), "meta/sizes: is missing");
}

#[cfg(unix)]
#[test]
fn check_1_links_that_leave_the_root_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir(&root).unwrap();
    tree::copy(&array(), &DirTree::new(&root), "");
    for path in ["meta/sizes", "meta/storage", "__attrs__", "data/__1.blp"] {
        let (inside, outside) = (root.join(path), dir.path().join("outside"));
        std::fs::rename(&inside, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let error = open(&root).and_then(first_of).unwrap_err();
        assert_eq!(error.to_string(), format!("{path}: is not an ordinary file below the root"));
        std::fs::rename(&outside, &inside).unwrap();
    }
    first_of(open(&root).unwrap()).unwrap();
}

#[test]
fn checks_2_to_4_keys_types_and_ranges() {
    for (path, text, expected) in [
        ("meta/sizes", "{}", "no key \"shape\""),
        ("meta/sizes", r#"{"shape": 25}"#, "\"shape\" is an integer, not a list"),
        ("meta/sizes", r#"{"shape": [2.0]}"#, "\"shape\" is a float, not a list of integers"),
        ("meta/sizes", r#"{"shape": []}"#, "number of dimensions 0 is outside 1..=64"),
        ("meta/sizes", r#"{"shape": [-3]}"#, "length -3 is outside 0..=9223372036854775807"),
        (
            "meta/sizes",
            r#"{"shape": [25, 0]}"#,
            "length of a dimension 0 is outside 1..=9223372036854775807",
        ),
        (
            "meta/sizes",
            r#"{"shape": [25, 1099511627776]}"#,
            "size of a row 4398046511104 is outside 1..=2147483647",
        ),
        (
            "meta/sizes",
            r#"{"shape": [4611686018427387904]}"#,
            "size of the array 18446744073709551616 is outside 0..=9223372036854775807",
        ),
        ("meta/storage", r#"{"chunklen": 1}"#, "no key \"dtype\""),
        ("meta/storage", r#"{"dtype": 1}"#, "\"dtype\" is an integer, not a string"),
        ("meta/storage", r#"{"dtype": "int32"}"#, "no key \"chunklen\""),
        (
            "meta/storage",
            r#"{"dtype": "int32", "chunklen": 10.5}"#,
            "\"chunklen\" is a float, not an integer",
        ),
        (
            "meta/storage",
            r#"{"dtype": "int32", "chunklen": 0}"#,
            "chunklen 0 is outside 1..=2147483631",
        ),
        (
            "meta/storage",
            r#"{"dtype": "int32", "chunklen": -1}"#,
            "chunklen -1 is outside 1..=2147483631",
        ),
        (
            "meta/storage",
            r#"{"dtype": "int32", "chunklen": 4611686018427387904}"#,
            "chunklen 4611686018427387904 is outside 1..=2147483631",
        ),
        (
            "meta/storage",
            r#"{"dtype": "int32", "chunklen": 2147483631}"#,
            "size of a chunk 8589934524 is outside 1..=2147483631",
        ),
    ] {
        assert_eq!(refused_text(path, text), format!("{path}: {expected}"));
    }
}

#[test]
fn checks_5_and_6_dtypes() {
    for (dtype, expected) in [
        ("int33", "dtype of the array: type code \"int33\" is not known"),
        ("__import__('os')", "dtype of the array: type code \"__import__('os')\" is not known"),
        ("|S0", "size of an item 0 is outside 1..=2147483647"),
        ("[('a', '|O')]", "objects in rows of several items"),
    ] {
        let text = format!(r#"{{"dtype": "{dtype}", "chunklen": 10}}"#);
        assert_eq!(refused_text("meta/storage", &text), format!("meta/storage: {expected}"));
    }
    let nested = format!("{}'<i4'{}", "[('a', ".repeat(17), ")]".repeat(17));
    let wide: Vec<String> = (0..4097).map(|n| format!("('f{n}', 'u1')")).collect();
    let wide = format!("[{}]", wide.join(", "));
    for (dtype, expected) in [
        (nested, "dtype of the array: dtype nested deeper than 32 levels at byte 112"),
        (wide, "4097 fields, the limit is 4096"),
        (
            format!("[('{}', '<i4')]", "a".repeat(1 << 20)),
            "dtype of the array: dtype text of 1048589 bytes, the limit is 1048576",
        ),
    ] {
        let refused =
            refused_text("meta/storage", &format!(r#"{{"dtype": "{dtype}", "chunklen": 10}}"#));
        assert_eq!(refused, format!("meta/storage: {expected}"));
    }
    // An ordinary array that falsely claims to hold objects: it is opened, and no code runs.
    let tree = array();
    tree.remove(".b2sums").unwrap();
    tree.write("meta/storage", br#"{"dtype": "object", "chunklen": 10}"#).unwrap();
    tree.write("meta/sizes", br#"{"shape": [3]}"#).unwrap();
    let objects = CArray::open_in(Arc::new(tree), "", &OpenOptions::default()).unwrap();
    let error = objects.objects().unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "data/__0.blp: pickle of element 0");
    assert!(matches!(error, Error::Pickle { .. }));
    assert_eq!(objects.pickle(0).unwrap().len(), 40);
}

#[test]
fn checks_7_to_9_settings_fill_value_and_statistics_do_not_matter() {
    let tree = array();
    tree.remove(".b2sums").unwrap();
    let text = r#"{"dtype": "int32", "chunklen": 10, "cparams": {"clevel": 11, "shuffle": 7, "cname": "x"}}"#;
    tree.write("meta/storage", text.as_bytes()).unwrap();
    tree.write("meta/sizes", br#"{"shape": [25], "nbytes": -1, "cbytes": NaN}"#).unwrap();
    let array = CArray::open_in(Arc::new(tree), "", &OpenOptions::default()).unwrap();
    let notes: Vec<String> = array.notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 5, "{notes:?}");
    assert_eq!(notes[4], ".: nbytes -1, the data have 100");
    assert_eq!(array.read_as::<i32>(24..25).unwrap(), [24]);
}

#[test]
fn checks_10_and_11_columns() {
    let tree = Arc::new(MemTree::new());
    for name in ["a", "b"] {
        let options = CreateOptions::new(Dtype::parse("int8").unwrap());
        CArrayWriter::create_in(tree.clone(), name, &options).unwrap().finish().unwrap();
    }
    let open = |names: &str, options: &OpenOptions| {
        tree.write("__rootdirs__", format!(r#"{{"names": {names}}}"#).as_bytes()).unwrap();
        CTable::open_in(tree.clone(), "", options)
    };
    let strict = OpenOptions::default();
    for (names, expected) in [
        (r#""a""#, "\"names\" is a string, not a list"),
        (r#"["a", 1]"#, "\"names\" is an integer, not a list of strings"),
        (r#"["../x"]"#, "column \"../x\" has a character that no directory may have"),
        (r#"["/x"]"#, "column \"/x\" has a character that no directory may have"),
        (r#"["b/data"]"#, "column \"b/data\" has a character that no directory may have"),
        (r#"[""]"#, "column \"\" has no name"),
        (r#"[".."]"#, "column \"..\" is not below the table"),
        (r#"["."]"#, "column \".\" is not below the table"),
        (r#"["b\\data"]"#, "column \"b\\\\data\" has a character that no directory may have"),
        (r#"["b\u0000"]"#, "column \"b\\0\" has a character that no directory may have"),
        (r#"["a", "a"]"#, "column \"a\" stands twice"),
        (r#"["__attrs__"]"#, "column \"__attrs__\" is a file of the table itself"),
    ] {
        assert_eq!(
            open(names, &strict).unwrap_err().to_string(),
            format!("__rootdirs__: {expected}")
        );
    }
    assert_eq!(open(r#"["a", "c"]"#, &strict).unwrap_err().to_string(), "c/meta/sizes: is missing");
    let lenient = OpenOptions::default().broken_columns(BrokenColumns::Skip);
    let table = open(r#"["b", "c", "b", "../x", "a"]"#, &lenient).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(table.notes().filter(|note| note.to_string().contains("left out")).count(), 3);
    let mut longer = CArrayWriter::open_in(tree.clone(), "a", &strict).unwrap();
    longer.append(&[1, 2]).unwrap();
    longer.finish().unwrap();
    let table = open(r#"["a", "b"]"#, &strict).unwrap();
    let notes: Vec<String> = table.notes().map(ToString::to_string).collect();
    assert!(notes.contains(&".: columns of 0 to 2 rows; 0 are complete".to_owned()), "{notes:?}");
    assert!(table.is_empty());
}

#[test]
fn checks_12_and_13_chunk_files() {
    let path = "data/__1.blp";
    assert_eq!(refused(path, |_| None), "data/__1.blp: is missing");
    assert_eq!(
        refused(path, |bytes| Some(bytes[..31].into())),
        "data/__1.blp: 31 bytes long, 32 are needed"
    );
    assert_eq!(refused_byte(0, b'B'), "data/__1.blp: begins with \"Blpk\", not \"blpk\"");
    assert_eq!(refused_byte(4, 2), "data/__1.blp: Bloscpack version 2, not 1");
    assert_eq!(refused_byte(6, 1), "data/__1.blp: reserved bytes [00, 01, 00] are not zero");
    assert_eq!(refused_byte(8, 2), "data/__1.blp: 2 chunks in a file, not 1");
    assert_eq!(refused_byte(16, 5), "data/__1.blp: chunk of version 5, not of Blosc 1");
    assert_eq!(
        refused(path, |bytes| Some(bytes[..40].into())),
        "data/__1.blp: 40 bytes long, 72 are needed"
    );
    assert_eq!(
        refused(path, |bytes| Some([&bytes[..], b"x"].concat())),
        "data/__1.blp: 73 bytes long, the chunk ends at 72"
    );
    // A full chunk of 40 bytes holds 36 here.
    let text = "data/__1.blp: chunk of 36 bytes of data, 40 to 40 in rows of 4 fit here";
    assert_eq!(refused_byte(20, 36), text);
}

#[test]
fn check_12_chunks_shorter_than_their_header() {
    assert!(
        refused_byte(28, 15).starts_with("data/__1.blp: chunk 1: "),
        "{}",
        refused_byte(28, 15)
    );
    let size = refused_byte(31, 0xff);
    assert!(size.starts_with("data/__1.blp: chunk 1: "), "{size}");
}

#[test]
fn check_14_what_the_decoder_refuses() {
    // Flags of a codec that does not exist.
    assert!(
        refused_byte(18, 0xe1).starts_with("data/__1.blp: chunk 1: "),
        "{}",
        refused_byte(18, 0xe1)
    );
}

#[test]
fn check_15_missing_chunks_are_errors_and_surplus_ones_are_not() {
    assert_eq!(
        refused_text("meta/sizes", r#"{"shape": [65]}"#),
        "data/__2.blp: chunk of 20 bytes of data, 40 to 40 in rows of 4 fit here"
    );
    let tree = array();
    tree.write("meta/sizes", br#"{"shape": [7]}"#).unwrap();
    let array = CArray::open_in(Arc::new(tree), "", &OpenOptions::default()).unwrap();
    assert_eq!(array.read_as::<i32>(0..7).unwrap(), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn check_16_damaged_attributes_do_not_hide_the_data() {
    for text in ["{", "[]"] {
        let tree = array();
        tree.write("__attrs__", text.as_bytes()).unwrap();
        let array = CArray::open_in(Arc::new(tree), "", &OpenOptions::default()).unwrap();
        assert_eq!(array.read(0..25).unwrap().len(), 100);
        assert!(array.attrs().is_err());
        assert_eq!(
            array
                .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
                .unwrap()
                .other
                .len(),
            1
        );
    }
}

#[test]
fn check_17_claims_are_not_believed() {
    let tree = array();
    tree.write("meta/sizes", br#"{"shape": [1152921504606846976]}"#).unwrap();
    let tree: Arc<dyn Tree> = Arc::new(tree);
    let array = CArray::open_in(tree.clone(), "", &OpenOptions::default()).unwrap();
    let error = array.read(0..array.len()).unwrap_err();
    assert!(error.to_string().starts_with("data/__2.blp: chunk of 20 bytes"), "{error}");
    assert!(array.blocks(0).nth(2).unwrap().is_err());
    let report = array.verify(&bcolz_store::verify::VerifyOptions::default(), |_| ()).unwrap();
    assert!(report.bad.len() >= 1000 && report.nchunks < 2000);
    let options = OpenOptions::default().max_nbytes(1000);
    let error = CArray::open_in(tree, "", &options).unwrap().read(0..251).unwrap_err();
    assert_eq!(error.to_string(), "1004 bytes needed for \"\", the limit is 1000");
    assert_eq!(error.blame(), Blame::Limit);
}

/// Files that can be opened, in directories that cannot be listed.
#[derive(Debug)]
struct Unlisted(MemTree);

impl Tree for Unlisted {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.0.open(path)
    }

    fn list(&self, _: &str) -> io::Result<Vec<Entry>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn check_18_reading_needs_no_list_of_files() {
    let array = CArray::open_in(Arc::new(Unlisted(array())), "", &OpenOptions::default()).unwrap();
    assert_eq!(array.read_as::<i32>(0..25).unwrap(), (0..25).collect::<Vec<_>>());
    assert_eq!(array.blocks(7).map(|block| block.unwrap().len()).sum::<usize>(), 100);
    let table = CTable::of_array("x", &array);
    assert_eq!(table.scan().filter("x > 20").unwrap().count().unwrap(), 4);
    assert!(array.verify(&bcolz_store::verify::VerifyOptions::default(), |_| ()).is_err());
}
