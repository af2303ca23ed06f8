//! Names of columns, which are names of directories: one normal path component.

use crate::error::NameFault;

/// What keeps a name from being one of a column.
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

/// Whether Windows takes the name for a device, whatever follows the first point.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" => true,
        _ => stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT")).is_some_and(|rest| {
            rest.chars().count() == 1 && rest.contains(|c| matches!(c, '1'..='9' | '¹' | '²' | '³'))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_components() {
        for name in ["a", "é", "two words", "data", "meta", "..a", "con"] {
            assert_eq!(fault(name), None, "{name}");
        }
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
