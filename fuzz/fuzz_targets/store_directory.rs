//! Any names and bytes as the files of a store in a directory: keys, values, rows of tables.
#![no_main]

use std::sync::Arc;

use b2frame::nd::Selection;
use b2store::{Content, OpenOptions, Store, StoreWriter, WriteOptions};
use blosc_io::tree::{MemTree, Tree};
use libfuzzer_sys::fuzz_target;

/// The names that files can have.
const NAMES: [&str; 8] = [
    "embed.b2e",
    "group/array.b2nd",
    "bytes.b2f",
    "table/_meta.b2f",
    "table/_valid_rows.b2nd",
    "table/_cols/id.b2nd",
    "table/_cols/name.b2nd",
    "table/_cols/name.utf8.b2nd",
];

fuzz_target!(|data: &[u8]| {
    let frame = b2frame::OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let options = OpenOptions::default().max_files(1000).max_embedded(1000).frame(frame);
    let tree = Arc::new(blosc_fuzz::tree(data, &NAMES));
    if let Ok(store) = Store::from_tree(tree, &options) {
        read(&store);
    }
    let outer = MemTree::new();
    let _ = outer.create_dir("s.b2d");
    blosc_fuzz::fill_tree(&outer, data, &NAMES, "s.b2d");
    let outer = Arc::new(outer);
    if let Ok(mut writer) = StoreWriter::open_in(outer, "s.b2d", &WriteOptions::default()) {
        let _ = writer.remove("/bytes");
        let _ = writer.delete_rows("/table", 0..1);
        let _ = writer.commit();
    }
});

fn read(store: &Store) {
    let _ = (store.tree(), store.attributes("/"));
    for key in store.keys().take(20) {
        match store.get(key) {
            Ok(Content::Array(array)) if array.nbytes() <= blosc_fuzz::MAX_NBYTES => {
                let _ = array.to_bytes(Selection::ALL);
            }
            Ok(Content::Objects(objects)) => {
                let _ = objects.get(0);
            }
            Ok(Content::Lists(lists)) => {
                let _ = lists.rows(0..2);
            }
            _ => {}
        }
    }
    for key in store.tables().take(3) {
        let Ok(table) = store.table(key) else { continue };
        let rows = table.len().unwrap_or(0);
        let _ = table.indexes();
        for spec in table.schema().columns.iter().take(20) {
            let Ok(column) = table.column(&spec.name) else { continue };
            if column.rowsize().is_none_or(|rowsize| rowsize <= 1 << 16) {
                let _ = column.read(0..rows.min(20));
            }
        }
    }
}
