//! The messages of `blpk`: lines that begin with its name, on standard output, or on standard error
//! if standard output is for data.

use core::cell::Cell;
use std::io::{self, IsTerminal, Write};

use b2_program::{Doing, Error, escape::harmless_lines};

use crate::{fail::Result, python};

/// The verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Errors only.
    Quiet,
    /// The requested output.
    Normal,
    /// The steps.
    Verbose,
    /// Details.
    Debug,
}

/// Prints messages to the user.
#[derive(Debug)]
pub(crate) struct Log {
    level: Level,
    /// Whether standard output is for data.
    to_stderr: Cell<bool>,
}

impl Log {
    /// Prints messages of this level or above.
    pub(crate) fn new(level: Level) -> Self {
        Self { level, to_stderr: Cell::new(false) }
    }

    /// Reserves standard output for data.
    pub(crate) fn leave_stdout(&self) {
        self.to_stderr.set(true);
    }

    /// Prints requested output; each line is a message.
    ///
    /// # Errors
    ///
    /// The text cannot be printed.
    pub(crate) fn normal(&self, text: &str) -> Result<()> {
        self.say(Level::Normal, text)
    }

    /// Prints the steps.
    ///
    /// # Errors
    ///
    /// As [`normal`](Self::normal).
    pub(crate) fn verbose(&self, text: &str) -> Result<()> {
        self.say(Level::Verbose, text)
    }

    /// Prints details.
    ///
    /// # Errors
    ///
    /// As [`normal`](Self::normal).
    pub(crate) fn debug(&self, text: &str) -> Result<()> {
        self.say(Level::Debug, text)
    }

    /// Prints metadata as a Python value.
    ///
    /// # Errors
    ///
    /// As [`normal`](Self::normal).
    pub(crate) fn metadata(&self, metadata: &serde_json::Value) -> Result<()> {
        self.normal("Metadata:")?;
        self.normal(&python::pformat(metadata))
    }

    fn say(&self, level: Level, text: &str) -> Result<()> {
        if level > self.level {
            return Ok(());
        }
        let lines: String = text
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| format!("blpk: {line}\n"))
            .collect();
        self.print(&lines, "")
    }

    /// Prints text unchanged: the requested help, and errors.
    ///
    /// # Errors
    ///
    /// As [`normal`](Self::normal).
    pub(crate) fn print(&self, out: &str, err: &str) -> Result<()> {
        let (out, err) = if self.to_stderr.get() {
            (String::new(), format!("{out}{err}"))
        } else {
            (out.into(), err.into())
        };
        let (mut stderr, mut stdout) = (io::stderr().lock(), io::stdout().lock());
        let safe = |text: String, is_terminal| match is_terminal {
            true => harmless_lines(&text).into_owned(),
            false => text,
        };
        let (out, err) = (safe(out, stdout.is_terminal()), safe(err, stderr.is_terminal()));
        // Failures of standard error cannot be reported.
        let _unheard = stderr.write_all(err.as_bytes());
        let printed = stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush());
        Ok(printed.map_err(Error::io(Doing::Stdout))?)
    }
}
