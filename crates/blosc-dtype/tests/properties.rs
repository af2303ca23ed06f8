//! Properties of any text, any type and any `.npy` header.

use blosc_dtype::npy::{NpyHeader, header_len};
use blosc_dtype::{Dtype, Scalar};
use proptest::prelude::*;
use proptest::sample::select;

const CODES: [&str; 18] = [
    "|b1",
    "|i1",
    "<i2",
    ">i4",
    "<i8",
    "|u1",
    "<u2",
    "<f2",
    "<f4",
    ">f8",
    "<f16",
    "<c8",
    "<c16",
    "|S7",
    "<U3",
    "|V5",
    "<M8[25us]",
    "<m8",
];

fn scalars() -> impl Strategy<Value = Dtype> {
    select(CODES.to_vec()).prop_map(|code| Dtype::from(Scalar::parse(code).unwrap()))
}

/// Structured types, up to three levels deep.
fn dtypes() -> impl Strategy<Value = Dtype> {
    scalars().prop_recursive(3, 12, 4, |inner| {
        proptest::collection::vec(inner, 1..4).prop_map(|types| {
            let name = |n: usize| ["a", "it's", "\u{e4}", "\u{20ac} \"x\""][n].to_string();
            Dtype::packed(types.into_iter().enumerate().map(|(n, dtype)| (name(n), dtype))).unwrap()
        })
    })
}

/// Texts made of the tokens of a dtype, most of them invalid.
fn token_texts() -> impl Strategy<Value = String> {
    let tokens = vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "'a'",
        "'<i4'",
        "u'b'",
        "'names'",
        "'formats'",
        "'offsets'",
        "'itemsize'",
        "'titles'",
        "'aligned'",
        "True",
        "None",
        "3",
        "-1",
        "9223372036854775807",
        "2L",
        " ",
    ];
    proptest::collection::vec(select(tokens), 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn built_types_print_and_parse_to_the_same(dtype in dtypes()) {
        let text = dtype.to_string();
        let parsed = Dtype::parse(&text).unwrap();
        prop_assert_eq!(parsed.itemsize(), dtype.itemsize());
        prop_assert_eq!(parsed.to_string(), text);
        prop_assert_eq!(parsed, dtype);
    }

    #[test]
    fn descr_parses_to_the_same_type(dtype in dtypes()) {
        let descr = dtype.descr().unwrap();
        prop_assert_eq!(Dtype::parse(&descr).unwrap(), dtype);
    }

    #[test]
    fn any_text_parses_or_is_refused(text in "\\PC{0,60}") {
        if let Ok(dtype) = Dtype::parse(&text) {
            prop_assert_eq!(dtype.to_string(), text);
        }
    }

    #[test]
    fn texts_of_tokens_keep_their_meaning(text in token_texts()) {
        if let Ok(dtype) = Dtype::parse(&text) {
            prop_assert_eq!(&Dtype::parse(&dtype.to_string()).unwrap(), &dtype);
            for field in dtype.fields() {
                prop_assert!(field.offset() + field.dtype().itemsize() <= dtype.itemsize());
            }
        }
    }

    #[test]
    fn offsets_and_titles_survive(
        formats in proptest::collection::vec(scalars(), 1..5),
        gaps in proptest::collection::vec(0..20_usize, 5),
        is_aligned in any::<bool>(),
    ) {
        let (mut end, mut offsets) = (0, vec![]);
        for (format, gap) in formats.iter().zip(&gaps) {
            offsets.push(end + gap);
            end += gap + format.itemsize();
        }
        let list = |texts: Vec<String>| texts.join(", ");
        let text = format!(
            "{{'names': [{}], 'formats': [{}], 'offsets': {offsets:?}, 'titles': [{}], 'itemsize': {}{}}}",
            list((0..formats.len()).map(|n| format!("'f{n}'")).collect()),
            list(formats.iter().map(|format| format!("'{format}'")).collect()),
            list((0..formats.len()).map(|n| format!("'title {n}'")).collect()),
            end + gaps[4],
            if is_aligned { ", 'aligned': True" } else { "" },
        );
        let dtype = Dtype::parse(&text).unwrap();
        prop_assert_eq!(dtype.itemsize(), end + gaps[4]);
        for (n, field) in dtype.fields().iter().enumerate() {
            prop_assert_eq!(field.offset(), offsets[n]);
            let title = format!("title {n}");
            prop_assert_eq!(field.title(), Some(title.as_str()));
            prop_assert_eq!(field.dtype(), &formats[n]);
        }
        // `descr` writes gaps as fields, which preserve size and offsets.
        let padded = Dtype::parse(&dtype.descr().unwrap()).unwrap();
        let named = padded.fields().iter().filter(|field| !field.name().is_empty());
        prop_assert_eq!(named.map(|field| field.offset()).collect::<Vec<_>>(), offsets);
        prop_assert_eq!(padded.itemsize(), dtype.itemsize());
    }

    #[test]
    fn npy_headers_come_back(
        dtype in dtypes(),
        shape in proptest::collection::vec(0..=u64::MAX >> 1, 0..6),
        fortran_order in any::<bool>(),
        items in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let header = NpyHeader { fortran_order, ..NpyHeader::new(dtype, shape) };
        let mut bytes = header.to_bytes().unwrap();
        let len = bytes.len();
        prop_assert_eq!((len % 64, bytes.last()), (0, Some(&b'\n')));
        bytes.extend(items);
        prop_assert_eq!(header_len(&bytes), Ok(len));
        prop_assert_eq!(NpyHeader::parse(&bytes).unwrap(), NpyHeader { len, ..header });
    }

    #[test]
    fn any_bytes_are_a_npy_header_or_refused(
        version in 0..=4_u8,
        text in prop_oneof![proptest::collection::vec(any::<u8>(), 0..80), token_texts().prop_map(String::into_bytes)],
    ) {
        let len = u32::try_from(text.len()).unwrap().to_le_bytes();
        let len = if version == 1 { &len[..2] } else { &len[..] };
        let bytes = [b"\x93NUMPY", &[version, 0][..], len, &text].concat();
        if let Ok(header) = NpyHeader::parse(&bytes) {
            prop_assert!(header.len <= bytes.len());
        }
    }
}
