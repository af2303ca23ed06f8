//! Any bytes as the files of a carray and of a table around it: opened, read, queried, repaired,
//! appended to.
#![no_main]

use std::sync::Arc;

use bcolz_store::tree::{MemTree, Tree};
use bcolz_store::{CTable, CTableWriter, DataSet, OpenOptions, open_in, repair::repair_in};
use libfuzzer_sys::fuzz_target;

/// The files, in the order of the input, which `\xff\xff` cuts.
const FILES: [&str; 6] = [
    "c/meta/sizes",
    "c/meta/storage",
    "c/data/__0.blp",
    "c/data/__1.blp",
    "__rootdirs__",
    "c/__attrs__",
];

fuzz_target!(|data: &[u8]| {
    let store = Arc::new(MemTree::new());
    for dir in ["c", "c/meta", "c/data"] {
        let _ = store.create_dir(dir);
    }
    let _ = store.write("__rootdirs__", b"{\"names\": [\"c\"]}");
    let mut rest = data;
    for path in FILES {
        let end = rest.windows(2).position(|pair| pair == [0xff, 0xff]);
        let _ = store.write(path, &rest[..end.unwrap_or(rest.len())]);
        let Some(end) = end else { break };
        rest = &rest[end + 2..];
    }
    let options = OpenOptions::default()
        .dparams(blosc_fuzz::dparams())
        .max_nbytes(4 * blosc_fuzz::MAX_NBYTES);
    if let Ok(DataSet::CArray(array)) = open_in(store.clone(), "c", &options) {
        let _ = array.read(0..array.len().min(1 << 16));
        let _ = array.blocks(3).skip(1).limit(10).count();
        let _ = (array.dflt_row(), array.attrs());
        let _ = array.objects().map(|objects| objects.take(10).count());
        let _ = array.verify(&bcolz_store::verify::VerifyOptions::default(), |_| ());
    }
    if let Ok(table) = CTable::open_in(store.clone(), "", &options) {
        let scan = table.scan().rows(0..1 << 16);
        let _ = scan.clone().filter("c > 0").map(|scan| scan.limit(100).batches().count());
        let _ = scan.aggregate("c * 2");
    }
    let _ = repair_in(store.clone(), "");
    if let Ok(mut writer) = CTableWriter::open_in(store, "", &options) {
        let _ = writer.append(&[&[1; 64]]).and_then(|()| writer.flush());
    }
});
