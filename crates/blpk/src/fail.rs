//! Failures of `blpk`: the message and the exit code.

use core::fmt;
use std::io;

use b2_program::{Code, error::chain};

use crate::args;

/// Result of a subcommand.
pub(crate) type Result<T, E = Failure> = core::result::Result<T, E>;

/// The reason why a run ends.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Not a failure: the help was requested.
    Help,
    /// An operation failed: exit code 1.
    Error,
    /// Wrong use of this subcommand: exit code 2.
    Usage(&'static str),
    /// Wrong usage that is already reported.
    Said,
    /// The reader of the output has closed the pipe: ends without a message.
    ClosedPipe,
}

impl Failure {
    /// A failed operation; a text of several lines is printed as several.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Error }
    }

    /// Wrong usage of `verb`, or of the program.
    pub(crate) fn usage(verb: &'static str, text: &str) -> Self {
        Self { text: text.to_owned(), kind: Kind::Usage(verb) }
    }

    /// Wrong usage that is already reported.
    pub(crate) fn silent_usage() -> Self {
        Self { text: String::new(), kind: Kind::Said }
    }

    /// The help.
    pub(crate) fn help(text: String) -> Self {
        Self { text, kind: Kind::Help }
    }

    /// An error of the system concerning a file.
    pub(crate) fn io(file: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(format!("'{}': {}", file.display(), chain(&error)))
    }

    /// Adds the file's name before the text.
    pub(crate) fn about(self, file: &std::path::Path) -> Self {
        Self { text: format!("'{}': {}", file.display(), self.text), ..self }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> Code {
        match self.kind {
            Kind::Help | Kind::ClosedPipe => Code::Success,
            Kind::Error => Code::Data,
            Kind::Usage(_) | Kind::Said => Code::Usage,
        }
    }

    /// The texts for standard output and standard error.
    pub(crate) fn print(&self) -> (String, String) {
        match self.kind {
            Kind::Help => (self.text.clone(), String::new()),
            Kind::Said | Kind::ClosedPipe => (String::new(), String::new()),
            Kind::Error => {
                let lines = self.text.lines().filter(|line| !line.is_empty());
                (lines.map(|line| format!("blpk: error: {line}\n")).collect(), String::new())
            }
            Kind::Usage(verb) => {
                let usage = args::usage(verb);
                // Both names of a subcommand have one usage line, which shows the used name.
                let full = usage.split_whitespace().nth(2).filter(|_| !verb.is_empty());
                let usage = full.map_or(usage.to_owned(), |full| usage.replacen(full, verb, 1));
                let name = if verb.is_empty() { String::new() } else { format!(" {verb}") };
                (String::new(), format!("{usage}\nblpk{name}: error: {}\n", self.text))
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<bloscpack::Error> for Failure {
    fn from(error: bloscpack::Error) -> Self {
        Self::new(chain(&error))
    }
}

impl From<b2_program::Error> for Failure {
    fn from(error: b2_program::Error) -> Self {
        let kind = if error.is_closed_pipe() { Kind::ClosedPipe } else { Kind::Error };
        let file = error.path().map(|path| format!("'{}': ", path.display())).unwrap_or_default();
        Self { text: format!("{file}{}", chain(&error)), kind }
    }
}

/// Errors of readers and writers of `bloscpack`, which contain errors of its own.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.downcast::<bloscpack::Error>() {
            Ok(inner) => inner.into(),
            Err(error) => Self::new(chain(&error)),
        }
    }
}
