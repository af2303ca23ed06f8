//! The validation list of the specification ("Validation" in `docs/formats/store.md`), one test for
//! each entry. Invalid samples are refused when the store is opened, or when their damaged part is
//! read; unusual samples are read completely.

use crate::sidecar;

use b2frame::SChunk;
use b2frame::nd::Selection;
use b2store::{Content, Error, Store};
use sidecar::{read_json, root};

/// The moment when a sample is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refused {
    Opening,
    /// On reading. The error names this key, column or frame; an empty text stands for any.
    Reading(&'static str),
    Never,
}
use Refused::{Never, Opening, Reading};

fn sample(id: &str) -> std::path::PathBuf {
    let cases = read_json("malformed.json");
    let mut cases = cases["cases"].as_array().unwrap().iter();
    let case = cases.find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"));
    root().join(case["file"].as_str().unwrap())
}

/// Decodes all of a value.
fn read(content: Content) -> Result<(), Error> {
    match content {
        Content::Array(array) => array
            .to_bytes(Selection::ALL)
            .map(drop)
            .map_err(|source| Error::Frame { name: String::new(), source: Box::new(source) }),
        Content::Objects(objects) => (0..objects.len()).try_for_each(|n| objects.get(n).map(drop)),
        Content::Batches(batches) => {
            (0..batches.nbatches()).try_for_each(|n| batches.batch(n).map(drop))?;
            batches.items(0..batches.len()?).map(drop)
        }
        Content::Lists(lists) => lists.rows(0..lists.len()?).map(drop),
        _ => Ok(()),
    }
}

/// Reads all of a sample; an error of opening, or those of its parts.
fn faults(id: &str) -> Result<Vec<String>, Error> {
    let path = sample(id);
    if path.extension().is_some_and(|suffix| suffix == "b2b") {
        let content = SChunk::open(&path).map(|schunk| Content::from_schunk(schunk, id)).unwrap();
        return Ok(content.and_then(read).err().iter().map(Error::to_string).collect());
    }
    let store = Store::open(&path)?;
    let mut faults = Vec::new();
    for key in store.keys() {
        let found = store.get(key).and_then(read);
        faults.extend(found.err().map(|error| format!("{key}: {error}")));
    }
    for key in store.tables() {
        // A table without a readable row counts as refused on opening.
        let table = store.table(key)?;
        for spec in &table.schema().columns {
            let found = table.column(&spec.name).and_then(|column| column.read(0..table.len()?));
            faults.extend(found.err().map(|error| format!("{}: {error}", spec.name)));
        }
    }
    Ok(faults)
}

fn check(cases: &[(&str, Refused)]) {
    for (id, refused) in cases {
        match (faults(id), refused) {
            (Err(_), Opening) => {}
            (Ok(faults), Reading(part)) => {
                assert!(!faults.is_empty(), "{id} was read");
                assert!(faults.iter().any(|fault| fault.contains(part)), "{id}: {faults:?}");
            }
            (Ok(faults), Never) => assert_eq!(faults, [""; 0], "{id}"),
            (found, expected) => panic!("{id}: {expected:?}, found {found:?}"),
        }
    }
}

macro_rules! checklist {
    ($($name:ident: $cases:expr;)*) => {
        $(#[test] fn $name() { check(&$cases); })*

        #[test]
        fn every_sample_breaks_an_entry_or_none() {
            let listed: Vec<&str> = [$(&$cases[..]),*].concat().iter().map(|(id, _)| *id).collect();
            for case in read_json("malformed.json")["cases"].as_array().unwrap() {
                let id = case["id"].as_str().unwrap();
                assert!(listed.contains(&id), "{case}");
            }
        }
    };
}

checklist! {
    directory_of_an_archive_1: [("Z10", Opening), ("Z15", Opening)];
    // The directory is trusted, because its sum matches the bytes.
    local_headers_2: [("Z11", Never)];
    encryption_3: [("Z13", Reading("/a"))];
    positions_of_members_4: [("Z14", Never), ("Z18", Opening)];
    names_of_members_5: [
        ("Z04", Opening), ("Z05", Opening), ("Z06", Opening), ("Z07", Opening), ("Z08", Opening),
        ("Z22", Opening),
    ];
    marker_6: [
        ("Z01", Opening), ("Z03", Opening), ("Z19", Opening), ("Z25", Opening), ("Z23", Never),
        ("Z24", Never),
    ];
    keys_7: [("Z16", Opening), ("E08", Never)];
    frames_in_members_8: [
        ("Z02", Reading("/a")), ("Z09", Reading("/a")), ("Z20", Reading("/a")),
    ];
    embedded_values_9: [
        ("E01", Reading("/a")), ("E02", Reading("/a")), ("E03", Reading("/b")),
        ("E04", Reading("/a")), ("E05", Reading("/a")), ("E07", Opening), ("E10", Reading("/a")),
        ("E13", Reading("/a")), ("E06", Never), ("E12", Never),
    ];
    registry_10: [("Z26", Never)];
    messagepack_11: [("B04", Reading("B04")), ("B05", Reading("B05")), ("B06", Reading("B06"))];
    batches_12: [("B01", Reading("B01")), ("B02", Reading("B02")), ("B03", Reading("B03"))];
    tables_13: [
        ("T01", Opening), ("T03", Opening), ("T14", Opening), ("T15", Reading("../../x")),
        ("T18", Opening), ("T00", Never), ("T11", Never), ("T17", Never),
    ];
    columns_14: [
        ("T02", Reading("")), ("T04", Reading("id")), ("T12", Reading("id")),
        ("T13", Reading("id")),
    ];
    text_15: [("T05", Reading("u")), ("T06", Reading("u")), ("T07", Reading("u"))];
    dictionaries_16: [("T08", Reading("d"))];
    masks_17: [("T09", Reading("id")), ("T10", Never)];
    cells_18: [("T16", Reading("v"))];
    // References are shown; items by number need the numbers in the frame, which are wrong in B07.
    references_19: [("E09", Reading("/r")), ("B07", Reading("items of a batch")), ("T19", Never)];
    unusual_20: [("Z21", Never), ("Z17", Never), ("E11", Never), ("Z12", Reading("a"))];
}
