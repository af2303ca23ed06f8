//! A child of a process that has read and written files with threads.

use blosc_chunk::Executor;
use blosc_io::MemStore;
use blosc_testdata::{data::Kind, in_child};
use bloscpack::{
    AppendOptions, BlpFile, Budget, Error, ReadOptions, Reader, WriteOptions, append, pack,
    report::VerifyOptions,
};

#[test]
fn a_child_reads_and_writes() {
    let data = Kind::Walk.bytes(3_000_000);
    for budget in [Budget::default(), Budget::default().threads(Executor::threads(4))] {
        let write = WriteOptions::default().chunksize(100_000).budget(budget.clone());
        let read = ReadOptions::default().budget(budget.clone());
        let file = MemStore::new(pack(&data, write.clone()).unwrap());
        let test = || {
            assert!(pack(&data, write.clone()).unwrap() == file.as_bytes());
            let blp = BlpFile::with_options(&file, read.clone()).unwrap();
            let mut found = Vec::new();
            blp.copy_to(0..30, &mut found).unwrap();
            assert!(found == data);
            let mut left = &data[..];
            let decoded = blp.decode_ordered(0..30, budget.clone(), |_, bytes| {
                assert!(left.starts_with(bytes));
                left = &left[bytes.len()..];
                Ok::<(), Error>(())
            });
            assert!(decoded.is_ok() && left.is_empty());
            let options = VerifyOptions::default().budget(budget.clone());
            assert!(blp.verify(&options, |_| {}).unwrap().is_ok());
            found.clear();
            let mut reader = Reader::with_options(file.as_bytes(), read.clone()).unwrap();
            reader.copy_to(&mut found).unwrap();
            assert!(found == data);
            let mut longer = MemStore::new(file.as_bytes().to_vec());
            let options = AppendOptions::default().read(read.clone());
            append(&mut longer, &data[..], data.len() as u64, &options).unwrap();
            assert_eq!(BlpFile::new(&longer).unwrap().header().nchunks(), Some(60));
        };
        test();
        in_child(test);
        test();
    }
}
