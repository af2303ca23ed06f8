//! Malformed samples give an error, or data that read or fail. They never panic, and are never
//! called "not ours" if their magic tells the format.

use std::path::PathBuf;

use blosc_chunk::error::Blame;
use blosc_data::{Budget, Data, Dataset, Error, open};
use blosc_testdata::fixture::path;

fn malformed() -> Vec<PathBuf> {
    let mut found = vec![];
    for folder in ["stores/malformed", "bloscpack/malformed", "bcolz/malformed", "frames/malformed"]
    {
        let Ok(entries) = std::fs::read_dir(path(folder)) else { continue };
        found.extend(entries.map(|entry| entry.unwrap().path()));
    }
    found.retain(|path| path.extension().is_none_or(|end| end != "json" && end != "md"));
    found.sort();
    found
}

/// Reads everything, up to the first error.
fn read_all(found: &Dataset) -> Result<(), Error> {
    let budget = Budget::default().max_memory(64 << 20);
    match &found.data {
        Data::Bytes(bytes) => {
            bytes.stream(0..bytes.nbytes().min(1 << 24), &budget, &mut |_| Ok(()))
        }
        Data::Array(array) => {
            array.stream(0..array.nbytes().min(1 << 24), &budget, &mut |_| Ok(()))
        }
        Data::Table(table) => table.read(&[], 0..table.nrows().min(1 << 16)).map(drop),
        Data::Objects(objects) => objects.get(0..objects.len()?.min(1 << 12)).map(drop),
        Data::Group(group) => {
            let members = group.members()?;
            members.iter().try_for_each(|member| match group.open(&member.name)? {
                found if matches!(found.data, Data::Group(_)) => Ok(()),
                found => read_all(&found),
            })
        }
        _ => Ok(()),
    }
}

#[test]
fn malformed_samples_end_in_an_error_with_blame() {
    let (mut refused, mut read) = (0, 0);
    for path in malformed() {
        match open(&path).and_then(|found| read_all(&found).map(|()| found)) {
            Ok(_) => read += 1,
            Err(error) => {
                refused += 1;
                let name = path.display();
                assert!(!matches!(error, Error::Internal(_)), "{name}: {error:?}");
                // A recipe, an array without data, is not damage.
                let is_recipe = matches!(error, Error::Store(b2store::Error::Recipe { .. }));
                assert!(is_recipe || error.blame() != Blame::Usage, "{name}: {error:?}");
                assert!(!error.to_string().is_empty(), "{name}: {error:?}");
            }
        }
    }
    assert!(refused > 80, "{refused} refused, {read} read");
}
