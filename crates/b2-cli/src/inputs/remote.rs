//! Inputs that lie elsewhere (`https://host/x.b2nd`, `s3://bucket/trades.bcolz`), by their names.

use std::path::Path;

/// Whether a name is an address, as those of object stores and web servers are.
pub(crate) fn is_address(name: &Path) -> bool {
    let scheme = name.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
}

const SCHEMES: [&str; 9] = ["http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];

/// The part of `ADDRESS::/key` that an opener opens.
pub(crate) fn without_key(word: &Path) -> &Path {
    let address = word.to_str().filter(|_| is_address(word)).and_then(|text| text.split_once("::"));
    address.map_or(word, |(address, _)| Path::new(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_names_of_files() {
        for address in ["https://host/x.b2nd", "s3://bucket/a/b"] {
            assert!(is_address(Path::new(address)), "{address}");
        }
        for path in ["x.b2nd", "/a/b", "://x", "gopher://x", "a:b"] {
            assert!(!is_address(Path::new(path)), "{path}");
        }
        let key = without_key(Path::new("https://host/x.b2z::/a/b"));
        assert_eq!(key, Path::new("https://host/x.b2z"));
        assert_eq!(without_key(Path::new("x.b2z::/a")), Path::new("x.b2z::/a"));
    }
}
