//! Any text as the condition of `--where`, and as an expression to sum.
#![no_main]

use std::sync::{Arc, LazyLock};

use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype, OpenOptions, tree::MemTree};
use libfuzzer_sys::fuzz_target;

/// Columns of every kind that expressions know; the letter is the name.
const COLUMNS: [(&str, &str, usize); 7] = [
    ("i", "<i4", 4),
    ("u", "<u8", 8),
    ("f", "<f8", 8),
    ("b", "|b1", 1),
    ("s", "|S3", 3),
    ("t", "<U2", 8),
    ("d", "<M8[D]", 8),
];
const NROWS: usize = 40;

static TABLE: LazyLock<CTable> = LazyLock::new(|| {
    let tree = Arc::new(MemTree::new());
    let columns = COLUMNS.map(|(name, dtype, _)| {
        let dtype = Dtype::parse(dtype).expect("a type of NumPy");
        (name, CreateOptions::new(dtype).chunklen(Some(16)))
    });
    let mut writer = CTableWriter::create_in(tree.clone(), "", &columns).expect("in memory");
    let rows = COLUMNS.map(|(name, _, rowsize)| {
        let item = |n: usize| match name {
            "s" | "b" => (n % 2).to_le_bytes()[0],
            "t" => {
                if n % 4 == 0 {
                    b'a'
                } else {
                    0
                }
            }
            _ => (n * 37 % 251).to_le_bytes()[0],
        };
        (0..NROWS * rowsize).map(item).collect::<Vec<u8>>()
    });
    writer.append(&rows.each_ref().map(Vec::as_slice)).expect("whole rows");
    writer.finish().expect("in memory");
    CTable::open_in(tree, "", &OpenOptions::default()).expect("a sound table")
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(scan) = TABLE.scan().filter(text) {
        let found = scan.count();
        let rows = scan.batches().map(|batch| batch.map(|batch| batch.rows.len() as u64));
        let rows: Result<u64, _> = rows.sum();
        if let (Ok(found), Ok(rows)) = (found, rows) {
            assert_eq!(found, rows, "{text}");
        }
    }
    let _ = TABLE.scan().aggregate(text);
});
