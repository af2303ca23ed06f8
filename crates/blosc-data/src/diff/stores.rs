//! Differences of two stores, apart from their values.

use std::collections::BTreeSet;

use b2store::Store;

use crate::error::Result;
use crate::json;

/// The groups of two stores whose attributes differ, the root included, with the names of these
/// attributes.
///
/// # Errors
///
/// When the attributes of a group cannot be read.
pub fn group_attributes(a: &Store, b: &Store) -> Result<Vec<(String, Vec<String>)>> {
    let mut groups: BTreeSet<&str> = a.groups();
    groups.extend(b.groups());
    groups.insert("/");
    let mut differing = vec![];
    for key in groups {
        let [of_a, of_b] = [json::map(&a.attributes(key)?), json::map(&b.attributes(key)?)];
        let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
        let names = names.into_iter().filter(|name| of_a.get(*name) != of_b.get(*name));
        let names: Vec<String> = names.cloned().collect();
        if !names.is_empty() {
            differing.push((key.to_owned(), names));
        }
    }
    Ok(differing)
}
