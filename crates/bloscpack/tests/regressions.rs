//! Fixed defects, each with its smallest input.

use blosc_chunk::Threads;
use blosc_io::MemStore;
use bloscpack::{
    BlpFile, Budget, Checksum, Mismatch, ReadOptions, WriteOptions, pack, report::VerifyOptions,
    unpack,
};

/// A chunk in which every byte is a separate error must not end `verify`.
#[test]
fn verify_counts_chunks_that_are_wrong_in_two_ways_once() {
    let data = [1; 3000];
    let mut blp = pack(&data, WriteOptions::default().chunksize(1000)).unwrap();
    let at = BlpFile::new(MemStore::new(blp.clone())).unwrap().position(1).unwrap();
    blp[usize::try_from(at).unwrap() + 17] ^= 0xff;
    let file = BlpFile::new(MemStore::new(blp)).unwrap();
    for threads in [Threads::One, Threads::Auto] {
        let budget = Budget::default().threads(threads);
        let options = VerifyOptions { budget, ..VerifyOptions::default() };
        let mut seen = vec![];
        let report = file.verify(&options, |progress| seen.push(progress.nbytes)).unwrap();
        assert_eq!((report.nchunks, report.nbad, report.nbytes), (3, 1, 2000));
        assert_eq!(seen, [1000, 2000]);
        assert_eq!((report.bad[0].nchunk, report.bad[0].offset), (1, Some(at)));
        let none = VerifyOptions { max_reported: 0, ..options };
        let report = file.verify(&none, |_| {}).unwrap();
        assert!(report.bad.is_empty() && report.nbad == 1 && !report.is_ok());
    }
}

/// All ways of reading handle one chunk without data.
#[test]
fn a_file_without_data_has_no_part() {
    for checksum in [Checksum::None, Checksum::Adler32] {
        let blp = pack(&[], WriteOptions::default().checksum(checksum)).unwrap();
        assert!(unpack(&blp).unwrap().is_empty());
        for mismatch in [Mismatch::Fail, Mismatch::Ignore] {
            let options = ReadOptions::default().mismatch(mismatch);
            let file = BlpFile::with_options(MemStore::new(blp.clone()), options).unwrap();
            assert_eq!(file.read_at(0, &mut [0; 4]).unwrap(), 0);
            assert_eq!(file.copy_to(0..1, &mut std::io::sink()).unwrap(), 0);
        }
    }
}
