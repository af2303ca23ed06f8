//! `#[derive(Element)]` on structs of every layout.
#![cfg(feature = "derive")]

use b2frame::{
    Element, Error, NdArray, NdParams, NdWriter,
    error::{NdParam, Param},
};

/// A struct with padding in memory; padding is not written.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Station {
    id: u8,
    #[element(rename = "temp °C")]
    temperature: f64,
    r#where: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
struct Place {
    x: f32,
    y: f32,
}

fn station(id: u8) -> Station {
    let place = f32::from(id);
    Station { id, temperature: f64::from(id) / 4.0, r#where: Place { x: place, y: -place } }
}

#[test]
fn the_type_is_packed_and_has_the_names_of_the_fields() {
    let dtype = "[('id', '|u1'), ('temp °C', '<f8'), ('where', [('x', '<f4'), ('y', '<f4')])]";
    assert_eq!(Station::dtype(), dtype.parse().unwrap());
    assert_eq!((Station::dtype().itemsize(), size_of::<Station>()), (17, 24));
}

#[test]
fn items_are_written_and_read_back() {
    let stations: Vec<Station> = (0..50).map(station).collect();
    let mut writer = NdWriter::in_memory(&NdParams::new(&[50], Station::dtype())).unwrap();
    writer.write_slice(.., &stations).unwrap();
    let array = writer.finish().unwrap();
    assert_eq!(array.read::<Station>().unwrap(), stations);
    assert_eq!(array.get::<Station>(&[7]).unwrap(), station(7));
    assert_eq!(array.to_bytes((1..2,)).unwrap()[..9], [1, 0, 0, 0, 0, 0, 0, 0xd0, 0x3f]);
}

#[test]
fn the_type_that_c_has_for_the_struct_can_be_read() {
    let aligned = "{'names': ['id', 'temp °C', 'where'], \
                    'formats': ['|u1', '>f8', [('x', '<f4'), ('y', '<f4')]], \
                    'offsets': [0, 8, 16], 'itemsize': 24}";
    let mut writer = NdWriter::in_memory(&NdParams::new(&[1], aligned.parse().unwrap())).unwrap();
    let mut item = [0xee; 24];
    item[0] = 3;
    item[8..16].copy_from_slice(&0.75_f64.to_be_bytes());
    item[16..20].copy_from_slice(&3_f32.to_le_bytes());
    item[20..].copy_from_slice(&(-3_f32).to_le_bytes());
    writer.write_bytes(.., &item).unwrap();
    let array: NdArray = writer.finish().unwrap();
    assert_eq!(array.read::<Station>().unwrap(), [station(3)]);
    let other = array.read::<Place>().unwrap_err();
    assert!(matches!(other, Error::Param(Param::Nd(NdParam::Dtype { .. }))));
}
