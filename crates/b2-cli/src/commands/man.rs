//! `b2 man`: manual pages in roff, one for the program, one per command, and two that `docs/*.md`
//! become.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use clap_mangen::Man;

use crate::{
    args::{ManArgs, grammar},
    console::Console,
    error::{Doing, Error, Result, message},
    render::{path_text, size},
};

/// The pages that `cargo xtask docs` makes of `docs/*.md`, with their names and sections.
const MADE_OF_DOCS: [(&str, &str, &str); 2] = [
    ("b2-formats", "5", include_str!("../../man/b2-formats.5")),
    ("b2-recipes", "7", include_str!("../../man/b2-recipes.7")),
];

/// The date of the release, from the environment of its build.
const DATE: &str = match option_env!("B2_DATE") {
    Some(date) => date,
    None => "unreleased",
};

const SOURCE: &str = concat!("b2 ", env!("CARGO_PKG_VERSION"));

/// Prints one page, or writes all of them to folders.
pub(crate) fn run(args: &ManArgs, console: &Console) -> Result<()> {
    match &args.output_dir {
        Some(folder) => write_all(folder, console),
        None => console.print(&page(args.command.as_deref())?),
    }
}

/// The text of a page made from a document; `b2 help` shows it by its topic.
pub(crate) fn topic(name: &str) -> Option<String> {
    let (.., roff) = MADE_OF_DOCS.iter().find(|(page, ..)| {
        *page == name || page.strip_prefix("b2-") == Some(name) && name != "formats"
    })?;
    let line = |line: &str| match line.split_once(' ') {
        Some((".SH" | ".SS", title)) => Some(format!("\n{}\n", title.trim_matches('"'))),
        _ if line == ".PP" => Some(String::from("\n")),
        _ if line.starts_with('.') => None,
        _ => Some(format!("{line}\n")),
    };
    let text: String = roff.lines().filter_map(line).collect();
    Some(ESCAPES.iter().fold(text, |text, (code, plain)| text.replace(code, plain)))
}

/// roff's escapes in our pages as text. The backslash comes last, since all others begin with it.
const ESCAPES: [(&str, &str); 12] = [
    ("\\fB", ""),
    ("\\fI", ""),
    ("\\fR", ""),
    ("\\&", ""),
    ("\\:", ""),
    ("\\-", "-"),
    ("\\(aq", "'"),
    ("\\(ga", "`"),
    ("\\(ha", "^"),
    ("\\(ti", "~"),
    ("\\(en", "\u{2013}"),
    ("\\e", "\\"),
];

/// Writes all pages, each to the folder of its section.
fn write_all(folder: &Path, console: &Console) -> Result<()> {
    let pages = all_pages()?;
    for (name, section, text) in &pages {
        let folder = folder.join(format!("man{section}"));
        let path = folder.join(format!("{name}.{section}"));
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, text));
        written.map_err(Error::io_at(Doing::Write, &path))?;
    }
    let (count, folder) = (size::count(pages.len() as u64), path_text(folder));
    console.note(&format!(
        "{count} pages in {folder}; `man -M {folder} b2` shows the first\n\
         `man b2` finds them in ~/.local/share/man or /usr/local/share/man"
    ));
    Ok(())
}

/// Name, section and text of every page.
pub(crate) fn all_pages() -> Result<Vec<(String, String, String)>> {
    let mut pages = vec![("b2".to_owned(), "1".to_owned(), page(None)?)];
    for command in grammar().get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = command.get_name();
        pages.push((format!("b2-{name}"), "1".to_owned(), page(Some(name))?));
    }
    pages.push(("blpk".to_owned(), "1".to_owned(), page(Some("blpk"))?));
    let made = MADE_OF_DOCS.iter().map(|(name, section, _)| (*name, *section));
    for (name, section) in made {
        pages.push((name.to_owned(), section.to_owned(), page(Some(name))?));
    }
    Ok(pages)
}

/// The page of a command, of `blpk`, of the program, or one made from a document.
fn page(name: Option<&str>) -> Result<String> {
    let is_called = |page: &str, section: &str| {
        name.is_some_and(|name| name == page || name == format!("{page}.{section}"))
    };
    if let Some((page, section, text)) =
        MADE_OF_DOCS.iter().find(|(page, section, _)| is_called(page, section))
    {
        let title = page.to_uppercase();
        return Ok(format!(".TH {title} {section} \"{DATE}\" \"{SOURCE}\" \"b2\"\n{text}"));
    }
    let mut grammar = grammar().version(env!("CARGO_PKG_VERSION"));
    grammar.build();
    let subject = match name {
        // `b2 help` has no page, since `b2 --help` and this page say what it does.
        None => grammar.mut_subcommand("help", |help| help.hide(true)),
        Some("blpk") => blpk::grammar(),
        Some(name) => {
            grammar.find_subcommand(name).cloned().ok_or_else(|| message::NO_COMMAND.about(name))?
        }
    };
    let mut roff = Vec::new();
    render(subject, &mut roff).map_err(Error::io(Doing::Stdout))?;
    String::from_utf8(roff).map_err(|error| {
        Error::io(Doing::Stdout)(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}

/// The sections of a page. Help after the options keeps its lines.
fn render(subject: clap::Command, out: &mut Vec<u8>) -> io::Result<()> {
    let after = subject.get_after_long_help().or(subject.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let (is_b2, is_blpk) = (subject.get_name() == "b2", subject.get_name() == "blpk");
    let verbs: Vec<clap::Command> = subject.get_subcommands().cloned().collect();
    let man = Man::new(subject).date(DATE).source(SOURCE).manual("b2");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if is_b2 {
        man.render_subcommands_section(out)?;
    }
    if is_blpk {
        out.write_all(b".SH SUBCOMMANDS\n")?;
        verbs.into_iter().try_for_each(|verb| render_verb(verb, out))?;
    }
    for (title, lines) in sections(&after) {
        writeln!(out, ".SH {}", title.to_uppercase())?;
        out.write_all(b".nf\n")?;
        for line in lines {
            writeln!(out, "{}", verbatim(line))?;
        }
        out.write_all(b".fi\n")?;
    }
    let other = if is_b2 { "blpk" } else { "b2" };
    let all = format!(".BR {other} (1),\n.BR b2\\-formats (5),\n.BR b2\\-recipes (7)\n");
    write!(out, ".SH \"SEE ALSO\"\n{all}")
}

/// Purpose, usage and options of a subcommand of `blpk`, which has no page of its own.
fn render_verb(verb: clap::Command, out: &mut Vec<u8>) -> io::Result<()> {
    let name = format!("blpk {}", verb.get_name());
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(out, ".SS \"{}\"\n{}\n.PP", verbatim(&name), verbatim(&about))?;
    let man = Man::new(verb.bin_name(name).disable_help_flag(true));
    let mut sections = Vec::new();
    man.render_synopsis_section(&mut sections)?;
    man.render_options_section(&mut sections)?;
    // The sections are parts of this one, and the page has defined its strings.
    let is_part = |line: &&str| ![".SH", ".ie", ".el"].iter().any(|it| line.starts_with(it));
    for line in String::from_utf8_lossy(&sections).lines().filter(is_part) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The parts of a text: each follows a line that ends with a colon and is not indented. Other text
/// is a part called notes.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut parts: Vec<(&str, Vec<&str>)> = vec![];
    let mut is_new = true;
    for line in text.lines() {
        let title = line.strip_suffix(':').filter(|_| !line.starts_with(' '));
        match (title, parts.last_mut()) {
            (Some(title), _) => parts.push((title, vec![])),
            (None, Some((title, lines)))
                if !is_new || line.starts_with(' ') || *title == "Notes" =>
            {
                lines.push(line);
            }
            (None, _) if line.is_empty() => {}
            (None, _) => parts.push(("Notes", vec![line])),
        }
        is_new = line.is_empty();
    }
    for (_, lines) in &mut parts {
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
    }
    parts
}

/// A line as roff shows it unchanged.
fn verbatim(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let line = line.replace('`', "\\(ga").replace('^', "\\(ha").replace('~', "\\(ti");
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines() {
        let page = page(Some("man")).unwrap();
        let examples = page.split(".SH EXAMPLES\n.nf\n").nth(1).unwrap();
        let examples = examples.split(".fi\n").next().unwrap();
        assert!(examples.starts_with("  b2 man | man \\-l \\-\n"), "{examples}");
        assert!(!page.contains(".SH EXTRA"));
        assert!(page.contains(".SH NOTES\n"), "{page}");
    }

    #[test]
    fn every_page_has_a_footer_and_its_section() {
        for (name, section, text) in all_pages().unwrap() {
            let title = text.lines().find(|line| line.starts_with(".TH ")).unwrap();
            assert!(title.contains(SOURCE), "{name}: {title}");
            assert!(title.contains(&format!(" {section} ")), "{name}: {title}");
        }
    }

    #[test]
    fn lines_of_the_help_are_no_requests() {
        assert_eq!(verbatim(".b2frame 'x' -1 \\n"), "\\&.b2frame \\(aqx\\(aq \\-1 \\en");
    }
}
