//! Inputs that a program built on `b2` opens by openers of its own.

use core::ops::Range;
use std::{
    fs, io,
    sync::{Arc, Mutex},
};

use b2_cli::{Code, run_with};
use b2frame::{FrameParams, NdArray, nd::Selection};
use blosc_data::{Array, ForeignGroup, Opened, Opener, Source};
use blosc_dtype::Dtype;
use blosc_io::MemStore;
use serde_json::{Map, Value};

/// Numbers by their position.
#[derive(Debug)]
struct Counted {
    dtype: Dtype,
    /// Items that were read.
    nread: Arc<Mutex<u64>>,
}

const SHAPE: [u64; 3] = [30, 40, 50];

impl Array for Counted {
    fn format(&self) -> &'static str {
        "counted"
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &SHAPE
    }

    fn chunkshape(&self) -> &[u64] {
        &[7, 11, 13]
    }

    fn pipeline(&self) -> String {
        "none".to_owned()
    }

    fn stored_nbytes(&self) -> Option<u64> {
        Some(1000)
    }

    fn attributes(&self) -> blosc_data::Result<Map<String, Value>> {
        Ok([("unit".to_owned(), "m".into())].into_iter().collect())
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> blosc_data::Result<()> {
        let [a, b, c] = bounds else { panic!("three ranges") };
        let mut dest = dest.chunks_exact_mut(4);
        for i in a.clone() {
            for j in b.clone() {
                for k in c.clone() {
                    let number = u32::try_from((i * 40 + j) * 50 + k).unwrap();
                    dest.next().unwrap().copy_from_slice(&number.to_le_bytes());
                    *self.nread.lock().unwrap() += 1;
                }
            }
        }
        assert!(dest.next().is_none());
        Ok(())
    }
}

#[derive(Debug)]
struct Counting(Arc<Mutex<u64>>);

impl Opener for Counting {
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        let array = || Counted { dtype: "<u4".parse().unwrap(), nread: Arc::clone(&self.0) };
        match word {
            "mem://all" => {
                let members = ["mem://all::/x", "mem://all::/deep/y"].map(str::to_owned).to_vec();
                let group = ForeignGroup { format: "counted", members, ..ForeignGroup::default() };
                Ok(Some(Opened::Group(Arc::new(group))))
            }
            "mem://some" | "mem://damaged" => {
                let other = word.replace("some", "foreign");
                let members = vec!["mem://all::/x".to_owned(), format!("{other}::/z")];
                let attributes = [("title".to_owned(), "t".into())].into_iter().collect();
                let groups = [("/deep".to_owned(), Map::clone(&attributes))].into();
                let format = "counted";
                let group =
                    ForeignGroup { format, members, attributes, groups, ..Default::default() };
                Ok(Some(Opened::Group(Arc::new(group))))
            }
            "mem://foreign::/z" => Err(io::ErrorKind::Unsupported.into()),
            "mem://damaged::/z" => Err(io::ErrorKind::InvalidData.into()),
            "mem://all::/x" | "mem://all::/deep/y" => Ok(Some(Opened::Array(Arc::new(array())))),
            "mem://frame" => {
                let frame = b2frame::to_cframe(b"abcabc", &FrameParams::default()).unwrap();
                Ok(Some(Opened::Source(Source::File(Arc::new(MemStore::new(frame))))))
            }
            "mem://nothing" => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(None),
        }
    }
}

fn b2(args: &[&str]) -> (Code, u64) {
    let nread = Arc::new(Mutex::new(0));
    let argv = ["b2"].iter().chain(args).map(Into::into);
    let code = run_with(argv, vec![Box::new(Counting(Arc::clone(&nread)))]);
    let nread = *nread.lock().unwrap();
    (code, nread)
}

fn all_items() -> Vec<u8> {
    (0..60_000_u32).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn an_array_becomes_a_file_with_its_attributes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2nd");
    let to = path.to_str().unwrap();
    assert_eq!(b2(&["convert", "--verify", "mem://all::/x", to]).0, Code::Success);
    let array = NdArray::open(&path).unwrap();
    assert_eq!(array.shape(), SHAPE);
    assert_eq!(array.dtype().to_string(), "<u4");
    assert_eq!(array.to_bytes(Selection::ALL).unwrap(), all_items());
    assert!(array.schunk().vlmeta().get("unit").unwrap().is_some());
}

#[test]
fn a_group_becomes_a_store_with_a_value_for_each_array() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.b2z");
    assert_eq!(b2(&["convert", "mem://all", path.to_str().unwrap()]).0, Code::Success);
    let store = b2store::Store::open(&path).unwrap();
    assert!(store.keys().eq(["/deep/y", "/x"]));
    let array = NdArray::from_schunk(store.frame("/deep/y").unwrap()).unwrap();
    assert_eq!(array.to_bytes(Selection::ALL).unwrap(), all_items());
}

#[test]
fn a_member_of_an_unknown_kind_is_left_out_and_damage_stops() {
    let dir = tempfile::tempdir().unwrap();
    for (group, member, code) in [
        ("mem://some", "mem://foreign::/z", Code::Foreign),
        ("mem://damaged", "mem://damaged::/z", Code::Data),
    ] {
        let path = dir.path().join("group.b2z");
        for args in [
            &["convert", group, path.to_str().unwrap()][..],
            &["info", group],
            &["info", member],
            &["list", group],
            &["list", "--tree", group],
            &["stats", member],
        ] {
            assert_eq!(b2(args).0, code, "{args:?}");
        }
        assert_eq!(path.exists(), code == Code::Foreign, "{group}");
        if path.exists() {
            let store = b2store::Store::open(&path).unwrap();
            assert!(store.contains("/x") && !store.contains("/z"));
            assert_eq!(
                (store.attributes("/").unwrap().len(), store.attributes("/deep").unwrap().len()),
                (1, 1)
            );
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn only_the_items_of_a_part_are_read() {
    assert_eq!(b2(&["show", "mem://all::/x"]), (Code::Success, 6 * 6 * 6));
    assert_eq!(b2(&["show", "--slice=3,:,5", "mem://all::/x"]), (Code::Success, 40));
    assert_eq!(b2(&["info", "mem://all"]), (Code::Success, 0));
    assert_eq!(b2(&["list", "mem://all"]), (Code::Success, 0));
}

#[test]
fn bytes_are_recognized_as_those_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy.raw");
    let to = ["--format", "raw", "-o", path.to_str().unwrap()];
    let args = [&["convert", "mem://frame"][..], &to].concat();
    assert_eq!(b2(&args).0, Code::Success);
    assert_eq!(fs::read(&path).unwrap(), b"abcabc");
}

#[test]
fn groups_and_names_that_lead_nowhere_are_errors() {
    assert_eq!(b2(&["cat", "mem://all"]).0, Code::Usage);
    assert_eq!(b2(&["info", "mem://nothing"]).0, Code::System);
    assert_eq!(b2(&["info", "no-such-file"]).0, Code::System);
}
