//! A child of `fork` may use all functions, regardless of what its parent was doing.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use crate::library::Blosc;

#[test]
fn a_child_goes_on_while_its_parent_compresses() {
    let blosc = Blosc::load();
    let data: Vec<u8> = (0..500_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    let (_, chunk) = blosc.compress_ctx(&data, Some(c"lz4"), 4);
    blosc.set_nthreads(4);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    blosc.compress(1, 4, &data);
                }
            });
        }
        for _ in 0..20 {
            blosc_testdata::in_child(|| {
                let start = Instant::now();
                assert!(blosc.decompress(&chunk, data.len()) == data);
                let again = blosc.compress(1, 4, &data);
                assert!(blosc.decompress(&again, data.len()) == data);
                blosc.destroy();
                assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
            });
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(blosc.decompress(&chunk, data.len()) == data);
}
