//! Written arrays are the same as bcolz's, and every state of them can be read.

use std::sync::Arc;

use bcolz_store::Durability;
use bcolz_store::tree::{DirTree, Entry, MemTree, Tree};
use bcolz_store::{
    CArray, CArrayWriter, Cname, CreateOptions, DataSet, Dtype, Json, OpenOptions, StorageParams,
    open,
};
use blosc_testdata::fixture;
use serde_json::Value;

use super::states::states;

fn int32(chunklen: u64) -> CreateOptions {
    CreateOptions::new(Dtype::parse("int32").unwrap()).chunklen(Some(chunklen))
}

fn rows(range: core::ops::Range<i32>) -> Vec<u8> {
    range.flat_map(i32::to_le_bytes).collect()
}

fn memory(options: &CreateOptions) -> (Arc<MemTree>, CArrayWriter) {
    let tree = Arc::new(MemTree::new());
    let writer = CArrayWriter::create_in(tree.clone(), "", options).unwrap();
    (tree, writer)
}

fn reopen(tree: &Arc<MemTree>) -> CArray {
    CArray::open_in(tree.clone(), "", &OpenOptions::default()).unwrap()
}

fn text(tree: &dyn Tree, path: &str) -> String {
    let file = tree.open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Arrays that bcolz wrote in one go, with all keys, and their data.
fn written_at_once() -> Vec<(String, CArray)> {
    let list: Vec<Value> =
        serde_json::from_slice(&fixture::read("bcolz/expected.json").unwrap()).unwrap();
    let names =
        list.iter().filter(|set| set["kind"] == "carray").map(|set| set["name"].as_str().unwrap());
    let life = [
        "ca_appended",
        "ca_setitem",
        "ca_trim_stale",
        "ca_trim_negative_cbytes",
        "ca_unflushed",
        "ca_trimmed",
    ];
    let is_plain = |name: &&str| name.starts_with("ca_") && !life.contains(name);
    let open = |name: &str| match open(fixture::path("bcolz").join(name)).unwrap() {
        DataSet::CArray(array) if !array.is_object() => Some((name.to_owned(), array)),
        _ => None,
    };
    names.filter(is_plain).filter_map(open).collect()
}

fn options_of(array: &CArray) -> CreateOptions {
    CreateOptions::new(array.dtype().clone())
        .row_shape(array.shape()[1..].to_vec())
        .chunklen(Some(array.chunklen()))
        .expectedlen(array.expectedlen().map(|len| len.try_into().unwrap()))
        .cparams(array.cparams())
        .dflt(array.dflt().cloned())
        .attrs(array.attrs().unwrap())
}

#[test]
fn metadata_are_those_of_the_original_byte_by_byte() {
    let sets = written_at_once();
    assert!(sets.len() > 50, "{}", sets.len());
    for (name, array) in sets {
        let original = DirTree::new(fixture::path("bcolz").join(&name));
        let (tree, mut writer) = memory(&options_of(&array));
        writer.append(&array.read(0..array.len()).unwrap()).unwrap();
        writer.finish().unwrap();
        for path in ["__attrs__", "meta/storage"] {
            assert_eq!(text(&*tree, path), text(&original, path), "{name}/{path}");
        }
        check_sizes(&name, &text(&*tree, "meta/sizes"), &text(&original, "meta/sizes"));
        check_chunks(&name, &array, &*tree, &original);
    }
}

/// Equal but for `cbytes`, which depends on the codec.
fn check_sizes(name: &str, found: &str, expected: &str) {
    let before = |text: &str| text.split("\"cbytes\"").next().unwrap().to_owned();
    assert_eq!(before(found), before(expected), "{name}");
    let cbytes =
        |text: &str| serde_json::from_str::<Value>(text).unwrap()["cbytes"].as_f64().unwrap();
    assert!(cbytes(found) <= 1.1 * cbytes(expected) + 64.0, "{name}: {found}{expected}");
}

/// The first 28 bytes of each file are the same, which excludes only the compressed size.
fn check_chunks(name: &str, array: &CArray, tree: &dyn Tree, original: &dyn Tree) {
    for nchunk in 0..array.nchunks() {
        let start = |tree: &dyn Tree| {
            let mut bytes = [0; 28];
            tree.open(&format!("data/__{nchunk}.blp"))
                .unwrap()
                .read_exact_at(0, &mut bytes)
                .unwrap();
            bytes
        };
        let (found, expected) = (start(tree), start(original));
        // The codec's result decides whether a chunk is stored uncompressed.
        let stored = 0x02;
        if (found[18] ^ expected[18]) & stored == 0 {
            assert_eq!(found, expected, "{name} chunk {nchunk}");
        }
    }
}

#[test]
fn default_lengths_of_chunks_are_those_of_the_original() {
    for name in ["ca_one", "ca_large", "ca_empty", "ca_V7"] {
        let array = CArray::open(fixture::path("bcolz").join(name)).unwrap();
        let (_, writer) = memory(&options_of(&array).chunklen(None));
        assert_eq!(writer.chunklen(), array.chunklen(), "{name}");
    }
}

#[test]
fn a_life_leaves_the_files_that_the_format_document_tells() {
    let (tree, mut writer) = memory(&int32(10));
    let files = |tree: &Arc<MemTree>| {
        let mut files: Vec<(u64, usize)> = Vec::new();
        for Entry { name, .. } in tree.list("data").unwrap() {
            let number = name.trim_start_matches("__").trim_end_matches(".blp").parse().unwrap();
            let mut nbytes = [0; 4];
            tree.open(&format!("data/{name}")).unwrap().read_exact_at(20, &mut nbytes).unwrap();
            files.push((number, u32::from_le_bytes(nbytes) as usize / 4));
        }
        files.sort_unstable();
        files.into_iter().map(|(_, rows)| rows).collect::<Vec<_>>()
    };
    let len = |tree: &Arc<MemTree>| reopen(tree).len();
    writer.append(&rows(0..25)).unwrap();
    writer.flush().unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 5], 25));
    writer.append(&rows(25..28)).unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 5], 25));
    writer.flush().unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 8], 28));
    writer.append(&rows(28..30)).unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 10], 28));
    writer.flush().unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 10], 30));
    writer.append(&rows(30..44)).unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 10, 10], 30));
    writer.flush().unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 10, 10, 4], 44));
    // bcolz leaves the last file here.
    writer.trim(4).unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 10, 10], 40));
    writer.append(&rows(40..41)).unwrap();
    writer.flush().unwrap();
    writer.trim(3).unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 10, 8], 38));
    writer.trim(15).unwrap();
    assert_eq!((files(&tree), len(&tree)), (vec![10, 10, 3], 23));
    assert_eq!(reopen(&tree).read(0..23).unwrap(), rows(0..23));
}

#[test]
fn a_crash_while_creating_leaves_nothing_or_an_empty_array() {
    let mut opened = 0;
    for left in
        states(&MemTree::new(), |tree| CArrayWriter::create_in(tree, "", &int32(10))?.finish())
    {
        if let Ok(array) = CArray::open_in(left, "", &OpenOptions::default()) {
            assert!(array.is_empty());
            opened += 1;
        }
    }
    // One array without checksums and one with them.
    assert_eq!(opened, 2);
}

#[test]
fn every_codec_and_durability_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    for (i, cname) in
        [Cname::BloscLz, Cname::Lz4, Cname::Lz4Hc, Cname::Snappy, Cname::Zlib, Cname::Zstd]
            .into_iter()
            .enumerate()
    {
        let durability = [Durability::PowerLoss, Durability::ProcessDeath][i % 2];
        let root = dir.path().join(cname.name());
        let options =
            int32(100).cparams(StorageParams::default().cname(cname)).durability(durability);
        let mut writer = CArrayWriter::create(&root, &options).unwrap();
        writer.append(&rows(0..1234)).unwrap();
        writer.set_attr("n", 3.5).unwrap();
        writer.finish().unwrap();
        let mut writer = CArrayWriter::open(&root).unwrap();
        writer.append(&rows(1234..1301)).unwrap();
        writer.trim(1).unwrap();
        writer.finish().unwrap();
        let array = CArray::open(&root).unwrap();
        assert_eq!(array.read(0..array.len()).unwrap(), rows(0..1300), "{cname:?}");
        assert_eq!(array.attrs().unwrap().get("n"), Some(&Json::Float(3.5)));
        assert!(
            array
                .verify(&bcolz_store::verify::VerifyOptions::default(), |_| ())
                .unwrap()
                .notes
                .is_empty()
        );
        assert!(
            std::fs::read_dir(root.join("data"))
                .unwrap()
                .all(|entry| { entry.unwrap().file_name().to_string_lossy().ends_with(".blp") })
        );
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let refused = |options: &CreateOptions| {
        let tree = Arc::new(MemTree::new());
        let error = CArrayWriter::create_in(tree.clone(), "a", options).unwrap_err();
        assert!(tree.list("").unwrap().is_empty());
        error.to_string()
    };
    assert_eq!(refused(&int32(0)), "chunklen 0 is outside 1..=536870907");
    assert_eq!(
        refused(&int32(1).cparams(StorageParams::default().clevel(10))),
        "clevel 10 is outside 0..=9"
    );
    assert_eq!(
        refused(&int32(1).cparams(StorageParams::default().quantize(3))),
        "quantize of items of type int32"
    );
    assert_eq!(refused(&int32(1).row_shape(vec![0])), "size of a row 0 is outside 1..=2147483631");
    assert_eq!(
        refused(&CreateOptions::new(Dtype::parse("object").unwrap())),
        "arrays of object are not written"
    );
    assert_eq!(
        refused(&int32(1).dflt(Some(Json::Float(0.5)))),
        "a/meta/storage: fill value 0.5 does not fit the dtype"
    );
    let (tree, mut writer) = memory(&int32(10));
    assert_eq!(
        writer.append(&[1, 2, 3]).unwrap_err().to_string(),
        "3 bytes are no whole number of rows of 4 bytes"
    );
    assert_eq!(writer.trim(1).unwrap_err().to_string(), "rows 0..1 of 0");
    assert_eq!(writer.write_rows(0, &[0; 4]).unwrap_err().to_string(), "rows 0..1 of 0");
    drop(writer);
    let again = CArrayWriter::create_in(tree, "", &int32(10)).unwrap_err();
    assert_eq!(again.to_string(), "data exists");
}

#[test]
fn quantized_floats_are_those_of_the_original() {
    let original = CArray::open(fixture::path("bcolz/ca_quantize2")).unwrap();
    let data = original.read(0..original.len()).unwrap();
    let noisy: Vec<u8> = data
        .chunks(8)
        .flat_map(|item| (f64::from_le_bytes(item.try_into().unwrap()) + 0.0003).to_le_bytes())
        .collect();
    let (tree, mut writer) = memory(&options_of(&original));
    writer.append(&noisy).unwrap();
    writer.finish().unwrap();
    assert_eq!(reopen(&tree).read(0..original.len()).unwrap(), data);
}
