//! Writes a carray, or each column of a ctable, as a `.npy` file: `cargo run --example
//! convert_bcolz -- ROOTDIR TO`.

use core::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use bcolz_store::{CArray, DataSet, open};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(from), Some(to)) = (args.next(), args.next()) else {
        return Err("give a carray or ctable, and the file or directory to write".into());
    };
    match open(&from)? {
        DataSet::CArray(array) => write_npy(&array, array.len(), Path::new(&to)),
        DataSet::CTable(table) => {
            fs::create_dir_all(&to)?;
            for column in table.columns() {
                let path = Path::new(&to).join(format!("{}.npy", column.name));
                write_npy(&column.array, table.len(), &path)?;
            }
            Ok(())
        }
    }
}

/// Version 1.0 of NumPy's format: magic, length of the header, header, rows in C order.
fn write_npy(array: &CArray, len: u64, path: &Path) -> Result<(), Box<dyn Error>> {
    let descr = array.dtype().descr().ok_or("NumPy has no description of this dtype")?;
    let inner: String = array.shape().iter().skip(1).map(|length| format!(" {length},")).collect();
    let mut header =
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({len},{inner}), }}")
            .into_bytes();
    // Rows begin at a multiple of 64 bytes.
    header.resize((header.len() + 11).next_multiple_of(64) - 11, b' ');
    header.push(b'\n');
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(b"\x93NUMPY\x01\0")?;
    file.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    file.write_all(&header)?;
    for block in array.blocks(0).limit(len) {
        file.write_all(&block?)?;
    }
    file.flush()?;
    println!("{}: {len} rows of {}", path.display(), array.dtype());
    Ok(())
}
