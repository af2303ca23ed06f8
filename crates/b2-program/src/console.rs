//! The only place that prints for people: messages on standard error, and text on standard output.
//!
//! No part of a file or its name reaches a terminal as a control character. Messages are escaped
//! here, and so is standard output if it is a terminal. In a pipe, data keep their bytes.
//!
//! A problem is `PROGRAM: FILE: what is wrong`, and `hint: what to do` on a line of its own; for
//! programs it is a JSON object.

use core::marker::PhantomData;
use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError},
};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::{
    Doing, Error, Program,
    escape::{
        harmless, harmless_lines, json_text, name_text, unbroken, unbroken_bytes, write_json,
    },
    hint::named,
    size::Units,
};

/// A choice that can be left to the kind of the streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If the stream is a terminal.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// When progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressWhen {
    /// A line while the work goes on, if standard error is a terminal.
    #[default]
    Auto,
    /// The same, whatever standard error is.
    Always,
    /// No line.
    Never,
    /// One JSON object a line, for other programs.
    Json,
}

/// The options for output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Count of `-q`: with one, only errors are printed; with two, nothing.
    pub quiet: u8,
    /// Count of `-v`.
    pub verbose: u8,
    /// JSON documents instead of text.
    pub json: bool,
    /// Units for printed sizes.
    pub units: Units,
    /// When text has colours.
    pub color: When,
    /// When progress is shown.
    pub progress: ProgressWhen,
}

/// The console: standard output and standard error.
#[derive(Clone, Debug)]
pub struct Console<P> {
    name: String,
    manner: Manner,
    /// The running command, if there is one.
    command: Option<Arc<Running>>,
    /// The lines that are held back until their output is renamed.
    held: Arc<Mutex<Option<Held>>>,
    program: PhantomData<P>,
}

/// Lines that were held back, in their order.
#[derive(Debug, Default)]
pub struct Held(Vec<(Stream, Vec<u8>)>);

impl Held {
    /// Adds more lines; joins lines of one stream, so that one call writes them.
    pub(crate) fn append(&mut self, lines: Self) {
        for (stream, line) in lines.0 {
            match self.0.last_mut() {
                Some((last, text)) if *last == stream => text.extend(line),
                _ => self.0.push((stream, line)),
            }
        }
    }
}

/// The stream of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    Output,
    /// Standard output; colours are for terminals.
    Styled,
    Error,
}

/// Most characters before and after a mark.
const MAX_BEFORE_MARK: usize = 40;

/// The running command: its name, and its options as written.
#[derive(Debug)]
struct Running {
    name: String,
    options: Vec<String>,
}

impl Running {
    /// Whether a user of this command can follow a hint. Options outside of backquotes must belong
    /// to this command; backquotes must hold another command, or this one with another option.
    fn can_follow(&self, hint: &str) -> bool {
        // A line of another program has options of its own.
        let is_known = |part: &str| {
            part.starts_with("cargo ")
                || options_in(part).all(|option| self.options.iter().any(|known| known == option))
        };
        let leads_back = |part: &str| {
            let words = part.strip_prefix("b2 ").and_then(|words| words.strip_prefix(&*self.name));
            let words = words.filter(|words| words.is_empty() || words.starts_with(' '));
            words.is_some_and(|words| options_in(words).all(|option| option == "-o"))
        };
        let mut parts = hint.split('`').enumerate();
        parts.all(|(n, part)| if n % 2 == 0 { is_known(part) } else { !leads_back(part) })
    }
}

/// The options in a text.
fn options_in(text: &str) -> impl Iterator<Item = &str> {
    let words =
        text.split_whitespace().map(|word| word.trim_matches([',', ';', ':', '.', '(', ')']));
    words.filter(|word| {
        let rest = word.trim_start_matches('-');
        rest.len() < word.len() && rest.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// An error in JSON.
#[derive(Debug, Serialize)]
struct Object<'a, T> {
    schema: &'static str,
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    position: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<P: Program> Console<P> {
    /// The console of a program that was called as `name`.
    #[must_use]
    pub fn new(name: &str, manner: impl Into<Manner>) -> Self {
        let (name, manner) = (name.to_owned(), manner.into());
        Self { name, manner, command: None, held: Arc::default(), program: PhantomData }
    }

    /// Sets the running command and its options as written. The console then omits hints that this
    /// command cannot follow, or that lead back to it.
    #[must_use]
    pub fn command(self, name: Option<String>, options: impl IntoIterator<Item = String>) -> Self {
        let name = name.unwrap_or_default();
        let command = Some(Arc::new(Running { name, options: options.into_iter().collect() }));
        Self { command, ..self }
    }

    /// The name by which the program was called.
    pub fn program(&self) -> &str {
        &self.name
    }

    /// Units for printed sizes.
    pub fn units(&self) -> Units {
        self.manner.units
    }

    /// Whether JSON documents are printed instead of text.
    pub fn json(&self) -> bool {
        self.manner.json
    }

    /// Count of `-q`.
    pub fn quiet(&self) -> u8 {
        self.manner.quiet
    }

    /// Count of `-v`.
    pub fn verbose(&self) -> u8 {
        self.manner.verbose
    }

    /// When progress is shown.
    pub fn progress(&self) -> ProgressWhen {
        match self.manner.progress {
            ProgressWhen::Json => ProgressWhen::Json,
            _ if self.manner.quiet > 0 || self.manner.json => ProgressWhen::Never,
            ProgressWhen::Auto if !io::stderr().is_terminal() => ProgressWhen::Never,
            wish => wish,
        }
    }

    /// The same console without any output.
    pub fn silent(&self) -> Self {
        let progress = ProgressWhen::Never;
        let manner = Manner { quiet: 2, verbose: 0, progress, ..self.manner };
        Self { manner, command: self.command.clone(), ..Self::new(&self.name, manner) }
    }

    /// Prints a problem of `file`; `position` adds fields for programs.
    pub fn problem(
        &self,
        file: Option<&str>,
        kind: &str,
        message: &str,
        position: impl Serialize,
        hint: Option<&str>,
    ) {
        if self.manner.quiet >= 2 {
            return;
        }
        let hint = hint.filter(|hint| self.command.as_ref().is_none_or(|it| it.can_follow(hint)));
        let hint = hint.map(|hint| file.map_or(Cow::from(hint), |file| named(hint, file)));
        let hint = hint.as_deref();
        if self.manner.json {
            self.object(&Object { schema: "b2.error/1", kind, message, file, position, hint });
            return;
        }
        let (red, plain) = (AnsiColor::Red.on_default().bold(), Style::new());
        let mut text = format!("{red}{}:{red:#} ", self.name);
        text.extend(file.map(|file| format!("{}: ", harmless(file))));
        text.push_str(&harmless(message));
        let hint = hint.map(|hint| labelled("hint", AnsiColor::Cyan, &harmless(hint)));
        text.extend(hint.map(|hint| format!("\n{hint}")));
        self.stderr(&format!("{plain}{text}\n"));
    }

    /// Prints a text that `file` cannot use, with a mark under its byte `at` and the reason `why`.
    pub fn marked(&self, file: Option<&str>, text: &str, at: usize, why: &str) {
        if self.manner.quiet >= 2 {
            return;
        }
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let long = before.char_indices().rev().nth(MAX_BEFORE_MARK).map(|(start, _)| start);
        let before = match long.and_then(|start| before.get(start..)) {
            Some(end) => format!("...{}", harmless(end)),
            None => harmless(before),
        };
        let after: String = after.chars().take(MAX_BEFORE_MARK).collect();
        let file = file.map(|file| format!("{}: ", harmless(file))).unwrap_or_default();
        let blanks = self.name.width() + 2 + file.width() + before.width();
        let (red, cyan) = (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold());
        let (name, after, why) = (&self.name, harmless(&after), harmless(why));
        let line = format!("{red}{name}:{red:#} {file}{before}{after}\n");
        self.stderr(&format!("{line}{}{cyan}^{cyan:#} {why}\n", " ".repeat(blanks)));
    }

    /// Prints a warning, which does not stop the work.
    pub fn warning(&self, file: &str, message: &str) {
        if self.manner.quiet >= 1 {
            return;
        }
        let message = &*named(message, file);
        if self.manner.json {
            let (schema, kind, file) = ("b2.warning/1", "warning", Some(file));
            self.object(&Object { schema, kind, message, file, position: (), hint: None });
            return;
        }
        let label = labelled("warning", AnsiColor::Yellow, &harmless(message));
        self.stderr(&format!("{}: {}: {label}\n", self.name, harmless(file)));
    }

    /// Prints a line about finished work.
    pub fn note(&self, text: &str) {
        if self.manner.quiet == 0 && !self.manner.json {
            self.stderr(&format!("{}\n", harmless_lines(text)));
        }
    }

    /// Prints a line about finished work, with `-v` only.
    pub fn detail(&self, text: &str) {
        if self.manner.verbose > 0 {
            self.note(text);
        }
    }

    /// Prints a side note: with `--json` an object on standard error, with `-v` a line.
    pub fn aside(&self, document: &impl Serialize, line: &str) {
        if self.manner.json && self.manner.quiet == 0 {
            self.stderr(&format!("{}\n", json_text(document)));
        } else {
            self.detail(line);
        }
    }

    /// The name of a file for a line of standard output: in a pipe unchanged, except for line
    /// breaks.
    pub fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if io::stdout().is_terminal() { harmless(name).into() } else { unbroken(name) }
    }

    /// Prints a line with the name of a file. In a pipe the name keeps its bytes, except line
    /// breaks, so that another program finds the file by it.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub fn print_name(&self, before: &str, name: &[u8], after: &str) -> Result<(), P::Error> {
        let mut line = before.as_bytes().to_vec();
        if io::stdout().is_terminal() {
            line.extend(harmless(&name_text(name)).into_bytes());
        } else {
            line.extend(unbroken_bytes(name));
        }
        line.extend(after.bytes());
        line.push(b'\n');
        self.write(Stream::Output, &line)
    }

    /// Prints `text` to standard output.
    ///
    /// # Errors
    ///
    /// When it cannot be written; see [`Error::is_closed_pipe`].
    pub fn print(&self, text: &str) -> Result<(), P::Error> {
        let is_terminal = io::stdout().is_terminal();
        let text = if is_terminal { harmless_lines(text) } else { text.into() };
        self.write(Stream::Output, text.as_bytes())
    }

    /// Prints text with our own colour codes to standard output.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub fn print_styled(&self, text: &str) -> Result<(), P::Error> {
        self.write(Stream::Styled, text.as_bytes())
    }

    /// Holds back all lines until [`held`](Self::held) takes them.
    pub fn hold(&self) {
        self.lines().get_or_insert_default();
    }

    /// Takes the lines that were held back; later lines are printed at once.
    pub fn held(&self) -> Held {
        self.lines().take().unwrap_or_default()
    }

    /// Prints lines that were held back.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub fn tell(&self, held: Held) -> Result<(), P::Error> {
        held.0.iter().try_for_each(|(stream, line)| self.write(*stream, line))
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to a stream, or keeps the text while lines are held back.
    fn write(&self, stream: Stream, text: &[u8]) -> Result<(), P::Error> {
        if let Some(held) = &mut *self.lines() {
            held.0.push((stream, text.to_vec()));
            return Ok(());
        }
        let stdout = || io::stdout().lock();
        match stream {
            Stream::Output => printed(stdout().write_all(text).and_then(|()| stdout().flush())),
            Stream::Styled => {
                let mut out = AutoStream::new(stdout(), self.choice());
                printed(out.write_all(text).and_then(|()| out.flush()))
            }
            Stream::Error => {
                // There is no place to report that standard error is gone.
                let _unheard = AutoStream::new(io::stderr().lock(), self.choice()).write_all(text);
                Ok(())
            }
        }
    }

    /// Whether standard output shows colours.
    pub fn has_colors(&self) -> bool {
        let choice = AutoStream::new(io::stdout(), self.choice()).current_choice();
        choice != ColorChoice::Never
    }

    /// Whether the terminal claims more than 256 colours.
    pub fn has_true_color(&self) -> bool {
        std::env::var("COLORTERM").is_ok_and(|it| it == "truecolor" || it == "24bit")
    }

    /// Columns and rows of the terminal on standard output.
    pub fn terminal_size(&self) -> Option<(usize, usize)> {
        terminal_size(io::stdout()).filter(|(_, rows)| *rows > 0)
    }

    /// Columns of the terminal on standard error.
    pub fn error_width(&self) -> Option<usize> {
        terminal_size(io::stderr()).map(|(columns, _)| columns)
    }

    /// Prints one JSON document on one line of standard output.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub fn document(&self, document: &impl Serialize) -> Result<(), P::Error> {
        if self.lines().is_some() {
            return self.print(&format!("{}\n", json_text(document)));
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        let written = write_json(&mut out, document).and_then(|()| out.write_all(b"\n"));
        printed(written.and_then(|()| out.flush()))
    }

    /// Prints the document about finished work, or the line.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub fn done(&self, document: &impl Serialize, line: &str) -> Result<(), P::Error> {
        self.note(line);
        if self.manner.json { self.document(document) } else { Ok(()) }
    }

    fn object(&self, object: &Object<'_, impl Serialize>) {
        self.stderr(&format!("{}\n", json_text(object)));
    }

    fn stderr(&self, text: &str) {
        // Writing to standard error never fails.
        let _written = self.write(Stream::Error, text.as_bytes());
    }

    fn choice(&self) -> ColorChoice {
        match self.manner.color {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        }
    }
}

/// The error of a write to standard output.
fn printed<E: From<Error>>(done: io::Result<()>) -> Result<(), E> {
    done.map_err(|error| Error::io(Doing::Stdout)(error).into())
}

/// Columns and rows of the terminal behind a stream, if it reports them.
#[cfg(unix)]
fn terminal_size(stream: impl std::os::fd::AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

#[cfg(not(unix))]
fn terminal_size<S>(_: S) -> Option<(usize, usize)> {
    None
}

fn labelled(label: &str, color: AnsiColor, text: &str) -> String {
    let style = color.on_default().bold();
    format!("{style}{label}:{style:#} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_that_cannot_be_followed_or_lead_back_are_none() {
        let options = ["-o", "-v", "--format"].map(str::to_owned).to_vec();
        let running = Running { name: "rescue".to_owned(), options };
        for (hint, can_follow) in [
            ("use -o to name the output", true),
            ("use --format raw, or -o", true),
            ("use -r to walk directories", false),
            ("`b2 list -r` walks", true),
            ("`b2 rescue STORE -o NEW` saves what can be read", false),
            ("`b2 rescue -v STORE` says more", true),
            ("`b2 rescues` is another", true),
            ("levels -1 to -9, and - for a pipe", true),
            ("cargo install --path crates/b2-cli --features parquet", true),
        ] {
            assert_eq!(running.can_follow(hint), can_follow, "{hint}");
        }
    }

    #[derive(Clone, Debug)]
    struct Tool;

    impl Program for Tool {
        type Error = Error;

        fn is_object(_: &std::path::Path) -> bool {
            false
        }
    }

    #[test]
    fn lines_wait_for_their_output() {
        let console = Console::<Tool>::new("tool", Manner { verbose: 1, ..Manner::default() });
        console.hold();
        console.detail("first");
        console.print("second\n").unwrap();
        console.document(&3).unwrap();
        let held = console.clone().held();
        let lines = held.0.iter().map(|(_, line)| str::from_utf8(line).unwrap());
        assert_eq!(lines.collect::<Vec<_>>(), ["first\n", "second\n", "3\n"]);
        assert!(console.held().0.is_empty());
    }
}
