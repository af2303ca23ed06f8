//! Passes damaged chunks to every function that reads one: they give a code or data, never a crash.

use crate::library::{Blosc2, data};

#[test]
fn every_changed_byte_is_survived_by_every_function() {
    let library = Blosc2::load();
    let compressor = library.compressor(library.cparams());
    let mut chunks = vec![library.chunk(&data(9000))];
    if !cfg!(feature = "soname-7") {
        chunks.push(compressor.vl_chunk(&[&data(900), &data(100)]).unwrap());
    }
    let context = library.decompressor(library.dparams());
    let (mut dest, mut nsound) = (vec![0; 20_000], 0);
    for chunk in &chunks {
        for at in 0..chunk.len().min(400) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = chunk.clone();
                bytes[at] ^= flip;
                let code = context.decompress_into(&bytes, &mut dest);
                assert!((-37..=20_000).contains(&code), "{at} {flip:#x}: {code}");
                nsound += usize::from(code >= 0);
                let code = context.items("blosc2_getitem_ctx", &bytes, (10, 20), &mut dest);
                assert!((-37..=20 * 255).contains(&code), "{at} {flip:#x}: {code}");
                if !cfg!(feature = "soname-7") {
                    drop((context.vl_blocks(&bytes, 8), context.vl_block(&bytes, 1)));
                }
            }
        }
        for len in 0..chunk.len() {
            let code = context.decompress_into(&chunk[..len], &mut dest);
            assert!(code < 0, "{len}: {code}");
        }
    }
    assert!(nsound > 0);
}
