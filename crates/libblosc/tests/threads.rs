//! Calls from many threads, with contexts and without.

use std::thread;

use crate::library::Blosc;

#[test]
fn sixteen_threads_call_at_a_time() {
    let blosc = &Blosc::load();
    let results: Vec<bool> = thread::scope(|scope| {
        let threads = (0..16_u32).map(|n| scope.spawn(move || works(blosc, n)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results, [true; 16]);
}

/// Half of the threads use contexts; some change the number of threads or free them.
fn works(blosc: &Blosc, n: u32) -> bool {
    let data: Vec<u8> = (0..60_000_u32).flat_map(|item| (item * n).to_le_bytes()).collect();
    (0..12).all(|round| {
        let nthreads = 1 + (round % 3);
        if n.is_multiple_of(2) {
            let (_, chunk) = blosc.compress_ctx(&data, Some(c"zstd"), nthreads);
            blosc.decompress_ctx(&chunk, data.len(), nthreads).1 == data
        } else {
            match n {
                1 => drop(blosc.set_nthreads(nthreads)),
                3 => blosc.destroy(),
                _ => {}
            }
            let chunk = blosc.compress(5, 4, &data);
            blosc.decompress(&chunk, data.len()) == data
        }
    })
}
