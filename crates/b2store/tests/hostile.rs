//! Inputs from strangers: directories with links and pipes, large archives, tables that claim more
//! rows than fit the memory.

use std::fs;
use std::sync::Arc;

use b2frame::nd::Fill;
use b2frame::{FrameParams, NdParams, NdWriter, SChunkWriter};
use b2store::{Error, OpenOptions, Store, Value, error::ZipFault};
use blosc_dtype::Dtype;
use blosc_io::MemStore;
use blosc_io::tree::{MemTree, Tree};

/// A value of MessagePack.
fn encoded(value: &Value) -> Vec<u8> {
    value.encode().unwrap()
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn marker() -> Vec<u8> {
    encoded(&Value::Map(vec![(text("version"), Value::Int(1))]))
}

fn frame(params: &FrameParams, vlmeta: &[(&str, Value)]) -> Vec<u8> {
    let mut writer = SChunkWriter::in_memory(params).unwrap();
    for (name, value) in vlmeta {
        writer.set_vlmeta(name, &encoded(value)).unwrap();
    }
    bytes_of(&writer.finish().unwrap())
}

fn bytes_of(schunk: &b2frame::SChunk) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2frame");
    schunk.save(&path).unwrap();
    fs::read(path).unwrap()
}

fn embed(vlmeta: &[(&str, Value)]) -> Vec<u8> {
    frame(&FrameParams::default().metalayer("b2tree", marker()), vlmeta)
}

fn array(shape: &[u64], dtype: &str, fill: Fill) -> Vec<u8> {
    let params = NdParams::new(shape, Dtype::parse(dtype).unwrap()).fill(fill);
    let writer = NdWriter::in_memory(&params).unwrap();
    bytes_of(writer.finish().unwrap().schunk())
}

/// A zip archive of stored members.
fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, content) in members {
        let (mut entry, config) = archive.new_file(*name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        std::io::Write::write_all(&mut writer, content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

fn open_zip(bytes: Vec<u8>) -> Result<Store, Error> {
    Store::from_store(Arc::new(MemStore::new(bytes)), &OpenOptions::default())
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_opened_and_the_others_are_read_42() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("s.b2d");
    fs::create_dir_all(root.join("g")).unwrap();
    let value = array(&[3], "<i8", Fill::Zeros);
    fs::write(root.join("embed.b2e"), embed(&[])).unwrap();
    fs::write(root.join("g/good.b2nd"), &value).unwrap();
    fs::write(dir.path().join("outside.b2nd"), &value).unwrap();
    std::os::unix::fs::symlink("../outside.b2nd", root.join("link.b2nd")).unwrap();
    std::os::unix::fs::symlink("..", root.join("loop")).unwrap();
    let pipe = root.join("pipe.b2nd");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let store = Store::open(&root).unwrap();
    assert_eq!(store.keys().collect::<Vec<_>>(), ["/g/good", "/link", "/pipe"]);
    assert!(store.get("/g/good").is_ok());
    for key in ["/link", "/pipe"] {
        assert!(matches!(store.get(key), Err(Error::Io { .. })), "{key}");
    }
}

#[test]
fn an_archive_of_65_536_members_is_read_and_counted_43() {
    let value = array(&[1], "<i8", Fill::Zeros);
    let marker = embed(&[]);
    let names: Vec<String> = (0..65_536).map(|n| format!("g/{n}.b2nd")).collect();
    let mut members: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), value.as_slice())).collect();
    members.push(("embed.b2e", &marker));
    let bytes = zip(&members);
    let store = open_zip(bytes.clone()).unwrap();
    assert_eq!(store.keys().len(), 65_536);
    assert!(store.get("/g/65535").is_ok());
    let options = OpenOptions::default().max_files(65_536);
    let error = Store::from_store(Arc::new(MemStore::new(bytes)), &options).unwrap_err();
    assert!(matches!(error, Error::Limit { needed: 65_537, limit: 65_536, .. }), "{error:?}");
}

#[test]
fn a_directory_that_is_larger_than_the_archive_is_refused() {
    let mut bytes = zip(&[("embed.b2e", &embed(&[]))]);
    // The number of members in the end record.
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].copy_from_slice(&[9, 0, 9, 0]);
    let error = open_zip(bytes).unwrap_err();
    assert!(
        matches!(error, Error::Zip(ZipFault::Count { found: 1, stated: 9 } | ZipFault::Record(_))),
        "{error:?}"
    );
}

#[test]
fn an_embed_map_has_a_limit_and_depth_46() {
    let entry =
        || Value::Map(vec![(text("offset"), Value::Int(0)), (text("length"), Value::Int(1))]);
    let map = (0..1000).map(|n| (text(&format!("/{n}")), entry())).collect();
    let metadata = Value::Map(vec![(text("embed_map"), Value::Map(map))]);
    let tree = MemTree::new();
    tree.write("embed.b2e", &embed(&[("estore_metadata", metadata)])).unwrap();
    let tree: Arc<dyn Tree> = Arc::new(tree);
    let options = OpenOptions::default().max_embedded(999);
    let error = Store::from_tree(Arc::clone(&tree), &options).unwrap_err();
    assert!(matches!(error, Error::Limit { needed: 1000, limit: 999, .. }), "{error:?}");
    let store = Store::from_tree(tree, &OpenOptions::default()).unwrap();
    assert_eq!(store.keys().len(), 1000);
    assert!(store.get("/5").is_err());

    let mut writer =
        SChunkWriter::in_memory(&FrameParams::default().metalayer("b2tree", marker())).unwrap();
    writer.set_vlmeta("estore_metadata", &[0x91; 10_000]).unwrap();
    let tree = MemTree::new();
    tree.write("embed.b2e", &bytes_of(&writer.finish().unwrap())).unwrap();
    let error = Store::from_tree(Arc::new(tree), &OpenOptions::default()).unwrap_err();
    assert!(error.to_string().contains("nested deeper"), "{error}");
}

#[test]
fn a_table_of_2_to_the_40_rows_is_counted_without_its_rows_47() {
    let rows = 1 << 40;
    let tree = MemTree::new();
    tree.write("embed.b2e", &embed(&[])).unwrap();
    let schema = r#"{"version": 1, "columns": [{"name": "id", "kind": "int64"}], "n_rows": 5}"#;
    let manifest = [("kind", text("ctable")), ("version", Value::Int(1)), ("schema", text(schema))];
    tree.write("_meta.b2f", &frame(&FrameParams::default(), &manifest)).unwrap();
    let chunk = 1 << 30;
    let flags = |fill: Fill| {
        let params = NdParams::new(&[rows], Dtype::parse("|b1").unwrap()).fill(fill);
        let writer = NdWriter::in_memory(&params.chunkshape(&[chunk]).blockshape(&[1 << 20]));
        bytes_of(writer.unwrap().finish().unwrap().schunk())
    };
    tree.write("_valid_rows.b2nd", &flags(Fill::Value(vec![1]))).unwrap();
    tree.create_dir("_cols").unwrap();
    let ids = NdParams::new(&[rows], Dtype::parse("<i8").unwrap());
    let ids = NdWriter::in_memory(&ids.chunkshape(&[1 << 27]).blockshape(&[1 << 17])).unwrap();
    tree.write("_cols/id.b2nd", &bytes_of(ids.finish().unwrap().schunk())).unwrap();
    let tree: Arc<dyn Tree> = Arc::new(tree);
    let table = Store::from_tree(Arc::clone(&tree), &OpenOptions::default()).unwrap();
    let table = table.table("/").unwrap();
    assert_eq!(table.len().unwrap(), rows);
    let found = table.column("id").unwrap().read(rows - 3..rows).unwrap();
    let b2store::Values::Fixed { bytes, .. } = found.values else { panic!() };
    assert_eq!(bytes, [0; 24]);
    // The same table without an alive row.
    tree.write("_valid_rows.b2nd", &flags(Fill::Zeros)).unwrap();
    let table = Store::from_tree(tree, &OpenOptions::default()).unwrap().table("/").unwrap();
    assert_eq!((table.len().unwrap(), table.capacity()), (0, rows));
}

/// A frame whose header claims far more bytes than its member has is refused by its key, before
/// memory is allocated for it.
#[test]
fn a_member_that_claims_2_to_the_40_bytes_is_refused_45() {
    let mut value = array(&[4], "<i8", Fill::Zeros);
    let sound = value.clone();
    // The length of the frame, big-endian, after its marker.
    value[16..24].copy_from_slice(&(1_u64 << 40).to_be_bytes());
    let bytes = zip(&[("a.b2nd", &value), ("b.b2nd", &sound), ("embed.b2e", &embed(&[]))]);
    let store = open_zip(bytes).unwrap();
    let error = store.get("/a").unwrap_err().to_string();
    assert!(error.contains("/a") || error.contains("a.b2nd"), "{error}");
    assert!(store.get("/b").is_ok());
}
