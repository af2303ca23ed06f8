//! Names as a tree of lines.

use unicode_width::UnicodeWidthStr as _;

use crate::{
    escape::harmless,
    text_table::{Align, pad},
};

/// A node of the tree: a line, and the lines below it.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its description; directories have none.
    pub what: Option<String>,
    /// The nodes below it, in their order.
    pub children: Vec<Self>,
}

impl Node {
    /// Inserts a node at a path; the last word of the path becomes its name.
    pub fn insert_named(&mut self, path: &[String], node: Self) {
        let name = path.last().cloned().unwrap_or_default();
        self.insert(path, Self { name, ..node });
    }

    /// Inserts a node at a path, and makes missing directories.
    pub fn insert(&mut self, path: &[String], node: Self) {
        let Some((first, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            return self.children.push(node);
        }
        let is_directory = |child: &Self| child.name == *first && child.what.is_none();
        // Inputs come in order, so that the directory is mostly the last one.
        if let Some(at) = self.children.iter().rposition(is_directory) {
            return self.children[at].insert(rest, node);
        }
        let mut directory = Self { name: first.clone(), what: None, children: vec![] };
        directory.insert(rest, node);
        self.children.push(directory);
    }

    /// The node, and all below it.
    #[must_use]
    pub fn draw(&self) -> String {
        let mut text = format!("{}\n", self.line(0));
        self.draw_below("", &mut text);
        text
    }

    /// The lines of the children, after `margin`.
    fn draw_below(&self, margin: &str, text: &mut String) {
        let width =
            self.children.iter().map(|child| harmless(&child.name).width()).max().unwrap_or(0);
        for (n, child) in self.children.iter().enumerate() {
            let is_last = n + 1 == self.children.len();
            let (branch, more) =
                if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            text.push_str(&format!("{margin}{branch}{}\n", child.line(width)));
            child.draw_below(&format!("{margin}{more}"), text);
        }
    }

    /// Name and description, aligned after the longest name.
    fn line(&self, width: usize) -> String {
        let name = harmless(&self.name);
        match &self.what {
            Some(what) => format!("{}   {}", pad(&name, width, Align::Left), harmless(what)),
            None => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_branches() {
        let leaf =
            |name: &str| Node { name: name.into(), what: Some("x".into()), children: vec![] };
        let mut root = Node { name: "top".into(), what: None, children: vec![] };
        for path in ["a", "b/c", "b/dd", "b/e/f", "g"] {
            let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            root.insert(&parts, leaf(parts.last().unwrap()));
        }
        let expected = "top\n├── a   x\n├── b\n│   ├── c    x\n│   ├── dd   x\n│   └── e\n│       └── f   x\n└── g   x\n";
        assert_eq!(root.draw(), expected);
    }
}
