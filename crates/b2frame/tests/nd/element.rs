//! Items as values, checked against the stored type.

use b2frame::{
    Element, Error, NdArray, element,
    error::{NdParam, Param},
};

use super::model::Model;

/// A one-dimensional array of these bytes.
fn array(dtype: &str, typesize: usize, data: &[u8]) -> NdArray {
    let nitems = data.len() / typesize;
    let len = u32::try_from(nitems).unwrap();
    let mut model = Model::counting(vec![nitems as u64], vec![len], vec![len.min(2)], typesize);
    model.data = data.to_vec();
    NdArray::from_cframe(model.frame(dtype)).unwrap()
}

element! {
    /// A struct with every kind of field.
    #[derive(Debug, PartialEq)]
    struct Point {
        x: f32,
        r#type: u8,
        ok: bool,
        inner: Inner,
    }
}

element! {
    #[derive(Debug, PartialEq)]
    struct Inner {
        count: i64,
    }
}

const POINT: Point = Point { x: 1.5, r#type: 7, ok: true, inner: Inner { count: -2 } };

#[test]
fn plain_items_in_both_orders() {
    let data = [1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(array("<u2", 2, &data).read::<u16>().unwrap(), [0x0201, 0x0403, 0x0605, 0x0807]);
    assert_eq!(array(">u2", 2, &data).read::<u16>().unwrap(), [0x0102, 0x0304, 0x0506, 0x0708]);
    assert_eq!(array(">i4", 4, &data).get::<i32>(&[1]).unwrap(), 0x0506_0708);
    assert_eq!(array("|b1", 1, &data[..2]).read::<bool>().unwrap(), [true, true]);
    let mut dest = [0.0; 1];
    let bytes = 2.5_f64.to_be_bytes();
    array(">f8", 8, &bytes).read_slice_into(.., &mut dest).unwrap();
    assert_eq!(dest, [2.5]);
}

#[test]
fn another_type_is_refused() {
    let of = |dtype: &str, typesize| array(dtype, typesize, &[0; 8]);
    let refused = |result: Result<(), Error>| match result {
        Err(Error::Param(Param::Nd(NdParam::Dtype { dtype, wanted }))) => (dtype, wanted),
        other => panic!("{other:?}"),
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(refused(of("<u4", 4).read::<i32>().map(|_| ())), pair("<u4", "<i4"));
    assert_eq!(refused(of("<f8", 8).read::<f32>().map(|_| ())), pair("<f8", "<f4"));
    assert_eq!(refused(of("<M8[ns]", 8).read::<i64>().map(|_| ())), pair("<M8[ns]", "<i8"));
    assert_eq!(refused(of("|O", 8).get::<u64>(&[0]).map(|_| ())), pair("|O", "<u8"));
    // A C program wrote this: the type contradicts the size of the items, so only raw bytes are
    // readable.
    let contradicting = of("|u1", 4);
    assert_eq!(contradicting.dtype().to_string(), "|V4");
    assert_eq!(contradicting.meta().dtype_text(4), "|u1");
    assert_eq!(refused(contradicting.gather::<u8>(&[0]).map(|_| ())), pair("|V4", "|u1"));
    assert_eq!(contradicting.to_bytes(..).unwrap(), [0; 8]);
    assert_eq!(of("[('no literal", 4).dtype().to_string(), "|V4");
}

#[test]
fn structs_are_read_field_by_field() {
    let dtype = "[('x', '<f4'), ('type', '|u1'), ('ok', '|b1'), ('inner', [('count', '<i8')])]";
    assert_eq!(Point::dtype(), dtype.parse().unwrap());
    let data = Point::to_bytes(&[POINT, POINT]);
    assert_eq!(data.len(), 28);
    assert_eq!(array(dtype, 14, &data).read::<Point>().unwrap(), [POINT, POINT]);

    let padded = "{'names': ['x', 'type', 'ok', 'inner'], 'formats': \
                  ['>f4', 'u1', '?', [('count', '<i8')]], \
                  'offsets': [0, 4, 5, 8], 'itemsize': 16}";
    let mut item = [0_u8; 16];
    item[..4].copy_from_slice(&1.5_f32.to_be_bytes());
    (item[4], item[5]) = (7, 1);
    item[8..].copy_from_slice(&(-2_i64).to_le_bytes());
    assert_eq!(array(padded, 16, &item).get::<Point>(&[0]).unwrap(), POINT);

    for other in [
        "[('x', '<f4'), ('type', '|u1'), ('ok', '|b1')]",
        "[('y', '<f4'), ('type', '|u1'), ('ok', '|b1'), ('inner', [('count', '<i8')])]",
        "[('x', '<f4'), ('type', '|u1'), ('ok', '|b1'), ('inner', '<i8')]",
        "<i8",
    ] {
        assert!(!Point::accepts(&other.parse().unwrap()), "{other}");
    }
}

#[cfg(feature = "half")]
#[test]
fn half_floats() {
    let items = [half::f16::from_f32(0.5), half::f16::from_f32(-3.0)];
    let data = half::f16::to_bytes(&items);
    assert_eq!(array("<f2", 2, &data).read::<half::f16>().unwrap(), items);
    let swapped: Vec<u8> = data.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    assert_eq!(array(">f2", 2, &swapped).read::<half::f16>().unwrap(), items);
}

#[cfg(feature = "num-complex")]
#[test]
fn complex_numbers() {
    use num_complex::Complex;

    let items = [Complex::new(1.0_f32, -2.0), Complex::new(0.25, 4.0)];
    let data = Complex::to_bytes(&items);
    assert_eq!(array("<c8", 8, &data).read::<Complex<f32>>().unwrap(), items);
    let swapped: Vec<u8> = data.chunks(4).flat_map(|part| part.iter().rev().copied()).collect();
    assert_eq!(array(">c8", 8, &swapped).read::<Complex<f32>>().unwrap(), items);
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_ndarray() {
    use ndarray::{Array1, Array2, ArrayD, array as of};

    let model = Model::counting(vec![3, 4], vec![2, 3], vec![1, 2], 2);
    let array = NdArray::from_cframe(model.frame("<u2")).unwrap();
    let corner: Array2<u16> = array.read_ndarray((1.., ..2)).unwrap();
    assert_eq!(corner, of![[5, 6], [9, 10]]);
    let column: Array1<u16> = array.read_ndarray((.., -1)).unwrap();
    assert_eq!(column, of![4, 8, 12]);
    assert_eq!(
        array.read_ndarray::<u16, _>(..).map(|a: ArrayD<u16>| a.shape().to_vec()).unwrap(),
        [3, 4]
    );
    let mut writer = b2frame::NdWriter::in_memory(&array.params().unwrap()).unwrap();
    writer.write_ndarray((.., -1), of![7_u16, 8, 9].view()).unwrap();
    let shape = writer.write_ndarray((.., -1), of![7_u16, 8].view()).unwrap_err();
    let expected = NdParam::Shape { shape: vec![2], expected: vec![3] };
    assert!(matches!(shape, Error::Param(Param::Nd(param)) if param == expected));
    assert_eq!(writer.finish().unwrap().read_slice::<u16>((1,)).unwrap(), [0, 0, 0, 8]);
    let wrong: Result<Array1<u16>, Error> = array.read_ndarray(..);
    assert!(matches!(wrong, Err(Error::Param(Param::Nd(NdParam::Dims { given: 1, ndim: 2 })))));
}
