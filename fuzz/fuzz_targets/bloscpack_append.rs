//! Any bytes as a `.blp` file whose append was interrupted: read through its journal, recovered,
//! appended to, its metadata replaced.
#![no_main]

use blosc_io::{Durability, MemStore};
use bloscpack::{
    AppendOptions, BlpFile, ReadOptions, append, params::FileLimits, recover,
    report::VerifyOptions, rewrite_metadata,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = FileLimits::default()
        .max_nbytes(4 * blosc_fuzz::MAX_NBYTES)
        .max_metadata(1 << 16)
        .max_chunks(1000);
    let options = ReadOptions::default().limits(limits).dparams(blosc_fuzz::dparams());
    let before = MemStore::new(data.to_vec());
    let old = BlpFile::with_options(&before, options.clone()).ok().and_then(|file| {
        let is_sound = file.verify(&VerifyOptions::default(), |_| {}).ok()?.is_ok();
        Some((file.nbytes().ok()?, is_sound))
    });
    let mut store = MemStore::new(data.to_vec());
    if recover(&mut store).is_err() {
        return;
    }
    // The file keeps the content that a reader saw through the journal.
    if let Some((nbytes, true)) = old {
        let file = BlpFile::with_options(&store, options.clone()).expect("sound before");
        assert_eq!(file.nbytes().expect("sound before"), nbytes);
    }
    let append_options = AppendOptions::default().read(options.clone());
    if append(&mut store, &[1; 100][..], 100, &append_options).is_ok()
        && let Some((nbytes, true)) = old
    {
        let file = BlpFile::with_options(&store, options).expect("appended to");
        assert_eq!(file.nbytes().expect("appended to"), nbytes + 100);
    }
    let _ = rewrite_metadata(&mut store, &Default::default(), Durability::None);
});
