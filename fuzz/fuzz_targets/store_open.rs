//! Any bytes as a zip archive or an embed store: keys, values, groups, attributes, rows of tables.
#![no_main]

use std::sync::Arc;

use b2frame::nd::{Pick, Selection};
use b2store::{Content, OpenOptions, Store};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let frame = b2frame::OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_metadata(1 << 16)
        .max_index(1 << 16);
    let options = OpenOptions::default().max_files(1000).max_embedded(1000).frame(frame);
    let Ok(store) = Store::from_store(Arc::new(blosc_fuzz::store(data)), &options) else { return };
    let _ = (store.tree(), store.attributes("/"));
    for key in store.keys().take(20) {
        let _ = store.check_crc(key);
        match store.get(key) {
            Ok(Content::Array(array)) if array.nbytes() <= blosc_fuzz::MAX_NBYTES => {
                let _ = array.to_bytes(Selection::from([Pick::ALL]));
            }
            Ok(Content::Objects(objects)) => {
                let _ = objects.get(0);
            }
            Ok(Content::Batches(batches)) => {
                let _ = (batches.batch(0), batches.items(1..3));
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
            let is_small = column.rowsize().is_none_or(|rowsize| rowsize <= 1 << 16);
            if is_small {
                let _ = column.read(0..rows.min(20));
                let _ = column.read(rows.saturating_sub(2)..rows);
            }
        }
    }
});
