//! Conversion of a document's Markdown to the body of a manual page.
//!
//! It knows only the constructs in `docs/`: headings, paragraphs, lists, tables, fenced blocks, and
//! code, bold text and links inside of lines. It leaves out the title line: the program adds it,
//! with the version.

use core::fmt::Write as _;

/// The sections of a page called `name`, described by `about`.
pub(super) fn page(name: &str, about: &str, markdown: &str) -> String {
    let mut page = Page { text: String::new(), paragraph: String::new(), rows: 0 };
    let name = name.replace('-', "\\-");
    page.text = format!(".SH NAME\n{name} \\- {about}\n.SH DESCRIPTION\n");
    let mut is_code = false;
    for line in markdown.lines() {
        match (line.starts_with("```"), is_code) {
            (true, false) => {
                page.end_paragraph();
                page.text.push_str(".PP\n.RS 2\n.nf\n");
                is_code = true;
            }
            (true, true) => {
                page.text.push_str(".fi\n.RE\n");
                is_code = false;
            }
            (false, true) => page.text.push_str(&(guarded(&escaped(line)) + "\n")),
            (false, false) => page.line(line),
        }
    }
    page.end_paragraph();
    page.text
}

struct Page {
    text: String,
    /// The lines of the paragraph so far.
    paragraph: String,
    /// Rows of the table so far, the first two of which are its head.
    rows: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        if line.starts_with('|') {
            self.end_paragraph();
            return self.row(line);
        }
        self.rows = 0;
        if line.is_empty() {
            return self.end_paragraph();
        }
        if let Some(title) = line.strip_prefix("## ") {
            self.end_paragraph();
            let _ = writeln!(self.text, ".SH {}", escaped(title).to_uppercase());
        } else if let Some(title) = line.strip_prefix("### ") {
            self.end_paragraph();
            let _ = writeln!(self.text, ".SS {}", escaped(title));
        } else if line.starts_with("# ") {
            // The title of the page.
        } else if let Some(item) = line.strip_prefix("- ") {
            self.end_paragraph();
            self.text.push_str(".IP \\(bu 2\n");
            let _ = writeln!(self.text, "{}", guarded(&inline(item)));
        } else {
            if !self.paragraph.is_empty() {
                self.paragraph.push('\n');
            }
            self.paragraph.push_str(line);
        }
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            let paragraph = core::mem::take(&mut self.paragraph);
            let lines = inline(&paragraph);
            let lines: Vec<String> = lines.lines().map(guarded).collect();
            let _ = write!(self.text, ".PP\n{}\n", lines.join("\n"));
        }
    }

    /// A row of a table: the first cell, and the others as its description.
    fn row(&mut self, line: &str) {
        self.rows += 1;
        if self.rows <= 2 {
            return;
        }
        // A bar with a backslash belongs to a cell.
        let line = line.replace("\\|", "\0");
        let cells = line.trim_matches('|').split('|');
        let cells: Vec<String> =
            cells.map(|cell| inline(&cell.trim().replace('\0', "|"))).collect();
        if let Some((first, rest)) = cells.split_first() {
            let rest: Vec<&str> =
                rest.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
            let _ = write!(self.text, ".TP\n{}\n{}\n", guarded(first), guarded(&rest.join(": ")));
        }
    }
}

/// Text with roff's requests and escapes masked.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    text.replace('^', "\\(ha").replace('~', "\\(ti").replace('`', "\\(ga")
}

/// A line whose first character is masked if it would be a request.
fn guarded(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

/// Code and bold text in bold, links as their text.
fn inline(text: &str) -> String {
    let mut done = String::new();
    for (i, piece) in text.split('`').enumerate() {
        if i % 2 == 1 {
            let _ = write!(done, "\\fB{}\\fR", escaped(piece));
            continue;
        }
        for (i, piece) in without_links(piece).split("**").enumerate() {
            let piece = escaped(piece);
            done.push_str(&if i % 2 == 1 { format!("\\fB{piece}\\fR") } else { piece });
        }
    }
    done
}

fn without_links(text: &str) -> String {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('[') {
        let Some((name, tail)) = after.split_once("](") else { break };
        let Some((_, tail)) = tail.split_once(')') else { break };
        done.push_str(before);
        done.push_str(name);
        rest = tail;
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_become_sections() {
        let text = "# Title\n\nSee `b2 -c`,\n[the guide](guide.md) and **this**.\n\n## A part\n\n\
                    - one\n\n```console\n$ b2 .x\n.y\n```\n\n| a | b |\n|---|---|\n| `.x` | it's `a \\| b` |\n";
        let expected = ".SH NAME\nb2\\-x \\- things\n.SH DESCRIPTION\n.PP\nSee \\fBb2 \\-c\\fR,\nthe guide \
                        and \\fBthis\\fR.\n.SH A PART\n.IP \\(bu 2\none\n.PP\n.RS 2\n.nf\n$ b2 .x\n\\&.y\n\
                        .fi\n.RE\n.TP\n\\fB.x\\fR\nit\\(aqs \\fBa | b\\fR\n";
        assert_eq!(page("b2-x", "things", text), expected);
    }
}
