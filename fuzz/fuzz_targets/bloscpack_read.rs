//! Any bytes read as a `.blp` file: forward, at random, as an array, and by rescue; then appended
//! to.
#![no_main]

use blosc_io::MemStore;
use bloscpack::{
    AppendOptions, BlpFile, ReadOptions, Reader, append, numpy, params::FileLimits, repair_offsets,
    report::VerifyOptions, rescue, rescue::Fill,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = FileLimits::default()
        .max_nbytes(4 * blosc_fuzz::MAX_NBYTES)
        .max_metadata(1 << 16)
        .max_chunks(1000);
    let options = ReadOptions::default().limits(limits).dparams(blosc_fuzz::dparams());
    if let Ok(mut reader) = Reader::with_options(data, options.clone()) {
        let _ = reader.copy_to(&mut std::io::sink());
    }
    if let Ok(mut reader) = Reader::with_options(data, options.clone()) {
        let _ = numpy::read_array(&mut reader);
    }
    let mut store = MemStore::new(data.to_vec());
    if let Ok(file) = BlpFile::with_options(&store, options.clone()) {
        let _ = file.read_at(data.len() as u64 / 2, &mut [0; 100]);
        let _ = file.trailing_bytes();
        let _ = file.verify(&VerifyOptions::default(), |_| {});
    }
    if let Ok(found) = rescue(&store, &blosc_fuzz::dparams()) {
        let _ = found.write_data(&store, &mut std::io::sink(), &Fill::Zeros, 1 << 16);
    }
    let _ = append(&mut store, &[1; 100][..], 100, &AppendOptions::default().read(options));
    let _ = repair_offsets(&mut store);
});
