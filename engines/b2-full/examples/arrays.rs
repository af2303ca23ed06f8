//! What names lead to that are no files of the formats of Blosc: arrays NAME...
//!
//! The openers of the program, without its commands: a name is an address, an array or a group of
//! Zarr, a data set or a group of HDF5 (`climate.zarr`, `measured.h5::/run/7`).

use std::path::Path;

use b2_cli::opener::{Opened, Opener};

type Result<T> = core::result::Result<T, Box<dyn core::error::Error>>;

fn main() -> Result<()> {
    let openers = b2_full::openers();
    for name in std::env::args().skip(1) {
        print(&openers, &name)?;
    }
    Ok(())
}

fn print(openers: &[Box<dyn Opener>], name: &str) -> Result<()> {
    let mut opened = None;
    for opener in openers {
        opened = opener.open(Path::new(name))?;
        if opened.is_some() {
            break;
        }
    }
    match opened {
        Some(Opened::Array(array)) => {
            let (format, shape, dtype) = (array.format(), array.shape(), array.dtype());
            println!("{name}: {format}, {shape:?} of {dtype}");
        }
        Some(Opened::Group(group)) => {
            group.members.iter().try_for_each(|member| print(openers, member))?;
        }
        Some(Opened::File(file)) => println!("{name}: {} bytes", file.len()?),
        Some(other) => println!("{name}: {other:?}"),
        None => println!("{name}: a path"),
    }
    Ok(())
}
