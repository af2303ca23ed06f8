//! The columns of a table: the file that lists them and marks a table, and their names. Each names
//! a directory, and so is one normal path component.

use blosc_io::Tree;

use crate::error::{NameFault, Result};
use crate::files::{self, join};
use crate::meta::{need, wrong_type};

/// The fault that keeps a name from being one of a column.
pub(crate) fn fault(name: &str) -> Option<NameFault> {
    let is_control = |c: char| c == '/' || c == '\\' || c == '\0';
    let is_windows = |c: char| c < ' ' || matches!(c, ':' | '<' | '>' | '"' | '|' | '?' | '*');
    match name {
        "" => Some(NameFault::Empty),
        "." | ".." => Some(NameFault::Dots),
        "__rootdirs__" | "__attrs__" => Some(NameFault::Reserved),
        _ if name.contains(is_control) => Some(NameFault::Character),
        _ if cfg!(windows) && (name.contains(is_windows) || name.ends_with(['.', ' '])) => {
            Some(NameFault::Character)
        }
        _ if cfg!(windows) && is_device(name) => Some(NameFault::Device),
        _ => None,
    }
}

/// Whether Windows takes the name for a device, whatever follows the first dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" => true,
        _ => stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT")).is_some_and(|rest| {
            rest.chars().count() == 1 && rest.contains(|c| matches!(c, '1'..='9' | '¹' | '²' | '³'))
        }),
    }
}

/// Whether there is a table at `path`, which `__rootdirs__` alone marks.
pub(crate) fn is_table(tree: &dyn Tree, path: &str) -> Result<bool> {
    files::has_file(tree, &names_path(path))
}

/// The file that lists the columns.
pub(crate) fn names_path(path: &str) -> String {
    join(path, "__rootdirs__")
}

/// The names in `__rootdirs__`, unchanged.
pub(crate) fn parse_names(json: &crate::Json, path: &str) -> Result<Vec<String>> {
    let names = need(json, path, "names")?;
    let list = names.as_array().ok_or_else(|| wrong_type(path, "names", "a list", names))?;
    let name = |name: &crate::Json| {
        name.as_str()
            .map(str::to_owned)
            .ok_or_else(|| wrong_type(path, "names", "a list of strings", name))
    };
    list.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_components() {
        for name in ["a", "é", "two words", "data", "meta", "..a"] {
            assert_eq!(fault(name), None, "{name}");
        }
        assert_eq!(fault("con"), cfg!(windows).then_some(NameFault::Device));
        for (name, expected) in [
            ("", NameFault::Empty),
            (".", NameFault::Dots),
            ("..", NameFault::Dots),
            ("../x", NameFault::Character),
            ("a\\b", NameFault::Character),
            ("a\0", NameFault::Character),
            ("/a", NameFault::Character),
            ("__attrs__", NameFault::Reserved),
        ] {
            assert_eq!(fault(name), Some(expected), "{name:?}");
        }
    }

    #[test]
    fn devices_are_known_with_any_extension() {
        assert!(["nul", "Com1.txt", "LPT9 .x", "aux."].iter().all(|name| is_device(name)));
        assert!(!["com", "com10", "null", "lpt0"].iter().any(|name| is_device(name)));
    }
}
