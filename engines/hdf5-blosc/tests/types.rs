//! Number types of HDF5 beside what HDF5 itself makes of them.

use std::collections::BTreeMap;

use hdf5_blosc::datatype::ItemType;
use hdf5_reader::{Dataset, Hdf5File};

fn open() -> Hdf5File {
    Hdf5File::open(format!("{}/tests/samples/number_types.h5", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn item_type(dataset: &Dataset) -> Result<ItemType, String> {
    ItemType::parse(&dataset.raw_datatype().unwrap()).map_err(|error| error.to_string())
}

/// The code and the items of a data set.
fn items(dataset: &Dataset) -> (String, Vec<u8>) {
    let stored = dataset.read_raw_bytes().unwrap();
    let item = item_type(dataset).unwrap();
    assert_eq!(stored.len() % item.stored_nbytes(), 0);
    let mut items = vec![0; stored.len() / item.stored_nbytes() * item.nbytes()];
    item.convert(&stored, &mut items);
    (item.numpy().to_owned(), items)
}

/// Each number in the type of `values`, all NaN alike.
fn numbers(code: &str, items: &[u8]) -> Vec<String> {
    let size: usize = code[2..].parse().unwrap();
    let text = |item: &[u8]| {
        let mut item = item.to_vec();
        if code.starts_with('>') {
            item.reverse();
        }
        let negative = item.last().is_some_and(|byte| *byte >= 0x80);
        let fill = if code.as_bytes()[1] == b'i' && negative { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[..size].copy_from_slice(&item);
        match (&code[1..2], size) {
            ("i", _) => i64::from_le_bytes(wide).to_string(),
            ("u", _) => u64::from_le_bytes(wide).to_string(),
            ("f", 2) => half(u16::from_le_bytes([wide[0], wide[1]])).to_string(),
            ("f", 4) => f64::from(f32::from_le_bytes(wide[..4].try_into().unwrap())).to_string(),
            _ => f64::from_le_bytes(wide).to_string(),
        }
    };
    items.chunks_exact(size).map(text).collect()
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + mantissa / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

#[test]
fn numbers_are_those_that_hdf5_reads() {
    let file = open();
    let group = file.group("/numbers").unwrap();
    let datasets = group.datasets().unwrap();
    assert_eq!(datasets.len(), 27);
    let mut codes = BTreeMap::new();
    for dataset in datasets {
        let name = dataset.name().rsplit('/').next().unwrap().to_owned();
        let (code, found) = items(&dataset);
        let (plain, expected) = items(&file.dataset(&format!("/values/{name}")).unwrap());
        assert_eq!(numbers(&code, &found), numbers(&plain, &expected), "{name}: {code}");
        codes.insert(name, code);
    }
    for (name, code) in [
        ("i12", "<i2"),
        ("i12_be", "<i2"),
        ("u4_in_a_byte", "|u1"),
        ("i24", "<i4"),
        ("u40_be", "<u8"),
        ("bfloat16_be", "<f4"),
        ("f24", "<f4"),
        ("f2_be", ">f2"),
        ("half_of_another_bias", "<f4"),
        ("single_of_another_bias", "<f8"),
        ("wide_exponent", "<f8"),
    ] {
        assert_eq!(codes[name], code, "{name}");
    }
}

#[test]
fn parts_of_items_are_read_or_refused_by_name() {
    let file = open();
    for (name, expected) in [
        ("level", "<i2"),
        ("swapped", "|i1"),
        ("when", "<M8[us]"),
        ("refused/binary128", "floats of 128 bits (binary128), which have no counterpart"),
        ("refused/binary128_be", "floats of 128 bits (binary128), which have no counterpart"),
        ("refused/x87", "floats of 80 bits of x87, which have no counterpart"),
        (
            "refused/wide_mantissa",
            "floats with 8 bits of exponent and 55 of mantissa, which have no counterpart",
        ),
        (
            "refused/far_bias",
            "floats with 11 bits of exponent and 52 of mantissa, which have no counterpart",
        ),
        ("refused/float8_e4m3", "floats of 8 bits (float8_e4m3), which have no counterpart"),
        ("refused/float8_e5m2", "floats of 8 bits (float8_e5m2), which have no counterpart"),
        ("refused/vax", "floats in the byte order of VAX, which have no counterpart"),
        (
            "refused/without_first_bit",
            "floats with 8 bits of exponent and 23 of mantissa, which have no counterpart",
        ),
        ("refused/i128", "integers of 16 bytes, which have no counterpart"),
        ("refused/time", "times of HDF5 (H5T_TIME), which have no counterpart"),
        ("refused/reference", "references, which have no counterpart"),
        ("refused/array", "items that are arrays, which have no counterpart"),
        (
            "refused/with_bfloat16",
            "field `x` of a record: numbers that become <f4, which have no counterpart",
        ),
        (
            "refused/with_reference",
            "records with a field `to` of references, which have no counterpart",
        ),
        ("refused/text", "items of variable length, which have no counterpart"),
    ] {
        let found = item_type(&file.dataset(&format!("/{name}")).unwrap());
        assert_eq!(
            found.map_or_else(|error| error, |item| item.numpy().to_owned()),
            expected,
            "{name}"
        );
    }
}
