//! Reads every data set of a file and prints its shape and the sum of its bytes:
//! `cargo run --features hdf5-reader --example datasets -- FILE`.

use hdf5_reader::group::Group;
use hdf5_reader::{FilterRegistry, Hdf5File, OpenOptions};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let mut filters = FilterRegistry::new();
    hdf5_blosc::register(&mut filters);
    let options = OpenOptions::default().with_filter_registry(filters);
    let file = Hdf5File::open_with_options(path, options)?;
    print(&file.root_group()?, "")
}

fn print(group: &Group, path: &str) -> Result<(), Box<dyn core::error::Error>> {
    let (groups, datasets) = group.members()?;
    for dataset in datasets {
        let bytes = dataset.read_raw_bytes()?;
        let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
        println!("{path}/{}  {:?}  {sum}", dataset.name(), dataset.shape());
    }
    for group in groups {
        print(&group, &format!("{path}/{}", group.name()))?;
    }
    Ok(())
}
