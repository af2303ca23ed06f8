//! Conversions between formats: values and metadata come back, and losses are reported.

use std::fs;
use std::path::{Path, PathBuf};

use blosc_data::content::{Content, of_file};
use blosc_data::convert::{Conversion, OutputFormat, Settings, convert, create, select};
use blosc_data::{OpenOptions, Resources};
use blosc_testdata::fixture::path;

fn settings(format: OutputFormat) -> Settings {
    Settings::default().format(format).key("/value".to_owned())
}

fn bytes_of(path: &Path) -> Vec<u8> {
    let content = of_file(path, &OpenOptions::default()).unwrap();
    let (resources, mut bytes) = (Resources::default(), vec![]);
    let budget = resources.decoding();
    content
        .in_c_order(&budget, resources.held(), &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok::<(), blosc_data::Error>(())
        })
        .unwrap();
    bytes
}

/// An array of 30 by 40 items in a `.npy` file.
fn array(dir: &Path) -> PathBuf {
    let items: Vec<u8> = (0..1200_u32).flat_map(u32::to_le_bytes).collect();
    let header = blosc_dtype::npy::NpyHeader::new("<u4".parse().unwrap(), vec![30, 40]);
    let file = dir.join("grid.npy");
    fs::write(&file, [header.to_bytes().unwrap(), items].concat()).unwrap();
    file
}

#[test]
fn an_array_goes_through_every_format_of_arrays_and_comes_back() {
    use OutputFormat as Out;
    let dir = tempfile::tempdir().unwrap();
    let first = array(dir.path());
    let expected = bytes_of(&first);
    let mut last = first;
    for (n, format) in [Out::B2nd, Out::Blp, Out::Carray, Out::B2z, Out::Sframe, Out::B2d, Out::Npy]
        .into_iter()
        .enumerate()
    {
        let to = dir.path().join(format!("{n}{}", format.suffix()));
        let report = convert(&last, &to, settings(format), &|_| ()).unwrap();
        assert_eq!((report.nbytes, &report.left_out[..]), (4800, &[][..]), "{format:?}");
        assert!(report.stored_nbytes > 0, "{format:?}");
        let found = of_file(&to, &OpenOptions::default()).unwrap();
        assert_eq!(found.layout().unwrap().unwrap().shape, [30, 40], "{format:?}");
        assert!(bytes_of(&to) == expected, "{format:?}");
        last = to;
    }
}

#[test]
fn chunks_are_moved_where_the_output_can_hold_them() {
    let dir = tempfile::tempdir().unwrap();
    let (blp, frame) = (dir.path().join("x.blp"), dir.path().join("x.b2frame"));
    let data: Vec<u8> = (0..=250).cycle().take(3_000_000).collect();
    let options = bloscpack::WriteOptions::default().chunksize(1_000_000);
    fs::write(&blp, bloscpack::pack(&data, options).unwrap()).unwrap();
    let seen = core::sync::atomic::AtomicU64::new(0);
    let progress = |nbytes| {
        let _before = seen.fetch_add(nbytes, core::sync::atomic::Ordering::Relaxed);
    };
    let report = convert(&blp, &frame, settings(OutputFormat::B2frame), &progress).unwrap();
    assert_eq!((report.moved, report.recompressed, report.nbytes), (3, 0, 3_000_000));
    assert_eq!(seen.into_inner(), 3_000_000);
    assert!(bytes_of(&frame) == data);
}

#[test]
fn rows_become_tables_of_which_some_are_chosen() {
    use OutputFormat as Out;
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("rows.csv");
    fs::write(&text, "day,price\n1,1.5\n2,2.5\n3,3.5\n").unwrap();
    let options = OpenOptions::default();
    for format in [Out::Ctable, Out::B2z, Out::Csv] {
        let to = dir.path().join(format!("rows-{}{}", format.name(), format.suffix()));
        let content = of_file(&text, &options).unwrap();
        let columns = ["price".to_owned()];
        let unfinished = blosc_io::replace::Unfinished::default();
        let chosen = select(content, &columns, Some("day > 1"), &options, &unfinished).unwrap();
        let mut sink = create(&to, settings(format)).unwrap();
        sink.write(&chosen, &|_| ()).unwrap();
        assert!(!to.exists(), "{format:?}");
        sink.commit().unwrap();
        let table = blosc_data::open(&to).unwrap().into_table().unwrap();
        let names: Vec<_> = table.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!((names, table.nrows()), (vec!["price"], 2), "{format:?}");
    }
    let content = of_file(&text, &options).unwrap();
    let refused = select(content, &["cost".to_owned()], None, &options, &Default::default());
    assert!(refused.unwrap_err().to_string().contains("no column has the name \"cost\""));
}

#[test]
fn losses_are_told_and_not_hidden() {
    let dir = tempfile::tempdir().unwrap();
    let content = of_file(&array(dir.path()), &OpenOptions::default()).unwrap();
    for (format, lost) in [
        (OutputFormat::B2frame, Some("the shape and type of the array")),
        (OutputFormat::Raw, Some("the shape and type of the array")),
        (OutputFormat::B2nd, None),
    ] {
        let (settings, to) = (settings(format), dir.path().join(format.name()));
        let conversion = Conversion::new(&content, &settings);
        let report = conversion.write(&to).unwrap();
        assert!(conversion.is_equal(&to).unwrap(), "{format:?}");
        assert_eq!(conversion.lost(&to).unwrap().as_deref(), lost, "{format:?}");
        assert_eq!(report.left_out.first().map(String::as_str), lost, "{format:?}");
    }
    let settings = settings(OutputFormat::Ctable);
    let refused = Conversion::new(&content, &settings).write(&dir.path().join("t"));
    assert!(refused.unwrap_err().to_string().contains("no columns"));
}

#[test]
fn an_output_that_fails_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("x.npy");
    fs::write(&to, "old").unwrap();
    let bytes = path("stores/tree-basic.b2z");
    assert!(convert(&bytes, &to, settings(OutputFormat::Npy), &|_| ()).is_err());
    let frame = dir.path().join("bytes.b2frame");
    fs::write(&frame, b2frame::to_cframe(b"abc", &Default::default()).unwrap()).unwrap();
    let refused = convert(&frame, &to, settings(OutputFormat::Npy), &|_| ());
    assert!(refused.unwrap_err().to_string().contains("the type of its items is unknown"));
    assert_eq!(fs::read(&to).unwrap(), b"old");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    let Content::Object(object) = of_file(&frame, &OpenOptions::default()).unwrap() else {
        panic!("a frame is an object")
    };
    assert_eq!((object.format(), object.nbytes()), ("b2frame", 3));
}
