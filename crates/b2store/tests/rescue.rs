//! Damaged stores: every intact part is recovered.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use b2frame::rescue::{ChunkState, Fill, RescueOptions};
use b2store::rescue::{Damage, Salvage};
use b2store::{
    ColumnKind, ColumnValues, Error, NewColumn, Note, Nulls, OpenOptions, Store, StoreForm,
    StoreWriter, WriteOptions,
};
use blosc_testdata::fixture::path;

const ARCHIVES: [&str; 5] = [
    "tree-basic.b2z",
    "tree-with-table.b2z",
    "table-basic.b2z",
    "tree-embedded.b2z",
    "tree-dtypes.b2z",
];

fn sample(name: &str) -> PathBuf {
    path("stores").join(name)
}

fn salvage(path: &Path) -> Result<Salvage, Error> {
    Salvage::open(path, &OpenOptions::default(), &RescueOptions::default())
}

/// The decoded bytes of every frame.
fn contents(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let content = |key: &str| {
        let frame = store.frame(key).unwrap();
        let chunks = 0..frame.nchunks();
        chunks.flat_map(|nchunk| frame.decode_chunk(nchunk).unwrap()).collect()
    };
    store.keys().map(|key| (key.to_owned(), content(key))).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[test]
fn a_whole_store_comes_back_whole() {
    for name in ARCHIVES {
        let dir = tempfile::tempdir().unwrap();
        let mut saved = salvage(&sample(name)).unwrap();
        assert!(saved.is_complete(), "{name}: {saved:?}");
        for (to, form) in [("x.b2z", StoreForm::Zip), ("x.b2d", StoreForm::Dir)] {
            let options = WriteOptions::default().form(form);
            let store = saved.save(dir.path().join(to), &options).unwrap();
            let original = Store::open(sample(name)).unwrap();
            assert_eq!(contents(&store), contents(&original), "{name}");
            assert_eq!(store.registry(), original.registry());
            assert!(store.tables().eq(original.tables()));
        }
    }
}

#[test]
fn what_stands_before_a_cut_comes_back() {
    for name in ARCHIVES {
        let (whole, dir) = (fs::read(sample(name)).unwrap(), tempfile::tempdir().unwrap());
        let original = contents(&Store::open(sample(name)).unwrap());
        let step = (whole.len() / 60).max(1);
        for len in (0..whole.len()).step_by(step).chain([whole.len() - 1]) {
            let cut = dir.path().join("cut.b2z");
            fs::write(&cut, &whole[..len]).unwrap();
            let mut saved = match salvage(&cut) {
                Ok(saved) => saved,
                Err(Error::NotAStore { .. }) if len < 1000 => continue,
                Err(error) => panic!("{name} cut at {len}: {error}"),
            };
            assert!(saved.damage.contains(&Damage::Directory), "{name} cut at {len}");
            assert!(!saved.is_complete());
            let to = dir.path().join(format!("{len}.b2z"));
            let store = saved.save(&to, &WriteOptions::default()).unwrap();
            for value in saved.values.iter().filter(|value| value.is_complete()) {
                // A manifest without a column, and new flags, are other frames.
                if value.key.ends_with("/_meta") || !store.contains(&value.key) {
                    continue;
                }
                let found = store.frame(&value.key).unwrap();
                let chunks = 0..found.nchunks();
                let bytes: Vec<u8> = chunks.flat_map(|n| found.decode_chunk(n).unwrap()).collect();
                assert_eq!(bytes, original[&value.key], "{name} cut at {len}: {}", value.key);
            }
            for key in store.tables() {
                let table = store.table(key).unwrap();
                let rows = table.len().unwrap();
                for column in &table.schema().columns {
                    let column = table.column(&column.name).unwrap();
                    assert!(rows == 0 || (0..rows).any(|row| column.read(row..row + 1).is_ok()));
                }
            }
        }
    }
}

#[test]
fn members_before_and_after_a_damaged_header_come_back() {
    let (whole, dir) = (fs::read(sample("tree-dtypes.b2z")).unwrap(), tempfile::tempdir().unwrap());
    let starts: Vec<usize> =
        (0..whole.len() - 4).filter(|at| whole[*at..].starts_with(b"PK\x03\x04")).collect();
    let total = Store::open(sample("tree-dtypes.b2z")).unwrap().keys().len();
    for at in starts.iter().take(total) {
        // Position of the signature, the length, the length of the name.
        for place in [0, 18, 26] {
            let mut bytes = whole.clone();
            bytes[at + place] ^= 0x55;
            let damaged = dir.path().join("damaged.b2z");
            fs::write(&damaged, &bytes).unwrap();
            let saved = salvage(&damaged).unwrap();
            let nwhole = saved.values.iter().filter(|value| value.is_complete()).count();
            assert!(nwhole + 1 >= total, "header at {at}, byte {place}: {nwhole} of {total}");
        }
    }
}

#[test]
fn a_directory_without_its_embedded_frame_comes_back() {
    for name in ["tree-basic.b2d", "table-basic.b2d", "dict-basic.b2d"] {
        let dir = tempfile::tempdir().unwrap();
        let damaged = dir.path().join(name);
        copy(&sample(name), &damaged);
        fs::remove_file(damaged.join("embed.b2e")).unwrap();
        let mut saved = salvage(&damaged).unwrap();
        assert_eq!(saved.damage, [Damage::Embedded]);
        let options = WriteOptions::default().form(StoreForm::Dir);
        let store = saved.save(dir.path().join("saved.b2d"), &options).unwrap();
        let original = Store::open(sample(name)).unwrap();
        let (found, expected) = (contents(&store), contents(&original));
        for (key, bytes) in &found {
            assert_eq!(bytes, &expected[key], "{name} {key}");
        }
        assert!(store.tables().eq(original.tables()), "{name}");
        assert!(!found.is_empty());
    }
}

#[test]
fn a_table_gives_up_a_column_and_never_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = dir.path().join("t.b2d");
    copy(&sample("table-basic.b2d"), &damaged);
    fs::write(damaged.join("_cols/f.b2nd"), b"nothing").unwrap();
    fs::remove_file(damaged.join("_cols/u.utf8.b2nd")).unwrap();
    fs::remove_file(damaged.join("_valid_rows.b2nd")).unwrap();
    let mut saved = salvage(&damaged).unwrap();
    let options = WriteOptions::default().form(StoreForm::Dir);
    let store = saved.save(dir.path().join("saved.b2d"), &options).unwrap();
    let table = |table: &str| table.to_owned();
    let lost = |name: &str| Damage::Column { table: table("/"), name: name.to_owned() };
    assert_eq!(saved.damage, [Damage::Flags { table: table("/") }, lost("f"), lost("u")]);
    let original = Store::open(sample("table-basic.b2d")).unwrap().table("/").unwrap();
    let found = store.table("/").unwrap();
    let names: Vec<&str> = found.schema().columns.iter().map(|spec| &*spec.name).collect();
    let expected = original.schema().columns.iter().map(|spec| &*spec.name);
    assert_eq!(names, expected.filter(|name| !["f", "u"].contains(name)).collect::<Vec<_>>());
    // All rows are alive now, the deleted one too: the rows before it are the same.
    let rows = found.len().unwrap();
    assert!(rows >= original.len().unwrap());
    for name in names {
        let first = |table: &b2store::Table| table.column(name).unwrap().read(0..1).unwrap();
        assert_eq!(first(&found), first(&original), "{name}");
    }
}

#[test]
fn a_table_without_its_manifest_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = dir.path().join("t.b2d");
    copy(&sample("table-basic.b2d"), &damaged);
    assert!(Store::open(&damaged).unwrap().notes().iter().all(|note| note.damage().is_none()));
    fs::remove_file(damaged.join("_meta.b2f")).unwrap();
    let store = Store::open(&damaged).unwrap();
    let notes: Vec<_> = store.notes().iter().filter_map(Note::damage).collect();
    assert_eq!(notes[0].to_string(), "/: the manifest _meta of a table is missing");
    let mut saved = salvage(&damaged).unwrap();
    let options = WriteOptions::default().form(StoreForm::Dir);
    let store = saved.save(dir.path().join("saved.b2d"), &options).unwrap();
    assert_eq!(saved.damage, [Damage::Manifest { table: "/".to_owned() }]);
    assert_eq!(contents(&store), contents(&Store::open(&damaged).unwrap()));
}

#[test]
fn a_chunk_that_changed_is_noticed() {
    let (mut bytes, dir) =
        (fs::read(sample("tree-dtypes.b2z")).unwrap(), tempfile::tempdir().unwrap());
    let original = Store::open(sample("tree-dtypes.b2z")).unwrap();
    let frame = original.frame_bytes("/chunks").unwrap();
    let mut stored = vec![0; usize::try_from(frame.len().unwrap()).unwrap()];
    frame.read_exact_at(0, &mut stored).unwrap();
    let frame = stored;
    let at = bytes.windows(frame.len()).position(|window| window == frame).unwrap();
    // In the middle of a compressed chunk.
    bytes[at + frame.len() / 2] ^= 1;
    let damaged = dir.path().join("damaged.b2z");
    fs::write(&damaged, &bytes).unwrap();
    let mut saved = salvage(&damaged).unwrap();
    let value = saved.values.iter().find(|value| value.key == "/chunks").unwrap();
    assert!(value.is_changed || value.chunks.contains(&ChunkState::Lost), "{value:?}");
    let others = saved.values.iter().filter(|value| !value.is_complete()).count();
    assert_eq!(others, 1);
    saved.save(dir.path().join("saved.b2z"), &WriteOptions::default()).unwrap();
}

#[test]
fn what_was_no_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.b2z"), b"PK\x03\x04 and nothing else").unwrap();
    assert!(matches!(salvage(&dir.path().join("x.b2z")), Err(Error::NotAStore { .. })));
    assert!(matches!(salvage(dir.path()), Err(Error::NotAStore { .. })));
    assert!(matches!(salvage(&dir.path().join("none")), Err(Error::Io { .. })));
}

#[test]
fn values_of_an_embed_store_come_back_or_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["embed-basic.b2e", "embed-chunks.b2e"] {
        let (whole, original) =
            (fs::read(sample(name)).unwrap(), contents(&Store::open(sample(name)).unwrap()));
        let (damaged, to) = (dir.path().join("damaged.b2e"), dir.path().join("saved.b2e"));
        let mut nwhole = 0;
        for start in (0..whole.len() - 32).step_by(whole.len() / 50) {
            let mut bytes = whole.clone();
            bytes[start..start + 32].fill(0);
            fs::write(&damaged, &bytes).unwrap();
            // Without its map the frame is a frame of bytes.
            let Ok(mut saved) = salvage(&damaged) else { continue };
            let options = WriteOptions::default().form(StoreForm::Embed);
            let _ = fs::remove_file(&to);
            let found = contents(&saved.save(&to, &options).unwrap());
            for (key, content) in &original {
                let value = saved.values.iter().find(|value| value.key == *key).unwrap();
                assert_eq!(value.is_lost, !found.contains_key(key), "{name}, {start}: {key}");
                // Zeros in a chunk that still decodes remain unnoticed.
                nwhole += usize::from(found.get(key) == Some(content) && value.is_complete());
            }
        }
        assert!(nwhole > original.len() * 3, "{name}: {nwhole}");
    }
}

/// A table of two columns of numbers, one of them with nulls, and of text of fixed width.
fn numbers(path: &Path, nrows: u16) {
    let columns = [
        NewColumn::new("a.b", ColumnKind::Fixed("i4")),
        NewColumn::new("x", ColumnKind::Fixed("f8")).nulls(Nulls::Mask),
        NewColumn::new("s", ColumnKind::String),
    ];
    let reals = (0..nrows).flat_map(|n| f64::from(n).sqrt().to_le_bytes()).collect();
    let whole = (0..nrows).flat_map(|n| (i32::from(n) * 77_777 % 1009).to_le_bytes()).collect();
    let text = (0..nrows).flat_map(|n| u32::from(b'a' + (n % 26) as u8).to_le_bytes()).collect();
    let mut x = ColumnValues::fixed("<f8".parse().unwrap(), reals);
    x.valid = Some((0..nrows).map(|n| n % 3 > 0).collect());
    let values = [
        ColumnValues::fixed("<i4".parse().unwrap(), whole),
        x,
        ColumnValues::fixed("<U1".parse().unwrap(), text),
    ];
    let mut writer = StoreWriter::create(path).unwrap();
    writer.insert_table("/", &columns, &values).unwrap();
    writer.commit().unwrap();
}

/// The members that make an archive a store and a table are at its start.
#[test]
fn a_table_in_an_archive_without_its_end_is_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2z");
    numbers(&path, 20_000);
    let whole = fs::read(&path).unwrap();
    for tenths in [5, 9] {
        let cut = dir.path().join("cut.b2z");
        fs::write(&cut, &whole[..whole.len() * tenths / 10]).unwrap();
        let store = salvage(&cut).unwrap();
        let store = { store }.save(dir.path().join(format!("{tenths}.b2z")), &Default::default());
        let table = store.unwrap().table("/").unwrap();
        assert_eq!(table.len().unwrap(), 20_000);
    }
}

#[test]
fn columns_of_one_length_are_a_table_without_its_manifest() {
    for has_flags in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.b2d");
        numbers(&path, 100);
        let mut writer = StoreWriter::open(&path).unwrap();
        writer.delete_rows("/", 0..10).unwrap();
        writer.commit().unwrap();
        fs::remove_file(path.join("_meta.b2f")).unwrap();
        if !has_flags {
            fs::remove_file(path.join("_valid_rows.b2nd")).unwrap();
        }
        let mut saved = salvage(&path).unwrap();
        let store = saved.save(dir.path().join("saved.b2z"), &WriteOptions::default()).unwrap();
        let restored = Damage::Restored { table: "/".to_owned() };
        assert!(saved.damage.contains(&restored), "{:?}", saved.damage);
        let table = store.table("/").unwrap();
        assert_eq!(table.len().unwrap(), if has_flags { 90 } else { 100 });
        let names: Vec<_> = table.schema().columns.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["a.b", "s", "x"]);
        let x = table.column("x").unwrap().read(0..3).unwrap();
        let first = if has_flags { 10 } else { 0 };
        let valid: Vec<bool> = (first..first + 3).map(|n| n % 3 > 0).collect();
        assert_eq!(x.valid, Some(valid));
    }
    // Columns of two lengths become separate values.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2d");
    numbers(&path, 100);
    numbers(&dir.path().join("u.b2d"), 90);
    fs::copy(dir.path().join("u.b2d/_cols/s.b2nd"), path.join("_cols/s.b2nd")).unwrap();
    fs::remove_file(path.join("_meta.b2f")).unwrap();
    let mut saved = salvage(&path).unwrap();
    let store = saved.save(dir.path().join("saved.b2z"), &WriteOptions::default()).unwrap();
    assert_eq!(saved.damage, [Damage::Manifest { table: "/".to_owned() }]);
    assert!(store.contains("/_cols/s"));
}

/// A value of a few hundred bytes may claim millions of chunks: the chunks of all values are
/// counted.
#[test]
fn chunks_are_counted_over_all_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2z");
    let mut writer = StoreWriter::create(&path).unwrap();
    let params = b2frame::FrameParams::default().chunksize(4);
    for n in 0..20 {
        let frame = b2frame::to_cframe(&[n; 2000], &params).unwrap();
        writer.insert_cframe(&format!("/{n}"), frame).unwrap();
    }
    drop(writer.commit().unwrap());
    let with_limit = |max_index| {
        let frame = b2frame::OpenOptions::default().max_index(max_index);
        Salvage::open(&path, &OpenOptions::default().frame(frame), &RescueOptions::default())
    };
    assert_eq!(with_limit(10_000).unwrap().values.len(), 20);
    let error = with_limit(4_000).unwrap_err();
    assert!(matches!(error, Error::Limit { unit: "chunks", .. }), "{error}");
}

/// A fill that does not fit the items of a value does not lose the value.
#[test]
fn a_fill_of_other_items_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2z");
    numbers(&path, 100);
    let rescue = RescueOptions::default().fill(Fill::Value(vec![1, 2, 3, 4]));
    let saved = Salvage::open(&path, &OpenOptions::default(), &rescue).unwrap();
    assert!(saved.is_complete(), "{saved:?}");
}

/// The manifests of tables and `embed.b2e` have seals: nearly every flipped bit is noticed, and
/// none makes another table.
#[test]
fn manifests_and_embedded_frames_are_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.b2d");
    numbers(&path, 10);
    for name in ["_meta.b2f", "embed.b2e"] {
        let file = path.join(name);
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&file, &bytes).unwrap();
            // Numbers of threads, and header fields that C-Blosc2 changes, are not covered.
            if let Ok(store) = Store::open(&path)
                && store.check().is_ok()
                && store.notes().iter().all(|note| note.damage().is_none())
            {
                let table = store.table("/").unwrap();
                assert_eq!(table.len().unwrap(), 10, "{name} at {at}");
                assert_eq!(table.schema().columns.len(), 3, "{name} at {at}");
            }
        }
        fs::write(&file, &whole).unwrap();
    }
}
