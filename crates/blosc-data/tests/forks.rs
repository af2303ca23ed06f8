//! After a fork, the child of a process with worker threads reads the same data.

use blosc_data::verify::{VerifyOptions, verify};
use blosc_data::{Budget, Data, Dataset, open};
use blosc_testdata::{fixture::path, in_child};

/// Reads all data in every way, by four threads.
fn read(found: &Dataset) -> u64 {
    let budget = Budget::default().threads(blosc_chunk::Executor::threads(4));
    let mut count = 0;
    let mut sink = |piece: &[u8]| {
        count += piece.len() as u64;
        Ok(())
    };
    match &found.data {
        Data::Bytes(bytes) => bytes.stream(0..bytes.nbytes(), &budget, &mut sink).unwrap(),
        Data::Array(array) => array.stream(0..array.nbytes(), &budget, &mut sink).unwrap(),
        Data::Table(table) => {
            let column = &table.columns()[0].name;
            let filter = table.filter(&format!("{column} == {column}")).unwrap();
            count += filter.matches(0..table.nrows()).unwrap().len() as u64;
            count += table.read(&[], 0..table.nrows()).unwrap().len() as u64;
        }
        other => panic!("{}", other.kind_name()),
    }
    assert!(verify(found, &VerifyOptions::default(), &mut |_| ()).unwrap().is_ok());
    count
}

#[test]
fn a_child_opens_reads_verifies_and_filters() {
    for file in [
        "frames/variable-chunks.b2frame",
        "frames/tiny-nd.b2nd",
        "frames/tiny-sparse.b2frame",
        "bloscpack/real_multichunk.blp",
        "bcolz/ca_large",
        "bcolz/ct_basic",
        "stores/table-basic.b2z",
    ] {
        let name = path(file);
        let found = open(&name).unwrap();
        let count = read(&found);
        in_child(|| {
            assert_eq!(read(&found), count);
            assert_eq!(read(&open(&name).unwrap()), count);
        });
        assert_eq!(read(&found), count, "{file}");
    }
}
