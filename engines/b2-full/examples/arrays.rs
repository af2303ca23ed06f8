//! Opens data of any format, with the openers of the program but without its commands: arrays
//! NAME...
//!
//! A name is a file of the formats of Blosc, an address, an array or a group of Zarr, a data set or
//! a group of HDF5 (`field.b2nd`, `climate.zarr`, `measured.h5::/run/7`).

use blosc_data::{Data, OpenOptions, Openers, Result, open_with};

fn main() -> Result<()> {
    let openers = Openers::new(b2_full::openers());
    std::env::args().skip(1).try_for_each(|name| print(&openers, &name))
}

fn print(openers: &Openers, name: &str) -> Result<()> {
    let found = open_with(name, openers, &OpenOptions::default())?;
    match &found.data {
        Data::Array(array) => {
            let (format, shape, dtype) = (array.format(), array.shape(), array.dtype());
            println!("{name}: {format}, {shape:?} of {dtype}");
        }
        Data::Group(group) => println!("{name}: {} members", group.members()?.len()),
        other => println!("{name}: {}", other.kind_name()),
    }
    Ok(())
}
