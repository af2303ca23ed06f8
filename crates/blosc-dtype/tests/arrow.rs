//! Items as arrays of Arrow.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Float16Type, Int16Type, TimestampSecondType, UInt8Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use blosc_dtype::Dtype;
use blosc_dtype::arrow::{
    ArrayError, array, counts, from_native, item_type, row_type, to_native, with_type,
};

fn dtype(text: &str) -> Dtype {
    Dtype::parse(text).unwrap()
}

fn made(text: &str, shape: &[u64], bytes: &[u8], nulls: Option<&[bool]>) -> ArrayRef {
    let dtype = dtype(text);
    let array = array(&dtype, shape, bytes, nulls.map(NullBuffer::from)).unwrap();
    assert_eq!(Some(array.data_type()), row_type(&dtype, shape).as_ref(), "{text}");
    array
}

#[test]
fn numbers_of_both_byte_orders() {
    for (text, bytes) in [("<i2", [1, 0, 0xfe, 0xff]), (">i2", [0, 1, 0xff, 0xfe])] {
        assert_eq!(made(text, &[], &bytes, None).as_primitive::<Int16Type>().values()[..], [1, -2]);
    }
    let most = made("<u8", &[], &[0xff; 8], None);
    assert_eq!(most.as_primitive::<UInt64Type>().value(0), u64::MAX);
    let half = made(">f2", &[], &[0x3c, 0], None);
    assert_eq!(half.as_primitive::<Float16Type>().value(0).to_f32(), 1.0);
    // The position of the bytes has no effect.
    let bytes = [9, 1, 0, 2, 0];
    assert_eq!(made("<i2", &[], &bytes[1..], None).as_primitive::<Int16Type>().value(1), 2);
}

#[test]
fn nulls_are_those_of_the_rows() {
    let numbers = made("|u1", &[], &[1, 2, 3], Some(&[true, false, true]));
    assert_eq!(
        numbers.as_primitive::<UInt8Type>().iter().collect::<Vec<_>>(),
        [Some(1), None, Some(3)]
    );
    let truth = made("|b1", &[], &[0, 7], Some(&[true, false]));
    assert_eq!(truth.as_boolean().iter().collect::<Vec<_>>(), [Some(false), None]);
    let lists = made("|u1", &[3], &[1, 2, 3, 4, 5, 6], Some(&[false, true]));
    assert_eq!((lists.len(), lists.is_null(0), lists.is_null(1)), (2, true, false));
    let row = lists.as_fixed_size_list().value(1);
    assert_eq!(row.as_primitive::<UInt8Type>().values()[..], [4, 5, 6]);
    for text in ["|u1", "|b1", "|S1", "|V1"] {
        let nulls = NullBuffer::from(vec![true]);
        let error = array(&dtype(text), &[], b"ab", Some(nulls)).unwrap_err();
        assert!(matches!(error, ArrayError::Arrow(_)), "{text}: {error}");
    }
}

#[test]
fn strings_end_before_zeros() {
    let text = made("<U2", &[], b"\xe4\0\0\0\0\0\0\0a\0\0\0b\0\0\0", None);
    assert_eq!(text.as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["ä", "ab"]);
    let bytes = made("|S3", &[], b"a\0ba\0\0", Some(&[true, true]));
    assert_eq!(bytes.as_binary::<i32>().iter().flatten().collect::<Vec<_>>(), [&b"a\0b"[..], b"a"]);
}

#[test]
fn complex_numbers_are_binary_of_their_size() {
    let complex = made("<c8", &[], &[1; 16], Some(&[true, false]));
    assert_eq!(complex.data_type(), &DataType::FixedSizeBinary(8));
    assert_eq!((complex.len(), complex.null_count()), (2, 1));
}

#[test]
fn dates_without_a_value_are_null() {
    let bytes = [3_i64, i64::MIN, 5].map(i64::to_le_bytes).concat();
    let days = made("<M8[D]", &[], &bytes, Some(&[false, true, true]));
    assert_eq!(days.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [None, None, Some(5)]);
    let seconds = made("<M8[m]", &[], &bytes, None);
    let found: Vec<_> = seconds.as_primitive::<TimestampSecondType>().iter().collect();
    assert_eq!(found, [Some(180), None, Some(300)]);
    let error = array(&dtype("<M8[D]"), &[], i64::MAX.to_le_bytes(), None).unwrap_err();
    assert!(matches!(error, ArrayError::Value { item: 0, .. }), "{error}");
}

#[test]
fn what_arrow_lacks_is_named() {
    assert_eq!(item_type(&dtype("|O")), None);
    let error = array(&dtype("|O"), &[], Vec::<u8>::new(), None).unwrap_err();
    assert!(error.to_string().ends_with("has no counterpart"), "{error}");
    assert!(array(&dtype("|u1"), &[0], Vec::<u8>::new(), None).is_err());
    let empty: ArrayRef = Arc::new(arrow_array::StringArray::from(Vec::<&str>::new()));
    assert_eq!(&made("<U1", &[], &[], None), &empty);
}

#[test]
fn bytes_become_arrays_of_a_type_and_arrays_bytes() {
    let bytes: Vec<u8> = (0..6_i32).flat_map(|day| (day - 2).to_ne_bytes()).collect();
    let nulls = NullBuffer::from(vec![true, false, true, true, true, true]);
    let days = from_native(&DataType::Date32, bytes.clone(), Some(nulls)).unwrap();
    assert_eq!((days.len(), days.null_count()), (6, 1));
    assert_eq!(to_native(&*days).unwrap(), bytes);
    // A part of an array begins elsewhere in its buffer.
    let part = days.slice(2, 3);
    assert_eq!(to_native(&*part).unwrap(), bytes[8..20]);
    assert_eq!(counts(&*part).unwrap(), [0, 1, 2]);
    let numbers = with_type(&*part, &DataType::Int32).unwrap();
    assert_eq!(numbers.as_primitive::<arrow_array::types::Int32Type>().values()[..], [0, 1, 2]);
    // Numbers are not dates, and text is not a number.
    assert_eq!(counts(&*numbers), None);
    let text: ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["x"]));
    assert_eq!((to_native(&*text), counts(&*text)), (None, None));
    assert!(from_native(&DataType::Utf8, bytes.clone(), None).is_err());
    let few = NullBuffer::from(vec![true]);
    assert!(from_native(&DataType::Int32, bytes, Some(few)).is_err());
    // Items of four bytes cannot become items of eight.
    assert!(with_type(&*part, &DataType::Int64).is_err());
}

#[test]
fn bytes_that_lie_anywhere_become_numbers() {
    let bytes: Vec<u8> = core::iter::once(9).chain(7_i64.to_ne_bytes()).collect();
    let buffer = arrow_buffer::Buffer::from_vec(bytes).slice(1);
    let array = from_native(&DataType::Int64, buffer, None).unwrap();
    assert_eq!(array.as_primitive::<arrow_array::types::Int64Type>().values()[..], [7]);
}
