//! Damaged data are not believed, claims are not allocated, and odd data are not called damaged.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use b2store::{StoreWriter, Value};
use blosc_chunk::error::Blame;
use blosc_data::verify::{Report, VerifyOptions, verify};
use blosc_data::{
    Array, Data, Dataset, Dtype, Error, ForeignGroup, OpenOptions, Opened, Opener, Openers, open,
    open_bytes, open_with,
};
use blosc_testdata::fixture::{self, path};

fn verified(found: &Dataset) -> Report {
    verify(found, &VerifyOptions::default(), &mut |_| ()).unwrap()
}

fn opened(bytes: Vec<u8>, name: &str) -> Result<Dataset, Error> {
    open_bytes(bytes, name, &OpenOptions::default())
}

/// All content of data as text; the first error ends it.
fn content(found: &Dataset) -> Result<String, Error> {
    let attributes = found.attributes()?;
    let data = match &found.data {
        Data::Bytes(bytes) => {
            let mut content = vec![0; usize::try_from(bytes.nbytes()).unwrap()];
            bytes.read_at(0, &mut content)?;
            format!("{content:?}")
        }
        Data::Array(array) => {
            format!("{} {:?} {:?}", array.dtype(), array.shape(), array.to_bytes(..)?)
        }
        Data::Table(table) => {
            format!("{:?} {:?}", table.columns(), table.read(&[], 0..table.nrows())?)
        }
        Data::Objects(objects) => format!("{:?}", objects.get(0..objects.len()?)?),
        Data::Group(group) => {
            let members = group.members()?.into_iter();
            let opened = members.map(|member| content(&group.open(&member.name)?));
            format!("{:?}", opened.collect::<Result<Vec<_>, _>>()?)
        }
        other => format!("{other:?}"),
    };
    Ok(format!("{attributes:?} {data}"))
}

#[test]
fn an_archive_that_is_called_sound_has_the_values_that_were_written() {
    for sample in ["stores/table-basic.b2z", "stores/tree-with-table.b2z"] {
        let archive = fixture::read(sample).unwrap();
        let whole = content(&opened(archive.clone(), "x.b2z").unwrap()).unwrap();
        let step = (archive.len() / 60).max(1);
        let (mut told, mut count) = (0, 0);
        for at in (0..archive.len()).step_by(step) {
            let mut damaged = archive.clone();
            damaged[at] ^= 1 << (at % 8);
            count += 1;
            let Ok(found) = opened(damaged, "x.b2z") else {
                told += 1;
                continue;
            };
            if verified(&found).is_ok() {
                assert_eq!(content(&found).unwrap(), whole, "{sample}: byte {at}");
            } else {
                told += 1;
            }
        }
        // Some fields of the zip format may change unnoticed, since no reader needs them.
        assert!(told * 10 > count * 8, "{sample}: {told} of {count}");
    }
}

#[test]
fn damaged_attributes_of_groups_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.b2d");
    let mut writer = StoreWriter::create(&file).unwrap();
    let frame = b2frame::to_cframe(b"ten bytes.", &b2frame::FrameParams::default()).unwrap();
    for (key, group) in [("/a", "/"), ("/g/b", "/g")] {
        writer.insert_cframe(key, frame.clone()).unwrap();
        let text = Value::Str("a text of some length ".repeat(9));
        writer.set_attribute(group, "text", &text).unwrap();
    }
    writer.commit().unwrap();
    assert!(verified(&open(&file).unwrap()).is_ok());
    for group in ["", "g/"] {
        let layer = file.join(format!("{group}__vlmeta__.b2f"));
        let sound = fs::read(&layer).unwrap();
        let mut damaged = sound.clone();
        let at = damaged.len() / 2;
        damaged[at..].fill(0xff);
        fs::write(&layer, damaged).unwrap();
        let store = open(&file).unwrap();
        let report = verified(&store);
        let text: Vec<String> = report.other.iter().map(|error| format!("{error}")).collect();
        let name = format!("/{group}__vlmeta__");
        assert!(text.iter().any(|text| text.contains(&name)), "{group}: {text:?}");
        if !group.is_empty() {
            let inner = open(format!("{}::/g", file.display())).unwrap();
            assert!(!verified(&inner).is_ok());
        }
        fs::write(&layer, sound).unwrap();
    }
}

/// An opener of a group that holds itself.
#[derive(Debug)]
struct Endless;

impl Opener for Endless {
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        let group = ForeignGroup {
            format: "endless",
            members: vec!["loop://again".to_owned()],
            ..ForeignGroup::default()
        };
        Ok(word.starts_with("loop://").then(|| Opened::Group(Arc::new(group))))
    }
}

#[test]
fn a_group_that_holds_itself_ends_somewhere() {
    let openers = Openers::new(vec![Box::new(Endless)]);
    let found = open_with("loop://first", &openers, &OpenOptions::default()).unwrap();
    let report = verified(&found);
    let [error] = &report.other[..] else { panic!("{report:?}") };
    assert_eq!(error.blame(), Blame::Data);
    let mut error = error;
    while let Error::Member { source, .. } = error {
        error = source;
    }
    assert!(matches!(error, Error::Depth { max: 32 }), "{error:?}");
}

/// An array that claims to be large.
#[derive(Debug)]
struct Claim(Dtype, [u64; 1]);

impl Array for Claim {
    fn format(&self) -> &'static str {
        "claim"
    }

    fn dtype(&self) -> &Dtype {
        &self.0
    }

    fn shape(&self) -> &[u64] {
        &self.1
    }

    fn read_box(&self, _: &[core::ops::Range<u64>], _: &mut [u8]) -> Result<(), Error> {
        panic!("there was no memory to fill")
    }
}

#[test]
fn claimed_sizes_are_not_allocated() {
    let array: Arc<dyn Array> = Arc::new(Claim("<f8".parse().unwrap(), [1 << 57]));
    for refused in [array.to_bytes(..).map(drop), array.to_vec::<f64>(..).map(drop)] {
        let error = refused.unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { needed } if needed == 1 << 60), "{error:?}");
        assert_eq!(error.blame(), Blame::Limit);
    }
    let array: Arc<dyn Array> = Arc::new(Claim("|V2147483647".parse().unwrap(), [1 << 40]));
    assert!(matches!(array.to_bytes(..), Err(Error::OutOfMemory { .. })));
}

#[test]
fn recipes_and_references_in_a_store_are_notes() {
    for (file, name) in [("stores/malformed/E09.b2e", "/r: "), ("stores/dict-lazy.b2d", ": a lazy")]
    {
        let report = verified(&open(path(file)).unwrap());
        assert!(report.is_ok(), "{file}: {:?}", report.other);
        assert!(report.notes.iter().any(|note| note.contains(name)), "{:?}", report.notes);
    }
}

#[test]
fn values_of_an_unknown_serializer_are_bytes() {
    let mut frame = fs::read(path("stores/batches-arrow.b2b")).unwrap();
    let at = frame.windows(6).position(|it| it == b"\xa5arrow").unwrap();
    frame[at + 1..at + 6].copy_from_slice(b"other");
    let found = open_bytes(frame, "x", &OpenOptions::default()).unwrap();
    let Data::Bytes(bytes) = &found.data else { panic!("{}", found.data.kind_name()) };
    let mut content = vec![0; usize::try_from(bytes.nbytes()).unwrap()];
    bytes.read_at(0, &mut content).unwrap();
    let report = verified(&found);
    assert!(report.is_ok(), "{:?}", report.other);
    let [note] = &report.notes[..] else { panic!("{:?}", report.notes) };
    assert!(note.starts_with("only its bytes are read: ") && note.contains("other"), "{note}");
}

#[test]
fn a_header_that_claims_more_than_the_chunks_have_is_damage() {
    let mut found = BTreeSet::new();
    for sample in ["variable-chunks", "tiny", "fixed-updated", "plain-index"] {
        let frame = fixture::read(format!("frames/{sample}.b2frame")).unwrap();
        let Some(whole) = opened(frame.clone(), sample).unwrap().nbytes() else { continue };
        let stored = whole.to_be_bytes();
        let places = (0..90).filter(|at| frame[*at] == 0xd3 && frame[at + 1..at + 9] == stored);
        for at in places {
            let mut damaged = frame.clone();
            damaged[at + 1..at + 9].copy_from_slice(&(whole + 5).to_be_bytes());
            let read = opened(damaged, sample).and_then(|found| {
                let bytes = found.into_bytes()?;
                let mut content = vec![0; usize::try_from(bytes.nbytes()).unwrap()];
                bytes.read_at(0, &mut content)
            });
            let Err(error) = read else { continue };
            assert_eq!(error.blame(), Blame::Data, "{sample}: {error:?}");
            found.insert(matches!(error, Error::ArrayLen { .. }));
        }
    }
    assert!(!found.is_empty());
}

#[test]
fn errors_name_a_value_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.b2d");
    let mut writer = StoreWriter::create(&file).unwrap();
    let frame = b2frame::to_cframe(&[7; 5000], &b2frame::FrameParams::default()).unwrap();
    writer.insert_cframe("/r", frame).unwrap();
    writer.commit().unwrap();
    fs::write(file.join("r.b2f"), b"no frame at all").unwrap();
    let report = verified(&open(&file).unwrap());
    let [error] = &report.other[..] else { panic!("{report:?}") };
    assert_eq!(error.blame(), Blame::Data);
    let mut text = error.to_string();
    let mut cause = core::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    assert_eq!(text.matches("/r").count(), 1, "{text}");
}

#[test]
fn a_folder_says_what_is_wrong_with_its_marker() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    fs::copy(path("frames/tiny.b2frame"), &outside).unwrap();
    #[cfg(unix)]
    for marker in ["embed.b2e", "chunks.b2frame", ".zarray"] {
        let folder = dir.path().join(format!("in-{marker}"));
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&outside, folder.join(marker)).unwrap();
        let error = open(&folder).unwrap_err();
        let is_plain = matches!(error, Error::NotOurs(blosc_data::Format::Folder));
        assert!(!is_plain, "{marker}: {error:?}");
    }
    // A folder of that name is not a file.
    let folder = dir.path().join("in");
    fs::create_dir_all(folder.join("chunks.b2frame")).unwrap();
    assert!(matches!(open(&folder), Err(Error::NotOurs(blosc_data::Format::Folder))));
    assert!(open(Path::new("/no/such/folder")).is_err());
}

/// A table of many rows, all in one run of zeros in a small file.
#[test]
fn a_column_that_claims_many_rows_is_not_allocated() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.b2d");
    let mut writer = StoreWriter::create(&file).unwrap();
    let column = b2store::NewColumn::new("n", b2store::ColumnKind::Fixed("i8"));
    let rows = b2store::ColumnValues::fixed("<i8".parse().unwrap(), vec![0; 80]);
    writer.insert_table("/", &[column], &[rows]).unwrap();
    writer.commit().unwrap();
    let table = open(&file).unwrap().into_table().unwrap();
    assert!(matches!(table.read_columns(&[0], 0..1 << 59), Err(Error::OutOfMemory { .. })));
    assert_eq!(table.read(&["n"], 0..10).unwrap()[0].len(), 10);
}
