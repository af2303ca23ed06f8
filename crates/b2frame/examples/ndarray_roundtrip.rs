//! Makes an array, lets it grow and reads it back: `cargo run --example ndarray_roundtrip --
//! NEW.b2nd`.
//!
//! python-blosc2 opens the file with `blosc2.open("NEW.b2nd")[...]`.

use core::error::Error;

use b2frame::{Element as _, NdArray, NdParams, NdWriter, element};

element! {
    /// A measurement of a station.
    #[derive(Debug, PartialEq)]
    struct Reading {
        station: u32,
        celsius: f64,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give a file to write")?;

    // Days by stations, none yet; a chunk has 30 days, a block has 10.
    let params = NdParams::new(&[0, 4], Reading::dtype()).chunkshape(&[30, 4]).blockshape(&[10, 4]);
    let mut writer = NdWriter::create(&path, &params)?;
    for day in 0..100_u32 {
        let celsius = |station: u32| 10.0 + f64::from(day % 7) + f64::from(station) / 4.0;
        let readings: Vec<Reading> =
            (0..4).map(|station| Reading { station, celsius: celsius(station) }).collect();
        writer.append(0, &readings)?;
    }
    writer.write_slice((99, 3), &[Reading { station: 3, celsius: -1.0 }])?;
    writer.commit()?;

    let array = NdArray::open(&path)?;
    println!(
        "{} of shape {:?} in {} bytes",
        array.dtype(),
        array.shape(),
        array.schunk().frame_len()
    );
    let last: Vec<Reading> = array.read_slice((-1, 2..))?;
    println!("last day: {last:?}");
    assert_eq!(last[1].celsius, -1.0);
    Ok(())
}
