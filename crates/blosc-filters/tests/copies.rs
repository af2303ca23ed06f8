//! Copies, fills and rows of arrays, at any address and length: they write the right bytes, and no
//! others.

#![expect(clippy::unwrap_used, reason = "a test")]

use blosc_filters::{
    Error, FilterCx, FilterId, Reference, Registry, Simd, functions,
    internal::{EvenRows, StoreHint},
    shuffle,
};
use proptest::prelude::*;
use proptest::sample::select;

fn simds() -> impl Strategy<Value = Simd> {
    select(Simd::available().collect::<Vec<_>>())
}

fn hints() -> impl Strategy<Value = StoreHint> {
    select(vec![StoreHint::Cached, StoreHint::OuterCache, StoreHint::NonTemporal])
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n % 251).to_le_bytes()[0]).collect()
}

/// Bytes around the destination that must stay the same.
const GUARD: u8 = 0xA5;

/// Whether the destination is `expected` and the guards are unchanged.
fn holds(room: &[u8], at: usize, expected: &[u8]) -> bool {
    let end = at + expected.len();
    room[at..end] == *expected && room[..at].iter().chain(&room[end..]).all(|byte| *byte == GUARD)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(300)
    })]

    #[test]
    fn copies_and_fills_write_the_destination_and_nothing_else(
        len in prop_oneof![0..300_usize, 2000..20_000_usize, 60_000..70_000_usize],
        (from, to) in (0..64_usize, 1..70_usize),
        simd in simds(),
        hint in hints(),
        byte in 0..GUARD,
    ) {
        let src = bytes(from + len);
        let mut room = vec![GUARD; to + len + 70];
        hint.copy(simd, &src[from..], &mut room[to..to + len]);
        prop_assert!(holds(&room, to, &src[from..]));
        hint.fill(simd, byte, &mut room[to..to + len]);
        prop_assert!(holds(&room, to, &vec![byte; len]));
        hint.copy_read(simd, &src[from..], &mut room[to..to + len]);
        prop_assert!(holds(&room, to, &src[from..]));
    }

    #[test]
    fn rows_go_where_a_loop_over_them_says(
        count in 0..12_usize,
        len in prop_oneof![0..100_usize, 1000..1200_usize],
        (gap_in_block, gap_in_array) in (0..50_usize, 0..90_usize),
        (missing_of_block, missing_of_array) in (0..40_usize, 0..40_usize),
        shift in 0..32_usize,
        simd in simds(),
    ) {
        let rows =
            EvenRows { count, len, in_block: len + gap_in_block, in_array: len + gap_in_array };
        let block = bytes((count * rows.in_block).saturating_sub(missing_of_block));
        let array_len = (count * rows.in_array).saturating_sub(missing_of_array);
        let mut expected = vec![GUARD; shift + array_len];
        for n in 0..count {
            let from = block.get(n * rows.in_block..n * rows.in_block + len);
            let to = expected[shift..].get_mut(n * rows.in_array..n * rows.in_array + len);
            if let (Some(from), Some(to)) = (from, to) {
                to.copy_from_slice(from);
            }
        }
        let mut array = vec![GUARD; shift + array_len];
        rows.copy_to_array(simd, &block, &mut array[shift..]);
        prop_assert!(array == expected);
        let (mut back, mut copied) = (vec![0; block.len()], vec![0; block.len()]);
        rows.copy_to_block(simd, &array[shift..], &mut back);
        for n in 0..count {
            let at = n * rows.in_block..n * rows.in_block + len;
            if let (Some(from), Some(to)) =
                (array[shift..].get(n * rows.in_array..n * rows.in_array + len), copied.get_mut(at))
            {
                to.copy_from_slice(from);
            }
        }
        prop_assert!(back == copied);
    }

    #[test]
    fn rows_of_planes_are_rows_of_their_items(
        typesize in 1..=17_usize,
        (count, nitems, gap, first) in (0..6_usize, 0..80_usize, 0..9_usize, 0..9_usize),
        simd in simds(),
        hint in hints(),
    ) {
        let per_row = nitems + gap;
        let rows = EvenRows {
            count,
            len: nitems * typesize,
            in_block: per_row * typesize,
            in_array: (nitems + 3) * typesize,
        };
        let (block, total) = (bytes((first + count * per_row) * typesize), first + count * per_row);
        let mut shuffled = vec![0; block.len()];
        shuffle(typesize, &block, &mut shuffled);
        let planes: Vec<&[u8]> = (0..typesize).map(|j| &shuffled[j * total..][..total]).collect();
        let mut expected = vec![GUARD; count * rows.in_array];
        rows.copy_to_array(Simd::none(), &block[first * typesize..], &mut expected);
        let mut array = vec![GUARD; expected.len()];
        rows.copy_planes_to_array(simd, hint, &planes, first * typesize, &mut array);
        prop_assert!(array == expected);
    }
}

/// Each built-in filter, both ways, and each function that returns a result.
#[test]
fn a_destination_of_another_length_is_an_error_of_every_filter() {
    let (registry, cx) = (Registry::builtin(), FilterCx::new(4));
    let error = Err(Error::Length { src: 8, dest: 7 });
    for id in [1, 2, 3, 4, 34, 35, 36].map(FilterId) {
        let filter = registry.get(id).unwrap();
        assert_eq!(filter.forward(&cx, 10, &[0; 8], &mut [0; 7]), error, "{id} forward");
        assert_eq!(filter.backward(&cx, 10, &[0; 8], &mut [0; 7]), error, "{id} backward");
    }
    let first = Reference::FirstBlock;
    assert_eq!(functions::delta_encode(first, 4, &[0; 8], &mut [0; 7]), error);
    assert_eq!(functions::delta_decode(first, 4, &[0; 8], &mut [0; 7]), error);
    assert_eq!(functions::int_trunc(4, 4, &[0; 8], &mut [0; 7]), error);
    assert_eq!(functions::trunc_prec(4, 4, &[0; 8], &mut [0; 7]), error);
}
