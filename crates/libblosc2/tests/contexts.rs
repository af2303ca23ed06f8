//! Contexts, with valid and invalid arguments.

use core::ptr;

use blosc_capi::types::{blosc2_cparams, blosc2_dparams};

use crate::library::{Blosc2, data};

const INVALID_PARAM: i32 = -12;

#[test]
fn chunks_come_back_with_every_codec_and_number_of_threads() {
    let library = Blosc2::load();
    let data = data(100_000);
    for compcode in [0, 1, 2, 4, 5] {
        for nthreads in [-1, 1, 3] {
            for use_dict in [0, i32::from(matches!(compcode, 1 | 2 | 5))] {
                let cparams = blosc2_cparams {
                    compcode,
                    nthreads,
                    use_dict,
                    typesize: 4,
                    blocksize: 8192,
                    ..library.cparams()
                };
                let chunk = library.compressor(cparams).compress(&data).unwrap();
                assert!(chunk.len() < data.len() / 2);
                let decompressor =
                    library.decompressor(blosc2_dparams { nthreads, ..library.dparams() });
                let mut back = vec![0; data.len()];
                assert_eq!(decompressor.decompress_into(&chunk, &mut back), 100_000);
                assert!(back == data, "{compcode} {nthreads} {use_dict}");
                let mut part = [0; 40];
                assert_eq!(
                    decompressor.items("blosc2_getitem_ctx", &chunk, (5000, 10), &mut part),
                    40
                );
                assert_eq!(part, data[20_000..20_040]);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_zero_and_no_room_for_a_header_a_code() {
    let library = Blosc2::load();
    let context = library.compressor(library.cparams());
    let noise: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(i) >> 5).to_le_bytes()[0]).collect();
    assert_eq!(context.compress_into(&noise, &mut [0; 100]), 0);
    assert_eq!(context.compress_into(&noise, &mut [0; 31]), -35);
    let chunk = context.compress(&noise).unwrap();
    let decompressor = library.decompressor(library.dparams());
    assert_eq!(decompressor.decompress_into(&chunk, &mut [0; 4999]), -6);
    assert_eq!(decompressor.decompress_into(&chunk[..chunk.len() - 1], &mut [0; 5000]), -11);
}

#[test]
fn contexts_of_the_other_kind_null_and_freed_ones_are_refused() {
    let library = Blosc2::load();
    let chunk = library.chunk(&data(20_000));
    let (compressor, decompressor) =
        (library.compressor(library.cparams()), library.decompressor(library.dparams()));
    assert_eq!(compressor.decompress_into(&chunk, &mut [0; 20_000]), INVALID_PARAM);
    assert_eq!(decompressor.compress(&chunk), Err(INVALID_PARAM));
    for handle in [ptr::null_mut(), {
        let freed = library.decompressor(library.dparams()).handle;
        library.free(freed);
        freed
    }] {
        let context = library.at(handle);
        assert_eq!(context.decompress_into(&chunk, &mut [0; 20_000]), INVALID_PARAM);
        assert_eq!(context.compress(&chunk), Err(INVALID_PARAM));
        assert_eq!(context.items("blosc2_getitem_ctx", &chunk, (0, 1), &mut [0; 4]), INVALID_PARAM);
        assert_eq!(context.mask(&[true]), INVALID_PARAM);
    }
}

#[test]
fn parameters_that_no_chunk_can_have_are_codes() {
    let library = Blosc2::load();
    let d = library.cparams();
    let cases = [
        (blosc2_cparams { clevel: 10, ..d }, -8),
        (blosc2_cparams { typesize: 0, ..d }, INVALID_PARAM),
        (blosc2_cparams { typesize: -1, ..d }, INVALID_PARAM),
        (blosc2_cparams { typesize: 1 << 30, ..d }, INVALID_PARAM),
        (blosc2_cparams { blocksize: -1, ..d }, INVALID_PARAM),
        (blosc2_cparams { compcode: 3, ..d }, -7),
        (blosc2_cparams { compcode: 160, ..d }, -7),
        (blosc2_cparams { use_dict: 1, ..d }, -8),
        (blosc2_cparams { filters: [0, 0, 0, 0, 0, 160], ..d }, -18),
    ];
    for (cparams, code) in cases {
        assert_eq!(library.compressor(cparams).compress(&[1; 500]), Err(code), "{cparams:?}");
    }
    for cparams in [blosc2_cparams { filters: [5; 6], ..d }, blosc2_cparams { tuner_id: 32, ..d }] {
        assert!(library.compressor(cparams).handle.is_null());
    }
}

#[test]
fn a_mask_leaves_blocks_out_once_in_every_kind_of_chunk() {
    let library = Blosc2::load();
    let data = data(20_000);
    let stored = blosc2_cparams { typesize: 4, blocksize: 4096, clevel: 0, ..library.cparams() };
    for chunk in [library.chunk(&data), library.compressor(stored).compress(&data).unwrap()] {
        let context = library.decompressor(library.dparams());
        assert_eq!(context.mask(&[false, true, false, true, false]), 0);
        let mut dest = vec![0xaa; data.len()];
        assert_eq!(context.decompress_into(&chunk, &mut dest), 20_000);
        for (nblock, (dest, data)) in dest.chunks(4096).zip(data.chunks(4096)).enumerate() {
            let is_out = nblock % 2 == 1;
            assert!(if is_out { dest.iter().all(|byte| *byte == 0xaa) } else { dest == data });
        }
        assert_eq!(context.decompress_into(&chunk, &mut dest), 20_000);
        assert!(dest == data);
        assert_eq!(context.mask(&[false; 4]), 0);
        assert_eq!(context.decompress_into(&chunk, &mut dest), -3);
    }
}

#[test]
fn the_block_size_of_a_chunk_is_that_of_the_next_one() {
    let library = Blosc2::load();
    let context = library.compressor(blosc2_cparams { typesize: 4, ..library.cparams() });
    let sizes = [20_000, 200_000, 100].map(|nbytes| {
        let chunk = context.compress(&data(nbytes)).unwrap();
        u32::from_le_bytes(chunk[8..12].try_into().unwrap())
    });
    assert_eq!(sizes, [20_000, 20_000, 100]);
}

#[test]
fn ranges_outside_of_the_data_are_codes() {
    let library = Blosc2::load();
    let chunk = library.chunk(&data(20_000));
    let context = library.decompressor(library.dparams());
    let items =
        |items, room| context.items("blosc2_getitem_ctx", &chunk, items, &mut vec![0; room]);
    assert_eq!([items((4990, 10), 40), items((4990, 11), 44)], [40, INVALID_PARAM]);
    assert_eq!([items((-1, 1), 4), items((1, -1), 4)], [INVALID_PARAM; 2]);
    assert_eq!(
        [items((5000, 0), 0), items((0, 10), 39), items((1 << 30, 1 << 30), 8)],
        [0, -6, -6]
    );
}

#[cfg(not(feature = "soname-7"))]
#[test]
fn bytes_are_whole_items() {
    let library = Blosc2::load();
    let chunk = library.chunk(&data(20_000));
    let context = library.decompressor(library.dparams());
    let bytes = |range| context.items("blosc2_getitem_bytes_ctx", &chunk, range, &mut [0; 8]);
    assert_eq!([bytes((8, 8)), bytes((7, 8)), bytes((8, 7))], [8, INVALID_PARAM, INVALID_PARAM]);
    assert_eq!([bytes((19_996, 8)), bytes((-4, 8))], [INVALID_PARAM; 2]);
}

#[cfg(not(feature = "soname-7"))]
#[test]
fn blocks_of_individual_sizes_stay_apart() {
    let library = Blosc2::load();
    let (long, short) = (data(3000), data(7));
    let compressor = library.compressor(library.cparams());
    let chunk = compressor.vl_chunk(&[&long, &short]).unwrap();
    let context = library.decompressor(library.dparams());
    assert_eq!(context.vl_blocks(&chunk, 5), Ok(vec![long.clone(), short.clone()]));
    assert_eq!(context.vl_blocks(&chunk, 1), Err(INVALID_PARAM));
    assert_eq!(context.vl_block(&chunk, 1), Ok(short.clone()));
    assert_eq!(
        [2, -1].map(|n| context.vl_block(&chunk, n)),
        [Err(INVALID_PARAM), Err(INVALID_PARAM)]
    );
    assert_eq!(context.vl_blocks(&library.chunk(&long), 5), Err(INVALID_PARAM));
    assert_eq!(compressor.vl_block(&chunk, 0), Err(INVALID_PARAM));
    let mut all = vec![0; 3007];
    assert_eq!(context.decompress_into(&chunk, &mut all), 3007);
    assert_eq!(all, [long, short].concat());
    assert_eq!(compressor.vl_chunk(&[&[], &[1]]), Err(INVALID_PARAM));
    assert_eq!(compressor.vl_chunk(&[]), Err(INVALID_PARAM));
}

#[test]
fn bytedelta_needs_the_size_of_an_item() {
    let library = Blosc2::load();
    for id in [34, 35] {
        for (clevel, nbytes, is_refused) in [(5, 4000, true), (5, 20, false), (0, 4000, false)] {
            let d = blosc2_cparams { clevel, typesize: 4, ..library.cparams() };
            let cparams = blosc2_cparams { filters: [0, 0, 0, 0, 0, id], ..d };
            let made = library.compressor(cparams).compress(&data(nbytes));
            assert_eq!(made.err(), is_refused.then_some(-18));
            let cparams = blosc2_cparams { filters_meta: [0, 0, 0, 0, 0, 4], ..cparams };
            assert!(library.compressor(cparams).compress(&data(nbytes)).is_ok());
        }
    }
}
