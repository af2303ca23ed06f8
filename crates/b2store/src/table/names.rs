//! From the name of a column to the path of its frames ("Tables: rows, nulls, names" in
//! `docs/formats/store.md`).

/// The path below `_cols/` of a column.
///
/// Dots divide the name into parts. Each part is a directory except the last; a backslash makes the
/// next character literal. `None` if a part is empty, or leads outside.
pub(crate) fn column_path(name: &str) -> Option<String> {
    let mut parts = vec![String::new()];
    let mut chars = name.chars();
    while let Some(first) = chars.next() {
        let (c, is_literal) = match first {
            '\\' => (chars.next()?, true),
            c => (c, false),
        };
        if c == '.' && !is_literal {
            parts.push(String::new());
            continue;
        }
        let part = parts.last_mut()?;
        match c {
            '%' => part.push_str("%25"),
            '/' => part.push_str("%2F"),
            '.' => part.push_str("%2E"),
            '\\' => part.push_str("%5C"),
            c => part.push(c),
        }
    }
    let path = parts.join("/");
    crate::key::check_names(&path).is_ok().then_some(path)
}

/// The name of the column whose frames lie at a path below `_cols/`.
pub(crate) fn column_name(path: &str) -> String {
    let literal = |part: &str| {
        let backslashes = part.replace('\\', r"\\").replace("%5C", r"\\");
        backslashes.replace("%2E", r"\.").replace("%2F", "/").replace("%25", "%")
    };
    path.split('/').map(literal).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_paths() {
        for (name, path) in [
            ("id", "id"),
            ("trip.begin.lon", "trip/begin/lon"),
            ("sla/sh", "sla%2Fsh"),
            (r"dot\.ted", "dot%2Eted"),
            (r"a\\b", "a%5Cb"),
            ("100%", "100%25"),
            ("ä b:c", "ä b:c"),
            ("../x", ""),
            ("a..b", ""),
            (".a", ""),
            ("a.", ""),
            ("", ""),
            (r"a\", ""),
            ("a\nb", ""),
        ] {
            assert_eq!(column_path(name).unwrap_or_default(), path, "{name:?}");
            assert!(path.is_empty() || column_name(path) == name, "{path:?}");
        }
        // A part that consists of dots is written with escapes.
        assert_eq!(column_path(r"\.\.").as_deref(), Some("%2E%2E"));
    }
}
