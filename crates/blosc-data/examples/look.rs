//! Tells what a file is: `cargo run --example look -- FILE`, or `STORE::/key` for a part of one.

use core::error::Error;

use blosc_data::{Data, Dataset, open};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("give the file to look at")?;
    look(&open(name)?)
}

fn look(found: &Dataset) -> Result<(), Box<dyn Error>> {
    println!("{}: {}, in {}", found.name, found.data.kind_name(), found.format);
    match &found.data {
        Data::Bytes(bytes) => println!("  {} bytes, items of {}", bytes.nbytes(), bytes.typesize()),
        Data::Array(array) => {
            println!("  {:?} items of {}, by {:?}", array.shape(), array.dtype(), array.pipeline());
        }
        Data::Table(table) => {
            println!("  {} rows", table.nrows());
            for column in table.columns() {
                println!("  column {}: {:?}", column.name, column.kind);
            }
        }
        Data::Group(group) => {
            for member in group.members()? {
                println!("  {:?} {}", member.kind, member.name);
            }
        }
        Data::Objects(objects) => println!("  {} objects", objects.len()?),
        other => println!("  {}", other.kind_name()),
    }
    for (name, value) in found.attributes()? {
        println!("  attribute {name}: {value}");
    }
    if let (Some(nbytes), Some(stored)) = (found.nbytes(), found.stored_nbytes()) {
        println!("  {nbytes} bytes in {stored}");
    }
    Ok(())
}
