//! Names, parts, openers, and the errors for other formats.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex};

use blosc_data::{
    Data, Error, Format, MemberKind, OpenOptions, Opened, Opener, Openers, Source, Values, open,
    open_bytes, open_source, open_with, recognise,
};
use blosc_io::MemStore;
use blosc_testdata::fixture::path;

#[test]
fn every_kind_of_sample_opens_as_its_kind() {
    for (file, format, kind) in [
        ("stores/tree-basic.b2z", Format::Store, "a group"),
        ("stores/tree-basic.b2d", Format::Store, "a group"),
        ("stores/embed-basic.b2e", Format::Store, "a group"),
        ("stores/table-basic.b2z", Format::Store, "a table"),
        ("stores/objects.b2f", Format::Frame, "a list of objects"),
        ("stores/batches.b2b", Format::Frame, "a list of objects"),
        ("bcolz/ca_2d", Format::Bcolz, "an array"),
        ("bcolz/ca_object", Format::Bcolz, "a list of objects"),
        ("bloscpack/old_np_040_f8.blp", Format::Blp, "an array"),
        ("bloscpack/old_0110_lost_tail.blp", Format::Blp, "bytes"),
    ] {
        let found = open(path(file)).unwrap_or_else(|error| panic!("{file}: {error:?}"));
        assert_eq!((found.format, found.data.kind_name()), (format, kind), "{file}");
    }
}

#[test]
fn parts_of_a_store_open_by_their_keys() {
    let named = |key: &str| open(format!("{}::{key}", path("stores/tree-basic.b2z").display()));
    let store = open(path("stores/tree-basic.b2z")).unwrap().into_group().unwrap();
    let members = store.members().unwrap();
    assert!(members.len() > 2);
    for member in &members {
        let found = named(&member.name).unwrap();
        let is_group = matches!(found.data, Data::Group(_));
        assert_eq!(is_group, member.kind == MemberKind::Group, "{}", member.name);
    }
    assert!(matches!(named("/").unwrap().data, Data::Group(_)));
    assert!(matches!(named("/no/such"), Err(Error::NoMember { .. })));
}

#[test]
fn groups_within_groups_have_their_own_names() {
    let store = open(path("stores/tree-basic.b2d")).unwrap().into_group().unwrap();
    let groups: Vec<String> = store
        .members()
        .unwrap()
        .into_iter()
        .filter(|member| member.kind == MemberKind::Group)
        .map(|member| member.name)
        .collect();
    assert!(!groups.is_empty());
    for name in groups {
        let group = store.open(&name).unwrap().into_group().unwrap();
        for member in group.members().unwrap() {
            let direct = store.open(&format!("{name}{}", member.name)).unwrap();
            let within = group.open(&member.name).unwrap();
            assert_eq!(direct.data.kind_name(), within.data.kind_name());
            assert_eq!(direct.nbytes(), within.nbytes());
        }
    }
}

#[test]
fn frames_one_after_the_other_are_a_group() {
    let frame = |bytes: &[u8]| b2frame::to_cframe(bytes, &b2frame::FrameParams::default()).unwrap();
    let (first, second) = (frame(b"first"), frame(b"the second"));
    let at = first.len();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("two.b2frame");
    fs::write(&file, [&first[..], &second, b"no frame"].concat()).unwrap();
    let group = open(&file).unwrap().into_group().unwrap();
    assert_eq!((group.format(), group.members().unwrap().len()), ("sequence", 2));
    let text = |name: &str| {
        let bytes = open(format!("{}{name}", file.display())).unwrap().into_bytes().unwrap();
        let mut text = vec![0; usize::try_from(bytes.nbytes()).unwrap()];
        bytes.read_at(0, &mut text).unwrap();
        text
    };
    assert_eq!(text("#1"), b"the second");
    assert_eq!(text(&format!("@{at}")), b"the second");
    assert_eq!(text("#0"), b"first");
    assert!(open(format!("{}#2", file.display())).is_err());
    assert!(open(format!("{}@100000", file.display())).is_err());
}

#[test]
fn a_file_with_the_name_of_a_part_is_opened_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x@7");
    let frame = b2frame::to_cframe(b"seven", &b2frame::FrameParams::default()).unwrap();
    fs::write(&file, frame).unwrap();
    assert_eq!(open(&file).unwrap().nbytes(), Some(5));
}

#[test]
fn other_formats_are_named_and_never_called_damaged() {
    let zip = |name: &str| [&b"PK\x03\x04"[..], &[0; 22], &[2, 0, 0, 0], name.as_bytes()].concat();
    let long = |name: &str| {
        let mut bytes = zip(name);
        bytes[26] = u8::try_from(name.len()).unwrap();
        bytes
    };
    for (name, bytes, format) in [
        ("letter.docx", long("[Content_Types].xml"), Format::Zip),
        ("g.zip", long("g/.zgroup"), Format::ZarrZip),
        ("x.h5", b"\x89HDF\r\n\x1a\nrest".to_vec(), Format::Hdf5),
        ("x.nc", b"\x89HDF\r\n\x1a\nrest".to_vec(), Format::Hdf5),
        #[cfg(not(feature = "parquet"))]
        ("x.parquet", b"PAR1....".to_vec(), Format::Parquet),
        ("x.png", b"\x89PNG\r\n\x1a\n".to_vec(), Format::Other("a PNG image")),
        ("x.txt", b"some text that is nothing at all".to_vec(), Format::Unknown),
        ("x", vec![], Format::Empty),
    ] {
        let source = Source::File(Arc::new(MemStore::new(bytes.clone())));
        assert_eq!(recognise(&source, name).unwrap(), format, "{name}");
        let refused = open_bytes(bytes, name, &OpenOptions::default()).unwrap_err();
        let is_named = match format.is_data() {
            true => matches!(refused, Error::NoOpener(found) if found == format),
            false => matches!(refused, Error::NotOurs(found) if found == format),
        };
        assert!(is_named, "{name}: {refused:?}");
        assert_eq!(refused.blame(), blosc_chunk::error::Blame::NotOurs, "{name}");
    }
}

#[test]
fn text_is_a_table_with_the_types_of_its_values() {
    let text = b"day,price,name\n2024-01-02,1.5,a\n2024-01-03,2.5,bc\n".to_vec();
    let found = open_bytes(text, "x.csv", &OpenOptions::default()).unwrap();
    assert_eq!((found.format, found.data.kind_name()), (Format::Csv, "a table"));
    let table = found.into_table().unwrap();
    let names: Vec<_> = table.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names, table.nrows()), (vec!["day", "price", "name"], 2));
    let prices = table.read(&["price"], 0..2).unwrap();
    let Values::Fixed { dtype, bytes, .. } = &prices[0].values else { panic!("{prices:?}") };
    assert_eq!(dtype.to_string().trim_matches('\''), "<f8");
    assert_eq!(bytes[8..], 2.5f64.to_le_bytes());
    assert_eq!(table.filter("price > 2").unwrap().matches(0..2).unwrap(), [1]);
    assert!(table.filter("cost > 2").is_err());
    let options = OpenOptions::default().delimiter(Some(b';'));
    let options = options.dtype(Some("[('b', '<i2')]".parse().unwrap()));
    let table = open_bytes(b"a;b\n1;2\n".to_vec(), "x.csv", &options).unwrap().into_table();
    assert_eq!(table.unwrap().columns()[0].name, "b");
    let broken = open_bytes(b"a,b\n1\n".to_vec(), "x.csv", &OpenOptions::default()).unwrap_err();
    assert_eq!(broken.blame(), blosc_chunk::error::Blame::Data);
}

#[test]
fn folders_of_zarr_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str, file: &str, content: &str| {
        let folder = dir.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(file), content).unwrap();
        match open(&folder).unwrap_err() {
            Error::NoOpener(format) | Error::NotOurs(format) => format,
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(folder("a2", ".zarray", "{}"), Format::ZarrArray);
    assert_eq!(folder("g2", ".zgroup", "{}"), Format::ZarrGroup);
    assert_eq!(folder("a3", "zarr.json", r#"{"node_type": "array"}"#), Format::ZarrArray);
    assert_eq!(folder("g3", "zarr.json", r#"{"node_type": "group"}"#), Format::ZarrGroup);
    assert_eq!(folder("files", "letter.txt", "Dear"), Format::Folder);
}

/// Opens `mem:NAME`, and counts its calls.
#[derive(Debug, Default)]
struct Memory(Arc<Mutex<Vec<String>>>);

impl Opener for Memory {
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        self.0.lock().unwrap().push(word.to_owned());
        let Some(name) = word.strip_prefix("mem://") else { return Ok(None) };
        match name {
            "ten" => {
                let params = b2frame::FrameParams::default();
                let frame = b2frame::to_cframe(b"0123456789", &params).unwrap();
                let file = Arc::new(MemStore::new(frame));
                Ok(Some(Opened::Source(Source::File(file))))
            }
            "store.b2z" => {
                let bytes = blosc_testdata::fixture::read("stores/tree-basic.b2z")?;
                let file = Arc::new(MemStore::new(bytes));
                Ok(Some(Opened::Source(Source::File(file))))
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[test]
fn openers_come_first_and_are_asked_once() {
    let asked = Arc::new(Mutex::new(vec![]));
    let openers = Openers::new(vec![Box::new(Memory(Arc::clone(&asked)))]);
    let options = OpenOptions::default();
    let found = open_with("mem://ten", &openers, &options).unwrap();
    assert_eq!((found.name.as_str(), found.nbytes()), ("mem://ten", Some(10)));
    assert_eq!(*asked.lock().unwrap(), ["mem://ten"]);
    let group = open_with("mem://store.b2z", &openers, &options).unwrap().into_group().unwrap();
    let value = group.members().unwrap().into_iter().find(|one| one.kind == MemberKind::Value);
    let name = format!("mem://store.b2z::{}", value.unwrap().name);
    assert!(open_with(&name, &openers, &options).is_ok());
    let missing = open_with("mem://other", &openers, &options).unwrap_err();
    assert!(
        matches!(missing, Error::Io { ref source, .. } if source.kind() == io::ErrorKind::NotFound)
    );
    let sample = path("stores/objects.b2f");
    assert!(open_with(&sample, &openers, &options).is_ok());
}

#[test]
fn folders_in_memory_open_as_those_on_a_disk() {
    use blosc_io::{Tree as _, tree::MemTree};
    let tree = MemTree::new();
    let copy = |from: &std::path::Path, to: &str| {
        tree.write(to, &fs::read(from).unwrap()).unwrap();
    };
    for folder in ["data", "meta"] {
        tree.create_dir(folder).unwrap();
        for entry in fs::read_dir(path("bcolz/ca_i4").join(folder)).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &format!("{folder}/{}", entry.file_name().to_str().unwrap()));
        }
    }
    copy(&path("bcolz/ca_i4/__attrs__"), "__attrs__");
    let options = OpenOptions::default();
    let found = open_source(Source::Folder(Arc::new(tree)), "ca_i4", &options).unwrap();
    let (memory, disk) = (found.into_array().unwrap(), open(path("bcolz/ca_i4")).unwrap());
    let disk = disk.into_array().unwrap();
    assert_eq!(memory.to_bytes(..).unwrap(), disk.to_bytes(..).unwrap());
}

#[test]
fn nothing_there_is_an_error_of_the_system() {
    let error = open("/no/such/file").unwrap_err();
    assert!(
        matches!(error, Error::Io { ref source, .. } if source.kind() == io::ErrorKind::NotFound)
    );
}

#[test]
fn the_only_value_of_a_store_is_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one.b2z");
    let mut writer = b2store::StoreWriter::create(&file).unwrap();
    let params = b2frame::NdParams::new(&[3], "<i2".parse().unwrap());
    let array = b2frame::NdWriter::in_memory(&params).unwrap().finish().unwrap();
    writer.insert_array("/a", &array).unwrap();
    writer.commit().unwrap();
    let only = open(&file).unwrap().only().unwrap();
    assert_eq!(only.into_array().unwrap().shape(), [3]);
    let many = open(path("stores/tree-basic.b2z")).unwrap().only().unwrap();
    assert!(matches!(many.data, Data::Group(_)));
}

/// Errors of opening and creating files name the file and the cause, in every crate.
#[test]
fn an_error_of_opening_names_the_file_and_the_cause() {
    use b2frame::{FrameParams, NdParams, NdWriter, SChunkWriter};
    let (dir, there) = (tempfile::tempdir().unwrap(), path("stores/objects.b2f"));
    let (missing, params) = (dir.path().join("no/such.b2nd"), FrameParams::default());
    let nd = NdParams::new(&[4], "<f4".parse().unwrap());
    // The system's words for it.
    let gone = &*fs::read(&missing).unwrap_err().to_string();
    let said = [
        (open(&missing).unwrap_err().to_string(), gone),
        (bloscpack::BlpFile::open(&missing).unwrap_err().to_string(), gone),
        (SChunkWriter::open(&missing).unwrap_err().to_string(), gone),
        (SChunkWriter::create(&missing, &params).unwrap_err().to_string(), gone),
        (SChunkWriter::create_new(&missing, &params).unwrap_err().to_string(), gone),
        (SChunkWriter::create_sparse(&missing, &params).unwrap_err().to_string(), gone),
        (NdWriter::open(&missing).unwrap_err().to_string(), gone),
        (NdWriter::create(&missing, &nd).unwrap_err().to_string(), gone),
    ];
    for (text, cause) in said {
        assert!(text.contains("such.b2nd: ") && text.contains(cause), "{text}");
        assert_eq!(text.matches("such.b2nd").count(), 1, "{text}");
    }
    let taken = SChunkWriter::create_new(&there, &params).unwrap_err().to_string();
    let exists = fs::File::create_new(&there).unwrap_err();
    assert!(taken.contains(&format!("objects.b2f: {exists}")), "{taken}");
}
