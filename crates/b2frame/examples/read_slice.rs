//! Reads a part of an array of numbers: `cargo run --example read_slice -- ARRAY 3 10:20 ::-1`.
//!
//! Only the blocks that hold the part are read and decoded.

use core::error::Error;

use b2frame::{
    NdArray,
    nd::{Pick, Selection},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give an array, and an index or slice for each dimension")?;
    let array = NdArray::open(&path)?;
    println!("{path}: {} of shape {:?}", array.dtype(), array.shape());

    let picks: Vec<Pick> = args.map(|arg| pick(&arg)).collect::<Result<_, _>>()?;
    let selection = Selection::from(picks);
    println!("part of shape {:?}", selection.shape(array.shape())?);
    match array.dtype().to_string().as_str() {
        "<f4" | ">f4" => println!("{:?}", array.read_slice::<f32>(selection)?),
        "<f8" | ">f8" => println!("{:?}", array.read_slice::<f64>(selection)?),
        "<i4" | ">i4" => println!("{:?}", array.read_slice::<i32>(selection)?),
        "<i8" | ">i8" => println!("{:?}", array.read_slice::<i64>(selection)?),
        _ => println!("{:02x?}", array.to_bytes(selection)?),
    }
    Ok(())
}

/// NumPy's `3` or `start:stop:step`.
fn pick(text: &str) -> Result<Pick, Box<dyn Error>> {
    let number =
        |part: &str| if part.is_empty() { Ok(None) } else { part.parse::<i64>().map(Some) };
    let parts: Vec<Option<i64>> = text.split(':').map(number).collect::<Result<_, _>>()?;
    match parts[..] {
        [Some(index)] => Ok(Pick::Index(index)),
        [start, stop] => Ok(Pick::slice(start, stop, 1)),
        [start, stop, step] => Ok(Pick::slice(start, stop, step.unwrap_or(1))),
        _ => Err(format!("{text}: no index or slice").into()),
    }
}
