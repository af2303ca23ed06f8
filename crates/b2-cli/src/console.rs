//! The only place that prints for people: messages on standard error, and the way to standard
//! output.
//!
//! Nothing of a file or of its name reaches a terminal as a control character: messages are escaped
//! here, and so is what goes to standard output when that is a terminal. In a pipe the data keep
//! their bytes.
//!
//! A failure is `b2: FILE: what is wrong`, and `hint: what to do` on a line of its own; with
//! `--json` it is an object. `-q` takes away everything but errors, `-qq` those too.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::{
    args::{GeneralArgs, ProgressWhen, When},
    error::{Doing, Error, Result, chain},
    render::{
        error_position::ErrorPosition,
        escape::{
            harmless, harmless_lines, json_text, name_text, path_text, unbroken, unbroken_bytes,
            write_json,
        },
        size::Units,
    },
};

/// How the program speaks.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    program: String,
    quiet: u8,
    verbose: u8,
    json: bool,
    units: Units,
    color: When,
    progress: ProgressWhen,
}

/// An error as programs get it.
#[derive(Debug, Serialize)]
struct Object<'a> {
    schema: &'static str,
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    position: ErrorPosition,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl Console {
    /// As the options want it.
    pub(crate) fn new(program: &str, general: &GeneralArgs) -> Self {
        Self {
            program: program.to_owned(),
            quiet: general.quiet,
            verbose: general.verbose,
            json: general.json,
            units: if general.si { Units::Si } else { Units::Binary },
            color: general.color,
            progress: general.progress,
        }
    }

    /// The name that the program was called by.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Units for printed sizes.
    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// Are documents wanted instead of text?
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// How often `-q` was said.
    pub(crate) fn quiet(&self) -> u8 {
        self.quiet
    }

    /// How often `-v` was said.
    pub(crate) fn verbose(&self) -> u8 {
        self.verbose
    }

    /// When progress is shown.
    pub(crate) fn progress(&self) -> ProgressWhen {
        match self.progress {
            ProgressWhen::Json => ProgressWhen::Json,
            _ if self.quiet > 0 || self.json => ProgressWhen::Never,
            ProgressWhen::Auto if !io::stderr().is_terminal() => ProgressWhen::Never,
            wish => wish,
        }
    }

    /// The same without a word.
    pub(crate) fn silent(&self) -> Self {
        Self { quiet: 2, verbose: 0, progress: ProgressWhen::Never, ..self.clone() }
    }

    /// Hands a line about progress to a program.
    pub(crate) fn progress_line(object: &impl Serialize) {
        let _unheard = io::stderr().lock().write_all((json_text(object) + "\n").as_bytes());
    }

    /// Says what stopped `file`.
    pub(crate) fn failure(&self, file: Option<&str>, error: &Error) {
        let named = error.path().map(path_text);
        let file = named.as_deref().or(file);
        self.problem(
            file,
            error.kind(),
            without_name(&chain(error), file),
            ErrorPosition::of_error(error),
            error.hint().as_deref(),
        );
    }

    /// Prints a problem that is no error of ours, as one bad chunk of many.
    pub(crate) fn problem(
        &self,
        file: Option<&str>,
        kind: &str,
        message: &str,
        position: ErrorPosition,
        hint: Option<&str>,
    ) {
        if self.quiet >= 2 {
            return;
        }
        if self.json {
            self.object(&Object { schema: "b2.error/1", kind, message, file, position, hint });
            return;
        }
        let (red, plain) = (AnsiColor::Red.on_default().bold(), Style::new());
        let mut text = format!("{red}{}:{red:#} ", self.program);
        text.extend(file.map(|file| format!("{}: ", harmless(file))));
        text.push_str(&harmless(message));
        let hint = hint.map(|hint| labelled("hint", AnsiColor::Cyan, &harmless(hint)));
        text.extend(hint.map(|hint| format!("\n{hint}")));
        self.stderr(&format!("{plain}{text}\n"));
    }

    /// Something that does not stop the work.
    pub(crate) fn warning(&self, file: &str, message: &str) {
        if self.quiet >= 1 {
            return;
        }
        if self.json {
            let position = ErrorPosition::default();
            self.object(&Object {
                schema: "b2.warning/1",
                kind: "warning",
                message,
                file: Some(file),
                position,
                hint: None,
            });
            return;
        }
        let label = labelled("warning", AnsiColor::Yellow, &harmless(message));
        self.stderr(&format!("{}: {}: {label}\n", self.program, harmless(file)));
    }

    /// A line about finished work.
    pub(crate) fn note(&self, text: &str) {
        if self.quiet == 0 && !self.json {
            self.stderr(&format!("{}\n", harmless_lines(text)));
        }
    }

    /// A line about finished work, with `-v`.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose > 0 {
            self.note(text);
        }
    }

    /// Something beside the work: an object on standard error with `--json`, else a line with `-v`.
    pub(crate) fn aside(&self, document: &impl Serialize, line: &str) {
        if self.json && self.quiet == 0 {
            self.stderr(&format!("{}\n", json_text(document)));
        } else {
            self.detail(line);
        }
    }

    /// A name of a file on a line of standard output: as it is in a pipe, but for line breaks.
    pub(crate) fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if io::stdout().is_terminal() { harmless(name).into() } else { unbroken(name) }
    }

    /// Prints a line with the name of a file in it, whose bytes stay as they are in a pipe, but for
    /// line breaks: another program finds the file by it.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub(crate) fn print_name(&self, before: &str, name: &[u8], after: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        let mut line = before.as_bytes().to_vec();
        if out.is_terminal() {
            line.extend(harmless(&name_text(name)).into_bytes());
        } else {
            line.extend(unbroken_bytes(name));
        }
        line.extend(after.bytes());
        line.push(b'\n');
        out.write_all(&line).and_then(|()| out.flush()).map_err(Error::io(Doing::Stdout))
    }

    /// Prints `text` to standard output.
    ///
    /// # Errors
    ///
    /// When it cannot be written; see [`Error::is_closed_pipe`].
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        let text = if out.is_terminal() { harmless_lines(text) } else { text.into() };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::io(Doing::Stdout))
    }

    /// Prints text with colours, whose control characters are ours, to standard output.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub(crate) fn print_styled(&self, text: &str) -> Result<()> {
        let mut out = AutoStream::new(io::stdout().lock(), self.choice());
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::io(Doing::Stdout))
    }

    /// Does standard output show colours?
    pub(crate) fn has_colors(&self) -> bool {
        let choice = AutoStream::new(io::stdout(), self.choice()).current_choice();
        choice != ColorChoice::Never
    }

    /// Does the terminal say that it has more than 256 of them?
    pub(crate) fn has_true_color(&self) -> bool {
        std::env::var("COLORTERM").is_ok_and(|it| it == "truecolor" || it == "24bit")
    }

    /// Columns and rows of the terminal that standard output is.
    pub(crate) fn terminal_size(&self) -> Option<(usize, usize)> {
        terminal_size(io::stdout()).filter(|(_, rows)| *rows > 0)
    }

    /// Columns of the terminal that standard error is.
    pub(crate) fn error_width(&self) -> Option<usize> {
        terminal_size(io::stderr()).map(|(columns, _)| columns)
    }

    /// Prints one JSON document on one line of standard output.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub(crate) fn document(&self, document: &impl Serialize) -> Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        write_json(&mut out, document)
            .and_then(|()| out.write_all(b"\n"))
            .and_then(|()| out.flush())
            .map_err(Error::io(Doing::Stdout))
    }

    /// The document about finished work, or the line.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub(crate) fn done(&self, document: &impl Serialize, line: &str) -> Result<()> {
        self.note(line);
        if self.json { self.document(document) } else { Ok(()) }
    }

    fn object(&self, object: &Object<'_>) {
        self.stderr(&format!("{}\n", json_text(object)));
    }

    /// Standard error that is gone cannot be reported.
    fn stderr(&self, text: &str) {
        let mut stderr = AutoStream::new(io::stderr().lock(), self.choice());
        let _unheard = stderr.write_all(text.as_bytes());
    }

    fn choice(&self) -> ColorChoice {
        match self.color {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        }
    }
}

/// Columns and rows of the terminal that a stream is, if it says so.
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

/// What is said of a file, without its name or its key in a store, which stand before it.
fn without_name<'a>(text: &'a str, file: Option<&str>) -> &'a str {
    let key = file.and_then(|file| file.split_once("::")).map(|(_, key)| key);
    let mut names = [file, key].into_iter().flatten();
    names.find_map(|name| text.strip_prefix(name)?.strip_prefix(": ")).unwrap_or(text)
}
